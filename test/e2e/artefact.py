"""A model compiled for the simulator, and run with arrays."""
# SPDX-License-Identifier: Apache-2.0
import numpy
import onnx
from onnx import helper, numpy_helper

import harness

SECONDS = 120


def model(name, nodes, inputs, outputs, weights, *, infos=(), opset=17):
    """`inputs` and `outputs`: (name, element type, sizes); `weights`: arrays by name."""
    value = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, name, [value(*given) for given in inputs],
                              [value(*given) for given in outputs],
                              [numpy_helper.from_array(array, key) for key, array in weights.items()],
                              value_info=[value(*given) for given in infos])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    made.ir_version = 8
    return made


class Artefact:
    """`step` is how cameoc ended. What is compiled for the simulator's checks runs with all of them."""

    def __init__(self, suite, case, made, *flags, seconds=SECONDS, target="sim:sm_80"):
        self.work, self.case, self.seconds = suite.work, case, seconds
        source = suite.work / f"{case}.onnx"
        self.path = suite.work / case
        onnx.save(made, source)
        self.outputs = [output.name for output in made.graph.output]
        self.checks = ["--sim-checks=all"] if any(flag.startswith("--sim-checks") for flag in flags) else []
        self.step = harness.run([suite.tool("cameoc"), source, "-o", self.path, f"--target={target}", "-j1",
                                 *flags], seconds)

    def run(self, feed):
        """How the run ended, or the compilation where that failed, and the outputs where all is well."""
        if self.step.code:
            return self.step, []
        command, files = [self.path, "--device=sim", *self.checks], []
        for name, array in feed.items():
            file = self.work / f"{self.case}.{name}.npy"
            numpy.save(file, array)
            command.append(f"--input={name}=@{file}")
        for number, name in enumerate(self.outputs):
            file = self.work / f"{self.case}.out{number}.npy"
            file.unlink(missing_ok=True)
            command.append(f"--output={name}=@{file}")
            files.append(file)
        step = harness.run(command, self.seconds)
        return step, [] if step.code else [numpy.load(file) for file in files]


def check_refusal(suite, case, made, text):
    """A model that cameoc refuses, for the reason in `text`."""
    step = Artefact(suite, case, made).step
    if step.code == 1 and text in step.output:
        suite.ok(case)
    else:
        suite.fail(case, f"{step.how()}; '{text}' is wanted", step)
