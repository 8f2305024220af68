#!/usr/bin/env python3
"""Random models with graphs within graphs, up to three deep: If, Loop, Scan, SequenceMap, sequences and optionals, with
captured and carried values, some of which grow from trip to trip. In half of them, conditions, trips and positions are
known; in the others some come from inputs, from sizes that are open, or from what the device computes.

Each is written as ONNX, in which none of these operators is left that is known, and that is run by ONNX Runtime beside the
model; some are compiled and run on the simulator with its checks, at a level that the seed draws, those that only a run
decides with other conditions and numbers, too."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import sys

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import artefact
import harness
from loops import differ
from operator_table import FOLDED

FLOAT, BOOL, INT64 = TensorProto.FLOAT, TensorProto.BOOL, TensorProto.INT64
FIRST, MODELS, EACH = 1, 90, 8
DEEPEST, COMPILE_SECONDS = 3, 120
# Where only a run decides, in graphs this deep.
DEEPEST_LATE = DEEPEST
OPSETS = (13, 17, 18, 21, 24)
# What more nodes than these of all trips hold is not asked to be unrolled as a whole: cameoc makes at most 2,000 copies,
# those of graphs that are copied once more included.
MOST_NODES = 1500
UNARY = ("Tanh", "Neg", "Abs", "Relu", "Sigmoid", "Sin")
BINARY = ("Add", "Sub", "Mul", "Max", "Min")


class Value:
    """`rows` is None where it differs from trip to trip."""

    def __init__(self, name, rows, columns):
        self.name, self.rows, self.columns = name, rows, columns


class Draw:
    """A graph being drawn, and those within it. Values have two dimensions."""

    def __init__(self, seed):
        self.random = numpy.random.default_rng(seed)
        self.opset = int(self.random.choice(OPSETS))
        self.count = self.nodes = 0
        # What only a run decides has draws of its own: models without it are what they are without this line.
        self.late = numpy.random.default_rng([seed, 1])
        self.late_share = self.late.choice([0, 0.6])
        self.puts, self.feed = [], {}
        self.others = {}  # what inputs may be in another run

    def is_late(self, depth=0):
        """Whether only a run decides."""
        return self.late.random() < self.late_share and depth <= DEEPEST_LATE

    def input(self, array, sizes=None):
        """An input of the model with this in it."""
        name, array = self.name("late"), numpy.asarray(array)
        kind = helper.np_dtype_to_tensor_dtype(array.dtype)
        self.puts.append(info(name, kind, sizes or list(array.shape)))
        self.feed[name] = array
        return name

    def name(self, stem="v"):
        self.count += 1
        return f"{stem}{self.count}"

    def chance(self, share):
        return self.random.random() < share

    def integer(self, least, most):
        return int(self.random.integers(least, most + 1))

    def choose(self, things):
        return things[self.integer(0, len(things) - 1)]


class Graph:
    """One graph: its nodes and weights, and the values that nodes of it may read."""

    def __init__(self, draw, outer=None, trips=1):
        self.draw, self.outer = draw, outer
        self.nodes, self.weights, self.inputs = [], [], []
        self.values = list(outer.values) if outer else []
        self.has_node = False
        self.depth = outer.depth + 1 if outer else 0
        self.trips = trips * (outer.trips if outer else 1)
        self.counter = outer.counter if outer else None

    def add(self, kind, inputs, outputs=1, **attributes):
        names = [self.draw.name() for _ in range(outputs)]
        # Some have no name, and each graph may have a node of one that others have, too.
        label = self.draw.choose(["", f"{kind}_{names[0]}", "" if self.has_node else "node"])
        self.has_node |= label == "node"
        self.nodes.append(helper.make_node(kind, inputs, names, label, **attributes))
        self.draw.nodes += self.trips
        return names if outputs > 1 else names[0]

    def constant(self, array):
        array = numpy.asarray(array)
        name = self.draw.name("k")
        if self.draw.chance(0.5):
            self.weights.append(numpy_helper.from_array(array, name))
        else:
            self.nodes.append(helper.make_node("Constant", [], [name], value=numpy_helper.from_array(array)))
        return name

    def weight(self, rows, columns):
        return self.constant(self.draw.random.uniform(-1, 1, (rows, columns)).astype(numpy.float32))

    def keep(self, value):
        self.values.append(value)
        return value

    def pick(self, known=False):
        values = [value for value in self.values if not known or value.rows is not None]
        # What is near is drawn more often than what is captured from far.
        return values[-1 - min(self.draw.integer(0, len(values) - 1), self.draw.integer(0, len(values) - 1))]

    def finished(self, inputs, outputs):
        return helper.make_graph(self.nodes, "graph", inputs, outputs, self.weights)


def info(name, kind=FLOAT, sizes=None):
    return helper.make_tensor_value_info(name, kind, sizes)


# --- nodes of tensors

def unary(graph):
    x = graph.pick()
    graph.keep(Value(graph.add(graph.draw.choose(UNARY), [x.name]), x.rows, x.columns))


def binary(graph):
    x = graph.pick()
    fits = [y for y in graph.values if y.columns == x.columns and (y.rows == 1 or (y.rows == x.rows is not None))]
    y = graph.draw.choose(fits).name if fits else graph.weight(1, x.columns)
    graph.keep(Value(graph.add(graph.draw.choose(BINARY), [x.name, y]), x.rows, x.columns))


def product(graph):
    x = graph.pick()
    columns = graph.draw.integer(1, 4)
    y = graph.add("MatMul", [x.name, graph.weight(x.columns, columns)])
    graph.keep(Value(y, x.rows, columns))


def reduction(graph):
    x = graph.pick()
    axes = graph.constant(numpy.array([0]))
    y = graph.add("ReduceSum", [x.name, axes], keepdims=1)
    graph.keep(Value(graph.add("Tanh", [y]), 1, x.columns))


def transpose(graph):
    x = graph.pick(known=True)
    graph.keep(Value(graph.add("Transpose", [x.name], perm=[1, 0]), x.columns, x.rows))


def concatenation(graph):
    x = graph.pick(known=True)
    fits = [y for y in graph.values if y.columns == x.columns and y.rows is not None]
    y = graph.draw.choose(fits)
    if x.rows + y.rows <= 12:
        graph.keep(Value(graph.add("Concat", [x.name, y.name], axis=0), x.rows + y.rows, x.columns))


def of_the_trip(graph):
    """A number that the trip gives."""
    if graph.counter is None:
        return
    x = graph.pick()
    number = graph.add("Cast", [graph.counter], to=FLOAT)
    graph.keep(Value(graph.add("Add", [x.name, number]), x.rows, x.columns))


def entry(graph):
    """A row at a position that only a run knows."""
    draw, x = graph.draw, graph.pick(known=True)
    if not x.rows:
        return
    way = draw.late.integers(3)
    if way == 0:
        at = draw.input(numpy.array([draw.late.integers(x.rows)]))
        draw.others[at] = numpy.array([draw.late.integers(x.rows)])
        graph.keep(Value(graph.add("Gather", [x.name, at], axis=0), 1, x.columns))
        return
    if way == 1:
        at = graph.add("ArgMax", [graph.add("MatMul", [x.name, graph.weight(x.columns, 1)])], axis=0, keepdims=0)
        graph.keep(Value(graph.add("Gather", [x.name, at], axis=0), 1, x.columns))
        return
    else:
        number = draw.input(numpy.array([draw.late.integers(x.rows)]))
        at = number if graph.counter is None else graph.add("Mod", [graph.add("Add", [number, graph.counter]),
                                                                  graph.constant(numpy.array([x.rows]))])
    after = graph.add("Add", [at, graph.constant(numpy.array([1]))])
    row = graph.add("Slice", [x.name, at, after, graph.constant(numpy.array([0]))])
    graph.keep(Value(row, None, x.columns))


PLAIN = (unary, unary, binary, binary, product, reduction, transpose, concatenation, of_the_trip)


def fill(graph, nodes):
    """Draws nodes, some of which hold graphs."""
    for _ in range(nodes):
        if graph.depth < DEEPEST and graph.draw.chance(0.3) and graph.draw.nodes < MOST_NODES / 4:
            graph.draw.choose(NESTING)(graph)
        elif graph.draw.is_late() and graph.draw.late.random() < 0.2:
            entry(graph)
        else:
            graph.draw.choose(PLAIN)(graph)


def shaped(graph, x, rows, columns):
    """x brought to sizes: what a body yields must be as large in each trip."""
    if x.rows != rows and graph.draw.opset >= 18:
        x = Value(graph.add("ReduceMax", [x.name, graph.constant(numpy.array([0]))], keepdims=1), 1, x.columns)
    elif x.rows != rows:
        x = Value(graph.add("ReduceMax", [x.name], axes=[0], keepdims=1), 1, x.columns)
    if x.columns != columns:
        x = Value(graph.add("MatMul", [x.name, graph.weight(x.columns, columns)]), x.rows, columns)
    if x.rows != rows:
        zeros = graph.constant(numpy.zeros((rows, columns), numpy.float32))
        x = Value(graph.add("Add", [x.name, zeros]), rows, columns)
    # What a graph yields it has made, once.
    return graph.add("Tanh", [x.name])


# --- conditions and counts

def condition(graph):
    """(name, truth) of a condition that is known in some way."""
    draw, truth = graph.draw, bool(graph.draw.integer(0, 1))
    way = draw.integer(0, 3)
    if way == 0:
        return graph.constant(numpy.array(truth)), truth
    if way == 1:
        return graph.add("Not", [graph.constant(numpy.array(not truth))]), truth
    x = graph.pick(known=True)
    if way == 2:
        size = graph.add("Gather", [graph.add("Shape", [x.name]), graph.constant(numpy.array(0))])
        wanted = x.rows if truth else x.rows + 1
        return graph.add("Equal", [size, graph.constant(numpy.array(wanted))]), truth
    bound = graph.constant(numpy.array(x.rows * x.columns + truth))
    return graph.add("Less", [graph.add("Size", [x.name]), bound]), truth


def open_condition(graph):
    """One that only a run knows."""
    x = graph.pick()
    most = graph.add("ReduceMax", [x.name], keepdims=0)
    return graph.add("Greater", [most, graph.constant(numpy.float32(graph.draw.random.uniform(-1, 1)))])


def late_number(graph, number):
    """A number of an input, of its size, or that the device computes."""
    draw, way = graph.draw, graph.draw.late.integers(4)
    if way == 0:
        return draw.input(numpy.array(number))
    if way == 1:
        return graph.add("Sub", [draw.input(numpy.array(number + 3)), graph.constant(numpy.array(3))])
    if way == 2:
        put = draw.input(numpy.ones(number, numpy.float32), [draw.name("T")])
        return graph.add("Gather", [graph.add("Shape", [put]), graph.constant(numpy.array(0))])
    total = graph.add("ReduceSum", [draw.input(numpy.ones(number + 1, numpy.float32))], keepdims=0)
    return graph.add("Sub", [graph.add("Cast", [total], to=INT64), graph.constant(numpy.array(1))])


def late_condition(graph):
    """A flag of an input or of the device, as a number or with one dimension."""
    draw, way = graph.draw, graph.draw.late.integers(4)
    if way == 3:
        return open_condition(graph)
    flag = numpy.array([draw.late.random() < 0.5])
    name = draw.input(flag if way == 0 else flag[0] if way == 1 else flag.astype(numpy.int64))
    draw.others[name] = ~flag if way == 0 else numpy.array(not flag[0]) if way == 1 else (~flag).astype(numpy.int64)
    return graph.add("Greater", [name, graph.constant(numpy.array(0))]) if way == 2 else name


def count(graph, trips):
    way = graph.draw.integer(0, 2)
    if way == 0:
        return graph.constant(numpy.array(trips))
    if way == 1:
        return graph.add("Add", [graph.constant(numpy.array(trips - 1)), graph.constant(numpy.array(1))])
    x = graph.pick(known=True)
    size = graph.add("Gather", [graph.add("Shape", [x.name]), graph.constant(numpy.array(1))])
    return graph.add("Sub", [size, graph.constant(numpy.array(x.columns - trips))])


# --- nodes with graphs

def choice(graph):
    draw = graph.draw
    is_open = draw.chance(0.3) and (not draw.late_share or graph.depth <= DEEPEST_LATE)
    differs = False
    if draw.is_late(graph.depth):
        is_open, differs = True, draw.late.random() < 0.5
        name, truth = late_condition(graph), None
    else:
        name, truth = (open_condition(graph), None) if is_open else condition(graph)
    yielded, bodies = [], []
    for _ in range(graph.draw.integer(1, 2)):
        x = graph.pick(known=True)
        yielded.append([x.rows, x.columns])
    for taken in (True, False):
        inner = Graph(graph.draw, graph)
        fill(inner, graph.draw.integer(1, 4))
        # A branch that is known not to be taken may have other sizes, and so may both where only a run decides.
        more = (taken if differs else 0) if is_open else int(taken != truth)
        outputs = [shaped(inner, inner.pick(), rows + more, columns) for rows, columns in yielded]
        bodies.append(inner.finished([], [info(output) for output in outputs]))
    names = graph.add("If", [name], len(yielded), then_branch=bodies[0], else_branch=bodies[1])
    for output, (rows, columns) in zip([names] if isinstance(names, str) else names, yielded):
        graph.keep(Value(output, None if differs else rows, columns))


def loop(graph):
    draw = graph.draw
    is_late = draw.is_late(graph.depth)
    trips = draw.integer(0, 3) if draw.chance(0.9) else draw.integer(4, 6)
    carried = [graph.pick(known=True) for _ in range(draw.integer(0, 2))]
    growing = draw.chance(0.4) and not is_late
    way = draw.choose(["count", "count", "while", "both", "always"])
    inner = Graph(draw, graph, max(trips, 1))
    i, c = draw.name("i"), draw.name("c")
    inner.counter = i
    puts, initial = [info(i, INT64, []), info(c, BOOL, [])], []
    for x in carried:
        name = draw.name("in")
        puts.append(info(name, FLOAT, draw.choose([None, [x.rows, x.columns]])))
        inner.keep(Value(name, x.rows, x.columns))
        initial.append(x.name)
    grown = graph.pick(known=True) if growing else None
    if growing:
        held = draw.name("in")
        puts.append(info(held, FLOAT))
        inner.keep(Value(held, None, grown.columns))
        initial.append(grown.name)
    fill(inner, draw.integer(1, 5))
    outputs = [shaped(inner, inner.pick(), x.rows, x.columns) for x in carried]
    if growing:
        part = shaped(inner, inner.pick(), 1, grown.columns)
        outputs.append(inner.add("Concat", [held, part], axis=0))
    collected = []
    for _ in range(draw.integer(0 if outputs else 1, 2)):
        x = inner.pick()
        rows = x.rows or 1
        outputs.append(shaped(inner, x, rows, x.columns))
        collected.append((rows, x.columns))
    # A loop that has a condition ends by it, before its count or without one.
    if way in ("while", "both"):
        last = late_number(graph, max(trips - 1, 0)) if is_late else inner.constant(numpy.array(trips - 1))
        end = inner.add("Less", [i, last])
    else:
        end = inner.add("Identity", [c if draw.chance(0.5) else inner.constant(numpy.array(True))])
    body = inner.finished(puts, [info(end, BOOL, [])] + [info(name) for name in outputs])
    # A loop whose trips all ask for another one may be told not to begin.
    begins = trips > 0 or way == "always"
    if way == "always" and draw.chance(0.2):
        begins = False
    if is_late:
        # Nothing bounds what a loop collects that has a condition alone.
        counted = bool(collected) and way == "while"
        number = late_number(graph, trips + 9 * counted) if counted or way in ("count", "always") else ""
        first = "" if way == "count" else draw.input(numpy.array(begins))
    else:
        number = count(graph, trips) if way in ("count", "always") else ""
        first = "" if way == "count" else graph.constant(numpy.array(begins))
    if not begins:
        trips = 0
    if way == "both":
        number = graph.constant(numpy.array(99 if is_late else 2**63 - 1))
    names = graph.add("Loop", [number, first, *initial], len(outputs), body=body)
    names = [names] if isinstance(names, str) else names
    for name, x in zip(names, carried):
        graph.keep(Value(name, x.rows, x.columns))
    if growing:
        graph.keep(Value(names[len(carried)], grown.rows + trips, grown.columns))
    for name, (rows, columns) in zip(names[len(carried) + growing:], collected):
        if trips:
            flat = graph.add("Reshape", [name, graph.constant(numpy.array([trips * rows, columns]))])
            graph.keep(Value(flat, trips * rows, columns))
        else:
            # Nothing was collected. The other sizes are ONNX Runtime's guess.
            parts = graph.add("Gather", [graph.add("Shape", [name]), graph.constant(numpy.array([[0]]))])
            graph.keep(Value(graph.add("Cast", [parts], to=FLOAT), 1, 1))



def scan(graph):
    draw = graph.draw
    x = graph.pick(known=True)
    axis = draw.integer(0, 1)
    entries, width = (x.rows, x.columns) if axis == 0 else (x.columns, x.rows)
    if entries > 6:
        return
    state = graph.pick(known=True) if draw.chance(0.7) else None
    inner = Graph(draw, graph, max(entries, 1))
    entry, held = draw.name("in"), draw.name("in")
    puts = [info(held, FLOAT, draw.choose([None, [state.rows, state.columns]]))] if state else []
    puts.append(info(entry, FLOAT))
    row = inner.add("Unsqueeze", [entry, inner.constant(numpy.array([0]))])
    if state:
        inner.keep(Value(held, state.rows, state.columns))
    inner.keep(Value(row, 1, width))
    fill(inner, draw.integer(1, 4))
    outputs = [shaped(inner, inner.pick(), state.rows, state.columns)] if state else []
    part = inner.pick()
    rows = part.rows or 1
    outputs.append(shaped(inner, part, rows, part.columns))
    attributes = {"scan_input_axes": [axis - draw.choose([0, 2])]}
    if draw.chance(0.5):
        attributes["scan_input_directions"] = [draw.integer(0, 1)]
    if draw.chance(0.5):
        attributes["scan_output_directions"] = [draw.integer(0, 1)]
    attributes["scan_output_axes"] = [where := draw.integer(0, 2)]
    # ONNX Runtime wants the sizes of what a Scan yields.
    sizes = [*([[state.rows, state.columns]] if state else []), [rows, part.columns]]
    body = inner.finished(puts, [info(name, FLOAT, each) for name, each in zip(outputs, sizes)])
    names = graph.add("Scan", ([state.name] if state else []) + [x.name], len(outputs), body=body, num_scan_inputs=1,
                      **attributes)
    names = [names] if isinstance(names, str) else names
    if state:
        graph.keep(Value(names[0], state.rows, state.columns))
    sizes = [rows, part.columns]
    sizes.insert(where, entries)
    flat = graph.add("Reshape", [names[-1], graph.constant(numpy.array([sizes[0] * sizes[1], sizes[2]]))])
    graph.keep(Value(flat, sizes[0] * sizes[1], sizes[2]))


def sequence(graph):
    draw = graph.draw
    x = graph.pick(known=True)
    values = [y for y in graph.values if y.columns == x.columns and y.rows is not None]
    parts = [draw.choose(values) for _ in range(draw.integer(1, 3))]
    way = draw.integer(0, 3)
    if way == 0:  # parts of a tensor
        made = graph.add("SplitToSequence", [x.name], axis=0)
        parts = [Value("", 1, x.columns)] * x.rows
    else:
        made = graph.add("SequenceConstruct", [part.name for part in parts])
    if draw.chance(0.5):
        new, at = draw.choose(values), draw.integer(-len(parts), len(parts))
        made = graph.add("SequenceInsert", [made, new.name, graph.constant(numpy.array(at))])
        parts.insert(at + len(parts) if at < 0 else at, new)
    if len(parts) > 1 and draw.chance(0.3):
        at = draw.integer(-len(parts), len(parts) - 1)
        made = graph.add("SequenceErase", [made, graph.constant(numpy.array(at))])
        parts.pop(at)
    if draw.opset >= 17 and draw.chance(0.3):
        inner = Graph(draw, graph, len(parts))
        entry = draw.name("in")
        inner.keep(Value(entry, None, x.columns))
        fill(inner, draw.integer(1, 3))
        output = inner.add("Tanh", [entry])
        made = graph.add("SequenceMap", [made], body=inner.finished([info(entry)], [info(output)]))
    if draw.opset >= 18 and draw.chance(0.3):
        made = graph.add("OptionalGetElement", [graph.add("Optional", [made])])
    if draw.chance(0.5):
        at = draw.integer(-len(parts), len(parts) - 1)
        graph.keep(Value(graph.add("SequenceAt", [made, graph.constant(numpy.array(at))]), parts[at].rows, x.columns))
    elif (rows := sum(part.rows for part in parts)) <= 12:
        graph.keep(Value(graph.add("ConcatFromSequence", [made], axis=draw.choose([0, -2])), rows, x.columns))


def gathered(graph):
    """A sequence that a loop grows."""
    draw, trips = graph.draw, graph.draw.integer(1, 4)
    inner = Graph(draw, graph, trips)
    i, c, held, out, end = (draw.name(stem) for stem in ("i", "c", "l", "l", "e"))
    inner.counter = i
    fill(inner, draw.integer(1, 4))
    part = inner.pick()
    rows = part.rows or 1
    made = shaped(inner, part, rows, part.columns)
    at = [] if draw.chance(0.5) else [inner.constant(numpy.array(0))]
    inner.nodes.append(helper.make_node("SequenceInsert", [held, made, *at], [out]))
    inner.nodes.append(helper.make_node("Identity", [c], [end]))
    lists = [helper.make_tensor_sequence_value_info(name, FLOAT, None) for name in (held, out)]
    body = inner.finished([info(i, INT64, []), info(c, BOOL, []), lists[0]], [info(end, BOOL, []), lists[1]])
    made = graph.add("Loop", [count(graph, trips), "", graph.add("SequenceEmpty", [])], body=body)
    graph.keep(Value(graph.add("ConcatFromSequence", [made], axis=0), trips * rows, part.columns))


NESTING = (choice, choice, loop, loop, loop, scan, scan, sequence, gathered)


def draw_model(seed):
    """(model, feeds, nodes of all trips), with graphs in it."""
    draw = Draw(seed)
    graph = Graph(draw)
    puts, feed, other = draw.puts, draw.feed, draw.others
    for _ in range(draw.integer(1, 2)):
        name, rows, columns = draw.name("x"), draw.integer(1, 4), draw.integer(1, 4)
        puts.append(info(name, FLOAT, [rows, columns]))
        feed[name] = draw.random.uniform(-1, 1, (rows, columns)).astype(numpy.float32)
        other[name] = draw.late.uniform(-1, 1, (rows, columns)).astype(numpy.float32)
        graph.keep(Value(name, rows, columns))
    fill(graph, 3)
    draw.choose(NESTING)(graph)
    fill(graph, 4)
    outputs = []
    for value in graph.values[-3:]:
        outputs.append(graph.add("Identity", [value.name]))
    model = helper.make_model(graph.finished(puts, [info(name) for name in outputs]),
                              opset_imports=[helper.make_opsetid("", draw.opset)])
    model.ir_version = 8
    return model, [feed, {**feed, **other}, feed] if draw.late_share else [feed], draw.nodes


def run(model, feed):
    """What ONNX Runtime gives, or the words of its error. It optimises nothing: where it takes an If's branch that
    holds a loop into the graph, it may crash."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    try:
        return onnxruntime.InferenceSession(model.SerializeToString(), options).run(None, feed)
    except Exception as error:  # pylint: disable=broad-exception-caught
        return f"ONNX Runtime: {str(error)[:300]}"


def check(suite, seed, is_compiled):
    model, feeds, nodes = draw_model(seed)
    names, case = [put.name for put in model.graph.output], f"graph-{seed}"
    source, written = suite.work / f"{case}.onnx", suite.work / f"{case}.written.onnx"
    onnx.save(model, source)
    wanted = [run(model, feed) for feed in feeds]
    step = harness.run([suite.tool("cameoc"), source, "--emit=onnx", "--stop-after=normalized", "-o", written],
                       COMPILE_SECONDS)
    if step.code:
        return suite.fail(case, step.how() + ": " + harness.first_error(step.output), step)
    if any(isinstance(each, str) for each in wanted):
        return suite.skip("ONNX Runtime refuses it: it is compiled all the same")
    result = onnx.load(written)
    folded = FOLDED - {"If", "Loop"} if len(feeds) > 1 else FOLDED
    left = {node.op_type for node in result.graph.node} & folded
    if left and nodes <= MOST_NODES:
        return suite.fail(case, f"is written with {', '.join(sorted(left))}", step)
    if len({node.name for node in result.graph.node}) != len(result.graph.node):
        return suite.fail(case, "is written with nodes of one name", step)
    for feed, each in zip(feeds, wanted):
        if reason := differ(names, run(result, feed), each):
            return suite.fail(case, f"as ONNX: {reason}", step)
    suite.ok(case)
    return check_artefact(suite, seed, case, model, list(zip(feeds, wanted))) if is_compiled else None


def check_artefact(suite, seed, case, model, runs):
    level = harness.LEVELS[seed // EACH % len(harness.LEVELS)]
    checked = ["--sim-checks-only"] if len(runs) > 1 else []
    program = artefact.Artefact(suite, f"{case}{level}", model, level, *checked, seconds=COMPILE_SECONDS)
    for feed, wanted in runs:
        step, arrays = program.run(feed)
        if step.code:
            return suite.fail(f"{case}{level}", step.how() + ": " + harness.first_error(step.output), step)
        if reason := differ([put.name for put in model.graph.output], arrays, wanted):
            return suite.fail(f"{case}{level}", reason, step)
    return suite.ok(f"{case}{level}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    harness.add_seed(parser, FIRST)
    parser.add_argument("--count", type=int, default=MODELS, help="models")
    parser.add_argument("--compiled-every", type=int, default=EACH, metavar="N",
                        help="one model in N is compiled and run")
    options = parser.parse_args()
    suite = harness.Suite("subgraphs", options.build.resolve())
    seeds = [(seed, number % options.compiled_every == 0)
             for number, seed in enumerate(harness.seeds_of("subgraphs", options, options.count))]
    for _ in harness.for_each(seeds, lambda case: check(suite, *case), options.jobs):
        pass
    if suite.skips.total() > len(seeds) / 10:
        suite.fail("references", f"ONNX Runtime refuses {suite.skips.total()} of {len(seeds)} models")
    return suite.close()


if __name__ == "__main__":
    sys.exit(main())
