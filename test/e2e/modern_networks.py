"""Networks whose graphs are more than a chain: squeeze-excite, transposes between layouts, caches
that come in and go out, dilated branches that meet, windows that are rolled, skips across a U.

Weights are random and seeded as in networks.py. Each has a small size, which the simulator runs in
well under a second, and the size of its paper (FULL_NETWORKS).
"""
# SPDX-License-Identifier: Apache-2.0
import numpy
from onnx import TensorProto

from networks import Builder, Network, calibrate, images, rename_output, value


def swish(b, x):
    return b.node("Mul", x, b.node("Sigmoid", x))


def conv(b, x, inputs, outputs, kernel, *, stride=1, groups=1, gain=1.0):
    """A convolution with a bias."""
    fan_in = inputs // groups * kernel * kernel
    weight = b.normal((outputs, inputs // groups, kernel, kernel), (gain / fan_in) ** 0.5)
    return b.node("Conv", x, weight, b.normal(outputs, 0.05), kernel_shape=[kernel] * 2,
                  strides=[stride] * 2, pads=[kernel // 2 if stride == 1 else 0] * 4, group=groups)


def finish(b, result, name, shapes, opset):
    """A Network of one image and one result; `shapes` are those of both."""
    rename_output(b, result, name)
    model = b.model([value("image", shapes[0])], [value(name, shapes[1])], opset)
    make = images(shape=shapes[0][1:])
    calibrate(model, make(1, numpy.random.default_rng(0)))
    return Network(model, make)


def efficientnet_b0(resolution, repeated):
    """`repeated`: stages have as many blocks as in the paper, and not one."""
    b = Builder("efficientnet_b0", 100)
    x = swish(b, b.conv_norm("image", 3, 32, 3, 2))
    channels = 32
    for expand, kernel, first_stride, outputs, blocks in (
            (1, 3, 1, 16, 1), (6, 3, 2, 24, 2), (6, 5, 2, 40, 2), (6, 3, 2, 80, 3),
            (6, 5, 1, 112, 3), (6, 5, 2, 192, 4), (6, 3, 1, 320, 1)):
        for block in range(blocks if repeated else 1):
            stride = 1 if block else first_stride
            hidden = channels * expand
            y = swish(b, b.conv_norm(x, channels, hidden, 1)) if expand != 1 else x
            y = swish(b, b.conv_norm(y, hidden, hidden, kernel, stride, groups=hidden))
            squeezed = b.node("GlobalAveragePool", y)
            squeezed = swish(b, conv(b, squeezed, hidden, max(1, channels // 4), 1))
            squeezed = conv(b, squeezed, max(1, channels // 4), hidden, 1)
            y = b.node("Mul", y, b.node("Sigmoid", squeezed))
            y = b.conv_norm(y, hidden, outputs, 1, gain=1.0)
            x = b.node("Add", y, x) if stride == 1 and channels == outputs else y
            channels = outputs
    x = swish(b, b.conv_norm(x, channels, 1280, 1))
    x = b.node("Flatten", b.node("GlobalAveragePool", x), axis=1)
    logits = b.node("Gemm", x, b.normal((1000, 1280), 1280 ** -0.5), b.normal(1000, 0.1), transB=1)
    return finish(b, logits, "logits", (["N", 3, resolution, resolution], ["N", 1000]), 13)


def gelu(b, x):
    """As exporters wrote it before it became an operator."""
    erf = b.node("Erf", b.node("Div", x, b.constant(numpy.float32(2 ** 0.5))))
    y = b.node("Mul", x, b.node("Add", erf, b.constant(numpy.float32(1))))
    return b.node("Mul", y, b.constant(numpy.float32(0.5)))


def norm_channels(b, x, size):
    """A layer normalization over channels that do not come last."""
    last = b.layer_norm(b.node("Transpose", x, perm=[0, 2, 3, 1]), size)
    return b.node("Transpose", last, perm=[0, 3, 1, 2])


def convnext_t(resolution, depths, widths=(96, 192, 384, 768)):
    b = Builder("convnext_t", 101)
    x = norm_channels(b, conv(b, "image", 3, widths[0], 4, stride=4), widths[0])
    for stage, (depth, width) in enumerate(zip(depths, widths)):
        if stage:
            x = norm_channels(b, x, widths[stage - 1])
            x = conv(b, x, widths[stage - 1], width, 2, stride=2)
        for _ in range(depth):
            y = b.node("Transpose", conv(b, x, width, width, 7, groups=width), perm=[0, 2, 3, 1])
            y = gelu(b, b.dense(b.layer_norm(y, width), width, 4 * width))
            y = b.dense(y, 4 * width, width)
            y = b.node("Mul", b.uniform(width, 0.1, 0.5), y)
            x = b.node("Add", x, b.node("Transpose", y, perm=[0, 3, 1, 2]))
    x = b.node("Flatten", b.node("GlobalAveragePool", x), axis=1)
    x = b.layer_norm(x, widths[-1])
    logits = b.node("Gemm", x, b.normal((1000, widths[-1]), widths[-1] ** -0.5),
                    b.normal(1000, 0.1), transB=1)
    return finish(b, logits, "logits", (["N", 3, resolution, resolution], ["N", 1000]), 17)


def tanh_gelu(b, x):
    def scalar(number):
        return b.constant(numpy.float32(number))

    cube = b.node("Mul", scalar(0.044715), b.node("Pow", x, scalar(3)))
    inner = b.node("Mul", scalar((2 / numpy.pi) ** 0.5), b.node("Add", x, cube))
    return b.node("Mul", b.node("Mul", scalar(0.5), x),
                  b.node("Add", scalar(1), b.node("Tanh", inner)))


def sizes_of(b, x, *axes):
    """Scalars: the sizes of some of its axes."""
    shape = b.node("Shape", x)
    return [b.node("Gather", shape, b.constant(numpy.int64(axis)), axis=0) for axis in axes]


def causal_mask(b, past, hidden):
    """[T, P + T]: true where a token may look, at what was before it and at itself."""
    before, = sizes_of(b, past, 2)
    new, = sizes_of(b, hidden, 1)
    zero, one = b.constant(numpy.int64(0)), b.constant(numpy.int64(1))
    end = b.node("Add", before, new)
    rows = b.node("Unsqueeze", b.node("Range", before, end, one), b.integers(1))
    return b.node("LessOrEqual", b.node("Range", zero, end, one), rows)


def gpt(layers, size, heads):
    """Blocks of GPT-2 with a cache: keys and values of P earlier tokens come in, those of all P + T
    go out."""
    b = Builder("gpt", 102)
    deep = size // heads
    minus, scale = b.constant(numpy.float32(-1e4)), b.constant(numpy.float32(deep ** 0.5))
    mask = causal_mask(b, "past_key_0", "hidden")
    x, caches = "hidden", []
    for layer in range(layers):
        y = b.dense(b.layer_norm(x, size), size, 3 * size)
        query, key, content = (
            b.node("Transpose", b.node("Reshape", part, b.integers(0, 0, heads, deep)),
                   perm=[0, 2, 1, 3])
            for part in b.node("Split", y, b.integers(size, size, size), outputs=3, axis=-1))
        key = b.node("Concat", f"past_key_{layer}", key, axis=2)
        content = b.node("Concat", f"past_value_{layer}", content, axis=2)
        caches += [(f"present_key_{layer}", key), (f"present_value_{layer}", content)]
        scores = b.node("MatMul", query, b.node("Transpose", key, perm=[0, 1, 3, 2]))
        scores = b.node("Where", mask, b.node("Div", scores, scale), minus)
        y = b.node("MatMul", b.node("Softmax", scores, axis=-1), content)
        y = b.node("Reshape", b.node("Transpose", y, perm=[0, 2, 1, 3]), b.integers(0, 0, size))
        x = b.node("Add", x, b.dense(y, size, size))
        y = tanh_gelu(b, b.dense(b.layer_norm(x, size), size, 4 * size))
        x = b.node("Add", x, b.dense(y, 4 * size, size))
    caches.append(("result", b.layer_norm(x, size)))
    for name, inner in caches:
        for node in b.nodes:
            node.input[:] = [name if source == inner else source for source in node.input]
        rename_output(b, inner, name)
    past = [value(f"past_{kind}_{layer}", ["N", heads, "P", deep])
            for layer in range(layers) for kind in ("key", "value")]
    present = [value(name, ["N", heads, "L", deep]) for name, _ in caches[:-1]]
    model = b.model([value("hidden", ["N", "T", size]), *past],
                    [value("result", ["N", "T", size]), *present], 17)

    def inputs(batch, random):
        # A prompt behind a short cache, one token behind a longer one, and an empty cache.
        new, before = {1: (9, 7), 3: (1, 21)}.get(batch, (6, 0))
        shape = (batch, heads, before, deep)
        return {"hidden": random.standard_normal((batch, new, size), numpy.float32),
                **{put.name: random.standard_normal(shape, numpy.float32) for put in past}}

    return Network(model, inputs, (1, 3, 2))


def deeplab_head(channels, width, size, rates=(6, 12, 18)):
    """Atrous spatial pyramid pooling, a classifier, and its result at four times the resolution."""
    b = Builder("deeplab_head", 103)
    x = b.node("Relu", b.conv_norm("image", 3, channels, 3))
    branches = [b.node("Relu", b.conv_norm(x, channels, width, 1))]
    for rate in rates:
        branches.append(b.node("Relu", b.conv_norm(x, channels, width, 3, dilation=rate)))
    pooled = b.node("Relu", conv(b, b.node("GlobalAveragePool", x), channels, width, 1))
    batch, = sizes_of(b, x, 0)
    target = b.node("Concat", b.node("Unsqueeze", batch, b.integers(0)),
                    b.integers(width, size, size), axis=0)
    branches.append(b.node("Resize", pooled, "", "", target, mode="linear",
                           coordinate_transformation_mode="half_pixel"))
    x = b.node("Concat", *branches, axis=1)
    x = b.node("Relu", b.conv_norm(x, 5 * width, width, 1))
    x = b.node("Relu", b.conv_norm(x, width, width, 3))
    x = conv(b, x, width, 21, 1)
    x = b.node("Resize", x, "", b.constant(numpy.array([1, 1, 4, 4], numpy.float32)), mode="linear",
               coordinate_transformation_mode="half_pixel")
    return finish(b, x, "classes", (["N", 3, size, size], ["N", 21, 4 * size, 4 * size]), 13)


def roll(b, x, shift):
    """Along axes 1 and 2, as exporters write it: two slices the other way round."""
    for axis in (1, 2):
        end = b.node("Slice", x, b.integers(shift), b.integers(2 ** 62), b.integers(axis))
        start = b.node("Slice", x, b.integers(0), b.integers(shift), b.integers(axis))
        x = b.node("Concat", end, start, axis=axis)
    return x


def shifted_mask(side, window, shift):
    """[windows, window^2, window^2]: -100 where two places were no neighbours before the roll."""
    kinds = numpy.zeros((side, side), numpy.int64)
    bounds = [(0, side - window), (side - window, side - shift), (side - shift, side)]
    for i, rows in enumerate(bounds):
        for j, columns in enumerate(bounds):
            kinds[slice(*rows), slice(*columns)] = 3 * i + j
    parts = side // window
    kinds = kinds.reshape(parts, window, parts, window).transpose(0, 2, 1, 3)
    kinds = kinds.reshape(parts * parts, window * window)
    apart = kinds[:, :, None] != kinds[:, None, :]
    return numpy.where(apart, numpy.float32(-100), numpy.float32(0))


def swin_attention(b, x, side, size, heads, window, shift):
    parts, places, deep = side // window, window * window, size // heads
    if shift:
        x = roll(b, x, shift)
    x = b.node("Reshape", x, b.integers(-1, parts, window, parts, window, size))
    x = b.node("Transpose", x, perm=[0, 1, 3, 2, 4, 5])
    x = b.dense(b.node("Reshape", x, b.integers(-1, places, size)), size, 3 * size)
    x = b.node("Transpose", b.node("Reshape", x, b.integers(-1, places, 3, heads, deep)),
               perm=[2, 0, 3, 1, 4])
    query, key, content = (b.node("Gather", x, b.constant(numpy.int64(i)), axis=0)
                           for i in range(3))
    query = b.node("Mul", query, b.constant(numpy.float32(deep ** -0.5)))
    scores = b.node("MatMul", query, b.node("Transpose", key, perm=[0, 1, 3, 2]))
    # The bias of two places depends on how far they are apart: a table, read at constant places.
    row, column = numpy.divmod(numpy.arange(places), window)
    index = ((row[:, None] - row[None] + window - 1) * (2 * window - 1)
             + column[:, None] - column[None] + window - 1)
    bias = b.node("Gather", b.normal(((2 * window - 1) ** 2, heads), 0.3),
                  b.constant(index.reshape(-1)), axis=0)
    bias = b.node("Transpose", b.node("Reshape", bias, b.integers(places, places, heads)),
                  perm=[2, 0, 1])
    scores = b.node("Add", scores, b.node("Unsqueeze", bias, b.integers(0)))
    if shift:
        scores = b.node("Reshape", scores, b.integers(-1, parts * parts, heads, places, places))
        mask = shifted_mask(side, window, shift)[None, :, None]
        scores = b.node("Reshape", b.node("Add", scores, b.constant(mask)),
                        b.integers(-1, heads, places, places))
    y = b.node("MatMul", b.node("Softmax", scores, axis=-1), content)
    y = b.node("Reshape", b.node("Transpose", y, perm=[0, 2, 1, 3]), b.integers(-1, places, size))
    y = b.dense(y, size, size)
    y = b.node("Reshape", y, b.integers(-1, parts, parts, window, window, size))
    y = b.node("Reshape", b.node("Transpose", y, perm=[0, 1, 3, 2, 4, 5]),
               b.integers(-1, side, side, size))
    return roll(b, y, side - shift) if shift else y


def swin(side, size, heads, window=7):
    """Two blocks of Swin, the second on shifted windows, behind the embedding of patches."""
    b = Builder("swin", 104)
    x = conv(b, "image", 3, size, 4, stride=4)
    x = b.layer_norm(b.node("Transpose", x, perm=[0, 2, 3, 1]), size)
    for shift in (0, window // 2):
        x = b.node("Add", x, swin_attention(b, b.layer_norm(x, size), side, size, heads, window,
                                            shift))
        y = gelu(b, b.dense(b.layer_norm(x, size), size, 4 * size))
        x = b.node("Add", x, b.dense(y, 4 * size, size))
    return finish(b, b.layer_norm(x, size), "features",
                  (["N", 3, 4 * side, 4 * side], ["N", side, side, size]), 17)


def group_norm(b, x, channels, groups, side):
    """As exporters write it: an instance normalization of a reshaped tensor."""
    y = b.node("Reshape", x, b.integers(0, groups, -1))
    y = b.node("InstanceNormalization", y, b.constant(numpy.ones(groups, numpy.float32)),
               b.constant(numpy.zeros(groups, numpy.float32)))
    y = b.node("Reshape", y, b.integers(-1, channels, side, side))
    y = b.node("Mul", y, b.normal((channels, 1, 1), 0.1, 1.0))
    return b.node("Add", y, b.normal((channels, 1, 1), 0.1))


def spatial_attention(b, x, channels, side):
    """Self-attention between all places, as in networks that remove noise."""
    y = group_norm(b, x, channels, 4, side)
    query, key, content = (
        b.node("Reshape", conv(b, y, channels, channels, 1), b.integers(0, channels, side * side))
        for _ in range(3))
    scores = b.node("MatMul", b.node("Transpose", query, perm=[0, 2, 1]), key)
    scores = b.node("Mul", scores, b.constant(numpy.float32(channels ** -0.5)))
    weights = b.node("Softmax", scores, axis=-1)
    y = b.node("MatMul", content, b.node("Transpose", weights, perm=[0, 2, 1]))
    y = b.node("Reshape", y, b.integers(0, channels, side, side))
    return b.node("Add", x, conv(b, y, channels, channels, 1))


def gate(b, skip, up, channels):
    """What of a skip is let through, told by what comes from below."""
    inner = max(1, channels // 2)
    both = b.node("Relu", b.node("Add", conv(b, skip, channels, inner, 1),
                                 conv(b, up, channels, inner, 1)))
    return b.node("Mul", skip, b.node("Sigmoid", conv(b, both, inner, 1, 1)))


def unet(side, width, levels=3):
    """Steps up are a ConvTranspose and a Resize in turn; skips have gates, the bottom attention."""
    b = Builder("unet", 105)

    def double(x, inputs, outputs):
        x = b.node("Relu", b.conv_norm(x, inputs, outputs, 3))
        return b.node("Relu", b.conv_norm(x, outputs, outputs, 3))

    x, channels, skips = double("image", 3, width), width, []
    for _ in range(levels):
        skips.append((x, channels))
        x = b.node("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
        x = double(x, channels, 2 * channels)
        channels *= 2
    x = spatial_attention(b, x, channels, side >> levels)
    for level, (skip, wide) in enumerate(reversed(skips)):
        if level % 2 == 0:
            x = b.node("ConvTranspose", x, b.normal((channels, wide, 2, 2), channels ** -0.5),
                       b.normal(wide, 0.05), kernel_shape=[2, 2], strides=[2, 2])
        else:
            x = b.node("Resize", x, "", b.constant(numpy.array([1, 1, 2, 2], numpy.float32)),
                       mode="nearest", coordinate_transformation_mode="asymmetric",
                       nearest_mode="floor")
            x = b.node("Relu", b.conv_norm(x, channels, wide, 3))
        x = double(b.node("Concat", gate(b, skip, x, wide), x, axis=1), 2 * wide, wide)
        channels = wide
    return finish(b, conv(b, x, width, 2, 1), "mask",
                  (["N", 3, side, side], ["N", 2, side, side]), 13)


def primitives(width, heads):
    """A block of a transformer as exporters write it that have no operators for norms and Softmax:
    layer norm, softmax, RMS norm and a result of length 1, all of ReduceMean and its like."""
    b = Builder("primitives", 106)
    last, small = b.integers(-1), b.constant(numpy.float32(1e-5))

    def scaled(x, squares, gain):
        root = b.node("Sqrt", b.node("Add", b.node("ReduceMean", squares, last), small))
        return b.node("Mul", b.node("Div", x, root), gain)

    def layer_norm(x):
        centred = b.node("Sub", x, b.node("ReduceMean", x, last))
        squares = b.node("Pow", centred, b.constant(numpy.float32(2)))
        return b.node("Add", scaled(centred, squares, b.uniform(width, 0.8, 1.2)),
                      b.normal(width, 0.1))

    def softmax(x):
        powers = b.node("Exp", b.node("Sub", x, b.node("ReduceMax", x, last)))
        return b.node("Div", powers, b.node("ReduceSum", powers, last))

    split = b.integers(0, 0, heads, width // heads)
    y = layer_norm("tokens")
    query, key, content = (
        b.node("Transpose", b.node("Reshape", b.dense(y, width, width), split), perm=perm)
        for perm in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]))
    y = b.node("MatMul", softmax(b.node("MatMul", query, key)), content)
    y = b.node("Reshape", b.node("Transpose", y, perm=[0, 2, 1, 3]), b.integers(0, 0, width))
    x = b.node("Add", "tokens", b.dense(y, width, width))
    y = scaled(x, b.node("Mul", x, x), b.uniform(width, 0.8, 1.2))
    x = b.node("Add", x, b.dense(b.node("Relu", b.dense(y, width, 2 * width)), 2 * width, width))
    result = b.node("Div", x, b.node("ReduceL2", x, last))
    rename_output(b, result, "result")
    model = b.model([value("tokens", ["N", "T", width])], [value("result", ["N", "T", width])], 18)

    def inputs(batch, random):
        return {"tokens": random.standard_normal((batch, 5 + 4 * batch, width), numpy.float32)}

    return Network(model, inputs, (1, 3))


def pixel_shuffle(channels, size):
    """Twice the resolution: each pixel's channels become four pixels, as in ESPCN."""
    b = Builder("pixel_shuffle", 107)
    x = b.node("Relu", conv(b, "image", 3, channels, 3))
    x = b.node("DepthToSpace", conv(b, x, channels, 4 * channels, 3), blocksize=2)
    x = b.node("Relu", x)
    x = b.node("DepthToSpace", conv(b, x, channels, 4 * 3, 3), blocksize=2, mode="CRD")
    x = b.node("Sigmoid", x)
    return finish(b, x, "enlarged", (["N", 3, size, size], ["N", 3, 4 * size, 4 * size]), 13)


SMALL_NETWORKS = {
    "efficientnet_b0": lambda: efficientnet_b0(96, False),
    "convnext_t": lambda: convnext_t(64, (1, 1, 2, 1), (24, 48, 96, 192)),
    "gpt": lambda: gpt(2, 64, 4),
    "deeplab_head": lambda: deeplab_head(48, 24, 20),
    "swin": lambda: swin(14, 32, 2),
    "unet": lambda: unet(32, 8),
}
FULL_NETWORKS = {
    "efficientnet_b0": lambda: efficientnet_b0(224, True),
    "convnext_t": lambda: convnext_t(224, (3, 3, 9, 3)),
    "gpt": lambda: gpt(12, 768, 12),
    "deeplab_head": lambda: deeplab_head(2048, 256, 33),
    "swin": lambda: swin(56, 96, 3),
    "unet": lambda: unet(256, 64, 4),
}
