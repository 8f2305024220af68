// Clusters of blocks (PTX ISA, "Special Registers: %clusterid" and those that follow it; "Data
// Movement and Conversion Instructions: mapa, getctarank, st.async"; "Parallel Synchronization and
// Communication Instructions: barrier.cluster, red.async, mbarrier"): each block hands data to the
// next one of its cluster.
//
// SPDX-License-Identifier: Apache-2.0
#include "test/instructions/Case.h"

#include <algorithm>

namespace instructions {
namespace {

constexpr unsigned kCluster = 4, kBlocks = 8, kThreads = 64, kRecord = 16;
constexpr unsigned kBytes = kThreads * kRecord; // of a block

const char *const kBarrier = R"(    kernel.ptx "barrier.cluster.arrive.release.aligned"() : () -> ()
    kernel.ptx "barrier.cluster.wait.acquire.aligned"() : () -> ()
)";

/// What all bodies begin with: %rank, %next (the block to hand data to), %own and %remote (the
/// thread's 16 bytes in its own block and in the next), %barrier and %remote_barrier behind the
/// data, %from and %to (the thread's 16 bytes of the parameters).
const char *const kBegin = R"(    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %sixteen = llvm.mlir.constant(16 : i32) : i32
    %bytes = llvm.mlir.constant(1024 : i32) : i32
    %rank = nvvm.read.ptx.sreg.cluster.ctarank : i32
    %size = nvvm.read.ptx.sreg.cluster.nctarank : i32
    %plus = llvm.add %rank, %one : i32
    %next = llvm.urem %plus, %size : i32
    %offset = llvm.mul %tid, %sixteen : i32
    %own = llvm.getelementptr %shared[%offset] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %remote = kernel.ptx "mapa.shared::cluster.u32"(%own, %next) : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>
    %barrier = llvm.getelementptr %shared[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %remote_barrier = kernel.ptx "mapa.shared::cluster.u32"(%barrier, %next) : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>
    %sixteen64 = llvm.mlir.constant(16 : i64) : i64
    %record_offset = llvm.mul %record, %sixteen64 : i64
    %from = llvm.getelementptr %in[%record_offset] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
    %to = llvm.getelementptr %out[%record_offset] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
    %first_thread = llvm.icmp "eq" %tid, %zero : i32
)";

/// An mbarrier for `count` arrivals.
std::string initialise(const std::string &count) {
  return "    llvm.cond_br %first_thread, ^set_up, ^ready\n  ^set_up:\n"
         "    kernel.ptx \"mbarrier.init.shared.b64\"(%barrier, " +
         count +
         ") : (!llvm.ptr<3>, i32) -> ()\n"
         "    kernel.ptx \"fence.mbarrier_init.release.cluster\"() : () -> ()\n"
         "    llvm.br ^ready\n  ^ready:\n";
}

/// The first thread says how many bytes are to come.
const char *const kExpect = R"(    llvm.cond_br %first_thread, ^expect, ^expected
  ^expect:
    %state = kernel.ptx "mbarrier.arrive.expect_tx.shared.b64"(%barrier, %bytes) : (!llvm.ptr<3>, i32) -> i64
    llvm.br ^expected
  ^expected:
)";

const char *const kWait = R"(    llvm.br ^wait
  ^wait:
    %done = kernel.ptx "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64"(%barrier, %zero) : (!llvm.ptr<3>, i32) -> i1
    llvm.cond_br %done, ^done, ^wait
  ^done:
)";

/// `count` values %NAME0 ... of `type` from or to the 16 bytes at `place`.
std::string access(bool load, const std::string &name, unsigned count, unsigned bytes,
                   const std::string &type, const std::string &place, unsigned space) {
  std::string text;
  for (unsigned i = 0; i < count; ++i) {
    std::string value = format("%%%s%u", name.c_str(), i);
    std::string at = format("%%%s_%s%u", place.c_str() + 1, name.c_str(), i);
    text += format("    %s = llvm.getelementptr %s[%u] : (!llvm.ptr<%u>) -> !llvm.ptr<%u>, i8\n",
                   at.c_str(), place.c_str(), i * bytes, space, space);
    text += load ? format("    %s = llvm.load %s : !llvm.ptr<%u> -> %s\n", value.c_str(),
                          at.c_str(), space, type.c_str())
                 : format("    llvm.store %s, %s : %s, !llvm.ptr<%u>\n", value.c_str(), at.c_str(),
                          type.c_str(), space);
  }
  return text;
}

std::string repeat(unsigned count, const std::string &before, bool numbered) {
  std::string text;
  for (unsigned i = 0; i < count; ++i)
    text += (i ? ", " : "") + before + (numbered ? std::to_string(i) : "");
  return text;
}

Case makeCase(const std::string &name, const std::string &instruction, const std::string &body,
              unsigned cluster = kCluster) {
  Case made;
  made.name = "cluster_" + name;
  std::replace_if(
      made.name.begin(), made.name.end(), [](char c) { return c == '.' || c == ':'; }, '_');
  made.instruction = instruction;
  made.since = 90;
  made.blocks = 2 * cluster;
  made.threads = kThreads;
  made.cluster = cluster;
  made.shared = kBytes + 16;
  made.kernel = kernelOf(made.name, kBegin + body, kThreads,
                         "%in: !llvm.ptr<1>, %out: !llvm.ptr<1>", cluster);
  made.buffers = {randomBytes(made.blocks * kBytes, 5 + name.size()), Bytes(made.blocks * kBytes)};
  return made;
}

/// The block that `block` hands its data to.
unsigned nextOf(unsigned block, unsigned cluster = kCluster) {
  return block / cluster * cluster + (block % cluster + 1) % cluster;
}

/// The first `bytes` of each 16 are what the block before had, or the one after.
void checkHandedOver(Case &made, unsigned bytes, bool fromNext) {
  made.check = [=, in = made.buffers[0]](const std::vector<Bytes> &after) -> std::string {
    for (unsigned block = 0; block < kBlocks; ++block)
      for (unsigned i = 0; i < kBytes; ++i) {
        unsigned target = fromNext ? block : nextOf(block);
        unsigned source = fromNext ? nextOf(block) : block;
        uint8_t wanted = i % kRecord < bytes ? in[source * kBytes + i] : 0;
        if (after[1][target * kBytes + i] != wanted)
          return format("block %u, byte %u: 0x%02x, not 0x%02x", target, i,
                        after[1][target * kBytes + i], wanted);
      }
    return {};
  };
}

struct Element {
  const char *ptx, *llvm;
  unsigned bytes, count;
};
const Element kElements[] = {{"b32", "i32", 4, 1},    {"f32", "f32", 4, 1},
                             {"b64", "i64", 8, 1},    {"f64", "f64", 8, 1},
                             {"v2.b32", "i32", 4, 2}, {"v4.f32", "f32", 4, 4},
                             {"v2.b64", "i64", 8, 2}, {"v4.b32", "i32", 4, 4}};

void addMemory(std::vector<Case> &cases, const Element &element) {
  unsigned count = element.count, bytes = element.bytes;
  std::string type = element.llvm, types = repeat(count, type, false);
  std::string in = access(true, "a", count, bytes, type, "%from", 1);
  std::string load = std::string("ld.shared::cluster.") + element.ptx;
  std::string text = in + access(false, "a", count, bytes, type, "%own", 3) + kBarrier;
  text += format("    %%d:%u = kernel.ptx \"%s\"(%%remote) : (!llvm.ptr<3>) -> (%s)\n", count,
                 load.c_str(), types.c_str());
  for (unsigned i = 0; i < count; ++i) {
    text +=
        format("    %%to%u = llvm.getelementptr %%to[%u] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8\n", i,
               i * bytes);
    text += format("    llvm.store %%d#%u, %%to%u : %s, !llvm.ptr<1>\n", i, i, type.c_str());
  }
  cases.push_back(makeCase(load, load, text + kBarrier));
  checkHandedOver(cases.back(), count * bytes, true);

  std::string store = std::string("st.shared::cluster.") + element.ptx;
  std::string values = repeat(count, "%a", true);
  std::string out = access(true, "b", count, bytes, type, "%own", 3) +
                    access(false, "b", count, bytes, type, "%to", 1);
  text = in + kBarrier + "    kernel.ptx \"" + store + "\"(%remote, " + values +
         ") : (!llvm.ptr<3>, " + types + ") -> ()\n" + kBarrier + out;
  cases.push_back(makeCase(store, store, text));
  checkHandedOver(cases.back(), count * bytes, false);

  if (bytes * count == 16 && type[0] == 'i')
    return; // the same bits as another
  std::string async =
      std::string("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.") + element.ptx;
  text = format("    %%coming = llvm.mlir.constant(%u : i32) : i32\n", kThreads * count * bytes) +
         initialise("%one") + kExpect + kBarrier + in + "    kernel.ptx \"" + async +
         "\"(%remote, " + values + ", %remote_barrier) : (!llvm.ptr<3>, " + types +
         ", !llvm.ptr<3>) -> ()\n" + kWait + out;
  size_t at = text.find("(%barrier, %bytes)");
  text.replace(at, strlen("(%barrier, %bytes)"), "(%barrier, %coming)");
  cases.push_back(makeCase(async, async, text));
  checkHandedOver(cases.back(), count * bytes, false);
}

/// The block's word is `in`'s second one; the block before combines its first with it.
void addReduction(std::vector<Case> &cases, const std::string &operation, const std::string &type,
                  bool async, const std::function<uint64_t(uint64_t, uint64_t)> &combine) {
  bool wide = type == "u64";
  unsigned bytes = wide ? 8 : 4;
  std::string llvm = wide ? "i64" : "i32";
  std::string name = async
                         ? "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes."
                         : "atom.shared::cluster.";
  name += operation + "." + type;
  std::string text = access(true, "a", 2, bytes, llvm, "%from", 1);
  text += format("    llvm.store %%a1, %%own : %s, !llvm.ptr<3>\n", llvm.c_str());
  if (async)
    text += format("    %%coming = llvm.mlir.constant(%u : i32) : i32\n", kThreads * bytes) +
            initialise("%one") +
            "    llvm.cond_br %first_thread, ^expect, ^expected\n  ^expect:\n"
            "    %state = kernel.ptx \"mbarrier.arrive.expect_tx.shared.b64\"(%barrier, %coming) : "
            "(!llvm.ptr<3>, i32) -> i64\n    llvm.br ^expected\n  ^expected:\n";
  text += kBarrier;
  if (async)
    text += "    kernel.ptx \"" + name + "\"(%remote, %a0, %remote_barrier) : (!llvm.ptr<3>, " +
            llvm + ", !llvm.ptr<3>) -> ()\n" + kWait;
  else
    text += "    %old = kernel.ptx \"" + name + "\"(%remote, %a0) : (!llvm.ptr<3>, " + llvm +
            ") -> " + llvm + "\n" + kBarrier;
  text +=
      access(true, "b", 1, bytes, llvm, "%own", 3) + access(false, "b", 1, bytes, llvm, "%to", 1);
  cases.push_back(makeCase(name, name, text));
  Case &made = cases.back();
  made.check = [=, in = made.buffers[0]](const std::vector<Bytes> &after) -> std::string {
    for (unsigned block = 0; block < kBlocks; ++block)
      for (unsigned thread = 0; thread < kThreads; ++thread) {
        uint64_t value = 0, own = 0, got = 0;
        size_t target = nextOf(block) * kBytes + thread * kRecord;
        memcpy(&value, &in[block * kBytes + thread * kRecord], bytes);
        memcpy(&own, &in[target + bytes], bytes);
        memcpy(&got, &after[1][target], bytes);
        uint64_t wanted = combine(own, value) & (wide ? ~0ull : 0xffffffffull);
        if (got != wanted)
          return format("block %u, thread %u: 0x%llx, not 0x%llx", nextOf(block), thread,
                        (unsigned long long)got, (unsigned long long)wanted);
      }
    return {};
  };
}

void addReductions(std::vector<Case> &cases) {
  for (bool async : {false, true}) {
    auto add = [&](const char *operation, const char *type, auto combine) {
      addReduction(cases, operation, type, async, combine);
    };
    add("add", "u32", [](uint64_t a, uint64_t b) { return a + b; });
    add("add", "u64", [](uint64_t a, uint64_t b) { return a + b; });
    add("min", "u32", [](uint64_t a, uint64_t b) { return std::min(a, b); });
    add("max", "s32",
        [](uint64_t a, uint64_t b) { return uint64_t(std::max(int32_t(a), int32_t(b))); });
    add("inc", "u32", [](uint64_t a, uint64_t b) { return a >= b ? 0 : a + 1; });
    add("dec", "u32", [](uint64_t a, uint64_t b) { return a == 0 || a > b ? b : a - 1; });
    add("and", "b32", [](uint64_t a, uint64_t b) { return a & b; });
    add("or", "b32", [](uint64_t a, uint64_t b) { return a | b; });
    add("xor", "b32", [](uint64_t a, uint64_t b) { return a ^ b; });
  }
  addReduction(cases, "exch", "b32", false, [](uint64_t, uint64_t b) { return b; });
}

/// Data stored in the next block, and an arrival at its mbarrier.
void addArrivals(std::vector<Case> &cases) {
  struct Arrival {
    const char *name, *operand;
    unsigned count; // that the mbarrier is initialised with
    const char *before;
  };
  const char *expectLater =
      R"(    kernel.ptx "mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64"(%remote_barrier, %sixteen) : (!llvm.ptr<3>, i32) -> ()
    kernel.ptx "mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64"(%remote_barrier, %sixteen) : (!llvm.ptr<3>, i32) -> ()
)";
  const char *completed =
      R"(    kernel.ptx "mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64"(%remote_barrier, %sixteen) : (!llvm.ptr<3>, i32) -> ()
)";
  for (const Arrival &arrival :
       {Arrival{"mbarrier.arrive.release.cluster.shared::cluster.b64", "", kThreads, expectLater},
        Arrival{"mbarrier.arrive.release.cluster.shared::cluster.b64", ", %two", 2 * kThreads, ""},
        Arrival{"mbarrier.arrive_drop.release.cluster.shared::cluster.b64", "", kThreads, ""},
        Arrival{"mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64", ", %sixteen",
                kThreads, completed}}) {
    bool counted = arrival.operand[0];
    std::string text = access(true, "a", 1, 4, "i32", "%from", 1);
    text += format("    %%two = llvm.mlir.constant(2 : i32) : i32\n"
                   "    %%arrivals = llvm.mlir.constant(%u : i32) : i32\n",
                   arrival.count);
    text += initialise("%arrivals") + kBarrier +
            "    kernel.ptx \"st.shared::cluster.b32\"(%remote, %a0) : (!llvm.ptr<3>, i32) -> ()\n";
    // A transaction that is complete before it is expected may go below zero.
    text += arrival.before;
    text += std::string("    kernel.ptx \"") + arrival.name + "\"(%remote_barrier" +
            arrival.operand + ") : (!llvm.ptr<3>" + (counted ? ", i32" : "") + ") -> ()\n" + kWait +
            access(true, "b", 1, 4, "i32", "%own", 3) + access(false, "b", 1, 4, "i32", "%to", 1);
    cases.push_back(makeCase(format("%s_%zu", arrival.name, cases.size()), arrival.name, text));
    checkHandedOver(cases.back(), 4, false);
  }
}

/// Bulk copies: the block's shared memory to the next one's, or from global memory to several.
void addBulk(std::vector<Case> &cases) {
  std::string copy = "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes";
  std::string fill = access(true, "a", 4, 4, "i32", "%from", 1) +
                     "    %source = llvm.getelementptr %own[1040] : (!llvm.ptr<3>) -> "
                     "!llvm.ptr<3>, i8\n" +
                     access(false, "a", 4, 4, "i32", "%source", 3) +
                     "    kernel.ptx \"fence.proxy.async.shared::cta\"() : () -> ()\n";
  std::string text = fill + initialise("%one") + kExpect + kBarrier +
                     "    llvm.cond_br %first_thread, ^copy, ^copied\n  ^copy:\n    kernel.ptx \"" +
                     copy +
                     "\"(%remote, %source, %bytes, %remote_barrier) : (!llvm.ptr<3>, "
                     "!llvm.ptr<3>, i32, !llvm.ptr<3>) -> ()\n    llvm.br ^copied\n  ^copied:\n" +
                     kWait + access(true, "b", 4, 4, "i32", "%own", 3) +
                     access(false, "b", 4, 4, "i32", "%to", 1) + kBarrier;
  cases.push_back(makeCase("bulk_shared", copy, text));
  cases.back().shared = 2 * kBytes + 16;
  checkHandedOver(cases.back(), kRecord, false);
}

/// The second block of each cluster loads for the blocks in `mask`; a tensor's 16 x 16 box of f32,
/// or as many plain bytes.
void addMulticast(std::vector<Case> &cases, bool tensor, unsigned mask,
                  MapPlace place = MapPlace::Parameter) {
  std::string copy = tensor ? "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::"
                              "complete_tx::bytes.multicast::cluster"
                            : "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes."
                              "multicast::cluster";
  std::string call =
      tensor ? "\"(%shared, %map, %four, %zero, %barrier, %mask16) : (!llvm.ptr<3>, " +
                   mapType(place) + ", i32, i32, !llvm.ptr<3>, i16) -> ()\n"
             : "\"(%shared, %in, %bytes, %barrier, %mask16) : (!llvm.ptr<3>, !llvm.ptr<1>, i32, "
               "!llvm.ptr<3>, i16) -> ()\n";
  std::string text =
      format("    %%four = llvm.mlir.constant(4 : i32) : i32\n"
             "    %%mask = llvm.mlir.constant(%u : i32) : i32\n"
             "    %%mask16 = llvm.trunc %%mask : i32 to i16\n"
             "    %%shifted = llvm.lshr %%mask, %%rank : i32\n"
             "    %%is_target = llvm.trunc %%shifted : i32 to i1\n"
             "    %%is_second = llvm.icmp \"eq\" %%rank, %%one : i32\n"
             "    %%loads = llvm.and %%is_second, %%first_thread : i1\n",
             mask) +
      initialise("%one") + kExpect + kBarrier +
      (tensor ? "    kernel.ptx \"prefetch.tensormap\"(%map) : (" + mapType(place) + ") -> ()\n"
              : "") +
      "    llvm.cond_br %loads, ^copy, ^copied\n  ^copy:\n" +
      (tensor ? acquireMap("%map", place) : "") + "    kernel.ptx \"" + copy + call +
      "    llvm.br ^copied\n  ^copied:\n    llvm.cond_br %is_target, ^wait, ^end\n"
      "  ^wait:\n"
      "    %done = kernel.ptx "
      "\"mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64\"(%barrier,"
      " %zero) : (!llvm.ptr<3>, i32) -> i1\n"
      "    llvm.cond_br %done, ^done, ^wait\n  ^done:\n" +
      access(true, "b", 4, 4, "i32", "%own", 3) + access(false, "b", 4, 4, "i32", "%to", 1) +
      "    llvm.br ^end\n  ^end:\n" + kBarrier;
  Case made = makeCase(format("multicast_%s_%u%s", tensor ? "tensor" : "bulk", mask,
                              place == MapPlace::Global ? "_global" : ""),
                       copy, "");
  made.kernel = kernelOf(made.name, kBegin + text, kThreads,
                         "%in: !llvm.ptr<1>, %out: !llvm.ptr<1>" +
                             (tensor ? ", " + mapParameter("%map", place) : std::string()),
                         kCluster);
  if (tensor) {
    made.buffers.push_back(Bytes(128));
    cameo::sim::TensorMapParameters map;
    map.type = 7; // f32
    map.rank = 2;
    map.sizes[0] = 20;
    map.sizes[1] = 16;
    map.strides[0] = 80;
    map.box[0] = map.box[1] = 16;
    made.maps = {{2, 0, map, place}};
  }
  made.check = [=, in = made.buffers[0]](const std::vector<Bytes> &after) -> std::string {
    for (unsigned block = 0; block < kBlocks; ++block)
      for (unsigned i = 0; i < kBytes; ++i) {
        unsigned source = tensor ? i / 64 * 80 + 16 + i % 64 : i;
        uint8_t wanted = mask >> block % kCluster & 1 ? in[source] : 0;
        if (after[1][block * kBytes + i] != wanted)
          return format("block %u, byte %u: 0x%02x, not 0x%02x", block, i,
                        after[1][block * kBytes + i], wanted);
      }
    return {};
  };
  cases.push_back(std::move(made));
}

/// The registers of clusters, as nvvm has them, and getctarank of an address in the next block.
void addRegisters(std::vector<Case> &cases, unsigned cluster) {
  std::string text = R"(    %clusterid = nvvm.read.ptx.sreg.clusterid.x : i32
    %nclusterid = nvvm.read.ptx.sreg.nclusterid.x : i32
    %ctaid_in = nvvm.read.ptx.sreg.cluster.ctaid.x : i32
    %nctaid_in = nvvm.read.ptx.sreg.cluster.nctaid.x : i32
    %found = kernel.ptx "getctarank.shared::cluster.u32"(%remote) : (!llvm.ptr<3>) -> i32
    %w0 = llvm.mul %clusterid, %sixteen : i32
    %value0 = llvm.add %w0, %nclusterid : i32
    %w1 = llvm.mul %ctaid_in, %sixteen : i32
    %value1 = llvm.add %w1, %nctaid_in : i32
    %w2 = llvm.mul %rank, %sixteen : i32
    %value2 = llvm.add %w2, %size : i32
    %w3 = llvm.mul %found, %sixteen : i32
    %value3 = llvm.add %w3, %one : i32
)" + access(false, "value", 4, 4, "i32", "%to", 1);
  cases.push_back(
      makeCase(format("registers_%u", cluster), "getctarank.shared::cluster.u32", text, cluster));
  cases.back().check = [=](const std::vector<Bytes> &after) -> std::string {
    for (unsigned block = 0; block < 2 * cluster; ++block) {
      unsigned rank = block % cluster;
      unsigned wanted[4] = {block / cluster * 16 + 2, rank * 16 + cluster, rank * 16 + cluster,
                            (rank + 1) % cluster * 16 + 1};
      for (unsigned i = 0; i < 4; ++i) {
        uint32_t got;
        memcpy(&got, &after[1][block * kBytes + 4 * i], 4);
        if (got != wanted[i])
          return format("block %u, register %u: %u, not %u", block, i, got, wanted[i]);
      }
    }
    return {};
  };
}

/// Arrivals without order, which a fence gives.
void addRelaxed(std::vector<Case> &cases, bool nvvm) {
  std::string barrier = nvvm
                            ? "    nvvm.cluster.arrive {aligned}\n    nvvm.cluster.wait {aligned}\n"
                            : "    kernel.ptx \"barrier.cluster.arrive\"() : () -> ()\n"
                              "    kernel.ptx \"barrier.cluster.wait\"() : () -> ()\n";
  std::string relaxed =
      nvvm ? "    nvvm.cluster.arrive.relaxed {aligned}\n    nvvm.cluster.wait {aligned}\n"
           : "    kernel.ptx \"barrier.cluster.arrive.relaxed.aligned\"() : () -> ()\n"
             "    kernel.ptx \"barrier.cluster.wait.aligned\"() : () -> ()\n";
  std::string text =
      access(true, "a", 1, 4, "i32", "%from", 1) + access(false, "a", 1, 4, "i32", "%own", 3) +
      barrier +
      "    %d0 = kernel.ptx \"ld.shared::cluster.b32\"(%remote) : (!llvm.ptr<3>) -> "
      "i32\n" +
      access(false, "d", 1, 4, "i32", "%to", 1) +
      // The loads are done: nothing is left that the order of memory would matter to.
      relaxed;
  cases.push_back(makeCase(nvvm ? "nvvm_barrier" : "plain_barrier",
                           nvvm ? "nvvm.cluster.arrive" : "barrier.cluster.arrive", text));
  checkHandedOver(cases.back(), 4, true);
}

} // namespace

void addClusterCases(std::vector<Case> &cases) {
  for (unsigned cluster : {1u, 2u, 8u, 16u})
    addRegisters(cases, cluster);
  for (const Element &element : kElements)
    addMemory(cases, element);
  addReductions(cases);
  addArrivals(cases);
  addBulk(cases);
  for (unsigned mask : {15u, 6u})
    for (bool tensor : {false, true})
      addMulticast(cases, tensor, mask);
  addMulticast(cases, /*tensor=*/true, 2, MapPlace::Global);
  addRelaxed(cases, false);
  addRelaxed(cases, true);
}

} // namespace instructions
