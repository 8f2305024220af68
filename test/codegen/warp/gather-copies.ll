; Lanes leave what cp.async copies in rows, and one call of the warp starts the copies up to a wait.
;
; RUN: cameo-sim-opt -passes=cameo-warp-gather-copies %s | FileCheck %s

declare i32 @cameo.lane() convergent memory(none)

; A copy of 16 bytes, a commit and a wait.
; CHECK:      @copies = private constant [3 x
; CHECK-SAME:   { i32 4104, i32 0, i32 6, i32 0 }
; CHECK-SAME:   { i32 9, i32 0, i32 7, i32 0 }
; CHECK-SAME:   { i32 10, i32 0, i32 8, i32 0 }]

; CHECK-LABEL: define void @copied
; CHECK:         %copies = alloca [640 x i8], align 64
; CHECK:         store i64 %target, ptr
; CHECK:         store i64 %source, ptr
; CHECK-NOT:     call void %own
; CHECK:         call void %{{.*}}(ptr %thread, ptr @copies, i32 3, ptr %copies)
define void @copied(ptr %thread, i64 %to, i64 %from) "cameo-warp" {
  %all = alloca [512 x i8]
  %lane = call i32 @cameo.lane()
  %api = load ptr, ptr %thread
  %at = getelementptr i8, ptr %api, i64 48
  %own = load ptr, ptr %at
  %wide = zext i32 %lane to i64
  %bytes = mul i64 %wide, 16
  %words = getelementptr i8, ptr %all, i64 %bytes
  %target = add i64 %to, %bytes
  %source = add i64 %from, %bytes
  store i64 %target, ptr %words
  %second = getelementptr i8, ptr %words, i64 8
  store i64 %source, ptr %second
  call void %own(ptr %thread, i64 4104, ptr %words, i32 6)
  call void %own(ptr %thread, i64 9, ptr null, i32 7)
  call void %own(ptr %thread, i64 10, ptr null, i32 8)
  ret void
}

; A copy that only some lanes make is each lane's own; and so are all others then.
; CHECK-LABEL: define void @some
; CHECK:         call void %own(ptr %thread, i64 9,
; CHECK:         call void %own(ptr %thread, i64 9,
define void @some(ptr %thread, i64 %to, i64 %from) "cameo-warp" {
entry:
  %lane = call i32 @cameo.lane()
  %api = load ptr, ptr %thread
  %at = getelementptr i8, ptr %api, i64 48
  %own = load ptr, ptr %at
  %c = icmp ult i32 %lane, 7
  br i1 %c, label %then, label %done
then:
  call void %own(ptr %thread, i64 9, ptr null, i32 7)
  br label %done
done:
  call void %own(ptr %thread, i64 9, ptr null, i32 7)
  ret void
}

; Copies that an mbarrier counts are a thread's.
; CHECK-LABEL: define void @counted
; CHECK:         call void %own(ptr %thread, i64 9,
define void @counted(ptr %thread) "cameo-warp" {
  %lane = call i32 @cameo.lane()
  %api = load ptr, ptr %thread
  %at = getelementptr i8, ptr %api, i64 48
  %own = load ptr, ptr %at
  call void %own(ptr %thread, i64 9, ptr null, i32 7)
  call void %own(ptr %thread, i64 11, ptr null, i32 7)
  ret void
}
