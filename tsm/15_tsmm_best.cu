// 15 TSMM best: as 14, for B = A C: the stage and the options that are fastest for this M and N.
//
// Idea      A table has the fastest kernel that was measured for each size. Mostly it is 13c; 12 where C is narrowest, and
//           13 in between.
// Base      14_best
// Change    12, 13 or 13c, with options from tsm/tuned/.
// Limit     That of the chosen stage.
// Number    GB/s and TFLOP/s as a share of the roofline, beside those of 12, 13 and 13c with their own models' options.
// Map       the chosen stage's.
// Page      docs/tsm/15_tsmm_best.md
// Source    ours, as 14.
#include "common/stage.cuh"
#include "tsm/choice.hpp"

namespace {

template <class T>
gemm::Status launch(const gemm::TsmmProblem<T>& p, cudaStream_t stream) {
  return gemm::launch_chosen(p, stream);
}

const gemm::StageInfo info = {
    .idea = "12, 13 or 13c with the options that were found to be fastest for this M and N",
    .base = "14",
    .accuracy = gemm::Accuracy::fp64,
    .launch = {launch<double>, launch<double2>},
    .workspace_bytes = gemm::most_workspace,
    .generated = gemm::chosen_tsmm(),
};
const gemm::Registration registration{__FILE__, info};

}  // namespace
