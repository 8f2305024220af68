// Translation to LLVM IR, optimisation, emission.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/emit/LlvmModule.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Threading.h"
#include "llvm/Support/raw_ostream.h"

#include <mutex>

using namespace cameo;

extern "C" {
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
void LLVMInitializeX86Target();
void LLVMInitializeX86TargetInfo();
void LLVMInitializeX86TargetMC();
void LLVMInitializeX86AsmPrinter();
}

/// Makes CodeGenPrepare look again at blocks that have changed, not at the whole function until nothing changes, which
/// takes time squared. LLVM does so of functions of 10,000 blocks; ours on matrix instructions have up to 2,000. Code
/// of small ones may be other, and not faster.
static void revisitChangedBlocksOnly() {
  auto found = llvm::cl::getRegisteredOptions().find("cgpp-huge-func");
  if (found != llvm::cl::getRegisteredOptions().end() && !found->second->getNumOccurrences())
    found->second->addOccurrence(0, found->first(), "400");
}

void cameo::initializeLlvmTargets() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    revisitChangedBlocksOnly();
  });
}

void cameo::registerDeviceTranslations(mlir::MLIRContext &context) {
  mlir::registerBuiltinDialectTranslation(context);
  mlir::registerGPUDialectTranslation(context);
  mlir::registerLLVMDialectTranslation(context);
  mlir::registerNVVMDialectTranslation(context);
}

llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
cameo::createTargetMachine(llvm::StringRef triple, llvm::StringRef chip, llvm::StringRef features,
                           llvm::CodeGenOptLevel level, const llvm::TargetOptions &options) {
  initializeLlvmTargets();
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple.str(), error);
  if (!target)
    return llvm::createStringError(error);
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, chip, features, options, llvm::Reloc::PIC_, std::nullopt, level));
  if (!machine)
    return llvm::createStringError("LLVM has no target machine for " + triple.str() + " " +
                                   chip.str());
  return machine;
}

llvm::Expected<std::unique_ptr<llvm::Module>>
cameo::translateDeviceModule(mlir::Operation *module, llvm::LLVMContext &context,
                             llvm::TargetMachine &machine) {
  std::string messages;
  std::unique_ptr<llvm::Module> translated;
  {
    // Handlers belong to the context, and other threads may be translating too.
    uint64_t thread = llvm::get_threadid();
    mlir::ScopedDiagnosticHandler handler(module->getContext(), [&](mlir::Diagnostic &diagnostic) {
      if (llvm::get_threadid() != thread)
        return mlir::failure();
      llvm::raw_string_ostream(messages) << (messages.empty() ? "" : "; ") << diagnostic.str();
      return mlir::success();
    });
    translated = mlir::translateModuleToLLVMIR(module, context);
  }
  if (!translated)
    return llvm::createStringError("cannot translate to LLVM IR: " + messages);
  translated->setTargetTriple(machine.getTargetTriple().str());
  translated->setDataLayout(machine.createDataLayout());
  return translated;
}

PassAnalyses::PassAnalyses(llvm::TargetMachine *machine, llvm::PipelineTuningOptions tuning)
    : builder(machine, tuning) {
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graphs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graphs, modules);
}

void cameo::optimizeModule(llvm::Module &module, llvm::TargetMachine &machine,
                           llvm::OptimizationLevel level, bool slp) {
  llvm::PipelineTuningOptions tuning;
  tuning.SLPVectorization = slp;
  PassAnalyses analyses(&machine, tuning);
  analyses.builder.buildPerModuleDefaultPipeline(level).run(module, analyses.modules);
}

llvm::Expected<llvm::SmallString<0>>
cameo::emitModule(llvm::Module &module, llvm::TargetMachine &machine, llvm::CodeGenFileType type) {
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, type))
    return llvm::createStringError("LLVM cannot emit this kind of file for " +
                                   machine.getTargetTriple().str());
  passes.run(module);
  return text;
}
