#!/usr/bin/env python3
"""Plants faults in generated kernels, one at a time, and sees whether the simulator's checks find
them (cameo-plant-fault lists the kinds).

Every fault ends in exactly one of these:
  found       a check reports it, with one of the seeds, or the compiler of checked images does
  result      no check does, but outputs change or the kernel does not end
  unnoticed   neither; allowed only as often as unnoticed_faults.txt says, with a reason

A fault that a crash of the tools or the simulator would show is a failure.
"""
# SPDX-License-Identifier: Apache-2.0
import argparse
import collections
import os
import re
import sys
from dataclasses import dataclass

import numpy
import onnx
from onnx import TensorProto, helper

import harness
import matrix_types

HERE = harness.Path(__file__).resolve().parent
SECONDS = 60
# A kernel that a fault keeps from ending: the models' good runs take well under a second.
HANG_SECONDS = 20
SEEDS = (0, 1, 2)
# How many faults of a kind are planted in a kernel, spread over its places, unless --every: of synchronisation, of
# others, and with --long.
PER_SYNC_KIND, PER_KIND, PER_KIND_LONG = 2, 1, 3
# In how many kernels a kind is planted, of those that have places for it, unless --long.
KERNELS = 8
# What share the checks alone must find of all, and of the faults in synchronisation: what they leave
# shows in results, or is explained in unnoticed_faults.txt.
# 89.7, 98.7 and 94.3 % are measured.
LEAST_FOUND, LEAST_FOUND_SYNC, LEAST_FOUND_ASYNC = 0.78, 0.94, 0.92
# Those that others are much like.
LONG_CASES = {"mma-f16-registers", "mma-tf32", "fused-value", "fused-product-rows", "gathered-rows"}
SYNC_KINDS = ("drop-barrier", "early-barrier", "late-barrier", "diverge-barrier",
              "diverge-shuffle", "narrow-shuffle")
REGISTER_KINDS = ("drop-load", "drop-start")
# Of these every place is tried.
ASYNC_KINDS = ("drop-async-wait", "loosen-async-wait", "drop-commit", "weaken-async-wait",
               "drop-fence", "misplace-fence", "diverge-warpgroup", "drop-copy",
               "drop-mbarrier-wait", "flip-parity", "drop-mbarrier-arrival", "drop-expectation",
               "drop-cluster-barrier", "stay-local", "narrow-multicast")


@dataclass
class Case:
    """One ONNX operator, or several that become one kernel, which is broken. Sizes are such that
    every mask matters."""
    name: str
    nodes: list
    inputs: dict  # arrays; weights as well, which device text would keep beside it
    output: list
    is_fused: bool = False  # all of it must be one kernel
    weights: tuple = ()  # tensors that are constants
    flags: tuple = ()  # of cameoc
    kernel: str = ""  # the only one that is broken, where it is one of several
    opset: int = 17

    def model(self):
        graph = helper.make_graph(
            self.nodes, self.name,
            [helper.make_tensor_value_info(key, helper.np_dtype_to_tensor_dtype(value.dtype),
                                           value.shape)
             for key, value in self.inputs.items()],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, self.output)],
            list(self.weights))
        # The first version with blocks of 4 bits is 21.
        opset = max(self.opset, 21 if self.weights else 17)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
        model.ir_version = 10 if opset > 17 else 8
        onnx.checker.check_model(model)
        return model

    def write_device(self, suite, work, target):
        """Compiles it to work/device.mlir."""
        onnx.save(self.model(), work / "model.onnx")
        for key, value in self.inputs.items():
            numpy.save(work / f"{key}.npy", value)
        return harness.run([suite.tool("cameoc"), work / "model.onnx", "-o", work / "device.mlir",
                            *self.flags, f"--target={target}", "--stop-after=device"], SECONDS)

    PASS_PATH = "rt.variant(gpu.module(%s))"
    KINDS = ()  # all

    @staticmethod
    def assemble(suite, source, artefact, target):
        return harness.run([suite.tool("cameoc"), "--start-from=device", source, "-o", artefact,
                            f"--target={target}", "--sim-checks-only"], SECONDS)

    def execute(self, _, artefact, seed, record):
        """Runs it; `record`: its output is what others are compared with from now on."""
        work = artefact.parent
        output = ([f"--output=y=@{work / 'y.npy'}"] if record else
                  [f"--expected_output=y=@{work / 'y.npy'}", "--rtol=0", "--atol=0"])
        return harness.run([artefact, "--device=sim", "--sim-checks=all", f"--sim-seed={seed}",
                            *(f"--input={key}=@{work / f'{key}.npy'}" for key in self.inputs),
                            *output], HANG_SECONDS)

    @staticmethod
    def finding(step):
        error = harness.first_error(step.output)
        if "no kernel and no copy has written" in error:
            return "found", "unwritten output"
        found = re.search(r"kernel '[^']*'(?: \([^)]*\))?: ([a-z -]+):", error)
        return ("found", found[1]) if found else ("failed", error)


@dataclass
class StepCase(Case):
    """A recurrent network each step of which is a launch, by this schedule."""
    schedule: str = ""

    def write_device(self, suite, work, target):
        onnx.save(self.model(), work / "model.onnx")
        listed = work / "schedules.json"
        step = harness.run([suite.tool("cameoc"), work / "model.onnx", "-o", listed, f"--target={target}",
                            "--emit=schedules"], SECONDS)
        if step.code:
            return step
        text = re.sub(r'(recurrence\\", )\{[^}]*\}', lambda found: found[1] + self.schedule, listed.read_text())
        listed.write_text(text)
        self.flags = (f"--schedules={listed}",)
        return super().write_device(suite, work, target)


@dataclass
class MatrixCase(Case):
    """A product on Tensor Cores, as matrix_types.py describes it: `form` and what makes it."""
    form: str = ""
    make: object = None

    KINDS = ("drop-barrier", "diverge-barrier", "drop-async-wait", "loosen-async-wait", "drop-commit",
             "drop-copy", "drop-shared-store", "drop-swizzle", "hold-stage", "shift-index",
             "widen-bound", "narrow-bound", "close-mask", "open-mask", "drop-conjunct", "drop-load")

    def write_device(self, suite, work, target):
        case = matrix_types.Case(self.name, self.form)
        matrix_types.finish(case, self.make(case))
        target = target.removeprefix("sim:")
        (work / "model.mlir").write_text(matrix_types.module([case], target, output="y"))
        for number, array in enumerate(case.operands):
            self.inputs[f"x0_{number}"] = array
            numpy.save(work / f"x0_{number}.npy", array)
        return harness.run([suite.tool("cameoc"), "--start-from=dispatched", work / "model.mlir",
                            "-o", work / "device.mlir", f"--target=sim:{target}",
                            "--stop-after=device"], SECONDS)


@dataclass
class FusedMatrixCase(Case):
    """Products on Tensor Cores with other work; shuffles of rows of products are those of any."""
    KINDS = MatrixCase.KINDS + ("early-barrier", "late-barrier", "drop-global-store", "shift-start",
                                "drop-start")


def matrix_cases():
    """Ragged on all sides, and deeper than there are stages: copies in the background, through
    registers, in pairs beside a zero point."""
    convolve, multiply = matrix_types.convolve, matrix_types.multiply
    makers = {
        "mma-f16": lambda case: multiply(case, 40, 40, 264),
        "mma-f16-registers": lambda case: multiply(case, 33, 35, 137),
        "mma-u8s8": lambda case: convolve(case, 1, 48, 5, 24, 3, zero=9, innermost=False),
        "mma-tf32": lambda case: multiply(case, 36, 44, 132),
    }
    return [MatrixCase(name, [], {}, [], form=name.split("-")[1], make=make)
            for name, make in makers.items()]


@dataclass
class KernelCase:
    """A kernel of test/instructions, with its input and its reference."""
    name: str
    kernel: str

    ARCHITECTURE = "sm_90a"
    is_fused = False
    PASS_PATH = "gpu.module(%s)"
    KINDS = SYNC_KINDS + ASYNC_KINDS + REGISTER_KINDS  # what the generated kernels do not have

    def write_device(self, suite, work, _):
        step = harness.run([suite.tool("cameo-instructions"), f"--only=={self.kernel}",
                            f"--print-kernels={self.ARCHITECTURE}"], SECONDS)
        (work / "device.mlir").write_text(step.output)
        return step

    @staticmethod
    def assemble(suite, source, artefact, _):
        return harness.run([suite.tool("cameo-translate"), "--kernel-to-sim-image", "--checked",
                            f"--arch={KernelCase.ARCHITECTURE}", source, "-o", artefact], SECONDS)

    def execute(self, suite, artefact, seed, _):
        return harness.run([suite.tool("cameo-instructions"), "--device=sim", "--checks=all",
                            f"--only=={self.kernel}", f"--arch={self.ARCHITECTURE}",
                            f"--code={artefact}", f"--seed={seed}"], HANG_SECONDS)

    @staticmethod
    def finding(step):
        found = re.match(r"FAIL \S+: \S+: ([a-z -]+):", step.output)
        return ("found", found[1]) if found else ("failed", step.output)


def kernel_cases():
    return [
        KernelCase("pipeline-cp-async", "pipeline_cp_async"),
        KernelCase("pipeline-cp-async-mbarrier", "pipeline_cp_async_mbarrier"),
        KernelCase("pipeline-wgmma", "pipeline_wgmma"),
        KernelCase("pipeline-multicast", "pipeline_multicast"),
        KernelCase("pipeline-global", "pipeline_global"),
        # A tensor map that the kernel itself writes.
        KernelCase("tensor-map", "tensor_map_written_gpu"),
        # A bulk copy from block to block, and a store in another block's shared memory.
        KernelCase("bulk-shared", "cluster_bulk_shared"),
        KernelCase("store-async",
                   "cluster_st_async_weak_shared__cluster_mbarrier__complete_tx__bytes_b32"),
    ]


@dataclass
class ClusterCase(Case):
    """What blocks of a cluster exchange."""
    KINDS = ("drop-cluster-barrier", "stay-local", "diverge-shuffle", "narrow-shuffle", "shift-index")
    ARCHITECTURE = "sm_90"

    def write_device(self, suite, work, target):
        return super().write_device(suite, work, f"sim:{self.ARCHITECTURE}")

    @staticmethod
    def assemble(suite, source, artefact, target):
        return Case.assemble(suite, source, artefact, f"sim:{ClusterCase.ARCHITECTURE}")


def cases():
    random = numpy.random.default_rng(5)

    def normal(*shape):
        return random.standard_normal(shape, numpy.float32)

    node = helper.make_node
    return [
        # Tiles through shared memory, two stages, ragged on all three sides: in pairs of elements,
        # and one by one with all of the depth in the first stage.
        Case("gemm", [node("MatMul", ["x", "w"], ["y"], "product")], {"x": normal(70, 50),
             "w": normal(50, 66)}, [70, 66]),
        Case("gemm-shallow", [node("MatMul", ["x", "w"], ["y"], "product")], {"x": normal(70, 11),
             "w": normal(11, 67)}, [70, 67]),
        Case("convolution", [node("Conv", ["x", "w", "b"], ["y"], "convolution", pads=[1] * 4)],
             {"x": normal(2, 5, 9, 9), "w": normal(20, 5, 3, 3), "b": normal(20)},
             [2, 20, 9, 9]),
        # A line in shared memory, in order; lines that a warp looks through, and strikes out from.
        Case("sort", [node("TopK", ["x", "k"], ["y", "i"], "best")], {"x": normal(3, 100)}, [3, 100],
             weights=[helper.make_tensor("k", TensorProto.INT64, [1], [100])], kernel="k0_best"),
        Case("choose", [node("NonMaxSuppression", ["boxes", "scores", "most", "share"], ["n"], "choice"),
                        node("Cast", ["n"], ["y"], "floats", to=TensorProto.FLOAT)],
             {"boxes": numpy.sort(normal(1, 150, 4).reshape(1, 150, 2, 2), axis=2).reshape(1, 150, 4),
              "scores": normal(1, 8, 150)}, ["N", 3], weights=[
                  helper.make_tensor("most", TensorProto.INT64, [1], [150]),
                  helper.make_tensor("share", TensorProto.FLOAT, [1], [0.1])], kernel="k1_choice"),
        # Places that are looked up, and outside of which nothing is stored.
        Case("insert", [node("TensorScatter", ["x", "u", "at"], ["y"], "cache", axis=1)],
             {"x": normal(2, 9, 70), "u": normal(2, 3, 70), "at": numpy.array([8, 2], numpy.int64)}, [2, 9, 70], opset=24),
        # One block per row: loops over the row, shuffles, shared memory, barriers.
        Case("softmax", [node("Softmax", ["x"], ["y"], "softmax", axis=-1)], {"x": normal(3, 500)},
             [3, 500]),
        # Rows beside one another: two a thread, 16 threads side by side, 16 that share them.
        Case("softmax-across", [node("Softmax", ["x"], ["y"], "softmax", axis=1)],
             {"x": normal(2, 300, 100)}, [2, 300, 100]),
        Case("layer-norm", [node("LayerNormalization", ["x", "s", "b"], ["y"], "norm", axis=-1)],
             {"x": normal(3, 500), "s": normal(500), "b": normal(500)}, [3, 500]),
        Case("reduce", [node("ReduceSum", ["x"], ["y"], "sum")], {"x": normal(5, 333)}, [1, 1]),
        # One thread per element or a group of them.
        Case("add", [node("Add", ["x", "w"], ["y"], "sum")], {"x": normal(3, 37),
             "w": normal(37)}, [3, 37]),
        Case("pooling", [node("MaxPool", ["x"], ["y"], "pool", kernel_shape=[3, 3], strides=[2, 2],
                             pads=[1, 1, 1, 1])], {"x": normal(1, 3, 9, 9)}, [1, 3, 5, 5]),
        # Steps: sums that lanes exchange, and what the next step reads in shared memory; on two blocks.
        Case("recurrence", [node("GRU", ["x", "w", "r", "", "n"], ["y"], "steps", hidden_size=24,
                                 direction="reverse")],
             {"x": normal(3, 2, 4), "w": normal(1, 72, 4), "r": normal(1, 72, 24) / 5,
              "n": numpy.array([3, 2], numpy.int32)}, [3, 1, 2, 24]),
        ClusterCase("recurrence-cluster", [node("LSTM", ["x", "w", "r"], ["y"], "steps", hidden_size=128)],
                    {"x": normal(2, 1, 4), "w": normal(1, 512, 4), "r": normal(1, 512, 128) / 11}, [2, 1, 1, 128]),
        # A launch for each phase of a step: lanes share a unit's sums, or warps those of eight units.
        StepCase("recurrence-step", [node("GRU", ["x", "w", "r", "", "n"], ["y"], "steps", hidden_size=26,
                                          direction="reverse")],
                 {"x": normal(3, 3, 4), "w": normal(1, 78, 4), "r": normal(1, 78, 26) / 5,
                  "n": numpy.array([3, 2, 3], numpy.int32)}, [3, 1, 3, 26], kernel="k1_steps",
                 schedule="{deep = 2 : i64, parts = 4 : i64, rows = 2 : i64, steps = 1 : i64, threads = 32 : i64}"),
        StepCase("recurrence-step-mma", [node("LSTM", ["x", "w", "r"], ["q"], "steps", hidden_size=64),
                                         node("Cast", ["q"], ["y"], "floats", to=TensorProto.FLOAT)],
                 {"x": normal(2, 9, 4).astype(numpy.float16), "w": normal(1, 256, 4).astype(numpy.float16),
                  "r": (normal(1, 256, 64) / 8).astype(numpy.float16)}, [2, 1, 9, 64], kernel="k1_steps",
                 schedule="{instruction = array<i64: 16, 8, 16>, splits = 2 : i64, steps = 1 : i64}"),
        Case("depthwise", [node("Conv", ["x", "w"], ["y"], "depthwise", group=6,
                               pads=[1, 1, 1, 1])], {"x": normal(1, 6, 7, 7),
             "w": normal(6, 1, 3, 3)}, [1, 6, 7, 7]),
    ]


def fused_cases():
    """Several operators that are one kernel."""
    random = numpy.random.default_rng(6)

    def normal(*shape):
        return random.standard_normal(shape, numpy.float32)

    def tensor(name, kind, values):
        return helper.make_tensor(name, kind, values.shape, values.flatten().tolist())

    node = helper.make_node
    return [
        # What follows a product, with a tensor that is read element by element.
        Case("fused-product", [node("MatMul", ["x", "w"], ["p"], "product"),
                               node("Add", ["p", "b"], ["q"], "bias"),
                               node("Add", ["r", "q"], ["s"], "residual"),
                               node("Relu", ["s"], ["y"], "activation")],
             {"x": normal(70, 50), "w": normal(50, 66), "b": normal(66), "r": normal(70, 66)},
             [70, 66], True),
        Case("fused-convolution", [node("Conv", ["x", "w", "b"], ["p"], "product", pads=[1] * 4),
                                   node("Sigmoid", ["p"], ["q"], "gate"),
                                   node("Mul", ["p", "q"], ["s"], "swish"),
                                   node("Add", ["s", "r"], ["y"], "residual")],
             {"x": normal(2, 5, 9, 9), "w": normal(20, 5, 3, 3), "b": normal(20),
              "r": normal(2, 20, 9, 9)}, [2, 20, 9, 9], True),
        # What precedes a product is computed as its operand is copied, and padded after that.
        Case("fused-value", [node("Mul", ["x", "s"], ["p"], "scale"),
                             node("Add", ["p", "s"], ["q"], "shift"),
                             node("Conv", ["q", "w"], ["y"], "product", pads=[1] * 4)],
             {"x": normal(2, 5, 9, 9), "s": normal(5, 1, 1), "w": normal(20, 5, 3, 3)},
             [2, 20, 9, 9], True),
        # Weights of four bits, two a byte: whole vectors of them by a few rows, whose sums cross
        # lanes and warps; and through shared memory, the last ones of odd numbers of each alone.
        *(Case(f"weights-of-4-bits{name}",
               [node("DequantizeLinear", ["w", "s", "z"], ["d"], "dequantise", axis=0,
                     block_size=block), node("MatMul", ["x", "d"], ["y"], "product")],
               {"x": normal(rows, depth)}, [rows, columns], True,
               weights=[tensor("w", TensorProto.INT4, random.integers(-8, 8, (depth, columns))),
                        tensor("s", TensorProto.FLOAT, random.uniform(
                            0.1, 0.2, (depth // block, columns))),
                        tensor("z", TensorProto.INT4,
                               random.integers(-8, 8, (depth // block, columns)))])
          for name, rows, depth, columns, block in (("", 3, 192, 40, 32), ("-tiles", 35, 77, 37, 7))),
        # Rows of a product, staged for the warps that reduce them, with a mask that is loaded before.
        Case("fused-product-rows", [node("MatMul", ["x", "w"], ["p"], "product"),
                                    node("Add", ["p", "m"], ["s"], "mask"),
                                    node("Softmax", ["s"], ["y"], "weights", axis=-1)],
             {"x": normal(2, 37, 24), "w": normal(2, 24, 49), "m": normal(2, 37, 49)},
             [2, 37, 49], True),
        # The same on Tensor Cores, deeper than there are stages; of warps side by side each reduces
        # some of the rows.
        FusedMatrixCase("fused-product-rows-mma",
                        [node("MatMul", ["x", "w"], ["p"], "product"),
                         node("Add", ["p", "m"], ["s"], "mask"),
                         node("Softmax", ["s"], ["y"], "weights", axis=-1)],
                        {"x": normal(2, 37, 132), "w": normal(2, 132, 44), "m": normal(2, 37, 44)},
                        [2, 37, 44], True, flags=("--precision=tf32",)),
        # Rows of a table by indices, which the block reads before its first copy; the last ones count
        # from the table's end.
        *(kind(f"gathered-rows{name}",
               [node("Gather", ["t", "i"], ["x"], "rows", axis=0),
                node("MatMul", ["x", "w"], ["y"], "product")],
               {"t": normal(29, depth), "i": random.integers(-29, 29, rows),
                "w": normal(depth, columns)}, [rows, columns], True, flags=flags)
          for kind, name, rows, depth, columns, flags in (
              (Case, "", 70, 50, 66, ()),
              (FusedMatrixCase, "-mma", 37, 132, 44, ("--precision=tf32",)))),
        # A few rows by the large operand of each batch: no tiles, sums cross lanes and warps.
        Case("skinny-batched", [node("MatMul", ["x", "w"], ["p"], "product"),
                                node("Add", ["p", "m"], ["y"], "mask")],
             {"x": normal(3, 2, 264), "w": normal(3, 264, 37), "m": normal(3, 2, 37)},
             [3, 2, 37], True),
        # Several reductions of the same rows, which are computed first.
        Case("fused-rows", [node("Add", ["x", "r"], ["p"], "residual"),
                            node("LayerNormalization", ["p", "s", "b"], ["y"], "norm", axis=-1)],
             {"x": normal(3, 500), "r": normal(3, 500), "s": normal(500), "b": normal(500)},
             [3, 500], True),
        # A diamond whose input is read in another order.
        Case("fused-diamond", [node("Transpose", ["x"], ["p"], "turn", perm=[1, 0]),
                               node("Sigmoid", ["p"], ["q"], "gate"),
                               node("Mul", ["p", "q"], ["s"], "swish"),
                               node("Add", ["s", "r"], ["y"], "sum")],
             {"x": normal(37, 13), "r": normal(13, 37)}, [13, 37], True),
    ]


def read_unnoticed(path):
    """`case/kind count: reason` a line; {case/kind: count}."""
    allowed = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        match = re.fullmatch(r"(\S+) (\d+): \S.*", line)
        if not match:
            sys.exit(f"{path}:{number}: error: not 'case/kind count: reason'")
        allowed[match[1]] = int(match[2])
    return allowed


@dataclass
class Fault:
    case: Case
    kernel: str
    kind: str
    index: int

    @property
    def name(self):
        return f"{self.case.name}-{self.kernel}-{self.kind}-{self.index}"

    @property
    def group(self):
        return f"{self.case.name}/{self.kind}"


class PlantedFaults:
    def __init__(self, options):
        self.options = options
        self.suite = harness.Suite("planted-faults", options.build.resolve())
        self.opt = self.suite.tool("cameo-opt")
        self.allowed = read_unnoticed(HERE / "unnoticed_faults.txt")

    def prepare(self, case):
        """Compiles a case to the device stage, records its good outputs; its faults."""
        work = self.suite.work / case.name
        work.mkdir(exist_ok=True)
        steps = [case.write_device(self.suite, work, self.options.target),
                 case.assemble(self.suite, work / "device.mlir", work / "good",
                               self.options.target)]
        for seed in SEEDS:
            steps.append(case.execute(self.suite, work / "good", seed, seed == 0))
        if any(step.code != 0 for step in steps):
            self.suite.fail(case.name, "the kernel without a fault", *steps)
            return []
        kernels = (work / "device.mlir").read_text().count("gpu.module @")
        if case.is_fused and kernels != 1:
            self.suite.fail(case.name, f"is {kernels} kernels, not one", *steps)
            return []
        listed = harness.run([self.opt, work / "device.mlir", self.pipeline(case), "-o",
                              "/dev/null"], SECONDS)
        faults = []
        for kind, kernel, count in re.findall(r"faults of kind (\S+) in (\S+): (\d+)",
                                              listed.output):
            count = int(count)
            if case.kernel not in ("", kernel):
                continue
            if case.KINDS and kind not in case.KINDS and not self.options.every:
                continue
            every = self.options.every or kind in ASYNC_KINDS
            spread = count if every else min(count, PER_KIND_LONG)
            daily = PER_SYNC_KIND if kind in SYNC_KINDS else PER_KIND
            planted = spread if every or self.options.long else min(spread, daily)
            faults += [Fault(case, kernel, kind, i * count // spread) for i in range(planted)]
        if not faults:
            self.suite.fail(case.name, "no place for a fault", listed)
        return faults

    @staticmethod
    def daily(faults):
        """Of a kind those in KERNELS kernels, spread over all; those of asynchronous operations all."""
        places = collections.defaultdict(dict)
        for fault in faults:
            places[fault.kind].setdefault((fault.case.name, fault.kernel), []).append(fault)
        chosen = []
        for kind, kernels in places.items():
            every = [*kernels.values()]
            count = len(every) if kind in ASYNC_KINDS else min(len(every), KERNELS)
            chosen += [fault for i in range(count) for fault in every[i * len(every) // count]]
        return chosen

    @staticmethod
    def pipeline(case, options=""):
        path = case.PASS_PATH % f"cameo-plant-fault{options}"
        return f"--pass-pipeline=builtin.module({path})"

    def check(self, fault):
        """(outcome, what was found or went wrong, steps)."""
        work = self.suite.work / fault.case.name
        broken, artefact = work / f"{fault.name}.mlir", work / fault.name
        options = f"{{kernel={fault.kernel} kind={fault.kind} index={fault.index}}}"
        case = fault.case
        steps = [harness.run([self.opt, work / "device.mlir", self.pipeline(case, options), "-o",
                              broken], SECONDS)]
        if steps[0].code == 0:
            steps.append(case.assemble(self.suite, broken, artefact, self.options.target))
        if steps[-1].code != 0 and "that may be in flight" in steps[-1].output:
            return "found", "use of a wgmma in flight, when compiled", steps
        if steps[-1].code != 0:
            return "failed", f"cannot be built: {harness.first_error(steps[-1].output)}", steps
        outcome = ("unnoticed", "")
        for seed in SEEDS:
            step = case.execute(self.suite, artefact, seed, False)
            steps.append(step)
            if step.code == 3:
                outcome = case.finding(step)
                break
            if step.code == 1:
                outcome = ("result", "other values")
            elif step.code is None:
                outcome = ("result", "no end")
                break
            elif step.code != 0:
                outcome = ("failed", f"{step.how()}: {harness.first_error(step.output)}")
                break
        if outcome[0] in ("found", "result"):
            broken.unlink()
            artefact.unlink()
        return (*outcome, steps)

    def run(self):
        every = [*cases(), *fused_cases(), *matrix_cases(), *kernel_cases()]
        chosen = [case for case in every if re.search(self.options.filter, case.name)
                  and (self.options.long or case.name not in LONG_CASES)]
        self.chosen = {case.name for case in chosen}
        faults = [fault for case in chosen for fault in self.prepare(case)]
        if not self.options.long and not self.options.every:
            faults = self.daily(faults)
        results = {}
        for fault, (outcome, what, steps) in harness.for_each(faults, self.check,
                                                              self.options.jobs):
            results[fault.name] = (fault, outcome, what, steps)
            if self.options.verbose:
                print(f"{outcome:9} {fault.name}: {what or steps[0].output.strip()}", flush=True)
        self.judge(list(results.values()))
        return self.suite.close()

    def judge(self, results):
        unnoticed = collections.Counter()
        for fault, outcome, what, steps in results:
            if outcome == "failed":
                self.suite.fail(fault.name, what, *steps)
            elif outcome == "unnoticed":
                unnoticed[fault.group] += 1
                if unnoticed[fault.group] > self.allowed.get(fault.group, 0):
                    self.suite.fail(fault.name, "nobody noticed, and unnoticed_faults.txt does not "
                                    f"explain {unnoticed[fault.group]} of {fault.group}", *steps)
                else:
                    self.suite.skip("nobody noticed, and unnoticed_faults.txt explains why")
            else:
                self.suite.ok()
        self.print_table(results)
        if self.options.filter or self.options.every:
            return
        for group in sorted(set(self.allowed) - set(unnoticed)):
            if group.split("/")[0] not in self.chosen:
                continue
            print(f"note: unnoticed_faults.txt explains {group}; all are noticed")
        for label, least, kinds in (("all faults", LEAST_FOUND, None),
                                    ("faults in synchronisation", LEAST_FOUND_SYNC, SYNC_KINDS),
                                    ("faults in asynchronous operations", LEAST_FOUND_ASYNC,
                                     ASYNC_KINDS)):
            counted = [r for r in results if kinds is None or r[0].kind in kinds]
            share = sum(r[1] == "found" for r in counted) / max(len(counted), 1)
            print(f"checks found {share:.1%} of {label} (at least {least:.0%} is asked for)")
            if share < least:
                self.suite.fail(label, f"checks found {share:.1%}, not {least:.0%}")

    @staticmethod
    def print_table(results):
        """One row per kind: planted, found by which check, noticed by results alone, unnoticed."""
        rows = collections.defaultdict(collections.Counter)
        checks = collections.defaultdict(collections.Counter)
        for fault, outcome, what, _ in results:
            for kind in (fault.kind, "total"):
                rows[kind]["planted"] += 1
                rows[kind][outcome] += 1
            if outcome == "found":
                checks[fault.kind][what] += 1
        columns = ("planted", "found", "result", "unnoticed", "failed")
        print(f"{'kind':22}" + "".join(f"{column:>11}" for column in columns) + "  found as")
        for kind, row in rows.items():
            if kind != "total":
                found = ", ".join(f"{count} {what}" for what, count in checks[kind].most_common())
                print(f"{kind:22}" + "".join(f"{row[c]:11}" for c in columns) + f"  {found}")
        print(f"{'total':22}" + "".join(f"{rows['total'][c]:11}" for c in columns))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=harness.Path, default=harness.SOURCE / "build")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many at a time")
    parser.add_argument("--target", default="sim:sm_80", help="cameoc's --target")
    parser.add_argument("--filter", default="", help="only cases whose name matches this regex")
    parser.add_argument("--long", action="store_true", help="also those that others are much like")
    parser.add_argument("--every", action="store_true", help="every place, not a few of each kind")
    parser.add_argument("--verbose", action="store_true", help="print every outcome")
    return PlantedFaults(parser.parse_args()).run()


if __name__ == "__main__":
    sys.exit(main())
