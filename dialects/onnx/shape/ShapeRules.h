// The shape rules of all operators: one table, put together from the families' files.
//
// A rule gives the sizes of an operator's results from those of its operands, its attributes and
// values on the host, and refuses what cannot be compiled. Lowerings ask the same rules, so that
// what is inferred and what is run cannot differ.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/onnx/shape/Shapes.h"

#include "llvm/ADT/StringMap.h"

namespace cameo::onnx {

/// Sizes of the results; those beyond the list are not computed.
using ShapeRule = mlir::FailureOr<llvm::SmallVector<Sizes>> (*)(Shapes &shapes,
                                                                mlir::Operation *op);
/// Values of a result computed on the host from the operands' host values; says nothing where it
/// fails.
using HostFunction = mlir::FailureOr<Sizes> (*)(Shapes &shapes, mlir::Operation *op,
                                                unsigned result);

struct OperatorRules {
  ShapeRule infer;
  HostFunction host = nullptr; // where shapes may depend on its values
};
using RuleTable = llvm::StringMap<OperatorRules>; // by ONNX name, e.g. "Conv"

const RuleTable &shapeRules();
/// The rules of an op; null for None, Constant and what is not supported.
const OperatorRules *rulesOf(mlir::Operation *op);
/// The sizes of an op's results, or a refusal. Only for ops that have rules.
mlir::FailureOr<llvm::SmallVector<Sizes>> inferSizes(Shapes &shapes, mlir::Operation *op);

/// A rule of one result that needs nothing but sizes.
template <auto rule>
mlir::FailureOr<llvm::SmallVector<Sizes>> fromSizes(Shapes &shapes, mlir::Operation *op) {
  mlir::FailureOr<Sizes> sizes = rule(shapes.sizes, op, shapes.operands(op));
  if (mlir::failed(sizes))
    return mlir::failure();
  return llvm::SmallVector<Sizes>{*sizes};
}

/// A rule of one result that may ask for host values; it gives its sizes, or a struct with them as
/// `result`.
template <auto rule>
mlir::FailureOr<llvm::SmallVector<Sizes>> fromShapes(Shapes &shapes, mlir::Operation *op) {
  auto inferred = rule(shapes, op);
  if (mlir::failed(inferred))
    return mlir::failure();
  if constexpr (std::is_same_v<decltype(inferred), mlir::FailureOr<Sizes>>)
    return llvm::SmallVector<Sizes>{*inferred};
  else
    return llvm::SmallVector<Sizes>{inferred->result};
}

// The families, one file each.
void registerElementwiseRules(RuleTable &table);
void registerContractionRules(RuleTable &table);
void registerAttentionRules(RuleTable &table);
void registerWindowRules(RuleTable &table);
void registerNormalizationRules(RuleTable &table);
void registerReductionRules(RuleTable &table);
void registerLayoutRules(RuleTable &table);
void registerSlicingRules(RuleTable &table);
void registerReshapeRules(RuleTable &table);
void registerGeneratorRules(RuleTable &table);
void registerGatherRules(RuleTable &table);
void registerResizeRules(RuleTable &table);
void registerSamplingRules(RuleTable &table);
void registerQuantizationRules(RuleTable &table);

/// The host function of an elementwise operator, or null.
HostFunction hostElementwise(llvm::StringRef operatorName);

} // namespace cameo::onnx
