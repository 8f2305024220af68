#!/usr/bin/env python3
"""Networks that ONNX Runtime's tools have quantised: weights a channel, activations a tensor.

Every product must be one of integers, nothing may be launched that FP32 does not launch, and the
result must be that of ONNX Runtime on the same model, one quantum off at most. Where weights alone are
quantised, they are dequantised by the product that reads them.
"""
# SPDX-License-Identifier: Apache-2.0
import argparse
import itertools
import json
import logging
import re
import sys

import ml_dtypes
import numpy
import onnx
import onnxruntime
from onnx import helper, numpy_helper
from onnxruntime.quantization import (CalibrationDataReader, QuantFormat, QuantType,
                                      quantize_static)

import harness
import modern_networks
from networks import Builder

COMPILE_SECONDS, RUN_SECONDS = 300, 300
TARGET = "sim:sm_80"
# What the activations and the weights are stored in.
TYPES = {"u8-s8": (QuantType.QUInt8, QuantType.QInt8), "s8-s8": (QuantType.QInt8, QuantType.QInt8),
         "u8-u8": (QuantType.QUInt8, QuantType.QUInt8)}


def mixed(b):
    """What convolutional networks are made of: a stem, a pool, a residual block, a depthwise one,
    two branches that are joined, a classifier."""
    relu = lambda x: b.node("Relu", x)
    conv = lambda *args, **keywords: modern_networks.conv(b, *args, **keywords)
    x = relu(conv("image", 3, 16, 3))
    x = b.node("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    x = relu(b.node("Add", conv(relu(conv(x, 16, 16, 3)), 16, 16, 3), x))
    x = relu(conv(x, 16, 16, 3, groups=16))
    x = b.node("Concat", relu(conv(x, 16, 24, 1)), relu(conv(x, 16, 8, 3)), axis=1)
    x = b.node("Flatten", b.node("GlobalAveragePool", x), axis=1)
    return b.node("Gemm", x, b.normal((10, 32), 32 ** -0.5), b.normal(10, 0.1), transB=1)


def network(name):
    b = Builder(name, 5)
    return modern_networks.finish(b, mixed(b), "logits", (["N", 3, 16, 16], ["N", 10]), 13)


class Images(CalibrationDataReader):
    def __init__(self, made):
        self.feeds = iter(made)

    def get_next(self):
        return next(self.feeds, None)


def quantized(model, feeds, types, path):
    onnx.save(model, path)
    after = path.with_suffix(".quantized.onnx")
    logging.disable(logging.WARNING)
    activations, weights = types
    quantize_static(path, after, Images(feeds), quant_format=QuantFormat.QDQ, per_channel=True,
                    activation_type=activations, weight_type=weights)
    return onnx.load(after)


def quantum(model):
    """The scale of what the model returns."""
    constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    last = next(node for node in model.graph.node if node.output[0] == model.graph.output[0].name)
    assert last.op_type == "DequantizeLinear"
    return float(constants[last.input[1]])


def compiled(suite, path, artefact):
    """The step, and what the report says."""
    report = artefact.with_suffix(".json")
    step = harness.run([suite.tool("cameoc"), path, "-o", artefact, f"--target={TARGET}",
                        f"--report={report}"], COMPILE_SECONDS)
    return step, json.loads(report.read_text()) if step.code == 0 else None


def check(suite, name, types):
    work = suite.work / name
    work.mkdir(exist_ok=True)
    full = network(name)
    rng = numpy.random.default_rng(3)
    model = quantized(full.model, [full.inputs(1, rng) for _ in range(4)], types,
                      work / "full.onnx")
    path = work / "full.quantized.onnx"
    before_step, before = compiled(suite, work / "full.onnx", work / "full")
    step, report = compiled(suite, path, work / "model")
    for made in (before_step, step):
        if made.code != 0:
            return suite.fail(name, f"{made.how()}: {harness.first_error(made.output)}", made)
    count, most = len(harness.launched(report)), len(harness.launched(before))
    if count > most:
        suite.fail(f"{name}-launches", f"{count} launches, {most} in FP32", step)
    else:
        suite.ok(f"{name}-launches")
    remarks = harness.run([suite.tool("cameoc"), path, "-o", work / "model", f"--target={TARGET}",
                           "--remarks"], COMPILE_SECONDS)
    floats = re.findall(r"multiplied as floats.*", remarks.output)
    integers = len(re.findall(r"multiplied as integers", remarks.output))
    products = sum(node.op_type in ("Conv", "Gemm", "MatMul") for node in model.graph.node)
    if floats or integers != products:
        suite.fail(f"{name}-products", f"{integers} of {products} products are of integers; "
                   + "; ".join(floats), remarks)
    else:
        suite.ok(f"{name}-products")
    feed = full.inputs(2, rng)
    # As the model says, not as it is rewritten.
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    reference = session.run(None, feed)[0]
    numpy.save(work / "image.npy", feed["image"])
    run = harness.run([work / "model", "--device=sim", f"--input=image=@{work / 'image.npy'}",
                       f"--output=logits=@{work / 'logits.npy'}"], RUN_SECONDS)
    if run.code != 0:
        return suite.fail(name, f"{run.how()}: {harness.first_error(run.output)}", step, run)
    off = numpy.abs(numpy.load(work / "logits.npy") - reference).max() / quantum(model)
    if not off <= 1.01:
        return suite.fail(name, f"off by {off:.2f} quanta", step, run)
    suite.ok(name)
    print(f"{name}: {count} launches ({most} in FP32), off by {off:.2f} quanta", flush=True)


def weights_only(kind, dtype, bits):
    """A product of floats by weights of 4 or 8 bits, and what it is in double."""
    rng = numpy.random.default_rng(bits)
    depth, columns, block = 256, 64, 32
    x = rng.standard_normal((33, depth)).astype(dtype)
    low, number = (-8, ml_dtypes.int4) if bits == 4 else (-128, numpy.int8)
    w = rng.integers(low, -low, (depth, columns))
    shape = (depth // block, columns) if kind == "blocks" else (columns,)
    scale = rng.uniform(0.01, 0.1, shape).astype(dtype)
    zero = rng.integers(low, -low, shape)
    spread = numpy.repeat if kind == "blocks" else lambda array, *_: array
    exact = x.astype(float) @ ((w - spread(zero, block, 0)) * spread(scale.astype(float), block, 0))
    attributes = {"axis": 0, "block_size": block} if kind == "blocks" else {"axis": 1}
    nodes = [helper.make_node("DequantizeLinear", ["w", "s", "z"], ["f"], **attributes),
             helper.make_node("MatMul", ["x", "f"], ["y"])]
    element = helper.np_dtype_to_tensor_dtype(x.dtype)
    model = helper.make_model(helper.make_graph(
        nodes, "weights", [helper.make_tensor_value_info("x", element, x.shape)],
        [helper.make_tensor_value_info("y", element, exact.shape)],
        [numpy_helper.from_array(w.astype(number), "w"), numpy_helper.from_array(scale, "s"),
         numpy_helper.from_array(zero.astype(number), "z")]),
        opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    return model, x, exact


def check_weights(suite, name, kind, dtype, bits):
    """One launch, which reads the weights as they are."""
    work = suite.work / name
    work.mkdir(exist_ok=True)
    model, x, exact = weights_only(kind, dtype, bits)
    onnx.save(model, work / "model.onnx")
    step, report = compiled(suite, work / "model.onnx", work / "model")
    if step.code != 0:
        return suite.fail(name, f"{step.how()}: {harness.first_error(step.output)}", step)
    if len(report["kernels"]) != 1:
        return suite.fail(name, f"{len(report['kernels'])} launches, not 1", step)
    numpy.save(work / "x.npy", x)
    run = harness.run([work / "model", "--device=sim", f"--input=x=@{work / 'x.npy'}",
                       f"--output=y=@{work / 'y.npy'}"], RUN_SECONDS)
    if run.code != 0:
        return suite.fail(name, f"{run.how()}: {harness.first_error(run.output)}", step, run)
    off = numpy.abs(numpy.load(work / "y.npy").astype(float) - exact).max() / numpy.abs(exact).max()
    if not off <= (1e-5 if dtype == numpy.float32 else 2e-3):
        return suite.fail(name, f"off by {off:.1e} of the largest value", step, run)
    suite.ok(name)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    options = parser.parse_args()
    suite = harness.Suite("quantized-networks", options.build.resolve())
    for name, types in TYPES.items():
        if re.search(options.filter, name):
            check(suite, name, types)
    for kind, dtype, bits in itertools.product(("columns", "blocks"), (numpy.float32, numpy.float16),
                                               (8, 4)):
        name = f"weights-{kind}-{numpy.dtype(dtype).name}-int{bits}"
        if re.search(options.filter, name):
            check_weights(suite, name, kind, dtype, bits)
    return suite.close()


if __name__ == "__main__":
    sys.exit(main())
