// C = alpha op(A) op(B) + beta C from operands that are split already (split.cuh): 03's pipeline, with three products of
// Tensor Cores in the place of one.
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
  static constexpr unsigned A_TILE = A_PANELS * TILE_BYTES, TILE = A_TILE + B_PANELS * TILE_BYTES;
  static constexpr unsigned SHARED_BYTES = STAGES * TILE, AREA = TILE_M * TILE_N;
};
using Usual = Shape<128, 128, 64, 64, 3, 2>;  // two blocks an SM: while one waits at a barrier, the other multiplies
using Wide = Shape<128, 256, 64, 64, 4, 1>;
constexpr int ABREAST = 2;  // rows of 16 whose products are written side by side

// S: the shape of tiles.
template <class Number, class S>
__global__ void __launch_bounds__(S::THREADS, S::BLOCKS) multiply_tiles(const ProductRequest p) {
  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  const int tiles = p.tiles_m * p.tiles_n, in_matrix = blockIdx.x % tiles;
  const int slice = blockIdx.x / tiles % p.slices, matrix = blockIdx.x / tiles / p.slices;
  const int band = in_matrix / (BAND * p.tiles_n), in_band = in_matrix % (BAND * p.tiles_n);
  const int height = min(BAND, p.tiles_m - band * BAND);
  const int tile_m = band * BAND + in_band % height, tile_n = in_band / height;
  gemm::ptx::wait_for_launch_ahead();
  const int part = p.slices == 1 ? static_cast<int>(blockIdx.x) : -1;
  if (!is_wanted(p, matrix, part)) return;
  constexpr int ROWS = S::ROWS, COLS = S::COLS;
  const int warp_row = warp / S::WARPS_N * S::WARP_M, warp_col = warp % S::WARPS_N * S::WARP_N;
  const SharedAddress shared = gemm::ptx::shared_address(smem);
  const int first_tile = slice * p.slice_tiles, tiles_k = max(min(p.slice_tiles, p.tiles_k - first_tile), 0);

  // Tiles are copied from end to end: each warp has a part of A's and one of B's, 16 bytes a lane at a time. Addresses
  // count from the middle of a part, for from there a copy's instruction reaches all of it: its offset has 12 bits.
  constexpr int WARPS = S::THREADS / 32, ROUND = 16 * 32;
  constexpr int A_PART = S::A_TILE / WARPS, B_PART = (S::TILE - S::A_TILE) / WARPS;
  constexpr int A_COPIES = A_PART / ROUND, COPIES = A_COPIES + B_PART / ROUND;
  static_assert(A_PART % ROUND == 0 && B_PART % ROUND == 0 && A_PART <= 4096 && B_PART <= 4096);
  const int a_first = warp * A_PART + A_PART / 2 + 16 * lane, b_first = warp * B_PART + B_PART / 2 + 16 * lane;
  const unsigned char* from_a = p.a_tiles.tiles + matrix * p.a_tiles.bytes_of_matrix(p.tiles_k) +
                                static_cast<std::size_t>(first_tile) * p.a_tiles.panels * TILE_BYTES +
                                static_cast<std::size_t>(tile_m) * S::A_TILE + a_first;
  const unsigned char* from_b = p.b_tiles.tiles + matrix * p.b_tiles.bytes_of_matrix(p.tiles_k) +
                                static_cast<std::size_t>(first_tile) * p.b_tiles.panels * TILE_BYTES +
                                static_cast<std::size_t>(tile_n) * (S::TILE - S::A_TILE) + b_first;
  int to_copy = tiles_k;
  const SharedAddress a_to = shared + a_first, b_to = shared + S::A_TILE + b_first;
  unsigned free = 0;  // the tiles to fill next, in bytes
  const auto behind = [](unsigned stage) { return stage + S::TILE < S::SHARED_BYTES ? stage + S::TILE : 0; };
  const auto copy = [&](int i) {
    const int a_at = i * ROUND - A_PART / 2, b_at = (i - A_COPIES) * ROUND - B_PART / 2;
    if (i < A_COPIES)
      gemm::ptx::cp_async_cg(a_to + free + a_at, from_a + a_at);
    else
      gemm::ptx::cp_async_cg(b_to + free + b_at, from_b + b_at);
  };
  const auto copied = [&] {
    gemm::ptx::cp_async_commit();
    from_a = gemm::ptx::kept(from_a + p.a_tiles.panels * TILE_BYTES);
    from_b = gemm::ptx::kept(from_b + p.b_tiles.panels * TILE_BYTES);
    free = behind(free);
    --to_copy;
  };

  // Reads: of A lane l gives ldmatrix row l % 16 of 16 x 16, from its 8 (l / 16)-th column on; of B, whose tiles hold
  // columns as A's hold rows, row l % 8 of chunk l / 8: of 8 columns all that is rounded, or all rests.
  const unsigned a_row = lane % 16, a_chunk = lane / 16, b_row = lane % 8, b_chunk = lane / 8;
  const SharedAddress a_lane = shared + (warp_row + a_row) * VECTOR_BYTES + (a_chunk ^ lane % 8) * CHUNK_BYTES;
  const SharedAddress b_lane =
      shared + S::A_TILE + (warp_col + b_row) * VECTOR_BYTES + (b_chunk ^ lane % 8) * CHUNK_BYTES;
  enum { ROUNDED, REST };
  static_assert(CHUNKS == 2 * STEPS && COLS % 2 == 0);
  std::uint32_t x[STEPS][2][ROWS][4] = {}, y[2][2][2 * STEPS] = {};
  unsigned current = 0;  // the tiles that are read, in bytes
  const auto read_a = [&](int step, int part, int i) {
    const int place = (part * CHUNKS + step * CHUNKS / STEPS) * CHUNK_BYTES;
    gemm::ptx::ldmatrix_x4(x[step][part][i], ((a_lane + current) ^ place) + i * 16 * VECTOR_BYTES);
  };
  const auto read_b = [&](int col) {
#pragma unroll
    for (int part = 0; part < 2; ++part)
      gemm::ptx::ldmatrix_x4(y[col % 2][part],
                             ((b_lane + current) ^ part * CHUNKS * CHUNK_BYTES) + col * 8 * VECTOR_BYTES);
  };

  float sum[ROWS][COLS][4] = {};
  // Eight columns of C. next: the fragments of A are read anew, each as soon as it is not needed any more.
  const auto multiply = [&](int col, bool next) {
#pragma unroll
    for (int first = 0; first < ROWS; first += ABREAST) {
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
        for (int u = 0; u < ABREAST; ++u) read_a(step, a_part, first + u);
      }
#pragma unroll
      for (int u = 0; u < ABREAST; ++u) {
#pragma unroll
        for (int e = 0; e < 4; ++e) sum[first + u][col][e] += part[u][e];
      }
    }
  };
#pragma unroll 1
  for (int stage = 0; stage < S::STAGES - 1; ++stage) {
    if (to_copy > 0) {
#pragma unroll
      for (int i = 0; i < COPIES; ++i) copy(i);
    }
    copied();
  }
  // A turn begins with the last columns of the tile before, whose fragments are there, and zeros at first: meanwhile
  // those of this tile arrive. So none is on its way when a turn ends: ptxas would wait for all.
  constexpr int TURNS = 3, PART = (COPIES + TURNS - 1) / TURNS;  // of the copies, behind the first 2, 4 and 6 columns
#pragma unroll 1
  for (int tile = tiles_k; tile > 0; --tile) {
    gemm::ptx::cp_async_wait<S::STAGES - 2>();
    __syncthreads();  // everybody's part of this tile has arrived, and nobody reads the last one any more
#pragma unroll
    for (int col = 0; col < COLS; ++col) {
      read_b(col);
      if (col % 2 == 1 && col / 2 < TURNS && to_copy > 0) {
#pragma unroll
        for (int i = col / 2 * PART; i < (col / 2 + 1) * PART; ++i)
          if (i < COPIES) copy(i);
      }
      multiply((col + COLS - 1) % COLS, col == 0);
    }
    copied();
    current = behind(current);
  }
  multiply(COLS - 1, false);

  // This thread's elements: rows first_row + 8 i, columns first_col + 8 j and the next.
  constexpr int MY_ROWS = 2 * ROWS, MY_COLS = COLS;
  const int first_row = tile_m * S::TILE_M + warp_row + lane / 4;
  const int first_col = tile_n * S::TILE_N + warp_col + lane % 4 * 2;
  if (p.slices > 1) {
    float* const to = p.partial + p.partial_place(matrix, slice, first_row, first_col);
#pragma unroll
    for (int i = 0; i < MY_ROWS; ++i) {
#pragma unroll
      for (int j = 0; j < MY_COLS; ++j)
        for (int right = 0; right < 2; ++right)  // not as float2: that would put sums in pairs, with moves in the loop
          to[8 * i * p.partial_cols + 8 * j + right] = sum[i / 2][j][i % 2 * 2 + right];
    }
    return;
  }

  // Nearly always: no doubts, no exponents that take another step, and elements that can be stored in pairs.
  Scale rows[MY_ROWS];
  bool rare = (tile_m + 1) * S::TILE_M > p.m || (tile_n + 1) * S::TILE_N > p.n || p.beta != 0.0f;
#pragma unroll
  for (int i = 0; i < MY_ROWS; ++i) {
    rows[i] = scale_of(p.a_tiles, matrix, first_row + 8 * i);
    const float least = least_of(p.a_tiles, matrix, first_row + 8 * i);
    rare |= least > 0 || rows[i].rest != 0;
  }
  float factors[MY_COLS][2];
#pragma unroll
  for (int j = 0; j < MY_COLS; ++j) {
#pragma unroll
    for (int right = 0; right < 2; ++right) {
      const Scale col = scale_of(p.b_tiles, matrix, first_col + 8 * j + right);
      factors[j][right] = col.factor;
      const float least = least_of(p.b_tiles, matrix, first_col + 8 * j + right);
      rare |= least > 0 || col.rest != 0;
    }
  }
  float* out = p.c.matrix(matrix) + first_row * p.c.to_next_row + first_col;
  rare |= reinterpret_cast<std::uintptr_t>(out) % 8 != 0 || p.c.to_next_row % 2 != 0;
  if (!__syncthreads_or(rare)) {
    if (p.take == Take::certain && thread == 0) p.left[part] = 0;
#pragma unroll
    for (int i = 0; i < MY_ROWS; ++i, out += 8 * p.c.to_next_row) {
#pragma unroll
      for (int j = 0; j < MY_COLS; ++j) {
        const float* const two = &sum[i / 2][j][i % 2 * 2];
        *reinterpret_cast<float2*>(out + 8 * j) = make_float2(p.alpha * (two[0] * rows[i].factor * factors[j][0]),
                                                              p.alpha * (two[1] * rows[i].factor * factors[j][1]));
      }
    }
    return;
  }
  // Else by way of shared memory: rows of C by neighbouring threads, one element at a time.
  float* const sums = reinterpret_cast<float*>(smem);
  constexpr int ROW = S::TILE_N + 8;  // so that eight rows of a warp's 8 x 8 meet other banks
  static_assert(S::TILE_M * ROW * sizeof(float) <= S::SHARED_BYTES);
#pragma unroll
  for (int i = 0; i < MY_ROWS; ++i) {
#pragma unroll
    for (int j = 0; j < MY_COLS; ++j) {
      float* const two = sums + (warp_row + lane / 4 + 8 * i) * ROW + warp_col + lane % 4 * 2 + 8 * j;
      two[0] = sum[i / 2][j][i % 2 * 2];
      two[1] = sum[i / 2][j][i % 2 * 2 + 1];
    }
  }
  __syncthreads();
  finish_part<S::TILE_M, S::TILE_N, S::THREADS>(p, matrix, part, tile_m * S::TILE_M, tile_n * S::TILE_N,
                                                [&](int i, int j) { return sums[i * ROW + j]; });
}

}  // namespace presplit
