// What is left of TSMM where alpha, or M, is 0.
#pragma once

#include <algorithm>

#include "common/kernel/complex.cuh"
#include "common/stage.cuh"

namespace gemm::generated {

constexpr int scale_threads = 256;

// Threads keep their column: all together they step by whole rows.
template <class T>
__global__ void scale_rows(int n, std::int64_t k, T beta, T* b, std::int64_t ldb) {
  const int rows = gridDim.x * scale_threads / n;
  const int thread = blockIdx.x * scale_threads + threadIdx.x, first = thread / n;
  if (first >= rows) return;
  for (std::int64_t row = first; row < k; row += rows) {
    T* const out = b + row * ldb + thread % n;
    *out = scaled(T{}, T{}, beta, out);
  }
}

/// B = beta B.
template <class T>
Status launch_scale_rows(const TsmmProblem<T>& p, cudaStream_t stream) {
  constexpr int blocks = 8;  // of an SM
  const std::int64_t all = (p.k * p.n + scale_threads - 1) / scale_threads;
  const std::int64_t places = std::max(device_limits().multiprocessors * blocks, ceil_div(p.n, scale_threads));
  return launch(scale_rows<T>,
                {.grid = static_cast<unsigned>(std::min(all, places)), .block = scale_threads, .stream = stream}, p.n,
                p.k, p.beta, p.b, p.ldb);
}

}  // namespace gemm::generated
