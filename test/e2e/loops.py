#!/usr/bin/env python3
"""Loop, Scan, sequences and optionals that the compiler takes out of a model, beside ONNX Runtime: at each level, and
as ONNX again, in which none of them is left. Loops that are left to runs are compiled, and what no run can do and bodies
that do not fit are refused by name."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import re
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

import artefact
import harness
import reference
from operator_table import FOLDED

FLOAT, BOOL, INT64 = TensorProto.FLOAT, TensorProto.BOOL, TensorProto.INT64
BOTH = ["y", "parts"]
X = numpy.arange(6, dtype=numpy.float32).reshape(2, 3) / 4 - 1
WEIGHTS = {"n0": numpy.array(0), "n1": numpy.array(1), "n2": numpy.array(2), "n3": numpy.array(3),
           "n16": numpy.array(16), "n17": numpy.array(17), "m1": numpy.array(-1), "most": numpy.array(2**63 - 1),
           "yes": numpy.array(True), "no": numpy.array(False), "one": numpy.ones(1, numpy.float32),
           "zero": numpy.array([0]),
           "w": numpy.linspace(-1, 1, 9, dtype=numpy.float32).reshape(3, 3), "row": X[:1]}


def node(kind, inputs, outputs, **attributes):
    outputs = [outputs] if isinstance(outputs, str) else outputs
    return helper.make_node(kind, inputs, outputs, f"make_{outputs[0]}", **attributes)


def value(name, kind=FLOAT, sizes=None):
    if kind == "sequence":
        return helper.make_tensor_sequence_value_info(name, FLOAT, None)
    return helper.make_tensor_value_info(name, kind, sizes)


def graph(nodes, inputs, outputs, weights=None):
    """Inputs and outputs: names, or what value() takes."""
    values = [[value(*given) if isinstance(given, tuple) else value(given) for given in puts]
              for puts in (inputs, outputs)]
    return helper.make_graph(nodes, "body", *values,
                             [numpy_helper.from_array(array, key) for key, array in (weights or {}).items()])


def body(nodes, carried=("v",), outputs=("v2",), condition="c", prefix="", weights=None):
    """A Loop's."""
    i, c = f"{prefix}i", f"{prefix}c"
    end = f"{prefix}end"
    nodes = [*nodes, node("Identity", [c if condition == "c" else condition], end)]
    return graph(nodes, [(i, INT64, []), (c, BOOL, []), *carried], [(end, BOOL, []), *outputs], weights)


def loop(count, condition, carried, outputs, made):
    return node("Loop", [count, condition, *carried], outputs, body=made)


def model(nodes, outputs=("y",), sizes=(2, 3), weights=None, opset=17):
    used = {name for made in nodes for name in every_input(made)}
    return artefact.model("loops", nodes, [("x", FLOAT, sizes)],
                          [(name, kind, None) for name, kind in map(named, outputs)],
                          {key: array for key, array in {**WEIGHTS, **(weights or {})}.items() if key in used},
                          opset=opset)


def named(output):
    return output if isinstance(output, tuple) else (output, FLOAT)


def every_input(made):
    yield from made.input
    for attribute in made.attribute:
        for inner in attribute.g.node:
            yield from every_input(inner)
        for put in attribute.g.output:
            yield put.name


def step(source="v", out="v2", prefix=""):
    """v times a matrix, and something of the trip."""
    return [node("MatMul", [source, "w"], f"{prefix}p"), node("Cast", [f"{prefix}i"], f"{prefix}f", to=FLOAT),
            node("Add", [f"{prefix}p", f"{prefix}f"], f"{prefix}a"), node("Tanh", [f"{prefix}a"], out)]


SIZE = [node("Shape", ["x"], "shape"), node("Gather", ["shape", "n1"], "size")]


def loops():
    """(name, model, feeds' sizes, options of cameoc)"""
    # Without a trip ONNX Runtime gives what is collected the declared sizes.
    made = body([*step(), node("Exp", ["v"], "part")], outputs=("v2", ("part", FLOAT, [2, 3])))
    for trips in ("n0", "n1", "n3", "n16"):
        yield f"trips-{trips}", model([loop(trips, "", ["x"], BOTH, made)], BOTH)
    yield "condition-always", model([loop("n3", "yes", ["x"], ["y"], body(step()))])
    yield "condition-never", model([loop("n3", "no", ["x"], BOTH, made)], BOTH)
    yield "condition-constant", model([loop("n3", "yes", ["x"], ["y"], body(step(), condition="yes"))])
    # Loops that end early, with a count that is never reached, or none.
    ends = [*step(), node("Less", ["i", "n2"], "goes_on")]
    for count in ("most", "n16", ""):
        made = body(ends, outputs=("v2", "v2"), condition="goes_on")
        yield f"ends-early-{count}", model([loop(count, "yes", ["x"], BOTH, made)], BOTH)
    yield "ends-after-one", model([loop("", "yes", ["x"], ["y"], body(step(), condition="no"))])
    counted = [*step(), node("Mul", ["k", "n3"], "k2"), node("Less", ["k2", "most_k"], "goes_on")]
    made = body(counted, (("k", INT64, []), "v"), (("k2", INT64, []), "v2"), "goes_on")
    yield "ends-by-a-carried-number", model([loop("", "yes", ["n1", "x"], ["k_end", "y"], made)],
                                            ["y", ("k_end", INT64)], weights={"most_k": numpy.array(50)})
    # A sum of floats is folded, not computed from shapes.
    folded = [*step(), node("Add", ["s", "half"], "s2"), node("ReduceSum", ["s2"], "total", keepdims=0),
              node("Less", ["total", "limit"], "goes_on")]
    yield "ends-by-folding", model(
        [loop("", "yes", ["half", "x"], ["s_end", "y"],
              body(folded, carried=("s", "v"), outputs=("s2", "v2"), condition="goes_on"))], ["y", "s_end"],
        weights={"half": numpy.array([.5, .25], numpy.float32), "limit": numpy.array(3, numpy.float32)})
    yield "count-of-a-shape", model([*SIZE, loop("size", "", ["x"], BOTH, body(step(), outputs=("v2", "v")))], BOTH)
    yield "count-of-an-open-shape", model([*SIZE, loop("size", "", ["x"], ["y"], body(step()))], sizes=("N", 3))
    # Shapes that change from trip to trip.
    grows = [node("Concat", ["v", "row"], "v2", axis=0), node("ReduceSum", ["v2", "zero"], "part", keepdims=1)]
    yield "carried-grows", model([loop("n3", "", ["x"], BOTH, body(grows, outputs=("v2", "part")))], BOTH)
    ranks = [node("Unsqueeze", ["v", "zero"], "v2")]
    yield "carried-gains-rank", model([loop("n3", "", ["x"], ["y"], body(ranks))])
    yield "grows-until-full", model(
        [loop("most", "yes", ["x"], ["y"],
              body([*grows, node("Size", ["v2"], "size"), node("Less", ["size", "full"], "goes_on")],
                   condition="goes_on"))], weights={"full": numpy.array(14)})
    # Captured values, constants and weights of the body, a result that only passes through, one that nobody reads.
    captured = [node("Exp", ["x"], "h"),
                loop("n2", "", ["x", "h"], ["y", "z", "unread"],
                     body([node("Add", ["v", "own"], "a"), node("Mul", ["a", "h"], "v2")], ("v", "u"), ("v2", "u", "a"),
                          weights={"own": X}))]
    yield "captured", model(captured, ["y", "z"])
    yield "swapped", model([node("Exp", ["x"], "h"),
                            loop("n3", "", ["x", "h"], ["y", "z"], body([], ("v", "u"), ("u", "v")))], ["y", "z"])
    yield "collects-captured", model([loop("n3", "", [], ["y"], body([node("Neg", ["x"], "part")], (), ("part",)))])
    squares = body([node("Mul", ["i", "i"], "ii")], (), (("ii", INT64, []),))
    yield "collects-the-trip", model([loop("n3", "", [], ["y"], squares)], [("y", INT64)])
    # Graphs within graphs.
    inner = body(step("u", "u2", "b"), carried=("u",), outputs=("u2", "u"), prefix="b")
    nested = [loop("n2", "", ["v"], ["v2", "inner"], inner), node("ReduceSum", ["inner", "zero"], "part", keepdims=0)]
    yield "nested", model([loop("n3", "", ["x"], BOTH, body(nested, outputs=("v2", "part")))], BOTH)
    triangle = [node("Add", ["i", "n1"], "trips"),
                loop("trips", "", ["v"], ["v2"], body(step("u", "u2", "b"), ("u",), ("u2",), prefix="b"))]
    yield "count-of-the-outer-trip", model([loop("n3", "", ["x"], ["y"], body(triangle))])
    deepest = body([*step("t", "t2", "d"), node("Add", ["t2", "v"], "t3")], ("t",), ("t3",), prefix="d")
    deep = [loop("n2", "", ["v"], ["v2"], body([loop("n2", "", ["u"], ["u2"], deepest)], ("u",), ("u2",), prefix="b"))]
    yield "three-deep", model([loop("n2", "", ["x"], ["y"], body(deep))])
    choice = [node("Equal", ["i", "n1"], "is_second"),
              node("If", ["is_second"], "v2", then_branch=graph([*step()[:1], node("Exp", ["p"], "t")], [], ["t"]),
                   else_branch=graph([node("Neg", ["v"], "e")], [], ["e"]))]
    yield "choice-of-the-trip", model([loop("n3", "", ["x"], ["y"], body(choice))])
    then = graph([loop("n2", "", ["x"], ["t"], body(step()))], [], ["t"])
    yield "loop-in-a-branch", model([node("If", ["yes"], "y", then_branch=then,
                                          else_branch=graph([node("Neg", ["x"], "e")], [], ["e"]))])
    # The number of the trip and the condition may be declared with a dimension.
    listed = graph([*step(), node("Identity", ["c"], "end")], [("i", INT64, [1]), ("c", BOOL, [1]), "v"],
                   [("end", BOOL, [1]), "v2"])
    yield "one-element", model([loop("n2", "yes", ["x"], ["y"], listed)],
                               weights={"n2": numpy.array([2]), "yes": numpy.array([True])})
    # A function of the model, with a loop in it, called in a body.
    call = helper.make_node("Twice", ["v"], ["v2"], "call", domain="local")
    called = model([loop("n2", "", ["x"], ["y"], body([call]))])
    made = [helper.make_node("Constant", [], ["two"], value=numpy_helper.from_array(numpy.array(2))),
            loop("two", "", ["a"], ["b"], body([node("Exp", ["v"], "e"), node("Neg", ["e"], "v2")]))]
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)]
    called.functions.append(helper.make_function("local", "Twice", ["a"], ["b"], made, opsets[:1]))
    called.opset_import.append(opsets[1])
    yield "function", called
    # Nodes of the trip that is not made do not count, nor do those of a loop in it.
    chain = [node("Neg", ["u"], "b0"), *(node("Neg", [f"b{i}"], f"b{i + 1}") for i in range(99))]
    long = loop("n16", "", ["x"], ["part"], body(chain, ("u",), ("b99",), prefix="b"))
    again = body([*chain[:60]], ("u",), ("b59",), prefix="c")
    yield "no-trip-of-many-nodes", model([loop("n0", "", [], ["parts"], body([long], (), (("part", FLOAT, [2, 3]),))),
                                          loop("n16", "", ["x"], ["y"], again)], BOTH)
    for opset in (11, 13, 16, 19, 21, 25):
        made = [node("Exp", ["v"], "v2")]
        yield f"opset-{opset}", model([loop("n2", "", ["x"], BOTH, body(made, outputs=("v2", "v2")))], BOTH,
                                      opset=opset)


def scan(inputs, outputs, made, scanned=1, **attributes):
    return node("Scan", inputs, outputs, body=made, num_scan_inputs=scanned, **attributes)


def scans():
    sums = graph([node("Add", ["s", "e"], "s2"), node("Mul", ["e", "s2"], "part")], ["s", "e"], ["s2", "part"])
    three, two = {"start": numpy.zeros(3, numpy.float32)}, {"start": numpy.zeros(2, numpy.float32)}
    for axis, weights in ((0, three), (1, two), (-1, two), (-2, three)):
        yield f"axis{axis}", model([scan(["start", "x"], BOTH, sums, scan_input_axes=[axis])],
                                   BOTH, weights=weights)
    for into in (0, 1):
        for out in (0, 1):
            yield f"directions-{into}-{out}", model(
                [scan(["start", "x"], BOTH, sums, scan_input_directions=[into], scan_output_directions=[out])],
                BOTH, weights=three)
    for axis in (0, 1, -1):
        yield f"output-axis{axis}", model([scan(["start", "x"], BOTH, sums, scan_output_axes=[axis])],
                                          BOTH, weights=three)
    both = graph([node("Sub", ["e", "f"], "part"), node("Max", ["e", "f"], "larger")], ["e", "f"], ["part", "larger"])
    yield "no-state", model([node("Transpose", ["x"], "t"),
                             scan(["x", "t"], ["y", "z"], both, 2, scan_input_axes=[0, 1],
                                  scan_input_directions=[0, 1], scan_output_axes=[1, 0])], ["y", "z"])
    adds = graph([node("Add", ["s", "e"], "s2"), node("Exp", ["e"], "part")], ["s", "e"], ["s2", "part"])
    yield "open-elsewhere", model([node("ReduceSum", ["x", "n1"], "state", keepdims=0),
                                   scan(["state", "x"], BOTH, adds, scan_input_axes=[1])], BOTH, ("N", 3),
                                  {"n1": numpy.array([1])})
    # What is yielded is made in the graph: ONNX Runtime loses inputs of a Scan's body that are its outputs.
    inner = graph([node("Add", ["u", "f"], "u2"), node("Neg", ["f"], "g")], ["u", "f"], ["u2", "g"])
    outer = graph([scan(["s", "e"], ["s2", "part"], inner)], ["s", "e"], ["s2", "part"])
    yield "nested", model([scan(["start", "x"], BOTH, outer)], BOTH,
                          weights={"start": numpy.zeros((), numpy.float32)})
    batched = node("Scan", ["", "start", "x"], BOTH, num_scan_inputs=1, body=adds)
    yield "opset-8", model([batched], BOTH, (2, 3, 4), {"start": numpy.zeros((2, 4), numpy.float32)}, opset=8)
    batched = node("Scan", ["", "start", "x"], BOTH, num_scan_inputs=1, body=sums, directions=[1])
    yield "opset-8-backwards", model([batched], BOTH, (2, 3, 4), {"start": numpy.zeros((2, 4), numpy.float32)}, opset=8)


def join(source, out="y", **attributes):
    return node("ConcatFromSequence", [source], out, **{"axis": 0, **attributes})


def sequences():
    def list_of(*more):
        return [node("Exp", ["x"], "h"), node("SequenceConstruct", ["x", "h", *more], "l")]
    yield "construct", model([*list_of("row"), join("l")])
    for axis in (0, 1, 2, -1):
        yield f"stacked{axis}", model([*list_of(), join("l", axis=axis, new_axis=1)])
    for axis in (1, -1):
        yield f"joined{axis}", model([*list_of("w2"), join("l", axis=axis)], weights={"w2": X[:, :1]})
    for position in ("n0", "n1", "m1", ""):
        inserted = [*list_of(), node("SequenceInsert", ["l", "row", position], "m")]
        yield f"insert-{position}", model([*inserted, join("m")])
        yield f"erase-{position}", model([*inserted, node("SequenceErase", ["m", position], "k"), join("k")])
        if position:
            yield f"at-{position}", model([*inserted, node("SequenceAt", ["m", position], "y")])
    for place in ("first", "last"):
        made = [node("ArgMax", ["x"], "found", axis=1, keepdims=0), node("Gather", ["found", "n0"], "at"),
                node("Sub", ["at", "n2"], "back"), *list_of("h", "row2", "x")]
        yield f"at-found-{place}", model([*made, node("SequenceAt", ["l", {"first": "at", "last": "back"}[place]], "y")],
                                         weights={"row2": X - 1})
    yield "length", model([*list_of(), node("SequenceLength", ["l"], "y")], [("y", INT64)])
    yield "position-of-a-shape", model([*SIZE, *list_of("row", "h"), node("SequenceAt", ["l", "size"], "y")])
    yield "empty", model([node("SequenceEmpty", [], "l"), node("SequenceInsert", ["l", "x"], "m"), join("m")])
    for split, array in (("one", None), ("ones", numpy.array(1)), ("scalar", numpy.array(2)), ("whole", numpy.array(3)),
                         ("list", numpy.array([1, 2]))):
        weights = {} if array is None else {"parts": array}
        inputs = ["x"] if array is None else ["x", "parts"]
        for keep in (0, 1) if split != "scalar" else (1,):
            made = [node("SplitToSequence", inputs, "l", axis=1, keepdims=keep), node("SequenceLength", ["l"], "n"),
                    node("SequenceAt", ["l", "m1"], "y")]
            yield f"split-{split}-{keep}", model(made, ["y", ("n", INT64)], weights=weights)
    yield "split-open", model([node("SplitToSequence", ["x", "parts"], "l", axis=1),
                               node("SequenceAt", ["l", "n0"], "y")],
                              sizes=("N", 3), weights={"parts": numpy.array([1, 2])})
    # Collected at the end of a loop, and read in one.
    grows = body([*step(), node("SequenceInsert", ["l", "v2"], "l2")], (("l", "sequence"), "v"),
                 (("l2", "sequence"), "v2"))
    yield "collected", model([node("SequenceEmpty", [], "l0"), loop("n3", "", ["l0", "x"], ["l1", "y"], grows),
                              join("l1", "parts", new_axis=1)], BOTH)
    reads = body([node("SequenceAt", ["parts", "i"], "e"), node("Add", ["v", "e"], "v2")])
    yield "read", model([*list_of(), node("SequenceInsert", ["l", "row"], "parts"),
                         node("SequenceLength", ["parts"], "n"), loop("n", "", ["x"], ["y"], reads)])
    then = graph([node("SequenceConstruct", ["x", "x"], "t")], [], [("t", "sequence")])
    other = graph([node("SequenceConstruct", ["x"], "e")], [], [("e", "sequence")])
    yield "branch", model([node("If", ["yes"], "l", then_branch=then, else_branch=other), join("l")])
    yield "identity", model([*list_of(), node("Identity", ["l"], "k"), join("k")])
    mapped = graph([node("Add", ["e", "f"], "p"), node("Neg", ["e"], "q")], ["e", "f"], ["p", "q"])
    for second in ("x", "k"):
        yield f"map-{second}", model([*list_of(), node("SequenceConstruct", ["h", "x"], "k"),
                                      node("SequenceMap", ["l", second], ["p_list", "q_list"], body=mapped),
                                      join("p_list"), join("q_list", "z")], ["y", "z"])
    yield "map-nothing", model([node("SequenceEmpty", [], "l"),
                                node("SequenceMap", ["l", "x"], ["p_list", "q_list"], body=mapped),
                                node("SequenceLength", ["q_list"], "y")], [("y", INT64)])
    optional = [node("Optional", ["x"], "o"), node("OptionalHasElement", ["o"], "has"),
                node("If", ["has"], "y", then_branch=graph([node("OptionalGetElement", ["o"], "t")], [], ["t"]),
                     else_branch=graph([node("Neg", ["x"], "e")], [], ["e"]))]
    yield "optional", model(optional, ["y", ("has", BOOL)], opset=18)
    kind = helper.make_tensor_type_proto(FLOAT, [2, 3])
    yield "optional-absent", model([node("Optional", [], "o", type=kind), *optional[1:]],
                                   ["y", ("has", BOOL)], opset=18)
    yield "optional-tensor", model([node("OptionalHasElement", ["x"], "has"), node("OptionalGetElement", ["x"], "y")],
                                   ["y", ("has", BOOL)], opset=18)
    yield "optional-sequence", model([*list_of(), node("Optional", ["l"], "o"),
                                      node("OptionalGetElement", ["o"], "k"), join("k")], opset=18)


OPTIONS = {"count-of-an-open-shape": ["--shapes=x:2x3"]}


def left_to_runs():
    """(name, model): loops that are not unrolled, since they make too many trips or nodes, or only a run knows how many."""
    def one(made, *inputs, count="n2", condition="", **more):
        return model([loop(count, condition, [*inputs], ["y"], made)], **more)
    count = [*step(), node("Less", ["i", "n16"], "goes_on"), node("Identity", ["goes_on"], "again")]
    yield "condition", one(body(count, condition="again"), "x", count="", condition="yes")
    yield "many", one(body(step()), "x", count="n17")
    wide = [node("Neg", ["v"], "a0"), *(node("Neg", [f"a{i}"], f"a{i + 1}") for i in range(150))]
    yield "many-nodes", one(body(wide, outputs=("a150",)), "x", count="n16")
    yield "nodes-of-two", model([loop("n16", "", ["x"], ["h"], body(wide[:101], outputs=("a100",))),
                                 loop("n16", "", ["h"], ["y"], body(wide[:41], outputs=("a40",)))])
    yield "open-count", model([node("Shape", ["x"], "shape"), node("Gather", ["shape", "n0"], "size"),
                               loop("size", "", ["x"], ["y"], body(step()))], sizes=("N", 3))
    longer = body([node("Concat", ["v", "row"], "v2", axis=0)])
    yield "many-grow", one(longer, "x", count="n17")
    data = [*step(), node("ReduceSum", ["v2"], "s", keepdims=0), node("Less", ["s", "limit"], "goes_on")]
    yield "data-condition", one(body(data, condition="goes_on"), "x", condition="yes",
                                weights={"limit": numpy.array(1, numpy.float32)})
    # Lists that are appended to, and those of as many rows as there are.
    grows = body([*step(), node("SequenceInsert", ["l", "v2"], "l2")], (("l", "sequence"), "v"),
                 (("l2", "sequence"), "v2"))
    listed = [node("SequenceEmpty", [], "l0"), loop("n17", "", ["l0", "x"], ["l1", "y"], grows)]
    for axis in (0, 1, 2, -1, -3):
        yield f"list-stacked{axis}", model([*listed, join("l1", "parts", axis=axis, new_axis=1)], BOTH)
    for axis in (0, 1, -2):
        yield f"list-joined{axis}", model([*listed, join("l1", "parts", axis=axis)], BOTH, sizes=("N", 3))
    yield "list-read", model([*listed, node("SequenceLength", ["l1"], "n"), node("SequenceAt", ["l1", "m1"], "parts"),
                              node("SequenceAt", ["l1", "n3"], "e")], [*BOTH, "e", ("n", INT64)])
    reads = body([node("SequenceAt", ["l", "i"], "e"), node("Mul", ["v", "two"], "h"), node("Add", ["h", "e"], "v2")])
    for keep, start in ((0, "first"), (1, "row")):
        yield f"list-of-rows-{keep}", model(
            [node("SplitToSequence", ["x"], "l", axis=0, keepdims=keep), node("SequenceLength", ["l"], "n"),
             loop("n", "", [start], ["y"], reads)], ["y", ("n", INT64)], ("N", 3),
            {"two": numpy.full(1, 2, numpy.float32), "first": X[0]})
    yield "list-unbound", model([node("SplitToSequence", ["x", "n1"], "l", axis=1, keepdims=0),
                                 join("l", axis=0), node("SequenceAt", ["l", "n1"], "z")], ["y", "z"], (2, "N"))
    yield "list-of-columns", model([node("SplitToSequence", ["x", "n1"], "l", axis=1), join("l", axis=0),
                                    node("SequenceAt", ["l", "n1"], "z")], ["y", "z"], (2, "N"))
    yield "open-scan", model([scan(["start", "x"], ["y", "z"], sums_of_entries())], ["y", "z"], ("N", 3), START)


START = {"start": numpy.zeros(3, numpy.float32)}


def sums_of_entries():
    return graph([node("Add", ["s", "e"], "t"), node("Neg", ["t"], "u")], ["s", "e"], ["t", "u"])


def refusals():
    """(name, model, text)"""
    def one(made, *inputs, count="n2", condition="", **more):
        return model([loop(count, condition, [*inputs], ["y"], made)], **more)
    yield "endless", one(body(step()), "x", count=""), "'make_y' (Loop, opset 17): has neither a trip count nor a " \
        "condition, so that it never ends; nearest supported: a trip count"
    grows = body([node("Unsqueeze", ["v", "zero"], "v2")])
    yield "many-ranks", one(grows, "x", count="n17"), "makes 17 trips; at most 16 are unrolled; nearest supported: a loop of"
    sums, start = sums_of_entries(), START
    sequence = [node("SequenceConstruct", ["x", "x"], "l")]
    yield "position", model([*sequence, node("SequenceAt", ["l", "n3"], "y")]), \
        "'make_y' (SequenceAt, opset 17): input 'position' is 3; the sequence allows -2 to 1"
    yield "empty", model([node("SequenceEmpty", [], "l"), node("SequenceAt", ["l", "n0"], "y")]), \
        "its sequence is empty"
    yield "join-nothing", model([node("SequenceEmpty", [], "l"), join("l")]), "its sequence is empty"
    kind = helper.make_tensor_type_proto(FLOAT, [2, 3])
    yield "absent", model([node("Optional", [], "o", type=kind), node("OptionalGetElement", ["o"], "y")], opset=18), \
        "its optional has no element"
    listed = model([*sequence, node("SequenceLength", ["l"], "y")], [("y", INT64)])
    listed.graph.output.append(value("l", "sequence"))
    yield "sequence-output", listed, \
        "output 'l' is sequence of float of unknown rank; nearest supported: its tensors, each by itself"
    given = model([node("SequenceLength", ["l"], "n"), node("SequenceAt", ["l", "n0"], "y")], ["y", ("n", INT64)])
    given.graph.input.append(value("l", "sequence"))
    yield "sequence-input", given, "unsupported: 1 input cannot be compiled"
    # What several graphs have is told at once.
    yield "several", model([loop("n17", "", ["x"], ["h"], grows), *sequence,
                            node("SequenceAt", ["l", "n3"], "g"), node("Add", ["g", "h"], "a"),
                            node("RandomUniformLike", ["a"], "y", low=2.0)]), \
        "3 nodes cannot be compiled"
    # Bodies that do not fit.
    fit = body(step())
    yield "body-inputs", model([loop("n2", "", ["x", "x"], ["y", "z"], fit)], ["y", "z"]), \
        "Loop (opset 17) has a body of 3 inputs; 4 are needed"
    yield "body-outputs", model([loop("n2", "", ["x"], ["y", "z"], fit)], ["y", "z"]), \
        "has a body of 2 outputs; 3 are needed"
    yield "body-few-outputs", one(body([], outputs=()), "x"), "has a body of 1 output; 2 are needed"
    yield "body-types", one(body([node("Cast", ["v"], "v2", to=INT64)], outputs=(("v2", INT64),)), "x"), \
        "has a body that yields carried value 0 as int64 of unknown rank, not as float of unknown rank"
    yield "body-takes", one(body([node("Identity", ["v"], "v2")], (("v", INT64),), (("v2", INT64),)), "x"), \
        "has a body that takes carried value 0 as int64 of unknown rank, not as float of unknown rank"
    yield "body-condition", one(body([], condition="i", outputs=("v",)), "x"), "end"
    branches = [graph([node("Neg", ["x"], name)], [], [name]) for name in ("t", "e")]
    yield "branch-outputs", model([node("If", ["yes"], ["y", "z"], then_branch=branches[0],
                                        else_branch=branches[1])], ["y", "z"]), \
        "has an 'else_branch' of 1 output; 2 are needed"
    for count in (0, 3):
        yield f"scanned-{count}", model([scan(["start", "x"], ["y", "z"], sums, count)], ["y", "z"], weights=start), \
            f"has 'num_scan_inputs' = {count}; 1 to its 2 inputs are possible"
    yield "scan-axes", model([scan(["start", "x"], ["y", "z"], sums, scan_input_axes=[0, 1])], ["y", "z"],
                             weights=start), \
        "has 2 numbers in 'scan_input_axes'; 1 is needed"
    yield "scan-axis", model([scan(["start", "x"], ["y", "z"], sums, scan_input_axes=[2])], ["y", "z"],
                             weights=start), \
        "scans axis 2 of input 1, which has rank 2"
    adds = graph([node("Add", ["e", "f"], "p")], ["e", "f"], ["p"])
    batched = node("Scan", ["n23", "start", "x"], ["y", "z"], num_scan_inputs=1, body=sums)
    yield "scan-lengths", model([batched], ["y", "z"], (2, 3, 4),
                                {"start": numpy.zeros((2, 4), numpy.float32), "n23": numpy.array([2, 3])}, opset=8), \
        "sequence_lens, which no later opset can express"
    yield "map-lengths", model([*sequence, node("SequenceConstruct", ["x"], "k"),
                                node("SequenceMap", ["l", "k"], ["m"], body=adds), join("m")]), \
        "maps sequences of 2 and 1 tensors; all must have as many"


def feed_of(made):
    sizes = [dim.dim_value if dim.HasField("dim_value") else 2
             for dim in made.graph.input[0].type.tensor_type.shape.dim]
    return {"x": numpy.linspace(-1, 1, int(numpy.prod(sizes)), dtype=numpy.float32).reshape(sizes)}


def differ(names, found, wanted):
    """Why results are not those wanted, or None; either may be the words of an error."""
    for results in (found, wanted):
        if isinstance(results, str):
            return results
    reasons = [reference.differs(*each) for each in zip(names, found, wanted)]
    return next(filter(None, reasons), None)


def check(suite, case, made, options):
    feed = feed_of(made)
    program = artefact.Artefact(suite, case, made, *options)
    step, arrays = program.run(feed)
    if step.code:
        return suite.fail(case, step.how(), step)
    if reason := differ(program.outputs, arrays, reference.expected(made, feed)):
        return suite.fail(case, reason, step)
    return suite.ok(case)


def check_written(suite, case, made, options):
    """As ONNX, without what was folded."""
    source, written = suite.work / f"{case}.onnx", suite.work / f"{case}.written.onnx"
    onnx.save(made, source)
    step = harness.run([suite.tool("cameoc"), source, "--emit=onnx", "--stop-after=normalized", "-o", written,
                        *options], 60)
    if step.code:
        return suite.fail(case, step.how(), step)
    result = onnx.load(written)
    left = {made.op_type for made in result.graph.node} & FOLDED
    if left:
        return suite.fail(case, f"is written with {', '.join(left)}", step)
    names = [made.name for made in result.graph.node]
    if len(set(names)) != len(names):
        return suite.fail(case, "has nodes of one name", step)
    feed, names = feed_of(made), [put.name for put in made.graph.output]
    if reason := differ(names, reference.expected(result, feed), reference.expected(made, feed)):
        return suite.fail(case, f"as ONNX: {reason}", step)
    return suite.ok(case)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    options = parser.parse_args()
    suite = harness.Suite("loops", options.build.resolve())
    tasks = []
    for part in (loops, scans, sequences):
        for name, made in part():
            case, flags = f"{part.__name__}-{name}", OPTIONS.get(name, [])
            tasks.append((check_written, f"{case}-written", made, flags))
            tasks += [(check, f"{case}{level}", made, [*flags, level]) for level in harness.LEVELS]
    for name, made in left_to_runs():
        tasks += [(check, f"left-{name}{level}", made, [level]) for level in harness.LEVELS]
    tasks = [task for task in tasks if re.search(options.filter, task[1])]
    for _ in harness.for_each(tasks, lambda task: task[0](suite, *task[1:]), options.jobs):
        pass
    for name, made, text in refusals():
        if re.search(options.filter, f"refused-{name}"):
            artefact.check_refusal(suite, name, made, text)
    return suite.close()


if __name__ == "__main__":
    sys.exit(main())
