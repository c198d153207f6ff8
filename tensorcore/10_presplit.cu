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
//           what is left needs no factor 2^11, and so no sum of its own. The loop is here. First of a kind: its
//           parts are in presplit/{split,product,epilogue}.cuh, the launches in sgemm.cuh; 11 uses them, too.
// Limit     mma.sync: a third of its FP16 peak. Issue slots: 412 instructions while a Tensor Core is busy for 1,152
//           cycles (192 mma.sync). Splitting moves 8 bytes per number, 12 if a vector has more than 8,192.
// Number    sm__pipe_tensor_op_hmma_cycles_active; time of split_operands beside the product's.
// Map       4 warps of 64 x 64, two blocks per SM. Lane 4 g + t has rows g, g + 8, columns 2 t, 2 t + 1 of 16 x 8.
// Page      docs/tensorcore/10_presplit.md
// Source    Ootomo and Yokota (2022), the products and their promotion. Scaling and arrangement are ours.
#include "tensorcore/presplit/sgemm.cuh"

namespace {

using namespace presplit;

template <class S>
__global__ void __launch_bounds__(S::THREADS, S::BLOCKS) multiply_tiles(const ProductRequest p) {
  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  const Place<S> at(p);
  gemm::ptx::wait_for_launch_ahead();
  const int part = p.slices == 1 ? static_cast<int>(blockIdx.x) : -1;  // of C; a slice's sums are none
  if (!is_wanted(p, at.matrix, part)) return;                          // 11 leaves some out
  const int warp_row = warp / S::WARPS_N * S::WARP_M, warp_col = warp % S::WARPS_N * S::WARP_N;
  const SharedAddress shared = gemm::ptx::shared_address(smem);
  const int first_tile = at.slice * p.slice_tiles, tiles_k = max(min(p.slice_tiles, p.tiles_k - first_tile), 0);
  using C = Copies<S>;
  const int a_first = warp * C::A_PART + C::A_PART / 2 + 16 * lane;
  const int b_first = warp * C::B_PART + C::B_PART / 2 + 16 * lane;
  const unsigned char* const from_a = p.a_tiles.begin(at.matrix, p.tiles_k, first_tile, at.tile_m, S::A_TILE);
  const unsigned char* const from_b = p.b_tiles.begin(at.matrix, p.tiles_k, first_tile, at.tile_n, S::B_TILE);
  C copies{p, from_a + a_first, from_b + b_first, tiles_k, shared + a_first, shared + S::A_TILE + b_first};
  // Of A lane l gives ldmatrix row l % 16 of 16 x 16, from its 8 (l / 16)-th column on; of B, whose tiles hold columns
  // as A's hold rows, row l % 8 of chunk l / 8: of 8 columns all that is rounded, or all rests.
  const unsigned a_row = lane % 16, a_chunk = lane / 16, b_row = lane % 8, b_chunk = lane / 8;
  const SharedAddress a_lane = shared + (warp_row + a_row) * VECTOR_BYTES + (a_chunk ^ lane % 8) * CHUNK_BYTES;
  const SharedAddress b_lane =
      shared + S::A_TILE + (warp_col + b_row) * VECTOR_BYTES + (b_chunk ^ lane % 8) * CHUNK_BYTES;
  FragmentsOfA<S> x = {};
  FragmentsOfB y = {};
  unsigned current = 0;  // the tiles that are read, in bytes
  float sum[S::ROWS][S::COLS][4] = {};

#pragma unroll 1
  for (int stage = 0; stage < S::STAGES - 1; ++stage) {
    copies.template copy_part<1>(0);
    copies.commit();
  }
  // An iteration begins with the last columns of the tile before, whose fragments are there, and zeros at first:
  // meanwhile those of this tile arrive. So none is in flight when it ends: ptxas would wait for all.
#pragma unroll 1
  for (int tile = tiles_k; tile > 0; --tile) {
    gemm::ptx::cp_async_wait<S::STAGES - 2>();
    __syncthreads();  // everybody's part of this tile has arrived, and nobody reads the last one any more
#pragma unroll
    for (int col = 0; col < S::COLS; ++col) {
      read_b(y, b_lane + current, col);
      if (col % 2 == 1 && col / 2 < COPY_PARTS) copies.template copy_part<COPY_PARTS>(col / 2);
      multiply<Half, S>(x, y, sum, a_lane + current, (col + S::COLS - 1) % S::COLS, col == 0);
    }
    copies.commit();
    current = next_stage<S>(current);
  }
  multiply<Half, S>(x, y, sum, a_lane + current, S::COLS - 1, false);

  // This thread's elements: rows `row` + 8 i, columns `col` + 8 j and the next.
  const int row = at.tile_m * S::TILE_M + warp_row + lane / 4, col = at.tile_n * S::TILE_N + warp_col + lane % 4 * 2;
  if (p.slices > 1) return store_slice<S>(p, at, row, col, sum);
  Scale rows[2 * S::ROWS];
  float cols[S::COLS][2];
  bool rare = load_scales<S>(p, at, row, col, rows, cols);
  float* const out = p.c.matrix(at.matrix) + row * p.c.to_next_row + col;
  rare |= reinterpret_cast<std::uintptr_t>(out) % 8 != 0 || p.c.to_next_row % 2 != 0;
  if (!__syncthreads_or(rare)) {  // nearly always
    if (p.take == Take::certain && thread == 0) p.left[part] = 0;
    return store_pairs<S>(p, out, rows, cols, sum);
  }
  store_one_by_one<S>(p, at, part, warp_row + lane / 4, warp_col + lane % 4 * 2, sum);
}

}  // namespace

gemm::Status presplit::launch_half(const Request& r, void* workspace, cudaStream_t stream) {
  return by_groups(r, workspace, stream, [&](const Group& g) {
    return r.wide ? launch_group<Half, Wide>(g, multiply_tiles<Wide>, Take::all_as_they_are)
                  : launch_group<Half, Usual>(g, multiply_tiles<Usual>, Take::all_as_they_are);
  });
}

namespace {

constexpr gemm::Variant variants[] = {
    {.name = "128x256", .idea = "always tiles of 128 x 256", .launch = launch_sgemm<Policy::half, true>},
};
constexpr gemm::StageInfo info = {
    .idea = "numbers scaled and split once, in a pass of their own; ldmatrix and copies some tiles ahead",
    .base = "03",
    .accuracy = gemm::Accuracy::tensor_fp32,
    .min_compute_capability = 80,
    .launch = launch_sgemm<Policy::half>,
    .emulation = {.fp16_products = 3},
    .batch = true,
    .workspace_bytes = [](const gemm::Problem& p) { return workspace_bytes<Policy::half>(p); },
    .variants = variants,
};
const gemm::Registration registration{__FILE__, info};

}  // namespace
