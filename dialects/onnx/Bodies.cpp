// The check that graphs of control flow fit their operator: in the number of values that they take
// and yield, and in the types of these.
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/Bodies.h"

#include "dialects/onnx/Onnx.h"
#include "dialects/onnx/ResultTypes.h"

using namespace mlir;
namespace cameo::onnx {
namespace {

class BodyCheck {
public:
  explicit BodyCheck(Operation *op) : op(op) {}

  std::string run() {
    // A region without a terminator is told of by its own verifier.
    for (Region &region : op->getRegions())
      if (!llvm::hasSingleElement(region) || region.front().empty() ||
          !isa<YieldOp>(region.front().back()))
        return "";
    if (isa<IfOp>(op))
      checkIf();
    else if (isa<LoopOp>(op))
      checkLoop();
    else if (auto scan = dyn_cast<ScanOp>(op))
      checkScan(scan);
    else if (isa<SequenceMapOp>(op))
      checkMap();
    return problem;
  }

private:
  Block &body(unsigned region = 0) { return op->getRegion(region).front(); }
  Operation *yield(unsigned region = 0) { return body(region).getTerminator(); }

  void say(const Twine &text) {
    if (problem.empty())
      problem = text.str();
  }

  std::string outputs() const {
    unsigned count = op->getNumResults();
    return std::to_string(count) + (count == 1 ? " output" : " outputs");
  }

  /// Compares the numbers of values that a graph takes and yields.
  void counts(StringRef name, unsigned region, size_t inputs, size_t outputs) {
    auto differ = [&](size_t has, size_t needed, const char *what) {
      if (has != needed)
        say("has " + name + " of " + Twine(has) + " " + what + (has == 1 ? "" : "s") + "; " +
            Twine(needed) + (needed == 1 ? " is" : " are") + " needed");
    };
    differ(body(region).getNumArguments(), inputs, "input");
    differ(yield(region)->getNumOperands(), outputs, "output");
  }

  /// The type of a value that may be given for it; that of an optional is its element's.
  static Type given(Type type) {
    auto optional = dyn_cast<OptType>(type);
    return unrankedType(optional ? optional.getElementType() : type);
  }

  /// Classes of values and types of elements; sizes and ranks are nobody's promise here. What is
  /// optional once need not be so another time: ONNX's own tests do so.
  void same(Type found, Type wanted, const Twine &what) {
    if (isa<AnyType>(found) || isa<AnyType>(wanted) || given(found) == given(wanted))
      return;
    say(what + " as " + typeText(unrankedType(found)) + ", not as " +
        typeText(unrankedType(wanted)));
  }

  void checkIf() {
    static constexpr StringLiteral names[] = {"an 'else_branch'", "a 'then_branch'"};
    for (unsigned region : {0u, 1u}) {
      counts(names[region], region, 0, op->getNumResults());
      for (unsigned i = 0; problem.empty() && i < op->getNumResults(); ++i)
        same(yield(region)->getOperand(i).getType(), op->getResult(i).getType(),
             "has " + names[region] + " that yields output " + Twine(i));
    }
  }

  void checkLoop() {
    MLIRContext *context = op->getContext();
    size_t carried = op->getNumOperands() - 2;
    if (op->getNumResults() < carried)
      return say("carries " + Twine(carried) + " values but has " + outputs());
    counts("a body", 0, op->getNumOperands(), op->getNumResults() + 1);
    if (!problem.empty())
      return;
    Builder b(context);
    auto of = [](Type element) { return UnrankedTensorType::get(element); };
    same(body().getArgument(0).getType(), of(b.getI64Type()),
         "has a body that takes the trip's number");
    same(body().getArgument(1).getType(), of(b.getI1Type()), "has a body that takes its condition");
    same(yield()->getOperand(0).getType(), of(b.getI1Type()),
         "has a body that yields its condition");
    checkCarried(carried, 2, 1);
    for (unsigned i = carried; problem.empty() && i < op->getNumResults(); ++i)
      collected(i, i + 1);
  }

  void checkScan(ScanOp scan) {
    int64_t scanned = scan.getNumScanInputs(), operands = op->getNumOperands();
    if (scanned < 1 || scanned > operands)
      return say("has 'num_scan_inputs' = " + Twine(scanned) + "; 1 to its " + Twine(operands) +
                 " inputs are possible");
    size_t states = operands - scanned;
    if (op->getNumResults() < states)
      return say("carries " + Twine(states) + " values but has " + outputs());
    counts("a body", 0, operands, op->getNumResults());
    auto lists = [&](std::optional<ArrayRef<int64_t>> list, StringRef name, size_t count) {
      if (list && list->size() != count)
        say("has " + Twine(list->size()) + " numbers in '" + name + "'; " + Twine(count) +
            (count == 1 ? " is" : " are") + " needed");
    };
    size_t outputs = op->getNumResults() - states;
    lists(scan.getScanInputAxes(), "scan_input_axes", scanned);
    lists(scan.getScanInputDirections(), "scan_input_directions", scanned);
    lists(scan.getScanOutputAxes(), "scan_output_axes", outputs);
    lists(scan.getScanOutputDirections(), "scan_output_directions", outputs);
    if (!problem.empty())
      return;
    checkCarried(states, 0, 0);
    for (int64_t i = states; problem.empty() && i < operands; ++i)
      same(body().getArgument(i).getType(), op->getOperand(i).getType(),
           "has a body that takes input " + Twine(i));
    for (unsigned i = states; problem.empty() && i < op->getNumResults(); ++i)
      collected(i, i);
  }

  void checkMap() {
    counts("a body", 0, op->getNumOperands(), op->getNumResults());
    for (unsigned i = 0; problem.empty() && i < op->getNumOperands(); ++i) {
      Type given = op->getOperand(i).getType();
      auto sequence = dyn_cast<SeqType>(given);
      same(body().getArgument(i).getType(), sequence ? sequence.getElementType() : given,
           "has a body that takes input " + Twine(i));
    }
    for (unsigned i = 0; problem.empty() && i < op->getNumResults(); ++i)
      if (auto sequence = dyn_cast<SeqType>(op->getResult(i).getType()))
        same(yield()->getOperand(i).getType(), sequence.getElementType(),
             "has a body that yields output " + Twine(i));
  }

  /// Values keep their types from trip to trip.
  void checkCarried(size_t carried, unsigned from, unsigned yieldedFrom) {
    for (size_t i = 0; problem.empty() && i < carried; ++i) {
      Type given = op->getOperand(from + i).getType();
      std::string value = ("carried value " + Twine(i)).str();
      if (isa<NoneType>(given))
        return say("lacks " + value);
      same(body().getArgument(from + i).getType(), given, "has a body that takes " + value);
      same(yield()->getOperand(yieldedFrom + i).getType(), given,
           "has a body that yields " + value);
    }
  }

  void collected(unsigned result, unsigned number) {
    Type found = yield()->getOperand(number).getType();
    if (!isa<AnyType, TensorType>(found))
      say("has a body that yields part of output " + Twine(result) + " as " + typeText(found) +
          ", not as a tensor");
    else
      same(found, op->getResult(result).getType(),
           "has a body that yields part of output " + Twine(result));
  }

  Operation *op;
  std::string problem;
};

} // namespace

std::string bodyProblem(Operation *op) { return BodyCheck(op).run(); }

} // namespace cameo::onnx
