// 13 TSMM pipeline: the pipeline of 10 for B = A C. Rows of A come to shared memory stages ahead, C lies there from the
// beginning, rows of B are stored from registers.
//
// Idea      Words in flight take no registers here, either. So a thread can have 8 rows and 8 columns of B, or 4 and 4
//           of complex numbers: 64 FMAs for 16 words from shared memory. A row of A belongs to one warp, so each warp
//           has stages of its own and waits for no other warp.
// Base      12_tsmm_generated
// Change    cp.async replaces the loads to registers of 12, and a thread has several rows. The loop has little but FMAs
//           and loads, because an address is a register plus a constant. Complex numbers take three products of real
//           ones, or four.
// Limit     Narrow C: the bandwidth of reading and writing at once, 3.9 TB/s. Wide C: the FP64 cores, 33 TFLOP/s; what
//           else the loop executes leaves 27 (docs/tsm/probes.md). Three products: 32, counted as four.
// Number    GB/s, TFLOP/s, and both as a share of the roofline.
// Map       tsm/generated/pipeline_tsmm.cuh: a warp's lanes form groups, each with its own rows. In a group of g lanes
//           a lane has every g-th unit of 16 bytes of a row. Unaligned rows of B leave through shared memory.
//           Columns that no number of lanes divides: each lane has some of one row, for some of its terms.
// Page      docs/tsm/13_tsmm_pipeline.md
// Source    ours.
#include "tsm/generated/pipeline_tsmm.cuh"
#include "tsm/generated/pipeline_tsmm_model.hpp"
#include "tsm/jit_launch.hpp"

namespace {

using gemm::KernelOptions;
namespace generated = gemm::generated;

gemm::JitRequest request(const generated::Form& f) {
  const generated::TsmmPipelineShape s(f.m, f.n, f.is_complex, f.options, f.rows_a, f.rows_b);
  gemm::JitRequest request = {
      .kernel = generated::instance("tsmm_pipeline", f.is_complex, f.m, f.n, f.options.unroll, s.along_n, s.products,
                                    f.rows_a, f.rows_b, f.options.threads, s.layout.chunk, s.stages, s.resident),
      .headers = gemm::kernel_headers("tsm/generated/pipeline_tsmm.cuh"),
      .in_order = true};
  if (s.rest.columns) request.kernel.insert(request.kernel.size() - 1, ", true");
  return request;
}

generated::BlockNeeds needs(const generated::Form& f) {
  const generated::TsmmPipelineShape s(f.m, f.n, f.is_complex, f.options, f.rows_a, f.rows_b);
  return {s.rows, s.shared_bytes(f.options.threads)};
}

constexpr generated::Generator generator = {generated::choose_tsmm_pipeline, generated::tsmm_pipeline_refusal,
                                            generated::tsmm_pipeline_candidates, request, needs};

template <class T>
gemm::Status launch(const gemm::TsmmProblem<T>& p, cudaStream_t stream) {
  return generated::launch_rows<generator, generated::TsmmPipeline<T>>(p, stream);
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
