#include "common/report/files.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "common/kernel/status.hpp"

namespace gemm {
namespace {

[[noreturn]] void cannot_write(const std::string& path) {
  throw UsageError(fmt::format("can't write {}: {}", path, std::strerror(errno)));
}

// Where a symbolic link leads: the temporary file belongs beside its target.
std::string target_of(const std::string& path) {
  std::error_code ignored;
  const auto target = std::filesystem::weakly_canonical(path, ignored);
  return ignored ? path : target.string();
}

bool is_special(const std::string& path) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
}

bool write_and_close(std::FILE* file, const std::string& text) {
  const bool written = file && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  return file && std::fclose(file) == 0 && written;
}

}  // namespace

void tell(const std::string& json_path, const std::string& text) {
  if (json_path == "-") return;
  fmt::print("{}", text);
  std::fflush(stdout);
}

void write_text(const std::string& path, const std::string& text) {
  if (path == "-") {
    const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
    if (std::fflush(stdout) != 0 || !written) cannot_write("standard output");
    return;
  }
  if (is_special(path)) {
    if (!write_and_close(std::fopen(path.c_str(), "w"), text)) cannot_write(path);
    return;
  }
  const std::string target = target_of(path);
  const std::string temporary = target + ".tmp";
  if (!write_and_close(std::fopen(temporary.c_str(), "w"), text) ||
      std::rename(temporary.c_str(), target.c_str()) != 0) {
    const int why = errno;
    std::remove(temporary.c_str());
    errno = why;
    cannot_write(path);
  }
}

void require_writable(const std::string& path) {
  if (path.empty() || path == "-") return;
  std::error_code ignored;  // what is no directory is tried below
  if (std::filesystem::is_directory(path, ignored)) {
    errno = EISDIR;
    cannot_write(path);
  }
  if (is_special(path)) return;
  const std::string temporary = target_of(path) + ".tmp";
  std::FILE* file = std::fopen(temporary.c_str(), "w");
  if (!file) cannot_write(path);
  std::fclose(file);
  std::remove(temporary.c_str());
}

}  // namespace gemm
