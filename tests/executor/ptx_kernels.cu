// The part of tests/executor/tensor_kernels.hpp that goes through common/kernel/ptx.cuh.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <stdexcept>

#include "common/backend/device_memory.hpp"
#include "common/kernel/launch.cuh"
#include "common/kernel/ptx.cuh"
#include "tests/executor/tensor_kernels.hpp"

namespace gemm::tensor_test {
namespace {

template <class T>
DeviceArray<T> to_device(const std::vector<T>& host) {
  DeviceArray<T> device(host.size());
  check_cuda(cudaMemcpy(device.data(), host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice), "copy");
  return device;
}

void require(const Status& status) {
  if (!status) throw std::runtime_error(status.reason);
}

__device__ std::uint32_t half_bits(double x) {
  return __half_as_ushort(__float2half(static_cast<float>(x)));
}
__device__ std::uint32_t bfloat_bits(double x) {
  return __bfloat16_as_ushort(__float2bfloat16(static_cast<float>(x)));
}
__device__ double half_value(std::uint32_t bits) {
  return __half2float(__ushort_as_half(static_cast<unsigned short>(bits)));
}

// Registers filled by hand from row-major matrices, as PTX's documentation has it.
template <MmaType type>
__global__ void mma_kernel(const double* a, const double* b, const double* c, double* d) {
  const int g = threadIdx.x / 4, t = threadIdx.x % 4;
  if constexpr (type == MmaType::m8n8k4_f64) {
    const double ra[1] = {a[g * 4 + t]}, rb[1] = {b[t * 8 + g]};
    const double rc[2] = {c[g * 8 + 2 * t], c[g * 8 + 2 * t + 1]};
    double rd[2];
    ptx::mma_m8n8k4_f64(rd, ra, rb, rc);
    d[g * 8 + 2 * t] = rd[0];
    d[g * 8 + 2 * t + 1] = rd[1];
  } else if constexpr (type == MmaType::m16n8k4_f64) {
    const int top = g * 8 + 2 * t, bottom = top + 64;
    const double ra[2] = {a[g * 4 + t], a[(g + 8) * 4 + t]}, rb[1] = {b[t * 8 + g]};
    const double rc[4] = {c[top], c[top + 1], c[bottom], c[bottom + 1]};
    double rd[4];
    ptx::mma_m16n8k4_f64(rd, ra, rb, rc);
    for (int i = 0; i < 2; ++i) {
      d[top + i] = rd[i];
      d[bottom + i] = rd[2 + i];
    }
  } else {
    constexpr int k = type <= MmaType::m16n8k16_f32_bf16 ? 16 : 8;
    constexpr bool tf32 = type == MmaType::m16n8k8_f32_tf32;
    constexpr int a_count = tf32 ? 4 : k / 4, b_count = tf32 ? 2 : k / 8;
    const auto bits = [](double x) { return type == MmaType::m16n8k16_f32_bf16 ? bfloat_bits(x) : half_bits(x); };
    std::uint32_t ra[a_count], rb[b_count];
    for (int i = 0; i < a_count; ++i) {
      const int row = g + i % 2 * 8;
      if constexpr (tf32) {
        ra[i] = ptx::cvt_rna_tf32(static_cast<float>(a[row * k + t + i / 2 * 4]));
      } else {
        const double* pair = a + row * k + 2 * t + i / 2 * 8;
        ra[i] = bits(pair[0]) | bits(pair[1]) << 16;
      }
    }
    for (int i = 0; i < b_count; ++i) {
      if constexpr (tf32) {
        rb[i] = ptx::cvt_rna_tf32(static_cast<float>(b[(t + 4 * i) * 8 + g]));
      } else {
        const double* pair = b + (2 * t + 8 * i) * 8 + g;
        rb[i] = bits(pair[0]) | bits(pair[8]) << 16;
      }
    }
    const int top = g * 8 + 2 * t, bottom = top + 64;  // places of the lane's pairs in C and D
    if constexpr (type == MmaType::m16n8k16_f16_f16 || type == MmaType::m16n8k8_f16_f16) {
      const std::uint32_t rc[2] = {bits(c[top]) | bits(c[top + 1]) << 16, bits(c[bottom]) | bits(c[bottom + 1]) << 16};
      std::uint32_t rd[2];
      if constexpr (k == 16) {
        ptx::mma_m16n8k16_f16_f16(rd, ra, rb, rc);
      } else {
        ptx::mma_m16n8k8_f16_f16(rd, ra, rb, rc);
      }
      d[top] = half_value(rd[0] & 0xffff);
      d[top + 1] = half_value(rd[0] >> 16);
      d[bottom] = half_value(rd[1] & 0xffff);
      d[bottom + 1] = half_value(rd[1] >> 16);
    } else {
      const float rc[4] = {static_cast<float>(c[top]), static_cast<float>(c[top + 1]), static_cast<float>(c[bottom]),
                           static_cast<float>(c[bottom + 1])};
      float rd[4];
      if constexpr (type == MmaType::m16n8k16_f32_f16) ptx::mma_m16n8k16_f32_f16(rd, ra, rb, rc);
      if constexpr (type == MmaType::m16n8k16_f32_bf16) ptx::mma_m16n8k16_f32_bf16(rd, ra, rb, rc);
      if constexpr (type == MmaType::m16n8k8_f32_f16) ptx::mma_m16n8k8_f32_f16(rd, ra, rb, rc);
      if constexpr (type == MmaType::m16n8k8_f32_tf32) ptx::mma_m16n8k8_f32_tf32(rd, ra, rb, rc);
      d[top] = rd[0];
      d[top + 1] = rd[1];
      d[bottom] = rd[2];
      d[bottom + 1] = rd[3];
    }
  }
}

template <int matrices, bool transposed>
__global__ void ldmatrix_kernel(std::uint32_t* out) {
  constexpr int leading = 24;  // 48 bytes: rows stay aligned to 16
  __shared__ __align__(16) std::uint16_t elements[32 * leading];
  for (int i = threadIdx.x; i < 32 * 8; i += 32) elements[i / 8 * leading + i % 8] = static_cast<std::uint16_t>(i);
  __syncthreads();
  const void* row = elements + threadIdx.x * leading;
  std::uint32_t d[matrices];
  if constexpr (matrices == 1 && !transposed) ptx::ldmatrix_x1(d, row);
  if constexpr (matrices == 2 && !transposed) ptx::ldmatrix_x2(d, row);
  if constexpr (matrices == 4 && !transposed) ptx::ldmatrix_x4(d, row);
  if constexpr (matrices == 1 && transposed) ptx::ldmatrix_x1_trans(d, row);
  if constexpr (matrices == 2 && transposed) ptx::ldmatrix_x2_trans(d, row);
  if constexpr (matrices == 4 && transposed) ptx::ldmatrix_x4_trans(d, row);
  for (int i = 0; i < matrices; ++i) out[threadIdx.x * matrices + i] = d[i];
}

constexpr int copies = 64;

template <int bytes, bool around_l1>
__global__ void copy_kernel(const std::uint8_t* from, std::uint8_t* out, int source_bytes) {
  __shared__ __align__(16) std::uint8_t buffer[copies * bytes];
  const int mine = threadIdx.x * bytes;
  for (int i = 0; i < bytes; ++i) buffer[mine + i] = 0xee;
  __syncthreads();
  if constexpr (around_l1) {
    ptx::cp_async_cg(buffer + mine, from + mine, source_bytes);
  } else {
    ptx::cp_async_ca<bytes>(buffer + mine, from + mine, source_bytes);
  }
  ptx::cp_async_wait_all();
  __syncthreads();
  const int other = (copies - 1 - threadIdx.x) * bytes;  // what another thread copied
  for (int i = 0; i < bytes; ++i) out[other + i] = buffer[other + i];
}

constexpr int tile = 128;  // floats; one a thread

__global__ void stages_kernel(const float* from, float* out, int tiles) {
  __shared__ float buffer[3][tile];
  const int x = threadIdx.x;
  const auto start = [&](int i) {
    if (i < tiles) ptx::cp_async_ca<4>(&buffer[i % 3][x], from + i * tile + x);
    ptx::cp_async_commit();  // an empty group at the end keeps the count
  };
  start(0);
  start(1);
  for (int i = 0; i < tiles; ++i) {
    ptx::cp_async_wait<1>();
    __syncthreads();  // tile i is there, and everyone has read tile i - 1, whose buffer is next
    start(i + 2);
    out[i * tile + (x + 1) % tile] = buffer[i % 3][(x + 1) % tile];
  }
}

template <MmaType type>
Status launch_mma(const double* a, const double* b, const double* c, double* d) {
  return launch(mma_kernel<type>, {.block = 32}, a, b, c, d);
}

}  // namespace

std::vector<double> mma_product(MmaType type, const std::vector<double>& a, const std::vector<double>& b,
                                const std::vector<double>& c) {
  constexpr decltype(&launch_mma<MmaType::m8n8k4_f64>) launchers[] = {
      launch_mma<MmaType::m16n8k16_f32_f16>,  launch_mma<MmaType::m16n8k16_f16_f16>,
      launch_mma<MmaType::m16n8k16_f32_bf16>, launch_mma<MmaType::m16n8k8_f32_f16>,
      launch_mma<MmaType::m16n8k8_f16_f16>,   launch_mma<MmaType::m16n8k8_f32_tf32>,
      launch_mma<MmaType::m8n8k4_f64>,        launch_mma<MmaType::m16n8k4_f64>};
  const auto da = to_device(a), db = to_device(b), dc = to_device(c);
  const DeviceArray<double> d(c.size());
  require(launchers[static_cast<int>(type)](da.data(), db.data(), dc.data(), d.data()));
  return d.to_host();
}

std::vector<std::uint32_t> ldmatrix(int matrices, bool transposed) {
  const DeviceArray<std::uint32_t> out(32 * matrices);
  const auto run = [&](auto kernel) { require(launch(kernel, {.block = 32}, out.data())); };
  if (matrices == 1) run(transposed ? ldmatrix_kernel<1, true> : ldmatrix_kernel<1, false>);
  if (matrices == 2) run(transposed ? ldmatrix_kernel<2, true> : ldmatrix_kernel<2, false>);
  if (matrices == 4) run(transposed ? ldmatrix_kernel<4, true> : ldmatrix_kernel<4, false>);
  return out.to_host();
}

std::vector<std::uint8_t> copy_async(int bytes, bool around_l1, int source_bytes,
                                     const std::vector<std::uint8_t>& from) {
  const auto device_from = to_device(from);
  const DeviceArray<std::uint8_t> out(from.size());
  const auto run = [&](auto kernel) {
    require(launch(kernel, {.block = copies}, device_from.data(), out.data(), source_bytes));
  };
  if (bytes == 4) run(copy_kernel<4, false>);
  if (bytes == 8) run(copy_kernel<8, false>);
  if (bytes == 16) run(around_l1 ? copy_kernel<16, true> : copy_kernel<16, false>);
  return out.to_host();
}

std::vector<float> copy_in_stages(int tiles, const std::vector<float>& from) {
  const auto device_from = to_device(from);
  const DeviceArray<float> out(from.size());
  require(launch(stages_kernel, {.block = tile}, device_from.data(), out.data(), tiles));
  return out.to_host();
}

}  // namespace gemm::tensor_test
