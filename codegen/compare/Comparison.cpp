// Models side by side: what they compute for the same samples, value by value.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/compare/Comparison.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"

using namespace cameo;
using llvm::ArrayRef;

static bool isFloat(cameo_dtype type) {
  return type == CAMEO_DTYPE_F32 || type == CAMEO_DTYPE_F64 || type == CAMEO_DTYPE_F16 ||
         type == CAMEO_DTYPE_BF16;
}

static void putInOrder(std::vector<ComparedValue> &list, const llvm::StringMap<size_t> &order) {
  llvm::sort(list, [&](const ComparedValue &a, const ComparedValue &b) {
    return order.lookup(a.name) < order.lookup(b.name);
  });
}

/// A value in one trip: names have no zeros.
static std::string keyOf(const SeenValue &value) {
  std::string key = value.name.str();
  for (int64_t trip : value.trips)
    key += '\0' + std::to_string(trip);
  return key;
}

/// Runs a side; the functions see nothing of samples that are repeated.
static llvm::Error runWithoutRepeated(Side &side, const DataBatch &batch,
                                      Side::ValueFunction onValue, Side::ValueFunction onOutput) {
  auto without = [&](Side::ValueFunction see) {
    return [&batch, see](const SeenValue &value) {
      SampleRows rows = rowsOfSamples(batch, value.shape, value.bytes);
      return see({value.name, value.type, rows.shape, rows.bytes, value.trips});
    };
  };
  return side.run(batch, without(onValue), without(onOutput));
}

llvm::Error Comparison::add(const DataBatch &batch) {
  KeptValues values, outputs;
  if (llvm::Error error = runReference(batch, values, outputs))
    return error;
  for (size_t side = 0; side < sides.size(); ++side)
    if (llvm::Error error = runSide(side, batch, values, outputs))
      return llvm::createStringError(facts(side).name + ": " + llvm::toString(std::move(error)));
  sampleCount += batch.samples;
  return llvm::Error::success();
}

llvm::Error Comparison::runReference(const DataBatch &batch, KeptValues &values,
                                     KeptValues &outputs) {
  auto keep = [](KeptValues &kept, llvm::StringMap<size_t> &places, std::vector<std::string> &order,
                 const SeenValue &value) {
    kept[keyOf(value)] = {value.type, llvm::SmallVector<int64_t>(value.shape),
                          toNumbers(value.type, value.bytes)};
    if (places.try_emplace(value.name, order.size()).second)
      order.push_back(value.name.str());
    return llvm::Error::success();
  };
  Positions &at = positions.front();
  llvm::Error error = runWithoutRepeated(
      *sides.front(), batch,
      [&](const SeenValue &value) { return keep(values, at.values, order, value); },
      [&](const SeenValue &value) { return keep(outputs, at.outputs, outputOrder, value); });
  if (error)
    return llvm::createStringError(facts(0).name + ": " + llvm::toString(std::move(error)));
  return llvm::Error::success();
}

llvm::Error Comparison::runSide(size_t side, const DataBatch &batch, const KeptValues &values,
                                const KeptValues &outputs) {
  SideResult &result = results[side];
  bool isFirst = true;
  auto onOutput = [&](const SeenValue &value) -> llvm::Error {
    auto found = outputs.find(value.name);
    if (std::exchange(isFirst, false) && found != outputs.end())
      if (llvm::Error error =
              judge(side, found->second.numbers, toNumbers(value.type, value.bytes), value.shape))
        return error;
    return side ? compare(side, value, outputs, positions[side].outputs, result.outputs)
                : llvm::Error::success();
  };
  if (side)
    return runWithoutRepeated(
        *sides[side], batch,
        [&](const SeenValue &value) {
          return compare(side, value, values, positions[side].values, result.values);
        },
        onOutput);
  // It has run already.
  if (outputOrder.empty())
    return llvm::Error::success();
  const Kept &output = outputs.find(outputOrder.front())->second;
  return judge(0, output.numbers, output.numbers, output.shape);
}

llvm::Error Comparison::compare(size_t side, const SeenValue &value, const KeptValues &kept,
                                llvm::StringMap<size_t> &at, std::vector<ComparedValue> &list) {
  auto found = kept.find(keyOf(value));
  if (found == kept.end())
    return llvm::Error::success();
  const Kept &reference = found->second;
  // Steps of a scale that it does not know.
  if (isFloat(reference.type) && !isFloat(value.type))
    return llvm::Error::success();
  if (ArrayRef<int64_t>(reference.shape) != value.shape)
    return llvm::createStringError(llvm::formatv("'{0}' is {1}, and {2} in {3}", value.name,
                                                 sizesText(value.shape), sizesText(reference.shape),
                                                 facts(0).name)
                                       .str());
  auto [entry, isNew] = at.try_emplace(value.name, list.size());
  if (isNew) {
    ComparedValue compared;
    compared.name = value.name.str();
    compared.op = facts(0).operators.lookup(value.name);
    if (compared.op.empty())
      compared.op = facts(side).operators.lookup(value.name);
    compared.around = facts(0).around.lookup(value.name);
    compared.type = value.type;
    list.push_back(std::move(compared));
  }
  list[entry->second].error.add(reference.numbers, toNumbers(value.type, value.bytes));
  return llvm::Error::success();
}

llvm::Error Comparison::judge(size_t side, const std::vector<double> &reference,
                              const std::vector<double> &values, ArrayRef<int64_t> shape) {
  if (shape.empty() || shape.back() == 0 || reference.size() != values.size())
    return llvm::Error::success();
  SideResult &result = results[side];
  size_t length = shape.back(), first = result.agreement.rows();
  result.agreement.add(reference, values, length);
  if (labels.empty())
    return llvm::Error::success();
  if (result.agreement.rows() > labels.size())
    return llvm::createStringError(
        llvm::formatv("{0} labels are too few: the first output has a row a label, and more rows",
                      labels.size())
            .str());
  for (size_t row = 0; row < values.size() / length; ++row)
    result.correct +=
        int64_t(largestOf(ArrayRef(values).slice(row * length, length))) == labels[first + row];
  return llvm::Error::success();
}

llvm::Error Comparison::finish() {
  for (size_t side = 1; side < sides.size(); ++side) {
    SideResult &result = results[side];
    putInOrder(result.values, positions.front().values);
    putInOrder(result.outputs, positions.front().outputs);
    llvm::StringSet<> found;
    for (const ComparedValue &value : result.values)
      found.insert(value.name);
    for (const std::string &name : order)
      if (!found.contains(name))
        result.missing.push_back(name);
  }
  if (!labels.empty() && labels.size() != rows())
    return llvm::createStringError(
        llvm::formatv("{0} labels for {1} rows of the first output", labels.size(), rows()).str());
  return llvm::Error::success();
}

const ComparedValue *Comparison::firstBeyond(size_t side, double decibels) const {
  const SideResult &result = results[side];
  for (const std::vector<ComparedValue> *list : {&result.values, &result.outputs})
    for (const ComparedValue &value : *list)
      if (value.error.sqnr() < decibels)
        return &value;
  return nullptr;
}

std::vector<const ComparedValue *> Comparison::worst(size_t side, size_t count) const {
  std::vector<const ComparedValue *> list;
  for (const ComparedValue &value : results[side].values)
    list.push_back(&value);
  llvm::sort(list, [](const ComparedValue *a, const ComparedValue *b) {
    return std::make_pair(a->error.sqnr(), a) < std::make_pair(b->error.sqnr(), b);
  });
  list.resize(std::min(count, list.size()));
  return list;
}
