// Candidates of dispatches ==> the one whose machine code is the best.
//
//   kernel.dispatch ... schedule #a {kernel.candidates = [#a, #b, #c]}
//     ==>
//   kernel.dispatch ... schedule #b
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/Passes.h"
#include "codegen/emit/Assemble.h"
#include "codegen/emit/Ptx.h"
#include "codegen/schedule/PermuteDispatch.h"
#include "codegen/schedule/ScheduleFile.h"
#include "codegen/tune/Candidates.h"
#include "codegen/tune/SassTime.h"
#include "codegen/tune/Trial.h"
#include "dialects/kernel/Kernel.h"
#include "dialects/rt/Layout.h"
#include "dialects/rt/Ledger.h"
#include "passes/Statistics.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Program.h"

#include <map>

using namespace mlir;

namespace cameo {

#define GEN_PASS_DEF_TUNESCHEDULES
#include "codegen/Passes.h.inc"

namespace {

/// Equal dispatches of a variant.
struct TunedGroup {
  SmallVector<kernel::DispatchOp> members;
  SmallVector<NotedCandidate, 0> candidates;
  SmallVector<SassTime> times; // by candidate
};

using Groups = llvm::MapVector<DispatchKey, TunedGroup>;

/// A copy of the variant in a module of its own, in which each candidate of each group has a kernel
/// that says which one it is for.
OwningOpRef<ModuleOp> trialOf(rt::VariantOp variant, const Groups &groups) {
  OwningOpRef<ModuleOp> trial = ModuleOp::create(variant.getLoc());
  OpBuilder b = OpBuilder::atBlockBegin(trial->getBody());
  IRMapping mapping;
  auto copy = cast<rt::VariantOp>(b.clone(*variant, mapping));
  llvm::DenseMap<Operation *, const TunedGroup *> firsts;
  SmallVector<kernel::DispatchOp> originals, copies;
  variant.walk([&](kernel::DispatchOp op) { originals.push_back(op); });
  copy.walk([&](kernel::DispatchOp op) { copies.push_back(op); });
  for (auto &[key, group] : groups)
    firsts[group.members.front()] = &group;
  int64_t number = 0;
  llvm::DenseMap<const TunedGroup *, int64_t> numbers;
  for (auto &[key, group] : groups) {
    numbers[&group] = number;
    number += int64_t(group.candidates.size());
  }
  for (auto [original, op] : llvm::zip(originals, copies)) {
    if (const TunedGroup *group = firsts.lookup(original)) {
      for (auto [i, candidate] : llvm::enumerate(group->candidates)) {
        OpBuilder before(op); // so that the kernel is not made for another one
        auto one = cast<kernel::DispatchOp>(before.clone(*op));
        one.setScheduleAttr(candidate.schedule);
        one->setAttr(kTrialAttr, before.getI64IntegerAttr(numbers[group] + int64_t(i)));
        readAsPacked(one, candidate.packing, candidate.rounding);
      }
    }
    readAsPacked(op, op->getAttrOfType<ArrayAttr>(kPackingAttr), op->getAttr(kRoundingAttr));
  }
  return trial;
}

struct TuneSchedules : impl::TuneSchedulesBase<TuneSchedules> {
  using TuneSchedulesBase::TuneSchedulesBase;

  void runOnOperation() override {
    bool hasCandidates = false;
    WalkResult walked = getOperation().walk([&](kernel::DispatchOp op) {
      auto list = op->getAttrOfType<ArrayAttr>(kCandidatesAttr);
      hasCandidates |= bool(list);
      return list && !llvm::all_of(list, candidateOf) ? refuse(op, list) : WalkResult::advance();
    });
    if (walked.wasInterrupted())
      return signalPassFailure();
    if (!hasCandidates)
      return;
    llvm::Error error = tune();
    if (!error)
      return;
    getOperation().emitError() << "--tune=static: " << llvm::toString(std::move(error));
    signalPassFailure();
  }

private:
  static WalkResult refuse(kernel::DispatchOp op, ArrayAttr list) {
    op.emitError() << kCandidatesAttr << ": each of " << list
                   << " needs a schedule, microseconds and numbers of its work";
    return WalkResult::interrupt();
  }

  llvm::Error tune() {
    CodeStore store(cacheDir);
    auto made = Assembler::create(ptxas, &store);
    if (!made)
      return made.takeError();
    std::string disassembler = nvdisasm;
    if (disassembler.empty())
      if (llvm::ErrorOr<std::string> found = llvm::sys::findProgramByName("nvdisasm"))
        disassembler = *found;
    if (disassembler.empty())
      return llvm::createStringError(
          "no nvdisasm in the PATH; install the CUDA toolkit's nvdisasm component, or the Python "
          "package nvidia-cuda-nvdisasm, and name the program with --nvdisasm=FILE");
    for (auto variant : getOperation().getOps<rt::VariantOp>())
      if (llvm::Error error = tune(variant, store, **made, disassembler))
        return error;
    return llvm::Error::success();
  }

  llvm::Error tune(rt::VariantOp variant, CodeStore &store, Assembler &assembler,
                   const std::string &disassembler) {
    auto target = findTarget(variant.getTarget());
    if (!target)
      return target.takeError();
    Groups groups;
    DispatchHasher hasher;
    variant.walk([&](kernel::DispatchOp op) {
      auto list = op->getAttrOfType<ArrayAttr>(kCandidatesAttr);
      if (!list)
        return;
      TunedGroup &group = groups[scheduleKey(op, hasher)];
      group.members.push_back(op);
      if (group.candidates.empty())
        for (Attribute candidate : list)
          group.candidates.push_back(*candidateOf(candidate));
    });
    if (llvm::Error error = measure(variant, groups, **target, store, assembler, disassembler))
      return error;
    rt::Ledger ledger(variant);
    for (auto &[key, group] : groups)
      decide(group, ledger);
    return llvm::Error::success();
  }

  /// Makes all candidates' kernels and reads their machine code.
  llvm::Error measure(rt::VariantOp variant, Groups &groups, const Target &target, CodeStore &store,
                      Assembler &assembler, const std::string &disassembler) {
    OwningOpRef<ModuleOp> trial = trialOf(variant, groups);
    PassManager passes(&getContext(), ModuleOp::getOperationName());
    passes.enableVerifier(false); // constants are not there
    OpPassManager &variants = passes.nest<rt::VariantOp>();
    variants.addPass(createLowerDispatches());
    OpPassManager &kernels = variants.nest<gpu::GPUModuleOp>();
    kernels.addPass(createExpandTiles());
    kernels.addPass(createLowerToDevice());
    if (failed(passes.run(*trial)))
      return llvm::createStringError("kernels for trial cannot be made");
    std::vector<std::pair<int64_t, gpu::GPUModuleOp>> found; // by number of the candidate
    std::vector<int64_t> dynamicBytes;
    trial->walk([&](gpu::GPUModuleOp module) {
      module.walk([&](Operation *function) {
        if (auto number = function->getAttrOfType<IntegerAttr>(kTrialAttr)) {
          found.emplace_back(number.getInt(), module);
          auto bytes = declaredAttr<kernel::KernelDialect::DynamicSharedAttrHelper>(function);
          dynamicBytes.push_back(bytes ? bytes.getInt() : 0);
        }
      });
    });
    SmallVector<gpu::GPUModuleOp> modules;
    for (auto &[number, module] : found)
      modules.push_back(module);
    std::vector<std::vector<char>> cubins(modules.size());
    std::vector<unsigned> spilled(modules.size());
    PtxOptions options;
    options.ptxas = ptxas;
    options.libdevice = libdevice;
    llvm::Error error =
        emitPtx(modules, target, options, &store, [&](size_t i, StringRef ptx) -> llvm::Error {
          llvm::Expected<Cubin> cubin = assembler.assemble(ptx, target);
          if (!cubin)
            return cubin.takeError();
          cubins[i] = std::move(cubin->data);
          for (const KernelResources &kernel : cubin->kernels)
            spilled[i] += kernel.spillStoreBytes + kernel.spillLoadBytes;
          return llvm::Error::success();
        });
    if (error)
      return error;
    auto read = sass::disassemble(cubins, target, disassembler);
    if (!read)
      return read.takeError();
    if (read->size() != modules.size())
      return llvm::createStringError("a cubin has several kernels");
    std::map<int64_t, size_t> places; // of candidates among the kernels
    for (size_t i = 0; i < found.size(); ++i)
      places[found[i].first] = i;
    count(&getContext(), getArgument(), "assembled", modules.size());
    int64_t number = 0;
    for (auto &[key, group] : groups)
      for (const NotedCandidate &candidate : group.candidates) {
        auto place = places.find(number++);
        group.times.push_back(place == places.end()
                                  ? SassTime()
                                  : sassTime((*read)[place->second], candidate.work,
                                             unsigned(dynamicBytes[place->second]),
                                             spilled[place->second], target));
        if (SassTime &time = group.times.back(); time.resource.empty())
          time.microseconds = candidate.microseconds; // there is no loop to look at
      }
    return llvm::Error::success();
  }

  void decide(TunedGroup &group, rt::Ledger &ledger) {
    auto isFaster = [](const SassTime &a, const SassTime &b) {
      return a.microseconds < b.microseconds;
    };
    size_t best =
        std::min_element(group.times.begin(), group.times.end(), isFaster) - group.times.begin();
    const NotedCandidate &chosen = group.candidates[best];
    bool isOther = chosen.schedule != group.candidates.front().schedule;
    std::string text;
    llvm::raw_string_ostream stream(text);
    if (isOther)
      stream << "schedule " << chosen.schedule << " by its machine code, "
             << describe(group.times[best]) << "; " << group.candidates.front().schedule
             << ", which the estimate prefers, " << describe(group.times.front());
    else
      stream << "the estimate's schedule is the best of " << group.candidates.size()
             << " by its machine code, " << describe(group.times[best]);
    for (kernel::DispatchOp op : group.members) {
      op->removeAttr(kCandidatesAttr);
      op.setScheduleAttr(chosen.schedule);
      setOrRemove(op, kPackingAttr, chosen.packing);
      setOrRemove(op, kRoundingAttr, chosen.rounding);
      if (isOther)
        count(&getContext(), getArgument(), "changed");
      ledger.chosen("tune", op.getLoc(), text);
    }
  }

  static std::string describe(const SassTime &time) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    stream << llvm::format("%.1f us", time.microseconds);
    if (!time.resource.empty())
      stream << " (" << time.registers << " registers, " << time.blocksPerSm
             << " blocks a multiprocessor, main loop bound by " << time.resource << ")";
    if (time.spilledBytes)
      stream << ", " << time.spilledBytes << " B of spills";
    return text;
  }
};

} // namespace
} // namespace cameo
