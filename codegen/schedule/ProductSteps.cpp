// What kernels of products do with whole rows: statistics of them, and work on elements before and
// between.
//
// Elements are in fragments of the sums' layout. What is beside a row's elements in the tile takes
// no part in a reduction.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/ProductKernel.h"

#include "codegen/schedule/Sources.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace cameo {

static kernel::FragmentType likeWith(kernel::FragmentType type, Type element) {
  return kernel::FragmentType::get(type.getContext(), type.getRows(), type.getCols(), element,
                                   type.getLayout());
}

static Type elementOfFragment(Value fragment) {
  return cast<kernel::FragmentType>(fragment.getType()).getElementType();
}

/// Of elements that follow one another from a multiple of `width` on, so many are of one row or
/// beside it together.
static int64_t together(int64_t width, int64_t columns) {
  while (columns % width != 0)
    width /= 2;
  return width;
}

SmallVector<Value> ProductKernel::loadForSteps(kernel::FragmentType sums, const Rows &part) {
  SmallVector<Value> memories, paddings;
  SmallVector<Type> types;
  SmallVector<int64_t> widths;
  SmallVector<const Access *> reads;
  Origin origin = originOfTile();
  int64_t width = together(sums.getSpread().width, product.extent(product.columns));
  for (const RowStep &step : product.steps)
    for (const std::optional<Elementwise> &work : step.works)
      for (const Access &read : work ? ArrayRef(work->reads) : ArrayRef<Access>()) {
        Type element = getElementTypeOrSelf(read.source);
        reads.push_back(&read);
        memories.push_back(origin.memory(kernel, read.source, read.map, origin.loops));
        paddings.push_back(b.create<arith::ConstantOp>(loc, b.getZeroAttr(element)));
        widths.push_back(loadWidth(kernel.op, read, product.columns, product.ranges, width));
        types.push_back(likeWith(sums, element));
      }
  if (reads.empty())
    return {};
  auto load = b.create<kernel::LoadGlobalOp>(
      loc, types, memories, paddings, b.getDenseI64ArrayAttr(widths), b.getI64IntegerAttr(width));
  OpBuilder::InsertionGuard guard(b);
  Block *body =
      b.createBlock(&load.getBody(), {}, {b.getIndexType(), b.getIndexType()}, {loc, loc});
  Value row = rowOf(body->getArgument(0), part);
  Value column = kernel.add(columnStart, body->getArgument(1));
  SmallVector<Value> place = placeOf(row, column), yielded;
  for (Value &index : place)
    if (!index)
      index = kernel.constant(0);
  for (const Access *read : reads)
    yielded.push_back(origin.offset(kernel, read->source, read->map, origin.loops, place));
  yielded.push_back(b.createOrFold<arith::AndIOp>(loc, isIn(row, rows, tileRows),
                                                  isIn(column, columns, tileColumns)));
  b.create<kernel::YieldOp>(loc, yielded);
  return load.getResults();
}

ProductKernel::Kept ProductKernel::computeSteps(Value sums, ArrayRef<Value> loaded,
                                                const Rows &part) {
  Kept kept{{product.sums(), sums}};
  for (const RowStep &step : product.steps) {
    size_t reads = 0;
    for (const std::optional<Elementwise> &work : step.works)
      reads += work ? work->reads.size() : 0;
    ArrayRef<Value> mine = loaded.take_front(reads);
    loaded = loaded.drop_front(reads);
    kept.emplace_back(step.value, step.reduction ? reduceRows(step, kept, mine)
                                                 : computeStep(step, kept, mine));
  }
  return kept;
}

namespace {

/// What a step's region is given: elements of what is kept and of what was loaded.
class StepInputs {
public:
  StepInputs(ArrayRef<std::pair<Value, Value>> kept, ArrayRef<Value> loaded) : kept(kept) {
    for (auto [tensor, fragment] : kept)
      fragments.push_back(fragment);
    fragments.append(loaded.begin(), loaded.end());
  }

  /// A region of row, column, elements, and `more`.
  Block *region(OpBuilder &b, Location loc, Region &region, TypeRange more) {
    SmallVector<Type> types{b.getIndexType(), b.getIndexType()};
    llvm::append_range(types, llvm::map_range(fragments, elementOfFragment));
    llvm::append_range(types, more);
    return b.createBlock(&region, {}, types, SmallVector<Location>(types.size(), loc));
  }

  /// The next of the step's works, in that region.
  Value compute(KernelWriter &kernel, Block *body, const Elementwise &work) {
    auto elements = body->getArguments().drop_front(2);
    auto read = elements.slice(kept.size() + used, work.reads.size());
    used += work.reads.size();
    return computeElement(kernel, work, read, [&](Value tensor) -> Value {
      auto entry = llvm::find_if(kept, [&](auto &entry) { return entry.first == tensor; });
      return elements[entry - kept.begin()];
    });
  }

  SmallVector<Value> fragments;

private:
  ArrayRef<std::pair<Value, Value>> kept;
  size_t used = 0; // of what was loaded
};

} // namespace

Value ProductKernel::computeStep(const RowStep &step, const Kept &kept, ArrayRef<Value> loaded) {
  StepInputs inputs(kept, loaded);
  auto type = likeWith(cast<kernel::FragmentType>(kept.front().second.getType()),
                       getElementTypeOrSelf(step.value));
  auto map = b.create<kernel::MapFragmentOp>(loc, type, inputs.fragments);
  OpBuilder::InsertionGuard guard(b);
  Block *body = inputs.region(b, loc, map.getBody(), {});
  b.create<kernel::YieldOp>(loc, inputs.compute(kernel, body, *step.works.front()));
  return map;
}

Value ProductKernel::reduceRows(const RowStep &step, const Kept &kept, ArrayRef<Value> loaded) {
  StepInputs inputs(kept, loaded);
  linalg::GenericOp generic = step.reduction;
  Type element = getElementTypeOrSelf(step.value);
  auto type = likeWith(cast<kernel::FragmentType>(kept.front().second.getType()), element);
  auto fill = generic.getDpsInitOperand(0)->get().getDefiningOp<linalg::FillOp>();
  auto reduce = b.create<kernel::ReduceRowsOp>(loc, type, inputs.fragments,
                                               kernel.scalar(fill.getInputs()[0]));
  OpBuilder::InsertionGuard guard(b);
  Block *body = inputs.region(b, loc, reduce.getBody(), element);
  Value sofar = body->getArguments().back();
  SmallVector<Value> arguments;
  for (const std::optional<Elementwise> &work : step.works)
    arguments.push_back(work ? inputs.compute(kernel, body, *work) : Value());
  arguments.push_back(sofar);
  Value next = kernel.inlineBody(generic, {}, arguments).front();
  Value column = kernel.add(columnStart, body->getArgument(1));
  Value inside = isIn(column, columns, tileColumns);
  if (!matchPattern(inside, m_One()))
    next = b.create<arith::SelectOp>(loc, inside, next, sofar);
  b.create<kernel::YieldOp>(loc, next);

  Block *both = b.createBlock(&reduce.getCombine(), {}, {element, element}, {loc, loc});
  Value joined;
  if (isa<math::FmaOp>(step.combiner)) {
    joined = b.create<arith::AddFOp>(loc, both->getArgument(0), both->getArgument(1));
  } else {
    OperationState state(loc, step.combiner->getName());
    state.addOperands(both->getArguments());
    state.addTypes(element);
    joined = b.create(state)->getResult(0);
  }
  b.create<kernel::YieldOp>(loc, joined);
  return reduce;
}

} // namespace cameo
