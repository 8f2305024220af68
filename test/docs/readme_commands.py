#!/usr/bin/env python3
"""The commands of README's block "Using it", in its order, as it has them: on a small model and with the
files that they name. One that asks for a GPU may end with 3 where there is none. Then its lines in Python and in C, on
the simulator, which must give what the executable gives. tools/run-demo, which README shows first, is judged by the
parts demo and first-run."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import os
import re
import sys
from pathlib import Path

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

SOURCE = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(SOURCE / "test" / "e2e"))
import harness  # noqa: E402  pylint: disable=wrong-import-position

SECONDS = 120
NO_DEVICE = 3  # the exit code of docs/command-line.md
SIZE, SAMPLES, CLASSES = 224, 16, 10
# README's lines are part of this. In C each call must return 0.
PYTHON = """\
import numpy
images = numpy.load("x.npy")
{lines}
numpy.save("python", scores)
"""
C = """\
#include <cameo.h>
#include <stdio.h>

static float x[3 * 224 * 224], y[10];

int main(void) {{
  cameo_model *model;
  cameo_context *context;
  CAMEO_INIT(cameo_device_options, gpu);
  CAMEO_INIT(cameo_model_options, options);
  CAMEO_INIT(cameo_binding, images);
  CAMEO_INIT(cameo_binding, scores);
  FILE *file = fopen("x.raw", "rb");
  gpu.kind = CAMEO_DEVICE_SIMULATOR;
  images.memory = scores.memory = CAMEO_MEMORY_HOST;
  images.data = x;
  images.bytes = fread(x, 1, sizeof x, file);
  scores.data = y;
  scores.bytes = sizeof y;
{lines}
  return fwrite(y, sizeof y, 1, stdout) != 1;
}}
"""
# It needs what a GPU has measured: here, the schedules that are chosen without.
PREPARE = {"--schedules=tuning.json": "build/bin/cameoc model.onnx --emit=schedules -o tuning.json "
                                      "--target=sm_90a:h200 --shapes=x:1x3x224x224"}


def model():
    """x: Nx3x224x224, y: Nx10; a convolution, a pool and a product."""
    random = numpy.random.default_rng(1)

    def weight(name, *shape):
        return numpy_helper.from_array(random.standard_normal(shape).astype(numpy.float32) / 4, name)
    nodes = [helper.make_node("Conv", ["x", "w"], ["c"], "conv", strides=[4, 4], pads=[1] * 4),
             helper.make_node("Relu", ["c"], ["r"], "relu"),
             helper.make_node("GlobalAveragePool", ["r"], ["p"], "pool"),
             helper.make_node("Flatten", ["p"], ["f"], "flatten"),
             helper.make_node("Gemm", ["f", "v"], ["y"], "product")]
    graph = helper.make_graph(
        nodes, "readme",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3, SIZE, SIZE])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", CLASSES])],
        [weight("w", 32, 3, 3, 3), weight("v", 32, CLASSES)])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    made.ir_version = 8
    return made


def commands():
    """(line number, command) of the block."""
    lines = (SOURCE / "README.md").read_text().splitlines()
    start = lines.index("```sh", lines.index("## Using it"))
    for number in range(start + 1, lines.index("```", start)):
        yield number + 1, re.sub(r"\s+#.*", "", lines[number])


def block(language):
    return re.search(rf"^```{language}\n(.*?)^```", (SOURCE / "README.md").read_text(), re.MULTILINE | re.DOTALL)[1]


def check_python(suite, environment):
    lines = block("python").replace("precision=", 'device="simulator", precision=')
    step = harness.run([sys.executable, "-c", PYTHON.format(lines=lines)], SECONDS, cwd=suite.work, env={
        **environment, "PYTHONPATH": str(suite.build / "python"), "PATH": f"{suite.build / 'bin'}:{os.environ['PATH']}"})
    if step.code:
        suite.fail("python", f"{step.how()}: {step.output.splitlines()[-1]}", step)
        return
    given, expected = numpy.load(suite.work / "python.npy"), numpy.load(suite.work / "y.npy")
    error = numpy.abs(given - expected).max() / numpy.abs(expected).max()
    if not error < 1e-2 or not (suite.work / "model.plan").exists():  # FP16
        suite.fail("python", f"differs from the executable's by {error} of the largest", step)
    else:
        suite.ok()


def check_c(suite):
    lines = re.sub(r"^(.*);$", r"  if (\1)\n    return 1;", block("c"), flags=re.MULTILINE)
    (suite.work / "lines.c").write_text(C.format(lines=lines))
    numpy.load(suite.work / "x.npy").tofile(suite.work / "x.raw")
    step = harness.run(["bash", "-c", f"clang-19 -std=c99 -Wall -Wextra -Werror -I {SOURCE}/runtime lines.c -o lines "
                        "-L build/lib -lcameo -Wl,-rpath,$PWD/build/lib && ./lines > y.raw"], SECONDS, cwd=suite.work)
    if step.code:
        suite.fail("c", f"{step.how()}: {harness.first_error(step.output)}", step)
    elif (suite.work / "y.raw").read_bytes() != numpy.load(suite.work / "y.npy").tobytes():
        suite.fail("c", "other bits than the executable's", step)
    else:
        suite.ok()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=SOURCE / "build")
    options = parser.parse_args()
    suite = harness.Suite("readme", options.build.resolve())
    work = suite.work
    (work / "build").symlink_to(options.build.resolve())
    onnx.save(model(), work / "model.onnx")
    random = numpy.random.default_rng(2)
    for name in ("images", "others"):
        numpy.savez(work / name, x=random.random((SAMPLES, 3, SIZE, SIZE), dtype=numpy.float32))
    numpy.save(work / "x", random.random((1, 3, SIZE, SIZE), dtype=numpy.float32))
    environment = {key: value for key, value in os.environ.items() if key != "CAMEO_STRICT"}
    for number, command in commands():
        if command.startswith("cmake --install"):
            suite.skip("what is installed is the part install's")
            continue
        for text, before in PREPARE.items():
            if text in command:
                step = harness.run(["bash", "-c", before], SECONDS, cwd=work, env=environment)
                if step.code:
                    suite.fail(f"before line {number}", harness.first_error(step.output), step)
        step = harness.run(["bash", "-c", command], SECONDS, cwd=work, env=environment)
        allowed = (0, NO_DEVICE) if "--device=cuda" in command else (0,)
        if step.code not in allowed:
            suite.fail(f"README.md:{number}", f"{step.how()}: {harness.first_error(step.output)}",
                       step)
        else:
            suite.ok()
    check_python(suite, environment)
    check_c(suite)
    return suite.close()


if __name__ == "__main__":
    sys.exit(main())
