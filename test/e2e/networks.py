"""Networks at full size with seeded random weights, and inputs for them.

Random weights show numerical error and speed; they classify nothing. Convolutions and products are
scaled so that activations neither die out nor overflow through a hundred layers, batch-norms have
statistics of their own, and the layer before a softmax is scaled so that its output is not a one-hot.
Everything that is batch is symbolic (N), and in BERT the sequence too (S).
"""
# SPDX-License-Identifier: Apache-2.0
from dataclasses import dataclass
from pathlib import Path

import numpy
import onnx
import onnx.backend.test
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

# Errors only: a probe's unused batch-norm statistics are no news.
onnxruntime.set_default_logger_severity(3)

LIGHT = Path(onnx.backend.test.__file__).parent / "data" / "light"


@dataclass
class Network:
    model: onnx.ModelProto
    inputs: object  # function of (batch, generator): a dict of arrays
    batches: tuple = (1, 3)


class Builder:
    """Adds nodes with fresh names and seeded weights to a graph."""

    def __init__(self, name, seed):
        self.name, self.nodes, self.weights = name, [], []
        self.random = numpy.random.default_rng(seed)

    def node(self, operator, *inputs, outputs=1, **attributes):
        names = [f"{operator}_{len(self.nodes)}" + (f"_{i}" if i else "") for i in range(outputs)]
        self.nodes.append(helper.make_node(operator, inputs, names, name=names[0], **attributes))
        return names[0] if outputs == 1 else names

    def constant(self, array):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(numpy.asarray(array), name))
        return name

    def integers(self, *values):
        return self.constant(numpy.array(values, numpy.int64))

    def normal(self, shape, deviation, mean=0.0):
        values = self.random.standard_normal(shape, numpy.float32)
        return self.constant(values * numpy.float32(deviation) + numpy.float32(mean))

    def uniform(self, size, low, high):
        return self.constant(self.random.uniform(low, high, size).astype(numpy.float32))

    def conv_norm(self, x, inputs, outputs, kernel, stride=1, groups=1, gain=2.0, dilation=1):
        fan_in = inputs // groups * kernel * kernel
        weight = self.normal((outputs, inputs // groups, kernel, kernel), (gain / fan_in) ** 0.5)
        dilated = {"dilations": [dilation] * 2} if dilation != 1 else {}
        y = self.node("Conv", x, weight, kernel_shape=[kernel] * 2, strides=[stride] * 2,
                      pads=[kernel // 2 * dilation] * 4, group=groups, **dilated)
        return self.node("BatchNormalization", y, self.uniform(outputs, 0.8, 1.2),
                         self.normal(outputs, 0.1), self.normal(outputs, 0.1),
                         self.uniform(outputs, 0.8, 1.2))

    def dense(self, x, inputs, outputs, gain=1.0):
        """A product with the last axis, and a bias."""
        weight = self.normal((inputs, outputs), (gain / inputs) ** 0.5)
        return self.node("Add", self.node("MatMul", x, weight), self.normal(outputs, 0.02))

    def layer_norm(self, x, size):
        return self.node("LayerNormalization", x, self.uniform(size, 0.8, 1.2),
                         self.normal(size, 0.1), axis=-1, epsilon=1e-6)

    def attention(self, x, size, heads, tokens, mask=None):
        """Self-attention; `tokens` is the reshape target of the sequence axis, 0 to keep it."""
        split = self.integers(0, tokens, heads, size // heads)
        query, key, value = (
            self.node("Transpose", self.node("Reshape", self.dense(x, size, size), split), perm=perm)
            for perm in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]))
        scores = self.node("Div", self.node("MatMul", query, key),
                           self.constant(numpy.float32((size // heads) ** 0.5)))
        if mask:
            scores = self.node("Add", scores, mask)
        y = self.node("MatMul", self.node("Softmax", scores, axis=-1), value)
        y = self.node("Reshape", self.node("Transpose", y, perm=[0, 2, 1, 3]),
                      self.integers(0, tokens, size))
        return self.dense(y, size, size)

    def model(self, inputs, outputs, opset):
        graph = helper.make_graph(self.nodes, self.name, inputs, outputs, self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)],
                                  producer_name="cameo-tests")
        model.ir_version = 8
        onnx.checker.check_model(model)
        return model


def value(name, shape, data_type=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, data_type, shape)


def images(name="image", shape=(3, 224, 224)):
    def make(batch, random):
        return {name: random.standard_normal((batch, *shape), numpy.float32)}
    return make


def rename_output(builder, old, new):
    for node in builder.nodes:
        node.output[:] = [new if name == old else name for name in node.output]


def image_classifier(builder, logits, opset=13):
    rename_output(builder, logits, "logits")
    model = builder.model([value("image", ["N", 3, 224, 224])], [value("logits", ["N", 1000])],
                          opset)
    make = images()
    calibrate(model, make(1, numpy.random.default_rng(0)))
    return Network(model, make)


def classify(builder, x, features):
    """Global average pool and a fully connected layer."""
    x = builder.node("Flatten", builder.node("GlobalAveragePool", x), axis=1)
    return builder.node("Gemm", x, builder.normal((1000, features), features ** -0.5),
                        builder.normal(1000, 0.1), transB=1)


def resnet50():
    b = Builder("resnet50", 50)
    x = b.node("Relu", b.conv_norm("image", 3, 64, 7, 2))
    x = b.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    channels = 64
    for stage, (blocks, width) in enumerate(((3, 64), (4, 128), (6, 256), (3, 512))):
        for block in range(blocks):
            stride = 2 if block == 0 and stage else 1
            shortcut = x
            if block == 0:
                shortcut = b.conv_norm(x, channels, 4 * width, 1, stride, gain=1.0)
            y = b.node("Relu", b.conv_norm(x, channels, width, 1))
            y = b.node("Relu", b.conv_norm(y, width, width, 3, stride))
            y = b.conv_norm(y, width, 4 * width, 1, gain=0.5)
            x = b.node("Relu", b.node("Add", y, shortcut))
            channels = 4 * width
    return image_classifier(b, classify(b, x, channels))


def mobilenet_v2():
    b = Builder("mobilenet_v2", 2)
    low, high = b.constant(numpy.float32(0)), b.constant(numpy.float32(6))

    def relu6(x):
        return b.node("Clip", x, low, high)

    x = relu6(b.conv_norm("image", 3, 32, 3, 2))
    channels = 32
    for expand, outputs, blocks, first_stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2),
                                                  (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2),
                                                  (6, 320, 1, 1)):
        for block in range(blocks):
            stride = first_stride if block == 0 else 1
            hidden = channels * expand
            y = relu6(b.conv_norm(x, channels, hidden, 1)) if expand != 1 else x
            y = relu6(b.conv_norm(y, hidden, hidden, 3, stride, groups=hidden))
            y = b.conv_norm(y, hidden, outputs, 1, gain=1.0)
            x = b.node("Add", x, y) if stride == 1 and channels == outputs else y
            channels = outputs
    return image_classifier(b, classify(b, relu6(b.conv_norm(x, channels, 1280, 1)), 1280))


def vit_b16():
    b = Builder("vit_b16", 16)
    size, heads, tokens = 768, 12, 197
    x = b.node("Conv", "image", b.normal((size, 3, 16, 16), (1 / 768) ** 0.5), b.normal(size, 0.02),
               kernel_shape=[16, 16], strides=[16, 16])
    x = b.node("Transpose", b.node("Reshape", x, b.integers(0, size, tokens - 1)), perm=[0, 2, 1])
    batch = b.node("Gather", b.node("Shape", "image"), b.integers(0), axis=0)
    start = b.node("Expand", b.normal((1, 1, size), 1.0),
                   b.node("Concat", batch, b.integers(1, size), axis=0))
    x = b.node("Add", b.node("Concat", start, x, axis=1), b.normal((1, tokens, size), 0.2))
    for _ in range(12):
        x = b.node("Add", x, b.attention(b.layer_norm(x, size), size, heads, tokens))
        y = b.dense(b.layer_norm(x, size), size, 4 * size)
        # GELU as exporters wrote it before it became an operator.
        erf = b.node("Erf", b.node("Div", y, b.constant(numpy.float32(2 ** 0.5))))
        y = b.node("Mul", y, b.node("Add", erf, b.constant(numpy.float32(1))))
        y = b.dense(b.node("Mul", y, b.constant(numpy.float32(0.5))), 4 * size, size)
        x = b.node("Add", x, y)
    x = b.node("Gather", b.layer_norm(x, size), b.constant(numpy.int64(0)), axis=1)
    logits = b.node("Gemm", x, b.normal((1000, size), size ** -0.5), b.normal(1000, 0.1), transB=1)
    return image_classifier(b, logits, opset=17)


def bert_base():
    b = Builder("bert_base", 12)
    size, heads, words, longest = 768, 12, 30522, 512
    length = b.node("Gather", b.node("Shape", "input_ids"), b.integers(1), axis=0)
    positions = b.node("Slice", b.normal((1, longest, size), 0.5), b.integers(0), length,
                       b.integers(1))
    x = b.node("Gather", b.normal((words, size), 0.5), "input_ids", axis=0)
    kinds = b.node("Gather", b.normal((2, size), 0.5), "token_type_ids", axis=0)
    x = b.layer_norm(b.node("Add", b.node("Add", x, kinds), positions), size)
    seen = b.node("Cast", b.node("Unsqueeze", "attention_mask", b.integers(1, 2)),
                  to=TensorProto.FLOAT)
    mask = b.node("Mul", b.node("Sub", b.constant(numpy.float32(1)), seen),
                  b.constant(numpy.float32(-10000)))
    for _ in range(12):
        x = b.layer_norm(b.node("Add", x, b.attention(x, size, heads, 0, mask)), size)
        y = b.dense(b.node("Gelu", b.dense(x, size, 4 * size)), 4 * size, size)
        x = b.layer_norm(b.node("Add", x, y), size)
    first = b.node("Gather", x, b.constant(numpy.int64(0)), axis=1)
    pooled = b.node("Tanh", b.dense(first, size, size))
    rename_output(b, pooled, "pooled")
    for node in b.nodes:
        node.input[:] = ["hidden" if name == x else name for name in node.input]
    rename_output(b, x, "hidden")
    model = b.model([value(name, ["N", "S"], TensorProto.INT64)
                     for name in ("input_ids", "token_type_ids", "attention_mask")],
                    [value("hidden", ["N", "S", size]), value("pooled", ["N", size])], 20)

    def inputs(batch, random):
        # Another batch has another length: both are symbolic.
        shape = (batch, 128 if batch == 1 else 40)
        mask = numpy.ones(shape, numpy.int64)
        mask[-1, shape[1] - 7:] = 0
        return {"input_ids": random.integers(0, words, shape), "attention_mask": mask,
                "token_type_ids": (numpy.arange(shape[1])[None] > 20).repeat(batch, 0).astype(
                    numpy.int64)}

    return Network(model, inputs)


def light(name):
    """A network of the onnx package, whose weights are constants of one value: random ones instead.
    Each is given its scale by what it feeds."""
    model = onnx.load(LIGHT / f"light_{name}.onnx")
    graph = model.graph
    random = numpy.random.default_rng(len(graph.node))
    shapes = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
    uses, alias = {}, {}
    for node in graph.node:
        for position, source in enumerate(node.input):
            uses.setdefault(alias.get(source, source), (node.op_type, position))
        if node.op_type in ("Unsqueeze", "Reshape"):  # a weight brought into shape
            alias[node.output[0]] = node.input[0]
            uses.pop(node.input[0], None)

    def draw(output, shape):
        operator, position = uses[output]
        normal = random.standard_normal(shape).astype(numpy.float32)
        around_one = random.uniform(0.8, 1.2, shape).astype(numpy.float32)
        if operator in ("Conv", "Gemm") and position == 1:
            return normal * numpy.float32((2.0 / numpy.prod(shape[1:])) ** 0.5)
        if operator == "BatchNormalization":
            return around_one if position in (1, 4) else normal * numpy.float32(0.1)
        return around_one if operator == "Mul" else normal * numpy.float32(0.1)

    kept = []
    for node in graph.node:
        if node.op_type == "ConstantOfShape" and node.input[0] in shapes:
            graph.initializer.append(numpy_helper.from_array(
                draw(node.output[0], tuple(shapes[node.input[0]])), node.output[0]))
        else:
            kept.append(node)
    del graph.node[:]
    graph.node.extend(kept)
    read = {source for node in kept for source in node.input}
    keep_only(graph.initializer, lambda tensor: tensor.name in read)
    weights = {tensor.name for tensor in graph.initializer}
    keep_only(graph.input, lambda put: put.name in read and put.name not in weights)
    model.ir_version = 8  # before 4, every initializer had to be an input as well
    make = images(graph.input[0].name)
    calibrate(model, make(1, numpy.random.default_rng(0)))
    return Network(model, make, (1,))


def keep_only(repeated, wanted):
    kept = [item for item in repeated if wanted(item)]
    del repeated[:]
    repeated.extend(kept)


def replace(tensor, array):
    tensor.CopyFrom(numpy_helper.from_array(array.astype(numpy.float32), tensor.name))


def run_probe(probe, names, feed):
    del probe.graph.output[:]
    probe.graph.output.extend(helper.make_empty_tensor_value_info(name) for name in names)
    return onnxruntime.InferenceSession(probe.SerializeToString()).run(names, feed)


def calibrate(model, feed):
    """Gives batch-norms the statistics of one random image, as training would: without them the
    input's share shrinks layer by layer, until the output hardly depends on it."""
    graph = model.graph
    weights = {tensor.name: tensor for tensor in graph.initializer}
    probe = onnx.ModelProto()
    probe.CopyFrom(model)
    norms = [node for node in graph.node if node.op_type == "BatchNormalization"]
    for node in probe.graph.node:
        if node.op_type == "BatchNormalization":  # with one image, what training would compute
            del node.input[3:]
            del node.attribute[:]
            node.op_type = "InstanceNormalization"
    found = run_probe(probe, [node.input[0] for node in norms], feed) if norms else []
    for node, x in zip(norms, found):
        variance = x.var(axis=(0, 2, 3))
        replace(weights[node.input[3]], x.mean(axis=(0, 2, 3)))
        replace(weights[node.input[4]], numpy.maximum(variance, 0.01 * variance.mean()))
    # A closing softmax of unscaled logits would be one-hot.
    if graph.node[-1].op_type == "Softmax":
        probe.CopyFrom(model)
        logits, = run_probe(probe, [graph.node[-1].input[0]], feed)
        last = [node for node in graph.node if node.op_type in ("Conv", "Gemm")][-1]
        reshaped = {node.output[0]: node.input[0] for node in graph.node
                    if node.op_type == "Reshape"}
        for name in last.input[1:]:
            tensor = weights[reshaped.get(name, name)]
            replace(tensor, numpy_helper.to_array(tensor) / logits.std())


NETWORKS = {
    "resnet50": resnet50,
    "mobilenet_v2": mobilenet_v2,
    "densenet121": lambda: light("densenet121"),
    "squeezenet": lambda: light("squeezenet"),
    "inception_v1": lambda: light("inception_v1"),
    "inception_v2": lambda: light("inception_v2"),
    "vit_b16": vit_b16,
    "bert_base": bert_base,
}
LONG_NETWORKS = {f"light_{name}": (lambda name=name: light(name)) for name in (
    "resnet50", "shufflenet", "vgg19", "zfnet512", "bvlc_alexnet")}
