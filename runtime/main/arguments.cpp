// The tensors that the command line gives: texts such as "name=@file", "@file" and literals, sizes,
// random values.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/main/session.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

namespace cameo::cli {
namespace {

// What a user must supply, one line per tensor.
std::string listInputs(const std::vector<runtime::PlanTensor> &tensors,
                       const std::vector<uint32_t> &indices) {
  std::string text;
  for (uint32_t index : indices) {
    text += std::string("\n  ") + tensors[index].name + ": " + runtime::formatType(tensors[index]);
  }
  return text;
}

// What stands in front of a file or a literal and is no name of the model's; else empty.
std::string unknownName(const std::string &text) {
  for (size_t at = text.find('='); at != std::string::npos; at = text.find('=', at + 1)) {
    std::string rest = text.substr(at + 1);
    if (rest[0] == '@' || looksLikeLiteral(rest))
      return text.substr(0, at);
  }
  return "";
}

// Neither a name of the model's with something after it, nor a file or a literal.
Status unknownAssignment(const char *option, const std::string &text,
                         const std::vector<runtime::PlanTensor> &tensors) {
  std::string names;
  for (const runtime::PlanTensor &tensor : tensors)
    names += (names.empty() ? "" : ", ") + std::string(tensor.name);
  if (std::string name = unknownName(text); !name.empty() && !names.empty())
    return failure(Code::InvalidArgument, "%s=%s: the model has no '%s'; the names are %s", option,
                   text.c_str(), name.c_str(), names.c_str());
  return failure(Code::InvalidArgument,
                 "%s=%s: write NAME=@FILE, @FILE or a literal such as NAME=2x3xf32=...; the names "
                 "are %s",
                 option, text.c_str(), names.empty() ? "none" : names.c_str());
}

// Index of the tensor whose name, with `end` behind it, is what `text` has at `at`, or the number
// of tensors. Names may contain any character: the longest that fits is meant.
size_t findName(const std::string &text, size_t at, char end,
                const std::vector<runtime::PlanTensor> &tensors) {
  size_t found = tensors.size(), longest = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    std::string prefix = std::string(tensors[i].name) + end;
    if (prefix.size() > longest && text.compare(at, prefix.size(), prefix) == 0) {
      longest = prefix.size();
      found = i;
    }
  }
  return found;
}

// Those of the texts that begin with a name; the others are left without an index.
Status assignByName(const char *option, const std::vector<std::string> &texts,
                    const std::vector<runtime::PlanTensor> &tensors, std::vector<bool> &taken,
                    std::vector<Assignment> &assignments) {
  taken.assign(tensors.size(), false);
  assignments.assign(texts.size(), {UINT32_MAX, "", false});
  for (size_t t = 0; t < texts.size(); ++t) {
    Assignment &assignment = assignments[t];
    assignment.value = texts[t];
    size_t index = findName(texts[t], 0, '=', tensors);
    if (index < tensors.size()) {
      if (taken[index])
        return failure(Code::InvalidArgument, "%s: '%s' is given twice", option,
                       tensors[index].name);
      taken[index] = true;
      assignment.index = uint32_t(index);
      assignment.value.erase(0, std::strlen(tensors[index].name) + 1);
    }
    assignment.isFile = assignment.value.size() > 1 && assignment.value[0] == '@';
    if (assignment.isFile)
      assignment.value.erase(0, 1);
  }
  return {};
}

// The others: the first tensors that no text names.
std::string noneLeft(size_t count) {
  return count == 1 ? "the model has one, which is given already"
         : count    ? "the model has " + std::to_string(count) + ", which are all given already"
                    : "the model has none";
}

Status assignByPosition(const char *option, const std::vector<std::string> &texts,
                        const std::vector<runtime::PlanTensor> &tensors, std::vector<bool> &taken,
                        std::vector<Assignment> &assignments) {
  size_t next = 0;
  for (size_t t = 0; t < texts.size(); ++t) {
    Assignment &assignment = assignments[t];
    if (assignment.index != UINT32_MAX)
      continue;
    if (!assignment.isFile && !looksLikeLiteral(assignment.value))
      return unknownAssignment(option, texts[t], tensors);
    while (next < tensors.size() && taken[next])
      ++next;
    if (next == tensors.size())
      return failure(Code::InvalidArgument, "%s=%s: %s", option, texts[t].c_str(),
                     noneLeft(tensors.size()).c_str());
    taken[next] = true;
    assignment.index = uint32_t(next);
  }
  return {};
}

bool isArchive(const Assignment &assignment) {
  const std::string &path = assignment.value;
  return assignment.isFile && path.size() > 4 && path.compare(path.size() - 4, 4, ".npz") == 0;
}

// An archive without a name gives all tensors that its members have the names of and that are not
// given yet.
Status spreadArchive(const char *option, const std::string &path,
                     const std::vector<runtime::PlanTensor> &tensors, std::vector<bool> &taken,
                     std::vector<GivenTensor> &given) {
  Members wanted;
  for (size_t i = 0; i < tensors.size(); ++i)
    if (!taken[i])
      wanted.names.push_back(tensors[i].name);
  if (wanted.names.empty())
    return failure(Code::InvalidArgument, "%s=@%s: %s", option, path.c_str(),
                   noneLeft(tensors.size()).c_str());
  std::vector<HostTensor> members;
  CAMEO_RETURN_IF_ERROR(loadTensors(path, wanted, members));
  bool named = std::any_of(tensors.begin(), tensors.end(), [&](const runtime::PlanTensor &tensor) {
    return members[0].name == tensor.name;
  });
  uint32_t next = 0;
  for (HostTensor &member : members) {
    uint32_t index = named ? 0 : next;
    while (taken[index] || (named && member.name != tensors[index].name))
      ++index;
    next = index;
    taken[index] = true;
    given.push_back({index, std::move(member)});
  }
  return {};
}

// One tensor of a file: the member of that name, or the only one; or a literal.
Status readTensor(const Assignment &assignment, const char *name, HostTensor &tensor) {
  if (!assignment.isFile)
    return parseLiteral(assignment.value, tensor);
  std::vector<HostTensor> members;
  Members wanted;
  wanted.one = name;
  CAMEO_RETURN_IF_ERROR(loadTensors(assignment.value, wanted, members));
  tensor = std::move(members[0]);
  return {};
}

Status parseSizes(const std::string &text, Shape &shape) {
  for (const char *at = text.c_str(); *at;) {
    char *end = nullptr;
    errno = 0;
    long long size = std::strtoll(at, &end, 10);
    if (end == at || errno || size < 0 || (*end && *end != 'x'))
      return failure(Code::InvalidArgument, "--shapes: '%s' is not a list of sizes such as 1x3x224",
                     text.c_str());
    shape.push_back(size);
    at = *end ? end + 1 : end;
  }
  return {};
}

// SplitMix64 (Steele, Lea, Flood 2014): the same values on every machine.
uint64_t nextRandom(uint64_t &state) {
  uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

// Floats in [-1, 1), integers 0 or 1, which are valid as indices of nearly everything.
Status randomTensor(const runtime::PlanTensor &wanted, const Shape &shape, uint64_t &state,
                    HostTensor &tensor) {
  tensor.dtype = wanted.dtype;
  tensor.shape = shape;
  uint64_t bytes = 0, count = 0;
  CAMEO_RETURN_IF_ERROR(runtime::tensorBytes(shape, wanted.dtype, bytes));
  CAMEO_RETURN_IF_ERROR(runtime::elementCount(shape, count));
  CAMEO_RETURN_IF_ERROR(checkHostBytes(bytes));
  tensor.data.assign(bytes, 0);
  bool real = runtime::isFloat(wanted.dtype) || runtime::isComplex(wanted.dtype);
  if (runtime::isComplex(wanted.dtype))
    count *= 2;
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t bits = nextRandom(state);
    if (real)
      runtime::writeFloat(tensor.data.data(), wanted.dtype, i, double(bits >> 40) * 0x1p-23 - 1);
    else
      runtime::writeInteger(tensor.data.data(), wanted.dtype, i, int64_t(bits >> 63));
  }
  return {};
}

// What --shapes and the inputs that are given make of sizes that have a name.
using NamedSizes = std::map<std::string, int64_t>;

void collectSizes(const runtime::PlanTensor &tensor, const Shape &shape, NamedSizes &sizes) {
  for (size_t i = 0; i < tensor.symbols.size() && i < shape.size(); ++i)
    if (*tensor.symbols[i] && shape[i] >= 0)
      sizes.emplace(tensor.symbols[i], shape[i]);
}

// The longest name of an open size that `text` has at `at`, with a colon behind it; else empty.
std::string findSize(const std::string &text, size_t at,
                     const std::vector<runtime::PlanTensor> &tensors) {
  std::string found;
  for (const runtime::PlanTensor &tensor : tensors)
    for (const char *symbol : tensor.symbols)
      if (std::string name = symbol;
          name.size() > found.size() && text.compare(at, name.size() + 1, name + ":") == 0)
        found = name;
  return found;
}

Status unknownShape(const char *text, const std::vector<runtime::PlanTensor> &tensors) {
  std::string inputs, sizes;
  std::map<std::string, bool> listed;
  for (const runtime::PlanTensor &tensor : tensors) {
    inputs += (inputs.empty() ? "" : ", ") + std::string(tensor.name);
    for (const char *symbol : tensor.symbols)
      if (*symbol && !listed[symbol]) {
        listed[symbol] = true;
        sizes += (sizes.empty() ? "" : ", ") + std::string(symbol);
      }
  }
  return failure(Code::InvalidArgument,
                 "--shapes: '%s' names no input and no open size; write INPUT:2x3 or SIZE:8; "
                 "inputs: %s; open sizes: %s",
                 text, inputs.empty() ? "none" : inputs.c_str(),
                 sizes.empty() ? "none" : sizes.c_str());
}

// "8" of "batch:8".
Status giveSize(const std::string &name, const std::string &text, NamedSizes &sizes) {
  Shape number;
  CAMEO_RETURN_IF_ERROR(parseSizes(text, number));
  if (number.size() != 1)
    return failure(Code::InvalidArgument, "--shapes: '%s' is an open size, one number and not '%s'",
                   name.c_str(), text.c_str());
  auto [known, isNew] = sizes.emplace(name, number[0]);
  if (!isNew && known->second != number[0])
    return failure(Code::InvalidArgument, "--shapes: %s is %lld by what else is given, not %lld",
                   name.c_str(), static_cast<long long>(known->second),
                   static_cast<long long>(number[0]));
  return {};
}

// Sizes for random inputs: --shapes, else the model's own; open ones as in other inputs, or 1.
// `sizes` has those of the inputs that are given.
Status randomShapes(const Options &options, const std::vector<runtime::PlanTensor> &tensors,
                    NamedSizes sizes, std::vector<Shape> &shapes) {
  for (const runtime::PlanTensor &tensor : tensors)
    shapes.push_back(tensor.dims);
  // Sizes have no commas; names may.
  for (const std::string &text : options.shapes)
    for (size_t at = 0; at <= text.size();) {
      size_t index = findName(text, at, ':', tensors);
      std::string size = index == tensors.size() ? findSize(text, at, tensors) : "";
      if (index == tensors.size() && size.empty())
        return unknownShape(text.c_str() + at, tensors);
      size_t start = at + (size.empty() ? std::strlen(tensors[index].name) : size.size()) + 1;
      size_t comma = std::min(text.find(',', start), text.size());
      if (!size.empty()) {
        CAMEO_RETURN_IF_ERROR(giveSize(size, text.substr(start, comma - start), sizes));
        at = comma + 1;
        continue;
      }
      shapes[index].clear();
      CAMEO_RETURN_IF_ERROR(parseSizes(text.substr(start, comma - start), shapes[index]));
      CAMEO_RETURN_IF_ERROR(runtime::checkShape(tensors[index], shapes[index]));
      collectSizes(tensors[index], shapes[index], sizes);
      at = comma + 1;
    }
  for (size_t t = 0; t < tensors.size(); ++t)
    for (size_t i = 0; i < shapes[t].size(); ++i)
      if (shapes[t][i] < 0) {
        auto known =
            i < tensors[t].symbols.size() ? sizes.find(tensors[t].symbols[i]) : sizes.end();
        shapes[t][i] = known == sizes.end() ? 1 : known->second;
      }
  return {};
}

// As in trtexec, what is only measured needs no real inputs.
bool measuresOnly(const Options &options) {
  return (options.benchmark != Report::None || options.profiled || options.sim.counters) &&
         options.outputs.empty() && options.expected.empty();
}

// A random input, where there is none and that is allowed.
Status addRandom(const Options &options, const runtime::PlanTensor &tensor, const Shape &shape,
                 uint64_t &state, HostTensor &input) {
  CAMEO_RETURN_IF_ERROR(randomTensor(tensor, shape, state, input));
  if (!options.randomInputs)
    std::fprintf(stderr, "input '%s' is not given: random values of %s\n", tensor.name,
                 runtime::formatType(shape, tensor.dtype).c_str());
  return {};
}

} // namespace

bool beginsWithName(const std::string &text, const std::vector<runtime::PlanTensor> &tensors) {
  return findName(text, 0, '=', tensors) < tensors.size();
}

Status assign(const char *option, const std::vector<std::string> &texts,
              const std::vector<runtime::PlanTensor> &tensors,
              std::vector<Assignment> &assignments) {
  std::vector<bool> taken;
  CAMEO_RETURN_IF_ERROR(assignByName(option, texts, tensors, taken, assignments));
  return assignByPosition(option, texts, tensors, taken, assignments);
}

Status readGiven(const char *option, const std::vector<std::string> &texts,
                 const std::vector<runtime::PlanTensor> &tensors, std::vector<GivenTensor> &given) {
  std::vector<bool> taken;
  std::vector<Assignment> assignments;
  CAMEO_RETURN_IF_ERROR(assignByName(option, texts, tensors, taken, assignments));
  std::vector<std::string> others;
  std::vector<Assignment> single;
  for (size_t t = 0; t < texts.size(); ++t)
    if (assignments[t].index == UINT32_MAX && isArchive(assignments[t])) {
      CAMEO_RETURN_IF_ERROR(spreadArchive(option, assignments[t].value, tensors, taken, given));
    } else {
      others.push_back(texts[t]);
      single.push_back(assignments[t]);
    }
  CAMEO_RETURN_IF_ERROR(assignByPosition(option, others, tensors, taken, single));
  for (const Assignment &assignment : single) {
    const char *name = tensors[assignment.index].name;
    HostTensor tensor;
    if (Status status = readTensor(assignment, name, tensor); !status.ok())
      return failure(status.code(), "%s '%s': %s", option + 2, name, status.message().c_str());
    given.push_back({assignment.index, std::move(tensor)});
  }
  return {};
}

Status chooseShapes(const Options &options, const std::vector<runtime::PlanTensor> &tensors,
                    std::vector<Shape> &shapes) {
  return randomShapes(options, tensors, {}, shapes);
}

Status gatherInputs(const Options &options, const Session &session,
                    std::vector<HostTensor> &inputs) {
  const std::vector<runtime::PlanTensor> &tensors = session.plan().inputs();
  std::vector<GivenTensor> given;
  CAMEO_RETURN_IF_ERROR(readGiven("--input", options.inputs, tensors, given));
  inputs.assign(tensors.size(), {});
  std::vector<bool> taken(tensors.size());
  NamedSizes sizes;
  for (GivenTensor &tensor : given) {
    taken[tensor.index] = true;
    inputs[tensor.index] = std::move(tensor.tensor);
    collectSizes(tensors[tensor.index], inputs[tensor.index].shape, sizes);
  }
  std::vector<Shape> shapes;
  CAMEO_RETURN_IF_ERROR(randomShapes(options, tensors, std::move(sizes), shapes));
  std::vector<uint32_t> missing;
  uint64_t state = options.randomSeed;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!taken[i] && !options.randomInputs && !measuresOnly(options)) {
      missing.push_back(uint32_t(i));
      continue;
    }
    Status status = taken[i] ? adaptType(inputs[i], tensors[i].dtype)
                             : addRandom(options, tensors[i], shapes[i], state, inputs[i]);
    if (!status.ok())
      return failure(status.code(), "input '%s': %s", tensors[i].name, status.message().c_str());
    CAMEO_RETURN_IF_ERROR(runtime::checkShape(tensors[i], inputs[i].shape));
  }
  if (!missing.empty())
    return failure(
        Code::InvalidArgument, "%zu input%s missing (--input=NAME=@FILE, or --random-inputs):%s",
        missing.size(), missing.size() > 1 ? "s are" : " is", listInputs(tensors, missing).c_str());
  return {};
}

Status bindInputs(runtime::Context &context, std::vector<HostTensor> &inputs) {
  // Host memory of no elements still is memory.
  static uint64_t none;
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    CAMEO_RETURN_IF_ERROR(context.setInputShape(i, inputs[i].shape));
    void *data = inputs[i].data.empty() ? static_cast<void *>(&none) : inputs[i].data.data();
    CAMEO_RETURN_IF_ERROR(
        context.bindInput(i, {runtime::Binding::Host, data, inputs[i].data.size()}));
  }
  return {};
}

} // namespace cameo::cli
