#include <algorithm>
#include <cmath>

#include "common/check/compare.hpp"
#include "common/check/matrix.hpp"
#include "common/kernel/grid_sum.cuh"
#include "common/kernel/launch.cuh"

namespace gemm {
namespace {

// What one thread, one block, and at last the whole comparison has seen.
struct Seen {
  double error2 = 0, reference2 = 0, magnitude2 = 0;
  double largest = 0, max_relative = 0;
  double max_ratio = -1;  // below any ratio: nothing seen yet
  std::int64_t worst = 0;
  std::int64_t wrong = 0, unwritten = 0;
};

struct Merge {
  __host__ __device__ void operator()(Seen& into, const Seen& from) const {
    into.error2 += from.error2;
    into.reference2 += from.reference2;
    into.magnitude2 += from.magnitude2;
    if (from.largest > into.largest) into.largest = from.largest;
    if (from.max_relative > into.max_relative) into.max_relative = from.max_relative;
    if (from.max_ratio > into.max_ratio) {
      into.max_ratio = from.max_ratio;
      into.worst = from.worst;
    }
    into.wrong += from.wrong;
    into.unwritten += from.unwritten;
  }
};

// In words: n a row of C, and its rows start ldc apart.
template <class Real>
__global__ void compare_kernel(const Real* c, std::int64_t ldc, std::int64_t elements, std::int64_t n,
                               const double* c64, const double* low, const double* magnitude, double relative,
                               bool exact, Seen* partial) {
  __shared__ __align__(16) unsigned char scratch[reduce_threads * sizeof(Seen)];
  Seen mine;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < elements; i += stride) {
    const Real* element = c + i / n * ldc + i % n;
    const double difference = static_cast<double>(*element) - c64[i];
    const double error = fabs(low ? difference - low[i] : difference);
    const double bound = relative * magnitude[i];
    // Written so that NaN lands in the last case.
    const double ratio = error == 0.0 ? 0.0 : error <= 1e30 * bound ? error / bound : INFINITY;
    const bool right = exact ? *element == static_cast<Real>(c64[i]) : error <= bound;
    mine.error2 += error * error;
    mine.reference2 += c64[i] * c64[i];
    mine.magnitude2 += magnitude[i] * magnitude[i];
    if (magnitude[i] > mine.largest) mine.largest = magnitude[i];
    const double relative_error = error == 0.0 ? 0.0 : error / fabs(c64[i]);
    if (!(relative_error <= mine.max_relative)) mine.max_relative = isnan(relative_error) ? INFINITY : relative_error;
    if (ratio > mine.max_ratio) {
      mine.max_ratio = ratio;
      mine.worst = i;
    }
    mine.wrong += !right;
    if constexpr (sizeof(Real) == sizeof(float))
      mine.unwritten += *reinterpret_cast<const std::uint32_t*>(element) == poison_word;
    else
      mine.unwritten += *reinterpret_cast<const std::uint64_t*>(element) == poison_double;
  }
  const Seen all = block_reduce(mine, reinterpret_cast<Seen*>(scratch), Merge{});
  if (threadIdx.x == 0) partial[blockIdx.x] = all;
}

template <class T>
T fetch(const T* device, const char* what) {
  T host{};
  check_cuda(cudaMemcpy(&host, device, sizeof(T), cudaMemcpyDeviceToHost), what);
  return host;
}

template <class Real>
Comparison compare_words(const Problem& problem, const Reference& reference, Accuracy accuracy, bool exact) {
  const int words = components(problem.type);
  const auto* const c = static_cast<const Real*>(problem.out);
  const std::int64_t n = problem.n * words, ldc = problem.ldout * words, elements = problem.all_rows() * n;
  Comparison result;
  result.exact = exact;
  result.elements = elements;
  if (elements == 0) return result;

  const std::int64_t terms = problem.real_terms();
  const double relative = tolerance(accuracy, terms);
  const DeviceArray<Seen> partial(reduce_blocks(elements));
  const Status status =
      launch(compare_kernel<Real>, {reduce_blocks(elements), reduce_threads}, c, ldc, elements, n, reference.c.data(),
             reference.low.data(), reference.magnitude.data(), relative, exact, partial.data());
  if (!status) throw DeviceError("could not compare: " + status.reason);
  Seen seen;
  for (const Seen& block : partial.to_host()) Merge{}(seen, block);

  const double scale = std::max(std::sqrt(seen.reference2),
                                std::sqrt(seen.magnitude2 / static_cast<double>(std::max<std::int64_t>(terms, 1))));
  result.max_ratio = seen.max_ratio;
  result.frobenius = seen.error2 == 0.0 ? 0.0 : std::sqrt(seen.error2) / scale;
  result.frobenius_ratio = result.frobenius / relative;
  result.residual = seen.error2 == 0.0 ? 0.0 : std::sqrt(seen.error2 / seen.reference2);
  result.max_of_magnitudes = std::max(seen.max_ratio, 0.0) * relative;
  result.max_relative = seen.max_relative;
  result.wrong = seen.wrong;
  result.unwritten = seen.unwritten;
  result.largest = seen.largest;
  result.worst_row = seen.worst / n;
  result.worst_col = seen.worst % n / words;
  result.got = fetch(c + result.worst_row * ldc + seen.worst % n, "read C");
  result.expected = fetch(reference.c.data() + seen.worst, "read the reference");
  if (sizeof(Real) == sizeof(double)) result.digits = 17;
  return result;
}

}  // namespace

Comparison compare(const Problem& problem, const Reference& reference, Accuracy accuracy, bool exact) {
  return result_of(problem.type) == Type::f32 ? compare_words<float>(problem, reference, accuracy, exact)
                                              : compare_words<double>(problem, reference, accuracy, exact);
}

}  // namespace gemm
