#include <cctype>
#include <sstream>

#include "common/backend/device.hpp"

namespace gemm {

bool architectures_cover(const std::string& architectures, int compute_capability) {
  std::istringstream list(architectures);
  for (std::string entry; std::getline(list, entry, ',');) {
    std::size_t digits = 0;
    while (digits < entry.size() && std::isdigit(static_cast<unsigned char>(entry[digits]))) ++digits;
    if (digits == 0) continue;
    const int built_for = std::stoi(entry.substr(0, digits));
    const bool exact = digits < entry.size() && std::isalpha(static_cast<unsigned char>(entry[digits]));
    if (exact ? built_for == compute_capability
              : built_for / 10 == compute_capability / 10 && built_for % 10 <= compute_capability % 10) {
      return true;
    }
  }
  return false;
}

}  // namespace gemm
