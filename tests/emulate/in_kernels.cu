// What kernels call that is the host's in C++, and here the device's: malloc() and new, assert(), printf(). The argument
// says which of it; the device's mistakes are marked.
#undef NDEBUG
#include <assert.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <stdio.h>

#include <cstring>
#include <new>
#include <vector>

struct List {
  int value;
  List* next;
  __device__ List(int value_, List* next_) : value(value_), next(next_) {}
};

// The copy may come before the read or after it, in spite of the barrier.
__global__ void reads_early(int* out) {
  __shared__ int copied[4];
  copied[threadIdx.x] = 0;
  __syncthreads();
  __pipeline_memcpy_async(&copied[threadIdx.x], &out[threadIdx.x], sizeof(int));  // early
  __pipeline_commit();
  __syncthreads();
  const int other = copied[3 - threadIdx.x];  // early
  __pipeline_wait_prior(0);
  out[threadIdx.x] = other;
}

__global__ void heap(int* out) {
  List* head = nullptr;
  for (int i = 0; i < 5; ++i) head = new List(i, head);
  int sum = 0;
  while (head) {
    sum += head->value;
    List* const next = head->next;
    delete head;
    head = next;
  }
  int* const four = static_cast<int*>(malloc(4 * sizeof(int)));
  if (!four) return;
  memset(four, 0, 4 * sizeof(int));
  for (int i = 0; i < 4; ++i) four[i] += i;
  for (int i = 0; i < 4; ++i) sum += four[i];
  free(four);
  double* const eight = new double[8];
  eight[7] = 1;
  sum += static_cast<int>(eight[7]);
  delete[] eight;
  out[threadIdx.x] = sum;
}

// One kernel allocates, another one uses it.
__device__ int* kept[2];
__global__ void keep(int n) {
  kept[threadIdx.x] = new int[n];
  for (int i = 0; i < n; ++i) kept[threadIdx.x][i] = i;
}
__global__ void use_kept(int n, int* out) {
  out[threadIdx.x] = kept[1 - threadIdx.x][n - 1];
}
__global__ void drop_kept() {
  delete[] kept[threadIdx.x];
}

struct Shape {
  __device__ virtual ~Shape() {}
  __device__ virtual float area() const = 0;
};
struct Square : Shape {
  float side;
  __device__ Square(float side_) : side(side_) {}
  __device__ float area() const override { return side * side; }
};
__global__ void shapes(int* out) {
  Shape* const square = new Square(3);
  alignas(Square) char place[sizeof(Square)];
  Shape* const another = new (place) Square(2);
  out[threadIdx.x] = static_cast<int>(square->area() + another->area());
  delete square;
}

__global__ void behind_the_heap(int n) {
  int* const words = new int[n];
  static_cast<volatile int*>(words)[n] = 1;  // behind
  delete[] words;
}
__global__ void freed_twice(void** words) {
  *words = malloc(8);
  free(*words);
  free(*words);  // twice
}
__global__ void ask_for(size_t bytes, int* out) {
  void* const memory = malloc(bytes);
  *out = memory != nullptr;
  free(memory);
}

struct Record {
  short key, place[2];
};
__global__ void copies_two(Record* out, const Record* in) {
  __builtin_memcpy(&out[threadIdx.x], &in[threadIdx.x], 2 * sizeof(Record));  // overlap
}
__global__ void writes_what_nobody_reads() {
  __shared__ int unread[16];
  unread[0] = threadIdx.x;  // unread
}
__global__ void reads_before(int* out, const int* in) {
  out[threadIdx.x] = in[static_cast<int>(threadIdx.x) - 1];  // before
}

__global__ void fails(int n) {
  assert(threadIdx.x != 3 || n == 0);
}
struct Three {
  float a, b, c;
};
template <class T>
__device__ T from_shared(T value) {
  __shared__ T values[8];
  values[threadIdx.x] = value;
  __syncthreads();
  return values[7 - threadIdx.x];
}
__global__ void before_its_neighbour(float4* out) {
  __shared__ float4 tile[8];
  tile[threadIdx.x] = out[threadIdx.x];
  out[threadIdx.x] = from_shared(tile[threadIdx.x]);
}
__global__ void into_another_kernels(float4* out) {
  __shared__ float4 tile[7];
  tile[threadIdx.x] = out[threadIdx.x];  // neighbour
}
__global__ void behind_its_neighbour(float4* out) {
  __shared__ float4 tile[8];
  tile[threadIdx.x] = out[threadIdx.x];
  out[threadIdx.x] = from_shared(tile[threadIdx.x]);
}
__global__ void into_shared(Three* out) {
  __shared__ Three tile[7];
  tile[threadIdx.x] = out[threadIdx.x];  // structs
}
__global__ void updates_after_its_write(int* out) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;  // updates
  atomicAdd(&sum, 1);
  __syncthreads();
  if (blockIdx.x == 0 && threadIdx.x == 0) *out = 0;  // updates
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(out, sum);
}
__device__ int x;  // of which the C++ ABI would make `long`
__global__ void behind_a_letter(int* out) {
  *out = (&x)[threadIdx.x + 1];  // letter
}
__global__ void trap(int* out) {
  out[threadIdx.x] = threadIdx.x;
  if (threadIdx.x == 2) __trap();
}
__global__ void prints(const char* format, float x) {
  if (threadIdx.x % 2 == 0) printf("%d of %s: %5.2f %c\n", threadIdx.x, __func__, x, '!');
}

int main(int count, char** words) {
  const auto chosen = [&](const char* name) { return count > 1 && !strcmp(words[1], name); };
  int* out;
  cudaMallocManaged(&out, 32 * sizeof(int));
  cudaMemset(out, 0, 32 * sizeof(int));
  if (chosen("heap")) {
    heap<<<1, 32>>>(out);
    cudaDeviceSynchronize();
    printf("%d", out[31]);
    keep<<<1, 2>>>(7);
    use_kept<<<1, 2>>>(7, out);
    drop_kept<<<1, 2>>>();
    cudaDeviceSynchronize();
    printf(" %d", out[0]);
    shapes<<<1, 32>>>(out);
    cudaDeviceSynchronize();
    printf(" %d\n", out[31]);
    int* const host = new int[3];  // the host's stays the host's
    host[2] = 1;
    delete[] host;
    free(malloc(1));
  } else if (chosen("limit")) {
    size_t bytes = 0;
    cudaDeviceGetLimit(&bytes, cudaLimitMallocHeapSize);
    printf("%zu:", bytes >> 20);
    for (const size_t megabytes : {16, 4}) {
      ask_for<<<1, 1>>>(megabytes << 20, out);
      cudaDeviceSynchronize();
      printf(" %d", out[0]);
    }
    cudaDeviceSetLimit(cudaLimitMallocHeapSize, size_t{32} << 20);
    ask_for<<<1, 1>>>(size_t{16} << 20, out);
    cudaDeviceSynchronize();
    printf(" %d\n", out[0]);
  } else if (chosen("behind")) {
    behind_the_heap<<<1, 1>>>(2);
    cudaDeviceSynchronize();
  } else if (chosen("twice")) {
    freed_twice<<<1, 1>>>(reinterpret_cast<void**>(out));
    cudaDeviceSynchronize();
  } else if (chosen("overlap")) {
    copies_two<<<1, 2>>>(reinterpret_cast<Record*>(out), reinterpret_cast<Record*>(out) + 4);
    cudaDeviceSynchronize();
  } else if (chosen("unread")) {
    writes_what_nobody_reads<<<1, 2>>>();
    cudaDeviceSynchronize();
  } else if (chosen("early")) {
    cudaMemset(out, 0, 4 * sizeof(int));
    reads_early<<<1, 4>>>(out);
    cudaDeviceSynchronize();
  } else if (chosen("before")) {
    int* in;
    cudaMalloc(&in, 64);
    reads_before<<<1, 1>>>(out, in);
    cudaDeviceSynchronize();
  } else if (chosen("assert")) {
    fails<<<1, 8>>>(1);
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  } else if (chosen("unasked")) {
    fails<<<1, 8>>>(1);
    cudaDeviceSynchronize();  // unasked
  } else if (chosen("letter")) {
    behind_a_letter<<<1, 1>>>(out);
    cudaDeviceSynchronize();
  } else if (chosen("neighbour")) {
    float4* in;
    cudaMalloc(&in, 8 * sizeof(float4));
    cudaMemset(in, 0, 8 * sizeof(float4));
    before_its_neighbour<<<1, 8>>>(in);
    behind_its_neighbour<<<1, 8>>>(in);
    into_another_kernels<<<1, 8>>>(in);
  } else if (chosen("structs")) {
    Three* in;
    cudaMalloc(&in, 8 * sizeof(Three));
    cudaMemset(in, 0, 8 * sizeof(Three));
    into_shared<<<1, 8>>>(in);
  } else if (chosen("updates")) {
    updates_after_its_write<<<4, 8>>>(out);
  } else if (chosen("trap")) {
    trap<<<1, 8>>>(out);
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  } else if (chosen("print")) {
    prints<<<1, 4>>>("", 1.5f);
    cudaDeviceSynchronize();
  }
}
