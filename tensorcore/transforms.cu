#include <algorithm>

#include "common/check/random.cuh"
#include "common/kernel/launch.cuh"
#include "tensorcore/transforms.hpp"

namespace gemm::transforms {
namespace {

constexpr int THREADS = 256;
constexpr std::int64_t BLOCKS = 1 << 16;

__device__ std::int64_t first_of_thread() {
  return static_cast<std::int64_t>(blockIdx.x) * THREADS + threadIdx.x;
}
__device__ std::int64_t threads_of_grid() {
  return static_cast<std::int64_t>(gridDim.x) * THREADS;
}

__global__ void fill_numbers(__half* to, std::int64_t count, Generator number) {
  for (std::int64_t i = first_of_thread(); i < count; i += threads_of_grid()) {
    to[i] = number.number<__half>(static_cast<std::uint64_t>(i));
  }
}

// A thread makes a vector.
__global__ void fill_vectors(__half* to, std::int64_t count, int m, bool whole) {
  const Generator number{.seed = 2};
  for (std::int64_t vector = first_of_thread(); vector < count; vector += threads_of_grid()) {
    __half* const v = to + vector * m;
    const auto first = static_cast<std::uint64_t>(vector) * m;
    float sum = 0;
    for (int i = 0; i < m; ++i) sum += number(first + i) * number(first + i);
    const int place = static_cast<int>(Generator::mix(first) % static_cast<unsigned>(m / 4));
    for (int i = 0; i < m; ++i) {
      const float x = number(first + i);
      v[i] = __float2half(!whole ? x / sqrtf(sum) : i % (m / 4) != place ? 0.0f : x < 0 ? -0.5f : 0.5f);
    }
  }
}

__global__ void fill_rotations(__half* to, std::int64_t count, bool whole) {
  const Generator number{.seed = 3};
  for (std::int64_t i = first_of_thread(); i < count; i += threads_of_grid()) {
    const double turn = number.number<double>(static_cast<std::uint64_t>(i));  // in units of pi, from [-1, 1)
    const int quarter = static_cast<int>(floor(2 * turn)) + 2;
    to[2 * i] = __double2half(whole ? (1 - quarter) % 2 : cos(3.141592653589793 * turn));
    to[2 * i + 1] = __double2half(whole ? (2 - quarter) % 2 : sin(3.141592653589793 * turn));
  }
}

// What is wrong: [0] how many elements, [1] the first of them.
__device__ void require_near(unsigned long long* wrong, std::int64_t place, double is, double should,
                             double tolerance) {
  if (fabs(is - should) <= tolerance) return;  // not so if it is NaN
  atomicAdd(&wrong[0], 1ull);
  atomicMin(&wrong[1], static_cast<unsigned long long>(place));
}

// A thread checks a column of a matrix.
__global__ void check_reflections(const __half* v, const __half* a, const __half* b, std::int64_t count, int m,
                                  bool whole, unsigned long long* wrong) {
  for (std::int64_t column = first_of_thread(); column < count * m; column += threads_of_grid()) {
    const std::int64_t matrix = column / m, first = matrix * m * m + column % m;
    double product = 0, magnitude = 0;  // of v with the column
    for (int i = 0; i < m; ++i) {
      const double term = static_cast<double>(__half2float(v[matrix * m + i])) * __half2float(a[first + i * m]);
      product += term;
      magnitude += fabs(term);
    }
    for (int i = 0; i < m; ++i) {
      const double x = __half2float(a[first + i * m]), twice = 2.0 * __half2float(v[matrix * m + i]);
      const double should = x - twice * product, sum = fabs(x) + fabs(twice) * magnitude;
      // The last term is for what FP16 has only as subnormal numbers, of H and of the result.
      const double tolerance = whole ? 0 : (0x1p-11 + m * 0x1p-22) * sum + 0x1p-11 * fabs(should) + (m + 1) * 0x1p-25;
      require_near(wrong, first + i * m, __half2float(b[first + i * m]), should, tolerance);
    }
  }
}

// A thread checks an element.
__global__ void check_rotations(const __half* rotations, const __half* a, const __half* b, std::int64_t count, int i,
                                int j, bool whole, unsigned long long* wrong) {
  constexpr int M = 16;
  for (std::int64_t place = first_of_thread(); place < count * M * M; place += threads_of_grid()) {
    const std::int64_t matrix = place / (M * M);
    const int row = static_cast<int>(place / M % M);
    double should = __half2float(a[place]), tolerance = 0;
    if (row == i || row == j) {
      const double c = __half2float(rotations[2 * matrix]), s = __half2float(rotations[2 * matrix + 1]);
      const double other = (row == i ? -s : s) * __half2float(a[place + ((row == i ? j : i) - row) * M]);
      const double own = c * should;
      should = own + other;
      if (!whole) tolerance = 0x1p-11 * fabs(should) + M * 0x1p-22 * (fabs(own) + fabs(other)) + 0x1p-25;
    }
    require_near(wrong, place, __half2float(b[place]), should, tolerance);
  }
}

LaunchShape shape(std::int64_t threads) {
  return {.grid = static_cast<unsigned>(std::min((threads + THREADS - 1) / THREADS, BLOCKS)), .block = THREADS};
}
void require(const Status& status) {
  if (!status) throw DeviceError("a launch failed: " + status.reason);
}

}  // namespace

void Matrices::fill(std::int64_t count, bool whole) {
  const std::int64_t elements = count * m_ * m_;
  if (static_cast<std::size_t>(elements) > b_.size()) {  // the last to be allocated
    a_ = {}, parameters_ = {}, b_ = {};                  // else both the old and the new ones would have to fit
    a_ = DeviceArray<__half>(static_cast<std::size_t>(elements));
    parameters_ = DeviceArray<__half>(static_cast<std::size_t>(count * each_));
    b_ = DeviceArray<__half>(static_cast<std::size_t>(elements));
  }
  whole_ = whole;
  const Generator number{.distribution = whole ? Distribution::integers : Distribution::uniform};
  require(launch(fill_numbers, shape(elements), a_.data(), elements, number));
  require(i_ < 0 ? launch(fill_vectors, shape(count), parameters_.data(), count, m_, whole)
                 : launch(fill_rotations, shape(count), parameters_.data(), count, whole));
}

void Matrices::clear(std::int64_t count) {
  check_cuda(cudaMemset(b_.data(), 0xff, static_cast<std::size_t>(count * m_ * m_) * sizeof(__half)),
             "clear the results");
}

std::string Matrices::check(std::int64_t count) const {
  const DeviceArray<unsigned long long> wrong(2);
  const unsigned long long none[] = {0, ~0ull};
  check_cuda(cudaMemcpy(wrong.data(), none, sizeof none, cudaMemcpyHostToDevice), "copy");
  require(i_ < 0 ? launch(check_reflections, shape(count * m_), parameters_.data(), a_.data(), b_.data(), count, m_,
                          whole_, wrong.data())
                 : launch(check_rotations, shape(count * m_ * m_), parameters_.data(), a_.data(), b_.data(), count, i_,
                          j_, whole_, wrong.data()));
  const auto found = wrong.to_host();
  if (found[0] == 0) return {};
  const auto m = static_cast<unsigned long long>(m_), place = found[1];
  return std::to_string(found[0]) + " of " + std::to_string(count * m_ * m_) +
         " elements are wrong, the first in matrix " + std::to_string(place / (m * m)) + ", row " +
         std::to_string(place / m % m) + ", column " + std::to_string(place % m);
}

batches::Task task(Matrices& matrices, const std::string& name, std::vector<batches::Form> forms,
                   const std::string& base) {
  const double m = matrices.m();
  return {.name = name,
          .bytes = (2 * m * m + matrices.parameters_each()) * sizeof(__half),
          .flops = 2 * m * m * m,
          .forms = std::move(forms),
          .base = base,
          .fill = [&matrices](std::int64_t count, bool whole) { matrices.fill(count, whole); },
          .clear = [&matrices](std::int64_t count) { matrices.clear(count); },
          .check = [&matrices](std::int64_t count) { return matrices.check(count); }};
}

std::vector<ProbeOption> options(int& most, bool& with_code, std::vector<ProbeOption> own) {
  own.push_back({.name = "--most",
                 .description = "timed: batches to 2^MOST matrices, from 2^8 on",
                 .number = &most,
                 .least = 8,
                 .most = 24});
  own.push_back({.name = "--sass",
                 .description = "what nvcc makes of the kernels, too (needs nvcc and nvdisasm, but no GPU)",
                 .flag = &with_code});
  return own;
}

std::vector<std::int64_t> sizes(const ProbeRun& run, int most) {
  if (!run.time) return {37};
  std::vector<std::int64_t> found;
  for (int log2 = 8; log2 <= most; ++log2) found.push_back(std::int64_t{1} << log2);
  return found;
}

}  // namespace gemm::transforms
