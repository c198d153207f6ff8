// A pass over X for Cholesky QR: rows are divided by R from the right, by one factor after another; then their Gram
// matrix is summed up, or they replace X. What was divided is stored once, in the last pass, and calculated anew in
// each.
#pragma once

#include <cstdint>

#include "tsm/ahead/rows.cuh"
#include "tsm/qr/factor.cuh"

namespace gemm::qr {

using ahead::Divisor;
using generated::parts_of;
using generated::smaller;

constexpr int pass_warps = 4, pass_threads = 32 * pass_warps, most_factors = 3;

/// How a block works. It has 16 `groups` rows for each warp in a stage; in shared memory, rows are `stride` elements
/// apart.
struct PassShape {
  int n, factors, groups, stages, stride;
  bool by_16_bytes;  ///< rows begin at multiples of 16 bytes
  int pieces;        ///< of a row
  Divisor by_pieces;

  __host__ __device__ int rows() const { return pass_warps * 16 * groups; }
};

/// Warps that have all fragments of a Gram matrix together; another set of warps has other rows.
__host__ __device__ constexpr int slices_of(int n) {
  return fragments_of(n) == 1 ? 4 : fragments_of(n) == 2 ? 2 : 1;
}

template <class T>
__device__ T element_of(const double (&sum)[parts_of<T>][4], int e) {
  if constexpr (parts_of<T> == 2)
    return make_double2(sum[0][e], sum[1][e]);
  else
    return sum[0][e];
}
__device__ inline void set_element(double (&sum)[1][4], int e, double x) {
  sum[0][e] = x;
}
__device__ inline void set_element(double (&sum)[2][4], int e, double2 x) {
  sum[0][e] = x.x;
  sum[1][e] = x.y;
}
__device__ inline generated::Operand<double> operand(double x) {
  return {x};
}
__device__ inline generated::Operand<double2> operand(double2 x) {
  return {x.x, x.y};
}

/// Two elements side by side, the first one at a multiple of 16 bytes.
__device__ inline void load_pair(double (&pair)[2], const double* from) {
  const double2 both = *reinterpret_cast<const double2*>(from);
  pair[0] = both.x;
  pair[1] = both.y;
}
__device__ inline void load_pair(double2 (&pair)[2], const double2* from) {
  pair[0] = from[0];
  pair[1] = from[1];
}
__device__ inline void store_pair(double* to, double x, double y) {
  *reinterpret_cast<double2*>(to) = make_double2(x, y);
}
__device__ inline void store_pair(double2* to, double2 x, double2 y) {
  to[0] = x;
  to[1] = y;
}

/// A warp's 16 rows x, each for itself: q with q R = x takes its place. By substitution: of 8 columns among the four
/// lanes that have a row, of blocks of 8 columns by Tensor Cores. No inverse of R: the bound on |x - q R| would have
/// R's condition number in it (Higham, "Accuracy and stability of numerical algorithms", 2002, chapters 8 and 14).
template <class T, int FN>
__device__ void divide_rows(T* rows, int stride, int n, const T* factor) {
  const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4, blocks = eighths(n);
  double sum[FN][parts_of<T>][4];
  // A lane's two columns of block j, of its first row or its second. Behind the last column there is room for another.
  const auto place = [&](int j, int half) { return rows + (g + half / 2 * 8) * stride + j * 8 + 2 * t; };
  const auto exists = [&](int j, int e) { return j * 8 + 2 * t + e < n; };
#pragma unroll
  for (int j = 0; j < FN; ++j) {
#pragma unroll
    for (int half = 0; half < 4; half += 2) {
      T pair[2] = {};
      if (exists(j, 1))
        load_pair(pair, place(j, half));
      else if (exists(j, 0))
        pair[0] = *place(j, half);
      set_element(sum[j], half, pair[0]);
      set_element(sum[j], half + 1, pair[1]);
    }
  }
#pragma unroll
  for (int i = 0; i < FN; ++i) {  // no breaks: nvcc would not unroll, and have the sums in memory
    if (i >= blocks) continue;
    const T* const inner = factor + inner_begin(n) + i * 64 + 2 * t;
    T reciprocals[2];  // of this lane's columns
    load_pair(reciprocals, factor + reciprocals_begin(n) + i * 8 + 2 * t);
#pragma unroll
    for (int col = 0; col < 8; ++col) {
      if (i * 8 + col >= n) continue;
      T right[2];
      load_pair(right, inner + col * 8);
#pragma unroll
      for (int half = 0; half < 4; half += 2) {
        const T mine = times(real_part(reciprocals[col % 2]), element_of<T>(sum[i], half + col % 2)),
                q = of_lane(mine, g * 4 + col / 2);
        if (t == col / 2) set_element(sum[i], half + col % 2, mine);
#pragma unroll
        for (int e = 0; e < 2; ++e)
          set_element(sum[i], half + e, multiply_add(q, right[e], element_of<T>(sum[i], half + e)));
      }
    }
#pragma unroll
    for (int half = 0; half < 4; half += 2) {
      if (exists(i, 0)) store_pair(place(i, half), element_of<T>(sum[i], half), element_of<T>(sum[i], half + 1));
    }
    __syncwarp();
#pragma unroll
    for (int s = 0; s < 2; ++s) {
      if (i + 1 >= blocks) continue;
      const T* const its = rows + g * stride + i * 8 + s * 4 + t;
      const generated::Operand<T> x[2] = {operand(its[0]), operand(its[8 * stride])};
#pragma unroll
      for (int j = i + 1; j < FN; ++j) {
        if (j >= blocks) continue;
        const generated::Operand<T> y[1] = {operand(factor[((j * (j - 1) / 2 + i) * 2 + s) * 32 + lane])};
        generated::multiply_fragments<false, 1, 1>(x, y, sum[j]);
      }
    }
  }
}

/// A warp's fragments of the Gram matrix of rows.
template <class T, int FN>
struct GramOfRows {
  static constexpr int most = FN <= 2 ? 1 : (fragments_of(8 * FN) + pass_warps - 1) / pass_warps;
  double sum[most][parts_of<T>][4] = {};
  int count, first;             ///< fragments, the number of the first one
  int left[most], right[most];  ///< columns of a lane: the first of two, the second is 8 behind
  bool new_left[most];          ///< or as the fragment's before it
  int slice, slices, second;

  __device__ explicit GramOfRows(int n) {
    const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, all = fragments_of(n);
    slices = slices_of(n);
    const int sharing = pass_warps / slices, each = (all + sharing - 1) / sharing;
    slice = warp % slices;
    first = warp / slices * each;
    count = smaller(all - first, each);
#pragma unroll
    for (int u = 0; u < most; ++u) {
      const FragmentPlace place(smaller(first + u, all - 1), n);
      // What lies behind the last column is that one: what comes of it is no element.
      left[u] = place.i * 16 + g;
      right[u] = smaller(place.j * 8 + g, n - 1);
      new_left[u] = u == 0 || place.j == 2 * place.i;
    }
    second = n - 1;
  }
  __device__ void add(const T* rows, int stride, int number) {
    const int t = threadIdx.x % 4;
#pragma unroll 2
    for (int row = 4 * slice; row < number; row += 4 * slices) {
      const T* const its = rows + (row + t) * stride;
      generated::Operand<T> x[2] = {};
#pragma unroll
      for (int u = 0; u < most; ++u) {
        if (u >= count) continue;
        if (new_left[u]) {
          x[0] = operand(its[smaller(left[u], second)]);
          x[1] = operand(its[smaller(left[u] + 8, second)]);
        }
        const generated::Operand<T> y[1] = {operand(its[right[u]])};
        generated::multiply_fragments<true, 1, 1>(x, y, sum[u]);
      }
    }
  }
  __device__ void store(T* partial, int n) const {
    T* const to = partial + (static_cast<std::int64_t>(blockIdx.x) * slices + slice) * (fragments_of(n) * 128) +
                  first * 128 + threadIdx.x % 32;
#pragma unroll
    for (int u = 0; u < most; ++u) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        if (u < count) to[u * 128 + e * 32] = element_of<T>(sum[u], e);
      }
    }
  }
};

/// Divides all rows of X by the factors, and stores them in X, or the sums of their Gram matrix over the rows of each
/// block and slice in `partial`. Not, if this is another method's; 0: in any case.
template <class T, int FN, bool stores>
__global__ void __launch_bounds__(pass_threads, FN* parts_of<T> > 12 ? 1 : 2)
    pass(const PassShape shape, std::int64_t k, T* x, std::int64_t ldx, const T* factors, T* partial, int level,
         const int* method) {
  constexpr int element = sizeof(T);
  if (level != 0 && *method != level) return;
  const int n = shape.n, stride = shape.stride, rows = shape.rows(), warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  T* const kept = reinterpret_cast<T*>(smem);
  T* const stages = kept + shape.factors * factor_elements(n);
  for (int i = threadIdx.x; i < shape.factors * factor_elements(n); i += pass_threads) kept[i] = factors[i];

  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * rows;
  std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * rows, next = first;
  // Starts the copies of the next stage; zeros for rows that don't exist.
  const auto copy = [&](T* to) {
    const std::int64_t left = k - next;
    const int existing = left < rows ? static_cast<int>(left) : rows;
    for (int p = threadIdx.x; existing > 0 && p < rows * shape.pieces; p += pass_threads) {
      const int row = shape.by_pieces.divide(p), piece = p - row * shape.pieces;
      const bool exists = row < existing;
      if (shape.by_16_bytes) {
        const int col = piece * (16 / element), bytes = smaller((n - col) * element, 16);
        ptx::cp_async_cg(to + row * stride + col, exists ? x + (next + row) * ldx + col : x, exists ? bytes : 0);
      } else {
        ptx::cp_async_ca<8>(to + row * stride + piece, exists ? x + (next + row) * ldx + piece : x, exists ? 8 : 0);
      }
    }
    ptx::cp_async_commit();
    next += step;
  };
  T *at = stages, *const end = stages + shape.stages * rows * stride;
  for (T* stage = stages; stage != end; stage += rows * stride) copy(stage);

  GramOfRows<T, FN> gram(n);
#pragma unroll 1
  for (; first < k; first += step) {
    ahead::wait_for_all_but(shape.stages - 1);
    __syncthreads();
#pragma unroll 1
    for (int group = 0; group < shape.groups; ++group) {
      const int row = (warp * shape.groups + group) * 16;
      T* const its = at + row * stride;
#pragma unroll 1
      for (int f = 0; f < shape.factors; ++f) divide_rows<T, FN>(its, stride, n, kept + f * factor_elements(n));
      if constexpr (stores) {
        const std::int64_t left = k - first - row;
        const int existing = left < 16 ? static_cast<int>(left) : 16;
        for (int p = lane; p < existing * shape.pieces; p += 32) {
          const int of = shape.by_pieces.divide(p), piece = p - of * shape.pieces;
          const int col = shape.by_16_bytes ? piece * (16 / element) : piece;
          const T* const from = its + of * stride + col;
          T* const to = x + (first + row + of) * ldx + col;
          if (element == 8 && shape.by_16_bytes && col + 1 < n)
            *reinterpret_cast<double2*>(to) = *reinterpret_cast<const double2*>(from);
          else
            *to = *from;
        }
      }
    }
    if constexpr (!stores) {
      __syncthreads();
      gram.add(at, stride, rows);
    }
    __syncthreads();  // nobody reads this stage any more
    copy(at);
    at += rows * stride;
    if (at == end) at = stages;
  }
  if constexpr (!stores) gram.store(partial, n);
}

}  // namespace gemm::qr
