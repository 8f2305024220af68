#!/usr/bin/env python3
"""Random operators beside a reference of their own (random_reference.py), bit for bit: types, sizes, loops, runs of one
context, levels, architectures; what they are distributed like; and that no two of them draw the same."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import os
import sys

import ml_dtypes
import numpy
from onnx import AttributeProto, TensorProto, helper

import artefact
import harness
import random_reference as reference
from loops import body, graph, node

FLOAT, HALF, DOUBLE, BF16 = TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE, TensorProto.BFLOAT16
BOOL, INT32, INT64 = TensorProto.BOOL, TensorProto.INT32, TensorProto.INT64
TYPES = {FLOAT: numpy.float32, HALF: numpy.float16, DOUBLE: numpy.float64, BF16: ml_dtypes.bfloat16}
NAMES = {FLOAT: "f32", HALF: "f16", DOUBLE: "f64", BF16: "bf16"}
TARGET = "sim:sm_80"


def model(nodes, outputs, inputs=(), weights=None, opset=22):
    return artefact.model("random", nodes, inputs, [(name, kind, sizes) for name, kind, sizes in outputs],
                          weights or {}, opset=opset)


class Checks:
    def __init__(self, suite, cameo, options):
        self.suite, self.cameo, self.options = suite, cameo, options

    def wanted(self, case):
        return self.options.filter in case

    def contexts(self, made, *, levels=(0, 2), **flags):
        """A context for each level, with its name."""
        for level in levels:
            compiled = self.cameo.compile(made, device="simulator", level=level, jobs=1,
                                          **{"target": TARGET, **flags})
            yield f"O{level}", compiled.context()

    def equal(self, case, found, want):
        """Bit for bit; NaN is not drawn."""
        found, want = numpy.asarray(found), numpy.asarray(want)
        if found.shape != want.shape or found.dtype != want.dtype:
            return self.suite.fail(case, f"{found.dtype} {found.shape}, not {want.dtype} {want.shape}")
        if found.tobytes() != want.tobytes():
            index = numpy.flatnonzero(found.reshape(-1) != want.reshape(-1))
            at = index[0] if len(index) else 0
            return self.suite.fail(case, f"{len(index)} of {found.size} differ, the first at {at}: "
                                   f"{found.reshape(-1)[at]}, not {want.reshape(-1)[at]}")
        self.suite.ok(case)

    def holds(self, case, condition, text):
        if condition:
            self.suite.ok(case)
        else:
            self.suite.fail(case, text)

    def bound(self, case, value, most):
        self.holds(case, value <= most, f"{value} is more than {most}")


SHAPES = [(), (0,), (1,), (7,), (3, 5), (2, 3, 341), (2, 0, 3)]


def check_types(checks):
    """Each operator, type and shape, the first run of a seed and the second."""
    for kind, dtype in TYPES.items():
        nodes, wants = [], []
        for shape in SHAPES:
            for name, attributes in (("RandomUniform", {}), ("RandomUniform", {"low": -2.5, "high": 10.0}),
                                     ("RandomNormal", {}), ("RandomNormal", {"mean": 3.0, "scale": 0.25})):
                made = f"y{len(nodes)}"
                nodes.append(node(name, [], made, dtype=kind, **attributes))
                nodes[-1].attribute.append(helper.make_attribute("shape", list(shape), attr_type=AttributeProto.INTS))
                draw = reference.uniform if name == "RandomUniform" else reference.normal
                wants.append((made, lambda state, draw=draw, stream=len(wants), shape=shape, attributes=attributes:
                              draw(state, stream, shape, dtype, **attributes)))
        case = f"types-{NAMES[kind]}"
        if not checks.wanted(case):
            continue
        made = model(nodes, [(name, kind, None) for name, _ in wants])
        for level, context in checks.contexts(made):
            context.set_seed(12345678901234567)
            for run in range(2):
                found = context.run({})
                state = reference.state_of(12345678901234567, run)
                for (name, want), operator in zip(wants, nodes):
                    checks.equal(f"{case}-{level}-{run}-{name}-{operator.op_type}", found[name], want(state))


def check_like(checks):
    """Of another tensor's shape, which may be open, and of its type or another one."""
    for kind in (FLOAT, HALF):
        case = f"like-{NAMES[kind]}"
        if not checks.wanted(case):
            continue
        nodes = [node("RandomUniformLike", ["x"], "u"), node("RandomNormalLike", ["x"], "n"),
                 node("RandomNormalLike", ["x"], "d", dtype=DOUBLE), node("RandomUniformLike", ["i"], "f", dtype=FLOAT)]
        made = model(nodes, [("u", kind, None), ("n", kind, None), ("d", DOUBLE, None), ("f", FLOAT, None)],
                     [("x", kind, ("N", "M", 3)), ("i", INT64, ("K",))])
        for level, context in checks.contexts(made):
            for run, (sizes, more) in enumerate([((2, 5, 3), 4), ((0, 5, 3), 0), ((1, 1, 3), 1001), ((2, 5, 3), 4)]):
                found = context.run({"x": numpy.zeros(sizes, TYPES[kind]), "i": numpy.zeros(more, numpy.int64)})
                state = reference.state_of(0, run)
                checks.equal(f"{case}-{level}-u{run}", found["u"], reference.uniform(state, 0, sizes, TYPES[kind]))
                checks.equal(f"{case}-{level}-n{run}", found["n"], reference.normal(state, 1, sizes, TYPES[kind]))
                checks.equal(f"{case}-{level}-d{run}", found["d"], reference.normal(state, 2, sizes, numpy.float64))
                checks.equal(f"{case}-{level}-f{run}", found["f"], reference.uniform(state, 3, (more,), numpy.float32))


def check_bernoulli(checks):
    rng = numpy.random.default_rng(1)
    for kind, dtype in TYPES.items():
        case = f"bernoulli-{NAMES[kind]}"
        if not checks.wanted(case):
            continue
        p = rng.random((4, 251)).astype(dtype)
        p[0, :50], p[0, 50:100] = 0, 1
        results = [(kind, dtype), (BOOL, bool), (INT32, numpy.int32), (TensorProto.UINT8, numpy.uint8), (INT64, numpy.int64)]
        nodes = [node("Bernoulli", ["p"], f"y{i}", **({"dtype": to} if i else {})) for i, (to, _) in enumerate(results)]
        made = model(nodes, [(f"y{i}", to, None) for i, (to, _) in enumerate(results)], [("p", kind, ("N", "M"))])
        for level, context in checks.contexts(made):
            found = context.run({"p": p})
            for i, (_, made_of) in enumerate(results):
                checks.equal(f"{case}-{level}-{i}", found[f"y{i}"],
                             reference.below(reference.state_of(), i, p).astype(made_of))


def check_multinomial(checks):
    rng = numpy.random.default_rng(2)
    for kind, dtype in ((FLOAT, numpy.float32), (HALF, numpy.float16), (DOUBLE, numpy.float64)):
        case = f"multinomial-{NAMES[kind]}"
        if not checks.wanted(case):
            continue
        logs = rng.normal(size=(3, 700)).astype(dtype)
        logs[0, :600] = -numpy.inf
        logs[1] = [0.0] + [-numpy.inf] * 699
        nodes = [node("Multinomial", ["x"], "a", sample_size=500), node("Multinomial", ["x"], "b", dtype=INT64),
                 node("Multinomial", ["x"], "c", sample_size=3, seed=2.0)]
        made = model(nodes, [("a", INT32, None), ("b", INT64, None), ("c", INT32, None)], [("x", kind, ("N", "C"))])
        for level, context in checks.contexts(made):
            found = context.run({"x": logs})
            state = reference.state_of()
            for name, stream, count, to, seed in (("a", 0, 500, numpy.int32, None), ("b", 1, 1, numpy.int64, None),
                                                  ("c", 0, 3, numpy.int32, 2.0)):
                want = reference.classes(state, stream, logs, count, seed)
                checks.equal(f"{case}-{level}-{name}", found[name], want.astype(to))
            checks.holds(f"{case}-{level}-impossible", (found["a"][0] >= 600).all() and (found["a"][1] == 0).all(),
                         "a class without probability was drawn")
            wild = context.run({"x": numpy.array([[numpy.nan, 0, numpy.inf, 0], [-numpy.inf, numpy.nan, 1, numpy.nan]], dtype)})
            checks.holds(f"{case}-{level}-wild", set(wild["a"][0]) == {1, 3} and (wild["a"][1] == 2).all(),
                         "a class whose logarithm is no number was drawn")
            one = context.run({"x": logs[:1, :1]})
            checks.holds(f"{case}-{level}-one", not one["a"].any(), "there is one class")


def check_dropout(checks):
    rng = numpy.random.default_rng(3)
    for kind, dtype in TYPES.items():
        case = f"dropout-{NAMES[kind]}"
        if not checks.wanted(case):
            continue
        x = rng.normal(size=(5, 203)).astype(dtype)
        x[0, :3] = [-0.0, numpy.inf, -numpy.inf]
        weights = {"yes": numpy.array(True), "some": numpy.array(0.25, numpy.float32), "none": numpy.array(0.0, numpy.float32)}
        nodes = [node("Dropout", ["x", "some", "yes"], ["a", "am"]), node("Dropout", ["x", "", "yes"], ["b", "bm"]),
                 node("Dropout", ["x", "r", "t"], ["c", "cm"]), node("Dropout", ["x", "some"], ["d", "dm"]),
                 node("Dropout", ["x", "none", "yes"], ["e", "em"]), node("Dropout", ["x", "some", "yes"], ["f"], seed=7)]
        outputs = [(name, BOOL if name.endswith("m") else kind, None) for each in nodes for name in each.output]
        made = model(nodes, outputs, [("x", kind, ("N", "M")), ("r", FLOAT, ()), ("t", BOOL, ())], weights, opset=22)
        for level, context in checks.contexts(made):
            for run, (ratio, training) in enumerate([(0.75, True), (0.75, False), (0.0, True)]):
                found = context.run({"x": x, "r": numpy.array(ratio, numpy.float32), "t": numpy.array(training)})
                state = reference.state_of(0, run)
                for name, stream, share, seed in (("a", 0, 0.25, None), ("b", 1, 0.5, None), ("c", 2, ratio, None),
                                                  ("f", 0, 0.25, 7)):
                    share = numpy.full(x.shape, share, numpy.float64 if kind == DOUBLE else numpy.float32)
                    dropped = reference.below(state, stream, share, seed)
                    if name == "c" and not training:
                        dropped = numpy.zeros(x.shape, bool)
                        share = share * 0
                    wide = numpy.float64 if kind == DOUBLE else numpy.float32
                    factor = numpy.where(dropped, wide(0), (1 / (1 - share)).astype(wide))
                    with numpy.errstate(invalid="ignore"):
                        want = (x.astype(wide) * factor).astype(dtype)
                    same = numpy.isnan(want) == numpy.isnan(found[name])
                    want = numpy.where(numpy.isnan(want), found[name], want)
                    checks.holds(f"{case}-{level}-{run}-{name}-nan", same.all(), "other elements are NaN")
                    checks.equal(f"{case}-{level}-{run}-{name}", found[name], want)
                    if name != "f":
                        checks.equal(f"{case}-{level}-{run}-{name}m", found[name + "m"], ~dropped)
                for name in "de":
                    checks.equal(f"{case}-{level}-{run}-{name}", found[name], x)
                    checks.equal(f"{case}-{level}-{run}-{name}m", found[name + "m"], numpy.ones(x.shape, bool))


def drawn_in_body(prefix="", condition="c"):
    """A Loop's body that adds a number of its own to what is carried, and collects it."""
    nodes = [node("RandomNormalLike", ["v"], f"{prefix}r"), node("Add", ["v", f"{prefix}r"], f"{prefix}v2"),
             node("Identity", [f"{prefix}r"], f"{prefix}part")]
    return body(nodes, outputs=(f"{prefix}v2", (f"{prefix}part", FLOAT, [6])), prefix=prefix, condition=condition)


def trips_of(state, count, stream, shape):
    return numpy.stack([reference.normal(reference.trip_of(state, trip), stream, shape, numpy.float32)
                        for trip in range(count)]) if count else numpy.zeros((0, *shape), numpy.float32)


def check_loops(checks):
    """Unrolled, repeated by a run, one in another one, ending by what they drew."""
    x = numpy.zeros(6, numpy.float32)
    for case, most, count in (("loop-unrolled", numpy.array(3), 3), ("loop-run", None, 5), ("loop-long", numpy.array(20), 20)):
        if not checks.wanted(case):
            continue
        made = model([node("RandomNormalLike", ["x"], "first"),
                      node("Loop", ["n", "", "x"], ["y", "parts"], body=drawn_in_body()),
                      node("RandomNormalLike", ["x"], "last")],
                     [("parts", FLOAT, None), ("first", FLOAT, None), ("last", FLOAT, None)],
                     [("x", FLOAT, [6])] + ([("n", INT64, [])] if most is None else []),
                     {} if most is None else {"n": most})
        for level, context in checks.contexts(made):
            for run in range(2):
                found = context.run({"x": x, **({"n": numpy.array(count)} if most is None else {})})
                state = reference.state_of(0, run)
                checks.equal(f"{case}-{level}-{run}", found["parts"], trips_of(state, count, 1, (6,)))
                checks.equal(f"{case}-{level}-{run}-first", found["first"], reference.normal(state, 0, (6,), numpy.float32))
                checks.equal(f"{case}-{level}-{run}-last", found["last"], reference.normal(state, 2, (6,), numpy.float32))
    for case, inner, outer in (("nested-unrolled", 2, 3), ("nested-run", None, None)):
        if not checks.wanted(case):
            continue
        one = [node("Loop", ["k", "", "v"], ["w", "ps"], body=drawn_in_body("q")), node("Identity", ["ps"], "pps")]
        made_of = body(one, outputs=("w", ("pps", FLOAT, [2, 6])))
        weights = {} if inner is None else {"n": numpy.array(outer), "k": numpy.array(inner)}
        # Parts have a size that is known outside: that of the inner trips is fixed.
        weights["k"] = numpy.array(2)
        made = model([node("Loop", ["n", "", "x"], ["y", "parts"], body=made_of)], [("parts", FLOAT, None)],
                     [("x", FLOAT, [6])] + ([("n", INT64, [])] if outer is None else []), weights)
        for level, context in checks.contexts(made):
            found = context.run({"x": x, **({"n": numpy.array(3)} if outer is None else {})})
            state = reference.state_of()
            want = numpy.stack([trips_of(reference.trip_of(state, trip), 2, 0, (6,)) for trip in range(3)])
            checks.equal(f"{case}-{level}", found["parts"], want)
    case = "loop-by-what-is-drawn"
    if checks.wanted(case):
        # As long as a number is below 0.8; each trip waits for it.
        ends = [node("RandomUniformLike", ["v"], "u"), node("ReduceMax", ["u"], "m", keepdims=0),
                node("Less", ["m", "limit"], "goes_on"), node("Add", ["v", "one"], "v2")]
        made = model([node("Loop", ["", "yes", "x"], ["y"],
                           body=body(ends, outputs=("v2",), condition="goes_on"))], [("y", FLOAT, None)],
                     [("x", FLOAT, [1])], {"yes": numpy.array(True), "limit": numpy.array(0.9, numpy.float32),
                                           "one": numpy.ones(1, numpy.float32)})
        for level, context in checks.contexts(made):
            for run in range(4):
                found = context.run({"x": numpy.zeros(1, numpy.float32)})
                state, trips = reference.state_of(0, run), 1
                while reference.uniform(reference.trip_of(state, trips - 1), 0, (1,), numpy.float32)[0] < numpy.float32(0.9):
                    trips += 1
                checks.equal(f"{case}-{level}-{run}", found["y"], numpy.full(1, trips, numpy.float32))


def check_scans(checks):
    """A Scan hands its state on; unrolled or not, each trip draws others."""
    for case, sizes in (("scan-unrolled", (4, 6)), ("scan-run", ("T", 6))):
        if not checks.wanted(case):
            continue
        inner = graph([node("RandomNormalLike", ["e"], "r"), node("Add", ["s", "r"], "s2"), node("Identity", ["r"], "p")],
                      [("s", FLOAT, [6]), ("e", FLOAT, [6])], [("s2", FLOAT, [6]), ("p", FLOAT, [6])])
        made = model([node("Scan", ["z", "x"], ["y", "parts"], body=inner, num_scan_inputs=1)],
                     [("y", FLOAT, None), ("parts", FLOAT, None)], [("x", FLOAT, sizes)],
                     {"z": numpy.zeros(6, numpy.float32)})
        for level, context in checks.contexts(made):
            found = context.run({"x": numpy.zeros((4, 6), numpy.float32)})
            state, wants = reference.state_of(), []
            for _ in range(4):
                wants.append(reference.normal(state, 0, (6,), numpy.float32))
                state = reference.trip_of(state, 0)
            checks.equal(f"{case}-{level}", found["parts"], numpy.stack(wants))


def check_maps(checks):
    case = "sequence-map"
    if not checks.wanted(case):
        return
    inner = graph([node("RandomUniformLike", ["e"], "r")], [("e", FLOAT, [2])], [("r", FLOAT, [2])])
    made = model([node("SplitToSequence", ["x", "two"], "s"), node("SequenceMap", ["s"], ["m"], body=inner),
                  node("ConcatFromSequence", ["m"], "y", axis=0)], [("y", FLOAT, None)], [("x", FLOAT, [6])],
                 {"two": numpy.array(2)})
    for level, context in checks.contexts(made):
        found = context.run({"x": numpy.zeros(6, numpy.float32)})
        state = reference.state_of()
        want = [reference.uniform(reference.trip_of(state, trip), 0, (2,), numpy.float32) for trip in range(3)]
        checks.equal(f"{case}-{level}", found["y"], numpy.concatenate(want))


def check_branches(checks):
    for case, opset in (("branch-run", 22),):
        if not checks.wanted(case):
            continue
        arms = {name: graph([node("RandomUniform", [], f"{name}_r", shape=[size])], [], [(f"{name}_r", FLOAT, [size])])
                for name, size in (("then_branch", 3), ("else_branch", 5))}
        made = model([node("If", ["c"], ["y"], **arms), node("RandomUniform", [], "z", shape=[2])],
                     [("y", FLOAT, None), ("z", FLOAT, None)], [("c", BOOL, [])], opset=opset)
        for level, context in checks.contexts(made):
            for run, flag in enumerate([True, False, True]):
                found = context.run({"c": numpy.array(flag)})
                state = reference.state_of(0, run)
                # Streams are numbered in the order of the file: ONNX has the attributes of a node by name.
                stream, size = (1, 3) if flag else (0, 5)
                first = [attribute.name for attribute in made.graph.node[0].attribute].index("then_branch") == 0
                stream = stream if not first else 1 - stream
                checks.equal(f"{case}-{level}-{run}", found["y"], reference.uniform(state, stream, (size,), numpy.float32))
                checks.equal(f"{case}-{level}-{run}-behind", found["z"], reference.uniform(state, 2, (2,), numpy.float32))


def check_seeds(checks):
    """Seeds of nodes and of contexts, sequences of runs, and that equal nodes stay two."""
    case = "seeds"
    if not checks.wanted(case):
        return
    nodes = [node("RandomUniform", [], "a", shape=[5]), node("RandomUniform", [], "b", shape=[5]),
             node("RandomUniform", [], "c", shape=[5], seed=1.5), node("RandomUniform", [], "d", shape=[5], seed=1.5),
             node("RandomUniform", [], "e", shape=[5], seed=-3.0)]
    made = model(nodes, [(name, FLOAT, None) for name in "abcde"])

    def wants(seed, run):
        state = reference.state_of(seed, run)
        return {name: reference.uniform(state, stream, (5,), numpy.float32, seed=own)
                for name, stream, own in (("a", 0, None), ("b", 1, None), ("c", 0, 1.5), ("d", 1, 1.5), ("e", 0, -3.0))}

    seen = []
    for level, context in checks.contexts(made):
        runs = [(0, 0), (0, 1), (0, 2), (2**64 - 1, 0), (2**64 - 1, 1), (0, 0)]
        last = 0
        for number, (seed, run) in enumerate(runs):
            if seed != last or run == 0 < number:
                context.set_seed(seed)
            last = seed
            found = context.run({})
            for name, want in wants(seed, run).items():
                checks.equal(f"{case}-{level}-{number}-{name}", found[name], want)
                if level == "O2" and number < 5:
                    seen.append((name, number, found[name].tobytes()))
    # Of one node's seed they are the same for both seeds of contexts.
    different = {key for name, number, key in seen if name in "ab" or number < 3}
    checks.holds("seeds-differ", len(different) == 2 * 5 + 3 * 3, f"{len(different)} of 19 differ")
    step = artefact.Artefact(checks.suite, "command-line", made).step
    for seed in (0, 17):
        path = checks.suite.work / "command-line"
        out = checks.suite.work / "a.npy"
        step = harness.run([path, "--device=sim", f"--seed={seed}", "--runs=3", f"--output=a=@{out}"], 60)
        checks.holds(f"seeds-command-line-{seed}", step.code == 0, step.text())
        checks.equal(f"seeds-command-line-{seed}-a", numpy.load(out), wants(seed, 0)["a"])


def check_constants(checks):
    """Nothing is computed by the compiler: a constant network draws anew."""
    case = "not-folded"
    if not checks.wanted(case):
        return
    made = model([node("ConstantOfShape", ["s"], "z"), node("RandomNormalLike", ["z"], "r"), node("Mul", ["r", "r"], "q"),
                  node("ReduceSum", ["q"], "y", keepdims=0)], [("y", FLOAT, None)], weights={"s": numpy.array([1000])})
    for level, context in checks.contexts(made):
        found = [float(context.run({})["y"]) for _ in range(3)]
        for run, value in enumerate(found):
            want = (reference.normal(reference.state_of(0, run), 0, (1000,), numpy.float32).astype(float)**2).sum()
            checks.bound(f"{case}-{level}-{run}", abs(value - want), 1e-3)


def check_sizes(checks):
    """Schedules, grids and architectures do not change a number; shared by readers, it is the same for each."""
    case = "architectures"
    if not checks.wanted(case):
        return
    nodes = [node("RandomNormalLike", ["x"], "r"), node("Add", ["x", "r"], "sum"), node("Sub", ["x", "r"], "difference"),
             node("ReduceMax", ["r", "axis"], "most", keepdims=0), node("Transpose", ["r"], "turned", perm=[1, 0])]
    names = ["r", "sum", "difference", "most", "turned"]
    made = model(nodes, [(name, FLOAT, None) for name in names], [("x", FLOAT, ("N", 130))], {"axis": numpy.array([1])},
                 opset=18)
    x = numpy.arange(70 * 130, dtype=numpy.float32).reshape(70, 130)
    r = reference.normal(reference.state_of(), 0, x.shape, numpy.float32)
    wants = dict(zip(names, (r, x + r, x - r, r.max(1), r.T)))
    for target in ("sim:sm_75", "sim:sm_80", "sim:sm_90a"):
        for options in ([], ["--layout=channels-last"], ["--sim-checks"]):
            for level, context in checks.contexts(made, levels=(0, 1, 2), target=target, options=options):
                found = context.run({"x": x})
                for name in names:
                    checks.equal(f"{case}-{target}-{level}-{'-'.join(options)}-{name}", found[name], wants[name])


def check_precision(checks):
    """In FP16 a network draws the numbers that it draws in FP32, rounded where they are stored."""
    for precision, dtype in (("fp16", numpy.float16), ("bf16", ml_dtypes.bfloat16)):
        case = f"precision-{precision}"
        if not checks.wanted(case):
            continue
        nodes = [node("RandomUniformLike", ["x"], "r"), node("Dropout", ["x", "", "yes"], ["d", "m"]),
                 node("Bernoulli", ["p"], "b"), node("Multinomial", ["x"], "c", sample_size=40), node("Relu", ["r"], "y")]
        made = model(nodes, [("y", FLOAT, None), ("m", BOOL, None), ("b", FLOAT, None), ("c", INT32, None)],
                     [("x", FLOAT, [30, 40]), ("p", FLOAT, [30, 40])], {"yes": numpy.array(True)})
        rng = numpy.random.default_rng(5)
        # Probabilities that these types have.
        feed = {"x": rng.integers(-3, 4, (30, 40)).astype(numpy.float32),
                "p": (rng.integers(0, 9, (30, 40)) / 8).astype(numpy.float32)}
        state = reference.state_of()
        for level, context in checks.contexts(made, precision=precision):
            found = context.run(feed)
            want = reference.uniform(state, 0, (30, 40), numpy.float32)
            # They have FP32 where nothing computes with them.
            checks.equal(f"{case}-{level}-y", found["y"].astype(dtype), want.astype(dtype))
            checks.equal(f"{case}-{level}-m", found["m"], ~reference.below(state, 1, numpy.full((30, 40), 0.5, numpy.float32)))
            checks.equal(f"{case}-{level}-b", found["b"], reference.below(state, 2, feed["p"]).astype(numpy.float32))
            checks.equal(f"{case}-{level}-c", found["c"], reference.classes(state, 3, feed["x"], 40).astype(numpy.int32))


def kolmogorov(values, distribution):
    """sqrt(n) times the greatest distance of both distribution functions: beyond 1.95 once in a thousand times."""
    values = numpy.sort(values.astype(numpy.float64))
    want = distribution(values)
    steps = numpy.arange(len(values) + 1) / len(values)
    return len(values)**0.5 * max((want - steps[:-1]).max(), (steps[1:] - want).max())


def normal_distribution(values):
    import math
    return numpy.array([0.5 * math.erfc(-value / 2**0.5) for value in values])


def check_distributions(checks):
    """Means, variances, distribution functions, and that draws, runs, trips and neighbours are not correlated. Seeds are
    fixed, so that nothing here fails by chance."""
    case = "distribution"
    if not checks.wanted(case):
        return
    count = 20000
    part = graph([node("RandomNormal", [], "t", shape=[count]), node("Identity", ["c"], "c2")],
                 [("i", INT64, []), ("c", BOOL, [])], [("c2", BOOL, []), ("t", FLOAT, [count])])
    nodes = [node("RandomUniform", [], "u", shape=[count]), node("RandomNormal", [], "n", shape=[count]),
             node("RandomNormal", [], "o", shape=[count]), node("RandomNormal", [], "h", shape=[count], dtype=HALF),
             node("RandomNormal", [], "d", shape=[count], dtype=DOUBLE), node("Loop", ["two", ""], ["trips"], body=part),
             node("Multinomial", ["logs"], "classes", sample_size=count), node("Bernoulli", ["p"], "b")]
    weights = {"two": numpy.array(2), "logs": numpy.log([[0.1, 0.2, 0.3, 0.4]]).astype(numpy.float32),
               "p": numpy.full(count, 0.3, numpy.float32)}
    made = model(nodes, [("u", FLOAT, None), ("n", FLOAT, None), ("o", FLOAT, None), ("h", HALF, None), ("d", DOUBLE, None),
                         ("trips", FLOAT, None), ("classes", INT32, None), ("b", FLOAT, None)], weights=weights)
    for level, context in checks.contexts(made, levels=(2,)):
        first, second = context.run({}), context.run({})
        for name in "uv":
            values = first["u"] if name == "u" else second["u"]
            checks.bound(f"{case}-uniform-mean-{name}", abs(values.mean() - 0.5), 4 * (1 / 12 / count)**0.5)
            checks.bound(f"{case}-uniform-{name}", kolmogorov(values, lambda v: v), 1.95)
            squares = numpy.histogram(values, 64, (0, 1))[0]
            checks.bound(f"{case}-uniform-chi-square-{name}", ((squares - count / 64)**2 / (count / 64)).sum(), 63 + 4 * 126**0.5)
        normals = {"n": first["n"], "o": first["o"], "h": first["h"].astype(numpy.float64), "d": first["d"],
                   "run": second["n"], "trip0": first["trips"][0], "trip1": first["trips"][1]}
        for name, values in normals.items():
            checks.bound(f"{case}-normal-mean-{name}", abs(values.mean(dtype=numpy.float64)), 4 / count**0.5)
            checks.bound(f"{case}-normal-variance-{name}", abs(values.var(dtype=numpy.float64) - 1), 4 * (2 / count)**0.5)
            # Steps of FP16 are seen from 1 on.
            checks.bound(f"{case}-normal-{name}", kolmogorov(values, normal_distribution), 1.95)
            neighbours = numpy.corrcoef(values[:-1], values[1:])[0, 1]
            checks.bound(f"{case}-neighbours-{name}", abs(neighbours), 4 / count**0.5)
        names = list(normals)
        for i, one in enumerate(names):
            for other in names[:i]:
                correlation = numpy.corrcoef(normals[one], normals[other])[0, 1]
                checks.bound(f"{case}-{one}-{other}", abs(correlation), 4 / count**0.5)
        found = numpy.bincount(first["classes"][0], minlength=4)
        want = count * numpy.array([0.1, 0.2, 0.3, 0.4])
        checks.bound(f"{case}-classes", ((found - want)**2 / want).sum(), 16.3)
        checks.bound(f"{case}-bernoulli", abs(first["b"].mean(dtype=float) - 0.3), 4 * (0.21 / count)**0.5)


def check_refusals(checks):
    """What cannot be drawn is refused by name."""
    three = [("x", FLOAT, [2, 3, 4])]
    for case, nodes, inputs, text in (
            ("refused-interval", [node("RandomUniform", [], "y", shape=[2], low=1.0, high=0.0)], [], "low must not be above high"),
            ("refused-half", [node("RandomUniform", [], "y", shape=[2], low=70000.0, high=80000.0, dtype=HALF)], [],
             "its type has no number"),
            ("refused-rank", [node("Multinomial", ["x"], "y")], three, "rank"),
            ("refused-classes", [node("Multinomial", ["x"], "y")], [("x", FLOAT, [2, 0])], "its input has no classes to choose from"),
            ("refused-ratio", [node("Dropout", ["x", "r", "t"], "y")], three, "ratio is not 0 or more")):
        if not checks.wanted(case):
            continue
        kind = HALF if case == "refused-half" else INT32 if nodes[0].op_type == "Multinomial" else FLOAT
        made = model(nodes, [("y", kind, None)], inputs,
                     {"r": numpy.array(1.5, numpy.float32), "t": numpy.array(True)} if case == "refused-ratio" else {})
        artefact.check_refusal(checks.suite, case, made, text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    options = parser.parse_args()
    suite = harness.Suite("random-numbers", options.build)
    sys.path.insert(0, str(suite.build / "python"))
    os.environ["PATH"] = f"{suite.build / 'bin'}:{os.environ['PATH']}"
    import cameo
    known = reference.philox(2**64 - 1, [2**32 - 1] * 4)
    suite.ok() if [int(word) for word in known] == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD] else suite.fail(
        "reference", "philox is not that of its authors")
    checks = Checks(suite, cameo, options)
    for check in (check_types, check_like, check_bernoulli, check_multinomial, check_dropout, check_loops, check_scans,
                  check_maps, check_branches, check_seeds, check_constants, check_sizes, check_precision,
                  check_distributions, check_refusals):
        check(checks)
    sys.exit(suite.close())


if __name__ == "__main__":
    main()
