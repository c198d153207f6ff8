// Cooperative groups: partitions, scans, reductions, tiles larger than a warp, copies; and who is there in divergent code.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_pipeline.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/executor/defects.hpp"

namespace cg = cooperative_groups;

namespace gemm {
namespace {

__device__ int reduce_sum(cg::thread_group g, int* temp, int val) {
  int lane = g.thread_rank();
  for (int i = g.size() / 2; i > 0; i /= 2) {
    temp[lane] = val;
    g.sync();
    if (lane < i) val += temp[lane + i];
    g.sync();
  }
  return val;
}
__device__ int atomic_agg_inc(int* p) {
  cg::coalesced_group g = cg::coalesced_threads();
  int prev = 0;
  if (g.thread_rank() == 0) prev = atomicAdd(p, g.size());
  return g.shfl(prev, 0) + g.thread_rank();
}
__global__ void basics(int* out) {
  __shared__ int temp[128];
  cg::thread_block block = cg::this_thread_block();
  int s = reduce_sum(block, temp, block.thread_rank());
  if (block.thread_rank() == 0) out[0] = s;
  block.sync();
  cg::thread_group tile = cg::tiled_partition(block, 16);
  int t = reduce_sum(tile, temp + block.thread_rank() / 16 * 16, 1);
  if (block.thread_rank() == 16) out[1] = t;
  auto t32 = cg::tiled_partition<32>(block);
  auto t8 = cg::tiled_partition<8>(t32);
  cg::thread_block_tile<8> any8 = t8;
  if (block.thread_rank() == 33) {
    out[2] = t32.meta_group_rank();
    out[3] = t32.meta_group_size();
    out[4] = any8.meta_group_rank();
    out[5] = t8.size();
    out[6] = cg::this_thread().size();
  }
  int incl = cg::inclusive_scan(t32, (int)t32.thread_rank() + 1), excl = cg::exclusive_scan(t8, 2),
      mx = cg::inclusive_scan(t32, 31 - (int)t32.thread_rank(), cg::greater<int>());
  if (block.thread_rank() == 40) {
    out[7] = incl;
    out[8] = excl;
    out[9] = mx;
  }
  if (block.thread_rank() == 45) out[10] = excl;
  auto bin = cg::binary_partition(t32, t32.thread_rank() % 3 == 0);
  if (block.thread_rank() == 3) {
    out[11] = bin.size();
    out[12] = bin.thread_rank();
    out[13] = bin.meta_group_rank();
    out[14] = bin.meta_group_size();
  }
  auto lab = cg::labeled_partition(t32, t32.thread_rank() / 5);
  int labsum = cg::reduce(lab, (int)t32.thread_rank(), cg::plus<int>());
  if (block.thread_rank() == 11) {
    out[15] = lab.size();
    out[16] = labsum;
    out[17] = lab.meta_group_rank();
    out[18] = lab.meta_group_size();
  }
  if (threadIdx.x % 2 == 0) {
    cg::coalesced_group act = cg::coalesced_threads();
    int n = act.size();
    int r = cg::reduce(act, 1, cg::plus<int>());
    auto quarter = cg::tiled_partition(act, 4);
    if (threadIdx.x == 6) {
      out[19] = n;
      out[20] = act.thread_rank();
      out[21] = r;
      out[22] = quarter.size() * 100 + quarter.thread_rank();
    }
    act.sync();
  } else {
    unsigned m = __activemask();
    if (threadIdx.x == 5) out[23] = m;
  }
  __syncwarp();
  for (unsigned i = 0; i < threadIdx.x % 4; ++i) {
    unsigned m = __activemask();
    if (threadIdx.x == 3) out[24 + i] = __popc(m);
  }
  if (block.thread_rank() < 10) cg::invoke_one(cg::coalesced_threads(), [&] { out[27] = 77; });
  int b = cg::invoke_one_broadcast(t32, [&] { return (int)threadIdx.x + 5; });
  if (threadIdx.x == 70) out[28] = b;
}
__global__ void aggregated(const int* in, int* out, int* n, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count && in[i] > 0) out[atomic_agg_inc(n)] = in[i];
}
__shared__ cg::block_tile_memory<256> scratch;
__global__ void big(int* out) {
  cg::thread_block block = cg::this_thread_block(scratch);
  auto t = cg::tiled_partition<64>(block);
  int s = cg::reduce(t, (int)t.thread_rank(), cg::plus<int>());
  int f = t.shfl((int)block.thread_rank(), 3), a = t.any(t.thread_rank() == 63), l = t.all(t.thread_rank() < 63),
      sc = cg::inclusive_scan(t, 1), ex = cg::exclusive_scan(t, 1);
  if (t.meta_group_rank() == 1)
    for (int i = 0; i < 3; ++i) t.sync();
  block.sync();
  if (block.thread_rank() == 200) {
    out[0] = s;
    out[1] = f;
    out[2] = a;
    out[3] = l;
    out[4] = sc;
    out[5] = t.meta_group_rank();
    out[6] = t.meta_group_size();
    out[7] = ex;
    out[8] = t.size();
  }
}
__global__ void copies(const float4* in, float* out, int, int wrong) {
  __shared__ float4 tile[2][64];
  __shared__ int ids[37];
  cg::thread_block block = cg::this_thread_block();
  cg::memcpy_async(block, tile[0], in, sizeof(float4) * 64);
  cg::memcpy_async(block, tile[1], 64, in + 64, 64);
  cg::memcpy_async(block, ids, reinterpret_cast<const int*>(in), sizeof(int) * 37);
  if (!wrong) cg::wait_prior<1>(block);
  out[block.thread_rank()] = tile[1][63 - threadIdx.x].x + tile[0][threadIdx.x].y;
  cg::wait(block);
  if (threadIdx.x < 37) out[threadIdx.x] += ids[36 - threadIdx.x] > 0;
  block.sync();
  __pipeline_memcpy_async(&tile[0][threadIdx.x], &in[threadIdx.x], sizeof(float4));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  block.sync();
  out[threadIdx.x] += tile[0][63 - threadIdx.x].z;
}

template <class Run>
simt::InspectionResult inspected(Run run) {
  simt::InspectionResult result;
  const simt::Inspection inspection(result);
  run();
  cudaDeviceSynchronize();
  return result;
}
void expect_silence(const simt::InspectionResult& result) {
  for (const simt::Defect& defect : result.defects) ADD_FAILURE() << defect.text();
}
template <class T>
DeviceArray<T> upload(const std::vector<T>& host) {
  DeviceArray<T> array(host.size());
  cudaMemcpy(array.data(), host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice);
  return array;
}

TEST(LanguageGroups, WithinAWarp) {
  const std::vector<int> expected = {8128, 16, 1, 4,  0,  8, 1, 45, 0, 31, 10,  11,
                                     1,    1,  2, 5,  60, 2, 7, 16, 3, 16, 403, static_cast<int>(0xaaaaaaaau),
                                     24,   16, 8, 77, 69};
  const DeviceArray<int> out = upload(std::vector<int>(64));
  expect_silence(inspected([&] { basics<<<1, 128>>>(out.data()); }));
  const auto got = out.to_host();
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(got[i], expected[i]) << "number " << i;
}

TEST(LanguageGroups, LargerThanAWarp) {
  const std::vector<int> expected = {2016, 195, 1, 0, 9, 3, 4, 8, 64};
  const DeviceArray<int> out = upload(std::vector<int>(64));
  expect_silence(inspected([&] { big<<<1, 256>>>(out.data()); }));
  const auto got = out.to_host();
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(got[i], expected[i]) << "number " << i;
}

TEST(LanguageGroups, AggregatedAtomics) {
  std::vector<int> values(100);
  for (int i = 0; i < 100; ++i) values[i] = i % 3 - 1;
  const DeviceArray<int> in = upload(values), count = upload(std::vector<int>(1)), out(100);
  expect_silence(inspected([&] { aggregated<<<2, 64>>>(in.data(), out.data(), count.data(), 100); }));
  EXPECT_EQ(count.to_host()[0], std::count(values.begin(), values.end(), 1));
}

TEST(LanguageGroups, AsynchronousCopies) {
  std::vector<float4> values(128);
  for (int i = 0; i < 128; ++i) values[i] = make_float4(i, 1000 + i, 2, 3);
  const DeviceArray<float4> in = upload(values);
  const DeviceArray<float> out(64);
  expect_silence(inspected([&] { copies<<<1, 64>>>(in.data(), out.data(), 64, 0); }));
  EXPECT_EQ(out.to_host()[0], 1130);
  EXPECT_EQ(out.to_host()[63], 1129);
  const auto result = inspected([&] { copies<<<1, 64>>>(in.data(), out.data(), 64, 1); });
  EXPECT_FALSE(result.defects.empty()) << "a forgotten wait";
}

}  // namespace
}  // namespace gemm
