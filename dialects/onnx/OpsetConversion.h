// Operators of opsets kMinOpset to kOpset, each with the semantics of its version.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/onnx/Onnx.h"

#include "mlir/IR/Builders.h"
#include <memory>

namespace cameo::onnx {

/// A node on its way to the dialect's opset. A converter rewrites `op`, `inputs`, `attributes` and
/// `regions` in place; or it builds what the node means and sets `results`.
class ForeignNode {
public:
  ForeignNode(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value none)
      : builder(builder), loc(loc), none(none) {}

  std::string op;
  int64_t sinceVersion = 0;
  /// Absent inputs, also trailing ones that the node leaves out, are `none`.
  llvm::SmallVector<mlir::Value> inputs;
  mlir::NamedAttrList attributes;
  /// The graph attributes, with their names.
  llvm::SmallVector<std::pair<std::string, std::unique_ptr<mlir::Region>>> regions;
  /// Which outputs the node names; as many as it lists.
  llvm::SmallVector<bool> outputUsed;
  /// What a converter that builds the node itself leaves here, one per listed output.
  llvm::SmallVector<mlir::Value> results;
  std::string problem;
  bool isUnsupported = false;

  /// Says why the node cannot be converted.
  mlir::LogicalResult fail(const llvm::Twine &why) {
    problem = why.str();
    return mlir::failure();
  }

  /// As fail, but of a valid node: it is imported as it is, to be refused with all else that cannot
  /// be compiled.
  mlir::LogicalResult unsupported(const llvm::Twine &why) {
    isUnsupported = true;
    return fail(why);
  }

  mlir::Value input(unsigned i) const { return i < inputs.size() ? inputs[i] : none; }
  void setInput(unsigned i, mlir::Value value) {
    if (inputs.size() <= i)
      inputs.resize(i + 1, none);
    inputs[i] = value;
  }
  bool hasOutput(unsigned i) const { return i < outputUsed.size() && outputUsed[i]; }

  /// Removes an attribute and returns it.
  std::optional<int64_t> takeInt(llvm::StringRef name);
  std::optional<float> takeFloat(llvm::StringRef name);
  std::optional<llvm::SmallVector<int64_t>> takeInts(llvm::StringRef name);
  std::optional<llvm::SmallVector<float>> takeFloats(llvm::StringRef name);
  std::optional<std::string> takeString(llvm::StringRef name);

  /// Constants.
  mlir::Value ints(llvm::ArrayRef<int64_t> values);
  mlir::Value floats(llvm::ArrayRef<float> values);
  mlir::Value intScalar(int64_t value);
  /// A scalar of a tensor's element type; null where that is not a number.
  mlir::Value scalarLike(double value, mlir::Value tensor);
  mlir::Value constant(mlir::ElementsAttr value);

  /// Builds an operator of the dialect's opset with one output.
  mlir::Value emit(llvm::StringRef name, llvm::ArrayRef<mlir::Value> operands,
                   llvm::ArrayRef<mlir::NamedAttribute> attrs = {});
  mlir::NamedAttribute intAttr(llvm::StringRef name, int64_t value) {
    return builder.getNamedAttr(name, builder.getI64IntegerAttr(value));
  }
  mlir::NamedAttribute stringAttr(llvm::StringRef name, llvm::StringRef value) {
    return builder.getNamedAttr(name, builder.getStringAttr(value));
  }
  /// The rank of a value where its type has one.
  static std::optional<int64_t> rank(mlir::Value value);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::Value none;
};

using Converter = mlir::LogicalResult (*)(ForeignNode &);

/// A row of the table: an operator of the default domain as of one version.
struct ConversionRow {
  const char *op;
  int64_t sinceVersion;
  /// Null where the operator means the same at kOpset.
  Converter convert;
};

/// The row in force at an opset; null where the operator is not known at it.
const ConversionRow *lookupConversion(llvm::StringRef op, int64_t opset);
llvm::ArrayRef<ConversionRow> conversionRows();

/// Builds an op of the dialect: pads absent inputs and outputs, infers element types and checks
/// arity and attributes against the schema. Null after setting `problem`.
mlir::Operation *
buildOp(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value none, const OpSchema &schema,
        llvm::ArrayRef<mlir::Value> inputs, mlir::NamedAttrList attributes,
        llvm::MutableArrayRef<std::pair<std::string, std::unique_ptr<mlir::Region>>> regions,
        llvm::ArrayRef<bool> outputUsed, std::string &problem);

// The converters, by what changed.
namespace convert {
// OpsetAttributes.cpp: what was an attribute is an input now, or has another default.
mlir::LogicalResult axesToInput(ForeignNode &node);
mlir::LogicalResult clip(ForeignNode &node);
mlir::LogicalResult pad(ForeignNode &node);
mlir::LogicalResult slice(ForeignNode &node);
mlir::LogicalResult split(ForeignNode &node);
mlir::LogicalResult splitCount(ForeignNode &node);
mlir::LogicalResult topK(ForeignNode &node);
mlir::LogicalResult dropout(ForeignNode &node);
mlir::LogicalResult dft(ForeignNode &node);
mlir::LogicalResult gridSample(ForeignNode &node);
mlir::LogicalResult roiAlign(ForeignNode &node);
mlir::LogicalResult scatter(ForeignNode &node);
// OpsetSemantics.cpp: the meaning changed, so that the old one takes several operators.
mlir::LogicalResult flattenedSoftmax(ForeignNode &node);
mlir::LogicalResult batchNormalization(ForeignNode &node);
mlir::LogicalResult groupNormalization(ForeignNode &node);
mlir::LogicalResult upsample(ForeignNode &node);
mlir::LogicalResult resize10(ForeignNode &node);
mlir::LogicalResult resize(ForeignNode &node);
mlir::LogicalResult scan8(ForeignNode &node);
// OpsetEarly.cpp: opsets 1 to 6.
mlir::LogicalResult broadcasts(ForeignNode &node);
mlir::LogicalResult channelSlopes(ForeignNode &node);
mlir::LogicalResult consumed(ForeignNode &node);
mlir::LogicalResult consumedClip(ForeignNode &node);
mlir::LogicalResult defaultConcat(ForeignNode &node);
mlir::LogicalResult firstSelu(ForeignNode &node);
mlir::LogicalResult firstSplit(ForeignNode &node);
mlir::LogicalResult firstUpsample(ForeignNode &node);
mlir::LogicalResult gemm(ForeignNode &node);
mlir::LogicalResult namedCast(ForeignNode &node);
mlir::LogicalResult paddings(ForeignNode &node);
mlir::LogicalResult realNorm(ForeignNode &node);
mlir::LogicalResult recurrent(ForeignNode &node);
mlir::LogicalResult shapedReshape(ForeignNode &node);
mlir::LogicalResult testedBatchNormalization(ForeignNode &node);
mlir::LogicalResult testedDropout(ForeignNode &node);
mlir::LogicalResult tileOneAxis(ForeignNode &node);
} // namespace convert

} // namespace cameo::onnx
