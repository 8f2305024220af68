#!/usr/bin/env python3
"""Operators as models of opsets 1 to 6 have them, which neither ONNX Runtime nor onnx's evaluator runs: beside what the
text of their versions says, computed with numpy. Ranks of operands are known, or not until shapes are inferred."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import re
import sys

import numpy
from onnx import helper, numpy_helper

import artefact
import harness

F32 = numpy.float32
RNG = numpy.random.default_rng(3)
X = RNG.uniform(0.5, 2, (2, 3, 4, 5)).astype(F32)
CHANNELS = RNG.uniform(0.5, 2, 3).astype(F32)
PLACE = RNG.uniform(0.5, 2, (3, 4)).astype(F32)
ONE = numpy.array([1.5], F32)


def early(opset, operator, inputs, outputs=1, hides_ranks=False, **attributes):
    """A model of one node. Behind an Identity nothing is known of a rank when the model is read."""
    names = [f"x{i}" if array is not None else "" for i, array in enumerate(inputs)]
    given = [(name, array) for name, array in zip(names, inputs) if array is not None]
    nodes = []
    if hides_ranks:
        nodes = [helper.make_node("Identity", [name], [f"{name}_inside"]) for name, _ in given]
        names = [name and f"{name}_inside" for name in names]
    results = [f"y{i}" for i in range(outputs)]
    nodes.append(helper.make_node(operator, names, results, name="it", **attributes))
    made = helper.make_model(helper.make_graph(
        nodes, "early", [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
                         for name, array in given],
        [helper.make_empty_tensor_value_info(name) for name in results]), opset_imports=[helper.make_opsetid("", opset)])
    made.ir_version = 3
    return made, dict(given)


def constant_inputs(made, feed, *names):
    """Operands that decide about shapes, as initialisers."""
    for name in names:
        made.graph.initializer.append(numpy_helper.from_array(feed.pop(name), name))
    return made, feed


def cases():
    """(name, model, feed, wanted, tolerance)"""
    place, channel = PLACE[:, :, None], CHANNELS[:, None, None]
    for operator, function in (("Add", numpy.add), ("Sub", numpy.subtract), ("Mul", numpy.multiply), ("Div", numpy.divide)):
        for opset in (1, 6):
            extra = {"consumed_inputs": [0, 0]} if opset == 1 else {}
            for hides in (False, True):
                label = f"{operator}-{opset}{'-hidden' * hides}"
                made = early(opset, operator, [X, CHANNELS], broadcast=1, axis=1, hides_ranks=hides, **extra)
                yield f"{label}-channels", *made, function(X, channel), 1e-6
        yield f"{operator}-6-places", *early(6, operator, [X, PLACE], broadcast=1, axis=1), function(X, place), 1e-6
        yield f"{operator}-6-end", *early(6, operator, [X, X[0, 0]], broadcast=1), function(X, X[0, 0]), 1e-6
        yield f"{operator}-6-alike", *early(6, operator, [X, X]), function(X, X), 1e-6
    yield "Pow-1", *early(6, "Pow", [X, CHANNELS], broadcast=1, axis=1, hides_ranks=True), X**channel, 1e-5
    for operator, function in (("Greater", numpy.greater), ("Less", numpy.less)):
        yield f"{operator}-1", *early(6, operator, [X, CHANNELS], broadcast=1, axis=1), function(X, channel), 0
    whole = RNG.integers(0, 3, (2, 3, 4)).astype(numpy.int32)
    yield "Equal-1", *early(6, "Equal", [whole, whole[0, :, 0]], broadcast=1, axis=1), whole == whole[0, :, :1], 0
    flags, some = whole > 0, whole[0, :, 0] > 0
    for operator, function in (("And", numpy.logical_and), ("Or", numpy.logical_or), ("Xor", numpy.logical_xor)):
        yield f"{operator}-1", *early(6, operator, [flags, some], broadcast=1, axis=1), function(flags, some[:, None]), 0
    signed = X - F32(1)
    for opset in (1, 6):
        extra = {"consumed_inputs": [0, 0]} if opset == 1 else {}
        for hides in (False, True):
            yield (f"PRelu-{opset}{'-hidden' * hides}", *early(opset, "PRelu", [signed, CHANNELS], hides_ranks=hides, **extra),
                   numpy.where(signed < 0, signed * channel, signed), 1e-6)
        yield f"PRelu-{opset}-one", *early(opset, "PRelu", [signed, ONE], **extra), numpy.where(signed < 0, signed * ONE, signed), 1e-6
    for operator, function in (("Abs", numpy.abs), ("Neg", numpy.negative), ("Floor", numpy.floor), ("Ceil", numpy.ceil),
                               ("Relu", lambda x: numpy.maximum(x, 0)), ("Exp", numpy.exp), ("Tanh", numpy.tanh),
                               ("Sigmoid", lambda x: 1 / (1 + numpy.exp(-x))),
                               ("Elu", lambda x: numpy.where(x < 0, numpy.expm1(x), x)),
                               ("LeakyRelu", lambda x: numpy.where(x < 0, F32(0.01) * x, x)),
                               ("Selu", lambda x: F32(1.0507) * numpy.where(x < 0, F32(1.6732) * numpy.expm1(x), x)),
                               ("HardSigmoid", lambda x: numpy.clip(F32(0.2) * x + F32(0.5), 0, 1))):
        yield f"{operator}-1", *early(1, operator, [signed], consumed_inputs=[0]), function(signed), 1e-5
    for operator, function in (("Sqrt", numpy.sqrt), ("Log", numpy.log), ("Reciprocal", numpy.reciprocal)):
        yield f"{operator}-1", *early(1, operator, [X], consumed_inputs=[0]), function(X), 1e-5
    for operator, function in (("Max", numpy.maximum), ("Min", numpy.minimum), ("Sum", numpy.add), ("Mean", lambda a, b: (a + b) / 2)):
        yield f"{operator}-1", *early(1, operator, [X, signed], consumed_inputs=[0, 0]), function(X, signed), 1e-6
    yield "Clip-1", *early(1, "Clip", [X], consumed_inputs=[0], min=0.75, max=1.25), X.clip(0.75, 1.25), 0
    yield "Concat-1", *early(1, "Concat", [X, X]), numpy.concatenate([X, X], 1), 0
    yield "Cast-1", *early(1, "Cast", [X * 9], to="INT32"), (X * 9).astype(numpy.int32), 0
    yield "Pad-1", *early(1, "Pad", [X[0, 0]], paddings=[1, 0, 0, 2], value=0.5), numpy.pad(X[0, 0], ((1, 0), (0, 2)), constant_values=0.5), 0
    yield "Reshape-1", *early(1, "Reshape", [X], consumed_inputs=[0], shape=[0, -1]), X.reshape(2, -1), 0
    yield "Split-1", *early(1, "Split", [X], 2, axis=3, split=[2, 3]), [X[..., :2], X[..., 2:]], 0
    yield ("Split-1-input", *constant_inputs(*early(1, "Split", [X, numpy.array([2, 3], F32)], 2, axis=3), "x1"),
           [X[..., :2], X[..., 2:]], 0)
    yield ("Tile-1", *constant_inputs(*early(1, "Tile", [X, numpy.array([3], F32), numpy.array([1], F32)]), "x1", "x2"),
           numpy.tile(X, (1, 3, 1, 1)), 0)
    yield "Upsample-1", *early(1, "Upsample", [X], height_scale=2.0, width_scale=3.0), X.repeat(2, 2).repeat(3, 3), 0
    yield "LpPool-1", *early(1, "GlobalLpPool", [X], p=2.0), (X**2).sum((2, 3), keepdims=True)**0.5, 1e-5
    for opset in (1, 6):
        extra = {"consumed_inputs": [0, 0, 0, 0, 0]} if opset == 1 else {}
        given = [X, CHANNELS, CHANNELS / 2, CHANNELS / 3, CHANNELS]
        scale, bias, mean, variance = (array[:, None, None] for array in given[1:])
        yield (f"BatchNormalization-{opset}", *early(opset, "BatchNormalization", given, is_test=1, **extra),
               (X - mean) / numpy.sqrt(variance + F32(1e-5)) * scale + bias, 1e-5)
        extra = {"consumed_inputs": [0]} if opset == 1 else {}
        yield f"Dropout-{opset}", *early(opset, "Dropout", [X], is_test=1, ratio=0.5, **extra), X, 0
    middle, spread = X.mean((2, 3), keepdims=True), X.var((2, 3), keepdims=True)
    yield ("InstanceNormalization-1",
           *early(1, "InstanceNormalization", [X, CHANNELS, CHANNELS / 2], consumed_inputs=[0, 0, 0], epsilon=0.01),
           (X - middle) / numpy.sqrt(spread + F32(0.01)) * channel + channel / 2, 1e-5)
    given = [X, X[0], X[0] / 2, X[0] / 3, X[1]]
    yield ("BatchNormalization-6-places", *early(6, "BatchNormalization", given, is_test=1, spatial=0),
           (X - given[3]) / numpy.sqrt(given[4] + F32(1e-5)) * given[1] + given[2], 1e-5)
    a, b = X[0, 0], RNG.uniform(0.5, 2, (5, 3)).astype(F32)
    for opset in (1, 6):
        yield f"Gemm-{opset}", *early(opset, "Gemm", [a, b, CHANNELS], broadcast=1, alpha=0.5), F32(0.5) * a @ b + CHANNELS, 1e-5
    w, r, x = (RNG.uniform(-1, 1, shape).astype(F32) for shape in ((1, 4, 3), (1, 4, 4), (2, 1, 3)))
    state, states = numpy.zeros(4, F32), []
    for step in x[:, 0]:
        state = numpy.tanh(w[0] @ step + r[0] @ state)
        states.append(state)
    yield ("RNN-1", *early(1, "RNN", [x, w, r], hidden_size=4, output_sequence=1),
           numpy.array(states)[:, None, None], 1e-5)


def training():
    """(name, model, feed): what is dropped is zero, the rest larger by a third."""
    for opset in (1, 6):
        extra = {"consumed_inputs": [0]} if opset == 1 else {}
        yield f"Dropout-{opset}-training", *early(opset, "Dropout", [numpy.ones(4000, F32)], ratio=0.25, **extra)


def refusals():
    """(name, model, words of the error)"""
    given = [X, *[CHANNELS] * 4]
    yield "refused-training", early(6, "BatchNormalization", given)[0], "training mode (is_test is 0)"
    yield "refused-norm", early(1, "GlobalLpPool", [X], p=2.5)[0], "p is 2.5"
    yield "refused-type", early(1, "Cast", [X], to="COMPLEX")[0], "it must name a type"
    yield "refused-reshape", early(1, "Reshape", [X])[0], "lacks the attribute 'shape'"
    yield from other_kinds()


def other_kinds():
    """Attributes that change no result, and that opset 7 has no more, of a kind that they do not have."""
    words = "has the attribute '{}' of the wrong kind"
    seen = set()
    for name, made, *_ in cases():
        node = made.graph.node[-1]
        for attribute in node.attribute:
            if attribute.name in ("consumed_inputs", "output_sequence") or (node.op_type, attribute.name) == ("Gemm", "broadcast"):
                if (node.op_type, attribute.name) not in seen:
                    seen.add((node.op_type, attribute.name))
                    attribute.CopyFrom(helper.make_attribute(attribute.name, 1.5))
                    yield f"refused-{name}-{attribute.name}", made, words.format(attribute.name)
    for operator, gates in (("GRU", 3), ("LSTM", 4)):
        operands = [numpy.ones(shape, F32) for shape in ((2, 1, 3), (1, 4 * gates, 3), (1, 4 * gates, 4))]
        yield (f"refused-{operator}-1-output_sequence", early(1, operator, operands, hidden_size=4, output_sequence=1.5)[0],
               words.format("output_sequence"))


def check(suite, name, made, feed, judge):
    for level in harness.LEVELS:
        program = artefact.Artefact(suite, f"{name}{level}", made, level)
        step, arrays = program.run(feed)
        reason = step.how() if step.code else judge(arrays)
        if reason:
            suite.fail(f"{name}{level}", reason, program.step, step)
        else:
            suite.ok(f"{name}{level}")


def differs(arrays, wanted, tolerance):
    for found, want in zip(arrays, wanted if isinstance(wanted, list) else [wanted]):
        if found.shape != want.shape:
            return f"{found.shape}, not {want.shape}"
        error = abs(found.astype(float) - want.astype(float)).max(initial=0)
        if error > tolerance * max(1, abs(want.astype(float)).max(initial=0)):
            return f"off by {error}"
    return ""


def is_dropped(arrays):
    kept = (arrays[0] != 0).mean()
    return "" if 0.7 < kept < 0.8 and set(arrays[0]) == {0, F32(1 / 0.75)} else f"{kept} is kept"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    options = parser.parse_args()
    suite = harness.Suite("early-opsets", options.build.resolve())
    for name, made, feed, wanted, tolerance in cases():
        if re.search(options.filter, name):
            check(suite, name, made, feed, lambda arrays, w=wanted, t=tolerance: differs(arrays, w, t))
    for name, made, feed in training():
        if re.search(options.filter, name):
            check(suite, name, made, feed, is_dropped)
    for name, made, text in refusals():
        if re.search(options.filter, name):
            artefact.check_refusal(suite, name, made, text)
    return suite.close()


if __name__ == "__main__":
    sys.exit(main())
