#!/usr/bin/env python3
"""`cameoc --precision` of FP32 networks: every product in the type asked for, no kernel that only
converts, no more launches than in FP32, and results that are close to ONNX Runtime's of the FP32
network. The model that --emit=onnx writes is valid, and ONNX Runtime computes nearly the same with
it: in INT8, by ranges recorded here, the same but for one quantum of the output.

The demo's trained network classifies test images in each precision, with --long all 10,000, beside
ONNX Runtime in FP32; so does the one that INT8 is hard on. --model=FILE.onnx --feed=FILE.npz takes a model and inputs of your own.
"""
# SPDX-License-Identifier: Apache-2.0
import argparse
import json
import logging
import re
import sys
from pathlib import Path

import numpy
import onnx
from onnxruntime.quantization import CalibrationDataReader, QuantType, quantize_static

import harness
import modern_networks
import networks
import recorded_ranges
import typed_networks

sys.path.insert(0, str(harness.SOURCE / "examples" / "fashion"))
import demo  # pylint: disable=wrong-import-position
import fashion_data  # pylint: disable=wrong-import-position

SECONDS = 600
TARGET = "sim:sm_80"
PRODUCTS = {"Attention", "Conv", "ConvTranspose", "Einsum", "Gemm", "MatMul"}
# Signal over noise of an output may be this many dB below what sqnr.txt says was measured; of networks
# that it does not have, in dB: 11 and 8 bits, less what fifty layers of random weights add.
MEASURED, LESS = Path(__file__).resolve().parent / "sqnr.txt", 2.0
LEAST_SQNR = {"fp16": 30.0, "bf16": 20.0, "tf32": 30.0, "int8": 8.0}
# ... and in INT8 below what the model reaches as ONNX Runtime's own quantiser makes it.
LESS_THAN_THEIRS = 3.0
# Samples that ranges are recorded over, quanta that a result may be off by, and the last of 8 bits.
SAMPLES, MOST_QUANTA, LAST = 4, 1.01, 127
# Why fusion leaves a cast in front of what reads it.
AGAIN = "computing its elements again would cost more than it saves"
# In INT8 without --long.
SOME_INT8 = {"efficientnet_b0", "gpt", "unet"}
# The largest: without --long neither in BF16 nor in TF32.
LARGEST = "efficientnet_b0"
# Ours may be as far from FP32 as ONNX Runtime's FP16 model, times and plus: both round elsewhere.
FACTOR, SLACK = 2.0, 1e-3
# Images of the trained network, without --long; and how many points of accuracy they may cost.
IMAGES, BATCH = 1000, 250
MOST_POINTS = {"fp16": 0.1, "bf16": 0.5}
# Training images that the trained network's ranges are recorded over, and how.
TRAINING, INT8_POINTS, METHODS = 256, 0.3, ("max", "percentile")
# The hard network: images without --long, training images, and what INT8 may cost and is helped by.
HARD_IMAGES, HARD_TRAINING, HARD_POINTS = 2000, 512, 0.4
ALL_IMAGES = 10000


def sqnr(found, reference):
    """In dB, over all elements."""
    reference = reference.astype(numpy.float64)
    noise = numpy.square(found.astype(numpy.float64) - reference).sum()
    return 10 * numpy.log10(numpy.square(reference).sum() / max(noise, 1e-300))


def read_measured(path=MEASURED):
    """`case dB` a line."""
    lines = (line.split("#")[0].split() for line in path.read_text().splitlines())
    return {words[0]: float(words[1]) for words in lines if words}


class Reader(CalibrationDataReader):
    """Feeds for ONNX Runtime's quantiser."""

    def __init__(self, feeds):
        self.feeds = iter(feeds)

    def get_next(self):
        return next(self.feeds, None)


def quantised_by_theirs(source, out, feeds):
    """ONNX Runtime's own decisions: static, activations of unsigned bytes with a zero point, a scale for
    each channel of weights, which DequantizeLinear has since opset 13."""
    logging.getLogger().setLevel(logging.ERROR)  # it advises to prepare the model first
    opset = next(each.version for each in onnx.load(source).opset_import if not each.domain)
    quantize_static(source, out, Reader(feeds), per_channel=opset >= 13,
                    activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8)
    return onnx.load(out)


def converts_only(kernel):
    """Whether a kernel reads one tensor and writes it in another type; where sizes are open the
    report has no operations of it, and the number of launches is what tells."""
    tensors = [*kernel.get("inputs", []), *kernel.get("outputs", [])]
    if all(re.search(r"\.(de)?quantized$", name) for name in kernel["onnx_nodes"].split(",")):
        return True
    if len(tensors) != 2:
        return False
    sizes = [numpy.prod([int(size) for size in re.findall(r"(\d+)x", text)]) for text in tensors]
    types = [text.split("x")[-1] for text in tensors]
    return sizes[0] == sizes[1] and types[0] != types[1] and kernel.get("flops") == 0


def split_by_time(report):
    """The number of dispatches that take less time as two by the target's estimate, which depends on the type."""
    return sum(each["text"] == "split, as it takes less time in two"
               for variant in report["variants"] for each in variant["decisions"])


def casts_by_cost(report, inputs):
    """The number of inputs that are converted by a launch, because tiles of a product would read the wider elements again
    and again. In FP32 nothing is converted."""
    return len({name for each in report["fusions"]["missed"] for name in each["producer"]
                if name in inputs and each["why"] == AGAIN})


def every_value(model, feed):
    """What ONNX Runtime computes at every node, floats only."""
    probe = onnx.ModelProto()
    probe.CopyFrom(model)
    known = {output.name for output in model.graph.output}
    probe.graph.output.extend(onnx.helper.make_empty_tensor_value_info(name)
                              for node in model.graph.node for name in node.output
                              if name and name not in known)
    return {name: array for name, array in typed_networks.run_reference(probe, feed).items()
            if array.dtype.kind == "f" and array.size}


class Precisions:
    def __init__(self, options):
        self.suite = harness.Suite("precision", options.build.resolve())
        self.cameoc = self.suite.tool("cameoc")
        self.may_keep, self.layers = options.model is not None, options.layers
        self.measured = read_measured()

    def judge(self, case, problem, *steps):
        if problem:
            self.suite.fail(case, problem, *steps)
        else:
            self.suite.ok(case)

    def compile(self, source, artefact, *flags):
        """The step and the report, None where it failed."""
        report = artefact.with_suffix(".json")
        step = harness.run([self.cameoc, source, "-o", artefact, f"--target={TARGET}",
                            f"--report={report}", *flags], SECONDS)
        if step.code != 0:
            self.suite.fail(f"{artefact.name}-compile",
                            f"{step.how()}: {harness.first_error(step.output)}", step)
            return step, None
        return step, json.loads(report.read_text())

    def wrong_products(self, report, precision):
        """Products of another type; in networks that are not ours only those without a reason."""
        kept = {name for each in report["decisions"] if each["what"] == "precision"
                for name in each["onnx_nodes"]} if self.may_keep else set(self.kept_by_nature(report))
        for node in report["graph"]["precision"]["nodes"]:
            if node["op"] in PRODUCTS and node.get("precision") != precision and \
                    not kept & set(node["name"].split(",")):
                return f"{node['op']} {node['name']} is {node.get('precision')}"
        return None

    @staticmethod
    def kept_by_nature(report):
        """Products that stay FP16 in INT8 networks: quantising the input costs more, or there is
        no such product of integers."""
        return [name for each in report["decisions"] if each["text"] == "not quantised"
                and re.search("cost more|no product of integers of this", each["why"])
                for name in each["onnx_nodes"]]

    def enough(self, case, decibels):
        """What is wrong with a signal over noise, or None."""
        measured = self.measured.get(case)
        least = LEAST_SQNR[case.split("-")[-1]] if measured is None else measured - LESS
        if not decibels >= least:
            return f"{decibels:.1f} dB, not {least:.1f}"
        if measured is not None and decibels > measured + LESS:
            print(f"note: sqnr.txt has {measured} dB of {case}; it is {decibels:.1f}")
        return None

    @staticmethod
    def samples(network):
        random = numpy.random.default_rng(7)
        return [network.inputs(network.batches[0], random) for _ in range(SAMPLES)]

    def ranges(self, source, network, work):
        """The option with a file of ranges over a few samples; None where there is none."""
        step, model = recorded_ranges.normalized(self.cameoc, source, work / "normalized.onnx")
        if model is None:
            self.suite.fail(f"{source.stem}-normalized", harness.first_error(step.output), step)
            return None
        file = recorded_ranges.write(work / "ranges.json", model, self.samples(network))
        return f"--ranges={file}"

    def run(self, artefact, feed, names):
        work = artefact.parent
        command = [artefact, "--device=sim"]
        for number, (key, array) in enumerate(feed.items()):
            numpy.save(work / f"input_{number}.npy", array)
            command.append(f"--input={key}=@{work / f'input_{number}.npy'}")
        command += [f"--output={key}=@{work / f'output_{number}.npy'}"
                    for number, key in enumerate(names)]
        step = harness.run(command, SECONDS)
        if step.code != 0:
            return step, None
        return step, {key: numpy.load(work / f"output_{number}.npy")
                      for number, key in enumerate(names)}

    def check_some(self, name, make, precisions, wanted):
        chosen = [each for each in precisions if re.search(wanted, f"{name}-{each}")]
        if chosen:
            self.check_network(name, make(), chosen)

    def check_network(self, name, network, precisions):
        work = self.suite.work / name
        work.mkdir(exist_ok=True)
        source = work / f"{name}.onnx"
        onnx.save(network.model, source)
        _, full = self.compile(source, work / "fp32")
        feed = network.inputs(network.batches[0], numpy.random.default_rng(1))
        references = typed_networks.run_reference(network.model, feed)
        for precision in precisions:
            flags = [f"--precision={precision}"]
            if precision == "int8":
                flags.append(self.ranges(source, network, work))
            if full and all(flags):
                found = self.check(f"{name}-{precision}", work, source, flags, full, feed, references)
                if precision == "int8" and found is not None:
                    self.beside_theirs(name, source, network, feed, references, found)
        for file in work.iterdir():
            file.unlink()

    def beside_theirs(self, name, source, network, feed, references, decibels):
        """The same network as ONNX Runtime's own quantiser makes it, which shares no decision with ours."""
        theirs = quantised_by_theirs(source, source.with_suffix(".theirs.onnx"),
                                     self.samples(network))
        outputs = typed_networks.run_reference(theirs, feed)
        other = min(sqnr(outputs[key], value) for key, value in references.items()
                    if value.dtype.kind == "f")
        print(f"{name}: ONNX Runtime's own quantiser reaches {other:.1f} dB", flush=True)
        problem = None
        if decibels < other - LESS_THAN_THEIRS:
            problem = f"{decibels:.1f} dB, where ONNX Runtime's quantiser reaches {other:.1f}"
        self.judge(f"{name}-int8-theirs", problem)

    def check(self, case, work, source, flags, full, feed, references):
        """The signal over noise in dB; None where there is no result."""
        precision = flags[0].split("=")[1]
        step, report = self.compile(source, work / precision, *flags)
        if not report:
            return None
        self.judge(f"{case}-products", self.wrong_products(report, precision), step)
        count, before = len(harness.launched(report)), len(harness.launched(full))
        # Those apart from what they could be one with take less time so, by an estimate of this type.
        apart = split_by_time(report) + casts_by_cost(report, feed)
        more = count - apart > before - split_by_time(full)
        self.judge(f"{case}-launches", f"{count} launches, {apart} of them apart by cost, {before} in FP32"
                   if more else None, step)
        casts = [kernel["onnx_nodes"] for kernel in report["kernels"] if converts_only(kernel)]
        self.judge(f"{case}-casts", f"kernels that only convert: {casts}" if casts else None, step)
        exported = self.exported(case, work, source, flags, precision, feed, references)
        run, outputs = self.run(work / precision, feed, references)
        if outputs is None:
            self.suite.fail(case, f"{run.how()}: {harness.first_error(run.output)}", step, run)
            return None
        changed = [key for key, value in references.items() if outputs[key].dtype != value.dtype]
        real = {key: value for key, value in references.items() if value.dtype.kind == "f"}
        worst = min(sqnr(outputs[key], value) for key, value in real.items())
        off = typed_networks.off_by(outputs, real)
        problem = self.enough(case, worst)
        if changed:
            problem = f"outputs of other types: {changed}"
        elif problem:
            pass
        elif precision == "int8":
            problem = self.quanta_off(case, outputs, exported, references)
            exported = None
        elif exported is not None and not off <= FACTOR * exported + SLACK:
            problem = f"off by {off:.2e} of the largest value; ONNX Runtime by {exported:.2e}"
        self.judge(case, problem, step, run)
        nodes = ", ".join(f"{count} {key}" for key, count in report["precision"]["nodes"].items())
        theirs = f" (ONNX Runtime's {exported:.1e})" if exported else ""
        print(f"{case}: {count} launches ({before} in FP32), nodes {nodes}, SQNR {worst:.1f} dB, "
              f"off by {off:.1e}{theirs}, the same largest element of "
              f"{100 * self.agreement(outputs, real):.2f} % of rows", flush=True)
        return worst

    @staticmethod
    def quanta_off(case, outputs, exported, references):
        """What is wrong with results beside ONNX Runtime's of the exported model. Networks of random
        weights make much of one flipped number: ONNX Runtime's own results differ with how it
        optimises, and ours may differ as much as these, times and plus."""
        if exported is None:
            return "no model to compare with"
        plain, optimized = exported

        def quanta(a, b):
            return max(float(numpy.abs(a[key] - b[key]).max() / numpy.abs(references[key]).max()
                             * LAST) for key in plain)
        off, theirs = quanta(outputs, plain), quanta(optimized, plain)
        print(f"{case}: off by {off:.2f} quanta of ONNX Runtime's, whose own differ by "
              f"{theirs:.2f}", flush=True)
        return None if off <= FACTOR * theirs + MOST_QUANTA else f"off by {off:.2f} quanta"

    @staticmethod
    def agreement(outputs, references):
        """The share of rows, along the last dimension, whose largest element is at one place."""
        same = [outputs[key].argmax(-1).ravel() == value.argmax(-1).ravel()
                for key, value in references.items() if value.ndim]
        return float(numpy.concatenate(same).mean()) if same else 1.0

    def exported(self, case, work, source, flags, precision, feed, references):
        """How far ONNX Runtime is off with the model of that precision, of INT8 what it computes;
        None for BF16, in which it does not compute on a CPU."""
        out = work / f"{precision}.onnx"
        step = harness.run([self.cameoc, source, "-o", out, "--emit=onnx", *flags], SECONDS)
        if step.code != 0:
            self.suite.fail(f"{case}-onnx", harness.first_error(step.output), step)
            return None
        onnx.checker.check_model(str(out))
        off = None
        if precision == "int8":
            session, session_names = recorded_ranges.probe(onnx.load(out))
            plain = recorded_ranges.values(session, session_names, feed)
            optimized = typed_networks.run_reference(onnx.load(out), feed)
            off = [{key: value for key, value in each.items()
                    if key in references and value.dtype.kind == "f"}
                   for each in (plain, optimized)]
        if precision in ("fp16", "int8") and self.layers:
            self.print_layers(case, source, onnx.load(out), feed)
        if precision == "fp16":
            outputs = typed_networks.run_reference(onnx.load(out), feed)
            real = {key: value for key, value in references.items() if value.dtype.kind == "f"}
            off = typed_networks.off_by(outputs, real)
            worst = min(sqnr(outputs[key], value) for key, value in real.items())
            if problem := self.enough(case, worst):
                self.suite.fail(f"{case}-onnx", f"ONNX Runtime: {problem}", step)
                return off
        self.suite.ok(f"{case}-onnx")
        return off

    def print_layers(self, case, source, lowered, feed):
        """SQNR at every node that is in both models, by ONNX Runtime."""
        out = self.suite.work / "normalized.onnx"
        step = harness.run([self.cameoc, source, "-o", out, "--emit=onnx"], SECONDS)
        if step.code != 0:
            self.suite.fail(f"{case}-layers", harness.first_error(step.output), step)
            return
        before, after = every_value(onnx.load(out), feed), every_value(lowered, feed)
        found = {name: sqnr(after[name], before[name]) for name in after if name in before}
        for name, decibels in sorted(found.items(), key=lambda item: item[1]):
            print(f"  {name:<40} {decibels:6.1f} dB")

    def check_fashion(self, count):
        """The trained network: its accuracy and, image by image, its classes."""
        source = demo.HERE / "fashion.onnx"
        images, labels = fashion_data.load("test")
        images, labels = images[:count], labels[:count]
        reference = self.full_precision(source, images, labels)
        work = self.suite.work / "fashion"
        work.mkdir(exist_ok=True)
        for precision, most in MOST_POINTS.items():
            self.check_accuracy(source, precision, [], most, images, labels, reference)
        step, model = recorded_ranges.normalized(self.cameoc, source, work / "normalized.onnx")
        if model is None:
            self.suite.fail("fashion-normalized", harness.first_error(step.output), step)
            return
        training = fashion_data.load("train")[0][:TRAINING]
        feeds = [{"image": part} for part in numpy.split(training, 4)]
        for method in METHODS:
            file = recorded_ranges.write(work / f"{method}.json", model, feeds, method)
            self.check_accuracy(source, "int8", [f"--ranges={file}"], INT8_POINTS, images, labels,
                                reference)

    def check_hard(self, count):
        """The same of the hard network. Without --long FP16 and INT8 at default options."""
        source = demo.HERE / "fashion_mobile.onnx"
        images, labels = fashion_data.load("test")
        images, labels = images[:count], labels[:count]
        reference = self.full_precision(source, images, labels)
        work = self.suite.work / source.stem
        work.mkdir(exist_ok=True)
        data = work / "training.npz"
        numpy.savez(data, image=fashion_data.load("train")[0][:HARD_TRAINING])
        calibration = [f"--calibration-data={data}", "--calibration-batch=64"]
        for precision, most in MOST_POINTS.items():
            if precision == "fp16" or count is None:
                self.check_accuracy(source, precision, [], most, images, labels, reference)
        self.check_accuracy(source, "int8", calibration, HARD_POINTS, images,
                            labels, reference)

    @staticmethod
    def full_precision(source, images, labels):
        """The logits of ONNX Runtime in FP32."""
        reference = typed_networks.run_reference(onnx.load(source), {"image": images})["logits"]
        accuracy = 100 * (reference.argmax(1) == labels).mean()
        print(f"{source.stem}, FP32 (ONNX Runtime): {accuracy:.2f} % of {len(labels)} images")
        return reference

    def check_accuracy(self, source, precision, flags, most, images, labels, reference):
        name = "-".join([precision, *(Path(flag).stem for flag in flags
                                      if flag.startswith("--ranges="))])
        artefact = self.suite.work / source.stem / name
        step, report = self.compile(source, artefact, f"--precision={precision}", *flags)
        if not report:
            return
        accuracy = 100 * (reference.argmax(1) == labels).mean()
        logits, seconds = demo.classify(artefact, images, BATCH, "sim")
        found = 100 * (logits.argmax(1) == labels).mean()
        moved = int((logits.argmax(1) != reference.argmax(1)).sum())
        print(f"{source.stem}, {name}: {found:.2f} %, another class than in FP32 for {moved} "
              f"images, SQNR {sqnr(logits, reference):.1f} dB, {seconds:.1f} s", flush=True)
        problem = None
        # Of some images only: twice the standard error of those whose class has changed, more.
        error = 0 if len(images) == ALL_IMAGES else 200 * moved ** 0.5 / len(images)
        if not abs(found - accuracy) <= most + error:
            problem = f"{found:.2f} %, in FP32 {accuracy:.2f} %"
        self.judge(f"{source.stem}-{name}", problem or self.wrong_products(report, precision), step)

    def check_file(self, path, feed, precisions):
        network = networks.Network(onnx.load(path), lambda batch, random: feed)
        self.check_network(path.stem, network, precisions)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    parser.add_argument("--long", action="store_true", help="networks of full size")
    parser.add_argument("--layers", action="store_true", help="print the SQNR of every node")
    parser.add_argument("--model", type=Path, help="only this one, with --feed")
    parser.add_argument("--feed", type=Path, help="its inputs by name, as .npz")
    options = parser.parse_args()
    checks = Precisions(options)
    if options.model:
        with numpy.load(options.feed) as feed:
            checks.check_file(options.model, dict(feed), LEAST_SQNR)
        return checks.suite.close()
    for name, make in modern_networks.SMALL_NETWORKS.items():
        some = [each for each in LEAST_SQNR
                if options.long or not (each == "int8" and name not in SOME_INT8
                                        or each in ("bf16", "tf32") and name == LARGEST)]
        checks.check_some(name, make, some, options.filter)
    for name, make in networks.NETWORKS.items():
        if options.long or name == "mobilenet_v2":
            some = ["fp16", "int8"] if options.long else ["fp16"]
            checks.check_some(name, make, some, options.filter)
    if re.search(options.filter, "fashion"):
        checks.check_fashion(None if options.long else IMAGES)
    if re.search(options.filter, "fashion_mobile"):
        checks.check_hard(None if options.long else HARD_IMAGES)
    return checks.suite.close()


if __name__ == "__main__":
    sys.exit(main())
