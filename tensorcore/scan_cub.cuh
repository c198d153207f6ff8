// What tensorcore/05_scan.cu is compared with: CUB's scan, on FP32 cores.
#pragma once

#include <algorithm>
#include <cstdint>

#include "common/kernel/launch.cuh"
#include "tensorcore/scan_rows.hpp"
#ifdef __CUDACC__
#include <cub/warp/warp_scan.cuh>
#endif

namespace gemm::scan {

#ifdef __CUDACC__
constexpr int CUB_THREADS = 128, CUB_BLOCKS = 8;  // of a block; of an SM

// CUB's scan of a warp, or of a part of one, on FP32 cores: a lane has eight numbers, and scans these by itself.
template <int WIDTH>
__global__ void __launch_bounds__(CUB_THREADS, CUB_BLOCKS)
    scan_cub(const __half* __restrict__ in, float* out, std::int64_t rows) {
  constexpr int OF_LANE = 8, OF_ROW = WIDTH / OF_LANE;  // numbers; lanes
  using Scan = cub::WarpScan<float, OF_ROW>;
  __shared__ typename Scan::TempStorage storage[CUB_THREADS / OF_ROW];
  const std::int64_t threads = static_cast<std::int64_t>(gridDim.x) * CUB_THREADS;
  for (std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * CUB_THREADS + threadIdx.x; at < rows * OF_ROW;
       at += threads) {
    const uint4 words = reinterpret_cast<const uint4*>(in)[at];
    const auto* numbers = reinterpret_cast<const __half*>(&words);
    float sums[OF_LANE], before;
    sums[0] = __half2float(numbers[0]);
#pragma unroll
    for (int i = 1; i < OF_LANE; ++i) sums[i] = sums[i - 1] + __half2float(numbers[i]);
    Scan(storage[threadIdx.x / OF_ROW]).ExclusiveSum(sums[OF_LANE - 1], before);
#pragma unroll
    for (int i = 0; i < OF_LANE; i += 4) {
      reinterpret_cast<float4*>(out)[at * 2 + i / 4] =
          make_float4(before + sums[i], before + sums[i + 1], before + sums[i + 2], before + sums[i + 3]);
    }
  }
}
#endif

// None on the executor: CUB comes with CUDA.
template <int WIDTH>
batches::Form cub_form([[maybe_unused]] const Rows& rows, [[maybe_unused]] int sm_count) {
#ifdef __CUDACC__
  const auto launch = [&rows, sm_count](std::int64_t count) {
    const std::int64_t needed = (count * WIDTH / 8 + CUB_THREADS - 1) / CUB_THREADS;
    const std::int64_t blocks = std::min<std::int64_t>(needed, sm_count * CUB_BLOCKS);
    return gemm::launch(scan_cub<WIDTH>, {.grid = static_cast<unsigned>(blocks), .block = CUB_THREADS}, rows.in(),
                        rows.out(), count);
  };
  return {"cub", launch, "", reinterpret_cast<const void*>(scan_cub<WIDTH>)};
#else
  return {"cub", {}, "CUB comes with CUDA: not on the executor", nullptr};
#endif
}

}  // namespace gemm::scan
