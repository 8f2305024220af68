; Checks of accesses that all lanes come by are one call before the first of them.
;
; RUN: cameo-sim-opt -passes=cameo-warp-group-checks %s | FileCheck %s

declare i32 @cameo.lane() convergent memory(none)

; Two accesses of one row of addresses, and a table that says which they are: the second is 128 bytes on.
; CHECK:       @accesses = private constant [2 x
; CHECK-SAME:    i32 0, i32 -1, i32 0 },
; CHECK-SAME:    i32 0, i32 -1, i32 128 }]

; CHECK-LABEL: define void @grouped
; CHECK:         %addresses = alloca [32 x ptr]
; CHECK:         %allowed = alloca [64 x ptr]
; CHECK:         [[FOUND:%.*]] = call i32 %{{.*}}(ptr %thread, ptr @accesses, i32 2, ptr %addresses, ptr null, ptr %allowed)
; CHECK:         [[FAULTY:%.*]] = icmp ne i32 [[FOUND]], 0
; CHECK-NOT:     call ptr %access
; CHECK:         [[FIRST:%.*]] = call ptr @cameo.checked(ptr %place, i1 [[FAULTY]], ptr
; CHECK:         load i32, ptr [[FIRST]]
; CHECK:         call ptr @cameo.checked(ptr %behind, i1 [[FAULTY]], ptr
define void @grouped(ptr %thread, ptr %data) "cameo-warp" {
  %lane = call i32 @cameo.lane()
  %api = load ptr, ptr %thread
  %at = getelementptr i8, ptr %api, i64 40
  %access = load ptr, ptr %at
  %place = getelementptr i32, ptr %data, i32 %lane
  %p = call ptr %access(ptr %thread, ptr %place, i32 4, i32 4, i32 1, i32 0, i32 0)
  %v = load i32, ptr %p
  %behind = getelementptr i8, ptr %place, i64 128
  %q = call ptr %access(ptr %thread, ptr %behind, i32 4, i32 4, i32 1, i32 0, i32 1)
  %w = load i32, ptr %q
  ret void
}

; An address that is loaded behind the first check is not known there: a call of its own. None moves past a
; barrier.
; CHECK-LABEL: define void @apart
; CHECK:         call i32 %{{.*}}(ptr %thread, ptr @accesses.{{[0-9]+}}, i32 1,
; CHECK:         call i32 %{{.*}}(ptr %thread, ptr @accesses.{{[0-9]+}}, i32 1,
; CHECK:         call void %barrier
; CHECK:         call i32 %{{.*}}(ptr %thread, ptr @accesses.{{[0-9]+}}, i32 1,
define void @apart(ptr %thread, ptr %data) "cameo-warp" {
  %lane = call i32 @cameo.lane()
  %api = load ptr, ptr %thread
  %at = getelementptr i8, ptr %api, i64 40
  %access = load ptr, ptr %at
  %barrier.at = getelementptr i8, ptr %api, i64 8
  %barrier = load ptr, ptr %barrier.at
  %place = getelementptr ptr, ptr %data, i32 %lane
  %p = call ptr %access(ptr %thread, ptr %place, i32 8, i32 8, i32 1, i32 0, i32 0)
  %v = load ptr, ptr %p
  %q = call ptr %access(ptr %thread, ptr %v, i32 4, i32 4, i32 1, i32 0, i32 1)
  %w = load i32, ptr %q
  call void %barrier(ptr %thread, i32 0, i32 0, i32 5)
  %r = call ptr %access(ptr %thread, ptr %place, i32 8, i32 8, i32 1, i32 0, i32 2)
  %x = load ptr, ptr %r
  ret void
}

; In a loop that lanes run by themselves accesses are checked one by one.
; CHECK-LABEL: define void @own_loop
; CHECK:         call ptr %access(
define void @own_loop(ptr %thread, ptr %data) "cameo-warp" {
entry:
  %lane = call i32 @cameo.lane()
  %api = load ptr, ptr %thread
  %at = getelementptr i8, ptr %api, i64 40
  %access = load ptr, ptr %at
  %count = mul i32 %lane, %lane
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %place = getelementptr i32, ptr %data, i32 %i
  %p = call ptr %access(ptr %thread, ptr %place, i32 4, i32 4, i32 1, i32 0, i32 0)
  store i32 %i, ptr %p
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, %count
  br i1 %more, label %loop, label %done
done:
  ret void
}
