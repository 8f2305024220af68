#!/usr/bin/env python3
"""What graph optimisation does to memory, of every network at -O0 and at -O2, at batch 1 with all
sizes known: launches, bytes that kernels move, memory for intermediate values, the time of a run.

  traffic.py --filter=REGEX                 measures these networks, and keeps what it found
  traffic.py --reports --filter=REGEX       the same of what reports say: nothing is run
  traffic.py --page=docs/bench/traffic.md   writes the page of all that is kept, measures nothing

So networks can be measured one by one. Two kinds of bytes:
  described   by the report: each element that a kernel's description needs is read once, and each
              of its results written once
  counted     by the simulator's counters, which see what is read again. They run threads one by
              one, about 16 s of CPU for 1e9 operations at each level, so that only networks of
              --count operations at most are counted
Times are of the simulator on this machine, the best of several runs of each level in turn: they
compare levels within one row, and say nothing of a GPU. No test: nothing fails because of a number.
"""
# SPDX-License-Identifier: Apache-2.0
import argparse
import datetime
import json
import os
import re
import sys

import harness
import launches
import modern_networks
import networks

PAGE_HEAD = """# Memory traffic of the networks

What graph optimisation saves: the tests' networks at batch 1 with all sizes known, compiled for
`sm_80` without it (`-O0`, a dispatch an operator) and with all of it (`-O2`). Written by

```sh
build/venv/bin/python test/e2e/traffic.py --filter=REGEX     # measures, in pieces as wanted
build/venv/bin/python test/e2e/traffic.py --reports --filter=REGEX     # only what needs no run
build/venv/bin/python test/e2e/traffic.py --page=docs/bench/traffic.md
```

on {date}, {cores} cores, no GPU{note}. Launches, bytes and arenas are the same wherever they are
measured; times are not. MB are 10^6 bytes. Names that end in `-full` are the networks of
`modern_networks.py` at the size of their papers.

## Traffic and time

*Described* are the bytes of the report ([`bytes`](../report.md)): each element that a kernel needs
is read once, each result written once. *Counted* is what kernels load from and store to global
memory by the simulator's [counters](../simulator/counters.md#counters): in it is what a product reads again
for each of its tiles, most of which a GPU finds in its caches. The counters run threads one by
one, 16 s of CPU for 10^9 operations at each level, so networks of more than {limit:g} x 10^9, three
minutes and more, are not counted. *Run* is the time on the simulator, `-O2` as a share of `-O0`:
the simulator has no slow memory and no cost of a launch to speak of, so that it shows what fusion
costs rather than what it saves. A row with no run was made with `--reports`. *Estimate* is the
share of the [roofline](../simulator/counters.md#estimates) of an A100, from the counters. *Launches*
are counted as `launches.py` does; `+ 22` are those that add the parts of products whose depth blocks
share, which move bytes, too. The goal is that of `launch_ceilings.txt`.
"""
MEMORY_HEAD = """
## Memory for intermediate values

*All* is the sum of all tensors between kernels, *live* the most of them that are needed at one
time, *arena* what a run takes for them. `launches.py` holds the arena at 1.10 times what is live.
"""


def every_network():
    """{name: a function that makes it}; the long runs' as well."""
    return {**networks.NETWORKS, **networks.LONG_NETWORKS, **modern_networks.SMALL_NETWORKS,
            **{f"{name}-full": make for name, make in modern_networks.FULL_NETWORKS.items()}}


# --- measuring

def need(step):
    if step.code != 0:
        sys.exit(f"{step.text()}error: {step.how()}")


def of_report(report):
    kernels = report["kernels"]
    return {"launches": len(harness.launched(report)),
            "splits": len(kernels) - len(harness.launched(report)),
            "flops": sum(kernel["flops"] for kernel in kernels),
            "described": sum(kernel["bytes"] for kernel in kernels),
            **report["memory"]}


def count(case, level):
    step, artefact, _ = case.compile(level, ["--sim-checks-only"])
    need(step)
    counters = case.work / "counters.json"
    step, _ = case.run(artefact, 0, ["--device=sim", f"--sim-counters={counters}"])
    need(step)
    total = json.loads(counters.read_text())["total"]
    return {"counted": sum(total["global"][way]["bytes"] for way in ("load", "store")),
            "estimate_us": total["estimate"]["microseconds"]}


def time_runs(case, artefacts, runs):
    """{level: milliseconds}; levels take turns: what else this machine does hits both."""
    best = dict.fromkeys(artefacts, float("inf"))
    flags = ["--device=sim", "--benchmark=json", "--iterations=2", "--duration=0", "--warmUp=0"]
    for _ in range(runs):
        for level, artefact in artefacts.items():
            step, _ = case.run(artefact, 0, flags)
            need(step)
            found = json.JSONDecoder().raw_decode(step.output, step.output.index("{"))[0]
            best[level] = min(best[level], found["latency_ms"]["min"])
    return best


def measure(case, options):
    """{level: {what: number}}"""
    artefacts, found = {}, {}
    # Of the same kernels, PTX is made in half the time that code for the simulator takes.
    target = "ptx:sm_80" if options.reports else "sim:sm_80"
    for level in harness.LEVELS:
        step, artefacts[level], report = case.compile(level, target=target)
        need(step)
        found[level] = of_report(report)
    if options.reports:
        return found
    for level, milliseconds in time_runs(case, artefacts, options.runs).items():
        found[level]["run_ms"] = milliseconds
    if found["-O0"]["flops"] <= options.count:
        for level in harness.LEVELS:
            found[level].update(count(case, level))
    return found


# --- the page

def megabytes(number):
    return f"{number / 1e6:.3g}" if number < 1e8 else f"{number / 1e6:.0f}"


def pair(before, after, key, show=megabytes):
    """Both levels, and the share that is left."""
    if key not in before:
        return ["-", "-", "-"]
    share = f"{100 * after[key] / before[key]:.0f} %" if before[key] else "-"
    return [show(before[key]), show(after[key]), share]


def share(before, after, key):
    return pair(before, after, key)[2]


def row(cells):
    return "| " + " | ".join(map(str, cells)) + " |\n"


def table(columns, rows):
    return "\n" + row(columns) + "|---|" + "---:|" * (len(columns) - 1) + "\n" + "".join(
        map(row, rows))


def count_launches(found):
    return f"{found['launches']} + {found['splits']}" if found["splits"] else found["launches"]


def page(results, missing, options):
    """The text; `results`: {network: {level: {what: number}}}; `missing`: names."""
    goals = {name: goal for (name, what), (_, goal) in launches.read_ceilings().items()
             if what == "launches"}
    traffic, memory = [], []
    for name, found in results.items():
        before, after = (found[level] for level in harness.LEVELS)
        traffic.append([name, count_launches(before), count_launches(after),
                        goals.get(name, "-"), *pair(before, after, "described"),
                        *pair(before, after, "counted"),
                        share(before, after, "run_ms"), share(before, after, "estimate_us")])
        waste = after["arena_bytes"] / max(after["live_max_bytes"], 1)
        memory.append([name,
                       *(megabytes(before[key]) for key in ("tensor_sum_bytes", "arena_bytes")),
                       *(megabytes(after[key]) for key in (
                           "tensor_sum_bytes", "live_max_bytes", "arena_bytes")), f"{waste:.3f}"])
    head = PAGE_HEAD.format(date=datetime.date.today().isoformat(), cores=os.cpu_count(),
                            limit=options.count / 1e9,
                            note=f", {options.note}" if options.note else "")
    return (head + table(["network", "launches `-O0`", "`-O2`", "goal", "described `-O0`, MB",
                          "`-O2`", "left", "counted `-O0`, MB", "`-O2`", "left", "run",
                          "estimate"], traffic)
            + MEMORY_HEAD + table(["network", "all `-O0`, MB", "arena `-O0`", "all `-O2`",
                                   "live `-O2`", "arena `-O2`", "arena / live"], memory)
            + (f"\nNot measured this time: {', '.join(missing)}.\n" if missing else ""))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    harness.add_arguments(parser)
    parser.add_argument("--reports", action="store_true",
                        help="measure what reports say, and run nothing")
    parser.add_argument("--runs", type=int, default=3, help="processes a level, of two runs each")
    parser.add_argument("--count", type=float, default=5e9, metavar="N",
                        help="networks of so many operations at most are counted")
    parser.add_argument("--page", type=harness.Path, help="write the page of what is kept")
    parser.add_argument("--note", default="", help="of the circumstances, for the page")
    options = parser.parse_args()
    suite = harness.Suite("traffic", options.build.resolve())
    kept = {name: suite.work / f"{name}.json" for name in every_network()}
    if options.page:
        options.page.parent.mkdir(parents=True, exist_ok=True)
        results = {name: json.loads(path.read_text()) for name, path in kept.items()
                   if path.exists()}
        options.page.write_text(page(results, [name for name in kept if name not in results],
                                     options))
        return 0
    for name, make in every_network().items():
        if not re.search(options.filter, name):
            continue
        case = launches.Case(suite, name, make, True)
        found = measure(case, options)
        kept[name].write_text(json.dumps(found, indent=1) + "\n")
        print(name, json.dumps(found), flush=True)
        case.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
