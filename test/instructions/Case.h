// Instruction tests: small kernels of single instructions, each with its input, and a reference in
// double precision or exact integers, written from the PTX ISA alone. The same kernels run on the
// simulator and on a GPU.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_TEST_INSTRUCTIONS_CASE_H
#define CAMEO_TEST_INSTRUCTIONS_CASE_H

#include "runtime/sim/isa/tensor_map.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace instructions {

using Bytes = std::vector<uint8_t>;

/// Where a kernel has a tensor map: it is a parameter, or a parameter points to it and the kernel
/// must acquire it.
enum class MapPlace { Parameter, Global };

/// A tensor map for a kernel: of 128 bytes, for the tensor in buffer `data`. It is the kernel's
/// parameter number `map`, or the device writes it to the buffer of that number.
struct TensorMap {
  unsigned map = 0, data = 0;
  cameo::sim::TensorMapParameters parameters;
  MapPlace place = MapPlace::Parameter;
};

struct Case {
  std::string name;        // of the kernel
  std::string instruction; // what is tested
  unsigned since = 75;     // the first architecture, 10 * major + minor
  std::string kernel;      // a gpu.module of the device stage
  unsigned blocks = 1, threads = 32;
  unsigned cluster = 1;       // blocks of a cluster, as the kernel says
  unsigned shared = 0;        // bytes of dynamic shared memory
  std::vector<Bytes> buffers; // its parameters, pointers to global memory; or tensor maps
  std::vector<TensorMap> maps;
  /// What is wrong with the buffers after the run; empty: nothing.
  std::function<std::string(const std::vector<Bytes> &)> check;
};

void addMmaCases(std::vector<Case> &cases);
void addWarpCases(std::vector<Case> &cases);
void addMemoryCases(std::vector<Case> &cases);
void addAtomCases(std::vector<Case> &cases);
void addApproxCases(std::vector<Case> &cases);
void addConvertCases(std::vector<Case> &cases);
void addBarrierCases(std::vector<Case> &cases);
void addWgmmaCases(std::vector<Case> &cases);
void addTensorCases(std::vector<Case> &cases);
void addClusterCases(std::vector<Case> &cases);
void addFormCases(std::vector<Case> &cases);
void addPipelineCases(std::vector<Case> &cases);

/// What a place that holds `a` holds after the atomic operation or reduction ("add", "min", ...) of
/// type ("u32", "f16", ...) with b, and with c for cas.
uint64_t atomicResult(const std::string &operation, const std::string &type, bool shared,
                      uint64_t a, uint64_t b, uint64_t c);

/// Random numbers that are the same everywhere (splitmix64).
class Random {
public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t bits() {
    uint64_t x = state_ += 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
  }
  unsigned below(unsigned n) { return unsigned((bits() >> 32) * n >> 32); }
  /// In [-1, 1).
  double unit() { return double(int64_t(bits())) * 0x1p-63; }

private:
  uint64_t state_;
};

/// One 8-byte slot an operand or result, a record a thread.
constexpr unsigned kSlot = 8;

inline uint64_t slot(const Bytes &buffer, size_t record, unsigned count, unsigned index) {
  uint64_t value;
  memcpy(&value, &buffer[(record * count + index) * kSlot], kSlot);
  return value;
}
inline void setSlot(Bytes &buffer, size_t record, unsigned count, unsigned index, uint64_t value) {
  memcpy(&buffer[(record * count + index) * kSlot], &value, kSlot);
}

/// A kernel in which every thread loads the operands of one instruction from its record of the
/// first parameter and stores the results to its record of the second. Types are of the llvm
/// dialect ("i32", "f32", "i1"). Lanes that are not in `active` leave the instruction out.
std::string registerKernel(const std::string &name, const std::string &instruction,
                           const std::vector<std::string> &operands,
                           const std::vector<std::string> &results, unsigned threads,
                           uint32_t active = ~0u);

/// A kernel with `body` between common beginnings: %in, %out (parameters), %tid, %lane, %block
/// (i32), %record (i64: the number of the thread in the grid), %shared (dynamic shared memory).
/// `cluster`: blocks of its clusters, if it has any.
std::string kernelOf(const std::string &name, const std::string &body, unsigned threads,
                     const std::string &parameters = "%in: !llvm.ptr<1>, %out: !llvm.ptr<1>",
                     unsigned cluster = 0);

/// A parameter that is a tensor map, or points to one; its type; what a thread does before its
/// block uses one that the host has written.
std::string mapParameter(const char *name, MapPlace place);
std::string mapType(MapPlace place);
std::string acquireMap(const char *name, MapPlace place);

/// For bodies: the block copies `bytes` from %in to %shared, or back from there to %out. With
/// barriers after, or before. Defines %zero.
std::string fillShared(unsigned bytes);
std::string emptyShared(unsigned bytes);

/// The kernel with operations of the nvvm dialect in place of the instructions that these are;
/// empty if it has none.
std::string nvvmSpelling(const std::string &kernel);

Bytes randomBytes(size_t count, uint64_t seed);

/// `text` with every "$KEY" replaced.
std::string fill(std::string text,
                 const std::vector<std::pair<std::string, std::string>> &replacements);

std::string format(const char *pattern, ...) __attribute__((format(printf, 1, 2)));

/// A small float of `exponent` and `mantissa` bits, by the definition of IEEE 754.
double decodeFloat(uint32_t bits, int exponent, int mantissa);
/// The nearest such float, ties to even, overflow to infinity.
uint32_t encodeFloat(double value, int exponent, int mantissa);
inline double decodeF16(uint32_t bits) { return decodeFloat(bits & 0xffff, 5, 10); }
/// No infinities; one NaN of each sign; the highest exponent counts.
inline double decodeE4m3(uint32_t bits) {
  return (bits & 0x7f) == 0x7f   ? decodeFloat(0x7f, 5, 2)
         : (bits & 0x78) == 0x78 ? (bits & 0x80 ? -1 : 1) * (1 + (bits & 7) / 8.0) * 256
                                 : decodeFloat(bits & 0xff, 4, 3);
}
inline double decodeBf16(uint32_t bits) { return decodeFloat(bits & 0xffff, 8, 7); }
inline double decodeF32(uint32_t bits) { return decodeFloat(bits, 8, 23); }
inline uint32_t encodeF32(double value) { return encodeFloat(value, 8, 23); }

/// How far the sum of products of 8-bit floats and an accumulator may be from the exact one. Tensor
/// Cores align these operands to the largest exponent among them, truncate each to 13 bits behind
/// it, and the sum to 13 bits behind its own (DeepSeek-V3 Technical Report, arXiv:2412.19437, 3.5.2;
/// SageAttention2, arXiv:2411.10958: Ada and Hopper). A product's exponent is the sum of its
/// factors', also where one is subnormal; products that are zero have none. An H200 (driver 580)
/// gives just that, to the last bit, of the sums of wgmma that were farthest off.
class Float8Sum {
public:
  /// An operand, and its exponent.
  void add(double value, int exponent) {
    if (value == 0)
      return;
    largest_ = terms_++ ? std::max(largest_, exponent) : exponent;
  }
  /// Each operand loses less than one in the last place that is kept, and so does the sum.
  double tolerance(double exact) const {
    return std::ldexp(terms_ + 1, largest_ - 13) + std::fabs(exact) * 0x1p-13;
  }

private:
  unsigned terms_ = 0;
  int largest_ = 0;
};
/// The exponent of a number of a type whose subnormal ones have the exponent `least`.
inline int exponentOf(double value, int least) {
  return value != 0 && std::isfinite(value) ? std::max(std::ilogb(value), least) : least;
}

/// Equal up to `tolerance`; NaN agrees with NaN alone, infinities with themselves.
bool agree(double got, double wanted, double tolerance);

} // namespace instructions

#endif
