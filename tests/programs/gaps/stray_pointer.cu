// From one shared array into the next. A pointer that leaves its array and comes into another one of the kernel is not
// noticed, if g++ does not know by then where it came from.
__device__ __noinline__ int fourth(const int* of) {
  return of[4];
}

__global__ void strays(int* out) {
  __shared__ __align__(16) int first[4], second[4];
  first[threadIdx.x] = second[threadIdx.x] = threadIdx.x;
  __syncthreads();
  const int* lower = first < second ? first : second;
  out[threadIdx.x] = fourth(lower);  // gap: silent
}

int main() {
  int* out;
  cudaMalloc(&out, 64);
  strays<<<1, 4>>>(out);
  return cudaDeviceSynchronize() != cudaSuccess;
}
