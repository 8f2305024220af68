// Control flow, sequences and optionals of one function, taken out of it as far as they are known
// when the model is compiled.
//
// Operators are visited in order while sizes are inferred. What stands in an operator's place is
// visited after it, so that one trip of a loop may decide whether there is another one.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/rt/Ledger.h"
#include "passes/expand/Expander.h"
#include "passes/graph/ConstantFolding.h"
#include "passes/graph/ShapeWalk.h"

#include "dialects/onnx/shape/SizeNames.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/StringSet.h"

#include <map>
#include <memory>

namespace cameo {

/// The trips that one loop is unrolled for at most.
inline constexpr int64_t kMostTrips = 16;
/// The nodes that copies of bodies have in all at most, those of graphs within them included.
inline constexpr int64_t kMostUnrolledNodes = 2000;
/// The graphs in graphs that are tried as copies at most, itself among them.
inline constexpr unsigned kMostTriedDepth = 3;
/// The numbers at most that are made of sizes again in a graph that reads them.
inline constexpr int64_t kMostCopiedNumbers = 64;

struct ControlFlowModel : ControlFlowInterface::FallbackModel<ControlFlowModel> {
  llvm::StringRef row; // what is not supported
  llvm::StringRef limits(mlir::Operation *) const { return row; }
};

/// Attaches control flow, sequences and optionals.
void attachControlFlow(mlir::MLIRContext &context);

class ControlFlow {
public:
  ControlFlow(mlir::func::FuncOp function, llvm::StringRef pass);

  /// True if the function has anything to fold.
  static bool isPresent(mlir::func::FuncOp function);
  void run();

private:
  //===-- FoldControlFlow.cpp ---------------------------------------------------------------===//

  /// Gives the first operation of what is in the operator's place, what follows it where that is
  /// nothing, or the operator itself.
  mlir::Operation *fold(mlir::Operation *op);
  mlir::Operation *foldIf(onnx::IfOp op);
  /// Makes a constant of what is known of an operator that was visited.
  void foldKnown(mlir::Operation *op);
  /// An integer or a boolean that is known when the model is compiled.
  std::optional<int64_t> known(mlir::Value value);
  /// Says why it is not: because of sizes, or of data.
  std::string whyUnknown(mlir::Value value, const llvm::Twine &what, llvm::StringRef nearest);
  /// The operation behind one, or the first one of the block.
  static mlir::Operation *behind(mlir::Operation *before, mlir::Block *block);
  /// Nodes of a graph and of the graphs within it.
  static int64_t countNodes(mlir::Block &body);
  /// True of an operator that holds more graphs in graphs than are tried as copies: a graph whose copies are of no use
  /// becomes a function, and each of them would try the graphs within it.
  static bool isDeep(mlir::Operation *op);
  /// Infers types that were not known in a graph, because those of what it reads were not.
  static void inferTypes(mlir::Operation *op);
  /// Puts values into the place of the operator's results, and takes it out of the function.
  mlir::Operation *replace(mlir::Operation *op, mlir::ValueRange values, mlir::Operation *before);
  /// Notes that nobody has inferred yet what graphs declare of the values between.
  void markDeclared(mlir::Operation *before, mlir::Operation *end);
  /// Says why the operator stays; gives it. Without a reason, another one is told that is at fault.
  mlir::Operation *keep(mlir::Operation *op, const llvm::Twine &why);
  /// Takes an operation out of the function. It is erased in the end: maps have its results as keys.
  void bury(mlir::Operation *op);
  /// Operators of sequences and optionals that nothing needs any more.
  void eraseUnused();

  //===-- SelectBranches.cpp ----------------------------------------------------------------===//

  /// An If whose branches are copied in front of it. Meanwhile its operands are its condition and what both yield.
  struct Selection {
    mlir::Operation *before = nullptr; // the last operation in front of the copies
    int64_t othersNodes = 0;           // those of all copies that were made before
    size_t othersCallees = 0;          // the same of functions
  };

  mlir::Operation *select(onnx::IfOp op);
  std::string whyNotSelected(onnx::IfOp op, const Selection &selection);
  mlir::Operation *finishSelection(onnx::IfOp op, const Selection &selection);

  //===-- SinkBranches.cpp ------------------------------------------------------------------===//

  mlir::Operation *sinkReader(onnx::IfOp op);

  //===-- OutlineBodies.cpp -----------------------------------------------------------------===//

  /// An argument of a function that a graph becomes.
  struct Formal {
    mlir::RankedTensorType type;
    mlir::StringAttr name;
    onnx::Sizes sizes; // of the caller
  };
  /// Values that graphs read of the graphs around them, and operators that are copied with them, in order.
  struct Captures {
    llvm::SmallVector<mlir::Value> values;
    llvm::SmallVector<mlir::Operation *> copied;
  };
  /// An entry of a result in each trip.
  struct Part {
    unsigned result;  // of the loop
    unsigned yielded; // by its graph
  };
  /// A loop that becomes a call of its body.
  struct LoopCall {
    mlir::Operation *op;
    unsigned carried = 0;
    llvm::SmallVector<mlir::Value> values = {}; // its own operands, and what its body captures
    Captures captures = {};
    size_t given = 0;                             // of these the former
    llvm::SmallVector<Formal> formals = {};       // the number of the trip, and the values
    llvm::SmallVector<llvm::BitVector> open = {}; // sizes of what is carried that trips change
    mlir::Value count = {};                       // of the trips; null without one
    bool isUnconditional = false;
    bool growsParts = false; // there may be too many trips to take memory for all parts at once
    llvm::SmallVector<Part> parts = {};
    mlir::func::FuncOp callee = {};
    llvm::SmallVector<mlir::Type> types = {};
    llvm::SmallVector<int64_t> sizes = {};
  };

  /// True if a size is not known when the model is compiled.
  static bool isOpen(const onnx::Sizes &sizes);
  /// Has the operand be a scalar, the one element of what it was; gives what is to be visited next.
  mlir::Operation *readScalar(mlir::Operation *op, unsigned operand);
  std::string describeBranches(onnx::IfOp op, Captures &captures,
                               llvm::SmallVectorImpl<Formal> &formals);
  mlir::Operation *callBranches(onnx::IfOp op, const llvm::Twine &otherwise);
  mlir::Operation *callLoop(mlir::Operation *op);
  std::string describeLoop(LoopCall &call);
  void mapArguments(const LoopCall &call, mlir::IRMapping &map);
  void returnParts(const LoopCall &call);
  std::string whyNotCarried(const Formal &given, mlir::Type element, const onnx::Sizes &made);
  void openSize(LoopCall &call, unsigned carried, unsigned dim);
  bool openSizes(LoopCall &call, llvm::ArrayRef<onnx::Sizes> made);
  mlir::FailureOr<llvm::SmallVector<onnx::Sizes>> outlineLoop(LoopCall &call, std::string &problem);
  std::string typeLoop(LoopCall &call, llvm::ArrayRef<onnx::Sizes> made);
  mlir::Value arrangeParts(const LoopCall &call, const Part &part, mlir::Value collected);
  std::optional<Formal> formalOf(mlir::Value value);
  bool isDeclared(mlir::StringAttr name);
  mlir::StringAttr sizeName(mlir::OpFoldResult size);
  mlir::func::FuncOp createCallee(mlir::Operation *op, llvm::StringRef suffix,
                                  llvm::ArrayRef<Formal> formals);
  Captures capturesOf(llvm::MutableArrayRef<mlir::Region> regions);
  bool isOfSizes(mlir::Value value);
  void fillCallee(mlir::func::FuncOp callee, mlir::Block &graph, const Captures &captures,
                  mlir::IRMapping &map);
  mlir::FailureOr<llvm::SmallVector<onnx::Sizes>> inferCallee(mlir::func::FuncOp callee,
                                                              std::string &problem);
  void discardCallees(size_t kept);
  std::pair<int64_t, int64_t> origin(mlir::OpFoldResult size, llvm::ArrayRef<Formal> formals);

  //===-- GrowParts.cpp ---------------------------------------------------------------------===//

  /// Has the loop collect its parts in chunks; gives the first operation of what is in its place.
  mlir::Operation *growParts(const LoopCall &call);

  //===-- FoldLists.cpp ---------------------------------------------------------------------===//

  using List = llvm::SmallVector<mlir::Value>;
  /// Sequences and optionals: what is known of the result, or what is in the operator's place.
  mlir::Operation *foldList(mlir::Operation *op);
  const List *listOf(mlir::Value value) const;
  /// True of an operator all of whose results are lists, or optionals, that are known.
  bool isKnownList(mlir::Operation *op) const;
  mlir::Operation *foldConstruct(mlir::Operation *op);
  mlir::Operation *foldInsert(mlir::Operation *op);
  mlir::Operation *foldErase(mlir::Operation *op);
  mlir::Operation *foldAt(mlir::Operation *op);
  bool haveOneShape(const List &list);
  mlir::Operation *gatherAt(mlir::Operation *op, List list);
  mlir::Operation *foldLength(mlir::Operation *op);
  mlir::Operation *foldSplit(mlir::Operation *op);
  mlir::Operation *foldConcat(mlir::Operation *op);
  mlir::Operation *foldOptional(mlir::Operation *op);
  mlir::Operation *foldGetElement(mlir::Operation *op);
  mlir::Operation *foldHasElement(mlir::Operation *op);
  mlir::Operation *foldIdentity(mlir::Operation *op);
  /// A position among `count` places, counted from the front; nothing after the reason was kept.
  std::optional<int64_t> position(mlir::Operation *op, unsigned operand, int64_t least,
                                  int64_t most, int64_t otherwise);
  mlir::Value constantOf(mlir::Operation *op, int64_t value, mlir::RankedTensorType type);

  //===-- StackLists.cpp --------------------------------------------------------------------===//

  mlir::Operation *foldStacked(mlir::Operation *op);
  void foldNested(llvm::ArrayRef<mlir::Operation *> readers, mlir::Value stacked, int64_t rank);
  mlir::Operation *stackSplit(mlir::Operation *op, int64_t axis, int64_t rank);
  onnx::LoopOp stackAppended(onnx::LoopOp loop, llvm::SmallVectorImpl<unsigned> &lists);
  mlir::Operation *callStacked(onnx::LoopOp loop);

  //===-- CountByTrip.cpp -------------------------------------------------------------------===//

  /// An integer that a loop carries, and to which each trip adds the same.
  struct Counter {
    unsigned carried; // its place
    int64_t step;
    unsigned rank; // 0, or 1 of one element
  };
  llvm::SmallVector<Counter> countersOf(onnx::LoopOp loop);
  static mlir::Value countAt(Expander &e, const Counter &counter, mlir::Value first,
                             mlir::Value trip);
  onnx::LoopOp countByTrip(onnx::LoopOp loop, llvm::SmallVectorImpl<int64_t> &places);
  mlir::Operation *callCounted(onnx::LoopOp loop);

  //===-- UnrollLoops.cpp -------------------------------------------------------------------===//

  /// A loop on its way. Meanwhile its operands are those that it had, and behind them what each
  /// trip yields: so they stay true when results of a trip become constants.
  struct Unrolled {
    llvm::SmallVector<mlir::Value> given;
    mlir::Operation *before = nullptr; // the last operation in front of all copies
    int64_t othersNodes = 0;           // those of all copies that were made before
    size_t othersCallees = 0;          // the same of functions
    int64_t trips = 0;
    /// One trip that is not made, for the shapes of what would be collected.
    bool isTrial = false;
  };
  enum class Next { Trip, End, Kept, Called };

  /// The inputs of a loop in front of the values that it carries.
  static unsigned carriedFrom(mlir::Operation *op);
  /// The number of values that each trip takes from the one before.
  static unsigned carriedCount(mlir::Operation *op, size_t operands);
  /// True of a body that only hands its condition on, or always goes on.
  static bool alwaysGoesOn(mlir::Operation *op);
  /// A number or a condition as the body declares it: some have one dimension.
  static mlir::RankedTensorType scalarType(mlir::Value argument, mlir::Type element);
  mlir::Operation *unroll(mlir::Operation *op);
  Next next(mlir::Operation *op, Unrolled &loop);
  Next nextOfLoop(mlir::Operation *op, Unrolled &loop);
  Next nextOfScan(mlir::Operation *op, Unrolled &loop);
  Next nextOfMap(mlir::Operation *op, Unrolled &loop);
  Next refuse(mlir::Operation *op, Unrolled &loop, const llvm::Twine &why);
  /// A loop whose trips a run makes, for a reason.
  Next leave(mlir::Operation *op, Unrolled &loop, const llvm::Twine &why);
  Next limited(mlir::Operation *op, Unrolled &loop, std::optional<int64_t> trips);
  /// Copies the body for the next trip; false where the loop is refused.
  bool copyBody(mlir::Operation *op, Unrolled &loop);
  llvm::SmallVector<mlir::Value> arguments(mlir::Operation *op, Unrolled &loop);
  mlir::Operation *finish(mlir::Operation *op, Unrolled &loop);
  void record(mlir::Operation *op, int64_t trips);
  mlir::Operation *finishMap(mlir::Operation *op, Unrolled &loop);
  mlir::Value collect(mlir::Operation *op, Unrolled &loop, unsigned result, unsigned yielded,
                      int64_t axis, bool backwards);
  mlir::Value collectNothing(mlir::Operation *op, Unrolled &loop, unsigned result, unsigned yielded,
                             int64_t axis);
  void takeBack(mlir::Operation *op, Unrolled &loop);
  mlir::Value yielded(mlir::Operation *op, const Unrolled &loop, int64_t trip, unsigned number);
  mlir::Location numbered(mlir::Location location, int64_t trip);

  mlir::func::FuncOp function;
  llvm::StringRef pass;
  rt::Ledger ledger;
  ShapeWalk walk;
  onnx::SizeNames sizeNames{walk.sizes};
  llvm::DenseMap<const void *, mlir::StringAttr> unnamed; // names of sizes that have none
  unsigned lastNumber = 0;                                // of those of them that are numbers
  std::vector<mlir::func::FuncOp> made;                   // of graphs, and those of graphs in them
  /// Sizes of carried values that loops have opened, by the loops' locations, in this function and those around it.
  /// References into the map stay.
  using Opened = std::map<const void *, std::vector<llvm::BitVector>>;
  std::shared_ptr<Opened> opened = std::make_shared<Opened>();
  mlir::Value none;
  llvm::DenseMap<mlir::Value, List> lists;
  llvm::DenseMap<mlir::Value, mlir::Value> optionals; // null: without an element
  llvm::DenseMap<mlir::Operation *, Unrolled> loops;
  llvm::DenseMap<mlir::Operation *, Selection> selections;
  llvm::SetVector<mlir::Operation *>
      sunk;                // operators that branches have now, until the walk has passed them
  llvm::StringSet<> names; // of nodes
  int64_t unrolledNodes = 0;
  llvm::SmallVector<mlir::Operation *> buried;
};

} // namespace cameo
