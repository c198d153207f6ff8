// 04 fragment map: finds out which lane holds which element of a matrix, in which register, and compares it with what
// is written down.
//
// Idea      A matrix that contains the numbers of its own elements, loaded as a fragment, shows where each element is.
//           mma.sync loads nothing. There one element of A is 1 and B holds the numbers of its places. The product
//           shows which place of B each place of A meets, and where in C.
// Limit     No limit of time: it runs once, when a library or a new GPU is met.
// Number    Registers of a lane: 8 for A of 16 x 16 (FP16) in wmma, 4 in mma.sync, which holds each element once.
// Map       Lanes form 8 groups of 4: g = lane / 4 counts rows (of B columns), t = lane % 4 along them.
// Page      docs/tensorcore/04_fragment_map.md
// Source    Ootomo and Yokota (2023), section 2.3 and Code 2; PTX ISA, "Warp Level Matrix Multiply-Accumulate".
#include "common/backend/counts.hpp"
#include "common/backend/device_memory.hpp"
#include "common/kernel/launch.cuh"
#include "tensorcore/documented_layouts.hpp"
#include "tensorcore/fragment_kinds.hpp"
#include "tensorcore/wmma_ext/wmma_ext.hpp"

namespace {

namespace ext = wmma_ext;
using ext::fragment_traits, ext::value_t;
using gemm::fragments::Kind, gemm::fragments::Place;
constexpr int LANES = 32;

// For sm_75 some types don't exist: their kernels are empty there, and never launched.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
constexpr bool HAS_SM_80 = false;
#else
constexpr bool HAS_SM_80 = true;
#endif

// nvcuda::wmma: x[] of each lane after the load of a matrix of numbers.
template <class F>
__global__ void load_numbers(const value_t<F>* matrix, float (*x)[LANES][16]) {
  if constexpr (HAS_SM_80 || ext::kinds::runs_on_sm_75<F>) {
    F fragment;
    ext::load_unpadded(fragment, matrix);  // load_matrix_sync
    ext::dump(*x, fragment);
  }
}

// mma.sync: place `one` of A is 1, place p of B has the number p + 1; met[one] is C, by places. A place is lane * (its
// elements) + index.
template <class A, class B, class C>
__global__ void multiply_places(float* met) {
  constexpr int of_a = fragment_traits<A>::held, of_b = fragment_traits<B>::held, of_c = fragment_traits<C>::held;
  const int lane = ext::lane_id();
  B b;
#pragma unroll
  for (int i = 0; i < of_b; ++i) b.x[i] = value_t<B>(static_cast<float>(lane * of_b + i + 1));
#pragma unroll 1
  for (int one = 0; one < LANES * of_a; ++one) {
    A a;
    C c;
#pragma unroll
    for (int i = 0; i < of_a; ++i) a.x[i] = value_t<A>(one == lane * of_a + i ? 1.0f : 0.0f);
    ext::fill_zero(c);
    ext::mma::mma_sync(c, a, b, c);
#pragma unroll
    for (int i = 0; i < of_c; ++i) met[(one * LANES + lane) * of_c + i] = static_cast<float>(c.x[i]);
  }
}

using Half = __half;
using WmmaA = nvcuda::wmma::fragment<ext::matrix_a, 16, 16, 16, Half, ext::row_major>;
using WmmaB = nvcuda::wmma::fragment<ext::matrix_b, 16, 16, 16, Half, ext::row_major>;
using WmmaC = nvcuda::wmma::fragment<ext::accumulator, 16, 16, 16, float>;

// C = A B, 16 x 16 each: loaded and stored by wmma, multiplied by two mma.sync, from the same registers.
__global__ void multiply_by_tiles(const Half* a, const Half* b, float* c) {
  WmmaA x;
  WmmaB y;
  WmmaC z;
  ext::load_unpadded(x, a);
  ext::load_unpadded(y, b);
  ext::fill_zero(z);
#pragma unroll
  for (int tile = 0; tile < 2; ++tile) {
    ext::mma::fragment<ext::matrix_a, 16, 8, 16, Half, ext::row_major> xs;
    ext::mma::fragment<ext::matrix_b, 16, 8, 16, Half, ext::col_major> ys;
    ext::mma::fragment<ext::accumulator, 16, 8, 16, float> zs;
#pragma unroll
    for (int i = 0; i < 8; ++i) xs.x[i] = x.x[i];
#pragma unroll
    for (int i = 0; i < 4; ++i) ys.x[i] = y.x[tile * 4 + i];
    ext::fill_zero(zs);
    ext::mma::mma_sync(zs, xs, ys, zs);
#pragma unroll
    for (int i = 0; i < 4; ++i) z.x[tile * 4 + i] = zs.x[i];
  }
  nvcuda::wmma::store_matrix_sync(c, z, 16, nvcuda::wmma::mem_row_major);
}

// ---- the host's side

using Places = std::vector<Place>;  // of LANES times the elements of x[]

// One warp. What the executor sees a kernel do wrong is told, even if the result is right.
template <class Kernel, class... Args>
void launch(Kernel kernel, Args... args) {
  gemm::Status status = gemm::Status::ok();
  const gemm::Observation seen = gemm::observe([&] { status = gemm::launch(kernel, {.block = LANES}, args...); });
  if (!status) throw gemm::DeviceError("a launch failed: " + status.reason);
  if (!seen.defects.empty()) throw gemm::StageError(seen.defects.front());
}
template <class T>
gemm::DeviceArray<T> to_device(const std::vector<T>& host) {
  gemm::DeviceArray<T> device(host.size());
  gemm::check_cuda(cudaMemcpy(device.data(), host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice), "copy");
  return device;
}

// number(row, col) of the element that each place has.
template <class F, class Number>
std::vector<int> loaded(const Number& number) {
  using traits = fragment_traits<F>;
  std::vector<value_t<F>> matrix;
  constexpr bool by_rows = traits::is_accumulator || traits::by_rows;
  for (int i = 0; i < traits::rows * traits::cols; ++i) {
    const int row = by_rows ? i / traits::cols : i % traits::rows, col = by_rows ? i % traits::cols : i / traits::rows;
    matrix.push_back(value_t<F>(static_cast<float>(number(row, col))));
  }
  const auto on_device = to_device(matrix);
  const gemm::DeviceArray<float> x(LANES * 16);  // not all of it is written
  gemm::check_cuda(cudaMemset(x.data(), 0, x.size() * sizeof(float)), "clear");
  launch(load_numbers<F>, on_device.data(), reinterpret_cast<float(*)[LANES][16]>(x.data()));
  const std::vector<float> host = x.to_host();
  std::vector<int> numbers;
  for (int lane = 0; lane < LANES; ++lane) {
    for (int i = 0; i < traits::elements; ++i)
      numbers.push_back(static_cast<int>(host[static_cast<std::size_t>(lane * 16 + i)]));
  }
  return numbers;
}

template <class F>
Places discover() {
  using traits = fragment_traits<F>;
  // All whole numbers to 256 are bf16's, those to 2048 FP16's and TF32's: else rows and columns one after the other.
  constexpr int exact = std::is_same_v<typename traits::element_type, __nv_bfloat16> ? 256 : 2048;
  Places places;
  if constexpr (traits::rows * traits::cols <= exact) {
    for (const int e : loaded<F>([](int row, int col) { return row * traits::cols + col; }))
      places.push_back({e / traits::cols, e % traits::cols});
  } else {
    const auto rows = loaded<F>([](int row, int) { return row; }), cols = loaded<F>([](int, int col) { return col; });
    for (std::size_t i = 0; i < rows.size(); ++i) places.push_back({rows[i], cols[i]});
  }
  return places;
}

template <class F>
Places written_down(ext::position (*place)(int, int)) {
  Places places;
  for (int lane = 0; lane < LANES; ++lane) {
    for (int i = 0; i < fragment_traits<F>::elements; ++i) places.push_back({place(lane, i).row, place(lane, i).col});
  }
  return places;
}

// A row or column that is not known yet, and one that two products disagree about.
constexpr int UNKNOWN = -2, CONTRADICTED = -1;
void agree(int& known, int found) {
  known = known == UNKNOWN || known == found ? found : CONTRADICTED;
}

// A product stays the same if rows change places in A and C, or steps of k in A and B: so C's rows and columns and B's
// steps of k have the manual's names, and all else is found.
struct Product {
  Places a, b;
};
template <class A, class B, class C>
Product discover_product() {
  constexpr std::size_t of_c = fragment_traits<C>::held * LANES;
  const Places c = written_down<C>(gemm::documented::place<C>);
  Places b = written_down<B>(gemm::documented::place<B>), a(fragment_traits<A>::held * LANES, {UNKNOWN, UNKNOWN});
  for (Place& place : b) place.col = UNKNOWN;
  const gemm::DeviceArray<float> met(a.size() * of_c);
  launch(multiply_places<A, B, C>, met.data());
  const std::vector<float> numbers = met.to_host();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] == 0) continue;
    // A sum of several products may be the number of no place.
    if (!(numbers[i] >= 1 && numbers[i] <= static_cast<float>(b.size()))) {
      a[i / of_c] = {CONTRADICTED, CONTRADICTED};
      continue;
    }
    Place &in_a = a[i / of_c], &in_b = b[static_cast<std::size_t>(numbers[i]) - 1];
    agree(in_a.row, c[i % of_c].row);
    agree(in_a.col, in_b.row);
    agree(in_b.col, c[i % of_c].col);
  }
  return {a, b};
}

// C of mma.sync: the left half of wmma's, if check_tiles() finds that this is made so.
Places left_half() {
  const Places whole = discover<WmmaC>();
  Places left;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    if (i % 8 < 4) left.push_back(whole[i]);
  }
  return left;
}

// Empty, or what is wrong.
std::string check_tiles() {
  std::vector<Half> a, b;
  const auto in_a = [](int i, int l) { return (3 * i + 5 * l) % 7 - 3; };
  const auto in_b = [](int l, int j) { return (2 * l + 3 * j) % 5 - 2; };
  for (int i = 0; i < 256; ++i) {
    a.push_back(Half(static_cast<float>(in_a(i / 16, i % 16))));
    b.push_back(Half(static_cast<float>(in_b(i / 16, i % 16))));
  }
  const auto on_a = to_device(a), on_b = to_device(b);
  const gemm::DeviceArray<float> c(256);
  launch(multiply_by_tiles, on_a.data(), on_b.data(), c.data());
  const std::vector<float> products = c.to_host();
  for (int i = 0; i < 256; ++i) {
    int sum = 0;
    for (int l = 0; l < 16; ++l) sum += in_a(i / 16, l) * in_b(l, i % 16);
    if (products[static_cast<std::size_t>(i)] != static_cast<float>(sum))
      return "two mma.sync on wmma's registers make another C in row " + std::to_string(i / 16);
  }
  return {};
}

template <class F>
Kind kind_of(std::function<Places()> discover) {
  using traits = fragment_traits<F>;
  return {ext::kinds::description<F>(),
          traits::rows,
          traits::cols,
          traits::held,
          traits::elements,
          static_cast<int>(sizeof(value_t<F>)) * traits::elements / 4,
          ext::kinds::runs_on_sm_75<F> ? 75 : 80,
          written_down<F>(traits::place),
          written_down<F>(gemm::documented::place<F>),
          std::move(discover)};
}
template <class... F>
void add_wmma(ext::kinds::list<F...>, std::vector<Kind>& kinds) {
  (kinds.push_back(kind_of<F>(discover<F>)), ...);
}
template <int m, int n, int k, class T, class R>
void add_mma(std::vector<Kind>& kinds) {
  using A = ext::mma::fragment<ext::matrix_a, m, n, k, T, ext::row_major>;
  using B = ext::mma::fragment<ext::matrix_b, m, n, k, T, ext::col_major>;
  using C = ext::mma::fragment<ext::accumulator, m, n, k, R>;
  kinds.push_back(kind_of<A>([] { return discover_product<A, B, C>().a; }));
  kinds.push_back(kind_of<B>([] { return discover_product<A, B, C>().b; }));
}

const std::vector<Kind>& all_kinds() {
  static const std::vector<Kind> all = [] {
    std::vector<Kind> kinds;
    add_wmma(ext::kinds::wmma_sm_75{}, kinds);
    add_wmma(ext::kinds::wmma_sm_80{}, kinds);
    add_mma<16, 8, 8, Half, float>(kinds);
    add_mma<16, 8, 16, Half, float>(kinds);
    kinds.push_back(kind_of<ext::mma::fragment<ext::accumulator, 16, 8, 16, float>>(left_half));
    add_mma<16, 8, 16, __nv_bfloat16, float>(kinds);
    add_mma<16, 8, 8, ext::precision::tf32, float>(kinds);
    add_mma<8, 8, 4, double, double>(kinds);
    return kinds;
  }();
  return all;
}

std::string shown = "a_f16_16x16x16_row";

gemm::ProbeReport probe(const gemm::ProbeRun&) {
  // A build for another generation would show a map that its own device doesn't have.
  if (const std::string problem = ext::self_test(); !problem.empty()) throw gemm::DeviceError(problem);
  return gemm::fragments::report(all_kinds(), check_tiles, shown);
}

const gemm::ProbeRegistration registration{
    __FILE__,
    {.idea = "which lane has which element of a fragment, and in which register",
     .options = {{.name = "--kind",
                  .description = "the fragment whose map is printed; the JSON has them all",
                  .word = &shown,
                  .words = gemm::fragments::names(all_kinds())}},
     .run = probe}};

}  // namespace
