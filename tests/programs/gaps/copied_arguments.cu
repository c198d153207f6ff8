// Class arguments of some templates. An argument with a copy constructor is copied once per launch, as in CUDA. If
// template arguments of the kernel are deduced, or default arguments are left out, each thread copies it again.
__device__ int copies;
struct Counted {
  int value = 1;
  Counted() = default;
  __host__ __device__ Counted(const Counted& other) : value(other.value) {
#ifdef __CUDA_ARCH__
    atomicAdd(&copies, 1);
#endif
  }
};
template <class T>
__global__ void takes(T argument, int* out) {
  out[threadIdx.x] = argument.value;
}

int main() {
  int *out, host = 0;
  cudaMalloc(&out, 32 * sizeof(int));
  takes<<<1, 32>>>(Counted(), out);
  cudaMemcpyFromSymbol(&host, copies, sizeof(int));
  return host != 0;  // gap: exit status 1
}
