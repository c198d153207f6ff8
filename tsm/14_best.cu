// 14 best: for TSMTTSM the stage, and the options, that are fastest for this M and N.
//
// Idea      No kernel is the best for every width: 09 and 10 are where C is narrow, 13b where it is wide, and their
//           options matter. So they are searched for once on a GPU, kept in a table, and looked up.
// Change    09, 10 or 13b, with options from tsm/tuned/; the nearest tuned size where a size was not tuned; a rule where
//           none was. 09 with its model's options where K is so short that A and B are about as large as the L2 cache.
// Limit     That of the stage that is chosen, whichever comes closest to the roofline.
// Number    GB/s and TFLOP/s as a share of the roofline, beside those of 09, 10 and 13b with their own models' options.
// Map       the chosen stage's.
// Page      docs/tsm/14_best.md
// Source    ours; Ernst et al. (2020), section 5.1: search through all tiles for each size.
#include "common/stage.cuh"
#include "tsm/choice.hpp"

namespace {

template <class T>
gemm::Status launch(const gemm::TsmttsmProblem<T>& p, cudaStream_t stream) {
  return gemm::launch_chosen(p, stream);
}

const gemm::StageInfo info = {
    .idea = "09, 10 or 13b with the options that were found to be fastest for this M and N",
    .accuracy = gemm::Accuracy::fp64,
    .launch = {launch<double>, launch<double2>},
    .workspace_bytes = gemm::most_workspace,
    .generated = gemm::chosen_tsmttsm(),
};
const gemm::Registration registration{__FILE__, info};

}  // namespace
