// Files of schedules have the order of constants, too, which is done as they say.
// RUN: cameoc %s --start-from=dispatched --emit=schedules -o %t.json --target=sim:sm_80
// RUN: FileCheck %s --check-prefix=FILE < %t.json
// FILE: "key": "{{[0-9a-f]+}}"
// FILE: "packing": "[array<i64>, array<i64: 1, 0>]",
// FILE-NEXT: "schedule": "#kernel.schedule<\"contraction\", {column_vector = array<i64: 4, 1>

// The key is that of the dispatch before constants were packed: the same file, and the same artefact.
// RUN: cameoc %s --start-from=dispatched --emit=schedules -o - --target=sim:sm_80 --schedules=%t.json | diff - %t.json
// RUN: cameoc %s --start-from=dispatched --emit=plan -o %t.chosen --target=sim:sm_80
// RUN: cameoc %s --start-from=dispatched --emit=plan -o %t.replayed --target=sim:sm_80 --schedules=%t.json
// RUN: cmp %t.chosen %t.replayed

// With constants as they are, only what these allow.
// RUN: sed '/"packing"/d' %t.json > %t.plain.json
// RUN: not cameoc %s --start-from=dispatched --emit=plan -o %t.plan --target=sim:sm_80 --schedules=%t.plain.json 2>&1 | FileCheck %s --check-prefix=PLAIN
// PLAIN: error: schedule 'contraction': column_vector 4 is not possible; at most 1
// RUN: sed 's/column_vector = array<i64: 4, 1>/column_vector = array<i64: 1, 4>/' %t.plain.json > %t.deep.json
// RUN: cameoc %s --start-from=dispatched --stop-after=scheduled -o - --target=sim:sm_80 --schedules=%t.deep.json | FileCheck %s --check-prefix=DEEP
// DEEP-NOT: @w_1_0
// DEEP: rt.constant @w =
// DEEP: schedule <"contraction", {column_vector = array<i64: 1, 4>

// Orders that cannot be.
// RUN: sed 's/array<i64: 1, 0>\]/array<i64: 1, 1>]/' %t.json > %t.wrong.json
// RUN: not cameoc %s --start-from=dispatched --emit=plan -o %t.plan --target=sim:sm_80 --schedules=%t.wrong.json 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: error: its constants cannot be packed as the file of schedules says: [array<i64>, array<i64: 1, 1>]
// RUN: sed 's/"packing": ".*"/"packing": "7"/' %t.json > %t.number.json
// RUN: not cameoc %s --start-from=dispatched --emit=plan -o %t.plan --target=sim:sm_80 --schedules=%t.number.json 2>&1 | FileCheck %s --check-prefix=NUMBER
// NUMBER: error: schedules '{{.*}}.number.json': schedule 0 (key {{[0-9a-f]+}}) has a packing that cannot be read: expected a list of orders

#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
rt.constant @w = dense<2.0> : tensor<64x96xf32>
rt.variant @sm_80 target "sm_80" {
  func.func @main(%x: tensor<1024x96xf32>) -> tensor<1024x64xf32> {
    %w = rt.get_constant @w : tensor<64x96xf32>
    %e = tensor.empty() : tensor<1024x64xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<1024x96xf32>, tensor<64x96xf32>)
                         outs(%e : tensor<1024x64xf32>) {
    ^bb0(%a: tensor<1024x96xf32>, %b: tensor<64x96xf32>, %o: tensor<1024x64xf32>):
      %z = arith.constant 0.0 : f32
      %f = linalg.fill ins(%z : f32) outs(%o : tensor<1024x64xf32>) -> tensor<1024x64xf32>
      %g = linalg.generic {indexing_maps = [#x, #w, #y],
                           iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<1024x96xf32>, tensor<64x96xf32>) outs(%f : tensor<1024x64xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %q = math.fma %u, %v, %s : f32
        linalg.yield %q : f32
      } -> tensor<1024x64xf32>
      kernel.yield %g : tensor<1024x64xf32>
    } -> tensor<1024x64xf32>
    return %r : tensor<1024x64xf32>
  }
}
