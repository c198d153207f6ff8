// 10 presplit: numbers are parted once, by a kernel of its own, which puts them where tiles want them; the product is
// 03's pipeline with three products in the place of one.
//
// Idea      In 08 each warp splits what it multiplies, and so does its neighbour: four instructions a number, 62 % of
//           all. Split once, scaled by a power of two that fits the row (or the column), and written as the tiles of the
//           product lie in shared memory, swizzled: then a tile is copied from end to end, and fragments are loaded by
//           ldmatrix.
// Change    03's loop: 32 steps of k to a tile, their rounded parts and what is left beside each other; per product of
//           16 x 8 three mma.sync into a sum of its own, added to C by plain cores. As rows are scaled to FP16's upper
//           end, what is left needs no factor 2^11, and so no sum of its own.
// Limit     mma.sync: a third of 617 TFLOP/s. Issue slots: four additions for three products, 7 of 18 cycles. Splitting
//           moves 12 bytes a number (4 read twice, 4 written).
// Number    sm__pipe_tensor_op_hmma_cycles_active; time of split_operands beside the product's.
// Map       8 warps of 64 x 64 of C: lane 4 g + t holds rows g and g + 8, columns 2 t and 2 t + 1 of 16 x 8.
// Page      docs/tensorcore/10_presplit.md
// Source    Ootomo and Yokota (2022), the products and their promotion. Scaling and arrangement are ours.
#include <algorithm>

#include "common/ptx.cuh"
#include "common/stage.cuh"

extern __shared__ __align__(128) unsigned char smem[];

namespace {

using gemm::ptx::SharedAddress;

constexpr int WARP_M = 64, WARP_N = 64, ROWS = WARP_M / 16, PAIRS = WARP_N / 16;  // of C per warp, in tiles of 16
constexpr int DEPTH = 32, STEP = 16, CHUNK = 8;  // steps of k of a tile, of a product; elements in 16 bytes
constexpr int TOP = 14;                          // a row's largest number lies between 2^TOP and 2^(TOP + 1)
constexpr int FP32_BIAS = 127;                   // of an exponent
constexpr int NOT_FINITE = 1 << 20;              // in the place of a row's exponent: it has infinity or NaN

template <int TILE_M_, int TILE_N_, int STAGES_, int BLOCKS_>
struct Shape {
  static constexpr int TILE_M = TILE_M_, TILE_N = TILE_N_, STAGES = STAGES_, BLOCKS = BLOCKS_;
  static constexpr int WARPS_N = TILE_N / WARP_N, THREADS = TILE_M / WARP_M * WARPS_N * 32;
  // A row of A's tile: 32 rounded numbers, then what is left of them. Of B's: TILE_N; 32 rows, then what is left of them.
  static constexpr unsigned A_ROW = 4 * DEPTH, B_ROW = 2 * TILE_N, A_TILE = TILE_M * A_ROW, B_TILE = 2 * DEPTH * B_ROW;
  static constexpr unsigned TILE = A_TILE + B_TILE, SHARED_BYTES = STAGES * TILE;
};

// 2^e for -126 <= e <= 127.
__device__ float power_of_two(int e) {
  return __int_as_float((e + FP32_BIAS) << 23);
}
// v 2^e, in two steps, as 2^e alone may be no float. Below 2^-252 nothing is left of what is scaled here.
__device__ float scaled(float v, int e) {
  e = min(max(e, -252), 254);
  return v * power_of_two(e / 2) * power_of_two(e - e / 2);
}
// By which power of two to multiply numbers of this largest magnitude (its bits).
__device__ int exponent_to_top(unsigned largest) {
  if (largest == 0) return 0;
  const int e = largest >> 23 ? static_cast<int>(largest >> 23) - FP32_BIAS : -FP32_BIAS + 1 - (__clz(largest) - 8);
  return TOP - e;
}
__device__ unsigned magnitude(float v) {
  return __float_as_uint(v) & 0x7fffffffu;
}
constexpr unsigned INFINITE = 0x7f800000u;  // magnitude of infinity; NaN's are larger

constexpr int SPLIT_ROWS = 8, SPLIT_COLS = 32, SPLIT_THREADS = SPLIT_ROWS * 32;  // a block's share of A, and of B

// A's rows and B's columns to tiles of FP16, zeros where there are no numbers; and for each the power of two that undoes
// its scaling. Those that have infinity or NaN are marked, and zero in the tiles. The first blocks have SPLIT_ROWS rows of A each, a warp a row, the others SPLIT_COLS columns of B.
template <class S>
__global__ void __launch_bounds__(SPLIT_THREADS)
    split_operands(int m, int n, int k, const float* __restrict__ a, std::int64_t lda, const float* __restrict__ b,
                   std::int64_t ldb, unsigned char* a_tiles, unsigned char* b_tiles, int* a_exponents, int* b_exponents,
                   int blocks_of_a, int tiles_k) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (static_cast<int>(blockIdx.x) < blocks_of_a) {
    const int row = blockIdx.x * SPLIT_ROWS + warp;
    const float* const from = a + row * lda;
    unsigned largest = 0;
    if (row < m)
      for (int i = lane; i < k; i += 32) largest = max(largest, magnitude(from[i]));
    for (int distance = 16; distance > 0; distance /= 2)
      largest = max(largest, __shfl_xor_sync(0xffffffffu, largest, distance));
    const bool finite = largest < INFINITE;
    const int up = exponent_to_top(largest);
    if (lane == 0) a_exponents[row] = finite ? -up : NOT_FINITE;
    unsigned char* const to =
        a_tiles + static_cast<std::size_t>(row / S::TILE_M) * tiles_k * S::A_TILE + row % S::TILE_M * S::A_ROW;
    // Four lanes fill a tile's row, 8 numbers each.
    for (int chunk = lane; chunk < tiles_k * (DEPTH / CHUNK); chunk += 32) {
      __align__(16) __half rounded[CHUNK], rest[CHUNK];
#pragma unroll
      for (int e = 0; e < CHUNK; ++e) {
        const int i = chunk * CHUNK + e;
        const float v = finite && row < m && i < k ? scaled(from[i], up) : 0.0f;
        rounded[e] = __float2half(v);
        rest[e] = __float2half(v - __half2float(rounded[e]));
      }
      unsigned char* const tile = to + static_cast<std::size_t>(chunk / 4) * S::A_TILE;
      *reinterpret_cast<uint4*>(tile + ((chunk % 4) ^ row % 8) * 16) = *reinterpret_cast<const uint4*>(rounded);
      *reinterpret_cast<uint4*>(tile + ((chunk % 4 + 4) ^ row % 8) * 16) = *reinterpret_cast<const uint4*>(rest);
    }
    return;
  }
  __shared__ unsigned seen[SPLIT_ROWS][SPLIT_COLS];
  const int col = (blockIdx.x - blocks_of_a) * SPLIT_COLS + lane;
  unsigned largest = 0;
  if (col < n)
    for (std::int64_t i = warp; i < k; i += SPLIT_ROWS) largest = max(largest, magnitude(b[i * ldb + col]));
  seen[warp][lane] = largest;
  __syncthreads();
  for (int i = 0; i < SPLIT_ROWS; ++i) largest = max(largest, seen[i][lane]);
  const bool finite = largest < INFINITE;
  const int up = exponent_to_top(largest);
  if (warp == 0) b_exponents[col] = finite ? -up : NOT_FINITE;
  unsigned char* const to = b_tiles + static_cast<std::size_t>(col / S::TILE_N) * tiles_k * S::B_TILE;
  const int chunk = col % S::TILE_N / CHUNK;
  for (std::int64_t i = warp; i < std::int64_t{tiles_k} * DEPTH; i += SPLIT_ROWS) {
    const float v = finite && i < k && col < n ? scaled(b[i * ldb + col], up) : 0.0f;
    const __half rounded = __float2half(v), rest = __float2half(v - __half2float(rounded));
    const int row = i % DEPTH;
    unsigned char* const place = to + i / DEPTH * S::B_TILE + row * S::B_ROW + (chunk ^ row % 8) * 16 + col % CHUNK * 2;
    *reinterpret_cast<__half*>(place) = rounded;
    *reinterpret_cast<__half*>(place + DEPTH * S::B_ROW) = rest;
  }
}

// Rows of this height of tiles are a band, in which tiles follow one another column by column: stages/17a.
constexpr int BAND = 16;

// pairs: two floats of C side by side can be stored at once.
template <class S>
__global__ void __launch_bounds__(S::THREADS, S::BLOCKS)
    sgemm(int m, int n, int k, float alpha, const float* __restrict__ a, std::int64_t lda, const float* __restrict__ b,
          std::int64_t ldb, const unsigned char* __restrict__ a_tiles, const unsigned char* __restrict__ b_tiles,
          int tiles_k, const int* __restrict__ a_exponents, const int* __restrict__ b_exponents, float beta,
          float* __restrict__ c, std::int64_t ldc, int tiles_m, int tiles_n, bool pairs) {
  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  const int band = blockIdx.x / (BAND * tiles_n), in_band = blockIdx.x % (BAND * tiles_n);
  const int height = min(BAND, tiles_m - band * BAND);
  const int tile_m = band * BAND + in_band % height, tile_n = in_band / height;
  const int warp_row = warp / S::WARPS_N * WARP_M, warp_col = warp % S::WARPS_N * WARP_N;
  const SharedAddress tiles = gemm::ptx::shared_address(smem);

  // A tile is copied from end to end, 16 bytes a thread at a time.
  constexpr unsigned ROUND = 16 * S::THREADS;
  constexpr int A_COPIES = S::A_TILE / ROUND, B_COPIES = S::B_TILE / ROUND, COPIES = A_COPIES + B_COPIES;
  static_assert(A_COPIES * ROUND == S::A_TILE && B_COPIES * ROUND == S::B_TILE);
  const unsigned char* from_a = a_tiles + static_cast<std::size_t>(tile_m) * tiles_k * S::A_TILE + 16 * thread;
  const unsigned char* from_b = b_tiles + static_cast<std::size_t>(tile_n) * tiles_k * S::B_TILE + 16 * thread;
  int to_copy = tiles_k;
  SharedAddress fill = tiles + 16 * thread;
  const auto copy = [&](int i) {
    if (i < A_COPIES)
      gemm::ptx::cp_async_cg(fill + i * ROUND, from_a + i * ROUND);
    else
      gemm::ptx::cp_async_cg(fill + S::A_TILE + (i - A_COPIES) * ROUND, from_b + (i - A_COPIES) * ROUND);
  };
  const auto copied = [&] {
    gemm::ptx::cp_async_commit();
    from_a = gemm::ptx::kept(from_a + S::A_TILE);
    from_b = gemm::ptx::kept(from_b + S::B_TILE);
    fill =
        gemm::ptx::kept(fill + S::TILE < tiles + S::SHARED_BYTES ? fill + S::TILE : fill + S::TILE - S::SHARED_BYTES);
    --to_copy;
  };

  // Reads: lane l gives ldmatrix row l % 16 of a tile of 16 x 16, from column 8 (l / 16) on: as in 03.
  const unsigned row = lane % 16, chunk = lane / 16;
  const SharedAddress a_lane = tiles + (warp_row + row) * S::A_ROW + (chunk ^ row % 8) * 16;
  const SharedAddress b_lane = tiles + S::A_TILE + row * S::B_ROW + ((warp_col / CHUNK + chunk) ^ row % 8) * 16;
  enum { ROUNDED, REST };
  std::uint32_t x[2][ROWS][4], y[2][2][4];  // by ROUNDED and REST; y: two places, each two tiles of 8 columns
  const auto read_a = [&](int i, unsigned stage, int step) {
#pragma unroll
    for (int part = 0; part < 2; ++part)
      gemm::ptx::ldmatrix_x4(x[part][i], ((a_lane + stage) ^ (part * 64 + step * 32)) + i * 16 * S::A_ROW);
  };
  const auto read_b = [&](int to, unsigned stage, int step, int pair) {
#pragma unroll
    for (int part = 0; part < 2; ++part)
      gemm::ptx::ldmatrix_x4_trans(y[to][part],
                                   ((b_lane + stage) ^ pair * 32) + (part * DEPTH + step * STEP) * S::B_ROW);
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
    for (int i = 0; i < ROWS; ++i) read_a(i, current, 0);
    read_b(0, current, 0, 0);
  }

  constexpr int STEPS = DEPTH / STEP, TURNS = STEPS * PAIRS, A_TURN = (COPIES + TURNS - 2) / (TURNS - 1);
#pragma unroll 1
  for (int tile = tiles_k; tile > 0; --tile) {
#pragma unroll
    for (int turn = 0; turn < TURNS; ++turn) {
      const int pair = turn % PAIRS, next = turn + 1;
      if (next == TURNS) {
        copied();
        gemm::ptx::cp_async_wait<S::STAGES - 2>();
        __syncthreads();  // everybody's part of the next tile has arrived, and nobody reads the last one any more
        if (tile > 1) current = current + S::TILE < S::SHARED_BYTES ? current + S::TILE : 0;  // else this one, in vain
      }
      read_b(next % 2, current, next % TURNS / PAIRS, next % PAIRS);
      if (to_copy > 0) {
#pragma unroll
        for (int i = turn * A_TURN; i < (turn + 1) * A_TURN; ++i)
          if (next < TURNS && i < COPIES) copy(i);
      }
      const auto& b = y[turn % 2];
#pragma unroll
      for (int i = 0; i < ROWS; ++i) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const std::uint32_t rounded[2] = {b[ROUNDED][2 * half], b[ROUNDED][2 * half + 1]};
          const std::uint32_t rest[2] = {b[REST][2 * half], b[REST][2 * half + 1]};
          float part[4] = {};
          gemm::ptx::mma_m16n8k16_f32_f16(part, x[REST][i], rounded, part);
          gemm::ptx::mma_m16n8k16_f32_f16(part, x[ROUNDED][i], rest, part);
          gemm::ptx::mma_m16n8k16_f32_f16(part, x[ROUNDED][i], rounded, part);
#pragma unroll
          for (int e = 0; e < 4; ++e) sum[i][2 * pair + half][e] += part[e];
        }
        if (pair == PAIRS - 1) read_a(i, current, next % TURNS / PAIRS);
      }
    }
  }

  // Elements with infinity or NaN among their terms are left out here.
  const int first_row = tile_m * S::TILE_M + warp_row + lane / 4;
  const int first_col = tile_n * S::TILE_N + warp_col + lane % 4 * 2;
  float* out = c + first_row * ldc + first_col;
  bool left_out = false;
#pragma unroll
  for (int i = 0; i < 2 * ROWS; ++i) {
    const int below = m - (first_row + 8 * i), row_exponent = a_exponents[first_row + 8 * i];
#pragma unroll
    for (int j = 0; j < 2 * PAIRS; ++j) {
      const int2 exponents = *reinterpret_cast<const int2*>(b_exponents + first_col + 8 * j);
      const float* const two = &sum[i / 2][j][i % 2 * 2];
      const float left = alpha * scaled(two[0], row_exponent + exponents.x);
      const float right = alpha * scaled(two[1], row_exponent + exponents.y);
      float* const element = out + 8 * j;
      const int columns = n - (first_col + 8 * j);
      if (below <= 0 || columns <= 0) continue;
      const bool has_left = max(row_exponent, exponents.x) < NOT_FINITE;
      const bool has_right = columns > 1 && max(row_exponent, exponents.y) < NOT_FINITE;
      left_out |= !has_left || (columns > 1 && !has_right);
      if (pairs && beta == 0.0f && has_left && has_right) {
        *reinterpret_cast<float2*>(element) = make_float2(left, right);
        continue;
      }
      if (has_left) element[0] = beta == 0.0f ? left : left + beta * element[0];
      if (has_right) element[1] = beta == 0.0f ? right : right + beta * element[1];
    }
    out += 8 * ldc;
  }
  if (!__syncthreads_or(left_out)) return;
  // These, by FP32's own multiply-adds: they are what BLAS would give.
  const int bottom = min(S::TILE_M, m - tile_m * S::TILE_M), end = min(S::TILE_N, n - tile_n * S::TILE_N);
  for (int i = thread; i < bottom * end; i += S::THREADS) {
    const std::int64_t row = tile_m * S::TILE_M + i / end, col = tile_n * S::TILE_N + i % end;
    if (max(a_exponents[row], b_exponents[col]) < NOT_FINITE) continue;
    float value = 0.0f;
    for (std::int64_t l = 0; l < k; ++l) value = fmaf(a[row * lda + l], b[l * ldb + col], value);
    float* const element = c + row * ldc + col;
    *element = beta == 0.0f ? alpha * value : alpha * value + beta * *element;
  }
}

using Large = Shape<128, 256, 4, 1>;
using Small = Shape<128, 128, 3, 2>;  // for small products, and for GPUs with 100 KB a block

// Of the workspace, in bytes from its begin.
template <class S>
struct Plan {
  int tiles_m, tiles_n, tiles_k;
  std::size_t b_tiles, a_exponents, b_exponents, bytes;

  explicit Plan(const gemm::SgemmProblem& p)
      : tiles_m(gemm::ceil_div(p.m, S::TILE_M)),
        tiles_n(gemm::ceil_div(p.n, S::TILE_N)),
        tiles_k(gemm::ceil_div(p.depth(), DEPTH)),
        b_tiles(std::size_t{S::A_TILE} * tiles_m * tiles_k),
        a_exponents(b_tiles + std::size_t{S::B_TILE} * tiles_n * tiles_k),
        b_exponents(a_exponents + sizeof(int) * S::TILE_M * tiles_m),
        bytes(b_exponents + sizeof(int) * S::TILE_N * tiles_n) {}
};

std::size_t workspace_bytes(const gemm::SgemmProblem& p) {
  return std::max(Plan<Large>(p).bytes, Plan<Small>(p).bytes);
}

template <class S>
gemm::Status launch_shape(const gemm::SgemmProblem& p, cudaStream_t stream) {
  const Plan<S> plan(p);
  unsigned char* const workspace = reinterpret_cast<unsigned char*>(p.workspace);
  int* const a_exponents = reinterpret_cast<int*>(workspace + plan.a_exponents);
  int* const b_exponents = reinterpret_cast<int*>(workspace + plan.b_exponents);
  const int blocks_of_a = plan.tiles_m * S::TILE_M / SPLIT_ROWS, blocks_of_b = plan.tiles_n * S::TILE_N / SPLIT_COLS;
  if (p.m == 0 || p.n == 0) return gemm::Status::ok();
  const gemm::Status split =
      gemm::launch(split_operands<S>,
                   {.grid = static_cast<unsigned>(blocks_of_a + blocks_of_b), .block = SPLIT_THREADS, .stream = stream},
                   p.m, p.n, p.depth(), p.a, p.lda, p.b, p.ldb, workspace, workspace + plan.b_tiles, a_exponents,
                   b_exponents, blocks_of_a, plan.tiles_k);
  if (!split) return split;
  const bool pairs = reinterpret_cast<std::uintptr_t>(p.c) % 8 == 0 && p.ldc % 2 == 0;
  return gemm::launch(sgemm<S>,
                      {.grid = static_cast<unsigned>(plan.tiles_m) * plan.tiles_n,
                       .block = S::THREADS,
                       .dynamic_shared = S::SHARED_BYTES,
                       .stream = stream},
                      p.m, p.n, p.depth(), p.alpha, p.a, p.lda, p.b, p.ldb, workspace, workspace + plan.b_tiles,
                      plan.tiles_k, a_exponents, b_exponents, p.beta, p.c, p.ldc, plan.tiles_m, plan.tiles_n, pairs);
}

gemm::Status launch(const gemm::SgemmProblem& p, cudaStream_t stream) {
  const gemm::DeviceLimits device = gemm::device_limits();
  const std::int64_t tiles = std::int64_t{gemm::ceil_div(p.m, Large::TILE_M)} * gemm::ceil_div(p.n, Large::TILE_N);
  const bool large =
      tiles >= device.multiprocessors && Large::SHARED_BYTES <= static_cast<unsigned>(device.shared_bytes_per_block);
  return large ? launch_shape<Large>(p, stream) : launch_shape<Small>(p, stream);
}

constexpr gemm::TcecVariant variants[] = {
    {.name = "128x256", .idea = "always tiles of 128 x 256", .launch = launch_shape<Large>, .fp16_range = false},
    {.name = "128x128",
     .idea = "always tiles of 128 x 128, two blocks an SM",
     .launch = launch_shape<Small>,
     .fp16_range = false},
};
constexpr gemm::TcecInfo info = {
    .idea = "numbers scaled and split once, in a pass of their own; ldmatrix and copies some tiles ahead",
    .launch = launch,
    .fp16_range = false,
    .workspace_bytes = workspace_bytes,
    .variants = variants,
};
const gemm::Registration registration{__FILE__, info};

}  // namespace
