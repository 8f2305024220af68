#!/usr/bin/env python3
"""What cameoc is told of a model's inputs: --shape-values makes them constants, --shapes=x.0=y.0 sizes one, and
--overridable initialisers inputs, beside ONNX Runtime, which is fed with the same numbers; what does not fit is told by name,
number and limit."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import json
import re
import sys

import numpy
import onnx
from onnx import TensorProto, helper

import artefact
import harness
import reference

FLOAT, BOOL, INT64, INT32 = TensorProto.FLOAT, TensorProto.BOOL, TensorProto.INT64, TensorProto.INT32
I64, F32 = numpy.int64, numpy.float32
X = numpy.arange(24, dtype=F32).reshape(2, 3, 4) - 7
USAGE = 2


def node(kind, inputs, outputs=("y",), **attributes):
    return helper.make_node(kind, inputs, outputs, f"make_{outputs[0]}", **attributes)


def branch(name, kind, output):
    return helper.make_graph([helper.make_node(kind, ["x"], [output])], name, [],
                             [helper.make_tensor_value_info(output, FLOAT, None)])


def model(nodes, given, weights=None, *, sizes=(2, 3, 4), outputs=(("y", FLOAT, None), ), opset=18):
    """Of x and the inputs (name, element type, sizes)."""
    return artefact.model("graph", nodes, [("x", FLOAT, sizes), *given], outputs, weights or {}, opset=opset)


def choice(condition):
    return node("If", [condition], then_branch=branch("then", "Relu", "t"), else_branch=branch("else", "Neg", "e"))


def counted():
    """x doubled n times."""
    state = [helper.make_tensor_value_info("k", FLOAT, None)]
    body = helper.make_graph(
        [helper.make_node("Add", ["h", "h"], ["k"]), helper.make_node("Identity", ["c"], ["d"])], "body",
        [helper.make_tensor_value_info("i", INT64, []), helper.make_tensor_value_info("c", BOOL, []),
         helper.make_tensor_value_info("h", FLOAT, None)],
        [helper.make_tensor_value_info("d", BOOL, []), *state])
    return node("Loop", ["n", "", "x"], body=body)


def cases():
    """(name, model, the fixed inputs' arrays, what --shape-values takes)"""
    rate = [node("Equal", ["rate", "wanted"], ["c"]), choice("c")]
    for value in (16000, 8000):
        yield f"rate-{value}", model(rate, [("rate", INT64, [])], {"wanted": numpy.array(16000, I64)}), \
            {"rate": numpy.array(value, I64)}, f"rate={value}"
    for value in (True, False):
        for text in (str(value).lower(), str(int(value))):
            yield f"condition-{text}", model([choice("c")], [("c", BOOL, [])]), {"c": numpy.array(value)}, f"c={text}"
    yield "condition-list", model([choice("c")], [("c", BOOL, [1])]), {"c": numpy.array([True])}, "c=true"
    for count in (0, 1, 5):
        yield f"trips-{count}", model([counted()], [("n", INT64, [])]), {"n": numpy.array(count, I64)}, f"n={count}"
    for axis in (0, 2, -1):
        yield f"axis-{axis}", model([node("CumSum", ["x", "axis"])], [("axis", INT32, [])]), \
            {"axis": numpy.array(axis, numpy.int32)}, f"axis={axis}"
    for axes in ([0], [1, -1], [0, 1, 2]):
        words = ",".join(map(str, axes))
        yield f"axes-{words}", model([node("ReduceSum", ["x", "axes"])], [("axes", INT64, ["R"])]), \
            {"axes": numpy.array(axes, I64)}, f"axes={words}"
    yield "axes-empty", model([node("ReduceSum", ["x", "axes"], noop_with_empty_axes=1)], [("axes", INT64, ["R"])]), \
        {"axes": numpy.array([], I64)}, "axes="
    yield "spaces", model([node("Reshape", ["x", "sizes"])], [("sizes", INT64, [3])]), \
        {"sizes": numpy.array([4, -1, 2], I64)}, "sizes=4 -1 2"
    yield "file", model([node("Reshape", ["x", "sizes"])], [("sizes", INT64, ["R"])]), \
        {"sizes": numpy.array([4, -1, 2], I64)}, "sizes=@{sizes}"
    yield "file-scalar", model([node("Mul", ["x", "s"])], [("s", FLOAT, [])]), {"s": numpy.array(0.1, F32)}, "s=@{s}"
    yield "file-matrix", model([node("MatMul", ["x", "w"])], [("w", FLOAT, [4, "M"])]), \
        {"w": numpy.arange(8, dtype=F32).reshape(4, 2)}, "w=@{w}"
    yield "matrix", model([node("MatMul", ["x", "w"])], [("w", FLOAT, [4, 2])]), \
        {"w": numpy.arange(8, dtype=F32).reshape(4, 2)}, "w=0,1,2,3,4,5,6,7"
    several = [node("Expand", ["x", "to"], ["wide"]), node("Slice", ["wide", "from", "until", "axis", "step"])]
    yield "several", model(several, [("to", INT64, [4]), ("from", INT64, [1]), ("until", INT64, ["S"]),
                                     ("axis", INT64, ["S"]), ("step", INT64, ["S"])]), \
        {"to": numpy.array([5, 2, 3, 4], I64), "from": numpy.array([-1], I64), "until": numpy.array([-9], I64),
         "axis": numpy.array([0], I64), "step": numpy.array([-2], I64)}, "to=5,2,3,4,from=-1,until=-9,axis=0,step=-2"
    yield "resize", model([node("Resize", ["x", "", "scales"], mode="nearest")], [("scales", FLOAT, [3])]), \
        {"scales": numpy.array([1, 1.5, 0.5], F32)}, "scales=1,1.5,0.5"
    yield "names", model([node("Tile", ["x", "a,1=2:b"])], [("a,1=2:b", INT64, [3]), ("other", INT64, [])],
                         outputs=(("y", FLOAT, None), ("other", INT64, []))), \
        {"other": numpy.array(7, I64), "a,1=2:b": numpy.array([1, 2, 3], I64)}, "other=7,a,1=2:b=1,2,3"
    # A size that has a name is fixed wherever an input has it.
    yield "named-size", model([node("Gather", ["x", "rows"], ["g"], axis=0),
                               node("Add", ["g", "z"])],
                              [("rows", INT64, ["R"]), ("z", FLOAT, ["R", 1, 1])]), \
        {"rows": numpy.array([1, 0, 1], I64)}, "rows=1,0,1"
    for kind, value, text in ((numpy.uint8, 255, "255"), (numpy.int8, -128, "-128"), (numpy.int16, -32768, "-32768"),
                              (numpy.uint32, 2 ** 32 - 1, "4294967295"), (numpy.float64, 0.1, "0.1000000000000000055511151231257827021181583404541015625"),
                              (numpy.float16, 1.5, "+15.00E-1"), (F32, 0.1, "0.100000001490116119384765625"), (F32, -numpy.inf, "-inf"), (F32, -0.0, "-0"),
                              (F32, 2.0 ** -149, "1.40129846432481707092372958328991613128026194187651577175706828388979108268586060148663818836212158203125e-45")):
        element = helper.np_dtype_to_tensor_dtype(numpy.dtype(kind))
        made = model([node("Cast", ["v"], ["f"], to=FLOAT), node("Add", ["x", "f"])], [("v", element, [])])
        yield f"type-{numpy.dtype(kind)}-{text[:9]}", made, {"v": numpy.array(value, kind)}, f"v={text}"
    yield "all", artefact.model("all", [node("Neg", ["v"])], [("v", FLOAT, ["N"])], [("y", FLOAT, None)], {}), \
        {"v": numpy.array([1, -2], F32)}, "v=1,-2"


def wrongs():
    """(name, --shape-values, what is said) of a model with x, rate, sizes, byte, truth, s, open and names."""
    yield "unknown", "ratio=1", "--shape-values: the model has no input 'ratio'; inputs: x, rate, sizes, byte, truth, s, " \
        "open, word"
    yield "scalar", "rate=1,2", "--shape-values: input 'rate' has 1 element by its shape scalar, not 2"
    yield "scalar-empty", "rate=", "--shape-values: input 'rate' has 1 element by its shape scalar, not 0"
    yield "count", "sizes=1,2", "--shape-values: input 'sizes' has 3 elements by its shape 3, not 2"
    yield "beyond", "byte=256", "--shape-values: input 'byte' takes no such number: '256' is beyond 0 to 255; its " \
        "elements are of type uint8"
    yield "negative", "byte=-1", "'-1' is beyond 0 to 255"
    yield "beyond-64", "rate=9223372036854775808", "is beyond -9223372036854775808 to 9223372036854775807"
    yield "fraction", "rate=1.5", "input 'rate' takes no such number: '1.5' is no integer; its elements are of type int64"
    yield "boolean", "truth=2", "input 'truth' takes no such number: '2' is no boolean: true or 1, false or 0"
    yield "inexact", "s=0.1", "'0.1' is none exactly; the nearest is 0.100000001490116119384765625; its elements are of " \
        "type float"
    yield "large", "s=1e39", "'1e39' is beyond 340282346638528859811704183484516925440"
    yield "open", "open=1", "input 'open' has open sizes, which numbers do not tell: --shapes=open:... fixes them"
    yield "twice", "rate=1,rate=1", "--shape-values: it gives 'rate' twice"
    yield "words", "rate=fast", "--shape-values: 'fast' in 'rate=fast' is neither a number nor a list of numbers"
    yield "no-form", "rate", "--shape-values: 'rate' is not of the form input=16000, input=1,3,224,224 or input=@file.npy"
    yield "no-name", "=1", "--shape-values: no name stands before '=1'"
    yield "no-file", "rate=@absent.npy", "--shape-values: 'absent.npy': No such file or directory"
    yield "other-file", "rate=@numbers.txt", "--shape-values: 'numbers.txt' in 'rate=@numbers.txt' is no .npy file"
    yield "file-type", "rate=@wrong.npy", "input 'rate' has elements of type int64, those of 'wrong.npy' are int32"
    yield "file-shape", "sizes=@long.npy", "--shape-values: input 'sizes' has size 3 in dimension 0, not 4"
    yield "file-rank", "rate=@long.npy", "--shape-values: input 'rate' has 0 dimensions, not 1"
    yield "strings", "word=1", "input 'word' has elements of type string; booleans, integers of 8 to 64 bits and floats " \
        "of 16 to 64 bits can be fixed"


class InputOptions:
    def __init__(self, options):
        self.suite = harness.Suite("input-options", options.build.resolve())
        self.filter, self.folder = options.filter, self.suite.work

    def compile(self, *words):
        return harness.run([self.suite.tool("cameoc"), *words], artefact.SECONDS, cwd=self.folder)

    def expect(self, case, holds, reason, *steps):
        if holds:
            self.suite.ok(case)
        else:
            self.suite.fail(case, reason, *steps)

    def check_refusal(self, case, code, text, *words):
        if not re.search(self.filter, case):
            return
        step = self.compile(*words, "-o", "refused", "--target=sim:sm_80")
        self.expect(case, step.code == code and text in step.output and step.output.count("error: ") == 1,
                    f"{step.how()}; '{text}' is wanted", step)


def feed_of(made, fixed):
    feed = {}
    for given in made.graph.input:
        dims = [dim.dim_value or 3 for dim in given.type.tensor_type.shape.dim]
        feed[given.name] = X if given.name == "x" else fixed.get(given.name)
        if feed[given.name] is None:
            feed[given.name] = numpy.arange(numpy.prod(dims), dtype=F32).reshape(dims)
    return feed


def check_values(tests):
    suite = tests.suite
    for name, made, fixed, words in cases():
        if not re.search(tests.filter, name):
            continue
        files = {key: suite.work / f"{name}.{key}.fixed.npy" for key in fixed}
        for key, array in fixed.items():
            numpy.save(files[key], array)
        words = re.sub(r"\{(\w+)\}", lambda found: str(files[found[1]]), words)
        feed = feed_of(made, fixed)
        wanted = reference.expected(made, feed)
        for level in harness.LEVELS:
            program = artefact.Artefact(suite, f"{name}{level}", made, f"--shape-values={words}", level)
            step, arrays = program.run({key: array for key, array in feed.items() if key not in fixed})
            reason = step.how() if step.code else next(filter(None, (
                reference.differs(key, array, other) for key, array, other in
                zip(program.outputs, arrays, wanted))), None)
            tests.expect(f"{name}{level}", reason is None, reason, program.step, step)


def example():
    nodes = [node("Equal", ["rate", "wanted"], ["c"]), choice("c")]
    given = [("rate", INT64, []), ("sizes", INT64, [3]), ("byte", TensorProto.UINT8, []), ("truth", BOOL, []),
             ("s", FLOAT, []), ("open", FLOAT, ["N", "M"]), ("word", TensorProto.STRING, [])]
    return model(nodes, given, {"wanted": numpy.array(16000, I64)})


def check_said(tests):
    """Messages, and what the artefact says of itself."""
    onnx.save(example(), tests.folder / "example.onnx")
    numpy.save(tests.folder / "wrong.npy", numpy.array(1, numpy.int32))
    numpy.save(tests.folder / "long.npy", numpy.array([1, 2, 3, 4], I64))
    for name, words, text in wrongs():
        tests.check_refusal(f"wrong-{name}", USAGE, text, "example.onnx", f"--shape-values={words}")
    tests.check_refusal("wrong-given-twice", USAGE, "--shape-values: it gives 'rate' twice", "example.onnx",
                        "--shape-values=rate=1", "--shape-values=rate=1")
    onnx.save(model([node("Gather", ["x", "rows"], axis=0)], [("rows", INT64, ["R"])]), tests.folder / "rows.onnx")
    tests.check_refusal("wrong-both", USAGE, "--shape-values: input 'rows' has 2 elements by its shape 2, not 3",
                        "rows.onnx", "--shapes=R:2", "--shape-values=rows=1,0,1")
    unranked = model([node("Reshape", ["x", "sizes"])], [("sizes", INT64, None)])
    onnx.save(unranked, tests.folder / "unranked.onnx")
    tests.check_refusal("wrong-unranked", USAGE, "input 'sizes' is of any rank in the model: --shapes=sizes: makes it a "
                        "scalar, --shapes=sizes:2 a list", "unranked.onnx", "--shape-values=sizes=6,4")
    step = tests.compile("unranked.onnx", "-o", "ranked", "--target=sim:sm_80", "--shape-values=sizes=6,4",
                         "--shapes=sizes:2")
    tests.expect("unranked", step.code == 0, step.how(), step)
    small = model([node("Equal", ["rate", "wanted"], ["c"]), choice("c")], [("rate", INT64, [])],
                  {"wanted": numpy.array(16000, I64)})
    onnx.save(small, tests.folder / "rate.onnx")
    step = tests.compile("rate.onnx", "-o", "rate", "--target=sim:sm_80", "--shape-values=rate=16000", "--remarks",
                         "--report=rate.json", "--depfile=rate.d")
    text = "rate: remark: the input is 16000 in every run, as --shape-values says, and no input of the artefact"
    tests.expect("remark", step.code == 0 and text in step.output, step.output, step)
    info = harness.run([tests.folder / "rate", "--info"], artefact.SECONDS)
    tests.expect("info", "inputs:\n  x: 2x3x4xf32\noutputs:" in info.output and
                 "fixed_inputs:\n  rate: 16000\n" in info.output, info.output, info)
    report = json.loads((tests.folder / "rate.json").read_text())
    tests.expect("report", report["fixed_inputs"] == {"rate": "16000"}, str(report.get("fixed_inputs")), step)
    step = harness.run([tests.folder / "rate", "--device=sim", "--random-inputs", "--input=rate=i64=1"], artefact.SECONDS)
    tests.expect("no-input", step.code == USAGE and "rate" in step.output, step.output, step)
    step = tests.compile("rate.onnx", "-o", "written.onnx", "--emit=onnx", "--shape-values=rate=16000")
    inputs = [given.name for given in onnx.load(tests.folder / "written.onnx").graph.input] if step.code == 0 else []
    tests.expect("written", inputs == ["x"], str(inputs), step)
    step = tests.compile("--inspect=json", "rate.onnx", "--shape-values=rate=16000")
    found = json.loads(step.output[step.output.index("{"):]) if step.code == 0 else {}
    tests.expect("inspect", [port["name"] for port in found.get("inputs", [])] == ["x"] and found["supported"],
                 step.output, step)
    numpy.savez(tests.folder / "samples.npz", x=numpy.stack([X, X + 1]).reshape(4, 3, 4), rate=numpy.zeros(2, I64))
    for program, words in (("cameo-compare", ["--data=samples.npz"]),
                           ("cameoc", ["--calibration-data=samples.npz", "--emit=ranges", "-o", "ranges.json"])):
        step = harness.run([tests.suite.tool(program), "rate.onnx", "--shape-values=rate=16000", *words], artefact.SECONDS,
                           cwd=tests.folder)
        tests.expect(f"samples-{program}", step.code == 0, step.how(), step)
    step = tests.compile("rate.onnx", "-o", "rate.mlir", "--stop-after=normalized", "--shape-values=rate=16000")
    tests.expect("stage", step.code == 0, step.how(), step)
    tests.check_refusal("wrong-stage", USAGE, "--shape-values applies to models, not to --start-from=normalized",
                        "rate.mlir", "--start-from=normalized", "--shape-values=rate=16000")
    step = tests.compile("rate.mlir", "-o", "later", "--start-from=normalized", "--target=sim:sm_80")
    info = harness.run([tests.folder / "later", "--info"], artefact.SECONDS)
    tests.expect("later-info", "fixed_inputs:\n  rate: 16000\n" in info.output, info.output, step, info)


#===-- Equal sizes ----------------------------------------------------------------------------------------------===#

def equalities():
    """(name, sizes of x and z, --shapes, what --info has of both, shapes of runs, shapes of a run that is refused)"""
    runs = [((2, 4), (2, 4)), ((1, 4), (1, 4)), ((0, 4), (0, 4))]
    wrong = ((2, 4), (1, 4))
    yield "named", ("A", 4), ("B", 4), "x.0=z.0", "x: Ax4xf32\n  z: Ax4xf32", runs, wrong
    yield "nameless", ("", 4), ("", 4), "x.0=z.0", "x: x.0x4xf32\n  z: x.0x4xf32", runs, wrong
    yield "one-named", ("", 4), ("B", 4), "x.0=z.0", "x: Bx4xf32\n  z: Bx4xf32", runs, wrong
    yield "by-name", ("A", 4), ("", 4), "z.0=A", "x: Ax4xf32\n  z: Ax4xf32", runs, wrong
    yield "both", ("A", "C"), ("B", "D"), "x.0=z.0,z.1=x.1", "x: AxDxf32\n  z: AxDxf32", runs, wrong
    yield "chain", ("A", "C"), ("B", "D"), "x.0=z.0=x.1=z.1", "x: AxAxf32\n  z: AxAxf32", \
        [((3, 3), (3, 3)), ((1, 1), (1, 1))], ((3, 3), (3, 1))
    yield "two-entries", ("A", "C"), ("B", "D"), "x.0=z.0,z.0=x.1,x.1=z.1", "x: AxAxf32\n  z: AxAxf32", \
        [((3, 3), (3, 3))], ((3, 3), (3, 1))
    yield "known", (2, 4), ("B", 4), "x.0=z.0", "x: 2x4xf32\n  z: 2x4xf32", runs[:1], ((2, 4), (1, 4))
    yield "number", ("A", 4), ("B", 4), "x.0=z.0=2", "x: 2x4xf32\n  z: 2x4xf32", runs[:1], ((3, 4), (3, 4))
    yield "with-shape", ("A", 4), ("B", 4), "x.0=z.0,x:2x4", "x: 2x4xf32\n  z: 2x4xf32", runs[:1], ((1, 4), (1, 4))
    yield "rank", None, ("B", 4), "x:?x4,x.0=z.0", "x: Bx4xf32\n  z: Bx4xf32", runs, wrong


def check_equalities(tests):
    for name, left, right, shapes, info, runs, wrong in equalities():
        if not re.search(tests.filter, f"equal-{name}"):
            continue
        given = [("x", FLOAT, left), ("z", FLOAT, right)]
        made = artefact.model("equal", [node("Add", ["x", "z"])], given, [("y", FLOAT, None)], {})
        for level in harness.LEVELS:
            case = f"equal-{name}{level}"
            program = artefact.Artefact(tests.suite, case, made, f"--shapes={shapes}", level)
            said = harness.run([program.path, "--info"], artefact.SECONDS)
            tests.expect(f"{case}-info", info in said.output, said.output, program.step, said)
            for shape, other in runs:
                feed = {"x": numpy.arange(numpy.prod(shape), dtype=F32).reshape(shape), "z": numpy.ones(other, F32)}
                step, arrays = program.run(feed)
                reason = step.how() if step.code else reference.differs("y", arrays[0], feed["x"] + feed["z"])
                tests.expect(f"{case}-{shape[0]}", not reason, reason, step)
            step, _ = program.run({"x": numpy.zeros(wrong[0], F32), "z": numpy.zeros(wrong[1], F32)})
            tests.expect(f"{case}-wrong", step.code == USAGE and step.output.count("error: ") == 1, step.how(), step)


def check_wrong_equalities(tests):
    given = [("x", FLOAT, ["A", 4]), ("z", FLOAT, ["B", 3]), ("r", FLOAT, None), ("s", FLOAT, [])]
    nodes = [node("Neg", [name], [f"y_{name}"]) for name, *_ in given]
    outputs = [(f"y_{name}", FLOAT, None) for name, *_ in given]
    onnx.save(artefact.model("sizes", nodes, given, outputs, {}), tests.folder / "sizes.onnx")
    names = "; inputs: x, z, r, s; open sizes: A, B"
    for name, shapes, text in (
            ("differ", "x.1=z.1", "--shapes: 'x.1' and 'z.1' are not equal: 4 and 3"),
            ("differ-number", "x.0=z.0=5,z.0=x.1", "--shapes: 'z.0' and 'x.1' are not equal: 5 and 4"),
            ("differ-shape", "x:2x4,z:3x3,x.0=z.0", "--shapes: 'x.0' and 'z.0' are not equal: 2 and 3"),
            ("dimension", "x.2=z.0", "--shapes: x.2: input 'x' has 2 dimensions; indices begin with 0"),
            ("scalar", "s.0=z.0", "--shapes: s.0: input 's' has 0 dimensions; indices begin with 0"),
            ("input", "x.0=w.0", f"--shapes: the model has no dimension and no open size 'w.0'{names}"),
            ("size", "x.0=C", f"--shapes: the model has no dimension and no open size 'C'{names}"),
            ("rank", "r.0=x.0", "--shapes: r.0: input 'r' is of any rank in the model; --shapes=r:?x? gives it two "
             "dimensions"),
            ("form", "x=z", "--shapes: 'x=z' is not of the form input:1x3x224x224, size:8 or input.0=other.0")):
        tests.check_refusal(f"wrong-equal-{name}", USAGE, text, "sizes.onnx", f"--shapes={shapes}")
    # All inputs without a rank are named at once.
    onnx.save(artefact.model("ranks", [node("Add", ["x", "z"])], [(name, FLOAT, None) for name in "xz"],
                             [("y", FLOAT, None)], {}), tests.folder / "ranks.onnx")
    tests.check_refusal("ranks", 1, "input 'x' has no known rank; nearest supported: --shapes=x:?x?x3,z:?x?x3, with as many "
                        "sizes each as runs give, ? for one that stays open", "ranks.onnx")


#===-- Initialisers as inputs -----------------------------------------------------------------------------------===#

def check_overridable(tests):
    """Of an initialiser that is an input, too, and of one that is none; the default is not in the artefact."""
    weights = {"w": numpy.arange(4, dtype=F32), "b": numpy.array([1, 2, 3, 4], F32)}
    made = artefact.model("weights", [node("Mul", ["x", "w"], ["m"]), node("Add", ["m", "b"])],
                          [("x", FLOAT, [2, 4]), ("w", FLOAT, ["N"])], [("y", FLOAT, None)], weights)
    x = numpy.arange(8, dtype=F32).reshape(2, 4)
    for case, names in (("none", ()), ("default", ("w",)), ("weight", ("b",)), ("both", ("b", "w"))):
        given = {name: numpy.array([5, -1, 0, 2], F32) for name in names}
        wanted = x * given.get("w", weights["w"]) + given.get("b", weights["b"])
        for level in harness.LEVELS:
            program = artefact.Artefact(tests.suite, f"overridable-{case}{level}", made, level,
                                        *[f"--overridable={name}" for name in names])
            step, arrays = program.run({"x": x, **given})
            reason = step.how() if step.code else reference.differs("y", arrays[0], wanted)
            tests.expect(f"overridable-{case}{level}", not reason, reason, program.step, step)
            said = {name: f"the initialiser '{name}' becomes an input, which each run must be given" in program.step.output
                    for name in weights}
            tests.expect(f"overridable-{case}{level}-said", said == {name: name in names for name in weights} and
                         ("becomes a constant; --overridable=w keeps it an input" in program.step.output) ==
                         ("w" not in names), program.step.output, program.step)
            if names:
                step, _ = program.run({"x": x})
                tests.expect(f"overridable-{case}{level}-missing", step.code == USAGE and names[0] in step.output,
                             step.output, step)
    onnx.save(made, tests.folder / "weights.onnx")
    info = harness.run([tests.folder / "overridable-both-O2", "--info"], artefact.SECONDS)
    tests.expect("overridable-info", "inputs:\n  x: 2x4xf32\n  w: Nxf32\n  b: 4xf32\n" in info.output, info.output, info)
    tests.check_refusal("overridable-unknown", USAGE, "--overridable: the model has no initialiser 'v'", "weights.onnx",
                        "--overridable=v")
    tests.check_refusal("overridable-input", USAGE, "--overridable: the model has no initialiser 'x'", "weights.onnx",
                        "--overridable=x")
    tests.check_refusal("overridable-twice", USAGE, "--overridable: it gives 'w' twice", "weights.onnx",
                        "--overridable=w", "--overridable=w")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    tests = InputOptions(parser.parse_args())
    check_values(tests)
    check_said(tests)
    check_equalities(tests)
    check_wrong_equalities(tests)
    check_overridable(tests)
    return tests.suite.close()


if __name__ == "__main__":
    sys.exit(main())
