// Instructions at work together, as kernels use them: copies into stages of shared memory while the
// stages before are multiplied. By tensor copies, mbarriers and wgmma, with warps of their own to
// load; by multicast copies in clusters; CopyPipelineCases.cpp has others. What the checks of
// asynchronous operations are tested with: test/e2e/planted_faults.py breaks them in one place
// after the other.
//
// SPDX-License-Identifier: Apache-2.0
#include "test/instructions/Pipeline.h"

namespace instructions {
namespace {

using cameo::sim::TensorMapParameters;

/// "BEFORE0 AFTER, BEFORE1 AFTER, ..."; or without numbers.
std::string list(unsigned count, const std::string &before, const char *after = "",
                 bool numbered = true) {
  std::string text;
  for (unsigned i = 0; i < count; ++i)
    text += (i ? ", " : "") + before + (numbered ? std::to_string(i) : "") + after;
  return text;
}
std::string repeated(unsigned count, const char *what) { return list(count, what, "", false); }

// ---- wgmma ----

/// Stage and round of tile $T: %$N_stage, %$N_parity, %$N_full and %$N_empty, its mbarriers.
std::string stageOf(const char *name, const char *tile) {
  return fill(R"(    %$N_stage = llvm.and $TILE, %n1 : i32
    %$N_round = llvm.lshr $TILE, %n1 : i32
    %$N_parity = llvm.and %$N_round, %n1 : i32
    %$N_full = llvm.getelementptr %barriers[%$N_stage] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
    %$N_empty = llvm.getelementptr %$N_full[2] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i64
)",
              {{"N", name}, {"TILE", tile}});
}

/// 64 x 32 = A (64 x 320) B (32 x 320) transposed: a thread of the second warpgroup loads tiles of
/// 64 columns in two stages, the first warpgroup multiplies and writes by a bulk copy.
void addWarpSpecialised(std::vector<Case> &cases) {
  constexpr unsigned tiles = 5, depth = 64 * tiles, sums = 16;
  constexpr unsigned stageBytes = (64 + 32) * 128, outBytes = 64 * 32 * 4;
  constexpr unsigned outAt = 2 * stageBytes, barriersAt = outAt + outBytes;
  // One map is a parameter; the other one lies in memory, and the first thread acquires it.
  constexpr MapPlace placeA = MapPlace::Parameter, placeB = MapPlace::Global;
  auto load = [](const char *place, const char *map, MapPlace mapPlace) {
    return format("    kernel.ptx \"cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::"
                  "complete_tx::bytes\"(%s, %s, %%column, %%n0, %%p_full) : (!llvm.ptr<3>, "
                  "%s, i32, i32, !llvm.ptr<3>) -> ()\n",
                  place, map, mapType(mapPlace).c_str());
  };
  std::string body =
      numbers({0, 1, 2, 3, 4, 5, 7, 8, 16, 31, 32, 64, 128, stageBytes, outBytes}) +
      format("    %%barriers = llvm.getelementptr %%shared[%u] : (!llvm.ptr<3>) -> "
             "!llvm.ptr<3>, i8\n",
             barriersAt) +
      format("    %%staging = llvm.getelementptr %%shared[%u] : (!llvm.ptr<3>) -> "
             "!llvm.ptr<3>, i8\n",
             outAt) +
      fill(R"(    %first_thread = llvm.icmp "eq" %tid, %n0 : i32
    %producer = llvm.icmp "eq" %tid, %n128 : i32
    %consumer = llvm.icmp "ult" %tid, %n128 : i32
    llvm.cond_br %first_thread, ^set_up, ^ready
  ^set_up:
    %full1 = llvm.getelementptr %barriers[1] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i64
    %empty0 = llvm.getelementptr %barriers[2] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i64
    %empty1 = llvm.getelementptr %barriers[3] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i64
    kernel.ptx "mbarrier.init.shared.b64"(%barriers, %n1) : (!llvm.ptr<3>, i32) -> ()
    kernel.ptx "mbarrier.init.shared.b64"(%full1, %n1) : (!llvm.ptr<3>, i32) -> ()
    kernel.ptx "mbarrier.init.shared.b64"(%empty0, %n128) : (!llvm.ptr<3>, i32) -> ()
    kernel.ptx "mbarrier.init.shared.b64"(%empty1, %n128) : (!llvm.ptr<3>, i32) -> ()
    kernel.ptx "fence.proxy.async"() : () -> ()
$ACQUIRE    llvm.br ^ready
  ^ready:
    nvvm.barrier0
    llvm.cond_br %producer, ^produce(%n0 : i32), ^others
  ^produce(%p: i32):
$PSTAGE    %p_before = llvm.xor %p_parity, %n1 : i32
$PWAIT    %coming = kernel.ptx "mbarrier.arrive.expect_tx.shared.b64"(%p_full, %n$STAGE) : (!llvm.ptr<3>, i32) -> i64
    %column = llvm.mul %p, %n64 : i32
    %p_base = llvm.mul %p_stage, %n$STAGE : i32
    %p_a = llvm.getelementptr %shared[%p_base] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %p_b = llvm.getelementptr %p_a[8192] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
$LOADS    %p_next = llvm.add %p, %n1 : i32
    %p_more = llvm.icmp "ult" %p_next, %n5 : i32
    llvm.cond_br %p_more, ^produce(%p_next : i32), ^end
  ^others:
    llvm.cond_br %consumer, ^start, ^end
  ^start:
    %zero = llvm.mlir.constant(0.0 : f32) : f32
    %counts = llvm.mlir.constant(true) : i1
    %layout = llvm.mlir.constant(4611686293305360384 : i64) : i64
    %four = llvm.mlir.constant(4 : i64) : i64
    %window = llvm.mlir.constant(262143 : i64) : i64
    llvm.br ^consume(%n0, $ZEROES : i32, $TYPES)
  ^consume(%t: i32, $ARGUMENTS):
$TSTAGE$TWAIT    kernel.ptx "wgmma.fence.sync.aligned"() : () -> ()
    %t_base = llvm.mul %t_stage, %n$STAGE : i32
    %t_a = llvm.getelementptr %shared[%t_base] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %t_address = llvm.ptrtoint %t_a : !llvm.ptr<3> to i64
    %t_place = llvm.and %t_address, %window : i64
    %t_chunk = llvm.lshr %t_place, %four : i64
    %t_first = llvm.add %t_chunk, %layout : i64
)",
           {{"PSTAGE", stageOf("p", "%p")},
            {"PWAIT", waitFor("p_is_empty", "%p_empty", "%p_before")},
            {"LOADS", load("%p_a", "%map_a", placeA) + load("%p_b", "%map_b", placeB)},
            {"ACQUIRE", acquireMap("%map_b", placeB)},
            {"STAGE", std::to_string(stageBytes)},
            {"ZEROES", repeated(sums, "%zero")},
            {"TYPES", repeated(sums, "f32")},
            {"ARGUMENTS", list(sums, "%c", ": f32")},
            {"TSTAGE", stageOf("t", "%t")},
            {"TWAIT", waitFor("t_is_full", "%t_full", "%t_parity")}});
  std::string before = list(sums, "%c");
  for (unsigned k = 0; k < 4; ++k) {
    body += format("    %%k%u = llvm.mlir.constant(%u : i64) : i64\n"
                   "    %%a%u = llvm.add %%t_first, %%k%u : i64\n"
                   "    %%k%u_b = llvm.mlir.constant(%u : i64) : i64\n"
                   "    %%b%u = llvm.add %%t_first, %%k%u_b : i64\n",
                   k, 2 * k, k, k, k, 8192 / 16 + 2 * k, k, k);
    body += format("    %%d%u:%u = kernel.ptx \"wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 "
                   "1,1,0,0\"(%%a%u, %%b%u, %%counts, ",
                   k, sums, k, k) +
            before + ") : (i64, i64, i1, " + repeated(sums, "f32") + ") -> (" +
            repeated(sums, "f32") + ")\n";
    before = list(sums, format("%%d%u#", k).c_str());
  }
  body += fill(R"(    kernel.ptx "wgmma.commit_group.sync.aligned"() : () -> ()
    kernel.ptx "wgmma.wait_group.sync.aligned 0"() : () -> ()
    %used = kernel.ptx "mbarrier.arrive.shared.b64"(%t_empty) : (!llvm.ptr<3>) -> i64
    %t_next = llvm.add %t, %n1 : i32
    %t_more = llvm.icmp "ult" %t_next, %n5 : i32
    llvm.cond_br %t_more, ^consume(%t_next, $SUMS : i32, $TYPES), ^finish
  ^finish:
    %warp = llvm.lshr %tid, %n5 : i32
    %warp_row = llvm.mul %warp, %n16 : i32
    %g = llvm.lshr %lane, %n2 : i32
    %row = llvm.add %warp_row, %g : i32
    %row_bytes = llvm.mul %row, %n128 : i32
    %pair = llvm.and %lane, %n3 : i32
    %pair_bytes = llvm.mul %pair, %n8 : i32
    %own_bytes = llvm.add %row_bytes, %pair_bytes : i32
    %own = llvm.getelementptr %staging[%own_bytes] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
)",
               {{"SUMS", before}, {"TYPES", repeated(sums, "f32")}});
  for (unsigned i = 0; i < sums; ++i)
    body +=
        format("    %%own%u = llvm.getelementptr %%own[%u] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8\n"
               "    llvm.store %%d3#%u, %%own%u : f32, !llvm.ptr<3>\n",
               i, i / 2 % 2 * 8 * 128 + i / 4 * 32 + i % 2 * 4, i, i);
  body += R"(    kernel.ptx "fence.proxy.async.shared::cta"() : () -> ()
    nvvm.barrier id = %n1 number_of_threads = %n128
    llvm.cond_br %first_thread, ^write, ^end
  ^write:
    kernel.ptx "cp.async.bulk.global.shared::cta.bulk_group"(%out, %staging, %n8192) : (!llvm.ptr<1>, !llvm.ptr<3>, i32) -> ()
    kernel.ptx "cp.async.bulk.commit_group"() : () -> ()
    kernel.ptx "cp.async.bulk.wait_group.read 0"() : () -> ()
    llvm.br ^end
  ^end:)";
  Case made;
  made.name = "pipeline_wgmma";
  made.instruction = "wgmma.mma_async";
  made.since = 90;
  made.threads = 256;
  made.shared = barriersAt + 4 * 8;
  made.kernel =
      kernelOf(made.name, body, made.threads,
               "%in: !llvm.ptr<1>, %out: !llvm.ptr<1>, " + mapParameter("%map_a", placeA) +
                   ", %b: !llvm.ptr<1>, " + mapParameter("%map_b", placeB));
  Bytes a = smallNumbers(64, depth, 4), b = smallNumbers(32, depth, 5);
  made.buffers = {a, Bytes(outBytes), Bytes(128), b, Bytes(128)};
  TensorMapParameters map;
  map.type = 6; // f16
  map.rank = 2;
  map.sizes[0] = depth;
  map.sizes[1] = 64;
  map.strides[0] = depth * 2;
  map.box[0] = map.box[1] = 64;
  map.swizzle = 3;
  made.maps.push_back({2, 0, map, placeA});
  map.sizes[1] = map.box[1] = 32;
  made.maps.push_back({4, 3, map, placeB});
  made.check = [a, b](const std::vector<Bytes> &after) {
    return checkProduct(a.data(), b.data(), 64, 32, depth, after[1]);
  };
  cases.push_back(std::move(made));
}

// ---- Multicast ----

/// Clusters of two blocks add up five tiles of 512 bytes; each block loads half of a tile for both,
/// into two stages. Then each gets the other's sums, times its rank + 1, by st.async.
void addMulticast(std::vector<Case> &cases) {
  constexpr unsigned tiles = 5, tileBytes = 512, barriersAt = 3 * tileBytes;
  std::string body =
      numbers({0, 1, 2, 5, 16, 31, 32, 64, 256, tileBytes}) +
      format("    %%barriers = llvm.getelementptr %%shared[%u] : (!llvm.ptr<3>) -> !llvm.ptr<3>, "
             "i8\n    %%exchange = llvm.getelementptr %%shared[%u] : (!llvm.ptr<3>) -> "
             "!llvm.ptr<3>, i8\n",
             barriersAt, 2 * tileBytes) +
      fill(R"(    %both = llvm.mlir.constant(3 : i16) : i16
    %rank = nvvm.read.ptx.sreg.cluster.ctarank : i32
    %other = llvm.xor %rank, %n1 : i32
    %first_thread = llvm.icmp "eq" %tid, %n0 : i32
    %consumer = llvm.icmp "ugt" %tid, %n31 : i32
    %received = llvm.getelementptr %barriers[4] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i64
    llvm.cond_br %first_thread, ^set_up, ^ready
  ^set_up:
    %full1 = llvm.getelementptr %barriers[1] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i64
    %empty0 = llvm.getelementptr %barriers[2] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i64
    %empty1 = llvm.getelementptr %barriers[3] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i64
    kernel.ptx "mbarrier.init.shared.b64"(%barriers, %n1) : (!llvm.ptr<3>, i32) -> ()
    kernel.ptx "mbarrier.init.shared.b64"(%full1, %n1) : (!llvm.ptr<3>, i32) -> ()
    kernel.ptx "mbarrier.init.shared.b64"(%empty0, %n64) : (!llvm.ptr<3>, i32) -> ()
    kernel.ptx "mbarrier.init.shared.b64"(%empty1, %n64) : (!llvm.ptr<3>, i32) -> ()
    kernel.ptx "mbarrier.init.shared.b64"(%received, %n1) : (!llvm.ptr<3>, i32) -> ()
    kernel.ptx "fence.mbarrier_init.release.cluster"() : () -> ()
    %sums_coming = kernel.ptx "mbarrier.arrive.expect_tx.shared.b64"(%received, %n512) : (!llvm.ptr<3>, i32) -> i64
    llvm.br ^ready
  ^ready:
    kernel.ptx "barrier.cluster.arrive.release.aligned"() : () -> ()
    kernel.ptx "barrier.cluster.wait.acquire.aligned"() : () -> ()
    llvm.cond_br %first_thread, ^produce(%n0 : i32), ^others
  ^produce(%p: i32):
$PSTAGE    %p_before = llvm.xor %p_parity, %n1 : i32
$PWAIT    %coming = kernel.ptx "mbarrier.arrive.expect_tx.shared.b64"(%p_full, %n512) : (!llvm.ptr<3>, i32) -> i64
    %p_half = llvm.mul %rank, %n256 : i32
    %p_tile = llvm.mul %p, %n512 : i32
    %p_from = llvm.add %p_tile, %p_half : i32
    %p_source = llvm.getelementptr %in[%p_from] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
    %p_base = llvm.mul %p_stage, %n512 : i32
    %p_to = llvm.add %p_base, %p_half : i32
    %p_target = llvm.getelementptr %shared[%p_to] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    kernel.ptx "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"(%p_target, %p_source, %n256, %p_full, %both) : (!llvm.ptr<3>, !llvm.ptr<1>, i32, !llvm.ptr<3>, i16) -> ()
    %p_next = llvm.add %p, %n1 : i32
    %p_more = llvm.icmp "ult" %p_next, %n5 : i32
    llvm.cond_br %p_more, ^produce(%p_next : i32), ^end
  ^others:
    %sum = llvm.mlir.constant(dense<0> : vector<4xi32>) : vector<4xi32>
    %own_bytes = llvm.mul %lane, %n16 : i32
    llvm.cond_br %consumer, ^consume(%n0, %sum : i32, vector<4xi32>), ^end
  ^consume(%t: i32, %s: vector<4xi32>):
$TSTAGE$TWAIT    %t_base = llvm.mul %t_stage, %n512 : i32
    %t_own = llvm.add %t_base, %own_bytes : i32
    %t_at = llvm.getelementptr %shared[%t_own] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %values = llvm.load %t_at {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xi32>
    %s_next = llvm.add %s, %values : vector<4xi32>
    kernel.ptx "fence.proxy.async"() : () -> ()
    %own_empty = kernel.ptx "mapa.shared::cluster.u32"(%t_empty, %rank) : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>
    kernel.ptx "mbarrier.arrive.release.cluster.shared::cluster.b64"(%own_empty) : (!llvm.ptr<3>) -> ()
    %other_empty = kernel.ptx "mapa.shared::cluster.u32"(%t_empty, %other) : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>
    kernel.ptx "mbarrier.arrive.release.cluster.shared::cluster.b64"(%other_empty) : (!llvm.ptr<3>) -> ()
    %t_next = llvm.add %t, %n1 : i32
    %t_more = llvm.icmp "ult" %t_next, %n5 : i32
    llvm.cond_br %t_more, ^consume(%t_next, %s_next : i32, vector<4xi32>), ^send
  ^send:
    %factor = llvm.add %rank, %n1 : i32
    %place = llvm.getelementptr %exchange[%own_bytes] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %remote = kernel.ptx "mapa.shared::cluster.u32"(%place, %other) : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>
    %remote_received = kernel.ptx "mapa.shared::cluster.u32"(%received, %other) : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>
$PRODUCTS    kernel.ptx "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32"(%remote, %m0, %m1, %m2, %m3, %remote_received) : (!llvm.ptr<3>, i32, i32, i32, i32, !llvm.ptr<3>) -> ()
$RWAIT    %others_sum = llvm.load %place {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xi32>
    %total = llvm.add %s_next, %others_sum : vector<4xi32>
    %out_block = llvm.mul %block, %n512 : i32
    %out_at = llvm.add %out_block, %own_bytes : i32
    %to = llvm.getelementptr %out[%out_at] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
    llvm.store %total, %to {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<1>
    llvm.br ^end
  ^end:
    nvvm.barrier0
    kernel.ptx "barrier.cluster.arrive.release.aligned"() : () -> ()
    kernel.ptx "barrier.cluster.wait.acquire.aligned"() : () -> ())",
           {{"PSTAGE", stageOf("p", "%p")},
            {"PWAIT", waitFor("p_is_empty", "%p_empty", "%p_before")},
            {"TSTAGE", stageOf("t", "%t")},
            {"TWAIT", waitFor("t_is_full", "%t_full", "%t_parity")},
            {"RWAIT", waitFor("is_received", "%received", "%n0")},
            {"PRODUCTS", [] {
               std::string text;
               for (unsigned i = 0; i < 4; ++i)
                 text += format("    %%i%u = llvm.mlir.constant(%u : i32) : i32\n"
                                "    %%s%u = llvm.extractelement %%s_next[%%i%u : i32] : "
                                "vector<4xi32>\n    %%m%u = llvm.mul %%s%u, %%factor : i32\n",
                                i, i, i, i, i, i);
               return text;
             }()}});
  Case made;
  made.name = "pipeline_multicast";
  made.instruction = "cp.async.bulk.shared::cluster.global.multicast::cluster";
  made.since = 90;
  made.blocks = 4;
  made.cluster = 2;
  made.threads = 64;
  made.shared = barriersAt + 5 * 8;
  made.kernel = kernelOf(made.name, body, made.threads, "%in: !llvm.ptr<1>, %out: !llvm.ptr<1>", 2);
  Bytes in = randomBytes(tiles * tileBytes, 6);
  made.buffers = {in, Bytes(4 * tileBytes)};
  made.check = [in](const std::vector<Bytes> &after) -> std::string {
    for (unsigned block = 0; block < 4; ++block)
      for (unsigned i = 0; i < tileBytes; i += 4) {
        uint32_t sum = 0, value, got;
        for (unsigned tile = 0; tile < tiles; ++tile) {
          memcpy(&value, &in[tile * tileBytes + i], 4);
          sum += value;
        }
        memcpy(&got, &after[1][block * tileBytes + i], 4);
        if (uint32_t wanted = sum + sum * ((block + 1) % 2 + 1); got != wanted)
          return format("block %u, byte %u: 0x%x, not 0x%x", block, i, got, wanted);
      }
    return {};
  };
  cases.push_back(std::move(made));
}

} // namespace

void addPipelineCases(std::vector<Case> &cases) {
  addCopyPipelines(cases);
  addWarpSpecialised(cases);
  addMulticast(cases);
}

} // namespace instructions
