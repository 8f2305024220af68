; A loop that lanes leave at different times goes on while a vote says that any lane does.
;
; RUN: cameo-sim-opt -passes=cameo-warp-predicate-loops %s | FileCheck %s

declare i32 @cameo.lane() convergent memory(none)

; CHECK-LABEL: define void @trips(ptr %thread, ptr %data)
; CHECK-SAME:    [[PREDICATED:#[0-9]+]]
; CHECK:         %way{{[0-9]*}} = alloca [32 x i32]
; CHECK:       head:
; CHECK:         [[ON:%.*]] = icmp eq i32 %{{.*}}, 0
; CHECK:         br i1 [[ON]], label %loop, label %next
; CHECK:       next:
; CHECK:         [[ANY:%.*]] = call i32 %{{.*}}(ptr %thread, i32 0, i32 -1, i32 %{{.*}}, i32 0)
; CHECK:         [[GOES:%.*]] = icmp ne i32 [[ANY]], 0
; CHECK:         br i1 [[GOES]], label %head, label %dispatch
define void @trips(ptr %thread, ptr %data) "cameo-warp" {
entry:
  %lane = call i32 @cameo.lane()
  %place = getelementptr i32, ptr %data, i32 %lane
  %count = load i32, ptr %place
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next.i, %loop ]
  %to = getelementptr i32, ptr %place, i32 %i
  store i32 %i, ptr %to
  %next.i = add i32 %i, 1
  %more = icmp ult i32 %next.i, %count
  br i1 %more, label %loop, label %done
done:
  ret void
}

; All lanes run the same rounds: nothing to do.
; CHECK-LABEL: define void @same
; CHECK-NOT:     alloca
; CHECK:         ret void
define void @same(ptr %thread, ptr %data, i32 %count) "cameo-warp" {
entry:
  %lane = call i32 @cameo.lane()
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next.i, %loop ]
  %to = getelementptr i32, ptr %data, i32 %i
  store i32 %i, ptr %to
  %next.i = add i32 %i, 1
  %more = icmp ult i32 %next.i, %count
  br i1 %more, label %loop, label %done
done:
  ret void
}

; Atomics run lane by lane, whatever the loop looks like.
; CHECK-LABEL: define void @atomic
; CHECK-NOT:     alloca
; CHECK:         ret void
define void @atomic(ptr %thread, ptr %data) "cameo-warp" {
entry:
  %lane = call i32 @cameo.lane()
  %place = getelementptr i32, ptr %data, i32 %lane
  %count = load i32, ptr %place
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next.i, %loop ]
  %old = atomicrmw add ptr %data, i32 1 monotonic
  %next.i = add i32 %i, 1
  %more = icmp ult i32 %next.i, %count
  br i1 %more, label %loop, label %done
done:
  ret void
}

; CHECK-LABEL: define void @not_wanted
; CHECK-NOT:     alloca
; CHECK:         ret void
define void @not_wanted(ptr %thread, ptr %data) "cameo-warp" "cameo-warp-no-predication" {
entry:
  %lane = call i32 @cameo.lane()
  %place = getelementptr i32, ptr %data, i32 %lane
  %count = load i32, ptr %place
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next.i, %loop ]
  %to = getelementptr i32, ptr %place, i32 %i
  store i32 %i, ptr %to
  %next.i = add i32 %i, 1
  %more = icmp ult i32 %next.i, %count
  br i1 %more, label %loop, label %done
done:
  ret void
}

; CHECK: attributes [[PREDICATED]] = { {{.*}}"cameo-warp-predicated"
