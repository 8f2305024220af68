// Bulk and tensor copies (PTX ISA, "Data Movement and Conversion Instructions: Bulk copy",
// "Tensor"; "Tensors" for boxes, swizzling and im2col).
//
// SPDX-License-Identifier: Apache-2.0
#include "test/instructions/Case.h"

#include <algorithm>

namespace instructions {
namespace {

using cameo::sim::TensorMapParameters;

constexpr unsigned kUint8 = 0, kUint32 = 2, kInt32 = 3, kFloat16 = 6, kFloat32 = 7;

const char *const kPointers = "%in: !llvm.ptr<1>, %out: !llvm.ptr<1>";

/// The mbarrier lies behind the data.
std::string loadKernel(const std::string &name, unsigned bytes, const std::string &copy,
                       const std::string &parameters) {
  return kernelOf(
      name,
      fill(R"(    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %bytes = llvm.mlir.constant($BYTES : i32) : i32
    %barrier = llvm.getelementptr %shared[%bytes] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %first_thread = llvm.icmp "eq" %tid, %zero : i32
    llvm.cond_br %first_thread, ^set_up, ^ready
  ^set_up:
    kernel.ptx "mbarrier.init.shared.b64"(%barrier, %one) : (!llvm.ptr<3>, i32) -> ()
    kernel.ptx "fence.proxy.async"() : () -> ()
    llvm.br ^ready
  ^ready:
    nvvm.barrier0
    llvm.cond_br %first_thread, ^issue, ^wait
  ^issue:
    %state = kernel.ptx "mbarrier.arrive.expect_tx.shared.b64"(%barrier, %bytes) : (!llvm.ptr<3>, i32) -> i64
$COPY
    llvm.br ^wait
  ^wait:
    %done = kernel.ptx "mbarrier.try_wait.parity.shared.b64"(%barrier, %zero) : (!llvm.ptr<3>, i32) -> i1
    llvm.cond_br %done, ^done, ^wait
  ^done:
$EMPTY)",
           {{"BYTES", std::to_string(bytes)}, {"COPY", copy}, {"EMPTY", emptyShared(bytes)}}),
      32, parameters);
}

std::string storeKernel(const std::string &name, unsigned bytes, const std::string &copy,
                        const std::string &parameters) {
  return kernelOf(name,
                  fillShared(bytes) + fill(R"(    %bytes = llvm.mlir.constant($BYTES : i32) : i32
    kernel.ptx "fence.proxy.async"() : () -> ()
    nvvm.barrier0
    %first_thread = llvm.icmp "eq" %tid, %zero : i32
    llvm.cond_br %first_thread, ^issue, ^end
  ^issue:
$COPY
    kernel.ptx "cp.async.bulk.commit_group"() : () -> ()
    kernel.ptx "cp.async.bulk.wait_group 0"() : () -> ()
    llvm.br ^end
  ^end:)",
                                           {{"BYTES", std::to_string(bytes)}, {"COPY", copy}}),
                  32, parameters);
}

/// Constants %c0 ... of coordinates, and their list and types.
std::string constants(const char *prefix, const std::vector<int> &values, const char *type,
                      std::string &list, std::string &types) {
  std::string text;
  for (size_t i = 0; i < values.size(); ++i) {
    text += format("    %%%s%zu = llvm.mlir.constant(%d : %s) : %s\n", prefix, i, values[i], type,
                   type);
    list += format(", %%%s%zu", prefix, i);
    types += std::string(", ") + type;
  }
  return text;
}

struct Tensor {
  TensorMapParameters map;
  unsigned bytes; // an element

  uint64_t size() const { return map.strides[map.rank - 2] * map.sizes[map.rank - 1]; }
  /// Byte of an element, or -1 outside of the tensor: of whole 16-byte chunks of its lines, where
  /// `chunks` is set.
  int64_t at(const std::vector<int64_t> &index, bool chunks = false) const {
    int64_t offset = 0;
    for (unsigned d = 0; d < map.rank; ++d) {
      int64_t perChunk = chunks && d == 0 ? 16 / bytes : 1;
      int64_t size = (int64_t(map.sizes[d]) + perChunk - 1) / perChunk * perChunk;
      if (index[d] < 0 || index[d] >= size)
        return -1;
      offset += index[d] * int64_t(d ? map.strides[d - 1] : bytes);
    }
    return offset;
  }
  /// Lines follow one another; of 16-byte chunks in a line that is as long as the swizzle, chunk j
  /// of line r is where chunk j ^ (r mod 8), (r / 2 mod 4) or (r / 4 mod 2) would be.
  unsigned place(unsigned lineBytes, unsigned line, unsigned byte) const {
    unsigned chunk = byte / 16;
    if (map.swizzle)
      chunk ^= map.swizzle == 3 ? line % 8 : map.swizzle == 2 ? line / 2 % 4 : line / 4 % 2;
    return line * lineBytes + chunk * 16 + byte % 16;
  }
};

Tensor makeTensor(unsigned rank, unsigned type, unsigned swizzle, std::vector<unsigned> sizes,
                  std::vector<unsigned> box) {
  Tensor tensor;
  tensor.map.rank = rank;
  tensor.map.type = type;
  tensor.map.swizzle = swizzle;
  tensor.bytes = type == kUint8 ? 1 : type == kFloat16 ? 2 : 4;
  uint64_t stride = tensor.bytes;
  for (unsigned d = 0; d < rank; ++d) {
    tensor.map.sizes[d] = sizes[d];
    tensor.map.box[d] = box[d];
    stride = (stride * sizes[d] + 15) / 16 * 16; // padded lines
    if (d + 1 < rank || rank == 1)
      tensor.map.strides[d < 4 ? d : 3] = stride;
  }
  return tensor;
}

/// Visits the box: element's place in shared memory and byte in the tensor, or -1. Stores and
/// reductions clip lines after whole 16-byte chunks, as measured on an H200 (driver 580).
void eachInBox(const Tensor &tensor, const std::vector<int> &start, bool stores,
               const std::function<void(unsigned place, int64_t offset)> &visit) {
  unsigned rank = tensor.map.rank, lineBytes = tensor.map.box[0] * tensor.bytes, lines = 1;
  for (unsigned d = 1; d < rank; ++d)
    lines *= tensor.map.box[d];
  for (unsigned line = 0; line < lines; ++line)
    for (unsigned x = 0; x < tensor.map.box[0]; ++x) {
      std::vector<int64_t> index{start[0] + int64_t(x)};
      unsigned rest = line;
      for (unsigned d = 1; d < rank; ++d) {
        index.push_back(start[d] + int64_t(rest % tensor.map.box[d]));
        rest /= tensor.map.box[d];
      }
      visit(tensor.place(lineBytes, line, x * tensor.bytes), tensor.at(index, stores));
    }
}

void addTiled(std::vector<Case> &cases, const Tensor &tensor, const std::vector<int> &start,
              const std::string &mode, MapPlace place = MapPlace::Parameter) {
  unsigned rank = tensor.map.rank, bytes = tensor.bytes;
  for (unsigned d = 0; d < rank; ++d)
    bytes *= tensor.map.box[d];
  uint64_t tensorBytes = rank == 1 ? tensor.map.strides[0] : tensor.size();
  Case made;
  made.name = format("tensor_%s_%zu", mode.c_str(), cases.size());
  made.since = 90;
  made.shared = bytes + 16;
  std::string list, types, dimensions = std::to_string(rank) + "d";
  std::string copy = acquireMap("%map", place) + constants("c", start, "i32", list, types);
  bool load = mode == "load";
  if (load)
    made.instruction = "cp.async.bulk.tensor." + dimensions +
                       ".shared::cluster.global.tile.mbarrier::complete_tx::bytes";
  else
    made.instruction =
        std::string(mode == "store" ? "cp.async.bulk.tensor." : "cp.reduce.async.bulk.tensor.") +
        dimensions + ".global.shared::cta" + (mode == "store" ? "" : "." + mode) +
        ".tile.bulk_group";
  if (load)
    copy += "    kernel.ptx \"" + made.instruction + "\"(%shared, %map" + list +
            ", %barrier) : (!llvm.ptr<3>, " + mapType(place) + types + ", !llvm.ptr<3>) -> ()";
  else
    copy += "    kernel.ptx \"" + made.instruction + "\"(%map" + list + ", %shared) : (" +
            mapType(place) + types + ", !llvm.ptr<3>) -> ()";
  std::string parameters = kPointers + (", " + mapParameter("%map", place));
  made.kernel = load ? loadKernel(made.name, bytes, copy, parameters)
                     : storeKernel(made.name, bytes, copy, parameters);
  Bytes memory = randomBytes(tensorBytes, cases.size());
  bool floats = tensor.map.type == kFloat32 && mode == "add"; // of small integers
  if (floats)
    for (size_t i = 0; i + 4 <= memory.size(); i += 4) {
      float value = float(memory[i]);
      memcpy(&memory[i], &value, 4);
    }
  Bytes tile = randomBytes(bytes, cases.size() + 1);
  for (size_t i = 0; floats && i + 4 <= tile.size(); i += 4) {
    float value = float(tile[i]);
    memcpy(&tile[i], &value, 4);
  }
  made.buffers = load ? std::vector<Bytes>{memory, Bytes(bytes), Bytes(128)}
                      : std::vector<Bytes>{tile, memory, Bytes(128)};
  made.maps = {{2, load ? 0u : 1u, tensor.map, place}};
  made.check = [=](const std::vector<Bytes> &after) -> std::string {
    Bytes wanted = load ? Bytes(bytes) : memory;
    eachInBox(tensor, start, !load, [&](unsigned place, int64_t offset) {
      if (offset < 0)
        return;
      if (load) {
        memcpy(&wanted[place], &memory[size_t(offset)], tensor.bytes);
      } else if (mode == "store") {
        memcpy(&wanted[size_t(offset)], &tile[place], tensor.bytes);
      } else if (!floats) {
        uint32_t a, b;
        memcpy(&a, &memory[size_t(offset)], 4);
        memcpy(&b, &tile[place], 4);
        const char *type = tensor.map.type == kUint32 ? "u32" : "s32";
        a = uint32_t(atomicResult(mode, type, /*shared=*/false, a, b, 0));
        memcpy(&wanted[size_t(offset)], &a, 4);
      } else {
        float a, b;
        memcpy(&a, &memory[size_t(offset)], 4);
        memcpy(&b, &tile[place], 4);
        a += b;
        memcpy(&wanted[size_t(offset)], &a, 4);
      }
    });
    for (size_t i = 0; i < wanted.size(); ++i)
      if (after[1][i] != wanted[i])
        return format("byte %zu is 0x%02x, not 0x%02x", i, after[1][i], wanted[i]);
    return {};
  };
  cases.push_back(std::move(made));
}

/// "Im2col mode": of an N x H x W x C tensor, `pixels` pixels from (w, h, n) on, in the bounding
/// box that the corners leave, each moved by the filter's offsets.
void addIm2col(std::vector<Case> &cases, unsigned swizzle, MapPlace place) {
  constexpr int channels = 32, width = 7, height = 5, images = 2, pixels = 24;
  constexpr int startC = 0, startW = 3, startH = 2, startN = 0, offsetW = 1, offsetH = 2;
  // A 3 x 3 filter with padding 1: corners at -1 and -1.
  Tensor tensor = makeTensor(4, kFloat16, swizzle, {channels, width, height, images}, {1, 1, 1, 1});
  tensor.map.im2col = true;
  tensor.map.channels = channels;
  tensor.map.pixels = pixels;
  tensor.map.lower[0] = tensor.map.lower[1] = tensor.map.upper[0] = tensor.map.upper[1] = -1;
  constexpr unsigned bytes = channels * pixels * 2;
  Case made;
  made.name = format("tensor_im2col_%u", swizzle);
  made.since = 90;
  made.shared = bytes + 16;
  made.instruction =
      "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes";
  std::string list, types, offsets, offsetTypes;
  std::string copy = acquireMap("%map", place);
  copy += constants("c", {startC, startW, startH, startN}, "i32", list, types);
  copy += constants("o", {offsetW, offsetH}, "i16", offsets, offsetTypes);
  copy += "    kernel.ptx \"" + made.instruction + "\"(%shared, %map" + list + ", %barrier" +
          offsets + ") : (!llvm.ptr<3>, " + mapType(place) + types + ", !llvm.ptr<3>" +
          offsetTypes + ") -> ()";
  made.kernel =
      loadKernel(made.name, bytes, copy, kPointers + (", " + mapParameter("%map", place)));
  Bytes memory = randomBytes(tensor.size(), 17 + swizzle);
  made.buffers = {memory, Bytes(bytes), Bytes(128)};
  made.maps = {{2, 0, tensor.map, place}};
  made.check = [=](const std::vector<Bytes> &after) -> std::string {
    Bytes wanted(bytes);
    // The box has width x height pixels: from -1 to size - 2.
    int pixel = (startN * height + startH + 1) * width + startW + 1;
    for (int p = 0; p < pixels; ++p, ++pixel)
      for (int c = 0; c < channels; ++c) {
        int64_t offset = tensor.at({c, pixel % width - 1 + offsetW,
                                    pixel / width % height - 1 + offsetH, pixel / width / height});
        if (offset >= 0)
          memcpy(&wanted[tensor.place(channels * 2, unsigned(p), unsigned(c) * 2)],
                 &memory[size_t(offset)], 2);
      }
    for (size_t i = 0; i < wanted.size(); ++i)
      if (after[1][i] != wanted[i])
        return format("byte %zu is 0x%02x, not 0x%02x", i, after[1][i], wanted[i]);
    return {};
  };
  cases.push_back(std::move(made));
}

void addBulk(std::vector<Case> &cases, bool load) {
  constexpr unsigned bytes = 1040;
  Case made;
  made.name = load ? "bulk_load" : "bulk_store";
  made.since = 90;
  made.shared = bytes + 16;
  made.instruction = load ? "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                          : "cp.async.bulk.global.shared::cta.bulk_group";
  made.kernel =
      load ? loadKernel(made.name, bytes,
                        "    kernel.ptx \"" + made.instruction +
                            "\"(%shared, %in, %bytes, %barrier) : (!llvm.ptr<3>, !llvm.ptr<1>, "
                            "i32, !llvm.ptr<3>) -> ()",
                        kPointers)
           : storeKernel(made.name, bytes,
                         "    kernel.ptx \"" + made.instruction +
                             "\"(%out, %shared, %bytes) : (!llvm.ptr<1>, !llvm.ptr<3>, i32) -> ()",
                         kPointers);
  Bytes in = randomBytes(bytes, 1);
  made.buffers = {in, Bytes(bytes)};
  made.check = [in](const std::vector<Bytes> &after) -> std::string {
    return after[1] == in ? "" : "the copy differs";
  };
  cases.push_back(std::move(made));
}

/// A warp copies a map to other memory, from where it then uses it.
void addWrittenMap(std::vector<Case> &cases, const std::string &scope) {
  Tensor tensor = makeTensor(2, kFloat32, 0, {20, 10}, {8, 4});
  constexpr unsigned bytes = 8 * 4 * 4;
  Case made;
  made.name = "tensor_map_written_" + scope;
  made.since = 90;
  made.shared = bytes + 16;
  made.instruction = "fence.proxy.tensormap::generic.acquire." + scope;
  std::string copy = fill(R"(    %four = llvm.mlir.constant(4 : i32) : i32
    %two = llvm.mlir.constant(2 : i32) : i32
    kernel.ptx "fence.proxy.tensormap::generic.acquire.$SCOPE 128"(%written) : (!llvm.ptr<1>) -> ()
    kernel.ptx "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"(%shared, %written, %four, %two, %barrier) : (!llvm.ptr<3>, !llvm.ptr<1>, i32, i32, !llvm.ptr<3>) -> ())",
                          {{"SCOPE", scope}});
  made.kernel = loadKernel(made.name, bytes, copy,
                           kPointers + (", " + mapParameter("%map", MapPlace::Parameter)) +
                               ", %written: !llvm.ptr<1>");
  std::string begin = "    llvm.cond_br %first_thread, ^set_up, ^ready\n";
  made.kernel.insert(
      made.kernel.find(begin),
      fill(R"(    %map_from = llvm.getelementptr %map[%tid] : (!llvm.ptr, i32) -> !llvm.ptr, i32
    %map_to = llvm.getelementptr %written[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %map_word = llvm.load %map_from : !llvm.ptr -> i32
    llvm.store %map_word, %map_to : i32, !llvm.ptr<1>
    kernel.ptx "fence.proxy.tensormap::generic.release.$SCOPE"() : () -> ()
)",
           {{"SCOPE", scope}}));
  Bytes memory = randomBytes(tensor.size(), 5);
  made.buffers = {memory, Bytes(bytes), Bytes(128), Bytes(128)};
  made.maps = {{2, 0, tensor.map}};
  made.check = [=](const std::vector<Bytes> &after) -> std::string {
    Bytes wanted(bytes);
    eachInBox(tensor, {4, 2}, /*stores=*/false, [&](unsigned place, int64_t offset) {
      memcpy(&wanted[place], &memory[size_t(offset)], tensor.bytes);
    });
    return after[1] == wanted ? "" : "the copy differs";
  };
  cases.push_back(std::move(made));
}

/// Elements of f32 in a line of a box: of 32, 64 and 128 bytes, or 48 that are not swizzled.
unsigned lineOf(unsigned swizzle) { return swizzle ? 4u << swizzle : 12; }

} // namespace

void addTensorCases(std::vector<Case> &cases) {
  // Boxes start at multiples of 16 bytes of a line, and those of stores and reductions at no
  // negative coordinate: all else is an illegal instruction (measured on an H200, driver 580).
  // Loads hang over both ends.
  addTiled(cases, makeTensor(1, kFloat32, 0, {50}, {32}), {32}, "load");
  addTiled(cases, makeTensor(1, kFloat32, 0, {50}, {32}), {-8}, "load");
  for (unsigned swizzle = 0; swizzle < 4; ++swizzle) {
    unsigned line = lineOf(swizzle);
    addTiled(cases, makeTensor(2, kFloat32, swizzle, {70, 40}, {line, 16}), {68, 30}, "load");
    addTiled(cases, makeTensor(3, kFloat32, swizzle, {40, 9, 5}, {line, 4, 3}), {-4, 7, -1},
             "load");
  }
  addTiled(cases, makeTensor(5, kFloat32, 2, {20, 3, 4, 3, 2}, {16, 2, 2, 2, 2}), {0, 2, -1, 1, 1},
           "load");
  addTiled(cases, makeTensor(2, kFloat16, 3, {100, 20}, {64, 8}), {48, 3}, "load");
  addTiled(cases, makeTensor(2, kUint8, 1, {100, 20}, {32, 16}), {80, -3}, "load");
  // All hang over upper ends; lines are multiples of 16 bytes.
  for (const char *mode : {"load", "store", "add"}) {
    addTiled(cases, makeTensor(1, kFloat32, 0, {52}, {32}), {32}, mode);
    for (unsigned swizzle = 0; swizzle < 4; ++swizzle) {
      unsigned line = lineOf(swizzle);
      addTiled(cases, makeTensor(2, kFloat32, swizzle, {72, 40}, {line, 16}), {4, 30}, mode);
      addTiled(cases, makeTensor(3, kFloat32, swizzle, {40, 9, 5}, {line, 4, 3}), {36, 7, 3}, mode);
    }
    addTiled(cases, makeTensor(4, kFloat32, 3, {36, 5, 4, 3}, {32, 3, 2, 2}), {4, 1, 3, 1}, mode);
    addTiled(cases, makeTensor(5, kFloat32, 2, {20, 3, 4, 3, 2}, {16, 2, 2, 2, 2}), {8, 2, 3, 1, 1},
             mode);
    if (mode[0] == 'a')
      continue;
    addTiled(cases, makeTensor(2, kFloat16, 3, {104, 20}, {64, 8}), {48, 3}, mode);
    addTiled(cases, makeTensor(2, kUint8, 1, {96, 20}, {32, 16}), {80, 8}, mode);
  }
  for (const char *mode : {"add", "min", "max", "inc", "dec", "and", "or", "xor"})
    addTiled(cases, makeTensor(2, kUint32, 2, {72, 40}, {16, 16}), {4, 30}, mode);
  for (const char *mode : {"add", "min", "max"})
    addTiled(cases, makeTensor(2, kInt32, 2, {72, 40}, {16, 16}), {60, 30}, mode);
  // Lines end within a chunk of 16 bytes, all of which is written: elements 70 and 71, no more.
  for (const char *mode : {"store", "add"})
    addTiled(cases, makeTensor(2, kFloat32, 0, {70, 40}, {12, 16}), {64, 30}, mode);
  for (const char *mode : {"load", "store", "add"})
    addTiled(cases, makeTensor(2, kFloat32, 3, {72, 40}, {32, 16}), {4, 30}, mode,
             MapPlace::Global);
  addIm2col(cases, 0, MapPlace::Parameter);
  addIm2col(cases, 2, MapPlace::Global);
  for (const char *scope : {"cta", "cluster", "gpu", "sys"})
    addWrittenMap(cases, scope);
  addBulk(cases, true);
  addBulk(cases, false);
}

} // namespace instructions
