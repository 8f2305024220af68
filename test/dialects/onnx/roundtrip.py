#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Import, then export: the node tests of the onnx package compute what they did before.

ONNX Runtime runs the original and the exported model on the test's inputs, or onnx's own evaluator where it
does not; inputs and outputs are compared by name.
"""
import argparse
import multiprocessing
import os
import pathlib
import sys
import tempfile

import numpy as np
import onnx

import models


def interface(graph):
    initialised = {t.name for t in graph.initializer}
    return ([v.name for v in graph.input if v.name not in initialised],
            [v.name for v in graph.output])


def check(converter, source, out):
    """Returns "run" or "structure"; raises Failed."""
    folder = source.parent
    before = onnx.load(source)
    converter.convert(source, out)
    after = onnx.load(out)
    if interface(before.graph) != interface(after.graph):
        raise models.Failed("inputs or outputs changed: %s" % (interface(after.graph),))
    versions = {o.domain: o.version for o in after.opset_import}
    if versions.get("") != 26 or after.ir_version != 13:
        raise models.Failed("exported as opset %s, IR %d" % (versions, after.ir_version))
    onnx.checker.check_model(after)
    try:
        feeds = {}
        initialised = {t.name for t in before.graph.initializer}
        for i, value in enumerate(v for v in before.graph.input if v.name not in initialised):
            if not (folder / "test_data_set_0").exists():
                shape = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
                feeds[value.name] = np.random.default_rng(1).standard_normal(shape, np.float32)
                continue
            feeds[value.name] = models.as_ort(
                models.load_value(folder / "test_data_set_0" / ("input_%d.pb" % i), value.type))
    except models.Failed:
        return "structure"  # no value of NumPy's
    try:
        expected, again, found = models.run_both(source, out, feeds)
    except models.NotRun:
        return "structure"
    # What differs between two runs of one model is random.
    for name, a, b, c in zip(interface(after.graph)[1], expected, again, found):
        if models.same(a, b) and not models.same(a, c):
            raise models.Failed("the output '%s' differs" % name)
    return "run"


def name_of(source):
    return source.stem if source.stem != "model" else source.parent.name


def start(translate, scratch):
    """What a process of the pool keeps from one model to the next."""
    global CONVERTER, OUT
    CONVERTER = models.Converter(translate)
    OUT = pathlib.Path(scratch) / ("out-%d.onnx" % os.getpid())


def work(source):
    """(name, outcome, problem)"""
    try:
        return name_of(source), check(CONVERTER, source, OUT), ""
    except Exception as error:
        return name_of(source), "", str(error)[:400]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--translate", default=models.TRANSLATE)
    parser.add_argument("--only", default="", help="a part of the names to test")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many at a time")
    args = parser.parse_args()
    data = pathlib.Path(onnx.__file__).parent / "backend" / "test" / "data"
    counts = {"run": 0, "structure": 0}
    failed = 0
    # The light models are whole networks, with constants for weights and no test data.
    sources = sorted(p for pattern in ("node/*/model.onnx", "simple/*/model.onnx",
                                       "pytorch-converted/*/model.onnx",
                                       "pytorch-operator/*/model.onnx", "light/*.onnx")
                     for p in data.glob(pattern))
    sources = [source for source in sources if args.only in name_of(source)]
    with tempfile.TemporaryDirectory() as scratch, \
            multiprocessing.Pool(args.jobs, start, (args.translate, scratch)) as pool:
        for name, outcome, problem in pool.imap_unordered(work, sources, chunksize=8):
            if problem:
                failed += 1
                print("FAILED %s: %s" % (name, problem))
            else:
                counts[outcome] += 1
    print("skipped %(structure)d: neither ONNX Runtime nor onnx's evaluator runs them; names, version and "
          "validity alone are as they should be" % counts)
    print("%d passed, %d failed, %d skipped" % (counts["run"], failed, counts["structure"]))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
