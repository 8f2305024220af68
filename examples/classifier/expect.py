#!/usr/bin/env python3
"""Writes inputs.npz and outputs.npz: what ONNX Runtime makes of classifier.onnx, for a job that checks what Cameo does."""
# SPDX-License-Identifier: Apache-2.0
import numpy
import onnxruntime

session = onnxruntime.InferenceSession("classifier.onnx")
random = numpy.random.default_rng(0)
inputs = {value.name: random.normal(size=(4, *value.shape[1:])).astype(numpy.float32) for value in session.get_inputs()}
numpy.savez("inputs", **inputs)
numpy.savez("outputs", **dict(zip((value.name for value in session.get_outputs()), session.run(None, inputs))))
