// What a cubin, an ELF file, says of its kernels. The runtime tells the sizes of parameters, but not how many there
// are, and to ask for one too many is an error that compute-sanitizer reports.
#include <elf.h>

#include <cstdint>
#include <cstring>

#include "common/toolchain/jit_compiler.hpp"

namespace gemm {
namespace {

// A section .nv.info.KERNEL is a list of attributes: a format, a name, and two bytes, which are the value or, in one
// format, how many bytes of value follow. `cuobjdump -elf` prints the names.
struct Attribute {
  std::uint8_t format, name;
  std::uint16_t bytes;
};
constexpr std::uint8_t sized = 0x04;           // EIFMT_SVAL
constexpr std::uint8_t parameter_info = 0x17;  // EIATTR_KPARAM_INFO: one for each parameter

template <class T>
std::optional<T> read(std::string_view bytes, std::uint64_t at) {
  if (at > bytes.size() || bytes.size() - at < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

std::string_view part(std::string_view bytes, std::uint64_t at, std::uint64_t size) {
  return at > bytes.size() || bytes.size() - at < size ? std::string_view{} : bytes.substr(at, size);
}

}  // namespace

std::optional<int> parameter_count(const JitBinary& binary) {
  const std::string_view code = binary.code;
  const auto header = read<Elf64_Ehdr>(code, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64)
    return std::nullopt;
  const std::string_view table = part(code, header->e_shoff, header->e_shnum * sizeof(Elf64_Shdr));
  const auto section = [&](std::uint64_t i) {
    return read<Elf64_Shdr>(table, i * sizeof(Elf64_Shdr)).value_or(Elf64_Shdr{});
  };
  const auto contents = [&](const Elf64_Shdr& s) { return part(code, s.sh_offset, s.sh_size); };
  const std::string_view names = contents(section(header->e_shstrndx));
  const std::string wanted = ".nv.info." + binary.symbol + '\0';
  for (std::uint64_t i = 0; i < header->e_shnum; ++i) {
    const Elf64_Shdr found = section(i);
    if (part(names, found.sh_name, wanted.size()) != wanted) continue;
    const std::string_view list = contents(found);
    int parameters = 0;
    for (std::uint64_t at = 0; const auto attribute = read<Attribute>(list, at);) {
      parameters += attribute->format == sized && attribute->name == parameter_info;
      at += sizeof(Attribute) + (attribute->format == sized ? attribute->bytes : 0);
    }
    return parameters;
  }
  return std::nullopt;
}

}  // namespace gemm
