// The lower half of a Gram matrix of several blocks, from the upper half.
#include "common/kernel/complex.cuh"
#include "common/kernel/launch.cuh"
#include "tsm/ahead/ahead.hpp"

namespace gemm::ahead {
namespace {

constexpr int mirror_threads = 256;

template <class T>
__global__ void mirror(const BlockEnds ends, bool conjugate, T* c, std::int64_t ldc) {
  const int n = ends.end[ends.count - 1], element = blockIdx.x * mirror_threads + threadIdx.x;
  if (element >= n * n) return;
  const int row = element / n, col = element % n;
  bool below = false;  // the element is in a block below the diagonal's
  for (int i = 0; i < ends.count - 1; ++i) below |= row >= ends.end[i] && col < ends.end[i];
  if (below) c[row * ldc + col] = conjugate_if(conjugate, c[col * ldc + row]);
}

template <class T>
Status launch_mirror(const BlockEnds& ends, bool conjugate, T* c, std::int64_t ldc, cudaStream_t stream) {
  const int n = ends.end[ends.count - 1];
  return gemm::launch(
      mirror<T>,
      {.grid = static_cast<unsigned>(ceil_div(n * n, mirror_threads)), .block = mirror_threads, .stream = stream}, ends,
      conjugate, c, ldc);
}

}  // namespace

Status mirror_blocks(const BlockEnds& ends, bool, double* c, std::int64_t ldc, cudaStream_t stream) {
  return launch_mirror(ends, false, c, ldc, stream);
}
Status mirror_blocks(const BlockEnds& ends, bool conjugate, double2* c, std::int64_t ldc, cudaStream_t stream) {
  return launch_mirror(ends, conjugate, c, ldc, stream);
}

}  // namespace gemm::ahead
