// The tile at the edge of the matrix is filled in part, but read as a whole.
#include <cstdio>
#include <vector>

const int TILE = 16;

__global__ void row_sums(const int* matrix, int rows, int cols, int* sums) {
  __shared__ int tile[TILE][TILE];
  const int row = blockIdx.x * TILE + threadIdx.y;
  int sum = 0;
  for (int first = 0; first < cols; first += TILE) {
    const int col = first + threadIdx.x;
    if (row < rows && col < cols) tile[threadIdx.y][threadIdx.x] = matrix[row * cols + col];
    __syncthreads();
    if (threadIdx.x == 0)
      for (int k = 0; k < TILE; ++k) sum += tile[threadIdx.y][k];  // defect: uninitialised shared memory
    __syncthreads();
  }
  if (threadIdx.x == 0 && row < rows) sums[row] = sum;
}

int main() {
  const int rows = 40, cols = 48;
  std::vector<int> matrix(rows * cols, 1), sums(rows);
  int *d_matrix, *d_sums;
  cudaMalloc(&d_matrix, matrix.size() * sizeof(int));
  cudaMalloc(&d_sums, rows * sizeof(int));
  cudaMemcpy(d_matrix, matrix.data(), matrix.size() * sizeof(int), cudaMemcpyHostToDevice);
  row_sums<<<(rows + TILE - 1) / TILE, dim3(TILE, TILE)>>>(d_matrix, rows, cols, d_sums);
  cudaMemcpy(sums.data(), d_sums, rows * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", sums[0]);
  cudaFree(d_matrix);
  cudaFree(d_sums);
}
