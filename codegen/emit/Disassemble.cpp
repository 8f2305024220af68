// Cubins ==> kernels' instructions. The machine code of all kernels goes to nvdisasm as one piece,
// since starting it costs more than what it does.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/emit/Sass.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace cameo;
using llvm::StringRef;

namespace cameo::sass {
namespace {

using File = llvm::object::ELFFile<llvm::object::ELF64LE>;

/// The threads of a block that `.nv.info` notes: of each record a byte is its form, one what it is
/// about, two the bytes that follow where the form is 4.
unsigned threadsIn(llvm::ArrayRef<uint8_t> info) {
  constexpr uint8_t kSized = 4, kBlock = 0x10;
  while (info.size() >= 4) {
    size_t bytes = info[0] == kSized ? info[2] | info[3] << 8 : 0;
    if (info.size() < 4 + bytes)
      return 0;
    if (info[0] == kSized && info[1] == kBlock && bytes == 12) {
      auto number = [&](size_t at) { return info[at] | info[at + 1] << 8; };
      return number(4) * number(8) * number(12);
    }
    info = info.drop_front(4 + bytes);
  }
  return 0;
}

/// Adds the kernels of a file without instructions, and their machine code to `code`.
llvm::Error readKernels(StringRef bytes, std::vector<Kernel> &kernels, std::vector<size_t> &ends,
                        std::string &code) {
  llvm::Expected<File> file = File::create(bytes);
  if (!file)
    return file.takeError();
  auto sections = file->sections();
  if (!sections)
    return sections.takeError();
  llvm::StringMap<const File::Elf_Shdr *> named;
  std::vector<std::string> names;
  for (const File::Elf_Shdr &section : *sections) {
    llvm::Expected<StringRef> name = file->getSectionName(section);
    if (!name)
      return name.takeError();
    named[*name] = &section;
    StringRef kernel = *name;
    if (kernel.consume_front(".text."))
      names.push_back(kernel.str());
  }
  for (const std::string &name : names) {
    const File::Elf_Shdr &text = *named.lookup(".text." + name);
    llvm::Expected<llvm::ArrayRef<uint8_t>> content = file->getSectionContents(text);
    if (!content)
      return content.takeError();
    Kernel kernel;
    kernel.name = name;
    kernel.registers = text.sh_info >> 24;
    if (const File::Elf_Shdr *shared = named.lookup(".nv.shared." + name))
      kernel.sharedBytes = shared->sh_size;
    if (const File::Elf_Shdr *info = named.lookup(".nv.info." + name)) {
      llvm::Expected<llvm::ArrayRef<uint8_t>> records = file->getSectionContents(*info);
      if (!records)
        return records.takeError();
      kernel.threads = threadsIn(*records);
    }
    code.append(content->begin(), content->end());
    kernels.push_back(std::move(kernel));
    ends.push_back(code.size());
  }
  return llvm::Error::success();
}

/// "SM90a" for sm_90a, as nvdisasm wants it.
std::string machineName(const Target &target) {
  return "SM" + StringRef(target.name).drop_front(StringRef("sm_").size()).str();
}

llvm::Expected<std::string> runNvdisasm(StringRef code, const Target &target, StringRef nvdisasm) {
  llvm::SmallString<128> folder;
  if (std::error_code error = llvm::sys::fs::createUniqueDirectory("cameo-sass", folder))
    return llvm::createStringError("no temporary folder: " + error.message());
  auto cleanup = llvm::make_scope_exit([&] { llvm::sys::fs::remove_directories(folder); });
  std::string input = (folder + "/code").str(), output = (folder + "/text").str(),
              messages = (folder + "/messages").str();
  std::error_code error;
  {
    llvm::raw_fd_ostream stream(input, error);
    if (!error) {
      stream << code;
      stream.close();
      error = stream.error();
      stream.clear_error();
    }
  }
  if (error)
    return llvm::createStringError("cannot write " + input + ": " + error.message());
  std::string machine = machineName(target), problem;
  int status = llvm::sys::ExecuteAndWait(
      nvdisasm,
      {nvdisasm, "--binary", machine, "--print-instruction-encoding", "--no-dataflow", input},
      std::nullopt, {StringRef(), StringRef(output), StringRef(messages)}, 0, 0, &problem);
  auto text = llvm::MemoryBuffer::getFile(output);
  auto said = llvm::MemoryBuffer::getFile(messages);
  if (status != 0 || !text)
    return llvm::createStringError("nvdisasm fails" + (problem.empty() ? "" : ": " + problem) +
                                   (said ? "\n" + (*said)->getBuffer().str() : ""));
  return (*text)->getBuffer().str();
}

} // namespace

llvm::Expected<std::vector<Kernel>> disassemble(llvm::ArrayRef<std::vector<char>> cubins,
                                                const Target &target, StringRef nvdisasm) {
  std::vector<Kernel> kernels;
  std::vector<size_t> ends;
  std::string code;
  for (const std::vector<char> &cubin : cubins)
    if (llvm::Error error = readKernels(StringRef(cubin.data(), cubin.size()), kernels, ends, code))
      return std::move(error);
  if (kernels.empty())
    return kernels;
  llvm::Expected<std::string> text = runNvdisasm(code, target, nvdisasm);
  if (!text)
    return text.takeError();
  llvm::Expected<std::vector<Instruction>> instructions = parse(*text);
  if (!instructions)
    return instructions.takeError();
  size_t kernel = 0;
  for (Instruction &instruction : *instructions) {
    while (kernel < kernels.size() && instruction.address >= ends[kernel])
      ++kernel;
    if (kernel == kernels.size())
      return llvm::createStringError("nvdisasm has printed more than there is");
    kernels[kernel].instructions.push_back(std::move(instruction));
  }
  return kernels;
}

} // namespace cameo::sass
