#!/usr/bin/env python3
"""The commands of README's block "Using it", in its order, as it has them: on a small model and with the
files that they name. One that asks for a GPU may end with 3 where there is none. tools/run-demo, which
README shows first, is judged by the parts demo and first-run."""
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
SIZE, SAMPLES = 224, 16
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
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 10])],
        [weight("w", 32, 3, 3, 3), weight("v", 32, 10)])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    made.ir_version = 8
    return made


def commands():
    """(line number, command) of the block."""
    lines = (SOURCE / "README.md").read_text().splitlines()
    start = lines.index("```sh", lines.index("## Using it"))
    for number in range(start + 1, lines.index("```", start)):
        yield number + 1, re.sub(r"\s+#.*", "", lines[number])


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
    return suite.close()


if __name__ == "__main__":
    sys.exit(main())
