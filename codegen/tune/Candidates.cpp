// Candidates as attributes.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/tune/Candidates.h"

using namespace mlir;

namespace cameo {

/// The numbers of a kernel's work that tuning does not read from its machine code.
static SmallVector<double KernelWork::*> workMembers() {
  return {&KernelWork::blocks,       &KernelWork::steps, &KernelWork::trips, &KernelWork::dramBytes,
          &KernelWork::multiplyAdds, &KernelWork::wait,  &KernelWork::beside};
}

Attribute noted(const NotedCandidate &candidate) {
  Builder b(candidate.schedule.getContext());
  SmallVector<double> numbers;
  for (double KernelWork::*member : workMembers())
    numbers.push_back(candidate.work.*member);
  for (double l2Bytes : {candidate.work.step.l2Bytes, candidate.work.once.l2Bytes,
                         candidate.work.once.sharedBytes, double(candidate.work.onMatrix)})
    numbers.push_back(l2Bytes);
  NamedAttrList list;
  list.append("schedule", candidate.schedule);
  if (candidate.packing)
    list.append("packing", candidate.packing);
  if (candidate.rounding)
    list.append("rounding", candidate.rounding);
  list.append("microseconds", b.getF64FloatAttr(candidate.microseconds));
  list.append("work", b.getDenseF64ArrayAttr(numbers));
  return list.getDictionary(b.getContext());
}

std::optional<NotedCandidate> candidateOf(Attribute attribute) {
  constexpr size_t kOthers = 4; // beside the members
  auto dictionary = dyn_cast<DictionaryAttr>(attribute);
  auto of = [&](auto &found, StringRef name) {
    found = dictionary.getAs<std::decay_t<decltype(found)>>(name);
    return bool(found);
  };
  NotedCandidate candidate;
  FloatAttr microseconds;
  DenseF64ArrayAttr work;
  if (!dictionary || !of(candidate.schedule, "schedule") || !of(microseconds, "microseconds") ||
      !of(work, "work") || size_t(work.size()) != workMembers().size() + kOthers)
    return std::nullopt;
  candidate.packing = dictionary.getAs<ArrayAttr>("packing");
  candidate.rounding = dictionary.getAs<DenseI64ArrayAttr>("rounding");
  candidate.microseconds = microseconds.getValueAsDouble();
  ArrayRef<double> numbers = work.asArrayRef();
  for (double KernelWork::*member : workMembers()) {
    candidate.work.*member = numbers.front();
    numbers = numbers.drop_front();
  }
  candidate.work.step.l2Bytes = numbers[0];
  candidate.work.once.l2Bytes = numbers[1];
  candidate.work.once.sharedBytes = numbers[2];
  candidate.work.onMatrix = numbers[3] != 0;
  return candidate;
}

SmallVector<NotedCandidate> candidatesOf(ArrayRef<RankedSchedule> ranked, size_t most) {
  SmallVector<NotedCandidate> all;
  for (const RankedSchedule &each : ranked)
    for (const Candidate &candidate : each.match->candidates(most)) {
      MLIRContext *context = candidate.params.getContext();
      if (candidate.work)
        all.push_back(
            {kernel::ScheduleAttr::get(context, each.schedule->family(), candidate.params),
             packingAttr(context, each.match->packingSet()),
             roundedAttr(context, each.match->roundedInputs(candidate.params)),
             candidate.microseconds, *candidate.work});
    }
  auto isFaster = [](const NotedCandidate &a, const NotedCandidate &b) {
    return a.microseconds < b.microseconds;
  };
  llvm::stable_sort(all, isFaster);
  all.truncate(std::min(all.size(), most));
  return all;
}

} // namespace cameo
