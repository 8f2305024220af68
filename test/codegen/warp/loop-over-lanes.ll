; Code between two points where lanes wait becomes a loop over lanes; what they have in common stays outside,
; and values that live across the loops are rows of 32.
;
; RUN: cameo-sim-opt -passes=cameo-warp-loop-over-lanes %s | FileCheck %s

declare i32 @cameo.lane() convergent memory(none)

; CHECK-LABEL: define void @exchanged
; CHECK:         %kept = alloca [32 x i32], align 32
; CHECK-NOT:     @cameo.lane
; CHECK:         %common = mul i32 %n, 3
; CHECK:       lanes:
; CHECK-NEXT:    [[LANE:%.*]] = phi i32 [ 0, %{{.*}} ], [ [[NEXT:%.*]], %next.lane ]
; CHECK:         %value = load i32, ptr %place, align 4, !llvm.access.group [[GROUP:![0-9]+]]
; CHECK:         store i32 %value, ptr %{{.*}}, align 4, !llvm.access.group [[GROUP]]
; CHECK:       next.lane:
; CHECK-NEXT:    [[NEXT]] = add nuw nsw i32 [[LANE]], 1
; CHECK-NEXT:    [[LAST:%.*]] = icmp eq i32 [[NEXT]], 32
; CHECK-NEXT:    br i1 [[LAST]], label %{{.*}}, label %lanes, !llvm.loop [[LOOP:![0-9]+]]
; CHECK:         call void %barrier(
; CHECK:         [[KEPT:%.*]] = getelementptr inbounds i32, ptr %kept, i64
; CHECK:         [[AGAIN:%.*]] = load i32, ptr [[KEPT]]
; CHECK:         %sum = add i32 [[AGAIN]], %common
define void @exchanged(ptr %thread, ptr %data, i32 %n) "cameo-warp" {
  %lane = call i32 @cameo.lane()
  %api = load ptr, ptr %thread, !invariant.load !0
  %at = getelementptr i8, ptr %api, i64 8
  %barrier = load ptr, ptr %at, !invariant.load !0
  %common = mul i32 %n, 3
  %place = getelementptr i32, ptr %data, i32 %lane
  %value = load i32, ptr %place
  store i32 0, ptr %place
  call void %barrier(ptr %thread, i32 0, i32 0, i32 5)
  %sum = add i32 %value, %common
  store i32 %sum, ptr %place
  ret void
}

; A shuffle reads another lane's row, in the loop behind the one in which all lanes have stored theirs.
; CHECK-LABEL: define void @shuffled
; CHECK:         %shared = alloca [32 x i32]
; CHECK:         [[OWN:%.*]] = getelementptr inbounds i32, ptr %shared
; CHECK:         store i32 {{.*}}, ptr [[OWN]]
; CHECK:       next.lane:
; CHECK:         [[SOURCE:%.*]] = xor i32 %{{.*}}, 1
; CHECK:         [[OTHER:%.*]] = getelementptr inbounds i32, ptr %shared
; CHECK:         load i32, ptr [[OTHER]]
; CHECK-NOT:     call i64 %shuffle
define void @shuffled(ptr %thread, ptr %data) "cameo-warp" {
  %lane = call i32 @cameo.lane()
  %api = load ptr, ptr %thread, !invariant.load !0
  %at = getelementptr i8, ptr %api, i64 16
  %shuffle = load ptr, ptr %at, !invariant.load !0
  %place = getelementptr i32, ptr %data, i32 %lane
  %value = load i32, ptr %place
  %pair = call i64 %shuffle(ptr %thread, i32 3, i32 -1, i32 %value, i32 1, i32 31, i32 5)
  %other = trunc i64 %pair to i32
  store i32 %other, ptr %place
  ret void
}

; A vote is of all lanes' bytes at once.
; CHECK-LABEL: define void @voted
; CHECK:         [[ALL:%.*]] = load <32 x i8>, ptr %shared
; CHECK:         [[SET:%.*]] = icmp ne <32 x i8> [[ALL]], zeroinitializer
; CHECK:         bitcast <32 x i1> [[SET]] to i32
define void @voted(ptr %thread, ptr %data) "cameo-warp" {
  %lane = call i32 @cameo.lane()
  %api = load ptr, ptr %thread, !invariant.load !0
  %at = getelementptr i8, ptr %api, i64 24
  %vote = load ptr, ptr %at, !invariant.load !0
  %ballot = call i32 %vote(ptr %thread, i32 3, i32 -1, i32 %lane, i32 5)
  store i32 %ballot, ptr %data
  ret void
}

; Lanes branch within their loop.
; CHECK-LABEL: define void @branched
; CHECK:       lanes:
; CHECK:         br i1 %c, label %then, label %next.lane
; CHECK:       then:
; CHECK:       next.lane:
define void @branched(ptr %thread, ptr %data) "cameo-warp" {
entry:
  %lane = call i32 @cameo.lane()
  %place = getelementptr i32, ptr %data, i32 %lane
  %c = icmp ult i32 %lane, 7
  br i1 %c, label %then, label %done
then:
  store i32 1, ptr %place
  br label %done
done:
  ret void
}

; The order of lanes can be seen where one place gets the value of one of them: it is drawn.
; CHECK-LABEL: define void @ordered
; CHECK:         %order = alloca i32
; CHECK:         mul i32 %{{.*}}, -1814600227
define void @ordered(ptr %thread, ptr %data) "cameo-warp" {
  %lane = call i32 @cameo.lane()
  store i32 %lane, ptr %data
  ret void
}

; A matrix instruction says which rows it works on, where they lie.
; CHECK-LABEL: define void @multiplied
; CHECK:         call void %collective(ptr %thread, i64 [[MMA:[0-9]+]], i32 -1, ptr %words, i32 5) [ "cameo.rows"(ptr %operand
; CHECK-SAME:      ptr null
define void @multiplied(ptr %thread, ptr %data) "cameo-warp" {
  %words = alloca [288 x i32]
  %lane = call i32 @cameo.lane()
  %api = load ptr, ptr %thread, !invariant.load !0
  %at = getelementptr i8, ptr %api, i64 56
  %collective = load ptr, ptr %at, !invariant.load !0
  %wide = zext i32 %lane to i64
  %i0 = add i64 %wide, 0
  %w0 = getelementptr inbounds i32, ptr %words, i64 %i0
  store i32 %lane, ptr %w0
  %i1 = add i64 %wide, 32
  %w1 = getelementptr inbounds i32, ptr %words, i64 %i1
  store i32 %lane, ptr %w1
  call void %collective(ptr %thread, i64 2, i32 -1, ptr %words, i32 5)
  %w2 = getelementptr inbounds i32, ptr %words, i64 %i1
  %result = load i32, ptr %w2
  %place = getelementptr i32, ptr %data, i32 %lane
  store i32 %result, ptr %place
  ret void
}

; Without a lane's number there is nothing to loop over.
; CHECK-LABEL: define void @scalar
; CHECK-NEXT:    store i32 1, ptr %data
; CHECK-NEXT:    ret void
define void @scalar(ptr %thread, ptr %data) "cameo-warp" {
  store i32 1, ptr %data
  ret void
}

!0 = !{}
