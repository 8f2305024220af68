// mma.sync. Fragments as in the PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions",
// sections "Matrix Fragments for mma.m8n8k16", ".m16n8k4", ".m16n8k8", ".m16n8k16" and ".m16n8k32":
// formulas for row and column of element i of a lane, with groupID = lane / 4 and
// threadID_in_group = lane % 4.
//
// SPDX-License-Identifier: Apache-2.0
#include "test/instructions/Case.h"

#include <algorithm>
#include <cmath>

namespace instructions {
namespace {

struct Place {
  int row, column;
};

/// Element i of `lane`'s fragment of A.
Place placeA(const std::string &shape, int bits, int lane, int i) {
  int group = lane / 4, thread = lane % 4;
  if (shape == "m8n8k4") // f64
    return {group, thread};
  if (shape == "m8n8k16") // 8 bits
    return {group, thread * 4 + i};
  if (shape == "m16n8k4") // tf32
    return {i == 0 ? group : group + 8, thread};
  if (shape == "m16n8k8" && bits == 32)
    return {i == 0 || i == 2 ? group : group + 8, i < 2 ? thread : thread + 4};
  if (shape == "m16n8k8") // 16 bits
    return {i < 2 ? group : group + 8, thread * 2 + (i & 1)};
  if (shape == "m16n8k16" && bits == 16)
    return {(i >= 0 && i < 2) || (i >= 4 && i < 6) ? group : group + 8,
            i < 4 ? thread * 2 + (i & 1) : thread * 2 + (i & 1) + 8};
  if (shape == "m16n8k16") // 8 bits
    return {i < 4 ? group : group + 8, thread * 4 + (i & 3)};
  // m16n8k32, 8 bits
  return {(i >= 0 && i < 4) || (i >= 8 && i < 12) ? group : group + 8,
          i < 8 ? thread * 4 + (i & 3) : thread * 4 + (i & 3) + 16};
}

/// Of B: row is k, column is n.
Place placeB(const std::string &shape, int bits, int lane, int i) {
  int group = lane / 4, thread = lane % 4;
  if (shape == "m8n8k4" || shape == "m16n8k4")
    return {thread, group};
  if (shape == "m8n8k16")
    return {thread * 4 + i, group};
  if (shape == "m16n8k8" && bits == 32)
    return {i == 0 ? thread : thread + 4, group};
  if (shape == "m16n8k8")
    return {thread * 2 + i, group};
  if (shape == "m16n8k16" && bits == 16)
    return {i < 2 ? thread * 2 + (i & 1) : thread * 2 + (i & 1) + 8, group};
  if (shape == "m16n8k16")
    return {thread * 4 + i, group};
  return {i < 4 ? thread * 4 + (i & 3) : thread * 4 + (i & 3) + 16, group};
}

/// Of C and D.
Place placeC(int lane, int i) { return {i < 2 ? lane / 4 : lane / 4 + 8, lane % 4 * 2 + (i & 1)}; }

struct Type {
  const char *name;
  int bits;
  double (*decode)(uint64_t bits);
};

double decodeF64(uint64_t bits) {
  double value;
  memcpy(&value, &bits, 8);
  return value;
}

const Type types[] = {
    {"f16", 16, [](uint64_t bits) { return decodeF16(uint32_t(bits)); }},
    {"bf16", 16, [](uint64_t bits) { return decodeBf16(uint32_t(bits)); }},
    // The low 13 bits of the register do not count.
    {"tf32", 32, [](uint64_t bits) { return decodeF32(uint32_t(bits) & 0xffffe000u); }},
    {"f32", 32, [](uint64_t bits) { return decodeF32(uint32_t(bits)); }},
    {"f64", 64, decodeF64},
    {"e4m3", 8, [](uint64_t bits) { return decodeE4m3(uint32_t(bits)); }},
    {"e5m2", 8, [](uint64_t bits) { return decodeFloat(uint32_t(bits), 5, 2); }},
    {"s8", 8, [](uint64_t bits) { return double(int8_t(bits)); }},
    {"u8", 8, [](uint64_t bits) { return double(uint8_t(bits)); }},
    {"s32", 32, [](uint64_t bits) { return double(int32_t(bits)); }},
};

const Type &typeOf(const std::string &name) {
  return *std::find_if(std::begin(types), std::end(types),
                       [&](const Type &type) { return name == type.name; });
}

bool isFloat(const Type &type) { return type.name[0] != 's' && type.name[0] != 'u'; }

/// Of a float of 8 bits, or a sum of such (f32).
int exponentOf(const Type &type, double value) {
  return instructions::exponentOf(value, type.name == std::string("e4m3")   ? -6
                                         : type.name == std::string("e5m2") ? -14
                                                                            : -126);
}

/// A random element: small numbers, or now and then one at the edge of the type.
uint64_t randomElement(const Type &type, Random &random, bool edges) {
  std::string name = type.name;
  if (!isFloat(type)) {
    static const int32_t limits[] = {0, 1, -1, 127, -128, 255, INT32_MAX, INT32_MIN};
    bool wide = type.bits == 32;
    if (edges && random.below(2))
      return uint32_t(limits[random.below(8)]);
    return wide ? uint32_t(int32_t(random.bits()) >> 8) : random.below(256);
  }
  if (name == "f64") {
    static const double limits[] = {0, -0.0, 1, 0x1p-1074, 0x1p1023, INFINITY, NAN};
    double value = edges && !random.below(8) ? limits[random.below(7)] : random.unit();
    uint64_t bits;
    memcpy(&bits, &value, 8);
    return bits;
  }
  if (type.bits == 8) // every pattern, or those of small numbers
    return random.below(edges && !random.below(6) ? 256 : 0x48) | random.below(2) << 7;
  int exponent = name == "f16" ? 5 : 8, mantissa = name == "f16" ? 10 : name == "bf16" ? 7 : 23;
  uint32_t infinity = ((1u << exponent) - 1) << mantissa, sign = 1u << (exponent + mantissa);
  if (edges && !random.below(6)) {
    const uint32_t limits[] = {0,                    // zero
                               1,                    // the smallest subnormal number
                               (1u << mantissa) - 1, // the largest
                               1u << mantissa,       // the smallest normal one
                               infinity - 1,         // the largest
                               infinity,
                               infinity | 1u << (mantissa - 1)};
    // Large numbers and NaN everywhere would leave nothing to see.
    unsigned choice = random.below(8);
    return limits[choice < 7 && !(choice >= 4 && random.below(8)) ? choice : 0] |
           (random.below(2) ? sign : 0);
  }
  return encodeFloat(random.unit() * 4, exponent, mantissa);
}

struct Mma {
  std::string shape;
  int m, k;
  Type a, b, c;
  bool satfinite;

  std::string instruction() const {
    return "mma.sync.aligned." + shape + ".row.col" + (satfinite ? ".satfinite." : ".") + c.name +
           "." + a.name + "." + b.name + "." + c.name;
  }
  /// Registers of a lane and elements in each.
  int perRegister(const Type &type) const { return std::max(1, 32 / type.bits); }
  int registersA() const { return m * k / 32 / perRegister(a); }
  int registersB() const { return 8 * k / 32 / perRegister(b); }
  int registersC() const { return m * 8 / 32 / perRegister(c); }
  int operands() const { return registersA() + registersB() + registersC(); }
};

uint64_t elementAt(const Bytes &buffer, size_t record, int count, int firstRegister,
                   const Type &type, int perRegister, int element) {
  uint64_t word =
      slot(buffer, record, unsigned(count), unsigned(firstRegister + element / perRegister));
  uint64_t value = word >> (type.bits * (element % perRegister));
  return type.bits == 64 ? value : value & ((1ull << type.bits) - 1);
}

std::string checkWarp(const Mma &mma, const Bytes &in, const Bytes &out, unsigned warp) {
  double a[16][32] = {}, b[32][8] = {}, c[16][8] = {};
  auto gather = [&](const Type &type, int first, int registers, auto place) {
    int per = mma.perRegister(type);
    for (int lane = 0; lane < 32; ++lane)
      for (int i = 0; i < registers * per; ++i)
        place(lane, i,
              type.decode(
                  elementAt(in, warp * 32 + unsigned(lane), mma.operands(), first, type, per, i)));
  };
  gather(mma.a, 0, mma.registersA(), [&](int lane, int i, double value) {
    Place place = placeA(mma.shape, mma.a.bits, lane, i);
    a[place.row][place.column] = value;
  });
  gather(mma.b, mma.registersA(), mma.registersB(), [&](int lane, int i, double value) {
    Place place = placeB(mma.shape, mma.b.bits, lane, i);
    b[place.row][place.column] = value;
  });
  gather(mma.c, mma.registersA() + mma.registersB(), mma.registersC(),
         [&](int lane, int i, double value) {
           Place place = placeC(lane, i);
           c[place.row][place.column] = value;
         });
  int per = mma.perRegister(mma.c);
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < mma.registersC() * per; ++i) {
      Place place = placeC(lane, i);
      double wanted = c[place.row][place.column], size = std::fabs(wanted);
      double finite = std::isfinite(wanted) ? size : 0;
      bool isFloat8 = mma.a.bits == 8 && isFloat(mma.a);
      Float8Sum sum8;
      if (isFloat8)
        sum8.add(wanted, exponentOf(mma.c, wanted));
      for (int k = 0; k < mma.k; ++k) {
        double product = a[place.row][k] * b[k][place.column];
        if (isFloat8)
          sum8.add(product,
                   exponentOf(mma.a, a[place.row][k]) + exponentOf(mma.b, b[k][place.column]));
        wanted += product;
        size += std::fabs(product);
        finite += std::isfinite(product) ? std::fabs(product) : 0;
      }
      double got = mma.c.decode(
          elementAt(out, warp * 32 + unsigned(lane), mma.registersC(), 0, mma.c, per, i));
      double tolerance = 0;
      std::string type = mma.c.name;
      if (type == "s32") {
        if (mma.satfinite)
          wanted = std::clamp(wanted, double(INT32_MIN), double(INT32_MAX));
        else
          wanted = double(int32_t(uint32_t(int64_t(wanted))));
      } else if (type == "f64") {
        tolerance = size * 0x1p-50;
      } else {
        // The order of sums is not specified, nor how intermediate ones are rounded.
        // Those of 8-bit floats may be made in two steps, the second of which has the sum of the
        // first for an operand. (For sm_90a ptxas makes products of f16 of them.)
        sum8.add(size, exponentOf(mma.c, size));
        tolerance = isFloat8 ? sum8.tolerance(wanted) : size * (mma.k + 2) * 0x1p-23;
        if (type == "f16")
          tolerance += std::fabs(wanted) * 0x1p-10 + 0x1p-24;
        // Sums on the way may or may not overflow.
        if (finite * 1.01 > (type == "f16" ? 65504 : 0x1.fffffep127))
          continue;
      }
      if (!agree(got, wanted, tolerance))
        return format("warp %u, element (%d, %d): %.9g, not %.9g +- %.3g", warp, place.row,
                      place.column, got, wanted, tolerance);
    }
  return {};
}

void add(std::vector<Case> &cases, Mma mma, unsigned since) {
  constexpr unsigned warps = 48;
  Case made;
  made.instruction = mma.instruction();
  made.name = "mma_" + mma.shape + "_" + mma.c.name + "_" + mma.a.name + "_" + mma.b.name +
              (mma.satfinite ? "_sat" : "");
  made.since = since;
  made.blocks = warps;
  auto mlirType = [](const Type &type, bool sum) -> std::string {
    if (std::string(type.name) == "f64")
      return "f64";
    return sum && std::string(type.name) == "f32" ? "f32" : "i32";
  };
  std::vector<std::string> operands, results;
  operands.insert(operands.end(), size_t(mma.registersA()), mlirType(mma.a, false));
  operands.insert(operands.end(), size_t(mma.registersB()), mlirType(mma.b, false));
  operands.insert(operands.end(), size_t(mma.registersC()), mlirType(mma.c, true));
  results.assign(size_t(mma.registersC()), mlirType(mma.c, true));
  made.kernel = registerKernel(made.name, made.instruction, operands, results, 32);
  unsigned count = unsigned(mma.operands());
  Bytes in(warps * 32 * count * kSlot), out(warps * 32 * results.size() * kSlot);
  Random random(cases.size() + 1);
  for (unsigned record = 0; record < warps * 32; ++record)
    for (unsigned index = 0; index < count; ++index) {
      const Type &type = int(index) < mma.registersA()                      ? mma.a
                         : int(index) < mma.registersA() + mma.registersB() ? mma.b
                                                                            : mma.c;
      uint64_t word = 0;
      for (int i = 0; i < mma.perRegister(type); ++i) {
        uint64_t element = randomElement(type, random, record / 32 % 2);
        if (type.bits < 64)
          element &= (1ull << type.bits) - 1;
        word |= element << (type.bits * i);
      }
      setSlot(in, record, count, index, word);
    }
  made.buffers = {in, out};
  made.check = [mma, in](const std::vector<Bytes> &after) {
    std::string wrong;
    for (unsigned warp = 0; warp < warps && wrong.empty(); ++warp)
      wrong = checkWarp(mma, in, after[1], warp);
    return wrong;
  };
  cases.push_back(std::move(made));
}

} // namespace

void addMmaCases(std::vector<Case> &cases) {
  for (const char *sum : {"f16", "f32"}) {
    add(cases, {"m16n8k8", 16, 8, typeOf("f16"), typeOf("f16"), typeOf(sum), false}, 75);
    add(cases, {"m16n8k16", 16, 16, typeOf("f16"), typeOf("f16"), typeOf(sum), false}, 80);
  }
  add(cases, {"m16n8k8", 16, 8, typeOf("bf16"), typeOf("bf16"), typeOf("f32"), false}, 80);
  add(cases, {"m16n8k16", 16, 16, typeOf("bf16"), typeOf("bf16"), typeOf("f32"), false}, 80);
  add(cases, {"m16n8k4", 16, 4, typeOf("tf32"), typeOf("tf32"), typeOf("f32"), false}, 80);
  add(cases, {"m16n8k8", 16, 8, typeOf("tf32"), typeOf("tf32"), typeOf("f32"), false}, 80);
  add(cases, {"m8n8k4", 8, 4, typeOf("f64"), typeOf("f64"), typeOf("f64"), false}, 80);
  for (const char *a : {"e4m3", "e5m2"})
    for (const char *b : {"e4m3", "e5m2"})
      add(cases, {"m16n8k32", 16, 32, typeOf(a), typeOf(b), typeOf("f32"), false}, 89);
  for (const char *a : {"s8", "u8"})
    for (const char *b : {"s8", "u8"})
      for (bool satfinite : {false, true}) {
        add(cases, {"m8n8k16", 8, 16, typeOf(a), typeOf(b), typeOf("s32"), satfinite}, 75);
        add(cases, {"m16n8k16", 16, 16, typeOf(a), typeOf(b), typeOf("s32"), satfinite}, 80);
        add(cases, {"m16n8k32", 16, 32, typeOf(a), typeOf(b), typeOf("s32"), satfinite}, 80);
      }
}

} // namespace instructions
