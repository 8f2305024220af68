#!/usr/bin/env python3
"""Sizes of 0 and of 1, and open sizes all around, beside ONNX Runtime.

  empty   each operator of fuzz_operators.py where a dimension of what it reads is 0
  graph   graphs of fuzz_graphs.py, of which a size that inputs share is 0
  single  a single value, by each way to a dimension less, and up again
  rows    reductions along each of several open dimensions, with work on their rows
  equal   products of which one operand, or each, has equal elements, which are in no memory, or no rows

Sizes are open, at several of them, and fixed by --shapes, at each level. Models are compiled and run
several as one; where that fails, each of them by itself."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import itertools
import multiprocessing
import re
import sys

import numpy
from onnx import numpy_helper

import compile_forms
import fuzz_graphs
import fuzz_models
import fuzz_operators
import graph_forms
import harness
from fuzz_graphs import BOOL, F32, F64, I64, U8, Redraw

TOGETHER = 10  # models
TRIES, DRAWN = 200, 1  # of an operator
GRAPHS = 48
# Operators that nothing empty is drawn for: they choose among elements or go by sizes, or ONNX Runtime
# refuses it.
NEVER_EMPTY = {"Attention", "DeformConv", "DepthToSpace", "GRU", "GatherElements", "GatherND", "GridSample",
               "GroupNormalization", "LSTM", "MaxRoiPool", "Multinomial", "Pad", "RNN", "Resize", "RoiAlign",
               "SpaceToDepth", "TensorScatter"}
ROWS = ("ReduceMax", "ReduceMean", "ArgMax", "Softmax")
# Of dimensions that are open: multiples of what memory reads at once, and others.
SIZES = ({"A": 3, "B": 5, "C": 7}, {"A": 4, "B": 8, "C": 16}, {"A": 1, "B": 1, "C": 40})


def begin(seed, sizes):
    return fuzz_graphs.Graph(numpy.random.default_rng(seed), dict(sizes))


def finish(graph, feeds=None):
    """A Sample without inputs that nothing reads."""
    unread = {value.name for value in graph.inputs} - {
        name for node in graph.nodes for name in node.input}
    graph.inputs, graph.values = ([value for value in values if value.name not in unread]
                                  for values in (graph.inputs, graph.values))
    sample = fuzz_graphs.sample_of(graph, 0)
    if feeds is None:
        sample.feeds = sample.feeds[:1]
    else:  # inputs may have got other names
        puts = list(zip(sample.model.graph.input, graph.inputs))
        sample.feeds = [{put.name: feed[value.name] for put, value in puts} for feed in feeds]
    return sample


# --- empty

def products(graph):
    """With nothing along rows, depth or columns, and something added."""
    name, across = graph.choose(["MatMul", "Gemm"]), graph.integer(0, 2)
    rows, depth, columns = ("N" if across == place else size for place, size in enumerate((3, 4, 5)))
    x = graph.input(F32, [rows, depth])
    y = graph.input(F32, [depth, columns])
    if name == "Gemm":
        graph.add(name, [x, y, graph.weight(F32, [1])], (rows, columns))
    else:
        z = graph_forms.op(graph, name, x, y, dims=(rows, columns))
        graph_forms.op(graph, "Add", z, graph.weight(F32, [1]))


def windows(graph):
    """Over images of no samples, or of which padding is all there is."""
    x = graph.input(F32, graph.choose([["N", 3, 4, 5], [2, 3, "N", 5], [2, 3, 4, "N"]]))
    pads = {"pads": [1, 1, 1, 1]}
    fuzz = graph.integer(0, 2)
    if fuzz == 0:
        graph.add("Conv", [x, graph.weight(F32, [4, 3, 2, 2]), graph.weight(F32, [4])],
                  (x.dims[0], 4, graph.symbol(), graph.symbol()), **pads)
    elif fuzz == 1:
        graph.add("ConvTranspose", [x, graph.weight(F32, [3, 2, 2, 2])],
                  (x.dims[0], 2, graph.symbol(), graph.symbol()))
    else:
        graph.add(graph.choose(["MaxPool", "AveragePool", "GlobalAveragePool"]), [x],
                  (*x.dims[:2], graph.symbol(), graph.symbol()), kernel_shape=[2, 2], **pads)


def movements(graph):
    """From nothing to something, and from something to nothing."""
    x, y = graph.input(F32, ["N", 3]), graph.input(F32, [2, 3])
    kind = graph.integer(0, 6)
    if kind == 0:
        graph.add("Pad", [x, graph.ints(1, 0, 2, 1)], (graph.symbol(), 4))
    elif kind == 1:
        graph.add("Concat", [x, y, x], (graph.symbol(), 3), axis=0)
    elif kind == 2:
        graph.add("Gather", [y, graph.input(I64, ["N"])], ("N", 3), axis=0)
    elif kind == 3:
        graph.add("Tile", [y, graph.ints(0, 2)], (0, 6))
    elif kind == 4:
        graph.add("Expand", [graph.weight(F32, [1, 3]), graph.ints(2, 0, 3)], (2, 0, 3))
    elif kind == 5:
        graph.add("Slice", [y, graph.ints(2), graph.ints(9)], (0, 3))
    else:
        graph.add("Split", [x], lambda i, _: ("N", 1), outputs=3, axis=1)


def operators():
    named = {name: functions[-1] for name, functions in fuzz_operators.DRAWN.items() if functions}
    return {**named, "products": products, "windows": windows, "movements": movements}


def draw_empty(name, function):
    """(sample, seed) of an operator, a few that differ."""
    found = []
    for seed in range(TRIES):
        graph = begin(seed, {"N": 0, "M": 2})
        for dtype in (F32, F32, F32, F32, F64, I64, BOOL, U8):
            dims = [graph.choose([1, 2, 3, 4]) for _ in range(graph.integer(1, 4))]
            dims[graph.integer(0, len(dims) - 1)] = "N"
            graph.input(dtype, dims)
        try:
            function(graph)
        except Redraw:
            continue
        if graph.nodes:
            found.append(finish(graph))
        if len(found) == DRAWN * (6 if function in (products, windows, movements) else 1):
            break
    return found


def empties():
    for name, function in operators().items():
        found = fuzz_models.isolated(draw_empty, name, function) or []
        if bool(found) == (name in NEVER_EMPTY):
            yield f"empty-{name}", None
        for number, sample in enumerate(found):
            yield f"empty-{name}-{number}", sample


# --- graphs

def draw_graph(seed):
    """None where nothing is empty, or ONNX Runtime refuses the whole; where it crashes the process is
    gone."""
    sample = fuzz_graphs.draw(seed, sizes={"N": 0} if seed % 2 else {"M": 0}, opset=fuzz_graphs.OPSET)
    del sample.feeds[1:]
    is_empty = any(not array.size for array in sample.feeds[0].values())
    return sample if is_empty and fuzz_models.Fuzzer.results(sample.model, sample.feeds[0]) else None


def graphs():
    found = ((seed, fuzz_models.isolated(draw_graph, seed)) for seed in itertools.count())
    yield from itertools.islice(((f"graph-{seed}", sample) for seed, sample in found if sample), GRAPHS)


# --- single values

def singles():
    for (name, way), rank, is_open in itertools.product(compile_forms.WAYS.items(), range(1, 4),
                                                        (False, True)):
        graph = begin(rank, SIZES[0])
        x = graph.input(F32, ["A", "B", "C"][:rank] if is_open else [3, 5, 7][:rank])
        y = graph_forms.op(graph, "Relu", x) if rank == 2 else x
        while y.rank:
            y = way(graph, y, y.rank // 2)
        y = graph_forms.op(graph, "Sigmoid", y)
        up = graph_forms.op(graph, "Reshape", y, graph.ints(1, 1), dims=(1, 1))
        graph_forms.op(graph, "Neg", up)
        graph_forms.op(graph, "Sub", x, y)
        yield f"single-{name}-{rank}-{'open' if is_open else 'known'}", finish(graph)


# --- rows

def reduced(graph, name, x, axis):
    kept = (*x.dims[:axis], 1, *x.dims[axis + 1:])
    if name == "Softmax":
        return graph_forms.op(graph, name, x, axis=axis)
    if name == "ArgMax":
        y = graph_forms.op(graph, name, x, dims=kept, axis=axis)
        return graph_forms.op(graph, "Cast", y, to=1)
    return graph_forms.op(graph, name, x, graph.ints(axis), dims=kept, keepdims=1)


def rows():
    for name, rank in itertools.product(ROWS, range(1, 4)):
        for axis in range(rank):
            graph = begin(axis, SIZES[0])
            x = graph.input(F32, ["A", "B", "C"][:rank])
            before = graph_forms.op(graph, "Abs", x) if axis % 2 else x
            y = reduced(graph, name, before, axis)
            graph_forms.op(graph, "Sub", before, y)
            z = reduced(graph, "ReduceMax", graph_forms.op(graph, "Mul", x, y), axis)
            graph_forms.op(graph, "Add", x, z)
            feeds = [{x.name: graph.array(F32, [sizes[dim] for dim in x.dims])} for sizes in SIZES]
            yield f"rows-{name}-{rank}-{axis}", finish(graph, feeds)


# --- equal elements

def filled(graph, shape):
    number = numpy_helper.from_array(numpy.array([0.5], F32), "value")
    return graph_forms.op(graph, "ConstantOfShape", graph.ints(*shape), dims=tuple(shape), value=number)


def graph_input(graph, shape):
    return graph.input(F32, shape)


def equals():
    """No rows, few and many, as products of each class of schedules have them."""
    sides = {"neither": (0,), "left": (1, 16), "right": (0, 1, 16, "A"), "both": (1, 16)}
    for (side, some), (depth, columns) in itertools.product(sides.items(), ((5, 7), (64, 288))):
        for rows in some:
            graph = begin(0, SIZES[0])
            made = [filled if side in (own, "both") else graph_input for own in ("left", "right")]
            left, right = made[0](graph, [rows, depth]), made[1](graph, [depth, columns])
            y = graph_forms.op(graph, "MatMul", left, right, dims=(rows, columns))
            graph_forms.op(graph, "Add", y, graph.input(F32, [columns]))
            yield f"equal-{side}-{rows}-{depth}", finish(graph)


# --- all of them

class Checker(fuzz_models.Fuzzer):
    """One process's part of the work."""

    def judge(self, name, sample, level):
        """(steps, what is wrong or nothing), with open sizes and with those of the last inputs."""
        work = self.work / f"{name}{level}"
        given = fuzz_models.fixed(sample.feeds[-1])
        for flags, feeds in ((), sample.feeds), ((given,), sample.feeds[-1:]):
            one = fuzz_graphs.Sample(sample.model, feeds, {})
            steps, reason, compared = self.compare(one, work, [level, *flags])
            if reason or not compared:
                return steps, reason or "ONNX Runtime has no results"
        return steps, ""

    def check(self, case):
        level, named = case
        whole = fuzz_graphs.join([sample for _, sample in named])
        steps, reason = self.judge(f"{named[0][0]}-and-others", whole, level)
        if not reason:
            return level, [(name, [], "") for name, _ in named]
        found = [(name, *self.judge(name, sample, level)) for name, sample in named]
        if not any(why for _, _, why in found):
            found.append((f"{named[0][0]} to {named[-1][0]}", steps, reason))
        return level, found


def run(options):
    suite = harness.Suite("sizes", options.build.resolve())
    suite.tool("cameoc")
    kinds = {}
    for name, sample in itertools.chain(empties(), graphs(), singles(), rows(), equals()):
        if not re.search(options.filter, name):
            continue
        if sample:
            kinds.setdefault(name.split("-")[0], []).append((name, sample))
        else:
            suite.fail(name, "is never drawn, or NEVER_EMPTY is wrong")
    cases = [(level, named[first:first + TOGETHER]) for named in kinds.values()
             for first in range(0, len(named), TOGETHER) for level in harness.LEVELS]
    with multiprocessing.Pool(options.jobs, fuzz_models.start,
                              (Checker, options, suite.work)) as pool:
        for level, found in pool.imap_unordered(fuzz_models.check, cases):
            for name, steps, reason in found:
                if reason:
                    suite.fail(f"{name}{level}", reason, *steps)
                else:
                    suite.ok(f"{name}{level}")
    return suite.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    parser.set_defaults(target="sim:sm_80")
    return run(parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
