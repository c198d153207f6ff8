// What the device says of itself, and how many blocks fit on a multiprocessor: only what holds on any device.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>

__global__ void fill(int* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = i;
}

int main() {
  int count = 0, device = -1, driver = 0, runtime = 0;
  cudaGetDeviceCount(&count);
  cudaSetDevice(0);
  cudaGetDevice(&device);
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  cudaDeviceProp properties;
  cudaGetDeviceProperties(&properties, device);
  std::printf("devices: %s, device %d, versions: %s\n", count > 0 ? "yes" : "no", device,
              driver >= runtime && runtime >= 10000 ? "fit" : "don't fit");
  std::printf("warp %d, threads per block %d, block %d x %d x %d\n", properties.warpSize, properties.maxThreadsPerBlock,
              properties.maxThreadsDim[0], properties.maxThreadsDim[1], properties.maxThreadsDim[2]);
  std::printf("grid.x %d, constant memory %zu, shared memory per block %zu\n", properties.maxGridSize[0],
              properties.totalConstMem, properties.sharedMemPerBlock);
  int sms = 0, major = 0;
  cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  const bool agree =
      sms == properties.multiProcessorCount && major == properties.major && std::strlen(properties.name) > 0;
  size_t free_bytes = 0, total_bytes = 0;
  cudaMemGetInfo(&free_bytes, &total_bytes);
  std::printf("attributes and properties %s, memory %s\n", agree ? "agree" : "differ",
              free_bytes > 0 && free_bytes <= total_bytes ? "plausible" : "implausible");

  int min_grid = 0, block = 0, resident = 0;
  cudaOccupancyMaxPotentialBlockSize(&min_grid, &block, fill, 0, 0);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, fill, 256, 0);
  cudaFuncAttributes attributes;
  cudaFuncGetAttributes(&attributes, fill);
  std::printf("suggested block: whole warps %s, grid at least %s; resident threads %s; static shared memory %zu\n",
              block > 0 && block % 32 == 0 ? "yes" : "no", min_grid >= sms ? "one per multiprocessor" : "too few",
              resident * 256 <= properties.maxThreadsPerMultiProcessor && resident > 0 ? "in range" : "out of range",
              attributes.sharedSizeBytes);

  const int n = 1000;
  int *data, last = -1;
  cudaMalloc(&data, n * sizeof(int));
  fill<<<(n + block - 1) / block, block>>>(data, n);
  cudaMemcpy(&last, data + n - 1, sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(data);
  std::printf("%s: %s, last %d\n", cudaGetErrorName(cudaErrorInvalidValue), cudaGetErrorString(cudaErrorInvalidValue),
              last);
  return cudaGetLastError() != cudaSuccess;
}
