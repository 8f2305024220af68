// A tuning bundle as it lies in its file: the candidates of a model's dispatches.
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_RUNTIME_TUNE_BUNDLE_H
#define CAMEO_RUNTIME_TUNE_BUNDLE_H

#include "runtime/core/payload.h"
#include "runtime/core/types.h"

namespace cameo::tune {

using runtime::Code;
using runtime::failure;
using runtime::Status;

struct Candidate {
  std::string schedule;  // as MLIR writes it
  std::string described; // the members of its JSON object that are the compiler's, for results
  double estimate = 0;   // microseconds
  // By input of the dispatch: the order in which its dimensions are stored, empty where they are as
  // the dispatch has them.
  std::vector<std::vector<uint32_t>> orders;
  std::vector<runtime::Section> sections; // its plan and code
};

// A part of a model that one kernel, or a few, compute.
struct Dispatch {
  std::string key, target, board;
  std::string described;             // as above
  std::string nodes;                 // with commas
  int64_t uses = 1;                  // in the model
  uint32_t arch = 0;                 // as CameoSection has it
  std::vector<Candidate> candidates; // the one that the estimate chooses first

  // Microseconds in the model by the estimate.
  double weight() const { return candidates.front().estimate * double(uses); }
};

struct Bundle {
  std::string name, compiler, hash;
  int64_t scheduleVersion = 0;
  std::vector<Dispatch> dispatches;
  std::unique_ptr<runtime::Payload> payload;
};

// Code::Corrupt where the payload is not that of a bundle.
Status openBundle(std::unique_ptr<runtime::Payload> payload, Bundle &bundle);

} // namespace cameo::tune

#endif
