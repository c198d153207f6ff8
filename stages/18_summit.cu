// 18 summit: no rung, but a small library of the ladder's parts for any shape. It has 17c's loop for five sizes of
// tile, packed operands or not, and 17b's shared rounds. A small cost model chooses the tile, the way and the sharing.
//
// Idea      No one kernel is best. Large tiles need fewer words per FMA; small tiles fill 132 SMs with a 512 x 512
//           product; packing pays if each word is used often enough; tiles that do not fill a last complete wave are
//           divided among all blocks.
// Base      17c_packed_panels
// Change    First of a kind. choose() estimates each candidate's time from a few measured constants, and takes the
//           least. Nothing else depends on the shape, and no shape is named. Unpacked, A is transposed while it goes through registers. Two
//           slices of k share the medium tile, four the slim one, so that an SM with one block has enough warps. The
//           last worker of a tile adds up.
// Limit     As 17c: issue slots, and about three of them per LDS.128. At small sizes: launch, first loads, adding
//           up.
// Number    The ratio to cuBLAS over all shapes, listed and random: docs page.
// Map       Large: 4 warps of 64 x 64, 8 x 16 outputs per thread; medium: 2 times 4 of 32 x 64, 8 x 8; tall: 4 of
//           64 x 32, 8 x 8; small: 4 of 32 x 32, 8 x 4; slim: 4 times 4 of 16 x 32, 4 x 4.
// Page      docs/stages/18_summit.md
// Source    Osama et al., "Stream-K", PPoPP 2023 (sharing rounds); CUTLASS, "Efficient GEMM in CUDA" (pipelines,
//           slices).
#include <type_traits>

#include "common/kernel/ptx.cuh"
#include "common/kernel/schedule.cuh"
#include "common/kernel/vector.cuh"
#include "common/stage.cuh"
#include "stages/summit/launch.cuh"
#include "stages/summit/layout.cuh"
#include "stages/summit/plan.cuh"
#include "stages/summit/shape.cuh"

namespace gemm::summit {

// b_panel: words from the columns of B of one column of tiles to those of the next. SHARED: some blocks are workers;
// without them the kernel has no loop over tiles.
template <class S, Way WAY, bool SHARED>
__global__ void __launch_bounds__(S::THREADS, S::BLOCKS)
    sgemm(int m, int n, int k, float alpha, const float* __restrict__ a, unsigned lda, const float* __restrict__ b,
          unsigned ldb, std::int64_t b_panel, float beta, float* __restrict__ c, std::int64_t ldc, Plan plan, bool wide,
          float4* parts, unsigned* tickets) {
  constexpr int TILE_M = S::TILE_M, TILE_N = S::TILE_N, TILE_K = S::TILE_K, ROW = S::ROW, TILE = S::TILE;
  constexpr int ROWS = S::ROWS, COLS = S::COLS, THREADS = S::THREADS,
                STEPS = WAY == Way::words && S::SLICES == 1 ? 8 : S::STEPS, BATCH = STEPS * S::SLICES, CUT = COLS / 2;
  int thread = threadIdx.x;

  // Through registers, a warp takes STEPS steps of A at a time, RUN of them a lane; of B, 32 words of a step.
  constexpr int RUN = WAY == Way::words && STEPS == 8 ? 2 : 4,
                A_ACROSS = STEPS / RUN;             // lanes side by side in a row of A
  constexpr int A_STEP = S::WARPS * 32 / A_ACROSS;  // rows of A at a time
  constexpr int A_LOADS = WAY == Way::packed ? 0 : TILE_M / A_STEP;
  static_assert(TILE_M % A_STEP == 0 && (S::SLICES == 1 || STEPS == S::STEPS));  // place() goes by S::STEPS
  constexpr int B_STEP = THREADS / 32, B_ACROSS = TILE_N / 32;                   // steps at a time, and warps' widths
  constexpr int B_LOADS = WAY == Way::words ? BATCH / B_STEP * B_ACROSS : 0;
  const int warp = thread / 32, lane = thread % 32;
  const int a_k = warp % S::SLICES * STEPS + lane % A_ACROSS * RUN;
  const int a_row = warp / S::SLICES * (32 / A_ACROSS) + lane / A_ACROSS;
  // By 16-byte copies, a warp takes 128 words of a step, or 64 of two.
  constexpr int A_FOURS = TILE_M / 4, B_FOURS = TILE_N / 4;
  constexpr int B_STRIDE = THREADS / B_FOURS;
  static_assert(WAY == Way::words || STEPS % B_STRIDE == 0 || (B_STRIDE % STEPS == 0 && TILE_K % B_STRIDE == 0));
  // Lanes with different steps of k would store to the same banks. So A's columns are exchanged: column x of step k
  // lies at x ^ swizzle(k). Padding would not do: a warp's LDS.128 takes longer if its 128 bytes do not begin at a
  // multiple of 128.
  const auto swizzle = [](int k) { return WAY == Way::packed ? 0 : k / RUN % A_ACROSS * (32 / A_ACROSS); };

  for (int part = 0;; ++part) {
    int tile, first, end, tile_m, tile_n;
    if (!plan.segment<SHARED>(blockIdx.x, part, tile, first, end) && part > 0) break;
    if (part > 0) __syncthreads();  // all threads have finished reading the last tile's words
    plan.place(tile, tile_m, tile_n);
    const int tile_row = tile_m * TILE_M, tile_col = tile_n * TILE_N, k_begin = first * TILE_K;
    int left = min(k, end * TILE_K) - k_begin;  // steps from the next batch to the end
    int uncopied = left;                        // from the next 16-byte copies

    // Rows outside A repeat its last ones, and columns outside B; or they are not loaded: what they give is not stored.
    const int a_col = thread % A_FOURS * 4, b_col = thread % B_FOURS * 4, a_step = thread / A_FOURS,
              b_step = thread / B_FOURS;
    const float* a_from = a + k_begin + a_k + static_cast<std::size_t>(tile_row) * lda;
    const float* b_from = b + tile_col + lane + static_cast<std::size_t>(k_begin) * ldb;
    if (WAY == Way::packed) a_from = a + (static_cast<std::size_t>(tile_m) * k + k_begin + a_step) * TILE_M + a_col;
    if (WAY != Way::words) {
      const int col = min(b_col, n - 1 - tile_col) / 4 * 4;
      b_from = b + tile_n * b_panel + col + static_cast<std::size_t>(k_begin + b_step) * ldb;
    }
    int row[A_LOADS + 1];
    bool inside[B_ACROSS];
#pragma unroll
    for (int i = 0; i < A_LOADS; ++i) row[i] = min(a_row + i * A_STEP, m - 1 - tile_row);
#pragma unroll
    for (int i = 0; i < B_ACROSS; ++i) inside[i] = tile_col + lane + 32 * i < n;
    struct Batch {
      alignas(16) float a[A_LOADS + 1][RUN];
      float b[B_LOADS + 1];
    };
    const auto b_address = [&](int i) {
      return gemm::ptx::row_address(b_from, warp + i / B_ACROSS * B_STEP, 4 * ldb) + i % B_ACROSS * 32;
    };
    const auto load = [&](Batch& batch) {
      if (left >= BATCH) {
#pragma unroll
        for (int i = 0; i < A_LOADS; ++i) {
          const float* from = gemm::ptx::row_address(a_from, row[i], 4 * lda);
          if constexpr (WAY == Way::fours) {
            *reinterpret_cast<float4*>(batch.a[i]) = __ldg(reinterpret_cast<const float4*>(from));
          } else {
#pragma unroll
            for (int j = 0; j < RUN; ++j) batch.a[i][j] = __ldg(from + j);
          }
        }
#pragma unroll
        for (int i = 0; i < B_LOADS; i += B_ACROSS) {
          const float* const from = b_address(i);
#pragma unroll
          for (int j = 0; j < B_ACROSS; ++j) {
            if (inside[j]) batch.b[i + j] = __ldg(from + 32 * j);
          }
        }
      } else {  // the end of k: zeros behind it
#pragma unroll
        for (int i = 0; i < A_LOADS; ++i) {
          const float* from = gemm::ptx::row_address(a_from, row[i], 4 * lda);
#pragma unroll
          for (int j = 0; j < RUN; ++j) batch.a[i][j] = a_k + j < left ? __ldg(from + j) : 0.0f;
        }
#pragma unroll
        for (int i = 0; i < B_LOADS; ++i)
          batch.b[i] = inside[i % B_ACROSS] && warp + i / B_ACROSS * B_STEP < left ? __ldg(b_address(i)) : 0.0f;
      }
      a_from += BATCH;
      if (WAY == Way::words) b_from += static_cast<std::size_t>(ldb) * BATCH;
      left -= BATCH;
    };
    const auto store = [&](const Batch& batch, float* a_to, float* b_to, int i, int parts) {  // part i of `parts`
#pragma unroll
      for (int j = 0; j < A_LOADS * RUN; ++j) {
        if (i * A_LOADS * RUN <= j * parts && j * parts < (i + 1) * A_LOADS * RUN)
          a_to[j % RUN * ROW + j / RUN * A_STEP] = batch.a[j / RUN][j % RUN];
      }
#pragma unroll
      for (int j = 0; j < B_LOADS; ++j) {
        if (i * B_LOADS <= j * parts && j * parts < (i + 1) * B_LOADS)
          b_to[S::place(j / B_ACROSS * B_STEP) + j % B_ACROSS * 32] = batch.b[j];
      }
    };
    const auto copy = [&](int buffer) {
      float* const a_copy = smem + buffer * TILE + a_step * ROW + a_col;
      float* const b_copy = smem + buffer * TILE + S::place(b_step) + b_col + TILE_M;
      if (uncopied >= TILE_K) {
        if (WAY == Way::packed) {
#pragma unroll
          for (int i = 0; i < TILE_K; i += THREADS / A_FOURS)
            gemm::ptx::cp_async_cg(a_copy + S::place(i), a_from + i * TILE_M, 16);
        }
#pragma unroll
        for (int i = 0; i < TILE_K; i += THREADS / B_FOURS)
          gemm::ptx::cp_async_cg(b_copy + S::place(i), b_from + static_cast<std::size_t>(ldb) * i, 16);
      } else if (uncopied > 0) {  // the end of k
        if (WAY == Way::packed) {
#pragma unroll 1
          for (int i = 0; i < TILE_K; i += THREADS / A_FOURS) {
            const bool inside = a_step + i < uncopied;
            gemm::ptx::cp_async_cg(a_copy + S::place(i), inside ? a_from + i * TILE_M : a, inside ? 16 : 0);
          }
        }
#pragma unroll 1
        for (int i = 0; i < TILE_K; i += THREADS / B_FOURS) {
          const bool inside = b_step + i < uncopied;
          gemm::ptx::cp_async_cg(b_copy + S::place(i), inside ? b_from + static_cast<std::size_t>(ldb) * i : b,
                                 inside ? 16 : 0);
        }
      }
      gemm::ptx::cp_async_commit();
      if (WAY == Way::packed) a_from += TILE_K * TILE_M;
      b_from += static_cast<std::size_t>(ldb) * TILE_K;
      uncopied -= TILE_K;
    };

    // The first tile of A and B, and the first batch of the second.
    float* const a_to = smem + S::place(a_k) + (a_row ^ swizzle(a_k));
    float* const b_to = smem + S::place(warp) + lane + TILE_M;
    Batch batch{};
    if (WAY != Way::words) copy(0);
    if constexpr (WAY != Way::packed) {
      Batch batches[TILE_K / BATCH] = {};
#pragma unroll
      for (Batch& each : batches) load(each);
      load(batch);
#pragma unroll
      for (int i = 0; i < TILE_K / BATCH; ++i) store(batches[i], a_to + i * STEPS * ROW, b_to + i * STEPS * ROW, 0, 1);
    }
    for (int i = thread; i < S::SLICES * ROW; i += THREADS) smem[i / ROW * S::SLICE + 2 * TILE + i % ROW] = 0.0f;
    gemm::ptx::cp_async_wait<0>();
    __syncthreads();

    float sum[ROWS][COLS] = {};
    alignas(16) float x[2][ROWS], y[2][COLS];  // of a step of k, and of the next
    const float* const slice = smem + thread / (32 * S::WARPS) * S::SLICE;
    const float *const a_lane = slice + sums_row<S>(thread), *const b_lane = slice + TILE_M + first_col<S>(thread);
    const auto read = [&](int step, const float* a_at, const float* b_at) {
      // The XOR of the lane's own column is computed once at run time, that of a float4's position by the compiler.
      constexpr int LANES = S::WARP_M < 32 ? 31 : 4 * S::LANES_M - 1;
      const int exchanged = swizzle(step), own = sums_row<S>(thread), there = (own ^ (exchanged & LANES)) - own;
#pragma unroll
      for (int r = 0; r < ROWS; r += 4)
        *reinterpret_cast<float4*>(&x[step % 2][r]) =
            *reinterpret_cast<const float4*>(a_at + there + (r * S::LANES_M ^ (exchanged & ~LANES)));
      gemm::read_fours<4 * S::LANES_N>(y[step % 2], b_at);
    };
    const auto multiply = [&](int u, int from, int to) { gemm::add_products(sum, x[u % 2], y[u % 2], from, to); };

    // 17c's loop. A batch that has been in flight for most of a turn is stored, and the next one loaded. Where that
    // makes turns long, the last of a round is not written out on its own: the loop would outgrow the instruction
    // cache.
    int rounds = end - first, free = 0;  // k-tiles to read; the one that is filled: 1, 0, 1, ...
    int at = rounds > 0 ? 0 : 2 * TILE;  // the tile being read, or the zeros behind it all
    const float *a_at = a_lane + at, *b_at = b_lane + at;
    read(0, a_at, b_at);
    multiply(0, 0, CUT);
    float *a_next = a_to, *b_next = b_to;                             // where the next batch goes
    constexpr int TURN = WAY == Way::packed ? 2 : STEPS, STORES = 2;  // few, so that loads begin early
#pragma unroll 1
    for (; rounds > 0; --rounds) {
      free ^= 1;  // all threads finished reading it before the last barrier
      if (WAY != Way::words) copy(free);
      at = rounds > 1 ? free * TILE : 2 * TILE;
      a_next = a_to + free * TILE;
      b_next = b_to + free * TILE;
      const auto turn = [&](bool last_of_round) {
#pragma unroll
        for (int u = 0; u < TURN; ++u) {
          a_at += ROW;
          b_at += ROW;
          if (last_of_round && u == TURN - 1) {
            gemm::ptx::cp_async_wait<0>();
            __syncthreads();  // all copies of the next k-tile have arrived; no thread reads this one now
            a_at = a_lane + at;
            b_at = b_lane + at;
          }
          read(u + 1, a_at, b_at);
          if (WAY != Way::packed && u < STORES) store(batch, a_next, b_next, u, STORES);
          if (WAY != Way::packed && u == STORES) load(batch);
          multiply(u, CUT, COLS);
          multiply(u + 1, 0, CUT);
        }
        a_next += TURN * ROW;
        b_next += TURN * ROW;
      };
      if constexpr (WAY == Way::packed) {
#pragma unroll 1
        for (int steps = TURN; steps < S::SLICE_K; steps += TURN) turn(false);
        turn(true);
      } else {
#pragma unroll 1
        for (int steps = TURN; steps <= S::SLICE_K; steps += TURN) turn(steps == S::SLICE_K);
      }
    }

    // A complete tile goes to C; where C's rows are misaligned, through shared memory, from which a warp can store
    // words that are neighbours. A part goes to the workspace, in an order that suits the threads; a worker has at most
    // two, at the head and at the end of its rounds. All of this is found out again, so that no registers hold it
    // meanwhile.
#ifdef __CUDACC__
    asm volatile("" : "+r"(part));
    asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
#endif
    plan.segment<SHARED>(blockIdx.x, part, tile, first, end);
    bool complete = !SHARED || (first == 0 && end == plan.rounds);
    plan.place(tile, tile_m, tile_n);
    const int row0 = tile_m * TILE_M + first_row<S>(thread), col0 = tile_n * TILE_N + first_col<S>(thread);
    float4* const to = parts + gemm::part_at(blockIdx.x, part > 0) * PART<S> + thread;
    const auto put = [&](int row, int col, float4 four) {  // to C, or nearer
      if (wide) {
        if (row0 + row < m) gemm::store_scaled4(c + (row0 + row) * ldc + col0 + col, n - col0 - col, wide, four, beta);
      } else {
        *reinterpret_cast<float4*>(smem + (first_row<S>(thread) + row) * S::C_ROW + first_col<S>(thread) + col) = four;
      }
    };
    // Scaled at once in all cases. A sum stored as it is would have to lie in four registers in a row with its
    // neighbours, and then one FFMA in 30 would read its three words from one register bank.
    float4 fours[S::SLICES * S::FOURS];
#pragma unroll
    for (int i = 0; i < S::SLICES * S::FOURS; ++i) {
      const int r = i / (COLS / 4), g = i % (COLS / 4) * 4;
      fours[i] = gemm::scaled4(alpha, &sum[r][g]);
    }
    if (S::SLICES == 1 && !wide) __syncthreads();  // nobody reads zeros any more
    // Two slices at a time: each gets the other's sums for one half of the rows, and keeps that half.
    float4* const exchange = reinterpret_cast<float4*>(smem);
    const auto halve = [&](auto slices) {  // two halves of `slices` slices
      constexpr int SLICES = decltype(slices)::value, KEPT = SLICES * S::FOURS;
      const int partner = thread ^ (SLICES * 32 * S::WARPS);
      const bool upper = thread > partner;
#pragma unroll
      for (int i = 0; i < KEPT; ++i) {
        const float4 low = fours[i], high = fours[KEPT + i];
        exchange[i * THREADS + thread] = upper ? low : high;
        fours[i] = upper ? high : low;
      }
      __syncthreads();
#pragma unroll
      for (int i = 0; i < KEPT; ++i) fours[i] = fours[i] + exchange[i * THREADS + partner];
      if (SLICES > 1 || !wide) __syncthreads();
    };
    static_assert(S::SLICES == 1 || S::SLICES == 2 || S::SLICES == 4);
    if constexpr (S::SLICES == 4) halve(std::integral_constant<int, 2>{});
    if constexpr (S::SLICES >= 2) halve(std::integral_constant<int, 1>{});
#pragma unroll
    for (int i = 0; i < S::FOURS; ++i) {
      if (complete) {
        put(row_of<S>(i), col_of<S>(i), fours[i]);
      } else {
        to[i * THREADS] = fours[i];
      }
    }
    if (SHARED && !complete && !plan.reduced) {
      // The last to get here adds up the parts of all, in the order of k: the result is the same from run to run.
      const int from = plan.shares().worker_of(tile * plan.rounds),
                until = plan.shares().worker_of((tile + 1) * plan.rounds - 1);
      __threadfence();
      __syncthreads();
      complete =
          __syncthreads_or(thread == 0 && static_cast<int>(atomicInc(tickets + tile, until - from)) == until - from);
      if (complete) {
        __threadfence();
        // Only the first of them can have come from another tile.
        const float4* const head =
            parts + gemm::part_at(from, plan.shares().begin(from) < tile * plan.rounds) * PART<S> + thread;
        constexpr int AT_ONCE = S::FOURS < 4 ? S::FOURS : S::FOURS < 16 ? 4 : 8;  // as registers allow
#pragma unroll 1
        for (int i = 0; i < S::FOURS; i += AT_ONCE) {
          float4 total[AT_ONCE];
#pragma unroll
          for (int j = 0; j < AT_ONCE; ++j) total[j] = head[(i + j) * THREADS];
#pragma unroll 2
          for (int worker = from + 1; worker <= until; ++worker) {
#pragma unroll
            for (int j = 0; j < AT_ONCE; ++j)
              total[j] = total[j] + parts[gemm::part_at(worker, false) * PART<S> + (i + j) * THREADS + thread];
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
          if (col >= n - tile_n * TILE_N) break;
          const float word = smem[row * S::C_ROW + col];
          to_row[col] = beta == 0.0f ? word : word + beta * to_row[col];
        }
      }
    }
    if (!SHARED) break;
  }
}

}  // namespace gemm::summit

namespace {

using namespace gemm::summit;

constexpr gemm::Variant variants[] = {
    {"large", "tiles of 128 x 128 only", launch<Tile::large>, l1_cycles<Tile::large>},
    {"medium", "tiles of 64 x 128 only", launch<Tile::medium>, l1_cycles<Tile::medium>},
    {"tall", "tiles of 128 x 64 only", launch<Tile::tall>, l1_cycles<Tile::tall>},
    {"small", "tiles of 64 x 64 only", launch<Tile::small>, l1_cycles<Tile::small>},
    {"slim", "tiles of 32 x 64 only", launch<Tile::slim>, l1_cycles<Tile::slim>},
    {"packed", "A always transposed first", launch<Tile::any, true>, l1_cycles<Tile::any, true>},
};

constexpr gemm::StageInfo info = {
    .idea = "five sizes of tile, in bands, remainders shared between blocks; a model chooses",
    .base = "17c",
    .l1_cycles = l1_cycles<Tile::any>,
    .min_compute_capability = 80,
    .launch = launch<Tile::any>,
    .workspace_bytes = [](const gemm::Problem& p) { return workspace_bytes(p); },
    .workspace_zeros = TICKETS * sizeof(float),
    .variants = variants,
};
const gemm::Registration registration{__FILE__, info};

}  // namespace
