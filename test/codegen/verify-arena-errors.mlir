// RUN: %cameo-opt --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(cameo-verify-stage{stage=host})' %s

// A launch writes to what it reads.
rt.variant @SameLaunch target "sm_80" {
  gpu.module @k {
    llvm.func @k(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>) {
      llvm.return
    }
  }
  func.func @main() {
    %c0 = arith.constant 0 : index
    %c256 = arith.constant 256 : index
    %c512 = arith.constant 512 : index
    %x = rt.input 0
    %y = rt.output 0
    %a = rt.arena_view %c0 bytes %c512 loc("first")
    %b = rt.arena_view %c256 bytes %c512 loc("second")
    rt.launch @k::@k grid(%c0, %c0, %c0) args(%x, %a : !rt.buffer, !rt.buffer) writes [1]
    // expected-error @below {{'second' overwrites 'first', which is in use later, in the arena: they have bytes [256, 768) and [0, 512) and share [256, 512); this is a bug in Cameo}}
    // expected-note @below {{'second' is in use from step 1, a launch of 'k', to step 2, a launch of 'k'}}
    // expected-note @below {{'first' is in use from step 0, a launch of 'k', to step 1, a launch of 'k'}}
    rt.launch @k::@k grid(%c0, %c0, %c0) args(%a, %b : !rt.buffer, !rt.buffer) writes [1]
    rt.launch @k::@k grid(%c0, %c0, %c0) args(%b, %y : !rt.buffer, !rt.buffer) writes [1]
    return
  }
}

// -----

// A launch writes to what a later one reads. Both have the same place.
rt.variant @EarlierLaunch target "sm_80" {
  gpu.module @k {
    llvm.func @k(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>) {
      llvm.return
    }
  }
  func.func @main() {
    %c0 = arith.constant 0 : index
    %c256 = arith.constant 256 : index
    %c512 = arith.constant 512 : index
    %x = rt.input 0
    %y = rt.output 0
    %a = rt.arena_view %c256 bytes %c512 loc("first")
    %b = rt.arena_view %c256 bytes %c512 loc("second")
    rt.launch @k::@k grid(%c0, %c0, %c0) args(%x, %a : !rt.buffer, !rt.buffer) writes [1]
    // expected-error @below {{'second' overwrites 'first', which is in use later, in the arena: they have bytes [256, 768) and [256, 768) and share [256, 768); this is a bug in Cameo}}
    // expected-note @below {{'second' is in use from step 1, a launch of 'k', to step 2, a launch of 'k'}}
    rt.launch @k::@k grid(%c0, %c0, %c0) args(%x, %b : !rt.buffer, !rt.buffer) writes [1]
    rt.launch @k::@k grid(%c0, %c0, %c0) args(%b, %y : !rt.buffer, !rt.buffer) writes [1]
    // expected-note @below {{'first' is in use from step 0, a launch of 'k', to step 3, a launch of 'k'}}
    rt.launch @k::@k grid(%c0, %c0, %c0) args(%a, %y : !rt.buffer, !rt.buffer) writes [1]
    return
  }
}

// -----

// What has a part of a buffer has the buffer. Its neighbour is lower.
rt.variant @Part target "sm_80" {
  gpu.module @k {
    llvm.func @k(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>) {
      llvm.return
    }
  }
  func.func @main() {
    %c0 = arith.constant 0 : index
    %c256 = arith.constant 256 : index
    %c512 = arith.constant 512 : index
    %x = rt.input 0
    %y = rt.output 0
    %a = rt.arena_view %c256 bytes %c256 loc("first")
    %b = rt.arena_view %c0 bytes %c512 loc("second")
    %part = rt.buffer_part %a at %c0 bytes %c0
    rt.launch @k::@k grid(%c0, %c0, %c0) args(%x, %a : !rt.buffer, !rt.buffer) writes [1]
    // expected-error @below {{'second' overwrites 'first', which is in use later, in the arena: they have bytes [0, 512) and [256, 512) and share [256, 512); this is a bug in Cameo}}
    // expected-note @below {{'second' is in use from step 1, a launch of 'k', to step 2, a launch of 'k'}}
    rt.launch @k::@k grid(%c0, %c0, %c0) args(%x, %b : !rt.buffer, !rt.buffer) writes [1]
    rt.launch @k::@k grid(%c0, %c0, %c0) args(%b, %y : !rt.buffer, !rt.buffer) writes [1]
    // expected-note @below {{'first' is in use from step 0, a launch of 'k', to step 3, 'rt.copy'}}
    rt.copy %part to %y bytes %c0
    return
  }
}

// -----

// Not only launches are steps.
rt.variant @Steps target "sm_80" {
  gpu.module @k {
    llvm.func @k(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>) {
      llvm.return
    }
  }
  func.func @main() {
    %c0 = arith.constant 0 : index
    %c256 = arith.constant 256 : index
    %c512 = arith.constant 512 : index
    %x = rt.input 0
    %y = rt.output 0
    %a = rt.arena_view %c0 bytes %c256 loc("first")
    %b = rt.arena_view %c0 bytes %c256 loc("second")
    rt.write %a as f32
    // expected-error @below {{'second' overwrites 'first', which is in use later, in the arena: they have bytes [0, 256) and [0, 256) and share [0, 256); this is a bug in Cameo}}
    // expected-note @below {{'second' is in use from step 1, 'rt.write', to step 1, 'rt.write'}}
    rt.write %b as f32
    // expected-note @below {{'first' is in use from step 0, 'rt.write', to step 2, 'rt.tap'}}
    rt.tap 0 = %a sizes(%c0) : !rt.buffer
    return
  }
}

// -----

// The first is read at step 2, whatever its sizes, which nobody knows, are.
rt.variant @LaidOutForTooFewSteps target "sm_80" {
  gpu.module @k {
    llvm.func @k(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>) {
      llvm.return
    }
  }
  func.func @main() {
    %c0 = arith.constant 0 : index
    %n = rt.dim 0, 0
    %m = rt.dim 0, 1
    %x = rt.input 0
    %y = rt.output 0
    %arena, %live, %sum, %offset:2 = rt.lay_out_arena [
      %n from 0 to 1,
      %m from 1 to 3
    ]
    %a = rt.arena_view %offset#0 bytes %n loc("first")
    %b = rt.arena_view %offset#1 bytes %m loc("second")
    rt.launch @k::@k grid(%c0, %c0, %c0) args(%x, %a : !rt.buffer, !rt.buffer) writes [1]
    rt.launch @k::@k grid(%c0, %c0, %c0) args(%x, %b : !rt.buffer, !rt.buffer) writes [1]
    // expected-error @below {{'first', in use from step 0, a launch of 'k', to step 2, a launch of 'k', is laid out in the arena for steps 0 to 1; this is a bug in Cameo}}
    rt.launch @k::@k grid(%c0, %c0, %c0) args(%a, %y : !rt.buffer, !rt.buffer) writes [1]
    rt.launch @k::@k grid(%c0, %c0, %c0) args(%b, %y : !rt.buffer, !rt.buffer) writes [1]
    return
  }
}

// -----

// Nor may it be written earlier.
rt.variant @LaidOutForLaterSteps target "sm_80" {
  gpu.module @k {
    llvm.func @k(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>) {
      llvm.return
    }
  }
  func.func @main() {
    %c0 = arith.constant 0 : index
    %n = rt.dim 0, 0
    %m = rt.dim 0, 1
    %x = rt.input 0
    %y = rt.output 0
    %arena, %live, %sum, %offset:2 = rt.lay_out_arena [
      %n from 0 to 2,
      %m from 2 to 3
    ]
    %a = rt.arena_view %offset#0 bytes %n loc("first")
    %b = rt.arena_view %offset#1 bytes %m loc("second")
    rt.launch @k::@k grid(%c0, %c0, %c0) args(%x, %a : !rt.buffer, !rt.buffer) writes [1]
    // expected-error @below {{'second', in use from step 1, a launch of 'k', to step 3, a launch of 'k', is laid out in the arena for steps 2 to 3; this is a bug in Cameo}}
    rt.launch @k::@k grid(%c0, %c0, %c0) args(%x, %b : !rt.buffer, !rt.buffer) writes [1]
    rt.launch @k::@k grid(%c0, %c0, %c0) args(%a, %y : !rt.buffer, !rt.buffer) writes [1]
    rt.launch @k::@k grid(%c0, %c0, %c0) args(%b, %y : !rt.buffer, !rt.buffer) writes [1]
    return
  }
}

// -----

// Room for another size.
rt.variant @LaidOutForOtherSizes target "sm_80" {
  gpu.module @k {
    llvm.func @k(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>) {
      llvm.return
    }
  }
  func.func @main() {
    %c0 = arith.constant 0 : index
    %n = rt.dim 0, 0
    %m = rt.dim 0, 1
    %x = rt.input 0
    %y = rt.output 0
    %arena, %live, %sum, %offset:2 = rt.lay_out_arena [
      %n from 0 to 1,
      %n from 1 to 2
    ]
    %a = rt.arena_view %offset#0 bytes %n loc("first")
    %b = rt.arena_view %offset#1 bytes %m loc("second")
    rt.launch @k::@k grid(%c0, %c0, %c0) args(%x, %a : !rt.buffer, !rt.buffer) writes [1]
    // expected-error @below {{'second', in use from step 1, a launch of 'k', to step 2, a launch of 'k', is laid out in the arena with another size than it has; this is a bug in Cameo}}
    rt.launch @k::@k grid(%c0, %c0, %c0) args(%a, %b : !rt.buffer, !rt.buffer) writes [1]
    rt.launch @k::@k grid(%c0, %c0, %c0) args(%b, %y : !rt.buffer, !rt.buffer) writes [1]
    return
  }
}

// -----

// One place that is laid out for two at once.
rt.variant @OnePlace target "sm_80" {
  gpu.module @k {
    llvm.func @k(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>) {
      llvm.return
    }
  }
  func.func @main() {
    %c0 = arith.constant 0 : index
    %n = rt.dim 0, 0
    %m = rt.dim 0, 1
    %x = rt.input 0
    %y = rt.output 0
    %arena, %live, %sum, %offset:2 = rt.lay_out_arena [
      %n from 0 to 2,
      %m from 0 to 2
    ]
    %a = rt.arena_view %offset#0 bytes %n loc("first")
    %b = rt.arena_view %offset#0 bytes %n loc("second")
    rt.launch @k::@k grid(%c0, %c0, %c0) args(%x, %a : !rt.buffer, !rt.buffer) writes [1]
    // expected-error @below {{'second' overwrites 'first', which is in use later, in the arena: they have one place; this is a bug in Cameo}}
    // expected-note @below {{'second' is in use from step 1, a launch of 'k', to step 2, a launch of 'k'}}
    // expected-note @below {{'first' is in use from step 0, a launch of 'k', to step 1, a launch of 'k'}}
    rt.launch @k::@k grid(%c0, %c0, %c0) args(%a, %b : !rt.buffer, !rt.buffer) writes [1]
    rt.launch @k::@k grid(%c0, %c0, %c0) args(%b, %y : !rt.buffer, !rt.buffer) writes [1]
    return
  }
}

// -----

// A known place in an arena that is laid out when the plan runs.
rt.variant @KnownAmongLaidOut target "sm_80" {
  gpu.module @k {
    llvm.func @k(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>) {
      llvm.return
    }
  }
  func.func @main() {
    %c0 = arith.constant 0 : index
    %n = rt.dim 0, 0
    %m = rt.dim 0, 1
    %x = rt.input 0
    %y = rt.output 0
    %arena, %live, %sum, %offset:2 = rt.lay_out_arena [
      %n from 0 to 2,
      %m from 0 to 2
    ]
    %a = rt.arena_view %offset#0 bytes %n loc("first")
    %c4 = arith.constant 4 : index
    %b = rt.arena_view %c0 bytes %c4 loc("second")
    rt.launch @k::@k grid(%c0, %c0, %c0) args(%x, %a : !rt.buffer, !rt.buffer) writes [1]
    // expected-error @below {{'second' has a known place in an arena that is laid out when the plan runs; this is a bug in Cameo}}
    rt.launch @k::@k grid(%c0, %c0, %c0) args(%a, %b : !rt.buffer, !rt.buffer) writes [1]
    rt.launch @k::@k grid(%c0, %c0, %c0) args(%b, %y : !rt.buffer, !rt.buffer) writes [1]
    return
  }
}

// -----

// A place that is computed by anything else.
rt.variant @ComputedPlace target "sm_80" {
  gpu.module @k {
    llvm.func @k(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>) {
      llvm.return
    }
  }
  func.func @main() {
    %c0 = arith.constant 0 : index
    %n = rt.dim 0, 0
    %m = rt.dim 0, 1
    %x = rt.input 0
    %y = rt.output 0
    %c4 = arith.constant 4 : index
    %place = arith.addi %n, %m : index
    %a = rt.arena_view %place bytes %c4 loc("first")
    // expected-error @below {{'first' is in the arena where nobody can tell: its place is neither known nor laid out when the plan runs; this is a bug in Cameo}}
    rt.launch @k::@k grid(%c0, %c0, %c0) args(%x, %a : !rt.buffer, !rt.buffer) writes [1]
    return
  }
}
