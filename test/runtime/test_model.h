// A small model that uses most of what a plan can do, for the simulator's test images:
//   x [n, 64] f32, k i64 read on the host  ->  y = x with its first row doubled, w = 4 weights,
//   s = {n, k}
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_TEST_RUNTIME_TEST_MODEL_H
#define CAMEO_TEST_RUNTIME_TEST_MODEL_H

#include "payload_builder.h"

#include <fstream>
#include <iterator>
#include <string>

namespace payload_test {

inline Bytes readBytes(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

inline void writeBytes(const std::string &path, const char *data, size_t size) {
  std::ofstream(path, std::ios::binary).write(data, std::streamsize(size));
}

inline Bytes testPlan(const std::string &name = "main") {
  PlanBuilder p(name);
  p.input("x", CAMEO_FLOAT, {{-1, "n"}, {64}});
  p.input("k", CAMEO_INT64, {}, CAMEO_TENSOR_HOST);
  p.output("y", CAMEO_FLOAT, {{-1, "n"}, {64}});
  p.output("w", CAMEO_FLOAT, {{4}});
  p.output("s", CAMEO_INT64, {{2}});
  uint32_t copy = p.kernel("copy", 64, {CAMEO_ARG_BUFFER, CAMEO_ARG_BUFFER, CAMEO_ARG_I32});
  uint32_t scale = p.kernel("scale", 64, {CAMEO_ARG_BUFFER});
  uint32_t n = p.newRegister(), k = p.newRegister();
  uint32_t zero = p.constant(0), one = p.constant(1), two = p.constant(2), four = p.constant(4);
  uint32_t width = p.constant(64), rowBytes = p.constant(256), most = p.constant(100);
  p.op(CAMEO_OP_DIM, {n, 0, 0});
  p.op(CAMEO_OP_LOAD, {k, 1, zero});
  uint32_t fits = p.compute(CAMEO_OP_LE, n, most);
  p.op(CAMEO_OP_CHECK, {fits, p.string("input 'x': {0} rows, at most {1}"), n, most});
  p.op(CAMEO_OP_OUTPUT_SHAPE, {0, 2, n, width});
  p.op(CAMEO_OP_OUTPUT_SHAPE, {1, 1, four});
  p.op(CAMEO_OP_OUTPUT_SHAPE, {2, 1, two});
  uint32_t bytes = p.compute(CAMEO_OP_MUL, n, rowBytes);
  uint32_t offset = p.newRegister(), arena = p.newRegister(), live = p.newRegister();
  uint32_t sum = p.newRegister();
  p.op(CAMEO_OP_ARENA_REQUEST, {offset, bytes, 0, 1});
  p.op(CAMEO_OP_ARENA_LAYOUT, {arena, live, sum});
  p.op(CAMEO_OP_ARENA_SIZE, {arena});
  p.op(CAMEO_OP_ARENA_USE, {live, sum});
  uint32_t x = p.newBuffer(), a = p.newBuffer(), y = p.newBuffer(), weights = p.newBuffer();
  uint32_t w = p.newBuffer(), s = p.newBuffer();
  p.op(CAMEO_OP_BUF_INPUT, {x, 0});
  p.op(CAMEO_OP_BUF_ARENA, {a, offset, bytes});
  p.op(CAMEO_OP_BUF_OUTPUT, {y, 0});
  p.op(CAMEO_OP_BUF_WEIGHT, {weights, 16, 0, 16, 0});
  p.op(CAMEO_OP_BUF_OUTPUT, {w, 1});
  p.op(CAMEO_OP_BUF_OUTPUT, {s, 2});
  p.op(CAMEO_OP_LAUNCH, {copy, n, one, one, zero, x, a, zero});
  p.op(CAMEO_OP_LAUNCH, {copy, n, one, one, zero, a, y, zero});
  uint32_t any = p.compute(CAMEO_OP_MIN, n, one);
  p.op(CAMEO_OP_LAUNCH, {scale, any, one, one, zero, y}); // a grid of 0 is skipped
  p.op(CAMEO_OP_COPY, {w, weights, p.constant(16)});
  p.op(CAMEO_OP_WRITE, {s, CAMEO_INT64, 2, n, k});
  p.op(CAMEO_OP_END);
  return p.finish();
}

inline PayloadFile testModel(const std::string &imagePath, uint32_t imageFlags = 0) {
  PayloadBuilder builder("{\"compiler\": \"test 1.0\", \"precision\": \"fp32\"}");
  builder.section(CAMEO_SECTION_PLAN, testPlan());
  builder.section(CAMEO_SECTION_PLAN, testPlan("second"));
  builder.section(CAMEO_SECTION_SIM_IMAGE, readBytes(imagePath), 0, 80, imageFlags);
  const float values[8] = {0, 0, 0, 0, 1, 2, 3, 4};
  const char *begin = reinterpret_cast<const char *>(values);
  builder.weights(Bytes(begin, begin + sizeof values));
  return builder.finish();
}

/// x [n, 64] f32 -> y = x
inline PayloadFile rowModel(const std::string &imagePath) {
  PlanBuilder p;
  p.input("x", CAMEO_FLOAT, {{-1, "n"}, {64}});
  p.output("y", CAMEO_FLOAT, {{-1, "n"}, {64}});
  uint32_t copy = p.kernel("copy", 64, {CAMEO_ARG_BUFFER, CAMEO_ARG_BUFFER, CAMEO_ARG_I32});
  uint32_t n = p.newRegister(), zero = p.constant(0), one = p.constant(1), width = p.constant(64);
  uint32_t x = p.newBuffer(), y = p.newBuffer();
  p.op(CAMEO_OP_DIM, {n, 0, 0});
  p.op(CAMEO_OP_OUTPUT_SHAPE, {0, 2, n, width});
  p.op(CAMEO_OP_ARENA_SIZE, {zero});
  p.op(CAMEO_OP_BUF_INPUT, {x, 0});
  p.op(CAMEO_OP_BUF_OUTPUT, {y, 0});
  p.op(CAMEO_OP_LAUNCH, {copy, n, one, one, zero, x, y, zero});
  p.op(CAMEO_OP_END);
  PayloadBuilder builder;
  builder.section(CAMEO_SECTION_PLAN, p.finish());
  builder.section(CAMEO_SECTION_SIM_IMAGE, readBytes(imagePath), 0, 80);
  return builder.finish();
}

/// The file appended to an executable or a library, as cameoc does it.
inline Bytes appended(const Bytes &stub, const PayloadFile &payload) {
  Bytes file = stub;
  file.resize((file.size() + CAMEO_PAGE - 1) / CAMEO_PAGE * CAMEO_PAGE);
  CameoTrailer trailer;
  memcpy(&trailer, payload.data() + payload.size() - sizeof trailer, sizeof trailer);
  CameoPayloadHeader header;
  memcpy(&header, payload.data(), sizeof header);
  trailer.payload_offset = file.size();
  header.stub_hash = cameo::runtime::hash(file.data(), file.size());
  Bytes body(payload.data(), payload.data() + payload.size() - sizeof trailer);
  memcpy(body.data(), &header, sizeof header);
  trailer.header_hash = cameo::runtime::hash(body.data(), sizeof header + header.section_count *
                                                                              sizeof(CameoSection));
  file.insert(file.end(), body.begin(), body.end());
  auto *end = reinterpret_cast<const char *>(&trailer);
  file.insert(file.end(), end, end + sizeof trailer);
  return file;
}

} // namespace payload_test

#endif
