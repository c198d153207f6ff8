#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

#include <stdexcept>
#include <type_traits>

#include "common/backend/device_memory.hpp"
#include "common/kernel/launch.cuh"
#include "common/kernel/ptx.cuh"
#include "tests/executor/half_kernels.hpp"

namespace gemm::half_test {
namespace {

template <class T>
DeviceArray<T> to_device(const std::vector<T>& host) {
  DeviceArray<T> device(host.size());
  check_cuda(cudaMemcpy(device.data(), host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice), "copy");
  return device;
}

// One thread for each of `count`.
template <class... Parameters, class... Arguments>
void run(void (*kernel)(Parameters...), std::size_t count, Arguments... arguments) {
  const Status status = launch(kernel, {.grid = static_cast<unsigned>(count / 256 + 1), .block = 256}, arguments...);
  if (!status) throw std::runtime_error(status.reason);
}
__device__ int index() {
  return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
}

// The two types by the names that CUDA gives to the same things.
struct Half {
  using Scalar = __half;
  using Pair = __half2;
  static __device__ Scalar from_bits(unsigned bits) { return __ushort_as_half(static_cast<unsigned short>(bits)); }
  static __device__ unsigned short bits(Scalar x) { return __half_as_ushort(x); }
  static __device__ float widen(Scalar x) { return __half2float(x); }
  static __device__ Scalar narrow(Direction direction, float x) {
    switch (direction) {
      case Direction::nearest:
        return __float2half(x);
      case Direction::zero:
        return __float2half_rz(x);
      case Direction::down:
        return __float2half_rd(x);
      case Direction::up:
        return __float2half_ru(x);
    }
    return Scalar();
  }
  static __device__ int to_int(Direction direction, Scalar x) {
    switch (direction) {
      case Direction::nearest:
        return __half2int_rn(x);
      case Direction::zero:
        return __half2int_rz(x);
      case Direction::down:
        return __half2int_rd(x);
      case Direction::up:
        return __half2int_ru(x);
    }
    return 0;
  }
  static __device__ Scalar from_int(Direction direction, int x) {
    switch (direction) {
      case Direction::nearest:
        return __int2half_rn(x);
      case Direction::zero:
        return __int2half_rz(x);
      case Direction::down:
        return __int2half_rd(x);
      case Direction::up:
        return __int2half_ru(x);
    }
    return Scalar();
  }
  static __device__ Pair pair(Scalar x, Scalar y) { return __halves2half2(x, y); }
  static __device__ Pair pair(float x, float y) { return __floats2half2_rn(x, y); }
  static __device__ Pair pair(float2 x) { return __float22half2_rn(x); }
  static __device__ float2 widen(Pair x) { return __half22float2(x); }
  static __device__ Scalar low(Pair x) { return __low2half(x); }
  static __device__ Scalar high(Pair x) { return __high2half(x); }
};
struct Bfloat16 {
  using Scalar = __nv_bfloat16;
  using Pair = __nv_bfloat162;
  static __device__ Scalar from_bits(unsigned bits) { return __ushort_as_bfloat16(static_cast<unsigned short>(bits)); }
  static __device__ unsigned short bits(Scalar x) { return __bfloat16_as_ushort(x); }
  static __device__ float widen(Scalar x) { return __bfloat162float(x); }
  static __device__ Scalar narrow(Direction direction, float x) {
    switch (direction) {
      case Direction::nearest:
        return __float2bfloat16(x);
      case Direction::zero:
        return __float2bfloat16_rz(x);
      case Direction::down:
        return __float2bfloat16_rd(x);
      case Direction::up:
        return __float2bfloat16_ru(x);
    }
    return Scalar();
  }
  static __device__ int to_int(Direction direction, Scalar x) {
    switch (direction) {
      case Direction::nearest:
        return __bfloat162int_rn(x);
      case Direction::zero:
        return __bfloat162int_rz(x);
      case Direction::down:
        return __bfloat162int_rd(x);
      case Direction::up:
        return __bfloat162int_ru(x);
    }
    return 0;
  }
  static __device__ Scalar from_int(Direction direction, int x) {
    switch (direction) {
      case Direction::nearest:
        return __int2bfloat16_rn(x);
      case Direction::zero:
        return __int2bfloat16_rz(x);
      case Direction::down:
        return __int2bfloat16_rd(x);
      case Direction::up:
        return __int2bfloat16_ru(x);
    }
    return Scalar();
  }
  static __device__ Pair pair(Scalar x, Scalar y) { return __halves2bfloat162(x, y); }
  static __device__ Pair pair(float x, float y) { return __floats2bfloat162_rn(x, y); }
  static __device__ Pair pair(float2 x) { return __float22bfloat162_rn(x); }
  static __device__ float2 widen(Pair x) { return __bfloat1622float2(x); }
  static __device__ Scalar low(Pair x) { return __low2bfloat16(x); }
  static __device__ Scalar high(Pair x) { return __high2bfloat16(x); }
};

template <class T>
__global__ void widen_kernel(float* out) {
  const int i = index();
  if (i < 65536) out[i] = T::widen(T::from_bits(i));
}

template <class T>
__global__ void narrow_kernel(Direction direction, const float* in, int count, std::uint16_t* out) {
  const int i = index();
  if (i < count) out[i] = T::bits(T::narrow(direction, in[i]));
}

template <class T>
__global__ void to_int_kernel(Direction direction, int* out) {
  const int i = index();
  if (i < 65536) out[i] = T::to_int(direction, T::from_bits(i));
}

template <class T>
__global__ void from_int_kernel(Direction direction, const int* in, int count, std::uint16_t* out) {
  const int i = index();
  if (i < count) out[i] = T::bits(T::from_int(direction, in[i]));
}

template <class T>
__device__ void calculate(const std::uint16_t* triples, int i, std::uint16_t* results, int* comparisons,
                          std::uint16_t* pairs) {
  const auto a = T::from_bits(triples[3 * i]), b = T::from_bits(triples[3 * i + 1]),
             c = T::from_bits(triples[3 * i + 2]);
  const typename T::Scalar values[] = {a + b,        a - b,        a * b,     a / b, __hfma(a, b, c),
                                       __hmax(a, b), __hmin(a, b), __habs(a), -a};
  for (int r = 0; r < results_per_triple; ++r) results[results_per_triple * i + r] = T::bits(values[r]);
  comparisons[i] = (a == b) | (a != b) << 1 | (a < b) << 2 | (a <= b) << 3 | (a > b) << 4 | (a >= b) << 5;

  const auto ab = T::pair(a, b), ba = T::pair(b, a);
  const typename T::Pair twos[] = {ab + ba, __hmul2(ab, ba), __hfma2(ab, ba, T::pair(c, c))};
  for (int r = 0; r < 3; ++r) {
    pairs[results_of_pairs * i + 2 * r] = T::bits(T::low(twos[r]));
    pairs[results_of_pairs * i + 2 * r + 1] = T::bits(T::high(twos[r]));
  }
}

template <class T>
__global__ void arithmetic_kernel(const std::uint16_t* triples, int count, std::uint16_t* results, int* comparisons,
                                  std::uint16_t* pairs) {
  // nvcc has no __hfma for bfloat16 before sm_80.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  constexpr bool available = std::is_same_v<T, Half>;
#else
  constexpr bool available = true;
#endif
  if constexpr (available) {
    if (index() < count) calculate<T>(triples, index(), results, comparisons, pairs);
  }
}

template <class T>
__global__ void pair_kernel(float x, float y, float* out) {
  if (index() > 0) return;
  const auto first = T::pair(x, y);
  const float2 second = T::widen(__lowhigh2highlow(T::pair(make_float2(x, y))));
  const float2 third = T::widen(T::pair(T::low(first), T::high(first)));
  out[0] = __low2float(first);
  out[1] = __high2float(first);
  out[2] = second.x;
  out[3] = second.y;
  out[4] = third.x;
  out[5] = third.y;
}

__global__ void tf32_kernel(const float* in, int count, std::uint32_t* out) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  const int i = index();
  if (i >= count) return;
  out[i] = ptx::cvt_rna_tf32(in[i]);
  union {
    float number;
    std::uint32_t bits;
  } u = {nvcuda::wmma::__float_to_tf32(in[i])};
  out[count + i] = u.bits;
#endif
}

}  // namespace

std::vector<float> widen_all(Format format) {
  const DeviceArray<float> out(65536);
  run(format == Format::half ? widen_kernel<Half> : widen_kernel<Bfloat16>, out.size(), out.data());
  return out.to_host();
}

std::vector<std::uint16_t> narrow(Format format, Direction direction, const std::vector<float>& numbers) {
  const auto in = to_device(numbers);
  const DeviceArray<std::uint16_t> out(numbers.size());
  run(format == Format::half ? narrow_kernel<Half> : narrow_kernel<Bfloat16>, out.size(), direction, in.data(),
      static_cast<int>(out.size()), out.data());
  return out.to_host();
}

std::vector<int> all_to_int(Format format, Direction direction) {
  const DeviceArray<int> out(65536);
  run(format == Format::half ? to_int_kernel<Half> : to_int_kernel<Bfloat16>, out.size(), direction, out.data());
  return out.to_host();
}

std::vector<std::uint16_t> from_int(Format format, Direction direction, const std::vector<int>& numbers) {
  const auto in = to_device(numbers);
  const DeviceArray<std::uint16_t> out(numbers.size());
  run(format == Format::half ? from_int_kernel<Half> : from_int_kernel<Bfloat16>, out.size(), direction, in.data(),
      static_cast<int>(out.size()), out.data());
  return out.to_host();
}

Arithmetic arithmetic(Format format, const std::vector<std::uint16_t>& triples) {
  const std::size_t count = triples.size() / 3;
  const auto in = to_device(triples);
  const DeviceArray<std::uint16_t> results(results_per_triple * count), pairs(results_of_pairs * count);
  const DeviceArray<int> comparisons(count);
  run(format == Format::half ? arithmetic_kernel<Half> : arithmetic_kernel<Bfloat16>, count, in.data(),
      static_cast<int>(count), results.data(), comparisons.data(), pairs.data());
  return {results.to_host(), comparisons.to_host(), pairs.to_host()};
}

std::vector<float> convert_pair(Format format, float x, float y) {
  const DeviceArray<float> out(6);
  run(format == Format::half ? pair_kernel<Half> : pair_kernel<Bfloat16>, 1, x, y, out.data());
  return out.to_host();
}

std::vector<std::uint32_t> to_tf32(const std::vector<float>& numbers) {
  const auto in = to_device(numbers);
  const DeviceArray<std::uint32_t> out(2 * numbers.size());
  run(tf32_kernel, numbers.size(), in.data(), static_cast<int>(numbers.size()), out.data());
  return out.to_host();
}

}  // namespace gemm::half_test
