// Instrumentations of pass managers that name passes in crashes and errors.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/Pipeline.h"

#include "mlir/Pass/PassInstrumentation.h"

#include <functional>

namespace cameo {

/// Has the stack that LLVM prints in a crash name the passes at work in that thread.
std::unique_ptr<mlir::PassInstrumentation> namePassesInCrashes();

/// Watches the passes that populateStage adds for a stage, and names an inserted one that fails, leaves
/// invalid IR, breaks the form of the stage or has nothing to run on.
class InsertedPassWatch : public mlir::PassInstrumentation {
public:
  using SayFunction = std::function<void(const llvm::Twine &text)>;

  static bool isWanted(const PipelineOptions &options, Stage stage);

  InsertedPassWatch(const PipelineOptions &options, Stage stage, SayFunction fail,
                    SayFunction warn);
  void runBeforePass(mlir::Pass *pass, mlir::Operation *op) override;
  void runAfterPass(mlir::Pass *pass, mlir::Operation *op) override;
  void runAfterPassFailed(mlir::Pass *pass, mlir::Operation *op) override;

private:
  /// The inserted pass at work; null while the stage's own passes are.
  const InsertedPass *current() const;
  bool isVerification(mlir::Pass *pass) const;

  std::string verification; // the pass that verifies a stage's form
  llvm::SmallVector<InsertedPass> inserted;
  SayFunction fail, warn;
  size_t verified = 0; // verifications so far: one before the first inserted pass
  size_t runs = 0;     // of the inserted pass at work
  bool isTold = false; // one failure is, though passes may fail on several threads
};

} // namespace cameo
