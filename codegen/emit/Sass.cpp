// nvdisasm's text ==> instructions ==> loops and counts. Control bits are at the places that
// NVIDIA's instructions of 128 bits have had since Volta: of the upper word bits 41 to 44 are the
// stall count.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/emit/Sass.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace cameo;
using llvm::StringRef;

namespace cameo::sass {
namespace {

/// Beginnings of opcodes, the first that fits counts.
constexpr struct {
  llvm::StringLiteral prefix;
  Kind kind;
} kPrefixes[] = {
    {"HFMA2.MMA", Kind::Integer}, // how ptxas loads constants
    {"HMMA", Kind::Matrix},       {"IMMA", Kind::Matrix},       {"BMMA", Kind::Matrix},
    {"DMMA", Kind::Matrix},       {"QMMA", Kind::Matrix},       {"HGMMA", Kind::Matrix},
    {"IGMMA", Kind::Matrix},      {"QGMMA", Kind::Matrix},      {"FFMA", Kind::MultiplyAdd},
    {"HFMA2", Kind::MultiplyAdd}, {"DFMA", Kind::MultiplyAdd},  {"IDP", Kind::MultiplyAdd},
    {"LDSM", Kind::LoadMatrix},   {"LDGSTS", Kind::AsyncCopy},  {"UTMA", Kind::AsyncCopy},
    {"UBLKCP", Kind::AsyncCopy},  {"LDGDEPBAR", Kind::Barrier}, {"DEPBAR", Kind::Barrier},
    {"BAR", Kind::Barrier},       {"WARPSYNC", Kind::Barrier},  {"SYNCS", Kind::Barrier},
    {"WARPGROUP", Kind::Barrier}, {"LDS", Kind::LoadShared},    {"STSM", Kind::StoreShared},
    {"STS", Kind::StoreShared},   {"LDG", Kind::LoadGlobal},    {"LD.", Kind::LoadGlobal},
    {"STG", Kind::StoreGlobal},   {"ST.", Kind::StoreGlobal},   {"LDL", Kind::Local},
    {"STL", Kind::Local},         {"NOP", Kind::Nop},           {"BRA", Kind::Branch},
    {"BRX", Kind::Branch},        {"BSSY", Kind::Branch},       {"BSYNC", Kind::Branch},
    {"BREAK", Kind::Branch},      {"CALL", Kind::Branch},       {"RET", Kind::Branch},
    {"EXIT", Kind::Branch},       {"JMP", Kind::Branch},        {"YIELD", Kind::Branch},
    {"NANOSLEEP", Kind::Branch},  {"R2UR", Kind::Uniform},      {"S2UR", Kind::Uniform},
    {"U", Kind::Uniform},         {"IADD", Kind::Integer},      {"IMAD", Kind::Integer},
    {"I2I", Kind::Integer},       {"I2F", Kind::Float},         {"I", Kind::Integer},
    {"VIADD", Kind::Integer},     {"VIMNMX", Kind::Integer},    {"LOP", Kind::Integer},
    {"LEA", Kind::Integer},       {"SHF", Kind::Integer},       {"SEL", Kind::Integer},
    {"MOV", Kind::Integer},       {"PRMT", Kind::Integer},      {"S2R", Kind::Integer},
    {"CS2R", Kind::Integer},      {"PLOP", Kind::Integer},      {"P2R", Kind::Integer},
    {"R2P", Kind::Integer},       {"VOTE", Kind::Integer},      {"SGXT", Kind::Integer},
    {"BMSK", Kind::Integer},      {"FLO", Kind::Integer},       {"POPC", Kind::Integer},
    {"LDC", Kind::Integer},       {"F", Kind::Float},           {"HADD2", Kind::Float},
    {"HMUL2", Kind::Float},       {"HSET", Kind::Float},        {"HMNMX", Kind::Float},
    {"MUFU", Kind::Float},        {"D", Kind::Float},
};

Kind kindOf(StringRef opcode) {
  for (const auto &entry : kPrefixes)
    if (opcode.starts_with(entry.prefix))
      return entry.kind;
  return Kind::Other;
}

/// "0x1d4" in front of whatever.
std::optional<uint64_t> leadingHex(StringRef text) {
  uint64_t value = 0;
  if (!text.consume_front("0x") || text.consumeInteger(16, value))
    return std::nullopt;
  return value;
}

/// Where a branch goes: its last operand, an address.
std::optional<uint64_t> branchTarget(StringRef text, StringRef opcode) {
  if (!opcode.starts_with("BRA"))
    return std::nullopt;
  return leadingHex(text.rsplit(' ').second);
}

/// The text between the comments that are the address and the encoding.
llvm::Expected<Instruction> parseInstruction(StringRef address, StringRef rest) {
  Instruction instruction;
  if (address.getAsInteger(16, instruction.address))
    return llvm::createStringError("nvdisasm: '" + address.str() + "' is not an address");
  StringRef text = rest.take_front(rest.rfind("/*")).rtrim();
  text.consume_back(";");
  text = text.trim();
  instruction.text = text.str();
  StringRef bare = text;
  bool isNever = bare.starts_with("@!PT ");
  if (bare.starts_with("@"))
    bare = bare.split(' ').second.ltrim();
  instruction.opcode = bare.split(' ').first.str();
  instruction.kind = isNever ? Kind::Nop : kindOf(instruction.opcode);
  instruction.target = branchTarget(text, instruction.opcode);
  return instruction;
}

bool isInside(const Loop &inner, const Loop &outer) {
  return outer.begin <= inner.begin && inner.end <= outer.end &&
         inner.end - inner.begin < outer.end - outer.begin;
}

std::vector<Loop> loopsOf(llvm::ArrayRef<Instruction> instructions) {
  std::vector<Loop> loops;
  for (size_t i = 0; i < instructions.size(); ++i) {
    const std::optional<uint64_t> &target = instructions[i].target;
    // A branch to itself fills the end of a kernel.
    if (!target || *target >= instructions[i].address)
      continue;
    auto *begin = std::lower_bound(
        instructions.begin(), instructions.end(), *target,
        [](const Instruction &left, uint64_t address) { return left.address < address; });
    loops.push_back({size_t(begin - instructions.begin()), i + 1});
  }
  return loops;
}

unsigned countOf(llvm::ArrayRef<Instruction> instructions, Loop loop, Kind kind) {
  return llvm::count_if(instructions.slice(loop.begin, loop.end - loop.begin),
                        [&](const Instruction &instruction) { return instruction.kind == kind; });
}

std::optional<Loop> innermostWithMost(llvm::ArrayRef<Instruction> instructions, Kind kind) {
  std::vector<Loop> loops;
  for (const Loop &loop : loopsOf(instructions))
    if (countOf(instructions, loop, kind))
      loops.push_back(loop);
  std::optional<Loop> best;
  unsigned most = 0;
  for (const Loop &loop : loops) {
    unsigned number = countOf(instructions, loop, kind);
    if (number > most &&
        llvm::none_of(loops, [&](const Loop &inner) { return isInside(inner, loop); })) {
      best = loop;
      most = number;
    }
  }
  return best;
}

unsigned warpsOf(unsigned threads) { return (threads + 31) / 32; }

/// Multiply-adds a cycle and multiprocessor of what an instruction is carried out by.
double rateOf(const Instruction &instruction, const Target &target) {
  unsigned arch = target.major * 10 + target.minor;
  auto rates = llvm::find_if(cameoRates, [&](const CameoRates &row) { return row.arch == arch; });
  if (rates == std::end(cameoRates))
    return 0;
  StringRef opcode = instruction.opcode;
  if (opcode.starts_with("FFMA"))
    return rates->fp32;
  if (opcode.starts_with("DFMA"))
    return rates->fp64;
  uint32_t floats = opcode.contains("TF32") ? rates->tf32_mma : rates->fp16_mma;
  return llvm::StringSwitch<double>(opcode.substr(0, opcode.find('.')))
      .Case("HMMA", cameoSyncRate(rates, floats))
      .Case("HGMMA", floats)
      .Case("IMMA", cameoSyncRate(rates, rates->int8_mma))
      .Case("IGMMA", rates->int8_mma)
      .Default(0);
}

} // namespace

StringRef kindName(Kind kind) {
  static constexpr llvm::StringLiteral kNames[kKinds] = {
      "matrix",      "multiply_add", "load_matrix", "load_shared", "store_shared", "async_copy",
      "load_global", "store_global", "local",       "float",       "integer",      "uniform",
      "barrier",     "branch",       "nop",         "other"};
  return kNames[size_t(kind)];
}

unsigned Instruction::accessBytes() const {
  switch (kind) {
  case Kind::LoadMatrix:
    return StringRef(opcode).contains(".4") ? 16 : StringRef(opcode).contains(".2") ? 8 : 4;
  case Kind::LoadShared:
  case Kind::StoreShared:
  case Kind::AsyncCopy:
  case Kind::LoadGlobal:
  case Kind::StoreGlobal:
  case Kind::Local:
    break;
  default:
    return 0;
  }
  llvm::SmallVector<StringRef> parts;
  StringRef(opcode).split(parts, '.');
  for (StringRef part : parts)
    if (unsigned bytes = llvm::StringSwitch<unsigned>(part)
                             .Case("128", 16)
                             .Case("64", 8)
                             .Cases("U16", "S16", 2)
                             .Cases("U8", "S8", 1)
                             .Default(0))
      return bytes;
  return 4;
}

unsigned Instruction::matrixMultiplyAdds() const {
  // HMMA.16816.F32 is of m16n8k16; those of a warpgroup, 64x128x16, count for a quarter of it.
  llvm::SmallVector<StringRef> parts;
  StringRef(opcode).split(parts, '.');
  if (kind != Kind::Matrix || parts.size() < 2)
    return 0;
  unsigned m = 0, n = 0, k = 0;
  if (parts[1].contains('x')) {
    auto [rows, others] = parts[1].split('x');
    auto [columns, depth] = others.split('x');
    if (rows.getAsInteger(10, m) || columns.getAsInteger(10, n) || depth.getAsInteger(10, k))
      return 0;
    return m * n * k / 4;
  }
  StringRef shape = parts[1];
  if (shape.consume_front("16"))
    m = 16;
  else if (shape.consume_front("8"))
    m = 8;
  if (!m || !shape.consume_front("8") || shape.getAsInteger(10, k))
    return 0;
  return m * 8 * k;
}

llvm::Expected<std::vector<Instruction>> parse(StringRef text) {
  std::vector<Instruction> instructions;
  llvm::SmallVector<StringRef> lines;
  text.split(lines, '\n', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef line : lines) {
    line = line.trim();
    if (!line.consume_front("/*"))
      continue;
    if (!line.starts_with(" 0x")) {
      auto [address, rest] = line.split("*/");
      llvm::Expected<Instruction> instruction = parseInstruction(address, rest);
      if (!instruction)
        return instruction.takeError();
      instructions.push_back(std::move(*instruction));
      continue;
    }
    // The upper word, on a line of its own.
    std::optional<uint64_t> word = leadingHex(line.ltrim());
    if (!word || instructions.empty())
      return llvm::createStringError("nvdisasm: no encoding in '" + line.str() + "'");
    instructions.back().stall = (*word >> 41) & 15;
  }
  return instructions;
}

std::optional<Loop> mainLoop(llvm::ArrayRef<Instruction> instructions) {
  if (std::optional<Loop> loop = innermostWithMost(instructions, Kind::Matrix))
    return loop;
  return innermostWithMost(instructions, Kind::MultiplyAdd);
}

LoopCounts count(llvm::ArrayRef<Instruction> instructions, Loop loop) {
  LoopCounts counts;
  for (const Instruction &instruction : instructions.slice(loop.begin, loop.end - loop.begin)) {
    ++counts.slots;
    ++counts.ofKind[size_t(instruction.kind)];
    counts.stall += instruction.stall;
    counts.matrixMultiplyAdds += instruction.matrixMultiplyAdds();
    unsigned bytes = instruction.accessBytes();
    counts.wideOfKind[size_t(instruction.kind)] += bytes == 16;
    switch (instruction.kind) {
    case Kind::AsyncCopy:
    case Kind::LoadMatrix:
    case Kind::LoadShared:
    case Kind::StoreShared:
      counts.sharedWavefronts += std::max(1u, bytes / 4);
      break;
    default:
      break;
    }
  }
  return counts;
}

unsigned blocksPerMultiprocessor(const Target &target, unsigned threads, unsigned registers,
                                 unsigned sharedBytes) {
  constexpr unsigned kPartitions = 4, kRegisterUnit = 256;
  unsigned warps = warpsOf(threads);
  if (!warps)
    return 0;
  unsigned blocks = std::min(
      {target.maxBlocksPerSm, target.maxWarpsPerSm / warps, target.maxThreadsPerSm / (32 * warps)});
  if (registers) {
    unsigned aWarp = llvm::alignTo(registers * 32, kRegisterUnit);
    blocks = std::min(blocks, kPartitions * (target.registersPerSm / kPartitions / aWarp) / warps);
  }
  // From compute capability 8.0 on the system has 1 KiB of every block's.
  unsigned reserved = target.major >= 8 ? 1024 : 0, unit = target.major >= 8 ? 128 : 256;
  if (unsigned bytes = llvm::alignTo(sharedBytes + reserved, unit))
    blocks = std::min(blocks, target.sharedPerSm / bytes);
  return blocks;
}

std::optional<Bound> boundOf(const LoopCounts &counts, llvm::ArrayRef<Instruction> instructions,
                             Loop loop, const Target &target, unsigned warps) {
  constexpr double kPartitions = 4;
  // Cycles of a multiprocessor for what one warp multiplies.
  double arithmetic = 0;
  Kind kind = counts.of(Kind::Matrix) ? Kind::Matrix : Kind::MultiplyAdd;
  for (const Instruction &instruction : instructions.slice(loop.begin, loop.end - loop.begin))
    if (instruction.kind == kind)
      if (double rate = rateOf(instruction, target))
        arithmetic += double(kind == Kind::Matrix ? instruction.matrixMultiplyAdds() : 32) / rate;
  if (!arithmetic || !warps)
    return std::nullopt;
  std::pair<double, StringRef> times[] = {
      {arithmetic * warps, "arithmetic"},
      {counts.slots * warps / kPartitions, "issue"},
      {double(counts.sharedWavefronts) * warps, "shared memory"},
      {double(counts.stall), "stalls"}};
  auto *longest = std::max_element(std::begin(times), std::end(times), llvm::less_first());
  return Bound{100 * arithmetic * warps / longest->first, longest->second, arithmetic};
}

} // namespace cameo::sass
