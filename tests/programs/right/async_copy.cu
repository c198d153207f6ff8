// memcpy_async with two buffers: while a tile is summed, the next one is in flight.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>

#include <cstdio>
#include <vector>

namespace cg = cooperative_groups;
constexpr int TILE = 128;

__global__ void weighted_sum(const int* in, int tiles, int* out) {
  __shared__ alignas(16) int buffers[2][TILE];
  const cg::thread_block block = cg::this_thread_block();
  const int* const mine = in + blockIdx.x * tiles * TILE;
  int sum = 0;
  cg::memcpy_async(block, buffers[0], mine, sizeof(int) * TILE);
  for (int t = 0; t < tiles; ++t) {
    if (t + 1 < tiles) {
      cg::memcpy_async(block, buffers[(t + 1) % 2], mine + (t + 1) * TILE, sizeof(int) * TILE);
      cg::wait_prior<1>(block);  // all but the newest copy have arrived
    } else {
      cg::wait(block);
    }
    // Each thread reads what another one may have copied.
    sum += (t + 1) * buffers[t % 2][TILE - 1 - block.thread_rank()];
    block.sync();  // the buffer is free for the copy after next
  }
  atomicAdd(&out[blockIdx.x], sum);
}

int main() {
  const int blocks = 10, tiles = 9, n = blocks * tiles * TILE;
  std::vector<int> in(n), out(blocks), expected(blocks, 0);
  for (int i = 0; i < n; ++i) {
    in[i] = i % 101;
    expected[i / (tiles * TILE)] += (i / TILE % tiles + 1) * in[i];
  }
  int *d_in, *d_out;
  cudaMalloc(&d_in, n * sizeof(int));
  cudaMalloc(&d_out, blocks * sizeof(int));
  cudaMemcpy(d_in, in.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemset(d_out, 0, blocks * sizeof(int));
  weighted_sum<<<blocks, TILE>>>(d_in, tiles, d_out);
  cudaMemcpy(out.data(), d_out, blocks * sizeof(int), cudaMemcpyDeviceToHost);
  for (int b = 0; b < blocks; ++b) std::printf("%d%c", out[b], b + 1 < blocks ? ' ' : '\n');
  cudaFree(d_in);
  cudaFree(d_out);
  return out != expected;
}
