// Three launches of y[i] = x[i] + x[AT], the second of them in place. AT is what the test puts there.
rt.variant @sm_80 target "sm_80" {
  gpu.module @twice attributes {kernel.index_bits = 32 : i32} {
    gpu.func @twice(%x: memref<?xf32, #gpu.address_space<global>>, %y: memref<?xf32, #gpu.address_space<global>>) kernel attributes {kernel.block = array<i32: 128, 1, 1>, kernel.no_sync, kernel.nodes = "twice"} {
      %t = gpu.thread_id x
      %b = gpu.block_id x
      %c1 = arith.constant 1 : index
      %c128 = arith.constant 128 : index
      %c512 = arith.constant 512 : index
      %s = arith.muli %b, %c128 : index
      %i = arith.addi %s, %t : index
      %after = arith.addi %i, %c1 : index
      %next = arith.remui %after, %c512 : index
      %v = memref.load %x[%i] : memref<?xf32, #gpu.address_space<global>>
      %w = memref.load %x[AT] : memref<?xf32, #gpu.address_space<global>>
      %z = arith.addf %v, %w : f32
      memref.store %z, %y[%i] : memref<?xf32, #gpu.address_space<global>>
      gpu.return
    }
  }
  func.func @main(%x: tensor<512xf32> {onnx.name = "x"}) -> (tensor<512xf32> {onnx.name = "y"}) {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %e = tensor.empty() : tensor<512xf32>
    %a = rt.launch @twice::@twice grid(%c4, %c1, %c1) args(%x, %e : tensor<512xf32>, tensor<512xf32>) writes [1] -> tensor<512xf32>
    %b = rt.launch @twice::@twice grid(%c4, %c1, %c1) args(%a, %e : tensor<512xf32>, tensor<512xf32>) writes [1] {rt.in_place = array<i64: 1, 0>} -> tensor<512xf32>
    %c = rt.launch @twice::@twice grid(%c4, %c1, %c1) args(%b, %e : tensor<512xf32>, tensor<512xf32>) writes [1] -> tensor<512xf32>
    return %c : tensor<512xf32>
  }
}
