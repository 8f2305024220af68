"""The inventory: what this machine has. Each part may be missing, and says so."""
# SPDX-License-Identifier: Apache-2.0
import glob
import os
import platform
import re
import shutil
import sys

import process

SECONDS = 60
SMI_FIELDS = ("name,driver_version,memory.total,clocks.sm,clocks.max.sm,clocks.mem,power.limit,"
              "compute_mode,mig.mode.current")
PROBE_DRIVER = """
import driver
d = driver.Driver()
free, total = d.memory()
major, minor = d.compute_capability()
print(f"{d.name()}|{major}.{minor}|CUDA {d.version()}|{total >> 20} MiB, {free >> 20} MiB free|"
      f"{d.attribute(driver.MULTIPROCESSORS)} multiprocessors")
"""
PROBE_TORCH = """
import torch
print(f"{torch.__version__}, CUDA {torch.version.cuda}, "
      f"{'sees ' + torch.cuda.get_device_name() if torch.cuda.is_available() else 'sees no GPU'}")
"""


class Machine:
    """What the cases need to know: `architecture` is (major, minor), or None where there is no GPU
    that works, with the reason in `problem`."""

    def __init__(self, environment, sanitizer, dry):
        self.environment = environment
        self.facts = {}
        self.name = ""  # the GPU's
        self.architecture = None
        self.problem = ""
        self._probe_gpu()
        self.torch = self._probe_torch()
        # One that is there does not know the fake driver.
        self.sanitizer = str(sanitizer) if sanitizer else None if dry else _find_sanitizer()
        self.facts["compute-sanitizer"] = self.sanitizer or "not there"
        self.facts["host"] = (f"{os.cpu_count()} cores, {platform.libc_ver()[1] or 'no'} glibc, "
                              f"kernel {platform.release()}, Python {platform.python_version()}")
        devices = " ".join(sorted(glob.glob("/dev/nvidia*") + glob.glob("/dev/dxg")))
        self.facts["device files"] = devices or "none"
        self.facts["LD_LIBRARY_PATH"] = environment.get("LD_LIBRARY_PATH", "not set")
        smi = process.run(["nvidia-smi", f"--query-gpu={SMI_FIELDS}", "--format=csv"], SECONDS)
        self.facts["nvidia-smi"] = (smi.output.strip().replace("\n", "; ") if smi.code == 0
                                    else smi.first_error())

    def _python(self, text):
        return process.run([sys.executable, "-c", text], SECONDS, env=self.environment,
                           cwd=os.path.dirname(os.path.abspath(__file__)))

    def _probe_gpu(self):
        ended = self._python(PROBE_DRIVER)
        if ended.code == 0 and ended.output.count("|") == 4:
            name, capability, version, memory, size = ended.output.strip().split("|")
            self.name = name
            self.architecture = tuple(map(int, capability.split(".")))
            self.facts["GPU"] = f"{name}, compute capability {capability}, {size}, {memory}"
            self.facts["driver"] = version
        else:
            self.problem = ended.first_error() if ended.code is not None else ended.how()
            self.facts["GPU"] = self.problem

    def _probe_torch(self):
        """Its description where it is there and sees the GPU, else None."""
        ended = self._python(PROBE_TORCH)
        words = ended.output.strip().splitlines()[-1:] or ["no output"]
        self.facts["torch"] = words[0]
        return words[0] if ended.code == 0 and "sees no GPU" not in words[0] else None

    def older_than(self, architecture):
        """False where it is not known."""
        number = int(architecture[len("sm_"):].rstrip("a"))
        return self.architecture is not None and self.architecture < divmod(number, 10)

    def takes(self, architecture):
        """Whether a cubin for e.g. "sm_80" or "sm_90a" runs here."""
        found = re.fullmatch(r"sm_(\d+)(\d)(a?)", architecture)
        major, minor = int(found[1]), int(found[2])
        if not self.architecture or major != self.architecture[0]:
            return False
        return minor == self.architecture[1] if found[3] else minor <= self.architecture[1]


def is_board(board, name):
    """Whether a GPU of that name, as the driver tells it, is such a board: "NVIDIA GeForce RTX 3090" is
    an rtx3090, "NVIDIA A100-SXM4-80GB" an a100-80-sxm and any other a100."""
    words = re.findall(r"[a-z0-9]+", name.lower())
    return board.split("-")[0] in {*words, *map("".join, zip(words, words[1:]))}


def _find_sanitizer():
    places = ["compute-sanitizer", "/usr/local/cuda/bin/compute-sanitizer",
              *sorted(glob.glob("/opt/nvidia/*/compute-sanitizer")),
              *sorted(glob.glob("/usr/local/cuda-*/bin/compute-sanitizer"))]
    return next((found for found in map(shutil.which, places) if found), None)
