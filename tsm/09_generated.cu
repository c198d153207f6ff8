// 09 generated: a kernel for exactly this M and N, compiled when it is first needed, with options that a model chooses.
//
// Idea      What the compiler knows costs nothing at run time: M, N, the tile, the edges, the rows in registers. So
//           each problem has its own kernel. It is written once, as a template, and compiled at the first launch.
// Base      08_reductions
// Change    First of a kind: generated. One kernel replaces 03 to 08. A model makes the choices, or the command line.
// Limit     The registers: they hold the sums and the rows in flight. Where C is wide, its tiles leave room for fewer
//           bytes in flight than the latency requires. Where C is narrow, the limit is the memory's bandwidth.
// Number    Registers of the compiled kernel against the line 2 (TM TN + 2 (TM + TN) + 8); GB/s of A and B.
// Map       slices of ceil(M / TM) x ceil(N / TN) threads, columns interleaved.
// Page      docs/tsm/09_generated.md
// Source    Ernst et al. (2020), sections 2.1 and 3: code generation for each size, and the options.
#include "common/problem/reduction.hpp"
#include "tsm/generated/block_sum.cuh"
#include "tsm/generated/walk.cuh"

// Dynamic, because the executor gives kernels that are compiled at run time no other.
extern __shared__ __align__(16) unsigned char smem[];

namespace gemm::generated {

/// A launch of it.
template <class T>
using Tsmttsm = void(std::int64_t k, T alpha, const T* a, std::int64_t lda, const T* b, std::int64_t ldb, T* c,
                     std::int64_t ldc, T* partial);

/// A and B, both read by rows; a block's slices take rows round robin, `unroll` of them at a time. With `leapfrog`, the
/// next rows are in flight, in a second set of registers, while these are multiplied. `reduction` says where sums go:
/// with `ordered` a block's to `partial`, M x N for each block; else alpha times the sums is added to C, atomically.
/// In shared memory are the sums that the tree adds up (slices_of() says how much), or with `shared_atomics` a copy of C.
/// `threads` is the block's size; `resident` is how many blocks must fit an SM.
template <class T, int M, int N, int TM, int TN, bool conjugate, bool transposed, bool leapfrog, int unroll,
          Reduction reduction, int threads, int resident>
__global__ void __launch_bounds__(threads, resident)
    tsmttsm(std::int64_t k, T alpha, const T* __restrict__ a, std::int64_t lda, const T* __restrict__ b,
            std::int64_t ldb, T* __restrict__ c, std::int64_t ldc, T* __restrict__ partial) {
  using ColumnsA = Columns<M, TM, transposed>;
  using ColumnsB = Columns<N, TN, transposed>;
  constexpr Slices slices = slices_of(sizeof(T), M, N, TM, TN, threads);
  static_assert(slices.count >= 1 && reduction != Reduction::none);
  constexpr bool tree = reduction == Reduction::local || reduction == Reduction::ordered;
  const int slice = threadIdx.x / slices.threads, place = threadIdx.x % slices.threads;
  const ColumnsA mine_a(place / ColumnsB::threads);
  const ColumnsB mine_b(place % ColumnsB::threads);

  T sum[TM][TN] = {};
  if (slice < slices.count) {
    const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * slices.count;
    const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * slices.count + slice;
    const std::int64_t rows = first < k ? (k - first + stride - 1) / stride : 0;
    Walk<T, ColumnsA, ColumnsB> walk{
        mine_a, mine_b, a + first * lda + mine_a.first, b + first * ldb + mine_b.first, stride * lda, stride * ldb};
    std::int64_t rounds = rows / unroll;
    if constexpr (leapfrog) {
      if (rounds > 0) {
        LoadedRows<T, TM, TN, unroll> x, y;
        walk.load(x);
#pragma unroll 1
        for (; rounds > 2; rounds -= 2) {
          walk.load(y);
          multiply<conjugate>(x, sum);
          walk.load(x);
          multiply<conjugate>(y, sum);
        }
        if (rounds == 2) walk.load(y);
        multiply<conjugate>(x, sum);
        if (rounds == 2) multiply<conjugate>(y, sum);
      }
    } else {
#pragma unroll 1  // `unroll` says how many rows, and not nvcc
      for (; rounds > 0; --rounds) {
        LoadedRows<T, TM, TN, unroll> x;
        walk.load(x);
        multiply<conjugate>(x, sum);
      }
    }
    if constexpr (unroll > 1) {
#pragma unroll 1
      for (int rest = static_cast<int>(rows % unroll); rest > 0; --rest) {
        LoadedRows<T, TM, TN, 1> x;
        walk.load(x);
        multiply<conjugate>(x, sum);
      }
    }
  }

  if constexpr (tree && slices.count > 1)
    add_up_slices<slices.threads, slices.count, slices.stored>(sum, slice, place, reinterpret_cast<T*>(smem));
  if constexpr (reduction == Reduction::shared_atomics) {
    add_by_way_of_shared<M, N, threads>(sum, slice < slices.count, mine_a, mine_b, reinterpret_cast<T*>(smem), alpha, c,
                                        ldc);
    return;
  }

  if (slice >= (tree ? 1 : slices.count)) return;
#pragma unroll
  for (int i = 0; i < TM; ++i) {
#pragma unroll
    for (int j = 0; j < TN; ++j) {
      if (!mine_a.is_mine(i) || !mine_b.is_mine(j)) continue;
      const int row = mine_a[i], col = mine_b[j];
      if constexpr (reduction == Reduction::ordered)
        partial[(static_cast<std::int64_t>(blockIdx.x) * M + row) * N + col] = sum[i][j];
      else
        add_to(c + row * ldc + col, multiply_add(alpha, sum[i][j], T{}));
    }
  }
}

}  // namespace gemm::generated

#ifndef __CUDACC_RTC__  // what is compiled at run time ends here

#include <algorithm>

#include "common/kernel/accumulate.cuh"
#include "tsm/generated/model.hpp"
#include "tsm/jit_launch.hpp"

namespace {

using gemm::KernelOptions;
using gemm::Reduction;
namespace generated = gemm::generated;

constexpr int LEAST_ROWS = 8;  // of a slice: fewer threads where K is small
constexpr int MOST_KEPT = 8;   // blocks of an SM that keep partial sums

// Blocks leave their sums in the workspace. With no reduction at all nobody adds them up (an experiment's yardstick).
bool keeps_sums(const KernelOptions& o) {
  return o.reduction == Reduction::ordered || o.reduction == Reduction::none;
}

gemm::JitRequest request(const generated::Form& f) {
  const KernelOptions& o = f.options;
  return {generated::instance("tsmttsm", f.is_complex, f.m, f.n, o.tile_m, o.tile_n, f.conjugate && f.is_complex,
                              *o.transposed, *o.leapfrog, o.unroll, keeps_sums(o) ? Reduction::ordered : *o.reduction,
                              o.threads, generated::resident_blocks(o, f.is_complex)),
          gemm::kernel_headers("tsm/09_generated.cu")};
}

generated::BlockNeeds needs(const generated::Form& f) {
  const KernelOptions& o = f.options;
  const int element = f.is_complex ? 16 : 8;
  const auto slices = generated::slices_of(element, f.m, f.n, o.tile_m, o.tile_n, o.threads);
  const int shared_bytes = o.reduction == Reduction::atomics          ? 0
                           : o.reduction == Reduction::shared_atomics ? f.m * f.n * element  // a copy of C
                                                                      : slices.shared_bytes;
  generated::BlockNeeds needs{slices.count * LEAST_ROWS, shared_bytes};
  if (keeps_sums(o)) needs.most_on_a_multiprocessor = MOST_KEPT;
  return needs;
}

constexpr generated::Generator generator = {generated::each_tsmttsm, generated::refusal, request, needs};

template <class T>
gemm::Status launch(const gemm::TsmttsmProblem<T>& p, cudaStream_t stream) {
  if (p.m == 0 || p.n == 0) return gemm::Status::ok();
  generated::Form form = generated::form_of(p);
  form.rows_a = form.rows_b = generated::Rows::flat;  // the kernel takes all alike
  const generated::Plan& plan = generated::plan_for<generator>(form);
  if (!plan.status) return plan.status;
  if (!keeps_sums(plan.options)) {
    const gemm::Status scaled = gemm::launch_scale(p.m, p.n, p.beta, p.c, p.ldc, stream);
    if (!scaled || p.depth() == 0) return scaled;
  }
  const gemm::LaunchShape shape = plan.shape(p.depth(), stream);
  T* const partial = static_cast<T*>(p.workspace);
  const gemm::Status multiplied = gemm::JitCall<generated::Tsmttsm<T>>::launch(
      *plan.kernel, shape, p.depth(), p.alpha, p.a, p.lda, p.b, p.ldb, p.c, p.ldc, partial);
  if (!multiplied || plan.options.reduction != Reduction::ordered) return multiplied;
  return generated::launch_combine<T>(p, partial, static_cast<int>(shape.grid.x), stream);
}

constexpr gemm::StageInfo info = {
    .idea = "a kernel for exactly this M and N, compiled when it is asked for",
    .base = "08",
    .accuracy = gemm::Accuracy::fp64,
    .launch = {launch<double>, launch<double2>},
    .workspace_bytes =
        [](const gemm::Problem& p) { return p.result_bytes() * gemm::device_limits().multiprocessors * MOST_KEPT; },
    .waits =
        [](int m, int n, std::int64_t k, int sms) {
          const KernelOptions o = generated::choose<generator.each>(std::max(m, 1), std::max(n, 1), false, {});
          const auto slices = generated::slices_of(8, std::max(m, 1), std::max(n, 1), o.tile_m, o.tile_n, o.threads);
          const int at_a_time = generated::resident_blocks(o, false) * slices.count * o.unroll * 2;
          return static_cast<double>(k) / (static_cast<double>(sms) * at_a_time);
        },
    .generated = generated::kernels_of<generator>(),
};
const gemm::Registration registration{__FILE__, info};

}  // namespace

#endif
