#!/usr/bin/env python3
"""cameoc's own command line: the summary of a compilation, --inspect, sizes by their names, modes of
files, what a missing file of external data is told as, and exit codes."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import collections
import json
import re
import sys

import numpy
import onnx
from onnx import TensorProto, helper

import harness
import small_models

SECONDS = 60
REFUSED, USAGE, DEVICE = 1, 2, 3  # exit codes of docs/command-line.md


class CompilerLine:
    def __init__(self, options):
        self.suite = harness.Suite("compiler-line", options.build.resolve())
        self.folder = self.suite.work
        self.model = small_models.layers().model
        onnx.save(self.model, self.folder / "model.onnx")

    def run(self, *words):
        return harness.run([self.suite.tool("cameoc"), *words], SECONDS, cwd=self.folder)

    def compile(self, *words):
        return self.run("model.onnx", "-o", "model", "--target=sim:sm_80", *words)

    def judge(self, case, step, code, *texts):
        """The exit code, the texts in what is printed, and one error where it is not 0."""
        missing = [text for text in texts if text not in step.output]
        errors = len(re.findall(r"(?:^|: )error: ", step.output, re.MULTILINE))
        if step.code != code or errors != (code != 0):
            self.suite.fail(case, f"{step.how()}, not {code}, with {errors} errors: "
                            f"{step.output[-300:]}", step)
        elif missing:
            self.suite.fail(case, f"'{missing[0]}' is not in {step.output[-400:]!r}", step)
        else:
            self.suite.ok(case)

    def expect(self, case, holds, reason, *steps):
        if holds:
            self.suite.ok(case)
        else:
            self.suite.fail(case, reason, *steps)


def check_summary(tests):
    """Three lines on standard error, of artefacts alone, and none with -q."""
    step = tests.compile()
    lines = step.output.splitlines()
    products = sum(node.op_type == "MatMul" for node in tests.model.graph.node)
    wanted = [r"model: \d+\.\d\d MB in \d+\.\d s: simulator image for sm_80",
              rf"\d+ launches: \d+ fp32; estimated \d+\.\d us on a100-40; {products} products: "
              rf"{products} fp32",
              r"open sizes: N, S; schedules and estimates take 64 for each; --shapes=N:8 fixes one"]
    matched = len(lines) == 3 and all(map(re.fullmatch, wanted, lines))
    tests.expect("summary", step.code == 0 and matched, step.output, step)
    fixed = tests.compile("--shapes=N:2,S:5", "--precision=fp16")
    tests.judge("summary-fixed", fixed, 0, f"{products} products: {products} fp16; taken to fit FP16, "
                "as there are no --ranges\n", "\nsizes of inputs: x 2x5x32\n")
    nameless = onnx.ModelProto()
    nameless.CopyFrom(tests.model)
    for value in (*nameless.graph.input, *nameless.graph.output, *nameless.graph.value_info):
        value.type.tensor_type.shape.dim[0].ClearField("dim_param")
    onnx.save(nameless, tests.folder / "nameless.onnx")
    for case, words, text in (("", [], "open sizes: S, x ?xSx32; schedules and estimates take 64 for each; "
                                       "--shapes=S:8 fixes one\n"),
                              ("-alone", ["--shapes=S:5"], "open sizes: x ?x5x32; schedules and estimates take 64 for "
                                                           "it; --shapes=x:8x5x32 fixes it\n")):
        step = tests.run("nameless.onnx", "-o", "nameless", "--target=sim:sm_80", *words)
        tests.judge(f"summary-nameless{case}", step, 0, text)
    for case, words in {"quiet": ["-q"], "quiet-long": ["--quiet"], "onnx": ["--emit=onnx"],
                        "stage": ["--stop-after=tiled"]}.items():
        step = tests.compile(*words)
        tests.expect(f"silent-{case}", step.code == 0 and not step.output, step.output, step)
    step = harness.run(["sh", "-c", f"{tests.suite.tool('cameoc')} model.onnx -o model "
                        "--target=sim:sm_80 2> /dev/null"], SECONDS, cwd=tests.folder)
    tests.expect("summary-stderr", step.code == 0 and not step.output, step.output, step)
    # A model of the same kernels for each target says them once, one of others apart.
    step = tests.compile("--target=sim:sm_80,sim:sm_90", "--precision=fp16")
    tests.judge("summary-targets", step, 0, "simulator image for sm_80, simulator image for sm_90\n",
                " us on a100-40, ", " us on h100-sxm")


def check_int8(tests):
    numpy.savez(tests.folder / "data.npz",
                x=numpy.random.default_rng(1).standard_normal((8, 5, 32)).astype(numpy.float32))
    step = tests.compile("--precision=int8", "--calibration-data=data.npz", "--accuracy=10dB")
    tests.judge("summary-int8", step, 0, "2 products: 2 int8; accuracy ", " dB, 10.0 dB needed (sqnr)\n")
    step = tests.compile("--precision=int8", "--calibration-data=data.npz",
                         "--precision-of=down=fp16")
    tests.judge("summary-kept", step, 0, "2 products: 1 fp16, 1 int8")
    step = tests.compile("--precision=int8", "--calibration-data=data.npz", "--precision-of=MatMul=fp16")
    tests.judge("summary-none", step, 0, "2 products: 2 fp16; none is INT8, --remarks says why\n")


def check_message_format(tests):
    """An object of JSON a line, whatever goes right or wrong."""
    def messages(step):
        return [json.loads(line) for line in step.output.splitlines()]

    form = "--message-format=json"
    step = tests.compile(form, "--remarks", "--precision=int8", "--calibration-data=data.npz", "--accuracy=10dB")
    kinds = {message["kind"] for message in messages(step)}
    tests.expect("json", step.code == 0 and kinds == {"diagnostic", "progress", "summary"}, step.output, step)
    summary = [message["text"] for message in messages(step) if message["kind"] == "summary"]
    tests.expect("json-summary", len(summary) == 4 and "2 int8" in summary[2], step.output, step)
    steps = [message for message in messages(step) if message["kind"] == "progress"]
    tests.expect("json-progress", all(0 <= one["done"] <= one["all"] and one["what"] for one in steps), step.output, step)
    kernels = [one for one in steps if one["what"] == "kernels for sim:sm_80"]
    tests.expect("json-kernels", kernels and kernels[-1]["done"] == kernels[-1]["all"] > 0, step.output, step)
    quiet = tests.compile(form, "-q")
    tests.expect("json-quiet", quiet.code == 0 and not quiet.output, quiet.output, quiet)
    wrong = onnx.ModelProto()
    wrong.CopyFrom(tests.model)
    wrong.graph.node[0].op_type, wrong.graph.node[1].op_type = "Nothing", "Nowhere"
    wrong.graph.node[0].name = 'a "name"\nof two lines \N{SNOWMAN}'
    onnx.save(wrong, tests.folder / "wrong.onnx")
    step = tests.run("wrong.onnx", "-o", "wrong", form)
    found = messages(step)[-1]
    nodes = [note["where"] for note in found.get("notes", [])]
    tests.expect("json-error", step.code == 1 and found["severity"] == "error" and
                 nodes == [node.name for node in wrong.graph.node[:2]], step.output, step)
    for case, words in {"option": ["--nothing"], "file": ["none.onnx", "-o", "x"], "value": ["--precision=fp12"]}.items():
        step = tests.run(*words, form)
        tests.expect(f"json-{case}", step.code == 2 and [one["severity"] for one in messages(step)] == ["error"],
                     step.output, step)
    tests.judge("json-format", tests.compile("--message-format=xml"), 2, "'xml' is not one of text and json")


def check_names(tests):
    """Kernels are named by what they are for, not by the inputs that they convert first."""
    step = tests.compile("--precision=fp16", "-q")
    info = harness.run([tests.folder / "model", "--info=json"], SECONDS)
    kernels = json.loads(info.output)["entries"][0]["kernels"]
    names = [re.sub(r"^k\d+_", "", kernel["name"]) for kernel in kernels]
    nodes = {node.name for node in tests.model.graph.node}
    wrong = [name for name in names if not any(name.startswith(node) for node in nodes)]
    tests.expect("names", kernels and not wrong, f"{wrong} of {names}", step)


def check_inspection_as_json(tests):
    step = tests.run("--inspect=json", "model.onnx", "--shapes=S:5")
    found = json.loads(step.output) if step.code == 0 else {}
    operators = collections.Counter(node.op_type for node in tests.model.graph.node if node.op_type != "Constant")
    tests.expect("inspect-json", found.get("operators") == dict(operators) and found["supported"] and
                 found["inputs"] == [{"name": "x", "type": "float", "shape": ["N", 5, 32]}] and
                 found["open_sizes"] == ["N"] and found["flop"] > 0, step.output, step)
    tests.judge("inspect-xml", tests.run("--inspect=xml", "model.onnx"), 2, "'xml' is not json")


def check_inspection(tests):
    step = tests.run("--inspect", "model.onnx")
    # With the mean's axes, an operand since opset 18.
    numbers = 1 + sum(int(numpy.prod(tensor.dims)) for tensor in tests.model.graph.initializer)
    tests.judge("inspect", step, 0, "\ninputs:\n  x: NxSx32 float\noutputs:\n  y: NxSx32 float\n",
                "\n  mean: Nx32 float\nopen sizes: N, S\n", f"\nconstants: {numbers} numbers in 5 tensors",
                "\nnodes: 7\n  2 MatMul, 1 Add, ", "\narithmetic: 0.008 MFLOP in 2 products; "
                "with N = 1, S = 1\n", "\nall of it is supported\n")
    step = tests.run("--inspect", "model.onnx", "--shapes=N:1000,S:40")
    flops = 2 * 1000 * 40 * 32 * 64 * 2
    tests.judge("inspect-shapes", step, 0, "x: 1000x40x32 float", "open sizes: none\n",
                f"arithmetic: {flops / 1e6:.3f} MFLOP in 2 products\n")
    step = tests.run("--inspect", "model.onnx", "--shapes=N:10000,S:40")
    tests.judge("inspect-large", step, 0, f"arithmetic: {flops / 1e8:.3f} GFLOP in 2 products\n")
    nodes = [helper.make_node("Relu", ["x"], ["r"], "relu"),
             helper.make_node("Twist", ["r"], ["y"], "twist", domain="com.acme")]
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3]) for name in "xy"]
    model = helper.make_model(
        helper.make_graph(nodes, "twisted", ports[:1], ports[1:]), ir_version=8,
        opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.acme", 1)])
    onnx.save(model, tests.folder / "twisted.onnx")
    step = tests.run("--inspect", "twisted.onnx")
    tests.judge("inspect-refused", step, REFUSED, "1 Relu, 1 com.acme.Twist", ", com.acme 1",
                "unsupported: 1 node cannot be compiled", "node 'twist' (com.acme.Twist, opset 1)")
    tests.judge("inspect-missing", tests.run("--inspect", "none.onnx"), USAGE, "cannot open 'none.onnx'")
    tests.judge("inspect-sizes", tests.run("--inspect", "model.onnx", "--shapes=M:1"), USAGE,
                "no input and no open size 'M'")
    step = harness.run(["sh", "-c", f"{tests.suite.tool('cameoc')} --inspect model.onnx > /dev/full"],
                       SECONDS, cwd=tests.folder)
    tests.judge("inspect-full-disk", step, USAGE, "cannot write the output: No space left on device")


def check_sizes(tests):
    kinds = [helper.make_tensor_value_info(name, TensorProto.FLOAT, sizes)
             for name, sizes in (("a:0", ["M", "K"]), ("b,1", ["K", "N"]), ("y", None))]
    model = helper.make_model(helper.make_graph(
        [helper.make_node("MatMul", ["a:0", "b,1"], ["y"])], "product", kinds[:2], kinds[2:]),
        opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    onnx.save(model, tests.folder / "product.onnx")
    words = ["product.onnx", "-o", "product", "--target=sim:sm_80"]
    for case, shapes, a, b in (("one", "K:3", "Mx3", "3xN"), ("open", "K:3,M:?", "Mx3", "3xN"),
                               ("mixed", "N:7,a:0:2x3", "2x3", "3x7")):
        tests.judge(f"sizes-{case}", tests.run(*words, f"--shapes={shapes}"), 0)
        info = harness.run([tests.folder / "product", "--info"], SECONDS)
        tests.expect(f"sizes-{case}-info", f"a:0: {a}xf32\n  b,1: {b}xf32\n" in info.output,
                     info.output, info)
    for case, shapes, text in (
            ("unknown", "batch:8", "--shapes: the model has no input and no open size 'batch'; "
             "inputs: a:0, b,1; open sizes: M, K, N"),
            ("two", "K:3x4", "--shapes: 'K' is an open size, which is one number, not 2"),
            ("differ", "K:3,a:0:2x4", "--shapes: input 'a:0' asks for \"K\" = 4; it is 3 already")):
        tests.judge(f"sizes-{case}", tests.run(*words, f"--shapes={shapes}"), USAGE, text)


def check_files(tests):
    """Programs can be executed, and nothing else, whatever there was before."""
    for kind, mode in (("exe", 0o755), ("plan", 0o644), ("lib", 0o644), ("ptx", 0o644),
                       ("onnx", 0o644), ("exe", 0o755)):
        target = "ptx:sm_80" if kind == "ptx" else "sim:sm_80"
        step = tests.compile(f"--emit={kind}", f"--target={target}")
        found = (tests.folder / "model").stat().st_mode & 0o777
        tests.expect(f"mode-{kind}", step.code == 0 and found == mode, f"{found:o}", step)
    external = onnx.ModelProto()
    external.CopyFrom(tests.model)
    onnx.save(external, tests.folder / "external.onnx", save_as_external_data=True,
              location="weights", size_threshold=0)
    (tests.folder / "weights").unlink()
    step = tests.run("external.onnx", "-o", "model")
    first = tests.model.graph.initializer[0].name
    tests.judge("external-missing", step, REFUSED, f"external data of '{first}' and 3 more: cannot open "
                "'weights': No such file or directory; it is looked for in '.'")
    tests.expect("external-once", step.output.count("weights") == 1, step.output, step)
    # Other problems of the same model are told beside it.
    external.graph.node[0].op_type = "LayerNormalisation"
    onnx.save(external, tests.folder / "external.onnx")
    step = tests.run("external.onnx", "-o", "model")
    tests.expect("external-and-more", step.code == REFUSED and step.output.count("'weights'") == 1,
                 step.output, step)


def check_header(tests):
    """A header compiles, whatever tensors are called, and has each of them."""
    names = ["a b", "a:b", "1", 'q"\\n', "größe", "line\nbreak", "class"]
    kinds = [TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16, TensorProto.BOOL, TensorProto.INT64,
             TensorProto.INT4, TensorProto.UINT8]
    ports = [[helper.make_tensor_value_info(prefix + name, kind, {0: [], 5: [4]}.get(i, [f"N/{i}", 4]))
              for i, (name, kind) in enumerate(zip(names, kinds))] for prefix in ("", "out ")]
    nodes = [helper.make_node("Identity", [name], ["out " + name]) for name in names]
    # States: a cache that grows, and a sum whose elements have no type in C++.
    for name, kind, sizes in (("past", TensorProto.INT32, "P"), ("held", TensorProto.FLOAT16, 1)):
        ports[0] += [helper.make_tensor_value_info(f"{name}.in", kind, [sizes, 4]),
                     helper.make_tensor_value_info(f"{name}.x", kind, [1, 4])]
        ports[1].append(helper.make_tensor_value_info(f"{name}.out", kind, None))
    nodes += [helper.make_node("Concat", ["past.in", "past.x"], ["past.out"], axis=0),
              helper.make_node("Add", ["held.in", "held.x"], ["held.out"])]
    onnx.save(helper.make_model(helper.make_graph(nodes, "names", *ports), ir_version=10,
                                opset_imports=[helper.make_opsetid("", 21)]), tests.folder / "names.onnx")
    step = tests.run("names.onnx", "-o", "libint.so", "--emit=lib", "--header=int.hpp", "--depfile=int d",
                     "--target=sim:sm_80", "--state=*.in:*.out")
    tests.judge("header", step, 0)
    calls = "".join(f"  context.{call};\n" for call in (
        "set_N_1(1)", "bind_a_b(one)", "bind_a_b_2(bits)", "bind_1(bits)", "bind_class(bytes)",
        "bind_out_class(bytes)", "read_out_a_b()[0] = 1", "read_out_gr____e()[0] = int64_t(1)", "readBytes(1)[0] = 1",
        "state_past_in()[0] = int32_t(1)", "state_held_in()[0] = 1", "reserve_past_in(100)"))
    (tests.folder / "use.cpp").write_text(f'''#include "int.hpp"
void use(model_int::Context &context) {{
  std::vector<float> one(1);
  std::vector<uint16_t> bits(4);
  std::vector<uint8_t> bytes(4);
{calls}}}
''')
    step = harness.run(["clang++-19", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only",
                        f"-I{harness.SOURCE / 'runtime'}", "use.cpp"], SECONDS, cwd=tests.folder)
    tests.judge("header-compiles", step, 0)
    rule = (tests.folder / "int d").read_text()
    tests.expect("depfile", rule == "libint.so: \\\n  names.onnx\n", rule)
    for case, words, text in (
            ("header-exe", ["--header=m.hpp"], "--header is of a library; it goes with --emit=lib"),
            ("header-input", ["--emit=lib", "--header=model.onnx"], "'model.onnx' is the input 'model.onnx'"),
            ("depfile-output", ["--depfile=model"], "'model' is what -o writes"),
            ("depfile-folder", ["--depfile=none/d"], "cannot write 'none/d'")):
        tests.judge(case, tests.compile(*words), USAGE, text)
    step = tests.run("model.onnx", "-o", "-", "--emit=ptx", "--target=ptx:sm_80", "--depfile=d")
    tests.judge("depfile-stream", step, USAGE, "--depfile: its rule makes a file; write -o FILE")


def check_exit_codes(tests):
    for case, words, code, text in (
            ("option", ["model.onnx", "-o", "model", "--fp16"], USAGE, "write --precision=fp16"),
            ("missing", ["none.onnx", "-o", "model"], USAGE, "cannot open 'none.onnx'"),
            ("folder", [".", "-o", "model"], USAGE, "cannot open '.': not a regular file"),
            ("device", ["/dev/null", "-o", "model"], USAGE, "cannot open '/dev/null': not a regular file"),
            ("ptxas", ["model.onnx", "-o", "model", "--ptxas=/none"], USAGE, "no executable ptxas at /none"),
            ("ranges-text", ["model.onnx", "-o", "model", "--precision=int8", "--ranges=model.onnx"], USAGE, "ranges in"),
            ("to-folder", ["model.onnx", "-o", "."], USAGE, "cannot write '.': it is a folder"),
            ("samples", ["model.onnx", "-o", "model", "--precision=int8", "--calibration-data=none.npz"],
             USAGE, "samples 'none.npz': No such file"),
            ("samples-text", ["model.onnx", "-o", "model", "--precision=int8", "--calibration-data=model.onnx"],
             USAGE, "samples 'model.onnx': "),
            ("cache-text", ["model.onnx", "-o", "model", "--precision=int8", "--calibration-cache=data.npz"],
             USAGE, "calibration cache 'data.npz': "),
            ("samples-other", ["twisted.onnx", "-o", "model", "--precision=int8", "--calibration-data=data.npz"],
             USAGE, "samples 'data.npz': input 'x': the array is float32 of 8x5x32"),
            ("ranges", ["model.onnx", "-o", "model", "--precision=int8", "--ranges=none.json"], USAGE,
             "ranges in 'none.json': No such file"),
            ("ranges-device", ["model.onnx", "-o", "model", "--precision=int8", "--ranges=/dev/zero"], USAGE,
             "ranges in '/dev/zero': not a regular file"),
            ("cache", ["model.onnx", "-o", "model", "--precision=int8", "--calibration-cache=none.json"], USAGE,
             "there is none; --calibration-data makes it"),
            ("cache-device", ["model.onnx", "-o", "model", "--precision=int8", "--calibration-cache=/dev/full"], USAGE,
             "calibration cache '/dev/full': not a regular file"),
            ("cache-unwritten", ["model.onnx", "-o", "model", "--precision=int8", "--calibration-cache=none/c.json",
                                 "--calibration-data=data.npz"], USAGE,
             "calibration cache 'none/c.json': cannot write it"),
            ("schedules", ["model.onnx", "-o", "model", "--schedules=none.json"], USAGE,
             "schedules 'none.json': No such file"),
            ("no-ir", ["model.onnx", "-o", "model", "--start-from=tiled"], REFUSED,
             "is an ONNX model by its name"),
            ("unwritten", ["model.onnx", "-o", "/nowhere/model"], USAGE, "cannot write"),
            ("input", ["model.onnx", "-o", "model.onnx"], USAGE, "is the input"),
            ("tap", ["model.onnx", "-o", "model", "--tap=none"], USAGE, "--tap: "),
            ("twisted", ["twisted.onnx", "-o", "model"], REFUSED, "unsupported: "),
            ("device", ["model.onnx", "-o", "model", "--precision=int8", "--calibration-data=data.npz",
                        "--device=cuda"], DEVICE, "cuda:0: no CUDA driver")):
        tests.judge(f"exit-{case}", tests.run(*words), code, text)
    for name, text in (("model.pt", "torch.onnx.export"), ("model.TFLITE", "tf2onnx.convert --tflite"),
                       ("model.plan", "compiled already")):
        (tests.folder / name).write_bytes(b"no model")
        tests.judge(f"exit-{name}", tests.run(name, "-o", "model"), REFUSED, f"note: '{name}' is ", text)
    # A name alone says nothing of what the file holds.
    onnx.save(tests.model, tests.folder / "frozen.pb")
    tests.judge("exit-pb", tests.run("frozen.pb", "-o", "model", "--target=sim:sm_80"), 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    tests = CompilerLine(parser.parse_args())
    check_summary(tests)
    check_int8(tests)
    check_message_format(tests)
    check_names(tests)
    check_inspection(tests)
    check_inspection_as_json(tests)
    check_sizes(tests)
    check_files(tests)
    check_header(tests)
    check_exit_codes(tests)
    return tests.suite.close()


if __name__ == "__main__":
    sys.exit(main())
