; A branch in front of a barrier is taken by the warp, after a ballot; lanes that disagree are reported.
;
; RUN: cameo-sim-opt -passes=cameo-warp-uniformise-branches %s | FileCheck %s

declare i32 @cameo.lane() convergent memory(none)

; CHECK-LABEL: define void @guarded
; CHECK:         %c = icmp eq i32 %value, 0
; CHECK:         [[WIDE:%.*]] = zext i1 %c to i32
; CHECK:         [[LANES:%.*]] = call i32 %{{.*}}(ptr %thread, i32 3, i32 -1, i32 [[WIDE]], i32 5)
; CHECK:         [[ANY:%.*]] = icmp ne i32 [[LANES]], 0
; CHECK:         [[SOME:%.*]] = icmp ne i32 [[LANES]], -1
; CHECK:         [[PARTED:%.*]] = and i1 [[ANY]], [[SOME]]
; CHECK:         br i1 [[PARTED]], label %parted, label %[[TOGETHER:.*]]
; CHECK:       parted:
; CHECK:         call void %{{.*}}(ptr %thread, i64 {{.*}}, ptr null, i32 5)
; CHECK:         br label %[[TOGETHER]]
; CHECK:       [[TOGETHER]]:
; CHECK:         br i1 [[ANY]], label %then, label %done
define void @guarded(ptr %thread, ptr %data) "cameo-warp" {
entry:
  %lane = call i32 @cameo.lane()
  %api = load ptr, ptr %thread
  %at = getelementptr i8, ptr %api, i64 8
  %barrier = load ptr, ptr %at
  %place = getelementptr i32, ptr %data, i32 %lane
  %value = load i32, ptr %place
  %c = icmp eq i32 %value, 0
  br i1 %c, label %then, label %done
then:
  call void %barrier(ptr %thread, i32 0, i32 0, i32 5)
  br label %done
done:
  ret void
}

; Lanes are known to differ: the branch stays.
; CHECK-LABEL: define void @varying
; CHECK:         br i1 %c, label %then, label %done
define void @varying(ptr %thread) "cameo-warp" {
entry:
  %lane = call i32 @cameo.lane()
  %api = load ptr, ptr %thread
  %at = getelementptr i8, ptr %api, i64 8
  %barrier = load ptr, ptr %at
  %c = icmp ult i32 %lane, 7
  br i1 %c, label %then, label %done
then:
  call void %barrier(ptr %thread, i32 0, i32 0, i32 5)
  br label %done
done:
  ret void
}

; Nothing that lanes meet at comes behind.
; CHECK-LABEL: define void @alone
; CHECK:         br i1 %c, label %then, label %done
define void @alone(ptr %thread, ptr %data) "cameo-warp" {
entry:
  %lane = call i32 @cameo.lane()
  %place = getelementptr i32, ptr %data, i32 %lane
  %value = load i32, ptr %place
  %c = icmp eq i32 %value, 0
  br i1 %c, label %then, label %done
then:
  store i32 1, ptr %place
  br label %done
done:
  ret void
}

; All lanes take the same way anyway.
; CHECK-LABEL: define void @uniform
; CHECK:         br i1 %c, label %then, label %done
define void @uniform(ptr %thread, i32 %n) "cameo-warp" {
entry:
  %lane = call i32 @cameo.lane()
  %api = load ptr, ptr %thread
  %at = getelementptr i8, ptr %api, i64 8
  %barrier = load ptr, ptr %at
  %c = icmp eq i32 %n, 0
  br i1 %c, label %then, label %done
then:
  call void %barrier(ptr %thread, i32 0, i32 0, i32 5)
  br label %done
done:
  ret void
}
