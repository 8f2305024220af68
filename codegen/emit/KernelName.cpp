// Renaming in text and in the string tables of ELF files.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/emit/KernelName.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Module.h"
#include "llvm/Object/ELF.h"

#include <algorithm>

using namespace cameo;
using llvm::StringRef;

/// "k12_...".
static bool isNumbered(StringRef name) {
  return name.consume_front("k") && !name.empty() && llvm::isDigit(name.front()) &&
         name.drop_while(llvm::isDigit).starts_with("_");
}

static std::string replaced(StringRef text, StringRef from, StringRef to) {
  std::string result = text.str();
  for (size_t at = result.find(from); at != std::string::npos;
       at = result.find(from, at + to.size()))
    result.replace(at, from.size(), to);
  return result;
}

KernelName KernelName::find(StringRef ptx) {
  constexpr llvm::StringLiteral kEntry = ".entry ";
  size_t at = ptx.find(kEntry);
  if (at == StringRef::npos || ptx.find(kEntry, at + 1) != StringRef::npos)
    return {};
  StringRef name = ptx.drop_front(at + kEntry.size());
  return of(name.take_front(name.find('(')), ptx);
}

KernelName KernelName::of(StringRef name, StringRef text) {
  if (!isNumbered(name))
    return {};
  // Letters and digits that a `$` follows are in no name of ours.
  std::string neutral = "k" + std::string(name.size() - 1, '$');
  if (text.contains(neutral))
    return {};
  return {name.str(), neutral};
}

std::string KernelName::neutralised(StringRef text) const {
  return empty() ? text.str() : replaced(text, own, neutral);
}

std::string KernelName::restored(StringRef text) const {
  return empty() ? text.str() : replaced(text, neutral, own);
}

void KernelName::neutralise(llvm::Module &module) const {
  for (llvm::GlobalValue &value : module.global_values())
    if (!empty() && value.getName().contains(own))
      value.setName(neutralised(value.getName()));
}

bool KernelName::restore(std::vector<char> &cubin) const {
  if (empty())
    return true;
  using File = llvm::object::ELFFile<llvm::object::ELF64LE>;
  StringRef bytes(cubin.data(), cubin.size());
  llvm::Expected<File> file = File::create(bytes);
  if (!file) {
    llvm::consumeError(file.takeError());
    return false;
  }
  auto sections = file->sections();
  if (!sections) {
    llvm::consumeError(sections.takeError());
    return false;
  }
  for (const File::Elf_Shdr &section : *sections) {
    if (section.sh_type != llvm::ELF::SHT_STRTAB)
      continue;
    if (section.sh_offset > cubin.size() || section.sh_size > cubin.size() - section.sh_offset)
      return false;
    std::string names = restored(bytes.substr(section.sh_offset, section.sh_size));
    std::copy(names.begin(), names.end(), cubin.begin() + section.sh_offset);
  }
  return true;
}
