// wgmma.mma_async (PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions"): register fragments
// as in "Register Fragments", operands in shared memory as in "Shared Memory Matrix Layout" and
// "Strides": core matrices of 8 rows of 16 bytes, and the swizzled patterns of 8 rows of 32, 64 and
// 128 bytes.
//
// SPDX-License-Identifier: Apache-2.0
#include "test/instructions/Case.h"

#include <algorithm>
#include <cmath>

namespace instructions {
namespace {

struct Type {
  std::string name;
  unsigned bytes;
  int exponent, mantissa; // 0: an integer

  double decode(uint32_t bits) const {
    if (name == "s8")
      return int8_t(bits);
    if (name == "u8")
      return uint8_t(bits);
    if (name == "s32")
      return int32_t(bits);
    if (name == "tf32")
      bits &= 0xffffe000u;
    if (name == "e4m3")
      return decodeE4m3(bits);
    return decodeFloat(bits, exponent, mantissa);
  }
  /// Of a float of these bits.
  int exponentOf(uint32_t bits) const {
    return instructions::exponentOf(decode(bits), 2 - (1 << (exponent - 1)));
  }
};

const Type types[] = {{"f16", 2, 5, 10}, {"bf16", 2, 8, 7}, {"tf32", 4, 8, 23},
                      {"f32", 4, 8, 23}, {"e4m3", 1, 4, 3}, {"e5m2", 1, 5, 2},
                      {"s8", 1, 0, 0},   {"u8", 1, 0, 0},   {"s32", 4, 0, 0}};

const Type &typeOf(const std::string &name) {
  return *std::find_if(std::begin(types), std::end(types),
                       [&](const Type &type) { return type.name == name; });
}

/// Of an operand with `count` rows or columns of m or n, k deep.
struct Layout {
  unsigned bytes, k;
  unsigned span; // of a swizzled row: 0, 32, 64, 128
  bool mnMajor;

  /// Which 16-byte chunk of row `row` of a pattern chunk `chunk` is stored in.
  unsigned swizzled(unsigned row, unsigned chunk) const {
    return span == 128 ? chunk ^ row : span == 64 ? chunk ^ (row / 2 % 4) : chunk ^ (row / 4 % 2);
  }
  unsigned perChunk() const { return 16 / bytes; }
  unsigned leading() const {
    if (!span)
      return 128;
    return mnMajor ? 2 * stride() : 16; // not used where k is the fast dimension
  }
  unsigned stride() const { return span ? 8 * span : 256; }
  unsigned offset(unsigned mn, unsigned inner) const {
    unsigned slow = mnMajor ? inner : mn, fast = mnMajor ? mn : inner;
    unsigned within = fast % perChunk() * bytes, row = slow % 8, chunk = fast / perChunk();
    if (!span) {
      // Core matrices: those next to each other along k are 128 bytes apart, along m or n 256.
      return (mnMajor ? slow / 8 : chunk) * 128 + (mnMajor ? chunk : slow / 8) * 256 + row * 16 +
             within;
    }
    unsigned chunks = span / 16, pattern = 8 * span;
    // k-major operands are no longer than one pattern's row.
    return slow / 8 * pattern + chunk / chunks * 2 * pattern + row * span +
           swizzled(row, chunk % chunks) * 16 + within;
  }
  uint64_t descriptor() const {
    uint64_t mode = span == 128 ? 1 : span == 64 ? 2 : span == 32 ? 3 : 0;
    return uint64_t(leading() >> 4) << 16 | uint64_t(stride() >> 4) << 32 | mode << 62;
  }
};

struct Wgmma {
  Type d, a, b;
  unsigned n;
  unsigned span;
  bool transposeA = false, transposeB = false, registers = false;
  bool negateA = false, negateB = false, accumulates = true, satfinite = false;

  bool integer() const { return d.name == "s32"; }
  bool isFloat8() const { return a.bytes == 1 && !integer(); }
  unsigned k() const { return 32 / a.bytes; }
  unsigned sums() const { return d.name == "f16" ? n / 4 : n / 2; }
  std::string instruction() const {
    std::string text =
        format("wgmma.mma_async.sync.aligned.m64n%uk%u%s.%s.%s.%s", n, k(),
               satfinite ? ".satfinite" : "", d.name.c_str(), a.name.c_str(), b.name.c_str());
    if (integer())
      return text;
    text += format(" %d,%d", negateA ? -1 : 1, negateB ? -1 : 1);
    if (a.bytes == 2)
      text += registers ? format(",%d", transposeB) : format(",%d,%d", transposeA, transposeB);
    return text;
  }
  Layout layoutA() const { return {a.bytes, k(), span, transposeA}; }
  Layout layoutB() const { return {b.bytes, k(), span, transposeB}; }
};

constexpr unsigned kOffsetB = 16384, kShared = 49152;

/// A random element: small numbers, where wanted now and then one at the edge of the type.
uint32_t randomElement(const Type &type, Random &random, bool edges) {
  if (edges && random.below(64) == 0) {
    if (!type.exponent) {
      static const int32_t limits[] = {0, -1, 127, -128, INT32_MAX, INT32_MIN};
      return uint32_t(limits[random.below(6)]) & (type.bytes == 4 ? ~0u : 0xff);
    }
    if (type.bytes == 1)
      return random.below(256);
    uint32_t infinity = ((1u << type.exponent) - 1) << type.mantissa;
    unsigned ignored = type.name == "tf32" ? 13 : 0; // low bits that do not count
    const uint32_t limits[] = {0,
                               1u << ignored,
                               (1u << type.mantissa) - (1u << ignored),
                               1u << type.mantissa,
                               infinity - (1u << ignored),
                               infinity,
                               infinity | 1u << (type.mantissa - 1)};
    // Infinities and NaN in every sum would leave nothing to see.
    return limits[random.below(random.below(8) ? 4 : 7)] | random.below(2)
                                                               << (type.exponent + type.mantissa);
  }
  if (!type.exponent)
    return type.bytes == 4 ? uint32_t(int32_t(random.bits()) >> (random.below(4) ? 8 : 0))
                           : random.below(256);
  if (type.name == "e4m3" || type.name == "e5m2") {
    // All patterns of small numbers: no NaN, no infinities.
    uint32_t sign = random.below(2) << 7;
    return sign | random.below(type.name == "e4m3" ? 0x50 : 0x48);
  }
  if (random.below(16) == 0) // subnormal
    return random.below(1u << std::min(type.mantissa, 16)) << (type.name == "tf32" ? 13 : 0);
  return encodeFloat(random.unit() * 4, type.exponent, type.mantissa);
}

void add(std::vector<Case> &cases, const Wgmma &wgmma) {
  Case made;
  made.instruction = wgmma.instruction();
  made.name =
      format("wgmma_%zu_n%u_%s_%s_%s_%u%s%s%s", cases.size(), wgmma.n, wgmma.d.name.c_str(),
             wgmma.a.name.c_str(), wgmma.b.name.c_str(), wgmma.span, wgmma.transposeA ? "_ta" : "",
             wgmma.transposeB ? "_tb" : "", wgmma.registers ? "_registers" : "");
  made.since = 90;
  made.threads = 128;
  made.shared = kShared;
  unsigned sums = wgmma.sums(), perRecord = sums + 4;
  std::string sum = wgmma.d.name == "f32" ? "f32" : "i32";
  std::string loads, stores, sumList, sumTypes;
  for (unsigned i = 0; i < sums; ++i) {
    loads += format("    %%c%u_at = llvm.getelementptr %%own[%u] : (!llvm.ptr<1>) -> "
                    "!llvm.ptr<1>, i32\n    %%c%u = llvm.load %%c%u_at : !llvm.ptr<1> -> %s\n",
                    i, i, i, i, sum.c_str());
    stores += format("    %%d%u_at = llvm.getelementptr %%own_out[%u] : (!llvm.ptr<1>) -> "
                     "!llvm.ptr<1>, i32\n    llvm.store %%d#%u, %%d%u_at : %s, !llvm.ptr<1>\n",
                     i, i, i, i, sum.c_str());
    sumList += format("%s%%c%u", i ? ", " : "", i);
    sumTypes += (i ? ", " : "") + sum;
  }
  for (unsigned i = 0; i < 4 && wgmma.registers; ++i)
    loads += format("    %%a%u_at = llvm.getelementptr %%own[%u] : (!llvm.ptr<1>) -> "
                    "!llvm.ptr<1>, i32\n    %%a%u = llvm.load %%a%u_at : !llvm.ptr<1> -> i32\n",
                    i, sums + i, i, i);
  std::string body =
      fillShared(kShared) +
      fill(
          R"(    %slots = llvm.mlir.constant($SLOTS : i64) : i64
    %sums = llvm.mlir.constant($SUMS : i64) : i64
    %own_index = llvm.mul %record, %slots : i64
    %out_index = llvm.mul %record, %sums : i64
    %own = llvm.getelementptr %registers[%own_index] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
    %own_out = llvm.getelementptr %out[%out_index] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
    %base = llvm.ptrtoint %shared : !llvm.ptr<3> to i64
    %window = llvm.mlir.constant(262143 : i64) : i64
    %four = llvm.mlir.constant(4 : i64) : i64
    %address = llvm.and %base, %window : i64
    %chunk = llvm.lshr %address, %four : i64
    %of_a = llvm.mlir.constant($DESCRIPTORA : i64) : i64
    %of_b = llvm.mlir.constant($DESCRIPTORB : i64) : i64
    %desc_a = llvm.add %chunk, %of_a : i64
    %desc_b = llvm.add %chunk, %of_b : i64
    %counts = llvm.mlir.constant($COUNTS) : i1
    kernel.ptx "fence.proxy.async"() : () -> ()
    nvvm.barrier0
$LOADS    kernel.ptx "wgmma.fence.sync.aligned"() : () -> ()
    %d:$SUMS = kernel.ptx "$INSTRUCTION"($A, %desc_b, %counts, $LIST) : ($ATYPES, i64, i1, $TYPES) -> ($TYPES)
    kernel.ptx "wgmma.commit_group.sync.aligned"() : () -> ()
    kernel.ptx "wgmma.wait_group.sync.aligned 0"() : () -> ()
$STORES)",
          {{"SLOTS", std::to_string(perRecord)},
           {"SUMS", std::to_string(sums)},
           {"DESCRIPTORA", std::to_string(int64_t(wgmma.layoutA().descriptor()))},
           {"DESCRIPTORB", std::to_string(int64_t(wgmma.layoutB().descriptor()) + (kOffsetB >> 4))},
           {"COUNTS", wgmma.accumulates ? "true" : "false"},
           {"LOADS", loads},
           {"INSTRUCTION", made.instruction},
           {"ATYPES", wgmma.registers ? "i32, i32, i32, i32" : "i64"},
           {"A", wgmma.registers ? "%a0, %a1, %a2, %a3" : "%desc_a"},
           {"LIST", sumList},
           {"TYPES", sumTypes},
           {"STORES", stores}});
  made.kernel = kernelOf(made.name, body, made.threads,
                         "%in: !llvm.ptr<1>, %out: !llvm.ptr<1>, %registers: !llvm.ptr<1>");

  // The matrices, then where each element goes.
  unsigned n = wgmma.n, k = wgmma.k();
  std::vector<uint32_t> a(64 * k), b(k * n), c(64 * n);
  Random random(cases.size() + 99);
  bool edges = cases.size() % 2;
  for (uint32_t &bits : a)
    bits = randomElement(wgmma.a, random, edges);
  for (uint32_t &bits : b)
    bits = randomElement(wgmma.b, random, edges);
  for (uint32_t &bits : c)
    bits = randomElement(wgmma.d, random, edges);
  Bytes shared = randomBytes(kShared, 5), registers(128 * perRecord * 4);
  for (unsigned inner = 0; inner < k; ++inner) {
    for (unsigned m = 0; m < 64 && !wgmma.registers; ++m)
      memcpy(&shared[wgmma.layoutA().offset(m, inner)], &a[m * k + inner], wgmma.a.bytes);
    for (unsigned column = 0; column < n; ++column)
      memcpy(&shared[kOffsetB + wgmma.layoutB().offset(column, inner)], &b[inner * n + column],
             wgmma.b.bytes);
  }
  // Thread t of warp w: rows 16w + t / 4 and 8 more; columns 8j + 2 (t mod 4) and the next.
  auto placeOfSum = [](unsigned thread, unsigned i) {
    unsigned lane = thread % 32;
    return std::pair(thread / 32 * 16 + lane / 4 + (i & 2 ? 8 : 0),
                     i / 4 * 8 + lane % 4 * 2 + (i & 1));
  };
  unsigned sumBytes = wgmma.d.name == "f16" ? 2 : 4;
  unsigned perWord = 4 / wgmma.a.bytes;
  for (unsigned thread = 0; thread < 128; ++thread) {
    uint8_t *record = &registers[thread * perRecord * 4];
    for (unsigned i = 0; i < n / 2; ++i) {
      auto [row, column] = placeOfSum(thread, i);
      memcpy(record + i * sumBytes, &c[row * n + column], sumBytes);
    }
    for (unsigned i = 0; i < 4 * perWord; ++i) {
      unsigned lane = thread % 32, word = i / perWord;
      unsigned row = thread / 32 * 16 + lane / 4 + (word == 1 || word == 3 ? 8 : 0);
      unsigned inner = lane % 4 * perWord + i % perWord + (word >= 2 ? 4 * perWord : 0);
      memcpy(record + sums * 4 + i * wgmma.a.bytes, &a[row * k + inner], wgmma.a.bytes);
    }
  }
  made.buffers = {shared, Bytes(128 * sums * 4), registers};
  made.check = [=](const std::vector<Bytes> &after) -> std::string {
    for (unsigned thread = 0; thread < 128; ++thread)
      for (unsigned i = 0; i < n / 2; ++i) {
        auto [row, column] = placeOfSum(thread, i);
        uint32_t bits = 0;
        memcpy(&bits, &after[1][thread * sums * 4 + i * sumBytes], sumBytes);
        double got = wgmma.d.decode(bits);
        double wanted = wgmma.accumulates ? wgmma.d.decode(c[row * n + column]) : 0;
        double size = std::fabs(wanted), finite = std::isfinite(size) ? size : 0;
        Float8Sum sum8;
        if (wgmma.isFloat8())
          sum8.add(wanted, wgmma.d.exponentOf(c[row * n + column]));
        for (unsigned inner = 0; inner < k; ++inner) {
          double product = wgmma.a.decode(a[row * k + inner]) *
                           wgmma.b.decode(b[inner * n + column]) *
                           (wgmma.negateA != wgmma.negateB ? -1 : 1);
          if (wgmma.isFloat8())
            sum8.add(product, wgmma.a.exponentOf(a[row * k + inner]) +
                                  wgmma.b.exponentOf(b[inner * n + column]));
          wanted += product;
          size += std::fabs(product);
          finite += std::isfinite(product) ? std::fabs(product) : 0;
        }
        double tolerance = 0;
        if (wgmma.integer()) {
          wanted = wgmma.satfinite ? std::clamp(wanted, double(INT32_MIN), double(INT32_MAX))
                                   : double(int32_t(uint32_t(int64_t(wanted))));
        } else {
          tolerance = wgmma.isFloat8() ? sum8.tolerance(wanted) : size * (k + 2) * 0x1p-23;
          // Sums on the way may or may not overflow.
          if (finite * 1.01 > (wgmma.d.name == "f16" ? 65504 : 0x1.fffffep127))
            continue;
          if (wgmma.d.name == "f16")
            tolerance += std::fabs(wanted) * 0x1p-10 + 0x1p-24;
        }
        if (!agree(got, wanted, tolerance))
          return format("element (%u, %u): %.9g, not %.9g +- %.3g", row, column, got, wanted,
                        tolerance);
      }
    return {};
  };
  cases.push_back(std::move(made));
}

} // namespace

void addWgmmaCases(std::vector<Case> &cases) {
  const Type &f16 = typeOf("f16"), &f32 = typeOf("f32"), &s32 = typeOf("s32");
  for (unsigned span : {0u, 32u, 64u, 128u}) {
    for (bool transposeA : {false, true})
      for (bool transposeB : {false, true})
        // Operands of n at a stretch that all swizzles divide.
        add(cases, {f32, f16, f16, 128, span, transposeA, transposeB});
    add(cases, {f32, typeOf("tf32"), typeOf("tf32"), 24, span});
    add(cases, {s32, typeOf("s8"), typeOf("s8"), 32, span});
    add(cases, {f32, typeOf("e4m3"), typeOf("e5m2"), 40, span});
    add(cases, {f32, f16, f16, 64, span, false, true, /*registers=*/true});
  }
  for (unsigned n : {8u, 96u, 256u}) {
    add(cases, {f16, f16, f16, n, 128});
    add(cases, {f32, typeOf("bf16"), typeOf("bf16"), n, 128});
    add(cases, {f32, typeOf("bf16"), typeOf("bf16"), n, 128, false, false, /*registers=*/true});
    add(cases, {f32, typeOf("tf32"), typeOf("tf32"), n, 128, false, false, /*registers=*/true});
    add(cases, {f16, typeOf("e5m2"), typeOf("e4m3"), n, 128});
    for (const char *a : {"s8", "u8"})
      for (const char *b : {"s8", "u8"})
        for (bool registers : {false, true})
          add(cases, {s32, typeOf(a), typeOf(b), n, 128, false, false, registers, false, false,
                      true, /*satfinite=*/registers});
  }
  add(cases, {f32, f16, f16, 16, 128, false, false, false, /*negateA=*/true});
  add(cases, {f32, f16, f16, 16, 128, false, false, false, true, /*negateB=*/true});
  add(cases, {f32, f16, f16, 16, 128, false, false, false, false, true, /*accumulates=*/false});
}

} // namespace instructions
