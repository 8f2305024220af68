// How far a step has come that takes long: a bar on a terminal, a line every ten seconds elsewhere.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <optional>
#include <string>

namespace cameo {

class Progress {
public:
  using Clock = std::chrono::steady_clock;

  /// "what: 123 of 500, 4.2 a second, 90 s left"
  Progress(std::string what, llvm::raw_ostream &output, bool isTerminal,
           Clock::time_point start = Clock::now())
      : what(std::move(what)), output(output), isTerminal(isTerminal), start(start), shown(start) {}
  /// Clears the bar.
  ~Progress();

  void update(uint64_t done, uint64_t all) { update(done, all, Clock::now()); }
  void update(uint64_t done, uint64_t all, Clock::time_point now);

private:
  std::string what;
  llvm::raw_ostream &output;
  bool isTerminal;
  Clock::time_point start, shown;
  size_t width = 0; // of the bar on the terminal
};

/// Of steps that come one after the other, and are told apart by what they are called.
class StepProgress {
public:
  StepProgress(llvm::raw_ostream &output, bool isTerminal)
      : output(output), isTerminal(isTerminal) {}

  void update(llvm::StringRef what, uint64_t done, uint64_t all) {
    if (!current || what != now)
      current.emplace(what.str(), output, isTerminal);
    now = what.str();
    current->update(done, all);
  }

private:
  llvm::raw_ostream &output;
  bool isTerminal;
  std::string now;
  std::optional<Progress> current;
};

} // namespace cameo
