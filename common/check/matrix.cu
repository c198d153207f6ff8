#include <algorithm>
#include <numeric>
#include <utility>

#include "common/check/matrix.hpp"
#include "common/kernel/grid_sum.cuh"
#include "common/kernel/launch.cuh"

namespace gemm {

// In words.
struct Matrix::Layout {
  std::int64_t words, first, ld;
  std::int64_t rows, cols;

  // The index of the matrix's word, row-major without padding, that lies here; -1 if this is padding or guard.
  __device__ std::int64_t element_at(std::int64_t word) const {
    const std::int64_t past = word - first;
    if (past < 0 || past >= rows * ld || past % ld >= cols) return -1;
    return past / ld * cols + past % ld;
  }
};

namespace {

__device__ std::int64_t global_thread() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ std::int64_t grid_threads() {
  return static_cast<std::int64_t>(gridDim.x) * blockDim.x;
}

// The integers of a word's size, and the poison among them.
template <class Real>
struct Bits;
template <>
struct Bits<float> {
  using Word = std::uint32_t;
  static constexpr Word poison = poison_word;
};
template <>
struct Bits<__half> {
  using Word = std::uint16_t;
  static constexpr Word poison = poison_half;
};
template <>
struct Bits<double> {
  using Word = std::uint64_t;
  static constexpr Word poison = poison_double;
};
template <class Real>
__device__ typename Bits<Real>::Word bits_of(const Real* p) {
  return *reinterpret_cast<const typename Bits<Real>::Word*>(p);
}

template <class Real, class Layout>
__global__ void fill_kernel(Real* words, Layout layout, Generator generator, bool poison_elements) {
  for (std::int64_t w = global_thread(); w < layout.words; w += grid_threads()) {
    const std::int64_t element = layout.element_at(w);
    if (element < 0 || poison_elements) {
      *reinterpret_cast<typename Bits<Real>::Word*>(words + w) = Bits<Real>::poison;
    } else {
      // Unoptimised, g++ would not see a store in the assignment of what a call returns.
      const Real number = generator.number<Real>(static_cast<std::uint64_t>(element));
      words[w] = number;
    }
  }
}

template <class Real, class Layout>
__global__ void fill_around_kernel(Real* words, Layout layout, Generator generator) {
  for (std::int64_t w = global_thread(); w < layout.words; w += grid_threads()) {
    if (layout.element_at(w) >= 0) continue;
    const Real number = generator.number<Real>(static_cast<std::uint64_t>(w));
    words[w] = number;
  }
}

template <class Real, class Layout>
__global__ void damage_kernel(const Real* words, Layout layout, std::uint64_t* partial) {
  __shared__ std::uint64_t scratch[reduce_threads];
  std::uint64_t damaged = 0;
  for (std::int64_t w = global_thread(); w < layout.words; w += grid_threads()) {
    damaged += bits_of(words + w) != Bits<Real>::poison && layout.element_at(w) < 0;
  }
  const std::uint64_t sum = block_reduce(damaged, scratch, [](std::uint64_t& a, std::uint64_t b) { a += b; });
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

template <class Real, class Layout>
__global__ void fingerprint_kernel(const Real* words, Layout layout, std::uint64_t* partial) {
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

// Kernels stride over all words. On the CPU executor a thread costs more than the words that it adds up: there are as many as keep
// some cores busy.
unsigned blocks_for(std::int64_t words) {
#ifdef __CUDACC__
  return reduce_blocks(words);
#else
  return std::min(reduce_blocks(words), 8u);
#endif
}

// Calls work(words as __half*, float* or double*, launch shape).
template <class Work>
void over_words(Type type, unsigned char* bytes, std::int64_t words, Work work) {
  const LaunchShape shape{blocks_for(words), reduce_threads};
  if (type == Type::f16)
    run(work(reinterpret_cast<__half*>(bytes), shape));
  else if (type == Type::f32)
    run(work(reinterpret_cast<float*>(bytes), shape));
  else
    run(work(reinterpret_cast<double*>(bytes), shape));
}

}  // namespace

Matrix::Matrix(std::int64_t rows, std::int64_t cols, std::int64_t ld, int offset, Type type)
    : type_(type), rows_(rows), cols_(cols), ld_(ld), first_(guard + offset) {
  if (rows < 0 || cols < 0 || offset < 0 || ld < (cols > 0 ? cols : 1))
    throw UsageError("a matrix of impossible shape");
  // The product may pass 2^63 only for shapes that no memory holds; say so instead of wrapping around.
  const auto elements = static_cast<unsigned __int128>(rows) * static_cast<std::uint64_t>(ld);
  if (elements > (std::uint64_t{1} << 59)) throw DeviceError("could not allocate device memory: out of memory");
  bytes_ = DeviceArray<unsigned char>(static_cast<std::size_t>(first_ + guard + static_cast<std::int64_t>(elements)) *
                                      size_of(type));
}

void Matrix::name(std::string name) {
  name_ = std::move(name);
  name_matrix(place());
}

Matrix::Layout Matrix::layout() const {
  const int words = components(type_);
  const auto all = static_cast<std::int64_t>(bytes_.size() / size_of(type_));
  return {all * words, first_ * words, ld_ * words, rows_, cols_ * words};
}

void Matrix::fill(const Generator& generator) {
  over_words(type_, bytes_.data(), layout().words, [&]<class Real>(Real* words, const LaunchShape& shape) {
    return launch(fill_kernel<Real, Layout>, shape, words, layout(), generator, false);
  });
}

void Matrix::fill_around(const Generator& generator) {
  over_words(type_, bytes_.data(), layout().words, [&]<class Real>(Real* words, const LaunchShape& shape) {
    return launch(fill_around_kernel<Real, Layout>, shape, words, layout(), generator);
  });
}

HostMatrix Matrix::to_host() const {
  HostMatrix host{first_, rows_, cols_, ld_, {}};
  const std::vector<unsigned char> bytes = bytes_.to_host();
  const auto convert = [&]<class Real>(const Real* from) {
    const int words = components(type_);
    for (std::size_t i = 0; i < bytes.size() / sizeof(Real); i += words) {
      const auto number = [](Real x) { return static_cast<double>(static_cast<float>(x)); };
      if constexpr (sizeof(Real) == sizeof(double))
        host.all.emplace_back(from[i], words == 2 ? from[i + 1] : 0.0);
      else
        host.all.emplace_back(number(from[i]), 0.0);
    }
  };
  if (type_ == Type::f16)
    convert(reinterpret_cast<const __half*>(bytes.data()));
  else if (type_ == Type::f32)
    convert(reinterpret_cast<const float*>(bytes.data()));
  else
    convert(reinterpret_cast<const double*>(bytes.data()));
  return host;
}

void Matrix::poison() {
  over_words(type_, bytes_.data(), layout().words, [&]<class Real>(Real* words, const LaunchShape& shape) {
    return launch(fill_kernel<Real, Layout>, shape, words, layout(), Generator{}, true);
  });
}

void Matrix::copy_from(const Matrix& other) {
  if (other.bytes_.size() != bytes_.size()) throw std::logic_error("copy between matrices of different shape");
  check_cuda(cudaMemcpy(bytes_.data(), other.bytes_.data(), bytes_.size(), cudaMemcpyDeviceToDevice),
             "copy on the device");
}

std::int64_t Matrix::damaged_words() const {
  const DeviceArray<std::uint64_t> partial(blocks_for(layout().words));
  over_words(type_, bytes_.data(), layout().words, [&]<class Real>(const Real* words, const LaunchShape& shape) {
    return launch(damage_kernel<Real, Layout>, shape, words, layout(), partial.data());
  });
  return static_cast<std::int64_t>(sum_of(partial));
}

std::uint64_t Matrix::fingerprint() const {
  const DeviceArray<std::uint64_t> partial(blocks_for(layout().words));
  over_words(type_, bytes_.data(), layout().words, [&]<class Real>(const Real* words, const LaunchShape& shape) {
    return launch(fingerprint_kernel<Real, Layout>, shape, words, layout(), partial.data());
  });
  return sum_of(partial);
}

}  // namespace gemm
