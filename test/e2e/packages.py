#!/usr/bin/env python3
"""The Debian packages that tools/build-debs makes, in a root that has nothing else: what they need, a program in C that runs a
model, artefacts that have the bytes of this build's, and that nothing is left of them once they are removed."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import os
import re
import shutil
import subprocess
import sys

import harness

SECONDS = 1800
# Largest files, and what each package may need besides C and C++.
PACKAGES = {"libcameo0": (1 << 20, set()), "libcameo-dev": (1 << 20, {"libcameo0"}),
            "cameo": (40 << 20, {"libllvm19", "libprotobuf-lite32", "zlib1g", "libzstd1"}),
            "cameo-tools": (120 << 20, {"cameo", "libllvm19", "libprotobuf-lite32", "zlib1g", "libzstd1"}),
            "cameo-dev": (20 << 20, {"cameo-tools", "libcameo-dev", "libmlir-19-dev", "mlir-19-tools", "llvm-19-dev",
                                      "zlib1g-dev", "libxxhash-dev"})}
BASE = {"libc6", "libgcc-s1", "libstdc++6"}
FASHION = harness.SOURCE / "examples" / "fashion" / "fashion.onnx"
CLASSIFY = harness.SOURCE / "examples" / "embed" / "classify.c"
# proc is mounted for the command alone.
ENTER = 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"'


class DebTests:
    def __init__(self, options):
        self.suite = harness.Suite("packages", options.build.resolve())
        self.folder = self.suite.work
        self.root = self.folder / "root"
        # Neither ptxas nor anything of the build, there as here.
        self.clean = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/", "LANG": "C.UTF-8",
                      "DEBIAN_FRONTEND": "noninteractive",
                      **{key: value for key, value in os.environ.items() if key.lower().endswith("_proxy")}}

    def step(self, case, *command, env=None, judged=True):
        step = harness.run(command, SECONDS, cwd=self.folder, env=env or self.clean)
        if step.code != 0:
            self.suite.fail(case, f"{step.how()}: {step.output[-300:]}", step)
        elif judged:
            self.suite.ok()
        return step if step.code == 0 else None

    def inside(self, case, *command, judged=True):
        return self.step(case, "unshare", "--mount", "sh", "-c", ENTER, self.root, *command, judged=judged)

    def install(self, case, *names, judged=True):
        return self.inside(case, "apt-get", "install", "-q", "-y", "--no-install-recommends", *names, judged=judged)

    def judge(self, case, holds, what, step=None):
        if holds:
            self.suite.ok()
        else:
            self.suite.fail(case, what, step)

    def make_root(self):
        targets = subprocess.run(["apt-get", "indextargets", "--format", "$(SITE) $(RELEASE)"], capture_output=True,
                                 text=True, check=True).stdout
        mirror, release = targets.splitlines()[0].split()
        if not self.step("root", "debootstrap", "--variant=minbase", release, self.root, mirror, judged=False):
            return False
        shutil.rmtree(self.root / "etc" / "apt")
        shutil.copytree("/etc/apt", self.root / "etc" / "apt")
        return bool(self.inside("lists", "apt-get", "update", "-q", judged=False))

    def check_files(self):
        """The packages' files, by name."""
        files = {file.name.partition("_")[0]: file for file in (harness.SOURCE / "dist").glob("*.deb")}
        self.judge("names", files.keys() == PACKAGES.keys(), f"packages {sorted(files)}")
        for name, (most_bytes, needed) in PACKAGES.items():
            size = files[name].stat().st_size
            depends = self.step(name, "dpkg-deb", "--field", files[name], "Depends", judged=False).output
            found = {word.split()[0] for word in re.split("[,|]", depends) if word.strip()}
            print(f"{files[name].name}: {size} bytes; needs {', '.join(sorted(found))}")
            self.judge(f"{name}-size", size <= most_bytes, f"{size} bytes of at most {most_bytes}")
            self.judge(f"{name}-needs", found - BASE <= needed, f"{name} needs {sorted(found)}")
        return files

    def check_runtime(self, files):
        """A program that is compiled and run where there is no compiler of models."""
        for kind in ("plan", "exe"):
            if not self.step(f"host-{kind}", self.suite.tool("cameoc"), "-q", FASHION, "-o", f"ours.{kind}",
                             f"--emit={kind}", judged=False):
                return
        shutil.copy(self.folder / "ours.plan", self.root / "model.plan")
        shutil.copy(CLASSIFY, self.root)
        (self.root / "image.raw").write_bytes(bytes(4 * 28 * 28))
        if not (self.install("libcameo0", f"/{files['libcameo0'].name}") and
                self.install("gcc", "gcc", "libc6-dev", judged=False) and
                self.install("libcameo-dev", f"/{files['libcameo-dev'].name}") and
                self.inside("compiled", "gcc", "-Wall", "-Werror", "classify.c", "-o", "classify", "-lcameo")):
            return
        step = self.inside("run", "./classify", "sim", "model.plan", "image.raw", "N=1", judged=False)
        self.judge("run", step and step.output.startswith("logits: 1 10 f32, largest at "), "no logits", step)

    def check_compiler(self, files):
        shutil.copy(FASHION, self.root)
        if not (self.install("cameo", f"/{files['cameo'].name}") and
                self.inside("cameoc", "cameoc", "-q", "fashion.onnx", "-o", "theirs")):
            return
        same = (self.root / "theirs").read_bytes() == (self.folder / "ours.exe").read_bytes()
        self.judge("bytes", same, "another artefact than this build's")
        self.inside("artefact", "./theirs", "--device=sim", "--shapes=N:1", "--random-inputs")
        self.inside("cameo-compare", "cameo-compare", "--version")
        self.install("cameo-tools", f"/{files['cameo-tools'].name}")
        for tool in ("cameo-opt", "cameo-translate", "cameo-reduce", "cameo-sass", "cameo-sim-opt", "cameo-lsp-server"):
            self.inside(tool, tool, "--version")
        # It needs all of LLVM and MLIR.
        self.install("cameo-dev", "--simulate", f"/{files['cameo-dev'].name}")

    def check_removal(self):
        if self.inside("removal", "apt-get", "purge", "-q", "-y", "cameo", "cameo-tools", "libcameo-dev", "libcameo0", judged=False):
            left = [str(file) for file in (self.root / "usr").rglob("*[cC]ameo*")]
            self.judge("removal", not left, f"left: {left}")

    def check(self):
        if not (self.step("build", harness.SOURCE / "tools" / "build-debs", env=os.environ, judged=False) and
                self.make_root()):
            return
        files = self.check_files()
        for file in files.values():
            shutil.copy(file, self.root)
        self.check_runtime(files)
        self.check_compiler(files)
        self.check_removal()
        shutil.rmtree(self.root)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    tests = DebTests(parser.parse_args())
    tests.check()
    return tests.suite.close()


if __name__ == "__main__":
    sys.exit(main())
