// Connected components: each vertex takes the smallest label of its neighbours, from a worklist of vertices that changed.
// A volatile read saves atomics that would change nothing.
#include <cstdio>
#include <set>
#include <utility>
#include <vector>

struct Worklist {
  int* vertices;
  int* size;
};

__global__ void propagate(const int* begins, const int* neighbours, int* labels, Worklist now, Worklist next,
                          int* in_next, int round) {
  const int step = gridDim.x * blockDim.x, size = *now.size;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < size; i += step) {
    const int vertex = now.vertices[i];
    const int label = atomicAdd(&labels[vertex], 0);  // another thread may make it smaller meanwhile
    for (int edge = begins[vertex]; edge < begins[vertex + 1]; ++edge) {
      const int neighbour = neighbours[edge];
      if (*static_cast<volatile int*>(&labels[neighbour]) <= label) continue;
      if (atomicMin(&labels[neighbour], label) <= label) continue;
      if (atomicExch(&in_next[neighbour], round) != round) next.vertices[atomicAdd(next.size, 1)] = neighbour;
    }
  }
}

int* on_device(const std::vector<int>& values) {
  int* copy;
  cudaMalloc(&copy, values.size() * sizeof(int));
  cudaMemcpy(copy, values.data(), values.size() * sizeof(int), cudaMemcpyHostToDevice);
  return copy;
}

int main() {
  const int vertices = 700;
  std::vector<std::vector<int>> graph(vertices);
  for (int vertex = 0; vertex + 7 < vertices; ++vertex) {  // seven paths, of which some are joined
    graph[vertex].push_back(vertex + 7);
    graph[vertex + 7].push_back(vertex);
  }
  for (auto [one, other] : {std::pair(3, 400), std::pair(5, 13)}) {
    graph[one].push_back(other);
    graph[other].push_back(one);
  }
  std::vector<int> begins(1), neighbours, labels;
  for (int vertex = 0; vertex < vertices; ++vertex) {
    neighbours.insert(neighbours.end(), graph[vertex].begin(), graph[vertex].end());
    begins.push_back(static_cast<int>(neighbours.size()));
    labels.push_back(vertex);
  }
  int *d_begins = on_device(begins), *d_neighbours = on_device(neighbours), *d_labels = on_device(labels);
  int* in_next = on_device(std::vector<int>(vertices, -1));
  Worklist now = {on_device(labels), on_device({vertices})}, next = {on_device(labels), on_device({0})};
  for (int round = 0, left = vertices; left > 0; ++round) {
    cudaMemset(next.size, 0, sizeof(int));
    propagate<<<2, 128>>>(d_begins, d_neighbours, d_labels, now, next, in_next, round);
    std::swap(now, next);
    cudaMemcpy(&left, now.size, sizeof(int), cudaMemcpyDeviceToHost);
  }
  cudaMemcpy(labels.data(), d_labels, vertices * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%zu components, vertex 699 has label %d\n", std::set<int>(labels.begin(), labels.end()).size(),
              labels[vertices - 1]);
  for (int* memory : {d_begins, d_neighbours, d_labels, in_next, now.vertices, now.size, next.vertices, next.size}) {
    cudaFree(memory);
  }
  return cudaGetLastError() != cudaSuccess;
}
