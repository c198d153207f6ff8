// Templates: transform and reduce for any type and any operation, given as a functor.
#include <cstdio>
#include <vector>

struct Scale {
  int factor;
  __host__ __device__ int operator()(int x) const { return factor * x; }
};

template <typename T>
struct Maximum {
  static __host__ __device__ T neutral() { return T(-1e9); }
  __device__ T operator()(T a, T b) const { return a > b ? a : b; }
};

template <typename T>
struct Plus {
  static __host__ __device__ T neutral() { return T(); }
  __device__ T operator()(T a, T b) const { return a + b; }
};

template <typename In, typename Out, class F>
__global__ void transform(const In* in, Out* out, int n, F f) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = f(in[i]);
}

template <typename T, template <typename> class Operation, int THREADS = 64>
__global__ void reduce(const T* in, T* result, int n) {
  __shared__ T values[THREADS];
  const Operation<T> operation{};
  T mine = Operation<T>::neutral();
  for (int i = threadIdx.x; i < n; i += THREADS) mine = operation(mine, in[i]);
  values[threadIdx.x] = mine;
  for (int s = THREADS / 2; s > 0; s /= 2) {
    __syncthreads();
    if (threadIdx.x < s) values[threadIdx.x] = operation(values[threadIdx.x], values[threadIdx.x + s]);
  }
  if (threadIdx.x == 0) *result = values[0];
}

template <typename T>
class Buffer {
 public:
  explicit Buffer(size_t n) { cudaMalloc(&data_, n * sizeof(T)); }
  Buffer(const Buffer&) = delete;
  ~Buffer() { cudaFree(data_); }
  T* get() const { return data_; }
  T front() const {
    T value;
    cudaMemcpy(&value, data_, sizeof(T), cudaMemcpyDeviceToHost);
    return value;
  }

 private:
  T* data_ = nullptr;
};

int main() {
  const int n = 1000;
  std::vector<int> values(n);
  for (int i = 0; i < n; ++i) values[i] = i % 77;
  Buffer<int> in(n), scaled(n), sum(1);
  Buffer<double> halves(n), largest(1);
  cudaMemcpy(in.get(), values.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  transform<<<(n + 127) / 128, 128>>>(in.get(), scaled.get(), n, Scale{3});
  transform<int, double><<<dim3((n + 127) / 128), dim3(128)>>>(scaled.get(), halves.get(), n, Scale{-1});
  reduce<int, Plus><<<1, 64>>>(scaled.get(), sum.get(), n);
  reduce<double, Maximum, 128><<<1, 128>>>(halves.get(), largest.get(), n);
  int expected = 0;
  for (int value : values) expected += 3 * value;
  std::printf("sum %d, expected %d, largest %.1f\n", sum.front(), expected, largest.front());
  return sum.front() != expected || largest.front() != 0.0;
}
