// Schedules of products chosen by their machine code, and kept in a file.
// REQUIRES: ptxas, nvdisasm
// RUN: cameoc %s --start-from=dispatched --tune=static --ptxas=%ptxas --nvdisasm=%nvdisasm --emit=schedules -o %t.json --target=sm_80 --statistics 2>&1 | FileCheck %s --check-prefix=COUNT
// One kernel per candidate, of both dispatches together.
// COUNT: cameo-tune-schedules
// COUNT: 5 assembled
// RUN: FileCheck %s < %t.json
// CHECK: "first",
// CHECK-NEXT: "second"
// CHECK: #kernel.schedule<\"mma\"
// CHECK-NOT: "key"

// The same file again, and from it the same artefact, to the byte.
// RUN: cameoc %s --start-from=dispatched --tune=static --ptxas=%ptxas --nvdisasm=%nvdisasm --emit=schedules -o - --target=sm_80 | diff - %t.json
// RUN: cameoc %s --start-from=dispatched --tune=static --ptxas=%ptxas --nvdisasm=%nvdisasm --emit=plan -o %t.tuned --target=sm_80
// RUN: cameoc %s --start-from=dispatched --schedules=%t.json --ptxas=%ptxas --emit=plan -o %t.replayed --target=sm_80
// RUN: cmp %t.tuned %t.replayed
// RUN: cameoc %s --start-from=dispatched --schedules=%t.json --ptxas=%ptxas --emit=plan -o %t.again --target=sm_80
// RUN: cmp %t.replayed %t.again

// RUN: not cameoc %s --start-from=dispatched --tune=static --ptxas=%ptxas --nvdisasm=%t.absent --emit=schedules -o - --target=sm_80 2>&1 | FileCheck %s --check-prefix=ABSENT
// ABSENT: error: --tune=static: nvdisasm fails
// RUN: not env PATH=/nonexistent %cameoc %s --start-from=dispatched --tune=static --ptxas=%ptxas --emit=schedules -o - --target=sm_80 2>&1 | FileCheck %s --check-prefix=PATH
// PATH: error: --tune=static: no nvdisasm in the PATH; install the CUDA toolkit's nvdisasm component, or the Python package nvidia-cuda-nvdisasm, and name the program with --nvdisasm=FILE
// RUN: not cameoc %s --start-from=dispatched --tune=measured --emit=schedules -o - 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: error: --tune: 'measured' is not static
// RUN: cameo-opt %s --pass-pipeline='builtin.module(rt.variant(cameo-assign-schedules{candidates=2}))' | sed 's/microseconds = /nanoseconds = /' > %t.wrong.mlir
// RUN: not cameo-opt %t.wrong.mlir --cameo-tune-schedules 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: error: kernel.candidates: each of [{{.*}}] needs a schedule, microseconds and numbers of its work

#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
rt.variant @sm_80 target "sm_80" {
  func.func @main(%x: tensor<512x512xf16>, %w: tensor<512x512xf16>) -> tensor<512x512xf16> {
    %e = tensor.empty() : tensor<512x512xf16>
    %p = kernel.dispatch ins(%x, %w : tensor<512x512xf16>, tensor<512x512xf16>) outs(%e : tensor<512x512xf16>) {
    ^bb0(%a: tensor<512x512xf16>, %b: tensor<512x512xf16>, %o: tensor<512x512xf16>):
      %z = arith.constant 0.0 : f32
      %i = tensor.empty() : tensor<512x512xf32>
      %f = linalg.fill ins(%z : f32) outs(%i : tensor<512x512xf32>) -> tensor<512x512xf32>
      %g = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<512x512xf16>, tensor<512x512xf16>) outs(%f : tensor<512x512xf32>) {
      ^bb1(%u: f16, %v: f16, %s: f32):
        %u32 = arith.extf %u : f16 to f32
        %v32 = arith.extf %v : f16 to f32
        %q = math.fma %u32, %v32, %s : f32
        linalg.yield %q : f32
      } -> tensor<512x512xf32>
      %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%g : tensor<512x512xf32>) outs(%o : tensor<512x512xf16>) {
      ^bb1(%u: f32, %s: f16):
        %q = arith.truncf %u : f32 to f16
        linalg.yield %q : f16
      } -> tensor<512x512xf16>
      kernel.yield %h : tensor<512x512xf16>
    } -> tensor<512x512xf16> loc("first")
    %r = kernel.dispatch ins(%p, %w : tensor<512x512xf16>, tensor<512x512xf16>) outs(%e : tensor<512x512xf16>) {
    ^bb0(%a: tensor<512x512xf16>, %b: tensor<512x512xf16>, %o: tensor<512x512xf16>):
      %z = arith.constant 0.0 : f32
      %i = tensor.empty() : tensor<512x512xf32>
      %f = linalg.fill ins(%z : f32) outs(%i : tensor<512x512xf32>) -> tensor<512x512xf32>
      %g = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<512x512xf16>, tensor<512x512xf16>) outs(%f : tensor<512x512xf32>) {
      ^bb1(%u: f16, %v: f16, %s: f32):
        %u32 = arith.extf %u : f16 to f32
        %v32 = arith.extf %v : f16 to f32
        %q = math.fma %u32, %v32, %s : f32
        linalg.yield %q : f32
      } -> tensor<512x512xf32>
      %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%g : tensor<512x512xf32>) outs(%o : tensor<512x512xf16>) {
      ^bb1(%u: f32, %s: f16):
        %q = arith.truncf %u : f32 to f16
        linalg.yield %q : f16
      } -> tensor<512x512xf16>
      kernel.yield %h : tensor<512x512xf16>
    } -> tensor<512x512xf16> loc("second")
    return %r : tensor<512x512xf16>
  }
}
