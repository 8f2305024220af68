#!/usr/bin/env python3
"""Every (operator, version) of the import table: small models with it, compiled, run and compared
with ONNX Runtime; where its CPU lacks the version or type, with onnx's reference evaluator."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import itertools
import re
import shutil
import sys
import zlib

import numpy
import onnx
import onnx.reference
import onnxruntime
from onnx import helper

import harness
import row_cases

SECONDS = 60
# f16: four units in the last place; see node_tests.py.
TOLERANCES = {"float16": (4e-3, 1e-3), "float32": (1e-3, 1e-5), "float64": (1e-3, 1e-7)}
onnxruntime.set_default_logger_severity(4)


def expected(model, feed):
    """The reference outputs, or the reason why there are none."""
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString())
        return session.run(None, feed)
    except Exception as missing:  # pylint: disable=broad-except
        try:
            return onnx.reference.ReferenceEvaluator(model).run(None, feed)
        except Exception as error:  # pylint: disable=broad-except
            return f"no reference: {missing}; {error}"


def differs(name, value, reference):
    if value.dtype != reference.dtype or value.shape != reference.shape:
        return (f"{name} is {value.dtype} {value.shape}, "
                f"not {reference.dtype} {reference.shape}")
    rtol, atol = TOLERANCES.get(reference.dtype.name, (0, 0))
    with numpy.errstate(all="ignore"):
        if numpy.allclose(value, reference, rtol=rtol, atol=atol, equal_nan=True):
            return None
        error = numpy.abs(value.astype(float) - reference.astype(float)).max()
    return f"{name}: largest difference {error:.3e}"


class RowTests:
    def __init__(self, options):
        self.options = options
        self.suite = harness.Suite("rows", options.build.resolve())
        self.cameoc = self.suite.tool("cameoc")

    def cases(self):
        """(name, operator, version, case); the same values whatever is filtered. Definitions between
        the oldest and the newest mostly add types: three cases do, unless --long."""
        for operator, version, complete in row_cases.rows():
            row_cases.random = numpy.random.default_rng(zlib.crc32(operator.encode()) + version)
            limit = None if complete or self.options.long else 3
            for case in itertools.islice(row_cases.CASES[operator](version), limit):
                name = f"{operator}-{version}-{case.label}"
                if re.search(self.options.filter, name):
                    yield name, operator, version, case

    def check(self, entry):
        """(reason, steps): no reason where all is well."""
        name, operator, version, case = entry
        model, feed = case.model(operator, version), case.feed()
        references = expected(model, feed)
        if isinstance(references, str):
            return references, []
        references = [numpy.asarray(reference) for reference in references]
        for output, reference in zip(model.graph.output, references):
            output.CopyFrom(helper.make_tensor_value_info(
                output.name, helper.np_dtype_to_tensor_dtype(reference.dtype), reference.shape))
        work = self.suite.work / name
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        onnx.save(model, work / "model.onnx")
        steps = [harness.run([self.cameoc, work / "model.onnx", "-o", work / "model",
                              f"--target={self.options.target}",
                              f"--report={work / 'report.json'}"], SECONDS)]
        if steps[0].code != 0:
            return f"cameoc: {harness.first_error(steps[0].output)}", steps
        if reason := harness.gate(work / "report.json"):
            return reason, steps
        command = [work / "model", f"--device={self.options.device}"]
        for key, array in feed.items():
            numpy.save(work / f"{key}.npy", array)
            command.append(f"--input={key}=@{work / key}.npy")
        command += [f"--output={output.name}=@{work / output.name}.npy"
                    for output in model.graph.output]
        steps.append(harness.run(command, SECONDS))
        if steps[1].code != 0:
            return f"{steps[1].how()}: {harness.first_error(steps[1].output)}", steps
        for output, reference in zip(model.graph.output, references):
            reason = differs(output.name, numpy.load(work / f"{output.name}.npy"), reference)
            if reason:
                return reason, steps
        shutil.rmtree(work)
        return None, steps

    def run(self):
        rows = set()
        for (name, operator, version, _), (reason, steps) in harness.for_each(
                self.cases(), self.check, self.options.jobs):
            rows.add((operator, version))
            if reason:
                self.suite.fail(name, reason, *steps)
            else:
                self.suite.ok(name)
        print(f"{len(rows)} rows of the import table")
        return self.suite.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    parser.add_argument("--long", action="store_true", help="every case of every version")
    return RowTests(parser.parse_args()).run()


if __name__ == "__main__":
    sys.exit(main())
