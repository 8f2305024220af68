// Architectures and boards put together, and the check of both tables.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/target/Target.h"

#include "dialects/rt/Rt.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace cameo;
using llvm::StringRef;

namespace {

/// Each architecture on its first board, in their order; then on each other board.
const std::vector<Target> &allTargets() {
  static const std::vector<Target> all = [] {
    std::vector<Target> first, others;
    for (const Architecture &architecture : knownArchitectures()) {
      std::vector<Target> *list = &first;
      for (const CameoBoard &board : cameoBoards) {
        if (board.arch != architecture.capability())
          continue;
        list->push_back({architecture, board});
        list = &others;
      }
    }
    first.insert(first.end(), others.begin(), others.end());
    return first;
  }();
  return all;
}

/// An architecture's row of a table; null where there is none.
template <typename Row, size_t count>
const Row *findRow(const Row (&table)[count], const Architecture &architecture) {
  auto *found =
      llvm::find_if(table, [&](const Row &row) { return row.arch == architecture.capability(); });
  return found == std::end(table) ? nullptr : found;
}

/// The oldest PTX ISA that knows an architecture ("PTX ISA version history").
unsigned oldestPtxVersion(const Architecture &target) {
  switch (target.capability()) {
  case 75:
    return 63;
  case 80:
    return 70;
  case 86:
    return 71;
  case 87:
    return 74;
  case 89:
    return 78;
  case 100:
    return 86;
  case 120:
    return 87;
  case 103:
  case 121:
    return 88;
  case 110: // sm_101 before
    return 90;
  default:
    return target.archSpecific ? 80 : 78;
  }
}

} // namespace

const CameoRates &Target::rates() const { return *findRow(cameoRates, *this); }

const CameoTiming &Target::timing() const { return *findRow(cameoTimings, *this); }

double Target::memoryRate() const {
  return double(board->memory_gbps) * 1000 * timing().memory_share;
}

int64_t Target::launchBytes() const { return int64_t(timing().launch_us * memoryRate()); }

double Target::bytesInTime(double multiplyAdds) const {
  return multiplyAdds / rates().fp32 / board->clock_mhz * memoryRate();
}

rt::TargetAttr Target::attribute(mlir::MLIRContext *context) const {
  return rt::TargetAttr::get(context, name, board->name);
}

std::string Target::spelling() const {
  std::string text = name.str();
  return rt::TargetAttr::firstBoard(name) == board->name ? text : text + ":" + board->name;
}

llvm::ArrayRef<Target> cameo::knownTargets() {
  return llvm::ArrayRef(allTargets()).take_front(knownArchitectures().size());
}

llvm::Expected<const Target *> cameo::findTarget(StringRef name) {
  auto [arch, board] = name.split(':');
  llvm::SmallVector<StringRef> known;
  const bool hasBoard = name.contains(':');
  for (const Target &target : allTargets()) {
    if (target.name != arch)
      continue;
    if (!hasBoard || cameoIsBoard(target.board, board.str().c_str()))
      return &target;
    known.push_back(target.board->name);
  }
  if (!known.empty())
    return llvm::createStringError("unknown board '" + board.str() + "' of " + arch.str() +
                                   "; known: " + llvm::join(known, ", "));
  for (const Target &target : knownTargets())
    known.push_back(target.name);
  return llvm::createStringError("unknown GPU architecture '" + arch.str() +
                                 "'; known: " + llvm::join(known, ", "));
}

llvm::Expected<const Target *> cameo::findTarget(rt::TargetAttr target) {
  for (const Target &known : allTargets())
    if (known.name == target.getArch() && target.getBoard() == known.board->name)
      return &known;
  return findTarget(target.getArch()); // which says what there is
}

llvm::Error cameo::checkTargets() {
  if (knownTargets().size() != knownArchitectures().size())
    return llvm::createStringError("an architecture has no board");
  const Target *previous = nullptr;
  for (const Target &target : knownTargets()) {
    auto fail = [&](const char *what) {
      return llvm::createStringError(target.name.str() + ": " + what);
    };
    unsigned capability = target.capability();
    if (target.name != llvm::formatv("sm_{0}{1}", capability, target.archSpecific ? "a" : "").str())
      return fail("name and compute capability disagree");
    if (previous) {
      unsigned former = previous->capability();
      if (former > capability || (former == capability && !target.archSpecific))
        return fail("out of order");
    }
    if (target.ptxVersion < oldestPtxVersion(target))
      return fail("PTX version does not know the architecture");
    if (target.staticSharedPerBlock > target.maxSharedPerBlock ||
        target.maxSharedPerBlock > target.sharedPerSm)
      return fail("shared memory of a block exceeds the multiprocessor's");
    if (capability >= 80 && target.maxSharedPerBlock + 1024 != target.sharedPerSm)
      return fail("1 KiB of shared memory per block is the system's from sm_80 on");
    if (target.maxThreadsPerSm != 32 * target.maxWarpsPerSm)
      return fail("threads and warps of a multiprocessor disagree");
    if (target.maxThreadsPerBlock > target.maxThreadsPerSm ||
        target.maxBlocksPerSm > target.maxWarpsPerSm)
      return fail("block limits exceed the multiprocessor's");
    const CameoRates *rates = findRow(cameoRates, target);
    if (!rates || !findRow(cameoTimings, target))
      return fail("no rates, or no times");
    if (rates->mma_of > capability || (capability > 90) != (rates->mma_of != capability))
      return fail("Tensor Core rates are of no architecture before, or of another without need");
    if (rates->int8_mma < rates->fp16_mma || (rates->tf32_mma != 0) != target.bf16)
      return fail("Tensor Core rates and instructions disagree");
    if ((capability >= 80) != target.asyncCopy || target.asyncCopy != target.bf16 ||
        target.asyncCopy != target.nanMinMax || target.asyncCopy != target.redux ||
        target.asyncCopy != target.mbarrier)
      return fail("sm_80 instructions and compute capability disagree");
    if ((capability >= 90) != target.tma ||
        (capability == 90 && target.archSpecific) != target.wgmma)
      return fail("sm_90 instructions and compute capability disagree");
    auto shapes = target.matrixShapes();
    auto has = [&](auto which) { return llvm::any_of(shapes, which); };
    using Shape = const kernel::MatrixShape &;
    if (target.wgmma != has([](Shape shape) { return shape.isWarpgroup(); }))
      return fail("wgmma without shapes, or shapes without wgmma");
    if (target.bf16 != has([](Shape shape) { return shape.a == CAMEO_SIM_BF16; }))
      return fail("bf16 and matrix shapes disagree");
    previous = &target;
  }
  return llvm::Error::success();
}
