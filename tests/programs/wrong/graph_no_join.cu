// Two streams record a graph. The last kernel reads what both have made, but waits for the second one too late.
#include <cstdio>

__global__ void set(int* to, int n, int value) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = value;  // also here
}

__global__ void sum(const int* a, const int* b, int* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];  // defect: data race between streams
}

int main() {
  const int n = 1000;
  int *a, *b, *c, host[n];
  cudaMalloc(&a, n * sizeof(int));
  cudaMalloc(&b, n * sizeof(int));
  cudaMalloc(&c, n * sizeof(int));
  cudaMemset(b, 0, n * sizeof(int));
  cudaStream_t one, two;
  cudaEvent_t fork, join;
  cudaStreamCreate(&one);
  cudaStreamCreate(&two);
  cudaEventCreate(&fork);
  cudaEventCreate(&join);
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal);
  cudaEventRecord(fork, one);
  cudaStreamWaitEvent(two, fork, 0);
  set<<<8, 128, 0, one>>>(a, n, 1);
  set<<<8, 128, 0, two>>>(b, n, 2);
  cudaEventRecord(join, two);
  sum<<<8, 128, 0, one>>>(a, b, c, n);
  cudaStreamWaitEvent(one, join, 0);
  cudaStreamEndCapture(one, &graph);
  cudaGraphInstantiate(&executable, graph, 0);
  cudaGraphLaunch(executable, one);
  cudaDeviceSynchronize();
  cudaMemcpy(host, c, n * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", host[n - 1]);
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
  return cudaFree(a) || cudaFree(b) || cudaFree(c);
}
