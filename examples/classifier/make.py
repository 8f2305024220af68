#!/usr/bin/env python3
"""Writes classifier.onnx, the small model that docs/tutorial.md follows down the stages, and x.npy, three
rows of input for it. One layer: 64 features, 16 classes, any number of rows at once."""
# SPDX-License-Identifier: Apache-2.0
import numpy
import onnx

TEXT = """
<ir_version: 10, opset_import: ["" : 21]>
classifier (float[N, 64] x) => (float[N, 16] y)
{
  [half] b = Mul(bias, scale)
  [product] h = MatMul(x, weights)
  [shift] s = Add(h, b)
  [dropout] d = Dropout(s)
  [relu] r = Relu(d)
  [classes] y = Softmax <axis = -1> (r)
}
"""

generator = numpy.random.default_rng(1)
model = onnx.parser.parse_model(TEXT)
for name, array in (("weights", generator.normal(0, 0.25, (64, 16)).astype(numpy.float32)),
                    ("bias", generator.normal(0, 1, 16).astype(numpy.float32)),
                    ("scale", numpy.array(0.5, numpy.float32))):
    model.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
onnx.checker.check_model(model, full_check=True)
onnx.save(model, "classifier.onnx")
numpy.save("x.npy", generator.normal(0, 1, (3, 64)).astype(numpy.float32))
