// 10 free geometry: block and tiles are template parameters, so one text is every tiled kernel of the PA2 report.
//
// Idea      Which shape is best? A block of BX x BY threads fills tiles of TILE_M x TILE_K and TILE_K x TILE_N. A
//           thread computes every BY-th row and every BX-th column of the block's tile of C. These five numbers decide
//           the reuse, the bank conflicts, the registers, the shared memory and how many blocks are resident on an SM.
// Base      08_rectangular_tiles
// Change    Constants become template parameters, and three choices become switches. The tiles are in dynamic shared
//           memory, because more than 48 KB must be asked for at the launch.
// Limit     Shared memory. In one step of k a thread has 16 rows and 2 columns. With BX = 32 it needs 16 loads of A
//           (broadcasts) and 2 of B for 32 FMAs: 18 / 32 = 0.5625 cycles, 44 % of the FP32 peak. With BX < 32 a warp
//           covers 32 / BX rows of A's tile, all in one bank. (nvcc reads four steps of A at once: see the page.)
// Number    l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld per warp-wide FMA: 0.5625 as written. As compiled we
//           predicted 0.3125; the page has the measured number.
// Map       block (BX, BY); a thread has rows threadIdx.y + BY * i and columns threadIdx.x + BX * j of a TILE_M x
//           TILE_N tile of C. Here (32, 8) and 128 x 64: 16 rows, 2 columns, 32 outputs per thread.
// Page      docs/stages/10_free_geometry.md
// Source    PA2 report, optimisations 1 to 4 and its section 2; "SGEMM on Pascal" fixes these numbers.
#include "common/stage.cuh"

extern __shared__ float smem[];

namespace {

/// Copies a TILE_ROWS x TILE_COLS tile. Only `rows` and `columns` of it exist; the rest is filled with zeros.
template <int BX, int BY, int TILE_ROWS, int TILE_COLS, bool COALESCED, bool NEAR_ORDER>
__device__ void fill(float* tile, const float* __restrict__ from, std::int64_t ld, int rows, int columns);

/// Registers allow 24 warps with 80 per thread, or 16 with 128 if a thread has 64 outputs. Without this limit nvcc
/// takes up to 128 for some forms, and the forms would also differ in occupancy.
constexpr int blocks_per_sm(int threads, int outputs) {
  return (outputs / threads <= 32 ? 768 : 512) / threads;
}

template <int BX, int BY, int TILE_M, int TILE_N, int TILE_K, bool COALESCED, bool REGISTER_REUSE, bool NEAR_ORDER>
__global__ void __launch_bounds__(BX* BY, blocks_per_sm(BX* BY, TILE_M* TILE_N))
    sgemm(int m, int n, int k, float alpha, const float* __restrict__ a, std::int64_t lda, const float* __restrict__ b,
          std::int64_t ldb, float beta, float* __restrict__ c, std::int64_t ldc, int tiles_n) {
  static_assert(BX * BY <= 1024, "a block has at most 1024 threads");
  static_assert(TILE_M % BY == 0 && TILE_N % BX == 0, "every thread has equally many outputs");
  constexpr int ROWS = TILE_M / BY, COLS = TILE_N / BX;  // outputs of a thread: rows, columns
  float* const as = smem;                                // TILE_M x TILE_K
  float* const bs = smem + TILE_M * TILE_K;              // TILE_K x TILE_N
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int tile_row = blockIdx.x / tiles_n * TILE_M, tile_col = blockIdx.x % tiles_n * TILE_N;

  float sum[ROWS][COLS] = {};
  for (int k0 = 0; k0 < k; k0 += TILE_K) {
    fill<BX, BY, TILE_M, TILE_K, COALESCED, NEAR_ORDER>(as, a + tile_row * lda + k0, lda, m - tile_row, k - k0);
    fill<BX, BY, TILE_K, TILE_N, COALESCED, NEAR_ORDER>(bs, b + k0 * ldb + tile_col, ldb, k - k0, n - tile_col);
    __syncthreads();  // the tiles are complete
#pragma unroll 4      // so that nvcc sees four neighbouring words of A
    for (int i = 0; i < TILE_K; ++i) {
      float b_part[COLS];
      if constexpr (REGISTER_REUSE) {
#pragma unroll
        for (int s = 0; s < COLS; ++s) b_part[s] = bs[i * TILE_N + tx + BX * s];
      }
#pragma unroll
      for (int r = 0; r < ROWS; ++r) {
        const float a_word = as[(ty + BY * r) * TILE_K + i];
#pragma unroll
        for (int s = 0; s < COLS; ++s) {
          // Without `volatile` nvcc would keep the word in a register anyway, so the switch would do nothing.
          if constexpr (!REGISTER_REUSE) b_part[s] = static_cast<volatile float*>(bs)[i * TILE_N + tx + BX * s];
          sum[r][s] += a_word * b_part[s];
        }
      }
    }
    __syncthreads();  // nobody reads them any more
  }

#pragma unroll
  for (int s = 0; s < COLS; ++s) {
    const int col = tile_col + tx + BX * s;
    if (col >= n) continue;
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      const int row = tile_row + ty + BY * r;
      if (row >= m) continue;
      float* out = c + row * ldc + col;
      // beta = 0 must not read C, which may hold NaN
      *out = beta == 0.0f ? alpha * sum[r][s] : alpha * sum[r][s] + beta * *out;
    }
  }
}

/// COALESCED: threadIdx.x walks along the rows, else down the columns. NEAR_ORDER: a thread goes along a row first.
template <int BX, int BY, int TILE_ROWS, int TILE_COLS, bool COALESCED, bool NEAR_ORDER>
__device__ void fill(float* tile, const float* __restrict__ from, std::int64_t ld, int rows, int columns) {
  constexpr int DOWN = COALESCED ? BY : BX, ALONG = COALESCED ? BX : BY;  // from a thread's word to its next
  static_assert(TILE_ROWS % DOWN == 0 && TILE_COLS % ALONG == 0, "every thread copies equally many words");
  constexpr int IN_A_ROW = TILE_COLS / ALONG, IN_A_COLUMN = TILE_ROWS / DOWN, WORDS = IN_A_ROW * IN_A_COLUMN;
  const int y = COALESCED ? threadIdx.y : threadIdx.x, x = COALESCED ? threadIdx.x : threadIdx.y;
  const auto row = [=](int word) { return y + DOWN * (NEAR_ORDER ? word / IN_A_ROW : word % IN_A_COLUMN); };
  const auto col = [=](int word) { return x + ALONG * (NEAR_ORDER ? word % IN_A_ROW : word / IN_A_COLUMN); };
  if (rows >= TILE_ROWS && columns >= TILE_COLS) {
#pragma unroll
    for (int w = 0; w < WORDS; ++w) tile[row(w) * TILE_COLS + col(w)] = from[row(w) * ld + col(w)];
    return;
  }
#pragma unroll 8
  for (int w = 0; w < WORDS; ++w) {
    // Beyond an edge the last word before it is read and not used, so that the lanes of a warp stay together.
    const float word = from[min(row(w), rows - 1) * ld + min(col(w), columns - 1)];
    tile[row(w) * TILE_COLS + col(w)] = row(w) < rows && col(w) < columns ? word : 0.0f;
  }
}

/// One geometry, with the shared memory that it takes. gemm::launch opts in to more than 48 KB, and reports an error if
/// the GPU has less.
template <int BX, int BY, int TILE_M, int TILE_N, int TILE_K, bool COALESCED, bool REGISTER_REUSE, bool NEAR_ORDER>
gemm::Status launch(const gemm::SgemmProblem& p, cudaStream_t stream) {
  const int tiles_m = gemm::ceil_div(p.m, TILE_M), tiles_n = gemm::ceil_div(p.n, TILE_N);
  constexpr std::size_t SHARED = sizeof(float) * TILE_K * (TILE_M + TILE_N);
  return gemm::launch(
      sgemm<BX, BY, TILE_M, TILE_N, TILE_K, COALESCED, REGISTER_REUSE, NEAR_ORDER>,
      {.grid = static_cast<unsigned>(tiles_m) * tiles_n, .block = {BX, BY}, .dynamic_shared = SHARED, .stream = stream},
      p.m, p.n, p.depth(), p.alpha, p.a, p.lda, p.b, p.ldb, p.beta, p.c, p.ldc, tiles_n);
}

/// Wavefronts of the inner loop's loads per warp-wide FMA. A warp covers 32 / BX rows of A's tile. These rows are
/// TILE_K words apart, a multiple of 32, so all are in one bank.
template <int BX, int BY, int TILE_M, int TILE_N, int TILE_K, bool REGISTER_REUSE>
gemm::L1Cycles l1_cycles(const gemm::SgemmProblem&) {
  static_assert(TILE_K % 32 == 0 && (BX < 32 ? 32 % BX : BX % 32) == 0);
  constexpr double A_ROWS = BX < 32 ? 32 / BX : 1, ROWS = TILE_M / BY, COLS = TILE_N / BX;
  return {.shared = (ROWS * A_ROWS + (REGISTER_REUSE ? COLS : ROWS * COLS)) / (ROWS * COLS)};
}

template <int BX, int BY, int TILE_M, int TILE_N, int TILE_K, bool COALESCED = true, bool REGISTER_REUSE = true,
          bool NEAR_ORDER = true>
constexpr gemm::Variant form(std::string_view name, std::string_view idea) {
  return {.name = name,
          .idea = idea,
          .launch = launch<BX, BY, TILE_M, TILE_N, TILE_K, COALESCED, REGISTER_REUSE, NEAR_ORDER>,
          .l1_cycles = l1_cycles<BX, BY, TILE_M, TILE_N, TILE_K, REGISTER_REUSE>};
}

constexpr bool uncoalesced = false, no_reuse = false, far_order = false;
constexpr gemm::Variant variants[] = {
    form<8, 8, 64, 32, 32>("8x8_64x32x32", "optimisation 1: 8 x 8 threads, 12 KB"),
    form<8, 8, 64, 32, 32, uncoalesced>("8x8_64x32x32_uncoalesced", "the same, lanes walk down columns when filling"),
    form<16, 8, 64, 64, 64>("16x8_64x64x64", "16 x 8 threads, 32 KB"),
    form<8, 16, 64, 64, 64>("8x16_64x64x64", "the same with bx < by: twice the conflicts on A"),
    form<16, 16, 128, 64, 64>("16x16_128x64x64", "16 x 16 threads, 48 KB"),
    form<8, 32, 128, 64, 64>("8x32_128x64x64", "8 x 32 threads, bx < by, 48 KB"),
    form<32, 8, 128, 64, 64, uncoalesced>("32x8_128x64x64_uncoalesced",
                                          "this stage, lanes walk down columns when filling"),
    form<32, 8, 128, 64, 64, true, no_reuse>("32x8_128x64x64_no_reuse",
                                             "this stage, B's words read from shared memory for each use"),
    form<32, 8, 128, 64, 64, true, true, far_order>("32x8_128x64x64_far_order",
                                                    "this stage, loads of a thread ordered down the tile"),
    form<32, 8, 128, 64, 64, true, no_reuse, far_order>("32x8_128x64x64_no_reuse_far_order",
                                                        "both: optimisation 3 switched off"),
    form<32, 8, 128, 128, 128>("32x8_128x128x128", "optimisation 4: 64 outputs a thread, 128 KB"),
    form<32, 8, 128, 128, 32>("32x8_128x128x32", "64 outputs a thread without the deep tile: 32 KB"),
};

constexpr gemm::StageInfo info = {
    .idea = "block, tiles and load order as template parameters; 32 outputs a thread",
    .base = "08",
    .l1_cycles = l1_cycles<32, 8, 128, 64, 64, true>,
    .launch = launch<32, 8, 128, 64, 64, true, true, true>,
    .variants = variants,
};
const gemm::Registration registration{__FILE__, info};

}  // namespace
