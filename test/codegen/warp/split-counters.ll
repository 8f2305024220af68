; A counter that starts at a number of the lane's own is that number and a counter of the warp.
;
; RUN: cameo-sim-opt -passes=cameo-warp-split-counters %s | FileCheck %s

declare i32 @cameo.lane() convergent memory(none)

; CHECK-LABEL: define void @strided
; CHECK:       loop:
; CHECK-NEXT:    [[TURN:%.*]] = phi i32 [ 0, %entry ], [ [[NEXT:%.*]], %loop ]
; CHECK-NEXT:    [[OWN:%.*]] = add i32 %lane, [[TURN]]
; CHECK:         getelementptr float, ptr %data, i32 [[OWN]]
; CHECK:         [[NEXT]] = add i32 [[TURN]], 32
define void @strided(ptr %thread, ptr %data) "cameo-warp" {
entry:
  %lane = call i32 @cameo.lane()
  br label %loop
loop:
  %i = phi i32 [ %lane, %entry ], [ %next, %loop ]
  %place = getelementptr float, ptr %data, i32 %i
  store float 0.0, ptr %place
  %next = add i32 %i, 32
  %more = icmp ult i32 %next, 100
  br i1 %more, label %loop, label %done
done:
  ret void
}

; A step of the lane's own; and a counter that is all lanes' already.
; CHECK-LABEL: define void @own_step
; CHECK:         %i = phi i32
; CHECK:         %j = phi i32
define void @own_step(ptr %thread, ptr %data) "cameo-warp" {
entry:
  %lane = call i32 @cameo.lane()
  br label %loop
loop:
  %i = phi i32 [ %lane, %entry ], [ %next, %loop ]
  %j = phi i32 [ 0, %entry ], [ %after, %loop ]
  %place = getelementptr float, ptr %data, i32 %i
  store float 0.0, ptr %place
  %next = add i32 %i, %lane
  %after = add i32 %j, 1
  %more = icmp ult i32 %after, 100
  br i1 %more, label %loop, label %done
done:
  ret void
}

; CHECK-LABEL: define void @not_wanted
; CHECK:         %i = phi i32 [ %lane, %entry ]
define void @not_wanted(ptr %thread, ptr %data) "cameo-warp" "cameo-warp-no-predication" {
entry:
  %lane = call i32 @cameo.lane()
  br label %loop
loop:
  %i = phi i32 [ %lane, %entry ], [ %next, %loop ]
  %place = getelementptr float, ptr %data, i32 %i
  store float 0.0, ptr %place
  %next = add i32 %i, 32
  %more = icmp ult i32 %next, 100
  br i1 %more, label %loop, label %done
done:
  ret void
}
