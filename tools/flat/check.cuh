#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace program {

constexpr double ALPHA = 0.75, ALPHA_IMAG = 0.5, BETA = -1.5;  // times small whole numbers they are exact

/// One product. Rows in memory are `pad` elements longer than the matrix. Results of whole numbers must be exact,
/// others as good as rounding allows. Without `adds` beta is 0, and the result holds NaN, which must not be read.
struct Case {
  int m, n, k, pad = 0;
  bool whole = true, adds = true, timed = false;
};

void require(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

/// Memory for the GPU and for the host. All bytes are 0xff at first, which is NaN in every format.
template <class T>
struct Array {
  T* data = nullptr;
  std::size_t bytes;

  explicit Array(std::size_t size) : bytes(size * sizeof(T)) {
    require(cudaMallocManaged(&data, bytes + 1));
    require(cudaMemset(data, 0xff, bytes));
  }
  Array(const Array&) = delete;
  ~Array() { cudaFree(data); }
};

// Elements as complex numbers in FP64, and back.
template <class T>
__device__ double2 widen(T x) {
  if constexpr (sizeof(T) == sizeof(double2))
    return x;
  else if constexpr (sizeof(T) == 2)
    return {__half2float(x), 0};
  else
    return {x, 0};
}
template <class T>
__host__ __device__ T narrow(double2 x) {
  if constexpr (sizeof(T) == sizeof(double2))
    return x;
  else
    return static_cast<T>(x.x);
}

/// A number made of i by splitmix64: a whole one from -4 to 4, or one from [-1, 1).
__device__ double number(std::uint64_t i, bool whole) {
  i *= 0x9e3779b97f4a7c15;
  i = (i ^ i >> 30) * 0xbf58476d1ce4e5b9;
  i = (i ^ i >> 27) * 0x94d049bb133111eb;
  const double x = static_cast<double>((i ^ i >> 31) >> 40) * 0x1p-23 - 1;
  return whole ? rint(4 * x) : x;
}
template <class T>
__global__ void fill(T* to, std::int64_t rows, std::int64_t cols, std::int64_t ld, std::uint64_t seed, bool whole) {
  for (std::int64_t i = blockIdx.x * 256 + threadIdx.x; i < rows * cols; i += gridDim.x * 256)
    to[i / cols * ld + i % cols] = narrow<T>({number(seed + 2 * i, whole), number(seed + 2 * i + 1, whole)});
}

/// A matrix of such numbers, by rows, with NaN behind each row. Seed 0: NaN everywhere.
template <class T>
struct Matrix : Array<T> {
  std::int64_t rows, cols, ld;

  Matrix(std::int64_t rows, std::int64_t cols, const Case& c, std::uint64_t seed)
      : Array<T>(rows * (cols + c.pad)), rows(rows), cols(cols), ld(cols + c.pad) {
    if (seed > 0) fill<<<1024, 256>>>(this->data, rows, cols, ld, seed << 40, c.whole);
  }
};

/// Compares out with alpha A B + beta old, a warp for each element: the plain sum in FP64. From a row of A to the next
/// it is a_row elements, from a term to the next a_term; sign = -1 conjugates A. Behind its rows out must be as old.
/// Shows the first element that is found to be wrong.
template <class T, class R>
__global__ void compare(std::int64_t terms, const T* a, std::int64_t a_row, std::int64_t a_term, int sign, const T* b,
                        std::int64_t ldb, double beta, const R* old, const R* out, std::int64_t rows, std::int64_t cols,
                        std::int64_t ld, double tolerance, int* wrong) {
  const std::int64_t element = (std::int64_t{blockIdx.x} * 256 + threadIdx.x) / 32;
  const std::int64_t row = element / ld, col = element % ld;
  if (row >= rows) return;
  double2 sum{};
  double size = 0;  // sum of the magnitudes, which bounds what rounding can do
  for (std::int64_t i = threadIdx.x % 32; i < terms && col < cols; i += 32) {
    const double2 x = widen(a[row * a_row + i * a_term]), y = widen(b[i * ldb + col]);
    sum.x += x.x * y.x - sign * x.y * y.y;
    sum.y += x.x * y.y + sign * x.y * y.x;
    size += (fabs(x.x) + fabs(x.y)) * (fabs(y.x) + fabs(y.y));
  }
  for (int lanes = 16; lanes > 0; lanes /= 2) {
    sum.x += __shfl_xor_sync(~0u, sum.x, lanes);
    sum.y += __shfl_xor_sync(~0u, sum.y, lanes);
    size += __shfl_xor_sync(~0u, size, lanes);
  }
  const double2 got = widen(out[element]), before = beta == 0 ? double2{} : widen(old[element]);
  constexpr double IMAG = sizeof(R) == sizeof(double2) ? ALPHA_IMAG : 0;
  const double2 expected = {ALPHA * sum.x - IMAG * sum.y + beta * before.x,
                            ALPHA * sum.y + IMAG * sum.x + beta * before.y};
  const double bound = tolerance * ((ALPHA + IMAG) * size + fabs(beta) * (fabs(before.x) + fabs(before.y)));
  const bool untouched = reinterpret_cast<const int&>(out[element]) == reinterpret_cast<const int&>(old[element]);
  const bool right = col >= cols ? untouched : fabs(got.x - expected.x) <= bound && fabs(got.y - expected.y) <= bound;
  if (!right && threadIdx.x % 32 == 0 && atomicAdd(wrong, 1) == 0)
    printf("element (%lld, %lld) is %.9g, not %.9g\n", (long long)row, (long long)col, got.x, expected.x);
}

/// Launches the stage and throws what is wrong with its result. Milliseconds, the median of several launches; of a case
/// that is not timed its only one. op(A) is A or its transpose.
template <class T, class R, class Launch>
double check(const Case& c, const Matrix<T>& a, bool transposed, bool conjugate, const Matrix<T>& b,
             const Matrix<R>& out, Launch launch) {
  Array<R> old(out.rows * out.ld);
  require(cudaMemcpy(old.data, out.data, out.bytes, cudaMemcpyDefault));
  std::vector<float> times;
  cudaEvent_t begin, end;
  require(cudaEventCreate(&begin));
  require(cudaEventCreate(&end));
  for (int launches = c.timed ? 11 : 1; launches > 0; --launches) {
    require(cudaEventRecord(begin));
    if (const gemm::Status status = launch(); !status) throw std::runtime_error(status.reason);
    require(cudaEventRecord(end));
    require(cudaDeviceSynchronize());
    require(cudaEventElapsedTime(&times.emplace_back(), begin, end));
  }
  std::sort(times.begin(), times.end());

  const std::int64_t terms = transposed ? a.rows : a.cols;
  constexpr double UNITS[] = {0x1p-24, 0x1p-11, 0x1p-53, 0x1p-23};  // of rounding, in the order of Accuracy
  const double unit = UNITS[static_cast<int>(info.accuracy)];
  const double tolerance = c.whole ? 0 : 4 * unit * std::sqrt(sizeof(R) / sizeof(double2) + 1.0) * std::sqrt(terms);
  Array<int> wrong(1);
  *wrong.data = 0;
  compare<<<(out.rows * out.ld + 7) / 8, 256>>>(terms, a.data, transposed ? 1 : a.ld, transposed ? a.ld : 1,
                                                conjugate ? -1 : 1, b.data, b.ld, c.adds ? BETA : 0, old.data, out.data,
                                                out.rows, out.cols, out.ld, tolerance, wrong.data);
  require(cudaDeviceSynchronize());
  if (*wrong.data > 0)
    throw std::runtime_error(std::to_string(*wrong.data) + " wrong elements of " + std::to_string(c.m) + " x " +
                             std::to_string(c.n) + " x " + std::to_string(c.k));
  return times[times.size() / 2];
}

}  // namespace program
