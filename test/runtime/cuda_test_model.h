// A small model for the CUDA path's tests: a payload with a plan, weights and PTX.
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_TEST_RUNTIME_CUDA_TEST_MODEL_H
#define CAMEO_TEST_RUNTIME_CUDA_TEST_MODEL_H

#include "fake_cuda.h"
#include "payload_builder.h"

namespace cuda_test {

inline constexpr int weightCount = 60000;

inline const std::string ptx = ".version 7.5\n.target sm_75\n.address_size 64\n"
                               ".visible .entry scale(.param .u64 p, .param .f32 f, .param .u32 n)"
                               "{ ret; }\n"
                               ".visible .entry add(.param .u64 o, .param .u64 a, .param .u64 b, "
                               ".param .u64 n)\n{ ret; }\n";

inline void registerKernels() {
  fakecuda::registerKernel("scale", {8, 4, 4}, [](const fakecuda::Launch &launch) {
    for (int i = 0; i < launch.argument<int>(2); ++i)
      launch.pointer<float>(0)[i] *= launch.argument<float>(1);
  });
  fakecuda::registerKernel("add", {8, 8, 8, 8}, [](const fakecuda::Launch &launch) {
    for (int64_t i = 0; i < launch.argument<int64_t>(3); ++i)
      launch.pointer<float>(0)[i] = launch.pointer<float>(1)[i] + launch.pointer<float>(2)[i];
  });
}

// y = factor x + w for n <= 60,000 values; w[i] = i. x is copied to the arena and scaled there;
// what is scaled is a tap.
inline payload_test::Bytes makePlan(double factor = 2) {
  payload_test::PlanBuilder plan;
  plan.input("x", CAMEO_FLOAT, {{-1, "n"}});
  plan.output("y", CAMEO_FLOAT, {{-1, "n"}});
  plan.tap("scaled", CAMEO_FLOAT, {{-1, "n"}});
  uint32_t scale = plan.kernel("scale", 128, {CAMEO_ARG_BUFFER, CAMEO_ARG_F32, CAMEO_ARG_I32});
  uint32_t add = plan.kernel("add", 256,
                             {CAMEO_ARG_BUFFER, CAMEO_ARG_BUFFER, CAMEO_ARG_BUFFER, CAMEO_ARG_I64});
  uint32_t n = plan.newRegister();
  plan.op(CAMEO_OP_DIM, {n, 0, 0});
  uint32_t bytes = plan.compute(CAMEO_OP_MUL, n, plan.constant(4));
  uint32_t zero = plan.constant(0), one = plan.constant(1), times = plan.constantDouble(factor);
  uint32_t blocks = plan.compute(CAMEO_OP_CEILDIV, n, plan.constant(256));
  plan.op(CAMEO_OP_OUTPUT_SHAPE, {0, 1, n});
  plan.op(CAMEO_OP_ARENA_SIZE, {bytes});
  uint32_t scaled = plan.newBuffer(), x = plan.newBuffer(), y = plan.newBuffer(),
           w = plan.newBuffer();
  plan.op(CAMEO_OP_BUF_ARENA, {scaled, zero, bytes});
  plan.op(CAMEO_OP_BUF_INPUT, {x, 0});
  plan.op(CAMEO_OP_BUF_OUTPUT, {y, 0});
  plan.op(CAMEO_OP_BUF_WEIGHT, {w, 0, 0, weightCount * 4, 0});
  plan.op(CAMEO_OP_COPY, {scaled, x, bytes});
  plan.op(CAMEO_OP_LAUNCH, {scale, one, one, one, zero, scaled, times, n});
  plan.op(CAMEO_OP_TAP, {0, scaled, 1, n});
  plan.op(CAMEO_OP_LAUNCH, {add, blocks, one, one, zero, y, scaled, w, n});
  plan.op(CAMEO_OP_END);
  return plan.finish();
}

inline payload_test::Bytes makeWeights() {
  std::vector<float> w(weightCount);
  for (int i = 0; i < weightCount; ++i)
    w[i] = static_cast<float>(i);
  auto *begin = reinterpret_cast<const char *>(w.data());
  return {begin, begin + w.size() * sizeof(float)};
}

inline payload_test::PayloadFile makeModel() {
  payload_test::PayloadBuilder builder;
  builder.section(CAMEO_SECTION_PLAN, makePlan());
  builder.ptx(ptx, 75);
  builder.weights(makeWeights());
  return builder.finish();
}

// Cubins with these kernels that triple, in a variant of their own, beside the PTX that doubles.
inline payload_test::PayloadFile
makeModelWithCubin(const std::vector<std::vector<std::string>> &pieces = {{"scale", "add"}}) {
  payload_test::PayloadBuilder builder;
  builder.section(CAMEO_SECTION_PLAN, makePlan(), 0);
  builder.ptx(ptx, 75, 0);
  builder.section(CAMEO_SECTION_PLAN, makePlan(3), 1);
  for (const std::vector<std::string> &kernels : pieces)
    builder.section(CAMEO_SECTION_CUBIN, fakecuda::makeCubin(80, kernels), 1, 80);
  builder.weights(makeWeights());
  return builder.finish();
}

} // namespace cuda_test

#endif
