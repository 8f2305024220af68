#!/usr/bin/env python3
"""INT8 beside ONNX Runtime, on the model that --emit=onnx writes, which it runs as it is, without
optimisations: integers of every quantised value, and results.

Scales have so few bits that nearly all sums of floats are exact (docs/precision.md). So every integer
of these networks must be the same, but where values of 16 bits have come before: ONNX Runtime does not
round to these everywhere the model says so, and numbers may be one off there. Results are within one
quantum, the 127th of the largest, and of 99.9 % of rows the largest element is the same.

The demo's networks run on test images, with --long on all 10,000; networks of random weights, whose
products are all integers, on a few inputs.
"""
# SPDX-License-Identifier: Apache-2.0
import argparse
import re
import shutil
import sys

import numpy
import onnx

import harness
import networks
import recorded_ranges
from taps import read_taps

sys.path.insert(0, str(harness.SOURCE / "examples" / "fashion"))
import demo  # pylint: disable=wrong-import-position
import fashion_data  # pylint: disable=wrong-import-position

SECONDS = 600
TARGET = "sim:sm_80"
TRAINING, IMAGES, BATCH = 512, 500, 250
SAME_ROWS, LAST = 0.999, 127
# Of each network: quantised values with no value of 16 bits before them, and all.
VALUES = {"fashion": (9, 10), "fashion_mobile": (25, 27), "mobilenet_v2": (52, 53),
          "resnet50": (53, 54)}
# Networks of random weights, those of --long, and how many inputs they run on.
RANDOM, LONG_RANDOM, INPUTS = ("mobilenet_v2",), ("mobilenet_v2", "resnet50"), 2


def behind_16_bits(model):
    """Names of values that are of 16 bits, or computed from such."""
    low = {onnx.TensorProto.FLOAT16, onnx.TensorProto.BFLOAT16}
    found = {tensor.name for tensor in model.graph.initializer if tensor.data_type in low}
    for node in model.graph.node:
        casts = node.op_type == "Cast" and any(each.name == "to" and each.i in low
                                               for each in node.attribute)
        if casts or found.intersection(node.input):
            found.update(node.output)
    return found


class Bits:
    def __init__(self, suite):
        self.suite, self.cameoc = suite, suite.tool("cameoc")

    def made(self, case, source, work, flags):
        """The artefact and the model beside it; None where there is none."""
        for out, more in ((work / "model.onnx", ["--emit=onnx"]),
                          (work / "artefact", ["--tap=*.quantized", f"--target={TARGET}"])):
            step = harness.run([self.cameoc, source, "-o", out, "--precision=int8", *flags, *more],
                               SECONDS)
            if step.code != 0:
                self.suite.fail(case, f"{step.how()}: {harness.first_error(step.output)}", step)
                return None
        return work / "artefact", onnx.load(work / "model.onnx")

    def check(self, case, source, flags, batches):
        """`batches`: dictionaries of arrays by the names of inputs."""
        work = self.suite.work / case
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        made = self.made(case, source, work, flags)
        if made is None:
            return
        artefact, model = made
        quantized = [node.output[0] for node in model.graph.node
                     if node.op_type == "QuantizeLinear"]
        output, rounded = model.graph.output[0].name, behind_16_bits(model)
        session, names = recorded_ranges.probe(model)
        wrong, ours, theirs, one_off = set(), [], [], 0
        for feed in batches:
            wanted = dict(zip(names, session.run(names, feed)))
            found = self.run(case, artefact, feed, output)
            if found is None:
                return
            ours.append(found.pop(output))
            theirs.append(wanted[output])
            if set(found) != set(quantized):
                self.suite.fail(case, f"tapped: {sorted(set(found) ^ set(quantized))[:3]}")
                return
            for name in quantized:
                off = numpy.abs(found[name].astype(int) - wanted[name])
                one_off += int((off == 1).sum()) if name in rounded else 0
                if off.max() > (name in rounded):
                    wrong.add(name)
        ours, theirs = numpy.concatenate(ours), numpy.concatenate(theirs)
        self.judge(case, quantized, rounded, wrong, one_off, ours, theirs)

    def judge(self, case, quantized, rounded, wrong, one_off, ours, theirs):
        off = float(numpy.abs(ours - theirs).max() / numpy.abs(theirs).max() * LAST)
        same = float((ours.argmax(1) == theirs.argmax(1)).mean())
        exact = len(set(quantized) - rounded)
        print(f"{case}: {exact} of {len(quantized)} quantised values must have ONNX Runtime's "
              f"integers, {one_off} of the others' are one off; results are {off:.2f} quanta off, the "
              f"same largest element of {100 * same:.2f} % of {len(ours)} rows", flush=True)
        if wrong:
            self.suite.fail(case, f"other integers: {sorted(wrong)[:3]}, {len(wrong)} in all")
        elif (exact, len(quantized)) != VALUES[case]:
            self.suite.fail(case, f"{exact} of {len(quantized)} values are compared, not "
                            f"{VALUES[case][0]} of {VALUES[case][1]}")
        elif not (off <= 1 and same >= SAME_ROWS):
            self.suite.fail(case, f"{off:.2f} quanta off, {100 * same:.2f} % of rows")
        else:
            self.suite.ok(case)

    def run(self, case, artefact, feed, output):
        """The output and what is tapped, by name; None where the run failed."""
        work = artefact.parent
        shutil.rmtree(work / "taps", ignore_errors=True)
        inputs = []
        for number, (name, array) in enumerate(feed.items()):
            numpy.save(work / f"{number}.npy", array)
            inputs.append(f"--input={name}=@{work / f'{number}.npy'}")
        step = harness.run([artefact, "--device=sim", *inputs, f"--taps={work / 'taps'}",
                            f"--output={output}=@{work / 'output.npy'}"], SECONDS)
        if step.code != 0:
            self.suite.fail(case, f"{step.how()}: {harness.first_error(step.output)}", step)
            return None
        return {**read_taps(work / "taps"), output: numpy.load(work / "output.npy")}

    def check_trained(self, name, count):
        data = self.suite.work / "training.npz"
        numpy.savez(data, image=fashion_data.load("train")[0][:TRAINING])
        images = fashion_data.load("test")[0][:count]
        self.check(name, demo.HERE / f"{name}.onnx",
                   [f"--calibration-data={data}", "--calibration-batch=64"],
                   ({"image": images[at:at + BATCH]} for at in range(0, len(images), BATCH)))

    def check_random(self, name):
        """Where every product is one of integers: no value of 16 bits is in the middle."""
        network = networks.NETWORKS[name]()
        source, ranges = self.suite.work / f"{name}.onnx", self.suite.work / f"{name}.ranges"
        onnx.save(network.model, source)
        step, model = recorded_ranges.normalized(self.cameoc, source,
                                                 self.suite.work / "normalized.onnx")
        if model is None:
            self.suite.fail(name, harness.first_error(step.output), step)
            return
        feed = network.inputs(INPUTS, numpy.random.default_rng(1))
        recorded_ranges.write(ranges, model, [feed])
        self.check(name, source, [f"--ranges={ranges}", "--precision-of=*=int8"], [feed])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    parser.add_argument("--long", action="store_true",
                        help="all test images, and another network of random weights")
    options = parser.parse_args()
    bits = Bits(harness.Suite("quantized-bits", options.build.resolve()))
    for name in ("fashion", "fashion_mobile"):
        if re.search(options.filter, name):
            bits.check_trained(name, None if options.long else IMAGES)
    for name in LONG_RANDOM if options.long else RANDOM:
        if re.search(options.filter, name):
            bits.check_random(name)
    return bits.suite.close()


if __name__ == "__main__":
    sys.exit(main())
