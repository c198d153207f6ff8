// CUDA's keywords, and a launch. The last look at a program that is rewritten between preprocessing and compiling
// (common/cmake/preprocessed.py) begins here, where nothing else is included: macros only.
#pragma once

#define threadIdx (::simt::thread_index())
#define blockIdx (::simt::block_index())
#define blockDim (::simt::block_size())
#define gridDim (::simt::grid_size())

#define __global__
#define __device__
#define __managed__
#define __host__

// One block runs on one OS thread at a time, so what CUDA shares within a block is what C++ keeps per OS thread. In a
// function this implies `static`; with `extern` it names the executor's array for dynamic shared memory. constinit:
// without it, g++ guards every access to an array of vector types by a call that would construct it.
#define __shared__ constinit thread_local

#define __cluster_dims__(...)

// A section of its own tells the executor that kernels may read it.
#define __constant__ __attribute__((section("simt_constant")))

// Fetching the arguments is no access of the kernel's.
#define SIMT_UNOBSERVED __attribute__((no_sanitize("thread", "bounds")))

/// kernel<<<grid, block>>>(a) is SIMT_LAUNCH(kernel)(grid, block)(a). The kernel's name may have commas.
#define SIMT_LAUNCH(...)                                                                                        \
  ::simt::kernel_of(                                                                                            \
      #__VA_ARGS__, [&](auto simt_take) -> decltype(simt_take(__VA_ARGS__)) { return simt_take(__VA_ARGS__); }, \
      [&](auto&... simt_arguments)                                                                              \
          SIMT_UNOBSERVED -> decltype(__VA_ARGS__(simt_arguments...)) { return __VA_ARGS__(simt_arguments...); })
