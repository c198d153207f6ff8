// What a kernel may be written in: vector types, classes, shared memory of every form. More of it in
// tests/emulate/in_kernels.cu: the device's heap, assertions, what is printed.
#include <gtest/gtest.h>

#include <vector>

#include "tests/executor/defects.hpp"

namespace gemm {
namespace {

struct Particle {
  float4 pos;
  float3 vel;
  int id;
};
union Both {
  float4 v;
  float a[4];
};
struct __align__(16) Node {
  float3 c;
  float r;
};
__constant__ float3 c_dirs[2] = {{1, 2, 3}, {4, 5, 6}};
__device__ float4 d_table[4] = {{1.f, 2.f, 3.f, 4.f}};
inline __host__ __device__ float3 operator+(float3 a, float3 b) {
  return make_float3(a.x + b.x, a.y + b.y, a.z + b.z);
}
inline __host__ __device__ float3 operator*(float s, const float3& b) {
  return make_float3(s * b.x, s * b.y, s * b.z);
}
inline __host__ __device__ void operator+=(float4& a, float4 b) {
  a.x += b.x;
  a.y += b.y;
  a.z += b.z;
  a.w += b.w;
}
__global__ void vectors(const float4* in, float4* out, volatile float4* vol, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 a[4] = {};
  Both b;
  b.v = in[i];
  float s = 0;
  for (int k = 0; k < 4; ++k) s += b.a[k];
  a[1].x = s;
  float4 z = {1, 2, 3, 4};
  float4 y{1.f, 2.f};
  float3 w = {};
  w = w + 2.f * c_dirs[i & 1];
  z += y;
  z += d_table[0];
  vol[i].x = 3;
  vol[i].w = vol[i].x;
  const float4 t = reinterpret_cast<const float4*>(in)[i];
  Particle p = {t, {1, 2, 3}, 4};
  Particle q;
  q = p;
  Particle r(q);
  Node nd = {{1, 2, 3}, 4};
  Node nd2 = nd;
  out[i] = make_float4(s + a[1].x + nd2.r, w.x + r.vel.y, z.w, t.w + p.id);
}
struct Shape {
  __host__ __device__ virtual ~Shape() {}
  __device__ virtual float area() const = 0;
};
struct Sq : Shape {
  float a;
  __device__ Sq(float x) : a(x) {}
  __device__ float area() const override { return a * a; }
};
struct Ci : Shape {
  float r;
  __device__ Ci(float x) : r(x) {}
  __device__ float area() const override { return 3 * r * r; }
};
__device__ int fib(int n) {
  return n < 2 ? n : fib(n - 1) + fib(n - 2);
}
typedef float (*Op)(float, float);
__device__ float add(float a, float b) {
  return a + b;
}
__device__ float mul(float a, float b) {
  return a * b;
}
__device__ Op d_op = add;
__device__ Op d_ops[2] = {add, mul};
struct Cfg {
  static constexpr int N = 7;
  static const int M = 3;
};
template <typename T, int N>
struct Arr {
  T d[N];
  __host__ __device__ T& operator[](int i) { return d[i]; }
};
template <class F>
__global__ void apply(F f, float* o) {
  o[threadIdx.x] = f(threadIdx.x);
}
__global__ void __launch_bounds__(256, 2) cpp(float* o) {
  Sq s(2);
  Ci c(1);
  const Shape* sh[2] = {&s, &c};
  float r = sh[threadIdx.x & 1]->area() + fib(6) + d_op(1, 2) + d_ops[1](3, 4) + Cfg::N + Cfg::M;
  Arr<float, 4> a;
#pragma unroll
  for (int i = 0; i < 4; i++) a[i] = i;
  r += a[3];
  auto lam = [&](float x) { return x + r; };
  o[threadIdx.x] = lam(1) + (warpSize == 32) + (clock64() > 0);
  __nanosleep(10);
}
template <class T, int N>
__device__ T sum(const T* x) {
  __shared__ T buf[N];
  buf[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  T s = 0;
  for (int i = 0; i < N; ++i) s += buf[i];
  __syncthreads();
  return s;
}
struct Pt {
  float x, y;
  int n[2];
};
__global__ void shared_forms(const float* x, float* o) {
  static __shared__ float tile[8][9];
  __shared__ Pt pts[32];
  __shared__ float4 q[8];
  __shared__ int once;
  if (threadIdx.x == 0) once = 5;
  tile[threadIdx.x / 4 % 8][threadIdx.x % 4] = x[threadIdx.x];
  pts[threadIdx.x] = {1, 2, {3, 4}};
  if (threadIdx.x < 8) q[threadIdx.x] = make_float4(1, 2, 3, threadIdx.x);
  __syncthreads();
  o[threadIdx.x] = tile[threadIdx.x / 4 % 8][threadIdx.x % 4] + pts[31 - threadIdx.x].n[1] + q[threadIdx.x % 8].w +
                   once + sum<float, 32>(x);
}
extern __shared__ double dyn[];
__shared__ int file_scope[32];
__global__ void dynamic(float* o) {
  dyn[threadIdx.x] = threadIdx.x;
  file_scope[threadIdx.x] = 1;
  __syncthreads();
  o[threadIdx.x] = dyn[31 - threadIdx.x] + file_scope[31 - threadIdx.x];
}

/// Runs under inspection: nothing may be reported.
template <class Run>
void silently(Run run) {
  simt::InspectionResult result;
  {
    const simt::Inspection inspection(result);
    run();
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  }
  for (const simt::Defect& defect : result.defects) ADD_FAILURE() << defect.text();
}

TEST(LanguageKernels, VectorTypes) {
  const DeviceArray<float4> in(64), out(64), flags(64);
  const std::vector<float4> ones(64, make_float4(1, 2, 3, 4));
  cudaMemcpy(in.data(), ones.data(), sizeof(float4) * 64, cudaMemcpyHostToDevice);
  silently([&] { vectors<<<dim3(2), dim3{32, 1}>>>(in.data(), out.data(), flags.data(), 64); });
  const float4 got = out.to_host()[5];
  EXPECT_EQ(got.x, 24);
  EXPECT_EQ(got.y, 10);
  EXPECT_EQ(got.z, 8);
  EXPECT_EQ(got.w, 8);
}

TEST(LanguageKernels, Classes) {
  const DeviceArray<float> out(32);
  silently([&] { cpp<<<1, 32>>>(out.data()); });
  EXPECT_EQ(out.to_host()[0], 43);
  EXPECT_EQ(out.to_host()[1], 42);
  silently([&] { apply<<<1, 32>>>([=] __host__ __device__(float x) { return x * 2; }, out.data()); });
  EXPECT_EQ(out.to_host()[3], 6);
}

TEST(LanguageKernels, SharedMemory) {
  const DeviceArray<float> in(32), out(32);
  const std::vector<float> ones(32, 1);
  cudaMemcpy(in.data(), ones.data(), sizeof(float) * 32, cudaMemcpyHostToDevice);
  silently([&] { shared_forms<<<1, 32>>>(in.data(), out.data()); });
  EXPECT_EQ(out.to_host()[3], 1 + 4 + 3 + 5 + 32);
  silently([&] { dynamic<<<1, 32, 32 * sizeof(double)>>>(out.data()); });
  EXPECT_EQ(out.to_host()[3], 29);
}

}  // namespace
}  // namespace gemm
