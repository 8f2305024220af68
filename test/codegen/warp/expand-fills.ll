; A fill of a local array is a loop; variables stay in the entry block, where they are looked for.
;
; RUN: cameo-sim-opt -passes=cameo-sim-expand-fills %s | FileCheck %s

declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

; CHECK-LABEL: define void @filled
; CHECK-NEXT:    %late = alloca i32
; CHECK-NEXT:    %array = alloca [64 x i8]
; CHECK-NEXT:    br i1
; CHECK-NOT:     llvm.memset
; CHECK:         store i8 0
; CHECK-LABEL: define void @plain
define void @filled() {
  %array = alloca [64 x i8]
  call void @llvm.memset.p0.i64(ptr %array, i8 0, i64 64, i1 false)
  %late = alloca i32
  store i32 1, ptr %late
  ret void
}

; CHECK-NEXT:    %array = alloca [64 x i8]
; CHECK-NEXT:    %late = alloca i32
define void @plain() {
  %array = alloca [64 x i8]
  %late = alloca i32
  store i32 1, ptr %late
  ret void
}
