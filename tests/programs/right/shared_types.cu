// One dynamic shared array holds arrays of several types: the widest first, so that all are aligned.
#include <cstdio>
#include <vector>

__global__ void normalise(const short* in, double* means, unsigned char* above, int n) {
  extern __shared__ __align__(8) unsigned char memory[];
  double* const sums = reinterpret_cast<double*>(memory);
  int* const values = reinterpret_cast<int*>(sums + blockDim.x / 32);
  unsigned char* const flags = reinterpret_cast<unsigned char*>(values + blockDim.x);
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  values[t] = i < n ? in[i] : 0;
  __syncthreads();
  if (t < blockDim.x / 32) {
    double sum = 0;
    for (int j = 0; j < 32; ++j) sum += values[32 * t + j];
    sums[t] = sum;
  }
  __syncthreads();
  double mean = 0;
  for (int w = 0; w < blockDim.x / 32; ++w) mean += sums[w];
  mean /= blockDim.x;
  flags[t] = values[t] > mean;
  __syncthreads();
  if (t == 0) {
    int count = 0;
    for (int j = 0; j < blockDim.x; ++j) count += flags[j];
    means[blockIdx.x] = mean;
    above[blockIdx.x] = static_cast<unsigned char>(count);
  }
}

int main() {
  const int threads = 128, blocks = 12, n = threads * blocks;
  std::vector<short> in(n);
  for (int i = 0; i < n; ++i) in[i] = static_cast<short>(i * i % 257 - 64);
  short* d_in;
  double *d_means, means[blocks];
  unsigned char *d_above, above[blocks];
  cudaMalloc(&d_in, n * sizeof(short));
  cudaMalloc(&d_means, sizeof means);
  cudaMalloc(&d_above, sizeof above);
  cudaMemcpy(d_in, in.data(), n * sizeof(short), cudaMemcpyHostToDevice);
  const size_t bytes = threads / 32 * sizeof(double) + threads * sizeof(int) + threads;
  normalise<<<blocks, threads, bytes>>>(d_in, d_means, d_above, n);
  cudaMemcpy(means, d_means, sizeof means, cudaMemcpyDeviceToHost);
  cudaMemcpy(above, d_above, sizeof above, cudaMemcpyDeviceToHost);
  for (int b = 0; b < blocks; ++b) std::printf("mean %.3f, above %d\n", means[b], above[b]);
  cudaFree(d_in);
  cudaFree(d_means);
  cudaFree(d_above);
  return cudaGetLastError() != cudaSuccess;
}
