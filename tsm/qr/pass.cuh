// A pass over X for Cholesky QR: rows are divided by R from the right, by one factor after another; then their Gram
// matrix is summed up, or they replace X. What was divided is stored once, in the last pass, and calculated anew in
// each.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "tsm/ahead/rows.cuh"
#include "tsm/qr/factor.cuh"

namespace gemm::qr {

using ahead::Divisor;
using generated::parts_of;
using generated::smaller;

constexpr int most_factors = 3, pass_warps = 8;
/// Real columns in registers: they say how many blocks a multiprocessor has.
template <class T, int FN>
inline constexpr int eighths_of_words = FN* parts_of<T>;
template <class T, int FN>
inline constexpr int pass_blocks = eighths_of_words<T, FN> == 1   ? 3
                                   : eighths_of_words<T, FN> <= 4 ? 2
                                                                  : 1;

/// How a block works. Each of its warps has `rows` rows in each of its stages in shared memory, `stride` elements apart.
struct PassShape {
  int n, warps, factors, rows, stages, stride;
  bool by_16_bytes;  ///< rows begin and end at multiples of 16 bytes
  int pieces;        ///< of a row
  int at_a_time;     ///< rows that a warp has to do with side by side, a lane with a piece
  Divisor by_pieces;
};

/// each(piece, line) for the pieces of a row that are this lane's, in every at_a_time-th row from `line` on.
template <class Each>
__device__ void each_column(const PassShape& shape, const Each& each) {
  const int lane = threadIdx.x % 32, line = shape.by_pieces.divide(lane);
  if (line >= shape.at_a_time) return;
#pragma unroll 1
  for (int p = lane - line * shape.pieces; p < shape.pieces; p += 32) each(p, line);
}

/// Warps that have all fragments of a Gram matrix together, of the rows of all of them: as many as registers demand.
template <class T, int FN>
inline constexpr int warps_of_team = FN <= 4 || eighths_of_words<T, FN> < 8 ? 1
                                     : eighths_of_words<T, FN> <= 12        ? 2
                                                                            : 8;

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

/// 16 rows of X in a warp's registers: sum[j], as Tensor Cores have sums (chunks.cuh), has columns 8 j to 8 j + 7.
template <class T, int FN>
struct WarpRows {
  double block[FN][parts_of<T>][4];

  /// `from`: in shared memory. Behind the last column there is room for another. (How many of both columns exist, clamped to
  /// 2, must not be compared with 2: nvcc 13.0 makes a minimum with a wrong predicate of it.)
  __device__ void load(const T* from, int stride, int n) {
    each_pair(from, stride, [&](int j, int half, const T* place, int col) {
      T pair[2] = {};
      if (col + 1 < n)
        load_pair(pair, place);
      else if (col < n)
        pair[0] = *place;
      set_element(block[j], half, pair[0]);
      set_element(block[j], half + 1, pair[1]);
    });
  }
  __device__ void store(T* to, int stride, int n) const {
    each_pair(to, stride, [&](int j, int half, T* place, int col) {
      if (col < n) store_pair(place, element_of<T>(block[j], half), element_of<T>(block[j], half + 1));
    });
  }

  /// Q with Q R = X takes X's place, each row for itself, 8 columns after another: Q_j R_jj = X_j - sum of Q_i R_ij.
  ///
  /// Only the blocks R_jj are inverted, and what is left of X_j - Q_j R_jj is divided once more. So |X - Q R| doesn't
  /// have R's condition number in it, as it would with an inverse of R alone (Higham, "Accuracy and stability of
  /// numerical algorithms", 2002, chapters 12 and 14).
  __device__ void divide(int n, const T* factor) {
#pragma unroll
    for (int i = 0; i < FN; ++i) {  // no breaks: nvcc would not unroll, and have the rows in memory
      if (i >= eighths(n)) continue;
      const T *const inverse = factor + diagonal_begin(n) + i * 2 * block_elements, *minus = inverse + block_elements;
      double q[parts_of<T>][4] = {}, rest[parts_of<T>][4];
      multiply(block[i], inverse, q);
      for (int part = 0; part < parts_of<T>; ++part) {
        for (int e = 0; e < 4; ++e) rest[part][e] = block[i][part][e];
      }
      multiply(q, minus, rest);
      multiply(rest, inverse, q);
      for (int part = 0; part < parts_of<T>; ++part) {
        for (int e = 0; e < 4; ++e) block[i][part][e] = q[part][e];
      }
#pragma unroll
      for (int j = i + 1; j < FN; ++j)  // what comes of columns that don't exist is nobody's
        multiply(q, factor + block_above(i, smaller(j, eighths(n) - 1)), block[j]);
    }
  }

 private:
  /// Adds left x right. A lane's sums (g, 2 t + s) are the operand (g, t) of a product over the terms 2 t + s, in which
  /// order `right` has its rows: nothing moves between lanes.
  __device__ static void multiply(const double (&left)[parts_of<T>][4], const T* right, double (&sum)[parts_of<T>][4]) {
#pragma unroll
    for (int s = 0; s < 2; ++s) {
      const generated::Operand<T> a[2] = {operand(element_of<T>(left, s)), operand(element_of<T>(left, 2 + s))},
                                  b[1] = {operand(right[s * 32 + threadIdx.x % 32])};
      generated::multiply_fragments<false, 1, 1>(a, b, sum);
    }
  }
  /// A lane's two columns of each block, of its first row and of its second one (half = 2).
  template <class Pointer, class Each>
  __device__ static void each_pair(Pointer rows, int stride, const Each& each) {
    const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
#pragma unroll
    for (int j = 0; j < FN; ++j) {
#pragma unroll
      for (int half = 0; half < 4; half += 2)
        each(j, half, rows + (g + half / 2 * 8) * stride + j * 8 + 2 * t, j * 8 + 2 * t);
    }
  }
};

/// A warp's fragments of the Gram matrix of rows.
template <class T, int FN>
struct GramOfRows {
  static constexpr int team = warps_of_team<T, FN>, most = (fragments_of(8 * FN) + team - 1) / team;
  double sum[most][parts_of<T>][4] = {};
  int column[FN];  ///< of a lane. Behind the last column lies that one: what comes of it is no element

  __device__ explicit GramOfRows(int n) {
    for (int j = 0; j < FN; ++j) column[j] = smaller(8 * j + static_cast<int>(threadIdx.x) % 32 / 4, n - 1);
  }
  /// number: a multiple of 4.
  __device__ void add(const T* rows, int stride, int number) {
    each_part([&](auto part) {
#pragma unroll(eighths_of_words <T, FN> < 8 ? 2 : 1)
      for (int row = 0; row < number; row += 4) {
        const T* const its = rows + (row + static_cast<int>(threadIdx.x) % 4) * stride;
        generated::Operand<T> x[FN];
#pragma unroll
        for (int j = 0; j < FN; ++j) x[j] = operand(its[column[j]]);
        each_fragment<decltype(part)::value>([&](int u, int i, int j) {
          const generated::Operand<T> left[2] = {x[2 * i], x[2 * i + 1 < FN ? 2 * i + 1 : 2 * i]}, right[1] = {x[j]};
          generated::multiply_fragments<true, 1, 1>(left, right, sum[u]);
        });
      }
    });
  }
  __device__ void store(T* partial, int n) const {
    const int teams = static_cast<int>(blockDim.x) / 32 / team, its = static_cast<int>(threadIdx.x) / 32 / team;
    T* const to = partial +
                  (static_cast<std::int64_t>(blockIdx.x) * teams + its) * fragments_of(n) * fragment_elements +
                  threadIdx.x % 32;
    each_part([&](auto part) {
      each_fragment<decltype(part)::value>([&](int u, int i, int j) {
        if (j >= eighths(n)) return;
        const int number = fragment_number(i, j, eighths(n));
#pragma unroll
        for (int e = 0; e < 4; ++e) to[number * fragment_elements + e * 32] = element_of<T>(sum[u], e);
      });
    });
  }

 private:
  template <int part, class Each>
  __device__ static void each_fragment(const Each& each) {
#pragma unroll
    for (int i = 0; 2 * i < FN; ++i) {
#pragma unroll
      for (int j = 2 * i; j < FN; ++j) {
        const int u = fragment_number(i, j, FN) - part * most;
        if (u >= 0 && u < most) each(u, i, j);
      }
    }
  }
  /// Of the team's parts this warp's one, known when it is compiled, so that no sum has an index at run time.
  template <class Each>
  __device__ static void each_part(const Each& each) {
    const int its = static_cast<int>(threadIdx.x) / 32 % team;
    [&]<int... part>(std::integer_sequence<int, part...>) {
      ((its == part ? each(std::integral_constant<int, part>()) : void()), ...);
    }
    (std::make_integer_sequence<int, team>());
  }
};

/// Divides all rows of X by the factors, and stores them in X, or the sums of their Gram matrix over the rows of each
/// team in `partial`. Not, if this is another method's; 0: in any case.
template <class T, int FN, bool stores>
__global__ void __launch_bounds__(32 * pass_warps, pass_blocks<T, FN>)
    pass(const PassShape shape, std::int64_t k, T* x, std::int64_t ldx, const T* factors, T* partial, int level,
         const int* method) {
  constexpr int element = sizeof(T), team = stores ? 1 : warps_of_team<T, FN>;
  if (level != 0 && *method != level) return;
  const int n = shape.n, stride = shape.stride, rows = shape.rows, warp = threadIdx.x / 32;
  T* const kept = reinterpret_cast<T*>(smem);
  for (int i = threadIdx.x; i < shape.factors * factor_elements(n); i += 32 * shape.warps) kept[i] = factors[i];
  __syncthreads();
  // Warps of a team have their rows side by side, in shared memory, too. A warp that is a team waits for no other.
  const auto wait = [] {
    if constexpr (team == 1)
      __syncwarp();
    else
      __syncthreads();
  };
  const int stage_elements = rows * stride * team;
  T* const stages = kept + shape.factors * factor_elements(n) + warp / team * shape.stages * stage_elements;
  T *mine = stages + warp % team * rows * stride, *const end = stages + shape.stages * stage_elements;

  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * shape.warps * rows;
  std::int64_t first = (static_cast<std::int64_t>(blockIdx.x) * shape.warps + warp) * rows, next = first;
  // Starts the copies of the next stage; zeros for rows that don't exist.
  const auto copy = [&](T* to) {
    const std::int64_t left = k - next;
    const int existing = left < 0 ? 0 : left < rows ? static_cast<int>(left) : rows;
    const char* const from = reinterpret_cast<const char*>(existing > 0 ? x + next * ldx : x);
    const auto copy_pieces = [&]<int piece>(std::integral_constant<int, piece>) {
      each_column(shape, [&](int p, int line) {
        const auto place = [&](int row) { return ptx::shared_address(to) + row * stride * element + p * piece; };
        if (existing == rows)
          ahead::copy_column<piece, true, false>(from + p * piece, ldx * element, line, shape.at_a_time, rows, existing,
                                                 place);
        else
          ahead::copy_column<piece, false, false>(from + p * piece, ldx * element, line, shape.at_a_time, rows,
                                                  existing, place);
      });
    };
    if (shape.by_16_bytes)
      copy_pieces(std::integral_constant<int, 16>());
    else
      copy_pieces(std::integral_constant<int, 8>());
    ptx::cp_async_commit();
    next += step;
  };
  for (T* stage = mine; stage < end; stage += stage_elements) copy(stage);

  GramOfRows<T, FN> gram(n);
  const int before = team == 1 ? 0 : warp * rows;  // or barriers would miss a warp
#pragma unroll 1
  for (; first - before < k; first += step) {
    ahead::wait_for_all_but(shape.stages - 1);
    __syncwarp();
#pragma unroll 1
    for (int row = 0; row < rows; row += 16) {
      T* const its = mine + row * stride;
      if (shape.factors > 0) {
        WarpRows<T, FN> x_rows;
        x_rows.load(its, stride, n);
#pragma unroll 1
        for (int f = 0; f < shape.factors; ++f) x_rows.divide(n, kept + f * factor_elements(n));
        x_rows.store(its, stride, n);
        __syncwarp();
      }
      if constexpr (stores) {
        const std::int64_t left = k - first - row;
        const int existing = left < 16 ? static_cast<int>(left) : 16;
        each_column(shape, [&](int p, int line) {
          const int col = shape.by_16_bytes ? p * (16 / element) : p;
          const T* from = its + line * stride + col;
          T* to = x + (first + row + line) * ldx + col;
#pragma unroll 2
          for (int of = line; of < existing; of += shape.at_a_time) {
            if (element == 8 && shape.by_16_bytes)
              *reinterpret_cast<double2*>(to) = *reinterpret_cast<const double2*>(from);
            else
              *to = *from;
            from += shape.at_a_time * stride;
            to += shape.at_a_time * ldx;
          }
        });
      }
    }
    if constexpr (!stores) {
      wait();
      gram.add(mine - warp % team * rows * stride, stride, rows * team);
    }
    wait();  // nobody reads this stage any more
    copy(mine);
    mine += stage_elements;
    if (mine >= end) mine -= shape.stages * stage_elements;
  }
  if constexpr (!stores) gram.store(partial, n);
}

}  // namespace gemm::qr
