#!/usr/bin/env python3
"""What can be said of kernels without a GPU: networks and a grid of products are compiled, and their
machine code is read. Fails where a kernel spills, where ptxas warns, where a product accesses
memory by less than 16 bytes although alignment would allow it, where large products leave a
multiprocessor with little to do, where banks of shared memory conflict, and where docs/bench/static.md is
not what is found here.

  static_code.py                              checks
  static_code.py --page=docs/bench/static.md  writes the page instead of comparing it

The page is of one ptxas; with another one it is not compared, and counts as skipped.
"""
# SPDX-License-Identifier: Apache-2.0
import argparse
import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy
import onnx
from onnx import TensorProto, helper

import candidates
import harness
import networks
import payload
import typed_networks

PAGE = harness.SOURCE / "docs" / "bench" / "static.md"
# And the multiprocessors of the first board of each: T4, A100.
TARGETS = {"sm_75": 40, "sm_80": 108}
BANDWIDTHS = {"sm_75": 320, "sm_80": 1555}  # GB/s
SECONDS = 600
# m, n, k: squares, BERT-base's at 8 x 128, a classifier's, a few rows.
PRODUCTS = ((4096, 4096, 4096), (2048, 2048, 2048), (1024, 1024, 1024), (512, 512, 512),
            (1024, 768, 768), (1024, 3072, 768), (1024, 768, 3072), (32, 1000, 2048),
            (8, 4096, 4096))
TYPES = {"f32": TensorProto.FLOAT, "f16": TensorProto.FLOAT16}
# Small enough to be run on the simulator with counters, by --sim-checks.
COUNTED = ((256, 256, 256), (128, 192, 64), (512, 128, 96))
# What stores may add by conflicts, of all wavefronts: tiles are turned as they are stored.
STORE_CONFLICTS = {"f32": 0.065, "f16": 0}
ALL_TILES = 20  # more than there are

# What CUTLASS makes, numbers only: sizes of its tiles, then per matrix instruction or FFMA.
REFERENCES = (
    # kernel, registers, slots, multiplies, LDSM or LDS, LDGSTS, LDG + STS, integer, uniform, stall
    ("sm_80 f16 128x128x32, 5 stages", 228, 162, 64, 16, 8, 0, 49, 18, 518),
    ("sm_80 f16 128x256x32, 3 stages", 226, 150, 64, 16, 6, 0, 39, 18, 518),
    ("sm_80 f16 256x128x64, 3 stages", 246, 275, 128, 32, 12, 0, 72, 18, 1036),
    ("sm_80 f16 64x64x64, 5 stages", 96, 130, 32, 16, 8, 0, 46, 15, 294),
    ("sm_80 s8 128x128x64, 5 stages", 232, 162, 64, 16, 8, 0, 49, 18, 518),
    ("sm_80 tf32 128x128x32, 3 stages", 244, 297, 128, 32, 16, 0, 87, 21, 1036),
    ("sm_80 tf32 128x128x32, 3 stages, rounds f32", 246, 552, 128, 32, 16, 0, 214, 21, 1129),
    ("sm_75 f16 128x128x32, 2 stages", 216, 233, 128, 16, 0, 16, 55, 16, 1024),
    ("sm_75 f16 256x128x32, 2 stages", 210, 219, 128, 16, 0, 12, 46, 15, 1024),
    ("sm_75 s8 128x128x64, 2 stages", 218, 368, 256, 16, 0, 16, 62, 16, 1028),
    ("sm_80 convolution f16 128x128x32, 5 stages", 240, 198, 64, 16, 8, 0, 79, 21, 521),
    ("sm_80 f32 128x128x8, 5 stages", 136, 631, 512, 32, 8, 0, 50, 13, 1044),
    ("sm_80 f32 128x128x8, 2 stages", 137, 628, 512, 32, 0, 16, 56, 10, 1029),
    ("sm_80 convolution f32 128x128x8, 4 stages", 130, 669, 512, 32, 8, 0, 65, 36, 1070),
)

@dataclass
class Loop:
    """A main loop that is held to a reference's: of a large product whose tile has the same work a
    warp. It may have a tenth more other instructions."""
    target: str
    kind: str
    tile: tuple
    warps: tuple
    stages: int
    reference: str


LOOPS = (Loop("sm_80", "f16", (128, 128, 32), (2, 2), 4, "sm_80 f16 128x128x32, 5 stages"),
         Loop("sm_80", "f16", (256, 128, 32), (4, 2), 3, "sm_80 f16 128x256x32, 3 stages"),
         Loop("sm_80", "s8", (128, 128, 64), (2, 2), 5, "sm_80 s8 128x128x64, 5 stages"),
         Loop("sm_80", "tf32", (128, 128, 32), (2, 2), 3,
              "sm_80 tf32 128x128x32, 3 stages, rounds f32"),
         Loop("sm_75", "f16", (128, 128, 32), (2, 2), 2, "sm_75 f16 128x128x32, 2 stages"),
         Loop("sm_75", "f16", (256, 128, 32), (4, 2), 2, "sm_75 f16 256x128x32, 2 stages"),
         Loop("sm_75", "s8", (128, 128, 64), (2, 2), 2, "sm_75 s8 128x128x64, 2 stages"))
MOST_OTHERS = 1.1

HEAD = """# Kernels, without a GPU

What ptxas's machine code says of the kernels that `cameoc -O2` makes: nothing here was run on a GPU.
Written by

```sh
build/venv/bin/python test/e2e/static_code.py --page=docs/bench/static.md
```

and compared with by the tests. ptxas {ptxas}.

- *Registers* are those of the cubin, *shared* memory (bytes) with what launches add; *blocks* and *warps* what a
  multiprocessor has room for.
- The main loop is the innermost one with the most matrix instructions, or else multiply-adds, of one warp.
  *Multiply* counts those; *matrix, shared* instructions are what loads operands from shared memory
  (`LDSM`, `LDS`); *copies* are loads from global memory, asynchronous or not, and stores to shared memory;
  *integer* includes moves and addresses, *uniform* those of the uniform datapath.
  *Others* are all instructions that do not multiply, and *stall* the sum of the stall counts of the
  control codes, both per multiplying instruction.
- *Peak* is a bound: of what multiplies, the share of the target's rate that remains when the busiest of four
  resources is busy all the time: arithmetic, issue slots (one a cycle and partition), shared memory (128
  bytes a cycle, no conflicts), and the stall counts of a warp. Latencies of memory are not in it, nor are blocks that
  leave a part of the GPU idle. Below 100 % it names the resource.
- *Filled* is the share of a board's multiprocessors (T4, A100) that have a block to work on when blocks are spread
  evenly, and *estimate* that share of *peak*.
- No kernel on this page spills, and none has a stack, or the tests would fail.
"""
WINDOWS_HEAD = """
Depthwise, by `window`; the estimate is that by which schedules are chosen, and *bandwidth* the share of it that
memory takes for each tensor once.
"""
REFERENCE_HEAD = """
## To compare with

Main loops of CUTLASS 4.7 (BSD-3), built by nvcc 13.0.88 and read in the same way; row-major by column-major
operands, f32 sums of f16.
"""
LOOPS_HEAD = """
## Main loops of CUTLASS's tiles

4096 x 4096 x 4096, row-major, the second operand of s8 and tf32 column-major, with the tiles that CUTLASS's kernels
[below](#to-compare-with) have; *reference* are the other instructions of these. Those of tf32 round f32 in the loop.
"""
COUNTED_HEAD = """
## Counted

Products whose sizes are whole tiles, on the simulator for `sm_80`: what they do by its
[counters](../simulator/counters.md#counters), and the least that could do. *Matrix* are multiply-adds of matrix
instructions, as a share of those of the product.
"""


@dataclass
class Case:
    name: str
    title: str
    model: object  # makes it
    shapes: str    # --shapes, where sizes are open


def product_model(types, sizes):
    """Products side by side, each of two inputs."""
    nodes, inputs, outputs = [], [], []
    for kind in types:
        for m, n, k in sizes:
            name = f"{kind}_{m}x{n}x{k}"
            element = TYPES[kind]
            nodes.append(helper.make_node("MatMul", [f"{name}_a", f"{name}_b"], [name], name))
            inputs += [helper.make_tensor_value_info(f"{name}_a", element, (m, k)),
                       helper.make_tensor_value_info(f"{name}_b", element, (k, n))]
            outputs.append(helper.make_tensor_value_info(name, element, (m, n)))
    graph = helper.make_graph(nodes, "products", inputs, outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@dataclass
class Convolution:
    """Of a batch of 32, or of what `size` begins with; `last`: channels innermost in memory."""
    channels: int
    filters: int
    size: tuple
    window: tuple
    stride: int = 1
    pad: int = 0
    groups: int = 1
    last: bool = True
    operator: str = "Conv"

    def weights(self):
        if self.operator == "ConvTranspose":
            return (self.channels, self.filters, *self.window)
        return (self.filters, self.channels // self.groups, *self.window)


CONVOLUTIONS = {
    "image-7x7/2": Convolution(3, 64, (224, 224), (7, 7), stride=2, pad=3),
    "image-7x7/2-planes": Convolution(3, 64, (224, 224), (7, 7), stride=2, pad=3, last=False),
    "image-3x3/2": Convolution(3, 32, (224, 224), (3, 3), stride=2, pad=1),
    "4-channels-3x3": Convolution(4, 64, (64, 64), (3, 3), pad=1),
    "patches-16x16": Convolution(3, 768, (224, 224), (16, 16), stride=16),
    "16-channels-3x3": Convolution(16, 64, (112, 112), (3, 3), pad=1),
    "3x3": Convolution(128, 128, (28, 28), (3, 3), pad=1),
    "3x3-planes": Convolution(128, 128, (28, 28), (3, 3), pad=1, last=False),
    "1x1/2-planes": Convolution(256, 512, (56, 56), (1, 1), stride=2, last=False),
    "3x3-32-groups": Convolution(512, 512, (14, 14), (3, 3), pad=1, groups=32),
    "line-3": Convolution(256, 256, (1024,), (3,), pad=1),
    "volume-3x3x3": Convolution(64, 64, (8, 28, 28), (3, 3, 3), pad=1),
    "transposed-4x4/2": Convolution(128, 64, (28, 28), (4, 4), stride=2, pad=1,
                                    operator="ConvTranspose"),
    "depthwise-3x3": Convolution(144, 144, (56, 56), (3, 3), pad=1, groups=144),
    "depthwise-3x3/2": Convolution(144, 144, (56, 56), (3, 3), stride=2, pad=1, groups=144),
    "depthwise-3x3-planes": Convolution(144, 144, (56, 56), (3, 3), pad=1, groups=144, last=False),
    "depthwise-5x5": Convolution(576, 576, (14, 14), (5, 5), pad=2, groups=576),
}


def convolution_model(element):
    """Convolutions side by side, each of an input."""
    nodes, inputs, outputs, weights = [], [], [], []
    generator = numpy.random.default_rng(1)
    for name, case in CONVOLUTIONS.items():
        rank = len(case.size)
        shape = [32, *case.size, case.channels] if case.last else [32, case.channels, *case.size]
        inputs.append(helper.make_tensor_value_info(f"{name}_x", element, shape))
        values = generator.standard_normal(case.weights()).astype(numpy.float16)
        weights.append(helper.make_tensor(f"{name}_w", element, values.shape, values.tobytes(),
                                          raw=True))
        source, result = f"{name}_x", name
        if case.last:
            nodes.append(helper.make_node("Transpose", [source], [f"{name}_t"], name,
                                          perm=[0, rank + 1, *range(1, rank + 1)]))
            source, result = f"{name}_t", f"{name}_c"
        nodes.append(helper.make_node(
            case.operator, [source, f"{name}_w"], [result], f"{name}_c" if case.last else name,
            strides=[case.stride] * rank, pads=[case.pad] * 2 * rank, group=case.groups))
        if case.last:
            nodes.append(helper.make_node("Transpose", [result], [name], f"{name}_y",
                                          perm=[0, *range(2, rank + 2), 1]))
        outputs.append(helper.make_tensor_value_info(name, element, [None] * (rank + 2)))
    graph = helper.make_graph(nodes, "convolutions", inputs, outputs, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


SHAPES = {"resnet50": "image:32x3x224x224",
          "bert_base": ",".join(f"{name}:8x128" for name in
                                ("input_ids", "token_type_ids", "attention_mask"))}


def network(name, title, is_half):
    def model():
        made = networks.NETWORKS[name]().model
        return typed_networks.converted(made) if is_half else made

    return Case(f"{name}{'_f16' if is_half else ''}", title, model, SHAPES[name])


CASES = (
    Case("products", "Products: type_MxNxK", lambda: product_model(TYPES, PRODUCTS), ""),
    Case("convolutions", "Convolutions in f16, batch 32",
         lambda: convolution_model(TensorProto.FLOAT16), ""),
    network("resnet50", "ResNet-50, batch 32", is_half=False),
    network("resnet50", "ResNet-50 in f16, batch 32", is_half=True),
    network("bert_base", "BERT-base, 8 x 128", is_half=False),
    network("bert_base", "BERT-base in f16, 8 x 128", is_half=True),
)


def ptxas_version(suite):
    step = harness.run([suite.tool("cameoc"), "--version"], 60)
    found = re.search(r"^ptxas ([\d.]+),", step.output, re.MULTILINE)
    return found.group(1) if found else ""


def nvdisasm():
    """tools/install-deps puts it beside the tests' other Python packages."""
    found = sorted(Path(sys.prefix).glob("lib/python*/site-packages/nvidia/*/bin/nvdisasm"))
    if not found:
        sys.exit("error: nvdisasm is not there; tools/install-deps installs it")
    return found[0]


def compile_case(suite, case, *flags):
    """The artefact and its report; the suite has the failure if there is none."""
    work = suite.work / case.name
    work.mkdir(exist_ok=True)
    model, artefact, report = (work / name for name in ("model.onnx", "model", "report.json"))
    onnx.save(case.model(), model)
    step = harness.run([suite.tool("cameoc"), model, "-o", artefact, f"--report={report}", *flags,
                        f"--cache-dir={suite.work / 'cubins'}",
                        *([f"--shapes={case.shapes}"] if case.shapes else [])], SECONDS)
    model.unlink()
    if step.code:
        suite.fail(f"{case.name}-compile", harness.first_error(step.output), step)
        return None, None
    return artefact, report


def read_code(suite, artefact, target, report):
    """{kernel: what cameo-sass says}"""
    dynamic = [f"--dynamic-shared={kernel['name']}={kernel['dynamic_shared_bytes']}"
               for kernel in report["resources"] if kernel["target"] == target]
    contents = payload.Payload(artefact)
    folder = artefact.parent / target
    folder.mkdir(exist_ok=True)
    files = []
    for number, section in enumerate(contents.of_kind("cubin")):
        if section.arch_name() == target:
            files.append(folder / f"{number}.cubin")
            files[-1].write_bytes(contents.bytes_at(section))
    step = subprocess.run([suite.tool("cameo-sass"), f"--arch={target}",
                           f"--nvdisasm={nvdisasm()}", *dynamic, *files], capture_output=True, text=True,
                          check=False)
    for file in files:
        file.unlink()
    if step.returncode:
        sys.exit(f"error: {step.stderr}")
    return {kernel["name"]: kernel for kernel in json.loads(step.stdout)}


def tile(schedule):
    """"128x128x16" of the printed attribute."""
    found = re.search(r"tile = array<i64: ([\d, ]+)>", schedule)
    return found.group(1).replace(", ", "x") if found else "-"


def kernels_of(report, target):
    """The kernels of a variant, in the order of their first launch: {name: launch}"""
    variant, = [each for each in report["variants"] if each["target"].split(":")[0] == target]
    found = {}
    for launch in variant["kernels"]:
        found.setdefault(launch["name"], launch)
    return found


# --- the tables

def row(cells):
    return "| " + " | ".join(map(str, cells)) + " |\n"


def table(columns, rows):
    return "\n" + row(columns) + "|---|" + "---:|" * (len(columns) - 1) + "\n" + "".join(
        map(row, rows))


LOW = 60  # percent of the peak, below which a product is named with what limits it
COLUMNS = ["", "tile", "registers", "shared", "blocks", "warps", "multiply", "matrix, shared",
           "copies", "integer", "uniform", "others", "stall", "peak", "filled", "estimate"]


def loop_cells(loop):
    if not loop:
        return ["-"] * 8
    kinds = loop["kinds"]

    def count(*names):
        return sum(kinds.get(name, 0) for name in names)

    multiply = kinds.get("matrix") or kinds["multiply_add"]
    peak = "-"
    if "bound_percent" in loop:
        peak = f"{loop['bound_percent']:.0f} %"
        if loop["bound_percent"] < 99.5:
            peak += f" {loop['bound_by']}"
    return [f"{multiply} {'matrix' if 'matrix' in kinds else 'FMA'}",
            count("load_matrix", "load_shared"),
            count("load_global", "async_copy", "store_shared"), kinds.get("integer", 0),
            kinds.get("uniform", 0), f"{(loop['slots'] - multiply) / multiply:.2f}",
            f"{loop['stall'] / multiply:.2f}", peak]


def kernel_row(launch, code, target):
    filled, estimate, _ = estimate_of(launch, code, target)
    return [launch["onnx_nodes"].split(",")[0], tile(launch["schedule"]), code["registers"],
            code["shared_bytes"], code["blocks_per_sm"], code["warps_per_sm"],
            *loop_cells(code.get("main_loop")), f"{filled:.0f} %",
            "-" if estimate is None else f"{estimate:.0f} %"]


def sizes_of(name):
    """m, n and k of the grid's product of that name."""
    return tuple(map(int, name.split("_")[1].split("x")))


def estimate_of(launch, code, target):
    """What percentage of the multiprocessors has work, and of the peak, where there is a main loop;
    and what limits that."""
    blocks, multiprocessors = launch["blocks"], TARGETS[target]
    filled = 100 * blocks / (-(-blocks // multiprocessors) * multiprocessors)
    peak = code.get("main_loop", {}).get("bound_percent")
    if peak is None:
        return filled, None, "no loop"
    return filled, filled * peak / 100, "blocks" if filled < peak else code["main_loop"]["bound_by"]


def case_tables(case, report, codes):
    text = f"\n## {case.title}\n"
    for target, kernels in codes.items():
        launches = kernels_of(report, target)
        products = [kernel_row(launch, kernels[name], target)
                    for name, launch in launches.items() if is_product(launch)]
        others = [kernels[name] for name, launch in launches.items() if not is_product(launch)]
        text += f"\n### `{target}`\n" + table(COLUMNS, products)
        text += low_estimates(launches, kernels, target)
        if case.name == "convolutions":
            text += window_table(report, launches, kernels, target)
        if others:
            text += (f"\nThe {len(others)} other kernels take "
                     f"{min(code['registers'] for code in others)} to "
                     f"{max(code['registers'] for code in others)} registers, and a multiprocessor has "
                     f"room for {min(code['warps_per_sm'] for code in others)} to "
                     f"{max(code['warps_per_sm'] for code in others)} of their warps.\n")
    return text


def low_estimates(launches, kernels, target):
    """Which products are far from the peak, and why."""
    low = []
    for name, launch in launches.items():
        _, estimate, limit = estimate_of(launch, kernels[name], target)
        if is_product(launch) and (estimate or 0) < LOW:
            low.append(f"{launch['onnx_nodes'].split(',')[0]} ({limit})")
    return f"\nBelow {LOW} %, and what limits them: {', '.join(low)}.\n" if low else ""


def window_table(report, launches, kernels, target):
    """What threads of depthwise convolutions have, and how near their estimate is to the time that
    memory takes."""
    variant, = [each for each in report["variants"] if each["target"].split(":")[0] == target]
    times = {}
    for decision in variant["decisions"]:
        if found := re.search(r"estimated at ([\d.]+) us", decision["text"]):
            times[",".join(decision["onnx_nodes"])] = float(found.group(1))
    rows = []
    for name, launch in launches.items():
        if '<"window"' not in launch["schedule"]:
            continue
        code, nodes = kernels[name], launch["onnx_nodes"]
        run, vector = (int(found.group(1)) if (found := re.search(rf"{key} = (\d+)",
                                                                  launch["schedule"])) else 1
                       for key in ("run", "vector"))
        if "run = " not in launch["schedule"]:  # pixels are innermost
            run, vector = vector, run
        least = launch["bytes_min"] / BANDWIDTHS[target] / 1000
        rows.append([nodes.split(",")[0], f"{run} x {vector}", code["registers"],
                     code["blocks_per_sm"], code["warps_per_sm"], f"{launch['bytes_min'] / 1e6:.1f}",
                     f"{times[nodes]:.1f}", f"{100 * least / times[nodes]:.0f} %"])
    return WINDOWS_HEAD + table(["", "neighbours x channels", "registers", "blocks", "warps", "MB",
                                 "estimate, us", "bandwidth"], rows) if rows else ""


def is_product(launch):
    return re.search(r'schedule<"(contraction|mma)', launch["schedule"]) is not None


def reference_table():
    rows = [[name, registers, slots, multiplies, loads, asynchronous + plain, integer, uniform,
             f"{(slots - multiplies) / multiplies:.2f}", f"{stall / multiplies:.2f}"]
            for (name, registers, slots, multiplies, loads, asynchronous, plain, integer, uniform,
                 stall) in REFERENCES]
    return REFERENCE_HEAD + table(["", "registers", "slots", "multiply", "matrix, shared", "copies",
                                   "integer", "uniform", "others", "stall"], rows)


def counted_table(launches):
    rows = []
    for launch in launches:
        work, memory = launch["shared"], launch["global"]
        name = launch["onnx_nodes"][0]
        rows.append([name,
                     *(f"{sum(work[way][key] for way in ('load', 'store')):,}"
                       for key in ("wavefronts", "wavefronts_ideal")),
                     *(f"{memory[way][key]:,}" for way in ("load", "store")
                       for key in ("sectors", "sectors_ideal")),
                     f"{matrix_share(launch):.0f} %"])
    return COUNTED_HEAD + table(["", "wavefronts", "least", "sectors loaded", "least",
                                 "sectors stored", "least", "matrix"], rows)


def loop_model(kind):
    """A large product of two inputs. With s8 and tf32 both have depth innermost, as CUTLASS's have."""
    m, n, k = PRODUCTS[0]
    if kind in TYPES:
        return product_model([kind], PRODUCTS[:1])
    element, result, operator = {
        "s8": (TensorProto.INT8, TensorProto.INT32, "MatMulInteger"),
        "tf32": (TensorProto.FLOAT, TensorProto.FLOAT, "MatMul")}[kind]
    nodes = [helper.make_node("Transpose", ["b"], ["turned"], "turned", perm=[1, 0]),
             helper.make_node(operator, ["a", "turned"], ["y"], "product")]
    graph = helper.make_graph(
        nodes, "loop", [helper.make_tensor_value_info("a", element, (m, k)),
                        helper.make_tensor_value_info("b", element, (n, k))],
        [helper.make_tensor_value_info("y", result, (m, n))])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def loop_rows(suite):
    """Rows of the table of main loops, which are held to the references'."""
    references = {name: (slots - multiplies) / multiplies
                  for name, _, slots, multiplies, *_ in REFERENCES}
    rows, wrong = [], []
    for number, loop in enumerate(LOOPS):
        case = Case(f"loop{number}", "", lambda loop=loop: loop_model(loop.kind), "")
        flags = [f"--target={loop.target}", *(["--precision=tf32"] if loop.kind == "tf32" else [])]
        schedules = choose_tile(suite, case, loop, flags)
        if not schedules:
            return rows
        artefact, file = compile_case(suite, case, *flags, f"--schedules={schedules}")
        if not artefact:
            return rows
        report = json.loads(file.read_text())
        (name, launch), = kernels_of(report, loop.target).items()
        code = read_code(suite, artefact, loop.target, report)[name]
        check_resources(suite, case, report)
        cells, limit = kernel_row(launch, code, loop.target), references[loop.reference]
        others = float(cells[COLUMNS.index("others")])
        what = f"{loop.target} {loop.kind} {cells[1]}"
        rows.append([what, *cells[2:-2], f"{limit:.2f}"])
        if cells[1] != "x".join(map(str, loop.tile)) or others > MOST_OTHERS * limit:
            wrong.append(f"{what}: {others}, {limit:.2f} in CUTLASS")
    if wrong:
        suite.fail("main-loops", f"other instructions a matrix instruction: {'; '.join(wrong)}")
    else:
        suite.ok()
    return rows


def choose_tile(suite, case, loop, flags):
    """A file of schedules in which the model's product has the loop's tile; None where that failed."""
    model, schedules = suite.work / "loop.onnx", suite.work / f"{case.name}.json"
    onnx.save(case.model(), model)
    step = harness.run([suite.tool("cameoc"), model, *flags, "--emit=schedules", "-o", schedules],
                       SECONDS)
    if step.code:
        suite.fail(f"{case.name}-schedules", harness.first_error(step.output), step)
        return None
    text = schedules.read_text()
    for name, values in (("tile", loop.tile), ("warps", loop.warps)):
        text = re.sub(rf"{name} = array<i64: [\d, ]+>",
                      f"{name} = array<i64: {', '.join(map(str, values))}>", text)
    schedules.write_text(re.sub(r"stages = \d+", f"stages = {loop.stages}", text))
    return schedules


def matrix_share(launch):
    """Multiply-adds of matrix instructions, by the counter's names ("m16n8k16 f16 f16 f32"), in percent
    of those of the product."""
    total = 0
    for name, count in launch["matrix"].items():
        m, n, k = map(int, re.search(r"m(\d+)n(\d+)k(\d+)", name).groups())
        total += count * m * n * k
    m, n, k = sizes_of(launch["onnx_nodes"][0])
    return 100 * total / (m * n * k)


def whole_products(report):
    """Those on Tensor Cores that consist of whole tiles."""
    variant, = report["variants"]
    return {launch["onnx_nodes"] for launch in variant["kernels"] if "mma" in launch["schedule"]
            and not any(size % part for size, part in zip(
                sizes_of(launch["onnx_nodes"]), map(int, tile(launch["schedule"]).split("x"))))}


# --- what must hold

def check_resources(suite, case, report):
    wrong = [f"ptxas: {warning}" for warning in report["warnings"]]
    wrong += [f"{kernel['name']} on {kernel['target']} spills {kernel['spill_bytes']} B and has a "
              f"stack of {kernel['stack_bytes']} B" for kernel in report["resources"]
              if kernel["spill_bytes"] or kernel["stack_bytes"]]
    if wrong:
        suite.fail(f"{case.name}-resources", "; ".join(wrong[:4]))
    else:
        suite.ok()


def wide_kinds(schedule):
    """What has to be of 16 bytes: copies, matrix loads, and operands of threads with four values and
    more in each direction."""
    thread = re.search(r"thread = array<i64: (\d+), (\d+)>", schedule)
    shared = not thread or min(map(int, thread.groups())) >= 4
    return ["load_global", "async_copy", "load_matrix", *(["load_shared"] if shared else [])]


def check_widths(suite, target, kernels, launches):
    """Of products whose rows are multiples of 16 bytes, as all of the grid's are."""
    wrong = []
    for name, launch in launches.items():
        loop = kernels[name].get("main_loop")
        if not is_product(launch):
            continue
        for kind in wide_kinds(launch["schedule"]):
            wrong += narrow(launch, loop or kernels[name]["whole"], kind)
        for kind in ("load_global", "async_copy", "store_global"):
            wrong += narrow(launch, kernels[name]["whole"], kind)
    report_widths(suite, f"widths-{target}", wrong)


def check_stores(suite, target, kernels, launches):
    """Of convolutions whose rows, or channels, as they are stored are multiples of 16 bytes."""
    wrong = []
    for name, launch in launches.items():
        if is_product(launch):
            wrong += narrow(launch, kernels[name]["whole"], "store_global")
    report_widths(suite, f"stores-{target}", wrong)


def narrow(launch, counts, kind):
    count, wide = counts["kinds"].get(kind, 0), counts["of_16_bytes"].get(kind, 0)
    return [f"{launch['onnx_nodes']}: {count - wide} of {count} {kind}"] if wide < count else []


def report_widths(suite, name, wrong):
    if wrong:
        suite.fail(name, f"less than 16 bytes: {'; '.join(wrong)}")
    else:
        suite.ok()


def check_occupancy(suite, case, target, kernels, launches):
    """Of products with two blocks and more for each multiprocessor: it has room for two, or for eight
    warps."""
    wrong = []
    for name, launch in launches.items():
        code = kernels[name]
        if is_product(launch) and launch["blocks"] >= 2 * TARGETS[target] \
                and code["blocks_per_sm"] < 2 and code["warps_per_sm"] < 8:
            wrong.append(f"{launch['onnx_nodes']}: {code['blocks_per_sm']} blocks of "
                         f"{code['threads']} threads")
    if wrong:
        suite.fail(f"{case.name}-occupancy-{target}", "; ".join(wrong))
    else:
        suite.ok()


def conflicts_of(launch):
    """What is wrong with a launch's accesses to shared memory."""
    name, shared = launch["onnx_nodes"][0], launch["shared"]
    loads, stores = (shared[way]["bank_conflicts"] for way in ("load", "store"))
    least = sum(shared[way]["wavefronts_ideal"] for way in ("load", "store"))
    if loads:
        yield f"{name}: {loads} conflicts of loads"
    if stores > STORE_CONFLICTS[name.split("_")[0]] * least:
        yield f"{name}: {stores} conflicts of stores, with {least} wavefronts at least"


def count_products(suite):
    """The launches of the small products, with what the simulator counts."""
    case = Case("counted", "", lambda: product_model(TYPES, COUNTED), "")
    artefact, file = compile_case(suite, case, "--target=sim:sm_80", "--sim-checks")
    if not artefact:
        return []
    counters = artefact.parent / "counters.json"
    step = harness.run([artefact, "--device=sim", "--random-inputs",
                        f"--sim-counters={counters}"], SECONDS)
    if step.code:
        suite.fail("counted-run", harness.first_error(step.output), step)
        return []
    launches = json.loads(counters.read_text())["launches"]
    whole = whole_products(json.loads(file.read_text()))
    wrong = [text for launch in launches for text in conflicts_of(launch)]
    wrong += [f"{launch['onnx_nodes'][0]}: {matrix_share(launch):.0f} % of the product's multiply-adds"
              for launch in launches
              if launch["onnx_nodes"][0] in whole and matrix_share(launch) != 100]
    if wrong:
        suite.fail("counted", "; ".join(wrong))
    else:
        suite.ok()
    return launches


def count_tiles(suite):
    """A product in FP32 in every tile that there is: what is chosen for small ones says nothing of the
    tiles of large ones."""
    case = Case("tiles", "", lambda: product_model({"f32": TensorProto.FLOAT}, COUNTED[:1]), "")
    work = suite.work / case.name
    work.mkdir(parents=True, exist_ok=True)
    source = work / "model.onnx"
    onnx.save(case.model(), source)
    for file, _, schedule in candidates.schedule_files(suite.tool("cameoc").parent, source,
                                                       work / "product", "sim:sm_80", ALL_TILES):
        thread, tile = (re.search(rf"{what} = array<i64: ([\d, ]+)>", schedule)[1].replace(", ", "x")
                        for what in ("thread", "tile"))
        name = f"tile-{tile}-thread-{thread}"
        step = harness.run([suite.tool("cameoc"), source, "-o", work / "model", "--target=sim:sm_80",
                            "--sim-checks", f"--schedules={file}"], SECONDS)
        if step.code == 0:
            step = harness.run([work / "model", "--device=sim", "--random-inputs",
                                f"--sim-counters={work / 'counters.json'}"], SECONDS)
        if step.code:
            suite.fail(name, harness.first_error(step.output), step)
            continue
        launches = json.loads((work / "counters.json").read_text())["launches"]
        if wrong := [text for launch in launches for text in conflicts_of(launch)]:
            suite.fail(name, "; ".join(wrong))
        else:
            suite.ok(name)


def check_page(suite, options, text, ptxas):
    if options.page:
        options.page.parent.mkdir(parents=True, exist_ok=True)
        options.page.write_text(text)
        return
    kept = PAGE.read_text() if PAGE.exists() else ""
    if f"ptxas {ptxas}." not in kept and kept:
        suite.skip(f"{PAGE.name} is of another ptxas than {ptxas}")
        return
    if kept == text:
        suite.ok()
        return
    differing = [line for line in text.splitlines() if line not in set(kept.splitlines())]
    suite.fail("page", f"{PAGE.relative_to(harness.SOURCE)} is out of date, e.g. "
               f"{differing[0] if differing else 'a line too many'}; "
               f"static_code.py --page={PAGE.relative_to(harness.SOURCE)} writes it")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    harness.add_arguments(parser)
    parser.add_argument("--page", type=Path, help="write the page")
    options = parser.parse_args()
    suite = harness.Suite("static-code", options.build.resolve())
    ptxas = ptxas_version(suite)
    text = HEAD.format(ptxas=ptxas)
    for case in CASES:
        artefact, file = compile_case(suite, case, f"--target={','.join(TARGETS)}")
        if not artefact:
            continue
        report = json.loads(file.read_text())
        codes = {target: read_code(suite, artefact, target, report) for target in TARGETS}
        artefact.unlink()
        check_resources(suite, case, report)
        for target in TARGETS:
            launches = kernels_of(report, target)
            check_occupancy(suite, case, target, codes[target], launches)
            if case.name == "products":
                check_widths(suite, target, codes[target], launches)
            if case.name == "convolutions":
                check_stores(suite, target, codes[target], launches)
        text += case_tables(case, report, codes)
    text += counted_table(count_products(suite))
    count_tiles(suite)
    text += LOOPS_HEAD + table(["", *COLUMNS[2:-2], "reference"], loop_rows(suite))
    text += reference_table()
    check_page(suite, options, text, ptxas)
    return suite.close()


if __name__ == "__main__":
    sys.exit(main())
