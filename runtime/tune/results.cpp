// Results are appended over the document's last brackets, which follow each of them again.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/tune/results.h"

#include "runtime/main/json.h"
#include "runtime/main/tensor.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cameo::tune {
namespace {

using cli::Json;

constexpr char kEnd[] = "\n]}\n";

std::string head(const Bundle &bundle, const Machine &machine) {
  char numbers[256];
  std::snprintf(
      numbers, sizeof numbers,
      "{\"cameo_tuning\": 1, \"schedule_version\": %lld, \"driver\": %u, \"arch\": \"sm_%u%s\"",
      (long long)bundle.scheduleVersion, machine.driver, machine.arch & ~CAMEO_ARCH_A,
      machine.arch & CAMEO_ARCH_A ? "a" : "");
  return numbers + (", \"bundle\": " + cli::quoteJson(bundle.hash)) +
         ", \"model\": " + cli::quoteJson(bundle.name) +
         ", \"compiler\": " + cli::quoteJson(bundle.compiler) +
         ", \"target\": " + cli::quoteJson(machine.target) +
         ", \"device\": " + cli::quoteJson(machine.device) + ", \"results\": [";
}

std::string describe(const Bundle &bundle, const Result &result) {
  const Dispatch &dispatch = bundle.dispatches[result.dispatch];
  char numbers[512];
  std::snprintf(
      numbers, sizeof numbers,
      "{\"dispatch\": %u, \"candidate\": %u, \"round\": %u, \"status\": \"%s\", \"us\": %.4g, "
      "\"spread\": %.3g, \"clock_mhz\": %u, \"replays\": %u, \"together\": %u, "
      "\"same_bits\": %s",
      result.dispatch, result.candidate, result.round, outcomeName(result.outcome),
      result.microseconds, result.spread, result.clock, result.replays, result.together,
      result.sameBits ? "true" : "false");
  std::string text = numbers;
  if (!result.message.empty())
    text += ", \"message\": " + cli::quoteJson(result.message);
  return text + ", " + dispatch.described + ", " + dispatch.candidates[result.candidate].described +
         "}";
}

std::string member(const Json &object, const char *name) {
  for (auto &[key, value] : object.members)
    if (key == name)
      return value.text;
  return "";
}

double number(const Json &object, const char *name) {
  return std::strtod(member(object, name).c_str(), nullptr);
}

bool readResult(const Bundle &bundle, const Json &json, Result &result) {
  result.dispatch = uint32_t(number(json, "dispatch"));
  result.candidate = uint32_t(number(json, "candidate"));
  result.round = uint32_t(number(json, "round"));
  result.microseconds = number(json, "us");
  return result.round >= 1 && result.dispatch < bundle.dispatches.size() &&
         result.candidate < bundle.dispatches[result.dispatch].candidates.size() &&
         parseOutcome(member(json, "status"), result.outcome);
}

// The end of the last whole result of a document that a kill has cut off.
size_t endOfWhole(const std::string &text) {
  size_t at = text.rfind("}\n]}");
  if (at != std::string::npos && text.size() == at + 1 + sizeof kEnd - 1)
    return at + 1;
  at = text.rfind("},\n");
  if (at != std::string::npos)
    return at + 1;
  static const std::string list = "\"results\": [";
  at = text.find(list);
  return at == std::string::npos ? 0 : at + list.size();
}

} // namespace

ResultsFile::~ResultsFile() {
  if (file >= 0)
    close(file);
}

Status ResultsFile::write(const std::string &text) {
  std::string whole = text + kEnd;
  ssize_t written = pwrite(file, whole.data(), whole.size(), end);
  if (written >= 0 && written != ssize_t(whole.size()))
    errno = ENOSPC; // which the next call would say
  if (written != ssize_t(whole.size()) || ftruncate(file, end + long(whole.size())) != 0)
    return failure(Code::Io, "cannot write '%s': %s", path.c_str(), strerror(errno));
  end += long(text.size());
  return {};
}

Status ResultsFile::resume(const Bundle &bundle, const Machine &machine,
                           std::vector<Result> &former) {
  std::vector<uint8_t> bytes;
  CAMEO_RETURN_IF_ERROR(cli::readFile(path, bytes));
  std::string text(bytes.begin(), bytes.end());
  size_t whole = endOfWhole(text);
  text.resize(whole);
  Json document;
  if (!cli::parseJson(text + kEnd, document) || member(document, "cameo_tuning") != "1")
    return failure(Code::InvalidArgument,
                   "'%s' exists, and is no file of results to go on with; name another one",
                   path.c_str());
  if (member(document, "bundle") != bundle.hash)
    return failure(Code::InvalidArgument,
                   "'%s' has results of another bundle (%s, of '%s'); name another file",
                   path.c_str(), member(document, "bundle").c_str(),
                   member(document, "model").c_str());
  if (member(document, "device") != machine.device)
    return failure(Code::InvalidArgument,
                   "'%s' has results of another machine (%s, here %s); name "
                   "another file",
                   path.c_str(), member(document, "device").c_str(), machine.device.c_str());
  if (member(document, "target") != machine.target)
    return failure(Code::InvalidArgument,
                   "'%s' has results of %s, and this machine runs %s here; name another file",
                   path.c_str(), member(document, "target").c_str(), machine.target.c_str());
  for (auto &[key, value] : document.members)
    if (key == "results")
      for (auto &[none, json] : value.members) {
        former.emplace_back();
        if (!readResult(bundle, json, former.back()))
          return failure(Code::InvalidArgument, "'%s': result %zu is not one of this bundle's",
                         path.c_str(), former.size());
      }
  end = long(whole);
  first = former.empty();
  return {};
}

Status ResultsFile::open(const std::string &name, const Bundle &of, const Machine &machine,
                         std::vector<Result> &former) {
  path = name;
  bundle = &of;
  struct stat info;
  bool exists = stat(path.c_str(), &info) == 0;
  if (exists && !S_ISREG(info.st_mode))
    return failure(Code::Io, "'%s' is not a regular file", path.c_str());
  file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0)
    return failure(Code::Io, "cannot write '%s': %s", path.c_str(), strerror(errno));
  if (flock(file, LOCK_EX | LOCK_NB) != 0)
    return failure(Code::Io, "'%s' is being written by another run", path.c_str());
  // An empty one is what a full disk has left.
  exists = exists && info.st_size > 0;
  if (exists)
    CAMEO_RETURN_IF_ERROR(resume(of, machine, former));
  return write(exists ? "" : head(of, machine));
}

Status ResultsFile::add(const Result &result) {
  std::string text = (first ? "\n" : ",\n") + describe(*bundle, result);
  first = false;
  return write(text);
}

} // namespace cameo::tune
