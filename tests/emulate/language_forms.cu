// CUDA C++ as programs write it: prints what differs from what CUDA defines, and so nothing.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <cstdio>
#include <new>

#define EXPECT(is) \
  if (!(is)) std::printf("line %d: %s\n", __LINE__, #is)

__device__ float lerp(float a, float b, float t) {  // std::lerp() is C++20's
  return a + t * (b - a);
}
__device__ __noinline__ int next(int x) {
  return x + 1;
}
template <class T>
__noinline__ __device__ T twice(T x);
template <class T>
__device__ __noinline__ T twice(T x) {
  return 2 * x;
}
template <class T>
__global__ void aligned(T* out) {
  __shared__ alignas(16) T a[8];
  static __shared__ __align__(16) int b[8];
  __shared__ alignas(alignof(double)) alignas(32) char c[3], d[5];
  alignas(16) __shared__ int e[4];
  const int t = threadIdx.x;
  a[t] = next(t);
  b[t] = twice(t);
  if (t < 3) c[t] = 1;
  if (t < 5) d[t] = 2;
  if (t < 4) e[t] = 4;
  __syncthreads();
  EXPECT(lerp(1.0f, 3.0f, 0.5f) == 2.0f);
  EXPECT(reinterpret_cast<uintptr_t>(a) % 16 == 0 && reinterpret_cast<uintptr_t>(b) % 16 == 0);
  EXPECT(reinterpret_cast<uintptr_t>(c) % 32 == 0 && reinterpret_cast<uintptr_t>(e) % 16 == 0);
  EXPECT(a[7 - t] + b[7 - t] + c[t % 3] + d[t % 5] + e[t % 4] == 8 - t + 2 * (7 - t) + 7);
  out[t] = a[t];
}

template <class T, class Pair>
__global__ void small_floats(Pair pair) {
  const int lane = threadIdx.x;
  const T mine = T(float(lane));
  EXPECT(float(__shfl_sync(~0u, mine, 5)) == 5);
  EXPECT(float(__shfl_down_sync(~0u, mine, 1)) == (lane < 31 ? lane + 1 : 31));
  EXPECT(float(__shfl_up_sync(~0u, mine, 1)) == (lane > 0 ? lane - 1 : 0));
  EXPECT(float(__shfl_xor_sync(~0u, mine, 3, 8)) == (lane ^ 3));
  EXPECT(float(__shfl_xor_sync(~0u, pair, 1).y) == 2);
  T sum = mine;
  for (int step = 16; step > 0; step /= 2) sum = __hadd(sum, __shfl_down_sync(~0u, sum, step));
  if (lane > 0) return;

  EXPECT(float(sum) == 496);
  EXPECT(float(hsqrt(T(2.25f))) == 1.5f && float(hrsqrt(T(4.f))) == 0.5f && float(hrcp(T(-4.f))) == -0.25f);
  EXPECT(float(hexp(T(0.f))) == 1 && float(hexp2(T(-3.f))) == 0.125f && float(hexp10(T(2.f))) == 100);
  EXPECT(float(hlog(T(1.f))) == 0 && float(hlog2(T(32.f))) == 5 && float(hlog10(T(100.f))) == 2);
  EXPECT(float(hsin(T(0.f))) == 0 && float(hcos(T(0.f))) == 1 && float(htanh(T(30.f))) == 1);
  EXPECT(float(hfloor(T(-1.5f))) == -2 && float(hceil(T(-1.5f))) == -1 && float(htrunc(T(-1.5f))) == -1);
  EXPECT(float(hrint(T(2.5f))) == 2 && float(hexp(T(1.f))) > 2.7f && float(hexp(T(1.f))) < 2.735f);
  EXPECT(float(__hadd_sat(T(0.75f), T(0.5f))) == 1 && float(__hsub_sat(T(0.5f), T(0.75f))) == 0);
  EXPECT(float(__hmul_sat(T(0.5f), T(0.5f))) == 0.25f && float(__hfma_sat(T(2.f), T(2.f), T(1.f))) == 1);
  EXPECT(float(__hfma_relu(T(2.f), T(-2.f), T(1.f))) == 0 && float(__hfma_relu(T(2.f), T(2.f), T(1.f))) == 5);
  T counter = T(1.f);
  EXPECT(float(counter++) == 1 && float(++counter) == 3 && float(counter--) == 3 && float(--counter) == 1);
  // The pair is (1, 2).
  EXPECT(float((++pair).y) == 3 && float((pair--).y) == 3 && float(pair.x) == 1);
  const Pair roots = h2sqrt(__hmul2(pair, pair)), limited = __hfma2_relu(__hneg2(pair), pair, pair);
  EXPECT(float(roots.x) == 1 && float(roots.y) == 2 && float(limited.x) == 0 && float(limited.y) == 0);
  const Pair complex = __hcmadd(pair, pair, pair);  // (1 + 2i)^2 + (1 + 2i)
  EXPECT(float(complex.x) == -2 && float(complex.y) == 6);
}

__global__ void conversions() {
  EXPECT(__half2ll_rn(__half(2.5f)) == 2 && __half2ull_ru(__half(2.5f)) == 3 && __half2ull_rd(__half(-1.f)) == 0);
  EXPECT(__half2char_rz(__half(-300.f)) == -128 && __half2uchar_rz(__half(300.f)) == 255);
  EXPECT(float(__ll2half_rn(2049)) == 2048 && float(__ull2half_ru(2049)) == 2050);
  EXPECT(__half2int_rd(__half(-1.5f)) == -2 && __half2short_rz(__half(-1.5f)) == -1);
  EXPECT(__half2ushort_rn(__half(3.5f)) == 4 && float(__uint2half_rn(7u)) == 7);
  EXPECT(float(CUDART_INF_FP16) == 2 * float(CUDART_INF_BF16) && float(CUDART_ONE_FP16) == float(CUDART_ONE_BF16));
  EXPECT(float(CUDART_MAX_NORMAL_FP16) == 65504 && float(CUDART_MIN_DENORM_BF16) > 0);
  EXPECT(__bfloat162ll_rz(__float2bfloat16(-2.5f)) == -2 && float(__ll2bfloat16_rn(257)) == 256);
  EXPECT(__bfloat162int_ru(__float2bfloat16(1.5f)) == 2 && float(__int2bfloat16_ru(257)) == 258);
}

union Words {
  float4 vector;
  float each[4];
};
struct Particle {
  float3 position, velocity;
  float mass;
};
__global__ void vectors(const float4* in) {
  Words words;
  words.vector = in[1];
  EXPECT(words.each[0] == 5 && words.each[3] == 8);
  const float4 named = {.x = 1, .y = 2, .z = 3, .w = 4};
  const float4 skipping{.y = 2, .w = in[0].w};
  EXPECT(named.x == 1 && named.w == 4 && skipping.x == 0 && skipping.y == 2 && skipping.z == 0 && skipping.w == 4);
  const int2 made = int2{.x = twice(3)};
  const uchar3 bytes = uchar3{.x = 1, .z = 5};
  EXPECT(made.x == 6 && made.y == 0 && bytes.y == 0 && bytes.z == 5);
  float4 zeros = {0}, ones[2] = {{1}, {1, 1}};
  zeros.x += in[0].x;
  EXPECT(zeros.x == 1 && zeros.w == 0 && ones[0].x == 1 && ones[0].y == 0 && ones[1].y == 1);
  const Particle particle = {.position = {1, 2, 3}, .mass = 2};
  EXPECT(particle.position.z == 3 && particle.velocity.y == 0 && particle.mass == 2);
}

// Names of a kernel's own variables for others: members, parameters, variables.
struct Shape {
  dim3 gridDim, blockDim;
  int threads;
  explicit Shape(dim3 grid) : gridDim(grid), blockDim(32), threads(gridDim.x * blockDim.x) {}
};
__global__ void sizes(unsigned* out) {
  if (threadIdx.x == 0 && blockIdx.x == 0) *out = 100 * gridDim.x + blockDim.x;
}
void launch(const dim3& gridDim, dim3 blockDim, unsigned* out) {
  sizes<<<gridDim, blockDim>>>(out);
  cudaDeviceSynchronize();
}
void own_names() {
  unsigned* out = nullptr;
  cudaMallocManaged(&out, sizeof(unsigned));
  Shape shape(3);
  launch(shape.gridDim, shape.blockDim.x, out);
  EXPECT(*out == 332 && shape.threads == 96);
  int blockDim = 64, gridDim = blockDim / 32;
  launch(gridDim, blockDim, out);
  EXPECT(*out == 264);
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(5);
  config.blockDim = 7;
  cudaLaunchKernelEx(&config, sizes, out);
  cudaDeviceSynchronize();
  EXPECT(*out == 507);
  cudaFree(out);
}

// The executor's names, at file scope.
__shared__ int smem[8], smem_first[8];
__global__ void shared_names() {
  smem[threadIdx.x] = smem_first[7 - threadIdx.x] = threadIdx.x;
  __syncthreads();
  EXPECT(smem[7 - threadIdx.x] == 7 - threadIdx.x && smem_first[threadIdx.x] == 7 - threadIdx.x);
}

// References: to managed memory a kernel may write.
struct Two {
  int first, second;
  Two(int a, int b) : first(a), second(b) {}
  Two(const Two& other) : first(other.first), second(other.second) {}
};
__global__ void by_reference(int& sum, const Two& two, Two copy) {
  sum = two.first + 10 * two.second + 100 * copy.first;
}
void references(int* out) {
  by_reference<<<1, 1>>>(*out, *new (out + 2) Two(2, 3), Two(4, 5));
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  EXPECT(*out == 432);
}

// Public programs read a half's bits on the host by a union that is wider. The bytes behind it do not matter.
union Bits {
  unsigned short all;
  struct {
    unsigned mantissa : 10, exponent : 5, sign : 1;
  };
};
__attribute__((noinline)) unsigned short bits_of(__half number) {
  Bits bits = *reinterpret_cast<Bits*>(&number);
  return bits.all;
}

int main() {
  own_names();
  EXPECT(bits_of(__float2half(2)) == 0x4000);
  int* out;
  float4* in;
  cudaMallocManaged(&out, 8 * sizeof(int));
  cudaMallocManaged(&in, 2 * sizeof(float4));
  in[0] = make_float4(1, 2, 3, 4);
  in[1] = make_float4(5, 6, 7, 8);
  aligned<<<1, 8>>>(out);
  small_floats<__half><<<1, 32>>>(__floats2half2_rn(1, 2));
  small_floats<__nv_bfloat16><<<1, 32>>>(__floats2bfloat162_rn(1, 2));
  conversions<<<1, 1>>>();
  shared_names<<<1, 8>>>();
  vectors<<<1, 1>>>(in);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  EXPECT(out[7] == 8);
  references(out);
  cudaFree(out);
  cudaFree(in);
}
