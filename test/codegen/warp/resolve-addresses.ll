; A checked address is the one that the engine returns, where any was faulty; else its own.
;
; RUN: cameo-sim-opt -passes=cameo-warp-resolve-addresses %s | FileCheck %s

declare ptr @cameo.checked(ptr, i1, ptr) memory(none)

; CHECK-LABEL: define i32 @address
; CHECK-NEXT:    [[OTHER:%.*]] = load ptr, ptr %allowed
; CHECK-NEXT:    [[PLACE:%.*]] = select i1 %faulty, ptr [[OTHER]], ptr %place
; CHECK-NEXT:    load i32, ptr [[PLACE]]
define i32 @address(ptr %place, i1 %faulty, ptr %allowed) "cameo-warp" {
  %p = call ptr @cameo.checked(ptr %place, i1 %faulty, ptr %allowed)
  %v = load i32, ptr %p
  ret i32 %v
}

; A kernel that cannot be vectorised is left alone.
; CHECK-LABEL: define i32 @given_up
; CHECK-NEXT:    call ptr @cameo.checked
define i32 @given_up(ptr %place, i1 %faulty, ptr %allowed) "cameo-warp" "cameo-warp-problem"="some" {
  %p = call ptr @cameo.checked(ptr %place, i1 %faulty, ptr %allowed)
  %v = load i32, ptr %p
  ret i32 %v
}
