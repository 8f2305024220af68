// The shape rules of all operators: rows of the families' files, attached to the ops.
//
// A rule gives the sizes of an operator's results from those of its operands, its attributes and
// values on the host, and refuses what cannot be compiled. Lowerings ask the same rules, so that
// what is inferred and what is run cannot differ.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/onnx/Interfaces.h"
#include "dialects/onnx/Onnx.h"
#include "dialects/onnx/OperatorRows.h"

namespace cameo::onnx {

/// Sizes of the results; those beyond the list are not computed.
using ShapeRule = mlir::FailureOr<llvm::SmallVector<Sizes>> (*)(Shapes &shapes,
                                                                mlir::Operation *op);
/// Values of a result computed on the host from the operands' host values; says nothing where it
/// fails.
using HostFunction = mlir::FailureOr<Sizes> (*)(Shapes &shapes, mlir::Operation *op,
                                                unsigned result);

struct ShapeRuleModel : ShapeRuleInterface::FallbackModel<ShapeRuleModel> {
  ShapeRule row = nullptr;
  mlir::FailureOr<llvm::SmallVector<Sizes>> inferSizes(mlir::Operation *op, Shapes &shapes) const {
    return row(shapes, op);
  }
};

struct HostValueModel : HostValueInterface::FallbackModel<HostValueModel> {
  HostFunction row = nullptr;
  mlir::FailureOr<Sizes> hostValue(mlir::Operation *op, Shapes &shapes, unsigned result) const {
    return row(shapes, op, result);
  }
};

/// A family's rows: rules, with host functions where shapes may depend on an operator's values.
class ShapeRows {
public:
  explicit ShapeRows(mlir::MLIRContext &context) : rules(context), hosts(context) {}

  template <typename... Ops> void add(ShapeRule rule, HostFunction host = nullptr) {
    rules.add<Ops...>(rule);
    if (host)
      hosts.add<Ops...>(host);
  }

  OperatorRows<ShapeRuleModel> rules;
  OperatorRows<HostValueModel> hosts;
};

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
void registerElementwiseRules(ShapeRows &rows);
void registerContractionRules(ShapeRows &rows);
void registerAttentionRules(ShapeRows &rows);
void registerRecurrenceRules(ShapeRows &rows);
void registerWindowRules(ShapeRows &rows);
void registerNormalizationRules(ShapeRows &rows);
void registerReductionRules(ShapeRows &rows);
void registerLayoutRules(ShapeRows &rows);
void registerSlicingRules(ShapeRows &rows);
void registerReshapeRules(ShapeRows &rows);
void registerGeneratorRules(ShapeRows &rows);
void registerGatherRules(ShapeRows &rows);
void registerSelectionRules(ShapeRows &rows);
void registerResizeRules(ShapeRows &rows);
void registerSamplingRules(ShapeRows &rows);
void registerQuantizationRules(ShapeRows &rows);
void registerCallRules(ShapeRows &rows);
void registerRandomRules(ShapeRows &rows);

/// Host functions of elementwise operators, in HostElementwise.cpp.
void registerHostElementwise(OperatorRows<HostValueModel> &rows);

} // namespace cameo::onnx
