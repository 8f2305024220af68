// Each thread: a polynomial of its number, with one load and one multiply-add a step.
#global = #gpu.address_space<global>
gpu.module @multiply attributes {kernel.index_bits = 32 : i32} {
  gpu.func @multiply(%a: memref<?xf32, #global> {llvm.noalias}, %o: memref<?xf32, #global> {llvm.noalias}, %n: index)
      kernel attributes {kernel.block = array<i32: 128, 1, 1>, kernel.no_sync} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %t = gpu.thread_id x
    %i32 = arith.index_cast %t : index to i32
    %x = arith.sitofp %i32 : i32 to f32
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%s = %zero) -> f32 {
      %v = memref.load %a[%k] : memref<?xf32, #global>
      %next = math.fma %s, %x, %v : f32
      scf.yield %next : f32
    }
    memref.store %sum, %o[%t] : memref<?xf32, #global>
    gpu.return
  }
}
