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
#include "common/kernel/vector.cuh"
#include "common/stage.cuh"
#include "stages/summit/panels.cuh"
#include "stages/summit/parts.cuh"
#include "stages/summit/tile.cuh"

extern __shared__ __align__(16) float smem[];

namespace {

using namespace gemm::summit;
constexpr bool QUADS = true;  // A is packed in quads: four steps of k of a row lie together
constexpr int STAGES = 3;     // k-tiles in shared memory: one is read, two are in flight
constexpr unsigned SHARED_BYTES = STAGES * TILE * sizeof(float);
static_assert(LANES_M * LANES_N == 32 && ROWS / 2 == 4 && COLS % 4 == 0 && TILE_K % 4 == 0);

// A and B in panels; k: of whole quads.
__global__ void __launch_bounds__(THREADS, BLOCKS)
    sgemm(int m, int n, int k, float alpha, const float* __restrict__ a, const float* __restrict__ b, float beta,
          float* __restrict__ c, std::int64_t ldc, gemm::StreamK plan, bool wide, float4* __restrict__ parts) {
  float* const as = smem;  // [STAGES][TILE_K][ROW]: a step of A, and of B
  float* const bs = smem + TILE_M;
  const int thread = threadIdx.x;
  const auto [lm, ln, warp_row, warp_col] = place_of(thread);
  PanelCopies copies{a, b, k, thread};
  for (int part = 0;; ++part) {
    int tile, first, end, tile_m, tile_n;
    if (!plan.segment<true>(blockIdx.x, part, tile, first, end) && part > 0) break;
    if (part > 0) __syncthreads();  // all threads have finished reading the last tile's words
    plan.place(tile, tile_m, tile_n);
    const int k_begin = first * TILE_K, k_end = min(k, end * TILE_K);
    copies.start(tile_m, tile_n, k_begin, k_end);
    const auto fetch = [&](int stage) { copies.fetch(as, bs, stage); };

    float sum[ROWS][COLS] = {};
    float4 a4[2][ROWS / 2];          // four steps of each half of the rows
    float x[ROWS / 2], b1[4][COLS];  // one step of a half; four of all columns
    const float* const a_lane = as + warp_row / 32 * ROW + 4 * lm;
    const float* const b_lane = bs + warp_col + 4 * ln;

    fetch(0);
    fetch(1);
    gemm::ptx::cp_async_wait<STAGES - 2>();  // for all but the latest
    __syncthreads();
    const float *a_at = a_lane, *b_at = b_lane;
    if (k_begin < k_end) {
      gemm::read_fours<A_APART>(a4[0], a_at);
      gemm::read_fours<B_APART>(b1, b_at, ROW);
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
        for (int half = 0; half < 2; ++half) {  // of the rows; the other half's words arrive
          if (half == 1 && quad == TILE_K - 4) {
            gemm::ptx::cp_async_wait<STAGES - 2>();
            __syncthreads();          // all copies of the next k-tile have arrived; no thread reads this one now
            if (k0 + TILE_K < k_end)  // else re-read this one: not used
              current = current + 1 < STAGES ? current + 1 : 0;
            a_next = a_lane + current * TILE;
            b_next = b_lane + current * TILE;
          }
          gemm::read_fours<A_APART>(a4[1 - half], half == 1 ? a_next : a_at + ROW);
#pragma unroll
          for (int s = 0; s < 4; ++s) {
            gemm::take_words(x, a4[half], s);
            gemm::add_products(&sum[half * ROWS / 2], x, b1[s]);
            if (half == 1) gemm::read_fours<B_APART>(b1[s], b_next + s * ROW);
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
    for (int r = 0; r < ROWS; ++r) {
      const int row = row0 + r * LANES_M;
#pragma unroll
      for (int g = 0; g < COLS; g += 4) {
        const int col = col0 + g * LANES_N;
        const float4 four = gemm::scaled4(alpha, &sum[r][g]);  // here in both cases, for 17b's reason
        if (!complete)
          to[(r * COLS + g) / 4 * THREADS] = four;
        else if (row < m)
          gemm::store_scaled4(c + row * ldc + col, n - col, wide, four, beta);
      }
    }
  }
}

// As 17b: C of the tiles that several workers have parts of, added in the order of k.
__global__ void reduce(int m, int n, float beta, float* __restrict__ c, std::int64_t ldc, gemm::StreamK plan, bool wide,
                       const float4* __restrict__ parts) {
  const int tile = blockIdx.x / FOURS, four = blockIdx.x % FOURS, thread = threadIdx.x, lane = thread % 32;
  float4 sum;
  if (!sum_of_parts(plan, parts, tile, four, thread, sum)) return;
  int tile_m, tile_n;
  plan.place(tile, tile_m, tile_n);
  const int lm = lane / 2 % 2 + lane / 8 * 2, ln = lane % 2 + lane / 4 % 2 * 2;
  const int warp_row = thread / 32 / (TILE_N / WARP_N) * WARP_M, warp_col = thread / 32 % (TILE_N / WARP_N) * WARP_N;
  const int row = tile_m * TILE_M + warp_row + lm + four / (COLS / 4) * LANES_M;
  const int col = tile_n * TILE_N + warp_col + 4 * ln + four % (COLS / 4) * (4 * LANES_N);
  if (row < m) gemm::store_scaled4(c + row * ldc + col, n - col, wide, sum, beta);
}

gemm::Status launch(const gemm::SgemmProblem& p, cudaStream_t stream) {
  const int k = panel_steps<QUADS>(p.depth());
  const int tiles_m = gemm::ceil_div(p.m, TILE_M), tiles_n = gemm::ceil_div(p.n, TILE_N);
  const int places = gemm::device_limits().multiprocessors * BLOCKS;
  const gemm::StreamK plan = gemm::stream_k(tiles_m, tiles_n, gemm::ceil_div(k, TILE_K), places);
  float4* const parts = reinterpret_cast<float4*>(p.workspace);
  float* const panels = p.workspace + part_bytes(BLOCKS) / sizeof(float);
  const Packing a{p.a, p.lda, p.m, panels}, b{p.b, p.ldb, p.n, panels + packed_words(p.m, k)};
  const gemm::Status packed = launch_pack<QUADS>(a, b, p.depth(), stream);
  if (!packed) return packed;
  const bool wide = gemm::has_aligned_rows(p.c, p.ldc);
  const gemm::Status status =
      gemm::launch(sgemm, {.grid = plan.blocks(), .block = THREADS, .dynamic_shared = SHARED_BYTES, .stream = stream},
                   p.m, p.n, k, p.alpha, a.to, b.to, p.beta, p.c, p.ldc, plan, wide, parts);
  if (!status || plan.workers == 0) return status;
  return gemm::launch(reduce, {.grid = static_cast<unsigned>(plan.shared) * FOURS, .block = THREADS, .stream = stream},
                      p.m, p.n, p.beta, p.c, p.ldc, plan, wide, parts);
}

std::size_t workspace_bytes(const gemm::SgemmProblem& p) {
  const int k = panel_steps<QUADS>(p.depth());
  return part_bytes(BLOCKS) + sizeof(float) * (packed_words(p.m, k) + packed_words(p.n, k));
}

constexpr gemm::StageInfo info = {
    .idea = "17b; A and B packed into panels first, so that each copy has 16 bytes; A stays in quads",
    .base = "17b",
    // As 17b's. And pack() reads each word of A once.
    .l1_cycles =
        [](const gemm::SgemmProblem& p) { return gemm::L1Cycles{.shared = 24.0 * 2 / 512 + 1.0 / std::max(p.n, 1)}; },
    .min_compute_capability = 80,
    .launch = launch,
    .workspace_bytes = [](const gemm::Problem& p) { return workspace_bytes(p); },
};
const gemm::Registration registration{__FILE__, info};

}  // namespace
