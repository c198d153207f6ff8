// The longest common subsequence by dynamic programming: one launch per anti-diagonal of the table.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

__global__ void diagonal(const char* a, const char* b, int* table, int rows, int cols, int d) {
  const int first = max(1, d - cols + 1);  // rows of this diagonal: i + j = d, 1 <= i < rows, 1 <= j < cols
  const int i = first + blockIdx.x * blockDim.x + threadIdx.x, j = d - i;
  if (i >= rows || j < 1) return;
  const int above = table[(i - 1) * cols + j], left = table[i * cols + j - 1];
  table[i * cols + j] = a[i - 1] == b[j - 1] ? table[(i - 1) * cols + j - 1] + 1 : max(above, left);
}

int main() {
  std::string a, b;
  for (int i = 0; i < 150; ++i) a += "ACGT"[i * i % 11 % 4];
  for (int i = 0; i < 130; ++i) b += "ACGT"[(i * 5 + i / 7) % 4];
  const int rows = static_cast<int>(a.size()) + 1, cols = static_cast<int>(b.size()) + 1;
  char *d_a, *d_b;
  int *d_table, length = 0;
  cudaMalloc(&d_a, a.size());
  cudaMalloc(&d_b, b.size());
  cudaMalloc(&d_table, rows * cols * sizeof(int));
  cudaMemcpy(d_a, a.data(), a.size(), cudaMemcpyHostToDevice);
  cudaMemcpy(d_b, b.data(), b.size(), cudaMemcpyHostToDevice);
  cudaMemset(d_table, 0, rows * cols * sizeof(int));
  for (int d = 2; d <= rows + cols - 2; ++d) {
    const int cells = std::min(rows - 1, d - 1) - std::max(1, d - cols + 1) + 1;
    diagonal<<<(cells + 63) / 64, 64>>>(d_a, d_b, d_table, rows, cols, d);
  }
  cudaMemcpy(&length, d_table + rows * cols - 1, sizeof(int), cudaMemcpyDeviceToHost);
  std::vector<int> row(cols, 0);
  for (int i = 1; i < rows; ++i) {
    int corner = 0;
    for (int j = 1; j < cols; ++j) {
      const int above = row[j];
      row[j] = a[i - 1] == b[j - 1] ? corner + 1 : std::max(above, row[j - 1]);
      corner = above;
    }
  }
  std::printf("length %d, expected %d\n", length, row.back());
  cudaFree(d_a);
  cudaFree(d_b);
  cudaFree(d_table);
  return length != row.back();
}
