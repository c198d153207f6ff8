// Copies of matrices in columns, and a note of them for who makes them later (the course's timer).
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gemm {

/// A matrix that is to be copied.
struct ColumnsRecord {
  const void* from;
  void* to;
  std::int64_t rows, cols, ld, column;  ///< elements from a row to the next, and in the copy from a column to the next
  std::size_t element;                  ///< bytes
};

/// Where copies are noted down, in the place of making them, while it is not null.
inline std::vector<ColumnsRecord>* columns_log = nullptr;

/// Makes one: element (i, j) to place j * column + i.
inline cudaError_t copy_columns(const ColumnsRecord& r, cudaStream_t stream) {
  for (std::int64_t j = 0; j < r.cols; ++j) {
    const cudaError_t error = cudaMemcpy2DAsync(static_cast<std::byte*>(r.to) + j * r.column * r.element, r.element,
                                                static_cast<const std::byte*>(r.from) + j * r.element, r.ld * r.element,
                                                r.element, r.rows, cudaMemcpyDeviceToDevice, stream);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

}  // namespace gemm
