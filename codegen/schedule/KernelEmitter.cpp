// Kernels as functions and launches; how equal dispatches share them.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/KernelEmitter.h"

#include "codegen/NodeNames.h"
#include "codegen/schedule/Work.h"
#include "dialects/rt/Layout.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
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

/// Inputs and destinations that are not in memory of their own, as block arguments.
static SmallVector<BlockArgument> viewsOf(kernel::DispatchOp op) {
  SmallVector<BlockArgument> result;
  for (auto [operand, argument] : llvm::zip(op->getOperands(), op.getBodyBlock()->getArguments()))
    if (isa<RankedTensorType>(operand.getType()) && !rt::hasOwnMemory(operand))
      result.push_back(argument);
  return result;
}

std::string dispatchKey(kernel::DispatchOp op) {
  std::string key;
  llvm::raw_string_ostream out(key);
  OpPrintingFlags flags;
  flags.enableDebugInfo(false).printGenericOpForm().elideLargeElementsAttrs(1 << 20);
  out << op.getOperandTypes() << op->getAttrDictionary();
  for (Operation &inner : *op.getBodyBlock())
    inner.print(out, flags.useLocalScope());
  for (BlockArgument view : viewsOf(op)) {
    OperandLayout layout = operandLayout(op, view);
    out << "view " << view.getArgNumber() << " aligned to " << layout.alignment << " strides ";
    llvm::interleaveComma(layout.strides, out);
  }
  return key;
}

bool castsToIndex(kernel::DispatchOp op) {
  return op.getBody()
      .walk([](Operation *inner) {
        return isa<arith::IndexCastOp, arith::IndexCastUIOp>(inner) ? WalkResult::interrupt()
                                                                    : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Whether a scalar of the plan may be part of an index of the kernel: an offset, say.
static bool isIndex(kernel::DispatchOp op, Type scalar) {
  return scalar.isIndex() || (isa<IntegerType>(scalar) && castsToIndex(op));
}

/// Whether every index of the kernel stays well below 2^31.
static bool fitsIn32Bits(kernel::DispatchOp op) {
  bool fits = true;
  auto check = [&](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (tensor && (!tensor.hasStaticShape() || tensor.getNumElements() >= (int64_t(1) << 30)))
      fits = false;
  };
  op->walk([&](Operation *inner) {
    for (Type type : inner->getOperandTypes())
      check(type);
    for (Type type : inner->getResultTypes())
      check(type);
    if (auto generic = dyn_cast<linalg::GenericOp>(inner))
      for (int64_t range : generic.getStaticLoopRanges())
        if (ShapedType::isDynamic(range) || range >= (int64_t(1) << 30))
          fits = false;
  });
  for (BlockArgument view : viewsOf(op))
    check(rt::layoutOf(op->getOperand(view.getArgNumber()))->root.getType());
  // Those of the plan may be anything.
  return fits && llvm::none_of(op.getScalars(),
                               [&](Value scalar) { return isIndex(op, scalar.getType()); });
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

/// For a dispatch with sizes known only at run time: a condition of the plan under which
/// fitsIn32Bits would hold. Null where it cannot be told from tensors' sizes alone.
static Value fitsAtRunTime(kernel::DispatchOp op) {
  OpBuilder host(op);
  Location loc = op.getLoc();
  Value bound = host.create<arith::ConstantIndexOp>(loc, int64_t(1) << 30), all;
  auto require = [&](Value value) {
    // Unsigned: negative values need the wide kernel, too.
    Value small = host.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, value, bound);
    all = all ? host.create<arith::AndIOp>(loc, all, small).getResult() : small;
  };
  for (Value scalar : op.getScalars()) {
    if (!isIndex(op, scalar.getType()))
      continue;
    if (!scalar.getType().isIndex())
      return {};
    require(scalar);
  }
  llvm::SetVector<Value> tensors;
  for (BlockArgument argument : op.getBodyBlock()->getArguments())
    if (isa<RankedTensorType>(argument.getType()))
      tensors.insert(argument);
  WalkResult products = op.getBody().walk([&](Operation *inner) {
    for (Value result : inner->getResults())
      if (isa<RankedTensorType>(result.getType()))
        tensors.insert(result);
    // Indices that a body multiplies itself have no bound.
    return isa<arith::MulIOp>(inner) && inner->getResult(0).getType().isIndex()
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  if (products.wasInterrupted())
    return {};
  for (Value tensor : tensors) {
    auto type = cast<RankedTensorType>(tensor.getType());
    if (type.hasStaticShape()) {
      if (type.getNumElements() >= (int64_t(1) << 30))
        return {};
      continue;
    }
    Value count;
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      Value size = planSize(host, op, tensor, dim);
      if (!size)
        return {};
      count = count ? host.createOrFold<arith::MulIOp>(loc, count, size) : size;
    }
    require(count);
  }
  for (BlockArgument view : viewsOf(op)) {
    Value root = rt::layoutOf(op->getOperand(view.getArgNumber()))->root;
    rt::Extent elements;
    for (int64_t dim = 0; dim < cast<RankedTensorType>(root.getType()).getRank(); ++dim)
      elements = elements * rt::sizeOf(root, dim);
    require(elements.value(host, loc));
  }
  return all;
}

FailureOr<SmallVector<Value>> KernelEmitter::launch(kernel::DispatchOp op, StringRef part,
                                                    int64_t threads, ValueRange grid,
                                                    ArrayRef<int64_t> outputs,
                                                    function_ref<LogicalResult(Kernel &)> body) {
  if (fitsIn32Bits(op))
    return launch(op, part, threads, grid, outputs, op.getInits(), 32, body);
  Value fits = fitsAtRunTime(op);
  if (!fits)
    return launch(op, part, threads, grid, outputs, op.getInits(), 64, body);
  // Both kernels, one of them with an empty grid, which costs a comparison in the plan: 64-bit
  // indices take twice the registers and instructions, and hardly any run has them.
  OpBuilder host(op);
  Value zero = host.create<arith::ConstantIndexOp>(op.getLoc(), 0);
  auto gridWhere = [&](Value yes, Value no) {
    SmallVector<Value> result(grid);
    result[0] = host.create<arith::SelectOp>(op.getLoc(), fits, yes, no);
    return result;
  };
  auto narrow =
      launch(op, part, threads, gridWhere(grid[0], zero), outputs, op.getInits(), 32, body);
  if (failed(narrow))
    return failure();
  SmallVector<Value> destinations(op.getInits());
  for (auto [output, value] : llvm::zip(outputs, *narrow))
    destinations[output] = value;
  auto wide = launch(op, (part + "_wide").str(), threads, gridWhere(zero, grid[0]), outputs,
                     destinations, 64, body);
  if (succeeded(wide))
    wide->front().getDefiningOp()->setAttr("kernel.fallback", host.getUnitAttr()); // for reports
  return wide;
}

FailureOr<SmallVector<Value>> KernelEmitter::launch(kernel::DispatchOp op, const Twine &partName,
                                                    int64_t threads, ValueRange grid,
                                                    ArrayRef<int64_t> outputs,
                                                    ValueRange destinations, int indexBits,
                                                    function_ref<LogicalResult(Kernel &)> body) {
  std::string part = partName.str();
  MLIRContext *context = op.getContext();
  OpBuilder host(op);
  Location loc = op.getLoc();

  // Arguments: inputs, destinations of this launch, scalars, sizes known only at run time. Sizes
  // that are one value of the plan are one argument.
  SmallVector<Value> operands(op.getInputs());
  SmallVector<Value> targets(op.getInputArgs().begin(), op.getInputArgs().end());
  SmallVector<int64_t> written;
  for (int64_t output : outputs) {
    written.push_back(operands.size());
    operands.push_back(destinations[output]);
    targets.push_back(op.getInitArgs()[output]);
  }
  size_t tensors = operands.size();
  for (auto [scalar, argument] : llvm::zip(op.getScalars(), op.getScalarArgs())) {
    operands.push_back(scalar);
    targets.push_back(argument);
  }
  // Strides of views are among them, as those of dimension -1 - dim.
  llvm::MapVector<Value, SmallVector<std::pair<Value, int64_t>>> dynamic;
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
          dynamic[size].push_back({argument, dim});
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
        dynamic[extentValue(stride)].push_back({view, -1 - static_cast<int64_t>(dim)});
  }
  for (auto &[value, uses] : dynamic)
    operands.push_back(value);

  std::string key = dispatchKey(op) + part;
  for (auto &[value, uses] : dynamic) {
    key += "|";
    for (auto &[argument, dim] : uses)
      key += llvm::formatv("{0}.{1},", cast<BlockArgument>(argument).getArgNumber(), dim);
  }
  auto &[function, nodes] = known[key];
  collectNodeNames(loc, nodes);
  if (!function) {
    std::string name = llvm::formatv("k{0}_{1}{2}", count++,
                                     symbolFor(nodes.empty() ? "kernel" : nodes.front()), part);
    OpBuilder outer = OpBuilder::atBlockEnd(&variant.getBody().front());
    auto module = outer.create<gpu::GPUModuleOp>(loc, name);
    module->setAttr("kernel.index_bits", outer.getI32IntegerAttr(indexBits));
    SmallVector<Type> types;
    for (auto [position, operand] : llvm::enumerate(operands))
      types.push_back(position < tensors
                          ? globalMemory(cast<RankedTensorType>(operand.getType()).getElementType())
                          : operand.getType());
    OpBuilder inside = OpBuilder::atBlockBegin(module.getBody());
    function = inside.create<gpu::GPUFuncOp>(loc, name, outer.getFunctionType(types, {}));
    function->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), outer.getUnitAttr());
    function->setAttr("kernel.block", outer.getDenseI32ArrayAttr({int32_t(threads), 1, 1}));
    if (kernel::ScheduleAttr schedule = op.getScheduleAttr())
      function->setAttr("kernel.schedule", schedule); // for reports
    for (size_t i = 0; i < tensors; ++i)
      function.setArgAttr(i, "llvm.noalias", outer.getUnitAttr());

    Block &entry = function.getBody().front();
    Kernel kernel(op, OpBuilder::atBlockBegin(&entry));
    kernel.function = function;
    for (size_t i = 0; i < targets.size(); ++i) {
      if (i < tensors) {
        kernel.memories[targets[i]] = entry.getArgument(i);
        kernel.layouts[targets[i]] = operandLayout(op, targets[i]);
        kernel.alignments[entry.getArgument(i)] = kernel.layouts[targets[i]].alignment;
      } else {
        kernel.mapping.map(targets[i], entry.getArgument(i));
      }
    }
    size_t next = targets.size();
    for (auto &[value, uses] : dynamic) {
      for (auto &[argument, dim] : uses) {
        if (dim >= 0)
          kernel.dynamicSizes[{argument, dim}] = entry.getArgument(next);
        else
          kernel.dynamicStrides[{argument, -1 - dim}] = entry.getArgument(next);
      }
      ++next;
    }
    kernel.copyScalarOps();
    if (failed(body(kernel)) || kernel.broken)
      return failure();
    kernel.b.setInsertionPointToEnd(&entry);
    kernel.b.create<gpu::ReturnOp>(loc);
    if (!kernel.synchronises)
      function->setAttr("kernel.no_sync", outer.getUnitAttr());
  }

  auto symbol = SymbolRefAttr::get(context, function->getParentOfType<gpu::GPUModuleOp>().getName(),
                                   {FlatSymbolRefAttr::get(context, function.getName())});
  SmallVector<Type> resultTypes;
  for (int64_t output : outputs)
    resultTypes.push_back(op.getInits()[output].getType());
  auto launched = host.create<rt::LaunchOp>(loc, resultTypes, symbol, grid, Value(), operands,
                                            host.getDenseI64ArrayAttr(written), Value(), Value());
  OpBuilder before(launched);
  stateWork(before, launched, op, outputs,
            [&](Value tensor, int64_t dim) { return planSize(before, op, tensor, dim); });
  return SmallVector<Value>(launched.getResults());
}

void KernelEmitter::nameNodes() {
  for (auto &entry : known) {
    auto &[function, nodes] = entry.second;
    auto names = StringAttr::get(function.getContext(), llvm::join(nodes, ","));
    function->setAttr("kernel.nodes", names);
  }
}

} // namespace cameo
