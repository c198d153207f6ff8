// Breadth-first search, level by level: a frontier of vertices, and atomics to claim a vertex once.
#include <cstdio>
#include <queue>
#include <utility>
#include <vector>

struct Graph {  // edges of v: targets[offsets[v]] up to targets[offsets[v + 1] - 1]
  const int* offsets;
  const int* targets;
};

__global__ void expand(Graph graph, const int* frontier, int size, int* next, int* next_size, int* level, int depth) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= size) return;
  const int v = frontier[at];
  for (int e = graph.offsets[v]; e < graph.offsets[v + 1]; ++e) {
    const int w = graph.targets[e];
    if (atomicCAS(&level[w], -1, depth) == -1) next[atomicAdd(next_size, 1)] = w;
  }
}

template <typename T>
T* copy_of(const std::vector<T>& host) {
  T* device;
  cudaMalloc(&device, host.size() * sizeof(T));
  cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice);
  return device;
}

int main() {
  const int n = 5000;
  std::vector<int> offsets(1, 0), targets, level(n, -1), expected(n, -1);
  for (int v = 0; v < n; ++v) {
    for (int w : {(v + 1) % n, v * 3 % n, v / 2}) targets.push_back(w);
    offsets.push_back(static_cast<int>(targets.size()));
  }
  std::queue<int> queue({1});
  for (expected[1] = 0; !queue.empty(); queue.pop())
    for (int e = offsets[queue.front()]; e < offsets[queue.front() + 1]; ++e)
      if (expected[targets[e]] < 0) {
        expected[targets[e]] = expected[queue.front()] + 1;
        queue.push(targets[e]);
      }

  level[1] = 0;
  int *d_offsets = copy_of(offsets), *d_targets = copy_of(targets), *d_level = copy_of(level);
  int *d_frontier = copy_of(std::vector<int>(n, 1)), *d_next = copy_of(std::vector<int>(n, 0));
  int* d_size = copy_of(std::vector<int>(1, 0));
  int size = 1, depth = 0;
  while (size > 0) {
    cudaMemset(d_size, 0, sizeof(int));
    expand<<<(size + 127) / 128, 128>>>({d_offsets, d_targets}, d_frontier, size, d_next, d_size, d_level, ++depth);
    cudaMemcpy(&size, d_size, sizeof(int), cudaMemcpyDeviceToHost);
    std::swap(d_frontier, d_next);
  }
  cudaMemcpy(level.data(), d_level, n * sizeof(int), cudaMemcpyDeviceToHost);
  for (int* p : {d_offsets, d_targets, d_level, d_frontier, d_next, d_size}) cudaFree(p);
  std::printf("%d levels, level of the last vertex %d, %s\n", depth, level[n - 1],
              level == expected ? "right" : "wrong");
  return level != expected;
}
