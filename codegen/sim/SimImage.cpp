// Device-stage modules ==> simulator image: each kernel an object file, compiled in parallel; then
// the table of kernels and sites, another; then one link.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/sim/SimImage.h"

#include "codegen/emit/LlvmModule.h"
#include "codegen/sim/EngineCalls.h"
#include "codegen/sim/MathCalls.h"
#include "codegen/sim/SimLink.h"
#include "codegen/sim/SimLower.h"
#include "codegen/sim/SimTables.h"
#include "codegen/sim/WarpForm.h"
#include "codegen/target/Target.h"
#include "runtime/sim/abi.h"

#include "mlir/IR/Threading.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/DataExtractor.h"
#include "llvm/Transforms/Utils/LowerMemIntrinsics.h"

using namespace mlir;
using namespace cameo;

namespace {

constexpr llvm::StringLiteral kTriple = "x86_64-unknown-linux-gnu";
constexpr llvm::StringLiteral kProcessor = "x86-64-v3";

/// Return address, spilled alignment and the like that frame sizes leave out.
constexpr uint64_t kFrameSlack = 256;

struct SimObject {
  llvm::SmallString<0> data;
  uint64_t stackBytes = 0;
  /// For each kernel: why it has no vectorised form; empty if it has one.
  std::vector<std::string> noWarpForm;
  std::string error;
};

llvm::Expected<std::unique_ptr<llvm::TargetMachine>> hostMachine() {
  llvm::TargetOptions options;
  options.EmitStackSizeSection = true;
  return createTargetMachine(kTriple, kProcessor, "", llvm::CodeGenOptLevel::Default, options);
}

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

/// Adds vectorised forms and takes away the scalar forms that are not needed then.
void makeWarpForms(const SimModule &module, llvm::Module &translated, llvm::TargetMachine &machine,
                   SimImageOptions::Forms forms, SimObject &object) {
  for (const SimKernel &kernel : module.kernels) {
    std::string problem = "it is traced";
    if (forms != SimImageOptions::Forms::Thread) {
      llvm::Function &thread = *translated.getFunction(kernel.name);
      problem.clear();
      if (makeWarpForm(thread, kernel.block, problem) && forms == SimImageOptions::Forms::Warp)
        thread.eraseFromParent();
    }
    object.noWarpForm.push_back(problem);
  }
  optimizeWarpForms(translated, machine);
}

/// Makes loops of what is left of the filling of local arrays: images call no memset.
void expandFills(llvm::Module &module) {
  for (llvm::Function &function : module) {
    llvm::SmallVector<llvm::MemSetInst *> fills;
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (auto *fill = llvm::dyn_cast<llvm::MemSetInst>(&instruction))
        fills.push_back(fill);
    if (fills.empty())
      continue;
    // Loops split the entry block, in which the vectorised form looks for private variables.
    llvm::BasicBlock &entry = function.getEntryBlock();
    for (llvm::Instruction &instruction : llvm::make_early_inc_range(entry))
      if (auto *variable = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
          variable && variable->isStaticAlloca())
        variable->moveBefore(&entry.front());
    for (llvm::MemSetInst *fill : fills) {
      llvm::expandMemSetAsLoop(fill);
      fill->eraseFromParent();
    }
  }
}

/// What is compiled for a module, optimised.
llvm::Expected<std::unique_ptr<llvm::Module>>
toLlvm(const SimModule &module, SimImageOptions::Forms forms, llvm::LLVMContext &context,
       llvm::TargetMachine &machine, SimObject &object) {
  auto translated = translateDeviceModule(module.module, context, machine);
  if (!translated)
    return translated.takeError();
  llvm::StripDebugInfo(**translated);
  if (llvm::Error error = bindMathCalls(**translated))
    return std::move(error);
  markCollectiveCalls(**translated);
  for (llvm::Function &function : **translated) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr(llvm::Attribute::NoUnwind);
    // Keeps LLVM from turning loops into calls of memset and memcpy, which the image lacks.
    function.addFnAttr("no-builtins");
  }
  // The vectoriser of straight-line code costs matrix kernels a third of their speed.
  optimizeModule(**translated, machine, llvm::OptimizationLevel::O2, /*slp=*/false);
  expandFills(**translated);
  makeWarpForms(module, **translated, machine, forms, object);
  return translated;
}

llvm::Error compile(const SimModule &module, SimImageOptions::Forms forms, SimObject &object) {
  auto machine = hostMachine();
  if (!machine)
    return machine.takeError();
  llvm::LLVMContext context;
  auto translated = toLlvm(module, forms, context, **machine, object);
  if (!translated)
    return translated.takeError();
  auto data = emitModule(**translated, **machine, llvm::CodeGenFileType::ObjectFile);
  if (!data)
    return data.takeError();
  object.data = std::move(*data);
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

llvm::Error cameo::printSimIr(ArrayRef<gpu::GPUModuleOp> modules, const SimImageOptions &options,
                              llvm::raw_ostream &output) {
  initializeLlvmTargets();
  auto machine = hostMachine();
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
    SimObject object;
    auto translated = toLlvm(*lowered, formsOf(options), context, **machine, object);
    if (!translated)
      return translated.takeError();
    for (auto [kernel, reason] : llvm::zip(lowered->kernels, object.noWarpForm))
      if (!reason.empty())
        output << "; " << kernel.name << " has no vectorised form: " << reason << "\n";
    (*translated)->print(output, nullptr);
  }
  return llvm::Error::success();
}

llvm::Expected<SmallVector<char>> cameo::emitSimImage(ArrayRef<gpu::GPUModuleOp> modules,
                                                      const SimImageOptions &options) {
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

  SimImageOptions::Forms forms = formsOf(options);
  std::vector<SimObject> objects(lowered.size());
  parallelFor(context, 0, lowered.size(), [&](size_t i) {
    if (options.cancelled && *options.cancelled)
      objects[i].error = "cancelled";
    else if (llvm::Error error = compile(lowered[i], forms, objects[i]))
      objects[i].error = llvm::toString(std::move(error));
  });
  auto machine = hostMachine();
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
      table.addKernel(kernel, !warpForm || forms == SimImageOptions::Forms::Both, warpForm,
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
