#!/usr/bin/env python3
"""What `cmake --install` makes: a prefix that can be moved, whose cameoc compiles, against which the
pass plugin of examples/ (by the commands of its README), the program of examples/embed and a tool of
one's own build, whose cameo-opt and cameoc run the plugin, and whose CMake package compiles models into a program."""
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
find_package(Cameo 0.2 REQUIRED COMPONENTS Runtime)
add_executable(classify {source})
target_link_libraries(classify PRIVATE Cameo::{library})
"""
MODELS = """\
cmake_minimum_required(VERSION 3.25)
project(Models LANGUAGES CXX)
find_package(Cameo 0.2 REQUIRED COMPONENTS Runtime)
cameo_add_model(scale model.onnx TARGET sim:sm_80)
cameo_add_model(double doubled.onnx TARGET sim:sm_80 PRECISION fp16 SHAPES N:2 CACHE_DIR kernels OPTIONS --Werror)
cameo_add_model(count count.onnx TARGET sim:sm_80 STATE before:after)
add_executable(both both.cpp)
target_compile_features(both PRIVATE cxx_std_17)
target_link_libraries(both PRIVATE scale double count)
"""
# One model is called as a word of C++ is; its namespace has another name.
MODELS_CODE = """\
#include <count.hpp>
#include <cstdio>
#include <double.hpp>
#include <scale.hpp>

int main() {
  cameo::Device device = cameo::Device::simulator();
  scale::Context first{scale::Model(device)};
  model_double::Context second{model_double::Model(device)};
  std::vector<float> x(16, 4), y(16);
  first.set_N(2);
  first.bind_x(x);
  first.bind_y(y);
  first.run();
  second.bind_x(y);
  second.run();
  for (float value : second.read_y())
    std::printf("%g ", value);
  count::Context steps{count::Model(device)};
  std::vector<float> one(1, 1);
  steps.bind_x(one);
  steps.reserve_before(10);
  for (int i = 0; i < 3; ++i)
    steps.run();
  std::printf("%zu steps", steps.state_before().size());
}
"""
VERSION = """\
cmake_minimum_required(VERSION 3.25)
project(Version LANGUAGES NONE)
find_package(Cameo ${WANTED} REQUIRED COMPONENTS Runtime)
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
        """The example in C with the shared and the static runtime, and by pkg-config."""
        example = harness.SOURCE / "examples" / "embed" / "classify.c"
        run = ["sim", "model.plan", "x.raw", "N=1"]
        numpy.load(self.folder / "x.npy").tofile(self.folder / "x.raw")
        best = numpy.load(self.folder / "y.npy").argmax()
        wanted = f"y: 1 {SIZE} f32, largest at {best}\n"
        self.steps("plan", [[self.prefix / "bin" / "cameoc", "model.onnx", "-o", "model.plan", "--emit=plan",
                             "--target=sim:sm_80"]])
        for library in ("cameo", "cameo-static"):
            source = self.folder / f"{library}-source"
            source.mkdir()
            (source / "CMakeLists.txt").write_text(EMBED.format(source=example, library=library))
            if self.build(f"embed-{library}", source, "classify"):
                self.steps(f"{library} runs", [[self.folder / f"embed-{library}" / "classify", *run], wanted])
        needs = "libcameo.so.0" in harness.run(["ldd", self.folder / "embed-cameo" / "classify"], SECONDS).output
        needs_static = "libcameo" in harness.run(["ldd", self.folder / "embed-cameo-static" / "classify"],
                                                 SECONDS).output
        self.expect("needed libraries", needs and not needs_static, f"libcameo.so.0 {needs}, {needs_static}")
        flags = "$(pkg-config --cflags --libs cameo)"
        self.steps("pkg-config", [["sh", "-c", f"PKG_CONFIG_PATH={self.prefix}/lib/pkgconfig; export PKG_CONFIG_PATH; "
                                   f"clang-19 {example} -o classify {flags} -Wl,-rpath,{self.prefix}/lib"]],
                   [["./classify", *run], wanted])

    def versions(self):
        """What find_package takes, as docs/versions.md says."""
        source = self.folder / "version-source"
        source.mkdir()
        (source / "CMakeLists.txt").write_text(VERSION)
        major, minor = map(int, re.findall(r"\d+", harness.run([self.prefix / "bin" / "cameoc", "--version"],
                                                               SECONDS).output)[:2])
        for wanted, holds in {f"{major}.{minor}": True, f"{major}.{minor}.0": True, f"{major}.{minor}.99": False,
                              f"{major}.{minor - 1}": major > 0, f"{major}.{minor + 1}": False}.items():
            step = harness.run(["cmake", "-S", source, "-B", self.folder / f"version-{wanted}", f"-DWANTED={wanted}",
                                f"-DCMAKE_PREFIX_PATH={self.prefix}"], SECONDS)
            self.expect(f"version {wanted}", (step.code == 0) == holds, step.output[-300:])

    def models(self):
        """Three models in one program, one of which keeps a state, and whose build system knows what they were made of."""
        source, folder = self.folder / "models-source", self.folder / "models"
        source.mkdir()
        (source / "CMakeLists.txt").write_text(MODELS)
        (source / "both.cpp").write_text(MODELS_CODE)
        first = onnx.load(self.folder / "model.onnx")
        doubled = onnx.ModelProto()
        doubled.CopyFrom(first)
        doubled.graph.initializer[2].CopyFrom(numpy_helper.from_array(numpy.float32(2), "four"))
        onnx.save(doubled, source / "doubled.onnx")
        count = helper.make_graph([helper.make_node("Concat", ["before", "x"], ["after"], axis=0)], "count",
                                  [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1]),
                                   helper.make_tensor_value_info("before", TensorProto.FLOAT, ["held"])],
                                  [helper.make_tensor_value_info("after", TensorProto.FLOAT, None)])
        onnx.save(helper.make_model(count, opset_imports=[helper.make_opsetid("", 21)]), source / "count.onnx")
        onnx.save(first, source / "model.onnx", save_as_external_data=True, location="weights", size_threshold=0)
        # Four times the diagonal / 4, times the diagonal / 2.
        wanted = "".join(f"{value:g} " for value in [*DIAGONAL * DIAGONAL / 2] * 2) + "3 steps"
        if not self.build("models", source, "both"):
            return
        self.steps("models run", [[folder / "both"], wanted])
        build = ["cmake", "--build", folder]
        step = harness.run(build, SECONDS, cwd=self.folder)
        self.expect("models stay", step.code == 0 and "Compiling" not in step.output, step.output[-500:])
        (source / "weights").write_bytes((source / "weights").read_bytes())
        step = harness.run(build, SECONDS, cwd=self.folder)
        self.expect("weights change", "Compiling scale" in step.output and "Compiling double" not in step.output,
                    step.output[-500:])
        self.steps("models anew", [[folder / "both"], wanted])
        self.replaced_compiler(build)

    def replaced_compiler(self, build):
        """A compiler, or the library that models begin with, of which the new one is older than the models."""
        for name in ("bin/cameoc", "lib/cameo/libcameo-model.so"):
            file = self.prefix / name
            times = file.stat()
            for case, time in {"older": 1e9, "as before": times.st_mtime}.items():
                os.utime(file, (time, time))
                self.steps(f"{name} {case}", [build, "Compiling scale"])
        step = harness.run(build, SECONDS, cwd=self.folder)
        self.expect("compiler stays", step.code == 0 and "Compiling" not in step.output, step.output[-500:])

    def expect(self, case, holds, reason):
        if holds:
            self.suite.ok(case)
        else:
            self.suite.fail(case, reason)


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
        tests.versions()
        tests.models()
    return tests.suite.close()


if __name__ == "__main__":
    sys.exit(main())
