// lld in this process.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/sim/SimLink.h"

#include "lld/Common/Driver.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <mutex>

LLD_HAS_DRIVER(elf)

// lld calls llvm::cl::ResetAllOptionOccurrences() so that it can run again with other -mllvm
// options. That would set all options of the tool around us to their defaults, in the middle of its
// work. We pass none, so its call goes here (--wrap in CMakeLists.txt).
extern "C" void __wrap__ZN4llvm2cl25ResetAllOptionOccurrencesEv();
extern "C" void __wrap__ZN4llvm2cl25ResetAllOptionOccurrencesEv() {}

using llvm::StringRef;

llvm::Expected<llvm::SmallVector<char>> cameo::linkSharedObject(llvm::ArrayRef<StringRef> objects) {
  auto fail = [](const llvm::Twine &what) {
    return llvm::createStringError("linking the simulator image: " + what.str());
  };
  llvm::SmallString<128> folder;
  if (std::error_code error = llvm::sys::fs::createUniqueDirectory("cameo-link", folder))
    return fail("no temporary folder: " + error.message());
  auto cleanup = llvm::make_scope_exit([&] { llvm::sys::fs::remove_directories(folder); });
  auto file = [&](const llvm::Twine &name) {
    llvm::SmallString<128> path(folder);
    llvm::sys::path::append(path, name);
    return std::string(path);
  };
  std::vector<std::string> inputs;
  for (auto [i, object] : llvm::enumerate(objects)) {
    inputs.push_back(file(llvm::Twine(i) + ".o"));
    std::error_code error;
    llvm::raw_fd_ostream stream(inputs.back(), error);
    if (!error) {
      stream << object;
      stream.close();
      error = stream.error();
    }
    if (error) {
      stream.clear_error();
      return fail("cannot write " + inputs.back() + ": " + error.message());
    }
  }
  std::string output = file("image.so");
  std::vector<const char *> arguments = {"ld.lld",
                                         "-shared",
                                         "--no-undefined",
                                         "-Bsymbolic",
                                         "--gc-sections",
                                         "--build-id=none",
                                         "-s",
                                         "--hash-style=gnu",
                                         "-z",
                                         "noexecstack",
                                         "-z",
                                         "now",
                                         "-z",
                                         "noseparate-code",
                                         "--threads=1",
                                         "-o",
                                         output.c_str()};
  for (const std::string &input : inputs)
    arguments.push_back(input.c_str());

  std::string messages;
  {
    static std::mutex lldIsNotReentrant;
    std::lock_guard<std::mutex> lock(lldIsNotReentrant);
    llvm::raw_string_ostream stream(messages);
    lld::Result result = lld::lldMain(arguments, stream, stream, {{lld::Gnu, &lld::elf::link}});
    if (result.retCode != 0)
      return fail(stream.str());
  }
  auto image = llvm::MemoryBuffer::getFile(output, /*IsText=*/false,
                                           /*RequiresNullTerminator=*/false);
  if (!image)
    return fail("cannot read the result: " + image.getError().message());
  return llvm::SmallVector<char>((*image)->getBufferStart(), (*image)->getBufferEnd());
}
