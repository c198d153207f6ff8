// 17c packed panels: a first kernel copies A and B into panels, in the order in which blocks will read them, and
// transposes A. Then all copies have 16 bytes, and a thread reads four outputs' words of A at once, as it does of B.
//
// Idea      Packing moves 2 words per word, and the product reads each word many times. Goto and van de Geijn pack for
//           a CPU's TLB and caches; here it helps cp.async, cache lines and registers.
// Base      17b_stream_k
// Change    pack(). A tile of A lies by steps of k: a thread reads 6 float4s per step for 128 FMAs, not 20 per 512, and
//           holds no quads of A in registers. There is room for two steps' operands: a turn of the loop is two steps.
// Limit     As 15: issue slots, and about three of them per LDS.128. Packing: 2 * 4 (m k + k n) bytes at 4 TB/s.
// Number    TFLOP/s at 8192, and at 4095, 4097 and 5000, whose rows do not begin with cache lines.
// Map       As 15, but rows in fours: lane (lm, ln) has rows 4 lm + 32 r + 0..3, columns 4 ln + 16 g + 0..3.
// Page      docs/stages/17c_packed_panels.md
// Source    Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication", ACM TOMS 34 (2008).
#include <type_traits>

#include "common/kernel/ptx.cuh"
#include "common/kernel/schedule.cuh"
#include "common/kernel/vector.cuh"
#include "common/stage.cuh"
#include "stages/summit/pack.cuh"

extern __shared__ __align__(16) float smem[];

namespace {

using namespace gemm::summit;
constexpr int TILE_M = 128, TILE_N = 128, TILE_K = 32;             // of C per block; steps of k between barriers
constexpr int WARP_M = 64, WARP_N = 64, LANES_M = 8, LANES_N = 4;  // of C per warp; how its lanes lie over that
constexpr int ROWS = WARP_M / LANES_M, COLS = WARP_N / LANES_N;    // outputs of a thread
constexpr int THREADS = TILE_M / WARP_M * (TILE_N / WARP_N) * 32;
constexpr int FOURS = ROWS * COLS / 4, PART = FOURS * THREADS;  // float4s of a thread's outputs, and a block's
constexpr int BLOCKS = 2, ROW = TILE_M + TILE_N;  // per SM; words of a step of k in shared memory: A's, then B's
constexpr int TILE = TILE_K * ROW;                // two of these, one read, one filled; and a row of zeros
constexpr unsigned SHARED_BYTES = (2 * TILE + ROW) * sizeof(float);
static_assert(TILE_M == PANEL && TILE_N == PANEL && LANES_M * LANES_N == 32);
__device__ int first_row(int thread), first_col(int thread), row_of(int i), col_of(int i);  // below

// A and B in panels. CUT: how many columns of the next step a turn of the loop computes.
template <int CUT>
__global__ void __launch_bounds__(THREADS, BLOCKS)
    sgemm(int m, int n, int k, float alpha, const float* __restrict__ a, const float* __restrict__ b, float beta,
          float* __restrict__ c, std::int64_t ldc, gemm::StreamK plan, bool wide, float4* __restrict__ parts) {
  const int thread = threadIdx.x;
  for (int part = 0;; ++part) {
    int tile, first, end, tile_m, tile_n;
    if (!plan.segment<true>(blockIdx.x, part, tile, first, end) && part > 0) break;
    if (part > 0) __syncthreads();  // nobody reads the last tile's words any more
    plan.place(tile, tile_m, tile_n);
    const int k_begin = first * TILE_K;
    int left = min(k, end * TILE_K) - k_begin;  // steps that are not being copied yet

    // A warp copies 128 words of a step of A, and of B.
    constexpr int STRIDE = THREADS / (PANEL / 4);
    const int col = thread % (PANEL / 4) * 4, step = thread / (PANEL / 4);
    const float* a_from = a + (static_cast<std::size_t>(tile_m) * k + k_begin + step) * PANEL + col;
    const float* b_from = b + (static_cast<std::size_t>(tile_n) * k + k_begin + step) * PANEL + col;
    const auto fetch = [&](int buffer) {
      float* const to = smem + buffer * TILE + step * ROW + col;
      if (left >= TILE_K) {
#pragma unroll
        for (int i = 0; i < TILE_K; i += STRIDE) gemm::ptx::cp_async_cg(to + i * ROW, a_from + i * PANEL, 16);
#pragma unroll
        for (int i = 0; i < TILE_K; i += STRIDE) gemm::ptx::cp_async_cg(to + i * ROW + TILE_M, b_from + i * PANEL, 16);
      } else if (left > 0) {  // the last tile, if it is not complete: zeros behind the end of k
#pragma unroll 1
        for (int i = 0; i < TILE_K; i += STRIDE) {
          const bool exists = step + i < left;
          gemm::ptx::cp_async_cg(to + i * ROW, exists ? a_from + i * PANEL : a, exists ? 16 : 0);
          gemm::ptx::cp_async_cg(to + i * ROW + TILE_M, exists ? b_from + i * PANEL : b, exists ? 16 : 0);
        }
      }
      gemm::ptx::cp_async_commit();
      a_from += TILE_K * PANEL;
      b_from += TILE_K * PANEL;
      left -= TILE_K;
    };

    float sum[ROWS][COLS] = {};
    alignas(16) float x[2][ROWS], y[2][COLS];  // of a step of k, and of the next
    const float *const a_lane = smem + first_row(thread), *const b_lane = smem + TILE_M + first_col(thread);
    const auto read = [&](int u, const float* a_at, const float* b_at) {
#pragma unroll
      for (int r = 0; r < ROWS; r += 4)
        *reinterpret_cast<float4*>(&x[u % 2][r]) = *reinterpret_cast<const float4*>(a_at + r * LANES_M);
#pragma unroll
      for (int g = 0; g < COLS; g += 4)
        *reinterpret_cast<float4*>(&y[u % 2][g]) = *reinterpret_cast<const float4*>(b_at + g * LANES_N);
    };
    // Column by column, to and fro over the rows: an FFMA shares a word with the one before it, which need not be read
    // from the register banks again.
    const auto multiply = [&](int u, int from, int to) {
#pragma unroll
      for (int col = from; col < to; ++col) {
#pragma unroll
        for (int i = 0; i < ROWS; ++i) {
          const int r = col % 2 ? ROWS - 1 - i : i;
          sum[r][col] += x[u % 2][r] * y[u % 2][col];
        }
      }
    };

    fetch(0);
    for (int i = thread; i < ROW; i += THREADS) smem[2 * TILE + i] = 0.0f;
    gemm::ptx::cp_async_wait<0>();
    __syncthreads();

    // While a step is multiplied, the next one's operands are read; the step behind the last one consists of zeros.
    // With CUT, a turn ends in the middle of a step, and carries fewer operands over to the next.
    constexpr int TURN = 2;
    int rounds = end - first, buffer = 0;
    int at = rounds > 0 ? 0 : 2 * TILE;
    const float *a_at = a_lane + at, *b_at = b_lane + at;
    read(0, a_at, b_at);
    multiply(0, 0, CUT);
    const auto turn = [&](auto last_of_round) {
#pragma unroll
      for (int u = 0; u < TURN; ++u) {
        a_at += ROW;
        b_at += ROW;
        if (decltype(last_of_round)::value && u == TURN - 1) {
          gemm::ptx::cp_async_wait<0>();
          __syncthreads();  // everybody's part of the next tile has arrived, and nobody reads this one any more
          a_at = a_lane + at;
          b_at = b_lane + at;
        }
        read(u + 1, a_at, b_at);
        multiply(u, CUT, COLS);
        multiply(u + 1, 0, CUT);
      }
    };
#pragma unroll 1
    for (; rounds > 0; --rounds) {
      buffer ^= 1;  // everybody has read it before the last barrier
      fetch(buffer);
      at = rounds > 1 ? buffer * TILE : 2 * TILE;
#pragma unroll 1
      for (int steps = TURN; steps < TILE_K; steps += TURN) turn(std::false_type{});
      turn(std::true_type{});
    }

    // A complete tile goes to C. A part goes to the workspace, in an order that suits the threads; a worker has at most
    // two, where its rounds begin and where they end. All of this is found out again, so that no registers hold it
    // meanwhile.
#ifdef __CUDACC__
    asm volatile("" : "+r"(part));
#endif
    plan.segment<true>(blockIdx.x, part, tile, first, end);
    plan.place(tile, tile_m, tile_n);
    const bool complete = first == 0 && end == plan.rounds;
    const int row0 = tile_m * TILE_M + first_row(thread), col0 = tile_n * TILE_N + first_col(thread);
    float4* const to = parts + gemm::part_at(blockIdx.x, part > 0) * PART + thread;
#pragma unroll
    for (int i = 0; i < FOURS; ++i) {
      // Scaled here in both cases, for 17b's reason.
      const float* const s = &sum[i / (COLS / 4)][i % (COLS / 4) * 4];
      const float4 four = make_float4(alpha * s[0], alpha * s[1], alpha * s[2], alpha * s[3]);
      const int row = row0 + row_of(i), col = col0 + col_of(i);
      if (!complete)
        to[i * THREADS] = four;
      else if (row < m)
        gemm::store_scaled4(c + row * ldc + col, n - col, wide, four, beta);
    }
  }
}

// Where in its tile a thread's outputs begin, and where its i-th float4 lies from there. Lanes 1 apart share rows,
// lanes 2 apart share columns: a 16-byte load whose lanes pair up so takes half the cycles.
__device__ int first_row(int thread) {
  const int lane = thread % 32;
  return thread / 32 / (TILE_N / WARP_N) * WARP_M + 4 * (lane / 2 % 2 + lane / 8 * 2);
}
__device__ int first_col(int thread) {
  const int lane = thread % 32;
  return thread / 32 % (TILE_N / WARP_N) * WARP_N + 4 * (lane % 2 + lane / 4 % 2 * 2);
}
__device__ int row_of(int i) {
  const int row = i / (COLS / 4);
  return row / 4 * 4 * LANES_M + row % 4;
}
__device__ int col_of(int i) {
  return i % (COLS / 4) * 4 * LANES_N;
}

// As 17b: C of the tiles that several workers have parts of, added in the order of k.
__global__ void reduce(int m, int n, float beta, float* __restrict__ c, std::int64_t ldc, gemm::StreamK plan, bool wide,
                       const float4* __restrict__ parts) {
  const int tile = blockIdx.x / FOURS, four = blockIdx.x % FOURS, thread = threadIdx.x;
  const int begin = tile * plan.rounds;
  const int from = plan.shares().worker_of(begin), to = plan.shares().worker_of(begin + plan.rounds - 1);
  if (from == to) return;  // it had the whole tile, and has stored it
  // Only the first of them can have come from another tile, and then this is the second part that it has stored.
  const auto at = [&](int worker, bool second) {
    return parts[gemm::part_at(worker, second) * PART + four * THREADS + thread];
  };
  float4 sum = at(from, plan.shares().begin(from) < begin);
#pragma unroll 16
  for (int worker = from + 1; worker <= to; ++worker) {
    const float4 part = at(worker, false);
    sum = make_float4(sum.x + part.x, sum.y + part.y, sum.z + part.z, sum.w + part.w);
  }
  int tile_m, tile_n;
  plan.place(tile, tile_m, tile_n);
  const int row = tile_m * TILE_M + first_row(thread) + row_of(four);
  const int col = tile_n * TILE_N + first_col(thread) + col_of(four);
  if (row < m) gemm::store_scaled4(c + row * ldc + col, n - col, wide, sum, beta);
}

std::size_t part_words() {  // two parts a worker, and never more workers than places
  return 2ull * gemm::device_limits().multiprocessors * BLOCKS * TILE_M * TILE_N;
}

template <int CUT>
gemm::Status launch(const gemm::SgemmProblem& p, cudaStream_t stream) {
  const gemm::StreamK plan =
      gemm::stream_k(gemm::ceil_div(p.m, TILE_M), gemm::ceil_div(p.n, TILE_N), gemm::ceil_div(p.depth(), TILE_K),
                     gemm::device_limits().multiprocessors * BLOCKS);
  const int tiles = plan.tiles_m * plan.tiles_n, k = p.depth();
  if (tiles == 0) return gemm::Status::ok();
  float4* const parts = reinterpret_cast<float4*>(p.workspace);
  float* const panels = p.workspace + part_words();
  const Packing a{p.a, p.lda, p.m, panels}, b{p.b, p.ldb, p.n, panels + packed_words(p.m, k)};
  const unsigned pack_blocks = pack_a_blocks(p.m, k) + pack_b_blocks(p.n, k);
  const bool wide = gemm::has_aligned_rows(p.c, p.ldc);
  if (k > 0) {
    const gemm::Status status =
        gemm::launch(pack, {.grid = pack_blocks, .block = {32, PACK_ROWS}, .stream = stream}, a, b, k);
    if (!status) return status;
  }
  const gemm::Status status = gemm::launch(
      sgemm<CUT>, {.grid = plan.blocks(), .block = THREADS, .dynamic_shared = SHARED_BYTES, .stream = stream}, p.m, p.n,
      k, p.alpha, a.to, b.to, p.beta, p.c, p.ldc, plan, wide, parts);
  if (!status || plan.workers == 0) return status;
  return gemm::launch(reduce, {.grid = static_cast<unsigned>(plan.shared) * FOURS, .block = THREADS, .stream = stream},
                      p.m, p.n, p.beta, p.c, p.ldc, plan, wide, parts);
}

constexpr gemm::Variant variants[] = {
    {.name = "cut", .idea = "a turn of the loop ends in the middle of a step of k", .launch = launch<COLS / 2>},
};

constexpr gemm::StageInfo info = {
    .idea = "17b; A and B packed into panels, A transposed; two steps of k a turn of the loop",
    .base = "17b",
    // A step of a warp: 6 float4s of a thread, two cycles each, for 128 FMAs. And pack() reads each word of A once.
    .l1_cycles =
        [](const gemm::SgemmProblem& p) { return gemm::L1Cycles{.shared = 6.0 * 2 / 128 + 1.0 / std::max(p.n, 1)}; },
    .min_compute_capability = 80,
    .launch = launch<0>,
    .workspace_bytes =
        [](const gemm::Problem& problem) {
          const gemm::SgemmProblem p = problem;
          return sizeof(float) * (part_words() + packed_words(p.m, p.depth()) + packed_words(p.n, p.depth()));
        },
    .variants = variants,
};
const gemm::Registration registration{__FILE__, info};

}  // namespace
