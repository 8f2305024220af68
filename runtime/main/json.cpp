// A recursive-descent reader after RFC 8259.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/main/json.h"

#include <cstdint>
#include <cstdio>

namespace cameo::cli {
namespace {

constexpr int kMaxDepth = 64;

class Parser {
public:
  explicit Parser(std::string_view text) : text(text) {}

  bool document(Json &value) { return parse(value, 0) && (space(), at == text.size()); }

private:
  void space() {
    while (at < text.size() &&
           (text[at] == ' ' || text[at] == '\n' || text[at] == '\t' || text[at] == '\r'))
      ++at;
  }
  bool take(char c) {
    space();
    if (at == text.size() || text[at] != c)
      return false;
    ++at;
    return true;
  }
  bool word(std::string_view expected) {
    if (text.substr(at, expected.size()) != expected)
      return false;
    at += expected.size();
    return true;
  }

  bool parse(Json &value, int depth) {
    space();
    if (at == text.size() || depth > kMaxDepth)
      return false;
    switch (text[at]) {
    case '{':
      value.kind = Json::Object;
      return list(value, '}', depth);
    case '[':
      value.kind = Json::Array;
      return list(value, ']', depth);
    case '"':
      value.kind = Json::String;
      return string(value.text);
    case 'n':
      return word("null");
    case 't':
    case 'f':
      value.kind = Json::Bool;
      value.text = text[at] == 't' ? "true" : "false";
      return word(value.text);
    default:
      value.kind = Json::Number;
      while (at < text.size() && std::string_view("+-.0123456789eE").find(text[at]) != text.npos)
        value.text += text[at++];
      return !value.text.empty();
    }
  }

  bool list(Json &value, char end, int depth) {
    ++at;
    if (take(end))
      return true;
    do {
      value.members.emplace_back();
      auto &[name, member] = value.members.back();
      if (end == '}') {
        space();
        if (at == text.size() || text[at] != '"' || !string(name) || !take(':'))
          return false;
      }
      if (!parse(member, depth + 1))
        return false;
    } while (take(','));
    return take(end);
  }

  bool string(std::string &result) {
    for (++at; at < text.size(); ++at) {
      char c = text[at];
      if (c == '"') {
        ++at;
        return true;
      }
      if (c != '\\') {
        result += c;
        continue;
      }
      if (++at == text.size() || !escape(result))
        return false;
    }
    return false;
  }

  bool escape(std::string &result) {
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    for (int i = 0; from[i]; ++i)
      if (text[at] == from[i]) {
        result += to[i];
        return true;
      }
    if (text[at] != 'u' || text.size() - at < 5)
      return false;
    uint32_t code = 0;
    for (int i = 0; i < 4; ++i) {
      char c = text[++at];
      uint32_t digit = c >= '0' && c <= '9'   ? uint32_t(c - '0')
                       : c >= 'a' && c <= 'f' ? uint32_t(c - 'a' + 10)
                       : c >= 'A' && c <= 'F' ? uint32_t(c - 'A' + 10)
                                              : 16;
      if (digit == 16)
        return false;
      code = code * 16 + digit;
    }
    // Halves of surrogate pairs are kept apart: they are only printed.
    if (code < 0x80) {
      result += char(code);
    } else if (code < 0x800) {
      result += char(0xc0 | code >> 6);
      result += char(0x80 | (code & 63));
    } else {
      result += char(0xe0 | code >> 12);
      result += char(0x80 | (code >> 6 & 63));
      result += char(0x80 | (code & 63));
    }
    return true;
  }

  std::string_view text;
  size_t at = 0;
};

} // namespace

const Json *Json::find(std::string_view name) const {
  for (const auto &[key, value] : members)
    if (kind == Object && key == name)
      return &value;
  return nullptr;
}

bool parseJson(std::string_view text, Json &value) { return Parser(text).document(value); }

std::string quoteJson(std::string_view text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(c));
      result += escaped;
    } else {
      result += c;
    }
  }
  return result + '"';
}

} // namespace cameo::cli
