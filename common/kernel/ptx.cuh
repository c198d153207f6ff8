// Single PTX instructions as functions, on both back ends: inline assembly under nvcc, the executor's own code
// otherwise (common/simt/language/tensor.hpp, access.hpp). One function an instruction; its comment says where each
// lane's elements lie.
//
// In the comments g = lane / 4 is the lane's group and t = lane % 4 its place in the group. A is m x k, B is k x n, C
// and D are m x n. "(r, c..)" are two neighbours in row r, columns c and c + 1, in one 32-bit register, the first one
// in the lower half. ldmatrix and mma must be called by all 32 lanes of a warp together. "sm_80" and the like are what
// the instruction needs; on older devices the kernel traps, and a stage says so by its min_compute_capability. Source:
// PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions" and "cp.async".
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#ifndef __CUDACC__
#include "common/simt/language/access.hpp"
#include "common/simt/language/collective.hpp"
#include "common/simt/language/small_float.hpp"
#include "common/simt/language/tensor.hpp"
#endif

namespace gemm::ptx {

/// What instructions on shared memory take for its address: a number of bytes.
#ifdef __CUDACC__
using SharedAddress = std::uint32_t;
__device__ __forceinline__ SharedAddress shared_address(const void* p) {
  return static_cast<SharedAddress>(__cvta_generic_to_shared(p));
}
#else
using SharedAddress = std::uintptr_t;
__forceinline__ SharedAddress shared_address(const void* p) {
  return reinterpret_cast<SharedAddress>(p);
}
#endif

/// The same address, in a register of its own from here on: else nvcc may find it anew from others wherever it is used.
template <class T>
__device__ __forceinline__ T* kept(T* address) {
#ifdef __CUDACC__
  asm volatile("" : "+l"(address));
#endif
  return address;
}
__device__ __forceinline__ SharedAddress kept(SharedAddress address) {
#ifdef __CUDACC__
  asm volatile("" : "+r"(address));
#endif
  return address;
}

/// The address in shared memory, kept.
__device__ __forceinline__ SharedAddress kept_shared_address(const void* p) {
  return kept(shared_address(p));
}

#ifndef __CUDACC__
/// ldmatrix: lanes that supply addresses read their rows, 16 bytes in one access, and all share them out.
template <int matrices>
__forceinline__ void load_and_distribute(std::uint32_t* d, const void* row, bool transposed) {
  simt::Words words{};
  if (simt::lane_id() < 8 * matrices) words = simt::load_128(row);
  alignas(16) std::uint32_t mine[4];
  simt::store_128(mine, words);
  simt::distribute_rows(d, matrices, transposed, mine);
}

__forceinline__ void multiply(simt::Mma instruction, void* d, const void* a, const void* b, const void* c) {
  const simt::MmaRegisters registers{a, b, c, d};
  simt::mma(instruction, "mma.sync", &registers, 1);
}

template <int bytes>
__forceinline__ void copy_later(void* to, const void* from, int source_bytes) {
  simt::async_copy(to, from, static_cast<std::size_t>(source_bytes), static_cast<std::size_t>(bytes - source_bytes),
                   simt::here());
}
#endif

/// Loads an 8 x 8 matrix of 16-bit elements from shared memory. Lane r < 8 passes the address of row r. Those of other
/// lanes are not looked at, but sm_75 wants them valid. A row is 16 bytes, aligned to 16. d[0]: (g, 2t..). sm_75.
__device__ __forceinline__ void ldmatrix_x1(std::uint32_t (&d)[1], const void* row) {
#ifdef __CUDACC__
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
               : "=r"(d[0])
               : "r"(shared_address(row))
               : "memory");
#else
  load_and_distribute<1>(d, row, false);
#endif
}

/// The same, transposed: the lower half of d[i] is element (2t, g) of matrix i, the upper half (2t + 1, g). sm_75.
__device__ __forceinline__ void ldmatrix_x1_trans(std::uint32_t (&d)[1], const void* row) {
#ifdef __CUDACC__
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
               : "=r"(d[0])
               : "r"(shared_address(row))
               : "memory");
#else
  load_and_distribute<1>(d, row, true);
#endif
}

/// Loads two 8 x 8 matrices of 16-bit elements from shared memory. Lane 8 i + r < 16 passes the address of row r of
/// matrix i. Those of other lanes are not looked at, but sm_75 wants them valid. A row is 16 bytes, aligned to 16.
/// d[i]: (g, 2t..) of matrix i. sm_75.
__device__ __forceinline__ void ldmatrix_x2(std::uint32_t (&d)[2], const void* row) {
#ifdef __CUDACC__
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
               : "=r"(d[0]), "=r"(d[1])
               : "r"(shared_address(row))
               : "memory");
#else
  load_and_distribute<2>(d, row, false);
#endif
}

/// The same, transposed: the lower half of d[i] is element (2t, g) of matrix i, the upper half (2t + 1, g). sm_75.
__device__ __forceinline__ void ldmatrix_x2_trans(std::uint32_t (&d)[2], const void* row) {
#ifdef __CUDACC__
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(d[0]), "=r"(d[1])
               : "r"(shared_address(row))
               : "memory");
#else
  load_and_distribute<2>(d, row, true);
#endif
}

/// Loads four 8 x 8 matrices of 16-bit elements from shared memory. Lane 8 i + r passes the address of row r of matrix
/// i. A row is 16 bytes, aligned to 16. d[i]: (g, 2t..) of matrix i. sm_75.
__device__ __forceinline__ void ldmatrix_x4(std::uint32_t (&d)[4], SharedAddress row) {
#ifdef __CUDACC__
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
               : "r"(row)
               : "memory");
#else
  load_and_distribute<4>(d, reinterpret_cast<const void*>(row), false);
#endif
}
__device__ __forceinline__ void ldmatrix_x4(std::uint32_t (&d)[4], const void* row) {
  ldmatrix_x4(d, shared_address(row));
}

/// The same, transposed: the lower half of d[i] is element (2t, g) of matrix i, the upper half (2t + 1, g). sm_75.
__device__ __forceinline__ void ldmatrix_x4_trans(std::uint32_t (&d)[4], SharedAddress row) {
#ifdef __CUDACC__
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
               : "r"(row)
               : "memory");
#else
  load_and_distribute<4>(d, reinterpret_cast<const void*>(row), true);
#endif
}
__device__ __forceinline__ void ldmatrix_x4_trans(std::uint32_t (&d)[4], const void* row) {
  ldmatrix_x4_trans(d, shared_address(row));
}

/// D = A B + C for 16 x 8 x 16: half, accumulated in float. sm_80.
/// A: a[0] (g, 2t..), a[1] (g + 8, 2t..), a[2] (g, 2t + 8..), a[3] (g + 8, 2t + 8..).
/// B: b[0] rows 2t and 2t + 1, b[1] rows 2t + 8 and 2t + 9, all of column g.
/// C, D: [0] (g, 2t), [1] (g, 2t + 1), [2] (g + 8, 2t), [3] (g + 8, 2t + 1).
__device__ __forceinline__ void mma_m16n8k16_f32_f16(float (&d)[4], const std::uint32_t (&a)[4],
                                                     const std::uint32_t (&b)[2], const float (&c)[4]) {
#ifdef __CUDACC__
#if __CUDA_ARCH__ >= 800
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
#else
  __trap();
#endif
#else
  multiply(simt::Mma::m16n8k16_f32_f16, d, a, b, c);
#endif
}

/// The same, accumulated in half. sm_80. A and B as above.
/// C, D: [0] (g, 2t..), [1] (g + 8, 2t..).
__device__ __forceinline__ void mma_m16n8k16_f16_f16(std::uint32_t (&d)[2], const std::uint32_t (&a)[4],
                                                     const std::uint32_t (&b)[2], const std::uint32_t (&c)[2]) {
#ifdef __CUDACC__
#if __CUDA_ARCH__ >= 800
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 "
      "{%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%8, %9};"
      : "=r"(d[0]), "=r"(d[1])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]));
#else
  __trap();
#endif
#else
  multiply(simt::Mma::m16n8k16_f16_f16, d, a, b, c);
#endif
}

/// D = A B + C for 16 x 8 x 16: bfloat16, accumulated in float. sm_80. All as in mma_m16n8k16_f32_f16.
__device__ __forceinline__ void mma_m16n8k16_f32_bf16(float (&d)[4], const std::uint32_t (&a)[4],
                                                      const std::uint32_t (&b)[2], const float (&c)[4]) {
#ifdef __CUDACC__
#if __CUDA_ARCH__ >= 800
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
#else
  __trap();
#endif
#else
  multiply(simt::Mma::m16n8k16_f32_bf16, d, a, b, c);
#endif
}

/// D = A B + C for 16 x 8 x 8: half, accumulated in float. sm_75.
/// A: a[0] (g, 2t..), a[1] (g + 8, 2t..). B: b[0] rows 2t and 2t + 1 of column g.
/// C, D: [0] (g, 2t), [1] (g, 2t + 1), [2] (g + 8, 2t), [3] (g + 8, 2t + 1).
__device__ __forceinline__ void mma_m16n8k8_f32_f16(float (&d)[4], const std::uint32_t (&a)[2],
                                                    const std::uint32_t (&b)[1], const float (&c)[4]) {
#ifdef __CUDACC__
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
      "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
#else
  multiply(simt::Mma::m16n8k8_f32_f16, d, a, b, c);
#endif
}

/// The same, accumulated in half. sm_75. A and B as above.
/// C, D: [0] (g, 2t..), [1] (g + 8, 2t..).
__device__ __forceinline__ void mma_m16n8k8_f16_f16(std::uint32_t (&d)[2], const std::uint32_t (&a)[2],
                                                    const std::uint32_t (&b)[1], const std::uint32_t (&c)[2]) {
#ifdef __CUDACC__
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 "
      "{%0, %1}, {%2, %3}, {%4}, {%5, %6};"
      : "=r"(d[0]), "=r"(d[1])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(c[0]), "r"(c[1]));
#else
  multiply(simt::Mma::m16n8k8_f16_f16, d, a, b, c);
#endif
}

/// D = A B + C for 16 x 8 x 8: tf32, accumulated in float. sm_80. Operands are the bits of floats, of which the
/// hardware ignores the lower 13: round them first (cvt_rna_tf32).
/// A: a[0] (g, t), a[1] (g + 8, t), a[2] (g, t + 4), a[3] (g + 8, t + 4). B: b[0] (t, g), b[1] (t + 4, g).
/// C, D: [0] (g, 2t), [1] (g, 2t + 1), [2] (g + 8, 2t), [3] (g + 8, 2t + 1).
__device__ __forceinline__ void mma_m16n8k8_f32_tf32(float (&d)[4], const std::uint32_t (&a)[4],
                                                     const std::uint32_t (&b)[2], const float (&c)[4]) {
#ifdef __CUDACC__
#if __CUDA_ARCH__ >= 800
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
#else
  __trap();
#endif
#else
  multiply(simt::Mma::m16n8k8_f32_tf32, d, a, b, c);
#endif
}

/// D = A B + C for 8 x 8 x 4: double. sm_80. A: a[0] (g, t). B: b[0] (t, g). C, D: [0] (g, 2t), [1] (g, 2t + 1).
__device__ __forceinline__ void mma_m8n8k4_f64(double (&d)[2], const double (&a)[1], const double (&b)[1],
                                               const double (&c)[2]) {
#ifdef __CUDACC__
#if __CUDA_ARCH__ >= 800
  asm volatile(
      "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 "
      "{%0, %1}, {%2}, {%3}, {%4, %5};"
      : "=d"(d[0]), "=d"(d[1])
      : "d"(a[0]), "d"(b[0]), "d"(c[0]), "d"(c[1]));
#else
  __trap();
#endif
#else
  multiply(simt::Mma::m8n8k4_f64, d, a, b, c);
#endif
}

/// D = A B + C for 16 x 8 x 4: double. On sm_90 the smallest shape that has the full rate, twice that of 8 x 8 x 4; before,
/// where there is none, two of those. sm_80. A: a[0] (g, t), a[1] (g + 8, t). B: b[0] (t, g).
/// C, D: [0] (g, 2t), [1] (g, 2t + 1), [2] (g + 8, 2t), [3] (g + 8, 2t + 1).
__device__ __forceinline__ void mma_m16n8k4_f64(double (&d)[4], const double (&a)[2], const double (&b)[1],
                                                const double (&c)[4]) {
#ifdef __CUDACC__
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 "
      "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"
      : "=d"(d[0]), "=d"(d[1]), "=d"(d[2]), "=d"(d[3])
      : "d"(a[0]), "d"(a[1]), "d"(b[0]), "d"(c[0]), "d"(c[1]), "d"(c[2]), "d"(c[3]));
#elif __CUDA_ARCH__ >= 800
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const double its_a[1] = {a[half]}, its_c[2] = {c[2 * half], c[2 * half + 1]};
    double its_d[2];
    mma_m8n8k4_f64(its_d, its_a, b, its_c);
    d[2 * half] = its_d[0];
    d[2 * half + 1] = its_d[1];
  }
#else
  __trap();
#endif
#else
  multiply(simt::Mma::m16n8k4_f64, d, a, b, c);
#endif
}

/// x rounded to tf32, to nearest, ties away from zero, as the bits of a float. sm_80.
__device__ __forceinline__ std::uint32_t cvt_rna_tf32(float x) {
#ifdef __CUDACC__
  std::uint32_t bits = 0;
#if __CUDA_ARCH__ >= 800
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
#else
  __trap();
#endif
  return bits;
#else
  return std::bit_cast<std::uint32_t>(simt::round_to_tf32(x));
#endif
}

/// from + row * stride, by one multiply-add: 32-bit factors, a 64-bit sum. Compilers make longer work of the same
/// expression when they know something of the factors. `stride` is in bytes.
__device__ __forceinline__ const float* row_address(const float* from, unsigned row, unsigned stride) {
#ifdef __CUDACC__
  const float* address;
  asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(address) : "r"(row), "r"(stride), "l"(from));
  return address;
#else
  return reinterpret_cast<const float*>(reinterpret_cast<const char*>(from) + std::uint64_t{row} * stride);
#endif
}

/// Starts a copy of `bytes` (4, 8 or 16) bytes from global to shared memory, both aligned to as many, through all
/// caches. Only the first source_bytes are read; the rest is filled with zeros. What arrives is visible to this thread
/// after cp_async_wait, to others after a barrier that follows. sm_80.
template <int bytes>
__device__ __forceinline__ void cp_async_ca(SharedAddress shared, const void* global, int source_bytes = bytes) {
  static_assert(bytes == 4 || bytes == 8 || bytes == 16);
#ifdef __CUDACC__
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;"
               :
               : "r"(shared), "l"(__cvta_generic_to_global(global)), "n"(bytes), "r"(source_bytes)
               : "memory");
#else
  __trap();
#endif
#else
  copy_later<bytes>(reinterpret_cast<void*>(shared), global, source_bytes);
#endif
}
template <int bytes>
__device__ __forceinline__ void cp_async_ca(void* shared, const void* global, int source_bytes = bytes) {
  cp_async_ca<bytes>(shared_address(shared), global, source_bytes);
}

/// The same for 16 bytes, past the L1 cache. sm_80.
__device__ __forceinline__ void cp_async_cg(SharedAddress shared, const void* global, int source_bytes = 16) {
#ifdef __CUDACC__
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               :
               : "r"(shared), "l"(__cvta_generic_to_global(global)), "r"(source_bytes)
               : "memory");
#else
  __trap();
#endif
#else
  copy_later<16>(reinterpret_cast<void*>(shared), global, source_bytes);
#endif
}
__device__ __forceinline__ void cp_async_cg(void* shared, const void* global, int source_bytes = 16) {
  cp_async_cg(shared_address(shared), global, source_bytes);
}

/// Copies a word through all caches, or four past L1; zeros stand behind the first `words`. sm_80.
template <int WORDS>
__device__ __forceinline__ void copy_words(float* shared, const float* global, int words = WORDS) {
  if constexpr (WORDS == 4) {
    cp_async_cg(shared, global, 4 * words);
  } else {
    cp_async_ca<4>(shared, global, 4 * words);
  }
}

/// Loads 8 bytes from shared memory, which divides the address.
__device__ __forceinline__ void load_shared(double& x, SharedAddress from) {
#ifdef __CUDACC__
  asm volatile("ld.shared.f64 %0, [%1];" : "=d"(x) : "r"(from) : "memory");
#else
  x = *reinterpret_cast<const double*>(from);
#endif
}
/// The same, never joined with the load of a neighbour: ptxas likes to do that, and then moves the words to where they are
/// wanted.
__device__ __forceinline__ void load_shared_alone(double& x, SharedAddress from) {
#ifdef __CUDACC__
  asm volatile("ld.volatile.shared.f64 %0, [%1];" : "=d"(x) : "r"(from) : "memory");
#else
  load_shared(x, from);
#endif
}
/// Loads 16 bytes from shared memory, which divides the address.
__device__ __forceinline__ void load_shared(double& x, double& y, SharedAddress from) {
#ifdef __CUDACC__
  asm volatile("ld.shared.v2.f64 {%0, %1}, [%2];" : "=d"(x), "=d"(y) : "r"(from) : "memory");
#else
  const double2 both = *reinterpret_cast<const double2*>(from);
  x = both.x;
  y = both.y;
#endif
}

/// Brings the sector of 32 bytes that has this address to the L2 cache: before sm_90 the line of 128. Nothing on the
/// executor.
__device__ __forceinline__ void prefetch_sector(const void* address) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], 32;"
               :
               : "l"(__cvta_generic_to_global(address) & ~std::uint64_t{31})
               : "memory");
#elif defined(__CUDA_ARCH__)
  asm volatile("prefetch.global.L2 [%0];" : : "l"(__cvta_generic_to_global(address)) : "memory");
#else
  static_cast<void>(address);
#endif
}

/// Stores 8 bytes to shared memory, which divides the address.
__device__ __forceinline__ void store_shared(SharedAddress to, double x) {
#ifdef __CUDACC__
  asm volatile("st.shared.f64 [%0], %1;" : : "r"(to), "d"(x) : "memory");
#else
  *reinterpret_cast<double*>(to) = x;
#endif
}
/// Stores 16 bytes to shared memory, which divides the address.
__device__ __forceinline__ void store_shared(SharedAddress to, double2 x) {
#ifdef __CUDACC__
  asm volatile("st.shared.v2.f64 [%0], {%1, %2};" : : "r"(to), "d"(x.x), "d"(x.y) : "memory");
#else
  *reinterpret_cast<double2*>(to) = x;
#endif
}

/// Waits until the launch ahead of this one in the stream has ended and what it has written can be seen. Needed where
/// LaunchShape::may_begin_early is set, else nothing. On the executor, and before sm_90, launches follow one another
/// anyway.
__device__ __forceinline__ void wait_for_launch_ahead() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// A launch behind this one that may begin early does so once all blocks have called this, or ended.
__device__ __forceinline__ void let_launch_behind_begin() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// Makes a group of this thread's copies since the last call. sm_80.
__device__ __forceinline__ void cp_async_commit() {
#ifdef __CUDACC__
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#else
  __trap();
#endif
#else
  simt::async_commit();
#endif
}

/// Waits until at most `pending` of this thread's latest groups are under way. sm_80.
template <int pending>
__device__ __forceinline__ void cp_async_wait() {
#ifdef __CUDACC__
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
#else
  __trap();
#endif
#else
  simt::async_wait(pending);
#endif
}

/// Waits for all of this thread's copies, also those in no group. sm_80.
__device__ __forceinline__ void cp_async_wait_all() {
#ifdef __CUDACC__
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#else
  __trap();
#endif
#else
  simt::async_wait_all();
#endif
}

}  // namespace gemm::ptx
