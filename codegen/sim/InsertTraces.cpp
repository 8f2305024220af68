// Instructions that report their results: the simulator's --sim-trace.
//
//   %a = llvm.fadd ...    ==>    llvm.store %a, %buffer
//                                llvm.call @cameo.trace(%buffer, elements, bits, kind, site)
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/Passes.h"
#include "codegen/sim/SimContext.h"
#include "codegen/sim/SimTrace.h"
#include "passes/Statistics.h"

#include "mlir/IR/AsmState.h"
#include "llvm/Support/raw_ostream.h"

namespace cameo {
#define GEN_PASS_DEF_INSERTTRACES
#include "codegen/Passes.h.inc"
} // namespace cameo

using namespace mlir;
using namespace cameo;

namespace {

/// Enough for the widest vector that is traced whole.
constexpr unsigned kBufferBytes = 256;

class Tracer {
public:
  explicit Tracer(LLVM::LLVMFuncOp kernel)
      : kernel(kernel), builder(kernel.getContext()),
        names(kernel, OpPrintingFlags().useLocalScope()), i32(builder.getI32Type()),
        ptr(LLVM::LLVMPointerType::get(kernel.getContext())) {}

  void run() {
    // Names are those of the kernel as it was written, so all texts come before any change.
    std::vector<Point> points;
    for (Block &block : kernel.getBody()) {
      Operation *head = &block.front();
      for (BlockArgument argument : block.getArguments())
        points.push_back({head, argument, textOf(argument)});
      for (Operation &op : block) {
        bool last = op.hasTrait<OpTrait::IsTerminator>();
        // The text of a constant tells its value.
        bool shown = op.getNumResults() == 1 && !op.hasTrait<OpTrait::ConstantLike>();
        points.push_back(
            {last ? &op : op.getNextNode(), shown ? op.getResult(0) : Value(), textOf(op)});
      }
    }
    declare();
    builder.setInsertionPointToStart(&kernel.getBody().front());
    Location loc = kernel.getLoc();
    buffer = builder.create<LLVM::AllocaOp>(loc, ptr, builder.getI8Type(),
                                            number(loc, kBufferBytes), /*alignment=*/16);
    for (const Point &point : points) {
      builder.setInsertionPoint(point.before);
      report(point.before->getLoc(), point.value, point.text);
    }
  }

private:
  struct Point {
    Operation *before;
    Value value; // null: nothing to show
    std::string text;
  };

  std::string textOf(Operation &op) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    op.print(stream, names);
    return text;
  }
  std::string textOf(Value value) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    value.printAsOperand(stream, names);
    stream << " : " << value.getType();
    return text;
  }

  Value number(Location loc, int64_t value) {
    return builder.create<LLVM::ConstantOp>(loc, i32, builder.getI32IntegerAttr(value));
  }

  void declare() {
    Operation *module = moduleOf(kernel);
    if (SymbolTable::lookupSymbolIn(module, kTraceFunction))
      return;
    builder.setInsertionPointToStart(&module->getRegion(0).front());
    auto none = LLVM::LLVMVoidType::get(builder.getContext());
    builder.create<LLVM::LLVMFuncOp>(kernel.getLoc(), kTraceFunction,
                                     LLVM::LLVMFunctionType::get(none, {ptr, i32, i32, i32, i32}));
  }

  /// Whole bytes of `value`, or null where there is no writing it.
  Value storable(Location loc, Value value) {
    Type type = value.getType();
    if (isa<LLVM::LLVMPointerType>(type))
      return builder.create<LLVM::PtrToIntOp>(loc, builder.getI64Type(), value);
    auto vector = dyn_cast<VectorType>(type);
    Type element = getElementTypeOrSelf(type);
    if (!element.isIntOrFloat() ||
        (vector && vector.getNumElements() * element.getIntOrFloatBitWidth() > 8 * kBufferBytes))
      return nullptr;
    unsigned bits = element.getIntOrFloatBitWidth();
    if (bits == 8 || bits == 16 || bits == 32 || bits == 64)
      return value;
    if (bits > 8)
      return nullptr;
    Type wide = builder.getI8Type();
    if (vector)
      wide = vector.clone(wide);
    return builder.create<LLVM::ZExtOp>(loc, wide, value);
  }

  void report(Location loc, Value value, const std::string &text) {
    unsigned count = 0, bits = 0;
    CameoSimValue kind = CAMEO_SIM_VALUE_NONE;
    if (Value stored = value ? storable(loc, value) : nullptr) {
      Type element = getElementTypeOrSelf(stored.getType());
      auto vector = dyn_cast<VectorType>(stored.getType());
      count = vector ? vector.getNumElements() : 1;
      bits = element.getIntOrFloatBitWidth();
      kind = isa<LLVM::LLVMPointerType>(value.getType()) ? CAMEO_SIM_VALUE_POINTER
             : element.isBF16()                          ? CAMEO_SIM_VALUE_BF16
             : isa<FloatType>(element)                   ? CAMEO_SIM_VALUE_FLOAT
                                                         : CAMEO_SIM_VALUE_INTEGER;
      builder.create<LLVM::StoreOp>(loc, stored, buffer);
    }
    // The text says what it is; of its place the kernel's nodes are told.
    Value site = number(builder.getUnknownLoc(), 0);
    site.getDefiningOp()->setAttr(kSimSiteAttr, builder.getStringAttr(text));
    builder.create<LLVM::CallOp>(
        loc, TypeRange(), kTraceFunction,
        ValueRange{buffer, number(loc, count), number(loc, bits), number(loc, kind), site});
  }

  LLVM::LLVMFuncOp kernel;
  OpBuilder builder;
  AsmState names;
  Type i32, ptr;
  Value buffer;
};

struct InsertTraces : cameo::impl::InsertTracesBase<InsertTraces> {
  using InsertTracesBase::InsertTracesBase;

  void runOnOperation() override {
    for (LLVM::LLVMFuncOp kernel : simKernels(getOperation())) {
      Tracer(kernel).run();
      count(&getContext(), getArgument(), "kernels");
    }
  }
};

} // namespace
