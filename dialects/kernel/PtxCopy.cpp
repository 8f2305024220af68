// Copies: cp.async, bulk and tensor copies. Sections are those of the PTX ISA, "Instruction Set".
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/kernel/PtxParser.h"
#include "runtime/sim/abi.h"

using namespace mlir;
using namespace cameo::kernel;

/// Data Movement and Conversion Instructions: cp.async and what completes it.
LogicalResult PtxParser::cpAsync() {
  if (take("reduce"))
    return success(takeAll({"async", "bulk", "tensor"}) && succeeded(tensorCopy(true)));
  if (!take("async"))
    return failure();
  if (take("bulk"))
    return take("tensor") ? tensorCopy(false) : bulkCopy();
  result.since = 80;
  if (take("commit_group")) {
    result.opcode = CAMEO_SIM_OP_CP_COMMIT;
    result.text = name.str() + ";";
    return atEnd();
  }
  bool all = take("wait_all");
  if (all || take("wait_group")) {
    if (failed(atEnd(all ? 0 : 1)) || (!all && (immediates[0] < 0 || immediates[0] > 254)))
      return fail("waits for 0 to 254 groups");
    result.opcode = CAMEO_SIM_OP_CP_WAIT;
    result.modifiers = {all ? uint8_t(255) : uint8_t(immediates[0])};
    result.text = name.str() + (all ? ";" : " " + std::to_string(immediates[0]) + ";");
    return success();
  }
  if (take("mbarrier")) {
    if (!take("arrive"))
      return failure();
    bool noinc = take("noinc");
    if (!(take("shared") || take("shared::cta")) || !take("b64") || failed(atEnd()))
      return failure();
    result.opcode = CAMEO_SIM_OP_CP_MBARRIER;
    result.modifiers = {noinc};
    result.text = llvm::formatv("{0} [{1}];", name, in(PtxType::Shared));
    return success();
  }
  bool l2Only = take("cg");
  if ((!l2Only && !take("ca")) || !(take("shared") || take("shared::cta")) || !take("global"))
    return failure();
  if (!take("L2::64B") && !take("L2::128B"))
    take("L2::256B");
  if (failed(atEnd(1)))
    return failure();
  int64_t bytes = immediates[0];
  if (bytes != 16 && (l2Only || (bytes != 4 && bytes != 8)))
    return fail("copies of " + llvm::Twine(bytes) + " B do not exist: 4, 8 and 16 with .ca, 16 " +
                "with .cg");
  bool sized = operandCount == 3;
  result.opcode = CAMEO_SIM_OP_CP_ASYNC;
  result.modifiers = {uint8_t(bytes), sized};
  std::string to = in(PtxType::Shared), from = in(PtxType::Global);
  result.text = llvm::formatv("{0} [{1}], [{2}], {3}{4};", name, to, from, bytes,
                              sized ? ", " + in(PtxType::B32) : "");
  return success();
}

/// Data Movement and Conversion Instructions, "Tensor": between a box of a tensor and shared
/// memory.
LogicalResult PtxParser::tensorCopy(bool reduces) {
  result.since = 90;
  StringRef part = takeAny();
  unsigned dimensions = 0;
  if (part.consumeInteger(10, dimensions) || part != "d" || !dimensions || dimensions > 5)
    return failure();
  auto tensor = [&] {
    std::string map = in(PtxType::Global);
    return "[" + map + ", " + in(PtxType::B32, dimensions, true) + "]";
  };
  if (!reduces && takeAll({"shared::cluster", "global"})) {
    bool im2col = take("im2col");
    if ((!im2col && !take("tile")) || !takeAll({"mbarrier::complete_tx::bytes"}))
      return failure();
    bool multicast = take("multicast::cluster");
    if (failed(atEnd()) || (im2col && dimensions < 3))
      return failure();
    result.opcode = CAMEO_SIM_OP_TENSOR_LOAD;
    result.modifiers = {uint8_t(dimensions), im2col, multicast};
    std::string to = in(PtxType::Shared), from = tensor(), barrier = in(PtxType::Shared);
    std::string offsets = im2col ? ", " + in(PtxType::B16, dimensions - 2, true) : "";
    result.text = llvm::formatv("{0} [{1}], {2}, [{3}]{4}{5};", name, to, from, barrier, offsets,
                                multicast ? ", " + in(PtxType::B16) : "");
    return success();
  }
  if (!takeAll({"global", "shared::cta"}))
    return failure();
  uint8_t combine = CAMEO_SIM_EXCH;
  if (reduces && (combine = combineOf(takeAny())) == kAbsent)
    return failure();
  if (!takeAll({"tile", "bulk_group"}) || failed(atEnd()))
    return failure();
  result.opcode = CAMEO_SIM_OP_TENSOR_STORE;
  result.modifiers = {uint8_t(dimensions), combine};
  std::string to = tensor();
  result.text = llvm::formatv("{0} {1}, [{2}];", name, to, in(PtxType::Shared));
  return success();
}

/// Data Movement and Conversion Instructions, "Bulk copy".
LogicalResult PtxParser::bulkCopy() {
  result.since = 90;
  if (take("commit_group")) {
    result.opcode = CAMEO_SIM_OP_BULK_COMMIT;
    result.text = name.str() + ";";
    return atEnd();
  }
  if (take("wait_group")) {
    bool read = take("read");
    if (failed(atEnd(1)) || immediates[0] < 0 || immediates[0] > 255)
      return fail("waits for 0 to 255 groups");
    result.opcode = CAMEO_SIM_OP_BULK_WAIT;
    result.modifiers = {uint8_t(immediates[0]), read};
    result.text = name.str() + " " + std::to_string(immediates[0]) + ";";
    return success();
  }
  bool load = take("shared::cluster");
  if (load && take("shared::cta")) {
    if (!take("mbarrier::complete_tx::bytes") || failed(atEnd()))
      return failure();
    result.opcode = CAMEO_SIM_OP_BULK_SHARED;
    std::string to = in(PtxType::Shared), from = in(PtxType::Shared), bytes = in(PtxType::B32);
    result.text =
        llvm::formatv("{0} [{1}], [{2}], {3}, [{4}];", name, to, from, bytes, in(PtxType::Shared));
    return success();
  }
  if (load ? !takeAll({"global", "mbarrier::complete_tx::bytes"})
           : !takeAll({"global", "shared::cta", "bulk_group"}))
    return failure();
  bool multicast = load && take("multicast::cluster");
  result.opcode = load ? CAMEO_SIM_OP_BULK_LOAD : CAMEO_SIM_OP_BULK_STORE;
  if (load)
    result.modifiers = {multicast};
  std::string to = in(load ? PtxType::Shared : PtxType::Global);
  std::string from = in(load ? PtxType::Global : PtxType::Shared), bytes = in(PtxType::B32);
  std::string barrier = load ? ", [" + in(PtxType::Shared) + "]" : "";
  result.text = llvm::formatv("{0} [{1}], [{2}], {3}{4}{5};", name, to, from, bytes, barrier,
                              multicast ? ", " + in(PtxType::B16) : "");
  return atEnd();
}

/// Data Movement and Conversion Instructions: prefetch of a tensor map.
LogicalResult PtxParser::prefetch() {
  result.since = 90;
  if (!take("tensormap") || failed(atEnd()))
    return failure();
  result.opcode = CAMEO_SIM_OP_PREFETCH_MAP;
  result.text = llvm::formatv("{0} [{1}];", name, in(PtxType::Global));
  return success();
}
