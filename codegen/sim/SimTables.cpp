// SPDX-License-Identifier: Apache-2.0
#include "codegen/sim/SimTables.h"

using namespace llvm;
using namespace cameo;

// Structures without a name or a packed layout are laid out as C's are.

Constant *SimTables::row(const SimAccessSiteRow &row) {
  return ConstantStruct::getAnon({
#define CAMEO_SIM_ACCESS_SITE(KIND, NAME) constant(row.NAME.value),
#include "runtime/sim/image.def"
  });
}

Constant *SimTables::row(const SimSiteRow &row) {
  return ConstantStruct::getAnon({
#define CAMEO_SIM_SITE(KIND, NAME) constant(row.NAME.value),
#include "runtime/sim/image.def"
  });
}

Constant *SimTables::row(const SimStepRow &row) {
  return ConstantStruct::getAnon({
#define CAMEO_SIM_STEP(KIND, NAME) constant(row.NAME.value),
#include "runtime/sim/image.def"
  });
}

Constant *SimTables::row(const SimKernelInfoRow &row) {
  return ConstantStruct::getAnon({
#define CAMEO_SIM_KERNEL_INFO(KIND, NAME) constant(row.NAME.value),
#include "runtime/sim/image.def"
  });
}

Constant *SimTables::row(const SimBasicBlockRow &row) {
  return ConstantStruct::getAnon({
#define CAMEO_SIM_BASIC_BLOCK(KIND, NAME) constant(row.NAME.value),
#include "runtime/sim/image.def"
  });
}

Constant *SimTables::row(const SimTargetRow &row) {
  return ConstantStruct::getAnon({
#define CAMEO_SIM_TARGET(KIND, NAME) constant(row.NAME.value),
#include "runtime/sim/image.def"
  });
}

Constant *SimTables::row(const SimImageRow &row) {
  return ConstantStruct::getAnon({
#define CAMEO_SIM_IMAGE(KIND, NAME, ...) constant(row.NAME.value),
#include "runtime/sim/image.def"
  });
}

Constant *SimTables::table(ArrayRef<Constant *> rows, const Twine &name) {
  if (rows.empty())
    return ConstantPointerNull::get(builder.getPtrTy());
  auto *type = ArrayType::get(rows.front()->getType(), rows.size());
  return new GlobalVariable(module, type, /*isConstant=*/true, GlobalValue::PrivateLinkage,
                            ConstantArray::get(type, rows), name);
}

Constant *SimTables::words(ArrayRef<uint32_t> words, const Twine &name) {
  Constant *values = constant(words);
  return new GlobalVariable(module, values->getType(), /*isConstant=*/true,
                            GlobalValue::PrivateLinkage, values, name);
}

Constant *SimTables::constant(StringRef text) {
  Constant *&known = strings[text];
  if (!known)
    known = new GlobalVariable(module, ArrayType::get(builder.getInt8Ty(), text.size() + 1),
                               /*isConstant=*/true, GlobalValue::PrivateLinkage,
                               ConstantDataArray::getString(module.getContext(), text));
  return known;
}

Constant *SimTables::constant(Constant *address) {
  return address ? address : ConstantPointerNull::get(builder.getPtrTy());
}

Constant *SimTables::constant(ArrayRef<uint32_t> words) {
  return ConstantDataArray::get(module.getContext(), words);
}
