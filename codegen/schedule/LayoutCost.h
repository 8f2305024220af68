// How long dispatches take for each order in which their operands may be stored.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/schedule/DispatchKey.h"
#include "codegen/schedule/Schedule.h"

#include <map>

namespace cameo {

/// A dispatch, whose operands can be stored otherwise as long as it is not changed.
struct LayoutQuestion {
  kernel::DispatchOp op;
  RankedSchedule ranked; // the best class, as operands are
  AccessPattern pattern;
  llvm::SmallVector<mlir::Value> operands; // inputs, then results
  DispatchKey key;                         // equal ones have equal answers

  bool isOnMatrix() const { return ranked.best.work && ranked.best.work->onMatrix; }
};

class LayoutCost {
public:
  explicit LayoutCost(const Target &target) : target(target) {}

  /// Nothing where no schedule class takes the dispatch, whose operands are given.
  std::optional<LayoutQuestion> ask(kernel::DispatchOp op, llvm::ArrayRef<mlir::Value> operands);

  /// Microseconds if operands are stored in these orders, up to what is the same for all: what the
  /// class's accesses to memory take and, of products, which are decided by how their operands are
  /// copied, what their best kernel for such operands does.
  double microseconds(const LayoutQuestion &question, OperandOrders orders);

  /// Of a launch that copies a tensor from one order to another.
  double copyMicroseconds(mlir::RankedTensorType type) const;

private:
  double timeOfBytes(double bytes) const;
  double kernelMicroseconds(const LayoutQuestion &question, OperandOrders orders) const;

  const Target &target;
  DispatchHasher hasher;
  std::map<std::pair<DispatchKey, llvm::SmallVector<DimOrder>>, double> answers;
};

} // namespace cameo
