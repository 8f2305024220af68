#!/usr/bin/env python3
"""Seeded graphs of the forms that graph optimisation acts on (graph_forms.py): each is compiled
with -O0 and with -O2, run on the simulator at two sets of sizes, compared with ONNX Runtime, and
bit by bit with one another; and once more with options that are drawn, in CONFIGURATIONS. Some are run with all of
the simulator's checks.

A seed that fails is made smaller by cameo-reduce: what is left is in build/e2e/random-graphs/, and
--seed=N --count=1 makes the whole graph again. --planted plants a defect in a compiler of -O2 and
expects that it is found and that little more than the defect is left.
"""
# SPDX-License-Identifier: Apache-2.0
import argparse
import collections
import concurrent.futures
import functools
import pickle
import re
import shutil
import sys
from dataclasses import dataclass, field

import numpy
import onnx
from onnx import helper, numpy_helper

import fuzz_graphs
import fuzz_models
import graph_forms
import harness

DAILY = 130  # seeds, which have every form
REDUCE_SECONDS = 300
MOST_REDUCED = 3  # of the seeds that fail in one run: a defect rarely fails alone
INFER = "--pass-pipeline=builtin.module(func.func(cameo-infer-shapes))"
# What --planted makes of each exponential, in the text of stage `dispatched`.
DEFECT = ("math.exp %", "math.exp2 %")
WITHOUT = "ONNX Runtime gives no results: compiled and run alone"


# --- drawing

def draw_inputs(graph):
    for number in range(graph.integer(1, 3)):
        batch = graph.choose(["N", "N", "N", "N1", 1, 2])
        length = graph.choose(["M", "M", "M1", 5, 7, 16, 31])
        width = graph.choose([1, 3, 8, 13, 16, 32, 33, 64, "W"])
        sides = [graph.choose([1, 5, 6, 7, 8, 9, 14]) for _ in range(2)]
        if graph.chance(0.65):
            sides = graph.choose([["H", "W"], ["H", "W"], ["H", "H"], ["H", 8], [7, "W"]])
        channels = graph.choose([1, 3, 4, 8, 17])
        dims = graph.choose([
            [width], [length, width], [batch, length, width], [batch, length, width],
            [batch, channels, *sides], [batch, channels, *sides], [batch, channels, *sides]])
        if number and graph.chance(0.6):
            dims = [fuzz_graphs.relative(graph, dim) for dim in graph.inputs[0].dims]
        graph.input(fuzz_graphs.F32, dims)


@dataclass
class Drawn:
    sample: fuzz_graphs.Sample
    forms: list  # names
    operators: list
    largest: float  # magnitude of a value, in the first run
    sizes: set  # of constant matrices


def draw(seed, most_nodes):
    """The same for a seed."""
    graph, second = fuzz_graphs.begin(seed, wild=0.07)
    draw_inputs(graph)
    wanted, names = graph.integer(5, most_nodes), []
    for _ in range(200):
        if len(graph.nodes) >= wanted:
            break
        chosen = graph.choose(graph_forms.FORMS)
        if fuzz_graphs.attempt(graph, chosen):
            names.append(chosen.__name__)
    largest = max(float(numpy.abs(value.array).max(initial=0)) for value in graph.values
                  if value.array.dtype.kind == "f")
    sizes = {array.size for array in graph.constants.values() if array.ndim == 2}
    return Drawn(fuzz_graphs.sample_of(graph, 0.1, second), names, [node.op_type for node in graph.nodes],
                 largest, sizes)


# --- configurations

@dataclass
class Configuration:
    """One more way to compile a graph. `bits`: the level whose bits it gives; without one, results are within
    `off` of the largest magnitude of each output, where that is more than the bound of FP32."""
    flags: tuple
    run_flags: tuple = ()
    bits: str = ""
    off: float = 0


# Thrice what was measured on 60 graphs, of which 32 suit a lower precision, and 300 others: of the largest magnitude,
# beyond the bound of FP32, at most 8.5e-3 with FP16, 5.2e-2 with BF16, 9.7e-3 with TF32.
CONFIGURATIONS = {
    "-O1": Configuration(("-O1",), bits="-O0"),
    "channels-last": Configuration(("--layout=channels-last",)),
    "shapes": Configuration(("--shapes",)),
    "threads": Configuration(("-j3",), bits="-O2"),
    "forms": Configuration(("--sim-forms=both",), ("--sim-form=compare",), bits="-O2"),
    "fp16": Configuration(("--precision=fp16",), off=2.5e-2),
    "bf16": Configuration(("--precision=bf16",), off=1.5e-1),
    "tf32": Configuration(("--precision=tf32",), off=3e-2),
    "int8": Configuration(("--weights=int8",), off=5e-2),
    "int4": Configuration(("--weights=int4",), off=5e-1),
    "int4-64": Configuration(("--weights=int4:64", "--precision=fp16"), off=5e-1),
}
LOW = ("fp16", "bf16", "tf32")
# Operators of which a result jumps where an operand is rounded, or of which differences may be what rounding leaves;
# and forms that with FP16 have other rows: all of what a mask hides is the same in FP32 alone.
JUMPS = {"Greater", "Cast"}
MASKS = {"masked_scores"}
MOST_IN_FP16 = 1e3  # squares of larger values are beyond FP16
LEAST_WEIGHTS = 4096  # fewer are not quantised


def configurations_for(drawn):
    """The names of those that say something of a graph, some more often."""
    names = ["-O1", "channels-last", "threads", "forms"]
    if len(drawn.sample.feeds) > 1:
        names += ["shapes"] * 2
    if not JUMPS & set(drawn.operators) and drawn.largest < MOST_IN_FP16 and not MASKS & set(drawn.forms):
        names += [*LOW, *LOW]
        if max(drawn.sizes, default=0) >= LEAST_WEIGHTS:
            names += ["int8", "int4", "int4-64"] * 2
    return names


def configuration_of(seed, drawn, wanted=None):
    """The name of a seed's configuration: the one that is wanted, where the graph suits it."""
    names = configurations_for(drawn)
    return wanted if wanted in names else names[numpy.random.default_rng([seed, 1]).integers(len(names))]


# --- judging

def by_nodes(model, feed):
    """The results of a model, each node run by itself."""
    opset = fuzz_graphs.opset_of(model)
    known = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    known.update(feed)
    for node in model.graph.node:
        values = [fuzz_graphs.Value(name, known[name], (), False) for name in node.input if name]
        known.update(zip(node.output, fuzz_graphs.evaluate(node, values, opset, False)))
    return [known[output.name] for output in model.graph.output]


# The pass whose results agree to rounding only, as cameoc's statistics name it where it did anything.
ROUNDS = "cameo-fold-scales-into-weights"
# The class that sums narrow products in lanes, as remarks have it. Work that is fused to a product may
# rule it out, and several narrow products may become a wide one.
NARROW = 'schedule<"skinny"'
# What reduces rows, and what may compute them in the same kernel.
REDUCTION, PRODUCTS = re.compile("Softmax|Normalization|^Reduce"), ("MatMul", "Gemm")


@dataclass
class Outcome:
    seed: int
    kind: str = ""  # of what went wrong, so that a smaller graph can be told to show the same
    reason: str = ""
    steps: list = field(default_factory=list)
    drawn: Drawn = None
    reordered: set = field(default_factory=set)  # operators that explain different bits
    rounded: bool = False  # algebra that agrees to rounding explains them
    unknown: bool = False  # ONNX Runtime gives no results
    configuration: str = ""
    checked: bool = False  # by the simulator
    off: float = 0  # how far results were, in parts of the largest magnitude, beyond what FP32 may be off


def magnitude(array):
    return numpy.abs(array[numpy.isfinite(array)]).astype(float).max(initial=0) if array.dtype.kind == "f" else 0


def share_off(value, right, allowed):
    """How far beyond `allowed` a value is, in parts of the largest magnitude."""
    if right.dtype.kind != "f" or value.shape != right.shape or not magnitude(right):
        return 0
    with numpy.errstate(all="ignore"):
        apart = numpy.abs(value.astype(float) - right)
    return float((apart[numpy.isfinite(apart)].max(initial=0) - allowed) / magnitude(right))


class Checker(fuzz_models.Fuzzer):
    """One process's part of the work."""

    def __init__(self, options, work):
        super().__init__(options, work)
        self.cameoc = options.cameoc or self.cameoc
        self.reordered = harness.read_known_failures("random-graphs", harness.REORDERED_SUMS)

    @staticmethod
    def evaluator(model):
        """Node by node where f16 occurs: in a graph ONNX Runtime leaves out casts around operators
        that its CPU does not have in f16, and with them the rounding."""
        if not any(fuzz_models.goes_through_f16(node) for node in model.graph.node):
            return fuzz_models.Fuzzer.evaluator(model)
        return functools.partial(by_nodes, model)

    def judge(self, outcome, sample, work, checked, source=None, configuration=""):
        """Fills in what went wrong, if anything."""
        known, others, _ = self.referenced(sample)
        names = [output.name for output in sample.model.graph.output]
        found, outcome.unknown = {}, not known
        if others and not source:
            outcome.steps, outcome.reason = self.survives(sample, work, others, ["-O2"])
            outcome.kind = "fails" if outcome.reason else ""
        if not known or outcome.reason:
            return
        feeds = [feed for feed, _ in known]
        for level in harness.LEVELS:
            # Checks find what one level does wrong; the other one gives the bits.
            check = checked and level == "-O2"
            steps, reason, found[level] = self.execute(
                work / level, sample.model, feeds,
                [level, *(["--sim-checks-only"] if check else []),
                 *(["--start-from=imported"] if source else [])],
                ["--sim-checks=all", f"--sim-seed={outcome.seed}"] if check else [], source)
            outcome.steps += steps
            kind = "fails" if reason else "values"
            reason = reason or self.wrong(names, found[level], [wanted for _, wanted in known])
            if reason:
                outcome.kind, outcome.reason = f"{level} {kind}", f"{level}: {reason}"
                return
        differ = self.other_bits(names, list(found.values()))
        if differ:
            outcome.reordered = {node.op_type for node in sample.model.graph.node} & set(self.reordered)
            outcome.rounded = not outcome.reordered and self.is_rounded(
                sample, work, feeds, names, found["-O0"], source)
            outcome.rounded |= self.is_summed_otherwise(sample, work, feeds, source)
            if not outcome.reordered and not outcome.rounded:
                outcome.kind = "bits"
                outcome.reason = f"{differ} has other bits at -O2 than at -O0"
                return
        if configuration:
            self.judge_configuration(outcome, sample, work, configuration, known, found, source)

    def wrong(self, names, results, wanted, off=0):
        """What is wrong with results, or nothing; `off`: a bound in parts of the largest magnitude."""
        for arrays, (rights, allowed) in zip(results, wanted):
            for name, value, right, most in zip(names, arrays, rights, allowed):
                if reason := self.differs(name, value, right, most + off * magnitude(right)):
                    return reason
        return ""

    def judge_configuration(self, outcome, sample, work, name, known, found, source):
        """Compiles and runs in one more way."""
        how, names = CONFIGURATIONS[name], [output.name for output in sample.model.graph.output]
        flags = [fuzz_models.fixed(known[-1][0]) if flag == "--shapes" else flag for flag in how.flags]
        known = known[-1:] if name == "shapes" else known
        steps, reason, results = self.execute(
            work / name, sample.model, [feed for feed, _ in known],
            [*flags, *(["--start-from=imported"] if source else [])], how.run_flags, source)
        outcome.steps += steps
        kind = "fails" if reason else "values"
        reason = reason or self.wrong(names, results, [wanted for _, wanted in known], how.off)
        outcome.off = max((share_off(value, right, most) for arrays, (_, (rights, allowed)) in zip(results, known)
                           for value, right, most in zip(arrays, rights, allowed)), default=0)
        excused = outcome.rounded or outcome.reordered
        if not reason and how.bits and not (excused and how.bits != "-O2"):
            differ = self.other_bits(names, [found[how.bits], results])
            kind, reason = "bits", f"{differ} has other bits than with {how.bits}" if differ else ""
        if not reason and name == "threads" and (work / name / "model").read_bytes() != (
                work / "-O2" / "model").read_bytes() and not outcome.checked:
            kind, reason = "bits", "the artefact has other bytes than without -j"
        if reason:
            outcome.kind, outcome.reason = f"{name} {kind}", f"{' '.join(flags)}: {reason}"

    @staticmethod
    def other_bits(names, results):
        """The first output whose bits differ; nothing where none do."""
        for one, other in zip(*results) if len(results) == 2 else ():
            for name, a, b in zip(names, one, other):
                if a.tobytes() != b.tobytes():
                    return name
        return None

    def is_rounded(self, sample, work, feeds, names, wanted, source):
        """Whether -O2 says that it did algebra that rounds, and -O1, which does not, has the bits
        of -O0."""
        given = ["--start-from=imported"] if source else []
        steps, reason, _ = self.execute(work / "rounded", sample.model, feeds,
                                        ["-O2", "--statistics", *given], source=source)
        if reason or ROUNDS not in steps[0].output:
            return False
        _, reason, found = self.execute(work / "-O1", sample.model, feeds, ["-O1", *given],
                                        source=source)
        return not reason and not self.other_bits(names, [wanted, found])

    def is_summed_otherwise(self, sample, work, feeds, source):
        """Whether at one of the levels a narrow product is summed in lanes, or rows of a product are reduced by the
        block that has them, from its lanes on."""
        given = ["--start-from=imported"] if source else []
        outputs = [self.execute(work / "narrow", sample.model, feeds, [level, "--remarks", *given],
                                source=source)[0][0].output for level in harness.LEVELS]
        nodes = sample.model.graph.node
        products = [node.name for node in nodes if node.op_type in PRODUCTS]
        reductions = [node.name for node in nodes if REDUCTION.search(node.op_type)]
        return any(NARROW in output for output in outputs) or any(
            f"{reduction}: remark: fused with '{product}'" in outputs[-1]
            for reduction in reductions for product in products)

    def check(self, seed):
        drawn = fuzz_models.isolated(draw, seed, self.options.nodes)
        outcome = Outcome(seed, drawn=drawn)
        if drawn:
            work = self.work / f"seed-{seed}"
            every = self.options.checked_every
            outcome.checked = bool(every) and seed % every == 0
            outcome.configuration = configuration_of(seed, drawn, self.options.configuration)
            self.judge(outcome, drawn.sample, work, outcome.checked, configuration=outcome.configuration)
            if not outcome.reason:
                shutil.rmtree(work, ignore_errors=True)
        return outcome


# --- reducing

def reduce(options, checker, outcome, work):
    """Where what is left is, and of what operators it is, in words."""
    work.mkdir(parents=True, exist_ok=True)
    bin_folder = options.build.resolve() / "bin"
    onnx.save(outcome.drawn.sample.model, work / "model.onnx")
    (work / "sample.pickle").write_bytes(pickle.dumps(outcome.drawn.sample))
    # As bytecode in between: so its weights are part of the text.
    for command in ([bin_folder / "cameoc", work / "model.onnx", "-o", work / "imported.mlirbc",
                     "--stop-after=imported"],
                    [bin_folder / "cameo-opt", work / "imported.mlirbc", INFER, "-o",
                     work / "whole.mlir"]):
        step = harness.run(command, fuzz_models.COMPILE_SECONDS)
        if step.code:
            return f"cannot be reduced: {harness.first_error(step.output)}"
    script = work / "shows.sh"
    script.write_text("#!/bin/sh\n"
                      f"exec '{sys.executable}' '{__file__}' --build='{options.build.resolve()}' "
                      f"--cameoc='{checker.cameoc}' --target='{options.target}' "
                      f"--shows='{outcome.kind}' --folder='{work}' \"$1\"\n")
    script.chmod(0o755)
    smaller = work / "reduced.mlir"
    step = harness.run([bin_folder / "cameo-reduce", work / "whole.mlir",
                        f"-reduction-tree=traversal-mode=0 test={script}", "-o", smaller],
                       REDUCE_SECONDS, cwd=work)
    if step.code != 0:  # None where its time is up
        return f"cannot be reduced: {step.how()}: {harness.first_error(step.output)}"
    left = re.findall(r"= onnx\.(?!Constant\b|None\b)(\w+)", smaller.read_text())
    return f"{len(outcome.drawn.operators)} nodes became {', '.join(left)}: {smaller}"


def as_feed(model, given, size):
    """Inputs of a graph that was reduced: those it had, numbers for the others."""
    random, feed = numpy.random.default_rng(1), {}
    for put in model.graph.input:
        kind = put.type.tensor_type
        if put.name in given:
            feed[put.name] = given[put.name]
            continue
        shape = [dim.dim_value if dim.HasField("dim_value") else size for dim in kind.shape.dim]
        dtype = helper.tensor_dtype_to_np_dtype(kind.elem_type)
        feed[put.name] = (random.uniform(-2, 2, shape) if dtype.kind == "f" else
                          random.integers(0, 2, shape)).astype(dtype)
    return feed


def configuration_in(kind):
    """The configuration that a failure is of, if it is one's."""
    name = kind.split()[0]
    return name if name in CONFIGURATIONS else ""


def shows(options):
    """What cameo-reduce asks of a file: 1 where it still fails in the same way."""
    work = options.folder / "trial"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    checker = Checker(options, work)
    # Names and shapes of results may be out of date: the model is what the operators say.
    step = harness.run([options.build.resolve() / "bin" / "cameoc", options.file,
                        "--start-from=imported", "--stop-after=imported", "--emit=onnx", "-o",
                        work / "model.onnx"], fuzz_models.COMPILE_SECONDS)
    if step.code:
        return 0
    model = onnx.load(work / "model.onnx")
    given = pickle.loads((options.folder / "sample.pickle").read_bytes()).feeds
    open_sizes = sorted({size for feed in given for array in feed.values() for size in array.shape})
    for feed in given:
        for size in open_sizes or [1]:
            outcome = Outcome(1)
            sample = fuzz_graphs.Sample(model, [as_feed(model, feed, size)], {})
            checker.judge(outcome, sample, work / "run", False, options.file, configuration_in(options.shows))
            if outcome.kind == options.shows:
                return 1
            if not any(dim.HasField("dim_param") or not dim.HasField("dim_value")
                       for put in model.graph.input for dim in put.type.tensor_type.shape.dim):
                break
    return 0


# --- all of them

def print_coverage(outcomes):
    drawn = [outcome.drawn for outcome in outcomes if outcome.drawn]
    forms = collections.Counter(name for one in drawn for name in one.forms)
    operators = collections.Counter(name for one in drawn for name in one.operators)
    symbolic = sum(len(one.sample.feeds) > 1 for one in drawn)
    inner = sum(bool({output.name for output in one.sample.model.graph.output} & {
        name for node in one.sample.model.graph.node for name in node.input}) for one in drawn)
    print(f"{len(drawn)} graphs, {sum(operators.values())} nodes; {symbolic} with symbolic sizes, "
          f"{inner} with an output that is an inner value")
    for what, counts in (("forms", forms), ("operators", operators)):
        print(f"{what}: " + ", ".join(f"{name} {count}" for name, count in counts.most_common()))
    chosen = collections.Counter(one.configuration for one in outcomes if not one.unknown and one.drawn)
    print("configurations: " + ", ".join(f"{name} {count}" for name, count in chosen.most_common()))
    for name, how in CONFIGURATIONS.items():
        if how.off:
            worst = max((one.off for one in outcomes if one.configuration == name), default=0)
            print(f"{name}: at most {worst:.1e} of the largest magnitude beyond FP32's bound, of {how.off:.1e}")
    return set(forms)


def plant(options, suite):
    """A compiler whose -O2 takes exponentials to another base: options that have it."""
    broken, cameoc = suite.work / "broken-cameoc", suite.tool("cameoc")
    broken.write_text(f"""#!/bin/sh
case " $* " in *" -O2 "*) ;; *) exec '{cameoc}' "$@" ;; esac
text=$(mktemp --suffix=.mlir)
trap 'rm -f "$text"' EXIT
'{cameoc}' "$@" --stop-after=dispatched -o "$text" || exit
sed -i 's/{DEFECT[0]}/{DEFECT[1]}/' "$text"
'{cameoc}' "$text" --start-from=dispatched --target='{options.target}' -o "$3"
""")
    broken.chmod(0o755)
    options.cameoc = broken


def run_planted(options, suite):
    """The first seed that shows the defect, reduced."""
    plant(options, suite)
    checker = Checker(options, suite.work)
    for seed in range(options.first_seed, options.first_seed + 100):
        outcome = checker.check(seed)
        if outcome.reason:
            break
    print(f"seed {outcome.seed}: {outcome.reason}")
    text = reduce(options, checker, outcome, suite.work / f"seed-{outcome.seed}")
    print(text)
    left = re.search(r"became (.+):", text)
    if outcome.kind != "-O2 values" or not left or len(left[1].split(",")) > 2:
        suite.fail("planted", text, *outcome.steps)
    else:
        suite.ok("planted")


def run(options):
    suite = harness.Suite("random-graphs", options.build.resolve())
    suite.tool("cameoc")
    if options.planted:
        run_planted(options, suite)
        return suite.close()
    seeds = harness.seeds_of("random-graphs", options, options.count)
    outcomes = []
    with concurrent.futures.ProcessPoolExecutor(options.jobs, initializer=fuzz_models.start,
                                                initargs=(Checker, options, suite.work)) as pool:
        for outcome in pool.map(fuzz_models.check, seeds):
            outcomes.append(outcome)
            if outcome.unknown and not outcome.reason:
                suite.skip(WITHOUT)
            elif not outcome.reason and outcome.drawn:
                suite.ok()
    checker = Checker(options, suite.work)
    for number, outcome in enumerate([one for one in outcomes if one.reason or not one.drawn]):
        text = "" if not outcome.drawn or number >= MOST_REDUCED else "; " + reduce(
            options, checker, outcome, suite.work / f"seed-{outcome.seed}")
        suite.fail(f"seed {outcome.seed}", (outcome.reason or "cannot be drawn") + text,
                   *outcome.steps)
    if suite.skips[WITHOUT] > len(seeds) / 10 + 1:
        suite.fail("references", "ONNX Runtime gave no results for more than a tenth of the graphs")
    forms = print_coverage(outcomes)
    if missing := {chosen.__name__ for chosen in graph_forms.FORMS} - forms:
        if options.count >= DAILY:
            suite.fail("coverage", f"no graph has {', '.join(sorted(missing))}")
    print(f"{sum(outcome.rounded for outcome in outcomes)} graphs have other bits where -O2 folds "
          "scales into weights, where a narrow product is summed in lanes, or a product's rows by their block")
    needed = {name for outcome in outcomes for name in outcome.reordered}
    for name in sorted(set(checker.reordered) - needed):
        print(f"note: reordered_sums.txt has random-graphs/{name}, which no seed needs")
    return suite.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    parser.set_defaults(target="sim:sm_80")
    harness.add_seed(parser, 1)
    parser.add_argument("--count", type=int, default=DAILY, metavar="N", help="how many seeds")
    parser.add_argument("--nodes", type=int, default=16, metavar="N", help="about how many at most")
    parser.add_argument("--checked-every", type=int, default=5, metavar="N",
                        help="every N-th seed is run with the simulator's checks; 0: none")
    parser.add_argument("--configuration", choices=CONFIGURATIONS,
                        help="for all graphs that suit it, not one that is drawn")
    parser.add_argument("--cameoc", help="another compiler than the build's")
    parser.add_argument("--planted", action="store_true", help="find a defect that is planted")
    parser.add_argument("--shows", help="whether FILE fails in this way: exit code 1")
    parser.add_argument("--folder", type=harness.Path, help="of the seed, for --shows")
    parser.add_argument("file", nargs="?", help="for --shows")
    options = parser.parse_args()
    return shows(options) if options.shows else run(options)


if __name__ == "__main__":
    sys.exit(main())
