; Matrix instructions with nothing in between are one call, with their rows in one buffer.
;
; RUN: cameo-sim-opt -passes=cameo-warp-join-matrices %s | FileCheck %s

; Two of ldmatrix, each with two operands. What nobody reads has a row, too.
; CHECK-DAG: @steps = private constant [2 x {{.*}} { i32 2, i32 0, i32 5, i32 0 }, {{.*}} { i32 2, i32 0, i32 6, i32 3 }]
; CHECK-DAG: @places = private constant [6 x i32] [i32 0, i32 1, i32 2, i32 3, i32 4, i32 5]

; CHECK-LABEL: define void @joined
; CHECK:         %rows = alloca [768 x i8], align 64
; CHECK:         [[RESULT:%.*]] = getelementptr inbounds i8, ptr %rows, i64 256
; CHECK:         call void %{{.*}}(ptr %thread, ptr @steps, i32 2, ptr %rows, ptr @places)
; CHECK-NOT:     cameo.rows
; CHECK:         load i32, ptr [[RESULT]]
define void @joined(ptr %thread, ptr %data) "cameo-warp" {
  %a = alloca [32 x i32]
  %c = alloca [32 x i32]
  %d = alloca [32 x i32]
  %b = alloca [32 x i32]
  %result = alloca [32 x i32]
  %words = alloca [96 x i32]
  %api = load ptr, ptr %thread
  %at = getelementptr i8, ptr %api, i64 56
  %collective = load ptr, ptr %at
  br label %first
first:
  call void %collective(ptr %thread, i64 2, i32 -1, ptr %words, i32 5) [ "cameo.rows"(ptr %a, ptr %b, ptr %result) ]
  br label %second
second:
  call void %collective(ptr %thread, i64 2, i32 -1, ptr %words, i32 6) [ "cameo.rows"(ptr %c, ptr %d, ptr null) ]
  br label %behind
behind:
  %value = load i32, ptr %result
  store i32 %value, ptr %data
  ret void
}

; Two of mma: the second reads what the first one makes as a factor, so that they are two calls.
; CHECK-LABEL: define void @dependent
; CHECK:         call void %{{.*}}(ptr %thread, ptr @steps.{{[0-9]+}}, i32 1, ptr %rows,
; CHECK:         call void %{{.*}}(ptr %thread, ptr @steps.{{[0-9]+}}, i32 1, ptr %rows,
define void @dependent(ptr %thread, ptr %data) "cameo-warp" {
  %a = alloca [32 x i32]
  %b = alloca [32 x i32]
  %s = alloca [32 x i32]
  %result = alloca [32 x i32]
  %words = alloca [96 x i32]
  %api = load ptr, ptr %thread
  %at = getelementptr i8, ptr %api, i64 56
  %collective = load ptr, ptr %at
  call void %collective(ptr %thread, i64 268963841, i32 -1, ptr %words, i32 5)
      [ "cameo.rows"(ptr %a, ptr %a, ptr %a, ptr %a, ptr %b, ptr %b, ptr %s, ptr %s, ptr %result, ptr null) ]
  call void %collective(ptr %thread, i64 268963841, i32 -1, ptr %words, i32 6)
      [ "cameo.rows"(ptr %result, ptr %a, ptr %a, ptr %a, ptr %b, ptr %b, ptr %s, ptr %s, ptr null, ptr null) ]
  ret void
}

; As a sum it may: the engine goes through them one after the other.
; CHECK-LABEL: define void @summed
; CHECK:         call void %{{.*}}(ptr %thread, ptr @steps.{{[0-9]+}}, i32 2, ptr %rows,
define void @summed(ptr %thread, ptr %data) "cameo-warp" {
  %a = alloca [32 x i32]
  %b = alloca [32 x i32]
  %s = alloca [32 x i32]
  %result = alloca [32 x i32]
  %words = alloca [96 x i32]
  %api = load ptr, ptr %thread
  %at = getelementptr i8, ptr %api, i64 56
  %collective = load ptr, ptr %at
  call void %collective(ptr %thread, i64 268963841, i32 -1, ptr %words, i32 5)
      [ "cameo.rows"(ptr %a, ptr %a, ptr %a, ptr %a, ptr %b, ptr %b, ptr %s, ptr %s, ptr %result, ptr null) ]
  call void %collective(ptr %thread, i64 268963841, i32 -1, ptr %words, i32 6)
      [ "cameo.rows"(ptr %a, ptr %a, ptr %a, ptr %a, ptr %b, ptr %b, ptr %result, ptr %s, ptr null, ptr null) ]
  ret void
}

; Lanes do something in between: two calls.
; CHECK-LABEL: define void @interrupted
; CHECK:         call void %{{.*}}(ptr %thread, ptr @steps.{{[0-9]+}}, i32 1, ptr %rows,
; CHECK:         store i32 1, ptr %data
; CHECK:         call void %{{.*}}(ptr %thread, ptr @steps.{{[0-9]+}}, i32 1, ptr %rows,
define void @interrupted(ptr %thread, ptr %data) "cameo-warp" {
  %a = alloca [32 x i32]
  %b = alloca [32 x i32]
  %words = alloca [96 x i32]
  %api = load ptr, ptr %thread
  %at = getelementptr i8, ptr %api, i64 56
  %collective = load ptr, ptr %at
  call void %collective(ptr %thread, i64 2, i32 -1, ptr %words, i32 5) [ "cameo.rows"(ptr %a, ptr %b, ptr null) ]
  store i32 1, ptr %data
  call void %collective(ptr %thread, i64 2, i32 -1, ptr %words, i32 6) [ "cameo.rows"(ptr %a, ptr %b, ptr null) ]
  ret void
}

; Rows that were not found stay the engine's to look for.
; CHECK-LABEL: define void @unknown
; CHECK:         call void %collective(ptr %thread, i64 2, i32 -1, ptr %words, i32 5)
define void @unknown(ptr %thread) "cameo-warp" {
  %words = alloca [96 x i32]
  %api = load ptr, ptr %thread
  %at = getelementptr i8, ptr %api, i64 56
  %collective = load ptr, ptr %at
  call void %collective(ptr %thread, i64 2, i32 -1, ptr %words, i32 5)
  ret void
}
