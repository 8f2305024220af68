// Memory of i4, two elements a byte ==> memory of bytes.
//
//   %v = memref.load %w[%i] : memref<?xi4>          %b = memref.load %w[%i / 2] : memref<?xi8>
//                                             ==>   %v = (%b : i32) >> %i % 2 * 4
//   %x = arith.extsi %v : i4 to i32                 %x = %v << 28 >> 28
//
// From here on an i4 is an i32, of which the upper bits are anything; what extends it clears them.
// So a vector is 32-bit words of memory, shifted by constants. A branch passes the words on, which are
// shifted behind it:
//
//   %v = scf.if %c -> (vector<8xi4>)   ==>   %w = scf.if %c -> (vector<1xi32>)
//   %x = vector.extract %v[1]                %x = vector.extract %w[0] >> 4
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/Passes.h"
#include "codegen/lower/DevicePatterns.h"
#include "dialects/kernel/Kernel.h"
#include "passes/Statistics.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace cameo;

namespace cameo {
#define GEN_PASS_DEF_EXPANDNIBBLES
#include "codegen/Passes.h.inc"
} // namespace cameo

namespace {

constexpr int64_t kBits = 4, kPerByte = 8 / kBits, kWord = 32;

bool isPacked(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  return memref && memref.getElementType().isInteger(kBits);
}
bool isNibble(Type type) {
  return !isa<MemRefType>(type) && getElementTypeOrSelf(type).isInteger(kBits);
}

/// The same type of `element` in place of i4.
Type ofElement(Type type, Type element) {
  if (auto vector = dyn_cast<VectorType>(type))
    return VectorType::get(vector.getShape(), element);
  if (auto memref = dyn_cast<MemRefType>(type))
    return MemRefType::get(memref.getShape(), element, memref.getLayout(), memref.getMemorySpace());
  return element;
}

class NibbleExpander {
public:
  explicit NibbleExpander(gpu::GPUFuncOp function)
      : function(function), word(IntegerType::get(function.getContext(), kWord)),
        byte(IntegerType::get(function.getContext(), 8)) {}

  /// Whether there were any.
  FailureOr<bool> expand() {
    for (BlockArgument argument : function.getArguments())
      if (isPacked(argument.getType())) {
        argument.setType(ofElement(argument.getType(), byte));
        memories[argument] = {argument, {}};
      }
    if (memories.empty())
      return false;
    size_t count = function.getFunctionType().getNumInputs();
    auto types = llvm::to_vector(function.getBody().front().getArgumentTypes());
    function.setType(
        FunctionType::get(function.getContext(), ArrayRef(types).take_front(count), {}));
    function.walk([&](scf::IfOp branch) { passWords(branch); }); // the inner ones first
    SmallVector<Operation *> operations;
    function.walk<WalkOrder::PreOrder>([&](Operation *op) {
      operations.push_back(op);
      if (isa<arith::ExtSIOp, arith::ExtUIOp>(op) && isNibble(op->getOperand(0).getType()))
        extensions.insert(op);
    });
    for (Operation *op : operations)
      if (failed(expand(op)))
        return failure();
    for (Operation *op : llvm::reverse(replaced))
      op->erase();
    return true;
  }

private:
  /// Memory of bytes, and which element of the first one is the first; null: the lower.
  struct Memory {
    Value bytes, odd;
  };

  LogicalResult expand(Operation *op) {
    return llvm::TypeSwitch<Operation *, LogicalResult>(op)
        .Case([&](kernel::AdvanceOp advance) { return expandAdvance(advance); })
        .Case([&](memref::LoadOp load) { return expandLoad(load); })
        .Case([&](vector::LoadOp load) { return expandVector(load); })
        .Case([&](vector::BitCastOp cast) { return expandCast(cast); })
        .Case<arith::ExtSIOp, arith::ExtUIOp>([&](auto extend) { return expandExtension(extend); })
        .Case([&](arith::ConstantOp constant) { return expandConstant(constant); })
        .Default([&](Operation *op) {
          for (Value operand : op->getOperands())
            if (memories.contains(operand))
              return LogicalResult(op->emitOpError("cannot access memory of i4; loads do"));
          retype(op);
          return success();
        });
  }

  //===-- Branches ----------------------------------------------------------------------------===//

  /// Of vectors that it loads or that are constant, a branch gives the words that they are in.
  static void passWords(scf::IfOp branch) {
    for (unsigned number = 0; number < branch.getNumResults(); ++number) {
      OpResult result = branch->getResult(number);
      auto type = dyn_cast<VectorType>(result.getType());
      if (!type || !isNibble(type) || type.getNumElements() * kBits % kWord != 0)
        continue;
      SmallVector<OpOperand *> yielded;
      for (Region *region : {&branch.getThenRegion(), &branch.getElseRegion()})
        yielded.push_back(&region->front().getTerminator()->getOpOperand(number));
      if (!llvm::all_of(yielded, [](OpOperand *operand) { return hasWords(operand->get()); }))
        continue;
      for (OpOperand *operand : yielded)
        operand->set(wordsOf(operand->get()));
      OpBuilder b(branch->getContext());
      b.setInsertionPointAfter(branch);
      result.setType(yielded.front()->get().getType());
      auto cast = b.create<vector::BitCastOp>(branch.getLoc(), type, result);
      result.replaceAllUsesExcept(cast, cast);
    }
  }

  static SplatElementsAttr splatOf(Value value) {
    SplatElementsAttr splat;
    matchPattern(value, m_Constant(&splat));
    return splat;
  }

  static bool hasWords(Value value) {
    return isa_and_nonnull<vector::LoadOp, vector::BitCastOp>(value.getDefiningOp()) ||
           splatOf(value);
  }

  static Value wordsOf(Value value) {
    if (auto cast = value.getDefiningOp<vector::BitCastOp>()) // behind a branch in this one
      return cast.getSource();
    OpBuilder b(value.getContext());
    b.setInsertionPointAfterValue(value);
    int64_t count = cast<VectorType>(value.getType()).getNumElements() * kBits / kWord;
    auto type = VectorType::get({count}, b.getI32Type());
    SplatElementsAttr splat = splatOf(value);
    if (!splat)
      return b.create<vector::BitCastOp>(value.getLoc(), type, value);
    APInt word = APInt::getSplat(kWord, splat.getSplatValue<APInt>());
    return b.create<arith::ConstantOp>(value.getLoc(), DenseElementsAttr::get(type, word));
  }

  //===-- Operations --------------------------------------------------------------------------===//

  /// What only passes values on does so with words.
  void retype(Operation *op) {
    for (Value result : op->getResults())
      if (isNibble(result.getType()))
        result.setType(ofElement(result.getType(), word));
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          if (isNibble(argument.getType()))
            argument.setType(ofElement(argument.getType(), word));
  }

  Value constant(OpBuilder &b, Location loc, Type type, int64_t value) {
    TypedAttr attribute = b.getIntegerAttr(getElementTypeOrSelf(type), value);
    if (auto vector = dyn_cast<VectorType>(type))
      attribute = DenseElementsAttr::get(vector, attribute);
    return b.create<arith::ConstantOp>(loc, attribute);
  }

  LogicalResult expandAdvance(kernel::AdvanceOp op) {
    auto found = memories.find(op.getMemory());
    if (found == memories.end())
      return success();
    Memory memory = found->second;
    OpBuilder b(op);
    Location loc = op.getLoc();
    Value offset = op.getOffset(), one = constant(b, loc, offset.getType(), 1);
    if (memory.odd)
      offset = b.create<arith::AddIOp>(
          loc, offset, b.create<arith::IndexCastOp>(loc, offset.getType(), memory.odd));
    Value half = b.createOrFold<arith::ShRSIOp>(loc, offset, one);
    Value odd = b.createOrFold<arith::AndIOp>(loc, offset, one);
    memories[op.getResult()] = {
        b.create<kernel::AdvanceOp>(loc, memory.bytes.getType(), memory.bytes, half),
        b.createOrFold<arith::IndexCastOp>(loc, b.getIndexType(), odd)};
    replaced.push_back(op);
    return success();
  }

  /// The element's number in the bytes.
  Value placeOf(OpBuilder &b, Location loc, const Memory &memory, Value index) {
    return memory.odd ? b.createOrFold<arith::AddIOp>(loc, index, memory.odd) : index;
  }

  LogicalResult expandLoad(memref::LoadOp op) {
    auto found = memories.find(op.getMemref());
    if (found == memories.end())
      return success();
    OpBuilder b(op);
    Location loc = op.getLoc();
    Type index = b.getIndexType();
    Value place = placeOf(b, loc, found->second, op.getIndices().front());
    Value half = b.createOrFold<arith::ShRUIOp>(loc, place, constant(b, loc, index, 1));
    Value loaded = b.create<memref::LoadOp>(loc, found->second.bytes, half);
    Value part = b.createOrFold<arith::AndIOp>(loc, place, constant(b, loc, index, 1));
    Value shift = b.createOrFold<arith::MulIOp>(
        loc, b.createOrFold<arith::IndexCastUIOp>(loc, word, part), constant(b, loc, word, kBits));
    Value wide = b.create<arith::ExtUIOp>(loc, word, loaded);
    op.replaceAllUsesWith(b.create<arith::ShRUIOp>(loc, wide, shift).getResult());
    replaced.push_back(op);
    return success();
  }

  LogicalResult expandVector(vector::LoadOp op) {
    auto found = memories.find(op.getBase());
    if (found == memories.end())
      return success();
    auto alignment = op->getAttrOfType<IntegerAttr>(kAlignmentAttr);
    int64_t count = op.getVectorType().getNumElements();
    if (!alignment || alignment.getInt() < 1 || count % kPerByte != 0)
      return op.emitOpError("of i4 loads whole bytes, and says how they are aligned");
    OpBuilder b(op);
    Location loc = op.getLoc();
    Value place = placeOf(b, loc, found->second, op.getIndices().front());
    Value half = b.createOrFold<arith::ShRUIOp>(loc, place, constant(b, loc, b.getIndexType(), 1));
    int64_t bits = std::min(kWord, count * kBits), words = count * kBits / bits;
    SmallVector<Value> elements;
    Type piece = b.getIntegerType(bits);
    Value bytes;
    if (count == kPerByte) {
      bytes = b.create<memref::LoadOp>(loc, found->second.bytes, half);
    } else {
      auto type = VectorType::get({count / kPerByte}, byte);
      auto load = b.create<vector::LoadOp>(loc, type, found->second.bytes, half);
      load->setAttr(kAlignmentAttr, alignment);
      bytes = b.create<vector::BitCastOp>(loc, VectorType::get({words}, piece), load);
    }
    for (int64_t i = 0; i < words; ++i) {
      Value part = count == kPerByte ? bytes : b.create<vector::ExtractOp>(loc, bytes, i);
      if (bits != kWord)
        part = b.create<arith::ExtUIOp>(loc, word, part);
      appendNibbles(b, loc, part, bits, elements);
    }
    replaceVector(op, elements, bytes);
    return success();
  }

  /// Words that a branch has passed on become elements. What makes words of elements is replaced with
  /// these.
  LogicalResult expandCast(vector::BitCastOp op) {
    if (!isNibble(op.getType()))
      return success();
    OpBuilder b(op);
    SmallVector<Value> elements;
    for (int64_t i = 0; i < op.getSourceVectorType().getNumElements(); ++i)
      appendNibbles(b, op.getLoc(), b.create<vector::ExtractOp>(op.getLoc(), op.getSource(), i),
                    kWord, elements);
    replaceVector(op, elements, op.getSource());
    return success();
  }

  void appendNibbles(OpBuilder &b, Location loc, Value part, int64_t bits,
                     SmallVector<Value> &elements) {
    for (int64_t shift = 0; shift < bits; shift += kBits)
      elements.push_back(
          shift == 0 ? part : b.create<arith::ShRUIOp>(loc, part, constant(b, loc, word, shift)));
  }

  /// Elements, or the words that have them, in place of the vector of them that `op` makes.
  void replaceVector(Operation *op, ArrayRef<Value> elements, Value words) {
    OpBuilder b(op);
    auto type = VectorType::get(cast<VectorType>(op->getResult(0).getType()).getShape(), word);
    replaced.push_back(op); // before what reads it, which goes first
    Value whole;
    for (OpOperand &use : llvm::make_early_inc_range(op->getUses())) {
      if (auto cast = dyn_cast<vector::BitCastOp>(use.getOwner())) {
        cast.replaceAllUsesWith(words);
        replaced.push_back(cast);
        continue;
      }
      auto extract = dyn_cast<vector::ExtractOp>(use.getOwner());
      if (extract && !extract.hasDynamicPosition() && extract.getStaticPosition().size() == 1) {
        extract.getResult().replaceAllUsesWith(elements[extract.getStaticPosition()[0]]);
        replaced.push_back(extract);
        continue;
      }
      if (!whole)
        whole = b.create<vector::FromElementsOp>(op->getLoc(), type, elements);
      use.set(whole);
    }
  }

  template <typename Op> LogicalResult expandExtension(Op op) {
    if (!extensions.contains(op)) // of what has been a word all along
      return success();
    OpBuilder b(op);
    Location loc = op.getLoc();
    Value in = op.getIn(), value;
    if (std::is_same_v<Op, arith::ExtSIOp>) {
      Value shift = constant(b, loc, in.getType(), kWord - kBits);
      value = b.create<arith::ShRSIOp>(loc, b.create<arith::ShLIOp>(loc, in, shift), shift);
    } else {
      value = b.create<arith::AndIOp>(loc, in, constant(b, loc, in.getType(), (1 << kBits) - 1));
    }
    unsigned bits = getElementTypeOrSelf(op.getType()).getIntOrFloatBitWidth();
    if (bits < kWord)
      value = b.create<arith::TruncIOp>(loc, op.getType(), value);
    else if (bits > kWord)
      value = b.create<Op>(loc, op.getType(), value);
    op.replaceAllUsesWith(value);
    replaced.push_back(op);
    return success();
  }

  LogicalResult expandConstant(arith::ConstantOp op) {
    if (!isNibble(op.getType()))
      return success();
    APInt value;
    if (auto number = dyn_cast<IntegerAttr>(op.getValue()))
      value = number.getValue();
    else if (auto splat = dyn_cast<SplatElementsAttr>(op.getValue()))
      value = splat.getSplatValue<APInt>();
    else
      return op.emitOpError("of i4 is one number");
    OpBuilder b(op);
    op.replaceAllUsesWith(
        constant(b, op.getLoc(), ofElement(op.getType(), word), value.getZExtValue()));
    replaced.push_back(op);
    return success();
  }

  gpu::GPUFuncOp function;
  Type word, byte;
  llvm::DenseMap<Value, Memory> memories;
  llvm::DenseSet<Operation *> extensions; // of i4
  SmallVector<Operation *> replaced;
};
struct ExpandNibbles : cameo::impl::ExpandNibblesBase<ExpandNibbles> {
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<gpu::GPUFuncOp>()) {
      FailureOr<bool> expanded = NibbleExpander(kernel).expand();
      if (failed(expanded))
        return signalPassFailure();
      if (*expanded)
        count(&getContext(), getArgument(), "kernels");
    }
  }
};

} // namespace
