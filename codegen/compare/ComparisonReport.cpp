// A comparison as text, as JSON and as a page.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/compare/ComparisonReport.h"

#include "codegen/emit/Page.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

#include <cmath>

using namespace cameo;
namespace json = llvm::json;
using llvm::StringRef;

/// Comparison.html, by CMake.
static constexpr llvm::StringLiteral kPage(
#include "codegen/compare/ComparisonPage.inc"
);

//===-- Text ----------------------------------------------------------------------------------===//

static std::string decibels(double sqnr) {
  if (std::isinf(sqnr))
    return sqnr > 0 ? "equal" : "not finite";
  return llvm::formatv("{0:f1} dB", sqnr).str();
}

static std::string percent(uint64_t part, uint64_t all) {
  return all ? llvm::formatv("{0:f2} %", 100.0 * part / all).str() : "";
}

static std::string sizeText(uint64_t bytes) {
  return bytes ? llvm::formatv("{0:f2} MB", bytes / 1e6).str() : "";
}

/// "41 fp16, 2 fp32"
static std::string kernelsText(const LaunchTotals &launches) {
  std::string text;
  for (const auto &[precision, count] : launches.byPrecision)
    text += llvm::formatv("{0}{1} {2}", text.empty() ? "" : ", ", count, precision).str();
  return text;
}

/// "about" where it is of likely sizes; empty where there is none of that board.
static std::string timeText(const SideFacts &facts, StringRef board) {
  for (const TotalEstimate &estimate : facts.estimates)
    if (estimate.board == board) {
      double time = estimate.microseconds;
      std::string text = time < 1000 ? llvm::formatv("{0:f1} us", time).str()
                                     : llvm::formatv("{0:f2} ms", time / 1000).str();
      return (estimate.isAssumed ? "about " : "") + text;
    }
  return "";
}

/// Of all estimates, in the order in which they come.
static std::vector<std::string> boardsOf(const Comparison &comparison) {
  std::vector<std::string> boards;
  for (size_t side = 0; side < comparison.size(); ++side)
    for (const TotalEstimate &estimate : comparison.facts(side).estimates)
      if (!llvm::is_contained(boards, estimate.board))
        boards.push_back(estimate.board);
  return boards;
}

/// Columns as wide as what stands in them; the first one is flush left.
static void printTable(llvm::raw_ostream &out, llvm::ArrayRef<std::vector<std::string>> rows) {
  std::vector<size_t> widths(rows.front().size());
  for (const std::vector<std::string> &row : rows)
    for (auto [i, cell] : llvm::enumerate(row))
      widths[i] = std::max(widths[i], cell.size());
  for (const std::vector<std::string> &row : rows) {
    for (auto [i, cell] : llvm::enumerate(row)) {
      if (!widths[i])
        continue;
      if (i)
        out << "  " << llvm::right_justify(cell, widths[i]);
      else
        out << llvm::left_justify(cell, widths[i]);
    }
    out << "\n";
  }
}

static std::string threeDigits(double number) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.3g", number);
  return text;
}

/// The outputs together: the worst of each.
static std::vector<std::string> outputCells(const SideResult &result) {
  if (result.outputs.empty())
    return {"", "", ""};
  double sqnr = HUGE_VAL, cosine = HUGE_VAL, largest = 0;
  for (const ComparedValue &value : result.outputs) {
    sqnr = std::min(sqnr, value.error.sqnr());
    cosine = std::min(cosine, value.error.cosine());
    largest = std::max(largest, value.error.largestDifference());
  }
  return {decibels(sqnr), llvm::formatv("{0:f6}", cosine).str(), threeDigits(largest)};
}

static void printSides(llvm::raw_ostream &out, const Comparison &comparison) {
  std::vector<std::string> title{"", "size", "launches", "kernels", "tensor cores"};
  std::vector<std::string> boards = boardsOf(comparison);
  for (const std::string &board : boards)
    title.push_back("on " + board);
  title.insert(title.end(), {"right", "same largest", "SQNR", "cosine", "max error"});
  std::vector<std::vector<std::string>> rows{title};
  for (size_t side = 0; side < comparison.size(); ++side) {
    const SideFacts &facts = comparison.facts(side);
    const SideResult &result = comparison.result(side);
    std::vector<std::string> row{facts.name, sizeText(facts.bytes)};
    if (facts.launches)
      row.insert(row.end(),
                 {llvm::Twine(facts.launches->launches).str(), kernelsText(*facts.launches),
                  llvm::Twine(facts.launches->matrixLaunches).str()});
    else
      row.insert(row.end(), 3, "");
    for (const std::string &board : boards)
      row.push_back(timeText(facts, board));
    row.push_back(comparison.hasLabels() ? percent(result.correct, comparison.rows()) : "");
    row.push_back(side ? percent(result.agreement.agreeing(), result.agreement.rows()) : "");
    llvm::append_range(row, side ? outputCells(result) : outputCells({}));
    rows.push_back(std::move(row));
  }
  // A column that would say nothing has no title either.
  for (size_t column = 1; column < title.size(); ++column)
    if (llvm::all_of(llvm::drop_begin(rows), [&](auto &row) { return row[column].empty(); }))
      rows[0][column] = "";
  printTable(out, rows);
}

/// "conv1 (Conv)", "step (MatMul in loop)"
static std::string described(const ComparedValue &value) {
  std::string text = value.op;
  if (!value.around.empty())
    text += (text.empty() ? "in " : " in ") + llvm::join(value.around, ", ");
  return text.empty() ? value.name : value.name + " (" + text + ")";
}

static void printWorst(llvm::raw_ostream &out, const Comparison &comparison, size_t side,
                       size_t count) {
  const SideResult &result = comparison.result(side);
  std::vector<std::vector<std::string>> rows;
  for (const ComparedValue *value : comparison.worst(side, count))
    rows.push_back({"  " + described(*value), cameo_dtype_name(value->type),
                    decibels(value->error.sqnr()),
                    llvm::formatv("{0:f6}", value->error.cosine()).str(),
                    threeDigits(value->error.largestDifference()),
                    "of " + threeDigits(value->error.largestReference())});
  out << "\n"
      << comparison.facts(side).name << ": the worst of " << result.values.size() << " values";
  if (!result.missing.empty())
    out << "; it does not have " << result.missing.size() << " of the reference's";
  out << "\n";
  if (!rows.empty())
    printTable(out, rows);
}

void cameo::printComparison(llvm::raw_ostream &out, const Comparison &comparison,
                            const ComparisonView &view) {
  out << comparison.samples() << " samples, beside " << comparison.facts(0).name;
  if (!boardsOf(comparison).empty()) {
    out << "; times are estimated";
    if (view.batch)
      out << ", of a run of " << *view.batch;
  }
  out << "\n\n";
  printSides(out, comparison);
  for (size_t side = 1; side < comparison.size(); ++side) {
    if (view.worst && !comparison.result(side).values.empty())
      printWorst(out, comparison, side, view.worst);
    if (!view.tolerance)
      continue;
    out << "\n" << comparison.facts(side).name << ": ";
    if (const ComparedValue *value = comparison.firstBeyond(side, *view.tolerance))
      out << "the first value below " << decibels(*view.tolerance) << " is " << described(*value)
          << ": " << decibels(value->error.sqnr()) << "\n";
    else
      out << "no value is below " << decibels(*view.tolerance) << "\n";
  }
}

//===-- JSON ----------------------------------------------------------------------------------===//

static json::Object valueJson(const ComparedValue &value) {
  const TensorError &error = value.error;
  json::Object object{
      {"name", json::fixUTF8(value.name)},      {"type", cameo_dtype_name(value.type)},
      {"elements", int64_t(error.elements())},  {"cosine", error.cosine()},
      {"max_error", error.largestDifference()}, {"max_reference", error.largestReference()}};
  if (!value.op.empty())
    object["op"] = value.op;
  if (!value.around.empty())
    object["in"] = json::Array(
        llvm::map_range(value.around, [](const std::string &name) { return json::fixUTF8(name); }));
  if (error.incomparable())
    object["incomparable"] = int64_t(error.incomparable());
  else if (std::isinf(error.sqnr()))
    object["equal"] = true;
  else
    object["sqnr"] = error.sqnr();
  return object;
}

static json::Array valuesJson(llvm::ArrayRef<ComparedValue> values) {
  json::Array list;
  for (const ComparedValue &value : values)
    list.push_back(valueJson(value));
  return list;
}

static json::Object sideJson(const Comparison &comparison, size_t side,
                             const ComparisonView &view) {
  const SideFacts &facts = comparison.facts(side);
  const SideResult &result = comparison.result(side);
  json::Object object{{"name", json::fixUTF8(facts.name)}};
  if (facts.bytes)
    object["bytes"] = int64_t(facts.bytes);
  if (facts.launches) {
    json::Object totals = totalsJson(*facts.launches);
    for (StringRef name : {"launches", "kernels", "tensor_core_kernels"})
      object[name] = std::move(totals[name]);
  }
  json::Array estimates;
  for (const TotalEstimate &estimate : facts.estimates)
    estimates.push_back(estimateJson(estimate));
  if (!estimates.empty())
    object["estimates"] = std::move(estimates);
  if (comparison.hasLabels())
    object["right"] = int64_t(result.correct);
  if (!side)
    return object;
  object["same_largest"] = int64_t(result.agreement.agreeing());
  object["outputs"] = valuesJson(result.outputs);
  object["values"] = valuesJson(result.values);
  object["missing"] = json::Array(
      llvm::map_range(result.missing, [](const std::string &name) { return json::fixUTF8(name); }));
  if (view.tolerance) {
    const ComparedValue *value = comparison.firstBeyond(side, *view.tolerance);
    object["first_beyond"] = value ? json::Value(json::fixUTF8(value->name)) : nullptr;
  }
  return object;
}

json::Object cameo::comparisonJson(const Comparison &comparison, const ComparisonView &view) {
  json::Object object{{"cameo_compare", 1},
                      {"samples", int64_t(comparison.samples())},
                      {"rows", int64_t(comparison.rows())}};
  if (view.batch)
    object["batch"] = int64_t(*view.batch);
  if (view.tolerance)
    object["tolerance"] = *view.tolerance;
  json::Array list;
  for (size_t side = 0; side < comparison.size(); ++side)
    list.push_back(sideJson(comparison, side, view));
  object["sides"] = std::move(list);
  if (view.calibration)
    object["calibration"] = json::Object(*view.calibration);
  return object;
}

//===-- Page ----------------------------------------------------------------------------------===//

std::string cameo::comparisonPage(const Comparison &comparison, const ComparisonView &view) {
  json::Value data = comparisonJson(comparison, view);
  return fillPage(kPage, llvm::formatv("{0}", data).str());
}
