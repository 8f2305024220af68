; Why a kernel cannot be vectorised stands on it.
;
; RUN: cameo-sim-opt -passes=cameo-warp-verify-collectives %s | FileCheck %s

declare i32 @cameo.lane() convergent memory(none)

; CHECK: define void @whole(ptr %thread, i32 %n) [[FINE:#[0-9]+]]
define void @whole(ptr %thread, i32 %n) "cameo-warp" {
  %lane = call i32 @cameo.lane()
  %api = load ptr, ptr %thread
  %at = getelementptr i8, ptr %api, i64 8
  %barrier = load ptr, ptr %at
  call void %barrier(ptr %thread, i32 %n, i32 64, i32 5)
  ret void
}

; CHECK: define void @parted(ptr %thread) [[PARTED:#[0-9]+]]
define void @parted(ptr %thread) "cameo-warp" {
entry:
  %lane = call i32 @cameo.lane()
  %api = load ptr, ptr %thread
  %at = getelementptr i8, ptr %api, i64 8
  %barrier = load ptr, ptr %at
  %c = icmp ult i32 %lane, 7
  br i1 %c, label %then, label %done
then:
  call void %barrier(ptr %thread, i32 0, i32 0, i32 5)
  br label %done
done:
  ret void
}

; CHECK: define void @half(ptr %thread) [[HALF:#[0-9]+]]
define void @half(ptr %thread) "cameo-warp" {
  %lane = call i32 @cameo.lane()
  %api = load ptr, ptr %thread
  %at = getelementptr i8, ptr %api, i64 32
  %sync = load ptr, ptr %at
  call void %sync(ptr %thread, i32 65535, i32 5)
  ret void
}

; CHECK: define void @others(ptr %thread) [[OTHERS:#[0-9]+]]
define void @others(ptr %thread) "cameo-warp" {
  %lane = call i32 @cameo.lane()
  %api = load ptr, ptr %thread
  %at = getelementptr i8, ptr %api, i64 8
  %barrier = load ptr, ptr %at
  call void %barrier(ptr %thread, i32 %lane, i32 64, i32 5)
  ret void
}

; Whoever makes the next copy learns from the variable that lanes have to wait each for itself.
; CHECK: define void @waits(ptr %thread) [[WAITS:#[0-9]+]]
; CHECK:   %words = alloca [4 x i32], align 4, !cameo.wait.parted
define void @waits(ptr %thread) "cameo-warp" {
  %words = alloca [4 x i32]
  %lane = call i32 @cameo.lane()
  %api = load ptr, ptr %thread
  %at = getelementptr i8, ptr %api, i64 56
  %collective = load ptr, ptr %at
  store i32 %lane, ptr %words
  call void %collective(ptr %thread, i64 19, i32 -1, ptr %words, i32 0)
  ret void
}

; CHECK: define void @waits_as_one(ptr %thread) [[FINE]]
define void @waits_as_one(ptr %thread) "cameo-warp" {
  %words = alloca [4 x i32]
  %lane = call i32 @cameo.lane()
  %api = load ptr, ptr %thread
  %at = getelementptr i8, ptr %api, i64 56
  %collective = load ptr, ptr %at
  store i32 1, ptr %words
  call void %collective(ptr %thread, i64 19, i32 -1, ptr %words, i32 0)
  ret void
}

; CHECK: attributes [[FINE]] = { "cameo-warp" }
; CHECK: attributes [[PARTED]] = { {{.*}}"cameo-warp-problem"="lanes may reach a barrier or collective operation at different times"
; CHECK: attributes [[HALF]] = { {{.*}}"cameo-warp-problem"="a collective operation is for a part of the warp"
; CHECK: attributes [[OTHERS]] = { {{.*}}"cameo-warp-problem"="lanes may name different barriers"
; CHECK: attributes [[WAITS]] = { {{.*}}"cameo-warp-problem"="lanes may wait for different mbarriers or phases"
