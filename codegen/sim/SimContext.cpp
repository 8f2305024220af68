// SPDX-License-Identifier: Apache-2.0
#include "codegen/sim/SimContext.h"

using namespace mlir;
using namespace cameo;

static SmallVector<LLVM::LLVMFuncOp>
functionsWhere(Operation *module, llvm::function_ref<bool(LLVM::LLVMFuncOp)> isWanted) {
  SmallVector<LLVM::LLVMFuncOp> functions;
  for (auto function : module->getRegion(0).getOps<LLVM::LLVMFuncOp>())
    if (!function.isExternal() && isWanted(function))
      functions.push_back(function);
  return functions;
}

SmallVector<LLVM::LLVMFuncOp> cameo::simKernels(Operation *module) {
  return functionsWhere(module, [](LLVM::LLVMFuncOp) { return true; });
}

SmallVector<LLVM::LLVMFuncOp> cameo::simBodies(Operation *module) {
  return functionsWhere(module,
                        [](LLVM::LLVMFuncOp function) { return function->hasAttr(kSimBodyAttr); });
}

Operation *cameo::moduleOf(LLVM::LLVMFuncOp function) {
  return function->getParentWithTrait<OpTrait::SymbolTable>();
}

LLVM::LLVMFuncOp cameo::entryOf(LLVM::LLVMFuncOp body) {
  auto entry = body->getAttrOfType<FlatSymbolRefAttr>(kSimBodyAttr);
  return cast<LLVM::LLVMFuncOp>(SymbolTable::lookupSymbolIn(moduleOf(body), entry));
}

SimContext::SimContext(LLVM::LLVMFuncOp body)
    : body(body), builder(body.getContext()), thread(body.getArgument(0)),
      ptr(LLVM::LLVMPointerType::get(body.getContext())), i32(builder.getI32Type()),
      i64(builder.getI64Type()) {}

Value SimContext::constant(Location loc, Type type, int64_t value) {
  return builder.create<LLVM::ConstantOp>(loc, type, builder.getIntegerAttr(type, value));
}

Value SimContext::at(Location loc, Value base, uint64_t offset) {
  return builder.create<LLVM::GEPOp>(loc, base.getType(), builder.getI8Type(), base,
                                     ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)});
}

Value SimContext::member(Type type, size_t offset) {
  Value &value = members[{type.getAsOpaquePointer(), offset}];
  if (!value) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&body.getBody().front());
    value = loadInvariant(type, at(body.getLoc(), thread, offset));
  }
  return value;
}

Value SimContext::loadInvariant(Type type, Value pointer) {
  return builder.create<LLVM::LoadOp>(body.getLoc(), type, pointer, /*alignment=*/0,
                                      /*isVolatile=*/false, /*isNonTemporal=*/false,
                                      /*isInvariant=*/true);
}

Value SimContext::site(Location loc, const Twine &what) {
  Value number = constant(loc, i32, 0);
  number.getDefiningOp()->setAttr(kSimSiteAttr, builder.getStringAttr(what));
  return number;
}

Type SimContext::typeOf(EngineType type) {
  switch (type) {
  case EngineType::None:
    return LLVM::LLVMVoidType::get(builder.getContext());
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

LLVM::LLVMFuncOp SimContext::declare(const EngineFunction &engine) {
  Operation *module = moduleOf(body);
  std::string name = (Twine("cameo.sim.") + engine.name).str();
  if (Operation *known = SymbolTable::lookupSymbolIn(module, name))
    return cast<LLVM::LLVMFuncOp>(known);
  SmallVector<Type> types;
  for (EngineType type : engine.types)
    types.push_back(typeOf(type));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&module->getRegion(0).front());
  auto function = builder.create<LLVM::LLVMFuncOp>(
      module->getLoc(), name,
      LLVM::LLVMFunctionType::get(types.front(), ArrayRef(types).drop_front()));
  function->setAttr(kSimEngineAttr, builder.getI64IntegerAttr(engine.offset));
  return function;
}

LLVM::CallOp SimContext::call(Location loc, const EngineFunction &engine,
                              ArrayRef<Value> operands) {
  SmallVector<Value> all{thread};
  for (Value operand : operands) {
    if (isa<LLVM::LLVMPointerType>(operand.getType()) && operand.getType() != ptr)
      operand = builder.create<LLVM::AddrSpaceCastOp>(loc, ptr, operand);
    all.push_back(operand);
  }
  return builder.create<LLVM::CallOp>(loc, declare(engine), all);
}

void SimContext::replace(Operation *op, ValueRange values) {
  op->replaceAllUsesWith(values);
  op->erase();
}
