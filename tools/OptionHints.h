// What to write instead of words that other programs have, and of misspelt ones.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace cameo {

/// For an option that cameoc does not have, as "--saveEngine": "write -o FILE". Empty: nothing is
/// known of it. Case, dashes and underscores do not count.
std::string optionHint(llvm::StringRef name);

/// The one of `choices` that `value` stands for in another spelling, as fp16 for FP16 or float16;
/// empty where there is none.
llvm::StringRef choiceHint(llvm::StringRef value, llvm::ArrayRef<llvm::StringRef> choices);

/// Returns true if a name is a known option's with a mistake: one letter, or two swapped, in short names, two in long ones.
bool isMisspelt(llvm::StringRef name, llvm::StringRef known);

/// For a file that is no ONNX model, by its name, or by what it is where cameoc has written it: how a model is made of it.
/// Empty: not known.
llvm::StringRef modelHint(llvm::StringRef path);

} // namespace cameo
