// What the host does wrong, one case each: the argument names it. A line that a report must name ends with "// NAME";
// words that it must have are in test_runtime.py. The cases that begin with "right" are right.
#include <cstdio>
#include <cstdlib>
#include <string>

constexpr int n = 1024, bytes = n * sizeof(int), threads = 256, blocks = n / threads;

__device__ int variable;
__constant__ int constant;
__managed__ int total;

__global__ void twice(int* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] *= 2;
}
__global__ void add(const int* from, int* to) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] += from[i];
}
__global__ void count(int* x) {
  if (threadIdx.x == 0 && blockIdx.x == 0) x[0] = 1;
}
__global__ void count_all() {
  atomicAdd(&total, 1);
}
__global__ void beyond(int* x) {
  x[n + threadIdx.x] = 1;  // broken
}
__global__ void nested(int* x) {
  twice<<<1, 1>>>(x);  // nested
}

void show(const int* x) {
  std::printf("%d\n", x[1]);
}

// From the host's memory and back, both pageable.
cudaGraphExec_t twice_as_graph(int* device, const int* from, int* to, cudaStream_t stream) {
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  cudaMemcpyAsync(device, from, bytes, cudaMemcpyHostToDevice, stream);  // graph_written
  twice<<<blocks, threads, 0, stream>>>(device);
  cudaMemcpyAsync(to, device, bytes, cudaMemcpyDeviceToHost, stream);  // graph_read
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&executable, graph);
  cudaGraphDestroy(graph);
  return executable;
}

int main(int, char** arguments) {
  const std::string is = arguments[1];
  int *device, *other, *pinned, *managed, *host = static_cast<int*>(std::malloc(2 * bytes));
  int* const result = static_cast<int*>(std::malloc(bytes));
  cudaMalloc(&device, bytes);
  cudaMalloc(&other, bytes);
  cudaMallocHost(&pinned, bytes);
  cudaMallocManaged(&managed, bytes);
  for (int i = 0; i < n; ++i) host[i] = pinned[i] = managed[i] = i;
  cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice);
  cudaMemset(other, 0, bytes);
  cudaStream_t one, two, free_one;
  cudaStreamCreate(&one);
  cudaStreamCreate(&two);
  cudaStreamCreateWithFlags(&free_one, cudaStreamNonBlocking);
  cudaEvent_t event;
  cudaEventCreate(&event);
  cudaDeviceSynchronize();

  if (is == "reads_device") {
    std::printf("%d\n", device[3]);  // reads_device
  } else if (is == "writes_device") {
    device[3] = 1;  // writes_device
  } else if (is == "reads_variable") {
    std::printf("%d\n", variable);  // reads_variable
  } else if (is == "reads_constant") {
    std::printf("%d\n", constant);  // reads_constant
  } else if (is == "direction") {
    cudaMemcpy(host, device, bytes, cudaMemcpyHostToDevice);  // direction
  } else if (is == "fills_host") {
    cudaMemset(host, 0, bytes);  // fills_host
  } else if (is == "too_long") {
    cudaMemcpy(host, device, bytes + 4, cudaMemcpyDeviceToHost);  // too_long
  } else if (is == "freed_copy") {
    cudaFree(device);                                         // freed_copy
    cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost);  // freed_copy
  } else if (is == "freed_read") {
    cudaFree(device);
    show(device);
  } else if (is == "double_free") {
    cudaFree(device);
    cudaFree(device);  // double_free
  } else if (is == "frees_host") {
    cudaFree(host);  // frees_host
  } else if (is == "frees_middle") {
    cudaFree(device + 1);  // frees_middle
  } else if (is == "frees_as_host") {
    cudaFreeHost(device);  // frees_as_host
  } else if (is == "frees_by_host") {
    std::free(managed);  // frees_by_host
  } else if (is == "copy_not_waited") {
    cudaMemcpyAsync(pinned, device, bytes, cudaMemcpyDeviceToHost, one);  // copy_not_waited
    std::printf("%d\n", pinned[7]);                                       // copy_not_waited
  } else if (is == "copy_overwritten") {
    cudaMemcpyAsync(device, pinned, bytes, cudaMemcpyHostToDevice, one);  // copy_overwritten
    pinned[7] = 0;                                                        // copy_overwritten
  } else if (is == "managed_not_waited") {
    twice<<<blocks, threads>>>(managed);
    std::printf("%d\n", managed[7]);  // managed_not_waited
  } else if (is == "variable_not_waited") {
    count_all<<<blocks, threads>>>();
    std::printf("%d\n", total);  // variable_not_waited
  } else if (is == "other_event") {
    twice<<<blocks, threads, 0, one>>>(managed);
    cudaStreamSynchronize(two);
    std::printf("%d\n", managed[7]);  // other_event
  } else if (is == "streams") {
    twice<<<blocks, threads, 0, one>>>(device);       // streams
    add<<<blocks, threads, 0, two>>>(device, other);  // streams
  } else if (is == "event_of_before") {
    cudaEventRecord(event, one);
    twice<<<blocks, threads, 0, one>>>(device);  // event_of_before
    cudaStreamWaitEvent(two, event);
    add<<<blocks, threads, 0, two>>>(device, other);  // event_of_before
  } else if (is == "non_blocking") {
    twice<<<blocks, threads, 0, free_one>>>(device);          // non_blocking
    cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost);  // non_blocking
  } else if (is == "launch_unasked") {
    twice<<<1, 2 * n>>>(device);  // launch_unasked
  } else if (is == "call_unasked") {
    int* large = nullptr;
    cudaMalloc(&large, std::size_t{1} << 45);  // call_unasked
  } else if (is == "broken") {
    beyond<<<1, 32>>>(device);
    std::printf("%s", cudaGetErrorName(cudaDeviceSynchronize()));
    std::printf(" %s\n", cudaGetErrorName(cudaMalloc(&device, 4)));
  } else if (is == "nested") {
    nested<<<1, 1>>>(device);
  } else if (is == "graph_written") {
    cudaGraphLaunch(twice_as_graph(device, host, result, one), one);
    host[1] = 77;  // graph_written
    cudaStreamSynchronize(one);
  } else if (is == "graph_read") {
    cudaGraphLaunch(twice_as_graph(device, host, result, one), one);
    show(result);  // waited for below
    cudaStreamSynchronize(one);
  } else if (is == "graph_copied") {
    cudaGraphLaunch(twice_as_graph(device, host, result, two), two);
    cudaMemcpyAsync(other, result, bytes, cudaMemcpyHostToDevice, one);  // graph_copied
    cudaDeviceSynchronize();
  } else if (is == "graph_side_by_side") {
    cudaGraph_t graph;
    cudaGraphNode_t in, out;
    cudaGraphExec_t executable;
    cudaGraphCreate(&graph, 0);
    constexpr cudaMemcpyKind there = cudaMemcpyHostToDevice, back = cudaMemcpyDeviceToHost;
    cudaGraphAddMemcpyNode1D(&in, graph, nullptr, 0, other, host, bytes, there);   // graph_side_by_side
    cudaGraphAddMemcpyNode1D(&out, graph, nullptr, 0, host, device, bytes, back);  // graph_side_by_side
    cudaGraphInstantiate(&executable, graph);
    cudaGraphLaunch(executable, one);
    cudaStreamSynchronize(one);
  } else if (is == "right_waits") {
    cudaMemcpyAsync(pinned, device, bytes, cudaMemcpyDeviceToHost, one);
    cudaEventRecord(event, one);
    while (cudaEventQuery(event) == cudaErrorNotReady) ++host[0];
    show(pinned);
    twice<<<blocks, threads, 0, one>>>(managed);
    cudaStreamSynchronize(one);
    show(managed);
    count_all<<<blocks, threads>>>();
    cudaDeviceSynchronize();
    std::printf("%d\n", total);
  } else if (is == "right_streams") {
    twice<<<blocks, threads, 0, one>>>(device);
    cudaEventRecord(event, one);
    cudaStreamWaitEvent(two, event);
    add<<<blocks, threads, 0, two>>>(device, other);
    twice<<<blocks, threads>>>(other);  // the default stream waits for both
    add<<<blocks, threads, 0, one>>>(other, device);
    cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost);
    show(host);
  } else if (is == "right_halves") {
    for (int half = 0; half < 2; ++half) {
      const cudaStream_t stream = half ? one : two;
      int* const to = device + half * n / 2;
      cudaMemcpyAsync(to, pinned + half * n / 2, bytes / 2, cudaMemcpyHostToDevice, stream);
      twice<<<blocks / 2, threads, 0, stream>>>(to);
      cudaMemcpyAsync(pinned + half * n / 2, to, bytes / 2, cudaMemcpyDeviceToHost, stream);
    }
    cudaDeviceSynchronize();
    show(pinned);
  } else if (is == "right_pageable") {
    cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, one);
    host[1] = 77;  // it has been staged
    cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, one);
    show(host);
  } else if (is == "right_graph") {
    const cudaGraphExec_t executable = twice_as_graph(device, host, result, one);
    for (int i = 0; i < 2; ++i) {
      host[1] = 5 + i;  // after the capture: it is read when the graph runs
      cudaGraphLaunch(executable, one);
      host[n] = 77;  // just behind
      std::printf("%d ", host[1]);
      cudaStreamSynchronize(one);
      show(result);
    }
  } else if (is == "right_graph_copied") {
    cudaGraphLaunch(twice_as_graph(device, host, result, one), one);
    cudaMemcpyAsync(other, result, bytes, cudaMemcpyHostToDevice, one);  // behind the graph, and so is what it stages
    cudaMemcpy(host, other, bytes, cudaMemcpyDeviceToHost);
    show(host);
  } else if (is == "right_graph_left") {
    int gone[n] = {};
    cudaGraphLaunch(twice_as_graph(device, host, gone, one), one);
    return 0;  // it runs to its end, but not what it would bring to the stack
  } else if (is == "right_graph_callback") {
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal);
    cudaLaunchHostFunc(
        one, [](void* x) { static_cast<int*>(x)[1] = 8; }, host);
    cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, one);
    cudaMemcpy2DAsync(result, 8, device, 8, 4, n / 2, cudaMemcpyDeviceToHost, one);  // the words with even numbers
    cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, one);
    cudaLaunchHostFunc(
        one, [](void* x) { static_cast<int*>(x)[1] += 1; }, host);
    cudaStreamEndCapture(one, &graph);
    cudaGraphInstantiate(&executable, graph);
    cudaGraphLaunch(executable, one);
    result[1] = 3;
    cudaEventRecord(event, one);
    cudaEventSynchronize(event);
    std::printf("%d ", result[1]);
    show(host);
  } else if (is == "right_other_half") {
    count<<<1, 32>>>(managed);
    show(managed);  // a word that the kernel does not use
    cudaDeviceSynchronize();
  } else if (is == "right_callback") {
    cudaMemcpyAsync(pinned, device, bytes, cudaMemcpyDeviceToHost, one);
    cudaLaunchHostFunc(
        one, [](void* x) { static_cast<int*>(x)[1] += 5; }, pinned);
    cudaMemcpyAsync(device, pinned, bytes, cudaMemcpyHostToDevice, one);
    cudaStreamSynchronize(one);
    show(pinned);
  } else if (is == "right_asked") {
    twice<<<1, 2 * n>>>(device);
    std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  } else if (is == "right_status") {
    twice<<<1, 2 * n>>>(device);
    return cudaDeviceSynchronize() == cudaSuccess ? 7 : 8;
  } else if (is == "right_end") {
    twice<<<blocks, threads>>>(device);  // nobody waits, and nobody looks
  } else {
    return 99;
  }
}
