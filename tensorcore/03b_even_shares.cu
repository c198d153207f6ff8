// 03b even shares: 03 with persistent blocks. Each takes whole tiles of C, and then an even share of the k-tiles of the
// tiles that would have been an incomplete wave. The next tile's first copies start before this tile is stored.
//
// Idea      2,048 tiles for 132 SMs are 15.5 waves and take the time of 16. At both ends of a tile the Tensor Cores
//           wait: for the first copies, and while sums are stored. A persistent block can overlap the two.
// Base      03_pipeline
// Change    Plan says which rounds (k-tiles) of which tiles a block has, as in stages/17b. A loop over these is around
//           03's loop. Parts of tiles go to the workspace, and reduce() adds them up.
// Limit     As 03: mma.sync's rate at the clock that the power limit allows.
// Number    TFLOP/s at 8192 beside 03's; sm__pipe_tensor_op_hmma_cycles_active of all cycles: docs page.
// Map       As 03: 8 warps of 64 x 64; lane 4 g + t holds rows g and g + 8, columns 2 t and 2 t + 1 of 16 x 8.
// Page      docs/tensorcore/03b_even_shares.md
// Source    As 03; Osama et al., "Stream-K", PPoPP 2023, for the shares.
#include "common/kernel/ptx.cuh"
#include "common/stage.cuh"
#include "tensorcore/pipeline/epilogue.cuh"
#include "tensorcore/pipeline/pack.cuh"
#include "tensorcore/pipeline/plan.cuh"
#include "tensorcore/pipeline/reduce.cuh"
#include "tensorcore/pipeline/shape.cuh"
#include "tensorcore/pipeline/sources.cuh"

extern __shared__ __align__(128) unsigned char smem[];

namespace {

using gemm::ptx::SharedAddress;
using namespace pipeline;

// pairs: two floats of C side by side can be stored at once.
template <class S>
__global__ void __launch_bounds__(S::THREADS, S::BLOCKS)
    hgemm(int m, int n, int k, float alpha, const __half* __restrict__ a, unsigned lda, const __half* __restrict__ b,
          unsigned ldb, float beta, float* __restrict__ c, std::int64_t ldc, bool pairs, Plan plan,
          float4* __restrict__ parts) {
  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  const int warp_row = warp / S::WARPS_N * WARP_M, warp_col = warp % S::WARPS_N * WARP_N;
  const SharedAddress tiles = gemm::ptx::shared_address(smem);

  // Copies: a thread takes one chunk of every A_STEP-th row of A's tile, and of every B_STEP-th of B's.
  const int a_row = thread / S::A_CHUNKS, a_chunk = thread % S::A_CHUNKS;
  const int b_row = thread / S::B_CHUNKS, b_chunk = thread % S::B_CHUNKS;
  const SharedAddress a_to = tiles + a_row * S::A_ROW + (a_chunk ^ a_row % 8) * 16;
  const SharedAddress b_to = tiles + S::A_TILE + b_row * S::B_ROW + (b_chunk ^ b_row % 8) * 16;
  const __half* from[S::COPIES] = {};
  const Sources<S> sources{m, n, k, a, b, lda, ldb, a_row, a_chunk, b_row, b_chunk, from};
  unsigned free = 0, current = 0;  // the tiles to fill next, and those that are read, in bytes
  SharedAddress a_fill = a_to, b_fill = b_to;
  const auto to = [&](int i) {
    return i < S::A_COPIES ? a_fill + i * S::A_STEP * S::A_ROW : b_fill + (i - S::A_COPIES) * S::B_STEP * S::B_ROW;
  };
  const auto copy = [&](int i) { gemm::ptx::cp_async_cg(to(i), from[i]); };
  const auto copied = [&] {
    gemm::ptx::cp_async_commit();
    free = S::behind(free);
    a_fill = gemm::ptx::kept(a_to + free), b_fill = gemm::ptx::kept(b_to + free);
  };

  // Reads: lane l gives ldmatrix row l % 16 of a tile of 16 x 16, from column 8 (l / 16) on. Rows 8 apart, and 16, are
  // swizzled alike, so a lane's chunks differ from its first by an exclusive or with constants.
  const unsigned row = lane % 16, chunk = lane / 16;
  const SharedAddress a_lane = tiles + (warp_row + row) * S::A_ROW + (chunk ^ row % 8) * 16;
  const SharedAddress b_lane = tiles + S::A_TILE + row * S::B_ROW + ((warp_col / CHUNK + chunk) ^ row % 8) * 16;
  std::uint32_t x[2][ROWS][4], y[2][COLS / 2][4];
  const auto read = [&](int to, unsigned stage, int step, int i) {
    if (i < ROWS)
      gemm::ptx::ldmatrix_x4(x[to][i], ((a_lane + stage) ^ step * 32) + i * 16 * S::A_ROW);
    else
      gemm::ptx::ldmatrix_x4_trans(y[to][i - ROWS], ((b_lane + stage) ^ (i - ROWS) * 32) + step * STEP * S::B_ROW);
  };
  constexpr int READS = ROWS + COLS / 2, STEPS = S::TILE_K / STEP, COPIES = S::COPIES;
  constexpr int PART = (COPIES + STEPS - 2) / (STEPS - 1), FIRST = READS;  // of the copies, in each step but the last

  const int tail = k % S::TILE_K;
  int whole = 0;  // rounds of a segment that are not being copied yet
  // The first copies of a segment. The last tiles may still be read, all others are free.
  const auto start = [&](const Segment& segment) {
    int tile_row, tile_col;
    plan.place<S>(segment.tile, tile_row, tile_col);
    const bool has_tail = tail > 0 && segment.first == 0;
    const int first = max(segment.first - (tail > 0), 0);
    whole = segment.end - segment.first - has_tail;
    sources.begin(tile_row, tile_col, first);
    free = S::behind(current);
    a_fill = a_to + free, b_fill = b_to + free;
#pragma unroll 1
    for (int stage = 0; stage < S::STAGES - 1; ++stage) {
      if (stage == 0 && has_tail) {
        sources.copy_tail(to, tail);
      } else if (whole > 0) {
#pragma unroll
        for (int i = 0; i < COPIES; ++i) copy(i), sources.move_on(i);
        --whole;
      }
      copied();
    }
  };

  Segment segment;
  if (!plan.segment(blockIdx.x, 0, segment)) return;
  start(segment);
#pragma unroll 1
  for (int which = 0;; ++which) {
    float sum[ROWS][COLS][4] = {};
    gemm::ptx::cp_async_wait<S::STAGES - 2>();
    __syncthreads();
    current = S::behind(current);
    if (k > 0) {
#pragma unroll
      for (int i = 0; i < READS; ++i) read(0, current, 0, i);
    }
#pragma unroll 1
    for (int round = segment.end - segment.first; round > 0; --round) {
#pragma unroll
      for (int step = 0; step < STEPS; ++step) {
        const bool last = step == STEPS - 1;
        if (last) {
          copied();
          gemm::ptx::cp_async_wait<S::STAGES - 2>();
          __syncthreads();  // everybody's part of the next tiles has arrived, and nobody reads the last ones any more
          if (round > 1) current = S::behind(current);  // last: reread, unused
          --whole;
        }
#pragma unroll
        for (int i = 0; i < ROWS * COLS; ++i) {
          // Between the products first the next step's fragments, then a part of the copies. With reads between copies,
          // ptxas would insert three empty reads before each copy.
          if (i < READS) read((step + 1) % 2, current, last ? 0 : step + 1, i);
          const int next = step * PART + i - FIRST;
          if (!last && i >= FIRST && i < FIRST + PART && next < COPIES && whole > 0) copy(next);
          if (last && i >= ROWS * COLS - COPIES) sources.move_on(i - (ROWS * COLS - COPIES));
          // Back and forth over the columns: a product shares an operand with the one before.
          const int row = i / COLS, col = row % 2 ? COLS - 1 - i % COLS : i % COLS;
          const std::uint32_t pair[2] = {y[step % 2][col / 2][col % 2 * 2], y[step % 2][col / 2][col % 2 * 2 + 1]};
          gemm::ptx::mma_m16n8k16_f32_f16(sum[row][col], x[step % 2][row], pair, sum[row][col]);
        }
      }
    }

    // The next segment's copies, which arrive while this one is stored. Where this one lies is computed again, so that
    // no register holds it during the loop.
    Segment next;
    const bool more = plan.segment(blockIdx.x, which + 1, next);
    if (more) start(next);
    plan.segment(blockIdx.x, which, segment);
    int tile_row, tile_col;
    plan.place<S>(segment.tile, tile_row, tile_col);
    const int to_row = tile_row + warp_row + lane / 4, to_col = tile_col + warp_col + lane % 4 * 2;
    const bool whole_pairs = pairs && tile_row + S::TILE_M <= m && tile_col + S::TILE_N <= n;
    if (segment.first > 0 || segment.end < plan.rounds)
      store_part<S>(parts, segment.first == 0, sum);
    else
      store_sums(c + to_row * ldc + to_col, ldc, m - to_row, n - to_col, whole_pairs, alpha, sum, beta);
    if (!more) return;
    segment = next;
  }
}

template <class S, Share SHARE>
gemm::Status launch_shape(const gemm::HgemmProblem& problem, cudaStream_t stream) {
  gemm::HgemmProblem p = problem;
  __half* workspace = static_cast<__half*>(p.workspace);
  gemm::Status status = pack_operands(p, workspace, stream);
  if (!status) return status;
  const Plan plan = make_plan<S>(p, SHARE);
  float4* const parts = reinterpret_cast<float4*>(workspace);
  status = gemm::launch(hgemm<S>,
                        {.grid = static_cast<unsigned>(plan.blocks),
                         .block = S::THREADS,
                         .dynamic_shared = S::SHARED_BYTES,
                         .stream = stream},
                        p.m, p.n, p.depth(), p.alpha, p.a, static_cast<unsigned>(p.lda), p.b,
                        static_cast<unsigned>(p.ldb), p.beta, p.c, p.ldc, in_pairs(p), plan, parts);
  return status ? launch_reduce<S>(plan, p, parts, stream) : status;
}

template <Share SHARE>
gemm::Status launch(const gemm::HgemmProblem& p, cudaStream_t stream) {
  return large_pays(p) ? launch_shape<Large, SHARE>(p, stream) : launch_shape<Small, SHARE>(p, stream);
}

constexpr gemm::Variant variants[] = {
    {"never", "whole tiles only", launch<Share::never>},
    {"always", "the last wave shared wherever it is incomplete", launch<Share::always>},
    {"128x256", "always tiles of 128 x 256", launch_shape<Large, Share::where_it_pays>},
    {"128x128", "always tiles of 128 x 128, two blocks an SM", launch_shape<Small, Share::where_it_pays>},
};
constexpr gemm::StageInfo info = {
    .idea = "03; blocks that stay take even shares, the next tile's copies begin before this one is stored",
    .base = "03",
    .accuracy = gemm::Accuracy::tensor_fp32,
    .min_compute_capability = 80,
    .launch = launch<Share::where_it_pays>,
    .workspace_bytes = [](const gemm::Problem& p) { return packed_bytes(p) + parts_bytes(); },
    .variants = variants,
};
const gemm::Registration registration{__FILE__, info};

}  // namespace
