"""The unpacked pack: its table of contents, and the environment its programs run in."""
# SPDX-License-Identifier: Apache-2.0
import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path

CONTENT = "content.tar.xz"


class Pack:
    def __init__(self, root, scratch, out, driver, dry):
        self.source = Path(__file__).resolve().parent
        self.folder = scratch / "pack"
        self.scratch = scratch / "outputs"
        self.scratch.mkdir(parents=True)
        self.out = out  # where results go
        self.dry = dry
        with tarfile.open(root / CONTENT) as content:
            if hasattr(tarfile, "data_filter"):
                content.extractall(self.folder, filter="tar")
            else:
                content.extractall(self.folder)
        self.about = json.loads((self.folder / "pack.json").read_text())
        self.models = {model["name"]: model for model in self.about["models"]}
        self.environment = self._environment(driver)
        self.api_cases = subprocess.run([sys.executable, self.source / "api.py", "--list"],
                                        capture_output=True, text=True,
                                        check=True).stdout.split()
        self.machine = None

    def _environment(self, driver):
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1",
                       # The driver's cache of compiled PTX would hide how long that takes.
                       "CUDA_CACHE_DISABLE": "1"}
        if self.dry:
            driver = driver or self.folder / "dry"
            # The simulator image in the artefacts is of this GPU's code.
            environment.setdefault("FAKECUDA_DEVICES", self.about["dry"]["gpu"])
            environment["GPU_PACK_DRY_RUN"] = "1"
        if driver:
            before = environment.get("LD_LIBRARY_PATH")
            environment["LD_LIBRARY_PATH"] = f"{driver}{':' + before if before else ''}"
        return environment

    def environment_for(self, *models):
        """In a dry run the fake driver takes the kernels' work from these models."""
        if not self.dry:
            return self.environment
        files = ":".join(str(self.folder / model["files"]["cubin"]) for model in models)
        return {**self.environment, "FAKECUDA_ARTEFACT": files}
