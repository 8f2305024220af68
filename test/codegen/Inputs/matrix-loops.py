"""What main loops of products on Tensor Cores consist of, beside CUTLASS's of the same types.

matrix-loops.py CAMEOC CAMEO-SASS NVDISASM FOLDER: one line per product. Instructions that do not
multiply, for each that does, and 1.1 times what CUTLASS has; the numbers are those of static_code.py.
"""
# SPDX-License-Identifier: Apache-2.0
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

SIZE = 4096
WHOLE = ("%pw = arith.extsi %p : i8 to i32\n%qw = arith.extsi %q : i8 to i32\n"
         "%m = arith.muli %pw, %qw : i32\n%t = arith.addi %s, %m : i32\n")
FUSED = "%t = math.fma %p, %q, %s : f32\n"


@dataclass
class Product:
    target: str
    element: str
    sums: str
    body: str
    cutlass: float  # others for each matrix instruction
    schedule: str = ""
    attributes: str = ""
    across: bool = False  # the second operand's columns are innermost, not its depth

    def module(self):
        a, y = (f"tensor<{SIZE}x{SIZE}x{kind}>" for kind in (self.element, self.sums))
        zero = "0" if self.sums == "i32" else "0.0"
        arguments = ", ".join(f'%{name}: {a} {{onnx.dims = [{SIZE}, {SIZE}], onnx.name = "{name}", '
                              f"onnx.type = {self.element}}}" for name in "ab")
        column = "(m, n, k) -> (k, n)" if self.across else "(m, n, k) -> (n, k)"
        return f"""module attributes {{onnx.opset = 21 : i64}} {{
rt.variant @v target "{self.target}" {{
func.func @main({arguments}) -> ({y} {{onnx.dims = [{SIZE}, {SIZE}], onnx.name = "y", onnx.type = {self.sums}}}) {{
%e = tensor.empty() : {y}
%r = kernel.dispatch ins(%a, %b : {a}, {a}) outs(%e : {y}) {self.schedule} {{
^bb0(%x: {a}, %w: {a}, %init: {y}):
%zero = arith.constant {zero} : {self.sums}
%f = linalg.fill ins(%zero : {self.sums}) outs(%init : {y}) -> {y}
%g = linalg.generic {{indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<{column}>,
    affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]{self.attributes}}}
    ins(%x, %w : {a}, {a}) outs(%f : {y}) {{
^bb1(%p: {self.element}, %q: {self.element}, %s: {self.sums}):
{self.body}linalg.yield %t : {self.sums}
}} -> {y}
kernel.yield %g : {y}
}} -> {y}
return %r : {y}
}}
}}
}}
"""


def schedule(instruction, tile, stages, vector, columns="depth"):
    return (f'schedule <"mma", {{column_lines = "{columns}", column_vector = {vector} : i64, copies = '
            f'"async", instruction = array<i64: {instruction}>, row_lines = "depth", row_vector = '
            f"{vector} : i64, stages = {stages} : i64, store_vector = 4 : i64, tile = array<i64: "
            f"{tile}>, warps = array<i64: 2, 2>}}>")


BYTES, SINGLES = "16, 8, 32", "16, 8, 8"
ROUNDED = ', kernel.precision = "tf32"'
PRODUCTS = {
    # 162 slots for 64 matrix instructions.
    "s8": Product("sm_80", "i8", "i32", WHOLE, 98 / 64, schedule(BYTES, "128, 128, 64", 5, 16)),
    # CUTLASS has no kernel of bytes across depth: the same.
    "s8-across": Product("sm_80", "i8", "i32", WHOLE, 98 / 64,
                         schedule(BYTES, "128, 128, 64", 5, 16, "across"), across=True),
    # 552 slots for 128, operands being rounded in the loop as here.
    "tf32": Product("sm_80", "f32", "f32", FUSED, 424 / 128,
                    schedule(SINGLES, "128, 128, 32", 3, 4), ROUNDED),
    # 368 slots for 256; the tile that is chosen.
    "s8-sm_75": Product("sm_75", "i8", "i32", WHOLE, 112 / 256),
}

cameoc, sass, nvdisasm, folder = *sys.argv[1:4], Path(sys.argv[4])
folder.mkdir(parents=True, exist_ok=True)
for name, product in PRODUCTS.items():
    source, cubin = folder / f"{name}.mlir", folder / f"{name}.cubin"
    source.write_text(product.module())
    subprocess.run([cameoc, "--start-from=dispatched", source, "--emit=cubin", "-o", cubin,
                    f"--target={product.target}"], check=True)
    read = subprocess.run([sass, f"--arch={product.target}", f"--nvdisasm={nvdisasm}", cubin],
                          check=True, capture_output=True, text=True)
    kernel, = json.loads(read.stdout)
    loop = kernel["main_loop"]
    multiply = loop["kinds"]["matrix"]
    others, most = (loop["slots"] - multiply) / multiply, 1.1 * product.cutlass
    print(f"{name}: others {'few enough' if others <= most else f'{others:.3f} of {most:.3f}'}")
