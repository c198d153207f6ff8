// Readers in a warp. If several lanes have read a word of device memory, any later `__syncwarp()` of the lane that then
// writes it is taken to order them all.
__global__ void two_of_three(int* word, int* out) {
  if (threadIdx.x > 0) out[threadIdx.x] = *word;
  if (threadIdx.x < 2) __syncwarp(3);
  if (threadIdx.x == 0) *word = 5;  // gap: silent
}

int main() {
  int* all;
  cudaMalloc(&all, 64);
  cudaMemset(all, 0, 64);
  two_of_three<<<1, 3>>>(all, all + 1);
  return cudaDeviceSynchronize() != cudaSuccess;
}
