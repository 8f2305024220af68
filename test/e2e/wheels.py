#!/usr/bin/env python3
"""The wheels that tools/build-wheels makes, in a new environment that has nothing else: sizes, systems, import, a model's
values; beside numba, in both orders; artefacts that have the bytes of this build's, the other programs, the demo, and the cases of
part python."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import os
import re
import resource
import shutil
import sys
import time
import zipfile

import harness
import python_package

SECONDS = 1800
DEMO_SECONDS = 60  # from pip install to the demo's picture
# Limits of a wheel: bytes, and the newest glibc that it may need.
LIMITS = {"runtime": (3 << 20, (2, 28)), "compiler": (60 << 20, (2, 35))}
USE = """
import sys, time
start = time.perf_counter()
import numpy
between = time.perf_counter()
import cameo
print("import", round((time.perf_counter() - between) * 1e3), "ms after numpy's", round((between - start) * 1e3), "ms")
model = cameo.Model(sys.argv[1], device="simulator")
x = numpy.arange(6, dtype=numpy.float32).reshape(2, 3)
total, difference = model(x, x[::-1])
assert (total == x + x[::-1]).all() and (difference == x - x[::-1]).all()
try:
    cameo.compile("model.onnx")
except cameo.CompileError as error:
    assert "cameo-compiler" in str(error), error
else:
    raise AssertionError("a compiler that nobody installed")
"""
COMPILE = """
import sys
import cameo, numpy
model = cameo.compile(sys.argv[1], device="simulator", precision="fp16")
assert "cubin for sm_80" in model.compilation.summary[0], model.compilation
assert model(numpy.zeros((2, 1, 28, 28), numpy.float32)).shape == (2, 10)
"""
LARGE = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = onnx.Relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = onnx.Exp(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %c = onnx.Relu(%b) : (tensor<4xf32>) -> tensor<4xf32>
  return %c : tensor<4xf32>
}
"""
NUMBA = """
import numpy
@numba.njit
def twice(x):
    return 2 * x
x = numpy.ones((2, 3), numpy.float32)
import sys
assert (twice(x) == cameo.Model(sys.argv[1], device="simulator")(x, x)[0]).all()
"""


class WheelTests:
    def __init__(self, options):
        self.suite = harness.Suite("wheels", options.build.resolve())
        self.folder = self.suite.work
        self.python = self.folder / "venv" / "bin" / "python"
        # Nothing of the build is found by accident.
        self.clean = {"PATH": "/usr/bin:/bin", "HOME": str(self.folder), "LANG": "C.UTF-8",
                      **{key: value for key, value in os.environ.items() if key.startswith("PIP_")}}

    def step(self, case, *command, env=None, judged=True):
        step = harness.run(command, SECONDS, cwd=self.folder, env=env or self.clean)
        if step.code != 0:
            self.suite.fail(case, f"{step.how()}: {step.output[-300:]}", step)
        elif judged:
            self.suite.ok()
        return step if step.code == 0 else None

    def check_file(self, kind):
        wheel, = (harness.SOURCE / "dist").glob(f"cameo_{kind}-*.whl")
        most_bytes, newest_glibc = LIMITS[kind]
        size = wheel.stat().st_size
        glibc = re.search(r"manylinux_(\d+)_(\d+)_x86_64", wheel.name)
        with zipfile.ZipFile(wheel) as archive:
            names = archive.namelist()
            unpacked = sum(entry.file_size for entry in archive.infolist())
        print(f"{wheel.name}: {size} bytes, {unpacked} unpacked")
        for case, holds in {"size": size <= most_bytes,
                            "systems": glibc and tuple(map(int, glibc.groups())) <= newest_glibc,
                            "licence": any(name.endswith("licenses/LICENSE") for name in names),
                            "no libraries grafted": not any(".libs/" in name for name in names)}.items():
            if holds:
                self.suite.ok()
            else:
                self.suite.fail(f"{kind}-{case}", f"{wheel.name} of {size} bytes: {names}")
        return wheel

    def check_compiler(self, wheel):
        """Programs of the wheel beside those of the build."""
        start = time.monotonic()
        if not self.step("install-compiler", self.python, "-m", "pip", "install", "--quiet", f"{wheel}[nvidia]",
                         f"--find-links={wheel.parent}"):
            return
        print(f"cameo-compiler and NVIDIA's ptxas installed in {time.monotonic() - start:.1f} s")
        model = harness.SOURCE / "examples" / "fashion" / "fashion.onnx"
        ours = self.step("ours", self.suite.tool("cameoc"), model, "-o", "ours",
                         f"--ptxas={self.python.parent.parent}/lib/python3.11/site-packages/nvidia/cu13/bin/ptxas",
                         env=os.environ, judged=False)
        if self.step("cameoc", self.python.with_name("cameoc"), model, "-o", "theirs") and ours:
            if (self.folder / "ours").read_bytes() == (self.folder / "theirs").read_bytes():
                self.suite.ok()
            else:
                self.suite.fail("bytes", "another artefact than this build's", ours)
        self.step("python", self.python, "-c", COMPILE, model)
        self.check_programs(model)

    def check_programs(self, model):
        """Programs for developers of passes: what they do is what this build's do."""
        texts = {}
        for whose, folder in {"ours": self.suite.build / "bin", "theirs": self.python.parent}.items():
            imported, folded = f"{whose}.mlir", f"{whose}-folded.mlir"
            if self.step(f"{whose}-translate", folder / "cameo-translate", "--import-onnx", model, "-o", imported) and \
                    self.step(f"{whose}-opt", folder / "cameo-opt", imported, "-o", folded,
                              "--pass-pipeline=builtin.module(func.func(cameo-infer-shapes,cameo-fold-constants))"):
                texts[whose] = (self.folder / folded).read_text()
        if len(set(texts.values())) == 1 and "onnx.Conv" in texts["ours"]:
            self.suite.ok()
        else:
            self.suite.fail("text", "other IR than this build's")
        (self.folder / "large.mlir").write_text(LARGE)
        script = self.folder / "has-exp.sh"
        script.write_text("#!/bin/sh\n! grep -q onnx.Exp $1\n")
        script.chmod(0o755)
        if self.step("reduce", self.python.with_name("cameo-reduce"), "large.mlir", f"--reduction-tree=test={script}",
                     "-o", "small.mlir"):
            small = (self.folder / "small.mlir").read_text()
            if "onnx.Exp" in small and "onnx.Relu" not in small:
                self.suite.ok()
            else:
                self.suite.fail("reduce", small)
        for name in ("cameo-compare", "cameo-lsp-server"):
            self.step(name, self.python.with_name(name), "--version")
        # Options of one program are not another one's.
        step = harness.run([self.python.with_name("cameo-opt"), "large.mlir", "--precision=fp16"], SECONDS,
                           cwd=self.folder, env=self.clean)
        if step.code == 1 and "precision" in step.output:
            self.suite.ok()
        else:
            self.suite.fail("options", step.how(), step)

    def check_demo(self, wheel, compiler):
        """A new environment, and in it the demo with the wheels' programs."""
        python = self.folder / "demo-venv" / "bin" / "python"
        if not self.step("demo-venv", "/usr/bin/python3", "-m", "venv", "demo-venv", judged=False):
            return
        start, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        if not (self.step("demo-install", python, "-m", "pip", "install", "--quiet", wheel, f"{compiler}[nvidia]", "-r",
                          harness.SOURCE / "examples" / "fashion" / "requirements.txt") and
                self.step("demo", python, harness.SOURCE / "examples" / "fashion" / "demo.py", f"--tools={python.parent}",
                          f"--folder={self.folder / 'demo'}")):
            return
        elapsed, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        print(f"from pip install to the end of the demo: {elapsed:.1f} s, {spent:.1f} s of CPU")
        seconds = min(elapsed, spent)  # what runs beside it makes the one longer, and cores the other
        if seconds <= DEMO_SECONDS and (self.folder / "demo" / "contact-sheet.png").exists():
            self.suite.ok()
        else:
            self.suite.fail("demo-seconds", f"{seconds:.1f} s, or no picture")

    def check_cases(self):
        """Part python's cases, which make models with onnx."""
        pins = [line for line in (harness.SOURCE / "test" / "requirements.txt").read_text().splitlines()
                if re.match("onnx=|ml_dtypes=|protobuf=|typing_extensions=", line)]
        if not self.step("onnx", self.python, "-m", "pip", "install", "--quiet", *pins, judged=False):
            return
        for group in ("numpy", "compile"):
            python_package.run_group(self.suite, group, self.python, python_package.CASES, environment={
                **self.clean, "PYTHONDONTWRITEBYTECODE": "1"})

    def check_build(self):
        """A build where another one was interrupted while it made its environment; it says how far it is."""
        tools = harness.SOURCE / "build" / "wheel-tools"
        shutil.rmtree(tools, ignore_errors=True)
        (tools / "bin").mkdir(parents=True)
        (tools / "bin" / "auditwheel").touch(mode=0o755)
        step = self.step("build", harness.SOURCE / "tools" / "build-wheels", env=os.environ, judged=False)
        if not step:
            return False
        for kind in LIMITS:
            if re.search(rf"building cameo-{kind}; .*\n{kind}: \[\d+/\d+\]\n", step.output):
                self.suite.ok()
            else:
                self.suite.fail(f"{kind}-progress", step.output[:300], step)
        return True

    def check(self):
        plan = self.folder / "sums.plan"
        build = {**os.environ, "PYTHONPATH": str(self.suite.build / "python"),
                 "PATH": f"{self.suite.build / 'bin'}:{os.environ['PATH']}"}
        make = f"import python_cases as p, cameo; cameo.compile(p.sums(), output={str(plan)!r}, target='sim:sm_80')"
        cases = {**build, "PYTHONPATH": f"{build['PYTHONPATH']}:{harness.SOURCE / 'test' / 'e2e'}"}
        if not (self.step("plan", sys.executable, "-c", make, env=cases, judged=False) and
                self.check_build()):
            return
        wheel, compiler = map(self.check_file, LIMITS)
        if not (self.step("venv", "/usr/bin/python3", "-m", "venv", "venv", judged=False) and
                self.step("install", self.python, "-m", "pip", "install", "--quiet", wheel)):
            return
        if step := self.step("use", self.python, "-c", USE, plan):
            print(step.output.strip())
        if self.step("numba", self.python, "-m", "pip", "install", "--quiet", "numba==0.62.1", judged=False):
            for order in ("import cameo, numba", "import numba, cameo"):
                self.step(order, self.python, "-c", order + NUMBA, plan)
        self.check_compiler(compiler)
        self.check_cases()
        self.check_demo(wheel, compiler)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    tests = WheelTests(parser.parse_args())
    tests.check()
    return tests.suite.close()


if __name__ == "__main__":
    sys.exit(main())
