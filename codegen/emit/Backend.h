// What stage `device` becomes: one row per back end, behind one interface.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/emit/Assemble.h"
#include "codegen/emit/Ptx.h"
#include "codegen/target/Target.h"
#include "dialects/rt/Rt.h"
#include "runtime/format.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/Error.h"

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace cameo {

/// A variant of a host-stage module, and what is to be made of it.
struct CodeVariant {
  rt::VariantOp op;
  TargetVariant target;
};

/// The forms that simulated kernels get (runtime/sim/abi.h). Those that have no vectorised form get
/// a scalar form at any rate.
enum class SimForms { Warp, Thread, Both };

struct CodeOptions {
  PtxOptions ptx;
  /// The folder where compiled kernels are kept and looked for; empty: none.
  std::string cache;
  /// Also an image whose memory accesses are checked and counted.
  bool simChecks = false;
  /// No image without checks, which is faster; implies simChecks.
  bool simChecksOnly = false;
  /// That image also reports what each instruction computes; implies simChecks.
  bool simTrace = false;
  SimForms simForms = SimForms::Warp;
  /// Images are compiled fast, and run slowly.
  bool simQuick = false;
  /// Say which kernels have no vectorised form.
  bool remarks = false;
  /// Once it is set, no more kernels are begun, and that is an error. Null: never.
  const std::atomic<bool> *cancelled = nullptr;
  bool isCancelled() const { return cancelled && *cancelled; }
  /// Told how many kernels of `all` are done, by any thread, but one at a time. `what` is the same for kernels that are
  /// counted together.
  std::function<void(llvm::StringRef what, uint64_t done, uint64_t all)> onProgress;
};

/// Counts kernels that several threads compile, for CodeOptions::onProgress.
class KernelCount {
public:
  KernelCount(const CodeOptions &options, const llvm::Twine &what, uint64_t all)
      : options(options), what(what.str()), all(all) {}
  void addOne();

private:
  const CodeOptions &options;
  const std::string what;
  const uint64_t all;
  std::mutex mutex;
  uint64_t done = 0;
};

/// Code of one variant as the runtime loads it.
struct CodeSection {
  uint32_t variant; // its place in the list
  CameoSectionKind kind;
  uint32_t flags = 0;
  std::vector<char> bytes;
};

/// What ptxas said of one architecture's kernels.
struct Assembled {
  const Target *target;
  std::vector<KernelResources> kernels;
  std::string warnings; // a line each; mostly empty
};

/// What back ends make.
struct Code {
  std::vector<CodeSection> sections;
  std::vector<Assembled> assembled;
};

/// What the steps of a back end have to know.
struct BackendPipelineOptions {
  const Target *target = nullptr; // null: not known, and not checked
  /// Of the simulator: SimImageOptions.
  bool checked = false, traced = false;
  /// Of the simulator: sites of an image's modules follow one another.
  unsigned firstSite = 0;
};

struct Backend {
  llvm::StringLiteral name;        // "nvptx"
  llvm::StringLiteral description; // one line
  /// Whether code for a variant comes from this back end.
  bool (*isWanted)(const TargetVariant &variant);
  /// Adds the steps in MLIR, from stage `device` to what is translated to LLVM IR, for a pass
  /// manager on modules with kernels (gpu.module or a copy of one).
  void (*populate)(mlir::OpPassManager &passes, const BackendPipelineOptions &options);
  /// Makes the sections of all variants that want code of it. They stay as they are.
  llvm::Error (*emit)(llvm::ArrayRef<CodeVariant> variants, const CodeOptions &options,
                      CodeStore &store, Code &code);
};

/// All back ends, in the order in which they run.
llvm::ArrayRef<Backend> backends();

extern const Backend nvptxBackend, simBackend;

/// The modules of a variant's kernels. A variant whose plan launches nothing (the model only
/// reshapes and copies) gets a kernel that does nothing: the runtime chooses a variant by its code,
/// so there has to be some.
llvm::SmallVector<mlir::gpu::GPUModuleOp> kernelsOf(const CodeVariant &variant);

/// Runs a back end's steps on `module`. What they report is the error, a line each.
llvm::Error runBackendPipeline(mlir::Operation *module, const Backend &backend,
                               const BackendPipelineOptions &options);

} // namespace cameo
