// What fusion asks of dispatches: what they compute, whether two may become one, and whether that
// is cheaper.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/kernel/form/Form.h"
#include "dialects/kernel/form/UnknownSizes.h"
#include "passes/fuse/FusionLimits.h"

namespace cameo {

/// A dispatch, read once.
class Description {
public:
  explicit Description(kernel::DispatchOp op);

  mutable kernel::DispatchOp op; // whose accessors are not const
  Computation computation;
  DispatchForm form;
  /// Elements of each result; sizes known only at run time count as kUnknownSize.
  llvm::SmallVector<double> elements;
  /// Operations on elements, in all.
  double work = 0;
  /// Those that are done again where all elements of a result are asked for again: `work`, or, in
  /// rows, what is behind reductions, whose results a row's threads keep.
  llvm::SmallVector<double> again;
  /// Of rows: how many elements there may be in what their threads compute.
  double mostOfRows = 0;

  /// Whether it only takes elements from one place to another.
  bool isMovement() const { return movement; }

private:
  bool movement = true;
};

/// Of a tensor, and of all tensors of a dispatch.
double estimatedBytes(mlir::Type type);
double estimatedBytes(const Description &description);
/// Whether neighbours of what is computed are neighbours of what is read.
bool readsAlongRows(const Description &description);

/// Why dispatches of these forms cannot become one; empty where they may. Cheap: asked of all
/// pairs.
std::string whyApart(const Description &producer, const Description &consumer,
                     const FusionLimits &limits);
/// Whether the merged dispatch can have results of the producer beside the consumer's.
bool keepsResults(const Description &producer, const Description &consumer);
/// Why the merged dispatch, in which the producer is perhaps computed again for this consumer,
/// takes more time than the two; empty where it takes less.
std::string whyDearer(const Description &producer, const Description &consumer,
                      const FusionLimits &limits, bool repeats);
/// Whether `whyMalformed` is empty for the two merged, whatever they are: then they need not be
/// copied to find out.
bool isSurelyWellFormed(const Description &producer, const Description &consumer,
                        const FusionLimits &limits);
/// Why the merged dispatch is not of the form that its parts promise, within limits; empty where it
/// is.
std::string whyMalformed(const Description &producer, const Description &consumer,
                         const Description &merged, const FusionLimits &limits);

} // namespace cameo
