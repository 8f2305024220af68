// Ledgers ==> remarks.
//
//   rt.ledger = [{at = loc("add"), kind = "missed", text = "not folded", what = "fold",
//                 why = "it would add 32 B"}]
//   ==>
//   add: remark: not folded: it would add 32 B
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/Passes.h"

#include "dialects/rt/Ledger.h"

namespace cameo {

#define GEN_PASS_DEF_REPORTDECISIONS
#include "passes/Passes.h.inc"

namespace {
struct ReportDecisions : impl::ReportDecisionsBase<ReportDecisions> {
  void runOnOperation() override {
    rt::remarkDecisions(getOperation());
    markAllAnalysesPreserved();
  }
};
} // namespace

} // namespace cameo
