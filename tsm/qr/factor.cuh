// The small matrices of Cholesky QR: the Gram matrix from the blocks' sums, its Cholesky factor, the decision, and R.
#pragma once

#include <cfloat>
#include <cstdint>

#include "tsm/generated/stream.cuh"
#include "tsm/qr/numbers.cuh"
#include "tsm/qr/qr.hpp"

extern __shared__ __align__(16) unsigned char smem[];

namespace gemm::qr {

/// A Gram matrix, which is Hermitian, as Tensor Cores have it: fragments of 16 x 8 that reach above the diagonal, one
/// row of fragments after another. Element e of lane 4 g + t is (g + e / 2 * 8, 2 t + e % 2).
constexpr int fragment_elements = 128;
__host__ __device__ constexpr int eighths(int n) {
  return (n + 7) / 8;
}
__host__ __device__ constexpr int fragments_of(int n) {
  int count = 0;
  for (int i = 0; 2 * i < eighths(n); ++i) count += eighths(n) - 2 * i;
  return count;
}
/// The number of the fragment in rows 16 i and columns 8 j, if there are `columns` blocks of 8 columns; j >= 2 i.
__host__ __device__ constexpr int fragment_number(int i, int j, int columns) {
  return i * columns - i * (i - 1) + j - 2 * i;
}
struct FragmentPlace {
  int i, j;  ///< in 16 rows and 8 columns

  __device__ FragmentPlace(int number, int n) : i(0) {
    for (int row = eighths(n); number >= row; row -= 2, ++i) number -= row;
    j = 2 * i + number;
  }
};

/// A triangular factor as the pass wants it (WarpRows::divide(), pass.cuh): blocks of 8 x 8 elements as right operands of
/// Tensor Cores. First those of -R above the diagonal of blocks, one column of blocks after another; then of each block
/// R_ii on that diagonal its inverse and -R_ii. Words 32 s + 4 g + t of a block are its elements (2 t + s, g).
constexpr int block_elements = 64;
__host__ __device__ constexpr int block_above(int i, int j) {
  return (j * (j - 1) / 2 + i) * block_elements;
}
__host__ __device__ constexpr int diagonal_begin(int n) {
  return block_above(0, eighths(n));
}
__host__ __device__ constexpr int factor_elements(int n) {
  return diagonal_begin(n) + eighths(n) * 2 * block_elements;
}
struct BlockPlace {
  int row, col;

  __device__ explicit BlockPlace(int word) : row(word % 4 * 2 + word / 32 % 2), col(word % 32 / 4) {}
  __device__ static constexpr int word(int row, int col) { return row % 2 * 32 + col * 4 + row / 2; }
};

constexpr int factor_threads = 256, sum_elements = 8;

namespace {

// As combine() of tsm/generated/combine.cuh, but it can be left out.
template <class T>
__global__ void sum_up(int parts, int elements, const T* partial, T* sums, int level, const int* method) {
  __shared__ T part[factor_threads];
  if (level != 0 && *method != level) return;
  const int element = blockIdx.x * sum_elements + threadIdx.x % sum_elements;
  T sum{};
  for (int i = threadIdx.x / sum_elements; i < parts; i += factor_threads / sum_elements)
    sum = add(sum, partial[static_cast<std::int64_t>(i) * elements + element]);
  part[threadIdx.x] = sum;
  for (int half = factor_threads / 2; half >= sum_elements; half /= 2) {
    __syncthreads();
    if (static_cast<int>(threadIdx.x) < half) part[threadIdx.x] = add(part[threadIdx.x], part[threadIdx.x + half]);
  }
  if (static_cast<int>(threadIdx.x) < sum_elements) sums[element] = part[threadIdx.x];
}

/// Element (row, col) of the inverse of the block of R that begins in row and column `first`: by back substitution.
template <class T>
__device__ T inverse_element(const T* r, int n, int first, int row, int col) {
  T x[8] = {};
#pragma unroll
  for (int i = 7; i >= 0; --i) {
    if (i > col || i < row) continue;
    T sum = from_real(i == col, T{});
#pragma unroll
    for (int l = i + 1; l < 8; ++l) {
      if (l <= col) sum = multiply_add(times(-1, r[(first + i) * n + first + l]), x[l], sum);
    }
    x[i] = times(1 / real_part(r[(first + i) * n + first + i]), sum);
  }
  T its{};
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    if (i == row) its = x[i];
  }
  return its;
}

/// One block. The Cholesky factor F of the Gram matrix in `sums`, the step-th one of this method; R = F R, of the first
/// one R = F. If a pivot isn't positive, or, in the last step, Q's Gram matrix is farther than 1/2 from I, the next
/// method is on.
///
/// The last step's Gram matrix is that of Q before the last division. Within 1/2 of I its condition number is below 3,
/// so that Q is orthogonal to working precision after this division, whatever X's condition number was: no estimate of
/// that is needed (Yamamoto, Nakatsukasa, Yanagisawa, Fukaya 2015 have this as a lemma, for X below 1e8). The shift is
/// that of Fukaya, Kannan, Nakatsukasa, Yamamoto, Yanagisawa (2020), with X's Frobenius norm for its 2-norm.
template <class T>
__global__ void __launch_bounds__(factor_threads)
    factor(int n, double k, Method level, int step, int steps, const T* sums, T* factors, T* r, std::int64_t ldr,
           int* method) {
  __shared__ double pivots[most_columns], deviations[factor_threads / 32];
  const bool begins = level == cholesky2 && step == 0;
  if (!begins && *method != level) return;
  T *const gram = reinterpret_cast<T*>(smem), *const before = gram + n * n;
  const int thread = threadIdx.x, lane = thread % 32;
  double deviation = 0;
  for (int i = thread; i < n * n; i += factor_threads) {
    gram[i] = {};
    before[i] = step > 0 ? r[i / n * ldr + i % n] : T{};
  }
  __syncthreads();
  for (int i = thread; i < fragments_of(n) * fragment_elements; i += factor_threads) {
    const FragmentPlace place(i / fragment_elements, n);
    const int its = i % fragment_elements, e = its / 32, row = place.i * 16 + its % 32 / 4 + e / 2 * 8,
              col = place.j * 8 + its % 4 * 2 + e % 2;
    if (col >= n || row > col) continue;
    gram[row * n + col] = sums[i];
    deviation += row == col ? square(real_part(sums[i]) - 1) : 2 * square(sums[i]);
  }
  deviation = sum_of_warp(deviation);
  if (lane == 0) deviations[thread / 32] = deviation;
  __syncthreads();
  deviation = 0;
  for (const double its : deviations) deviation += its;
  double shift = 0;
  if (level == shifted_cholesky3 && step == 0) {
    for (int i = 0; i < n; ++i) shift += real_part(gram[i * n + i]);
    shift *= 11 * (k * n + n * (n + 1.0)) * (DBL_EPSILON / 2);
  }
  __syncthreads();  // before the diagonal changes
  bool works = step + 1 < steps || deviation <= 0.25;
  if (thread < n) gram[thread * n + thread] = add(gram[thread * n + thread], from_real(shift, T{}));
  // Row j times conj(g_ji) / g_jj is subtracted from row i: what is left is R, but for each row's scale.
  for (int j = 0; j < n && works; ++j) {
    __syncthreads();
    const double pivot = real_part(gram[j * n + j]);
    works = pivot > 0 && pivot <= DBL_MAX;
    const double reciprocal = 1 / pivot;
    if (thread == 0) pivots[j] = sqrt(pivot);
    for (int i = j + 1 + thread / 16; i < n; i += factor_threads / 16) {
      const T scale = times(-reciprocal, conjugate_if(true, gram[j * n + i]));
      for (int col = i + thread % 16; col < n; col += 16)
        gram[i * n + col] = multiply_add(scale, gram[j * n + col], gram[i * n + col]);
    }
  }
  __syncthreads();
  if (thread == 0 && (begins || !works)) *method = works ? level : level + 1;
  if (!works) return;
  for (int i = thread; i < n * n; i += factor_threads) {
    const int row = i / n, col = i % n;
    if (row == col)
      gram[i] = from_real(pivots[row], T{});
    else if (row < col)
      gram[i] = times(1 / pivots[row], gram[i]);
  }
  __syncthreads();

  T* const to = factors + step * factor_elements(n);
  const auto minus = [&](int row, int col) { return row <= col && col < n ? times(-1, gram[row * n + col]) : T{}; };
  for (int i = thread; i < diagonal_begin(n); i += factor_threads) {
    int of_col = 0, of_row = i / block_elements;
    for (; of_row >= of_col; ++of_col) of_row -= of_col;
    const BlockPlace place(i % block_elements);
    to[i] = minus(8 * of_row + place.row, 8 * of_col + place.col);
  }
  for (int i = thread; i < eighths(n) * block_elements; i += factor_threads) {
    const int block = i / block_elements, first = 8 * block;
    const BlockPlace place(i % block_elements);
    T* const its = to + diagonal_begin(n) + block * 2 * block_elements + i % block_elements;
    its[0] = first + place.col < n ? inverse_element(gram, n, first, place.row, place.col) : T{};
    its[block_elements] = minus(first + place.row, first + place.col);
  }
  for (int i = thread; i < n * n; i += factor_threads) {
    const int row = i / n, col = i % n;
    T sum = step == 0 ? gram[i] : T{};
    if (row > col) sum = {};
    for (int l = row; step > 0 && l <= col; ++l) sum = multiply_add(gram[row * n + l], before[l * n + col], sum);
    r[row * ldr + col] = sum;
  }
}

}  // namespace

}  // namespace gemm::qr
