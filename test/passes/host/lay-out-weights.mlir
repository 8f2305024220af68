// RUN: %cameo-opt --split-input-file --cameo-lay-out-weights %s | FileCheck %s
// RUN: %cameo-opt --split-input-file --cameo-lay-out-weights --cameo-lay-out-weights %s | FileCheck %s

// CHECK: rt.constant @first = dense<[1, 2]> : tensor<2xi64> at 0
rt.constant @first = dense<[1, 2]> : tensor<2xi64>
// CHECK: rt.constant @second = dense<3.000000e+00> : tensor<65xf32> at 256
rt.constant @second = dense<3.0> : tensor<65xf32>
// Equal contents of another type.
// CHECK: rt.constant @again = dense<[1, 0, 2, 0]> : tensor<4xi32> at 0
rt.constant @again = dense<[1, 0, 2, 0]> : tensor<4xi32>
// 260 bytes take two units. What repeats the same is where the longest of it begins.
// CHECK: rt.constant @third = dense<3.000000e+00> : tensor<64xf32> at 256
rt.constant @third = dense<3.0> : tensor<64xf32>
// CHECK: rt.constant @short = dense<0> : tensor<2xi64> at 768
rt.constant @short = dense<0> : tensor<2xi64>
// CHECK: rt.constant @long = dense<0.000000e+00> : tensor<65xf32> at 768
rt.constant @long = dense<0.0> : tensor<65xf32>
// CHECK: rt.constant @flags = dense<[true, false, true]> : tensor<3xi1> at 1280
rt.constant @flags = dense<[true, false, true]> : tensor<3xi1>
// CHECK-NOT: @unused
rt.constant @unused = dense<7> : tensor<8xi32>
rt.variant @v target "sm_80" {
  func.func @main() {
    %0 = rt.get_constant @first : tensor<2xi64>
    %1 = rt.get_constant @second : tensor<65xf32>
    %2 = rt.get_constant @again : tensor<4xi32>
    %3 = rt.get_constant @third : tensor<64xf32>
    %4 = rt.get_constant @flags : tensor<3xi1>
    %5 = rt.get_constant @short : tensor<2xi64>
    %6 = rt.get_constant @long : tensor<65xf32>
    return
  }
}
