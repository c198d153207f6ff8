// A graph frees its memory when it is filled. The kernel that adds it comes after the same node, not before the free.
#include <cstdio>

__global__ void fill(int* to, int value) {
  to[threadIdx.x] = value;
}
__global__ void add(const int* from, int* to) {
  to[threadIdx.x] += from[threadIdx.x];  // defect: data race between streams
}

static cudaKernelNodeParams of(void* kernel, void** arguments) {
  cudaKernelNodeParams what = {};
  what.func = kernel;
  what.gridDim = dim3(1);
  what.blockDim = dim3(64);
  what.kernelParams = arguments;
  return what;
}

int main() {
  int value = 5, *sum, host[64];
  cudaMalloc(&sum, sizeof(host));
  cudaMemset(sum, 0, sizeof(host));
  cudaGraph_t graph;
  cudaGraphNode_t allocated, filled, added, freed;
  cudaGraphCreate(&graph, 0);
  cudaMemAllocNodeParams memory = {};
  memory.poolProps.allocType = cudaMemAllocationTypePinned;
  memory.poolProps.location.type = cudaMemLocationTypeDevice;
  memory.bytesize = sizeof(host);
  cudaGraphAddMemAllocNode(&allocated, graph, nullptr, 0, &memory);
  void *of_fill[] = {&memory.dptr, &value}, *of_add[] = {&memory.dptr, &sum};
  cudaKernelNodeParams kernel = of((void*)fill, of_fill);
  cudaGraphAddKernelNode(&filled, graph, &allocated, 1, &kernel);
  kernel = of((void*)add, of_add);
  cudaGraphAddKernelNode(&added, graph, &filled, 1, &kernel);
  cudaGraphAddMemFreeNode(&freed, graph, &filled, 1, memory.dptr);  // also here
  cudaGraphExec_t executable;
  cudaGraphInstantiate(&executable, graph, 0);
  cudaGraphLaunch(executable, 0);
  cudaMemcpy(host, sum, sizeof(host), cudaMemcpyDeviceToHost);
  std::printf("%d\n", host[63]);
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
  cudaFree(sum);
}
