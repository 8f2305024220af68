// Reads an ONNX model into a module of the onnx dialect.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace cameo::onnx {

/// What a tensor of the model's graph, or of a graph in it, is made by: a node's location, and which of its results it is.
struct TensorOrigin {
  std::string tensor, node;
  unsigned result;
};

struct ImportOptions {
  /// Nodes of the model after its functions are inlined.
  int64_t maxNodes = 4'000'000;
  /// Those of them that stand in functions: each call adds its function's.
  int64_t maxInlinedNodes = 500'000;
  /// Bytes that one sparse constant may unfold to.
  int64_t maxUnfoldedBytes = int64_t(256) << 20;
  /// Where external data of a model from memory lies; empty refuses external data.
  std::string externalDataFolder;
  /// Initialisers of the model's graph that become inputs, behind those that it declares.
  std::vector<std::string> overridable;
  /// Receives the paths of the files of external data that were read.
  std::vector<std::string> *externalFiles = nullptr;
  /// Receives where tensors come from, in the order of the nodes; inputs and initialisers are not
  /// among them.
  std::vector<TensorOrigin> *tensors = nullptr;
};

/// Imports a file. The model becomes one `func.func`; functions are inlined; every operator is
/// converted to opset kOpset with the semantics of the version the model asks for. Large weights
/// refer to the parsed file or to mapped external files, which live as long as the context.
/// Loads the dialects it needs. Null after one error diagnostic, with a note for each problem where
/// there are several.
mlir::OwningOpRef<mlir::ModuleOp> importOnnxFile(llvm::StringRef path, mlir::MLIRContext *context,
                                                 const ImportOptions &options = {});

/// Imports bytes, which need not outlive the call. `name` stands in messages.
mlir::OwningOpRef<mlir::ModuleOp> importOnnxBuffer(llvm::StringRef bytes, llvm::StringRef name,
                                                   mlir::MLIRContext *context,
                                                   const ImportOptions &options = {});

/// A row of the conversion table.
struct OpsetRow {
  llvm::StringRef op;
  int64_t sinceVersion;
  /// Nothing to convert: the operator means the same at kOpset.
  bool unchanged;
};
/// Every (operator, version) that the importer takes, in alphabetical order and by version.
std::vector<OpsetRow> listOpsetRows();

} // namespace cameo::onnx
