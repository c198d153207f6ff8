// CUDA C++ as g++ sees it: the keywords become attributes or nothing, the built-in variables become look-ups of the
// running fiber, and a barrier becomes a switch to the next fiber.
#pragma once

#include <math.h>  // nvcc has the mathematical functions declared in every kernel file

#include "common/simt/executor.hpp"
#include "common/simt/types.hpp"

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))

// One block runs on one OS thread at a time, so what CUDA shares within a block is what C++ keeps per OS thread. In a
// function this implies `static`; with `extern` it names the executor's array for dynamic shared memory.
#define __shared__ thread_local

#define threadIdx (::simt::this_thread().thread)
#define blockIdx (::simt::this_thread().block)
#define blockDim (::simt::this_thread().block_dim)
#define gridDim (::simt::this_thread().grid_dim)

inline void __syncthreads() {
  ::simt::barrier();
}
