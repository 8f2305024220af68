// Passes ==> their names, in crashes and in errors of inserted passes.
// SPDX-License-Identifier: Apache-2.0
#include "codegen/PassWatch.h"

#include "codegen/Passes.h"

#include "mlir/IR/Verifier.h"
#include "llvm/Support/PrettyStackTrace.h"

#include <map>
#include <thread>

using namespace mlir;
using namespace cameo;

//===-- Crashes -------------------------------------------------------------------------------===//

/// Adaptors that run nested passes are passes, too, and have no argument.
static bool isNested(Pass *pass) { return pass->getArgument().empty(); }

namespace {

class PassEntry : public llvm::PrettyStackTraceEntry {
public:
  PassEntry(StringRef pass, StringRef op) : pass(pass), op(op) {}
  void print(raw_ostream &output) const override {
    output << "pass " << pass << " on " << op << "\n";
  }

private:
  StringRef pass, op;
};

class PassNames : public PassInstrumentation {
public:
  void runBeforePass(Pass *pass, Operation *op) override {
    if (!isNested(pass))
      entries[std::this_thread::get_id()].push_back(
          std::make_unique<PassEntry>(pass->getArgument(), op->getName().getStringRef()));
  }
  void runAfterPass(Pass *pass, Operation *) override { leave(pass); }
  void runAfterPassFailed(Pass *pass, Operation *) override { leave(pass); }

private:
  void leave(Pass *pass) {
    if (!isNested(pass))
      entries[std::this_thread::get_id()].pop_back();
  }

  /// By thread, the innermost last. MLIR calls instrumentations one at a time.
  std::map<std::thread::id, std::vector<std::unique_ptr<PassEntry>>> entries;
};

} // namespace

std::unique_ptr<PassInstrumentation> cameo::namePassesInCrashes() {
  return std::make_unique<PassNames>();
}

//===-- Inserted passes -----------------------------------------------------------------------===//

bool InsertedPassWatch::isWanted(const PipelineOptions &options, Stage stage) {
  return llvm::any_of(options.insertedPasses,
                      [&](const InsertedPass &each) { return each.stage == stage; });
}

InsertedPassWatch::InsertedPassWatch(const PipelineOptions &options, Stage stage, SayFunction fail,
                                     SayFunction warn)
    : verification(createVerifyStage()->getArgument().str()), fail(std::move(fail)),
      warn(std::move(warn)) {
  llvm::copy_if(options.insertedPasses, std::back_inserter(inserted),
                [&](const InsertedPass &each) { return each.stage == stage; });
}

const InsertedPass *InsertedPassWatch::current() const {
  return verified == 0 || verified > inserted.size() ? nullptr : &inserted[verified - 1];
}

bool InsertedPassWatch::isVerification(Pass *pass) const {
  return pass->getArgument() == verification;
}

void InsertedPassWatch::runBeforePass(Pass *pass, Operation *) {
  const InsertedPass *at = current();
  if (!at || isNested(pass))
    return;
  if (isVerification(pass) && runs == 0)
    warn("--insert-pass=" + at->text + " ran on nothing: the model has no such operations");
  runs += !isVerification(pass);
}

void InsertedPassWatch::runAfterPass(Pass *pass, Operation *) {
  if (!isVerification(pass))
    return;
  ++verified;
  runs = 0;
}

void InsertedPassWatch::runAfterPassFailed(Pass *pass, Operation *op) {
  const InsertedPass *at = current();
  if (!at || isNested(pass) || isTold)
    return;
  isTold = true;
  if (isVerification(pass))
    return fail("the passes of --insert-pass=" + at->text + " do not keep the form of stage " +
                stageName(at->stage));
  // MLIR verifies the IR after each pass, and has said in which way it is invalid.
  ScopedDiagnosticHandler handler(op->getContext(), [](Diagnostic &) { return success(); });
  fail("pass '" + pass->getArgument() + "' of --insert-pass=" + at->text +
       (failed(verify(op)) ? " leaves invalid IR" : " failed"));
}
