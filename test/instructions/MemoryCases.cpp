// Matrices between shared memory and registers (ldmatrix, stmatrix) and cp.async (PTX ISA, "Warp
// Level Matrix Multiply-Accumulate Instructions" and "Data Movement and Conversion Instructions").
//
// SPDX-License-Identifier: Apache-2.0
#include "test/instructions/Case.h"

#include <algorithm>
#include <numeric>

namespace instructions {
namespace {

/// 64 rows of 16 bytes; each lane names one of them in the third parameter, all different.
std::vector<uint32_t> randomRows(uint64_t seed) {
  std::vector<uint32_t> rows(64);
  std::iota(rows.begin(), rows.end(), 0);
  Random random(seed);
  for (unsigned i = 63; i; --i)
    std::swap(rows[i], rows[random.below(i + 1)]);
  return rows;
}

/// "Each matrix's row addresses: threads 0-7 for the first, 8-15 for the second, ...; thread t
/// holds elements 2 (t mod 4), 2 (t mod 4) + 1 of row t / 4"; transposed, of the column.
void eachElement(unsigned matrices, bool transposed,
                 const std::function<void(unsigned lane, unsigned matrix, unsigned half,
                                          unsigned row, unsigned column)> &visit) {
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned matrix = 0; matrix < matrices; ++matrix)
      for (unsigned half = 0; half < 2; ++half) {
        unsigned row = lane / 4, column = 2 * (lane % 4) + half;
        if (transposed)
          std::swap(row, column);
        visit(lane, matrix, half, row, column);
      }
}

void addMatrix(std::vector<Case> &cases, bool load, unsigned matrices, bool transposed) {
  constexpr unsigned rowBytes = 16, bytes = 64 * rowBytes;
  Case made;
  made.instruction = format("%s.sync.aligned.m8n8.x%u%s.shared.b16", load ? "ldmatrix" : "stmatrix",
                            matrices, transposed ? ".trans" : "");
  made.name = made.instruction;
  std::replace(made.name.begin(), made.name.end(), '.', '_');
  made.since = load ? 75 : 90;
  made.shared = bytes;
  std::string list, types;
  for (unsigned i = 0; i < matrices; ++i) {
    list += format("%s%%r%u", i ? ", " : "", i);
    types += i ? ", i32" : "i32";
  }
  std::string body = fillShared(bytes);
  body += fill(
      R"(    %offset_at = llvm.getelementptr %offsets[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %offset = llvm.load %offset_at : !llvm.ptr<1> -> i32
    %row = llvm.getelementptr %shared[%offset] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
)",
      {});
  for (unsigned i = 0; i < matrices; ++i) {
    body += format("    %%index%u = llvm.mlir.constant(%u : i32) : i32\n", i, i * 32);
    body += format("    %%slot%u = llvm.add %%index%u, %%tid : i32\n", i, i);
    body += format("    %%at%u = llvm.getelementptr %s[%%slot%u] : (!llvm.ptr<1>, i32) -> "
                   "!llvm.ptr<1>, i32\n",
                   i, load ? "%out" : "%values", i);
    if (!load)
      body += format("    %%r%u = llvm.load %%at%u : !llvm.ptr<1> -> i32\n", i, i);
  }
  if (load) {
    body += fill(
        "    %r:$N = kernel.ptx \"$INSTRUCTION\"(%row) : (!llvm.ptr<3>) -> ($TYPES)\n",
        {{"N", std::to_string(matrices)}, {"INSTRUCTION", made.instruction}, {"TYPES", types}});
    for (unsigned i = 0; i < matrices; ++i)
      body += format("    llvm.store %%r#%u, %%at%u : i32, !llvm.ptr<1>\n", i, i);
  } else {
    body += fill("    kernel.ptx \"$INSTRUCTION\"(%row, $LIST) : (!llvm.ptr<3>, $TYPES) -> ()\n",
                 {{"LIST", list}, {"INSTRUCTION", made.instruction}, {"TYPES", types}});
    body += emptyShared(bytes);
  }
  made.kernel = kernelOf(made.name, body, 32,
                         "%in: !llvm.ptr<1>, %out: !llvm.ptr<1>, %offsets: !llvm.ptr<1>, "
                         "%values: !llvm.ptr<1>");
  std::vector<uint32_t> rows = randomRows(matrices + 8 * transposed);
  Bytes offsets(32 * 4);
  for (unsigned lane = 0; lane < 32; ++lane) {
    uint32_t offset = rows[lane] * rowBytes;
    memcpy(&offsets[4 * lane], &offset, 4);
  }
  Bytes in = randomBytes(bytes, 3), values = randomBytes(matrices * 128, 4);
  made.buffers = {in, Bytes(load ? matrices * 128 : bytes), offsets, values};
  made.check = [=](const std::vector<Bytes> &after) -> std::string {
    Bytes wanted = load ? Bytes(matrices * 128) : in;
    eachElement(matrices, transposed,
                [&](unsigned lane, unsigned matrix, unsigned half, unsigned row, unsigned column) {
                  size_t memory = rows[matrix * 8 + row] * rowBytes + 2 * column;
                  size_t registers = (matrix * 32 + lane) * 4 + 2 * half;
                  if (load)
                    memcpy(&wanted[registers], &in[memory], 2);
                  else
                    memcpy(&wanted[memory], &values[registers], 2);
                });
    for (size_t i = 0; i < wanted.size(); ++i)
      if (after[1][i] != wanted[i])
        return format("byte %zu is 0x%02x, not 0x%02x", i, after[1][i], wanted[i]);
    return {};
  };
  cases.push_back(std::move(made));
}

/// Every thread copies a piece in each of two groups; the first is waited for, then the second.
/// The pieces of the second may be partly zero.
void addCopy(std::vector<Case> &cases, const std::string &cache, unsigned bytes, bool sized) {
  constexpr unsigned threads = 64;
  Case made;
  made.instruction = "cp.async." + cache + ".shared.global " + std::to_string(bytes);
  made.name = format("cp_async_%s_%u%s", cache.c_str(), bytes, sized ? "_sized" : "");
  made.since = 80;
  made.threads = threads;
  made.shared = 2 * threads * 16;
  made.kernel = kernelOf(
      made.name,
      fill(R"(    %piece = llvm.mlir.constant($BYTES : i32) : i32
    %half = llvm.mlir.constant($HALF : i32) : i32
    %own = llvm.mul %tid, %piece : i32
    %own2 = llvm.add %own, %half : i32
    %source = llvm.getelementptr %in[%own] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
    %source2 = llvm.getelementptr %in[%own2] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
    %target = llvm.getelementptr %shared[%own] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %target2 = llvm.getelementptr %shared[%own2] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %size_at = llvm.getelementptr %sizes[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %size = llvm.load %size_at : !llvm.ptr<1> -> i32
    kernel.ptx "$INSTRUCTION"(%target, %source) : (!llvm.ptr<3>, !llvm.ptr<1>) -> ()
    kernel.ptx "cp.async.commit_group"() : () -> ()
    kernel.ptx "$INSTRUCTION"(%target2, %source2$SIZE) : (!llvm.ptr<3>, !llvm.ptr<1>$I32) -> ()
    kernel.ptx "cp.async.commit_group"() : () -> ()
    kernel.ptx "cp.async.wait_group 1"() : () -> ()
    nvvm.barrier0
    %one = llvm.mlir.constant(1 : i32) : i32
    %other = llvm.xor %own, %piece : i32
    %other_from = llvm.getelementptr %shared[%other] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %early = llvm.load %other_from {alignment = 4 : i64} : !llvm.ptr<3> -> i32
    %early_to = llvm.getelementptr %early_words[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    llvm.store %early, %early_to : i32, !llvm.ptr<1>
    kernel.ptx "cp.async.wait_all"() : () -> ()
$EMPTY)",
           {{"BYTES", std::to_string(bytes)},
            {"HALF", std::to_string(bytes * threads)},
            {"INSTRUCTION", made.instruction},
            {"SIZE", sized ? ", %size" : ""},
            {"I32", sized ? ", i32" : ""},
            {"EMPTY", emptyShared(2 * bytes * threads)}}),
      threads,
      "%in: !llvm.ptr<1>, %out: !llvm.ptr<1>, %sizes: !llvm.ptr<1>, %early_words: !llvm.ptr<1>");
  Bytes in = randomBytes(2 * bytes * threads, bytes), sizes(threads * 4);
  for (unsigned i = 0; i < threads; ++i) {
    uint32_t size = i * 7 % (bytes + 1);
    memcpy(&sizes[4 * i], &size, 4);
  }
  made.buffers = {in, Bytes(in.size()), sizes, Bytes(threads * 4)};
  made.check = [=](const std::vector<Bytes> &after) -> std::string {
    Bytes wanted = in;
    for (unsigned i = 0; i < threads && sized; ++i)
      for (unsigned b = i * 7 % (bytes + 1); b < bytes; ++b)
        wanted[(threads + i) * bytes + b] = 0;
    for (size_t i = 0; i < wanted.size(); ++i)
      if (after[1][i] != wanted[i])
        return format("byte %zu is 0x%02x, not 0x%02x", i, after[1][i], wanted[i]);
    for (unsigned i = 0; i < threads; ++i)
      if (memcmp(&after[3][4 * i], &in[(i ^ 1) * bytes], 4))
        return format("thread %u does not see the first group's data after its wait", i);
    return {};
  };
  cases.push_back(std::move(made));
}

} // namespace

void addMemoryCases(std::vector<Case> &cases) {
  for (bool load : {true, false})
    for (unsigned matrices : {1u, 2u, 4u})
      for (bool transposed : {false, true})
        addMatrix(cases, load, matrices, transposed);
  for (bool sized : {false, true}) {
    for (unsigned bytes : {4u, 8u, 16u})
      addCopy(cases, "ca", bytes, sized);
    addCopy(cases, "cg", 16, sized);
  }
}

} // namespace instructions
