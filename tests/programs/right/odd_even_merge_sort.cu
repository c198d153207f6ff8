// Batcher's odd-even merge sort, one launch per step of the network.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <vector>

template <typename T, typename Less>
__global__ void step(T* data, int n, int size, int stride, Less less) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + stride >= n) return;
  const int first = stride == size ? 0 : stride;  // of a merge, the first step pairs the halves; the others skip some
  if (i < first || ((i - first) / stride) % 2 != 0) return;
  if (i / (2 * size) != (i + stride) / (2 * size)) return;  // not across two merges
  if (stride != size && (i % (2 * size)) < stride) return;
  if (less(data[i + stride], data[i])) {
    const T kept = data[i];
    data[i] = data[i + stride];
    data[i + stride] = kept;
  }
}

struct Descending {
  __host__ __device__ bool operator()(float a, float b) const { return a > b; }
};

int main() {
  const int n = 4096;
  std::vector<float> values(n), sorted(n);
  for (int i = 0; i < n; ++i) values[i] = static_cast<float>((i * 3571) % 4099);
  float* d_data;
  cudaMalloc(&d_data, n * sizeof(float));
  cudaMemcpy(d_data, values.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  int launches = 0;
  for (int size = 1; size < n; size *= 2)
    for (int stride = size; stride > 0; stride /= 2) {
      step<<<n / 128, 128>>>(d_data, n, size, stride, Descending());
      ++launches;
    }
  cudaMemcpy(sorted.data(), d_data, n * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(d_data);
  std::sort(values.begin(), values.end(), std::greater<float>());
  std::printf("%d launches, %s, largest %.0f\n", launches, sorted == values ? "sorted" : "wrong", sorted[0]);
  return sorted != values;
}
