// A file of ranges, or what calibration has found ==> onnx.ranges on the function.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/precision/AttachRanges.h"

#include "passes/precision/Policy.h"

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
    return read ? read->attach(getOperation(), model) : read.takeError();
  }

  std::shared_ptr<const RecordedRanges> known; // without these the file is read
};

} // namespace

std::unique_ptr<Pass> createAttachRanges(std::shared_ptr<const RecordedRanges> ranges,
                                         StringRef model) {
  return std::make_unique<AttachRanges>(std::move(ranges), model);
}

} // namespace cameo
