// Threads of one block run different numbers of steps, so they reach different numbers of barriers.
#include <cstdio>

__global__ void relax(const int* steps, int* values) {
  __shared__ int shared[32];
  const int t = threadIdx.x;
  shared[t] = values[t];
  __syncthreads();
  for (int s = 0; s < steps[t]; ++s) {
    const int next = shared[(t + 1) % 32];
    __syncthreads();  // defect: divergent barrier
    shared[t] = next;
    __syncthreads();
  }
  __syncthreads();  // also here
  values[t] = shared[t];
}

int main() {
  int steps[32], values[32], *d_steps, *d_values;
  for (int t = 0; t < 32; ++t) steps[t] = t < 16 ? 2 : 3, values[t] = t;
  cudaMalloc(&d_steps, sizeof(steps));
  cudaMalloc(&d_values, sizeof(values));
  cudaMemcpy(d_steps, steps, sizeof(steps), cudaMemcpyHostToDevice);
  cudaMemcpy(d_values, values, sizeof(values), cudaMemcpyHostToDevice);
  relax<<<1, 32>>>(d_steps, d_values);
  cudaMemcpy(values, d_values, sizeof(values), cudaMemcpyDeviceToHost);
  std::printf("%d\n", values[0]);
  cudaFree(d_steps);
  cudaFree(d_values);
}
