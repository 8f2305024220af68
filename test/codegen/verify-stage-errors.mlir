// RUN: %cameo-opt --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(cameo-verify-stage{stage=scheduled strict=true})' %s

// expected-error @+1 {{a model at stage scheduled has a variant for each architecture; there is none}}
module {
}

// -----

// expected-error @+1 {{'rt.variant' at stage scheduled: it has no entry function}}
rt.variant @empty target "sm_80" {
}

// -----

// expected-error @+1 {{'func.func' at stage scheduled: functions stand in variants}}
func.func @main() {
  return
}
rt.variant @v target "sm_80" {
  func.func @main() {
    return
  }
}

// -----

rt.variant @v target "sm_80" {
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @+1 {{'kernel.dispatch' at stage scheduled: it has no schedule}}
    %y = kernel.dispatch outs(%x : tensor<4xf32>) {
    ^bb0(%o: tensor<4xf32>):
      kernel.yield %o : tensor<4xf32>
    } -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
}

// -----

rt.variant @v target "sm_80" {
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %c = arith.constant 0.0 : f32
    // expected-error @+1 {{'linalg.fill' at stage scheduled: compute ops stand in dispatches}}
    %y = linalg.fill ins(%c : f32) outs(%x : tensor<4xf32>) -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
}

// -----

rt.variant @v target "sm_80" {
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @+1 {{'onnx.Relu' at stage scheduled: operators have become dispatches by now}}
    %y = "onnx.Relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
}

// -----

rt.variant @v target "sm_80" {
  func.func @main(%x: tensor<4xf32>) -> tensor<8xf32> {
    // expected-error @+1 {{'rt.concat' at stage scheduled: concatenations have become storages by now}}
    %y = rt.concat %x, %x dim 0 : tensor<4xf32>, tensor<4xf32> -> tensor<8xf32>
    return %y : tensor<8xf32>
  }
}

// -----

// What its class would say when kernels are written, it says here.

#id = affine_map<(i) -> (i)>
rt.variant @noClass target "sm_80" {
  func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
    %e = tensor.empty() : tensor<64xf32>
    // expected-error @+1 {{no schedule class is called 'fast'; known: skinny mma contraction}}
    %y = kernel.dispatch ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) schedule <"fast", {}> {
    ^bb0(%a: tensor<64xf32>, %o: tensor<64xf32>):
      %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
          ins(%a : tensor<64xf32>) outs(%o : tensor<64xf32>) {
      ^bb0(%av: f32, %ov: f32):
        %n = arith.negf %av : f32
        linalg.yield %n : f32
      } -> tensor<64xf32>
      kernel.yield %g : tensor<64xf32>
    } -> tensor<64xf32>
    return %y : tensor<64xf32>
  }
}

// -----

#id = affine_map<(i) -> (i)>
rt.variant @otherClass target "sm_80" {
  func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
    %e = tensor.empty() : tensor<64xf32>
    // expected-error @+1 {{schedule 'scan' cannot compute this dispatch}}
    %y = kernel.dispatch ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) schedule <"scan", {threads = 64 : i64}> {
    ^bb0(%a: tensor<64xf32>, %o: tensor<64xf32>):
      %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
          ins(%a : tensor<64xf32>) outs(%o : tensor<64xf32>) {
      ^bb0(%av: f32, %ov: f32):
        %n = arith.negf %av : f32
        linalg.yield %n : f32
      } -> tensor<64xf32>
      kernel.yield %g : tensor<64xf32>
    } -> tensor<64xf32>
    return %y : tensor<64xf32>
  }
}

// -----

#id = affine_map<(i) -> (i)>
rt.variant @parameters target "sm_80" {
  func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
    %e = tensor.empty() : tensor<64xf32>
    // expected-error @+1 {{schedule 'map' asks for 2048 threads; sm_80 allows 1 to 1024}}
    %y = kernel.dispatch ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) schedule <"map", {flat = true, threads = 2048 : i64, vector = 1 : i64}> {
    ^bb0(%a: tensor<64xf32>, %o: tensor<64xf32>):
      %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
          ins(%a : tensor<64xf32>) outs(%o : tensor<64xf32>) {
      ^bb0(%av: f32, %ov: f32):
        %n = arith.negf %av : f32
        linalg.yield %n : f32
      } -> tensor<64xf32>
      kernel.yield %g : tensor<64xf32>
    } -> tensor<64xf32>
    return %y : tensor<64xf32>
  }
}

// -----

#id = affine_map<(i) -> (i)>
rt.variant @unpacked target "sm_80" {
  func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
    %e = tensor.empty() : tensor<64xf32>
    // expected-error @+1 {{its constants are to be packed first, by cameo-pack-weights}}
    %y = kernel.dispatch ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) schedule <"map", {flat = true, threads = 64 : i64, vector = 1 : i64}> attributes {kernel.packing = [array<i64>]} {
    ^bb0(%a: tensor<64xf32>, %o: tensor<64xf32>):
      %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
          ins(%a : tensor<64xf32>) outs(%o : tensor<64xf32>) {
      ^bb0(%av: f32, %ov: f32):
        %n = arith.negf %av : f32
        linalg.yield %n : f32
      } -> tensor<64xf32>
      kernel.yield %g : tensor<64xf32>
    } -> tensor<64xf32>
    return %y : tensor<64xf32>
  }
}

// -----

// A product is not left to another class, although that could compute it; one for no tiles may be.

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
rt.variant @product target "sm_80" {
  func.func @main(%x: tensor<64x32xf32>, %w: tensor<32x64xf32>) -> tensor<64x64xf32> {
    %e = tensor.empty() : tensor<64x64xf32>
    // expected-error @+1 {{'kernel.dispatch' at stage scheduled: schedule 'map' is not one of products; 'contraction' can compute this one}}
    %y = kernel.dispatch ins(%x, %w : tensor<64x32xf32>, tensor<32x64xf32>) outs(%e : tensor<64x64xf32>) schedule <"map", {flat = false, threads = 64 : i64, vector = 1 : i64}> {
    ^bb0(%l: tensor<64x32xf32>, %r: tensor<32x64xf32>, %o: tensor<64x64xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<64x64xf32>) -> tensor<64x64xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%l, %r : tensor<64x32xf32>, tensor<32x64xf32>) outs(%f : tensor<64x64xf32>) {
      ^bb0(%lv: f32, %rv: f32, %acc: f32):
        %s = math.fma %lv, %rv, %acc : f32
        linalg.yield %s : f32
      } -> tensor<64x64xf32>
      kernel.yield %g : tensor<64x64xf32>
    } -> tensor<64x64xf32>
    return %y : tensor<64x64xf32>
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
rt.variant @fewRowsAndColumns target "sm_80" {
  func.func @main(%x: tensor<2x32xf32>, %w: tensor<32x2xf32>) -> tensor<2x2xf32> {
    %e = tensor.empty() : tensor<2x2xf32>
    %y = kernel.dispatch ins(%x, %w : tensor<2x32xf32>, tensor<32x2xf32>) outs(%e : tensor<2x2xf32>) schedule <"map", {flat = false, threads = 64 : i64, vector = 1 : i64}> {
    ^bb0(%l: tensor<2x32xf32>, %r: tensor<32x2xf32>, %o: tensor<2x2xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<2x2xf32>) -> tensor<2x2xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%l, %r : tensor<2x32xf32>, tensor<32x2xf32>) outs(%f : tensor<2x2xf32>) {
      ^bb0(%lv: f32, %rv: f32, %acc: f32):
        %s = math.fma %lv, %rv, %acc : f32
        linalg.yield %s : f32
      } -> tensor<2x2xf32>
      kernel.yield %g : tensor<2x2xf32>
    } -> tensor<2x2xf32>
    return %y : tensor<2x2xf32>
  }
}

// -----

// 65 steps that every element of a result would compute again.

#id = affine_map<(i) -> (i)>
#sum = affine_map<(k) -> (k)>
#none = affine_map<(k) -> ()>
#scalar = affine_map<(i) -> ()>
rt.variant @repeated target "sm_80" {
  func.func @main(%x: tensor<65xf32>) -> tensor<65xf32> {
    %e = tensor.empty() : tensor<65xf32>
    // expected-error @+1 {{schedule 'map' cannot compute this dispatch}}
    %y = kernel.dispatch ins(%x : tensor<65xf32>) outs(%e : tensor<65xf32>) schedule <"map", {flat = true, threads = 64 : i64, vector = 1 : i64}> {
    ^bb0(%a: tensor<65xf32>, %o: tensor<65xf32>):
      %zero = arith.constant 0.0 : f32
      %s = tensor.empty() : tensor<f32>
      %f = linalg.fill ins(%zero : f32) outs(%s : tensor<f32>) -> tensor<f32>
      %t = linalg.generic {indexing_maps = [#sum, #none], iterator_types = ["reduction"]}
          ins(%a : tensor<65xf32>) outs(%f : tensor<f32>) {
      ^bb0(%av: f32, %acc: f32):
        %n = arith.addf %acc, %av : f32
        linalg.yield %n : f32
      } -> tensor<f32>
      %g = linalg.generic {indexing_maps = [#id, #scalar, #id], iterator_types = ["parallel"]}
          ins(%a, %t : tensor<65xf32>, tensor<f32>) outs(%o : tensor<65xf32>) {
      ^bb0(%av: f32, %tv: f32, %ov: f32):
        %n = arith.divf %av, %tv : f32
        linalg.yield %n : f32
      } -> tensor<65xf32>
      kernel.yield %g : tensor<65xf32>
    } -> tensor<65xf32>
    return %y : tensor<65xf32>
  }
}
