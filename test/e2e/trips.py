#!/usr/bin/env python3
"""If, Loop and Scan that only a run decides. Each model is compiled once a level and run for several inputs, at -O2 with
the simulator's checks, beside ONNX Runtime. A model that is written in several ways gives the same bits in each: an If by a
constant, by an input, by the device, as Where; a Loop written out, unrolled, counted by an input, ended by the device,
as Scan."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import json
import os
import re
import sys

import numpy
import onnx

import artefact
import harness
import trip_cases
from nested_graphs import reference
from reference import differs

SECONDS = 120
# What results may be off by, of the largest element.
PRECISIONS = {"fp16": 5e-3, "bf16": 5e-2, "tf32": 5e-3}


class Programs:
    """Artefacts of models, each compiled once a level."""

    def __init__(self, suite):
        self.suite, self.made = suite, {}

    def run(self, case, model, level, feed):
        key = (id(model), level)
        if key not in self.made:
            self.made[key] = (artefact.Artefact(self.suite, f"{case}{level}", model, level,
                                                *harness.CHECKS_OF_LEVEL[level]), model)
        return self.made[key][0].run(feed)


def last_line(step):
    """An error, or the note that tells it."""
    lines = [line.strip() for line in step.output.splitlines() if "error:" in line or "note:" in line]
    return lines[-1] if lines else "no words"


def is_of_no_trip(array, want):
    """Of no trip ONNX Runtime does not know how large its parts would be: it gives none of their sizes, or 0."""
    sizes = want.shape[1:] or array.shape[1:]
    return array.dtype == want.dtype and array.shape[:1] == (0,) == want.shape[:1] and \
        len(sizes) == array.ndim - 1 and all(wanted in (size, 0) for size, wanted in zip(array.shape[1:], sizes))


def reason_of(outputs, arrays, wanted):
    for results in (arrays, wanted):
        if isinstance(results, str):
            return results
    wanted = [array if is_of_no_trip(array, want) else want for array, want in zip(arrays, wanted)]
    found = (differs(output.name, array, want) for output, array, want in zip(outputs, arrays, wanted))
    return next(filter(None, found), None)


def check(suite, name, forms):
    """`forms`: by name, the same number of (model, feed) each, or None. The first one is compared with ONNX Runtime, all
    others with its bits."""
    programs, bits, wanted = Programs(suite), {}, {}
    for form, rows in forms.items():
        for number, row in enumerate(rows):
            if not row: # the form cannot do it
                continue
            model, feed = row
            if number not in wanted:
                wanted[number] = reference(model, feed)
            for level in harness.LEVELS:
                case = f"{name}-{form}{level}-{number}"
                step, arrays = programs.run(f"{name}-{form}-{number}", model, level, feed)
                if step.code:
                    suite.fail(case, f"{step.how()}: {last_line(step)}", step)
                    continue
                reason = reason_of(model.graph.output, arrays, wanted[number])
                found = [(array.dtype, array.shape, array.tobytes()) for array in arrays]
                first, given = bits.setdefault(number, (case, found))
                if not reason and found != given:
                    reason = f"has other bits than {first}"
                if reason:
                    suite.fail(case, reason, step)
                else:
                    suite.ok(case)


def check_steps(suite, name, model, long, short):
    """T steps, and T1 and T2 with the state between them: (feed of all), (feeds in turn, whose `s` is the state)."""
    for level in harness.LEVELS:
        case = f"{name}{level}"
        program = artefact.Artefact(suite, case, model, level, *harness.CHECKS_OF_LEVEL[level])
        step, whole = program.run(long)
        parts = []
        for feed in short:
            if step.code:
                break
            step, arrays = program.run({**feed, "s": parts[-1][0]} if parts else feed)
            parts.append(arrays)
        if step.code:
            suite.fail(case, f"{step.how()}: {last_line(step)}", step)
            continue
        collected = numpy.concatenate([part[1] for part in parts])
        same = parts[-1][0].tobytes() == whole[0].tobytes() and collected.tobytes() == whole[1].tobytes()
        if reason := reason_of(model.graph.output, whole, reference(model, long)):
            suite.fail(case, reason, step)
        elif not same:
            suite.fail(case, "other bits in two runs with a state than in one", step)
        else:
            suite.ok(case)


def check_network(suite, name, model, feed):
    """Precisions, ONNX, the stages' texts, and what reports and artefacts tell of loops and branches."""
    wanted, source = reference(model, feed), suite.work / f"{name}.onnx"
    onnx.save(model, source)
    inputs = suite.work / f"{name}.npz"
    numpy.savez(inputs, **feed)
    for precision, bound in PRECISIONS.items():
        case = f"{name}-{precision}"
        step, arrays = artefact.Artefact(suite, case, model, f"--precision={precision}", "--sim-checks-only").run(feed)
        judge(suite, case, step, step.code == 0 and far_off(arrays, wanted, bound))
    # Floats of half the width, in and out; bodies take and yield the types of the model.
    flags = ("--precision=fp16", "--io-precision=fp16", "--sim-checks-only")
    half = {put: array.astype(numpy.float16) if array.dtype == numpy.float32 else array for put, array in feed.items()}
    step, arrays = artefact.Artefact(suite, f"{name}-io", model, *flags).run(half)
    narrow = [array.astype(numpy.float16) if array.dtype == numpy.float32 else array for array in wanted]
    judge(suite, f"{name}-io", step, step.code == 0 and far_off(arrays, narrow, PRECISIONS["fp16"]))
    for stage in ("normalized", "precision"):
        case, written = f"{name}-onnx-{stage}", suite.work / f"{name}.{stage}.onnx"
        step = harness.run([suite.tool("cameoc"), source, "--emit=onnx", f"--stop-after={stage}", "-o", written],
                           SECONDS)
        judge(suite, case, step, step.code == 0 and
              reason_of(model.graph.output, reference(onnx.load(written), feed), wanted))
    program, report = suite.work / f"{name}.told", suite.work / f"{name}.json"
    step = harness.run([suite.tool("cameoc"), source, "-o", program, "--target=sim:sm_80", f"--report={report}"],
                       SECONDS)
    has_kernels = step.code == 0 and json.loads(report.read_text())["kernels"]
    judge(suite, f"{name}-report", step, "" if has_kernels else "reports no kernels")
    for options, word in ((["--info"], "y0"), (["--profile"], "MatMul" if "product" in name else "us"),
                          (["--benchmark", "--iterations=2", "--warmUp=0", "--duration=0"], "hroughput")):
        run = [] if options == ["--info"] else ["--device=sim", f"--input=@{inputs}"]
        step = harness.run([program, *run, *options], SECONDS)
        judge(suite, f"{name}{options[0]}", step, word not in step.output and f"does not say '{word}'")


def judge(suite, case, step, reason):
    if step.code or reason:
        suite.fail(case, reason if step.code == 0 else f"{step.how()}: {last_line(step)}", step)
    else:
        suite.ok(case)


def far_off(arrays, wanted, bound):
    """Why numbers are more than `bound` of the largest from those wanted; sizes and types must be right."""
    for array, want in zip(arrays, wanted):
        if array.shape != want.shape or array.dtype != want.dtype:
            return f"{array.dtype} {array.shape}, not {want.dtype} {want.shape}"
        error = abs(array.astype(float) - want.astype(float)).max(initial=0)
        if not error <= bound * max(abs(want.astype(float)).max(initial=1), 1):
            return f"is off by {error:.2e}"
    return ""


def check_contexts(suite):
    """Sizes in turn in one context, in a process that has Cameo's Python package."""
    environment = {**os.environ, "PATH": f"{suite.build / 'bin'}:{os.environ['PATH']}",
                   "PYTHONPATH": f"{suite.build / 'python'}", "PYTHONDONTWRITEBYTECODE": "1"}
    step = harness.run([sys.executable, harness.SOURCE / "test" / "e2e" / "trip_contexts.py"], SECONDS, env=environment)
    cases = [line.partition(": ") for line in step.output.splitlines() if line.startswith("context-")]
    for case, _, problem in cases:
        if problem:
            suite.fail(case, problem, step)
        else:
            suite.ok(case)
    if step.code or not cases:
        suite.fail("contexts", step.how(), step)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    options = parser.parse_args()
    suite = harness.Suite("trips", options.build.resolve())
    tasks = [(name, check, (forms,)) for name, forms in trip_cases.groups() if re.search(options.filter, name)]
    tasks += [(name, check_steps, given) for name, *given in trip_cases.states() if re.search(options.filter, name)]
    tasks += [(name, check_network, given) for name, *given in trip_cases.networks() if re.search(options.filter, name)]
    if re.search(options.filter, "context"):
        check_contexts(suite)
    for _ in harness.for_each(tasks, lambda task: task[1](suite, task[0], *task[2]), options.jobs):
        pass
    return suite.close()


if __name__ == "__main__":
    sys.exit(main())
