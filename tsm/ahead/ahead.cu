#include <map>
#include <tuple>

#include "common/backend/device.hpp"
#include "common/kernel/launch.cuh"
#include "common/toolchain/jit.hpp"
#include "tsm/ahead/ahead.hpp"
#include "tsm/choice.hpp"
#include "tsm/generated/pipeline_model.hpp"

namespace gemm::ahead {

bool covers(const Problem& problem) {
  if (problem.op == Operation::gemm || problem.m > most_columns || problem.n > most_columns) return false;
  const CurrentDevice& device = current_device();
  return !device.gpu || device.compute_capability >= 80;
}

std::size_t workspace_bytes(const Problem& problem) {
  if (problem.op != Operation::tsmttsm) return 0;
  return problem.result_bytes() * static_cast<std::size_t>(device_limits().multiprocessors * most_kept);
}

template <class T>
static Status launch_as(const Problem& problem, cudaStream_t stream) {
  if (problem.op == Operation::tsmttsm) {
    const TsmttsmProblem<T> p(problem);
    return launch(p, TallMatrix<T>(p.a, p.lda, p.m), TallMatrix<T>(p.b, p.ldb, p.n), stream);
  }
  const TsmmProblem<T> p(problem);
  return launch(p, TallMatrix<T>(p.a, p.lda, p.m), stream);
}

Status launch(const Problem& problem, cudaStream_t stream) {
  if (problem.n == 0 || problem.rows() == 0) return Status::ok();
  return problem.type == Type::c64 ? launch_as<double2>(problem, stream) : launch_as<double>(problem, stream);
}

Exact exact_of(const Problem& p) {
  const auto rows_of = [&](const void* matrix, std::int64_t ld, std::int64_t cols) {
    const int width = static_cast<int>(cols);
    return static_cast<int>(p.type == Type::c64 ? generated::rows_of(static_cast<const double2*>(matrix), ld, width)
                                                : generated::rows_of(static_cast<const double*>(matrix), ld, width));
  };
  return {device_number(),
          p.op,
          p.type,
          p.m,
          p.n,
          p.conjugate,
          rows_of(p.x, p.ldx, p.m),
          p.op == Operation::tsmm ? rows_of(p.out, p.ldout, p.n) : rows_of(p.y, p.ldy, p.n),
          is_gram(p),
          is_in_place(p)};
}

int blocks_that_fit(const void* kernel, int threads, int shared_bytes) {
  static std::map<std::tuple<int, const void*, int, int>, int> known;
  int& blocks = known[{device_number(), kernel, threads, shared_bytes}];
  if (blocks == 0)
    blocks = blocks_per_multiprocessor({.handle = kernel, .parameter_bytes = {}}, threads,
                                       static_cast<std::size_t>(shared_bytes));
  return blocks;
}

}  // namespace gemm::ahead
