"""Products of each type on architectures that LLVM does not know, through ptxas.

later-targets.py CAMEOC FOLDER: one line per architecture, `NAME: PTX VERSION for NAME, TYPES by
mma.sync, N kernels assembled, S bytes spilled, from CUDA VERSION on`.
"""
# SPDX-License-Identifier: Apache-2.0
import json
import re
import subprocess
import sys
from pathlib import Path

from onnx import TensorProto, helper, save

TYPES = {"f16": TensorProto.FLOAT16, "bf16": TensorProto.BFLOAT16, "s8": TensorProto.INT8}


def model():
    nodes, inputs, outputs = [], [], []
    for name, kind in TYPES.items():
        result = TensorProto.INT32 if name == "s8" else kind
        nodes.append(helper.make_node("MatMulInteger" if name == "s8" else "MatMul",
                                      [f"{name}_x", f"{name}_w"], [name]))
        inputs += [helper.make_tensor_value_info(f"{name}_x", kind, (256, 512)),
                   helper.make_tensor_value_info(f"{name}_w", kind, (512, 384))]
        outputs.append(helper.make_tensor_value_info(name, result, (256, 384)))
    return helper.make_model(helper.make_graph(nodes, "g", inputs, outputs),
                             opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


cameoc, folder = sys.argv[1], Path(sys.argv[2])
folder.mkdir(parents=True, exist_ok=True)
source = folder / "products.onnx"
save(model(), source)
for target in ("sm_100", "sm_103", "sm_110", "sm_120", "sm_121"):
    text, report = folder / f"{target}.ptx", folder / f"{target}.json"
    for flags in (["--emit=ptx", "-o", text],
                  ["--emit=plan", "-o", folder / target, f"--report={report}"]):
        subprocess.run([cameoc, source, f"--target={target}", *flags], check=True)
    ptx = text.read_text()
    version, name = (re.findall(rf"^\.{word} (\S+)$", ptx, re.MULTILINE)
                     for word in ("version", "target"))
    types = set(re.findall(r"mma\.sync\.aligned\.m16n8k\d+\.row\.col\.\w+\.(\w+)", ptx))
    resources = json.loads(report.read_text())["resources"]
    needs = re.search(rb'"driver_minimum":"([^"]+)"', (folder / target).read_bytes())[1].decode()
    print(f"{target}: PTX {' '.join(version)} for {' '.join(name)}, {' '.join(sorted(types))} by "
          f"mma.sync, {len(resources)} kernels assembled, "
          f"{sum(kernel['spill_bytes'] for kernel in resources)} bytes spilled, from {needs} on")
