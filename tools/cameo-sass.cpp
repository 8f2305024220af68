// cameo-sass: what the machine code of kernels says of them, as JSON.
// SPDX-License-Identifier: Apache-2.0
#include "codegen/emit/Sass.h"
#include "tools/CrashReports.h"
#include "tools/ShortHelp.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace cameo;
namespace json = llvm::json;

namespace cl = llvm::cl;

static cl::OptionCategory category("Options");
static cl::list<std::string> files(cl::Positional, cl::OneOrMore, cl::cat(category),
                                   cl::desc("cubins"));
static cl::opt<std::string> arch("arch", cl::Required, cl::cat(category), cl::value_desc("ARCH"),
                                 cl::desc("the architecture that they are for: sm_80"));
static cl::opt<std::string> nvdisasm("nvdisasm", cl::cat(category), cl::value_desc("FILE"),
                                     cl::desc("NVIDIA's disassembler; else the PATH's"));
static cl::list<std::string>
    dynamicShared("dynamic-shared", cl::cat(category), cl::value_desc("KERNEL=BYTES"),
                  cl::desc("shared memory that launches of a kernel add to its own"));
static cl::opt<bool> listing("list", cl::cat(category),
                             cl::desc("print main loops instead, with stalls"));

static json::Object countsOf(const sass::LoopCounts &counts) {
  json::Object kinds, wide;
  for (size_t kind = 0; kind < sass::kKinds; ++kind) {
    if (counts.ofKind[kind])
      kinds[sass::kindName(sass::Kind(kind))] = counts.ofKind[kind];
    if (counts.wideOfKind[kind])
      wide[sass::kindName(sass::Kind(kind))] = counts.wideOfKind[kind];
  }
  return json::Object{{"kinds", std::move(kinds)}, {"of_16_bytes", std::move(wide)}};
}

static json::Object describe(const sass::Kernel &kernel, const Target &target,
                             unsigned dynamicBytes) {
  unsigned sharedBytes = kernel.sharedBytes + dynamicBytes;
  unsigned blocks =
      sass::blocksPerMultiprocessor(target, kernel.threads, kernel.registers, sharedBytes);
  unsigned warps = blocks * ((kernel.threads + 31) / 32);
  json::Object object{{"name", kernel.name},
                      {"registers", kernel.registers},
                      {"threads", kernel.threads},
                      {"shared_bytes", sharedBytes},
                      {"blocks_per_sm", blocks},
                      {"warps_per_sm", warps},
                      {"instructions", int64_t(kernel.instructions.size())}};
  object["whole"] = countsOf(sass::count(kernel.instructions, {0, kernel.instructions.size()}));
  std::optional<sass::Loop> loop = sass::mainLoop(kernel.instructions);
  if (!loop)
    return object;
  sass::LoopCounts counts = sass::count(kernel.instructions, *loop);
  json::Object found = countsOf(counts);
  found["slots"] = counts.slots;
  found["stall"] = counts.stall;
  found["matrix_multiply_adds"] = int64_t(counts.matrixMultiplyAdds);
  found["shared_wavefronts"] = counts.sharedWavefronts;
  if (std::optional<sass::Bound> bound =
          sass::boundOf(counts, kernel.instructions, *loop, target, warps)) {
    found["bound_percent"] = bound->percent;
    found["bound_by"] = bound->resource;
  }
  object["main_loop"] = std::move(found);
  return object;
}

static void print(const sass::Kernel &kernel) {
  llvm::outs() << kernel.name << ":\n";
  if (std::optional<sass::Loop> loop = sass::mainLoop(kernel.instructions))
    for (size_t i = loop->begin; i < loop->end; ++i) {
      const sass::Instruction &instruction = kernel.instructions[i];
      llvm::outs() << llvm::format("%6llx %2u  %-12s ", (unsigned long long)instruction.address,
                                   instruction.stall, sass::kindName(instruction.kind).data())
                   << instruction.text << "\n";
    }
}

static llvm::Error run() {
  llvm::Expected<const Target *> target = findTarget(arch);
  if (!target)
    return target.takeError();
  std::string tool = nvdisasm;
  if (tool.empty()) {
    llvm::ErrorOr<std::string> found = llvm::sys::findProgramByName("nvdisasm");
    if (!found)
      return llvm::createStringError("no nvdisasm in the PATH; --nvdisasm=FILE names one");
    tool = *found;
  }
  llvm::StringMap<unsigned> dynamicBytes;
  for (llvm::StringRef text : dynamicShared) {
    auto [name, bytes] = text.rsplit('=');
    if (bytes.getAsInteger(10, dynamicBytes[name]))
      return llvm::createStringError("--dynamic-shared: '" + text + "' is not KERNEL=BYTES");
  }
  std::vector<std::vector<char>> cubins;
  for (const std::string &file : files) {
    auto bytes = llvm::MemoryBuffer::getFile(file, /*IsText=*/false,
                                             /*RequiresNullTerminator=*/false);
    if (!bytes)
      return llvm::createStringError("cannot read '" + file + "': " + bytes.getError().message());
    if (!(*bytes)->getBuffer().starts_with("\177ELF"))
      return llvm::createStringError("'" + file + "' is not a cubin");
    cubins.emplace_back((*bytes)->getBufferStart(), (*bytes)->getBufferEnd());
  }
  llvm::Expected<std::vector<sass::Kernel>> kernels = sass::disassemble(cubins, **target, tool);
  if (!kernels)
    return kernels.takeError();
  json::Array list;
  for (const sass::Kernel &kernel : *kernels) {
    if (listing)
      print(kernel);
    else
      list.push_back(describe(kernel, **target, dynamicBytes.lookup(kernel.name)));
  }
  if (!listing)
    llvm::outs() << llvm::formatv("{0:2}", json::Value(std::move(list))) << "\n";
  return llvm::Error::success();
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  reportCrashes(llvm::ArrayRef<const char *>(argv, argc));
  nameVersion();
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv,
                              "what the machine code of kernels says of them, as JSON\n");
  if (llvm::Error error = run()) {
    llvm::errs() << "error: " << llvm::toString(std::move(error)) << "\n";
    return 1;
  }
  return 0;
}
