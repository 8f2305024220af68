; A call in which lanes meet must not get other conditions; a call of one thread's own may.
;
; RUN: cameo-sim-opt -passes=cameo-sim-mark-collectives %s | FileCheck %s

; CHECK-LABEL: define void @kernel
; CHECK:         call void %barrier(ptr %thread, i32 0, i32 0, i32 0) [[MEET:#[0-9]+]]
; CHECK:         call void %own(ptr %thread, i64 1, ptr null, i32 0){{$}}
; CHECK:       attributes [[MEET]] = { convergent }
define void @kernel(ptr %thread, ptr %parameters) {
  %api = load ptr, ptr %thread
  %barrier.at = getelementptr i8, ptr %api, i64 8
  %barrier = load ptr, ptr %barrier.at
  %own.at = getelementptr i8, ptr %api, i64 48
  %own = load ptr, ptr %own.at
  call void %barrier(ptr %thread, i32 0, i32 0, i32 0)
  call void %own(ptr %thread, i64 1, ptr null, i32 0)
  ret void
}
