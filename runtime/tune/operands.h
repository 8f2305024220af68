// Values for the inputs of candidates: the same ones for all candidates of a dispatch, however each
// of them has its dimensions stored.
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_RUNTIME_TUNE_OPERANDS_H
#define CAMEO_RUNTIME_TUNE_OPERANDS_H

#include "runtime/core/types.h"

namespace cameo::tune {

// Whole numbers of one digit other than zero: sums and products of them are exact in every type, so
// that candidates give the same bits, and none is divided by. Or numbers all of whose bits differ, as
// real ones' do: a GPU whose power is limited runs slower on them.
enum class Values { Exact, Rich };

// `shape` is that of the memory, whose dimensions are stored in `order`: dimension i of it is dimension
// order[i] of the dispatch's operand; empty: as they are. `number` is the operand's. Indices (integers
// of 32 and 64 bits) are zero, which is one of every table. Packed as dtypeBits() says.
std::vector<uint8_t> makeOperand(const runtime::Shape &shape, uint32_t dtype,
                                 const std::vector<uint32_t> &order, uint32_t number,
                                 Values values);

// How far a candidate's output is from that of the first one.
struct Deviation {
  bool sameBits = false;
  double error = 0; // largest difference, of the largest magnitude
  double bound = 0; // that is put down to sums in another order
  bool isWrong() const { return !sameBits && !(error <= bound); }
};
Deviation compareOutputs(const std::vector<uint8_t> &output, const std::vector<uint8_t> &reference,
                         uint32_t dtype, uint64_t elements);

} // namespace cameo::tune

#endif
