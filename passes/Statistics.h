// Statistics of passes: declared in Passes.td, counted with `count`, printed by the tools.
//
// A Statistic of TableGen is an empty object where LLVM was built without statistics, as releases
// are: it counts nothing and does not even know its name. So the declarations serve the
// documentation, and the numbers are kept beside the context.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/IR/DialectRegistry.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <map>
#include <mutex>
#include <string>

namespace cameo {

/// What passes have counted.
class PassStatistics {
public:
  /// Passes that run in contexts of this registry count here from now on. They must not outlive it.
  void attach(mlir::DialectRegistry &registry);

  void add(llvm::StringRef pass, llvm::StringRef statistic, uint64_t amount);

  uint64_t get(llvm::StringRef pass, llvm::StringRef statistic);

  /// By pass and statistic, in the order of their names.
  void print(llvm::raw_ostream &output);

private:
  std::mutex mutex;
  std::map<std::string, std::map<std::string, uint64_t>> passes;
};

/// Adds to a statistic of a pass that runs in `context`; does nothing where nobody asks for
/// statistics. Can be called from any thread.
void count(mlir::MLIRContext *context, llvm::StringRef pass, llvm::StringRef statistic,
           uint64_t amount = 1);

} // namespace cameo
