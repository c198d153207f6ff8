// A table that fits nowhere: cudaMalloc fails, and the program goes on with a null pointer.
#include <cstdio>

__global__ void make_table(unsigned long long* table, size_t n) {
  const size_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (table != nullptr && i < n) table[i] = i * i;
}

int main() {
  const size_t n = size_t(1) << 45;
  unsigned long long* table = nullptr;
  cudaMalloc(&table, n * sizeof(*table));  // defect: error that nobody asked for
  make_table<<<16, 256>>>(table, n);
  cudaDeviceSynchronize();
  std::printf("done\n");
  cudaFree(table);
}
