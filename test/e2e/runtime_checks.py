#!/usr/bin/env python3
"""Sizes and values that are wrong only when a model runs: each must end in exit code 2 and one error
that names the node, the value and what it is held against; and right ones, given to the same
artefact, must give what ONNX Runtime gives."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import re
import sys

import numpy
import onnx
from onnx import TensorProto, numpy_helper

import harness
import reference
import row_cases  # noqa: F401  registers the checks of operators that have rows
from runtime_check import Check, all_checks, checks, tensor

SECONDS = 60
OFF = 1e-6  # how far a result may be from ONNX Runtime's, in parts of the largest one
USAGE = 2  # the exit code of docs/command-line.md
F32 = numpy.float32


@checks
def input_checks():
    """Of inputs themselves."""
    yield Check("one-name", "Add", [tensor("N"), tensor("N")], [[3], [3]],
                [([[3], [4]], "N")])
    yield Check("one-name-two-places", "Relu", [tensor("N", "N")], [[3, 3]], [([[3, 4]], "N")])
    yield Check("fixed-size", "Relu", [tensor("N", 4)], [[3, 4]], [([[3, 5]], "5")])
    yield Check("rank", "Relu", [tensor("N", 4)], [[3, 4]], [([[12]], "rank")])
    # No names of sizes: each is a size of its own.
    for name in ("?", "", "-1", "None"):
        yield Check(f"nameless-{name or 'empty'}", "Add", [tensor(name, 4), tensor(name, 4)],
                    [[3, 4], [1, 4]],
                    [([[3, 4], [2, 4]], "sizes 3 and 2 cannot be broadcast together")])


class RuntimeChecks:
    def __init__(self, options):
        self.options = options
        self.suite = harness.Suite("runtime-checks", options.build.resolve())

    def run_with(self, work, feed, files=()):
        command = [work / "model", f"--device={self.options.device}"]
        for name, array in feed.items():
            file = work / f"{name}.pb"
            file.write_bytes(numpy_helper.from_array(array).SerializeToString())
            command.append(f"--input={name}=@{file}")
        return harness.run([*command, *(f"--output={file.stem}=@{file}" for file in files)], SECONDS)

    def check_good(self, work, check, model):
        """(case, reason or nothing, steps, why nothing was compared)"""
        feed = dict(check.feeds(check.good))
        files = [work / f"{output.name}.pb" for output in model.graph.output]
        step = self.run_with(work, feed, files)
        if step.code:
            return check.label, f"{step.how()}: {harness.first_error(step.output)}", [step], ""
        wanted = reference.expected(model, feed)
        if isinstance(wanted, str):
            return check.label, "", [step], "ONNX Runtime gives no results: run alone"
        for file, right in zip(files, wanted):
            found = numpy_helper.to_array(TensorProto.FromString(file.read_bytes()))
            reason = reference.differs(file.stem, found, right)
            if not reason and right.dtype == F32 and right.size:
                apart = numpy.abs(found - right).max()
                if not apart <= OFF * numpy.abs(right).max():
                    reason = f"{file.stem} is off by {apart:.1e}"
            if reason:
                return check.label, reason, [step], ""
        return check.label, "", [step], ""

    def check(self, check):
        """[(case, reason or nothing, steps, why nothing was compared)]"""
        work = self.suite.work / check.label
        work.mkdir(exist_ok=True)
        model = check.model()
        onnx.save(model, work / "model.onnx")
        step = harness.run([self.suite.tool("cameoc"), work / "model.onnx", "-o", work / "model",
                            f"--target={self.options.target}"], SECONDS)
        if step.code:
            return [(check.label, f"cameoc: {harness.first_error(step.output)}", [step], "")]
        results = [self.check_good(work, check, model)]
        for number, (values, text) in enumerate(check.bad):
            step = self.run_with(work, dict(check.feeds(values)))
            errors = [line for line in step.output.splitlines() if "error: " in line]
            # What an input itself contradicts is said of the input; else of the node.
            where = r"input '\w'" if check.operator == "Relu" or check.label == "one-name" \
                else "node 'it'"
            reason = ""
            said = re.sub(r" \('\w+'\)", "", errors[0]) if errors else ""  # without names of sizes
            if step.code != USAGE:
                reason = f"{step.how()}, not {USAGE}"
            elif len(errors) != 1 or text not in said or not re.search(where, errors[0]):
                reason = f"'{text}' of {where} is not what the error says: {errors}"
            results.append((f"{check.label}-{number}", reason, [step], ""))
        return results

    def run(self):
        chosen = [check for check in all_checks() if re.search(self.options.filter, check.label)]
        for _, results in harness.for_each(chosen, self.check, self.options.jobs):
            for case, reason, steps, skipped in results:
                if reason:
                    self.suite.fail(case, reason, *steps)
                elif skipped:
                    self.suite.skip(skipped)
                else:
                    self.suite.ok(case)
        return self.suite.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    parser.set_defaults(target="sim:sm_80")
    return RuntimeChecks(parser.parse_args()).run()


if __name__ == "__main__":
    sys.exit(main())
