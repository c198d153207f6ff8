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

// A block's tile of C, and a warp's, in tiles of 16 ROWS x PAIRS; so many tiles of the operands at a time.
template <int TILE_M_, int TILE_N_, int WARP_M_, int WARP_N_, int STAGES_, int BLOCKS_, int ABREAST_ = 1>
struct Shape {
  static constexpr int TILE_M = TILE_M_, TILE_N = TILE_N_, WARP_M = WARP_M_, WARP_N = WARP_N_, STAGES = STAGES_;
  static constexpr int ROWS = WARP_M / 16, PAIRS = WARP_N / 16, BLOCKS = BLOCKS_;
  static constexpr int WARPS_N = TILE_N / WARP_N, THREADS = TILE_M / WARP_M * WARPS_N * 32;
  static constexpr int ABREAST = ABREAST_;  // products of 16 x 8 x 16 that are written side by side
  static constexpr int A_PANELS = TILE_M / PANEL, B_PANELS = TILE_N / PANEL;
  static constexpr unsigned A_TILE = A_PANELS * TILE_BYTES, TILE = A_TILE + B_PANELS * TILE_BYTES;
  static constexpr unsigned SHARED_BYTES = STAGES * TILE, AREA = TILE_M * TILE_N;
};
using Large = Shape<128, 256, 64, 64, 4, 1, 2>;
using Small = Shape<128, 128, 64, 64, 3, 2, 4>;  // for small products, and for GPUs with 100 KB a block

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
  constexpr int ROWS = S::ROWS, PAIRS = S::PAIRS;
  const int warp_row = warp / S::WARPS_N * S::WARP_M, warp_col = warp % S::WARPS_N * S::WARP_N;
  const SharedAddress shared = gemm::ptx::shared_address(smem);
  const int first_tile = slice * p.slice_tiles, tiles_k = max(min(p.slice_tiles, p.tiles_k - first_tile), 0);

  // Tiles are copied from end to end, 16 bytes a thread at a time.
  constexpr unsigned ROUND = 16 * S::THREADS;
  constexpr int A_COPIES = S::A_TILE / ROUND, COPIES = S::TILE / ROUND;
  static_assert(A_COPIES * ROUND == S::A_TILE && COPIES * ROUND == S::TILE);
  const unsigned char* from_a = p.a_tiles.tiles + matrix * p.a_tiles.bytes_of_matrix(p.tiles_k) +
                                static_cast<std::size_t>(first_tile) * p.a_tiles.panels * TILE_BYTES +
                                static_cast<std::size_t>(tile_m) * S::A_TILE + 16 * thread;
  const unsigned char* from_b = p.b_tiles.tiles + matrix * p.b_tiles.bytes_of_matrix(p.tiles_k) +
                                static_cast<std::size_t>(first_tile) * p.b_tiles.panels * TILE_BYTES +
                                static_cast<std::size_t>(tile_n) * (S::TILE - S::A_TILE) + 16 * thread;
  int to_copy = tiles_k;
  SharedAddress fill = shared + 16 * thread;
  const auto copy = [&](int i) {
    if (i < A_COPIES)
      gemm::ptx::cp_async_cg(fill + i * ROUND, from_a + i * ROUND);
    else
      gemm::ptx::cp_async_cg(fill + i * ROUND, from_b + (i - A_COPIES) * ROUND);
  };
  const auto copied = [&] {
    gemm::ptx::cp_async_commit();
    from_a = gemm::ptx::kept(from_a + p.a_tiles.panels * TILE_BYTES);
    from_b = gemm::ptx::kept(from_b + p.b_tiles.panels * TILE_BYTES);
    fill =
        gemm::ptx::kept(fill + S::TILE < shared + S::SHARED_BYTES ? fill + S::TILE : fill + S::TILE - S::SHARED_BYTES);
    --to_copy;
  };

  // Reads: of A lane l gives ldmatrix row l % 16 of 16 x 16, from its 8 (l / 16)-th column on; of B, whose tiles hold
  // columns as A's hold rows, two times 8 columns, each from both chunks.
  const unsigned a_row = lane % 16, a_chunk = lane / 16, b_row = lane / 16 * 8 + lane % 8, b_chunk = lane / 8 % 2;
  const SharedAddress a_lane = shared + (warp_row + a_row) * VECTOR_BYTES + (a_chunk ^ lane % 8) * CHUNK_BYTES;
  const SharedAddress b_lane =
      shared + S::A_TILE + (warp_col + b_row) * VECTOR_BYTES + (b_chunk ^ lane % 8) * CHUNK_BYTES;
  enum { ROUNDED, REST };
  std::uint32_t x[STEPS][2][ROWS][4], y[STEPS][2][4];
  const auto place = [](int part, int step) { return (part * CHUNKS + step * CHUNKS / STEPS) * CHUNK_BYTES; };
  const auto read_a = [&](int i, unsigned stage) {
#pragma unroll
    for (int step = 0; step < STEPS; ++step) {
#pragma unroll
      for (int part = 0; part < 2; ++part)
        gemm::ptx::ldmatrix_x4(x[step][part][i], ((a_lane + stage) ^ place(part, step)) + i * 16 * VECTOR_BYTES);
    }
  };
  const auto read_b = [&](unsigned stage, int pair) {
#pragma unroll
    for (int step = 0; step < STEPS; ++step) {
#pragma unroll
      for (int part = 0; part < 2; ++part)
        gemm::ptx::ldmatrix_x4(y[step][part], ((b_lane + stage) ^ place(part, step)) + pair * 16 * VECTOR_BYTES);
    }
  };

  float sum[ROWS][2 * PAIRS][4] = {};
#pragma unroll 1
  for (int stage = 0; stage < S::STAGES - 1; ++stage) {
    if (to_copy > 0) {
#pragma unroll
      for (int i = 0; i < COPIES; ++i) copy(i);
    }
    copied();
  }
  gemm::ptx::cp_async_wait<S::STAGES - 2>();
  __syncthreads();
  unsigned current = 0;  // the tiles that are read, in bytes
  if (tiles_k > 0) {
#pragma unroll
    for (int i = 0; i < ROWS; ++i) read_a(i, current);
    read_b(current, 0);
  }
  constexpr int A_TURN = (COPIES + PAIRS - 2) / (PAIRS - 1);
#pragma unroll 1
  for (int tile = tiles_k; tile > 0; --tile) {
#pragma unroll
    for (int pair = 0; pair < PAIRS; ++pair) {
      if (pair == PAIRS - 1) {
        copied();
        gemm::ptx::cp_async_wait<S::STAGES - 2>();
        __syncthreads();  // everybody's part of the next tile has arrived, and nobody reads the last one any more
        if (tile > 1) current = current + S::TILE < S::SHARED_BYTES ? current + S::TILE : 0;  // else this one, in vain
      } else if (to_copy > 0) {
#pragma unroll
        for (int i = pair * A_TURN; i < (pair + 1) * A_TURN; ++i)
          if (i < COPIES) copy(i);
      }
#pragma unroll
      for (int first = 0; first < 2 * ROWS; first += S::ABREAST) {
        float part[S::ABREAST][4] = {};
#pragma unroll
        for (int which = 0; which < 3 * STEPS; ++which) {  // the large ones last
          const int step = which < 2 * STEPS ? which / 2 : which - 2 * STEPS;
          const bool a_rest = which < 2 * STEPS && which % 2 == 0, b_rest = which < 2 * STEPS && which % 2 == 1;
#pragma unroll
          for (int u = 0; u < S::ABREAST; ++u) {
            const int i = (first + u) / 2, half = (first + u) % 2;
            const auto& of_b = y[step][b_rest ? REST : ROUNDED];
            const std::uint32_t columns[2] = {of_b[2 * half], of_b[2 * half + 1]};
            Number::multiply(part[u], x[step][a_rest ? REST : ROUNDED][i], columns);
          }
        }
#pragma unroll
        for (int u = 0; u < S::ABREAST; ++u) {
          const int i = (first + u) / 2, half = (first + u) % 2;
#pragma unroll
          for (int e = 0; e < 4; ++e) sum[i][2 * pair + half][e] += part[u][e];
          if (pair == PAIRS - 1 && half == 1) read_a(i, current);
        }
      }
      read_b(current, (pair + 1) % PAIRS);
    }
  }

  // This thread's elements: rows first_row + 8 i, columns first_col + 8 j and the next.
  constexpr int MY_ROWS = 2 * ROWS, MY_COLS = 2 * PAIRS;
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
