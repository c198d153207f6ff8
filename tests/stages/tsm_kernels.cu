#include "common/kernel/complex.cuh"
#include "common/stage.cuh"
#include "tests/stages/tsm_kernels.hpp"
#include "tsm/generated/combine.cuh"

namespace gemm {
namespace {

__device__ double rounded(double x) {
  return static_cast<float>(x);
}
__device__ double2 rounded(double2 x) {
  return make_double2(static_cast<float>(x.x), static_cast<float>(x.y));
}

// One thread per element: of X the element `term` terms along the sum of row `row` lies at row * x_row + term * x_term.
template <class T>
__global__ void multiply(std::int64_t rows, int cols, std::int64_t terms, T alpha, const T* x, std::int64_t x_row,
                         std::int64_t x_term, const T* y, std::int64_t ldy, T beta, T* out, std::int64_t ldout,
                         bool conjugate, TsmFlaw flaw) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const std::int64_t row = i / cols, col = i % cols;
  if (row >= rows) return;
  if (flaw == TsmFlaw::dropped_k) --terms;
  T sum{};
  for (std::int64_t term = 0; term < terms; ++term) {
    const T a = conjugate_if(conjugate, x[row * x_row + term * x_term]);
    sum = flaw == TsmFlaw::single ? add(sum, rounded(multiply_add(a, y[term * ldy + col], T{})))
                                  : multiply_add(a, y[term * ldy + col], sum);
  }
  T* const to = out + row * ldout + col;
  *to = flaw == TsmFlaw::reads_result ? multiply_add(beta, *to, multiply_add(alpha, sum, T{}))
                                      : scaled(alpha, sum, beta, to);
  if (flaw == TsmFlaw::beyond_its_rows && i == rows * cols - 1) to[1] = sum;
}

template <class T>
__global__ void add_to(T* x) {
  *x = add(*x, *x);
}

template <class T, class P>
Status launch_one(const P& p, std::int64_t rows, std::int64_t terms, std::int64_t x_row, std::int64_t x_term,
                  const T* y, std::int64_t ldy, T* out, std::int64_t ldout, bool conjugate, TsmFlaw flaw,
                  cudaStream_t stream) {
  if (flaw == TsmFlaw::not_conjugated) conjugate = false;
  if (flaw == TsmFlaw::conjugated) conjugate = true;
  T alpha = p.alpha;
  if constexpr (sizeof(T) == sizeof(double2)) {
    if (flaw == TsmFlaw::real_alpha) alpha.y = 0;
  }
  constexpr int threads = 96;
  const auto blocks = static_cast<unsigned>((rows * p.n + threads - 1) / threads);
  const Status status = launch(multiply<T>, {.grid = blocks, .block = threads, .stream = stream}, rows, p.n, terms,
                               alpha, p.a, x_row, x_term, y, ldy, p.beta, out, ldout, conjugate, flaw);
  if (!status || flaw != TsmFlaw::changes_input) return status;
  return launch(add_to<T>, {.stream = stream}, const_cast<T*>(p.a));
}

template <class T>
Status launch_type(const Problem& problem, TsmFlaw flaw, cudaStream_t stream) {
  if (problem.op == Operation::tsmttsm) {
    const TsmttsmProblem<T> p = problem;
    return launch_one<T>(p, p.m, p.depth(), 1, p.lda, p.b, p.ldb, p.c, p.ldc, p.conjugate, flaw, stream);
  }
  const TsmmProblem<T> p = problem;
  return launch_one<T>(p, p.k, p.depth(), p.lda, 1, p.c, p.ldc, p.b, p.ldb, false, flaw, stream);
}

}  // namespace

Status launch_plain_tsm(const Problem& problem, TsmFlaw flaw, cudaStream_t stream) {
  return problem.type == Type::f64 ? launch_type<double>(problem, flaw, stream)
                                   : launch_type<double2>(problem, flaw, stream);
}

Status launch_combine(const Problem& problem, int blocks, cudaStream_t stream) {
  const auto launch_type = [&](auto zero) {
    using T = decltype(zero);
    const TsmttsmProblem<T> p = problem;
    return generated::launch_combine<T>(p, static_cast<const T*>(p.workspace), blocks, stream);
  };
  return problem.type == Type::f64 ? launch_type(0.0) : launch_type(double2{});
}

}  // namespace gemm
