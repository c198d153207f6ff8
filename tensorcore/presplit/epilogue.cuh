// What becomes of the sums of a product of split operands (product.cuh): their scale undone, alpha and beta, and a doubt.
//
// A number that is small beside its vector's largest has lost digits (split.cuh). What that can cost an element of C is
// bounded by the vectors' largest numbers; if the element's sum is large beside that bound, it costs nothing that counts.
// If it isn't, the element is calculated again: by plain cores if they are few, else by TF32, with its longer range.
#pragma once

#include "tensorcore/presplit/split.cuh"

namespace presplit {

// C, of each matrix of a batch.
struct Results {
  float* first;
  float* const* matrices;  // as of operands
  std::int64_t to_next_matrix, to_next_row;
  __device__ float* matrix(int i) const { return matrices ? matrices[i] : first + i * to_next_matrix; }
};

// Which elements of C a product makes, and what becomes of those that may lack too much.
enum class Take {
  all_as_they_are,  // nobody asks; but those of rows and columns with infinity or NaN are calculated again
  all,              // they are calculated again, by plain cores, one by one
  certain,          // the same, unless a part of C has many, or the matrix many uncertain numbers: these are left out
  left,             // `all` of those that `certain` has left out
};
constexpr int MOST_UNCERTAIN_THREADS = 16;  // of a block, with elements that plain cores calculate again

struct ProductRequest {
  int m, n, k;
  float alpha, beta;
  Vectors a, b;
  Tiles a_tiles, b_tiles;
  Results c;
  int tiles_m, tiles_n, tiles_k;
  int slices, slice_tiles;  // of k; tiles of a slice
  float* partial;           // if there is more than one slice: their sums, each of partial_rows x partial_cols
  int partial_rows, partial_cols;
  Take take;
  Findings* findings;   // by matrix, if take is certain or left
  unsigned char* left;  // for the same, by blocks that write C: 1 if that part of C is left out by `certain`

  __device__ std::int64_t partial_place(int matrix, int slice, int row, int col) const {
    return ((std::int64_t{matrix} * slices + slice) * partial_rows + row) * partial_cols + col;
  }
};

// Whether this part of C (-1: any) is to be made at all.
__device__ inline bool is_wanted(const ProductRequest& p, int matrix, int part) {
  if (p.take == Take::all_as_they_are || p.take == Take::all) return true;
  const Findings& found = p.findings[matrix];
  const bool few = few_are_uncertain(found, p.m, p.n, p.k);
  if (p.take == Take::certain || !few) return few == (p.take == Take::certain);
  return part < 0 ? found.uncertain_parts > 0 : p.left[part] != 0;
}

// How a vector's scaling is undone: by a factor, and what is left of the exponent, which of few vectors is not 0. Sums
// times two such factors neither overflow nor become too small on the way.
constexpr int LEAST_STEP = -100, MOST_STEP = 20;
struct Scale {
  float factor;
  int rest;
  __device__ explicit Scale(int exponent) {
    const int step = min(max(exponent, LEAST_STEP), MOST_STEP);
    factor = power_of_two(step);
    rest = exponent - step;
  }
  __device__ Scale() {}
};
// Of a vector of A or B; those that don't exist have one as well, to a tile's end.
__device__ inline Scale scale_of(const Tiles& tiles, int matrix, int vector) {
  return Scale(__ldg(tiles.exponents + std::int64_t{matrix} * tiles.panels * PANEL + vector));
}
// A sum that is no smaller lacks nothing that counts by the digits that this vector has lost.
__device__ inline float least_of(const Tiles& tiles, int matrix, int vector) {
  return __ldg(tiles.uncertain + std::int64_t{matrix} * tiles.panels * PANEL + vector);
}

enum class Doubt { none, precision, not_finite };
__device__ inline Doubt doubt_of(const ProductRequest& p, float sum, float least) {
  if (fabsf(sum) >= least) return Doubt::none;
  if (!(least < __uint_as_float(INFINITE))) return Doubt::not_finite;
  return p.take == Take::all_as_they_are ? Doubt::none : Doubt::precision;
}

// For all lanes of a warp, each with an element or with none: these by FP32's own multiply-adds, as BLAS would have them.
__device__ inline void calculate_again(const ProductRequest& p, int matrix, bool any, int row, int col) {
  const int lane = threadIdx.x % 32;
  const float* const a = p.a.matrix(matrix);
  const float* const b = p.b.matrix(matrix);
  for (unsigned lanes = __ballot_sync(0xffffffffu, any); lanes != 0; lanes &= lanes - 1) {
    const int owner = __ffs(lanes) - 1;
    const int its_row = __shfl_sync(0xffffffffu, row, owner), its_col = __shfl_sync(0xffffffffu, col, owner);
    const float* const x = a + its_row * p.a.to_next_vector;
    const float* const y = b + its_col * p.b.to_next_vector;
    float value = 0;
    for (std::int64_t i = lane; i < p.k; i += 32) value = fmaf(x[i * p.a.to_next_term], y[i * p.b.to_next_term], value);
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffffu, value, distance);
    if (lane != owner) continue;
    float* const element = p.c.matrix(matrix) + its_row * p.c.to_next_row + its_col;
    *element = p.beta == 0.0f ? p.alpha * value : p.alpha * value + p.beta * *element;
    if (p.findings) atomicAdd(&p.findings[matrix].again, 1u);
  }
}

// Any part of C, of ROWS x COLS, by a block of THREADS: sum_of(row, col), counted from its first, is the scaled sum.
template <int ROWS, int COLS, int THREADS, class SumOf>
__device__ void finish_part(const ProductRequest& p, int matrix, int part, int first_row, int first_col,
                            const SumOf& sum_of) {
  static_assert(ROWS * COLS % THREADS == 0 && THREADS % 32 == 0, "a warp's lanes stay together");
  // Neighbouring threads have neighbours in a row; each row begins a column further on, so that a column, too, is many
  // threads': where one vector is uncertain, many threads see it.
  const auto row_of = [](int i) { return i / COLS; };
  const auto col_of = [](int i) { return (i + i / COLS) % COLS; };
  const auto exists = [&](int i) { return first_row + row_of(i) < p.m && first_col + col_of(i) < p.n; };
  const auto doubt = [&](int i, float sum) {
    return doubt_of(
        p, sum,
        least_of(p.a_tiles, matrix, first_row + row_of(i)) + least_of(p.b_tiles, matrix, first_col + col_of(i)));
  };
  if (p.take == Take::certain) {
    bool uncertain = false;
    for (int i = threadIdx.x; i < ROWS * COLS; i += THREADS)
      if (exists(i)) uncertain |= doubt(i, sum_of(row_of(i), col_of(i))) == Doubt::precision;
    const bool leave = __syncthreads_count(uncertain) > MOST_UNCERTAIN_THREADS;
    if (threadIdx.x == 0) p.left[part] = leave;
    if (threadIdx.x == 0 && leave) atomicAdd(&p.findings[matrix].uncertain_parts, 1u);
    if (leave) return;
  }
  for (int i = threadIdx.x; i < ROWS * COLS; i += THREADS) {
    const int row = first_row + row_of(i), col = first_col + col_of(i);
    bool again = false;
    if (exists(i)) {
      const float sum = sum_of(row_of(i), col_of(i));
      again = doubt(i, sum) != Doubt::none;
      if (!again) {
        const Scale of_row = scale_of(p.a_tiles, matrix, row), of_col = scale_of(p.b_tiles, matrix, col);
        const float value = p.alpha * scaled(sum * of_row.factor * of_col.factor, of_row.rest + of_col.rest);
        float* const element = p.c.matrix(matrix) + row * p.c.to_next_row + col;
        *element = p.beta == 0.0f ? value : value + p.beta * *element;
      }
    }
    calculate_again(p, matrix, again, row, col);
  }
}

// Adds up slices, in double: each thread two elements side by side, a block FINISH_ROWS x FINISH_COLS.
constexpr int FINISH_ROWS = 8, FINISH_COLS = 64, FINISH_THREADS = FINISH_ROWS * FINISH_COLS / 2;
__host__ __device__ inline int finishing_blocks(int m, int n) {
  return gemm::ceil_div(m, FINISH_ROWS) * gemm::ceil_div(n, FINISH_COLS);
}

template <class = void>
__global__ void __launch_bounds__(FINISH_THREADS) finish_products(const ProductRequest p) {
  __shared__ float sums[FINISH_ROWS][FINISH_COLS];
  gemm::ptx::wait_for_launch_ahead();
  const int parts = finishing_blocks(p.m, p.n), matrix = blockIdx.x / parts, part = blockIdx.x % parts;
  if (!is_wanted(p, matrix, blockIdx.x)) return;
  const int parts_n = gemm::ceil_div(p.n, FINISH_COLS);
  const int first_row = part / parts_n * FINISH_ROWS, first_col = part % parts_n * FINISH_COLS;
  const int row = threadIdx.x / (FINISH_COLS / 2), col = threadIdx.x % (FINISH_COLS / 2) * 2;
  double left = 0, right = 0;
  for (int slice = 0; slice < p.slices; ++slice) {
    const float* const two = p.partial + p.partial_place(matrix, slice, first_row + row, first_col + col);
    left += reinterpret_cast<const float2*>(two)->x;
    right += reinterpret_cast<const float2*>(two)->y;
  }
  sums[row][col] = static_cast<float>(left);
  sums[row][col + 1] = static_cast<float>(right);
  __syncthreads();
  finish_part<FINISH_ROWS, FINISH_COLS, FINISH_THREADS>(p, matrix, blockIdx.x, first_row, first_col,
                                                        [](int i, int j) { return sums[i][j]; });
}

}  // namespace presplit
