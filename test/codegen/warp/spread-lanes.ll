; Everything in which lanes differ becomes an expression of the lane's number.
;
; RUN: cameo-sim-opt -passes=cameo-warp-spread-lanes %s | FileCheck %s

; The thread's index is the warp's first, and the lane's.
; CHECK-LABEL: define void @index
; CHECK:         [[LANE:%.*]] = call i32 @cameo.lane()
; CHECK:         [[WARP:%.*]] = load i32, ptr {{.*}}, !range
; CHECK:         [[FIRST:%.*]] = shl nuw nsw i32 [[WARP]], 5
; CHECK:         [[X:%.*]] = add nuw nsw i32 [[FIRST]], [[LANE]]
; CHECK:         store i32 [[X]], ptr %out
; CHECK:         store i32 64, ptr %out
define void @index(ptr %thread, ptr %out) "cameo-warp" "cameo-warp-block"="64,1,1" {
  %tid.at = getelementptr i8, ptr %thread, i64 16
  %tid = load i32, ptr %tid.at
  %ntid.at = getelementptr i8, ptr %thread, i64 40
  %ntid = load i32, ptr %ntid.at
  store i32 %tid, ptr %out
  store i32 %ntid, ptr %out
  ret void
}

; A private variable is 32; the context that the engine gets is the lane's.
; CHECK-LABEL: define void @private
; CHECK:         [[ALL:%.*]] = alloca [128 x i8], align 16
; CHECK:         [[LANE:%.*]] = call i32 @cameo.lane()
; CHECK:         [[OWN:%.*]] = getelementptr inbounds i8, ptr [[ALL]], i64
; CHECK:         store i32 1, ptr [[OWN]]
; CHECK:         call void %own(ptr %{{[0-9]+}}, i64 11, ptr [[OWN]], i32 0)
define void @private(ptr %thread) "cameo-warp" "cameo-warp-block"="64,1,1" {
  %variable = alloca i32
  %api = load ptr, ptr %thread
  %own.at = getelementptr i8, ptr %api, i64 48
  %own = load ptr, ptr %own.at
  store i32 1, ptr %variable
  call void %own(ptr %thread, i64 11, ptr %variable, i32 0)
  ret void
}

; The operands of a collective instruction are a row of 32 for each word.
; CHECK-LABEL: define void @collective
; CHECK:         [[ROWS:%.*]] = alloca [64 x i32], align 32
; CHECK:         [[LANE:%.*]] = call i32 @cameo.lane()
; CHECK:         [[WIDE:%.*]] = zext i32 [[LANE]] to i64
; CHECK:         [[SECOND:%.*]] = add i64 [[WIDE]], 32
; CHECK:         [[PLACE:%.*]] = getelementptr inbounds i32, ptr [[ROWS]], i64 [[SECOND]]
; CHECK:         store i32 7, ptr [[PLACE]]
; CHECK:         call void %collective(ptr %thread, i64 7, i32 -1, ptr [[ROWS]], i32 0)
define void @collective(ptr %thread) "cameo-warp" "cameo-warp-block"="64,1,1" {
  %words = alloca [2 x i32]
  %api = load ptr, ptr %thread
  %at = getelementptr i8, ptr %api, i64 56
  %collective = load ptr, ptr %at
  %second = getelementptr i8, ptr %words, i64 4
  store i32 7, ptr %second
  call void %collective(ptr %thread, i64 7, i32 -1, ptr %words, i32 0)
  ret void
}

; The warp waits as one, with one buffer; or each lane with its own.
; CHECK-LABEL: define void @wait(
; CHECK:         %words = alloca [4 x i32]
; CHECK:         call void %collective(ptr %thread, i64 19, i32 -1, ptr %words, i32 0)
define void @wait(ptr %thread) "cameo-warp" "cameo-warp-block"="64,1,1" {
  %words = alloca [4 x i32]
  %api = load ptr, ptr %thread
  %at = getelementptr i8, ptr %api, i64 56
  %collective = load ptr, ptr %at
  call void %collective(ptr %thread, i64 19, i32 -1, ptr %words, i32 0)
  ret void
}

; CHECK-LABEL: define void @own_wait
; CHECK:         [[ALL:%.*]] = alloca [512 x i8]
; CHECK:         [[OWN:%.*]] = getelementptr inbounds i8, ptr [[ALL]], i64
; CHECK:         call void %collective(ptr %{{[0-9]+}}, i64 19, i32 -1, ptr [[OWN]], i32 0)
define void @own_wait(ptr %thread) "cameo-warp" "cameo-warp-block"="64,1,1" {
  %words = alloca [4 x i32], !cameo.wait.own !0
  %api = load ptr, ptr %thread
  %at = getelementptr i8, ptr %api, i64 56
  %collective = load ptr, ptr %at
  call void %collective(ptr %thread, i64 19, i32 -1, ptr %words, i32 0)
  ret void
}

; CHECK: define void @odd(ptr %thread) [[ODD:#[0-9]+]]
define void @odd(ptr %thread) "cameo-warp" "cameo-warp-block"="48,1,1" {
  ret void
}

; CHECK: define void @open(ptr %thread) [[OPEN:#[0-9]+]]
define void @open(ptr %thread) "cameo-warp" "cameo-warp-block"="0,0,0" {
  ret void
}

; CHECK: define void @halves(ptr %thread) [[HALVES:#[0-9]+]]
define void @halves(ptr %thread) "cameo-warp" "cameo-warp-block"="64,1,1" {
  %words = alloca [2 x i32]
  %api = load ptr, ptr %thread
  %at = getelementptr i8, ptr %api, i64 56
  %collective = load ptr, ptr %at
  store i16 7, ptr %words
  call void %collective(ptr %thread, i64 7, i32 -1, ptr %words, i32 0)
  ret void
}

; CHECK-LABEL: define void @scalar
; CHECK-NOT:     @cameo.lane
; CHECK:         ret void
define void @scalar(ptr %thread, ptr %out) "cameo-warp-block"="64,1,1" {
  %tid.at = getelementptr i8, ptr %thread, i64 16
  %tid = load i32, ptr %tid.at
  store i32 %tid, ptr %out
  ret void
}

; CHECK-DAG: attributes [[ODD]] = { {{.*}}"cameo-warp-problem"="its blocks are not a whole number of warps"
; CHECK-DAG: attributes [[OPEN]] = { {{.*}}"cameo-warp-problem"="the block's size is not known"
; CHECK-DAG: attributes [[HALVES]] = { {{.*}}"cameo-warp-problem"="operands of a collective instruction are not in words"

!0 = !{}
