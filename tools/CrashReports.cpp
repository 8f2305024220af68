// A signal ==> what to report, and a second run in which MLIR writes the module.
//
// All memory is allocated before a crash, in which the heap may be locked or broken.
// SPDX-License-Identifier: Apache-2.0
#include "tools/CrashReports.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace cameo;
using llvm::StringRef;

extern char **environ;

/// The limit of the second run: a model may take hours to get to its crash.
static constexpr unsigned kMostSeconds = 60;
static constexpr llvm::StringLiteral kOption = "--mlir-pass-pipeline-crash-reproducer";
static constexpr llvm::StringLiteral kFileName = "/reproducer.mlir";

namespace {
/// Allocated for the handlers, and never freed.
struct CrashReport {
  std::string message; // LLVM keeps its address
  std::string program, commandLine;
  std::string folder; // a pattern of mkdtemp
  std::string option; // kOption=folder/reproducer.mlir
  std::vector<char *> arguments;
  posix_spawn_file_actions_t silence;
};
} // namespace

static CrashReport &report() {
  static auto *only = new CrashReport;
  return *only;
}

/// How an argument is written for a shell.
static std::string quoted(StringRef argument) {
  constexpr StringRef plain = "%+,-./:=@_";
  if (!argument.empty() &&
      llvm::all_of(argument, [&](char c) { return llvm::isAlnum(c) || plain.contains(c); }))
    return argument.str();
  std::string text = "'";
  for (char c : argument)
    text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

static void sayWhatToReport(void *) {
  llvm::errs() << "Please report this to the developers of Cameo, with the files that this command "
                  "reads:\n  "
               << report().commandLine << "\n";
}

/// Waits for a process, and ends it at the limit: then the answer is no.
static bool hasEnded(pid_t child) {
  for (unsigned tenths = 0; tenths < kMostSeconds * 10; ++tenths) {
    if (waitpid(child, nullptr, WNOHANG) == child)
      return true;
    timespec tenth = {0, 100'000'000};
    nanosleep(&tenth, nullptr);
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return false;
}

static void writeReproducer(void *) {
  CrashReport &crash = report();
  if (!mkdtemp(crash.folder.data()))
    return;
  // mkdtemp keeps the length.
  char *path = crash.option.data() + kOption.size() + 1;
  std::memcpy(path, crash.folder.data(), crash.folder.size());
  llvm::errs() << "A second run writes the module in which it crashes; " << kMostSeconds
               << " s at most ...\n";
  pid_t child;
  if (posix_spawn(&child, crash.program.c_str(), &crash.silence, nullptr, crash.arguments.data(),
                  environ) != 0) {
    rmdir(crash.folder.c_str());
    return;
  }
  const bool isInTime = hasEnded(child);
  if (isInTime && access(path, F_OK) == 0) {
    llvm::errs() << "Reproducer: " << path << "\n  cameo-opt --run-reproducer " << path << "\n";
    return;
  }
  unlink(path); // a part of one
  rmdir(crash.folder.c_str());
  if (isInTime)
    llvm::errs() << "No reproducer was written: the second run did not crash in a pass.\n";
  else
    llvm::errs() << "No reproducer was written in time. " << kOption << "=FILE has no limit.\n";
}

void cameo::reportCrashes(llvm::ArrayRef<const char *> arguments) {
  CrashReport &crash = report();
  StringRef tool = llvm::sys::path::filename(arguments.front());
  crash.message =
      "\n" + tool.str() + ", a program of Cameo, has a bug: it ended without a result.\n";
  llvm::setBugReportMsg(crash.message.c_str());
  for (StringRef argument : arguments)
    crash.commandLine += (crash.commandLine.empty() ? "" : " ") + quoted(argument);
  for (const char *argument : arguments)
    crash.arguments.push_back(const_cast<char *>(argument));
  // Behind InitLLVM's own, which print the stack.
  llvm::sys::AddSignalHandler(sayWhatToReport, nullptr);
}

void cameo::reproduceCrashes() {
  CrashReport &crash = report();
  if (llvm::any_of(crash.arguments, [](const char *argument) {
        return StringRef(argument).contains(kOption.drop_front(2));
      }))
    return;
  crash.program = llvm::sys::fs::getMainExecutable(crash.arguments.front(),
                                                   reinterpret_cast<void *>(&cameo::reportCrashes));
  llvm::SmallString<128> folder;
  llvm::sys::path::system_temp_directory(/*ErasedOnReboot=*/true, folder);
  llvm::sys::path::append(folder, llvm::sys::path::filename(crash.arguments.front()) + "-XXXXXX");
  crash.folder = folder.str().str();
  crash.option = (kOption + "=" + crash.folder + kFileName).str();
  crash.arguments.push_back(crash.option.data());
  crash.arguments.push_back(nullptr);
  posix_spawn_file_actions_init(&crash.silence);
  for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_addopen(&crash.silence, stream, "/dev/null", O_RDWR, 0);
  llvm::sys::AddSignalHandler(writeReproducer, nullptr);
}
