// What a product of split operands (split.cuh) is made of: a block's tile of C, copies of tiles, fragments, its sums
// stored. The K loop that puts them together is that of a stage: tensorcore/10, 11.
//
// Of each 16 x 8 of C and 32 bytes of k, mma.sync adds rest * rounded, rounded * rest and rounded * rounded to a sum that
// begins at zero; plain cores, which round, add that to C's. What rest * rest would give is below what is rounded.
//
// Where C has too few tiles for all SMs, k is cut into slices: blocks of their own, whose sums finish_products adds up.
// That is good for precision, too: a long sum of slices' sums is rounded less often.
#pragma once

#include "tensorcore/presplit/epilogue.cuh"

extern __shared__ __align__(128) unsigned char smem[];

namespace presplit {

using gemm::ptx::SharedAddress;

constexpr int STEPS = 2;  // products a tile, along k
constexpr int BAND = 16;  // rows of tiles in which they follow one another column by column: stages/17a

// A block's tile of C, and a warp's, in tiles of 16 ROWS x 8 COLS; so many tiles of the operands at a time.
template <int TILE_M_, int TILE_N_, int WARP_M_, int WARP_N_, int STAGES_, int BLOCKS_>
struct Shape {
  static constexpr int TILE_M = TILE_M_, TILE_N = TILE_N_, WARP_M = WARP_M_, WARP_N = WARP_N_, STAGES = STAGES_;
  static constexpr int ROWS = WARP_M / 16, COLS = WARP_N / 8, BLOCKS = BLOCKS_;
  static constexpr int WARPS_N = TILE_N / WARP_N, THREADS = TILE_M / WARP_M * WARPS_N * 32;
  static constexpr int A_PANELS = TILE_M / PANEL, B_PANELS = TILE_N / PANEL;
  static constexpr unsigned A_TILE = A_PANELS * TILE_BYTES, B_TILE = B_PANELS * TILE_BYTES, TILE = A_TILE + B_TILE;
  static constexpr unsigned SHARED_BYTES = STAGES * TILE, AREA = TILE_M * TILE_N;
};
using Usual = Shape<128, 128, 64, 64, 3, 2>;  // two blocks an SM: while one waits at a barrier, the other multiplies
using Wide = Shape<128, 256, 64, 64, 4, 1>;
constexpr int COPY_PARTS = 3;  // in which the next tiles are copied: behind the first 2, 4 and 6 columns
constexpr int ABREAST = 2;     // rows of 16 whose products are written side by side

// Which tile of C a block computes, and of which slice of k.
template <class S>
struct Place {
  int matrix, slice, tile_m, tile_n;

  __device__ explicit Place(const ProductRequest& p) {
    const int tiles = p.tiles_m * p.tiles_n, in_matrix = blockIdx.x % tiles;
    slice = blockIdx.x / tiles % p.slices, matrix = blockIdx.x / tiles / p.slices;
    const int band = in_matrix / (BAND * p.tiles_n), in_band = in_matrix % (BAND * p.tiles_n);
    const int height = min(BAND, p.tiles_m - band * BAND);
    tile_m = band * BAND + in_band % height, tile_n = in_band / height;
  }
};
template <class S>
__device__ unsigned next_stage(unsigned stage) {
  return stage + S::TILE < S::SHARED_BYTES ? stage + S::TILE : 0;
}

// Tiles are copied from end to end: each warp has a part of A's and one of B's, 16 bytes a lane at a time. Addresses
// count from the middle of a part, for from there a copy's instruction reaches all of it: its offset has 12 bits.
template <class S>
struct Copies {
  static constexpr int WARPS = S::THREADS / 32, ROUND = 16 * 32;
  static constexpr int A_PART = S::A_TILE / WARPS, B_PART = S::B_TILE / WARPS;
  static constexpr int A_COPIES = A_PART / ROUND, COPIES = A_COPIES + B_PART / ROUND;
  static_assert(A_PART % ROUND == 0 && B_PART % ROUND == 0 && A_PART <= 4096 && B_PART <= 4096);
  const ProductRequest& p;
  const unsigned char *from_a, *from_b;
  int to_copy;
  SharedAddress a_to, b_to;
  unsigned free = 0;  // the tiles to fill next, in bytes

  __device__ void copy(int i) const {
    const int a_at = i * ROUND - A_PART / 2, b_at = (i - A_COPIES) * ROUND - B_PART / 2;
    if (i < A_COPIES)
      gemm::ptx::cp_async_cg(a_to + free + a_at, from_a + a_at);
    else
      gemm::ptx::cp_async_cg(b_to + free + b_at, from_b + b_at);
  }
  // Part `which` of PARTS of the next tiles' copies, if there are more tiles.
  template <int PARTS>
  __device__ void copy_part(int which) const {
    constexpr int PART = (COPIES + PARTS - 1) / PARTS;
    if (to_copy <= 0) return;
#pragma unroll
    for (int i = which * PART; i < (which + 1) * PART; ++i)
      if (i < COPIES) copy(i);
  }
  __device__ void commit() {
    gemm::ptx::cp_async_commit();
    from_a = gemm::ptx::kept(from_a + p.a_tiles.panels * TILE_BYTES);
    from_b = gemm::ptx::kept(from_b + p.b_tiles.panels * TILE_BYTES);
    free = next_stage<S>(free);
    --to_copy;
  }
};

// What a warp multiplies: of A and B, for each step the rounded parts, and what is left beside them.
enum { ROUNDED, REST };
template <class S>
using FragmentsOfA = std::uint32_t[STEPS][2][S::ROWS][4];
using FragmentsOfB = std::uint32_t[2][2][2 * STEPS];  // of eight columns, and of the next eight

// `tile`: a lane's place in the first 16 x 16 of a warp.
template <class S>
__device__ void read_a(FragmentsOfA<S>& x, SharedAddress tile, int step, int part, int i) {
  const int place = (part * CHUNKS + step * CHUNKS / STEPS) * CHUNK_BYTES;
  gemm::ptx::ldmatrix_x4(x[step][part][i], (tile ^ place) + i * 16 * VECTOR_BYTES);
}
__device__ inline void read_b(FragmentsOfB& y, SharedAddress tile, int col) {
#pragma unroll
  for (int part = 0; part < 2; ++part)
    gemm::ptx::ldmatrix_x4(y[col % 2][part], (tile ^ part * CHUNKS * CHUNK_BYTES) + col * 8 * VECTOR_BYTES);
}

// Eight columns of C. next: the fragments of A are read anew, each as soon as it is not needed any more.
template <class Number, class S>
__device__ void multiply(FragmentsOfA<S>& x, const FragmentsOfB& y, float (&sum)[S::ROWS][S::COLS][4],
                         SharedAddress tile, int col, bool next) {
#pragma unroll
  for (int first = 0; first < S::ROWS; first += ABREAST) {
    float part[ABREAST][4] = {};
#pragma unroll
    for (int which = 0; which < 3 * STEPS; ++which) {  // the large ones last
      const int step = which % STEPS, a_part = which < STEPS ? REST : ROUNDED;
      const auto& of_b = y[col % 2][which / STEPS == 1 ? REST : ROUNDED];
      const std::uint32_t columns[2] = {of_b[2 * step], of_b[2 * step + 1]};
#pragma unroll
      for (int u = 0; u < ABREAST; ++u) Number::multiply(part[u], x[step][a_part][first + u], columns);
      if (!next || which / STEPS == 1) continue;
#pragma unroll
      for (int u = 0; u < ABREAST; ++u) read_a<S>(x, tile, step, a_part, first + u);
    }
#pragma unroll
    for (int u = 0; u < ABREAST; ++u) {
#pragma unroll
      for (int e = 0; e < 4; ++e) sum[first + u][col][e] += part[u][e];
    }
  }
}

// A slice's sums, for finish_products to add up.
template <class S>
__device__ void store_slice(const ProductRequest& p, const Place<S>& at, int row, int col,
                            const float (&sum)[S::ROWS][S::COLS][4]) {
  float* const to = p.partial + p.partial_place(at.matrix, at.slice, row, col);
#pragma unroll
  for (int i = 0; i < 2 * S::ROWS; ++i) {
#pragma unroll
    for (int j = 0; j < S::COLS; ++j)
      for (int right = 0; right < 2; ++right)  // not as float2: that would put sums in pairs, with moves in the loop
        to[8 * i * p.partial_cols + 8 * j + right] = sum[i / 2][j][i % 2 * 2 + right];
  }
}

// How a thread's sums become elements of C. Returns whether there are doubts, or exponents that take another step, or
// elements that don't exist or are added to: then they can't be stored as they are.
template <class S>
__device__ bool load_scales(const ProductRequest& p, const Place<S>& at, int first_row, int first_col,
                            Scale (&rows)[2 * S::ROWS], float (&cols)[S::COLS][2]) {
  const int tile_m = at.tile_m, tile_n = at.tile_n, matrix = at.matrix;
  bool rare = (tile_m + 1) * S::TILE_M > p.m;
  rare |= (tile_n + 1) * S::TILE_N > p.n;
  rare |= p.beta != 0.0f;
#pragma unroll
  for (int i = 0; i < 2 * S::ROWS; ++i) {
    rows[i] = scale_of(p.a_tiles, matrix, first_row + 8 * i);
    const float least = least_of(p.a_tiles, matrix, first_row + 8 * i);
    rare |= least > 0 || rows[i].rest != 0;
  }
#pragma unroll
  for (int j = 0; j < S::COLS; ++j) {
#pragma unroll
    for (int right = 0; right < 2; ++right) {
      const Scale col = scale_of(p.b_tiles, matrix, first_col + 8 * j + right);
      cols[j][right] = col.factor;
      const float least = least_of(p.b_tiles, matrix, first_col + 8 * j + right);
      rare |= least > 0 || col.rest != 0;
    }
  }
  return rare;
}
template <class S>
__device__ void store_pairs(const ProductRequest& p, float* out, const Scale (&rows)[2 * S::ROWS],
                            const float (&cols)[S::COLS][2], const float (&sum)[S::ROWS][S::COLS][4]) {
#pragma unroll
  for (int i = 0; i < 2 * S::ROWS; ++i, out += 8 * p.c.to_next_row) {
#pragma unroll
    for (int j = 0; j < S::COLS; ++j) {
      const float* const two = &sum[i / 2][j][i % 2 * 2];
      *reinterpret_cast<float2*>(out + 8 * j) = make_float2(p.alpha * (two[0] * rows[i].factor * cols[j][0]),
                                                            p.alpha * (two[1] * rows[i].factor * cols[j][1]));
    }
  }
}

// By way of shared memory: rows of C by neighbouring threads, one element at a time.
template <class S>
__device__ void store_one_by_one(const ProductRequest& p, const Place<S>& at, int part, int row, int col,
                                 const float (&sum)[S::ROWS][S::COLS][4]) {
  float* const sums = reinterpret_cast<float*>(smem);
  constexpr int ROW = S::TILE_N + 8;  // so that eight rows of a warp's 8 x 8 meet other banks
  static_assert(S::TILE_M * ROW * sizeof(float) <= S::SHARED_BYTES);
#pragma unroll
  for (int i = 0; i < 2 * S::ROWS; ++i) {
#pragma unroll
    for (int j = 0; j < S::COLS; ++j) {
      float* const two = sums + (row + 8 * i) * ROW + col + 8 * j;
      two[0] = sum[i / 2][j][i % 2 * 2];
      two[1] = sum[i / 2][j][i % 2 * 2 + 1];
    }
  }
  __syncthreads();
  finish_part<S::TILE_M, S::TILE_N, S::THREADS>(p, at.matrix, part, at.tile_m * S::TILE_M, at.tile_n * S::TILE_N,
                                                [&](int i, int j) { return sums[i * ROW + j]; });
}

}  // namespace presplit
