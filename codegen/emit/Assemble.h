// From PTX text to cubins: ptxas, and what it says.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/emit/CubinCache.h"
#include "codegen/target/Target.h"

#include "llvm/Support/Error.h"

#include <atomic>
#include <mutex>
#include <optional>
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

struct AssembleOptions {
  std::string ptxas; // empty: the PATH's
  /// A folder where cubins are kept and looked for; empty: none.
  std::string cache;
};

/// Path of ptxas: `explicitPath` if given (an error if it is not there), else the PATH's, else an
/// empty string: no cubins can be made on this machine.
llvm::Expected<std::string> findPtxas(llvm::StringRef explicitPath = "");

/// What `ptxas --version` says, release and build; empty where it says nothing.
std::string ptxasVersion(llvm::StringRef ptxas);

/// Runs ptxas, or finds what it made of the same text before. The result is the same either way.
class Assembler {
public:
  /// Where there is no ptxas, that is an error; a folder that cannot be a cache is a warning.
  static llvm::Expected<std::unique_ptr<Assembler>> create(const AssembleOptions &options);

  /// ptxas's errors are errors; so are its warnings C7510 and C7514, which say that it has
  /// serialised warpgroup matrix instructions. A text that spills for the sake of occupancy is
  /// assembled again without that goal. May be called from several threads at a time.
  llvm::Expected<Cubin> assemble(llvm::StringRef ptx, const Target &target);

  /// Removes what the cache has too much of. What there is to say of it: remarks, and warnings,
  /// each once.
  struct Messages {
    std::vector<std::string> remarks, warnings;
  };
  Messages finish();

private:
  Assembler(std::string ptxas) : ptxas(std::move(ptxas)) {}
  std::string keyOf(llvm::StringRef ptx, const Target &target) const;
  llvm::Expected<CachedCubin> make(llvm::StringRef ptx, const Target &target) const;
  void remember(llvm::Error error);

  const std::string ptxas;
  std::string version; // where there is a cache
  std::optional<CubinCache> cache;
  std::atomic<unsigned> found = 0, made = 0;
  std::mutex mutex; // of the messages
  Messages messages;
};

/// Reads ptxas --verbose output; lines that are not about resources go to `rest`.
std::vector<KernelResources> parsePtxasLog(llvm::StringRef log, std::string &rest);

} // namespace cameo
