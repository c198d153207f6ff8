// 06b 1-D thread tile, 8 elements: 06a with strips twice as long, so a block's tile of C is 64 x 32.
//
// Idea      The longer the strip, the more FMAs for each word of B. A's words are still used once each.
// Base      06a_thread_1d_4
// Change    OUT = 8 in place of 4, and nothing else.
// Limit     Shared memory. A step of k: 1 cycle for B, 8 for A: 9 for 8 FMAs, 1.125. Merged along k, A takes half a
//           cycle a word: 5 for 8, 0.625. However long the strip, it stays above 1, or 0.5 merged: A's share.
// Number    l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld per warp-wide FMA: 0.625, and 1.125 in unroll=1.
// Map       block (32, 8); threadIdx.x is the column, threadIdx.y the first row; the other rows are STEP = 8 apart.
// Page      docs/stages/06b_thread_1d_8.md
// Source    "SGEMM on Pascal", kernel 5: its title, which has 8 elements a thread (its text has 4: 06a).
#include "common/stage.cuh"

namespace {

constexpr int TILE = 32;          // columns of C per block, and steps of k between barriers
constexpr int STEP = 8;           // rows between the elements of one thread: blockDim.y
constexpr int OUT = 8;            // elements of C per thread
constexpr int ROWS = STEP * OUT;  // rows of C per block
static_assert(TILE == 32, "a warp is one row of the tile");
static_assert(TILE % STEP == 0, "the threads fill B's tile in whole rounds");

// Who asks whether words lie inside the matrices: nobody, because the inputs are padded; each load, as in 05; a thread
// once for all its loads, so that the lanes of a warp may differ; a block once for all its threads, which may not.
enum class Guard { none, load, thread, block };

template <Guard GUARD, int UNROLL>
__global__ void __launch_bounds__(TILE* STEP)
    sgemm(int m, int n, int k, float alpha, const float* __restrict__ a, std::int64_t lda, const float* __restrict__ b,
          std::int64_t ldb, float beta, float* __restrict__ c, std::int64_t ldc, int tiles_n) {
  __shared__ float as[ROWS][TILE];
  __shared__ float bs[TILE][TILE];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row0 = blockIdx.x / tiles_n * ROWS, row = row0 + ty;
  const int col0 = blockIdx.x % tiles_n * TILE, col = col0 + tx;

  float sum[OUT] = {};
  for (int k0 = 0; k0 < k; k0 += TILE) {
    bool inside = GUARD == Guard::none;
    if (GUARD == Guard::thread) inside = row + ROWS - STEP < m && col < n && k0 + max(tx, ty + TILE - STEP) < k;
    if (GUARD == Guard::block) inside = row0 + ROWS <= m && col0 + TILE <= n && k0 + TILE <= k;
    if (inside) {
      for (int y = 0; y < ROWS; y += STEP) as[ty + y][tx] = a[(row + y) * lda + k0 + tx];
      for (int y = 0; y < TILE; y += STEP) bs[ty + y][tx] = b[(k0 + ty + y) * ldb + col];
    } else {
      for (int y = 0; y < ROWS; y += STEP) {
        as[ty + y][tx] = row + y < m && k0 + tx < k ? a[(row + y) * lda + k0 + tx] : 0.0f;
      }
      for (int y = 0; y < TILE; y += STEP) {
        bs[ty + y][tx] = k0 + ty + y < k && col < n ? b[(k0 + ty + y) * ldb + col] : 0.0f;
      }
    }
    __syncthreads();  // the tiles are complete
#pragma unroll UNROLL
    for (int i = 0; i < TILE; ++i) {
      const float b_word = bs[i][tx];
      for (int w = 0; w < OUT; ++w) sum[w] += as[ty + w * STEP][i] * b_word;
    }
    __syncthreads();  // nobody reads them any more
  }

  for (int w = 0; w < OUT; ++w) {
    if (row + w * STEP >= m || col >= n) return;  // C is not padded: this guard runs once per element
    float* out = c + (row + w * STEP) * ldc + col;
    *out = beta == 0.0f ? alpha * sum[w] : alpha * sum[w] + beta * *out;  // beta = 0 must not read C
  }
}

// Copies a matrix of rows x cols words to `to`, whose rows are tiles_n tiles long, with zeros right of it and below.
__global__ void __launch_bounds__(TILE* STEP)
    pad(int rows, int cols, const float* __restrict__ from, std::int64_t ld, float* __restrict__ to, int tiles_n) {
  const std::int64_t row0 = blockIdx.x / tiles_n * TILE, ld_to = tiles_n * TILE;
  const int col = blockIdx.x % tiles_n * TILE + threadIdx.x;
  for (int y = threadIdx.y; y < TILE; y += STEP) {
    to[(row0 + y) * ld_to + col] = row0 + y < rows && col < cols ? from[(row0 + y) * ld + col] : 0.0f;
  }
}

template <Guard GUARD, int UNROLL>
gemm::Status multiply(const gemm::SgemmProblem& p, cudaStream_t stream) {
  // The grid is one-dimensional because gridDim.y stops at 65535 blocks.
  const int tiles_m = gemm::ceil_div(p.m, ROWS), tiles_n = gemm::ceil_div(p.n, TILE);
  return gemm::launch(sgemm<GUARD, UNROLL>,
                      {.grid = static_cast<unsigned>(tiles_m) * tiles_n, .block = {TILE, STEP}, .stream = stream}, p.m,
                      p.n, p.depth(), p.alpha, p.a, p.lda, p.b, p.ldb, p.beta, p.c, p.ldc, tiles_n);
}

gemm::Status copy_padded(int rows, int cols, const float* from, std::int64_t ld, float* to, int padded_rows,
                         int padded_cols, cudaStream_t stream) {
  const int tiles_n = padded_cols / TILE;
  return gemm::launch(
      pad, {.grid = static_cast<unsigned>(padded_rows / TILE) * tiles_n, .block = {TILE, STEP}, .stream = stream}, rows,
      cols, from, ld, to, tiles_n);
}

constexpr int up(int size, int multiple) {
  return gemm::ceil_div(size, multiple) * multiple;
}

// A's copy has whole tiles of ROWS x TILE, B's of TILE x TILE; B's begins where A's ends.
template <int UNROLL, bool ALWAYS = false>
gemm::Status pad_and_multiply(const gemm::SgemmProblem& p, cudaStream_t stream) {
  const int m = up(p.m, ROWS), n = up(p.n, TILE), k = up(p.depth(), TILE);  // k = 0 if alpha = 0: nothing is copied
  gemm::SgemmProblem padded = p;
  padded.k = k;
  if (ALWAYS || m != p.m || k != p.depth()) {
    padded.a = p.workspace, padded.lda = k;
    const auto status = copy_padded(p.m, p.depth(), p.a, p.lda, p.workspace, m, k, stream);
    if (!status) return status;
  }
  if (ALWAYS || k != p.depth() || n != p.n) {
    float* const copy = p.workspace + static_cast<std::size_t>(m) * k;
    padded.b = copy, padded.ldb = n;
    const auto status = copy_padded(p.depth(), p.n, p.b, p.ldb, copy, k, n, stream);
    if (!status) return status;
  }
  return multiply<Guard::none, UNROLL>(padded, stream);
}

constexpr gemm::Variant variants[] = {
    {"always_padded", "copies the inputs whether or not they have edges, as its source does",
     pad_and_multiply<TILE, true>},
    {"guarded", "no copies; each load has its guard, as in 05", multiply<Guard::load, TILE>},
    {"guarded_divergent", "guards where a thread's words are not all inside: the lanes of a warp part there",
     multiply<Guard::thread, TILE>},
    {"guarded_uniform", "guards where a block's words are not all inside: its warps stay together",
     multiply<Guard::block, TILE>},
    {"unroll=1", "the inner loop, padded, as a loop", pad_and_multiply<1>},
    {"unroll=2", "two steps of k per iteration", pad_and_multiply<2>},
    {"unroll=4", "four steps of k per iteration", pad_and_multiply<4>},
    {"unroll=full", "all 32 steps, which is the stage's own form: shows how well a measurement repeats",
     pad_and_multiply<TILE>},
};

constexpr gemm::StageInfo info = {
    .idea = "8 x 1 elements a thread: one word of B for 8 words of A; inputs padded where they have edges",
    .base = "06a",
    .l1_cycles = [](const gemm::SgemmProblem&) { return gemm::L1Cycles{.shared = (OUT + 1.0) / OUT}; },
    .launch = pad_and_multiply<TILE>,
    .workspace_bytes =
        [](const gemm::Problem& p) {
          const std::size_t m = up(p.m, ROWS), n = up(p.n, TILE), k = up(p.depth(), TILE);
          return (m * k + k * n) * sizeof(float);
        },
    .variants = variants,
};
const gemm::Registration registration{__FILE__, info};

}  // namespace
