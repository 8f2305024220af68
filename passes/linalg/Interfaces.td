// The interface of operators that are lowered to dispatches.
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_LINALG_INTERFACES_TD
#define CAMEO_LINALG_INTERFACES_TD

include "mlir/IR/Interfaces.td"

def LoweringInterface : OpInterface<"LoweringInterface"> {
  let cppNamespace = "::cameo";
  let description = [{
    An operator that becomes dispatches and arithmetic of the plan. Each has one lowering, which asks the operator's
    shape rule for sizes.
  }];
  let methods = [InterfaceMethod<[{
    Defines each of the results; fails where the shape rule refuses the operator.
  }], "::llvm::LogicalResult", "lower", (ins "::cameo::Lowering &":$lowering)>];
}

#endif // CAMEO_LINALG_INTERFACES_TD
