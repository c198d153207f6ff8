// 06a 1-D thread tile, 4 elements: as 05b, but inputs that do not fill whole tiles are first copied and surrounded with
// zeros. So every tile is whole, and the loop needs no bounds checks.
//
// Idea      A bounds check costs instructions in every k-tile, inside the matrix, too. A copy costs bytes, but only once.
// Base      05b_column_strip
// Change    A kernel before the product pads A and B with zeros where they have edges; the product's loads have no bounds
//           checks. (C is not padded: its check runs once per element, not in the loop.)
// Limit     Shared memory, as in 05b. A step of k takes 1 cycle for B and 4 for A (each word the same for all lanes): 5
//           for 4 FMAs, 1.25. But nvcc merges two or four steps of A into one load: 3 for 4 FMAs, 0.75.
// Number    smsp__inst_executed per warp-wide FMA: 1.95 as compiled, and 2.55 in the variant `guarded`, which is 05b.
// Map       block (32, 8); threadIdx.x is the column, threadIdx.y the first row; the others are THREADS_Y = 8 apart.
// Page      docs/stages/06a_thread_1d_4.md
// Source    "SGEMM on Pascal", kernel 5: its text, which has 4 elements per thread (its title has 8: 06b).
#include "common/kernel/pad.cuh"
#include "common/stage.cuh"

namespace {

constexpr int TILE = 32;                  // columns of C per block, and steps of k between barriers
constexpr int THREADS_Y = 8;              // rows between the elements of one thread: blockDim.y
constexpr int ROWS = 4;                   // elements of C per thread
constexpr int TILE_M = THREADS_Y * ROWS;  // rows of C per block
static_assert(TILE == 32, "a warp is one row of the tile");
static_assert(TILE % THREADS_Y == 0, "the threads fill B's tile in whole rounds");

// Writes to_rows x to_cols words of `to`: those of `from` where it has one, which is rows x cols, and zeros elsewhere.
// (Later stages have it from pad.cuh.)
__global__ void __launch_bounds__(TILE* THREADS_Y)
    pad(int rows, int cols, const float* __restrict__ from, std::int64_t ld, int to_rows, int to_cols,
        float* __restrict__ to, std::int64_t ld_to, int tiles_n) {
  const int row = blockIdx.x / tiles_n * TILE + threadIdx.y, col = blockIdx.x % tiles_n * TILE + threadIdx.x;
  if (col >= to_cols) return;
  for (int y = row; y < min(row + TILE, to_rows); y += THREADS_Y)
    to[y * ld_to + col] = y < rows && col < cols ? from[y * ld + col] : 0.0f;
}

// Where bounds are checked: nowhere, because the inputs are padded; at each load, as in 05; once per thread for all its
// loads, so that the lanes of a warp may branch differently; once per block, so that all its threads branch alike.
enum class Guard { none, load, thread, block };

template <Guard GUARD, int UNROLL>
__global__ void __launch_bounds__(TILE* THREADS_Y)
    sgemm(int m, int n, int k, float alpha, const float* __restrict__ a, std::int64_t lda, const float* __restrict__ b,
          std::int64_t ldb, float beta, float* __restrict__ c, std::int64_t ldc, int tiles_n) {
  __shared__ float as[TILE_M][TILE];
  __shared__ float bs[TILE][TILE];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int tile_row = blockIdx.x / tiles_n * TILE_M, row = tile_row + ty;
  const int tile_col = blockIdx.x % tiles_n * TILE, col = tile_col + tx;

  float sum[ROWS] = {};
  for (int k0 = 0; k0 < k; k0 += TILE) {
    bool inside = GUARD == Guard::none;
    if (GUARD == Guard::thread)
      inside = row + TILE_M - THREADS_Y < m && col < n && k0 + max(tx, ty + TILE - THREADS_Y) < k;
    if (GUARD == Guard::block) inside = tile_row + TILE_M <= m && tile_col + TILE <= n && k0 + TILE <= k;
    if (inside) {
      for (int y = 0; y < TILE_M; y += THREADS_Y) as[ty + y][tx] = a[(row + y) * lda + k0 + tx];
      for (int y = 0; y < TILE; y += THREADS_Y) bs[ty + y][tx] = b[(k0 + ty + y) * ldb + col];
    } else {
      for (int y = 0; y < TILE_M; y += THREADS_Y) {
        as[ty + y][tx] = row + y < m && k0 + tx < k ? a[(row + y) * lda + k0 + tx] : 0.0f;
      }
      for (int y = 0; y < TILE; y += THREADS_Y) {
        bs[ty + y][tx] = k0 + ty + y < k && col < n ? b[(k0 + ty + y) * ldb + col] : 0.0f;
      }
    }
    __syncthreads();  // the tiles are complete
#pragma unroll UNROLL
    for (int i = 0; i < TILE; ++i) {
      const float b_part = bs[i][tx];
      for (int r = 0; r < ROWS; ++r) sum[r] += as[ty + r * THREADS_Y][i] * b_part;
    }
    __syncthreads();  // nobody reads them any more
  }

  for (int r = 0; r < ROWS; ++r) {
    if (row + r * THREADS_Y >= m || col >= n) return;  // C is not padded: this guard runs once per element
    float* out = c + (row + r * THREADS_Y) * ldc + col;
    *out = beta == 0.0f ? alpha * sum[r] : alpha * sum[r] + beta * *out;  // beta = 0 must not read C
  }
}

template <Guard GUARD, int UNROLL>
gemm::Status launch_product(const gemm::SgemmProblem& p, cudaStream_t stream) {
  const int tiles_m = gemm::ceil_div(p.m, TILE_M), tiles_n = gemm::ceil_div(p.n, TILE);
  return gemm::launch(sgemm<GUARD, UNROLL>,
                      {.grid = static_cast<unsigned>(tiles_m) * tiles_n, .block = {TILE, THREADS_Y}, .stream = stream},
                      p.m, p.n, p.depth(), p.alpha, p.a, p.lda, p.b, p.ldb, p.beta, p.c, p.ldc, tiles_n);
}

gemm::Status launch_pad(int rows, int cols, const float* from, std::int64_t ld, int to_rows, int to_cols, float* to,
                        std::int64_t ld_to, cudaStream_t stream) {
  const int tiles_m = gemm::ceil_div(to_rows, TILE), tiles_n = gemm::ceil_div(to_cols, TILE);
  return gemm::launch(pad,
                      {.grid = static_cast<unsigned>(tiles_m) * tiles_n, .block = {TILE, THREADS_Y}, .stream = stream},
                      rows, cols, from, ld, to_rows, to_cols, to, ld_to, tiles_n);
}

// A's copy has whole tiles of TILE_M x TILE, B's of TILE x TILE; B's begins where A's ends.
template <int UNROLL>
gemm::Status launch(const gemm::SgemmProblem& p, cudaStream_t stream) {
  // k = 0 if alpha = 0: nothing is copied
  const int m = gemm::round_up(p.m, TILE_M), n = gemm::round_up(p.n, TILE), k = gemm::round_up(p.depth(), TILE);
  float *const a = p.workspace, *const b = a + static_cast<std::size_t>(m) * k;
  gemm::SgemmProblem padded = p;
  padded.k = k;
  gemm::Status status;
  if (m != p.m || k != p.depth()) {
    padded.a = a, padded.lda = k;
    status = launch_pad(p.m, p.depth(), p.a, p.lda, m, k, a, k, stream);
  }
  if (status && (k != p.depth() || n != p.n)) {
    padded.b = b, padded.ldb = n;
    status = launch_pad(p.depth(), p.n, p.b, p.ldb, k, n, b, n, stream);
  }
  return status ? launch_product<Guard::none, UNROLL>(padded, stream) : status;
}

// As the source does, whether or not there are edges: C is padded, too, and copied back.
gemm::Status pad_always(const gemm::SgemmProblem& p, cudaStream_t stream) {
  return gemm::multiply_padded(p, TILE_M, TILE, TILE, launch_product<Guard::none, TILE>, stream);
}

constexpr gemm::Variant variants[] = {
    {"always_padded", "pads A, B and C whether or not they have edges, and copies C back, as the source", pad_always},
    {"guarded", "no copies; each load has its guard: 05b", launch_product<Guard::load, TILE>},
    {"guarded_divergent", "guards if a thread's words are not all inside: lanes diverge",
     launch_product<Guard::thread, TILE>},
    {"guarded_uniform", "guards if a block's words are not all inside: no divergence",
     launch_product<Guard::block, TILE>},
    {"unroll=1", "the inner loop as a loop: no loads to merge", launch<1>},
    {"unroll=2", "two steps of k per iteration", launch<2>},
    {"unroll=4", "four steps of k per iteration", launch<4>},
    {"unroll=full", "all 32 steps, as in the stage: shows how well a measurement repeats", launch<TILE>},
};

constexpr gemm::StageInfo info = {
    .idea = "as 05b, inputs copied and padded with zeros where they have edges: no bounds checks in the loop",
    .base = "05b",
    .l1_cycles = [](const gemm::SgemmProblem&) { return gemm::L1Cycles{.shared = (ROWS + 1.0) / ROWS}; },
    .launch = launch<TILE>,
    .workspace_bytes = [](const gemm::Problem& p) { return gemm::padded_bytes(p, TILE_M, TILE, TILE); },
    .variants = variants,
};
const gemm::Registration registration{__FILE__, info};

}  // namespace
