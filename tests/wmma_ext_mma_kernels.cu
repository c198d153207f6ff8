#include "tests/wmma_ext_kernels.cuh"

namespace gemm::wmma_ext_test {
namespace {

namespace mma = wmma_ext::mma;

template <class T>
__device__ double to_double(T x) {
  if constexpr (sizeof(T) == 2) {
    return static_cast<float>(x);
  } else {
    return x;
  }
}

// Copies a row-major matrix to one with padding, by rows or by columns; answers its leading dimension.
template <class T>
__device__ int spread(T* to, const double* from, int rows, int cols, bool by_rows) {
  const int leading = (by_rows ? cols : rows) + 16;
  for (int i = threadIdx.x; i < rows * cols; i += 32) {
    const int row = i / cols, col = i % cols;
    to[by_rows ? row * leading + col : col * leading + row] = T(static_cast<float>(from[i]));
  }
  return leading;
}

template <int m, int n, int k, class T, class R, class LayoutA, class LayoutB>
__global__ void product_kernel(const double* a, const double* b, const double* c, bool c_by_rows, double* out) {
  if constexpr (available<mma::fragment<wmma::matrix_a, m, n, k, T, LayoutA>>) {
    using V = wmma_ext::storage_t<T>;
    __shared__ __align__(32) unsigned char memory[3][32 * 32 * 8];
    V *sa = reinterpret_cast<V*>(memory[0]), *sb = reinterpret_cast<V*>(memory[1]);
    R* sc = reinterpret_cast<R*>(memory[2]);
    const int lda = spread(sa, a, m, k, std::is_same_v<LayoutA, wmma::row_major>);
    const int ldb = spread(sb, b, k, n, std::is_same_v<LayoutB, wmma::row_major>);
    const int ldc = spread(sc, c, m, n, c_by_rows);
    __syncthreads();
    mma::fragment<wmma::matrix_a, m, n, k, T, LayoutA> fa;
    mma::fragment<wmma::matrix_b, m, n, k, T, LayoutB> fb;
    mma::fragment<wmma::accumulator, m, n, k, R> fc, fd;
    const auto order = c_by_rows ? wmma::mem_row_major : wmma::mem_col_major;
    mma::load_matrix_sync(fa, sa, lda);
    mma::load_matrix_sync(fb, sb, ldb);
    mma::load_matrix_sync(fc, sc, ldc, order);
    mma::fill_fragment(fd, R(0.0f));
    mma::mma_sync(fd, fa, fb, fc);
    mma::store_matrix_sync(sc, fd, ldc, order);
    __syncthreads();
    for (int i = threadIdx.x; i < m * n; i += 32) {
      out[i] = to_double(sc[c_by_rows ? i / n * ldc + i % n : i % n * ldc + i / n]);
    }
  }
}

template <int m, int n, int k, class T, class R, class LayoutA, class LayoutB>
std::vector<double> run(const std::vector<double>& a, const std::vector<double>& b, const std::vector<double>& c,
                        bool c_by_rows) {
  const auto da = to_device(a), db = to_device(b), dc = to_device(c);
  const DeviceArray<double> out(c.size());
  require(launch(product_kernel<m, n, k, T, R, LayoutA, LayoutB>, {.block = 32}, da.data(), db.data(), dc.data(),
                 c_by_rows, out.data()));
  return out.to_host();
}

template <int m, int n, int k, class T, class R>
void add(std::vector<Product>& products) {
  using A = mma::fragment<wmma::matrix_a, m, n, k, T, wmma::row_major>;
  using C = mma::fragment<wmma::accumulator, m, n, k, R>;
  const std::string name = wmma_ext::kinds::description<A>() + " into " + wmma_ext::kinds::type_name<C>();
  const int needs = wmma_ext::kinds::runs_on_sm_75<A> ? 75 : 80;
  products.push_back({name + ", row, col", m, n, k, needs, run<m, n, k, T, R, wmma::row_major, wmma::col_major>});
  products.push_back({name + ", col, row", m, n, k, needs, run<m, n, k, T, R, wmma::col_major, wmma::row_major>});
}

}  // namespace

const std::vector<Kind>& mma_kinds() {
  static const std::vector<Kind> kinds =
      kinds_of(wmma_ext::kinds::joined<wmma_ext::kinds::mma_sm_75, wmma_ext::kinds::mma_sm_80>{});
  return kinds;
}

const std::vector<Product>& products() {
  static const std::vector<Product> all = [] {
    std::vector<Product> list;
    add<16, 8, 16, __half, float>(list);
    add<16, 8, 16, __half, __half>(list);
    add<16, 8, 16, __nv_bfloat16, float>(list);
    add<16, 8, 8, __half, float>(list);
    add<16, 8, 8, __half, __half>(list);
    add<16, 8, 8, wmma_ext::precision::tf32, float>(list);
    add<8, 8, 4, double, double>(list);
    return list;
  }();
  return all;
}

}  // namespace gemm::wmma_ext_test
