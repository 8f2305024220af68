#!/usr/bin/env python3
"""The table of docs/kernels.md: launches and the estimated time of a step of an LSTM, for each way to do its steps.

A schedule of each way is written for each size and ranked by the compiler's estimates, the fastest number of rows of a
block taken."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import re
import sys
from pathlib import Path

import numpy

import artefact
import harness
from recurrence import F16, F32, Layer

STEPS = 1000
UNITS, ROWS = (128, 512, 1024), (1, 32)
WAYS = (("one block", "sm_80"), ("a launch a step", "sm_80"), ("cluster", "sm_90a"), ("a launch a step", "sm_90a"))
INSTRUCTION = "instruction = array<i64: 16, 8, 16>"
THREADS, SHARED_BYTES = 512, 48 * 1024


def numbers(**values):
    return ", ".join(f"{name} = {value} : i64" for name, value in sorted(values.items()))


def blocks_of(way, dtype, units):
    """Those of a cluster: as few as have the weights in registers, else as many as read them."""
    return 1 if way == "one block" else {F32: {128: 2}, F16: {128: 2, 512: 16}}[dtype].get(units, 8)


def schedules(way, dtype, units):
    """Parameters by the number of rows of a block."""
    if way == "a launch a step":
        if dtype == F16:
            return [f"{INSTRUCTION}, {numbers(splits=8, steps=1)}"]
        return [numbers(deep=4, parts=32, rows=rows, steps=1, threads=128) for rows in (1, 2, 4, 8)]
    blocks = blocks_of(way, dtype, units)
    if dtype == F16:
        splits = 2 if blocks == 16 else 1
        threads = min(units // blocks * 4 * splits, THREADS)
        return [f"{numbers(blocks=blocks)}, {INSTRUCTION}, {numbers(splits=splits, threads=threads)}"]
    parts = min(32, 4 * THREADS * blocks // units)
    return [numbers(blocks=blocks, deep=4, parts=parts, rows=rows, threads=THREADS, vector=vector)
            for rows, vector in ((1, 4), (2, 4), (4, 2), (8, 1)) if 2 * rows * units * 4 <= SHARED_BYTES]


class Estimates:
    def __init__(self, build):
        self.suite = harness.Suite("recurrence-estimates", build.resolve())

    def compile(self, case, made, target, *flags):
        step = artefact.Artefact(self.suite, case, made, "--emit=schedules", *flags, target=target).step
        if step.code:
            sys.exit(step.text())
        return step.output

    def of(self, way, target, dtype, units, rows):
        """Microseconds of a step, and whether the compiler does them in this way."""
        case = f"{target}-{numpy.dtype(dtype).name}-{units}-{rows}"
        layer = Layer("LSTM", inputs=16, units=units, dtype=dtype).draw(numpy.random.default_rng(1), {"w", "r", "b"})
        made = layer.model({"x": numpy.zeros((STEPS, rows, 16), dtype)}, is_open=False)
        self.compile(case, made, target)
        chosen = (self.suite.work / case).read_text()
        found = []
        for given in schedules(way, dtype, units):
            listed = self.suite.work / "given.json"
            listed.write_text(re.sub(r'(recurrence\\", )\{[^}]*\}', lambda match: f"{match[1]}{{{given}}}", chosen))
            said = self.compile(case, made, target, f"--schedules={listed}", "--remarks")
            found.append(float(re.search(r'"recurrence".*of the file, estimated at ([0-9.]+|inf) us', said)[1]) / STEPS)
        sign = "steps = 1" if way == "a launch a step" else f"blocks = {blocks_of(way, dtype, units)} "
        return min(found), sign in chosen


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=harness.SOURCE / "build", help="the build folder")
    estimates = Estimates(parser.parse_args().build)
    print("| Way | Target | Launches of T steps | Type | " + " | ".join(f"{units}, {rows}" for units in UNITS for rows in ROWS) + " |")
    print("|---" * (4 + len(UNITS) * len(ROWS)) + "|")
    for dtype in (F32, F16):
        for way, target in WAYS:
            cells = []
            for units in UNITS:
                for rows in ROWS:
                    time, is_chosen = estimates.of(way, target, dtype, units, rows)
                    cells.append(f"**{time:.2f}**" if is_chosen else f"{time:.2f}")
            launches = "T" if way == "a launch a step" else "1"
            print(f"| {way} | {target} | {launches} | {'FP32' if dtype == F32 else 'FP16'} | {' | '.join(cells)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
