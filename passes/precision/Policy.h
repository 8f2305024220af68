// Which operators store and multiply in fewer bits, why others do not, and what bounds their results have: one
// table.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/onnx/Onnx.h"
#include "dialects/onnx/OperatorRows.h"
#include "passes/precision/NumberBounds.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/raw_ostream.h"

namespace cameo {
struct PolicyRow;
} // namespace cameo

#include "passes/precision/Interfaces.h.inc"

namespace cameo {

/// What a node computes with. TF32 stores FP32 and multiplies fewer bits of it; INT8 is of products
/// of dequantised tensors, and of what quantises and dequantises them: between these are values of
/// FP32, which are stored in 8 bits.
enum class Precision : uint8_t { FP32, TF32, FP16, BF16, INT8 };

/// As options spell it: "fp16".
llvm::StringRef precisionName(Precision precision);
std::optional<Precision> parsePrecision(llvm::StringRef name);
/// As sentences do: "FP16".
std::string precisionText(Precision precision);
/// What values of this precision are stored as.
onnx::ElementKind storedAs(Precision precision);
mlir::FloatType storedType(Precision precision, mlir::MLIRContext *context);
/// Of 16 bits.
inline bool isLow(Precision precision) {
  return precision == Precision::FP16 || precision == Precision::BF16;
}

enum class Role : uint8_t {
  Product,     // multiplies: low wherever its numbers fit
  Elementwise, // computes in FP32, rounds what it stores
  Sums,        // sums in FP32, rounds what it stores
  Movement,    // stores what it reads
  Ranged,      // low where it is known that what it computes fits
  Full,        // stays FP32
};
llvm::StringRef roleName(Role role);

struct PolicyRow {
  Role role = Role::Full;
  llvm::StringLiteral why = ""; // the rest of "kept in FP32: "
  // Operands that differ from the others, by bits.
  uint32_t kept = 0;     // stay FP32 beside others that do not
  uint32_t bounds = 0;   // a number beyond the range becomes the last one of it
  uint32_t masks = 0;    // the same, with as much left as what they are added to may take
  uint32_t divisors = 0; // what keeps them from 0 must not become 0
  /// Its result does not grow with what it reads: roundings there are no larger behind it.
  bool settles = false;
  /// Bounds of its first result; null where none follow from those of its operands.
  BoundsRule range = nullptr;

  bool keeps(unsigned operand) const { return has(kept, operand); }
  bool isBound(unsigned operand) const { return has(bounds, operand); }
  bool isMask(unsigned operand) const { return has(masks, operand); }
  bool divides(unsigned operand) const { return has(divisors, operand); }
  /// Depends on bits of its operands that 16 bits do not have.
  bool isSensitive() const;

private:
  static bool has(uint32_t operands, unsigned operand) {
    return operand < 32 && operands >> operand & 1;
  }
};

struct PrecisionModel : PrecisionInterface::FallbackModel<PrecisionModel> {
  PolicyRow row;
  const PolicyRow &policy(mlir::Operation *) const { return row; }
};

/// Attaches all rows.
void attachPrecisionRoles(mlir::MLIRContext &context);
/// The row of an operator, Full where it has none; a product of a value by itself grows as a power does, and a
/// Scatter that adds or multiplies stays FP32.
const PolicyRow &policyOf(mlir::Operation *op);

/// The operands and results of FP32 that a node has in another type if it is of that precision.
struct Converted {
  llvm::SmallVector<unsigned, 4> operands, results;
  bool reads(unsigned operand) const { return llvm::is_contained(operands, operand); }
  bool writes(unsigned result) const { return llvm::is_contained(results, result); }
};
/// Nothing where ONNX has no form of the operator in that type, and where it has nothing of FP32.
std::optional<Converted> convertedIn(mlir::Operation *op, Precision precision);

/// Whether a node takes this operand in any type, its results being the same: Shape, Cast.
bool readsAnyType(mlir::Operation *op, unsigned operand);

/// Whether the value is a tensor of FP32.
bool isFP32(mlir::Value value);

/// The rows of a context's ops in Markdown.
void printPrecisionPolicy(llvm::raw_ostream &output, mlir::MLIRContext &context);

//===-- What the pass leaves on the IR --------------------------------------------------------===//

/// On a function whose values have their final types: the precision asked for.
inline constexpr llvm::StringLiteral kPrecisionAttr =
    onnx::OnnxDialect::PrecisionAttrHelper::getNameStr();
/// On a product that is not of the precision asked for: why.
inline constexpr llvm::StringLiteral kKeptPrecisionAttr =
    onnx::OnnxDialect::KeptPrecisionAttrHelper::getNameStr();

/// The functions of a module whose values do not have their final types.
llvm::SmallVector<mlir::func::FuncOp> untypedFunctions(mlir::ModuleOp module);

/// What a node computes in, by the types of its operands and results and whether these are
/// dequantised; nothing without floats.
std::optional<Precision> precisionOf(mlir::Operation *op);

} // namespace cameo
