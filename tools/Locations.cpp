// SPDX-License-Identifier: Apache-2.0
#include "tools/Locations.h"

#include "mlir/IR/AsmState.h"
#include "llvm/Support/CommandLine.h"

void cameo::printLocations() {
  mlir::registerAsmPrinterCLOptions();
  // MLIR has no other way to set it for what it prints itself.
  auto found = llvm::cl::getRegisteredOptions().find("mlir-print-debuginfo");
  assert(found != llvm::cl::getRegisteredOptions().end());
  static_cast<llvm::cl::opt<bool> *>(found->second)->setInitialValue(true);
}
