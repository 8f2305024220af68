"""Networks for a pack: those of the tests with batch-norms folded into convolutions, as exporters
write them, and weights of two magnitudes, so that they compress to a tenth.

Neither changes how fast they run."""
# SPDX-License-Identifier: Apache-2.0
import numpy
import onnx
from onnx import TensorProto, numpy_helper

import networks
from networks import Builder, value

LARGE = 4096  # elements; smaller weights stay as they are


def rounded(array):
    """To the nearer of two magnitudes, of as much power together as before."""
    deviation = numpy.sqrt(numpy.mean(numpy.square(array, dtype=numpy.float64)))
    small = abs(array) < deviation
    power = numpy.sqrt(numpy.mean(numpy.where(small, 1, 4)))
    return (numpy.where(array < 0, -1, 1) * numpy.where(small, 1, 2) * (deviation / power)).astype(
        numpy.float32)


def fold_batch_norms(model):
    """Into the convolutions in front of them."""
    graph = model.graph
    weights = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    made = {node.output[0]: node for node in graph.node}
    renamed, kept = {}, []
    for node in graph.node:
        node.input[:] = [renamed.get(name, name) for name in node.input]
        conv = made.get(node.input[0]) if node.op_type == "BatchNormalization" else None
        if conv is None or conv.op_type != "Conv":
            kept.append(node)
            continue
        scale, bias, mean, variance = (weights[name] for name in node.input[1:5])
        factor = scale / numpy.sqrt(variance + 1e-5)
        old = weights[conv.input[2]] if len(conv.input) > 2 else 0
        weight, shift = f"{conv.name}/weight", f"{conv.name}/bias"
        weights[weight] = weights[conv.input[1]] * factor.reshape(-1, 1, 1, 1)
        weights[shift] = (old - mean) * factor + bias
        conv.input[:] = [conv.input[0], weight, shift]
        renamed[node.output[0]] = conv.output[0]
    for node in kept:
        node.input[:] = [renamed.get(name, name) for name in node.input]
    del graph.node[:]
    graph.node.extend(kept)
    used = {name for node in kept for name in node.input}
    del graph.initializer[:]
    graph.initializer.extend(
        numpy_helper.from_array(rounded(array) if array.size >= LARGE and array.dtype == numpy.float32
                                else array.astype(array.dtype), name)
        for name, array in weights.items() if name in used)
    onnx.checker.check_model(model)
    return model


def of_tests(name, batches):
    """A network of test/e2e."""
    def make():
        network = networks.NETWORKS[name]()
        return fold_batch_norms(network.model), [
            network.inputs(batch, numpy.random.default_rng(batch)) for batch in batches], None
    return make


def text_encoder():
    """BERT with 4 layers of 256, 2,000 words and any batch and length."""
    b = Builder("text_encoder", 4)
    size, heads, words, longest = 256, 4, 2000, 256
    length = b.node("Gather", b.node("Shape", "input_ids"), b.integers(1), axis=0)
    positions = b.node("Slice", b.normal((1, longest, size), 0.5), b.integers(0), length,
                       b.integers(1))
    x = b.node("Add", b.node("Gather", b.normal((words, size), 0.5), "input_ids", axis=0), positions)
    x = b.layer_norm(x, size)
    for _ in range(4):
        x = b.layer_norm(b.node("Add", x, b.attention(x, size, heads, 0)), size)
        y = b.dense(b.node("Gelu", b.dense(x, size, 4 * size)), 4 * size, size)
        x = b.layer_norm(b.node("Add", x, y), size)
    first = b.node("Gather", x, b.constant(numpy.int64(0)), axis=1)
    networks.rename_output(b, b.dense(first, size, size), "pooled")
    model = b.model([value("input_ids", ["N", "S"], TensorProto.INT64)],
                    [value("pooled", ["N", size])], 20)
    random = numpy.random.default_rng(4)
    return fold_batch_norms(model), [{"input_ids": random.integers(0, words, shape)}
                                     for shape in ((1, 128), (3, 40))], None


def detector():
    """A backbone, a pyramid of two levels with upsampling, and heads with boxes and classes."""
    b = Builder("detector", 7)
    x, channels, levels = "image", 3, []
    for width in (16, 32, 64, 128, 128):
        x = b.node("LeakyRelu", b.conv_norm(x, channels, width, 3, 2), alpha=0.1)
        y = b.node("LeakyRelu", b.conv_norm(x, width, width // 2, 1), alpha=0.1)
        x = b.node("Add", x, b.conv_norm(y, width // 2, width, 3, gain=1.0))
        channels = width
        levels.append((x, width))
    deep, _ = levels[-1]
    up = b.node("Resize", b.conv_norm(deep, 128, 64, 1), "",
                b.constant(numpy.array([1, 1, 2, 2], numpy.float32)), mode="nearest",
                coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    joined = b.node("Concat", up, levels[-2][0], axis=1)
    outputs = []
    for level, (feature, width) in enumerate(((joined, 192), (deep, 128))):
        y = b.node("LeakyRelu", b.conv_norm(feature, width, 64, 3), alpha=0.1)
        head = b.node("Conv", y, b.normal((3 * 9, 64, 1, 1), 0.1), b.normal(27, 0.1),
                      kernel_shape=[1, 1])
        flat = b.node("Reshape", b.node("Transpose", head, perm=[0, 2, 3, 1]),
                      b.integers(0, -1, 9))
        boxes, scores = b.node("Split", flat, b.integers(4, 5), axis=-1, outputs=2)
        # Boxes are sums and products alone: their bits are the simulator's.
        boxes = b.node("Mul", boxes, b.constant(numpy.float32(16 * (level + 1))))
        outputs.append((boxes, b.node("Sigmoid", scores)))
    for number, name in enumerate(("boxes", "scores")):
        networks.rename_output(b, b.node("Concat", *(pair[number] for pair in outputs), axis=1),
                               name)
    model = b.model([value("image", ["N", 3, 192, 192])],
                    [value("boxes", ["N", "B", 4]), value("scores", ["N", "B", 5])], 17)
    random = numpy.random.default_rng(7)
    return fold_batch_norms(model), [{"image": random.standard_normal((1, 3, 192, 192),
                                                                      numpy.float32)}], None


def encoder():
    """Layers of BERT-base without its embeddings."""
    b = Builder("encoder", 4)
    size, layers = ENCODER["encoder"]["size"], ENCODER["encoder"]["layers"]
    x = "hidden"
    for _ in range(layers):
        x = b.layer_norm(b.node("Add", x, b.attention(x, size, ENCODER["encoder"]["heads"], 0)), size)
        y = b.dense(b.node("Gelu", b.dense(x, size, 4 * size)), 4 * size, size)
        x = b.layer_norm(b.node("Add", x, y), size)
    networks.rename_output(b, x, "encoded")
    model = b.model([value("hidden", ["N", "S", size])], [value("encoded", ["N", "S", size])], 20)
    hidden = numpy.random.default_rng(4).standard_normal((8, 128, size), numpy.float32)
    return fold_batch_norms(model), [{"hidden": hidden}], None


def of_small(make_network):
    """One of modern_networks.py at its smallest."""
    def make():
        network = make_network()
        feed = network.inputs(network.batches[0], numpy.random.default_rng(1))
        return fold_batch_norms(network.model), [feed], None
    return make


# As torch_work.py describes it.
ENCODER = {"encoder": {"layers": 4, "size": 768, "heads": 12, "batch": 8, "tokens": 128}}
NETWORKS = {
    "text_encoder": text_encoder,
    "detector": detector,
    "mobilenet_v2": of_tests("mobilenet_v2", (1,)),
    "squeezenet": of_tests("squeezenet", (1,)),
    "inception_v1": of_tests("inception_v1", (1,)),
    "resnet50": of_tests("resnet50", (1,)),
    "encoder": encoder,
}
# The precisions in which a pack has them: as many as its size allows.
PRECISIONS = {"text_encoder": ("fp32", "fp16", "bf16"), "detector": ("fp32", "fp16"),
              "mobilenet_v2": ("fp32", "fp16", "int8"), "squeezenet": ("fp32",),
              "inception_v1": ("fp32",), "resnet50": ("fp16", "int8"), "encoder": ("fp16",)}
# What torch does beside them: networks that torchvision has, too, and its own encoder.
TORCH = {"mobilenet_v2": {"network": "mobilenet_v2", "batch": 1},
         "resnet50": {"network": "resnet50", "batch": 1}, "encoder": ENCODER}
SHAPES = {"text_encoder": "input_ids:1x128", "detector": "image:1x3x192x192",
          "mobilenet_v2": "image:1x3x224x224", "squeezenet": "", "inception_v1": "",
          "resnet50": "image:1x3x224x224", "encoder": "hidden:8x128x768"}
