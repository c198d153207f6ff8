// 13 TSMM pipeline: the pipeline of 10 for B = A C. Rows of A come to shared memory stages ahead, where C lies already.
//
// Idea      Words in flight take no registers here, either. So a thread can have 8 rows and 8 columns of B, or 4 and 4
//           of complex numbers: 64 FMAs for 16 words from shared memory. A row of A belongs to one warp, so each warp
//           has stages of its own and waits for no other warp.
// Base      12_tsmm_generated
// Change    First of a kind, with parts in tsm/generated/. cp.async replaces the loads to registers of 12. The loop has
//           little but FMAs and loads: an address is a register plus a constant. Complex: three real products, or four.
// Limit     Narrow C: the bandwidth of reading and writing at once, 3.9 TB/s. Wide C: the FP64 cores, 33 TFLOP/s; what
//           else the loop executes leaves 27 (docs/tsm/probes.md). Three products: 32, counted as four.
// Number    GB/s, TFLOP/s, and both as a share of the roofline.
// Map       A warp's lanes form groups, each with its own rows. In a group of g lanes a lane has every g-th unit of 16
//           bytes of a row; for the rest of the columns see tsm/generated/rest_columns.cuh. Rows of B leave from
//           registers, unaligned ones through shared memory (tile_stores.cuh).
// Page      docs/tsm/13_tsmm_pipeline.md
// Source    ours.
#include "tsm/generated/rest_columns.cuh"
#include "tsm/generated/tile_stores.cuh"
#include "tsm/generated/warp_rows.cuh"

extern __shared__ __align__(16) unsigned char smem[];  // C, its rest, then stages and kept rows of each warp

namespace gemm::generated {

/// B = alpha * A * C + beta * B. A warp has PR rows of B for each of its threads at a time, and takes its turn with all
/// other warps. along_n lanes share a row. products: of real numbers for one of T. chunk: units of a row of A in a
/// stage. rows_a, rows_b: how A and B lie in memory. has_rest: lanes have whole units only.
template <class T, int M, int N, int PR, int along_n, int products, Rows rows_a, Rows rows_b, int threads, int chunk,
          int stages, int resident, bool has_rest = false>
__global__ void __launch_bounds__(threads, resident)
    tsmm_pipeline(std::int64_t k, T alpha, const T* __restrict__ a, std::int64_t lda, const T* __restrict__ c,
                  std::int64_t ldc, T beta, T* __restrict__ b, std::int64_t ldb) {
  using W = WarpTile<T, N, PR, along_n, products, rows_b, has_rest>;
  constexpr int element = sizeof(T), unit = unit_of(M, element), rows = W::rows, TN = W::TN, row_c = W::row_c;
  constexpr StageLayout A = stage_layout(M, element, rows_a, rows, chunk);
  constexpr RestLayout rest = rest_layout(W::rest_columns, rows, unit, element);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  // Lanes that are left over do what others do, but for storing: that is free, a branch is not.
  const int place = smaller(lane, W::places().count - 1), group = W::places().row(place), at_n = W::places().col(place);
  const ptx::SharedAddress shared = ptx::kept_shared_address(smem), y_begin = shared + at_n * 16,
                           rest_begin = shared + M * row_c,
                           mine_begin = rest_begin + A.units * rest.bytes + warp * (stages * A.bytes + W::kept_bytes);

  W::template store_c<M, threads>(smem, c, ldc, alpha);
  if constexpr (has_rest)
    RestColumns<T, rest, unit>::template store_c<M, threads>(smem + M * row_c, c + along_n * TN, ldc, alpha);
  __syncthreads();

  // Rows go round robin to all warps, one of each block first. All rows exist but of the last turn.
  const int first = (warp * static_cast<int>(gridDim.x) + static_cast<int>(blockIdx.x)) * rows,
            step = static_cast<int>(gridDim.x) * (threads / 32 * rows);
  if (first >= k) return;
  WarpStages<T, M, rows_a, rows, chunk> of_a(a, lda, k, first, step, lane);
#pragma unroll 1
  for (int s = 0; s < stages; ++s) of_a.copy_next(mine_begin + s * A.bytes);

  // While a column of x and a row of y are multiplied, the next ones are in flight to the other halves, also where
  // these belong to another stage.
  alignas(16) T x[2][PR][unit], y[2][TN];
  alignas(16) double y_both[2][TN];  // of three products
  RowTile<T, PR, TN, products> tile;
  const int x_offset = group * A.stride, rest_row = lane % rest.slots, rest_part = lane / rest.slots,
            rest_offset = smaller(rest_row, rows - 1) * A.stride + rest_part * (unit * element) - x_offset;
  ptx::SharedAddress x_at = mine_begin + x_offset;
  const ptx::SharedAddress x_end = x_at + stages * A.bytes;
  const auto read_x = [&](int half, int u) { W::read_a(x[half], x_at + u * (unit * element), W::groups * A.stride); };
  const ptx::SharedAddress rest_y_begin = rest_begin + rest_part * rest.bytes;
  RestColumns<T, rest, unit> left_over;
  left_over.part = rest_part;
  // The FMAs of a chunk. y_at, y_next: its first row of C, and that of the next chunk; rest_y_at: its rest.
  const auto multiply_chunk = [&](int units, ptx::SharedAddress y_at, ptx::SharedAddress y_next,
                                  ptx::SharedAddress rest_y_at) {
    const ptx::SharedAddress rest_x_at = x_at + rest_offset;
    // With three products the rest is loaded behind most FMAs, when registers are free; but before this stage is filled.
    const bool rest_later = products == 3 && rest.parts > 1 && units > 1;
#pragma unroll
    for (int u = 0; u < units; ++u) {
      const bool last = u == units - 1;
      if (has_rest && !rest_later) left_over.read(u, units, rest_x_at, rest_y_at);
      if (!last) {
        read_x((u + 1) % 2, u + 1);
      } else {
        ptx::cp_async_wait<stages - 2>();
        __syncwarp();  // the next stage is complete, and nobody reads this one any more
        const ptx::SharedAddress free = x_at - x_offset;
        x_at = x_at + A.bytes == x_end ? x_end - stages * A.bytes : x_at + A.bytes;
        read_x((u + 1) % 2, 0);  // also after the last one: a condition would take moves between registers
        of_a.copy_next(free);
      }
#pragma unroll
      for (int v = 0; v < unit; ++v) {
        const int row = u * unit + v;
        const ptx::SharedAddress y_behind = last && v == unit - 1 ? y_next : y_at + (row + 1) * row_c;
        W::read_c(y[(row + 1) % 2], y_behind);
        W::read_sums_of_c(y_both[has_rest ? 0 : (row + 1) % 2], has_rest ? y_at + row * row_c : y_behind);
        T column[PR];
#pragma unroll
        for (int r = 0; r < PR; ++r) column[r] = x[u % 2][r][v];
        const auto sum_of = [&](int j) { return y_both[has_rest ? 0 : row % 2][j]; };
        tile.template add<has_rest>(column, y[row % 2], sum_of, [&] {
          if (rest_later) left_over.read(u, units, rest_x_at, rest_y_at);
        });
      }
      if constexpr (has_rest) left_over.multiply(u, units);
    }
    if (units % 2 != 0) W::copy(x[0], x[1]);  // the next chunk begins with the first halves
    if (units * unit % 2 != 0) W::copy(y[0], y[1]);
    if (units * unit % 2 != 0 && products == 3 && !has_rest) W::copy(y_both[0], y_both[1]);
  };

  const std::int64_t ld = has_gaps(rows_b) ? ldb : N;
  const bool adds = !is_zero(beta), stores = W::places().count == 32 || lane < W::places().count,
             has_last = stores && (has_rest || at_n + (W::PN - 1) * along_n < W::units_n);
  TileStores<T, W, N, PR, along_n, rows_b> to_b{b,          ld,   k,      first,    step,
                                                of_a.whole, beta, lane,   rest_row, group,
                                                at_n,       adds, stores, has_last, mine_begin + stages * A.bytes};
  ptx::cp_async_wait<stages - 1>();
  __syncwarp();
  read_x(0, 0);
  W::read_c(y[0], y_begin);
  if constexpr (!has_rest) W::read_sums_of_c(y_both[0], y_begin);
#pragma unroll 1
  for (int turn = 0; turn < of_a.mine; ++turn) {
    const std::int64_t its = first + static_cast<std::int64_t>(turn) * step;
    for (int row = lane; ld > N && row < rows && its + row < k; row += 32)
      prefetch_ends<T, N>(b + (its + row) * ld, ld, row > 0);
    constexpr int chunk_c = A.chunk * unit * row_c, rest_chunk = A.chunk * rest.bytes;  // bytes of C
    constexpr bool written_out = A.chunks == 1 || M * PR * TN * products <= 2048;
    tile.begin(written_out ? -0.0 : 0.0);
    left_over.begin(written_out ? -0.0 : 0.0);
    if constexpr (written_out) {
#pragma unroll
      for (int part = 0; part < A.chunks; ++part) {
        const bool last = part == A.chunks - 1;
        multiply_chunk(last ? A.last : A.chunk, y_begin + part * chunk_c,
                       last ? y_begin : y_begin + (part + 1) * chunk_c, rest_y_begin + part * rest_chunk);
      }
    } else {
      constexpr int full = A.last == A.chunk ? A.chunks : A.chunks - 1;
      ptx::SharedAddress y_at = y_begin, rest_y_at = rest_y_begin;
#pragma unroll 1
      for (int part = 0; part < full; ++part) {
        const ptx::SharedAddress y_next = full == A.chunks && part == full - 1 ? y_begin : y_at + chunk_c;
        multiply_chunk(A.chunk, y_at, y_next, rest_y_at);
        y_at = y_next;
        rest_y_at += rest_chunk;
      }
      if constexpr (full < A.chunks)
        multiply_chunk(A.last, y_begin + full * chunk_c, y_begin, rest_y_begin + full * rest_chunk);
    }
    to_b.store(turn, tile, left_over);
  }
}

}  // namespace gemm::generated

#ifndef __CUDACC_RTC__  // what is compiled at run time ends here

#include "tsm/generated/pipeline_tsmm_model.hpp"
#include "tsm/jit_launch.hpp"

namespace {

namespace generated = gemm::generated;

gemm::JitRequest request(const generated::Form& f) {
  const generated::TsmmPipelineShape s(f.m, f.n, f.is_complex, f.options, f.rows_a, f.rows_b);
  return {.kernel = generated::instance("tsmm_pipeline", f.is_complex, f.m, f.n, f.options.unroll, s.along_n,
                                        s.products, f.rows_a, f.rows_b, f.options.threads, s.layout.chunk, s.stages,
                                        s.resident, s.rest.columns > 0),
          .headers = gemm::kernel_headers("tsm/13_tsmm_pipeline.cu"),
          .in_order = true};
}

generated::BlockNeeds needs(const generated::Form& f) {
  const generated::TsmmPipelineShape s(f.m, f.n, f.is_complex, f.options, f.rows_a, f.rows_b);
  return {s.rows, s.shared_bytes(f.options.threads), f.options.threads / 32 * s.rows * f.options.turns};
}

constexpr generated::Generator generator = {generated::each_tsmm_pipeline, generated::tsmm_pipeline_refusal, request,
                                            needs};

template <class T>
gemm::Status launch(const gemm::TsmmProblem<T>& p, cudaStream_t stream) {
  return generated::launch_rows<generator>(p, stream);
}

constexpr gemm::StageInfo info = {
    .idea = "rows of A copied to shared memory stages ahead, by the warp that multiplies them",
    .base = "12",
    .accuracy = gemm::Accuracy::fp64,
    .min_compute_capability = 80,
    .launch = {launch<double>, launch<double2>},
    .generated = generated::kernels_of<generator>(),
};
const gemm::Registration registration{__FILE__, info};

}  // namespace

#endif
