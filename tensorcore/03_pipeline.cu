// 03 pipeline: mma.sync in place of WMMA, fragments by ldmatrix from swizzled tiles, and cp.async some k-tiles ahead.
//
// Idea      A fragment of mma.sync holds each element once: half the registers of WMMA's. So a warp can have 64 x 64 of
//           C in 128 registers and two steps' fragments in 64. The loads of the next step overlap with the products of
//           this one.
// Base      02_shared_tiles
// Change    First of a kind, with parts in pipeline/{shape,sources,pack,epilogue}.cuh. 02's tiles come by cp.async,
//           STAGES - 1 ahead. In place of padding the row's number swizzles the chunks of 16 bytes. Operands that
//           16-byte copies cannot read are packed into the workspace first.
// Limit     mma.sync: a product of 16 x 8 x 16 every 1.5 cycles of an SM, two thirds of sm_90's Tensor Cores' peak.
//           For 32 of them a warp reads 4 KB, 32 wavefronts, and copies add 12: 44 cycles of shared memory in 48.
// Number    sm__pipe_tensor_op_hmma_cycles_active; l1tex__data_pipe_lsu_wavefronts_mem_shared: docs page.
// Map       8 warps of 64 x 64. In 16 x 8 lane 4 g + t holds rows g and g + 8, columns 2 t and 2 t + 1 (mma.sync).
// Page      docs/tensorcore/03_pipeline.md
// Source    PTX ISA, mma.sync, ldmatrix, cp.async; CUTLASS, "Efficient GEMM in CUDA". The arrangement is ours.
#include "common/kernel/ptx.cuh"
#include "common/kernel/schedule.cuh"
#include "common/stage.cuh"
#include "tensorcore/pipeline/epilogue.cuh"
#include "tensorcore/pipeline/pack.cuh"
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
          unsigned ldb, float beta, float* __restrict__ c, std::int64_t ldc, bool pairs, int tiles_m, int tiles_n) {
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
  int whole = k / S::TILE_K;  // k-tiles that are not being copied yet
  int tile_row, tile_col;
  gemm::place_in_bands<16>(blockIdx.x, tiles_m, tiles_n, tile_row, tile_col);  // as in stages/17a
  tile_row *= S::TILE_M, tile_col *= S::TILE_N;
  sources.begin(tile_row, tile_col, 0);
#pragma unroll 1
  for (int stage = 0; stage < S::STAGES - 1; ++stage) {
    if (stage == 0 && tail > 0) {
      sources.copy_tail(to, tail);
    } else if (whole > 0) {
#pragma unroll
      for (int i = 0; i < COPIES; ++i) copy(i), sources.move_on(i);
      --whole;
    }
    copied();
  }
  float sum[ROWS][COLS][4] = {};
  gemm::ptx::cp_async_wait<S::STAGES - 2>();
  __syncthreads();
  if (k > 0) {
#pragma unroll
    for (int i = 0; i < READS; ++i) read(0, current, 0, i);
  }
#pragma unroll 1
  for (int round = gemm::ceil_div(k, S::TILE_K); round > 0; --round) {  // a k-tile
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

  const int to_row = tile_row + warp_row + lane / 4, to_col = tile_col + warp_col + lane % 4 * 2;
  const bool whole_pairs = pairs && tile_row + S::TILE_M <= m && tile_col + S::TILE_N <= n;
  store_sums(c + to_row * ldc + to_col, ldc, m - to_row, n - to_col, whole_pairs, alpha, sum, beta);
}

template <class S>
gemm::Status launch_shape(const gemm::HgemmProblem& problem, cudaStream_t stream) {
  gemm::HgemmProblem p = problem;
  __half* workspace = static_cast<__half*>(p.workspace);
  gemm::Status status = pack_operands(p, workspace, stream);
  if (!status) return status;
  const int tiles_m = gemm::ceil_div(p.m, S::TILE_M), tiles_n = gemm::ceil_div(p.n, S::TILE_N);
  return gemm::launch(hgemm<S>,
                      {.grid = static_cast<unsigned>(tiles_m) * tiles_n,
                       .block = S::THREADS,
                       .dynamic_shared = S::SHARED_BYTES,
                       .stream = stream},
                      p.m, p.n, p.depth(), p.alpha, p.a, static_cast<unsigned>(p.lda), p.b,
                      static_cast<unsigned>(p.ldb), p.beta, p.c, p.ldc, in_pairs(p), tiles_m, tiles_n);
}

gemm::Status launch(const gemm::HgemmProblem& p, cudaStream_t stream) {
  return large_pays(p) ? launch_shape<Large>(p, stream) : launch_shape<Small>(p, stream);
}

constexpr gemm::Variant variants[] = {
    {"128x256", "always tiles of 128 x 256", launch_shape<Large>},
    {"256x128", "always tiles of 256 x 128", launch_shape<Tall>},
    {"128x128", "always tiles of 128 x 128, two blocks an SM", launch_shape<Small>},
};
constexpr gemm::StageInfo info = {
    .idea = "mma.sync, ldmatrix from swizzled tiles, copies some tiles ahead",
    .base = "02",
    .accuracy = gemm::Accuracy::tensor_fp32,
    .min_compute_capability = 80,
    .launch = launch,
    .workspace_bytes = [](const gemm::Problem& p) { return packed_bytes(p); },
    .variants = variants,
};
const gemm::Registration registration{__FILE__, info};

}  // namespace
