#include "common/simt/observe/matrix_place.hpp"

#include <fmt/format.h>

namespace simt {

std::uintptr_t MatrixPlace::end() const {
  if (rows == 0 || cols == 0) return first;
  return first + (static_cast<std::size_t>(rows - 1) * ld + cols) * element_bytes;
}

bool MatrixPlace::has_byte(std::uintptr_t address) const {
  if (address < first || address >= end()) return false;
  return static_cast<std::int64_t>((address - first) / element_bytes % ld) < cols;
}

bool MatrixPlace::has(std::uintptr_t address, std::size_t bytes) const {
  // A piece that begins in one row and ends in another holds the padding between them, if there is any.
  const std::uintptr_t last = address + bytes - 1;
  const bool one_row = ld == cols || (address - first) / element_bytes / ld == (last - first) / element_bytes / ld;
  return has_byte(address) && has_byte(last) && one_row;
}

std::string MatrixPlace::describe(std::uintptr_t address) const {
  if (address < first) return fmt::format("{} bytes before {}(0, 0)", first - address, name);
  const auto index = static_cast<std::int64_t>((address - first) / element_bytes);
  const std::string element = fmt::format("{}({}, {})", name, index / ld, index % ld);
  const auto limit = [&](std::int64_t count, const char* what) {
    return fmt::format("{}, and {} has {} {}{}", element, name, count, what, count == 1 ? "" : "s");
  };
  if (index / ld >= rows) return limit(rows, "row");
  if (index % ld >= cols) return limit(cols, "column");
  return element;
}

std::string MatrixPlace::cut_off(std::uintptr_t address) const {
  const std::uintptr_t meant = address + (std::size_t{1} << 32) * element_bytes;  // a signed offset has turned negative
  if (address >= first || !has_byte(meant)) return "";
  return fmt::format("{}, whose offset of {} elements does not fit in 32 bits", describe(meant),
                     (meant - first) / element_bytes);
}

}  // namespace simt
