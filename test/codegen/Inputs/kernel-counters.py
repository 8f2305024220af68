"""What the kernels of small models do to memory, as the simulator counts it.

kernel-counters.py CAMEOC FOLDER: for each model one line per launch.
"""
# SPDX-License-Identifier: Apache-2.0
import json
import subprocess
import sys
from pathlib import Path

import numpy
from onnx import TensorProto, helper, numpy_helper, save


def model(operator, shape, result, weights=(), before=(), after=(), kind=TensorProto.FLOAT,
          **attributes):
    """`before` it are operators of the input, `after` it of its result and the input."""
    stored = [numpy_helper.from_array(numpy.ones(size, "f"), f"w{i}")
              for i, size in enumerate(weights)]
    nodes = [helper.make_node(name, ["x", "x"], ["v"]) for name in before]
    nodes.append(helper.make_node(operator, ["v" if before else "x"] + [w.name for w in stored],
                                  ["r" if after else "y"], **attributes))
    nodes += [helper.make_node(name, ["r", "x"], ["y"]) for name in after]
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", kind, shape)],
        [helper.make_tensor_value_info("y", kind, result)], stored)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


MODELS = {
    "elementwise": model("Relu", (64, 256), (64, 256)),
    "transpose-outer": model("Transpose", (8, 16, 64), (16, 8, 64), perm=[1, 0, 2]),
    "transpose-inner": model("Transpose", (64, 64), (64, 64)),
    "transpose-image": model("Transpose", (1, 64, 14, 14), (1, 14, 14, 64), perm=[0, 2, 3, 1]),
    "transpose-half": model("Transpose", (1, 128, 4, 64), (1, 4, 64, 128), perm=[0, 2, 3, 1],
                            kind=TensorProto.FLOAT16),
    "transpose-byte": model("Transpose", (256, 256), (256, 256), kind=TensorProto.INT8),
    "transpose-double": model("Transpose", (64, 64), (64, 64), kind=TensorProto.DOUBLE),
    "product": model("MatMul", (128, 64), (128, 128), weights=((64, 128),)),
    "residual": model("MatMul", (128, 128), (128, 128), weights=((128, 128),), after=["Add"]),
    "value": model("MatMul", (128, 64), (128, 128), weights=((64, 128),), before=["Mul"]),
    "softmax": model("Softmax", (32, 128), (32, 128)),
    "pool": model("MaxPool", (1, 8, 32, 32), (1, 8, 16, 16), kernel_shape=[2, 2], strides=[2, 2]),
}

cameoc, folder = sys.argv[1], Path(sys.argv[2])
folder.mkdir(parents=True, exist_ok=True)
for name, made in MODELS.items():
    save(made, folder / f"{name}.onnx")
    subprocess.run([cameoc, folder / f"{name}.onnx", "-o", folder / name, "--target=sim:sm_80",
                    "--sim-checks"], check=True)
    # Neither checks nor the order of threads and workers may change a count.
    counted = []
    for options in ("", "--sim-checks --sim-seed=5", "--sim-seed=9 --threads=1"):
        subprocess.run([folder / name, "--device=sim", f"--sim-counters={folder / name}.json",
                        *options.split()], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        report = json.loads((folder / f"{name}.json").read_text())
        report.pop("device")
        counted.append(report)
    assert counted[0] == counted[1] == counted[2], f"{name}: the counts depend on the order"
    for launch in counted[0]["launches"]:
        accesses = launch["global"], launch["shared"]
        loads, stores = accesses[0]["load"], accesses[0]["store"]
        shared = [accesses[1][kind] for kind in ("load", "store")]
        print(f"{name}: loads {loads['bytes']} B in {loads['sectors']} sectors of "
              f"{loads['sectors_ideal']}, stores {stores['bytes']} B in {stores['sectors']} of "
              f"{stores['sectors_ideal']}, wavefronts "
              f"{sum(counts['wavefronts'] for counts in shared)} of "
              f"{sum(counts['wavefronts_ideal'] for counts in shared)}, "
              f"barriers {launch['instructions']['barrier']}, "
              f"shuffles {launch['instructions']['shuffle']}, "
              f"multiply-adds {launch['thread_operations']['f32_fma']}")
