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
  /// Whether sums are those of Tensor Cores. Then a block has `kMatrixRows` rows, and a warp eight
  /// units: a thread one of them in two rows. `vector` is 1 and `parts` 4; `deep` is that of the
  /// instruction.
  bool isMatrix = false;
  int64_t blocks = 1; // of a cluster, each of which has a part of the units
  /// Whether a launch does one step, or a phase of it. Then `blocks` are all that share the units, no
  /// cluster; a thread has one unit's part, and on Tensor Cores a block has eight units.
  bool isStep = false;
  int64_t splits = 1; // warps that share the depth of Tensor Cores' sums

  /// Units of a thread and the parts of their sums are a place; there may be more than threads.
  int64_t places(int64_t units) const { return units / blocks / vector * parts * splits; }
  int64_t placesOfThread(int64_t units) const { return (places(units) + threads - 1) / threads; }
};

/// Columns of a matrix instruction, which are rows of a block; its rows and depth.
inline constexpr int64_t kMatrixRows = 8, kMatrixSums = 16, kMatrixDepth = 16;

/// Units of a block that does one step, but for the last one.
inline int64_t unitsOfStep(const RecurrenceForm &form) {
  return form.isMatrix ? kMatrixSums / 2 : form.threads / form.parts;
}

/// Bytes of shared memory: the vectors that products read, of a block's rows.
int64_t recurrenceShared(kernel::RecurrenceOp recurrence, const RecurrenceForm &form);

/// Where the weights come from that matrix instructions can take from memory, two neighbours along the
/// depth at a time: what the recurrence reads them through; null where they cannot.
mlir::linalg::GenericOp matrixWeights(kernel::RecurrenceOp recurrence);
/// Cells of a thread for each of its units: sums are of two rows, of which there may be only one.
int64_t matrixCells(kernel::RecurrenceOp recurrence);
/// Whether a thread keeps the weights of its sums in registers from step to step.
bool keepsWeights(kernel::RecurrenceOp recurrence, const RecurrenceForm &form);

/// What launches of single steps leave for one another, for each direction, row and unit: the first
/// state twice, other states, what phases hand on. Values are of the type that is computed in.
int64_t recurrenceSlots(kernel::RecurrenceOp recurrence);

/// Writes the body of the kernel that does one step, or a phase of it, by the number of the launch:
/// block c has direction c / (groups of rows * groups of units). `workspace` is the key to the slots,
/// [slots, directions, rows, units].
void emitRecurrenceStep(KernelWriter &kernel, kernel::RecurrenceOp recurrence,
                        const RecurrenceForm &form, mlir::Value workspace);

/// Writes the kernel's body: cluster c has direction c / (groups of rows), and does all steps.
void emitRecurrence(KernelWriter &kernel, kernel::RecurrenceOp recurrence,
                    const RecurrenceForm &form);

} // namespace cameo
