#!/usr/bin/env python3
"""Runs ONNX's backend tests: cameoc compiles each model, the artefact runs its test data.

All tests of the package's folders node, simple, pytorch-converted and pytorch-operator; the last
three have their folder in the name. Every test ends in exactly one of these:
  passed       compiled, ran, and its outputs agree with the expected ones
  unsupported  cameoc refused it and said so ("unsupported"); allowed only where the model, its
               functions inlined, uses an operator that neither operators.txt nor folded_operators.txt lists
  excepted     refused with an error, or with other results where the test's own are not the
               specification's; node_exceptions.txt names the test with a reason that is true of
               its model
  failed       all else: wrong results, a crash, no end, an error that names no reason, a claimed
               operator refused, an exception that is out of date; and a kernel that ptxas assembles
               with spills or a warning
"""
# SPDX-License-Identifier: Apache-2.0
import argparse
import collections
import itertools
import re
import shutil
import sys
from pathlib import Path

import numpy
import onnx
import onnx.backend.test
from onnx import TensorProto

import batch
import harness
from operator_table import FOLDED, ROWS

HERE = Path(__file__).resolve().parent
PAGE = harness.SOURCE / "docs" / "onnx.md"
DATA = Path(onnx.backend.test.__file__).parent / "data"
FOLDERS = ("node", "simple", "pytorch-converted", "pytorch-operator")
COMPILE_SECONDS, RUN_SECONDS = 120, 120
BATCH = 32  # how many tests one model has, unless --alone

# The reasons that an exception may have: what this release does not run by design.
# The latter two are of results that the test has, not of what is run.
WRONG_RESULTS = ("wraps around where it must saturate", "caps scores, or shows them, behind the mask")
REASONS = ("string, sequence or optional types", "axes known only at run time", *WRONG_RESULTS)

# (rtol, atol) by the coarsest type among the outputs. 1e-3 and 1e-7 are onnx's own. One unit in the
# last place of f16 is 2^-10 and of bf16 2^-7: four of them, since the references of several
# operators round every intermediate to the output's type and we round once.
TOLERANCES = {
    TensorProto.BFLOAT16: (3.2e-2, 1e-3),
    TensorProto.FLOAT16: (4e-3, 1e-4),
    TensorProto.FLOAT: (1e-3, 1e-7),
    TensorProto.DOUBLE: (1e-3, 1e-7),
}


# Operators that the importer writes as another one: claimed, though lowering never sees them.
IMPORTED_AS_ANOTHER = {"Scatter", "Upsample"}

# Where an operator takes axes.
AXES_OPERAND = {"Squeeze": 1, "Unsqueeze": 1, "CumSum": 1, "CumProd": 1, "Pad": 3, "Slice": 3}
# Operands that must be constants: the tests give them as inputs, which become initializers.
CONSTANT_OPERANDS = {"DFT": (1, 2), "STFT": (1, 3), "HannWindow": (0,), "HammingWindow": (0,), "BlackmanWindow": (0,),
                     "MelWeightMatrix": (0, 1, 2, 3, 4), "AffineGrid": (1,), "Col2Im": (1, 2)}
# Operands that decide control flow and positions, as inputs of the tests or computed from them.
DECIDING_OPERANDS = {"If": (0,), "Loop": (0, 1), "SequenceAt": (1,), "SequenceErase": (1,), "SequenceInsert": (2,),
                     "SplitToSequence": (1,)}
# Tests whose expected values are written with four digits.
FEW_DIGITS = {"test_averagepool_2d_ceil_last_window_starts_on_pad", "test_gridsample_bicubic",
              "test_roialign_aligned_false", "test_roialign_aligned_true"}
RANDOM = {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform",
          "RandomUniformLike"}



def folder_of(name):
    return DATA / name if "/" in name else DATA / "node" / name


def all_tests():
    return sorted(path.parent.name if folder == "node" else f"{folder}/{path.parent.name}"
                  for folder in FOLDERS for path in (DATA / folder).glob("*/model.onnx"))


def read_exceptions(path):
    """`test_name: reason` a line."""
    exceptions = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        name, _, reason = (part.strip() for part in line.partition(":"))
        if reason not in REASONS:
            sys.exit(f"{path}:{number}: error: '{reason}' is not an allowed reason: "
                     + "; ".join(REASONS))
        if not (folder_of(name) / "model.onnx").exists():
            sys.exit(f"{path}:{number}: error: there is no test {name}")
        exceptions[name] = reason
    return exceptions


def operators(model):
    """The operators a model uses as domain::Name (ai.onnx: just Name), in subgraphs and in the
    model-local functions that it calls."""
    functions = {(f.domain, f.name): f for f in model.functions}
    found, seen = set(), set()

    def visit(nodes):
        for node in nodes:
            key = (node.domain, node.op_type)
            if key in functions:
                if key not in seen:
                    seen.add(key)
                    visit(functions[key].node)
            else:
                found.add(node.op_type if node.domain in ("", "ai.onnx")
                          else f"{node.domain}::{node.op_type}")
            for attribute in node.attribute:
                for graph in [attribute.g, *attribute.graphs]:
                    visit(graph.node)

    visit(model.graph.node)
    return found


def all_nodes(model):
    """The nodes of a model, of its subgraphs and of its functions."""
    pending = [*model.graph.node, *(node for f in model.functions for node in f.node)]
    while pending:
        node = pending.pop()
        yield node
        for attribute in node.attribute:
            for graph in [attribute.g, *attribute.graphs]:
                pending.extend(graph.node)


def true_reasons(model):
    """Those of REASONS that are true of a model."""
    reasons = set()
    graph = model.graph
    values = [*graph.input, *graph.output, *graph.value_info]
    types = {value.type.tensor_type.elem_type for value in values}
    types |= {tensor.data_type for tensor in graph.initializer}
    if (TensorProto.STRING in types
            or any(value.type.WhichOneof("value") in ("sequence_type", "optional_type")
                   for value in values)):
        reasons.add("string, sequence or optional types")
    if TensorProto.INT8 in types and any(node.op_type == "QLinearMatMul" for node in graph.node):
        reasons.add(WRONG_RESULTS[0])
    if any(attribute.name == "softcap" or (attribute.name, attribute.i) == ("qk_matmul_output_mode", 1)
           for node in graph.node if node.op_type == "Attention" for attribute in node.attribute):
        reasons.add(WRONG_RESULTS[1])
    given = {value.name for value in graph.input} - {tensor.name for tensor in graph.initializer}
    for node in all_nodes(model):
        axes = 1 if node.op_type.startswith("Reduce") else AXES_OPERAND.get(node.op_type)
        if axes is not None and len(node.input) > axes and node.input[axes] in given:
            reasons.add("axes known only at run time")
    return reasons


def draws(name, model):
    """Whether results are random: of other implementations they have the types and shapes alone. Where nothing is
    dropped, nothing is random."""
    return any(node.op_type in RANDOM or node.op_type == "Dropout" and len(node.input) > 2 and "zero_ratio" not in name
               for node in all_nodes(model))


def tolerance(model):
    """Integers, booleans and strings must agree exactly."""
    types = {output.type.tensor_type.elem_type for output in model.graph.output}
    # Terms of transforms that cancel out leave a few units of their size in what is expected.
    transforms = any(node.op_type in ("DFT", "STFT") for node in all_nodes(model))
    for data_type, (rtol, atol) in TOLERANCES.items():
        if data_type in types:
            return rtol, 1e-5 if transforms else atol
    return (0, 0)


def deciding(model):
    """Names of the values that DECIDING_OPERANDS are, and of those that they are computed from."""
    makers = {name: node for node in all_nodes(model) for name in node.output}
    pending = [name for node in all_nodes(model) for place, name in enumerate(node.input)
               if place in DECIDING_OPERANDS.get(node.op_type, ())]
    found = set()
    while pending:
        name = pending.pop()
        if name and name not in found:
            found.add(name)
            pending.extend(makers[name].input if name in makers else ())
    return found


def fix_operands(model, arrays):
    """Makes initializers of inputs that CONSTANT_OPERANDS read, or that decide, whose values are `arrays`; the names of
    the others."""
    read = deciding(model) | {name for node in all_nodes(model) for place, name in enumerate(node.input)
                              if place in CONSTANT_OPERANDS.get(node.op_type, ())}
    left = []
    for put in list(model.graph.input):
        if put.name not in read or put.name not in arrays:
            left.append(put.name)
            continue
        model.graph.input.remove(put)
        model.graph.initializer.append(onnx.numpy_helper.from_array(arrays[put.name], put.name))
    return left


LIST_TYPES = ("sequence_type", "optional_type")


def is_list(value):
    return value.type.WhichOneof("value") in LIST_TYPES


def has_lists(model):
    return any(is_list(value) for value in [*model.graph.input, *model.graph.output])


def read_value(value, file):
    """An array, a list of them, or None for an optional without its element."""
    kind, data = value.type.WhichOneof("value"), file.read_bytes()
    if kind == "sequence_type":
        return onnx.numpy_helper.to_list(onnx.SequenceProto.FromString(data))
    if kind == "optional_type":
        return onnx.numpy_helper.to_optional(onnx.OptionalProto.FromString(data))
    return onnx.numpy_helper.to_array(onnx.TensorProto.FromString(data))


class Unpacked:
    """A test without sequences and optionals as inputs and outputs: they are made of tensors in front, and taken apart
    in the end, with their lengths and whether there is an element."""

    def __init__(self, model, folder):
        self.inputs, self.outputs = {}, {}
        self.front, self.back, self.given, self.made = [], [], [], []
        for value, file in zip(model.graph.input, data_files(folder, "input")):
            self.take(value, read_value(value, file))
        for value, file in zip(model.graph.output, data_files(folder, "output")):
            self.give(value.type, value.name, read_value(value, file))
        graph = model.graph
        nodes = [*self.front, *graph.node, *self.back]
        for field, filled in ((graph.node, nodes), (graph.input, self.given), (graph.output, self.made)):
            del field[:]
            field.extend(filled)

    def node(self, nodes, kind, inputs, output, **attributes):
        nodes.append(onnx.helper.make_node(kind, inputs, [output], **attributes))
        return output

    def tensor(self, name, array):
        self.inputs[name] = array
        self.given.append(onnx.helper.make_tensor_value_info(
            name, onnx.helper.np_dtype_to_tensor_dtype(array.dtype), array.shape))
        return name

    def sequence(self, kind, name, arrays):
        if not arrays:
            return self.node(self.front, "SequenceEmpty", [], name, dtype=kind.elem_type.tensor_type.elem_type)
        return self.node(self.front, "SequenceConstruct",
                         [self.tensor(f"{name}.{number}", array) for number, array in enumerate(arrays)], name)

    def take(self, value, data):
        kind, name = value.type, value.name
        if kind.WhichOneof("value") == "sequence_type":
            self.sequence(kind.sequence_type, name, data)
        elif kind.WhichOneof("value") != "optional_type":
            self.inputs[name] = data
            self.given.append(value)
        elif data is None:
            self.node(self.front, "Optional", [], name, type=kind.optional_type.elem_type)
        else:
            inner = kind.optional_type.elem_type.sequence_type
            element = self.sequence(inner, f"{name}.element", data) if isinstance(data, list) else \
                self.tensor(f"{name}.element", data)
            self.node(self.front, "Optional", [element], name)

    def result(self, kind, inputs, name, array, elem_type):
        self.made.append(onnx.helper.make_tensor_value_info(self.node(self.back, kind, inputs, name), elem_type, None))
        self.outputs[name] = array

    def give(self, kind, name, data):
        which = kind.WhichOneof("value")
        if which == "sequence_type":
            for number, array in enumerate(data):
                self.node(self.back, "Constant", [], f"{name}.at{number}",
                          value=onnx.numpy_helper.from_array(numpy.array(number)))
                self.result("SequenceAt", [name, f"{name}.at{number}"], f"{name}.{number}", array,
                            kind.sequence_type.elem_type.tensor_type.elem_type)
            self.result("SequenceLength", [name], f"{name}.length", numpy.array(len(data)), TensorProto.INT64)
        elif which == "optional_type":
            self.result("OptionalHasElement", [name], f"{name}.has", numpy.array(data is not None), TensorProto.BOOL)
            if data is not None:
                self.node(self.back, "OptionalGetElement", [name], f"{name}.element")
                self.give(kind.optional_type.elem_type, f"{name}.element", data)
        else:
            self.outputs[name] = data
            self.made.append(onnx.helper.make_value_info(name, kind))

    def save(self, work):
        """Writes what is given and wanted as a set of data."""
        folder = work / "test_data_set_0"
        folder.mkdir(exist_ok=True)
        for kind, arrays in (("input", self.inputs), ("output", self.outputs)):
            for number, (name, array) in enumerate(arrays.items()):
                (folder / f"{kind}_{number}.pb").write_bytes(
                    onnx.numpy_helper.from_array(numpy.asarray(array), name).SerializeToString())
        return work


def data_files(folder, kind):
    return sorted(folder.glob(f"{kind}_*.pb"), key=lambda path: int(path.stem.split("_")[1]))


class NodeTests:
    def __init__(self, options):
        self.options = options
        self.suite = harness.Suite("nodes", options.build.resolve())
        self.cameoc = self.suite.tool("cameoc")
        self.runner = batch.Runner(self.suite, options)
        self.claimed = set(ROWS) | FOLDED | IMPORTED_AS_ANOTHER
        self.exceptions = read_exceptions(HERE / "node_exceptions.txt")

    def check(self, name):
        """(outcome, reason, steps) of one test."""
        folder, work = folder_of(name), self.suite.work / name
        work.mkdir(exist_ok=True, parents=True)
        model = onnx.load(folder / "model.onnx")
        reason = self.exceptions.get(name)
        if reason and reason not in true_reasons(model):
            return "failed", f"the exception '{reason}' is not true of it", []
        unclaimed = sorted(operators(model) - self.claimed)
        path, artefact, given = folder / "model.onnx", work / "model", self.feed(name, model)
        if has_lists(model) and not reason:
            unpacked = Unpacked(model, folder / "test_data_set_0")
            folder, given, path = unpacked.save(work), unpacked.inputs, work / "model.onnx"
            onnx.save(model, path)
        kept = [True] * len(data_files(folder / "test_data_set_0", "input"))
        if operators(model) & {*CONSTANT_OPERANDS, *DECIDING_OPERANDS} and len(given) == len(kept):
            path = work / "model.onnx"
            left = fix_operands(model, given)
            kept = [name in left for name in given]
            onnx.save(model, path)
        compiled = harness.run([self.cameoc, path, "-o", artefact,
                                *harness.compile_flags(self.options),
                                f"--report={work / 'report.json'}"], COMPILE_SECONDS)
        if compiled.crashed:
            return "failed", f"cameoc: {compiled.how()}", [compiled]
        if compiled.code:
            return (*self.judge_refusal(name, unclaimed, compiled), [compiled])
        steps = [compiled]
        # Among other work than a function's own, libdevice's array stays one.
        array_bytes = batch.REDUCTION_BYTES if operators(model) & batch.REDUCED else 0
        if reason := harness.gate(self.options.build, artefact, work / "report.json", array_bytes):
            return "failed", reason, steps
        if self.options.compile_only:
            shutil.rmtree(work)
            return "passed", "", steps
        rtol, atol = (0, 1e300) if draws(name, model) else tolerance(model)
        for data, flags in itertools.product(sorted(folder.glob("test_data_set_*")),
                                             harness.run_flags(self.options)):
            step = harness.run(
                [artefact, *flags,
                 *(f"--input=@{file}" for file in itertools.compress(data_files(data, "input"), kept)),
                 *(f"--expected_output=@{path}" for path in data_files(data, "output")),
                 f"--rtol={rtol}", f"--atol={atol}", "--equal-nan"], RUN_SECONDS)
            steps.append(step)
            if step.code == 1 and self.exceptions.get(name) in WRONG_RESULTS:
                return "excepted", self.exceptions[name], steps
            if step.code != 0:
                return "failed", f"{step.how()}: {harness.first_error(step.output)}", steps
        shutil.rmtree(work)
        if name in self.exceptions:
            return "failed", "passes, so take it off node_exceptions.txt", steps
        return "passed", "", steps

    @staticmethod
    def feed(name, model):
        """The arrays of the first set of data, by inputs; of sequences and optionals none."""
        initialised = {tensor.name for tensor in model.graph.initializer}
        puts = [put for put in model.graph.input if put.name not in initialised]
        files = data_files(folder_of(name) / "test_data_set_0", "input")
        if any(put.type.WhichOneof("value") != "tensor_type" for put in puts):
            return {}
        return {put.name: onnx.numpy_helper.to_array(onnx.TensorProto.FromString(file.read_bytes()))
                for put, file in zip(puts, files)}

    def grouped(self):
        """Entries of the tests that are to pass, by what they import: those that share a model."""
        groups = collections.defaultdict(list)
        for name in all_tests():
            path = folder_of(name) / "model.onnx"
            if "/" in name or name in self.exceptions or not re.search(self.options.filter, name):
                continue
            model = onnx.load(path)
            nests = any(attribute.g.node or attribute.graphs for node in model.graph.node
                        for attribute in node.attribute)
            sets = len(list(folder_of(name).glob("test_data_set_*")))
            if (set(operators(model)) - self.claimed or model.functions or nests or has_lists(model) or sets != 1
                    or name in FEW_DIGITS or draws(name, model)):
                continue
            feed = self.feed(name, model)
            left = fix_operands(model, feed)
            feed = {key: array for key, array in feed.items() if key in left}
            opsets = tuple((opset.domain, opset.version) for opset in model.opset_import)
            groups[opsets].append(batch.Entry(name, model, feed))
        for entries in groups.values():
            for start in range(0, len(entries), BATCH):
                yield entries[start:start + BATCH]

    def judge_refusal(self, name, unclaimed, compiled):
        error = harness.first_error(compiled.output)
        if "error:" not in error:
            return "failed", f"cameoc: {compiled.how()} without an error"
        if unclaimed:
            if "unsupported" in compiled.output:
                return "unsupported", ", ".join(unclaimed)
            return "failed", f"not the error for an unsupported operator ({unclaimed[0]}): {error}"
        if name in self.exceptions:
            return "excepted", self.exceptions[name]
        return "failed", error

    def check_claims(self):
        """What is claimed is what cameoc lists."""
        step = harness.run([self.cameoc, "--list-operators"], COMPILE_SECONDS)
        listed = set(re.findall(r"^\| (\w+) \|", step.output, re.MULTILINE)) - {"Operator"}
        wrong = listed ^ (self.claimed - IMPORTED_AS_ANOTHER)
        if wrong:
            self.suite.fail("claims", "operators.txt, folded_operators.txt and --list-operators differ: "
                            + " ".join(sorted(wrong)), step)
        else:
            self.suite.ok("claims")

    def check_figures(self, passed):
        """What the page says is what was counted, or is made so."""
        every = list(all_tests())
        plain = {name for name in every if has_numbers_alone(onnx.load(folder_of(name) / "model.onnx"))}
        good = len(plain & passed)
        sentence = (f"Of the {len(every):,} backend tests of onnx {onnx.__version__[:4]} (folders node, simple, pytorch-converted, "
                    f"pytorch-operator) {len(passed):,} pass, of the {len(plain):,} that have\n"
                    f"tensors of numbers alone {good:,}: {100 * good / len(plain):.1f} %.")
        text = PAGE.read_text()
        if self.options.write:
            text = re.sub(r"Of the [\d,]+ backend tests of onnx .*?%\.", sentence, text, flags=re.DOTALL)
            PAGE.write_text(text)
        if sentence in text:
            self.suite.ok("figures")
        else:
            self.suite.fail("figures", f"{PAGE.name} does not say: {sentence}; --write writes it")

    def check_group(self, numbered):
        """[(name, what is wrong, steps)] of tests in one model."""
        number, entries = numbered
        self.runner.run(f"group-{number}", entries)
        found = []
        for entry in entries:
            files = data_files(folder_of(entry.label) / "test_data_set_0", "output")
            values = [onnx.numpy_helper.to_array(onnx.TensorProto.FromString(file.read_bytes()))
                      for file in files]
            found.append((entry.label, batch.judge(entry, values), entry.steps))
        return found

    def run(self):
        self.check_claims()
        names = [name for name in all_tests() if re.search(self.options.filter, name)]
        counts, passed = collections.Counter(), set()
        groups = [] if self.options.alone or self.options.compile_only else list(
            enumerate(self.grouped()))
        for _, found in harness.for_each(groups, self.check_group, self.options.jobs):
            for name, reason, steps in found:
                if reason:
                    self.suite.fail(name, reason, *steps)
                else:
                    self.suite.ok(name)
                    passed.add(name)
        together = {entry.label for _, entries in groups for entry in entries}
        print(f"{len(together)} node tests in {len(groups)} models of up to {BATCH}")
        names = [name for name in names if name not in together]
        for name, (outcome, reason, steps) in harness.for_each(names, self.check,
                                                               self.options.jobs):
            counts[outcome] += 1
            if outcome == "passed":
                self.suite.ok(name)
                passed.add(name)
            elif outcome == "failed":
                self.suite.fail(name, reason, *steps)
            else:
                self.suite.skip(f"{outcome}: {reason}")
            if self.options.verbose:
                print(f"{outcome} {name} {reason}", flush=True)
        print("each in a model of its own: " + ", ".join(
            f"{counts[outcome]} {outcome}"
            for outcome in ("passed", "unsupported", "excepted", "failed")))
        if groups and self.options.every_way and not self.options.filter:
            self.runner.reordered.print_unneeded()
        if not (self.options.filter or self.options.compile_only):
            self.check_figures(passed)
        return self.suite.close()


def has_numbers_alone(model):
    """Whether all inputs and outputs are tensors, and none of strings."""
    return all(value.type.HasField("tensor_type") and value.type.tensor_type.elem_type != onnx.TensorProto.STRING
               for value in (*model.graph.input, *model.graph.output))


def list_operators():
    """Every operator of the tests, with how many use it and whether it is claimed."""
    claimed = set(ROWS)
    uses = collections.Counter()
    for name in all_tests():
        uses.update(operators(onnx.load(folder_of(name) / "model.onnx")))
    for name in sorted(claimed | set(uses)):
        print(f"{name:32} {'claimed' if name in claimed else '-':8} {uses[name]:5} tests")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    parser.add_argument("--verbose", action="store_true", help="print every outcome")
    parser.add_argument("--compile-only", action="store_true", help="do not run the artefacts")
    parser.set_defaults(every_way=True)
    parser.add_argument("--write", action="store_true", help="write how many pass into docs/onnx.md")
    parser.add_argument("--alone", action="store_true", help="a model for each test, as it comes")
    parser.add_argument("--list-operators", action="store_true",
                        help="print the tests' operators and which are claimed")
    options = parser.parse_args()
    if options.list_operators:
        list_operators()
        return 0
    return NodeTests(options).run()


if __name__ == "__main__":
    sys.exit(main())
