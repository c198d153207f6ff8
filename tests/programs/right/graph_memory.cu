// Graphs that allocate their own memory, by nodes and by capture; an event that a node records makes another stream wait.
#include <cstdio>

#define TRY(call)                                                         \
  if (cudaError_t e = (call)) {                                           \
    std::fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorName(e)); \
    return 1;                                                             \
  }

__global__ void fill(int* to, int n, int value) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = value + i;
}
__global__ void add(const int* from, int* to, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] += from[i];
}

int main() {
  int n = 300, value = 5, *sum, *host;
  TRY(cudaMalloc(&sum, n * sizeof(int)));
  TRY(cudaMallocHost(&host, n * sizeof(int)));
  TRY(cudaMemset(sum, 0, n * sizeof(int)));
  TRY(cudaDeviceSynchronize());
  cudaStream_t stream, other;
  cudaEvent_t added;
  TRY(cudaStreamCreate(&stream));
  TRY(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  TRY(cudaEventCreateWithFlags(&added, cudaEventDisableTiming));

  cudaGraph_t graph;
  cudaGraphNode_t allocated, filled, summed, recorded, freed;
  TRY(cudaGraphCreate(&graph, 0));
  cudaMemAllocNodeParams memory = {};
  memory.poolProps.allocType = cudaMemAllocationTypePinned;
  memory.poolProps.location.type = cudaMemLocationTypeDevice;
  memory.bytesize = n * sizeof(int);
  TRY(cudaGraphAddMemAllocNode(&allocated, graph, nullptr, 0, &memory));
  int* own = (int*)memory.dptr;
  void *of_fill[] = {&own, &n, &value}, *of_add[] = {&own, &sum, &n};
  cudaKernelNodeParams kernel = {};
  kernel.func = (void*)fill;
  kernel.gridDim = dim3((n + 63) / 64);
  kernel.blockDim = dim3(64);
  kernel.kernelParams = of_fill;
  TRY(cudaGraphAddKernelNode(&filled, graph, &allocated, 1, &kernel));
  kernel.func = (void*)add;
  kernel.kernelParams = of_add;
  TRY(cudaGraphAddKernelNode(&summed, graph, &filled, 1, &kernel));
  TRY(cudaGraphAddEventRecordNode(&recorded, graph, &summed, 1, added));
  TRY(cudaGraphAddMemFreeNode(&freed, graph, &summed, 1, own));
  cudaGraphNodeType type;
  TRY(cudaGraphNodeGetType(allocated, &type));
  cudaGraphExec_t executable;
  TRY(cudaGraphInstantiate(&executable, graph, 0));
  for (int launch = 0; launch < 3; ++launch) TRY(cudaGraphLaunch(executable, stream));
  TRY(cudaStreamWaitEvent(other, added, 0));
  TRY(cudaMemcpyAsync(host, sum, n * sizeof(int), cudaMemcpyDeviceToHost, other));
  TRY(cudaStreamSynchronize(other));
  std::printf("%d, of nodes: %d %d\n", type == cudaGraphNodeTypeMemAlloc, host[0], host[n - 1]);
  TRY(cudaStreamSynchronize(stream));

  cudaGraph_t captured;
  cudaGraphExec_t again;
  int* kept;
  TRY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  TRY(cudaMallocAsync((void**)&own, n * sizeof(int), stream));
  TRY(cudaMallocAsync((void**)&kept, n * sizeof(int), stream));
  fill<<<(n + 63) / 64, 64, 0, stream>>>(own, n, 100);
  TRY(cudaMemcpyAsync(kept, own, n * sizeof(int), cudaMemcpyDeviceToDevice, stream));
  TRY(cudaFreeAsync(own, stream));
  TRY(cudaStreamEndCapture(stream, &captured));
  TRY(cudaGraphInstantiate(&again, captured, 0));
  TRY(cudaGraphLaunch(again, stream));
  TRY(cudaMemcpyAsync(host, kept, n * sizeof(int), cudaMemcpyDeviceToHost, stream));
  TRY(cudaStreamSynchronize(stream));
  std::printf("captured: %d, again: %s\n", host[1], cudaGetErrorName(cudaGraphLaunch(again, stream)));
  TRY(cudaFreeAsync(kept, stream));
  std::printf("after it was freed: %s\n", cudaGetErrorName(cudaGraphLaunch(again, stream)));
  TRY(cudaFreeAsync(kept, stream));
  TRY(cudaStreamSynchronize(stream));

  TRY(cudaGraphExecDestroy(executable));
  TRY(cudaGraphExecDestroy(again));
  TRY(cudaGraphDestroy(graph));
  TRY(cudaGraphDestroy(captured));
  TRY(cudaEventDestroy(added));
  return cudaFree(sum) || cudaFreeHost(host);
}
