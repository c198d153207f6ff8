// The functions of the CUDA runtime, called as CUDA's headers declare them: prints what they answer otherwise than CUDA
// documents it, and so nothing.
#include <cuda.h>
#include <cuda_profiler_api.h>
#include <math_constants.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

#define EXPECT(is) \
  if (!(is)) std::printf("line %d: %s\n", __LINE__, #is)
#define EXPECT_ERROR(error, call)              \
  do {                                         \
    EXPECT((call) == (error));                 \
    EXPECT(cudaPeekAtLastError() == (error));  \
    EXPECT(cudaGetLastError() == (error));     \
    EXPECT(cudaGetLastError() == cudaSuccess); \
  } while (0)
#define EXPECT_DONE(call) EXPECT((call) == cudaSuccess)

__constant__ float factors[4];
__device__ int counter = 3;
__device__ int* pointer;
__managed__ int shared_with_host = 5;

struct Pair {
  int first;
  double second;
};

__global__ void scale(float* x, int n, float factor = 2) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= factor * factors[1];
}
__global__ void many(char a, double b, int* out, short c, float d, unsigned e, long long f, float g, int h, int i,
                     int j, double k, bool l) {
  *out = static_cast<int>(a + b + c + d + e + f + g + h + i + j + k) + l;
}
__global__ void take(Pair pair, int* out) {
  *out = pair.first + static_cast<int>(pair.second);
}
// Copied once for each launch, by the host, which also destroys the copy.
struct Counted {
  static inline int copies = 0, destroyed = 0;
  int number, *out;
  Counted(int number, int* out) : number(number), out(out) {}
  Counted(const Counted& other) : number(other.number), out(other.out) { ++copies; }
  ~Counted() { ++destroyed; }
};
__global__ void take_class(double a, Counted counted, short b) {
  counted.number += threadIdx.x;  // its own
  if (threadIdx.x == 31) *counted.out = counted.number + static_cast<int>(a) + b;
}
struct View {
  int number, *out;
  View(int number, int* out) : number(number), out(out) {}
  View(const View& other) : number(other.number), out(other.out) {}
};
template <class T>
__global__ void take_with(View view, T add, int more = 1) {
  if (threadIdx.x == 31) *view.out = view.number + add + more;
}
__global__ void use_pointer() {
  *pointer += counter + shared_with_host;
}
__global__ void shared_memory(int* out) {
  __shared__ int tile[1024];
  tile[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = tile[threadIdx.x];
}

void errors() {
  EXPECT(!std::strcmp(cudaGetErrorName(cudaErrorIllegalAddress), "cudaErrorIllegalAddress"));
  EXPECT(!std::strcmp(cudaGetErrorString(cudaErrorIllegalAddress), "an illegal memory access was encountered"));
  EXPECT(!std::strcmp(cudaGetErrorString(static_cast<cudaError_t>(12345)), "unrecognized error code"));
  EXPECT(cudaErrorInvalidDevicePointer == 17 && cudaErrorLaunchOutOfResources == 701 && cudaErrorAssert == 710);
  float* x = nullptr;
  EXPECT_ERROR(cudaErrorMemoryAllocation, cudaMalloc(&x, std::size_t{1} << 50));
  EXPECT_ERROR(cudaErrorInvalidDevice, cudaSetDevice(1));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMallocManaged(&x, 0));
  EXPECT_ERROR(cudaErrorInvalidResourceHandle, cudaStreamSynchronize(reinterpret_cast<cudaStream_t>(&x)));
  EXPECT_ERROR(cudaErrorInvalidMemcpyDirection, cudaMemcpy(&x, &x, 1, static_cast<cudaMemcpyKind>(7)));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemcpyToSymbol(factors, &x, 8, 12));
  EXPECT_ERROR(cudaErrorInvalidSymbol, cudaMemcpyToSymbol(x, &x, 4));
  EXPECT_ERROR(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(&x));
  scale<<<1, 1025>>>(x, 0);
  EXPECT_ERROR(cudaErrorInvalidConfiguration, cudaPeekAtLastError());
  scale<<<0, 32>>>(x, 0);
  EXPECT_ERROR(cudaErrorInvalidConfiguration, cudaPeekAtLastError());
  scale<<<1, 32, 100 * 1024>>>(x, 0);
  EXPECT_ERROR(cudaErrorInvalidValue, cudaPeekAtLastError());
  EXPECT_DONE(cudaFuncSetAttribute(scale, cudaFuncAttributeMaxDynamicSharedMemorySize, 60 * 1024));
  scale<<<1, 32, 60 * 1024>>>(x, 0);
  EXPECT_DONE(cudaGetLastError());
}

void memory() {
  constexpr int rows = 3, columns = 5;
  constexpr std::size_t width = columns * sizeof(float);
  std::vector<float> from(rows * columns), to(rows * columns);
  for (int i = 0; i < rows * columns; ++i) from[i] = static_cast<float>(i);
  float* pitched = nullptr;
  std::size_t pitch = 0, free = 0, total = 0;
  EXPECT_DONE(cudaMallocPitch(&pitched, &pitch, width, rows));
  EXPECT(pitch >= width && pitch % 256 == 0);
  EXPECT_DONE(cudaMemcpy2D(pitched, pitch, from.data(), width, width, rows, cudaMemcpyHostToDevice));
  EXPECT_DONE(cudaMemset2D(pitched, pitch, 0, sizeof(float), rows));
  EXPECT_DONE(cudaMemcpy2D(to.data(), width, pitched, pitch, width, rows, cudaMemcpyDefault));
  EXPECT(to[0] == 0 && to[1] == 1 && to[columns] == 0 && to[rows * columns - 1] == rows * columns - 1);
  EXPECT_ERROR(cudaErrorInvalidPitchValue,
               cudaMemcpy2D(to.data(), width, pitched, width - 4, width, rows, cudaMemcpyDefault));
  EXPECT_DONE(cudaMemGetInfo(&free, &total));
  EXPECT(0 < free && free <= total);

  cudaPitchedPtr box{};
  EXPECT_DONE(cudaMalloc3D(&box, make_cudaExtent(width, rows, 2)));
  EXPECT_DONE(cudaMemset3D(box, 0, make_cudaExtent(width, rows, 2)));
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(from.data(), width, columns, rows);
  copy.dstPtr = box;
  copy.dstPos = make_cudaPos(0, 0, 1);
  copy.extent = make_cudaExtent(width, rows, 1);
  copy.kind = cudaMemcpyHostToDevice;
  EXPECT_DONE(cudaMemcpy3D(&copy));
  const auto* const second = static_cast<char*>(box.ptr) + box.pitch * rows;
  EXPECT_DONE(cudaMemcpy(to.data(), second + box.pitch, width, cudaMemcpyDeviceToHost));
  EXPECT(to[4] == 9);

  float *pinned = nullptr, *managed = nullptr, *mapped = nullptr;
  EXPECT_DONE(cudaHostAlloc(&pinned, 64, cudaHostAllocMapped | cudaHostAllocPortable));
  EXPECT_DONE(cudaMallocManaged(&managed, 64));
  EXPECT_DONE(cudaMemPrefetchAsync(managed, 64, 0));
  EXPECT_DONE(cudaMemAdvise(managed, 64, cudaMemAdviseSetReadMostly, cudaCpuDeviceId));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemPrefetchAsync(pitched, 64, 0));
  EXPECT_DONE(cudaHostGetDevicePointer(&mapped, pinned, 0));
  std::vector<float> registered(16, 3);
  EXPECT_DONE(cudaHostRegister(registered.data(), 64, cudaHostRegisterDefault));
  EXPECT_ERROR(cudaErrorHostMemoryAlreadyRegistered, cudaHostRegister(registered.data(), 64, cudaHostRegisterDefault));
  const float ones[] = {1, 1, 1, 1};
  EXPECT_DONE(cudaMemcpyToSymbol(factors, ones, sizeof ones));
  for (int i = 0; i < 16; ++i) pinned[i] = managed[i] = 1;
  scale<<<1, 16>>>(mapped, 16);
  scale<<<1, 16>>>(registered.data(), 16, 3);
  EXPECT_DONE(cudaDeviceSynchronize());
  EXPECT(pinned[15] == 2 && registered[15] == 9);
  const auto type_of = [](const void* address) {
    cudaPointerAttributes attributes{};
    EXPECT_DONE(cudaPointerGetAttributes(&attributes, address));
    return attributes.type;
  };
  EXPECT(type_of(pitched) == cudaMemoryTypeDevice && type_of(pinned) == cudaMemoryTypeHost);
  EXPECT(type_of(managed) == cudaMemoryTypeManaged && type_of(to.data()) == cudaMemoryTypeUnregistered);
  EXPECT_DONE(cudaHostUnregister(registered.data()));
  EXPECT_DONE(cudaFree(pitched));
  EXPECT_DONE(cudaFree(box.ptr));
  EXPECT_DONE(cudaFreeHost(pinned));
  EXPECT_DONE(cudaFree(managed));
  EXPECT_DONE(cudaFree(nullptr));
}

void symbols() {
  int* address = nullptr;
  std::size_t size = 0;
  EXPECT_DONE(cudaGetSymbolSize(&size, factors));
  EXPECT(size == sizeof factors);
  EXPECT_DONE(cudaGetSymbolAddress(reinterpret_cast<void**>(&address), counter));
  int value = 40;
  EXPECT_DONE(cudaMemcpy(address, &value, sizeof value, cudaMemcpyHostToDevice));
  int* memory = nullptr;
  EXPECT_DONE(cudaMalloc(&memory, sizeof value));
  EXPECT_DONE(cudaMemset(memory, 0, sizeof value));
  EXPECT_DONE(cudaMemcpyToSymbol(pointer, &memory, sizeof memory));
  use_pointer<<<1, 1>>>();
  EXPECT_DONE(cudaMemcpy(&value, memory, sizeof value, cudaMemcpyDeviceToHost));
  EXPECT(value == 45);
  EXPECT_DONE(cudaMemcpyFromSymbolAsync(&value, counter, sizeof value));
  EXPECT(value == 40);
  EXPECT_DONE(cudaFree(memory));
}

void streams() {
  float *x = nullptr, milliseconds = 0;
  EXPECT_DONE(cudaMalloc(&x, 64));
  EXPECT_DONE(cudaMemset(x, 0, 64));
  cudaStream_t stream = nullptr, urgent = nullptr;
  cudaEvent_t start = nullptr, end = nullptr, untimed = nullptr;
  int least = 0, greatest = 0, priority = 1;
  unsigned flags = 7;
  EXPECT_DONE(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  EXPECT_DONE(cudaStreamCreate(&stream));
  EXPECT_DONE(cudaStreamCreateWithPriority(&urgent, cudaStreamNonBlocking, greatest));
  EXPECT_DONE(cudaStreamGetPriority(urgent, &priority));
  EXPECT_DONE(cudaStreamGetFlags(urgent, &flags));
  EXPECT(priority == greatest && flags == cudaStreamNonBlocking);
  unsigned long long id = 0, other = 0;
  EXPECT_DONE(cudaStreamGetId(urgent, &id));
  EXPECT_DONE(cudaStreamGetId(stream, &other));
  EXPECT(id != other);
  EXPECT_ERROR(cudaErrorInvalidValue, cudaStreamGetId(stream, nullptr));
  cudaStreamAttrValue attribute = {};
  attribute.priority = least;
  EXPECT_DONE(cudaStreamSetAttribute(urgent, cudaStreamAttributePriority, &attribute));
  EXPECT_DONE(cudaStreamGetPriority(urgent, &priority));
  EXPECT(priority == least);
  EXPECT_ERROR(cudaErrorInvalidValue, cudaStreamSetAttribute(urgent, cudaStreamAttributeAccessPolicyWindow, nullptr));
  EXPECT_DONE(cudaEventCreate(&start));
  EXPECT_DONE(cudaEventCreateWithFlags(&end, cudaEventBlockingSync));
  EXPECT_DONE(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
  EXPECT_ERROR(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&milliseconds, start, end));
  EXPECT_DONE(cudaEventRecord(start, stream));
  scale<<<1, 16, 0, stream>>>(x, 16);
  EXPECT_DONE(cudaEventRecord(end, stream));
  EXPECT(cudaEventElapsedTime(&milliseconds, start, end) == cudaErrorNotReady);
  EXPECT(cudaEventQuery(end) == cudaErrorNotReady);
  EXPECT_DONE(cudaGetLastError());
  EXPECT_DONE(cudaEventSynchronize(end));
  EXPECT_DONE(cudaEventQuery(end));
  EXPECT_DONE(cudaStreamQuery(stream));
  EXPECT_DONE(cudaEventElapsedTime(&milliseconds, start, end));
  EXPECT(milliseconds > 0);
  EXPECT_DONE(cudaStreamWaitEvent(urgent, end, 0));
  int called = 0;
  EXPECT_DONE(cudaStreamAddCallback(
      urgent, [](cudaStream_t, cudaError_t, void* of) { ++*static_cast<int*>(of); }, &called, 0));
  EXPECT(called == 0);
  EXPECT_DONE(cudaStreamSynchronize(urgent));
  EXPECT(called == 1);
  EXPECT_DONE(cudaStreamDestroy(urgent));
  EXPECT_ERROR(cudaErrorInvalidResourceHandle, cudaStreamDestroy(urgent));
  EXPECT_DONE(cudaStreamDestroy(stream));
  EXPECT_DONE(cudaEventDestroy(start));
  EXPECT_DONE(cudaMallocAsync(&x, 64, cudaStreamPerThread));
  EXPECT_DONE(cudaMemsetAsync(x, 0, 64, cudaStreamPerThread));
  EXPECT_DONE(cudaFreeAsync(x, cudaStreamPerThread));
  EXPECT_DONE(cudaDeviceSynchronize());
  cudaMemPool_t pool, own;
  EXPECT_DONE(cudaDeviceGetDefaultMemPool(&pool, 0));
  EXPECT_ERROR(cudaErrorInvalidDevice, cudaDeviceGetDefaultMemPool(&pool, 1));
  unsigned long long threshold = 1 << 20, bytes = 0;
  EXPECT_DONE(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  EXPECT_DONE(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &bytes));
  EXPECT(bytes == threshold);
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemPoolCreate(&own, &properties));
  properties.location = {cudaMemLocationTypeDevice, 0};
  EXPECT_DONE(cudaMemPoolCreate(&own, &properties));
  EXPECT_DONE(cudaMallocFromPoolAsync(&x, 64, own, nullptr));
  EXPECT_DONE(cudaMemPoolGetAttribute(own, cudaMemPoolAttrUsedMemCurrent, &bytes));
  EXPECT(bytes == 64);
  EXPECT_DONE(cudaFreeAsync(x, nullptr));
  EXPECT_DONE(cudaDeviceSynchronize());
  EXPECT_DONE(cudaMemPoolGetAttribute(own, cudaMemPoolAttrUsedMemCurrent, &bytes));
  EXPECT(bytes == 0);
  EXPECT_DONE(cudaDeviceSetMemPool(0, own));
  EXPECT_DONE(cudaDeviceGetMemPool(&pool, 0));
  EXPECT(pool == own);
  cudaMemAccessDesc rights = {{cudaMemLocationTypeDevice, 0}, cudaMemAccessFlagsProtReadWrite};
  cudaMemAccessFlags may = cudaMemAccessFlagsProtNone;
  EXPECT_DONE(cudaMemPoolSetAccess(own, &rights, 1));
  EXPECT_DONE(cudaMemPoolGetAccess(&may, own, &rights.location));
  EXPECT(may == cudaMemAccessFlagsProtReadWrite);
  rights.location.id = 1;
  EXPECT_ERROR(cudaErrorInvalidDevice, cudaMemPoolSetAccess(own, &rights, 1));
  EXPECT_DONE(cudaMemPoolTrimTo(own, 0));
  EXPECT_DONE(cudaMemPoolDestroy(own));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemPoolDestroy(own));
  EXPECT_DONE(cudaDeviceSynchronize());
}

void kernels() {
  int* out = nullptr;
  int value = 0;
  EXPECT_DONE(cudaMalloc(&out, 4096));
  char a = -1;
  double b = 2, k = 11;
  short c = -3;
  float d = 4, g = 7;
  unsigned e = 5;
  long long f = -6;
  int h = 8, i = 9, j = 10;
  bool l = true;
  void* arguments[] = {&a, &b, &out, &c, &d, &e, &f, &g, &h, &i, &j, &k, &l};
  const auto check = [&](int expected) {
    EXPECT_DONE(cudaMemcpy(&value, out, sizeof value, cudaMemcpyDeviceToHost));
    EXPECT(value == expected);
  };
  EXPECT_DONE(cudaLaunchKernel(reinterpret_cast<void*>(many), 1, 1, arguments, 0, nullptr));
  check(47);
  a = 1;
  EXPECT_DONE(cudaLaunchKernel(many, dim3(1), dim3(1), arguments, 0, nullptr));
  check(49);
  EXPECT_DONE(cudaLaunchCooperativeKernel((void*)many, 1, 1, arguments));
  Pair pair{1, 2};
  void* others[] = {&pair, &out};
  EXPECT_DONE(cudaLaunchKernel(take, dim3(1), dim3(1), others, 0, nullptr));
  check(3);
  take<<<1, 1>>>({4, 5}, out);
  pair.first = 100;  // the launch has its own
  check(9);
  {
    const Counted counted(100, out);
    take_class<<<1, 32>>>(2, counted, 3);
    EXPECT(Counted::copies == 1 && Counted::destroyed == 1);
    check(136);
  }
  EXPECT(Counted::copies == 1 && Counted::destroyed == 2);
  take_with<<<1, 32>>>(View(100, out), 7, 2);
  check(109);
  take_with<int><<<1, 32>>>(View(100, out), 8);
  check(109);
  EXPECT_ERROR(cudaErrorCooperativeLaunchTooLarge, cudaLaunchCooperativeKernel((void*)many, 1 << 20, 1024, arguments));

  int blocks = 0, grid = 0, block = 0;
  EXPECT_DONE(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, scale, 256, 0));
  cudaDeviceProp device{};
  EXPECT_DONE(cudaGetDeviceProperties(&device, 0));
  EXPECT(blocks == device.maxThreadsPerMultiProcessor / 256);
  EXPECT_DONE(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, shared_memory, 32, 40 * 1024));
  EXPECT(blocks ==
         static_cast<int>(device.sharedMemPerMultiprocessor / (44 * 1024 + device.reservedSharedMemPerBlock)));
  EXPECT_DONE(cudaOccupancyMaxPotentialBlockSize(&grid, &block, scale, 0, 0));
  EXPECT(block % 32 == 0 && block <= 1024 &&
         grid * block == device.multiProcessorCount * device.maxThreadsPerMultiProcessor);
  cudaFuncAttributes attributes{};
  EXPECT_DONE(cudaFuncGetAttributes(&attributes, shared_memory));
  EXPECT(attributes.sharedSizeBytes == 4096 && attributes.maxThreadsPerBlock == 1024);
  EXPECT_DONE(cudaFuncSetCacheConfig(scale, cudaFuncCachePreferL1));
  EXPECT_DONE(cudaFree(out));
}

void device() {
  int count = 0, value = 0, version = 0;
  EXPECT_DONE(cudaGetDeviceCount(&count));
  EXPECT(count == 1);
  EXPECT_DONE(cudaSetDevice(0));
  EXPECT_DONE(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 0));
  EXPECT(value == 32);
  EXPECT_DONE(cudaRuntimeGetVersion(&version));
  EXPECT(version == CUDART_VERSION && CUDA_VERSION == CUDART_VERSION);
  std::size_t limit = 0;
  EXPECT_DONE(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
  EXPECT_DONE(cudaDeviceGetLimit(&limit, cudaLimitStackSize));
  EXPECT(limit == 4096);
  EXPECT_DONE(cudaThreadSetLimit(cudaLimitStackSize, 2048));
  EXPECT_DONE(cudaThreadGetLimit(&limit, cudaLimitStackSize));
  EXPECT(limit == 2048);
  EXPECT_DONE(cudaDeviceSetCacheConfig(cudaFuncCachePreferShared));
  cudaFuncCache config = cudaFuncCachePreferNone;
  EXPECT_DONE(cudaThreadGetCacheConfig(&config));
  EXPECT(config == cudaFuncCachePreferShared);
  EXPECT_DONE(cudaThreadSetCacheConfig(cudaFuncCachePreferL1));
  EXPECT_DONE(cudaDeviceGetCacheConfig(&config));
  EXPECT(config == cudaFuncCachePreferL1);
  EXPECT_ERROR(cudaErrorInvalidDevice, cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 1));
  EXPECT_DONE(cudaProfilerStart());
  EXPECT_DONE(cudaProfilerStop());
  EXPECT(std::isinf(CUDART_INF_F) && std::abs(CUDART_PI - 2 * CUDART_PIO2) < 1e-15);
  EXPECT_DONE(cudaThreadExit());
  EXPECT_DONE(cudaDeviceReset());
}

void graphs() {
  cudaGraph_t graph, clone;
  cudaGraphNode_t allocates, clears, other;
  EXPECT_DONE(cudaGraphCreate(&graph, 0));
  cudaMemAllocNodeParams allocation = {};
  allocation.poolProps.allocType = cudaMemAllocationTypePinned;
  allocation.poolProps.location.type = cudaMemLocationTypeDevice;
  allocation.bytesize = 4096;
  EXPECT_DONE(cudaGraphAddMemAllocNode(&allocates, graph, nullptr, 0, &allocation));
  const cudaMemsetParams set = {allocation.dptr, 0, 7, 1, 4096, 1};
  EXPECT_DONE(cudaGraphAddMemsetNode(&clears, graph, &allocates, 1, &set));
  EXPECT_DONE(cudaGraphClone(&clone, graph));
  EXPECT_DONE(cudaGraphNodeFindInClone(&other, clears, clone));
  cudaGraphNodeType type;
  EXPECT_DONE(cudaGraphNodeGetType(other, &type));
  EXPECT(other != clears && type == cudaGraphNodeTypeMemset);
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphNodeFindInClone(&other, other, graph));
  EXPECT_DONE(cudaGraphDestroy(graph));

  cudaGraphExec_t executable;
  EXPECT_DONE(cudaGraphInstantiate(&executable, clone, 0));
  std::uint64_t used = 1;
  EXPECT_DONE(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used));
  EXPECT(used == 0);
  EXPECT_DONE(cudaGraphLaunch(executable, nullptr));
  EXPECT_DONE(cudaDeviceSynchronize());
  EXPECT_DONE(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used));
  EXPECT(used == 4096);
  char byte = 0;
  EXPECT_DONE(cudaMemcpy(&byte, allocation.dptr, 1, cudaMemcpyDeviceToHost));
  EXPECT(byte == 7);
  EXPECT_DONE(cudaFree(allocation.dptr));
  EXPECT_DONE(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &used));
  EXPECT(used == 4096);
  used = 0;
  EXPECT_DONE(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &used));
  EXPECT_DONE(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &used));
  EXPECT(used == 0);
  EXPECT_DONE(cudaDeviceGraphMemTrim(0));
  cudaGraphExecUpdateResult result = cudaGraphExecUpdateError;
  EXPECT_DONE(cudaGraphExecUpdate(executable, clone, nullptr, &result));
  EXPECT(result == cudaGraphExecUpdateSuccess);
  EXPECT_DONE(cudaGraphExecDestroy(executable));
  EXPECT_DONE(cudaGraphDestroy(clone));
}

// What pageable memory holds when the graph runs is copied, also by nodes whose parameters have changed.
void copies_of_graphs() {
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  cudaGraphNode_t in, clears, out;
  int *memory, from[2] = {1, 2}, other[2] = {3, 4}, to[2] = {};
  EXPECT_DONE(cudaMalloc(&memory, sizeof from));
  EXPECT_DONE(cudaGraphCreate(&graph, 0));
  EXPECT_DONE(cudaGraphAddMemcpyNode1D(&in, graph, nullptr, 0, memory, from, sizeof from, cudaMemcpyHostToDevice));
  const cudaMemsetParams set = {memory, 0, 0, 1, 4, 1};
  EXPECT_DONE(cudaGraphAddMemsetNode(&clears, graph, &in, 1, &set));
  cudaMemcpy3DParms back = {};
  back.srcPtr = make_cudaPitchedPtr(memory, sizeof to, sizeof to, 1);
  back.dstPtr = make_cudaPitchedPtr(to, sizeof to, sizeof to, 1);
  back.extent = make_cudaExtent(sizeof to, 1, 1);
  back.kind = cudaMemcpyDeviceToHost;
  EXPECT_DONE(cudaGraphAddMemcpyNode(&out, graph, &clears, 1, &back));
  EXPECT_DONE(cudaGraphInstantiate(&executable, graph, 0));
  const auto copied = [&] {
    EXPECT_DONE(cudaGraphLaunch(executable, nullptr));
    EXPECT_DONE(cudaDeviceSynchronize());
    return to[1];
  };
  EXPECT(copied() == 2 && to[0] == 0);
  from[1] = 5;
  EXPECT(copied() == 5);
  constexpr auto kind = cudaMemcpyHostToDevice;
  EXPECT_DONE(cudaGraphExecMemcpyNodeSetParams1D(executable, in, memory, other, sizeof other, kind));
  EXPECT(copied() == 4);
  EXPECT_ERROR(cudaErrorInvalidValue,
               cudaGraphExecMemcpyNodeSetParams1D(executable, clears, memory, other, sizeof other, kind));
  back.dstPtr.ptr = from;
  EXPECT_DONE(cudaGraphExecMemcpyNodeSetParams(executable, out, &back));
  other[1] = 6;
  EXPECT(copied() == 4 && from[1] == 6);
  EXPECT_DONE(cudaGraphExecDestroy(executable));
  EXPECT_DONE(cudaGraphDestroy(graph));
  EXPECT_DONE(cudaFree(memory));
}

// A stream that is captured because it waits for another one may end before the capture does.
void captured_streams() {
  for (const bool joins : {true, false}) {
    cudaGraph_t graph;
    cudaStream_t one, two;
    cudaEvent_t event;
    char* memory;
    EXPECT_DONE(cudaMalloc(&memory, 64));
    EXPECT_DONE(cudaStreamCreate(&one));
    EXPECT_DONE(cudaStreamCreate(&two));
    EXPECT_DONE(cudaEventCreate(&event));
    EXPECT_DONE(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
    EXPECT_DONE(cudaEventRecord(event, one));
    EXPECT_DONE(cudaStreamWaitEvent(two, event, 0));
    EXPECT_DONE(cudaMemsetAsync(memory, 3, 64, two));
    EXPECT_DONE(cudaEventRecord(event, two));
    if (joins) EXPECT_DONE(cudaStreamWaitEvent(one, event, 0));
    EXPECT_DONE(cudaStreamDestroy(two));
    if (joins) {
      EXPECT_DONE(cudaStreamEndCapture(one, &graph));
      EXPECT_DONE(cudaGraphDestroy(graph));
    } else {
      EXPECT_ERROR(cudaErrorStreamCaptureUnjoined, cudaStreamEndCapture(one, &graph));
    }
    EXPECT_DONE(cudaStreamDestroy(one));
    EXPECT_DONE(cudaEventDestroy(event));
    EXPECT_DONE(cudaFree(memory));
  }
}

int main() {
  errors();
  memory();
  symbols();
  streams();
  kernels();
  graphs();
  copies_of_graphs();
  captured_streams();
  device();
}
