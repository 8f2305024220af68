// PTX text ==> cubins, by ptxas: found, run, its report read.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/emit/Assemble.h"

#include "codegen/emit/KernelName.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

using namespace cameo;
using llvm::StringRef;

namespace {

/// Reads the number in front of `word` in e.g. "Used 24 registers, 400 bytes cmem[0]".
unsigned numberBefore(StringRef line, StringRef word) {
  size_t at = line.find(word);
  if (at == StringRef::npos)
    return 0;
  StringRef before = line.take_front(at).rtrim();
  size_t start = before.find_last_not_of("0123456789");
  StringRef digits = start == StringRef::npos ? before : before.drop_front(start + 1);
  unsigned number = 0;
  return digits.getAsInteger(10, number) ? 0 : number;
}

/// Not --split-compile: it gains nothing on texts of this size, and its output differs.
constexpr llvm::StringLiteral kOptions[] = {"-O3", "-v"};

llvm::Error failure(const Target &target, const llvm::Twine &what) {
  return llvm::createStringError("assembling for " + target.name.str() + ": " + what.str());
}

/// A folder for the files of one run of ptxas, which goes with it.
class RunFolder {
public:
  RunFolder() : error(llvm::sys::fs::createUniqueDirectory("cameo-ptxas", folder)) {}
  ~RunFolder() {
    if (!error)
      llvm::sys::fs::remove_directories(folder);
  }
  RunFolder(const RunFolder &) = delete;
  RunFolder &operator=(const RunFolder &) = delete;

  std::string file(StringRef name) const {
    llvm::SmallString<128> path(folder);
    llvm::sys::path::append(path, name);
    return std::string(path);
  }

private:
  llvm::SmallString<128> folder; // before what makes it
public:
  const std::error_code error;
};

std::error_code writeText(StringRef path, StringRef text) {
  std::error_code error;
  llvm::raw_fd_ostream stream(path, error);
  if (error)
    return error;
  stream << text;
  stream.close();
  error = stream.error();
  stream.clear_error();
  return error;
}

/// Runs ptxas once.
llvm::Expected<CachedCode> runPtxas(StringRef ptx, const Target &target, StringRef ptxas) {
  RunFolder folder;
  if (folder.error)
    return failure(target, "no temporary folder: " + folder.error.message());
  std::string input = folder.file("kernels.ptx"), output = folder.file("kernels.cubin"),
              log = folder.file("log");
  if (std::error_code error = writeText(input, ptx))
    return failure(target, "cannot write " + input + ": " + error.message());
  std::string arch = "-arch=" + target.name.str();
  llvm::SmallVector<StringRef> arguments = {ptxas, arch};
  arguments.append(std::begin(kOptions), std::end(kOptions));
  arguments.append({"-o", output, input});
  std::string problem;
  int status =
      llvm::sys::ExecuteAndWait(ptxas, arguments, /*Env=*/std::nullopt,
                                {StringRef(), StringRef(log), StringRef(log)}, /*SecondsToWait=*/0,
                                /*MemoryLimit=*/0, &problem);
  auto text = llvm::MemoryBuffer::getFile(log);
  CachedCode cubin;
  if (text)
    cubin.log = (*text)->getBuffer().str();
  // Where the text was for this run is nobody's business, and would be another place the next time.
  std::string place = input.substr(0, input.size() - StringRef("kernels.ptx").size());
  for (size_t at = 0; (at = cubin.log.find(place, at)) != std::string::npos;)
    cubin.log.erase(at, place.size());
  if (status != 0)
    return failure(target, "ptxas fails" +
                               (problem.empty() ? llvm::Twine() : ": " + llvm::Twine(problem)) +
                               (cubin.log.empty() ? "" : "\n") + cubin.log);
  // ptxas: "Potential Performance Loss: wgmma.mma_async instructions are serialized due to ..."
  for (StringRef code : {"C7510", "C7514"})
    if (StringRef(cubin.log).contains(code))
      return failure(target, "warpgroup matrix instructions are serialised\n" + cubin.log);
  auto data = llvm::MemoryBuffer::getFile(output, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false);
  if (!data)
    return failure(target, "cannot read ptxas's output: " + data.getError().message());
  cubin.data.assign((*data)->getBufferStart(), (*data)->getBufferEnd());
  return cubin;
}

std::vector<KernelResources> resourcesOf(const CachedCode &cubin) {
  std::string rest;
  return parsePtxasLog(cubin.log, rest);
}

unsigned spillBytes(const KernelResources &kernel) {
  return kernel.spillStoreBytes + kernel.spillLoadBytes;
}

unsigned spillBytes(llvm::ArrayRef<KernelResources> kernels) {
  unsigned sum = 0;
  for (const KernelResources &kernel : kernels)
    sum += spillBytes(kernel);
  return sum;
}

/// The text with `.minnctapersm 1` for kernels that spill: then ptxas does not give up registers to
/// have more blocks on a multiprocessor. Kernels with such a directive stay as they are.
std::string withoutOccupancyGoal(StringRef ptx, llvm::ArrayRef<KernelResources> kernels) {
  std::string text = ptx.str();
  for (const KernelResources &kernel : kernels) {
    size_t entry =
        spillBytes(kernel) ? text.find(".entry " + kernel.name + "(") : std::string::npos;
    size_t body = entry == std::string::npos ? entry : text.find("\n{", entry);
    if (body != std::string::npos && !StringRef(text).slice(entry, body).contains(".minnctapersm"))
      text.insert(body, "\n.minnctapersm 1");
  }
  return text;
}

} // namespace

llvm::Expected<std::string> cameo::findPtxas(StringRef explicitPath) {
  if (!explicitPath.empty()) {
    if (!llvm::sys::fs::can_execute(explicitPath))
      return llvm::createStringError("no executable ptxas at " + explicitPath.str());
    return explicitPath.str();
  }
  llvm::ErrorOr<std::string> found = llvm::sys::findProgramByName("ptxas");
  return found ? *found : std::string();
}

std::string cameo::ptxasVersion(StringRef ptxas) {
  RunFolder folder;
  if (folder.error)
    return "";
  std::string file = folder.file("version");
  std::optional<StringRef> redirects[] = {StringRef(""), StringRef(file), StringRef("")};
  if (llvm::sys::ExecuteAndWait(ptxas, {ptxas, "--version"}, std::nullopt, redirects, 10))
    return "";
  auto text = llvm::MemoryBuffer::getFile(file);
  return text ? (*text)->getBuffer().str() : "";
}

std::optional<unsigned> cameo::ptxasCudaVersion(StringRef ptxas) {
  // "Cuda compilation tools, release 13.0, V13.0.88"
  std::string text = ptxasVersion(ptxas);
  auto [major, rest] = StringRef(text).split(", release ").second.split('.');
  unsigned numbers[2];
  if (major.getAsInteger(10, numbers[0]) || rest.consumeInteger(10, numbers[1]))
    return std::nullopt;
  return 10 * numbers[0] + numbers[1];
}

std::vector<KernelResources> cameo::parsePtxasLog(StringRef log, std::string &rest) {
  std::vector<KernelResources> kernels;
  llvm::SmallVector<StringRef> lines;
  log.split(lines, '\n');
  bool properties = false;
  for (StringRef line : lines) {
    size_t entry = line.find("Compiling entry function '");
    if (entry != StringRef::npos) {
      KernelResources kernel;
      kernel.name = line.drop_front(entry).split('\'').second.split('\'').first.str();
      kernels.push_back(std::move(kernel));
      continue;
    }
    if (line.contains("Function properties for ")) {
      // Functions that are called have properties too; only the kernel's count.
      properties = !kernels.empty() && line.trim().ends_with(" " + kernels.back().name);
      continue;
    }
    if (line.contains("bytes stack frame")) {
      if (properties) {
        kernels.back().stackBytes = numberBefore(line, "bytes stack frame");
        kernels.back().spillStoreBytes = numberBefore(line, "bytes spill stores");
        kernels.back().spillLoadBytes = numberBefore(line, "bytes spill loads");
      }
      continue;
    }
    if (line.contains("Used ") && line.contains(" registers") && !kernels.empty()) {
      KernelResources &kernel = kernels.back();
      kernel.registers = numberBefore(line, " registers");
      kernel.barriers = numberBefore(line, " barriers");
      kernel.sharedBytes = numberBefore(line, " bytes smem");
      kernel.constantBytes = numberBefore(line, " bytes cmem[0]");
      continue;
    }
    if (line.trim().empty() || line.contains("bytes gmem") || line.contains("Compile time ="))
      continue;
    rest += line.str() + "\n";
  }
  return kernels;
}

llvm::Expected<std::unique_ptr<Assembler>> Assembler::create(StringRef path, CodeStore *store) {
  llvm::Expected<std::string> ptxas = findPtxas(path);
  if (!ptxas)
    return ptxas.takeError();
  if (ptxas->empty())
    return llvm::createStringError(
        "no ptxas in the PATH; install the CUDA toolkit's nvcc component "
        "or ask for PTX only");
  std::unique_ptr<Assembler> assembler(new Assembler(std::move(*ptxas)));
  if (!store || !store->keeps())
    return assembler;
  // Without a version nobody knows whose cubins they are.
  assembler->version = ptxasVersion(assembler->ptxas);
  if (assembler->version.empty())
    store->warn(assembler->ptxas + " does not say its version");
  else
    assembler->store = store;
  return assembler;
}

llvm::Expected<CachedCode> Assembler::make(StringRef ptx, const Target &target) const {
  llvm::Expected<CachedCode> cubin = runPtxas(ptx, target, ptxas);
  if (!cubin)
    return cubin;
  std::vector<KernelResources> kernels = resourcesOf(*cubin);
  if (!spillBytes(kernels))
    return cubin;
  llvm::Expected<CachedCode> other = runPtxas(withoutOccupancyGoal(ptx, kernels), target, ptxas);
  if (!other || spillBytes(resourcesOf(*other)) < spillBytes(kernels))
    return other;
  return cubin;
}

llvm::Expected<Cubin> Assembler::assemble(StringRef ptx, const Target &target) {
  // Always, so that what comes from the cache is what is made without one.
  KernelName name = KernelName::find(ptx);
  std::string text = name.neutralised(ptx);
  llvm::SmallVector<StringRef> parts = {"1", version, target.name};
  parts.append(std::begin(kOptions), std::end(kOptions));
  parts.push_back(text);
  auto makeIt = [&] { return make(text, target); };
  llvm::Expected<CachedCode> cubin = store ? store->get("cubins", parts, makeIt) : makeIt();
  if (!cubin)
    return llvm::createStringError(name.restored(llvm::toString(cubin.takeError())));
  if (!name.restore(cubin->data))
    return failure(target, "ptxas's output is not an ELF file");
  Cubin result;
  result.kernels = parsePtxasLog(name.restored(cubin->log), result.log);
  result.data = std::move(cubin->data);
  return result;
}
