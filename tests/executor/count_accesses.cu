// What single accesses, instructions and operations count: widths, atomics, ldmatrix, cp.async, FMAs.
#include <cuda_fp16.h>
#include <mma.h>

#include <cmath>

#include "common/kernel/ptx.cuh"
#include "tests/executor/count_testing.hpp"

extern __shared__ __align__(1024) unsigned char smem[];

namespace gemm {
namespace {

void expect(const AccessCounts& c, const AccessCounts& expected) {
  EXPECT_EQ(c.requests, expected.requests);
  EXPECT_EQ(c.lanes, expected.lanes);
  EXPECT_EQ(c.bytes, expected.bytes);
  EXPECT_EQ(c.sectors, expected.sectors);
  EXPECT_EQ(c.lines, expected.lines);
  EXPECT_EQ(c.wavefronts, expected.wavefronts);
  EXPECT_EQ(c.conflicts, expected.conflicts);
}

template <class T>
__global__ void copy_kernel(const T* in, T* out) {
  out[threadIdx.x] = in[threadIdx.x];
}
template <class T>
__global__ void through_shared_kernel(const T* in, T* out) {
  __shared__ T cells[32];
  cells[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = cells[threadIdx.x];
}
template <class T>
void expect_width(std::uint64_t sectors, std::uint64_t lines) {
  const auto in = zeros<T>(32), out = zeros<T>(32);
  const AccessCounts global{1, 32, 32 * sizeof(T), sectors, lines, lines, 0},
      shared{1, 32, 32 * sizeof(T), 0, 0, lines, 0};
  for (const bool through : {false, true}) {
    const Counts counts =
        counted(through ? through_shared_kernel<T> : copy_kernel<T>, {.block = 32}, in.data(), out.data());
    expect(counts.global_load, global);
    expect(counts.global_store, global);
    expect(counts.shared_load, through ? shared : AccessCounts{});
    expect(counts.shared_store, through ? shared : AccessCounts{});
    EXPECT_EQ(counts.shared_bytes, through ? 32 * sizeof(T) : 0);
  }
}
TEST(CountAccesses, OfEveryWidth) {
  expect_width<char>(1, 1);
  expect_width<short>(2, 1);
  expect_width<char2>(2, 1);
  expect_width<int>(4, 1);
  expect_width<float>(4, 1);
  expect_width<uchar4>(4, 1);
  expect_width<double>(8, 2);
  expect_width<float2>(8, 2);
  expect_width<long long>(8, 2);
  expect_width<float4>(16, 4);
  expect_width<double2>(16, 4);
}

struct Twelve {
  float x, y, z;
};
__global__ void twelve_kernel(const Twelve* in, Twelve* out) {
  out[threadIdx.x] = in[threadIdx.x];
}
__global__ void float3_kernel(const float3* in, float3* out) {
  out[threadIdx.x] = in[threadIdx.x];
}
TEST(CountAccesses, StructsGoInPiecesOfTheirAlignment) {
  // Three accesses 12 bytes apart: 384 bytes are 12 sectors in 3 lines, each touched by all three.
  const AccessCounts thrice{3, 96, 384, 36, 9, 3, 0};
  {
    const auto in = zeros<Twelve>(32), out = zeros<Twelve>(32);
    const Counts counts = counted(twelve_kernel, {.block = 32}, in.data(), out.data());
    expect(counts.global_load, thrice);
    expect(counts.global_store, thrice);
  }
  const auto in = zeros<float3>(32), out = zeros<float3>(32);
  const Counts counts = counted(float3_kernel, {.block = 32}, in.data(), out.data());
  expect(counts.global_load, thrice);
  expect(counts.global_store, thrice);
}

__global__ void strided_kernel(const float* in, float* out, int stride, int offset) {
  __shared__ float cells[32 * 33];
  for (int i = threadIdx.x; i < 32 * 33; i += 32) cells[i] = 0.0f;
  __syncthreads();
  out[threadIdx.x] = in[threadIdx.x * stride + offset] + cells[threadIdx.x * stride];
}
TEST(CountAccesses, StridesCostSectorsAndConflicts) {
  const auto in = zeros<float>(32 * 33 + 8), out = zeros<float>(32);
  const auto run = [&](int stride, int offset) {
    return counted(strided_kernel, {.block = 32}, in.data(), out.data(), stride, offset);
  };
  expect(run(0, 0).global_load, {1, 32, 128, 1, 1, 1, 0});
  expect(run(1, 0).global_load, {1, 32, 128, 4, 1, 1, 0});
  expect(run(1, 1).global_load, {1, 32, 128, 5, 2, 1, 0});
  expect(run(2, 0).global_load, {1, 32, 128, 8, 2, 2, 1});
  expect(run(32, 0).global_load, {1, 32, 128, 32, 32, 32, 31});
  expect(run(33, 0).global_load, {1, 32, 128, 32, 32, 1, 0});
  expect(run(32, 0).shared_load, {1, 32, 128, 0, 0, 32, 31});
  expect(run(33, 0).shared_load, {1, 32, 128, 0, 0, 1, 0});
  expect(run(0, 0).shared_load, {1, 32, 128, 0, 0, 1, 0});
}

__global__ void atomics_kernel(int* one, int* many, unsigned long long* wide) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(one, 1);
  atomicMax(many + threadIdx.x, 5);
  atomicCAS(wide + threadIdx.x, 0ull, 1ull);
  atomicAdd(&sum, 1);
}
TEST(CountAccesses, AtomicsAreCountedApart) {
  const auto one = zeros<int>(1), many = zeros<int>(64);
  const auto wide = zeros<unsigned long long>(64);
  const Counts counts = counted(atomics_kernel, {.block = 64}, one.data(), many.data(), wide.data());
  EXPECT_EQ(counts.global_atomic.requests, 6u);
  EXPECT_EQ(counts.global_atomic.lanes, 192u);
  EXPECT_EQ(counts.global_atomic.bytes, 64u * (4 + 4 + 8));
  EXPECT_EQ(counts.global_atomic.sectors, 2u * (1 + 4 + 8));
  EXPECT_EQ(counts.shared_atomic.requests, 2u);
  EXPECT_EQ(counts.shared_atomic.lanes, 64u);
  expect(counts.global_load, {});
  expect(counts.global_store, {});
  expect(counts.shared_load, {});
  EXPECT_EQ(counts.shared_store.lanes, 1u);
}

template <int matrices>
__global__ void ldmatrix_kernel(std::uint32_t* out, int row_halves) {
  __shared__ __align__(16) std::uint32_t tile[32 * 36];
  for (unsigned i = threadIdx.x; i < 32 * 36; i += 32) tile[i] = 0;
  __syncthreads();
  std::uint32_t d[matrices];
  const void* const row = reinterpret_cast<const char*>(tile) + threadIdx.x % 32 * 2 * row_halves;
  if constexpr (matrices == 1) ptx::ldmatrix_x1(d, row);
  if constexpr (matrices == 2) ptx::ldmatrix_x2(d, row);
  if constexpr (matrices == 4) ptx::ldmatrix_x4(d, row);
  out[threadIdx.x] = d[matrices - 1];
}
TEST(CountAccesses, Ldmatrix) {
  const auto out = zeros<std::uint32_t>(32);
  const auto run = [&](auto kernel, int row_halves) {
    return counted(kernel, {.block = 32}, out.data(), row_halves).shared_load;
  };
  // A row is 16 bytes, eight of them one wavefront: if they lie in different banks, as with rows of 8 or of 72 halves.
  for (const int halves : {8, 72}) {
    expect(run(ldmatrix_kernel<1>, halves), {1, 8, 128, 0, 0, 1, 0});
    expect(run(ldmatrix_kernel<2>, halves), {1, 16, 256, 0, 0, 2, 0});
    expect(run(ldmatrix_kernel<4>, halves), {1, 32, 512, 0, 0, 4, 0});
  }
  expect(run(ldmatrix_kernel<4>, 64), {1, 32, 512, 0, 0, 32, 28});
}

template <int bytes>
__global__ void cp_async_kernel(const char* in, char* out, bool wait) {
  __shared__ __align__(16) char cells[2][32 * bytes];
  const unsigned t = threadIdx.x;
  for (int stage = 0; stage < 2; ++stage) {
    ptx::cp_async_ca<bytes>(&cells[stage][t * bytes], in + (stage * 32 + t) * bytes);
    ptx::cp_async_commit();
  }
  if (!wait) return;
  ptx::cp_async_wait<1>();
  ptx::cp_async_wait<0>();
  out[t] = cells[0][t * bytes];
}
TEST(CountAccesses, CpAsync) {
  const auto in = zeros<char>(64 * 16), out = zeros<char>(32);
  const Counts narrow = counted(cp_async_kernel<4>, {.block = 32}, in.data(), out.data(), true);
  expect(narrow.global_load, {2, 64, 256, 8, 2, 2, 0});
  expect(narrow.shared_store, {2, 64, 256, 0, 0, 2, 0});
  const Counts wide = counted(cp_async_kernel<16>, {.block = 32}, in.data(), out.data(), true);
  expect(wide.global_load, {2, 64, 1024, 32, 8, 8, 0});
  expect(wide.shared_store, {2, 64, 1024, 0, 0, 8, 0});
  // The copy is made, and its store counted, when somebody waits for it.
  const Counts lost = counted(cp_async_kernel<16>, {.block = 32}, in.data(), out.data(), false);
  EXPECT_EQ(lost.global_load.requests, 2u);
  EXPECT_EQ(lost.shared_store.requests, 0u);
}

// At the edge of a matrix: lane l has `l` bytes left, up to 16, and the rest of its 16 become zeros.
__global__ void cp_async_edge_kernel(const char* in, char* out) {
  __shared__ __align__(16) char cells[32 * 16];
  const unsigned t = threadIdx.x;
  ptx::cp_async_ca<16>(&cells[t * 16], in + t * 16, t < 16 ? t : 16);
  ptx::cp_async_wait_all();
  out[t] = cells[t * 16 + 15];
}
TEST(CountAccesses, CpAsyncAtAnEdgeIsOneRequest) {
  const auto in = zeros<char>(32 * 16), out = zeros<char>(32);
  const Counts counts = counted(cp_async_edge_kernel, {.block = 32}, in.data(), out.data());
  EXPECT_EQ(counts.global_load.requests, 1u);
  EXPECT_EQ(counts.global_load.lanes, 31u) << "lane 0 has nothing to read";
  EXPECT_EQ(counts.global_load.sectors, 16u);
  expect(counts.shared_store, {1, 32, 512, 0, 0, 4, 0});
}

// Lanes at addresses of different alignment take pieces of different size: each size is a request.
__global__ void ranges_kernel(const char* in, char* out) {
  __builtin_memcpy(out + threadIdx.x * 16 + threadIdx.x % 2 * 4, in + threadIdx.x * 16 + threadIdx.x % 2 * 4, 8);
}
TEST(CountAccesses, PiecesOfDifferentSizeStayApart) {
  const auto in = zeros<char>(33 * 16), out = zeros<char>(33 * 16);
  const Counts counts = counted(ranges_kernel, {.block = 32}, in.data(), out.data());
  EXPECT_EQ(counts.global_load.requests, 1u + 2u) << "even lanes 8 bytes, odd lanes twice 4";
  EXPECT_EQ(counts.global_load.lanes, 16u + 32u);
  EXPECT_EQ(counts.global_load.bytes, 32u * 8);
  EXPECT_EQ(counts.global_store.bytes, 32u * 8);
}

__global__ void mma_kernel(float* out, int rounds) {
  const std::uint32_t a[4] = {}, b[2] = {};
  float c[4] = {};
  for (int i = 0; i < rounds; ++i) ptx::mma_m16n8k16_f32_f16(c, a, b, c);
  out[blockIdx.x * blockDim.x + threadIdx.x] = c[0];
}
__global__ void wmma_kernel(float* out) {
  using namespace nvcuda;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
  wmma::fill_fragment(a, __float2half(1.0f));
  wmma::fill_fragment(b, __float2half(1.0f));
  wmma::fill_fragment(c, 0.0f);
  wmma::mma_sync(c, a, b, c);
  wmma::store_matrix_sync(out, c, 16, wmma::mem_row_major);
}
TEST(CountAccesses, TensorCores) {
  const auto out = zeros<float>(3 * 64);
  const Counts counts = counted(mma_kernel, {.grid = 3, .block = 64}, out.data(), 5);
  EXPECT_EQ(counts.tensor_flops, 3u * 2 * 5 * (2 * 16 * 8 * 16));
  EXPECT_EQ(counts.fma32, 0u) << "the executor's own arithmetic does not count";
  EXPECT_EQ(counts.flops(), static_cast<double>(counts.tensor_flops));
  // Nobody looks at these, so they are not counted later on.
  ASSERT_TRUE(launch(mma_kernel, {.grid = 3, .block = 64}, out.data(), 5));
  EXPECT_EQ(counted(mma_kernel, {.grid = 1, .block = 32}, out.data(), 1).tensor_flops, 4096u);
  const auto tile = zeros<float>(256);
  EXPECT_EQ(counted(wmma_kernel, {.block = 32}, tile.data()).tensor_flops, 8192u);
}

template <class T>
__device__ __forceinline__ void step(T& sum, T a, T b) {
  sum += a * b;
}
template <class T>
__device__ __attribute__((noinline)) T called(T a, T b, T c) {
  return a * b - c;
}
template <class T>
__global__ void fma_kernel(const T* in, T* out, int rounds) {
  const T a = in[0], b = in[1];
  T sum = in[threadIdx.x];
  for (int i = 0; i < rounds; ++i) {
    sum = sum * a + b;  // one
    step(sum, a, sum);  // two, in a helper
    sum = b - sum * a;  // three, with signs
    sum = std::fma(sum, a, b);
    if (threadIdx.x < 10) sum = called(sum, a, b);
  }
  sum = sum + a;  // none
  out[threadIdx.x] = sum * b;
}
TEST(CountAccesses, Fmas) {
  const auto floats = zeros<float>(64), float_out = zeros<float>(64);
  const auto doubles = zeros<double>(64), double_out = zeros<double>(64);
  const Counts single = counted(fma_kernel<float>, {.block = 48}, floats.data(), float_out.data(), 7);
  EXPECT_EQ(single.fma32, 7u * (4 * 48 + 10));
  EXPECT_EQ(single.fma64, 0u);
  const Counts twice = counted(fma_kernel<double>, {.block = 48}, doubles.data(), double_out.data(), 7);
  EXPECT_EQ(twice.fma64, 7u * (4 * 48 + 10));
  EXPECT_EQ(twice.fma32, 0u);
  EXPECT_EQ(twice.flops(), 2.0 * 7 * (4 * 48 + 10));
  EXPECT_EQ(counted(fma_kernel<float>, {.block = 48}, floats.data(), float_out.data(), 0).fma32, 0u);
}

__global__ void dynamic_kernel(float* out) {
  __shared__ float cells[32];
  cells[threadIdx.x] = 1.0f;
  reinterpret_cast<float*>(smem)[threadIdx.x] = 2.0f;
  __syncthreads();
  out[threadIdx.x] = cells[31 - threadIdx.x] + reinterpret_cast<float*>(smem)[31 - threadIdx.x];
}
TEST(CountAccesses, SharedMemoryStaticAndDynamic) {
  const auto out = zeros<float>(32);
  const Counts counts = counted(dynamic_kernel, {.block = 32, .dynamic_shared = 256}, out.data());
  EXPECT_EQ(counts.shared_bytes, 128u + 256u);
  expect(counts.shared_store, {2, 64, 256, 0, 0, 2, 0});
  expect(counts.shared_load, {2, 64, 256, 0, 0, 2, 0});
}

}  // namespace
}  // namespace gemm
