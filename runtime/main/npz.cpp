// numpy's archives: zip files of .npy members.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/main/tensor.h"

#include <algorithm>
#include <cstring>
#include <set>

#include <zlib.h>

namespace cameo::cli {
namespace {

constexpr uint32_t kLocalMagic = 0x04034b50, kCentralMagic = 0x02014b50, kEndMagic = 0x06054b50;
constexpr size_t kLocalBytes = 30, kCentralBytes = 46, kEndBytes = 22;
constexpr uint16_t kZip64Extra = 1;

uint16_t get16(const uint8_t *p) { return uint16_t(p[0] | p[1] << 8); }
uint32_t get32(const uint8_t *p) { return get16(p) | uint32_t(get16(p + 2)) << 16; }
uint64_t get64(const uint8_t *p) { return get32(p) | uint64_t(get32(p + 4)) << 32; }

Status damaged(const char *what) { return failure(Code::InvalidArgument, "npz: %s", what); }

struct Member {
  std::string name;
  uint32_t method, crc;
  uint64_t packed, unpacked, offset;
};

// Sizes that do not fit 32 bits stand in an extra field, in this order.
Status readZip64(const uint8_t *extra, size_t size, Member &member) {
  while (size >= 4) {
    size_t length = get16(extra + 2);
    if (length > size - 4)
      return damaged("malformed extra field");
    if (get16(extra) == kZip64Extra) {
      const uint8_t *at = extra + 4, *end = at + length;
      for (uint64_t *field : {&member.unpacked, &member.packed, &member.offset})
        if (*field == 0xffffffffu) {
          if (end - at < 8)
            return damaged("malformed zip64 field");
          *field = get64(at);
          at += 8;
        }
    }
    extra += 4 + length;
    size -= 4 + length;
  }
  return {};
}

Status inflateMember(const uint8_t *data, const Member &member, std::vector<uint8_t> &result) {
  if (member.unpacked / 1100 > member.packed)
    return damaged("a member unpacks to more than deflate can hold");
  if (Status status = checkHostBytes(member.unpacked); !status.ok())
    return failure(status.code(), "npz: '%s': %s", member.name.c_str(), status.message().c_str());
  result.resize(member.unpacked);
  z_stream stream = {};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    return failure(Code::OutOfMemory, "npz: no memory to inflate");
  uint64_t taken = 0, made = 0;
  int code = Z_OK;
  constexpr uint64_t slice = 1u << 30; // zlib counts in 32 bits
  while (code == Z_OK) {
    stream.next_in = const_cast<uint8_t *>(data) + taken;
    stream.avail_in = uInt(std::min(slice, member.packed - taken));
    stream.next_out = result.data() + made;
    stream.avail_out = uInt(std::min(slice, member.unpacked - made));
    uInt in = stream.avail_in, out = stream.avail_out;
    code = inflate(&stream, Z_NO_FLUSH);
    taken += in - stream.avail_in;
    made += out - stream.avail_out;
    if (code == Z_OK && in == stream.avail_in && out == stream.avail_out)
      break;
  }
  inflateEnd(&stream);
  if (code != Z_STREAM_END || made != member.unpacked)
    return damaged("damaged deflate data");
  return {};
}

uint32_t checksum(const std::vector<uint8_t> &bytes) {
  return uint32_t(crc32_z(0, bytes.data(), bytes.size()));
}

Status readMember(const uint8_t *data, size_t size, const Member &member,
                  std::vector<HostTensor> &tensors) {
  if (member.offset > size || size - member.offset < kLocalBytes ||
      get32(data + member.offset) != kLocalMagic)
    return damaged("a member's header is missing");
  const uint8_t *local = data + member.offset;
  uint64_t start = member.offset + kLocalBytes + get16(local + 26) + get16(local + 28);
  if (start > size || member.packed > size - start)
    return damaged("a member exceeds the file");
  std::vector<uint8_t> bytes;
  if (member.method == 8) {
    CAMEO_RETURN_IF_ERROR(inflateMember(data + start, member, bytes));
  } else if (member.method == 0) {
    if (member.packed != member.unpacked)
      return damaged("a stored member has two sizes");
    bytes.assign(data + start, data + start + member.packed);
  } else {
    return failure(Code::InvalidArgument,
                   "npz: '%s' is packed by method %u; stored and deflate "
                   "are read",
                   member.name.c_str(), member.method);
  }
  if (checksum(bytes) != member.crc)
    return failure(Code::InvalidArgument, "npz: the checksum of '%s' does not match",
                   member.name.c_str());
  HostTensor tensor;
  Status status = parseNpy(bytes.data(), bytes.size(), tensor);
  if (!status.ok())
    return failure(status.code(), "npz: '%s': %s", member.name.c_str(), status.message().c_str());
  tensor.name = member.name;
  tensors.push_back(std::move(tensor));
  return {};
}

// Names come without ".npy".
Status readDirectory(const uint8_t *data, size_t size, std::vector<Member> &members) {
  if (size < kEndBytes)
    return damaged("not a zip archive");
  size_t end = size - kEndBytes;
  size_t lowest = end > 0xffff ? end - 0xffff : 0; // a comment may follow
  while (get32(data + end) != kEndMagic) {
    if (end == lowest)
      return damaged("not a zip archive");
    --end;
  }
  uint32_t count = get16(data + end + 10);
  uint64_t at = get32(data + end + 16);
  if (count == 0xffff || at == 0xffffffffu)
    return damaged("archives over 4 GiB are not read; use .npy files");
  for (uint32_t i = 0; i < count; ++i) {
    if (at > size || size - at < kCentralBytes || get32(data + at) != kCentralMagic)
      return damaged("malformed directory");
    const uint8_t *entry = data + at;
    size_t nameBytes = get16(entry + 28), extraBytes = get16(entry + 30);
    size_t commentBytes = get16(entry + 32);
    if (size - at - kCentralBytes < nameBytes + extraBytes + commentBytes)
      return damaged("malformed directory");
    if (get16(entry + 8) & 1)
      return damaged("encrypted members are not read");
    Member member{std::string(reinterpret_cast<const char *>(entry) + kCentralBytes, nameBytes),
                  get16(entry + 10),
                  get32(entry + 16),
                  get32(entry + 20),
                  get32(entry + 24),
                  get32(entry + 42)};
    CAMEO_RETURN_IF_ERROR(readZip64(entry + kCentralBytes + nameBytes, extraBytes, member));
    if (endsWith(member.name, ".npy"))
      member.name.resize(member.name.size() - 4);
    members.push_back(std::move(member));
    at += kCentralBytes + nameBytes + extraBytes + commentBytes;
  }
  return {};
}

void put16(std::vector<uint8_t> &out, uint32_t value) {
  out.insert(out.end(), {uint8_t(value), uint8_t(value >> 8)});
}
void put32(std::vector<uint8_t> &out, uint32_t value) {
  put16(out, value & 0xffff);
  put16(out, value >> 16);
}
void putText(std::vector<uint8_t> &out, const std::string &text) {
  out.insert(out.end(), text.begin(), text.end());
}

// The fields that local and central headers share.
void putCommon(std::vector<uint8_t> &out, uint32_t crc, uint32_t size, uint32_t nameBytes) {
  put16(out, 20);       // version needed: 2.0
  put16(out, 0x800);    // names are UTF-8
  put16(out, 0);        // stored
  put32(out, 0x210000); // 1980-01-01: equal results give equal files
  put32(out, crc);
  put32(out, size);
  put32(out, size);
  put16(out, nameBytes);
  put16(out, 0); // no extra field
}

std::string listNames(const std::vector<std::string> &names) {
  constexpr size_t most = 10;
  std::string text;
  for (size_t i = 0; i < names.size() && i < most; ++i)
    text += (i ? ", '" : "'") + names[i] + "'";
  return names.size() > most ? text + " ..." : text;
}

// The members in order, if they are arr_0, arr_1, ...: numpy's names for arrays without names.
std::vector<const Member *> numbered(const std::vector<Member> &members) {
  std::vector<const Member *> order;
  for (size_t i = 0; i < members.size() && order.size() == i; ++i)
    for (const Member &member : members)
      if (member.name == "arr_" + std::to_string(i))
        order.push_back(&member);
  if (order.size() < members.size())
    order.clear();
  return order;
}

Status choose(const std::vector<Member> &members, const Members &wanted,
              std::vector<const Member *> &chosen) {
  std::vector<std::string> present, names = wanted.names;
  if (wanted.one)
    names = {wanted.one};
  for (const Member &member : members) {
    present.push_back(member.name);
    if (names.empty() || std::find(names.begin(), names.end(), member.name) != names.end())
      chosen.push_back(&member);
  }
  if (!chosen.empty() || names.empty())
    return {};
  if (!wanted.one)
    chosen = numbered(members);
  else if (members.size() == 1)
    chosen = {&members[0]};
  if (chosen.size() > names.size())
    return failure(Code::InvalidArgument, "npz: %zu arrays without names; at most %zu are expected",
                   chosen.size(), names.size());
  if (chosen.empty())
    return failure(Code::InvalidArgument, "npz: it has %s %s",
                   present.empty() ? "no arrays, not even"
                                   : (listNames(present) + ", but not").c_str(),
                   listNames(names).c_str());
  return {};
}

} // namespace

Status parseNpz(const uint8_t *data, size_t size, const Members &wanted,
                std::vector<HostTensor> &tensors) {
  std::vector<Member> members;
  CAMEO_RETURN_IF_ERROR(readDirectory(data, size, members));
  std::set<std::string> names;
  for (const Member &member : members)
    if (!names.insert(member.name).second)
      return failure(Code::InvalidArgument, "npz: two members are called '%s'",
                     member.name.c_str());
  std::vector<const Member *> chosen;
  CAMEO_RETURN_IF_ERROR(choose(members, wanted, chosen));
  for (const Member *member : chosen)
    CAMEO_RETURN_IF_ERROR(readMember(data, size, *member, tensors));
  return {};
}

Status formatNpz(const std::vector<HostTensor> &tensors, std::vector<uint8_t> &bytes) {
  std::vector<uint8_t> directory;
  for (const HostTensor &tensor : tensors) {
    std::vector<uint8_t> member;
    CAMEO_RETURN_IF_ERROR(formatNpy(tensor, member));
    if (bytes.size() + member.size() > 0xfff00000u)
      return failure(Code::Unsupported, "npz: archives over 4 GiB are not written; use .npy files");
    std::string name = tensor.name + ".npy";
    uint32_t offset = uint32_t(bytes.size()), crc = checksum(member);
    put32(bytes, kLocalMagic);
    putCommon(bytes, crc, uint32_t(member.size()), uint32_t(name.size()));
    putText(bytes, name);
    bytes.insert(bytes.end(), member.begin(), member.end());
    put32(directory, kCentralMagic);
    put16(directory, 20);
    putCommon(directory, crc, uint32_t(member.size()), uint32_t(name.size()));
    put16(directory, 0); // no comment
    put16(directory, 0); // disk
    put16(directory, 0); // internal attributes
    put32(directory, 0); // external attributes
    put32(directory, offset);
    putText(directory, name);
  }
  uint32_t start = uint32_t(bytes.size());
  bytes.insert(bytes.end(), directory.begin(), directory.end());
  put32(bytes, kEndMagic);
  put32(bytes, 0); // disks
  put16(bytes, uint32_t(tensors.size()));
  put16(bytes, uint32_t(tensors.size()));
  put32(bytes, uint32_t(directory.size()));
  put32(bytes, start);
  put16(bytes, 0); // no comment
  return {};
}

} // namespace cameo::cli
