// Finds what a run must remember where one segment follows another: the registers and buffers that are read
// from there on before they are set again, and the inputs whose shapes or values are. A dataflow,
// backwards over the validated code, one variable at a time, so that it takes memory for what is live
// alone.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/core/patterns.h"
#include "runtime/core/plan.h"

#include <algorithm>

namespace cameo::runtime {
namespace {

// Bounds the work by the file, whatever jumps are in it: blocks that are looked at, for each word.
constexpr uint64_t kVisitsPerWord = 1024;

class Liveness {
public:
  explicit Liveness(const Plan &plan)
      : plan(plan), code(plan.code()), firstBuffer(plan.registerCount()),
        firstShape(firstBuffer + plan.bufferCount()),
        firstValue(firstShape + uint32_t(plan.inputs().size())),
        variableCount(firstValue + uint32_t(plan.inputs().size())) {}

  Status run(std::vector<ResumePoint> &points, std::vector<bool> &usedInputs);

private:
  // Instructions of which each follows the one before it.
  struct Block {
    uint32_t begin, end;  // words
    bool resumes = false; // a run may go on from its beginning
    std::vector<uint32_t> before;
  };
  // That a block reads a variable before it sets it, or that it sets it.
  struct Mention {
    uint32_t variable, block;
    bool operator<(const Mention &other) const {
      return variable != other.variable ? variable < other.variable : block < other.block;
    }
  };

  uint32_t opcodeAt(uint32_t at) const { return code[at] & 0xffff; }
  uint32_t lengthAt(uint32_t at) const { return code[at] >> 16; }
  void findBlocks();
  void connect();
  void mention(uint32_t block);
  void mentionTail(uint32_t at, char kind, uint32_t used, uint32_t block);
  void read(uint32_t variable, uint32_t block);
  void set(uint32_t variable, uint32_t block);
  Status spread(std::vector<ResumePoint> &points);
  void mark(ResumePoint &point, uint32_t variable) const;

  const Plan &plan;
  const uint32_t *code;
  const uint32_t firstBuffer, firstShape, firstValue, variableCount;
  std::vector<Block> blocks;
  std::vector<uint32_t> blockOf; // by word, where one begins
  std::vector<Mention> reads, sets;
  std::vector<uint32_t> lastRead, lastSet; // by variable: the block that mentioned it, + 1
};

void Liveness::findBlocks() {
  std::vector<bool> begins(plan.codeWords() + 1);
  begins[0] = true;
  bool loops = plan.loops();
  std::vector<bool> resumes(plan.codeWords() + 1);
  for (uint32_t at = 0; at < plan.codeWords(); at += lengthAt(at)) {
    uint32_t opcode = opcodeAt(at);
    if (opcode == CAMEO_OP_ARENA_SIZE && loops)
      begins[at] = resumes[at] = true;
    if (opcode == CAMEO_OP_FETCH)
      resumes[at + lengthAt(at)] = true;
    if (opcode == CAMEO_OP_JUMP)
      begins[code[at + 1]] = true;
    if (opcode == CAMEO_OP_BRANCH_ZERO)
      begins[code[at + 2]] = true;
    if (opcode == CAMEO_OP_JUMP || opcode == CAMEO_OP_BRANCH_ZERO || opcode == CAMEO_OP_END ||
        opcode == CAMEO_OP_FETCH)
      begins[at + lengthAt(at)] = true;
  }
  blockOf.resize(plan.codeWords() + 1, UINT32_MAX);
  for (uint32_t at = 0; at < plan.codeWords(); at += lengthAt(at)) {
    if (begins[at]) {
      blockOf[at] = uint32_t(blocks.size());
      blocks.push_back({at, at, resumes[at], {}});
    }
    blocks.back().end = at + lengthAt(at);
  }
}

void Liveness::connect() {
  auto follow = [&](uint32_t from, uint32_t word) {
    if (word < plan.codeWords())
      blocks[blockOf[word]].before.push_back(from);
  };
  for (uint32_t i = 0; i < blocks.size(); ++i) {
    uint32_t at = blocks[i].begin, last = at;
    for (; at < blocks[i].end; at += lengthAt(at))
      last = at;
    uint32_t opcode = opcodeAt(last);
    if (opcode == CAMEO_OP_JUMP)
      follow(i, code[last + 1]);
    if (opcode == CAMEO_OP_BRANCH_ZERO)
      follow(i, code[last + 2]);
    if (opcode != CAMEO_OP_JUMP && opcode != CAMEO_OP_END)
      follow(i, blocks[i].end);
  }
}

void Liveness::read(uint32_t variable, uint32_t block) {
  if (lastSet[variable] == block + 1 || lastRead[variable] == block + 1)
    return;
  lastRead[variable] = block + 1;
  reads.push_back({variable, block});
}

void Liveness::set(uint32_t variable, uint32_t block) {
  if (lastSet[variable] == block + 1)
    return;
  lastSet[variable] = block + 1;
  sets.push_back({variable, block});
}

void Liveness::mentionTail(uint32_t at, char kind, uint32_t used, uint32_t block) {
  const uint32_t *tail = code + at + 1 + used;
  uint32_t count = lengthAt(at) - 1 - used;
  const PlanKernel *kernel =
      opcodeAt(at) == CAMEO_OP_LAUNCH ? &plan.kernels()[code[at + 1]] : nullptr;
  for (uint32_t i = 0; i < count; ++i) {
    bool isBuffer = kernel && kernel->argTypes[i] == CAMEO_ARG_BUFFER;
    if (kind == '+')
      set(tail[i], block);
    else
      read(isBuffer ? firstBuffer + tail[i] : tail[i], block);
  }
}

// Reads of an instruction count before what it sets.
void Liveness::mention(uint32_t block) {
  for (uint32_t at = blocks[block].begin; at < blocks[block].end; at += lengthAt(at)) {
    const char *pattern = operandPattern(opcodeAt(at));
    for (bool setting : {false, true}) {
      uint32_t used = 0;
      for (; pattern[used] && pattern[used] != '*' && pattern[used] != '+'; ++used) {
        uint32_t value = code[at + 1 + used];
        char kind = pattern[used];
        if (setting && (kind == 'R' || kind == 'B'))
          set(kind == 'R' ? value : firstBuffer + value, block);
        if (!setting && (kind == 'r' || kind == 'b'))
          read(kind == 'r' ? value : firstBuffer + value, block);
        if (!setting && (kind == 'i' || kind == 'h'))
          read(firstShape + value, block);
        if (!setting && kind == 'h')
          read(firstValue + value, block);
      }
      if (pattern[used] && setting == (pattern[used] == '+'))
        mentionTail(at, pattern[used], used, block);
    }
  }
}

void Liveness::mark(ResumePoint &point, uint32_t variable) const {
  if (variable < firstBuffer)
    point.registers.push_back(variable);
  else if (variable < firstShape)
    point.buffers.push_back(variable - firstBuffer);
  else if (variable < firstValue)
    point.shapes[variable - firstShape] = true;
  else
    point.values[variable - firstValue] = true;
}

// Goes back for each variable in turn, from where it is read to where it is set.
Status Liveness::spread(std::vector<ResumePoint> &points) {
  std::vector<uint32_t> pointOf(blocks.size(), UINT32_MAX);
  for (const Block &block : blocks)
    if (block.resumes) {
      pointOf[blockOf[block.begin]] = uint32_t(points.size());
      std::vector<bool> none(plan.inputs().size());
      points.push_back({block.begin, {}, {}, none, none});
    }
  std::sort(reads.begin(), reads.end());
  std::sort(sets.begin(), sets.end());
  std::vector<uint32_t> live(blocks.size()), isSet(blocks.size()); // the variable, + 1
  std::vector<uint32_t> open;
  uint64_t visits = 0, most = kVisitsPerWord * plan.codeWords();
  size_t nextSet = 0;
  for (size_t i = 0; i < reads.size();) {
    uint32_t variable = reads[i].variable;
    for (; nextSet < sets.size() && sets[nextSet].variable <= variable; ++nextSet)
      isSet[sets[nextSet].block] = sets[nextSet].variable + 1;
    for (; i < reads.size() && reads[i].variable == variable; ++i) {
      live[reads[i].block] = variable + 1;
      open.push_back(reads[i].block);
    }
    while (!open.empty()) {
      uint32_t block = open.back();
      open.pop_back();
      if (pointOf[block] != UINT32_MAX)
        mark(points[pointOf[block]], variable);
      for (uint32_t before : blocks[block].before) {
        if (++visits > most)
          return failure(Code::Corrupt, "damaged launch plan: its jumps take too long to follow");
        if (live[before] == variable + 1 || isSet[before] == variable + 1)
          continue;
        live[before] = variable + 1;
        open.push_back(before);
      }
    }
  }
  return {};
}

Status Liveness::run(std::vector<ResumePoint> &points, std::vector<bool> &usedInputs) {
  findBlocks();
  connect();
  lastRead.resize(variableCount);
  lastSet.resize(variableCount);
  for (uint32_t block = 0; block < blocks.size(); ++block)
    mention(block);
  usedInputs.resize(plan.inputs().size());
  for (uint32_t at = 0; at < plan.codeWords(); at += lengthAt(at))
    if (opcodeAt(at) == CAMEO_OP_BUF_INPUT)
      usedInputs[code[at + 2]] = true;
  return spread(points);
}

} // namespace

Status Plan::findResumePoints() {
  bool any = false, sizes = false;
  for (uint32_t at = 0; at < wordCount && !any; at += words[at] >> 16) {
    any = (words[at] & 0xffff) == CAMEO_OP_FETCH;
    sizes |= (words[at] & 0xffff) == CAMEO_OP_ARENA_SIZE;
  }
  return any || (sizes && loops()) ? Liveness(*this).run(resumeList, usedInputs) : Status();
}

bool Plan::loops() const {
  for (uint32_t at = 0; at < wordCount; at += words[at] >> 16) {
    uint32_t opcode = words[at] & 0xffff;
    if ((opcode == CAMEO_OP_JUMP && words[at + 1] <= at) ||
        (opcode == CAMEO_OP_BRANCH_ZERO && words[at + 2] <= at))
      return true;
  }
  return false;
}

bool Plan::drawsRandom() const {
  for (uint32_t at = 0; at < wordCount; at += words[at] >> 16)
    if ((words[at] & 0xffff) == CAMEO_OP_BUF_RANDOM)
      return true;
  return false;
}

const ResumePoint &Plan::resumeAt(uint32_t word) const {
  return *std::lower_bound(
      resumeList.begin(), resumeList.end(), word,
      [](const ResumePoint &point, uint32_t wanted) { return point.word < wanted; });
}

} // namespace cameo::runtime
