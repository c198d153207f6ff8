// The sieve of Eratosthenes on bits: a block marks the multiples within its own range, in shared memory.
#include <cstdio>
#include <vector>

constexpr int WORDS = 128, RANGE = 32 * WORDS;  // numbers per block

__global__ void sieve(const int* primes, int prime_count, int limit, unsigned long long* sum, int* count) {
  __shared__ unsigned composite[WORDS];
  for (int w = threadIdx.x; w < WORDS; w += blockDim.x) composite[w] = 0;
  __syncthreads();
  const int first = blockIdx.x * RANGE;
  for (int p = threadIdx.x; p < prime_count; p += blockDim.x) {
    const int prime = primes[p];
    int multiple = max(prime * prime, (first + prime - 1) / prime * prime);
    for (; multiple < first + RANGE; multiple += prime)
      atomicOr(&composite[(multiple - first) / 32], 1u << (multiple - first) % 32);
  }
  __syncthreads();
  for (int w = threadIdx.x; w < WORDS; w += blockDim.x)
    for (unsigned left = ~composite[w]; left != 0; left &= left - 1) {
      const int number = first + 32 * w + __ffs(left) - 1;
      if (number >= 2 && number <= limit) {
        atomicAdd(sum, static_cast<unsigned long long>(number));
        atomicAdd(count, 1);
      }
    }
}

int main() {
  const int limit = 50000;
  std::vector<int> primes;
  for (int i = 2; i * i <= limit; ++i) {
    bool prime = true;
    for (int p : primes) prime = prime && i % p != 0;
    if (prime) primes.push_back(i);
  }
  int *d_primes, *d_count, count = 0;
  unsigned long long *d_sum, sum = 0;
  cudaMalloc(&d_primes, primes.size() * sizeof(int));
  cudaMalloc(&d_count, sizeof count);
  cudaMalloc(&d_sum, sizeof sum);
  cudaMemcpy(d_primes, primes.data(), primes.size() * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemset(d_count, 0, sizeof count);
  cudaMemset(d_sum, 0, sizeof sum);
  sieve<<<limit / RANGE + 1, 64>>>(d_primes, primes.size(), limit, d_sum, d_count);
  cudaMemcpy(&count, d_count, sizeof count, cudaMemcpyDeviceToHost);
  cudaMemcpy(&sum, d_sum, sizeof sum, cudaMemcpyDeviceToHost);
  std::printf("%d primes up to %d, their sum is %llu\n", count, limit, sum);
  cudaFree(d_primes);
  cudaFree(d_count);
  cudaFree(d_sum);
  return count != 5133;
}
