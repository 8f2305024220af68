; The sums of an mma in a loop are a phi for each word.
;
; RUN: cameo-sim-opt -passes=cameo-warp-split-matrix-phis %s | FileCheck %s

; CHECK-LABEL: define void @sums
; CHECK:       loop:
; CHECK-NEXT:    [[A:%.*]] = phi float [ 0.000000e+00, %entry ], [ {{.*}}, %loop ]
; CHECK-NEXT:    [[B:%.*]] = phi float [ 0.000000e+00, %entry ], [ {{.*}}, %loop ]
; CHECK-NOT:     phi <2 x float>
; CHECK:         insertelement <2 x float> poison, float [[A]], i64 0
define void @sums(ptr %thread, i1 %c) "cameo-warp" {
entry:
  %words = alloca [13 x i32]
  %api = load ptr, ptr %thread
  %at = getelementptr i8, ptr %api, i64 56
  %collective = load ptr, ptr %at
  br label %loop
loop:
  %sums = phi <2 x float> [ zeroinitializer, %entry ], [ %next, %loop ]
  %sums.at = getelementptr i8, ptr %words, i64 16
  store <2 x float> %sums, ptr %sums.at
  call void %collective(ptr %thread, i64 1, i32 -1, ptr %words, i32 0)
  %next.at = getelementptr i8, ptr %words, i64 32
  %next = load <2 x float>, ptr %next.at
  br i1 %c, label %loop, label %done
done:
  ret void
}

; Vectors that no matrix instruction has stay.
; CHECK-LABEL: define void @others
; CHECK:         phi <2 x float>
define void @others(ptr %thread, ptr %out, i1 %c) "cameo-warp" {
entry:
  %words = alloca [13 x i32]
  %api = load ptr, ptr %thread
  %at = getelementptr i8, ptr %api, i64 56
  %collective = load ptr, ptr %at
  br label %loop
loop:
  %sums = phi <2 x float> [ zeroinitializer, %entry ], [ %next, %loop ]
  %next = fadd <2 x float> %sums, splat(float 1.0)
  call void %collective(ptr %thread, i64 1, i32 -1, ptr %words, i32 0)
  br i1 %c, label %loop, label %done
done:
  store <2 x float> %sums, ptr %out
  ret void
}

; CHECK-LABEL: define void @scalar
; CHECK:         phi <2 x float>
define void @scalar(ptr %thread, i1 %c) {
entry:
  %words = alloca [13 x i32]
  %api = load ptr, ptr %thread
  %at = getelementptr i8, ptr %api, i64 56
  %collective = load ptr, ptr %at
  br label %loop
loop:
  %sums = phi <2 x float> [ zeroinitializer, %entry ], [ %next, %loop ]
  %sums.at = getelementptr i8, ptr %words, i64 16
  store <2 x float> %sums, ptr %sums.at
  call void %collective(ptr %thread, i64 1, i32 -1, ptr %words, i32 0)
  %next.at = getelementptr i8, ptr %words, i64 32
  %next = load <2 x float>, ptr %next.at
  br i1 %c, label %loop, label %done
done:
  ret void
}
