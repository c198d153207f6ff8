// The part of the CUDA runtime API that the harness uses, on host memory. Everything is synchronous: a stream is a
// name.
#pragma once

#include <cstddef>

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInvalidConfiguration = 9,
};
enum cudaMemcpyKind { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2, cudaMemcpyDeviceToDevice = 3 };
using cudaStream_t = struct CUstream_st*;

const char* cudaGetErrorName(cudaError_t error);
const char* cudaGetErrorString(cudaError_t error);
/// The last error of this process; asking for it clears it.
cudaError_t cudaGetLastError();

/// "Device" memory, 256-byte aligned and filled with NaN. Fails, as on a GPU, when there is not that much free.
cudaError_t cudaMalloc(void** pointer, std::size_t bytes);
cudaError_t cudaFree(void* pointer);
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaDeviceSynchronize();

namespace simt {
cudaError_t set_last_error(cudaError_t error);
}
