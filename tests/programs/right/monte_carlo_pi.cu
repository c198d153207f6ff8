// Pi by Monte Carlo: each thread has a random number generator of its own (a linear congruential one).
#include <cstdint>
#include <cstdio>

class Generator {
 public:
  __host__ __device__ explicit Generator(uint64_t seed) : state_(seed * 6364136223846793005ull + 1) { next(); }
  __host__ __device__ uint32_t next() {
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<uint32_t>(state_ >> 33);  // 31 bits
  }

 private:
  uint64_t state_;
};

__host__ __device__ unsigned hits_of(unsigned thread, int points) {
  Generator random(thread);
  unsigned hits = 0;
  for (int i = 0; i < points; ++i) {
    const uint64_t x = random.next() >> 1, y = random.next() >> 1;  // 30 bits
    hits += x * x + y * y < (1ull << 60);
  }
  return hits;
}

__global__ void count_hits(unsigned long long* total, int points) {
  const unsigned mine = hits_of(blockIdx.x * blockDim.x + threadIdx.x, points);
  __shared__ unsigned block_total;
  if (threadIdx.x == 0) block_total = 0;
  __syncthreads();
  atomicAdd(&block_total, mine);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(total, static_cast<unsigned long long>(block_total));
}

int main() {
  const int blocks = 20, threads = 128, points = 200;
  unsigned long long *d_total, total = 0, expected = 0;
  cudaMalloc(&d_total, sizeof total);
  cudaMemset(d_total, 0, sizeof total);
  count_hits<<<blocks, threads>>>(d_total, points);
  cudaMemcpy(&total, d_total, sizeof total, cudaMemcpyDeviceToHost);
  cudaFree(d_total);
  for (unsigned thread = 0; thread < blocks * threads; ++thread) expected += hits_of(thread, points);
  std::printf("%llu hits, expected %llu, pi is about %.2f\n", total, expected,
              4.0 * total / (blocks * threads * points));
  return total != expected;
}
