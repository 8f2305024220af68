// Takes a plan's tables apart, each size checked before it is used.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/core/plan.h"

#include <cstring>

namespace cameo::runtime {
namespace {

// Far above what a compiler emits; they bound what a damaged plan can make us allocate.
constexpr uint32_t kMaxRegisters = 1u << 24;
constexpr uint32_t kMaxBlockThreads = 1024;

// Hands out consecutive tables, each aligned to 8.
class Cursor {
public:
  Cursor(const uint8_t *data, uint64_t size) : data(data), size(size) {}

  template <typename T> bool take(uint64_t count, const T *&table) {
    uint64_t start = (position + 7) / 8 * 8;
    uint64_t bytes = count * sizeof(T); // counts are 32 bits wide: no overflow
    if (start > size || bytes > size - start)
      return false;
    table = reinterpret_cast<const T *>(data + start);
    position = start + bytes;
    return true;
  }
  uint64_t end() const { return position; }

private:
  const uint8_t *data;
  uint64_t size;
  uint64_t position = 0;
};

// Features that this version has a name for and does not have yet are refused by that name.
Status notYet(const char *kernel, const char *what) {
  return failure(Code::Incompatible, "kernel '%s' %s, which this runtime does not know yet", kernel,
                 what);
}

Status checkParameter(const char *kernel, uint32_t index, uint32_t type) {
  std::string name = "has parameter " + std::to_string(index);
  if (type == CAMEO_ARG_TENSOR_MAP)
    return notYet(kernel, (name + ", a tensor map").c_str());
  if (type == (CAMEO_ARG_BUFFER | CAMEO_ARG_WRITTEN))
    return notYet(kernel, (name + ", a buffer marked as written").c_str());
  if (type > CAMEO_ARG_F64)
    return failure(Code::Corrupt, "damaged launch plan: parameter %u of '%s' is of kind %u", index,
                   kernel, type);
  return {};
}

Status checkKinds(const CameoPlanKernel &kernel, const char *name) {
  if (kernel.flags & CAMEO_KERNEL_DEPENDENT)
    return notYet(name, "is launched before the one that it depends on ends");
  if (kernel.flags & CAMEO_KERNEL_COOPERATIVE)
    return notYet(name, "needs all of its blocks at once");
  if (kernel.flags & ~CAMEO_KERNEL_NO_SYNC)
    return failure(Code::Corrupt, "damaged launch plan: kernel '%s' has unknown flags 0x%x", name,
                   kernel.flags);
  uint32_t x = kernel.cluster & 0xff, y = kernel.cluster >> 8 & 0xff, z = kernel.cluster >> 16;
  if (kernel.cluster && (uint64_t(x) * y * z <= CAMEO_PORTABLE_CLUSTER_BLOCKS ||
                         uint64_t(x) * y * z > CAMEO_MOST_CLUSTER_BLOCKS))
    return failure(Code::Corrupt,
                   "damaged launch plan: kernel '%s' has clusters of %u x %u x %u blocks", name, x,
                   y, z);
  return {};
}

Status corrupt(const char *what) { return failure(Code::Corrupt, "damaged launch plan: %s", what); }

} // namespace

std::string formatBound(const PlanTensor &tensor, const Shape &bound) {
  std::string text;
  for (size_t i = 0; i < bound.size(); ++i) {
    const char *symbol = *tensor.symbols[i] ? tensor.symbols[i] : "?";
    text += (bound[i] < 0 ? symbol : std::to_string(bound[i])) + "x";
  }
  return text + dtypeName(tensor.dtype);
}

std::string formatType(const PlanTensor &tensor) { return formatBound(tensor, tensor.dims); }

Status Plan::parse(const uint8_t *data, uint64_t size, uint64_t weightBytes, uint32_t version,
                   Plan &plan) {
  if (reinterpret_cast<uintptr_t>(data) % 8)
    return corrupt("it is misaligned");
  plan.bytes = std::make_unique<uint64_t[]>((size + 7) / 8);
  std::memcpy(plan.bytes.get(), data, size);
  CAMEO_RETURN_IF_ERROR(
      plan.parseTables(reinterpret_cast<const uint8_t *>(plan.bytes.get()), size));
  CAMEO_RETURN_IF_ERROR(plan.validateCode(weightBytes, version));
  plan.findArenas();
  return plan.findResumePoints();
}

void Plan::findArenas() {
  for (uint32_t at = 0; at < wordCount; at += words[at] >> 16)
    if ((words[at] & 0xffff) == CAMEO_OP_ARENA_SIZE)
      arenaWords.push_back(at);
}

uint32_t Plan::arenaAt(uint32_t word) const {
  return uint32_t(std::lower_bound(arenaWords.begin(), arenaWords.end(), word) -
                  arenaWords.begin());
}

Status Plan::parseTables(const uint8_t *data, uint64_t size) {
  Cursor cursor(data, size);
  const CameoPlanHeader *header;
  const CameoPlanTensor *tensors;
  const CameoPlanDim *dims;
  const CameoPlanKernel *kernels;
  const uint32_t *argTypes;
  if (!cursor.take(1, header) || header->magic != CAMEO_PLAN_MAGIC)
    return corrupt("it has no header");
  uint64_t tensorCount = uint64_t(header->input_count) + header->output_count + header->tap_count;
  if (!cursor.take(tensorCount, tensors) || !cursor.take(header->dim_count, dims) ||
      !cursor.take(header->kernel_count, kernels) || !cursor.take(header->arg_count, argTypes) ||
      !cursor.take(header->code_words, words) || !cursor.take(header->string_bytes, strings))
    return corrupt("its tables exceed the section");
  if (size - cursor.end() >= 8)
    return corrupt("bytes follow its tables");
  if (!header->string_bytes || strings[header->string_bytes - 1] != 0)
    return corrupt("its strings do not end in NUL");
  wordCount = header->code_words;
  stringBytes = header->string_bytes;
  registers = header->register_count;
  buffers = header->buffer_count;
  if (registers > kMaxRegisters || buffers > kMaxRegisters)
    return failure(Code::Corrupt, "damaged launch plan: %u registers and %u buffers; at most %u",
                   registers, buffers, kMaxRegisters);
  // Each is the operand of an instruction that gives it its value.
  if (registers > wordCount || buffers > wordCount)
    return failure(Code::Corrupt,
                   "damaged launch plan: %u registers and %u buffers in %u words of code",
                   registers, buffers, wordCount);
  CAMEO_RETURN_IF_ERROR(checkString(header->name, "the entry point's name"));
  entryName = strings + header->name;

  inputList.resize(header->input_count);
  outputList.resize(header->output_count);
  tapList.resize(header->tap_count);
  for (std::vector<PlanTensor> *list : {&inputList, &outputList, &tapList})
    for (PlanTensor &tensor : *list)
      CAMEO_RETURN_IF_ERROR(parseTensor(*tensors++, dims, header->dim_count, tensor));
  CAMEO_RETURN_IF_ERROR(checkStates());
  kernelList.resize(header->kernel_count);
  for (uint32_t i = 0; i < header->kernel_count; ++i)
    CAMEO_RETURN_IF_ERROR(parseKernel(kernels[i], argTypes, header->arg_count, kernelList[i]));
  return {};
}

Status Plan::checkString(uint32_t offset, const char *what) const {
  if (offset >= stringBytes)
    return failure(Code::Corrupt, "damaged launch plan: %s is string %u of %u bytes", what, offset,
                   stringBytes);
  return {};
}

Status Plan::parseTensor(const CameoPlanTensor &tensor, const CameoPlanDim *dims, uint32_t dimCount,
                         PlanTensor &parsed) const {
  CAMEO_RETURN_IF_ERROR(checkString(tensor.name, "a tensor's name"));
  parsed.name = strings + tensor.name;
  parsed.dtype = tensor.dtype;
  parsed.flags = tensor.flags;
  if (!dtypeBits(tensor.dtype))
    return failure(Code::Corrupt, "damaged launch plan: tensor '%s' has element type %u",
                   parsed.name, tensor.dtype);
  if (tensor.flags & ~(CAMEO_TENSOR_HOST | CAMEO_TENSOR_STATE | CAMEO_TENSOR_IN_PLACE))
    return failure(Code::Corrupt, "damaged launch plan: tensor '%s' has unknown flags 0x%x",
                   parsed.name, tensor.flags);
  if (tensor.rank > kMaxRank || tensor.first_dim > dimCount ||
      tensor.rank > dimCount - tensor.first_dim)
    return failure(Code::Corrupt, "damaged launch plan: tensor '%s' has rank %u", parsed.name,
                   tensor.rank);
  for (uint32_t i = 0; i < tensor.rank; ++i) {
    const CameoPlanDim &dim = dims[tensor.first_dim + i];
    CAMEO_RETURN_IF_ERROR(checkString(dim.symbol, "a size's name"));
    if (dim.size < -1)
      return failure(Code::Corrupt, "damaged launch plan: tensor '%s' has size %lld", parsed.name,
                     (long long)dim.size);
    if (dim.reserved)
      return failure(Code::Corrupt,
                     "damaged launch plan: size %u of tensor '%s' has 0x%x in a reserved field", i,
                     parsed.name, dim.reserved);
    parsed.dims.push_back(dim.size);
    parsed.symbols.push_back(strings + dim.symbol);
  }
  return parseState(tensor, parsed);
}

Status Plan::parseState(const CameoPlanTensor &tensor, PlanTensor &parsed) const {
  if (!(tensor.flags & CAMEO_TENSOR_STATE)) {
    if (!tensor.state && !parsed.isInPlace())
      return {};
    return failure(Code::Corrupt,
                   "damaged launch plan: tensor '%s' is no state and has 0x%x as one", parsed.name,
                   tensor.state);
  }
  parsed.state = tensor.state & 0xffffff;
  uint32_t growing = tensor.state >> 24;
  bool grows = growing != CAMEO_STATE_FIXED;
  if (grows && (growing >= parsed.dims.size() || parsed.dims[growing] >= 0 ||
                (parsed.isInPlace() && dtypeBits(parsed.dtype) < 8)))
    return failure(Code::Corrupt, "damaged launch plan: state '%s' grows along dimension %u",
                   parsed.name, growing);
  if (grows)
    parsed.growing = growing;
  return {};
}

// Outputs are read behind inputs, so that states are checked against them last.
Status Plan::checkStates() const {
  std::vector<bool> taken(outputList.size());
  for (const std::vector<PlanTensor> *list : {&outputList, &tapList})
    for (const PlanTensor &tensor : *list)
      if (tensor.state != PlanTensor::kNone)
        return failure(Code::Corrupt, "damaged launch plan: '%s', which is no input, is a state",
                       tensor.name);
  for (const PlanTensor &input : inputList) {
    if (input.state == PlanTensor::kNone)
      continue;
    bool fits = input.state < outputList.size() && !taken[input.state] &&
                !(input.flags & CAMEO_TENSOR_HOST) &&
                outputList[input.state].dtype == input.dtype &&
                outputList[input.state].dims.size() == input.dims.size();
    if (!fits)
      return failure(Code::Corrupt, "damaged launch plan: input '%s' cannot be the state %u",
                     input.name, input.state);
    taken[input.state] = true;
  }
  return {};
}

Status stateBytes(const PlanTensor &tensor, Shape shape, uint64_t capacity, uint64_t &bytes) {
  if (tensor.growing != PlanTensor::kNone) {
    if (capacity > uint64_t(INT64_MAX))
      return failure(Code::OutOfRange, "state '%s' has room for %llu", tensor.name,
                     (unsigned long long)capacity);
    shape[tensor.growing] = int64_t(capacity);
  }
  return tensorBytes(shape, tensor.dtype, bytes);
}

Status Plan::parseKernel(const CameoPlanKernel &kernel, const uint32_t *argTypes, uint32_t argCount,
                         PlanKernel &parsed) const {
  CAMEO_RETURN_IF_ERROR(checkString(kernel.name, "a kernel's name"));
  CAMEO_RETURN_IF_ERROR(checkString(kernel.onnx_nodes, "a kernel's nodes"));
  parsed.name = strings + kernel.name;
  parsed.onnxNodes = strings + kernel.onnx_nodes;
  if (kernel.first_arg > argCount || kernel.arg_count > argCount - kernel.first_arg)
    return failure(Code::Corrupt, "damaged launch plan: kernel '%s' has %u parameters", parsed.name,
                   kernel.arg_count);
  parsed.argTypes = argTypes + kernel.first_arg;
  parsed.argCount = kernel.arg_count;
  for (uint32_t i = 0; i < kernel.arg_count; ++i)
    CAMEO_RETURN_IF_ERROR(checkParameter(parsed.name, i, parsed.argTypes[i]));
  CAMEO_RETURN_IF_ERROR(checkKinds(kernel, parsed.name));
  uint64_t threads = 1;
  for (int i = 0; i < 3; ++i) {
    parsed.block[i] = kernel.block[i];
    // Each factor is bounded first, so that the product cannot wrap.
    threads *= kernel.block[i] <= kMaxBlockThreads ? kernel.block[i] : kMaxBlockThreads + 1;
  }
  if (!threads || threads > kMaxBlockThreads)
    return failure(Code::Corrupt,
                   "damaged launch plan: kernel '%s' has blocks of %u x %u x %u threads; at most "
                   "%u",
                   parsed.name, kernel.block[0], kernel.block[1], kernel.block[2],
                   kMaxBlockThreads);
  parsed.sharedStatic = kernel.shared_static;
  parsed.flags = kernel.flags;
  parsed.cluster = kernel.cluster;
  return {};
}

} // namespace cameo::runtime
