// What the fake driver understands of PTX: its target, kernels, and what they declare.
// SPDX-License-Identifier: Apache-2.0
#include "fake_cuda_state.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <strings.h>

using namespace cameo::runtime::cuda;

namespace fakecuda {
namespace {

// A variable's declaration without its state space: `.u64 .ptr .align 16 p`, `.align 8 .b8 p[16]`.
struct Declaration {
  size_t bytes = 0, alignment = 0;
  std::string name;
};

Declaration readDeclaration(const std::string &text) {
  Declaration result;
  size_t element = 0;
  bool pointer = text.find(".ptr") != std::string::npos; // whose alignment is of what it points to
  for (size_t at = text.find('.'); at != std::string::npos; at = text.find('.', at + 1)) {
    const char *word = text.c_str() + at + 1;
    if (!strncmp(word, "align ", 6) && !pointer)
      result.alignment = strtoul(word + 6, nullptr, 10);
    else if (*word && strchr("usbf", *word) && isdigit(word[1]) && !element)
      element = strtoul(word + 1, nullptr, 10) / 8;
  }
  size_t bracket = text.find('[');
  size_t count =
      bracket == std::string::npos ? 1 : strtoul(text.c_str() + bracket + 1, nullptr, 10);
  result.bytes = element * count;
  result.alignment = std::max({result.alignment, element, size_t(1)});
  size_t end = text.find_last_not_of(" \t\n", bracket == std::string::npos ? bracket : bracket - 1);
  size_t begin = text.find_last_of(" \t\n", end);
  if (end != std::string::npos)
    result.name = text.substr(begin + 1, end - begin);
  return result;
}

void readParameters(const std::string &list, Kernel &kernel) {
  size_t offset = 0;
  for (size_t from = list.find(".param"); from != std::string::npos;) {
    size_t next = list.find(".param", from + 1);
    std::string text = list.substr(from + 6, next - from - 6);
    Declaration parameter = readDeclaration(text.substr(0, text.find(',')));
    offset = (offset + parameter.alignment - 1) / parameter.alignment * parameter.alignment;
    kernel.parameters.push_back({offset, parameter.bytes});
    offset += parameter.bytes;
    from = next;
  }
}

// `.reqntid 128, 2`: up to three numbers, those that are not there are 1.
void readThree(const std::string &text, const char *directive, unsigned *to) {
  size_t at = text.find(directive);
  if (at == std::string::npos)
    return;
  const char *rest = text.c_str() + at + strlen(directive);
  to[0] = to[1] = to[2] = 1;
  sscanf(rest, " %u , %u , %u", &to[0], &to[1], &to[2]);
}

void readDirectives(const std::string &text, Kernel &kernel) {
  unsigned most[3] = {}, registers[3] = {};
  readThree(text, ".reqntid ", kernel.block);
  readThree(text, ".reqnctapercluster ", kernel.cluster);
  readThree(text, ".maxntid ", most);
  readThree(text, ".maxnreg ", registers);
  kernel.maxThreads = most[0] * most[1] * most[2];
  kernel.registers = registers[0];
}

// The end of a body that begins with the brace at `open`.
size_t endOfBody(const std::string &text, size_t open) {
  int depth = 0;
  for (size_t at = open; at < text.size(); ++at) {
    depth += text[at] == '{' ? 1 : text[at] == '}' ? -1 : 0;
    if (depth == 0)
      return at;
  }
  return text.size();
}

// Shared variables with a size, which the whole file may declare for kernels that use them.
std::vector<Declaration> sharedVariables(const std::string &text) {
  std::vector<Declaration> result;
  for (size_t at = text.find(".shared "); at != std::string::npos;
       at = text.find(".shared ", at + 1)) {
    size_t end = text.find(';', at);
    if (end == std::string::npos)
      break;
    std::string declaration = text.substr(at + 8, end - at - 8);
    // Not `ld.shared .u32 ...`, nor an array whose size the launch says.
    if (declaration.find(',') == std::string::npos && declaration.find("[]") == std::string::npos &&
        (at == 0 || isspace(text[at - 1])))
      result.push_back(readDeclaration(declaration));
  }
  return result;
}

int sharedOf(const std::vector<Declaration> &variables, const std::string &body) {
  size_t bytes = 0;
  for (const Declaration &variable : variables)
    if (!variable.name.empty() && body.find(variable.name) != std::string::npos)
      bytes = (bytes + variable.alignment - 1) / variable.alignment * variable.alignment +
              variable.bytes;
  return static_cast<int>(bytes);
}

CUresult readKernels(const std::string &text, Module &module) {
  std::vector<Declaration> shared = sharedVariables(text);
  for (size_t at = text.find(".entry"); at != std::string::npos; at = text.find(".entry", at + 1)) {
    size_t open = text.find_first_of("({", at), body = text.find('{', at);
    if (body == std::string::npos)
      return errorInvalidPtx;
    Kernel kernel;
    size_t begin = text.find_first_not_of(" \t\n", at + 6);
    kernel.name = text.substr(begin, text.find_last_not_of(" \t\n", open - 1) + 1 - begin);
    kernel.parametersKnown = true;
    size_t end = text.find(')', open);
    if (text[open] == '(')
      readParameters(text.substr(open + 1, end - open - 1), kernel);
    else
      end = open;
    readDirectives(text.substr(end, body - end), kernel);
    kernel.sharedStatic = sharedOf(shared, text.substr(body, endOfBody(text, body) - body));
    module.kernels[kernel.name] = kernel;
  }
  return CUDA_SUCCESS;
}

// Enough of the table of PTX ISA versions to tell old drivers: 7.x came with CUDA 11, 8.x with 12.
int driverForIsa(double isa) {
  if (isa >= 8 && isa < 8.6)
    return 12000 + 10 * static_cast<int>((isa - 8) * 10 + 0.5);
  return isa >= 9 ? 13000 : isa >= 8.7 ? 12080 : isa >= 8 ? 12000 : isa >= 7 ? 11000 : 10000;
}

} // namespace

CUresult readPtx(const std::string &text, const DeviceSpec &device, int driverVersion,
                 Module &module, std::string &log) {
  size_t version = text.find(".version"), target = text.find(".target sm_");
  if (version == std::string::npos || target == std::string::npos) {
    log = "ptxas fatal   : Missing .version directive at start of file";
    return errorInvalidPtx;
  }
  if (driverForIsa(atof(text.c_str() + version + 8)) > driverVersion) {
    log = "ptxas fatal   : Unsupported .version";
    return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
  }
  char *end;
  int arch = static_cast<int>(strtol(text.c_str() + target + 11, &end, 10));
  int own = device.major * 10 + device.minor;
  if (arch > own || (*end == 'a' && arch != own))
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
  return readKernels(text, module);
}

CUresult readImage(const void *image, const DeviceSpec &device, int driverVersion, Module &module,
                   std::string &log) {
  auto *bytes = static_cast<const char *>(image);
  return isCubin(image) ? readCubin(bytes, device, driverVersion, module)
                        : readPtx(bytes, device, driverVersion, module, log);
}

std::string describeImage(const void *image) {
  if (isCubin(image))
    return describeCubin(image);
  const char *target = strstr(static_cast<const char *>(image), ".target ");
  return target ? "PTX " + std::string(target + 8, strcspn(target + 8, " ,\n")) : "text";
}

CUresult refusal(const std::string &description) {
  const std::string &list = state().refused;
  for (size_t at = 0; at < list.size();) {
    size_t end = std::min(list.find(',', at), list.size());
    std::string entry = list.substr(at, end - at);
    at = end + 1;
    size_t colon = std::min(entry.find(':'), entry.size());
    bool whole = colon == description.size() || entry.find(' ') == std::string::npos;
    if (colon && whole && !strncasecmp(entry.c_str(), description.c_str(), colon))
      return colon < entry.size()               ? atoi(entry.c_str() + colon + 1)
             : description.rfind("PTX", 0) == 0 ? errorInvalidPtx
                                                : CUDA_ERROR_NO_BINARY_FOR_GPU;
  }
  return CUDA_SUCCESS;
}

} // namespace fakecuda
