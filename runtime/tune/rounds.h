// In which order candidates are measured: by successive halving.
//
// The first round tries every candidate, a few of each dispatch at a time and all dispatches in turn,
// those that the model spends most on first: whenever it ends, each dispatch has its best of those
// tried. Later rounds repeat the best of the round before, with more replays.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_RUNTIME_TUNE_ROUNDS_H
#define CAMEO_RUNTIME_TUNE_ROUNDS_H

#include "runtime/tune/bundle.h"

namespace cameo::tune {

enum class Outcome { Ok, Wrong, Refused, Failed, Hung, Crashed };
// "ok", "wrong", ...
const char *outcomeName(Outcome outcome);
bool parseOutcome(const std::string &name, Outcome &outcome);

// The outcome of measuring a candidate.
struct Result {
  uint32_t dispatch = 0, candidate = 0; // in the bundle
  uint32_t round = 1;
  Outcome outcome = Outcome::Ok;
  double microseconds = 0; // of one run: median of all replays
  double spread = 0;       // between the quartiles, as part of the median
  unsigned clock = 0;      // MHz of the multiprocessors behind the last replay; 0: not told
  uint32_t replays = 0, together = 0; // runs in a replay
  bool sameBits = false;              // as the first candidate's
  std::string message;                // what is wrong
};

// Candidates of a dispatch to be measured one after the other.
struct Visit {
  uint32_t dispatch = 0, round = 1, replays = 0;
  int32_t reference = -1; // the candidate that outputs are compared with; -1: none has run yet
  std::vector<uint32_t> candidates;
};

constexpr uint32_t kRounds = 4;

class Rounds {
public:
  // Measures these dispatches of the bundle.
  Rounds(const Bundle &bundle, std::vector<uint32_t> dispatches);
  void add(const Result &result);
  // False: there is nothing left to measure.
  bool next(Visit &visit) const;

  // The fastest of those measured most often; -1: none has run.
  int32_t best(uint32_t dispatch) const;
  // By the last round that measured it; 0: it has not run.
  double microseconds(uint32_t dispatch, uint32_t candidate) const;
  const std::vector<uint32_t> &dispatches() const { return order; }
  // How many candidates there are, and how many the first round has tried.
  size_t total() const { return totalCount; }
  size_t tried() const { return triedCount; }

private:
  struct State {
    bool tried = false, good = false;
    double times[kRounds + 1] = {}; // by round; 0: not measured
    uint32_t lastRound() const;
  };
  bool firstRound(Visit &visit) const;
  bool laterRound(uint32_t round, Visit &visit) const;
  // The candidates of a dispatch that a round repeats.
  std::vector<uint32_t> survivors(uint32_t dispatch, uint32_t round) const;
  int32_t referenceOf(uint32_t dispatch) const;

  std::vector<uint32_t> order;            // the one that the model spends most on first
  std::vector<std::vector<State>> states; // by dispatch and candidate
  size_t totalCount = 0, triedCount = 0;
};

} // namespace cameo::tune

#endif
