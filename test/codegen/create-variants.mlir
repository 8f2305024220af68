// RUN: %cameo-opt --cameo-create-variants="targets=sm_90,sim:sm_80" %s | FileCheck %s
// RUN: %cameo-opt --cameo-create-variants="targets=sim:sm_80:a30" %s | FileCheck %s --check-prefix=BOARD
// BOARD: rt.variant @sm_80 target "sm_80" board "a30"
// RUN: not %cameo-opt --cameo-create-variants="targets=sm_1" %s 2>&1 | FileCheck %s --check-prefix=ERROR
// ERROR: error: unknown GPU architecture 'sm_1'
// Where there is no function, there is nothing to do.
// RUN: %cameo-opt --cameo-create-variants --cameo-create-variants %s | grep -c rt.variant | grep -x 1

// CHECK: rt.constant @w
// CHECK-NOT: func.func
// CHECK: rt.variant @sm_80 target "sm_80" board "a100-40"
// CHECK-NEXT: func.func @main
// CHECK-NEXT: rt.get_constant @w
// CHECK: rt.variant @sm_90 target "sm_90" board "h100-sxm"
// CHECK-NEXT: func.func @main
rt.constant @w = dense<1.0> : tensor<4xf32>
func.func @main() -> tensor<4xf32> {
  %w = rt.get_constant @w : tensor<4xf32>
  return %w : tensor<4xf32>
}
