// --taps: intermediate values as files, each written as soon as it is computed.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/main/session.h"

#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sys/stat.h>

namespace cameo::cli {
namespace {

// Whatever may be a part of a path or means something else to a shell is written as %2F.
std::string fileName(const char *name) {
  std::string result;
  for (const char *c = name; *c; ++c) {
    if (std::isalnum(static_cast<unsigned char>(*c)) || std::strchr("_-.:+=@", *c)) {
      result += *c;
      continue;
    }
    char code[4];
    std::snprintf(code, sizeof code, "%%%02X", unsigned(static_cast<unsigned char>(*c)));
    result += code;
  }
  return result;
}

// "#2" in the third trip of a loop, "#0.2" in that of one in another's first trip.
std::string tripText(const runtime::Shape &trips) {
  std::string text;
  for (int64_t trip : trips)
    text += (text.empty() ? "#" : ".") + std::to_string(trip);
  return text;
}

Status writeTap(const std::string &folder, const runtime::PlanTensor &tap,
                const runtime::TapValue &value) {
  HostTensor tensor;
  tensor.dtype = tap.dtype;
  tensor.shape = value.shape;
  const uint8_t *first = static_cast<const uint8_t *>(value.data);
  tensor.data.assign(first, first + value.bytes);
  std::vector<uint8_t> bytes;
  CAMEO_RETURN_IF_ERROR(formatNpy(tensor, bytes));
  return writeFile(folder + "/" + fileName(tap.name) + tripText(value.trips) + ".npy", bytes);
}

} // namespace

Status writeTaps(const std::string &folder, runtime::Context &context) {
  const std::vector<runtime::PlanTensor> &taps = context.plan().taps();
  if (taps.empty())
    return failure(Code::InvalidArgument,
                   "--taps: the model has none; cameoc --tap=NAME compiles it with them");
  if (mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST)
    return failure(Code::Io, "--taps: cannot make the folder '%s': %s", folder.c_str(),
                   std::strerror(errno));
  context.setTaps(
      [folder, &taps](const runtime::TapValue &value) {
        return writeTap(folder, taps[value.tap], value);
      },
      /*onHost=*/true);
  return {};
}

} // namespace cameo::cli
