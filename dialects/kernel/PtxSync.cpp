// Barriers, mbarriers, fences. Sections are those of the PTX ISA, "Instruction Set".
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/kernel/PtxParser.h"
#include "runtime/sim/abi.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace cameo::kernel;

/// Parallel Synchronization and Communication Instructions: bar.arrive. The other barriers are
/// operations of the nvvm dialect.
LogicalResult PtxParser::barrier() {
  if (!take("arrive") || failed(atEnd()))
    return failure();
  result.opcode = CAMEO_SIM_OP_BAR_ARRIVE;
  std::string id = in(PtxType::B32);
  result.text = llvm::formatv("{0} {1}, {2};", name, id, in(PtxType::B32));
  return success();
}

/// Parallel Synchronization and Communication Instructions: mbarrier.
LogicalResult PtxParser::mbarrier() {
  uint8_t space = CAMEO_SIM_SHARED;
  auto place = [&](bool cluster) { return takeShared(cluster, space) && take("b64"); };
  auto order = [&] { takeOrder({"relaxed", "acquire", "release"}, {"cta", "cluster"}); };
  result.since = 80;
  bool init = take("init");
  if (init || take("inval")) {
    if (!place(false) || failed(atEnd()))
      return failure();
    result.opcode = init ? CAMEO_SIM_OP_MBAR_INIT : CAMEO_SIM_OP_MBAR_INVAL;
    std::string barrier = in(PtxType::Shared);
    result.text =
        llvm::formatv("{0} [{1}]{2};", name, barrier, init ? ", " + in(PtxType::B32) : "");
    return success();
  }
  bool completes = take("complete_tx");
  if (completes || take("expect_tx")) {
    order();
    if (!place(true) || failed(atEnd()))
      return failure();
    result.opcode = completes ? CAMEO_SIM_OP_MBAR_COMPLETE_TX : CAMEO_SIM_OP_MBAR_EXPECT_TX;
    if (completes)
      result.modifiers = {space};
    else
      result.modifiers = {0, 0, space};
    std::string barrier = in(PtxType::Shared);
    result.text = llvm::formatv("{0} [{1}], {2};", name, barrier, in(PtxType::B32));
    result.since = 90;
    return success();
  }
  bool drop = take("arrive_drop");
  if (drop || take("arrive")) {
    bool expects = take("expect_tx"), leavesOpen = !expects && take("noComplete");
    order();
    if (!place(!leavesOpen) || failed(atEnd()))
      return failure();
    bool second = expects || leavesOpen || operandCount == 2;
    if (expects && drop)
      return failure();
    // An arrival in another block gives no state.
    bool remote = space == CAMEO_SIM_SHARED_CLUSTER;
    result.opcode = expects ? CAMEO_SIM_OP_MBAR_EXPECT_TX : CAMEO_SIM_OP_MBAR_ARRIVE;
    if (expects)
      result.modifiers = {1, !remote, space};
    else
      result.modifiers = {second, drop, !remote, space, leavesOpen};
    std::string state = remote ? "_" : out(PtxType::B64), barrier = in(PtxType::Shared);
    result.text = llvm::formatv("{0} {1}, [{2}]{3};", name, state, barrier,
                                second ? ", " + in(PtxType::B32) : "");
    result.since = (second && !leavesOpen) || remote ? 90 : 80;
    return success();
  }
  bool blocks = take("try_wait");
  if (blocks || take("test_wait")) {
    bool parity = take("parity");
    order();
    if (!place(false) || failed(atEnd()))
      return failure();
    result.opcode = CAMEO_SIM_OP_MBAR_WAIT;
    result.modifiers = {blocks, parity};
    std::string done = out(PtxType::Predicate), barrier = in(PtxType::Shared);
    result.text = llvm::formatv("{0} {1}, [{2}], {3};", name, done, barrier,
                                in(parity ? PtxType::B32 : PtxType::B64));
    result.since = blocks || parity ? 90 : 80;
    return success();
  }
  return failure();
}

/// Parallel Synchronization and Communication Instructions: barrier.cluster.
LogicalResult PtxParser::clusterBarrier() {
  if (!take("cluster"))
    return failure();
  bool arrives = take("arrive"), releases = true;
  if (arrives)
    releases = take("release") || !take("relaxed");
  else if (take("wait"))
    take("acquire");
  else
    return failure();
  bool aligned = take("aligned");
  result.opcode = arrives ? CAMEO_SIM_OP_CLUSTER_ARRIVE : CAMEO_SIM_OP_CLUSTER_WAIT;
  if (arrives)
    result.modifiers = {releases, aligned};
  else
    result.modifiers = {aligned};
  result.text = name.str() + ";";
  result.since = 90;
  return atEnd();
}

/// Parallel Synchronization and Communication Instructions: membar/fence, the fences of one
/// direction between threads that write tensor maps and copies that use them.
LogicalResult PtxParser::mapFence() {
  bool acquires = take("acquire");
  if (!acquires && !take("release"))
    return failure();
  uint8_t scope = llvm::StringSwitch<uint8_t>(takeAny())
                      .Case("cta", CAMEO_SIM_SCOPE_CTA)
                      .Case("cluster", CAMEO_SIM_SCOPE_CLUSTER)
                      .Case("gpu", CAMEO_SIM_SCOPE_GPU)
                      .Case("sys", CAMEO_SIM_SCOPE_SYS)
                      .Default(kAbsent);
  if (scope == kAbsent || failed(atEnd(acquires ? 1 : 0)))
    return failure();
  if (acquires && immediates[0] != 128)
    return fail("acquires " + llvm::Twine(immediates[0]) + " B; a tensor map has 128");
  result.opcode = CAMEO_SIM_OP_MAP_FENCE;
  result.modifiers = {acquires, scope};
  result.text = acquires ? llvm::formatv("{0} [{1}], 128;", name, in(PtxType::Global)).str()
                         : name.str() + ";";
  result.since = 90;
  return success();
}

/// Fences, hints and the like: they do not change what one thread after the other computes. Some
/// matter to the simulator's checks.
LogicalResult PtxParser::nothing() {
  if (parts[0] == "fence" && takeAll({"proxy", "tensormap::generic"}))
    return mapFence();
  struct Row {
    StringRef name;
    unsigned since;
    CameoSimOpcode opcode = CAMEO_SIM_OP_NOTHING;
    uint8_t modifier = 0;
  };
  static const Row rows[] = {
      {"membar.cta", 75},
      {"membar.gl", 75},
      {"membar.sys", 75},
      {"fence.acq_rel.cta", 75},
      {"fence.acq_rel.gpu", 75},
      {"fence.acq_rel.sys", 75},
      {"fence.acq_rel.cluster", 90},
      {"fence.sc.cta", 75},
      {"fence.sc.gpu", 75},
      {"fence.sc.sys", 75},
      {"fence.sc.cluster", 90},
      {"fence.mbarrier_init.release.cluster", 90, CAMEO_SIM_OP_MBAR_INIT_FENCE},
      {"fence.proxy.alias", 75},
      {"fence.proxy.async", 90, CAMEO_SIM_OP_PROXY_FENCE, CAMEO_SIM_FENCE_ALL},
      {"fence.proxy.async.global", 90, CAMEO_SIM_OP_PROXY_FENCE, CAMEO_SIM_FENCE_GLOBAL},
      {"fence.proxy.async.shared::cta", 90, CAMEO_SIM_OP_PROXY_FENCE, CAMEO_SIM_FENCE_SHARED},
      {"fence.proxy.async.shared::cluster", 90, CAMEO_SIM_OP_PROXY_FENCE,
       CAMEO_SIM_FENCE_SHARED_CLUSTER},
      {"griddepcontrol.launch_dependents", 90},
      {"griddepcontrol.wait", 90},
      {"setmaxnreg.dec.sync.aligned.u32", 90},
      {"setmaxnreg.inc.sync.aligned.u32", 90},
  };
  const Row *row = llvm::find_if(rows, [&](const Row &row) { return row.name == name; });
  if (row == std::end(rows))
    return failure();
  bool registers = name.starts_with("setmaxnreg");
  if (immediates.size() != (registers ? 1 : 0))
    return failure();
  if (registers && (immediates[0] < 24 || immediates[0] > 256 || immediates[0] % 8))
    return fail("sets " + llvm::Twine(immediates[0]) +
                " registers; multiples of 8 from 24 to 256 are possible");
  result.opcode = row->opcode;
  if (row->opcode == CAMEO_SIM_OP_PROXY_FENCE)
    result.modifiers = {row->modifier};
  result.text = name.str() + (registers ? " " + std::to_string(immediates[0]) : "") + ";";
  result.since = row->since;
  result.archSpecific = registers;
  return success();
}
