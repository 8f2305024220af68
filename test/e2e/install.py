#!/usr/bin/env python3
"""What `cmake --install` makes: a prefix that can be moved, whose cameoc compiles, against which the
pass plugin of examples/, the program of examples/embed and a tool of one's own build, and whose
cameo-opt loads the plugin."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import shutil
import sys

import onnx
from onnx import TensorProto, helper

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


def model(path):
    """y = x / 4 / 3."""
    four, three = (helper.make_tensor(name, TensorProto.FLOAT, [], [value])
                   for name, value in (("four", 4.0), ("three", 3.0)))
    nodes = [helper.make_node("Div", ["x", "four"], ["quarter"], "by_four"),
             helper.make_node("Div", ["quarter", "three"], ["y"], "by_three")]
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N"]) for name in "xy")
    onnx.save(helper.make_model(helper.make_graph(nodes, "divisions", [x], [y], [four, three]),
                                opset_imports=[helper.make_opsetid("", 21)]), path)


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
                   [["./model", "--device=sim", "--input=x=2xf32=12 24"], "2xf32=1 2"])

    def build(self, case, source, target):
        folder = self.folder / case
        return self.steps(case,
                          [["cmake", "-S", source, "-B", folder, *COMPILERS,
                            f"-DCMAKE_PREFIX_PATH={self.prefix}"]],
                          [["cmake", "--build", folder, "--target", target]])

    def plugin(self):
        if not self.build("plugin", PLUGIN, "ReplaceDivisions"):
            return
        opt = [self.prefix / "bin" / "cameo-opt",
               f"--load-pass-plugin={self.folder / 'plugin' / 'ReplaceDivisions.so'}",
               "--pass-pipeline=builtin.module(func.func(replace-divisions))"]
        step = harness.run([*opt, PLUGIN / "divisions.mlir"], SECONDS)
        if step.code != 0 or step.output.count("onnx.Mul") != 1 or (
                step.output.count("onnx.Div") != 1):
            self.suite.fail("plugin runs", f"{step.how()}: {step.output}", step)
        else:
            self.suite.ok("plugin runs")
        # Between two stages: out of cameoc, through the plugin, back into it.
        cameoc = self.prefix / "bin" / "cameoc"
        self.steps("plugin between stages",
                   [[cameoc, "model.onnx", "-o", "n.mlirbc", "--stop-after=normalized"]],
                   [[*opt, "n.mlirbc", "--emit-bytecode", "-o", "replaced.mlirbc"]],
                   [[cameoc, "replaced.mlirbc", "-o", "replaced", "--start-from=normalized",
                     "--target=sim:sm_80"]],
                   [["./replaced", "--device=sim", "--input=x=2xf32=12 24"], "2xf32=1 2"])

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
        model(tests.folder / "model.onnx")
        tests.compile()
        tests.plugin()
        tests.tool()
        tests.embed()
    return tests.suite.close()


if __name__ == "__main__":
    sys.exit(main())
