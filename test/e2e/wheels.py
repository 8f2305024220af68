#!/usr/bin/env python3
"""The wheel that tools/build-wheels makes, in a new environment that has nothing else: size, systems, import, a model's
values; beside numba, in both orders."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import os
import re
import sys
import zipfile

import harness

SECONDS = 900
MOST_BYTES = 3 << 20  # of cameo-runtime
NEWEST_GLIBC = (2, 28)
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

    def check_file(self, wheel):
        size = wheel.stat().st_size
        glibc = re.search(r"manylinux_(\d+)_(\d+)_x86_64", wheel.name)
        with zipfile.ZipFile(wheel) as archive:
            names = archive.namelist()
            unpacked = sum(entry.file_size for entry in archive.infolist())
        print(f"{wheel.name}: {size} bytes, {unpacked} unpacked")
        for case, holds in {"size": size <= MOST_BYTES,
                            "systems": glibc and tuple(map(int, glibc.groups())) <= NEWEST_GLIBC,
                            "licence": any(name.endswith("licenses/LICENSE") for name in names),
                            "no libraries grafted": not any(".libs/" in name for name in names)}.items():
            if holds:
                self.suite.ok()
            else:
                self.suite.fail(case, f"{wheel.name} of {size} bytes: {names}")

    def check(self):
        plan = self.folder / "sums.plan"
        build = {**os.environ, "PYTHONPATH": str(self.suite.build / "python"),
                 "PATH": f"{self.suite.build / 'bin'}:{os.environ['PATH']}"}
        make = f"import python_cases as p, cameo; cameo.compile(p.sums(), output={str(plan)!r}, target='sim:sm_80')"
        cases = {**build, "PYTHONPATH": f"{build['PYTHONPATH']}:{harness.SOURCE / 'test' / 'e2e'}"}
        if not (self.step("plan", sys.executable, "-c", make, env=cases, judged=False) and
                self.step("build", harness.SOURCE / "tools" / "build-wheels", env=os.environ, judged=False)):
            return
        wheel = max((harness.SOURCE / "dist").glob("cameo_runtime-*.whl"), key=lambda path: path.stat().st_mtime)
        self.check_file(wheel)
        if not (self.step("venv", "/usr/bin/python3", "-m", "venv", "venv", judged=False) and
                self.step("install", self.python, "-m", "pip", "install", "--quiet", wheel)):
            return
        if step := self.step("use", self.python, "-c", USE, plan):
            print(step.output.strip())
        if self.step("numba", self.python, "-m", "pip", "install", "--quiet", "numba==0.62.1", judged=False):
            for order in ("import cameo, numba", "import numba, cameo"):
                self.step(order, self.python, "-c", order + NUMBA, plan)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    tests = WheelTests(parser.parse_args())
    tests.check()
    return tests.suite.close()


if __name__ == "__main__":
    sys.exit(main())
