// See WorkMembers.h.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/tune/WorkMembers.h"

using namespace llvm;

namespace cameo {
namespace {

/// Calls `visit` with each member's name and the member.
template <typename Visit> void forEachMember(BlockWork &work, Visit visit) {
  visit("matrix", work.matrix);
  visit("arithmetic", work.arithmetic);
  visit("slots", work.slots);
  visit("shared_bytes", work.sharedBytes);
  visit("l2_bytes", work.l2Bytes);
  visit("turns", work.turns);
  visit("conversions", work.conversions);
  visit("places", work.places);
  visit("checks", work.checks);
  visit("results", work.results);
  visit("chain", work.chain);
  visit("products", work.products);
  visit("barriers", work.barriers);
  visit("loads", work.loads);
  visit("ahead", work.ahead);
  visit("idle", work.idle);
}

template <typename Visit> void forEachMember(KernelWork &work, Visit visit) {
  visit("blocks", work.blocks);
  visit("threads", work.threads);
  visit("registers", work.registers);
  visit("shared_bytes", work.sharedBytes);
  visit("steps", work.steps);
  visit("step", work.step);
  visit("once", work.once);
  visit("trips", work.trips);
  visit("dram_bytes", work.dramBytes);
  visit("on_matrix", work.onMatrix);
  visit("multiply_adds", work.multiplyAdds);
  visit("loads", work.loads);
  visit("ahead", work.ahead);
}

// A copy: members are visited as ones that may be written.
template <typename Work> json::Object jsonOf(Work work) {
  json::Object object;
  forEachMember(work, [&](StringRef name, auto &member) {
    if constexpr (std::is_same_v<decltype(member), BlockWork &>)
      object[name] = jsonOf(member);
    else
      object[name] = member;
  });
  return object;
}

template <typename Work> void append(SmallVectorImpl<double> &numbers, Work work) {
  forEachMember(work, [&](StringRef, auto &member) {
    if constexpr (std::is_same_v<decltype(member), BlockWork &>)
      append(numbers, member);
    else
      numbers.push_back(double(member));
  });
}

/// Takes its numbers from the front of those, of which there are enough.
template <typename Work> void take(ArrayRef<double> &numbers, Work &work) {
  forEachMember(work, [&](StringRef, auto &member) {
    if constexpr (std::is_same_v<decltype(member), BlockWork &>) {
      take(numbers, member);
    } else {
      member = std::decay_t<decltype(member)>(numbers.front());
      numbers = numbers.drop_front();
    }
  });
}

} // namespace

json::Object workJson(const KernelWork &work) {
  json::Object object = jsonOf(work);
  json::Array beside;
  for (const KernelWork &other : work.beside)
    beside.push_back(workJson(other));
  object["beside"] = std::move(beside);
  return object;
}

SmallVector<double> workNumbers(const KernelWork &work) {
  SmallVector<double> numbers;
  append(numbers, work);
  for (const KernelWork &other : work.beside)
    append(numbers, other);
  return numbers;
}

std::optional<KernelWork> workOfNumbers(ArrayRef<double> numbers) {
  const size_t each = workNumbers({}).size();
  if (numbers.empty() || numbers.size() % each != 0)
    return std::nullopt;
  KernelWork work;
  take(numbers, work);
  while (!numbers.empty())
    take(numbers, work.beside.emplace_back());
  return work;
}

} // namespace cameo
