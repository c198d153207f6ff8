// Threads copy records of 12 bytes, as bytes. Each copies two: the second one is its neighbour's, too.
#include <cstdio>
#include <cstring>
#include <vector>

struct Record {
  int key;
  float place[2];
};

__global__ void copy(const Record* in, Record* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + 1 < n) memcpy(&out[i], &in[i], 2 * sizeof(Record));  // defect: data race in global memory
}

int main() {
  const int n = 3000;
  std::vector<Record> records(n);
  for (int i = 0; i < n; ++i) records[i] = {i, {i * 0.5f, i * 0.25f}};
  Record *in, *out;
  cudaMalloc(&in, n * sizeof(Record));
  cudaMalloc(&out, n * sizeof(Record));
  cudaMemcpy(in, records.data(), n * sizeof(Record), cudaMemcpyHostToDevice);
  copy<<<(n + 127) / 128, 128>>>(in, out, n);
  cudaMemcpy(records.data(), out, n * sizeof(Record), cudaMemcpyDeviceToHost);
  std::printf("%d\n", records[n - 1].key);
  cudaFree(in);
  cudaFree(out);
}
