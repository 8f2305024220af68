#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each (operator, version) row of the importer's table, against ONNX Runtime.

A row has models: hand-made ones in row_models.py where the operator changed since, and the onnx
package's node tests written down as that version where it did not. ONNX Runtime runs each model as
it is and as imported and exported. Also checks that the table has every row of the onnx package.
"""
import argparse
import multiprocessing
import os
import pathlib
import subprocess
import sys
import tempfile
import zlib

import numpy as np
import onnx
from onnx import defs, helper

import models
import row_models

# What node test models of one operator are tried for a row, at most.
TRIED = 12


def schemas():
    table = {}
    for schema in defs.get_all_schemas_with_history():
        if not schema.domain and schema.since_version <= 26:
            table[schema.name, schema.since_version] = schema
    return table


def expected_rows(table):
    """The versions of all opsets; what was removed or never final is none."""
    rows = set()
    for name in {n for n, _ in table}:
        versions = sorted(v for n, v in table if n == name)
        rows |= {(name, v) for v in versions
                 if (name, v) == ("Upsample", 1) or table[name, v].support_level.name != "EXPERIMENTAL"
                 and not (table[name, v].deprecated and (name, v) == ("Upsample", 10))}
    return rows


def node_tests():
    """The models of one node, by operator: (model, folder with its inputs)."""
    data = pathlib.Path(onnx.__file__).parent / "backend" / "test" / "data" / "node"
    found = {}
    for path in sorted(data.glob("*/model.onnx")):
        model = onnx.load(path)
        if len(model.graph.node) == 1 and model.graph.node[0].domain == "":
            found.setdefault(model.graph.node[0].op_type, []).append((model, path.parent))
    return found


# Operators that draw: with a seed, ONNX Runtime draws the same numbers for both models.
RANDOM = {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"}

# What values older versions do not have: operator, attribute, first version with it.
LATER_VALUES = {("Flatten", "axis"): (11, lambda value: value < 0),
                ("Pad", "mode"): (19, lambda value: value == b"wrap"),
                **{(name, "reduction"): (18, lambda value: value in (b"max", b"min"))
                   for name in ("ScatterElements", "ScatterND")}}


def as_version(model, schema):
    """The one-node model as of an older version, or None where that cannot say it."""
    out = onnx.ModelProto()
    out.CopyFrom(model)
    node = out.graph.node[0]
    for attribute in list(node.attribute):
        if attribute.name not in schema.attributes:
            return None
        first, is_later = LATER_VALUES.get((node.op_type, attribute.name), (0, None))
        if schema.since_version < first and is_later(helper.get_attribute_value(attribute)):
            return None
    if len(node.input) > schema.max_input or len(node.output) > schema.max_output:
        return None
    del out.opset_import[:]
    out.opset_import.append(helper.make_opsetid("", max(7, schema.since_version)))
    out.ir_version = 8
    return out


def feeds_of(model, folder):
    feeds = {}
    for i, value in enumerate(model.graph.input):
        path = folder / "test_data_set_0" / ("input_%d.pb" % i)
        feeds[value.name] = models.as_ort(models.load_value(path, value.type))
    return feeds


def check(converter, model, feeds, scratch):
    """"run", or "structure" where nothing runs the original; raises Failed."""
    node = model.graph.node[0]
    if node.op_type in RANDOM and not any(a.name == "seed" for a in node.attribute):
        node.attribute.append(helper.make_attribute("seed", 1.0))
    source, out = (scratch / ("%s-%d.onnx" % (end, os.getpid())) for end in ("in", "out"))
    source.write_bytes(model.SerializeToString())
    converter.convert(source, out)
    try:
        feeds = feeds() if callable(feeds) else feeds
    except models.Failed:
        return "structure"  # no value of NumPy's
    try:
        expected, again, found = models.run_both(source, out, feeds)
    except models.NotRun:
        return "structure"
    for a, b, c in zip(expected, again, found):
        if models.same(a, b) and not models.same(a, c):
            raise models.Failed("differs: %s and %s" % (str(a)[:80], str(c)[:80]))
    return "run"


class Rows:
    """What a process of the pool needs for a row."""

    def __init__(self, translate, scratch):
        self.converter, self.scratch = models.Converter(translate), pathlib.Path(scratch)
        self.table, self.tests = schemas(), node_tests()

    def candidates(self, name, version):
        # The same values in whatever order rows are taken.
        row_models.RNG = np.random.default_rng(zlib.crc32(name.encode()) + version)
        written = row_models.build(name, version)
        if written:
            return written
        older = [(as_version(model, self.table[name, version]), model, data)
                 for model, data in self.tests.get(name, [])]
        return [(old, lambda m=model, d=data: feeds_of(m, d))
                for old, model, data in older if old is not None]

    def check(self, name, version):
        """(outcome, problem)"""
        result = "none"
        for model, feeds in self.candidates(name, version)[:TRIED]:
            try:
                kind = check(self.converter, model, feeds, self.scratch)
            except Exception as error:
                return "", str(error)[:300]
            if kind == "run" or result == "none":
                result = kind
        return result, ""


def start(translate, scratch):
    global ROWS
    ROWS = Rows(translate, scratch)


def work(row):
    return row, *ROWS.check(*row)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--translate", default=models.TRANSLATE)
    parser.add_argument("--only", default="", help="a part of the operators' names")
    parser.add_argument("--verbose", action="store_true", help="list the rows that were not run")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many at a time")
    args = parser.parse_args()
    listed = subprocess.run([args.translate, "--list-onnx-operators"], capture_output=True,
                            text=True, check=True).stdout.split("\n")
    rows = {(n, int(v)) for n, v, _ in (line.split() for line in listed if line)}
    failed = 0
    for row in sorted(rows ^ expected_rows(schemas())):
        print("FAILED %s %d: %s" % (*row, "not in the table" if row not in rows else "unknown"))
        failed += 1
    counts = {"run": 0, "structure": 0, "none": 0}
    # Nothing runs what only models below opset 7 have; test/e2e/early_opsets.py compares it with numpy.
    early = {(n, v) for n, v in rows if any((n, later) in rows for later in range(v + 1, 8))}
    chosen = [row for row in sorted(rows - early) if args.only in row[0]]
    with tempfile.TemporaryDirectory() as scratch, \
            multiprocessing.Pool(args.jobs, start, (args.translate, scratch)) as pool:
        for (name, version), result, problem in pool.imap_unordered(work, chosen, chunksize=4):
            if problem:
                failed += 1
                print("FAILED %s %d: %s" % (name, version, problem))
                continue
            counts[result] += 1
            if args.verbose and result != "run":
                print("%s %d: %s" % (name, version, result))
    print("skipped %(structure)d: neither ONNX Runtime nor onnx's evaluator runs a model of the row\n"
          "without a model: %(none)d" % counts)
    print("%d passed, %d failed, %d skipped" % (counts["run"], failed, counts["structure"]))
    sys.exit(1 if failed or counts["none"] else 0)


if __name__ == "__main__":
    main()
