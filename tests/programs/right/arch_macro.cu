// Code that asks by __CUDA_ARCH__ where it runs: in kernels, in functions of both sides, and in classes.
#include <cmath>
#include <cstdio>

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 600
__device__ double atomicAdd(double* to, double x) {
  return *to = -x;
}  // old devices have none
#endif

struct Place {
  int index;
  __host__ __device__ explicit Place(int base) : index(base) {
#ifdef __CUDA_ARCH__
    index += threadIdx.x;
#else
    index += 1000;
#endif
  }
};

template <class T>
__host__ __device__ T inverse_root(T x) {
#ifdef __CUDA_ARCH__
  return rsqrt(x);
#else
  return 1 / std::sqrt(x);
#endif
}

__global__ void fill(double* out, double* sum) {
#if __CUDA_ARCH__ >= 350
  const Place place(0);
  out[place.index] = inverse_root(0.25 * (place.index + 1) * (place.index + 1));
  atomicAdd(sum, 1.0);
#else
  std::printf("not for this device\n");
#endif
}

int main() {
  double *out, *sum, host[32], count = 0;
  cudaMalloc(&out, sizeof(host));
  cudaMalloc(&sum, sizeof(double));
  cudaMemset(sum, 0, sizeof(double));
  fill<<<1, 32>>>(out, sum);
  cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost);
  cudaMemcpy(&count, sum, sizeof(double), cudaMemcpyDeviceToHost);
  std::printf("%.3f %.3f %g %d\n", host[1], host[7], count, Place(1).index);
  double largest = 0;
  for (int i = 0; i < 32; ++i) largest = fmax(largest, fabs(host[i] - inverse_root(0.25 * (i + 1) * (i + 1))));
  std::printf("%s\n", largest < 1e-12 ? "the same on the host" : "something else on the host");
  return cudaFree(out) || cudaFree(sum);
}
