// Variables as CUDA programs declare them: test_variables.py looks where each of them lies. Nothing here runs.
#define DEVICE __device__
#define NUMBERS(name) __device__ int name[4]
typedef float (*Operation)(float, float);
struct Point {
  float x, y;
  __device__ float sum() const { return x + y; }
};

// simt_device
__device__ int plain;
DEVICE int by_macro = 3;
NUMBERS(by_a_larger_macro);
__device__ struct Point elaborated;
static __device__ unsigned long long int of_many_words;
static DEVICE volatile int changing = 0;
__device__ const float* pointer_to_constant;
__device__ float (*function_pointer)(float, float);
__device__ __align__(16) float aligned_by_cuda[4];
alignas(16) __device__ float aligned[4];
__device__ int first = 1, second;
__device__ int braced{5};
inline __device__ int in_every_file = 6;
__device__ Point points[2] = {{1, 2}, {3, 4}};
int __device__ behind_its_type;
namespace inner {
namespace {
__device__ int in_namespaces = 7;
}
}  // namespace inner
__device__ float add(float a, float b);
__device__ Operation operation = add;
template <class T>
__device__ T of_type[4];

// simt_managed
__managed__ int managed;
__device__ __managed__ float both[2];
__managed__ __device__ float the_other_way;

// simt_constant
__constant__ float coefficients[3];
__device__ __constant__ int both_constant[2];
static __constant__ Point constant_point;
namespace inner {
template <class T, int n>
__constant__ T weights[n] = {2};
}

// neither: constants may lie anywhere, functions do
__device__ const float pi = 3.14f;
__device__ constexpr int four = 4;
__constant__ const int powers[3] = {1, 10, 100};
__device__ float* const fixed = nullptr;
float host_variable;
template <class T>
__device__ T twice(T x) {
  return x + x;
}
__device__ __forceinline__ float add(float a, float b) {
  return twice(a) + b;
}
__host__ __device__ int one() {
  return 1;
}
__device__ int declared(int x = 5);
__global__ void __launch_bounds__(128) kernel(int* out, const Point* __restrict__ points_of_host = nullptr) {
  static __device__ int calls;
  __shared__ float tile[32];
  auto square = [] __device__(float x) { return x * x; };
  tile[threadIdx.x] = square(fixed ? *fixed : 0) + coefficients[0] + constant_point.x + both_constant[1] + four +
                      inner::weights<float, 3>[0] + of_type<int>[1];
  out[threadIdx.x] =
      ++calls + of_many_words + changing + inner::in_namespaces + tile[0] + pi + powers[*out] + one() + add(1, 2);
}
