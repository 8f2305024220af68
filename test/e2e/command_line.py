#!/usr/bin/env python3
"""The command line of compiled models: tensor files of every kind, good and bad, comparison,
profile, exit codes. Each mistake must end in one clear error and its exit code."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import time
import zlib

import numpy
import onnx
from onnx import helper, numpy_helper

import harness
import small_models
from cuda_artefacts import references

SECONDS = 60
MEMORY = 1 << 30  # of address space, for hostile files


class CommandLine:
    def __init__(self, options):
        self.suite = harness.Suite("command-line", options.build.resolve())
        self.folder = self.suite.work
        self.model = small_models.layers()
        self.feed = {"x": self.model.feeds[0]["x"]}
        self.expected = references(self.model.model, self.feed)
        self.artefact = self.folder / "model"

    def compile(self):
        onnx.save(self.model.model, self.folder / "model.onnx")
        step = harness.run([self.suite.tool("cameoc"), self.folder / "model.onnx", "-o",
                            self.artefact, "--target=sim:sm_80",
                            f"--report={self.folder / 'report.json'}"], SECONDS)
        if step.code:
            self.suite.fail("compile", harness.first_error(step.output), step)
        return step.code == 0

    def run(self, *words, memory_bytes=None, device="sim"):
        return harness.run([self.artefact, f"--device={device}", *words], SECONDS, cwd=self.folder,
                           memory_bytes=memory_bytes)

    def judge(self, case, step, code, *texts):
        """The exit code, the texts in its output, and, where it failed, one error."""
        errors = [line for line in step.output.splitlines() if line.startswith("error: ")]
        if step.code != code:
            self.suite.fail(case, f"{step.how()}, not {code}: {step.output[-200:]}", step)
        elif code >= 2 and len(errors) != 1:
            self.suite.fail(case, f"{len(errors)} errors", step)
        elif missing := [text for text in texts if text not in step.output]:
            self.suite.fail(case, f"'{missing[0]}' is not in {step.output[-300:]!r}", step)
        else:
            self.suite.ok(case)

    def save(self, name, data):
        (self.folder / name).write_bytes(data)
        return name

    def npy(self, name, array):
        numpy.save(self.folder / name, array)
        return name


def proto(array, name="x"):
    return numpy_helper.from_array(array, name).SerializeToString()


def npy_bytes(header, data=b""):
    header = header.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


def check_inputs(tests):
    """The same tensor from every kind of file, and outputs into every kind."""
    x = tests.feed["x"]
    numpy.save(tests.folder / "x.npy", x)
    numpy.savez(tests.folder / "x.npz", x=x)
    numpy.savez_compressed(tests.folder / "packed.npz", x=x)
    numpy.savez(tests.folder / "two.npz", other=x[:1], x=x)
    with (tests.folder / "v3.npy").open("wb") as file:
        numpy.lib.format.write_array(file, x, version=(3, 0))
    tests.save("x.pb", proto(x))
    typed = onnx.helper.make_tensor("x", onnx.TensorProto.FLOAT, x.shape, x.flatten())
    tests.save("typed.pb", typed.SerializeToString())
    numpy.save(tests.folder / "columns.npy", numpy.asfortranarray(x))
    numpy.save(tests.folder / "big.npy", numpy.asfortranarray(x).astype(">f4"))
    numpy.savez(tests.folder / "nameless.npz", x)
    numpy.savez(tests.folder / "other.npz", image=x)
    literal = "x".join(map(str, x.shape)) + "xf32=" + " ".join(f"{v:.9g}" for v in x.flatten())
    numpy.savez(tests.folder / "expected.npz", **tests.expected)
    for word in ("x=@x.npy", "@x.npy", "x=@x.npz", "@x.npz", "@packed.npz", "x=@two.npz",
                 "@two.npz", "@nameless.npz", "x=@other.npz", "@columns.npy", "@big.npy", "@v3.npy", "@x.pb", "x=@typed.pb", f"x={literal}", literal):
        step = tests.run(f"--input={word}", "--expected_output=@expected.npz")
        tests.judge(f"input-{word[:12]}", step, 0, "[SUCCESS]")
    step = tests.run("--input=@other.npz")
    tests.judge("input-other-name", step, 2, "npz: it has 'image', but not 'x'")
    # Both outputs of the archive are compared.
    wrong = {**tests.expected, "mean": tests.expected["mean"] + 1}
    numpy.savez(tests.folder / "wrong.npz", **wrong)
    step = tests.run("--input=@x.npy", "--expected_output=@wrong.npz")
    tests.judge("expected-archive", step, 1, "[FAILED] result[1]")
    for name in ("y.npy", "y.npz", "y.pb"):
        (tests.folder / name).unlink(missing_ok=True)
        tests.judge(f"output-{name}", tests.run("--input=@x.npy", f"--output=y=@{name}"), 0)
        path = tests.folder / name
        value = (numpy.load(path) if name.endswith("npy") else numpy.load(path)["y"]
                 if name.endswith("npz") else
                 numpy_helper.to_array(onnx.TensorProto.FromString(path.read_bytes())))
        close = (value.shape == tests.expected["y"].shape
                 and numpy.abs(value - tests.expected["y"]).max() <= 1e-5)
        if close:
            tests.suite.ok()
        else:
            tests.suite.fail(f"read-{name}", f"{value.shape} {value.dtype}")


def bad_files(tests):
    """(name, what the error says) of files that are no good as input x."""
    x = tests.feed["x"]
    whole = (tests.folder / "x.npy").read_bytes()
    yield tests.npy("f64.npy", x.astype(numpy.float64)), "element type f64 given; f32 expected"
    yield tests.npy("i32.npy", x.astype(numpy.int32)), "element type i32 given; f32 expected"
    yield tests.npy("rank.npy", x[0]), "rank 2"
    yield tests.npy("shape.npy", x[:, :, :31]), "2x5x31xf32"
    yield tests.npy("text.npy", numpy.array(["a", "b"])), "element type '<U1' is not supported"
    yield tests.npy("struct.npy", numpy.zeros(2, [("a", "f4"), ("b", "i4")])), "structured"
    yield tests.save("truncated.npy", whole[:-1]), "needs 1280 bytes, the file has 1279"
    yield tests.save("long.npy", whole + b"\0"), "needs 1280 bytes, the file has 1281"
    yield tests.save("header.npy", whole[:20]), "truncated header"
    yield tests.save("empty.npy", b""), "not an npy file"
    yield tests.save("other.npy", b"PK\3\4" + bytes(100)), "not an npy file"
    yield tests.save("version.npy", whole[:6] + b"\x09" + whole[7:]), "format version 9"
    yield tests.save("huge.npy", npy_bytes(
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1099511627776, 5, 32), }")), "the file has 0"
    yield tests.save("overflow.npy", npy_bytes(
        "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 8), }")), "overflow"
    yield tests.save("empty.npz", b""), "not a zip archive"
    yield tests.save("garbage.npz", b"\xff" * 5000), "not a zip archive"
    archive = (tests.folder / "packed.npz").read_bytes()
    yield tests.save("truncated.npz", archive[:-30]), "not a zip archive"
    broken = bytearray(archive)
    broken[60] ^= 0xff
    yield tests.save("broken.npz", bytes(broken)), "npz: "
    yield tests.save("garbage.pb", b"garbage" * 20), "malformed TensorProto"
    yield tests.save("empty.pb", b""), "element type 0 has no fixed size"
    whole = proto(x)
    yield tests.save("truncated.pb", whole[:-1]), "malformed TensorProto"
    yield tests.save("f64.pb", proto(x.astype(numpy.float64))), "element type f64 given"
    short = onnx.TensorProto.FromString(whole)
    short.raw_data = short.raw_data[:-4]
    yield tests.save("short.pb", short.SerializeToString()), "1276 bytes of raw data"
    both = onnx.TensorProto.FromString(whole)
    both.float_data.append(1)
    yield tests.save("both.pb", both.SerializeToString()), "values in two fields"
    negative = onnx.TensorProto.FromString(whole)
    negative.dims[0] = -2
    yield tests.save("negative.pb", negative.SerializeToString()), "pb"
    words = onnx.helper.make_tensor("x", onnx.TensorProto.STRING, [1], [b"a"])
    yield tests.save("string.pb", words.SerializeToString()), "string tensors are not supported"
    yield tests.save("model.pb", tests.model.model.SerializeToString()), "pb"
    yield tests.save("x.txt", b"1 2 3"), "tensor files are .npy, .npz or .pb"
    yield "missing.npy", "No such file or directory"
    (tests.folder / "folder.npy").mkdir(exist_ok=True)
    yield "folder.npy", "Is a directory"


def bomb(tests, name, unpacked, members=("x",), claimed=None):
    """A zip archive whose members unpack to `unpacked` zeros behind an npy header; the directory
    may claim another size."""
    header = npy_bytes(f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({unpacked // 4},), }}")
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed, crc, block = packer.compress(header), zlib.crc32(header), bytes(1 << 20)
    for _ in range(unpacked >> 20):
        packed += packer.compress(block)
        crc = zlib.crc32(block, crc)
    packed += packer.flush()
    size = claimed or unpacked + len(header)
    common = struct.pack("<HHHIIIIHH", 20, 0, 8, 0x210000, crc, len(packed), size, 5, 0)
    data = b"PK\3\4" + common + b"x.npy" + packed
    directory = b"".join(b"PK\1\2" + struct.pack("<H", 20) + common
                         + struct.pack("<HHHII", 0, 0, 0, 0, 0) + f"{member}.npy".encode()
                         for member in members)
    end = b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, len(members), len(members), len(directory),
                                  len(data), 0)
    return tests.save(name, data + directory + end)


def check_bad_files(tests):
    for name, text in bad_files(tests):
        tests.judge(f"bad-{name}", tests.run(f"--input=x=@{name}"), 2, text)
    # More than memory holds, by little data: members that are not wanted are not unpacked.
    big = bomb(tests, "bomb.npz", 1 << 28, ["x", "y", "z", "u", "v", "w"])
    tests.judge("bomb-named", tests.run(f"--input=x=@{big}", memory_bytes=MEMORY), 2, "rank 1")
    tests.judge("bomb-all", tests.run(f"--input=@{big}", memory_bytes=MEMORY), 2,
                "rank 1")
    big = bomb(tests, "same.npz", 1 << 28, ["x"] * 200)
    tests.judge("bomb-same", tests.run(f"--input=x=@{big}", memory_bytes=MEMORY), 2,
                "two members are called 'x'")
    # Sizes that the data do not have.
    lying = bomb(tests, "lying.npz", 1 << 24, claimed=1 << 10)
    tests.judge("bomb-lying", tests.run(f"--input=x=@{lying}"), 2, "damaged deflate data")
    lying = bomb(tests, "lying.npz", 1 << 24, claimed=0xfffffffe)
    tests.judge("bomb-claim", tests.run(f"--input=x=@{lying}", memory_bytes=MEMORY), 2,
                "more than deflate can hold")


USAGE = [
    ([], "1 input is missing"),
    (["--nonsense"], "unknown option --nonsense; --help lists them"),
    (["--warmup=3"], "did you mean --warmUp?"),
    (["--fp16"], "unknown option --fp16; cameoc compiles, with --precision=fp16"),
    (["--loadInputs=x:f.bin"], "write --input=NAME=@FILE.npy"),
    (["--expected-outputs=y"], "unknown option --expected-outputs; did you mean --expected_output?"),
    (["-shapes=x:2"], "unknown option -shapes; did you mean --shapes?"),
    (["positional"], "'positional' is not an option"),
    (["--input"], "--input needs a value"),
    (["--seed"], "--seed needs a value"),
    (["--seed=-1"], "--seed: '-1' is not a number from 0 to"),
    (["--input="], "--input needs a value"),
    (["--input=z=@x.npy"], "the model has no 'z'; the names are x"),
    (["--input=z=2x5x32xf32=1"], "the model has no 'z'; the names are x"),
    (["--input=x=x.npy"], "'x.npy' is not a type"),
    (["--input=@x.npy", "--input=@x.npy"], "the model has one, which is given already"),
    (["--input=x=@x.npy", "--input=x=@x.npy"], "'x' is given twice"),
    (["--input=x=2x5x32xf32=1 2"], "2 values for 2x5x32xf32 of 320"),
    (["--input=x=2x5x32xf32=a"], "'a' is not a value of type f32"),
    (["--input=x=2x5x32xf99=1"], "is not a type such as"),
    (["--input=x=9000000000000x5x32xf32=1"], "this machine has"),
    (["--input=x=9223372036854775807x5x32xf32=1"], "overflow"),
    (["--random-inputs", "--shapes=x:9000000000000x5x32"], "this machine has"),
    (["--random-inputs", "--shapes=x:2x5"], "rank 2"),
    (["--random-inputs", "--shapes=z:2"], "names no input"),
    (["--random-inputs", "--shapes=x:2xy"], "is not a list of sizes"),
    (["--random-inputs=x"], "is not a number"),
    (["--random-inputs", "--output=z=@y.npy"], "the model has no 'z'; the names are y, mean"),
    (["--random-inputs", "--output=y=y.npy"], "write @FILE.npy"),
    (["--random-inputs", "--output=y=@y.txt"], "write @FILE.npy"),
    (["--random-inputs", "--output=y=@/nowhere/y.npy"], "cannot write '/nowhere/y.npy'"),
    (["--random-inputs", "--expected_output=y=@missing.npy"], "No such file"),
    (["--random-inputs", "--atol=x"], "is not a number"),
    (["--random-inputs", "--rtol=-1"], "is not a number of at least 0"),
    (["--random-inputs", "--entry=other"], "no entry point 'other'"),
    (["--random-inputs", "--device=tpu"], "'tpu' is not a device"),
    (["--random-inputs", "--sim-checks=magic"], "magic"),
    (["--random-inputs", "--benchmark", "--streams=0"], "1 to 256 streams"),
    (["--random-inputs", "--benchmark", "--percentile=100"], "not between 0 and 100"),
    (["--random-inputs", "--benchmark", "--cold"], "the simulator has no cache"),
    (["--random-inputs", "--benchmark", "--cold", "--streams=2"], "measures one stream, not 2"),
    (["--random-inputs", "--runs=0"], "must be at least 1, not 0"),
    (["--random-inputs", "--profile=t.json", "--profileRuns=0"], "must be at least 1, not 0"),
    (["--random-inputs", "--benchmark", "--iterations=x"], "is not a number"),
    (["--random-inputs", "--profile=/nowhere/trace.json"], "cannot write '/nowhere/trace.json'"),
    (["--random-inputs", "--taps=t"], "--taps: the model has none; cameoc --tap=NAME compiles"),
    (["--random-inputs", "--taps=t", "--benchmark"], "of a plain run, not of --benchmark"),
    (["--info=xml"], "neither text nor json"),
    (["--model=/nowhere/model"], "cannot open"),
]


def check_comparison(tests):
    """The first mismatch is printed; NaN equals nothing unless asked."""
    wrong = tests.expected["y"].copy()
    wrong[1, 2, 3] += 1
    wrong[1, 2, 9] = numpy.nan
    tests.npy("wrong.npy", wrong)
    index = numpy.ravel_multi_index((1, 2, 3), wrong.shape)
    step = tests.run("--input=@x.npy", "--expected_output=y=@wrong.npy")
    tests.judge("first-mismatch", step, 1, f"[FAILED] result[0]: element at index {index} (",
                "2 of 320 values differ")
    step = tests.run("--input=@x.npy", "--expected_output=y=@wrong.npy", "--atol=2")
    tests.judge("nan-mismatch", step, 1, "does not match the expected (nan)", "1 of 320")
    # NaN in, NaN out: equal only where that is asked for.
    nan = numpy.full_like(tests.feed["x"], numpy.nan)
    tests.npy("nan.npy", nan)
    tests.npy("nans.npy", numpy.full_like(tests.expected["y"], numpy.nan))
    words = ["--input=@nan.npy", "--expected_output=y=@nans.npy"]
    tests.judge("nan-never-equal", tests.run(*words), 1, "(nan) does not match the expected (nan)")
    tests.judge("equal-nan", tests.run(*words, "--equal-nan"), 0, "[SUCCESS]")
    tests.npy("other.npy", tests.expected["y"][:1])
    step = tests.run("--input=@x.npy", "--expected_output=y=@other.npy")
    tests.judge("other-shape", step, 1, "type 2x5x32xf32 does not match the expected 1x5x32xf32")


def check_names(tests):
    """Names may hold whatever separates them from what follows."""
    names = ["a:0", "a", "@b", "c=d", "e,f:1"]
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Sum", names, ["y@1"], "sum")], "names",
        [onnx.helper.make_tensor_value_info(name, 1, ["N"]) for name in names],
        [onnx.helper.make_tensor_value_info("y@1", 1, ["N"])])
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 21)]),
              tests.folder / "names.onnx")
    artefact = tests.folder / "names"
    step = harness.run([tests.suite.tool("cameoc"), "names.onnx", "-o", artefact,
                        "--target=sim:sm_80", "--shapes=e,f:1:2,a:0:?"], SECONDS, cwd=tests.folder)
    tests.judge("names-compile", step, 0)
    arrays = {name: numpy.full(2, 10 ** i, numpy.float32) for i, name in enumerate(names)}
    for i, name in enumerate(names):
        numpy.save(tests.folder / f"{i}.npy", arrays[name])
    numpy.savez(tests.folder / "all.npz", extra=numpy.zeros(3), **arrays)
    numpy.savez(tests.folder / "some.npz", **{name: arrays[name] for name in names[:3]})
    sums = ["--expected_output=y@1=2xf32=11111"]
    for case, words in {
            "names": [f"--input={name}=@{i}.npy" for i, name in enumerate(names)],
            "names-archive": ["--input=@all.npz"],
            "names-mixed": ["--input=@some.npz", "--input=e,f:1=@4.npy", "--input=@3.npy"]}.items():
        step = harness.run([artefact, "--device=sim", *words, *sums], SECONDS, cwd=tests.folder)
        tests.judge(case, step, 0, "[SUCCESS]")
    step = harness.run([artefact, "--device=simulator", "--random-inputs",
                        "--shapes=a:2,e,f:1:2,@b:2,a:0:2,c=d:2", "--output=y@1=@y@1.npy"], SECONDS,
                       cwd=tests.folder)
    tests.judge("names-shapes", step, 0)
    step = harness.run([artefact, "--device=sim", "--input=@all.npz", "--output=@y@1.npz"], SECONDS,
                       cwd=tests.folder)
    tests.judge("names-output", step, 0)


def check_taps(tests):
    """A file each, whatever the names hold; the same in runs that follow the first."""
    names = ["x", "/block.0/Relu output", "%", "é"]
    nodes = [onnx.helper.make_node(kind, [names[i]], ["y" if i == 2 else names[i + 1]], names[i + 1])
             for i, kind in enumerate(("Relu", "Neg", "Exp"))]
    graph = onnx.helper.make_graph(nodes, "taps", [onnx.helper.make_tensor_value_info("x", 1, ["N"])],
                                   [onnx.helper.make_tensor_value_info("y", 1, ["N"])])
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 21)]),
              tests.folder / "taps.onnx")
    artefact, folder = tests.folder / "tapped", tests.folder / "taps"
    shutil.rmtree(folder, ignore_errors=True)
    step = harness.run([tests.suite.tool("cameoc"), "taps.onnx", "-o", artefact,
                        "--target=sim:sm_80", "--tap=*"], SECONDS, cwd=tests.folder)
    tests.judge("taps-compile", step, 0)
    tests.judge("taps-info", harness.run([artefact, "--info"], SECONDS), 0,
                "taps:\n  x: Nxf32\n  /block.0/Relu output: Nxf32\n  %: Nxf32\n  é: Nxf32\nkernels")
    words = ["--device=sim", "--input=3xf32=-1 0 2", "--expected_output=3xf32=1 1 0.135335"]
    # The folder is made, and what is there may be written over.
    for case in ("taps", "taps-again"):
        step = harness.run([artefact, *words, "--taps=taps", "--runs=3"], SECONDS, cwd=tests.folder)
        tests.judge(case, step, 0, "[SUCCESS]")
    found = {file.name: numpy.load(file).tolist() for file in folder.iterdir()}
    wanted = {"x.npy": [-1, 0, 2], "%2Fblock.0%2FRelu%20output.npy": [0, 0, 2],
              "%25.npy": [0, 0, -2], "%C3%A9.npy": numpy.exp(numpy.float32([0, 0, -2])).tolist()}
    if {key: numpy.round(value, 6).tolist() for key, value in found.items()} != \
            {key: numpy.round(value, 6).tolist() for key, value in wanted.items()}:
        tests.suite.fail("taps-files", f"{found}", step)
    else:
        tests.suite.ok()
    step = harness.run([artefact, *words, "--taps=/nowhere/taps"], SECONDS, cwd=tests.folder)
    tests.judge("taps-folder", step, 2, "--taps: cannot make the folder '/nowhere/taps': No such file")


def check_unwritten(tests):
    """What cannot be written whole is not written: the former file stays, and nothing beside it."""
    folder = tests.folder / "outputs"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    words = "--device=sim '--input=x=64x64x32xf32=1'"
    for name, option in {"y.npy": "--output=y=@", "y.npz": "--output=@", "y.pb": "--output=y=@",
                         "trace.json": "--profile="}.items():
        (folder / name).write_text("former")
        # 512 B at most: a header, and not even the shortest trace.
        step = harness.run(["sh", "-c", f"ulimit -f 1; {tests.artefact} {words} {option}{name}"],
                           SECONDS, cwd=folder)
        tests.judge(f"unwritten-{name}", step, 2, f"cannot write '{name}': File too large")
        if (folder / name).read_text() != "former" or len(list(folder.iterdir())) != 1:
            tests.suite.fail(f"left-{name}", f"{[path.name for path in folder.iterdir()]}", step)
        (folder / name).unlink()
    # What is written keeps mode and links.
    (folder / "real.npy").write_text("former")
    (folder / "real.npy").chmod(0o640)
    (folder / "link.npy").symlink_to("real.npy")
    step = harness.run(["sh", "-c", f"{tests.artefact} {words} --output=y=@link.npy"], SECONDS,
                       cwd=folder)
    tests.judge("written-link", step, 0)
    if ((folder / "real.npy").stat().st_mode & 0o777 != 0o640
            or numpy.load(folder / "real.npy").shape != (64, 64, 32)
            or not (folder / "link.npy").is_symlink()):
        tests.suite.fail("kept-link", "the link or the mode is lost", step)


def check_benchmark(tests):
    step = harness.run([tests.artefact, "--device=sim", "--benchmark=json", "--duration=0",
                        "--warmUp=0", "--iterations=100", "--percentile=50,99"], SECONDS)
    tests.judge("benchmark-json", step, 0)
    result = json.loads(step.output[step.output.index("{"):])
    wrong = [key for key in ("latency_ms", "enqueue_ms", "h2d_ms", "compute_ms", "d2h_ms")
             if not 0 <= result[key]["min"] <= result[key]["median"] <= result[key]["max"]]
    if (wrong or result["runs"] != 100 or not result["simulated"] or result["interrupted"]
            or list(result["latency_ms"]["percentiles"]) != ["50"] or not result["matched"]
            or result["graph"] or result["transfers"] != "overlapped"
            or result["memory"]["weight_bytes"] <= 0 or "monitor" in result):
        tests.suite.fail("benchmark-json-content", f"{wrong} {result}", step)
    step = harness.run([tests.artefact, "--device=sim", "--benchmark", "--noDataTransfers",
                        "--duration=0", "--warmUp=0"], SECONDS)
    tests.judge("benchmark-no-transfers", step, 0, "enqueued one by one; no data transfers",
                "H2D Latency (simulated): min = 0 ms, max = 0 ms",
                "Results: the same as an eager run's, bit for bit", "&&&& PASSED")
    tests.judge("runs", tests.run("--random-inputs", "--runs=3"), 0,
                "3 runs gave the same results, bit for bit")
    # ^C: what was measured until then, and the signal for whoever waits for the program.
    command = [str(tests.artefact), "--device=sim", "--benchmark", "--warmUp=0", "--duration=1000"]
    # A shell's background jobs ignore the signal, and what they start does, too.
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)
                          ) as process:
        for line in process.stderr:
            if "random values" in line:
                break
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        try:
            output, errors = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            output, errors = process.communicate()
    texts = ["Latency (simulated): min = ", "[W] interrupted after ", "&&&& FAILED"]
    if process.returncode != -signal.SIGINT or any(text not in output for text in texts):
        tests.suite.fail("interrupted", f"exit code {process.returncode}: {output} {errors}")
    else:
        tests.suite.ok()


def check_timeout(tests):
    step = tests.run("--input=@x.npy", "--benchmark", "--duration=1000", "--timeout=0.5")
    tests.judge("timeout", step, 3, "error: not done after 0.5 s; the last kernel launched was ")
    step = tests.run("--input=@x.npy", "--timeout=600")
    tests.judge("no-timeout", step, 0, "result[0]")


def check_profile(tests):
    """A trace as the Trace Event Format describes it, launch for launch what the report says."""
    path = tests.folder / "trace.json"
    path.unlink(missing_ok=True)
    step = tests.run("--input=@x.npy", f"--profile={path}")
    tests.judge("profile", step, 0, "(simulated)")
    trace = json.loads(path.read_text())
    events = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    report = json.loads((tests.folder / "report.json").read_text())["kernels"]
    wrong = []
    if [(e["name"], ",".join(e["args"]["onnx_nodes"])) for e in events] != [
            (k["name"], k["onnx_nodes"]) for k in report]:
        wrong.append("launches and nodes are not those of the report")
    nodes = {node.name for node in tests.model.model.graph.node}
    named = {name for event in events for name in event["args"]["onnx_nodes"]}
    if not events or named != nodes:
        wrong.append(f"nodes {named}, the model has {nodes}")
    end = 0
    for event in events:
        if not (event["ts"] >= end - 0.01 and event["dur"] > 0 and event["pid"] and event["tid"]):
            wrong.append(f"event {event}")
        end = event["ts"] + event["dur"]
    if "simulated" not in trace["otherData"]["times"]:
        wrong.append("not labelled as simulated")
    if wrong:
        tests.suite.fail("profile-content", "; ".join(wrong), step)
    else:
        tests.suite.ok()


def check_profile_table(tests):
    """A row a launch, the longest first; without a file, and with one behind a space."""
    report = json.loads((tests.folder / "report.json").read_text())["kernels"]
    step = tests.run("--input=@x.npy", "--profile", "trace.json")
    tests.judge("profile-table", step, 0, "times of the simulator, not of a GPU")
    plain = tests.run("--profile")
    tests.judge("profile-alone", plain, 0, "input 'x' is not given", "precision", "GFLOP/s")
    lines = step.output.splitlines()
    start = next(i for i, line in enumerate(lines) if line.split()[:2] == ["launch", "kernel"])
    rows = [line.split() for line in lines[start + 1:start + 1 + len(report)]]
    total = lines[start + 1 + len(report)].split()
    events = [event for event in json.loads((tests.folder / "trace.json").read_text())[
        "traceEvents"] if event["ph"] == "X"]
    times = [float(row[3]) for row in rows]
    wrong = []
    if sorted(int(row[0]) for row in rows) != list(range(len(report))):
        wrong.append("launches are not numbered")
    elif [row[1] for row in rows] != [report[int(row[0])]["name"] for row in rows]:
        wrong.append("kernels are not those of the report")
    elif any(row[2] != report[int(row[0])]["precision"] for row in rows):
        wrong.append("precisions are not those of the report")
    elif any(abs(time - events[int(row[0])]["dur"]) > 0.001 for row, time in zip(rows, times)):
        wrong.append("times are not those of the trace")
    if times != sorted(times, reverse=True):
        wrong.append("not the longest first")
    if abs(sum(float(row[4]) for row in rows) - 100) > 0.05 * len(rows) + 0.01:
        wrong.append("shares are not 100 %")
    if total[0] != "total" or abs(float(total[1]) - sum(times)) > 0.001 * len(times):
        wrong.append(f"in all {total}")
    for row in rows:
        work = events[int(row[0])]["args"]
        for column, name in ((6, "flops"), (7, "bytes")):
            rate = work[name] / float(row[3]) / 1000
            if abs(float(row[column]) - rate) > 0.01 * rate + 0.01:
                wrong.append(f"{row} has {rate} of {name}")
    if wrong:
        tests.suite.fail("profile-rows", "; ".join(wrong), step)
    else:
        tests.suite.ok()


def check_tolerances(tests):
    """What is computed in fewer bits matches what ONNX Runtime computes in FP32, and no more than
    that; the figures beside the verdict are numpy's."""
    numpy.savez(tests.folder / "samples.npz", x=tests.feed["x"])
    y = tests.expected["y"].astype(numpy.float64)
    flags = {"int8": ["--precision=int8", "--precision-of=*=int8", "--calibration-data=samples.npz"],
             "bf16": ["--precision-of=*=bf16"]}
    # What a value may be off beside the largest, and what it may not.
    limits = {"fp16": 0.02, "bf16": 0.1, "int8": 0.2}
    for name, limit in limits.items():
        artefact = tests.folder / f"model-{name}"
        built = harness.run([tests.suite.tool("cameoc"), "model.onnx", "-o", artefact,
                             "--target=sim:sm_80", *flags.get(name, [f"--precision={name}"])],
                            SECONDS, cwd=tests.folder)
        tests.judge(f"tolerance-{name}-compile", built, 0)
        if built.code:
            continue
        run = [artefact, "--device=sim", "--input=@x.npy"]
        step = harness.run([*run, "--expected_output=@expected.npz", "--output=y=@low.npy"],
                           SECONDS, cwd=tests.folder)
        tests.judge(f"tolerance-{name}", step, 0, "[SUCCESS]", "result[1] 'mean': ")
        low = numpy.load(tests.folder / "low.npy").astype(numpy.float64)
        figures = (10 * numpy.log10((y**2).sum() / ((low - y)**2).sum()), (low * y).sum() /
                   numpy.sqrt((low**2).sum() * (y**2).sum()), abs(low - y).max(), abs(y).max())
        text = "result[0] 'y': SQNR %.1f dB, cosine %.6f, max error %.3g, largest expected %.3g"
        tests.judge(f"tolerance-{name}-figures", step, 0, text % figures)
        wrong = y.astype(numpy.float32)
        place = numpy.unravel_index(abs(y).argmax(), y.shape)
        wrong[place] *= 1 + 1.5 * limit
        numpy.save(tests.folder / "wrong.npy", wrong)
        step = harness.run([*run, "--expected_output=y=@wrong.npy"], SECONDS, cwd=tests.folder)
        tests.judge(f"tolerance-{name}-wrong", step, 1, "[FAILED] result[0]", "SQNR",
                    f" % of the largest), rtol = {limit / 2:g} of {name}")
        strict = harness.run([*run, "--expected_output=y=@expected.npz", "--atol=1e-5",
                              "--rtol=1e-5"], SECONDS, cwd=tests.folder)
        tests.judge(f"tolerance-{name}-asked", strict, 1, "atol = 1e-05, rtol = 1e-05; largest")
        tests.judge(f"tolerance-{name}-info", harness.run([artefact, "--info"], SECONDS), 0,
                    f"\nleast_precision: {name}\n")
    for flag, name in (("--weights=int4", "int4"), ("--io-precision=fp16", "fp16")):
        built = harness.run([tests.suite.tool("cameoc"), "model.onnx", "-o", "model-least",
                             "--target=sim:sm_80", flag], SECONDS, cwd=tests.folder)
        tests.judge(f"tolerance-{flag}-compile", built, 0)
        info = harness.run(["./model-least", "--info"], SECONDS, cwd=tests.folder)
        tests.judge(f"tolerance-{flag}", info, 0, f"\nleast_precision: {name}\n")
    step = tests.run("--input=@x.npy", "--expected_output=@expected.npz")
    tests.judge("tolerance-fp32", step, 0, "result[0] 'y': ", ", cosine 1.000000, max error ")
    wrong = tests.expected["y"] * numpy.float32(1.005)
    numpy.save(tests.folder / "wrong.npy", wrong)
    step = tests.run("--input=@x.npy", "--expected_output=y=@wrong.npy")
    tests.judge("tolerance-fp32-wrong", step, 1, "atol = 1e-05, rtol = 0.001 of fp32")


def check_exit_codes(tests):
    tests.judge("no-driver", tests.run("--random-inputs", device="cuda"), 3, "no CUDA driver")
    step = harness.run([tests.artefact, "--random-inputs"], SECONDS)
    tests.judge("auto", step, 0, "no CUDA driver on this machine: running on the simulator")
    data = bytearray(tests.artefact.read_bytes())
    data[-2000] ^= 1
    damaged = tests.folder / "damaged"
    damaged.write_bytes(data)
    damaged.chmod(0o755)
    step = harness.run([damaged, "--device=sim", "--random-inputs"], SECONDS)
    tests.judge("damaged", step, 4, "damaged model file")
    tests.judge("no-code", tests.run("--random-inputs", "--arch=sm_90a"), 3,
                "no simulator image for sm_90a")
    pieces = tests.folder / "pieces"
    step = harness.run([tests.suite.tool("cameoc"), tests.folder / "model.onnx", "-o", pieces,
                        "--target=sm_80,ptx:sm_75,sim:sm_80"], SECONDS)
    tests.judge("pieces-compile", step, 0)
    step = harness.run([pieces, "--device=sim", "--random-inputs", "--arch=sm_90a"], SECONDS)
    tests.judge("pieces", step, 3, "no simulator image for sm_90a; it has ")
    kinds = step.output.partition("; it has ")[2].strip().split(", ")
    if len(kinds) != len(set(kinds)) or len(kinds) != 3:
        tests.suite.fail("pieces-once", f"{kinds}", step)
    tests.judge("full-disk", harness.run(
        ["sh", "-c", f"{tests.artefact} --device=sim --random-inputs > /dev/full"], SECONDS), 2,
        "cannot write the output")
    help_text = tests.run("--help")
    tests.judge("help", help_text, 0, "\nDevice\n", "\nMeasuring\n", "Exit codes:")
    tests.judge("version", tests.run("--version"), 0, "cameo ", "payload versions")
    if max(map(len, help_text.output.splitlines())) > 100:
        tests.suite.fail("help-width", "a line is wider than 100 columns", help_text)
    table = (harness.SOURCE / "runtime/main/options.cpp").read_text()
    options = re.findall(r'^    \{"([\w-]+)", (?:None|Optional|Required),', table, re.MULTILINE)
    silent = [name for name in options if not re.search(rf"--{name}\b", help_text.output)]
    if silent or len(options) < 30:
        tests.suite.fail("help-options", f"{len(options)} options; not in the help: {silent}")
    else:
        tests.suite.ok()
    sizes = tests.run("--info", "--shapes=x:2x5x32")
    tests.judge("info-shapes", sizes, 0, "\nfor: x 2x5x32xf32\n", "\nwork: ",
                " B in the arena, ")
    tests.judge("info-wrong-shapes", tests.run("--info", "--shapes=x:2x5x33"), 2, "'x'")
    info = tests.run("--info=json")
    tests.judge("info-json", info, 0)
    manifest = json.loads(info.output)
    missing = {"entries", "targets", "variants", "precision", "compiler", "code", "model_xxh3"} - set(manifest)
    if missing or manifest["entries"][0]["inputs"] != [
            {"name": "x", "type": "float", "dims": ["N", "S", 32], "on_host": False}]:
        tests.suite.fail("manifest", f"lacks {missing}", info)
    else:
        tests.suite.ok()


def check_special_files(tests):
    """Pipes and devices are written to; a file that came to lie in their place would be a loss."""
    pipe, copy = tests.folder / "pipe", tests.folder / "piped.mlir"
    pipe.unlink(missing_ok=True)
    os.mkfifo(pipe)
    compiler = f"{tests.suite.tool('cameoc')} {tests.folder / 'model.onnx'}"
    step = harness.run(["sh", "-c", f"cat {pipe} > {copy} & {compiler} --stop-after=imported "
                        f"-o {pipe}; wait"], SECONDS)
    tests.judge("pipe", step, 0)
    if not pipe.is_fifo() or "onnx." not in copy.read_text():
        tests.suite.fail("pipe-content", "the pipe was replaced, or got nothing", step)
    # Standard output, with the weights in the text, from one stage to the next.
    step = harness.run(["sh", "-c", f"{compiler} --stop-after=scheduled --target=sim:sm_80 -o - | "
                        f"{tests.suite.tool('cameoc')} - --start-from=scheduled "
                        f"--target=sim:sm_80 -o through"], SECONDS, cwd=tests.folder)
    tests.judge("standard-output", step, 0)
    if (tests.folder / "-").exists() or not (tests.folder / "through").exists():
        tests.suite.fail("standard-output-files", "a file '-', or no artefact", step)
    step = harness.run(["sh", "-c", f"{compiler} -o -"], SECONDS, cwd=tests.folder)
    if step.code == 0 or "name a file" not in step.output:
        tests.suite.fail("standard-output-exe", step.output[-200:], step)
    else:
        tests.suite.ok()
    full = tests.folder / "full"
    full.unlink(missing_ok=True)
    full.symlink_to("/dev/full")
    step = harness.run(["sh", "-c", f"{compiler} --stop-after=imported -o {full}"], SECONDS)
    if step.code != 2 or "No space left" not in step.output or not full.is_symlink():
        tests.suite.fail("full-device", step.output[-200:], step)
    else:
        tests.suite.ok()


def check_shapes(tests):
    """Names with ':' and ','; sizes of one name are one size, of inputs that are not given, too."""
    kinds = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, sizes)
             for name, sizes in (("a:0", ["M", "K"]), ("b,1", ["K", "N"]), ("y", None))]
    model = helper.make_model(helper.make_graph(
        [helper.make_node("MatMul", ["a:0", "b,1"], ["y"])], "product", kinds[:2], kinds[2:]),
        opset_imports=[helper.make_opsetid("", 21)])
    model.ir_version = 10
    onnx.save(model, tests.folder / "product.onnx")
    compiler = [tests.suite.tool("cameoc"), tests.folder / "product.onnx", "--target=sim:sm_80"]
    product = tests.folder / "product"
    tests.judge("shapes-compile", harness.run([*compiler, "-o", product], SECONDS), 0)
    run = [product, "--device=sim", "--benchmark", "--iterations=1", "--duration=0", "--warmUp=0"]
    tests.judge("shapes-by-name", harness.run([*run, "--shapes=a:0:2x3"], SECONDS), 0, "2x3xf32",
                "3x1xf32")
    tests.judge("shapes-both", harness.run([*run, "--shapes=b,1:3x4,a:0:2x3"], SECONDS), 0,
                "2x3xf32", "3x4xf32")
    tests.judge("shapes-from-input", harness.run(
        [*run, "--input=a:0=2x3xf32=1 2 3 4 5 6"], SECONDS), 0, "3x1xf32")
    tests.judge("shapes-none", harness.run([*run, "--shapes=b:1:3x4"], SECONDS), 2,
                "'b:1:3x4' names no input and no open size; write INPUT:2x3 or SIZE:8; inputs: a:0, b,1; "
                "open sizes: M, K, N")
    tests.judge("shapes-sizes", harness.run([*run, "--shapes=N:4,a:0:2x3"], SECONDS), 0, "2x3xf32",
                "3x4xf32")
    tests.judge("shapes-sizes-differ", harness.run([*run, "--shapes=a:0:2x3,K:4"], SECONDS), 2,
                "--shapes: K is 3 by what else is given, not 4")
    tests.judge("shapes-sizes-two", harness.run([*run, "--shapes=K:4x5"], SECONDS), 2,
                "'K' is an open size, one number and not '4x5'")
    fixed = tests.folder / "product-fixed"
    tests.judge("shapes-fixed", harness.run([*compiler, "-o", fixed, "--shapes=b,1:3x4,a:0:?x3"],
                                            SECONDS), 0)
    tests.judge("shapes-info", harness.run([fixed, "--info"], SECONDS), 0, "Mx3xf32", "3x4xf32")
    tests.judge("sizes-fixed", harness.run([*compiler, "-o", fixed, "--shapes=K:3,b,1:3x4,M:?"], SECONDS), 0)
    tests.judge("sizes-info", harness.run([fixed, "--info"], SECONDS), 0, "Mx3xf32", "3x4xf32")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    tests = CommandLine(parser.parse_args())
    # Whatever driver this machine has, these tests see none.
    os.environ["LD_LIBRARY_PATH"] = ""
    if tests.compile():
        check_inputs(tests)
        check_bad_files(tests)
        for words, text in USAGE:
            name = " ".join(words)[:40] or "nothing"
            tests.judge(f"usage-{name}", tests.run(*words), 2, text)
        check_comparison(tests)
        check_names(tests)
        check_taps(tests)
        check_unwritten(tests)
        check_benchmark(tests)
        check_timeout(tests)
        check_profile(tests)
        check_profile_table(tests)
        check_tolerances(tests)
        check_exit_codes(tests)
        check_special_files(tests)
        check_shapes(tests)
    return tests.suite.close()


if __name__ == "__main__":
    sys.exit(main())
