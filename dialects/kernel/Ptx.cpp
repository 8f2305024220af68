// The table of `kernel.ptx` instructions: one function per family. Sections are those of the PTX ISA,
// "Instruction Set".
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/kernel/PtxParser.h"
#include "runtime/sim/abi.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace cameo::kernel;

uint8_t cameo::kernel::typeOf(StringRef name) {
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

unsigned cameo::kernel::bitsOf(uint8_t type) {
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

PtxType cameo::kernel::registerOf(uint8_t type) {
  if (type == CAMEO_SIM_F32)
    return PtxType::F32;
  if (type == CAMEO_SIM_F64)
    return PtxType::F64;
  unsigned bits = bitsOf(type);
  return bits == 16 ? PtxType::B16 : bits == 64 ? PtxType::B64 : PtxType::B32;
}

uint8_t cameo::kernel::combineOf(StringRef name) {
  return llvm::StringSwitch<uint8_t>(name)
      .Case("add", CAMEO_SIM_ADD)
      .Case("min", CAMEO_SIM_MIN)
      .Case("max", CAMEO_SIM_MAX)
      .Case("and", CAMEO_SIM_AND)
      .Case("or", CAMEO_SIM_OR)
      .Case("xor", CAMEO_SIM_XOR)
      .Case("inc", CAMEO_SIM_INC)
      .Case("dec", CAMEO_SIM_DEC)
      .Default(kAbsent);
}

FailureOr<PtxInstruction> PtxParser::run() {
  using Family = LogicalResult (PtxParser::*)();
  Family family = llvm::StringSwitch<Family>(parts.front())
                      .Case("mma", &PtxParser::mma)
                      .Cases("ldmatrix", "stmatrix", &PtxParser::matrixMemory)
                      .Case("redux", &PtxParser::redux)
                      .Case("vote", &PtxParser::vote)
                      .Case("match", &PtxParser::match)
                      .Case("elect", &PtxParser::elect)
                      .Case("cp", &PtxParser::cpAsync)
                      .Case("bar", &PtxParser::barrier)
                      .Case("barrier", &PtxParser::clusterBarrier)
                      .Cases("mapa", "getctarank", &PtxParser::mapAddress)
                      .Cases("ld", "st", &PtxParser::clusterMemory)
                      .Case("prefetch", &PtxParser::prefetch)
                      .Cases("atom", "red", &PtxParser::atom)
                      .Cases("ex2", "lg2", "rcp", "rsqrt", "sqrt", &PtxParser::approx)
                      .Cases("sin", "cos", "tanh", &PtxParser::approx)
                      .Case("cvt", &PtxParser::convert)
                      .Case("prmt", &PtxParser::permute)
                      .Case("mbarrier", &PtxParser::mbarrier)
                      .Case("wgmma", &PtxParser::wgmma)
                      .Cases("fence", "membar", "griddepcontrol", "setmaxnreg", &PtxParser::nothing)
                      .Default(nullptr);
  if (!family || badImmediate || failed((this->*family)())) {
    if (error.empty())
      error = "'" + name.str() + "' is not an instruction that is known here";
    return failure();
  }
  return std::move(result);
}

/// Parallel Synchronization and Communication Instructions: redux.sync.
LogicalResult PtxParser::redux() {
  if (!take("sync"))
    return failure();
  StringRef operation = takeAny(), type = takeAny();
  uint8_t combine = combineOf(operation);
  bool bitwise = combine >= CAMEO_SIM_AND;
  if (combine == kAbsent || combine > CAMEO_SIM_XOR || failed(atEnd()) ||
      !(bitwise ? type == "b32" : type == "u32" || type == "s32"))
    return failure();
  result.opcode = CAMEO_SIM_OP_REDUX;
  result.modifiers = {combine, typeOf(type)};
  std::string to = out(PtxType::B32), from = in(PtxType::B32);
  result.text = llvm::formatv("{0} {1}, {2}, {3};", name, to, from, in(PtxType::B32));
  result.mask = 1;
  result.since = 80;
  return success();
}

/// Parallel Synchronization and Communication Instructions: vote.sync.
LogicalResult PtxParser::vote() {
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
  result.mask = 1;
  return success();
}

/// Parallel Synchronization and Communication Instructions: match.sync.
LogicalResult PtxParser::match() {
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
  result.mask = 1;
  return success();
}

/// Parallel Synchronization and Communication Instructions: elect.sync.
LogicalResult PtxParser::elect() {
  if (!take("sync") || failed(atEnd()))
    return failure();
  result.opcode = CAMEO_SIM_OP_ELECT;
  std::string leader = out(PtxType::B32), elected = out(PtxType::Predicate);
  result.text = llvm::formatv("{0} {1}|{2}, {3};", name, leader, elected, in(PtxType::B32));
  result.mask = 0;
  result.since = 90;
  return success();
}

/// Parallel Synchronization and Communication Instructions: atom, red.
LogicalResult PtxParser::atom() {
  bool wanted = parts[0] == "atom";
  if (!wanted && take("async"))
    return asyncReduce();
  takeOrder({"relaxed", "acquire", "release", "acq_rel"}, {"cta", "cluster", "gpu", "sys"});
  uint8_t space = CAMEO_SIM_GLOBAL;
  bool shared = takeShared(/*cluster=*/true, space);
  if (!shared && !take("global"))
    return failure();
  if (!shared)
    space = CAMEO_SIM_GLOBAL;
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
  bool isBf16 = type == CAMEO_SIM_BF16 || type == CAMEO_SIM_BF16X2;
  result.since = isBf16 || space == CAMEO_SIM_SHARED_CLUSTER ? 90 : 75;
  result.opcode = CAMEO_SIM_OP_ATOM;
  result.modifiers = {uint8_t(row->combine), type, wanted, space};
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
LogicalResult PtxParser::approx() {
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
  result.since = isBf16 ? 90 : 75;
  return success();
}

/// Data Movement and Conversion Instructions: cvt to and from pairs of 8-bit floats.
LogicalResult PtxParser::convertPairs() {
  bool narrows = take("satfinite");
  StringRef to = takeAny(), from = takeAny();
  StringRef pair = narrows ? to : from, other = narrows ? from : to;
  uint8_t type = pair.consume_back("x2") ? typeOf(pair) : kAbsent;
  bool isF8 = type == CAMEO_SIM_E4M3 || type == CAMEO_SIM_E5M2;
  bool isSingle = narrows && other == "f32";
  if (!isF8 || !(isSingle || other == "f16x2") || failed(atEnd()))
    return failure();
  result.opcode = narrows ? CAMEO_SIM_OP_TO_F8 : CAMEO_SIM_OP_FROM_F8;
  result.modifiers = {type};
  if (narrows)
    result.modifiers.push_back(typeOf(other));
  result.text = name.str() + " " + out(narrows ? PtxType::B16 : PtxType::B32);
  for (int i = 0; i < (isSingle ? 2 : 1); ++i) // the upper half first
    result.text += ", " + in(isSingle ? PtxType::F32 : narrows ? PtxType::B32 : PtxType::B16);
  result.text += ";";
  result.since = 89;
  result.ptxVersion = 81;
  return success();
}

/// Data Movement and Conversion Instructions: cvt, where it rounds to tf32.
LogicalResult PtxParser::convert() {
  if (take("rn"))
    return convertPairs();
  if (!takeAll({"rna", "tf32", "f32"}) || failed(atEnd()))
    return failure();
  result.opcode = CAMEO_SIM_OP_ROUND_TF32;
  std::string to = out(PtxType::B32);
  result.text = llvm::formatv("{0} {1}, {2};", name, to, in(PtxType::F32));
  result.since = 80;
  return success();
}

/// Data Movement and Conversion Instructions: prmt.
LogicalResult PtxParser::permute() {
  if (!take("b32") || failed(atEnd()))
    return failure();
  result.opcode = CAMEO_SIM_OP_PERMUTE;
  std::string to = out(PtxType::B32), low = in(PtxType::B32), high = in(PtxType::B32);
  result.text = llvm::formatv("{0} {1}, {2}, {3}, {4};", name, to, low, high, in(PtxType::B32));
  return success();
}

FailureOr<PtxInstruction> cameo::kernel::parsePtxInstruction(StringRef text, unsigned operands,
                                                             std::string &error) {
  return PtxParser(text, operands, error).run();
}
