// A model of the tiled stage with one kernel: y = x + 3 w, z = y, s = shape of x.
rt.constant @w = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
rt.constant @unused = dense<2.0> : tensor<4xf32>
rt.variant @sm_80 target "sm_80" {
  gpu.module @add attributes {kernel.index_bits = 32 : i32} {
    gpu.func @add(%a: memref<?xf32, #gpu.address_space<global>> {llvm.noalias}, %b: memref<?xf32, #gpu.address_space<global>> {llvm.noalias}, %o: memref<?xf32, #gpu.address_space<global>> {llvm.noalias}, %n: index) kernel attributes {kernel.block = array<i32: 128, 1, 1>, kernel.no_sync, kernel.nodes = "add0"} {
      %t = gpu.thread_id x
      %b0 = gpu.block_id x
      %c128 = arith.constant 128 : index
      %c4 = arith.constant 4 : index
      %s = arith.muli %b0, %c128 : index
      %i = arith.addi %s, %t : index
      %in = arith.cmpi slt, %i, %n : index
      scf.if %in {
        %x = memref.load %a[%i] : memref<?xf32, #gpu.address_space<global>>
        %j = arith.remsi %i, %c4 : index
        %y = memref.load %b[%j] : memref<?xf32, #gpu.address_space<global>>
        %z = arith.addf %x, %y : f32
        memref.store %z, %o[%i] : memref<?xf32, #gpu.address_space<global>>
      }
      gpu.return
    }
  }
  func.func @main(%x: tensor<?x4xf32> {onnx.name = "x", onnx.dims = ["N", 4], onnx.type = f32}) -> (tensor<?x4xf32> {onnx.name = "y", onnx.dims = ["N", 4], onnx.type = f32}, tensor<?x4xf32> {onnx.name = "z"}, tensor<2xi64> {onnx.name = "s"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c128 = arith.constant 128 : index
    %n = tensor.dim %x, %c0 : tensor<?x4xf32>
    %total = arith.muli %n, %c4 : index
    %g = arith.ceildivsi %total, %c128 : index
    %w = rt.get_constant @w : tensor<4xf32>
    %e = tensor.empty(%n) : tensor<?x4xf32>
    %a = rt.launch @add::@add grid(%g, %c1, %c1) args(%x, %w, %e, %total : tensor<?x4xf32>, tensor<4xf32>, tensor<?x4xf32>, index) writes [2] -> tensor<?x4xf32>
    %b = rt.launch @add::@add grid(%g, %c1, %c1) args(%a, %w, %e, %total : tensor<?x4xf32>, tensor<4xf32>, tensor<?x4xf32>, index) writes [2] -> tensor<?x4xf32>
    %c = rt.launch @add::@add grid(%g, %c1, %c1) args(%b, %w, %e, %total : tensor<?x4xf32>, tensor<4xf32>, tensor<?x4xf32>, index) writes [2] -> tensor<?x4xf32>
    %s = rt.from_scalars %n, %c4 : index, index -> tensor<2xi64>
    return %c, %c, %s : tensor<?x4xf32>, tensor<?x4xf32>, tensor<2xi64>
  }
}
