// 06b givens: B = G(i, j, theta) A for many small matrices on the Tensor Cores. The rotation G is the identity but for
// four elements. The lanes that hold them set them in registers; CUDA's own interface would need shared memory.
//
// Idea      Rows i and j are the same for all matrices, theta is not. If (i, j) is known when nvcc compiles, it says
//           which lane sets which register. At run time it must be compared with all that a lane holds. Or map() finds
//           the index at run time: then x[] must lie in local memory, because registers have no addresses.
// Limit     Device memory: A is read and B written, 1,028 bytes with cos(theta) and sin(theta), for 8,192 FLOPs.
// Number    Shared memory of the forms in registers: 0 bytes, 0 requests. Instructions of each form, and its local
//           memory: --sass.
// Map       A warp has one matrix, and makes G for it. FP16 in and out, sums in FP32.
// Page      docs/tensorcore/06b_givens.md
// Source    Ootomo and Yokota (2023), section 4.3, Code 6 and Figure 5.
#include <mma.h>

#include "common/kernel/launch.cuh"
#include "tensorcore/transforms.hpp"
#include "tensorcore/wmma_ext/wmma_ext.hpp"

namespace {

namespace wmma = nvcuda::wmma;
constexpr int TILE = 16, ELEMENTS = TILE * TILE, LANES = 32;
constexpr int WARPS = 4, THREADS = WARPS * LANES;  // of a block
using G = wmma::fragment<wmma::matrix_a, TILE, TILE, TILE, __half, wmma::row_major>;
using A = wmma::fragment<wmma::matrix_b, TILE, TILE, TILE, __half, wmma::row_major>;
using Sum = wmma::fragment<wmma::accumulator, TILE, TILE, TILE, float>;
using B = wmma::fragment<wmma::accumulator, TILE, TILE, TILE, __half>;  // its elements lie as Sum's do

// The two rows: arguments of the kernel, or a part of it.
struct Arguments {
  int i, j;
};
struct Embedded {
  static constexpr int i = 3, j = 12;
};

__device__ void set_rotation(G& g, Arguments rows, __half c, __half s) {
  wmma_ext::make_identity(g);
  wmma_ext::set_element(g, rows.i, rows.i, c);
  wmma_ext::set_element(g, rows.i, rows.j, __hneg(s));
  wmma_ext::set_element(g, rows.j, rows.i, s);
  wmma_ext::set_element(g, rows.j, rows.j, c);
}
__device__ void set_rotation(G& g, Embedded, __half c, __half s) {
  constexpr int I = Embedded::i, J = Embedded::j;
  wmma_ext::make_identity(g);
  wmma_ext::set_element<I, I>(g, c);
  wmma_ext::set_element<I, J>(g, __hneg(s));
  wmma_ext::set_element<J, I>(g, s);
  wmma_ext::set_element<J, J>(g, c);
}

// The paper's Code 6, element by element: the lane and the indices in x[] are calculated at run time.
__device__ void set_by_map(G& g, int i, int j, __half value) {
  const auto at = wmma_ext::map<G>(i, j);
  if (at.lane != wmma_ext::lane_id()) return;
#pragma unroll
  for (const unsigned index : at.indices) g.x[index] = value;
}
__device__ void set_rotation_by_map(G& g, Arguments rows, __half c, __half s) {
  wmma_ext::make_identity(g);
  set_by_map(g, rows.i, rows.i, c);
  set_by_map(g, rows.i, rows.j, __hneg(s));
  set_by_map(g, rows.j, rows.i, s);
  set_by_map(g, rows.j, rows.j, c);
}

// B = G A of a warp.
__device__ void multiply(const G& g, const __half* a, __half* b) {
  A operand;
  Sum sum;
  B rounded;
  wmma::fill_fragment(sum, 0.0f);
  wmma::load_matrix_sync(operand, a, TILE);
  wmma::mma_sync(sum, g, operand, sum);
#pragma unroll
  for (int e = 0; e < sum.num_elements; ++e) rounded.x[e] = __float2half(sum.x[e]);
  wmma::store_matrix_sync(b, rounded, TILE, wmma::mem_row_major);
}

__device__ std::int64_t matrix_of_warp() {
  return static_cast<std::int64_t>(blockIdx.x) * WARPS + threadIdx.x / LANES;
}

template <class Rows>
__global__ void __launch_bounds__(THREADS)
    givens_registers(const __half2* __restrict__ rotations, const __half* __restrict__ a, __half* __restrict__ b,
                     std::int64_t count, Rows rows) {
  const std::int64_t matrix = matrix_of_warp();
  if (matrix >= count) return;  // the whole warp
  const __half2 rotation = rotations[matrix];
  G g;
  set_rotation(g, rows, __low2half(rotation), __high2half(rotation));
  multiply(g, a + matrix * ELEMENTS, b + matrix * ELEMENTS);
}

// The same by map() at run time.
__global__ void __launch_bounds__(THREADS)
    givens_map(const __half2* __restrict__ rotations, const __half* __restrict__ a, __half* __restrict__ b,
               std::int64_t count, Arguments rows) {
  const std::int64_t matrix = matrix_of_warp();
  if (matrix >= count) return;
  const __half2 rotation = rotations[matrix];
  G g;
  set_rotation_by_map(g, rows, __low2half(rotation), __high2half(rotation));
  multiply(g, a + matrix * ELEMENTS, b + matrix * ELEMENTS);
}

// The same without wmma_ext: the warp writes G to shared memory, half a row a lane, and loads it from there.
template <class Rows>
__global__ void __launch_bounds__(THREADS)
    givens_shared(const __half2* __restrict__ rotations, const __half* __restrict__ a, __half* __restrict__ b,
                  std::int64_t count, Rows rows) {
  constexpr int WIDE = 8, LDM = TILE + WIDE;  // elements; padding: no bank conflicts
  __shared__ __align__(32) __half matrices[WARPS][TILE * LDM];
  const std::int64_t matrix = matrix_of_warp();
  if (matrix >= count) return;
  const __half2 rotation = rotations[matrix];
  const __half c = __low2half(rotation), s = __high2half(rotation);
  __half* const memory = matrices[threadIdx.x / LANES];
  const int row = threadIdx.x % TILE, col = threadIdx.x % LANES / TILE * WIDE;
  const __half diagonal = row == rows.i || row == rows.j ? c : __half(1.0f), other = row == rows.i ? __hneg(s) : s;
  const int other_col = row == rows.i ? rows.j : row == rows.j ? rows.i : -1;
  uint4 word;
#pragma unroll
  for (int k = 0; k < WIDE; ++k) {
    reinterpret_cast<__half*>(&word)[k] = col + k == row ? diagonal : col + k == other_col ? other : __half(0.0f);
  }
  *reinterpret_cast<uint4*>(memory + row * LDM + col) = word;
  __syncwarp();
  G g;
  wmma::load_matrix_sync(g, memory, LDM);
  multiply(g, a + matrix * ELEMENTS, b + matrix * ELEMENTS);
}

using gemm::batches::Form;
using gemm::transforms::Matrices;

template <class Rows>
Form form(const std::string& name, void (*kernel)(const __half2*, const __half*, __half*, std::int64_t, Rows),
          const Matrices& matrices, Rows rows) {
  const auto launch = [=, &matrices](std::int64_t count) {
    const auto blocks = static_cast<unsigned>((count + WARPS - 1) / WARPS);
    return gemm::launch(kernel, {.grid = blocks, .block = THREADS},
                        reinterpret_cast<const __half2*>(matrices.parameters()), matrices.a(), matrices.b(), count,
                        rows);
  };
  return {name, launch, "", reinterpret_cast<const void*>(kernel)};
}

int i = Embedded::i, j = Embedded::j;
int most = 23;
bool with_code = false;

gemm::ProbeReport probe(const gemm::ProbeRun& run) {
  if (i == j) throw gemm::UsageError("a rotation needs two rows: --i and --j must differ");
  gemm::ProbeReport report;
  if (with_code) gemm::batches::add_code(__FILE__, "givens_", report);
  Matrices matrices = Matrices::givens(i, j);
  std::vector<Form> forms = {form("registers, arguments", givens_registers<Arguments>, matrices, Arguments{i, j}),
                             form("registers, embedded", givens_registers<Embedded>, matrices, Embedded{}),
                             form("map, arguments", givens_map, matrices, Arguments{i, j}),
                             form("shared, arguments", givens_shared<Arguments>, matrices, Arguments{i, j}),
                             form("shared, embedded", givens_shared<Embedded>, matrices, Embedded{})};
  if (i != Embedded::i || j != Embedded::j) {
    for (Form& of_others : forms) {
      if (!of_others.name.ends_with("embedded")) continue;
      of_others.launch = {};
      of_others.reason = "compiled for the rows 3 and 12";
    }
  }
  report.settings = {{"most", run.time ? most : 0}, {"i", i}, {"j", j}};
  gemm::batches::measure(run, {gemm::transforms::task(matrices, "16 x 16", forms, "shared, arguments")},
                         gemm::transforms::sizes(run, most), report);
  return report;
}

const gemm::ProbeRegistration registration{
    __FILE__,
    {.idea = "Givens rotations of many small matrices on the Tensor Cores, the rotation made in registers",
     .options = gemm::transforms::options(
         most, with_code,
         {{.name = "--i", .description = "the rotation's first row", .number = &i, .least = 0, .most = TILE - 1},
          {.name = "--j", .description = "its second row", .number = &j, .least = 0, .most = TILE - 1}}),
     .run = probe}};

}  // namespace
