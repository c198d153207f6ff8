#include <numeric>

#include "common/grid_sum.cuh"
#include "common/launch.cuh"
#include "common/matrix.hpp"

namespace gemm {
namespace {

struct Layout {
  std::int64_t words, first, ld;
  int rows, cols;

  // The index of the element at this word, row-major without padding, or -1 if the word is padding or guard.
  __device__ std::int64_t element_at(std::int64_t word) const {
    const std::int64_t past = word - first;
    if (past < 0 || past >= rows * ld || past % ld >= cols) return -1;
    return past / ld * cols + past % ld;
  }
};

__device__ std::int64_t global_thread() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ std::int64_t grid_threads() {
  return static_cast<std::int64_t>(gridDim.x) * blockDim.x;
}
__device__ std::uint32_t bits_of(const float* p) {
  return *reinterpret_cast<const std::uint32_t*>(p);
}

__global__ void fill_kernel(float* words, Layout layout, Generator generator, bool poison_elements) {
  for (std::int64_t w = global_thread(); w < layout.words; w += grid_threads()) {
    const std::int64_t element = layout.element_at(w);
    if (element < 0 || poison_elements) {
      *reinterpret_cast<std::uint32_t*>(words + w) = poison_word;
    } else {
      words[w] = generator(static_cast<std::uint64_t>(element));
    }
  }
}

__global__ void damage_kernel(const float* words, Layout layout, std::uint64_t* partial) {
  __shared__ std::uint64_t scratch[reduce_threads];
  std::uint64_t damaged = 0;
  for (std::int64_t w = global_thread(); w < layout.words; w += grid_threads()) {
    damaged += bits_of(words + w) != poison_word && layout.element_at(w) < 0;
  }
  const std::uint64_t sum = block_reduce(damaged, scratch, [](std::uint64_t& a, std::uint64_t b) { a += b; });
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

__global__ void fingerprint_kernel(const float* words, Layout layout, std::uint64_t* partial) {
  __shared__ std::uint64_t scratch[reduce_threads];
  std::uint64_t hash = 0;
  for (std::int64_t w = global_thread(); w < layout.words; w += grid_threads()) {
    hash += Generator::mix(Generator::mix(static_cast<std::uint64_t>(w)) ^ bits_of(words + w));
  }
  const std::uint64_t sum = block_reduce(hash, scratch, [](std::uint64_t& a, std::uint64_t b) { a += b; });
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

void run(const Status& status) {
  if (!status) throw DeviceError("the harness could not launch a kernel: " + status.reason);
}

std::uint64_t sum_of(const DeviceArray<std::uint64_t>& partial) {
  const auto host = partial.to_host();
  return std::accumulate(host.begin(), host.end(), std::uint64_t{0});
}

}  // namespace

Matrix::Matrix(int rows, int cols, std::int64_t ld, int offset)
    : rows_(rows), cols_(cols), ld_(ld), first_(guard + offset) {
  if (rows < 0 || cols < 0 || offset < 0 || ld < (cols > 0 ? cols : 1))
    throw UsageError("a matrix of impossible shape");
  // The product may pass 2^63 only for shapes that no memory holds; say so instead of wrapping around.
  const auto elements = static_cast<unsigned __int128>(rows) * static_cast<std::uint64_t>(ld);
  if (elements > (std::uint64_t{1} << 60)) throw DeviceError("could not allocate device memory: out of memory");
  words_ = DeviceArray<float>(static_cast<std::size_t>(first_ + guard + static_cast<std::int64_t>(elements)));
}

namespace {
Layout layout_of(const Matrix& m, std::int64_t first, std::size_t words) {
  return {static_cast<std::int64_t>(words), first, m.ld(), m.rows(), m.cols()};
}
}  // namespace

void Matrix::fill(const Generator& generator) {
  const Layout layout = layout_of(*this, first_, words_.size());
  run(launch(fill_kernel, {reduce_blocks(layout.words), reduce_threads}, words_.data(), layout, generator, false));
}

void Matrix::poison() {
  const Layout layout = layout_of(*this, first_, words_.size());
  run(launch(fill_kernel, {reduce_blocks(layout.words), reduce_threads}, words_.data(), layout, Generator{}, true));
}

void Matrix::copy_from(const Matrix& other) {
  if (other.words_.size() != words_.size()) throw std::logic_error("copy between matrices of different shape");
  check_cuda(cudaMemcpy(words_.data(), other.words_.data(), words_.size() * sizeof(float), cudaMemcpyDeviceToDevice),
             "copy on the device");
}

std::int64_t Matrix::damaged_words() const {
  const Layout layout = layout_of(*this, first_, words_.size());
  const DeviceArray<std::uint64_t> partial(reduce_blocks(layout.words));
  run(launch(damage_kernel, {reduce_blocks(layout.words), reduce_threads}, words_.data(), layout, partial.data()));
  return static_cast<std::int64_t>(sum_of(partial));
}

std::uint64_t Matrix::fingerprint() const {
  const Layout layout = layout_of(*this, first_, words_.size());
  const DeviceArray<std::uint64_t> partial(reduce_blocks(layout.words));
  run(launch(fingerprint_kernel, {reduce_blocks(layout.words), reduce_threads}, words_.data(), layout, partial.data()));
  return sum_of(partial);
}

}  // namespace gemm
