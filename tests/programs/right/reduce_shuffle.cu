// A sum and a maximum by warp shuffles: no shared memory within a warp, one word per warp between them.
#include <cstdio>
#include <vector>

__inline__ __device__ int warp_sum(int value) {
  for (int offset = warpSize / 2; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffff, value, offset);
  return value;
}

__inline__ __device__ int warp_max(int value) {
  for (int mask = warpSize / 2; mask > 0; mask /= 2) value = max(value, __shfl_xor_sync(0xffffffff, value, mask));
  return value;
}

__global__ void reduce(const int* in, int n, int* sum, int* largest) {
  __shared__ int sums[32], maxima[32];
  const int lane = threadIdx.x % warpSize, warp = threadIdx.x / warpSize;
  int my_sum = 0, my_max = -2147483647 - 1;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    my_sum += in[i];
    my_max = max(my_max, in[i]);
  }
  my_sum = warp_sum(my_sum);
  my_max = warp_max(my_max);
  if (lane == 0) sums[warp] = my_sum, maxima[warp] = my_max;
  __syncthreads();
  if (warp == 0) {
    const bool filled = threadIdx.x < blockDim.x / warpSize;
    my_sum = warp_sum(filled ? sums[lane] : 0);
    my_max = warp_max(filled ? maxima[lane] : -2147483647 - 1);
    if (lane == 0) {
      atomicAdd(sum, my_sum);
      atomicMax(largest, my_max);
    }
  }
}

int main() {
  const int n = 100001;
  std::vector<int> values(n);
  int expected[2] = {0, -1000};
  for (int i = 0; i < n; ++i) {
    values[i] = i * 37 % 1009 - 500;
    expected[0] += values[i];
    if (values[i] > expected[1]) expected[1] = values[i];
  }
  int *d_values, *d_result, result[2] = {0, -1000};
  cudaMalloc(&d_values, n * sizeof(int));
  cudaMalloc(&d_result, sizeof result);
  cudaMemcpy(d_values, values.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(d_result, result, sizeof result, cudaMemcpyHostToDevice);
  reduce<<<20, 192>>>(d_values, n, &d_result[0], &d_result[1]);
  cudaMemcpy(result, d_result, sizeof result, cudaMemcpyDeviceToHost);
  std::printf("sum %d (%d), largest %d (%d)\n", result[0], expected[0], result[1], expected[1]);
  cudaFree(d_values);
  cudaFree(d_result);
  return result[0] != expected[0] || result[1] != expected[1];
}
