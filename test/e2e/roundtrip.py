#!/usr/bin/env python3
"""Import and export: ONNX's node tests and the networks of the onnx package go through
`cameo-translate --import-onnx` and `--export-onnx`; ONNX Runtime must compute the same on what
comes out as on what went in, and the names of nodes, inputs and outputs must be kept.

A model that ONNX Runtime itself cannot run (operators or types its CPU lacks) is checked for names
only and counted as such; one that the importer refuses must be refused with an error.
"""
# SPDX-License-Identifier: Apache-2.0
import argparse
import collections
import re
import shutil
import sys

import numpy
import onnx
import onnxruntime
from onnx import numpy_helper

import harness
from networks import LIGHT, images
from node_tests import DATA, data_files, operators

SECONDS = 60
# Their results differ from run to run.
RANDOM = {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform",
          "RandomUniformLike"}
onnxruntime.set_default_logger_severity(4)


def read(path, kind):
    """The value of an input_*.pb by the kind of the graph input that it is for."""
    message, to_value = {
        "sequence_type": (onnx.SequenceProto, numpy_helper.to_list),
        "optional_type": (onnx.OptionalProto, numpy_helper.to_optional),
    }.get(kind, (onnx.TensorProto, numpy_helper.to_array))
    return to_value(message.FromString(path.read_bytes()))


def execute(model, feed):
    """What ONNX Runtime computes, or None where it cannot."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    # Its own rewrites would hide what differs, and have other roundings.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options)
        return session.run(None, feed)
    except Exception as error:  # pylint: disable=broad-except
        return f"{type(error).__name__}: {error}"


def same(left, right):
    if isinstance(left, list):
        return len(left) == len(right) and all(map(same, left, right))
    if left is None or right is None:
        return left is right
    left, right = numpy.asarray(left), numpy.asarray(right)
    if left.shape != right.shape or left.dtype != right.dtype:
        return False
    if left.dtype.kind in "fc":
        # An operator brought to a newer opset may be computed by another kernel.
        return numpy.allclose(left, right, rtol=1e-5, atol=1e-6, equal_nan=True)
    return bool((left == right).all())


def kept_names(before, after):
    """None, or which name is lost."""
    for field in ("input", "output"):
        initializers = {tensor.name for tensor in before.graph.initializer}
        old = [v.name for v in getattr(before.graph, field)
               if field == "output" or v.name not in initializers]
        new = [v.name for v in getattr(after.graph, field)]
        if old != new:
            return f"{field}s were {old}, are {new}"
    local = {(f.domain, f.name) for f in before.functions}
    kept = collections.Counter(node.name for node in after.graph.node)
    for node in before.graph.node:
        # Constants become initializers; a call becomes the function's nodes.
        if node.op_type == "Constant" or (node.domain, node.op_type) in local:
            continue
        if node.name and not kept[node.name]:
            return f"node {node.name} is lost"
    return None


class RoundTrip:
    def __init__(self, options):
        self.suite = harness.Suite("roundtrip", options.build.resolve())
        self.translate = self.suite.tool("cameo-translate")

    def check(self, path):
        """(outcome, reason, steps)"""
        name = path.parent.name if path.stem == "model" else path.stem
        work = self.suite.work / name
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        imported = harness.run([self.translate, "--import-onnx", path, "-o", work / "m.mlir"],
                               SECONDS)
        if imported.code != 0:
            refused = not imported.crashed and "error:" in imported.output
            return ("refused" if refused else "failed"), harness.first_error(imported.output), [
                imported]
        exported = harness.run([self.translate, "--export-onnx", work / "m.mlir", "-o",
                                work / "m.onnx"], SECONDS)
        steps = [imported, exported]
        if exported.code != 0:
            return "failed", f"export: {harness.first_error(exported.output)}", steps
        before, after = onnx.load(path), onnx.load(work / "m.onnx")
        lost = kept_names(before, after)
        if lost:
            return "failed", lost, steps
        outcome = self.compare(path, before, after)
        if outcome[0] != "failed":
            shutil.rmtree(work)
        return (*outcome, steps)

    def compare(self, path, before, after):
        if operators(before) & RANDOM or any(
                node.op_type == "Dropout" and len(node.input) > 2 for node in before.graph.node):
            return "names", "random results"
        initializers = {tensor.name for tensor in before.graph.initializer}
        inputs = [v for v in before.graph.input if v.name not in initializers]
        if path.stem == "model":
            files = data_files(path.parent / "test_data_set_0", "input")
            try:
                feed = {v.name: read(file, v.type.WhichOneof("value"))
                        for v, file in zip(inputs, files)}
            except ValueError as error:
                return "names", str(error)
        else:
            feed = images(inputs[0].name)(1, numpy.random.default_rng(0))
        expected = execute(before, feed)
        if isinstance(expected, str):
            return "names", expected
        computed = execute(after, feed)
        if isinstance(computed, str):
            return "failed", f"ONNX Runtime refuses the exported model: {computed}"
        for value, left, right in zip(after.graph.output, expected, computed):
            if not same(left, right):
                return "failed", f"{value.name} differs"
        return "passed", ""

    def run(self, options):
        paths = sorted(DATA.glob("*/model.onnx"))
        # Those that unfold to hundreds of megabytes of weights add nothing here.
        paths += [LIGHT / f"light_{name}.onnx" for name in ("squeezenet", "densenet121",
                                                            "inception_v2", "shufflenet")]
        paths = [path for path in paths if re.search(options.filter, str(path))]
        counts = collections.Counter()
        for path, (outcome, reason, steps) in harness.for_each(paths, self.check, options.jobs):
            counts[outcome] += 1
            name = path.parent.name if path.stem == "model" else path.stem
            if outcome == "failed":
                self.suite.fail(name, reason, *steps)
            else:
                self.suite.ok()
            if options.verbose:
                print(f"{outcome} {name} {reason}", flush=True)
        print(f"round trips: {counts['passed']} compute the same, {counts['names']} with the same "
              f"names only, {counts['refused']} refused with an error, {counts['failed']} failed")
        return self.suite.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    parser.add_argument("--verbose", action="store_true", help="print every outcome")
    options = parser.parse_args()
    return RoundTrip(options).run(options)


if __name__ == "__main__":
    sys.exit(main())
