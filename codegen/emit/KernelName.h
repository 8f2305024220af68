// Texts and cubins of one kernel without its name, so that equal kernels of other names are equal.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace llvm {
class Module;
}

namespace cameo {

/// A kernel's name and one of the same length that says nothing.
struct KernelName {
  std::string own, neutral;

  /// Of a text with one kernel, if its name is one that this compiler makes up ("k12_Conv_7"),
  /// which nothing else in PTX can be; empty for others.
  static KernelName find(llvm::StringRef ptx);

  /// The names of a kernel called `name`; empty, too, where `text` has the neutral one already.
  static KernelName of(llvm::StringRef name, llvm::StringRef text = "");

  bool empty() const { return own.empty(); }
  /// With the neutral name, or a log with the own one again.
  std::string neutralised(llvm::StringRef text) const;
  std::string restored(llvm::StringRef text) const;
  /// Gives all that the module calls by the own name the neutral one.
  void neutralise(llvm::Module &module) const;
  /// Gives the ELF file of a neutral text the own name. False if it is no such file. Names of equal
  /// length move nothing: the result is what ptxas makes of the text with the own name.
  bool restore(std::vector<char> &cubin) const;
};

} // namespace cameo
