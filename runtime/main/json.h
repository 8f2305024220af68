// Just enough JSON to print a manifest and to write traces.
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_RUNTIME_MAIN_JSON_H
#define CAMEO_RUNTIME_MAIN_JSON_H

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cameo::cli {

struct Json {
  enum Kind { Null, Bool, Number, String, Array, Object } kind = Null;
  std::string text; // of strings, unescaped; of numbers and booleans, as written
  std::vector<std::pair<std::string, Json>> members; // of arrays with empty names

  // An object's member; null where it has none of that name.
  const Json *find(std::string_view name) const;
};

// Whether `text` is JSON, nested 64 deep at most.
bool parseJson(std::string_view text, Json &value);
// With quotes.
std::string quoteJson(std::string_view text);

} // namespace cameo::cli

#endif
