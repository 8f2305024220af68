// SPDX-License-Identifier: Apache-2.0
// What layouts of tiles and fragments answer. A new layout is an attribute in Kernel.td and a file
// here with the methods of its interfaces.
#ifndef CAMEO_KERNEL_LAYOUTS_TD
#define CAMEO_KERNEL_LAYOUTS_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"

def Kernel_FragmentLayout : AttrInterface<"FragmentLayoutInterface"> {
  let cppNamespace = "::cameo::kernel";
  let description = "How the elements of a fragment are spread over threads.";
  let methods = [InterfaceMethod<"The values each thread has; errors are emitted.",
      "::llvm::FailureOr<::cameo::kernel::Spread>", "spread",
      (ins "int64_t":$rows, "int64_t":$cols, "::mlir::Type":$element,
           "::llvm::function_ref<::mlir::InFlightDiagnostic()>":$emitError)>];
}

def Kernel_AccumulatorLayout : AttrInterface<"AccumulatorLayoutInterface"> {
  let cppNamespace = "::cameo::kernel";
  let description = "A layout of accumulators: it says how a contraction's operands are spread.";
  let methods = [InterfaceMethod<"The same of operand `number`, 0 or 1, of the contraction.",
      "::llvm::FailureOr<::cameo::kernel::Spread>", "spreadOperand",
      (ins "int64_t":$number, "int64_t":$rows, "int64_t":$cols, "::mlir::Type":$element,
           "::llvm::function_ref<::mlir::InFlightDiagnostic()>":$emitError)>];
}

def Kernel_TileLayout : AttrInterface<"TileLayoutInterface"> {
  let cppNamespace = "::cameo::kernel";
  let description = "Where the elements of a tile are in shared memory.";
  let methods = [
    InterfaceMethod<"Whether such a tile can have this layout; errors are emitted.",
      "::llvm::LogicalResult", "verifyTile",
      (ins "int64_t":$rows, "int64_t":$cols, "::mlir::Type":$element,
           "::llvm::function_ref<::mlir::InFlightDiagnostic()>":$emitError)>,
    InterfaceMethod<"From the first element to behind the last.", "int64_t", "elements",
      (ins "int64_t":$rows, "int64_t":$cols)>,
    InterfaceMethod<"In bytes, of the tile and each of its stages.", "int64_t", "alignment">,
    InterfaceMethod<"Whether a row's elements are beside one another; not: a column's are.",
      "bool", "hasConsecutiveRows">];
}

#endif
