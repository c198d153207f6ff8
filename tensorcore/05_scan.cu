// 05 scan: inclusive prefix sums of many rows of 16, and of 256, on the Tensor Cores. The triangle of ones that makes
// them is computed in registers; CUDA's own interface would need shared memory for it.
//
// Idea      A row times U, upper triangular and full of ones, is its prefix sums. 256 numbers are a tile of 16 rows:
//           A U + (L A) J. L has ones below its diagonal, J everywhere. L A has, in each column, the sum of the
//           rows above; J adds up the columns. All three follow from a rule, so no memory needs to hold them.
// Limit     Device memory: 6 bytes per number, 2 in and 4 out. For a tile of 1,536 bytes Tensor Cores do 8,192 FLOPs,
//           or 32,768. At the speed of a copy that is at most a twelfth of what they could do.
// Number    Shared memory of the form in registers: 0 bytes, 0 requests.
// Map       A warp has a tile: 16 rows of 16, or one of 256. L A is an accumulator. Its elements lie where those of an
//           operand A lie, so rounded to FP16 it is one.
// Page      docs/tensorcore/05_scan.md
// Source    Dakkak et al. (2019); Ootomo and Yokota (2023), section 4.1 and Code 3.
#include <mma.h>

#include <algorithm>

#include "common/kernel/launch.cuh"
#include "tensorcore/scan_cub.cuh"
#include "tensorcore/scan_rows.hpp"
#include "tensorcore/wmma_ext/wmma_ext.hpp"

namespace {

namespace wmma = nvcuda::wmma;
constexpr int TILE = 16, ELEMENTS = TILE * TILE, LANES = 32;
constexpr int WARPS = 4, THREADS = WARPS * LANES;  // of a block
constexpr int BLOCKS = 8;  // of an SM, where warps have many tiles: 32 warps ask for 16 KB at once
using A = wmma::fragment<wmma::matrix_a, TILE, TILE, TILE, __half, wmma::row_major>;
using B = wmma::fragment<wmma::matrix_b, TILE, TILE, TILE, __half, wmma::row_major>;
using C = wmma::fragment<wmma::accumulator, TILE, TILE, TILE, float>;

template <int WIDTH>
struct Triangles {
  B upper;  // U: (i, j) is 1 if i <= j
  A lower;  // L: (i, j) is 1 if j < i. Rows of 16 need neither this nor J
  B ones;   // J
};

constexpr bool accumulators_lie_like_operands() {
  for (int lane = 0; lane < LANES; ++lane) {
    for (int i = 0; i < ELEMENTS / LANES; ++i) {
      const auto a = wmma_ext::fragment_traits<A>::place(lane, i), c = wmma_ext::fragment_traits<C>::place(lane, i);
      if (a.row != c.row || a.col != c.col) return false;
    }
  }
  return true;
}
static_assert(accumulators_lie_like_operands());

// A warp's tiles, one after the other.
template <int WIDTH>
__device__ void scan_tiles(const Triangles<WIDTH>& t, const __half* in, float* out, std::int64_t tiles) {
  const std::int64_t warps = static_cast<std::int64_t>(gridDim.x) * WARPS;
  for (std::int64_t tile = static_cast<std::int64_t>(blockIdx.x) * WARPS + threadIdx.x / LANES; tile < tiles;
       tile += warps) {
    A rows;
    C sums;
    wmma::fill_fragment(sums, 0.0f);
    wmma::load_matrix_sync(rows, in + tile * ELEMENTS, TILE);
    wmma::mma_sync(sums, rows, t.upper, sums);
    if constexpr (WIDTH == ELEMENTS) {
      B columns;  // the same numbers as the other operand: nvcc loads them once, and has lanes exchange them
      C above;
      wmma::fill_fragment(above, 0.0f);
      wmma::load_matrix_sync(columns, in + tile * ELEMENTS, TILE);
      wmma::mma_sync(above, t.lower, columns, above);
      // FP32 sums as operands: what FP16 holds of them, and what FP16 holds of the rest. Beyond 65,504 they overflow.
      A high, low;
#pragma unroll
      for (int i = 0; i < above.num_elements; ++i) {
        const __half h = __float2half(above.x[i]), rest = __float2half(above.x[i] - __half2float(h));
        high.x[i] = high.x[i + above.num_elements] = h;
        low.x[i] = low.x[i + above.num_elements] = rest;
      }
      wmma::mma_sync(sums, high, t.ones, sums);
      wmma::mma_sync(sums, low, t.ones, sums);
    }
    wmma::store_matrix_sync(out + tile * ELEMENTS, sums, TILE, wmma::mem_row_major);
  }
}

// The triangles by their rule: each lane calculates the elements that it has.
template <int WIDTH>
__global__ void __launch_bounds__(THREADS, BLOCKS)
    scan_registers(const __half* __restrict__ in, float* __restrict__ out, std::int64_t tiles) {
  Triangles<WIDTH> t;
  wmma_ext::foreach_ij<B>([&](auto indices, int i, int j) {
    for (const unsigned index : indices) t.upper.x[index] = __half(i <= j ? 1.0f : 0.0f);
  });
  if constexpr (WIDTH == ELEMENTS) {
    wmma_ext::foreach_ij<A>([&](auto indices, int i, int j) {
      for (const unsigned index : indices) t.lower.x[index] = __half(j < i ? 1.0f : 0.0f);
    });
    wmma::fill_fragment(t.ones, __half(1.0f));
  }
  scan_tiles(t, in, out, tiles);
}

// The same without wmma_ext: the block writes them to shared memory, and each warp loads them.
template <int WIDTH>
__global__ void __launch_bounds__(THREADS, BLOCKS)
    scan_shared(const __half* __restrict__ in, float* __restrict__ out, std::int64_t tiles) {
  __shared__ __align__(32) __half upper[ELEMENTS], lower[WIDTH];
  for (int e = threadIdx.x; e < ELEMENTS; e += THREADS) {
    upper[e] = __half(e / TILE <= e % TILE ? 1.0f : 0.0f);
    if constexpr (WIDTH == ELEMENTS) lower[e] = __half(e % TILE < e / TILE ? 1.0f : 0.0f);
  }
  __syncthreads();
  Triangles<WIDTH> t;
  wmma::load_matrix_sync(t.upper, upper, TILE);
  if constexpr (WIDTH == ELEMENTS) {
    wmma::load_matrix_sync(t.lower, lower, TILE);
    wmma::fill_fragment(t.ones, __half(1.0f));
  }
  scan_tiles(t, in, out, tiles);
}

using gemm::batches::Form;
using gemm::scan::Rows;

// each: a warp has one tile and makes the triangles for that; else it has as many as it takes.
Form form(const std::string& name, void (*kernel)(const __half*, float*, std::int64_t), const Rows& rows, bool each,
          int sm_count) {
  const auto launch = [=, &rows](std::int64_t count) {
    const std::int64_t tiles = count * rows.width() / ELEMENTS, needed = (tiles + WARPS - 1) / WARPS;
    const std::int64_t blocks = each ? needed : std::min<std::int64_t>(needed, sm_count * BLOCKS);
    return gemm::launch(kernel, {.grid = static_cast<unsigned>(blocks), .block = THREADS}, rows.in(), rows.out(),
                        tiles);
  };
  return {name + (each ? ", each" : ", once"), launch, "", reinterpret_cast<const void*>(kernel)};
}

template <int WIDTH>
gemm::batches::Task task(Rows& rows, int sm_count) {
  return gemm::scan::task(
      rows,
      {form("registers", scan_registers<WIDTH>, rows, false, sm_count),
       form("registers", scan_registers<WIDTH>, rows, true, sm_count),
       form("shared", scan_shared<WIDTH>, rows, false, sm_count),
       form("shared", scan_shared<WIDTH>, rows, true, sm_count), gemm::scan::cub_form<WIDTH>(rows, sm_count)},
      "shared, once");
}

int most = 22;
bool with_code = false;

gemm::ProbeReport probe(const gemm::ProbeRun& run) {
  gemm::ProbeReport report;
  if (with_code) gemm::batches::add_code(__FILE__, "scan_", report);
  Rows short_rows(TILE), long_rows(ELEMENTS);
  std::vector<std::int64_t> sizes;
  for (int log2 = 10; run.time && log2 <= most; log2 += 2) sizes.push_back(std::int64_t{1} << log2);
  if (!run.time) sizes = {37 * TILE};
  const int sm_count = run.time ? run.sm_count : 1;  // some of its 32 warps have two tiles of these, some have one
  report.settings = {{"most", run.time ? most : 0}};
  gemm::batches::measure(run, {task<TILE>(short_rows, sm_count), task<ELEMENTS>(long_rows, sm_count)}, sizes, report);
  return report;
}

const gemm::ProbeRegistration registration{
    __FILE__,
    {.idea = "prefix sums of rows on the Tensor Cores, the triangle of ones made in registers",
     .options = {{.name = "--most",
                  .description = "timed: batches to 2^MOST rows, from 2^10 on",
                  .number = &most,
                  .least = 10,
                  .most = 26},
                 {.name = "--sass",
                  .description = "what nvcc makes of the kernels, too (needs nvcc and nvdisasm, but no GPU)",
                  .flag = &with_code}},
     .run = probe}};

}  // namespace
