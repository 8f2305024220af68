#!/usr/bin/env python3
"""Where ONNX's reference evaluator and ONNX Runtime differ: each row of
dialects/onnx/Differences.cpp has a case here. The two must differ as the row says, Cameo must follow whom it
says, and `cameoc --remarks` must speak of the node."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import re
import sys
import warnings

import numpy
import onnx
import onnx.reference
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import batch
import harness
import row_cases  # noqa: F401  registers the differences of operators that have rows
from difference import Difference, all_differences, differs, floats, ints, ramp

PAGE = harness.SOURCE / "docs" / "generated" / "differences.md"
onnxruntime.set_default_logger_severity(4)
warnings.filterwarnings("ignore")


@differs
def folded_differences():
    """Of operators that have no rows."""
    yield Difference("SplitToSequence, a scalar `split` of 1 with `keepdims` 0", "SplitToSequence",
                     [ramp(3, 2), numpy.array(1)], "onnxruntime", {"keepdims": 0}, joined=True)
    body = helper.make_graph(
        [helper.make_node("Add", ["v", "v"], ["doubled"]),
         helper.make_node("Constant", [], ["ends"], value=numpy_helper.from_array(numpy.array(False)))], "body",
        [helper.make_tensor_value_info("i", TensorProto.INT64, []), helper.make_tensor_value_info("c", TensorProto.BOOL, []),
         helper.make_tensor_value_info("v", TensorProto.FLOAT, [2])],
        [helper.make_tensor_value_info("ends", TensorProto.BOOL, []),
         helper.make_tensor_value_info("doubled", TensorProto.FLOAT, [2])])
    yield Difference("Loop without a condition, whose body yields one that is false", "Loop",
                     [ints(2), None, floats(1, 2)], [floats(4, 8)], {"body": body}, given=2)


def same(values, wanted):
    """Whether two lists of arrays, of which one may be an error's text, agree."""
    if isinstance(values, str) or isinstance(wanted, str):
        return False
    return all(value.shape == other.shape and value.dtype == other.dtype and
               (numpy.allclose(value, other, rtol=1e-4, atol=1e-5, equal_nan=True)
                if value.dtype.kind == "f" else numpy.array_equal(value, other))
               for value, other in zip(values, wanted, strict=True))


def attempt(run):
    try:
        with numpy.errstate(all="ignore"):
            return [numpy.asarray(value) for value in run()]
    except Exception as error:  # pylint: disable=broad-except
        return f"an error: {str(error)[:100]}"


class Differences:
    def __init__(self, options):
        self.options = options
        self.suite = harness.Suite("differences", options.build.resolve())
        self.runner = batch.Runner(self.suite, options)

    def judge(self, case, entry, remarks):
        """What is wrong, or None."""
        if entry.failure or entry.refusal:
            return entry.failure or f"refused: {entry.refusal}"
        if not isinstance(case.followed, str):
            if not same(entry.outputs, case.followed):
                return f"{entry.outputs}, not {case.followed}"
        elif not same(entry.outputs, entry.sides[case.followed]):
            return f"{entry.outputs}, not {case.followed}'s {entry.sides[case.followed]}"
        for name, values in entry.sides.items():
            if name != case.followed and same(entry.outputs, values):
                return f"is {name}'s result, too: the page says otherwise"
        if not remarks:
            return "cameoc --remarks says nothing of it"
        return None

    def run(self):
        chosen = [case for case in all_differences() if re.search(self.options.filter, case.row)]
        page = PAGE.read_text()
        groups = {}
        for number, case in enumerate(chosen):
            entry = batch.Entry(f"{number}-{case.operator}", case.model(), case.feed())
            bytes_of = entry.model.SerializeToString()
            entry.sides = {
                "reference": attempt(lambda: onnx.reference.ReferenceEvaluator(entry.model).run(
                    None, entry.feed)),
                "onnxruntime": attempt(lambda: onnxruntime.InferenceSession(bytes_of).run(
                    None, entry.feed))}
            known = next(values for values in (*entry.sides.values(), case.followed)
                         if not isinstance(values, str))
            for output, value in zip(entry.model.graph.output, known):
                output.CopyFrom(helper.make_tensor_value_info(
                    output.name, helper.np_dtype_to_tensor_dtype(value.dtype), None))
            groups.setdefault(case.opset, []).append((case, entry))
        for opset, members in groups.items():
            entries = [entry for _, entry in members]
            self.runner.run(f"opset-{opset}", entries)
            model = self.suite.work / f"{opset}.onnx"
            onnx.save(batch.merged(entries), model)
            step = harness.run([self.suite.tool("cameoc"), model, "--remarks",
                                "--stop-after=imported", "-o", model.with_suffix(".mlir")], 60)
            for at, (case, entry) in enumerate(members):
                remarks = re.findall(rf"^{at}/it: remark: .*\(docs/generated/differences\.md\)$", step.output,
                                     re.MULTILINE)
                reason = self.judge(case, entry, remarks)
                if f"\n| {case.row} |" not in page:
                    reason = "there is no such row"
                if reason:
                    self.suite.fail(f"{case.row}: {case.operator}", reason, *entry.steps, step)
                else:
                    self.suite.ok(case.row)
        table = re.findall(r"^\| (.*?) \|", page, re.MULTILINE)
        for row in set(table[1:]) - {case.row for case in all_differences()}:
            self.suite.fail(row, "is a row without a case here")
        return self.suite.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    parser.set_defaults(target="sim:sm_80")
    return Differences(parser.parse_args()).run()


if __name__ == "__main__":
    sys.exit(main())
