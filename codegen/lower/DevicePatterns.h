// The parts of LowerToDevice: its type converter and its pattern sets.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/target/Target.h"
#include "dialects/kernel/Kernel.h"

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/IR/PatternMatch.h"

#include <algorithm>

namespace cameo {

/// What of a kernel's alignment promise is written on loads and stores.
inline constexpr llvm::StringLiteral kAlignmentAttr =
    kernel::KernelDialect::AlignmentAttrHelper::getNameStr();

/// Alignment of kernel pointers and of shared memory where nothing else is said, in bytes.
inline constexpr int64_t kPointerAlignment = 16;

/// What a kernel may promise of its pointer to a tensor that begins at a multiple of so many elements,
/// in bytes; a view may begin anywhere.
inline int64_t promisedAlignment(int64_t elements, mlir::Type element) {
  int64_t bits = element.isInteger(1) ? 8 : element.getIntOrFloatBitWidth();
  return std::clamp<int64_t>(elements * bits / 8, 1, kPointerAlignment);
}

/// Bytes of dynamic shared memory that launches give a kernel; on the function.
inline constexpr llvm::StringLiteral kDynamicSharedAttribute =
    kernel::KernelDialect::DynamicSharedAttrHelper::getNameStr();

/// How many blocks a cluster of the kernel has, in x, y and z; on the function.
inline constexpr llvm::StringLiteral kClusterAttribute = "nvvm.cluster_dim";

/// PTX address spaces (NVPTX's numbering; generic also holds private memory).
enum AddressSpace : unsigned { kGeneric = 0, kGlobal = 1, kShared = 3 };

/// Maps rank-1 memrefs to bare pointers, i1 elements to bytes.
class DeviceTypeConverter : public mlir::LLVMTypeConverter {
public:
  DeviceTypeConverter(mlir::MLIRContext *context, const mlir::LowerToLLVMOptions &options);

  /// The type an element has in memory: i8 for i1, an integer for index, itself otherwise.
  mlir::Type memoryType(mlir::Type element) const;
};

/// Tiled-stage rewrites of conversions to and from floats of 8 bits.
void populateNarrowFloatPatterns(mlir::RewritePatternSet &patterns, const Target &target);

/// Tiled-stage rewrites to what every target computes exactly: 16-bit floats, NaN-propagating
/// minima, vector reductions.
void populateExactFloatPatterns(mlir::RewritePatternSet &patterns, const Target &target);

/// gpu.func, indices, barriers, shuffles, shared memory.
void populateGpuToDevicePatterns(const DeviceTypeConverter &converter,
                                 mlir::RewritePatternSet &patterns);

/// memref and vector loads, stores and atomics.
void populateMemoryToDevicePatterns(const DeviceTypeConverter &converter,
                                    mlir::RewritePatternSet &patterns);

/// math operations that become libdevice calls.
void populateMathToDevicePatterns(const DeviceTypeConverter &converter,
                                  mlir::RewritePatternSet &patterns);

} // namespace cameo
