// Progress as text.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/calibrate/Progress.h"

#include "llvm/Support/FormatVariadic.h"

using namespace cameo;
using namespace std::chrono_literals;

Progress::~Progress() {
  if (width)
    output << '\r' << std::string(width, ' ') << '\r';
}

void Progress::update(uint64_t done, uint64_t all, Clock::time_point now) {
  if (now - shown < (isTerminal ? 100ms : 10s) && !(isTerminal && width == 0))
    return;
  shown = now;
  double seconds = std::chrono::duration<double>(now - start).count();
  double rate = seconds > 0 ? double(done) / seconds : 0;
  std::string text = llvm::formatv("{0} of {1}", done, all);
  if (rate > 0)
    text += llvm::formatv(", {0:f1} a second, {1:f0} s left", rate, double(all - done) / rate);
  if (!isTerminal) {
    output << what << ": " << text << '\n';
    return;
  }
  constexpr size_t cells = 24;
  size_t full = all ? size_t(done * cells / all) : 0;
  std::string line =
      what + " [" + std::string(full, '=') + std::string(cells - full, ' ') + "] " + text;
  // What is left of a longer line.
  output << '\r' << line << std::string(width > line.size() ? width - line.size() : 0, ' ');
  width = std::max(width, line.size());
  output.flush();
}
