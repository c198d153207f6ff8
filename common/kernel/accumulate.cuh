// C = beta C before a kernel, and atomic additions to C by its threads. Stages 02 and 03 of tsm/ teach both.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/kernel/complex.cuh"
#include "common/kernel/launch.cuh"

namespace gemm {

/// C = beta C, m x n; a thread per element. beta = 0 does not read C.
template <class T>
__global__ void scale(int m, int n, T beta, T* c, std::int64_t ldc) {
  const int element = blockIdx.x * blockDim.x + threadIdx.x;
  if (element >= m * n) return;
  T* const out = c + element / n * ldc + element % n;
  *out = scaled(T{}, T{}, beta, out);
}

/// Enqueues scale().
template <class T>
Status launch_scale(int m, int n, T beta, T* c, std::int64_t ldc, cudaStream_t stream) {
  constexpr int THREADS = 128;
  const auto grid = static_cast<unsigned>(ceil_div(m * n, THREADS));
  return launch(scale<T>, {.grid = grid, .block = THREADS, .stream = stream}, m, n, beta, c, ldc);
}

/// Atomically *out += x; of a complex number each part by itself.
__device__ inline void add_to(double* out, double x) {
  atomicAdd(out, x);
}
__device__ inline void add_to(double2* out, double2 x) {
  atomicAdd(&out->x, x.x);
  atomicAdd(&out->y, x.y);
}

}  // namespace gemm
