// RUN: cameo-opt %s --pass-pipeline='builtin.module(rt.variant(cameo-assign-layouts{layout=rows-first}))' --verify-diagnostics

// expected-error @below {{layout 'rows-first' is not tensor-cores, auto, channels-last or as-imported}}
rt.variant @sm_80 target "sm_80" {
  func.func @main() {
    return
  }
}
