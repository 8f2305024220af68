// Checks the program in this executable's file against the hash in its payload, before the program
// runs: what a damaged program says of itself would be worth nothing.
//
// The loader calls this before the initialisers of every library and before the entry point. It
// uses nothing of the program and nothing of the C library: wherever else the damage is, this runs
// as it was written, and where this is damaged, nothing else is.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/format.h"

#include <cstddef>

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace {

constexpr int kBadFile = 4; // the exit code

long call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
  long result = number;
  register long fourth __asm__("r10") = d;
  register long fifth __asm__("r8") = e;
  register long sixth __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "+a"(result)
                   : "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), "r"(sixth)
                   : "rcx", "r11", "memory");
  return result;
}

void print(const char *text) {
  size_t length = 0;
  while (text[length])
    ++length;
  call(SYS_write, STDERR_FILENO, long(text), long(length));
}

bool equal(const char *a, const char *b, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i)
    if (a[i] != b[i])
      return false;
  return true;
}

// The name that the program was started by; the kernel leaves it behind the environment.
const char *startedAs(char **environment) {
  while (*environment)
    ++environment;
  for (auto *entry = reinterpret_cast<const ElfW(auxv_t) *>(environment + 1);
       entry->a_type != AT_NULL; ++entry)
    if (entry->a_type == AT_EXECFN)
      return reinterpret_cast<const char *>(entry->a_un.a_val);
  return "";
}

bool read(long file, void *data, size_t bytes, uint64_t offset) {
  return call(SYS_pread64, file, long(data), long(bytes), long(offset)) == long(bytes);
}

// Whether the file ends in a payload that this program's format describes, and what is in front of
// that is not what it was. Whatever else is wrong is for those to say who read the payload.
bool isDamaged(long file) {
  CameoTrailer trailer;
  CameoPayloadHeader header;
  long size = call(SYS_lseek, file, 0, SEEK_END);
  if (size < long(sizeof trailer) ||
      !read(file, &trailer, sizeof trailer, uint64_t(size) - sizeof trailer) ||
      !equal(trailer.magic, CAMEO_TRAILER_MAGIC, sizeof trailer.magic) || !trailer.payload_offset ||
      trailer.payload_offset > uint64_t(size) ||
      !read(file, &header, sizeof header, trailer.payload_offset) ||
      !equal(header.magic, CAMEO_PAYLOAD_MAGIC, sizeof header.magic) ||
      header.version != CAMEO_PAYLOAD_VERSION)
    return false;
  long stub = call(SYS_mmap, 0, long(trailer.payload_offset), PROT_READ, MAP_PRIVATE, file, 0);
  if (stub < 0 && stub >= -4095)
    return false;
  bool same =
      XXH3_64bits(reinterpret_cast<const void *>(stub), trailer.payload_offset) == header.stub_hash;
  call(SYS_munmap, stub, long(trailer.payload_offset));
  return !same;
}

void checkOwnFile(int, char **, char **environment) {
  const char *name = startedAs(environment);
  long file = call(SYS_open, long("/proc/self/exe"), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    file = call(SYS_open, long(name), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return;
  if (isDamaged(file)) {
    print("error: ");
    print(name);
    print(": damaged model file: the hash of the program in front of the model does not match\n");
    call(SYS_exit_group, kBadFile);
  }
  call(SYS_close, file);
}

__attribute__((section(".preinit_array"), used)) void (*const atStart)(int, char **,
                                                                       char **) = checkOwnFile;

} // namespace
