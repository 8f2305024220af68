#!/usr/bin/env python3
"""`cameoc --weights` of a transformer in FP32: every matrix product whose weights are large enough
multiplies by dequantised integers, which are what rounding to the nearest gives. ONNX Runtime computes
with the exported model what the artefact computes, results are close to those of FP32, nothing more is
launched, and the artefact is smaller by what fewer bits save.
"""
# SPDX-License-Identifier: Apache-2.0
import argparse
import json
import re
import sys

import numpy
import onnx
from onnx import numpy_helper

import harness
import modern_networks
import recorded_ranges
import typed_networks
from precision import sqnr

SECONDS = 300
TARGET = "sim:sm_80"
LEAST_WEIGHTS = 4096
# What --weights is given: the size of blocks (None: columns), the last number, the least signal over
# noise of the outputs, in dB, and bits of a weight, its part of a scale included.
KINDS = {"int8": (None, 127, 35.0, 8.5), "int4": (32, 7, 15.0, 5.1), "int4:64": (64, 7, 15.0, 4.6),
         "int4:128": (128, 7, 12.0, 4.4)}
# By --precision: how far results may be from ONNX Runtime's of the exported model, in parts of the
# largest one.
OFF = {"fp32": 1e-5, "fp16": 1e-2}


def quantized(weights, block, last):
    """The integers of a matrix whose columns are summed over, and their scales."""
    depth, columns = weights.shape
    blocks = weights.reshape(-1, block or depth, columns)
    scales = numpy.abs(blocks).max(1) / last
    scales = numpy.where(scales == 0, 1, scales).astype(numpy.float32)
    numbers = numpy.clip(numpy.rint(blocks / scales[:, None]), -last, last)
    return numbers.reshape(depth, columns), scales


class Weights:
    def __init__(self, options):
        self.suite = harness.Suite("weight-quantization", options.build.resolve())
        self.cameoc = self.suite.tool("cameoc")
        network = modern_networks.gpt(layers=2, size=128, heads=4)
        self.source = self.suite.work / "gpt.onnx"
        onnx.save(network.model, self.source)
        self.feed = network.inputs(network.batches[0], numpy.random.default_rng(1))
        self.reference = typed_networks.run_reference(network.model, self.feed)
        constants = {tensor.name: numpy_helper.to_array(tensor)
                     for tensor in network.model.graph.initializer}
        self.matrices = [constants[node.input[1]] for node in network.model.graph.node
                         if node.op_type == "MatMul" and node.input[1] in constants and
                         constants[node.input[1]].size >= LEAST_WEIGHTS]

    def compile(self, case, out, *flags):
        report = out.with_suffix(".json")
        step = harness.run([self.cameoc, self.source, "-o", out, f"--target={TARGET}",
                            f"--report={report}", *flags], SECONDS)
        if step.code != 0:
            self.suite.fail(case, f"{step.how()}: {harness.first_error(step.output)}", step)
            return None
        return json.loads(report.read_text())

    def run(self, artefact):
        command = [artefact, "--device=sim"]
        for number, (key, array) in enumerate(self.feed.items()):
            numpy.save(self.suite.work / f"input_{number}.npy", array)
            command.append(f"--input={key}=@{self.suite.work / f'input_{number}.npy'}")
        outs = {key: self.suite.work / f"output_{number}.npy"
                for number, key in enumerate(self.reference)}
        step = harness.run([*command, *(f"--output={key}=@{path}" for key, path in outs.items())],
                           SECONDS)
        return step, None if step.code else {key: numpy.load(path) for key, path in outs.items()}

    def check_model(self, case, model, kind):
        """What is wrong with the integers of an exported model."""
        block, last, _, _ = KINDS[kind]
        constants = {tensor.name: numpy_helper.to_array(tensor)
                     for tensor in model.graph.initializer}
        found = [(constants[node.input[0]], constants[node.input[1]]) for node in model.graph.node
                 if node.op_type == "DequantizeLinear"]
        problem = None
        if len(found) != len(self.matrices):
            problem = f"{len(found)} matrices are quantised, not {len(self.matrices)}"
        for (numbers, scales), weights in zip(found, self.matrices):
            wanted, steps = quantized(weights, block, last)
            numbers = numbers.astype(numpy.float32).reshape(wanted.shape)
            # A quotient of doubles and one of floats may be on different sides of a half.
            if not numpy.allclose(scales.ravel(), steps.ravel(), rtol=1e-6) or \
                    (numbers != wanted).mean() > 1e-5:
                problem = f"weights {weights.shape} have other integers or scales"
        self.judge(f"{case}-integers", problem)

    def judge(self, case, problem, *steps):
        if problem:
            self.suite.fail(case, problem, *steps)
        else:
            self.suite.ok(case)

    def check(self, kind, precision, full):
        case = f"{kind.replace(':', '-')}-{precision}"
        flags = [f"--weights={kind}", f"--precision={precision}"]
        out = self.suite.work / f"{case}.onnx"
        step = harness.run([self.cameoc, self.source, "-o", out, "--emit=onnx", *flags], SECONDS)
        if step.code != 0:
            return self.suite.fail(f"{case}-onnx", harness.first_error(step.output), step)
        model = onnx.load(out)
        onnx.checker.check_model(model)
        # As the model says: optimised, products by weights of 8 bits are approximated.
        theirs = recorded_ranges.values(*recorded_ranges.probe(model), self.feed)
        if precision == "fp32":
            self.check_model(case, model, kind)
        artefact = self.suite.work / case
        report = self.compile(case, artefact, *flags)
        if report is None:
            return None
        run, outputs = self.run(artefact)
        if outputs is None:
            return self.suite.fail(case, f"{run.how()}: {harness.first_error(run.output)}", run)
        _, _, least, bits = KINDS[kind]
        worst = min(sqnr(outputs[key], value) for key, value in self.reference.items())
        off = typed_networks.off_by(outputs, {key: theirs[key] for key in outputs})
        self.judge(f"{case}-sqnr", None if worst >= least else f"{worst:.1f} dB", run)
        self.judge(f"{case}-onnx-runtime",
                   None if off <= OFF[precision] else f"off by {off:.1e}", run)
        count, before = len(harness.launched(report)), len(harness.launched(full[0]))
        self.judge(f"{case}-launches",
                   None if count <= before else f"{count} launches, {before} without", run)
        size = artefact.stat().st_size
        saved = sum(weights.size for weights in self.matrices) * (full[2] - bits) / 8
        self.judge(f"{case}-size", None if size <= full[1] - 0.9 * saved else
                   f"{size} B, {full[1]} B without; {saved:.0f} B less are possible", run)
        print(f"{case}: {worst:.1f} dB, off by {off:.1e} of ONNX Runtime's, {count} launches "
              f"({before}), {size} B ({full[1]})", flush=True)
        return None

    def check_precision(self, precision, wanted):
        kinds = [kind for kind in KINDS
                 if re.search(wanted, f"{kind.replace(':', '-')}-{precision}")]
        artefact = self.suite.work / precision
        report = self.compile(precision, artefact, f"--precision={precision}") if kinds else None
        if report is None:
            return
        full = report, artefact.stat().st_size, 32 if precision == "fp32" else 16
        for kind in kinds:
            self.check(kind, precision, full)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    options = parser.parse_args()
    weights = Weights(options)
    for precision in OFF:
        weights.check_precision(precision, options.filter)
    return weights.suite.close()


if __name__ == "__main__":
    sys.exit(main())
