// Inputs and outputs, by name ==> pairs, as attributes.
// SPDX-License-Identifier: Apache-2.0
#include "codegen/States.h"

#include "dialects/onnx/Onnx.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace cameo;

namespace {

constexpr llvm::StringLiteral kAuto = "auto";

class Pairing {
public:
  explicit Pairing(func::FuncOp function) : function(function) {
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      inputs.push_back(nameOf(function.getArgAttr(i, onnx::kNameAttr)));
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      outputs.push_back(nameOf(function.getResultAttr(i, onnx::kNameAttr)));
  }

  LogicalResult declare(StringRef text);

private:
  static StringRef nameOf(Attribute name) {
    auto text = dyn_cast_or_null<StringAttr>(name);
    return text ? text.getValue() : StringRef();
  }
  InFlightDiagnostic error() { return emitError(function.getLoc()) << "--state: "; }
  LogicalResult declareAll(StringRef input, StringRef output);
  LogicalResult findAll();
  LogicalResult pair(unsigned input, unsigned output);
  std::optional<unsigned> find(ArrayRef<StringRef> names, StringRef name) {
    const StringRef *found = llvm::find(names, name);
    return found == names.end() ? std::nullopt : std::optional<unsigned>(found - names.begin());
  }

  func::FuncOp function;
  SmallVector<StringRef> inputs, outputs;
  llvm::SmallDenseMap<unsigned, unsigned> inputOf; // by output
};

} // namespace

/// Sizes of a state follow those of the output, which cannot be others than the input takes.
LogicalResult Pairing::pair(unsigned input, unsigned output) {
  auto from = dyn_cast<TensorType>(function.getResultTypes()[output]);
  auto to = dyn_cast<TensorType>(function.getArgumentTypes()[input]);
  auto names = [&] {
    return "output '" + outputs[output].str() + "' and input '" + inputs[input].str() + "'";
  };
  if (!from || !to)
    return error() << names() << " are not both tensors";
  if (from.getElementType() != to.getElementType())
    return error() << names() << " are of two types: " << from.getElementType() << " and "
                   << to.getElementType();
  if (from.hasRank() && to.hasRank()) {
    if (from.getRank() != to.getRank())
      return error() << names() << " have " << from.getRank() << " and " << to.getRank()
                     << " dimensions";
    for (int64_t dim = 0; dim < to.getRank(); ++dim)
      if (!from.isDynamicDim(dim) && !to.isDynamicDim(dim) &&
          from.getDimSize(dim) != to.getDimSize(dim))
        return error() << names() << " have " << from.getDimSize(dim) << " and "
                       << to.getDimSize(dim) << " elements along dimension " << dim
                       << "; one that grows has an open size there";
  }
  auto [known, isNew] = inputOf.try_emplace(output, input);
  if (!isNew && known->second != input)
    return error() << "output '" << outputs[output] << "' is to become two inputs, '"
                   << inputs[known->second] << "' and '" << inputs[input] << "'";
  auto before = function.getArgAttrOfType<IntegerAttr>(input, onnx::kStateAttr);
  if (before && before.getInt() != output)
    return error() << "input '" << inputs[input] << "' is to become two outputs, '"
                   << outputs[before.getInt()] << "' and '" << outputs[output] << "'";
  function.setArgAttr(input, onnx::kStateAttr,
                      IntegerAttr::get(IntegerType::get(function.getContext(), 64), output));
  return success();
}

/// Inputs that match, each with the output of the same text.
LogicalResult Pairing::declareAll(StringRef input, StringRef output) {
  auto [front, back] = input.split('*');
  bool found = false;
  for (auto [i, name] : llvm::enumerate(inputs)) {
    StringRef middle = name;
    if (!middle.consume_front(front) || !middle.consume_back(back))
      continue;
    auto [before, after] = output.split('*');
    std::string wanted = (before + middle + after).str();
    std::optional<unsigned> number = find(outputs, wanted);
    if (!number)
      return error() << "input '" << name << "' matches, and there is no output '" << wanted << "'";
    if (failed(pair(i, *number)))
      return failure();
    found = true;
  }
  return found ? success() : error() << "no input matches '" << input << "'";
}

/// The output that a value is, in the model's own words; nothing where it is none.
static std::optional<unsigned> outputOf(Value value) {
  for (OpOperand &use : value.getUses()) {
    if (isa<func::ReturnOp>(use.getOwner()))
      return use.getOperandNumber();
    if (use.getOwner()->getName().stripDialect() == "Identity")
      if (std::optional<unsigned> output = outputOf(use.getOwner()->getResult(0)))
        return output;
  }
  return std::nullopt;
}

/// The result that an operator makes of its operand's old value, which it extends or updates.
static Value successorOf(OpOperand &use) {
  // The operand that is the old value of each operator, and the result that is the new one.
  struct Row {
    StringRef name;
    unsigned operand, result;
  };
  constexpr Row kRows[] = {
      {"Concat", 0, 0}, {"TensorScatter", 0, 0}, {"Attention", 4, 1}, {"Attention", 5, 2},
      {"LSTM", 5, 1},   {"LSTM", 6, 2},          {"GRU", 5, 1},       {"RNN", 5, 1}};
  Operation *user = use.getOwner();
  for (const Row &row : kRows)
    if (user->getName().stripDialect() == row.name && use.getOperandNumber() == row.operand &&
        row.result < user->getNumResults())
      return user->getResult(row.result);
  return {};
}

/// The output that operators, one behind the other, make of an old value; nothing where there is none.
static std::optional<unsigned> updatedTo(Value value) {
  for (OpOperand &use : value.getUses())
    if (Value next = successorOf(use)) {
      std::optional<unsigned> output = outputOf(next);
      if (!output)
        output = updatedTo(next);
      if (output)
        return output;
    }
  return std::nullopt;
}

LogicalResult Pairing::findAll() {
  bool found = false;
  for (BlockArgument argument : function.getArguments())
    if (std::optional<unsigned> output = updatedTo(argument)) {
      if (failed(pair(argument.getArgNumber(), *output)))
        return failure();
      found = true;
    }
  return found ? success()
               : error() << "'auto' finds no input that an output extends or updates; "
                            "--state=INPUT:OUTPUT names a pair";
}

LogicalResult Pairing::declare(StringRef text) {
  if (text == kAuto)
    return findAll();
  // Names may hold colons.
  for (size_t at = text.find(':'); at != StringRef::npos; at = text.find(':', at + 1)) {
    StringRef input = text.take_front(at), output = text.drop_front(at + 1);
    if (input.count('*') == 1 && output.count('*') == 1)
      return declareAll(input, output);
    auto from = find(inputs, input), to = find(outputs, output);
    if (from && to)
      return pair(*from, *to);
  }
  return error() << "'" << text << "' is not an input and an output as INPUT:OUTPUT; inputs: "
                 << llvm::join(inputs, ", ") << "; outputs: " << llvm::join(outputs, ", ");
}

LogicalResult cameo::declareStates(ModuleOp module, const std::vector<std::string> &pairs) {
  if (pairs.empty())
    return success();
  Pairing pairing(*module.getOps<func::FuncOp>().begin());
  for (const std::string &text : pairs)
    if (failed(pairing.declare(text)))
      return failure();
  return success();
}
