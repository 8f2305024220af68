// Notes of loaded ELF files. On its own, because the system's header has macros of the names of LLVM's.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/emit/BuildIds.h"

#include <cstring>
#include <link.h>
#include <string_view>

namespace {

constexpr size_t aligned(size_t bytes) { return (bytes + 3) & ~size_t(3); }

/// Appends the build ID of one file to the list `out`; not 0 where the program has none.
int add(dl_phdr_info *file, size_t, void *out) {
  // The kernel's own file has a name without a folder, and the program has an empty one.
  std::string_view path = file->dlpi_name;
  if (!path.empty() && path.find('/') == path.npos)
    return 0;
  for (const ElfW(Phdr) *header = file->dlpi_phdr, *last = header + file->dlpi_phnum;
       header != last; ++header) {
    if (header->p_type != PT_NOTE)
      continue;
    auto *at = reinterpret_cast<const char *>(file->dlpi_addr + header->p_vaddr);
    for (const char *end = at + header->p_memsz; at + sizeof(ElfW(Nhdr)) <= end;) {
      ElfW(Nhdr) note;
      std::memcpy(&note, at, sizeof note);
      const char *name = at + sizeof note, *content = name + aligned(note.n_namesz);
      at = content + aligned(note.n_descsz);
      if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 || std::memcmp(name, "GNU", 4) != 0)
        continue;
      static_cast<std::string *>(out)->append(content, note.n_descsz);
      return 0;
    }
  }
  return path.empty();
}

} // namespace

std::string cameo::buildIds() {
  std::string ids;
  return dl_iterate_phdr(add, &ids) ? std::string() : ids;
}
