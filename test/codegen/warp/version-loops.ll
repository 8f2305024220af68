; A lane loop with checked addresses runs as if there were no checks, or, where one is faulty, in a version of
; its own.
;
; RUN: cameo-sim-opt -passes=cameo-warp-version-loops %s | FileCheck %s

declare ptr @cameo.checked(ptr, i1, ptr) memory(none)

; CHECK-LABEL: define void @versioned
; CHECK:         br label %checked
; CHECK:       checked:
; CHECK:         [[ANY:%.*]] = or i1 %faulty, %other
; CHECK:         br i1 [[ANY]], label %lanes.faulty, label %lanes
; CHECK:       lanes:
; CHECK:         load i32, ptr %place
; CHECK:         load i32, ptr %next.place
; CHECK:         br i1 %last, label %exit, label %lanes, !llvm.loop [[LOOP:![0-9]+]]
; CHECK:       lanes.faulty:
; CHECK:         call ptr @cameo.checked(ptr %place.faulty, i1 %faulty, ptr %allowed)
; CHECK:         call ptr @cameo.checked(ptr %next.place.faulty, i1 %other, ptr %allowed)
; CHECK:         br i1 %last.faulty, label %exit, label %lanes.faulty, !llvm.loop [[FAULTY:![0-9]+]]
define void @versioned(ptr %data, i1 %faulty, i1 %other, ptr %allowed) "cameo-warp" {
entry:
  br label %lanes
lanes:
  %turn = phi i32 [ 0, %entry ], [ %next, %lanes ]
  %place = getelementptr i32, ptr %data, i32 %turn
  %p = call ptr @cameo.checked(ptr %place, i1 %faulty, ptr %allowed)
  %v = load i32, ptr %p
  %next.place = getelementptr i8, ptr %place, i64 128
  %q = call ptr @cameo.checked(ptr %next.place, i1 %other, ptr %allowed)
  %w = load i32, ptr %q
  %next = add i32 %turn, 1
  %last = icmp eq i32 %next, 32
  br i1 %last, label %exit, label %lanes, !llvm.loop !0
exit:
  ret void
}

; Nothing checked, and a loop that is not one over lanes.
; CHECK-LABEL: define void @plain
; CHECK-NOT:     .faulty
; CHECK-LABEL: define void @other_loop
; CHECK-NOT:     lanes.faulty
; CHECK:         call ptr @cameo.checked
define void @plain(ptr %data) "cameo-warp" {
entry:
  br label %lanes
lanes:
  %turn = phi i32 [ 0, %entry ], [ %next, %lanes ]
  %place = getelementptr i32, ptr %data, i32 %turn
  %v = load i32, ptr %place
  %next = add i32 %turn, 1
  %last = icmp eq i32 %next, 32
  br i1 %last, label %exit, label %lanes, !llvm.loop !0
exit:
  ret void
}

define void @other_loop(ptr %data, i1 %faulty, ptr %allowed) "cameo-warp" {
entry:
  br label %lanes
lanes:
  %turn = phi i32 [ 0, %entry ], [ %next, %lanes ]
  %place = getelementptr i32, ptr %data, i32 %turn
  %p = call ptr @cameo.checked(ptr %place, i1 %faulty, ptr %allowed)
  %v = load i32, ptr %p
  %next = add i32 %turn, 1
  %last = icmp eq i32 %next, 32
  br i1 %last, label %exit, label %lanes
exit:
  ret void
}

; The faulty version stays scalar.
; CHECK-DAG: [[LOOP]] = distinct !{[[LOOP]], [[MARK:![0-9]+]]}
; CHECK-DAG: [[MARK]] = !{!"cameo.lane.loop"}
; CHECK-DAG: [[FAULTY]] = distinct !{[[FAULTY]], [[UNROLL:![0-9]+]], [[VECTORIZE:![0-9]+]]}
; CHECK-DAG: [[UNROLL]] = !{!"llvm.loop.unroll.disable"}
; CHECK-DAG: [[VECTORIZE]] = !{!"llvm.loop.vectorize.enable", i1 false}

!0 = distinct !{!0, !1}
!1 = !{!"cameo.lane.loop"}
