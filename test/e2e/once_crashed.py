#!/usr/bin/env python3
"""Models that crashed the compiler, or could not be read back: each compiled at every level with memory that is
freed overwritten, and run on the simulator beside ONNX Runtime."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import os
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

import harness
import reference

SECONDS = 120
OPSET = 17
# Freed and fresh memory holds this byte and its complement, so that what is read behind its life is
# no address.
TOLERANCE = {"fp32": 1e-5, "fp16": 1e-2}  # of the largest magnitude, 1 at least
ENVIRONMENT = {**os.environ, "MALLOC_PERTURB_": "165"}


def random(seed, *shape):
    return numpy.random.default_rng(seed).standard_normal(shape).astype(numpy.float32)


def model(name, nodes, inputs, outputs, weights):
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        [helper.make_node(kind, *rest[:2], f"{kind}_{i}", **(rest[2] if len(rest) > 2 else {}))
         for i, (kind, *rest) in enumerate(nodes)], name,
        [value(key, TensorProto.FLOAT, shape) for key, shape in inputs],
        [value(key, TensorProto.FLOAT, shape) for key, shape in outputs],
        [numpy_helper.from_array(array, key) for key, array in weights.items()])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)])
    made.ir_version = 8
    return made


def merged_twice():
    """Products of one value, whose results have products of one value each: what the first group becomes
    is what the others read."""
    nodes, weights = [], {}
    for name, source in (("a", "x"), ("b", "x"), ("c", "a"), ("d", "a"), ("e", "b"), ("f", "b")):
        weights[f"w{name}"] = random(ord(name), 16, 16)
        nodes.append(("MatMul", [source, f"w{name}"], [name]))
    return model("merged_twice", nodes, [("x", ["N", 16])],
                 [(name, ["N", 16]) for name in "cdef"], weights), {"x": random(1, 8, 16)}


def shuffled():
    """Channels shuffled in front of a grouped convolution, of any batch: a collapse whose sizes are open."""
    weights = {"w": random(1, 12, 2, 3, 3), "to": numpy.array([-1, 2, 6, 6, 6], numpy.int64),
               "back": numpy.array([-1, 12, 6, 6], numpy.int64)}
    return model("shuffled", [("Reshape", ["x", "to"], ["a"]),
                              ("Transpose", ["a"], ["b"], {"perm": [0, 2, 1, 3, 4]}),
                              ("Reshape", ["b", "back"], ["c"]),
                              ("Conv", ["c", "w"], ["y"], {"group": 6, "pads": [1, 1, 1, 1]})],
                 [("x", ["N", 12, 6, 6])], [("y", ["N", 12, "H", "W"])],
                 weights), {"x": random(2, 2, 12, 6, 6)}


def greatest_step():
    """A slice whose step is the greatest number that there is."""
    weights = {"start": numpy.array([1], numpy.int64), "end": numpy.array([9], numpy.int64),
               "axis": numpy.array([1], numpy.int64),
               "step": numpy.array([numpy.iinfo(numpy.int64).max], numpy.int64)}
    return model("greatest_step", [("Slice", ["x", "start", "end", "axis", "step"], ["a"]),
                                   ("Relu", ["a"], ["y"])],
                 [("x", [3, 9])], [("y", [3, 1])], weights), {"x": random(3, 3, 9)}


def filled(shape, name, value):
    """A node that makes a tensor of equal elements."""
    return ("ConstantOfShape", [shape], [name],
            {"value": numpy_helper.from_array(numpy.array([value], numpy.float32), "value")})


def equal_weights():
    """Weights of equal elements, which nothing reads from memory, in a product of few rows."""
    weights = {"shape": numpy.array([2048, 1000], numpy.int64), "b": random(5, 1000)}
    return model("equal_weights", [filled("shape", "w", 0.01), ("Gemm", ["x", "w", "b"], ["y"])],
                 [("x", [1, 2048])], [("y", [1, 1000])], weights), {"x": random(6, 1, 2048)}


def equal_both():
    """A product both of whose operands have equal elements."""
    weights = {"rows": numpy.array([16, 128], numpy.int64), "columns": numpy.array([128, 256], numpy.int64)}
    return model("equal_both", [filled("rows", "a", 3), filled("columns", "b", 0.5),
                                ("MatMul", ["a", "b"], ["c"]), ("Add", ["c", "x"], ["y"])],
                 [("x", [16, 256])], [("y", [16, 256])], weights), {"x": random(7, 16, 256)}


def equal_filters():
    """A convolution whose filters have equal elements, of one image."""
    weights = {"shape": numpy.array([64, 32, 3, 3], numpy.int64)}
    return model("equal_filters", [filled("shape", "w", 0.02),
                                   ("Conv", ["x", "w"], ["y"], {"pads": [1, 1, 1, 1]})],
                 [("x", [1, 32, 8, 8])], [("y", [1, 64, 8, 8])], weights), {"x": random(8, 1, 32, 8, 8)}


def no_images():
    """A convolution and a product of no images, which tiles are not made for."""
    weights = {"w": random(9, 8, 1, 3, 3), "m": random(10, 8, 4)}
    return model("no_images", [("Conv", ["x", "w"], ["a"], {"pads": [1, 1, 1, 1]}),
                               ("GlobalAveragePool", ["a"], ["b"]), ("Flatten", ["b"], ["c"]),
                               ("MatMul", ["c", "m"], ["y"])],
                 [("x", [0, 1, 16, 16])], [("y", [0, 4])], weights), {"x": random(11, 0, 1, 16, 16)}


def open_rows():
    """Columns reduced, of which neither number nor length is known, and subtracted from."""
    return model("open_rows", [("ReduceMax", ["x"], ["m"], {"axes": [0]}), ("Sub", ["x", "m"], ["y"])],
                 [("x", ["S", "T"])], [("y", ["S", "T"])], {}), {"x": random(12, 6, 8)}


def down_to_one(start, end, step):
    """One element of a slice, as a single value."""
    weights = {"start": numpy.array([start]), "end": numpy.array([end]), "step": numpy.array([step]),
               "axis": numpy.array([0])}
    return model("down_to_one", [("Slice", ["x", "start", "end", "axis", "step"], ["a"]),
                                 ("Squeeze", ["a"], ["b"]), ("Relu", ["b"], ["y"])],
                 [("x", [2])], [("y", [])], weights), {"x": random(13, 2)}


def equal_turned():
    """Work on equal elements, which reads nothing, asked for across its rows and stored as well."""
    weights = {"c": numpy.array(0.5, numpy.float32), "shape": numpy.array([33, 33])}
    return model("equal_turned", [("Expand", ["c", "shape"], ["a"]), ("Elu", ["a"], ["f"]),
                                  ("Transpose", ["f"], ["t"], {"perm": [1, 0]}), ("Sub", ["x", "t"], ["y"])],
                 [("x", [33, 33])], [("y", [33, 33]), ("f", [33, 33])], weights), {"x": random(14, 33, 33)}


CASES = {"no-images": no_images, "open-rows": open_rows,
         "down-to-one": lambda: down_to_one(0, 2, 2),
         "down-to-one-backward": lambda: down_to_one(1, -3, -2),
         "equal-weights": equal_weights, "equal-both": equal_both, "equal-filters": equal_filters, "equal-turned": equal_turned,
         "merged-twice": merged_twice, "shuffled": shuffled, "greatest-step": greatest_step}


def check(suite, name, make, level, precision):
    case = f"{name}-O{level}-{precision}"
    made, feed = make()
    source, artefact = suite.work / f"{case}.onnx", suite.work / case
    onnx.save(made, source)
    step = harness.run([suite.tool("cameoc"), source, "-o", artefact, "--target=sim:sm_80",
                        f"-O{level}", f"--precision={precision}", "-j1"], SECONDS, env=ENVIRONMENT)
    if step.code:
        return suite.fail(case, step.how(), step)
    files = []
    for key, array in feed.items():
        file = suite.work / f"{case}.{key}.npy"
        numpy.save(file, array)
        files.append(f"--input={key}=@{file}")
    expected = reference.expected(made, feed)
    results = []
    for number, output in enumerate(made.graph.output):
        file = suite.work / f"{case}.out{number}.npy"
        file.unlink(missing_ok=True)
        files.append(f"--output={output.name}=@{file}")
        results.append(file)
    step = harness.run([artefact, "--device=sim", *files], SECONDS)
    if step.code:
        return suite.fail(case, step.how(), step)
    for output, file, right in zip(made.graph.output, results, expected):
        off = abs(numpy.load(file) - right).max() if right.size else 0
        if not off <= TOLERANCE[precision] * max(abs(right).max(initial=0), 1):
            return suite.fail(case, f"{output.name} is {off} off", step)
    return suite.ok(case)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=harness.Path, default=harness.SOURCE / "build")
    suite = harness.Suite("once-crashed", parser.parse_args().build.resolve())
    for name, make in CASES.items():
        for level, precision in ((0, "fp32"), (1, "fp32"), (2, "fp32"), (2, "fp16")):
            check(suite, name, make, level, precision)
    return suite.close()


if __name__ == "__main__":
    sys.exit(main())
