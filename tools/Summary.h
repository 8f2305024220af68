// The three lines that cameoc says of an artefact.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/calibrate/KeepAccuracy.h"
#include "passes/Statistics.h"
#include "passes/precision/Policy.h"

#include "mlir/IR/BuiltinOps.h"

#include <map>

namespace cameo {

class Summary {
public:
  /// Counts the products of a module at stage precision, with what passes have counted up to there.
  void readProducts(mlir::ModuleOp module, PassStatistics &statistics);

  /// `asked` is what the model was compiled with. `accuracy` may be null.
  ///
  ///   fashion: 1.79 MB in 1.6 s: cubin for sm_80, simulator image for sm_80
  ///   11 launches: 11 fp16; 10 on Tensor Cores; estimated 113.1 us on a100-40; 10 products: 10 fp16
  ///   open sizes: N; schedules and estimates take 64 for each, --shapes=N:8 fixes one
  void print(llvm::raw_ostream &output, llvm::StringRef path, llvm::StringRef manifest,
             double seconds, const PrecisionOptions &asked, const AccuracyResult *accuracy) const;

private:
  std::map<Precision, unsigned> products;
  unsigned scaled = 0; // values whose channels are
};

} // namespace cameo
