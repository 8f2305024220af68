; Kernels get a vectorised form in place of themselves, or a reason why they have none.
;
; RUN: cameo-sim-opt -passes=cameo-form-warps -verify-each %s | FileCheck %s
; RUN: cameo-sim-opt -passes='cameo-form-warps<keep-scalar>' %s | FileCheck %s --check-prefix=BOTH
; RUN: cameo-sim-opt -passes=cameo-form-warps --print-changed=quiet %s -o /dev/null 2>&1 \
; RUN:     | FileCheck %s --check-prefix=CHANGES

; What each step changes can be looked at.
; CHANGES:     *** IR Dump After cameo::SpreadLanesPass on stored$warp ***
; CHANGES-NOT: VerifyCollectives
; CHANGES:     *** IR Dump After cameo::LoopOverLanesPass on stored$warp ***
; CHANGES:     *** IR Dump After cameo::VerifyCollectivesPass on parted$warp ***

; CHECK-NOT: define void @stored(
; BOTH:      define void @stored(
define void @stored(ptr %thread, ptr %out) "cameo-warp-block"="64,1,1" {
  %tid.at = getelementptr i8, ptr %thread, i64 16
  %tid = load i32, ptr %tid.at
  %place = getelementptr i32, ptr %out, i32 %tid
  store i32 %tid, ptr %place
  ret void
}

; Some lanes come to the barrier: there is the scalar form only.
; CHECK: define void @parted(ptr %thread) [[PARTED:#[0-9]+]]
; CHECK-NOT: parted$warp
; BOTH-NOT:  parted$warp
define void @parted(ptr %thread) "cameo-warp-block"="64,1,1" {
entry:
  %api = load ptr, ptr %thread
  %at = getelementptr i8, ptr %api, i64 8
  %barrier = load ptr, ptr %at
  %tid.at = getelementptr i8, ptr %thread, i64 16
  %tid = load i32, ptr %tid.at
  %c = icmp ult i32 %tid, 7
  br i1 %c, label %then, label %done
then:
  call void %barrier(ptr %thread, i32 0, i32 0, i32 5)
  br label %done
done:
  ret void
}

; Lanes that wait for different mbarriers wait each for itself, in a second copy. What the first has found is gone.
; CHECK-NOT: define void @waits(
; BOTH:      define void @waits(
; BOTH-NEXT:   %words = alloca [4 x i32], align 4{{$}}
define void @waits(ptr %thread) "cameo-warp-block"="64,1,1" {
  %words = alloca [4 x i32]
  %api = load ptr, ptr %thread, !invariant.load !0
  %at = getelementptr i8, ptr %api, i64 56
  %collective = load ptr, ptr %at, !invariant.load !0
  %tid.at = getelementptr i8, ptr %thread, i64 16
  %tid = load i32, ptr %tid.at
  store i32 %tid, ptr %words
  call void %collective(ptr %thread, i64 19, i32 -1, ptr %words, i32 0)
  ret void
}

; What is no kernel stays.
; CHECK: define void @helper(
define void @helper(ptr %data) {
  store i32 1, ptr %data
  ret void
}

; CHECK: define void @"stored$warp"(
; CHECK: define void @"waits$warp"(
; CHECK:   call void %collective(ptr %{{[0-9]+}}, i64 19,
; CHECK: attributes [[PARTED]] = { {{.*}}"cameo-warp-problem"="lanes may reach a barrier or collective operation at different times"

!0 = !{}
