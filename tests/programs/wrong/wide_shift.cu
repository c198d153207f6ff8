// Numbers of any count of bits are put one behind another into words. Where one begins with a word, nothing is left for
// the next word, and the shift is by 32: a GPU makes that 0, but C++ says nothing, and a CPU leaves the number as it is.
#include <cstdio>

constexpr int BITS = 12;

__global__ void pack(const unsigned* numbers, int n, unsigned* words) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned at = i * BITS, begin = at % 32, number = numbers[i] << (32 - BITS);
  atomicOr(&words[at / 32], number >> begin);
  atomicOr(&words[at / 32 + 1], number << (32 - begin));  // warning: shift by all bits of a number or more
}

int main() {
  const int n = 100, size = n * BITS / 32 + 2;
  unsigned host[size], *numbers, *words;
  for (int i = 0; i < size; ++i) host[i] = i * 37 % 4096;
  cudaMalloc(&numbers, n * sizeof(unsigned));
  cudaMalloc(&words, size * sizeof(unsigned));
  cudaMemset(numbers, 0, n * sizeof(unsigned));
  cudaMemset(words, 0, size * sizeof(unsigned));
  cudaMemcpy(numbers, host, size * sizeof(unsigned), cudaMemcpyHostToDevice);
  pack<<<1, 128>>>(numbers, n, words);
  cudaMemcpy(host, words, size * sizeof(unsigned), cudaMemcpyDeviceToHost);
  std::printf("%08x %08x\n", host[0], host[1]);
  cudaFree(numbers);
  cudaFree(words);
}
