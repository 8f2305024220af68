"""How each operator of the table is drawn for a random model: by a function here, which takes a Graph, picks values it can
use and adds one node (a few for what computes a shape), or else by the cases of its row. What cannot be drawn raises
Redraw."""
# SPDX-License-Identifier: Apache-2.0
import numpy

from fuzz_cases import from_row
from fuzz_graphs import (BOOL, F16, F32, F64, FLOATS, I32, I64, OPERATORS, U8, Redraw, all_meet, broadcast,
                         same)
from operator_table import ROWS

DRAWN = {name: [] for name in ROWS}  # functions, each as often as its weight
NUMBERS = (*FLOATS, I32, I64)


def operator(*names, weight=1):
    def add(function):
        for name in names:
            DRAWN[name] += [lambda graph, name=name: function(graph, name)] * weight
        return function
    return add


def window(kernel, dims, graph):
    """Attributes of a sliding window over `dims`, which fits whatever sizes symbols have."""
    spatial = len(kernel)
    attributes = {}
    if graph.chance(0.5):
        attributes["strides"] = [graph.integer(1, 3) for _ in range(spatial)]
    if graph.chance(0.5):
        attributes["pads"] = [graph.integer(0, k - 1) for k in [*kernel, *kernel]]
    elif graph.chance(0.3):
        attributes["auto_pad"] = graph.choose(["SAME_UPPER", "SAME_LOWER", "VALID"])
    if "auto_pad" not in attributes and graph.chance(0.25):
        attributes["dilations"] = [graph.integer(1, 2) for _ in range(spatial)]
    spans = [(size - 1) * dilation + 1 for size, dilation in
             zip(kernel, attributes.get("dilations", [1] * spatial))]
    fits = all(graph.least_of(dim) >= span for dim, span in zip(dims, spans))
    if not fits and attributes.get("auto_pad") not in ("SAME_UPPER", "SAME_LOWER"):
        attributes = {"auto_pad": "SAME_UPPER", **(
            {"strides": attributes["strides"]} if "strides" in attributes else {})}
    return attributes


def windows_along(size, span, stride, before, after, ceil):
    """How many windows there are; the last one of those that `ceil` adds begins in what is not padding."""
    room = size + before + after - span
    count = (-(-room // stride) if ceil else room // stride) + 1
    return count - 1 if ceil and (count - 1) * stride >= size + before else count


def window_dims(g, dims, kernel, *, strides=None, pads=None, dilations=None, auto_pad="NOTSET", ceil_mode=0,
                **_):
    """The dimensions that a window with these attributes leaves of `dims`."""
    found = []
    for axis, (dim, size) in enumerate(zip(dims, kernel)):
        stride = strides[axis] if strides else 1
        span = (size - 1) * (dilations[axis] if dilations else 1) + 1
        before, after = (pads[axis], pads[axis + len(kernel)]) if pads else (0, 0)
        if auto_pad.startswith("SAME"):
            key, count = ("same", stride), lambda n, stride=stride: -(-n // stride)
        else:
            def count(n, given=(span, stride, before, after, ceil_mode)):
                return windows_along(n, *given)
            key = (span, stride, before, after, 1) if ceil_mode else (span, stride, before + after, 0, 0)
        keeps = stride == 1 and (auto_pad.startswith("SAME") or before + after + 1 == span)
        found.append(dim if keeps else g.derived(dim, key, count))
    return found


# --- elementwise

@operator("Relu", "Sigmoid", "Tanh", "Abs", "Neg", "Exp", "Erf", "Softplus", "Softsign", "HardSwish",
          "HardSigmoid", "Elu", "Selu", "LeakyRelu", "ThresholdedRelu", "Gelu", "Mish", "Sin", "Cos",
          "Atan", "Asinh", "Celu", "Shrink", "Identity")
def unary(g, name):
    x = g.floats()
    g.add(name, [x], x.dims, exact=x.exact and name in ("Relu", "Abs", "Neg", "Identity"))


@operator("Sqrt", "Log", "Reciprocal")
def positive(g, name):
    x = g.floats()
    g.add("Abs", [x], x.dims)
    g.add("Add", [g.values[-1], g.constant(numpy.array(0.5, x.dtype))], x.dims)
    g.add(name, [g.values[-1]], x.dims, exact=False)


@operator("Floor", "Ceil", "Round", "Sign")
def steps(g, name):
    x = g.pick(lambda v: v.dtype in FLOATS and v.exact)
    g.add(name, [x], x.dims)


@operator("Add", "Sub", "Mul", "Max", "Min", weight=3)
def binary(g, name):
    x = g.pick(lambda v: v.dtype in NUMBERS)
    y = g.partner(x)
    x, y = (y, x) if g.chance(0.3) else (x, y)
    g.add(name, [x, y], broadcast(x.dims, y.dims), exact=False)


@operator("Div")
def divide(g, name):
    x = g.pick(lambda v: v.dtype in NUMBERS)
    y = g.weight(x.dtype, [d if isinstance(d, int) and g.chance(0.5) else 1 for d in x.dims])
    array = numpy.where(numpy.abs(y.array) < 0.5, 2, y.array).astype(x.dtype)
    y = g.constant(array)
    g.add(name, [x, y], x.dims, exact=False)


@operator("Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual")
def compare(g, name):
    x = g.pick(lambda v: v.exact and v.dtype in (F32, F64, I32, I64))
    y = g.partner(x)
    if not y.exact:
        raise Redraw()
    g.add(name, [x, y], broadcast(x.dims, y.dims))


@operator("And", "Or", "Xor")
def logic(g, name):
    x = g.pick(lambda v: v.dtype is BOOL)
    y = g.partner(x)
    g.add(name, [x, y], broadcast(x.dims, y.dims))


@operator("Not")
def invert(g, name):
    x = g.pick(lambda v: v.dtype is BOOL)
    g.add(name, [x], x.dims)


@operator("BitwiseAnd", "BitwiseOr", "BitwiseXor")
def bits(g, name):
    x = g.pick(lambda v: v.dtype in (I32, I64, U8))
    y = g.partner(x)
    g.add(name, [x, y], broadcast(x.dims, y.dims))


@operator("Where", weight=2)
def where(g, name):
    condition = g.pick(lambda v: v.dtype is BOOL)
    x = g.pick(lambda v: v.dtype in NUMBERS and all_meet(v.dims, condition.dims))
    dims = broadcast(condition.dims, x.dims)
    y = g.partner(x) if g.chance(0.5) else g.constant(g.array(x.dtype, ()))
    if not all_meet(dims, y.dims):
        raise Redraw()
    x, y = (y, x) if g.chance(0.3) else (x, y)
    g.add(name, [condition, x, y], broadcast(dims, broadcast(x.dims, y.dims)))


@operator("Clip")
def clip(g, name):
    x = g.pick(lambda v: v.dtype in NUMBERS)
    low, high = (g.constant(numpy.array(bound, x.dtype)) for bound in (-1, 1))
    g.add(name, [x, low if g.chance(0.7) else None, high], x.dims)


@operator("Cast", weight=2)
def cast(g, name):
    x = g.pick(lambda v: v.exact and v.dtype in (*NUMBERS, BOOL, U8))
    to = g.choose([1, 11, 7, 6, 9])  # float, double, int64, int32, bool
    g.add(name, [x], x.dims, to=to)


@operator("QuantizeLinear")
def quantize(g, name):
    x = g.pick(lambda v: v.dtype is F32 and v.exact)
    scale = g.constant(numpy.array(g.choose([0.25, 0.5, 2.0]), F32))
    zero = g.constant(numpy.array(g.integer(0, 200), U8))
    g.add(name, [x, scale, zero], x.dims)
    if g.chance(0.7):
        g.add("DequantizeLinear", [g.values[-1], scale, zero], x.dims)


@operator("DynamicQuantizeLinear")
def dynamic_quantize(g, name):
    x = g.pick(lambda v: v.dtype is F32 and v.exact)
    g.add(name, [x], lambda i, array: () if i else x.dims, outputs=3)


@operator("PRelu")
def prelu(g, name):
    x = g.floats()
    slope = g.weight(x.dtype, [d if isinstance(d, int) and g.chance(0.5) else 1 for d in x.dims])
    g.add(name, [x, slope], x.dims, exact=False)


@operator("Sum", "Mean")
def variadic(g, name):
    x = g.floats(types=(F32, F64))
    y = g.partner(x)
    z = g.weight(x.dtype, ())
    g.add(name, [x, y, z], broadcast(x.dims, y.dims), exact=False)


@operator("Pow")
def power(g, name):
    x = g.floats(types=(F32, F64))
    g.add(name, [x, g.constant(numpy.array(g.choose([2, 3]), x.dtype))], x.dims, exact=False)


@operator("IsNaN", "IsInf")
def classify(g, name):
    x = g.floats(types=(F32, F64))
    g.add(name, [x], x.dims)


@operator("BitwiseNot")
def bitwise_not(g, name):
    x = g.pick(lambda v: v.dtype in (I32, I64, U8))
    g.add(name, [x], x.dims)


@operator("BitShift")
def shift(g, name):
    x = g.pick(lambda v: v.dtype is U8)
    g.add(name, [x, g.constant(numpy.array(g.integer(0, 7), U8))], x.dims,
          direction=g.choose(["LEFT", "RIGHT"]))


@operator("CastLike")
def cast_like(g, name):
    x = g.pick(lambda v: v.exact and v.dtype in NUMBERS)
    g.add(name, [x, g.constant(numpy.array(1, g.choose([F32, F64, I64])))], x.dims)


@operator("Mod")
def modulo(g, name):
    x = g.pick(lambda v: v.dtype in (I32, I64))
    g.add(name, [x, g.constant(numpy.array(g.integer(2, 5), x.dtype))], x.dims)


@operator("Dropout")
def dropout(g, name):
    x = g.floats()
    # Of training what drops nothing: what is drawn otherwise, ONNX Runtime draws otherwise.
    training = [g.constant(numpy.array(0, F32)), g.constant(numpy.array(True))] if g.chance(0.5) else []
    g.add(name, [x, *training], x.dims)


# --- reductions and normalisations

@operator("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2",
          "ReduceSumSquare", "ReduceLogSumExp", "ReduceProd", weight=2)
def reduce(g, name):
    x = g.floats(rank=range(1, 6), types=(F32, F64))
    axes = sorted(set(g.integer(-x.rank, -1) for _ in range(g.integer(1, x.rank))))
    keep = g.integer(0, 1)
    kept = [dim if axis not in axes else 1 for axis, dim in zip(range(-x.rank, 0), x.dims)
            if keep or axis not in axes]
    g.add(name, [x, g.ints(*axes)], tuple(kept), exact=False, keepdims=keep)


@operator("ArgMax", "ArgMin")
def arg(g, name):
    x = g.pick(lambda v: v.exact and v.rank and v.dtype in (F32, F64, I32))
    axis, keep = g.integer(-x.rank, x.rank - 1), g.integer(0, 1)
    dims = list(x.dims)
    dims[axis] = 1
    if not keep:
        del dims[axis]
    g.add(name, [x], tuple(dims), axis=axis, keepdims=keep, select_last_index=g.integer(0, 1))


@operator("CumSum")
def cumsum(g, name):
    x = g.floats(rank=range(1, 6), types=(F32, F64))
    axis = g.constant(numpy.array(g.integer(-x.rank, x.rank - 1), I64))
    g.add(name, [x, axis], x.dims, exact=False, exclusive=g.integer(0, 1), reverse=g.integer(0, 1))


@operator("LSTM", "GRU", "RNN")
def recurrent(g, name):
    # ONNX Runtime ends the process where there is nothing.
    x = g.pick(lambda v: v.dtype is F32 and v.rank == 3 and isinstance(v.dims[2], int) and v.array.size)
    gates, units = {"LSTM": 4, "GRU": 3, "RNN": 1}[name], g.choose([1, 3, 8, 16])
    direction, own = g.choose(["forward", "reverse", "bidirectional"]), g.integer(0, 1)
    directions = 1 + (direction == "bidirectional")
    weights = [g.constant(g.array(F32, [directions, gates * units, size]) / (1 + size)) for size in (x.dims[2], units)]
    bias = g.weight(F32, [directions, 2 * gates * units]) if g.chance(0.7) else None
    more = {"GRU": {"linear_before_reset": own}, "LSTM": {"input_forget": own}, "RNN": {"clip": 0.5 + own}}[name]
    g.add(name, [x, *weights, bias], (x.dims[0], directions, x.dims[1], units), exact=False, hidden_size=units,
          direction=direction, **more)


@operator("Softmax", "LogSoftmax", "Hardmax")
def softmax(g, name):
    x = g.floats(rank=range(1, 6), types=(F32, F64))
    if name == "Hardmax" and not x.exact:
        raise Redraw()
    g.add(name, [x], x.dims, exact=name == "Hardmax", axis=g.integer(-x.rank, x.rank - 1))


@operator("LayerNormalization")
def layer_norm(g, name):
    x = g.pick(lambda v: v.dtype is F32 and v.rank and isinstance(v.dims[-1], int))
    scale = g.weight(F32, [x.dims[-1]])
    g.add(name, [x, scale, scale if g.chance(0.5) else None], x.dims, exact=False, epsilon=1e-2)


@operator("BatchNormalization", "InstanceNormalization")
def channel_norm(g, name):
    x = g.pick(lambda v: v.dtype is F32 and v.rank >= 3 and isinstance(v.dims[1], int))
    scale = g.weight(F32, [x.dims[1]])
    variance = g.constant(numpy.abs(g.array(F32, [x.dims[1]])) + F32(0.5))
    rest = [scale, variance] if name == "BatchNormalization" else []
    g.add(name, [x, scale, scale, *rest], x.dims, exact=False, epsilon=1e-2)


@operator("GroupNormalization")
def group_norm(g, name):
    x = g.pick(lambda v: v.dtype is F32 and v.rank >= 3 and isinstance(v.dims[1], int)
               and v.dims[1] % 2 == 0)
    scale = g.weight(F32, [x.dims[1]])
    g.add(name, [x, scale, scale], x.dims, exact=False, num_groups=2, epsilon=1e-2)


@operator("LpNormalization")
def lp_norm(g, name):
    x = g.floats(rank=range(1, 6), types=(F32, F64))
    g.add(name, [x], x.dims, exact=False, axis=g.integer(0, x.rank - 1), p=g.integer(1, 2))


@operator("LRN")
def lrn(g, name):
    x = g.pick(lambda v: v.dtype is F32 and v.rank == 4)
    g.add(name, [x], x.dims, exact=False, size=g.choose([1, 3, 5]))


# --- products and windows

@operator("MatMul", weight=2)
def open_matmul(g, name):
    """Products of values whose depth, or batch, is open."""
    x = g.pick(lambda v: v.dtype in (F32, F64) and v.rank >= 2 and not v.fixed)
    if g.chance(0.5):  # with itself, turned
        perm = [*range(x.rank - 2), x.rank - 1, x.rank - 2]
        g.add("Transpose", [x], tuple(x.dims[axis] for axis in perm), perm=perm)
    y = g.pick(lambda v: v.dtype is x.dtype and v.rank >= 2 and same(v.dims[-2:-1], x.dims[-1:])
               and all_meet(x.dims[:-2], v.dims[:-2]))
    g.add(name, [x, y], (*broadcast(x.dims[:-2], y.dims[:-2]), x.dims[-2], y.dims[-1]), exact=False)


@operator("MatMul", weight=3)
def matmul(g, name):
    x = g.pick(lambda v: v.dtype in (F32, F64) and v.rank >= 2 and isinstance(v.dims[-1], int))
    columns = g.integer(1, 17)
    if g.chance(0.4):
        y = g.pick(lambda v: v.dtype is x.dtype and v.rank >= 2 and v.dims[-2] == x.dims[-1]
                   and all_meet(x.dims[:-2], v.dims[:-2]))
    else:
        y = g.weight(x.dtype, [x.dims[-1], columns])
    g.add(name, [x, y], (*broadcast(x.dims[:-2], y.dims[:-2]), x.dims[-2], y.dims[-1]), exact=False)


@operator("Attention")
def attention(g, name):
    x = g.pick(lambda v: v.dtype is F32 and v.rank == 4 and isinstance(v.dims[-1], int)
               and isinstance(v.dims[1], int))
    y = g.pick(lambda v: v.dtype is F32 and v.rank == 4 and v.dims[-1] == x.dims[-1]
               and v.dims[:2] == x.dims[:2])
    scale = {"scale": g.choose([0.25, 1.0])} if g.chance(0.5) else {}
    g.add(name, [x, y, y], x.dims, exact=False, is_causal=g.integer(0, 1), **scale)


@operator("Gemm", weight=2)
def gemm(g, name):
    x = g.pick(lambda v: v.dtype in (F32, F64) and v.rank == 2)
    across = g.integer(0, 1)
    depth, rows = (x.dims if across else x.dims[::-1])
    if not isinstance(depth, int):
        raise Redraw()
    columns, turned = g.integer(1, 17), g.integer(0, 1)
    y = g.weight(x.dtype, [columns, depth] if turned else [depth, columns])
    c = g.choose([None, g.weight(x.dtype, [columns]), g.weight(x.dtype, [1, 1])])
    g.add(name, [x, y, c], (rows, columns), exact=False, transA=across, transB=turned,
          alpha=g.choose([1.0, 0.5]), beta=g.choose([1.0, 2.0]))


@operator("Einsum")
def einsum(g, name):
    x = g.pick(lambda v: v.dtype is F32 and v.rank == 3 and isinstance(v.dims[2], int))
    y = g.weight(F32, [x.dims[2], 5])
    equation, dims = g.choose([("abc,cd->abd", (*x.dims[:2], 5)), ("abc,cd->dba", (5, *x.dims[1::-1])),
                               ("abc,cd->ad", (x.dims[0], 5)), ("abc,cd", (*x.dims[:2], 5))])
    g.add(name, [x, y], dims, exact=False, equation=equation)


@operator("Conv", weight=6)
def conv(g, name):
    # ONNX Runtime does not come to an end where there are no channels.
    x = g.pick(lambda v: v.dtype is F32 and v.rank in (3, 4) and isinstance(v.dims[1], int) and v.dims[1])
    channels = x.dims[1]
    groups = g.choose([1, 1, channels] + [n for n in (2, 3) if channels % n == 0])
    filters = groups * g.integer(1, 4)
    kernel = [g.integer(1, 3) for _ in x.dims[2:]]
    w = g.weight(F32, [filters, channels // groups, *kernel])
    b = g.weight(F32, [filters]) if g.chance(0.5) else None
    attributes = window(kernel, x.dims[2:], g)
    dims = (x.dims[0], filters, *window_dims(g, x.dims[2:], kernel, **attributes))
    g.add(name, [x, w, b], dims, exact=False, group=groups, **attributes)


@operator("ConvTranspose", weight=3)
def conv_transpose(g, name):
    x = g.pick(lambda v: v.dtype is F32 and v.rank in (3, 4) and isinstance(v.dims[1], int) and v.dims[1])
    groups = g.choose([1, 1, 1, x.dims[1]])
    kernel = [g.integer(1, 3) for _ in x.dims[2:]]
    filters = g.integer(1, 4)
    w = g.weight(F32, [x.dims[1], filters, *kernel])
    strides = [g.integer(1, 3) if g.chance(0.6) else 1 for _ in kernel]
    dilations = [g.choose([1, 1, 1, 2]) for _ in kernel]
    spans = [(size - 1) * dilation + 1 for size, dilation in zip(kernel, dilations)]
    attributes = {"strides": strides, "dilations": dilations, "group": groups}
    auto = g.choose(["", "", "", "SAME_UPPER", "SAME_LOWER", "VALID"])
    if auto.startswith("SAME") and any(span < stride for span, stride in zip(spans, strides)):
        auto = ""  # ONNX Runtime takes no pads below 0, and leaves less than the stride times the size
    taken, added = [[0, 0] for _ in kernel], [0 for _ in kernel]
    if auto:
        attributes["auto_pad"] = auto
    elif g.chance(0.5):
        # At least one element is left of what the least size gives.
        taken = [[g.integer(0, min(1, span // 2)) for _ in range(2)] for span in spans]
        attributes["pads"] = [pad for side in zip(*taken) for pad in side]
    if auto in ("", "VALID") and g.chance(0.4):
        added = [g.integer(0, max(stride, dilation) - 1) for stride, dilation in zip(strides, dilations)]
        attributes["output_padding"] = added
    dims = []
    for dim, stride, span, (before, after), more in zip(x.dims[2:], strides, spans, taken, added):
        size = span - before - after + more
        if auto.startswith("SAME"):
            dims.append(g.derived(dim, ("times", stride, 0), lambda n, stride=stride: n * stride))
        elif stride == 1 and size == 1:
            dims.append(dim)
        else:
            dims.append(g.derived(dim, ("times", stride, size),
                                  lambda n, stride=stride, size=size: (n - 1) * stride + size))
    if min(map(g.least_of, dims)) < 1:
        raise Redraw()
    inputs = [x, w, g.weight(F32, [filters * groups])] if g.chance(0.4) else [x, w]
    g.add(name, inputs, (x.dims[0], filters * groups, *dims), exact=False, **attributes)


@operator("MaxPool", "AveragePool", "LpPool", weight=3)
def pool(g, name):
    x = g.pick(lambda v: v.dtype is F32 and v.rank in (3, 4))
    kernel = [g.integer(1, 3) for _ in x.dims[2:]]
    attributes = window(kernel, x.dims[2:], g)
    if attributes.get("auto_pad", "").startswith("SAME") and any(
            size < stride for size, stride in zip(kernel, attributes.get("strides", kernel))):
        raise Redraw()  # ONNX Runtime takes pads below 0 there, but for MaxPool, where it refuses them
    if name == "AveragePool":
        attributes["count_include_pad"] = g.integer(0, 1)
    if "auto_pad" not in attributes:
        attributes["ceil_mode"] = g.integer(0, 1)
    g.add(name, [x], (*x.dims[:2], *window_dims(g, x.dims[2:], kernel, **attributes)),
          exact=x.exact and name == "MaxPool", kernel_shape=kernel, **attributes)


@operator("GlobalAveragePool", "GlobalMaxPool")
def global_pool(g, name):
    x = g.pick(lambda v: v.dtype is F32 and v.rank >= 3)
    g.add(name, [x], (*x.dims[:2], *[1] * (x.rank - 2)), exact=False)


# --- layout

@operator("Transpose", weight=2)
def transpose(g, name):
    x = g.pick(lambda v: v.rank)
    perm = [int(axis) for axis in g.random.permutation(x.rank)]
    g.add(name, [x], tuple(x.dims[axis] for axis in perm), perm=perm)


@operator("Concat", weight=2)
def concat(g, name):
    x = g.pick(lambda v: v.rank)
    axis = g.integer(0, x.rank - 1)
    rest = x.dims[:axis] + x.dims[axis + 1:]
    parts = [x]
    for _ in range(g.integer(1, 3)):
        parts.append(g.pick(lambda v: v.dtype is x.dtype and v.rank == x.rank
                            and same(v.dims[:axis] + v.dims[axis + 1:], rest)))
    dims = list(x.dims)
    sizes = [part.dims[axis] for part in parts]
    dims[axis] = sum(sizes) if all(isinstance(s, int) for s in sizes) else g.symbol()
    g.add(name, parts, tuple(dims), axis=axis - g.choose([0, x.rank]))


@operator("Split")
def split(g, name):
    x = g.pick(lambda v: v.rank and any(isinstance(dim, int) and dim > 1 for dim in v.dims))
    axis = g.choose([i for i, dim in enumerate(x.dims) if isinstance(dim, int) and dim > 1])
    cut = g.integer(1, x.dims[axis] - 1)
    sizes = (cut, x.dims[axis] - cut)
    g.add(name, [x, g.ints(*sizes)], lambda i, _: (*x.dims[:axis], sizes[i], *x.dims[axis + 1:]),
          outputs=2, axis=axis)


@operator("Slice", weight=2)
def cut_slice(g, name):
    x = g.pick(lambda v: v.rank)
    axis, step = g.integer(0, x.rank - 1), g.choose([1, 1, 2, -1, -2])
    # Backward, ONNX Runtime takes the largest end for "to the beginning"; the specification does not.
    ends = [2 ** 31 - 1, 2 ** 63 - 1] if step > 0 else []
    start, end = g.integer(-5, 5), g.choose([g.integer(-5, 5), -2 ** 63, *ends])
    dims = list(x.dims)
    dims[axis] = g.symbol()
    g.add(name, [x, g.ints(start), g.ints(end), g.ints(axis), g.ints(step)], tuple(dims))


@operator("Pad", weight=2)
def pad(g, name):
    x = g.pick(lambda v: v.rank and v.dtype in (F32, F64, I64) and v.array.size)
    mode = g.choose(["constant", "constant", "edge", "reflect", "wrap"])
    if mode == "wrap" and g.opset < 19:
        raise Redraw()  # ONNX Runtime has it before ONNX does
    pads = [g.integer(-1 if mode == "constant" else 0, 2) for _ in range(2 * x.rank)]
    if mode in ("reflect", "wrap"):
        pads = [0 if not isinstance(dim, int) else min(amount, max(0, dim - 1))
                for amount, dim in zip(pads, x.dims * 2)]
    value = g.weight(x.dtype, ()) if mode == "constant" and g.chance(0.5) else None
    dims = tuple(dim if before == after == 0 else g.symbol() for dim, before, after in
                 zip(x.dims, pads, pads[x.rank:]))
    g.add(name, [x, g.ints(*pads), value], dims, mode=mode)


@operator("Reshape", weight=3)
def reshape(g, name):
    x = g.pick(lambda v: True)
    if x.fixed:
        whole, target = int(x.array.size), []
        for factor in (2, 3, 4):
            if whole and whole % factor == 0 and g.chance(0.6):
                target.append(factor)
                whole //= factor
        target.insert(g.integer(0, len(target)), -1 if g.chance(0.5) and whole else whole)
        return g.add(name, [x, g.ints(*target)])
    target = g.choose([[-1], [0, -1] if x.rank > 1 else [-1, 1], [1, -1]])
    dims = tuple(x.dims[0] if size == 0 else 1 if size == 1 else g.symbol() for size in target)
    return g.add(name, [x, g.ints(*target)], dims)


@operator("Reshape")
def reshape_by_shape(g, name):
    """To a shape that is computed from the input's own."""
    x = g.pick(lambda v: v.rank >= 2)
    g.add("Shape", [x], (x.rank,))
    shape = g.values[-1]
    g.add("Gather", [shape, g.ints(*range(x.rank - 1, -1, -1))], (x.rank,), axis=0)
    g.add(name, [x, g.values[-1]], tuple(reversed(x.dims)))


@operator("Flatten")
def flatten(g, name):
    x = g.pick(lambda v: v.rank)
    g.add(name, [x], axis=g.integer(0, x.rank))


@operator("Squeeze")
def squeeze(g, name):
    x = g.pick(lambda v: 1 in v.dims)
    axis = g.choose([i for i, dim in enumerate(x.dims) if dim == 1])
    g.add(name, [x, g.ints(axis)], x.dims[:axis] + x.dims[axis + 1:])


@operator("Unsqueeze")
def unsqueeze(g, name):
    x = g.pick(lambda v: v.rank < 5)
    axis = g.integer(0, x.rank)
    g.add(name, [x, g.ints(axis)], (*x.dims[:axis], 1, *x.dims[axis:]))


@operator("Expand")
def expand(g, name):
    x = g.pick(lambda v: v.rank < 5)
    target = [g.integer(1, 4) if dim == 1 else 1 for dim in x.dims]
    dims = tuple(size if dim == 1 else dim for size, dim in zip(target, x.dims))
    if g.chance(0.4):
        target, dims = [2, *target], (2, *dims)
    g.add(name, [x, g.ints(*target)], dims)


@operator("Expand")
def expand_like(g, name):
    """To another value's shape."""
    other = g.pick(lambda v: v.rank)
    g.add("Shape", [other], (other.rank,))
    x = g.weight(F32, [dim if isinstance(dim, int) and g.chance(0.5) else 1 for dim in other.dims])
    g.add(name, [x, g.values[-1]], other.dims)


@operator("Expand")
def expand_to(g, name):
    """A value to the shape of one that it broadcasts with."""
    x = g.pick(lambda v: v.rank and not v.fixed)
    y = g.pick(lambda v: v is not x and v.rank and all_meet(v.dims, x.dims))
    g.add("Shape", [y], (y.rank,))
    g.add(name, [x, g.values[-1]], broadcast(x.dims, y.dims))


@operator("Tile")
def tile(g, name):
    x = g.pick(lambda v: v.rank and v.dtype in NUMBERS)
    repeats = [g.integer(1, 3) if g.chance(0.5) else 1 for _ in x.dims]
    dims = tuple(dim if n == 1 else g.symbol() for n, dim in zip(repeats, x.dims))
    g.add(name, [x, g.ints(*repeats)], dims)


@operator("Gather", weight=2)
def gather(g, name):
    x = g.pick(lambda v: v.rank and any(isinstance(dim, int) and dim for dim in v.dims))
    axis = g.choose([i for i, dim in enumerate(x.dims) if isinstance(dim, int) and dim])
    size, shape = x.dims[axis], g.choose([(), (1,), (3,), (2, 2)])
    indices = g.constant(g.random.integers(-size, size, shape).astype(I64))
    g.add(name, [x, indices], (*x.dims[:axis], *shape, *x.dims[axis + 1:]), axis=axis)


@operator("GatherElements")
def gather_elements(g, name):
    x = g.pick(lambda v: v.fixed and v.rank and v.array.size)
    axis = g.integer(0, x.rank - 1)
    shape = [g.integer(1, dim) for dim in x.dims]
    indices = g.constant(g.random.integers(-x.dims[axis], x.dims[axis], shape).astype(I64))
    g.add(name, [x, indices], axis=axis)


@operator("GatherND")
def gather_nd(g, name):
    x = g.pick(lambda v: v.fixed and v.rank >= 2 and v.array.size)
    indices = numpy.stack([g.random.integers(0, size, 3) for size in x.dims[:2]], axis=1)
    g.add(name, [x, g.constant(indices.astype(I64))])


@operator("CenterCropPad")
def crop_or_pad(g, name):
    if g.opset < 18:
        raise Redraw()
    x = g.pick(lambda v: v.rank and v.dtype in (F32, F16, I64))
    axis = g.integer(0, x.rank - 1)
    size = g.integer(1, 6)
    g.add(name, [x, g.ints(size)], (*x.dims[:axis], size, *x.dims[axis + 1:]), axes=[axis])


@operator("DFT")
def transform(g, name):
    if g.opset < 20:
        raise Redraw()
    x = g.pick(lambda v: v.dtype is F32 and v.rank >= 1 and isinstance(v.dims[-1], int) and 1 < v.dims[-1] < 20)
    g.add("Unsqueeze", [x, g.ints(-1)], (*x.dims, 1))
    one_sided = g.integer(0, 1)
    count = x.dims[-1] // 2 + 1 if one_sided else x.dims[-1]
    g.add(name, [g.values[-1], None, g.constant(numpy.array(-2, I64))], (*x.dims[:-1], count, 2), exact=False,
          onesided=one_sided)


@operator("ReverseSequence")
def reverse_sequence(g, name):
    x = g.pick(lambda v: v.rank >= 2 and all(isinstance(dim, int) and dim for dim in v.dims[:2]))
    batch = g.integer(0, 1)
    lengths = g.random.integers(0, x.dims[1 - batch] + 1, x.dims[batch])
    g.add(name, [x, g.constant(lengths.astype(I64))], x.dims, batch_axis=batch,
          time_axis=1 - batch)


@operator("Trilu")
def trilu(g, name):
    x = g.pick(lambda v: v.rank >= 2 and v.dtype in (F32, F64, I64))
    g.add(name, [x, g.constant(numpy.array(g.integer(-3, 3), I64))], x.dims, upper=g.integer(0, 1))


@operator("OneHot")
def one_hot(g, name):
    x = g.pick(lambda v: v.dtype is I64)
    axis = g.integer(-x.rank - 1, x.rank)
    dims = list(x.dims)
    dims.insert(axis if axis >= 0 else len(dims) + 1 + axis, 5)
    g.add(name, [x, g.constant(numpy.array(5, I64)), g.constant(numpy.array([0.5, 2], F32))],
          tuple(dims), axis=axis)


@operator("DepthToSpace", "SpaceToDepth")
def blocks(g, name):
    x = g.pick(lambda v: v.dtype is F32 and v.rank == 4 and v.fixed)
    g.add(name, [x], blocksize=2)


@operator("Resize", weight=2)
def resize(g, name):
    x = g.pick(lambda v: v.dtype is F32 and v.rank == 4 and v.array.size)
    mode = g.choose(["nearest", "linear", "cubic"])
    if mode == "nearest" and not x.exact:
        raise Redraw()
    scales = [1.0, 1.0, *(g.choose([0.5, 1.0, 2.0, 3.0]) for _ in range(2))]
    if any(not isinstance(dim, int) for dim in x.dims[2:]):
        scales = [max(scale, 1.0) for scale in scales]
    transform = g.choose(["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"])
    if transform == "align_corners" and any(
            size * scale % 1 for size, scale in zip(x.array.shape, scales)):
        raise Redraw()  # ONNX Runtime rounds the size first, ONNX does not
    dims = tuple(dim if scale == 1 else g.symbol() for dim, scale in zip(x.dims, scales))
    g.add(name, [x, None, g.constant(numpy.array(scales, F32))], dims,
          exact=x.exact and mode == "nearest", mode=mode, coordinate_transformation_mode=transform)


def is_batch_of_images(value):
    """Whose number is known, so that a constant has a grid or a region for each."""
    return value.dtype is F32 and value.rank == 4 and isinstance(value.dims[0], int) and value.array.size


@operator("GridSample")
def grid_sample(g, name):
    x = g.pick(lambda v: is_batch_of_images(v) or (
        v.dtype is F32 and v.rank == 5 and isinstance(v.dims[0], int) and v.array.size))
    mode = g.choose(["nearest", "linear", "cubic"] if x.rank == 4 else ["nearest", "linear"])
    # ONNX Runtime has other borders of cubic interpolation than ONNX.
    padding = g.choose(["zeros", "reflection", *(["border"] if mode != "cubic" else [])])
    out = tuple(g.integer(1, 5) for _ in x.dims[2:])
    grid = g.random.uniform(-1.7, 1.7, (x.dims[0], *out, len(out))).astype(F32)
    g.add(name, [x, g.constant(grid)], (*x.dims[:2], *out), exact=x.exact and mode == "nearest",
          mode=mode, padding_mode=padding, align_corners=g.integer(0, 1))


@operator("RoiAlign", "MaxRoiPool")
def regions(g, name):
    x = g.pick(is_batch_of_images)
    count, pooled = g.integer(1, 4), (g.integer(1, 3), g.integer(1, 3))
    rois = g.random.uniform(-3, 12, (count, 4)).astype(F32)
    images = g.random.integers(0, x.dims[0], count)
    dims = (count, x.dims[1], *pooled)
    scale = g.choose([0.5, 1.0])
    if name == "MaxRoiPool":
        rois = numpy.concatenate([images[:, None], rois], axis=1).astype(F32)
        g.add(name, [x, g.constant(rois)], dims, pooled_shape=list(pooled), spatial_scale=scale)
        return
    g.add(name, [x, g.constant(rois), g.constant(images.astype(I64))], dims,
          mode=g.choose(["avg", "max"]), sampling_ratio=g.integer(0, 3), spatial_scale=scale,
          coordinate_transformation_mode=g.choose(["half_pixel", "output_half_pixel"]),
          output_height=pooled[0], output_width=pooled[1])


@operator("DeformConv")
def deform_conv(g, name):
    x = g.pick(lambda v: is_batch_of_images(v) and v.fixed)
    kernel, filters = (g.integer(1, 3), g.integer(1, 3)), 4
    channels = x.dims[1]
    group, offset_group = (g.choose([1, channels]) for _ in range(2))
    filters = group * g.integer(1, 2)
    attributes = window(kernel, x.dims[2:], g)
    attributes.pop("auto_pad", None)
    out = window_dims(g, x.dims[2:], kernel, **attributes)
    if any(not isinstance(dim, int) or dim < 1 for dim in out):
        raise Redraw()
    taps = kernel[0] * kernel[1] * offset_group

    def normal(*shape):
        return g.constant(g.random.standard_normal(shape).astype(F32))

    g.add(name, [x, normal(filters, channels // group, *kernel), normal(x.dims[0], 2 * taps, *out),
                 normal(filters) if g.chance(0.5) else None,
                 normal(x.dims[0], taps, *out) if g.chance(0.5) else None],
          (x.dims[0], filters, *out), group=group, offset_group=offset_group, **attributes)


# --- shapes as values

@operator("Shape", "Size")
def shape(g, name):
    x = g.pick(lambda v: True)
    g.add(name, [x], (x.rank,) if name == "Shape" else ())


@operator("ConstantOfShape")
def constant_of_shape(g, name):
    x = g.pick(lambda v: v.rank)
    g.add("Shape", [x], (x.rank,))
    g.add(name, [g.values[-1]], x.dims)


@operator("Range")
def number_range(g, name):
    x = g.pick(lambda v: v.rank)
    g.add("Size", [x], ())
    size = g.values[-1]
    g.add(name, [g.constant(numpy.array(0, I64)), size, g.constant(numpy.array(2, I64))],
          (g.symbol(),))


@operator("EyeLike")
def eye_like(g, name):
    x = g.pick(lambda v: v.dtype in (F32, I64) and v.rank == 2)
    g.add(name, [x], x.dims, k=g.integer(-2, 2))


import fuzz_sorting  # noqa: E402  the other part; it adds to DRAWN

for drawn, functions in DRAWN.items():
    OPERATORS.extend(functions or [lambda graph, name=drawn: from_row(graph, name)])
