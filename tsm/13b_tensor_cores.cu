// 13b Tensor Cores: TSMTTSM with the pipeline of 10, multiplied by the FP64 Tensor Cores.
//
// Idea      One instruction, m16n8k4, multiplies 16 columns of A by 8 of B over four rows: 512 FMAs for a warp. A lane
//           holds two words of A, one of B and four sums for it. The register ports are fast enough for that, and an SM
//           does 128 FMAs per cycle, twice what its plain cores do. C = A^T B needs no transpose: both operands are
//           "row t, column g" of row-major matrices.
// Base      10_pipeline
// Change    First of a kind, with parts in tsm/generated/. Fragments replace the per-thread tiles of 10. A stage
//           consists of four chunks, each 32 bytes behind the one before modulo 128: lanes read four rows from four
//           groups of banks, whatever the width.
// Limit     Up to 64 columns of double the memory, 4.6 TB/s; of complex numbers, from 51 on, 66 TFLOP/s.
// Number    GB/s, TFLOP/s, as a share of the plain cores' roofline and of that of the Tensor Cores.
// Map       A warp has some fragments of C, and the warps that cover C are a slice. Slice s has the groups of four rows
//           s, s + slices, s + 2 slices, ...; a group has one row of each chunk (tsm/generated/chunks.cuh).
// Page      docs/tsm/13b_tensor_cores.md
// Source    ours. PTX ISA, mma.m16n8k4 of .f64: which lane holds what.
#include "tsm/generated/block_sum.cuh"
#include "tsm/generated/chunks.cuh"

extern __shared__ __align__(16) unsigned char smem[];  // the stages, and in the end the sums of slices

namespace gemm::generated {

/// Sums of A^T B, or of A^H B if `conjugate`, over the rows of each block: M x N of them for each, in `partial`. A warp
/// has FM x FN fragments of C, of 16 x 8 elements. A stage has `turns` times four rows for each slice. rows_a, rows_b:
/// how A and B lie in memory. gram: B is A. It is copied once, and only tiles of C above its diagonal have warps.
/// products: of real numbers for one of T.
template <class T, int M, int N, int FM, int FN, bool conjugate, int products, Rows rows_a, Rows rows_b, int threads,
          int turns, int stages, int resident, bool gram = false>
__global__ void __launch_bounds__(threads, resident)
    tsmttsm_tensor(std::int64_t k, const T* __restrict__ a, std::int64_t lda, const T* __restrict__ b, std::int64_t ldb,
                   T* __restrict__ partial) {
  constexpr int along_m = ceil_div(M, 16 * FM), along_n = ceil_div(N, 8 * FN),
                places = gram ? tiles_above(along_m, along_n, 16 * FM, 8 * FN) : along_m * along_n,
                slices = threads / 32 / places, rows = slices * turns * 4, element = sizeof(T), parts = parts_of<T>;
  static_assert(slices >= 1 && turns % 2 == 0 && (!gram || (M == N && rows_a == rows_b)));
  // A load's lanes read 32 bytes of four rows: half a warp at a time 8 bytes each, or a fourth of it 16.
  constexpr bool in_one = rows_a == Rows::flat && rows_b == Rows::flat;
  using FromA = ChunkCopies<T, M, rows, 32, threads, rows_a, in_one>;
  using FromB = ChunkCopies<T, N, rows, 32, threads, rows_b, in_one>;
  constexpr int begin_b = gram ? 0 : FromA::stage_bytes, stage = begin_b + FromB::stage_bytes,
                stages_bytes = stages * stage;
  const int warp = threadIdx.x / 32, slice = warp / places, place = warp % places;
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  const bool works = slice < slices;

  // Stages are distributed round robin among the blocks. All rows exist but of the last one.
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * rows,
                     step = static_cast<std::int64_t>(gridDim.x) * rows;
  const int mine = first < k ? static_cast<int>((k - first - 1) / step) + 1 : 0;
  const ptx::SharedAddress begin = ptx::kept_shared_address(smem), end = begin + stages_bytes;
  FromA of_a(a, lda, first, step, static_cast<int>(threadIdx.x));
  FromB of_b(b, ldb, first, step, static_cast<int>(threadIdx.x));
  int next = 0;  // stage to be copied
  const auto copy = [&](ptx::SharedAddress to) {
    if (next < mine) {
      const int existing = static_cast<int>(min(k - first - next * step, std::int64_t{rows}));
      of_a.start(to, existing);
      of_a.next();
      if constexpr (!gram) {
        of_b.start(to + begin_b, existing);
        of_b.next();
      }
      ++next;
    }
    ptx::cp_async_commit();
  };
#pragma unroll 1
  for (int s = 0; s < stages - 1; ++s) copy(begin + s * stage);

  // Lane 4 g + t has column g of each eight columns. A column behind the last one repeats it: what comes of it is no
  // element of C.
  const int tile = gram ? tile_above(place, along_n, 16 * FM, 8 * FN) : place, first_m = tile / along_n * (16 * FM),
            first_n = tile % along_n * (8 * FN);
  const auto offset = [g](int columns, int from, int eighth, bool sure) {
    return (sure ? from + eighth * 8 + g : smaller(from + eighth * 8 + g, columns - 1)) * element;
  };
  const int row = smaller(slice, slices - 1), at_a = t * FromA::stride_of_chunk + row * FromA::row_bytes,
            at_b = begin_b + t * FromB::stride_of_chunk + row * FromB::row_bytes;
  int column_a[2 * FM], column_b[FN];
#pragma unroll
  for (int i = 0; i < 2 * FM; ++i) column_a[i] = at_a + offset(M, first_m, i, (along_m - 1) * 16 * FM + i * 8 + 8 <= M);
#pragma unroll
  for (int j = 0; j < FN; ++j) column_b[j] = at_b + offset(N, first_n, j, (along_n - 1) * 8 * FN + j * 8 + 8 <= N);

  // While the words of four rows are multiplied, those of the next four are in flight to the other half of x and y.
  Operand<T> x[2][2 * FM], y[2][FN];
  double sum[parts * FM * FN][4] = {}, third[FM * FN][4] = {};
  const auto read = [&](ptx::SharedAddress stage_at, int turn) {
#pragma unroll
    for (int i = 0; i < 2 * FM; ++i)
      x[turn % 2][i].template load_left<true>(stage_at + column_a[i] + turn * (slices * FromA::row_bytes));
#pragma unroll
    for (int j = 0; j < FN; ++j) y[turn % 2][j].load(stage_at + column_b[j] + turn * (slices * FromB::row_bytes));
  };
  const auto wait = [] {  // until the next stage is complete, and nobody reads this one any more
    ptx::cp_async_wait<stages - 2>();
    __syncthreads();
  };
  wait();
  ptx::SharedAddress at = begin, free = end - stage;  // this stage, and the one before it
  if (mine > 0) read(at, 0);
#pragma unroll 1
  for (int s = 0; s < mine; ++s) {
    const ptx::SharedAddress behind = at + stage == end ? begin : at + stage;
    read(at, 1);
    copy(free);
    multiply_fragments<conjugate, products, FM, FN>(x[0], y[0], sum, third);
#pragma unroll  // short enough that nvcc does it, and knows which half of x and y is meant
    for (int turn = 1; turn < turns; ++turn) {
      if (turn + 1 < turns) {
        read(at, turn + 1);
      } else {
        wait();
        read(s + 1 < mine ? behind : at, 0);  // needed or not: a branch would take moves between registers
      }
      multiply_fragments<conjugate, products, FM, FN>(x[turn % 2], y[turn % 2], sum, third);
    }
    free = at;
    at = behind;
  }

  if constexpr (products == 3) add_third(sum, third);
  ptx::let_launch_behind_begin();  // the one that adds up the blocks' sums
  if constexpr (slices > 1) {
    ptx::cp_async_wait<0>();
    __syncthreads();  // nobody reads or fills stages any more
    constexpr int fit = stages_bytes / static_cast<int>(places * 32 * sizeof sum);
    static_assert(fit >= 1);
    add_up_slices<places * 32, slices, smaller(slices / 2, fit)>(
        sum, works ? slice : slices, static_cast<int>(threadIdx.x) % (places * 32), reinterpret_cast<double*>(smem));
  }
  if (slice > 0) return;
  T* const out = partial + static_cast<std::int64_t>(blockIdx.x) * (M * N);
#pragma unroll
  for (int i = 0; i < FM * FN * 4; ++i) {
    const int fragment = i / 4, of_m = first_m + fragment / FN * 16 + g + i % 4 / 2 * 8,
              of_n = first_n + fragment % FN * 8 + 2 * t + i % 2;
    if (of_m >= M || of_n >= N || (gram && of_m > of_n)) continue;
    T result;
    if constexpr (parts == 2)
      result = make_double2(sum[fragment][i % 4], sum[FM * FN + fragment][i % 4]);
    else
      result = sum[fragment][i % 4];
    out[of_m * N + of_n] = result;
    if constexpr (gram) out[of_n * N + of_m] = conjugate_if(conjugate, result);
  }
}

}  // namespace gemm::generated

#ifndef __CUDACC_RTC__  // what is compiled at run time ends here

#include "tsm/generated/tensor_model.hpp"
#include "tsm/jit_launch.hpp"

namespace {

namespace generated = gemm::generated;

constexpr int MOST_KEPT = 4;  // blocks of an SM that leave partial sums

gemm::JitRequest request(const generated::Form& f) {
  const generated::TensorShape s(f.m, f.n, f.is_complex, f.options, f.gram);
  return {generated::instance("tsmttsm_tensor", f.is_complex, f.m, f.n, s.fm, s.fn, f.conjugate && f.is_complex,
                              f.options.products, f.rows_a, f.rows_b, f.options.threads, s.turns,
                              generated::pipeline_stages, s.resident, f.gram),
          gemm::kernel_headers("tsm/13b_tensor_cores.cu")};
}

generated::BlockNeeds needs(const generated::Form& f) {
  const generated::TensorShape s(f.m, f.n, f.is_complex, f.options, f.gram);
  return {.rows = s.rows, .shared_bytes = s.shared_bytes(), .most_on_a_multiprocessor = MOST_KEPT};
}

constexpr generated::Generator generator = {generated::each_tensor<>, generated::tensor_refusal<>, request, needs};
// B is A: a Gram matrix.
constexpr generated::Generator generator_of_gram = {generated::each_tensor<true>, generated::tensor_refusal<true>,
                                                    request, needs};

template <class T>
gemm::Status launch(const gemm::TsmttsmProblem<T>& p, cudaStream_t stream) {
  return generated::launch_product_or_gram<generator, generator_of_gram>(p, generated::form_of(p), stream);
}

constexpr gemm::StageInfo info = {
    .idea = "FP64 Tensor Cores, fed through shared memory",
    .base = "10",
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
