// 08 split in registers: each lane loads what it holds straight from the FP32 tile and splits it. Large sums are added
// up by plain cores, which round to nearest.
//
// Idea      A lane knows which elements of the matrix it holds (stage 04), so it can load those from the FP32 tile and
//           split them in registers. And a Tensor Core cuts off what does not fit a sum. After thousands of additions
//           that shows. So its sums stay short, and end in an FP32 addition.
// Base      07_split_in_shared
// Change    First of a kind: on wmma_ext::tcec, whose fragments, load, product and store have the names of
//           nvcuda::wmma. 07's FP16 tiles are gone, and so is the detour through them.
// Limit     By turns: tiles from global memory, because nothing copies ahead; shared memory, n / 4 FLOPs per byte, and to
//           fill the tiles takes as much again, 2.7 wavefronts per product, in which time mma.sync could do 1.8; and
//           issue slots: a split takes four instructions, and each warp splits.
// Number    l1tex__data_pipe_lsu_wavefronts_mem_shared for a product of 16 x 8 x 16; smsp__inst_executed; residual.
// Map       4 warps, two by two, 32 x 32 of C each.
// Page      docs/tensorcore/08_split_in_registers.md
// Source    Ootomo and Yokota (2022), promotion; (2023), section 4.4, Figure 6.
#include "common/stage.cuh"
#include "tensorcore/copy_tile.cuh"
#include "tensorcore/wmma_ext/tcec/tcec.hpp"

namespace {

namespace tcec = wmma_ext::tcec;
constexpr int LANES = 32;
constexpr int WARP_M = 32, WARP_N = 32;                                       // of C, for each warp
constexpr int WARPS_M = 2, WARPS_N = 2, THREADS = WARPS_M * WARPS_N * LANES;  // of a block
constexpr int TILE_M = WARPS_M * WARP_M, TILE_N = WARPS_N * WARP_N, TILE_K = 32;
// Lane 4 g + t loads A's pair (g, 2 t) and B's elements (2 t, g) and (2 t + 1, g): with rows so far apart, modulo 32 banks,
// a request meets each bank once (A: half a warp; a pair is two words).
constexpr int A_ROW = TILE_K + 8, B_ROW = TILE_N + 4;

constexpr int NEVER = 0;

// STEP: steps of k per call. PROMOTED: steps of k after which Tensor Cores' sums are added to those in FP32.
template <int STEP, int PROMOTED>
__global__ void __launch_bounds__(THREADS, PROMOTED > STEP ? 1 : 4)
    sgemm(int m, int n, int k, float alpha, const float* __restrict__ a, std::int64_t lda, const float* __restrict__ b,
          std::int64_t ldb, float beta, float* __restrict__ c, std::int64_t ldc, int blocks_n, bool vectors_a,
          bool vectors_b) {
  static_assert(PROMOTED % STEP == 0);
  static_assert(TILE_K % STEP == 0);
  using A = tcec::fragment<wmma_ext::matrix_a, WARP_M, WARP_N, STEP, __half, wmma_ext::row_major>;
  using B = tcec::fragment<wmma_ext::matrix_b, WARP_M, WARP_N, STEP, __half, wmma_ext::row_major>;
  using Sum = tcec::fragment<wmma_ext::accumulator, WARP_M, WARP_N, STEP, __half>;
  __shared__ __align__(32) float as[TILE_M * A_ROW], bs[TILE_K * B_ROW];
  const int warp = threadIdx.x / LANES;
  const int tile_row = blockIdx.x / blocks_n * TILE_M, tile_col = blockIdx.x % blocks_n * TILE_N;
  const int warp_row = warp / WARPS_N * WARP_M, warp_col = warp % WARPS_N * WARP_N;

  Sum sum, part;
  tcec::fill_fragment(sum, 0.0f);
  if (PROMOTED > STEP) tcec::fill_fragment(part, 0.0f);
  for (int k0 = 0; k0 < k; k0 += TILE_K) {
    const std::int64_t first = k0;
    copy_tile<THREADS, TILE_M, TILE_K, A_ROW>(as, a + tile_row * lda + first, lda, m - tile_row, k - k0, vectors_a);
    copy_tile<THREADS, TILE_K, TILE_N, B_ROW>(bs, b + first * ldb + tile_col, ldb, k - k0, n - tile_col, vectors_b);
    __syncthreads();
#pragma unroll
    for (int step = 0; step < TILE_K; step += STEP) {
      A x;
      B y;
      tcec::load_matrix_sync(x, as + warp_row * A_ROW + step, A_ROW);
      tcec::load_matrix_sync(y, bs + step * B_ROW + warp_col, B_ROW);
      Sum& cut_off = PROMOTED == NEVER ? sum : part;
      if constexpr (PROMOTED == STEP)
        tcec::mma_rn_sync(sum, x, y, sum);
      else
        tcec::mma_rz_sync(cut_off, x, y, cut_off);
    }
    if constexpr (PROMOTED > STEP)
      if ((k0 + TILE_K) % PROMOTED == 0 || k0 + TILE_K >= k) {
        tcec::promote(sum, part);
        tcec::fill_fragment(part, 0.0f);
      }
    __syncthreads();
  }

  float* const out = c + (tile_row + warp_row) * ldc + tile_col + warp_col;
  const int below = m - tile_row - warp_row, right = n - tile_col - warp_col;
  tcec::foreach_ij<Sum>([&](int e, int i, int j) {
    if (i >= below || j >= right) return;
    float* const element = out + i * ldc + j;
    const float value = alpha * sum.x[e];
    *element = beta == 0.0f ? value : value + beta * *element;
  });
}

template <class T>
bool is_aligned(const T* p, std::int64_t ld, unsigned bytes) {
  return reinterpret_cast<std::uintptr_t>(p) % bytes == 0 && ld * sizeof(T) % 16 == 0;
}

template <int STEP, int PROMOTED>
gemm::Status launch(const gemm::SgemmProblem& p, cudaStream_t stream) {
  const int blocks_m = gemm::ceil_div(p.m, TILE_M), blocks_n = gemm::ceil_div(p.n, TILE_N);
  const unsigned blocks = static_cast<unsigned>(blocks_m) * blocks_n;
  const auto kernel = sgemm<STEP, PROMOTED>;
  return gemm::launch(kernel, {.grid = blocks, .block = THREADS, .stream = stream}, p.m, p.n, p.depth(), p.alpha, p.a,
                      p.lda, p.b, p.ldb, p.beta, p.c, p.ldc, blocks_n, is_aligned(p.a, p.lda, 16),
                      is_aligned(p.b, p.ldb, 16));
}

constexpr gemm::Variant variants[] = {
    {.name = "promoted=32", .idea = "sums of 32 products are added up in FP32", .launch = launch<32, 32>},
    {.name = "promoted=64", .idea = "sums of 64", .launch = launch<16, 64>},
    {.name = "promoted=128", .idea = "sums of 128", .launch = launch<16, 128>},
    {.name = "promoted=256", .idea = "sums of 256", .launch = launch<16, 256>},
    {.name = "cut-off", .idea = "all sums in Tensor Cores, as in 07", .launch = launch<16, NEVER>},
};
constexpr gemm::StageInfo info = {
    .idea = "fragments split in registers; sums of 16 products are added up in FP32",
    .base = "07",
    .accuracy = gemm::Accuracy::tensor_fp32,
    .min_compute_capability = 80,
    .launch = launch<16, 16>,
    .emulation = {.fp16_products = 3, .fp16_range = true},
    .variants = variants,
};
const gemm::Registration registration{__FILE__, info};

}  // namespace
