// Each vertex of a graph takes its last neighbour's weight. The first vertex has no neighbour.
#include <cstdio>
#include <vector>

__global__ void last_weights(const int* begins, const int* neighbours, const int* weights, int* out, int vertices) {
  const int vertex = blockIdx.x * blockDim.x + threadIdx.x;
  if (vertex < vertices) {
    const int end = begins[vertex + 1];
    out[vertex] = weights[neighbours[end - 1]];  // defect: out of bounds
  }
}

int* on_device(const std::vector<int>& values) {
  int* copy;
  cudaMalloc(&copy, values.size() * sizeof(int));
  cudaMemcpy(copy, values.data(), values.size() * sizeof(int), cudaMemcpyHostToDevice);
  return copy;
}

int main() {
  const int vertices = 500;
  std::vector<int> begins(vertices + 1), neighbours, weights(vertices);
  for (int vertex = 0; vertex < vertices; ++vertex) {
    weights[vertex] = vertex * 3 % 100;
    for (int k = 0; k < vertex % 4; ++k) neighbours.push_back((vertex + 10 * k + 1) % vertices);
    begins[vertex + 1] = static_cast<int>(neighbours.size());
  }
  int *d_begins = on_device(begins), *d_neighbours = on_device(neighbours), *d_weights = on_device(weights), *out;
  cudaMalloc(&out, vertices * sizeof(int));
  last_weights<<<(vertices + 127) / 128, 128>>>(d_begins, d_neighbours, d_weights, out, vertices);
  cudaMemcpy(weights.data(), out, vertices * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", weights[vertices - 1]);
  for (int* memory : {d_begins, d_neighbours, d_weights, out}) cudaFree(memory);
}
