#!/usr/bin/env python3
"""The benchmarks build, and each of their cases runs once without an error. How long they take says
nothing here."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import json
import sys

import harness

SECONDS = 600
PROGRAMS = ("cameo-sim-bench", "cameo-launch-bench", "cameo-sim-kernels-bench")


def run(suite, program):
    results = suite.work / f"{program}.json"
    results.unlink(missing_ok=True)
    step = harness.run([suite.tool(program), "--benchmark_min_time=0.001",
                        f"--benchmark_out={results}", "--benchmark_out_format=json"], SECONDS)
    if step.code or not results.exists():
        suite.fail(program, step.how(), step)
        return
    cases = json.loads(results.read_text())["benchmarks"]
    if not cases:
        suite.fail(program, "has no cases", step)
    for case in cases:
        if case.get("error_occurred"):
            suite.fail(f"{program} {case['name']}", case["error_message"], step)
        else:
            suite.ok()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    harness.add_arguments(parser)
    options = parser.parse_args()
    suite = harness.Suite("benchmarks", options.build.resolve())
    step = harness.run(["cmake", "--build", suite.build, "--target", "benchmarks"], SECONDS)
    if step.code:
        suite.fail("build", step.output[-500:], step)
    else:
        for program in PROGRAMS:
            run(suite, program)
    return suite.close()


if __name__ == "__main__":
    sys.exit(main())
