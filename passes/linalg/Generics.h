// linalg.generics in the bodies of dispatches, for operators of several steps.
//
// A dispatch body is a few generics: maps over all their loops and reductions. Loops have sizes as
// OpFoldResults; reads are tensors with maps from loops to their indices. Scalars are signless, and
// the element types passed along are ONNX's, so that unsigned integers compare as such.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/onnx/shape/Attributes.h"
#include "passes/linalg/Lowering.h"

namespace cameo {

using onnx::floatAttribute;
using onnx::intAttribute;
using onnx::intsAttribute;

/// A tensor and where a generic reads it: a map from its loops.
struct Read {
  mlir::Value tensor;
  mlir::AffineMap map;
};

/// What reductions combine with.
enum class Combine { Add, Mul, Max, Min };

/// combine(a, b); bool adds and maximises as or, multiplies and minimises as and. Max and Min of
/// floats propagate NaN.
mlir::Value combine(mlir::OpBuilder &b, mlir::Location loc, Combine kind, mlir::Type elementType,
                    mlir::Value x, mlir::Value y);
/// The neutral element of `kind`, also what reductions of empty sets give.
mlir::Value neutral(mlir::OpBuilder &b, mlir::Location loc, Combine kind, mlir::Type elementType);

/// `rank` loops to those of `dims`, in this order.
mlir::AffineMap selectDims(mlir::MLIRContext *context, int64_t rank, llvm::ArrayRef<int64_t> dims);
mlir::AffineMap identityMap(mlir::MLIRContext *context, int64_t rank);
/// The loops (of `loops` sizes) that `operand` is read at, its last dimensions at the last loops;
/// those known to be 1 at index 0.
Read broadcastRead(const Lowered &operand, const Sizes &loops);

/// An all-parallel generic over `sizes`; `fn` may use linalg.index. Writes `init`, by default a
/// fresh tensor.
mlir::Value mapGeneric(Lowering &l, mlir::OpBuilder &b, mlir::Location loc, const Sizes &sizes,
                       mlir::Type elementType, llvm::ArrayRef<Read> reads,
                       DispatchBuilder::ScalarFunction fn, mlir::Value init = {});

/// A dispatch whose result, of `sizes`, has the elements of `data` at `source`: for each dimension
/// of `data` an expression of the result's indices.
mlir::Value readThrough(Lowering &l, mlir::Location loc, const Lowered &data,
                        llvm::ArrayRef<mlir::AffineExpr> source, const Sizes &sizes);

/// `data` with its dimensions in the order of `permutation`; a view where only sizes of 1 move.
Lowered transposed(Lowering &l, mlir::Location loc, const Lowered &data,
                   llvm::ArrayRef<int64_t> permutation);

/// A generic over `loops` of which those marked `reduced` are reduced. `fn` gets the accumulator
/// and the scalars read and gives the next accumulator. Where nothing is reduced, the result is
/// that of one step.
using ReduceFunction = llvm::function_ref<mlir::Value(
    mlir::OpBuilder &, mlir::Location, mlir::Value accumulator, mlir::ValueRange scalars)>;
mlir::Value reduceGeneric(Lowering &l, mlir::OpBuilder &b, mlir::Location loc, const Sizes &loops,
                          llvm::ArrayRef<bool> reduced, Combine kind, mlir::Type accumulator,
                          llvm::ArrayRef<Read> reads, ReduceFunction fn, mlir::Value init = {});

/// A reduction to a best value and its position (i64), in order of the loops: `fn` gets both and
/// the scalars read and gives both.
using SearchFunction = llvm::function_ref<std::pair<mlir::Value, mlir::Value>(
    mlir::OpBuilder &, mlir::Location, mlir::Value best, mlir::Value position,
    mlir::ValueRange scalars)>;
std::pair<mlir::Value, mlir::Value>
searchGeneric(Lowering &l, mlir::OpBuilder &b, mlir::Location loc, const Sizes &loops,
              llvm::ArrayRef<bool> reduced, Combine kind, mlir::Type elementType,
              int64_t firstPosition, llvm::ArrayRef<Read> reads, SearchFunction fn,
              mlir::Value bestInit = {}, mlir::Value positionInit = {});

/// Whether `x` beats `best` of ONNX type `elementType`; of equals the last one with `last`.
/// Comparisons with NaN are false.
mlir::Value isBetter(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, mlir::Value best,
                     mlir::Type elementType, bool isMax, bool last);

/// 0 <= index < size
mlir::Value isInside(mlir::OpBuilder &b, mlir::Location loc, mlir::Value index, mlir::Value size);
/// A value computed where `condition` holds, else the constant `otherwise` of the (float) type.
using GuardedFunction = llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location)>;
mlir::Value guarded(mlir::OpBuilder &b, mlir::Location loc, mlir::Value condition, mlir::Type type,
                    double otherwise, GuardedFunction fn);
/// The same with any value of the body.
mlir::Value guarded(mlir::OpBuilder &b, mlir::Location loc, mlir::Value condition,
                    mlir::Value otherwise, GuardedFunction fn);

/// The sizes of loops that are not reduced.
Sizes keptSizes(const Sizes &loops, llvm::ArrayRef<bool> reduced);

/// An index value as a number of the signless type.
mlir::Value fromIndex(mlir::OpBuilder &b, mlir::Location loc, mlir::Value index, mlir::Type type);
/// convertScalar to or from the compute type: nothing where they are one.
mlir::Value widen(mlir::OpBuilder &b, mlir::Location loc, mlir::Value scalar, mlir::Type from,
                  mlir::Type to);

} // namespace cameo
