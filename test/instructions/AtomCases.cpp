// atom and red (PTX ISA, "Parallel Synchronization and Communication Instructions"): every thread
// on a place of its own, for exact values, and all threads of the grid on one place.
//
// SPDX-License-Identifier: Apache-2.0
#include "test/instructions/Case.h"

#include <algorithm>
#include <cmath>

namespace instructions {

uint64_t atomicResult(const std::string &operation, const std::string &type, bool shared,
                      uint64_t a, uint64_t b, uint64_t c) {
  bool wide = type.find("64") != std::string::npos;
  uint64_t mask = wide ? ~0ull : type == "f16" || type == "bf16" ? 0xffff : 0xffffffff;
  if (operation == "cas")
    return a == b ? c : a;
  if (operation == "exch")
    return b;
  if (operation == "and")
    return a & b;
  if (operation == "or")
    return a | b;
  if (operation == "xor")
    return a ^ b;
  if (operation == "inc")
    return a >= b ? 0 : a + 1;
  if (operation == "dec")
    return a == 0 || a > b ? b : a - 1;
  if (operation == "min" || operation == "max") {
    bool less;
    if (type[0] == 's')
      less = wide ? int64_t(a) < int64_t(b) : int32_t(a) < int32_t(b);
    else
      less = a < b;
    return less == (operation == "min") ? a : b;
  }
  // add
  if (type == "f64") {
    double x, y;
    memcpy(&x, &a, 8);
    memcpy(&y, &b, 8);
    x += y;
    memcpy(&a, &x, 8);
    return a;
  }
  if (type == "f32") {
    // Subnormal numbers count as zero in global memory, and as themselves in shared memory.
    auto flushed = [&](double x) {
      return !shared && std::fabs(x) < 0x1p-126 ? std::copysign(0.0, x) : x;
    };
    double sum = flushed(decodeF32(uint32_t(a))) + flushed(decodeF32(uint32_t(b)));
    return encodeF32(flushed(sum));
  }
  if (type == "f16" || type == "bf16") {
    bool half = type == "f16";
    auto decode = [&](uint64_t bits) {
      return half ? decodeF16(uint32_t(bits)) : decodeBf16(uint32_t(bits));
    };
    return encodeFloat(decode(a) + decode(b), half ? 5 : 8, half ? 10 : 7);
  }
  if (type == "f16x2" || type == "bf16x2") {
    std::string half = type.substr(0, type.size() - 2);
    return atomicResult("add", half, shared, a & 0xffff, b & 0xffff, 0) |
           atomicResult("add", half, shared, a >> 16, b >> 16, 0) << 16;
  }
  return (a + b) & mask;
}

namespace {

constexpr unsigned kThreads = 64, kBlocks = 8, kRecords = kThreads * kBlocks;

bool isNan(const std::string &type, uint64_t bits) {
  if (type == "f32")
    return std::isnan(decodeF32(uint32_t(bits)));
  if (type == "f64")
    return (bits & ~(1ull << 63)) > 0x7ff0000000000000ull;
  if (type == "f16")
    return std::isnan(decodeF16(uint32_t(bits)));
  return type == "bf16" && std::isnan(decodeBf16(uint32_t(bits)));
}

bool same(const std::string &type, uint64_t a, uint64_t b) {
  if (type == "f16x2" || type == "bf16x2") {
    std::string half = type.substr(0, type.size() - 2);
    return same(half, a & 0xffff, b & 0xffff) && same(half, a >> 16, b >> 16);
  }
  return a == b || (isNan(type, a) && isNan(type, b));
}

uint64_t draw(const std::string &type, Random &random) {
  unsigned choice = random.below(8);
  if (type == "f32") {
    static const uint32_t edges[] = {0x80000000u, 0x00000001u, 0x807fffffu, 0x00800000u,
                                     0x7f7fffffu, 0x7f800000u, 0xff800000u, 0x7fc00000u};
    return choice < 2 ? edges[random.below(8)] : encodeF32(random.unit() * 100);
  }
  if (type == "f64") {
    double value = choice == 0 ? INFINITY : choice == 1 ? 0x1p-1074 : random.unit() * 1e3;
    uint64_t bits;
    memcpy(&bits, &value, 8);
    return bits;
  }
  auto half = [&](bool f16) -> uint64_t {
    if (random.below(4) == 0)
      return uint16_t(random.bits()); // anything at all
    return encodeFloat(random.unit() * 8, f16 ? 5 : 8, f16 ? 10 : 7);
  };
  if (type == "f16" || type == "bf16")
    return half(type == "f16");
  if (type == "f16x2" || type == "bf16x2")
    return half(type == "f16x2") | half(type == "f16x2") << 16;
  uint64_t value = choice < 3 ? random.below(4) : choice == 3 ? ~0ull : random.bits();
  return type.find("64") != std::string::npos ? value : uint32_t(value);
}

std::string mlirType(const std::string &type) {
  if (type == "f32" || type == "f64")
    return type;
  if (type == "f16" || type == "bf16")
    return "i16";
  return type.find("64") != std::string::npos ? "i64" : "i32";
}

/// Operands: the place's first value, b and, for cas, c; results: the old value and what the place
/// holds then.
void addOwn(std::vector<Case> &cases, const std::string &operation, const std::string &type,
            bool shared, unsigned since, bool returns = true) {
  bool cas = operation == "cas";
  bool half = type.find("16") != std::string::npos;
  Case made;
  made.instruction = std::string(returns ? "atom." : "red.") + (shared ? "shared." : "global.") +
                     operation + (half ? ".noftz." : ".") + type;
  made.name = made.instruction;
  std::replace(made.name.begin(), made.name.end(), '.', '_');
  made.since = since;
  made.blocks = kBlocks;
  made.threads = kThreads;
  made.shared = kThreads * kSlot;
  unsigned count = cas ? 3 : 2;
  made.kernel = kernelOf(
      made.name,
      fill(R"(    %count = llvm.mlir.constant($COUNT : i64) : i64
    %two = llvm.mlir.constant(2 : i64) : i64
    %tid64 = llvm.zext %tid : i32 to i64
    %input = llvm.mul %record, %count : i64
    %output = llvm.mul %record, %two : i64
    %at_a = llvm.getelementptr %in[%input] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i64
    %at_b = llvm.getelementptr %at_a[1] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
    %at_c = llvm.getelementptr %at_a[2] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
    %old_at = llvm.getelementptr %out[%output] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i64
    %new_at = llvm.getelementptr %old_at[1] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
    %own = llvm.getelementptr %shared[%tid64] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, i64
    %a = llvm.load %at_a {alignment = 8 : i64} : !llvm.ptr<1> -> $TYPE
    %b = llvm.load %at_b {alignment = 8 : i64} : !llvm.ptr<1> -> $TYPE
    $LOADC
    llvm.store %a, $PLACE {alignment = 8 : i64} : $TYPE, $POINTER
    $OLD kernel.ptx "$INSTRUCTION"($PLACE, %b$C) : ($POINTER, $TYPE$CTYPE) -> ($RESULT)
    $STORE
    %now = llvm.load $PLACE {alignment = 8 : i64} : $POINTER -> $TYPE
    llvm.store %now, %new_at {alignment = 8 : i64} : $TYPE, !llvm.ptr<1>
)",
           {{"COUNT", std::to_string(count)},
            {"LOADC",
             cas ? "%c = llvm.load %at_c {alignment = 8 : i64} : !llvm.ptr<1> -> $TYPE" : ""},
            {"STORE",
             returns ? "llvm.store %old, %old_at {alignment = 8 : i64} : $TYPE, !llvm.ptr<1>" : ""},
            {"OLD", returns ? "%old =" : ""},
            {"RESULT", returns ? "$TYPE" : ""},
            {"INSTRUCTION", made.instruction},
            {"CTYPE", cas ? ", $TYPE" : ""},
            {"C", cas ? ", %c" : ""},
            // The place in global memory is where the new value is to be.
            {"PLACE", shared ? "%own" : "%new_at"},
            {"POINTER", shared ? "!llvm.ptr<3>" : "!llvm.ptr<1>"},
            {"TYPE", mlirType(type)}}),
      kThreads);
  Bytes in(kRecords * count * kSlot), out(kRecords * 2 * kSlot);
  Random random(cases.size() + 77);
  for (unsigned record = 0; record < kRecords; ++record)
    for (unsigned i = 0; i < count; ++i)
      setSlot(in, record, count, i,
              cas && i == 1 && random.below(2) ? slot(in, record, count, 0) : draw(type, random));
  made.buffers = {in, out};
  made.check = [=](const std::vector<Bytes> &after) -> std::string {
    for (unsigned record = 0; record < kRecords; ++record) {
      uint64_t a = slot(in, record, count, 0), b = slot(in, record, count, 1);
      uint64_t c = cas ? slot(in, record, count, 2) : 0;
      uint64_t wanted = atomicResult(operation, type, shared, a, b, c);
      uint64_t old = slot(after[1], record, 2, 0), now = slot(after[1], record, 2, 1);
      if (returns && old != a)
        return format("record %u: returns 0x%llx, not the old value 0x%llx", record,
                      (unsigned long long)old, (unsigned long long)a);
      if (!same(type, now, wanted))
        return format("record %u: 0x%llx with 0x%llx gives 0x%llx, not 0x%llx", record,
                      (unsigned long long)a, (unsigned long long)b, (unsigned long long)now,
                      (unsigned long long)wanted);
    }
    return {};
  };
  cases.push_back(std::move(made));
}

/// All threads add to one number: none of the additions gets lost, and no two see the same number.
void addContended(std::vector<Case> &cases) {
  Case made;
  made.instruction = "atom.global.add.u32";
  made.name = "atom_contended";
  made.blocks = kBlocks;
  made.threads = kThreads;
  made.kernel = kernelOf(made.name, R"(    %one = llvm.mlir.constant(1 : i32) : i32
    %old = kernel.ptx "atom.global.add.u32"(%in, %one) : (!llvm.ptr<1>, i32) -> i32
    %to = llvm.getelementptr %out[%record] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
    llvm.store %old, %to : i32, !llvm.ptr<1>
)",
                         kThreads);
  made.buffers = {Bytes(8), Bytes(4 * kRecords)};
  made.check = [](const std::vector<Bytes> &after) -> std::string {
    std::vector<bool> seen(kRecords);
    for (unsigned record = 0; record < kRecords; ++record) {
      uint32_t old;
      memcpy(&old, &after[1][4 * record], 4);
      if (old >= kRecords || seen[old])
        return format("thread %u sees %u, which is too large or was seen before", record, old);
      seen[old] = true;
    }
    return slot(after[0], 0, 1, 0) == kRecords ? "" : "the sum is wrong";
  };
  cases.push_back(std::move(made));
}

} // namespace

void addAtomCases(std::vector<Case> &cases) {
  for (bool shared : {false, true}) {
    for (const char *type : {"u32", "s32", "u64", "f32", "f64", "f16", "f16x2"})
      addOwn(cases, "add", type, shared, 75);
    for (const char *type : {"bf16", "bf16x2"})
      addOwn(cases, "add", type, shared, 90);
    for (const char *operation : {"min", "max"})
      for (const char *type : {"u32", "s32", "u64", "s64"})
        addOwn(cases, operation, type, shared, 75);
    for (const char *operation : {"and", "or", "xor", "exch", "cas"})
      for (const char *type : {"b32", "b64"})
        addOwn(cases, operation, type, shared, 75);
    for (const char *operation : {"inc", "dec"})
      addOwn(cases, operation, "u32", shared, 75);
    addOwn(cases, "add", "f32", shared, 75, /*returns=*/false);
  }
  addContended(cases);
}

} // namespace instructions
