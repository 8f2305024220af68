// A model of the tiled stage with an instruction of the GPU in its kernel: y = 2^x.
rt.variant @sm_80 target "sm_80" {
  gpu.module @power attributes {kernel.index_bits = 32 : i32} {
    gpu.func @power(%a: memref<?xf32, #gpu.address_space<global>> {llvm.noalias}, %o: memref<?xf32, #gpu.address_space<global>> {llvm.noalias}, %n: index) kernel attributes {kernel.block = array<i32: 128, 1, 1>, kernel.no_sync, kernel.nodes = "power"} {
      %i = gpu.thread_id x
      %in = arith.cmpi slt, %i, %n : index
      scf.if %in {
        %x = memref.load %a[%i] : memref<?xf32, #gpu.address_space<global>>
        %y = kernel.ptx "ex2.approx.ftz.f32"(%x) : (f32) -> f32
        memref.store %y, %o[%i] : memref<?xf32, #gpu.address_space<global>>
      }
      gpu.return
    }
  }
  func.func @main(%x: tensor<4xf32> {onnx.name = "x", onnx.dims = [4], onnx.type = f32}) -> (tensor<4xf32> {onnx.name = "y", onnx.dims = [4], onnx.type = f32}) {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %e = tensor.empty() : tensor<4xf32>
    %y = rt.launch @power::@power grid(%c1, %c1, %c1) args(%x, %e, %c4 : tensor<4xf32>, tensor<4xf32>, index) writes [1] -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
}
