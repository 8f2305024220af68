#!/usr/bin/env python3
"""Faults on purpose in the compiler and the runtime (test/mutants.txt), each against parts of the daily tests, in a
build of its own (preset `mutants`, in build-mutants): which part finds it first, of those for its subject, in the
order of what they take without a mutant. All parts have to pass without one. Of the chosen faults MOST_MISSED may
stay unfound; crashes that there were are found without the cases and lit tests that were written for them."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import harness

LIST = harness.SOURCE / "test" / "mutants.txt"
PYTHON = harness.SOURCE / "build" / "venv" / "bin" / "python"
TARGETS = ["cameoc", "cameo-opt", "cameo-translate", "cameo-compare-code", "CameoTestPlugin", "cameo-codegen-tests",
           "cameo-runtime-tests", "cameo-python"]
MOST_MISSED = 4  # of the chosen ones
CRASHES = range(41, 48)
# A part that takes longer than this has found the mutant, too: SECONDS and TIMES of what it takes without one.
SECONDS, TIMES = 60, 8
SIM = "--target=sim:sm_80"

# Programs of the build's bin folder, folders of lit, and scripts of test/e2e: pieces of the daily parts that take
# about half a minute of CPU at most.
PARTS = {
    "runtime": ["cameo-runtime-tests", "--gtest_filter=Plan.*:Interpreter.*:Arena.*"],
    "runtime-states": ["cameo-runtime-tests", "--gtest_filter=Fetch*:Segment*:State*"],
    "unit-sizes": ["cameo-codegen-tests", "--gtest_filter=ShapeRules.*:SizeBuilderTest.*"],
    "unit-scales": ["cameo-codegen-tests",
                    "--gtest_filter=CalibrateThresholds.*:CalibrateHistogram.*:QuantizationScale.*:ReciprocalScale.*:"
                    "AccuracyMetric.*"],
    "unit-kernels": ["cameo-codegen-tests", "--gtest_filter=FusedDispatches.*:Schedules.*:ChannelsLast.*:Transposes.*"],
    "lit-fuse": ["lit", "test/passes/fuse"],
    "lit-host": ["lit", "test/passes/host"],
    "lit-linalg": ["lit", "test/passes/linalg"],
    "lit-precision": ["lit", "test/passes/precision"],
    "batches": ["batches.py", SIM],
    "concatenations": ["concatenations.py", SIM],
    "fusions": ["fusions.py", SIM],
    "host-integers": ["host_integers.py", SIM],
    "open-sizes": ["open_sizes.py", SIM],
    "runtime-checks": ["runtime_checks.py", SIM],
    "states": ["states.py", SIM],
    "rows-shapes": ["row_tests.py", SIM, "--filter=^(AveragePool|Conv|MaxPool|Reshape|Slice)-"],
    "rows-casts": ["row_tests.py", SIM, "--filter=^(Cast|CastLike|QuantizeLinear|DynamicQuantizeLinear|MatMul)-"],
    "types": ["type_tests.py", SIM, "--operators=^(Add|Cast|ReduceSum|Where)$"],
    "nodes-casts": ["node_tests.py", SIM, "--filter=test_(cast|quantizelinear|dynamicquantize)"],
    "calibration": ["calibration.py"],
    "precision": ["precision.py", SIM, "--filter=^(gpt|unet)"],
    "compile-fuzz": ["compile_fuzz.py", "--count=400"],
    "sizes-products": ["sizes.py", "--filter=^(equal|empty-products)"],
    "sizes-rows": ["sizes.py", "--filter=^(rows-ReduceM|single-)"],
    "fuzz": ["fuzz_models.py", SIM, "--graphs=40", "--mutations=60"],
    "random-graphs": ["random_graphs.py", SIM, "--count=80"],
}

# Parts by the last number that they are for.
SUBJECTS = (
    (10, "lit-fuse batches concatenations fusions fuzz random-graphs"),
    (16, "unit-sizes open-sizes host-integers rows-shapes runtime-checks fuzz random-graphs"),
    (22, "runtime lit-host concatenations batches fuzz random-graphs"),
    (28, "runtime host-integers open-sizes"),
    (34, "unit-scales lit-precision calibration precision"),
    (40, "lit-linalg lit-precision rows-casts types nodes-casts precision"),
    # Neither once_crashed.py nor lit, which have the crashes as cases.
    (47, "unit-kernels sizes-products sizes-rows concatenations compile-fuzz fuzz random-graphs"),
    (52, "runtime-states lit-fuse lit-host states"),
)


@dataclass
class Mutant:
    number: int
    file: str
    what: str
    guess: str

    @property
    def parts(self):
        return next(parts for last, parts in SUBJECTS if self.number <= last).split()


def read_list():
    return [Mutant(int(number), file, what, guess) for number, file, what, guess in
            (map(str.strip, line.split("|")) for line in LIST.read_text().splitlines() if re.match(r"\d", line))]


class Runner:
    def __init__(self, options):
        self.build, self.jobs = options.build.resolve(), options.jobs
        self.seconds = {}  # without a mutant, by part

    def command(self, part):
        program, *flags = PARTS[part]
        if program.endswith(".py"):
            jobs = [] if part == "calibration" else [f"--jobs={self.jobs}"]
            return [PYTHON, harness.SOURCE / "test" / "e2e" / program, f"--build={self.build}", *jobs, *flags]
        if program == "lit":
            return [PYTHON.with_name("lit"), "-q", f"-j{self.jobs}", "--max-failures=1", "--param",
                    f"build={self.build}", *flags]
        return [self.build / "bin" / program, *flags]

    def run(self, part, number, limit):
        name = f"mutant-{number}-{part}"
        step = harness.run(self.command(part), limit, cwd=harness.SOURCE,
                           env={**os.environ, "CAMEO_MUTANT": str(number), "CAMEO_PART": name})
        shutil.rmtree(self.build / "e2e" / name, ignore_errors=True)
        return step


def configure(options):
    """Builds the preset; the end of what it prints where that fails."""
    for command in (["cmake", "--preset", "mutants"],
                    ["cmake", "--build", "--preset", "mutants", "--target", *TARGETS]):
        step = subprocess.run(command, cwd=harness.SOURCE, capture_output=True, text=True, check=False)
        if step.returncode:
            return "\n".join((step.stdout + step.stderr).splitlines()[-40:])
    return None


def find(runner, mutant):
    """(part, how, seconds) of the first part that finds it, and the last step."""
    start = time.monotonic()
    for part in sorted(mutant.parts, key=runner.seconds.get):
        step = runner.run(part, mutant.number, SECONDS + TIMES * runner.seconds[part])
        if step.code != 0:
            return part, step.how(), time.monotonic() - start, step
    return None, "", time.monotonic() - start, None


def traces():
    """Programs of the usual build that know of mutants."""
    folder = harness.SOURCE / "build"
    files = [folder / "bin" / "cameoc", *sorted((folder / "lib" / "cameo").iterdir())]
    return [str(file) for file in files if b"CAMEO_MUTANT" in file.read_bytes()]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, help="a build of CAMEO_MUTANTS that is there already")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many at a time")
    parser.add_argument("--mutant", type=int, action="append", default=[], metavar="N",
                        help="only this one; repeatable")
    options = parser.parse_args()
    suite = harness.Suite("mutants", harness.SOURCE / "build")
    if not options.build:
        if problem := configure(options):
            sys.exit(f"error: the preset is not built\n{problem}")
        options.build = harness.SOURCE / "build-mutants"
    mutants = [mutant for mutant in read_list() if not options.mutant or mutant.number in options.mutant]
    for path in traces():
        suite.fail("traces", f"{path} knows of mutants")
    runner = Runner(options)
    for part in dict.fromkeys(part for mutant in mutants for part in mutant.parts):
        step = runner.run(part, 0, 1800)
        runner.seconds[part] = step.seconds
        print(f"without a mutant {part} takes {step.seconds:.0f} s", flush=True)
        if step.code != 0:
            suite.fail(part, f"fails without a mutant: {step.how()}", step)
    if suite.failures:
        return suite.close()
    missed = 0
    print(f"\n{'mutant':6} {'found by':16} {'seconds':>7}  {'which ended':16} fault")
    for mutant in mutants:
        part, how, seconds, step = find(runner, mutant)
        print(f"{mutant.number:6} {part or 'NOT FOUND':16} {seconds:7.0f}  {how:16} {mutant.what}", flush=True)
        if part:
            with suite.log.open("a") as log:
                log.write(f"=== {mutant.number} is found by {part}: {how}\n{step.text()[-4000:]}\n")
            suite.ok()
            continue
        missed += mutant.number not in CRASHES
        if mutant.number not in CRASHES and missed <= MOST_MISSED:
            suite.skip(f"not found, as {MOST_MISSED} may be")
        else:
            suite.fail(str(mutant.number), f"not found: {mutant.what}")
    return suite.close()


if __name__ == "__main__":
    sys.exit(main())
