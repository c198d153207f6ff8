// Four neighbouring words at a time, where the matrix has so many and its rows start at multiples of 16 bytes. Stage
// 09a teaches the loads.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace gemm {

/// Whether each row of a matrix starts at a multiple of 16 bytes.
inline bool has_aligned_rows(const float* matrix, std::int64_t ld) {
  return reinterpret_cast<std::uintptr_t>(matrix) % sizeof(float4) == 0 && ld % 4 == 0;
}

/// The same of A, B and C.
template <class Problem>
bool all_have_aligned_rows(const Problem& p) {
  return has_aligned_rows(p.a, p.lda) && has_aligned_rows(p.b, p.ldb) && has_aligned_rows(p.c, p.ldc);
}

/// Four words from `from` on, times alpha.
__device__ __forceinline__ float4 scaled4(float alpha, const float* from) {
  return make_float4(alpha * from[0], alpha * from[1], alpha * from[2], alpha * from[3]);
}

/// Four words, of which `inside` exist; zeros stand for the others. One load if VECTOR and all four exist.
template <bool VECTOR>
__device__ float4 fetch4(const float* from, int inside) {
  if (VECTOR && inside >= 4) return *reinterpret_cast<const float4*>(from);
  return {inside > 0 ? from[0] : 0.0f, inside > 1 ? from[1] : 0.0f, inside > 2 ? from[2] : 0.0f,
          inside > 3 ? from[3] : 0.0f};
}

/// The same where the alignment is known at run time only.
__device__ __forceinline__ float4 fetch4(const float* from, int inside, bool vector) {
  if (vector && inside >= 4) return *reinterpret_cast<const float4*>(from);
  return {inside > 0 ? from[0] : 0.0f, inside > 1 ? from[1] : 0.0f, inside > 2 ? from[2] : 0.0f,
          inside > 3 ? from[3] : 0.0f};
}

/// Word i of each four.
template <int N>
__device__ __forceinline__ void take_words(float (&to)[N], const float4 (&fours)[N], int i) {
#pragma unroll
  for (int r = 0; r < N; ++r) {
    const float4 four = fours[r];
    to[r] = i == 0 ? four.x : i == 1 ? four.y : i == 2 ? four.z : four.w;
  }
}

/// N words, or N times four, as float4s that lie APART words apart.
template <int APART, int N>
__device__ __forceinline__ void read_fours(float (&to)[N], const float* from) {
#pragma unroll
  for (int i = 0; i < N; i += 4)
    *reinterpret_cast<float4*>(&to[i]) = *reinterpret_cast<const float4*>(from + i / 4 * APART);
}
template <int APART, int N>
__device__ __forceinline__ void read_fours(float4 (&to)[N], const float* from) {
#pragma unroll
  for (int i = 0; i < N; ++i) to[i] = *reinterpret_cast<const float4*>(from + i * APART);
}

/// The same for STEPS steps of k, their words ROW apart.
template <int APART, int STEPS, int N>
__device__ __forceinline__ void read_fours(float (&to)[STEPS][N], const float* from, int row) {
#pragma unroll
  for (int step = 0; step < STEPS; ++step) read_fours<APART>(to[step], from + step * row);
}

/// sum += x y, in columns `from` to before `to`: down one column, up the next, so that an FFMA shares a word with the one
/// before it, which need not be read from the register banks again. Stage 12 teaches it.
template <int ROWS, int COLS>
__device__ __forceinline__ void add_products(float (*sum)[COLS], const float (&x)[ROWS], const float (&y)[COLS],
                                             int from = 0, int to = COLS) {
#pragma unroll
  for (int col = from; col < to; ++col) {
#pragma unroll
    for (int i = 0; i < ROWS; ++i) {
      const int r = col % 2 ? ROWS - 1 - i : i;
      sum[r][col] += x[r] * y[col];
    }
  }
}

/// alpha sum + beta C for four words of C, of which `inside` exist.
template <bool VECTOR>
__device__ void store4(float* to, int inside, float alpha, float4 sum, float beta) {
  const float value[4] = {alpha * sum.x, alpha * sum.y, alpha * sum.z, alpha * sum.w};
  if (VECTOR && inside >= 4) {
    float4 out = {value[0], value[1], value[2], value[3]};
    if (beta != 0.0f) {  // beta = 0 must not read C, which may hold NaN
      const float4 old = *reinterpret_cast<const float4*>(to);
      out = {out.x + beta * old.x, out.y + beta * old.y, out.z + beta * old.z, out.w + beta * old.w};
    }
    *reinterpret_cast<float4*>(to) = out;
    return;
  }
#pragma unroll
  for (int s = 0; s < 4; ++s) {
    if (s < inside) to[s] = beta == 0.0f ? value[s] : value[s] + beta * to[s];
  }
}

/// The same where the alignment is known at run time only.
__device__ __forceinline__ void store4(float* to, int inside, float alpha, const float* sum, float beta, bool vector) {
  if (vector && inside >= 4) {
    float4 out = beta == 0.0f ? float4{} : *reinterpret_cast<const float4*>(to);
    out = {alpha * sum[0] + beta * out.x, alpha * sum[1] + beta * out.y, alpha * sum[2] + beta * out.z,
           alpha * sum[3] + beta * out.w};
    *reinterpret_cast<float4*>(to) = out;
    return;
  }
#pragma unroll
  for (int s = 0; s < 4; ++s) {
    if (s < inside) to[s] = beta == 0.0f ? alpha * sum[s] : alpha * sum[s] + beta * to[s];
  }
}

/// alpha sum + beta C at `out`, for row `row` and columns col to col + 3 of C, as far as they are among its m x n. VECTOR:
/// rows start at multiples of 16 bytes, and n is a multiple of 4.
template <bool VECTOR>
__device__ void store_sums4(float* out, int row, int col, int m, int n, float alpha, const float* sum, float beta) {
  if (VECTOR && beta == 0.0f && row < m && col < n) {
    *reinterpret_cast<float4*>(out) = scaled4(alpha, sum);
    return;
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (row < m && col + i < n) out[i] = beta == 0.0f ? alpha * sum[i] : alpha * sum[i] + beta * out[i];
  }
}

/// Stores four words of C, of which `inside` exist, from sums that are scaled by alpha. vector: rows of C start at
/// multiples of 16 bytes.
__device__ inline void store_scaled4(float* out, int inside, bool vector, float4 sum, float beta) {
  if (vector && beta == 0.0f && inside >= 4) {
    *reinterpret_cast<float4*>(out) = sum;
    return;
  }
  const float s[4] = {sum.x, sum.y, sum.z, sum.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (i < inside) out[i] = beta == 0.0f ? s[i] : s[i] + beta * out[i];
  }
}

}  // namespace gemm
