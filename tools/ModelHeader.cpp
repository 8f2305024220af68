// Manifest ==> C++.
// SPDX-License-Identifier: Apache-2.0
#include "tools/ModelHeader.h"

#include "codegen/Version.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace cameo;

namespace json = llvm::json;

/// The type of C++ that has elements of ONNX's; empty where it has none.
static StringRef nativeType(StringRef type) {
  return llvm::StringSwitch<StringRef>(type)
      .Cases("float", "double", "bool", type)
      .Case("int8", "int8_t")
      .Case("int16", "int16_t")
      .Case("int32", "int32_t")
      .Case("int64", "int64_t")
      .Case("uint8", "uint8_t")
      .Case("uint16", "uint16_t")
      .Case("uint32", "uint32_t")
      .Case("uint64", "uint64_t")
      .Default("");
}

/// The type that has their bits: floats of 16 bits one each, smaller elements by bytes.
static StringRef bitsType(StringRef type) {
  return type == "float16" || type == "bfloat16" ? "uint16_t" : "uint8_t";
}

static std::string quoted(StringRef text) {
  std::string result = "\"";
  for (unsigned char c : text) {
    if (c == '"' || c == '\\')
      result += {'\\', char(c)};
    else if (c < 32 || c == 127) // three octal digits, which no digit behind them joins
      result += llvm::formatv("\\{0}{1}{2}", c >> 6, c >> 3 & 7, c & 7);
    else
      result += char(c);
  }
  return result + '"';
}

/// A comment's line must end where it is meant to.
static std::string inComment(StringRef text) {
  std::string result = text.str();
  for (char &c : result)
    if ((!llvm::isPrint(c) && uint8_t(c) < 128) || c == '\\')
      c = '_';
  return result;
}

static std::string identifier(StringRef text) {
  std::string result = text.str();
  for (char &c : result)
    if (!llvm::isAlnum(c))
      c = '_';
  return result;
}

namespace {
class HeaderWriter {
public:
  std::string write(const json::Object &manifest, StringRef library);

private:
  /// A function's name that no other one has.
  std::string unique(std::string name) {
    std::string candidate = name;
    for (unsigned i = 2; !taken.insert(candidate).second; ++i)
      candidate = name + "_" + std::to_string(i);
    return candidate;
  }
  void writeSizes(const json::Array &inputs);
  void writeTensor(const json::Object &tensor, bool isInput);
  void writeState(const json::Object &input, StringRef type);

  std::string text;
  llvm::StringSet<> taken;
};
} // namespace

void HeaderWriter::writeSizes(const json::Array &inputs) {
  llvm::StringSet<> known;
  for (const json::Value &input : inputs)
    for (const json::Value &dim : *input.getAsObject()->getArray("dims"))
      if (std::optional<StringRef> name = dim.getAsString();
          name && !name->empty() && known.insert(*name).second)
        text += llvm::formatv("  /// Open size '{0}' of inputs.\n"
                              "  void {1}(int64_t size) {{ setSize({2}, size); }\n",
                              inComment(*name), unique("set_" + identifier(*name)), quoted(*name));
}

void HeaderWriter::writeTensor(const json::Object &tensor, bool isInput) {
  StringRef name = *tensor.getString("name"), type = *tensor.getString("type");
  std::vector<std::string> sizes;
  for (const json::Value &dim : *tensor.getArray("dims")) {
    std::optional<int64_t> number = dim.getAsInteger();
    StringRef symbol = dim.getAsString().value_or("");
    sizes.push_back(number ? std::to_string(*number) : symbol.empty() ? "?" : inComment(symbol));
  }
  StringRef native = nativeType(type);
  bool isNative = !native.empty();
  std::string element = (isNative ? native : bitsType(type)).str();
  std::string id = identifier(name), key = quoted(name);
  text += llvm::formatv("\n  /// {0} '{1}': {2}{3}{4}{5}.\n", isInput ? "Input" : "Output",
                        inComment(name), llvm::join(sizes, " x "), sizes.empty() ? "" : " of ",
                        type, isNative ? "" : ", as bits");
  std::string call =
      (isInput ? "bindInput" : "bindOutput") +
      (isNative ? "(" + key + ", values)"
                : "Bytes(" + key + ", values.data(), values.size() * sizeof(" + element + "))");
  text += llvm::formatv("  void {0}(cameo::Span<{1}{2}> values) {{ {3}; }\n", unique("bind_" + id),
                        isInput ? "const " : "", element, call);
  StringRef read = type == "bool" ? "uint8_t" : StringRef(element);
  if (isInput)
    writeState(tensor, isNative ? read : "");
  else if (isNative) {
    text += llvm::formatv("  std::vector<{0}> {1}() {{ return read<{0}>({2}); }\n", read,
                          unique("read_" + id), key);
  }
}

/// What an input has that an output becomes after each run; without a `type`, nobody reads it by one.
void HeaderWriter::writeState(const json::Object &input, StringRef type) {
  std::optional<StringRef> output = input.getString("state");
  if (!output)
    return;
  StringRef name = *input.getString("name");
  std::string id = identifier(name), key = quoted(name);
  text +=
      llvm::formatv("  /// A state: output '{0}' becomes it after each run.\n", inComment(*output));
  if (type.empty())
    text += llvm::formatv("  std::vector<unsigned char> {0}() {{ return readStateBytes({1}); }\n",
                          unique("state_" + id), key);
  else
    text += llvm::formatv("  std::vector<{0}> {1}() {{ return readState<{0}>({2}); }\n", type,
                          unique("state_" + id), key);
  if (input.getInteger("grows") && input.getBoolean("in_place").value_or(false))
    text += llvm::formatv("  void {0}(uint64_t capacity) {{ reserveState({1}, capacity); }\n",
                          unique("reserve_" + id), key);
}

/// True of words that no namespace may be called.
static bool isReserved(StringRef name) {
  static const llvm::StringSet<> words = {
      "alignas",  "alignof",  "and",      "asm",      "auto",    "bool",      "break",
      "cameo",    "case",     "catch",    "char",     "class",   "const",     "continue",
      "default",  "delete",   "do",       "double",   "else",    "enum",      "explicit",
      "export",   "extern",   "false",    "float",    "for",     "friend",    "goto",
      "if",       "inline",   "int",      "long",     "mutable", "namespace", "new",
      "not",      "nullptr",  "operator", "or",       "private", "protected", "public",
      "register", "requires", "return",   "short",    "signed",  "sizeof",    "static",
      "std",      "struct",   "switch",   "template", "this",    "throw",     "true",
      "try",      "typedef",  "typeid",   "typename", "union",   "unsigned",  "using",
      "virtual",  "void",     "volatile", "wchar_t",  "while",   "xor",       "constexpr",
      "decltype", "noexcept"};
  return words.contains(name);
}

std::string HeaderWriter::write(const json::Object &manifest, StringRef library) {
  StringRef stem = llvm::sys::path::stem(library);
  stem.consume_front("lib");
  std::string space = identifier(stem);
  if (space.empty() || llvm::isDigit(space[0]) || isReserved(space))
    space = "model_" + space;
  const json::Object &entry = *manifest.getArray("entries")->front().getAsObject();
  const json::Array &inputs = *entry.getArray("inputs"), &outputs = *entry.getArray("outputs");
  text = llvm::formatv(
      R"(// What '{0}' reads and gives, as cameoc {1} wrote it. Programs that include it are linked with that library.
#pragma once

#include <cameo.hpp>

#include <cstdint>
#include <vector>

namespace {2} {{

/// The model of that library.
class Model : public cameo::Model {{
public:
  explicit Model(const cameo::Device &device)
      : cameo::Model(cameo::Model::linked({3}, device)) {{}
};

/// Runs it, by one thread at a time: cameo.hpp has the rest. Memory that is bound stays the caller's.
class Context : public cameo::Context {{
public:
  explicit Context(const Model &model) : cameo::Context(model) {{}

)",
      inComment(library), CAMEO_VERSION, space, quoted(library));
  writeSizes(inputs);
  for (const json::Value &input : inputs)
    writeTensor(*input.getAsObject(), /*isInput=*/true);
  for (const json::Value &output : outputs)
    writeTensor(*output.getAsObject(), /*isInput=*/false);
  return text + "};\n\n} // namespace " + space + "\n";
}

std::string cameo::modelHeader(StringRef manifest, StringRef library) {
  llvm::Expected<json::Value> value = json::parse(manifest);
  return HeaderWriter().write(*llvm::cantFail(std::move(value)).getAsObject(), library);
}
