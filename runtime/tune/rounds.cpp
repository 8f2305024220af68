// Successive halving. SPDX-License-Identifier: Apache-2.0
#include "runtime/tune/rounds.h"

#include <algorithm>

namespace cameo::tune {
namespace {

// Candidates of a dispatch in a visit, whose inputs are made once.
constexpr size_t kTogether = 4;
// By round: replays, and how much slower than the fastest a candidate of the round before may have
// been.
constexpr uint32_t kReplays[kRounds + 1] = {0, 5, 9, 15, 25};
constexpr double kSlowest[kRounds + 1] = {0, 0, 1.3, 1.15, 1.08};
// The part of a round's candidates that the next one repeats at most.
constexpr size_t kHalving = 2;

constexpr const char *kOutcomes[] = {"ok", "wrong", "refused", "failed", "hung", "crashed"};

} // namespace

const char *outcomeName(Outcome outcome) { return kOutcomes[size_t(outcome)]; }

bool parseOutcome(const std::string &name, Outcome &outcome) {
  for (size_t i = 0; i < std::size(kOutcomes); ++i)
    if (name == kOutcomes[i]) {
      outcome = Outcome(i);
      return true;
    }
  return false;
}

uint32_t Rounds::State::lastRound() const {
  uint32_t round = kRounds;
  while (round && times[round] == 0)
    --round;
  return round;
}

Rounds::Rounds(const Bundle &bundle, std::vector<uint32_t> dispatches)
    : order(std::move(dispatches)), states(bundle.dispatches.size()) {
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return std::pair(-bundle.dispatches[a].weight(), a) <
           std::pair(-bundle.dispatches[b].weight(), b);
  });
  for (uint32_t dispatch : order) {
    states[dispatch].resize(bundle.dispatches[dispatch].candidates.size());
    totalCount += states[dispatch].size();
  }
}

void Rounds::add(const Result &result) {
  if (result.candidate >= states[result.dispatch].size())
    return; // of a dispatch that is not asked for
  State &state = states[result.dispatch][result.candidate];
  triedCount += !state.tried;
  state.tried = true;
  // A candidate that goes wrong once is not to be relied on.
  state.good = result.outcome == Outcome::Ok && (result.round == 1 || state.good);
  state.times[std::min(result.round, kRounds)] = result.microseconds;
}

int32_t Rounds::referenceOf(uint32_t dispatch) const {
  const std::vector<State> &candidates = states[dispatch];
  for (size_t i = 0; i < candidates.size(); ++i)
    if (candidates[i].good)
      return int32_t(i);
  return -1;
}

bool Rounds::firstRound(Visit &visit) const {
  for (size_t first = 0, most = 1; first < most; first += kTogether)
    for (uint32_t dispatch : order) {
      const std::vector<State> &candidates = states[dispatch];
      most = std::max(most, candidates.size());
      visit = {dispatch, 1, kReplays[1], referenceOf(dispatch), {}};
      for (size_t i = first; i < std::min(first + kTogether, candidates.size()); ++i)
        if (!candidates[i].tried)
          visit.candidates.push_back(uint32_t(i));
      if (!visit.candidates.empty())
        return true;
    }
  return false;
}

std::vector<uint32_t> Rounds::survivors(uint32_t dispatch, uint32_t round) const {
  const std::vector<State> &candidates = states[dispatch];
  std::vector<uint32_t> list;
  for (uint32_t i = 0; i < candidates.size(); ++i)
    if (candidates[i].good && candidates[i].times[round - 1] > 0)
      list.push_back(i);
  auto time = [&](uint32_t i) { return candidates[i].times[round - 1]; };
  std::sort(list.begin(), list.end(),
            [&](uint32_t a, uint32_t b) { return std::pair(time(a), a) < std::pair(time(b), b); });
  list.resize(std::min(list.size(), std::max<size_t>(2, list.size() / kHalving)));
  while (!list.empty() && time(list.back()) > kSlowest[round] * time(list.front()))
    list.pop_back();
  if (list.size() < 2)
    list.clear(); // there is nothing to choose
  return list;
}

bool Rounds::laterRound(uint32_t round, Visit &visit) const {
  for (uint32_t dispatch : order) {
    visit = {dispatch, round, kReplays[round], -1, {}};
    for (uint32_t candidate : survivors(dispatch, round))
      if (states[dispatch][candidate].times[round] == 0)
        visit.candidates.push_back(candidate);
    if (!visit.candidates.empty())
      return true;
  }
  return false;
}

bool Rounds::next(Visit &visit) const {
  if (firstRound(visit))
    return true;
  for (uint32_t round = 2; round <= kRounds; ++round)
    if (laterRound(round, visit))
      return true;
  return false;
}

int32_t Rounds::best(uint32_t dispatch) const {
  const std::vector<State> &candidates = states[dispatch];
  int32_t found = -1;
  auto key = [&](size_t i) {
    uint32_t round = candidates[i].lastRound();
    return std::pair(kRounds - round, candidates[i].times[round]);
  };
  for (size_t i = 0; i < candidates.size(); ++i)
    if (candidates[i].good && (found < 0 || key(i) < key(size_t(found))))
      found = int32_t(i);
  return found;
}

double Rounds::microseconds(uint32_t dispatch, uint32_t candidate) const {
  const State &state = states[dispatch][candidate];
  return state.good ? state.times[state.lastRound()] : 0;
}

} // namespace cameo::tune
