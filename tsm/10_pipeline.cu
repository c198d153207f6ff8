// 10 pipeline: asynchronous copies bring A and B to shared memory several stages ahead, so words in flight take no
// registers.
//
// Idea      In 09 the registers hold both the sums and the rows in flight, and there is too little room for the bytes
//           that Little's law requires. A copy from device memory to shared memory takes no register. Three stages of
//           8 KB and more are always in flight per SM, however wide C is, and the sums can have the registers.
// Base      09_generated
// Change    First of a kind, with parts in tsm/generated/. cp.async replaces leap frogging. Tiles fill an SM with one
//           or two blocks. Operands are read from shared memory, 16 bytes at a time. Any alignment works; rows without
//           padding are one range, copied by 16 bytes. Complex numbers take three products of real ones, or four.
// Limit     Narrow C: the memory's bandwidth, 4.4 TB/s. Wide C, from M = N = 60 for real and 30 for complex numbers:
//           the FP64 cores, 33 TFLOP/s times the part of the tiles that C fills. M = N = 57 fills 90 % of tiles of 6 x
//           10. The register ports allow 82 % of that, or 92 % with three products (docs/tsm/probes.md).
// Number    GB/s, TFLOP/s, and both as a share of the roofline.
// Map       A slice of the block has all of C, in units of up to 16 bytes, interleaved. A stage has some rows for each
//           slice, without padding. Where words would meet in a bank they are swizzled (tsm/generated/stream.cuh).
// Page      docs/tsm/10_pipeline.md
// Source    ours; Ernst et al. (2020) end with registers. cp.async and stages as in stages/15_async_copies.cu.
#include "tsm/generated/multiply.cuh"
#include "tsm/generated/pipeline_sums.cuh"
#include "tsm/generated/stream.cuh"

extern __shared__ __align__(16) unsigned char smem[];  // the stages, and in the end the sums of slices

namespace gemm::generated {

/// Sums of A^T B, or of A^H B if `conjugate`, over the rows of each block: M x N of them for each, in `partial`.
/// A thread has PM x PN units of C of unit_m x unit_n elements, interleaved with those of others. Slice s processes the
/// rows s, s + slices, ... of a stage, `turns` of them, an even number. In rows of an odd number of elements units of
/// two begin a column earlier in every second row; then a slice has only such rows, or only others. rows_a, rows_b: how
/// A and B lie in memory. products: of real numbers for one of T. gram: B is A, and is copied once.
template <class T, int M, int N, int unit_m, int unit_n, int PM, int PN, bool conjugate, int products, Rows rows_a,
          Rows rows_b, int threads, int turns, int stages, int resident, bool gram = false>
__global__ void __launch_bounds__(threads, resident)
    tsmttsm_pipeline(std::int64_t k, const T* __restrict__ a, std::int64_t lda, const T* __restrict__ b,
                     std::int64_t ldb, T* __restrict__ partial) {
  constexpr Places places = places_of(ceil_div(M, unit_m), ceil_div(N, unit_n), PM, PN);
  constexpr bool by_turns = swizzled(places.count);
  using A = Panel<T, M, unit_m, by_turns>;
  using B = Panel<T, N, unit_n, by_turns>;
  constexpr bool shifted = A::shifted || B::shifted;
  constexpr int TM = PM * unit_m, TN = PN * unit_n, row_a = M * sizeof(T), row_b = N * sizeof(T);
  constexpr int slices = slices_of_block(threads, places.count, shifted), rows = slices * turns,
                begin_b = gram ? 0 : rows * row_a, stage = begin_b + rows * row_b;  // bytes
  static_assert(slices >= 1 && turns % 2 == 0 && (PM - 1) * places.along_m < A::units &&
                (PN - 1) * places.along_n < B::units && !(shifted && by_turns) &&
                (!gram || (M == N && unit_m == unit_n && rows_a == rows_b)));
  const int slice = threadIdx.x / places.count, place = threadIdx.x % places.count;
  const int at_m = places.row(place), at_n = places.col(place);
  // Only a thread's last units can lie outside; then it repeats the last ones that don't.
  const int last_m = smaller(at_m + (PM - 1) * places.along_m, A::units - 1),
            last_n = smaller(at_n + (PN - 1) * places.along_n, B::units - 1);
  const ptx::SharedAddress begin = ptx::kept_shared_address(smem), end = begin + stages * stage;

  // Stages are distributed round robin among the blocks. All rows exist but of the last one.
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * rows,
                     step = static_cast<std::int64_t>(gridDim.x) * rows;
  const int mine = first < k ? static_cast<int>((k - first - 1) / step) + 1 : 0,
            whole = first + rows <= k ? static_cast<int>((k - first - rows) / step) + 1 : 0;
  Copies<T, M, unit_m, by_turns, rows, threads, rows_a> of_a(a, lda, first, step);
  Copies<T, N, unit_n, by_turns, rows, threads, rows_b> of_b(b, ldb, first, step);
  int next = 0;  // stage to be copied
  const auto copy = [&](ptx::SharedAddress to) {
    if (next < whole) [[likely]] {
      of_a.start(to);
      if constexpr (!gram) of_b.start(to + begin_b);
    } else if (next < mine) {
      const int existing = static_cast<int>(k - first - next * step);
      of_a.start_part(to, existing);
      if constexpr (!gram) of_b.start_part(to + begin_b, existing);
    }
    ptx::cp_async_commit();
  };
  const auto advance = [&] {
    of_a.next();
    if constexpr (!gram) of_b.next();
    ++next;
  };
#pragma unroll 1
  for (int s = 0; s < stages - 1; ++s) {
    copy(begin + s * stage);
    advance();
  }

  // While the words of one row are multiplied, those of the next are in flight to the other half of x and y, also
  // where the next one is the first of another stage.
  alignas(16) T x[2][TM], y[2][TN];
  Tile<T, TM, TN, conjugate, products> tile;
  // Threads behind the last slice do what its threads do: that is free, a branch is not. Whole warps of them do nothing.
  const bool works = threads - slices * places.count < 32 || slice < slices;
  const int its = smaller(slice, slices - 1);
  const auto read = [&](ptx::SharedAddress stage_at, int turn) {
    if (!works) return;
    constexpr int element = sizeof(T);
    const ptx::SharedAddress x_row = stage_at + (its * row_a + A::before(its) * element),
                             y_row = stage_at + (begin_b + its * row_b + B::before(its) * element);
#pragma unroll
    for (int i = 0; i < PM; ++i) {
      const int unit = i < PM - 1 ? at_m + i * places.along_m : last_m;
      load_unit<unit_m>(&x[turn % 2][i * unit_m], x_row + A::offset(its, unit) + turn * (slices * row_a));
    }
#pragma unroll
    for (int j = 0; j < PN; ++j) {
      const int unit = j < PN - 1 ? at_n + j * places.along_n : last_n;
      load_unit<unit_n>(&y[turn % 2][j * unit_n], y_row + B::offset(its, unit) + turn * (slices * row_b));
    }
  };
  const auto wait = [] {  // until the next stage is complete, and nobody reads this one any more
    ptx::cp_async_wait<stages - 2>();
    __syncthreads();
  };
  wait();
  ptx::SharedAddress at = begin, free = end - stage;  // this stage, and the one before it
  read(at, 0);
#pragma unroll 1
  for (int s = 0; s < mine; ++s) {
    const ptx::SharedAddress behind = at + stage == end ? begin : at + stage;
#pragma unroll
    for (int turn = 0; turn < turns; ++turn) {
      if (turn + 1 < turns) {
        read(at, turn + 1);
        if (turn == 0) copy(free);
      } else {
        wait();
        advance();                            // here, since copies take a while to read their addresses
        read(s + 1 < mine ? behind : at, 0);  // needed or not: a branch would take moves between registers
      }
      if (works) tile.add(x[turn % 2], y[turn % 2]);
    }
    free = at;
    at = behind;
  }

  ptx::let_launch_behind_begin();  // the one that adds up the blocks' sums
  T sum[TM][TN];
  tile.get(sum);
  store_sums_of_block<A, B, places, slices, stages * stage>(sum, slice, place, smem, partial);
}

}  // namespace gemm::generated

#ifndef __CUDACC_RTC__  // what is compiled at run time ends here

#include <cmath>

#include "tsm/generated/pipeline_model.hpp"
#include "tsm/jit_launch.hpp"

namespace {

namespace generated = gemm::generated;

constexpr int MOST_KEPT = 4;  // blocks of an SM that leave partial sums

gemm::JitRequest request(const generated::Form& f) {
  const generated::PipelineShape s(f.m, f.n, f.is_complex, f.options, f.gram);
  return {.kernel =
              generated::instance("tsmttsm_pipeline", f.is_complex, f.m, f.n, s.unit_m, s.unit_n, s.pm, s.pn,
                                  f.conjugate && f.is_complex, f.is_complex ? f.options.products : 1, f.rows_a,
                                  f.rows_b, f.options.threads, s.turns, generated::pipeline_stages, s.resident, f.gram),
          .headers = gemm::kernel_headers("tsm/10_pipeline.cu"),
          .in_order = true};
}

generated::BlockNeeds needs(const generated::Form& f) {
  const generated::PipelineShape s(f.m, f.n, f.is_complex, f.options, f.gram);
  // Fewer blocks leave fewer sums. First stages are in flight together: more cost nothing while they arrive.
  constexpr double latency = 660;  // cycles of a round trip to device memory (docs/tsm/probes.md)
  const double cycles = generated::pipeline_cycles(f.m, f.n, f.is_complex, f.options) * s.rows;
  const int stages = std::clamp(static_cast<int>(std::ceil(latency / cycles)), 1, generated::pipeline_stages - 1);
  return {.rows = s.rows * stages, .shared_bytes = s.shared_bytes(), .most_on_a_multiprocessor = MOST_KEPT};
}

constexpr generated::Generator generator = {generated::each_pipeline<>, generated::pipeline_refusal<>, request, needs};
// B is A: a Gram matrix.
constexpr generated::Generator generator_of_gram = {generated::each_pipeline<true>, generated::pipeline_refusal<true>,
                                                    request, needs};

template <class T>
gemm::Status launch(const gemm::TsmttsmProblem<T>& p, cudaStream_t stream) {
  return generated::launch_product_or_gram<generator, generator_of_gram>(p, generated::form_of(p), stream);
}

constexpr gemm::StageInfo info = {
    .idea = "rows copied to shared memory stages ahead; registers for the sums alone",
    .base = "09",
    .accuracy = gemm::Accuracy::fp64,
    .min_compute_capability = 80,
    .launch = {launch<double>, launch<double2>},
    .workspace_bytes =
        [](const gemm::Problem& p) { return p.result_bytes() * gemm::device_limits().multiprocessors * MOST_KEPT; },
    .generated = generated::kernels_of<generator>(),
};
const gemm::Registration registration{__FILE__, info};

}  // namespace

#endif
