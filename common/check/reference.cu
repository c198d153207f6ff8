#include <algorithm>

#include "common/check/double_double.cuh"
#include "common/check/reference.hpp"
#include "common/kernel/launch.cuh"
#include "common/problem/problem.hpp"

namespace gemm {
namespace {

constexpr int TILE = 32;

// One thread per element, tiles of A and B in shared memory, no further tricks: this must be right, not fast.
// P: SgemmProblem or HgemmProblem; a product of two floats is exact in FP64, and of two halves the more so.
template <class P>
__global__ void reference_kernel(P p, int tiles_n, double* c64, double* magnitude) {
  __shared__ double as[TILE][TILE + 1];
  __shared__ double bs[TILE][TILE + 1];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = static_cast<int>(blockIdx.x) / tiles_n * TILE + ty;
  const int col = static_cast<int>(blockIdx.x) % tiles_n * TILE + tx;

  double sum = 0.0, absolute = 0.0;
  for (int k0 = 0; k0 < p.k; k0 += TILE) {
    as[ty][tx] = row < p.m && k0 + tx < p.k ? static_cast<float>(p.a[row * p.lda + k0 + tx]) : 0.0f;
    bs[ty][tx] = k0 + ty < p.k && col < p.n ? static_cast<float>(p.b[(k0 + ty) * p.ldb + col]) : 0.0f;
    __syncthreads();
    for (int k = 0; k < TILE; ++k) {
      const double product = as[ty][k] * bs[k][tx];
      sum += product;
      absolute += fabs(product);
    }
    __syncthreads();
  }
  if (row >= p.m || col >= p.n) return;
  const double alpha = p.alpha, beta = p.beta;
  const double old = p.beta == 0.0f ? 0.0 : p.c[row * p.ldc + col];
  const std::int64_t i = static_cast<std::int64_t>(row) * p.n + col;
  c64[i] = alpha * sum + beta * old;
  magnitude[i] = fabs(alpha) * absolute + fabs(beta * old);
}

template <class P>
Reference plain_reference(const P& problem) {
  const auto elements = static_cast<std::size_t>(problem.m) * static_cast<std::size_t>(problem.n),
             all = elements * problem.batch;
  Reference result{DeviceArray<double>(all), {}, DeviceArray<double>(all)};
  const int tiles_m = ceil_div(problem.m, TILE), tiles_n = ceil_div(problem.n, TILE);
  P p = problem;
  p.k = problem.depth();
  for (std::size_t first = 0; first < all; first += elements) {
    const Status status = launch(
        reference_kernel<P>, {dim3(static_cast<unsigned>(tiles_m) * static_cast<unsigned>(tiles_n)), dim3(TILE, TILE)},
        p, tiles_n, result.c.data() + first, result.magnitude.data() + first);
    if (!status) throw DeviceError("could not compute the reference: " + status.reason);
    p.a += p.stride_a;
    p.b += p.stride_b;
    p.c += p.stride_c;
  }
  return result;
}

// A product of real or complex numbers; X by its strides, whether transposed or not. An element has COMPONENTS words.
struct Strided {
  const double *x, *y;
  double* out;
  std::int64_t x_row, x_term, y_term, out_row;  // in words
  std::int64_t cols, elements, terms;
  double imaginary_sign;  // of X: -1 if it is conjugated
  Scalar alpha, beta;
};

// Of one element: its sum so far, and that of the absolute values (of complex numbers, the moduli).
template <int COMPONENTS>
struct Sums {
  DoubleDouble sum[COMPONENTS];
  double absolute = 0;

  __device__ static double modulus(const double* x) {
    if constexpr (COMPONENTS == 1)
      return fabs(x[0]);
    else
      return sqrt(x[0] * x[0] + x[1] * x[1]);
  }
  __device__ void add(const Sums& other) {
    for (int i = 0; i < COMPONENTS; ++i) sum[i].add(other.sum[i]);
    absolute += other.absolute;
  }
  __device__ void add_product(const double* x, const double* y, double imaginary_sign) {
    sum[0].add_product(x[0], y[0]);
    absolute += modulus(x) * modulus(y);
    if constexpr (COMPONENTS == 2) {
      const double imaginary = imaginary_sign * x[1];
      sum[0].add_product(-imaginary, y[1]);
      sum[1].add_product(x[0], y[1]);
      sum[1].add_product(imaginary, y[0]);
    }
  }
  // Plus a * x, for a result that begins with zero.
  __device__ void add_scaled(Scalar a, const Sums& x) {
    const double factor[] = {a.real, a.imag};
    sum[0].add_product(a.real, x.sum[0]);
    absolute += modulus(factor) * x.absolute;
    if constexpr (COMPONENTS == 2) {
      sum[0].add_product(-a.imag, x.sum[1]);
      sum[1].add_product(a.real, x.sum[1]);
      sum[1].add_product(a.imag, x.sum[0]);
    }
  }
};

// One thread per element and chunk of terms.
template <int COMPONENTS>
__global__ void partial_sums_kernel(Strided p, int chunks, Sums<COMPONENTS>* partial) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const std::int64_t element = i % p.elements, chunk = i / p.elements;
  if (chunk >= chunks) return;
  const double* x = p.x + element / p.cols * p.x_row;
  const double* y = p.y + element % p.cols * COMPONENTS;
  Sums<COMPONENTS> mine;
  for (std::int64_t t = p.terms * chunk / chunks; t < p.terms * (chunk + 1) / chunks; ++t)
    mine.add_product(x + t * p.x_term, y + t * p.y_term, p.imaginary_sign);
  partial[i] = mine;
}

template <int COMPONENTS>
__global__ void finish_kernel(Strided p, int chunks, const Sums<COMPONENTS>* partial, double* high, double* low,
                              double* magnitude) {
  const std::int64_t element = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (element >= p.elements) return;
  Sums<COMPONENTS> all, old, result;
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) all.add(partial[chunk * p.elements + element]);
  result.add_scaled(p.alpha, all);
  if (!p.beta.zero()) {
    const double* const out = p.out + element / p.cols * p.out_row + element % p.cols * COMPONENTS;
    for (int i = 0; i < COMPONENTS; ++i) old.sum[i].high = out[i];
    old.absolute = Sums<COMPONENTS>::modulus(out);
    result.add_scaled(p.beta, old);
  }
  for (int i = 0; i < COMPONENTS; ++i) {
    const DoubleDouble sum = result.sum[i].rounded();
    high[element * COMPONENTS + i] = sum.high;
    low[element * COMPONENTS + i] = sum.low;
    magnitude[element * COMPONENTS + i] = result.absolute;
  }
}

template <int COMPONENTS>
Reference wide_reference(const Problem& problem) {
  const bool transposed = problem.op == Operation::tsmttsm;
  const std::int64_t elements = problem.rows() * problem.n;
  const Strided p{
      .x = static_cast<const double*>(problem.x),
      .y = static_cast<const double*>(problem.y),
      .out = static_cast<double*>(problem.out),
      .x_row = COMPONENTS * (transposed ? 1 : problem.ldx),
      .x_term = COMPONENTS * (transposed ? problem.ldx : 1),
      .y_term = COMPONENTS * problem.ldy,
      .out_row = COMPONENTS * problem.ldout,
      .cols = problem.n,
      .elements = elements,
      .terms = problem.depth(),
      .imaginary_sign = problem.conjugate ? -1.0 : 1.0,
      .alpha = problem.alpha,
      .beta = problem.beta,
  };
  const auto words = static_cast<std::size_t>(elements) * COMPONENTS;
  Reference result{DeviceArray<double>(words), DeviceArray<double>(words), DeviceArray<double>(words)};
  if (elements == 0) return result;
  // Long sums of few elements are shared by many threads.
  constexpr std::int64_t least_terms = 64, enough_threads = 1 << 18;
  const auto chunks = static_cast<int>(
      std::clamp<std::int64_t>(std::min(p.terms / least_terms, enough_threads / elements), 1, enough_threads));
  const DeviceArray<Sums<COMPONENTS>> partial(static_cast<std::size_t>(elements) * chunks);
  constexpr int threads = 128;
  const auto blocks = [](std::int64_t items) { return static_cast<unsigned>((items + threads - 1) / threads); };
  const Status summed =
      launch(partial_sums_kernel<COMPONENTS>, {blocks(elements * chunks), threads}, p, chunks, partial.data());
  const Status status = summed ? launch(finish_kernel<COMPONENTS>, {blocks(elements), threads}, p, chunks,
                                        partial.data(), result.c.data(), result.low.data(), result.magnitude.data())
                               : summed;
  if (!status) throw DeviceError("could not compute the reference: " + status.reason);
  return result;
}

}  // namespace

Reference compute_reference(const Problem& problem) {
  Reference result = problem.type == Type::f32   ? plain_reference<SgemmProblem>(problem)
                     : problem.type == Type::f16 ? plain_reference<HgemmProblem>(problem)
                     : problem.type == Type::f64 ? wide_reference<1>(problem)
                                                 : wide_reference<2>(problem);
  check_cuda(cudaDeviceSynchronize(), "compute the reference");
  return result;
}

}  // namespace gemm
