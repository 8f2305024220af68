// Rows of what a layer knows of operators, attached to the ops as external models of an interface.
//
//   rows.add<GatherOp, GatherNDOp>({lowerGather, "indices are moved into range"});
//
// A model has one member, its row: functions and facts of one operator. A row names ops by their classes, so that a
// misspelt one does not compile.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/TypeName.h"

namespace cameo::onnx {

template <typename Model> class OperatorRows {
public:
  using Row = decltype(Model::row);

  /// The ops of the context get the rows; their dialect is loaded.
  explicit OperatorRows(mlir::MLIRContext &context) : context(context) {}

  template <typename... Ops> void add(const Row &row) {
    (attach(mlir::TypeID::get<Ops>(), Ops::getOperationName(), row), ...);
  }

private:
  using Interface = typename Model::Interface;

  void attach(mlir::TypeID id, llvm::StringRef name, const Row &row) {
    std::optional<mlir::RegisteredOperationName> op =
        mlir::RegisteredOperationName::lookup(id, &context);
    if (!op || op->hasInterface<Interface>())
      llvm::report_fatal_error(name + (op ? " has two rows of " : " is not registered for ") +
                                   llvm::getTypeName<Interface>(),
                               /*gen_crash_diag=*/false);
    op->attachInterface<Model>();
    static_cast<Model *>(op->getInterface<Interface>())->row = row;
  }

  mlir::MLIRContext &context;
};

/// The row of an op of the onnx dialect; null where it has none.
template <typename Model> const decltype(Model::row) *rowOf(mlir::OperationName op) {
  auto *model = static_cast<const Model *>(op.getInterface<typename Model::Interface>());
  return model ? &model->row : nullptr;
}

} // namespace cameo::onnx
