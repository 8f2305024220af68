// What the families of `kernel.ptx` instructions share: an instruction's text taken apart. Not for
// others than Ptx*.cpp.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/kernel/Ptx.h"

#include "llvm/Support/FormatVariadic.h"

namespace cameo::kernel {

using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;
using mlir::failed;
using mlir::failure;
using mlir::FailureOr;
using mlir::LogicalResult;
using mlir::succeeded;
using mlir::success;

constexpr uint8_t kAbsent = 0xff;

/// Name of an element type in an instruction ==> CameoSimType.
uint8_t typeOf(StringRef name);
unsigned bitsOf(uint8_t type);
/// The register of a scalar of `type`.
PtxType registerOf(uint8_t type);
/// Name of an operation ==> CameoSimCombine.
uint8_t combineOf(StringRef name);

/// An instruction's text taken apart, and what is made of it.
class PtxParser {
public:
  PtxParser(StringRef text, unsigned operandCount, std::string &error)
      : name(text.split(' ').first), operandCount(operandCount), error(error) {
    name.split(parts, '.');
    SmallVector<StringRef> numbers;
    text.split(' ').second.split(numbers, ',', -1, /*KeepEmpty=*/false);
    for (StringRef number : numbers) {
      int64_t value = 0;
      badImmediate |= number.trim().getAsInteger(0, value);
      immediates.push_back(value);
    }
  }

  FailureOr<PtxInstruction> run();

private:
  LogicalResult fail(const llvm::Twine &what) {
    error = what.str();
    return failure();
  }

  /// The next part of the name, if it is this one.
  bool take(StringRef part) {
    if (next >= parts.size() || parts[next] != part)
      return false;
    ++next;
    return true;
  }
  StringRef takeAny() { return next < parts.size() ? parts[next++] : StringRef(); }
  LogicalResult atEnd(unsigned immediateCount = 0) {
    return success(next == parts.size() && immediates.size() == immediateCount);
  }
  /// `from.to` in one: takes all these parts, or fails.
  bool takeAll(ArrayRef<StringRef> wanted) {
    return llvm::all_of(wanted, [&](StringRef part) { return take(part); });
  }

  std::string add(bool isResult, PtxType type, unsigned count, bool braces) {
    (isResult ? result.results : result.operands).append(count, type);
    std::string text;
    for (unsigned i = 0; i < count; ++i)
      text += (i ? ", $" : "$") + std::to_string(placeholder++);
    return braces ? "{" + text + "}" : text;
  }
  // In the order of the text, results first.
  std::string out(PtxType type, unsigned count = 1, bool braces = false) {
    return add(true, type, count, braces);
  }
  std::string in(PtxType type, unsigned count = 1, bool braces = false) {
    return add(false, type, count, braces);
  }

  /// Type and shape of `m16n8k16`.
  bool takeShape(unsigned (&shape)[3]) {
    StringRef part = takeAny();
    const char *letters[] = {"m", "n", "k"};
    for (unsigned i = 0; i < 3; ++i)
      if (!part.consume_front(letters[i]) || part.consumeInteger(10, shape[i]))
        return false;
    return part.empty();
  }

  /// The space of an address, `.shared` alone being `.shared::cta`; `cluster`: `.shared::cluster`
  /// can stand here, too.
  bool takeShared(bool cluster, uint8_t &space) {
    space = CAMEO_SIM_SHARED;
    if (take("shared") || take("shared::cta"))
      return true;
    space = CAMEO_SIM_SHARED_CLUSTER;
    return cluster && take("shared::cluster");
  }
  void takeOrder(ArrayRef<StringRef> orders, ArrayRef<StringRef> scopes) {
    for (StringRef part : orders)
      if (take(part))
        break;
    for (StringRef part : scopes)
      if (take(part))
        break;
  }

  LogicalResult mma();
  LogicalResult matrixMemory();
  LogicalResult redux();
  LogicalResult vote();
  LogicalResult match();
  LogicalResult elect();
  LogicalResult cpAsync();
  LogicalResult tensorCopy(bool reduces);
  LogicalResult bulkCopy();
  LogicalResult barrier();
  LogicalResult atom();
  LogicalResult approx();
  LogicalResult convert();
  LogicalResult convertPairs();
  LogicalResult permute();
  LogicalResult mbarrier();
  LogicalResult mapFence();
  LogicalResult nothing();
  LogicalResult wgmma();
  LogicalResult clusterBarrier();
  LogicalResult mapAddress();
  LogicalResult clusterMemory();
  LogicalResult asyncStore();
  LogicalResult asyncReduce();
  LogicalResult prefetch();

  StringRef name;
  unsigned operandCount;
  std::string &error;
  SmallVector<StringRef> parts;
  SmallVector<int64_t> immediates;
  bool badImmediate = false;
  size_t next = 1;
  unsigned placeholder = 0;
  PtxInstruction result;
};

} // namespace cameo::kernel
