#!/usr/bin/env python3
"""Reports of compilations: the JSON against docs/report.schema.json and against itself, the page
against the JSON, and the page as a browser draws it (Debian's chromium-headless-shell)."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import html.parser
import json
import re
import sys
import urllib.parse

import fastjsonschema
import numpy
import onnx
from onnx import TensorProto, helper

import harness
import small_models

SECONDS = 120
LEAST_LAUNCH = 1.35  # microseconds, of cameoTimings of runtime/boards.h
BROWSER = "chromium-headless-shell"
# A name that ends the script it stands in, if the page lets it.
HOSTILE = "</script><b id='injected'>ü&amp;"
VOID = {"meta", "input", "br", "link", "img", "hr"}


def convolutions():
    """Two branches of convolutions and normalizations, one of which cannot be folded."""
    random = numpy.random.default_rng(5)
    nodes, weights = [], {}

    def constant(name, array):
        weights[name] = array.astype(numpy.float32)
        return name

    def conv(x, name, channels, variance):
        weight = constant(f"{name}.w", random.normal(size=(8, channels, 3, 3)))
        nodes.append(helper.make_node("Conv", [x, weight], [f"{name}.c"], name,
                                      pads=[1, 1, 1, 1]))
        norm = [constant(f"{name}.{part}", array) for part, array in (
            ("scale", numpy.ones(8)), ("shift", numpy.zeros(8)), ("mean", numpy.zeros(8)),
            ("variance", numpy.full(8, variance)))]
        nodes.append(helper.make_node("BatchNormalization", [f"{name}.c", *norm], [f"{name}.n"],
                                      f"{name}-norm"))
        nodes.append(helper.make_node("Relu", [f"{name}.n"], [f"{name}.r"], f"{name}-relu"))
        return f"{name}.r"

    first = conv("x", HOSTILE, 3, 1.0)
    left, right = conv(first, "left", 8, 2.0), conv(first, "right", 8, -1.0)
    nodes.append(helper.make_node("Identity", [left], ["same"], "identity"))
    nodes.append(helper.make_node("Add", ["same", right], ["sum"], "add"))
    nodes.append(helper.make_node("GlobalAveragePool", ["sum"], ["y"], "pool"))
    return small_models.build("convolutions", nodes, [("x", TensorProto.FLOAT, [1, 3, 16, 16])],
                              [("y", TensorProto.FLOAT, [1, 8, 1, 1])], weights)


class Page(html.parser.HTMLParser):
    """What can be said of a page without drawing it."""

    def __init__(self, text):
        super().__init__()
        self.open, self.problems, self.ids, self.references = [], [], set(), set()
        self.data, self.scripts, self.count = None, "", {}
        self.feed(text)
        self.close()
        self.problems += [f"<{tag}> is not closed" for tag in self.open]
        self.problems += [f"nothing is called '{name}'" for name in self.references - self.ids]

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.count[tag] = self.count.get(tag, 0) + 1
        if tag not in VOID:
            self.open.append(tag)
        if "id" in attributes:
            if attributes["id"] in self.ids:
                self.problems.append(f"two have the id '{attributes['id']}'")
            self.ids.add(attributes["id"])
        self.references.update(attributes.get("aria-labelledby", "").split())
        for name in ("src", "href", "srcset", "action", "data"):
            target = attributes.get(name, "#")
            if not target.startswith("#"):
                self.problems.append(f"{name}='{target}' loads something")
            elif target != "#":
                self.references.add(target[1:])

    def handle_endtag(self, tag):
        if not self.open or self.open[-1] != tag:
            self.problems.append(f"</{tag}> ends {self.open[-1:] or 'nothing'}")
        else:
            self.open.pop()

    def handle_data(self, data):
        if self.open[-1:] == ["script"]:
            if self.data is None:
                self.data = json.loads(data)
            else:
                self.scripts += data


class Reports:
    def __init__(self, options):
        self.suite = harness.Suite("report", options.build.resolve())
        self.work = self.suite.work
        schema = json.loads((harness.SOURCE / "docs" / "report.schema.json").read_text())
        self.validate = fastjsonschema.compile(schema)

    def judge(self, case, problem, *steps):
        if problem:
            self.suite.fail(case, problem, *steps)
        else:
            self.suite.ok(case)

    def compile(self, name, source, *flags, ending="json"):
        """A report's text, and what cameoc said; None where it failed."""
        report = self.work / f"{name}.{ending}"
        report.unlink(missing_ok=True)
        step = harness.run([self.suite.tool("cameoc"), source, "-o", self.work / name,
                            f"--report={report}", *flags], SECONDS)
        if step.code or not report.exists():
            self.suite.fail(f"{name}-compile", harness.first_error(step.output), step)
            return None, step.output
        return report.read_text(), step.output

    def check_all(self):
        target = "--target=sim:sm_80,sim:sm_90a"
        model = self.work / "convolutions.onnx"
        onnx.save(convolutions(), model)
        text, said = self.compile("convolutions", model, target, "--remarks")
        again, _ = self.compile("convolutions", model, target)
        page, _ = self.compile("convolutions", model, target, ending="html")
        if not text or not again or not page:
            return
        self.judge("deterministic", None if text == again else "a second report differs")
        report = json.loads(text)
        self.check_report("convolutions", report)
        self.judge("decisions", self.wrong_decisions(report, said))
        self.judge("graph", self.wrong_graph(report))
        self.judge("memory", self.wrong_memory(report))
        self.judge("traffic", self.wrong_traffic(report))
        self.judge("estimates", self.wrong_estimates(report))
        self.check_page("convolutions", report, page)
        self.check_drawn(report)

        # Symbolic sizes: what is not known is left out or null.
        layers = self.work / "layers.onnx"
        onnx.save(small_models.layers().model, layers)
        text, _ = self.compile("layers", layers, target)
        page, _ = self.compile("layers", layers, target, ending="html")
        if text and page:
            self.check_report("layers", json.loads(text))
            self.judge("layers-estimates", self.wrong_estimates(json.loads(text)) or
                       (None if all(variant["estimate"].get("sizes_assumed")
                                    for variant in json.loads(text)["variants"])
                        else "it does not say that sizes are assumed"))
            self.check_page("layers", json.loads(text), page)
            self.check_open(json.loads(text), layers, target)
        self.check_trips()
        self.check_resumed(report, model, target)
        self.check_fusions()
        self.check_finishes()
        self.check_precision(model, target)
        self.check_calibration()

    def check_open(self, report, layers, target):
        """What is said of open sizes is true of a model with these sizes, and marked on the page."""
        likely = [kernel["likely"] for kernel in report["kernels"] if "likely" in kernel]
        sizes = {each["symbolic_sizes"] for each in likely}
        if len(sizes) != 1:
            return self.suite.fail("open-sizes", f"{sizes}")
        size = sizes.pop()
        text, _ = self.compile("likely", layers, target, f"--shapes=x:{size}x{size}x32")
        if not text:
            return None
        fixed = json.loads(text)["kernels"]

        def total(kernels, name):
            return sum(kernel.get(name, kernel.get("likely", {}).get(name, 0))
                       for kernel in kernels)

        wrong = [f"{name} {total(report['kernels'], name)}, not {total(fixed, name)}"
                 for name in ("flops", "bytes", "bytes_min")
                 if total(report["kernels"], name) != total(fixed, name)]
        if any("likely" in kernel or "flops" not in kernel for kernel in fixed):
            wrong.append("known sizes are taken for likely ones")
        self.judge("open-figures", "; ".join(wrong))
        document, problem = self.draw("layers")
        drawn = document.split("<script", 1)[0]
        summary = drawn.split('id="summary"')[-1].split("</dl>")[0]
        exact = [text for text in ("0 FLOP", "0 B", ">0 ") if text in re.sub(r"\d\d+", "", summary)]
        wanted = f"; each open size taken for {size}"
        self.judge("layers-drawn", problem or (exact and f"{exact} in {summary}") or
                   (summary.count("≈") != 3 and f"{summary}") or
                   (summary.count(wanted) < 3 and f"not '{wanted}' in {summary}") or
                   (f"≈: {wanted[2:]}" not in drawn and "the table does not say it") or None)
        return None

    def check_trips(self):
        """As many steps as a run gives, each of which is a launch, are estimated as so many as an open size is taken for."""
        random, units = numpy.random.default_rng(7), 200
        weights = {name: random.normal(size=(1, 4 * units, size)).astype(numpy.float32) for name, size in (("w", 8), ("r", units))}
        nodes = [helper.make_node("LSTM", ["x", "w", "r"], ["y"], "lstm", hidden_size=units)]
        path, totals = self.work / "steps.onnx", []
        onnx.save(small_models.build("steps", nodes, [("x", TensorProto.FLOAT, ["T", 1, 8])], [("y", TensorProto.FLOAT, ["T", 1, 1, units])],
                                     weights), path)
        for flags in ((), ("--shapes=x:64x1x8",)):
            text, _ = self.compile("steps", path, "--target=sim:sm_80", *flags)
            if not text:
                return
            totals.append(json.loads(text)["variants"][0]["estimate"])
        times, assumed = [each["microseconds"] for each in totals], [each.get("sizes_assumed", False) for each in totals]
        right = 0.9 < times[0] / times[1] < 1.1 and assumed[0]
        self.judge("trips", None if right else f"{totals}")

    def check_calibration(self):
        """Histograms have all elements; the page draws each with its thresholds."""
        random = numpy.random.default_rng(9)
        images, model = self.work / "images.npz", self.work / "convolutions.onnx"
        numpy.savez(images, x=random.standard_normal((3, 3, 16, 16), numpy.float32))
        asked = ("--target=sim:sm_80", "--precision=int8", f"--calibration-data={images}",
                 "--calibration-method=percentile:99")
        text, _ = self.compile("calibrated", model, *asked)
        page, _ = self.compile("calibrated", model, *asked, ending="html")
        if not text or not page:
            return
        report = json.loads(text)
        self.check_report("calibrated", report)
        self.check_page("calibrated", report, page)
        found = report["calibration"]
        values = {value["name"]: value for value in found["values"]}
        counted = {name: sum(value["histogram"]["counts"]) for name, value in values.items()}
        wanted = {"x": 3 * 3 * 256, HOSTILE: 3 * 8 * 256}
        problem = None
        if (found["method"], found["data"], found["samples"]) != ("percentile", "images.npz", 3):
            problem = f"{found['method']} {found['data']} {found['samples']}"
        elif any(counted.get(name) != count for name, count in wanted.items()):
            problem = f"{counted}, not {wanted}"
        elif any(not 2 ** (value["histogram"]["end"] - 1) <= value["thresholds"]["max"] <
                 2 ** value["histogram"]["end"] for value in values.values()):
            problem = "a histogram does not end with the octave of the largest magnitude"
        self.judge("calibration", problem)
        document, problem = self.draw("calibrated")
        drawn = document.split('id="calibration-table"')[-1].split("<section", 1)[0]
        marks = {"bins": len(values), "threshold": 3 * len(values), "threshold chosen": len(values)}
        counts = {mark: drawn.count(f'class="{mark}"') for mark in marks}
        chosen = re.findall(r'class="threshold chosen" data-method="(\w+)"', drawn)
        self.judge("calibration-drawn", problem or (counts != marks and f"{counts}, not {marks}")
                   or (set(chosen) != {"percentile"} and f"chosen {chosen}") or None)
        # Where a threshold is, in bars of five units: by the histogram's own steps.
        value = values["x"]
        at = value["thresholds"]["percentile"]
        octave = int(numpy.floor(numpy.log2(at)))
        counts, end = value["histogram"]["counts"], value["histogram"]["end"]
        place = 5 * (1 + 4 * (octave - end + at / 2.0 ** octave - 1) + len(counts) - 1)
        row = drawn.split("<td class=\"\">x</td>", 1)[-1]
        shown = re.search(r'class="threshold chosen"[^>]* x1="([^"]*)"', row)
        self.judge("calibration-place", None if shown and abs(float(shown[1]) - place) < 1e-3
                   else f"{shown and shown[1]}, not {place}")

    def check_precision(self, model, target):
        """What became of the nodes, one by one and in all, and what kernels store."""
        asked = ("--precision=fp16", "--precision-of=left=fp32")
        text, _ = self.compile("half", model, target, *asked)
        page, _ = self.compile("half", model, target, *asked, ending="html")
        if not text or not page:
            return
        report = json.loads(text)
        self.check_report("half", report)
        self.check_page("half", report, page)
        nodes = {node["name"]: node.get("precision")
                 for node in report["graph"]["precision"]["nodes"] if node["op"] != "Cast"}
        counts = {}
        for precision in filter(None, nodes.values()):
            counts[precision] = counts.get(precision, 0) + 1
        kernels = {kernel["precision"] for kernel in report["kernels"]}
        chosen = [each["text"] for each in report["decisions"]
                  if each["what"] == "precision" and "left" in each["onnx_nodes"]]
        problem = None
        if report["precision"] != {"asked": "fp16", "nodes": counts} or kernels != {"fp16"}:
            problem = f"{report['precision']}, nodes {nodes}, kernels {kernels}"
        elif chosen != ["in FP32, by --precision-of=left=fp32"]:
            problem = f"of 'left' it says {chosen}"
        self.judge("precision", problem)

    def check_fusions(self):
        """Those that a ledger has, apart from its other decisions; from a text that is edited."""
        stage = self.work / "scheduled.mlir"
        entries = ("""{at = loc("add"), bytes = 64 : i64, from = loc("left-relu"), kind = "missed",
                       text = "not fused with 'left-relu'", what = "fuse", why = "a reason"}, """
                   """{at = loc("pool"), bytes = 32 : i64, from = loc("add"), kind = "applied",
                       text = "fused with 'add'", what = "fuse"}, """)
        text = stage.read_text().replace("rt.ledger = [", f"rt.ledger = [{entries}", 1)
        edited = self.work / "fused.mlir"
        edited.write_text(text)
        # The weights are where the text says.
        text, _ = self.compile("fused", edited, "--start-from=scheduled", "--target=sim:sm_80")
        page, _ = self.compile("fused", edited, "--start-from=scheduled", "--target=sim:sm_80",
                               ending="html")
        if not text or not page:
            return
        report = json.loads(text)
        self.check_report("fused", report)
        missed = {"kind": "missed", "what": "fuse", "text": "not fused with 'left-relu'",
                  "why": "a reason", "onnx_nodes": ["add"], "producer": ["left-relu"], "bytes": 64}
        applied = {"kind": "applied", "what": "fuse", "text": "fused with 'add'",
                   "onnx_nodes": ["pool"], "producer": ["add"], "bytes": 32}
        found = report["fusions"]
        apart = all(each["what"] != "fuse" for each in report["decisions"])
        self.judge("fusions", None if apart and missed in found["missed"] and
                   applied in found["applied"] else f"{found}")
        document, problem = self.draw("fused")
        drawn = document.split('id="fusion-tables"')[-1].split("<section", 1)[0]
        self.judge("fusions-drawn", problem or (None if "a reason" in drawn else drawn))

    def check_finishes(self):
        """A product whose depth is split: its second launch names the first one's kernel."""
        model = self.work / "deep.onnx"
        weight = numpy.ones((4096, 64), numpy.float32)
        onnx.save(small_models.build("deep", [helper.make_node("MatMul", ["x", "w"], ["y"])],
                                     [("x", TensorProto.FLOAT, [32, 4096])],
                                     [("y", TensorProto.FLOAT, [32, 64])], {"w": weight}), model)
        text, _ = self.compile("deep", model, "--target=sim:sm_80")
        page, _ = self.compile("deep", model, "--target=sim:sm_80", ending="html")
        if not text or not page:
            return
        report = json.loads(text)
        self.check_report("deep", report)
        said = [(kernel["name"], kernel.get("finishes")) for kernel in report["kernels"]]
        self.judge("finishes", None if len(said) == 2 and said[0][1] is None
                   and said[1][1] == said[0][0] else f"{said}")
        times = [kernel.get("estimate") for kernel in report["kernels"]]
        total = report["variants"][0]["estimate"]
        self.judge("finishes-estimates", None if all(times) and total == {
            "board": "a100-40",  # written to a nanosecond
            "microseconds": round(sum(each["microseconds"] for each in times), 3)}
            else f"{times}, {total} in all")
        document, problem = self.draw("deep")
        self.judge("finishes-drawn", problem or (
            None if f"adds the parts of {said[0][0]}" in document.split("<script", 1)[0]
            else "the page does not say whose parts are added"))

    def check_resumed(self, report, model, target):
        """A stage file has the ledger of the stages before it, in either form."""
        for ending in ("mlir", "mlirbc"):
            stage = self.work / f"scheduled.{ending}"
            step = harness.run([self.suite.tool("cameoc"), model, "-o", stage, target,
                                "--stop-after=scheduled"], SECONDS)
            if step.code:
                self.suite.fail(f"resumed-{ending}", harness.first_error(step.output), step)
                continue
            text, _ = self.compile(f"resumed-{ending}", stage, target, "--start-from=scheduled")
            if not text:
                continue
            resumed = json.loads(text)
            self.check_report(f"resumed-{ending}", resumed)
            same = ("decisions", "fusions", "variants", "kernels", "memory")
            differ = [name for name in same if resumed[name] != report[name]]
            if resumed["graph"]:
                differ.append("graph")
            self.judge(f"resumed-{ending}-same", f"other {differ}" if differ else None)

    def check_report(self, name, report):
        try:
            self.validate(report)
        except fastjsonschema.JsonSchemaException as error:
            self.suite.fail(f"{name}-schema", str(error))
            return
        self.suite.ok()
        first = report["variants"][0]
        problem = None
        if report["target"] != first["target"] or report["kernels"] != first["kernels"]:
            problem = "the top level does not have the first variant"
        elif any(first["memory"][key] != value for key, value in report["memory"].items()):
            problem = "the top level has another memory than the first variant"
        self.judge(f"{name}-first", problem)

    @staticmethod
    def wrong_decisions(report, said):
        about = {(each["what"], each["kind"], node) for each in report["decisions"]
                 for node in each["onnx_nodes"]}
        for wanted in (("fold-batch-norm", "applied", f"{HOSTILE}-norm"),
                       ("fold-batch-norm", "missed", "right-norm")):
            if wanted not in about:
                return f"{wanted} is not among {sorted(about)}"
        for variant in report["variants"]:
            chosen = [each for each in variant["decisions"] if each["what"] == "schedule"]
            if len(chosen) != len(variant["kernels"]):
                return f"{len(chosen)} schedules for {len(variant['kernels'])} kernels"
        # --remarks says the same.
        for each in [*report["decisions"], *report["variants"][1]["decisions"]]:
            sentence = each["text"] + (f": {each['why']}" if "why" in each else "")
            if sentence not in said:
                return f"--remarks does not say '{sentence}'"
        return None

    @staticmethod
    def wrong_graph(report):
        graphs = report["graph"]
        if list(graphs) != ["imported", "normalized", "dispatched"]:
            return f"stages {list(graphs)}"
        for stage, graph in graphs.items():
            nodes = graph["nodes"]
            if graph["node_count"] != len(nodes):
                return f"{stage}: node_count is {graph['node_count']}, there are {len(nodes)}"
            if graph["edge_count"] != sum(len(node["from"]) for node in nodes):
                return f"{stage}: edge_count is {graph['edge_count']}"
            if any(number >= i for i, node in enumerate(nodes) for number in node["from"]):
                return f"{stage}: a node reads what comes after it"
        operators = [node["op"] for node in graphs["imported"]["nodes"]]
        if len(operators) != 12 or operators.count("BatchNormalization") != 3:
            return f"imported: {operators}"
        operators = [node["op"] for node in graphs["normalized"]["nodes"]]
        if "Identity" in operators or operators.count("BatchNormalization") != 1:
            return f"normalized: {operators}"
        last = graphs["dispatched"]["nodes"][-1]
        if "pool" not in last["name"].split(",") or last["results"] != ["1x8xf32"]:
            return f"dispatched: it ends in {last}"
        return None

    @staticmethod
    def wrong_memory(report):
        for variant in report["variants"]:
            memory = variant["memory"]
            slots, live = memory["slots"], memory["live_bytes"]
            if max(live) != memory["live_max_bytes"]:
                return f"at most {max(live)} B live, live_max_bytes is {memory['live_max_bytes']}"
            if sum(slot["bytes"] for slot in slots) != memory["tensor_sum_bytes"]:
                return f"tensor_sum_bytes is {memory['tensor_sum_bytes']}"
            if max(slot["offset"] + slot["bytes"] for slot in slots) > memory["arena_bytes"]:
                return "a slot lies outside of the arena"
            for i, a in enumerate(slots):
                for b in slots[:i]:
                    if (a["steps"][0] <= b["steps"][1] and b["steps"][0] <= a["steps"][1] and
                            a["offset"] < b["offset"] + b["bytes"] and
                            b["offset"] < a["offset"] + a["bytes"]):
                        return f"{a} and {b} overlap"
            places = [{key: slot[key] for key in ("offset", "bytes", "steps")} for slot in slots]
            for kernel in variant["kernels"]:
                for slot in kernel["arena"]:
                    if slot not in places:
                        return f"{kernel['name']} uses {slot}, which memory does not have"
                    if not slot["steps"][0] <= kernel["step"] <= slot["steps"][1]:
                        return f"{kernel['name']} uses {slot} at step {kernel['step']}"
        return None

    @staticmethod
    def wrong_traffic(report):
        """Of every kernel; the tensors are float32."""
        for kernel in report["kernels"]:
            tensors = [*kernel["inputs"], *kernel["outputs"]]
            size = sum(4 * numpy.prod([int(d) for d in text.split("x")[:-1]]) for text in tensors)
            if size != kernel["bytes_min"]:
                return f"{kernel['name']}: {tensors} take {size} B, bytes_min is " \
                       f"{kernel['bytes_min']}"
            if not kernel["schedule"].startswith("#kernel.schedule<"):
                return f"{kernel['name']}: schedule {kernel['schedule']}"
        return None

    @staticmethod
    def wrong_estimates(report):
        """Each launch has one; together they are the variant's, and what its ledger says of them."""
        for variant in report["variants"]:
            lacking = [kernel["name"] for kernel in variant["kernels"] if "estimate" not in kernel]
            if lacking:
                return f"{lacking} have no estimate"
            total = sum(kernel["estimate"]["microseconds"] for kernel in variant["kernels"])
            if abs(total - variant["estimate"]["microseconds"]) > 1e-6:
                return f"launches of {total} us, {variant['estimate']} in all"
            if any(kernel["estimate"]["microseconds"] < LEAST_LAUNCH for kernel in variant["kernels"]):
                return "a launch takes less than it costs to launch"
            said = [float(each["text"].split("estimated at ")[1].split(" us")[0])
                    for each in variant["decisions"] if each["what"] == "schedule"]
            if abs(total - sum(said)) > 0.05 * len(said) + 1e-6:
                return f"{variant['target']}: launches of {total} us, chosen at {sum(said)} us"
        return None

    def check_page(self, name, report, text):
        page = Page(text)
        self.judge(f"{name}-page", "; ".join(page.problems))
        wanted = {key: value for key, value in report.items()
                  if key not in ("target", "kernels", "memory")}
        self.judge(f"{name}-page-data", None if page.data == wanted else "the data are others")
        urls = set(re.findall(r"https?://[^'\"\s]*", page.scripts + text.split("<script", 1)[0]))
        urls -= {"http://www.w3.org/2000/svg"}  # a name, which is never loaded
        loads = re.findall(r"\b(?:fetch|XMLHttpRequest|import|WebSocket|url)\s*\(", page.scripts)
        self.judge(f"{name}-page-alone", f"{urls} {loads}" if urls or loads else None)

    def draw(self, name, query=""):
        """The document after its scripts have run, and what went wrong, if anything."""
        link = urllib.parse.quote(str(self.work / f"{name}.html"))
        step = harness.run([BROWSER, "--no-sandbox", "--disable-gpu", "--dump-dom",
                            "--virtual-time-budget=5000", "--enable-logging=stderr", f"file://{link}#?{query}"], SECONDS)
        complaints = [line for line in step.output.splitlines() if ":CONSOLE" in line]
        if step.code or complaints:
            return "", complaints[0] if complaints else step.how()
        return step.output, None

    def check_drawn(self, report):
        document, problem = self.draw("convolutions", "open")
        self.judge("drawn", problem)
        if problem:
            return
        first, second = report["variants"]
        rows = self.kernel_rows(document)
        self.judge("drawn-kernels", None if len(rows) == len(first["kernels"]) else
                   f"{len(rows)} rows for {len(first['kernels'])} launches")
        total = f"{first['estimate']['microseconds']:.1f} µs on {first['estimate']['board']}"
        limits = {kernel["estimate"]["limit"].replace("_", " ") for kernel in first["kernels"]}
        shown = {cell for row in rows for cell in row}
        self.judge("drawn-estimates", None if total in document.split("<script", 1)[0]
                   and limits <= shown else f"not '{total}' and {limits}")
        columns = [re.sub(r"<[^>]*>", "", cell) for cell in re.findall(
            r"<th[^>]*>(.*?)</th>", document.split('id="kernel-table"')[1].split("</thead>")[0])]
        cells = [{name: re.sub(r"<[^>]*>", "", cell) for name, cell in zip(columns, row)}
                 for row in rows]
        wrong = []
        if [row.get("Precision") for row in cells] != [k["precision"] for k in first["kernels"]]:
            wrong.append("precisions")
        shares = [float(row["Share"].rstrip(" %")) for row in cells]
        times = [kernel["estimate"]["microseconds"] for kernel in first["kernels"]]
        if any(abs(share - 100 * time / sum(times)) > 0.051 for share, time in zip(shares, times)):
            wrong.append(f"shares {shares}")
        for row, kernel in zip(cells, first["kernels"]):
            family, inside = re.match(r'#kernel.schedule<"(\w+)", \{(.*)\}>', kernel["schedule"]).groups()
            words = row["Schedule"]
            numbers = re.findall(r"(?<![\w.])\d+", re.sub(r": i\d+|array<i\d+:?", "", inside))
            if (not words.startswith(f"{family}: ") or re.search(r"[#<>\[\]{}=]|i64|false|true", words)
                    or sorted(re.findall(r"\d+", re.sub(r"[a-z]\w*\d", "", words))) != sorted(numbers)
                    or ("tile = " in inside and not words.startswith(f"{family}: tile "))):
                wrong.append(f"'{words}' of {kernel['schedule']}")
        self.judge("drawn-columns", "; ".join(wrong))
        self.check_network(document, report)
        slots = document.count('class="slot"')
        self.judge("drawn-slots", None if slots == len(first["memory"]["slots"]) else
                   f"{slots} rectangles for {len(first['memory']['slots'])} slots")
        self.judge("drawn-names", "a node's name is markup" if "<b id=" in document.split(
            "<main", 1)[1].split("<script", 1)[0] else None)
        missed = "variance + epsilon of channel 0"
        self.judge("drawn-decisions", None if missed in document.split("<script", 1)[0] else
                   f"'{missed}' is not shown")
        nodes = sum(graph["node_count"] for graph in report["graph"].values())
        drawn = document.split('id="graphs"')[1].split("<section", 1)[0]
        shown = drawn.count('<td class="number">')
        self.judge("drawn-graphs", None if shown > nodes else f"{shown} cells for {nodes} nodes")

        query = f"target={second['target']}&sort=flops&descending&filter=LEFT"
        document, problem = self.draw("convolutions", query)
        rows = self.kernel_rows(document) if not problem else []
        wanted = sorted((kernel for kernel in second["kernels"] if "left" in
                         (kernel["onnx_nodes"] + kernel["name"] + kernel["schedule"]).lower()),
                        key=lambda kernel: -kernel["flops"])
        if not problem and [row[-1] for row in rows] != [kernel["name"] for kernel in wanted]:
            problem = f"{[row[-1] for row in rows]}"
        if not problem and 'aria-sort="descending"' not in document:
            problem = "no column says that it is sorted"
        self.judge("drawn-sorted", problem)

    def check_network(self, document, report):
        """The picture of the last stage: each node once, below what it reads."""
        graph = report["graph"]["dispatched"]
        drawn = document.split('class="network"')[-1].split("</svg>")[0]
        places = [(float(x), float(y)) for x, y in re.findall(
            r'<rect class="node" x="([\d.]+)" y="([\d.]+)"', drawn)]
        edges = drawn.count('class="edge"')
        wrong = []
        if len(places) != graph["node_count"] or len(set(places)) != len(places):
            wrong.append(f"{len(set(places))} places for {graph['node_count']} nodes")
        elif any(places[number][1] >= places[i][1] for i, node in enumerate(graph["nodes"])
                 for number in node["from"]):
            wrong.append("a node is not below what it reads")
        if edges != graph["edge_count"]:
            wrong.append(f"{edges} lines for {graph['edge_count']} edges")
        if drawn.count("% of the time") != graph["node_count"]:
            wrong.append("a node has no share of the time")
        self.judge("drawn-network", "; ".join(wrong))

    @staticmethod
    def kernel_rows(document):
        table = document.split('id="kernel-table"')[1].split("</table>", 1)[0]
        body = table.split("<tbody>")[1]
        return [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in body.split("<tr>")[1:]]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    harness.add_arguments(parser)
    reports = Reports(parser.parse_args())
    reports.check_all()
    return reports.suite.close()


if __name__ == "__main__":
    sys.exit(main())
