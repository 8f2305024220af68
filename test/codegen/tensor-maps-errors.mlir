// Parameters by value that the simulator does not take.
//
// RUN: not cameo-translate --kernel-to-sim-image %s -o %t.so 2>&1 | FileCheck %s

gpu.module @size {
  // CHECK: tensor-maps-errors.mlir":[[#@LINE+1]]:{{.*}}: kernel size: parameter 0 is 64 B by value; the simulator takes tensor maps so, 128 B that are grid_constant
  llvm.func @size(%a: !llvm.ptr {llvm.byval = !llvm.array<64 x i8>, llvm.align = 64 : i64, nvvm.grid_constant}) attributes {nvvm.kernel} {
    llvm.return
  }
}

gpu.module @copy {
  // CHECK: tensor-maps-errors.mlir":[[#@LINE+1]]:{{.*}}: kernel copy: parameter 1 is 128 B by value, not grid_constant; the simulator takes tensor maps so
  llvm.func @copy(%n: i32, %a: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64}) attributes {nvvm.kernel} {
    llvm.return
  }
}

gpu.module @number {
  // CHECK: tensor-maps-errors.mlir":[[#@LINE+1]]:{{.*}}: kernel number: parameter 32 is a tensor map; the simulator takes them among the first 32 parameters
  llvm.func @number(%p0: i32, %p1: i32, %p2: i32, %p3: i32, %p4: i32, %p5: i32, %p6: i32, %p7: i32, %p8: i32, %p9: i32, %p10: i32, %p11: i32, %p12: i32, %p13: i32, %p14: i32, %p15: i32, %p16: i32, %p17: i32, %p18: i32, %p19: i32, %p20: i32, %p21: i32, %p22: i32, %p23: i32, %p24: i32, %p25: i32, %p26: i32, %p27: i32, %p28: i32, %p29: i32, %p30: i32, %p31: i32, %a: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant}) attributes {nvvm.kernel} {
    llvm.return
  }
}
