#!/usr/bin/env python3
"""Compiled models on the CUDA path, without a GPU: artefacts run against the fake driver, which
records every call, and takes the kernels' work from a simulator image.

Checked are results (against ONNX Runtime), which code is loaded on which GPU, launches, memory,
transfers, recorded graphs, and that every single driver call may fail without harm.
"""
# SPDX-License-Identifier: Apache-2.0
import argparse
import ctypes
import json
import os
import re
import struct
import sys
from collections import Counter

import numpy
import onnx
import onnxruntime

import harness
import payload
import recurrence
from cubin import Cubin
import small_models

SECONDS = 120
# Orders of enqueued work other than the laziest.
ORDERS = ("eager", "1", "2", "3")
TARGETS = ("sm_75,sm_80,sm_86,sm_87,sm_89,sm_90,sm_90a,sm_100,sm_103,sm_110,sm_120,sm_121,ptx,"
           "sim:sm_75,sim:sm_80,sim:sm_90a")
# GPU: what of the default target it loads.
DEFAULT_CODE = {"8.0": "cubin sm_80", "8.6": "cubin sm_80", "8.7": "PTX sm_80",
                "8.9": "cubin sm_80",
                "9.0": "cubin sm_90a", "10.0": "PTX sm_80", "10.3": "PTX sm_80",
                "11.0": "PTX sm_80", "12.0": "PTX sm_80", "12.1": "PTX sm_80"}
# GPU: what of TARGETS it loads, and the simulated architecture whose kernels are the same.
EVERY_CODE = {"7.5": ("cubin sm_75", "sm_75"), "8.0": ("cubin sm_80", "sm_80"),
              "8.6": ("cubin sm_86", None), "8.7": ("cubin sm_87", None), "8.9": ("cubin sm_89", None),
              "9.0": ("cubin sm_90a", "sm_90a"),
              "10.0": ("cubin sm_100", None), "10.3": ("cubin sm_103", None),
              "11.0": ("cubin sm_110", None), "12.0": ("cubin sm_120", "sm_120"),
              "12.1": ("cubin sm_121", None), "13.0": ("PTX sm_121", None)}
# Failures of these are looked over: they report earlier work's failures, or give something back
# when all is done.
MAY_BE_IGNORED = {"cuCtxPopCurrent_v2", "cuDevicePrimaryCtxRelease_v2", "cuMemFree_v2",
                  "cuMemFreeHost", "cuModuleUnload", "cuStreamDestroy_v2", "cuEventDestroy_v2",
                  "cuGraphExecDestroy"}
# Where the driver makes no graph, the work is enqueued step by step.
HAS_OTHER_WAY = {"cuGraphCreate", "cuGraphAddKernelNode", "cuGraphAddMemcpyNode",
                 "cuGraphInstantiateWithFlags", "cuGraphDestroy"}
# Without a current context nothing can be given back but by the end of the process.
PREVENTS_RELEASE = {"cuCtxGetCurrent", "cuCtxPushCurrent_v2"}
QUERIES = {"cuGetErrorName", "cuGetErrorString"}


class Trace(list):
    """The fake driver's calls, one `function details` a line."""

    def details(self, function):
        return [line[len(function) + 1:] for line in self if line.split(" ")[0] == function]

    def count(self, function):
        return len(self.details(function))

    def loaded(self):
        """The programs whose code was loaded, in whatever pieces."""
        return list(dict.fromkeys(self.details("cuModuleLoadDataEx")))

    def bytes_of(self, function):
        return [int(detail.partition(" B")[0]) for detail in self.details(function)]


class Artefacts:
    def __init__(self, options):
        self.options = options
        self.suite = harness.Suite("cuda-artefacts", options.build.resolve())
        self.fake = self.suite.build / "fakecuda"
        if not (self.fake / "libcuda.so.1").exists():
            sys.exit(f"error: {self.fake}/libcuda.so.1 is not there; build target fakecuda first")

    def check(self, case, wrong, *steps):
        """`wrong` lists what is wrong, or is empty."""
        if wrong:
            self.suite.fail(case, "; ".join(wrong)[:600], *steps)
        else:
            self.suite.ok(case)

    def compile(self, name, model, *arguments):
        path = self.suite.work / f"{name}.onnx"
        onnx.save(model, path)
        step = harness.run([self.suite.tool("cameoc"), path, "-o", self.suite.work / name,
                            *arguments], SECONDS)
        if step.code:
            self.suite.fail(f"{name}-compile", harness.first_error(step.output), step)
            return None
        return self.suite.work / name

    def feed(self, artefact, feed):
        words = []
        for key, array in feed.items():
            file = artefact.parent / f"{artefact.name}-{key}.npy"
            numpy.save(file, array)
            words.append(f"--input={key}=@{file}")
        return words

    def run(self, artefact, words, kernels=None, gpu="8.0", fail=None, device="cuda", **settings):
        """One run over the fake driver, and its trace."""
        trace = artefact.parent / f"{artefact.name}.trace"
        trace.unlink(missing_ok=True)
        environment = {**os.environ, "LD_LIBRARY_PATH": str(self.fake),
                       "FAKECUDA_DEVICES": gpu, "FAKECUDA_TRACE": str(trace), **settings}
        if kernels:
            environment["FAKECUDA_ARTEFACT"] = str(kernels)
        if fail:
            environment["FAKECUDA_FAIL"] = fail
        step = harness.run([artefact, f"--device={device}", *words], SECONDS, env=environment)
        return step, Trace(trace.read_text().splitlines() if trace.exists() else [])


def references(model, feed):
    session = onnxruntime.InferenceSession(model.SerializeToString())
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, feed)))


def compare(archive, expected):
    """What differs from ONNX Runtime."""
    actual = numpy.load(archive)
    wrong = []
    for name, value in expected.items():
        if name not in actual:
            wrong.append(f"no output {name}")
        elif actual[name].shape != value.shape or actual[name].dtype != value.dtype:
            wrong.append(f"{name} is {actual[name].dtype} {actual[name].shape}")
        elif value.size and not (numpy.abs(actual[name] - value).max()
                                 <= 2e-5 * max(numpy.abs(value).max(), 1e-6)):
            wrong.append(f"{name} differs by {numpy.abs(actual[name] - value).max()}")
    return wrong


def launches_of(profile, kernels):
    """The launches of a --profile, as the fake driver describes them."""
    lines = []
    for event in json.loads(profile.read_text())["traceEvents"]:
        if event["ph"] != "X":
            continue
        arguments = event["args"]
        kernel = kernels[event["name"]]
        assert kernel.block == tuple(arguments["block"])
        lines.append(f"{event['name']} grid {'x'.join(map(str, arguments['grid']))} "
                     f"block {'x'.join(map(str, kernel.block))} "
                     f"shared {arguments['shared_bytes'] - kernel.shared_static}")
    return lines


def pages(size):
    return (size + 4095) // 4096 * 4096


def tidy(trace):
    wrong = [line for line in trace if line.startswith("misuse")]
    if not trace or trace[-1] != "left: nothing":
        wrong.append(trace[-1] if trace else "no trace")
    return wrong


def check_memory(trace, weights, feed, outputs):
    """Allocations and transfers of one run: weights once, an arena at most, one buffer each."""
    wrong = []
    rest = Counter(trace.bytes_of("cuMemAlloc_v2"))
    if weights:
        rest -= Counter([weights])
    tensors = Counter(pages(a.nbytes) for a in [*feed.values(), *outputs.values()] if a.nbytes)
    if sum((rest - tensors).values()) > 1:
        wrong.append(f"allocations {trace.bytes_of('cuMemAlloc_v2')} for weights of {weights} B "
                     f"and tensors of {sorted(tensors.elements())} B")
    up = trace.bytes_of("cuMemcpyHtoDAsync_v2")
    chunks = [min(4 << 20, weights - at) for at in range(0, weights, 4 << 20)]
    if up[:len(chunks)] != chunks:
        wrong.append(f"uploads {up[:len(chunks)]} for weights of {weights} B")
    # What follows are inputs, and sizes that the plan computed.
    unexplained = Counter(up[len(chunks):]) - Counter(a.nbytes for a in feed.values())
    if any(size > 64 for size in unexplained):
        wrong.append(f"uploads {up[len(chunks):]} for inputs")
    if sorted(trace.bytes_of("cuMemcpyDtoHAsync_v2")) != sorted(a.nbytes for a in outputs.values()):
        wrong.append(f"downloads {trace.bytes_of('cuMemcpyDtoHAsync_v2')}")
    if trace.count("cuDevicePrimaryCtxRetain") != 1:
        wrong.append("the context was retained more than once")
    return wrong


def check_runs(tests, name, model):
    """Each feed once: results, code, launches, memory."""
    artefact = tests.compile(name, model.model)
    if not artefact:
        return None
    contents = payload.Payload(artefact)
    kernels, weights = contents.kernels(0), contents.bytes_of("weights")
    for number, feed in enumerate(model.feeds):
        case = f"{name}-run-{number}"
        words = tests.feed(artefact, feed)
        archive, profile = artefact.with_suffix(".npz"), artefact.with_suffix(".json")
        archive.unlink(missing_ok=True)
        step, trace = tests.run(artefact, [*words, f"--output=@{archive}"], kernels=artefact)
        if step.code:
            tests.suite.fail(case, harness.first_error(step.output), step)
            continue
        expected = references(model.model, feed)
        wrong = compare(archive, expected) + tidy(trace)
        wrong += check_memory(trace, weights, feed, expected)
        if trace.loaded() != ["cubin sm_80"]:
            wrong.append(f"loaded {trace.loaded()}")
        if sorted(trace.details("cuModuleGetFunction")) != sorted(kernels):
            wrong.append("not each kernel was looked up once")
        profiled = harness.run([artefact, "--device=sim", *words, f"--profile={profile}"], SECONDS)
        if profiled.code:
            wrong.append(harness.first_error(profiled.output))
        elif launches_of(profile, kernels) != trace.details("cuLaunchKernel"):
            wrong.append("other launches than on the simulator")
        elif len(trace.details("cuLaunchKernel")) < 3:
            wrong.append("hardly any launches")
        tests.check(case, wrong, step, profiled)
    return artefact


def check_replay(tests, name, artefact, model):
    """The second run of a context makes a graph and all others replay it; streams share weights
    and code. A stream has two contexts, so that transfers of one overlap with computing of the other;
    an eager run goes before, and one of each context, to compare results, behind."""
    words = tests.feed(artefact, model.feeds[0])
    _, single = tests.run(artefact, words)
    each = single.count("cuLaunchKernel")
    contents = payload.Payload(artefact)
    pieces = sum(section.arch_name() == "sm_80" for section in contents.of_kind("cubin"))
    for streams in (1, 2):
        step, trace = tests.run(artefact, [*words, "--benchmark", "--iterations=6", "--warmUp=0",
                                           "--duration=0", f"--streams={streams}"],
                                kernels=artefact)
        contexts, runs = 2 * streams, 3 + 3 + 1
        wrong = tidy(trace) if step.code == 0 else [harness.first_error(step.output)]
        for function, count in (("cuModuleLoadDataEx", pieces),
                                ("cuGraphAddKernelNode", contexts * each),
                                ("cuGraphInstantiateWithFlags", contexts),
                                ("cuGraphLaunch", contexts * (runs - 1)),
                                ("cuLaunchKernel", (1 + contexts) * each)):
            if trace.count(function) != count:
                wrong.append(f"{function} {trace.count(function)} times, not {count}")
        weights = contents.bytes_of("weights")
        if weights and trace.bytes_of("cuMemAlloc_v2").count(weights) != 1:
            wrong.append("weights were allocated more than once")
        made = max((i for i, line in enumerate(trace) if line.startswith("cuGraphCreate")),
                   default=0)
        if any(line.startswith(("cuMemAlloc", "cuMemHostAlloc")) for line in trace[made:]):
            wrong.append("memory was allocated after the graphs were made")
        tests.check(f"{name}-replay-{streams}", wrong, step)


def check_orders(tests, name, artefact, model):
    """Work that the GPU comes to sooner or later than the laziest does the same."""
    words = tests.feed(artefact, model.feeds[0])
    expected = artefact.with_name(f"{artefact.name}-expected.npz")
    numpy.savez(expected, **references(model.model, model.feeds[0]))
    for order in ORDERS:
        step, trace = tests.run(artefact, [*words, f"--expected_output=@{expected}", "--benchmark",
                                           "--iterations=4", "--warmUp=0", "--duration=0",
                                           "--streams=2"],
                                kernels=artefact, FAKECUDA_ORDER=order)
        wrong = tidy(trace) if step.code == 0 else [harness.first_error(step.output)]
        tests.check(f"{name}-order-{order}", wrong, step)


def check_profile(tests, name, artefact, model):
    """Times of kernels, from replays on the fake driver's clock, add up to that of a replay."""
    words = tests.feed(artefact, model.feeds[0])
    profile = artefact.with_suffix(".json")
    profile.unlink(missing_ok=True)
    step, trace = tests.run(artefact, [*words, f"--profile={profile}", "--profileRuns=5",
                                       "--warmUp=1"], kernels=artefact)
    if step.code:
        tests.suite.fail(f"{name}-profile", harness.first_error(step.output), step)
        return
    document = json.loads(profile.read_text())
    total = sum(event["dur"] for event in document["traceEvents"] if event["ph"] == "X")
    times, wrong = document["otherData"], tidy(trace)
    if times.get("replays") != 5 or times.get("floor_of") != "an empty kernel":
        wrong.append(f"{times}")
    elif abs(total - times["replay_us"]) > 0.1 * times["replay_us"]:
        wrong.append(f"{total} us in kernels, {times['replay_us']} us a replay")
    shares = re.findall(r"^ +\d+  .* ([\d.]+) %", step.output, re.MULTILINE)
    if "median us" not in step.output or "simulat" in step.output or not shares or \
            abs(sum(map(float, shares)) - 100) > 0.05 * len(shares) + 0.01:
        wrong.append(f"the table has shares of {shares}")
    step, _ = tests.run(artefact, [*words, "--benchmark=json", "--noDataTransfers", "--warmUp=2",
                                   "--duration=0", "--iterations=500"], kernels=artefact)
    result = json.loads(step.output[step.output.index("{"):]) if step.code == 0 else {}
    if not result.get("matched") or not result["graph"] or "sm_mhz_max" not in result["monitor"]:
        wrong.append(harness.first_error(step.output) or f"{result}")
    # A run also has the start of its replay, a microsecond here.
    elif abs(total - 1000 * result["compute_ms"]["median"]) > max(0.11 * total, 1.25):
        wrong.append(f"{total} us in kernels, {result['compute_ms']} ms a run")
    tests.check(f"{name}-profile", wrong, step)


def check_arena(tests, name, model):
    """One arena, of the size that the report states."""
    feed = model.feeds[0]
    sizes = ",".join(f"{key}:{'x'.join(map(str, array.shape))}" for key, array in feed.items())
    report = tests.suite.work / f"{name}-fixed.json"
    artefact = tests.compile(f"{name}-fixed", model.model, f"--shapes={sizes}",
                             f"--report={report}")
    if not artefact:
        return
    arena = json.loads(report.read_text())["memory"]["arena_bytes"]
    step, trace = tests.run(artefact, tests.feed(artefact, feed), kernels=artefact)
    wrong = [] if step.code == 0 else [harness.first_error(step.output)]
    allocations = trace.bytes_of("cuMemAlloc_v2")
    if arena and pages(arena) not in allocations:
        wrong.append(f"allocations {allocations}, but the arena takes {arena} B")
    tests.check(f"{name}-arena", wrong, step)


def check_gpus(tests, name, artefact, model):
    feed = model.feeds[0]
    expected = references(model.model, feed)
    words = tests.feed(artefact, feed)
    archive = artefact.with_suffix(".npz")
    specific = tests.compile(f"{name}-sm_90a", model.model, "--target=sim:sm_90a")
    for gpu, code in DEFAULT_CODE.items():
        archive.unlink(missing_ok=True)
        kernels = specific if code == "cubin sm_90a" else artefact
        step, trace = tests.run(artefact, [*words, f"--output=@{archive}"], kernels, gpu)
        wrong = [harness.first_error(step.output)] if step.code else compare(archive, expected)
        if trace.loaded() != [code]:
            wrong.append(f"loaded {trace.loaded()}")
        tests.check(f"{name}-default-on-{gpu}", wrong + tidy(trace), step)
    # A refused cubin gives way to the PTX of the other variant, with that one's plan.
    archive.unlink(missing_ok=True)
    step, trace = tests.run(artefact, [*words, f"--output=@{archive}"], artefact, "9.0",
                            fail="cuModuleLoadDataEx:1:209")
    wrong = [harness.first_error(step.output)] if step.code else compare(archive, expected)
    if trace.loaded() != ["cubin sm_90a", "PTX sm_80"]:
        wrong.append(f"loaded {trace.loaded()}")
    if "better code was not taken: cuModuleLoadDataEx: CUDA_ERROR_NO_BINARY" not in step.output:
        wrong.append("the refused cubin is not named")
    tests.check(f"{name}-default-refused", wrong + tidy(trace), step)
    step, trace = tests.run(artefact, words, artefact, "9.0", FAKECUDA_REFUSE="cubin:209,ptx:221")
    wrong = one_error(step, 3, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND (221)")
    if "CUDA_ERROR_NO_BINARY_FOR_GPU (209)" not in step.output:
        wrong.append("the refused cubin is not named")
    tests.check(f"{name}-all-refused", wrong + tidy(trace), step)
    for gpu in ("7.5", "6.1"):
        step, trace = tests.run(artefact, words, artefact, gpu)
        text = f"error: no code for Fake GPU, an sm_{gpu.replace('.', '')} GPU: the artefact holds"
        wrong = one_error(step, 3, text) + tidy(trace)
        if trace.count("cuModuleLoadDataEx") or trace.count("cuMemAlloc_v2"):
            wrong.append("something was loaded")
        tests.check(f"{name}-default-on-{gpu}", wrong, step)
    # Older drivers than the cubin's toolkit take the PTX; there is an end to that too.
    step, trace = tests.run(artefact, words, artefact, FAKECUDA_DRIVER="12040")
    wrong = [harness.first_error(step.output)] if step.code else tidy(trace)
    if trace.loaded() != ["PTX sm_80"]:
        wrong.append(f"loaded {trace.loaded()}")
    tests.check(f"{name}-driver-12.4", wrong, step)
    step, trace = tests.run(artefact, words, artefact, FAKECUDA_DRIVER="10020")
    wrong = one_error(step, 3, "error: the driver of Fake GPU is for CUDA 10.2: ") + tidy(trace)
    tests.check(f"{name}-driver-10.2", wrong, step)


def check_large_clusters(tests):
    """A kernel in clusters of 16 blocks, on a GPU that has room for one and on a part of a GPU that has none."""
    layer = recurrence.Layer("LSTM", inputs=16, units=512, dtype=recurrence.F16)
    layer.draw(numpy.random.default_rng(3), {"w", "r", "b"})
    feed = {"x": numpy.zeros((3, 1, 16), recurrence.F16)}
    refusal = "kernel k1_layer needs clusters of 16 blocks, for which Fake GPU has no room"
    for name, target, codes in (("alone", "sm_90a", []), ("with-ptx", "sm_90a,ptx", ["PTX sm_90"])):
        artefact = tests.compile(f"clusters-{name}", layer.model(feed, is_open=False), f"--target={target}")
        if not artefact:
            continue
        words = tests.feed(artefact, feed)
        step, trace = tests.run(artefact, words, gpu="9.0")
        wrong = [harness.first_error(step.output)] if step.code else tidy(trace)
        if trace.loaded() != ["cubin sm_90a"]:
            wrong.append(f"loaded {trace.loaded()}")
        tests.check(f"clusters-{name}", wrong, step)
        step, trace = tests.run(artefact, words, gpu="9.0", FAKECUDA_CLUSTER="9")
        if codes:
            wrong = [harness.first_error(step.output)] if step.code else []
            if f"better code was not taken: {refusal}" not in step.output:
                wrong.append("the refused cubin is not named")
        else:
            wrong = one_error(step, 3, refusal)
        if trace.loaded() != ["cubin sm_90a", *codes]:
            wrong.append(f"loaded {trace.loaded()}")
        tests.check(f"clusters-{name}-no-room", wrong + tidy(trace), step)


def check_targets(tests, name, model):
    """An artefact for every architecture: each GPU takes its own code."""
    artefact = tests.compile(f"{name}-every", model.model, f"--target={TARGETS}")
    if not artefact:
        return
    simulated = {arch: tests.compile(f"{name}-{arch}", model.model, f"--target=sim:{arch}")
                 for arch in ("sm_75", "sm_80", "sm_90a", "sm_120")}
    feed = model.feeds[0]
    expected, words = references(model.model, feed), tests.feed(artefact, feed)
    archive = artefact.with_suffix(".npz")
    for gpu, (code, arch) in EVERY_CODE.items():
        archive.unlink(missing_ok=True)
        step, trace = tests.run(artefact, [*words, f"--output=@{archive}"],
                                simulated[arch] if arch else None, gpu)
        wrong = [harness.first_error(step.output)] if step.code else []
        if arch and not wrong:
            wrong = compare(archive, expected)
        if trace.loaded() != [code]:
            wrong.append(f"loaded {trace.loaded()}")
        tests.check(f"{name}-every-on-{gpu}", wrong + tidy(trace), step)


def mismatches(contents, kernel, code):
    """Cubins and plans that differ in one thing each, as (what, section, its new contents, what is
    to be said). Of two parameters of the same size nothing in a cubin tells which is which: for
    those there are the results alone."""
    original = contents.bytes_at(code)
    sizes = [size for _, size in Cubin(original).parameters(kernel.name)]
    small = sizes.index(4)
    other = small - 1 if small and sizes[small - 1] == 8 else sizes.index(8)
    swapped = list(sizes)
    swapped[small], swapped[other] = swapped[other], swapped[small]
    block = (kernel.block[0] // 2, 1, 1)
    differs = r"parameter \d+ has [48] B in the plan, [48] B in the code"
    for what, change, text in (
            ("count", lambda c: c.set_sizes(kernel.name, sizes[:-1]),
             f"the plan passes {len(sizes)} parameters, the code takes {len(sizes) - 1}"),
            ("size", lambda c: c.set_sizes(kernel.name, [*sizes[:-1], 12 - sizes[-1]]), differs),
            ("order", lambda c: c.set_sizes(kernel.name, swapped), differs),
            ("block", lambda c: c.set_block(kernel.name, block), "blocks of .* in the plan, of "),
            ("cluster", lambda c: c.set_cluster(kernel.name, (2, 1, 1)),
             "clusters of .* in the simulator's image, of 2x1x1 in the code")):
        cubin = Cubin(original)
        change(cubin)
        yield f"cubin-{what}", code, cubin.data, text
    plan = next(s for s in contents.of_kind("plan") if s.variant == code.variant)
    types = list(kernel.arguments)
    types[small], types[other] = types[other], types[small]
    i64 = 2
    for what, values, at, text in (
            ("size", [i64], kernel.arguments_offset + 4 * small, differs),
            # Where one of them is a buffer the plan does not make sense in itself.
            ("order", types, kernel.arguments_offset, f"{differs}|damaged launch plan: word"),
            ("block", block, kernel.offset + 8, "blocks of .* in the plan, of ")):
        changed = bytearray(contents.data[plan.offset:plan.offset + plan.size])
        struct.pack_into(f"<{len(values)}I", changed, at - plan.offset, *values)
        yield f"plan-{what}", plan, changed, text


def check_mismatches(tests, name, model):
    """What a cubin notes of its kernels is compared with the plan, for every GPU's; where they
    differ the driver says so, and launches nothing. False: no kernel has parameters of two sizes,
    to tell apart."""
    artefact = tests.suite.work / f"{name}-every"  # made by check_targets
    driver = ctypes.CDLL(str(tests.fake / "libcuda.so.1"))
    driver.fakecuda_hash.restype = ctypes.c_uint64

    def hashed(content):
        return driver.fakecuda_hash(content, ctypes.c_size_t(len(content)))

    words = tests.feed(artefact, model.feeds[0])
    contents = payload.Payload(artefact)
    step, good = tests.run(artefact, words, artefact, "9.0")
    wrong = tidy(good) if step.code == 0 else [harness.first_error(step.output)]
    programs = {(section.kind, section.arch, section.variant)
                for section in contents.of_kind("ptx", "cubin")}
    if sum(line.startswith("checked ") for line in good) != len(programs):
        wrong.append(f"not each of {len(programs)} programs was checked")
    tests.check(f"{name}-plan-and-code", wrong, step)

    cubins = [section for section in contents.of_kind("cubin") if section.arch_name() == "sm_90a"]
    kernels = contents.kernels(cubins[0].variant)
    launched = {line.split(" ")[0] for line in good.details("cuLaunchKernel")}
    kernel = next((k for k in kernels.values()
                   if k.name in launched
                   and len(set(map(payload.argument_bytes, k.arguments))) == 2), None)
    if not kernel:
        return False
    cubin = next(section for section in cubins
                 if kernel.name.encode() + b"\0" in contents.bytes_at(section))
    planted = tests.suite.work / f"{name}-planted"
    for what, section, content, text in mismatches(contents, kernel, cubin):
        planted.write_bytes(contents.changed(section, content, hashed))
        planted.chmod(0o755)
        step, trace = tests.run(planted, words, planted, "9.0")
        said = [line for line in trace if line.startswith("misuse") and kernel.name in line]
        wrong = []
        if not re.search(text, "\n".join([*said, step.output])):
            wrong.append(f"nothing says '{text}'")
        if step.code != 3:
            wrong.append(f"{step.how()}, not 3")
        tests.check(f"{name}-mismatch-{what}", wrong, step)
    return True


def one_error(step, code, text):
    errors = [line for line in step.output.splitlines() if "error: " in line]
    wrong = []
    if step.code != code:
        wrong.append(f"{step.how()}, not {code}")
    if len(errors) != 1 or text not in errors[0]:
        wrong.append(f"errors {errors}, not '{text}'")
    return wrong


def check_choice(tests, name, artefact, model):
    """A driver that is there and fails is never a reason to simulate."""
    words = tests.feed(artefact, model.feeds[0])
    for device in ("auto", "cuda"):
        for label, settings in (("broken", {"fail": "cuInit:1:999"}), ("no-gpu", {"gpu": ""}),
                                ("out-of-memory", {"fail": "cuMemAlloc_v2:1:2"})):
            step, _ = tests.run(artefact, words, artefact, device=device, **settings)
            wrong = one_error(step, 3, "CUDA_ERROR_")
            if "simulator" in step.output.replace("--device=sim runs on the simulator", ""):
                wrong.append("the simulator was taken")
            tests.check(f"{name}-{label}-{device}", wrong, step)
    step, _ = tests.run(artefact, words, artefact, device="auto")
    tests.check(f"{name}-auto", [] if step.code == 0 and "Fake GPU" in step.output
                else [harness.first_error(step.output)], step)
    step, _ = tests.run(artefact, words, artefact, device="cuda:1")
    tests.check(f"{name}-ordinal", one_error(step, 2, "error: there is no CUDA device 1: "), step)


def check_failures(tests, name, artefact, model):
    """Each call of a run fails in turn: exit code 3 and one message that names it, or, where a
    failure means nothing any more, the right results. Nothing is left behind."""
    feed = model.feeds[0]
    expected = artefact.with_name(f"{artefact.name}-expected.npz")
    numpy.savez(expected, **references(model.model, feed))
    words = [*tests.feed(artefact, feed), f"--expected_output=@{expected}", "--benchmark",
             "--iterations=1", "--warmUp=0", "--duration=0", "--percentile=50"]
    step, good = tests.run(artefact, words, artefact)
    if step.code:
        tests.suite.fail(f"{name}-failures", harness.first_error(step.output), step)
        return
    calls = Counter(line.split(" ")[0] for line in good if line.startswith("cu"))
    runs = 0
    for function, count in calls.items():
        if function in QUERIES:
            continue
        wrong, bad = [], None
        ignored = 0
        # Every operation pushes and pops the context: a sample of those shows the same.
        stride = max(1, count // 12) if function.startswith("cuCtx") else 1
        for nth in [*range(1, count, stride), count]:
            step, trace = tests.run(artefact, words, artefact, fail=f"{function}:{nth}:999")
            found = []
            runs += 1
            if step.code == 0:
                ignored += 1
            else:
                found = one_error(step, 3, f"{function}: CUDA_ERROR_UNKNOWN (999): unknown error")
            if function not in PREVENTS_RELEASE:
                found += tidy(trace)
            if found:
                wrong.append(f"call {nth} of {count}: {', '.join(found)}")
                bad = bad or step
        if ignored and function not in MAY_BE_IGNORED | HAS_OTHER_WAY | PREVENTS_RELEASE:
            wrong.append(f"{ignored} of {count} failures went unnoticed")
        tests.check(f"{name}-failing-{function}", wrong, *([bad] if bad else []))
    print(f"{name}: {runs} calls failed in turn, of {sum(calls.values())} in a run", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    options = parser.parse_args()
    tests = Artefacts(options)
    mismatched = False
    for name, make in small_models.MODELS.items():
        if not re.search(options.filter, name):
            continue
        model = make()
        artefact = check_runs(tests, name, model)
        if not artefact:
            continue
        check_replay(tests, name, artefact, model)
        check_orders(tests, name, artefact, model)
        check_profile(tests, name, artefact, model)
        if not model.data_dependent:
            check_arena(tests, name, model)
        check_gpus(tests, name, artefact, model)
        check_targets(tests, name, model)
        if not model.data_dependent:
            mismatched |= check_mismatches(tests, name, model)
        check_choice(tests, name, artefact, model)
        check_failures(tests, name, artefact, model)
    if re.search(options.filter, "clusters"):
        check_large_clusters(tests)
    if not options.filter and not mismatched:
        tests.check("mismatches", ["no model has a kernel with parameters of two sizes"])
    return tests.suite.close()


if __name__ == "__main__":
    sys.exit(main())
