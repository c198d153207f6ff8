// Single instructions for the probes, which the compiler may neither drop nor merge nor move past one another; on the
// CPU executor what they compute. And the clock of an SM.
#pragma once

#include <cuda_runtime.h>

#include <bit>
#include <cstdint>

namespace gemm::probes {

/// Whether the GPU that this is compiled for has FP64 units of full width; others have one or two lanes, with which a
/// probe of them would take minutes.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ != 800 && __CUDA_ARCH__ != 900 && __CUDA_ARCH__ != 1000
inline constexpr bool has_fp64_units = false;
#else
inline constexpr bool has_fp64_units = true;
#endif

/// In place of a kernel that needs them.
__device__ inline void stop() {
#ifdef __CUDACC__
  __trap();
#endif
}

/// Cycles of this SM's clock; 0 on the executor, which has none.
__device__ __forceinline__ long long sm_clock() {
#ifdef __CUDACC__
  long long now;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(now)::"memory");
  return now;
#else
  return 0;
#endif
}

/// sum += x * y. DFMA.
__device__ __forceinline__ void fused_multiply_add(double& sum, double x, double y) {
#ifdef __CUDACC__
  asm volatile("fma.rn.f64 %0, %1, %2, %0;" : "+d"(sum) : "d"(x), "d"(y));
#else
  sum = fma(x, y, sum);
#endif
}

/// n += x + y. IADD3.
__device__ __forceinline__ void add_two(std::uint32_t& n, std::uint32_t x, std::uint32_t y) {
#ifdef __CUDACC__
  asm volatile("{.reg .u32 both; add.u32 both, %1, %2; add.u32 %0, %0, both;}" : "+r"(n) : "r"(x), "r"(y));
#else
  n += x + y;
#endif
}

/// The double with these words: two MOVs, since the words of a double lie in registers side by side.
__host__ __device__ __forceinline__ double from_words(std::uint32_t low, std::uint32_t high) {
#ifdef __CUDA_ARCH__
  double x;
  asm volatile("mov.b64 %0, {%1, %2};" : "=d"(x) : "r"(low), "r"(high));
  return x;
#else
  return std::bit_cast<double>(std::uint64_t{high} << 32 | low);
#endif
}

/// Loads from shared memory, anew each time. LDS.64, LDS.128.
__device__ __forceinline__ void load_shared(double& x, const double* from) {
#ifdef __CUDACC__
  asm volatile("ld.volatile.shared.f64 %0, [%1];"
               : "=d"(x)
               : "r"(static_cast<std::uint32_t>(__cvta_generic_to_shared(from))));
#else
  x = *from;
#endif
}
__device__ __forceinline__ void load_shared(double& x, double& y, const double* from) {
#ifdef __CUDACC__
  asm volatile("ld.volatile.shared.v2.f64 {%0, %1}, [%2];"
               : "=d"(x), "=d"(y)
               : "r"(static_cast<std::uint32_t>(__cvta_generic_to_shared(from))));
#else
  const double2 both = *reinterpret_cast<const double2*>(from);
  x = both.x;
  y = both.y;
#endif
}

/// A place in the array `words` of shared memory as a load takes it, and which of its words that is. On the executor it
/// is the number of the word.
__device__ __forceinline__ std::uint32_t shared_place([[maybe_unused]] const std::uint32_t* words,
                                                      std::uint32_t number) {
#ifdef __CUDACC__
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(words + number));
#else
  return number;
#endif
}
__device__ __forceinline__ std::uint32_t shared_number([[maybe_unused]] const std::uint32_t* words,
                                                       std::uint32_t place) {
#ifdef __CUDACC__
  return (place - static_cast<std::uint32_t>(__cvta_generic_to_shared(words))) / sizeof(std::uint32_t);
#else
  return place;
#endif
}

/// place = what the word there says. One LDS.32 and nothing else: its result is the next one's address.
__device__ __forceinline__ void follow_shared(std::uint32_t& place, [[maybe_unused]] const std::uint32_t* words) {
#ifdef __CUDACC__
  asm volatile("ld.volatile.shared.u32 %0, [%0];" : "+r"(place));
#else
  place = words[place];
#endif
}

/// Loads from device memory, by way of the L1 cache. LDG.64. (Not volatile: such loads would pass the L1 by. So the
///       address must
/// be one that the compiler can't know to be an earlier one.)
__device__ __forceinline__ void load_global(double& x, const double* from) {
#ifdef __CUDACC__
  asm volatile("ld.global.f64 %0, [%1];" : "=d"(x) : "l"(from));
#else
  x = *from;
#endif
}

}  // namespace gemm::probes
