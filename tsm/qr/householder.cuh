// QR by Householder reflections in a tree of two levels (TSQR: Demmel, Grigori, Hoemmen, Langou 2012), for what Cholesky QR
// can't factorise. It is right for any X; each block has all rows of a slab in turn, so it is slow.
//
// A block eliminates `chunk` rows at a time, below the R that it has: reflection j takes e_j of R and a vector v_j of the
// chunk, which replaces column j there. It is I - tau (e_j; v_j) (e_j; v_j)^H with tau = 2 / (1 + |v_j|^2), so v is all that
// must be kept. Then the blocks' R are a tall matrix themselves, which one block eliminates. Backwards the same reflections
// make Q of I.
#pragma once

#include <cstdint>

#include "tsm/qr/numbers.cuh"
#include "tsm/qr/qr.hpp"

extern __shared__ __align__(16) unsigned char smem[];

namespace gemm::qr {

constexpr int chunk = 32;  // rows: a lane has one
constexpr int householder_warps = 8, householder_threads = 32 * householder_warps;

/// A block's rows of X.
struct Slab {
  std::int64_t first, end;

  __device__ Slab(std::int64_t k, int blocks, int block) {
    const std::int64_t chunks = (k + chunk - 1) / chunk, each = (chunks + blocks - 1) / blocks * chunk;
    first = min(block * each, k);
    end = min(first + each, k);
  }
};

/// Rows of a chunk, by columns, so that lanes have words side by side; zeros where there are none.
template <class T>
__device__ void load_chunk(T* to, const T* x, std::int64_t ldx, int n, std::int64_t existing) {
  for (int i = threadIdx.x; i < chunk * n; i += householder_threads)
    to[i % n * chunk + i / n] = i / n < existing ? x[i / n * ldx + i % n] : T{};
}
template <class T>
__device__ void store_chunk(const T* from, T* x, std::int64_t ldx, int n, std::int64_t existing) {
  for (int i = threadIdx.x; i < chunk * n; i += householder_threads) {
    if (i / n < existing) x[i / n * ldx + i % n] = from[i % n * chunk + i / n];
  }
}

/// The reflection with v, which a warp has a word of in each lane, of a column: `top` in R's row, its own word in each lane.
template <class T>
__device__ void reflect(T v, double tau, T& top, T& word) {
  const T dot = add(top, sum_of_warp(multiply_add(conjugate_if(true, v), word, T{})));
  top = add(top, times(-tau, dot));
  word = add(word, multiply_add(times(-tau, v), dot, T{}));
}

/// R of these rows, n x n, in r, which is shared; their v instead of them.
template <class T>
__device__ void eliminate(T* x, std::int64_t ldx, int n, std::int64_t first, std::int64_t end, T* r, T* rows) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int i = threadIdx.x; i < n * n; i += householder_threads) r[i] = {};
  for (; first < end; first += chunk) {
    load_chunk(rows, x + first * ldx, ldx, n, end - first);
    for (int j = 0; j < n; ++j) {
      __syncthreads();
      // Each warp finds v for itself; one stores it, when all have read the column.
      const T word = rows[j * chunk + lane], top = r[j * n + j];
      const double length = sqrt(sum_of_warp(square(word)) + square(top)), head = sqrt(square(top));
      const T phase = head > 0 ? times(1 / head, top) : from_real(1, T{});
      // v = word / (top - alpha), and alpha = -phase length, so that nothing is cancelled.
      const double scale = length > 0 ? 1 / (head + length) : 0;
      const T v = times(scale, multiply_add(conjugate_if(true, phase), word, T{}));
      const double tau = 2 / (1 + sum_of_warp(square(v)));
      __syncthreads();
      if (warp == 0) {
        rows[j * chunk + lane] = v;
        if (lane == 0) r[j * n + j] = times(-length, phase);
      }
      for (int col = j + 1 + warp; col < n; col += householder_warps) {
        T its = rows[col * chunk + lane], over = r[j * n + col];
        reflect(v, tau, over, its);
        rows[col * chunk + lane] = its;
        __syncwarp();
        if (lane == 0) r[j * n + col] = over;
      }
    }
    __syncthreads();
    store_chunk(rows, x + first * ldx, ldx, n, end - first);
    __syncthreads();
  }
  __syncthreads();
}

/// Q of what eliminate() has left, times `top`, n x n and shared, which it overwrites.
template <class T>
__device__ void form(T* x, std::int64_t ldx, int n, std::int64_t first, std::int64_t end, T* top, T* rows, T* vs) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (first >= end) return;
  for (std::int64_t at = first + (end - first - 1) / chunk * chunk; at >= first; at -= chunk) {
    load_chunk(vs, x + at * ldx, ldx, n, end - at);
    __syncthreads();
    for (int col = warp; col < n; col += householder_warps) {
      T word{};
      for (int j = n - 1; j >= 0; --j) {
        const T v = vs[j * chunk + lane];
        T over = top[j * n + col];
        __syncwarp();
        reflect(v, 2 / (1 + sum_of_warp(square(v))), over, word);
        if (lane == 0) top[j * n + col] = over;
      }
      rows[col * chunk + lane] = word;
    }
    __syncthreads();
    store_chunk(rows, x + at * ldx, ldx, n, end - at);
    __syncthreads();
  }
}

/// Each block's R, one below the other in `blocks_r`.
template <class T>
__global__ void __launch_bounds__(householder_threads)
    eliminate_slabs(int n, std::int64_t k, T* x, std::int64_t ldx, T* blocks_r, const int* method) {
  if (*method != householder) return;
  T *const r = reinterpret_cast<T*>(smem), *const rows = r + n * n;
  const Slab slab(k, gridDim.x, blockIdx.x);
  eliminate(x, ldx, n, slab.first, slab.end, r, rows);
  for (int i = threadIdx.x; i < n * n; i += householder_threads)
    blocks_r[static_cast<std::int64_t>(blockIdx.x) * n * n + i] = i % n < i / n ? T{} : r[i];
}

/// One block: R of the blocks' R, with a diagonal that is not negative, and instead of each of them its part of Q.
template <class T>
__global__ void __launch_bounds__(householder_threads)
    join_slabs(int n, int blocks, T* blocks_r, T* r, std::int64_t ldr, const int* method) {
  if (*method != householder) return;
  T *const top = reinterpret_cast<T*>(smem), *const rows = top + n * n, *const vs = rows + chunk * n;
  eliminate(blocks_r, n, n, 0, static_cast<std::int64_t>(blocks) * n, top, rows);
  const auto phase = [&](int i) {
    const double head = sqrt(square(top[i * n + i]));
    return head > 0 ? times(1 / head, top[i * n + i]) : from_real(1, T{});
  };
  for (int i = threadIdx.x; i < n * n; i += householder_threads) {
    const int row = i / n, col = i % n;
    r[row * ldr + col] = row <= col ? multiply_add(conjugate_if(true, phase(row)), top[i], T{}) : T{};
  }
  __syncthreads();
  // Q gets the phase that R's row loses.
  T mine{};
  if (static_cast<int>(threadIdx.x) < n) mine = phase(threadIdx.x);
  __syncthreads();
  for (int i = threadIdx.x; i < n * n; i += householder_threads) top[i] = {};
  __syncthreads();
  if (static_cast<int>(threadIdx.x) < n) top[threadIdx.x * (n + 1)] = mine;
  __syncthreads();
  form(blocks_r, n, n, 0, static_cast<std::int64_t>(blocks) * n, top, rows, vs);
}

/// Each block's rows of Q.
template <class T>
__global__ void __launch_bounds__(householder_threads)
    form_slabs(int n, std::int64_t k, T* x, std::int64_t ldx, const T* blocks_r, const int* method) {
  if (*method != householder) return;
  T *const top = reinterpret_cast<T*>(smem), *const rows = top + n * n, *const vs = rows + chunk * n;
  for (int i = threadIdx.x; i < n * n; i += householder_threads)
    top[i] = blocks_r[static_cast<std::int64_t>(blockIdx.x) * n * n + i];
  const Slab slab(k, gridDim.x, blockIdx.x);
  __syncthreads();
  form(x, ldx, n, slab.first, slab.end, top, rows, vs);
}

}  // namespace gemm::qr
