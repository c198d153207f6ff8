// A graph that two streams record once, with a fork and a join, and that is launched many times.
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

__global__ void sum(const int* a, const int* b, int* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

int main() {
  const int n = 1000, block = 128, grid = (n + block - 1) / block;
  int *a, *b, *c, *host;
  TRY(cudaMalloc(&a, n * sizeof(int)));
  TRY(cudaMalloc(&b, n * sizeof(int)));
  TRY(cudaMalloc(&c, n * sizeof(int)));
  TRY(cudaMallocHost(&host, n * sizeof(int)));
  TRY(cudaMemset(a, 0, n * sizeof(int)));
  TRY(cudaMemset(b, 0, n * sizeof(int)));
  TRY(cudaDeviceSynchronize());
  cudaStream_t one, two;
  cudaEvent_t fork, join;
  TRY(cudaStreamCreate(&one));
  TRY(cudaStreamCreate(&two));
  TRY(cudaEventCreate(&fork));
  TRY(cudaEventCreate(&join));

  cudaGraph_t graph;
  cudaGraphExec_t executable;
  TRY(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
  TRY(cudaEventRecord(fork, one));
  TRY(cudaStreamWaitEvent(two, fork, 0));
  add<<<grid, block, 0, one>>>(a, n, 1);
  add<<<grid, block, 0, two>>>(b, n, 10);
  TRY(cudaEventRecord(join, two));
  TRY(cudaStreamWaitEvent(one, join, 0));
  sum<<<grid, block, 0, one>>>(a, b, c, n);
  TRY(cudaMemcpyAsync(host, c, n * sizeof(int), cudaMemcpyDeviceToHost, one));
  TRY(cudaStreamEndCapture(one, &graph));

  size_t nodes = 0;
  TRY(cudaGraphGetNodes(graph, nullptr, &nodes));
  TRY(cudaGraphInstantiate(&executable, graph, 0));
  for (int i = 0; i < 5; ++i) TRY(cudaGraphLaunch(executable, one));
  TRY(cudaStreamSynchronize(one));
  std::printf("%d nodes; %d and %d\n", (int)nodes, host[0], host[n - 1]);
  TRY(cudaGraphExecDestroy(executable));
  TRY(cudaGraphDestroy(graph));
  return cudaFree(a) || cudaFree(b) || cudaFree(c) || cudaFreeHost(host);
}
