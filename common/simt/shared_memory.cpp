#include "common/simt/shared_memory.hpp"

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "common/simt/executor.hpp"

// Dynamic shared memory. A kernel declares it at file scope: extern __shared__ __align__(1024) unsigned char smem[];
alignas(1024) thread_local unsigned char smem[simt::max_dynamic_shared];

// A variable whose place in the thread-local segment is known both at run time (its address) and from the symbol table
// (its offset): the difference locates all others.
extern "C" {
thread_local char simt_tls_anchor = 0;
}

namespace simt {
namespace {

struct SharedVariable {
  std::ptrdiff_t from_anchor;  // bytes
  std::size_t bytes;
};

// The __shared__ variables are the thread-local symbols that belong to functions, which the C++ ABI mangles as _ZZ. The
// executable's own symbol table lists them, with their sizes.
std::vector<SharedVariable> find_shared_variables() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  const std::vector<char> image((std::istreambuf_iterator<char>(file)), {});
  const auto* header = reinterpret_cast<const Elf64_Ehdr*>(image.data());
  if (image.size() < sizeof *header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) {
    throw std::runtime_error("the CPU executor can't read its own symbol table (/proc/self/exe)");
  }
  const auto* sections = reinterpret_cast<const Elf64_Shdr*>(image.data() + header->e_shoff);

  std::vector<SharedVariable> found;
  std::ptrdiff_t anchor = -1;
  for (int s = 0; s < header->e_shnum; ++s) {
    if (sections[s].sh_type != SHT_SYMTAB) continue;
    const auto* symbols = reinterpret_cast<const Elf64_Sym*>(image.data() + sections[s].sh_offset);
    const char* names = image.data() + sections[sections[s].sh_link].sh_offset;
    for (std::size_t i = 0; i < sections[s].sh_size / sizeof(Elf64_Sym); ++i) {
      if (ELF64_ST_TYPE(symbols[i].st_info) != STT_TLS || symbols[i].st_shndx == SHN_UNDEF) continue;
      const std::string_view name = names + symbols[i].st_name;
      const auto offset = static_cast<std::ptrdiff_t>(symbols[i].st_value);
      if (name == "simt_tls_anchor") anchor = offset;
      if (name.starts_with("_ZZ")) found.push_back({offset, symbols[i].st_size});
    }
  }
  if (anchor < 0) throw std::runtime_error("the CPU executor needs the program's symbol table: don't strip it");
  for (SharedVariable& variable : found) variable.from_anchor -= anchor;
  return found;
}

}  // namespace

void poison_shared_memory(std::size_t dynamic_bytes) {
  static const std::vector<SharedVariable> variables = find_shared_variables();
  constexpr int nan_byte = 0xff;  // 0xffffffff is a NaN, as is a double of eight such bytes
  // To g++ the anchor is an object of one byte, and with _FORTIFY_SOURCE, Ubuntu's default, it would end the program for
  // writing elsewhere relative to it. The empty assembly makes it forget where the pointer comes from.
  char* anchor = &simt_tls_anchor;
  asm("" : "+r"(anchor));
  for (const SharedVariable& variable : variables) {
    std::memset(anchor + variable.from_anchor, nan_byte, variable.bytes);
  }
  std::memset(smem, nan_byte, dynamic_bytes);
}

}  // namespace simt
