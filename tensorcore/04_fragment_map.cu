// 04 fragment map: which lane has which element of a matrix, in which register: found out, and compared with what is
// written down.
//
// Idea      A matrix that contains the numbers of its own elements, loaded as a fragment, says where each element went.
//           mma.sync loads nothing; there, one element of A is one, B has the numbers of its places, and the product
//           says which place of B each place of A meets, and where in C.
// Limit     None of time: it runs once, when a library or a new GPU is met.
// Number    Registers of a lane: 8 for A of 16 x 16 in wmma, 4 in mma.sync, which holds each element once.
// Map       Lanes form 8 groups of 4: g = lane / 4 counts rows (of B columns), t = lane % 4 along them.
// Page      docs/tensorcore/04_fragment_map.md
// Source    Ootomo and Yokota (2023), section 2.3 and Code 2; PTX ISA, "Warp Level Matrix Multiply-Accumulate".
#include <algorithm>
#include <functional>

#include "common/device.hpp"
#include "common/device_memory.hpp"
#include "common/launch.cuh"
#include "common/probe.hpp"
#include "tensorcore/documented_layouts.hpp"
#include "tensorcore/wmma_ext/wmma_ext.hpp"

namespace {

namespace ext = wmma_ext;
using ext::fragment_traits, ext::position, ext::value_t, gemm::Json;
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

// ---- the host's side: places as positions

using Places = std::vector<position>;  // LANES times the elements of x[]

void require(const gemm::Status& status) {
  if (!status) throw gemm::DeviceError("a launch failed: " + status.reason);
}
template <class T>
gemm::DeviceArray<T> to_device(const std::vector<T>& host) {
  gemm::DeviceArray<T> device(host.size());
  gemm::check_cuda(cudaMemcpy(device.data(), host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice), "copy");
  return device;
}

// number(row, col) of the element that each place has.
template <class F>
std::vector<int> loaded(const std::function<int(int, int)>& number) {
  using traits = fragment_traits<F>;
  std::vector<value_t<F>> matrix;
  constexpr bool by_rows = traits::is_accumulator || traits::by_rows;
  for (int i = 0; i < traits::rows * traits::cols; ++i) {
    const int row = by_rows ? i / traits::cols : i % traits::rows, col = by_rows ? i % traits::cols : i / traits::rows;
    matrix.push_back(value_t<F>(static_cast<float>(number(row, col))));
  }
  const auto on_device = to_device(matrix);
  const gemm::DeviceArray<float[LANES][16]> x(1);
  require(gemm::launch(load_numbers<F>, {.block = LANES}, on_device.data(), x.data()));
  float host[LANES][16];
  gemm::check_cuda(cudaMemcpy(host, x.data(), sizeof host, cudaMemcpyDeviceToHost), "copy from the device");
  std::vector<int> numbers;
  for (const auto& lane : host) {
    for (int i = 0; i < traits::elements; ++i) numbers.push_back(static_cast<int>(lane[i]));
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
Places written_down(position (*place)(int, int)) {
  Places places;
  for (int lane = 0; lane < LANES; ++lane) {
    for (int i = 0; i < fragment_traits<F>::elements; ++i) places.push_back(place(lane, i));
  }
  return places;
}

constexpr position NOWHERE{-1, -1};
void agree(int& name, int with) {
  name = name == -2 || name == with ? with : -1;
}

// A product is the same if rows change places in A and C, or steps of k in A and B: so the manual's names of C's rows
// and columns and of B's steps of k are taken, and all else is found.
struct Product {
  Places a, b;
};
template <class A, class B, class C>
Product discover_product(const Places& named_b, const Places& named_c) {
  constexpr int of_c = fragment_traits<C>::held * LANES;
  Product found{Places(LANES * fragment_traits<A>::held, {-2, -2}), named_b};
  for (position& p : found.b) p.col = -2;
  const gemm::DeviceArray<float> met(found.a.size() * of_c);
  require(gemm::launch(multiply_places<A, B, C>, {.block = LANES}, met.data()));
  const std::vector<float> numbers = met.to_host();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] == 0) continue;
    const auto in_b = static_cast<std::size_t>(numbers[i]) - 1;
    const position c = named_c[i % of_c];
    position& a = found.a[i / of_c];
    if (in_b >= found.b.size()) return {{NOWHERE}, {NOWHERE}};
    agree(a.row, c.row);
    agree(a.col, named_b[in_b].row);
    agree(found.b[in_b].col, c.col);
  }
  return found;
}

struct Kind {
  std::string name;  // a_f16_16x16x16_row
  std::string description;
  int rows = 0, cols = 0, held = 0, elements = 0;  // of the matrix; of it in a lane; of x[]
  int registers = 0;                               // of a lane, for x[]
  bool on_sm_75 = false;
  Places table, documented;
  std::function<Places()> discover;
};

template <class F>
Kind kind_of(std::function<Places()> discover) {
  using traits = fragment_traits<F>;
  const bool ordered = ext::kinds::is_wmma<F> && !traits::is_accumulator;
  const std::string shape =
      std::to_string(traits::m) + "x" + std::to_string(traits::n) + "x" + std::to_string(traits::k);
  return {std::string(1, ext::kinds::use_name<F>()[traits::is_accumulator ? 1 : 7]) + "_" + ext::kinds::type_name<F>() +
              "_" + shape +
              (!ordered          ? ""
               : traits::by_rows ? "_row"
                                 : "_col"),
          ext::kinds::description<F>(),
          traits::rows,
          traits::cols,
          traits::held,
          traits::elements,
          static_cast<int>(sizeof(F::x)) / 4,
          ext::kinds::runs_on_sm_75<F>,
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
  const auto product = [] {
    return discover_product<A, B, C>(written_down<B>(gemm::documented::place<B>),
                                     written_down<C>(gemm::documented::place<C>));
  };
  kinds.push_back(kind_of<A>([product] { return product().a; }));
  kinds.push_back(kind_of<B>([product] { return product().b; }));
}

const std::vector<Kind>& all_kinds() {
  static const std::vector<Kind> all = [] {
    std::vector<Kind> kinds;
    add_wmma(ext::kinds::wmma_sm_75{}, kinds);
    add_wmma(ext::kinds::wmma_sm_80{}, kinds);
    add_mma<16, 8, 8, Half, float>(kinds);
    add_mma<16, 8, 16, Half, float>(kinds);
    add_mma<16, 8, 16, __nv_bfloat16, float>(kinds);
    add_mma<16, 8, 8, ext::precision::tf32, float>(kinds);
    add_mma<8, 8, 4, double, double>(kinds);
    return kinds;
  }();
  return all;
}

std::string show(position p) {
  return "(" + std::to_string(p.row) + "," + std::to_string(p.col) + ")";
}

// The first place that one of the lists has elsewhere, as a reason; empty if they agree.
std::string compare(const Places& found, const Places& expected, int elements, const std::string& whose) {
  if (found.size() != expected.size()) return "a place of A meets none of B's";
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i].row == expected[i].row && found[i].col == expected[i].col) continue;
    const int lane = static_cast<int>(i) / elements, e = static_cast<int>(i) % elements;
    return "x[" + std::to_string(e) + "] of lane " + std::to_string(lane) + " is " + show(found[i]) +
           " on this device, " + show(expected[i]) + " in " + whose;
  }
  return {};
}

Json measure(const Kind& kind, Places& found) {
  Json result = {{"part", "map"},     {"kind", kind.name}, {"name", kind.description},  {"rows", kind.rows},
                 {"cols", kind.cols}, {"held", kind.held}, {"elements", kind.elements}, {"registers", kind.registers}};
  const int capability = gemm::open_device().compute_capability;
  if (capability && capability < 80 && !kind.on_sm_75) {
    result["status"] = "skip";
    result["reason"] = "needs sm_80";
    return result;
  }
  found = kind.discover();
  std::string reason = compare(found, kind.table, kind.elements, "wmma_ext's table");
  if (reason.empty()) reason = compare(found, kind.documented, kind.elements, "the PTX manual's");
  result["status"] = reason.empty() ? "pass" : "fail";
  result["reason"] = reason;
  for (int lane = 0; lane < LANES; ++lane) {  // a lane's elements, numbered by rows
    std::string text;
    for (int i = 0; i < kind.elements && found.size() == kind.table.size(); ++i) {
      const position p = found[static_cast<std::size_t>(lane * kind.elements + i)];
      text += (i ? " " : "") + std::to_string(p.row * kind.cols + p.col);
    }
    result["lanes"].push_back(text);
  }
  return result;
}

// Of the matrix that fragments of both kinds can hold: so many of mma.sync's.
Json compare_registers(const std::string& what, const std::string& wmma, const std::string& mma, int tiles) {
  const auto registers = [](const std::string& name) {
    return std::ranges::find(all_kinds(), name, &Kind::name)->registers;
  };
  return {{"part", "registers"},           {"matrix", what},   {"wmma", registers(wmma)},
          {"mma", tiles * registers(mma)}, {"status", "pass"}, {"reason", ""}};
}

Json check_tiles() {
  Json result = {{"part", "tiles"}, {"status", "pass"}, {"reason", ""}};
  const int capability = gemm::open_device().compute_capability;
  if (capability && capability < 80) {
    result["status"] = "skip";
    result["reason"] = "m16n8k16 needs sm_80";
    return result;
  }
  std::vector<Half> a, b;
  const auto in_a = [](int i, int l) { return (3 * i + 5 * l) % 7 - 3; };
  const auto in_b = [](int l, int j) { return (2 * l + 3 * j) % 5 - 2; };
  for (int i = 0; i < 256; ++i) {
    a.push_back(Half(static_cast<float>(in_a(i / 16, i % 16))));
    b.push_back(Half(static_cast<float>(in_b(i / 16, i % 16))));
  }
  const auto on_a = to_device(a), on_b = to_device(b);
  const gemm::DeviceArray<float> c(256);
  require(gemm::launch(multiply_by_tiles, {.block = LANES}, on_a.data(), on_b.data(), c.data()));
  const std::vector<float> products = c.to_host();
  for (int i = 0; i < 256; ++i) {
    int sum = 0;
    for (int l = 0; l < 16; ++l) sum += in_a(i / 16, l) * in_b(l, i % 16);
    if (products[static_cast<std::size_t>(i)] == static_cast<float>(sum)) continue;
    result["status"] = "fail";
    result["reason"] = "two mma.sync on wmma's registers make another C at " + show({i / 16, i % 16});
    return result;
  }
  return result;
}

std::string shown = "a_f16_16x16x16_row";

std::string show_map(const Kind& kind, const Places& found) {
  std::string text = kind.description + ", " + std::to_string(kind.rows) + " x " + std::to_string(kind.cols) +
                     ", by lanes: (row,column) of x[0], x[1] ...";
  for (std::size_t i = 0; i < found.size(); ++i) {
    const int lane = static_cast<int>(i) / kind.elements, e = static_cast<int>(i) % kind.elements;
    if (e == 0) text += (lane < 10 ? "\n   " : "\n  ") + std::to_string(lane) + ":";
    if (e < kind.held) text += " " + show(found[i]);
  }
  text += "\n";
  if (kind.elements > kind.held)
    text += "x[" + std::to_string(kind.held) + "] and on: the same once more" +
            (kind.elements > 2 * kind.held ? ", and again\n" : "\n");
  return text;
}

gemm::ProbeReport probe(const gemm::ProbeRun&) {
  // A build for another generation would show a map of its own.
  if (const std::string problem = ext::self_test(); !problem.empty()) throw gemm::DeviceError(problem);
  gemm::ProbeReport report;
  report.settings = {{"kind", shown}};
  report.table = {{"fragment", "matrix", "elements of a lane", "in x[]", "registers", "status"}};
  for (const Kind& kind : all_kinds()) {
    Places found;
    Json result = measure(kind, found);
    report.table.push_back({kind.name, std::to_string(kind.rows) + " x " + std::to_string(kind.cols),
                            std::to_string(kind.held), std::to_string(kind.elements), std::to_string(kind.registers),
                            result["status"]});
    if (kind.name == shown && result["status"] != "skip") report.text = show_map(kind, found);
    report.results.push_back(std::move(result));
  }
  report.results.push_back(check_tiles());
  report.text += "\nregisters of a lane, wmma and mma.sync:\n";
  for (Json result : {compare_registers("A, 16 x 16", "a_f16_16x16x16_row", "a_f16_16x8x16", 1),
                      compare_registers("B, 16 x 16", "b_f16_16x16x16_row", "b_f16_16x8x16", 2),
                      compare_registers("A, 32 x 16", "a_f16_32x8x16_row", "a_f16_16x8x16", 2),
                      compare_registers("B, 16 x 8", "b_f16_32x8x16_row", "b_f16_16x8x16", 1),
                      compare_registers("A, 16 x 16, bf16", "a_bf16_16x16x16_row", "a_bf16_16x8x16", 1),
                      compare_registers("A, 16 x 8, tf32", "a_tf32_16x16x8_row", "a_tf32_16x8x8", 1)}) {
    report.text += "  " + result["matrix"].get<std::string>() + ": " + std::to_string(result["wmma"].get<int>()) +
                   ", " + std::to_string(result["mma"].get<int>()) + "\n";
    report.results.push_back(std::move(result));
  }
  return report;
}

std::vector<std::string> kind_names() {
  std::vector<std::string> names;
  for (const Kind& kind : all_kinds()) names.push_back(kind.name);
  return names;
}

const gemm::ProbeRegistration registration{
    __FILE__,
    {.idea = "which lane has which element of a fragment, and in which register",
     .options = {{.name = "--kind",
                  .description = "the fragment whose map is printed; the JSON has them all",
                  .word = &shown,
                  .words = kind_names()}},
     .run = probe}};

}  // namespace
