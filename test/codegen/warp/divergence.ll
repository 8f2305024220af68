; What is known of each value, and which blocks lanes may reach at different times.
;
; RUN: cameo-sim-opt -passes='print<cameo-warp-divergence>' %s -o /dev/null 2>&1 | FileCheck %s

declare i32 @cameo.lane() convergent memory(none)

; CHECK-LABEL: divergence of shapes:
; CHECK-NEXT:  %entry:
; CHECK-NEXT:    %lane: affine, multiple of 2^31 + 0 1 2 3 {{.*}} 31
; CHECK-NEXT:    %double: affine, multiple of 2^32 + 0 2 4 6
; CHECK-NEXT:    %warp: uniform
; CHECK-NEXT:    %tile: uniform
; CHECK-NEXT:    %first: uniform
; CHECK-NEXT:    %thread.x: affine, multiple of 2^5 + 0 1 2
; CHECK-NEXT:    %number: uniform
; CHECK-NEXT:    %even: affine, multiple of 2^31 + 0 1 0 1
; CHECK-NEXT:    %square: divergent
; CHECK-NEXT:    %whole: uniform
; CHECK-NEXT:    %few: divergent
; CHECK-NEXT:  %then: in a divergent region
; CHECK-NEXT:    %inner: uniform
; CHECK-NEXT:  %join:
; CHECK-NEXT:    %joined: divergent
define void @shapes(ptr %thread, ptr %out, i32 %n) {
entry:
  %lane = call i32 @cameo.lane()
  %double = shl i32 %lane, 1
  %warp = load i32, ptr %thread
  %tile = and i32 %warp, 3
  %first = shl i32 %warp, 5
  %thread.x = add i32 %first, %lane
  %number = lshr i32 %thread.x, 5
  %even = and i32 %lane, 1
  %square = mul i32 %lane, %lane
  %whole = icmp ult i32 %thread.x, 64
  %few = icmp ult i32 %thread.x, 7
  br i1 %few, label %then, label %join
then:
  %inner = add i32 %n, 1
  br label %join
join:
  %joined = phi i32 [ 0, %entry ], [ %inner, %then ]
  ret void
}

; Where all lanes take the same way, they meet with the same.
; CHECK-LABEL: divergence of together:
; CHECK:       %then:
; CHECK:         %joined: uniform
define void @together(ptr %thread, i32 %n) {
entry:
  %lane = call i32 @cameo.lane()
  %c = icmp eq i32 %n, 3
  br i1 %c, label %then, label %join
then:
  br label %join
join:
  %joined = phi i32 [ 0, %entry ], [ %n, %then ]
  ret void
}

; CHECK-LABEL: divergence of endless:
; CHECK-NEXT:    problem: lanes that take different ways do not meet again
define void @endless(ptr %thread) {
entry:
  %lane = call i32 @cameo.lane()
  %c = icmp eq i32 %lane, 3
  br i1 %c, label %left, label %right
left:
  br label %left
right:
  br label %right
}
