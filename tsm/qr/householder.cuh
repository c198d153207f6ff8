// QR by Householder reflections in a tree of two levels (TSQR: Demmel, Grigori, Hoemmen, Langou 2012), for what
// Cholesky QR can't factorise. It is right for any X; each block has all rows of a slab in turn, so it is slow.
//
// A block eliminates `chunk` rows at a time, below the R that it has: reflection j takes e_j of R and a vector v_j of
// the chunk, which replaces column j there. It is I - tau (e_j; v_j) (e_j; v_j)^H with tau = 2 / (1 + |v_j|^2), so v is
// all that must be kept. Then the blocks' R are a tall matrix themselves, which one block eliminates. Backwards the
// same reflections make Q of I.
#pragma once

#include <cstdint>

#include "tsm/qr/numbers.cuh"
#include "tsm/qr/qr.hpp"

extern __shared__ __align__(16) unsigned char smem[];

namespace gemm::qr {

constexpr int chunk = 32;  // rows: a lane has one
constexpr int householder_warps = 8, householder_threads = 32 * householder_warps;

/// A block's rows of X, n at least.
struct Slab {
  std::int64_t first, end;

  __device__ Slab(std::int64_t k, int blocks, int block)
      : first(k / blocks * block + min(k % blocks, std::int64_t{block})),
        end(first + k / blocks + (block < k % blocks)) {}
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

/// A reflection that takes (head; words), a warp's column with `count` words in each lane, to a multiple of e_1: its v,
/// and what becomes of `head`.
template <class T, int count>
struct Reflection {
  T v[count];
  double tau;

  __device__ T find(T head, const T (&words)[count]) {
    const double size = sqrt(square(head));
    double squares = 0;
    for (const T& word : words) squares += square(word);
    const double length = sqrt(sum_of_warp(squares) + square(head));
    const T phase = size > 0 ? times(1 / size, head) : from_real(1, T{});
    // v = word / (head - alpha), and alpha = -phase length, so that nothing is cancelled.
    const double scale = length > 0 ? 1 / (size + length) : 0;
    for (int i = 0; i < count; ++i) v[i] = times(scale, multiply_add(conjugate_if(true, phase), words[i], T{}));
    find_tau();
    return times(-length, phase);
  }
  __device__ void find_tau() {
    double squares = 0;
    for (const T& word : v) squares += square(word);
    tau = 2 / (1 + sum_of_warp(squares));
  }
  /// Of another column.
  __device__ void apply(T& head, T (&words)[count]) const {
    T dot{};
    for (int i = 0; i < count; ++i) dot = multiply_add(conjugate_if(true, v[i]), words[i], dot);
    dot = times(-tau, add(head, sum_of_warp(dot)));
    head = add(head, dot);
    for (int i = 0; i < count; ++i) words[i] = multiply_add(v[i], dot, words[i]);
  }
};

/// n columns of (head; words) are eliminated, one after another: all of the block's threads together. head(j, col) and
/// word(i, j, col), of this lane, are where they lie; v_j takes the words' place in column j.
template <int count, class T, class Head, class Word>
__device__ void eliminate_columns(int n, const Head& head, const Word& word) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int j = 0; j < n; ++j) {
    __syncthreads();
    const auto read = [&](int col, T(&words)[count]) {
      for (int i = 0; i < count; ++i) words[i] = word(i, j, col) ? *word(i, j, col) : T{};
    };
    const auto write = [&](int col, const T(&words)[count]) {
      for (int i = 0; i < count; ++i) {
        if (word(i, j, col)) *word(i, j, col) = words[i];
      }
    };
    T words[count];
    read(j, words);
    Reflection<T, count> reflection;  // each warp finds it for itself; one stores it, when all have read the column
    const T alpha = reflection.find(*head(j, j), words);
    __syncthreads();
    if (warp == 0) {
      write(j, reflection.v);
      if (lane == 0) *head(j, j) = alpha;
    }
    for (int col = j + 1 + warp; col < n; col += householder_warps) {
      T over = *head(j, col);
      read(col, words);
      reflection.apply(over, words);
      write(col, words);
      __syncwarp();
      if (lane == 0) *head(j, col) = over;
    }
  }
  __syncthreads();
}

/// R of these rows, at least n, in r, which is n x n and shared; their v instead of them. The first n rows are
/// eliminated among themselves. (To begin with R = 0 instead would be right only as long as R is regular: else Q has
/// rows there.)
template <class T>
__device__ void eliminate(T* x, std::int64_t ldx, int n, std::int64_t first, std::int64_t end, T* r, T* rows) {
  const int lane = threadIdx.x % 32;
  const auto of_r = [&](int row, int col) { return r + row * n + col; };
  for (int i = threadIdx.x; i < n * n; i += householder_threads) r[i] = x[(first + i / n) * ldx + i % n];
  eliminate_columns<2, T>(n, of_r, [&](int i, int j, int col) {
    const int row = lane + 32 * i;
    return row > j && row < n ? of_r(row, col) : nullptr;
  });
  for (int i = threadIdx.x; i < n * n; i += householder_threads) {
    if (i / n > i % n) x[(first + i / n) * ldx + i % n] = r[i];
  }
  for (first += n; first < end; first += chunk) {
    load_chunk(rows, x + first * ldx, ldx, n, end - first);
    eliminate_columns<1, T>(n, of_r, [&](int, int, int col) { return rows + col * chunk + lane; });
    store_chunk(rows, x + first * ldx, ldx, n, end - first);
    __syncthreads();
  }
}

/// Q of what eliminate() has left, times `top`, n x n and shared, which it overwrites. vs: twice a chunk.
template <class T>
__device__ void form(T* x, std::int64_t ldx, int n, std::int64_t first, std::int64_t end, T* top, T* vs) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const std::int64_t chunks = (end - first - n + chunk - 1) / chunk;
  T* const rows = vs + chunk * n;
  for (std::int64_t at = first + n + (chunks - 1) * chunk; at >= first + n; at -= chunk) {
    load_chunk(vs, x + at * ldx, ldx, n, end - at);
    __syncthreads();
    for (int col = warp; col < n; col += householder_warps) {
      T words[1] = {};
      for (int j = n - 1; j >= 0; --j) {
        Reflection<T, 1> reflection{{vs[j * chunk + lane]}, 0};
        reflection.find_tau();
        T over = top[j * n + col];
        __syncwarp();
        reflection.apply(over, words);
        if (lane == 0) top[j * n + col] = over;
      }
      rows[col * chunk + lane] = words[0];
    }
    __syncthreads();
    store_chunk(rows, x + at * ldx, ldx, n, end - at);
    __syncthreads();
  }
  for (int i = threadIdx.x; i < n * n; i += householder_threads) vs[i] = x[(first + i / n) * ldx + i % n];
  __syncthreads();
  for (int col = warp; col < n; col += householder_warps) {
    for (int j = n - 1; j >= 0; --j) {
      Reflection<T, 2> reflection;
      T words[2];
      for (int i = 0; i < 2; ++i) {
        const int row = lane + 32 * i;
        const bool is_below = row > j && row < n;
        reflection.v[i] = is_below ? vs[row * n + j] : T{};
        words[i] = is_below ? top[row * n + col] : T{};
      }
      reflection.find_tau();
      T over = top[j * n + col];
      reflection.apply(over, words);
      __syncwarp();
      for (int i = 0; i < 2; ++i) {
        const int row = lane + 32 * i;
        if (row > j && row < n) top[row * n + col] = words[i];
      }
      if (lane == 0) top[j * n + col] = over;
      __syncwarp();
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < n * n; i += householder_threads) x[(first + i / n) * ldx + i % n] = top[i];
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
  T *const top = reinterpret_cast<T*>(smem), *const vs = top + n * n;
  eliminate(blocks_r, n, n, 0, static_cast<std::int64_t>(blocks) * n, top, vs);
  const auto phase = [&](int i) {
    const double head = sqrt(square(top[i * n + i]));
    return head > 0 ? times(1 / head, top[i * n + i]) : from_real(1, T{});
  };
  for (int i = threadIdx.x; i < n * n; i += householder_threads) {
    const int row = i / n, col = i % n;
    r[row * ldr + col] = row == col  ? from_real(sqrt(square(top[i])), T{})
                         : row < col ? multiply_add(conjugate_if(true, phase(row)), top[i], T{})
                                     : T{};
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
  form(blocks_r, n, n, 0, static_cast<std::int64_t>(blocks) * n, top, vs);
}

/// Each block's rows of Q.
template <class T>
__global__ void __launch_bounds__(householder_threads)
    form_slabs(int n, std::int64_t k, T* x, std::int64_t ldx, const T* blocks_r, const int* method) {
  if (*method != householder) return;
  T *const top = reinterpret_cast<T*>(smem), *const vs = top + n * n;
  for (int i = threadIdx.x; i < n * n; i += householder_threads)
    top[i] = blocks_r[static_cast<std::int64_t>(blockIdx.x) * n * n + i];
  const Slab slab(k, gridDim.x, blockIdx.x);
  __syncthreads();
  form(x, ldx, n, slab.first, slab.end, top, vs);
}

}  // namespace gemm::qr
