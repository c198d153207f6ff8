// A linked list in managed memory, made by the host, changed by the GPU, read by the host.
#include <cstdio>
#include <new>

class Managed {
 public:
  void* operator new(size_t bytes) {
    void* memory = nullptr;
    if (cudaMallocManaged(&memory, bytes) != cudaSuccess) throw std::bad_alloc();
    cudaDeviceSynchronize();
    return memory;
  }
  void operator delete(void* memory) {
    cudaDeviceSynchronize();
    cudaFree(memory);
  }
};

struct Node : Managed {
  int value;
  Node* next;
  Node(int v, Node* n) : value(v), next(n) {}
};

__managed__ int visited = 0;

__global__ void double_odd_positions(Node* list) {  // two threads share the work by position
  int position = 0;
  for (Node* node = list; node != nullptr; node = node->next, ++position)
    if (position % 2 == threadIdx.x) {
      if (position % 2 == 1) node->value *= 2;
      atomicAdd(&visited, 1);
    }
}

int main() {
  Node* list = nullptr;
  for (int i = 99; i >= 0; --i) list = new Node(i, list);
  double_odd_positions<<<1, 2>>>(list);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  int sum = 0;
  while (list) {
    Node* const next = list->next;
    sum += list->value;
    delete list;
    list = next;
  }
  std::printf("%d nodes visited, sum %d\n", visited, sum);
  return sum != 4950 + 2500;
}
