#!/usr/bin/env python3
"""Forms of models that are one kernel at -O2, or few: norms of groups through reshapes, gathered rows of
products, heads that are repeated for groups, concatenations with constant parts, running sums of what is
computed. Each model has at most so many launches as it says here, the results of ONNX Runtime, and at -O2
the bits of -O0, under all checks of the simulator."""
# SPDX-License-Identifier: Apache-2.0
import sys

import numpy
from onnx import TensorProto

import batches
from batches import FLOAT, Nodes
from small_models import normal

HALF = TensorProto.FLOAT16


def group_norm(groups, channels, size, primitives=False, residual=False, batch=2):
    """GroupNormalization as PyTorch exports it, with SiLU behind it; with `residual` of a sum that is a
    result, too."""
    b = Nodes(60)
    x = b.add("Add", "x", "z") if residual else "x"
    y = b.add("Reshape", x, b.constant(0, groups, -1))
    if primitives:
        b.weights |= {"epsilon": numpy.float32(1e-5)}
        centred = b.add("Sub", y, b.add("ReduceMean", y, axes=[2]))
        variance = b.add("ReduceMean", b.add("Mul", centred, centred), axes=[2])
        y = b.add("Div", centred, b.add("Sqrt", b.add("Add", variance, "epsilon")))
    else:
        b.weights |= {"ones": numpy.ones(groups, numpy.float32),
                      "zeros": numpy.zeros(groups, numpy.float32)}
        y = b.add("InstanceNormalization", y, "ones", "zeros", epsilon=1e-5)
    y = b.add("Reshape", y, b.constant(0, channels, size, size))
    y = b.add("Add", b.add("Mul", y, b.weight(channels, 1, 1)), b.weight(channels, 1, 1))
    b.output(b.add("Mul", y, b.add("Sigmoid", y)), "y")
    inputs = ["x", "z"] if residual else ["x"]
    outputs = ["y"]
    if residual:
        b.output(x, "sum")
        outputs.append("sum")
    shape = [batch, channels, size, size]
    feeds = [{name: normal(b.random, n, channels, size, size) for name in inputs}
             for n in ([1, 3] if batch == "N" else [batch])]
    return b.model("group_norm", [(name, FLOAT, shape) for name in inputs],
                   [(name, FLOAT, shape) for name in outputs], feeds, 1)


def norm_of_joined_rows():
    """Rows that a reshape joins behind their norm, and rows whose elements it parts."""
    b = Nodes(61)
    y = b.add("LayerNormalization", "x", b.weight(48), b.weight(48), axis=-1)
    b.output(b.add("Mul", b.add("Reshape", y, b.constant(30, 48)), b.weight(30, 48)), "joined")
    z = b.add("Reshape", b.add("Softmax", "z", axis=-1), b.constant(5, 6, 6, 8))
    b.output(b.add("Mul", z, b.weight(6, 1, 8)), "parted")
    return b.model("norm_of_joined_rows",
                   [("x", FLOAT, [5, 6, 48]), ("z", FLOAT, [30, 48])],
                   [("joined", FLOAT, [30, 48]), ("parted", FLOAT, [5, 6, 6, 8])],
                   [{"x": normal(b.random, 5, 6, 48), "z": normal(b.random, 30, 48)}], 2)


def gathered_rows(words, width, columns, tokens, kind=FLOAT, computed=False, batch=2):
    """Rows of a table by indices, some of which count from its end, times weights; with `computed`
    with work in front of the product, and on it."""
    b = Nodes(62)
    number = {FLOAT: numpy.float32, TensorProto.FLOAT16: numpy.float16}[kind]

    def weight(*shape, scale=1.0):
        name = b.weight(*shape, scale=scale)
        b.weights[name] = b.weights[name].astype(number)
        return name

    x = b.add("Gather", weight(words, width), "indices", axis=0)
    if computed:
        x = b.add("Relu", b.add("Add", x, weight(tokens, width)))
    y = b.add("MatMul", x, weight(width, columns, scale=width**-0.5))
    b.output(b.add("Add", y, weight(columns)) if computed else y, "y")
    feeds = [{"indices": b.random.integers(-words, words, (n, tokens))}
             for n in ([1, 3] if batch == "N" else [batch])]
    return b.model("gathered_rows", [("indices", TensorProto.INT64, [batch, tokens])],
                   [("y", kind, [batch, tokens, columns])], feeds, 1)


def routed_tokens(rows):
    """Tokens in the order of a router: a table that is computed, rows that nobody asks for."""
    b = Nodes(63)
    x = b.add("Softmax", "x", axis=-1)
    y = b.add("Gemm", b.add("Gather", x, "order", axis=0), b.weight(24, 64), b.weight(24), transB=1)
    b.output(b.add("Relu", y), "y")
    return b.model("routed_tokens",
                   [("x", FLOAT, ["T", 64]), ("order", TensorProto.INT32, [rows])],
                   [("y", FLOAT, [rows, 24])],
                   [{"x": normal(b.random, n, 64),
                     "order": b.random.integers(0, n, 33 if rows == "R" else rows, numpy.int32)}
                    for n in (20, 7)], 2)


def gathered_twice():
    """What others read, too, is in memory, from where the product takes it."""
    b = Nodes(64)
    x = b.add("Gather", b.weight(50, 32), "indices", axis=0)
    b.output(b.add("MatMul", x, b.weight(32, 40)), "y")
    b.output(b.add("Softmax", x, axis=-1), "z")
    return b.model("gathered_twice", [("indices", TensorProto.INT64, [40])],
                   [("y", FLOAT, [40, 40]), ("z", FLOAT, [40, 32])],
                   [{"indices": b.random.integers(0, 50, 40)}], 2)


def grouped_heads(tokens, keys, kind=FLOAT, heads=8, groups=4, batch=2):
    """Attention whose keys and values have a head for `groups` of the queries, spelled out: nothing is
    repeated in memory. `keys` are as many, or a list of how many feeds have."""
    b = Nodes(67)
    size, own = 32, heads // groups
    number = {FLOAT: numpy.float32, HALF: numpy.float16}[kind]
    length = keys if isinstance(keys, int) else "T"

    def repeated(name):
        x = b.add("Expand", b.add("Unsqueeze", name, b.constant(2)),
                  b.constant(1, 1, groups, 1, 1))
        return b.add("Reshape", x, b.constant(0, heads, -1, size))

    b.weights["scale"] = number(size**-0.5)
    x = b.add("MatMul", "query", b.add("Transpose", repeated("key"), perm=[0, 1, 3, 2]))
    x = b.add("Softmax", b.add("Mul", x, "scale"), axis=-1)
    b.output(b.add("MatMul", x, repeated("value")), "y")
    query, key = [batch, heads, tokens, size], [batch, own, length, size]
    return b.model("grouped_heads",
                   [("query", kind, query), ("key", kind, key), ("value", kind, key)],
                   [("y", kind, query)],
                   [{"query": (normal(b.random, *query) / 4).astype(number),
                     "key": normal(b.random, batch, own, n, size).astype(number),
                     "value": normal(b.random, batch, own, n, size).astype(number)}
                    for n in ([keys] if isinstance(keys, int) else keys)], 3)


def patches(size, width, token):
    """How a vision transformer begins: patches behind a token, positions, a norm."""
    b = Nodes(65)
    x = b.add("Conv", "image", b.weight(width, 3, 4, 4), b.weight(width), kernel_shape=[4, 4],
              strides=[4, 4])
    count = (size // 4) ** 2
    x = b.add("Transpose", b.add("Reshape", x, b.constant(0, width, count)), perm=[0, 2, 1])
    first = b.weight(1, 1, width) if token == "constant" else "token"
    x = b.add("Add", b.add("Concat", first, x, axis=1), b.weight(1, count + 1, width))
    b.output(b.add("LayerNormalization", x, b.weight(width), b.weight(width), axis=-1), "y")
    b.output(x, "sum")
    inputs = [("image", FLOAT, [1, 3, size, size])]
    feed = {"image": normal(b.random, 1, 3, size, size)}
    if token == "input":
        inputs.append(("token", FLOAT, [1, 1, width]))
        feed["token"] = normal(b.random, 1, 1, width)
    shape = [1, count + 1, width]
    return b.model("patches", inputs, [("y", FLOAT, shape), ("sum", FLOAT, shape)], [feed], 2)


def parts_of_several(dimension):
    """A concatenation of constants, an input and a result, which one Softmax reads. Along the last
    dimension neighbours would be of several parts, so that parts are copied to their places."""
    b = Nodes(66)
    shape = [4, 6, 16]
    middle = b.add("Exp", "x")
    b.output(b.add("Softmax", b.add("Concat", b.weight(*shape), middle, "z", b.weight(*shape),
                                    axis=dimension), axis=2), "y")
    shape[dimension] *= 4
    return b.model("parts_of_several", [("x", FLOAT, [4, 6, 16]), ("z", FLOAT, [4, 6, 16])],
                   [("y", FLOAT, shape)],
                   [{"x": normal(b.random, 4, 6, 16), "z": normal(b.random, 4, 6, 16)}],
                   1 if dimension < 2 else 2)


def positions(length):
    """Positions of tokens by the mask that pads them, as RoBERTa and OPT have them; and a running sum of
    what is computed across lines, from the end."""
    b = Nodes(67)
    b.weights |= {"one": numpy.int64(1), "rows": numpy.int64(0)}
    mask = b.add("Cast", "mask", to=TensorProto.INT64)
    b.output(b.add("Add", b.add("Mul", b.add("CumSum", mask, b.constant(1)), "one"), "one"), "y")
    gates = b.add("Sigmoid", b.add("Transpose", "x", perm=[1, 0]))
    b.output(b.add("CumSum", gates, "rows", reverse=1, exclusive=1), "z")
    feeds = [{"mask": b.random.integers(0, 2, (n, length if isinstance(length, int) else 40 * n),
                                        numpy.int32).astype(bool),
              "x": normal(b.random, 5, length if isinstance(length, int) else 70 * n)}
             for n in (1, 3)]
    return b.model("positions", [("mask", TensorProto.BOOL, ["N", length]),
                                 ("x", FLOAT, [5, "L"])],
                   [("y", TensorProto.INT64, ["N", length]), ("z", FLOAT, ["L", 5])], feeds, 2)


MODELS = {
    "group-norm": lambda: group_norm(8, 32, 8),
    "group-norm-7x7": lambda: group_norm(8, 32, 7),
    "group-norm-5x5": lambda: group_norm(3, 15, 5, batch="N"),
    "group-norm-primitives": lambda: group_norm(4, 16, 8, primitives=True),
    "group-norm-residual": lambda: group_norm(8, 32, 8, residual=True, batch="N"),
    "norm-of-joined-rows": norm_of_joined_rows,
    "gathered-rows": lambda: gathered_rows(100, 64, 96, 33),
    "gathered-rows-odd": lambda: gathered_rows(50, 37, 29, 21),
    "gathered-rows-open": lambda: gathered_rows(100, 64, 96, 33, batch="N"),
    "gathered-rows-computed": lambda: gathered_rows(100, 64, 96, 33, computed=True),
    "gathered-rows-f16": lambda: gathered_rows(100, 64, 96, 33, HALF),
    "gathered-rows-f16-computed": lambda: gathered_rows(100, 64, 96, 33, HALF, computed=True),
    "routed-tokens": lambda: routed_tokens(40),
    "routed-tokens-open": lambda: routed_tokens("R"),
    "gathered-twice": gathered_twice,
    "grouped-heads": lambda: grouped_heads(40, 300),
    "grouped-heads-f16": lambda: grouped_heads(40, 300, HALF),
    "grouped-heads-token": lambda: grouped_heads(1, 300),
    "grouped-heads-open": lambda: grouped_heads(1, [300, 45]),
    "grouped-heads-token-f16": lambda: grouped_heads(1, 300, HALF),
    "patches": lambda: patches(32, 48, "constant"),
    "patches-token": lambda: patches(32, 48, "input"),
    "parts-first": lambda: parts_of_several(0),
    "parts-middle": lambda: parts_of_several(1),
    "parts-last": lambda: parts_of_several(2),
    "positions": lambda: positions(300),
    "positions-open": lambda: positions("S"),
}

if __name__ == "__main__":
    sys.exit(batches.run("fusions", __doc__.splitlines()[0], MODELS))
