// RUN: cameo-opt %s -o %t.mlir
// RUN: cameo-opt %s --cameo-report-decisions 2> %t.remarks | diff %t.mlir -
// RUN: FileCheck %s < %t.remarks

// As text with locations, and as bytecode.
// RUN: cameo-opt %s --mlir-print-debuginfo -o %t.mlir
// RUN: cameo-opt %t.mlir --cameo-report-decisions -o /dev/null 2>&1 | diff %t.remarks -
// RUN: cameo-opt %s --emit-bytecode -o %t.mlirbc
// RUN: cameo-opt %t.mlirbc --cameo-report-decisions -o /dev/null 2>&1 | diff %t.remarks -

// What is on the module first; what is on a variant and in it has its target's name.
// CHECK: remark: loc(fused["relu", "clip"]): fused with 'conv'; it saves 64 B of memory traffic
// CHECK-NEXT: remark: loc("add"): not fused with 'conv': its result has another reader; it would save 32 B of memory traffic
// CHECK-NEXT: remark: loc("pow"): not folded: it would add 32 B
// CHECK-NEXT: remark: loc("gemm"): sm_90a: schedule #kernel.schedule<"map", {}>
// CHECK-NEXT: remark: loc("gemm"): sm_90a: packed
// CHECK-NOT: remark
module attributes {rt.ledger = [
    {at = loc(fused["relu", "clip"]), bytes = 64, from = loc("conv"), kind = "applied",
     text = "fused with 'conv'", what = "fuse"},
    {at = loc("add"), bytes = 32, from = loc("conv"), kind = "missed",
     text = "not fused with 'conv'", what = "fuse", why = "its result has another reader"}]} {
  func.func @shared() attributes {rt.ledger = [
      {at = loc("pow"), kind = "missed", text = "not folded", what = "fold",
       why = "it would add 32 B"}]} {
    return
  }
  rt.variant @sm_90a target "sm_90a" board "h200" attributes {rt.ledger = [
      {at = loc("gemm"), kind = "chosen", text = "schedule #kernel.schedule<\22map\22, {}>",
       what = "schedule"}]} {
    func.func @main() attributes {rt.ledger = [
        {at = loc("gemm"), kind = "applied", text = "packed", what = "pack"}]} {
      return
    }
  }
}
