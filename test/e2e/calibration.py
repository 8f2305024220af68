#!/usr/bin/env python3
"""Calibration: thresholds from sample data, and the cache that keeps them.

A small network is calibrated by every method. What is recorded of each value is what ONNX Runtime
computes there; caches have the same bytes for one and two threads and batches of 1, 7 and 32; those
of another model or other data are refused; TensorRT's are read. Memory does not grow with samples,
which need be no multiple of a batch that the model fixes.
A factor that weights take is in the thresholds of their products' results.
Factors of channels give what is nearer to FP32, and of what no option names the best is taken. Means for bias
correction are what NumPy makes of ONNX Runtime's values.

--long calibrates ResNet-50 at 224x224 on 500 images as well, and says what takes how long.
"""
# SPDX-License-Identifier: Apache-2.0
import argparse
import json
import struct
import sys
import time

import numpy
import onnx
import PIL.Image

import artefact
import harness
import networks
import precision
import typed_networks

SECONDS = 600
SAMPLES = 67
METHODS = ("max", "entropy", "percentile", "mse")
# Calibration of ResNet-50 may take this long on 2 cores, and memory may grow by this with samples.
RESNET_IMAGES, RESNET_SECONDS = 500, 180
MOST_GROWTH = 1.05
# Factors give this at least where channels differ by 2^8: 2 dB below the 26.1 measured; without factors it is 0.7.
CHANNELS_DB = 24


def network():
    """Convolutions with batch-norms, a residual add and a product, in any batch."""
    b = networks.Builder("small", 7)
    x = b.node("Relu", b.conv_norm("image", 3, 16, 3))
    y = b.node("Relu", b.conv_norm(x, 16, 16, 3))
    y = b.node("Relu", b.node("Add", b.conv_norm(y, 16, 16, 1), x))
    networks.rename_output(b, networks.classify(b, y, 16), "logits")
    return b.model([networks.value("image", ["N", 3, 12, 12])],
                   [networks.value("logits", ["N", 1000])], 17)


def samples(count, seed=1, size=12):
    """Heavier tails than a Gaussian's, so that methods differ."""
    random = numpy.random.default_rng(seed)
    return random.standard_t(4, (count, 3, size, size)).astype(numpy.float32)


def values_of(cache):
    return json.loads(cache.read_text())["ranges"]


def activation_scale(threshold):
    """By which a threshold becomes 127 or a little less: 5 bits, rounded up."""
    fraction, exponent = numpy.frexp(threshold / 127)
    return float(numpy.ldexp(numpy.ceil(fraction * 32), exponent - 5))


def with_quantized(model, value, threshold):
    """The model with one value quantised to 8 bits and back for all that read it."""
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    nodes = list(changed.graph.node)
    for node in nodes:
        node.input[:] = ["quantized" if name == value else name for name in node.input]
    constants = {"scale": activation_scale(threshold), "low": -127, "high": 127}
    changed.graph.initializer.extend(onnx.numpy_helper.from_array(numpy.float32(number), name)
                                     for name, number in constants.items())
    steps = [("Div", [value, "scale"], "steps"), ("Round", ["steps"], "rounded"),
             ("Clip", ["rounded", "low", "high"], "clipped"),
             ("Mul", ["clipped", "scale"], "quantized")]
    at = next((i + 1 for i, node in enumerate(nodes) if value in node.output), 0)
    del changed.graph.node[:]
    changed.graph.node.extend(nodes[:at])
    changed.graph.node.extend(onnx.helper.make_node(op, inputs, [output], output)
                              for op, inputs, output in steps)
    changed.graph.node.extend(nodes[at:])
    return changed


def window_means(node, x):
    """What each place of a window reads, on average over samples and places of the result."""
    if node.op_type == "Gemm":
        return x.mean(0)
    attributes = {each.name: onnx.helper.get_attribute_value(each) for each in node.attribute}
    kernel, strides = attributes["kernel_shape"], attributes.get("strides", [1, 1])
    pads = attributes.get("pads", [0, 0, 0, 0])
    padded = numpy.pad(x, [(0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])])
    down, right = ((padded.shape[axis + 2] - kernel[axis]) // strides[axis] + 1 for axis in (0, 1))
    return numpy.stack([padded[:, :, i:i + strides[0] * down:strides[0],
                               j:j + strides[1] * right:strides[1]].mean((0, 2, 3))
                        for i in range(kernel[0]) for j in range(kernel[1])], 1).ravel()


class Calibration:
    def __init__(self, build):
        self.suite = harness.Suite("calibration", build.resolve())
        self.cameoc = self.suite.tool("cameoc")
        self.work = self.suite.work
        self.model = self.work / "model.onnx"
        onnx.save(network(), self.model)
        self.images = samples(SAMPLES)
        self.data = self.work / "data.npz"
        numpy.savez(self.data, image=self.images)

    def calibrate(self, output, *flags, model=None):
        if not any(str(flag).startswith("--calibration-cache") for flag in flags):
            output.unlink(missing_ok=True)
        return harness.run([self.cameoc, model or self.model, "-o", output, "--emit=ranges",
                            *flags], SECONDS)

    def calibrate_alike(self, case, ways, *flags, model=None):
        """Ranges, which have the same bytes for each number of threads and batch, and the last step; None where a
        calibration fails."""
        texts = set()
        for threads, batch in ways:
            output = self.work / f"{case}-{threads}-{batch}.json"
            step = self.calibrate(output, f"-j{threads}", f"--calibration-data={self.data}",
                                  f"--calibration-batch={batch}", *flags, model=model)
            if step.code != 0:
                self.suite.fail(case, step.how(), step)
                return None, step
            texts.add(output.read_bytes())
        self.judge(f"{case}-bytes", len(texts) != 1 and f"{len(texts)} different files", step)
        return json.loads(texts.pop()), step

    def judge(self, case, problem, *steps):
        if problem:
            self.suite.fail(case, problem, *steps)
        else:
            self.suite.ok(case)

    def expect(self, case, step, text, code=2):
        """It ends with that code, and says so."""
        wrong = step.code != code or text not in step.output
        self.judge(case, wrong and f"{step.how()} without '{text}'", step)

    def check_values(self):
        """Ranges and the maximum are ONNX Runtime's, and the chosen method's threshold is there."""
        output = self.work / "ranges.json"
        step = self.calibrate(output, f"--calibration-data={self.data}",
                              "--calibration-method=mse")
        if step.code != 0:
            return self.suite.fail("values", step.how(), step)
        found = values_of(output)
        normalized = self.work / "normalized.onnx"
        harness.run([self.cameoc, self.model, "-o", normalized, "--stop-after=normalized",
                     "--emit=onnx"], SECONDS)
        graph = onnx.load(normalized)
        tensors = precision.every_value(graph, {"image": self.images})
        reference = {node.name: tensors[node.output[0]] for node in graph.graph.node
                     if node.output[0] in tensors}
        reference["image"] = self.images
        missing = [name for name in reference if name not in found]
        self.judge("names", missing and f"{missing} are not in the file", step)
        wrong = [name for name, array in reference.items() if name in found and not numpy.allclose(
            [found[name]["min"], found[name]["max"]], [array.min(), array.max()],
            rtol=1e-4, atol=1e-5)]
        self.judge("values", wrong and f"the ranges of {wrong} are not ONNX Runtime's", step)
        wrong = [name for name, each in found.items()
                 if each["thresholds"]["max"] != max(-each["min"], each["max"]) or
                 each["method"] != "mse" or set(each["thresholds"]) != set(METHODS) or
                 not all(0 < t <= each["thresholds"]["max"] for t in each["thresholds"].values())]
        self.judge("thresholds", wrong and f"{wrong} have wrong thresholds", step)
        return None

    def check_bytes(self):
        texts = set()
        for threads in (1, 2):
            for batch in (1, 7, 32):
                cache = self.work / f"cache-{threads}-{batch}.json"
                cache.unlink(missing_ok=True)
                step = self.calibrate(self.work / "ranges.json", f"-j{threads}",
                                      f"--calibration-data={self.data}",
                                      f"--calibration-batch={batch}",
                                      f"--calibration-cache={cache}")
                if step.code != 0:
                    return self.suite.fail(f"bytes-{threads}-{batch}", step.how(), step)
                texts.add(cache.read_bytes())
        self.judge("bytes", len(texts) != 1 and f"{len(texts)} different caches")
        folder = self.work / "folder"
        folder.mkdir(exist_ok=True)
        for number, image in enumerate(self.images):
            numpy.save(folder / f"{number:03}.npy", image)
        packed = self.work / "packed.npz"
        numpy.savez_compressed(packed, image=self.images)
        wanted = values_of(self.work / "ranges.json")
        for case, data in (("folder", folder), ("packed", packed)):
            output = self.work / f"{case}.json"
            step = self.calibrate(output, f"--calibration-data={data}")
            same = step.code == 0 and values_of(output) == wanted
            self.judge(case, not same and "other ranges than from one archive", step)
        return None

    def check_remainder(self):
        """A model that fixes how many samples it takes: the first ones complete the last run. Those of
        --accuracy are counted once, a label each."""
        fixed, data = self.work / "fixed.onnx", self.work / "completed.npz"
        model = network()
        model.graph.input[0].CopyFrom(networks.value("image", [4, 3, 12, 12]))
        model.graph.output[0].CopyFrom(networks.value("logits", [4, 1000]))
        onnx.save(model, fixed)
        missing = -SAMPLES % 4
        numpy.savez(data, image=numpy.concatenate([self.images, self.images[:missing]]))
        found, wanted = self.work / "fixed.json", self.work / "completed.json"
        steps = [self.calibrate(found, f"--calibration-data={self.data}", model=fixed),
                 self.calibrate(wanted, f"--calibration-data={data}")]
        if any(step.code for step in steps):
            return self.suite.fail("remainder", f"{[step.how() for step in steps]}", *steps)
        self.judge("remainder", (not missing or values_of(found) != values_of(wanted)) and
                   "other ranges than of the same samples in any number", *steps)
        samples = json.loads(found.read_text())["data"]["samples"]
        self.judge("remainder-samples", samples != SAMPLES and f"{samples} samples", steps[0])
        labels = typed_networks.run_reference(network(), {"image": self.images})["logits"].argmax(1)
        numpy.save(self.work / "labels.npy", labels.astype(numpy.int64))
        report = self.work / "remainder.json"
        step = harness.run([self.cameoc, fixed, "-o", self.work / "remainder", "--precision=int8",
                            "--target=sim:sm_80", f"--calibration-data={self.data}",
                            "--accuracy=10%", f"--labels={self.work / 'labels.npy'}",
                            f"--report={report}"], SECONDS)
        rows = step.code == 0 and json.loads(report.read_text())["accuracy"]["rows"]
        self.judge("remainder-accuracy", rows != SAMPLES and f"{step.how()}, {rows} rows", step)
        return None

    def check_no_numbers(self):
        """Samples of nothing but NaN are no samples."""
        data = self.work / "nan.npz"
        numpy.savez(data, image=numpy.full((3, 3, 12, 12), numpy.nan, numpy.float32))
        self.expect("no-numbers", self.calibrate(self.work / "nan.json", f"--calibration-data={data}"),
                    "calibration: no sample has a finite number for input 'image'")

    def check_some_numbers(self):
        """One NaN is in all that follows of it, and is one warning."""
        images = samples(3)
        images[1, 0, 4, 4] = numpy.nan
        data = self.work / "one_nan.npz"
        numpy.savez(data, image=images)
        step = self.calibrate(self.work / "one_nan.json", f"--calibration-data={data}")
        self.expect("some-numbers", step, "warning: calibration: infinite or no number: 'image' in 1 of 1296 elements, ",
                    code=0)
        warnings = step.output.count("warning:")
        self.judge("some-numbers-once", warnings != 1 and f"{warnings} warnings", step)

    def check_zeros(self):
        """Samples of nothing but 0 are a mistake in most cases."""
        data = self.work / "zeros.npz"
        numpy.savez(data, image=numpy.zeros((3, 3, 12, 12), numpy.float32))
        self.expect("zeros", self.calibrate(self.work / "zeros.json", f"--calibration-data={data}"),
                    "warning: calibration: input 'image' is 0 in all samples", code=0)

    def check_images(self):
        """The lines of the documentation that make samples of images."""
        text = (harness.SOURCE / "docs" / "calibration.md").read_text()
        program = text.split("```python\n")[1].split("```")[0]
        folder = self.work / "pictures"
        (folder / "images").mkdir(parents=True, exist_ok=True)
        random = numpy.random.default_rng(4)
        pixels = random.integers(0, 256, (3, 224, 224, 3), numpy.uint8)
        for number, picture in enumerate(pixels):
            PIL.Image.fromarray(picture).save(folder / "images" / f"{number}.png")
        step = harness.run([sys.executable, "-c", program], SECONDS, cwd=folder)
        if step.code:
            return self.suite.fail("images", step.how(), step)
        made = numpy.load(folder / "images.npz")["image"]
        mean, deviation = numpy.float64([0.485, 0.456, 0.406]), [0.229, 0.224, 0.225]
        wanted = ((pixels / 255 - mean) / deviation).transpose(0, 3, 1, 2)
        self.judge("images", (made.dtype != numpy.float32 or made.shape != wanted.shape or
                              abs(made - wanted).max() > 1e-6) and
                   f"{made.dtype} of {made.shape}", step)
        lines = program.strip().splitlines()
        self.judge("images-lines", len(lines) != 8 and f"{len(lines)} lines")
        return None

    def check_cache(self):
        cache, output = self.work / "cache.json", self.work / "ranges.json"
        flags = (f"--calibration-data={self.data}", f"--calibration-cache={cache}")
        cache.unlink(missing_ok=True)
        made = self.calibrate(output, *flags)
        # A mark that only a run would remove.
        text = cache.read_text().replace('"image": {"min": -', '"image": {"min": -1')
        cache.write_text(text)
        again = self.calibrate(output, *flags)
        self.judge("cache-kept", (again.code != 0 or cache.read_text() != text) and
                   "the cache was not taken as it is", made, again)
        other = self.calibrate(output, *flags, "--calibration-method=mse")
        changed = other.code == 0 and {each["method"] for each in values_of(cache).values()}
        self.judge("cache-method", changed != {"mse"} and f"methods are {changed}", other)
        step = self.calibrate(output, *flags, "--calibration-method=percentile:99")
        self.judge("cache-percentile", (step.code != 0 or
                   json.loads(cache.read_text())["percentile"] != 99) and
                   "another percentile was not calibrated", step)

        data = self.work / "other.npz"
        numpy.savez(data, image=samples(3, 2))
        self.expect("cache-data", self.calibrate(
            output, f"--calibration-data={data}", f"--calibration-cache={cache}"),
            f"calibration cache '{cache}' was made with other data: {SAMPLES} samples of "
            "'data.npz'")
        model = self.work / "other.onnx"
        changed = network()
        changed.producer_name = "others"
        onnx.save(changed, model)
        for case, more in (("cache-model", flags), ("cache-model-alone", flags[1:])):
            self.expect(case, self.calibrate(output, *more, model=model),
                        f"calibration cache '{cache}' is of another model")
        self.check_external(output)
        step = harness.run([self.cameoc, self.model, "-o", self.work / "half.onnx", "--emit=onnx",
                            "--precision=fp16", f"--calibration-cache={cache}"], SECONDS)
        self.judge("cache-precision", step.code != 0 and step.how(), step)

    def check_external(self, output):
        """Weights in a file of their own, of which the model's own hash says nothing."""
        model, weights = self.work / "external.onnx", self.work / "external.bin"
        weights.unlink(missing_ok=True)
        onnx.save(network(), model, save_as_external_data=True, location=weights.name,
                  size_threshold=0)
        cache = self.work / "external.json"
        cache.unlink(missing_ok=True)
        flags = (f"--calibration-data={self.data}", f"--calibration-cache={cache}")
        made = self.calibrate(output, *flags, model=model)
        self.judge("external", (made.code != 0 or "weights" not in json.loads(cache.read_text())) and
                   made.how(), made)
        for case, more in (("external-kept", flags), ("external-kept-alone", flags[1:])):
            step = self.calibrate(output, *more, model=model)
            self.judge(case, step.code != 0 and step.how(), step)
        content = bytearray(weights.read_bytes())
        content[5] ^= 1
        weights.write_bytes(content)
        for case, more in (("external-changed", flags), ("external-changed-alone", flags[1:])):
            self.expect(case, self.calibrate(output, *more, model=model),
                        f"calibration cache '{cache}' is of a model with other external data")

    @staticmethod
    def uneven_channels():
        """Channels of very different size, in front of a depthwise convolution, a sum, a concatenation and rows."""
        b = networks.Builder("channels", 5)
        factors = 2.0 ** b.random.integers(-4, 5, (2, 16))
        x = b.node("Conv", "image", b.constant((b.random.normal(0, 0.3, (16, 3, 3, 3)) * factors[0][:, None, None, None])
                                               .astype(numpy.float32)))
        x = b.node("HardSwish", x)
        depthwise = b.node("Conv", x, b.constant((b.random.normal(0, 0.3, (16, 1, 3, 3)) / factors[0][:, None, None, None])
                                                 .astype(numpy.float32)), group=16, pads=[1] * 4)
        y = b.node("Conv", b.node("Relu", depthwise), b.constant(
            (b.random.normal(0, 0.2, (16, 16, 1, 1)) * factors[1][:, None, None, None]).astype(numpy.float32)))
        total = b.node("Add", b.node("Mul", x, b.constant((factors[1] / factors[0]).astype(numpy.float32)
                                                          .reshape(16, 1, 1))), y)
        both = b.node("Concat", total, b.node("MaxPool", b.node("Relu", y), kernel_shape=[3, 3], pads=[1] * 4), axis=1)
        weights = b.random.normal(0, 0.2, (8, 32, 1, 1)) / numpy.tile(factors[1], 2)[:, None, None]
        z = b.node("Conv", both, b.constant(weights.astype(numpy.float32)))
        networks.rename_output(b, z, "y")
        return b.model([networks.value("image", ["N", 3, 12, 12])],
                       [networks.value("y", ["N", None, None, None])], 17)

    def check_channels(self):
        """Factors have the same bytes for any threads and batches; INT8 has much less noise than without, the
        integers of ONNX Runtime, and as many launches. A cache has factors, or says that not."""
        model = self.work / "channels.onnx"
        onnx.save(self.uneven_channels(), model)
        cache, step = self.calibrate_alike("channels", ((1, 1), (1, 32), (2, 7)), model=model)
        if not cache:
            return None
        found = cache["channels"]
        self.judge("channels-found", len(found) < 4 and f"factors of {sorted(found)} alone", step)
        feed = {"image": self.images}
        wanted = typed_networks.run_reference(onnx.load(model), feed)["y"]
        noise, launches = {}, {}
        for case in ("on", "off"):
            made, report = self.work / f"channels-{case}.onnx", self.work / f"channels-{case}.json"
            flags = ("--precision=int8", f"--calibration-data={self.data}", f"--channel-scales={case}",
                     "--precision-of=Conv=int8")
            step = harness.run([self.cameoc, model, "-o", made, "--emit=onnx", *flags], SECONDS)
            built = artefact.Artefact(self.suite, f"channels-{case}-ours", onnx.load(model), *flags,
                                      f"--report={report}")
            other, outputs = built.run(feed)
            if step.code or other.code:
                return self.suite.fail(f"channels-{case}", step.how(), step, other)
            int8 = typed_networks.run_reference(onnx.load(made), feed)["y"]
            noise[case] = float(numpy.square(int8 - wanted).sum() / numpy.square(wanted).sum())
            launches[case] = len(harness.launched(json.loads(report.read_text())))
            off = float(numpy.abs(outputs[0] - int8).max() / numpy.abs(int8).max() * 127)
            said = "; channels of " in built.step.output and " values scaled" in built.step.output
            self.judge(f"channels-{case}-said", said != (case == "on") and built.step.output, built.step)
            self.judge(f"channels-{case}-equal", off > 1 and f"{off:.2f} quanta off ONNX Runtime's results", other)
        decibels = {case: -10 * numpy.log10(ratio) for case, ratio in noise.items()}
        print(f"channel scales: {decibels['on']:.1f} dB, without {decibels['off']:.1f} dB", flush=True)
        self.judge("channels-noise", decibels["on"] < CHANNELS_DB and f"{decibels}", step)
        self.judge("channels-launches", launches["on"] != launches["off"] and f"{launches}", step)
        return self.check_channel_caches(model)

    def check_channel_caches(self, model):
        """A cache without factors is one that is completed where there is data, and serves without."""
        cache, out = self.work / "channels.json", self.work / "channels-int8.onnx"
        named = ("--calibration-method=mse", "--bias-correction=off")
        cache.unlink(missing_ok=True)
        step = self.calibrate(self.work / "ranges.json", f"--calibration-data={self.data}",
                              f"--calibration-cache={cache}", "--channel-scales=off", *named, model=model)
        self.judge("channels-off", (step.code or "channels" in json.loads(cache.read_text())) and step.how(), step)
        flags = (self.cameoc, model, "-o", out, "--emit=onnx", "--precision=int8", f"--calibration-cache={cache}",
                 *named)
        without = harness.run([*flags], SECONDS)
        self.judge("channels-without", without.code != 0 and without.how(), without)
        plain = out.read_bytes()
        self.expect("channels-asked", harness.run([*flags, "--channel-scales=on"], SECONDS),
                    f"calibration cache '{cache}' has no factors for --channel-scales=on")
        completed = harness.run([*flags, f"--calibration-data={self.data}"], SECONDS)
        self.judge("channels-completed", (completed.code or not json.loads(cache.read_text()).get("channels")
                                          or out.read_bytes() == plain) and completed.how(), completed)
        off = harness.run([*flags, "--channel-scales=off"], SECONDS)
        self.judge("channels-ignored", (off.code or out.read_bytes() != plain) and off.how(), off)

    def check_choice(self):
        """Each trial's noise is that of the INT8 model with the same options by ONNX Runtime, and what has the
        least is taken; what options name is not tried. One and two threads and any batch agree."""
        model = self.work / "chosen.onnx"
        onnx.save(self.uneven_channels(), model)
        cache, step = self.calibrate_alike("choice", ((1, 1), (2, 7)), model=model)
        if not cache:
            return None
        chosen, feed = cache["chosen"], {"image": self.images[-32:]}
        wanted = typed_networks.run_reference(onnx.load(model), feed)["y"]
        named, best = {}, None
        for trial in chosen["trials"]:
            named = {"--calibration-method": trial["method"],
                     "--channel-scales": "on" if trial["channel_scales"] else "off",
                     "--bias-correction": "on" if trial["bias_correction"] else "off"}
            case, made = "-".join(named.values()), self.work / "chosen-int8.onnx"
            other = harness.run([self.cameoc, model, "-o", made, "--emit=onnx", "--precision=int8",
                                 f"--calibration-data={self.data}", *(f"{k}={v}" for k, v in named.items())],
                                SECONDS)
            if other.code:
                self.suite.fail(f"choice-{case}", other.how(), other)
                continue
            found = typed_networks.run_reference(onnx.load(made), feed)["y"]
            runs = [10 ** (-precision.sqnr(found[i:i + 4], wanted[i:i + 4]) / 10) for i in range(0, 32, 4)]
            decibels = {"sqnr": -10 * numpy.log10(numpy.median(runs)), "sqnr_of_all": precision.sqnr(found, wanted)}
            # Means for biases are of fewer samples there.
            most = 0.5 if trial["bias_correction"] else 0.1
            self.judge(f"choice-{case}", not all(abs(decibels[each] - trial[each]) <= most for each in decibels) and
                       f"{trial}, {decibels} by ONNX Runtime", other)
            if best is None or (trial["sqnr"] >= best["sqnr"] + 1 and trial["sqnr_of_all"] >= best["sqnr_of_all"]):
                best = trial
        print(f"choice: {step.output.strip()}", flush=True)
        self.judge("choice-best", (cache["method"] != best["method"] or
                                   chosen["bias_correction"] != best["bias_correction"] or
                                   ("channels" in cache) != best["channel_scales"]) and f"not {best}", step)
        self.judge("choice-said", f"INT8: {best['method']}" not in step.output and step.output, step)
        output = self.work / "named.json"
        step = self.calibrate(output, f"--calibration-data={self.data}", *(f"{k}={v}" for k, v in named.items()),
                              model=model)
        self.judge("choice-named", (step.code or "chosen" in json.loads(output.read_text())) and step.how(), step)
        step = self.calibrate(output, f"--calibration-data={self.data}", "--calibration-method=max",
                              "--bias-correction=off", model=model)
        trials = [] if step.code else json.loads(output.read_text())["chosen"]["trials"]
        self.judge("choice-part", {(t["method"], t["channel_scales"], t["bias_correction"]) for t in trials} !=
                   {("max", True, False), ("max", False, False)} and f"{trials}", step)
        return None

    @staticmethod
    def source_of(graph, value):
        """The node's name, where a Flatten moves what it computes."""
        node = next((node for node in graph.graph.node if value in node.output), None)
        if node and node.op_type == "Flatten":
            return Calibration.source_of(graph, node.input[0])
        return node.name if node else value

    def check_means(self):
        """Of each input channel and place in the window, and what quantising adds."""
        cache, step = self.calibrate_alike("means", ((1, 32), (2, 7)), "--bias-correction")
        if not cache:
            return None
        inputs, exponents = cache["inputs"], cache["channels"]
        self.judge("means-scaled", not exponents and "no channel is scaled", step)
        graph = onnx.load(self.work / "normalized.onnx")  # by check_values
        tensors = precision.every_value(graph, {"image": self.images}) | {"image": self.images}
        products = [node for node in graph.graph.node if node.op_type in ("Conv", "Gemm")]
        names = {node.name for node in products}
        self.judge("means-names", set(inputs) != names and f"{set(inputs)}, not {names}")
        for node in products:
            found, x = inputs[node.name], tensors[node.input[0]].astype(numpy.float64)
            scale = found["scale"] / 2.0 ** numpy.reshape(
                exponents.get(self.source_of(graph, node.input[0]), 0), (-1, *[1] * (x.ndim - 2)))
            shift = numpy.clip(numpy.rint(x / scale), -127, 127) * scale - x
            wrong = [what for what, array in (("means", x), ("shifts", shift))
                     if not numpy.allclose(found[what], window_means(node, array), atol=scale.min() / 1e3)]
            self.judge(f"means-{node.name}", wrong and f"{wrong} are not NumPy's", step)
        return None

    def quantized(self, case, b, output, *flags):
        """What ONNX Runtime makes of the INT8 model that --emit=onnx writes, and of the model."""
        networks.rename_output(b, output, "y")
        model, made = self.work / f"{case}.onnx", self.work / f"{case}-int8.onnx"
        onnx.save(b.model([networks.value("image", ["N", 3, 12, 12])],
                          [networks.value("y", ["N", None, None, None])], 17), model)
        step = harness.run([self.cameoc, model, "-o", made, "--emit=onnx", "--precision=int8",
                            "--precision-of=*=int8", f"--calibration-data={self.data}", *flags],
                           SECONDS)
        if step.code != 0:
            self.suite.fail(case, f"{step.how()}: {harness.first_error(step.output)}", step)
            return None
        feed = {"image": self.images}
        return [typed_networks.run_reference(onnx.load(each), feed)["y"] for each in (made, model)]

    def check_scaled(self):
        """Weights take the factor behind them: their result is then the factor's."""
        b = networks.Builder("scaled", 3)
        x = b.node("MatMul", "image", b.normal((12, 32), 0.3))
        x = b.node("Mul", x, b.constant(numpy.linspace(20, 60, 32, dtype=numpy.float32)))
        y = b.node("MatMul", b.node("Relu", x), b.normal((32, 16), 0.2))
        y = b.node("Add", y, b.node("MatMul", x, b.normal((32, 16), 0.2)))
        found = self.quantized("scaled", b, y)
        if found:
            decibels = precision.sqnr(*found)
            self.judge("scaled", not decibels >= 20 and f"{decibels:.1f} dB")

    def check_without_biases(self):
        """Bias correction of a model in which nothing can be corrected."""
        b = networks.Builder("matmuls", 4)
        x = b.node("Relu", b.node("MatMul", "image", b.normal((12, 32), 0.3)))
        found = self.quantized("matmuls", b, b.node("MatMul", x, b.normal((32, 16), 0.2)),
                               "--bias-correction")
        if found:
            decibels = precision.sqnr(*found)
            self.judge("matmuls", not decibels >= 25 and f"{decibels:.1f} dB")

    def check_tensorrt(self):
        """Tensors' names become those of values: a batch-norm's is its convolution's. Every other scale
        has few bits and stays; the rest are rounded up."""
        scales = {name: numpy.float32((1 + number) / 128 * (1.01 if number % 2 else 1))
                  for number, name in enumerate(
                      ["image"] + [name for node in network().graph.node for name in node.output])}
        cache, output = self.work / "tensorrt.cache", self.work / "tensorrt.json"
        cache.write_text("TRT-8501-EntropyCalibration2\n" + "".join(
            f"{name}: {struct.pack('>f', scale).hex()}\n" for name, scale in scales.items()))
        step = self.calibrate(output, f"--calibration-cache={cache}")
        if step.code != 0:
            return self.suite.fail("tensorrt", step.how(), step)
        found = values_of(output)
        nodes = {node.name: node for node in network().graph.node}
        wanted = {"image": "image"}
        for name, node in nodes.items():
            wanted[name] = node.output[0]
        for node in nodes.values():
            if node.op_type == "BatchNormalization":  # folded into what computes its input
                del wanted[node.name]
                wanted[node.input[0]] = node.output[0]
        wrong = [name for name in found if not numpy.isclose(
            found[name]["thresholds"]["tensorrt"], 127 * float(scales[wanted[name]]), rtol=1e-6)]
        self.judge("tensorrt", (wrong or set(found) != set(wanted)) and
                   f"{wrong or set(wanted) - set(found)}: wrong or absent", step)
        made = self.work / "tensorrt.onnx"
        step = harness.run([self.cameoc, self.model, "-o", made, "--emit=onnx", "--precision=int8",
                            "--precision-of=*=int8", f"--calibration-cache={cache}"], SECONDS)
        if step.code != 0:
            return self.suite.fail("tensorrt-scales", step.how(), step)
        graph = onnx.load(made).graph
        constants = {tensor.name: float(onnx.numpy_helper.to_array(tensor))
                     for tensor in graph.initializer if not tensor.dims}
        quantized = {node.output[0].removesuffix(".quantized"): constants[node.input[1]]
                     for node in graph.node if node.op_type == "QuantizeLinear"}
        wanted["GlobalAveragePool_10"] = wanted["Flatten_11"]  # what reads its bytes
        kept = [name for name in quantized if quantized[name] == scales[wanted[name]]]
        wrong = [name for name, scale in quantized.items()
                 if scale != activation_scale(float(scales[wanted[name]]) * 127)]
        self.judge("tensorrt-scales", (wrong or not 0 < len(kept) < len(quantized)) and
                   f"{wrong} are wrong, {kept} stayed, of {quantized}", step)
        cache.write_text("TRT-8501-EntropyCalibration2\nelsewhere: 3c010a14\n")
        self.expect("tensorrt-other", self.calibrate(output, f"--calibration-cache={cache}"),
                    f"calibration cache '{cache}' is of another model: none of its 1 tensors")
        return None

    def check_best(self):
        """The method of each value that a product reads has the smallest error at the output by
        ONNX Runtime, too; one and two threads agree."""
        texts = set()
        for threads in (1, 2):
            output = self.work / f"best-{threads}.json"
            step = self.calibrate(output, f"-j{threads}", f"--calibration-data={self.data}",
                                  "--calibration-method=best", "--channel-scales=off")
            if step.code != 0:
                return self.suite.fail("best", step.how(), step)
            texts.add(output.read_bytes())
        self.judge("best-bytes", len(texts) != 1 and "one and two threads differ", step)
        feed = {"image": self.images[:2]}
        wanted = typed_networks.run_reference(network(), feed)["logits"]
        for name, each in values_of(output).items():
            if name not in {"image", "Relu_2", "Relu_5", "Flatten_11"}:
                self.judge(f"best-{name}", each["method"] != "mse" and each["method"])
                continue
            noise = {}
            for method, threshold in each["thresholds"].items():
                changed = with_quantized(network(), name, threshold)
                found = typed_networks.run_reference(changed, feed)["logits"]
                noise[method] = float(numpy.square(found - wanted).sum())
            self.judge(f"best-{name}", noise[each["method"]] > 1.02 * min(noise.values()) and
                       f"{each['method']} of {noise}", step)
        return None

    def check_memory(self):
        peaks = []
        for count in (8, 512):
            data = self.work / f"memory-{count}.npz"
            numpy.savez(data, image=samples(count, 3, 48))
            model = self.work / "memory.onnx"
            grown = network()
            grown.graph.input[0].CopyFrom(networks.value("image", ["N", 3, 48, 48]))
            onnx.save(grown, model)
            step = self.calibrate(self.work / "memory.json", f"--calibration-data={data}",
                                  "--calibration-batch=4", model=model)
            if step.code != 0:
                return self.suite.fail("memory", step.how(), step)
            peaks.append(step.peak_bytes)
        print(f"memory: {peaks[0] / 2**20:.0f} MiB for 8 samples, {peaks[1] / 2**20:.0f} for 512")
        self.judge("memory", peaks[1] > MOST_GROWTH * peaks[0] and
                   f"{peaks[0]} bytes for 8 samples, {peaks[1]} for 512", step)
        return None

    def check_resnet(self):
        model, data = self.work / "resnet50.onnx", self.work / "images"
        made = networks.resnet50()
        onnx.save(made.model, model)
        data.mkdir(exist_ok=True)
        random = numpy.random.default_rng(5)
        peaks = []
        for count in (16, RESNET_IMAGES):
            for number in range(count):
                numpy.save(data / f"{number:03}.npy",
                           random.standard_normal((3, 224, 224), numpy.float32))
            before = harness.cpu_seconds()
            step = self.calibrate(self.work / "resnet50.json", f"--calibration-data={data}",
                                  model=model)
            seconds = harness.cpu_seconds() - before
            if step.code != 0:
                return self.suite.fail("resnet50", step.how(), step)
            peaks.append(step.peak_bytes)
            print(f"ResNet-50: {count} images in {seconds:.1f} s of CPU, {step.peak_bytes / 2**20:.0f} "
                  "MiB", flush=True)
        self.judge("resnet50-memory", peaks[1] > MOST_GROWTH * peaks[0] and
                   f"{peaks} bytes", step)
        self.judge("resnet50", seconds > RESNET_SECONDS and f"{seconds:.0f} s", step)
        return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    parser.add_argument("--long", action="store_true", help="ResNet-50 on 500 images, too")
    options = parser.parse_args()
    calibration = Calibration(options.build)
    calibration.check_values()
    calibration.check_bytes()
    calibration.check_remainder()
    calibration.check_images()
    calibration.check_no_numbers()
    calibration.check_some_numbers()
    calibration.check_zeros()
    calibration.check_cache()
    calibration.check_means()
    calibration.check_channels()
    calibration.check_choice()
    calibration.check_scaled()
    calibration.check_without_biases()
    calibration.check_tensorrt()
    calibration.check_best()
    calibration.check_memory()
    if options.long:
        calibration.check_resnet()
    return calibration.suite.close()


if __name__ == "__main__":
    sys.exit(main())
