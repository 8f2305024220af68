"""Writes chunks.onnx, a network with a symbolic batch and a kernel of each schedule class, and x.npy, 13
images for it."""
# SPDX-License-Identifier: Apache-2.0
import numpy
import onnx

TEXT = """
<ir_version: 10, opset_import: ["" : 21]>
chunks (float[N, 3, 8, 8] x) => (float[N, 10] y, float[N, 24, 8, 8] all, float[N, 24, 16] sums)
{
  a = Conv <pads = [1, 1, 1, 1]> (x, weights)
  b = Relu (a)
  c = Conv <pads = [1, 1, 1, 1], group = 16> (b, taps)
  d = MaxPool <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (x)
  e = Conv (d, point)
  all = Concat <axis = 1> (c, e)
  pooled = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (all)
  lines = Reshape (pooled, lines_shape)
  axis = Constant <value_int = 2> ()
  sums = CumSum (lines, axis)
  turned = Transpose <perm = [0, 2, 1]> (sums)
  normal = LayerNormalization <axis = -1> (turned, gain)
  flat = Flatten (normal)
  scores = Gemm (flat, matrix, bias)
  y = Softmax <axis = -1> (scores)
}
"""

generator = numpy.random.default_rng(1)
model = onnx.parser.parse_model(TEXT)
for name, shape in (("weights", (16, 3, 3, 3)), ("taps", (16, 1, 3, 3)), ("point", (8, 3, 1, 1)),
                    ("gain", (24,)), ("matrix", (384, 10)), ("bias", (10,))):
    array = generator.normal(0, 0.25, shape).astype(numpy.float32)
    model.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
lines = numpy.array([0, 24, 16], numpy.int64)
model.graph.initializer.append(onnx.numpy_helper.from_array(lines, "lines_shape"))
onnx.checker.check_model(model)
onnx.save(model, "chunks.onnx")
numpy.save("x.npy", generator.normal(0, 1, (13, 3, 8, 8)).astype(numpy.float32))
