#!/usr/bin/env python3
"""Makes a board's constants, for runtime/boards.h, of measured times of kernels and of the machine's own.

    tools/gpupack/fit.py --tuning=TUNING.json... [--results=RESULTS.json...] [--constants=LINES...]
        [--works=PROGRAM.mlir...]

TUNING.json has all candidates that were measured, with the work that the estimate goes by; RESULTS.json is
what a pack's run wrote, of which the constants of the machine are taken, and cases' estimates are compared;
LINES is what constants.py by itself printed. Where the estimate counts work otherwise since the times
were measured, works are taken of what

    cameoc MODEL OPTIONS --emit=tuning --stop-after=scheduled -o PROGRAM.mlir

writes with the model and the options that the times are of (--works=PROGRAM.mlir), by key and schedule.

Fits the constants to the times, each within what the machine's own constant leaves open, and prints the
table's row, and how far estimates are from times by family: before, after, and of groups of equal dispatches
that the fit was not shown. Of several files it also prints how far they are for each by a fit that was shown
the others alone. Fits begin at the table's constants, which an earlier fit may have made of the same
times: --start=sm_80 begins at what is assumed of that architecture instead.
"""
# SPDX-License-Identifier: Apache-2.0
import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy

import model
import page

MOST_SPREAD = 0.1  # of a time that is used
NEAR = 0.05  # a choice is good where it takes so much longer than the fastest at most
FOLDS = 10
ROBUST = 0.1  # of log(estimate / time): what is farther off counts in proportion, not by its square
PRIOR = 0.005  # how much a row a parameter is held where it is, so that what no time tells stays
WORTH = 0.03  # of the loss: a bound that costs so much is not believed


@dataclass
class Parameter:
    name: str
    least: float
    most: float
    source: str  # the machine's constant that bounds it, or ""


# What bounds each: names of the machine's constants, by preference; factors of it; and, without, factors of
# the table's value. Under load latencies are longer, and rates lower, than of one by itself; but products and
# memory are measured under load already, and what kernels lose there is contention.
BOUNDS = {
    "launch_us": (("launch",), (1.0, 2.5), (0.25, 2)),
    "l2_rate": (("l2_copy_rows_64", "l2_read"), (0.6, 1.5), (0.4, 2)),  # longer rows are faster
    "global_latency": (("latency_dram", "latency_l2"), (0.5, 2.5), (0.4, 2.5)),
    "matrix_latency": (("mma_f16_latency",), (0.95, 1.2), (0.6, 1.7)),
    "barrier": (("barrier_256",), (0.8, 6), (0.3, 6)),
    "contention": ((), (), (0.1, 10)),
    "memory_share": (("dram_copy", "dram_read"), (0.85, 1.02), (0.5, 1.1)),
    "matrix_time": (("mma_f16_4",), (0.98, 1.04), (0.7, 1.5)),
    **dict.fromkeys(("turn", "conversion", "place", "check", "result"), ((), (), (0.1, 10))),
}
# Where fits begin whose table says that one is not known.
UNKNOWN = {"turn": 1, "conversion": 1, "place": 20, "check": 10, "result": 10}
# mma.sync m16n8k16: multiply-adds of an instruction, on a partition of a multiprocessor.
MMA_F16, PARTITIONS = 16 * 8 * 16, 4


def parameters(constants, machine, sync_rate, held):
    """(parameters, constants with those that are held). `machine`: usable constants by name; `sync_rate`:
    multiply-adds of f16 a cycle and multiprocessor that the table takes mma.sync to do."""
    made = []
    for name, (sources, of_machine, of_table) in BOUNDS.items():
        source = next((source for source in sources if source in machine), "")
        value = machine[source] if source else getattr(constants, name)
        if source and name == "memory_share":
            value /= constants.memory_gbps
        elif source and name == "matrix_time":
            value *= sync_rate / PARTITIONS / MMA_F16
        if name in held:
            constants = constants.with_(**{name: value})
            continue
        if source:
            least, most = (value * factor for factor in of_machine)
        else:
            least, most = (getattr(constants, name) * factor for factor in of_table)
        made.append(Parameter(name, least, most, source))
    return made, constants


def opened(parameter, constants):
    """Without the machine's bound."""
    value = getattr(constants, parameter.name)
    low, high = BOUNDS[parameter.name][2]
    return Parameter(parameter.name, value * low, value * high, "")


class Rows:
    """Candidates that were measured."""

    def __init__(self, results, limits):
        self.results = results
        self.works = model.Works([row["work"] for row in results], limits)
        self.times = numpy.array([row["us"] for row in results])
        self.keys = numpy.array([row["key"] for row in results])
        self.families = numpy.array([row["family"] for row in results])
        self.files = numpy.array([row["file"] for row in results])

    def errors(self, constants):
        """log(estimate / time)"""
        return numpy.log(self.works.microseconds(constants) / self.times)


def loss(errors):
    """Of each: square of what is near, proportional of what is far (Huber)."""
    size = numpy.abs(errors)
    return numpy.where(size <= ROBUST, size ** 2, 2 * ROBUST * size - ROBUST ** 2)


class Fit:
    """Gauss-Newton with Levenberg's damping on robust weights, in logarithms of parameters, within bounds."""

    def __init__(self, rows, constants, wanted, used):
        self.rows, self.constants, self.wanted, self.used = rows, constants, wanted, used
        self.low = numpy.log([parameter.least for parameter in wanted])
        self.high = numpy.log([parameter.most for parameter in wanted])
        table = numpy.log([getattr(constants, parameter.name) for parameter in wanted])
        # Where nothing else is known a parameter stays; the machine's bounds come first.
        self.start = numpy.clip(table, self.low, self.high)
        self.weight = PRIOR * numpy.sqrt(used.sum())

    def with_(self, point):
        return self.constants.with_(**{parameter.name: float(value) for parameter, value
                                       in zip(self.wanted, numpy.exp(point))})

    def residuals(self, point):
        return self.rows.errors(self.with_(point))[self.used]

    def value(self, point):
        held = self.weight * (point - self.start)
        return float(loss(self.residuals(point)).sum() + (held ** 2).sum())

    def run(self):
        point, damping = self.start.copy(), 1e-2
        value = self.value(point)
        for _ in range(60):
            residuals = self.residuals(point)
            step = 1e-4
            slopes = numpy.empty((residuals.size, point.size))
            for i in range(point.size):
                moved = point.copy()
                moved[i] += step if point[i] + step <= self.high[i] else -step
                slopes[:, i] = (self.residuals(moved) - residuals) / (moved[i] - point[i])
            weights = numpy.minimum(1, ROBUST / numpy.maximum(numpy.abs(residuals), 1e-12))
            pull = self.weight ** 2
            gradient = slopes.T @ (weights * residuals) + pull * (point - self.start)
            normal = (slopes.T * weights) @ slopes + pull * numpy.eye(point.size)
            # What stands at a bound and wants to leave is held.
            free = ~(((point <= self.low + 1e-9) & (gradient > 0))
                     | ((point >= self.high - 1e-9) & (gradient < 0)))
            improved = False
            while free.any() and damping < 1e8:
                some = normal[numpy.ix_(free, free)]
                move = numpy.zeros_like(point)
                move[free] = numpy.linalg.solve(some + damping * numpy.diag(numpy.diag(some)),
                                                -gradient[free])
                tried = numpy.clip(point + move, self.low, self.high)
                found = self.value(tried)
                if found < value:
                    improved = value - found > 1e-9 * value
                    point, value, damping = tried, found, max(damping / 5, 1e-9)
                    break
                damping *= 5
            if not improved:
                break
        return point, value


def fitted(rows, constants, wanted, used):
    """(constants, parameters, names of bounds that were not believed)"""
    refused = []
    point, value = Fit(rows, constants, wanted, used).run()
    while True:
        best = None
        for i, parameter in enumerate(wanted):
            at_bound = min(abs(point[i] - numpy.log(parameter.least)),
                           abs(point[i] - numpy.log(parameter.most))) < 1e-6
            if not (parameter.source and at_bound):
                continue
            trial = [*wanted[:i], opened(parameter, constants), *wanted[i + 1:]]
            other, less = Fit(rows, constants, trial, used).run()
            if less < (1 - WORTH) * value and (best is None or less < best[0]):
                best = less, other, trial, parameter.source
        if best is None:
            return Fit(rows, constants, wanted, used).with_(point), wanted, refused
        value, point, wanted, source = best
        refused.append(source)


def held_out(rows, constants, wanted, labels, most=FOLDS):
    """log(estimate / time) of each row, by a fit that was shown no row of its label; `most` fits."""
    groups = sorted(set(labels))
    folds = min(most, len(groups))
    errors = numpy.full(rows.times.size, numpy.nan)
    for fold in range(folds if folds > 1 else 0):
        out = numpy.isin(labels, groups[fold::folds])
        found = Fit(rows, constants, wanted, ~out)
        errors[out] = rows.errors(found.with_(found.run()[0]))[out]
    return errors


def good_choices(rows, estimates):
    """(dispatches whose best by estimate takes 5 % longer than the fastest at most, all with a choice)"""
    good = count = 0
    for key in sorted(set(rows.keys)):
        own = numpy.flatnonzero(rows.keys == key)
        if own.size < 2:
            continue
        count += 1
        good += rows.times[own[numpy.argmin(estimates[own])]] <= (1 + NEAR) * rows.times[own].min()
    return good, count


def read_tuning(paths, target, works):
    """(rows that can be used, target, how many could not and why); of a candidate that several rounds have
    measured the last one's. Where there are `works`, by key and schedule, they are the rows'."""
    results, refused = {}, {}
    for path in paths:
        document = page.read(path)
        if document.get("cameo_tuning") != 1:
            raise ValueError(f"{path}: cameo_tuning is {document.get('cameo_tuning')}, not 1")
        if target and target != document["target"]:
            raise ValueError(f"{path} is of {document['target']}, not {target}")
        target = document["target"]
        for row in document["results"]:
            if works:
                row["work"] = works.get((row["key"], row["schedule"]))
            why = (f"status {row['status']}" if row["status"] != "ok" else
                   "no work" if not row.get("work") else
                   f"spread above {MOST_SPREAD:.0%}" if row.get("spread", 0) > MOST_SPREAD else "")
            if why:
                refused[why] = refused.get(why, 0) + 1
            else:
                results[row["key"], row["schedule"]] = row | {"file": path.name}
    return list(results.values()), target, refused


def read_machine(results, printed):
    """(usable constants by name, names of those that are not, log(estimate / time) of whole cases)"""
    constants, cases = [], []
    for path in results:
        for case in page.read(path)["cases"]:
            data = case.get("data", {})
            constants += data.get("constants", [])
            if case["name"].startswith("beside/") and "estimate_us" in data:
                cases.append(numpy.log(data["estimate_us"] / 1000 / data["milliseconds"]["cameo"]))
    for path in printed:
        constants += [json.loads(line) for line in path.read_text().splitlines()
                      if line.startswith('{"name"')]
    return ({constant["name"]: constant["median"] for constant in constants if constant["usable"]},
            [constant["name"] for constant in constants if not constant["usable"]], cases)


def started(rows, constants, machine):
    """Where the fit begins: clocks are the machine's under load, else those of the rows, which are read
    when they have ended, else the table's."""
    made = {name: value for name, value in UNKNOWN.items() if getattr(constants, name) == 0}
    made["gap_us"] = machine.get("launch_one_block", constants.gap_us)
    for name, on_matrix, source in (("matrix_clock_mhz", True, "clock_mma"),
                                    ("clock_mhz", False, "clock_fma")):
        seen = [row["clock_mhz"] for row in rows.results
                if row.get("clock_mhz") and bool(row["work"]["on_matrix"]) == on_matrix]
        made[name] = machine.get(source, float(numpy.median(seen)) if seen else getattr(constants, name))
    return constants.with_(**made)


def percent(errors):
    return f"{100 * (numpy.exp(numpy.median(numpy.abs(errors))) - 1):8.1f} %" if len(errors) else f"{'-':>10}"


def say_errors(title, labels, before, after, out):
    width = max(map(len, [title, *labels]))
    print(f"\n{title:{width}}{'rows':>8}{'before':>10}{'after':>10}{'left out':>10}")
    for label in [*sorted(set(labels)), "all"]:
        own = (labels == label) if label != "all" else numpy.full(labels.size, True)
        left = out[own]
        print(f"{label:{width}}{own.sum():8}{percent(before[own])}{percent(after[own])}"
              f"{percent(left[~numpy.isnan(left)])}")


def say_row(capability, found, wanted):
    print("\nparameter               value     least      most  bounded by")
    for parameter in wanted:
        value = getattr(found, parameter.name)
        at = ("at its bound" if min(abs(value / parameter.least - 1), abs(value / parameter.most - 1)) < 1e-5
              else "")
        print(f"{parameter.name:18}{value:11.4g}{parameter.least:10.4g}{parameter.most:10.4g}  "
              f"{parameter.source or 'nothing measured':18}{at}".rstrip())
    print(f"matrix_clock_mhz {found.matrix_clock_mhz:.0f}, clock_mhz {found.clock_mhz:.0f}; mma.sync does "
          f"{1 / found.matrix_time:.3f} times what the table's rate says")
    print("\ncameoTimings of runtime/boards.h:\n"
          f"    {{{capability}, {found.launch_us:.2f}, {found.gap_us:.2f}, {found.l2_rate:.1f}, "
          f"{found.global_latency:.0f}, {found.matrix_latency:.1f}, {found.barrier:.0f}, "
          f"{found.contention:.3f}, {found.memory_share:.3f}, {found.turn:.2f}, {found.conversion:.2f}, "
          f"{found.place:.1f}, {found.check:.1f}, {found.result:.1f}}},")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tuning", type=Path, action="append", required=True, metavar="FILE")
    parser.add_argument("--results", type=Path, action="append", default=[], metavar="FILE")
    parser.add_argument("--constants", type=Path, action="append", default=[], metavar="FILE")
    parser.add_argument("--works", type=Path, action="append", default=[], metavar="FILE")
    parser.add_argument("--hold", action="append", default=[], choices=BOUNDS, metavar="NAME",
                        help="a parameter that is the machine's constant, else the table's")
    parser.add_argument("--start", default="", metavar="ARCH",
                        help="the architecture at whose constants fits begin (the times')")
    parser.add_argument("--target", default="", help="refuse times of another one")
    options = parser.parse_args()
    try:
        works = {}
        for path in options.works:
            works |= model.works_noted(path.read_text())
        results, target, refused = read_tuning(options.tuning, options.target, works)
        constants, limits = model.read_target(target)
        begin = constants.with_(**model.timings(options.start)) if options.start else constants
    except ValueError as error:
        parser.error(str(error))
    if not results:
        parser.error(f"no row can be used: {refused}")
    machine, unusable, cases = read_machine(options.results, options.constants)
    rows = Rows(results, limits)
    given = numpy.array([row["estimate_us"] for row in results])
    differ = numpy.abs(rows.works.microseconds(constants) / given - 1) > 1e-3
    print(f"{target}: {len(results)} rows of {len(set(rows.keys))} dispatches; left out: "
          f"{', '.join(f'{count} for {why}' for why, count in refused.items()) or 'none'}")
    if unusable:
        print(f"constants of the machine that are not used, as repeats differ: {', '.join(unusable)}")
    if cases:
        print(f"whole cases: {len(cases)}, median error {percent(cases).strip()}, estimate / time "
              f"{numpy.exp(numpy.median(cases)):.2f}")
    if differ.any():
        print(f"warning: the estimates of {differ.sum()} rows are not what the tables here give: they were "
              "made with other constants")
    before = numpy.log(given / rows.times)
    start = started(rows, begin, machine)
    wanted, start = parameters(start, machine, model.sync_rate(target), options.hold)
    used = numpy.full(rows.times.size, True)
    found, wanted, mistrusted = fitted(rows, start, wanted, used)
    for name in mistrusted:
        print(f"the machine's {name} is not believed: times of kernels contradict it")
    after = rows.errors(found)
    say_errors("median error", rows.families, before, after, held_out(rows, start, wanted, rows.keys))
    if (files := len(set(rows.files))) > 1:
        say_errors("median error by file", rows.files, before, after,
                   held_out(rows, start, wanted, rows.files, files))
    for words, estimates in (("before", given), ("after", numpy.exp(after) * rows.times)):
        good, count = good_choices(rows, estimates)
        if count:
            print(f"{words}: the best by estimate is within {NEAR:.0%} of the fastest tried for {good} of "
                  f"{count} dispatches")
    say_row(model.capability(target), found, wanted)


if __name__ == "__main__":
    sys.exit(main())
