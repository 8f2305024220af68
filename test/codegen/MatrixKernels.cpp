// SPDX-License-Identifier: Apache-2.0
#include "test/codegen/MatrixKernels.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace cameo::test;
using llvm::formatv;

static void replaceAll(std::string &text, const std::string &name, const std::string &value) {
  for (size_t at = 0; (at = text.find(name, at)) != std::string::npos; at += value.size())
    text.replace(at, name.size(), value);
}

std::string cameo::test::simtKernel(const TileShape &shape) {
  auto file = llvm::MemoryBuffer::getFile(CAMEO_TEST_INPUTS "/simt-gemm.mlir.in");
  if (!file)
    return "no simt-gemm.mlir.in";
  std::string text = (*file)->getBuffer().str();
  int stride = shape.tm + 4, rows = shape.tm / shape.rm, cols = shape.tn / shape.rn;
  std::pair<const char *, int> numbers[] = {
      {"{tm}", shape.tm},   {"{tn}", shape.tn},         {"{tk}", shape.tk},
      {"{rm}", shape.rm},   {"{rn}", shape.rn},         {"{group}", shape.group},
      {"{rows}", rows},     {"{cols}", cols},           {"{threads}", rows * cols},
      {"{stride}", stride}, {"{vector}", shape.vector}, {"{store}", std::min(shape.vector, 4)}};
  for (auto [name, value] : numbers)
    replaceAll(text, name, std::to_string(value));
  replaceAll(text, "{element}", shape.element);
  return text;
}

namespace {

/// Writes llvm dialect, a statement a call; results are named %0, %1, ...
class Writer {
public:
  Writer() : stream(text) {}

  template <typename... Args> void line(const char *format, Args &&...args) {
    stream << formatv(format, std::forward<Args>(args)...) << "\n";
  }
  template <typename... Args> std::string value(const char *format, Args &&...args) {
    std::string name = "%" + std::to_string(count++);
    stream << name << " = " << formatv(format, std::forward<Args>(args)...) << "\n";
    return name;
  }
  std::string number(int64_t number, const char *type = "i32") {
    return value("llvm.mlir.constant({0} : {1}) : {1}", number, type);
  }
  std::string op(const char *name, const std::string &a, const std::string &b,
                 const char *type = "i32") {
    return value("llvm.{0} {1}, {2} : {3}", name, a, b, type);
  }
  std::string op(const char *name, const std::string &a, int64_t b) {
    return op(name, a, number(b));
  }
  /// `base` plus so many bytes.
  std::string at(const std::string &base, const std::string &bytes, int space) {
    std::string wide = value("llvm.zext {0} : i32 to i64", bytes);
    return value("llvm.getelementptr {0}[{1}] : (!llvm.ptr<{2}>, i64) -> !llvm.ptr<{2}>, i8", base,
                 wide, space);
  }
  /// Copies 16 bytes from global to shared memory.
  void copyChunk(const std::string &from, const std::string &to) {
    std::string chunk =
        value("llvm.load {0} {{alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>", from);
    line("llvm.store {0}, {1} {{alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<3>", chunk, to);
  }

  void begin(const MatrixTile &tile, int sharedBytes) {
    line("gpu.module @gemm {{");
    line("llvm.mlir.global internal @tiles() {{addr_space = 3 : i32, alignment = 1024 : i64} : "
         "!llvm.array<{0} x i8>",
         sharedBytes);
    line("llvm.func @gemm(%a: !llvm.ptr<1> {{llvm.noalias}, %b: !llvm.ptr<1> {{llvm.noalias}, "
         "%y: !llvm.ptr<1> {{llvm.noalias}, %n: i32, %k: i32) attributes {{nvvm.kernel, "
         "nvvm.reqntid = array<i32: {0}, 1, 1>} {{",
         tile.threads);
    tid = value("nvvm.read.ptx.sreg.tid.x : i32");
    std::string block = value("nvvm.read.ptx.sreg.ctaid.x : i32");
    std::string across = op("udiv", "%n", tile.n);
    row0 = op("mul", op("udiv", block, across), tile.m);
    column0 = op("mul", op("urem", block, across), tile.n);
    shared = value("llvm.mlir.addressof @tiles : !llvm.ptr<3>");
  }
  /// A loop over tiles along k, with `sums` zeroes carried: its body is open when this returns.
  void beginLoop(const MatrixTile &tile, int sums) {
    std::string zero = number(0), zeroSum = value("llvm.mlir.constant(0.0 : f32) : f32");
    std::string step = number(tile.k);
    line("llvm.br ^loop({0}{1} : i32{2})", zero, repeat(sums, [&](int) { return ", " + zeroSum; }),
         repeat(sums, [](int) { return std::string(", f32"); }));
    line("^loop(%k0: i32{0}):",
         repeat(sums, [](int i) { return formatv(", %c{0}: f32", i).str(); }));
    this->step = step;
  }
  void endLoop(const std::vector<std::string> &sums) {
    std::string next = op("add", "%k0", step);
    std::string more = value("llvm.icmp \"ult\" {0}, %k : i32", next);
    auto values = [&](const char *) {
      return repeat(int(sums.size()), [&](int i) { return ", " + sums[i]; });
    };
    std::string types = repeat(int(sums.size()), [](int) { return std::string(", f32"); });
    line("llvm.cond_br {0}, ^loop({1}{2} : i32{3}), ^done", more, next, values(""), types);
    line("^done:");
  }
  void store(const std::string &value, const std::string &row, const std::string &column) {
    std::string index = op("add", op("mul", row, "%n"), column);
    line("llvm.store {0}, {1} : f32, !llvm.ptr<1>", value, at("%y", op("shl", index, 2), 1));
  }
  std::string end() {
    line("llvm.return");
    line("}");
    line("}");
    return text;
  }

  template <typename Function> static std::string repeat(int times, Function function) {
    std::string all;
    for (int i = 0; i < times; ++i)
      all += function(i);
    return all;
  }

  std::string tid, row0, column0, shared, step;

private:
  std::string text;
  llvm::raw_string_ostream stream;
  int count = 0;
};

} // namespace

std::string cameo::test::mmaKernel() {
  constexpr MatrixTile tile = kMmaTile;
  constexpr int kStride =
      80; // bytes of a row of 32 halves; 16 more keep ldmatrix free of conflicts
  constexpr int kTileB = tile.m * kStride;
  Writer w;
  w.begin(tile, 2 * kTileB);
  std::string lane = w.op("and", w.tid, 31), warp = w.op("lshr", w.tid, 5);
  std::string warpRow = w.op("shl", w.op("lshr", warp, 2), 6);
  std::string warpColumn = w.op("shl", w.op("and", warp, 3), 5);
  w.beginLoop(tile, 64);
  w.line("nvvm.barrier0");
  for (int i = 0; i < 2; ++i) {
    std::string chunk = w.op("add", w.tid, 256 * i), row = w.op("lshr", chunk, 2);
    std::string column = w.op("shl", w.op("and", chunk, 3), 4); // bytes
    std::string place = w.op("add", w.op("mul", row, kStride), column);
    for (bool isB : {false, true}) {
      std::string line = w.op("add", isB ? w.column0 : w.row0, row);
      std::string from =
          w.op("add", w.op("shl", w.op("add", w.op("mul", line, "%k"), "%k0"), 1), column);
      w.copyChunk(w.at(isB ? "%b" : "%a", from, 1),
                  w.at(w.shared, isB ? w.op("add", place, kTileB) : place, 3));
    }
  }
  w.line("nvvm.barrier0");
  std::vector<std::string> sums;
  for (int i = 0; i < 64; ++i)
    sums.push_back("%c" + std::to_string(i));
  for (int k = 0; k < 2; ++k) {
    std::vector<std::string> a[4], b[4];
    auto load = [&](const std::string &row, const std::string &half, int tileOffset) {
      std::string offset = w.op("add", w.op("mul", row, kStride), w.op("shl", half, 4));
      std::string place = w.at(w.shared, w.op("add", offset, tileOffset + 32 * k), 3);
      std::string words = w.value("llvm.mlir.undef : i32"); // numbers the group
      std::string name = words + "w";
      w.line("{0}:4 = kernel.ptx \"ldmatrix.sync.aligned.m8n8.x4.shared.b16\"({1}) : "
             "(!llvm.ptr<3>) -> (i32, i32, i32, i32)",
             "%w" + words.substr(1), place);
      std::vector<std::string> result;
      for (int i = 0; i < 4; ++i)
        result.push_back("%w" + words.substr(1) + "#" + std::to_string(i));
      return result;
    };
    for (int i = 0; i < 4;
         ++i) // rows 16i on: lanes 0-15 give rows, 16-31 those of the next columns
      a[i] = load(w.op("add", w.op("add", warpRow, 16 * i), w.op("and", lane, 15)),
                  w.op("lshr", lane, 4), 0);
    for (int i = 0; i < 2; ++i) { // two tiles of 8 columns each
      std::string row = w.op("add", w.op("and", lane, 7), w.op("shl", w.op("lshr", lane, 4), 3));
      std::vector<std::string> both = load(w.op("add", w.op("add", warpColumn, 16 * i), row),
                                           w.op("and", w.op("lshr", lane, 3), 1), kTileB);
      b[2 * i] = {both[0], both[1]};
      b[2 * i + 1] = {both[2], both[3]};
    }
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) {
        int first = 16 * i + 4 * j;
        std::string name = formatv("%d{0}_{1}_{2}", k, i, j).str();
        w.line(
            "{0}:4 = kernel.ptx \"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32\"({1}, {2}, "
            "{3}, {4}, {5}, {6}, {7}, {8}, {9}, {10}) : (i32, i32, i32, i32, i32, i32, f32, f32, "
            "f32, f32) -> (f32, f32, f32, f32)",
            name, a[i][0], a[i][1], a[i][2], a[i][3], b[j][0], b[j][1], sums[first],
            sums[first + 1], sums[first + 2], sums[first + 3]);
        for (int e = 0; e < 4; ++e)
          sums[first + e] = name + "#" + std::to_string(e);
      }
  }
  w.endLoop(sums);
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      for (int e = 0; e < 4; ++e) {
        std::string row = w.op("add", w.op("add", w.row0, warpRow),
                               w.op("add", w.op("lshr", lane, 2), 16 * i + e / 2 * 8));
        std::string column = w.op("add", w.op("add", w.column0, warpColumn),
                                  w.op("add", w.op("shl", w.op("and", lane, 3), 1), 8 * j + e % 2));
        w.store(sums[16 * i + 4 * j + e], row, column);
      }
  return w.end();
}

std::string cameo::test::wgmmaKernel() {
  constexpr MatrixTile tile = kWgmmaTile;
  // Core matrices of 8 rows by 16 bytes: 8 along k, 128 bytes apart, then the next 8 rows.
  constexpr int kChunks = tile.k / 8, kLeading = 128, kGroup = kChunks * kLeading;
  constexpr int kTileB = tile.m / 8 * kGroup;
  Writer w;
  w.begin(tile, kTileB + tile.n / 8 * kGroup);
  std::string lane = w.op("and", w.tid, 31), warp = w.op("lshr", w.tid, 5);
  int sumCount = tile.n / 2;
  w.beginLoop(tile, sumCount);
  for (int i = 0; i < (tile.m + tile.n) * kChunks / tile.threads; ++i) {
    bool isB = i >= tile.m * kChunks / tile.threads;
    std::string chunk =
        w.op("add", w.tid, tile.threads * (isB ? i - tile.m * kChunks / tile.threads : i));
    std::string row = w.op("lshr", chunk, 3), inner = w.op("and", chunk, 7);
    std::string line = w.op("add", isB ? w.column0 : w.row0, row);
    std::string from = w.op("add", w.op("shl", w.op("add", w.op("mul", line, "%k"), "%k0"), 1),
                            w.op("shl", inner, 4));
    std::string place =
        w.op("add", w.op("mul", w.op("lshr", row, 3), kGroup),
             w.op("add", w.op("shl", w.op("and", row, 7), 4), w.op("mul", inner, kLeading)));
    w.copyChunk(w.at(isB ? "%b" : "%a", from, 1),
                w.at(w.shared, w.op("add", place, isB ? kTileB : 0), 3));
  }
  w.line("kernel.ptx \"fence.proxy.async\"() : () -> ()");
  w.line("nvvm.barrier0");
  w.line("kernel.ptx \"wgmma.fence.sync.aligned\"() : () -> ()");
  std::string base = w.value("llvm.ptrtoint {0} : !llvm.ptr<3> to i32", w.shared);
  auto descriptor = [&](int offset) {
    std::string start = w.op("and", w.op("lshr", w.op("add", base, offset), 4), 0x3fff);
    std::string wide = w.value("llvm.zext {0} : i32 to i64", start);
    return w.op("or", wide,
                w.number(int64_t(kLeading / 16) << 16 | int64_t(kGroup / 16) << 32, "i64"), "i64");
  };
  std::vector<std::string> sums;
  for (int i = 0; i < sumCount; ++i)
    sums.push_back("%c" + std::to_string(i));
  std::string counts = w.value("llvm.mlir.constant(true) : i1");
  std::string types = Writer::repeat(sumCount, [](int) { return std::string(", f32"); });
  for (int k = 0; k < tile.k / 16; ++k) {
    std::string a = descriptor(2 * k * kLeading), b = descriptor(kTileB + 2 * k * kLeading);
    w.line("%d{0}:{1} = kernel.ptx \"wgmma.mma_async.sync.aligned.m64n{2}k16.f32.f16.f16 "
           "1,1,0,0\"({3}, {4}, {5}{6}) : (i64, i64, i1{7}) -> ({8})",
           k, sumCount, tile.n, a, b, counts,
           Writer::repeat(sumCount, [&](int i) { return ", " + sums[i]; }), types,
           llvm::StringRef(types).drop_front(2));
    for (int i = 0; i < sumCount; ++i)
      sums[i] = formatv("%d{0}#{1}", k, i).str();
  }
  w.line("kernel.ptx \"wgmma.commit_group.sync.aligned\"() : () -> ()");
  w.line("kernel.ptx \"wgmma.wait_group.sync.aligned 0\"() : () -> ()");
  w.line("nvvm.barrier0");
  w.endLoop(sums);
  for (int i = 0; i < sumCount; ++i) {
    std::string row = w.op("add", w.op("add", w.row0, w.op("shl", warp, 4)),
                           w.op("add", w.op("lshr", lane, 2), i / 2 % 2 * 8));
    std::string column = w.op("add", w.column0,
                              w.op("add", w.op("shl", w.op("and", lane, 3), 1), i / 4 * 8 + i % 2));
    w.store(sums[i], row, column);
  }
  return w.end();
}
