#!/usr/bin/env python3
"""torch.compile(backend="cameo"), and modules that torch.onnx exports by dynamo, with a current torch, in an environment of its own that has wheel cameo-runtime and calls this
build's compiler."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import json
import os
import sys

import harness

CASES = {"dynamo": harness.SOURCE / "test" / "e2e" / "python_dynamo_cases.py",
         "exporter": harness.SOURCE / "test" / "e2e" / "python_exporter_cases.py"}
REQUIREMENTS = harness.SOURCE / "test" / "requirements-torch.txt"
SECONDS = 1800


class BackendTests:
    def __init__(self, options):
        self.suite = harness.Suite("torch", options.build.resolve())
        self.folder = self.suite.work
        self.python = self.suite.build / "venv-torch" / "bin" / "python"

    def step(self, case, *command, **environment):
        step = harness.run(command, SECONDS, cwd=self.folder, env={**os.environ, **environment})
        if step.code != 0:
            self.suite.fail(case, f"{step.how()}: {step.output[-300:]}", step)
        return step if step.code == 0 else None

    def install(self):
        """The environment stays from run to run: with torch it is of gigabytes."""
        if not self.step("wheel", harness.SOURCE / "tools" / "build-wheels", "runtime"):
            return False
        wheel, = (harness.SOURCE / "dist").glob("cameo_runtime-*.whl")
        pip = [self.python, "-m", "pip", "install", "--quiet", "--no-cache-dir"]
        return bool((self.python.exists() or
                     self.step("venv", "/usr/bin/python3", "-m", "venv", self.python.parent.parent)) and
                    self.step("torch", *pip, "-r", REQUIREMENTS) and
                    self.step("cameo", *pip, "--no-deps", "--force-reinstall", wheel))

    def check(self, group):
        step = self.step(group, self.python, "-X", "faulthandler", CASES[group], group, PYTHONDONTWRITEBYTECODE="1",
                         PATH=f"{self.suite.build / 'bin'}:{os.environ['PATH']}")
        for line in step.output.splitlines() if step else ():
            if not line.startswith('{"case"'):
                continue
            result = json.loads(line)
            if result["problem"]:
                self.suite.fail(result["case"], result["problem"], step)
            else:
                self.suite.ok()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    tests = BackendTests(parser.parse_args())
    if tests.install():
        for group in CASES:
            tests.check(group)
    return tests.suite.close()


if __name__ == "__main__":
    sys.exit(main())
