// Stages 08, 09 and 12: a block of THREADS threads copies an FP32 tile to shared memory, as 02 and 07 do.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/kernel/ptx.cuh"

// A tile whose rows begin at multiples of 16 bytes, if `vectors`; of any other those elements that exist, and zeros.
template <int THREADS, int ROWS, int COLS, int STRIDE, class T>
__device__ void copy_tile(T* to, const T* from, std::int64_t ld, int rows, int cols, bool vectors) {
  constexpr int CHUNK = 16 / sizeof(T), ROW_CHUNKS = COLS / CHUNK, STEP_ROWS = THREADS / ROW_CHUNKS;
  static_assert(THREADS % ROW_CHUNKS == 0 && ROWS % STEP_ROWS == 0);
  const int first = threadIdx.x / ROW_CHUNKS, col = threadIdx.x % ROW_CHUNKS * CHUNK;
  if (vectors && rows >= ROWS && cols >= COLS) {
    uint4 words[ROWS / STEP_ROWS];  // all of them are asked for before the first is stored
#pragma unroll
    for (int i = 0; i < ROWS / STEP_ROWS; ++i)
      words[i] = *reinterpret_cast<const uint4*>(from + (first + i * STEP_ROWS) * ld + col);
#pragma unroll
    for (int i = 0; i < ROWS / STEP_ROWS; ++i)
      *reinterpret_cast<uint4*>(to + (first + i * STEP_ROWS) * STRIDE + col) = words[i];
    return;
  }
  for (int row = first; row < ROWS; row += STEP_ROWS)
    for (int e = col; e < col + CHUNK; ++e) to[row * STRIDE + e] = row < rows && e < cols ? from[row * ld + e] : T{};
}

// The same by cp.async, as stage 03 has it: starts the copies.
template <int THREADS, int ROWS, int COLS, int STRIDE>
__device__ void copy_async(float* to, const float* tile, std::int64_t ld, int rows, int cols, bool vectors) {
  constexpr int ROW_CHUNKS = COLS / 4, STEP_ROWS = THREADS / ROW_CHUNKS;
  static_assert(THREADS % ROW_CHUNKS == 0 && ROWS % STEP_ROWS == 0 && STRIDE % 4 == 0);
  const int first = threadIdx.x / ROW_CHUNKS, col = threadIdx.x % ROW_CHUNKS * 4;
  const float* const from = tile + first * ld + col;  // once: a loop that begins at `first` multiplies in each turn
  to += first * STRIDE + col;
  if (vectors && rows >= ROWS && cols >= COLS) {
#pragma unroll
    for (int row = 0; row < ROWS; row += STEP_ROWS) gemm::ptx::cp_async_cg(to + row * STRIDE, from + row * ld);
    return;
  }
#pragma unroll 1
  for (int row = 0; row < ROWS; row += STEP_ROWS) {
    for (int e = 0; e < 4; ++e) {
      const bool exists = first + row < rows && col + e < cols;
      gemm::ptx::cp_async_ca<4>(to + row * STRIDE + e, exists ? from + row * ld + e : tile, exists ? 4 : 0);
    }
  }
}
