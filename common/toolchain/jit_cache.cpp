#include "common/toolchain/jit_cache.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>

namespace gemm {
namespace {

namespace fs = std::filesystem;
using Hash = unsigned __int128;

Hash fnv1a(std::string_view text) {
  constexpr Hash basis = Hash{0x6c62272e07bb0142} << 64 | 0x62b821756295c58d;
  constexpr Hash prime = Hash{1} << 88 | 0x13b;
  Hash hash = basis;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * prime;
  return hash;
}

// The file's end: how long the code and the description are, and the hash of both.
constexpr std::string_view magic = "\nstaged-gemm 1 ";
constexpr std::size_t footer_bytes = magic.size() + 16 + 1 + 16 + 1 + 32 + 1;

std::string footer_of(std::size_t code, std::size_t description, std::string_view both) {
  return fmt::format("{}{:016x} {:016x} {}\n", magic, code, description, hash_of(both));
}

bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

std::string hash_of(std::string_view text) {
  const Hash hash = fnv1a(text);
  return fmt::format("{:016x}{:016x}", static_cast<std::uint64_t>(hash >> 64), static_cast<std::uint64_t>(hash));
}

bool write_binary(const fs::path& file, const JitBinary& binary, const std::string& origin) {
  const std::string description = nlohmann::ordered_json{
      {"symbol", binary.symbol},
      {"registers", binary.registers},
      {"spill_bytes", binary.spill_bytes},
      {"origin", origin}}.dump();
  std::string text = binary.code + description;
  text += footer_of(binary.code.size(), description.size(), text);

  std::error_code failed;
  fs::create_directories(file.parent_path(), failed);
  // A name of its own for each writer: of several, the last to rename wins, and all have written the same kernel.
  static std::atomic<int> counter{0};
  const std::string temporary = fmt::format("{}.{}.{}.tmp", file.string(), getpid(), counter++);
  const int handle = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (handle < 0) return false;
  const bool written = write_all(handle, text);
  const bool closed = close(handle) == 0;
  if (written && closed && std::rename(temporary.c_str(), file.c_str()) == 0) return true;
  unlink(temporary.c_str());
  return false;
}

ReadBinary read_binary(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return {};
  const std::string text(std::istreambuf_iterator<char>(stream), {});
  const auto is_damaged = [&] {
    if (text.size() < footer_bytes) return true;
    const std::string_view both(text.data(), text.size() - footer_bytes);
    const std::string_view footer(text.data() + both.size(), footer_bytes);
    const std::size_t code = std::strtoull(std::string(footer.substr(magic.size(), 16)).c_str(), nullptr, 16);
    return code > both.size() || footer != footer_of(code, both.size() - code, both);
  };
  if (is_damaged()) return {std::nullopt, true};
  const std::size_t end = text.size() - footer_bytes;
  const std::size_t code = std::strtoull(text.substr(end + magic.size(), 16).c_str(), nullptr, 16);
  const auto description = nlohmann::json::parse(text.begin() + static_cast<std::ptrdiff_t>(code),
                                                 text.begin() + static_cast<std::ptrdiff_t>(end));
  JitBinary binary;
  binary.symbol = description["symbol"];
  binary.registers = description["registers"];
  binary.spill_bytes = description["spill_bytes"];
  binary.code = text.substr(0, code);
  return {std::move(binary), false};
}

}  // namespace gemm
