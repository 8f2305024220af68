// Named barriers and mbarriers (PTX ISA, "Parallel Synchronization and Communication
// Instructions"): data handed from one warp to another, several times over, where only the barrier
// says when.
//
// SPDX-License-Identifier: Apache-2.0
#include "test/instructions/Case.h"

namespace instructions {
namespace {

constexpr unsigned kRounds = 5, kBlocks = 4;

/// Warp 0 writes round * 1000 + block * 100 + lane; warp 1 reads it and writes it out. `ready` and
/// `taken` are what the two do to hand over; "$ROLE" is w where warp 0 does it, r where warp 1
/// does.
void addHandOver(std::vector<Case> &cases, const std::string &name, const std::string &instruction,
                 unsigned since, const std::string &setUp, const std::string &giveReady,
                 const std::string &awaitReady, const std::string &giveTaken,
                 const std::string &awaitTaken) {
  Case made;
  made.name = name;
  made.instruction = instruction;
  made.since = since;
  made.blocks = kBlocks;
  made.threads = 64;
  made.shared = 512;
  made.kernel = kernelOf(name,
                         fill(R"(    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %two = llvm.mlir.constant(2 : i32) : i32
    %both = llvm.mlir.constant(64 : i32) : i32
    %warp_size = llvm.mlir.constant(32 : i32) : i32
    %but_one = llvm.mlir.constant(31 : i32) : i32
    %rounds = llvm.mlir.constant($ROUNDS : i32) : i32
    %hundred = llvm.mlir.constant(100 : i32) : i32
    %thousand = llvm.mlir.constant(1000 : i32) : i32
    %full = llvm.getelementptr %shared[256] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %empty = llvm.getelementptr %shared[264] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %is_first = llvm.icmp "eq" %tid, %zero : i32
    llvm.cond_br %is_first, ^set_up, ^ready
  ^set_up:
$SETUP
    llvm.br ^ready
  ^ready:
    nvvm.barrier0
    %place = llvm.getelementptr %shared[%lane] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %writes = llvm.icmp "ult" %tid, %warp_size : i32
    %of_block = llvm.mul %block, %hundred : i32
    %base = llvm.add %of_block, %lane : i32
    llvm.cond_br %writes, ^write(%zero : i32), ^read(%zero : i32)
  ^write(%w: i32):
    %w_parity = llvm.and %w, %one : i32
    %w_other = llvm.xor %w_parity, %one : i32
$AWAITTAKEN
    %scaled = llvm.mul %w, %thousand : i32
    %value = llvm.add %scaled, %base : i32
    llvm.store %value, %place : i32, !llvm.ptr<3>
$GIVEREADY
    %w_next = llvm.add %w, %one : i32
    %w_more = llvm.icmp "ult" %w_next, %rounds : i32
    llvm.cond_br %w_more, ^write(%w_next : i32), ^end
  ^read(%r: i32):
    %r_parity = llvm.and %r, %one : i32
$AWAITREADY
    %mirrored = llvm.xor %lane, %one : i32
    %from = llvm.getelementptr %shared[%mirrored] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %got = llvm.load %from : !llvm.ptr<3> -> i32
$GIVETAKEN
    %r_of_block = llvm.mul %block, %rounds : i32
    %r_line = llvm.add %r_of_block, %r : i32
    %r_first = llvm.mul %r_line, %warp_size : i32
    %r_index = llvm.add %r_first, %lane : i32
    %to = llvm.getelementptr %out[%r_index] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    llvm.store %got, %to : i32, !llvm.ptr<1>
    %r_next = llvm.add %r, %one : i32
    %r_more = llvm.icmp "ult" %r_next, %rounds : i32
    llvm.cond_br %r_more, ^read(%r_next : i32), ^end
  ^end:)",
                              {{"ROUNDS", std::to_string(kRounds)},
                               {"SETUP", setUp},
                               {"AWAITTAKEN", awaitTaken},
                               {"GIVEREADY", giveReady},
                               {"AWAITREADY", awaitReady},
                               {"GIVETAKEN", giveTaken}}),
                         64);
  made.buffers = {Bytes(8), Bytes(kBlocks * kRounds * 32 * 4)};
  made.check = [](const std::vector<Bytes> &after) -> std::string {
    for (unsigned i = 0; i < kBlocks * kRounds * 32; ++i) {
      uint32_t got, lane = i % 32, round = i / 32 % kRounds, block = i / 32 / kRounds;
      memcpy(&got, &after[1][4 * i], 4);
      if (uint32_t wanted = round * 1000 + block * 100 + (lane ^ 1); got != wanted)
        return format("block %u, round %u, lane %u: %u, not %u", block, round, lane, got, wanted);
    }
    return {};
  };
  cases.push_back(std::move(made));
}

std::string wait(const std::string &instruction, const std::string &label,
                 const std::string &barrier, const std::string &operand, const std::string &type) {
  return fill(R"(    llvm.br ^$LABEL
  ^$LABEL:
    %$LABEL_done = kernel.ptx "$INSTRUCTION"($BARRIER, $OPERAND) : (!llvm.ptr<3>, $TYPE) -> i1
    llvm.cond_br %$LABEL_done, ^$LABEL_over, ^$LABEL
  ^$LABEL_over:)",
              {{"LABEL", label},
               {"INSTRUCTION", instruction},
               {"BARRIER", barrier},
               {"OPERAND", operand},
               {"TYPE", type}});
}

std::string initialise(const std::string &barrier, const std::string &count) {
  return "    kernel.ptx \"mbarrier.init.shared.b64\"(" + barrier + ", " + count +
         ") : (!llvm.ptr<3>, i32) -> ()\n";
}

/// Every thread's copy, then its arrival; who sees the phase end sees its neighbour's data.
void addCopyArrival(std::vector<Case> &cases, bool noinc) {
  Case made;
  made.name = noinc ? "cp_async_mbarrier_noinc" : "cp_async_mbarrier";
  made.instruction =
      std::string("cp.async.mbarrier.arrive") + (noinc ? ".noinc" : "") + ".shared.b64";
  made.since = 90;
  made.threads = 64;
  made.shared = 64 * 4 + 8;
  made.kernel = kernelOf(made.name,
                         fill(R"(    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %barrier = llvm.getelementptr %shared[256] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %is_first = llvm.icmp "eq" %tid, %zero : i32
    llvm.cond_br %is_first, ^set_up, ^ready
  ^set_up:
    kernel.ptx "mbarrier.init.shared.b64"(%barrier, %threads) : (!llvm.ptr<3>, i32) -> ()
    llvm.br ^ready
  ^ready:
    nvvm.barrier0
    %source = llvm.getelementptr %in[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %target = llvm.getelementptr %shared[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    kernel.ptx "cp.async.ca.shared.global 4"(%target, %source) : (!llvm.ptr<3>, !llvm.ptr<1>) -> ()
    kernel.ptx "$INSTRUCTION"(%barrier) : (!llvm.ptr<3>) -> ()
    $ARRIVE
    llvm.br ^wait
  ^wait:
    %done = kernel.ptx "mbarrier.try_wait.parity.shared.b64"(%barrier, %zero) : (!llvm.ptr<3>, i32) -> i1
    llvm.cond_br %done, ^done, ^wait
  ^done:
    %other = llvm.xor %tid, %one : i32
    %from = llvm.getelementptr %shared[%other] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %value = llvm.load %from : !llvm.ptr<3> -> i32
    %to = llvm.getelementptr %out[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    llvm.store %value, %to : i32, !llvm.ptr<1>
    nvvm.barrier0
    llvm.cond_br %is_first, ^tear_down, ^end
  ^tear_down:
    kernel.ptx "mbarrier.inval.shared.b64"(%barrier) : (!llvm.ptr<3>) -> ()
    llvm.br ^end
  ^end:)",
                              {{"INSTRUCTION", made.instruction},
                               {"ARRIVE", noinc ? ""
                                                : "%state = kernel.ptx "
                                                  "\"mbarrier.arrive.shared.b64\"("
                                                  "%barrier) : (!llvm.ptr<3>) -> i64"}}),
                         64);
  Bytes in = randomBytes(256, 12);
  made.buffers = {in, Bytes(256)};
  made.check = [in](const std::vector<Bytes> &after) -> std::string {
    for (unsigned i = 0; i < 64; ++i)
      if (memcmp(&after[1][4 * i], &in[4 * (i ^ 1)], 4))
        return format("thread %u does not see its neighbour's data", i);
    return {};
  };
  cases.push_back(std::move(made));
}

/// 64 arrivals end the first phase, 32 of them for good; the other 32 alone end the second.
void addDrop(std::vector<Case> &cases) {
  Case made;
  made.name = "mbarrier_arrive_drop";
  made.instruction = "mbarrier.arrive_drop.shared.b64";
  made.since = 90;
  made.threads = 64;
  made.shared = 8;
  made.kernel = kernelOf(made.name, R"(    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %warp_size = llvm.mlir.constant(32 : i32) : i32
    %is_first = llvm.icmp "eq" %tid, %zero : i32
    llvm.cond_br %is_first, ^set_up, ^ready
  ^set_up:
    kernel.ptx "mbarrier.init.shared.b64"(%shared, %threads) : (!llvm.ptr<3>, i32) -> ()
    llvm.br ^ready
  ^ready:
    nvvm.barrier0
    kernel.ptx "griddepcontrol.wait"() : () -> ()
    %stays = llvm.icmp "ult" %tid, %warp_size : i32
    llvm.cond_br %stays, ^stay, ^drop
  ^drop:
    %dropped = kernel.ptx "mbarrier.arrive_drop.shared.b64"(%shared) : (!llvm.ptr<3>) -> i64
    llvm.br ^write(%zero : i32)
  ^stay:
    %first_state = kernel.ptx "mbarrier.arrive.shared.b64"(%shared) : (!llvm.ptr<3>) -> i64
    llvm.br ^first_wait
  ^first_wait:
    %first_done = kernel.ptx "mbarrier.try_wait.parity.shared.b64"(%shared, %zero) : (!llvm.ptr<3>, i32) -> i1
    llvm.cond_br %first_done, ^arrive, ^first_wait
  ^arrive:
    %second_state = kernel.ptx "mbarrier.arrive.shared.b64"(%shared) : (!llvm.ptr<3>) -> i64
    llvm.br ^second
  ^second:
    %second_done = kernel.ptx "mbarrier.try_wait.parity.shared.b64"(%shared, %one) : (!llvm.ptr<3>, i32) -> i1
    llvm.cond_br %second_done, ^check, ^second
  ^check:
    %now = kernel.ptx "mbarrier.test_wait.parity.shared.b64"(%shared, %zero) : (!llvm.ptr<3>, i32) -> i1
    kernel.ptx "membar.gl"() : () -> ()
    %answer = llvm.zext %now : i1 to i32
    llvm.br ^write(%answer : i32)
  ^write(%written: i32):
    %to = llvm.getelementptr %out[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    llvm.store %written, %to : i32, !llvm.ptr<1>
    kernel.ptx "griddepcontrol.launch_dependents"() : () -> ()
)",
                         64);
  made.buffers = {Bytes(8), Bytes(256, 7)};
  made.check = [](const std::vector<Bytes> &after) -> std::string {
    // The third phase, of parity 0, is not over.
    for (unsigned i = 0; i < 64; ++i) {
      uint32_t answer;
      memcpy(&answer, &after[1][4 * i], 4);
      if (answer != 0)
        return format("thread %u gets %u", i, answer);
    }
    return {};
  };
  cases.push_back(std::move(made));
}

} // namespace

void addBarrierCases(std::vector<Case> &cases) {
  // Producer and consumer as in the section on bar, barrier: the one arrives, the other waits.
  auto arrive = [](const char *id) {
    return std::string("    kernel.ptx \"bar.arrive\"(") + id + ", %both) : (i32, i32) -> ()";
  };
  auto sync = [](const char *id) {
    return std::string("    nvvm.barrier id = ") + id + " number_of_threads = %both";
  };
  addHandOver(cases, "bar_arrive", "bar.arrive", 75, "", arrive("%one"), sync("%one"),
              // After the last round nobody waits, and no barrier stays half full at the end.
              "    %r_after = llvm.add %r, %one : i32\n"
              "    %r_early = llvm.icmp \"ult\" %r_after, %rounds : i32\n"
              "    llvm.cond_br %r_early, ^r_give, ^r_given\n"
              "  ^r_give:\n" +
                  arrive("%two") + "\n    llvm.br ^r_given\n  ^r_given:",
              // Before the first round nobody has taken anything.
              "    %w_late = llvm.icmp \"ne\" %w, %zero : i32\n"
              "    llvm.cond_br %w_late, ^w_wait, ^w_go\n"
              "  ^w_wait:\n" +
                  sync("%two") + "\n    llvm.br ^w_go\n  ^w_go:");

  addCopyArrival(cases, true);
  addCopyArrival(cases, false);
  addDrop(cases);

  std::string setUp = initialise("%full", "%warp_size") + initialise("%empty", "%warp_size");
  auto arriveAt = [](const char *result, const char *barrier) {
    return fill("    %$RESULT = kernel.ptx \"mbarrier.arrive.shared.b64\"($BARRIER) : "
                "(!llvm.ptr<3>) -> i64",
                {{"RESULT", result}, {"BARRIER", barrier}});
  };
  // A wait for the phase before the first is over at once: parity 1.
  for (const char *mode : {"try_wait", "test_wait"}) {
    std::string waits = std::string("mbarrier.") + mode + ".parity.shared.b64";
    addHandOver(cases, std::string("mbarrier_parity_") + mode, waits, 90, setUp,
                arriveAt("w_state", "%full"), wait(waits, "r_wait", "%full", "%r_parity", "i32"),
                arriveAt("r_state", "%empty"), wait(waits, "w_wait", "%empty", "%w_other", "i32"));
  }
  // All 64 threads arrive and wait with the state that their arrival gave.
  std::string bothSetUp = initialise("%full", "%both") + initialise("%empty", "%both");
  std::string tests = "mbarrier.test_wait.shared.b64";
  addHandOver(
      cases, "mbarrier_state", tests, 80, bothSetUp,
      arriveAt("w_state", "%full") + "\n" + wait(tests, "w_full", "%full", "%w_state", "i64") +
          "\n" + arriveAt("w_state2", "%empty") + "\n" +
          wait(tests, "w_empty", "%empty", "%w_state2", "i64"),
      arriveAt("r_state", "%full") + "\n" + wait(tests, "r_full", "%full", "%r_state", "i64"),
      arriveAt("r_state2", "%empty") + "\n" + wait(tests, "r_empty", "%empty", "%r_state2", "i64"),
      "");
  // One lane arrives for all: with a count; for all but one, then for that; and as an arrival that
  // expects no bytes.
  std::string parityWait = "mbarrier.try_wait.parity.shared.b64";
  struct Give {
    const char *name, *instruction, *count, *then;
  };
  const Give gives[] = {
      {"mbarrier_arrive_count", "mbarrier.arrive.shared.b64", "%warp_size", ""},
      {"mbarrier_arrive_open", "mbarrier.arrive.noComplete.shared.b64", "%but_one",
       "    %rest_$WHO = kernel.ptx \"mbarrier.arrive.shared.b64\"($BARRIER) : (!llvm.ptr<3>) -> "
       "i64\n"},
      {"mbarrier_arrive_expect_tx", "mbarrier.arrive.expect_tx.shared.b64", "%zero", ""},
  };
  for (const Give &give : gives) {
    auto giveOf = [&](const char *who, const char *barrier) {
      return fill(std::string(R"(    %all_$WHO = llvm.mlir.constant(-1 : i32) : i32
    nvvm.bar.warp.sync %all_$WHO : i32
    %leads_$WHO = llvm.icmp "eq" %lane, %zero : i32
    llvm.cond_br %leads_$WHO, ^lead_$WHO, ^led_$WHO
  ^lead_$WHO:
    %state_$WHO = kernel.ptx "$ARRIVE"($BARRIER, $COUNT) : (!llvm.ptr<3>, i32) -> i64
)") + give.then + R"(    llvm.br ^led_$WHO
  ^led_$WHO:)",
                  {{"WHO", who},
                   {"ARRIVE", give.instruction},
                   {"BARRIER", barrier},
                   {"COUNT", give.count}});
    };
    std::string count = give.count == std::string("%zero") ? "%one" : "%warp_size";
    addHandOver(cases, give.name, give.instruction, 90,
                initialise("%full", count) + initialise("%empty", count), giveOf("w", "%full"),
                wait(parityWait, "r_wait", "%full", "%r_parity", "i32"), giveOf("r", "%empty"),
                wait(parityWait, "w_wait", "%empty", "%w_other", "i32"));
  }
}

} // namespace instructions
