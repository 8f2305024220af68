#!/usr/bin/env python3
"""If whose condition the compiler knows: a constant, or what follows from shapes, as exporters write squeezes and
checks. The branch that is taken is compiled, at every level, beside ONNX Runtime. Of If whose condition only a run knows
both branches are computed, or the run takes one of them; ranks that differ are refused by name."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import re
import sys

import numpy
from onnx import TensorProto, helper, numpy_helper

import artefact
import harness
import reference

FLOAT, BOOL, INT64 = TensorProto.FLOAT, TensorProto.BOOL, TensorProto.INT64
I64 = numpy.int64
X = numpy.arange(6, dtype=numpy.float32).reshape(2, 3) - 2
ROW = X[:1]


def node(kind, inputs, output, **attributes):
    return helper.make_node(kind, inputs, [output] if isinstance(output, str) else output,
                            f"make_{output if isinstance(output, str) else output[0]}", **attributes)


def branch(name, nodes, outputs, weights=None):
    """Of the outputs (name, sizes)."""
    return helper.make_graph(nodes, name, [], [helper.make_tensor_value_info(key, FLOAT, sizes)
                                               for key, sizes in outputs],
                             [numpy_helper.from_array(array, key) for key, array in (weights or {}).items()])


def choice(condition, output, then, otherwise):
    return node("If", [condition], output, then_branch=then, else_branch=otherwise)


def relu_or_neg(prefix="", source="x", sizes=None):
    return (branch(f"{prefix}then", [node("Relu", [source], f"{prefix}t")], [(f"{prefix}t", sizes)]),
            branch(f"{prefix}else", [node("Neg", [source], f"{prefix}e")], [(f"{prefix}e", sizes)]))


def model(name, nodes, weights, sizes=(2, 3), opset=17):
    return artefact.model(name, nodes, [("x", FLOAT, sizes)], [("y", FLOAT, None)], weights, opset=opset)


def rank_is(rank):
    """Nodes that compare the rank of x with a number."""
    return [node("Shape", ["x"], "shape"), node("Size", ["shape"], "rank"), node("Equal", ["rank", "wanted"], "c")], \
        {"wanted": numpy.array(rank, I64)}


def size_is(axis, size):
    return [node("Shape", ["x"], "shape"), node("Gather", ["shape", "axis"], "size"),
            node("Equal", ["size", "wanted"], "c")], {"axis": numpy.array(axis, I64), "wanted": numpy.array(size, I64)}


def squeeze(source="x", prefix=""):
    """torch's squeeze of a dimension that may not be 1: branches of different rank."""
    then = branch(f"{prefix}then", [node("Squeeze", [source, f"{prefix}axes"], f"{prefix}t")],
                  [(f"{prefix}t", None)], {f"{prefix}axes": numpy.array([0], I64)})
    return then, branch(f"{prefix}else", [node("Identity", [source], f"{prefix}e")], [(f"{prefix}e", None)])


def cases():
    """(name, model, feed, options of cameoc)"""
    for truth in (True, False):
        word = str(truth).lower()
        yield f"initializer-{word}", model("initializer", [choice("c", "y", *relu_or_neg())],
                                           {"c": numpy.array(truth)}), X, ()
        yield f"one-element-{word}", model("one_element", [choice("c", "y", *relu_or_neg())],
                                           {"c": numpy.array([truth])}), X, ()
        nodes, weights = rank_is(2 if truth else 3)
        yield f"rank-{word}", model("rank", [*nodes, choice("c", "y", *relu_or_neg())], weights), X, ()
        nodes, weights = size_is(0, 1)
        yield f"squeeze-{word}", model("squeeze", [*nodes, choice("c", "y", *squeeze())], weights,
                                       (1 if truth else 2, 3)), ROW if truth else X, ()
        # An open batch says nothing of the other dimensions.
        nodes, weights = size_is(1, 3 if truth else 4)
        yield f"open-batch-{word}", model("open_batch", [*nodes, choice("c", "y", *relu_or_neg())], weights,
                                          ("N", 3)), X, ()
        nodes, weights = size_is(0, 2 if truth else 1)
        yield f"fixed-{word}", model("fixed", [*nodes, choice("c", "y", *relu_or_neg())], weights, ("N", 3)), X, \
            ("--shapes=x:2x3",)
        # What only folding computes.
        folded = [node("Xor", ["c", "d"], "e"), choice("e", "y", *relu_or_neg())]
        yield f"folded-{word}", model("folded", folded, {"c": numpy.array(truth), "d": numpy.array(False)}), X, ()
        for level in (1, 13, 21):
            yield f"opset-{level}-{word}", model("opset", [choice("c", "y", *relu_or_neg())],
                                                 {"c": numpy.array(truth)}, opset=max(level, 9)), X, ()
    # One If after another: the condition comes from the first one's result.
    nodes, weights = size_is(0, 1)
    chain = [*nodes, choice("c", "h", *squeeze()), node("Shape", ["h"], "shape2"), node("Size", ["shape2"], "rank"),
             node("Equal", ["rank", "one"], "c2"), choice("c2", "y", *relu_or_neg("2", "h"))]
    weights["one"] = numpy.array(1, I64)
    for sizes, array in (((1, 3), ROW), ((2, 3), X)):
        yield f"chain-{sizes[0]}", model("chain", chain, weights, sizes), array, ()
    inner = branch("inner", [choice("d", "t", *relu_or_neg("i"))], [("t", None)])
    for truth in (True, False):
        nested = [choice("c", "y", inner, branch("outer", [node("Abs", ["x"], "e")], [("e", None)]))]
        yield f"nested-{truth}".lower(), model("nested", nested, {"c": numpy.array(True), "d": numpy.array(truth)}), X, ()
    # Branches that only pass on what is there, and that take outer values and constants of their own.
    passes = [choice("c", "y", branch("then", [], [("x", None)]), branch("else", [], [("w", None)]))]
    for truth in (True, False):
        yield f"passes-{truth}".lower(), model("passes", passes, {"c": numpy.array(truth), "w": X + 1}), X, ()
    captures = [node("Exp", ["x"], "h"),
                choice("c", "y", branch("then", [node("Add", ["h", "own"], "a"), node("Mul", ["a", "w"], "t")],
                                        [("t", None)], {"own": X}), relu_or_neg()[1])]
    yield "captures", model("captures", captures, {"c": numpy.array(True), "w": X + 1}), X, ()
    several = [choice("c", ["h", "g"], branch("then", [node("Relu", ["x"], "t"), node("Abs", ["x"], "u")],
                                              [("t", None), ("u", None)]),
                      branch("else", [node("Neg", ["x"], "e")], [("e", None), ("x", None)])),
               node("Sub", ["h", "g"], "y")]
    for truth in (True, False):
        yield f"several-{truth}".lower(), model("several", several, {"c": numpy.array(truth)}), X, ()
    # A branch whose declared shape is wrong.
    wrong = [choice("c", "y", *relu_or_neg(sizes=[5]))]
    yield "declared-wrong", model("declared_wrong", wrong, {"c": numpy.array(True)}), X, ()


def positive(sizes, least=0.0):
    """Nodes that compare the sum of x with a number, on the device."""
    return [node("ReduceSum", ["x"], "s", keepdims=0), node("Greater", ["s", "least"], "c")], \
        {"least": numpy.full(sizes, least, numpy.float32)}


def open_cases():
    """Conditions that only a run knows: (name, model, feed, options of cameoc)"""
    for truth in (True, False):
        word, feed = str(truth).lower(), X if (X.sum() > 0) == truth else -X
        for sizes in ((), (1,)): # a condition with one dimension, too
            nodes, weights = positive(sizes)
            rank = len(sizes)
            yield f"device-{rank}-{word}", model("device", [*nodes, choice("c", "y", *relu_or_neg())], weights), feed, ()
            yield f"device-open-{rank}-{word}", model("device_open", [*nodes, choice("c", "y", *relu_or_neg())], weights,
                                                      ("N", 3)), feed, ()
        nodes, weights = positive(())
        # What is divided by 0, or whose root is taken, in the branch that is not taken changes nothing.
        hostile = branch("then", [node("Sqrt", ["x"], "r"), node("Div", ["x", "least"], "q"), node("Add", ["r", "q"], "t")],
                         [("t", None)])
        fine = branch("else", [node("Neg", ["x"], "e")], [("e", None)])
        pair = (fine, hostile) if truth else (hostile, fine)
        yield f"device-hostile-{word}", model("hostile", [*nodes, choice("c", "y", *pair)], weights), feed, ()
        inner = choice("c", "i", *relu_or_neg("inner_"))
        outer = branch("then", [inner, node("Abs", ["i"], "t")], [("t", None)])
        other = branch("else", [node("Sin", ["x"], "e")], [("e", None)])
        yield f"device-nested-{word}", model("nested", [*nodes, choice("c", "y", outer, other)], weights), feed, ()
        # Branches of two shapes: one of them is run.
        other = (relu_or_neg()[0], branch("else", [node("Concat", ["x", "x"], "e", axis=0)], [("e", None)]))
        yield f"device-shapes-{word}", model("device_shapes", [*positive(())[0], choice("c", "y", *other)],
                                             positive(())[1], ("N", 3)), feed, ()
        yield f"device-and-{word}", conjunction(1, "N", truth), X, ()
        yield f"device-and-fixed-{word}", conjunction(1, 2, truth), X, ()
    nodes, weights = size_is(0, 2)
    yield "open-size", model("open_size", [*nodes, choice("c", "y", *relu_or_neg())], weights, ("N", 3)), X, ()


def conjunction(count, rows, truth):
    """`a and b` of torch: its branches are a comparison of `count` rows behind the greatest one, whose size only a run knows, and a
    scalar."""
    nodes = [node("ReduceSum", ["x", "along"], "sums", keepdims=0), node("ArgMin", ["sums"], "at", axis=0),
             node("Add", ["at", "count"], "end"), node("Slice", ["sums", "at", "end"], "least_sum"),
             node("Less", ["least_sum", "most"], "is_small")]
    inner = branch("is_near", [node("Greater", ["least_sum", "least"], "t")], [("t", None)]), \
        branch("is_far", [node("Identity", ["no"], "e")], [("e", None)])
    for each in inner:
        each.output[0].type.tensor_type.elem_type = TensorProto.BOOL
    shapes = relu_or_neg()[0], branch("else", [node("Concat", ["x", "x"], "e2", axis=0)], [("e2", None)])
    weights = {"along": numpy.array([1], I64), "count": numpy.array([count], I64), "most": numpy.array([1e9], numpy.float32),
               "least": numpy.array([-1e9 if truth else 1e9], numpy.float32), "no": numpy.array(False)}
    return model("conjunction", [*nodes, choice("is_small", "both", *inner), node("Cast", ["both"], "decides", to=TensorProto.BOOL),
                                 choice("decides", "y", *shapes)], weights, (rows, 3))


def check_count(suite):
    """A condition that turns out to have two elements ends the run."""
    made = conjunction(2, "N", True)
    program = artefact.Artefact(suite, "condition-of-two", made)
    step, _ = program.run({"x": numpy.concatenate([-10 + 0 * X, X])})
    if step.code != 2 or "2 elements" not in step.output:
        return suite.fail("condition-of-two", step.how(), step)
    return suite.ok("condition-of-two")


def refusals():
    """(name, model, text)"""
    nodes, weights = size_is(0, 1)
    yield "open-rank", model("open_rank", [*nodes, choice("c", "y", *squeeze())], weights, ("N", 3)), \
        "node 'make_y' (If, opset 17): its branches make output 0 of rank 1 and 2; nearest supported: one rank, or a " \
        "condition that is known when the model is compiled, by --shapes or --shape-values; it is not folded: its " \
        "condition depends on sizes or numbers that only a run knows"
    yield "two-conditions", model("two_conditions", [choice("c", "y", *relu_or_neg())], {"c": numpy.array([True, False])}), \
        "node 'make_y' (If, opset 17): its condition has 2 elements along a dimension"


def unsupported_branch(truth):
    """A branch that holds what is not supported, which is no harm where it is not taken."""
    other = branch("else", [node("Cast", ["x"], "text", to=TensorProto.STRING),
                            node("Cast", ["text"], "e", to=TensorProto.FLOAT)], [("e", None)])
    return model("unsupported", [choice("c", "y", relu_or_neg()[0], other)], {"c": numpy.array(truth)})


def check(suite, case, made, array, options):
    program = artefact.Artefact(suite, case, made, *options)
    step, arrays = program.run({"x": array})
    if step.code:
        return suite.fail(case, step.how(), step)
    if reason := reference.differs("y", arrays[0], reference.expected(made, {"x": array})[0]):
        return suite.fail(case, reason, step)
    return suite.ok(case)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    options = parser.parse_args()
    suite = harness.Suite("branches", options.build.resolve())
    chosen = [*cases(), *open_cases(), ("unsupported-not-taken", unsupported_branch(True), X, ())]
    for name, made, array, flags in chosen:
        for level in harness.LEVELS:
            if re.search(options.filter, name):
                check(suite, f"{name}{level}", made, array, [*flags, level])
    if re.search(options.filter, "condition-of-two"):
        check_count(suite)
    for name, made, text in (*refusals(), ("unsupported-taken", unsupported_branch(False), "(Cast, opset 17)")):
        if re.search(options.filter, name):
            artefact.check_refusal(suite, name, made, text)
    return suite.close()


if __name__ == "__main__":
    sys.exit(main())
