// The second pass of an ordered reduction: C from what each block has left.
#pragma once

#include <algorithm>

#include "common/kernel/complex.cuh"
#include "common/kernel/ptx.cuh"
#include "common/stage.cuh"

namespace gemm::generated {

constexpr int combine_threads = 256, combine_parts = 8;

// In each file that includes this for itself, as kernels are: for others the executor has to fill all files' shared
// memory.
namespace {

// A block has `elements` of C, a power of two, and combine_threads / elements threads for each, which add up every
// so-manieth part; the order depends on nothing but the sizes.
template <class T>
__global__ void combine(int m, int n, int blocks, int elements, T alpha, const T* partial, T beta, T* c,
                        std::int64_t ldc) {
  __shared__ T part[combine_threads];
  const int element = blockIdx.x * elements + threadIdx.x % elements;
  T sum{};
  gemm::ptx::wait_for_launch_ahead();  // began while the last sums were under way: 1 us is saved, much where K is small
  if (element < m * n) {
    for (int block = threadIdx.x / elements; block < blocks; block += combine_threads / elements)
      sum = add(sum, partial[static_cast<std::int64_t>(block) * m * n + element]);
  }
  part[threadIdx.x] = sum;
  for (int half = combine_threads / 2; half >= elements; half /= 2) {
    __syncthreads();
    if (static_cast<int>(threadIdx.x) < half) part[threadIdx.x] = add(part[threadIdx.x], part[threadIdx.x + half]);
  }
  if (static_cast<int>(threadIdx.x) >= elements || element >= m * n) return;
  T* const out = c + element / n * ldc + element % n;
  *out = scaled(alpha, part[threadIdx.x], beta, out);
}

}  // namespace

/// C = alpha * (the sum of `blocks` partial results, m x n each) + beta * C.
template <class T>
Status launch_combine(const TsmttsmProblem<T>& p, const T* partial, int blocks, cudaStream_t stream) {
  const int all = p.m * p.n;
  int elements = 1;
  while (elements < std::min(all, 32)) elements *= 2;
  // Parts that a thread adds up one after another are what this waits for; but a sector of 32 bytes stays whole.
  constexpr int of_a_sector = 32 / sizeof(T);
  while (elements > of_a_sector && blocks * elements > combine_parts * combine_threads) elements /= 2;
  return launch(combine<T>,
                {.grid = static_cast<unsigned>(ceil_div(all, elements)),
                 .block = combine_threads,
                 .stream = stream,
                 .may_begin_early = true},
                p.m, p.n, blocks, elements, p.alpha, partial, p.beta, p.c, p.ldc);
}

}  // namespace gemm::generated
