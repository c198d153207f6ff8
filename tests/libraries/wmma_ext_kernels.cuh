// The kernels behind tests/libraries/wmma_ext_kernels.hpp, for a list of kinds.
#pragma once

#include "tensorcore/wmma_ext/wmma_ext.hpp"
#include "tests/libraries/wmma_ext_kernels.hpp"

namespace gemm::wmma_ext_test {
namespace {

namespace wmma = nvcuda::wmma;
using wmma_ext::fragment_traits;
using wmma_ext::value_t;

// Types that only sm_80 has are not there where a kernel is compiled for sm_75.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
constexpr bool has_sm_80 = false;
#else
constexpr bool has_sm_80 = true;
#endif
template <class F>
inline constexpr bool available = has_sm_80 || wmma_ext::kinds::runs_on_sm_75<F>;

template <class F>
__device__ __forceinline__ void load(F& fragment, const value_t<F>* by_rows, const value_t<F>* by_cols) {
  using traits = fragment_traits<F>;
  if constexpr (traits::is_accumulator) {
    load_matrix_sync(fragment, by_rows, traits::cols, wmma::mem_row_major);
  } else if constexpr (traits::by_rows) {
    load_matrix_sync(fragment, by_rows, traits::cols);
  } else {
    load_matrix_sync(fragment, by_cols, traits::rows);
  }
}

/// Appends x[] of all lanes to `out`, as fragment number `number` there.
template <class F>
__device__ __forceinline__ void dump(unsigned char* out, int number, const F& fragment) {
  constexpr int elements = fragment_traits<F>::elements;
  auto* to = reinterpret_cast<value_t<F>*>(out) + (number * 32 + static_cast<int>(threadIdx.x)) * elements;
#pragma unroll
  for (int e = 0; e < elements; ++e) to[e] = fragment.x[e];
}

/// Three elements, one of them in the last row and column.
template <class F, int which>
__host__ __device__ constexpr wmma_ext::position constant_place() {
  constexpr int rows = fragment_traits<F>::rows, cols = fragment_traits<F>::cols;
  return which == 0   ? wmma_ext::position{0, 0}
         : which == 1 ? wmma_ext::position{rows / 2 + 1, cols / 2 - 1}
                      : wmma_ext::position{rows - 1, cols - 1};
}

// nvcc takes much longer for all primitives in one function; the executor would have to disassemble each of them.
#ifdef __CUDACC__
#define WMMA_EXT_TEST_KEEP __noinline__
#else
#define WMMA_EXT_TEST_KEEP __forceinline__
#endif

/// Keeps what make(f) makes of a fragment f.
template <class F, class Make>
__device__ WMMA_EXT_TEST_KEEP void keep_made(const Arguments& args, Primitive primitive, const Make& make) {
  F f;
  make(f);
  dump(args.fragments, static_cast<int>(primitive), f);
}

/// Every primitive, one after another.
template <class F>
__device__ __forceinline__ void make_all(const Arguments& args) {
  using T = value_t<F>;
  using traits = fragment_traits<F>;
  using namespace wmma_ext::operators;
  const T *const pa = static_cast<const T*>(args.a), *const pa_by_cols = static_cast<const T*>(args.a_by_cols);
  const T *const pu = static_cast<const T*>(args.u), *const pv = static_cast<const T*>(args.v);
  const T s = T(args.s);
  const auto keep = [&](Primitive primitive, const auto& make) { keep_made<F>(args, primitive, make); };
  // What foreach and its like are given: sets f to what lies in memory.
  const auto from = [](F& f, const T* p) {
    return [&f, p](auto indices, int i) {
      for (const unsigned index : indices) f.x[index] = p[i];
    };
  };

  // Of foreach and its like those that are given fragments call those that are given a type.
  keep(Primitive::foreach_ij, [&](F& f) {
    F other;
    wmma_ext::foreach_ij(
        [&](auto indices, int i, int j) {
          for (const unsigned index : indices) {
            other.x[index] = pa[i * traits::cols + j];
            f.x[index] = other.x[index];
          }
        },
        other, f);
  });
  keep(Primitive::foreach_rows, [&](F& f) { wmma_ext::foreach<F>(from(f, pa), wmma::mem_row_major); });
  keep(Primitive::foreach_columns, [&](F& f) { wmma_ext::foreach(from(f, pa_by_cols), wmma::mem_col_major, f); });
  keep(Primitive::foreach_v, [&](F& f) {
    wmma_ext::fill_zero(f);
    wmma_ext::foreach_v(from(f, pu), wmma::mem_row_major, f);
  });
  keep(Primitive::map, [&](F& f) {
    wmma_ext::fill_zero(f);  // compilers can't see that each element is set
#pragma unroll 1
    for (int e = 0; e < traits::rows * traits::cols; ++e) {
      const auto at = wmma_ext::map<F>(e / traits::cols, e % traits::cols);
      if (at.lane != wmma_ext::lane_id()) continue;
      for (const unsigned index : at.indices) f.x[index] = pa[e];
    }
  });
  keep(Primitive::set_element, [&](F& f) {
    wmma_ext::fill_zero(f);
    wmma_ext::set_element(f, args.i, args.j, s);
  });
  keep(Primitive::set_constant, [&](F& f) {
    wmma_ext::fill_zero(f);
    constexpr auto p = constant_place<F, 0>(), q = constant_place<F, 1>(), r = constant_place<F, 2>();
    constexpr auto at = wmma_ext::map<F, p.row, p.col>();
    if (at.lane == wmma_ext::lane_id()) {
      for (const unsigned index : at.indices) f.x[index] = s;
    }
    wmma_ext::set_element<q.row, q.col>(f, s);
    wmma_ext::set_element<r.row, r.col>(f, s);
  });
  keep(Primitive::fill, [&](F& f) { wmma_ext::fill(f, s); });
  keep(Primitive::fill_zero, [&](F& f) { wmma_ext::fill_zero(f); });
  keep(Primitive::load_row, [&](F& f) { wmma_ext::load_vector(f, pu, wmma::mem_row_major); });
  keep(Primitive::load_column, [&](F& f) { wmma_ext::load_vector(f, pv, wmma::mem_col_major); });
  keep(Primitive::make_identity, [&](F& f) { wmma_ext::make_identity(f); });
  keep(Primitive::direct_product, [&](F& f) { wmma_ext::direct_product(f, pv, pu); });

  F a, b, c;
  load(a, pa, pa_by_cols);
  load(b, static_cast<const T*>(args.b), static_cast<const T*>(args.b_by_cols));
  load(c, static_cast<const T*>(args.c), static_cast<const T*>(args.c_by_cols));
  keep(Primitive::add_eye, [&](F& f) {
    f = a;
    wmma_ext::add_eye(f, s);
  });
  keep(Primitive::plus, [&](F& f) { f = a + b; });
  keep(Primitive::minus, [&](F& f) { f = a - b; });
  keep(Primitive::times, [&](F& f) { f = a * b; });
  keep(Primitive::divided, [&](F& f) { f = a / b; });
  keep(Primitive::plus_s, [&](F& f) { f = a + s; });
  keep(Primitive::minus_s, [&](F& f) { f = a - s; });
  keep(Primitive::times_s, [&](F& f) { f = a * s; });
  keep(Primitive::s_times, [&](F& f) { f = s * a; });
  keep(Primitive::divided_by_s, [&](F& f) { f = a / s; });
  keep(Primitive::fma, [&](F& f) { f = wmma_ext::fma(a, b, c); });
  keep(Primitive::fma_s, [&](F& f) { f = wmma_ext::fma(s, b, c); });
  wmma_ext::store_vector(static_cast<T*>(args.row), a, wmma::mem_row_major);
  wmma_ext::store_vector(static_cast<T*>(args.column), a, wmma::mem_col_major);

  if constexpr (!traits::is_accumulator) {
    const T *const p = traits::by_rows ? pa : pa_by_cols, *const vector = traits::by_rows ? pu : pv;
    keep(Primitive::foreach_by_type, [&](F& f) { wmma_ext::foreach(from(f, p), f); });
    keep(Primitive::foreach_v_by_type, [&](F& f) {
      wmma_ext::fill_zero(f);
      wmma_ext::foreach_v(from(f, vector), f);
    });
    keep(Primitive::load_by_type, [&](F& f) { wmma_ext::load_vector(f, vector); });
    wmma_ext::store_vector(static_cast<T*>(args.by_type), a);
  }
}

template <class F>
__global__ void primitives_kernel(Arguments args) {
  if constexpr (available<F>) make_all<F>(args);
}

template <class F>
__global__ void load_kernel(LoadArguments args) {
  if constexpr (available<F>) {
    using traits = fragment_traits<F>;
    constexpr int padding = 16;
    __shared__ __align__(32) unsigned char memory[sizeof(value_t<F>) * (32 + padding) * 32];
    auto* matrix = reinterpret_cast<value_t<F>*>(memory);
    const int ldm = (args.by_rows ? traits::cols : traits::rows) + padding;
#pragma unroll 1
    for (int number = 0; number < args.count; ++number) {
      const double* a = args.matrices + number * traits::rows * traits::cols;
      __syncthreads();
#pragma unroll 1
      for (int i = threadIdx.x; i < traits::rows * traits::cols; i += 32) {
        const int row = i / traits::cols, col = i % traits::cols;
        matrix[args.by_rows ? row * ldm + col : col * ldm + row] = value_t<F>(a[i]);
      }
      __syncthreads();
      F f;
      if constexpr (traits::is_accumulator) {
        load_matrix_sync(f, matrix, ldm, args.by_rows ? wmma::mem_row_major : wmma::mem_col_major);
      } else {
        load_matrix_sync(f, matrix, ldm);
      }
      dump(args.fragments, number, f);
    }
  }
}

template <class F>
__global__ void print_kernel(Arguments args) {
  if constexpr (available<F>) {
    F f;
    load(f, static_cast<const value_t<F>*>(args.a), static_cast<const value_t<F>*>(args.a_by_cols));
    wmma_ext::print_fragment(f, "it");
  }
}

// ---- the host's side

template <class T>
constexpr Value value_of = std::is_same_v<T, __half>          ? Value::f16
                           : std::is_same_v<T, __nv_bfloat16> ? Value::bf16
                           : std::is_same_v<T, float>         ? Value::f32
                                                              : Value::f64;

template <class F>
Kind kind_of() {
  using traits = fragment_traits<F>;
  Kind kind{wmma_ext::kinds::description<F>(),
            traits::rows,
            traits::cols,
            traits::elements,
            traits::is_accumulator,
            traits::by_rows,
            value_of<value_t<F>>,
            sizeof(value_t<F>),
            wmma_ext::kinds::runs_on_sm_75<F> ? 75 : 80,
            {},
            primitives_kernel<F>,
            load_kernel<F>,
            print_kernel<F>};
  for (const wmma_ext::position p : {constant_place<F, 0>(), constant_place<F, 1>(), constant_place<F, 2>()}) {
    kind.constant_places.push_back({p.row, p.col});
  }
  return kind;
}
template <class... F>
std::vector<Kind> kinds_of(wmma_ext::kinds::list<F...>) {
  return {kind_of<F>()...};
}

}  // namespace
}  // namespace gemm::wmma_ext_test
