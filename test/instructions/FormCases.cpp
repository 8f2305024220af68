// How lanes of a warp wait, and by which branches they come to collectives: what decides whether
// the simulator runs a kernel warp by warp or thread by thread. Both must give what the PTX ISA
// says.
//
// SPDX-License-Identifier: Apache-2.0
#include "test/instructions/Case.h"

namespace instructions {
namespace {

constexpr unsigned kRounds = 5, kBlocks = 4, kThreads = 64;

Case makeCase(const std::string &name, const std::string &instruction, unsigned since,
              const std::string &body) {
  Case made;
  made.name = name;
  made.instruction = instruction;
  made.since = since;
  made.blocks = kBlocks;
  made.threads = kThreads;
  made.shared = 512;
  made.kernel = kernelOf(name,
                         R"(    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %five = llvm.mlir.constant(5 : i32) : i32
    %warp_size = llvm.mlir.constant(32 : i32) : i32
    %all = llvm.mlir.constant(-1 : i32) : i32
    %clamp = llvm.mlir.constant(31 : i32) : i32
    %rounds = llvm.mlir.constant(5 : i32) : i32
    %thousand = llvm.mlir.constant(1000 : i32) : i32
    %warp = llvm.lshr %tid, %five : i32
    %in_first = llvm.icmp "eq" %warp, %zero : i32
    %is_first = llvm.icmp "eq" %tid, %zero : i32
    %full = llvm.getelementptr %shared[256] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %empty = llvm.getelementptr %shared[264] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %to = llvm.getelementptr %out[%record] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
)" + body,
                         kThreads);
  return made;
}

/// Thread i of the grid must have written `wanted(i)`.
template <typename Wanted> auto checkWords(unsigned count, Wanted wanted) {
  return [=](const std::vector<Bytes> &after) -> std::string {
    for (unsigned i = 0; i < count; ++i) {
      uint32_t got;
      memcpy(&got, &after[1][4 * i], 4);
      if (got != wanted(i))
        return format("word %u: %u, not %u", i, got, wanted(i));
    }
    return {};
  };
}

const char *const kSetUp = R"(    llvm.cond_br %is_first, ^set_up, ^ready
  ^set_up:
    kernel.ptx "mbarrier.init.shared.b64"(%full, %one) : (!llvm.ptr<3>, i32) -> ()
    kernel.ptx "mbarrier.init.shared.b64"(%empty, $EMPTY) : (!llvm.ptr<3>, i32) -> ()
    llvm.br ^ready
  ^ready:
    nvvm.barrier0
)";

/// One lane of the first warp waits, writes and arrives, over and over, while its neighbours have
/// left; the second warp takes what it writes.
void addLeader(std::vector<Case> &cases) {
  Case made = makeCase("wait_of_one_lane", "mbarrier.try_wait.parity.shared.b64", 90,
                       fill(kSetUp, {{"EMPTY", "%warp_size"}}) + R"(
    llvm.cond_br %in_first, ^producer, ^read(%zero : i32)
  ^producer:
    llvm.cond_br %is_first, ^write(%zero : i32), ^end
  ^write(%w: i32):
    %w_parity = llvm.and %w, %one : i32
    %w_other = llvm.xor %w_parity, %one : i32
    llvm.br ^w_wait
  ^w_wait:
    %w_done = kernel.ptx "mbarrier.try_wait.parity.shared.b64"(%empty, %w_other) : (!llvm.ptr<3>, i32) -> i1
    llvm.cond_br %w_done, ^w_go, ^w_wait
  ^w_go:
    %scaled = llvm.mul %w, %thousand : i32
    %value = llvm.add %scaled, %block : i32
    llvm.store %value, %shared : i32, !llvm.ptr<3>
    %w_state = kernel.ptx "mbarrier.arrive.shared.b64"(%full) : (!llvm.ptr<3>) -> i64
    %w_next = llvm.add %w, %one : i32
    %w_more = llvm.icmp "ult" %w_next, %rounds : i32
    llvm.cond_br %w_more, ^write(%w_next : i32), ^end
  ^read(%r: i32):
    %r_parity = llvm.and %r, %one : i32
    llvm.br ^r_wait
  ^r_wait:
    %r_done = kernel.ptx "mbarrier.try_wait.parity.shared.b64"(%full, %r_parity) : (!llvm.ptr<3>, i32) -> i1
    llvm.cond_br %r_done, ^r_go, ^r_wait
  ^r_go:
    %got = llvm.load %shared : !llvm.ptr<3> -> i32
    %r_state = kernel.ptx "mbarrier.arrive.shared.b64"(%empty) : (!llvm.ptr<3>) -> i64
    %r_of_block = llvm.mul %block, %rounds : i32
    %r_line = llvm.add %r_of_block, %r : i32
    %r_first = llvm.mul %r_line, %warp_size : i32
    %r_index = llvm.add %r_first, %lane : i32
    %r_to = llvm.getelementptr %out[%r_index] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    llvm.store %got, %r_to : i32, !llvm.ptr<1>
    %r_next = llvm.add %r, %one : i32
    %r_more = llvm.icmp "ult" %r_next, %rounds : i32
    llvm.cond_br %r_more, ^read(%r_next : i32), ^end
  ^end:)");
  made.buffers = {Bytes(8), Bytes(kBlocks * kRounds * 32 * 4)};
  made.check = checkWords(kBlocks * kRounds * 32,
                          [](unsigned i) { return i / 32 % kRounds * 1000 + i / 32 / kRounds; });
  cases.push_back(std::move(made));
}

/// Even lanes wait for one mbarrier, odd ones for another; lanes 0 and 1 of the other warp arrive.
void addDifferent(std::vector<Case> &cases, bool loops) {
  std::string wait = loops ? R"(    llvm.br ^wait
  ^wait:
    %done = kernel.ptx "mbarrier.test_wait.parity.shared.b64"(%mine, %zero) : (!llvm.ptr<3>, i32) -> i1
    llvm.cond_br %done, ^over, ^wait
  ^over:
)"
                           : R"(    %ticks = llvm.mlir.constant(1000000 : i32) : i32
    nvvm.mbarrier.try_wait.parity.shared %mine, %zero, %ticks : !llvm.ptr<3>, i32, i32
)";
  Case made =
      makeCase(loops ? "wait_for_different" : "nvvm_wait_for_different",
               "mbarrier.test_wait.parity.shared.b64", 90, fill(kSetUp, {{"EMPTY", "%one"}}) + R"(
    %odd = llvm.and %lane, %one : i32
    %eight = llvm.mlir.constant(8 : i32) : i32
    %offset = llvm.mul %odd, %eight : i32
    %mine = llvm.getelementptr %full[%offset] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %place = llvm.getelementptr %shared[%odd] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    llvm.cond_br %in_first, ^give, ^take
  ^give:
    %gives = llvm.icmp "ule" %lane, %one : i32
    llvm.cond_br %gives, ^give_one, ^end
  ^give_one:
    %value = llvm.add %record32, %thousand : i32
    llvm.store %value, %place : i32, !llvm.ptr<3>
    %state = kernel.ptx "mbarrier.arrive.shared.b64"(%mine) : (!llvm.ptr<3>) -> i64
    llvm.br ^end
  ^take:
)" + wait + R"(    %got = llvm.load %place : !llvm.ptr<3> -> i32
    llvm.store %got, %to : i32, !llvm.ptr<1>
    llvm.br ^end
  ^end:)");
  made.buffers = {Bytes(8), Bytes(kBlocks * kThreads * 4)};
  made.check = checkWords(kBlocks * kThreads, [](unsigned i) {
    return i % kThreads < 32 ? 0 : 1000 + i / kThreads * kThreads + i % 2;
  });
  cases.push_back(std::move(made));
}

/// Lane i may arrive once lane i - 1 has: lanes go on one by one. They look and arrive in turns
/// that end for all of the warp together: behind a loop that each leaves by itself, ptxas has lanes
/// wait for each other before they go on, and those that are still in it would wait for ever.
void addChain(std::vector<Case> &cases) {
  Case made = makeCase("wait_for_neighbour", "mbarrier.test_wait.parity.shared.b64", 90, R"(
    %own_offset = llvm.mul %tid, %rounds : i32
    %eight = llvm.mlir.constant(8 : i32) : i32
    %last = llvm.mlir.constant(63 : i32) : i32
    %true = llvm.mlir.constant(true) : i1
    %false = llvm.mlir.constant(false) : i1
    %own_place = llvm.mul %tid, %eight : i32
    %mine = llvm.getelementptr %shared[%own_place] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %plus = llvm.add %tid, %one : i32
    %next = llvm.and %plus, %last : i32
    %next_place = llvm.mul %next, %eight : i32
    %theirs = llvm.getelementptr %shared[%next_place] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    kernel.ptx "mbarrier.init.shared.b64"(%mine, %one) : (!llvm.ptr<3>, i32) -> ()
    nvvm.barrier0
    llvm.br ^turn(%false : i1)
  ^turn(%gone: i1):
    %over = kernel.ptx "mbarrier.test_wait.parity.shared.b64"(%mine, %zero) : (!llvm.ptr<3>, i32) -> i1
    %may = llvm.or %over, %is_first : i1
    %stays = llvm.xor %gone, %true : i1
    %goes = llvm.and %may, %stays : i1
    llvm.cond_br %goes, ^arrive, ^turned
  ^arrive:
    %state = kernel.ptx "mbarrier.arrive.shared.b64"(%theirs) : (!llvm.ptr<3>) -> i64
    llvm.br ^turned
  ^turned:
    %gone_now = llvm.or %gone, %may : i1
    %all_gone = kernel.ptx "vote.sync.all.pred"(%gone_now, %all) : (i1, i32) -> i1
    llvm.cond_br %all_gone, ^done, ^turn(%gone_now : i1)
  ^done:
    llvm.store %own_offset, %to : i32, !llvm.ptr<1>)");
  made.buffers = {Bytes(8), Bytes(kBlocks * kThreads * 4)};
  made.check = checkWords(kBlocks * kThreads, [](unsigned i) { return i % kThreads * 5; });
  cases.push_back(std::move(made));
}

/// Every thread loads the flag by which its warp goes, or gets the warp's number from lane 0: a
/// compiler does not know that the warp goes as one, but it does, to a barrier of the warp and of
/// the block's half.
void addTogether(std::vector<Case> &cases, bool shuffled) {
  std::string flag =
      shuffled
          ? R"(    %number = nvvm.shfl.sync idx %all, %warp, %zero, %clamp : i32 -> i32
    %goes = llvm.icmp "eq" %number, %one : i32
)"
          : R"(    %flag_at = llvm.getelementptr %in[%record] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
    %flag = llvm.load %flag_at : !llvm.ptr<1> -> i32
    %goes = llvm.icmp "ne" %flag, %zero : i32
)";
  Case made = makeCase(
      shuffled ? "branch_by_shuffle" : "branch_by_data", "bar.warp.sync", 75,
      flag +
          R"(    %own = llvm.getelementptr %shared[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %other_tid = llvm.xor %tid, %one : i32
    %other = llvm.getelementptr %shared[%other_tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    llvm.cond_br %goes, ^exchange, ^write(%zero : i32)
  ^exchange:
    llvm.store %record32, %own : i32, !llvm.ptr<3>
    nvvm.bar.warp.sync %all : i32
    %theirs = llvm.load %other : !llvm.ptr<3> -> i32
    %turned = nvvm.shfl.sync bfly %all, %theirs, %one, %clamp : i32 -> i32
    %id = llvm.add %warp, %one : i32
    nvvm.barrier id = %id number_of_threads = %warp_size
    %sum = llvm.add %theirs, %turned : i32
    llvm.br ^write(%sum : i32)
  ^write(%value: i32):
    llvm.store %value, %to : i32, !llvm.ptr<1>)");
  Bytes in(kBlocks * kThreads * 4);
  for (unsigned i = 0; i < kBlocks * kThreads; ++i)
    in[4 * i] = i / 32 % 3 == 1;
  made.buffers = {in, Bytes(kBlocks * kThreads * 4)};
  made.check = checkWords(kBlocks * kThreads, [=](unsigned i) {
    bool goes = shuffled ? i % kThreads >= 32 : i / 32 % 3 == 1;
    return goes ? i + (i ^ 1) : 0;
  });
  cases.push_back(std::move(made));
}

} // namespace

void addFormCases(std::vector<Case> &cases) {
  addLeader(cases);
  addDifferent(cases, true);
  addDifferent(cases, false);
  addChain(cases);
  addTogether(cases, true);
  addTogether(cases, false);
}

} // namespace instructions
