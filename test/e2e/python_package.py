#!/usr/bin/env python3
"""Package cameo of Python, as it is in the build: arrays of numpy, of Debian's torch and of a library that speaks DLPack,
on the simulator and on the fake CUDA driver; compiling from Python; imports beside torch in both orders."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import json
import os
import sys

import harness

CASES = harness.SOURCE / "test" / "e2e" / "python_cases.py"
TORCH_CASES = CASES.with_name("python_torch_cases.py")
DEBIAN = "/usr/bin/python3"  # which has torch
SECONDS = 300
IMPORTS = {"torch first": "import torch, cameo", "cameo first": "import cameo, torch"}
USE = ("; m = cameo.Model({path!r}, device='simulator'); x = torch.ones(2, 3); "
       "assert m(x, x)[0].tolist() == (x + x).tolist(); assert torch.nn.Linear(3, 3)(x).shape == (2, 3)")


def run_group(suite, group, interpreter, cases, *arguments, environment):
    """Runs a group of cases in an interpreter, and judges each."""
    step = harness.run([interpreter, "-X", "faulthandler", cases, group, *arguments], SECONDS, cwd=suite.work,
                       env=environment)
    judged = 0
    for line in step.output.splitlines():
        if not line.startswith('{"case"'):
            continue
        result = json.loads(line)
        judged += 1
        if result["problem"]:
            suite.fail(f"{group}-{result['case']}", result["problem"], step)
        else:
            suite.ok()
    if step.code != 0 or not judged:
        suite.fail(group, step.how(), step)


class PackageTests:
    def __init__(self, options):
        self.suite = harness.Suite("python", options.build.resolve())
        self.folder = self.suite.work
        self.environment = {
            **os.environ, "PYTHONPATH": f"{self.suite.build / 'python'}", "PYTHONDONTWRITEBYTECODE": "1",
            "PATH": f"{self.suite.build / 'bin'}:{os.environ['PATH']}"}

    def run_group(self, group, interpreter, cases, *arguments, **environment):
        run_group(self.suite, group, interpreter, cases, *arguments, environment={**self.environment, **environment})

    def check_torch(self):
        """Debian's interpreter has torch, and no onnx to make models with."""
        step = harness.run([sys.executable, CASES, "plans", self.folder], SECONDS, env=self.environment)
        if step.code != 0:
            self.suite.fail("plans", step.how(), step)
            return
        self.run_group("torch", DEBIAN, TORCH_CASES, self.folder)
        for name, statement in IMPORTS.items():
            step = harness.run([DEBIAN, "-c", statement + USE.format(path=str(self.folder / "sums.plan"))], SECONDS,
                               env=self.environment)
            if step.code == 0:
                self.suite.ok()
            else:
                self.suite.fail(name, step.how(), step)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    options = parser.parse_args()
    tests = PackageTests(options)
    tests.run_group("numpy", sys.executable, CASES)
    tests.run_group("compile", sys.executable, CASES)
    for group in ("cuda", "cuda-copies", "cuda-values"):
        tests.run_group(group, sys.executable, CASES, LD_LIBRARY_PATH=str(tests.suite.build / "fakecuda"),
                        FAKECUDA_DEVICES="9.0", FAKECUDA_TRACE=str(tests.folder / f"{group}.trace"), TMPDIR=str(tests.folder))
    tests.check_torch()
    return tests.suite.close()


if __name__ == "__main__":
    sys.exit(main())
