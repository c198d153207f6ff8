// The kernels behind tests/wmma_ext_kernels.hpp, for a list of kinds.
#pragma once

#include <stdexcept>

#include "common/device_memory.hpp"
#include "common/launch.cuh"
#include "tensorcore/wmma_ext/wmma_ext.hpp"
#include "tests/wmma_ext_kernels.hpp"

namespace gemm::wmma_ext_test {
namespace {

namespace wmma = nvcuda::wmma;
using wmma_ext::fragment_traits;
using wmma_ext::value_t;

template <class T>
DeviceArray<T> to_device(const std::vector<T>& host) {
  DeviceArray<T> device(host.empty() ? 1 : host.size());
  if (!host.empty()) {
    check_cuda(cudaMemcpy(device.data(), host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice), "copy");
  }
  return device;
}
inline void require(const Status& status) {
  if (!status) throw std::runtime_error(status.reason);
}

/// Pointers to Input's arrays, in the type of the fragment; matrices in rows and in columns, without padding.
template <class T>
struct Arguments {
  const T *a, *b, *c, *a_by_cols, *b_by_cols, *c_by_cols, *u, *v;
  T s;
  int i, j;
};

template <class F, class T>
__device__ __forceinline__ void load(F& fragment, const T* by_rows, const T* by_cols) {
  using traits = fragment_traits<F>;
  if constexpr (traits::is_accumulator) {
    load_matrix_sync(fragment, by_rows, traits::cols, wmma::mem_row_major);
  } else if constexpr (traits::by_rows) {
    load_matrix_sync(fragment, by_rows, traits::cols);
  } else {
    load_matrix_sync(fragment, by_cols, traits::rows);
  }
}

template <class F>
__device__ __forceinline__ void dump(unsigned char* out, const F& fragment) {
  auto* to = reinterpret_cast<value_t<F>*>(out);
  for (int e = 0; e < fragment_traits<F>::elements; ++e) {
    to[threadIdx.x * fragment_traits<F>::elements + e] = fragment.x[e];
  }
}

/// Three elements, one of them in the last row and column.
template <class F, int which>
__host__ __device__ constexpr wmma_ext::position constant_place() {
  constexpr int rows = fragment_traits<F>::rows, cols = fragment_traits<F>::cols;
  return which == 0   ? wmma_ext::position{0, 0}
         : which == 1 ? wmma_ext::position{rows / 2 + 1, cols / 2 - 1}
                      : wmma_ext::position{rows - 1, cols - 1};
}

// How an operand lies in memory matters to three primitives only: the rest is tested with row_major.
template <class F>
inline constexpr bool tests_all = fragment_traits<F>::is_accumulator || fragment_traits<F>::by_rows;
// Arithmetic knows only the type of x[] and how many elements there are: one kind of each type and instruction will do.
template <class F>
inline constexpr bool tests_arithmetic = fragment_traits<F>::is_accumulator
                                             ? fragment_traits<F>::m == 16 ||
                                                   fragment_traits<F>::m == fragment_traits<F>::n
                                             : fragment_traits<F>::by_rows&& fragment_traits<F>::rows ==
                                                       fragment_traits<F>::m &&
                                                   (fragment_traits<F>::m == 16 || fragment_traits<F>::k == 4);

template <class F>
__device__ void make(F& f, Primitive primitive, const Arguments<value_t<F>>& args) {
  using traits = fragment_traits<F>;
  using namespace wmma_ext::operators;
  const auto asked = [&](Primitive p) { return primitive == p; };
  if (primitive == Primitive::foreach_ij) {
    F other;
    wmma_ext::foreach_ij(
        [&](auto indices, int i, int j) {
          for (const unsigned index : indices) {
            other.x[index] = args.a[i * traits::cols + j];
            f.x[index] = other.x[index];
          }
        },
        f, other);
  } else if (primitive == Primitive::foreach) {
    const auto set = [&](auto indices, int memory_index) {
      for (const unsigned index : indices) f.x[index] = args.a[memory_index];
    };
    wmma_ext::foreach<F>(set, wmma::mem_row_major);
  } else if (primitive == Primitive::foreach_in_columns) {
    const auto set = [&](auto indices, int memory_index) {
      for (const unsigned index : indices) f.x[index] = args.a_by_cols[memory_index];
    };
    if constexpr (traits::is_accumulator || traits::by_rows) {
      wmma_ext::foreach<F>(set, wmma::mem_col_major);
    } else {
      wmma_ext::foreach<F>(set);
    }
  } else if (primitive == Primitive::load_vector) {
    if constexpr (!traits::is_accumulator) wmma_ext::load_vector(f, traits::by_rows ? args.u : args.v);
  } else if constexpr (!tests_all<F>) {
    return;
  } else if (primitive == Primitive::map) {
    for (int i = 0; i < traits::rows; ++i) {
      for (int j = 0; j < traits::cols; ++j) {
        const auto at = wmma_ext::map<F>(i, j);
        if (at.lane != wmma_ext::lane_id()) continue;
        for (const unsigned index : at.indices) f.x[index] = args.a[i * traits::cols + j];
      }
    }
  } else if (primitive == Primitive::set_element) {
    wmma_ext::fill_zero(f);
    wmma_ext::set_element(f, args.i, args.j, args.s);
  } else if (primitive == Primitive::set_constant) {
    wmma_ext::fill_zero(f);
    constexpr auto p = constant_place<F, 0>(), q = constant_place<F, 1>(), r = constant_place<F, 2>();
    wmma_ext::set_element<p.row, p.col>(f, args.s);
    wmma_ext::set_element<q.row, q.col>(f, args.s);
    wmma_ext::set_element<r.row, r.col>(f, args.s);
  } else if (primitive == Primitive::fill) {
    wmma_ext::fill(f, args.s);
  } else if (primitive == Primitive::fill_zero) {
    wmma_ext::fill_zero(f);
  } else if (primitive == Primitive::load_row) {
    wmma_ext::load_vector(f, args.u, wmma::mem_row_major);
  } else if (primitive == Primitive::load_column) {
    wmma_ext::load_vector(f, args.v, wmma::mem_col_major);
  } else if (primitive == Primitive::make_identity) {
    wmma_ext::make_identity(f);
  } else if (primitive == Primitive::direct_product) {
    wmma_ext::direct_product(f, args.v, args.u);
  } else {
    F a, b, c;
    load(a, args.a, args.a_by_cols);
    load(b, args.b, args.b_by_cols);
    load(c, args.c, args.c_by_cols);
    if (asked(Primitive::add_eye)) {
      f = a;
      wmma_ext::add_eye(f, args.s);
    }
    if constexpr (tests_arithmetic<F>) {
      if (asked(Primitive::plus)) f = a + b;
      if (asked(Primitive::minus)) f = a - b;
      if (asked(Primitive::times)) f = a * b;
      if (asked(Primitive::divided)) f = a / b;
      if (asked(Primitive::plus_s)) f = a + args.s;
      if (asked(Primitive::minus_s)) f = a - args.s;
      if (asked(Primitive::times_s)) f = a * args.s;
      if (asked(Primitive::s_times)) f = args.s * a;
      if (asked(Primitive::divided_by_s)) f = a / args.s;
      if (asked(Primitive::fma)) f = wmma_ext::fma(a, b, c);
      if (asked(Primitive::fma_s)) f = wmma_ext::fma(args.s, b, c);
    }
  }
}

// Types that only sm_80 has are not there where a kernel is compiled for sm_75.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
constexpr bool has_sm_80 = false;
#else
constexpr bool has_sm_80 = true;
#endif
template <class F>
inline constexpr bool available = has_sm_80 || wmma_ext::kinds::runs_on_sm_75<F>;

template <class F>
__global__ void primitive_kernel(Primitive primitive, Arguments<value_t<F>> args, unsigned char* out) {
  if constexpr (available<F>) {
    F f;
    make(f, primitive, args);
    dump(out, f);
  }
}

/// x[] after load_matrix_sync from shared memory with padding.
template <class F>
__global__ void loaded_kernel(const double* a, bool by_rows, unsigned char* out) {
  if constexpr (available<F>) {
    using traits = fragment_traits<F>;
    constexpr int padding = 16;
    __shared__ __align__(32) unsigned char memory[sizeof(value_t<F>) * (32 + padding) * 32];
    auto* matrix = reinterpret_cast<value_t<F>*>(memory);
    const int ldm = (by_rows ? traits::cols : traits::rows) + padding;
    for (int i = threadIdx.x; i < traits::rows * traits::cols; i += 32) {
      const int row = i / traits::cols, col = i % traits::cols;
      matrix[by_rows ? row * ldm + col : col * ldm + row] = value_t<F>(a[i]);
    }
    __syncthreads();
    F f;
    if constexpr (traits::is_accumulator) {
      load_matrix_sync(f, matrix, ldm, by_rows ? wmma::mem_row_major : wmma::mem_col_major);
    } else {
      load_matrix_sync(f, matrix, ldm);
    }
    dump(out, f);
  }
}

template <class F>
__global__ void store_vector_kernel(Arguments<value_t<F>> args, bool row, value_t<F>* out) {
  if constexpr (available<F>) {
    using traits = fragment_traits<F>;
    F f;
    load(f, args.a, args.a_by_cols);
    if constexpr (!traits::is_accumulator) {
      if (row == traits::by_rows) {
        wmma_ext::store_vector(out, f);
        return;
      }
    }
    wmma_ext::store_vector(out, f, row ? wmma::mem_row_major : wmma::mem_col_major);
  }
}

template <class F>
__global__ void print_kernel(Arguments<value_t<F>> args) {
  if constexpr (available<F>) {
    F f;
    load(f, args.a, args.a_by_cols);
    wmma_ext::print_fragment(f, "it");
  }
}

// ---- the host's side

template <class T>
std::vector<T> converted(const std::vector<double>& from) {
  std::vector<T> to;
  for (const double x : from) to.push_back(T(x));
  return to;
}

inline std::vector<double> transposed(const std::vector<double>& by_rows, int cols) {
  const int size = static_cast<int>(by_rows.size()), rows = size / cols;
  std::vector<double> by_cols(by_rows.size());
  for (int i = 0; i < size; ++i) by_cols[i % cols * rows + i / cols] = by_rows[i];
  return by_cols;
}

/// Input on the device.
template <class T>
class OnDevice {
 public:
  OnDevice(const Input& in, int cols)
      : a_(to_device(converted<T>(in.a))),
        b_(to_device(converted<T>(in.b))),
        c_(to_device(converted<T>(in.c))),
        a_by_cols_(to_device(converted<T>(transposed(in.a, cols)))),
        b_by_cols_(to_device(converted<T>(transposed(in.b, cols)))),
        c_by_cols_(to_device(converted<T>(transposed(in.c, cols)))),
        u_(to_device(converted<T>(in.u))),
        v_(to_device(converted<T>(in.v))),
        s_(T(in.s)),
        i_(in.i),
        j_(in.j) {}

  Arguments<T> arguments() const {
    return {
        a_.data(), b_.data(), c_.data(), a_by_cols_.data(), b_by_cols_.data(), c_by_cols_.data(), u_.data(), v_.data(),
        s_,        i_,        j_};
  }

 private:
  DeviceArray<T> a_, b_, c_, a_by_cols_, b_by_cols_, c_by_cols_, u_, v_;
  T s_;
  int i_, j_;
};

template <class F>
constexpr std::size_t fragment_bytes = 32 * fragment_traits<F>::elements * sizeof(value_t<F>);

template <class F>
Bytes run_primitive(Primitive primitive, const Input& in) {
  const OnDevice<value_t<F>> on_device(in, fragment_traits<F>::cols);
  const DeviceArray<unsigned char> out(fragment_bytes<F>);
  require(launch(primitive_kernel<F>, {.block = 32}, primitive, on_device.arguments(), out.data()));
  return out.to_host();
}
template <class F>
Bytes run_loaded(const Input& in, bool by_rows) {
  const auto a = to_device(in.a);
  const DeviceArray<unsigned char> out(fragment_bytes<F>);
  require(launch(loaded_kernel<F>, {.block = 32}, a.data(), by_rows, out.data()));
  return out.to_host();
}
template <class F>
std::vector<double> run_store_vector(const Input& in, bool row) {
  const OnDevice<value_t<F>> on_device(in, fragment_traits<F>::cols);
  const DeviceArray<value_t<F>> out(row ? fragment_traits<F>::cols : fragment_traits<F>::rows);
  require(launch(store_vector_kernel<F>, {.block = 32}, on_device.arguments(), row, out.data()));
  std::vector<double> result;
  for (const value_t<F>& x : out.to_host()) {
    if constexpr (sizeof(x) == 2) {
      result.push_back(static_cast<float>(x));
    } else {
      result.push_back(x);
    }
  }
  return result;
}
template <class F>
void run_print(const Input& in) {
  const OnDevice<value_t<F>> on_device(in, fragment_traits<F>::cols);
  require(launch(print_kernel<F>, {.block = 32}, on_device.arguments()));
  check_cuda(cudaDeviceSynchronize(), "print");
}
template <class F>
std::vector<Place> constant_places() {
  std::vector<Place> places;
  for (const wmma_ext::position p : {constant_place<F, 0>(), constant_place<F, 1>(), constant_place<F, 2>()}) {
    places.push_back({p.row, p.col});
  }
  return places;
}

template <class F>
Kind kind_of() {
  using traits = fragment_traits<F>;
  return {wmma_ext::kinds::description<F>(),
          traits::rows,
          traits::cols,
          traits::held,
          traits::is_accumulator,
          traits::by_rows,
          sizeof(value_t<F>) == 2,
          wmma_ext::kinds::runs_on_sm_75<F> ? 75 : 80,
          sizeof(value_t<F>),
          run_primitive<F>,
          run_loaded<F>,
          run_store_vector<F>,
          run_print<F>,
          constant_places<F>,
          tests_all<F>,
          tests_arithmetic<F>};
}
template <class... F>
std::vector<Kind> kinds_of(wmma_ext::kinds::list<F...>) {
  return {kind_of<F>()...};
}

}  // namespace
}  // namespace gemm::wmma_ext_test
