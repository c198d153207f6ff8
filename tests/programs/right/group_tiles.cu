// Cooperative groups: rows of 16 elements summed by tiles of 16 threads, with reduce() and with shuffles.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <cstdio>
#include <vector>

namespace cg = cooperative_groups;
constexpr int WIDTH = 16;

template <typename Tile>
__device__ int sum_by_shuffles(const Tile& tile, int value) {
  for (int offset = tile.size() / 2; offset > 0; offset /= 2) value += tile.shfl_down(value, offset);
  return tile.shfl(value, 0);
}

__global__ void row_sums(const int* matrix, int rows, int* sums, int* maxima, int* positive) {
  const cg::thread_block block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<WIDTH>(block);
  const int row = blockIdx.x * (block.size() / WIDTH) + tile.meta_group_rank();
  const int value = row < rows ? matrix[row * WIDTH + tile.thread_rank()] : 0;
  const int sum = cg::reduce(tile, value, cg::plus<int>());
  const int largest = cg::reduce(tile, value, cg::greater<int>());
  const bool agree = tile.all(sum_by_shuffles(tile, value) == sum);
  if (row < rows && tile.thread_rank() == 0) {
    sums[row] = agree ? sum : -1;
    maxima[row] = largest;
  }
  if (row < rows && value > 0) {  // those that got here count themselves by one atomic
    const cg::coalesced_group active = cg::coalesced_threads();
    if (active.thread_rank() == 0) atomicAdd(positive, active.size());
  }
}

int main() {
  const int rows = 301;
  std::vector<int> matrix(rows * WIDTH), sums(rows), maxima(rows);
  for (int i = 0; i < rows * WIDTH; ++i) matrix[i] = i * 13 % 29 - 9;
  int *d_matrix, *d_sums, *d_maxima, *d_positive, positive = 0, expected_positive = 0, wrong = 0;
  cudaMalloc(&d_matrix, matrix.size() * sizeof(int));
  cudaMalloc(&d_sums, rows * sizeof(int));
  cudaMalloc(&d_maxima, rows * sizeof(int));
  cudaMalloc(&d_positive, sizeof(int));
  cudaMemset(d_positive, 0, sizeof(int));
  cudaMemcpy(d_matrix, matrix.data(), matrix.size() * sizeof(int), cudaMemcpyHostToDevice);
  row_sums<<<(rows + 7) / 8, 8 * WIDTH>>>(d_matrix, rows, d_sums, d_maxima, d_positive);
  cudaMemcpy(sums.data(), d_sums, rows * sizeof(int), cudaMemcpyDeviceToHost);
  cudaMemcpy(maxima.data(), d_maxima, rows * sizeof(int), cudaMemcpyDeviceToHost);
  cudaMemcpy(&positive, d_positive, sizeof(int), cudaMemcpyDeviceToHost);
  for (int row = 0; row < rows; ++row) {
    int sum = 0, largest = -100;
    for (int i = row * WIDTH; i < (row + 1) * WIDTH; ++i) {
      sum += matrix[i];
      largest = matrix[i] > largest ? matrix[i] : largest;
      expected_positive += matrix[i] > 0;
    }
    wrong += sum != sums[row] || largest != maxima[row];
  }
  std::printf("wrong %d, positive %d (%d)\n", wrong, positive, expected_positive);
  for (int* p : {d_matrix, d_sums, d_maxima, d_positive}) cudaFree(p);
  return wrong || positive != expected_positive;
}
