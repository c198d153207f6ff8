// 09a float4 loads: as 08, but each thread fetches its part of a tile with one 16-byte load instead of four.
//
// Idea      Fewer instructions for the same bytes. A tile of 128 x 8 words is one float4 for each of 256 threads.
// Base      08_rectangular_tiles
// Change    Four guarded loads of an operand become one float4 load; one store of B's tile becomes a float4 store; A's
//           tile is stored transposed, as[k][row], in four scalar stores.
// Limit     Shared memory, for a step and a warp: 8 loads of A (two words each, for 16 lanes each), 8 of B (16 words,
//           two lanes each). 16 cycles for 64 FMAs are 0.25, exactly what the FP32 cores take. Filling the tiles adds
//           0.06 (where lda is a multiple of 32). That allows 80 % of the FP32 peak.
// Number    Bank conflicts of shared stores: 4 per warp and k-tile of 8 steps. Lanes 2 q and 2 q + 1 hold four words
//           each of one row of A. So they store into one column, four tile rows apart: 512 words, the same bank.
// Map       block (16, 16); thread (tx, ty) computes rows ty + 16 r and columns tx + 16 s of a 128 x 128 tile of C.
// Page      docs/stages/09a_float4_loads.md
// Source    "SGEMM on Pascal", kernel 8.
#include "common/kernel/pad.cuh"
#include "common/kernel/vector.cuh"
#include "common/stage.cuh"

namespace {

constexpr int TILE_M = 128, TILE_N = 128;                  // rows and columns of C per block
constexpr int TILE_K = 8;                                  // steps of k between barriers
constexpr int SIDE = 16;                                   // the block has SIDE x SIDE threads
constexpr int ROWS = TILE_M / SIDE, COLS = TILE_N / SIDE;  // outputs of a thread
constexpr int THREADS = SIDE * SIDE;
static_assert(TILE_M * TILE_K == 4 * THREADS && TILE_N == TILE_M && TILE_K % 4 == 0, "a float4 per thread and tile");

// How to fetch four words, of which `inside` exist, with zeros for the others: one by one, as a float4 where all four
// exist, or as a float4 without a check. Later rungs have fetch4 from vector.cuh.
enum class Fetch { scalar, vector, unguarded };
template <Fetch FETCH>
__device__ float4 fetch4(const float* from, int inside) {
  if (FETCH == Fetch::unguarded || (FETCH == Fetch::vector && inside >= 4))
    return *reinterpret_cast<const float4*>(from);
  return {inside > 0 ? from[0] : 0.0f, inside > 1 ? from[1] : 0.0f, inside > 2 ? from[2] : 0.0f,
          inside > 3 ? from[3] : 0.0f};
}

template <Fetch FETCH>
__global__ void __launch_bounds__(THREADS)
    sgemm(int m, int n, int k, float alpha, const float* __restrict__ a, std::int64_t lda, const float* __restrict__ b,
          std::int64_t ldb, float beta, float* __restrict__ c, std::int64_t ldc, int tiles_n) {
  __shared__ float as[TILE_K][TILE_M];  // transposed: as[k][row]
  __shared__ __align__(16) float bs[TILE_K][TILE_N];
  const int tx = threadIdx.x, ty = threadIdx.y, thread = ty * SIDE + tx;
  const int tile_row = blockIdx.x / tiles_n * TILE_M, tile_col = blockIdx.x % tiles_n * TILE_N;
  const int row = tile_row + ty, col = tile_col + tx;
  // The float4 of each tile that this thread fetches: two threads for a row of A's tile, a warp for a row of B's.
  const int a_row = thread / (TILE_K / 4), a_k = thread % (TILE_K / 4) * 4;
  const int b_k = thread / (TILE_N / 4), b_col = thread % (TILE_N / 4) * 4;
  const int a_inside = tile_row + a_row < m ? k - a_k : 0, b_inside = n - tile_col - b_col;
  a += (tile_row + a_row) * lda + a_k;
  b += b_k * ldb + tile_col + b_col;

  float sum[ROWS][COLS] = {};
  for (int k0 = 0; k0 < k; k0 += TILE_K, a += TILE_K, b += TILE_K * ldb) {
    const float4 a4 = fetch4<FETCH>(a, a_inside - k0);
    const float4 b4 = fetch4<FETCH>(b, k0 + b_k < k ? b_inside : 0);
    as[a_k][a_row] = a4.x;
    as[a_k + 1][a_row] = a4.y;
    as[a_k + 2][a_row] = a4.z;
    as[a_k + 3][a_row] = a4.w;
    *reinterpret_cast<float4*>(&bs[b_k][b_col]) = b4;
    __syncthreads();  // the tiles are complete
#pragma unroll 8
    for (int i = 0; i < TILE_K; ++i) {
      float a_part[ROWS], b_part[COLS];
      for (int r = 0; r < ROWS; ++r) a_part[r] = as[i][ty + SIDE * r];
      for (int s = 0; s < COLS; ++s) b_part[s] = bs[i][tx + SIDE * s];
      for (int r = 0; r < ROWS; ++r)
        for (int s = 0; s < COLS; ++s) sum[r][s] += a_part[r] * b_part[s];
    }
    __syncthreads();  // nobody reads them any more
  }

  for (int r = 0; r < ROWS; ++r) {
    for (int s = 0; s < COLS; ++s) {
      if (row + SIDE * r >= m || col + SIDE * s >= n) continue;
      float* out = c + (row + SIDE * r) * ldc + col + SIDE * s;
      // beta = 0 must not read C, which may hold NaN
      *out = beta == 0.0f ? alpha * sum[r][s] : alpha * sum[r][s] + beta * *out;
    }
  }
}

template <Fetch FETCH>
gemm::Status launch(const gemm::SgemmProblem& p, cudaStream_t stream) {
  const int tiles_m = gemm::ceil_div(p.m, TILE_M), tiles_n = gemm::ceil_div(p.n, TILE_N);
  return gemm::launch(sgemm<FETCH>,
                      {.grid = static_cast<unsigned>(tiles_m) * tiles_n, .block = {SIDE, SIDE}, .stream = stream}, p.m,
                      p.n, p.depth(), p.alpha, p.a, p.lda, p.b, p.ldb, p.beta, p.c, p.ldc, tiles_n);
}

bool has_float4s(const gemm::SgemmProblem& p) {
  return gemm::has_aligned_rows(p.a, p.lda) && gemm::has_aligned_rows(p.b, p.ldb);
}

gemm::Status launch_any(const gemm::SgemmProblem& p, cudaStream_t stream) {
  return has_float4s(p) ? launch<Fetch::vector>(p, stream) : launch<Fetch::scalar>(p, stream);
}

// Kernel 8 as published: A, B and C are copied with zeros up to whole tiles, so that no load needs a guard. C is copied
// back. The guards of C's stores stay, because they are outside the loop.
gemm::Status launch_padded(const gemm::SgemmProblem& p, cudaStream_t stream) {
  return gemm::multiply_padded(p, TILE_M, TILE_N, TILE_K, launch<Fetch::unguarded>, stream);
}

// What launch_padded() does between its copies: the difference of the two is the cost of the copies.
gemm::Status launch_product(const gemm::SgemmProblem& p, cudaStream_t stream) {
  if (p.m % TILE_M != 0 || p.n % TILE_N != 0 || p.depth() % TILE_K != 0 || !has_float4s(p))
    return gemm::Status::unsupported("the product alone needs whole tiles, and rows that begin at a float4");
  return launch<Fetch::unguarded>(p, stream);
}

constexpr gemm::Variant variants[] = {
    {"padded", "kernel 8 as published: A, B and C are padded with zeros, and C is copied back; no guards",
     launch_padded},
    {"product", "`padded` without its copies, for sizes that are whole tiles: the product alone", launch_product},
};

constexpr gemm::StageInfo info = {
    .idea = "float4 loads from global memory, A's scattered into a transposed tile",
    .base = "08",
    .l1_cycles = [](const gemm::SgemmProblem&) { return gemm::L1Cycles{.shared = 0.25}; },
    .launch = launch_any,
    .workspace_bytes = [](const gemm::Problem& p) { return gemm::padded_bytes(p, TILE_M, TILE_N, TILE_K); },
    .variants = variants,
};
const gemm::Registration registration{__FILE__, info};

}  // namespace
