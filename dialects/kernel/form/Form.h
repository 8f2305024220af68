// Which class of kernels a dispatch is for.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/kernel/form/Computation.h"

namespace cameo {

enum class DispatchForm {
  Product,       // tiles through shared memory
  ProductOfRows, // the same, and each row is reduced by the block that has it
  Window,        // threads that slide along rows
  Rows,          // threads that reduce rows together
  Scan,          // threads that combine along lines
  Recurrence,    // blocks that do steps one after another
  Sort,          // threads that put lines into order
  Choice,        // threads that strike out what conflicts with what is chosen
  Insertion,     // threads that write a part of what is there
  Pointwise,     // nothing is reduced
  Other          // each element reduces on its own
};

/// The form whose class of schedules takes the dispatch, on any target.
DispatchForm formOf(const Computation &computation);

/// The scan that a dispatch is, with elementwise work on it; null where it is not, or its lines are
/// too short for threads to share.
kernel::ScanOp matchScan(const Computation &computation);

/// The steps of a recurrent network that a dispatch is; null where it is not, or there is work on their
/// results.
kernel::RecurrenceOp matchRecurrence(const Computation &computation);
/// The sort that a dispatch is, with elementwise work on it; null where it is not.
kernel::SortOp matchSort(const Computation &computation);

/// The choice that a dispatch is, with nothing behind it; null where it is not.
kernel::ChooseOp matchChoice(const Computation &computation);

/// The insertion into its destination that a dispatch is, with nothing behind it; null where it is not.
kernel::InsertOp matchInsertion(const Computation &computation);

} // namespace cameo
