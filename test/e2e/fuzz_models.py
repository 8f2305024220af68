#!/usr/bin/env python3
"""Random models, and valid models made wrong.

  graph     a random well-formed model, compiled, run on the simulator (some with its checks) at two
            sets of sizes and compared with ONNX Runtime
  mutation  a model with parts of its file or of its protobuf changed: cameoc must end in time, with a
            clear error or with an artefact that in turn ends well or with a clear error

A failure prints a seed: --seed=N --count=1 with the kind's --only makes it again. What fails is kept
in build/e2e/fuzz/, for graphs with the one node that fails by itself, where there is one."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import collections
import multiprocessing
import os
import pickle
import re
import shutil
import signal
import sys
import traceback
from dataclasses import dataclass, field

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

import fuzz_graphs
import fuzz_mutations
import fuzz_operators  # pylint: disable=unused-import
import harness

COMPILE_SECONDS, RUN_SECONDS, REFERENCE_SECONDS = 120, 120, 120
CHECKED_EVERY = 4  # which share of the graphs is run with the simulator's checks
MEMORY = 4 << 30

# Of the largest magnitude of an output. What the conditioning of a model adds is measured: how far
# ONNX Runtime's own results move when its inputs move by a few units in the last place.
TOLERANCE = {"float16": 1e-2, "float32": 3e-5, "float64": 1e-6}
NUDGE = {"float16": 2e-3, "float32": 1e-6, "float64": 1e-12}
# What numbers around 1 that cancel leave: a few quanta of them. No change of the inputs shows it where
# the numbers do not depend on them, as behind Sign (ReduceLogSumExp of a LogSoftmax is 0).
CANCELLED = 4 * 2.0 ** -23
# The bound, in parts of the largest magnitude, of an output that depends on a value of f16 between others: it may
# round the other way.
THROUGH_F16 = 5e-3
DRIFTS = 5  # how many times what was measured a result may be off; 2 were enough on 220 graphs
NO_REFERENCE = "without a reference"  # how a case ended


def fixed(feed):
    """The option that says what sizes inputs have."""
    return "--shapes=" + ",".join(f"{name}:{'x'.join(map(str, array.shape))}"
                                  for name, array in feed.items() if array.ndim)


def goes_through_f16(node):
    return node.op_type == "Cast" and any(attribute.name == "to" and attribute.i == TensorProto.FLOAT16
                                          for attribute in node.attribute)


def behind_f16(model):
    """Names of values that depend on one that goes through f16."""
    found = set()
    for node in model.graph.node:
        if goes_through_f16(node) or found.intersection(node.input):
            found.update(node.output)
    return found


def isolated(function, *arguments):
    """What the function returns, from a process of its own; None where that crashes or does not end: ONNX Runtime
    does so on some models."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        signal.alarm(REFERENCE_SECONDS)  # ends the process, in whatever code it is
        try:
            os.close(reading)
            with os.fdopen(writing, "wb") as pipe:
                pickle.dump(function(*arguments), pipe)
                pipe.flush()
                os._exit(0)
        except Exception:  # pylint: disable=broad-except
            traceback.print_exc()
        finally:
            os._exit(1)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        data = pipe.read()
    _, status = os.waitpid(child, 0)
    return pickle.loads(data) if status == 0 else None


@dataclass
class Outcome:
    """Of one case: what went wrong, or nothing; how it ended where nothing did."""
    kind: str
    seed: int
    reason: str = ""
    steps: list = field(default_factory=list)
    ended: str = "compared"


class Fuzzer:
    """One process's part of the work."""

    def __init__(self, options, work):
        self.options, self.work = options, work
        self.cameoc = options.build.resolve() / "bin" / "cameoc"
        self.bases = None

    # --- graphs

    @staticmethod
    def evaluator(model):
        """A function from inputs to ONNX Runtime's results."""
        session = fuzz_graphs.session(model, False)
        return lambda feed: session.run(None, feed)

    def reference(self, sample, feed):
        """(arrays, allowed differences), or why there are none: ONNX Runtime refuses these sizes, or its shape
        inference contradicts its own kernels (MaxPool with ceil_mode)."""
        try:
            evaluate = self.evaluator(sample.model)
            arrays = evaluate(feed)
        except Exception as refused:  # pylint: disable=broad-except
            return str(refused) or type(refused).__name__
        random = numpy.random.default_rng(1)
        moved = {}
        for name, array in feed.items():
            moved[name] = array
            if array.dtype.kind == "f":
                step = NUDGE[array.dtype.name]
                moved[name] = (array * (1 + random.uniform(-step, step, array.shape))
                               ).astype(array.dtype)
        def resized(others):
            return any(array.shape != other.shape for array, other in zip(arrays, others))

        try:
            others = evaluate(moved)
            if resized(others):
                # Inputs whose values are counted, as Unique does, stay as they are.
                moved.update({name: array for name, array in feed.items()
                              if resized(evaluate({**feed, name: moved[name]}))})
                others = evaluate(moved)
        except Exception as refused:  # pylint: disable=broad-except
            return str(refused) or type(refused).__name__
        if resized(others):
            return "sizes depend on how values are rounded"
        rounded = behind_f16(sample.model)
        return arrays, [self.allowed(array, other, output.name in rounded)
                        for output, array, other in zip(sample.model.graph.output, arrays, others)]

    @staticmethod
    def allowed(array, other, rounded):
        """How far from `array` a result may be; `other` is what inputs gave that were a little different."""
        if array.dtype.kind != "f" or not array.size:
            return 0
        wide, moved = array.astype(numpy.float64), other.astype(numpy.float64)
        finite = numpy.isfinite(wide)
        with numpy.errstate(all="ignore"):
            drift = numpy.abs(moved - wide)[finite & numpy.isfinite(moved)].max(initial=0)
        largest = numpy.abs(wide[finite]).max(initial=0)
        relative = TOLERANCE[array.dtype.name] + (THROUGH_F16 if rounded else 0)
        return relative * largest + DRIFTS * drift + CANCELLED

    def execute(self, work, model, feeds, flags=(), run_flags=(), source=None):
        """(steps, what went wrong, arrays for each feed). What is compiled is the model, or `source`,
        the same in another form."""
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        if not source:
            source = work / "model.onnx"
            onnx.save(model, source)
        steps = [harness.run([self.cameoc, source, "-o", work / "model",
                              f"--target={self.options.target}", *flags], COMPILE_SECONDS)]
        if steps[0].code != 0:
            return steps, f"cameoc {steps[0].how()}: {harness.first_error(steps[0].output)}", []
        results = []
        for number, feed in enumerate(feeds):
            command = [work / "model", f"--device={self.options.device}", *run_flags]
            for name, array in feed.items():
                file = work / f"{number}-{len(command)}.pb"  # names may have any character
                file.write_bytes(numpy_helper.from_array(array).SerializeToString())
                command.append(f"--input={name}=@{file}")
            files = [work / f"{number}-out-{place}.pb" for place in range(len(model.graph.output))]
            command += [f"--output={output.name}=@{file}"
                        for output, file in zip(model.graph.output, files)]
            steps.append(harness.run(command, RUN_SECONDS))
            if steps[-1].code != 0:
                reason = f"{steps[-1].how()}: {harness.first_error(steps[-1].output)}"
                return steps, reason, results
            results.append([numpy_helper.to_array(TensorProto.FromString(file.read_bytes()))
                            for file in files])
        return steps, "", results

    @staticmethod
    def differs(name, value, wanted, allowed):
        if value.dtype != wanted.dtype or value.shape != wanted.shape:
            return f"{name} is {value.dtype} {value.shape}, not {wanted.dtype} {wanted.shape}"
        if wanted.dtype.kind != "f":
            return "" if numpy.array_equal(value, wanted) else f"{name} has other values"
        with numpy.errstate(all="ignore"):
            apart = numpy.abs(value.astype(numpy.float64) - wanted.astype(numpy.float64))
        # NaN and infinities must stand in the same places.
        same = (value == wanted) | (numpy.isnan(value) & numpy.isnan(wanted))
        good = same | (apart <= allowed)
        return "" if good.all() else f"{name} is off by {apart[~good].max():.3e} of {allowed:.3e}"

    def referenced(self, sample):
        """([(feed, (arrays, allowed differences))] of what ONNX Runtime gives results for, feeds without any,
        its first reason)"""
        pairs = [(feed, isolated(self.reference, sample, feed)) for feed in sample.feeds]
        known = [(feed, wanted) for feed, wanted in pairs if isinstance(wanted, tuple)]
        others = [(feed, wanted) for feed, wanted in pairs if not isinstance(wanted, tuple)]
        why = (others[0][1] or "it crashes") if others else ""
        return known, [feed for feed, _ in others], why

    def survives(self, sample, work, feeds, flags=()):
        """(steps, what is wrong or nothing) where there is no reference: what cameoc compiles has to run, or
        to refuse, the feeds."""
        steps = []
        for feed in feeds:
            tried, reason, _ = self.execute(work, sample.model, [feed], flags)
            steps += tried
            if reason and (tried[-1].crashed or not re.search(r"\berror: .{10}", tried[-1].output)):
                return steps, f"without a reference: {reason}"
        return steps, ""

    def compare(self, sample, work, flags=(), run_flags=()):
        """(steps, what is wrong or nothing, whether anything was compared)"""
        known, others, _ = self.referenced(sample)
        steps, reason = self.survives(sample, work, others, flags)
        if reason or not known:
            return steps, reason, False
        tried, reason, results = self.execute(work, sample.model, [feed for feed, _ in known], flags,
                                              run_flags)
        for arrays, (_, (wanted, allowed)) in zip(results, known):
            for output, value, right, most in zip(sample.model.graph.output, arrays, wanted, allowed):
                reason = reason or self.differs(output.name, value, right, most)
        return steps + tried, reason, True

    @staticmethod
    def results(model, feed):
        try:
            return fuzz_graphs.session(model, False).run(None, feed)
        except Exception:  # pylint: disable=broad-except
            return None

    def shrink(self, sample, work):
        """The first node that fails by itself on the values that ONNX Runtime gives it."""
        graph = sample.model.graph
        known = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
        inner = [name for node in graph.node for name in node.output if name]
        opset = fuzz_graphs.opset_of(sample.model)
        every = fuzz_graphs.assemble(graph.node, graph.input, inner, graph.initializer, opset)
        for feed in sample.feeds:
            found = isolated(self.results, every, feed)
            if not found:
                continue
            values = {**dict(zip(inner, found)), **feed}
            for node in graph.node:
                inputs = {name: values[name] for name in node.input if name in values}
                weights = [numpy_helper.from_array(known[name], name)
                           for name in dict.fromkeys(node.input) if name in known]
                one = fuzz_graphs.Sample(fuzz_graphs.assemble(
                    [node], [fuzz_graphs.as_input(*item) for item in inputs.items()],
                    [helper.make_tensor_value_info(
                        name, helper.np_dtype_to_tensor_dtype(values[name].dtype), None)
                     for name in node.output if name], weights, opset), [inputs], {})
                _, reason, compared = self.compare(one, work)
                if compared and reason:
                    return f"; alone: {node.op_type}: {reason}"
        return ""

    def graph(self, seed):
        sample = isolated(fuzz_graphs.draw, seed)
        if not sample:
            return Outcome("graph", seed, ended=NO_REFERENCE)
        checked = seed % CHECKED_EVERY == 0
        work = self.work / f"graph-{seed}"
        steps, reason, compared = self.compare(
            sample, work, ["--sim-checks-only"] if checked else [],
            ["--sim-checks=all", f"--sim-seed={seed}"] if checked else [])
        if reason:
            alone = "" if any(step.crashed for step in steps) else self.shrink(
                sample, self.work / f"graph-{seed}-alone")
            return Outcome("graph", seed, reason + alone, steps)
        shutil.rmtree(work, ignore_errors=True)
        return Outcome("graph", seed, ended="compared" if compared else NO_REFERENCE)

    # --- mutations

    def mutation(self, seed):
        if not self.bases:  # small valid models, the same for every seed
            drawn = (isolated(fuzz_graphs.draw, seed, 5) for seed in range(16))
            self.bases = [sample.model for sample in drawn if sample]
        bases = self.bases
        random = numpy.random.default_rng(seed)
        made, data = fuzz_mutations.mutate(random, bases[random.integers(len(bases))])
        work = self.work / f"mutation-{seed}"
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        (work / "model.onnx").write_bytes(data)
        steps = [harness.run([self.cameoc, work / "model.onnx", "-o", work / "model",
                              f"--target={self.options.target}"], COMPILE_SECONDS,
                             memory_bytes=MEMORY)]
        if steps[0].code == 0:
            # Sizes that the change made huge are left alone.
            steps.append(harness.run([work / "model", "--random-inputs",
                                      f"--device={self.options.device}"], RUN_SECONDS,
                                     memory_bytes=MEMORY))
        reason = ""
        for step in steps:
            if step.crashed:
                reason = step.how()
            elif step.code and not re.search(r"\berror: .{10}", step.output):
                reason = f"{step.how()} without a clear error"
            elif "without a message" in step.output or "not supported in this form" in step.output:
                reason = "an error that says nothing"
        if not reason and steps[0].code and re.search(r"'\w+\.\w+' op ", steps[0].output):
            reason = "an error of a lowering, not of the report"
        if reason:
            return Outcome("mutation", seed,
                           f"{made}: {reason}: {harness.first_error(steps[-1].output)[:160]}", steps)
        shutil.rmtree(work)
        return Outcome("mutation", seed, ended="refused" if steps[0].code else "compiled")

    def check(self, case):
        kind, seed = case
        return self.graph(seed) if kind == "graph" else self.mutation(seed)


def start(kind, options, work):
    """In each process of a pool: what its cases are given to, a Fuzzer or what is made of one."""
    global CHECKER
    CHECKER = kind(options, work)


def check(case):
    return CHECKER.check(case)


def run(options):
    suite = harness.Suite("fuzz", options.build.resolve())
    suite.tool("cameoc")
    cases = []
    for kind, count in (("graph", options.graphs), ("mutation", options.mutations)):
        if re.search(options.only, kind):
            seeds = harness.seeds_of(f"fuzz-{kind}", options, options.count or count)
            cases += [(kind, seed) for seed in seeds]
    endings = collections.Counter()
    with multiprocessing.Pool(options.jobs, start, (Fuzzer, options, suite.work)) as pool:
        for outcome in pool.imap_unordered(check, cases):
            if outcome.reason:
                suite.fail(f"{outcome.kind}, seed {outcome.seed}", outcome.reason, *outcome.steps)
            else:
                endings[outcome.kind, outcome.ended] += 1
                if outcome.ended == NO_REFERENCE:
                    suite.skip("ONNX Runtime gives no results: compiled and run alone")
                else:
                    suite.ok()
    for (kind, ended), number in sorted(endings.items()):
        print(f"{kind}: {number} {ended}")
    # ONNX Runtime must not be the reason for nothing being tested.
    graphs = sum(kind == "graph" for kind, _ in cases)
    if endings["graph", NO_REFERENCE] > graphs / 10 + 1:
        suite.fail("graphs", "ONNX Runtime gave no results for more than a tenth of them")
    return suite.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    parser.set_defaults(target="sim:sm_80")
    harness.add_seed(parser, 1)
    parser.add_argument("--graphs", type=int, default=100, metavar="N", help="how many graphs")
    parser.add_argument("--mutations", type=int, default=300, metavar="N", help="how many mutations")
    parser.add_argument("--count", type=int, default=0, metavar="N", help="how many of each kind")
    parser.add_argument("--only", default="", metavar="KIND", help="graph or mutation")
    return run(parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
