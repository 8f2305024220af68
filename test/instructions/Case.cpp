// What the families' cases share: kernel texts and number formats.
//
// SPDX-License-Identifier: Apache-2.0
#include "test/instructions/Case.h"

#include <cmath>
#include <cstdarg>
#include <cstdio>

namespace instructions {

std::string format(const char *pattern, ...) {
  va_list list;
  va_start(list, pattern);
  char text[1024];
  vsnprintf(text, sizeof text, pattern, list);
  va_end(list);
  return text;
}

std::string fill(std::string text,
                 const std::vector<std::pair<std::string, std::string>> &replacements) {
  for (const auto &[key, value] : replacements) {
    std::string pattern = "$" + key;
    for (size_t at = text.find(pattern); at != std::string::npos;
         at = text.find(pattern, at + value.size()))
      text.replace(at, pattern.size(), value);
  }
  return text;
}

std::string kernelOf(const std::string &name, const std::string &body, unsigned threads,
                     const std::string &parameters, unsigned cluster) {
  return fill(R"(gpu.module @$NAME {
  llvm.mlir.global external @dynamic_$NAME() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  llvm.func @$NAME($PARAMETERS) attributes {nvvm.kernel, nvvm.reqntid = array<i32: $THREADS, 1, 1>$CLUSTER} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %block = nvvm.read.ptx.sreg.ctaid.x : i32
    %lane = nvvm.read.ptx.sreg.laneid : i32
    %threads = llvm.mlir.constant($THREADS : i32) : i32
    %first = llvm.mul %block, %threads : i32
    %record32 = llvm.add %first, %tid : i32
    %record = llvm.zext %record32 : i32 to i64
    %shared = llvm.mlir.addressof @dynamic_$NAME : !llvm.ptr<3>
$BODY
    llvm.return
  }
}
)",
              {{"NAME", name},
               {"PARAMETERS", parameters},
               {"THREADS", std::to_string(threads)},
               {"CLUSTER", cluster ? format(", nvvm.cluster_dim = array<i32: %u, 1, 1>", cluster)
                                   : std::string()},
               {"BODY", body}});
}

std::string mapParameter(const char *name, MapPlace place) {
  // CUDA C++'s `const __grid_constant__ CUtensorMap`.
  const char *attributes = place == MapPlace::Global
                               ? ""
                               : " {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, "
                                 "nvvm.grid_constant}";
  return name + (": " + mapType(place)) + attributes;
}

std::string mapType(MapPlace place) {
  return place == MapPlace::Global ? "!llvm.ptr<1>" : "!llvm.ptr";
}

std::string acquireMap(const char *name, MapPlace place) {
  return place == MapPlace::Global
             ? format("    kernel.ptx \"fence.proxy.tensormap::generic.acquire.sys 128\"(%s) : "
                      "(!llvm.ptr<1>) -> ()\n",
                      name)
             : std::string();
}

std::string registerKernel(const std::string &name, const std::string &instruction,
                           const std::vector<std::string> &operands,
                           const std::vector<std::string> &results, unsigned threads,
                           uint32_t active) {
  std::string body;
  auto record = [&](const char *base, const char *buffer, size_t slots) {
    body += format("    %%%s_size = llvm.mlir.constant(%zu : i64) : i64\n", base, slots * kSlot);
    body += format("    %%%s_offset = llvm.mul %%record, %%%s_size : i64\n", base, base);
    body += format("    %%%s = llvm.getelementptr %s[%%%s_offset] : (!llvm.ptr<1>, i64) -> "
                   "!llvm.ptr<1>, i8\n",
                   base, buffer, base);
  };
  auto place = [&](const char *base, size_t index) {
    body += format("    %%%s_at%zu = llvm.getelementptr %%%s[%zu] : (!llvm.ptr<1>) -> "
                   "!llvm.ptr<1>, i8\n",
                   base, index, base, index * kSlot);
  };
  record("from", "%in", operands.size());
  record("to", "%out", results.size());
  if (active != ~0u) {
    body += format("    %%active = llvm.mlir.constant(%d : i32) : i32\n", int32_t(active));
    body += "    %own = llvm.lshr %active, %lane : i32\n"
            "    %takes_part = llvm.trunc %own : i32 to i1\n"
            "    llvm.cond_br %takes_part, ^execute, ^end\n"
            "  ^execute:\n";
  }
  std::string values, types, returned;
  for (size_t i = 0; i < operands.size(); ++i) {
    place("from", i);
    bool predicate = operands[i] == "i1";
    body += format("    %%%s%zu = llvm.load %%from_at%zu {alignment = 8 : i64} : !llvm.ptr<1> -> "
                   "%s\n",
                   predicate ? "byte" : "a", i, i, predicate ? "i8" : operands[i].c_str());
    if (predicate)
      body += format("    %%a%zu = llvm.trunc %%byte%zu : i8 to i1\n", i, i);
    values += (i ? ", %a" : "%a") + std::to_string(i);
    types += (i ? ", " : "") + operands[i];
  }
  for (size_t i = 0; i < results.size(); ++i)
    returned += (i ? ", " : "") + results[i];
  body += format("    %%d:%zu = kernel.ptx \"%s\"(", results.size(), instruction.c_str());
  body += values + ") : (" + types + ") -> (" + returned + ")\n";
  for (size_t i = 0; i < results.size(); ++i) {
    place("to", i);
    std::string value = "%d#" + std::to_string(i), type = results[i];
    if (type == "i1") {
      body += format("    %%wide%zu = llvm.zext %s : i1 to i32\n", i, value.c_str());
      value = "%wide" + std::to_string(i);
      type = "i32";
    }
    body += format("    llvm.store %s, %%to_at%zu {alignment = 8 : i64} : %s, !llvm.ptr<1>\n",
                   value.c_str(), i, type.c_str());
  }
  if (active != ~0u)
    body += "    llvm.br ^end\n  ^end:\n";
  return kernelOf(name, body, threads);
}

std::string fillShared(unsigned bytes) {
  return fill(R"(    %zero = llvm.mlir.constant(0 : i32) : i32
    llvm.br ^fill(%tid : i32)
  ^fill(%i: i32):
    %limit = llvm.mlir.constant($WORDS : i32) : i32
    %more = llvm.icmp "ult" %i, %limit : i32
    llvm.cond_br %more, ^fill_one, ^filled
  ^fill_one:
    %word_at = llvm.getelementptr %in[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %word = llvm.load %word_at : !llvm.ptr<1> -> i32
    %word_to = llvm.getelementptr %shared[%i] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    llvm.store %word, %word_to : i32, !llvm.ptr<3>
    %i_next = llvm.add %i, %threads : i32
    llvm.br ^fill(%i_next : i32)
  ^filled:
    nvvm.barrier0
)",
              {{"WORDS", std::to_string(bytes / 4)}});
}

std::string emptyShared(unsigned bytes) {
  return fill(R"(    nvvm.barrier0
    llvm.br ^empty(%tid : i32)
  ^empty(%j: i32):
    %end = llvm.mlir.constant($WORDS : i32) : i32
    %left = llvm.icmp "ult" %j, %end : i32
    llvm.cond_br %left, ^empty_one, ^emptied
  ^empty_one:
    %from = llvm.getelementptr %shared[%j] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %value = llvm.load %from : !llvm.ptr<3> -> i32
    %to = llvm.getelementptr %out[%j] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    llvm.store %value, %to : i32, !llvm.ptr<1>
    %j_next = llvm.add %j, %threads : i32
    llvm.br ^empty(%j_next : i32)
  ^emptied:
)",
              {{"WORDS", std::to_string(bytes / 4)}});
}

Bytes randomBytes(size_t count, uint64_t seed) {
  Random random(seed);
  Bytes bytes(count);
  for (uint8_t &byte : bytes)
    byte = uint8_t(random.bits());
  return bytes;
}

double decodeFloat(uint32_t bits, int exponent, int mantissa) {
  bool negative = bits >> (exponent + mantissa) & 1;
  int e = int(bits >> mantissa & ((1u << exponent) - 1));
  double m = double(bits & ((1u << mantissa) - 1)), sign = negative ? -1 : 1;
  int bias = (1 << (exponent - 1)) - 1;
  if (e == (1 << exponent) - 1)
    return m != 0 ? NAN : sign * INFINITY;
  if (e == 0)
    return sign * std::ldexp(m, 1 - bias - mantissa);
  return sign * std::ldexp(m + std::ldexp(1, mantissa), e - bias - mantissa);
}

uint32_t encodeFloat(double value, int exponent, int mantissa) {
  uint32_t sign = std::signbit(value) ? 1u << (exponent + mantissa) : 0;
  uint32_t infinity = ((1u << exponent) - 1) << mantissa;
  if (std::isnan(value))
    return infinity | 1u << (mantissa - 1);
  double magnitude = std::fabs(value);
  if (std::isinf(value))
    return sign | infinity;
  int bias = (1 << (exponent - 1)) - 1, e;
  std::frexp(magnitude, &e);
  int unit = std::max(e - 1, 1 - bias) - mantissa; // of the last place
  double units = std::nearbyint(std::ldexp(magnitude, -unit));
  if (magnitude == 0)
    return sign;
  // A carry into the next binade or out of the subnormal numbers comes out right by itself.
  uint32_t bits = uint32_t(units) + (uint32_t(unit + mantissa - (1 - bias)) << mantissa);
  return sign | std::min(bits, infinity);
}

bool agree(double got, double wanted, double tolerance) {
  if (std::isnan(wanted) || std::isnan(got))
    return std::isnan(wanted) && std::isnan(got);
  if (std::isinf(wanted) || std::isinf(got))
    return got == wanted;
  return std::fabs(got - wanted) <= tolerance;
}

} // namespace instructions
