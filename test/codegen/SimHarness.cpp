// SPDX-License-Identifier: Apache-2.0
#include "test/codegen/SimHarness.h"

#include "codegen/Passes.h"
#include "codegen/sim/SimImage.h"
#include "dialects/kernel/Kernel.h"
#include "dialects/rt/Rt.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cmath>
#include <random>

using namespace cameo;
using namespace cameo::test;
using namespace mlir;

static sim::Options engineOptions(bool checked, sim::Form form) {
  sim::Options options;
  options.threads = 1;
  options.form = form;
  options.checks = checked ? sim::kCheckAll : 0;
  return options;
}

static SimKernels::Planned planOf(ModuleOp module, rt::LaunchOp launch) {
  SimKernels::Planned plan{launch.getKernel().getLeafReference().str(), "", 0, 0, 0};
  module.walk([&](gpu::GPUFuncOp function) {
    if (function.getName() != plan.kernel)
      return;
    plan.threads = function->getAttrOfType<DenseI32ArrayAttr>("kernel.block")[0];
    if (auto schedule = function->getAttrOfType<kernel::ScheduleAttr>("kernel.schedule"))
      plan.schedule = schedule.getFamily().str();
  });
  if (auto blocks = getConstantIntValue(launch.getGrid()[0]))
    plan.blocks = *blocks;
  if (launch.getShared())
    plan.shared = *getConstantIntValue(launch.getShared());
  return plan;
}

SimKernels::SimKernels(llvm::StringRef text, bool checked, llvm::StringRef target, sim::Form form)
    : engine(engineOptions(checked, form)) {
  DialectRegistry registry;
  registry.insert<arith::ArithDialect, func::FuncDialect, gpu::GPUDialect, linalg::LinalgDialect,
                  LLVM::LLVMDialect, math::MathDialect, memref::MemRefDialect, NVVM::NVVMDialect,
                  scf::SCFDialect, tensor::TensorDialect, vector::VectorDialect,
                  kernel::KernelDialect, rt::RtDialect>();
  MLIRContext context(registry);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context, "test.mlir");
  if (!module) {
    error = "does not parse";
    return;
  }
  PassManager schedules(&context);
  schedules.nest<rt::VariantOp>().addPass(createAssignSchedules());
  schedules.nest<rt::VariantOp>().addPass(createLowerDispatches());
  if (failed(schedules.run(*module))) {
    error = "has dispatches that cannot be lowered";
    return;
  }
  module->walk([&](rt::LaunchOp launch) { planned.push_back(planOf(*module, launch)); });
  llvm::SmallVector<gpu::GPUModuleOp> modules;
  module->walk([&](gpu::GPUModuleOp kernels) { modules.push_back(kernels); });
  for (gpu::GPUModuleOp kernels : modules) {
    PassManager passes(&context, gpu::GPUModuleOp::getOperationName());
    passes.addPass(createExpandTiles());
    passes.addPass(createLowerToDevice({target.str()}));
    if (failed(passes.run(kernels))) {
      error = "does not lower to the device stage";
      return;
    }
  }
  SimImageOptions options;
  options.checked = checked;
  options.forms = SimImageOptions::Forms::Both;
  llvm::Expected<llvm::SmallVector<char>> bytes = emitSimImage(modules, options);
  if (!bytes) {
    error = llvm::toString(bytes.takeError());
    return;
  }
  code = std::move(*bytes);
  image = sim::Image::load(code.data(), code.size(), error);
}

sim::LaunchResult SimKernels::launch(const char *kernel, unsigned blocks, unsigned threads,
                                     std::vector<const void *> parameters, unsigned sharedDynamic,
                                     std::vector<sim::BufferRange> buffers) {
  sim::Launch launch;
  launch.image = &image->table();
  launch.kernel = image->find(kernel);
  launch.grid[0] = blocks;
  launch.block[0] = threads;
  launch.sharedDynamic = sharedDynamic;
  launch.args = parameters.data();
  launch.buffers = std::move(buffers);
  return engine.launch(launch);
}

sim::LaunchResult SimKernels::launchPlanned(size_t number, std::vector<const void *> parameters,
                                            unsigned blocks) {
  const Planned &plan = planned[number];
  return launch(plan.kernel.c_str(), plan.blocks ? plan.blocks : blocks, plan.threads,
                std::move(parameters), plan.shared);
}

std::string cameo::test::variantOf(const std::string &file, const std::string &name) {
  auto buffer = llvm::MemoryBuffer::getFile(CAMEO_TEST_INPUTS "/../" + file);
  if (!buffer)
    return {};
  llvm::SmallVector<llvm::StringRef> pieces;
  (*buffer)->getBuffer().split(pieces, "// -----");
  for (llvm::StringRef piece : pieces)
    if (piece.contains("rt.variant @" + name + " target"))
      return piece.str();
  return {};
}

std::vector<float> cameo::test::randomFloats(size_t count, float least) {
  static std::mt19937 engine(1);
  std::uniform_real_distribution<float> values(least, 2.0f);
  std::vector<float> result(count);
  for (float &value : result)
    value = values(engine);
  return result;
}

std::vector<float> cameo::test::unwritten(size_t count) { return std::vector<float>(count, NAN); }

void cameo::test::expectNear(const std::vector<float> &got, const std::vector<double> &wanted,
                             double absolute) {
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_TRUE(std::abs(got[i] - wanted[i]) <= 1e-5 * std::abs(wanted[i]) + absolute)
        << "element " << i << " is " << got[i] << ", not " << wanted[i];
}
