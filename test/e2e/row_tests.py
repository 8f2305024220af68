#!/usr/bin/env python3
"""Every (operator, version) of the import table: small models with it, compiled, run and compared
with ONNX Runtime; where its CPU lacks the version or type, with onnx's reference evaluator. One artefact
is run plainly and with all checks, whose kernels run warp by warp and thread by thread; one of -O0 gives
the same bits."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import itertools
import re
import sys
import zlib

import numpy
from onnx import helper

import attribute_faults
import batch
import harness
import reference
import row_cases
from operator_table import ROWS


class RowTests:
    def __init__(self, options):
        self.options = options
        self.suite = harness.Suite("rows", options.build.resolve())
        self.runner = batch.Runner(self.suite, options)

    def rows(self):
        """(operator, version, [(name, case)]); the same values whatever is filtered. Definitions
        between the oldest and the newest mostly add types: three cases do, unless --long."""
        for operator, version, complete in row_cases.rows():
            row_cases.random = numpy.random.default_rng(zlib.crc32(operator.encode()) + version)
            limit = None if complete or self.options.long else 3
            cases = [(f"{operator}-{version}-{case.label}", case) for case in
                     itertools.islice(row_cases.CASES[operator](version), limit)]
            cases = [(name, case) for name, case in cases
                     if re.search(self.options.filter, name)]
            if cases:
                yield operator, version, cases

    def check(self, row):
        """[(name, reason, steps)]: no reason where all is well."""
        operator, version, cases = row
        results, entries, wanted = [], [], {}
        for name, case in cases:
            model, feed = case.model(operator, version), case.feed()
            references = reference.expected(model, feed)
            if isinstance(references, str):
                results.append((name, references, []))
                continue
            for output, value in zip(model.graph.output, references):
                output.CopyFrom(helper.make_tensor_value_info(
                    output.name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape))
            entries.append(batch.Entry(name, model, feed))
            wanted[name] = references
        self.runner.run(f"{operator}-{version}", entries)
        return results + [(entry.label, batch.judge(entry, wanted[entry.label]), entry.steps)
                          for entry in entries]

    def check_completeness(self):
        """Every row of the importer's table whose operator is claimed has a case."""
        listed = harness.run([self.suite.tool("cameo-translate"), "--list-onnx-operators"], 60)
        table = {(name, int(version)) for name, version, _ in
                 (line.split() for line in listed.output.splitlines())}
        # What only models below opset 7 have early_opsets.py runs.
        early = {(name, version) for name, version in table
                 if any((name, later) in table for later in range(version + 1, 8))}
        wanted = {row for row in table - early if row[0] in ROWS}
        have = {(name, version) for name, version, _ in row_cases.rows()
                if any(True for _ in row_cases.CASES[name](version))}
        for name, version in sorted(wanted - have):
            self.suite.fail(f"{name}-{version}", "row_cases.py has no case of this row")
        for name, version in sorted(have - wanted):
            self.suite.fail(f"{name}-{version}", "is not a row of a claimed operator")
        if wanted == have:
            self.suite.ok("completeness")
        lacking, unknown = attribute_faults.missing(), attribute_faults.unknown()
        for operator, name in lacking:
            self.suite.fail(f"{operator}-{name}", "attribute_mutants.txt does not have it: attribute_faults.py adds it")
        for operator, name in unknown:
            self.suite.fail(f"{operator}-{name}", "is in attribute_mutants.txt, and not in operators.txt or the schema")
        faults = lacking + unknown
        if not faults:
            self.suite.ok("faults")

    def run(self):
        self.check_completeness()
        rows = list(self.rows())
        for _, results in harness.for_each(rows, self.check, self.options.jobs):
            for name, reason, steps in results:
                if reason:
                    self.suite.fail(name, reason, *steps)
                else:
                    self.suite.ok(name)
        print(f"{len(rows)} rows of the import table")
        if self.options.every_way and not self.options.filter:
            self.runner.reordered.print_unneeded()
        return self.suite.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    parser.set_defaults(every_way=True)
    parser.add_argument("--long", action="store_true", help="every case of every version")
    return RowTests(parser.parse_args()).run()


if __name__ == "__main__":
    sys.exit(main())
