// Rows of a tall matrix in shared memory for Tensor Cores: a stage of rows in four chunks, so placed that the lanes of a
// warp read elements of four rows, or of eight, from different banks, whatever the width.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/kernel/ptx.cuh"
#include "tsm/generated/slices.cuh"
#include "tsm/generated/stream.cuh"

namespace gemm::generated {

/// Bytes from the beginning of a chunk of so many bytes to that of the next: `apart` modulo 128, which are all banks.
__host__ __device__ constexpr int chunk_stride(int chunk_bytes, int apart) {
  return ceil_div(chunk_bytes - apart, 128) * 128 + apart;
}

/// A thread's copies of stages of `rows` rows of W elements in four chunks, each without padding and `apart` modulo 128
/// bytes behind the one before. in_one: a stage is one range in device memory, and its first fourth is chunk 0. Else row r
/// is in chunk r % 4, and a thread copies the same column of rows that are a constant distance apart, here and there.
/// `threads` threads copy a stage together. Where rows of two matrices must meet, both are in_one, or neither.
template <class T, int W, int rows, int apart, int threads, Rows how, bool in_one = how == Rows::flat>
struct ChunkCopies {
  static constexpr int element = sizeof(T), row_bytes = W * element, chunk_rows = rows / 4,
                       chunk_bytes = chunk_rows * row_bytes, stride_of_chunk = chunk_stride(chunk_bytes, apart),
                       stage_bytes = ceil_div(4 * stride_of_chunk, 16) * 16;
  static constexpr bool is_in_one = in_one;
  static constexpr int piece = in_one || (how != Rows::any && row_bytes % 16 == 0) ? 16 : element;  // bytes
  static constexpr int pieces = (in_one ? chunk_bytes : row_bytes) / piece;  // of a chunk, or row
  /// Rows that are copied at a time: one, two, or a multiple of four. If a row has more pieces than there are threads, a
  /// thread has several of its columns.
  static constexpr int fit = smaller(threads / pieces, rows), at_a_time = fit >= 4 ? fit / 4 * 4 : fit >= 2 ? 2 : 1;
  static constexpr int passes = ceil_div(pieces, threads);
  static constexpr int count = in_one ? ceil_div(4 * pieces, threads) : ceil_div(rows, at_a_time);
  static_assert(rows % 4 == 0 && (!in_one || (how == Rows::flat && chunk_bytes % 16 == 0)) &&
                stride_of_chunk % piece == 0 && apart % 16 == 0);

  /// The row of the stage in device memory that is row r of a chunk.
  __host__ __device__ static constexpr int row_of(int chunk, int r) {
    return in_one ? chunk * chunk_rows + r : r * 4 + chunk;
  }

  const char* from;      ///< the next stage; this thread's first piece of it, if rows are copied
  std::int64_t row;      ///< bytes from a row to the next
  std::int64_t forward;  ///< from a stage to the next
  int thread;
  int line, at;  ///< if rows are copied: of the first piece, its row and its place in the stage

  /// Stages from row `first` on, and then every `step` rows.
  __device__ ChunkCopies(const T* matrix, std::int64_t ld, std::int64_t first, std::int64_t step, int thread)
      : row((how == Rows::flat ? W : ld) * element), forward(step * row), thread(thread) {
    line = in_one ? 0 : thread / pieces;
    const int col = in_one ? 0 : thread % pieces * piece;
    at = line % 4 * stride_of_chunk + line / 4 * row_bytes + col;
    from = reinterpret_cast<const char*>(matrix) + (first + line) * row + col;
  }

  /// Starts the copies of the next stage, of which so many rows exist, at least one; zeros for the others.
  __device__ void start(ptx::SharedAddress stage, int existing) const {
    if constexpr (in_one) {
      if (existing >= rows)
        start_range(stage, [](ptx::SharedAddress to, const char* source, int) { copy_piece<16>(to, source); });
      else
        start_range(stage, [&](ptx::SharedAddress to, const char* source, int at) {
          const int left = existing * row_bytes - at;  // a source is needed in any case: else the stage's first row
          copy_part_of_16(to, left > 0 ? source : from, left < 0 ? 0 : left);
        });
    } else if (line < at_a_time) {
      if (existing >= rows)
        start_rows(stage);
      else
        start_some(stage, existing);
    }
  }
  __device__ void next() { from += forward; }

 private:
  template <class Copy>
  __device__ void start_range(ptx::SharedAddress stage, Copy copy_piece) const {
#pragma unroll
    for (int i = 0; i < count; ++i) {
      const int p = thread + i * threads;
      if (4 * pieces % threads != 0 && i == count - 1 && p >= 4 * pieces) break;
      copy_piece(stage + p / pieces * stride_of_chunk + p % pieces * piece, from + p * 16, p * 16);
    }
  }
  __device__ void start_rows(ptx::SharedAddress stage) const {
    const char* source = from;
#pragma unroll(count <= 16 ? count : 8)
    for (int i = 0; i < count; ++i) {
      if (rows % at_a_time != 0 && i == count - 1 && line + i * at_a_time >= rows) break;
      copy_pieces(stage, i, source, piece);
      // Kept: else nvcc would have multiples of it in registers, and none for sums.
      source = ptx::kept(source + at_a_time * row);
    }
  }
  __device__ void start_some(ptx::SharedAddress stage, int existing) const {
    const char* const first = from - line * row;  // a source is needed in any case
#pragma unroll 1
    for (int i = 0; i < count && line + i * at_a_time < rows; ++i) {
      const bool exists = line + i * at_a_time < existing;
      copy_pieces(stage, i, exists ? from + i * at_a_time * row : first, exists ? piece : 0);
    }
  }
  // This thread's pieces of the i-th row, or rows, that are copied at a time.
  __device__ void copy_pieces(ptx::SharedAddress stage, int i, const char* source, int bytes) const {
    const int offset = at_a_time >= 4   ? i * (at_a_time / 4) * row_bytes
                       : at_a_time == 2 ? i % 2 * 2 * stride_of_chunk + i / 2 * row_bytes
                                        : i % 4 * stride_of_chunk + i / 4 * row_bytes;
#pragma unroll
    for (int pass = 0; pass < passes; ++pass) {
      if (pass < passes - 1 || pieces % threads == 0 || passes == 1 || thread + pass * threads < pieces)
        copy_piece<piece>(stage + at + offset + pass * threads * piece, source + pass * threads * piece, bytes);
    }
  }
};

/// An element of T as operands of real Tensor Cores.
template <class T>
struct Operand;
template <>
struct Operand<double> {
  double re;
  __device__ void load(ptx::SharedAddress from) { ptx::load_shared(re, from); }
  template <bool apart>
  __device__ void load_left(ptx::SharedAddress from) {
    load(from);
  }
};
template <>
struct Operand<double2> {
  double re, im;
  __device__ void load(ptx::SharedAddress from) { ptx::load_shared(re, im, from); }
  /// Of the left matrix. An instruction has the real parts of two rows in registers side by side, or the imaginary ones; one
  /// load would have brought both parts of one row there, and each instruction would take four moves.
  template <bool apart>
  __device__ void load_left(ptx::SharedAddress from) {
    if constexpr (!apart) return load(from);
    ptx::load_shared_alone(re, from);
    ptx::load_shared_alone(im, from + 8);
  }
};

/// Real numbers in one of T. Sums are fragments of 16 x 8 elements of C, of the real parts and then of the imaginary ones:
/// elements (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1) of lane 4 g + t.
template <class T>
inline constexpr int parts_of = sizeof(T) / sizeof(double);

/// Adds the product of a[2 i], a[2 i + 1], 16 rows of the left matrix, with b[j], 8 columns of the right one, four terms
/// of it, to fragment i FN + j; `conjugate`: of the left one. By one product of real numbers, or four.
template <bool conjugate, int FM, int FN>
__device__ void multiply_fragments(const Operand<double> (&a)[2 * FM], const Operand<double> (&b)[FN],
                                   double (&sum)[FM * FN][4]) {
#pragma unroll
  for (int i = 0; i < FM; ++i) {
    const double left[2] = {a[2 * i].re, a[2 * i + 1].re};
#pragma unroll
    for (int j = 0; j < FN; ++j) {
      const double right[1] = {b[j].re};
      ptx::mma_m16n8k4_f64(sum[i * FN + j], left, right, sum[i * FN + j]);
    }
  }
}
template <bool conjugate, int FM, int FN>
__device__ void multiply_fragments(const Operand<double2> (&a)[2 * FM], const Operand<double2> (&b)[FN],
                                   double (&sum)[2 * FM * FN][4]) {
#pragma unroll
  for (int i = 0; i < FM; ++i) {
    const Operand<double2>&x = a[2 * i], &y = a[2 * i + 1];
    const double re[2] = {x.re, y.re}, im[2] = {x.im, y.im}, minus[2] = {-x.im, -y.im};
    const auto add = [&](int j, int part, const double(&left)[2], double right) {
      const double one[1] = {right};
      double(&its)[4] = sum[part * FM * FN + i * FN + j];
      ptx::mma_m16n8k4_f64(its, left, one, its);
    };
    // What goes to the same sums stands apart.
#pragma unroll
    for (int j = 0; j < FN; ++j) {
      add(j, 0, re, b[j].re);
      add(j, 1, re, b[j].im);
    }
#pragma unroll
    for (int j = 0; j < FN; ++j) {
      add(j, 0, conjugate ? im : minus, b[j].im);
      add(j, 1, conjugate ? minus : im, b[j].re);
    }
  }
}
/// By three products (Gauss): (x + i y) (u + i v) = u (x + y) - y (u + v) + i (u (x + y) + x (v - u)). What both parts share
/// goes to `third`, which add_third() adds to them in the end.
template <bool conjugate, int FM, int FN>
__device__ void multiply_by_three(const Operand<double2> (&a)[2 * FM], const Operand<double2> (&b)[FN],
                                  double (&sum)[2 * FM * FN][4], double (&third)[FM * FN][4]) {
  double more[FN], less[FN];  // what the right operand's parts make
#pragma unroll
  for (int j = 0; j < FN; ++j) {
    more[j] = conjugate ? b[j].re + b[j].im : -b[j].re - b[j].im;
    less[j] = b[j].im - b[j].re;
  }
#pragma unroll
  for (int i = 0; i < FM; ++i) {
    const Operand<double2>&x = a[2 * i], &y = a[2 * i + 1];
    const double re[2] = {x.re, y.re}, im[2] = {x.im, y.im};
    const double both[2] = {conjugate ? x.re - x.im : x.re + x.im, conjugate ? y.re - y.im : y.re + y.im};
    const auto add = [](double(&its)[4], const double(&left)[2], double right) {
      const double one[1] = {right};
      ptx::mma_m16n8k4_f64(its, left, one, its);
    };
#pragma unroll
    for (int j = 0; j < FN; ++j) {
      add(sum[i * FN + j], im, more[j]);
      add(sum[FM * FN + i * FN + j], re, less[j]);
      add(third[i * FN + j], both, b[j].re);
    }
  }
}
/// As `products` of real numbers for one of T. third: of three products.
template <bool conjugate, int products, int FM, int FN, class T>
__device__ void multiply_fragments(const Operand<T> (&a)[2 * FM], const Operand<T> (&b)[FN],
                                   double (&sum)[parts_of<T> * FM * FN][4], double (&third)[FM * FN][4]) {
  if constexpr (products != 3)
    multiply_fragments<conjugate, FM, FN>(a, b, sum);
  else
    multiply_by_three<conjugate, FM, FN>(a, b, sum, third);
}
template <int F>
__device__ void add_third(double (&sum)[2 * F][4], const double (&third)[F][4]) {
#pragma unroll
  for (int i = 0; i < 2 * F * 4; ++i) sum[i / 4][i % 4] += third[i / 4 % F][i % 4];
}

}  // namespace gemm::generated
