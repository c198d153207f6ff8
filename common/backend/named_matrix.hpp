// Tells the back end which matrix lies where, so that what it says of kernels' accesses names elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace gemm {

/// Row-major, in device memory, alone in its allocation.
struct NamedMatrix {
  std::string name;
  const void* first = nullptr;
  std::int64_t rows = 0, cols = 0, ld = 0;  ///< in elements
  std::size_t element_bytes = 0;
};

/// From now on kernels that are observed may touch nothing before the first and behind the last element, and write nothing
/// between the rows. Nothing on a GPU.
void name_matrix(const NamedMatrix& matrix);

/// Kernels that are observed may not read what lies between the rows of a named matrix, nor, with a reason, elements that they
/// have not written before. To be said anew after each write by the host. Nothing on a GPU.
void forbid_reading(const NamedMatrix& matrix, const std::string& why = "");

/// Allocates a matrix whose rows may lie gigabytes apart; only the rows take memory. Sets matrix.first, which the host may write
/// and cudaFree() frees. False on a GPU, and where there are not so many addresses.
bool allocate_sparse(NamedMatrix& matrix);

}  // namespace gemm
