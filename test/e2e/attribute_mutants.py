#!/usr/bin/env python3
"""Faults on purpose at import (test/attribute_mutants.txt): each attribute of each operator of the table ignored, or each
optional input taken for absent, one at a time, in a cameoc of its own (target `cameoc-attribute-mutants`). A fault runs the daily tests' cases that
have the attribute or the input: rows of the import table, ONNX's node tests, models of early opsets, loops and sequences,
and values outside of the specification, which are refused; up to the first that fails. That one has to pass without the
fault. What no case can find says why in the list."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import concurrent.futures
import functools
import itertools
import multiprocessing
import os
import re
import resource
import shutil
import subprocess
import sys
import time
import zlib
from dataclasses import dataclass, field

import onnx

import artefact
import attribute_faults
import batch
import early_opsets
import harness
import loops
import node_tests
import reference
import row_cases
from attribute_faults import Fault, read_list

sys.path.insert(0, str(harness.SOURCE / "test" / "dialects" / "onnx"))
import spec_kinds  # noqa: E402
import spec_values  # noqa: E402

TARGETS = ["cameoc-attribute-mutants", "cameo-compare-code"]
FOUND = 0.95
TOGETHER = 6  # models of one node in one
TAKEN = "is not refused"
PROCESS = "attribute-mutants-"

# --- the cases

@dataclass
class Case:
    """A model of the daily tests, and what judges the run of its batch entry or, where it cannot be merged, all of it."""
    label: str
    model: onnx.ModelProto
    feed: dict = field(default_factory=dict)
    judge: object = None  # of an entry that ran: what is wrong, or None
    alone: object = None  # what is wrong, or None

    def __post_init__(self):
        self.operators = node_tests.operators(self.model)

    @property
    def opsets(self):
        return tuple((opset.domain, opset.version) for opset in self.model.opset_import)

    @property
    def opset(self):
        return max((version for domain, version in self.opsets if domain in ("", "ai.onnx")), default=0)


class Cases:
    """Of each operator, in the order in which they are tried."""

    def __init__(self, options):
        self.options = options
        self.nodes = node_tests.NodeTests(options)
        self.suite = self.nodes.suite
        self.tests = [*self.node_tests(), *self.early(), *self.loops()]

    def node_tests(self):
        merged = {entry.label: entry for entries in self.nodes.grouped() for entry in entries}
        for name in node_tests.all_tests():
            if entry := merged.get(name):
                yield Case(name, entry.model, entry.feed, functools.partial(self.judge_node, name))
                continue
            model = onnx.load(node_tests.folder_of(name) / "model.onnx")
            if name not in self.nodes.exceptions and not node_tests.operators(model) - self.nodes.claimed:
                yield Case(name, model, alone=functools.partial(self.run_node, name))

    @staticmethod
    def judge_node(name, entry):
        files = node_tests.data_files(node_tests.folder_of(name) / "test_data_set_0", "output")
        return batch.judge(entry, [onnx.numpy_helper.to_array(onnx.TensorProto.FromString(file.read_bytes()))
                                   for file in files])

    def run_node(self, name):
        outcome, reason, _ = self.nodes.check(name)
        return None if outcome == "passed" else f"{outcome}: {reason}"

    @staticmethod
    def rows(operator):
        """Of the newest version first."""
        versions = [version for name, version, _ in row_cases.rows() if name == operator]
        for version in reversed(versions):
            row_cases.random = row_cases.numpy.random.default_rng(zlib.crc32(operator.encode()) + version)
            for case in row_cases.CASES[operator](version):
                yield Case(f"{operator}-{version}-{case.label}", case.model(operator, version), case.feed(), judge_row)

    def early(self):
        for name, model, feed, wanted, tolerance in early_opsets.cases():
            yield Case(f"early-{name}", model, feed, functools.partial(judge_early, wanted, tolerance))
        for name, model, feed in early_opsets.training():
            yield Case(f"early-{name}", model, feed, lambda entry: early_opsets.is_dropped(entry.outputs) or None)
        yield from (self.refusal(f"early-{name}", model) for name, model, _ in early_opsets.refusals())

    def refusal(self, name, model, feed=None):
        """What cameoc refuses, or where it is given what to run with, the artefact."""
        return Case(name, model, alone=functools.partial(run_refused, self.suite, name, model, feed))

    def loops(self):
        for name, model in itertools.chain(loops.loops(), loops.scans(), loops.sequences(), loops.left_to_runs()):
            flags = loops.OPTIONS.get(name, [])
            yield Case(f"loops-{name}", model, alone=functools.partial(run_loop, self.suite, f"loops-{name}", model, flags))
        yield from (self.refusal(f"loops-{name}", model) for name, model, _ in loops.refusals())

    def outside(self, fault):
        """Values of the attribute that the specification rules out."""
        for operator, version, _ in row_cases.rows():
            if operator != fault.operator or fault.word not in spec_values.attributes_of(operator, version):
                continue
            cases = spec_values.base_cases(operator, version)
            case = next((case for case in cases if fault.word in case.attributes), cases[0])
            for value, must in row_cases.outside(operator, version, fault.word, case):
                if must:
                    model = spec_values.with_attribute(case, operator, version, fault.word, value)
                    yield self.refusal(f"{operator}-{version}-{fault.word}-{spec_kinds.text(value)}", model, case.feed())

    def of(self, fault):
        """Those that the fault changes."""
        found = []
        for case in itertools.chain(self.rows(fault.operator) if fault.operator in row_cases.CASES else (),
                                    self.tests):
            if fault.operator in case.operators:
                order = fault.order(node_tests.all_nodes(case.model), case.opset)
                if order is not None:
                    found.append((order, bool(case.alone), case))
        cases = [case for *_, case in sorted(found, key=lambda each: each[:2])]
        return itertools.chain(cases, self.outside(fault))


def judge_row(entry):
    wanted = reference.expected(entry.model, entry.feed)
    return wanted if isinstance(wanted, str) else batch.judge(entry, wanted)


def judge_early(wanted, tolerance, entry):
    return early_opsets.differs(entry.outputs, wanted, tolerance) or None


def run_refused(suite, name, model, feed):
    name = re.sub(r"[^\w.-]", "_", name)
    program = artefact.Artefact(suite, name, model)
    step = program.step if feed is None else program.run(feed)[0]
    return None if step.code and not step.crashed else TAKEN


def run_loop(suite, name, model, flags):
    feed = loops.feed_of(model)
    program = artefact.Artefact(suite, name, model, *flags)
    step, arrays = program.run(feed)
    if step.code:
        return f"{step.how()}: {harness.first_error(step.output)}"
    return loops.differ(program.outputs, arrays, reference.expected(model, feed))


def batches(cases):
    """Those that one model may have, in order."""
    groups = {}
    for case in cases:
        if case.alone:
            yield from groups.values()
            groups = {}
            yield [case]
            continue
        group = groups.setdefault(case.opsets, [])
        group.append(case)
        if len(group) == TOGETHER:
            yield groups.pop(case.opsets)
    yield from groups.values()


# --- a fault

class Finder:
    """Of one process, whose environment says which fault there is."""
    own = None

    def __init__(self, options):
        options.every_way = False
        os.environ["CAMEO_PART"] = f"{PROCESS}{os.getpid()}"  # names its folder
        self.cases = Cases(options)
        self.runner = batch.Runner(self.cases.nodes.suite, options)

    def run(self, fault, cases):
        """What is wrong with cases of one model, or with one that is alone; `fault` may be None."""
        os.environ.pop("CAMEO_MUTANT", None)
        if fault:
            os.environ["CAMEO_MUTANT"] = fault.environment
        if cases[0].alone:
            return cases[0].alone()
        entries = [batch.Entry(case.label, case.model, case.feed) for case in cases]
        steps, reason = self.runner.attempt("batch", entries)
        if reason:
            return f"{'crash: ' if steps[-1].crashed else ''}{reason}"
        return next((f"{case.label}: {text}" for case, text in
                     ((case, case.judge(entry)) for case, entry in zip(cases, entries)) if text), None)

    def find(self, fault):
        """(where it is found, how; what fails without it, and how many cases were run)."""
        count = 0
        for taken in batches(self.cases.of(fault)):
            count += len(taken)
            if reason := self.run(fault, taken):
                label = taken[0].label if len(taken) == 1 else f"{taken[0].label} and {len(taken) - 1} more"
                return label, reason, self.run(None, taken), count
        return "", "", None, count


def build():
    """A folder that is like a build's, but for the compiler that has the faults."""
    usual = harness.SOURCE / "build"
    step = subprocess.run(["cmake", "--build", usual, "--target", *TARGETS], capture_output=True, text=True, check=False)
    if step.returncode:
        sys.exit("\n".join(["error: the compiler is not built", *(step.stdout + step.stderr).splitlines()[-40:]]))
    folder = usual / "attribute-mutants"
    for name in ("lib", "bin/cameo-compare-code"):
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(usual / name)
    return folder


def begin(options):
    Finder.own = Finder(options)


def find(fault):
    before = cpu_seconds()
    found = Finder.own.find(fault)
    return *found, cpu_seconds() - before


def cpu_seconds():
    return sum(usage.ru_utime + usage.ru_stime for usage in
               (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)))


def judge(suite, fault, result):
    """A line of the table."""
    label, reason, baseline, cases, seconds = result
    if baseline:
        suite.fail(fault.environment, f"{label} fails without the fault: {baseline}")
    elif label and fault.unseen:
        suite.fail(fault.environment, f"{label} finds it, so take the reason off {attribute_faults.LIST.name}")
    elif label:
        suite.ok()
    elif fault.unseen:
        suite.skip(fault.unseen)
    else:
        suite.fail(fault.environment, f"is not found by {cases} cases")
    print(f"{fault.number:4} {fault.operator + ' ' + fault.name:44} {seconds:6.1f}  "
          + (f"{label}: {reason}" if label else f"not found by {cases} cases: {fault.unseen or 'WITHOUT A REASON'}"),
          flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    parser.set_defaults(build=None, target="sim:sm_80", compile_only=False, alone=False)
    parser.add_argument("--mutant", type=int, action="append", default=[], metavar="N", help="only this one; repeatable")
    options = parser.parse_args()
    suite = harness.Suite("attribute-mutants", harness.SOURCE / "build")
    if not options.build:
        options.build = build()
    options.build = options.build.resolve()
    listed = read_list()
    chosen = [fault for fault in listed if (fault.number in options.mutant if options.mutant else
                                            re.search(options.filter, fault.environment))]
    options.filter = ""
    started, seconds, taken = time.monotonic(), 0, 0
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(options.jobs, context, begin, (options,)) as pool:
        for fault, result in zip(chosen, pool.map(find, chosen)):
            judge(suite, fault, result)
            seconds += result[-1]
            taken += result[1] == TAKEN
    for left in (options.build / "e2e").glob(f"{PROCESS}*"):
        shutil.rmtree(left, ignore_errors=True)
    for left in (options.build / "test-logs").glob(f"{PROCESS}*"):
        left.unlink()
    print(f"{suite.passed} of {len(chosen)} faults are found, {taken} of them as what must be refused is not, in "
          f"{seconds:.0f} s of CPU and {time.monotonic() - started:.0f} s")
    unseen = sum(bool(fault.unseen) for fault in listed)
    if unseen > (1 - FOUND) * len(listed):
        suite.fail("found", f"{unseen} of {len(listed)} faults are not found; {1 - FOUND:.0%} may be")
    return suite.close()


if __name__ == "__main__":
    sys.exit(main())
