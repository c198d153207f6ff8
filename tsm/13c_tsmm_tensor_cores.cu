// 13c TSMM Tensor Cores: B = A C by the FP64 Tensor Cores.
//
// Idea      Rows of A are the rows of m16n8k4's left operand, and C is the right operand. C lies in shared memory in
//           the order in which the instruction reads it, 32 lanes side by side. Rows of A are copied there ahead.
// Base      13_tsmm_pipeline
// Change    A warp has 16 rows at a time, or a multiple, with all their columns. Four lanes store contiguous words of a
//           row, 16 bytes each. Where rows are not aligned they leave through the stage that held the rows of A.
// Limit     Up to 64 columns of double the memory, reading and writing at once, 3.9 TB/s; of complex numbers, from
//           60 on, 66 TFLOP/s.
// Number    GB/s, TFLOP/s, as a share of the plain cores' roofline and of that of the Tensor Cores.
// Map       tsm/generated/tensor_tsmm.cuh: a warp's rows lie in four chunks. Lane 4 g + t reads row g / 4 of one, g % 4
// Page      docs/tsm/13c_tsmm_tensor_cores.md
// Source    ours. PTX ISA, mma.m16n8k4 of .f64: which lane holds what.
#include "tsm/generated/tensor_tsmm.cuh"
#include "tsm/generated/tensor_tsmm_model.hpp"
#include "tsm/jit_launch.hpp"

namespace {

using gemm::KernelOptions;
namespace generated = gemm::generated;

gemm::JitRequest request(const generated::Form& f) {
  const generated::TsmmTensorShape s(f.m, f.n, f.is_complex, f.options);
  return {generated::instance("tsmm_tensor", f.is_complex, f.m, f.n, f.options.unroll, f.rows_a, f.rows_b,
                              f.options.threads, s.stages, s.resident),
          gemm::kernel_headers("tsm/generated/tensor_tsmm.cuh")};
}

generated::BlockNeeds needs(const generated::Form& f) {
  const generated::TsmmTensorShape s(f.m, f.n, f.is_complex, f.options);
  return {s.rows, s.shared_bytes(f.options.threads)};
}

constexpr generated::Generator generator = {generated::choose_tensor_tsmm, generated::tensor_tsmm_refusal,
                                            generated::tensor_tsmm_candidates, request, needs};

template <class T>
gemm::Status launch(const gemm::TsmmProblem<T>& p, cudaStream_t stream) {
  return generated::launch_rows<generator, generated::TsmmTensor<T>>(p, stream);
}

constexpr gemm::StageInfo info = {
    .idea = "FP64 Tensor Cores, 16 rows of B a warp",
    .base = "13",
    .accuracy = gemm::Accuracy::fp64,
    .min_compute_capability = 80,
    .launch = {launch<double>, launch<double2>},
    .generated = generated::kernels_of<generator>(),
};
const gemm::Registration registration{__FILE__, info};

}  // namespace
