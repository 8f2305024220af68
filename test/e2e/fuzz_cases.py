"""How operators that have no function of their own are drawn for a random model: by the cases of their rows."""
# SPDX-License-Identifier: Apache-2.0
import math

import numpy
import onnx

import reference
import row_cases
from fuzz_graphs import FLOATS, Redraw, as_input, assemble


def from_row(g, name):
    """A node of one of the cases. Numbers of the graph take the places of some that the case has."""
    schema = onnx.defs.get_schema(name, g.opset) if onnx.defs.has(name, max_inclusive_version=g.opset) else None
    if not schema or schema.deprecated:
        raise Redraw()
    row_cases.random = g.random
    case = g.choose(list(row_cases.CASES[name](schema.since_version)))
    operands = [value if value is None else operand(g, value) for value in case.inputs]
    feed = {value.name: value.array for value, given in zip(operands, case.inputs) if isinstance(given, numpy.ndarray)}
    model = model_of(name, operands, case, g.opset, feed)
    if reference.is_wrong_at_runtime(model, feed):
        raise Redraw()
    known = known_dims(model)

    def sizes(i, array):  # the runtime's own, since the inference is wrong of some
        return [size if is_known else g.symbol() for size, is_known in zip(array.shape, known[i] or [False] * array.ndim)]

    # Not exact: what reads the results may not depend on how they are rounded.
    g.add(name, operands, sizes, exact=False, outputs=case.outputs,
          counted=any(each is None or not all(each) for each in known), **case.attributes)


def operand(g, value):
    if isinstance(value, row_cases.Fixed):
        return g.constant(value.array)
    if value.dtype.type in FLOATS and g.chance(0.6):
        try:
            return taken(g, value)
        except Redraw:
            pass
    return g.given(value)


def taken(g, array):
    """A value of the graph, the same numbers again and again, in the shape of `array`."""
    def least(v):
        return math.prod(map(g.least_of, v.dims))

    x = g.pick(lambda v: v.exact and v.dtype is array.dtype.type and v.rank and least(v))
    g.add("Reshape", [x, g.ints(-1)], (g.symbol(),))
    places = numpy.arange(array.size).reshape(array.shape) % least(x)
    g.add("Gather", [g.values[-1], g.constant(places)], array.shape)
    return g.values[-1]


def model_of(name, operands, case, opset, feed):
    results = [f"y{i}" for i in range(case.outputs)]
    node = onnx.helper.make_node(name, [value.name if value else "" for value in operands], results, **case.attributes)
    held = [onnx.numpy_helper.from_array(value.array, value.name) for value in operands if value and value.name not in feed]
    return assemble([node], [as_input(*item) for item in feed.items()], results, held, opset)


def known_dims(model):
    """Of each result which sizes do not depend on what run-time operands hold; None where not even their number is
    known."""
    try:
        outputs = onnx.shape_inference.infer_shapes(model, data_prop=True).graph.output
    except onnx.shape_inference.InferenceError as error:
        raise Redraw() from error
    shapes = [output.type.tensor_type for output in outputs]
    return [[dim.HasField("dim_value") for dim in shape.shape.dim] if shape.HasField("shape") else None
            for shape in shapes]
