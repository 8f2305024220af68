#!/usr/bin/env python3
"""What `cmake --install` makes: a prefix that can be moved, whose cameoc compiles, against which the
pass plugin of examples/ (by the commands of its README), the program of examples/embed and a tool of
one's own build, and whose cameo-opt and cameoc run the plugin."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import os
import re
import shutil
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

import harness

SECONDS = 300
PLUGIN = harness.SOURCE / "examples" / "plugin"
COMPILERS = ("-G", "Ninja", "-DCMAKE_C_COMPILER=clang-19", "-DCMAKE_CXX_COMPILER=clang++-19")
EMBED = """\
cmake_minimum_required(VERSION 3.25)
project(Embed LANGUAGES C)
find_package(Cameo REQUIRED COMPONENTS Runtime)
add_executable(classify {source})
target_link_libraries(classify PRIVATE Cameo::cameo)
"""
TOOL = """\
cmake_minimum_required(VERSION 3.25)
project(Tool LANGUAGES C CXX)
find_package(Cameo REQUIRED)
add_executable(tool tool.cpp)
target_compile_options(tool PRIVATE -fno-rtti)
set_target_properties(tool PROPERTIES CXX_STANDARD 17)
target_link_libraries(tool PRIVATE Cameo::CameoCodegen)
"""
TOOL_CODE = """\
#include "codegen/Pipeline.h"

int main() {
  mlir::MLIRContext context;
  mlir::PassManager passes(&context);
  cameo::populateStage(passes, cameo::Stage::Scheduled, {});
  passes.printAsTextualPipeline(llvm::outs());
}
"""


# An artefact of the model gives its values.
RIGHT = ["--device=sim", "--input=@x.npy", "--expected_output=@y.npy"]
SIZE = 8
DIAGONAL = numpy.arange(1, SIZE + 1, dtype=numpy.float32)


def model(folder):
    """model.onnx: y = x @ diagonal / 4 @ identity; x.npy; y.npy; and samples.npz. Of its products INT8 takes
    the second, whose input the first one's kernel quantises."""
    samples = numpy.random.default_rng(4).integers(-32, 32, (16, SIZE)).astype(numpy.float32)
    numpy.savez(folder / "samples.npz", x=samples)
    numpy.save(folder / "x.npy", samples[:1])
    numpy.save(folder / "y.npy", samples[:1] * DIAGONAL / 4)
    weights = [numpy_helper.from_array(numpy.diag(DIAGONAL), "diagonal"),
               numpy_helper.from_array(numpy.eye(SIZE, dtype=numpy.float32), "identity"),
               numpy_helper.from_array(numpy.float32(4), "four")]
    nodes = [helper.make_node("MatMul", ["x", "diagonal"], ["product"], "scale"),
             helper.make_node("Div", ["product", "four"], ["quarter"], "by_four"),
             helper.make_node("MatMul", ["quarter", "identity"], ["y"], "same")]
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", SIZE]) for name in "xy")
    onnx.save(helper.make_model(helper.make_graph(nodes, "divisions", [x], [y], weights),
                                opset_imports=[helper.make_opsetid("", 21)]), folder / "model.onnx")


class Install:
    def __init__(self, build):
        self.suite = harness.Suite("install", build)
        self.folder = self.suite.work
        shutil.rmtree(self.folder)
        self.folder.mkdir()
        self.prefix = self.folder / "moved"

    def step(self, case, command, wanted=""):
        """Whether a command ends well and prints `wanted`."""
        step = harness.run(command, SECONDS, cwd=self.folder)
        if step.code != 0 or wanted not in step.output:
            self.suite.fail(case, f"{step.how()}: {harness.first_error(step.output)}; "
                                  f"wanted: {wanted!r}", step)
            return False
        return True

    def steps(self, case, *commands):
        if all(self.step(case, *command) for command in commands):
            self.suite.ok(case)
            return True
        return False

    def install(self):
        first = self.folder / "first"
        if not self.steps("install", [["cmake", "--install", self.suite.build, "--prefix", first]]):
            return False
        first.rename(self.prefix)
        return True

    def compile(self):
        self.steps("compile",
                   [[self.prefix / "bin" / "cameoc", "model.onnx", "-o", "model",
                     "--target=sim:sm_80"]],
                   [["./model", *RIGHT]])

    def build(self, case, source, target):
        folder = self.folder / case
        return self.steps(case,
                          [["cmake", "-S", source, "-B", folder, *COMPILERS,
                            f"-DCMAKE_PREFIX_PATH={self.prefix}"]],
                          [["cmake", "--build", folder, "--target", target]])

    def plugin(self):
        """The README's commands, with the lit of the tests; then the plugin's pass in INT8."""
        blocks = re.findall(r"```sh\n(.*?)```", (PLUGIN / "README.md").read_text(), re.DOTALL)
        for word, path in (("/opt/cameo", self.prefix), ("examples/plugin", PLUGIN),
                           ("build-plugin", self.folder / "plugin")):
            blocks = [block.replace(word, str(path)) for block in blocks]
        by_hand, in_compiler = blocks
        install, commands = by_hand.split("\n", 1)
        if not install.startswith("cmake --install build"):
            self.suite.fail("plugin", f"the README begins with {install!r}")
            return
        lit = harness.SOURCE / "build" / "venv" / "bin"
        environment = {**os.environ, "PATH": f"{lit}:{os.environ['PATH']}", "CMAKE_GENERATOR": "Ninja"}
        step = harness.run(["sh", "-ec", commands], SECONDS, cwd=self.folder, env=environment)
        wanted = ("Passed: 2", "onnx.Mul", 'loc("by_four")')
        missing = [text for text in wanted if text not in step.output]
        if step.code or missing:
            self.suite.fail("plugin", f"{step.how()}: {harness.first_error(step.output)}; missing: "
                                      f"{missing}", step)
            return
        self.suite.ok("plugin")
        if self.steps("plugin compiles INT8", [["sh", "-ec", in_compiler]],
                      [["./model", "--device=sim", "--input=@x.npy", "--output=@int8.npy"]]):
            wanted = numpy.load(self.folder / "y.npy")
            off = abs(numpy.load(self.folder / "int8.npy") - wanted).max() / abs(wanted).max()
            if 0 < off < 0.02:
                self.suite.ok("plugin in INT8")
            else:
                self.suite.fail("plugin in INT8", f"{off} off")
        # Between two stages: out of cameoc, through the plugin, back into it.
        cameoc = self.prefix / "bin" / "cameoc"
        self.steps("plugin between stages",
                   [[cameoc, "model.onnx", "-o", "n.mlir", "--stop-after=normalized"]],
                   [[self.prefix / "bin" / "cameo-opt", "n.mlir", "-o", "replaced.mlir",
                     f"--load-pass-plugin={self.folder / 'plugin' / 'ReplaceDivisions.so'}",
                     "--pass-pipeline=builtin.module(func.func(replace-divisions))"]],
                   [["grep", "by_four", "replaced.mlir"]],
                   [[cameoc, "replaced.mlir", "-o", "replaced", "--start-from=normalized",
                     "--target=sim:sm_80"]],
                   [["./replaced", *RIGHT]])

    def tool(self):
        source = self.folder / "tool-source"
        source.mkdir()
        (source / "CMakeLists.txt").write_text(TOOL)
        (source / "tool.cpp").write_text(TOOL_CODE)
        if self.build("tool", source, "tool"):
            self.steps("tool runs", [[self.folder / "tool" / "tool"], "cameo-pack-weights"])

    def embed(self):
        source = self.folder / "embed-source"
        source.mkdir()
        text = EMBED.format(source=harness.SOURCE / "examples" / "embed" / "classify.c")
        (source / "CMakeLists.txt").write_text(text)
        self.build("embed", source, "classify")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    options = parser.parse_args()
    tests = Install(options.build.resolve())
    if tests.install():
        model(tests.folder)
        tests.compile()
        tests.plugin()
        tests.tool()
        tests.embed()
    return tests.suite.close()


if __name__ == "__main__":
    sys.exit(main())
