# SPDX-License-Identifier: Apache-2.0
"""Writes a SIMT matrix product as tile operations: y = a x b, bounds guarded, any m, n and k.

simt-gemm.py TILE_M TILE_N TILE_K THREAD_M THREAD_N GROUP [ELEMENT] [VECTOR] > kernel.mlir

The kernel is @gemm(a, b, y, m, n, k, blocks_n), its grid one-dimensional.
"""
import sys

tm, tn, tk, rm, rn, group = map(int, sys.argv[1:7])
element = sys.argv[7] if len(sys.argv) > 7 else "f32"
vector = int(sys.argv[8]) if len(sys.argv) > 8 else 4
rows, cols = tm // rm, tn // rn
threads = rows * cols
pad = 4
lhs, rhs = tk * (tm + pad), tk * tn
fragment = f"!kernel.fragment<{tm} by {tn} of f32, #layout>"
print(f"""\
#g = #gpu.address_space<global>
#ws = #gpu.address_space<workgroup>
#layout = #kernel.thread_tile<threads = {rows} x {cols}, tile = {rm} x {rn}, group = {group}>
gpu.module @gemm attributes {{kernel.index_bits = 32 : i32}} {{
  gpu.func @gemm(%a: memref<?x{element}, #g> {{llvm.noalias}}, %b: memref<?x{element}, #g> {{llvm.noalias}},
                 %y: memref<?xf32, #g> {{llvm.noalias}}, %m: index, %n: index, %k: index,
                 %blocks_n: index)
      workgroup(%sa : memref<{lhs}xf32, #ws>, %sb : memref<{rhs}xf32, #ws>)
      kernel attributes {{kernel.block = array<i32: {threads}, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %ctm = arith.constant {tm} : index
    %ctn = arith.constant {tn} : index
    %ctk = arith.constant {tk} : index
    %pad = arith.constant 0.0 : {element}
    %zero = arith.constant 0.0 : f32
    %block = gpu.block_id x
    %bm = arith.divui %block, %blocks_n : index
    %bn = arith.remui %block, %blocks_n : index
    %m0 = arith.muli %bm, %ctm : index
    %n0 = arith.muli %bn, %ctn : index
    %init = kernel.fill_fragment %zero : f32 -> {fragment}
    %acc = scf.for %k0 = %c0 to %k step %ctk iter_args(%sum = %init) -> {fragment} {{
      gpu.barrier
      kernel.copy_tile %a to %sa[%c0] rows {tm} cols {tk} strides [1, {tm + pad}] vector {vector} threads {threads}
          padding %pad : {element} : memref<?x{element}, #g> to memref<{lhs}xf32, #ws> {{
      ^bb0(%r: index, %c: index):
        %row = arith.addi %m0, %r : index
        %col = arith.addi %k0, %c : index
        %line = arith.muli %row, %k : index
        %offset = arith.addi %line, %col : index
        %row_in = arith.cmpi ult, %row, %m : index
        %col_in = arith.cmpi ult, %col, %k : index
        %inside = arith.andi %row_in, %col_in : i1
        kernel.yield %offset, %inside : index, i1
      }}
      kernel.copy_tile %b to %sb[%c0] rows {tk} cols {tn} strides [{tn}, 1] vector {vector} threads {threads}
          padding %pad : {element} : memref<?x{element}, #g> to memref<{rhs}xf32, #ws> {{
      ^bb0(%r: index, %c: index):
        %row = arith.addi %k0, %r : index
        %col = arith.addi %n0, %c : index
        %line = arith.muli %row, %n : index
        %offset = arith.addi %line, %col : index
        %row_in = arith.cmpi ult, %row, %k : index
        %col_in = arith.cmpi ult, %col, %n : index
        %inside = arith.andi %row_in, %col_in : i1
        kernel.yield %offset, %inside : index, i1
      }}
      gpu.barrier
      %next = kernel.contract_tile %sa[%c0] stride {tm + pad}, %sb[%c0] stride {tn} depth {tk} into %sum
          : memref<{lhs}xf32, #ws>, memref<{rhs}xf32, #ws> into {fragment}
      scf.yield %next : {fragment}
    }}
    kernel.store_fragment %acc to %y vector {min(vector, 4)} : {fragment} to memref<?xf32, #g> {{
    ^bb0(%r: index, %c: index, %value: f32):
      %row = arith.addi %m0, %r : index
      %col = arith.addi %n0, %c : index
      %line = arith.muli %row, %n : index
      %offset = arith.addi %line, %col : index
      %row_in = arith.cmpi ult, %row, %m : index
      %col_in = arith.cmpi ult, %col, %n : index
      %inside = arith.andi %row_in, %col_in : i1
      kernel.yield %value, %offset, %inside : f32, index, i1
    }}
    gpu.return
  }}
}}""")
