// y = A x for a sparse matrix by rows (CSR): one thread per row, and one warp per row.
#include <cstdio>
#include <vector>

__global__ void scalar(int rows, const int* start, const int* column, const int* value, const int* x, int* y) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    int sum = 0;
    for (int i = start[row]; i < start[row + 1]; ++i) sum += value[i] * x[column[i]];
    y[row] = sum;
  }
}

__global__ void vector(int rows, const int* start, const int* column, const int* value, const int* x, int* y) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
  if (row >= rows) return;  // the warp as a whole
  int sum = 0;
  for (int i = start[row] + lane; i < start[row + 1]; i += 32) sum += __ldg(&value[i]) * __ldg(&x[column[i]]);
  for (int offset = 16; offset > 0; offset >>= 1) sum += __shfl_down_sync(~0u, sum, offset);
  if (lane == 0) y[row] = sum;
}

int main() {
  const int rows = 1000;
  std::vector<int> start{0}, column, value, x(rows), expected(rows), y(rows);
  for (int row = 0; row < rows; ++row) {
    x[row] = row % 12 - 4;
    for (int i = 0; i < row % 80; ++i) {
      column.push_back((row * 31 + i * 17) % rows);
      value.push_back(1 + i % 6);
    }
    start.push_back(column.size());
  }
  for (int row = 0; row < rows; ++row)
    for (int i = start[row]; i < start[row + 1]; ++i) expected[row] += value[i] * x[column[i]];

  const std::vector<int>* host[] = {&start, &column, &value, &x, &y};
  int* device[5];
  for (int i = 0; i < 5; ++i) {
    cudaMalloc(&device[i], host[i]->size() * sizeof(int));
    cudaMemcpy(device[i], host[i]->data(), host[i]->size() * sizeof(int), cudaMemcpyHostToDevice);
  }
  auto [d_start, d_column, d_value, d_x, d_y] = device;
  int wrong = 0;
  for (int warps = 0; warps < 2; ++warps) {
    cudaMemset(d_y, 0, rows * sizeof(int));
    if (warps)
      vector<<<(rows * 32 + 127) / 128, 128>>>(rows, d_start, d_column, d_value, d_x, d_y);
    else
      scalar<<<(rows + 127) / 128, 128>>>(rows, d_start, d_column, d_value, d_x, d_y);
    cudaMemcpy(y.data(), d_y, rows * sizeof(int), cudaMemcpyDeviceToHost);
    wrong += y != expected;
    std::printf("%s: y[999] = %d, %s\n", warps ? "vector" : "scalar", y[999], y == expected ? "right" : "wrong");
  }
  for (int* p : device) cudaFree(p);
  return wrong;
}
