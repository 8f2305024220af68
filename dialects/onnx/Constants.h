// Constants as bytes, whichever attribute holds them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseSet.h"
#include <memory>
#include <mutex>
#include <optional>

namespace cameo::onnx {

/// Whether the value stands for an absent optional input: its type is `none`.
bool isAbsent(mlir::Value value);

/// The value of an `onnx.Constant`, or null.
mlir::ElementsAttr constantValue(mlir::Value value);

/// The elements of a constant of integers or booleans; nothing for any other value, for more than
/// `limit` elements and for unsigned values beyond int64.
std::optional<llvm::SmallVector<int64_t>> constantInts(mlir::Value value, int64_t limit = 65536);
std::optional<int64_t> constantInt(mlir::Value value);

/// The first element of a constant of floats or integers with exactly one element, as a double.
std::optional<double> constantScalar(mlir::Value value);

/// The elements in row-major order and native byte order, elementBytes() each. Refers to the
/// attribute's own bytes where their form allows, and owns a copy where not (packed booleans).
/// A splat holds one element.
class ConstantBytes {
public:
  ConstantBytes() = default;
  ConstantBytes(llvm::ArrayRef<char> referred, bool splat) : bytes(referred), splat(splat) {}
  ConstantBytes(std::vector<char> copied, bool splat)
      : storage(std::make_shared<std::vector<char>>(std::move(copied))), bytes(*storage),
        splat(splat) {}

  llvm::ArrayRef<char> get() const { return bytes; }
  bool isSplat() const { return splat; }
  /// All elements: repeats a splat `count` times into memory of its own, else refers.
  ConstantBytes expanded(int64_t count) const;

private:
  std::shared_ptr<std::vector<char>> storage;
  llvm::ArrayRef<char> bytes;
  bool splat = false;
};

/// Nothing for strings and for attributes of other kinds.
std::optional<ConstantBytes> constantBytes(mlir::ElementsAttr value);

/// The strings of a string constant, as many as it has elements.
std::optional<llvm::SmallVector<llvm::StringRef>> constantStrings(mlir::ElementsAttr value);

/// Values of at most this many bytes are dense attributes, larger ones resources.
inline constexpr int64_t kMaxDenseBytes = 1024;

/// A constant from bytes in ConstantBytes' form. Small ones are copied into a dense attribute;
/// large ones become a resource called `name` that owns `blob`'s memory.
mlir::ElementsAttr makeConstant(mlir::RankedTensorType type, llvm::StringRef name,
                                mlir::AsmResourceBlob blob);
/// The same, from a copy of the bytes.
mlir::ElementsAttr makeConstant(mlir::RankedTensorType type, llvm::StringRef name,
                                llvm::ArrayRef<char> bytes);
/// The same bytes of a large constant (one that is not a dense attribute) as elements of another
/// type; null for any other.
mlir::ElementsAttr largeConstantAs(mlir::RankedTensorType type, mlir::ElementsAttr value);
/// A constant of equal elements, from one element's bytes in ConstantBytes' form. It holds that one
/// element, however many there are; null for types of elements that dense attributes do not have.
mlir::ElementsAttr makeSplat(mlir::RankedTensorType type, llvm::ArrayRef<char> element);
mlir::ElementsAttr makeStringConstant(mlir::RankedTensorType type,
                                      llvm::ArrayRef<llvm::StringRef> values);

/// Resources with contents, so that they can be found again: MLIR's manager of resources can
/// neither be iterated over nor forget one. Can be used from any thread.
class ConstantResources {
public:
  void add(mlir::DenseResourceElementsHandle handle);
  /// Takes the contents from those whose entry in the manager is not in `kept`; returns how many
  /// bytes that frees.
  int64_t release(const llvm::DenseSet<void *> &kept);

private:
  std::mutex mutex;
  std::vector<mlir::DenseResourceElementsHandle> handles;
};

/// Frees the contents of resources made by makeConstant to which nothing in `roots` refers, one of them
/// at least, and returns how many bytes that were. For the owner of all IR in the context: attributes that are
/// kept elsewhere lose their contents.
int64_t releaseUnusedConstants(llvm::ArrayRef<mlir::Operation *> roots);

} // namespace cameo::onnx
