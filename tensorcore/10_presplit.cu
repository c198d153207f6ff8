// 10 presplit: a kernel of its own splits each number once, and writes it where tiles want it. The product is 03's
// pipeline with three products instead of one.
//
// Idea      In 08 each warp splits what it multiplies, and so do its neighbours: 272 of 462 instructions, 59 %. Here
//           numbers are split once, and scaled by a power of two that fits their row (or column). They are written as
//           the tiles of the product lie in shared memory, swizzled. Then a tile is consecutive memory, and fragments
//           are loaded by ldmatrix.
// Base      03_pipeline
// Change    03's loop: 32 steps of k per tile, the rounded parts and what is left beside each other. Per 16 x 8 of C
//           six mma.sync into a sum of their own, which plain cores add to C. As rows are scaled to FP16's upper end,
//           what is left needs no factor 2^11, and so no sum of its own. The kernels are in presplit/split.cuh,
//           product.cuh and epilogue.cuh, their launches in sgemm.cuh; 11 uses them, too.
// Limit     mma.sync: a third of its FP16 peak. Issue slots: 412 instructions while a Tensor Core is busy for 1,152
//           cycles (192 mma.sync). Splitting moves 8 bytes per number, 12 if a vector has more than 8,192.
// Number    sm__pipe_tensor_op_hmma_cycles_active; time of split_operands beside the product's.
// Map       4 warps of 64 x 64, two blocks per SM. Lane 4 g + t has rows g, g + 8, columns 2 t, 2 t + 1 of 16 x 8.
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
