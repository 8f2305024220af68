// Kernels as functions and launches; how equal dispatches share them.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/KernelEmitter.h"

#include "codegen/NodeNames.h"
#include "codegen/lower/DevicePatterns.h"
#include "codegen/schedule/InPlace.h"
#include "codegen/schedule/Work.h"
#include "codegen/target/Target.h"
#include "dialects/kernel/layouts/TilePlaces.h"
#include "dialects/rt/InPlace.h"
#include "dialects/rt/Layout.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace cameo {

static MemRefType globalMemory(Type element) {
  auto space = gpu::AddressSpaceAttr::get(element.getContext(), gpu::AddressSpace::Global);
  return MemRefType::get({ShapedType::kDynamic}, element, MemRefLayoutAttrInterface(), space);
}

/// Letters, digits and '_' only, as PTX wants symbols.
static std::string symbolFor(StringRef node) {
  std::string symbol;
  for (char c : node.take_back(40))
    symbol += llvm::isAlnum(c) ? c : '_';
  return symbol;
}

OperandLayout operandLayout(kernel::DispatchOp op, Value blockArgument) {
  OperandLayout result;
  Value outside = op->getOperand(cast<BlockArgument>(blockArgument).getArgNumber());
  if (rt::hasOwnMemory(outside))
    return result;
  std::optional<rt::Layout> layout = rt::layoutOf(outside); // the verifier of reshapes sees to it
  result.alignment = layout->alignment(result.alignment);
  if (!layout->isContiguous)
    for (const rt::Extent &stride : layout->strides)
      result.strides.push_back(stride.known().value_or(ShapedType::kDynamic));
  return result;
}

SmallVector<BlockArgument> viewsOf(kernel::DispatchOp op) {
  SmallVector<BlockArgument> result;
  for (auto [operand, argument] : llvm::zip(op->getOperands(), op.getBodyBlock()->getArguments()))
    if (isa<RankedTensorType>(operand.getType()) && !rt::hasOwnMemory(operand))
      result.push_back(argument);
  return result;
}

bool castsToIndex(kernel::DispatchOp op) {
  return op.getBody()
      .walk([](Operation *inner) {
        return isa<arith::IndexCastOp, arith::IndexCastUIOp>(inner) ? WalkResult::interrupt()
                                                                    : WalkResult::advance();
      })
      .wasInterrupted();
}

bool isIndex(kernel::DispatchOp op, Type scalar) {
  return scalar.isIndex() || (isa<IntegerType>(scalar) && castsToIndex(op));
}

Value planSize(OpBuilder &host, kernel::DispatchOp op, Value tensor, int64_t dim) {
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(dim))
    return host.create<arith::ConstantIndexOp>(loc, type.getDimSize(dim));
  if (auto argument = dyn_cast<BlockArgument>(tensor)) {
    if (argument.getOwner() != op.getBodyBlock())
      return {};
    Value outside = op->getOperand(argument.getArgNumber()); // operands and arguments correspond
    return host.createOrFold<tensor::DimOp>(loc, outside, dim);
  }
  Operation *definition = tensor.getDefiningOp();
  if (auto empty = dyn_cast<tensor::EmptyOp>(definition)) {
    Value size = empty.getDynamicSize(dim);
    if (auto argument = dyn_cast<BlockArgument>(size))
      return op->getOperand(argument.getArgNumber());
    auto of = size.getDefiningOp<tensor::DimOp>();
    return of && of.getConstantIndex() ? planSize(host, op, of.getSource(), *of.getConstantIndex())
                                       : Value();
  }
  if (auto pad = dyn_cast<tensor::PadOp>(definition)) {
    auto low = getConstantIntValue(pad.getMixedLowPad()[dim]);
    auto high = getConstantIntValue(pad.getMixedHighPad()[dim]);
    Value source = low && high ? planSize(host, op, pad.getSource(), dim) : Value();
    return source ? host.createOrFold<arith::AddIOp>(
                        loc, source, host.create<arith::ConstantIndexOp>(loc, *low + *high))
                  : Value();
  }
  if (auto cast = dyn_cast<tensor::CastOp>(definition))
    return planSize(host, op, cast.getSource(), dim);
  if (auto style = dyn_cast<DestinationStyleOpInterface>(definition))
    return planSize(host, op, style.getTiedOpOperand(cast<OpResult>(tensor))->get(), dim);
  return {};
}

void KernelEmitter::begin(kernel::DispatchOp op, bool mayBeInChunks) {
  isFar = false;
  finished = {};
  repeated = {};
  chunks = !mayBeInChunks || fitsIn32Bits(op, bound) ? std::nullopt : chunksOf(op, bound);
}

void KernelEmitter::finish(Value parts) {
  finished = parts.getDefiningOp<rt::LaunchOp>().getKernelAttr();
}

Value KernelEmitter::gridSize(OpBuilder &host, kernel::DispatchOp op, unsigned output,
                              int64_t dim) {
  Location loc = op.getLoc();
  Value size = host.createOrFold<tensor::DimOp>(loc, op.getInits()[output], dim);
  if (!chunks || dim != 0 || !chunks->steps.count(op.getInitArgs()[output]))
    return size;
  Value most = host.create<arith::ConstantIndexOp>(loc, chunks->size);
  return host.createOrFold<arith::MinSIOp>(loc, size, most);
}

FailureOr<SmallVector<Value>>
KernelEmitter::launch(kernel::DispatchOp op, StringRef part, int64_t threads, ValueRange grid,
                      ArrayRef<int64_t> outputs, function_ref<LogicalResult(KernelWriter &)> body) {
  OpBuilder host(op);
  Location loc = op.getLoc();
  if (chunks) {
    Value extent;
    for (auto [init, argument] : llvm::zip(op.getInits(), op.getInitArgs()))
      if (!extent && chunks->steps.count(argument))
        extent = host.createOrFold<tensor::DimOp>(loc, init, 0);
    SmallVector<Value> cut(grid);
    cut[2] = host.create<arith::CeilDivSIOp>(
        loc, extent, host.create<arith::ConstantIndexOp>(loc, chunks->size));
    // Results without the dimension are computed, too, where there is nothing along it.
    if (llvm::any_of(outputs, [&](int64_t output) {
          return !chunks->steps.count(op.getInitArgs()[output]);
        }))
      cut[2] =
          host.create<arith::MaxSIOp>(loc, cut[2], host.create<arith::ConstantIndexOp>(loc, 1));
    return launch(op, part, threads, cut, outputs, op.getInits(), {32, /*inChunks=*/true}, body);
  }
  if (fitsIn32Bits(op, bound))
    return launch(op, part, threads, grid, outputs, op.getInits(), {32}, body);
  if (isFar)
    return launch(op, part, threads, grid, outputs, op.getInits(),
                  {32, /*inChunks=*/false, /*isFar=*/true}, body);
  Value fits = fitsAtRunTime(op, bound);
  if (!fits)
    return launch(op, part, threads, grid, outputs, op.getInits(), {64}, body);
  // Both kernels, one of them with an empty grid, which costs a comparison in the plan: 64-bit
  // indices take twice the registers and instructions, and hardly any run has them.
  Value zero = host.create<arith::ConstantIndexOp>(loc, 0);
  auto gridWhere = [&](Value yes, Value no) {
    SmallVector<Value> result(grid);
    result[0] = host.create<arith::SelectOp>(loc, fits, yes, no);
    return result;
  };
  auto narrow =
      launch(op, part, threads, gridWhere(grid[0], zero), outputs, op.getInits(), {32}, body);
  if (failed(narrow))
    return failure();
  SmallVector<Value> destinations(op.getInits());
  for (auto [output, value] : llvm::zip(outputs, *narrow))
    destinations[output] = value;
  auto wide = launch(op, part, threads, gridWhere(zero, grid[0]), outputs, destinations,
                     {64, /*inChunks=*/false, /*isFar=*/false, "_wide"}, body);
  if (succeeded(wide)) {
    auto fallback = wide->front().getDefiningOp<rt::LaunchOp>();
    fallback->setAttr(rt::kFallbackAttr, host.getUnitAttr());
    fallback.removeEstimateAttr(); // it takes the other one's place
  }
  return wide;
}

FailureOr<Value> KernelEmitter::launchParts(Value workspace, Value described, int64_t parts,
                                            kernel::DispatchOp op, int64_t threads, ValueRange grid,
                                            function_ref<LogicalResult(KernelWriter &)> body) {
  Form form;
  auto type = cast<RankedTensorType>(workspace.getType());
  bool fits = fitsIn32Bits(op, bound) && type.getNumElements() < bound;
  form.isFar = !fits && isFar;
  form.indexBits = fits || isFar ? 32 : 64;
  form.workspace = workspace;
  form.described = described;
  form.parts = parts;
  auto launched = launch(op, "_parts", threads, grid, {}, op.getInits(), form, body);
  if (failed(launched))
    return failure();
  return launched->front();
}

/// What launches of a kernel with these tensors have as rt::kInPlaceAttr: a view is another
/// kernel's operand, so that what holds for one of the kernel's launches holds for all.
static SmallVector<int64_t> inPlacePositions(gpu::GPUFuncOp function, ArrayRef<Value> tensors,
                                             ArrayRef<int64_t> written) {
  SmallVector<unsigned> whole, targets;
  for (auto [position, tensor] : llvm::enumerate(tensors))
    if (rt::hasOwnMemory(tensor)) {
      whole.push_back(position);
      if (llvm::is_contained(written, static_cast<int64_t>(position)))
        targets.push_back(position);
    }
  SmallVector<int64_t> positions;
  for (auto [target, source] : inPlacePairs(function, targets, whole))
    positions.append({target, source});
  return positions;
}

KernelEmitter::Operands KernelEmitter::operandsOf(kernel::DispatchOp op, ArrayRef<int64_t> outputs,
                                                  ValueRange destinations, Form form) {
  OpBuilder host(op);
  Location loc = op.getLoc();
  // Inputs, destinations of this launch, scalars, sizes known only at run time. Sizes that are one
  // value of the plan are one argument.
  Operands result;
  llvm::append_range(result.values, op.getInputs());
  llvm::append_range(result.targets, op.getInputArgs());
  for (int64_t output : outputs) {
    result.written.push_back(result.values.size());
    result.values.push_back(destinations[output]);
    result.targets.push_back(op.getInitArgs()[output]);
  }
  if (form.workspace) {
    result.written.push_back(result.values.size());
    result.values.push_back(form.workspace);
    result.targets.push_back(form.workspace);
  }
  result.tensors = result.values.size();
  for (auto [scalar, argument] : llvm::zip(op.getScalars(), op.getScalarArgs())) {
    if (form.inChunks && chunks->extents.contains(argument))
      continue;
    result.values.push_back(scalar);
    result.targets.push_back(argument);
  }
  SmallVector<std::pair<rt::Extent, Value>> extents; // what there is a value for
  auto extentValue = [&](const rt::Extent &extent) {
    for (auto &[known, value] : extents)
      if (known == extent)
        return value;
    extents.emplace_back(extent, extent.value(host, loc));
    return extents.back().second;
  };
  auto findSizes = [&](ValueRange outside, Block::BlockArgListType arguments) {
    for (auto [value, argument] : llvm::zip(outside, arguments)) {
      auto type = cast<RankedTensorType>(value.getType());
      for (int64_t dim = 0; dim < type.getRank(); ++dim)
        if (type.isDynamicDim(dim)) {
          Value size = value.getDefiningOp<rt::ViewOp>()
                           ? extentValue(rt::sizeOf(value, dim))
                           : host.createOrFold<tensor::DimOp>(loc, value, dim);
          result.dynamic[size].push_back({argument, dim});
          extents.emplace_back(rt::sizeOf(value, dim), size);
        }
    }
  };
  findSizes(op.getInputs(), op.getInputArgs());
  findSizes(op.getInits(), op.getInitArgs());
  for (BlockArgument view : viewsOf(op)) {
    std::optional<rt::Layout> layout = rt::layoutOf(op->getOperand(view.getArgNumber()));
    for (auto [dim, stride] : llvm::enumerate(layout->strides))
      if (!layout->isContiguous && !stride.known())
        result.dynamic[extentValue(stride)].push_back({view, -1 - static_cast<int64_t>(dim)});
  }
  if (form.inChunks) // all of them are one, of any number of bits
    result.values.push_back(
        host.create<arith::IndexCastOp>(loc, host.getI64Type(), result.dynamic.front().first));
  else
    for (auto &[value, uses] : result.dynamic)
      result.values.push_back(value);
  return result;
}

/// The kernel's operands begin at the block's chunk, and have its size.
void KernelEmitter::beginChunk(KernelWriter &kernel, const Operands &operands) {
  OpBuilder &b = kernel.b;
  Location loc = kernel.loc;
  Type wide = b.getI64Type();
  auto number = [&](int64_t value) { return b.create<arith::ConstantIntOp>(loc, value, wide); };
  Value chunk = b.create<arith::IndexCastUIOp>(loc, wide, kernel.blockId(gpu::Dimension::z));
  Value extent = kernel.function.getArguments().back();
  Value start = b.create<arith::MulIOp>(loc, chunk, number(chunks->size));
  Value left = b.create<arith::SubIOp>(loc, extent, start);
  Value most = b.create<arith::MinSIOp>(loc, left, number(chunks->size));
  Value size = b.create<arith::IndexCastOp>(loc, b.getIndexType(), most);
  for (auto &[value, uses] : operands.dynamic)
    for (auto &[argument, dim] : uses)
      kernel.dynamicSizes[{argument, dim}] = size;
  for (Value argument : chunks->extents)
    kernel.mapping.map(argument, size);
  for (Value argument : ArrayRef(operands.targets).take_front(operands.tensors)) {
    auto step = chunks->steps.find(argument);
    if (step == chunks->steps.end())
      continue;
    Value whole = kernel.memories[argument];
    Value offset = b.create<arith::MulIOp>(loc, chunk, number(chunks->size * step->second));
    Value memory = b.create<kernel::AdvanceOp>(loc, whole.getType(), whole, offset);
    kernel.memories[argument] = memory;
    int64_t alignment = kernel.alignments.lookup(whole);
    kernel.alignments[memory] = alignment;
  }
}

gpu::GPUFuncOp KernelEmitter::write(kernel::DispatchOp op, StringRef name, int64_t threads,
                                    const Operands &operands, Form form,
                                    SmallVectorImpl<int64_t> &inPlace,
                                    function_ref<LogicalResult(KernelWriter &)> body) {
  Location loc = op.getLoc();
  OpBuilder outer = OpBuilder::atBlockEnd(&variant.getBody().front());
  auto module = outer.create<gpu::GPUModuleOp>(loc, name);
  setDeclaredAttr<kernel::KernelDialect::IndexBitsAttrHelper>(
      module, outer.getI32IntegerAttr(form.indexBits));
  SmallVector<Type> types;
  for (auto [position, operand] : llvm::enumerate(operands.values))
    types.push_back(position < operands.tensors
                        ? globalMemory(cast<RankedTensorType>(operand.getType()).getElementType())
                        : operand.getType());
  if (form.times)
    types.push_back(outer.getIndexType());
  OpBuilder inside = OpBuilder::atBlockBegin(module.getBody());
  auto function = inside.create<gpu::GPUFuncOp>(loc, name, outer.getFunctionType(types, {}));
  function->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), outer.getUnitAttr());
  setDeclaredAttr<kernel::KernelDialect::BlockAttrHelper>(
      function, outer.getDenseI32ArrayAttr({int32_t(threads), 1, 1}));
  if (kernel::ScheduleAttr schedule = op.getScheduleAttr())
    setDeclaredAttr<kernel::KernelDialect::ScheduleAttrHelper>(function, schedule); // for reports
  if (Attribute trial = op->getAttr(kTrialAttr))
    function->setAttr(kTrialAttr, trial);

  Block &entry = function.getBody().front();
  KernelWriter kernel(op, OpBuilder::atBlockBegin(&entry));
  kernel.function = function;
  kernel.isFar = form.isFar;
  if (form.times)
    kernel.launchNumber = entry.getArguments().back();
  for (auto [i, target] : llvm::enumerate(operands.targets)) {
    if (i < operands.tensors) {
      kernel.memories[target] = entry.getArgument(i);
      kernel.layouts[target] =
          target == form.workspace ? OperandLayout() : operandLayout(op, target);
      kernel.alignments[entry.getArgument(i)] = kernel.layouts[target].alignment;
      int64_t bytes = promisedAlignment(kernel.layouts[target].alignment,
                                        cast<MemRefType>(types[i]).getElementType());
      if (bytes < kPointerAlignment)
        function.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(),
                            outer.getI64IntegerAttr(bytes));
    } else {
      kernel.mapping.map(target, entry.getArgument(i));
    }
  }
  if (form.inChunks) {
    beginChunk(kernel, operands);
  } else {
    size_t next = operands.targets.size();
    for (auto &[value, uses] : operands.dynamic) {
      for (auto &[argument, dim] : uses) {
        if (dim >= 0)
          kernel.dynamicSizes[{argument, dim}] = entry.getArgument(next);
        else
          kernel.dynamicStrides[{argument, -1 - dim}] = entry.getArgument(next);
      }
      ++next;
    }
  }
  kernel.copyScalarOps();
  if (failed(body(kernel)) || kernel.broken)
    return {};
  kernel.b.setInsertionPointToEnd(&entry);
  kernel.b.create<gpu::ReturnOp>(loc);
  FailureOr<kernel::TilePlaces> tiles = kernel::placeTiles(function);
  if (failed(tiles))
    return {};
  if (tiles->bytes + kernel.ownSharedBytes > target.staticSharedPerBlock)
    function->setAttr(kDynamicSharedAttribute, outer.getI64IntegerAttr(tiles->bytes));
  if (!kernel.synchronises)
    setDeclaredAttr<kernel::KernelDialect::NoSyncAttrHelper>(function, outer.getUnitAttr());
  if (kernel.storesOnce)
    inPlace = inPlacePositions(function, ArrayRef(operands.values).take_front(operands.tensors),
                               operands.written);
  for (size_t i = 0; i < operands.tensors; ++i)
    if (!llvm::is_contained(inPlace, static_cast<int64_t>(i)))
      function.setArgAttr(i, "llvm.noalias", outer.getUnitAttr());
  return function;
}

FailureOr<SmallVector<Value>>
KernelEmitter::launch(kernel::DispatchOp op, StringRef part, int64_t threads, ValueRange grid,
                      ArrayRef<int64_t> outputs, ValueRange destinations, Form form,
                      function_ref<LogicalResult(KernelWriter &)> body) {
  MLIRContext *context = op.getContext();
  OpBuilder host(op);
  Location loc = op.getLoc();
  if (repeated.times) {
    form.times = repeated.times;
    form.workspace = repeated.workspace;
  }
  Operands operands = operandsOf(op, outputs, destinations, form);

  std::string more = llvm::formatv("{0}{1}|{2:x}", part, form.suffix,
                                   hasher.hash(Attribute(op.getScheduleAttr())));
  for (auto &[value, uses] : operands.dynamic) {
    more += "|";
    for (auto &[argument, dim] : uses)
      more += llvm::formatv("{0}.{1},", cast<BlockArgument>(argument).getArgNumber(), dim);
  }
  if (form.inChunks)
    more += llvm::formatv("chunks {0}", chunks->size);
  if (form.isFar)
    more += "far";
  auto &[function, nodes, inPlace] = known[extend(hasher.key(op), more)];
  collectNodeNames(loc, nodes);
  if (!function) {
    std::string name =
        llvm::formatv("k{0}_{1}{2}{3}", count++,
                      symbolFor(nodes.empty() ? "kernel" : nodes.front()), part, form.suffix);
    function = write(op, name, threads, operands, form, inPlace, body);
    if (!function)
      return failure();
  }

  auto symbol = SymbolRefAttr::get(context, function->getParentOfType<gpu::GPUModuleOp>().getName(),
                                   {FlatSymbolRefAttr::get(context, function.getName())});
  SmallVector<Type> resultTypes;
  for (int64_t output : outputs)
    resultTypes.push_back(op.getInits()[output].getType());
  if (form.workspace)
    resultTypes.push_back(form.workspace.getType());
  Value shared;
  if (auto bytes = function->getAttrOfType<IntegerAttr>(kDynamicSharedAttribute))
    shared = host.create<arith::ConstantIndexOp>(loc, bytes.getInt());
  auto launched = host.create<rt::LaunchOp>(
      loc, resultTypes, symbol, grid, shared, form.times, operands.values,
      host.getDenseI64ArrayAttr(operands.written), Value(), Value(), finished, estimate);
  if (!inPlace.empty())
    launched->setAttr(rt::kInPlaceAttr, host.getDenseI64ArrayAttr(inPlace));
  OpBuilder before(launched);
  SmallVector<Described> described;
  for (int64_t output : outputs)
    described.push_back({op.getBodyBlock()->getTerminator()->getOperand(output)});
  if (form.described)
    described.push_back({form.described, form.parts});
  annotateCost(before, launched, op, described,
               [&](Value tensor, int64_t dim) { return planSize(before, op, tensor, dim); });
  SmallVector<Value> results(launched.getResults());
  if (form.times && form.workspace)
    results.pop_back(); // nobody reads it behind the last launch
  return results;
}

void KernelEmitter::nameNodes() {
  for (auto &entry : known) {
    auto &[function, nodes, inPlace] = entry.second;
    auto names = StringAttr::get(function.getContext(), llvm::join(nodes, ","));
    setDeclaredAttr<kernel::KernelDialect::NodesAttrHelper>(function, names);
  }
}

} // namespace cameo
