// Stages 03 and 03b: where a thread's copies read A and B, inside the matrices and at their edges.
//
// Sources refers to the kernel's variables, because nvcc then makes the same code of it as of lambdas in the kernel. With
// pointers of its own, the loop has other instructions.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "common/kernel/ptx.cuh"
#include "tensorcore/pipeline/shape.cuh"

namespace pipeline {

// A thread's copies of a k-tile are numbered: those of A first, then those of B.
template <class S>
struct Sources {
  static constexpr int A_COPIES = S::A_COPIES, A_STEP = S::A_STEP, B_COPIES = S::B_COPIES, B_STEP = S::B_STEP;

  const int &m, &n, &k;
  const __half *__restrict__ const &a, *__restrict__ const &b;
  const unsigned &lda, &ldb;
  const int &a_row, &a_chunk, &b_row, &b_chunk;  // the thread's first chunk of A's tile, and of B's
  // A pointer for each copy: no address waits for another one's copy to have been read.
  const __half* (&from)[S::COPIES];
  const std::size_t b_tile = static_cast<std::size_t>(ldb) * S::TILE_K;

  // The next copies are of the `first`-th complete k-tile, for the tile of C at tile_row and tile_col. Outside the
  // matrices the last row and the last chunk stand in: what becomes of them is not stored.
  __device__ void begin(int tile_row, int tile_col, int first) const {
#pragma unroll
    for (int i = 0; i < A_COPIES; ++i) {
      const std::size_t row = static_cast<unsigned>(min(tile_row + a_row + i * A_STEP, m - 1));
      from[i] = a + row * lda + first * S::TILE_K + a_chunk * CHUNK;
    }
#pragma unroll
    for (int i = 0; i < B_COPIES; ++i) {
      const std::size_t row = static_cast<unsigned>(first * S::TILE_K + b_row + i * B_STEP);
      from[A_COPIES + i] = b + row * ldb + min(tile_col + b_chunk * CHUNK, (n - 1) / CHUNK * CHUNK);
    }
  }
  // Copy i goes on to the next k-tile.
  __device__ void move_on(int i) const {
    from[i] = gemm::ptx::kept(from[i] + (i < A_COPIES ? S::TILE_K : b_tile));
  }
  // A partial k-tile, `steps` steps of k, is copied first, in the prologue: its bounds checks would slow the main loop.
  // Zeros fill it up. to(i): where copy i writes. One loop for A and B: of two, g++ splits one by a_bytes, and the
  // executor counts its copies twice.
  template <class To>
  __device__ void copy_tail(const To& to, int steps) const {
    const int a_bytes = 2 * max(min(steps - a_chunk * CHUNK, CHUNK), 0);
#pragma unroll
    for (int i = 0; i < A_COPIES + B_COPIES; ++i) {
      const bool of_a = i < A_COPIES;
      const int bytes = of_a ? a_bytes : b_row + (i - A_COPIES) * B_STEP < steps ? 16 : 0;
      const std::size_t skipped = static_cast<std::size_t>(k - steps) * (of_a ? 1 : ldb);
      gemm::ptx::cp_async_cg(to(i), bytes > 0 ? from[i] + skipped : of_a ? a : b, bytes);
    }
  }
};

}  // namespace pipeline
