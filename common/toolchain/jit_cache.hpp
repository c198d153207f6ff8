// Files of compiled kernels. Each is an ELF file, as the compiler made it, with a description and a check sum behind
// its end, where neither the loader nor nvdisasm looks.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "common/toolchain/jit_types.hpp"

namespace gemm {

/// FNV-1a in 128 bits, as 32 hexadecimal digits. Finds what is different or damaged, not what is forged.
std::string hash_of(std::string_view text);

/// Writes a kernel to a file, which appears as a whole or not at all, whoever else writes it at the same time.
/// `origin` is for people who look into the file. False if it can't be written.
bool write_binary(const std::filesystem::path& file, const JitBinary& binary, const std::string& origin);

struct ReadBinary {
  std::optional<JitBinary> binary;
  bool damaged = false;  ///< there is a file, but not as it was written
};
ReadBinary read_binary(const std::filesystem::path& file);

}  // namespace gemm
