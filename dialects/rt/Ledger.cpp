// Decisions as dictionaries.
//
//   rt.ledger = [{at = loc("add"), kind = "missed", text = "not folded", what = "fold",
//                 why = "it would add 32 B; 14 B are left"}]
// SPDX-License-Identifier: Apache-2.0
#include "dialects/rt/Ledger.h"

#include "dialects/rt/Rt.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace cameo;
using namespace cameo::rt;

static constexpr llvm::StringLiteral kKindNames[] = {"applied", "missed", "chosen"};

StringRef rt::decisionKindName(DecisionKind kind) {
  return kKindNames[static_cast<unsigned>(kind)];
}

static std::optional<DecisionKind> findKind(StringRef name) {
  return llvm::StringSwitch<std::optional<DecisionKind>>(name)
      .Case(kKindNames[0], DecisionKind::Applied)
      .Case(kKindNames[1], DecisionKind::Missed)
      .Case(kKindNames[2], DecisionKind::Chosen)
      .Default(std::nullopt);
}

static ArrayRef<Attribute> entriesOf(Operation *holder) {
  auto ledger = holder->getAttrOfType<ArrayAttr>(kLedgerAttr);
  return ledger ? ledger.getValue() : ArrayRef<Attribute>();
}

/// Nothing where a member is missing or of another type.
static std::optional<Decision> parse(Attribute entry) {
  auto members = dyn_cast<DictionaryAttr>(entry);
  if (!members)
    return std::nullopt;
  auto text = [&](StringRef name) {
    auto attribute = members.getAs<StringAttr>(name);
    return attribute ? attribute.getValue() : StringRef();
  };
  std::optional<DecisionKind> kind = findKind(text("kind"));
  auto at = members.getAs<LocationAttr>("at");
  if (!kind || !at || text("what").empty() || text("text").empty())
    return std::nullopt;
  Decision decision{
      *kind, text("what"), text("text"), text("why"), at, members.getAs<LocationAttr>("from"), {}};
  if (auto bytes = members.getAs<IntegerAttr>("bytes"))
    decision.bytes = bytes.getValue().getSExtValue();
  return decision;
}

//===-- Recording -----------------------------------------------------------------------------===//

Ledger::Ledger(Operation *holder) : holder(holder) {
  ArrayRef<Attribute> known = entriesOf(holder);
  entries.insert(known.begin(), known.end());
  before = entries.size();
}

Ledger::~Ledger() {
  if (entries.size() != before)
    holder->setAttr(kLedgerAttr, ArrayAttr::get(holder->getContext(), entries.getArrayRef()));
}

void Ledger::record(const Decision &decision) {
  Builder b(holder->getContext());
  SmallVector<NamedAttribute> members;
  auto add = [&](StringRef name, Attribute value) {
    members.push_back(b.getNamedAttr(name, value));
  };
  add("at", decision.at);
  if (decision.bytes)
    add("bytes", b.getI64IntegerAttr(*decision.bytes));
  if (decision.from)
    add("from", decision.from);
  add("kind", b.getStringAttr(decisionKindName(decision.kind)));
  add("text", b.getStringAttr(decision.text));
  add("what", b.getStringAttr(decision.what));
  if (!decision.why.empty())
    add("why", b.getStringAttr(decision.why));
  entries.insert(b.getDictionaryAttr(members));
}

void Ledger::applied(StringRef what, Location at, const Twine &text, const Twine &why) {
  record({DecisionKind::Applied, what, text.str(), why.str(), at, {}, {}});
}

void Ledger::missed(StringRef what, Location at, const Twine &text, const Twine &why) {
  record({DecisionKind::Missed, what, text.str(), why.str(), at, {}, {}});
}

void Ledger::chosen(StringRef what, Location at, const Twine &text) {
  record({DecisionKind::Chosen, what, text.str(), {}, at, {}, {}});
}

/// Locations of merged operations may be long.
StringRef rt::firstNode(LocationAttr location) {
  StringRef found;
  location.walk([&](Location part) {
    auto name = dyn_cast<NameLoc>(part);
    if (!name)
      return WalkResult::advance();
    found = name.getName().getValue();
    return WalkResult::interrupt();
  });
  return found;
}

/// One node may be several dispatches, of which one reads another.
static std::string withProducer(StringRef text, Location producer, Location consumer) {
  StringRef node = firstNode(producer);
  if (node.empty())
    return (text + " its producer").str();
  return node == firstNode(consumer) ? (text + " another dispatch of it").str()
                                     : (text + " '" + node + "'").str();
}

void Ledger::fused(Location producer, Location consumer, std::optional<int64_t> bytes) {
  std::string text = withProducer("fused with", producer, consumer);
  record({DecisionKind::Applied, "fuse", text, {}, consumer, producer, bytes});
}

void Ledger::notFused(Location producer, Location consumer, const Twine &why,
                      std::optional<int64_t> bytes) {
  std::string text = withProducer("not fused with", producer, consumer), reason = why.str();
  record({DecisionKind::Missed, "fuse", text, reason, consumer, producer, bytes});
}

void Ledger::merged(Location other, Location at, StringRef like, std::optional<int64_t> bytes) {
  StringRef node = firstNode(other);
  std::string text = "merged with " + (node.empty() ? "" : "'" + node.str() + "', ") + like.str();
  record({DecisionKind::Applied, "merge", text, {}, at, other, bytes});
}

void rt::moveLedger(Operation *from, Operation *to) {
  llvm::SetVector<Attribute> entries;
  for (Operation *holder : {to, from}) {
    ArrayRef<Attribute> held = entriesOf(holder);
    entries.insert(held.begin(), held.end());
  }
  from->removeAttr(kLedgerAttr);
  if (!entries.empty())
    to->setAttr(kLedgerAttr, ArrayAttr::get(to->getContext(), entries.getArrayRef()));
}

//===-- Reading -------------------------------------------------------------------------------===//

SmallVector<Decision> rt::decisionsOn(Operation *holder) {
  SmallVector<Decision> decisions;
  for (Attribute entry : entriesOf(holder))
    if (std::optional<Decision> decision = parse(entry))
      decisions.push_back(*decision);
  return decisions;
}

std::string rt::describe(const Decision &decision) {
  std::string text = decision.text.str();
  if (!decision.why.empty())
    text += ": " + decision.why.str();
  if (decision.bytes)
    text += (decision.kind == DecisionKind::Missed ? "; it would save " : "; it saves ") +
            std::to_string(*decision.bytes) + " B of memory traffic";
  return text;
}

void rt::remarkDecisions(Operation *module) {
  module->walk<WalkOrder::PreOrder>([](Operation *op) {
    auto variant = isa<VariantOp>(op) ? cast<VariantOp>(op) : op->getParentOfType<VariantOp>();
    // The board that a target may name decides nothing here.
    std::string target = variant ? variant.getTarget().getArch().str() + ": " : "";
    for (const Decision &decision : decisionsOn(op))
      emitRemark(decision.at) << target << describe(decision);
    // Kernels are many, and hold no ledgers.
    return isa<ModuleOp, VariantOp>(op) ? WalkResult::advance() : WalkResult::skip();
  });
}

LogicalResult rt::verifyLedger(Operation *holder, Attribute ledger) {
  auto entries = dyn_cast<ArrayAttr>(ledger);
  if (!entries)
    return holder->emitError() << "'" << kLedgerAttr << "' is not an array";
  for (auto [i, entry] : llvm::enumerate(entries))
    if (!parse(entry))
      return holder->emitError() << "entry " << i << " of '" << kLedgerAttr
                                 << "' needs the strings 'kind' (applied, missed or chosen), "
                                    "'what' and 'text', and the location 'at'";
  return success();
}
