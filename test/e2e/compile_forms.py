"""The forms that models of others have and tests of results seldom: scales that cancel, casts there and
back, nodes that do nothing, movements down to a single value, operands of equal elements, sizes that
are open without a name, tensors of FP16. Each function takes a Graph of fuzz_graphs.py and adds a few
nodes; what cannot be drawn raises Redraw."""
# SPDX-License-Identifier: Apache-2.0
import numpy
from onnx import TensorProto, helper, numpy_helper

import fuzz_graphs
import fuzz_operators
import graph_forms
from fuzz_graphs import F16, F32, F64, I32, I64, NUMBERS, Redraw
from graph_forms import last, scaled

FORMS = []  # functions; those that are drawn more often come more often


def form(weight=1):
    """Registers a function, `weight` times."""
    def add(function):
        FORMS.extend([function] * weight)
        return function
    return add


def floats(g, rank=None):
    return g.floats(rank=rank, types=(F32,))


def apply(g, name, *inputs, dims=None, **attributes):
    """One node; its result, as large as the first input unless `dims` says others."""
    g.add(name, list(inputs), inputs[0].dims if dims is None else dims, **attributes)
    return last(g)


# --- scales and sums, which may cancel
@form(4)
def scales(g):
    x = floats(g)
    for _ in range(g.integer(1, 5)):
        x = scaled(g, x)


def product(g, x):
    """A product with constant weights: along the last dimension, or over images."""
    if x.rank >= 3 and isinstance(x.dims[1], int) and g.chance(0.7):
        fuzz_operators.conv(g, "Conv")
    elif x.rank == 2 and g.chance(0.5):
        fuzz_operators.gemm(g, "Gemm")
    else:
        fuzz_operators.matmul(g, "MatMul")
    return last(g)


@form(5)
def scales_around_product(g):
    """Scales, pads and normalisations on both sides of products."""
    x = floats(g, rank=(2, 3, 4))
    for _ in range(g.integer(2, 4)):
        kind = g.integer(0, 4)
        if kind == 0:
            x = product(g, x)
        elif kind == 1:
            fuzz_operators.pad(g, "Pad")
        elif kind == 2 and x.rank >= 3:
            fuzz_operators.channel_norm(g, "BatchNormalization")
        else:
            x = scaled(g, x)
    product(g, x)


# --- pads, casts, nothing

@form(2)
def pads(g):
    for _ in range(g.integer(1, 3)):
        fuzz_operators.pad(g, "Pad")
    if g.chance(0.5):
        fuzz_operators.pool(g, g.choose(["MaxPool", "AveragePool"]))


@form(2)
def casts(g):
    """There and back, by other types, with work in between."""
    x = floats(g)
    for _ in range(g.integer(1, 3)):
        kind = g.choose([F16, F64, I32, I64, F32])
        x = apply(g, "Cast", x, to=helper.np_dtype_to_tensor_dtype(numpy.dtype(kind)))
        if g.chance(0.4):
            x = apply(g, g.choose(["Abs", "Neg", "Identity"]), x)
        if g.chance(0.3):
            x = apply(g, "Add", x, x)
    apply(g, "Cast", x, to=TensorProto.FLOAT)


def nothing(g, x):
    """A node that gives what it is given."""
    kind = g.integer(0, 11)
    if kind == 0:
        return apply(g, g.choose(["Identity", "Dropout"]), x)
    if kind == 1:
        return apply(g, "Mul", x, g.constant(numpy.array(1, F32)))
    if kind == 2:
        return apply(g, g.choose(["Add", "Sub"]), x, g.constant(numpy.array(0, F32)))
    if kind == 3 and x.rank:
        return apply(g, "Transpose", x, perm=list(range(x.rank)))
    if kind == 4 and x.rank:
        return apply(g, "Concat", x, axis=g.integer(-x.rank, x.rank - 1))
    if kind == 5:
        return apply(g, g.choose(["Sum", "Max", "Min", "Mean"]), x)
    if kind == 6 and x.rank:
        return apply(g, "Pad", x, g.ints(*[0] * (2 * x.rank)))
    if kind == 7 and x.rank:
        return apply(g, "Slice", x, g.ints(0), g.ints(2 ** 63 - 1), g.ints(g.integer(0, x.rank - 1)))
    if kind == 8:
        return apply(g, "Expand", x, g.ints(*[1] * x.rank))
    if kind == 9 and x.rank:
        return apply(g, "Tile", x, g.ints(*[1] * x.rank))
    if kind == 10:
        axis = g.integer(0, x.rank)
        y = apply(g, "Unsqueeze", x, g.ints(axis), dims=(*x.dims[:axis], 1, *x.dims[axis:]))
        return apply(g, "Squeeze", y, g.ints(axis), dims=x.dims)
    return apply(g, "Reshape", x, g.ints(*[0] * x.rank))


@form(2)
def identities(g):
    x = floats(g)
    for _ in range(g.integer(1, 4)):
        x = nothing(g, x)
    if g.chance(0.5):
        graph_forms.activation(g, x)


# --- down to a single value, and up again

def without(dims, axis):
    return (*dims[:axis], *dims[axis + 1:])


def sliced(start, end, step):
    """A way to one element of a dimension: by a slice."""
    def way(g, x, axis):
        kept = (*x.dims[:axis], 1, *x.dims[axis + 1:])
        x = apply(g, "Slice", x, g.ints(start), g.ints(end), g.ints(axis), g.ints(step), dims=kept)
        return apply(g, "Squeeze", x, g.ints(axis), dims=without(x.dims, axis))
    return way


def gathered(place):
    def way(g, x, axis):
        place_of = g.constant(numpy.array(place, I64))
        return apply(g, "Gather", x, place_of, dims=without(x.dims, axis), axis=axis)
    return way


def reduced(name):
    """All of a dimension, whose size of 1 is taken off by itself."""
    def way(g, x, axis):
        kept = (*x.dims[:axis], 1, *x.dims[axis + 1:])
        x = apply(g, name, x, g.ints(axis), dims=kept, keepdims=1)
        return apply(g, "Squeeze", x, g.ints(axis), dims=without(x.dims, axis))
    return way


# Ways to a dimension less.
WAYS = {"first": sliced(0, 1, 1), "last": sliced(-1, 2 ** 63 - 1, 1),
        "long-step": sliced(0, 2 ** 31, 2 ** 31), "strided": sliced(0, 9, 9),
        "backward": sliced(-1, -2, -1), "far-backward": sliced(-1, -2 ** 63, -2 ** 31),
        "gather": gathered(0), "gather-last": gathered(-1), "max": reduced("ReduceMax"),
        "sum": reduced("ReduceSum"), "mean": reduced("ReduceMean")}


def one_less(g, x):
    """A dimension less, by an element of it or by all of them."""
    return WAYS[g.choose(list(WAYS))](g, x, g.integer(0, x.rank - 1))


@form(4)
def single(g):
    """A single value, by one dimension after the other or at once, and what is done with it."""
    x = floats(g)
    while x.rank > 1 or (x.rank == 1 and g.chance(0.8)):
        x = one_less(g, x)
        if g.chance(0.3):
            x = graph_forms.activation(g, x)
    if x.rank == 1 and x.array.size == 1:
        x = apply(g, "Squeeze", x, dims=()) if x.fixed and g.chance(0.5) else \
            apply(g, "Reshape", x, g.constant(numpy.zeros(0, I64)), dims=())
    if g.chance(0.5):
        x = scaled(g, x)
    if x.rank == 0 and g.chance(0.6):
        rank = g.integer(1, 3)
        ones = apply(g, "Reshape", x, g.ints(*[1] * rank), dims=(1,) * rank)
        apply(g, "Expand", ones, g.ints(*[3] * rank), dims=(3,) * rank)
    # An open size that is 1 today does not broadcast in other runs.
    if g.chance(0.5) and all(dim == 1 for dim in x.dims):
        graph_forms.combine(g, floats(g), x)


# --- equal elements

def equal(g, shape):
    """A tensor of equal elements, made by operators."""
    value = g.choose(NUMBERS)
    kind = g.integer(0, 3)
    if kind == 0:
        x = apply(g, "Expand", g.constant(numpy.array(value, F32)), g.ints(*shape), dims=tuple(shape))
    elif kind == 1 and shape:
        one = g.constant(numpy.full([1] * len(shape), value, F32))
        x = apply(g, "Tile", one, g.ints(*shape), dims=tuple(shape))
    else:
        number = numpy_helper.from_array(numpy.array([value], F32), "value")
        x = apply(g, "ConstantOfShape", g.constant(numpy.array(shape, I64)), dims=tuple(shape),
                  value=number)
    if g.chance(0.3):
        x = apply(g, g.choose(["Identity", "Neg", "Relu"]), x)
    return x


def equal_like(g, x):
    """The same, as large as another value."""
    g.add("Shape", [x], (x.rank,))
    shape = last(g)
    if g.chance(0.5):
        one = g.constant(numpy.full([1] * g.integer(0, x.rank), g.choose(NUMBERS), F32))
        return apply(g, "Expand", one, shape, dims=x.dims)
    number = numpy_helper.from_array(numpy.array([g.choose(NUMBERS)], F32), "value")
    return apply(g, "ConstantOfShape", shape, dims=x.dims, value=number)


@form(3)
def equal_operand(g):
    """Equal elements as an operand of elementwise work, of movements and of reductions."""
    x = floats(g)
    y = equal_like(g, x) if g.chance(0.5) else equal(
        g, [dim if isinstance(dim, int) and g.chance(0.7) else 1 for dim in x.dims])
    kind = g.integer(0, 4)
    if kind == 0 and x.rank and y.dims == x.dims:
        graph_forms.concat(g, [x, y] if g.chance(0.5) else [y, x], g.integer(0, x.rank - 1))
    elif kind == 1:
        graph_forms.op(g, "ReduceSum", y, dims=(), keepdims=0)
    elif kind == 2 and x.rank:
        graph_forms.op(g, "Softmax", y, axis=-1)
    else:
        graph_forms.combine(g, x, y)


def operand(g, shape):
    return equal(g, shape) if g.chance(0.6) else g.weight(F32, shape)


@form(5)
def equal_product(g):
    """Equal elements as operands of products: one of them, both, and what is added."""
    rows, depth, columns = (g.choose([1, 2, 4, 7, 16, 32, 64]) for _ in range(3))
    kind = g.integer(0, 3)
    if kind == 0:
        x = g.pick(lambda v: v.dtype is F32 and v.rank >= 2 and isinstance(v.dims[-1], int))
        graph_forms.op(g, "MatMul", x, operand(g, [x.dims[-1], columns]), dims=(*x.dims[:-1], columns))
    elif kind == 1:
        graph_forms.op(g, "MatMul", operand(g, [rows, depth]), operand(g, [depth, columns]),
                       dims=(rows, columns))
    elif kind == 2:
        c = g.choose([[], [columns], [rows, columns], [rows, 1]])
        graph_forms.op(g, "Gemm", operand(g, [rows, depth]), operand(g, [depth, columns]),
                       operand(g, c), dims=(rows, columns))
    else:
        x = g.pick(lambda v: v.dtype is F32 and v.rank in (3, 4) and isinstance(v.dims[1], int) and v.dims[1])
        filters, taps = g.choose([1, 4, 16]), [g.choose([1, 3]) for _ in x.dims[2:]]
        graph_forms.op(g, "Conv", x, operand(g, [filters, x.dims[1], *taps]),
                       dims=(x.dims[0], filters, *x.dims[2:]), auto_pad="SAME_UPPER")
    if g.chance(0.6):
        graph_forms.epilogue(g, last(g))


# --- all that is tested for its results, too

@form(6)
def operator(g):
    g.choose(fuzz_graphs.OPERATORS)(g)


@form(4)
def optimised(g):
    g.choose(graph_forms.FORMS)(g)


# --- whole models

def draw_input(g):
    """All sizes open, by names or without, some of them, or none; seldom one that is nothing."""
    rank, nameless, known = g.integer(0, 5), g.chance(0.5), g.choose([0, 0.4, 0.8, 1])
    dims = []
    for _ in range(rank):
        if g.chance(known):
            dims.append(0 if g.chance(0.03) else g.choose([1, 2, 3, 4, 6, 8, 16, 33]))
        elif nameless:
            dims.append(f"?{len(g.sizes)}")
            g.sizes[dims[-1]] = g.integer(1, 6)
        else:
            dims.append(g.choose(["N", "N1", "N2", "M", "M1", "K", "H", "W"]))
    g.input(F32, dims)


def draw(seed, most_nodes, opset):
    """A Sample and the ranges of its values, the same for a seed. There is one run, so that windows fit in
    whatever fits in it."""
    g, _ = fuzz_graphs.begin(seed)
    g.opset = opset
    g.sizes["K"] = g.integer(1, 8)
    g.least = g.sizes
    for _ in range(g.integer(1, 2)):
        draw_input(g)
    wanted = g.integer(1, most_nodes)
    for _ in range(20 * most_nodes):
        if len(g.nodes) >= wanted:
            break
        fuzz_graphs.attempt(g, g.choose(FORMS))
    if not g.nodes:
        return draw(seed + (1 << 32), most_nodes, opset)
    sample = fuzz_graphs.sample_of(g, 0.15)
    return sample, ranges_of(g, sample.model.graph)


def ranges_of(g, graph):
    """As --ranges has them: by the name of an input or of a node, those that the graph has."""
    arrays = {value.name: value.array for value in g.values}
    names = {value.name: given.name for value, given in zip(g.inputs, graph.input)}
    for node, named in zip(g.nodes, graph.node):
        for number, name in enumerate(node.output):
            if named.name:
                names[name] = f"{named.name}:{number}" if number else named.name
    return {names[name]: {"min": float(array.min()), "max": float(array.max())}
            for name, array in arrays.items()
            if array.dtype.kind == "f" and array.size and name in names}


# Operands that have FP32 in a model of FP16.
KEPT = {"GridSample": (1,), "Resize": (1, 2)}
ONLY_FP32 = {"DynamicQuantizeLinear"}


def as_half(model):
    """The model with tensors of FP16 instead of FP32, as exporters write it; itself where ONNX
    Runtime does not take that."""
    if any(node.op_type in ONLY_FP32 for node in model.graph.node):
        return model
    half = type(model)()
    half.CopyFrom(model)
    graph = half.graph
    kept = {node.input[place] for node in graph.node for place in KEPT.get(node.op_type, ())
            if place < len(node.input)}
    for weight in graph.initializer:
        if weight.data_type == TensorProto.FLOAT and weight.name not in kept:
            weight.CopyFrom(halved(weight))
    for value in [*graph.input, *graph.output]:
        if value.type.tensor_type.elem_type == TensorProto.FLOAT:
            value.type.tensor_type.elem_type = TensorProto.FLOAT16
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.name == "to" and attribute.i == TensorProto.FLOAT:
                attribute.i = TensorProto.FLOAT16
            elif attribute.name == "value" and attribute.t.data_type == TensorProto.FLOAT:
                attribute.t.CopyFrom(halved(attribute.t))
    try:
        fuzz_graphs.session(half, False)
    except Exception:  # pylint: disable=broad-except
        return model
    return half


def halved(tensor):
    with numpy.errstate(over="ignore"):  # the lowest number of FP32 is minus infinity
        return numpy_helper.from_array(numpy_helper.to_array(tensor).astype(F16), tensor.name)
