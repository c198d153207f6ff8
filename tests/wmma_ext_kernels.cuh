// The kernels behind tests/wmma_ext_kernels.hpp, for a list of kinds.
#pragma once

#include "tensorcore/wmma_ext/wmma_ext.hpp"
#include "tests/wmma_ext_kernels.hpp"

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

template <class F, int which>
__device__ __forceinline__ void set_mapped(F& f, value_t<F> value) {
  constexpr auto place = constant_place<F, which>();
  constexpr auto at = wmma_ext::map<F, place.row, place.col>();
  if (at.lane != wmma_ext::lane_id()) return;
  for (const unsigned index : at.indices) f.x[index] = value;
}
template <class F, int which>
__device__ __forceinline__ void set_constant(F& f, value_t<F> value) {
  constexpr auto place = constant_place<F, which>();
  wmma_ext::set_element<place.row, place.col>(f, value);
}

/// Every primitive, one after another, and what each has made.
template <class F>
__device__ __forceinline__ void make_all(const Arguments& args) {
  using T = value_t<F>;
  using traits = fragment_traits<F>;
  using namespace wmma_ext::operators;
  const T *const pa = static_cast<const T*>(args.a), *const pa_by_cols = static_cast<const T*>(args.a_by_cols);
  const T *const pu = static_cast<const T*>(args.u), *const pv = static_cast<const T*>(args.v);
  const T s = T(args.s);
  const auto keep = [&](Primitive p, const F& f) { dump(args.fragments, static_cast<int>(p), f); };
  const auto keep_made = [&](Primitive p, auto make) {
    F f;
    make(f);
    keep(p, f);
  };
  // What foreach and its like are given: sets f to what lies in memory.
  const auto from = [](F& f, const T* p) {
    return [&f, p](auto indices, int i) {
      for (const unsigned index : indices) f.x[index] = p[i];
    };
  };

  keep_made(Primitive::foreach_ij, [&](F& f) {
    wmma_ext::foreach_ij<F>([&](auto indices, int i, int j) {
      for (const unsigned index : indices) f.x[index] = pa[i * traits::cols + j];
    });
  });
  keep_made(Primitive::foreach_ij_fragments, [&](F& f) {
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
  keep_made(Primitive::foreach_rows, [&](F& f) { wmma_ext::foreach<F>(from(f, pa), wmma::mem_row_major); });
  keep_made(Primitive::foreach_columns, [&](F& f) { wmma_ext::foreach<F>(from(f, pa_by_cols), wmma::mem_col_major); });
  keep_made(Primitive::foreach_fragments, [&](F& f) {
    F other;
    wmma_ext::foreach(
        [&](auto indices, int i) {
          from(other, pa_by_cols)(indices, i);
          for (const unsigned index : indices) f.x[index] = other.x[index];
        },
        wmma::mem_col_major, other, f);
  });
  keep_made(Primitive::foreach_v_row, [&](F& f) {
    wmma_ext::fill_zero(f);
    wmma_ext::foreach_v<F>(from(f, pu), wmma::mem_row_major);
  });
  keep_made(Primitive::foreach_v_column, [&](F& f) {
    wmma_ext::fill_zero(f);
    wmma_ext::foreach_v<F>(from(f, pv), wmma::mem_col_major);
  });
  keep_made(Primitive::foreach_v_fragments, [&](F& f) {
    wmma_ext::fill_zero(f);
    wmma_ext::foreach_v(from(f, pu), wmma::mem_row_major, f);
  });
  keep_made(Primitive::map, [&](F& f) {
#pragma unroll 1
    for (int e = 0; e < traits::rows * traits::cols; ++e) {
      const auto at = wmma_ext::map<F>(e / traits::cols, e % traits::cols);
      if (at.lane != wmma_ext::lane_id()) continue;
      for (const unsigned index : at.indices) f.x[index] = pa[e];
    }
  });
  keep_made(Primitive::map_constant, [&](F& f) {
    wmma_ext::fill_zero(f);
    set_mapped<F, 0>(f, s);
    set_mapped<F, 1>(f, s);
    set_mapped<F, 2>(f, s);
  });
  keep_made(Primitive::set_element, [&](F& f) {
    wmma_ext::fill_zero(f);
    wmma_ext::set_element(f, args.i, args.j, s);
  });
  keep_made(Primitive::set_constant, [&](F& f) {
    wmma_ext::fill_zero(f);
    set_constant<F, 0>(f, s);
    set_constant<F, 1>(f, s);
    set_constant<F, 2>(f, s);
  });
  keep_made(Primitive::fill, [&](F& f) { wmma_ext::fill(f, s); });
  keep_made(Primitive::fill_zero, [&](F& f) { wmma_ext::fill_zero(f); });
  keep_made(Primitive::load_row, [&](F& f) { wmma_ext::load_vector(f, pu, wmma::mem_row_major); });
  keep_made(Primitive::load_column, [&](F& f) { wmma_ext::load_vector(f, pv, wmma::mem_col_major); });
  keep_made(Primitive::make_identity, [&](F& f) { wmma_ext::make_identity(f); });
  keep_made(Primitive::direct_product, [&](F& f) { wmma_ext::direct_product(f, pv, pu); });

  F a, b, c;
  load(a, pa, pa_by_cols);
  load(b, static_cast<const T*>(args.b), static_cast<const T*>(args.b_by_cols));
  load(c, static_cast<const T*>(args.c), static_cast<const T*>(args.c_by_cols));
  keep_made(Primitive::add_eye, [&](F& f) {
    f = a;
    wmma_ext::add_eye(f, s);
  });
  keep(Primitive::plus, a + b);
  keep(Primitive::minus, a - b);
  keep(Primitive::times, a * b);
  keep(Primitive::divided, a / b);
  keep(Primitive::plus_s, a + s);
  keep(Primitive::minus_s, a - s);
  keep(Primitive::times_s, a * s);
  keep(Primitive::s_times, s * a);
  keep(Primitive::divided_by_s, a / s);
  keep(Primitive::fma, wmma_ext::fma(a, b, c));
  keep(Primitive::fma_s, wmma_ext::fma(s, b, c));
  wmma_ext::store_vector(static_cast<T*>(args.row), a, wmma::mem_row_major);
  wmma_ext::store_vector(static_cast<T*>(args.column), a, wmma::mem_col_major);

  if constexpr (!traits::is_accumulator) {
    const T *const p = traits::by_rows ? pa : pa_by_cols, *const vector = traits::by_rows ? pu : pv;
    keep_made(Primitive::foreach_by_type, [&](F& f) { wmma_ext::foreach<F>(from(f, p)); });
    keep_made(Primitive::foreach_by_type_fragments, [&](F& f) { wmma_ext::foreach(from(f, p), f); });
    keep_made(Primitive::foreach_v_by_type, [&](F& f) {
      wmma_ext::fill_zero(f);
      wmma_ext::foreach_v<F>(from(f, vector));
    });
    keep_made(Primitive::foreach_v_by_type_fragments, [&](F& f) {
      wmma_ext::fill_zero(f);
      wmma_ext::foreach_v(from(f, vector), f);
    });
    keep_made(Primitive::load_by_type, [&](F& f) { wmma_ext::load_vector(f, vector); });
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
