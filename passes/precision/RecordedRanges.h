// Ranges of values that were recorded while a model ran, as a file.
//
//   {"cameo_ranges": 1, "model": "16e89c4be18b0e5f",
//    "ranges": {"conv1": {"min": -3.5, "max": 12.25, "method": "entropy",
//                         "thresholds": {"max": 12.25, "entropy": 9.5}}, "image": {...}}}
//
// A value is called as `cameoc --stop-after=normalized --emit=onnx` calls it: an input by its name,
// a node's first result by the node's name, its others by that and their number ("split:1").
// "model" is the hash of the model's file, as the executable's --info prints it. What 8 bits must not
// clip is the threshold of the value's method, without one the range's magnitude.
//
// "channels" has exponents of powers of two by which a value's channels are multiplied before it is
// quantised for products, whose weights are divided by them. "scaled" has a value's thresholds then:
//
//   "channels": {"conv1": [0, 3, 1]},
//   "ranges": {"conv1": {..., "scaled": {"max": 12.25, "entropy": 9.5}}, ...}
//
// "inputs" has what bias correction needs of the first operands of convolutions and Gemms, by the
// product's name; lists are by input channel and place in the window, without the factors of channels:
//
//   {"conv2": {"value": "relu1", "scale": 0.078125, "means": [...], "shifts": [...]}}
//
// "chosen" says whether biases are corrected where nobody asks for it, or for the opposite; without it they are not:
//
//   "chosen": {"bias_correction": true}
//
// Members that are not named here are for whoever wrote the file. RangesFile.h reads all of it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/onnx/Onnx.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

namespace cameo {

/// The exponents of powers of two by which the channels of a value are multiplied before it is quantised.
/// Empty: all are 0.
using ChannelExponents = std::vector<int8_t>;

/// What a value is called in such files; empty where its node has no name.
std::string valueName(mlir::Value value);
/// The same of a node's result, by the node's name.
std::string valueName(llvm::StringRef node, unsigned result);
/// The sizes by name that a value has, as the attribute of a node that makes such a value; null where there are none.
mlir::ArrayAttr dimsOf(mlir::Value value);

struct RecordedRanges {
  struct Range {
    double least, most;
    float scale;      // for 8 bits; 0 where there is nothing but zeros
    float scaled = 0; // the same where its channels are scaled; 0: it is not known
  };
  llvm::StringMap<Range> byName;
  /// Factors of channels, by names of values that are quantised for products.
  llvm::StringMap<ChannelExponents> channels;

  /// What a product reads, on average over samples and the places of its results: zero where a
  /// place is padding.
  struct Input {
    std::string value;
    float scale;                       // by which it was quantised for `shifts`
    std::vector<double> means, shifts; // shifts: what quantising it adds
  };
  /// Means of what products read, by products' names; nothing where they were not recorded.
  std::optional<llvm::StringMap<Input>> inputs;

  /// Biases are corrected where nobody asks for anything.
  bool correctsBiases = false;

  std::string file;                 // as errors call it
  std::optional<std::string> model; // the hash of its file, where it is known

  static llvm::Expected<RecordedRanges> read(llvm::StringRef path);
  /// Reads the content of a file that errors call `path`.
  static llvm::Expected<RecordedRanges> parse(llvm::StringRef text, llvm::StringRef path);

  /// Puts them on the function as `onnx.ranges`, where passes find them. Those of another model than
  /// that with the hash `modelHash`, which is empty where it is not known, are an error.
  llvm::Error attach(mlir::func::FuncOp function, llvm::StringRef modelHash) const;
  /// The ranges that a function has; no values and no file where it has none.
  static mlir::FailureOr<RecordedRanges> of(mlir::func::FuncOp function);
};

/// On a function: the ranges of its values.
inline constexpr llvm::StringLiteral kRangesAttr =
    onnx::OnnxDialect::RangesAttrHelper::getNameStr();

} // namespace cameo
