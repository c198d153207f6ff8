// 17b stream-K: tiles that do not fill a last wave are cut into rounds of TILE_K steps. All blocks that fit the GPU get
// equal shares of these. Several blocks then have parts of one tile; a second kernel adds the parts.
//
// Idea      A tile need not be computed by one block: sums over parts of k can be added. 64 x 64 x 1048576 is one tile,
//           and 32768 rounds for 264 blocks.
// Base      17a_rasterisation
// Change    A plan says which rounds of which tiles a block has: StreamK in common/kernel/schedule.cuh. A loop over its
//           tiles; parts go to the workspace; reduce().
// Limit     Rounds / resident blocks instead of whole waves. 1024^3 is 64 tiles of 32 rounds for 264 blocks: 8 rounds
//           each, two blocks per SM, instead of 32 rounds on 64 SMs; and 312 parts, 20 MB, written and read in L2.
// Number    ms at 1024^3 and at 64 x 64 x 1048576. The sums have a fixed order: the same result from run to run.
// Map       Within a tile as 15: lane (lm, ln) of 8 x 4 computes rows lm + 8 r, columns 4 ln + 16 g + 0..3.
// Page      docs/stages/17b_stream_k.md
// Source    Osama et al., "Stream-K", PPoPP 2023.
#include "common/kernel/ptx.cuh"
#include "common/kernel/schedule.cuh"
#include "common/kernel/vector.cuh"
#include "common/stage.cuh"
#include "stages/summit/parts.cuh"
#include "stages/summit/rows.cuh"
#include "stages/summit/tile.cuh"

extern __shared__ __align__(16) float smem[];

namespace {

using namespace gemm::summit;
constexpr int BLOCKS = 2;  // per SM

// VECTOR: rows of all three matrices start at multiples of 16 bytes, and n is a multiple of 4. SHARED: some blocks
// are workers; without them the kernel has no loop over tiles.
template <bool VECTOR, bool SHARED>
__global__ void __launch_bounds__(THREADS, BLOCKS)
    sgemm(int m, int n, int k, float alpha, const float* __restrict__ a, unsigned lda, const float* __restrict__ b,
          unsigned ldb, float beta, float* __restrict__ c, std::int64_t ldc, gemm::StreamK plan,
          float4* __restrict__ parts) {
  float* const as = smem;                    // [STAGES][TILE_M][A_ROW]
  float* const bs = smem + STAGES * A_TILE;  // [STAGES][TILE_K][TILE_N]
  const int thread = threadIdx.x;
  const auto [lm, ln, warp_row, warp_col] = place_of(thread);

  RowCopies<VECTOR> copies{a, b, lda, ldb, thread};
  for (int part = 0;; ++part) {
    int tile, first, end, tile_m, tile_n;
    if (!plan.segment<SHARED>(blockIdx.x, part, tile, first, end) && part > 0) break;
    if (part > 0) __syncthreads();  // all threads have finished reading the last tile's words
    plan.place(tile, tile_m, tile_n);
    const int tile_row = tile_m * TILE_M, tile_col = tile_n * TILE_N;
    copies.stay_inside(m, n, tile_row, tile_col);
    const int k_begin = first * TILE_K, k_end = min(k, end * TILE_K);
    copies.start(tile_row, tile_col, k_begin, k_end);
    const auto fetch = [&](int stage) { copies.fetch(as, bs, stage); };

    float sum[ROWS][COLS] = {};
    float4 a4[2][ROWS / 2];          // four steps of each half of the rows
    float x[ROWS / 2], b1[4][COLS];  // one step of a half; four of all columns
    const float* const a_lane = as + (warp_row + lm) * A_ROW;
    const float* const b_lane = bs + warp_col + 4 * ln;

    fetch(0);
    fetch(1);
    gemm::ptx::cp_async_wait<STAGES - 2>();  // for all but the latest
    __syncthreads();
    const float *a_at = a_lane, *b_at = b_lane;
    if (k_begin < k_end) {
      gemm::read_fours<A_APART>(a4[0], a_at);
      gemm::read_fours<B_APART>(b1, b_at, TILE_N);
    }
    int current = 0, free = 2;  // the k-tile being read, and the next to fill
#pragma unroll 1
    for (int k0 = k_begin; k0 < k_end; k0 += TILE_K) {
      fetch(free);  // all threads finished reading it before the last barrier
      free = free + 1 < STAGES ? free + 1 : 0;
#pragma unroll 1
      for (int quad = 0; quad < TILE_K; quad += 4) {
        const float *a_next = a_at + 4, *b_next = b_at + 4 * TILE_N;
#pragma unroll
        for (int half = 0; half < 2; ++half) {  // of the rows; the other half's words arrive
          if (half == 1 && quad == TILE_K - 4) {
            gemm::ptx::cp_async_wait<STAGES - 2>();
            __syncthreads();          // all copies of the next k-tile have arrived; no thread reads this one now
            if (k0 + TILE_K < k_end)  // else re-read this one: not used
              current = current + 1 < STAGES ? current + 1 : 0;
            a_next = a_lane + current * A_TILE;
            b_next = b_lane + current * B_TILE;
          }
          gemm::read_fours<A_APART>(a4[1 - half], half == 1 ? a_next : a_at + ROWS / 2 * A_APART);
#pragma unroll
          for (int s = 0; s < 4; ++s) {
            gemm::take_words(x, a4[half], s);
            gemm::add_products(&sum[half * ROWS / 2], x, b1[s]);
            if (half == 1) gemm::read_fours<B_APART>(b1[s], b_next + s * TILE_N);
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
    plan.segment<SHARED>(blockIdx.x, part, tile, first, end);
    plan.place(tile, tile_m, tile_n);
    const bool complete = !SHARED || (first == 0 && end == plan.rounds);
    const int row0 = tile_m * TILE_M + warp_row + lm, col0 = tile_n * TILE_N + warp_col + 4 * ln;
    float4* const to = parts + gemm::part_at(blockIdx.x, part > 0) * PART + thread;
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      const int row = row0 + r * LANES_M;
#pragma unroll
      for (int g = 0; g < COLS; g += 4) {
        const int col = col0 + g * LANES_N;
        // Scaled here in both cases. A part stored as it is would have to lie in four registers in a row, and then one
        // FFMA in 30 would read its three words from one register bank.
        const float4 four = gemm::scaled4(alpha, &sum[r][g]);
        if (!complete)
          to[(r * COLS + g) / 4 * THREADS] = four;
        else if (row < m)
          gemm::store_scaled4(c + row * ldc + col, n - col, VECTOR, four, beta);
      }
    }
    if (!SHARED) break;
  }
}

// C of the tiles that several workers have parts of: a thread for each float4, numbered as the one of sgemm that stored
// it. Parts are added in the order of k, whichever block finished first: results agree from run to run.
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

template <gemm::Share SHARE>
gemm::Status launch(const gemm::SgemmProblem& p, cudaStream_t stream) {
  // 32 bits, because 64-bit products in the addresses cost the loop several percent: page of 15.
  if (p.lda >= 1ll << 32 || p.ldb >= 1ll << 32) return gemm::Status::unsupported("a leading dimension of 2^32 or more");
  const int tiles_m = gemm::ceil_div(p.m, TILE_M), tiles_n = gemm::ceil_div(p.n, TILE_N);
  const bool wide = gemm::all_have_aligned_rows(p) && p.n % 4 == 0;
  const int places = gemm::device_limits().multiprocessors * BLOCKS;
  const gemm::StreamK plan = gemm::stream_k(tiles_m, tiles_n, gemm::ceil_div(p.depth(), TILE_K), places, SHARE);
  float4* const parts = reinterpret_cast<float4*>(p.workspace);
  auto kernel = wide ? sgemm<true, false> : sgemm<false, false>;
  if (plan.workers > 0) kernel = wide ? sgemm<true, true> : sgemm<false, true>;
  const gemm::Status status =
      gemm::launch(kernel, {.grid = plan.blocks(), .block = THREADS, .dynamic_shared = SHARED_BYTES, .stream = stream},
                   p.m, p.n, p.depth(), p.alpha, p.a, static_cast<unsigned>(p.lda), p.b, static_cast<unsigned>(p.ldb),
                   p.beta, p.c, p.ldc, plan, parts);
  if (!status || plan.workers == 0) return status;
  return gemm::launch(reduce, {.grid = static_cast<unsigned>(plan.shared) * FOURS, .block = THREADS, .stream = stream},
                      p.m, p.n, p.beta, p.c, p.ldc, plan, wide, parts);
}

constexpr gemm::Variant variants[] = {
    {.name = "split_k",
     .idea = "the rest's tiles cut into equal parts, if two or more parts of each can be resident",
     .launch = launch<gemm::Share::split_k>},
    {.name = "whole", .idea = "nothing shared, as 17a", .launch = launch<gemm::Share::nothing>},
    {.name = "two_waves", .idea = "the last whole wave is shared, too", .launch = launch<gemm::Share::two_waves>},
};

constexpr gemm::StageInfo info = {
    .idea = "17a; the k-tiles of the last, incomplete wave divided evenly among all resident blocks",
    .base = "17a",
    // As 17a's, and a little more: a worker reads the first words of each part of a tile anew.
    .l1_cycles =
        [](const gemm::SgemmProblem&) { return gemm::L1Cycles{.shared = 2.0 * (ROWS + COLS) / 4 / (ROWS * COLS)}; },
    .min_compute_capability = 80,
    .launch = launch<gemm::Share::rest>,
    .workspace_bytes = [](const gemm::Problem&) { return part_bytes(BLOCKS); },
    .variants = variants,
};
const gemm::Registration registration{__FILE__, info};

}  // namespace
