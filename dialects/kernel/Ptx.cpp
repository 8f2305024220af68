// The table of `kernel.ptx` instructions: a function a family. Sections are those of the PTX ISA,
// "Instruction Set".
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/kernel/Ptx.h"

#include "runtime/sim/abi.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace cameo::kernel;

namespace {

constexpr uint8_t kAbsent = 0xff;

/// Name of an element type in an instruction ==> CameoSimType.
uint8_t typeOf(StringRef name) {
  return llvm::StringSwitch<uint8_t>(name)
      .Case("f16", CAMEO_SIM_F16)
      .Case("bf16", CAMEO_SIM_BF16)
      .Case("tf32", CAMEO_SIM_TF32)
      .Case("f32", CAMEO_SIM_F32)
      .Case("f64", CAMEO_SIM_F64)
      .Case("s8", CAMEO_SIM_S8)
      .Case("u8", CAMEO_SIM_U8)
      .Case("s32", CAMEO_SIM_S32)
      .Cases("u32", "b32", CAMEO_SIM_U32)
      .Case("s64", CAMEO_SIM_S64)
      .Cases("u64", "b64", CAMEO_SIM_U64)
      .Case("f16x2", CAMEO_SIM_F16X2)
      .Case("bf16x2", CAMEO_SIM_BF16X2)
      .Case("e4m3", CAMEO_SIM_E4M3)
      .Case("e5m2", CAMEO_SIM_E5M2)
      .Default(kAbsent);
}

unsigned bitsOf(uint8_t type) {
  switch (type) {
  case CAMEO_SIM_F16:
  case CAMEO_SIM_BF16:
    return 16;
  case CAMEO_SIM_S8:
  case CAMEO_SIM_U8:
  case CAMEO_SIM_E4M3:
  case CAMEO_SIM_E5M2:
    return 8;
  case CAMEO_SIM_F64:
  case CAMEO_SIM_S64:
  case CAMEO_SIM_U64:
    return 64;
  default:
    return 32;
  }
}

/// The register of a scalar of `type`.
PtxType registerOf(uint8_t type) {
  if (type == CAMEO_SIM_F32)
    return PtxType::F32;
  if (type == CAMEO_SIM_F64)
    return PtxType::F64;
  unsigned bits = bitsOf(type);
  return bits == 16 ? PtxType::B16 : bits == 64 ? PtxType::B64 : PtxType::B32;
}

/// An instruction's text taken apart, and what is made of it.
class Parser {
public:
  Parser(StringRef text, unsigned operandCount, std::string &error)
      : name(text.split(' ').first), operandCount(operandCount), error(error) {
    name.split(parts, '.');
    SmallVector<StringRef> numbers;
    text.split(' ').second.split(numbers, ',', -1, /*KeepEmpty=*/false);
    for (StringRef number : numbers) {
      int64_t value = 0;
      badImmediate |= number.trim().getAsInteger(0, value);
      immediates.push_back(value);
    }
  }

  FailureOr<PtxInstruction> run() {
    using Family = LogicalResult (Parser::*)();
    Family family = llvm::StringSwitch<Family>(parts.front())
                        .Case("mma", &Parser::mma)
                        .Cases("ldmatrix", "stmatrix", &Parser::matrixMemory)
                        .Case("redux", &Parser::redux)
                        .Case("vote", &Parser::vote)
                        .Case("match", &Parser::match)
                        .Case("elect", &Parser::elect)
                        .Case("cp", &Parser::cpAsync)
                        .Case("bar", &Parser::barrier)
                        .Cases("atom", "red", &Parser::atom)
                        .Cases("ex2", "lg2", "rcp", "rsqrt", "sqrt", &Parser::approx)
                        .Cases("sin", "cos", "tanh", &Parser::approx)
                        .Case("mbarrier", &Parser::mbarrier)
                        .Case("wgmma", &Parser::wgmma)
                        .Cases("fence", "membar", "griddepcontrol", "setmaxnreg", &Parser::nothing)
                        .Default(nullptr);
    if (!family || badImmediate || failed((this->*family)())) {
      if (error.empty())
        error = "'" + name.str() + "' is not an instruction that is known here";
      return failure();
    }
    return std::move(result);
  }

private:
  LogicalResult fail(const llvm::Twine &what) {
    error = what.str();
    return failure();
  }

  /// The next part of the name, if it is this one.
  bool take(StringRef part) {
    if (next >= parts.size() || parts[next] != part)
      return false;
    ++next;
    return true;
  }
  StringRef takeAny() { return next < parts.size() ? parts[next++] : StringRef(); }
  LogicalResult atEnd(unsigned immediateCount = 0) {
    return success(next == parts.size() && immediates.size() == immediateCount);
  }
  /// `from.to` in one: takes all these parts, or fails.
  bool takeAll(ArrayRef<StringRef> wanted) {
    return llvm::all_of(wanted, [&](StringRef part) { return take(part); });
  }

  std::string add(bool isResult, PtxType type, unsigned count, bool braces) {
    (isResult ? result.results : result.operands).append(count, type);
    std::string text;
    for (unsigned i = 0; i < count; ++i)
      text += (i ? ", $" : "$") + std::to_string(placeholder++);
    return braces ? "{" + text + "}" : text;
  }
  // In the order of the text, results first.
  std::string out(PtxType type, unsigned count = 1, bool braces = false) {
    return add(true, type, count, braces);
  }
  std::string in(PtxType type, unsigned count = 1, bool braces = false) {
    return add(false, type, count, braces);
  }

  /// Type and shape of `m16n8k16`.
  bool takeShape(unsigned (&shape)[3]) {
    StringRef part = takeAny();
    const char *letters[] = {"m", "n", "k"};
    for (unsigned i = 0; i < 3; ++i)
      if (!part.consume_front(letters[i]) || part.consumeInteger(10, shape[i]))
        return false;
    return part.empty();
  }

  LogicalResult mma();
  LogicalResult matrixMemory();
  LogicalResult redux();
  LogicalResult vote();
  LogicalResult match();
  LogicalResult elect();
  LogicalResult cpAsync();
  LogicalResult tensorCopy(bool reduces);
  LogicalResult bulkCopy();
  LogicalResult barrier();
  LogicalResult atom();
  LogicalResult approx();
  LogicalResult mbarrier();
  LogicalResult nothing();
  LogicalResult wgmma();

  StringRef name;
  unsigned operandCount;
  std::string &error;
  SmallVector<StringRef> parts;
  SmallVector<int64_t> immediates;
  bool badImmediate = false;
  size_t next = 1;
  unsigned placeholder = 0;
  PtxInstruction result;
};

/// Warp Level Matrix Multiply-Accumulate Instructions: mma.
LogicalResult Parser::mma() {
  struct Shape {
    unsigned m, n, k;
    StringRef inputs, accumulator;
    unsigned since;
  };
  // One letter an input type that the shape takes: see `kind`.
  static const Shape shapes[] = {
      {16, 8, 8, "h", "f16", 75},  {16, 8, 8, "h", "f32", 75},  {16, 8, 16, "h", "f16", 80},
      {16, 8, 16, "h", "f32", 80}, {16, 8, 8, "b", "f32", 80},  {16, 8, 16, "b", "f32", 80},
      {16, 8, 4, "t", "f32", 80},  {16, 8, 8, "t", "f32", 80},  {8, 8, 4, "d", "f64", 80},
      {8, 8, 16, "i", "s32", 75},  {16, 8, 16, "i", "s32", 80}, {16, 8, 32, "i", "s32", 80},
  };
  auto kind = [](uint8_t type) -> StringRef {
    switch (type) {
    case CAMEO_SIM_F16:
      return "h";
    case CAMEO_SIM_BF16:
      return "b";
    case CAMEO_SIM_TF32:
      return "t";
    case CAMEO_SIM_F64:
      return "d";
    case CAMEO_SIM_S8:
    case CAMEO_SIM_U8:
      return "i";
    default:
      return "none";
    }
  };
  unsigned shape[3];
  if (!takeAll({"sync", "aligned"}) || !takeShape(shape) || !takeAll({"row", "col"}))
    return failure();
  bool satfinite = take("satfinite");
  StringRef d = takeAny();
  uint8_t a = typeOf(takeAny()), b = typeOf(takeAny());
  StringRef c = takeAny();
  if (failed(atEnd()) || c != d || kind(a) != kind(b) || (kind(a) != "i" && a != b) ||
      (satfinite && kind(a) != "i"))
    return failure();
  const Shape *found = llvm::find_if(shapes, [&](const Shape &known) {
    return known.m == shape[0] && known.n == shape[1] && known.k == shape[2] &&
           known.inputs == kind(a) && known.accumulator == d;
  });
  if (found == std::end(shapes))
    return failure();
  uint8_t accumulator = typeOf(d);
  auto registers = [&](unsigned rows, unsigned cols, uint8_t type) {
    return rows * cols * bitsOf(type) / 32 / std::max(32u, bitsOf(type));
  };
  PtxType input = a == CAMEO_SIM_F64 ? PtxType::F64 : PtxType::B32;
  PtxType sum = accumulator == CAMEO_SIM_F16 ? PtxType::B32 : registerOf(accumulator);
  unsigned sums = registers(found->m, found->n, accumulator);
  result.opcode = CAMEO_SIM_OP_MMA;
  result.modifiers = {uint8_t(found->m), uint8_t(found->n), uint8_t(found->k), a, b,
                      accumulator,       satfinite};
  std::string dText = out(sum, sums, true);
  std::string aText = in(input, registers(found->m, found->k, a), true);
  std::string bText = in(input, registers(found->k, found->n, b), true);
  std::string cText = in(sum, sums, true);
  result.text = llvm::formatv("{0} {1}, {2}, {3}, {4};", name, dText, aText, bText, cText);
  result.collective = result.pure = true;
  result.since = found->since;
  return success();
}

/// Warp-level matrix load instruction: ldmatrix; stmatrix.
LogicalResult Parser::matrixMemory() {
  bool load = parts[0] == "ldmatrix";
  if (!takeAll({"sync", "aligned", "m8n8"}))
    return failure();
  unsigned count = take("x1") ? 1 : take("x2") ? 2 : take("x4") ? 4 : 0;
  bool transposed = take("trans");
  if (!count || !(take("shared") || take("shared::cta")) || !take("b16") || failed(atEnd()))
    return failure();
  result.opcode = load ? CAMEO_SIM_OP_LDMATRIX : CAMEO_SIM_OP_STMATRIX;
  result.modifiers = {uint8_t(count), transposed};
  if (load) {
    std::string to = out(PtxType::B32, count, true);
    result.text = llvm::formatv("{0} {1}, [{2}];", name, to, in(PtxType::Shared));
  } else {
    std::string to = in(PtxType::Shared);
    result.text = llvm::formatv("{0} [{1}], {2};", name, to, in(PtxType::B32, count, true));
    result.since = 90;
  }
  result.collective = true;
  return success();
}

/// Parallel Synchronization and Communication Instructions: redux.sync.
LogicalResult Parser::redux() {
  if (!take("sync"))
    return failure();
  StringRef operation = takeAny(), type = takeAny();
  uint8_t combine = llvm::StringSwitch<uint8_t>(operation)
                        .Case("add", CAMEO_SIM_ADD)
                        .Case("min", CAMEO_SIM_MIN)
                        .Case("max", CAMEO_SIM_MAX)
                        .Case("and", CAMEO_SIM_AND)
                        .Case("or", CAMEO_SIM_OR)
                        .Case("xor", CAMEO_SIM_XOR)
                        .Default(kAbsent);
  bool bitwise = combine >= CAMEO_SIM_AND;
  if (combine == kAbsent || failed(atEnd()) ||
      !(bitwise ? type == "b32" : type == "u32" || type == "s32"))
    return failure();
  result.opcode = CAMEO_SIM_OP_REDUX;
  result.modifiers = {combine, typeOf(type)};
  std::string to = out(PtxType::B32), from = in(PtxType::B32);
  result.text = llvm::formatv("{0} {1}, {2}, {3};", name, to, from, in(PtxType::B32));
  result.collective = true;
  result.mask = 1;
  result.since = 80;
  return success();
}

/// Parallel Synchronization and Communication Instructions: vote.sync.
LogicalResult Parser::vote() {
  if (!take("sync"))
    return failure();
  StringRef mode = takeAny();
  uint8_t kind = llvm::StringSwitch<uint8_t>(mode)
                     .Case("any", CAMEO_SIM_VOTE_ANY)
                     .Case("all", CAMEO_SIM_VOTE_ALL)
                     .Case("uni", CAMEO_SIM_VOTE_UNI)
                     .Case("ballot", CAMEO_SIM_VOTE_BALLOT)
                     .Default(kAbsent);
  bool ballot = kind == CAMEO_SIM_VOTE_BALLOT;
  if (kind == kAbsent || !take(ballot ? "b32" : "pred") || failed(atEnd()))
    return failure();
  result.opcode = CAMEO_SIM_OP_VOTE;
  result.modifiers = {kind};
  std::string to = out(ballot ? PtxType::B32 : PtxType::Predicate), of = in(PtxType::Predicate);
  result.text = llvm::formatv("{0} {1}, {2}, {3};", name, to, of, in(PtxType::B32));
  result.collective = true;
  result.mask = 1;
  return success();
}

/// Parallel Synchronization and Communication Instructions: match.sync.
LogicalResult Parser::match() {
  bool all = take("all");
  if ((!all && !take("any")) || !take("sync"))
    return failure();
  bool wide = take("b64");
  if ((!wide && !take("b32")) || failed(atEnd()))
    return failure();
  result.opcode = CAMEO_SIM_OP_MATCH;
  result.modifiers = {all, uint8_t(wide ? 8 : 4)};
  std::string to = out(PtxType::B32);
  if (all)
    to += "|" + out(PtxType::Predicate);
  std::string of = in(wide ? PtxType::B64 : PtxType::B32);
  result.text = llvm::formatv("{0} {1}, {2}, {3};", name, to, of, in(PtxType::B32));
  result.collective = true;
  result.mask = 1;
  return success();
}

/// Parallel Synchronization and Communication Instructions: elect.sync.
LogicalResult Parser::elect() {
  if (!take("sync") || failed(atEnd()))
    return failure();
  result.opcode = CAMEO_SIM_OP_ELECT;
  std::string leader = out(PtxType::B32), elected = out(PtxType::Predicate);
  result.text = llvm::formatv("{0} {1}|{2}, {3};", name, leader, elected, in(PtxType::B32));
  result.collective = true;
  result.mask = 0;
  result.since = 90;
  return success();
}

/// Data Movement and Conversion Instructions: cp.async and what completes it.
LogicalResult Parser::cpAsync() {
  if (take("reduce"))
    return success(takeAll({"async", "bulk", "tensor"}) && succeeded(tensorCopy(true)));
  if (!take("async"))
    return failure();
  if (take("bulk"))
    return take("tensor") ? tensorCopy(false) : bulkCopy();
  result.since = 80;
  if (take("commit_group")) {
    result.opcode = CAMEO_SIM_OP_CP_COMMIT;
    result.text = name.str() + ";";
    return atEnd();
  }
  bool all = take("wait_all");
  if (all || take("wait_group")) {
    if (failed(atEnd(all ? 0 : 1)) || (!all && (immediates[0] < 0 || immediates[0] > 254)))
      return fail("waits for 0 to 254 groups");
    result.opcode = CAMEO_SIM_OP_CP_WAIT;
    result.modifiers = {all ? uint8_t(255) : uint8_t(immediates[0])};
    result.text = name.str() + (all ? ";" : " " + std::to_string(immediates[0]) + ";");
    return success();
  }
  if (take("mbarrier")) {
    if (!take("arrive"))
      return failure();
    bool noinc = take("noinc");
    if (!(take("shared") || take("shared::cta")) || !take("b64") || failed(atEnd()))
      return failure();
    result.opcode = CAMEO_SIM_OP_CP_MBARRIER;
    result.modifiers = {noinc};
    result.text = llvm::formatv("{0} [{1}];", name, in(PtxType::Shared));
    return success();
  }
  bool l2Only = take("cg");
  if ((!l2Only && !take("ca")) || !(take("shared") || take("shared::cta")) || !take("global"))
    return failure();
  if (!take("L2::64B") && !take("L2::128B"))
    take("L2::256B");
  if (failed(atEnd(1)))
    return failure();
  int64_t bytes = immediates[0];
  if (bytes != 16 && (l2Only || (bytes != 4 && bytes != 8)))
    return fail("copies of " + llvm::Twine(bytes) + " B do not exist: 4, 8 and 16 with .ca, 16 " +
                "with .cg");
  bool sized = operandCount == 3;
  result.opcode = CAMEO_SIM_OP_CP_ASYNC;
  result.modifiers = {uint8_t(bytes), sized};
  std::string to = in(PtxType::Shared), from = in(PtxType::Global);
  result.text = llvm::formatv("{0} [{1}], [{2}], {3}{4};", name, to, from, bytes,
                              sized ? ", " + in(PtxType::B32) : "");
  return success();
}

/// Data Movement and Conversion Instructions, "Tensor": between a box of a tensor and shared
/// memory.
LogicalResult Parser::tensorCopy(bool reduces) {
  result.since = 90;
  StringRef part = takeAny();
  unsigned dimensions = 0;
  if (part.consumeInteger(10, dimensions) || part != "d" || !dimensions || dimensions > 5)
    return failure();
  auto tensor = [&] {
    std::string map = in(PtxType::Global);
    return "[" + map + ", " + in(PtxType::B32, dimensions, true) + "]";
  };
  if (!reduces && takeAll({"shared::cluster", "global"})) {
    bool im2col = take("im2col");
    if ((!im2col && !take("tile")) || !takeAll({"mbarrier::complete_tx::bytes"}) ||
        failed(atEnd()) || (im2col && dimensions < 3))
      return failure();
    result.opcode = CAMEO_SIM_OP_TENSOR_LOAD;
    result.modifiers = {uint8_t(dimensions), im2col};
    std::string to = in(PtxType::Shared), from = tensor(), barrier = in(PtxType::Shared);
    result.text = llvm::formatv("{0} [{1}], {2}, [{3}]{4};", name, to, from, barrier,
                                im2col ? ", " + in(PtxType::B16, dimensions - 2, true) : "");
    return success();
  }
  if (!takeAll({"global", "shared::cta"}) || (reduces && !take("add")) ||
      !takeAll({"tile", "bulk_group"}) || failed(atEnd()))
    return failure();
  result.opcode = CAMEO_SIM_OP_TENSOR_STORE;
  result.modifiers = {uint8_t(dimensions), uint8_t(reduces ? CAMEO_SIM_ADD : CAMEO_SIM_EXCH)};
  std::string to = tensor();
  result.text = llvm::formatv("{0} {1}, [{2}];", name, to, in(PtxType::Shared));
  return success();
}

/// Data Movement and Conversion Instructions, "Bulk copy".
LogicalResult Parser::bulkCopy() {
  result.since = 90;
  if (take("commit_group")) {
    result.opcode = CAMEO_SIM_OP_BULK_COMMIT;
    result.text = name.str() + ";";
    return atEnd();
  }
  if (take("wait_group")) {
    take("read");
    if (failed(atEnd(1)) || immediates[0] < 0 || immediates[0] > 255)
      return fail("waits for 0 to 255 groups");
    result.opcode = CAMEO_SIM_OP_BULK_WAIT;
    result.modifiers = {uint8_t(immediates[0])};
    result.text = name.str() + " " + std::to_string(immediates[0]) + ";";
    return success();
  }
  bool load = take("shared::cluster");
  if (load ? !takeAll({"global", "mbarrier::complete_tx::bytes"})
           : !takeAll({"global", "shared::cta", "bulk_group"}))
    return failure();
  result.opcode = load ? CAMEO_SIM_OP_BULK_LOAD : CAMEO_SIM_OP_BULK_STORE;
  std::string to = in(load ? PtxType::Shared : PtxType::Global);
  std::string from = in(load ? PtxType::Global : PtxType::Shared), bytes = in(PtxType::B32);
  result.text = llvm::formatv("{0} [{1}], [{2}], {3}{4};", name, to, from, bytes,
                              load ? ", [" + in(PtxType::Shared) + "]" : "");
  return atEnd();
}

/// Parallel Synchronization and Communication Instructions: bar.arrive. The other barriers are
/// operations of the nvvm dialect.
LogicalResult Parser::barrier() {
  if (!take("arrive") || failed(atEnd()))
    return failure();
  result.opcode = CAMEO_SIM_OP_BAR_ARRIVE;
  std::string id = in(PtxType::B32);
  result.text = llvm::formatv("{0} {1}, {2};", name, id, in(PtxType::B32));
  return success();
}

/// Parallel Synchronization and Communication Instructions: atom, red.
LogicalResult Parser::atom() {
  bool wanted = parts[0] == "atom";
  for (StringRef qualifier : {"relaxed", "acquire", "release", "acq_rel"})
    take(qualifier);
  for (StringRef scope : {"cta", "cluster", "gpu", "sys"})
    take(scope);
  bool shared = take("shared") || take("shared::cta");
  if (!shared && !take("global"))
    return failure();
  StringRef operation = takeAny();
  take("noftz");
  StringRef typeName = takeAny();
  uint8_t type = typeOf(typeName);
  struct Row {
    StringRef operation;
    CameoSimCombine combine;
    StringRef types; // between spaces
  };
  static const Row rows[] = {
      {"add", CAMEO_SIM_ADD, " u32 s32 u64 f32 f64 f16 f16x2 bf16 bf16x2 "},
      {"min", CAMEO_SIM_MIN, " u32 s32 u64 s64 "},
      {"max", CAMEO_SIM_MAX, " u32 s32 u64 s64 "},
      {"and", CAMEO_SIM_AND, " b32 b64 "},
      {"or", CAMEO_SIM_OR, " b32 b64 "},
      {"xor", CAMEO_SIM_XOR, " b32 b64 "},
      {"exch", CAMEO_SIM_EXCH, " b32 b64 "},
      {"cas", CAMEO_SIM_CAS, " b32 b64 "},
      {"inc", CAMEO_SIM_INC, " u32 "},
      {"dec", CAMEO_SIM_DEC, " u32 "},
  };
  const Row *row = llvm::find_if(rows, [&](const Row &row) {
    return row.operation == operation && row.types.contains((" " + typeName + " ").str());
  });
  bool returnsAlways = operation == "exch" || operation == "cas";
  if (row == std::end(rows) || failed(atEnd()) || (!wanted && returnsAlways))
    return failure();
  bool isHalf = type == CAMEO_SIM_F16 || type == CAMEO_SIM_F16X2 || type == CAMEO_SIM_BF16 ||
                type == CAMEO_SIM_BF16X2;
  if (isHalf != name.contains(".noftz."))
    return fail("16-bit floating-point atomics are .noftz, and they alone");
  result.since = type == CAMEO_SIM_BF16 || type == CAMEO_SIM_BF16X2 ? 90 : 75;
  result.opcode = CAMEO_SIM_OP_ATOM;
  result.modifiers = {uint8_t(row->combine), type, wanted, shared};
  PtxType value = registerOf(type);
  std::string text = name.str() + " ";
  if (wanted)
    text += out(value) + ", ";
  text += "[" + in(shared ? PtxType::Shared : PtxType::Global) + "], " + in(value);
  if (operation == "cas")
    text += ", " + in(value);
  result.text = text + ";";
  return success();
}

/// Floating Point Instructions and Half Precision Floating Point Instructions: the approximations.
LogicalResult Parser::approx() {
  uint8_t function = llvm::StringSwitch<uint8_t>(parts[0])
                         .Case("ex2", CAMEO_SIM_EX2)
                         .Case("lg2", CAMEO_SIM_LG2)
                         .Case("rcp", CAMEO_SIM_RCP)
                         .Case("rsqrt", CAMEO_SIM_RSQRT)
                         .Case("sqrt", CAMEO_SIM_SQRT)
                         .Case("sin", CAMEO_SIM_SIN)
                         .Case("cos", CAMEO_SIM_COS)
                         .Default(CAMEO_SIM_TANH);
  if (!take("approx"))
    return failure();
  bool flush = take("ftz");
  StringRef typeName = takeAny();
  uint8_t type = typeOf(typeName);
  bool isTanh = function == CAMEO_SIM_TANH, isEx2 = function == CAMEO_SIM_EX2;
  bool isBf16 = type == CAMEO_SIM_BF16 || type == CAMEO_SIM_BF16X2;
  bool isF16 = type == CAMEO_SIM_F16 || type == CAMEO_SIM_F16X2;
  if (failed(atEnd()) || !(type == CAMEO_SIM_F32 || ((isTanh || isEx2) && (isF16 || isBf16))) ||
      (isTanh && flush) || (isF16 && flush) || (isEx2 && isBf16 && !flush))
    return failure();
  result.opcode = CAMEO_SIM_OP_APPROX;
  result.modifiers = {function, type, flush};
  PtxType value = registerOf(type);
  std::string to = out(value);
  result.text = llvm::formatv("{0} {1}, {2};", name, to, in(value));
  result.pure = true;
  result.since = isBf16 ? 90 : 75;
  return success();
}

/// Parallel Synchronization and Communication Instructions: mbarrier.
LogicalResult Parser::mbarrier() {
  auto space = [&] { return (take("shared") || take("shared::cta")) && take("b64"); };
  auto order = [&] {
    for (StringRef part : {"relaxed", "acquire", "release", "cta", "cluster"})
      take(part);
  };
  result.since = 80;
  bool init = take("init");
  if (init || take("inval")) {
    if (!space() || failed(atEnd()))
      return failure();
    result.opcode = init ? CAMEO_SIM_OP_MBAR_INIT : CAMEO_SIM_OP_MBAR_INVAL;
    std::string barrier = in(PtxType::Shared);
    result.text =
        llvm::formatv("{0} [{1}]{2};", name, barrier, init ? ", " + in(PtxType::B32) : "");
    return success();
  }
  if (take("expect_tx")) {
    order();
    if (!space() || failed(atEnd()))
      return failure();
    result.opcode = CAMEO_SIM_OP_MBAR_EXPECT_TX;
    result.modifiers = {0, 0};
    std::string barrier = in(PtxType::Shared);
    result.text = llvm::formatv("{0} [{1}], {2};", name, barrier, in(PtxType::B32));
    result.since = 90;
    return success();
  }
  bool drop = take("arrive_drop");
  if (drop || take("arrive")) {
    bool expects = take("expect_tx");
    order();
    if (!space() || failed(atEnd()))
      return failure();
    bool second = expects || operandCount == 2;
    if (expects && drop)
      return failure();
    result.opcode = expects ? CAMEO_SIM_OP_MBAR_EXPECT_TX : CAMEO_SIM_OP_MBAR_ARRIVE;
    if (expects)
      result.modifiers = {1, 1};
    else
      result.modifiers = {second, drop, 1};
    std::string state = out(PtxType::B64), barrier = in(PtxType::Shared);
    result.text = llvm::formatv("{0} {1}, [{2}]{3};", name, state, barrier,
                                second ? ", " + in(PtxType::B32) : "");
    result.since = second ? 90 : 80;
    return success();
  }
  bool blocks = take("try_wait");
  if (blocks || take("test_wait")) {
    bool parity = take("parity");
    order();
    if (!space() || failed(atEnd()))
      return failure();
    result.opcode = CAMEO_SIM_OP_MBAR_WAIT;
    result.modifiers = {blocks, parity};
    result.blocks = true;
    std::string done = out(PtxType::Predicate), barrier = in(PtxType::Shared);
    result.text = llvm::formatv("{0} {1}, [{2}], {3};", name, done, barrier,
                                in(parity ? PtxType::B32 : PtxType::B64));
    result.since = blocks || parity ? 90 : 80;
    return success();
  }
  return failure();
}

/// Asynchronous Warpgroup Level Matrix Instructions. Operands: A (a descriptor or four registers),
/// the descriptor of B, whether the accumulators count, the accumulators; immediates as in PTX.
LogicalResult Parser::wgmma() {
  result.since = 90;
  if (take("wait_group")) {
    if (!takeAll({"sync", "aligned"}) || failed(atEnd(1)) || immediates[0] < 0 || immediates[0] > 7)
      return fail("waits for 0 to 7 groups");
    result.opcode = CAMEO_SIM_OP_NOTHING;
    result.text = name.str() + " " + std::to_string(immediates[0]) + ";";
    return success();
  }
  if (take("fence") || take("commit_group")) {
    result.opcode = CAMEO_SIM_OP_NOTHING;
    result.text = name.str() + ";";
    return success(takeAll({"sync", "aligned"}) && succeeded(atEnd()));
  }
  unsigned shape[3];
  if (!takeAll({"mma_async", "sync", "aligned"}) || !takeShape(shape))
    return failure();
  bool satfinite = take("satfinite");
  uint8_t d = typeOf(takeAny()), a = typeOf(takeAny()), b = typeOf(takeAny());
  if (next != parts.size() || d == kAbsent || a == kAbsent || b == kAbsent)
    return failure();
  bool is16 = a == CAMEO_SIM_F16 || a == CAMEO_SIM_BF16;
  bool isInteger = a == CAMEO_SIM_S8 || a == CAMEO_SIM_U8;
  bool isFp8 = a == CAMEO_SIM_E4M3 || a == CAMEO_SIM_E5M2;
  // Integers of different signs need PTX 8.4, which is newer than what is written.
  bool typesGo = a == b && (is16 || isInteger || a == CAMEO_SIM_TF32);
  typesGo |= isFp8 && (b == CAMEO_SIM_E4M3 || b == CAMEO_SIM_E5M2);
  typesGo &= isInteger
                 ? d == CAMEO_SIM_S32
                 : d == CAMEO_SIM_F32 || (d == CAMEO_SIM_F16 && (a == CAMEO_SIM_F16 || isFp8));
  unsigned n = shape[1];
  if (!typesGo || (satfinite && !isInteger) || shape[0] != 64 || shape[2] != 256 / bitsOf(a) ||
      n < 8 || n > 256 || n % 8 || (isInteger && n > 32 && n % 16))
    return failure();
  unsigned sums = d == CAMEO_SIM_F16 ? n / 4 : n / 2;
  bool registers = operandCount == sums + 6;
  size_t wanted = isInteger ? 0 : is16 ? (registers ? 3 : 4) : 2;
  if (immediates.size() != wanted)
    return fail(
        llvm::formatv("'{0}' takes {1} immediates here, not {2}", name, wanted, immediates.size()));
  uint8_t flags = registers * CAMEO_SIM_WGMMA_REGISTERS | satfinite * CAMEO_SIM_WGMMA_SATURATE;
  std::string list;
  for (auto [index, immediate] : llvm::enumerate(immediates)) {
    bool sign = index < 2, second = registers || index == 3;
    if (sign ? immediate != 1 && immediate != -1 : immediate != 0 && immediate != 1)
      return fail("scales are 1 or -1, transpositions 0 or 1");
    if (sign && immediate < 0)
      flags |= index ? CAMEO_SIM_WGMMA_NEGATE_B : CAMEO_SIM_WGMMA_NEGATE_A;
    if (!sign && immediate)
      flags |= second ? CAMEO_SIM_WGMMA_TRANSPOSE_B : CAMEO_SIM_WGMMA_TRANSPOSE_A;
    list += ", " + std::to_string(immediate);
  }
  PtxType sum = d == CAMEO_SIM_F32 ? PtxType::F32 : PtxType::B32;
  std::string dText = out(sum, sums, true);
  std::string aText = registers ? in(PtxType::B32, 4, true) : in(PtxType::B64);
  std::string bText = in(PtxType::B64), scale = in(PtxType::Predicate);
  result.operands.append(sums, sum);
  result.tied = sums;
  result.opcode = CAMEO_SIM_OP_WGMMA;
  result.modifiers = {uint8_t(n / 8), a, b, d, flags};
  result.text = llvm::formatv("{0} {1}, {2}, {3}, {4}{5};", name, dText, aText, bText, scale, list);
  result.collective = true;
  return success();
}

/// Fences, hints and the like: they do not change what one thread after the other computes.
LogicalResult Parser::nothing() {
  struct Row {
    StringRef name;
    unsigned since;
  };
  static const Row rows[] = {
      {"membar.cta", 75},
      {"membar.gl", 75},
      {"membar.sys", 75},
      {"fence.acq_rel.cta", 75},
      {"fence.acq_rel.gpu", 75},
      {"fence.acq_rel.sys", 75},
      {"fence.acq_rel.cluster", 90},
      {"fence.mbarrier_init.release.cluster", 90},
      {"fence.proxy.async", 90},
      {"fence.proxy.async.global", 90},
      {"fence.proxy.async.shared::cta", 90},
      {"griddepcontrol.launch_dependents", 90},
      {"griddepcontrol.wait", 90},
      {"setmaxnreg.dec.sync.aligned.u32", 90},
      {"setmaxnreg.inc.sync.aligned.u32", 90},
  };
  const Row *row = llvm::find_if(rows, [&](const Row &row) { return row.name == name; });
  if (row == std::end(rows))
    return failure();
  bool registers = name.starts_with("setmaxnreg");
  if (immediates.size() != (registers ? 1 : 0))
    return failure();
  if (registers && (immediates[0] < 24 || immediates[0] > 256 || immediates[0] % 8))
    return fail("sets " + llvm::Twine(immediates[0]) +
                " registers; multiples of 8 from 24 to 256 are possible");
  result.opcode = CAMEO_SIM_OP_NOTHING;
  result.text = name.str() + (registers ? " " + std::to_string(immediates[0]) : "") + ";";
  result.since = row->since;
  return success();
}

} // namespace

FailureOr<PtxInstruction> cameo::kernel::parsePtxInstruction(StringRef text, unsigned operands,
                                                             std::string &error) {
  return Parser(text, operands, error).run();
}
