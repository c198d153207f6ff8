// Does the code that was compiled fit the GPU that it runs on? CUDA doesn't promise nvcuda::wmma's layouts, and a wrong
// one gives no error but wrong numbers: so ask, once, at the start of a program.
#pragma once

#include <string>
#include <vector>

#include "discover.hpp"
#include "kinds.hpp"

namespace wmma_ext {

/// The layouts that this library is compiled with.
struct compiled_layouts {
  template <any_fragment Fragment>
  static constexpr position place(int lane, int i) {
    return fragment_traits<Fragment>::place(lane, i);
  }
};

namespace detail {

/// A product of mma.sync: it loads nothing, so its layouts show in its results only.
template <class A, class B, class C>
struct product {};
template <int m, int n, int k, class T, class R>
using mma_product = product<mma::fragment<matrix_a, m, n, k, T, row_major>,
                            mma::fragment<matrix_b, m, n, k, T, col_major>, mma::fragment<accumulator, m, n, k, R>>;

// What is tested, in the order in which it is numbered. A kernel compiled for sm_75 leaves out the second list.
using tested_on_sm_75 =
    kinds::joined<kinds::wmma_sm_75,
                  kinds::list<mma_product<16, 8, 8, __half, float>, mma_product<16, 8, 8, __half, __half>>>;
using tested_on_sm_80 =
    kinds::joined<kinds::wmma_sm_80,
                  kinds::list<mma_product<16, 8, 16, __half, float>, mma_product<16, 8, 16, __half, __half>,
                              mma_product<16, 8, 16, __nv_bfloat16, float>,
                              mma_product<16, 8, 8, precision::tf32, float>, mma_product<8, 8, 4, double, double>>>;
inline constexpr int most_tested = tested_on_sm_75::size + tested_on_sm_80::size;

/// What goes to the device and comes back. Of a fragment: the rows, then the columns of the elements in x[] of each
/// lane. Of a product: x[] of A, then B, then C of each lane; and x[] of D.
struct self_test_data {
  struct {
    float first[32][16], second[32][16];
  } kind[most_tested];
  int architecture;  ///< __CUDA_ARCH__ / 10; 0 on the executor
  int tested;        ///< kinds
};

/// Fills a matrix without padding with the numbers of its rows or columns, which all types hold exactly.
template <class T>
__device__ __attribute__((noinline)) void fill_numbers(T* matrix, int rows, int cols, bool by_rows, bool row_numbers) {
  for (int i = lane_id(); i < rows * cols; i += 32) {
    const int row = by_rows ? i / cols : i % rows, col = by_rows ? i % cols : i / rows;
    matrix[i] = T(static_cast<float>(row_numbers ? row : col));
  }
}

/// `memory`: 2048 bytes, shared.
template <any_fragment Fragment>
__device__ void test_one(std::type_identity<Fragment>, self_test_data& data, int number, unsigned char* memory) {
  using traits = fragment_traits<Fragment>;
  constexpr bool by_rows = traits::is_accumulator || traits::by_rows;
  auto* matrix = reinterpret_cast<value_t<Fragment>*>(memory);
#pragma unroll 1
  for (int pass = 0; pass < 2; ++pass) {
    __syncwarp();
    fill_numbers(matrix, traits::rows, traits::cols, by_rows, pass == 0);
    __syncwarp();
    Fragment fragment;
    load_unpadded(fragment, matrix);
    dump(pass == 0 ? data.kind[number].first : data.kind[number].second, fragment);
  }
}

template <class A, class B, class C>
__device__ void test_one(std::type_identity<product<A, B, C>>, self_test_data& data, int number, unsigned char*) {
  const float* from = data.kind[number].first[lane_id()];
  const auto take = [&](auto& fragment) {
    using F = std::remove_reference_t<decltype(fragment)>;
#pragma unroll
    for (int e = 0; e < fragment_traits<F>::held; ++e) fragment.x[e] = value_t<F>(*from++);
  };
  A a;
  B b;
  C c;
  take(a);
  take(b);
  take(c);
  mma::mma_sync(c, a, b, c);
  dump(data.kind[number].second, c);
}

template <class... Tested>
__device__ void test_all(kinds::list<Tested...>, self_test_data& data, int& number, unsigned char* memory) {
  (test_one(std::type_identity<Tested>{}, data, number++, memory), ...);
}

/// One warp. A template only so that it may stand in a header.
template <class>
__global__ void self_test_kernel(self_test_data* data) {
  __shared__ __align__(32) unsigned char memory[2048];
  int number = 0;
  test_all(tested_on_sm_75{}, *data, number, memory);
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  test_all(tested_on_sm_80{}, *data, number, memory);
#endif
  if (lane_id() == 0) {
    data->tested = number;
#ifdef __CUDA_ARCH__
    data->architecture = __CUDA_ARCH__ / 10;
#endif
  }
}

// ---- on the host

inline std::string show(int row, int col) {
  std::string text = "(";
  text += std::to_string(row);
  text += ", ";
  text += std::to_string(col);
  text += ")";
  return text;
}

// Small integers, of which no row or column is like another.
constexpr int in_a(int i, int l) {
  return (3 * i + 5 * l) % 7 - 3;
}
constexpr int in_b(int l, int j) {
  return (2 * l + 3 * j) % 5 - 2;
}
constexpr int in_c(int i, int j) {
  return (i + 2 * j) % 11;
}

/// One of the list, for the host: a fragment, or the three of a product.
struct tested_kind {
  std::string (*name)();
  const char* into;  ///< the type of a product's result; null for a fragment
  int k;
  int elements[3];
  position (*place[3])(int lane, int i);
};

template <class Table, any_fragment F>
tested_kind describe(std::type_identity<F>) {
  return {kinds::description<F>,
          nullptr,
          fragment_traits<F>::k,
          {fragment_traits<F>::elements, 0, 0},
          {Table::template place<F>, nullptr, nullptr}};
}
template <class Table, class A, class B, class C>
tested_kind describe(std::type_identity<product<A, B, C>>) {
  return {kinds::description<A>,
          kinds::type_name<C>(),
          fragment_traits<C>::k,
          {fragment_traits<A>::elements, fragment_traits<B>::elements, fragment_traits<C>::elements},
          {Table::template place<A>, Table::template place<B>, Table::template place<C>}};
}
template <class Table, class... Tested>
void describe(kinds::list<Tested...>, std::vector<tested_kind>& all) {
  (all.push_back(describe<Table>(std::type_identity<Tested>{})), ...);
}

/// Fills in the operands of a product.
inline void prepare(const tested_kind& tested, self_test_data& data, int number) {
  if (!tested.into) return;
  int (*const rules[3])(int, int) = {in_a, in_b, in_c};
  for (int lane = 0; lane < 32; ++lane) {
    float* to = data.kind[number].first[lane];
    for (int matrix = 0; matrix < 3; ++matrix) {
      for (int e = 0; e < tested.elements[matrix]; ++e) {
        const position p = tested.place[matrix](lane, e);
        *to++ = static_cast<float>(rules[matrix](p.row, p.col));
      }
    }
  }
}

/// What is wrong, or nothing.
inline std::string judge(const tested_kind& tested, const self_test_data& data, int number) {
  const auto& kind = data.kind[number];
  const int result = tested.into ? 2 : 0;
  for (int lane = 0; lane < 32; ++lane) {
    for (int e = 0; e < tested.elements[result]; ++e) {
      const position p = tested.place[result](lane, e);
      const float first = kind.first[lane][e], second = kind.second[lane][e];
      std::string text;
      if (tested.into) {
        int sum = in_c(p.row, p.col);
        for (int l = 0; l < tested.k; ++l) sum += in_a(p.row, l) * in_b(l, p.col);
        if (second == static_cast<float>(sum)) continue;
        text.append("the product of ").append(tested.name()).append(" into ").append(tested.into);
        return text.append(": element ").append(show(p.row, p.col)).append(" is wrong with the compiled table");
      }
      if (first == static_cast<float>(p.row) && second == static_cast<float>(p.col)) continue;
      text.append(tested.name()).append(": x[").append(std::to_string(e)).append("] of lane ");
      text.append(std::to_string(lane)).append(" is element ");
      text.append(show(static_cast<int>(first), static_cast<int>(second))).append(" on this device, ");
      return text.append(show(p.row, p.col)).append(" in the compiled table");
    }
  }
  return {};
}

/// Why code compiled for one architecture must not run on another; empty if it may. 90 stands for sm_90.
inline std::string architecture_problem(int compiled, int device) {
  if (compiled == device || (compiled >= 80 && device >= 80)) return {};
  return "compiled for sm_" + std::to_string(compiled) + ", but this device is sm_" + std::to_string(device) +
         ": compile for its own architecture";
}

// Templates, so that only programs that call self_test() have its kernel.
template <class = void>
cudaError_t launch_self_test(self_test_data* data, cudaStream_t stream) {
#ifdef __CUDACC__
  self_test_kernel<void><<<1, 32, 0, stream>>>(data);
  return cudaGetLastError();
#else
  static_cast<void>(stream);
  const auto call = [](const void* argument) __attribute__((no_sanitize("thread", "bounds"))) {
    self_test_kernel<void>(*static_cast<self_test_data* const*>(argument));
  };
  return simt::launch({1, 32, 0, reinterpret_cast<const void*>(&self_test_kernel<void>)}, {call, &data});
#endif
}

template <class = void>
std::string run_self_test(const std::vector<tested_kind>& all, cudaStream_t stream) {
  std::vector<self_test_data> data(1);
  for (int i = 0; i < most_tested; ++i) prepare(all[i], data[0], i);
  self_test_data* on_device = nullptr;
  cudaError_t error = cudaMalloc(reinterpret_cast<void**>(&on_device), sizeof data[0]);
  if (error == cudaSuccess) {
    error = cudaMemcpyAsync(on_device, data.data(), sizeof data[0], cudaMemcpyHostToDevice, stream);
    if (error == cudaSuccess) error = launch_self_test(on_device, stream);
    if (error == cudaSuccess) {
      error = cudaMemcpyAsync(data.data(), on_device, sizeof data[0], cudaMemcpyDeviceToHost, stream);
    }
    if (error == cudaSuccess) error = cudaStreamSynchronize(stream);
    cudaFree(on_device);
  }
  if (error != cudaSuccess) return std::string("the self-test could not run: ") + cudaGetErrorString(error);
#ifdef __CUDACC__
  int device = 0, major = 0, minor = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
  const std::string problem = architecture_problem(data[0].architecture, 10 * major + minor);
  if (!problem.empty()) return problem;
#endif
  if (data[0].tested < tested_on_sm_75::size) return "the self-test did not end";
  for (int i = 0; i < data[0].tested; ++i) {
    std::string text = judge(all[i], data[0], i);
    if (!text.empty()) return text;
  }
  return {};
}

}  // namespace detail

/// Compares every kind of fragment on the current device with the compiled layouts, by one warp on `stream`, and waits
/// for it. Answers nothing if all is right, else one line. Refused are: another layout; code that was compiled for
/// sm_75 on a later device; and CUDA's own errors (no code for this device, none at all). From the host.
template <class Table = compiled_layouts>
std::string self_test(cudaStream_t stream = nullptr) {
  std::vector<detail::tested_kind> all;
  detail::describe<Table>(detail::tested_on_sm_75{}, all);
  detail::describe<Table>(detail::tested_on_sm_80{}, all);
  const std::string problem = detail::run_self_test(all, stream);
  return problem.empty() ? problem : "wmma_ext: " + problem;
}

}  // namespace wmma_ext
