// The tables of a simulator image as constants of LLVM: their members are those of
// runtime/sim/image.def, from which abi.h declares what the runtime reads.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/sim/abi.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

#include <array>

namespace cameo {

/// A member without a default: rows that leave one out do not compile.
template <typename T> struct RequiredMember {
  template <typename Given>
  RequiredMember(Given &&given) : value(static_cast<T>(std::forward<Given>(given))) {}
  T value;
};

#define CAMEO_SIM_ROW_TEXT(NAME) RequiredMember<llvm::StringRef> NAME;
#define CAMEO_SIM_ROW_ENTRY(NAME) RequiredMember<llvm::Constant *> NAME;
#define CAMEO_SIM_ROW_WORD(NAME) RequiredMember<uint32_t> NAME;
#define CAMEO_SIM_ROW_OFFSET(NAME) RequiredMember<int32_t> NAME;
#define CAMEO_SIM_ROW_SIZES(NAME) RequiredMember<std::array<uint32_t, 3>> NAME;
#define CAMEO_SIM_ROW_COUNTS(NAME) RequiredMember<llvm::ArrayRef<uint32_t>> NAME;
#define CAMEO_SIM_ROW_ROWS(NAME, ROW) RequiredMember<llvm::Constant *> NAME;

struct SimAccessSiteRow {
#define CAMEO_SIM_ACCESS_SITE(KIND, ...) CAMEO_SIM_ROW_##KIND(__VA_ARGS__)
#include "runtime/sim/image.def"
};

struct SimStepRow {
#define CAMEO_SIM_STEP(KIND, ...) CAMEO_SIM_ROW_##KIND(__VA_ARGS__)
#include "runtime/sim/image.def"
};

struct SimSiteRow {
#define CAMEO_SIM_SITE(KIND, ...) CAMEO_SIM_ROW_##KIND(__VA_ARGS__)
#include "runtime/sim/image.def"
};

struct SimKernelInfoRow {
#define CAMEO_SIM_KERNEL_INFO(KIND, ...) CAMEO_SIM_ROW_##KIND(__VA_ARGS__)
#include "runtime/sim/image.def"
};

struct SimBasicBlockRow {
#define CAMEO_SIM_BASIC_BLOCK(KIND, ...) CAMEO_SIM_ROW_##KIND(__VA_ARGS__)
#include "runtime/sim/image.def"
};

struct SimTargetRow {
#define CAMEO_SIM_TARGET(KIND, ...) CAMEO_SIM_ROW_##KIND(__VA_ARGS__)
#include "runtime/sim/image.def"
};

struct SimImageRow {
#define CAMEO_SIM_IMAGE(KIND, ...) CAMEO_SIM_ROW_##KIND(__VA_ARGS__)
#include "runtime/sim/image.def"
};

/// Makes rows and tables in a module. Equal strings are one.
class SimTables {
public:
  explicit SimTables(llvm::Module &module) : module(module), builder(module.getContext()) {}

  llvm::Constant *row(const SimAccessSiteRow &row);
  llvm::Constant *row(const SimStepRow &row);
  llvm::Constant *row(const SimSiteRow &row);
  llvm::Constant *row(const SimKernelInfoRow &row);
  llvm::Constant *row(const SimBasicBlockRow &row);
  llvm::Constant *row(const SimTargetRow &row);
  llvm::Constant *row(const SimImageRow &row);

  /// The address of `words` in a row.
  llvm::Constant *words(llvm::ArrayRef<uint32_t> words, const llvm::Twine &name);
  /// The address of a table of `rows`, all of one kind; null where there is none.
  llvm::Constant *table(llvm::ArrayRef<llvm::Constant *> rows, const llvm::Twine &name = "");

private:
  llvm::Constant *constant(llvm::StringRef text);
  llvm::Constant *constant(llvm::Constant *address);
  llvm::Constant *constant(uint32_t word) { return builder.getInt32(word); }
  llvm::Constant *constant(int32_t word) { return builder.getInt32(word); }
  llvm::Constant *constant(llvm::ArrayRef<uint32_t> words);

  llvm::Module &module;
  llvm::IRBuilder<> builder;
  llvm::StringMap<llvm::Constant *> strings;
};

} // namespace cameo
