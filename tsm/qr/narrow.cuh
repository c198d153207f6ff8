// A pass over X for Cholesky QR where rows have few columns: a thread has whole rows, and no Tensor Cores are needed.
#pragma once

#include <cstdint>

#include "tsm/qr/factor.cuh"

namespace gemm::qr {

constexpr int most_narrow_columns = 4;
constexpr int narrow_threads = 256, narrow_rows = 4;  ///< rows that a thread has at a time

/// As pass() (pass.cuh), for N columns.
template <class T, int N, bool stores>
__global__ void __launch_bounds__(narrow_threads)
    narrow_pass(std::int64_t k, int number, T* x, std::int64_t ldx, const T* factors, T* partial, int level,
                const int* method) {
  if (level != 0 && *method != level) return;
  T sums[N][N] = {};
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * narrow_threads;
  const auto from = static_cast<std::int64_t>(blockIdx.x) * narrow_threads + threadIdx.x;
#pragma unroll 1
  for (std::int64_t first = from; first < k; first += narrow_rows * step) {
    T rows[narrow_rows][N];
#pragma unroll
    for (int u = 0; u < narrow_rows; ++u) {
#pragma unroll
      for (int j = 0; j < N; ++j) rows[u][j] = first + u * step < k ? x[(first + u * step) * ldx + j] : T{};
    }
#pragma unroll 1
    for (int f = 0; f < number; ++f) {
      const T* const block = factors + f * factor_elements(N);
#pragma unroll
      for (int i = 0; i < N; ++i) {
        const double reciprocal = real_part(block[BlockPlace::word(i, i)]);
#pragma unroll
        for (int u = 0; u < narrow_rows; ++u) rows[u][i] = times(reciprocal, rows[u][i]);
#pragma unroll
        for (int j = i + 1; j < N; ++j) {
          const T minus = block[block_elements + BlockPlace::word(i, j)];
#pragma unroll
          for (int u = 0; u < narrow_rows; ++u) rows[u][j] = multiply_add(rows[u][i], minus, rows[u][j]);
        }
      }
    }
#pragma unroll
    for (int u = 0; u < narrow_rows; ++u) {
#pragma unroll
      for (int j = 0; j < N; ++j) {
        if constexpr (stores) {
          if (first + u * step < k) x[(first + u * step) * ldx + j] = rows[u][j];
        } else {
#pragma unroll
          for (int i = 0; i <= j; ++i)
            sums[i][j] = multiply_add(conjugate_if(true, rows[u][i]), rows[u][j], sums[i][j]);
        }
      }
    }
  }
  if constexpr (!stores) {
    constexpr int warps = narrow_threads / 32;
    __shared__ T of_warps[warps][N][N];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int i = 0; i < N; ++i) {
      for (int j = i; j < N; ++j) {
        const T sum = sum_of_warp(sums[i][j]);
        if (lane == 0) of_warps[warp][i][j] = sum;
      }
    }
    __syncthreads();
    for (int word = threadIdx.x; word < fragment_elements; word += narrow_threads) {
      const int row = word % 32 / 4 + word / 64 * 8, col = word % 4 * 2 + word / 32 % 2;
      T sum{};
      for (int w = 0; w < warps && row <= col && col < N; ++w) sum = add(sum, of_warps[w][row][col]);
      partial[blockIdx.x * fragment_elements + word] = sum;
    }
  }
}

}  // namespace gemm::qr
