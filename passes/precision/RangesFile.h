// A file of ranges as it is written: what all who read it expect of its members.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/precision/RecordedRanges.h"

#include "llvm/Support/JSON.h"

#include <memory>

namespace cameo {

/// The form is RecordedRanges.h's. Members that are there and not as they should be are errors,
/// which name the member, what it is and what was expected; those that are not described there are
/// left to who reads them.
class RangesFile {
public:
  static constexpr int64_t kVersion = 1;
  /// The largest exponent of a channel's factor, a power of two.
  static constexpr int64_t kMostExponent = 16;

  struct Value {
    std::string name;
    double least, most;
    const llvm::json::Object *members;

    /// What must not be clipped: the threshold of the value's method, without any the greatest
    /// magnitude.
    llvm::Expected<double> threshold() const;
    /// The threshold where its channels are scaled; nothing where that is not known.
    llvm::Expected<std::optional<double>> scaledThreshold() const;
  };
  std::vector<Value> values;                  // in the order of their names
  llvm::StringMap<ChannelExponents> channels; // by values' names
  /// By products' names; nothing where the file has no such member.
  std::optional<llvm::StringMap<RecordedRanges::Input>> inputs;
  /// Biases are corrected where nobody asks for anything.
  bool correctsBiases = false;

  /// Reads a file's content; errors do not say which file it is.
  static llvm::Expected<RangesFile> parse(llvm::StringRef text);
  const llvm::json::Object &members() const { return *parsed->getAsObject(); }

private:
  llvm::Error readValues();
  llvm::Error readChannels();
  llvm::Error readInputs();
  llvm::Error readChosen();
  std::unique_ptr<llvm::json::Value> parsed; // values point into it
};

} // namespace cameo
