// The table of GPU architectures and its self-check.
//
// Sources: limits from the CUDA C++ Programming Guide ("Compute Capabilities", table of technical
// specifications per compute capability); PTX versions and instructions from the PTX ISA's "Target
// ISA notes". runtime/boards.h has boards and rates.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/target/Target.h"

#include "runtime/format.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace cameo;
using llvm::StringRef;

namespace {

constexpr unsigned KiB = 1024;

constexpr Target architectures[] = {
    {/*name=*/"sm_75",
     /*major=*/7,
     /*minor=*/5,
     /*archSpecific=*/false,
     /*ptxVersion=*/70,
     /*staticSharedPerBlock=*/48 * KiB,
     /*maxSharedPerBlock=*/64 * KiB,
     /*sharedPerSm=*/64 * KiB,
     /*registersPerSm=*/65536,
     /*maxRegistersPerThread=*/255,
     /*maxThreadsPerBlock=*/1024,
     /*maxThreadsPerSm=*/1024,
     /*maxWarpsPerSm=*/32,
     /*maxBlocksPerSm=*/16,
     /*asyncCopy=*/false,
     /*bf16=*/false,
     /*nanMinMax=*/false,
     /*redux=*/false,
     /*mbarrier=*/false,
     /*tma=*/false,
     /*wgmma=*/false},
    {"sm_80", 8,  0,  false, 70,   48 * KiB, 163 * KiB, 164 * KiB, 65536, 255,  1024,
     2048,    64, 32, true,  true, true,     true,      true,      false, false},
    {"sm_86", 8,  6,  false, 71,   48 * KiB, 99 * KiB, 100 * KiB, 65536, 255,  1024,
     1536,    48, 16, true,  true, true,     true,     true,      false, false},
    {"sm_87", 8,  7,  false, 74,   48 * KiB, 163 * KiB, 164 * KiB, 65536, 255,  1024,
     1536,    48, 16, true,  true, true,     true,      true,      false, false},
    {"sm_89", 8,  9,  false, 84,   48 * KiB, 99 * KiB, 100 * KiB, 65536, 255,  1024,
     1536,    48, 24, true,  true, true,     true,     true,      false, false},
    {"sm_90", 9,  0,  false, 78,   48 * KiB, 227 * KiB, 228 * KiB, 65536, 255,  1024,
     2048,    64, 32, true,  true, true,     true,      true,      true,  false},
    {"sm_90a", 9,  0,  true, 84,   48 * KiB, 227 * KiB, 228 * KiB, 65536, 255, 1024,
     2048,     64, 32, true, true, true,     true,      true,      true,  true},
};

/// Each architecture on its first board, in their order; then on each other board.
const std::vector<Target> &allTargets() {
  static const std::vector<Target> all = [] {
    std::vector<Target> targets(std::begin(architectures), std::end(architectures));
    for (const Target &architecture : architectures) {
      Target &first = targets[&architecture - architectures];
      for (const CameoBoard &board : cameoBoards) {
        if (board.arch != architecture.major * 10 + architecture.minor)
          continue;
        if (!first.board) {
          first.board = &board;
          continue;
        }
        targets.push_back(architecture);
        targets.back().board = &board;
      }
    }
    return targets;
  }();
  return all;
}

/// The oldest PTX ISA that knows an architecture ("PTX ISA version history").
unsigned oldestPtxVersion(const Target &target) {
  switch (target.major * 10 + target.minor) {
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
  default:
    return target.archSpecific ? 80 : 78;
  }
}

} // namespace

int64_t Target::launchBytes() const {
  constexpr int64_t kMicroseconds = 2;
  return kMicroseconds * board->memory_gbps * 1000;
}

double Target::bytesInTime(double multiplyAdds) const {
  const CameoRates *rates =
      llvm::find_if(cameoRates, [&](const CameoRates &row) { return row.arch == board->arch; });
  return multiplyAdds / rates->fp32 / board->clock_mhz * board->memory_gbps * 1000;
}

std::string Target::features() const { return llvm::formatv("+ptx{0}", ptxVersion); }

std::string Target::ptxVersionText() const {
  return llvm::formatv("{0}.{1}", ptxVersion / 10, ptxVersion % 10);
}

uint32_t Target::archNumber() const {
  return (major * 10 + minor) | (archSpecific ? CAMEO_ARCH_A : 0);
}

bool Target::isAtLeast(unsigned since, bool specific) const {
  unsigned capability = 10 * major + minor;
  return specific ? archSpecific && capability == since : capability >= since;
}

bool Target::has(const kernel::PtxInstruction &instruction) const {
  return isAtLeast(instruction.since, instruction.archSpecific) &&
         ptxVersion >= instruction.ptxVersion;
}

llvm::SmallVector<kernel::MatrixShape> Target::matrixShapes() const {
  llvm::SmallVector<kernel::MatrixShape> shapes;
  llvm::copy_if(kernel::matrixShapes(), std::back_inserter(shapes),
                [&](const kernel::MatrixShape &shape) {
                  return isAtLeast(shape.since, /*specific=*/shape.isWarpgroup()) &&
                         ptxVersion >= shape.ptxVersion;
                });
  return shapes;
}

std::string Target::spelling() const {
  for (const CameoBoard &first : cameoBoards)
    if (first.arch == board->arch)
      return &first == board ? name.str() : name.str() + ":" + board->name;
  llvm_unreachable("every board is in the table");
}

llvm::ArrayRef<Target> cameo::knownTargets() {
  return llvm::ArrayRef(allTargets()).take_front(std::size(architectures));
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

llvm::Error cameo::checkTargets() {
  const Target *previous = nullptr;
  for (const Target &target : knownTargets()) {
    auto fail = [&](const char *what) {
      return llvm::createStringError(target.name.str() + ": " + what);
    };
    unsigned capability = target.major * 10 + target.minor;
    if (target.name != llvm::formatv("sm_{0}{1}", capability, target.archSpecific ? "a" : "").str())
      return fail("name and compute capability disagree");
    if (previous) {
      unsigned former = previous->major * 10 + previous->minor;
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
    auto *rates = llvm::find_if(cameoRates, [&](auto &row) { return row.arch == capability; });
    if (!target.board || rates == std::end(cameoRates))
      return fail("no board, or no rates");
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
