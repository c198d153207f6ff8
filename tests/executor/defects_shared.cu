// Kernels with a data race in shared memory: each must be reported with the lines of both parties.
#include <gtest/gtest.h>

#include "common/kernel/ptx.cuh"
#include "tests/executor/defects.hpp"

extern __shared__ __align__(1024) unsigned char smem[];

namespace gemm {
namespace {

constexpr int count = 128;  // threads of a block, unless a test is about one warp
const Demands unwritten_too{.also = {DefectKind::uninitialised_shared}};
const Demands in_warp{.same_warp = true};
const Demands in_warp_unwritten_too{.also = {DefectKind::uninitialised_shared}, .same_warp = true};

struct SharedRace : testing::Test {
  DeviceArray<float> in = counting<float>(4 * count), out = zeros<float>(4 * count);
};

__global__ void missing_first_barrier(const float* in, float* out) {
  __shared__ float tile[count];
  const int t = threadIdx.x;
  tile[t] = in[t];               // WRITE
  out[t] = tile[count - 1 - t];  // READ
}
TEST_F(SharedRace, MissingFirstBarrier) {
  FINDINGS(missing_first_barrier, {.block = count}, in.data(), out.data())
      .expect(DefectKind::shared_race, {"WRITE", "READ"}, unwritten_too);
}

__global__ void missing_second_barrier(const float* in, float* out) {
  __shared__ float tile[count];
  const int t = threadIdx.x;
  float sum = 0;
  for (int k = 0; k < 3; ++k) {
    tile[t] = in[k * count + t];  // WRITE
    __syncthreads();
    sum += tile[count - 1 - t];  // READ
  }
  out[t] = sum;
}
TEST_F(SharedRace, MissingSecondBarrier) {
  FINDINGS(missing_second_barrier, {.block = count}, in.data(), out.data())
      .expect(DefectKind::shared_race, {"WRITE", "READ"});
}

// The first pass splits the words into bytes, the second one comes to words that are split already.
__global__ void missing_second_barrier_bytes(const float* in, float* out) {
  __shared__ unsigned char bytes[count];
  const int t = threadIdx.x;
  float sum = 0;
  for (int k = 0; k < 3; ++k) {
    if (k < 2) __syncthreads();
    bytes[t] = static_cast<unsigned char>(in[k * count + t]);  // WRITE
    __syncthreads();
    sum += bytes[count - 1 - t];  // READ
  }
  out[t] = sum;
}
__global__ void neighbouring_halves_as_words(const float* in, float* out) {
  __shared__ __align__(4) unsigned short halves[count];
  const int t = threadIdx.x;
  for (int k = 0; k < 2; ++k) {
    __syncthreads();
    halves[t] = static_cast<unsigned short>(in[t]);  // WRITE
  }
  if (t < count / 2) out[t] = reinterpret_cast<const unsigned*>(halves)[t];  // READ
}
TEST_F(SharedRace, BytesOfWordsThatAreSplitAlready) {
  FINDINGS(missing_second_barrier_bytes, {.block = count}, in.data(), out.data())
      .expect(DefectKind::shared_race, {"WRITE", "READ"});
  FINDINGS(neighbouring_halves_as_words, {.block = count}, in.data(), out.data())
      .expect(DefectKind::shared_race, {"WRITE", "READ"});
}

// Every thread reads every word, its own included: the other party must not be the writing thread itself.
__global__ void missing_second_barrier_all_read(const float* in, float* out) {
  __shared__ float tile[count];
  const int t = threadIdx.y * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < 2; ++k) {
    tile[t] = in[k * count + t];  // WRITE
    __syncthreads();
    for (int i = 0; i < count; ++i) {
      sum += tile[i];  // READ
    }
  }
  out[t] = sum;
}
TEST_F(SharedRace, MissingSecondBarrierWhereEveryThreadReadsEveryWord) {
  FINDINGS(missing_second_barrier_all_read, {.block = count}, in.data(), out.data())
      .expect(DefectKind::shared_race, {"WRITE", "READ"});
  FINDINGS(missing_second_barrier_all_read, {.block = dim3{16, 8}}, in.data(), out.data())
      .expect(DefectKind::shared_race, {"WRITE", "READ"});
}

// The first one to read is the first one to write, long after: others have read, too.
__global__ void first_reader_writes(const float* in, float* out) {
  __shared__ float cells[32];
  const int t = threadIdx.x;
  cells[t] = in[t];
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < 32; ++i) {
    sum += cells[i];  // READ
  }
  for (int i = 0; i < 2 * count; ++i) sum += in[i];
  cells[t] = sum;  // WRITE
  __syncthreads();
  out[t] = cells[31 - t];
}
TEST_F(SharedRace, FirstReaderWrites) {
  FINDINGS(first_reader_writes, {.block = 32}, in.data(), out.data())
      .expect(DefectKind::shared_race, {"READ", "WRITE"}, in_warp);
}

__global__ void two_writers(float* out) {
  __shared__ float cells[count / 2];
  const int t = threadIdx.x;
  cells[t / 2] = t;  // WRITE
  __syncthreads();
  out[t] = cells[t / 2];
}
TEST_F(SharedRace, TwoThreadsWriteOneWord) {
  FINDINGS(two_writers, {.block = count}, out.data()).expect(DefectKind::shared_race, {"WRITE", "WRITE"}, in_warp);
}

__global__ void two_writers_in_two_warps(float* out) {
  __shared__ float cells[count / 2];
  const int t = threadIdx.x;
  if (t < count / 2) {
    cells[t] = t;  // WRITE1
  } else {
    cells[t - count / 2] = t;  // WRITE2
  }
  __syncthreads();
  out[t] = cells[t / 2];
}
TEST_F(SharedRace, TwoWarpsWriteOneWord) {
  FINDINGS(two_writers_in_two_warps, {.block = count}, out.data())
      .expect(DefectKind::shared_race, {"WRITE1", "WRITE2"});
}

__global__ void read_then_write(const float* in, float* out) {
  __shared__ float ring[count];
  const int t = threadIdx.x;
  ring[t] = in[t];
  __syncthreads();
  const float next = ring[(t + 32) % count];  // READ
  ring[t] = 2 * next;                         // WRITE
  __syncthreads();
  out[t] = ring[t];
}
TEST_F(SharedRace, ReadThenWrite) {
  FINDINGS(read_then_write, {.block = count}, in.data(), out.data()).expect(DefectKind::shared_race, {"READ", "WRITE"});
}

__global__ void warp_reduction_without_syncwarp(const float* in, float* out) {
  __shared__ float sums[32];
  const int t = threadIdx.x;
  sums[t] = in[t];
  __syncwarp();
  for (int half = 16; half > 0; half /= 2) {
    float other = 0;
    if (t < half) {
      other = sums[t + half];  // READ
    }
    if (t < half) sums[t] = sums[t] + other;  // WRITE
  }
  if (t == 0) out[0] = sums[0];
}
TEST_F(SharedRace, WarpReductionWithoutSyncwarp) {
  FINDINGS(warp_reduction_without_syncwarp, {.block = 32}, in.data(), out.data())
      .expect(DefectKind::shared_race, {"READ", "WRITE"}, in_warp);
}

__global__ void half_a_warp_synchronised(const float* in, float* out) {
  __shared__ float cells[32];
  const int t = threadIdx.x;
  cells[t] = in[t];  // WRITE
  __syncwarp(t < 16 ? 0x0000ffffu : 0xffff0000u);
  out[t] = cells[(t + 16) % 32];  // READ
}
TEST_F(SharedRace, OnlyHalvesOfTheWarpSynchronised) {
  FINDINGS(half_a_warp_synchronised, {.block = 32}, in.data(), out.data())
      .expect(DefectKind::shared_race, {"READ", "WRITE"}, in_warp);
}

__global__ void warp_for_block_barrier(const float* in, float* out) {
  __shared__ float cells[64];
  const int t = threadIdx.x;
  cells[t] = in[t];  // WRITE
  __syncwarp();
  out[t] = cells[(t + 32) % 64];  // READ
}
TEST_F(SharedRace, SyncwarpIsNoBarrierForTwoWarps) {
  FINDINGS(warp_for_block_barrier, {.block = 64}, in.data(), out.data())
      .expect(DefectKind::shared_race, {"READ", "WRITE"}, unwritten_too);
}

__global__ void atomic_against_write(int* out) {
  __shared__ int sum;
  const int t = threadIdx.x;
  if (t == 64) {
    sum = 0;  // WRITE
  } else if (t > 64) {
    atomicAdd(&sum, 1);  // ATOMIC
  }
  __syncthreads();
  out[t] = sum;
}
TEST_F(SharedRace, AtomicAgainstPlainWrite) {
  const auto sums = zeros<int>(count);
  FINDINGS(atomic_against_write, {.block = count}, sums.data()).expect(DefectKind::shared_race, {"ATOMIC", "WRITE"});
}

__global__ void atomic_against_read(int* out) {
  __shared__ int sum;
  const int t = threadIdx.x;
  if (t == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, 1);  // ATOMIC
  if (t == 40) {
    *out = sum;  // READ
  }
}
TEST_F(SharedRace, AtomicAgainstPlainRead) {
  const auto sums = zeros<int>(1);
  FINDINGS(atomic_against_read, {.block = 64}, sums.data()).expect(DefectKind::shared_race, {"ATOMIC", "READ"});
}

__global__ void race_for_a_half(unsigned short* out) {
  __shared__ unsigned short cells[32];
  const int t = threadIdx.x;
  cells[t] = t;           // WRITE
  out[t] = cells[t ^ 1];  // READ
}
TEST_F(SharedRace, HalvesOfOneWord) {
  const auto halves = zeros<unsigned short>(32);
  FINDINGS(race_for_a_half, {.block = 32}, halves.data())
      .expect(DefectKind::shared_race, {"WRITE", "READ"}, in_warp_unwritten_too);
}

__global__ void half_against_word(unsigned* out) {
  __shared__ __align__(4) unsigned short cells[64];
  const int t = threadIdx.x;
  cells[t] = t;                                                           // WRITE
  if (t >= 32) out[t - 32] = reinterpret_cast<unsigned*>(cells)[t - 32];  // READ
}
TEST_F(SharedRace, HalfAgainstWholeWord) {
  const auto words = zeros<unsigned>(32);
  FINDINGS(half_against_word, {.block = 64}, words.data())
      .expect(DefectKind::shared_race, {"WRITE", "READ"}, unwritten_too);
}

__global__ void vector_against_scalar(const float* in, float* out) {
  __shared__ __align__(16) float cells[count];
  const int t = threadIdx.x;
  if (t < count / 4) {
    reinterpret_cast<float4*>(cells)[t] = reinterpret_cast<const float4*>(in)[t];  // WRITE
  }
  out[t] = cells[t];  // READ
}
TEST_F(SharedRace, SixteenBytesAgainstFour) {
  FINDINGS(vector_against_scalar, {.block = count}, in.data(), out.data())
      .expect(DefectKind::shared_race, {"WRITE", "READ"}, unwritten_too);
}

__global__ void double_buffer_without_barrier(const float* in, float* out) {
  __shared__ float buffers[2][count];
  const int t = threadIdx.x;
  float sum = 0;
  buffers[0][t] = in[t];
  __syncthreads();
  for (int k = 0; k < 4; ++k) {
    if (k < 3) {
      buffers[(k + 1) % 2][t] = in[(k + 1) * count + t];  // WRITE
    }
    if (k > 0) __syncthreads();            // the first step has none
    sum += buffers[k % 2][count - 1 - t];  // READ
  }
  out[t] = sum;
}
TEST_F(SharedRace, DoubleBufferWithOneBarrierTooFew) {
  FINDINGS(double_buffer_without_barrier, {.block = count}, in.data(), out.data())
      .expect(DefectKind::shared_race, {"WRITE", "READ"});
}

__global__ void async_target_reused(const float* in, float* out) {
  __shared__ __align__(16) float tile[4 * 32];
  const int t = threadIdx.x;
  float sum = 0;
  for (int k = 0; k < 2; ++k) {
    ptx::cp_async_ca<16>(&tile[4 * t], &in[4 * (t + 32 * k)]);  // COPY
    ptx::cp_async_commit();
    ptx::cp_async_wait<0>();
    __syncthreads();
    sum += tile[4 * 32 - 1 - t];  // READ
  }
  out[t] = sum;
}
TEST_F(SharedRace, AsyncCopyIntoATileStillRead) {
  FINDINGS(async_target_reused, {.block = 32}, in.data(), out.data()).expect(DefectKind::shared_race, {"COPY", "READ"});
}

__global__ void async_copy_misaligned(const float* in, float* out) {
  __shared__ __align__(16) float tile[4 * 32];
  const int t = threadIdx.x;
  ptx::cp_async_ca<16>(&tile[4 * t], &in[4 * t + 1]);  // READ
  ptx::cp_async_wait_all();
  out[t] = tile[4 * t];
}
TEST_F(SharedRace, AsyncCopyFromAMisalignedAddress) {
  FINDINGS(async_copy_misaligned, {.block = 32}, in.data(), out.data()).expect(DefectKind::misaligned, {"READ"});
}

__global__ void async_copy_not_waited_for(const float* in, float* out) {
  __shared__ __align__(16) float tile[4 * 32];
  const int t = threadIdx.x;
  ptx::cp_async_cg(&tile[4 * t], &in[4 * t]);
  ptx::cp_async_commit();
  __syncthreads();
  out[t] = tile[t];  // READ
}
TEST_F(SharedRace, AsyncCopyWithoutWaitReadsWhatIsNotThereYet) {
  FINDINGS(async_copy_not_waited_for, {.block = 32}, in.data(), out.data())
      .expect(DefectKind::uninitialised_shared, {"READ"}, {.also = {DefectKind::shared_race}});
}

__global__ void async_copy_without_barrier(const float* in, float* out) {
  __shared__ __align__(16) float tile[4 * 64];
  const int t = threadIdx.x;
  ptx::cp_async_cg(&tile[4 * t], &in[4 * t]);  // COPY
  ptx::cp_async_commit();
  ptx::cp_async_wait<0>();
  out[t] = tile[4 * ((t + 32) % 64)];  // READ
}
TEST_F(SharedRace, AWaitForAsyncCopiesIsNoBarrier) {
  FINDINGS(async_copy_without_barrier, {.block = 64}, in.data(), out.data())
      .expect(DefectKind::shared_race, {"COPY", "READ"}, unwritten_too);
}

__global__ void dynamic_race(const float* in, float* out) {
  auto* cells = reinterpret_cast<float*>(smem);
  const int t = threadIdx.x;
  cells[t] = in[t];               // WRITE
  out[t] = cells[count - 1 - t];  // READ
}
TEST_F(SharedRace, DynamicSharedMemory) {
  FINDINGS(dynamic_race, {.block = count, .dynamic_shared = count * sizeof(float)}, in.data(), out.data())
      .expect(DefectKind::shared_race, {"WRITE", "READ"}, unwritten_too);
}

__global__ void shuffle_for_syncwarp(const float* in, float* out) {
  __shared__ float cells[32];
  const int t = threadIdx.x;
  cells[t] = in[t];  // WRITE
  const float other = __shfl_xor_sync(0xffffffffu, in[t], 1);
  out[t] = cells[t ^ 1] + other;  // READ
}
TEST_F(SharedRace, ShufflesDoNotOrderMemory) {
  FINDINGS(shuffle_for_syncwarp, {.block = 32}, in.data(), out.data())
      .expect(DefectKind::shared_race, {"WRITE", "READ"}, in_warp);
}

}  // namespace
}  // namespace gemm
