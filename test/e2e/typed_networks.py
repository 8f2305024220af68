#!/usr/bin/env python3
"""Networks whose values are of 16 bits, from FP32 ones: what users import who have converted a model.

Inputs and outputs stay FP32, but for state that goes from one run to the next, so that each begins
and ends with casts, which must become part of other kernels: a network may have no more launches
than in FP32. Results are held to ONNX Runtime's of
the FP32 network. What storing every value in 16 bits costs is measured by ONNX Runtime's own results
of the same 16-bit network: ours may be twice as far off, and 0.1 % of the largest value more, since
both round at other places.
"""
# SPDX-License-Identifier: Apache-2.0
import argparse
import json
import re
import sys

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import harness
import modern_networks
import networks

COMPILE_SECONDS, RUN_SECONDS = 300, 300
TARGET, TARGET_LONG = "sim:sm_80", "sim:sm_75,sim:sm_80"
FACTOR, SLACK = 2.0, 1e-3
# Operands that are FP32 whatever the other types are: scales of Resize.
ALWAYS_FLOAT = {("Resize", 2)}
STATE = ("past_", "present_")


def converted(model):
    """The model with all values of 32-bit floating-point type in 16 bits, except its inputs and
    outputs."""
    half = onnx.ModelProto()
    half.CopyFrom(model)
    graph = half.graph
    kept = {name for node in graph.node for position, name in enumerate(node.input)
            if (node.op_type, position) in ALWAYS_FLOAT}
    for tensor in graph.initializer:
        if tensor.data_type == TensorProto.FLOAT and tensor.name not in kept:
            array = numpy_helper.to_array(tensor).astype(numpy.float16)
            tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))
    for node in graph.node:
        for attribute in node.attribute:
            if node.op_type == "Cast" and attribute.i == TensorProto.FLOAT:
                attribute.i = TensorProto.FLOAT16
            if attribute.type == onnx.AttributeProto.TENSOR and \
                    attribute.t.data_type == TensorProto.FLOAT:
                array = numpy_helper.to_array(attribute.t).astype(numpy.float16)
                attribute.t.CopyFrom(numpy_helper.from_array(array, attribute.t.name))
    first, last = [], []
    for values, casts in ((graph.input, first), (graph.output, last)):
        for entry in values:
            if entry.type.tensor_type.elem_type != TensorProto.FLOAT:
                continue
            if entry.name.startswith(STATE):
                entry.type.tensor_type.elem_type = TensorProto.FLOAT16
                continue
            inner = f"{entry.name}_half"
            for node in graph.node:
                for names in (node.input, node.output):
                    names[:] = [inner if name == entry.name else name for name in names]
            ends = [entry.name, inner] if casts is first else [inner, entry.name]
            casts.append(helper.make_node(
                "Cast", ends[:1], ends[1:], name=f"cast_{entry.name}",
                to=TensorProto.FLOAT16 if casts is first else TensorProto.FLOAT))
    nodes = [*first, *graph.node, *last]
    del graph.node[:]
    graph.node.extend(nodes)
    del graph.value_info[:]
    onnx.checker.check_model(half)
    return half


def launches(suite, model, path, artefact, target):
    """The compile step, and how many kernels the artefact launches; None where that failed."""
    onnx.save(model, path)
    report = path.with_suffix(".json")
    step = harness.run([suite.tool("cameoc"), path, "-o", artefact, f"--target={target}",
                        f"--report={report}"], COMPILE_SECONDS)
    if step.code != 0:
        return step, None
    return step, len(harness.launched(json.loads(report.read_text())))


def off_by(outputs, references):
    """The largest difference of any output, in parts of its largest value; NaN where one is NaN."""
    return max(float(numpy.abs(outputs[name].astype(numpy.float64) - reference).max()
                     / numpy.abs(reference).max()) for name, reference in references.items())


def run_reference(model, feed):
    session = onnxruntime.InferenceSession(model.SerializeToString())
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, feed)))


def check(suite, name, network, target):
    work = suite.work / name
    work.mkdir(exist_ok=True)
    half = converted(network.model)
    full_step, full = launches(suite, network.model, work / "full.onnx", work / "full", "sm_80")
    step, count = launches(suite, half, work / "half.onnx", work / "half", target)
    for compiled, number in ((full_step, full), (step, count)):
        if number is None:
            suite.fail(f"{name}-compile", f"{compiled.how()}: "
                       f"{harness.first_error(compiled.output)}", compiled)
            return
    if count > full:
        suite.fail(f"{name}-launches", f"{count} launches, {full} in FP32", step)
    else:
        suite.ok(f"{name}-launches")
    feed = network.inputs(network.batches[0], numpy.random.default_rng(1))
    references = run_reference(network.model, feed)
    feed = {key: array.astype(numpy.float16) if key.startswith(STATE) else array
            for key, array in feed.items()}
    stored = off_by(run_reference(half, feed), references)
    command = []
    for number, (key, array) in enumerate(feed.items()):
        numpy.save(work / f"input_{number}.npy", array)
        command.append(f"--input={key}=@{work / f'input_{number}.npy'}")
    command += [f"--output={key}=@{work / f'output_{number}.npy'}"
                for number, key in enumerate(references)]
    for architecture in re.findall(r"sm_\w+", target):
        run = harness.run([work / "half", "--device=sim", f"--arch={architecture}", *command],
                          RUN_SECONDS)
        case = f"{name}-{architecture}"
        if run.code != 0:
            suite.fail(case, f"{run.how()}: {harness.first_error(run.output)}", step, run)
            continue
        outputs = {key: numpy.load(work / f"output_{number}.npy")
                   for number, key in enumerate(references)}
        worst = off_by(outputs, references)
        if not worst <= FACTOR * stored + SLACK:
            suite.fail(case, f"off by {worst:.2e} of the largest value; ONNX Runtime's 16-bit "
                       f"network by {stored:.2e}", step, run)
            continue
        suite.ok(case)
        print(f"{name}, {architecture}: {count} launches ({full} in FP32), {run.seconds:.1f} s, off "
              f"by {worst:.1e} (ONNX Runtime's {stored:.1e})", flush=True)
    for file in work.iterdir():
        file.unlink()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    parser.add_argument("--long", action="store_true", help="more networks, for another architecture, too")
    options = parser.parse_args()
    some = ("resnet50", "mobilenet_v2")
    chosen = {name: make for name, make in
              {**networks.NETWORKS, **modern_networks.SMALL_NETWORKS}.items()
              if options.long or name in some or name in modern_networks.SMALL_NETWORKS}
    suite = harness.Suite("typed-networks", options.build.resolve())
    for name, make in chosen.items():
        if re.search(options.filter, name):
            check(suite, name, make(), TARGET_LONG if options.long else TARGET)
    return suite.close()


if __name__ == "__main__":
    sys.exit(main())
