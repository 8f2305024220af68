// Conversions to and from floats of 8 bits: instructions from sm_89 on, arithmetic on bits before.
//
// RUN: cameo-translate --kernel-to-ptx --arch=sm_89 %s | FileCheck %s --check-prefixes=PTX
// RUN: not cameo-translate --kernel-to-ptx --arch=sm_86 %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=LACKS

gpu.module @float8 {
  // PTX-LABEL: .entry convert(
  llvm.func @convert(%y: !llvm.ptr<1>, %a: f32, %b: f32, %p: i16) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32, 1, 1>} {
    // PTX: cvt.rn.satfinite.e4m3x2.f32 %rs{{[0-9]+}}, %f{{[0-9]+}}, %f{{[0-9]+}};
    // LACKS: kernel convert: cvt.rn.satfinite.e4m3x2.f32 needs sm_89 and PTX 8.1; the kernel is for sm_86
    %0 = kernel.ptx "cvt.rn.satfinite.e4m3x2.f32"(%a, %b) : (f32, f32) -> i16
    llvm.store volatile %0, %y : i16, !llvm.ptr<1>
    // PTX: cvt.rn.satfinite.e5m2x2.f32
    %1 = kernel.ptx "cvt.rn.satfinite.e5m2x2.f32"(%a, %b) : (f32, f32) -> i16
    llvm.store volatile %1, %y : i16, !llvm.ptr<1>
    // PTX: cvt.rn.f16x2.e4m3x2 %r{{[0-9]+}}, %rs{{[0-9]+}};
    %2 = kernel.ptx "cvt.rn.f16x2.e4m3x2"(%p) : (i16) -> i32
    llvm.store volatile %2, %y : i32, !llvm.ptr<1>
    // PTX: cvt.rn.satfinite.e5m2x2.f16x2 %rs{{[0-9]+}}, %r{{[0-9]+}};
    %3 = kernel.ptx "cvt.rn.satfinite.e5m2x2.f16x2"(%2) : (i32) -> i16
    llvm.store volatile %3, %y : i16, !llvm.ptr<1>
    llvm.return
  }
}
