// Candidates as attributes.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/tune/Candidates.h"

#include "codegen/tune/WorkMembers.h"

using namespace mlir;

namespace cameo {

Attribute noted(const NotedCandidate &candidate) {
  Builder b(candidate.schedule.getContext());
  NamedAttrList list;
  list.append("schedule", candidate.schedule);
  if (candidate.packing)
    list.append("packing", candidate.packing);
  if (candidate.rounding)
    list.append("rounding", candidate.rounding);
  list.append("microseconds", b.getF64FloatAttr(candidate.microseconds));
  list.append("work", b.getDenseF64ArrayAttr(workNumbers(candidate.work)));
  return list.getDictionary(b.getContext());
}

std::optional<NotedCandidate> candidateOf(Attribute attribute) {
  auto dictionary = dyn_cast<DictionaryAttr>(attribute);
  auto of = [&](auto &found, StringRef name) {
    found = dictionary.getAs<std::decay_t<decltype(found)>>(name);
    return bool(found);
  };
  NotedCandidate candidate;
  FloatAttr microseconds;
  DenseF64ArrayAttr numbers;
  if (!dictionary || !of(candidate.schedule, "schedule") || !of(microseconds, "microseconds") ||
      !of(numbers, "work"))
    return std::nullopt;
  std::optional<KernelWork> work = workOfNumbers(numbers.asArrayRef());
  if (!work)
    return std::nullopt;
  candidate.work = std::move(*work);
  candidate.packing = dictionary.getAs<ArrayAttr>("packing");
  candidate.rounding = dictionary.getAs<DenseI64ArrayAttr>("rounding");
  candidate.microseconds = microseconds.getValueAsDouble();
  return candidate;
}

SmallVector<NotedCandidate, 0> candidatesOf(ArrayRef<RankedSchedule> ranked, size_t most,
                                            bool everything) {
  SmallVector<NotedCandidate, 0> all;
  for (const RankedSchedule &each : ranked)
    for (const Candidate &candidate : each.match->candidates(most)) {
      MLIRContext *context = candidate.params.getContext();
      if (everything || candidate.work)
        all.push_back(
            {kernel::ScheduleAttr::get(context, each.schedule->family(), candidate.params),
             packingAttr(context, each.match->packingSet()),
             roundedAttr(context, each.match->roundedInputs(candidate.params)),
             candidate.microseconds,
             candidate.work ? *candidate.work : each.match->workOf(candidate.params)});
    }
  auto isFaster = [](const NotedCandidate &a, const NotedCandidate &b) {
    return a.microseconds < b.microseconds;
  };
  llvm::stable_sort(all, isFaster);
  all.truncate(std::min(all.size(), most));
  return all;
}

} // namespace cameo
