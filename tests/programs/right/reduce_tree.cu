// A sum by a tree in shared memory, with three assignments of threads to additions; launched until one value is left.
#include <cstdio>
#include <utility>
#include <vector>

enum Kind { INTERLEAVED, STRIDED, SEQUENTIAL };

template <Kind KIND>
__global__ void reduce(const unsigned* in, unsigned* out, unsigned n) {
  extern __shared__ unsigned values[];
  const unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  values[t] = i < n ? in[i] : 0;
  __syncthreads();
  if (KIND == SEQUENTIAL) {
    for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
      if (t < s) values[t] += values[t + s];
      __syncthreads();
    }
  } else {
    for (unsigned s = 1; s < blockDim.x; s *= 2) {
      if (KIND == INTERLEAVED) {
        if (t % (2 * s) == 0) values[t] += values[t + s];
      } else {
        const unsigned at = 2 * s * t;
        if (at < blockDim.x) values[at] += values[at + s];
      }
      __syncthreads();
    }
  }
  if (t == 0) out[blockIdx.x] = values[0];
}

template <Kind KIND>
unsigned sum_of(const std::vector<unsigned>& values) {
  const unsigned threads = 128;
  unsigned n = values.size(), result = 0;
  unsigned *from, *to;
  cudaMalloc(&from, n * sizeof(unsigned));
  cudaMalloc(&to, (n + threads - 1) / threads * sizeof(unsigned));
  cudaMemcpy(from, values.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice);
  while (n > 1) {
    const unsigned blocks = (n + threads - 1) / threads;
    reduce<KIND><<<blocks, threads, threads * sizeof(unsigned)>>>(from, to, n);
    std::swap(from, to);
    n = blocks;
  }
  cudaMemcpy(&result, from, sizeof(unsigned), cudaMemcpyDeviceToHost);
  cudaFree(from);
  cudaFree(to);
  return result;
}

int main() {
  std::vector<unsigned> values(60000);
  unsigned expected = 0;
  for (unsigned i = 0; i < values.size(); ++i) expected += values[i] = i * 2654435761u >> 20;
  const unsigned sums[] = {sum_of<INTERLEAVED>(values), sum_of<STRIDED>(values), sum_of<SEQUENTIAL>(values)};
  bool right = true;
  for (unsigned sum : sums) {
    std::printf("sum %u, expected %u\n", sum, expected);
    right = right && sum == expected;
  }
  return right ? 0 : 1;
}
