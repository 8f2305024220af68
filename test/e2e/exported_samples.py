#!/usr/bin/env python3
"""Small models of what networks are made of, as torch exports them (export_samples.py), with open sizes, branches and
loops: one artefact of each runs with inputs of two sizes, beside ONNX Runtime and what torch itself has computed."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import hashlib
import re
import sys
from pathlib import Path

import numpy
import onnxruntime
from onnx.reference import ReferenceEvaluator

import harness
import reference
from unedited_models import DEBIAN, EXPORT_SECONDS, Exports, run

EXPORTER = Path(__file__).resolve().parent / "export_samples.py"
COMPILE_SECONDS = 120
# Of these ONNX Runtime gives the number that stands for what is not set, where torch and onnx's evaluator give what is.
BY_EVALUATOR = {"passed_by"}
# torch sums in another order, and has FP32 in places where ONNX Runtime has more.
TORCH_OFF = 1e-4


class Samples(Exports):
    """What torch exports, kept in the build folder until a version or the exporter changes."""

    def __init__(self, suite):
        super().__init__(suite)
        self.folder, stamp = suite.build / "exported-samples", suite.build / "exported-samples.stamp"
        wanted = self.stamp + hashlib.sha256(EXPORTER.read_bytes()).hexdigest()
        if self.problem or stamp.exists() and stamp.read_text() == wanted:
            return
        step = harness.run([DEBIAN, EXPORTER, self.folder], EXPORT_SECONDS)
        if step.code:
            self.problem = f"not exported: {harness.first_error(step.output)}"
        else:
            stamp.write_text(wanted)


def load(path):
    with numpy.load(path) as arrays:
        return dict(arrays)


def differs(outputs, references, torchs):
    """Why results are not ONNX Runtime's, or none of torch's, or None."""
    for (name, right), theirs in zip(references.items(), torchs):
        if reason := reference.differs(name, outputs[name], right):
            return reason
        off = abs(outputs[name].astype(float) - theirs).max(initial=0)
        if off > TORCH_OFF * abs(theirs.astype(float)).max(initial=1):
            return f"{name} is off by {off:.1e} from torch's"
    return None


class Part:
    def __init__(self, options):
        self.options = options
        self.suite = harness.Suite("exported-samples", options.build.resolve())
        self.samples = Samples(self.suite)

    def check(self, name):
        """[(case, what is wrong, steps)] of each size."""
        source, artefact = self.samples.folder / f"{name}.onnx", self.suite.work / name / "model"
        artefact.parent.mkdir()
        step = harness.run([self.suite.tool("cameoc"), source, "-o", artefact, f"--target={self.options.target}", "-j1"],
                           COMPILE_SECONDS)
        if step.code:
            return [(name, f"{step.how()}: {harness.first_error(step.output)}", [step])]
        session, results = onnxruntime.InferenceSession(source), []
        evaluate = ReferenceEvaluator(str(source)).run if name in BY_EVALUATOR else session.run
        names = [output.name for output in session.get_outputs()]
        for file in sorted(self.samples.folder.glob(f"{name}-[0-9].npz")):
            arrays = load(file)
            torchs = [arrays.pop(f"result{number}") for number in range(len(names))]
            feed = {put.name: arrays[put.name] for put in session.get_inputs()}
            try:
                references = dict(zip(names, evaluate(names, feed)))
            except onnxruntime.capi.onnxruntime_pybind11_state.InvalidArgument as error:
                results.append((file.stem, f"ONNX Runtime: {error}", [step]))
                continue
            ran, outputs = run(artefact, feed, names)
            reason = differs(outputs, references, torchs) if outputs else f"{ran.how()}: {harness.first_error(ran.output)}"
            results.append((file.stem, reason, [step, ran]))
        return results

    def run(self):
        if self.samples.problem:
            self.suite.fail("export", self.samples.problem)
            return self.suite.close()
        names = sorted(path.stem for path in self.samples.folder.glob("*.onnx")
                       if re.search(self.options.filter, path.stem))
        for _, results in harness.for_each(names, self.check, self.options.jobs):
            for case, reason, steps in results:
                if reason:
                    self.suite.fail(case, reason, *steps)
                else:
                    self.suite.ok(case)
        print(f"{len(names)} models")
        return self.suite.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    parser.set_defaults(target="sim:sm_80")
    return Part(parser.parse_args()).run()


if __name__ == "__main__":
    sys.exit(main())
