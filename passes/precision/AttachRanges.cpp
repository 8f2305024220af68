// A file of ranges, or what calibration has found ==> onnx.ranges on the functions.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/precision/AttachRanges.h"

#include "passes/precision/Policy.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace cameo {

#define GEN_PASS_DEF_ATTACHRANGES
#include "passes/Passes.h.inc"

namespace {

struct AttachRanges : impl::AttachRangesBase<AttachRanges> {
  using AttachRangesBase::AttachRangesBase;
  AttachRanges(std::shared_ptr<const RecordedRanges> known, StringRef modelHash)
      : known(std::move(known)) {
    model = modelHash.str();
    file = this->known->file;
  }

  void runOnOperation() override {
    SmallVector<func::FuncOp> functions = untypedFunctions(getOperation());
    if (functions.empty())
      return;
    if (llvm::Error error = attach(functions)) {
      emitError(functions.front().getLoc()) << llvm::toString(std::move(error));
      signalPassFailure();
    }
  }

private:
  llvm::Error attach(ArrayRef<func::FuncOp> functions) {
    if (!known) {
      llvm::Expected<RecordedRanges> read = RecordedRanges::read(file);
      if (!read)
        return read.takeError();
      if (!read->model)
        warnOfStrangers(*read, functions);
      known = std::make_shared<const RecordedRanges>(std::move(*read));
    }
    for (func::FuncOp function : functions)
      if (llvm::Error error = known->attach(function, model))
        return error;
    return llvm::Error::success();
  }

  /// Files written by hand can be misspelt; a hash says that a file was recorded of this model. That no name at all is
  /// known is an error of the pass that asks for ranges.
  void warnOfStrangers(const RecordedRanges &read, ArrayRef<func::FuncOp> functions) {
    llvm::StringSet<> known;
    auto add = [&](Value value) { known.insert(valueName(value)); };
    for (func::FuncOp function : functions) {
      for (Value argument : function.getArguments())
        add(argument);
      function.walk([&](Operation *op) { llvm::for_each(op->getResults(), add); });
    }
    SmallVector<StringRef> strangers;
    for (StringRef name : read.byName.keys())
      if (!known.contains(name))
        strangers.push_back(name);
    if (strangers.empty() || strangers.size() == read.byName.size())
      return;
    llvm::sort(strangers);
    InFlightDiagnostic warning = emitWarning(func::FuncOp(functions.front()).getLoc());
    warning << "ranges in '" << file << "': " << strangers.size() << " of its "
            << read.byName.size() << " names are not those of values of this model: ";
    ArrayRef<StringRef> shown = ArrayRef(strangers).take_front(kStrangersShown);
    llvm::interleaveComma(shown, warning, [&](StringRef name) { warning << "'" << name << "'"; });
    if (size_t others = strangers.size() - shown.size())
      warning << " and " << others << " more";
  }

  static constexpr size_t kStrangersShown = 5;

  std::shared_ptr<const RecordedRanges> known; // without these the file is read
};

} // namespace

std::unique_ptr<Pass> createAttachRanges(std::shared_ptr<const RecordedRanges> ranges,
                                         StringRef model) {
  return std::make_unique<AttachRanges>(std::move(ranges), model);
}

} // namespace cameo
