#!/usr/bin/env python3
"""Prints as Markdown what the networks of launches.py do to memory at -O0 and at -O2: launches,
bytes that kernels load and store (the simulator's counters), memory for intermediate values, and the
time of a run.

Times are of the simulator on this machine, the best of several runs of each level in turn: they
compare levels within one table, and say nothing of a GPU. The last column is the simulator's
estimate (docs/simulator.md). No test: nothing fails because of a number.
"""
# SPDX-License-Identifier: Apache-2.0
import argparse
import json
import re
import sys

import harness
import launches

COLUMNS = ("launches", "loaded, MB", "stored, MB", "values, MB", "run, ms", "estimate, us")


def stop(step):
    sys.exit(f"{step.text()}error: {step.how()}")


def count(case, level):
    """{column: number} of one level, as far as counters have it."""
    step, artefact, report = case.compile(level, ["--sim-checks"])
    if step.code:
        stop(step)
    counters = case.work / "counters.json"
    step, _ = case.run(artefact, 0, ["--device=sim", f"--sim-counters={counters}"])
    if step.code:
        stop(step)
    total = json.loads(counters.read_text())["total"]
    return {"launches": len(report["kernels"]),
            "loaded, MB": total["global"]["load"]["bytes"] / 1e6,
            "stored, MB": total["global"]["store"]["bytes"] / 1e6,
            "estimate, us": total["estimate"]["microseconds"]}


def time_runs(case, runs):
    """{level: {column: number}}; levels take turns: what else this machine does hits both."""
    artefacts, best = {}, {}
    for level in harness.LEVELS:
        step, artefacts[level], _ = case.compile(level)
        if step.code:
            stop(step)
    flags = ["--device=sim", "--benchmark=json", "--iterations=3", "--duration=0", "--warmUp=0"]
    for _ in range(runs):
        for level, artefact in artefacts.items():
            step, _ = case.run(artefact, 0, flags)
            if step.code:
                stop(step)
            found = json.JSONDecoder().raw_decode(step.output, step.output.index("{"))[0]
            best[level] = {"values, MB": found["memory"]["arena_bytes"] / 1e6,
                           "run, ms": min(found["latency_ms"]["min"],
                                          best.get(level, {}).get("run, ms", float("inf")))}
    return best


def text(number):
    return f"{number:.3g}" if isinstance(number, float) and number < 100 else f"{number:.0f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    parser.add_argument("--runs", type=int, default=5, help="processes a level, of three runs each")
    options = parser.parse_args()
    suite = harness.Suite("traffic", options.build.resolve())
    print("| network | " + " | ".join(COLUMNS) + " |\n|---|" + "---:|" * len(COLUMNS))
    for name, (make, fixed) in launches.gated_networks().items():
        if not re.search(options.filter, name):
            continue
        case = launches.Case(suite, name, make, fixed)
        rows = {level: count(case, level) for level in harness.LEVELS}
        for level, timed in time_runs(case, options.runs).items():
            rows[level].update(timed)
        for level, row in rows.items():
            cells = " | ".join(text(row[column]) for column in COLUMNS)
            print(f"| {name} `{level}` | {cells} |", flush=True)
        case.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
