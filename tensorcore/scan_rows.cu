#include <algorithm>

#include "common/check/random.cuh"
#include "common/kernel/launch.cuh"
#include "tensorcore/scan_rows.hpp"

namespace gemm::scan {
namespace {

constexpr int THREADS = 256;
constexpr std::int64_t BLOCKS = 1 << 16;

__global__ void fill_rows(__half* in, std::int64_t count, Generator number) {
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * THREADS + threadIdx.x; i < count;
       i += static_cast<std::int64_t>(gridDim.x) * THREADS) {
    in[i] = number.number<__half>(static_cast<std::uint64_t>(i));
  }
}

// wrong[0]: how many sums are; wrong[1]: the first of them. A thread has a row.
__global__ void check_rows(const __half* in, const float* out, std::int64_t rows, int width, double tolerance,
                           unsigned long long* wrong) {
  for (std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * THREADS + threadIdx.x; row < rows;
       row += static_cast<std::int64_t>(gridDim.x) * THREADS) {
    double sum = 0, magnitude = 0;
    for (int i = 0; i < width; ++i) {
      const double x = __half2float(in[row * width + i]);
      sum += x;
      magnitude += fabs(x);
      const double off = fabs(out[row * width + i] - sum);
      if (off <= tolerance * magnitude) continue;  // not so if it is NaN
      atomicAdd(&wrong[0], 1ull);
      atomicMin(&wrong[1], static_cast<unsigned long long>(row * width + i));
    }
  }
}

unsigned blocks(std::int64_t threads) {
  return static_cast<unsigned>(std::min((threads + THREADS - 1) / THREADS, BLOCKS));
}
void require(const Status& status) {
  if (!status) throw DeviceError("a launch failed: " + status.reason);
}

}  // namespace

void Rows::fill(std::int64_t rows, bool whole) {
  const std::int64_t count = rows * width_;
  if (static_cast<std::size_t>(count) > out_.size()) {  // the last to be allocated
    in_ = {}, out_ = {};                                // else both the old and the new ones would have to fit
    in_ = DeviceArray<__half>(static_cast<std::size_t>(count));
    out_ = DeviceArray<float>(static_cast<std::size_t>(count));
  }
  whole_ = whole;
  const Generator number{.distribution = whole ? Distribution::integers : Distribution::uniform};
  require(launch(fill_rows, {.grid = blocks(count), .block = THREADS}, in_.data(), count, number));
}

void Rows::clear(std::int64_t rows) {
  check_cuda(cudaMemset(out_.data(), 0xff, static_cast<std::size_t>(rows * width_) * sizeof(float)), "clear the sums");
}

std::string Rows::check(std::int64_t rows) const {
  const int products = width_ > 16 ? 4 : 1;
  const double tolerance = whole_ ? 0 : products * 16 * 0x1p-23;
  const DeviceArray<unsigned long long> wrong(2);
  const unsigned long long none[] = {0, ~0ull};
  check_cuda(cudaMemcpy(wrong.data(), none, sizeof none, cudaMemcpyHostToDevice), "copy");
  require(launch(check_rows, {.grid = blocks(rows), .block = THREADS}, in_.data(), out_.data(), rows, width_, tolerance,
                 wrong.data()));
  const auto found = wrong.to_host();
  if (found[0] == 0) return {};
  const auto width = static_cast<unsigned long long>(width_);
  return std::to_string(found[0]) + " of " + std::to_string(rows * width_) + " sums are wrong, the first in row " +
         std::to_string(found[1] / width) + ", column " + std::to_string(found[1] % width);
}

batches::Task task(Rows& rows, std::vector<batches::Form> forms, const std::string& base) {
  const int width = rows.width();
  const double of_row = 16.0 * 16 * 16 * 2 / 16;  // flops of a product of 16 x 16 x 16, for each of 16 rows
  return {.name = "rows of " + std::to_string(width),
          .bytes = static_cast<double>(width) * (sizeof(__half) + sizeof(float)),
          .flops = width == 16 ? of_row : 4 * 16 * of_row,
          .forms = std::move(forms),
          .base = base,
          .fill = [&rows](std::int64_t count, bool whole) { rows.fill(count, whole); },
          .clear = [&rows](std::int64_t count) { rows.clear(count); },
          .check = [&rows](std::int64_t count) { return rows.check(count); }};
}

}  // namespace gemm::scan
