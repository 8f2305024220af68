#!/usr/bin/env python3
"""What graph optimisation makes of networks, for sm_80: each is compiled with -O0 and with -O2, its
reports are held to launch_ceilings.txt, and both artefacts' results to ONNX Runtime's and to one
another's bits; with --long also those of networks of full size, of which models.py runs what -O2 makes.

The measures of a network that launch_ceilings.txt may limit:
  launches    kernels launched in a run; a product whose depth blocks share counts once
  layer       of the same, the most that begin in one layer of a transformer
  concat      kernels that read the parts of a concatenation and compute neither one of them nor
              what reads the whole
  shared      the most kernels that products of one input are in: 1x1 convolutions, MatMuls
  excite      the most kernels of one squeeze-excite block, from its pool to its Sigmoid and product
  product     products of matrices whose schedule is not the products'
  long-map    dispatches of schedule `map` with a sum of more than 64 steps
  splits      launches that add the parts of a product whose depth blocks share: `launches` leaves
              them out, so they have a ceiling of their own
  arena       memory for intermediate values, in percent of the largest set that is alive at once
Where a network does better than its ceiling by more than a little, a note asks to lower it.
"""
# SPDX-License-Identifier: Apache-2.0
import argparse
import collections
import json
import math
import re
import shutil
import sys

import numpy
import onnx
import onnxruntime

import harness
import memory
import models
import modern_networks
import networks
import scheduled_ir

COMPILE_SECONDS, RUN_SECONDS = 300, 300
CEILINGS = harness.Path(__file__).resolve().parent / "launch_ceilings.txt"
# The networks of full size that are run without --long.
RUN = ("mobilenet_v2", "squeezenet")
SLACK = {"launches": 2}  # a ceiling may be this much above what is measured
LONG_SUM = 64
PRODUCTS = {"Conv", "Gemm", "MatMul"}
BEFORE_AND_AFTER = ("launches", "concat", "layer", "shared", "excite")
# Of every network, unless launch_ceilings.txt has another ceiling for one.
ALWAYS = {"product": 0, "long-map": 0, "splits": 0, "arena": 110}


def gated_networks():
    """Those of networks.py at batch 1, with sizes that are known; the small ones of
    modern_networks.py as they are, with symbolic sizes."""
    chosen = {**networks.NETWORKS, "light_resnet50": networks.LONG_NETWORKS["light_resnet50"]}
    return {**{name: (make, True) for name, make in chosen.items()},
            **{name: (make, False) for name, make in modern_networks.SMALL_NETWORKS.items()},
            "primitives": (lambda: modern_networks.primitives(256, 4), False),
            "pixel_shuffle": (lambda: modern_networks.pixel_shuffle(16, 12), False)}


def read_ceilings(path=CEILINGS):
    """{(network, measure): (ceiling, goal)}; a line is `network measure ceiling goal`, the goal
    a number or `-`."""
    ceilings = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        words = line.split("#")[0].split()
        if not words:
            continue
        if len(words) != 4 or not words[2].isdigit() or not re.fullmatch(r"\d+|-", words[3]):
            sys.exit(f"{path}:{number}: error: not 'network measure ceiling goal'")
        ceilings[words[0], words[1]] = (int(words[2]), words[3])
    return ceilings


# --- measures

class Launches:
    """The launches of a report, by the nodes of the model that they compute."""

    def __init__(self, model, report):
        self.nodes = list(model.graph.node)
        self.weights = {tensor.name for tensor in model.graph.initializer}
        self.number = {node.name or node.output[0]: i for i, node in enumerate(self.nodes)}
        self.kernels = [{self.number[name] for name in kernel["onnx_nodes"].split(",")
                         if name in self.number} for kernel in harness.launched(report)]

    def touching(self, nodes):
        return sum(bool(kernel & nodes) for kernel in self.kernels)

    def concatenations(self):
        made_by = {name: i for i, node in enumerate(self.nodes) for name in node.output}

        def copies(kernel, i):
            node = self.nodes[i]
            return (node.op_type == "Concat"
                    and not any(made_by.get(name) in kernel for name in node.input)
                    and not any(node.output[0] in self.nodes[j].input for j in kernel))

        return sum(any(copies(kernel, i) for i in kernel) for kernel in self.kernels)

    def shared(self):
        """Of 1x1 convolutions with the same steps, and of products with weights."""
        groups = collections.defaultdict(set)
        for i, node in enumerate(self.nodes):
            settings = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
            if node.op_type == "MatMul" and node.input[1] in self.weights:
                groups[node.input[0], "MatMul"].add(i)
            elif node.op_type == "Conv" and set(settings.get("kernel_shape", [0])) == {1}:
                groups[node.input[0], str(settings.get("strides"))].add(i)
        return max((self.touching(group) for group in groups.values() if len(group) > 1),
                   default=0)

    def layer(self):
        """Layers begin behind every other LayerNormalization; first and last do not count."""
        norms = [i for i, node in enumerate(self.nodes) if node.op_type == "LayerNormalization"]
        first, inner = norms[::2], []
        for start, end in zip(first[1:-2], first[2:-1]):
            inner.append(sum(bool(kernel) and start < min(kernel) <= end
                             for kernel in self.kernels))
        return max(inner, default=0)

    def excite(self):
        """A block is what lies between a GlobalAveragePool and the product with its result."""
        readers = collections.defaultdict(list)
        for i, node in enumerate(self.nodes):
            for name in node.input:
                readers[name].append(i)
        most = 0
        for i, node in enumerate(self.nodes):
            block, wave = {i}, [i]
            while node.op_type == "GlobalAveragePool" and wave:
                wave = [reader for one in wave for reader in readers[self.nodes[one].output[0]]
                        if reader not in block]
                block |= set(wave)
                gates = [one for one in wave if self.nodes[one].op_type == "Mul"
                         and node.input[0] in self.nodes[one].input]
                if gates:
                    # As part of what reads it the product is none of this block's kernels.
                    most = max(most, self.touching(block - set(gates))
                               + sum(kernel == set(gates) for kernel in self.kernels))
                    break
        return most


def unread(model, dispatches):
    """Why stage `scheduled` has not been read, where its text cannot be all there is to a network;
    None where it can."""
    kinds = {node.op_type for node in model.graph.node}
    if not dispatches:
        return "no dispatch is found in the text of stage scheduled"
    if any(one.schedule == "none" for one in dispatches):
        return "a dispatch is found that has no schedule"
    if kinds & PRODUCTS and not any(s.is_product() for one in dispatches for s in one.sums):
        return f"no product is found although there are {', '.join(sorted(kinds & PRODUCTS))}"
    return None


def measure(model, report, dispatches):
    """{measure: number}, of those that say something of the network."""
    launches = Launches(model, report)
    kinds = {node.op_type for node in model.graph.node}
    found = {
        "launches": len(launches.kernels),
        "splits": sum("finishes" in kernel for kernel in report["kernels"]),
        "product": sum(one.schedule not in ("contraction", "mma", "skinny")
                       and any(s.is_product() for s in one.sums)
                       for one in dispatches),
        "long-map": sum(one.schedule == "map" and any(s.steps > LONG_SUM for s in one.sums)
                        for one in dispatches)}
    if "Concat" in kinds:
        found["concat"] = launches.concatenations()
    if shared := launches.shared():
        found["shared"] = shared
    if layer := launches.layer():
        found["layer"] = layer
    if excite := launches.excite():
        found["excite"] = excite
    figures = report["memory"]
    if figures.get("live_max_bytes"):
        found["arena"] = math.ceil(100 * figures["arena_bytes"] / figures["live_max_bytes"])
    return found


# --- compiling and running

def shapes_flag(feed):
    return "--shapes=" + ",".join(f"{name}:{'x'.join(map(str, array.shape))}"
                                  for name, array in feed.items())


class Case:
    """A network on disk, and what its levels make of it."""

    def __init__(self, suite, name, make, fixed):
        self.suite, self.name = suite, name
        self.work = suite.work / name
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(parents=True)
        self.network = make()
        self.path = self.work / "model.onnx"
        onnx.save(self.network.model, self.path)
        batches = self.network.batches[:1] if fixed else self.network.batches
        self.feeds = [self.network.inputs(batch, numpy.random.default_rng(batch))
                      for batch in batches]
        self.shapes = [shapes_flag(self.feeds[0])] if fixed else []

    def compile(self, level, flags=(), target="sim:sm_80"):
        """(step, artefact, report)"""
        artefact = self.work / f"model{level}"
        report = self.work / f"report{level}.json"
        step = harness.run([self.suite.tool("cameoc"), self.path, "-o", artefact, *self.shapes,
                            f"--target={target}", f"--report={report}", level,
                            *flags], COMPILE_SECONDS)
        return step, artefact, json.loads(report.read_text()) if step.code == 0 else None

    def dispatches(self, level):
        """(step, [Dispatch])"""
        out = self.work / "scheduled.mlir"
        step = harness.run([self.suite.tool("cameoc"), self.path, "-o", out, *self.shapes,
                            "--target=sm_80", "--stop-after=scheduled", level],
                           COMPILE_SECONDS)
        return step, scheduled_ir.read(out.read_text()) if step.code == 0 else []

    def run(self, artefact, number, flags=("--device=sim",)):
        """(step, {output: array}) of one of the feeds."""
        files, command = {}, []
        for i, (key, array) in enumerate(self.feeds[number].items()):
            file = self.work / f"input-{i}.npy"
            numpy.save(file, array)
            command.append(f"--input={key}=@{file}")
        for i, put in enumerate(self.network.model.graph.output):
            files[put.name] = self.work / f"output-{i}.npy"
            command.append(f"--output={put.name}=@{files[put.name]}")
        step = harness.run([artefact, *flags, *command], RUN_SECONDS)
        return step, ({key: numpy.load(file) for key, file in files.items()} if step.code == 0
                      else None)

    def close(self):
        shutil.rmtree(self.work)


def other_bits(ones, others):
    """The names of results that differ in a bit."""
    return [name for name, one in ones.items() if one.tobytes() != others[name].tobytes()]


def run_alike(suite, case, artefacts):
    """Runs a case's artefacts, {label: path}, on all feeds. The names of results in whose bits they
    differ; None where one fails, or is not what ONNX Runtime computes."""
    session = onnxruntime.InferenceSession(case.path)
    names = [output.name for output in session.get_outputs()]
    differ = set()
    for number, feed in enumerate(case.feeds):
        references = dict(zip(names, session.run(names, feed)))
        results = {}
        for way, artefact in artefacts.items():
            step, results[way] = case.run(artefact, number)
            label = f"{case.name}-{way.lstrip('-')}-{number}"
            reason = (f"{step.how()}: {harness.first_error(step.output)}" if step.code else
                      models.compare(results[way], references,
                                     models.TOLERANCES.get(case.name, models.TOLERANCE))[0])
            if reason:
                suite.fail(label, reason, step)
                return None
            suite.ok(label)
        differ.update(other_bits(*results.values()))
    return differ


class Gates:
    def __init__(self, options):
        self.options = options
        self.suite = harness.Suite("launches", options.build.resolve())
        self.ceilings = read_ceilings()
        self.reordered = harness.ReorderedSums("launches")

    def check(self, name, make, fixed):
        case = Case(self.suite, name, make, fixed)
        reports, artefacts = {}, {}
        is_run = not fixed or name in RUN or self.options.long
        # The report is of any form; that of single threads takes half the time to compile.
        flags = () if is_run else ("--sim-forms=thread",)
        for level in harness.LEVELS:
            step, artefacts[level], reports[level] = case.compile(level, flags)
            if step.code:
                return self.suite.fail(f"{name}{level}",
                                       f"{step.how()}: {harness.first_error(step.output)}", step)
            lacking = [kernel["name"] for kernel in reports[level]["kernels"]
                       if "estimate" not in kernel]
            if lacking:
                return self.suite.fail(f"{name}{level}", f"{lacking} have no estimate")
        step, dispatches = case.dispatches("-O2")
        if step.code:
            return self.suite.fail(f"{name}-scheduled", harness.first_error(step.output), step)
        if reason := unread(case.network.model, dispatches):
            return self.suite.fail(f"{name}-scheduled", reason, step)
        before = measure(case.network.model, reports["-O0"], [])
        self.judge(name, before, measure(case.network.model, reports["-O2"], dispatches),
                   reports["-O2"]["memory"])
        if not fixed: # the report of sizes that are known has what the others' --info says
            memory.check(self.suite, name, case.network, artefacts["-O2"])
        if is_run:
            self.results(case, artefacts)
        else:
            self.suite.skip("bits of -O0 and -O2: a network of full size, unless --long")
        return case.close()

    def judge(self, name, before, found, figures):
        texts = []
        for key, number in found.items():
            was = f"{before[key]} -> " if key in BEFORE_AND_AFTER else ""
            text = f"{key} {was}{number}"
            if (name, key) in self.ceilings:
                ceiling, goal = self.ceilings[name, key]
                text += f" (at most {ceiling}, goal {goal})"
                self.judge_one(name, key, number, ceiling)
            elif key in ALWAYS:
                self.judge_one(name, key, number, ALWAYS[key])
            texts.append(text)
        if figures:
            texts.append(f"{figures['tensor_sum_bytes'] / 1e6:.1f} MB of values in an arena of "
                         f"{figures['arena_bytes'] / 1e6:.1f} MB")
        for key in (key for one, key in self.ceilings if one == name and key not in found):
            self.suite.fail(f"{name}-{key}", "launch_ceilings.txt limits what cannot be measured")
        print(f"{name}: " + ", ".join(texts), flush=True)

    def judge_one(self, name, key, number, ceiling):
        if number > ceiling:
            self.suite.fail(f"{name}-{key}", f"is {number}; launch_ceilings.txt allows {ceiling}")
            return
        self.suite.ok(f"{name}-{key}")
        if (name, key) in self.ceilings and number + SLACK.get(key, 0) < ceiling:
            print(f"note: launch_ceilings.txt allows {name} {key} {ceiling}; it is {number}: lower "
                  "the ceiling")

    def results(self, case, artefacts):
        differ = run_alike(self.suite, case, artefacts)
        if differ is None:
            return
        if not differ:
            self.suite.ok(f"{case.name}-bits")
        elif self.reordered.explain(case.name):
            self.fusion_alone(case, artefacts["-O0"])
        else:
            self.suite.fail(f"{case.name}-bits", f"{', '.join(sorted(differ))}: other bits at -O2 "
                            "than at -O0, and reordered_sums.txt does not say why")

    def fusion_alone(self, case, unfused):
        """Where -O2 may round otherwise: -O1, which fuses and places as -O2 does, may not."""
        step, fused, _ = case.compile("-O1")
        if step.code:
            return self.suite.fail(f"{case.name}-O1",
                                   f"{step.how()}: {harness.first_error(step.output)}", step)
        differ = run_alike(self.suite, case, {"-O0": unfused, "-O1": fused})
        if differ:
            return self.suite.fail(f"{case.name}-O1-bits", f"{', '.join(sorted(differ))}: other "
                                   "bits at -O1 than at -O0")
        return differ is not None and self.suite.ok(f"{case.name}-O1-bits")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    parser.add_argument("--long", action="store_true", help="run the networks of full size, too")
    gates = Gates(parser.parse_args())
    for name, (make, fixed) in gated_networks().items():
        if re.search(gates.options.filter, name):
            gates.check(name, make, fixed)
    if gates.options.long and not gates.options.filter:
        gates.reordered.print_unneeded()
    return gates.suite.close()


if __name__ == "__main__":
    sys.exit(main())
