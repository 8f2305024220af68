// kernel.ptx "redux.sync.add.s32"(%a, %m)  ==>  llvm.inline_asm "redux.sync.add.s32 $0, $1, $2;"
//
// Shared addresses become 32-bit numbers, whatever else has 16, 32 or 64 bits becomes an integer.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/emit/ExpandPtx.h"

#include "codegen/Passes.h"
#include "dialects/kernel/Kernel.h"
#include "dialects/kernel/Ptx.h"
#include "passes/Statistics.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"

namespace cameo {
#define GEN_PASS_DEF_EXPANDPTX
#include "codegen/Passes.h.inc"
} // namespace cameo

using namespace mlir;
using namespace cameo;
using cameo::kernel::PtxType;

namespace {

/// What LLVM's NVPTX back end calls the registers.
StringRef constraint(PtxType type) {
  switch (type) {
  case PtxType::B16:
    return "h";
  case PtxType::B32:
  case PtxType::Shared:
    return "r";
  case PtxType::B64:
  case PtxType::Global:
    return "l";
  case PtxType::F32:
    return "f";
  case PtxType::F64:
    return "d";
  case PtxType::Predicate:
    return "b";
  }
  llvm_unreachable("all types are above");
}

/// The type of a register in LLVM IR, given what the operation has.
Type registerType(PtxType type, Type given) {
  Builder builder(given.getContext());
  switch (type) {
  case PtxType::B16:
    return builder.getI16Type();
  case PtxType::B32:
  case PtxType::Shared:
    return builder.getI32Type();
  case PtxType::B64:
    return builder.getI64Type();
  default:
    return given;
  }
}

void expand(kernel::PtxOp op) {
  const kernel::PtxInstruction &instruction = op.decode();
  OpBuilder builder(op);
  Location loc = op.getLoc();
  SmallVector<Value> operands;
  SmallVector<std::string> constraints;
  SmallVector<Type> results;
  for (auto [type, result] : llvm::zip(instruction.results, op.getOutputs())) {
    results.push_back(registerType(type, result.getType()));
    constraints.push_back("=" + constraint(type).str());
  }
  size_t untied = instruction.operands.size() - instruction.tied;
  for (auto [index, type, value] : llvm::enumerate(instruction.operands, op.getInputs())) {
    Type wanted = registerType(type, value.getType());
    Value operand = value;
    if (type == PtxType::Shared)
      operand = builder.create<LLVM::PtrToIntOp>(loc, wanted, operand);
    else if (wanted != value.getType())
      operand = builder.create<LLVM::BitcastOp>(loc, wanted, operand);
    operands.push_back(operand);
    constraints.push_back(index < untied ? constraint(type).str() : std::to_string(index - untied));
  }
  if (!instruction.isPure())
    constraints.push_back("~{memory}");
  Type returned = LLVM::LLVMVoidType::get(op.getContext());
  if (results.size() == 1)
    returned = results.front();
  else if (!results.empty())
    returned = LLVM::LLVMStructType::getLiteral(op.getContext(), results);
  auto assembly = builder.create<LLVM::InlineAsmOp>(
      loc, returned, operands, instruction.text, llvm::join(constraints, ","),
      /*has_side_effects=*/!instruction.isPure(), /*is_align_stack=*/false,
      LLVM::AsmDialectAttr::get(op.getContext(), LLVM::AsmDialect::AD_ATT), ArrayAttr());
  for (auto [index, result] : llvm::enumerate(op.getOutputs())) {
    Value value = results.size() == 1
                      ? assembly.getResult(0)
                      : builder.create<LLVM::ExtractValueOp>(loc, assembly.getResult(0), index);
    if (isa<LLVM::LLVMPointerType>(result.getType()))
      value = builder.create<LLVM::IntToPtrOp>(loc, result.getType(), value);
    else if (value.getType() != result.getType())
      value = builder.create<LLVM::BitcastOp>(loc, result.getType(), value);
    result.replaceAllUsesWith(value);
  }
  op.erase();
}

} // namespace

bool cameo::hasPtxInstructions(Operation *module) {
  return module->walk([](kernel::PtxOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

namespace {
struct ExpandPtx : cameo::impl::ExpandPtxBase<ExpandPtx> {
  using ExpandPtxBase::ExpandPtxBase;

  void runOnOperation() override {
    getOperation()->walk([&](kernel::PtxOp op) {
      expand(op);
      count(&getContext(), getArgument(), "expanded");
    });
  }
};
} // namespace
