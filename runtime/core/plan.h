// A launch plan, parsed and validated: whatever it holds, running it touches nothing out of range.
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_RUNTIME_CORE_PLAN_H
#define CAMEO_RUNTIME_CORE_PLAN_H

#include "runtime/core/status.h"
#include "runtime/core/types.h"
#include "runtime/format.h"

#include <memory>
#include <vector>

namespace cameo::runtime {

// Of any tensor.
constexpr uint32_t kMaxRank = 64;

struct PlanTensor {
  const char *name;
  uint32_t dtype;
  uint32_t flags;
  Shape dims;                        // -1 where open
  std::vector<const char *> symbols; // "" where there is none
  // The output that becomes an input after each run, and the dimension along which it grows; where both are one
  // memory, that has room for more there.
  static constexpr uint32_t kNone = UINT32_MAX;
  uint32_t state = kNone, growing = kNone;
  bool isInPlace() const { return flags & CAMEO_TENSOR_IN_PLACE; }
};

// No state is longer.
constexpr uint64_t kMostCapacity = uint64_t(1) << 40;
// Bytes of the memory of a state in place, with room for `capacity` along the dimension that grows.
Status stateBytes(const PlanTensor &tensor, Shape shape, uint64_t capacity, uint64_t &bytes);

struct PlanKernel {
  const char *name;
  const char *onnxNodes;
  uint32_t block[3];
  uint32_t sharedStatic;
  uint32_t flags;
  uint32_t cluster; // as in CameoPlanKernel
  const uint32_t *argTypes;
  uint32_t argCount;
};

// The place where a run goes on once a FETCH has brought its values, or where an ARENA_SIZE finds that it has to be
// more than the trip before took, and what is needed from there on of all that a run has come to know. It follows
// from the code, and is nowhere in the file.
struct ResumePoint {
  uint32_t word; // of the instruction behind the FETCH, or of the ARENA_SIZE
  std::vector<uint32_t> registers, buffers; // ascending
  std::vector<bool> shapes, values;         // one an input: those that are read
};

// "batchx3x224x224xf32": open sizes by their names, "?" where they have none.
std::string formatType(const PlanTensor &tensor);
// A type whose open sizes are at most those of `bound`, -1 if nothing bounds them.
std::string formatBound(const PlanTensor &tensor, const Shape &bound);

// A plan of a payload, validated.
class Plan {
public:
  // `version` is that of the payload. The plan keeps a copy: a file that changes later does not reach it.
  static Status parse(const uint8_t *data, uint64_t size, uint64_t weightBytes, uint32_t version,
                      Plan &plan);

  const char *name() const { return entryName; }
  const std::vector<PlanTensor> &inputs() const { return inputList; }
  const std::vector<PlanTensor> &outputs() const { return outputList; }
  // Intermediate values that a run shows on its way.
  const std::vector<PlanTensor> &taps() const { return tapList; }
  const std::vector<PlanKernel> &kernels() const { return kernelList; }
  const uint32_t *code() const { return words; }
  uint32_t codeWords() const { return wordCount; }
  const char *string(uint32_t offset) const { return strings + offset; }
  uint32_t registerCount() const { return registers; }
  uint32_t bufferCount() const { return buffers; }
  // True if a run may have several: it waits for values that it has computed, or its loops size arenas anew.
  bool hasSegments() const { return !resumeList.empty(); }
  const ResumePoint &resumeAt(uint32_t word) const;
  // True of code that jumps back.
  bool loops() const;
  // True of code with a buffer that random numbers are drawn by.
  bool drawsRandom() const;
  // Arenas, one for each instruction that sizes one; the number of the one at `word`.
  size_t arenaCount() const { return arenaWords.empty() ? 1 : arenaWords.size(); }
  uint32_t arenaAt(uint32_t word) const;
  // If the plan fetches: the inputs that some instruction makes a buffer of.
  const std::vector<bool> &deviceInputs() const { return usedInputs; }

private:
  Status parseTables(const uint8_t *data, uint64_t size);
  Status parseState(const CameoPlanTensor &tensor, PlanTensor &parsed) const;
  Status checkStates() const;
  Status parseTensor(const CameoPlanTensor &tensor, const CameoPlanDim *dims, uint32_t dimCount,
                     PlanTensor &parsed) const;
  Status parseKernel(const CameoPlanKernel &kernel, const uint32_t *argTypes, uint32_t argCount,
                     PlanKernel &parsed) const;
  Status checkString(uint32_t offset, const char *what) const;
  Status validateCode(uint64_t weightBytes, uint32_t version) const;
  struct CodeInstruction; // of validate.cpp
  Status validateOperand(const CodeInstruction &instruction, char kind, uint32_t value) const;
  Status validateTail(const CodeInstruction &instruction, char kind) const;
  Status validateMeaning(const CodeInstruction &instruction, uint64_t weightBytes) const;

  Status findResumePoints();
  void findArenas();

  std::unique_ptr<uint64_t[]> bytes; // which names, types of arguments and code are in
  const char *entryName = "";
  std::vector<PlanTensor> inputList, outputList, tapList;
  std::vector<PlanKernel> kernelList;
  std::vector<ResumePoint> resumeList; // by word
  std::vector<bool> usedInputs;
  std::vector<uint32_t> arenaWords; // in order
  const uint32_t *words = nullptr;
  uint32_t wordCount = 0;
  const char *strings = nullptr;
  uint32_t stringBytes = 0;
  uint32_t registers = 0;
  uint32_t buffers = 0;
};

} // namespace cameo::runtime

#endif
