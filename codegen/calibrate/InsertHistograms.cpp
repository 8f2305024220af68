// Taps of FP32 ==> histograms of their magnitudes, as further taps.
//
//   %0 = rt.launch @k0::@k0 ...                 %0 = rt.launch @k0::@k0 ...
//   return %0 {rt.tap}                    ==>   %1 = rt.launch @histogram_clear ... writes [0]
//                                               %2 = rt.launch @histogram_extent ... args(%0, %1, n)
//                                               %3 = rt.launch @histogram_count ... args(%0, %2, n)
//                                               return %0, %3 {rt.tap}
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/Passes.h"
#include "codegen/calibrate/Histogram.h"
#include "codegen/target/Target.h"
#include "dialects/kernel/Kernel.h"
#include "dialects/onnx/Onnx.h"
#include "dialects/rt/Rt.h"
#include "passes/Statistics.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;

namespace cameo {

#define GEN_PASS_DEF_INSERTHISTOGRAMS
#include "codegen/Passes.h.inc"

namespace {

constexpr llvm::StringLiteral kKernels =
#include "codegen/HistogramKernels.inc"
    ;
constexpr llvm::StringLiteral kClear = "histogram_clear", kExtent = "histogram_extent",
                              kCount = "histogram_count";
/// Of all three kernels.
constexpr int64_t kThreads = 512;
/// Elements that a thread should have before there are more blocks, and blocks a multiprocessor: a
/// block clears and adds all bins, however little it counts.
constexpr int64_t kElementsPerThread = 32, kBlocksPerMultiprocessor = 2;

class Inserter {
public:
  Inserter(func::FuncOp function, const Target &target)
      : function(function), target(target), b(function.getContext()) {}

  /// How many taps have a histogram now.
  unsigned run() {
    auto end = cast<func::ReturnOp>(function.getBody().front().getTerminator());
    unsigned before = function.getNumResults(), count = 0;
    for (unsigned i = 0; i < before; ++i) {
      Value value = end.getOperand(i);
      if (!function.getResultAttr(i, rt::kTapAttr) || !getElementTypeOrSelf(value).isF32())
        continue;
      end->insertOperands(end->getNumOperands(), histogramOf(value));
      auto name = function.getResultAttrOfType<StringAttr>(i, onnx::kNameAttr);
      function.insertResult(function.getNumResults(), wordsType(), attributesFor(name));
      ++count;
    }
    return count;
  }

private:
  RankedTensorType wordsType() {
    return RankedTensorType::get({MagnitudeWords::kSize}, b.getI32Type());
  }

  DictionaryAttr attributesFor(StringAttr value) {
    std::string name = (value ? value.getValue() : "").str() + " (magnitudes)";
    return b.getDictionaryAttr(
        {b.getNamedAttr(onnx::kNameAttr, b.getStringAttr(name)),
         b.getNamedAttr(onnx::kDimsAttr, b.getI64ArrayAttr({MagnitudeWords::kSize})),
         b.getNamedAttr(rt::kCountsAttr, b.getUnitAttr()),
         b.getNamedAttr(rt::kTapAttr, b.getUnitAttr())});
  }

  Value elementsOf(Value tensor) {
    int64_t rank = cast<RankedTensorType>(tensor.getType()).getRank();
    if (rank == 0)
      return index(1);
    Value size = b.createOrFold<tensor::DimOp>(loc, tensor, 0);
    for (int64_t dim = 1; dim < rank; ++dim)
      size =
          b.createOrFold<arith::MulIOp>(loc, size, b.createOrFold<tensor::DimOp>(loc, tensor, dim));
    return size;
  }

  Value index(int64_t value) { return b.create<arith::ConstantIndexOp>(loc, value); }

  /// Behind what computes the value, whose memory may be another one's soon.
  Value histogramOf(Value value) {
    loc = value.getLoc();
    b.setInsertionPointAfterValue(value);
    Value size = elementsOf(value);
    Value wanted =
        b.createOrFold<arith::CeilDivSIOp>(loc, size, index(kThreads * kElementsPerThread));
    Value most = index(int64_t(target.board->sm_count) * kBlocksPerMultiprocessor);
    Value few = b.createOrFold<arith::MinSIOp>(loc, wanted, most);
    Value blocks = b.createOrFold<arith::MaxSIOp>(loc, few, index(1));
    Value elements = b.createOrFold<arith::IndexCastOp>(loc, b.getI64Type(), size);
    Value words = b.create<tensor::EmptyOp>(loc, wordsType(), ValueRange());
    words =
        launch(kClear, index(llvm::divideCeil(MagnitudeWords::kSize, kThreads)), {}, {words}, 0);
    words = launch(kExtent, blocks, {}, {value, words, elements}, 1);
    return launch(kCount, blocks, index(sizeof(uint32_t) * (magnitude::kBins - 1)),
                  {value, words, elements}, 1);
  }

  Value launch(StringRef kernel, Value blocks, Value shared, ValueRange operands, int64_t written) {
    auto symbol = SymbolRefAttr::get(b.getContext(), kernel,
                                     {FlatSymbolRefAttr::get(b.getContext(), kernel)});
    Value one = index(1);
    return b
        .create<rt::LaunchOp>(loc, TypeRange{wordsType()}, symbol, ValueRange{blocks, one, one},
                              shared, Value(), operands, b.getDenseI64ArrayAttr({written}), Value(),
                              Value(), SymbolRefAttr(), rt::EstimateAttr())
        .getResult(0);
  }

  func::FuncOp function;
  const Target &target;
  OpBuilder b;
  Location loc = function.getLoc();
};

struct InsertHistograms : impl::InsertHistogramsBase<InsertHistograms> {
  using InsertHistogramsBase::InsertHistogramsBase;

  void runOnOperation() override {
    rt::VariantOp variant = getOperation();
    if (SymbolTable::lookupSymbolIn(variant, kCount))
      return;
    llvm::Expected<const Target *> target = findTarget(variant.getTarget());
    if (!target) {
      variant.emitError() << llvm::toString(target.takeError());
      return signalPassFailure();
    }
    unsigned inserted = 0;
    for (auto function : variant.getOps<func::FuncOp>())
      inserted += Inserter(function, **target).run();
    count(&getContext(), getArgument(), "histograms", inserted);
    if (!inserted)
      return;
    OwningOpRef<ModuleOp> kernels =
        parseSourceString<ModuleOp>(kKernels, ParserConfig(&getContext()), "Histograms.mlir");
    for (auto kernel : llvm::make_early_inc_range(kernels->getOps<gpu::GPUModuleOp>()))
      kernel->moveBefore(&variant.getBody().front(), variant.getBody().front().end());
  }
};

} // namespace

} // namespace cameo
