#!/usr/bin/env python3
"""cameo-compare: precisions of a network beside one another and beside numpy's own figures, calibrated
as cameoc calibrates, samples that are no multiple of a batch, values recorded by ONNX Runtime,
artefacts of which one has a layer with wrong weights, in FP32 and in INT8, and what it refuses.
--long plants ten faults in each, else four and two."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import json
import sys

import numpy
import onnx
import onnxruntime
from onnx import numpy_helper

import harness

SECONDS = 120
PLANTS, PLANTS_FP32, PLANTS_INT8 = 10, 4, 2
SAMPLES = 16
MODEL = harness.SOURCE / "examples" / "fashion" / "fashion.onnx"


class Comparisons:
    def __init__(self, options):
        self.suite = harness.Suite("compare", options.build.resolve())
        self.work = self.suite.work
        self.long = options.long
        random = numpy.random.default_rng(3)
        self.images = random.random((SAMPLES, 1, 28, 28), dtype=numpy.float32)
        self.data = self.work / "images.npz"
        numpy.savez(self.data, image=self.images)

    def judge(self, case, problem, *steps):
        if problem:
            self.suite.fail(case, problem, *steps)
        else:
            self.suite.ok(case)

    def compare(self, case, *arguments, expected=0):
        """The report and what was printed; None where the exit status is another one."""
        report = self.work / f"{case}.json"
        report.unlink(missing_ok=True)
        step = harness.run([self.suite.tool("cameo-compare"), *arguments, f"--report={report}"],
                           SECONDS)
        if step.code != expected:
            self.suite.fail(case, f"exit status {step.code}, not {expected}", step)
            return None, step
        return json.loads(report.read_text()) if report.exists() else None, step

    def compile(self, name, model, *flags):
        """An artefact; None where cameoc fails."""
        step = harness.run([self.suite.tool("cameoc"), model, "-o", self.work / name,
                            "--target=sim:sm_80", *flags], SECONDS)
        if step.code:
            self.suite.fail(f"{name}-compile", harness.first_error(step.output), step)
            return None
        return self.work / name

    def reference(self):
        session = onnxruntime.InferenceSession(MODEL.read_bytes())
        return session.run(None, {"image": self.images})[0]

    def precisions(self):
        labels = self.reference().argmax(1)
        labels[:4] = (labels[:4] + 1) % 10  # four of the samples are wrong
        numpy.save(self.work / "labels.npy", labels)
        report, step = self.compare("precisions", MODEL, f"--data={self.data}",
                                    "--precision=fp32,fp16,bf16",
                                    f"--labels={self.work / 'labels.npy'}", "--batch=5")
        if not report:
            return
        full, half, brain = report["sides"]
        of = {side["name"]: side["outputs"][0] for side in (half, brain)}
        problem = ""
        if full["right"] != SAMPLES - 4 or report["rows"] != SAMPLES:
            problem = f"{full['right']} of {report['rows']} right"
        elif not 40 < of["fp16"]["sqnr"] < 90 or not 15 < of["bf16"]["sqnr"] < of["fp16"]["sqnr"]:
            problem = f"SQNR of {of['fp16']['sqnr']} and {of['bf16']['sqnr']} dB"
        elif half["launches"] != full["launches"] or half["kernels"].get("fp16", 0) < 10:
            problem = f"launches {half['launches']}, kernels {half['kernels']}"
        elif half["missing"] or len(half["values"]) < 20:
            problem = f"{len(half['values'])} values, without {half['missing']}"
        elif "same largest" not in step.output or "the worst of" not in step.output:
            problem = "the text lacks something"
        self.judge("precisions", problem, step)

    def recorded(self):
        """Figures beside those that numpy computes from what ONNX Runtime and the executable give."""
        expected = self.reference()
        numpy.savez(self.work / "recorded.npz", logits=expected.astype(numpy.float64))
        report, step = self.compare("recorded", MODEL, f"--data={self.data}", "--precision=fp16",
                                    f"--recorded={self.work / 'recorded.npz'}")
        if not report:
            return
        built = self.compile("recorded", MODEL, "--precision=fp16")
        if not built:
            return
        numpy.save(self.work / "image.npy", self.images)
        output = self.work / "logits.npy"
        run = harness.run([built, f"--input=image=@{self.work / 'image.npy'}",
                           f"--output=logits=@{output}"], SECONDS)
        if run.code:
            self.suite.fail("recorded", "the executable fails", run)
            return
        actual, exact = numpy.load(output).astype(float), expected.astype(float)
        value = report["sides"][1]["outputs"][0]
        figures = {"sqnr": 10 * numpy.log10((exact**2).sum() / ((actual - exact)**2).sum()),
                   "cosine": (exact * actual).sum() /
                             numpy.sqrt((exact**2).sum() * (actual**2).sum()),
                   "max_error": abs(actual - exact).max(), "max_reference": abs(exact).max()}
        wrong = [f"{name} is {value[name]}, not {figure}" for name, figure in figures.items()
                 if not numpy.isclose(value[name], figure, rtol=1e-9)]
        self.judge("recorded", "; ".join(wrong), step)

    def calibrated(self):
        """Ranges that models with other weights take, too: a file without the model's hash."""
        ranges = self.work / "ranges.json"
        step = harness.run([self.suite.tool("cameoc"), MODEL, "-o", ranges, "--emit=ranges",
                            f"--calibration-data={self.data}"], SECONDS)
        if step.code:
            self.suite.fail("calibrated", harness.first_error(step.output), step)
            return None
        found = json.loads(ranges.read_text())
        del found["model"]
        ranges.write_text(json.dumps(found))
        return ("--precision=int8", f"--ranges={ranges}")

    def calibrates(self):
        """The same as with the ranges that cameoc records, by any option; the reference stays as it is."""
        others = self.work / "calibration.npz"
        numpy.savez(others, image=numpy.random.default_rng(4).random((7, 1, 28, 28), numpy.float32))
        data = (f"--data={self.data}", "--values=Relu", "--samples=4")
        for name, flags in (("plain", ()), ("max", ("--calibration-method=max", )),
                            ("all", ("--channel-scales=off", "--bias-correction",
                                     "--calibration-batch=3"))):
            ranges, cache = (self.work / f"calibrates-{name}.{part}" for part in ("ranges", "cache"))
            cache.unlink(missing_ok=True)
            step = harness.run([self.suite.tool("cameoc"), MODEL, "-o", ranges, "--emit=ranges",
                                f"--calibration-data={others}", *flags], SECONDS)
            if step.code:
                self.suite.fail(f"calibrates-{name}", harness.first_error(step.output), step)
                continue
            found, run = self.compare(f"calibrates-{name}", MODEL, *data, "--precision=fp32,int8",
                                      f"--calibration-data={others}",
                                      f"--calibration-cache={cache}", *flags)
            if not found:
                continue
            same = cache.read_bytes() == ranges.read_bytes()
            self.judge(f"calibrates-{name}-cache", "" if same else "not cameoc's ranges", run)
            # What cameoc makes of them has the same outputs.
            full, built = (self.compile(f"calibrates-{name}-{part}", MODEL, *more)
                           for part, more in (("fp32", ()), ("int8", (
                               "--precision=int8", f"--calibration-cache={cache}",
                               *(flag for flag in flags if "batch" not in flag)))))
            if not full or not built:
                continue
            wanted, step = self.compare(f"calibrates-{name}-artefacts", full, built, *data)
            outputs = [report["sides"][1]["outputs"] for report in (found, wanted or found)]
            shown = found["calibration"]
            methods = {value["method"] for value in shown["values"]}
            problem = ""
            if outputs[0] != outputs[1] or "equal" in outputs[0][0]:
                problem = f"{outputs[0]}, not {outputs[1]}"
            elif methods != {"max" if name == "max" else shown["method"]}:
                problem = f"methods {methods}"
            self.judge(f"calibrates-{name}", problem, run, step)
        both, step = self.compare("calibrates-fp16", MODEL, *data, "--precision=fp32,fp16,int8",
                                  f"--calibration-data={others}")
        if both:
            sqnr = [side["outputs"][0]["sqnr"] for side in both["sides"][1:]]
            self.judge("calibrates-fp16", "" if sqnr[0] > 40 and sqnr[0] > sqnr[1] > 10 else f"{sqnr} dB", step)

    def remainder(self):
        """A run that takes five samples: the last one is not counted more often than there are."""
        numpy.save(self.work / "all-labels.npy", self.reference().argmax(1))
        numpy.savez(self.work / "all-recorded.npz", logits=self.reference())
        flags = (MODEL, f"--data={self.data}", f"--labels={self.work / 'all-labels.npy'}")
        fixed = ("--shapes=image:5x1x28x28", )
        for case, more in (("remainder", ("--precision=fp32,bf16", )),
                           ("remainder-samples", ("--precision=fp32,bf16", "--samples=7")),
                           ("remainder-recorded", ("--precision=bf16", f"--recorded="
                                                   f"{self.work / 'all-recorded.npz'}"))):
            found, step = self.compare(case, *flags, *more, *fixed)
            wanted, other = self.compare(f"{case}-open", *flags, *more, "--batch=1")
            if not found or not wanted:
                continue
            wrong = [key for key in ("samples", "rows") if found[key] != wanted[key]]
            for have, want in zip(found["sides"][1:], wanted["sides"][1:]):
                wrong += [key for key in ("right", "same_largest") if have[key] != want[key]]
                pairs = list(zip(have["outputs"] + have["values"],
                                 want["outputs"] + want["values"]))
                wrong += [a["name"] for a, b in pairs if a["elements"] != b["elements"] or
                          abs(a.get("sqnr", 0) - b.get("sqnr", 0)) > 0.01]
            self.judge(case, f"{wrong} differ" if wrong or not pairs else "", step, other)

    def planted(self, seed, good, kind="", *flags):
        """An artefact whose weights of one layer are wrong: that layer is the first one beyond."""
        random = numpy.random.default_rng(seed)
        model = onnx.load(MODEL)
        weights = {tensor.name: tensor for tensor in model.graph.initializer}
        layers = [node for node in model.graph.node if node.op_type in ("Conv", "Gemm")]
        layer = layers[random.integers(len(layers))]
        tensor = weights[layer.input[1]]
        array = numpy_helper.to_array(tensor).copy()
        array[random.integers(len(array))] *= -0.5
        tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))
        case = f"planted{kind}-{seed}"
        wrong = self.work / f"{case}.onnx"
        onnx.save(model, wrong)
        broken = self.compile(case, wrong, "--tap=*", *flags)
        if not broken:
            return
        report, step = self.compare(case, good, broken, f"--data={self.data}",
                                    "--tolerance=60", expected=1)
        if report:
            found = report["sides"][1]["first_beyond"]
            self.judge(case, "" if found == layer.name else f"{found}, not {layer.name}", step)

    def refuses(self, case, text, *arguments):
        _, step = self.compare(case, *arguments, expected=2)
        if step.code == 2:
            self.judge(case, "" if text in step.output else f"it does not say '{text}'", step)

    def estimates(self):
        """A model's, on GPUs that are asked for and for the sizes of a run: what cameoc reports of
        these. Artefacts have their own."""
        gpus = {"a100-40": "sm_80", "h200": "sm_90a:h200"}
        report, step = self.compare("estimates", MODEL, f"--data={self.data}", "--values=",
                                    "--precision=fp32,fp16", "--batch=4",
                                    f"--estimate={','.join(gpus.values())}")
        if not report:
            return
        artefacts, expected = [], []
        for side in ("fp32", "fp16"):
            times = self.work / f"estimates-{side}.json"
            artefact = self.compile(f"estimates-{side}", MODEL, f"--precision={side}",
                                    f"--target={','.join('sim:' + gpu for gpu in gpus.values())}",
                                    "--shapes=image:4x1x28x28", f"--report={times}")
            if not artefact:
                return
            artefacts.append(artefact)
            expected.append([variant["estimate"]
                             for variant in json.loads(times.read_text())["variants"]])
        found = [side["estimates"] for side in report["sides"]]
        boards = [each["board"] for each in found[0]]
        problem = ""
        if found != expected or boards != list(gpus) or report["batch"] != 4:
            problem = f"{found}, not {expected}"
        elif "times are estimated, of a run of 4" not in step.output or \
                "on h200" not in step.output:
            problem = "the text does not have them"
        self.judge("estimates", problem, step)
        report, step = self.compare("estimates-artefacts", *artefacts, f"--data={self.data}")
        if report:
            problem = ""
            if [side["estimates"] for side in report["sides"]] != expected:
                problem = f"{report['sides']}"
            elif any(not side["launches"] or not sum(side["kernels"].values())
                     for side in report["sides"]) or "batch" in report:
                problem = f"{report}"
            self.judge("estimates-artefacts", problem, step)

    def exit_codes(self):
        """No error is taken for a mismatch: what is misspelt, and a full disk."""
        tool, data = self.suite.tool("cameo-compare"), f"--data={self.data}"
        words = f"{tool} {MODEL} {data} --values= --samples=2"
        full = self.work / "full.json"
        full.unlink(missing_ok=True)
        full.symlink_to("/dev/full")
        for case, command, text in (
                ("misspelt", f"{words} --presicion=fp16", "--presicion"),
                ("no-data", f"{tool} {MODEL}", "--data"),
                ("full-output", f"{words} > /dev/full", "error: cannot write the output: No space left"),
                ("full-report", f"{words} --report={full}", f"error: cannot write '{full}': No space left")):
            step = harness.run(["sh", "-c", command], SECONDS)
            self.judge(f"exit-{case}", "" if step.code == 2 and text in step.output else step.how(), step)

    def page(self):
        page = self.work / "compare.html"
        step = harness.run([self.suite.tool("cameo-compare"), MODEL, f"--data={self.data}",
                            "--samples=2", f"--report={page}"], SECONDS)
        data = page.read_text().split('id="data">')[1].split("</script>")[0] if page.exists() else ""
        self.judge("page", "" if data and json.loads(data)["samples"] == 2 else
                   "the page has no data", step)

    def run(self):
        self.precisions()
        self.recorded()
        self.estimates()
        self.calibrates()
        self.remainder()
        self.page()
        self.exit_codes()
        self.good = self.compile("good", MODEL, "--tap=*")
        if self.good:
            report, step = self.compare("same", self.good, self.good, f"--data={self.data}",
                                        "--tolerance=200")
            if report:
                values = report["sides"][1]["values"]
                self.judge("same", "" if values and all(v.get("equal") for v in values) else
                           "a value differs from itself", step)
            for seed in range(PLANTS if self.long else PLANTS_FP32):
                self.planted(seed, self.good)
        flags = self.calibrated()
        good = self.compile("good-int8", MODEL, "--tap=*", *flags) if flags else None
        if good:
            for seed in range(PLANTS if self.long else PLANTS_INT8):
                self.planted(seed, good, "-int8", *flags)
        self.refuses("int8-ranges", "--calibration-data=DIR|FILE.npz records them", MODEL,
                     f"--data={self.data}", "--precision=fp32,int8")
        self.refuses("int8-reference", "which INT8 cannot be", MODEL, f"--data={self.data}",
                     "--precision=int8,fp32")
        self.refuses("calibrated-artefact", "apply to models, not to artefacts", self.good,
                     self.good, f"--data={self.data}", f"--calibration-data={self.data}")
        self.refuses("calibrated-ranges", "one of them says", MODEL, f"--data={self.data}",
                     f"--calibration-data={self.data}", "--ranges=ranges.json")
        self.refuses("calibration-method", "--calibration-method goes with", MODEL,
                     f"--data={self.data}", "--calibration-method=max")
        self.refuses("calibration-no-data", "samples 'none.npz'", MODEL, f"--data={self.data}",
                     "--calibration-data=none.npz")
        self.refuses("one-file", "nothing to compare", self.good, f"--data={self.data}")
        self.refuses("no-data", "--data: samples", MODEL, "--data=none.npz")
        step = harness.run([self.suite.tool("cameo-compare"), MODEL, f"--data={self.data}",
                            "--precision=fp32,fp16", "--values=none*"], SECONDS)
        self.judge("no-value", "" if step.code == 2 and step.output.count("error: ") == 1 and
                   "--values: 'none*' matches no value" in step.output else step.output, step)
        self.refuses("two-models", "would have to be artefacts", MODEL, self.good,
                     f"--data={self.data}")
        self.refuses("estimate-artefact", "--estimate is for a model", self.good, self.good,
                     f"--data={self.data}", "--estimate=sm_80")
        self.refuses("estimate-unknown", "--estimate: unknown GPU architecture 'sm_81'", MODEL, f"--data={self.data}",
                     "--estimate=sm_81")
        numpy.savez(self.work / "others.npz", other=self.images)
        self.refuses("no-name", "no array that is called", MODEL, f"--data={self.data}",
                     f"--recorded={self.work / 'others.npz'}")
        numpy.save(self.work / "few.npy", numpy.zeros(3, numpy.int64))
        self.refuses("few-labels", "labels", MODEL, f"--data={self.data}",
                     f"--labels={self.work / 'few.npy'}")
        return self.suite.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    harness.add_arguments(parser)
    parser.add_argument("--long", action="store_true", help="ten faults in each precision")
    sys.exit(Comparisons(parser.parse_args()).run())
