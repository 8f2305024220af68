// Arithmetic with sizes, and with the numbers on the host that sizes may depend on.
//
// A size is an OpFoldResult: an IntegerAttr of index type, or for a host float an f64 FloatAttr,
// where it is known. What it is where it is not known is for the back end to say: a value of the
// host plan (passes/linalg/PlanSizes.h) or an attribute for an expression over names
// (SymbolicSizes.h). Folding and numbering are done here and thus alike for both: equal expressions
// give the same OpFoldResult, so equality of sizes is equality of OpFoldResults, and whoever infers
// a shape knows of two sizes exactly what whoever computes them knows.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/onnx/shape/Refusals.h"

#include "mlir/IR/OpDefinition.h"

namespace cameo::onnx {

using Sizes = llvm::SmallVector<mlir::OpFoldResult>;

/// What an expression applies. Comparisons give 0 or 1; Select takes a condition and two values;
/// those with F, Round and To... are of or to host floats (f64). Integers have 64 bits: Add, Sub and
/// Mul end a run where they overflow, those with Wrap do not; Unsigned... take operands for unsigned.
/// SignExtend and ZeroExtend give the low bits of a number, as many as the second operand says.
enum class SizeOperation {
  Add,
  Sub,
  Mul,
  FloorDiv,
  CeilDiv,
  DivTowardsZero,
  Rem,
  Min,
  Max,
  Equal,
  Less,
  Select,
  FAdd,
  FSub,
  FMul,
  FDiv,
  FFloor,
  FCeil,
  FRound,
  ToFloat,
  ToInteger,
  WrapAdd,
  WrapSub,
  WrapMul,
  UnsignedDiv,
  UnsignedRem,
  UnsignedLess,
  SignExtend,
  ZeroExtend
};

struct SizeExpression {
  SizeOperation op;
  llvm::SmallVector<mlir::OpFoldResult, 3> operands;
  bool readsInput = false; // it depends on what an input holds
};

class SizeBuilder {
public:
  SizeBuilder(mlir::MLIRContext *context, Refusals &refusals)
      : context(context), refusals(refusals) {}
  SizeBuilder(const SizeBuilder &) = delete;
  SizeBuilder &operator=(const SizeBuilder &) = delete;
  virtual ~SizeBuilder() = default;

  mlir::OpFoldResult index(int64_t value) const;
  mlir::OpFoldResult floating(double value) const;
  mlir::OpFoldResult add(mlir::OpFoldResult a, mlir::OpFoldResult b);
  mlir::OpFoldResult sub(mlir::OpFoldResult a, mlir::OpFoldResult b);
  mlir::OpFoldResult mul(mlir::OpFoldResult a, mlir::OpFoldResult b);
  mlir::OpFoldResult floorDiv(mlir::OpFoldResult a, mlir::OpFoldResult b);
  mlir::OpFoldResult ceilDiv(mlir::OpFoldResult a, mlir::OpFoldResult b);
  mlir::OpFoldResult divTowardsZero(mlir::OpFoldResult a, mlir::OpFoldResult b);
  mlir::OpFoldResult rem(mlir::OpFoldResult a, mlir::OpFoldResult b);
  mlir::OpFoldResult min(mlir::OpFoldResult a, mlir::OpFoldResult b);
  mlir::OpFoldResult max(mlir::OpFoldResult a, mlir::OpFoldResult b);
  mlir::OpFoldResult wrapAdd(mlir::OpFoldResult a, mlir::OpFoldResult b);
  mlir::OpFoldResult wrapSub(mlir::OpFoldResult a, mlir::OpFoldResult b);
  mlir::OpFoldResult wrapMul(mlir::OpFoldResult a, mlir::OpFoldResult b);
  mlir::OpFoldResult unsignedDiv(mlir::OpFoldResult a, mlir::OpFoldResult b);
  mlir::OpFoldResult unsignedRem(mlir::OpFoldResult a, mlir::OpFoldResult b);
  mlir::OpFoldResult unsignedLess(mlir::OpFoldResult a, mlir::OpFoldResult b);
  /// The low bits of a number, sign-extended or zero-extended.
  mlir::OpFoldResult lowBits(mlir::OpFoldResult a, unsigned width, bool isSigned);
  /// Comparisons of integers or floats: 0 or 1 as index, so that all host values are of one kind.
  mlir::OpFoldResult equal(mlir::OpFoldResult a, mlir::OpFoldResult b);
  mlir::OpFoldResult less(mlir::OpFoldResult a, mlir::OpFoldResult b);
  mlir::OpFoldResult select(mlir::OpFoldResult condition, mlir::OpFoldResult a,
                            mlir::OpFoldResult b);
  mlir::OpFoldResult fadd(mlir::OpFoldResult a, mlir::OpFoldResult b);
  mlir::OpFoldResult fsub(mlir::OpFoldResult a, mlir::OpFoldResult b);
  mlir::OpFoldResult fmul(mlir::OpFoldResult a, mlir::OpFoldResult b);
  mlir::OpFoldResult fdiv(mlir::OpFoldResult a, mlir::OpFoldResult b);
  mlir::OpFoldResult ffloor(mlir::OpFoldResult a);
  mlir::OpFoldResult fceil(mlir::OpFoldResult a);
  /// Rounded as a computation in f32 would; what is exact already is left as it is.
  mlir::OpFoldResult fround(mlir::OpFoldResult a);
  mlir::OpFoldResult toFloat(mlir::OpFoldResult integer);
  mlir::OpFoldResult toInteger(mlir::OpFoldResult floating); // towards zero
  /// Product of sizes.
  mlir::OpFoldResult product(llvm::ArrayRef<mlir::OpFoldResult> sizes);
  /// max(value, 0), without an operation where it is known not to be needed.
  mlir::OpFoldResult atLeastZero(mlir::OpFoldResult value);
  /// Whether `size` is `whole` or a constant above 1, whichever is less. If the two can be
  /// broadcast together, they are equal.
  bool isCapped(mlir::OpFoldResult size, mlir::OpFoldResult whole) const;
  /// NumPy-style broadcast of several shapes; sizes that are not known to be equal are compared at
  /// run time.
  mlir::FailureOr<Sizes> broadcast(mlir::Operation *op, llvm::ArrayRef<Sizes> shapes);
  /// The size that two of them make. What is refused or checked says `message`, with both.
  mlir::FailureOr<mlir::OpFoldResult> broadcast(mlir::Operation *op, mlir::OpFoldResult left,
                                                mlir::OpFoldResult right,
                                                const llvm::Twine &message);
  /// Refuses or checks a size that is neither 1 nor `whole`.
  llvm::LogicalResult checkBroadcast(mlir::Operation *op, mlir::OpFoldResult size,
                                     mlir::OpFoldResult whole, const llvm::Twine &message);

  /// Reports that a node cannot be compiled, and why; gives failure.
  llvm::LogicalResult refuse(mlir::Operation *op, const llvm::Twine &reason) {
    return refusals.add(op, reason);
  }
  /// A check at run time, or a report now where the condition is known to fail.
  llvm::LogicalResult check(mlir::Operation *op, mlir::OpFoldResult condition,
                            const llvm::Twine &message, mlir::OpFoldResult a = {},
                            mlir::OpFoldResult b = {});

  /// `floating`, called `name`, towards zero. What an input decides is checked to be a number of 64 bits.
  mlir::FailureOr<mlir::OpFoldResult>
  checkedInteger(mlir::Operation *op, mlir::OpFoldResult floating, const llvm::Twine &name);

  /// Whether the expression shows that it is not negative: sizes and what sums, products and
  /// quotients make of them.
  bool isNonNegative(mlir::OpFoldResult value) const;
  /// What an expression was made of; null for numbers and for what the back end was given.
  const SizeExpression *expression(mlir::OpFoldResult value) const;
  /// Whether a value depends on what an input holds, not on shapes alone.
  bool readsInput(mlir::OpFoldResult value) const;
  /// Number `position` of an input of the model that holds integers, or floats (`real`).
  virtual mlir::OpFoldResult read(mlir::Value input, int64_t position, bool real) = 0;
  /// The `count` numbers of a tensor that is computed on the device, read back: integers, or floats (`real`).
  virtual Sizes fetch(mlir::Value tensor, int64_t count, bool real) = 0;
  /// A size of a result that its operator decides while it runs.
  virtual mlir::OpFoldResult decided(mlir::OpResult result, unsigned dim) = 0;
  /// How many elements the device finds for the operator, which decides sizes of its results.
  virtual mlir::OpFoldResult counted(mlir::Operation *op) = 0;
  /// The name of a size that the back end was given; null where it has none.
  virtual mlir::StringAttr nameOf(mlir::OpFoldResult value) const = 0;

protected:
  /// Makes an expression that is new and cannot be folded.
  virtual mlir::OpFoldResult create(SizeOperation op,
                                    llvm::ArrayRef<mlir::OpFoldResult> operands) = 0;
  /// Refuses at run time to go on where `condition` is 0. {0} and {1} in `message` are `a` and `b`.
  virtual void checkAtRunTime(mlir::Operation *op, mlir::OpFoldResult condition,
                              const llvm::Twine &message, mlir::OpFoldResult a,
                              mlir::OpFoldResult b) = 0;
  /// Whether what the back end was given is a size of a tensor, not a number that was read.
  virtual bool isSize(mlir::OpFoldResult given) const = 0;
  /// Forgets all expressions: those that are made from now on belong elsewhere.
  void forget();

private:
  /// An operation and the addresses of its operands.
  using Key = std::tuple<unsigned, const void *, const void *, const void *>;

  mlir::OpFoldResult binary(SizeOperation op, mlir::OpFoldResult a, mlir::OpFoldResult b);
  mlir::OpFoldResult compare(SizeOperation op, mlir::OpFoldResult a, mlir::OpFoldResult b);
  mlir::OpFoldResult numbered(SizeOperation op, llvm::ArrayRef<mlir::OpFoldResult> operands);

  mlir::MLIRContext *context;
  Refusals &refusals;
  llvm::DenseMap<Key, mlir::OpFoldResult> numbers;
  llvm::DenseMap<const void *, SizeExpression> expressions;
};

} // namespace cameo::onnx
