// What tests/libraries/wmma_ext_kernels.hpp declares, but for the kinds: how their kernels are run; mma's products; the
// self-test.
#include <stdexcept>

#include "common/backend/device_memory.hpp"
#include "common/kernel/launch.cuh"
#include "tests/libraries/wmma_ext_kernels.cuh"

namespace gemm::wmma_ext_test {
namespace {

namespace mma = wmma_ext::mma;

template <class T>
DeviceArray<T> to_device(const std::vector<T>& host) {
  DeviceArray<T> device(host.size());
  check_cuda(cudaMemcpy(device.data(), host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice), "copy");
  return device;
}
void require(const Status& status) {
  if (!status) throw std::runtime_error(status.reason);
}

template <class T>
std::vector<T> converted(const std::vector<double>& from) {
  std::vector<T> to;
  for (const double x : from) to.push_back(T(x));
  return to;
}
template <class T>
__host__ __device__ double to_double(T x) {
  if constexpr (sizeof(T) == 2) {
    return static_cast<float>(x);
  } else {
    return x;
  }
}
template <class T>
std::vector<double> to_host(const DeviceArray<T>& from) {
  std::vector<double> to;
  for (const T& x : from.to_host()) to.push_back(to_double(x));
  return to;
}

std::vector<double> transposed(const std::vector<double>& by_rows, int cols) {
  const int size = static_cast<int>(by_rows.size()), rows = size / cols;
  std::vector<double> by_cols(by_rows.size());
  for (int i = 0; i < size; ++i) by_cols[i % cols * rows + i / cols] = by_rows[i];
  return by_cols;
}

// Calls f(x), x being of the type of the kind's elements.
template <class Function>
auto with_value(const Kind& kind, Function f) {
  switch (kind.value) {
    case Value::f16:
      return f(__half());
    case Value::bf16:
      return f(__nv_bfloat16());
    case Value::f32:
      return f(float());
    case Value::f64:
      break;
  }
  return f(double());
}

// Fragment by fragment.
std::vector<Bytes> split(const Bytes& all, std::size_t bytes) {
  std::vector<Bytes> parts;
  for (auto at = all.begin(); at != all.end(); at += bytes) parts.emplace_back(at, at + bytes);
  return parts;
}

template <class T>
Made run(const Kind& kind, const Input& in) {
  const auto a = to_device(converted<T>(in.a)), a_by_cols = to_device(converted<T>(transposed(in.a, kind.cols)));
  const auto b = to_device(converted<T>(in.b)), b_by_cols = to_device(converted<T>(transposed(in.b, kind.cols)));
  const auto c = to_device(converted<T>(in.c)), c_by_cols = to_device(converted<T>(transposed(in.c, kind.cols)));
  const auto u = to_device(converted<T>(in.u)), v = to_device(converted<T>(in.v));
  const DeviceArray<T> row(kind.cols), column(kind.rows), by_type(kind.by_rows ? kind.cols : kind.rows);
  const std::size_t fragment_bytes = 32 * kind.elements * sizeof(T);
  const int made = static_cast<int>(kind.is_accumulator ? Primitive::first_of_operands : Primitive::count);
  const DeviceArray<unsigned char> fragments(made * fragment_bytes);
  const Arguments args{
      a.data(), b.data(), c.data(), a_by_cols.data(), b_by_cols.data(), c_by_cols.data(), u.data(),      v.data(),
      in.s,     in.i,     in.j,     fragments.data(), row.data(),       column.data(),    by_type.data()};
  require(launch(kind.primitives_kernel, {.block = 32}, args));
  Made result{{}, to_host(row), to_host(column), {}};
  if (!kind.is_accumulator) result.by_type = to_host(by_type);
  const std::vector<Bytes> parts = split(fragments.to_host(), fragment_bytes);
  for (int p = 0; p < made; ++p) result.fragments[static_cast<Primitive>(p)] = parts[p];
  return result;
}

// Copies a row-major matrix to one with padding, by rows or by columns; answers its leading dimension.
template <class T>
__device__ int spread(T* to, const double* from, int rows, int cols, bool by_rows) {
  const int leading = (by_rows ? cols : rows) + 16;
#pragma unroll 1
  for (int i = threadIdx.x; i < rows * cols; i += 32) {
    const int row = i / cols, col = i % cols;
    to[by_rows ? row * leading + col : col * leading + row] = T(static_cast<float>(from[i]));
  }
  return leading;
}

template <int m, int n, int k, class T, class R>
__global__ void product_kernel(const double* a, const double* b, const double* c, Orders orders, double* out) {
  if constexpr (available<mma::fragment<wmma::matrix_a, m, n, k, T, wmma::row_major>>) {
    using V = wmma_ext::storage_t<T>;
    __shared__ __align__(32) unsigned char memory[3][32 * 32 * 8];
    V *sa = reinterpret_cast<V*>(memory[0]), *sb = reinterpret_cast<V*>(memory[1]);
    R* sc = reinterpret_cast<R*>(memory[2]);
    const int lda = spread(sa, a, m, k, orders.a_by_rows), ldb = spread(sb, b, k, n, orders.b_by_rows);
    const int ldc = spread(sc, c, m, n, orders.c_by_rows);
    __syncthreads();
    const auto order = orders.c_by_rows ? wmma::mem_row_major : wmma::mem_col_major;
    mma::fragment<wmma::accumulator, m, n, k, R> fc, fd;
    mma::load_matrix_sync(fc, sc, ldc, order);
    mma::fill_fragment(fd, R(0.0f));
    const auto multiply = [&]<class LayoutA, class LayoutB>(std::type_identity<LayoutA>, std::type_identity<LayoutB>) {
      mma::fragment<wmma::matrix_a, m, n, k, T, LayoutA> fa;
      mma::fragment<wmma::matrix_b, m, n, k, T, LayoutB> fb;
      mma::load_matrix_sync(fa, sa, lda);
      mma::load_matrix_sync(fb, sb, ldb);
      mma::mma_sync(fd, fa, fb, fc);
    };
    const std::type_identity<wmma::row_major> rows;
    const std::type_identity<wmma::col_major> columns;
    if (orders.a_by_rows) {
      orders.b_by_rows ? multiply(rows, rows) : multiply(rows, columns);
    } else {
      orders.b_by_rows ? multiply(columns, rows) : multiply(columns, columns);
    }
    mma::store_matrix_sync(sc, fd, ldc, order);
    __syncthreads();
    for (int i = threadIdx.x; i < m * n; i += 32) {
      out[i] = to_double(sc[orders.c_by_rows ? i / n * ldc + i % n : i % n * ldc + i / n]);
    }
  }
}

template <int m, int n, int k, class T, class R>
std::vector<double> multiply(const std::vector<double>& a, const std::vector<double>& b, const std::vector<double>& c,
                             Orders orders) {
  const auto da = to_device(a), db = to_device(b), dc = to_device(c);
  const DeviceArray<double> out(c.size());
  require(launch(product_kernel<m, n, k, T, R>, {.block = 32}, da.data(), db.data(), dc.data(), orders, out.data()));
  return out.to_host();
}

template <int m, int n, int k, class T, class R>
Product product() {
  using A = mma::fragment<wmma::matrix_a, m, n, k, T, wmma::row_major>;
  using C = mma::fragment<wmma::accumulator, m, n, k, R>;
  const std::string name = wmma_ext::kinds::description<A>() + " into " + wmma_ext::kinds::type_name<C>();
  return {name, m, n, k, wmma_ext::kinds::runs_on_sm_75<A> ? 75 : 80, multiply<m, n, k, T, R>};
}

// A table in which lane 5 has two elements the wrong way round, of one kind only.
template <class WrongKind>
struct WrongTable {
  template <class F>
  static constexpr wmma_ext::position place(int lane, int i) {
    const bool swap = std::is_same_v<F, WrongKind> && lane == 5;
    return fragment_traits<F>::place(lane, swap ? i ^ 1 : i);
  }
};

}  // namespace

Made run_primitives(const Kind& kind, const Input& in) {
  return with_value(kind, [&]<class T>(T) { return run<T>(kind, in); });
}

std::vector<Bytes> load_from_shared(const Kind& kind, const std::vector<std::vector<double>>& matrices, bool by_rows) {
  std::vector<double> all;
  for (const auto& matrix : matrices) all.insert(all.end(), matrix.begin(), matrix.end());
  const auto on_device = to_device(all);
  const std::size_t fragment_bytes = std::size_t{32} * kind.elements * kind.value_bytes;
  const DeviceArray<unsigned char> fragments(matrices.size() * fragment_bytes);
  const LoadArguments args{on_device.data(), static_cast<int>(matrices.size()), by_rows, fragments.data()};
  require(launch(kind.load_kernel, {.block = 32}, args));
  return split(fragments.to_host(), fragment_bytes);
}

void print(const Kind& kind, const Input& in) {
  with_value(kind, [&]<class T>(T) {
    const auto a = to_device(converted<T>(in.a)), a_by_cols = to_device(converted<T>(transposed(in.a, kind.cols)));
    Arguments args{};
    args.a = a.data();
    args.a_by_cols = a_by_cols.data();
    require(launch(kind.print_kernel, {.block = 32}, args));
    check_cuda(cudaDeviceSynchronize(), "print");
  });
}

const std::vector<Product>& products() {
  static const std::vector<Product> all = {
      product<16, 8, 16, __half, float>(),        product<16, 8, 16, __half, __half>(),
      product<16, 8, 16, __nv_bfloat16, float>(), product<16, 8, 8, __half, float>(),
      product<16, 8, 8, __half, __half>(),        product<16, 8, 8, wmma_ext::precision::tf32, float>(),
      product<8, 8, 4, double, double>(),
  };
  return all;
}

std::string self_test() {
  return wmma_ext::self_test();
}
std::string self_test_with_wrong_wmma_table() {
  return wmma_ext::self_test<WrongTable<wmma::fragment<wmma::matrix_b, 32, 8, 16, __half, wmma::col_major>>>();
}
std::string self_test_with_wrong_mma_table() {
  return wmma_ext::self_test<WrongTable<wmma_ext::mma::fragment<wmma::matrix_a, 16, 8, 8, __half, wmma::row_major>>>();
}
std::string architecture_problem(int compiled, int device) {
  return wmma_ext::detail::architecture_problem(compiled, device);
}

}  // namespace gemm::wmma_ext_test
