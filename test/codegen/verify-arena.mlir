// RUN: %cameo-opt --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(cameo-verify-stage{stage=host})' %s
// The plans here are right; verify-arena-errors.mlir has those that are not.

// Places are used again after the last step, and by nobody before the first. What is read nowhere has its
// step, too.
rt.variant @Reused target "sm_80" {
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
    %a = rt.arena_view %c0 bytes %c512
    %b = rt.arena_view %c512 bytes %c256
    %c = rt.arena_view %c256 bytes %c256
    %d = rt.arena_view %c0 bytes %c256
    %e = rt.arena_view %c512 bytes %c512
    %unused = rt.arena_view %c0 bytes %c512
    rt.launch @k::@k grid(%c0, %c0, %c0) args(%x, %a : !rt.buffer, !rt.buffer) writes [1]
    rt.launch @k::@k grid(%c0, %c0, %c0) args(%a, %b : !rt.buffer, !rt.buffer) writes [1]
    rt.launch @k::@k grid(%c0, %c0, %c0) args(%b, %c : !rt.buffer, !rt.buffer) writes [1]
    rt.launch @k::@k grid(%c0, %c0, %c0) args(%x, %d : !rt.buffer, !rt.buffer) writes [1]
    rt.launch @k::@k grid(%c0, %c0, %c0) args(%x, %e : !rt.buffer, !rt.buffer) writes [1]
    rt.launch @k::@k grid(%c0, %c0, %c0) args(%c, %y : !rt.buffer, !rt.buffer) writes [1]
    rt.launch @k::@k grid(%c0, %c0, %c0) args(%d, %y : !rt.buffer, !rt.buffer) writes [1]
    return
  }
}

// -----

// One buffer holds one value after the other.
rt.variant @InPlace target "sm_80" {
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
    %a = rt.arena_view %c0 bytes %c512
    %b = rt.arena_view %c512 bytes %c512
    rt.launch @k::@k grid(%c0, %c0, %c0) args(%x, %a : !rt.buffer, !rt.buffer) writes [1]
    rt.launch @k::@k grid(%c0, %c0, %c0) args(%a, %a : !rt.buffer, !rt.buffer) writes [1] {rt.in_place = array<i64: 1, 0>}
    rt.launch @k::@k grid(%c0, %c0, %c0) args(%a, %b : !rt.buffer, !rt.buffer) writes [1]
    rt.launch @k::@k grid(%c0, %c0, %c0) args(%b, %y : !rt.buffer, !rt.buffer) writes [1]
    return
  }
}

// -----

// Parts of one buffer may have what they will of each other.
rt.variant @Parts target "sm_80" {
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
    %a = rt.arena_view %c0 bytes %c512
    %b = rt.buffer_part %a at %c0 bytes %c512
    %c = rt.buffer_part %b at %c256 bytes %c256
    rt.launch @k::@k grid(%c0, %c0, %c0) args(%x, %b : !rt.buffer, !rt.buffer) writes [1]
    rt.launch @k::@k grid(%c0, %c0, %c0) args(%b, %c : !rt.buffer, !rt.buffer) writes [1]
    rt.launch @k::@k grid(%c0, %c0, %c0) args(%a, %y : !rt.buffer, !rt.buffer) writes [1]
    return
  }
}

// -----

// Nothing is of no bytes.
rt.variant @Empty target "sm_80" {
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
    %a = rt.arena_view %c0 bytes %c512
    %b = rt.arena_view %c256 bytes %c0
    rt.launch @k::@k grid(%c0, %c0, %c0) args(%x, %a : !rt.buffer, !rt.buffer) writes [1]
    rt.launch @k::@k grid(%c0, %c0, %c0) args(%x, %b : !rt.buffer, !rt.buffer) writes [1]
    rt.launch @k::@k grid(%c0, %c0, %c0) args(%a, %y : !rt.buffer, !rt.buffer) writes [1]
    rt.launch @k::@k grid(%c0, %c0, %c0) args(%b, %y : !rt.buffer, !rt.buffer) writes [1]
    return
  }
}

// -----

// Sizes that nobody knows, with more steps than they are needed for.
rt.variant @LaidOut target "sm_80" {
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
      %n from 0 to 3,
      %m from 1 to 2
    ]
    %a = rt.arena_view %offset#0 bytes %n loc("first")
    %b = rt.arena_view %offset#1 bytes %m loc("second")
    rt.launch @k::@k grid(%c0, %c0, %c0) args(%x, %a : !rt.buffer, !rt.buffer) writes [1]
    rt.launch @k::@k grid(%c0, %c0, %c0) args(%a, %b : !rt.buffer, !rt.buffer) writes [1]
    rt.launch @k::@k grid(%c0, %c0, %c0) args(%b, %y : !rt.buffer, !rt.buffer) writes [1]
    return
  }
}
