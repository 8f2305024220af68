// Weights that lie in a file beside the text that refers to them with #onnx.external.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <mutex>

namespace mlir {
class BytecodeDialectInterface;
} // namespace mlir

namespace cameo::onnx {

class ExternalAttr;
class MappedFile;

/// What the offset of each weight in a file is a multiple of.
inline constexpr uint64_t kWeightAlignment = 64;

/// The hash that #onnx.external has of its bytes.
uint64_t weightHash(llvm::ArrayRef<char> bytes);

/// Maps each file once and keeps it for as long as the dialect lives. Can be used from any thread.
class WeightFiles {
public:
  WeightFiles();
  ~WeightFiles();

  /// The `size` bytes at `offset` of the file that is called `name` as seen from `folder`. An error
  /// names the file and what is wrong with it; that the hash differs is one.
  llvm::Expected<llvm::ArrayRef<char>> read(llvm::StringRef folder, llvm::StringRef name,
                                            uint64_t offset, uint64_t size, uint64_t hash);

  /// The resource with the same bytes, of which there is one; nothing is copied.
  mlir::DenseResourceElementsAttr asResource(ExternalAttr value);

private:
  std::mutex mutex;
  llvm::StringMap<std::shared_ptr<MappedFile>> files;
  llvm::DenseSet<std::pair<const char *, uint64_t>> checked;
  llvm::DenseMap<std::pair<const char *, uint64_t>, mlir::DenseResourceElementsHandle> resources;
};

/// Writes #onnx.external as the resource with its bytes.
std::unique_ptr<mlir::BytecodeDialectInterface> makeBytecodeInterface(mlir::Dialect *dialect);

} // namespace cameo::onnx
