#!/usr/bin/env python3
"""Values in bodies that a run takes or repeats: taps by trips, recorded ranges, INT8, guards of ranges, --accuracy, and
what cameo-compare and reports tell. A model has two forms: one whose trips the run makes, and one with a constant count,
which is unrolled: a value of trip 2 is 'node#2' in the former and 'node/2' in the latter."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import json
import re
import shutil
import sys
import urllib.parse

import numpy
import onnx

import artefact
import harness
import taps
from nested_graphs import BOOL, FLOAT, INT64, Graph, reference

SECONDS = 120
F32 = numpy.float32
RANDOM = numpy.random.default_rng(11)
WIDTH, TRIPS, SAMPLES = 64, 5, 12
# Signal over noise of INT8's outputs, dB: 3 less than measured.
LOOP_DB, BRANCH_DB = 31, 32
OUTER = RANDOM.uniform(-0.2, 0.2, (WIDTH, WIDTH)).astype(F32)
INNER = RANDOM.uniform(-0.2, 0.2, (3, WIDTH, WIDTH)).astype(F32)
BIAS = RANDOM.uniform(-1, 1, WIDTH).astype(F32)


def samples(count=SAMPLES):
    return RANDOM.standard_normal((count, WIDTH)).astype(F32)


def stepped(g, x, count):
    """A loop that reads a value from outside of it, which nothing quantises in either form."""
    skip = g.input("s", FLOAT, ["N", WIDTH])

    def body(b, _, held):
        made = b.add("Relu", b.add("Add", b.add("MatMul", held, b.array(INNER[0])), b.array(BIAS)))
        return "", [b.add("Add", b.add("MatMul", made, b.array(INNER[1])), skip)], []
    return g.loop(count, "", [x], body)[0]


def loop_model(is_counted):
    """`is_counted`: by an input; else unrolled."""
    g = Graph()
    x = g.input("x", FLOAT, ["N", WIDTH])
    count = g.input("n", INT64) if is_counted else g.number(TRIPS)
    if is_counted:
        g.number(TRIPS)  # so that names are as in the other form
    return g.model(g.add("MatMul", stepped(g, x, count), g.array(INNER[2])))


def nested_model():
    """A loop in a loop, and a branch in it."""
    g = Graph()
    x, n = g.input("x", FLOAT, ["N", WIDTH]), g.input("n", INT64)

    def outer(b, i, held):
        def inner(c, _, inside):
            return "", [c.add("Tanh", c.add("MatMul", inside, c.array(INNER[0])))], []
        made = b.loop(b.add("Add", i, b.number(1)), "", [held], inner)[0]
        odd = b.add("Equal", b.add("Mod", i, b.number(2)), b.number(1))
        chosen = b.choose(odd, lambda c: [c.add("Concat", made, c.add("Exp", made), axis=0)],
                          lambda c: [c.add("Neg", made)])[0]
        return "", [b.add("Add", b.add("ReduceMax", chosen, b.ints(0), keepdims=1), made)], []
    return g.model(g.loop(n, "", [x], outer)[0])


def until_model():
    """A loop that the device ends."""
    g = Graph()
    x = g.input("x", FLOAT, ["N", WIDTH])

    def body(b, _, held):
        made = b.add("Mul", b.add("MatMul", held, b.array(numpy.eye(WIDTH, dtype=F32))), b.float(2))
        return b.add("Less", b.add("ReduceMax", made, keepdims=0), b.float(100)), [made], []
    return g.model(g.loop("", g.array(True), [x], body)[0])


def branch_model():
    """A branch whose results have other sizes than the other's, so that a run takes one."""
    g = Graph()
    x, c = g.input("x", FLOAT, ["N", WIDTH]), g.input("c", BOOL)
    y = g.add("Relu", g.add("MatMul", x, g.array(OUTER)))

    def branch(number):
        def make(b):
            z = b.add("MatMul", b.add("Relu", b.add("MatMul", y, b.array(INNER[number]))), b.array(INNER[2]))
            return [b.add("Concat", z, z, axis=1) if number else z]
        return make
    return g.model(g.choose(c, branch(0), branch(1))[0])


def feeds(array, **others):
    """One sample a run."""
    return [{"x": array[i:i + 1], **others} for i in range(len(array))]


def products(step):
    """{precision: how many}, of the summary that cameoc prints."""
    found = re.search(r"\d+ products?: ([^;\n]*)", step.output)
    return {name: int(count) for count, name in re.findall(r"(\d+) (\w+)", found.group(1))} if found else {}


def sqnr(found, wanted):
    noise = ((found.astype(float) - wanted) ** 2).sum()
    return 10 * numpy.log10((wanted.astype(float) ** 2).sum() / noise) if noise else numpy.inf


class Bodies:
    def __init__(self, build):
        self.suite = harness.Suite("bodies", build.resolve())
        self.cameoc, self.work = self.suite.tool("cameoc"), self.suite.work
        self.x, self.s = samples(), samples()

    def judge(self, case, problem, *steps):
        if problem:
            self.suite.fail(case, problem, *steps)
        else:
            self.suite.ok(case)

    def saved(self, name, model):
        path = self.work / f"{name}.onnx"
        onnx.save(model, path)
        return path

    def data(self, name, **arrays):
        path = self.work / f"{name}.npz"
        numpy.savez(path, **arrays)
        return path

    def shown(self, case, model, feed, *flags):
        """(outputs, taps) of a run; None after a failure."""
        made = artefact.Artefact(self.suite, case, model, "--tap=*", *flags)
        folder = self.work / f"{case}.taps"
        shutil.rmtree(folder, ignore_errors=True)
        inputs = self.data(f"{case}.in", **feed)
        step = made.step if made.step.code else harness.run(
            [made.path, "--device=sim", f"--input=@{inputs}", f"--taps={folder}"], SECONDS)
        if step.code:
            self.suite.fail(case, f"{step.how()}: {harness.first_error(step.output)}", step)
            return None
        return {urllib.parse.unquote(file.stem): numpy.load(file) for file in folder.glob("*.npy")}

    def check_taps(self):
        """All values of each trip have the bits of the unrolled form's, which are ONNX Runtime's but for rounding."""
        feed = {"x": self.x[:3], "s": self.s[:3], "n": numpy.array(TRIPS)}
        for level in harness.LEVELS:
            case = f"taps{level}"
            found = self.shown(f"{case}-loop", loop_model(True), feed, level, "--sim-checks-only")
            wanted = self.shown(f"{case}-unrolled", loop_model(False), {"x": feed["x"], "s": feed["s"]}, level)
            if found is None or wanted is None:
                continue
            trips = {name.replace("#", "/"): array for name, array in found.items()}
            values = {name: array for name, array in wanted.items() if re.search(r"/\d+$", name)}
            problem = next((f"'{name}' differs" for name, array in values.items()
                            if name in trips and array.tobytes() != trips[name].tobytes()), "")
            missing = [name for name in values if name not in trips]
            self.judge(case, problem or (missing and f"not shown: {missing}") or
                       (len(values) < 5 * TRIPS - 1 and f"only {sorted(values)}"))
            held = [name for name in found if re.match(r"in\d+#", name)]
            self.judge(f"{case}-carried", len(held) != TRIPS and f"carried: {held}")
        found = self.shown("taps-nested", nested_model(), {"x": self.x[:2], "n": numpy.array(3)}, "--sim-checks-only")
        if found is not None:
            trips = sorted(re.search("#(.*)", name).group(1) for name in found if name.startswith("Tanh"))
            self.judge("taps-nested", trips != ["0.0", "1.0", "1.1", "2.0", "2.1", "2.2"] and f"Tanh in {trips}")
            trips = {kind: sorted(name.partition("#")[2] for name in found if name.startswith(kind))
                     for kind in ("Exp", "Neg")}
            self.judge("taps-branch", trips != {"Exp": ["1"], "Neg": ["0", "2"]} and f"{trips}")
        case = "taps-one"
        made = artefact.Artefact(self.suite, case, loop_model(True), "--tap=Relu")
        step = harness.run([made.path, "--info"], SECONDS)
        self.judge(case, "Relu_" not in step.output and "not listed", made.step, step)
        # By what the file calls a value of a graph in it.
        model, case = loop_model(True), "taps-tensor"
        body = next(node for node in model.graph.node if node.op_type == "Loop").attribute[0].g
        relu = next(node for node in body.node if node.op_type == "Relu")
        value = relu.output[0]
        for node in body.node:
            for names in (node.input, node.output):
                names[:] = ["inner value" if name == value else name for name in names]
        made = artefact.Artefact(self.suite, case, model, "--tap=inner value")
        step = harness.run([made.path, "--info"], SECONDS)
        self.judge(case, relu.name not in step.output and f"'{relu.name}' is not listed", made.step, step)

    # --- Calibration

    def calibrated(self, case, model, data, *flags):
        """The file of ranges, and how calibration ended."""
        source, output = self.saved(case, model), self.work / f"{case}.json"
        step = harness.run([self.cameoc, source, "-o", output, "--emit=ranges", f"--calibration-data={data}", *flags],
                           SECONDS)
        if step.code:
            self.suite.fail(case, f"{step.how()}: {harness.first_error(step.output)}", step)
            return None, step
        return json.loads(output.read_text()), step

    def trips_data(self, name, count=TRIPS):
        """A sample a run: the number of trips is of a run."""
        return self.data(name, x=self.x[:, None], s=self.s[:, None], n=numpy.full(len(self.x), count, numpy.int64))

    def check_ranges(self):
        """Those of all trips of all runs together are those of the unrolled form's values, each by itself."""
        case, data = "ranges", self.trips_data("ranges")
        found, step = self.calibrated(f"{case}-loop", loop_model(True), data, "--calibration-method=mse")
        wanted, _ = self.calibrated(f"{case}-unrolled", loop_model(False), self.data("plain", x=self.x[:, None], s=self.s[:, None]),
                                    "--calibration-method=mse")
        if found is None or wanted is None:
            return
        parts = {}
        for name, value in wanted["ranges"].items():
            if re.search(r"/\d+$", name):
                parts.setdefault(name.rpartition("/")[0], []).append(value)
        joined = {name: (min(part["min"] for part in of), max(part["max"] for part in of)) for name, of in parts.items()}
        wrong = [name for name, bounds in joined.items()
                 if name in found["ranges"] and (found["ranges"][name]["min"], found["ranges"][name]["max"]) != bounds]
        missing = [name for name in joined if name not in found["ranges"]]
        self.judge(case, (missing or wrong or len(joined) < 5) and f"not there {missing}; other ranges {wrong}", step)
        held = next((value for name, value in found["ranges"].items() if re.fullmatch(r"in\d+", name)), None)
        first, last = wanted["ranges"]["x"], found["ranges"][[name for name in joined if name.startswith("Add")][-1]]
        self.judge(f"{case}-carried", (not held or held["min"] > first["min"] or held["max"] < last["max"] * 0.5) and
                   f"{held}", step)
        texts = set()
        for flags in (["-j1"], ["-j2"], ["--calibration-histograms=kernels"]):
            again, _ = self.calibrated(f"{case}-again", loop_model(True), data, "--calibration-method=mse", *flags)
            texts.add(json.dumps(again))
        self.judge(f"{case}-bytes", len(texts) != 1 and f"{len(texts)} different files", step)
        # Two loops one in the other, and a branch of which some trips take either side.
        again, step = self.calibrated(f"{case}-nested", nested_model(), self.trips_data("nested", 3))
        kinds = {re.match("[A-Za-z]+", name).group() for name in again["ranges"]} if again else set()
        self.judge(f"{case}-nested", again is not None and not {"Tanh", "Exp", "Neg", "MatMul"} <= kinds and f"{kinds}",
                   step)

    # --- INT8

    def same_ranges(self, names):
        path = self.work / "same.json"
        path.write_text(json.dumps({"cameo_ranges": 1, "ranges": {name: {"min": -8, "max": 8} for name in names}}))
        return path

    def values_of(self, case, model):
        """What values are called: as an artefact that shows all of them says."""
        made = artefact.Artefact(self.suite, case, model, "--tap=*")
        step = harness.run([made.path, "--info=json"], SECONDS)
        return [tap["name"] for tap in json.loads(step.output)["entries"][0]["taps"]] if step.code == 0 else []

    def check_bits(self):
        """With equal ranges both forms have the same bits, as integers and scales are the same."""
        feed = {"x": self.x[:4], "s": self.s[:4], "n": numpy.array(TRIPS)}
        for level in harness.LEVELS:
            results = []
            for name, is_counted in (("loop", True), ("unrolled", False)):
                case, model = f"bits-{name}{level}", loop_model(is_counted)
                ranges = self.same_ranges(self.values_of(f"{case}-names", model))
                made = artefact.Artefact(self.suite, case, model, level, "--precision-of=MatMul=int8",
                                         f"--ranges={ranges}")
                step, arrays = made.run({name: array for name, array in feed.items() if is_counted or name != "n"})
                if step.code:
                    self.suite.fail(case, f"{step.how()}: {harness.first_error(step.output)}", step)
                    return
                results.append((arrays[0].tobytes(), products(made.step), arrays[0]))
            (bits, counts, found), (others, _, _) = results
            self.judge(f"bits{level}", bits != others and "other bits than unrolled")
            self.judge(f"products{level}", counts != {"int8": 3} and f"{counts}")
            wanted = reference(loop_model(True), feed)[0]
            self.judge(f"int8{level}", sqnr(found, wanted) < LOOP_DB - 10 and f"{sqnr(found, wanted):.1f} dB")

    def quantised(self, case, model, data, *flags):
        return artefact.Artefact(self.suite, case, model, "--precision=int8", "--precision-of=MatMul=int8",
                                 f"--calibration-data={data}", "--remarks", *flags)

    def noise_of(self, case, made, model, runs):
        found, wanted = [], []
        for feed in runs:
            step, arrays = made.run(feed)
            if step.code:
                self.suite.fail(case, f"{step.how()}: {harness.first_error(step.output)}", step)
                return -numpy.inf
            found.append(arrays[0])
            wanted.append(reference(model, feed)[0])
        return sqnr(numpy.concatenate(found), numpy.concatenate(wanted))

    def check_int8(self):
        """Calibrated by what a run makes, beside ONNX Runtime in FP32: with what trials choose, and without."""
        model, data = loop_model(True), self.trips_data("int8")
        runs = feeds(samples(4), s=samples(1), n=numpy.array(TRIPS))
        for name, flags in (("chosen", []), ("plain", ["--calibration-method=max", "--channel-scales=off",
                                                       "--bias-correction=off"]),
                            ("best", ["--calibration-method=best", "--channel-scales=on", "--bias-correction=on"])):
            case = f"int8-{name}"
            made = self.quantised(case, model, data, *flags)
            if made.step.code:
                self.suite.fail(case, harness.first_error(made.step.output), made.step)
                continue
            counts = products(made.step)
            decibels = self.noise_of(case, made, model, runs)
            print(f"{case}: {decibels:.1f} dB, products {counts}")
            self.judge(case, (decibels < LOOP_DB or counts != {"int8": 3}) and f"{decibels:.1f} dB, {counts}", made.step)

    def check_branch(self):
        """A branch that no sample takes has no ranges, stays in floats, and is told of."""
        model = branch_model()
        runs = feeds(samples(4), c=numpy.array(True))
        for name, taken in (("both", numpy.arange(SAMPLES) % 2 == 0), ("one", numpy.ones(SAMPLES, bool))):
            case, data = f"branch-{name}", self.data(f"branch-{name}", x=self.x[:, None], c=taken)
            made = self.quantised(case, model, data, "--calibration-method=mse")
            if made.step.code:
                self.suite.fail(case, harness.first_error(made.step.output), made.step)
                continue
            counts = products(made.step)
            wanted = {"int8": 5} if name == "both" else {"fp16": 1, "int8": 4}
            told = made.step.output.count("no sample has come to this graph")
            decibels = self.noise_of(case, made, model, runs)
            print(f"{case}: {decibels:.1f} dB, products {counts}, {told} told")
            self.judge(case, (counts != wanted or told != (name == "one") or decibels < BRANCH_DB) and
                       f"{counts}, {told} told, {decibels:.1f} dB", made.step)

    def check_guard(self):
        """What FP16 cannot hold, by ranges of a value in a body."""
        case = "guard"
        names = self.values_of(f"{case}-names", loop_model(True))
        ranges = self.work / f"{case}.json"
        large = [name for name in names if name.startswith("MatMul")][1]
        ranges.write_text(json.dumps({"cameo_ranges": 1, "ranges": {
            name: {"min": -9e4 if name == large else -1, "max": 1} for name in names}}))
        made = artefact.Artefact(self.suite, case, loop_model(True), "--precision=fp16", f"--ranges={ranges}",
                                 "--remarks")
        kept = re.search(rf"{large}: remark: kept in BF16: its result goes up to 180000", made.step.output)
        self.judge(case, made.step.code and "not compiled" or not kept and f"nothing is said of {large}", made.step)
        step = artefact.Artefact(self.suite, f"{case}-named", loop_model(True), "--precision=fp16",
                                 f"--precision-of={large}=fp32", "--remarks").step
        self.judge(f"{case}-named", (step.code or f"--precision-of={large}=fp32" not in step.output) and step.how(), step)
        step = artefact.Artefact(self.suite, f"{case}-none", loop_model(True), "--precision-of=other=fp16").step
        self.judge(f"{case}-none", (not step.code or step.output.count("matches no node") != 1) and step.how(), step)
        step = artefact.Artefact(self.suite, f"{case}-weights", loop_model(True), "--precision=fp16",
                                 "--weights=int8").step
        self.judge(f"{case}-weights", step.code and step.how() or
                   step.output.count("no weights are quantised") > 1 and "warned of more than once", step)

    def check_accuracy(self):
        """Layers in bodies are layers as others: measured, switched, and kept."""
        case, model, data = "accuracy", loop_model(True), self.trips_data("accuracy")
        loop = [node.name for node in model.graph.node if node.op_type == "Loop"][0]
        found = {}
        for asked in ("20dB", "55dB"):
            report = self.work / f"{case}.report.json"
            made = artefact.Artefact(self.suite, f"{case}-{asked}", model, "--precision=int8",
                                     f"--calibration-data={data}", "--calibration-method=max",
                                     "--channel-scales=off", "--bias-correction=off", f"--accuracy={asked}",
                                     f"--report={report}")
            if made.step.code:
                self.suite.fail(f"{case}-{asked}", harness.first_error(made.step.output), made.step)
                return
            found[asked] = json.loads(report.read_text())["accuracy"]
        layers = found["55dB"]["layers"]
        kept = [layer for layer in layers if "kept" in layer]
        inside = [layer for layer in layers if layer.get("in") == [loop]]
        print(f"{case}: {layers}, reached {found['20dB']['reached']}, {found['55dB']['reached']}")
        self.judge(case, (not inside or any(layer["sqnr"] < LOOP_DB for layer in layers) or
                          any("kept" in layer for layer in found["20dB"]["layers"])) and f"{layers}")
        self.judge(f"{case}-kept", not any("in" in layer for layer in kept) and f"kept: {kept}")

    # --- Reports

    def check_report(self):
        """Loops, branches and waits by name, in reports and profiles."""
        case = "report"
        for name, model in (("loop", loop_model(True)), ("branch", branch_model()), ("until", until_model())):
            report = self.work / f"{case}-{name}.json"
            made = artefact.Artefact(self.suite, f"{case}-{name}", model, f"--report={report}")
            if made.step.code:
                self.suite.fail(f"{case}-{name}", harness.first_error(made.step.output), made.step)
                continue
            told = json.loads(report.read_text())
            node = [node.name for node in model.graph.node if node.op_type in ("Loop", "If")][0]
            inside = [kernel for kernel in told["kernels"] if kernel.get("in") == [node]]
            nodes = [each["op"] for each in told["graph"]["normalized"]["nodes"] if each.get("in") == [node]]
            self.judge(f"{case}-{name}", (not inside or "MatMul" not in nodes) and f"{inside}, {nodes}", made.step)
            waits = told["variants"][0].get("waits", [])
            self.judge(f"{case}-{name}-waits", (name == "until") != bool(waits) and f"{waits}", made.step)
            said = "waits once in each trip of a loop for numbers of the device" in made.step.output
            self.judge(f"{case}-{name}-summary", said != bool(waits) and "how often a run waits", made.step)
        inputs, trace = self.data("until", x=numpy.ones((2, WIDTH), F32)), self.work / "trace.json"
        step = harness.run([made.path, "--device=sim", f"--input=@{inputs}", f"--profile={trace}"], SECONDS)
        if step.code:
            return self.suite.fail(f"{case}-profile", harness.first_error(step.output), step)
        events = json.loads(trace.read_text())["traceEvents"]
        names = [event["name"] for event in events if event.get("cat") == "wait"]
        told = re.search(r"(\d+) of them for '(\w+)'", step.output)
        return self.judge(f"{case}-profile", (not told or int(told.group(1)) != len(names) or len(names) < 6 or
                                              set(names) != {f"wait for {told.group(2)}"}) and f"{names}", step)

    # --- Comparison

    def check_compare(self):
        case, data = "compare", self.trips_data("compare")
        source, report = self.saved(case, loop_model(True)), self.work / f"{case}.report.json"
        step = harness.run([self.suite.tool("cameo-compare"), source, f"--data={data}", "--precision=fp32,fp16,int8",
                            f"--calibration-data={data}", f"--report={report}"], SECONDS)
        if step.code:
            return self.suite.fail(case, harness.first_error(step.output), step)
        sides = json.loads(report.read_text())["sides"]
        loop = [node.name for node in loop_model(True).graph.node if node.op_type == "Loop"][0]
        inside = {value["name"]: value for value in sides[1]["values"] if "in" in value}
        products = [name for name in inside if name.startswith("MatMul")]
        self.judge(case, (len(products) != 2 or any(value["in"] != [loop] for value in inside.values())) and
                   f"{sorted(inside)}", step)
        counted = inside[products[0]]["elements"] if products else 0
        return self.judge(f"{case}-trips", counted != SAMPLES * TRIPS * WIDTH and f"{counted} elements compared", step)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    options = parser.parse_args()
    bodies = Bodies(options.build)
    checks = [name for name in dir(bodies) if name.startswith("check_")]
    for name in checks:
        if re.search(options.filter, name):
            getattr(bodies, name)()
    return bodies.suite.close()


if __name__ == "__main__":
    sys.exit(main())
