// What the engine has to know of kernels, and of each access of memory, while parameters and
// address spaces still tell it.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/Passes.h"
#include "codegen/lower/DevicePatterns.h"
#include "codegen/sim/SimContext.h"
#include "dialects/kernel/Ptx.h"
#include "passes/Statistics.h"

#include "llvm/Support/FormatVariadic.h"

namespace cameo {
#define GEN_PASS_DEF_INFERSIMKERNELS
#include "codegen/Passes.h.inc"
} // namespace cameo

using namespace mlir;
using namespace cameo;

namespace {

constexpr uint64_t kTensorMapBytes = 128;
constexpr unsigned kMapParameters = 32; // that CameoSimKernelInfo has a bit for

unsigned addressSpace(Value pointer) {
  return cast<LLVM::LLVMPointerType>(pointer.getType()).getAddressSpace();
}

/// An access of memory.
struct Access {
  Value pointer;
  Type type;
  CameoSimAccess kind;
};

std::optional<Access> accessOf(Operation *op) {
  if (auto load = dyn_cast<LLVM::LoadOp>(op))
    return Access{load.getAddr(), load.getType(), CAMEO_SIM_READ};
  if (auto store = dyn_cast<LLVM::StoreOp>(op))
    return Access{store.getAddr(), store.getValue().getType(), CAMEO_SIM_WRITE};
  if (auto atomic = dyn_cast<LLVM::AtomicRMWOp>(op))
    return Access{atomic.getPtr(), atomic.getType(), CAMEO_SIM_ATOMIC};
  return std::nullopt;
}

class KernelInference {
public:
  KernelInference(LLVM::LLVMFuncOp kernel, bool checked)
      : kernel(kernel), checked(checked), builder(kernel.getContext()) {}

  LogicalResult run() {
    if (failed(verifyOperations()) || failed(findMaps()))
      return failure();
    kernel.walk([&](Operation *op) {
      if (std::optional<Access> access = accessOf(op))
        describe(op, *access);
      else if (auto instruction = dyn_cast<kernel::PtxOp>(op))
        note(cameoSimFacts(instruction.decode().opcode));
    });
    SmallVector<int32_t> block(3, 0), cluster(3, 0);
    if (auto given =
            kernel->getAttrOfType<DenseI32ArrayAttr>(NVVM::NVVMDialect::getReqntidAttrName()))
      llvm::copy(given.asArrayRef(), block.begin());
    if (auto given = kernel->getAttrOfType<DenseI32ArrayAttr>(kClusterAttribute))
      llvm::copy(given.asArrayRef().take_front(3), cluster.begin());
    kernel->setAttr(kSimBlockAttr, builder.getDenseI32ArrayAttr(block));
    kernel->setAttr(kSimClusterAttr, builder.getDenseI32ArrayAttr(cluster));
    kernel->setAttr(kSimReadOnlyAttr,
                    builder.getI32IntegerAttr(writesAnywhere ? 0 : ~writtenParameters));
    kernel->setAttr(kSimMapsAttr, builder.getI32IntegerAttr(maps));
    if (usesAsyncProxy)
      kernel->setAttr(kSimAsyncProxyAttr, builder.getUnitAttr());
    return success();
  }

private:
  LogicalResult verifyOperations() {
    LogicalResult result = success();
    kernel.walk([&](Operation *op) {
      if (!isa<LLVM::AtomicCmpXchgOp, LLVM::InlineAsmOp, LLVM::CallIntrinsicOp, LLVM::MemcpyOp,
               LLVM::MemmoveOp, LLVM::MemsetOp>(op))
        return;
      emitError(op->getLoc()) << "kernel " << kernel.getName() << ": the simulator does not know "
                              << op->getName().getStringRef();
      result = failure();
    });
    return result;
  }

  /// Parameters that are handed over by value in memory: tensor maps, whose addresses kernels take.
  LogicalResult findMaps() {
    for (unsigned i = 0; i < kernel.getNumArguments(); ++i) {
      auto value = kernel.getArgAttrOfType<TypeAttr>(i, LLVM::LLVMDialect::getByValAttrName());
      if (!value)
        continue;
      uint64_t bytes = DataLayout::closest(kernel).getTypeSize(value.getValue());
      // Any other is a copy that a thread has for itself.
      bool isConstant = !!kernel.getArgAttr(i, NVVM::NVVMDialect::getGridConstantAttrName());
      if (bytes != kTensorMapBytes || !isConstant)
        return emitError(kernel.getLoc())
               << "kernel " << kernel.getName() << ": parameter " << i << " is " << bytes
               << " B by value" << (isConstant ? "" : ", not grid_constant")
               << "; the simulator takes tensor maps so, " << kTensorMapBytes
               << " B that are grid_constant";
      if (i >= kMapParameters)
        return emitError(kernel.getLoc())
               << "kernel " << kernel.getName() << ": parameter " << i
               << " is a tensor map; the simulator takes them among the first " << kMapParameters
               << " parameters";
      maps |= 1u << i;
    }
    return success();
  }

  void note(uint32_t facts) {
    writesAnywhere |= bool(facts & CAMEO_SIM_WRITES_GLOBAL);
    usesAsyncProxy |= bool(facts & CAMEO_SIM_ASYNC_PROXY);
  }

  /// The parameter that a pointer is derived from, as far as is easily seen.
  std::optional<unsigned> parameterOf(Value base) {
    while (Operation *op = base.getDefiningOp()) {
      if (auto gep = dyn_cast<LLVM::GEPOp>(op))
        base = gep.getBase();
      else if (auto cast = dyn_cast<LLVM::AddrSpaceCastOp>(op))
        base = cast.getArg();
      else
        break;
    }
    auto argument = dyn_cast<BlockArgument>(base);
    if (argument && argument.getOwner() == &kernel.getBody().front())
      return argument.getArgNumber();
    return std::nullopt;
  }

  /// Something writes to `pointer`.
  void noteWrite(Value pointer) {
    if (addressSpace(pointer) == kShared)
      return;
    if (std::optional<unsigned> parameter = parameterOf(pointer)) {
      if (*parameter < 32)
        writtenParameters |= 1u << *parameter;
      return;
    }
    while (auto gep = pointer.getDefiningOp<LLVM::GEPOp>())
      pointer = gep.getBase();
    writesAnywhere |= !pointer.getDefiningOp<LLVM::AllocaOp>();
  }

  void describe(Operation *op, Access access) {
    static const char *const verbs[] = {"load", "store", "atomic operation"};
    // A generic pointer is what it has been cast from.
    while (auto cast = access.pointer.getDefiningOp<LLVM::AddrSpaceCastOp>())
      access.pointer = cast.getArg();
    if (access.kind != CAMEO_SIM_READ)
      noteWrite(access.pointer);
    DataLayout layout = DataLayout::closest(op);
    uint64_t bytes = layout.getTypeSize(access.type);
    uint64_t alignment = layout.getTypeABIAlignment(access.type);
    if (auto given = op->getAttrOfType<IntegerAttr>("alignment"))
      alignment = given.getInt();
    // An x86 access of an aligned vector traps when it is not; the GPU's rule is the checks'.
    if (access.kind == CAMEO_SIM_ATOMIC)
      cast<LLVM::AtomicRMWOp>(op).removeSyncscopeAttr();
    else
      op->setAttr("alignment", builder.getI64IntegerAttr(1));
    if (!checked)
      return;
    unsigned space = addressSpace(access.pointer);
    std::optional<unsigned> parameter = parameterOf(access.pointer);
    std::string place = parameter          ? llvm::formatv("parameter {0}", *parameter).str()
                        : space == kShared ? "shared memory"
                        : space == kGlobal ? "global memory"
                                           : "local memory";
    std::string what = llvm::formatv("{0} of {1} B {2} {3}", verbs[access.kind], bytes,
                                     access.kind == CAMEO_SIM_READ ? "from" : "to", place);
    auto number = [&](const char *name, uint64_t value) {
      return builder.getNamedAttr(name, builder.getI32IntegerAttr(value));
    };
    op->setAttr(kSimAccessAttr, builder.getDictionaryAttr(
                                    {number("bytes", bytes), number("alignment", alignment),
                                     number("space", space | (parameter ? *parameter + 1 : 0) << 8),
                                     number("kind", access.kind),
                                     builder.getNamedAttr("what", builder.getStringAttr(what))}));
  }

  LLVM::LLVMFuncOp kernel;
  const bool checked;
  OpBuilder builder;
  uint32_t writtenParameters = 0; // bit i: parameter i
  uint32_t maps = 0;              // the same
  bool usesAsyncProxy = false;
  bool writesAnywhere = false; // to global memory, through what is not seen to be a parameter
};

struct InferSimKernels : cameo::impl::InferSimKernelsBase<InferSimKernels> {
  using InferSimKernelsBase::InferSimKernelsBase;

  void runOnOperation() override {
    bool failing = false;
    for (LLVM::LLVMFuncOp kernel : simKernels(getOperation())) {
      failing |= failed(KernelInference(kernel, checked).run());
      count(&getContext(), getArgument(), "kernels");
    }
    if (failing)
      signalPassFailure();
  }
};

} // namespace
