#!/usr/bin/env python3
"""Shapes that a model declares of its values, and that its operators do not make: warned of, with the value and
both shapes, and computed as ONNX Runtime does. Wrong element types, and inputs' shapes, are errors."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import re
import sys

import numpy
from onnx import TensorProto, helper, numpy_helper

import artefact
import harness
import reference

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
# What may be declared of a value of two rows of three: its sizes, and whether that contradicts it.
SHAPES = {"right": ([2, 3], False), "names": (["N", "M"], False), "size": ([2, 4], True), "rank": ([6], True),
          "scalar": ([], True), "more": ([1, 2, 3], True), "half-named": (["N", 4], True)}
X = numpy.arange(6, dtype=numpy.float32).reshape(2, 3) - 2
W = numpy.array([1, -2, 3], numpy.float32)


def models(shape, element=FLOAT):
    """The model, the value that is declared, and the ONNX name of the node or value that is spoken of."""
    x, y = ("x", FLOAT, [2, 3]), ("y", FLOAT, [2, 3])
    relu, add = helper.make_node("Relu", ["x"], ["h"], "first"), helper.make_node("Add", ["h", "w"], ["y"], "second")
    weights = {"w": W}
    yield "output", artefact.model("output", [relu, add], [x], [("y", element, shape)], weights), "second"
    yield "value", artefact.model("value", [relu, add], [x], [y], weights, infos=[("h", element, shape)]), "first"
    yield "both", artefact.model("both", [relu, add], [x], [("y", element, shape), ("h", element, shape)],
                                 weights), "first"
    yield "input", artefact.model("input", [relu, add], [x], [y, ("x", element, shape)], weights), "x"
    matrix = {"w": X + 1}
    yield "initializer", artefact.model("initializer", [relu, add], [x], [y], matrix,
                                        infos=[("w", element, shape)]), "w"
    yield "initializer-output", artefact.model("initializer_output", [relu, add], [x], [y, ("w", element, shape)],
                                               matrix), "w"
    constant = helper.make_node("Constant", [], ["w"], "held", value=numpy_helper.from_array(X))
    yield "constant", artefact.model("constant", [constant, relu, add], [x], [y], {},
                                     infos=[("w", element, shape)]), "w"
    if element != FLOAT:
        return
    # What is declared of a size that only a run knows.
    yield "open", artefact.model("open", [relu, add], [("x", FLOAT, ["B", 3])], [("y", FLOAT, ["B", 3])], weights,
                                 infos=[("h", element, shape)]), "first"
    shape_of = helper.make_node("Shape", ["h"], ["s"], "shape")
    back = helper.make_node("Reshape", ["y", "s"], ["z"], "back")
    yield "computed-with", artefact.model("computed_with", [relu, shape_of, add, back], [x], [("z", FLOAT, [2, 3])],
                                          weights, infos=[("h", element, shape), ("s", INT64, [5])]), "first"


def check(suite, case, made, spoken, isWrong):
    program = artefact.Artefact(suite, case, made)
    if program.step.code:
        return suite.fail(case, program.step.how(), program.step)
    warnings = [line for line in program.step.output.splitlines() if "warning: " in line]
    expects = isWrong or case.startswith("computed-with")
    if bool(warnings) != expects or (isWrong and not any(re.search(rf"'{spoken}'", line) for line in warnings)):
        return suite.fail(case, f"warnings: {warnings}", program.step)
    if not all(line.endswith("; the declaration is ignored") for line in warnings):
        return suite.fail(case, f"a warning says something else: {warnings}", program.step)
    step, arrays = program.run({"x": X})
    if step.code:
        return suite.fail(case, step.how(), step)
    # ONNX Runtime refuses some outputs that are declared so; what they are does not depend on it.
    bare = type(made)()
    bare.CopyFrom(made)
    del bare.graph.value_info[:]
    for output in bare.graph.output:
        output.type.tensor_type.ClearField("shape")
    for name, array, wanted in zip(program.outputs, arrays, reference.expected(bare, {"x": X}), strict=True):
        if reason := reference.differs(name, array, wanted):
            return suite.fail(case, reason, step)
    return suite.ok(case)


def check_refused(suite, case, made, text):
    program = artefact.Artefact(suite, case, made)
    if program.step.code == 1 and text in program.step.output:
        suite.ok(case)
    else:
        suite.fail(case, f"{program.step.how()}; '{text}' is wanted", program.step)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    options = parser.parse_args()
    suite = harness.Suite("declared-shapes", options.build.resolve())
    for label, (shape, isWrong) in SHAPES.items():
        for name, made, spoken in models(shape):
            if re.search(options.filter, f"{name}-{label}"):
                check(suite, f"{name}-{label}", made, spoken, isWrong)
    for name, made, _ in models([2, 3], INT64):
        if re.search(options.filter, f"{name}-type"):
            check_refused(suite, f"{name}-type", made, "declared to be int64")
    # Callers go by what inputs are declared to be, also those that have a default.
    held = artefact.model("held", [helper.make_node("Add", ["x", "w"], ["y"], "add")],
                          [("x", FLOAT, [2, 3]), ("w", FLOAT, [4])], [("y", FLOAT, [2, 3])], {"w": W})
    if re.search(options.filter, "default"):
        check_refused(suite, "default", held, "'w' is declared to be float[4] but is float[3]")
    return suite.close()


if __name__ == "__main__":
    sys.exit(main())
