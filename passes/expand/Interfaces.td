// The interface of operators that are written as others.
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_EXPAND_INTERFACES_TD
#define CAMEO_EXPAND_INTERFACES_TD

include "mlir/IR/Interfaces.td"

def ExpansionInterface : OpInterface<"ExpansionInterface"> {
  let cppNamespace = "::cameo";
  let description = [{
    An operator for which others stand: it has neither shape rule nor lowering of its own.
  }];
  let methods = [InterfaceMethod<[{
    Emits the operators and gives a value for each result, or refuses.
  }], "::llvm::LogicalResult", "expand", (ins "::cameo::Expander &":$expander)>];
}

#endif // CAMEO_EXPAND_INTERFACES_TD
