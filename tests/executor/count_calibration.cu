// The hardware's table of shared-memory wavefronts once more (test_memory_cost.cpp holds the bare cost model against
// it), this time by kernels that make these accesses: lane l touches element index[l].
#include "tests/executor/calibration_table.hpp"
#include "tests/executor/count_testing.hpp"

namespace gemm {
namespace {

constexpr int table_bytes = 16384;  // the table's largest address is below

template <class T>
__global__ void load_kernel(const int* index, T* out) {
  __shared__ T cells[table_bytes / sizeof(T)];
  for (unsigned i = threadIdx.x; i < table_bytes / sizeof(T); i += 32) cells[i] = T(1);
  __syncthreads();
  out[threadIdx.x] = cells[index[threadIdx.x]];
}

template <class T>
__global__ void store_kernel(const int* index, T* out) {
  __shared__ T cells[table_bytes / sizeof(T)];
  const int i = index[threadIdx.x];
  cells[i] = T(1);
  __syncthreads();
  out[threadIdx.x] = cells[i];  // stores that nobody reads are left out
}

template <class T>
void expect_row(const CalibrationRow& row) {
  DeviceArray<int> index(32);
  DeviceArray<T> out(32);
  check_cuda(cudaMemcpy(index.data(), row.index.data(), sizeof row.index, cudaMemcpyHostToDevice), "copy");
  // Lanes that store to one place are a race, which is not the point here.
  const Counts counts =
      counts_of(observed(row.store ? store_kernel<T> : load_kernel<T>, {.block = 32}, index.data(), out.data()))
          .value();
  const AccessCounts& access = row.store ? counts.shared_store : counts.shared_load;
  EXPECT_EQ(access.requests, 1u);
  EXPECT_EQ(access.bytes, 32 * sizeof(T));
  EXPECT_EQ(access.wavefronts, row.wavefronts);
  EXPECT_EQ(counts.global_load.requests, 1u);
}

TEST(Counts, EveryRowOfTheHardwareTableAsAKernel) {
  const auto rows = calibration_table(GEMM_SOURCE_DIR "/tests/executor/shared_wavefronts_h200.csv");
  EXPECT_EQ(rows.size(), 198u);
  for (const CalibrationRow& row : rows) {
    SCOPED_TRACE(row.line);
    if (row.bytes == 4) expect_row<float>(row);
    if (row.bytes == 8) {
      expect_row<float2>(row);
      expect_row<double>(row);
    }
    if (row.bytes == 16) expect_row<float4>(row);
  }
}

}  // namespace
}  // namespace gemm
