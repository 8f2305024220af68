// RUN: %cameo-opt --pass-pipeline='builtin.module(gpu.module(cameo-fence-accumulators))' %s | FileCheck %s

gpu.module @kernels {
  // CHECK-LABEL: llvm.func @applies
  // CHECK:       ^[[LOOP:.*]](%{{.*}}: i32, %[[S:.*]]: f32, %[[V:.*]]: vector<2xf64>):
  // CHECK:         llvm.br ^[[LOOP]]
  // CHECK:         %[[V0:.*]] = llvm.extractelement %[[V]]
  // CHECK:         %[[V1:.*]] = llvm.extractelement %[[V]]
  // CHECK:         %[[ALL:.*]] = llvm.inline_asm has_side_effects asm_dialect = att "", "=f,=d,=d,0,1,2" %[[S]], %[[V0]], %[[V1]]
  // CHECK:         %[[FENCED:.*]] = llvm.extractvalue %[[ALL]][0]
  // CHECK:         llvm.insertelement
  // CHECK:         %[[WHOLE:.*]] = llvm.insertelement
  // CHECK:         llvm.store %[[FENCED]]
  // CHECK:         llvm.store %[[WHOLE]]
  llvm.func @applies(%a: f32, %b: vector<2xf64>, %p: !llvm.ptr<1>, %q: !llvm.ptr<1>) {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    llvm.br ^loop(%zero, %a, %b : i32, f32, vector<2xf64>)
  ^loop(%i: i32, %s: f32, %v: vector<2xf64>):
    %more = llvm.icmp "slt" %i, %one : i32
    llvm.cond_br %more, ^body, ^exit
  ^body:
    %j = llvm.add %i, %one : i32
    %t = llvm.intr.fma(%a, %a, %s) : (f32, f32, f32) -> f32
    %w = llvm.intr.fma(%b, %b, %v) : (vector<2xf64>, vector<2xf64>, vector<2xf64>) -> vector<2xf64>
    llvm.br ^loop(%j, %t, %w : i32, f32, vector<2xf64>)
  ^exit:
    llvm.store %s, %p : f32, !llvm.ptr<1>
    llvm.store %v, %q : vector<2xf64>, !llvm.ptr<1>
    llvm.return
  }

  // The loop stays, and what it carries with it.
  // CHECK-LABEL: llvm.func @runs_twice
  // CHECK-NOT:     inline_asm
  llvm.func @runs_twice(%a: f32, %p: !llvm.ptr<1>) {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %two = llvm.mlir.constant(2 : i32) : i32
    llvm.br ^loop(%zero, %a : i32, f32)
  ^loop(%i: i32, %s: f32):
    %more = llvm.icmp "slt" %i, %two : i32
    llvm.cond_br %more, ^body, ^exit
  ^body:
    %j = llvm.add %i, %one : i32
    %t = llvm.intr.fma(%a, %a, %s) : (f32, f32, f32) -> f32
    llvm.br ^loop(%j, %t : i32, f32)
  ^exit:
    llvm.store %s, %p : f32, !llvm.ptr<1>
    llvm.return
  }

  // CHECK-LABEL: llvm.func @as_often_as_is_said
  // CHECK-NOT:     inline_asm
  llvm.func @as_often_as_is_said(%a: f32, %n: i32, %p: !llvm.ptr<1>) {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    llvm.br ^loop(%zero, %a : i32, f32)
  ^loop(%i: i32, %s: f32):
    %more = llvm.icmp "slt" %i, %n : i32
    llvm.cond_br %more, ^body, ^exit
  ^body:
    %j = llvm.add %i, %one : i32
    %t = llvm.intr.fma(%a, %a, %s) : (f32, f32, f32) -> f32
    llvm.br ^loop(%j, %t : i32, f32)
  ^exit:
    llvm.store %s, %p : f32, !llvm.ptr<1>
    llvm.return
  }

  // No sum.
  // CHECK-LABEL: llvm.func @last_value
  // CHECK-NOT:     inline_asm
  llvm.func @last_value(%a: f32, %p: !llvm.ptr<1>) {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    llvm.br ^loop(%zero, %a : i32, f32)
  ^loop(%i: i32, %s: f32):
    %more = llvm.icmp "slt" %i, %one : i32
    llvm.cond_br %more, ^body, ^exit
  ^body:
    %j = llvm.add %i, %one : i32
    %t = llvm.fadd %a, %s : f32
    llvm.br ^loop(%j, %t : i32, f32)
  ^exit:
    llvm.store %s, %p : f32, !llvm.ptr<1>
    llvm.return
  }
}
