// Copies and kernels that may overlap: chunks in several streams, pinned memory, and events that order and time them.
#include <cstdio>
#include <cstdlib>

#define TRY(call)                                                         \
  if (cudaError_t e = (call)) {                                           \
    std::fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorName(e)); \
    return 1;                                                             \
  }

__global__ void square(int* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= data[i];
}

__global__ void sum_all(const int* data, int n, unsigned long long* sum) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(sum, (unsigned long long)data[i]);
}

int main() {
  const int STREAMS = 4, CHUNK = 10000, N = STREAMS * CHUNK;
  int *host, *device;
  unsigned long long *d_sum, sum = 0, expected = 0;
  TRY(cudaMallocHost(&host, N * sizeof(int)));
  TRY(cudaMalloc(&device, N * sizeof(int)));
  TRY(cudaMalloc(&d_sum, sizeof(sum)));
  TRY(cudaMemset(d_sum, 0, sizeof(sum)));
  for (int i = 0; i < N; ++i) host[i] = i % 100;
  cudaStream_t streams[STREAMS], last;
  cudaEvent_t done[STREAMS], begin, end;
  TRY(cudaStreamCreateWithFlags(&last, cudaStreamNonBlocking));
  TRY(cudaEventCreate(&begin));
  TRY(cudaEventCreate(&end));
  TRY(cudaEventRecord(begin));
  for (int s = 0; s < STREAMS; ++s) {
    TRY(cudaStreamCreate(&streams[s]));
    TRY(cudaEventCreateWithFlags(&done[s], cudaEventDisableTiming));
    int* const chunk = device + s * CHUNK;
    TRY(cudaMemcpyAsync(chunk, host + s * CHUNK, CHUNK * sizeof(int), cudaMemcpyHostToDevice, streams[s]));
    square<<<(CHUNK + 255) / 256, 256, 0, streams[s]>>>(chunk, CHUNK);
    TRY(cudaMemcpyAsync(host + s * CHUNK, chunk, CHUNK * sizeof(int), cudaMemcpyDeviceToHost, streams[s]));
    TRY(cudaEventRecord(done[s], streams[s]));
    TRY(cudaStreamWaitEvent(last, done[s], 0));
  }
  sum_all<<<8, 128, 0, last>>>(device, N, d_sum);
  TRY(cudaStreamSynchronize(last));
  TRY(cudaEventRecord(end));
  TRY(cudaEventSynchronize(end));
  float milliseconds = -1;
  TRY(cudaEventElapsedTime(&milliseconds, begin, end));
  TRY(cudaMemcpy(&sum, d_sum, sizeof(sum), cudaMemcpyDeviceToHost));
  int wrong = 0;
  for (int i = 0; i < N; ++i) {
    const int value = i % 100;
    wrong += host[i] != value * value;
    expected += value * value;
  }
  std::printf("sum %llu, expected %llu, wrong %d, time %s\n", sum, expected, wrong,
              milliseconds > 0 ? "taken" : "none");
  for (int s = 0; s < STREAMS; ++s) {
    TRY(cudaStreamDestroy(streams[s]));
    TRY(cudaEventDestroy(done[s]));
  }
  TRY(cudaStreamDestroy(last));
  TRY(cudaEventDestroy(begin));
  TRY(cudaEventDestroy(end));
  TRY(cudaFree(device));
  TRY(cudaFree(d_sum));
  TRY(cudaFreeHost(host));
  return wrong || sum != expected;
}
