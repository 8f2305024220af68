#!/usr/bin/env python3
"""Makes a model of pixels from a classifier of float images: its input is 8-bit images as decoders give them, rows
of pixels with colours innermost, and its outputs are the scores of all classes and the label.

    wrap.py classifier.onnx pixels.onnx [--mean=0.485,0.456,0.406] [--std=0.229,0.224,0.225]

    pixels: uint8 N x height x width x channels
        Cast, Sub 255 * mean, Div 255 * std, Transpose
    the classifier, whose input is N x channels x height x width
        Softmax, ArgMax
    scores: float N x classes;  label: int64 N
"""
# SPDX-License-Identifier: Apache-2.0
import argparse

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

OLDEST_OPSET = 13  # Softmax of one axis


def numbers(text):
    return [float(number) for number in text.split(",")]


def wrap(model, mean=(0.0,), std=(1.0,)):
    """The model of pixels: `model` with what comes before its input and behind its output; mean and std are of
    pixels from 0 to 1, a number or one per channel."""
    if next(each.version for each in model.opset_import if each.domain == "") < OLDEST_OPSET:
        model = onnx.version_converter.convert_version(model, OLDEST_OPSET)
    graph = model.graph
    weights = {weight.name for weight in graph.initializer}
    inputs = [value for value in graph.input if value.name not in weights]
    if len(inputs) != 1 or len(graph.output) != 1:
        raise SystemExit(f"error: {len(inputs)} inputs and {len(graph.output)} outputs; a classifier has one of each")
    image, logits = inputs[0], graph.output[0]
    sizes = image.type.tensor_type.shape.dim
    if len(sizes) != 4 or image.type.tensor_type.elem_type != TensorProto.FLOAT:
        raise SystemExit(f"error: input '{image.name}' is no float image of 4 axes")
    batch, channels, height, width = (size.dim_param or size.dim_value for size in sizes)
    classes = logits.type.tensor_type.shape.dim[-1].dim_value or "classes"

    names = {name for node in graph.node for name in (*node.input, *node.output)}
    if used := names & {"pixels", "scores", "label"}:
        raise SystemExit(f"error: the classifier has values called {', '.join(sorted(used))} already")
    for name, values in (("pixels_mean", mean), ("pixels_std", std)):
        graph.initializer.append(numpy_helper.from_array(255 * numpy.array(values, numpy.float32), name))
    before = [helper.make_node("Cast", ["pixels"], ["pixels_float"], "pixels_cast", to=TensorProto.FLOAT),
              helper.make_node("Sub", ["pixels_float", "pixels_mean"], ["pixels_centred"], "pixels_centre"),
              helper.make_node("Div", ["pixels_centred", "pixels_std"], ["pixels_scaled"], "pixels_scale"),
              helper.make_node("Transpose", ["pixels_scaled"], [image.name], "pixels_transpose", perm=[0, 3, 1, 2])]
    after = [helper.make_node("Softmax", [logits.name], ["scores"], "scores_softmax", axis=-1),
             helper.make_node("ArgMax", ["scores"], ["label"], "label_argmax", axis=-1, keepdims=0)]
    nodes = [*before, *graph.node, *after]
    del graph.node[:], graph.input[:], graph.output[:]
    graph.node.extend(nodes)
    graph.input.append(helper.make_tensor_value_info("pixels", TensorProto.UINT8, [batch, height, width, channels]))
    graph.output.extend([helper.make_tensor_value_info("scores", TensorProto.FLOAT, [batch, classes]),
                         helper.make_tensor_value_info("label", TensorProto.INT64, [batch])])
    onnx.checker.check_model(model, full_check=True)
    return model


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("classifier")
    parser.add_argument("pixels")
    parser.add_argument("--mean", type=numbers, default=[0.0], help="of pixels from 0 to 1, for all or each channel")
    parser.add_argument("--std", type=numbers, default=[1.0], help="the same")
    options = parser.parse_args()
    onnx.save(wrap(onnx.load(options.classifier), options.mean, options.std), options.pixels)


if __name__ == "__main__":
    main()
