// CUDA C++ as g++ sees it: the keywords become attributes or nothing, the built-in variables become look-ups of the
// running fiber, and a barrier becomes a switch to the next fiber.
#pragma once

#include <math.h>  // nvcc has the mathematical functions declared in every kernel file

#include "common/simt/language/atomics.hpp"
#include "common/simt/language/math.hpp"
#include "common/simt/language/thread.hpp"
#include "common/simt/language/types.hpp"
#include "common/simt/language/warp.hpp"

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))

// One block runs on one OS thread at a time, so what CUDA shares within a block is what C++ keeps per OS thread. In a
// function this implies `static`; with `extern` it names the executor's array for dynamic shared memory. constinit:
// without it, g++ guards every access to an array of vector types by a call that would construct it.
#define __shared__ constinit thread_local

// A section of its own tells the executor that kernels may read it.
#define __constant__ __attribute__((section("simt_constant")))

#define threadIdx (::simt::thread_index())
#define blockIdx (::simt::block_index())
#define blockDim (::simt::block_size())
#define gridDim (::simt::grid_size())

#define SIMT_INLINE inline __attribute__((always_inline))

SIMT_INLINE void __syncthreads() {
  ::simt::barrier();
}
SIMT_INLINE int __syncthreads_and(int predicate) {
  return ::simt::barrier_and(predicate);
}
SIMT_INLINE int __syncthreads_or(int predicate) {
  return ::simt::barrier_or(predicate);
}
SIMT_INLINE int __syncthreads_count(int predicate) {
  return ::simt::barrier_count(predicate);
}
