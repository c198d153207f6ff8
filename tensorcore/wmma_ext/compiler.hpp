// Whether this is compiled by what knows kernels: nvcc, clang for CUDA, or g++ with the headers of the CPU executor.
#pragma once

#if __has_include(<cuda_runtime.h>)
#include <cuda_runtime.h>
#endif

#if defined(__CUDACC__) || defined(STAGED_SIMT)
#define WMMA_EXT_KERNELS
#else
#error "wmma_ext has kernels: compile this file with nvcc (as a .cu file; in CMake its LANGUAGE is CUDA)"
#endif
