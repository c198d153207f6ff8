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
#include <algorithm>

#include "common/kernel/ptx.cuh"
#include "common/stage.cuh"

extern __shared__ __align__(128) unsigned char smem[];

namespace {

using gemm::ptx::SharedAddress;

constexpr int WARP_M = 64, WARP_N = 64, ROWS = WARP_M / 16, COLS = WARP_N / 8;  // of C per warp, in tiles of 16 x 8
constexpr int STEP = 16, CHUNK = 8;  // of k for a product; elements in 16 bytes

// How a block's tile of C is made. TILE_K: steps of k between two barriers.
template <int TILE_M_, int TILE_N_, int TILE_K_, int STAGES_, int BLOCKS_>
struct Shape {
  static constexpr int TILE_M = TILE_M_, TILE_N = TILE_N_, TILE_K = TILE_K_, STAGES = STAGES_, BLOCKS = BLOCKS_;
  static constexpr int WARPS_N = TILE_N / WARP_N, THREADS = TILE_M / WARP_M * WARPS_N * 32;
  static constexpr unsigned A_ROW = 2 * TILE_K, B_ROW = 2 * TILE_N;  // bytes
  static constexpr unsigned A_TILE = TILE_M * A_ROW, TILE = A_TILE + TILE_K * B_ROW, SHARED_BYTES = STAGES * TILE;
  static_assert(A_ROW == 128 && B_ROW % 128 == 0, "rows begin at bank 0: a row's number swizzles it");
};

// Rounds of TILE_K steps of one tile of C, from `first` to before `end`.
struct Segment {
  int tile, first, end;
};

// The partition: a tile takes `rounds` rounds. Block b has tiles b, b + blocks, .. of the first `whole` ones, then an
// even share of the rounds of the others: each + extra / blocks of them.
struct Plan {
  int tiles_m, tiles_n, rounds, whole = 0, blocks = 0, each = 0, extra = 0;

  __host__ __device__ int shared_tiles() const { return tiles_m * tiles_n - whole; }
  __device__ int begin(int block) const {  // of its share of rounds
    return block * each + block * extra / blocks;
  }
  // The owner of a shared round: the last block whose rounds begin there or before it.
  __device__ int block_of(int round) const {
    const std::int64_t all = static_cast<std::int64_t>(blocks) * each + extra;
    return static_cast<int>(((round + std::int64_t{1}) * blocks - 1) / all);
  }
  // Piece number `which` of a block's work. False: no more.
  __device__ bool segment(int block, int which, Segment& s) const {
    s = {block + which * blocks, 0, rounds};
    if (s.tile < whole) return true;
    const int from = begin(block), to = begin(block + 1), part = which - (whole - block + blocks - 1) / blocks;
    const int tile = rounds > 0 ? from / rounds + part : 0;
    s = {whole + tile, part == 0 ? from - tile * rounds : 0, min(to - tile * rounds, rounds)};
    return s.first < s.end;
  }
  // A tile's row and column among the tiles. They follow one another column by column in bands: stages/17a.
  __device__ void place(int tile, int& row, int& col) const {
    constexpr int BAND = 16;
    const int band = tile / (BAND * tiles_n), in_band = tile % (BAND * tiles_n);
    const int height = min(BAND, tiles_m - band * BAND);
    row = band * BAND + in_band % height;
    col = in_band / height;
  }
};

// Where a block's parts begin in the workspace. It has at most two: one whose tile others have begun, and then one that
// begins its tile.
template <class S>
__device__ std::size_t part_at(int block, bool begins) {
  return static_cast<std::size_t>(2 * block + begins) * ROWS * COLS * S::THREADS;
}

// What becomes of sums. pairs: two floats of C side by side can be stored at once.
struct Out {
  int m, n;
  float alpha, beta;
  float* c;
  std::int64_t ldc;
  bool pairs;

  __device__ void store(float* to, float sum) const { *to = beta == 0.0f ? alpha * sum : alpha * sum + beta * *to; }
};

// n8: n rounded up to a multiple of 8, the columns of B.
template <class S>
__global__ void __launch_bounds__(S::THREADS, S::BLOCKS)
    hgemm(Plan plan, int k, const __half* __restrict__ a, unsigned lda, const __half* __restrict__ b, unsigned ldb,
          int n8, Out out, float4* __restrict__ parts) {
  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  const int warp_row = warp / S::WARPS_N * WARP_M, warp_col = warp % S::WARPS_N * WARP_N;
  const SharedAddress tiles = gemm::ptx::shared_address(smem);

  // Copies: a thread takes one chunk of every A_STEP-th row of A's tile, and of every B_STEP-th of B's. Outside the
  // matrices the last row and the last chunk stand in: what becomes of them is not stored.
  constexpr int A_CHUNKS = S::TILE_K / CHUNK, A_STEP = S::THREADS / A_CHUNKS, A_COPIES = S::TILE_M / A_STEP;
  constexpr int B_CHUNKS = S::TILE_N / CHUNK, B_STEP = S::THREADS / B_CHUNKS, B_COPIES = S::TILE_K / B_STEP;
  static_assert(A_STEP % 8 == 0 && B_STEP % 8 == 0 && A_COPIES * A_STEP == S::TILE_M && B_COPIES * B_STEP == S::TILE_K);
  const int a_row = thread / A_CHUNKS, a_chunk = thread % A_CHUNKS;
  const int b_row = thread / B_CHUNKS, b_chunk = thread % B_CHUNKS;
  const SharedAddress a_to = tiles + a_row * S::A_ROW + (a_chunk ^ a_row % 8) * 16;
  const SharedAddress b_to = tiles + S::A_TILE + b_row * S::B_ROW + (b_chunk ^ b_row % 8) * 16;
  // A pointer for each copy: no address waits for another one's copy to have been read.
  const __half* from[A_COPIES + B_COPIES] = {};
  const std::size_t b_tile = static_cast<std::size_t>(ldb) * S::TILE_K;
  unsigned free = 0, current = 0;  // the tiles to fill next, and those that are read, in bytes
  const auto behind = [](unsigned stage) { return stage + S::TILE < S::SHARED_BYTES ? stage + S::TILE : 0; };
  SharedAddress a_fill = a_to, b_fill = b_to;
  const auto to = [&](int i) {
    return i < A_COPIES ? a_fill + i * A_STEP * S::A_ROW : b_fill + (i - A_COPIES) * B_STEP * S::B_ROW;
  };
  const auto copy = [&](int i) { gemm::ptx::cp_async_cg(to(i), from[i]); };
  const auto move_on = [&](int i) { from[i] = gemm::ptx::kept(from[i] + (i < A_COPIES ? S::TILE_K : b_tile)); };
  // A partial k-tile is copied first, in the prologue: its bounds checks would slow the main loop. Zeros fill it up.
  const auto copy_tail = [&](int steps) {
    const int a_bytes = 2 * max(min(steps - a_chunk * CHUNK, CHUNK), 0);
#pragma unroll
    for (int i = 0; i < A_COPIES; ++i) gemm::ptx::cp_async_cg(to(i), a_bytes > 0 ? from[i] + (k - steps) : a, a_bytes);
#pragma unroll
    for (int i = A_COPIES; i < A_COPIES + B_COPIES; ++i) {
      const bool exists = b_row + (i - A_COPIES) * B_STEP < steps;
      const std::size_t skipped = static_cast<std::size_t>(k - steps) * ldb;
      gemm::ptx::cp_async_cg(to(i), exists ? from[i] + skipped : b, exists ? 16 : 0);
    }
  };
  const auto copied = [&] {
    gemm::ptx::cp_async_commit();
    free = behind(free);
    a_fill = gemm::ptx::kept(a_to + free);
    b_fill = gemm::ptx::kept(b_to + free);
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
  constexpr int READS = ROWS + COLS / 2, STEPS = S::TILE_K / STEP, COPIES = A_COPIES + B_COPIES;
  constexpr int PART = (COPIES + STEPS - 2) / (STEPS - 1), FIRST = READS;  // of the copies, in each step but the last

  const int tail = k % S::TILE_K;
  int whole = 0;  // rounds of a segment that are not being copied yet
  // The first copies of a segment. The last tiles may still be read, all others are free.
  const auto start = [&](const Segment& segment) {
    int tile_row, tile_col;
    plan.place(segment.tile, tile_row, tile_col);
    tile_row *= S::TILE_M, tile_col *= S::TILE_N;
    const bool has_tail = tail > 0 && segment.first == 0;
    const int first = max(segment.first - (tail > 0), 0);
    whole = segment.end - segment.first - has_tail;
#pragma unroll
    for (int i = 0; i < A_COPIES; ++i) {
      const std::size_t row = static_cast<unsigned>(min(tile_row + a_row + i * A_STEP, out.m - 1));
      from[i] = a + row * lda + first * S::TILE_K + a_chunk * CHUNK;
    }
#pragma unroll
    for (int i = 0; i < B_COPIES; ++i) {
      const std::size_t row = static_cast<unsigned>(first * S::TILE_K + b_row + i * B_STEP);
      from[A_COPIES + i] = b + row * ldb + min(tile_col + b_chunk * CHUNK, n8 - CHUNK);
    }
    free = behind(current);
    a_fill = a_to + free;
    b_fill = b_to + free;
#pragma unroll 1
    for (int stage = 0; stage < S::STAGES - 1; ++stage) {
      if (stage == 0 && has_tail) {
        copy_tail(tail);
      } else if (whole > 0) {
#pragma unroll
        for (int i = 0; i < COPIES; ++i) {
          copy(i);
          move_on(i);
        }
        --whole;
      }
      copied();
    }
  };

  float sum[ROWS][COLS][4];
  // To C, if the segment is all of a tile, else to the workspace.
  const auto store = [&](const Segment& segment) {
    if (segment.first > 0 || segment.end < plan.rounds) {
      float4* const to = parts + part_at<S>(blockIdx.x, segment.first == 0) + thread;
#pragma unroll
      for (int i = 0; i < ROWS * COLS; ++i) {
        const float* four = sum[i / COLS][i % COLS];
        to[i * S::THREADS] = make_float4(four[0], four[1], four[2], four[3]);
      }
      return;
    }
    int tile_row, tile_col;
    plan.place(segment.tile, tile_row, tile_col);
    const int row = tile_row * S::TILE_M + warp_row + lane / 4, col = tile_col * S::TILE_N + warp_col + lane % 4 * 2;
    float* to = out.c + row * out.ldc + col;
    if (out.pairs && out.beta == 0.0f && (tile_row + 1) * S::TILE_M <= out.m && (tile_col + 1) * S::TILE_N <= out.n) {
#pragma unroll
      for (int i = 0; i < 2 * ROWS; ++i) {
#pragma unroll
        for (int j = 0; j < COLS; ++j) {
          const float* two = &sum[i / 2][j][i % 2 * 2];
          *reinterpret_cast<float2*>(to + j * 8) = make_float2(out.alpha * two[0], out.alpha * two[1]);
        }
        to += 8 * out.ldc;
      }
      return;
    }
    const int below = out.m - row, right = out.n - col;
#pragma unroll
    for (int i = 0; i < 2 * ROWS; ++i) {
#pragma unroll
      for (int j = 0; j < 2 * COLS; ++j) {
        const int at = j / 2 * 8 + j % 2;
        if (i * 8 < below && at < right) out.store(to + at, sum[i / 2][j / 2][i % 2 * 2 + j % 2]);
      }
      to += 8 * out.ldc;
    }
  };

#pragma unroll 1
  for (int which = 0;; ++which) {
    Segment segment, last;
    const bool more = plan.segment(blockIdx.x, which, segment);
    if (more) start(segment);
    if (which > 0) {
      plan.segment(blockIdx.x, which - 1, last);
      store(last);
    }
    if (!more) return;
#pragma unroll
    for (int i = 0; i < ROWS * COLS * 4; ++i) sum[i / (4 * COLS)][i / 4 % COLS][i % 4] = 0.0f;
    gemm::ptx::cp_async_wait<S::STAGES - 2>();
    __syncthreads();
    current = behind(current);
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
          if (round > 1) current = behind(current);  // last: reread, unused
          --whole;
        }
#pragma unroll
        for (int i = 0; i < ROWS * COLS; ++i) {
          // Between the products first the next step's fragments, then a part of the copies. With reads between copies,
          // ptxas would insert three empty reads before each copy.
          if (i < READS) read((step + 1) % 2, current, last ? 0 : step + 1, i);
          const int next = step * PART + i - FIRST;
          if (!last && i >= FIRST && i < FIRST + PART && next < COPIES && whole > 0) copy(next);
          if (last && i >= ROWS * COLS - COPIES) move_on(i - (ROWS * COLS - COPIES));
          // Back and forth over the columns: a product shares an operand with the one before.
          const int row = i / COLS, col = row % 2 ? COLS - 1 - i % COLS : i % COLS;
          const std::uint32_t pair[2] = {y[step % 2][col / 2][col % 2 * 2], y[step % 2][col / 2][col % 2 * 2 + 1]};
          gemm::ptx::mma_m16n8k16_f32_f16(sum[row][col], x[step % 2][row], pair, sum[row][col]);
        }
      }
    }
  }
}

// C of the tiles that several blocks have parts of: a thread for each four sums of one of hgemm's. Parts are added in the
// order of k, whoever was first to finish: the result is the same from run to run.
template <class S>
__global__ void reduce(Plan plan, Out out, const float4* __restrict__ parts) {
  const int shared = blockIdx.x / (ROWS * COLS), four = blockIdx.x % (ROWS * COLS), thread = threadIdx.x;
  const int round = shared * plan.rounds, lane = thread % 32, warp = thread / 32;
  const int from = plan.block_of(round), to = plan.block_of(round + plan.rounds - 1);
  gemm::ptx::wait_for_launch_ahead();
  if (from == to) return;  // it had the whole tile, and has stored it
  const auto at = [&](int block, bool begins) { return parts[part_at<S>(block, begins) + four * S::THREADS + thread]; };
  float4 sum = at(from, true);
#pragma unroll 8
  for (int block = from + 1; block <= to; ++block) {
    const float4 part = at(block, false);
    sum = make_float4(sum.x + part.x, sum.y + part.y, sum.z + part.z, sum.w + part.w);
  }
  int tile_row, tile_col;
  plan.place(plan.whole + shared, tile_row, tile_col);
  const int row = tile_row * S::TILE_M + warp / S::WARPS_N * WARP_M + four / COLS * 16 + lane / 4;
  const int col = tile_col * S::TILE_N + warp % S::WARPS_N * WARP_N + four % COLS * 8 + lane % 4 * 2;
  float* const c = out.c + row * out.ldc + col;
  const float sums[4] = {sum.x, sum.y, sum.z, sum.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (row + i / 2 * 8 < out.m && col + i % 2 < out.n) out.store(c + i / 2 * 8 * out.ldc + i % 2, sums[i]);
  }
}

constexpr int PACKED = 32 * CHUNK, PACKING_WARPS = 8;  // elements that a warp packs; warps of a block

// Rows of `cols` elements, any alignment, to rows of whole chunks, zeros behind the last. A warp takes a row's next PACKED
// elements, through shared memory: two bytes a lane in, side by side, and 16 out.
__global__ void pack_chunks(const __half* __restrict__ from, std::int64_t ld, std::int64_t rows, int cols,
                            std::int64_t warps_a_row, __half* to, std::int64_t packed_ld) {
  __shared__ __align__(16) __half staged[PACKING_WARPS][PACKED];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const std::int64_t which = static_cast<std::int64_t>(blockIdx.x) * PACKING_WARPS + warp;
  const std::int64_t row = which / warps_a_row, first = which % warps_a_row * PACKED;
  if (row >= rows) return;
#pragma unroll
  for (int i = lane; i < PACKED; i += 32)
    staged[warp][i] = first + i < cols ? from[row * ld + first + i] : __float2half(0.0f);
  __syncwarp();
  if (first + lane * CHUNK < packed_ld)
    *reinterpret_cast<uint4*>(to + row * packed_ld + first + lane * CHUNK) =
        *reinterpret_cast<const uint4*>(staged[warp] + lane * CHUNK);
}

std::int64_t whole_chunks(int cols) {
  return gemm::ceil_div(cols, CHUNK) * static_cast<std::int64_t>(CHUNK);
}
bool in_chunks(const __half* p, std::int64_t ld) {
  return reinterpret_cast<std::uintptr_t>(p) % 16 == 0 && ld % CHUNK == 0;
}

// Copies an operand to the workspace, which moves on; that is the operand now.
gemm::Status pack(const __half*& x, std::int64_t& ld, std::int64_t rows, int cols, __half*& workspace,
                  cudaStream_t stream) {
  const std::int64_t packed_ld = whole_chunks(cols), warps_a_row = (packed_ld + PACKED - 1) / PACKED;
  const gemm::Status status =
      gemm::launch(pack_chunks,
                   {.grid = static_cast<unsigned>((rows * warps_a_row + PACKING_WARPS - 1) / PACKING_WARPS),
                    .block = 32 * PACKING_WARPS,
                    .stream = stream},
                   x, ld, rows, cols, warps_a_row, workspace, packed_ld);
  x = workspace;
  ld = packed_ld;
  workspace += rows * ld;
  return status;
}

using Large = Shape<128, 256, 64, 4, 1>;
using Tall = Shape<256, 128, 64, 4, 1>;
using Small = Shape<128, 128, 64, 3, 2>;  // for small products, and for GPUs with 100 KB a block

using Large = Shape<128, 256, 64, 4, 1>;
using Small = Shape<128, 128, 64, 3, 2>;  // for small products, and for GPUs with 100 KB a block

enum class Share { where_it_pays, always, never };

template <class S>
Plan make_plan(const gemm::HgemmProblem& p, Share share) {
  Plan plan{gemm::ceil_div(p.m, S::TILE_M), gemm::ceil_div(p.n, S::TILE_N), gemm::ceil_div(p.depth(), S::TILE_K)};
  const std::int64_t tiles = std::int64_t{plan.tiles_m} * plan.tiles_n;
  const int places = gemm::device_limits().multiprocessors * S::BLOCKS, rest = static_cast<int>(tiles % places);
  plan.whole = static_cast<int>(tiles);
  plan.blocks = static_cast<int>(std::min<std::int64_t>(tiles, places));
  const std::int64_t rounds = std::int64_t{rest} * plan.rounds;  // to share
  const std::int64_t saved = plan.rounds - (rounds + places - 1) / places;
  // Parts are stored, and read again by another kernel: on an H200 about as long as 6 rounds, and 1 for 8 tiles.
  const bool pays = saved >= 6 + rest / 8;
  if (share == Share::never || (share == Share::where_it_pays && !pays) || rounds == 0 || rounds >= 1ll << 31)
    return plan;
  plan.whole -= rest;
  plan.blocks = static_cast<int>(plan.whole > 0 ? places : std::min<std::int64_t>(places, rounds));
  plan.each = static_cast<int>(rounds / plan.blocks);
  plan.extra = static_cast<int>(rounds % plan.blocks);
  return plan;
}

template <class S>
std::size_t part_bytes() {  // of two parts a block
  return 2ull * gemm::device_limits().multiprocessors * S::BLOCKS * S::TILE_M * S::TILE_N * sizeof(float);
}

std::size_t workspace_bytes(const gemm::HgemmProblem& p) {
  return sizeof(__half) * (p.m * whole_chunks(p.depth()) + p.depth() * whole_chunks(p.n)) +
         std::max(part_bytes<Large>(), part_bytes<Small>());
}

template <class S, Share SHARE>
gemm::Status launch_shape(const gemm::HgemmProblem& problem, cudaStream_t stream) {
  gemm::HgemmProblem p = problem;
  __half* workspace = static_cast<__half*>(p.workspace);
  gemm::Status status = gemm::Status::ok();
  if (!in_chunks(p.a, p.lda)) status = pack(p.a, p.lda, p.m, p.depth(), workspace, stream);
  // B's last chunks are read whole, so they must exist.
  if (status && (!in_chunks(p.b, p.ldb) || p.n % CHUNK != 0))
    status = pack(p.b, p.ldb, p.depth(), p.n, workspace, stream);
  if (!status) return status;
  if (p.lda >= 1ll << 32 || p.ldb >= 1ll << 32) return gemm::Status::unsupported("a leading dimension of 2^32 or more");
  const Plan plan = make_plan<S>(p, SHARE);
  const bool pairs = reinterpret_cast<std::uintptr_t>(p.c) % 8 == 0 && p.ldc % 2 == 0;
  const Out out{p.m, p.n, p.alpha, p.beta, p.c, p.ldc, pairs};
  float4* const parts = reinterpret_cast<float4*>(workspace);
  status = gemm::launch(hgemm<S>,
                        {.grid = static_cast<unsigned>(plan.blocks),
                         .block = S::THREADS,
                         .dynamic_shared = S::SHARED_BYTES,
                         .stream = stream},
                        plan, p.depth(), p.a, static_cast<unsigned>(p.lda), p.b, static_cast<unsigned>(p.ldb),
                        static_cast<int>(whole_chunks(p.n)), out, parts);
  if (!status || plan.shared_tiles() == 0) return status;
  return gemm::launch(reduce<S>,
                      {.grid = static_cast<unsigned>(plan.shared_tiles()) * ROWS * COLS,
                       .block = S::THREADS,
                       .stream = stream,
                       .may_begin_early = true},
                      plan, out, parts);
}

template <Share SHARE>
gemm::Status launch(const gemm::HgemmProblem& p, cudaStream_t stream) {
  const gemm::DeviceLimits device = gemm::device_limits();
  const std::int64_t tiles = std::int64_t{gemm::ceil_div(p.m, Large::TILE_M)} * gemm::ceil_div(p.n, Large::TILE_N);
  const bool large =
      tiles >= device.multiprocessors && Large::SHARED_BYTES <= static_cast<unsigned>(device.shared_bytes_per_block);
  return large ? launch_shape<Large, SHARE>(p, stream) : launch_shape<Small, SHARE>(p, stream);
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
    .workspace_bytes = [](const gemm::Problem& p) { return workspace_bytes(p); },
    .variants = variants,
};
const gemm::Registration registration{__FILE__, info};

}  // namespace
