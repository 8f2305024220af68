"""What kernels on Tensor Cores take and do, of small products.

matrix-products.py CAMEOC FOLDER: one line per model and target. Resources are those of the target's
ptxas, counts those of the simulator.
"""
# SPDX-License-Identifier: Apache-2.0
import json
import subprocess
import sys
from pathlib import Path

from onnx import TensorProto, helper, save


def product(m, n, k, kind=TensorProto.FLOAT16, result=None):
    """Of [m, k] and [k, n]; `result` another type than theirs."""
    nodes = [helper.make_node("MatMul", ["a", "b"], ["y"])]
    if result:
        nodes = [helper.make_node("Cast", [x], [f"w{x}"], to=result) for x in "ab"]
        nodes.append(helper.make_node("MatMul", ["wa", "wb"], ["y"]))
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("a", kind, (m, k)),
                     helper.make_tensor_value_info("b", kind, (k, n))],
        [helper.make_tensor_value_info("y", result or kind, (m, n))])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


# (m, n, k), model, targets
MODELS = {
    "half": ((256, 128, 128), {}, ("sm_75", "sm_80")),
    "bfloat": ((256, 128, 128), {"kind": TensorProto.BFLOAT16}, ("sm_80",)),
    "single-result": ((256, 128, 128), {"result": TensorProto.FLOAT}, ("sm_80",)),
    "large": ((4096, 4096, 4096), {}, ("sm_75", "sm_80", "sm_90")),
}


def kernel(report):
    """The report's one kernel."""
    kernels = [launch for launch in report["launches"] if launch]
    assert len(kernels) == 1, report
    return kernels[0]


cameoc, folder = sys.argv[1], Path(sys.argv[2])
folder.mkdir(parents=True, exist_ok=True)
for name, ((m, n, k), how, targets) in MODELS.items():
    save(product(m, n, k, **how), folder / f"{name}.onnx")
    for target in targets:
        large = m > 1000  # for ptxas alone: too long for the simulator
        made = folder / f"{name}-{target}"
        compiled = subprocess.run(
            [cameoc, folder / f"{name}.onnx", "-o", made, f"--report={made}.json",
             f"--target={target}" if large else f"--target={target},sim:{target}", "--sim-checks"],
            check=True, capture_output=True, text=True)
        report = json.loads(Path(f"{made}.json").read_text())
        resources = report["resources"][0]
        line = (f"{name} {target}: spills {resources['spill_bytes']}, "
                f"stack {resources['stack_bytes']}, warnings {len(report['warnings'])}")
        if not large:
            subprocess.run([made, "--device=sim", f"--sim-counters={made}.counts.json"],
                           check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            launch, = json.loads(Path(f"{made}.counts.json").read_text())["launches"]
            ideal = m * n * k // (16 * 8 * (8 if target == "sm_75" else 16))
            shared = [launch["shared"][way] for way in ("load", "store")]
            line += (f", matrix instructions {launch['instructions']['matrix']} of {ideal}"
                     f", wavefronts {sum(counts['wavefronts'] for counts in shared)} of "
                     f"{sum(counts['wavefronts_ideal'] for counts in shared)}")
        print(line)
