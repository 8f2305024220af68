// The ledger: what passes decided, kept in the IR for --remarks and --report.
//
//   Ledger ledger(function);
//   ledger.fused(producer->getLoc(), consumer->getLoc(), bytesSaved);
//   ledger.notFused(producer->getLoc(), consumer->getLoc(), "its result has two readers", bytes);
//   ledger.missed("fold", op->getLoc(), "not folded", "it would add 32 B");
//
// A pass records on the operation that it runs on; a pass on functions, say, on its function. The
// entries name nodes by their locations, so that they stay true when operations are merged, copied
// or erased. Nothing of the compiler but remarks and reports reads them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/rt/Rt.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/Twine.h"

#include <optional>
#include <string>

namespace cameo::rt {

/// On a module, an rt.variant or a function: an array with one dictionary per decision, in the order
/// in which they were made. `kind`, `what`, `text` and `at` are always there.
inline constexpr llvm::StringLiteral kLedgerAttr = RtDialect::LedgerAttrHelper::getNameStr();

/// Done, not done although it is what the pass is for, one of several ways taken.
enum class DecisionKind : uint8_t { Applied, Missed, Chosen };
llvm::StringRef decisionKindName(DecisionKind kind);

struct Decision {
  DecisionKind kind;
  /// What it is about, for programs: "fuse", "fold", "schedule".
  llvm::StringRef what;
  /// The same as the beginning of a sentence: "not folded", "fused with 'conv1'".
  llvm::StringRef text;
  /// Rest of the sentence; may be empty.
  llvm::StringRef why;
  /// The nodes. Of two that were or might have been made one, those of the consumer.
  mlir::LocationAttr at;
  /// The producer's, or those of another one that it became one with; null where there is none.
  mlir::LocationAttr from;
  /// What it saves or would have saved in memory traffic, where that is known.
  std::optional<int64_t> bytes;
};

/// Collects the decisions of one run of a pass and writes them when it goes out of scope, in one
/// piece: the attribute is made once, whatever the number of entries. An entry that is there
/// already, from this run or an earlier one, is not made again; so that passes stay idempotent,
/// record what is missed once nothing more is going to be done about it.
class Ledger {
public:
  explicit Ledger(mlir::Operation *holder);
  ~Ledger();
  Ledger(const Ledger &) = delete;
  Ledger &operator=(const Ledger &) = delete;

  void record(const Decision &decision);

  void applied(llvm::StringRef what, mlir::Location at, const llvm::Twine &text,
               const llvm::Twine &why = {});
  void missed(llvm::StringRef what, mlir::Location at, const llvm::Twine &text,
              const llvm::Twine &why);
  void chosen(llvm::StringRef what, mlir::Location at, const llvm::Twine &text);

  /// Two dispatches became one. `bytes`: what need not be moved any more.
  void fused(mlir::Location producer, mlir::Location consumer, std::optional<int64_t> bytes);
  /// They did not, for a reason such as "its result has another reader". `bytes`: what fusing would
  /// have saved.
  void notFused(mlir::Location producer, mlir::Location consumer, const llvm::Twine &why,
                std::optional<int64_t> bytes);

  /// One that neither reads the other nor is read by it became one with it; `like` says what the
  /// other one is: "an equal dispatch".
  void merged(mlir::Location other, mlir::Location at, llvm::StringRef like,
              std::optional<int64_t> bytes = {});

private:
  mlir::Operation *holder;
  llvm::SetVector<mlir::Attribute> entries;
  size_t before; // entries that the holder had
};

/// The first node that a location names, or nothing.
llvm::StringRef firstNode(mlir::LocationAttr location);

/// What is recorded on this operation itself.
llvm::SmallVector<Decision> decisionsOn(mlir::Operation *holder);

/// Hands a ledger over, behind what `to` has: when functions are copied into variants, for one.
void moveLedger(mlir::Operation *from, mlir::Operation *to);

/// The decision as a sentence: "not folded: it would add 32 B; 14 B are left".
std::string describe(const Decision &decision);

/// A remark for each decision recorded in a module, at its nodes: those on the module first, then
/// those in it, in order. Those of a variant begin with its target's name.
void remarkDecisions(mlir::Operation *module);

/// Whether the attribute is what a ledger is; an error at `holder` where it is not.
llvm::LogicalResult verifyLedger(mlir::Operation *holder, mlir::Attribute ledger);

} // namespace cameo::rt
