// Kernels of dispatches, and their launches.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/schedule/DispatchKey.h"
#include "codegen/schedule/IndexWidth.h"
#include "codegen/schedule/KernelWriter.h"
#include "dialects/rt/Rt.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

#include <map>

namespace cameo {

/// On a dispatch, and then on its kernels: the number of the candidate that it is made to try.
inline constexpr llvm::StringLiteral kTrialAttr =
    kernel::KernelDialect::TrialAttrHelper::getNameStr();

struct Target;

/// A size of a tensor in the dispatch as a value of the plan; null where the plan does not have it.
mlir::Value planSize(mlir::OpBuilder &host, kernel::DispatchOp op, mlir::Value tensor, int64_t dim);

/// Whether integers of the description may become indices.
bool castsToIndex(kernel::DispatchOp op);
/// Whether a scalar of the plan may be part of an index of the kernel: an offset, say.
bool isIndex(kernel::DispatchOp op, mlir::Type scalar);

/// Makes the kernels of one variant and launches them in place of its dispatches. Dispatches with
/// the same description and schedule share kernels.
class KernelEmitter {
public:
  /// Kernels with 32-bit indices reach `bound` elements.
  KernelEmitter(rt::VariantOp variant, const Target &target, int64_t bound = kIndexBound)
      : variant(variant), target(target), bound(bound) {}

  /// From now on `op` is launched. In chunks, where that is one kernel instead of two, and may be.
  void begin(kernel::DispatchOp op, bool mayBeInChunks = true);

  /// From now on launches are estimated at this; null: nothing is known.
  void setEstimate(rt::EstimateAttr each) { estimate = each; }

  /// From now on launches of the dispatch finish the kernel that computed `parts` (launchParts).
  void finish(mlir::Value parts);

  /// From now on each launch of the dispatch is made `times` times, one after another. The kernel has the
  /// number of the launch, and what `workspace`, an empty tensor, holds from one to the next: it is
  /// the key to its memory in the kernel.
  void repeat(mlir::Value times, mlir::Value workspace) { repeated = {times, workspace}; }

  /// Whether kernels of the dispatch, as things are, would have to be of two kinds: with 32-bit
  /// indices, and with 64-bit ones for large tensors.
  bool needsTwo(kernel::DispatchOp op) const {
    return !isFar && !chunks && !fitsIn32Bits(op, bound);
  }
  /// From now on kernels of the dispatch are one, with 32-bit indices: they are far.
  void reachFar() { isFar = true; }
  int64_t indexBound() const { return bound; }

  /// Size of a destination (by position) along a dimension as a grid has to cover it: where the
  /// launch is in chunks, that of the first one.
  mlir::Value gridSize(mlir::OpBuilder &host, kernel::DispatchOp op, unsigned output, int64_t dim);

  /// Writes a kernel for `op` by `body`, unless one was already written for an equal dispatch under
  /// the same `part`, and launches it before `op` with `grid`; the launch writes the destinations
  /// `outputs` (positions). Results are those destinations after the launch. The grid has one
  /// dimension: chunks are along z.
  mlir::FailureOr<llvm::SmallVector<mlir::Value>>
  launch(kernel::DispatchOp op, llvm::StringRef part, int64_t threads, mlir::ValueRange grid,
         llvm::ArrayRef<int64_t> outputs,
         llvm::function_ref<llvm::LogicalResult(KernelWriter &)> body);

  /// The same of a kernel that computes a value of the description on the way to the results, in
  /// `parts` that others add up, and writes these to `workspace`, an empty tensor, which is the key
  /// to its memory in the kernel. Not in chunks.
  mlir::FailureOr<mlir::Value>
  launchParts(mlir::Value workspace, mlir::Value described, int64_t parts, kernel::DispatchOp op,
              int64_t threads, mlir::ValueRange grid,
              llvm::function_ref<llvm::LogicalResult(KernelWriter &)> body);

  /// Writes on each kernel which nodes it computes; when everything is launched.
  void nameNodes();

private:
  /// How one launch differs from others of the dispatch.
  struct Form {
    int indexBits = 32;
    bool inChunks = false, isFar = false;
    llvm::StringRef suffix = ""; // of the kernel's name
    /// What is written in place of destinations, and parts of what value; null: destinations.
    mlir::Value workspace = {}, described = {};
    int64_t parts = 1;
    mlir::Value times = {}; // null: it is launched once
  };
  /// The same in a form, writing `destinations` in place of the dispatch's.
  mlir::FailureOr<llvm::SmallVector<mlir::Value>>
  launch(kernel::DispatchOp op, llvm::StringRef part, int64_t threads, mlir::ValueRange grid,
         llvm::ArrayRef<int64_t> outputs, mlir::ValueRange destinations, Form form,
         llvm::function_ref<llvm::LogicalResult(KernelWriter &)> body);

  /// What a launch passes to its kernel.
  struct Operands {
    llvm::SmallVector<mlir::Value> values;
    llvm::SmallVector<mlir::Value> targets; // the block arguments that the first of them are
    size_t tensors;                         // of these, in front
    llvm::SmallVector<int64_t> written;     // positions
    /// Sizes known only at run time, and where they are sizes: dimension `dim` of a block argument,
    /// or its stride along dimension -1 - `dim`.
    llvm::MapVector<mlir::Value, llvm::SmallVector<std::pair<mlir::Value, int64_t>>> dynamic;
  };
  Operands operandsOf(kernel::DispatchOp op, llvm::ArrayRef<int64_t> outputs,
                      mlir::ValueRange destinations, Form form);
  mlir::gpu::GPUFuncOp write(kernel::DispatchOp op, llvm::StringRef name, int64_t threads,
                             const Operands &operands, Form form,
                             llvm::SmallVectorImpl<int64_t> &inPlace,
                             llvm::function_ref<llvm::LogicalResult(KernelWriter &)> body);
  void beginChunk(KernelWriter &kernel, const Operands &operands);

  struct Known {
    mlir::gpu::GPUFuncOp function;
    llvm::SetVector<llvm::StringRef> nodes;
    llvm::SmallVector<int64_t> inPlace; // of its launches, see rt::kInPlaceAttr
  };

  rt::VariantOp variant;
  const Target &target;
  int64_t bound;
  std::optional<Chunks> chunks; // of the dispatch that is launched
  bool isFar = false;           // its kernels are
  mlir::SymbolRefAttr finished; // see LaunchOp; null: none
  struct {
    mlir::Value times, workspace;
  } repeated;                // null: nothing is
  rt::EstimateAttr estimate; // the same
  DispatchHasher hasher;
  std::map<DispatchKey, Known> known;
  unsigned count = 0;
};

} // namespace cameo
