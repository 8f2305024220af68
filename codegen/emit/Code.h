// All code sections of a model: what is made of each variant's kernels.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/emit/Assemble.h"
#include "codegen/emit/Payload.h"
#include "codegen/emit/Ptx.h"
#include "codegen/sim/SimImage.h"
#include "codegen/target/Target.h"
#include "dialects/rt/Rt.h"

namespace cameo {

struct CodeOptions {
  PtxOptions ptx;
  AssembleOptions assemble;
  /// Also an image whose memory accesses are checked and counted.
  bool simChecks = false;
  /// That image also reports what each instruction computes; implies simChecks.
  bool simTrace = false;
  SimImageOptions::Forms simForms = SimImageOptions::Forms::Warp;
  /// Say which kernels have no warp form.
  bool remarks = false;
};

/// The variants of a host-stage module that `targets` asks for, in the order of the module; an
/// error where one is missing.
struct CodeVariant {
  rt::VariantOp op;
  TargetVariant target;
};
llvm::Expected<std::vector<CodeVariant>> findVariants(mlir::ModuleOp module,
                                                      llvm::ArrayRef<TargetVariant> targets);

/// PTX of a variant's kernels.
llvm::Expected<std::string> emitVariantPtx(const CodeVariant &variant, const CodeOptions &options);

/// What ptxas said of one architecture's kernels.
struct Assembled {
  const Target *target;
  std::vector<KernelResources> kernels;
  std::string warnings; // a line each; mostly empty
};

/// Plans and code of all variants; a cubin is a section a kernel module. Diagnostics and errors
/// alike end in an error.
struct CodeSections {
  std::vector<PayloadSection> sections;
  std::vector<Assembled> assembled;
  Assembler::Messages messages; // of the assembler
};
llvm::Expected<CodeSections> emitSections(llvm::ArrayRef<CodeVariant> variants,
                                          const CodeOptions &options);

} // namespace cameo
