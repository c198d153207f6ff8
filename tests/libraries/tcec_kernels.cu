#include <stdexcept>

#include "common/backend/device_memory.hpp"
#include "common/stage.cuh"
#include "tensorcore/wmma_ext/tcec/tcec.hpp"
#include "tests/libraries/tcec_kernels.hpp"

// Kernels of TF32 and bfloat16 have no body where there is no such thing.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define TCEC_HAS(kind) (!kind::needs_80)
#else
#define TCEC_HAS(kind) (kind::needs_80 || true)
#endif

namespace gemm::tcec_test {
namespace {

namespace tcec = wmma_ext::tcec;
using nvcuda::wmma::mem_col_major;
using nvcuda::wmma::mem_row_major;

constexpr int PAD = 4;

template <Number number, By by, bool corrected, bool large, bool col_major>
struct Static {
  using T =
      std::conditional_t<number == Number::half, __half,
                         std::conditional_t<number == Number::tf32, wmma_ext::precision::tf32,
                                            std::conditional_t<number == Number::bfloat16, __nv_bfloat16, float>>>;
  using Policy =
      tcec::default_policy<T, std::conditional_t<corrected, tcec::with_correction, tcec::without_correction>,
                           std::conditional_t<by == By::mma, tcec::op::mma,
                                              std::conditional_t<by == By::wmma, tcec::op::wmma, tcec::op::simt>>>;
  static constexpr bool needs_80 = by != By::plain_cores && !(number == Number::half && by == By::wmma);
  static constexpr int m = large ? 32 : Policy::m, n = large ? 32 : Policy::n, k = large ? 32 : Policy::k;
  using Order = std::conditional_t<col_major, wmma_ext::col_major, wmma_ext::row_major>;
  using A = tcec::fragment<wmma_ext::matrix_a, m, n, k, T, Order, Policy>;
  using B = tcec::fragment<wmma_ext::matrix_b, m, n, k, T, Order, Policy>;
  using C = tcec::fragment<wmma_ext::accumulator, m, n, k, T, void, Policy>;
};

// Calls f(Static{}) of the kind.
template <class Function>
void with(const Kind& kind, Function f) {
  const auto ordered = [&]<Number number, By by, bool corrected>() {
    if (!kind.large && !kind.col_major) return f(Static<number, by, corrected, false, false>{});
    if (kind.large && !kind.col_major) return f(Static<number, by, corrected, true, false>{});
    if (kind.large && kind.col_major) return f(Static<number, by, corrected, true, true>{});
    throw std::logic_error("no such kind");
  };
  const auto chosen = [&]<Number number, By by>() {
    kind.corrected ? ordered.template operator()<number, by, true>() : ordered.template operator()<number, by, false>();
  };
  const auto of_type = [&]<Number number>() {
    if (kind.by == By::mma) return chosen.template operator()<number, By::mma>();
    if (kind.by == By::wmma) return chosen.template operator()<number, By::wmma>();
    if (kind.corrected) return ordered.template operator()<number, By::plain_cores, true>();
    throw std::logic_error("no such kind");
  };
  switch (kind.number) {
    case Number::half:
      return of_type.template operator()<Number::half>();
    case Number::tf32:
      return of_type.template operator()<Number::tf32>();
    case Number::bfloat16:
      return of_type.template operator()<Number::bfloat16>();
    case Number::single:
      return ordered.template operator()<Number::single, By::plain_cores, false>();
  }
}

// A's and B's orders are one, so a step of k is a step along or across it.
template <class S>
__global__ void multiply(const float* a, unsigned lda, const float* b, unsigned ldb, float* c, unsigned ldc,
                         bool c_by_rows, int steps, Rounding rounding) {
  if constexpr (TCEC_HAS(S)) {
    constexpr bool cols = std::is_same_v<typename S::Order, wmma_ext::col_major>;
    typename S::A x;
    typename S::B y;
    typename S::C sum;
    const auto order = c_by_rows ? mem_row_major : mem_col_major;
    tcec::load_matrix_sync(sum, c, ldc, order);
    for (int step = 0; step < steps; ++step) {
      tcec::load_matrix_sync(x, a + (cols ? lda : 1) * S::k * step, lda);
      tcec::load_matrix_sync(y, b + (cols ? 1 : ldb) * S::k * step, ldb);
      if (rounding == Rounding::nearest)
        tcec::mma_rn_sync(sum, x, y, sum);
      else if (rounding == Rounding::towards_zero)
        tcec::mma_rz_sync(sum, x, y, sum);
      else
        tcec::mma_sync(sum, x, y, sum);
    }
    tcec::store_matrix_sync(c, sum, ldc, order);
  }
}

using Standard = Static<Number::half, By::mma, true, true, false>;

__global__ void multiply_promoted(const float* a, unsigned lda, const float* b, unsigned ldb, float* c, unsigned ldc,
                                  int steps, int every) {
  if constexpr (TCEC_HAS(Standard)) {
    Standard::A x;
    Standard::B y;
    Standard::C sum, part;
    tcec::fill_fragment(sum, 0.0f);
    tcec::fill_fragment(part, 0.0f);
    for (int step = 0; step < steps; ++step) {
      tcec::load_matrix_sync(x, a + Standard::k * step, lda);
      tcec::load_matrix_sync(y, b + ldb * Standard::k * step, ldb);
      tcec::mma_rz_sync(part, x, y, part);
      if ((step + 1) % every == 0 || step == steps - 1) {
        tcec::promote(sum, part);
        tcec::fill_fragment(part, 0.0f);
      }
    }
    tcec::store_matrix_sync(c, sum, ldc, mem_row_major);
  }
}

template <class S>
__global__ void multiply_complex(const float2* a, const float2* b, float2* c) {
  if constexpr (TCEC_HAS(S)) {
    using T = __half;
    tcec::complex_fragment<wmma_ext::matrix_a, 16, 16, 16, T, wmma_ext::row_major> x;
    tcec::complex_fragment<wmma_ext::matrix_b, 16, 16, 16, T, wmma_ext::col_major> y;
    tcec::complex_fragment<wmma_ext::accumulator, 16, 16, 16, T> sum, old;
    tcec::load_matrix_sync(x, a, 16);
    tcec::load_matrix_sync(y, b, 16);
    tcec::load_matrix_sync(old, c, 16, mem_row_major);
    tcec::fill_fragment(sum, make_float2(0.0f, 0.0f));
    tcec::mma_sync(sum, x, y, old);
    tcec::store_matrix_sync(c, sum, 16, mem_row_major);
  }
}

template <class F>
__device__ void change(float* p) {
  F fragment;
  tcec::foreach_ij<F>([&](int e, int i, int j) { fragment.x[e] = p[i * F::cols + j]; });
#pragma unroll
  for (int e = 0; e < fragment.num_elements; ++e) {
    fragment.x[e] *= 2.0f;
    fragment.x[e] += 1.0f;
  }
  __syncwarp();
  tcec::foreach_ij<F>([&](int e, int i, int j) { p[i * F::cols + j] = fragment.x[e]; });
}

template <class S>
__global__ void change_elements(float* a, float* b, float* c) {
  if constexpr (TCEC_HAS(S)) {
    change<typename S::A>(a);
    change<typename S::B>(b);
    change<typename S::C>(c);
  }
}

template <class F>
__device__ void fill_with_vector(float* p, const float* v, bool as_row) {
  F fragment;
  tcec::load_vector(fragment, v, as_row ? mem_row_major : mem_col_major);
  tcec::foreach_ij<F>([&](int e, int i, int j) { p[i * F::cols + j] = fragment.x[e]; });
}

template <class S>
__global__ void load_and_store_vectors(const float* v, bool as_row, float* a, float* b, float* c, const float* full,
                                       float* stored) {
  if constexpr (TCEC_HAS(S)) {
    fill_with_vector<typename S::A>(a, v, as_row);
    fill_with_vector<typename S::B>(b, v, as_row);
    fill_with_vector<typename S::C>(c, v, as_row);
    typename S::C matrix;
    tcec::load_matrix_sync(matrix, full, S::n, mem_row_major);
    tcec::store_vector(stored, matrix, as_row ? mem_row_major : mem_col_major);
    // By its type an operand knows which it is.
    typename S::A again;
    if (as_row == std::is_same_v<typename S::Order, wmma_ext::row_major>) {
      tcec::load_vector(again, v);
      tcec::foreach_ij<typename S::A>([&](int e, int i, int j) { a[i * S::k + j] = again.x[e]; });
    }
  }
}

constexpr float UNTOUCHED = -777.0f;

// A matrix in device memory, `rows` x `cols` given row by row, with padding.
struct Padded {
  Padded(const std::vector<float>& elements, int rows, int cols, bool by_rows)
      : rows(rows), cols(cols), by_rows(by_rows), ld((by_rows ? cols : rows) + PAD) {
    std::vector<float> host(static_cast<std::size_t>(ld) * (by_rows ? rows : cols), UNTOUCHED);
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < cols; ++j) host[place(i, j)] = elements[i * cols + j];
    memory = to_device(host);
  }
  std::size_t place(int i, int j) const { return by_rows ? i * std::size_t{ld} + j : j * std::size_t{ld} + i; }
  static DeviceArray<float> to_device(const std::vector<float>& host) {
    DeviceArray<float> array(host.size());
    check_cuda(cudaMemcpy(array.data(), host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice), "copy");
    return array;
  }
  std::vector<float> elements() const {
    const std::vector<float> host = memory.to_host();
    std::vector<float> all;
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < cols; ++j) all.push_back(host[place(i, j)]);
    for (int other = 0; other < (by_rows ? rows : cols); ++other) {
      for (unsigned i = ld - PAD; i < ld; ++i)
        if (host[other * std::size_t{ld} + i] != UNTOUCHED) throw std::logic_error("padding was written");
    }
    return all;
  }

  int rows, cols;
  bool by_rows;
  unsigned ld;
  DeviceArray<float> memory;
};

template <class... Parameters, class... Arguments>
void run(void (*kernel)(Parameters...), Arguments... arguments) {
  const Status status = launch(kernel, {.grid = 1, .block = 32}, arguments...);
  if (!status) throw std::runtime_error(status.reason);
  check_cuda(cudaDeviceSynchronize(), "run the kernel");
}

}  // namespace

std::string Kind::name() const {
  const char* numbers[] = {"half", "tf32", "bfloat16", "single"};
  const char* by_what[] = {"mma.sync", "wmma", "plain cores"};
  return std::string(numbers[static_cast<int>(number)]) + " " + by_what[static_cast<int>(by)] +
         (corrected ? " corrected" : "") + (large ? " large" : "") + (col_major ? " col_major" : "");
}

std::vector<Kind> all_kinds() {
  std::vector<Kind> kinds;
  const auto add = [&](Number number, By by, bool corrected) {
    kinds.push_back({number, by, corrected, false, false});
    kinds.push_back({number, by, corrected, true, false});
    kinds.push_back({number, by, corrected, true, true});
  };
  for (const Number number : {Number::half, Number::tf32, Number::bfloat16}) {
    for (const By by : {By::mma, By::wmma})
      for (const bool corrected : {true, false}) add(number, by, corrected);
    add(number, By::plain_cores, true);  // by the policy alone
  }
  add(Number::single, By::plain_cores, false);
  return kinds;
}

Shape shape_of(const Kind& kind) {
  Shape shape;
  with(kind, [&](auto s) { shape = {s.m, s.n, s.k}; });
  return shape;
}

int registers_of(const Kind& kind) {
  std::size_t bytes = 0;
  with(kind, [&](auto s) {
    using S = decltype(s);
    bytes = sizeof(typename S::A) + sizeof(typename S::B) + sizeof(typename S::C);
  });
  return static_cast<int>(bytes / 4);
}

std::vector<float> product(const Kind& kind, const std::vector<float>& a, const std::vector<float>& b,
                           const std::vector<float>& c, int steps, bool c_by_rows, Rounding rounding) {
  std::vector<float> result;
  with(kind, [&](auto s) {
    using S = decltype(s);
    const Padded x(a, S::m, S::k * steps, !kind.col_major), y(b, S::k * steps, S::n, !kind.col_major);
    const Padded out(c, S::m, S::n, c_by_rows);
    run(multiply<S>, x.memory.data(), x.ld, y.memory.data(), y.ld, out.memory.data(), out.ld, c_by_rows, steps,
        rounding);
    result = out.elements();
  });
  return result;
}

std::vector<float> promoted_product(const std::vector<float>& a, const std::vector<float>& b, int steps, int every) {
  using S = Standard;
  const Padded x(a, S::m, S::k * steps, true), y(b, S::k * steps, S::n, true);
  const Padded out(std::vector<float>(S::m * S::n), S::m, S::n, true);
  run(multiply_promoted, x.memory.data(), x.ld, y.memory.data(), y.ld, out.memory.data(), out.ld, steps, every);
  return out.elements();
}

std::vector<float> complex_product(const std::vector<float>& a, const std::vector<float>& b,
                                   const std::vector<float>& c) {
  const auto x = Padded::to_device(a), y = Padded::to_device(b), out = Padded::to_device(c);
  const auto complex = [](const DeviceArray<float>& array) { return reinterpret_cast<float2*>(array.data()); };
  run(multiply_complex<Standard>, complex(x), complex(y), complex(out));
  return out.to_host();
}

Elements through_elements(const Kind& kind, const std::vector<float>& a, const std::vector<float>& b,
                          const std::vector<float>& c) {
  const auto x = Padded::to_device(a), y = Padded::to_device(b), z = Padded::to_device(c);
  with(kind, [&](auto s) { run(change_elements<decltype(s)>, x.data(), y.data(), z.data()); });
  return {x.to_host(), y.to_host(), z.to_host()};
}

Vectors vectors(const Kind& kind, const std::vector<float>& v, const std::vector<float>& c) {
  Vectors result;
  const Shape shape = shape_of(kind);
  const auto from = Padded::to_device(v), full = Padded::to_device(c);
  for (const bool as_row : {false, true}) {
    const DeviceArray<float> x(shape.m * shape.k), y(shape.k * shape.n), z(shape.m * shape.n);
    const DeviceArray<float> stored(as_row ? shape.n : shape.m);
    with(kind, [&](auto s) {
      run(load_and_store_vectors<decltype(s)>, from.data(), as_row, x.data(), y.data(), z.data(), full.data(),
          stored.data());
    });
    (as_row ? result.as_row : result.as_column) = Elements{x.to_host(), y.to_host(), z.to_host()};
    (as_row ? result.stored_row : result.stored_column) = stored.to_host();
  }
  return result;
}

}  // namespace gemm::tcec_test
