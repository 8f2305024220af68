"""What a model should compute: ONNX Runtime, else onnx's reference evaluator; for a few operators that are a model's
only node formulas of ours, where those two lack a type or do not follow the specification."""
# SPDX-License-Identifier: Apache-2.0
import ml_dtypes
import numpy
import onnx
import onnx.reference
import onnxruntime

import random_reference

onnxruntime.set_default_logger_severity(4)

# What ONNX Runtime calls floats of 8 bits.
BYTES = {f"tensor(float8{name})": getattr(ml_dtypes, f"float8_{name}")
         for name in ("e4m3fn", "e4m3fnuz", "e5m2", "e5m2fnuz")}

# (rtol, atol), the latter of f32 and f64 in parts of the largest magnitude where that is above 1. f16: four units in
# the last place, see node_tests.py; bf16 likewise. f32: at most 2e-7 of the largest is measured beyond 1e-6 of each
# element. f64: attributes and constants of functions are f32, which implementations widen at different places.
TOLERANCES = {"bfloat16": (3.2e-2, 1e-2), "float16": (4e-3, 1e-3), "float32": (1e-5, 1e-6),
              "float64": (1e-6, 1e-7)}




def attribute_of(node, name, default):
    for attribute in node.attribute:
        if attribute.name == name:
            return onnx.helper.get_attribute_value(attribute)
    return default


def hardmax(node, x):
    """Before opset 13: of the input as a matrix, whose rows end at the axis. onnx's evaluator has the
    newer meaning only, and ONNX Runtime one type."""
    rows = int(numpy.prod(x.shape[:attribute_of(node, "axis", 1) % x.ndim]))
    matrix = x.reshape(rows, -1)
    result = numpy.zeros_like(matrix)
    result[numpy.arange(rows), matrix.argmax(axis=1)] = 1
    return result.reshape(x.shape)


def global_lp_pool(node, x):
    p = attribute_of(node, "p", 2)
    total = (abs(x) ** p).sum(axis=tuple(range(2, x.ndim)), keepdims=True)
    return total ** x.dtype.type(1 / p)


def mean_variance_normalization(node, x):
    axes = tuple(attribute_of(node, "axes", [0, 2, 3]))
    centred = x - x.mean(axis=axes, keepdims=True)
    return centred / (numpy.sqrt((centred ** 2).mean(axis=axes, keepdims=True)) + 1e-9)


def lrn(node, x):
    """onnx's evaluator takes another window, and ONNX Runtime has one type."""
    size, channels = attribute_of(node, "size", None), x.shape[1]
    alpha, beta, bias = (numpy.float32(attribute_of(node, name, default)).astype(x.dtype) for name, default in
                         (("alpha", 1e-4), ("beta", 0.75), ("bias", 1.0)))
    squares = numpy.zeros_like(x)
    for channel in range(channels):
        first, end = max(channel - (size - 1) // 2, 0), min(channel + size // 2 + 1, channels)
        squares[:, channel] = (x[:, first:end] ** 2).sum(axis=1)
    return x / (bias + alpha / x.dtype.type(size) * squares) ** beta


def log_sum(transform):
    """Integers in double, cut; ONNX Runtime rounds within the sum."""
    def reduce(node, x, axes=None):
        axes = attribute_of(node, "axes", None) if axes is None else axes
        total = transform(x.astype(numpy.float64)).sum(
            axis=None if axes is None else tuple(axes), keepdims=bool(attribute_of(node, "keepdims", 1)))
        return numpy.log(total).astype(x.dtype)
    return reduce


def matmul_integer(node, a, b, *zeros):
    """In 64 bits, of which 32 stay."""
    left, right = [numpy.int64(0) if zero is None else zero.astype(numpy.int64)
                   for zero in (*zeros, None, None)][:2]
    return ((a.astype(numpy.int64) - left) @ (b.astype(numpy.int64) - right)).astype(numpy.int32)


def saturated(number, dtype):
    """The nearest 8-bit floats, the greatest beyond it."""
    greatest = numpy.float32(ml_dtypes.finfo(dtype).max)
    return numpy.clip(number, -greatest, greatest).astype(dtype)


def qlinear_matmul(node, a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero):
    """onnx's evaluator wraps around where the result must saturate, and ONNX Runtime lacks types."""
    if y_zero.dtype.name.startswith("float8"):
        total = a.astype(numpy.float64) @ b.astype(numpy.float64)
        scale = a_scale.astype(numpy.float32) * b_scale.astype(numpy.float32)
        number = total.astype(numpy.float32) * (scale / y_scale.astype(numpy.float32))
        return saturated(number, y_zero.dtype)
    total = (a.astype(numpy.int64) - a_zero) @ (b.astype(numpy.int64) - b_zero)
    scale = a_scale.astype(numpy.float32) * b_scale.astype(numpy.float32)
    number = numpy.rint(total.astype(numpy.float32) * (scale / y_scale.astype(numpy.float32)))
    limits = numpy.iinfo(y_zero.dtype)
    return numpy.clip(number + y_zero, limits.min, limits.max).astype(y_zero.dtype)


def max_roi_pool(node, x, rois):
    """As ONNX Runtime has it, which lacks version 22; onnx's evaluator has none."""
    pooled, scale = attribute_of(node, "pooled_shape", None), numpy.float32(attribute_of(node, "spatial_scale", 1.0))
    sizes = x.shape[2:]
    result = numpy.zeros((len(rois), x.shape[1], *pooled), x.dtype)
    for number, (image, *region) in enumerate(rois):
        scaled = numpy.array(region, rois.dtype) * scale
        left, top, right, bottom = (numpy.trunc(scaled + numpy.copysign(0.5, scaled))).astype(int)
        starts, ends = (top, left), (bottom, right)
        for place in numpy.ndindex(*pooled):
            bounds = []
            for start, end, count, size, i in zip(starts, ends, pooled, sizes, place):
                width = numpy.float32(max(end - start + 1, 1)) / numpy.float32(count)
                bounds.append(slice(*(int(numpy.clip(bound + start, 0, size)) for bound in
                                      (numpy.floor(i * width), numpy.ceil((i + 1) * width)))))
            found = x[int(image), :, bounds[0], bounds[1]]
            if found.size:
                result[(number, slice(None), *place)] = found.max(axis=(1, 2))
    return result


def deform_conv(node, x, w, offset, bias=None, mask=None):
    """Of any rank; ONNX Runtime and onnx's evaluator have images alone."""
    spatial, batch, channels = x.ndim - 2, len(x), x.shape[1]
    kernel, out = w.shape[2:], offset.shape[2:]
    strides, dilations = (attribute_of(node, name, [1] * spatial) for name in ("strides", "dilations"))
    pads = attribute_of(node, "pads", [0] * 2 * spatial)
    groups, parts = attribute_of(node, "group", 1), attribute_of(node, "offset_group", 1)
    moved = offset.reshape(batch, parts, *kernel, spatial, *out).astype(numpy.float64)
    factors = numpy.ones((batch, parts, *kernel, *out)) if mask is None else mask.reshape(batch, parts, *kernel, *out)
    parted = x.reshape(batch, parts, channels // parts, *x.shape[2:]).astype(numpy.float64)
    lead = [axis.reshape(axis.shape + (1,) * spatial) for axis in numpy.ogrid[:batch, :parts]]
    columns = numpy.zeros((batch, channels, *kernel, *out))
    for tap in numpy.ndindex(*kernel):
        places = [moved[(slice(None), slice(None), *tap, i)]
                  + (numpy.arange(out[i]) * strides[i] - pads[i] + tap[i] * dilations[i]).reshape(
                      [-1 if j == i else 1 for j in range(spatial)]) for i in range(spatial)]
        for corner in numpy.ndindex(*[2] * spatial):
            indices = [numpy.floor(place).astype(int) + step for place, step in zip(places, corner)]
            weight = numpy.prod([1 - abs(place - index) for place, index in zip(places, indices)], axis=0)
            for index, size in zip(indices, x.shape[2:]):
                weight = numpy.where((index >= 0) & (index < size), weight, 0)
            clipped = [index.clip(0, size - 1) for index, size in zip(indices, x.shape[2:])]
            found = numpy.moveaxis(parted[(*lead, slice(None), *clipped)], -1, 2)
            found = found * (weight * factors[(slice(None), slice(None), *tap)])[:, :, None]
            columns[(slice(None), slice(None), *tap)] += found.reshape(batch, channels, *out)
    columns = columns.reshape(batch, groups, -1, int(numpy.prod(out)))
    result = w.reshape(groups, len(w) // groups, -1).astype(numpy.float64) @ columns
    result = result.reshape(batch, len(w), *out)
    if bias is not None:
        result += bias.reshape(-1, *[1] * spatial)
    return result.astype(x.dtype)


# Functions of recurrent networks, and how many of alpha and beta each takes, with what these are else.
CELL_FUNCTIONS = {
    "affine": (lambda x, a, b: a * x + b, (1.0, 0.0)),
    "elu": (lambda x, a: numpy.where(x < 0, a * numpy.expm1(numpy.minimum(x, 0)), x), (1.0,)),
    "hardsigmoid": (lambda x, a, b: numpy.clip(a * x + b, 0, 1), (0.2, 0.5)),
    "leakyrelu": (lambda x, a: numpy.where(x < 0, a * x, x), (0.01,)),
    "relu": (lambda x: numpy.maximum(x, 0), ()),
    "scaledtanh": (lambda x, a, b: a * numpy.tanh(b * x), (1.0, 1.0)),
    "sigmoid": (lambda x: (1 + numpy.tanh(x / 2)) / 2, ()),
    "softplus": (lambda x: numpy.logaddexp(x, 0), ()),
    "softsign": (lambda x: x / (1 + abs(x)), ()),
    "tanh": (lambda x: numpy.tanh(x), ()),  # pylint: disable=unnecessary-lambda
    "thresholdedrelu": (lambda x, a: numpy.where(x > a, x, 0), (1.0,)),
}


def cell_functions(node, defaults, directions):
    """Those of each direction, as functions of one array."""
    names = [name.decode() for name in attribute_of(node, "activations", [])] or defaults * directions
    numbers = [list(attribute_of(node, f"activation_{greek}", [])) for greek in ("alpha", "beta")]
    found = []
    for name in names:
        function, otherwise = CELL_FUNCTIONS[name.lower()]
        taken = [given.pop(0) if given else default for given, default in zip(numbers, otherwise)]
        found.append(lambda x, function=function, taken=taken: function(x, *taken))
    return [found[i:i + len(defaults)] for i in range(0, len(names), len(defaults))]


def recurrent_step(node, functions, sums, before, direction):
    """The states behind one, by the specification's formulas; `sums` are those of the input, and what adds
    the product of a vector with some gates' weights."""
    clip = attribute_of(node, "clip", None)
    inputs, product, state_bias, peepholes = sums

    def gate(number, value):
        return functions[number](value if clip is None else numpy.clip(value, -clip, clip))
    if node.op_type == "RNN":
        return [gate(0, inputs[0] + product(before[0], 0) + state_bias[0])]
    if node.op_type == "GRU":
        update, reset = (gate(0, inputs[i] + product(before[0], i) + state_bias[i]) for i in (0, 1))
        if attribute_of(node, "linear_before_reset", 0):
            candidate = gate(1, inputs[2] + reset * (product(before[0], 2) + state_bias[2]))
        else:
            candidate = gate(1, inputs[2] + product(reset * before[0], 2) + state_bias[2])
        return [(1 - update) * candidate + update * before[0]]
    hidden, cell = before
    i, o, f, c = (inputs[g] + product(hidden, g) + state_bias[g] for g in range(4))
    i = gate(0, i + peepholes[0] * cell)
    f = 1 - i if attribute_of(node, "input_forget", 0) else gate(0, f + peepholes[2] * cell)
    cell = f * cell + i * gate(1, c)
    return [gate(0, o + peepholes[1] * cell) * functions[2](cell), cell]


def recurrent(node, x, w, r, b=None, lengths=None, *rest):
    """LSTM, GRU and RNN in FP64, with states rounded to the type of x. onnx's evaluator leaves out directions, lengths
    and most attributes, and ONNX Runtime types, and rows that come first."""
    initial, peepholes = list(rest[:2]), rest[2] if len(rest) > 2 else None
    defaults = {"LSTM": ["Sigmoid", "Tanh", "Tanh"], "GRU": ["Sigmoid", "Tanh"], "RNN": ["Tanh"]}[node.op_type]
    rows_first, dtype = attribute_of(node, "layout", 0), x.dtype
    direction = attribute_of(node, "direction", b"forward").decode()
    directions, units = len(w), r.shape[2]
    gates = w.shape[1] // units
    states = 2 if node.op_type == "LSTM" else 1
    if rows_first:
        x = numpy.swapaxes(x, 0, 1)
    initial = [None if value is None else numpy.swapaxes(value, 0, 1) if rows_first else value for value in initial]
    steps, rows = x.shape[:2]
    ends = numpy.full(rows, steps) if lengths is None else numpy.clip(lengths, 0, steps)
    functions = cell_functions(node, defaults, directions)
    sequence = numpy.zeros((steps, directions, rows, units))
    last = numpy.zeros((states, directions, rows, units))
    for number in range(directions):
        wide, recurrence = w[number].astype(numpy.float64), r[number].astype(numpy.float64)
        bias = numpy.zeros(2 * gates * units) if b is None else b[number].astype(numpy.float64)
        bias, state_bias = bias.reshape(2, gates, units)
        holes = numpy.zeros(3 * units) if peepholes is None else peepholes[number].astype(numpy.float64)
        weights = recurrence.reshape(gates, units, units)
        for row in range(rows):
            state = [numpy.zeros(units) if i >= len(initial) or initial[i] is None
                     else initial[i][number, row].astype(numpy.float64) for i in range(states)]
            times = range(ends[row])
            if direction == "reverse" or number == 1:
                times = reversed(times)
            for time in times:
                inputs = (wide @ x[time, row].astype(numpy.float64)).reshape(gates, units) + bias
                sums = (inputs, lambda vector, gate, weights=weights: weights[gate] @ vector, state_bias,
                        holes.reshape(3, units))
                after = recurrent_step(node, functions[number], sums, state, number)
                state = [value.astype(dtype).astype(numpy.float64) for value in after]
                sequence[time, number, row] = state[0]
            last[:, number, row] = state
    if rows_first:
        sequence, last = numpy.transpose(sequence, (2, 0, 1, 3)), numpy.swapaxes(last, 1, 2)
    results = [sequence.astype(dtype), *(value.astype(dtype) for value in last)]
    return [value for value, name in zip(results, node.output) if name]


def certain(node, x=None):
    """Random operators whose results are certain: intervals of one number, no deviation, probabilities of 0 and 1. Of
    these ONNX Runtime lacks types, and its Bernoulli, a function, is true with the probability of the opposite."""
    code = attribute_of(node, "dtype", None)
    dtype = numpy.dtype(numpy.int32 if node.op_type == "Multinomial" else numpy.float32 if x is None else x.dtype)
    if code is not None:
        dtype = onnx.helper.tensor_dtype_to_np_dtype(code)
    if node.op_type == "Bernoulli":
        return x.astype(dtype)
    if node.op_type == "Multinomial":
        return numpy.repeat(x.argmax(axis=1)[:, None], attribute_of(node, "sample_size", 1), axis=1).astype(dtype)
    number = attribute_of(node, "low", None) if "Uniform" in node.op_type else attribute_of(node, "mean", None)
    return numpy.full(attribute_of(node, "shape", None) if x is None else x.shape, number, dtype)


def drawn(node, x=None):
    """Random operators with a seed, in a context's first run; of others those whose results are certain."""
    seed = attribute_of(node, "seed", None)
    if seed is None:
        return certain(node, x)
    state, dtype = random_reference.state_of(), numpy.dtype(numpy.float32 if x is None else x.dtype)
    if code := attribute_of(node, "dtype", None):
        dtype = onnx.helper.tensor_dtype_to_np_dtype(code)
    if node.op_type == "Bernoulli":
        return random_reference.below(state, 0, x, seed).astype(dtype)
    if node.op_type == "Multinomial":
        found = random_reference.classes(state, 0, x, attribute_of(node, "sample_size", 1), seed)
        return found.astype(dtype if code else numpy.int32)
    shape = attribute_of(node, "shape", None) if x is None else x.shape
    function, first, second = ((random_reference.uniform, "low", "high") if "Uniform" in node.op_type else
                               (random_reference.normal, "mean", "scale"))
    return function(state, 0, shape, dtype, attribute_of(node, first, 0.0), attribute_of(node, second, 1.0), seed)


def dropout(node, x, ratio=None, training=None):
    """In training, with a seed, in a context's first run."""
    wide = numpy.promote_types(x.dtype, numpy.float32)
    share = numpy.full(x.shape, 0.5 if ratio is None else ratio, wide)
    dropped = random_reference.below(random_reference.state_of(), 0, share, attribute_of(node, "seed", 0))
    result = (x.astype(wide) * numpy.where(dropped, wide.type(0), (1 / (1 - share)).astype(wide))).astype(x.dtype)
    return [result, ~dropped][:len(node.output)]


def layer_normalization(node, x, scale, bias=None):
    """Of other types of mean and deviation than FP32, which neither ONNX Runtime nor onnx's evaluator has."""
    axes = tuple(range(attribute_of(node, "axis", -1) % x.ndim, x.ndim))
    stash = onnx.helper.tensor_dtype_to_np_dtype(attribute_of(node, "stash_type", 1))
    wide = x.astype(numpy.float64)
    mean = wide.mean(axis=axes, keepdims=True)
    inverse = 1 / numpy.sqrt(wide.var(axis=axes, keepdims=True) + attribute_of(node, "epsilon", 1e-5))
    result = (wide - mean) * inverse * scale + (0 if bias is None else bias)
    return [result.astype(x.dtype), mean.astype(stash), inverse.astype(stash)][:len(node.output)]


def quantize_linear(node, x, scale, zero):
    """Of quotients in another type than FP32, which neither ONNX Runtime nor onnx's evaluator has."""
    dtype = onnx.helper.tensor_dtype_to_np_dtype(attribute_of(node, "precision", 1))
    limits = numpy.iinfo(zero.dtype)
    number = numpy.rint(x.astype(dtype) / scale.astype(dtype)).astype(numpy.int64) + zero
    return numpy.clip(number, limits.min, limits.max).astype(zero.dtype)


def sparse_constant(node):
    """ONNX Runtime has no array of it."""
    tensor = attribute_of(node, "sparse_value", None)
    values = onnx.numpy_helper.to_array(tensor.values)
    result = numpy.zeros(list(tensor.dims), values.dtype)
    result.flat[onnx.numpy_helper.to_array(tensor.indices)] = values
    return result


def cast_like(node, x, like):
    """To powers of two, whose rounding onnx's evaluator leaves out here and not in Cast."""
    mode = attribute_of(node, "round_mode", b"up").decode()
    powers = onnx.numpy_helper.to_float8e8m0(x, bool(attribute_of(node, "saturate", 1)), mode)
    return powers.astype(like.dtype)


RANDOM = ("Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike")


def is_wrong_at_runtime(model, feed):
    """Whether ONNX Runtime computes something else than the specification says: it adds signed numbers
    times unsigned ones as if both were unsigned, and products with signed ones in 16 bits where the machine has no better
    instructions; it saturates floats of 8 bits unasked, and transforms of 600 numbers are off by 1e-4 of the largest."""
    node = model.graph.node[0]
    types = {name: array.dtype for name, array in feed.items()}
    types |= {tensor.name: onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type)
              for tensor in model.graph.initializer}
    if node.op_type == "ConvInteger":
        return (types[node.input[0]], types[node.input[1]]) == (numpy.int8, numpy.uint8)
    if node.op_type in ("MatMulInteger", "QLinearMatMul"):
        return types[node.input[1 if node.op_type == "MatMulInteger" else 3]] == numpy.int8
    return node.op_type == "DFT" or (node.op_type == "QuantizeLinear" and not attribute_of(node, "saturate", 1))


def formula_for(node, opset, feed):
    """Our own formula, or None."""
    integers = any(array.dtype.kind in "iu" for array in list(feed.values())[:1])
    if node.op_type == "Hardmax" and opset < 13:
        return hardmax
    if integers and node.op_type == "ReduceLogSum":
        return log_sum(lambda x: x)
    if integers and node.op_type == "ReduceLogSumExp":
        return log_sum(numpy.exp)
    if node.op_type == "DeformConv" and next(iter(feed.values())).ndim != 4:
        return deform_conv
    if node.op_type == "MaxRoiPool" and opset >= 22:
        return max_roi_pool
    if node.op_type in ("GRU", "LSTM", "RNN"):
        x = next(iter(feed.values()))
        # ONNX Runtime ends the process where there is nothing.
        is_own = attribute_of(node, "layout", 0) or x.dtype != numpy.float32 or x.size == 0
        return recurrent if is_own or not attribute_of(node, "hidden_size", 0) else None
    if node.op_type == "Dropout" and attribute_of(node, "seed", None) is not None and len(node.input) > 2:
        return dropout
    if node.op_type == "QuantizeLinear" and attribute_of(node, "precision", 0) > 1:
        return quantize_linear
    if node.op_type == "Constant" and attribute_of(node, "sparse_value", None):
        return sparse_constant
    if node.op_type == "CastLike" and attribute_of(node, "round_mode", None):
        return cast_like
    if node.op_type == "LayerNormalization" and attribute_of(node, "stash_type", 1) != 1:
        return layer_normalization
    return {"GlobalLpPool": global_lp_pool, "LRN": lrn,
            "MatMulInteger": matmul_integer,
            "QLinearMatMul": qlinear_matmul, **dict.fromkeys(RANDOM, drawn),
            "MeanVarianceNormalization": mean_variance_normalization}.get(node.op_type)


def expected(model, feed):
    """The reference outputs, or the reason why there are none."""
    nodes = model.graph.node
    formula = formula_for(nodes[0], model.opset_import[0].version, feed) if len(nodes) == 1 else None
    if formula:
        values = {**feed, **{tensor.name: onnx.numpy_helper.to_array(tensor)
                             for tensor in model.graph.initializer}}
        try:
            found = formula(nodes[0], *(values.get(name) for name in nodes[0].input))
            return [numpy.asarray(value) for value in (found if isinstance(found, list) else [found])]
        except ValueError as error:
            return f"no reference: {error}"
    if is_wrong_at_runtime(model, feed):
        return [numpy.asarray(value)
                for value in onnx.reference.ReferenceEvaluator(model).run(None, feed)]
    try:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        session = onnxruntime.InferenceSession(model.SerializeToString(), options)
        if any(output.type == "tensor(float4e2m1)" for output in session.get_outputs()):
            raise TypeError("floats of 4 bits have no type of numpy's in ONNX Runtime")
        # Floats of 8 bits come as bytes.
        types = [BYTES.get(output.type) for output in session.get_outputs()]
        return [numpy.asarray(value).view(dtype) if dtype else numpy.asarray(value)
                for dtype, value in zip(types, session.run(None, feed))]
    except Exception as missing:  # pylint: disable=broad-except
        try:
            values = onnx.reference.ReferenceEvaluator(model).run(None, feed)
            return [numpy.asarray(value) for value in values]
        except Exception as error:  # pylint: disable=broad-except
            return f"no reference: {missing}; {error}"


# Operators whose results have one right value: it is moved, or rounded once.
EXACT = {"Cast", "CastLike", "Concat", "Expand", "Flatten", "Gather", "GatherElements", "GatherND", "Identity", "Pad",
         "Reshape", "Slice", "SpaceToDepth", "DepthToSpace", "Split", "Squeeze", "Tile", "Transpose", "Unsqueeze",
         "Where", "Neg", "Abs", "Relu", "Max", "Min", "MaxPool", "ReduceMax", "ReduceMin", "TopK", "NonZero", "Compress",
         "Unique"}


def is_exact(model):
    """True of a model all of whose results have one right value."""
    return all(node.op_type in EXACT | {"Constant"} for node in model.graph.node)


def check_itself():
    """Differences that differs() must notice, and some that are none."""
    ones = numpy.ones(4, numpy.float32)
    close = ones + numpy.float32(2e-6)
    wrong = [(ones, ones.astype(numpy.float16)), (ones, ones.reshape(2, 2)), (ones, ones + numpy.float32(1e-4)),
             (ones, numpy.array([1, 1, 1, numpy.nan], numpy.float32)), (numpy.arange(3), numpy.array([0, 1, 3])),
             (ones.astype(bool), numpy.array([1, 1, 0, 1], bool))]
    for value, other in wrong:
        assert differs("y", value, other) and differs("y", other, value), f"{other} for {value} goes unnoticed"
    assert not differs("y", ones, close) and differs("y", ones, close, exact=True)
    missing = numpy.array([numpy.nan, 1], numpy.float32)
    assert not differs("y", missing, missing) and not differs("y", missing, missing, exact=True)


def differs(name, value, reference, exact=False):
    """The difference of an output in words, or None. Integers and booleans must agree exactly; `exact`: floats, too."""
    if value.dtype != reference.dtype or value.shape != reference.shape:
        return (f"{name} is {value.dtype} {value.shape}, "
                f"not {reference.dtype} {reference.shape}")
    if value.dtype.name not in TOLERANCES:
        if value.dtype.name.startswith("float"):
            value, reference = value.astype(numpy.float32), reference.astype(numpy.float32)
            if numpy.array_equal(value, reference, equal_nan=True):
                return None
        if numpy.array_equal(value, reference):
            return None
        wrong = value != reference
        return f"{name}: {value[wrong].flat[0]}, not {reference[wrong].flat[0]}"
    rtol, atol = (0, 0) if exact else TOLERANCES[reference.dtype.name]
    sums_matter = reference.dtype.name in ("float32", "float64")
    value, reference = value.astype(numpy.float64), reference.astype(numpy.float64)
    if sums_matter:
        atol *= numpy.abs(reference[numpy.isfinite(reference)]).max(initial=1)
    with numpy.errstate(all="ignore"):
        if numpy.allclose(value, reference, rtol=rtol, atol=atol, equal_nan=True):
            return None
        if (numpy.isnan(value) != numpy.isnan(reference)).any():
            return f"{name}: one has a number where the other has none"
        return f"{name}: largest difference {numpy.nanmax(numpy.abs(value - reference)):.3e}"
