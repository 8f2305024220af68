// Ranges of values that were recorded while a model ran, as a file.
//
//   {"cameo_ranges": 1, "model": "16e89c4be18b0e5f",
//    "ranges": {"conv1": {"min": -3.5, "max": 12.25, "method": "entropy",
//                         "thresholds": {"max": 12.25, "entropy": 9.5}}, "image": {...}}}
//
// A value is called as `cameoc --stop-after=normalized --emit=onnx` calls it: an input by its name,
// a node's first result by the node's name, its others by that and their number ("split:1").
// "model" is the hash of the model's file, as the executable's --info prints it, "equalized" that
// of the factors by which cameo-equalize-ranges has scaled its channels; what 8 bits must not clip
// is the threshold of the value's method, without one the range's magnitude.
// "inputs" has what bias correction needs of the first operands of convolutions and Gemms, by the
// product's name; lists are by input channel and place in the window:
//
//   {"conv2": {"value": "relu1", "scale": 0.078125, "means": [...], "shifts": [...]}}
//
// "roundings" has how weights of products are rounded, by the product's name: for each channel the
// scale for which that holds, and in Base64 a bit for each weight, row-major and lowest bit first,
// which is set where it is rounded up:
//
//   {"conv2": {"scales": [...], "up": "cQ=="}}
//
// Members that are not named here are for whoever wrote the file. RangesFile.h reads all of it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

namespace cameo {

/// What a value is called in such files; empty where its node has no name.
std::string valueName(mlir::Value value);
/// The sizes by name that a value has, as the attribute of a node that makes such a value; null where there are none.
mlir::ArrayAttr dimsOf(mlir::Value value);

struct RecordedRanges {
  struct Range {
    double least, most;
    double threshold; // the magnitude that must not be clipped; 0 where there is nothing but zeros
  };
  llvm::StringMap<Range> byName;

  /// What a product reads, on average over samples and the places of its results: zero where a
  /// place is padding.
  struct Input {
    std::string value;
    double scale;                      // by which it was quantised for `shifts`
    std::vector<double> means, shifts; // shifts: what quantising it adds
  };
  llvm::StringMap<Input> inputs;
  bool hasInputs = false; // whether they were recorded, which may be none

  struct Rounding {
    std::vector<double> scales; // by output channel
    std::vector<bool> isUp;     // by weight; and some more, up to whole bytes
  };
  llvm::StringMap<Rounding> roundings;
  bool hasRoundings = false; // likewise

  /// Ranges of another model than that with the hash `model` are refused; either is empty where it
  /// is not known. So are those of a model whose channels were scaled by other factors than the
  /// function's.
  static llvm::Expected<RecordedRanges> read(llvm::StringRef path, llvm::StringRef model,
                                             mlir::func::FuncOp function);
};

} // namespace cameo
