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

namespace {

using namespace presplit;

template <class Number, class S>
__global__ void __launch_bounds__(S::THREADS, S::BLOCKS) multiply_tiles(const ProductRequest p) {
  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  const Place<S> at(p);
  gemm::ptx::wait_for_launch_ahead();
  const int part = p.slices == 1 ? static_cast<int>(blockIdx.x) : -1;  // of C; a slice's sums are none
  if (!is_wanted(p, at.matrix, part)) return;
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
      multiply<Number, S>(x, y, sum, a_lane + current, (col + S::COLS - 1) % S::COLS, col == 0);
    }
    copies.commit();
    current = next_stage<S>(current);
  }
  multiply<Number, S>(x, y, sum, a_lane + current, S::COLS - 1, false);

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

template <class Number>
gemm::Status launch_tiles(const Group& g, Take take) {
  return g.r.wide ? launch_group<Number, Wide>(g, multiply_tiles<Number, Wide>, take)
                  : launch_group<Number, Usual>(g, multiply_tiles<Number, Usual>, take);
}

}  // namespace

gemm::Status presplit::launch_automatic(const Request& r, void* workspace, cudaStream_t stream) {
  if (r.is_empty()) return gemm::Status::ok();
  const gemm::Status cleared = gemm::status_of(cudaMemsetAsync(workspace, 0, sizeof(Findings) * r.batch, stream));
  if (!cleared) return cleared;
  return by_groups(r, workspace, stream, [](const Group& g) {
    const gemm::Status status = launch_tiles<Half>(g, Take::certain);
    return status ? launch_tiles<Tf32>(g, Take::left) : status;
  });
}

gemm::Status presplit::launch_tf32(const Request& r, void* workspace, cudaStream_t stream) {
  return by_groups(r, workspace, stream, [](const Group& g) { return launch_tiles<Tf32>(g, Take::all); });
}

namespace {

constexpr gemm::Variant variants[] = {
    {.name = "tf32", .idea = "always TF32", .launch = launch_sgemm<Policy::tf32>, .emulation = {{.fp16_products = 6}}},
    {.name = "128x256", .idea = "always tiles of 128 x 256", .launch = launch_sgemm<Policy::automatic, true>},
};
constexpr gemm::StageInfo info = {
    .idea = "as 10, and where FP16 might lose digits that count, TF32: decided on the device",
    .base = "10",
    .accuracy = gemm::Accuracy::tensor_fp32,
    .min_compute_capability = 80,
    .launch = launch_sgemm<Policy::automatic>,
    .emulation = {.fp16_products = 3, .policy = policy_taken, .usual = "fp16"},
    .batch = true,
    .workspace_bytes = [](const gemm::Problem& p) { return workspace_bytes<Policy::automatic>(p); },
    .variants = variants,
};
const gemm::Registration registration{__FILE__, info};

}  // namespace
