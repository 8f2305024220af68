// What cameoc shows of the passes it runs: its own options, and MLIR's.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/CameocOptions.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Support/Timing.h"

namespace cameo {

class PassPrinting {
public:
  /// Hands --mlir-... options to MLIR. An error names an option that is none of them, or a pass
  /// that the pipeline does not have. `options` must outlive the object.
  static llvm::Expected<std::unique_ptr<PassPrinting>> create(const CameocOptions &options);

  /// Before the passes that lead to a stage run.
  void attach(mlir::PassManager &passes);

private:
  explicit PassPrinting(const CameocOptions &options);

  const CameocOptions &options;
  mlir::DefaultTimingManager timing;
  mlir::TimingScope total;
};

} // namespace cameo
