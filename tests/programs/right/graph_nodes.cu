// A graph made node by node, with a graph in it; between launches a kernel's argument changes.
#include <cstdio>

#define TRY(call)                                                         \
  if (cudaError_t e = (call)) {                                           \
    std::fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorName(e)); \
    return 1;                                                             \
  }

__global__ void add(int* to, int n, int value) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] += value;
}

static int copies = 0;  // made so far

int main() {
  int n = 300, value = 5, *data, *host;
  TRY(cudaMalloc(&data, n * sizeof(int)));
  TRY(cudaMallocHost(&host, n * sizeof(int)));
  cudaGraph_t inner, graph;
  cudaGraphNode_t clear, first, second, three, sub, copy, call;
  TRY(cudaGraphCreate(&inner, 0));
  TRY(cudaGraphCreate(&graph, 0));

  void* arguments[] = {&data, &n, &value};
  cudaKernelNodeParams kernel = {};
  kernel.func = (void*)add;
  kernel.gridDim = dim3((n + 63) / 64);
  kernel.blockDim = dim3(64);
  kernel.kernelParams = arguments;
  cudaMemsetParams zeros = {};
  zeros.dst = data;
  zeros.elementSize = sizeof(int);
  zeros.width = n;
  zeros.height = 1;
  cudaHostNodeParams count = {[](void* number) { ++*(int*)number; }, &copies};

  TRY(cudaGraphAddMemsetNode(&clear, graph, nullptr, 0, &zeros));
  TRY(cudaGraphAddKernelNode(&first, graph, &clear, 1, &kernel));
  value = 7;
  TRY(cudaGraphAddKernelNode(&second, graph, &first, 1, &kernel));
  value = 3;
  TRY(cudaGraphAddKernelNode(&three, inner, nullptr, 0, &kernel));
  TRY(cudaGraphAddChildGraphNode(&sub, graph, &second, 1, inner));
  TRY(cudaGraphAddMemcpyNode1D(&copy, graph, &sub, 1, host, data, n * sizeof(int), cudaMemcpyDeviceToHost));
  TRY(cudaGraphAddHostNode(&call, graph, &copy, 1, &count));

  cudaGraphExec_t executable;
  cudaStream_t stream;
  TRY(cudaStreamCreate(&stream));
  TRY(cudaGraphInstantiate(&executable, graph, 0));
  TRY(cudaGraphLaunch(executable, stream));
  TRY(cudaStreamSynchronize(stream));
  std::printf("%d after %d\n", host[n - 1], copies);
  value = 100;
  TRY(cudaGraphExecKernelNodeSetParams(executable, first, &kernel));
  TRY(cudaGraphLaunch(executable, stream));
  TRY(cudaGraphLaunch(executable, stream));
  TRY(cudaStreamSynchronize(stream));
  std::printf("%d after %d\n", host[n - 1], copies);
  TRY(cudaGraphExecDestroy(executable));
  TRY(cudaGraphDestroy(graph));
  TRY(cudaGraphDestroy(inner));
  return cudaFree(data) || cudaFreeHost(host);
}
