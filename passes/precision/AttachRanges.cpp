// A file of ranges, or what calibration has found ==> onnx.ranges on the function.
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
    if (getOperation()->hasAttr(kPrecisionAttr))
      return; // has its types
    if (llvm::Error error = attach()) {
      emitError(getOperation().getLoc()) << llvm::toString(std::move(error));
      signalPassFailure();
    }
  }

private:
  llvm::Error attach() {
    if (known)
      return known->attach(getOperation(), model);
    llvm::Expected<RecordedRanges> read = RecordedRanges::read(file);
    if (!read)
      return read.takeError();
    if (!read->model)
      warnOfStrangers(*read);
    return read->attach(getOperation(), model);
  }

  /// Files written by hand can be misspelt; a hash says that a file was recorded of this model. That no name at all is
  /// known is an error of the pass that asks for ranges.
  void warnOfStrangers(const RecordedRanges &read) {
    llvm::StringSet<> known;
    auto add = [&](Value value) { known.insert(valueName(value)); };
    for (Value argument : getOperation().getArguments())
      add(argument);
    getOperation().walk([&](Operation *op) { llvm::for_each(op->getResults(), add); });
    SmallVector<StringRef> strangers;
    for (StringRef name : read.byName.keys())
      if (!known.contains(name))
        strangers.push_back(name);
    if (strangers.empty() || strangers.size() == read.byName.size())
      return;
    llvm::sort(strangers);
    InFlightDiagnostic warning = emitWarning(getOperation().getLoc());
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
