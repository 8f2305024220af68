// numpy's files, in pieces.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/calibrate/ArrayFile.h"

#include "codegen/PieceHash.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"

#include <zlib.h>

using namespace cameo;
using llvm::Error;
using llvm::Expected;
using llvm::MutableArrayRef;
using llvm::StringRef;
using llvm::Twine;
using llvm::support::endian::read16le;
using llvm::support::endian::read32le;
using llvm::support::endian::read64le;

namespace fs = llvm::sys::fs;

static Error problemOf(const InputFile &file, const Twine &what) {
  return llvm::createStringError("'" + file.path().str() + "': " + what.str());
}

//===-- Files ---------------------------------------------------------------------------------===//

Expected<std::shared_ptr<InputFile>> InputFile::open(StringRef path) {
  auto problem = [&](const std::string &what) {
    return llvm::createStringError("'" + path.str() + "': " + what);
  };
  fs::file_status status;
  if (std::error_code error = fs::status(path, status))
    return problem(error.message());
  if (status.type() != fs::file_type::regular_file)
    return problem("no regular file");
  Expected<fs::file_t> handle = fs::openNativeFileForRead(path);
  if (!handle)
    return problem(llvm::toString(handle.takeError()));
  return std::shared_ptr<InputFile>(new InputFile(path, *handle, status.getSize()));
}

InputFile::~InputFile() {
  fs::file_t file = handle;
  (void)fs::closeFile(file);
}

Error InputFile::read(uint64_t offset, MutableArrayRef<char> buffer) const {
  while (!buffer.empty()) {
    Expected<size_t> got = fs::readNativeFileSlice(handle, buffer, offset);
    if (!got)
      return problemOf(*this, llvm::toString(got.takeError()));
    if (*got == 0)
      return problemOf(*this, "ends after " + Twine(offset) + " bytes");
    offset += *got;
    buffer = buffer.drop_front(*got);
  }
  return Error::success();
}

Expected<uint64_t> cameo::hashFiles(llvm::ArrayRef<std::string> paths) {
  std::vector<char> piece(PieceHash::kBytes);
  PieceHash hashes;
  for (const std::string &path : paths) {
    Expected<std::shared_ptr<InputFile>> file = InputFile::open(path);
    if (!file)
      return file.takeError();
    for (uint64_t at = 0; at < (*file)->size(); at += piece.size()) {
      uint64_t size = std::min<uint64_t>(piece.size(), (*file)->size() - at);
      if (Error error = (*file)->read(at, MutableArrayRef(piece).take_front(size)))
        return error;
      hashes.add(StringRef(piece.data(), size));
    }
    hashes.addNumber((*file)->size());
  }
  return hashes.hash();
}

//===-- Archives ------------------------------------------------------------------------------===//
// PKWARE's .ZIP File Format Specification, 4.3 and 4.5.3.

namespace {

constexpr uint32_t kLocalMagic = 0x04034b50, kCentralMagic = 0x02014b50, kEndMagic = 0x06054b50,
                   kEnd64Magic = 0x06064b50;
constexpr uint64_t kLocalBytes = 30, kCentralBytes = 46, kEndBytes = 22, kLocatorBytes = 20,
                   kEnd64Bytes = 56, kMostComment = 0xffff;
constexpr uint16_t kZip64Extra = 1;
constexpr uint32_t kElsewhere = 0xffffffff;

struct Directory {
  uint64_t members, bytes, offset;
};

Expected<Directory> findDirectory(const InputFile &file) {
  uint64_t tailBytes = std::min(file.size(), kEndBytes + kMostComment);
  std::vector<char> tail(tailBytes);
  if (Error error = file.read(file.size() - tailBytes, tail))
    return error;
  uint64_t at = tailBytes - std::min(tailBytes, kEndBytes);
  while (tailBytes >= kEndBytes && at > 0 && read32le(&tail[at]) != kEndMagic)
    --at;
  if (tailBytes < kEndBytes || read32le(&tail[at]) != kEndMagic)
    return problemOf(file, "not a zip archive");
  Directory directory = {read16le(&tail[at + 10]), read32le(&tail[at + 12]),
                         read32le(&tail[at + 16])};
  if (directory.members != 0xffff && directory.bytes != kElsewhere &&
      directory.offset != kElsewhere)
    return directory;
  // A locator before this record says where the one with wide numbers is.
  uint64_t end = file.size() - tailBytes + at;
  char locator[kLocatorBytes], wide[kEnd64Bytes];
  if (end < kLocatorBytes)
    return problemOf(file, "not a zip archive");
  if (Error error = file.read(end - kLocatorBytes, locator))
    return error;
  if (Error error = file.read(read64le(locator + 8), wide))
    return error;
  if (read32le(wide) != kEnd64Magic)
    return problemOf(file, "malformed zip64 directory");
  return Directory{read64le(wide + 32), read64le(wide + 40), read64le(wide + 48)};
}

/// Sizes that do not fit 32 bits stand in an extra field, in this order.
bool readZip64(StringRef extra, ArrayPlace &place) {
  while (extra.size() >= 4) {
    uint16_t kind = read16le(extra.data()), bytes = read16le(extra.data() + 2);
    extra = extra.drop_front(4);
    if (bytes > extra.size())
      return false;
    StringRef field = extra.take_front(bytes);
    extra = extra.drop_front(bytes);
    if (kind != kZip64Extra)
      continue;
    for (uint64_t *number : {&place.unpackedBytes, &place.packedBytes, &place.offset})
      if (*number == kElsewhere) {
        if (field.size() < 8)
          return false;
        *number = read64le(field.data());
        field = field.drop_front(8);
      }
  }
  return true;
}

Expected<std::vector<ArrayPlace>> listMembers(const InputFile &file) {
  Expected<Directory> directory = findDirectory(file);
  if (!directory)
    return directory.takeError();
  if (directory->bytes > file.size())
    return problemOf(file, "malformed directory");
  std::vector<char> bytes(directory->bytes);
  if (Error error = file.read(directory->offset, bytes))
    return error;
  StringRef rest(bytes.data(), bytes.size());
  std::vector<ArrayPlace> places;
  for (uint64_t i = 0; i < directory->members; ++i) {
    if (rest.size() < kCentralBytes || read32le(rest.data()) != kCentralMagic)
      return problemOf(file, "malformed directory");
    const char *entry = rest.data();
    size_t name = read16le(entry + 28), extra = read16le(entry + 30),
           comment = read16le(entry + 32);
    if (rest.size() < kCentralBytes + name + extra + comment)
      return problemOf(file, "malformed directory");
    ArrayPlace place;
    StringRef text = rest.substr(kCentralBytes, name);
    text.consume_back(".npy");
    place.name = text.str();
    place.checksum = read32le(entry + 16);
    place.packedBytes = read32le(entry + 20);
    place.unpackedBytes = read32le(entry + 24);
    place.offset = read32le(entry + 42);
    uint16_t method = read16le(entry + 10);
    place.isDeflated = method == 8;
    if (read16le(entry + 8) & 1 || (method != 0 && method != 8))
      return problemOf(file, "'" + place.name +
                                 "' is encrypted or packed by a method other than deflate");
    if (!readZip64(rest.substr(kCentralBytes + name, extra), place))
      return problemOf(file, "malformed directory");
    if (llvm::any_of(places, [&](const ArrayPlace &other) { return other.name == place.name; }))
      return problemOf(file, "two members are called '" + place.name + "'");
    places.push_back(std::move(place));
    rest = rest.drop_front(kCentralBytes + name + extra + comment);
  }
  return places;
}

} // namespace

Expected<std::vector<ArrayPlace>> cameo::listArrays(const InputFile &file) {
  if (!file.path().ends_with(".npy"))
    return listMembers(file);
  ArrayPlace place;
  place.packedBytes = place.unpackedBytes = file.size();
  return std::vector<ArrayPlace>{place};
}

//===-- Arrays --------------------------------------------------------------------------------===//

namespace {

struct ElementType {
  const char *descr; // without byte order
  const char *text;
  cameo_dtype dtype;
};
// A void type of 2 bytes is what numpy makes of ml_dtypes' bfloat16.
constexpr ElementType kElementTypes[] = {
    {"f4", "float32", CAMEO_DTYPE_F32}, {"f8", "float64", CAMEO_DTYPE_F64},
    {"f2", "float16", CAMEO_DTYPE_F16}, {"V2", "bfloat16", CAMEO_DTYPE_BF16},
    {"i1", "int8", CAMEO_DTYPE_I8},     {"i2", "int16", CAMEO_DTYPE_I16},
    {"i4", "int32", CAMEO_DTYPE_I32},   {"i8", "int64", CAMEO_DTYPE_I64},
    {"u1", "uint8", CAMEO_DTYPE_U8},    {"u2", "uint16", CAMEO_DTYPE_U16},
    {"u4", "uint32", CAMEO_DTYPE_U32},  {"u8", "uint64", CAMEO_DTYPE_U64},
    {"b1", "bool", CAMEO_DTYPE_BOOL},
};

/// What follows `'key':` in a header.
StringRef memberOf(StringRef header, StringRef key) {
  size_t at = header.find(("'" + key + "'").str());
  return at == StringRef::npos ? "" : header.substr(at).split(':').second.ltrim();
}

} // namespace

std::string cameo::dtypeText(cameo_dtype dtype) {
  for (const ElementType &type : kElementTypes)
    if (type.dtype == dtype)
      return type.text;
  return cameo_dtype_name(dtype);
}

std::string cameo::sizesText(llvm::ArrayRef<int64_t> sizes) {
  std::string text;
  for (int64_t size : sizes)
    text += (text.empty() ? "" : "x") + (size < 0 ? "?" : std::to_string(size));
  return text.empty() ? "scalar" : text;
}

struct ArrayReader::Inflation {
  z_stream stream = {};
  std::vector<char> packed = std::vector<char>(64 << 10);
  bool isReady = inflateInit2(&stream, -MAX_WBITS) == Z_OK;
  ~Inflation() { inflateEnd(&stream); }
};

ArrayReader::ArrayReader(std::shared_ptr<InputFile> file, const ArrayPlace &place)
    : file(std::move(file)), place(place) {}
ArrayReader::~ArrayReader() = default;

Error ArrayReader::problem(const Twine &what) const {
  return problemOf(*file, (place.name.empty() ? Twine() : "'" + Twine(place.name) + "': ") + what);
}

Error ArrayReader::inflateInto(MutableArrayRef<char> buffer) {
  z_stream &stream = inflation->stream;
  stream.next_out = reinterpret_cast<Bytef *>(buffer.data());
  constexpr size_t slice = 1 << 30; // zlib counts in 32 bits
  size_t left = buffer.size();
  while (left) {
    if (stream.avail_in == 0 && taken < place.packedBytes) {
      uint64_t bytes = std::min<uint64_t>(inflation->packed.size(), place.packedBytes - taken);
      MutableArrayRef<char> packed(inflation->packed.data(), bytes);
      if (Error error = file->read(place.offset + taken, packed))
        return error;
      taken += bytes;
      stream.next_in = reinterpret_cast<Bytef *>(packed.data());
      stream.avail_in = uInt(bytes);
    }
    uInt room = uInt(std::min(left, slice));
    stream.avail_out = room;
    int code = inflate(&stream, Z_NO_FLUSH);
    left -= room - stream.avail_out;
    // An end or a standstill before all is there.
    if (left && (code != Z_OK ||
                 (stream.avail_out == room && stream.avail_in == 0 && taken == place.packedBytes)))
      return problem("damaged deflate data");
  }
  return Error::success();
}

Error ArrayReader::readBytes(MutableArrayRef<char> buffer) {
  if (buffer.size() > place.unpackedBytes - made)
    return problem("has " + Twine(place.unpackedBytes) + " bytes, which is too few");
  if (Error error =
          place.isDeflated ? inflateInto(buffer) : file->read(place.offset + made, buffer))
    return error;
  made += buffer.size();
  // An empty buffer may have no address, and for such a one zlib starts a new checksum.
  if (place.name.empty() || buffer.empty())
    return Error::success();
  checksum =
      uint32_t(crc32_z(checksum, reinterpret_cast<const Bytef *>(buffer.data()), buffer.size()));
  if (made == place.unpackedBytes && checksum != place.checksum)
    return problem("the checksum does not match");
  return Error::success();
}

Error ArrayReader::start() {
  if (!place.name.empty()) {
    char local[kLocalBytes];
    if (Error error = file->read(place.offset, local))
      return error;
    if (read32le(local) != kLocalMagic)
      return problem("the member's header is missing");
    place.offset += kLocalBytes + read16le(local + 26) + read16le(local + 28);
  }
  if (place.offset > file->size() || place.packedBytes > file->size() - place.offset)
    return problem("exceeds the file");
  if (!place.isDeflated && place.packedBytes != place.unpackedBytes)
    return problem("a stored member has two sizes");
  if (place.isDeflated) {
    inflation = std::make_unique<Inflation>();
    if (!inflation->isReady)
      return problem("no memory to inflate");
  }
  char magic[8], length[4] = {};
  if (Error error = readBytes(magic))
    return error;
  if (StringRef(magic, 6) != "\x93NUMPY" || magic[6] < 1 || magic[6] > 3)
    return problem("not in numpy's format, versions 1 to 3");
  if (Error error = readBytes(MutableArrayRef(length, magic[6] == 1 ? 2 : 4)))
    return error;
  if (read32le(length) > place.unpackedBytes - made)
    return problem("truncated header");
  std::string header(read32le(length), '\0');
  if (Error error = readBytes(MutableArrayRef(header.data(), header.size())))
    return error;
  return parseHeader(header);
}

Error ArrayReader::parseHeader(StringRef header) {
  StringRef descr = memberOf(header, "descr");
  if (!descr.consume_front("'"))
    return problem("structured or missing element type");
  descr = descr.split('\'').first;
  const ElementType *type = llvm::find_if(kElementTypes, [&](const ElementType &known) {
    return descr.drop_front(std::min<size_t>(descr.size(), 1)) == known.descr;
  });
  if (type == std::end(kElementTypes) || !StringRef("<|=").contains(descr.front()))
    return problem("element type '" + descr + "' is not supported");
  elementType = type->dtype;
  elementSize = uint64_t(type->descr[1] - '0');
  StringRef shape = memberOf(header, "shape");
  if (!shape.consume_front("(") || !shape.contains(')'))
    return problem("no shape");
  uint64_t bytes = elementSize;
  for (StringRef text : llvm::split(shape.split(')').first, ',')) {
    int64_t size = 0;
    text = text.trim();
    text.consume_back("L"); // Python 2 wrote long integers so
    if (text.empty())
      continue;
    if (text.getAsInteger(10, size) || size < 0 || __builtin_mul_overflow(bytes, size, &bytes))
      return problem("malformed shape");
    sizes.push_back(size);
  }
  if (bytes != place.unpackedBytes - made)
    return problem(dtypeText(elementType) + " of " + sizesText(sizes) + " takes " + Twine(bytes) +
                   " bytes, but it has " + Twine(place.unpackedBytes - made));
  if (memberOf(header, "fortran_order").starts_with("True") && sizes.size() > 1)
    return problem("in column-major order; numpy.ascontiguousarray makes it row-major");
  return Error::success();
}

Expected<std::unique_ptr<ArrayReader>> ArrayReader::open(std::shared_ptr<InputFile> file,
                                                         const ArrayPlace &place) {
  std::unique_ptr<ArrayReader> reader(new ArrayReader(std::move(file), place));
  if (Error error = reader->start())
    return error;
  return reader;
}

Error ArrayReader::read(MutableArrayRef<char> buffer) { return readBytes(buffer); }
