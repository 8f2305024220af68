// From PTX text to cubins: ptxas, and what it says.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/emit/CodeCache.h"
#include "codegen/target/Target.h"

#include "llvm/Support/Error.h"

#include <memory>
#include <string>
#include <vector>

namespace cameo {

/// What ptxas says a kernel takes.
struct KernelResources {
  std::string name;
  unsigned registers = 0;
  unsigned stackBytes = 0;
  unsigned spillStoreBytes = 0;
  unsigned spillLoadBytes = 0;
  unsigned sharedBytes = 0; // static
  unsigned constantBytes = 0;
  unsigned barriers = 0;
};

struct Cubin {
  std::vector<char> data;
  std::vector<KernelResources> kernels; // in the order ptxas gives
  std::string log;                      // ptxas's other output: warnings
};

/// Path of ptxas: `explicitPath` if given (an error if it is not there), else the PATH's, else an
/// empty string: no cubins can be made on this machine.
llvm::Expected<std::string> findPtxas(llvm::StringRef explicitPath = "");

/// What `ptxas --version` says, release and build; empty where it says nothing.
std::string ptxasVersion(llvm::StringRef ptxas);
/// 10 * major + minor of the CUDA version that it is of; nothing where it does not say it.
std::optional<unsigned> ptxasCudaVersion(llvm::StringRef ptxas);

/// Runs ptxas, or finds what it made of the same text before. The result is the same either way.
class Assembler {
public:
  /// `ptxas`: as of findPtxas; where there is none, that is an error. Cubins are kept in `store`, which lives
  /// longer; null: they are not.
  static llvm::Expected<std::unique_ptr<Assembler>> create(llvm::StringRef ptxas = "",
                                                           CodeStore *store = nullptr);

  /// ptxas's errors are errors; so are its warnings C7510 and C7514, which say that it has
  /// serialised warpgroup matrix instructions. A text that spills for the sake of occupancy is
  /// assembled again without that goal. May be called from several threads at a time.
  llvm::Expected<Cubin> assemble(llvm::StringRef ptx, const Target &target);

private:
  Assembler(std::string ptxas) : ptxas(std::move(ptxas)) {}
  llvm::Expected<CachedCode> make(llvm::StringRef ptx, const Target &target) const;

  const std::string ptxas;
  std::string version; // where there is a store
  CodeStore *store = nullptr;
};

/// Reads ptxas --verbose output; lines that are not about resources go to `rest`.
std::vector<KernelResources> parsePtxasLog(llvm::StringRef log, std::string &rest);

} // namespace cameo
