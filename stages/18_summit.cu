// 18 summit: the best of the ladder for any shape. 15's kernel in three sizes of tile, 17a's order of tiles, 17b's
// shared rounds; which tile, and how many blocks share, a small model of their costs decides.
//
// Idea      No one tile is best. Large ones need fewer words per FMA, small ones fill 132 SMs with a 512 x 512 product;
//           a product that does not divide into whole waves of blocks shares out the rest of its rounds.
// Change    choose() estimates each candidate's time from a few measured constants per tile, and takes the least.
//           Nothing else depends on the shape, and no shape is named.
// Limit     As 15: issue slots and the register writes of LDS.128. At small sizes: launch, first loads, reduction.
// Number    The ratio to cuBLAS over all shapes, listed and random: docs page.
// Map       Large: 4 warps of 64 x 64, 8 x 16 outputs a thread; medium: 32 x 64, 8 x 8; small: 32 x 32, 8 x 4.
// Page      docs/stages/18_summit.md
// Source    Osama et al., "Stream-K", PPoPP 2023 (sharing rounds); CUTLASS, "Efficient GEMM in CUDA" (pipelines).
#include <algorithm>

#include "common/ptx.cuh"
#include "common/stage.cuh"

extern __shared__ __align__(16) float smem[];

namespace {

// One size of tile.
template <int TILE_M_, int TILE_N_, int WARP_M_, int WARP_N_, int LANES_M_, int BLOCKS_, int QUADS_>
struct Shape {
  static constexpr int TILE_M = TILE_M_, TILE_N = TILE_N_, TILE_K = 32;  // of C per block; steps of k a round
  static constexpr int WARP_M = WARP_M_, WARP_N = WARP_N_;               // of C per warp
  static constexpr int LANES_M = LANES_M_, LANES_N = 32 / LANES_M;
  static constexpr int ROWS = WARP_M / LANES_M, COLS = WARP_N / LANES_N;  // outputs of a thread
  static constexpr int THREADS = TILE_M / WARP_M * (TILE_N / WARP_N) * 32;
  static constexpr int BLOCKS = BLOCKS_;  // of an SM
  static constexpr int QUADS = QUADS_;    // four steps of k each, in a body of the inner loop
  static constexpr int STAGES = 3, A_ROW = TILE_K + 4;
  static constexpr int A_TILE = TILE_M * A_ROW, B_TILE = TILE_K * TILE_N;
  static constexpr unsigned SHARED_BYTES = STAGES * (A_TILE + B_TILE) * sizeof(float);
  static constexpr int C_ROW = TILE_N + 16;  // words of a row of C's tile on its way: two rows' float4s fill all banks
  static constexpr int GROUP = 4;            // rows of A whose quads are in registers at a time, twice
  static constexpr int FOURS = ROWS * COLS / 4;  // float4s of a thread's outputs
  static_assert(ROWS % (2 * GROUP) == 0 && COLS % 4 == 0 && THREADS == 128);
  static_assert(TILE_M * C_ROW * sizeof(float) <= SHARED_BYTES);
};
using Large = Shape<128, 128, 64, 64, 8, 2, 1>;
using Medium = Shape<64, 128, 32, 64, 4, 2, 4>;
using Small = Shape<64, 64, 32, 32, 4, 4, 4>;

// Who does what. A tile of C takes `rounds` rounds of TILE_K steps. The rounds of the first `shared` tiles are dealt
// out to `workers` blocks, one after the other: each + extra / workers to each of them; every other tile has a block of
// its own. The parts of a tile are added up by the last of its workers to finish, or by a second kernel, reduce().
struct Plan {
  int tiles_m, tiles_n, rounds;
  int shared, workers;
  int each, extra;
  bool reduced;  // by reduce()

  __host__ __device__ int begin(int worker) const {  // of its rounds
    return worker * each + static_cast<int>(static_cast<std::int64_t>(worker) * extra / workers);
  }
  // Who has a round: the last worker whose rounds begin there or before it.
  __host__ __device__ int worker_of(int round) const {
    const std::int64_t all = static_cast<std::int64_t>(workers) * each + extra;
    return static_cast<int>(((round + std::int64_t{1}) * workers - 1) / all);
  }
  // The part-th tile that a block works on: which one, and its rounds from `first` to before `last`. False: no more.
  template <bool SHARED>
  __device__ bool segment(int block, int part, int& tile, int& first, int& last) const {
    if (!SHARED || block >= workers) {
      tile = block - workers + shared;
      first = 0;
      last = rounds;
      return part == 0;
    }
    const int from = begin(block), to = begin(block + 1);
    tile = from / rounds + part;
    first = part == 0 ? from - tile * rounds : 0;
    last = min(to - tile * rounds, rounds);
    return first < last;
  }
};

// Tiles in the order of 17a: eight rows of tiles at a time, column by column.
__device__ void place(const Plan& plan, int tile, int& tile_m, int& tile_n) {
  constexpr int HEIGHT = 8;
  const int band = tile / (HEIGHT * plan.tiles_n), in = tile % (HEIGHT * plan.tiles_n);
  const int height = min(HEIGHT, plan.tiles_m - band * HEIGHT);
  tile_m = band * HEIGHT + in % height;
  tile_n = in / height;
}

__device__ float4 operator+(float4 x, float4 y) {
  return make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
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

// The lane's rows and columns: bit 0 of its number belongs to the columns, bit 1 to the rows, because 16-byte loads
// whose lanes pair up so take half the cycles.
template <class S>
__device__ int lane_row(int lane) {
  return S::LANES_M == 8 ? lane / 2 % 2 + lane / 8 * 2 : lane / 2 % 2 + lane / 16 * 2;
}
template <class S>
__device__ int lane_col(int lane) {
  return S::LANES_M == 8 ? lane % 2 + lane / 4 % 2 * 2 : lane % 2 + lane / 4 % 4 * 2;
}
// Where in its tile a thread's outputs begin, and where its i-th float4 lies from there.
template <class S>
__device__ int first_row(int thread) {
  return thread / 32 / (S::TILE_N / S::WARP_N) * S::WARP_M + lane_row<S>(thread % 32);
}
template <class S>
__device__ int first_col(int thread) {
  return thread / 32 % (S::TILE_N / S::WARP_N) * S::WARP_N + 4 * lane_col<S>(thread % 32);
}
template <class S>
__device__ int row_of(int i) {
  return i / (S::COLS / 4) * S::LANES_M;
}
template <class S>
__device__ int col_of(int i) {
  return i % (S::COLS / 4) * 4 * S::LANES_N;
}

// Where a worker's parts begin in the workspace: of the tile that it starts in, and of one that it goes on with.
template <class S>
__device__ std::size_t part_at(int worker, bool second) {
  return static_cast<std::size_t>(2 * worker + second) * (S::TILE_M * S::TILE_N / 4);
}

// VECTOR: rows of A and B start at multiples of 16 bytes, and B has columns to the next multiple of 4. SHARED: some
// blocks are workers; without them the kernel has no loop over tiles.
template <class S, bool VECTOR, bool SHARED>
__global__ void __launch_bounds__(S::THREADS, S::BLOCKS)
    sgemm(int m, int n, int k, float alpha, const float* __restrict__ a, unsigned lda, const float* __restrict__ b,
          unsigned ldb, float beta, float* __restrict__ c, std::int64_t ldc, Plan plan, bool wide, float4* parts,
          unsigned* tickets) {
  constexpr int TILE_M = S::TILE_M, TILE_N = S::TILE_N, TILE_K = S::TILE_K, A_ROW = S::A_ROW, GROUP = S::GROUP;
  constexpr int ROWS = S::ROWS, COLS = S::COLS, THREADS = S::THREADS;
  float* const as = smem;                          // [STAGES][TILE_M][A_ROW]
  float* const bs = smem + S::STAGES * S::A_TILE;  // [STAGES][TILE_K][TILE_N]
  int thread = threadIdx.x;

  // Copies. A warp takes 32 words of four rows of A at once, or 8 of four rows; and 128 words of a row of B, or 32.
  // Where words go one by one, a thread takes those a fixed distance apart in a row, for which one address will do.
  constexpr int WORDS = VECTOR ? 4 : 1;
  constexpr int A_WIDE = 8 * WORDS, A_STEP = THREADS / 8;                            // words of a row, rows at once
  constexpr int B_WIDE = VECTOR ? TILE_N : 32, B_STEP = THREADS / (B_WIDE / WORDS);  // the same
  const int a_k = thread % 8 * WORDS, a_row = thread / 8;
  const int b_col = thread % (B_WIDE / WORDS) * WORDS, b_k = thread / (B_WIDE / WORDS);
  const auto copy = [](float* to, const float* from, int words) {
    if constexpr (VECTOR) {
      gemm::ptx::cp_async_cg(to, from, 4 * words);
    } else {
      gemm::ptx::cp_async_ca<4>(to, from, 4 * words);
    }
  };

  for (int part = 0;; ++part) {
    int tile, first, last, tile_m, tile_n;
    if (!plan.segment<SHARED>(blockIdx.x, part, tile, first, last) && part > 0) break;
    if (part > 0) __syncthreads();  // nobody reads the last tile's words any more
    place(plan, tile, tile_m, tile_n);
    const int tile_row = tile_m * TILE_M, tile_col = tile_n * TILE_N;
    const int columns = VECTOR ? (n + 3) / 4 * 4 : n;
    const int last_row = m - 1 - tile_row,
              last_col = columns - WORDS - tile_col;  // outside the matrices these stand in
    const int k_begin = first * TILE_K;
    const float* a_from = a + static_cast<std::size_t>(tile_row) * lda + k_begin + a_k;
    const float* b_from = VECTOR ? b + tile_col + min(b_col, last_col) + static_cast<std::size_t>(k_begin + b_k) * ldb
                                 : b + tile_col + static_cast<std::size_t>(k_begin) * ldb;
    int left = min(k, last * TILE_K) - k_begin;  // steps that are not being copied yet
    const auto fetch = [&](int stage) {
      float* a_to = as + stage * S::A_TILE + a_row * A_ROW + a_k;
      float* b_to = bs + stage * S::B_TILE + b_k * TILE_N + b_col;
      if (left >= TILE_K) {
        if constexpr (VECTOR) {
          // Steps where they will do: each product of a row and a leading dimension takes up to five instructions.
#pragma unroll
          for (int i = 0; i < TILE_M; i += A_STEP) {
            const std::size_t row = static_cast<unsigned>(min(a_row + i, last_row));
            copy(a_to + i * A_ROW, a_from + row * lda, WORDS);
          }
          const float* from = b_from;
#pragma unroll
          for (int i = 0; i < TILE_K; i += B_STEP, from += static_cast<std::size_t>(ldb) * B_STEP)
            copy(b_to + i * TILE_N, from, WORDS);
        } else {
#pragma unroll
          for (int i = 0; i < TILE_M; i += A_STEP) {
            const float* from = gemm::ptx::row_address(a_from, min(a_row + i, last_row), 4 * lda);
#pragma unroll
            for (int j = 0; j < TILE_K; j += A_WIDE) copy(a_to + i * A_ROW + j, from + j, WORDS);
          }
          if (last_col + WORDS >= TILE_N) {
#pragma unroll
            for (int i = 0; i < TILE_K; i += B_STEP) {
              const float* from = gemm::ptx::row_address(b_from + b_col, b_k + i, 4 * ldb);
#pragma unroll
              for (int j = 0; j < TILE_N; j += B_WIDE) copy(b_to + i * TILE_N + j, from + j, WORDS);
            }
          } else {
#pragma unroll
            for (int j = 0; j < TILE_N; j += B_WIDE) {
              const float* from = b_from + min(b_col + j, last_col);
#pragma unroll
              for (int i = 0; i < TILE_K; i += B_STEP)
                copy(b_to + i * TILE_N + j, gemm::ptx::row_address(from, b_k + i, 4 * ldb), WORDS);
            }
          }
        }
      } else if (left > 0) {  // the last round of k, if it is not complete: zeros behind the end
#pragma unroll 4
        for (int i = 0; i < TILE_M; i += A_STEP) {
#pragma unroll 4
          for (int j = 0; j < TILE_K; j += A_WIDE) {
            const int words = max(min(left - a_k - j, WORDS), 0);
            const float* from = gemm::ptx::row_address(a_from + j, min(a_row + i, last_row), 4 * lda);
            copy(a_to + i * A_ROW + j, words > 0 ? from : a, words);
          }
        }
#pragma unroll 4
        for (int i = 0; i < TILE_K; i += B_STEP) {
#pragma unroll 4
          for (int j = 0; j < TILE_N; j += B_WIDE) {
            const float* from = VECTOR ? gemm::ptx::row_address(b_from, i, 4 * ldb)
                                       : gemm::ptx::row_address(b_from + min(b_col + j, last_col), b_k + i, 4 * ldb);
            copy(b_to + i * TILE_N + j, b_k + i < left ? from : b, b_k + i < left ? WORDS : 0);
          }
        }
      }
      gemm::ptx::cp_async_commit();
      a_from += TILE_K;
      b_from += static_cast<std::size_t>(ldb) * TILE_K;
      left -= TILE_K;
    };

    float sum[ROWS][COLS] = {};
    float4 a4[2][GROUP];  // four steps of GROUP rows
    float b1[4][COLS];    // four steps of all columns
    const float* const a_lane = as + first_row<S>(thread) * A_ROW;
    const float* const b_lane = bs + first_col<S>(thread);
    const auto read_a = [&](float4(&to)[GROUP], const float* from, int group) {
#pragma unroll
      for (int r = 0; r < GROUP; ++r)
        to[r] = *reinterpret_cast<const float4*>(from + (group * GROUP + r) * S::LANES_M * A_ROW);
    };
    const auto read_b = [&](float(&to)[COLS], const float* from) {
#pragma unroll
      for (int g = 0; g < COLS; g += 4)
        *reinterpret_cast<float4*>(&to[g]) = *reinterpret_cast<const float4*>(from + g * S::LANES_N);
    };

    fetch(0);
    fetch(1);
    gemm::ptx::cp_async_wait<1>();  // all but the latest
    __syncthreads();
    const float *a_at = a_lane, *b_at = b_lane;
    int rounds = last - first;
    if (rounds > 0) {
      read_a(a4[0], a_at, 0);
#pragma unroll
      for (int s = 0; s < 4; ++s) read_b(b1[s], b_at + s * TILE_N);
    }
    int current = 0, free = 2;  // tiles being read, and the next to fill
#pragma unroll 1
    for (; rounds > 0; --rounds) {
      // Everybody has read the last of these tiles before the last barrier.
      fetch(free);
      free = free + 1 < S::STAGES ? free + 1 : 0;
#pragma unroll 1
      for (int quads = 0; quads < TILE_K; quads += 4 * S::QUADS) {
#pragma unroll
        for (int quad = quads; quad < quads + 4 * S::QUADS; quad += 4) {
          const float *a_next = a_at + 4, *b_next = b_at + 4 * TILE_N;
#pragma unroll
          for (int group = 0; group < ROWS / GROUP; ++group) {
            const bool last_group = group == ROWS / GROUP - 1;
            if (last_group && quad == quads + 4 * S::QUADS - 4 && quads == TILE_K - 4 * S::QUADS) {
              gemm::ptx::cp_async_wait<1>();
              __syncthreads();
              if (rounds > 1) current = current + 1 < S::STAGES ? current + 1 : 0;  // else these again, in vain
              a_next = a_lane + current * S::A_TILE;
              b_next = b_lane + current * S::B_TILE;
            }

            read_a(a4[(group + 1) % 2], last_group ? a_next : a_at, last_group ? 0 : group + 1);
#pragma unroll
            for (int s = 0; s < 4; ++s) {
              float x[GROUP];
#pragma unroll
              for (int r = 0; r < GROUP; ++r) {
                const float4 q = a4[group % 2][r];
                x[r] = s == 0 ? q.x : s == 1 ? q.y : s == 2 ? q.z : q.w;
              }
#pragma unroll
              for (int col = 0; col < COLS; ++col) {
#pragma unroll
                for (int i = 0; i < GROUP; ++i) {
                  const int r = col % 2 ? GROUP - 1 - i : i;
                  sum[group * GROUP + r][col] += x[r] * b1[s][col];
                }
              }
              if (last_group) read_b(b1[s], b_next + s * TILE_N);
            }
          }
          a_at = a_next;
          b_at = b_next;
        }
      }
    }

    // A complete tile goes to C; where C's rows are misaligned, through shared memory, from which a warp can store words
    // that are neighbours. A part goes to the workspace, in an order that suits the threads; a worker has at most two,
    // at the head and at the end of its rounds. All of this is found out again, so that no registers hold it meanwhile.
#ifdef __CUDACC__
    asm volatile("" : "+r"(part));
    asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
#endif
    plan.segment<SHARED>(blockIdx.x, part, tile, first, last);
    bool complete = !SHARED || (first == 0 && last == plan.rounds);
    place(plan, tile, tile_m, tile_n);
    const int row0 = tile_m * TILE_M + first_row<S>(thread), col0 = tile_n * TILE_N + first_col<S>(thread);
    float4* const to = parts + part_at<S>(blockIdx.x, part > 0) + thread;
    const auto put = [&](int row, int col, float4 four) {  // to C, or nearer
      if (wide) {
        if (row0 + row < m) store4(c + (row0 + row) * ldc + col0 + col, n - col0 - col, wide, four, beta);
      } else {
        *reinterpret_cast<float4*>(smem + (first_row<S>(thread) + row) * S::C_ROW + first_col<S>(thread) + col) = four;
      }
    };
    if (!wide) __syncthreads();  // nobody reads the tiles of A and B any more
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
#pragma unroll
      for (int g = 0; g < COLS; g += 4) {
        // Scaled here in both cases. A part stored as it is would have to lie in four registers in a row, and then one
        // FFMA in 30 would read its three words from one register bank.
        const float4 four =
            make_float4(alpha * sum[r][g], alpha * sum[r][g + 1], alpha * sum[r][g + 2], alpha * sum[r][g + 3]);
        if (complete) {
          put(r * S::LANES_M, g * S::LANES_N, four);
        } else {
          to[(r * COLS + g) / 4 * THREADS] = four;
        }
      }
    }
    if (SHARED && !complete && !plan.reduced) {
      // The last to get here adds up the parts of all, in the order of k: the result is the same from run to run.
      const int from = plan.worker_of(tile * plan.rounds), until = plan.worker_of((tile + 1) * plan.rounds - 1);
      __threadfence();
      __syncthreads();
      complete =
          __syncthreads_or(thread == 0 && static_cast<int>(atomicInc(tickets + tile, until - from)) == until - from);
      if (complete) {
        __threadfence();
        // Only the first of them can have come from another tile.
        const float4* const head = parts + part_at<S>(from, plan.begin(from) < tile * plan.rounds) + thread;
        constexpr int AT_ONCE = S::FOURS < 16 ? 4 : 8;  // as registers allow
#pragma unroll 1
        for (int i = 0; i < S::FOURS; i += AT_ONCE) {
          float4 total[AT_ONCE];
#pragma unroll
          for (int j = 0; j < AT_ONCE; ++j) total[j] = head[(i + j) * THREADS];
#pragma unroll 2
          for (int worker = from + 1; worker <= until; ++worker) {
#pragma unroll
            for (int j = 0; j < AT_ONCE; ++j)
              total[j] = total[j] + parts[part_at<S>(worker, false) + (i + j) * THREADS + thread];
          }
#pragma unroll
          for (int j = 0; j < AT_ONCE; ++j) put(row_of<S>(i + j), col_of<S>(i + j), total[j]);
        }
      }
    }
    if (!wide && complete) {
      __syncthreads();
      for (int row = thread / 32; row < min(TILE_M, m - tile_m * TILE_M); row += THREADS / 32) {
        float* const to_row = c + (tile_m * TILE_M + row) * ldc + tile_n * TILE_N;
#pragma unroll
        for (int col = thread % 32; col < TILE_N; col += 32) {
          const float word = smem[row * S::C_ROW + col];
          if (col < n - tile_n * TILE_N) to_row[col] = beta == 0.0f ? word : word + beta * to_row[col];
        }
      }
    }
    if (!SHARED) break;
  }
}

constexpr int WIDTH = 64;  // float4s of C per block of reduce

// C of the tiles that more than one worker has parts of. Blocks of WIDTH x HEIGHT threads: each of the HEIGHT sums up
// every HEIGHT-th part, the first the sums. Always in the same order: the result is the same from run to run.
template <class S>
__global__ void reduce(int m, int n, float beta, float* __restrict__ c, std::int64_t ldc, Plan plan, bool wide,
                       const float4* __restrict__ parts) {
  constexpr int BLOCKS = S::TILE_M * S::TILE_N / 4 / WIDTH;  // of a tile
  __shared__ float4 sums[16][WIDTH];
  const int tile = blockIdx.x / BLOCKS, four = blockIdx.x % BLOCKS * WIDTH + threadIdx.x;
  const int begin = tile * plan.rounds;
  const int from = plan.worker_of(begin), to = plan.worker_of(begin + plan.rounds - 1);
  if (from == to) return;  // it had the whole tile, and has stored it
  float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll 4
  for (int worker = from + threadIdx.y; worker <= to; worker += blockDim.y)
    sum = sum + parts[part_at<S>(worker, plan.begin(worker) < begin) + four];
  sums[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y > 0) return;
  for (int i = 1; i < static_cast<int>(blockDim.y); ++i) sum = sum + sums[i][threadIdx.x];
  int tile_m, tile_n;
  place(plan, tile, tile_m, tile_n);
  const int thread = four % S::THREADS, i = four / S::THREADS;
  const int row = tile_m * S::TILE_M + first_row<S>(thread) + row_of<S>(i);
  const int col = tile_n * S::TILE_N + first_col<S>(thread) + col_of<S>(i);
  if (row < m) store4(c + row * ldc + col, n - col, wide, sum, beta);
}

// A copy of a matrix whose rows start at multiples of 16 bytes.
struct Packing {
  const float* from;
  std::int64_t ld;
  int rows, columns;
  float* to;
  __host__ __device__ int to_ld() const { return (columns + 3) / 4 * 4; }
};

// Copies one or two matrices, a warp for PACK_WORDS x 32 words of a row. Word by word, because a warp's words are then
// neighbours whatever the alignment.
constexpr int PACK_ROWS = 8, PACK_WORDS = 8;
__host__ __device__ int pack_blocks(const Packing& p) {
  return gemm::ceil_div(p.rows, PACK_ROWS) * gemm::ceil_div(p.columns, 32 * PACK_WORDS);
}
__global__ void pack(Packing a, Packing b) {
  const int a_blocks = pack_blocks(a);
  const bool first = static_cast<int>(blockIdx.x) < a_blocks;
  const Packing p = first ? a : b;
  const int block = first ? blockIdx.x : blockIdx.x - a_blocks, across = gemm::ceil_div(p.columns, 32 * PACK_WORDS);
  const int row = block / across * PACK_ROWS + threadIdx.y, col = block % across * 32 * PACK_WORDS + threadIdx.x;
  if (row >= p.rows) return;
  const float* const from = p.from + row * p.ld;
  float* const to = p.to + static_cast<std::int64_t>(row) * p.to_ld();
  float words[PACK_WORDS];
#pragma unroll
  for (int i = 0; i < PACK_WORDS; ++i) words[i] = col + 32 * i < p.columns ? from[col + 32 * i] : 0.0f;
#pragma unroll
  for (int i = 0; i < PACK_WORDS; ++i) {
    if (col + 32 * i < p.to_ld()) to[col + 32 * i] = words[i];
  }
}

// ---- which tile, how many workers, and whether to pack

// Microseconds on an H200, read off while searching, one run each; no committed measurement has them.
struct Costs {
  double round[4];  // [b]: a round of each of an SM's b + 1 blocks
  double tile;      // the rest of a tile: its first loads and its stores
  double scalar;    // how many times as long rounds take that copy word by word
};
template <class S>
constexpr Costs COSTS{};
template <>
constexpr Costs COSTS<Large> = {{3.20, 5.36, 0, 0}, 6.0, 1.11};
template <>
constexpr Costs COSTS<Medium> = {{1.65, 3.00, 0, 0}, 4.0, 1.11};
template <>
constexpr Costs COSTS<Small> = {{1.05, 1.78, 2.45, 3.15}, 3.0, 1.15};
constexpr double LAUNCH = 2.2;        // each kernel
constexpr double PART_BYTES = 3.5e6;  // bytes of parts a microsecond, written or read by all SMs
constexpr double ADD_BYTES = 0.1e6;   // the same, read by one block
constexpr double PACK_BYTES = 2.5e6;  // bytes of a matrix a microsecond, read and written

enum class Tile { any, large, medium, small };

struct Choice {
  Plan plan;
  Tile tile;
  bool packed;
  double time;  // estimated, microseconds
};
constexpr double IMPOSSIBLE = 1e300;
constexpr int TICKETS = 4096;

// Which operands must be copied to be read 16 bytes at a time.
bool aligned(const float* x, std::int64_t ld) {
  return reinterpret_cast<std::uintptr_t>(x) % 16 == 0 && ld % 4 == 0;
}
bool pack_a(const gemm::SgemmProblem& p) {
  return !aligned(p.a, p.lda);
}
bool pack_b(const gemm::SgemmProblem& p) {
  return !aligned(p.b, p.ldb) || p.n % 4 != 0;
}
std::size_t packed_words(int rows, int columns) {
  return static_cast<std::size_t>(rows) * ((columns + 3) / 4 * 4);
}

// Writing the parts of shared tiles, and adding them up, by the second kernel or by the last worker of a tile.
template <class S>
double adding(const Plan& plan, bool reduced) {
  constexpr double BYTES = 1.0 * S::TILE_M * S::TILE_N * sizeof(float);
  const double parts = std::min(2.0 * plan.workers, plan.workers + 1.0 * plan.shared) * BYTES;
  const double of_a_tile = (plan.workers + plan.shared - 1) / plan.shared * BYTES;
  return parts / PART_BYTES + (reduced ? LAUNCH + parts / PART_BYTES : of_a_tile / ADD_BYTES);
}

template <class S>
Plan share(const gemm::SgemmProblem& p, int whole, int workers) {  // `whole` tiles have a block of their own
  Plan plan{gemm::ceil_div(p.m, S::TILE_M), gemm::ceil_div(p.n, S::TILE_N), gemm::ceil_div(p.depth(), S::TILE_K)};
  const std::int64_t shared = static_cast<std::int64_t>(plan.tiles_m) * plan.tiles_n - whole;
  const std::int64_t rounds = shared * plan.rounds;
  plan.workers = static_cast<int>(std::min<std::int64_t>(workers, rounds));
  if (plan.workers == 0) return plan;
  if (rounds >= 1ll << 31) return share<S>(p, static_cast<int>(shared + whole), 0);  // they are counted in 32 bits
  plan.shared = static_cast<int>(shared);
  plan.each = static_cast<int>(rounds / plan.workers);
  plan.extra = static_cast<int>(rounds % plan.workers);
  plan.reduced = plan.shared > TICKETS || adding<S>(plan, true) < adding<S>(plan, false);
  return plan;
}

template <class S>
double estimate(const Plan& plan, int sms, double slower) {
  constexpr Costs costs = COSTS<S>;
  const int whole = plan.tiles_m * plan.tiles_n - plan.shared, places = sms * S::BLOCKS;
  const auto wave = [&](int blocks, double rounds) {  // of at most `places` blocks
    return blocks == 0 ? 0.0 : slower * rounds * costs.round[(blocks - 1) / sms] + costs.tile;
  };
  double time = LAUNCH + whole / places * wave(places, plan.rounds) + wave(whole % places, plan.rounds);
  if (plan.workers > 0) {
    time += wave(plan.workers, plan.each + (plan.extra > 0)) + adding<S>(plan, plan.reduced);
  }
  return time;
}

// Offers the plans that a tile has for a problem: none shared; what is left after whole waves of blocks, or that and
// one wave more, shared by as many workers as the GPU has places. If there are fewer tiles than places, also: all
// shared by fewer blocks of each SM, or by the same number of blocks for every tile.
template <class S>
void consider(const gemm::SgemmProblem& p, Tile tile, bool packed, double slower, double before, Choice& best) {
  const gemm::DeviceLimits limits = gemm::device_limits();
  if (S::SHARED_BYTES > static_cast<unsigned>(limits.shared_bytes_per_block)) return;
  const int sms = std::max(limits.multiprocessors, 1), places = sms * S::BLOCKS;
  const std::int64_t tiles = static_cast<std::int64_t>(gemm::ceil_div(p.m, S::TILE_M)) * gemm::ceil_div(p.n, S::TILE_N);
  const auto offer = [&](std::int64_t whole, int workers) {
    const Plan plan = share<S>(p, static_cast<int>(whole), workers);
    const double time = before + estimate<S>(plan, sms, slower);
    if (time < best.time) best = {plan, tile, packed, time};
  };
  offer(tiles, 0);
  if (p.depth() == 0 || tiles == 0) return;
  for (int waves = 0; waves <= 1 && tiles / places >= waves; ++waves) offer((tiles / places - waves) * places, places);
  if (tiles >= places) return;
  for (int blocks = 1; blocks < S::BLOCKS; ++blocks) offer(0, blocks * sms);
  for (int split = 2; split * tiles <= places; ++split)
    offer(0, static_cast<int>(split * tiles));  // each tile by as many
}

Choice choose(const gemm::SgemmProblem& p, Tile tile, bool always_pack) {
  const bool a = pack_a(p), b = pack_b(p), vector = !a && !b;
  Choice best{{}, Tile::large, false, IMPOSSIBLE};
  for (const bool packed : {false, true}) {
    if (packed ? vector : always_pack && !vector) continue;
    const double bytes = 4.0 * (a * packed_words(p.m, p.depth()) + b * packed_words(p.depth(), p.n));
    const double before = packed ? LAUNCH + 2 * bytes / PACK_BYTES : 0.0;
    const auto slower = [&](const Costs& costs) { return vector || packed ? 1.0 : costs.scalar; };
    if (tile == Tile::any || tile == Tile::large)
      consider<Large>(p, Tile::large, packed, slower(COSTS<Large>), before, best);
    if (tile == Tile::any || tile == Tile::medium)
      consider<Medium>(p, Tile::medium, packed, slower(COSTS<Medium>), before, best);
    if (tile == Tile::any || tile == Tile::small)
      consider<Small>(p, Tile::small, packed, slower(COSTS<Small>), before, best);
  }
  return best;
}

// The workspace: a ticket for each shared tile, 0 before and after a launch; then the parts, two a worker, and never more
// workers than places; then packed operands.
std::size_t part_words() {
  return 2 * static_cast<std::size_t>(gemm::device_limits().multiprocessors) * Large::BLOCKS * Large::TILE_M *
         Large::TILE_N;
}
static_assert(Small::BLOCKS * Small::TILE_M * Small::TILE_N <= Large::BLOCKS * Large::TILE_M * Large::TILE_N);

template <class S>
gemm::Status launch(const gemm::SgemmProblem& p, const Choice& choice, cudaStream_t stream) {
  const Plan& plan = choice.plan;
  unsigned* const tickets = reinterpret_cast<unsigned*>(p.workspace);
  float4* const parts = reinterpret_cast<float4*>(p.workspace + TICKETS);
  const bool vector = choice.packed || (!pack_a(p) && !pack_b(p)), wide = aligned(p.c, p.ldc);
  const auto kernel = vector ? plan.workers > 0 ? sgemm<S, true, true> : sgemm<S, true, false> : sgemm<S, false, true>;
  const unsigned blocks = plan.workers + plan.tiles_m * plan.tiles_n - plan.shared;
  const gemm::Status status =
      gemm::launch(kernel, {.grid = blocks, .block = S::THREADS, .dynamic_shared = S::SHARED_BYTES, .stream = stream},
                   p.m, p.n, p.depth(), p.alpha, p.a, static_cast<unsigned>(p.lda), p.b, static_cast<unsigned>(p.ldb),
                   p.beta, p.c, p.ldc, plan, wide, parts, tickets);
  if (!status || plan.workers == 0 || !plan.reduced) return status;
  unsigned height = 1;  // for about four parts a thread
  while (height < 16 && height * 4 * plan.shared < static_cast<unsigned>(plan.workers)) height *= 2;
  return gemm::launch(reduce<S>,
                      {.grid = static_cast<unsigned>(plan.shared) * (S::TILE_M * S::TILE_N / 4 / WIDTH),
                       .block = {WIDTH, height},
                       .stream = stream},
                      p.m, p.n, p.beta, p.c, p.ldc, plan, wide, parts);
}

gemm::Status launch_chosen(gemm::SgemmProblem p, const Choice& choice, cudaStream_t stream) {
  if (choice.packed) {
    float* to = p.workspace + TICKETS + part_words();
    Packing a{p.a, p.lda, pack_a(p) ? p.m : 0, p.depth(), to};
    to += packed_words(p.m, p.depth());
    Packing b{p.b, p.ldb, pack_b(p) ? p.depth() : 0, p.n, to};
    const unsigned blocks = pack_blocks(a) + pack_blocks(b);
    const gemm::Status status = gemm::launch(pack, {.grid = blocks, .block = {32, PACK_ROWS}, .stream = stream}, a, b);
    if (!status) return status;
    if (a.rows > 0) p.a = a.to, p.lda = a.to_ld();
    if (b.rows > 0) p.b = b.to, p.ldb = b.to_ld();
  }
  if (choice.tile == Tile::large) return launch<Large>(p, choice, stream);
  return choice.tile == Tile::medium ? launch<Medium>(p, choice, stream) : launch<Small>(p, choice, stream);
}

template <Tile TILE, bool ALWAYS_PACK = false>
gemm::Status launch(const gemm::SgemmProblem& p, cudaStream_t stream) {
  if (p.m == 0 || p.n == 0) return gemm::Status::ok();
  if (std::max(p.lda, p.ldb) >= 1 << 30) return gemm::Status::unsupported("a leading dimension of 2^30 or more");
  const Choice choice = choose(p, TILE, ALWAYS_PACK);
  if (choice.time == IMPOSSIBLE) return gemm::Status::unsupported("no tile fits this GPU's shared memory");
  return launch_chosen(p, choice, stream);
}

std::size_t workspace_floats(const gemm::SgemmProblem& p) {
  return TICKETS + part_words() + packed_words(p.m, p.depth()) + packed_words(p.depth(), p.n);
}

// Of four steps of a warp: ROWS float4s of A and COLS of B, two cycles each, for 4 * ROWS * COLS FMAs.
template <class S>
gemm::L1Cycles cycles() {
  return {.shared = 2.0 * (S::ROWS + S::COLS) / (4 * S::ROWS * S::COLS)};
}
template <Tile TILE, bool ALWAYS_PACK = false>
gemm::L1Cycles l1_cycles(const gemm::SgemmProblem& p) {
  const Tile tile = choose(p, TILE, ALWAYS_PACK).tile;
  return tile == Tile::large ? cycles<Large>() : tile == Tile::medium ? cycles<Medium>() : cycles<Small>();
}

constexpr gemm::Variant variants[] = {
    {"large", "tiles of 128 x 128 only", launch<Tile::large>, l1_cycles<Tile::large>},
    {"medium", "tiles of 64 x 128 only", launch<Tile::medium>, l1_cycles<Tile::medium>},
    {"small", "tiles of 64 x 64 only", launch<Tile::small>, l1_cycles<Tile::small>},
    {"packed", "misaligned operands always copied first", launch<Tile::any, true>, l1_cycles<Tile::any, true>},
};

constexpr gemm::StageInfo info = {
    .idea = "three sizes of tile, in bands, remainders shared between blocks; a model chooses",
    .l1_cycles = l1_cycles<Tile::any>,
    .min_compute_capability = 80,
    .launch = launch<Tile::any>,
    .workspace_floats = workspace_floats,
    .workspace_zeros = TICKETS,
    .variants = variants,
};
const gemm::Registration registration{__FILE__, info};

}  // namespace
