#!/usr/bin/env python3
"""The passes on ONNX graphs against ONNX Runtime: `cameoc --emit=onnx --stop-after=normalized` of
ONNX's node tests (of those of more than one node, unless --long), of the models of row_tests.py, of models made for the passes and of full-size
networks computes what the model computed, under the same names of inputs and outputs. Of what is made
for them, the passes leave the operators that they should, once, twice and again.

Models that ONNX Runtime's CPU does not run are run by onnx's own evaluator.
"""
# SPDX-License-Identifier: Apache-2.0
import argparse
import itertools
import re
import shutil
import sys
import tempfile
import zlib
from pathlib import Path

import numpy
import onnx
import onnx.backend.test
import onnx.numpy_helper

import harness
import modern_networks
import networks
import pass_models
import row_cases

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "dialects" / "onnx"))
import models as onnx_models  # noqa: E402  pylint: disable=wrong-import-position

DATA = Path(onnx.backend.test.__file__).parent / "data" / "node"
SECONDS = 120
# Of whole networks, max|difference| / max|reference|: a folded batch normalization rounds its
# weights where the original rounded activations, and fifty layers pass that on.
NETWORK_TOLERANCE = 1e-4
NOT_RUN = "neither ONNX Runtime nor onnx's evaluator runs it; names of inputs and outputs are as before"


def interface(graph):
    initialised = {tensor.name for tensor in graph.initializer}
    return ([v.name for v in graph.input if v.name not in initialised],
            [v.name for v in graph.output])


def close(a, b):
    """Folded operators round once in the type's own precision; 16 bits have few digits."""
    coarse = isinstance(a, numpy.ndarray) and a.dtype == numpy.float16
    return onnx_models.same(a, b, *((2e-3, 1e-3) if coarse else (1e-5, 1e-6)))


def network_close(a, b, tolerance=NETWORK_TOLERANCE):
    if not isinstance(a, numpy.ndarray) or a.dtype.kind != "f":
        return onnx_models.same(a, b)
    return a.shape == b.shape and numpy.abs(a - b).max() <= tolerance * numpy.abs(a).max()


def transform_close(a, b):
    """ONNX Runtime's own transforms are off by 1e-4 of the largest number, as reference.py has it."""
    return network_close(a, b, 3e-4)


def contents(model):
    """Operators with their attributes, and the bytes of constants: all but names."""
    return ([(node.op_type, [attribute.SerializeToString() for attribute in node.attribute])
             for node in model.graph.node],
            sorted(onnx.numpy_helper.to_array(tensor).tobytes()
                   for tensor in model.graph.initializer))


class GraphPasses:
    def __init__(self, options):
        self.options = options
        self.suite = harness.Suite("graph-passes", options.build.resolve())
        self.cameoc = self.suite.tool("cameoc")
        self.before = self.after = 0

    def normalize(self, source, out):
        return harness.run([self.cameoc, source, "-o", out, "--emit=onnx",
                            "--stop-after=normalized"], SECONDS)

    def check(self, name, source, feed, same):
        """Compares `source` with what the passes make of it; `feed` maps inputs to values."""
        before = onnx.load(source)
        with tempfile.TemporaryDirectory() as scratch:
            out = Path(scratch) / "normalized.onnx"
            step = self.normalize(source, out)
            if step.code != 0:
                self.suite.fail(name, f"{step.how()}: {harness.first_error(step.output)}", step)
                return
            after = onnx.load(out)
            reason = self.differs(source, out, before, after, feed, same)
            if reason is NOT_RUN:
                self.suite.skip(reason)
            elif reason:
                self.suite.fail(name, reason, step)
                return
            else:
                self.suite.ok()
            self.before += len(before.graph.node)
            self.after += len(after.graph.node)

    def differs(self, source, out, before, after, feed, same):
        if interface(before.graph) != interface(after.graph):
            return f"inputs or outputs changed: {interface(after.graph)}"
        if out.stat().st_size < 1 << 30:
            onnx.checker.check_model(str(out))
        try:
            expected, again, found = onnx_models.run_both(source, out, feed)
        except onnx_models.NotRun:
            return NOT_RUN
        except onnx_models.Failed as error:
            return str(error)
        # What differs between two runs of one model is random.
        for name, a, b, c in zip(interface(after.graph)[1], expected, again, found):
            if onnx_models.same(a, b) and not same(a, c):
                return f"the output '{name}' differs"
        return None

    def chosen(self, name):
        return re.search(self.options.filter, name)

    def report(self, what):
        print(f"{what}: {self.before} nodes became {self.after}", flush=True)
        self.before = self.after = 0

    def node_tests(self):
        for source in sorted(DATA.glob("*/model.onnx")):
            name = source.parent.name
            if not self.chosen(name):
                continue
            model = onnx.load(source)
            if len(model.graph.node) + len(model.functions) < 2 and not self.options.long:
                continue  # graph passes have next to nothing to do
            initialised = {tensor.name for tensor in model.graph.initializer}
            feed = {}
            for i, value in enumerate(v for v in model.graph.input if v.name not in initialised):
                path = source.parent / "test_data_set_0" / f"input_{i}.pb"
                try:
                    feed[value.name] = onnx_models.as_ort(
                        onnx_models.load_value(path, value.type))
                except onnx_models.Failed:
                    feed = {}
                    break
            self.check(name, source, feed, close)
        self.report("node tests")

    def rows(self):
        with tempfile.TemporaryDirectory() as scratch:
            source = Path(scratch) / "model.onnx"
            for operator, version, _ in row_cases.rows():
                seed = zlib.crc32(operator.encode()) + version
                row_cases.random = numpy.random.default_rng(seed)
                for case in itertools.islice(row_cases.CASES[operator](version), 2):
                    name = f"{operator}-{version}-{case.label}"
                    if not self.chosen(name):
                        continue
                    onnx.save(case.model(operator, version), source)
                    self.check(name, source, case.feed(), transform_close if operator in ("DFT", "STFT") else close)
        self.report("rows")

    def patterns(self):
        for name, make in pass_models.MODELS.items():
            if not self.chosen(name):
                continue
            graph, model = make()
            work = self.suite.work / name
            shutil.rmtree(work, ignore_errors=True)
            work.mkdir(parents=True)
            onnx.save(model, work / "model.onnx")
            self.check(name, work / "model.onnx", graph.feed(), close)
            self.check_form(name, work, graph.left)
            shutil.rmtree(work)
        self.report("patterns")

    def check_form(self, name, work, left):
        """What is left of a model, that it is the same each time, and that the passes then rest."""
        for source, out in (("model", "once"), ("model", "twice"), ("once", "again")):
            step = self.normalize(work / f"{source}.onnx", work / f"{out}.onnx")
            if step.code != 0:
                self.suite.fail(f"{name}-form", f"{step.how()}: {harness.first_error(step.output)}",
                                step)
                return
        once, again = (onnx.load(work / f"{out}.onnx") for out in ("once", "again"))
        found = sorted(node.op_type for node in once.graph.node)
        if found != left:
            self.suite.fail(f"{name}-form", f"what is left is {found}, not {left}")
        elif (work / "once.onnx").read_bytes() != (work / "twice.onnx").read_bytes():
            self.suite.fail(f"{name}-form", "two runs give two models")
        elif contents(once) != contents(again):
            self.suite.fail(f"{name}-form", "the passes change what they have made")
        else:
            self.suite.ok()

    def networks(self):
        for name, make in {**networks.NETWORKS, **modern_networks.SMALL_NETWORKS}.items():
            if not self.chosen(name):
                continue
            network = make()
            work = self.suite.work / name
            shutil.rmtree(work, ignore_errors=True)
            work.mkdir(parents=True)
            onnx.save(network.model, work / "model.onnx")
            batch = network.batches[0]
            self.check(name, work / "model.onnx",
                       network.inputs(batch, numpy.random.default_rng(batch)), network_close)
            shutil.rmtree(work)
            self.report(name)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    parser.add_argument("--long", action="store_true", help="node tests of one node, too")
    tests = GraphPasses(parser.parse_args())
    tests.node_tests()
    tests.rows()
    tests.patterns()
    tests.networks()
    return tests.suite.close()


if __name__ == "__main__":
    sys.exit(main())
