// 03 pipeline: mma.sync in place of WMMA, fragments by ldmatrix from swizzled tiles, and cp.async a few tiles ahead.
//
// Idea      A fragment as mma.sync takes it holds each element once: half the registers of WMMA's. So a warp can have
//           64 x 64 of C in 128 registers and two steps' fragments in 64, and a step's loads hide behind the last
//           step's products.
// Change    02's tiles come by cp.async, STAGES - 1 ahead, and without padding: the 16 bytes of a row that ldmatrix asks
//           for lie exchanged by the row's number, so that eight rows fill all banks. Operands that 16-byte copies can't
//           take are copied to rows that they can, once (pack).
// Limit     mma.sync: on sm_90 it has two thirds of what the Tensor Cores can do. For a step of 16 of k a warp reads 4 KB
//           from shared memory, 32 wavefronts, for 32 products; the copies add 12, so 44 cycles of the 52 that the
//           products take at 622 TFLOP/s.
// Number    sm__inst_executed_pipe_tensor; l1tex__data_pipe_lsu_wavefronts_mem_shared: docs page.
// Map       8 warps of 64 x 64, as mma.sync has it: lane 4 g + t holds rows g and g + 8, columns 2 t and 2 t + 1 of 16 x 8.
// Page      docs/tensorcore/03_pipeline.md
// Source    PTX ISA, mma.sync, ldmatrix, cp.async; CUTLASS, "Efficient GEMM in CUDA". The arrangement is ours.
#include <utility>

#include "common/ptx.cuh"
#include "common/stage.cuh"

extern __shared__ __align__(128) unsigned char smem[];

namespace {

using gemm::ptx::SharedAddress;

constexpr int WARP_M = 64, WARP_N = 64, STEP = 16;    // of C per warp; of k for a product
constexpr int ROWS = WARP_M / 16, COLS = WARP_N / 8;  // tiles of 16 x 8 of a warp
constexpr int CHUNK = 8;                              // elements in 16 bytes

// How a block's tile of C is made. TILE_K: steps of k between two barriers.
template <int TILE_M_, int TILE_N_, int TILE_K_, int STAGES_, int BLOCKS_>
struct Shape {
  static constexpr int TILE_M = TILE_M_, TILE_N = TILE_N_, TILE_K = TILE_K_, STAGES = STAGES_, BLOCKS = BLOCKS_;
  static constexpr int WARPS_N = TILE_N / WARP_N, THREADS = TILE_M / WARP_M * WARPS_N * 32;
  static constexpr unsigned A_ROW = 2 * TILE_K, B_ROW = 2 * TILE_N;  // bytes
  static constexpr unsigned A_TILE = TILE_M * A_ROW, TILE = A_TILE + TILE_K * B_ROW, SHARED_BYTES = STAGES * TILE;
  static_assert(A_ROW == 128 && B_ROW % 128 == 0, "rows begin at bank 0: a row's number swizzles it");
};

// Rows of this height of tiles are a band, in which tiles follow one another column by column: stages/17a.
constexpr int BAND = 16;

template <class S>
__global__ void __launch_bounds__(S::THREADS, S::BLOCKS)
    hgemm(int m, int n, int k, float alpha, const __half* __restrict__ a, std::int64_t lda,
          const __half* __restrict__ b, std::int64_t ldb, float beta, float* __restrict__ c, std::int64_t ldc,
          int tiles_m, int tiles_n, bool pairs) {
  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  const int band = blockIdx.x / (BAND * tiles_n), in_band = blockIdx.x % (BAND * tiles_n);
  const int height = min(BAND, tiles_m - band * BAND);
  const int tile_row = (band * BAND + in_band % height) * S::TILE_M, tile_col = in_band / height * S::TILE_N;
  const int warp_row = warp / S::WARPS_N * WARP_M, warp_col = warp % S::WARPS_N * WARP_N;
  const SharedAddress tiles = gemm::ptx::shared_address(smem);

  // Copies: a thread takes one chunk of every A_STEP-th row of A's tile, and of every B_STEP-th of B's. Behind the last
  // row of A that row stands in: what becomes of it is not stored. Behind the last column of B come zeros.
  constexpr int A_CHUNKS = S::TILE_K / CHUNK, A_STEP = S::THREADS / A_CHUNKS;
  constexpr int B_CHUNKS = S::TILE_N / CHUNK, B_STEP = S::THREADS / B_CHUNKS;
  static_assert(A_STEP % 8 == 0 && B_STEP % 8 == 0 && S::TILE_M % A_STEP == 0 && S::TILE_K % B_STEP == 0);
  const int a_row = thread / A_CHUNKS, a_chunk = thread % A_CHUNKS;
  const int b_row = thread / B_CHUNKS, b_chunk = thread % B_CHUNKS;
  const SharedAddress a_to = tiles + a_row * S::A_ROW + (a_chunk ^ a_row % 8) * 16;
  const SharedAddress b_to = tiles + S::A_TILE + b_row * S::B_ROW + (b_chunk ^ b_row % 8) * 16;
  const int b_bytes = 2 * max(min(n - tile_col - b_chunk * CHUNK, CHUNK), 0);
  const __half* a_from = a + a_chunk * CHUNK;
  const __half* b_from = b_bytes > 0 ? b + b_row * ldb + tile_col + b_chunk * CHUNK : b;
  int left = k;  // steps that are not being copied yet
  const auto fetch = [&](int stage) {
    const unsigned to = stage * S::TILE;
    if (left > 0) {
      const int a_bytes = 2 * max(min(left - a_chunk * CHUNK, CHUNK), 0);
#pragma unroll
      for (int i = 0; i < S::TILE_M; i += A_STEP) {
        const std::int64_t row = min(tile_row + a_row + i, m - 1);
        gemm::ptx::cp_async_cg(a_to + to + i * S::A_ROW, a_bytes > 0 ? a_from + row * lda : a, a_bytes);
      }
#pragma unroll
      for (int i = 0; i < S::TILE_K; i += B_STEP) {
        const bool exists = b_row + i < left;
        gemm::ptx::cp_async_cg(b_to + to + i * S::B_ROW, exists ? b_from + i * ldb : b, exists ? b_bytes : 0);
      }
      a_from += S::TILE_K;
      b_from += b_bytes > 0 ? S::TILE_K * ldb : 0;
      left -= S::TILE_K;
    }
    gemm::ptx::cp_async_commit();
  };

  // Reads: lane l gives ldmatrix row l % 16 of a tile of 16 x 16, from column 8 (l / 16) on. Rows 8 apart, and 16, are
  // swizzled alike, so a lane's chunks differ from its first by an exclusive or with constants.
  const unsigned row = lane % 16, chunk = lane / 16;
  const SharedAddress a_lane = tiles + (warp_row + row) * S::A_ROW + (chunk ^ row % 8) * 16;
  const SharedAddress b_lane = tiles + S::A_TILE + row * S::B_ROW + ((warp_col / CHUNK + chunk) ^ row % 8) * 16;
  std::uint32_t x[2][ROWS][4], y[2][COLS / 2][4];
  const auto read = [&](int to, unsigned stage, int step) {
#pragma unroll
    for (int i = 0; i < ROWS; ++i) gemm::ptx::ldmatrix_x4(x[to][i], ((a_lane + stage) ^ step * 32) + i * 16 * S::A_ROW);
#pragma unroll
    for (int j = 0; j < COLS / 2; ++j)
      gemm::ptx::ldmatrix_x4_trans(y[to][j], ((b_lane + stage) ^ j * 32) + step * STEP * S::B_ROW);
  };

  float sum[ROWS][COLS][4] = {};
#pragma unroll
  for (int stage = 0; stage < S::STAGES - 1; ++stage) fetch(stage);
  gemm::ptx::cp_async_wait<S::STAGES - 2>();
  __syncthreads();
  unsigned current = 0;
  int free = S::STAGES - 1;
  if (k > 0) read(0, current, 0);
#pragma unroll 1
  for (int k0 = 0; k0 < k; k0 += S::TILE_K) {
#pragma unroll
    for (int step = 0; step < S::TILE_K / STEP; ++step) {
      if (step == 0) {
        fetch(free);  // everybody has read the last of these tiles before the last barrier
        free = free + 1 < S::STAGES ? free + 1 : 0;
      }
      if (step == S::TILE_K / STEP - 1) {
        gemm::ptx::cp_async_wait<S::STAGES - 2>();
        __syncthreads();  // everybody's part of the next tiles has arrived
        if (k0 + S::TILE_K < k) current = current + S::TILE < S::SHARED_BYTES ? current + S::TILE : 0;  // else in vain
        read((step + 1) % 2, current, 0);
      } else {
        read((step + 1) % 2, current, step + 1);
      }
#pragma unroll
      for (int i = 0; i < ROWS; ++i) {
#pragma unroll
        for (int j = 0; j < COLS; ++j) {
          const int col = i % 2 ? COLS - 1 - j : j;  // to and fro: the next product shares an operand with the last
          const std::uint32_t pair[2] = {y[step % 2][col / 2][col % 2 * 2], y[step % 2][col / 2][col % 2 * 2 + 1]};
          gemm::ptx::mma_m16n8k16_f32_f16(sum[i][col], x[step % 2][i], pair, sum[i][col]);
        }
      }
    }
  }

  // pairs: two floats side by side in C can be stored at once.
#pragma unroll
  for (int i = 0; i < 2 * ROWS; ++i) {
    const int out_row = tile_row + warp_row + i * 8 + lane / 4;
    if (out_row >= m) break;
    float* const out = c + out_row * ldc;
#pragma unroll
    for (int j = 0; j < COLS; ++j) {
      const int col = tile_col + warp_col + j * 8 + lane % 4 * 2;
      float2 value = make_float2(alpha * sum[i / 2][j][i % 2 * 2], alpha * sum[i / 2][j][i % 2 * 2 + 1]);
      if (pairs && col + 1 < n) {
        float2* const both = reinterpret_cast<float2*>(out + col);
        if (beta != 0.0f) value = make_float2(value.x + beta * both->x, value.y + beta * both->y);
        *both = value;
      } else {
        if (col < n) out[col] = beta == 0.0f ? value.x : value.x + beta * out[col];
        if (col + 1 < n) out[col + 1] = beta == 0.0f ? value.y : value.y + beta * out[col + 1];
      }
    }
  }
}

// Rows of `cols` elements, any alignment, to rows of whole chunks, zeros behind the last. A chunk a thread.
__global__ void pack(const __half* __restrict__ from, std::int64_t ld, std::int64_t rows, int cols, uint4* to) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const int chunks = gemm::ceil_div(cols, CHUNK);
  if (i >= rows * chunks) return;
  const __half* const source = from + i / chunks * ld;
  const int col = static_cast<int>(i % chunks) * CHUNK;
  union {
    uint4 word;
    __half element[CHUNK];
  } chunk = {};
#pragma unroll
  for (int e = 0; e < CHUNK; ++e)
    if (col + e < cols) chunk.element[e] = source[col + e];
  to[i] = chunk.word;
}

bool in_chunks(const void* p, std::int64_t ld) {
  return reinterpret_cast<std::uintptr_t>(p) % 16 == 0 && ld % CHUNK == 0;
}
std::int64_t packed_ld(int cols) {
  return gemm::ceil_div(cols, CHUNK) * static_cast<std::int64_t>(CHUNK);
}

std::size_t workspace_bytes(const gemm::HgemmProblem& p) {
  return 2 * (p.m * packed_ld(p.depth()) + p.depth() * packed_ld(p.n));
}

// An operand where 16-byte copies can take it: where it is, or behind `workspace`, which moves on.
gemm::Status accessible(const __half*& x, std::int64_t& ld, std::int64_t rows, int cols, __half*& workspace,
                        cudaStream_t stream) {
  if (in_chunks(x, ld)) return gemm::Status::ok();
  constexpr int THREADS = 256;
  const __half* const from = std::exchange(x, workspace);
  const std::int64_t from_ld = std::exchange(ld, packed_ld(cols)), chunks = rows * ld / CHUNK;
  workspace += rows * ld;
  return gemm::launch(
      pack, {.grid = static_cast<unsigned>((chunks + THREADS - 1) / THREADS), .block = THREADS, .stream = stream}, from,
      from_ld, rows, cols, reinterpret_cast<uint4*>(const_cast<__half*>(x)));
}

using Large = Shape<128, 256, 64, 4, 1>;
using Tall = Shape<256, 128, 64, 4, 1>;
using Small = Shape<128, 128, 64, 3, 2>;  // for small products, and for GPUs with 100 KB a block

template <class S>
gemm::Status launch_shape(const gemm::HgemmProblem& problem, cudaStream_t stream) {
  gemm::HgemmProblem p = problem;
  __half* workspace = static_cast<__half*>(p.workspace);
  gemm::Status status = accessible(p.a, p.lda, p.m, p.depth(), workspace, stream);
  if (status) status = accessible(p.b, p.ldb, p.depth(), p.n, workspace, stream);
  if (!status) return status;
  const int tiles_m = gemm::ceil_div(p.m, S::TILE_M), tiles_n = gemm::ceil_div(p.n, S::TILE_N);
  const bool pairs = reinterpret_cast<std::uintptr_t>(p.c) % 8 == 0 && p.ldc % 2 == 0;
  return gemm::launch(hgemm<S>,
                      {.grid = static_cast<unsigned>(tiles_m) * tiles_n,
                       .block = S::THREADS,
                       .dynamic_shared = S::SHARED_BYTES,
                       .stream = stream},
                      p.m, p.n, p.depth(), p.alpha, p.a, p.lda, p.b, p.ldb, p.beta, p.c, p.ldc, tiles_m, tiles_n,
                      pairs);
}

gemm::Status launch(const gemm::HgemmProblem& p, cudaStream_t stream) {
  const gemm::DeviceLimits device = gemm::device_limits();
  const std::int64_t tiles = std::int64_t{gemm::ceil_div(p.m, Large::TILE_M)} * gemm::ceil_div(p.n, Large::TILE_N);
  const bool large =
      tiles >= device.multiprocessors && Large::SHARED_BYTES <= static_cast<unsigned>(device.shared_bytes_per_block);
  return large ? launch_shape<Large>(p, stream) : launch_shape<Small>(p, stream);
}

constexpr gemm::HgemmVariant variants[] = {
    {"128x256", "always tiles of 128 x 256", launch_shape<Large>},
    {"256x128", "always tiles of 256 x 128", launch_shape<Tall>},
    {"128x128", "always tiles of 128 x 128, two blocks an SM", launch_shape<Small>},
};
constexpr gemm::HgemmInfo info = {
    .idea = "mma.sync, ldmatrix from swizzled tiles, copies some tiles ahead",
    .min_compute_capability = 80,
    .launch = launch,
    .workspace_bytes = workspace_bytes,
    .variants = variants,
};
const gemm::Registration registration{__FILE__, info};

}  // namespace
