// kernel.ptx "mma.sync..."(%a, ...)    ==>    operands to a buffer, a call of the engine, results
//                                             from the buffer
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/Passes.h"
#include "codegen/sim/SimContext.h"
#include "dialects/kernel/Kernel.h"
#include "dialects/kernel/Ptx.h"
#include "passes/Statistics.h"

namespace cameo {
#define GEN_PASS_DEF_LOWERSIMINSTRUCTIONS
#include "codegen/Passes.h.inc"
} // namespace cameo

using namespace mlir;
using namespace cameo;

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

/// Whether a value takes a part of a word.
static bool isNarrow(Type type) {
  return !isa<VectorType, LLVM::LLVMPointerType>(type) && type.getIntOrFloatBitWidth() < 32;
}

namespace {

/// Operands are stored right before a call, results loaded right after it: in one buffer for what a
/// thread does for itself, one for what a warp does together, and one for each place where threads
/// wait. The vectorised form treats them differently (SpreadLanesPass).
class InstructionLowering {
public:
  explicit InstructionLowering(LLVM::LLVMFuncOp body) : context(body), builder(context.builder) {}

  unsigned run() {
    SmallVector<kernel::PtxOp> instructions;
    context.body.walk([&](kernel::PtxOp op) { instructions.push_back(op); });
    unsigned most[2] = {0, 0};
    for (kernel::PtxOp op : instructions) {
      unsigned &known = most[op.decode().isCollective()];
      known = std::max({known, wordsOf(op), 1u}); // some have no operands
    }
    for (unsigned together : {0, 1})
      if (most[together])
        buffers[together] = makeBuffer(context.body.getLoc(), most[together]);
    for (kernel::PtxOp op : instructions)
      lower(op);
    return instructions.size();
  }

private:
  Value makeBuffer(Location loc, unsigned words) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&context.body.getBody().front());
    return builder.create<LLVM::AllocaOp>(
        loc, context.ptr, context.i32, context.constant(loc, context.i32, words), /*alignment=*/16);
  }

  /// As what it comes to lie in the buffer.
  Value inWords(Location loc, Value value) {
    Type type = value.getType();
    if (isa<LLVM::LLVMPointerType>(type))
      return builder.create<LLVM::PtrToIntOp>(loc, context.i64, value);
    if (!isNarrow(type))
      return value;
    Type bits = builder.getIntegerType(type.getIntOrFloatBitWidth());
    if (type != bits)
      value = builder.create<LLVM::BitcastOp>(loc, bits, value);
    return builder.create<LLVM::ZExtOp>(loc, context.i32, value);
  }

  Value fromWords(Location loc, Type type, Value place) {
    if (!isNarrow(type))
      return builder.create<LLVM::LoadOp>(loc, type, place, /*alignment=*/4);
    Value value = builder.create<LLVM::LoadOp>(loc, context.i32, place, /*alignment=*/4);
    value = builder.create<LLVM::TruncOp>(loc, builder.getIntegerType(type.getIntOrFloatBitWidth()),
                                          value);
    return value.getType() == type ? value : builder.create<LLVM::BitcastOp>(loc, type, value);
  }

  void lower(kernel::PtxOp op) {
    builder.setInsertionPoint(op);
    Location loc = op.getLoc();
    const kernel::PtxInstruction &instruction = op.decode();
    bool blocking = instruction.isCollective() || instruction.blocks();
    Value buffer = !instruction.blocks() ? buffers[instruction.isCollective()]
                   : wordsOf(op)         ? makeBuffer(loc, wordsOf(op))
                                         : Value();
    unsigned words = 0;
    for (Value input : op.getInputs()) {
      builder.create<LLVM::StoreOp>(loc, inWords(loc, input), context.at(loc, buffer, 4 * words),
                                    /*alignment=*/4);
      words += wordsOf(input.getType());
    }
    SmallVector<Value> operands{context.constant(loc, context.i64, instruction.code())};
    if (blocking)
      operands.push_back(instruction.mask < 0 ? context.constant(loc, context.i32, -1)
                                              : op.getInputs()[instruction.mask]);
    // A wait may have no operands.
    operands.push_back(buffer ? buffer : builder.create<LLVM::ZeroOp>(loc, context.ptr));
    operands.push_back(context.site(loc, op.getInstruction()));
    context.call(loc,
                 blocking ? CAMEO_SIM_ENGINE(blocking_instruction) : CAMEO_SIM_ENGINE(instruction),
                 operands);
    for (Value output : op.getOutputs()) {
      Type type = output.getType();
      output.replaceAllUsesWith(fromWords(loc, type, context.at(loc, buffer, 4 * words)));
      words += wordsOf(type);
    }
    op.erase();
  }

  SimContext context;
  OpBuilder &builder;
  Value buffers[2]; // for each thread; for warps
};

struct LowerSimInstructions : cameo::impl::LowerSimInstructionsBase<LowerSimInstructions> {
  using LowerSimInstructionsBase::LowerSimInstructionsBase;

  void runOnOperation() override {
    for (LLVM::LLVMFuncOp body : simBodies(getOperation()))
      count(&getContext(), getArgument(), "instructions", InstructionLowering(body).run());
  }
};

} // namespace
