// From one array of a thread into another. If a function that is not inlined leaves an array that it was given, this is
// found at the array's end. If another array of the same function is there, it is not.
struct Two {
  int first[4], second[4];
};
__device__ __noinline__ void fill(int* to, int n) {
  for (int i = 0; i < n; ++i) to[i] = i;  // gap: silent
}

__global__ void overruns(int* out) {
  Two own;
  fill(own.second, 4);
  fill(own.first, 5);
  out[threadIdx.x] = own.second[threadIdx.x % 4];
}

int main() {
  int* out;
  cudaMalloc(&out, 64);
  overruns<<<1, 4>>>(out);
  return cudaDeviceSynchronize() != cudaSuccess;
}
