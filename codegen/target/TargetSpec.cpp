// The command line's list of targets, and the GPU present.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/target/GpuTargets.h"
#include "codegen/target/Target.h"

#include "runtime/cuda/places.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <dlfcn.h>
#include <tuple>

using namespace cameo;
using llvm::StringRef;

namespace {

TargetVariant &variantFor(llvm::SmallVectorImpl<TargetVariant> &variants, const Target *target) {
  auto found = llvm::find_if(
      variants, [&](const TargetVariant &variant) { return variant.target->name == target->name; });
  if (found != variants.end())
    return *found;
  variants.push_back({target});
  return variants.back();
}

/// As in the table: by compute capability, the specific ones after the plain ones.
bool isBelow(const Target &a, const Target &b) {
  return std::tie(a.major, a.minor, a.archSpecific) < std::tie(b.major, b.minor, b.archSpecific);
}

/// Whose PTX `ptx` asks for: of the plain architectures listed the highest, since most GPUs can run
/// that; of a list that has only specific ones, the plain form of the highest; of an empty one, the
/// oldest there is.
const Target &portable(llvm::ArrayRef<TargetVariant> variants) {
  const Target *highest = nullptr;
  for (const TargetVariant &variant : variants) {
    const Target *target = variant.target;
    if (!highest || target->archSpecific < highest->archSpecific ||
        (target->archSpecific == highest->archSpecific && isBelow(*highest, *target)))
      highest = target;
  }
  const Target *result = &knownTargets().front();
  if (highest)
    for (const Target &target : knownTargets())
      if (!target.archSpecific && target.major == highest->major && target.minor == highest->minor)
        result = &target;
  return *result;
}

/// The best one whose cubin runs on such a GPU: it runs on later minor versions of its major version
/// too. Null: there is none.
const Target *targetOfCubin(unsigned major, unsigned minor) {
  const Target *best = nullptr;
  for (const Target &target : knownTargets())
    if (target.major == major && target.minor <= minor)
      if (!target.archSpecific || target.minor == minor)
        best = &target;
  return best;
}

/// What to write instead of a word that is no target, with "; " in front; nothing where that cannot
/// be told.
std::string targetHint(StringRef word) {
  StringRef digits = word.drop_while([](char c) { return !llvm::isDigit(c); });
  StringRef letters = word.drop_back(digits.size());
  std::string lower = word.lower();
  for (const CameoBoard &board : cameoBoards)
    if (cameoIsBoard(&board, lower.c_str()))
      return "; write " + targetOfCubin(board.arch / 10, board.arch % 10)->name.str() + ":" + lower;
  if (lower == "cuda" || lower == "gpu")
    return "; write native for the GPU of this machine";
  if (lower == "cpu" || lower == "x86")
    return "; write sim:sm_80 for the simulator on the CPU";
  // sm_80, SM80, 80, 8.0, compute_80.
  std::string number = llvm::join(llvm::split(digits, '.'), "");
  std::string prefix = letters.lower();
  unsigned capability = 0;
  if (!llvm::is_contained({"sm_", "sm", "sm-", "compute_", "compute", ""}, prefix) ||
      StringRef(number).take_while(llvm::isDigit).getAsInteger(10, capability))
    return "";
  std::string name = "sm_" + number;
  if (llvm::any_of(knownTargets(), [&](const Target &target) { return target.name == name; }))
    return "; write " + (prefix.rfind("compute", 0) == 0 ? "ptx:" + name : name);
  if (capability < knownTargets().front().capability())
    return "; the oldest is " + knownTargets().front().name.str();
  const Target *target = targetOfCubin(capability / 10, capability % 10);
  return "; write " + (target ? target->name.str() : "ptx") + ", which GPUs of " + name +
         " can run";
}

/// What a word with an architecture adds. Code for one architecture is for one board.
llvm::Error addArchitecture(llvm::SmallVectorImpl<TargetVariant> &variants, StringRef word) {
  bool sim = word.consume_front("sim:"), ptx = !sim && word.consume_front("ptx:");
  if (word == "sim")
    return llvm::createStringError("'sim' needs the architecture to simulate, e.g. sim:sm_80");
  llvm::Expected<const Target *> target = findTarget(word);
  if (!target)
    return llvm::createStringError(
        llvm::toString(target.takeError()) +
        "; other entries: ptx, ptx:<architecture>, native, sim:<architecture>, "
        "<architecture>:<board>" +
        targetHint(word));
  TargetVariant &variant = variantFor(variants, *target);
  if (word.contains(':')) {
    if (variant.boardNamed && variant.target != *target)
      return llvm::createStringError(variant.target->name.str() + " is listed for two boards, " +
                                     variant.target->board->name + " and " +
                                     (*target)->board->name);
    variant.target = *target;
    variant.boardNamed = true;
  }
  (sim ? variant.sim : ptx ? variant.ptx : variant.cubin) = true;
  return llvm::Error::success();
}

} // namespace

llvm::Expected<llvm::SmallVector<TargetVariant>> cameo::parseTargetSpec(StringRef text) {
  llvm::SmallVector<StringRef> words;
  text.split(words, ',');
  llvm::SmallVector<TargetVariant> variants;
  bool ptx = false;
  for (StringRef word : words) {
    word = word.trim();
    if (word.empty())
      return llvm::createStringError("empty entry in target list '" + text.str() +
                                     "'; expected e.g. sm_80,ptx,sim:sm_80");
    if (word == "ptx") {
      ptx = true;
      continue;
    }
    if (word == "native") {
      llvm::Expected<const Target *> target = findNativeTarget();
      if (!target)
        return target.takeError();
      variantFor(variants, *target).cubin = true;
      continue;
    }
    if (llvm::Error error = addArchitecture(variants, word))
      return std::move(error);
  }
  if (ptx)
    variantFor(variants, &portable(variants)).ptx = true;
  llvm::sort(variants, [](const TargetVariant &a, const TargetVariant &b) {
    return isBelow(*a.target, *b.target);
  });
  return variants;
}

llvm::Expected<std::string> cameo::targetsOfGpu(unsigned major, unsigned minor) {
  if (const Target *target = targetOfCubin(major, minor))
    return (target->name + ",ptx:" + target->name).str();
  const Target *newest = nullptr;
  for (const Target &target : knownTargets())
    if (!target.archSpecific && std::tie(target.major, target.minor) < std::tie(major, minor))
      newest = &target;
  if (!newest)
    return llvm::createStringError(
        llvm::formatv("no code for compute capability {0}.{1}; the oldest is {2}", major, minor,
                      knownTargets().front().name));
  return ("ptx:" + newest->name).str();
}

llvm::Expected<const Target *> cameo::findNativeTarget() {
  void *driver = dlopen(CAMEO_CUDA_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  for (const char *folder : cameoCudaFolders)
    if (!driver)
      driver =
          dlopen((folder + std::string("/" CAMEO_CUDA_LIBRARY)).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!driver)
    return llvm::createStringError("target 'native': no NVIDIA driver (" CAMEO_CUDA_LIBRARY
                                   ") on this machine; name an architecture instead, e.g. sm_80");
  // The driver stays loaded: it does not support being unloaded and loaded again.
  auto init = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
  auto count = reinterpret_cast<int (*)(int *)>(dlsym(driver, "cuDeviceGetCount"));
  auto get = reinterpret_cast<int (*)(int *, int)>(dlsym(driver, "cuDeviceGet"));
  auto attribute =
      reinterpret_cast<int (*)(int *, int, int)>(dlsym(driver, "cuDeviceGetAttribute"));
  if (!init || !count || !get || !attribute)
    return llvm::createStringError("target 'native': libcuda.so.1 lacks the driver's functions");
  int devices = 0, device = 0, major = 0, minor = 0;
  if (int status = init(0))
    return llvm::createStringError(
        llvm::formatv("target 'native': the driver fails to start (cuInit: error {0})", status));
  if (count(&devices) || devices < 1)
    return llvm::createStringError("target 'native': the driver finds no GPU");
  constexpr int majorAttribute = 75,
                minorAttribute = 76; // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_*
  if (get(&device, 0) || attribute(&major, majorAttribute, device) ||
      attribute(&minor, minorAttribute, device))
    return llvm::createStringError("target 'native': the GPU does not report its architecture");
  const Target *best = targetOfCubin(unsigned(major), unsigned(minor));
  if (!best)
    return llvm::createStringError(
        llvm::formatv("target 'native': no code for compute capability {0}.{1}; 'ptx' makes "
                      "code that the drivers of later GPUs can take",
                      major, minor));
  return best;
}
