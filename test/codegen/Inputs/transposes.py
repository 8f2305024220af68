"""Random transpositions in one model, of every size of element and any rank, half of them with
elementwise work and other operands: compared with numpy, with all of the simulator's checks.

transposes.py CAMEOC FOLDER: prints how many dispatches the class `transpose` takes, and what is wrong.
"""
# SPDX-License-Identifier: Apache-2.0
import random
import re
import subprocess
import sys
from pathlib import Path

import numpy
from onnx import helper, save

TYPES = ["float32", "float32", "float16", "float64", "int8", "uint8", "int32", "int64", "bool"]
SIZES = [1, 2, 3, 4, 7, 8, 14, 16, 24, 31, 33, 64, 100, 130]
COUNT = 32


def shape_of(choose, size):
    """Of 16 to 160 KiB in all."""
    while True:
        shape = [choose.choice(SIZES) for _ in range(choose.randint(2, 4))]
        if 16 << 10 <= numpy.prod(shape) * size <= 160 << 10:
            return shape


def values(choose, kind, shape):
    numbers = numpy.random.default_rng(choose.randrange(1 << 30)).integers(0, 100, shape)
    return numbers.astype(kind)


class Graph:
    def __init__(self):
        self.nodes, self.inputs, self.outputs = [], [], []
        self.feeds, self.wanted = {}, {}

    def take(self, name, array, symbolic):
        dims = [f"{name}_n"] + list(array.shape[1:]) if symbolic else list(array.shape)
        kind = helper.np_dtype_to_tensor_dtype(array.dtype)
        self.inputs.append(helper.make_tensor_value_info(name, kind, dims))
        self.feeds[name] = array
        return name

    def add(self, number, choose):
        kind = choose.choice(TYPES)
        shape = shape_of(choose, numpy.dtype(kind).itemsize)
        perm = list(range(len(shape)))
        choose.shuffle(perm)
        symbolic = number % 4 == 3
        x = values(choose, kind, shape)
        y, name = x.transpose(perm), f"y{number}"
        names = [self.take(f"x{number}", x, symbolic)]
        turned = name if kind == "bool" or choose.random() < 0.5 else f"t{number}"
        self.nodes.append(helper.make_node("Transpose", names, [turned], perm=perm))
        if turned != name:
            # Of the result's order, and one for each of its last dimension.
            bias = values(choose, kind, y.shape[-1:])
            rest = values(choose, kind, y.shape)
            self.nodes.append(helper.make_node(
                "Add", [turned, self.take(f"b{number}", bias, False)], [f"s{number}"]))
            self.nodes.append(helper.make_node(
                "Sub", [f"s{number}", self.take(f"r{number}", rest, False)], [name]))
            y = y + bias - rest
        if number % 4 == 0:
            # A part of a concatenation, beside another that is made the same way.
            axis = choose.randrange(len(shape))
            other = values(choose, kind, shape)
            self.nodes.append(helper.make_node(
                "Transpose", [self.take(f"z{number}", other, False)], [f"o{number}"], perm=perm))
            self.nodes.append(helper.make_node("Concat", [name, f"o{number}"], [f"c{number}"],
                                               axis=axis))
            y, name = numpy.concatenate([y, other.transpose(perm)], axis), f"c{number}"
        self.outputs.append(helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(y.dtype), None))
        self.wanted[name] = y


cameoc, folder = sys.argv[1], Path(sys.argv[2])
folder.mkdir(parents=True, exist_ok=True)
graph = Graph()
for i in range(COUNT):
    graph.add(i, random.Random(i))
save(helper.make_model(helper.make_graph(graph.nodes, "g", graph.inputs, graph.outputs),
                       opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
     folder / "model.onnx")
done = subprocess.run([cameoc, folder / "model.onnx", "-o", folder / "model",
                       "-O1",  # -O2 gives small ones one launch, of class `map`
                       "--target=sim:sm_80", "--sim-checks", "--remarks"],
                      check=True, stderr=subprocess.PIPE, text=True)
command = [folder / "model", "--device=sim", "--sim-checks=all"]
for key, array in graph.feeds.items():
    numpy.save(folder / f"{key}.npy", array)
    command.append(f"--input={key}=@{folder / key}.npy")
command += [f"--output={key}=@{folder / key}.npy" for key in graph.wanted]
subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
wrong = [key for key, wanted in graph.wanted.items()
         if numpy.load(folder / f"{key}.npy").tobytes() != wanted.tobytes()]
taken = len(re.findall(r'#kernel.schedule<"transpose"', done.stderr))
print(f"{taken} dispatches by tiles, wrong: {', '.join(wrong) or 'none'}")
