// Instructions on the shared memory of a cluster's blocks. Sections are those of the PTX ISA,
// "Instruction Set".
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/kernel/PtxParser.h"

using namespace mlir;
using namespace cameo::kernel;

/// Data Movement and Conversion Instructions: mapa, getctarank.
LogicalResult PtxParser::mapAddress() {
  bool maps = parts[0] == "mapa";
  if (!takeAll({"shared::cluster", "u32"}) || failed(atEnd()))
    return failure();
  result.opcode = maps ? CAMEO_SIM_OP_MAPA : CAMEO_SIM_OP_CTA_RANK;
  std::string to = out(maps ? PtxType::Shared : PtxType::B32), from = in(PtxType::Shared);
  result.text =
      llvm::formatv("{0} {1}, {2}{3};", name, to, from, maps ? ", " + in(PtxType::B32) : "");
  result.since = 90;
  return success();
}

/// Data Movement and Conversion Instructions: ld, st of .shared::cluster. Those of other memory are
/// operations of the llvm dialect.
LogicalResult PtxParser::clusterMemory() {
  bool load = parts[0] == "ld";
  if (!load && take("async"))
    return asyncStore();
  take("weak");
  if (!take("shared::cluster"))
    return failure();
  unsigned count = take("v2") ? 2 : take("v4") ? 4 : 1;
  uint8_t type = typeOf(takeAny());
  if (type == CAMEO_SIM_F16 || type == CAMEO_SIM_BF16 || type == kAbsent || bitsOf(type) < 32 ||
      type == CAMEO_SIM_TF32 || type == CAMEO_SIM_F16X2 || type == CAMEO_SIM_BF16X2 ||
      count * bitsOf(type) > 128 || failed(atEnd()))
    return failure();
  PtxType value = registerOf(type);
  result.opcode = load ? CAMEO_SIM_OP_CLUSTER_LOAD : CAMEO_SIM_OP_CLUSTER_STORE;
  result.modifiers = {uint8_t(count), uint8_t(bitsOf(type) / 8)};
  if (load) {
    std::string to = out(value, count, count > 1);
    result.text = llvm::formatv("{0} {1}, [{2}];", name, to, in(PtxType::Shared));
  } else {
    std::string to = in(PtxType::Shared);
    result.text = llvm::formatv("{0} [{1}], {2};", name, to, in(value, count, count > 1));
  }
  result.since = 90;
  return success();
}

/// Data Movement and Conversion Instructions: st.async.
LogicalResult PtxParser::asyncStore() {
  take("weak");
  if (!takeAll({"shared::cluster", "mbarrier::complete_tx::bytes"}))
    return failure();
  unsigned count = take("v2") ? 2 : take("v4") ? 4 : 1;
  StringRef typeName = takeAny();
  uint8_t type = typeOf(typeName);
  bool known =
      llvm::is_contained({"b32", "b64", "u32", "u64", "s32", "s64", "f32", "f64"}, typeName);
  if (!known || count * bitsOf(type) > 128 || failed(atEnd()))
    return failure();
  result.opcode = CAMEO_SIM_OP_ASYNC_STORE;
  result.modifiers = {uint8_t(count), uint8_t(bitsOf(type) / 8)};
  std::string to = in(PtxType::Shared), value = in(registerOf(type), count, count > 1);
  result.text = llvm::formatv("{0} [{1}], {2}, [{3}];", name, to, value, in(PtxType::Shared));
  result.since = 90;
  return success();
}

/// Parallel Synchronization and Communication Instructions: red.async.
LogicalResult PtxParser::asyncReduce() {
  if (!takeAll({"relaxed", "cluster", "shared::cluster", "mbarrier::complete_tx::bytes"}))
    return failure();
  uint8_t combine = combineOf(takeAny());
  StringRef type = takeAny();
  auto oneOf = [&](ArrayRef<StringRef> names) { return llvm::is_contained(names, type); };
  bool goes = combine == CAMEO_SIM_INC || combine == CAMEO_SIM_DEC   ? oneOf({"u32"})
              : combine == CAMEO_SIM_MIN || combine == CAMEO_SIM_MAX ? oneOf({"u32", "s32"})
              : combine == CAMEO_SIM_ADD                             ? oneOf({"u32", "s32", "u64"})
              : combine != kAbsent                                   ? oneOf({"b32"})
                                                                     : false;
  if (!goes || failed(atEnd()))
    return failure();
  result.opcode = CAMEO_SIM_OP_ASYNC_REDUCE;
  result.modifiers = {combine, typeOf(type)};
  std::string to = in(PtxType::Shared), value = in(registerOf(typeOf(type)));
  result.text = llvm::formatv("{0} [{1}], {2}, [{3}];", name, to, value, in(PtxType::Shared));
  result.since = 90;
  return success();
}
