#!/usr/bin/env python3
"""States: inputs that outputs become. Each model is compiled with `--state` and without; a context runs the first one
step by step, with the simulator's checks, and gives the bits of the second one, whose states go through the caller's
memory and which runs without checks, and what ONNX Runtime gives. Caches grow in place where they can; a model says
which of its states do."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import importlib
import json
import re
import sys

import ml_dtypes
import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

import harness
from nested_graphs import reference

SECONDS = 120
ALL_CHECKS = 15 # CAMEO_SIM_CHECK_*
HEAD = 16 # numbers of a head
# Tolerances, of the largest element.
TOLERANCES = {"": 2e-5, "--precision=fp16": 5e-3, "--precision=bf16": 5e-2}


class Builder:
    """A model in the making: nodes, weights drawn from one generator, names of what changes."""

    def __init__(self, seed, element=TensorProto.FLOAT, opset=18):
        self.random, self.element, self.opset = numpy.random.default_rng(seed), element, opset
        self.nodes, self.weights, self.inputs, self.outputs, self.states = [], [], [], [], {}

    def weight(self, *shape):
        name = f"w{len(self.weights)}"
        array = self.random.standard_normal(shape) / numpy.sqrt(shape[-2] if len(shape) > 1 else 1)
        self.weights.append(numpy_helper.from_array(
            array.astype(helper.tensor_dtype_to_np_dtype(self.element)), name))
        return name

    def constant(self, value, dtype=numpy.int64):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(numpy.array(value, dtype), name))
        return name

    def scalar(self, value):
        return self.constant(value, helper.tensor_dtype_to_np_dtype(self.element))

    def node(self, operator, *operands, outputs=None, **attributes):
        outputs = outputs or [f"t{len(self.nodes)}"]
        self.nodes.append(helper.make_node(operator, operands, outputs, outputs[0], **attributes))
        return outputs[0] if len(outputs) == 1 else outputs

    def input(self, name, *shape, element=None):
        self.inputs.append(helper.make_tensor_value_info(name, element or self.element, shape))
        return name

    def output(self, name, *shape):
        self.outputs.append(helper.make_tensor_value_info(name, self.element, shape))
        return name

    def state(self, before, after, shape, later=None):
        """An input and the output that it becomes; `later`: that one's shape."""
        self.states[before] = after
        self.output(after, *(later or shape))
        return self.input(before, *shape)

    def model(self):
        graph = helper.make_graph(self.nodes, "states", self.inputs, self.outputs, self.weights)
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=10)
        onnx.checker.check_model(made)
        return made


def decoder(layers=1, groups=1, element=TensorProto.FLOAT, keys="rows"):
    """A decoder with a cache a layer. `groups`: heads of queries that share one of keys; `keys`: stored by rows, or
    transposed, so that they grow along the last dimension."""
    b, heads = Builder(layers + groups, element), 2
    width = heads * HEAD * groups
    current = b.input("x", "batch", "new", width)
    b.output("y", "batch", "new", width)
    for layer in range(layers):
        split = {}
        for part, count in (("q", heads * groups), ("k", heads), ("v", heads)):
            rows = b.node("Reshape", b.node("MatMul", current, b.weight(width, count * HEAD)),
                          b.constant([0, 0, count, HEAD]))
            split[part] = b.node("Transpose", rows, perm=[0, 2, 3, 1] if part == "k" and keys == "columns"
                                 else [0, 2, 1, 3])
        cached = {}
        for part in "kv":
            turned = part == "k" and keys == "columns"
            shape = ["batch", heads, HEAD, "past"] if turned else ["batch", heads, "past", HEAD]
            before = b.state(f"past.{layer}.{part}", f"present.{layer}.{part}", shape,
                             [size if size != "past" else "all" for size in shape])
            cached[part] = b.node("Concat", before, split[part], outputs=[f"present.{layer}.{part}"],
                                  axis=3 if turned else 2)
            if groups > 1:
                wide = b.node("Tile", b.node("Unsqueeze", cached[part], b.constant([2])),
                              b.constant([1, 1, groups, 1, 1]))
                cached[part] = b.node("Reshape", wide, b.constant(
                    [0, heads * groups, HEAD, -1] if turned else [0, heads * groups, -1, HEAD]))
        key = cached["k"] if keys == "columns" else b.node("Transpose", cached["k"], perm=[0, 1, 3, 2])
        scores = b.node("Mul", b.node("MatMul", split["q"], key), b.scalar(HEAD ** -0.5))
        mixed = b.node("MatMul", b.node("Softmax", scores, axis=-1), cached["v"])
        rows = b.node("Reshape", b.node("Transpose", mixed, perm=[0, 2, 1, 3]), b.constant([0, 0, width]))
        current = b.node("Add", current, b.node("MatMul", rows, b.weight(width, width)))
    b.node("Tanh", current, outputs=["y"])
    return b


def attention():
    """ONNX's own operator, which returns its caches."""
    b = Builder(3, opset=23)
    for name, heads in (("q", 4), ("k", 2), ("v", 2)):
        b.input(name, "batch", heads, "new", HEAD)
    b.output("y", "batch", 4, "new", HEAD)
    for part in "kv":
        b.state(f"past_{part}", f"present_{part}", ["batch", 2, "past", HEAD], ["batch", 2, "all", HEAD])
    b.node("Attention", "q", "k", "v", "", "past_k", "past_v", outputs=["y", "present_k", "present_v"])
    return b


def log():
    """One piece: a line of numbers that grows, and is read whole and in part."""
    b = Builder(4)
    b.input("x", "new")
    b.state("before", "after", ["held"], ["all"])
    b.output("y")
    b.output("z", "held")
    b.node("Concat", "before", b.node("Exp", "x"), outputs=["after"], axis=0)
    b.node("ReduceSum", "after", outputs=["y"], keepdims=0)
    b.node("Neg", "before", outputs=["z"])
    return b


def given():
    """What is added is an input, which is copied."""
    b = Builder(5)
    b.input("x", 3, "new", 4)
    b.state("before", "after", [3, "held", 4], [3, "all", 4])
    b.output("y", 3, 1, 4)
    b.node("Concat", "before", "x", outputs=["after"], axis=1)
    b.node("ReduceMax", b.node("Concat", "after", b.constant(numpy.full((3, 1, 4), -9), numpy.float32), axis=1),
           b.constant([1]), outputs=["y"])
    return b


def sums():
    """A state that keeps its size and is written where it is read."""
    b = Builder(6)
    b.input("x", "batch", 8)
    b.state("before", "after", ["batch", 8])
    b.output("y", "batch", 8)
    b.node("Tanh", b.node("Add", "before", "x", outputs=["after"]), outputs=["y"])
    return b


def products():
    """A state that is read again when the next one is there."""
    b = Builder(7)
    b.input("x", "batch", 8)
    b.state("before", "after", ["batch", 8])
    b.output("y", "batch", 8)
    b.node("Tanh", b.node("Add", b.node("MatMul", "before", b.weight(8, 8)), "x"), outputs=["after"])
    b.node("Sub", "before", "after", outputs=["y"])
    return b


def recurrent(operator):
    b, gates = Builder(8), {"LSTM": 4, "GRU": 3, "RNN": 1}[operator]
    b.input("x", "steps", "batch", 8)
    b.output("y", "steps", 1, "batch", 16)
    weights = [b.weight(1, gates * 16, 8), b.weight(1, gates * 16, 16), b.weight(1, 2 * gates * 16)]
    names = ["h", "c"] if operator == "LSTM" else ["h"]
    states = [b.state(name, name + "_next", [1, "batch", 16]) for name in names]
    b.node(operator, "x", *weights, "", *states, outputs=["y", *(f"{name}_next" for name in names)], hidden_size=16)
    return b


def window():
    """A window that is shifted: another size never, another place for each element."""
    b = Builder(9)
    b.input("x", "batch", 1)
    b.state("before", "after", ["batch", 6])
    b.output("y", "batch", 1)
    tail = b.node("Slice", "before", b.constant([1]), b.constant([100]), b.constant([1]))
    b.node("ReduceMean", b.node("Concat", tail, "x", outputs=["after"], axis=1), b.constant([1]), outputs=["y"])
    return b


def cache():
    """TensorScatter: a cache of fixed length, and where each sequence goes on."""
    b = Builder(10, opset=24)
    b.input("x", "batch", 2, "new", 4)
    b.input("at", "batch", element=TensorProto.INT64)
    b.state("before", "after", ["batch", 2, 10, 4])
    b.output("y", "batch", 2, 10, 1)
    b.node("TensorScatter", "before", "x", "at", outputs=["after"], axis=2)
    b.node("ReduceSum", "after", b.constant([3]), outputs=["y"])
    return b


def twice():
    """A cache that two operators update, one behind the other."""
    b = Builder(17, opset=24)
    b.input("x", 2, "new", 4)
    b.input("at", 2, element=TensorProto.INT64)
    b.state("before", "after", [2, 10, 4])
    b.output("y", 2, 10, 1)
    first = b.node("TensorScatter", "before", "x", "at", axis=1)
    b.node("TensorScatter", first, b.node("Neg", "x"), b.node("Sub", b.constant([9]), "at"), outputs=["after"], axis=1,
           mode="circular")
    b.node("ReduceSum", "after", b.constant([2]), outputs=["y"])
    return b


def read_on():
    """A cache of an open batch, and kernels behind it that go through the arena."""
    b = Builder(16, opset=24)
    b.input("x", "batch", "new", 4)
    b.state("before", "after", ["batch", 8, 4])
    b.output("y", "batch", 8, 4)
    b.node("TensorScatter", "before", "x", outputs=["after"], axis=1)
    b.node("Softmax", b.node("MatMul", b.node("Softmax", "after", axis=1), b.weight(4, 4)), axis=1, outputs=["y"])
    return b


def ring():
    """A cache of fixed length whose oldest rows are written over, of keys and values that a product computes."""
    b = Builder(12, opset=24)
    b.input("x", "batch", "new", 8)
    b.input("at", "batch", element=TensorProto.INT64)
    b.state("before", "after", ["batch", 2, 12, HEAD])
    b.output("y", "batch", 2, 12, 1)
    rows = b.node("Reshape", b.node("MatMul", "x", b.weight(8, 2 * HEAD)), b.constant([0, 0, 2, HEAD]))
    b.node("TensorScatter", "before", b.node("Transpose", rows, perm=[0, 2, 1, 3]), "at", outputs=["after"], axis=2,
           mode="circular")
    b.node("ReduceMax", "after", b.constant([3]), outputs=["y"])
    return b


def placed(operator):
    """A cache whose rows are written where indices say, as exporters make of an assignment: equal ones in their order."""
    b = Builder(15)
    b.input("x", "new", 6)
    b.input("at", "batch", element=TensorProto.INT64)
    b.state("before", "after", [9, 6])
    b.output("y", 9, 1)
    first = b.node("Slice", "at", b.constant([0]), b.constant([1]))
    rows = b.node("Unsqueeze", b.node("Mod", b.node("Add", b.node(
        "Expand", first, b.node("Shape", "x", start=0, end=1)), first), b.constant([9])), b.constant([1]))
    if operator == "ScatterElements":
        rows = b.node("Expand", rows, b.node("Shape", "x"))
    b.node(operator, "before", rows, "x", outputs=["after"])
    b.node("ReduceSum", "after", b.constant([1]), outputs=["y"])
    return b


def reread():
    """A cache whose old rows are read once more when the new ones are there: it is copied."""
    b = Builder(13, opset=24)
    b.input("x", 2, "new", 4)
    b.input("at", 2, element=TensorProto.INT64)
    b.state("before", "after", [2, 10, 4])
    b.output("y", 2, 10, 4)
    b.node("TensorScatter", "before", "x", "at", outputs=["after"], axis=1)
    b.node("Sub", "after", "before", outputs=["y"])
    return b


def cached_rows(length):
    """Keys and values of a product, and nothing else: what is stored is what is new. With a fixed length it is scattered
    into the cache, else appended to it."""
    b = Builder(14, opset=24)
    b.input("x", 2, "new", 32)
    for part in "kv":
        rows = b.node("Reshape", b.node("MatMul", "x", b.weight(32, 2 * HEAD)), b.constant([0, 0, 2, HEAD]))
        rows = b.node("Transpose", rows, perm=[0, 2, 1, 3])
        before = b.state(f"past.{part}", f"present.{part}", [2, 2, length or "past", HEAD],
                         [2, 2, length or "all", HEAD])
        if length:
            b.input(f"at.{part}", 2, element=TensorProto.INT64)
            b.node("TensorScatter", before, rows, f"at.{part}", outputs=[f"present.{part}"], axis=2)
        else:
            b.node("Concat", before, rows, outputs=[f"present.{part}"], axis=2)
    return b


def kept():
    """A cache that another output shows as well, whose memory is its own: it is copied."""
    b = Builder(11)
    b.input("x", 2, "new")
    b.state("before", "after", [2, "held"], [2, "all"])
    b.output("y", 2, "all")
    b.node("Concat", "before", "x", outputs=["after"], axis=1)
    b.node("Identity", "after", outputs=["y"])
    return b


LENGTHS = (3, 1, 1, 64, 1, 2, 70, 1)
STEPS = tuple({"new": new} for new in LENGTHS)
ONCE = tuple({} for _ in range(5))
# How each model is made, sizes of each step, how many of its states are in one memory, other options.
MODELS = {
    "decoder": (decoder, STEPS, 2, ()),
    "deep": (lambda: decoder(layers=3), STEPS, 6, ()),
    "groups": (lambda: decoder(layers=2, groups=2), STEPS, 4, ()),
    "columns": (lambda: decoder(keys="columns"), STEPS, 2, ()),
    "half": (lambda: decoder(element=TensorProto.FLOAT16), STEPS, 2, ("--precision=fp16",)),
    "lowered": (lambda: decoder(layers=2), STEPS, 4, ("--precision=fp16", "--io-precision=fp16")),
    "kept-types": (decoder, STEPS, None, ("--precision=fp16",)),
    "brain": (decoder, STEPS, 2, ("--precision=bf16", "--io-precision=bf16")),
    "attention": (attention, STEPS, 2, ()),
    "log": (log, ({"new": 1}, {"new": 0}, *STEPS), 1, ()),
    "given": (given, STEPS, 1, ()),
    "sums": (sums, ONCE, 1, ()),
    "products": (products, ONCE, 0, ()),
    "lstm": (lambda: recurrent("LSTM"), ({"steps": 3}, {"steps": 1}, {"steps": 1}, {"steps": 4}), None, ()),
    "gru": (lambda: recurrent("GRU"), ({"steps": 3}, {"steps": 1}, {"steps": 1}, {"steps": 4}), None, ()),
    "rnn": (lambda: recurrent("RNN"), ({"steps": 3}, {"steps": 1}, {"steps": 1}, {"steps": 4}), None, ()),
    "window": (window, ONCE, None, ()),
    "cache": (cache, STEPS[1:3] * 2, 1, ()),
    "half-cache": (cache, STEPS[1:3] * 2, 1, ("--precision=fp16", "--io-precision=fp16")),
    "twice": (twice, STEPS[1:3] * 2, None, ()),
    "read-on": (read_on, STEPS[1:3] * 2, 1, ()),
    "ring": (ring, STEPS[:3] * 3, 1, ()),
    "rows-placed": (lambda: placed("ScatterND"), STEPS[:6], 1, ()),
    "elements-placed": (lambda: placed("ScatterElements"), STEPS[:6], None, ()),
    "reread": (reread, STEPS[1:3] * 2, 0, ()),
    "kept": (kept, STEPS, 0, ()),
}

# Models whose states are found by what makes them.
FOUND = ("decoder", "attention", "cache", "twice", "lstm", "gru", "rnn")
# Models whose storages are of each kind.
AT_EACH_LEVEL = ("decoder", "columns", "log", "given", "sums", "products", "window", "kept", "cache", "ring")
# Pairs of the refused model, and what is said of them.
REFUSED = (
    (["h"], "--state: 'h' is not of the form INPUT:OUTPUT"),
    (["h:nothing"], "--state: 'h:nothing' is not an input and an output as INPUT:OUTPUT; inputs: x, h, c, n; outputs: y, "
                    "h_next, c_next, z, m"),
    (["h:y"], "--state: output 'y' and input 'h' have 4 and 3 dimensions"),
    (["h:m"], "--state: output 'm' and input 'h' are of two types: 'i64' and 'f32'"),
    (["h:h_next", "c:h_next"], "--state: output 'h_next' is to become two inputs, 'h' and 'c'"),
    (["h:h_next", "h:c_next"], "--state: input 'h' is to become two outputs, 'h_next' and 'c_next'"),
    (["past.*:present.*"], "--state: no input matches 'past.*'"),
    (["*:*_after"], "--state: input 'x' matches, and there is no output 'x_after'"),
    (["n:m"], "input 'n' cannot be a state: the plan reads its values on the host"),
)


class StateTests:
    def __init__(self, options):
        self.options = options
        self.suite = harness.Suite("states", options.build.resolve())
        sys.path.insert(0, str(self.suite.build / "python"))
        self.cameo = importlib.import_module("cameo")
        self.device, self.checked = self.cameo.Device.simulator(), self.cameo.Device.simulator(checks=ALL_CHECKS)

    def load(self, case, made, *flags, checked=False):
        """A model, or nothing where it was not compiled."""
        source, plan = self.suite.work / f"{case}.onnx", self.suite.work / f"{case}.plan"
        onnx.save(made, source)
        step = harness.run([self.suite.tool("cameoc"), source, "-o", plan, "--emit=plan", "--target=sim:sm_80", "-j1",
                            *(["--sim-checks-only"] if checked else []), *flags], SECONDS)
        if step.code == 0:
            return self.cameo.Model(plan, self.checked if checked else self.device)
        self.suite.fail(case, step.how(), step)
        return None

    def check(self, name, level):
        make, steps, in_place, flags = MODELS[name]
        builder, case = make(), name + level
        made, states = builder.model(), builder.states
        declared = ["--state=auto"] if name in FOUND else [f"--state={before}:{after}" for before, after in states.items()]
        model = self.load(case, made, level, *declared, *flags, checked=True)
        plain = self.load(case + "-plain", made, level, *flags)
        if not model or not plain:
            return
        problem = self.check_description(model, states, in_place)
        try:
            problem = problem or Comparison(made, states, model, plain).run(steps, TOLERANCES[next(iter(flags), "")])
        except self.cameo.Error as error:
            problem = str(error)
        if problem:
            self.suite.fail(case, problem)
        else:
            self.suite.ok(case)

    @staticmethod
    def check_description(model, states, in_place):
        found = sum(tensor.get("in_place", False) for tensor in json.loads(model.manifest)["entries"][0]["inputs"])
        if in_place is not None and found != in_place:
            return f"{found} states are in place, not {in_place}"
        if {tensor.name: tensor.state for tensor in model.inputs if tensor.state} != states:
            return "the model does not tell its states"
        return None

    def check_refusals(self):
        """What cannot be a state is said by name."""
        source = self.suite.work / "refused.onnx"
        b = recurrent("LSTM")
        b.input("n", 1, element=TensorProto.INT64)
        b.output("z", "size")
        b.node("Expand", b.constant([1], numpy.float32), "n", outputs=["z"])
        b.outputs.append(helper.make_tensor_value_info("m", TensorProto.INT64, [1]))
        b.node("Identity", "n", outputs=["m"])
        onnx.save(b.model(), source)
        for number, (pairs, text) in enumerate(REFUSED):
            step = harness.run([self.suite.tool("cameoc"), source, "-o", self.suite.work / "refused.plan",
                                "--emit=plan", "--target=sim:sm_80", "-j1", *(f"--state={pair}" for pair in pairs)], SECONDS)
            if step.code not in (1, 2) or text not in step.output:
                self.suite.fail(f"refused-{number}", f"{step.how()}; '{text}' is wanted", step)
            else:
                self.suite.ok()

    def check_numbers(self):
        """A number that each run is given decides how many rows it makes, and how much its state grows."""
        b = Builder(18)
        b.input("n", element=TensorProto.INT64)
        b.input("x", 1, 4)
        b.state("before", "after", ["held", 4], ["all", 4])
        b.output("y", "rows", 4)
        column = b.node("Cast", b.node("Range", b.constant(0), "n", b.constant(1)), to=TensorProto.FLOAT)
        b.node("Mul", b.node("Unsqueeze", column, b.constant([1])), "x", outputs=["y"])
        b.node("Concat", "before", "y", outputs=["after"], axis=0)
        model = self.load("numbers", b.model(), "--state=before:after", checked=True)
        if not model:
            return
        context, held = model.context(), numpy.zeros((0, 4), numpy.float32)
        for step, count in enumerate((3, 1, 0, 5, 2, 2, 9, 1)):
            x = numpy.full((1, 4), step + 1, numpy.float32)
            rows = numpy.arange(count, dtype=numpy.float32)[:, None] * x
            held = numpy.concatenate([held, rows])
            try:
                found = context.run({"n": numpy.array(count), "x": x})
            except self.cameo.Error as error:
                self.suite.fail(f"numbers-{step}", str(error))
                continue
            if numpy.array_equal(found["y"], rows) and numpy.array_equal(context.state("before"), held):
                self.suite.ok()
            else:
                self.suite.fail(f"numbers-{step}", f"{count} rows of {step + 1}: {found}")

    def check_written(self, name, length):
        """Bytes that kernels store in a cache in a run are those of the new rows, however long it is. What is scattered is
        computed by kernels of its own."""
        b = cached_rows(length)
        source, program = self.suite.work / f"{name}.onnx", self.suite.work / name
        onnx.save(b.model(), source)
        step = harness.run([self.suite.tool("cameoc"), source, "-o", program, "--target=sim:sm_80", "-j1", "--sim-checks-only",
                            "--state=past.*:present.*"], SECONDS)
        if step.code:
            return self.suite.fail(name, step.how(), step)
        for past, new in ((10, 1), (300, 1), (300, 3)):
            counts = self.suite.work / f"{name}.json"
            sizes = f"new:{new}" if length else f"new:{new},past:{past}"
            step = harness.run([program, "--device=sim", "--random-inputs", f"--shapes={sizes}",
                                *(f"--input=at.{part}=2xi64=0 5" for part in "kv" if length), f"--sim-counters={counts}"], SECONDS)
            if step.code:
                return self.suite.fail(name, step.how(), step)
            stored = sum(launch["global"]["store"]["bytes"] for launch in json.loads(counts.read_text())["launches"]
                         if not length or "present" in launch["kernel"])
            if stored != (wanted := 2 * 2 * 2 * new * HEAD * 4):
                return self.suite.fail(name, f"{new} new rows behind {past}: {stored} bytes are stored, not {wanted}")
        return self.suite.ok(name)

    def run(self):
        if re.search(self.options.filter, "refused"):
            self.check_refusals()
        if re.search(self.options.filter, "numbers"):
            self.check_numbers()
        for name, length in (("written-appended", None), ("written-scattered", 320)):
            if re.search(self.options.filter, name):
                self.check_written(name, length)
        for name in MODELS:
            for level in harness.LEVELS:
                if re.search(self.options.filter, name + level) and (level == "-O2" or name in AT_EACH_LEVEL):
                    self.check(name, level)
        return self.suite.close()


class Comparison:
    """A model with states, beside one without and ONNX Runtime."""

    def __init__(self, made, states, model, plain):
        self.made, self.states, self.model, self.plain = made, states, model, plain
        self.types = {tensor.name: numpy.dtype(getattr(ml_dtypes, tensor.dtype, tensor.dtype)) for tensor in model.inputs}
        self.random = numpy.random.default_rng(1)

    def sizes(self, tensor, known):
        return [dim.dim_value or known.get(dim.dim_param, 2) for dim in tensor.type.tensor_type.shape.dim]

    def feed(self, step, known):
        """Arrays of inputs that are no states. Sizes that are not known are 2."""
        arrays = {}
        for tensor in self.made.graph.input:
            if tensor.name not in self.states:
                shape, dtype = self.sizes(tensor, known), self.types[tensor.name]
                arrays[tensor.name] = (numpy.arange(shape[0]) + step if dtype == numpy.int64
                                       else self.random.standard_normal(shape).astype(dtype))
        return arrays

    def first(self, known):
        """What states begin with: numbers, or nothing along the dimension that grows."""
        return {tensor.name: self.random.standard_normal(self.sizes(tensor, {"past": 0, "held": 0, **known})).astype(
                    self.types[tensor.name]) for tensor in self.made.graph.input if tensor.name in self.states}

    def expected(self, feed):
        """What ONNX Runtime gives, for arrays of the types of the model that it reads."""
        exact = {tensor.name: helper.tensor_dtype_to_np_dtype(tensor.type.tensor_type.elem_type)
                 for tensor in self.made.graph.input}
        found = reference(self.made, {name: array.astype(exact[name]) for name, array in feed.items()})
        return found if isinstance(found, str) else dict(zip((each.name for each in self.made.graph.output), found))

    def run(self, steps, tolerance):
        context = self.model.context()
        for turn in range(2):
            # After a reset nothing of sizes is left, but where arrays were given.
            batch = {"batch": 3} if turn and not self.starting(first) else {}
            first = first if turn and not batch else self.first(batch)
            feeds = [self.feed(step, {**known, **batch}) for step, known in enumerate(steps[:4] if turn else steps)]
            held = wanted = first
            for step, feed in enumerate(feeds):
                # Arrays that were given are read again after a reset.
                results = context.run({**feed, **(self.starting(first) if turn + step == 0 else {})})
                results.update({after: context.state(before) for before, after in self.states.items()})
                copied = self.plain.run({**feed, **held})
                exact = self.expected({**feed, **wanted})
                if isinstance(exact, str):
                    return exact
                for output, array in copied.items():
                    where = f"turn {turn}, step {step}: '{output}'"
                    if results[output].shape != array.shape or results[output].tobytes() != array.tobytes():
                        return f"{where} has other bits than where its state is copied"
                    if reason := self.differs(array, exact[output], tolerance):
                        return f"{where} {reason}"
                held = {before: copied[after] for before, after in self.states.items()}
                wanted = {before: exact[after] for before, after in self.states.items()}
            context.reset_states()
        return None

    def starting(self, first):
        """What grows in place begins with nothing by itself."""
        inputs = json.loads(self.model.manifest)["entries"][0]["inputs"]
        alone = {tensor["name"] for tensor in inputs if tensor.get("in_place") and "grows" in tensor}
        return {name: array for name, array in first.items() if name not in alone}

    @staticmethod
    def differs(array, wanted, tolerance):
        if array.shape != wanted.shape:
            return f"has the shape {array.shape}, not {wanted.shape}"
        off = numpy.abs(array.astype(numpy.float64) - wanted.astype(numpy.float64)).max(initial=0)
        most = numpy.abs(wanted.astype(numpy.float64)).max(initial=0)
        return f"is off by {off:.2e}, its largest element being {most:.2e}" if off > tolerance * most else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    return StateTests(parser.parse_args()).run()


if __name__ == "__main__":
    sys.exit(main())
