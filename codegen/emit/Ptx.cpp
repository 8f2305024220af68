// Device-stage modules ==> PTX text: translate, link what is needed of libdevice, optimise, print.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/emit/Ptx.h"

#include "codegen/emit/Backend.h"
#include "codegen/emit/CodeCache.h"
#include "codegen/emit/ExpandPtx.h"
#include "codegen/emit/FenceAccumulators.h"
#include "codegen/emit/KernelName.h"
#include "codegen/emit/LlvmModule.h"
#include "codegen/lower/DevicePatterns.h"
#include "codegen/lower/ReplaceNvvmInstructions.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/IR/Threading.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"
#include "llvm/Transforms/IPO/Internalize.h"

using namespace mlir;
using namespace cameo;

namespace {

constexpr llvm::StringLiteral kTriple = "nvptx64-nvidia-cuda";
constexpr llvm::StringLiteral kLibdeviceName = "libdevice.10.bc";
constexpr llvm::StringLiteral kLibdevicePrefix = "__nv_";

/// Names of libdevice functions a module calls and does not define.
std::vector<std::string> libdeviceCalls(const llvm::Module &module) {
  std::vector<std::string> names;
  for (const llvm::Function &function : module)
    if (function.isDeclaration() && function.getName().starts_with(kLibdevicePrefix))
      names.push_back(function.getName().str());
  return names;
}

/// Links the functions in need from libdevice. Bitcode is read lazily: of its 500 functions only
/// those that are called are ever materialised.
llvm::Error linkLibdevice(llvm::Module &module, const llvm::MemoryBuffer *libdevice) {
  std::vector<std::string> calls = libdeviceCalls(module);
  if (calls.empty())
    return llvm::Error::success();
  if (!libdevice)
    return llvm::createStringError(
        "the kernel calls " + calls.front() +
        ", which is in NVIDIA's libdevice.10.bc, and that "
        "is not found beside ptxas; install the CUDA toolkit's nvvm component or name the file "
        "(--libdevice=FILE)");
  llvm::Expected<std::unique_ptr<llvm::Module>> library =
      llvm::getLazyBitcodeModule(libdevice->getMemBufferRef(), module.getContext());
  if (!library)
    return llvm::createStringError("cannot read libdevice: " + llvm::toString(library.takeError()));
  (*library)->setTargetTriple(module.getTargetTriple());
  (*library)->setDataLayout(module.getDataLayout());
  // 0: denormals are kept; __nvvm_reflect reads it.
  module.addModuleFlag(llvm::Module::Override, "nvvm-reflect-ftz", 0u);
  bool failed = llvm::Linker::linkModules(
      module, std::move(*library), llvm::Linker::LinkOnlyNeeded,
      [](llvm::Module &linked, const llvm::StringSet<> &added) {
        llvm::internalizeModule(linked, [&](const llvm::GlobalValue &value) {
          return !value.hasName() || !added.count(value.getName());
        });
      });
  if (failed)
    return llvm::createStringError("cannot link libdevice");
  calls = libdeviceCalls(module);
  if (!calls.empty())
    return llvm::createStringError("libdevice has no function " + calls.front());
  return llvm::Error::success();
}

/// Gives everything but the kernels a name of the kernel's own.
void renamePrivateSymbols(llvm::Module &module, StringRef kernel) {
  std::string prefix = kernel.str() + "$";
  for (llvm::GlobalValue &value : module.global_values()) {
    if (value.isDeclaration() && !isa<llvm::GlobalVariable>(value))
      continue;
    if (auto *function = dyn_cast<llvm::Function>(&value))
      if (!function->hasLocalLinkage())
        continue;
    if (!value.getName().starts_with(prefix) && !value.getName().starts_with("llvm."))
      value.setName(prefix + value.getName());
  }
}

/// LLVM reports what the back end cannot select as a diagnostic of the context; without a handler
/// it would print and exit.
struct ErrorCollector : llvm::DiagnosticHandler {
  explicit ErrorCollector(std::string &messages) : messages(messages) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    if (info.getSeverity() == llvm::DS_Error) {
      llvm::raw_string_ostream stream(messages);
      llvm::DiagnosticPrinterRawOStream printer(stream);
      info.print(printer);
    }
    return true;
  }
  std::string &messages;
};

/// Drops what differs between machines or says nothing: the generator's comment and blank lines.
std::string tidy(StringRef text) {
  std::string result;
  result.reserve(text.size());
  SmallVector<StringRef> lines;
  text.split(lines, '\n');
  for (StringRef line : lines) {
    StringRef bare = line.trim();
    if (bare.empty() || bare.starts_with("//"))
      continue;
    result += line.rtrim();
    result += '\n';
  }
  return result;
}

/// The text as for the target, where LLVM does not know that and has written it as for another.
llvm::Expected<std::string> withTarget(std::string text, const Target &target) {
  auto version = [](unsigned ptx) {
    return llvm::formatv(".version {0}.{1}\n", ptx / 10, ptx % 10).str();
  };
  std::pair<std::string, std::string> lines[] = {
      {version(target.llvmPtxVersion()), version(target.ptxVersion)},
      {".target " + target.llvmName().str() + "\n", ".target " + target.name.str() + "\n"}};
  for (const auto &[written, wanted] : lines) {
    size_t at = text.find(written);
    if (at == std::string::npos)
      return llvm::createStringError("LLVM's text has no line " + written);
    text.replace(at, written.size(), wanted);
  }
  return text;
}

/// LLVM 19 writes no `.reqnctapercluster` for kernels that say how large their clusters are.
std::string withClusters(std::string text, gpu::GPUModuleOp module) {
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    auto cluster = function->getAttrOfType<DenseI32ArrayAttr>(kClusterAttribute);
    size_t entry = text.find(".entry " + function.getName().str() + "(");
    if (!cluster || entry == std::string::npos)
      continue;
    size_t end = text.find(')', entry); // of the parameters
    text.insert(end + 1, llvm::formatv("\n.reqnctapercluster {0}, {1}, {2}", cluster[0], cluster[1],
                                       cluster[2]));
  }
  return text;
}

/// Has .loc directives written and nothing else: debug sections would need `.target ..., debug`,
/// which switches ptxas's optimisations off.
void keepLineDirectivesOnly(llvm::Module &module) {
  llvm::NamedMDNode *units = module.getNamedMetadata("llvm.dbg.cu");
  if (!units)
    return;
  for (llvm::MDNode *node : llvm::to_vector(units->operands())) {
    auto *unit = cast<llvm::DICompileUnit>(node);
    auto *lines = llvm::DICompileUnit::getDistinct(
        module.getContext(), unit->getSourceLanguage(), unit->getFile(), unit->getProducer(),
        unit->isOptimized(), unit->getFlags(), unit->getRuntimeVersion(),
        unit->getSplitDebugFilename(), llvm::DICompileUnit::DebugDirectivesOnly,
        unit->getEnumTypes(), unit->getRetainedTypes(), unit->getGlobalVariables(),
        unit->getImportedEntities(), unit->getMacros(), unit->getDWOId(),
        unit->getSplitDebugInlining(), unit->getDebugInfoForProfiling(), unit->getNameTableKind(),
        unit->getRangesBaseAddress(), unit->getSysRoot(), unit->getSDK());
    for (llvm::Function &function : module)
      if (llvm::DISubprogram *program = function.getSubprogram();
          program && program->getUnit() == unit)
        program->replaceUnit(lines);
  }
  units->clearOperands();
  for (llvm::Function &function : module)
    if (llvm::DISubprogram *program = function.getSubprogram())
      if (!llvm::is_contained(units->operands(), program->getUnit()))
        units->addOperand(program->getUnit());
}

/// Lanes execute assembly together: LLVM must not move it to where fewer of them are.
void makeAssemblyConvergent(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (auto *call = dyn_cast<llvm::CallInst>(&instruction); call && call->isInlineAsm())
        call->setConvergent();
}

/// Stores of 16 bytes one by one as stores of four words: LLVM 19 would make four accesses of them
/// (loads it makes one).
void storeBytesAsWords(llvm::Module &module) {
  auto *bytes = llvm::FixedVectorType::get(llvm::Type::getInt8Ty(module.getContext()), 16);
  llvm::SmallVector<llvm::StoreInst *> stores;
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (auto *store = llvm::dyn_cast<llvm::StoreInst>(&instruction))
        if (store->getValueOperand()->getType() == bytes && store->getAlign() >= 16)
          stores.push_back(store);
  for (llvm::StoreInst *store : stores) {
    llvm::IRBuilder<> builder(store);
    llvm::Value *words =
        llvm::PoisonValue::get(llvm::FixedVectorType::get(builder.getInt32Ty(), 4));
    for (int word = 0; word < 4; ++word) {
      llvm::SmallVector<int> mask{4 * word, 4 * word + 1, 4 * word + 2, 4 * word + 3};
      llvm::Value *four = builder.CreateShuffleVector(store->getValueOperand(), mask);
      four = builder.CreateBitCast(four, builder.getInt32Ty());
      // Frozen, or the code generator puts the bytes together again.
      words = builder.CreateInsertElement(words, builder.CreateFreeze(four), word);
    }
    store->setOperand(0, words);
  }
}

/// Compiles the module's functions, and those of libdevice that they call, to the text of which a kernel's PTX is
/// made; `name` is what its private symbols begin with.
llvm::Expected<std::string> compile(llvm::Module &module, llvm::TargetMachine &machine,
                                    StringRef name, const llvm::MemoryBuffer *libdevice) {
  if (llvm::Error error = linkLibdevice(module, libdevice))
    return std::move(error);
  makeAssemblyConvergent(module);
  optimizeModule(module, machine, llvm::OptimizationLevel::O3, /*slp=*/true);
  storeBytesAsWords(module);
  renamePrivateSymbols(module, name);
  llvm::Expected<llvm::SmallString<0>> text =
      emitModule(module, machine, llvm::CodeGenFileType::AssemblyFile);
  if (!text)
    return text.takeError();
  return text->str().str();
}

/// The module's name is its kernel's where it has one only, and then it is a neutral one until the end.
KernelName nameOf(gpu::GPUModuleOp module) {
  auto kernels = llvm::make_filter_range(module.getOps<LLVM::LLVMFuncOp>(), [](Operation *op) {
    return op->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName());
  });
  return llvm::hasSingleElement(kernels) ? KernelName::of((*kernels.begin()).getName())
                                         : KernelName();
}

/// `source` is the module itself or a copy with line information or with expanded instructions.
llvm::Expected<std::string> emitOne(gpu::GPUModuleOp module, Operation *source,
                                    const Target &target, const PtxOptions &options,
                                    const llvm::MemoryBuffer *libdevice, CodeStore *store) {
  auto fail = [&](llvm::Error error) {
    return llvm::createStringError(module.getName().str() + " for " + target.name.str() + ": " +
                                   llvm::toString(std::move(error)));
  };
  auto machine = createTargetMachine(kTriple, target.llvmName(), target.features(),
                                     llvm::CodeGenOptLevel::Aggressive);
  if (!machine)
    return fail(machine.takeError());
  llvm::LLVMContext context;
  std::string messages;
  context.setDiagnosticHandler(std::make_unique<ErrorCollector>(messages));
  auto translated = translateDeviceModule(source, context, **machine);
  if (!translated)
    return fail(translated.takeError());
  if (options.lineInfo)
    keepLineDirectivesOnly(**translated);
  else
    llvm::StripDebugInfo(**translated);
  KernelName name = nameOf(module);
  name.neutralise(**translated);

  auto make = [&]() -> llvm::Expected<CachedCode> {
    llvm::Expected<std::string> text =
        compile(**translated, **machine, name.neutralised(module.getName()), libdevice);
    if (!text)
      return text.takeError();
    if (!messages.empty())
      return llvm::createStringError(messages);
    return CachedCode{std::vector<char>(text->begin(), text->end()), ""};
  };
  auto find = [&] {
    std::string text, library;
    llvm::raw_string_ostream(text) << **translated;
    if (libdevice && !libdeviceCalls(**translated).empty())
      library =
          llvm::utohexstr(llvm::xxh3_64bits(llvm::arrayRefFromStringRef(libdevice->getBuffer())));
    return store->getOwn(
        "PTX texts",
        {target.llvmName(), target.features(), library, name.neutralised(module.getName()), text},
        make);
  };
  llvm::Expected<CachedCode> code = store && store->keeps() ? find() : make();
  if (!code)
    return fail(llvm::createStringError(name.restored(llvm::toString(code.takeError()))));
  std::string text = name.restored(StringRef(code->data.data(), code->data.size()));
  llvm::Expected<std::string> named = withTarget(tidy(text), target);
  if (!named)
    return fail(named.takeError());
  return withClusters(std::move(*named), module);
}

/// A copy of the module with inline assembly, in which, where asked, each function has the scope
/// that line tables need. MLIR's pass for that takes builtin modules only.
llvm::Expected<OwningOpRef<ModuleOp>> expandedCopy(gpu::GPUModuleOp module, const Target &target,
                                                   bool lineInfo) {
  OwningOpRef<ModuleOp> copy = ModuleOp::create(module.getLoc(), module.getName());
  OpBuilder builder = OpBuilder::atBlockBegin(copy->getBody());
  for (Operation &op : module.getBody()->without_terminator())
    builder.clone(op);
  BackendPipelineOptions steps;
  steps.target = &target;
  if (llvm::Error error = runBackendPipeline(*copy, nvptxBackend, steps))
    return std::move(error);
  PassManager passes(module.getContext());
  if (lineInfo)
    passes.addPass(LLVM::createDIScopeForLLVMFuncOpPass());
  if (failed(passes.run(*copy)))
    return llvm::createStringError("cannot add line information to kernels");
  return std::move(copy);
}

/// Reads libdevice where one of the modules may call it; a missing file is an error only once a
/// function of it is needed.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
readLibdevice(ArrayRef<gpu::GPUModuleOp> modules, const PtxOptions &options) {
  bool needed = llvm::any_of(modules, [](gpu::GPUModuleOp module) {
    return llvm::any_of(module.getOps<LLVM::LLVMFuncOp>(), [](LLVM::LLVMFuncOp function) {
      return function.isExternal() && function.getName().starts_with(kLibdevicePrefix);
    });
  });
  if (!needed)
    return nullptr;
  llvm::Expected<std::string> path = findLibdevice(options.libdevice, options.ptxas);
  if (!path)
    return path.takeError();
  if (path->empty())
    return nullptr;
  auto buffer = llvm::MemoryBuffer::getFile(*path);
  if (!buffer)
    return llvm::createStringError("cannot read " + *path + ": " + buffer.getError().message());
  return std::move(*buffer);
}

/// The modules' positions by size, so that the last ones to be worked on are short work.
std::vector<size_t> largestFirst(ArrayRef<gpu::GPUModuleOp> modules) {
  std::vector<size_t> order, sizes;
  for (gpu::GPUModuleOp module : modules) {
    order.push_back(sizes.size());
    size_t &size = sizes.emplace_back(0);
    module->walk([&](Operation *) { ++size; });
  }
  llvm::sort(order, [&](size_t left, size_t right) {
    return std::pair(sizes[right], left) < std::pair(sizes[left], right);
  });
  return order;
}

} // namespace

llvm::Expected<std::string> cameo::findLibdevice(StringRef explicitPath, StringRef ptxas) {
  if (!explicitPath.empty()) {
    if (!llvm::sys::fs::exists(explicitPath))
      return llvm::createStringError("no libdevice at " + explicitPath.str());
    return explicitPath.str();
  }
  llvm::Expected<std::string> assembler = findPtxas(ptxas);
  if (!assembler)
    return assembler.takeError();
  if (assembler->empty())
    return std::string();
  // ptxas may be a link from a folder of the PATH into the toolkit.
  llvm::SmallString<128> real;
  if (llvm::sys::fs::real_path(*assembler, real))
    return std::string();
  StringRef home = llvm::sys::path::parent_path(llvm::sys::path::parent_path(real));
  // NVIDIA's folders, and those of Debian's nvidia-cuda-toolkit.
  for (StringRef folder : {"nvvm/libdevice", "lib/nvidia-cuda-toolkit/libdevice", "libdevice"}) {
    llvm::SmallString<128> path(home);
    llvm::sys::path::append(path, folder, kLibdeviceName);
    if (llvm::sys::fs::exists(path))
      return std::string(path);
  }
  return std::string();
}

llvm::Expected<std::string> cameo::emitPtx(gpu::GPUModuleOp module, const Target &target,
                                           const PtxOptions &options) {
  return emitPtx(ArrayRef(module), target, options);
}

llvm::Expected<std::string> cameo::emitPtx(ArrayRef<gpu::GPUModuleOp> modules, const Target &target,
                                           const PtxOptions &options) {
  std::vector<std::string> texts(modules.size());
  llvm::Error error =
      emitPtx(modules, target, options, /*store=*/nullptr, [&](size_t module, StringRef ptx) {
        texts[module] = ptx.str();
        return llvm::Error::success();
      });
  if (error)
    return std::move(error);
  return mergePtx(texts);
}

llvm::Error cameo::emitPtx(ArrayRef<gpu::GPUModuleOp> modules, const Target &target,
                           const PtxOptions &options, CodeStore *store, PtxDone done) {
  if (modules.empty())
    return llvm::Error::success();
  MLIRContext *context = modules.front()->getContext();
  registerDeviceTranslations(*context);
  initializeLlvmTargets();
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> libdevice = readLibdevice(modules, options);
  if (!libdevice)
    return libdevice.takeError();

  std::vector<OwningOpRef<ModuleOp>> copies(modules.size());
  llvm::Error early = llvm::Error::success();
  for (size_t i = 0; i < modules.size(); ++i) {
    if (!options.lineInfo && !hasPtxInstructions(modules[i]) &&
        !mayHaveNvvmInstructions(modules[i]) && !hasAccumulatorsToFence(modules[i]))
      continue;
    llvm::Expected<OwningOpRef<ModuleOp>> copy = expandedCopy(modules[i], target, options.lineInfo);
    if (copy)
      copies[i] = std::move(*copy);
    else
      early = llvm::joinErrors(std::move(early), copy.takeError());
  }
  if (early)
    return early;

  std::vector<std::string> errors(modules.size());
  std::vector<size_t> order = largestFirst(modules);
  parallelFor(context, 0, modules.size(), [&](size_t turn) {
    size_t i = order[turn];
    gpu::GPUModuleOp module = modules[i];
    Operation *source = copies[i] ? copies[i]->getOperation() : module.getOperation();
    llvm::Expected<std::string> text =
        emitOne(module, source, target, options, libdevice->get(), store);
    llvm::Error error = text ? done(i, *text) : text.takeError();
    if (error)
      errors[i] = llvm::toString(std::move(error));
  });
  for (const std::string &error : errors)
    if (!error.empty())
      return llvm::createStringError(error);
  return llvm::Error::success();
}

std::string cameo::mergePtx(ArrayRef<std::string> texts) {
  std::string merged, files;
  llvm::StringMap<unsigned> fileNumbers;
  for (StringRef text : texts) {
    // .version, .target and .address_size come first and once.
    size_t body = text.find(".address_size");
    body = body == StringRef::npos ? 0 : text.find('\n', body) + 1;
    if (!merged.empty())
      text = text.substr(body);
    if (!text.contains("\t.file\t")) {
      merged += text;
      continue;
    }
    // Each text numbers its files from 1.
    llvm::StringMap<unsigned> renumbered;
    SmallVector<StringRef> lines;
    text.split(lines, '\n', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
    for (StringRef line : lines) {
      StringRef rest = line;
      if (!rest.consume_front("\t.file\t"))
        continue;
      auto [number, path] = rest.split(' ');
      auto [known, isNew] = fileNumbers.try_emplace(path, fileNumbers.size() + 1);
      if (isNew)
        files += llvm::formatv("\t.file\t{0} {1}\n", known->second, path);
      renumbered[number] = known->second;
    }
    for (StringRef line : lines) {
      StringRef rest = line;
      if (rest.starts_with("\t.file\t"))
        continue;
      if (rest.consume_front("\t.loc\t")) {
        auto [number, place] = rest.split(' ');
        merged += llvm::formatv("\t.loc\t{0} {1}\n", renumbered.lookup(number), place);
        continue;
      }
      merged += line;
      merged += '\n';
    }
  }
  return merged + files;
}
