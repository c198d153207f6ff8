// QR factorisation of a tall matrix in its own memory: Cholesky QR 2 in four passes over the matrix, and behind it, on
// the device and without the host, shifted Cholesky QR 3 and Householder reflections, where the first ones don't do.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "common/kernel/status.hpp"

namespace gemm::qr {

constexpr int most_columns = 64;

/// What has found Q and R: written to device memory, at the end of all.
enum Method : int { cholesky2 = 2, shifted_cholesky3 = 3, householder = 4 };

/// X = Q R. X is k x n, k >= n >= 1, and becomes Q; R is upper triangular with a diagonal that is not negative.
template <class T>
struct QrProblem {
  int n = 0;
  std::int64_t k = 0;
  T* x = nullptr;
  std::int64_t ldx = 0;
  T* r = nullptr;
  std::int64_t ldr = 0;
  int* method = nullptr;
  void* workspace = nullptr;  ///< aligned to 16 bytes
};

std::size_t workspace_bytes(int n, std::size_t element_bytes);
Status factorise(const QrProblem<double>& problem, cudaStream_t stream);
Status factorise(const QrProblem<double2>& problem, cudaStream_t stream);

}  // namespace gemm::qr
