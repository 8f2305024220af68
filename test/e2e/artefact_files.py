#!/usr/bin/env python3
"""The files that cameoc writes: what they need of a machine, that the same model gives the same
bytes, that every damaged byte is noticed, that plans which overwrite what is read later are, and how
large they are beyond weights and kernels."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import ctypes
import os
import re
import shutil
import struct
import subprocess
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

import harness
import payload
import small_models
from cuda_artefacts import references

SECONDS = 120
READELF = "/usr/lib/llvm-19/bin/llvm-readelf"
MAY_NEED = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "ld-linux-x86-64.so.2"}
OLDEST_GLIBC = (2, 28)  # that must do: RHEL 8 and Debian 10 have it
CORRUPT, INCOMPATIBLE = 7, 8  # of cameo.h
SAMPLES = 1500
STUB_SAMPLES, STUB_SECONDS = 240, 5


class ArtefactFiles:
    def __init__(self, options):
        self.suite = harness.Suite("artefact-files", options.build.resolve())
        self.folder = self.suite.work
        shutil.rmtree(self.folder)
        self.folder.mkdir()

    def check(self, case, wrong, *steps):
        if wrong:
            self.suite.fail(case, wrong, *steps)
        else:
            self.suite.ok(case)

    def compile(self, model, output, *arguments, cwd=None, env=None):
        step = harness.run([self.suite.tool("cameoc"), model, "-o", output, *arguments], SECONDS,
                           cwd=cwd or self.folder, env=env)
        if step.code:
            self.suite.fail(f"compile-{output}", harness.first_error(step.output), step)
        return step.code == 0


def readelf(*words):
    return subprocess.run([READELF, *map(str, words)], capture_output=True, text=True,
                          check=True).stdout


def check_needs(tests):
    """Only the C library, of the version that the documentation states, which is old enough."""
    stated = max(tuple(map(int, version.split("."))) for version in re.findall(
        r"GLIBC_([\d.]*\d)", (harness.SOURCE / "docs" / "runtime.md").read_text()))
    libraries = tests.suite.build / "lib"
    for path in (tests.folder / "fashion", tests.folder / "fashion.so", libraries / "libcameo.so"):
        needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", readelf("-d", path)))
        versions = {tuple(map(int, v.split("."))) for v in
                    re.findall(r"GLIBC_(\d[\d.]*)", readelf("-V", path))}
        others = set(re.findall(r"Name: (\w+?)_[\d.]+ ", readelf("-V", path))) - {"GLIBC"}
        wrong = ""
        if not needed or needed - MAY_NEED:
            wrong = f"needs {needed}"
        elif not versions or max(versions) > OLDEST_GLIBC:
            wrong = f"asks for glibc {max(versions)}; {OLDEST_GLIBC} must do"
        elif path.name == "fashion" and max(versions) != stated:
            wrong = f"asks for glibc {max(versions)}; docs/runtime.md states {stated}"
        elif others:
            wrong = f"asks for symbols of {others}"
        tests.check(f"needs-{path.name}", wrong)
        if path.suffix == ".so":
            symbols = {line.split()[-1].split("@")[0] for line in
                       readelf("--dyn-syms", path).splitlines()
                       if " GLOBAL " in line and " UND " not in line}
            stray = {name for name in symbols if not name.startswith("cameo_")}
            tests.check(f"exports-{path.name}", "" if symbols and not stray else f"exports {stray}")


def check_chroot(tests):
    """The executable, its input and the C library are all there is: no /proc, no /tmp, nothing that
    can be written to, no environment."""
    root = tests.folder / "root"
    for folder in ("lib64", "lib/x86_64-linux-gnu"):
        (root / folder).mkdir(parents=True)
    for name in MAY_NEED - {"ld-linux-x86-64.so.2"}:
        shutil.copy(f"/lib/x86_64-linux-gnu/{name}", root / "lib/x86_64-linux-gnu")
    shutil.copy("/lib64/ld-linux-x86-64.so.2", root / "lib64")
    shutil.copy(tests.folder / "fashion", root / "model")
    model = small_models.fashion()
    numpy.save(root / "image.npy", model.feeds[0]["image"])
    numpy.save(root / "logits.npy",
               references(model.model, model.feeds[0])["logits"])
    enter = ["chroot", root] if os.geteuid() == 0 else ["unshare", "--map-root-user", "chroot", root]
    tool = shutil.which(enter[0], path=os.environ["PATH"] + ":/usr/sbin:/sbin")
    for device, text in (("auto", "no CUDA driver on this machine: running on the simulator"),
                         ("sim", "running on simulator")):
        step = harness.run([tool, *enter[1:], "/model", f"--device={device}",
                            "--input=image=@image.npy", "--expected_output=logits=@logits.npy"],
                           SECONDS, env={})
        tests.check(f"chroot-{device}", "" if step.code == 0 and text in step.output
                    else f"{step.how()}: {harness.first_error(step.output)}", step)
    left = {path.name for path in root.iterdir()} - {"lib64", "lib", "model", "image.npy",
                                                      "logits.npy"}
    tests.check("chroot-leaves-nothing", f"left {left}" if left else "")
    step = harness.run([tool, *enter[1:], "/model", "--info"], SECONDS, env={})
    tests.check("chroot-info", "" if step.code == 0 and "image: Nx1x28x28xf32" in step.output
                else step.how(), step)


def check_same_bytes(tests):
    """Folder, name of the output, clock, threads, environment: nothing of it is in the file."""
    reference = (tests.folder / "fashion").read_bytes()
    elsewhere = tests.folder / "another folder" / "deeper"
    elsewhere.mkdir(parents=True)
    shutil.copy(tests.folder / "fashion.onnx", elsewhere)
    others = {"LANG": "de_DE.UTF-8", "TZ": "Asia/Tokyo", "HOME": "/nowhere", "USER": "someone",
              "SOURCE_DATE_EPOCH": "1"}
    variants = {
        "again": ("fashion.onnx", tests.folder, [], {}),
        "one-thread": ("fashion.onnx", tests.folder, ["-j1"], {}),
        "many-threads": ("fashion.onnx", tests.folder, ["-j8"], {}),
        "absolute": (tests.folder / "fashion.onnx", tests.folder, [], {}),
        "elsewhere": ("fashion.onnx", elsewhere, [], {}),
        "environment": ("fashion.onnx", tests.folder, [], others),
    }
    for name, (model, cwd, arguments, environment) in variants.items():
        output = cwd / f"out-{name}"
        if tests.compile(model, output, *arguments, cwd=cwd, env={**os.environ, **environment}):
            same = output.read_bytes() == reference
            tests.check(f"bytes-{name}", "" if same else "another file")
    payloads = [payload.Payload(tests.folder / name) for name in
                ("fashion", "fashion.so", "fashion.plan")]
    # Apart from what is in front of it, the payload is the same in all forms.
    contents = {p.without_stub_hash() for p in payloads}
    tests.check("bytes-forms", "" if len(contents) == 1 else "the forms' payloads differ")
    # No path of this machine either.
    stray = [text for text in (b"/home/", b"/tmp/", os.fsencode(tests.folder),
                               os.fsencode(harness.SOURCE))
             if text in payloads[0].data[payloads[0].offset:]]
    tests.check("bytes-paths", f"contains {stray}" if stray else "")


class DeviceOptions(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("kind", ctypes.c_int),
                ("ordinal", ctypes.c_int32), ("sim_threads", ctypes.c_uint32),
                ("sim_checks", ctypes.c_uint32), ("sim_seed", ctypes.c_uint64)]


class ModelOptions(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("device", ctypes.c_void_p),
                ("arch", ctypes.c_uint32)]


class Loader:
    """cameo_model_load_memory of a file's bytes, for the simulator: weights are uploaded too."""

    def __init__(self, library, data):
        self.cameo = ctypes.CDLL(str(library))
        device_options = DeviceOptions(ctypes.sizeof(DeviceOptions), 2, 0, 1, 0, 0)
        device = ctypes.c_void_p()
        assert self.cameo.cameo_device_create(ctypes.byref(device_options),
                                              ctypes.byref(device)) == 0
        self.options = ModelOptions(ctypes.sizeof(ModelOptions), device, 0)
        self.size = len(data)
        self.memory = ctypes.create_string_buffer(self.size + 64)
        self.start = -ctypes.addressof(self.memory) % 64
        self.bytes = memoryview(self.memory).cast("B")[self.start:self.start + self.size]
        self.bytes[:] = data

    def load(self):
        model = ctypes.c_void_p()
        status = self.cameo.cameo_model_load_memory(
            ctypes.c_void_p(ctypes.addressof(self.memory) + self.start),
            ctypes.c_size_t(self.size), ctypes.byref(self.options), ctypes.byref(model))
        if status == 0:
            self.cameo.cameo_model_destroy(model)
        return status

    def flip(self, position, bit):
        self.bytes[position] ^= 1 << bit
        status = self.load()
        self.bytes[position] ^= 1 << bit
        return status


def check_flips(tests, name, positions_of):
    """Every flip is refused as damage; only those of the version may call it another version."""
    contents = payload.Payload(tests.folder / f"{name}.plan")
    loader = Loader(tests.suite.build / "lib" / "libcameo.so", contents.data)
    if loader.load() != 0:
        tests.check(f"flips-{name}", "the whole file does not load")
        return
    accepted, count = [], 0
    for position, bit in positions_of(contents):
        status = loader.flip(position, bit)
        versions = 8 <= position < 12
        count += 1
        if status != CORRUPT and not (versions and status == INCOMPATIBLE):
            accepted.append((position, bit, status))
    print(f"{name}: {count} flips of {len(contents.data)} bytes refused", flush=True)
    tests.check(f"flips-{name}", f"{len(accepted)} accepted: {accepted[:5]}" if accepted else "")


def every_byte(contents):
    random = numpy.random.default_rng(1)
    return [(position, int(random.integers(8))) for position in range(len(contents.data))]


def sampled(contents):
    """All of header, table, manifest and trailer; samples of the rest, each section among them."""
    random = numpy.random.default_rng(2)
    small = [*range(contents.table_end), *range(len(contents.data) - payload.TRAILER.size,
                                                len(contents.data))]
    for section in contents.sections:
        few = section.size <= 4096
        small += list(range(section.offset, section.offset + section.size) if few else
                      section.offset + random.integers(section.size, size=SAMPLES // 8))
    small += list(random.integers(len(contents.data), size=SAMPLES))
    return [(int(position), int(random.integers(8))) for position in small]


def check_exit_codes(tests):
    """The executable with a damaged payload: exit code 4 and one error, before anything runs."""
    contents = payload.Payload(tests.folder / "fashion")
    random = numpy.random.default_rng(3)
    damaged = tests.folder / "damaged"
    for section in contents.sections:
        data = bytearray(contents.data)
        data[section.offset + int(random.integers(section.size))] ^= 0x10
        damaged.write_bytes(data)
        damaged.chmod(0o755)
        step = harness.run([damaged, "--device=sim", "--random-inputs"], SECONDS)
        errors = [line for line in step.output.splitlines() if line.startswith("error: ")]
        tests.check(f"damaged-{section.kind.replace(' ', '-')}",
                    "" if step.code == 4 and len(errors) == 1 and "result" not in step.output
                    else f"{step.how()}: {errors}", step)
    for cut in (1, 100, contents.size // 2, contents.size):
        damaged.write_bytes(contents.data[:-cut])
        damaged.chmod(0o755)
        step = harness.run([damaged, "--device=sim", "--random-inputs"], SECONDS)
        tests.check(f"truncated-{cut}", "" if step.code == 4 and step.output.count("error: ") == 1
                    else f"{step.how()}: {step.output}", step)


    # What is too long says by how much, and names the file as its user does.
    damaged.write_bytes(contents.data + contents.data[contents.offset:])
    damaged.chmod(0o755)
    step = harness.run(["./damaged", "--info"], SECONDS, cwd=tests.folder)
    words = (f"error: ./damaged: damaged model file: it has {damaged.stat().st_size} bytes; when it "
             f"was written it had {len(contents.data)} ")
    tests.check("appended", "" if step.code == 4 and words in step.output
                else f"{step.how()}: {step.output}", step)


def skipped_over(rows):
    """'first' is read by 'second' and, after 'third', by 'last'. All four have the same numbers, of any
    input that is not negative, so that results are right whatever is overwritten."""
    nodes = [helper.make_node("Abs", ["x"], ["a"], "first"),
             helper.make_node("MatMul", ["a", "w"], ["b"], "second"),
             helper.make_node("MatMul", ["b", "w"], ["c"], "third"),
             helper.make_node("Max", ["a", "c"], ["y"], "last")]
    value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [rows, 8])  # noqa: E731
    model = helper.make_model(helper.make_graph(
        nodes, "skipped", [value("x")], [value("y")],
        [numpy_helper.from_array(numpy.eye(8, dtype=numpy.float32), "w")]),
        opset_imports=[helper.make_opsetid("", 21)])
    model.ir_version = 10
    return model


def overlapping(contents):
    """Plans in which values that live at the same time share their memory: what it is, the file's
    contents, what is to be said of them. Offsets are registers: a value gets that of another."""
    plan, = contents.of_kind("plan")
    instructions, strings = contents.instructions(plan)
    names = {i.operands[0]: strings[i.operands[1]] for i in instructions
             if i.opcode == payload.BUF_NAME}
    buffers = {names.get(i.operands[0]): i for i in instructions if i.opcode == payload.BUF_ARENA}
    requests = [i for i in instructions if i.opcode == payload.ARENA_REQUEST]
    first = buffers["first"]

    def with_word(instruction, operand, word):
        changed = bytearray(contents.bytes_at(plan))
        struct.pack_into("<I", changed, instruction.offset + 4 * operand, word)
        return plan, changed

    if requests:
        # Its last step is the first that it is used again in.
        yield ("laid-out", *with_word(requests[0], 3, 1),
               r"read of an overwritten value: .* at first\+.*, last written as a part of third")
        return
    yield ("earlier-launch", *with_word(buffers["third"], 1, first.operands[1]),
           r"read of an overwritten value: .* at first\+.*, last written as a part of third")
    yield ("same-launch", *with_word(buffers["second"], 1, first.operands[1]),
           r"read of uninitialised global memory: .* at first\+.*, in whose place is second now")


# The same plans as text: rows, what stands there, what is put in its place, what is said.
OVERLAPS = {
    "earlier-launch": (8, r"(?s)(?<=rt.arena_view )%c512", "%c0",
                       "'third' overwrites 'first', which is in use later"),
    "same-launch": (8, r"(?<=rt.arena_view )%c256", "%c0",
                    "'second' overwrites 'first', which is in use later"),
    "laid-out": ("N", r"from 0 to 3", "from 0 to 1",
                 "'first', in use from step 0, a launch of .*, to step 3, .* laid out in the arena for "
                 "steps 0 to 1"),
}


def check_plans(tests):
    """Memory of a value that is overwritten before its last reader: found in a plan by the
    simulator, and in the text of one by the compiler, although results are right."""
    driver = tests.suite.build / "fakecuda" / "libcuda.so.1"
    if not driver.exists():
        tests.check("overlap", f"{driver} is not there; build target fakecuda first")
        return
    library = ctypes.CDLL(str(driver))
    library.fakecuda_hash.restype = ctypes.c_uint64

    def hashed(content):
        return library.fakecuda_hash(content, ctypes.c_size_t(len(content)))

    numbers = numpy.arange(64, dtype=numpy.float32).reshape(8, 8)
    numpy.save(tests.folder / "skipped.npy", numbers)
    edited, seen = tests.folder / "edited", set()
    command = [edited, "--device=sim", "--input=@skipped.npy", "--expected_output=@skipped.npy"]
    for rows in (8, "N"):
        onnx.save(skipped_over(rows), tests.folder / "skipped.onnx")
        how = ["-O0", "--target=sim:sm_80"]
        if not (tests.compile("skipped.onnx", "skipped", "--sim-checks", *how)
                and tests.compile("skipped.onnx", "skipped.mlir", "--stop-after=host", *how)):
            return
        contents = payload.Payload(tests.folder / "skipped")
        for what, section, changed, text in [("none", contents.of_kind("plan")[0],
                                              contents.bytes_at(contents.of_kind("plan")[0]), None),
                                             *overlapping(contents)]:
            seen.add(what)
            edited.unlink(missing_ok=True)
            edited.write_bytes(contents.changed(section, changed, hashed))
            edited.chmod(0o755)
            step = harness.run([*command, "--sim-checks=all"], SECONDS, cwd=tests.folder)
            if text is None:
                wrong = "" if step.code == 0 else step.how()
            elif step.code == 3 and re.search(text, step.output):
                wrong = ""
            else:
                wrong = f"{step.how()}: {harness.first_error(step.output)}"
            tests.check(f"overlap-{what}-{rows}", wrong, step)
            # Else nothing is shown: a check that is right goes by more than values.
            step = harness.run(command, SECONDS, cwd=tests.folder)
            tests.check(f"overlap-{what}-{rows}-values", "" if step.code == 0 else
                        f"{step.how()}: the values tell, too", step)
        whole = (tests.folder / "skipped.mlir").read_text()
        for what, (of, pattern, replacement, text) in OVERLAPS.items():
            if of != rows:
                continue
            plan, count = re.subn(pattern, replacement, whole, count=1)
            (tests.folder / "edited.mlir").write_text(plan)
            step = harness.run([tests.suite.tool("cameo-opt"), "edited.mlir", "--pass-pipeline="
                                "builtin.module(cameo-verify-stage{stage=host})"], SECONDS,
                               cwd=tests.folder)
            tests.check(f"overlap-{what}-text", "" if count == 1 and step.code == 1 and
                        re.search(text, step.output) and "this is a bug in Cameo" in step.output
                        else f"{count} changes, {step.how()}", step)
    missing = {"none", *OVERLAPS} - seen
    tests.check("overlap-all", f"not tried: {missing}" if missing else "")


def outcome(step, same):
    """How a run of a damaged executable ended; None where it must not end so."""
    if step.code == 4:
        return "refused"
    if step.code is None or step.code < 0:
        return "ended by a signal"
    if step.code in (126, 127) or "ld.so" in step.output or "version `" in step.output:
        return "not loaded"
    return "right" if step.code == 0 and same else None


def check_stub_flips(tests):
    """One bit of the program in front of the payload, its headers and its padding: what runs on and
    ends well has computed what the whole file computes."""
    contents = payload.Payload(tests.folder / "fashion")
    random = numpy.random.default_rng(4)
    last = len(contents.data[:contents.offset].rstrip(b"\0"))
    positions = [*random.integers(contents.offset, size=STUB_SAMPLES),
                 *random.integers(0x340, size=STUB_SAMPLES // 8),  # ELF's headers
                 *random.integers(last, contents.offset, size=4)]  # padding
    numpy.save(tests.folder / "image.npy", small_models.fashion().feeds[0]["image"])
    damaged, output = tests.folder / "damaged", tests.folder / "damaged.npy"
    command = [damaged, "--device=sim", "--input=@image.npy", f"--output=@{output}"]
    results, right = {}, b""
    for number, position in enumerate([None, *map(int, positions)]):
        data = bytearray(contents.data)
        if position is not None:
            data[position] ^= 1 << int(random.integers(8))
        # One that has been started from may not be written to.
        damaged.unlink(missing_ok=True)
        damaged.write_bytes(data)
        damaged.chmod(0o755)
        output.unlink(missing_ok=True)
        try:
            step = harness.run(command, STUB_SECONDS, cwd=tests.folder)
        except OSError:  # the kernel does not take it for a program
            results["not loaded"] = results.get("not loaded", 0) + 1
            continue
        found = output.read_bytes() if output.exists() else b""
        right = right or found
        kind = outcome(step, found == right)
        results[kind] = results.get(kind, 0) + 1
        if kind is None:
            tests.check(f"stub-flip-{number}", f"byte {position}: {step.how()}", step)
    print(f"stub: {len(positions)} flips: " +
          ", ".join(f"{count} {kind}" for kind, count in results.items()), flush=True)
    # What the kernel and the loader read comes before any check; it is a small part.
    tests.check("stub-flips", "" if right and results.get("refused", 0) > STUB_SAMPLES * 0.9
                else f"{results}")


def check_size(tests):
    contents = payload.Payload(tests.folder / "fashion")
    beyond = contents.size_beyond_code_and_weights()
    kinds = ", ".join(f"{section.kind} {section.size}" for section in contents.sections)
    print(f"demo: {len(contents.data)} bytes, {beyond} beyond weights and kernels (stub and padding "
          f"{contents.offset}; {kinds})", flush=True)
    tests.check("size", "" if beyond <= payload.MOST_BEYOND
                else f"{beyond} B are neither weights nor kernels")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    options = parser.parse_args()
    tests = ArtefactFiles(options)
    onnx.save(small_models.fashion().model, tests.folder / "fashion.onnx")
    onnx.save(small_models.shapes().model, tests.folder / "shapes.onnx")
    if all([tests.compile("fashion.onnx", "fashion"),
            tests.compile("fashion.onnx", "fashion.so", "--emit=lib"),
            tests.compile("fashion.onnx", "fashion.plan", "--emit=plan"),
            tests.compile("shapes.onnx", "shapes.plan", "--emit=plan", "--target=sim:sm_80")]):
        check_needs(tests)
        check_chroot(tests)
        check_same_bytes(tests)
        check_flips(tests, "shapes", every_byte)
        check_flips(tests, "fashion", sampled)
        check_exit_codes(tests)
        check_plans(tests)
        check_stub_flips(tests)
        check_size(tests)
    return tests.suite.close()


if __name__ == "__main__":
    sys.exit(main())
