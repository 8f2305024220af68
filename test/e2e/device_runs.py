#!/usr/bin/env python3
"""The compiler's own runs on a GPU (--device=cuda), without one: calibration, --accuracy and
cameo-compare with the fake driver, which takes the kernels' work from a simulator image.

Histograms of kernels and of the host give caches of the same bytes on the simulator, for any batch,
of values of all kinds; so do those of the GPU, by every method that runs the model, on GPUs with a
cubin and on a later one, which takes PTX; calls are in the driver's trace. Kernels that count nothing
are noticed. What is no device, no driver, no such GPU and one that is too old are errors that say so.
"""
# SPDX-License-Identifier: Apache-2.0
import argparse
import json
import os
import shutil
import sys

import numpy
import onnx

import calibration
import harness
import networks

SECONDS = 300
SAMPLES = 19
# GPU: what its kernels are called after.
GPUS = {"8.0": "sm_80", "7.5": "sm_75", "12.0": "sm_120", "13.0": "sm_121"}


def strange_network():
    """Values of many magnitudes, denormal, infinite and no numbers; none at all; not of FP32."""
    b = networks.Builder("strange", 3)
    relu = b.node("Relu", "image")
    half = b.node("Cast", "image", to=onnx.TensorProto.FLOAT16)
    double = b.node("Cast", "image", to=onnx.TensorProto.DOUBLE)
    results = {
        b.node("Mul", relu, b.constant(numpy.float32(1e-40))): "FLOAT",
        b.node("Exp", b.node("Mul", "image", b.constant(numpy.float32(40)))): "FLOAT",
        b.node("Div", relu, relu): "FLOAT",
        b.node("Slice", "image", b.integers(0), b.integers(0), b.integers(1)): "FLOAT",  # of nothing
        b.node("Sub", relu, relu): "FLOAT",
        b.node("Add", half, half): "FLOAT16",
        b.node("Mul", double, double): "DOUBLE",
        b.node("Cast", "image", to=onnx.TensorProto.INT32): "INT32",
    }
    outputs = [networks.value(name, ["N" if "Slice" not in name else "M", 3, 12, 12],
                              getattr(onnx.TensorProto, kind)) for name, kind in results.items()]
    for output in outputs:
        if "Slice" in output.name:
            output.type.tensor_type.shape.dim[1].dim_value = 0
    return b.model([networks.value("image", ["N", 3, 12, 12])], outputs, 17)


def strange_samples():
    images = calibration.samples(SAMPLES, 5)
    images[0] = 0
    images[1, 0] = numpy.float32(1e-42)
    images[2] *= numpy.float32(1e30)
    images[3, 1, 0, :4] = [numpy.inf, -numpy.inf, numpy.nan, -0.0]
    images[4] = numpy.nan
    return images


class DeviceRuns:
    def __init__(self, build):
        self.suite = harness.Suite("device-runs", build.resolve())
        self.work = self.suite.work
        self.fake = self.suite.build / "fakecuda"
        if not (self.fake / "libcuda.so.1").exists():
            sys.exit(f"error: {self.fake}/libcuda.so.1 is not there; build target fakecuda first")
        self.model = self.work / "model.onnx"
        onnx.save(calibration.network(), self.model)
        self.data = self.work / "data.npz"
        numpy.savez(self.data, image=calibration.samples(SAMPLES))
        self.trace = self.work / "trace.txt"

    def judge(self, case, problem, *steps):
        if problem:
            self.suite.fail(case, problem, *steps)
        else:
            self.suite.ok(case)

    def run(self, tool, *arguments, gpu=None, kernels=None):
        """One command, with the fake driver where there is a GPU."""
        environment = dict(os.environ)
        self.trace.unlink(missing_ok=True)
        if gpu:
            environment |= {"LD_LIBRARY_PATH": str(self.fake), "FAKECUDA_DEVICES": gpu,
                            "FAKECUDA_TRACE": str(self.trace)}
        if kernels:
            environment["FAKECUDA_ARTEFACT"] = str(kernels)
        return harness.run([self.suite.tool(tool), *arguments], SECONDS, env=environment)

    def wrong_calls(self):
        """What is wrong with the driver's calls; they are there, and leave nothing."""
        calls = self.trace.read_text().splitlines() if self.trace.exists() else []
        if not any(line.startswith(("cuLaunchKernel", "cuGraphLaunch")) for line in calls):
            return "nothing was launched on the GPU"
        wrong = [line for line in calls if line.startswith("misuse")]
        return "; ".join(wrong) or (calls[-1] != "left: nothing" and calls[-1])

    def calibrate(self, cache, *flags, model=None, data=None, **gpu):
        cache.unlink(missing_ok=True)
        return self.run("cameoc", model or self.model, "-o", self.work / "ranges.json",
                        "--emit=ranges", f"--calibration-data={data or self.data}",
                        f"--calibration-cache={cache}", *flags, **gpu)

    def kernels_for(self, architecture):
        """An artefact whose simulator image has the kernels of a model that is calibrated."""
        tiled, counting = self.work / "tiled.mlir", self.work / "counting.mlir"
        path = self.work / f"kernels-{architecture}"
        target = f"--target=sim:{architecture}"
        for step in (self.run("cameoc", self.model, "-o", tiled, "-O0", "--tap=*", target,
                              "--stop-after=tiled"),
                     self.run("cameo-opt", tiled, "-o", counting, "--pass-pipeline=builtin.module("
                              "rt.variant(cameo-insert-histograms))"),
                     self.run("cameoc", counting, "-o", path, "--start-from=tiled", target)):
            if step.code:
                self.suite.fail(f"kernels-{architecture}", step.how(), step)
                break
        return path

    def check_histograms(self):
        """Kernels count as the host: equal bytes, whatever the batch."""
        strange, data = self.work / "strange.onnx", self.work / "strange.npz"
        onnx.save(strange_network(), strange)
        numpy.savez(data, image=strange_samples())
        for name, files in (("network", {}), ("strange", {"model": strange, "data": data})):
            texts, steps = {}, []
            for histograms in ("host", "kernels"):
                for batch in (1, 7, 32):
                    cache = self.work / f"{name}-{histograms}-{batch}.json"
                    steps.append(self.calibrate(cache, f"--calibration-batch={batch}",
                                                f"--calibration-histograms={histograms}", **files))
                    if steps[-1].code:
                        return self.suite.fail(f"histograms-{name}", steps[-1].how(), steps[-1])
                    texts.setdefault(cache.read_bytes(), []).append(cache.name)
            self.judge(f"histograms-{name}", len(texts) != 1 and f"they differ: {texts.values()}",
                       *steps)
        ranges = json.loads(next(iter(texts)))["ranges"]
        odd = [value for value in ranges.values() if value.get("non_finite")]
        empty = any("Slice" in name for name in ranges)
        self.judge("histograms-cases", (len(odd) < 3 or empty) and
                   f"values are not as strange as they should be: {sorted(ranges)}")
        return None

    def check_caches(self):
        """Equal bytes on both devices."""
        # Nothing is left to trials, whose model has other kernels than those of the image.
        named = ["--calibration-method=mse", "--channel-scales=on", "--bias-correction=off"]
        runs = {"mse": named,
                "batch": [*named, "--calibration-batch=7"],
                "host": [*named, "--calibration-histograms=host"],
                "best": [*named, "--calibration-method=best"],
                "second-run": [*named, "--bias-correction"]}
        for gpu, architecture in GPUS.items():
            kernels = self.kernels_for(architecture)
            for name, flags in runs.items():
                if name != "mse" and gpu != "8.0":
                    continue
                simulated, found = self.work / "simulated.json", self.work / "found.json"
                before = self.calibrate(simulated, *flags, "--device=sim")
                step = self.calibrate(found, *flags, "--device=cuda", gpu=gpu, kernels=kernels)
                problem = before.code and before.how() or step.code and step.how()
                problem = problem or self.wrong_calls()
                if not problem and simulated.read_bytes() != found.read_bytes():
                    problem = "another cache than the simulator's"
                self.judge(f"cache-{gpu}-{name}", problem, before, step)
        step = self.calibrate(self.work / "found.json", "--device=cuda", gpu="8.0")
        text = "kernels have counted"
        self.judge("counted-nothing", (step.code != 1 or text not in step.output) and
                   f"{step.how()} without '{text}'", step)

    def check_compare(self):
        """Two artefacts with the same kernels are equal on the GPU, as on the simulator."""
        first, second = self.work / "first", self.work / "second"
        step = self.run("cameoc", self.model, "-o", first, "--target=sm_80,sim:sm_80")
        if step.code:
            return self.suite.fail("compare", step.how(), step)
        shutil.copy(first, second)
        for device in ("cuda", "cuda:0"):
            step = self.run("cameo-compare", first, second, f"--data={self.data}",
                            "--tolerance=1000", f"--device={device}", gpu="8.0", kernels=first)
            problem = step.code and step.how() or self.wrong_calls()
            self.judge(f"compare-{device}", problem, step)
        step = self.run("cameo-compare", self.model, f"--data={self.data}", "--precision=fp32,fp16",
                        "--device=cuda", gpu="8.0")
        # Kernels do nothing without an image of them; that they run there is what counts.
        self.judge("compare-model", step.code not in (0, 1) and step.how() or self.wrong_calls(),
                   step)
        return None

    def check_accuracy(self):
        """Its runs are on the GPU: kernels that do nothing have an accuracy, of a kind."""
        step = self.run("cameoc", self.model, "-o", self.work / "accurate", "--precision=int8",
                        "--target=sim:sm_80", f"--ranges={self.work / 'ranges.json'}",
                        "--accuracy=99%", f"--accuracy-data={self.data}", "--device=cuda", gpu="8.0")
        self.judge("accuracy", self.wrong_calls(), step)

    def check_errors(self):
        flags = ("--precision=int8", f"--calibration-data={self.data}")
        cases = {
            "no-driver": ("cuda", None, "error: cuda:0: "),
            "no-such-gpu": ("cuda:3", "8.0", "error: cuda:3: "),
            "too-old": ("cuda", "7.0", "no code for compute capability 7.0; the oldest is sm_75"),
            "no-device": ("gpu", None, "error: --device: 'gpu' is not a device; expected sim, cuda "
                                       "or cuda:N"),
            "no-number": ("cuda:-1", None, "error: --device: 'cuda:-1' is not a device"),
        }
        for case, (device, gpu, text) in cases.items():
            step = self.run("cameoc", self.model, "-o", self.work / "none", *flags,
                            f"--device={device}", gpu=gpu)
            code = 2 if "--device" in text else 3
            self.judge(case, (step.code != code or text not in step.output) and
                       f"{step.how()} without '{text}'", step)
            step = self.run("cameo-compare", self.model, f"--data={self.data}",
                            f"--device={device}", gpu=gpu)
            text = text.removeprefix("error: ")
            self.judge(f"compare-{case}", (step.code != 2 or text not in step.output) and
                       f"{step.how()} without '{text}'", step)
        text = "--device goes with --calibration-data or --accuracy"
        step = self.run("cameoc", self.model, "-o", self.work / "none", "--device=cuda")
        self.judge("without-runs", (step.code != 2 or text not in step.output) and step.how(), step)
        step = self.run("cameoc", self.model, "-o", self.work / "none",
                        "--calibration-histograms=host")
        self.judge("without-data", (step.code != 2 or "goes with --calibration-data" not in
                                    step.output) and step.how(), step)
        for device, target in (("sim", "sm_80"), ("cuda", "sim:sm_80")):
            step = self.run("cameo-compare", self.model, f"--data={self.data}",
                            f"--device={device}", f"--target={target}", gpu="8.0")
            text = f"--target={target}: models are compared on "
            self.judge(f"compare-target-{device}", (step.code != 2 or text not in step.output) and
                       step.how(), step)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    options = parser.parse_args()
    runs = DeviceRuns(options.build)
    runs.check_errors()
    runs.check_histograms()
    runs.check_caches()
    runs.check_compare()
    runs.check_accuracy()
    return runs.suite.close()


if __name__ == "__main__":
    sys.exit(main())
