// A scan in one pass: a block publishes its sum, and adds up the sums before it (decoupled look-back).
// A ticket instead of blockIdx: a block waits only for blocks that have already begun.
#include <cstdio>
#include <vector>

constexpr int BLOCK = 128;
enum : int { NOTHING = 0, SUM = 1, PREFIX = 2 };

struct Progress {
  int state, sum, prefix;
};

__device__ unsigned next_ticket;

__global__ void scan(const int* in, int* out, Progress* progress, int n) {
  __shared__ int values[BLOCK];
  __shared__ int before, ticket;
  const int t = threadIdx.x;
  if (t == 0) ticket = atomicAdd(&next_ticket, 1);
  __syncthreads();
  const int i = ticket * BLOCK + t;
  values[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (int offset = 1; offset < BLOCK; offset *= 2) {
    const int other = t >= offset ? values[t - offset] : 0;
    __syncthreads();
    values[t] += other;
    __syncthreads();
  }
  if (t == 0) {
    const int sum = values[BLOCK - 1];
    int prefix = 0;
    if (ticket > 0) {
      progress[ticket].sum = sum;
      __threadfence();
      atomicExch(&progress[ticket].state, SUM);
      for (int at = ticket - 1; at >= 0; --at) {
        int state;
        do state = atomicAdd(&progress[at].state, 0);
        while (state == NOTHING);
        __threadfence();
        prefix += state == PREFIX ? progress[at].prefix : progress[at].sum;
        if (state == PREFIX) break;
      }
    }
    progress[ticket].prefix = prefix + sum;
    __threadfence();
    atomicExch(&progress[ticket].state, PREFIX);
    before = prefix;
  }
  __syncthreads();
  if (i < n) out[i] = values[t] + before;
}

int main() {
  const int n = 20000, blocks = (n + BLOCK - 1) / BLOCK;
  std::vector<int> values(n), result(n);
  for (int i = 0; i < n; ++i) values[i] = i * 7 % 19;
  int *d_in, *d_out;
  Progress* d_progress;
  cudaMalloc(&d_in, n * sizeof(int));
  cudaMalloc(&d_out, n * sizeof(int));
  cudaMalloc(&d_progress, blocks * sizeof(Progress));
  cudaMemset(d_progress, 0, blocks * sizeof(Progress));
  cudaMemcpy(d_in, values.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  scan<<<blocks, BLOCK>>>(d_in, d_out, d_progress, n);
  cudaMemcpy(result.data(), d_out, n * sizeof(int), cudaMemcpyDeviceToHost);
  int sum = 0, wrong = 0;
  for (int i = 0; i < n; ++i) wrong += result[i] != (sum += values[i]);
  std::printf("last %d, wrong %d\n", result[n - 1], wrong);
  cudaFree(d_in);
  cudaFree(d_out);
  cudaFree(d_progress);
  return wrong != 0;
}
