// Kernels as functions of a thread's context:
//
//   llvm.func @k(%p: !llvm.ptr<1>, %n: i32)      ==>  llvm.func @k(%thread, %args) loads both and
//                                                     calls k$body(%thread, %p, %n), inlined
//   llvm.func @k(%m: !llvm.ptr {llvm.byval})     ==>  its body has the address that %args has
//   nvvm.read.ptx.sreg.tid.x                     ==>  a load from the thread's context
//   nvvm.barrier0, shfl.sync, vote, warp.sync    ==>  calls through thread->api
//   llvm.mlir.addressof @shared                  ==>  thread->shared + offset
//   kernel.ptx "mma.sync..."(%a, ...)            ==>  operands to a buffer, a call, results from it
//   llvm.load %p : !llvm.ptr<1>    (checked)     ==>  load from where api->access(%p) says
//   ^block:                        (checked)     ==>  ++thread->executions[block]
//   mma of what may be undefined   (checked)     ==>  a call in front, where it is undefined
//   %a = llvm.fadd ...             (traced)      ==>  api->trace(%a) behind it
//
// and arithmetic as the GPU does it where x86 differs: SimArithmetic.cpp. Address spaces and bf16
// go last.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/sim/SimLower.h"

#include "codegen/lower/DevicePatterns.h"
#include "codegen/lower/NvvmInstructions.h"
#include "codegen/lower/TargetInstructions.h"
#include "codegen/lower/WgmmaResults.h"
#include "codegen/sim/EngineFunctions.h"
#include "codegen/sim/SimArithmetic.h"
#include "codegen/sim/SimCounts.h"
#include "codegen/sim/SimTrace.h"
#include "codegen/sim/UndefinedChecks.h"
#include "dialects/kernel/Kernel.h"
#include "dialects/kernel/Ptx.h"
#include "runtime/sim/abi.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <cstddef>

using namespace mlir;
using namespace cameo;

namespace {

/// Dynamic shared memory follows the static, aligned to this (abi.h).
constexpr uint64_t kDynamicSharedAlignment = 1024;
constexpr uint64_t kTensorMapBytes = 128;
constexpr unsigned kMapParameters = 32; // that CameoSimKernelInfo has a bit for

std::string fileLocation(Location location) {
  std::string text;
  location->walk([&](Location part) {
    if (auto file = dyn_cast<FileLineColLoc>(part)) {
      text = llvm::formatv("{0}:{1}:{2}", file.getFilename().getValue(), file.getLine(),
                           file.getColumn());
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return text;
}

std::string nodeName(Location location) {
  std::string text;
  location->walk([&](Location part) {
    if (auto name = dyn_cast<NameLoc>(part)) {
      text = name.getName().str();
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return text;
}

unsigned addressSpace(Type type) {
  auto pointer = dyn_cast<LLVM::LLVMPointerType>(type);
  return pointer ? pointer.getAddressSpace() : 0;
}

/// Rewrites one kernel's function.
class KernelLowering {
public:
  KernelLowering(LLVM::LLVMFuncOp kernel, const SimInstrumentation &instrumentation,
                 std::vector<SimSite> &sites)
      : kernel(kernel), checked(instrumentation.accesses), traced(instrumentation.results),
        sites(sites), builder(kernel.getContext()),
        ptr(LLVM::LLVMPointerType::get(kernel.getContext())), i32(builder.getI32Type()),
        i64(builder.getI64Type()), voidType(LLVM::LLVMVoidType::get(kernel.getContext())),
        name(kernel.getName().str()) {
    if (auto nodes = kernel->getAttrOfType<StringAttr>("kernel.nodes"))
      kernelNodes = nodes.str();
  }

  llvm::Expected<SimKernel> run() {
    SimKernel result;
    result.name = name;
    if (auto block =
            kernel->getAttrOfType<DenseI32ArrayAttr>(NVVM::NVVMDialect::getReqntidAttrName()))
      llvm::copy(block.asArrayRef(), result.block.begin());
    if (auto cluster = kernel->getAttrOfType<DenseI32ArrayAttr>(kClusterAttribute))
      llvm::copy(cluster.asArrayRef().take_front(3), result.cluster.begin());
    // What an access touches is told by types and parameters, so sites come before both go.
    if (checked)
      for (Block &block : kernel.getBody())
        result.blocks.push_back(countOperations(block));
    if (traced)
      insertTraces(kernel, kernelNodes, sites);
    SmallVector<Operation *> operations;
    kernel.walk([&](Operation *op) {
      if (op != kernel)
        operations.push_back(op);
    });
    layOutShared(operations, result.sharedStatic);
    if (llvm::Error error = findMapParameters(result.mapParameters))
      return std::move(error);
    splitBody(result.mapParameters);
    if (checked) {
      countExecutions();
      insertUndefinedChecks(kernel, builder, [&](const UndefinedUse &use) { tellUndefined(use); });
    }
    makeInstructionBuffers(operations);
    // All that is not known is reported in one go.
    llvm::Error errors = llvm::Error::success();
    for (Operation *op : operations)
      errors = llvm::joinErrors(std::move(errors), lower(op));
    if (errors)
      return std::move(errors);
    useHostTypes();
    if (!writesAnywhere)
      result.readOnlyParameters = ~writtenParameters;
    result.genericProxyOnly = !usesAsyncProxy;
    return result;
  }

private:
  llvm::Error errorAt(Operation *op, const llvm::Twine &what) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    stream << op->getLoc() << ": kernel " << name << ": " << what;
    return llvm::createStringError(text);
  }

  Value constant(Location loc, Type type, int64_t value) {
    return builder.create<LLVM::ConstantOp>(loc, type, builder.getIntegerAttr(type, value));
  }

  /// `base` + `offset` bytes.
  Value at(Location loc, Value base, uint64_t offset) {
    return builder.create<LLVM::GEPOp>(loc, ptr, builder.getI8Type(), base,
                                       ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)});
  }

  /// Something of the thread's context or of its function table, loaded once at the kernel's entry.
  Value fromContext(Type type, size_t offset) {
    Value &value = contextValues[{type.getAsOpaquePointer(), offset}];
    if (!value) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(&kernel.getBody().front());
      value = loadInvariant(type, at(kernel.getLoc(), thread, offset));
    }
    return value;
  }

  Value engineEntry(const EngineFunction &engine) {
    Value &value = engineEntries[engine.offset];
    if (!value) {
      Value api = fromContext(ptr, offsetof(CameoSimThread, api));
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointAfterValue(api);
      value = loadInvariant(ptr, at(kernel.getLoc(), api, engine.offset));
    }
    return value;
  }

  Value loadInvariant(Type type, Value pointer) {
    return builder.create<LLVM::LoadOp>(kernel.getLoc(), type, pointer, /*alignment=*/0,
                                        /*isVolatile=*/false, /*isNonTemporal=*/false,
                                        /*isInvariant=*/true);
  }

  Type typeOf(EngineType type) {
    switch (type) {
    case EngineType::None:
      return voidType;
    case EngineType::I32:
      return i32;
    case EngineType::I64:
      return i64;
    case EngineType::F32:
      return builder.getF32Type();
    case EngineType::F64:
      return builder.getF64Type();
    case EngineType::Pointer:
      return ptr;
    }
    llvm_unreachable("all types are there");
  }

  /// Calls the engine's function with the thread and `operands`.
  LLVM::CallOp callEngine(Location loc, const EngineFunction &engine, ArrayRef<Value> operands) {
    SmallVector<Value> all{engineEntry(engine), thread};
    all.append(operands.begin(), operands.end());
    SmallVector<Type> types;
    for (EngineType type : engine.types)
      types.push_back(typeOf(type));
    auto type = LLVM::LLVMFunctionType::get(types.front(), ArrayRef(types).drop_front());
    return builder.create<LLVM::CallOp>(loc, type, all);
  }

  Value site(Operation *op, const llvm::Twine &what) {
    std::string node = nodeName(op->getLoc());
    sites.push_back({node.empty() ? kernelNodes : node, fileLocation(op->getLoc()), what.str()});
    return constant(op->getLoc(), i32, sites.size() - 1);
  }

  /// Gives every shared variable that is used its place in the block's window.
  void layOutShared(ArrayRef<Operation *> operations, uint32_t &sharedStatic) {
    auto module = kernel->getParentOfType<ModuleOp>();
    uint64_t size = 0;
    SmallVector<LLVM::GlobalOp> dynamic;
    for (Operation *op : operations) {
      auto address = dyn_cast<LLVM::AddressOfOp>(op);
      if (!address || address.use_empty())
        continue;
      auto global = module.lookupSymbol<LLVM::GlobalOp>(address.getGlobalName());
      if (!global || global.getAddrSpace() != kShared || sharedOffsets.count(global))
        continue;
      if (global.getLinkage() == LLVM::Linkage::External) {
        dynamic.push_back(global);
        sharedOffsets[global] = 0;
        continue;
      }
      size = llvm::alignTo(size, global.getAlignment().value_or(kPointerAlignment));
      sharedOffsets[global] = size;
      size += DataLayout::closest(module).getTypeSize(global.getType());
    }
    for (LLVM::GlobalOp global : dynamic)
      sharedOffsets[global] = llvm::alignTo(size, kDynamicSharedAlignment);
    sharedStatic = size;
  }

  /// Parameters that are handed over by value in memory: tensor maps, whose addresses kernels take.
  llvm::Error findMapParameters(uint32_t &maps) {
    for (unsigned i = 0; i < kernel.getNumArguments(); ++i) {
      auto value = kernel.getArgAttrOfType<TypeAttr>(i, LLVM::LLVMDialect::getByValAttrName());
      if (!value)
        continue;
      uint64_t bytes = DataLayout::closest(kernel).getTypeSize(value.getValue());
      // Any other is a copy that a thread has for itself.
      bool isConstant = !!kernel.getArgAttr(i, NVVM::NVVMDialect::getGridConstantAttrName());
      if (bytes != kTensorMapBytes || !isConstant)
        return errorAt(kernel, llvm::formatv("parameter {0} is {1} B by value{2}; the simulator "
                                             "takes tensor maps so, {3} B that are grid_constant",
                                             i, bytes, isConstant ? "" : ", not grid_constant",
                                             kTensorMapBytes));
      if (i >= kMapParameters)
        return errorAt(kernel, llvm::formatv("parameter {0} is a tensor map; the simulator takes "
                                             "them among the first {1} parameters",
                                             i, kMapParameters));
      maps |= 1u << i;
    }
    return llvm::Error::success();
  }

  /// Makes the kernel an inlined body with the thread in front of its parameters, and an entry
  /// that fetches these. The inliner keeps what `noalias` says of parameters; a plain load of them
  /// would not.
  void splitBody(uint32_t maps) {
    auto module = kernel->getParentOfType<ModuleOp>();
    Location loc = kernel.getLoc();
    SmallVector<Type> parameters{ptr};
    SmallVector<Attribute> attributes{builder.getDictionaryAttr({})};
    StringRef noalias = LLVM::LLVMDialect::getNoAliasAttrName();
    for (unsigned i = 0; i < kernel.getNumArguments(); ++i) {
      Type type = kernel.getArgument(i).getType();
      parameters.push_back(isa<LLVM::LLVMPointerType>(type) ? ptr : type);
      NamedAttrList kept;
      if (kernel.getArgAttr(i, noalias))
        kept.append(noalias, builder.getUnitAttr());
      attributes.push_back(kept.getDictionary(builder.getContext()));
    }
    auto bodyType = LLVM::LLVMFunctionType::get(voidType, parameters);
    kernel.setName(name + "$body");
    thread = kernel.getBody().insertArgument(0u, ptr, loc);
    kernel.setFunctionType(bodyType);
    kernel.setArgAttrsAttr(builder.getArrayAttr(attributes));
    kernel.setLinkage(LLVM::Linkage::Internal);
    kernel.setAlwaysInline(true);
    for (NamedAttribute attr : llvm::to_vector(kernel->getDiscardableAttrs()))
      kernel->removeAttr(attr.getName());

    builder.setInsertionPointToEnd(module.getBody());
    auto entry = builder.create<LLVM::LLVMFuncOp>(
        loc, name, LLVM::LLVMFunctionType::get(voidType, {ptr, ptr}));
    builder.setInsertionPointToStart(entry.addEntryBlock(builder));
    SmallVector<Value> operands{entry.getArgument(0)};
    for (unsigned i = 1; i < parameters.size(); ++i) {
      Value slot = loadInvariant(ptr, at(loc, entry.getArgument(1), 8 * (i - 1)));
      bool isMap = i <= kMapParameters && maps >> (i - 1) & 1;
      operands.push_back(isMap ? slot : loadInvariant(parameters[i], slot));
    }
    builder.create<LLVM::CallOp>(loc, kernel, operands);
    builder.create<LLVM::ReturnOp>(loc, ValueRange());
  }

  llvm::Error lower(Operation *op);
  void countExecutions();
  void makeInstructionBuffers(ArrayRef<Operation *> operations);
  Value makeBuffer(Location loc, unsigned words);
  void lowerInstruction(kernel::PtxOp op);
  bool lowerRegister(Operation *op);
  void lowerShuffle(NVVM::ShflOp op);
  void tellUndefined(const UndefinedUse &use);
  std::string describeUse(const UndefinedUse &use);
  std::optional<unsigned> parameterOf(Value pointer);
  std::string describeAccess(Value pointer, uint64_t bytes, uint32_t kind);
  void noteWrite(Value pointer);
  template <typename Op> void lowerAccess(Op op, Type type, uint32_t kind);

  void replace(Operation *op, ValueRange values) {
    op->replaceAllUsesWith(values);
    op->erase();
  }

  /// Gives values the host's types: pointers without address spaces, and integers for bf16, whose
  /// arithmetic is written out by now and whose every other use LLVM's x86 back end takes apart.
  void useHostTypes() {
    auto retype = [&](Value value) {
      Type type = value.getType(), i16 = builder.getI16Type();
      if (isa<LLVM::LLVMPointerType>(type))
        value.setType(ptr);
      else if (type.isBF16())
        value.setType(i16);
      else if (auto vector = dyn_cast<VectorType>(type); vector && vector.getElementType().isBF16())
        value.setType(vector.clone(i16));
    };
    for (Block &block : kernel.getBody())
      for (BlockArgument argument : block.getArguments())
        retype(argument);
    kernel.walk([&](Operation *op) {
      for (Value result : op->getResults())
        retype(result);
      auto constant = dyn_cast<LLVM::ConstantOp>(op);
      if (!constant)
        return;
      if (auto number = dyn_cast<FloatAttr>(constant.getValue());
          number && number.getType().isBF16())
        constant.setValueAttr(
            builder.getIntegerAttr(builder.getI16Type(), number.getValue().bitcastToAPInt()));
      if (auto numbers = dyn_cast<DenseElementsAttr>(constant.getValue());
          numbers && numbers.getElementType().isBF16())
        constant.setValueAttr(numbers.bitcast(builder.getI16Type()));
    });
  }

  LLVM::LLVMFuncOp kernel;
  bool checked, traced;
  std::vector<SimSite> &sites;
  OpBuilder builder;
  LLVM::LLVMPointerType ptr;
  Type i32, i64, voidType;
  std::string name, kernelNodes;
  Value thread;
  uint32_t writtenParameters = 0; // bit i: parameter i
  bool usesAsyncProxy = false;
  bool writesAnywhere = false; // to global memory, through what is not seen to be a parameter
  Value instructionBuffers[2]; // for each thread; for warps
  llvm::DenseMap<Operation *, uint64_t> sharedOffsets;
  std::map<std::pair<const void *, size_t>, Value> contextValues;
  std::map<size_t, Value> engineEntries;
};

/// The parameter that a pointer is derived from, as far as is easily seen.
std::optional<unsigned> KernelLowering::parameterOf(Value pointer) {
  Value base = pointer;
  while (Operation *op = base.getDefiningOp()) {
    if (auto gep = dyn_cast<LLVM::GEPOp>(op))
      base = gep.getBase();
    else if (auto cast = dyn_cast<LLVM::AddrSpaceCastOp>(op))
      base = cast.getArg();
    else
      break;
  }
  if (auto argument = dyn_cast<BlockArgument>(base))
    if (argument.getOwner() == &kernel.getBody().front() && argument.getArgNumber() > 0)
      return argument.getArgNumber() - 1;
  return std::nullopt;
}

std::string KernelLowering::describeAccess(Value pointer, uint64_t bytes, uint32_t kind) {
  static const char *const verbs[] = {"load", "store", "atomic operation"};
  unsigned space = addressSpace(pointer.getType());
  std::optional<unsigned> parameter = parameterOf(pointer);
  std::string place = parameter          ? llvm::formatv("parameter {0}", *parameter).str()
                      : space == kShared ? "shared memory"
                      : space == kGlobal ? "global memory"
                                         : "local memory";
  return llvm::formatv("{0} of {1} B {2} {3}", verbs[kind], bytes,
                       kind == CAMEO_SIM_READ ? "from" : "to", place);
}

/// Something writes to `pointer`.
void KernelLowering::noteWrite(Value pointer) {
  unsigned space = addressSpace(pointer.getType());
  if (space == kShared)
    return;
  if (std::optional<unsigned> parameter = parameterOf(pointer)) {
    if (*parameter < 32)
      writtenParameters |= 1u << *parameter;
    return;
  }
  Value base = pointer;
  while (auto gep = base.getDefiningOp<LLVM::GEPOp>())
    base = gep.getBase();
  writesAnywhere |= !base.getDefiningOp<LLVM::AllocaOp>();
}

template <typename Op> void KernelLowering::lowerAccess(Op op, Type type, uint32_t kind) {
  Value pointer = kind == CAMEO_SIM_READ    ? op->getOperand(0)
                  : kind == CAMEO_SIM_WRITE ? op->getOperand(1)
                                            : op->getOperand(0);
  unsigned space = addressSpace(pointer.getType());
  if (kind != CAMEO_SIM_READ)
    noteWrite(pointer);
  DataLayout layout = DataLayout::closest(op);
  uint64_t bytes = layout.getTypeSize(type);
  uint64_t alignment = op.getAlignment().value_or(layout.getTypeABIAlignment(type));
  // An x86 access of an aligned vector traps when it is not; the GPU's rule is checked above.
  if (kind != CAMEO_SIM_ATOMIC)
    op.setAlignment(1);
  if (!checked || (space != kGlobal && space != kShared))
    return;
  Location loc = op.getLoc();
  std::optional<unsigned> parameter = parameterOf(pointer);
  Value where = site(op, describeAccess(pointer, bytes, kind));
  unsigned described = space | (parameter ? *parameter + 1 : 0) << 8;
  Value allowed = callEngine(loc, CAMEO_SIM_ENGINE(access),
                             {pointer, constant(loc, i32, bytes), constant(loc, i32, alignment),
                              constant(loc, i32, described), constant(loc, i32, kind), where})
                      .getResult();
  for (OpOperand &operand : op->getOpOperands())
    if (operand.get() == pointer)
      operand.set(allowed);
}

/// What an undefined value is used for.
std::string KernelLowering::describeUse(const UndefinedUse &use) {
  Operation *user = use.user;
  auto access = [&](Value pointer, Type type, uint32_t kind) {
    bool isAddress = user->getOperand(use.operand) == pointer;
    uint64_t bytes = DataLayout::closest(user).getTypeSize(type);
    return (isAddress ? "the address of a " : "the value of a ") +
           describeAccess(pointer, bytes, kind);
  };
  if (auto load = dyn_cast<LLVM::LoadOp>(user))
    return access(load.getAddr(), load.getType(), CAMEO_SIM_READ);
  if (auto store = dyn_cast<LLVM::StoreOp>(user))
    return access(store.getAddr(), store.getValue().getType(), CAMEO_SIM_WRITE);
  if (auto atomic = dyn_cast<LLVM::AtomicRMWOp>(user))
    return access(atomic.getPtr(), atomic.getType(), CAMEO_SIM_ATOMIC);
  if (isa<LLVM::CondBrOp, LLVM::SwitchOp>(user))
    return "the condition of a branch";
  auto instruction = dyn_cast<kernel::PtxOp>(user);
  return llvm::formatv("operand #{0} of {1}", use.operand,
                       instruction ? instruction.getInstruction() : user->getName().stripDialect());
}

void KernelLowering::tellUndefined(const UndefinedUse &use) {
  uint64_t origin = 0;
  bool isArray = isa_and_nonnull<LLVM::AllocaOp>(use.origin);
  if (isArray || (use.origin && !fileLocation(use.origin->getLoc()).empty())) {
    site(use.origin, isArray ? "local array" : "undefined value");
    origin = sites.size(); // its number, plus one
  }
  Location loc = use.user->getLoc();
  Value code = constant(loc, i64, CAMEO_SIM_OP_UNDEFINED | use.lanes << 8 | origin << 32);
  Value where = site(use.user, describeUse(use));
  callEngine(loc, CAMEO_SIM_ENGINE(instruction),
             {code, builder.create<LLVM::ZeroOp>(loc, ptr), where});
}

bool KernelLowering::lowerRegister(Operation *op) {
  struct Register {
    StringRef name;
    size_t offset;
  };
#define CAMEO_SIM_REGISTER(NAME, FIELD)                                                            \
  {"nvvm.read.ptx.sreg." NAME ".x", offsetof(CameoSimThread, FIELD)},                              \
      {"nvvm.read.ptx.sreg." NAME ".y", offsetof(CameoSimThread, FIELD) + 4},                      \
      {"nvvm.read.ptx.sreg." NAME ".z", offsetof(CameoSimThread, FIELD) + 8}
  static constexpr Register registers[] = {
      CAMEO_SIM_REGISTER("tid", tid),
      CAMEO_SIM_REGISTER("ctaid", ctaid),
      CAMEO_SIM_REGISTER("ntid", ntid),
      CAMEO_SIM_REGISTER("nctaid", nctaid),
      CAMEO_SIM_REGISTER("clusterid", clusterid),
      CAMEO_SIM_REGISTER("nclusterid", nclusterid),
      CAMEO_SIM_REGISTER("cluster.ctaid", cluster_ctaid),
      CAMEO_SIM_REGISTER("cluster.nctaid", cluster_nctaid),
      {"nvvm.read.ptx.sreg.cluster.ctarank", offsetof(CameoSimThread, cluster_ctarank)},
      {"nvvm.read.ptx.sreg.cluster.nctarank", offsetof(CameoSimThread, cluster_nctarank)},
      {"nvvm.read.ptx.sreg.laneid", offsetof(CameoSimThread, lane)},
  };
#undef CAMEO_SIM_REGISTER
  StringRef name = op->getName().getStringRef();
  for (const Register &known : registers)
    if (known.name == name) {
      replace(op, fromContext(i32, known.offset));
      return true;
    }
  return false;
}

void KernelLowering::lowerShuffle(NVVM::ShflOp op) {
  Location loc = op.getLoc();
  uint32_t kind = CAMEO_SIM_SHFL_IDX;
  switch (op.getKind()) {
  case NVVM::ShflKind::idx:
    break;
  case NVVM::ShflKind::up:
    kind = CAMEO_SIM_SHFL_UP;
    break;
  case NVVM::ShflKind::down:
    kind = CAMEO_SIM_SHFL_DOWN;
    break;
  case NVVM::ShflKind::bfly:
    kind = CAMEO_SIM_SHFL_BFLY;
    break;
  }
  Value value = op.getVal();
  Type type = value.getType();
  if (type != i32)
    value = builder.create<LLVM::BitcastOp>(loc, i32, value);
  Value packed = callEngine(loc, CAMEO_SIM_ENGINE(shuffle),
                            {constant(loc, i32, kind), op.getThreadMask(), value, op.getOffset(),
                             op.getMaskAndClamp(), site(op, "shuffle")})
                     .getResult();
  Value result = builder.create<LLVM::TruncOp>(loc, i32, packed);
  if (type != i32)
    result = builder.create<LLVM::BitcastOp>(loc, type, result);
  if (auto pair = dyn_cast<LLVM::LLVMStructType>(op.getType())) {
    Value high = builder.create<LLVM::LShrOp>(loc, packed, constant(loc, i64, 32));
    Value valid = builder.create<LLVM::TruncOp>(loc, builder.getI1Type(), high);
    Value both = builder.create<LLVM::UndefOp>(loc, pair);
    both = builder.create<LLVM::InsertValueOp>(loc, both, result, 0);
    result = builder.create<LLVM::InsertValueOp>(loc, both, valid, 1);
  }
  replace(op, result);
}

static unsigned wordsOf(Type type) {
  if (isa<LLVM::LLVMPointerType>(type))
    return 2;
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.getNumElements() * vector.getElementTypeBitWidth() / 32;
  return type.getIntOrFloatBitWidth() == 64 ? 2 : 1;
}

static unsigned wordsOf(kernel::PtxOp op) {
  unsigned words = 0;
  for (Type type : op.getInputs().getTypes())
    words += wordsOf(type);
  for (Type type : op.getOutputs().getTypes())
    words += wordsOf(type);
  return words;
}

Value KernelLowering::makeBuffer(Location loc, unsigned words) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&kernel.getBody().front());
  return builder.create<LLVM::AllocaOp>(loc, ptr, i32, constant(loc, i32, words),
                                        /*alignment=*/16);
}

/// Operands are stored right before a call, results loaded right after it: in one buffer for what a
/// thread does for itself, one for what a warp does together, and one for each place where threads
/// wait. The warp form treats them differently (WarpPrepare.h).
void KernelLowering::makeInstructionBuffers(ArrayRef<Operation *> operations) {
  unsigned most[2] = {0, 0};
  for (Operation *op : operations)
    if (auto instruction = dyn_cast<kernel::PtxOp>(op)) {
      unsigned &known = most[instruction.decode().isCollective()];
      known = std::max({known, wordsOf(instruction), 1u}); // some have no operands
    }
  for (unsigned together : {0, 1})
    if (most[together])
      instructionBuffers[together] = makeBuffer(kernel.getLoc(), most[together]);
}

void KernelLowering::lowerInstruction(kernel::PtxOp op) {
  Location loc = op.getLoc();
  const kernel::PtxInstruction &instruction = op.decode();
  uint32_t facts = cameoSimFacts(instruction.opcode);
  writesAnywhere |= bool(facts & CAMEO_SIM_WRITES_GLOBAL);
  usesAsyncProxy |= bool(facts & CAMEO_SIM_ASYNC_PROXY);
  Value instructionBuffer = !instruction.blocks() ? instructionBuffers[instruction.isCollective()]
                            : wordsOf(op)         ? makeBuffer(loc, wordsOf(op))
                                                  : Value();
  unsigned words = 0;
  for (Value input : op.getInputs()) {
    Value stored = input;
    if (isa<LLVM::LLVMPointerType>(input.getType()))
      stored = builder.create<LLVM::PtrToIntOp>(loc, i64, input);
    else if (!isa<VectorType>(input.getType()) && input.getType().getIntOrFloatBitWidth() < 32) {
      Type bits = builder.getIntegerType(input.getType().getIntOrFloatBitWidth());
      if (stored.getType() != bits)
        stored = builder.create<LLVM::BitcastOp>(loc, bits, stored);
      stored = builder.create<LLVM::ZExtOp>(loc, i32, stored);
    }
    builder.create<LLVM::StoreOp>(loc, stored, at(loc, instructionBuffer, 4 * words),
                                  /*alignment=*/4);
    words += wordsOf(input.getType());
  }
  bool blocking = instruction.isCollective() || instruction.blocks();
  SmallVector<Value> operands{constant(loc, i64, instruction.code())};
  if (blocking)
    operands.push_back(instruction.mask < 0 ? constant(loc, i32, -1)
                                            : op.getInputs()[instruction.mask]);
  Value buffer = instructionBuffer; // a wait may have no operands
  if (!buffer)
    buffer = builder.create<LLVM::ZeroOp>(loc, ptr);
  operands.append({buffer, site(op, op.getInstruction())});
  callEngine(loc, blocking ? CAMEO_SIM_ENGINE(blocking_instruction) : CAMEO_SIM_ENGINE(instruction),
             operands);
  for (Value output : op.getOutputs()) {
    Type type = output.getType();
    Value place = at(loc, instructionBuffer, 4 * words);
    Value value;
    if (!isa<VectorType, LLVM::LLVMPointerType>(type) && type.getIntOrFloatBitWidth() < 32) {
      value = builder.create<LLVM::LoadOp>(loc, i32, place, /*alignment=*/4);
      value = builder.create<LLVM::TruncOp>(
          loc, builder.getIntegerType(type.getIntOrFloatBitWidth()), value);
      if (value.getType() != type)
        value = builder.create<LLVM::BitcastOp>(loc, type, value);
    } else {
      value = builder.create<LLVM::LoadOp>(loc, type, place, /*alignment=*/4);
    }
    output.replaceAllUsesWith(value);
    words += wordsOf(type);
  }
  op.erase();
}

/// ++thread->executions[i] at the head of block i.
void KernelLowering::countExecutions() {
  Value counters = fromContext(ptr, offsetof(CameoSimThread, executions));
  for (auto [index, block] : llvm::enumerate(kernel.getBody())) {
    Location loc = kernel.getLoc();
    if (&block == &kernel.getBody().front())
      builder.setInsertionPointAfterValue(counters);
    else
      builder.setInsertionPointToStart(&block);
    Value place = at(loc, counters, sizeof(uint64_t) * index);
    Value count = builder.create<LLVM::LoadOp>(loc, i64, place, /*alignment=*/8);
    count = builder.create<LLVM::AddOp>(loc, count, constant(loc, i64, 1));
    builder.create<LLVM::StoreOp>(loc, count, place, /*alignment=*/8);
  }
}

llvm::Error KernelLowering::lower(Operation *op) {
  builder.setInsertionPoint(op);
  Location loc = op->getLoc();
  if (auto address = dyn_cast<LLVM::AddressOfOp>(op)) {
    auto global =
        kernel->getParentOfType<ModuleOp>().lookupSymbol<LLVM::GlobalOp>(address.getGlobalName());
    if (!global || global.getAddrSpace() != kShared)
      return llvm::Error::success();
    Value base = fromContext(ptr, offsetof(CameoSimThread, shared));
    Value pointer = at(loc, base, sharedOffsets.lookup(global));
    // The type keeps the address space until accesses are instrumented.
    pointer.setType(address.getType());
    replace(op, pointer);
    return llvm::Error::success();
  }
  if (auto load = dyn_cast<LLVM::LoadOp>(op)) {
    lowerAccess(load, load.getType(), CAMEO_SIM_READ);
    return llvm::Error::success();
  }
  if (auto store = dyn_cast<LLVM::StoreOp>(op)) {
    lowerAccess(store, store.getValue().getType(), CAMEO_SIM_WRITE);
    return llvm::Error::success();
  }
  if (auto atomic = dyn_cast<LLVM::AtomicRMWOp>(op)) {
    atomic.removeSyncscopeAttr();
    lowerAccess(atomic, atomic.getType(), CAMEO_SIM_ATOMIC);
    return llvm::Error::success();
  }
  if (auto call = dyn_cast<LLVM::CallOp>(op); call && call.getCallee() == kTraceFunction) {
    callEngine(loc, CAMEO_SIM_ENGINE(trace), llvm::to_vector(call.getArgOperands()));
    op->erase();
    return llvm::Error::success();
  }
  if (auto cast = dyn_cast<LLVM::AddrSpaceCastOp>(op)) {
    // Generic pointers stay unchecked; kernels use them for private memory alone.
    replace(op, cast.getArg());
    return llvm::Error::success();
  }
  if (isa<LLVM::AtomicCmpXchgOp, LLVM::InlineAsmOp, LLVM::CallIntrinsicOp, LLVM::MemcpyOp,
          LLVM::MemmoveOp, LLVM::MemsetOp>(op))
    return errorAt(op, "the simulator does not know " + op->getName().getStringRef());
  if (isa<LLVM::LLVMDialect>(op->getDialect())) {
    lowerArithmetic(op, builder);
    return llvm::Error::success();
  }
  if (auto instruction = dyn_cast<kernel::PtxOp>(op)) {
    lowerInstruction(instruction);
    return llvm::Error::success();
  }
  if (lowerRegister(op))
    return llvm::Error::success();
  if (isa<NVVM::WarpSizeOp>(op)) {
    replace(op, constant(loc, i32, 32));
    return llvm::Error::success();
  }
  if (isa<NVVM::Barrier0Op>(op)) {
    callEngine(loc, CAMEO_SIM_ENGINE(barrier),
               {constant(loc, i32, 0), constant(loc, i32, 0), site(op, "barrier")});
    op->erase();
    return llvm::Error::success();
  }
  if (auto barrier = dyn_cast<NVVM::BarrierOp>(op)) {
    Value id = barrier.getBarrierId() ? barrier.getBarrierId() : constant(loc, i32, 0);
    Value count =
        barrier.getNumberOfThreads() ? barrier.getNumberOfThreads() : constant(loc, i32, 0);
    callEngine(loc, CAMEO_SIM_ENGINE(barrier), {id, count, site(op, "barrier")});
    op->erase();
    return llvm::Error::success();
  }
  if (auto sync = dyn_cast<NVVM::SyncWarpOp>(op)) {
    callEngine(loc, CAMEO_SIM_ENGINE(warp_sync), {sync.getMask(), site(op, "warp barrier")});
    op->erase();
    return llvm::Error::success();
  }
  if (auto vote = dyn_cast<NVVM::VoteBallotOp>(op)) {
    Value predicate = builder.create<LLVM::ZExtOp>(loc, i32, vote.getPred());
    replace(op, callEngine(loc, CAMEO_SIM_ENGINE(vote),
                           {constant(loc, i32, CAMEO_SIM_VOTE_BALLOT), vote.getMask(), predicate,
                            site(op, "vote")})
                    .getResult());
    return llvm::Error::success();
  }
  if (auto shuffle = dyn_cast<NVVM::ShflOp>(op)) {
    lowerShuffle(shuffle);
    return llvm::Error::success();
  }
  return errorAt(op, "the simulator does not know " + op->getName().getStringRef());
}

} // namespace

llvm::Expected<SimModule> cameo::lowerToSim(gpu::GPUModuleOp module, const Target *target,
                                            const SimInstrumentation &instrumentation,
                                            std::vector<SimSite> &sites) {
  SimModule result;
  OpBuilder builder(module.getContext());
  result.module = ModuleOp::create(module.getLoc(), module.getName());
  builder.setInsertionPointToStart(result.module->getBody());
  for (Operation &op : module.getBody()->without_terminator())
    builder.clone(op);
  llvm::Error errors = replaceNvvmInstructions(*result.module);
  if (target)
    errors = llvm::joinErrors(std::move(errors), verifyTargetInstructions(*result.module, *target));
  if (instrumentation.accesses)
    errors = llvm::joinErrors(std::move(errors), verifyWgmmaResults(*result.module));
  for (auto function : llvm::to_vector(result.module->getOps<LLVM::LLVMFuncOp>())) {
    if (function.isExternal())
      continue;
    llvm::Expected<SimKernel> kernel = KernelLowering(function, instrumentation, sites).run();
    if (kernel)
      result.kernels.push_back(std::move(*kernel));
    else
      errors = llvm::joinErrors(std::move(errors), kernel.takeError());
  }
  if (errors)
    return std::move(errors);
  if (auto trace = result.module->lookupSymbol<LLVM::LLVMFuncOp>(kTraceFunction))
    trace.erase();
  // Every shared variable has become an offset.
  for (auto global : llvm::to_vector(result.module->getOps<LLVM::GlobalOp>()))
    if (global.getAddrSpace() == kShared)
      global.erase();
  return result;
}
