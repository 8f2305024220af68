#!/usr/bin/env python3
"""Bad files to cameoc: each must end in one clear error and an exit code from 1 to 127, within
seconds and in little memory. Valid models with one byte changed may also compile."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import re
import shutil
import sys

import numpy

import harness
from hostile_files import CASES, good, write

SECONDS, BYTES = 10, 1 << 30
FLIPS = 60


def flipped(number):
    """The good model with one bit changed; positions spread over the whole file."""
    def make(folder):
        data = bytearray(good().SerializeToString())
        random = numpy.random.default_rng(number)
        data[random.integers(len(data))] ^= 1 << random.integers(8)
        write(folder, bytes(data))
    return make


def judge(step, may_pass):
    """None, or what is wrong with how cameoc ended."""
    errors = [line for line in step.output.splitlines() if "error:" in line]
    if step.crashed:
        return step.how()
    if step.peak_bytes > BYTES:
        return f"took {step.peak_bytes >> 20} MiB"
    if step.code == 0:
        return None if may_pass else "was accepted"
    if not errors:
        return f"{step.how()} without an error: {harness.first_error(step.output)}"
    if len(errors) > 1 and not may_pass:
        return f"{len(errors)} errors: {errors[0]} ... {errors[-1]}"
    if re.search(r"(?i)stack dump|please submit a bug|assertion", step.output):
        return "reports a bug of its own"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    parser.add_argument("--verbose", action="store_true", help="print every error")
    options = parser.parse_args()
    suite = harness.Suite("hostile", options.build.resolve())
    cameoc = suite.tool("cameoc")
    cases = {**CASES, **{f"flipped-bit-{n}": flipped(n) for n in range(FLIPS)}}

    def check(name):
        folder = suite.work / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        cases[name](folder)
        return harness.run([cameoc, folder / "model.onnx", "-o", folder / "out",
                            f"--target={options.target}"], SECONDS)

    # The good model must pass, or else every refusal below says nothing.
    cases["good"] = lambda folder: write(folder, good())
    names = [name for name in cases if re.search(options.filter, name)]
    for name, step in harness.for_each(names, check, options.jobs):
        if name == "good":
            reason = (f"refused: {harness.first_error(step.output)}" if step.code else
                      None if (suite.work / name / "out").exists() else "exit code 0, and no file")
        else:
            reason = judge(step, name.startswith("flipped-bit"))
        if options.verbose:
            print(f"{name}: {harness.first_error(step.output)}")
        if reason:
            suite.fail(name, reason, step)
        else:
            suite.ok()
            shutil.rmtree(suite.work / name)
    return suite.close()


if __name__ == "__main__":
    sys.exit(main())
