// The matrix of examples/lobpcg.cpp, and what is done to block vectors but products.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/kernel/status.hpp"

namespace laplacian {

/// The five-point Laplacian on a grid of side x side points, zero around it: 4 on the diagonal, -1 for each neighbour.
/// Point (x, y) is row y * side + x of a block vector, whose rows are `ld` words apart.
constexpr int block = 16;  ///< columns

/// y = A x, block vectors of 16 columns that don't overlap. Enqueues.
gemm::Status multiply(cudaStream_t stream, int side, const double* x, std::int64_t ld_x, double* y, std::int64_t ld_y);

/// w = ax - x diag(value): residuals, of 16 columns and values in device memory. Enqueues.
gemm::Status residuals(cudaStream_t stream, int side, const double* x, const double* ax, std::int64_t ld,
                       const double* value, double* w);

/// Numbers of [-1, 1), the same ones each time; and zeros in the other columns of rows of ld words. Enqueues.
gemm::Status begin(cudaStream_t stream, int side, double* x, std::int64_t ld);

}  // namespace laplacian
