; What is computed on each of several ways to a place is computed there, once.
;
; RUN: cameo-sim-opt -passes=cameo-warp-compute-behind-joins %s | FileCheck %s

; CHECK-LABEL: define i32 @same
; CHECK:       join:
; CHECK-NEXT:    [[SUM:%.*]] = add i32 %x, 4
; CHECK-NEXT:    ret i32 [[SUM]]
define i32 @same(i1 %c, i32 %x) "cameo-warp" {
  br i1 %c, label %left, label %right
left:
  %a = add i32 %x, 4
  br label %join
right:
  %b = add i32 %x, 4
  br label %join
join:
  %v = phi i32 [ %a, %left ], [ %b, %right ]
  ret i32 %v
}

; CHECK-LABEL: define i32 @unlike
; CHECK:         %v = phi i32
define i32 @unlike(i1 %c, i32 %x) "cameo-warp" {
  br i1 %c, label %left, label %right
left:
  %a = add i32 %x, 4
  br label %join
right:
  %b = add i32 %x, 5
  br label %join
join:
  %v = phi i32 [ %a, %left ], [ %b, %right ]
  ret i32 %v
}

; Loads are not: memory may differ by then.
; CHECK-LABEL: define i32 @loaded
; CHECK:         %v = phi i32
define i32 @loaded(i1 %c, ptr %x) "cameo-warp" {
  br i1 %c, label %left, label %right
left:
  %a = load i32, ptr %x
  br label %join
right:
  %b = load i32, ptr %x
  br label %join
join:
  %v = phi i32 [ %a, %left ], [ %b, %right ]
  ret i32 %v
}

; Nor is anything of a kernel that is not being vectorised.
; CHECK-LABEL: define i32 @scalar
; CHECK:         %v = phi i32
define i32 @scalar(i1 %c, i32 %x) {
  br i1 %c, label %left, label %right
left:
  %a = add i32 %x, 4
  br label %join
right:
  %b = add i32 %x, 4
  br label %join
join:
  %v = phi i32 [ %a, %left ], [ %b, %right ]
  ret i32 %v
}
