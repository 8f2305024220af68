// The interface of operators in mixed precision.
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_PRECISION_INTERFACES_TD
#define CAMEO_PRECISION_INTERFACES_TD

include "mlir/IR/Interfaces.td"

def PrecisionInterface : OpInterface<"PrecisionInterface"> {
  let cppNamespace = "::cameo";
  let description = [{
    An operator with a role in mixed precision. One without it stays FP32.
  }];
  let methods = [InterfaceMethod<"The operator's row of the policy.",
                                 "const ::cameo::PolicyRow &", "policy">];
}

#endif // CAMEO_PRECISION_INTERFACES_TD
