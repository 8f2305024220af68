#!/usr/bin/env python3
"""Networks of many shapes as torch exports them, which is done here (export_networks.py), at published widths and
depths or 20 million parameters: one artefact of each runs with inputs of three sizes, beside ONNX Runtime.

  exported_networks.py --page=docs/bench/exported.md  writes the page, or with --filter some of its rows

FP32 is within a ten thousandth of each output's largest number, and integers are equal: labels, places, and tokens
that a loop has decoded. FP16 is judged by decibels; where it decides, what it found is matched with what was to be
found. A decoder with a cache generates 64 tokens, a run each.
"""
# SPDX-License-Identifier: Apache-2.0
import argparse
import hashlib
import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy
import onnx
import onnxruntime

import harness
from precision import sqnr
from unedited_models import ENVIRONMENT, Exports, off_by, run

EXPORTERS = ("export_networks", "exported_shared", "exported_text", "exported_images", "exported_tables",
             "export_torchvision")
PAGE = harness.SOURCE / "docs" / "bench" / "exported.md"
# Of two cores, a minute each: clocks on the wall have too much of what else the machine does.
MOST_CPU_SECONDS = 120
COMPILE_SECONDS, EXPORT_SECONDS, TOKENS = 900, 900, 64
TARGET = "sim:sm_90a"
MOST_OFF, LEAST_MATCHED = 1e-4, 0.5


@dataclass
class Network:
    """`decibels`: two less than were measured in FP16, of its worst output. `tokens`: outputs that are decoded one by
    one, and of which FP16's are judged as far as they are FP32's; `found`: outputs are boxes, labels, scores and more,
    each of which FP16 may have in another place, or not."""
    name: str
    about: str
    decibels: float
    tokens: tuple = ()
    found: bool = False


NETWORKS = [
    Network("translator", "LSTMs with attention, decoded in a loop", 70, tokens=("tokens", "scores")),
    Network("transducer", "RNN-T: scores of all frames and labels", 100),
    Network("transducer_search", "RNN-T: greedy search, a loop in a loop", 78, tokens=("found", "total")),
    Network("tagger", "bidirectional LSTMs of packed sequences, Viterbi's path", 67, tokens=("path", "total")),
    Network("whisper_encoder", "Whisper (tiny), encoder", 61),
    Network("whisper_decoder", "Whisper (tiny), decoder with its cache", 57),
    Network("grouped_decoder", "grouped queries, rotary embeddings, cache", 48),
    Network("generator", "the same decoder, generating in a loop", 0, tokens=("tokens",)),
    Network("wavenet", "WaveNet", 59),
    Network("mesh", "MeshGraphNets: messages by index_add", 55),
    Network("citations", "GAT: softmax of edges by scatter_add", 62),
    Network("dlrm", "DLRM, bags of one size", 76),
    Network("dlrm_offsets", "DLRM, bags by offsets", 73),
    Network("unet", "DDPM's U-Net", 51),
    Network("swin", "Swin (tiny)", 54),
    Network("detr", "DETR, ResNet-50", 51),
    Network("yolo", "YOLOv5s with its suppression", 61, found=True),
    Network("ssd", "SSDlite, MobileNet v3", 52, found=True),
    Network("retinanet", "RetinaNet, ResNet-50", 59, found=True),
    Network("fcos", "FCOS, ResNet-50", 66, found=True),
    Network("faster_rcnn", "Faster R-CNN, ResNet-50", 46, found=True),
    Network("mask_rcnn", "Mask R-CNN, ResNet-50", 48, found=True),
    Network("keypoint_rcnn", "Keypoint R-CNN, ResNet-50", 49, found=True),
]
HEAD = """# Networks as torch exports them

Networks of others' shapes, at published widths and depths or 20 million parameters, with random weights. torch 1.13 and
torchvision, Debian's, export them when the part `exported` of the [tests](../testing.md) runs; this page is written by

```sh
build/venv/bin/python test/e2e/exported_networks.py --page=docs/bench/exported.md
```

Each is compiled once for all sizes, and the artefact runs with inputs of three sizes on the simulator; open sizes are
batches, lengths, heights and widths, counts of nodes and edges.

- *Nodes* are those of the ONNX model, of graphs within it, too. *Launches* are those of the plan; in brackets how
  many of them are in loops. *Waits* are places where a run reads numbers of the device back, those in loops in each trip.
- *Compiled* is in seconds of CPU, for the simulator.
- *Off by* is the largest difference from ONNX Runtime in FP32, of each output's largest number, over the three sizes;
  all outputs that are integers are equal.
- *FP16* is the signal over noise of outputs, in dB, the least of all. Of what is decoded, tokens are compared as far as
  they are equal; of what is found, boxes that have a counterpart of their label within a pixel, and of these the
  median: behind the slash is the share of them.
- *Estimate* is [that by which schedules are chosen](../kernels.md#estimates), in microseconds on an H100, of the network
  compiled for the first of its sizes: loops of known trips as often, those that a run counts 64 times, others
  once, and the longer one of two branches.

"""
COLUMNS = ("", "", "parameters", "nodes", "launches", "waits", "compiled", "off by", "FP16", "estimate")


class Networks(Exports):
    """What torch exports, kept in the build folder until a version or an exporter changes."""

    def __init__(self, suite):
        super().__init__(suite)
        self.folder = suite.build / "exported"
        self.scripts = Path(__file__).resolve().parent
        sources = b"".join((self.scripts / f"{name}.py").read_bytes() for name in EXPORTERS)
        self.stamp += hashlib.sha256(sources).hexdigest()

    def file(self, name):
        if self.problem:
            raise OSError(self.problem)
        stamp = self.folder / f"{name}.stamp"
        if not stamp.exists() or stamp.read_text() != self.stamp:
            step = harness.run(["/usr/bin/python3", self.scripts / "export_networks.py", self.folder, name],
                               EXPORT_SECONDS)
            if step.code:
                raise OSError(f"not exported: {harness.first_error(step.output)}")
            print(f"{name}: exported in {step.seconds:.1f} s", flush=True)
            stamp.write_text(self.stamp)
        return self.folder / f"{name}.onnx"


def count_nodes(graph):
    return sum(1 + sum(count_nodes(attribute.g) for attribute in node.attribute if attribute.HasField("g"))
               for node in graph.node)


def match(outputs, references):
    """Places of references and of outputs, of boxes of one label: each takes the nearest that is left, a pixel off at
    most."""
    right, found = references["boxes"], outputs["boxes"]
    off = abs(right[:, None] - found[None]).max(2)
    good = (references["labels"][:, None] == outputs["labels"][None]) & (off <= 1)
    off = numpy.where(good, off, numpy.inf)
    pairs = []
    for place in range(len(right)):
        best = int(off[place].argmin()) if len(found) else -1
        if best >= 0 and numpy.isfinite(off[place, best]):
            pairs.append((place, best))
            off[:, best] = numpy.inf
    return pairs


class Judge:
    """Of one network in one precision, over its sizes."""

    def __init__(self, network):
        self.network, self.off, self.decibels, self.share = network, 0.0, numpy.inf, 1.0

    def exact(self, outputs, references):
        """Why FP32's results are wrong, or None. Boxes whose scores are nearly equal may change places."""
        if self.network.found:
            pairs, wanted, given = match(outputs, references), len(references["boxes"]), len(outputs["boxes"])
            if not len(pairs) == wanted == given:
                return f"of {wanted} boxes {len(pairs)} are found, among {given}"
            references = {name: right[[place for place, _ in pairs]] for name, right in references.items()}
            outputs = {name: found[[place for _, place in pairs]] for name, found in outputs.items()}
        for name, right in references.items():
            found = outputs[name]
            if found.shape != right.shape or found.dtype != right.dtype:
                return f"{name} is {found.dtype} {found.shape}, not {right.dtype} {right.shape}"
            if right.dtype.kind != "f":
                wrong = int((found != right).sum())
                if wrong:
                    return f"{wrong} of {right.size} numbers of {name} differ"
            elif right.size:
                self.off = max(self.off, off_by({name: found}, {name: right}))
        return None if self.off <= MOST_OFF else f"off by {self.off:.1e} of the largest"

    def near(self, outputs, references):
        """The same of FP16's."""
        outputs, references = dict(outputs), dict(references)
        if self.network.found:
            pairs = match(outputs, references)
            wanted = len(references["boxes"])
            self.share = min(self.share, len(pairs) / wanted if wanted else 1.0)
            rows, found = (numpy.array(places, int) for places in zip(*pairs)) if pairs else ([], [])
            references = {name: right[rows] for name, right in references.items()}
            outputs = {name: given[found] for name, given in outputs.items()}
        elif self.network.tokens:
            first, *others = self.network.tokens
            given, right = outputs[first], references[first]
            length = min(given.shape[-1], right.shape[-1])
            same = (given[..., :length] == right[..., :length]).all(axis=tuple(range(given.ndim - 1)))
            count = length if same.all() else int(same.argmin())
            self.share = min(self.share, count / right.shape[-1] if right.shape[-1] else 1.0)
            for name in others:
                if references[name].shape[-1:] == right.shape[-1:] and count:
                    outputs[name], references[name] = outputs[name][..., :count], references[name][..., :count]
                elif count < right.shape[-1]:
                    del outputs[name], references[name]
        for name, right in references.items():
            if right.dtype.kind == "f" and right.size:
                if outputs[name].shape != right.shape:
                    return f"{name} is {outputs[name].shape}, not {right.shape}"
                self.decibels = min(self.decibels, self.measure(outputs[name], right))
        if self.network.found and self.share < LEAST_MATCHED:
            return f"{self.share:.0%} of the boxes are found"
        return None if self.decibels >= self.network.decibels else f"{self.decibels:.1f} dB"

    def measure(self, found, right):
        """Of boxes the median: where keypoints are decides a network for each box, which FP16 may tip over."""
        if not self.network.found:
            return sqnr(found, right)
        return numpy.median([sqnr(*rows) for rows in zip(found, right) if rows[1].any()])

    def words(self):
        text = "" if numpy.isinf(self.decibels) else f"{self.decibels:.0f}"
        return text + (f" / {self.share:.0%}" if self.network.found or self.network.tokens else "")


class Part:
    def __init__(self, options):
        self.options = options
        self.suite = harness.Suite("exported", options.build.resolve())
        self.cameoc = self.suite.tool("cameoc")
        self.exports = Networks(self.suite)

    def compile(self, source, out, precision, *flags):
        """The step, and its seconds of CPU."""
        before = harness.cpu_seconds()
        step = harness.run([self.cameoc, source, "-o", out, f"--target={TARGET}", f"--precision={precision}",
                            f"--report={out}.json", *flags], COMPILE_SECONDS, env=ENVIRONMENT)
        return step, harness.cpu_seconds() - before

    def check(self, network, source, feeds, precision):
        """The judge, what the compiler said, and its seconds; None where something is wrong."""
        case = f"{network.name}-{precision}"
        artefact = self.suite.work / case
        step, seconds = self.compile(source, artefact, precision)
        if step.code or seconds > MOST_CPU_SECONDS:
            self.suite.fail(case, f"{step.how()} in {seconds:.0f} s: {harness.first_error(step.output)}", step)
            return None
        judge = Judge(network)
        session = onnxruntime.InferenceSession(source)
        names = [output.name for output in session.get_outputs()]
        for number, feed in enumerate(feeds):
            references = dict(zip(names, session.run(names, feed)))
            ran, outputs = run(artefact, feed, names)
            if outputs is None:
                self.suite.fail(case, f"size {number}: {ran.how()}: {harness.first_error(ran.output)}", step, ran)
                return None
            wrong = (judge.exact if precision == "fp32" else judge.near)(outputs, references)
            if wrong:
                self.suite.fail(case, f"size {number}: {wrong}", step, ran)
                return None
        print(f"{case}: compiled in {seconds:.1f} s, " +
              (f"off by {judge.off:.1e}" if precision == "fp32" else f"{judge.words()} dB"), flush=True)
        self.suite.ok(case)
        return judge, step.output, seconds

    def generate(self, source):
        """A token a run, with what the run before has left in the cache."""
        artefact, session = self.suite.work / "grouped_decoder-fp32", onnxruntime.InferenceSession(source)
        names = [output.name for output in session.get_outputs()]
        prompt = numpy.random.default_rng(3).integers(0, 8192, (1, 5))
        texts = []
        for program in (lambda feed: run(artefact, feed, names)[1],
                        lambda feed: dict(zip(names, session.run(names, feed)))):
            feed = {"tokens": prompt, "keys": numpy.zeros((11, 1, 2, 0, 64), numpy.float32),
                    "values": numpy.zeros((11, 1, 2, 0, 64), numpy.float32)}
            tokens = []
            while len(tokens) < TOKENS:
                found = program(feed)
                if found is None:
                    return self.suite.fail("generated", f"the run of token {len(tokens)} has failed")
                tokens.append(int(found["logits"].argmax()))
                feed = {"tokens": numpy.array([[tokens[-1]]]), "keys": found["new_keys"],
                        "values": found["new_values"]}
            texts.append(tokens)
        if texts[0] != texts[1]:
            return self.suite.fail("generated", f"{texts[0]} is not {texts[1]}")
        print(f"generated: {TOKENS} tokens, {len(set(texts[0]))} different ones", flush=True)
        return self.suite.ok("generated")

    def estimate(self, network, source, feed):
        """Of the first size, in microseconds."""
        shapes = ",".join(f"{name}:{'x'.join(map(str, array.shape))}" for name, array in feed.items() if array.ndim)
        out = self.suite.work / f"{network.name}-sized"
        step, _ = self.compile(source, out, "fp32", f"--shapes={shapes}")
        if step.code:
            return None
        return json.loads(Path(f"{out}.json").read_text())["variants"][0]["estimate"]["microseconds"]

    def row(self, network):
        source = self.exports.file(network.name)
        feeds = [dict(numpy.load(source.with_name(f"{network.name}-{number}.npz"))) for number in range(3)]
        exact = self.check(network, source, feeds, "fp32")
        near = self.check(network, source, feeds, "fp16")
        if exact and network.name == "grouped_decoder":
            self.generate(source)
        if not exact or not near:
            return None
        judge, summary, seconds = exact
        launches = re.search(r"(\d+) launches", summary).group(1)
        trips = re.search(r"(\d+) in each trip", summary)
        waits = re.search(r"waits (once|\d+)", summary)
        parameters = json.loads(source.with_suffix(".json").read_text())["parameters"]
        time = self.estimate(network, source, feeds[0]) if self.options.page else None
        return (network.name, network.about, f"{parameters / 1e6:.1f} M",
                str(count_nodes(onnx.load(source, load_external_data=False).graph)),
                launches + (f" ({trips.group(1)})" if trips else ""),
                waits.group(1).replace("once", "1") if waits else "", f"{seconds:.0f}", f"{judge.off:.1e}",
                near[0].words(), f"{time:.0f}" if time else "")


def read_rows(page):
    """Lines of the page's table by the networks' names."""
    lines = page.read_text().splitlines() if page.exists() else []
    return {line.split("|")[1].strip(): line for line in lines if line.startswith("| ")}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=harness.SOURCE / "build", help="the build folder")
    parser.add_argument("--filter", default="", help="only networks whose name matches this regex")
    parser.add_argument("--page", type=Path, help="write the page")
    options = parser.parse_args()
    onnxruntime.set_default_logger_severity(4)
    part = Part(options)
    rows = read_rows(options.page) if options.page else {}
    for network in NETWORKS:
        if not re.search(options.filter, network.name):
            continue
        try:
            row = part.row(network)
            for file in part.suite.work.iterdir():  # a network's weights three times
                file.unlink()
            if row:
                rows[network.name] = "| " + " | ".join(row) + " |"
        except OSError as error:
            part.suite.fail(network.name, str(error))
    if options.page:
        lines = ["| " + " | ".join(COLUMNS) + " |", "|---|---|" + "---:|" * (len(COLUMNS) - 2)]
        lines += [rows[network.name] for network in NETWORKS if network.name in rows]
        options.page.write_text(HEAD + "\n".join(lines) + "\n")
    return part.suite.close()


if __name__ == "__main__":
    sys.exit(main())
