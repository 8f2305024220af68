// Interfaces of operators that become constants, other operators, or nothing.
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_GRAPH_INTERFACES_TD
#define CAMEO_GRAPH_INTERFACES_TD

include "mlir/IR/Interfaces.td"

def FoldInterface : OpInterface<"FoldInterface"> {
  let cppNamespace = "::cameo";
  let description = [{
    An operator whose results the compiler computes where its operands are constants, to the same bits on every host.
  }];
  let methods = [
    InterfaceMethod<"Sets the results, or fails.", "::llvm::LogicalResult", "foldConstants",
                    (ins "::cameo::Fold &":$fold)>,
    InterfaceMethod<[{
      True where operands of equal elements make a result of equal elements, of the shape that they broadcast to.
    }], "bool", "isElementwise">];
}

def ControlFlowInterface : OpInterface<"ControlFlowInterface"> {
  let cppNamespace = "::cameo";
  let description = [{
    An operator that holds graphs, or works on sequences or optionals: it is taken out of a model where no run decides
    what becomes of it, and needs neither a shape rule nor a lowering.
  }];
  let methods = [
    InterfaceMethod<"What is not supported of it, for the documentation.", "::llvm::StringRef", "limits">];
}

def SimplificationInterface : OpInterface<"SimplificationInterface"> {
  let cppNamespace = "::cameo";
  let description = [{
    An operator that may compute nothing, or be one operator with the one before it.
  }];
  let methods = [
    InterfaceMethod<"The value that the first result is equal to, bit for bit; null where there is none.",
                    "::mlir::Value", "identity">,
    InterfaceMethod<"Takes the operator that the first operand is of into this one, or fails.",
                    "::llvm::LogicalResult", "mergeWithOperand">];
}

#endif // CAMEO_GRAPH_INTERFACES_TD
