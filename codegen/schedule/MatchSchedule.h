// The schedule that a dispatch has, or is to have, and the class's match that goes with it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/schedule/Schedule.h"

namespace cameo {

/// The target of a variant; null, and an error, for one that is not known.
const Target *scheduledTarget(rt::VariantOp variant);

/// The match of the class that a given schedule names, with constants packed so; null, and an
/// error, where it cannot be.
std::unique_ptr<ScheduleMatch> matchGiven(const Computation &computation,
                                          kernel::ScheduleAttr given, const Packing &packing,
                                          const Target &target);

/// The match of the schedule that a dispatch has, as it is by now; null, and an error, where it has
/// none that kernels can be written by.
std::unique_ptr<ScheduleMatch> matchAssigned(const Computation &computation, const Target &target);

} // namespace cameo
