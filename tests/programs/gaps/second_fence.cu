// A second fence. After an atomic other than a compare-and-swap, the reader needs a fence by the model. CUDA's examples
// have none, so it is not asked for.
__global__ void last_adds(int* data, unsigned* tickets, int* out) {
  data[blockIdx.x] = 1;
  __threadfence();
  if (atomicAdd(tickets, 1) == gridDim.x - 1) *out = data[0];  // gap: silent
}

int main() {
  int* all;
  cudaMalloc(&all, 64 * sizeof(int));
  cudaMemset(all, 0, 64 * sizeof(int));
  last_adds<<<8, 1>>>(all, (unsigned*)all + 62, all + 63);
  return cudaDeviceSynchronize() != cudaSuccess;
}
