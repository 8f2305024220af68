// A model to compile, as a file or through a pipe.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/onnx/Import.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>
#include <vector>

namespace cameo {

struct ModelInput {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  uint64_t hash = 0;              // XXH3 of the model's bytes, without external data
  std::vector<std::string> files; // of external data
  std::vector<onnx::TensorOrigin> tensors;
};

/// Whether a path is standard input (`-`, `/dev/stdin`), a pipe or a socket.
bool isStream(llvm::StringRef path);

/// XXH3 of a model's bytes.
uint64_t hashOfModel(llvm::StringRef bytes);
/// As `--info` prints it.
std::string hashText(uint64_t hash);
/// The same of a file's, 0 where it cannot be read.
uint64_t hashFile(llvm::StringRef path);

/// Imports a model, of which the initialisers of these names become inputs. One from a stream has its
/// external data in the working directory. The module is null after a diagnostic.
ModelInput readModel(llvm::StringRef path, mlir::MLIRContext *context,
                     const std::vector<std::string> &overridable = {});

} // namespace cameo
