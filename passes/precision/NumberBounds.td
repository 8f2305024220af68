// The interface of operators whose results have bounds.
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_PRECISION_NUMBERBOUNDS_TD
#define CAMEO_PRECISION_NUMBERBOUNDS_TD

include "mlir/IR/Interfaces.td"

def NumberBoundsInterface : OpInterface<"NumberBoundsInterface"> {
  let cppNamespace = "::cameo";
  let description = [{
    An operator whose results have bounds that follow from those of its operands.
  }];
  let methods = [InterfaceMethod<[{
    Bounds of the first result, from those of all operands.
  }], "::cameo::NumberRange", "bounds", (ins "::llvm::ArrayRef<::cameo::NumberRange>":$operands)>];
}

#endif // CAMEO_PRECISION_NUMBERBOUNDS_TD
