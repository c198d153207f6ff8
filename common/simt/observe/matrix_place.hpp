// Where a matrix lies in device memory, so that messages name its elements and not its bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace simt {

/// Row-major; row r begins r * ld elements after the first.
struct MatrixPlace {
  std::string name;
  std::uintptr_t first = 0;  ///< address of element (0, 0)
  std::int64_t rows = 0, cols = 0, ld = 0;
  std::size_t element_bytes = 0;
  std::string untold = {};  ///< why its elements may not be read before a kernel has written them; may be empty

  /// Behind the last element.
  std::uintptr_t end() const;
  /// Whether all of these bytes, at most a row, belong to elements.
  bool has(std::uintptr_t address, std::size_t bytes) const;
  /// "A(3, 5)"; "A(131, 0), and A has 131 rows"
  std::string describe(std::uintptr_t address) const;
  /// "A(171, 0), whose offset of 2148139008 elements does not fit in 32 bits" if the address is where such an offset ends that was
  /// cut off; else empty.
  std::string cut_off(std::uintptr_t address) const;

 private:
  bool has_byte(std::uintptr_t address) const;
};

}  // namespace simt
