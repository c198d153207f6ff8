// 06a householder: B = (I - 2 v v^T) A for many small matrices on the Tensor Cores. The reflection H is computed in
// registers; CUDA's own interface would need shared memory for it.
//
// Idea      H follows from v: element (i, j) is -2 v_i v_j, plus 1 where i = j. Each lane computes the elements that it
//           holds. A matrix of 32 x 32 is four fragments, and one foreach_ij can set them all.
// Limit     Device memory: A is read and B written, 1,056 or 4,160 bytes with v, for 8,192 or 65,536 FLOPs.
// Number    Shared memory of the forms in registers: 0 bytes, 0 requests. Instructions of each form: --sass.
// Map       A warp has one matrix, and makes H for it. FP16 in and out, sums in FP32, H rounded once to FP16.
// Page      docs/tensorcore/06a_householder.md
// Source    Ootomo and Yokota (2023), section 4.2, Codes 4 and 5 (corrected) and Figure 4.
#include <mma.h>

#include "common/kernel/launch.cuh"
#include "tensorcore/transforms.hpp"
#include "tensorcore/wmma_ext/wmma_ext.hpp"

namespace {

namespace wmma = nvcuda::wmma;
constexpr int TILE = 16, LANES = 32;
constexpr int WARPS = 4, THREADS = WARPS * LANES;  // of a block
using H = wmma::fragment<wmma::matrix_a, TILE, TILE, TILE, __half, wmma::row_major>;
using A = wmma::fragment<wmma::matrix_b, TILE, TILE, TILE, __half, wmma::row_major>;
using Sum = wmma::fragment<wmma::accumulator, TILE, TILE, TILE, float>;
using B = wmma::fragment<wmma::accumulator, TILE, TILE, TILE, __half>;  // its elements lie as Sum's do

// Of I - 2 v v^T, rounded once: to double a number is exact.
__device__ __forceinline__ __half reflection(__half v_i, __half v_j, bool diagonal) {
  return __hfma(__hmul(v_i, __half(-2.0f)), v_j, __half(diagonal ? 1.0f : 0.0f));
}

// B = H A of a warp, where H is T x T fragments.
template <int T>
__device__ void multiply(const H (&h)[T][T], const __half* a, __half* b) {
  constexpr int M = T * TILE;
#pragma unroll
  for (int col = 0; col < M; col += TILE) {
    A column[T];
#pragma unroll
    for (int k = 0; k < T; ++k) wmma::load_matrix_sync(column[k], a + k * TILE * M + col, M);
#pragma unroll
    for (int row = 0; row < T; ++row) {
      Sum sum;
      B rounded;
      wmma::fill_fragment(sum, 0.0f);
#pragma unroll
      for (int k = 0; k < T; ++k) wmma::mma_sync(sum, h[row][k], column[k], sum);
#pragma unroll
      for (int e = 0; e < sum.num_elements; ++e) rounded.x[e] = __float2half(sum.x[e]);
      wmma::store_matrix_sync(b + row * TILE * M + col, rounded, M, wmma::mem_row_major);
    }
  }
}

__device__ std::int64_t matrix_of_warp() {
  return static_cast<std::int64_t>(blockIdx.x) * WARPS + threadIdx.x / LANES;
}

// CALLS: of foreach_ij, one that sets all fragments, or one for each of them.
template <int M, int CALLS>
__global__ void __launch_bounds__(THREADS)
    householder_registers(const __half* __restrict__ vectors, const __half* __restrict__ a, __half* __restrict__ b,
                          std::int64_t count) {
  const std::int64_t matrix = matrix_of_warp();
  if (matrix >= count) return;  // the whole warp
  const __half* const v = vectors + matrix * M;
  constexpr int T = M / TILE;
  H h[T][T];
  const auto set = [&](int block_i, int block_j, auto indices, int i, int j) {
    const __half element = reflection(v[block_i * TILE + i], v[block_j * TILE + j], block_i == block_j && i == j);
    for (const unsigned index : indices) h[block_i][block_j].x[index] = element;
  };
  if constexpr (CALLS == 1) {
    wmma_ext::foreach_ij<H>([&](auto indices, int i, int j) {
#pragma unroll
      for (int block = 0; block < T * T; ++block) set(block / T, block % T, indices, i, j);
    });
  } else {
#pragma unroll
    for (int block = 0; block < T * T; ++block) {
      wmma_ext::foreach_ij<H>([&](auto indices, int i, int j) { set(block / T, block % T, indices, i, j); });
    }
  }
  multiply(h, a + matrix * M * M, b + matrix * M * M);
}

// The same without wmma_ext: the warp writes H to shared memory, 16 bytes a lane at a time, and loads it from there.
template <int M>
__global__ void __launch_bounds__(THREADS)
    householder_shared(const __half* __restrict__ vectors, const __half* __restrict__ a, __half* __restrict__ b,
                       std::int64_t count) {
  constexpr int WIDE = 8, LDM = M + WIDE;  // elements; padding: no bank conflicts
  __shared__ __align__(32) __half matrices[WARPS][M * LDM];
  const std::int64_t matrix = matrix_of_warp();
  if (matrix >= count) return;
  const __half* const v = vectors + matrix * M;
  __half* const memory = matrices[threadIdx.x / LANES];
#pragma unroll
  for (int e = threadIdx.x % LANES; e < M * M / WIDE; e += LANES) {
    const int row = e % M, col = e / M * WIDE;
    const uint4 columns = *reinterpret_cast<const uint4*>(v + col);
    const auto* const v_j = reinterpret_cast<const __half*>(&columns);
    uint4 word;
#pragma unroll
    for (int k = 0; k < WIDE; ++k) reinterpret_cast<__half*>(&word)[k] = reflection(v[row], v_j[k], row == col + k);
    *reinterpret_cast<uint4*>(memory + row * LDM + col) = word;
  }
  __syncwarp();
  constexpr int T = M / TILE;
  H h[T][T];
#pragma unroll
  for (int block = 0; block < T * T; ++block) {
    wmma::load_matrix_sync(h[block / T][block % T], memory + block / T * TILE * LDM + block % T * TILE, LDM);
  }
  multiply(h, a + matrix * M * M, b + matrix * M * M);
}

// Without H, on FP32 cores: A - 2 v (v^T A), 4 M^2 flops for 2 M^3. A lane has two columns, and some of their rows.
template <int M>
__global__ void __launch_bounds__(THREADS)
    householder_direct(const __half* __restrict__ vectors, const __half* __restrict__ a, __half* __restrict__ b,
                       std::int64_t count) {
  constexpr int PAIRS = M / 2, GROUPS = LANES / PAIRS, ROWS = M / GROUPS;
  const std::int64_t matrix = matrix_of_warp();
  if (matrix >= count) return;
  const int lane = threadIdx.x % LANES;
  const auto* const from = reinterpret_cast<const unsigned*>(a + matrix * M * M) + lane;
  auto* const to = reinterpret_cast<unsigned*>(b + matrix * M * M) + lane;
  float left[ROWS], right[ROWS], v[ROWS], product_left = 0, product_right = 0;
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {  // row lane / PAIRS + r GROUPS: the warp's rows lie next to one another
    const unsigned pair = from[r * LANES];
    const auto* const x = reinterpret_cast<const __half*>(&pair);
    v[r] = __half2float(vectors[matrix * M + lane / PAIRS + r * GROUPS]);
    left[r] = __half2float(x[0]);
    right[r] = __half2float(x[1]);
    product_left += v[r] * left[r];
    product_right += v[r] * right[r];
  }
#pragma unroll
  for (int other = PAIRS; other < LANES; other *= 2) {
    product_left += __shfl_xor_sync(~0u, product_left, other);
    product_right += __shfl_xor_sync(~0u, product_right, other);
  }
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    const __half2 pair = __floats2half2_rn(left[r] - 2 * v[r] * product_left, right[r] - 2 * v[r] * product_right);
    to[r * LANES] = reinterpret_cast<const unsigned&>(pair);
  }
}

using gemm::batches::Form;
using gemm::transforms::Matrices;

Form form(const std::string& name, void (*kernel)(const __half*, const __half*, __half*, std::int64_t),
          const Matrices& matrices) {
  const auto launch = [=, &matrices](std::int64_t count) {
    const auto blocks = static_cast<unsigned>((count + WARPS - 1) / WARPS);
    return gemm::launch(kernel, {.grid = blocks, .block = THREADS}, matrices.parameters(), matrices.a(), matrices.b(),
                        count);
  };
  return {name, launch, "", reinterpret_cast<const void*>(kernel)};
}

template <int M>
gemm::batches::Task task(Matrices& matrices) {
  std::vector<Form> forms;
  if constexpr (M == TILE) {
    forms = {form("registers", householder_registers<M, 1>, matrices)};
  } else {
    forms = {form("registers, one call", householder_registers<M, 1>, matrices),
             form("registers, four calls", householder_registers<M, 4>, matrices)};
  }
  forms.push_back(form("shared", householder_shared<M>, matrices));
  forms.push_back(form("direct", householder_direct<M>, matrices));
  return gemm::transforms::task(matrices, "m = " + std::to_string(M), forms, "shared");
}

int most = 21;
bool with_code = false;

gemm::ProbeReport probe(const gemm::ProbeRun& run) {
  gemm::ProbeReport report;
  if (with_code) gemm::batches::add_code(__FILE__, "householder_", report);
  Matrices small = Matrices::householder(TILE), large = Matrices::householder(2 * TILE);
  report.settings = {{"most", run.time ? most : 0}};
  gemm::batches::measure(run, {task<TILE>(small), task<2 * TILE>(large)}, gemm::transforms::sizes(run, most), report);
  return report;
}

const gemm::ProbeRegistration registration{
    __FILE__,
    {.idea = "Householder reflections of many small matrices on the Tensor Cores, the reflection made in registers",
     .options = gemm::transforms::options(most, with_code),
     .run = probe}};

}  // namespace
