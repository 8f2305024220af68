// The vocabulary of expansions: operators that are written as others.
//
// An expansion is a function in a row of its family's file, attached to the op. It reads operands, attributes and sizes, emits
// operators of ONNX in front of the one that it stands for, and gives a value for each result. Tables of numbers
// (windows, transforms, places) are computed in double precision and become constants.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/onnx/OperatorRows.h"
#include "dialects/onnx/shape/Shapes.h"
#include "passes/graph/Graph.h"

namespace cameo {
class Expander;
/// Says why a value is not known when the model is compiled, and names `nearest` as what could be.
std::string whyUnknown(onnx::Shapes &shapes, mlir::Value value, const llvm::Twine &what,
                       llvm::StringRef nearest);

} // namespace cameo

#include "passes/expand/Interfaces.h.inc"

namespace cameo {

/// Random operators draw by this: the state of the graph that they stand in, and how many there were of each seed, or
/// without one.
struct RandomDraws {
  mlir::Value state;
  llvm::DenseMap<mlir::Attribute, int64_t> streams;
};

class Expander {
public:
  /// `random` is there for expansions that draw.
  Expander(mlir::Operation *op, onnx::Shapes &shapes, mlir::Value none,
           RandomDraws *random = nullptr);

  mlir::Operation *op;

  //===-- What is there ---------------------------------------------------------------------------------------===//

  bool has(unsigned operand) const { return !onnx::isAbsent(op, operand); }
  mlir::Value operand(unsigned i) const { return op->getOperand(i); }
  /// The element type of an operand.
  mlir::Type elementType(unsigned operand) const {
    return onnx::elementType(op->getOperand(operand));
  }
  int64_t integer(llvm::StringRef attribute, int64_t otherwise) const;
  llvm::StringRef text(llvm::StringRef attribute, llvm::StringRef otherwise) const;
  std::optional<llvm::SmallVector<int64_t>> integers(llvm::StringRef attribute) const;
  int64_t rank(unsigned operand) const;
  /// A size, or nothing where only a run knows it.
  std::optional<int64_t> size(unsigned operand, int64_t axis) const;
  /// All sizes; dynamic where only a run knows one.
  llvm::SmallVector<int64_t> sizes(unsigned operand) const;
  /// The integers that an operand holds, from a constant or from sizes; nothing where only a run knows them.
  std::optional<llvm::SmallVector<int64_t>> known(unsigned operand) const;
  /// The integers that an operand holds, those that only a run knows being nothing; nothing at all where the host does not
  /// know it.
  std::optional<llvm::SmallVector<std::optional<int64_t>>> numbers(unsigned operand) const;

  //===-- What is emitted -------------------------------------------------------------------------------------===//

  mlir::Value emit(llvm::StringRef name, llvm::ArrayRef<mlir::Value> operands,
                   llvm::ArrayRef<mlir::NamedAttribute> attributes = {});
  /// Emits an operator of several results.
  llvm::SmallVector<mlir::Value> emitAll(llvm::StringRef name, llvm::ArrayRef<mlir::Value> operands,
                                         llvm::ArrayRef<mlir::NamedAttribute> attributes,
                                         unsigned results);
  /// A vector of int64.
  mlir::Value ints(llvm::ArrayRef<int64_t> numbers);
  mlir::Value scalar(double number, mlir::Type element);
  /// Numbers of the element type, each rounded once.
  mlir::Value table(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<double> numbers,
                    mlir::Type element);
  mlir::Value table(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> numbers);
  mlir::NamedAttribute with(llvm::StringRef name, int64_t number);
  mlir::NamedAttribute with(llvm::StringRef name, int number) {
    return with(name, int64_t(number));
  }
  mlir::NamedAttribute with(llvm::StringRef name, float number);
  mlir::NamedAttribute with(llvm::StringRef name, llvm::ArrayRef<int64_t> numbers);
  mlir::NamedAttribute with(llvm::StringRef name, llvm::StringRef text);

  /// Random numbers of a stream that no other draw has, by the operator's seed if it has one.
  mlir::Value draw(llvm::StringRef distribution, mlir::Value shape, mlir::Value below,
                   mlir::Type element, llvm::ArrayRef<mlir::NamedAttribute> attributes = {});

  // Forms that many expansions need.
  mlir::Value reshape(mlir::Value value, llvm::ArrayRef<int64_t> shape);
  mlir::Value transpose(mlir::Value value, llvm::ArrayRef<int64_t> permutation);
  mlir::Value squeeze(mlir::Value value, int64_t axis) {
    return emit("Squeeze", {value, ints({axis})});
  }
  /// A size of a value, as a number without a dimension.
  mlir::Value sizeOf(mlir::Value value, int64_t axis) {
    return emit("Gather", {emit("Shape", {value}), table({}, llvm::ArrayRef<int64_t>{axis})});
  }
  mlir::Value unsqueeze(mlir::Value value, llvm::ArrayRef<int64_t> axes) {
    return emit("Unsqueeze", {value, ints(axes)});
  }
  mlir::Value concat(llvm::ArrayRef<mlir::Value> values, int64_t axis) {
    return emit("Concat", values, {with("axis", axis)});
  }
  mlir::Value slice(mlir::Value value, int64_t axis, int64_t start, int64_t end, int64_t step = 1);
  mlir::Value cast(mlir::Value value, mlir::Type element, bool saturates = true);

  //===-- How it ends -----------------------------------------------------------------------------------------===//

  /// The operator stays as it is, which has a lowering; gives failure.
  llvm::LogicalResult leave();
  bool isLeft() const { return left; }
  /// Says why this one cannot be written as others; gives failure.
  llvm::LogicalResult refuse(const llvm::Twine &why);
  /// Refuses an operand because its integers are not known.
  llvm::LogicalResult refuseUnknown(unsigned operand);
  /// The value of a result; of all that are used one is given.
  void give(unsigned result, mlir::Value value) { given.push_back({result, value}); }

  /// Puts what was given into the operator's place, and erases it; gives the first operation that is there now.
  mlir::Operation *finish();
  /// Takes back all that was emitted.
  void undo();
  llvm::StringRef problem() const { return why; }

private:
  onnx::Shapes &shapes;
  RandomDraws *random;
  mlir::Value none;
  mlir::OpBuilder b;
  mlir::Operation *before; // the last operation in front of what is emitted
  std::string why;
  bool left = false;
  llvm::SmallVector<std::pair<unsigned, mlir::Value>> given;
};

using ExpandFunction = llvm::LogicalResult (*)(Expander &);

struct ExpansionRow {
  ExpandFunction expand = nullptr;
  llvm::StringRef limits = {}; // for the documentation: what is not supported of it
  bool isPartial = false;      // it may leave the operator, which has a lowering, too
  bool draws = false;          // by ExpandRandom
};
struct ExpansionModel : ExpansionInterface::FallbackModel<ExpansionModel> {
  ExpansionRow row;
  llvm::LogicalResult expand(mlir::Operation *, Expander &expander) const {
    return row.expand(expander);
  }
};
using ExpansionRows = onnx::OperatorRows<ExpansionModel>;

/// Attaches all expansions.
void attachExpansions(mlir::MLIRContext &context);

// The families, one file each.
void registerFourierExpansions(ExpansionRows &rows); // DFT, STFT, windows, MelWeightMatrix
void registerLossExpansions(ExpansionRows &rows);    // losses
void registerPositionExpansions(
    ExpansionRows &rows); // AffineGrid, RotaryEmbedding, CenterCropPad, Col2Im, Det
void registerRandomExpansions(ExpansionRows &rows);  // Random*, Bernoulli, Multinomial, Dropout
void registerScatterExpansions(ExpansionRows &rows); // Scatter*, TensorScatter, MaxUnpool
void registerWordExpansions(ExpansionRows &rows);    // TfIdfVectorizer

} // namespace cameo
