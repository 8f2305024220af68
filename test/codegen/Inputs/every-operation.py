"""Writes kernels that together hold every operation of the tiled stage, on every type, scalar and
vector: one kernel for each type. `every-operation.py TYPE...` limits it to some types.

SPDX-License-Identifier: Apache-2.0
"""
import sys

FLOATS = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8}
INTEGERS = {"i8": 1, "i16": 2, "i32": 4, "i64": 8}

FLOAT_BINARY = ["arith." + op for op in
                "addf subf mulf divf remf maximumf minimumf maxnumf minnumf".split()]
FLOAT_BINARY += ["math.powf", "math.atan2", "math.copysign"]
FLOAT_UNARY = ["arith.negf"] + ["math." + op for op in """absf acos acosh asin asinh atan atanh cbrt
    ceil cos cosh erf exp exp2 expm1 floor log log10 log1p log2 round roundeven rsqrt sin sinh sqrt
    tan tanh trunc""".split()]
FLOAT_COMPARE = "oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno".split()
INTEGER_BINARY = ["arith." + op for op in """addi subi muli divsi divui ceildivsi ceildivui
    floordivsi remsi remui andi ori xori shli shrsi shrui maxsi maxui minsi minui""".split()]
INTEGER_UNARY = ["math." + op for op in "absi ctlz cttz ctpop".split()]
INTEGER_COMPARE = "eq ne slt sle sgt sge ult ule ugt uge".split()


class Kernel:
    """A kernel that loads two values and stores every result."""

    def __init__(self, element, lanes):
        self.element, self.lanes = element, lanes
        self.lines, self.outputs, self.count = [], 0, 0

    def shape(self, element):
        return f"vector<{self.lanes}x{element}>" if self.lanes > 1 else element

    def value(self, text):
        self.count += 1
        self.lines.append(f"    %v{self.count} = {text}")
        return f"%v{self.count}"

    def load(self, element, name):
        memref = f"memref<?x{element}, #g>"
        if self.lanes > 1:
            return self.value(f"vector.load {name}[%i] : {memref}, {self.shape(element)}")
        return self.value(f"memref.load {name}[%i] : {memref}")

    def store(self, value, element):
        index = self.value(f"arith.constant {self.outputs * 4096} : index")
        place = self.value(f"arith.addi %i, {index} : index")
        memref = f"memref<?x{element}, #g>"
        if self.lanes > 1:
            self.lines.append(f"    vector.store {value}, %to_{element}[{place}] : {memref}, "
                              f"{self.shape(element)}")
        else:
            self.lines.append(f"    memref.store {value}, %to_{element}[{place}] : {memref}")
        self.outputs += 1

    def text(self, name):
        types = list(FLOATS) + list(INTEGERS) + ["i1"]
        outputs = ", ".join(f"%to_{t}: memref<?x{t}, #g>" for t in types)
        body = "\n".join(self.lines)
        return f"""gpu.module @{name} attributes {{kernel.index_bits = 32 : i32}} {{
  gpu.func @{name}(%a: memref<?x{self.element}, #g> {{llvm.noalias}}, %b: memref<?x{self.element}, #g> {{llvm.noalias}},
      %p: memref<?xi1, #g> {{llvm.noalias}}, {outputs})
      kernel attributes {{kernel.block = array<i32: 256, 1, 1>}} {{
    %i = gpu.thread_id x
{body}
    gpu.return
  }}
}}
"""


def conversions(kernel, x, element):
    width = FLOATS.get(element) or INTEGERS.get(element)
    shape = kernel.shape
    for other, size in FLOATS.items():
        if element in FLOATS:
            if size == width:
                continue
            op = "extf" if size > width else "truncf"
            kernel.store(kernel.value(f"arith.{op} {x} : {shape(element)} to {shape(other)}"), other)
        else:
            for op in ("sitofp", "uitofp"):
                kernel.store(kernel.value(f"arith.{op} {x} : {shape(element)} to {shape(other)}"),
                             other)
            if size == width:
                kernel.store(kernel.value(f"arith.bitcast {x} : {shape(element)} to {shape(other)}"),
                             other)
    for other, size in INTEGERS.items():
        if element in FLOATS:
            for op in ("fptosi", "fptoui"):
                kernel.store(kernel.value(f"arith.{op} {x} : {shape(element)} to {shape(other)}"),
                             other)
            if size == width:
                kernel.store(kernel.value(f"arith.bitcast {x} : {shape(element)} to {shape(other)}"),
                             other)
        elif size != width:
            for op in (("extsi", "extui") if size > width else ("trunci",)):
                kernel.store(kernel.value(f"arith.{op} {x} : {shape(element)} to {shape(other)}"),
                             other)


def make(element, lanes):
    kernel = Kernel(element, lanes)
    shape = kernel.shape(element)
    x, y = kernel.load(element, "%a"), kernel.load(element, "%b")
    condition = kernel.load("i1", "%p")
    floating = element in FLOATS
    for op in FLOAT_BINARY if floating else INTEGER_BINARY:
        kernel.store(kernel.value(f"{op} {x}, {y} : {shape}"), element)
    for op in FLOAT_UNARY if floating else INTEGER_UNARY:
        kernel.store(kernel.value(f"{op} {x} : {shape}"), element)
    for predicate in FLOAT_COMPARE if floating else INTEGER_COMPARE:
        op = "arith.cmpf" if floating else "arith.cmpi"
        kernel.store(kernel.value(f"{op} {predicate}, {x}, {y} : {shape}"), "i1")
    zero = "0.0" if floating else "0"
    dense = f"dense<{zero}>" if lanes > 1 else zero
    constant = kernel.value(f"arith.constant {dense} : {shape}")
    selected = f"{kernel.shape('i1')}, {shape}" if lanes > 1 else shape
    kernel.store(kernel.value(f"arith.select {condition}, {x}, {constant} : {selected}"), element)
    if floating:
        kernel.store(kernel.value(f"math.fma {x}, {y}, {x} : {shape}"), element)
    conversions(kernel, x, element)
    if lanes > 1:
        if floating:
            kernel.store(kernel.value(f"vector.fma {x}, {y}, {x} : {shape}"), element)
        kinds = "add mul minnumf maxnumf minimumf maximumf" if floating else \
            "add mul minsi minui maxsi maxui and or xor"
        total = None
        for kind in kinds.split():
            part = kernel.value(f"vector.reduction <{kind}>, {x} : {shape} into {element}")
            op = "arith.addf" if floating else "arith.addi"
            total = part if total is None else kernel.value(f"{op} {total}, {part} : {element}")
        kernel.store(kernel.value(f"vector.broadcast {total} : {element} to {shape}"), element)
        first = kernel.value(f"vector.extract {x}[1] : {element} from {shape}")
        kernel.store(kernel.value(f"vector.insert {first}, {y} [0] : {element} into {shape}"),
                     element)
        kernel.store(kernel.value(f"vector.splat {first} : {shape}"), element)
    return kernel


def main():
    types = sys.argv[1:] or list(FLOATS) + list(INTEGERS)
    print("#g = #gpu.address_space<global>")
    for element in types:
        bytes_each = FLOATS.get(element) or INTEGERS[element]
        for lanes in (1, min(4, 16 // bytes_each)):  # an access has 16 bytes at most
            print(make(element, lanes).text(f"every_{element}_{lanes}"))


if __name__ == "__main__":
    main()
