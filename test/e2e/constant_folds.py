#!/usr/bin/env python3
"""Operators that sort, choose and write at places, of constants, which cameoc computes, and of inputs. Ties, NaN, axes and indices from
the end, duplicates, empty results, all element types; and graphs whose shapes and branches follow from them. Beside
ONNX Runtime, and numbers that the case itself has where that has no kernel or no order."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import itertools
import re
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

import artefact
import harness
import reference

F32, F16, I64 = numpy.float32, numpy.float16, numpy.int64
FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
NAN = numpy.nan
REFUSED = 1


def integers(*values):
    return numpy.array(values, I64)


def drawn(shape, dtype=F32, seed=0, most=6):
    """Few different numbers, so that many are equal."""
    random = numpy.random.default_rng(seed)
    least = 0 if numpy.issubdtype(dtype, numpy.unsignedinteger) else -most
    return random.integers(least, most, shape).astype(dtype)


class Case:
    """A node of constants: `operands` None where one is left out, `outputs` "" for one that is left out."""

    def __init__(self, name, kind, operands, outputs=("y",), oracle=None, **attributes):
        self.name, self.operands, self.outputs, self.oracle = name, operands, outputs, oracle
        names = [f"c{i}" if operand is not None else "" for i, operand in enumerate(operands)]
        nodes = [helper.make_node(kind, names, list(outputs), "node", **attributes)]
        weights = {name: operand for name, operand in zip(names, operands) if operand is not None}
        # An input of the model's own, since ONNX Runtime and callers are used to one.
        graph = helper.make_graph(
            [*nodes, helper.make_node("Identity", ["x"], ["z"], "same")], "graph",
            [helper.make_tensor_value_info("x", FLOAT, [1])],
            [*[onnx.ValueInfoProto(name=output) for output in outputs if output],
             helper.make_tensor_value_info("z", FLOAT, [1])],
            [numpy_helper.from_array(array, name) for name, array in weights.items()])
        self.model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


    def given(self, feed):
        """The model with inputs in place of constants, and what they are."""
        model = onnx.ModelProto()
        model.CopyFrom(self.model)
        arrays = {weight.name: numpy_helper.to_array(weight) for weight in model.graph.initializer}
        model.graph.input.extend(helper.make_tensor_value_info(weight.name, weight.data_type, weight.dims)
                                 for weight in model.graph.initializer)
        model.graph.ClearField("initializer")
        return model, {**feed, **arrays}


def sorts():
    kinds = (F32, F16, numpy.float64, numpy.int32, I64, numpy.uint8, numpy.int8)
    for dtype, largest in itertools.product(kinds, (0, 1)):
        yield Case(f"topk-{numpy.dtype(dtype)}-{largest}", "TopK", [drawn((3, 9), dtype), integers(4)], ("v", "i"),
                   largest=largest)
    for axis, k in ((0, 2), (1, 3), (-1, 4), (-3, 0), (2, 4)):
        yield Case(f"topk-axis-{axis}-{k}", "TopK", [drawn((2, 3, 4), seed=1), integers(k)], ("v", "i"), axis=axis)
    yield Case("topk-values-only", "TopK", [drawn((7,)), integers(3)], ("v", ""))
    yield Case("topk-unsorted", "TopK", [numpy.array([3, 1, 2], F32), integers(3)], ("v", "i"), sorted=0,
               oracle=[numpy.array([3, 2, 1], F32), integers(0, 2, 1)])
    yield Case("topk-equal", "TopK", [numpy.zeros((2, 3), F32), integers(2)], ("v", "i"))
    yield Case("topk-zeros", "TopK", [numpy.array([0.0, -0.0, 0.0, -0.0], F32), integers(4)], ("v", "i"))
    # A NaN is the greatest, as onnx's reference sorts.
    nan = numpy.array([1, NAN, 3, numpy.inf, NAN, -numpy.inf], F32)
    yield Case("topk-nan-1", "TopK", [nan, integers(4)], ("v", "i"),
               oracle=[numpy.array([NAN, NAN, numpy.inf, 3], F32), integers(1, 4, 3, 2)])
    yield Case("topk-nan-0", "TopK", [nan, integers(5)], ("v", "i"), largest=0,
               oracle=[numpy.array([-numpy.inf, 1, 3, numpy.inf, NAN], F32), integers(5, 0, 2, 3, 1)])
    for dtype in (F32, numpy.float64, I64, numpy.int8):
        for ordered in (0, 1):
            yield Case(f"unique-{numpy.dtype(dtype)}-{ordered}", "Unique", [drawn((2, 8), dtype, 2)],
                       ("y", "i", "r", "c"), sorted=ordered)
    for axis in (0, 1, -1, -3):
        for ordered in (0, 1):
            yield Case(f"unique-axis-{axis}-{ordered}", "Unique", [drawn((4, 5, 2), F32, 3, 1)], ("y", "i", "r", "c"),
                       axis=axis, sorted=ordered)
    yield Case("unique-one-output", "Unique", [drawn((9,))])
    yield Case("unique-some-outputs", "Unique", [drawn((9,))], ("y", "", "r"))
    yield Case("unique-counts", "Unique", [drawn((9,))], ("y", "", "", "c"))
    yield Case("unique-equal", "Unique", [numpy.full((2, 3), 4, F32)], ("y", "i", "r", "c"))
    yield Case("unique-empty", "Unique", [numpy.zeros((0, 3), F32)], ("y", "i", "r", "c"),
               oracle=[numpy.zeros(0, F32), *[numpy.zeros(0, I64)] * 3])
    yield Case("unique-nan", "Unique", [numpy.array([NAN, 2, NAN, 1], F32)], ("y", "i", "r", "c"),
               oracle=[numpy.array([1, 2, NAN], F32), integers(3, 1, 0), integers(2, 1, 2, 0), integers(1, 1, 2)])


def choices():
    for dtype in (F32, I64, numpy.int32, numpy.uint8, numpy.bool_):
        array = drawn((3, 4), numpy.int64, 4, 2).astype(dtype)
        yield Case(f"nonzero-{numpy.dtype(dtype)}", "NonZero", [array])
    yield Case("nonzero-float16", "NonZero", [drawn((3, 4), F16, 4, 2)])
    yield Case("nonzero-rank-3", "NonZero", [drawn((2, 3, 2), F32, 5, 1)])
    yield Case("nonzero-none", "NonZero", [numpy.zeros((2, 3), F32)])
    yield Case("nonzero-all", "NonZero", [numpy.ones((2, 3), F32)])
    yield Case("nonzero-nan", "NonZero", [numpy.array([0.0, -0.0, NAN, 1e-45], F32)])
    yield Case("nonzero-empty", "NonZero", [numpy.zeros((0, 3), F32)])
    mask = numpy.array([True, False, True])
    for axis in (None, 0, 1, -1):
        for length in (3, 2):
            attributes = {} if axis is None else {"axis": axis}
            yield Case(f"compress-{axis}-{length}", "Compress", [drawn((3, 4)), mask[:length]], **attributes)
    yield Case("compress-none", "Compress", [drawn((3, 4)), numpy.zeros(3, bool)], axis=0)
    yield Case("compress-all", "Compress", [drawn((3, 4)), numpy.ones(3, bool)], axis=0)
    yield Case("compress-bytes", "Compress", [drawn((3,), numpy.uint8), mask])
    for axis in (0, 1, -1):
        indices = numpy.array([[0, -1, 1], [1, 0, -2]], I64)
        yield Case(f"gather-elements-{axis}", "GatherElements", [drawn((2, 3)) * 2 + 1, indices], axis=axis)
    yield Case("gather-elements-int32", "GatherElements", [drawn((4,)), numpy.array([3, -4], numpy.int32)])
    yield Case("gather-nd", "GatherND", [drawn((2, 3, 4)), numpy.array([[0, 1], [-1, -3]], I64)])
    yield Case("gather-nd-all", "GatherND", [drawn((2, 3)), numpy.array([[[0, 1]], [[1, -1]]], I64)])
    yield Case("gather-nd-batch", "GatherND", [drawn((2, 3, 4)), numpy.array([[[1]], [[-1]]], I64)], batch_dims=1)
    yield Case("gather-nd-batches", "GatherND", [drawn((2, 3, 4)), drawn((2, 3, 1), I64, 6, 4)], batch_dims=2)


WRITES = {"none": lambda old, new: new, "add": numpy.add, "mul": numpy.multiply, "max": numpy.maximum, "min": numpy.minimum}


def written(data, places, updates, operation):
    """One update after another, each rounded to the type."""
    result = data.copy()
    for place, update in zip(places, updates):
        result[place] = WRITES[operation](result[place], update)
    return [result]


def writes():
    operations = ("none", "add", "mul", "max", "min")
    for operation in operations:
        for dtype in (F32, I64, numpy.int32, F16, numpy.uint8):
            data, updates = drawn((3, 4), dtype, 7), drawn((2, 4), dtype, 8)
            indices = drawn((2, 4), I64, 9, 3)  # some of one place, some from the end
            # ONNX Runtime's kernels of narrow types are few.
            narrow = dtype in (F16, numpy.uint8)
            places = [(indices[i, j], j) for i in range(2) for j in range(4)]
            oracle = written(data, places, updates.ravel(), operation) if narrow else None
            yield Case(f"scatter-elements-{operation}-{numpy.dtype(dtype)}", "ScatterElements", [data, indices, updates],
                       reduction=operation, oracle=oracle)
            rows = numpy.array([[1], [-1], [1]], I64)
            updates = drawn((3, 4), dtype, 10)
            oracle = written(data, rows[:, 0], updates, operation) if narrow else None
            yield Case(f"scatter-nd-{operation}-{numpy.dtype(dtype)}", "ScatterND", [data, rows, updates],
                       reduction=operation, oracle=oracle)
    for axis in (0, 1, -1):
        yield Case(f"scatter-elements-axis-{axis}", "ScatterElements",
                   [drawn((3, 3)), numpy.array([[2, -1], [0, 1]], I64), drawn((2, 2))], axis=axis)
    yield Case("scatter-elements-none", "ScatterElements", [drawn((3,)), integers(), numpy.zeros(0, F32)])
    yield Case("scatter-nd-elements", "ScatterND", [drawn((2, 3)), numpy.array([[0, 1], [1, -1], [0, 1]], I64),
                                                   numpy.array([7, 8, 9], F32)])
    yield Case("scatter-nd-equal", "ScatterND", [numpy.zeros((2, 3), F32), numpy.array([[1]], I64), numpy.ones((1, 3), F32)],
               reduction="add")
    # A NaN is not lost, as in Max and Min.
    for operation in ("max", "min"):
        yield Case(f"scatter-nan-{operation}", "ScatterElements",
                   [numpy.array([NAN, 1, 2], F32), integers(0, 1, 2), numpy.array([5, NAN, 5], F32)], reduction=operation,
                   oracle=[numpy.array([NAN, NAN, 5 if operation == "max" else 2], F32)])
    yield Case("scatter-half", "ScatterElements", [numpy.array([2048], F16), integers(0, 0), numpy.array([1, 1], F16)],
               reduction="add", oracle=[numpy.array([2048], F16)])


def boxes():
    random = numpy.random.default_rng(11)
    corners = random.uniform(0, 10, (2, 12, 2)).astype(F32)
    sizes = random.uniform(1, 6, (2, 12, 2)).astype(F32)
    scores = (random.integers(0, 8, (2, 3, 12)) / 8).astype(F32)
    flipped = numpy.concatenate([corners + sizes, corners], 2)
    for name, given, centered in (("corners", numpy.concatenate([corners, corners + sizes], 2), 0),
                                  ("flipped", flipped, 0), ("centers", numpy.concatenate([corners, sizes], 2), 1)):
        for most, share, least in ((3, 0.3, 0.2), (12, 0.0, None), (12, 0.5, 0.5), (0, 0.5, 0.0), (5, 1.0, 2.0), (4, None, None)):
            operands = [given, scores, integers(most), share if share is None else numpy.array([share], F32),
                        least if least is None else numpy.array([least], F32)]
            yield Case(f"boxes-{name}-{most}-{share}-{least}", "NonMaxSuppression", operands, center_point_box=centered)
    yield Case("boxes-no-limit", "NonMaxSuppression", [flipped, scores])
    same = numpy.tile(numpy.array([0, 0, 1, 1], F32), (1, 3, 1))
    yield Case("boxes-equal", "NonMaxSuppression", [same, numpy.array([[[0.5, 0.5, 0.7]]], F32), integers(3),
                                                   numpy.array(0.5, F32), numpy.array(0.0, F32)])


def graphs():
    """(name, model, feed): shapes, branches and loops that follow from them."""
    x = numpy.arange(12, dtype=F32).reshape(3, 4)

    def made(name, nodes, weights):
        return artefact.model(name, nodes, [("x", FLOAT, ["N", 4])], [("y", FLOAT, None)], weights)

    mask = {"mask": numpy.array([1, 0, 1, 1], I64)}
    yield "columns", made("columns", [
        helper.make_node("NonZero", ["mask"], ["places"], "find"),
        helper.make_node("Squeeze", ["places", "zero"], ["list"], "list"),
        helper.make_node("Gather", ["x", "list"], ["y"], "take", axis=1)], {**mask, "zero": integers(0)}), {"x": x}
    yield "count", made("count", [
        helper.make_node("NonZero", ["mask"], ["places"], "find"),
        helper.make_node("Shape", ["places"], ["sizes"], "sizes", start=1),
        helper.make_node("Concat", ["one", "sizes"], ["to"], "join", axis=0),
        helper.make_node("ReduceSum", ["x", "axes"], ["sum"], "sum"),
        helper.make_node("Expand", ["sum", "to"], ["y"], "repeat")],
        {**mask, "one": integers(1), "axes": integers(0, 1)}), {"x": x}
    yield "sorted", made("sorted", [
        helper.make_node("TopK", ["weights", "k"], ["v", "i"], "best"),
        helper.make_node("Unique", ["i"], ["u"], "once"),
        helper.make_node("Gather", ["x", "u"], ["y"], "take", axis=1)],
        {"weights": numpy.array([1, 5, 5, 0], F32), "k": integers(2)}), {"x": x}
    branch = [helper.make_graph([helper.make_node(kind, ["x"], [kind])], kind, [],
                                [helper.make_tensor_value_info(kind, FLOAT, None)]) for kind in ("Neg", "Abs")]
    yield "branch", made("branch", [
        helper.make_node("Compress", ["mask", "which"], ["kept"], "keep"),
        helper.make_node("Size", ["kept"], ["n"], "count"), helper.make_node("Equal", ["n", "two"], ["c"], "equal"),
        helper.make_node("If", ["c"], ["y"], "if", then_branch=branch[0], else_branch=branch[1])],
        {**mask, "which": numpy.array([True, False, True]), "two": numpy.array(2, I64)}), {"x": x}
    yield "written", made("written", [
        helper.make_node("ScatterND", ["shape", "place", "size"], ["to"], "write"),
        helper.make_node("Reshape", ["x", "to"], ["y"], "reshape")],
        {"shape": integers(1, 1, 1), "place": numpy.array([[-2]], I64), "size": integers(-1)}), {"x": x}


def refusals():
    """(name, case, text): what is wrong, or has no order, is not folded."""
    yield Case("topk-too-many", "TopK", [drawn((3,)), integers(4)], ("v", "i")), "k is 4, along an axis of 3 elements"
    yield Case("compress-too-long", "Compress", [drawn((3,)), numpy.ones(4, bool)]), "a condition of 4 elements for 3"
    yield Case("gather-beyond", "GatherElements", [drawn((3,)), integers(3)]), "(GatherElements, opset 21)"
    yield Case("scatter-beyond", "ScatterElements", [drawn((3,)), integers(-4), numpy.ones(1, F32)]), \
        "index -4 into a dimension of size 3"


def check(suite, name, model, feed, outputs, wanted, levels=harness.LEVELS, options=()):
    if isinstance(wanted, str):
        return suite.fail(name, wanted)
    for level in levels:
        program = artefact.Artefact(suite, re.sub(r"[^\w-]", "_", name) + level, model, level, *options)
        step, arrays = program.run(feed)
        reason = step.how() if step.code else next(filter(None, (
            reference.differs(output, array, right) for output, array, right in zip(outputs, arrays, wanted))), None)
        if reason:
            suite.fail(name + level, reason, program.step, step)
        else:
            suite.ok(name + level)
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    options = parser.parse_args()
    suite = harness.Suite("constant-folds", options.build.resolve())
    feed = {"x": numpy.ones(1, F32)}
    for case in itertools.chain(sorts(), choices(), writes(), boxes()):
        if not re.search(options.filter, case.name):
            continue
        wanted = [*case.oracle, feed["x"]] if case.oracle else reference.expected(case.model, feed)
        outputs = [output.name for output in case.model.graph.output]
        check(suite, case.name, case.model, feed, outputs, wanted)
        # A run makes the same of them.
        check(suite, f"{case.name}-given", *case.given(feed), outputs, wanted, ["-O2"], ["--sim-checks-only"])
    for name, model, given in graphs():
        if re.search(options.filter, f"graph-{name}"):
            check(suite, f"graph-{name}", model, given, ["y"], reference.expected(model, given))
    for case, text in refusals():
        if re.search(options.filter, case.name):
            artefact.check_refusal(suite, case.name, case.model, text)
    return suite.close()


if __name__ == "__main__":
    sys.exit(main())
