// 18 summit: no rung, but a small library of the ladder's parts for any shape. It has 17c's loop for five sizes of
// tile, packed operands or not, and 17b's shared rounds. A small cost model chooses the tile, the way and the sharing.
//
// Idea      No one kernel is best. Large tiles need fewer words per FMA; small tiles fill 132 SMs with a 512 x 512
//           product; packing pays if each word is used often enough; tiles that do not fill a last complete wave are
//           divided among all blocks.
// Base      17c_packed_panels
// Change    First of a kind. choose() estimates each candidate's time from a few measured constants, and takes the
//           least. Nothing else depends on the shape, and no shape is named. Unpacked, A is transposed while it goes
//           through registers. Two slices of k share the medium tile, four the slim one, so that an SM with one block
//           has enough warps. The last worker of a tile adds up.
// Limit     As 17c: issue slots, and about three of them per LDS.128. Small sizes: launch, first loads, adding up.
// Number    The ratio to cuBLAS over all shapes, listed and random: docs page.
// Map       Large: 4 warps of 64 x 64, 8 x 16 outputs per thread; medium: 2 times 4 of 32 x 64, 8 x 8; tall: 4 of
//           64 x 32, 8 x 8; small: 4 of 32 x 32, 8 x 4; slim: 4 times 4 of 16 x 32, 4 x 4.
// Page      docs/stages/18_summit.md
// Source    Osama et al., "Stream-K", PPoPP 2023 (shares); CUTLASS, "Efficient GEMM in CUDA" (pipelines, slices).
#include "common/kernel/ptx.cuh"
#include "common/kernel/schedule.cuh"
#include "common/kernel/vector.cuh"
#include "common/stage.cuh"
#include "stages/summit/finish.cuh"
#include "stages/summit/launch.cuh"
#include "stages/summit/layout.cuh"
#include "stages/summit/operands.cuh"
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
  using In = Operands<S, WAY>;
  constexpr int TILE_M = S::TILE_M, TILE_N = S::TILE_N, TILE_K = S::TILE_K, ROW = S::ROW, TILE = S::TILE;
  constexpr int ROWS = S::ROWS, COLS = S::COLS, THREADS = S::THREADS, STEPS = In::STEPS, CUT = COLS / 2;
  int thread = threadIdx.x;
  const int warp = thread / 32, lane = thread % 32;
  const int a_k = warp % S::SLICES * STEPS + lane % In::A_ACROSS * In::RUN;
  const int a_row = warp / S::SLICES * (32 / In::A_ACROSS) + lane / In::A_ACROSS;
  for (int part = 0;; ++part) {
    int tile, first, end, tile_m, tile_n;
    if (!plan.segment<SHARED>(blockIdx.x, part, tile, first, end) && part > 0) break;
    if (part > 0) __syncthreads();  // all threads have finished reading the last tile's words
    plan.place(tile, tile_m, tile_n);
    const int tile_row = tile_m * TILE_M, tile_col = tile_n * TILE_N, k_begin = first * TILE_K;
    int left = min(k, end * TILE_K) - k_begin, uncopied = left;  // steps from the next batch or copies to the end

    // Where the thread's words lie. Copies repeat B's last columns outside B: what they give is not stored.
    const int a_col = thread % In::A_FOURS * 4, b_col = thread % In::B_FOURS * 4;
    const int a_step = thread / In::A_FOURS, b_step = thread / In::B_FOURS;
    const float* a_from = a + k_begin + a_k + static_cast<std::size_t>(tile_row) * lda;
    const float* b_from = b + tile_col + lane + static_cast<std::size_t>(k_begin) * ldb;
    if (WAY == Way::packed) a_from = a + (static_cast<std::size_t>(tile_m) * k + k_begin + a_step) * TILE_M + a_col;
    if (WAY != Way::words)
      b_from = b + tile_n * b_panel + min(b_col, n - 1 - tile_col) / 4 * 4 +
               static_cast<std::size_t>(k_begin + b_step) * ldb;
    int row[In::A_LOADS + 1];
    bool inside[In::B_ACROSS];
    Loads<S, WAY> loads{left, a_from, row, lda, b_from, warp, ldb, inside, a_k};
    loads.stay_inside(m, n, a_row, lane, tile_row, tile_col);
    Copies<S, WAY> copies{a_step, a_col, b_step, b_col, uncopied, a_from, b_from, ldb, a, b};

    // The first tile of A and B, and the first batch of the second.
    float* const a_to = smem + S::place(a_k) + (a_row ^ In::swizzle(a_k));
    float* const b_to = smem + S::place(warp) + lane + TILE_M;
    typename In::Batch batch{};
    if (WAY != Way::words) copies.copy(0);
    if constexpr (WAY != Way::packed) {
      typename In::Batch batches[TILE_K / In::BATCH] = {};
#pragma unroll
      for (auto& each : batches) loads.load(each);
      loads.load(batch);
#pragma unroll
      for (int i = 0; i < TILE_K / In::BATCH; ++i)
        loads.store(batches[i], a_to + i * STEPS * ROW, b_to + i * STEPS * ROW, 0, 1);
    }
    for (int i = thread; i < S::SLICES * ROW; i += THREADS) smem[i / ROW * S::SLICE + 2 * TILE + i % ROW] = 0.0f;
    gemm::ptx::cp_async_wait<0>();
    __syncthreads();

    float sum[ROWS][COLS] = {};
    alignas(16) float x[2][ROWS], y[2][COLS];  // of a step of k, and of the next
    const float* const slice = smem + thread / (32 * S::WARPS) * S::SLICE;
    const float *const a_lane = slice + sums_row<S>(thread), *const b_lane = slice + TILE_M + first_col<S>(thread);
    const auto multiply = [&](int u, int from, int to) { gemm::add_products(sum, x[u % 2], y[u % 2], from, to); };

    // 17c's loop. A batch that has been in flight for most of a turn is stored, and the next one loaded. Turns are long
    // then, so the last of a round is not written out on its own: the loop would outgrow the instruction cache.
    int rounds = end - first, free = 0;  // k-tiles to read; the one that is filled: 1, 0, 1, ...
    int at = rounds > 0 ? 0 : 2 * TILE;  // the tile being read, or the zeros behind it all
    const float *a_at = a_lane + at, *b_at = b_lane + at;
    read_step<S, WAY>(x[0], y[0], 0, a_at, b_at, thread);
    multiply(0, 0, CUT);
    float *a_next = a_to, *b_next = b_to;                             // where the next batch goes
    constexpr int TURN = WAY == Way::packed ? 2 : STEPS, STORES = 2;  // few, so that loads begin early
#pragma unroll 1
    for (; rounds > 0; --rounds) {
      free ^= 1;  // all threads finished reading it before the last barrier
      if (WAY != Way::words) copies.copy(free);
      at = rounds > 1 ? free * TILE : 2 * TILE;
      a_next = a_to + free * TILE, b_next = b_to + free * TILE;
      const auto turn = [&](bool last_of_round) {
#pragma unroll
        for (int u = 0; u < TURN; ++u) {
          a_at += ROW, b_at += ROW;
          if (last_of_round && u == TURN - 1) {
            gemm::ptx::cp_async_wait<0>();
            __syncthreads();  // all copies of the next k-tile have arrived; no thread reads this one now
            a_at = a_lane + at, b_at = b_lane + at;
          }
          read_step<S, WAY>(x[(u + 1) % 2], y[(u + 1) % 2], u + 1, a_at, b_at, thread);
          if (WAY != Way::packed && u < STORES) loads.store(batch, a_next, b_next, u, STORES);
          if (WAY != Way::packed && u == STORES) loads.load(batch);
          multiply(u, CUT, COLS);
          multiply(u + 1, 0, CUT);
        }
        a_next += TURN * ROW, b_next += TURN * ROW;
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

    // The end of the tile. A worker has parts of at most two tiles, at the head and at the end of its rounds.
    find_again(part, thread);
    plan.segment<SHARED>(blockIdx.x, part, tile, first, end);
    bool complete = !SHARED || (first == 0 && end == plan.rounds);
    plan.place(tile, tile_m, tile_n);
    const Outputs<S> outputs{m, n, beta, c, ldc, wide, tile_m, tile_n, thread};
    float4* const to = parts + gemm::part_at(blockIdx.x, part > 0) * PART<S> + thread;
    float4 fours[S::SLICES * S::FOURS];
    scale<S>(fours, alpha, sum);
    add_slices<S>(fours, thread, !wide);
    give<S>(fours, complete, outputs, to);
    // The last worker to get here adds up the parts of all, in the order of k: the result is the same from run to run.
    if (SHARED && !complete && !plan.reduced) {
      const Workers workers(plan, tile);
      __threadfence();
      __syncthreads();
      complete = __syncthreads_or(thread == 0 && workers.draw_last(tickets + tile));
      if (complete) {
        __threadfence();
        const float4* const head = workers.head<S>(plan, tile, parts, thread);
#pragma unroll 1
        for (int i = 0; i < S::FOURS; i += AT_ONCE<S>) {
          float4 total[AT_ONCE<S>];
#pragma unroll
          for (int j = 0; j < AT_ONCE<S>; ++j) total[j] = head[(i + j) * THREADS];
#pragma unroll 2
          for (int worker = workers.from + 1; worker <= workers.until; ++worker) {
#pragma unroll
            for (int j = 0; j < AT_ONCE<S>; ++j)
              total[j] = total[j] + parts[gemm::part_at(worker, false) * PART<S> + (i + j) * THREADS + thread];
          }
#pragma unroll
          for (int j = 0; j < AT_ONCE<S>; ++j) outputs.put(i + j, total[j]);
        }
      }
    }
    if (!wide && complete) outputs.copy_rows();
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
