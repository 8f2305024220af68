#!/usr/bin/env python3
"""The text of every stage is read back as the module that it was, whatever a model calls its nodes, values,
weights and sizes: cameo-opt prints it again, and what cameoc makes of that computes the same bits.
cameo-reduce takes such models, too."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import sys

import numpy
import onnx
from onnx import TensorProto, helper

import harness
import reference
import small_models

SECONDS = 120
STAGES = ("imported", "normalized", "precision", "dispatched", "scheduled", "tiled", "device", "host")
TARGET = "--target=sim:sm_80"
TORCH = {"graph": "torch_jit", "size": "batch_size", "input": "input.1",
         "nodes": ("/conv1/Conv", "/layer1/layer1.0/relu/Relu", "/layer1/layer1.0/conv2/Conv",
                   "/layer1/layer1.0/Add", "/fc/Gemm"),
         "values": ("/conv1/Conv_output_0", "/layer1/layer1.0/relu/Relu_output_0",
                    "/layer1/layer1.0/conv2/Conv_output_0", "/layer1/layer1.0/Add_output_0", "492"),
         "weights": ("onnx::Conv_57", "layer1.0.conv2.weight", "fc.weight", "onnx::Conv_58")}
TENSORFLOW = {"graph": "main graph; \"1\"", "size": "unk__12 ", "input": "serving_default_input_1:0",
              "nodes": ("StatefulPartitionedCall/model/conv2d/Conv2D;StatefulPartitionedCall/bn/add:0",
                        "model/re_lu/Relu__31", "", "model/add \"sum\" \\ 1", "größe/名前\n\t#loc"),
              "values": ("StatefulPartitionedCall/model/conv2d/Conv2D;bn/add:0", "Relu:0", "c>d<%0",
                         "'a' \"b\"", "Identity:0"),
              # In keys of resources, the first and the second are the same.
              "weights": ("const_fold/read:0", "const_fold_read/0", "größe 重み", "7/bias:0")}


def network(names):
    """Conv, Relu, Conv, Add and Gemm, with weights that stand beside a text, and a bias that stands in it."""
    random = numpy.random.default_rng(5)
    first, second, last, bias = names["weights"]
    v, x = names["values"], names["input"]
    arrays = {first: small_models.normal(random, 16, 8, 3, 3) / 8,
              second: small_models.normal(random, 16, 16, 3, 3) / 12,
              last: small_models.normal(random, 256, 10) / 16, bias: small_models.normal(random, 16)}
    nodes = [helper.make_node("Conv", [x, first, bias], [v[0]], names["nodes"][0], pads=[1] * 4),
             helper.make_node("Relu", [v[0]], [v[1]], names["nodes"][1]),
             helper.make_node("Conv", [v[1], second], [v[2]], names["nodes"][2], pads=[1] * 4),
             helper.make_node("Add", [v[1], v[2]], [v[3]], names["nodes"][3]),
             helper.make_node("Flatten", [v[3]], ["flat " + v[3]]),
             helper.make_node("Gemm", ["flat " + v[3], last], [v[4]], names["nodes"][4])]
    size = names["size"]
    return small_models.build(names["graph"], nodes, [(x, TensorProto.FLOAT, [size, 8, 4, 4])],
                              [(v[4], TensorProto.FLOAT, [size, 10])], arrays)


class Texts:
    def __init__(self, options):
        self.suite = harness.Suite("stage-texts", options.build.resolve())
        self.cameoc, self.opt = self.suite.tool("cameoc"), self.suite.tool("cameo-opt")

    def step(self, case, folder, *command):
        """None where it fails, which has been said then."""
        step = harness.run(command, SECONDS, cwd=folder)
        if step.code:
            self.suite.fail(case, f"{step.how()}: {harness.first_error(step.output)}", step)
            return None
        return step

    def result(self, case, folder, artefact):
        """What it computes of x.npy; None where it fails."""
        output = folder / f"{artefact}.npy"
        output.unlink(missing_ok=True)
        done = self.step(case, folder, f"./{artefact}", "--device=sim", "--input=@x.npy",
                         f"--output=@{output.name}")
        return numpy.load(output) if done else None

    def check(self, name, names, precision):
        folder = self.suite.work / f"{name}-{precision}"
        folder.mkdir(exist_ok=True)
        made = network(names)
        onnx.save(made, folder / "model.onnx")
        x = small_models.normal(numpy.random.default_rng(6), 2, 8, 4, 4)
        numpy.save(folder / "x.npy", x)
        case = folder.name
        types = [f"--precision={precision}"] if precision != "fp32" else []
        if not self.step(case, folder, self.cameoc, "model.onnx", "-o", "model", TARGET, *types):
            return
        direct = self.result(case, folder, "model")
        if direct is None:
            return
        right = reference.expected(made, {names["input"]: x})[0]
        if abs(direct - right).max() > (1e-5 if precision == "fp32" else 1e-2) * abs(right).max():
            self.suite.fail(case, f"{abs(direct - right).max()} off")
        for number, stage in enumerate(STAGES):
            text = folder / f"{stage}.mlir"
            # Stage precision brings types: before or behind the text.
            is_early = number < STAGES.index("precision")
            before, behind = ([], types) if is_early else (types, [])
            case = f"{folder.name}-{stage}"
            if not self.step(case, folder, self.cameoc, "model.onnx", "-o", text.name, TARGET,
                             f"--stop-after={stage}", *before):
                continue
            if not self.step(case, folder, self.opt, text.name, "-o", f"{stage}.again.mlir"):
                continue
            if text.read_bytes() != (folder / f"{stage}.again.mlir").read_bytes():
                self.suite.fail(case, "cameo-opt prints another text")
                continue
            if not self.step(case, folder, self.cameoc, f"{stage}.again.mlir", "-o", f"by-{stage}",
                             TARGET, f"--start-from={stage}", *behind):
                continue
            result = self.result(case, folder, f"by-{stage}")
            if result is None:
                continue
            if result.tobytes() != direct.tobytes():
                self.suite.fail(case, f"another result, {abs(result - direct).max()} off")
            else:
                self.suite.ok(case)

    def reduce(self, name, names):
        """Down to the Relu, whose name does not matter."""
        case = f"reduce-{name}"
        folder = self.suite.work / case
        folder.mkdir(exist_ok=True)
        onnx.save(network(names), folder / "model.onnx")
        script = folder / "has-relu.sh"
        script.write_text(f"#!/bin/sh\n! {self.opt} $1 2> /dev/null | grep -q onnx.Relu\n")
        script.chmod(0o755)
        if not self.step(case, folder, self.cameoc, "model.onnx", "-o", "model.mlir",
                         "--stop-after=imported"):
            return
        if not self.step(case, folder, self.suite.tool("cameo-reduce"), "model.mlir", "-o", "small.mlir",
                         "--reduction-tree=traversal-mode=0 test=./has-relu.sh"):
            return
        small = (folder / "small.mlir").read_text()
        if small.count("= onnx.") != 1:
            self.suite.fail(case, f"it leaves {small}")
        else:
            self.suite.ok(case)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=harness.Path, default=harness.SOURCE / "build")
    texts = Texts(parser.parse_args())
    for name, names in (("torch", TORCH), ("tensorflow", TENSORFLOW)):
        texts.check(name, names, "fp32")
        texts.check(name, names, "fp16")
        texts.reduce(name, names)
    return texts.suite.close()


if __name__ == "__main__":
    sys.exit(main())
