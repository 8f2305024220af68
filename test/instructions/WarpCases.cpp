// Collectives over registers: redux.sync, vote.sync, match.sync, elect.sync (PTX ISA, "Parallel
// Synchronization and Communication Instructions").
//
// SPDX-License-Identifier: Apache-2.0
#include "test/instructions/Case.h"

#include <algorithm>

namespace instructions {
namespace {

constexpr unsigned kWarps = 16;

/// The result of `lane`, given the operands of all; slots of results.
using Reference = std::function<std::vector<uint64_t>(const std::vector<uint64_t> &values,
                                                      uint32_t active, unsigned lane)>;

/// Operand 0 is random by `draw`, and of all lanes of every second warp the same; operand 1 (the
/// only one where `alone`) the mask.
void add(std::vector<Case> &cases, const std::string &instruction, unsigned since,
         const std::string &type, const std::vector<std::string> &results, uint32_t active,
         bool alone, const std::function<uint64_t(Random &)> &draw, const Reference &reference) {
  Case made;
  made.instruction = instruction;
  made.since = since;
  made.name = fill(instruction, {}) + format("_%08x", active);
  std::replace(made.name.begin(), made.name.end(), '.', '_');
  made.blocks = kWarps;
  std::vector<std::string> operands{type, "i32"};
  if (alone)
    operands.erase(operands.begin());
  made.kernel = registerKernel(made.name, instruction, operands, results, 32, active);
  unsigned count = unsigned(operands.size()), wide = unsigned(results.size());
  Bytes in(kWarps * 32 * count * kSlot), out(kWarps * 32 * wide * kSlot);
  Random random(active ^ since);
  for (unsigned record = 0; record < kWarps * 32; ++record) {
    bool same = record / 32 % 2 == 1 && record % 32;
    if (!alone)
      setSlot(in, record, count, 0, same ? slot(in, record - 1, count, 0) : draw(random));
    setSlot(in, record, count, count - 1, active);
  }
  made.buffers = {in, out};
  made.check = [=](const std::vector<Bytes> &after) -> std::string {
    for (unsigned warp = 0; warp < kWarps; ++warp) {
      std::vector<uint64_t> values;
      for (unsigned lane = 0; lane < 32; ++lane)
        values.push_back(slot(in, warp * 32 + lane, count, 0));
      for (unsigned lane = 0; lane < 32; ++lane) {
        std::vector<uint64_t> wanted(wide);
        if (active >> lane & 1)
          wanted = reference(values, active, lane);
        for (unsigned i = 0; i < wide; ++i)
          if (uint64_t got = slot(after[1], warp * 32 + lane, wide, i); got != wanted[i])
            return format("warp %u lane %u, result %u: 0x%llx, not 0x%llx", warp, lane, i,
                          (unsigned long long)got, (unsigned long long)wanted[i]);
      }
    }
    return {};
  };
  cases.push_back(std::move(made));
}

} // namespace

void addWarpCases(std::vector<Case> &cases) {
  auto number = [](Random &random) -> uint64_t { return uint32_t(random.bits()); };
  auto few = [](Random &random) -> uint64_t { return random.below(3); };
  for (uint32_t active : {0xffffffffu, 0x00ff00ffu, 0x80000000u}) {
    struct Combination {
      const char *name;
      int64_t (*apply)(int64_t, int64_t);
    };
    static const Combination combinations[] = {
        {"add", [](int64_t a, int64_t b) { return a + b; }},
        {"min", [](int64_t a, int64_t b) { return std::min(a, b); }},
        {"max", [](int64_t a, int64_t b) { return std::max(a, b); }},
        {"and", [](int64_t a, int64_t b) { return a & b; }},
        {"or", [](int64_t a, int64_t b) { return a | b; }},
        {"xor", [](int64_t a, int64_t b) { return a ^ b; }},
    };
    for (const Combination &combination : combinations)
      for (const char *type : {"u32", "s32", "b32"}) {
        bool bitwise = std::string("and or xor").find(combination.name) != std::string::npos;
        if (bitwise != (type[0] == 'b'))
          continue;
        bool isSigned = type[0] == 's';
        auto apply = combination.apply;
        add(cases, std::string("redux.sync.") + combination.name + "." + type, 80, "i32", {"i32"},
            active, false, number,
            [apply, isSigned](const std::vector<uint64_t> &values, uint32_t lanes, unsigned) {
              bool first = true;
              int64_t result = 0;
              for (unsigned lane = 0; lane < 32; ++lane) {
                if (!(lanes >> lane & 1))
                  continue;
                int64_t value = isSigned ? int32_t(values[lane]) : int64_t(values[lane]);
                result = first ? value : apply(result, value);
                first = false;
              }
              return std::vector<uint64_t>{uint32_t(result)};
            });
      }
    struct Vote {
      const char *mode;
      uint32_t (*result)(uint32_t ballot, uint32_t lanes);
    };
    static const Vote votes[] = {
        {"any.pred", [](uint32_t ballot, uint32_t) -> uint32_t { return ballot != 0; }},
        {"all.pred", [](uint32_t ballot, uint32_t lanes) -> uint32_t { return ballot == lanes; }},
        {"uni.pred",
         [](uint32_t ballot, uint32_t lanes) -> uint32_t { return !ballot || ballot == lanes; }},
        {"ballot.b32", [](uint32_t ballot, uint32_t) { return ballot; }},
    };
    for (const Vote &vote : votes) {
      auto result = vote.result;
      add(cases, std::string("vote.sync.") + vote.mode, 75, "i1",
          {std::string(vote.mode).find("pred") != std::string::npos ? "i1" : "i32"}, active, false,
          few, [result](const std::vector<uint64_t> &values, uint32_t lanes, unsigned) {
            uint32_t ballot = 0;
            for (unsigned lane = 0; lane < 32; ++lane)
              ballot |= uint32_t(values[lane] & lanes >> lane & 1) << lane;
            return std::vector<uint64_t>{result(ballot, lanes)};
          });
    }
    for (bool wide : {false, true}) {
      std::string type = wide ? "b64" : "b32", mlir = wide ? "i64" : "i32";
      auto spread = [wide](Random &random) {
        return wide ? uint64_t(random.below(3)) << 40 | 1 : uint64_t(random.below(3));
      };
      auto matching = [](const std::vector<uint64_t> &values, uint32_t lanes, unsigned own) {
        uint32_t same = 0;
        for (unsigned lane = 0; lane < 32; ++lane)
          same |= uint32_t((lanes >> lane & 1) && values[lane] == values[own]) << lane;
        return same;
      };
      add(cases, "match.any.sync." + type, 75, mlir, {"i32"}, active, false, spread,
          [matching](const std::vector<uint64_t> &values, uint32_t lanes, unsigned own) {
            return std::vector<uint64_t>{matching(values, lanes, own)};
          });
      // All the same in half of the warps or so.
      auto mostlySame = [wide](Random &random) {
        return random.below(40) ? wide ? 7ull << 32 : 7ull : 8ull;
      };
      add(cases, "match.all.sync." + type, 75, mlir, {"i32", "i1"}, active, false, mostlySame,
          [matching](const std::vector<uint64_t> &values, uint32_t lanes, unsigned own) {
            bool all = matching(values, lanes, own) == lanes;
            return std::vector<uint64_t>{all ? lanes : 0, all};
          });
    }
    add(cases, "elect.sync", 90, "i32", {"i32", "i1"}, active, true, few,
        [](const std::vector<uint64_t> &, uint32_t lanes, unsigned own) {
          unsigned leader = 0;
          while (!(lanes >> leader & 1))
            ++leader;
          return std::vector<uint64_t>{leader, own == leader};
        });
  }
}

} // namespace instructions
