// 16b packed copies: a first kernel copies A and B into panels, in the order in which blocks will read them. Then every
// cp.async has 16 bytes, whatever the alignment, and its address needs no row x lda. To be read after 17b.
//
// Idea      Packing moves 2 words per word, and the product reads each word many times. Goto and van de Geijn pack for
//           a CPU's TLB and caches; here it helps cp.async and cache lines.
// Base      17b_stream_k
// Change    pack(). A panel of A consists of quads: four steps of k of 128 rows, a float4 for each row. So it need not
//           be transposed, and 17b's loop stays. One fetch() for all alignments; zeros stand for rows outside.
// Limit     As 15: issue slots, and about three of them per LDS.128. Packing: 2 * 4 (m k + k n) bytes at 4 TB/s.
// Number    TFLOP/s at 4095, 4097 and 5000, whose rows do not begin with cache lines, against 4096.
// Map       As 15: lane (lm, ln) of 8 x 4 computes rows lm + 8 r, columns 4 ln + 16 g + 0..3.
// Page      docs/stages/16b_packed_copies.md
// Source    Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication", ACM TOMS 34 (2008).
#include "common/kernel/ptx.cuh"
#include "common/kernel/schedule.cuh"
#include "common/kernel/vector.cuh"
#include "common/stage.cuh"
#include "stages/summit/pack.cuh"

extern __shared__ __align__(16) float smem[];

namespace {

using namespace gemm::summit;
constexpr int TILE_M = 128, TILE_N = 128, TILE_K = 32;           // of C per block; steps of k between barriers
constexpr int WARP_M = 64, WARP_N = 64;                          // of C per warp
constexpr int LANES_M = 8, LANES_N = 4;                          // how a warp's lanes lie over its part of C
constexpr int ROWS = WARP_M / LANES_M, COLS = WARP_N / LANES_N;  // outputs of a thread
constexpr int THREADS = TILE_M / WARP_M * (TILE_N / WARP_N) * 32;
constexpr int BLOCKS = 2, STAGES = 3;  // per SM; k-tiles in shared memory: one is read, two are in flight
constexpr int ROW = TILE_M + TILE_N, TILE = TILE_K * ROW;  // words of a step of k: A's, then B's; of a k-tile
constexpr unsigned SHARED_BYTES = STAGES * TILE * sizeof(float);
constexpr int FOURS = ROWS * COLS / 4, PART = FOURS * THREADS;  // float4s of a thread's outputs, and a block's
constexpr int GROUP = 4;  // rows of A whose quads are in registers at a time, twice: used, and arriving
static_assert(TILE_M == PANEL && TILE_N == PANEL && LANES_M * LANES_N == 32 && ROWS % 4 == 0 && COLS % 4 == 0);

// A and B in panels; k: of whole quads.
__global__ void __launch_bounds__(THREADS, BLOCKS)
    sgemm(int m, int n, int k, float alpha, const float* __restrict__ a, const float* __restrict__ b, float beta,
          float* __restrict__ c, std::int64_t ldc, gemm::StreamK plan, bool wide, float4* __restrict__ parts) {
  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  // Lanes 1 apart share rows, lanes 2 apart share columns: a 16-byte load whose lanes pair up so takes half the cycles.
  const int lm = lane / 2 % 2 + lane / 8 * 2, ln = lane % 2 + lane / 4 % 2 * 2;
  const int warp_row = warp / (TILE_N / WARP_N) * WARP_M, warp_col = warp % (TILE_N / WARP_N) * WARP_N;
  for (int part = 0;; ++part) {
    int tile, first, end, tile_m, tile_n;
    if (!plan.segment<true>(blockIdx.x, part, tile, first, end) && part > 0) break;
    if (part > 0) __syncthreads();  // all threads have finished reading the last tile's words
    plan.place(tile, tile_m, tile_n);
    const int k_begin = first * TILE_K, k_end = min(k, end * TILE_K);
    int left = k_end - k_begin;  // steps of k whose copies have not started

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
    float4 a4[2][GROUP];  // four steps of GROUP rows
    float b1[4][COLS];    // four steps of all columns
    const float* const a_lane = smem + warp_row / 32 * ROW + 4 * lm;
    const float* const b_lane = smem + TILE_M + warp_col + 4 * ln;
    const auto read_a = [&](float4(&to)[GROUP], const float* from, int group) {
#pragma unroll
      for (int r = 0; r < GROUP; ++r) to[r] = *reinterpret_cast<const float4*>(from + group * ROW + r * (4 * LANES_M));
    };
    const auto read_b = [&](float(&to)[COLS], const float* from) {
#pragma unroll
      for (int g = 0; g < COLS; g += 4)
        *reinterpret_cast<float4*>(&to[g]) = *reinterpret_cast<const float4*>(from + g * LANES_N);
    };

    fetch(0);
    fetch(1);
    gemm::ptx::cp_async_wait<1>();  // for all but the latest
    __syncthreads();
    const float *a_at = a_lane, *b_at = b_lane;
    if (k_begin < k_end) {
      read_a(a4[0], a_at, 0);
#pragma unroll
      for (int s = 0; s < 4; ++s) read_b(b1[s], b_at + s * ROW);
    }
    int current = 0, free = 2;  // the k-tile being read, and the next to fill
#pragma unroll 1
    for (int k0 = k_begin; k0 < k_end; k0 += TILE_K) {
      fetch(free);  // all threads finished reading it before the last barrier
      free = free + 1 < STAGES ? free + 1 : 0;
#pragma unroll 1
      for (int quad = 0; quad < TILE_K; quad += 4) {
        const float *a_next = a_at + 4 * ROW, *b_next = b_at + 4 * ROW;
#pragma unroll
        for (int group = 0; group < ROWS / GROUP; ++group) {
          const bool last = group == ROWS / GROUP - 1;
          if (last && quad == TILE_K - 4) {
            gemm::ptx::cp_async_wait<1>();
            __syncthreads();  // all copies of the next k-tile have arrived; no thread reads this one now
            if (k0 + TILE_K < k_end) current = current + 1 < STAGES ? current + 1 : 0;  // else re-read this: not used
            a_next = a_lane + current * TILE;
            b_next = b_lane + current * TILE;
          }
          read_a(a4[(group + 1) % 2], last ? a_next : a_at, last ? 0 : group + 1);
#pragma unroll
          for (int s = 0; s < 4; ++s) {
            float x[GROUP];
#pragma unroll
            for (int r = 0; r < GROUP; ++r) {
              const float4 q = a4[group % 2][r];
              x[r] = s == 0 ? q.x : s == 1 ? q.y : s == 2 ? q.z : q.w;
            }
            // Column by column, to and fro over the rows: an FFMA shares a word with the one before it, which need not
            // be read from the register banks again.
#pragma unroll
            for (int col = 0; col < COLS; ++col) {
#pragma unroll
              for (int i = 0; i < GROUP; ++i) {
                const int r = col % 2 ? GROUP - 1 - i : i;
                sum[group * GROUP + r][col] += x[r] * b1[s][col];
              }
            }
            if (last) read_b(b1[s], b_next + s * ROW);
          }
        }
        a_at = a_next;
        b_at = b_next;
      }
    }

    // A complete tile goes to C. A part goes to the workspace, in an order that suits the threads; a worker has at most
    // two, where its rounds begin and where they end. All of this is computed again, so that no registers hold it
    // during the loop.
#ifdef __CUDACC__
    asm volatile("" : "+r"(part));
#endif
    plan.segment<true>(blockIdx.x, part, tile, first, end);
    plan.place(tile, tile_m, tile_n);
    const bool complete = first == 0 && end == plan.rounds;
    const int row0 = tile_m * TILE_M + warp_row + lm, col0 = tile_n * TILE_N + warp_col + 4 * ln;
    float4* const to = parts + gemm::part_at(blockIdx.x, part > 0) * PART + thread;
#pragma unroll
    for (int i = 0; i < FOURS; ++i) {
      const int r = i / (COLS / 4), g = i % (COLS / 4) * 4;
      const int row = row0 + r * LANES_M, col = col0 + g * LANES_N;
      // Scaled here in both cases, for 17b's reason.
      const float4 four =
          make_float4(alpha * sum[r][g], alpha * sum[r][g + 1], alpha * sum[r][g + 2], alpha * sum[r][g + 3]);
      if (!complete)
        to[i * THREADS] = four;
      else if (row < m)
        gemm::store_scaled4(c + row * ldc + col, n - col, wide, four, beta);
    }
  }
}

// As 17b: C of the tiles that several workers have parts of, added in the order of k.
__global__ void reduce(int m, int n, float beta, float* __restrict__ c, std::int64_t ldc, gemm::StreamK plan, bool wide,
                       const float4* __restrict__ parts) {
  const int tile = blockIdx.x / FOURS, four = blockIdx.x % FOURS, thread = threadIdx.x, lane = thread % 32;
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
  const int lm = lane / 2 % 2 + lane / 8 * 2, ln = lane % 2 + lane / 4 % 2 * 2;
  const int warp_row = thread / 32 / (TILE_N / WARP_N) * WARP_M, warp_col = thread / 32 % (TILE_N / WARP_N) * WARP_N;
  const int r = four / (COLS / 4), g = four % (COLS / 4) * 4;
  const int row0 = tile_m * TILE_M + warp_row + lm, col0 = tile_n * TILE_N + warp_col + 4 * ln;
  const int row = row0 + r * LANES_M, col = col0 + g * LANES_N;
  if (row < m) gemm::store_scaled4(c + row * ldc + col, n - col, wide, sum, beta);
}

std::size_t part_words() {  // two parts per worker, and at most as many workers as resident blocks
  return 2ull * gemm::device_limits().multiprocessors * BLOCKS * TILE_M * TILE_N;
}

gemm::Status launch(const gemm::SgemmProblem& p, cudaStream_t stream) {
  const int k = whole_quads(p.depth());
  const gemm::StreamK plan = gemm::stream_k(gemm::ceil_div(p.m, TILE_M), gemm::ceil_div(p.n, TILE_N),
                                            gemm::ceil_div(k, TILE_K), gemm::device_limits().multiprocessors * BLOCKS);
  if (plan.blocks() == 0) return gemm::Status::ok();
  float4* const parts = reinterpret_cast<float4*>(p.workspace);
  float* const panels = p.workspace + part_words();
  const Packing a{p.a, p.lda, p.m, panels}, b{p.b, p.ldb, p.n, panels + packed_words(p.m, k)};
  const unsigned pack_blocks = pack_a_blocks(p.m, k) + pack_b_blocks(p.n, k);
  const bool wide = gemm::has_aligned_rows(p.c, p.ldc);
  gemm::Status status = gemm::Status::ok();
  if (k > 0)
    status =
        gemm::launch(pack<true>, {.grid = pack_blocks, .block = {32, PACK_ROWS}, .stream = stream}, a, b, p.depth());
  if (!status) return status;
  const auto kernel = sgemm;
  status =
      gemm::launch(kernel, {.grid = plan.blocks(), .block = THREADS, .dynamic_shared = SHARED_BYTES, .stream = stream},
                   p.m, p.n, k, p.alpha, a.to, b.to, p.beta, p.c, p.ldc, plan, wide, parts);
  if (!status || plan.workers == 0) return status;
  return gemm::launch(reduce, {.grid = static_cast<unsigned>(plan.shared) * FOURS, .block = THREADS, .stream = stream},
                      p.m, p.n, p.beta, p.c, p.ldc, plan, wide, parts);
}

std::size_t workspace_bytes(const gemm::Problem& problem) {
  const gemm::SgemmProblem p = problem;
  const int k = whole_quads(p.depth());
  return sizeof(float) * (part_words() + packed_words(p.m, k) + packed_words(p.n, k));
}

constexpr gemm::StageInfo info = {
    .idea = "17b; A and B packed into panels first, so that each copy has 16 bytes; A stays in quads",
    .base = "17b",
    // As 17b's. And pack() reads each word of A once.
    .l1_cycles =
        [](const gemm::SgemmProblem& p) { return gemm::L1Cycles{.shared = 24.0 * 2 / 512 + 1.0 / std::max(p.n, 1)}; },
    .min_compute_capability = 80,
    .launch = launch,
    .workspace_bytes = workspace_bytes,
};
const gemm::Registration registration{__FILE__, info};

}  // namespace
