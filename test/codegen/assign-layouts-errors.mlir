// RUN: cameo-opt %s --pass-pipeline='builtin.module(rt.variant(cameo-assign-layouts{layout=rows-first}))' --verify-diagnostics

// expected-error @below {{layout 'rows-first' is not one of tensor-cores, auto, channels-last and as-imported}}
rt.variant @sm_80 target "sm_80" {
  func.func @main() {
    return
  }
}
