// !llvm.ptr<1>, bf16    ==>    !llvm.ptr, i16
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/Passes.h"
#include "codegen/sim/SimContext.h"
#include "passes/Statistics.h"

namespace cameo {
#define GEN_PASS_DEF_LOWERTOHOSTTYPES
#include "codegen/Passes.h.inc"
} // namespace cameo

using namespace mlir;
using namespace cameo;

/// What x86 has in its place: pointers without address spaces, and integers for bf16, whose
/// arithmetic is written out by now and whose every other use LLVM's x86 back end takes apart.
static Type hostType(Type type) {
  MLIRContext *context = type.getContext();
  if (isa<LLVM::LLVMPointerType>(type))
    return LLVM::LLVMPointerType::get(context);
  if (type.isBF16())
    return IntegerType::get(context, 16);
  if (auto vector = dyn_cast<VectorType>(type); vector && vector.getElementType().isBF16())
    return vector.clone(IntegerType::get(context, 16));
  return type;
}

static void retypeConstant(LLVM::ConstantOp constant) {
  OpBuilder builder(constant.getContext());
  if (auto number = dyn_cast<FloatAttr>(constant.getValue()); number && number.getType().isBF16())
    constant.setValueAttr(
        builder.getIntegerAttr(builder.getI16Type(), number.getValue().bitcastToAPInt()));
  if (auto numbers = dyn_cast<DenseElementsAttr>(constant.getValue());
      numbers && numbers.getElementType().isBF16())
    constant.setValueAttr(numbers.bitcast(builder.getI16Type()));
}

namespace {
struct LowerToHostTypes : cameo::impl::LowerToHostTypesBase<LowerToHostTypes> {
  using LowerToHostTypesBase::LowerToHostTypesBase;

  void runOnOperation() override {
    for (auto global : getOperation()->getRegion(0).getOps<LLVM::GlobalOp>())
      global.setAddrSpace(0);
    for (auto function : getOperation()->getRegion(0).getOps<LLVM::LLVMFuncOp>())
      retype(function);
  }

  void retype(LLVM::LLVMFuncOp function) {
    LLVM::LLVMFunctionType type = function.getFunctionType();
    SmallVector<Type> parameters = llvm::map_to_vector(type.getParams(), hostType);
    function.setFunctionType(
        LLVM::LLVMFunctionType::get(hostType(type.getReturnType()), parameters, type.isVarArg()));
    for (Block &block : function.getBody())
      for (BlockArgument argument : block.getArguments())
        argument.setType(hostType(argument.getType()));
    function.walk([&](Operation *op) {
      for (Value result : op->getResults())
        if (Type host = hostType(result.getType()); host != result.getType()) {
          result.setType(host);
          count(&getContext(), getArgument(), "values");
        }
      if (auto constant = dyn_cast<LLVM::ConstantOp>(op))
        retypeConstant(constant);
    });
    // What is a pointer to the same type now.
    function.walk([](LLVM::AddrSpaceCastOp cast) {
      cast.replaceAllUsesWith(cast.getArg());
      cast.erase();
    });
  }
};
} // namespace
