// The table of GPU architectures.
//
// Sources: limits from the CUDA C++ Programming Guide ("Compute Capabilities", table of technical
// specifications per compute capability); PTX versions and instructions from the PTX ISA's "Target
// ISA notes". Warps and blocks of a multiprocessor from sm_100 on are those of CUDA 13.0's
// cuda_occupancy.h and of CCCL's architecture traits.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/target/Architecture.h"

#include "runtime/format.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace cameo;

namespace {

constexpr unsigned KiB = 1024;

constexpr Architecture architectures[] = {
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
    {"sm_100", 10, 0,  false, 86,   48 * KiB, 227 * KiB, 228 * KiB, 65536, 255,  1024,
     2048,     64, 32, true,  true, true,     true,      true,      true,  false},
    {"sm_103", 10, 3,  false, 88,   48 * KiB, 227 * KiB, 228 * KiB, 65536, 255,  1024,
     2048,     64, 32, true,  true, true,     true,      true,      true,  false},
    {"sm_110", 11, 0,  false, 90,   48 * KiB, 227 * KiB, 228 * KiB, 65536, 255,  1024,
     1536,     48, 24, true,  true, true,     true,      true,      true,  false},
    {"sm_120", 12, 0,  false, 87,   48 * KiB, 99 * KiB, 100 * KiB, 65536, 255,  1024,
     1536,     48, 24, true,  true, true,     true,     true,      true,  false},
    {"sm_121", 12, 1,  false, 88,   48 * KiB, 99 * KiB, 100 * KiB, 65536, 255,  1024,
     1536,     48, 24, true,  true, true,     true,     true,      true,  false},
};

} // namespace

/// The newest architecture and PTX ISA that LLVM 19 writes.
static constexpr unsigned kNewestOfLlvm = 90, kNewestPtxOfLlvm = 85;

llvm::StringRef Architecture::llvmName() const {
  return capability() > kNewestOfLlvm ? llvm::StringRef("sm_90") : llvm::StringRef(name);
}

unsigned Architecture::llvmPtxVersion() const { return std::min(ptxVersion, kNewestPtxOfLlvm); }

std::string Architecture::features() const { return llvm::formatv("+ptx{0}", llvmPtxVersion()); }

std::string Architecture::ptxVersionText() const {
  return llvm::formatv("{0}.{1}", ptxVersion / 10, ptxVersion % 10);
}

// PTX ISA, "Release Notes": PTX 7.x came with CUDA 11.x, 8.x with 12.x, from 8.6 on with 12.7.
unsigned Architecture::cudaVersion() const {
  bool isLater = ptxVersion >= 86 && ptxVersion < 90;
  return ptxVersion + 40 + isLater;
}

unsigned Architecture::clusterBlocks() const {
  return !tma ? 1 : archSpecific ? CAMEO_MOST_CLUSTER_BLOCKS : CAMEO_PORTABLE_CLUSTER_BLOCKS;
}

uint32_t Architecture::archNumber() const {
  return capability() | (archSpecific ? CAMEO_ARCH_A : 0);
}

bool Architecture::isAtLeast(unsigned since, bool specific) const {
  return specific ? archSpecific && capability() == since : capability() >= since;
}

bool Architecture::has(const kernel::PtxInstruction &instruction) const {
  return isAtLeast(instruction.since, instruction.archSpecific) &&
         ptxVersion >= instruction.ptxVersion;
}

llvm::SmallVector<kernel::MatrixShape> Architecture::matrixShapes() const {
  llvm::SmallVector<kernel::MatrixShape> shapes;
  llvm::copy_if(kernel::matrixShapes(), std::back_inserter(shapes),
                [&](const kernel::MatrixShape &shape) {
                  return isAtLeast(shape.since, /*specific=*/shape.isWarpgroup()) &&
                         ptxVersion >= shape.ptxVersion;
                });
  return shapes;
}

llvm::ArrayRef<Architecture> cameo::knownArchitectures() { return architectures; }
