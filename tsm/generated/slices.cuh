// How a block of the generated kernels divides into slices: for the kernel, for its launch and for the model.
#pragma once

#include <cuda_runtime.h>

namespace gemm::generated {

__host__ __device__ constexpr int ceil_div(int a, int b) {
  return (a + b - 1) / b;
}
__host__ __device__ constexpr int smaller(int a, int b) {
  return a < b ? a : b;
}

/// Slices (threads that have a whole row of the problem between them) of a block, and how many of them can leave their
/// sums in shared memory at a time: half, as far as they fit into what every GPU has.
struct Slices {
  int threads, count, stored, shared_bytes;
};
__host__ __device__ constexpr Slices slices_of(int element, int m, int n, int tile_m, int tile_n, int threads) {
  constexpr int limit = 48 * 1024;
  const int slice = ceil_div(m, tile_m) * ceil_div(n, tile_n), count = threads / slice;
  const int bytes = slice * tile_m * tile_n * element, fit = limit / bytes > 1 ? limit / bytes : 1;
  const int stored = smaller(count / 2, fit);
  return {slice, count, stored, stored * bytes};
}

/// Of tiles of `tall` x `wide` elements, along_n side by side: how many reach above the diagonal, or begin on it.
__host__ __device__ constexpr int tiles_above(int along_m, int along_n, int tall, int wide) {
  int count = 0;
  for (int i = 0; i < along_m; ++i) count += along_n - i * tall / wide;
  return count;
}
/// The number, of all tiles, of the place-th of those.
__host__ __device__ constexpr int tile_above(int place, int along_n, int tall, int wide) {
  int i = 0;
  for (; place >= along_n - i * tall / wide; ++i) place -= along_n - i * tall / wide;
  return i * along_n + i * tall / wide + place;
}

}  // namespace gemm::generated
