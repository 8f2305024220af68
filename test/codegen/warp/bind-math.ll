; Functions of libdevice are the engine's, which may be moved like arithmetic.
;
; RUN: cameo-sim-opt -passes=cameo-sim-bind-math %s | FileCheck %s
; RUN: echo 'declare float @__nv_unheardf(float)' > %t.ll
; RUN: not cameo-sim-opt -passes=cameo-sim-bind-math %t.ll 2>&1 | FileCheck %s --check-prefix=ERROR

; ERROR: error: the simulator has no function __nv_unheardf

declare float @__nv_expf(float)
declare float @llvm.fabs.f32(float)

; CHECK-LABEL: define float @exponential
; CHECK:         [[API:%.*]] = load ptr, ptr {{.*}}, !invariant.load
; CHECK:         [[AT:%.*]] = getelementptr i8, ptr [[API]], i64 {{[0-9]+}}
; CHECK:         [[EXP:%.*]] = load ptr, ptr [[AT]]{{.*}}, !invariant.load
; CHECK:         call float [[EXP]](float %x) [[PURE:#[0-9]+]]
; LLVM's own functions stay.
; CHECK:         call float @llvm.fabs.f32(
; CHECK:       attributes [[PURE]] = { nounwind willreturn memory(none) }
define float @exponential(ptr %thread, float %x) {
  %e = call float @__nv_expf(float %x)
  %a = call float @llvm.fabs.f32(float %e)
  ret float %a
}
