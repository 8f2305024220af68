// The kernel of recurrent networks' steps.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/schedule/KernelEmitter.h"

namespace cameo {

/// How a block's threads share the units of its rows.
struct RecurrenceForm {
  int64_t rows;   // of a block, which all have one direction
  int64_t vector; // neighbouring units of a thread, whose weights are loaded at once
  int64_t parts;  // threads beside one another that share sums, each a part of the depth
  int64_t deep;   // neighbours along the depth that a thread multiplies at once
  int64_t threads;

  /// Units of a thread and the parts of their sums are a place; there may be more than threads.
  int64_t places(int64_t units) const { return units / vector * parts; }
  int64_t placesOfThread(int64_t units) const { return (places(units) + threads - 1) / threads; }
};

/// Elements of shared memory: the vectors that products read, of a block's rows.
int64_t recurrenceShared(kernel::RecurrenceOp recurrence, const RecurrenceForm &form);

/// Writes the kernel's body: block b has direction b / (blocks of rows), and does all steps.
void emitRecurrence(KernelWriter &kernel, kernel::RecurrenceOp recurrence,
                    const RecurrenceForm &form);

} // namespace cameo
