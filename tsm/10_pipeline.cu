// 10 pipeline: asynchronous copies bring A and B to shared memory several stages ahead, so words in flight take no
// registers.
//
// Idea      In 09 the registers hold both the sums and the rows in flight, and there is too little room for the bytes
//           that Little's law requires. A copy from device memory to shared memory takes no register. Three stages of
//           8 KB and more are always in flight per SM, however wide C is, and the sums can have the registers.
// Base      09_generated
// Change    cp.async replaces the leap frogging of 09. The tiles fill an SM with one or two blocks. Operands are read
//           from shared memory, 16 bytes at a time. Any alignment works; rows without padding are one range, copied
//           by 16 bytes. Complex numbers take three products of real ones, or four.
// Limit     Narrow C: the memory's bandwidth, 4.4 TB/s. Wide C: the FP64 cores, 33 TFLOP/s times the part of the tiles
//           that C fills (M = N = 57 in tiles of 6 x 10: 90 %), from M = N = 60 for real and 30 for complex numbers.
//           The register ports allow 82 % of that, or 92 % with three products (docs/tsm/probes.md).
// Number    GB/s, TFLOP/s, and both as a share of the roofline.
// Map       tsm/generated/pipeline.cuh: a slice of the block has all of C, in units of up to 16 bytes, interleaved. A
//           stage has some rows for each slice. They lie there without padding. Where words would meet in a bank they
//           are swizzled (stream.cuh).
// Page      docs/tsm/10_pipeline.md
// Source    ours; Ernst et al. (2020) end with registers. cp.async and stages as in stages/15_async_copies.cu.
#include <algorithm>
#include <cmath>

#include "tsm/generated/pipeline.cuh"
#include "tsm/generated/pipeline_model.hpp"
#include "tsm/jit_launch.hpp"

namespace {

using gemm::KernelOptions;
namespace generated = gemm::generated;

constexpr int MOST_KEPT = 4;     // blocks of an SM that leave partial sums
constexpr double LATENCY = 660;  // cycles of a round trip to device memory (docs/tsm/probes.md)

// Where K is small: of how many stages a block has the rows, at least. Its first stages are in flight at the same
// time, so while one takes less to multiply than to arrive, more of them cost nothing, and fewer blocks leave fewer
// partial sums.
int least_stages(double cycles_of_row, int rows) {
  return std::clamp(static_cast<int>(std::ceil(LATENCY / (cycles_of_row * rows))), 1, generated::pipeline_stages - 1);
}

gemm::JitRequest request(const generated::Form& f) {
  const generated::PipelineShape s(f.m, f.n, f.is_complex, f.options, f.gram);
  return {.kernel =
              generated::instance("tsmttsm_pipeline", f.is_complex, f.m, f.n, s.unit_m, s.unit_n, s.pm, s.pn,
                                  f.conjugate && f.is_complex, f.is_complex ? f.options.products : 1, f.rows_a,
                                  f.rows_b, f.options.threads, s.turns, generated::pipeline_stages, s.resident, f.gram),
          .headers = gemm::kernel_headers("tsm/generated/pipeline.cuh"),
          .in_order = true};
}

generated::BlockNeeds needs(const generated::Form& f) {
  const generated::PipelineShape s(f.m, f.n, f.is_complex, f.options, f.gram);
  const double cycles = generated::pipeline_cycles(f.m, f.n, f.is_complex, f.options);
  return {s.rows * least_stages(cycles, s.rows), s.shared_bytes(), MOST_KEPT};
}

constexpr generated::Generator generator = {generated::choose_pipeline, generated::pipeline_refusal,
                                            generated::pipeline_candidates, request, needs};

// B is A: a Gram matrix. Rows of one matrix are copied, so a stage has more of them.
constexpr generated::Generator generator_of_gram = {
    [](int m, int n, bool is_complex, const KernelOptions& asked) {
      KernelOptions o = generated::choose_pipeline(m, n, is_complex, asked);
      if (asked.unroll) return o;
      o.unroll = 0;
      o.unroll = generated::PipelineShape(m, n, is_complex, o, true).turns;
      return o;
    },
    [](int m, int n, bool is_complex, const KernelOptions& o) {
      return generated::refusal_of_pipeline(m, n, is_complex, o, true);
    },
    generated::pipeline_candidates, request, needs};

template <class T>
gemm::Status launch(const gemm::TsmttsmProblem<T>& p, cudaStream_t stream) {
  generated::Form form = generated::form_of(p);
  form.few_terms = p.depth() < generated::least_terms_of_three_products;
  return generated::launch_product_or_gram<generator, generator_of_gram, generated::TsmttsmPipeline<T>>(p, form,
                                                                                                        stream);
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
