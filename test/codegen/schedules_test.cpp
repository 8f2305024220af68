// Kernels of every schedule class, compiled and run on the simulator with all its checks, against
// references in double.
//
// SPDX-License-Identifier: Apache-2.0
#include "test/codegen/SimHarness.h"

#include "llvm/Support/FormatVariadic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

using namespace cameo;
using namespace cameo::test;

namespace {

/// A variant whose function is one dispatch of the tensors `ins` (their types) into `out`: `body`
/// calls them %a0, %a1, ... and %o. `before` is in front of the body, outside of the dispatch.
std::string variant(const std::string &maps, std::vector<std::string> ins, const std::string &out,
                    const std::string &body, const std::string &schedule = "",
                    const std::string &before = "", const std::string &sizes = "") {
  std::string arguments, names, types, inside;
  for (size_t i = 0; i < ins.size(); ++i) {
    const char *comma = i ? ", " : "";
    arguments += llvm::formatv("{0}%x{1}: {2}", comma, i, ins[i]);
    names += llvm::formatv("{0}%x{1}", comma, i);
    types += comma + ins[i];
    inside += llvm::formatv("%a{0}: {1}, ", i, ins[i]);
  }
  return maps + "\nrt.variant @v target \"sm_80\" {\n  func.func @main(" + arguments + ") -> " +
         out + " {\n" + before + "    %e = tensor.empty(" + sizes + ") : " + out +
         "\n    %r = kernel.dispatch ins(" + names + " : " + types + ") outs(%e : " + out + ")" +
         (schedule.empty() ? "" : " schedule " + schedule) + " {\n    ^bb0(" + inside +
         "%o: " + out + "):\n" + body + "    } -> " + out + "\n    return %r : " + out +
         "\n  }\n}\n";
}

//===-- rows, columns -------------------------------------------------------------------------===//

/// x / sum(x) along the middle dimension of [outer, length, inner], the last one where `inner` is
/// 0; a `length` of 0 and an `inner` of -1 are known only at run time.
std::string shares(int outer, int length, int inner, const std::string &schedule) {
  std::string size = length ? std::to_string(length) : "?";
  std::string columns = inner < 0 ? "?x" : inner ? std::to_string(inner) + "x" : "";
  std::string type = llvm::formatv("tensor<{0}x{1}x{2}f32>", outer, size, columns);
  std::string row = llvm::formatv("tensor<{0}x{1}f32>", outer, columns);
  std::string kinds = "\"parallel\", \"reduction\"", all = "\"parallel\", \"parallel\"";
  std::string body = llvm::formatv(R"(
      %z = arith.constant 0.0 : f32
      {4}
      %f = linalg.fill ins(%z : f32) outs(%s : {1}) -> {1}
      %g = linalg.generic {{indexing_maps = [#all, #row], iterator_types = [{2}]}
          ins(%a0 : {0}) outs(%f : {1}) {{
      ^bb1(%v: f32, %w: f32):
        %q = arith.addf %w, %v : f32
        linalg.yield %q : f32
      } -> {1}
      %h = linalg.generic {{indexing_maps = [#all, #row, #all], iterator_types = [{3}]}
          ins(%a0, %g : {0}, {1}) outs(%o : {0}) {{
      ^bb1(%v: f32, %t: f32, %w: f32):
        %q = arith.divf %v, %t : f32
        linalg.yield %q : f32
      } -> {0}
      kernel.yield %h : {0}
)",
                                   type, row, inner ? kinds + ", \"parallel\"" : kinds,
                                   inner ? all + ", \"parallel\"" : all,
                                   inner < 0 ? "%c2 = arith.constant 2 : index\n"
                                               "      %m = tensor.dim %a0, %c2 : " +
                                                   type + "\n      %s = tensor.empty(%m) : " + row
                                             : "%s = tensor.empty() : " + row);
  std::string before =
      llvm::formatv("    %d = arith.constant {1} : index\n    %n = tensor.dim %x0, %d : {0}\n",
                    type, inner < 0 ? 2 : 1);
  bool open = length == 0 || inner < 0;
  return variant(inner ? "#all = affine_map<(i, j, k) -> (i, j, k)>\n"
                         "#row = affine_map<(i, j, k) -> (i, k)>"
                       : "#all = affine_map<(i, j) -> (i, j)>\n#row = affine_map<(i, j) -> (i)>",
                 {type}, type, body, schedule, open ? before : "", open ? "%n" : "");
}

std::vector<double> expectedShares(const std::vector<float> &x, int outer, int length, int inner) {
  std::vector<double> result(x.size());
  for (int i = 0; i < outer; ++i)
    for (int k = 0; k < inner; ++k) {
      double sum = 0;
      for (int j = 0; j < length; ++j)
        sum += x[(i * length + j) * inner + k];
      for (int j = 0; j < length; ++j)
        result[(i * length + j) * inner + k] = x[(i * length + j) * inner + k] / sum;
    }
  return result;
}

struct RowCase {
  const char *what;
  int outer, length, inner; // inner 0: there is no such dimension
  const char *family, *schedule;
};

class Rows : public testing::TestWithParam<RowCase> {};

TEST_P(Rows, AreComputed) {
  const RowCase &test = GetParam();
  SimKernels kernels(shares(test.outer, test.length, test.inner, test.schedule), true);
  ASSERT_EQ(kernels.error, "");
  ASSERT_EQ(kernels.planned.size(), 1u);
  EXPECT_EQ(kernels.planned[0].schedule, test.family);
  int inner = std::max(test.inner, 1);
  std::vector<float> x = randomFloats(test.outer * test.length * inner), y = unwritten(x.size());
  const float *in = kernels.share(x, "x");
  float *out = kernels.share(y, "y");
  sim::LaunchResult result = kernels.launchPlanned(0, {&in, &out});
  ASSERT_TRUE(result.ok()) << result.error;
  expectNear(y, expectedShares(x, test.outer, test.length, inner));
}

INSTANTIATE_TEST_SUITE_P(
    Schedules, Rows,
    testing::Values(
        RowCase{"Whole", 3, 1024, 0, "rows", ""}, RowCase{"CutOff", 3, 1000, 0, "rows", ""},
        RowCase{"Unaligned", 5, 197, 0, "rows", ""}, RowCase{"Pairs", 5, 198, 0, "rows", ""},
        RowCase{"Loop", 2, 12000, 0, "rows", ""},
        RowCase{"SeveralABlock", 7, 40, 0, "rows",
                "<\"rows\", {rows = 4 : i64, threads = 64 : i64, vector = 4 : i64}>"},
        RowCase{"OneThreadEach", 37, 12, 0, "rows",
                "<\"rows\", {rows = 32 : i64, threads = 32 : i64, vector = 2 : i64}>"},
        RowCase{"Few", 2, 37, 5, "columns", ""}, RowCase{"Many", 3, 9, 200, "columns", ""},
        RowCase{"ThreadEachAcross", 2, 12, 70, "columns",
                "<\"columns\", {rows = 64 : i64, threads = 64 : i64, vector = 1 : i64}>"},
        RowCase{"SharedAcross", 5, 300, 3, "columns",
                "<\"columns\", {rows = 4 : i64, threads = 256 : i64, vector = 1 : i64}>"},
        RowCase{"PairsAcross", 2, 12, 70, "columns",
                "<\"columns\", {rows = 64 : i64, threads = 64 : i64, vector = 2 : i64}>"},
        RowCase{"FoursAcross", 3, 33, 36, "columns",
                "<\"columns\", {rows = 32 : i64, threads = 256 : i64, vector = 4 : i64}>"},
        RowCase{"WideSides", 3, 5, 260, "columns",
                "<\"columns\", {rows = 256 : i64, threads = 128 : i64, vector = 4 : i64}>"},
        RowCase{"OneThreadBeside", 3, 70, 8, "columns",
                "<\"columns\", {rows = 8 : i64, threads = 64 : i64, vector = 8 : i64}>"},
        RowCase{"ChosenWide", 16, 24, 320, "columns", ""},
        RowCase{"LoopOfOneThread", 2, 12, 70, "map",
                "<\"map\", {flat = false, threads = 128 : i64, vector = 2 : i64}>"}),
    [](const testing::TestParamInfo<RowCase> &info) { return info.param.what; });

TEST(Schedules, RowsOfSizesOfRunTime) {
  SimKernels kernels(shares(6, 0, 0, ""), true);
  ASSERT_EQ(kernels.error, "");
  // For indices of 32 bits, and of 64 for what needs them.
  ASSERT_EQ(kernels.planned.size(), 2u);
  EXPECT_EQ(kernels.planned[0].schedule, "rows");
  std::vector<float> x = randomFloats(6 * 512), y(x.size());
  const float *in = kernels.share(x, "x");
  float *out = kernels.share(y, "y");
  for (uint32_t length : {512u, 64u, 63u, 4u, 1u}) {
    uint64_t wide = length;
    std::vector<float> used(x.begin(), x.begin() + 6 * length);
    for (int number : {0, 1}) {
      SCOPED_TRACE(llvm::formatv("length {0}, kernel {1}", length, number).str());
      std::fill(y.begin(), y.end(), NAN);
      const void *size = number == 0 ? static_cast<const void *>(&length) : &wide;
      sim::LaunchResult result = kernels.launchPlanned(number, {&in, &out, size, size}, 6);
      ASSERT_TRUE(result.ok()) << result.error;
      expectNear({y.begin(), y.begin() + 6 * length}, expectedShares(used, 6, length, 1));
    }
  }
}

/// Where the largest of each of `rows` rows of 600 is: rows as they are, or beside one another.
void checkSearch(int rows, bool across, const std::string &schedule) {
  std::string all = across ? llvm::formatv("tensor<600x{0}xf32>", rows)
                           : llvm::formatv("tensor<{0}x600xf32>", rows);
  SimKernels kernels(
      variant(std::string("#row = affine_map<(i, j) -> (i)>\n#all = affine_map<(i, j) -> ") +
                  (across ? "(j, i)>" : "(i, j)>"),
              {all}, llvm::formatv("tensor<{0}xi64>", rows),
              llvm::formatv(R"(
      %z = arith.constant 0xFF800000 : f32
      %i = arith.constant 0 : i64
      %s = tensor.empty() : tensor<{0}xf32>
      %f = linalg.fill ins(%z : f32) outs(%s : tensor<{0}xf32>) -> tensor<{0}xf32>
      %p = linalg.fill ins(%i : i64) outs(%o : tensor<{0}xi64>) -> tensor<{0}xi64>
      %g:2 = linalg.generic {{indexing_maps = [#all, #row, #row],
          iterator_types = ["parallel", "reduction"]}
          ins(%a0 : {1}) outs(%f, %p : tensor<{0}xf32>, tensor<{0}xi64>) {{
      ^bb1(%v: f32, %w: f32, %n: i64):
        %c = arith.cmpf ogt, %v, %w : f32
        %j = linalg.index 1 : index
        %k = arith.index_cast %j : index to i64
        %q = arith.select %c, %v, %w : f32
        %m = arith.select %c, %k, %n : i64
        linalg.yield %q, %m : f32, i64
      } -> (tensor<{0}xf32>, tensor<{0}xi64>)
      kernel.yield %g#1 : tensor<{0}xi64>
)",
                            rows, all),
              schedule),
      true);
  ASSERT_EQ(kernels.error, "");
  EXPECT_EQ(kernels.planned[0].schedule, across ? "columns" : "rows");
  std::vector<float> x = randomFloats(rows * 600);
  for (float &value : x)
    value = std::floor(value * 4); // each value many times
  std::vector<int64_t> y(rows, -1);
  const float *in = kernels.share(x, "x");
  int64_t *out = kernels.share(y, "y");
  sim::LaunchResult result = kernels.launchPlanned(0, {&in, &out});
  ASSERT_TRUE(result.ok()) << result.error;
  for (int i = 0; i < rows; ++i) {
    int best = 0;
    auto at = [&](int j) { return across ? x[j * rows + i] : x[i * 600 + j]; };
    for (int j = 1; j < 600; ++j)
      best = at(j) > at(best) ? j : best;
    EXPECT_EQ(y[i], best) << "row " << i;
  }
}

TEST(Schedules, SearchFindsTheFirstOfEqualOnes) {
  checkSearch(9, false, "");
  checkSearch(9, true, "");
  checkSearch(12, true, "<\"columns\", {rows = 16 : i64, threads = 128 : i64, vector = 4 : i64}>");
}

//===-- columns of each type ------------------------------------------------------------------===//

/// The largest of each column of [37, columns], by vectors of `vector` columns.
template <typename T>
void checkLargest(const std::string &type, const char *combiner, const char *least, int columns,
                  int vector, std::vector<T> x) {
  SCOPED_TRACE(type + " by " + std::to_string(vector));
  std::string all = llvm::formatv("tensor<37x{0}x{1}>", columns, type);
  std::string row = llvm::formatv("tensor<{0}x{1}>", columns, type);
  SimKernels kernels(
      variant("#all = affine_map<(i, j) -> (i, j)>\n#row = affine_map<(i, j) -> (j)>", {all}, row,
              llvm::formatv(R"(
      %z = arith.constant {3} : {2}
      %f = linalg.fill ins(%z : {2}) outs(%o : {1}) -> {1}
      %g = linalg.generic {{indexing_maps = [#all, #row], iterator_types = ["reduction", "parallel"]}
          ins(%a0 : {0}) outs(%f : {1}) {{
      ^bb1(%v: {2}, %w: {2}):
        %q = {4} %v, %w : {2}
        linalg.yield %q : {2}
      } -> {1}
      kernel.yield %g : {1}
)",
                            all, row, type, least, combiner),
              llvm::formatv("<\"columns\", {{rows = {0} : i64, threads = 128 : i64, "
                            "vector = {1} : i64}>",
                            4 * vector, vector)),
      true);
  ASSERT_EQ(kernels.error, "");
  x.resize(37 * columns);
  std::vector<T> y(columns);
  const T *in = kernels.share(x, "x");
  T *out = kernels.share(y, "y");
  sim::LaunchResult result = kernels.launchPlanned(0, {&in, &out});
  ASSERT_TRUE(result.ok()) << result.error;
  for (int column = 0; column < columns; ++column) {
    T largest = x[column];
    for (int i = 1; i < 37; ++i)
      largest = std::max(largest, x[i * columns + column]);
    EXPECT_EQ(y[column], largest) << "column " << column;
  }
}

template <typename T> std::vector<T> randomValues(int low, int high) {
  std::mt19937 engine(3);
  std::uniform_int_distribution<int> values(low, high);
  std::vector<T> result(37 * 80);
  for (T &value : result)
    value = values(engine);
  return result;
}

TEST(Schedules, ColumnsOfEachType) {
  for (int vector : {1, 4, 16})
    checkLargest("i8", "arith.maxsi", "-128", 80, vector, randomValues<int8_t>(-128, 127));
  for (int vector : {2, 8}) // positive halves are ordered as their bits are
    checkLargest("f16", "arith.maximumf", "0.0", 40, vector, randomValues<uint16_t>(0, 0x7bff));
  checkLargest("f64", "arith.maximumf", "-1000.0", 38, 2, randomValues<double>(-900, 900));
  checkLargest("i64", "arith.maxsi", "-1000", 12, 4, randomValues<int64_t>(-900, 900));
}

TEST(Schedules, ColumnsOfSizesOfRunTime) {
  std::string schedule = "<\"columns\", {rows = 32 : i64, threads = 128 : i64, vector = 4 : i64}>";
  SimKernels kernels(shares(2, 9, -1, schedule), true);
  ASSERT_EQ(kernels.error, "");
  ASSERT_EQ(kernels.planned.size(), 2u);
  std::vector<float> x = randomFloats(2 * 9 * 100), y(x.size());
  const float *in = kernels.share(x, "x");
  float *out = kernels.share(y, "y");
  for (uint32_t inner : {100u, 64u, 63u, 4u, 1u}) {
    uint64_t wide = inner;
    // Vectors of rows where their number is a multiple, else one row per thread.
    unsigned blocks = (2 * inner + (inner % 4 ? 7 : 31)) / (inner % 4 ? 8 : 32);
    std::vector<float> used(x.begin(), x.begin() + 18 * inner);
    for (int number : {0, 1}) {
      SCOPED_TRACE(llvm::formatv("{0} columns, kernel {1}", inner, number).str());
      std::fill(y.begin(), y.end(), NAN);
      const void *size = number == 0 ? static_cast<const void *>(&inner) : &wide;
      sim::LaunchResult result = kernels.launchPlanned(number, {&in, &out, size, size}, blocks);
      ASSERT_TRUE(result.ok()) << result.error;
      expectNear({y.begin(), y.begin() + 18 * inner}, expectedShares(used, 2, 9, inner));
    }
  }
}

//===-- contraction ---------------------------------------------------------------------------===//

/// relu(x y + bias + residual), the elementwise part as two generics; the sum's operands in either
/// order. 40 x 36 is not a multiple of any tile. Deep tiles are multiplied in a loop, and large
/// ones are in dynamic shared memory.
void checkBiasAndResidual(bool productFirst, const std::string &tile = "") {
  SCOPED_TRACE(tile + (productFirst ? " product first" : " residual first"));
  std::string schedule = tile.empty()
                             ? ""
                             : "<\"contraction\", {column_vector = array<i64: 4, 1>, row_vector = "
                               "array<i64: 1, 4>, store_vector = 4 : i64, " +
                                   tile + "}>";
  std::string maps = "#a = affine_map<(i, j, k) -> (i, k)>\n#b = affine_map<(i, j, k) -> (k, j)>\n"
                     "#c = affine_map<(i, j, k) -> (i, j)>\n#id = affine_map<(i, j) -> (i, j)>\n"
                     "#row = affine_map<(i, j) -> (j)>";
  std::string out = "tensor<40x36xf32>";
  std::string body = llvm::formatv(R"(
      %z = arith.constant 0.0 : f32
      %f = linalg.fill ins(%z : f32) outs(%o : {0}) -> {0}
      %g = linalg.generic {{indexing_maps = [#a, #b, #c],
                            iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a0, %a1 : tensor<40x24xf32>, tensor<24x36xf32>) outs(%f : {0}) {{
      ^bb1(%u: f32, %v: f32, %s: f32):
        %q = math.fma %u, %v, %s : f32
        linalg.yield %q : f32
      } -> {0}
      %h = linalg.generic {{indexing_maps = [#row, #id, #id],
                            iterator_types = ["parallel", "parallel"]}
          ins(%a2, %g : tensor<36xf32>, {0}) outs(%o : {0}) {{
      ^bb1(%u: f32, %v: f32, %s: f32):
        %q = arith.addf %v, %u : f32
        linalg.yield %q : f32
      } -> {0}
      %r = linalg.generic {{indexing_maps = [#id, #id, #id],
                            iterator_types = ["parallel", "parallel"]}
          ins({1} : {0}, {0}) outs(%o : {0}) {{
      ^bb1(%u: f32, %v: f32, %s: f32):
        %q = arith.addf %u, %v : f32
        %m = arith.maximumf %q, %z : f32
        linalg.yield %m : f32
      } -> {0}
      kernel.yield %r : {0}
)",
                                   out, productFirst ? "%h, %a3" : "%a3, %h");
  SimKernels kernels(variant(maps,
                             {"tensor<40x24xf32>", "tensor<24x36xf32>", "tensor<36xf32>", out}, out,
                             body, schedule),
                     true);
  ASSERT_EQ(kernels.error, "");
  EXPECT_EQ(kernels.planned[0].schedule, "contraction");
  EXPECT_EQ(kernels.planned[0].shared != 0, llvm::StringRef(tile).contains("128, 128"));
  std::vector<float> x = randomFloats(40 * 24), w = randomFloats(24 * 36), bias = randomFloats(36);
  std::vector<float> residual = randomFloats(40 * 36), y = unwritten(40 * 36);
  for (size_t i = 0; i < residual.size(); i += 3) // some sums are negative
    residual[i] = -1000;
  std::vector<double> wanted;
  for (int i = 0; i < 40; ++i)
    for (int j = 0; j < 36; ++j) {
      double sum = double(bias[j]) + residual[i * 36 + j];
      for (int k = 0; k < 24; ++k)
        sum += double(x[i * 24 + k]) * w[k * 36 + j];
      wanted.push_back(std::max(sum, 0.0));
    }
  const float *a = kernels.share(x, "x"), *b = kernels.share(w, "w");
  const float *c = kernels.share(bias, "bias"), *d = kernels.share(residual, "residual");
  float *result = kernels.share(y, "y");
  sim::LaunchResult launched = kernels.launchPlanned(0, {&a, &b, &c, &d, &result});
  ASSERT_TRUE(launched.ok()) << launched.error;
  expectNear(y, wanted);
}

TEST(Schedules, ProductsWithABiasAndAResidualAreComputed) {
  checkBiasAndResidual(/*productFirst=*/true);
  checkBiasAndResidual(/*productFirst=*/false);
  checkBiasAndResidual(true, "thread = array<i64: 4, 4>, tile = array<i64: 32, 32, 20>");
  checkBiasAndResidual(true, "thread = array<i64: 8, 8>, tile = array<i64: 128, 128, 32>");
}

//===-- window --------------------------------------------------------------------------------===//

/// A depthwise convolution, 3 x 3 with padding, of 2 x 3 images of 12 x `width`.
void checkWindow(int width, int stride, const std::string &schedule) {
  int rows = (12 - 1) / stride + 1, columns = (width - 1) / stride + 1;
  std::string in = llvm::formatv("tensor<2x3x12x{0}xf32>", width);
  std::string padded = llvm::formatv("tensor<2x3x14x{0}xf32>", width + 2);
  std::string out = llvm::formatv("tensor<2x3x{0}x{1}xf32>", rows, columns);
  std::string maps =
      llvm::formatv("#in = affine_map<(n, c, y, x, ky, kx) -> (n, c, y * {0} + ky, x * {0} + kx)>\n"
                    "#w = affine_map<(n, c, y, x, ky, kx) -> (c, ky, kx)>\n"
                    "#out = affine_map<(n, c, y, x, ky, kx) -> (n, c, y, x)>",
                    stride);
  std::string body = llvm::formatv(R"(
      %z = arith.constant 0.0 : f32
      %p = tensor.pad %a0 low[0, 0, 1, 1] high[0, 0, 1, 1] {{
      ^bb1(%i0: index, %i1: index, %i2: index, %i3: index):
        tensor.yield %z : f32
      } : {0} to {1}
      %f = linalg.fill ins(%z : f32) outs(%o : {2}) -> {2}
      %g = linalg.generic {{indexing_maps = [#in, #w, #out], iterator_types =
          ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
          ins(%p, %a1 : {1}, tensor<3x3x3xf32>) outs(%f : {2}) {{
      ^bb1(%u: f32, %v: f32, %s: f32):
        %q = math.fma %u, %v, %s : f32
        linalg.yield %q : f32
      } -> {2}
      kernel.yield %g : {2}
)",
                                   in, padded, out);
  SimKernels kernels(variant(maps, {in, "tensor<3x3x3xf32>"}, out, body, schedule), true);
  ASSERT_EQ(kernels.error, "");
  EXPECT_EQ(kernels.planned[0].schedule, "window");
  std::vector<float> x = randomFloats(2 * 3 * 12 * width), w = randomFloats(27);
  std::vector<float> y = unwritten(2 * 3 * rows * columns);
  std::vector<double> wanted;
  for (int image = 0; image < 6; ++image)
    for (int row = 0; row < rows; ++row)
      for (int column = 0; column < columns; ++column) {
        double sum = 0;
        for (int tap = 0; tap < 9; ++tap) {
          int r = row * stride + tap / 3 - 1, c = column * stride + tap % 3 - 1;
          if (r >= 0 && r < 12 && c >= 0 && c < width)
            sum += double(x[(image * 12 + r) * width + c]) * w[image % 3 * 9 + tap];
        }
        wanted.push_back(sum);
      }
  const float *first = kernels.share(x, "x"), *second = kernels.share(w, "w");
  float *result = kernels.share(y, "y");
  sim::LaunchResult launched = kernels.launchPlanned(0, {&first, &second, &result});
  ASSERT_TRUE(launched.ok()) << launched.error;
  expectNear(y, wanted);
}

TEST(Schedules, WindowsAreComputed) {
  for (int vector : {1, 2, 4, 8})
    for (int stride : {1, 2}) {
      SCOPED_TRACE(llvm::formatv("vector {0}, stride {1}", vector, stride).str());
      checkWindow(16, stride,
                  llvm::formatv("<\"window\", {{threads = 64 : i64, vector = {0} : i64}>", vector));
    }
  for (int vector : {3, 5}) // stored one by one
    checkWindow(15, 1,
                llvm::formatv("<\"window\", {{threads = 128 : i64, vector = {0} : i64}>", vector));
}

//===-- scan ----------------------------------------------------------------------------------===//

TEST(Schedules, ScansAreComputed) {
  for (bool exclusive : {false, true})
    for (bool reverse : {false, true})
      for (int length : {64, 777}) {
        std::string type = llvm::formatv("tensor<3x{0}x2xf32>", length);
        std::string body =
            llvm::formatv("      %s = kernel.scan add %a0, %o {{axis = 1 : i64{0}{1}} : {2}\n"
                          "      kernel.yield %s : {2}\n",
                          exclusive ? ", exclusive" : "", reverse ? ", reverse" : "", type);
        SimKernels kernels(variant("", {type}, type, body), true);
        ASSERT_EQ(kernels.error, "");
        EXPECT_EQ(kernels.planned[0].schedule, "scan");
        std::vector<float> x = randomFloats(3 * length * 2), y = unwritten(x.size());
        std::vector<double> wanted(x.size());
        for (int line = 0; line < 6; ++line) {
          double sum = 0;
          for (int i = 0; i < length; ++i) {
            int at = (line / 2 * length + (reverse ? length - 1 - i : i)) * 2 + line % 2;
            wanted[at] = exclusive ? sum : sum + x[at];
            sum += x[at];
          }
        }
        const float *in = kernels.share(x, "x");
        float *out = kernels.share(y, "y");
        sim::LaunchResult result = kernels.launchPlanned(0, {&in, &out});
        ASSERT_TRUE(result.ok()) << result.error;
        expectNear(y, wanted);
      }
}

//===-- sort ----------------------------------------------------------------------------------===//

TEST(Schedules, SortsAreComputed) {
  for (int threads : {32, 128})
    for (int length : {1, 2, 3, 64, 777, 2048}) {
      SCOPED_TRACE(llvm::formatv("threads {0}, length {1}", threads, length).str());
      std::string type = llvm::formatv("tensor<2x{0}x3xi64>", length);
      std::string body =
          llvm::formatv("      %s = kernel.sort %a0, %o {{axis = 1 : i64, most = {0} : i64} : {1}\n"
                        "      kernel.yield %s : {1}\n",
                        length, type);
      SimKernels kernels(variant("", {type}, type, body,
                                 llvm::formatv("<\"sort\", {{threads = {0} : i64}>", threads)),
                         true);
      ASSERT_EQ(kernels.error, "");
      std::mt19937 random(7);
      std::vector<int64_t> x(6 * length), y(x.size(), 1), wanted(x.size());
      for (int64_t &value : x)
        value = int64_t(random() % 100) - 50;
      for (int line = 0; line < 6; ++line) {
        auto at = [&](int i) { return (line / 3 * length + i) * 3 + line % 3; };
        std::vector<int64_t> sorted;
        for (int i = 0; i < length; ++i)
          sorted.push_back(x[at(i)]);
        std::sort(sorted.begin(), sorted.end());
        for (int i = 0; i < length; ++i)
          wanted[at(i)] = sorted[i];
      }
      const int64_t *in = kernels.share(x, "x");
      int64_t *out = kernels.share(y, "y");
      sim::LaunchResult result = kernels.launchPlanned(0, {&in, &out});
      ASSERT_TRUE(result.ok()) << result.error;
      EXPECT_EQ(y, wanted);
    }
}

//===-- choose --------------------------------------------------------------------------------===//

TEST(Schedules, ChoicesAreComputed) {
  for (int threads : {32, 128})
    for (int length : {1, 31, 100, 777})
      for (int limit : {0, 5, 1000}) {
        SCOPED_TRACE(
            llvm::formatv("threads {0}, length {1}, limit {2}", threads, length, limit).str());
        std::string line = llvm::formatv("tensor<3x{0}xi1>", length);
        std::string pairs = llvm::formatv("tensor<3x{0}x{0}xi1>", length);
        std::string body =
            llvm::formatv("      %n = arith.constant {0} : index\n"
                          "      %s = kernel.choose %a0 conflicts %a1 limit %n, %o : {1}, {2}\n"
                          "      kernel.yield %s : {1}\n",
                          limit, line, pairs);
        SimKernels kernels(variant("", {line, pairs}, line, body,
                                   llvm::formatv("<\"choose\", {{threads = {0} : i64}>", threads)),
                           true);
        ASSERT_EQ(kernels.error, "");
        std::mt19937 random(7);
        std::vector<uint8_t> x(3 * length), conflicts(x.size() * length), y(x.size(), 1);
        for (uint8_t &bit : x)
          bit = random() % 4 != 0;
        for (uint8_t &bit : conflicts)
          bit = random() % 8 == 0;
        std::vector<uint8_t> wanted(x.size());
        for (int line = 0; line < 3; ++line) {
          std::vector<int> chosen;
          for (int j = 0; j < length; ++j) {
            auto isAgainst = [&](int i) {
              return conflicts[(line * length + i) * length + j] != 0;
            };
            if (x[line * length + j] && int(chosen.size()) < limit &&
                std::none_of(chosen.begin(), chosen.end(), isAgainst)) {
              chosen.push_back(j);
              wanted[line * length + j] = 1;
            }
          }
        }
        const uint8_t *candidates = kernels.share(x, "x"),
                      *pair = kernels.share(conflicts, "pairs");
        uint8_t *out = kernels.share(y, "y");
        sim::LaunchResult result = kernels.launchPlanned(0, {&candidates, &pair, &out});
        ASSERT_TRUE(result.ok()) << result.error;
        EXPECT_EQ(y, wanted);
      }
}

//===-- map -----------------------------------------------------------------------------------===//

TEST(Schedules, MapsAreComputed) {
  // x * y, y being a row: with the shape, or of a transposed x.
  for (int vector : {1, 2, 4})
    for (bool transposed : {false, true}) {
      SCOPED_TRACE(llvm::formatv("vector {0}, transposed {1}", vector, transposed).str());
      std::string maps =
          transposed ? "#x = affine_map<(i, j) -> (j, i)>" : "#x = affine_map<(i, j) -> (i, j)>";
      std::string first = transposed ? "tensor<20x37xf32>" : "tensor<37x20xf32>";
      maps += "\n#y = affine_map<(i, j) -> (j)>\n#z = affine_map<(i, j) -> (i, j)>";
      SimKernels kernels(
          variant(
              maps, {first, "tensor<20xf32>"}, "tensor<37x20xf32>",
              llvm::formatv(R"(
      %g = linalg.generic {{indexing_maps = [#x, #y, #z], iterator_types = ["parallel", "parallel"]}
          ins(%a0, %a1 : {0}, tensor<20xf32>) outs(%o : tensor<37x20xf32>) {{
      ^bb1(%u: f32, %v: f32, %s: f32):
        %q = arith.mulf %u, %v : f32
        linalg.yield %q : f32
      } -> tensor<37x20xf32>
      kernel.yield %g : tensor<37x20xf32>
)",
                            first),
              llvm::formatv("<\"map\", {{flat = false, threads = 64 : i64, vector = {0} : i64}>",
                            vector)),
          true);
      ASSERT_EQ(kernels.error, "");
      std::vector<float> x = randomFloats(37 * 20), y = randomFloats(20), z = unwritten(37 * 20);
      std::vector<double> wanted;
      for (int i = 0; i < 37; ++i)
        for (int j = 0; j < 20; ++j)
          wanted.push_back(double(x[transposed ? j * 37 + i : i * 20 + j]) * y[j]);
      const float *left = kernels.share(x, "x"), *right = kernels.share(y, "y");
      float *out = kernels.share(z, "z");
      sim::LaunchResult result = kernels.launchPlanned(0, {&left, &right, &out});
      ASSERT_TRUE(result.ok()) << result.error;
      expectNear(z, wanted);
    }
}

TEST(Schedules, FlatMapsEndInTheMiddleOfAVector) {
  SimKernels kernels(variant("#x = affine_map<(i, j) -> (i, j)>", {"tensor<7x11xf32>"},
                             "tensor<7x11xf32>", R"(
      %g = linalg.generic {indexing_maps = [#x, #x], iterator_types = ["parallel", "parallel"]}
          ins(%a0 : tensor<7x11xf32>) outs(%o : tensor<7x11xf32>) {
      ^bb1(%u: f32, %s: f32):
        %q = arith.mulf %u, %u : f32
        linalg.yield %q : f32
      } -> tensor<7x11xf32>
      kernel.yield %g : tensor<7x11xf32>
)",
                             "<\"map\", {flat = true, threads = 32 : i64, vector = 4 : i64}>"),
                     true);
  ASSERT_EQ(kernels.error, "");
  std::vector<float> x = randomFloats(77), y = unwritten(77);
  std::vector<double> wanted;
  for (float value : x)
    wanted.push_back(double(value) * value);
  const float *in = kernels.share(x, "x");
  float *out = kernels.share(y, "y");
  sim::LaunchResult result = kernels.launchPlanned(0, {&in, &out});
  ASSERT_TRUE(result.ok()) << result.error;
  expectNear(y, wanted);
}

} // namespace
