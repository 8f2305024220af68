// SPDX-License-Identifier: Apache-2.0
#include "tools/CrashReports.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

using namespace cameo;
using llvm::StringRef;

namespace {
/// What a crash prints: memory that is there before it, in which the heap may be locked or broken.
struct CrashReport {
  std::string message; // LLVM keeps its address
  std::string commandLine;
};
} // namespace

static CrashReport &report() {
  static auto *only = new CrashReport; // for as long as the process lives
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

void cameo::reportCrashes(llvm::ArrayRef<const char *> arguments) {
  CrashReport &crash = report();
  StringRef tool = llvm::sys::path::filename(arguments.front());
  crash.message =
      "\n" + tool.str() + ", a program of Cameo, has a bug: it ended without a result.\n";
  llvm::setBugReportMsg(crash.message.c_str());
  for (StringRef argument : arguments)
    crash.commandLine += (crash.commandLine.empty() ? "" : " ") + quoted(argument);
  // Behind InitLLVM's own, which print the stack.
  llvm::sys::AddSignalHandler(sayWhatToReport, nullptr);
}
