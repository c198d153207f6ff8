// 13b Tensor Cores: TSMTTSM with the pipeline of 10, multiplied by the FP64 Tensor Cores.
//
// Idea      One instruction, m16n8k4, multiplies 16 columns of A by 8 of B over four rows: 512 FMAs for a warp. A lane
//           holds two words of A, one of B and four sums for it. The register ports are fast enough for that, and an SM
//           does 128 FMAs per cycle, twice what its plain cores do. C = A^T B needs no transpose: both operands are
//           "row t, column g" of row-major matrices.
// Base      10_pipeline
// Change    Fragments replace the per-thread tiles of 10. A stage consists of four chunks, each 32 bytes behind the one
//           before modulo 128: lanes read four rows from four groups of banks, whatever the width.
// Limit     Up to 64 columns of double the memory, 4.6 TB/s; of complex numbers, from 51 on, 66 TFLOP/s.
// Number    GB/s, TFLOP/s, as a share of the plain cores' roofline and of that of the Tensor Cores.
// Map       tsm/generated/tensor.cuh: a warp has some fragments of C, and the warps that cover C are a slice. Slice s
//           has the groups of four rows s, s + slices, s + 2 slices, ...; a group has one row of each chunk.
// Page      docs/tsm/13b_tensor_cores.md
// Source    ours. PTX ISA, mma.m16n8k4 of .f64: which lane holds what.
#include "tsm/generated/tensor.cuh"
#include "tsm/generated/tensor_model.hpp"
#include "tsm/jit_launch.hpp"

namespace {

using gemm::KernelOptions;
namespace generated = gemm::generated;

constexpr int MOST_KEPT = 4;  // blocks of an SM that leave partial sums

gemm::JitRequest request(const generated::Form& f) {
  const generated::TensorShape s(f.m, f.n, f.is_complex, f.options, f.gram);
  return {
      generated::instance("tsmttsm_tensor", f.is_complex, f.m, f.n, s.fm, s.fn, f.conjugate && f.is_complex, f.rows_a,
                          f.rows_b, f.options.threads, s.turns, generated::pipeline_stages, s.resident, f.gram),
      gemm::kernel_headers("tsm/generated/tensor.cuh")};
}

generated::BlockNeeds needs(const generated::Form& f) {
  const generated::TensorShape s(f.m, f.n, f.is_complex, f.options, f.gram);
  return {s.rows, s.shared_bytes(), MOST_KEPT};
}

constexpr generated::Generator generator = {generated::choose_tensor, generated::tensor_refusal,
                                            generated::tensor_candidates, request, needs};

// B is A: a Gram matrix.
constexpr generated::Generator generator_of_gram = {generated::choose_tensor_gram,
                                                    [](int m, int n, bool is_complex, const KernelOptions& o) {
                                                      return generated::refusal_of_tensor(m, n, is_complex, o, true);
                                                    },
                                                    generated::tensor_candidates, request, needs};

template <class T>
gemm::Status launch(const gemm::TsmttsmProblem<T>& p, cudaStream_t stream) {
  return generated::launch_product_or_gram<generator, generator_of_gram, generated::TsmttsmTensor<T>>(
      p, generated::form_of(p), stream);
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
