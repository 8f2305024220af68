// Interfaces of ops that the dialect implements: sizes and host values of results, and what to use instead.
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_ONNX_INTERFACES_TD
#define CAMEO_ONNX_INTERFACES_TD

include "mlir/IR/Interfaces.td"

def ONNX_ShapeRuleInterface : OpInterface<"ShapeRuleInterface"> {
  let cppNamespace = "::cameo::onnx";
  let description = [{
    An operator whose results' sizes are known from those of its operands, its attributes and values on the host.
    Without this interface an operator is refused.
  }];
  let methods = [InterfaceMethod<[{
    Sizes of the results, or a refusal; results beyond the list are not computed.
  }], "::mlir::FailureOr<::llvm::SmallVector<::cameo::onnx::Sizes>>", "inferSizes",
      (ins "::cameo::onnx::Shapes &":$shapes)>];
}

def ONNX_HostValueInterface : OpInterface<"HostValueInterface"> {
  let cppNamespace = "::cameo::onnx";
  let description = [{
    An operator whose results the host can compute, so that shapes may depend on them.
  }];
  let methods = [InterfaceMethod<[{
    Values of a result from the operands' host values; failure, without a refusal, where they are not known.
  }], "::mlir::FailureOr<::cameo::onnx::Sizes>", "hostValue",
      (ins "::cameo::onnx::Shapes &":$shapes, "unsigned":$result)>];
}

def ONNX_NearestFormInterface : OpInterface<"NearestFormInterface"> {
  let cppNamespace = "::cameo::onnx";
  let description = [{
    An operator that cannot be compiled, with what comes nearest to it.
  }];
  let methods = [InterfaceMethod<[{
    The rest of a refusal that says "nearest supported: ".
  }], "::llvm::StringRef", "nearestForm">];
}

#endif // CAMEO_ONNX_INTERFACES_TD
