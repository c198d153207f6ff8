// 17c packed panels: a first kernel copies A and B into panels, in the order in which blocks will read them, and
// transposes A. Then all copies have 16 bytes and read neighbouring lines, whatever the matrices' alignment, and a
// thread reads four outputs' words of A at once, as it does of B.
//
// Idea      Packing moves 2 words per word, and the product reads each word many times. Goto and van de Geijn pack for
//           a CPU's TLB and caches; here it helps cp.async, cache lines and registers.
// Base      17b_stream_k
// Change    pack(). A tile of A lies by steps of k: a thread reads 6 float4s per step for 128 FMAs, not 20 per 512, and
//           holds no quads of A in registers. So there is room for the operands of two steps, and a turn of the loop is
//           two steps, not four.
// Limit     As 15: issue slots, and about three of them per LDS.128. Packing: 2 * 4 (m k + k n) bytes at 4 TB/s.
// Number    TFLOP/s at 8192, and at 4095, 4097 and 5000, whose rows do not begin with cache lines.
// Map       Within a tile as 15, but rows in fours: lane (lm, ln) of 8 x 4 computes rows 4 lm + 32 r + 0..3, columns
//           4 ln + 16 g + 0..3.
// Page      docs/stages/17c_packed_panels.md
// Source    Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication", ACM TOMS 34 (2008).
#include <algorithm>
#include <type_traits>

#include "common/kernel/ptx.cuh"
#include "common/stage.cuh"

extern __shared__ __align__(16) float smem[];

namespace {

constexpr int TILE_M = 128, TILE_N = 128, TILE_K = 32;           // of C per block; steps of k between barriers
constexpr int WARP_M = 64, WARP_N = 64;                          // of C per warp
constexpr int LANES_M = 8, LANES_N = 4;                          // how a warp's lanes lie over its part of C
constexpr int ROWS = WARP_M / LANES_M, COLS = WARP_N / LANES_N;  // outputs of a thread
constexpr int THREADS = TILE_M / WARP_M * (TILE_N / WARP_N) * 32;
constexpr int BLOCKS = 2;               // of an SM
constexpr int FOURS = ROWS * COLS / 4;  // float4s of a thread's outputs
constexpr int ROW = TILE_M + TILE_N;    // words of a step of k in shared memory: A's, then B's
constexpr int TILE = TILE_K * ROW;      // two of these, one read, one filled; and a row of zeros
constexpr unsigned SHARED_BYTES = (2 * TILE + ROW) * sizeof(float);
constexpr int PANEL = 128;  // rows of A, or columns of B: a block's
static_assert(TILE_M == PANEL && TILE_N == PANEL && LANES_M * LANES_N == 32);

// The partition of the work, as in 17b: the rounds (k-tiles) of the first `shared` tiles are divided among `workers`
// blocks, each + extra / workers for each of them. Other tiles have a block of their own.
struct Plan {
  int tiles_m, tiles_n, rounds, shared, workers, each, extra;

  __host__ __device__ int begin(int worker) const {  // of its rounds
    return worker * each + static_cast<int>(static_cast<std::int64_t>(worker) * extra / workers);
  }
  // The owner of a round: the last worker whose rounds begin there or before it.
  __device__ int worker_of(int round) const {
    const std::int64_t all = static_cast<std::int64_t>(workers) * each + extra;
    return static_cast<int>(((round + std::int64_t{1}) * workers - 1) / all);
  }
  // The part-th tile that a block works on: which one, and its rounds from `first` to before `end`. False: no more.
  __device__ bool segment(int block, int part, int& tile, int& first, int& end) const {
    if (block >= workers) {
      tile = block - workers + shared;
      first = 0;
      end = rounds;
      return part == 0;
    }
    const int from = begin(block), to = begin(block + 1);
    tile = from / rounds + part;
    first = part == 0 ? from - tile * rounds : 0;
    end = min(to - tile * rounds, rounds);
    return first < end;
  }
  // In bands of HEIGHT rows of tiles, as 17a.
  __device__ void place(int tile, int& tile_m, int& tile_n) const {
    constexpr int HEIGHT = 8;
    const int band = tile / (HEIGHT * tiles_n), in = tile % (HEIGHT * tiles_n);
    const int height = min(HEIGHT, tiles_m - band * HEIGHT);
    tile_m = band * HEIGHT + in % height;
    tile_n = in / height;
  }
};

// Where a worker's parts begin in the workspace: of the tile that it starts in, and of the one that it ends in.
__device__ std::size_t part_at(int worker, bool second) {
  return static_cast<std::size_t>(2 * worker + second) * FOURS * THREADS;
}

// Stores four sums, alpha included, of which `inside` are elements of C. `wide`: C's rows start at multiples of 16
// bytes.
__device__ void store4(float* out, int inside, bool wide, float4 sum, float beta) {
  if (wide && beta == 0.0f && inside >= 4) {
    *reinterpret_cast<float4*>(out) = sum;
    return;
  }
  const float s[4] = {sum.x, sum.y, sum.z, sum.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (i < inside) out[i] = beta == 0.0f ? s[i] : s[i] + beta * out[i];
  }
}

// Where in its tile a thread's outputs begin, and where its i-th float4 lies from there. Lanes 1 apart share rows,
// lanes 2 apart share columns: a 16-byte load whose lanes pair up so takes half the cycles.
__device__ int first_row(int thread) {
  const int lane = thread % 32;
  return thread / 32 / (TILE_N / WARP_N) * WARP_M + 4 * (lane / 2 % 2 + lane / 8 * 2);
}
__device__ int first_col(int thread) {
  const int lane = thread % 32;
  return thread / 32 % (TILE_N / WARP_N) * WARP_N + 4 * (lane % 2 + lane / 4 % 2 * 2);
}
__device__ int row_of(int i) {
  const int row = i / (COLS / 4);
  return row / 4 * 4 * LANES_M + row % 4;
}
__device__ int col_of(int i) {
  return i % (COLS / 4) * 4 * LANES_N;
}

// A and B in panels. CUT: how many columns of the next step a turn of the loop computes.
template <int CUT>
__global__ void __launch_bounds__(THREADS, BLOCKS)
    sgemm(int m, int n, int k, float alpha, const float* __restrict__ a, const float* __restrict__ b, float beta,
          float* __restrict__ c, std::int64_t ldc, Plan plan, bool wide, float4* __restrict__ parts) {
  const int thread = threadIdx.x;
  for (int part = 0;; ++part) {
    int tile, first, end, tile_m, tile_n;
    if (!plan.segment(blockIdx.x, part, tile, first, end) && part > 0) break;
    if (part > 0) __syncthreads();  // nobody reads the last tile's words any more
    plan.place(tile, tile_m, tile_n);
    const int k_begin = first * TILE_K;
    int left = min(k, end * TILE_K) - k_begin;  // steps that are not being copied yet

    // A warp copies 128 words of a step of A, and of B.
    constexpr int STRIDE = THREADS / (PANEL / 4);
    const int col = thread % (PANEL / 4) * 4, step = thread / (PANEL / 4);
    const float* a_from = a + (static_cast<std::size_t>(tile_m) * k + k_begin + step) * PANEL + col;
    const float* b_from = b + (static_cast<std::size_t>(tile_n) * k + k_begin + step) * PANEL + col;
    const auto fetch = [&](int buffer) {
      float* const to = smem + buffer * TILE + step * ROW + col;
      if (left >= TILE_K) {
#pragma unroll
        for (int i = 0; i < TILE_K; i += STRIDE) gemm::ptx::cp_async_cg(to + i * ROW, a_from + i * PANEL, 16);
#pragma unroll
        for (int i = 0; i < TILE_K; i += STRIDE) gemm::ptx::cp_async_cg(to + i * ROW + TILE_M, b_from + i * PANEL, 16);
      } else if (left > 0) {  // the last tile, if it is not complete: zeros behind the end of k
#pragma unroll 1
        for (int i = 0; i < TILE_K; i += STRIDE) {
          const bool exists = step + i < left;
          gemm::ptx::cp_async_cg(to + i * ROW, exists ? a_from + i * PANEL : a, exists ? 16 : 0);
          gemm::ptx::cp_async_cg(to + i * ROW + TILE_M, exists ? b_from + i * PANEL : b, exists ? 16 : 0);
        }
      }
      gemm::ptx::cp_async_commit();
      a_from += TILE_K * PANEL;
      b_from += TILE_K * PANEL;
      left -= TILE_K;
    };

    float sum[ROWS][COLS] = {};
    alignas(16) float x[2][ROWS], y[2][COLS];  // of a step of k, and of the next
    const float *const a_lane = smem + first_row(thread), *const b_lane = smem + TILE_M + first_col(thread);
    const auto read = [&](int u, const float* a_at, const float* b_at) {
#pragma unroll
      for (int r = 0; r < ROWS; r += 4)
        *reinterpret_cast<float4*>(&x[u % 2][r]) = *reinterpret_cast<const float4*>(a_at + r * LANES_M);
#pragma unroll
      for (int g = 0; g < COLS; g += 4)
        *reinterpret_cast<float4*>(&y[u % 2][g]) = *reinterpret_cast<const float4*>(b_at + g * LANES_N);
    };
    // Column by column, to and fro over the rows: an FFMA shares a word with the one before it, which need not be read
    // from the register banks again.
    const auto multiply = [&](int u, int from, int to) {
#pragma unroll
      for (int col = from; col < to; ++col) {
#pragma unroll
        for (int i = 0; i < ROWS; ++i) {
          const int r = col % 2 ? ROWS - 1 - i : i;
          sum[r][col] += x[u % 2][r] * y[u % 2][col];
        }
      }
    };

    fetch(0);
    for (int i = thread; i < ROW; i += THREADS) smem[2 * TILE + i] = 0.0f;
    gemm::ptx::cp_async_wait<0>();
    __syncthreads();

    // While a step is multiplied, the next one's operands are read; the step behind the last one consists of zeros.
    // With CUT, a turn ends in the middle of a step, and carries fewer operands over to the next.
    constexpr int TURN = 2;
    int rounds = end - first, buffer = 0;
    int at = rounds > 0 ? 0 : 2 * TILE;
    const float *a_at = a_lane + at, *b_at = b_lane + at;
    read(0, a_at, b_at);
    multiply(0, 0, CUT);
    const auto turn = [&](auto last_of_round) {
#pragma unroll
      for (int u = 0; u < TURN; ++u) {
        a_at += ROW;
        b_at += ROW;
        if (decltype(last_of_round)::value && u == TURN - 1) {
          gemm::ptx::cp_async_wait<0>();
          __syncthreads();  // everybody's part of the next tile has arrived, and nobody reads this one any more
          a_at = a_lane + at;
          b_at = b_lane + at;
        }
        read(u + 1, a_at, b_at);
        multiply(u, CUT, COLS);
        multiply(u + 1, 0, CUT);
      }
    };
#pragma unroll 1
    for (; rounds > 0; --rounds) {
      buffer ^= 1;  // everybody has read it before the last barrier
      fetch(buffer);
      at = rounds > 1 ? buffer * TILE : 2 * TILE;
#pragma unroll 1
      for (int steps = TURN; steps < TILE_K; steps += TURN) turn(std::false_type{});
      turn(std::true_type{});
    }

    // A complete tile goes to C. A part goes to the workspace, in an order that suits the threads; a worker has at most
    // two, where its rounds begin and where they end. All of this is found out again, so that no registers hold it
    // meanwhile.
#ifdef __CUDACC__
    asm volatile("" : "+r"(part));
#endif
    plan.segment(blockIdx.x, part, tile, first, end);
    plan.place(tile, tile_m, tile_n);
    const bool complete = first == 0 && end == plan.rounds;
    const int row0 = tile_m * TILE_M + first_row(thread), col0 = tile_n * TILE_N + first_col(thread);
    float4* const to = parts + part_at(blockIdx.x, part > 0) + thread;
#pragma unroll
    for (int i = 0; i < FOURS; ++i) {
      // Scaled here in both cases, for 17b's reason.
      const float* const s = &sum[i / (COLS / 4)][i % (COLS / 4) * 4];
      const float4 four = make_float4(alpha * s[0], alpha * s[1], alpha * s[2], alpha * s[3]);
      const int row = row0 + row_of(i), col = col0 + col_of(i);
      if (!complete)
        to[i * THREADS] = four;
      else if (row < m)
        store4(c + row * ldc + col, n - col, wide, four, beta);
    }
  }
}

// As 17b: C of the tiles that several workers have parts of, added in the order of k.
__global__ void reduce(int m, int n, float beta, float* __restrict__ c, std::int64_t ldc, Plan plan, bool wide,
                       const float4* __restrict__ parts) {
  const int tile = blockIdx.x / FOURS, four = blockIdx.x % FOURS, thread = threadIdx.x;
  const int begin = tile * plan.rounds;
  const int from = plan.worker_of(begin), to = plan.worker_of(begin + plan.rounds - 1);
  if (from == to) return;  // it had the whole tile, and has stored it
  // Only the first of them can have come from another tile, and then this is the second part that it has stored.
  const auto at = [&](int worker, bool second) { return parts[part_at(worker, second) + four * THREADS + thread]; };
  float4 sum = at(from, plan.begin(from) < begin);
#pragma unroll 16
  for (int worker = from + 1; worker <= to; ++worker) {
    const float4 part = at(worker, false);
    sum = make_float4(sum.x + part.x, sum.y + part.y, sum.z + part.z, sum.w + part.w);
  }
  int tile_m, tile_n;
  plan.place(tile, tile_m, tile_n);
  const int row = tile_m * TILE_M + first_row(thread) + row_of(four);
  const int col = tile_n * TILE_N + first_col(thread) + col_of(four);
  if (row < m) store4(c + row * ldc + col, n - col, wide, sum, beta);
}

// A copy of a matrix in panels: all steps of k of 128 rows of A, or columns of B, then of the next 128. Zeros outside.
struct Packing {
  const float* from;
  std::int64_t ld;
  int width;  // rows of A, columns of B
  float* to;
};

// Blocks of 32 x 8 threads, for 32 x 32 words of A, which they transpose, or 16 rows of 128 words of B. Word by word,
// because a warp's words are then neighbours whatever the alignment.
constexpr int PACK_ROWS = 8, PACK_B_ROWS = 16;
__host__ __device__ int pack_a_blocks(int m, int k) {
  return gemm::ceil_div(m, PANEL) * (PANEL / 32) * gemm::ceil_div(k, 32);
}
__host__ __device__ int pack_b_blocks(int n, int k) {
  return gemm::ceil_div(n, PANEL) * gemm::ceil_div(k, PACK_B_ROWS);
}
__global__ void pack(Packing a, Packing b, int k) {
  __shared__ float words[32][33];
  const int x = threadIdx.x, y = threadIdx.y, a_blocks = pack_a_blocks(a.width, k);
  if (static_cast<int>(blockIdx.x) < a_blocks) {
    const int across = gemm::ceil_div(k, 32), row = blockIdx.x / across * 32, col = blockIdx.x % across * 32;
#pragma unroll
    for (int i = 0; i < 32; i += PACK_ROWS) {
      const bool inside = row + y + i < a.width && col + x < k;
      words[x][y + i] = inside ? a.from[(row + y + i) * a.ld + col + x] : 0.0f;
    }
    __syncthreads();
    float* const to = a.to + (static_cast<std::size_t>(row / PANEL) * k + col) * PANEL + row % PANEL + x;
#pragma unroll
    for (int i = 0; i < 32; i += PACK_ROWS) {
      if (col + y + i < k) to[(y + i) * PANEL] = words[y + i][x];
    }
  } else {
    const int block = blockIdx.x - a_blocks, down = gemm::ceil_div(k, PACK_B_ROWS);
    const int col = block / down * PANEL + x, row = block % down * PACK_B_ROWS + y;
    float* const to = b.to + (static_cast<std::size_t>(block / down) * k + row) * PANEL + x;
    float word[PACK_B_ROWS / PACK_ROWS][PANEL / 32];  // all loads, then all stores
#pragma unroll
    for (int i = 0; i < PACK_B_ROWS / PACK_ROWS; ++i) {
#pragma unroll
      for (int j = 0; j < PANEL / 32; ++j) {
        const bool inside = row + i * PACK_ROWS < k && col + j * 32 < b.width;
        word[i][j] = inside ? b.from[(row + i * PACK_ROWS) * b.ld + col + j * 32] : 0.0f;
      }
    }
#pragma unroll
    for (int i = 0; i < PACK_B_ROWS / PACK_ROWS; ++i) {
#pragma unroll
      for (int j = 0; j < PANEL / 32; ++j) {
        if (row + i * PACK_ROWS < k) to[i * PACK_ROWS * PANEL + j * 32] = word[i][j];
      }
    }
  }
}

Plan make_plan(const gemm::SgemmProblem& p) {  // 17b's
  Plan plan{};
  plan.tiles_m = gemm::ceil_div(p.m, TILE_M);
  plan.tiles_n = gemm::ceil_div(p.n, TILE_N);
  plan.rounds = gemm::ceil_div(p.depth(), TILE_K);
  const int places = gemm::device_limits().multiprocessors * BLOCKS;
  const int rest = static_cast<int>(static_cast<std::int64_t>(plan.tiles_m) * plan.tiles_n % places);
  const std::int64_t rounds = static_cast<std::int64_t>(rest) * plan.rounds;
  if (rounds == 0 || 10 * rest >= 9 * places || rounds >= 1ll << 31) return plan;
  plan.shared = rest;
  plan.workers = static_cast<int>(std::min<std::int64_t>(places, rounds));
  plan.each = static_cast<int>(rounds / plan.workers);
  plan.extra = static_cast<int>(rounds % plan.workers);
  return plan;
}

std::size_t packed_words(int width, int k) {
  return static_cast<std::size_t>(gemm::ceil_div(width, PANEL)) * PANEL * k;
}
std::size_t part_words() {  // two parts a worker, and never more workers than places
  return 2ull * gemm::device_limits().multiprocessors * BLOCKS * TILE_M * TILE_N;
}

template <int CUT>
gemm::Status launch(const gemm::SgemmProblem& p, cudaStream_t stream) {
  const Plan plan = make_plan(p);
  const int tiles = plan.tiles_m * plan.tiles_n, k = p.depth();
  if (tiles == 0) return gemm::Status::ok();
  float4* const parts = reinterpret_cast<float4*>(p.workspace);
  float* const panels = p.workspace + part_words();
  const Packing a{p.a, p.lda, p.m, panels}, b{p.b, p.ldb, p.n, panels + packed_words(p.m, k)};
  const unsigned pack_blocks = pack_a_blocks(p.m, k) + pack_b_blocks(p.n, k);
  const bool wide = reinterpret_cast<std::uintptr_t>(p.c) % 16 == 0 && p.ldc % 4 == 0;
  if (k > 0) {
    const gemm::Status status =
        gemm::launch(pack, {.grid = pack_blocks, .block = {32, PACK_ROWS}, .stream = stream}, a, b, k);
    if (!status) return status;
  }
  const gemm::Status status = gemm::launch(sgemm<CUT>,
                                           {.grid = static_cast<unsigned>(plan.workers + tiles - plan.shared),
                                            .block = THREADS,
                                            .dynamic_shared = SHARED_BYTES,
                                            .stream = stream},
                                           p.m, p.n, k, p.alpha, a.to, b.to, p.beta, p.c, p.ldc, plan, wide, parts);
  if (!status || plan.workers == 0) return status;
  return gemm::launch(reduce, {.grid = static_cast<unsigned>(plan.shared) * FOURS, .block = THREADS, .stream = stream},
                      p.m, p.n, p.beta, p.c, p.ldc, plan, wide, parts);
}

constexpr gemm::Variant variants[] = {
    {.name = "cut", .idea = "a turn of the loop ends in the middle of a step of k", .launch = launch<COLS / 2>},
};

constexpr gemm::StageInfo info = {
    .idea = "17b; A and B packed into panels, A transposed; two steps of k a turn of the loop",
    .base = "17b",
    // A step of a warp: 6 float4s of a thread, two cycles each, for 128 FMAs. And pack() reads each word of A once.
    .l1_cycles =
        [](const gemm::SgemmProblem& p) { return gemm::L1Cycles{.shared = 6.0 * 2 / 128 + 1.0 / std::max(p.n, 1)}; },
    .min_compute_capability = 80,
    .launch = launch<0>,
    .workspace_bytes =
        [](const gemm::Problem& problem) {
          const gemm::SgemmProblem p = problem;
          return sizeof(float) * (part_words() + packed_words(p.m, p.depth()) + packed_words(p.n, p.depth()));
        },
    .variants = variants,
};
const gemm::Registration registration{__FILE__, info};

}  // namespace
