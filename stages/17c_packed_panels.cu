// 17c packed panels: as 16b, and A is transposed when it is packed. A thread reads four outputs' words of A at once, as
// it does of B, and needs the words of one step of k only.
//
// Idea      Quads hold 16 words of A and 64 of B in registers, because a thread gets four steps of a row together. By
//           steps, it needs 8 words of A and 16 of B: registers for two steps. One is read while one is multiplied.
// Base      16b_packed_copies
// Change    pack() transposes A. A thread reads 6 float4s per step for 128 FMAs, not 24 per 512. A turn of the loop is
//           two steps. Behind the last one lie zeros. Two k-tiles in shared memory suffice.
// Limit     As 15: issue slots, and about three of them per LDS.128. Packing: 2 * 4 (m k + k n) bytes at 4 TB/s.
// Number    Registers, about 250 in 16b. TFLOP/s at 8192.
// Map       As 15, but rows in fours: lane (lm, ln) has rows 4 lm + 32 r + 0..3, columns 4 ln + 16 g + 0..3.
// Page      docs/stages/17c_packed_panels.md
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
constexpr bool QUADS = false;  // A is packed transposed, as B: the rows of a step of k lie together
constexpr int STAGES = 2;      // k-tiles in shared memory: one is read, one filled
constexpr unsigned SHARED_BYTES = (STAGES * TILE + ROW) * sizeof(float);  // and a row of zeros
static_assert(LANES_M * LANES_N == 32 && ROWS % 4 == 0 && COLS % 4 == 0);

// A and B in panels. CUT: how many columns of the next step a turn of the loop computes.
template <int CUT>
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
    alignas(16) float x[2][ROWS], y[2][COLS];  // of a step of k, and of the next
    const auto multiply = [&](int u, int from, int to) { gemm::add_products(sum, x[u % 2], y[u % 2], from, to); };
    const float* const a_lane = as + warp_row + 4 * lm;
    const float* const b_lane = bs + warp_col + 4 * ln;

    fetch(0);
    for (int i = thread; i < ROW; i += THREADS) smem[2 * TILE + i] = 0.0f;
    gemm::ptx::cp_async_wait<STAGES - 2>();
    __syncthreads();

    // While a step is multiplied, the next one's operands are read; the step behind the last one consists of zeros.
    // With CUT, a turn ends in the middle of a step, and carries fewer operands over to the next.
    constexpr int TURN = 2;
    int rounds = end - first, free = 0;  // k-tiles to read; the one that is filled: 1, 0, 1, ...
    int at = rounds > 0 ? 0 : 2 * TILE;
    const float *a_at = a_lane + at, *b_at = b_lane + at;
    gemm::read_fours<A_APART>(x[0], a_at);
    gemm::read_fours<B_APART>(y[0], b_at);
    multiply(0, 0, CUT);
#pragma unroll 1
    for (; rounds > 0; --rounds) {
      free ^= 1;
      fetch(free);  // all threads finished reading it before the last barrier
      at = rounds > 1 ? free * TILE : 2 * TILE;
      const auto turn = [&](bool last_of_round) {
#pragma unroll
        for (int u = 0; u < TURN; ++u) {
          a_at += ROW;
          b_at += ROW;
          if (last_of_round && u == TURN - 1) {
            gemm::ptx::cp_async_wait<STAGES - 2>();
            __syncthreads();  // all copies of the next k-tile have arrived; no thread reads this one now
            a_at = a_lane + at;
            b_at = b_lane + at;
          }
          gemm::read_fours<A_APART>(x[(u + 1) % 2], a_at);
          gemm::read_fours<B_APART>(y[(u + 1) % 2], b_at);
          multiply(u, CUT, COLS);
          multiply(u + 1, 0, CUT);
        }
      };
#pragma unroll 1
      for (int steps = TURN; steps < TILE_K; steps += TURN) turn(false);
      turn(true);
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
    const int row0 = tile_m * TILE_M + warp_row + 4 * lm, col0 = tile_n * TILE_N + warp_col + 4 * ln;
    float4* const to = parts + gemm::part_at(blockIdx.x, part > 0) * PART + thread;
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      const int row = row0 + r / 4 * (4 * LANES_M) + r % 4;
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
  const int r = four / (COLS / 4), row = tile_m * TILE_M + warp_row + 4 * lm + r / 4 * (4 * LANES_M) + r % 4;
  const int col = tile_n * TILE_N + warp_col + 4 * ln + four % (COLS / 4) * (4 * LANES_N);
  if (row < m) gemm::store_scaled4(c + row * ldc + col, n - col, wide, sum, beta);
}

template <int CUT>
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
  const gemm::Status status = gemm::launch(
      sgemm<CUT>, {.grid = plan.blocks(), .block = THREADS, .dynamic_shared = SHARED_BYTES, .stream = stream}, p.m, p.n,
      k, p.alpha, a.to, b.to, p.beta, p.c, p.ldc, plan, wide, parts);
  if (!status || plan.workers == 0) return status;
  return gemm::launch(reduce, {.grid = static_cast<unsigned>(plan.shared) * FOURS, .block = THREADS, .stream = stream},
                      p.m, p.n, p.beta, p.c, p.ldc, plan, wide, parts);
}

std::size_t workspace_bytes(const gemm::SgemmProblem& p) {
  const int k = panel_steps<QUADS>(p.depth());
  return part_bytes(BLOCKS) + sizeof(float) * (packed_words(p.m, k) + packed_words(p.n, k));
}

constexpr gemm::Variant variants[] = {
    {.name = "cut", .idea = "a turn of the loop ends in the middle of a step of k", .launch = launch<COLS / 2>},
};

constexpr gemm::StageInfo info = {
    .idea = "16b with A transposed when it is packed; one step of k is read while another is multiplied",
    .base = "16b",
    // A step of a warp: 6 float4s of a thread, two cycles each, for 128 FMAs. And pack() reads each word of A once.
    .l1_cycles =
        [](const gemm::SgemmProblem& p) { return gemm::L1Cycles{.shared = 6.0 * 2 / 128 + 1.0 / std::max(p.n, 1)}; },
    .min_compute_capability = 80,
    .launch = launch<0>,
    .workspace_bytes = [](const gemm::Problem& p) { return workspace_bytes(p); },
    .variants = variants,
};
const gemm::Registration registration{__FILE__, info};

}  // namespace
