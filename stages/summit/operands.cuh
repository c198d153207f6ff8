// Stage 18: how words of A and B come to shared memory: through registers, or by 16-byte copies.
//
// Loads and Copies refer to the kernel's variables, because nvcc then makes the same code of them as of lambdas in the
// kernel. With pointers and counts of their own, the loop has other instructions.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "common/kernel/ptx.cuh"
#include "common/kernel/vector.cuh"
#include "stages/summit/layout.cuh"
#include "stages/summit/shape.cuh"

namespace gemm::summit {

// How a block's threads are spread over A and B.
template <class S, Way WAY>
struct Operands {
  // A batch is what is in registers at a time: STEPS steps of k of each slice.
  static constexpr int STEPS = WAY == Way::words && S::SLICES == 1 ? 8 : S::STEPS, BATCH = STEPS * S::SLICES;
  // Through registers, a warp takes STEPS steps of A at a time, RUN of them a lane; of B, 32 words of a step.
  static constexpr int RUN = WAY == Way::words && STEPS == 8 ? 2 : 4;
  static constexpr int A_ACROSS = STEPS / RUN;             // lanes side by side in a row of A
  static constexpr int A_STEP = S::WARPS * 32 / A_ACROSS;  // rows of A at a time
  static constexpr int A_LOADS = WAY == Way::packed ? 0 : S::TILE_M / A_STEP;
  static constexpr int B_STEP = S::THREADS / 32, B_ACROSS = S::TILE_N / 32;  // steps at a time, and warps' widths
  static constexpr int B_LOADS = WAY == Way::words ? BATCH / B_STEP * B_ACROSS : 0;
  static_assert(S::TILE_M % A_STEP == 0 && (S::SLICES == 1 || STEPS == S::STEPS));  // place() goes by S::STEPS
  // By 16-byte copies, a warp takes 128 words of a step, or 64 of two.
  static constexpr int A_FOURS = S::TILE_M / 4, B_FOURS = S::TILE_N / 4, B_STRIDE = S::THREADS / B_FOURS;
  static_assert(WAY == Way::words || STEPS % B_STRIDE == 0 || (B_STRIDE % STEPS == 0 && S::TILE_K % B_STRIDE == 0));

  // What a thread has of a batch.
  struct Batch {
    alignas(16) float a[A_LOADS + 1][RUN];
    float b[B_LOADS + 1];
  };

  // Lanes with different steps of k would store to the same banks. So A's columns are exchanged: column x of step k
  // lies at x ^ swizzle(k). Padding would not do: a warp's LDS.128 takes longer if its 128 bytes do not begin at a
  // multiple of 128.
  __device__ static constexpr int swizzle(int k) {
    return WAY == Way::packed ? 0 : k / RUN % A_ACROSS * (32 / A_ACROSS);
  }
};

// Loads of batches, and their stores to shared memory. Of B in words only.
template <class S, Way WAY>
struct Loads {
  using In = Operands<S, WAY>;
  using Batch = typename In::Batch;
  static constexpr int BATCH = In::BATCH, RUN = In::RUN, A_STEP = In::A_STEP, A_LOADS = In::A_LOADS;
  static constexpr int B_STEP = In::B_STEP, B_ACROSS = In::B_ACROSS, B_LOADS = In::B_LOADS;

  int& left;                // steps of k from the next batch to the end
  const float*& a_from;     // of the next batch: the thread's first step, in row 0 of the tile
  int (&row)[A_LOADS + 1];  // of the tile, from which the thread loads
  const unsigned& lda;
  const float*& b_from;  // of the next batch: the lane's first column, in step 0
  const int& warp;
  const unsigned& ldb;
  bool (&inside)[B_ACROSS];  // whether a column of the lane's is one of B
  const int& a_k;            // the thread's first step of a batch

  // Rows outside A repeat its last ones, and columns outside B are not loaded: what they give is not stored.
  __device__ __forceinline__ void stay_inside(int m, int n, int a_row, int lane, int tile_row, int tile_col) {
#pragma unroll
    for (int i = 0; i < A_LOADS; ++i) row[i] = min(a_row + i * A_STEP, m - 1 - tile_row);
#pragma unroll
    for (int i = 0; i < B_ACROSS; ++i) inside[i] = tile_col + lane + 32 * i < n;
  }

  __device__ __forceinline__ const float* b_address(int i) const {
    return ptx::row_address(b_from, warp + i / B_ACROSS * B_STEP, 4 * ldb) + i % B_ACROSS * 32;
  }

  // Loads the next batch. Behind the end of k come zeros.
  __device__ __forceinline__ void load(Batch& batch) {
    if (left >= BATCH) {
#pragma unroll
      for (int i = 0; i < A_LOADS; ++i) {
        const float* from = ptx::row_address(a_from, row[i], 4 * lda);
        if constexpr (WAY == Way::fours) {
          *reinterpret_cast<float4*>(batch.a[i]) = __ldg(reinterpret_cast<const float4*>(from));
        } else {
#pragma unroll
          for (int j = 0; j < RUN; ++j) batch.a[i][j] = __ldg(from + j);
        }
      }
#pragma unroll
      for (int i = 0; i < B_LOADS; i += B_ACROSS) {
        const float* const from = b_address(i);
#pragma unroll
        for (int j = 0; j < B_ACROSS; ++j) {
          if (inside[j]) batch.b[i + j] = __ldg(from + 32 * j);
        }
      }
    } else {  // the end of k
#pragma unroll
      for (int i = 0; i < A_LOADS; ++i) {
        const float* from = ptx::row_address(a_from, row[i], 4 * lda);
#pragma unroll
        for (int j = 0; j < RUN; ++j) batch.a[i][j] = a_k + j < left ? __ldg(from + j) : 0.0f;
      }
#pragma unroll
      for (int i = 0; i < B_LOADS; ++i)
        batch.b[i] = inside[i % B_ACROSS] && warp + i / B_ACROSS * B_STEP < left ? __ldg(b_address(i)) : 0.0f;
    }
    a_from += BATCH;
    if (WAY == Way::words) b_from += static_cast<std::size_t>(ldb) * BATCH;
    left -= BATCH;
  }

  // Stores part i of `parts` of a batch. a_to, b_to: the thread's first word of the k-tile, or of the batch in it.
  __device__ __forceinline__ static void store(const Batch& batch, float* a_to, float* b_to, int i, int parts) {
#pragma unroll
    for (int j = 0; j < A_LOADS * RUN; ++j) {
      if (i * A_LOADS * RUN <= j * parts && j * parts < (i + 1) * A_LOADS * RUN)
        a_to[j % RUN * S::ROW + j / RUN * A_STEP] = batch.a[j / RUN][j % RUN];
    }
#pragma unroll
    for (int j = 0; j < B_LOADS; ++j) {
      if (i * B_LOADS <= j * parts && j * parts < (i + 1) * B_LOADS)
        b_to[S::place(j / B_ACROSS * B_STEP) + j % B_ACROSS * 32] = batch.b[j];
    }
  }
};

// 16-byte copies of k-tiles: of B, and of A where it is packed.
template <class S, Way WAY>
struct Copies {
  static constexpr int TILE_M = S::TILE_M, TILE_K = S::TILE_K, ROW = S::ROW, TILE = S::TILE, THREADS = S::THREADS;
  static constexpr int A_FOURS = Operands<S, WAY>::A_FOURS, B_FOURS = Operands<S, WAY>::B_FOURS;

  const int &a_step, &a_col, &b_step, &b_col;  // the thread's first words in a k-tile
  int& uncopied;                               // steps of k from the next k-tile to the end
  const float *&a_from, *&b_from;              // the thread's first words of the next k-tile
  const unsigned& ldb;
  const float *__restrict__ const &a, *__restrict__ const &b;

  // Starts the copies of the next k-tile. Behind the end of k come zeros.
  __device__ __forceinline__ void copy(int buffer) {
    float* const a_copy = smem + buffer * TILE + a_step * ROW + a_col;
    float* const b_copy = smem + buffer * TILE + S::place(b_step) + b_col + TILE_M;
    if (uncopied >= TILE_K) {
      if (WAY == Way::packed) {
#pragma unroll
        for (int i = 0; i < TILE_K; i += THREADS / A_FOURS)
          ptx::cp_async_cg(a_copy + S::place(i), a_from + i * TILE_M, 16);
      }
#pragma unroll
      for (int i = 0; i < TILE_K; i += THREADS / B_FOURS)
        ptx::cp_async_cg(b_copy + S::place(i), b_from + static_cast<std::size_t>(ldb) * i, 16);
    } else if (uncopied > 0) {  // the end of k
      if (WAY == Way::packed) {
#pragma unroll 1
        for (int i = 0; i < TILE_K; i += THREADS / A_FOURS) {
          const bool inside = a_step + i < uncopied;
          ptx::cp_async_cg(a_copy + S::place(i), inside ? a_from + i * TILE_M : a, inside ? 16 : 0);
        }
      }
#pragma unroll 1
      for (int i = 0; i < TILE_K; i += THREADS / B_FOURS) {
        const bool inside = b_step + i < uncopied;
        ptx::cp_async_cg(b_copy + S::place(i), inside ? b_from + static_cast<std::size_t>(ldb) * i : b,
                         inside ? 16 : 0);
      }
    }
    ptx::cp_async_commit();
    if (WAY == Way::packed) a_from += TILE_K * TILE_M;
    b_from += static_cast<std::size_t>(ldb) * TILE_K;
    uncopied -= TILE_K;
  }
};

// Reads a thread's words of a step of k. a_at, b_at: where the step's words lie, from the thread's first ones on.
template <class S, Way WAY>
__device__ __forceinline__ void read_step(float (&x)[S::ROWS], float (&y)[S::COLS], int step, const float* a_at,
                                          const float* b_at, int thread) {
  // The XOR of the lane's own column is computed once at run time, that of a float4's position by the compiler.
  constexpr int LANES = S::WARP_M < 32 ? 31 : 4 * S::LANES_M - 1;
  const int exchanged = Operands<S, WAY>::swizzle(step), own = sums_row<S>(thread);
  const int there = (own ^ (exchanged & LANES)) - own;
#pragma unroll
  for (int r = 0; r < S::ROWS; r += 4)
    *reinterpret_cast<float4*>(&x[r]) =
        *reinterpret_cast<const float4*>(a_at + there + (r * S::LANES_M ^ (exchanged & ~LANES)));
  read_fours<4 * S::LANES_N>(y, b_at);
}

}  // namespace gemm::summit
