// Pipelines of copies by cp.async and mma.sync, or with mbarriers, and of bulk copies through
// global memory.
//
// SPDX-License-Identifier: Apache-2.0
#include "test/instructions/Pipeline.h"

namespace instructions {

Bytes smallNumbers(unsigned count, unsigned depth, uint64_t seed) {
  Random random(seed);
  Bytes bytes(size_t(count) * depth * 2);
  for (size_t i = 0; i < bytes.size(); i += 2) {
    uint32_t bits = encodeFloat(int(random.below(11)) - 5, 5, 10);
    memcpy(&bytes[i], &bits, 2);
  }
  return bytes;
}

std::string checkProduct(const uint8_t *a, const uint8_t *b, unsigned m, unsigned n, unsigned k,
                         const Bytes &got) {
  auto element = [&](const uint8_t *matrix, unsigned row, unsigned i) {
    uint16_t bits;
    memcpy(&bits, matrix + (size_t(row) * k + i) * 2, 2);
    return decodeF16(bits);
  };
  for (unsigned row = 0; row < m; ++row)
    for (unsigned column = 0; column < n; ++column) {
      double wanted = 0;
      for (unsigned i = 0; i < k; ++i)
        wanted += element(a, row, i) * element(b, column, i);
      float value;
      memcpy(&value, &got[(size_t(row) * n + column) * 4], 4);
      if (double(value) != wanted)
        return format("row %u, column %u: %g, not %g", row, column, double(value), wanted);
    }
  return {};
}

std::string numbers(const std::vector<unsigned> &values) {
  std::string text;
  for (unsigned value : values)
    text += format("    %%n%u = llvm.mlir.constant(%u : i32) : i32\n", value, value);
  return text;
}

namespace {
const char *const kWaitLoop = R"(    llvm.br ^$N
  ^$N:
    %$N = kernel.ptx "mbarrier.try_wait.parity.shared.b64"($BARRIER, $PARITY) : (!llvm.ptr<3>, i32) -> i1
    llvm.cond_br %$N, ^$N_over, ^$N
  ^$N_over:
)";
} // namespace

std::string waitFor(const char *name, const char *barrier, const char *parity) {
  return fill(kWaitLoop, {{"BARRIER", barrier}, {"PARITY", parity}, {"N", name}});
}

namespace {

// ---- cp.async ----

/// 16 x 16 = A (16 x 96) B (16 x 96) transposed, by two warps: three stages of 16 columns of both.
/// Rows of A and of B follow one another in the parameter and in a stage.
void addCopies(std::vector<Case> &cases) {
  constexpr unsigned depth = 96;
  auto copy = [](const char *name, const char *tile) {
    return fill(R"(    %$N_stage = llvm.urem $TILE, %n3 : i32
    %$N_base = llvm.mul %$N_stage, %n1024 : i32
    %$N_place = llvm.add %$N_base, %place : i32
    %$N_to = llvm.getelementptr %shared[%$N_place] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %$N_column = llvm.mul $TILE, %n32 : i32
    %$N_offset = llvm.add %from, %$N_column : i32
    %$N_from = llvm.getelementptr %in[%$N_offset] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
    kernel.ptx "cp.async.cg.shared.global 16"(%$N_to, %$N_from) : (!llvm.ptr<3>, !llvm.ptr<1>) -> ()
)",
                {{"N", name}, {"TILE", tile}});
  };
  Case made;
  made.name = "pipeline_cp_async";
  made.instruction = "cp.async.cg.shared.global";
  made.since = 80;
  made.threads = 64;
  made.shared = 3 * 1024;
  std::string body = numbers({0, 1, 2, 3, 4, 5, 6, 7, 8, 15, 16, 32, 64, 192, 512, 1024}) + R"(
    %row = llvm.lshr %tid, %n1 : i32
    %half = llvm.and %tid, %n1 : i32
    %row_from = llvm.mul %row, %n192 : i32
    %half_from = llvm.mul %half, %n16 : i32
    %from = llvm.add %row_from, %half_from : i32
    %place = llvm.mul %tid, %n16 : i32
    %warp = llvm.lshr %tid, %n5 : i32
    %c = llvm.mlir.constant(0.0 : f32) : f32
    llvm.br ^prologue(%n0 : i32)
  ^prologue(%p: i32):
)" + copy("first", "%p") +
                     R"(    kernel.ptx "cp.async.commit_group"() : () -> ()
    %p_next = llvm.add %p, %n1 : i32
    %p_more = llvm.icmp "ult" %p_next, %n2 : i32
    llvm.cond_br %p_more, ^prologue(%p_next : i32), ^start
  ^start:
    llvm.br ^loop(%n0, %c, %c, %c, %c : i32, f32, f32, f32, f32)
  ^loop(%t: i32, %c0: f32, %c1: f32, %c2: f32, %c3: f32):
    kernel.ptx "cp.async.wait_group 1"() : () -> ()
    nvvm.barrier0
    %ahead = llvm.add %t, %n2 : i32
    %loads = llvm.icmp "ult" %ahead, %n6 : i32
    llvm.cond_br %loads, ^issue, ^issued
  ^issue:
)" + copy("next", "%ahead") +
                     R"(    llvm.br ^issued
  ^issued:
    kernel.ptx "cp.async.commit_group"() : () -> ()
    %stage = llvm.urem %t, %n3 : i32
    %base = llvm.mul %stage, %n1024 : i32
    %a_row = llvm.and %lane, %n15 : i32
    %a_half = llvm.lshr %lane, %n4 : i32
    %a_offset = llvm.mul %a_row, %n32 : i32
    %a_inner = llvm.mul %a_half, %n16 : i32
    %a_sum = llvm.add %a_offset, %a_inner : i32
    %a_place = llvm.add %base, %a_sum : i32
    %a_at = llvm.getelementptr %shared[%a_place] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %a:4 = kernel.ptx "ldmatrix.sync.aligned.m8n8.x4.shared.b16"(%a_at) : (!llvm.ptr<3>) -> (i32, i32, i32, i32)
    %b_lane = llvm.and %lane, %n7 : i32
    %b_first = llvm.mul %warp, %n8 : i32
    %b_row = llvm.add %b_first, %b_lane : i32
    %b_offset = llvm.mul %b_row, %n32 : i32
    %b_eighth = llvm.lshr %lane, %n3 : i32
    %b_half = llvm.and %b_eighth, %n1 : i32
    %b_inner = llvm.mul %b_half, %n16 : i32
    %b_sum = llvm.add %b_offset, %b_inner : i32
    %b_tile = llvm.add %b_sum, %n512 : i32
    %b_place = llvm.add %base, %b_tile : i32
    %b_at = llvm.getelementptr %shared[%b_place] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %b:2 = kernel.ptx "ldmatrix.sync.aligned.m8n8.x2.shared.b16"(%b_at) : (!llvm.ptr<3>) -> (i32, i32)
    %d:4 = kernel.ptx "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"(%a#0, %a#1, %a#2, %a#3, %b#0, %b#1, %c0, %c1, %c2, %c3) : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> (f32, f32, f32, f32)
    %t_next = llvm.add %t, %n1 : i32
    %more = llvm.icmp "ult" %t_next, %n6 : i32
    llvm.cond_br %more, ^loop(%t_next, %d#0, %d#1, %d#2, %d#3 : i32, f32, f32, f32, f32), ^done
  ^done:
    %g = llvm.lshr %lane, %n2 : i32
    %g_offset = llvm.mul %g, %n64 : i32
    %pair = llvm.and %lane, %n3 : i32
    %pair_offset = llvm.mul %pair, %n8 : i32
    %warp_offset = llvm.mul %warp, %n32 : i32
    %o1 = llvm.add %g_offset, %pair_offset : i32
    %o = llvm.add %o1, %warp_offset : i32
    %to0 = llvm.getelementptr %out[%o] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
    %to1 = llvm.getelementptr %to0[4] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    %to2 = llvm.getelementptr %to0[512] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    %to3 = llvm.getelementptr %to0[516] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    llvm.store %d#0, %to0 : f32, !llvm.ptr<1>
    llvm.store %d#1, %to1 : f32, !llvm.ptr<1>
    llvm.store %d#2, %to2 : f32, !llvm.ptr<1>
    llvm.store %d#3, %to3 : f32, !llvm.ptr<1>)";
  made.kernel = kernelOf(made.name, body, made.threads);
  Bytes in = smallNumbers(32, depth, 3);
  made.buffers = {in, Bytes(16 * 16 * 4)};
  made.check = [in](const std::vector<Bytes> &after) {
    return checkProduct(&in[0], &in[16 * depth * 2], 16, 16, depth, after[1]);
  };
  cases.push_back(std::move(made));
}

/// Sums of six tiles: each thread copies 16 bytes of a tile, two tiles ahead, and adds up its own
/// once an mbarrier says that the copies given to it are done.
void addTrackedCopies(std::vector<Case> &cases) {
  constexpr unsigned tiles = 6, tileBytes = 1024, barriersAt = 2 * tileBytes;
  auto copy = [](const char *name, const char *tile) {
    return fill(R"(    %$N_stage = llvm.and $TILE, %n1 : i32
    %$N_base = llvm.mul %$N_stage, %n1024 : i32
    %$N_place = llvm.add %$N_base, %own_bytes : i32
    %$N_to = llvm.getelementptr %shared[%$N_place] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %$N_tile = llvm.mul $TILE, %n1024 : i32
    %$N_offset = llvm.add %$N_tile, %own_bytes : i32
    %$N_from = llvm.getelementptr %in[%$N_offset] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
    %$N_full = llvm.getelementptr %barriers[%$N_stage] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
    kernel.ptx "cp.async.cg.shared.global 16"(%$N_to, %$N_from) : (!llvm.ptr<3>, !llvm.ptr<1>) -> ()
    kernel.ptx "cp.async.mbarrier.arrive.noinc.shared.b64"(%$N_full) : (!llvm.ptr<3>) -> ()
)",
                {{"N", name}, {"TILE", tile}});
  };
  std::string body =
      numbers({0, 1, 2, tiles, 16, 64, tileBytes}) +
      format("    %%barriers = llvm.getelementptr %%shared[%u] : (!llvm.ptr<3>) -> !llvm.ptr<3>, "
             "i8\n",
             barriersAt) +
      fill(R"(    %first_thread = llvm.icmp "eq" %tid, %n0 : i32
    %own_bytes = llvm.mul %tid, %n16 : i32
    llvm.cond_br %first_thread, ^set_up, ^ready
  ^set_up:
    %full1 = llvm.getelementptr %barriers[1] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i64
    kernel.ptx "mbarrier.init.shared.b64"(%barriers, %n64) : (!llvm.ptr<3>, i32) -> ()
    kernel.ptx "mbarrier.init.shared.b64"(%full1, %n64) : (!llvm.ptr<3>, i32) -> ()
    llvm.br ^ready
  ^ready:
    nvvm.barrier0
    %zero = llvm.mlir.constant(dense<0> : vector<4xi32>) : vector<4xi32>
    llvm.br ^prologue(%n0 : i32)
  ^prologue(%p: i32):
$FIRST    %p_next = llvm.add %p, %n1 : i32
    %p_more = llvm.icmp "ult" %p_next, %n2 : i32
    llvm.cond_br %p_more, ^prologue(%p_next : i32), ^start
  ^start:
    llvm.br ^loop(%n0, %zero : i32, vector<4xi32>)
  ^loop(%t: i32, %sum: vector<4xi32>):
    %stage = llvm.and %t, %n1 : i32
    %round = llvm.lshr %t, %n1 : i32
    %parity = llvm.and %round, %n1 : i32
    %full = llvm.getelementptr %barriers[%stage] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
    %base = llvm.mul %stage, %n1024 : i32
    %place = llvm.add %base, %own_bytes : i32
    %at = llvm.getelementptr %shared[%place] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
$WAIT    %value = llvm.load %at {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xi32>
    %sum_next = llvm.add %sum, %value : vector<4xi32>
    %ahead = llvm.add %t, %n2 : i32
    %loads = llvm.icmp "ult" %ahead, %n$TILES : i32
    llvm.cond_br %loads, ^issue, ^issued
  ^issue:
$NEXT    llvm.br ^issued
  ^issued:
    %t_next = llvm.add %t, %n1 : i32
    %more = llvm.icmp "ult" %t_next, %n$TILES : i32
    llvm.cond_br %more, ^loop(%t_next, %sum_next : i32, vector<4xi32>), ^done
  ^done:
    %to = llvm.getelementptr %out[%own_bytes] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
    llvm.store %sum_next, %to {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<1>)",
           {{"FIRST", copy("first", "%p")},
            {"NEXT", copy("next", "%ahead")},
            {"WAIT", waitFor("is_full", "%full", "%parity")},
            {"TILES", std::to_string(tiles)}});
  Case made;
  made.name = "pipeline_cp_async_mbarrier";
  made.instruction = "cp.async.mbarrier.arrive.noinc.shared.b64";
  made.since = 90;
  made.threads = tileBytes / 16;
  made.shared = barriersAt + 2 * 8;
  made.kernel = kernelOf(made.name, body, made.threads);
  Bytes in = randomBytes(tiles * tileBytes, 8);
  made.buffers = {in, Bytes(tileBytes)};
  made.check = [in](const std::vector<Bytes> &after) -> std::string {
    for (unsigned i = 0; i < tileBytes; i += 4) {
      uint32_t sum = 0, value, got;
      for (unsigned tile = 0; tile < tiles; ++tile) {
        memcpy(&value, &in[tile * tileBytes + i], 4);
        sum += value;
      }
      memcpy(&got, &after[1][i], 4);
      if (got != sum)
        return format("byte %u: 0x%x, not 0x%x", i, got, sum);
    }
    return {};
  };
  cases.push_back(std::move(made));
}

// ---- Global memory ----

/// Three times: threads write global memory, from where a bulk copy loads it; each adds its
/// neighbour's words to its own in shared memory, from where a bulk copy writes global memory,
/// which another neighbour reads.
void addThroughGlobal(std::vector<Case> &cases) {
  constexpr unsigned bytes = 1024, barrierAt = 2 * bytes, rounds = 3;
  std::string body =
      numbers({0, 1, 2, rounds, 16, bytes}) +
      format(
          "    %%barrier = llvm.getelementptr %%shared[%u] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8\n"
          "    %%results = llvm.getelementptr %%shared[%u] : (!llvm.ptr<3>) -> !llvm.ptr<3>, "
          "i8\n",
          barrierAt, bytes) +
      fill(R"(    %first_thread = llvm.icmp "eq" %tid, %n0 : i32
    %own_bytes = llvm.mul %tid, %n16 : i32
    %next = llvm.xor %tid, %n1 : i32
    %next_bytes = llvm.mul %next, %n16 : i32
    %second = llvm.xor %tid, %n2 : i32
    %second_bytes = llvm.mul %second, %n16 : i32
    %from = llvm.getelementptr %in[%own_bytes] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
    %to = llvm.getelementptr %out[%own_bytes] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
    %own = llvm.getelementptr %written[%own_bytes] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
    %others = llvm.getelementptr %copied[%second_bytes] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
    %own_loaded = llvm.getelementptr %shared[%own_bytes] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %next_loaded = llvm.getelementptr %shared[%next_bytes] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %result = llvm.getelementptr %results[%own_bytes] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    llvm.cond_br %first_thread, ^set_up, ^ready
  ^set_up:
    kernel.ptx "mbarrier.init.shared.b64"(%barrier, %n1) : (!llvm.ptr<3>, i32) -> ()
    kernel.ptx "fence.mbarrier_init.release.cluster"() : () -> ()
    llvm.br ^ready
  ^ready:
    %start = llvm.load %from {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
    llvm.br ^round(%n0, %start : i32, vector<4xi32>)
  ^round(%t: i32, %value: vector<4xi32>):
    llvm.store %value, %own {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<1>
    kernel.ptx "fence.proxy.async.global"() : () -> ()
    nvvm.barrier0
    llvm.cond_br %first_thread, ^load, ^loading
  ^load:
    %coming = kernel.ptx "mbarrier.arrive.expect_tx.shared.b64"(%barrier, %n1024) : (!llvm.ptr<3>, i32) -> i64
    kernel.ptx "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"(%shared, %written, %n1024, %barrier) : (!llvm.ptr<3>, !llvm.ptr<1>, i32, !llvm.ptr<3>) -> ()
    llvm.br ^loading
  ^loading:
    %parity = llvm.and %t, %n1 : i32
$WAIT    %mine = llvm.load %own_loaded {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xi32>
    %theirs = llvm.load %next_loaded {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xi32>
    %sum = llvm.add %mine, %theirs : vector<4xi32>
    llvm.store %sum, %result {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<3>
    kernel.ptx "fence.proxy.async.shared::cta"() : () -> ()
    nvvm.barrier0
    llvm.cond_br %first_thread, ^write, ^written
  ^write:
    kernel.ptx "cp.async.bulk.global.shared::cta.bulk_group"(%copied, %results, %n1024) : (!llvm.ptr<1>, !llvm.ptr<3>, i32) -> ()
    kernel.ptx "cp.async.bulk.commit_group"() : () -> ()
    kernel.ptx "cp.async.bulk.wait_group 0"() : () -> ()
    llvm.br ^written
  ^written:
    nvvm.barrier0
    %read = llvm.load %others {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
    %t_next = llvm.add %t, %n1 : i32
    %more = llvm.icmp "ult" %t_next, %n3 : i32
    llvm.cond_br %more, ^round(%t_next, %read : i32, vector<4xi32>), ^done
  ^done:
    llvm.store %read, %to {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<1>)",
           {{"WAIT", waitFor("is_loaded", "%barrier", "%parity")}});
  Case made;
  made.name = "pipeline_global";
  made.instruction = "fence.proxy.async.global";
  made.since = 90;
  made.threads = bytes / 16;
  made.shared = barrierAt + 8;
  made.kernel = kernelOf(made.name, body, made.threads,
                         "%in: !llvm.ptr<1>, %out: !llvm.ptr<1>, %written: !llvm.ptr<1>, %copied: "
                         "!llvm.ptr<1>");
  Bytes in = randomBytes(bytes, 7);
  made.buffers = {in, Bytes(bytes), Bytes(bytes), Bytes(bytes)};
  made.check = [in](const std::vector<Bytes> &after) -> std::string {
    std::vector<uint32_t> values(bytes / 4), sums(bytes / 4);
    memcpy(values.data(), in.data(), bytes);
    for (unsigned round = 0; round < rounds; ++round) {
      for (unsigned i = 0; i < bytes / 4; ++i)
        sums[i] = values[i] + values[i ^ 4];
      for (unsigned i = 0; i < bytes / 4; ++i)
        values[i] = sums[i ^ 8];
    }
    for (unsigned i = 0; i < bytes / 4; ++i) {
      uint32_t got;
      memcpy(&got, &after[1][4 * i], 4);
      if (got != values[i])
        return format("word %u: 0x%x, not 0x%x", i, got, values[i]);
    }
    return {};
  };
  cases.push_back(std::move(made));
}

} // namespace

void addCopyPipelines(std::vector<Case> &cases) {
  addCopies(cases);
  addTrackedCopies(cases);
  addThroughGlobal(cases);
}

} // namespace instructions
