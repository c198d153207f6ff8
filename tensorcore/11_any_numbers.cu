// 11 any numbers: as 10, but it asks for each element of C whether FP16 could hold its operands, and takes TF32 if not.
//
// Idea      A number 2^17 times smaller than its row's largest has lost digits in 10. That counts only where it meets a
//           large one, and the sum of such an element is then small beside the two vectors' largest numbers. So an
//           element whose sum is not small is certain. The others are computed again.
// Base      10_presplit
// Change    10 counts numbers that lost digits, by row and column. Elements in doubt: a few of a tile by FP32's own
//           multiply-adds, a warp each; a tile with many, or a matrix with many such numbers, in TF32, whose 8 bits of
//           exponent hold what FP16's 5 cannot. All is decided on the device: kernels that are not needed end at once.
// Limit     That of 10, and two launches more. In TF32 half of it: products take twice as long.
// Number    What it has taken, as "policy" in the JSON; the largest error as a share of |A||B|.
// Map       As 10.
// Page      docs/tensorcore/11_any_numbers.md
// Source    The bound is ours. Ootomo and Yokota (2022) choose FP16 or TF32 by the range of the whole input.
#include "tensorcore/presplit/sgemm.cuh"

// For the library, tcec_sgemm.cu.
template gemm::Status presplit::launch<presplit::Policy::automatic>(const Request&, void*, cudaStream_t);
template gemm::Status presplit::launch<presplit::Policy::tf32>(const Request&, void*, cudaStream_t);

namespace {

using presplit::Policy;

constexpr gemm::Variant variants[] = {
    {.name = "tf32",
     .idea = "always TF32",
     .launch = presplit::launch_sgemm<Policy::tf32>,
     .emulation = {{.fp16_products = 6}}},
    {.name = "128x256", .idea = "always tiles of 128 x 256", .launch = presplit::launch_sgemm<Policy::automatic, true>},
};
constexpr gemm::StageInfo info = {
    .idea = "as 10, and where FP16 might lose digits that count, TF32: decided on the device",
    .base = "10",
    .accuracy = gemm::Accuracy::tensor_fp32,
    .min_compute_capability = 80,
    .launch = presplit::launch_sgemm<Policy::automatic>,
    .emulation = {.fp16_products = 3, .policy = presplit::policy_taken},
    .batch = true,
    .workspace_bytes = [](const gemm::Problem& p) { return presplit::workspace_bytes<Policy::automatic>(p); },
    .variants = variants,
};
const gemm::Registration registration{__FILE__, info};

}  // namespace
