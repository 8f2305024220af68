// PTX text ==> cubins, by ptxas: found, run in parallel, its report read.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/emit/Ptx.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/ThreadPool.h"

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

/// Runs ptxas once.
llvm::Expected<Cubin> runPtxas(const AssembleJob &job, StringRef ptxas) {
  auto fail = [&](const llvm::Twine &what) {
    return llvm::createStringError("assembling for " + job.target->name.str() + ": " + what.str());
  };
  llvm::SmallString<128> folder;
  if (std::error_code error = llvm::sys::fs::createUniqueDirectory("cameo-ptxas", folder))
    return fail("no temporary folder: " + error.message());
  auto cleanup = llvm::make_scope_exit([&] { llvm::sys::fs::remove_directories(folder); });
  auto file = [&](StringRef name) {
    llvm::SmallString<128> path(folder);
    llvm::sys::path::append(path, name);
    return std::string(path);
  };
  std::string input = file("kernels.ptx"), output = file("kernels.cubin"), log = file("log");
  {
    std::error_code error;
    llvm::raw_fd_ostream stream(input, error);
    if (!error) {
      stream << job.ptx;
      stream.close();
      error = stream.error();
    }
    if (error) {
      stream.clear_error();
      return fail("cannot write " + input + ": " + error.message());
    }
  }
  std::string arch = "-arch=" + job.target->name.str();
  // Not --split-compile: it gains nothing on texts of this size, and its output differs.
  llvm::SmallVector<StringRef> arguments = {ptxas, arch, "-O3", "-v"};
  arguments.append({"-o", output, input});
  std::string problem;
  int status =
      llvm::sys::ExecuteAndWait(ptxas, arguments, /*Env=*/std::nullopt,
                                {StringRef(), StringRef(log), StringRef(log)}, /*SecondsToWait=*/0,
                                /*MemoryLimit=*/0, &problem);
  auto text = llvm::MemoryBuffer::getFile(log);
  StringRef message = text ? (*text)->getBuffer() : StringRef();
  if (status != 0)
    return fail("ptxas fails" + (problem.empty() ? llvm::Twine() : ": " + llvm::Twine(problem)) +
                (message.empty() ? "" : "\n") + message);
  Cubin cubin;
  cubin.kernels = parsePtxasLog(message, cubin.log);
  // ptxas: "Potential Performance Loss: wgmma.mma_async instructions are serialized due to ..."
  for (StringRef code : {"C7510", "C7514"})
    if (StringRef(cubin.log).contains(code))
      return fail("warpgroup matrix instructions are serialised\n" + cubin.log);
  auto data = llvm::MemoryBuffer::getFile(output, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false);
  if (!data)
    return fail("cannot read ptxas's output: " + data.getError().message());
  cubin.data.assign((*data)->getBufferStart(), (*data)->getBufferEnd());
  return cubin;
}

unsigned spillBytes(const KernelResources &kernel) {
  return kernel.spillStoreBytes + kernel.spillLoadBytes;
}

unsigned spillBytes(const Cubin &cubin) {
  unsigned sum = 0;
  for (const KernelResources &kernel : cubin.kernels)
    sum += spillBytes(kernel);
  return sum;
}

/// The text with `.minnctapersm 1` for kernels that spill: then ptxas does not give up registers to
/// have more blocks on a multiprocessor. Kernels with such a directive stay as they are.
std::string withoutOccupancyGoal(StringRef ptx, const Cubin &cubin) {
  std::string text = ptx.str();
  for (const KernelResources &kernel : cubin.kernels) {
    size_t entry =
        spillBytes(kernel) ? text.find(".entry " + kernel.name + "(") : std::string::npos;
    size_t body = entry == std::string::npos ? entry : text.find("\n{", entry);
    if (body != std::string::npos && !StringRef(text).slice(entry, body).contains(".minnctapersm"))
      text.insert(body, "\n.minnctapersm 1");
  }
  return text;
}

llvm::Expected<Cubin> assembleOne(const AssembleJob &job, StringRef ptxas) {
  llvm::Expected<Cubin> cubin = runPtxas(job, ptxas);
  if (!cubin || !spillBytes(*cubin))
    return cubin;
  std::string text = withoutOccupancyGoal(job.ptx, *cubin);
  llvm::Expected<Cubin> other = runPtxas({text, job.target}, ptxas);
  if (!other || spillBytes(*other) < spillBytes(*cubin))
    return other;
  return cubin;
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

llvm::Expected<std::vector<Cubin>> cameo::assemblePtx(llvm::ArrayRef<AssembleJob> jobs,
                                                      const AssembleOptions &options) {
  llvm::Expected<std::string> ptxas = findPtxas(options.ptxas);
  if (!ptxas)
    return ptxas.takeError();
  if (ptxas->empty())
    return llvm::createStringError(
        "no ptxas in the PATH; install the CUDA toolkit's nvcc component "
        "or ask for PTX only");
  std::vector<Cubin> cubins(jobs.size());
  std::vector<std::string> errors(jobs.size());
  {
    llvm::DefaultThreadPool pool(llvm::hardware_concurrency(std::max(1u, options.jobs)));
    for (size_t i = 0; i < jobs.size(); ++i)
      pool.async([&, i] {
        llvm::Expected<Cubin> cubin = assembleOne(jobs[i], *ptxas);
        if (cubin)
          cubins[i] = std::move(*cubin);
        else
          errors[i] = llvm::toString(cubin.takeError());
      });
    pool.wait();
  }
  for (const std::string &error : errors)
    if (!error.empty())
      return llvm::createStringError(error);
  return cubins;
}

llvm::Expected<Cubin> cameo::assemblePtx(StringRef ptx, const Target &target,
                                         const AssembleOptions &options) {
  llvm::Expected<std::vector<Cubin>> cubins = assemblePtx(AssembleJob{ptx, &target}, options);
  if (!cubins)
    return cubins.takeError();
  return std::move(cubins->front());
}
