// Which values of the llvm dialect the registers of instructions hold.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/kernel/Ptx.h"

#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace cameo::kernel;

llvm::StringRef cameo::kernel::describe(PtxType type) {
  switch (type) {
  case PtxType::B16:
    return "16 bits";
  case PtxType::B32:
    return "32 bits";
  case PtxType::B64:
    return "64 bits";
  case PtxType::F32:
    return "f32";
  case PtxType::F64:
    return "f64";
  case PtxType::Predicate:
    return "i1";
  case PtxType::Shared:
    return "a pointer to shared memory";
  case PtxType::Global:
    return "a pointer to global memory";
  }
  llvm_unreachable("all types are above");
}

bool cameo::kernel::accepts(PtxType ptx, Type type) {
  auto pointer = dyn_cast<LLVM::LLVMPointerType>(type);
  auto hasBits = [&](unsigned bits) {
    if (auto vector = dyn_cast<VectorType>(type))
      return vector.getNumElements() * vector.getElementTypeBitWidth() == bits;
    return type.isIntOrFloat() && type.getIntOrFloatBitWidth() == bits;
  };
  switch (ptx) {
  case PtxType::B16:
    return hasBits(16);
  case PtxType::B32:
    return hasBits(32);
  case PtxType::B64:
    return hasBits(64);
  case PtxType::F32:
    return type.isF32();
  case PtxType::F64:
    return type.isF64();
  case PtxType::Predicate:
    return type.isInteger(1);
  case PtxType::Shared:
    return pointer && pointer.getAddressSpace() == 3;
  case PtxType::Global:
    return pointer && (pointer.getAddressSpace() == 1 || pointer.getAddressSpace() == 0);
  }
  llvm_unreachable("all types are above");
}
