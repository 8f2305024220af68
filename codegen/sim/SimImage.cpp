// Device-stage modules ==> simulator image: each kernel an object file, compiled in parallel; then
// the table of kernels and sites, another; then one link.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/sim/SimImage.h"

#include "codegen/emit/CodeCache.h"
#include "codegen/emit/KernelName.h"
#include "codegen/emit/LlvmModule.h"
#include "codegen/sim/SimLink.h"
#include "codegen/sim/SimLower.h"
#include "codegen/sim/SimPasses.h"
#include "codegen/sim/SimPipeline.h"
#include "codegen/sim/SimTables.h"
#include "codegen/target/Target.h"
#include "runtime/sim/abi.h"

#include "mlir/IR/Threading.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/DataExtractor.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace cameo;

namespace {

/// Return address, spilled alignment and the like that frame sizes leave out.
constexpr uint64_t kFrameSlack = 256;

struct SimObject {
  llvm::SmallString<0> data;
  uint64_t stackBytes = 0;
  /// For each kernel: why it has no vectorised form; empty if it has one.
  std::vector<std::string> noWarpForm;
  std::string error;
};

/// The sum of all frames of an object: an upper bound, as nothing in it is recursive. The section's
/// rows are an address and the size as ULEB128.
llvm::Expected<uint64_t> stackBytes(StringRef data) {
  auto object = llvm::object::ObjectFile::createELFObjectFile(llvm::MemoryBufferRef(data, ""));
  if (!object)
    return object.takeError();
  uint64_t total = kFrameSlack;
  for (const llvm::object::SectionRef &section : (*object)->sections()) {
    llvm::Expected<StringRef> name = section.getName();
    if (!name)
      return name.takeError();
    if (*name != ".stack_sizes")
      continue;
    llvm::Expected<StringRef> contents = section.getContents();
    if (!contents)
      return contents.takeError();
    llvm::DataExtractor rows(*contents, /*IsLittleEndian=*/true, /*AddressSize=*/8);
    llvm::DataExtractor::Cursor cursor(0);
    while (cursor && cursor.tell() < contents->size()) {
      rows.getAddress(cursor);
      total += rows.getULEB128(cursor);
    }
    if (llvm::Error error = cursor.takeError())
      return std::move(error);
  }
  return total;
}

/// Collects errors of passes; the rest is LLVM's to print.
struct ErrorCollector : llvm::DiagnosticHandler {
  explicit ErrorCollector(std::string &errors) : errors(errors) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo &diagnostic) override {
    if (diagnostic.getSeverity() != llvm::DS_Error)
      return false;
    llvm::raw_string_ostream stream(errors);
    stream << (errors.empty() ? "" : "; ");
    llvm::DiagnosticPrinterRawOStream printer(stream);
    diagnostic.print(printer);
    return true;
  }
  std::string &errors;
};

/// Tells the steps which functions are kernels, and LLVM what code images may have.
void markFunctions(const SimModule &module, llvm::Module &translated) {
  for (llvm::Function &function : translated) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr(llvm::Attribute::NoUnwind);
    // Keeps LLVM from turning loops into calls of memset and memcpy, which the image lacks.
    function.addFnAttr("no-builtins");
  }
  for (const SimKernel &kernel : module.kernels)
    translated.getFunction(kernel.name)
        ->addFnAttr(
            kWarpBlockAttr,
            llvm::formatv("{0},{1},{2}", kernel.block[0], kernel.block[1], kernel.block[2]).str());
}

/// Why `kernel` has no vectorised form; empty if it has one.
std::string whyNoWarp(const llvm::Module &module, StringRef kernel, SimImageOptions::Forms forms) {
  if (forms == SimImageOptions::Forms::Thread)
    return "it is traced";
  if (module.getFunction((kernel + "$warp").str()))
    return {};
  return module.getFunction(kernel)->getFnAttribute(kWarpProblemAttr).getValueAsString().str();
}

/// Translates a module for the simulator, as it is before it is optimised.
llvm::Expected<std::unique_ptr<llvm::Module>>
toLlvm(const SimModule &module, llvm::LLVMContext &context, llvm::TargetMachine &machine) {
  auto translated = translateDeviceModule(module.module, context, machine);
  if (!translated)
    return translated.takeError();
  llvm::StripDebugInfo(**translated);
  markFunctions(module, **translated);
  return translated;
}

/// The options that decide on a kernel's code.
struct SimCode {
  explicit SimCode(const SimImageOptions &options);
  SimImageOptions::Forms forms;
  bool quick;
  bool checked;
};

llvm::Error optimise(llvm::Module &module, SimCode kind, llvm::TargetMachine &machine) {
  std::string errors;
  module.getContext().setDiagnosticHandler(std::make_unique<ErrorCollector>(errors));
  PassAnalyses analyses(&machine, simTuning());
  registerSimAnalyses(analyses.functions);
  buildSimPipeline(analyses.builder, kind.forms, kind.quick).run(module, analyses.modules);
  module.getContext().setDiagnosticHandler(std::make_unique<llvm::DiagnosticHandler>());
  return errors.empty() ? llvm::Error::success() : llvm::createStringError(errors);
}

/// The object file of one module. Where a module has one kernel, its object follows from all but its name,
/// which it has a neutral one for until the end.
llvm::Error compile(const SimModule &module, SimCode kind, CodeStore *store, SimObject &object) {
  auto machine = createSimMachine(kind.quick || kind.checked);
  if (!machine)
    return machine.takeError();
  llvm::LLVMContext context;
  auto translated = toLlvm(module, context, **machine);
  if (!translated)
    return translated.takeError();
  KernelName name =
      module.kernels.size() == 1 ? KernelName::of(module.kernels.front().name) : KernelName();
  name.neutralise(**translated);

  // The log has a line for each kernel, whyNoWarp's.
  auto make = [&]() -> llvm::Expected<CachedCode> {
    if (llvm::Error error = optimise(**translated, kind, **machine))
      return std::move(error);
    CachedCode code;
    for (const SimKernel &kernel : module.kernels)
      code.log += whyNoWarp(**translated, name.neutralised(kernel.name), kind.forms) + "\n";
    auto data = emitModule(**translated, **machine, llvm::CodeGenFileType::ObjectFile);
    if (!data)
      return data.takeError();
    code.data.assign(data->begin(), data->end());
    return code;
  };
  auto find = [&] {
    std::string text;
    llvm::raw_string_ostream(text) << **translated;
    return store->getOwn("simulated kernels",
                         {std::to_string(int(kind.forms)), std::to_string(kind.quick),
                          std::to_string(kind.checked), text},
                         make);
  };
  llvm::Expected<CachedCode> code = store && store->keeps() ? find() : make();
  if (!code)
    return llvm::createStringError(name.restored(llvm::toString(code.takeError())));
  if (!name.restore(code->data))
    return llvm::createStringError("LLVM's output is not an ELF file");
  object.data.assign(code->data.begin(), code->data.end());
  SmallVector<StringRef> reasons;
  StringRef(code->log).split(reasons, '\n');
  for (size_t i = 0; i < module.kernels.size(); ++i)
    object.noWarpForm.push_back(name.restored(reasons[i]));
  llvm::Expected<uint64_t> bytes = stackBytes(object.data);
  if (!bytes)
    return bytes.takeError();
  object.stackBytes = *bytes;
  return llvm::Error::success();
}

/// `cameo_sim_image` and what it refers to.
class ImageTable {
public:
  ImageTable(llvm::TargetMachine &machine) : module("cameo_sim_image", context), tables(module) {
    module.setTargetTriple(machine.getTargetTriple().str());
    module.setDataLayout(machine.createDataLayout());
  }

  void addKernel(const SimKernel &kernel, bool threadForm, bool warpForm, uint64_t stackBytes) {
    auto entry = [&](bool exists, const llvm::Twine &name) -> llvm::Constant * {
      if (!exists)
        return nullptr;
      llvm::Type *ptr = llvm::PointerType::getUnqual(context);
      auto *type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), {ptr, ptr}, false);
      return llvm::Function::Create(type, llvm::Function::ExternalLinkage, name, module);
    };
    kernels.push_back(tables.row(SimKernelInfoRow{
        /*name=*/kernel.name,
        /*thread_entry=*/entry(threadForm, kernel.name),
        /*shared_static=*/kernel.sharedStatic,
        /*thread_stack_bytes=*/stackBytes,
        /*warp_entry=*/entry(warpForm, kernel.name + "$warp"),
        /*warp_stack_bytes=*/stackBytes,
        /*first_block=*/blocks.size(),
        /*block_count=*/kernel.blocks.size(),
        /*cluster=*/kernel.cluster,
        /*read_only_parameters=*/kernel.readOnlyParameters,
        /*generic_proxy_only=*/kernel.genericProxyOnly,
        /*map_parameters=*/kernel.mapParameters,
    }));
    for (const CameoSimBasicBlock &block : kernel.blocks)
      blocks.push_back(tables.row(SimBasicBlockRow{llvm::ArrayRef(block.counts)}));
  }

  void addSite(const SimSite &site) {
    sites.push_back(tables.row(SimSiteRow{site.node, site.location, site.what}));
  }

  llvm::Expected<llvm::SmallString<0>> emit(llvm::TargetMachine &machine,
                                            const SimImageOptions &options) {
    llvm::Constant *image = tables.row(SimImageRow{
        /*version=*/CAMEO_SIM_ABI_VERSION,
        /*kernel_count=*/kernels.size(),
        /*site_count=*/sites.size(),
        /*checked=*/options.checked,
        /*kernels=*/tables.table(kernels),
        /*sites=*/tables.table(sites),
        /*blocks=*/tables.table(blocks),
        /*target=*/target(options.target),
        /*traced=*/options.traced,
    });
    new llvm::GlobalVariable(module, image->getType(), /*isConstant=*/true,
                             llvm::GlobalValue::ExternalLinkage, image, "cameo_sim_image");
    return emitModule(module, machine, llvm::CodeGenFileType::ObjectFile);
  }

private:
  llvm::Constant *target(const Target *target) {
    if (!target)
      return nullptr;
    return tables.table({tables.row(
        SimTargetRow{target->name, target->board->name, target->archNumber(), /*reserved=*/0})});
  }

  llvm::LLVMContext context;
  llvm::Module module;
  SimTables tables;
  std::vector<llvm::Constant *> kernels, sites, blocks;
};

} // namespace

/// Counters and traces look at single threads, checks do not.
static SimImageOptions::Forms formsOf(const SimImageOptions &options) {
  using Forms = SimImageOptions::Forms;
  if (options.traced)
    return Forms::Thread;
  return options.checked && options.forms == Forms::Warp ? Forms::Both : options.forms;
}

SimCode::SimCode(const SimImageOptions &options)
    : forms(formsOf(options)), quick(options.quick), checked(options.checked) {}

llvm::Error cameo::printSimIr(ArrayRef<gpu::GPUModuleOp> modules, const SimImageOptions &options,
                              llvm::raw_ostream &output) {
  initializeLlvmTargets();
  SimCode kind(options);
  auto machine = createSimMachine(kind.quick || kind.checked);
  if (!machine)
    return machine.takeError();
  std::vector<SimSite> sites;
  for (gpu::GPUModuleOp module : modules) {
    registerDeviceTranslations(*module.getContext());
    llvm::Expected<SimModule> lowered =
        lowerToSim(module, {options.target, options.checked, options.traced}, sites);
    if (!lowered)
      return lowered.takeError();
    llvm::LLVMContext context;
    auto translated = toLlvm(*lowered, context, **machine);
    if (!translated)
      return translated.takeError();
    if (llvm::Error error = optimise(**translated, kind, **machine))
      return error;
    for (const SimKernel &kernel : lowered->kernels)
      if (std::string reason = whyNoWarp(**translated, kernel.name, kind.forms); !reason.empty())
        output << "; " << kernel.name << " has no vectorised form: " << reason << "\n";
    (*translated)->print(output, nullptr);
  }
  return llvm::Error::success();
}

llvm::Expected<SmallVector<char>> cameo::emitSimImage(ArrayRef<gpu::GPUModuleOp> modules,
                                                      const SimImageOptions &options,
                                                      CodeStore *store) {
  if (modules.empty())
    return llvm::createStringError("a simulator image needs a kernel");
  MLIRContext *context = modules.front()->getContext();
  registerDeviceTranslations(*context);
  initializeLlvmTargets();

  // Sites are numbered through all kernels, so this part is sequential; it is the short one.
  std::vector<SimSite> sites;
  std::vector<SimModule> lowered;
  llvm::Error errors = llvm::Error::success();
  for (gpu::GPUModuleOp module : modules) {
    llvm::Expected<SimModule> result =
        lowerToSim(module, {options.target, options.checked, options.traced}, sites);
    if (result)
      lowered.push_back(std::move(*result));
    else
      errors = llvm::joinErrors(std::move(errors), result.takeError());
  }
  if (errors)
    return std::move(errors);

  SimCode kind(options);
  std::vector<SimObject> objects(lowered.size());
  parallelFor(context, 0, lowered.size(), [&](size_t i) {
    if (options.cancelled && *options.cancelled)
      objects[i].error = "cancelled";
    else if (llvm::Error error = compile(lowered[i], kind, store, objects[i]))
      objects[i].error = llvm::toString(std::move(error));
    else if (options.count)
      options.count->addOne();
  });
  auto machine = createSimMachine();
  if (!machine)
    return machine.takeError();
  ImageTable table(**machine);
  SmallVector<StringRef> inputs;
  for (auto [module, object] : llvm::zip(lowered, objects)) {
    if (!object.error.empty())
      return llvm::createStringError("compiling for the simulator: " + object.error);
    for (auto [kernel, noWarpForm] : llvm::zip(module.kernels, object.noWarpForm)) {
      bool warpForm = noWarpForm.empty();
      if (options.remarks && !warpForm && options.forms != SimImageOptions::Forms::Thread)
        mlir::emitRemark(module.module->getLoc())
            << kernel.name << ": simulated thread by thread: " << noWarpForm;
      table.addKernel(kernel, !warpForm || kind.forms == SimImageOptions::Forms::Both, warpForm,
                      object.stackBytes);
    }
    inputs.push_back(object.data);
  }
  for (const SimSite &site : sites)
    table.addSite(site);
  llvm::Expected<llvm::SmallString<0>> tableObject = table.emit(**machine, options);
  if (!tableObject)
    return tableObject.takeError();
  inputs.push_back(*tableObject);
  return linkSharedObject(inputs);
}
