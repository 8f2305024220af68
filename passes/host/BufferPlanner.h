// Gives every tensor of an entry function a place: an input, an output, a weight, or the arena.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/rt/InPlace.h"
#include "dialects/rt/Layout.h"
#include "passes/Passes.h"

#include <array>
#include <map>
#include <vector>

namespace cameo {

/// On a planned entry function: an array with one dictionary per input or output: `name`, `element`
/// (its ONNX type), `dims` (a number, or a name, empty where there is none), and the unit `host`
/// where the plan reads the input's values. An input that an output becomes has that one's number as `state`,
/// the dimension along which it grows as `grows`, and the unit `in_place` where both are one memory.
inline constexpr llvm::StringLiteral kPlanInputsAttr =
    rt::RtDialect::InputsAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral kPlanOutputsAttr =
    rt::RtDialect::OutputsAttrHelper::getNameStr();
/// On a planned entry function that has taps: the same of these.
inline constexpr llvm::StringLiteral kPlanTapsAttr = rt::RtDialect::TapsAttrHelper::getNameStr();
/// On a planned entry function whose sizes are all known: a dictionary of `arena_bytes`,
/// `live_max_bytes` and `tensor_sum_bytes`.
inline constexpr llvm::StringLiteral kPlanMemoryAttr =
    rt::RtDialect::MemoryAttrHelper::getNameStr();
/// On a planned launch: an array of strings, shape and element type ("1x?x4xf32") of each tensor
/// whose buffer it gets, in order.
inline constexpr llvm::StringLiteral kLaunchShapesAttr =
    rt::RtDialect::ShapesAttrHelper::getNameStr();

class BufferPlanner {
public:
  explicit BufferPlanner(mlir::func::FuncOp function)
      : function(function), block(function.getBody().front()), builder(function.getContext()) {}

  /// Rewrites the function; fails after a diagnostic.
  llvm::LogicalResult run();

private:
  using Sizes = llvm::SmallVector<mlir::OpFoldResult>;

  /// A range of memory that holds one tensor after another, or parts of one.
  struct Memory {
    // Given: a region's, or by it. State: an input's and the output's that it becomes.
    enum Kind { Input, Constant, Arena, Output, Random, Given, State } kind;
    unsigned index = 0;               // of the input or output
    mlir::FlatSymbolRefAttr constant; // weight
    /// Bytes: `factor` times the product of `dims`, which are in order of appearance.
    int64_t factor = 0;
    llvm::SmallVector<mlir::Value> dims;
    int64_t first = -1, last = -1; // steps
    unsigned segment = 0;          // of the first one
    unsigned region = 0;           // that it is made in
    bool isKept = false;           // in the arena, whoever has the value in the end
    mlir::OpFoldResult offset;     // in the arena, bytes
  };
  /// What is written by itself: a memory, or a view of what is assembled in one. Those in the same
  /// one are apart from one another.
  struct Part {
    std::optional<unsigned> around; // what it is a part of
    llvm::SmallVector<unsigned> inside;
    /// The tensors that are in it now, as a whole.
    llvm::SmallVector<mlir::Value> tensors;
  };
  /// Where a tensor is.
  struct Place {
    unsigned memory, part;
    mlir::Value view;                 // null: all of the memory
    mlir::OpFoldResult offset, bytes; // of a view
  };
  /// What the plan does, in order.
  struct Step {
    /// rt.launch, rt.from_scalars, rt.tap, rt.fetch; rt.branch and rt.repeat where their parts begin, rt.yield where
    /// one ends; null for a copy.
    mlir::Operation *op;
    mlir::Location loc;
    /// A launch's operands, -1 for scalars; what rt.branch gives, and rt.repeat takes; else target, source.
    llvm::SmallVector<int> places;
    llvm::SmallVector<int64_t> inPlace = {}; // a launch's pairs of one place: rt::kInPlaceAttr
  };

  /// A part of the plan, from one fetch to the next, which it waits for, or between the borders of regions. Its sizes
  /// are known when it begins, so that it has an arena of its own for values that are made in it.
  struct Segment {
    mlir::Operation *end; // the fetch, what has regions, or the end of the block
    /// The arena's bytes, the most live ones, their sum; null where there is nothing in it.
    std::array<mlir::OpFoldResult, 3> arenaUse = {};
  };

  llvm::LogicalResult collect();
  llvm::LogicalResult collect(mlir::Operation &op);
  llvm::LogicalResult collectLaunch(rt::LaunchOp launch);
  llvm::LogicalResult collectConstant(rt::GetConstantOp get);
  llvm::LogicalResult collectStorage(rt::StorageOp storage);
  llvm::LogicalResult collectScalars(rt::FromScalarsOp from);
  llvm::LogicalResult collectDim(mlir::tensor::DimOp dim);
  llvm::LogicalResult collectRead(rt::ReadOp read);
  llvm::LogicalResult collectView(rt::ViewOp view);
  llvm::LogicalResult collectReturn(mlir::func::ReturnOp op);
  std::optional<int64_t> growingDim(unsigned input, unsigned output);
  void updateInPlace(unsigned input, mlir::Value result);
  /// Takes out a step that does nothing, and renumbers those behind it.
  void removeStep(int64_t number);
  bool mayUpdate(unsigned from, unsigned to);
  void describeTaps();
  void addTap(mlir::DictionaryAttr attributes, mlir::Type type);
  llvm::LogicalResult collectTap(rt::TapOp tap);
  llvm::LogicalResult collectFetch(rt::FetchOp fetch);
  llvm::LogicalResult collectBlock(mlir::Block &block);
  llvm::LogicalResult collectBranch(rt::BranchOp branch);
  llvm::LogicalResult collectRepeat(rt::RepeatOp repeat);
  llvm::LogicalResult collectCarried(rt::RepeatOp repeat, Step &begin);
  llvm::LogicalResult collectParts(rt::RepeatOp repeat, Step &begin,
                                   llvm::SmallVectorImpl<unsigned> &collected);
  llvm::LogicalResult collectTrip(rt::RepeatOp repeat, llvm::ArrayRef<unsigned> next,
                                  llvm::ArrayRef<unsigned> collected);
  llvm::LogicalResult handOn(rt::RepeatOp repeat, unsigned number, llvm::ArrayRef<unsigned> next,
                             Step &last);
  llvm::LogicalResult handOnGrown(rt::RepeatOp repeat, llvm::ArrayRef<unsigned> next, Step &last);
  void endSegment(mlir::Operation *end) {
    segments.push_back({end});
    borders.push_back(steps.size());
  }
  llvm::FailureOr<unsigned> placeToCopy(mlir::Value tensor, const char *what);
  llvm::FailureOr<Sizes> checkCast(mlir::tensor::CastOp op);
  void setMetadata();
  mlir::DictionaryAttr describe(llvm::StringRef fallback, mlir::DictionaryAttr attributes,
                                mlir::RankedTensorType type, bool host);

  llvm::FailureOr<Sizes> sizesOf(mlir::Value tensor);
  Sizes argumentSizes(mlir::BlockArgument argument);
  int64_t numberOf(mlir::Value value);
  /// The output that the input becomes after each run.
  std::optional<unsigned> stateOf(unsigned input);
  llvm::StringRef nameOfInput(unsigned input);
  static int64_t bytesOfElement(mlir::Value tensor) {
    return onnx::elementBytes(*onnx::elementKind(mlir::getElementTypeOrSelf(tensor)));
  }

  /// A memory of the tensor's size, which is none of the plan yet.
  llvm::FailureOr<Memory> memoryFor(Memory::Kind kind, mlir::Value tensor, unsigned index = 0);
  /// All of a memory of the tensor's size.
  llvm::FailureOr<unsigned> newMemory(Memory::Kind kind, mlir::Value tensor, unsigned index = 0);
  Memory &memoryOf(unsigned place) { return memories[places[place].memory]; }
  void bind(mlir::Value tensor, unsigned place);
  llvm::LogicalResult bindNew(mlir::Value tensor, Memory::Kind kind = Memory::Arena);
  llvm::LogicalResult bindSame(mlir::Operation *op);
  static bool isUnwritten(mlir::Value tensor);
  /// Whether the part is read after `writer` and `twin`, which may be null, or by one of them
  /// through another operand.
  bool isUsedAfter(unsigned part, mlir::Operation *writer, unsigned operand,
                   mlir::Operation *twin = nullptr);
  /// The operand, by position, whose memory operand `target` of a launch, which has none yet, may
  /// take over; not one of `taken`.
  std::optional<int64_t> sourceInPlace(rt::LaunchOp launch, int64_t target,
                                       llvm::ArrayRef<int64_t> taken);
  /// Those of the launch's pairs whose operands are in one place.
  llvm::SmallVector<int64_t> pairsInPlace(rt::LaunchOp launch, llvm::ArrayRef<int> places);
  void useAt(int place, int64_t step);
  void addCopy(mlir::Location loc, unsigned target, unsigned source);

  llvm::LogicalResult emit();
  llvm::LogicalResult emitBeginning(unsigned segment);
  void emitShapes(mlir::Operation *end);
  void emitBounds();
  void emitStep(const Step &step);
  void emitLaunch(const Step &step);
  mlir::Value openLaunches(rt::LaunchOp launch);
  void openBranch(const Step &step, rt::BranchOp branch);
  void openRepeat(const Step &step, rt::RepeatOp repeat);
  void closePart(const Step &step, rt::YieldOp end);
  llvm::LogicalResult layOut(unsigned segment);
  llvm::LogicalResult layOutNow(Segment &segment, llvm::ArrayRef<unsigned> members,
                                llvm::ArrayRef<mlir::OpFoldResult> bytes);
  void setMemory();
  void erase();
  void erase(mlir::Block &block);
  mlir::Value buffer(unsigned memory, mlir::Location user);
  mlir::Value aliasOf(unsigned place, mlir::Location loc);
  mlir::Value bufferAt(unsigned place, mlir::Location user);
  mlir::OpFoldResult sum(mlir::OpFoldResult a, mlir::OpFoldResult b);
  mlir::OpFoldResult product(const rt::Extent &extent);
  mlir::OpFoldResult bytesOf(mlir::Value view, const rt::Layout &layout);
  mlir::OpFoldResult bytesOf(const Memory &memory);
  mlir::OpFoldResult bytesOf(unsigned place);
  mlir::Value value(mlir::OpFoldResult size);
  mlir::OpFoldResult constant(int64_t number) { return builder.getIndexAttr(number); }
  mlir::OpFoldResult mul(mlir::OpFoldResult a, mlir::OpFoldResult b);

  mlir::func::FuncOp function;
  mlir::Block &block;
  mlir::OpBuilder builder;
  std::vector<Memory> memories;
  std::vector<Part> parts;
  std::vector<Place> places;
  std::vector<Step> steps;
  llvm::DenseMap<mlir::Value, unsigned> placeOf;
  llvm::DenseMap<mlir::Value, Sizes> sizes;
  llvm::DenseMap<mlir::Value, int64_t> numbers;
  llvm::DenseMap<unsigned, mlir::Value> buffers;        // by memory
  llvm::DenseMap<unsigned, mlir::Value> buffersOfViews; // by place
  llvm::DenseMap<mlir::Attribute, mlir::Value> symbols; // a named size, once
  std::map<int64_t, mlir::Value> constants;
  llvm::SmallVector<Sizes> outputSizes, tapSizes;
  llvm::SmallVector<mlir::Attribute> inputs, outputs, taps; // metadata
  llvm::DenseSet<unsigned> hostInputs;
  llvm::DenseSet<unsigned>
      statesInPlace; // inputs that have one memory with the output that becomes them
  llvm::SmallVector<Segment, 1> segments;
  std::vector<size_t> borders;      // of segments: the number of steps in front of the end of each
  unsigned region = 0, regions = 0; // the one that is walked through, and all of them
  /// Regions that are open while steps are emitted: the buffers that were known in front of them.
  struct Open {
    mlir::Operation *op;
    llvm::SmallVector<int> places;
    llvm::DenseMap<unsigned, mlir::Value> buffers, buffersOfViews;
  };
  llvm::SmallVector<Open> open;
  llvm::DenseMap<mlir::Value, mlir::Value>
      planned;            // sizes that regions give, of the op that is planned
  llvm::BitVector shaped; // outputs whose shapes the plan has set
  mlir::Operation *firstOp = nullptr;
};

} // namespace cameo
