"""What stands in the PTX of small models' kernels, and of dispatches that no model has yet.

ptx-gates.py CAMEOC FOLDER: one line per model, `name: FAMILY, N wide, M narrow, F fma, LOOPS`.
Wide accesses to global memory have 16 bytes. LOOPS are `lean` if there is no local memory, and in
the innermost loops neither a product of 64 bits nor a division, nor more addresses than accesses
(`mul.wide` and the sum behind it are one instruction of the GPU); else what is found.
"""
# SPDX-License-Identifier: Apache-2.0
import re
import subprocess
import sys
from pathlib import Path

import numpy
from onnx import TensorProto, helper, numpy_helper, save

F32, F16 = TensorProto.FLOAT, TensorProto.FLOAT16
BITS = {"8": 8, "16": 16, "32": 32, "64": 64}


def model(operator, shape, result, inputs=1, kind=F32, weights=(),
          result_kind=None, **attributes):
    names = [f"x{i}" for i in range(inputs)]
    stored = [numpy_helper.from_array(numpy.random.default_rng(i).standard_normal(size)
                                      .astype(helper.tensor_dtype_to_np_dtype(kind)), f"w{i}")
              for i, size in enumerate(weights)]
    node = helper.make_node(operator, names + [w.name for w in stored], ["y"], **attributes)
    graph = helper.make_graph(
        [node], "g", [helper.make_tensor_value_info(name, kind, shape) for name in names],
        [helper.make_tensor_value_info("y", result_kind or kind, result)], stored)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def scan_model():
    made = model("CumSum", (64, 4096), (64, 4096))
    made.graph.initializer.append(numpy_helper.from_array(numpy.array(1, numpy.int64), "axis"))
    made.graph.node[0].input.append("axis")
    return made


def recurrent_model(kind, units):
    return model("LSTM", ("T", 1, 64), ("T", 1, 1, units), kind=kind,
                 weights=((1, 4 * units, 64), (1, 4 * units, units)), hidden_size=units)


MODELS = {
    "elementwise-f32": model("Relu", (64, 4096), (64, 4096)),
    "elementwise-f16": model("Add", (128, 4096), (128, 4096), inputs=2, kind=F16),
    "elementwise-i8": model("Max", (1024, 4096), (1024, 4096), inputs=2, kind=TensorProto.INT8),
    "elementwise-dynamic": model("Add", ("N", 4096), ("N", 4096), inputs=2),
    "transpose": model("Transpose", (64, 64, 128), (64, 64, 128), perm=[1, 0, 2]),
    "product": model("MatMul", (256, 256), (256, 512), weights=((256, 512),)),
    "product-transposed": model("Gemm", (512, 256), (512, 512), weights=((512, 256),), transB=1),
    "pointwise-convolution": model("Conv", ("N", 64, 56, 56), ("N", 128, 56, 56),
                                   weights=((128, 64, 1, 1),)),
    "depthwise-convolution": model("Conv", ("N", 96, 56, 56), ("N", 96, 56, 56),
                                   weights=((96, 1, 3, 3),), group=96, pads=[1, 1, 1, 1]),
    "convolution": model("Conv", ("N", 64, 56, 56), ("N", 64, 56, 56), weights=((64, 64, 3, 3),),
                         pads=[1, 1, 1, 1]),
    "product-f64": model("MatMul", (256, 256), (256, 512), kind=TensorProto.DOUBLE,
                         weights=((256, 512),)),
    "product-f16": model("MatMul", (256, 256), (256, 512), kind=F16, weights=((256, 512),)),
    "transpose-inner": model("Transpose", (4096, 1024), (1024, 4096), perm=[1, 0]),
    "transpose-image": model("Transpose", ("N", 96, 14, 14), ("N", 14, 14, 96), kind=F16,
                             perm=[0, 2, 3, 1]),
    "average-pool": model("AveragePool", ("N", 64, 56, 56), ("N", 64, 56, 56), kernel_shape=[3, 3],
                          pads=[1, 1, 1, 1]),
    "scan": scan_model(),
    "recurrence": recurrent_model(F32, 96),
    "recurrence-f16": recurrent_model(F16, 128),
    "recurrence-steps": recurrent_model(F32, 512),
    "softmax": model("Softmax", ("N", 1024), ("N", 1024)),
    "softmax-dynamic": model("Softmax", ("N", "M"), ("N", "M")),
    "softmax-f16": model("Softmax", ("N", 12, 128, 128), ("N", 12, 128, 128), kind=F16),
    "layer-norm": model("LayerNormalization", ("N", 128, 768), ("N", 128, 768),
                        weights=((768,), (768,))),
    "instance-norm": model("InstanceNormalization", ("N", 64, 14, 14), ("N", 64, 14, 14),
                           weights=((64,), (64,))),
    "global-pool": model("GlobalAveragePool", ("N", 512, 14, 14), ("N", 512, 1, 1)),
    "maximum-i8": model("ReduceMax", ("N", 4096), ("N", 1), kind=TensorProto.INT8, axes=[1]),
    "arg-max": model("ArgMax", ("N", 4096), ("N", 1), result_kind=TensorProto.INT64, axis=1),
    "softmax-columns": model("Softmax", ("N", 64, 56, 56), ("N", 64, 56, 56), axis=1),
    "softmax-columns-f16": model("Softmax", ("N", 64, 56, 56), ("N", 64, 56, 56), kind=F16,
                                 axis=1),
    "softmax-columns-dynamic": model("Softmax", (4, 64, "M"), (4, 64, "M"), axis=1),
    "mean-columns-f64": model("ReduceMean", (64, 512, 96), (64, 1, 96), kind=TensorProto.DOUBLE,
                              axes=[1]),
    "maximum-columns-i8": model("ReduceMax", (512, 4096), (1, 4096), kind=TensorProto.INT8,
                                axes=[0]),
    "arg-max-columns": model("ArgMax", (512, 4096), (1, 4096), result_kind=TensorProto.INT64,
                             axis=0),
    "pool": model("MaxPool", ("N", 64, 112, 112), ("N", 64, 56, 56), kernel_shape=[2, 2],
                  strides=[2, 2]),
}


# Of lit tests: (file, variant).
DISPATCHES = {
    "transpose-image-sum": ("transpose-schedule.mlir", "image"),
    "depthwise-channels": ("channels-last.mlir", "depthwise"),
    "depthwise-groups": ("channels-last.mlir", "grouped"),
    "pool-channels": ("channels-last.mlir", "pool"),
    "convolution-channels": ("channels-last.mlir", "convolution"),
    "parts": ("map-schedule-reductions.mlir", "parts"),
    "parts-turned": ("split-depth.mlir", "turned"),
}


def variant_of(file, name):
    pieces = (Path(__file__).parent.parent / file).read_text().split("// -----")
    return next(piece for piece in pieces if f"rt.variant @{name} target" in piece)


def bits(instruction):
    found = re.match(r"(?:ld|st)\.global(?:\.nc)?(?:\.v(\d))?\.[a-z]+(\d+)", instruction)
    return int(found[1] or 1) * BITS[found[2]]


def innermost_loops(lines):
    """Lists of lines, each from a label to the branch back to it, without another such inside."""
    labels = {match[1]: i for i, line in enumerate(lines) if (match := re.match(r"(\$\w+):", line))}
    loops = []
    for end, line in enumerate(lines):
        target = re.search(r"\bbra(?:\.uni)?\s+(\$\w+);", line)
        if target and labels[target[1]] <= end:
            loops.append((labels[target[1]], end))
    return [lines[begin:end + 1] for begin, end in loops
            if not any(other != (begin, end) and other[0] >= begin and other[1] <= end
                       for other in loops)]


def verdict(text):
    found = set(re.findall(r"\.local\b", text))
    for loop in innermost_loops(text.splitlines()):
        body = "\n".join(loop)
        found.update(re.findall(r"\b(?:(?:mul|mad)\.(?:lo|hi)\.[su]64|(?:div|rem)\.[su]\d+)", body))
        accesses = len(re.findall(r"\b(?:ld|st)\.(?:global|shared)", body))
        addresses = len(re.findall(r"\bmul\.wide\.", body))
        if addresses > accesses:
            found.add(f"{addresses} addresses for {accesses} accesses")
    return ", ".join(sorted(found)) or "lean"


cameoc, folder = sys.argv[1], Path(sys.argv[2])
folder.mkdir(parents=True, exist_ok=True)
for name, made in {**MODELS, **DISPATCHES}.items():
    if name in MODELS:
        source, options = folder / f"{name}.onnx", []
        save(made, source)
    else:
        source, options = folder / f"{name}.mlir", ["--start-from=dispatched"]
        source.write_text(variant_of(*made))
    done = subprocess.run([cameoc, source, "-o", folder / f"{name}.ptx",
                           "--emit=ptx", "--target=sm_80", "--remarks", *options], check=True,
                          stderr=subprocess.PIPE, text=True)
    families = re.findall(r'#kernel.schedule<"(\w+)"', done.stderr)
    text = (folder / f"{name}.ptx").read_text()
    # Kernels for sizes beyond 32 bits do the same with wider indices.
    kernels = re.split(r"(?=\.visible \.entry )", text)[1:]
    text = "".join(part for part in kernels if not re.match(r"\S+ \.entry \w+_wide\(", part))
    accesses = [bits(line) for line in re.findall(r"(?:ld|st)\.global\S*", text)]
    wide = sum(access == 128 for access in accesses)
    fma = len(re.findall(r"\bfma\.rn", text))
    print(f"{name}: {'+'.join(families)}, {wide} wide, {len(accesses) - wide} narrow, {fma} fma, "
          f"{verdict(text)}")
