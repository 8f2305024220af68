// Answers of an oracle ==> layers to keep.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/calibrate/LayerSearch.h"

#include "llvm/ADT/STLExtras.h"

#include <numeric>

using namespace cameo;
using llvm::BitVector;
using llvm::Error;
using llvm::Expected;

namespace {

class LayerSearch {
public:
  LayerSearch(unsigned layers, LayerOracle &oracle) : count(layers), oracle(oracle) {
    choice.kept.resize(layers);
  }

  Expected<LayerChoice> run();

private:
  /// Whether there is an answer, which is left in `answer`.
  template <typename Answer>
  Expected<bool> ask(Expected<std::optional<Answer>> given, Answer &answer) {
    if (!given)
      return given.takeError();
    if (*given)
      answer = **given;
    return given->has_value();
  }
  Expected<bool> order();
  Expected<bool> bisect(unsigned &number);
  Expected<bool> grow(unsigned &number);
  Error giveBack();
  /// The noisiest layers.
  BitVector first(unsigned number) const {
    BitVector kept(count);
    for (unsigned i = 0; i < number; ++i)
      kept.set(noisiest[i]);
    return kept;
  }

  /// All of them are among layers that were not enough.
  bool isTooFew(const BitVector &kept) const {
    return llvm::any_of(tooFew, [&](const BitVector &other) { return !kept.test(other); });
  }

  unsigned count;
  LayerOracle &oracle;
  std::vector<unsigned> noisiest; // layers in this order
  std::vector<BitVector> tooFew;  // that were not good, whatever they seemed
  LayerChoice choice;
};

Expected<bool> LayerSearch::order() {
  for (unsigned layer = 0; layer < count; ++layer) {
    double noise = 0;
    Expected<bool> hasTime = ask(oracle.noiseOf(layer), noise);
    if (!hasTime || !*hasTime)
      return hasTime;
    choice.noise.push_back(noise);
  }
  noisiest.resize(count);
  std::iota(noisiest.begin(), noisiest.end(), 0u);
  llvm::sort(noisiest, [&](unsigned a, unsigned b) {
    return std::pair(-choice.noise[a], a) < std::pair(-choice.noise[b], b);
  });
  return true;
}

/// The least number of the noisiest layers that seems good; 0 is not, and all of them are.
Expected<bool> LayerSearch::bisect(unsigned &number) {
  unsigned low = 0;
  number = count;
  while (number - low > 1) {
    unsigned middle = low + (number - low) / 2;
    bool isGood = false;
    Expected<bool> hasTime = ask(oracle.seemsGood(first(middle)), isGood);
    if (!hasTime || !*hasTime)
      return hasTime;
    (isGood ? number : low) = middle;
  }
  return true;
}

/// From this number on, the first that is good.
Expected<bool> LayerSearch::grow(unsigned &number) {
  for (unsigned step = 1;; step *= 2) {
    bool isGood = false;
    Expected<bool> hasTime = ask(oracle.isGood(first(number)), isGood);
    if (!hasTime || !*hasTime)
      return hasTime;
    if (!isGood)
      tooFew.push_back(first(number));
    if (isGood || number == count) {
      choice.end = isGood ? LayerChoice::Good : LayerChoice::Hopeless;
      choice.kept = first(number);
      return true;
    }
    number = std::min(count, number + step);
  }
}

Error LayerSearch::giveBack() {
  BitVector fewer = choice.kept;
  choice.end = LayerChoice::Early;
  for (unsigned layer : llvm::reverse(noisiest)) {
    if (!fewer.test(layer))
      continue;
    bool isGood = false;
    fewer.reset(layer);
    if (!isTooFew(fewer)) {
      Expected<bool> hasTime = ask(oracle.seemsGood(fewer), isGood);
      if (!hasTime)
        return hasTime.takeError();
      if (!*hasTime)
        return Error::success();
    }
    if (!isGood)
      fewer.set(layer);
  }
  bool isGood = fewer == choice.kept;
  if (!isGood) {
    Expected<bool> hasTime = ask(oracle.isGood(fewer), isGood);
    if (!hasTime)
      return hasTime.takeError();
    if (!*hasTime)
      return Error::success();
  }
  if (isGood)
    choice.kept = fewer;
  choice.end = LayerChoice::Good;
  return Error::success();
}

Expected<LayerChoice> LayerSearch::run() {
  bool isGood = false;
  Expected<bool> hasTime = ask(oracle.isGood(choice.kept), isGood);
  if (!hasTime)
    return hasTime.takeError();
  tooFew.push_back(choice.kept);
  if (isGood || (*hasTime && count == 0))
    choice.end = isGood ? LayerChoice::Good : LayerChoice::Hopeless;
  if (!*hasTime || isGood || count == 0)
    return std::move(choice);
  unsigned number = 0;
  for (auto step : {+[](LayerSearch &search, unsigned &) { return search.order(); },
                    +[](LayerSearch &search, unsigned &number) { return search.bisect(number); },
                    +[](LayerSearch &search, unsigned &number) { return search.grow(number); }}) {
    hasTime = step(*this, number);
    if (!hasTime)
      return hasTime.takeError();
    if (!*hasTime)
      return std::move(choice);
  }
  if (choice.end == LayerChoice::Good)
    if (Error error = giveBack())
      return std::move(error);
  return std::move(choice);
}

} // namespace

Expected<LayerChoice> cameo::chooseKeptLayers(unsigned layers, LayerOracle &oracle) {
  return LayerSearch(layers, oracle).run();
}
