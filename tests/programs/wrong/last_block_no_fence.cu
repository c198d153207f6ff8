// The last block adds the parts of all blocks, as in the programming guide, but without the fence.
#include <cstdio>
#include <vector>

__device__ unsigned int count = 0;
__shared__ bool is_last_block_done;

__global__ void sum(const float* array, unsigned n, float* result) {
  __shared__ float values[128];
  float partial = 0;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) partial += array[i];
  values[threadIdx.x] = partial;
  for (unsigned s = 64; s > 0; s /= 2) {
    __syncthreads();
    if (threadIdx.x < s) values[threadIdx.x] += values[threadIdx.x + s];
  }
  if (threadIdx.x == 0) {
    result[blockIdx.x] = values[0];  // also here
    unsigned value = atomicInc(&count, gridDim.x);
    is_last_block_done = value == gridDim.x - 1;
  }
  __syncthreads();
  if (is_last_block_done && threadIdx.x == 0) {
    float total = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) total += result[b];  // defect: data race in global memory
    result[0] = total;
    count = 0;
  }
}

int main() {
  const unsigned n = 20000, blocks = 16;
  std::vector<float> array(n, 1.0f);
  float *d_array, *d_result, total = 0;
  cudaMalloc(&d_array, n * sizeof(float));
  cudaMalloc(&d_result, blocks * sizeof(float));
  cudaMemcpy(d_array, array.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  sum<<<blocks, 128>>>(d_array, n, d_result);
  cudaMemcpy(&total, d_result, sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%.0f\n", total);
  cudaFree(d_array);
  cudaFree(d_result);
}
