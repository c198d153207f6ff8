// 10 presplit: numbers are split once, by a kernel of its own, which puts them where tiles want them; the product is
// 03's pipeline with three products in the place of one.
//
// Idea      In 08 each warp splits what it multiplies, and so does its neighbour: four instructions a number, 62 % of
//           all. Split once, scaled by a power of two that fits the row (or the column), and written as the tiles of the
//           product lie in shared memory, swizzled: then a tile is copied from end to end, and fragments are loaded by
//           ldmatrix.
// Base      03_pipeline
// Change    03's loop: 32 steps of k to a tile, their rounded parts and what is left beside each other; per product of
//           16 x 8 three mma.sync into a sum of its own, added to C by plain cores. As rows are scaled to FP16's upper
//           end, what is left needs no factor 2^11, and so no sum of its own. It is three files: presplit/split.cuh and
//           product.cuh, the kernels, and sgemm.cuh, their launches; 11 uses them, too.
// Limit     mma.sync: a third of 617 TFLOP/s. Issue slots: four additions for three products, 7 of 18 cycles. Splitting
//           moves 12 bytes a number (4 read twice, 4 written).
// Number    sm__pipe_tensor_op_hmma_cycles_active; time of split_operands beside the product's.
// Map       4 warps of 64 x 64 of C, two blocks an SM: lane 4 g + t holds rows g and g + 8, columns 2 t and 2 t + 1 of 16 x 8.
// Page      docs/tensorcore/10_presplit.md
// Source    Ootomo and Yokota (2022), the products and their promotion. Scaling and arrangement are ours.
#include "tensorcore/presplit/sgemm.cuh"

// For the library, tcec_sgemm.cu.
template gemm::Status presplit::launch<presplit::Policy::half>(const Request&, void*, cudaStream_t);

namespace {

using presplit::Policy;

constexpr gemm::Variant variants[] = {
    {.name = "128x256", .idea = "always tiles of 128 x 256", .launch = presplit::launch_sgemm<Policy::half, true>},
};
constexpr gemm::StageInfo info = {
    .idea = "numbers scaled and split once, in a pass of their own; ldmatrix and copies some tiles ahead",
    .base = "03",
    .accuracy = gemm::Accuracy::tensor_fp32,
    .min_compute_capability = 80,
    .launch = presplit::launch_sgemm<Policy::half>,
    .emulation = {.fp16_products = 3},
    .batch = true,
    .workspace_bytes = [](const gemm::Problem& p) { return presplit::workspace_bytes<Policy::half>(p); },
    .variants = variants,
};
const gemm::Registration registration{__FILE__, info};

}  // namespace
