#include <cuda_runtime.h>
#include <mma.h>

#include <stdexcept>
#include <type_traits>

#include "common/backend/device_memory.hpp"
#include "common/kernel/launch.cuh"
#include "common/kernel/ptx.cuh"
#include "tests/executor/tensor_kernels.hpp"

namespace gemm::tensor_test {
namespace {

namespace wmma = nvcuda::wmma;

template <class T>
DeviceArray<T> to_device(const std::vector<T>& host) {
  DeviceArray<T> device(host.size());
  check_cuda(cudaMemcpy(device.data(), host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice), "copy");
  return device;
}

void require(const Status& status) {
  if (!status) throw std::runtime_error(status.reason);
}

// What a kernel needs newer devices for than sm_75 is not compiled for that.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
constexpr bool has_sm_80 = false;
#else
constexpr bool has_sm_80 = true;
#endif

// For each wmma type: the element type of A and B, what it is in memory, and the types of C and D.
template <WmmaType>
struct Types;
template <>
struct Types<WmmaType::half_float> {
  using Element = __half;
  using Memory = __half;
  using C = float;
  using D = float;
};
template <>
struct Types<WmmaType::half_half> {
  using Element = __half;
  using Memory = __half;
  using C = __half;
  using D = __half;
};
template <>
struct Types<WmmaType::half_mixed> {
  using Element = __half;
  using Memory = __half;
  using C = __half;
  using D = float;
};
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
template <>
struct Types<WmmaType::bf16_float> {
  using Element = __nv_bfloat16;
  using Memory = __nv_bfloat16;
  using C = float;
  using D = float;
};
template <>
struct Types<WmmaType::tf32_float> {
  using Element = wmma::precision::tf32;
  using Memory = float;
  using C = float;
  using D = float;
};
template <>
struct Types<WmmaType::f64> {
  using Element = double;
  using Memory = double;
  using C = double;
  using D = double;
};
#endif

struct WmmaArguments {
  const double *a, *b, *c;
  double *d, *a_x, *b_x, *c_x;
  void* scratch;  // in global memory, as large as the shared array; null: use that
  bool c_by_rows;
};

constexpr int padding = 16;  // elements between rows or columns: keeps every alignment that wmma asks for
constexpr int matrix_bytes = 8192;

template <class T>
__device__ double to_double(T x) {
  if constexpr (std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16>) {
    return static_cast<float>(x);
  } else {
    return x;
  }
}

// Copies a row-major matrix to one of T with padding, by rows or by columns. Returns the leading dimension.
template <class T>
__device__ int spread(T* to, const double* from, int rows, int cols, bool by_rows) {
  const int leading = (by_rows ? cols : rows) + padding;
  for (int i = threadIdx.x; i < rows * cols; i += 32) {
    const int row = i / cols, col = i % cols;
    to[by_rows ? row * leading + col : col * leading + row] = T(static_cast<float>(from[i]));
  }
  return leading;
}

template <class Fragment>
__device__ void dump(double* to, const Fragment& fragment) {
  for (int i = 0; i < fragment.num_elements; ++i) {
    to[threadIdx.x * fragment.num_elements + i] = to_double(fragment.x[i]);
  }
}

template <WmmaType type, int m, int n, int k, class LayoutA, class LayoutB>
__device__ void multiply(const WmmaArguments& args, unsigned char* memory) {
  using T = Types<type>;
  auto* a = reinterpret_cast<typename T::Memory*>(memory);
  auto* b = reinterpret_cast<typename T::Memory*>(memory + matrix_bytes);
  auto* c = reinterpret_cast<typename T::C*>(memory + 2 * matrix_bytes);
  auto* d = reinterpret_cast<typename T::D*>(memory + 3 * matrix_bytes);
  const int lda = spread(a, args.a, m, k, std::is_same_v<LayoutA, wmma::row_major>);
  const int ldb = spread(b, args.b, k, n, std::is_same_v<LayoutB, wmma::row_major>);
  const int ldc = spread(c, args.c, m, n, args.c_by_rows);
  __syncthreads();

  wmma::fragment<wmma::matrix_a, m, n, k, typename T::Element, LayoutA> fa;
  wmma::fragment<wmma::matrix_b, m, n, k, typename T::Element, LayoutB> fb;
  wmma::fragment<wmma::accumulator, m, n, k, typename T::C> fc;
  wmma::fragment<wmma::accumulator, m, n, k, typename T::D> fd;
  const auto layout = args.c_by_rows ? wmma::mem_row_major : wmma::mem_col_major;
  wmma::load_matrix_sync(fa, a, lda);
  wmma::load_matrix_sync(fb, b, ldb);
  wmma::load_matrix_sync(fc, c, ldc, layout);
  dump(args.a_x, fa);
  dump(args.b_x, fb);
  dump(args.c_x, fc);
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  if constexpr (type == WmmaType::tf32_float) {
    for (int i = 0; i < fa.num_elements; ++i) fa.x[i] = wmma::__float_to_tf32(fa.x[i]);
    for (int i = 0; i < fb.num_elements; ++i) fb.x[i] = wmma::__float_to_tf32(fb.x[i]);
  }
#endif
  wmma::fill_fragment(fd, 0.0f);
  wmma::mma_sync(fd, fa, fb, fc);
  wmma::store_matrix_sync(d, fd, ldc, layout);
  __syncthreads();
  for (int i = threadIdx.x; i < m * n; i += 32) {
    args.d[i] = to_double(d[args.c_by_rows ? i / n * ldc + i % n : i % n * ldc + i / n]);
  }
}

template <WmmaType type, int m, int n, int k, class LayoutA, class LayoutB>
__global__ void wmma_kernel(WmmaArguments args) {
  __shared__ __align__(32) unsigned char shared[4 * matrix_bytes];
  if constexpr (has_sm_80 || type <= WmmaType::half_mixed) {
    // Two calls, so that the compiler may know that it is shared memory.
    if (args.scratch) {
      multiply<type, m, n, k, LayoutA, LayoutB>(args, static_cast<unsigned char*>(args.scratch));
    } else {
      multiply<type, m, n, k, LayoutA, LayoutB>(args, shared);
    }
  }
}

template <WmmaType type, int m, int n, int k>
Status launch_layouts(const WmmaCase& which, const WmmaArguments& args) {
  using Row = wmma::row_major;
  using Col = wmma::col_major;
  const LaunchShape shape{.block = 32};
  if (which.a_by_rows) {
    return which.b_by_rows ? launch(wmma_kernel<type, m, n, k, Row, Row>, shape, args)
                           : launch(wmma_kernel<type, m, n, k, Row, Col>, shape, args);
  }
  return which.b_by_rows ? launch(wmma_kernel<type, m, n, k, Col, Row>, shape, args)
                         : launch(wmma_kernel<type, m, n, k, Col, Col>, shape, args);
}

template <WmmaType type>
Status launch_shapes(const WmmaCase& which, const WmmaArguments& args) {
  if (which.m == 32) return launch_layouts<type, 32, 8, 16>(which, args);
  if (which.m == 8) return launch_layouts<type, 8, 32, 16>(which, args);
  return launch_layouts<type, 16, 16, 16>(which, args);
}

Status launch_wmma(const WmmaCase& which, const WmmaArguments& args) {
  switch (which.type) {
    case WmmaType::half_float:
      return launch_shapes<WmmaType::half_float>(which, args);
    case WmmaType::half_half:
      return launch_shapes<WmmaType::half_half>(which, args);
    case WmmaType::half_mixed:
      return launch_shapes<WmmaType::half_mixed>(which, args);
    case WmmaType::bf16_float:
      return launch_shapes<WmmaType::bf16_float>(which, args);
    case WmmaType::tf32_float:
      return launch_layouts<WmmaType::tf32_float, 16, 16, 8>(which, args);
    case WmmaType::f64:
      return launch_layouts<WmmaType::f64, 8, 8, 4>(which, args);
  }
  return Status::failed("no such type");
}

}  // namespace

WmmaResult wmma_product(const WmmaCase& which, const std::vector<double>& a, const std::vector<double>& b,
                        const std::vector<double>& c) {
  const auto da = to_device(a), db = to_device(b), dc = to_device(c);
  // nvcc's fragments hold 16 elements of a __half operand, otherwise each element of the matrix once.
  const auto held = [&](const std::vector<double>& matrix, bool operand) {
    return operand && which.type <= WmmaType::half_mixed ? 16 * 32 : matrix.size();
  };
  const DeviceArray<double> d(c.size()), a_x(held(a, true)), b_x(held(b, true)), c_x(held(c, false));
  const DeviceArray<unsigned char> scratch(4 * matrix_bytes);
  require(launch_wmma(which, {da.data(), db.data(), dc.data(), d.data(), a_x.data(), b_x.data(), c_x.data(),
                              which.in_shared ? nullptr : scratch.data(), which.c_by_rows}));
  return {d.to_host(), a_x.to_host(), b_x.to_host(), c_x.to_host()};
}

}  // namespace gemm::tensor_test
