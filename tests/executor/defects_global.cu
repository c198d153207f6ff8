// Kernels with a data race in global memory, within a block and between blocks.
#include <gtest/gtest.h>

#include "tests/executor/defects.hpp"

namespace gemm {
namespace {

constexpr int count = 128;
const Demands between_blocks{.two_blocks = true};

struct GlobalRace : testing::Test {
  DeviceArray<float> in = counting<float>(64 * count), out = zeros<float>(64 * count);
};

__global__ void blocks_write_one_element(float* out) {
  out[threadIdx.x] = blockIdx.x;  // WRITE
}
TEST_F(GlobalRace, TwoBlocksWriteOneElement) {
  FINDINGS(blocks_write_one_element, {.grid = 2, .block = 64}, out.data())
      .expect(DefectKind::global_race, {"WRITE", "WRITE"}, between_blocks);
}

__global__ void block_reads_anothers_result(float* data) {
  const int b = blockIdx.x, blocks = gridDim.x;
  data[b] = b;                            // WRITE
  data[64 + b] = data[(b + 1) % blocks];  // READ
}
TEST_F(GlobalRace, BlockReadsWhatAnotherWrites) {
  FINDINGS(block_reads_anothers_result, {.grid = 8}, out.data())
      .expect(DefectKind::global_race, {"WRITE", "READ"}, between_blocks);
}

__global__ void all_blocks_read_one_writes(float* data, float* out) {
  const int b = blockIdx.x;
  out[b] = data[0];  // READ
  if (b == 37) {
    data[0] = 1;  // WRITE
  }
}
TEST_F(GlobalRace, AllBlocksReadAndOneWrites) {
  FINDINGS(all_blocks_read_one_writes, {.grid = 64}, in.data(), out.data())
      .expect(DefectKind::global_race, {"WRITE", "READ"}, between_blocks);
}

__global__ void no_barrier(float* data, float* out) {
  const int t = threadIdx.x;
  data[t] = t;                   // WRITE
  out[t] = data[count - 1 - t];  // READ
}
TEST_F(GlobalRace, WithinABlockWithoutBarrier) {
  FINDINGS(no_barrier, {.block = count}, in.data(), out.data()).expect(DefectKind::global_race, {"WRITE", "READ"});
}

__global__ void all_read_before_a_write(float* data, float* out) {
  const int t = threadIdx.x;
  float sum = 0;
  for (int i = 0; i < count; ++i) {
    sum += data[i];  // READ
  }
  data[t] = sum;  // WRITE
  out[t] = sum;
}
TEST_F(GlobalRace, EveryThreadReadsWhatEachOverwrites) {
  FINDINGS(all_read_before_a_write, {.block = count}, in.data(), out.data())
      .expect(DefectKind::global_race, {"WRITE", "READ"});
}

// The first one to read is the first one to write, long after: others have read, too.
__global__ void first_reader_writes(float* data, const float* in, float* out) {
  const int t = threadIdx.x;
  float sum = 0;
  for (int i = 0; i < 32; ++i) {
    sum += data[i];  // READ
  }
  for (int i = 0; i < 4 * count; ++i) sum += in[i];
  data[t] = sum;  // WRITE
  out[t] = sum;
}
TEST_F(GlobalRace, FirstReaderWrites) {
  const auto data = zeros<float>(32);
  FINDINGS(first_reader_writes, {.block = 32}, data.data(), in.data(), out.data())
      .expect(DefectKind::global_race, {"READ", "WRITE"}, {.same_warp = true});
}

__global__ void no_syncwarp(float* data, float* out) {
  const int t = threadIdx.x;
  data[t] = t;           // WRITE
  out[t] = data[t ^ 1];  // READ
}
TEST_F(GlobalRace, WithinAWarpWithoutSyncwarp) {
  FINDINGS(no_syncwarp, {.block = 32}, in.data(), out.data())
      .expect(DefectKind::global_race, {"WRITE", "READ"}, {.same_warp = true});
}

__global__ void shift_in_place(float* data) {
  const int t = threadIdx.x;
  const float next = data[t + 1];  // READ
  data[t] = next;                  // WRITE
}
TEST_F(GlobalRace, ShiftInPlace) {
  FINDINGS(shift_in_place, {.block = 32}, in.data())
      .expect(DefectKind::global_race, {"WRITE", "READ"}, {.same_warp = true});
}

__global__ void atomic_against_write(int* sum) {
  if (blockIdx.x == 3) {
    *sum = 0;  // WRITE
  } else {
    atomicAdd(sum, 1);  // ATOMIC
  }
}
TEST_F(GlobalRace, AtomicAgainstPlainWrite) {
  const auto sum = zeros<int>(1);
  FINDINGS(atomic_against_write, {.grid = 8}, sum.data())
      .expect(DefectKind::global_race, {"WRITE", "ATOMIC"}, between_blocks);
}

__global__ void atomic_then_read(int* sum, int* out) {
  const int t = threadIdx.x;
  atomicAdd(sum, 1);  // ATOMIC
  if (t == count - 1) {
    *out = *sum;  // READ
  }
}
TEST_F(GlobalRace, AtomicsOfABlockAgainstAReadOfItsLastThread) {
  const auto sum = zeros<int>(2);
  FINDINGS(atomic_then_read, {.block = count}, sum.data(), sum.data() + 1)
      .expect(DefectKind::global_race, {"READ", "ATOMIC"});
}

__global__ void last_block_without_fence(const float* in, float* parts, unsigned* tickets, float* out) {
  parts[blockIdx.x] = in[blockIdx.x];  // WRITE
  if (atomicAdd(tickets, 1) == gridDim.x - 1) {
    float sum = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) {
      sum += parts[b];  // READ
    }
    *out = sum;
  }
}
TEST_F(GlobalRace, LastBlockReducesWithoutThreadfence) {
  const auto parts = zeros<float>(16);
  const auto tickets = zeros<unsigned>(1);
  FINDINGS(last_block_without_fence, {.grid = 16}, in.data(), parts.data(), tickets.data(), out.data())
      .expect(DefectKind::global_race, {"WRITE", "READ"}, between_blocks);
}

// The fence is there, but thread 0 takes the ticket before the others have written.
__global__ void last_block_without_barrier(const float* in, float* parts, unsigned* tickets, float* out) {
  __shared__ bool last;
  const int t = threadIdx.x, n = blockDim.x;
  parts[blockIdx.x * n + t] = in[t];  // WRITE
  __threadfence();
  if (t == 0) last = atomicAdd(tickets, 1) == gridDim.x - 1;
  __syncthreads();
  if (last) {
    float sum = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) {
      sum += parts[b * n + t];  // READ
    }
    out[t] = sum;
  }
}
TEST_F(GlobalRace, LastBlockReducesWithoutBarrierBeforeTheTicket) {
  const auto parts = zeros<float>(16 * 64);
  const auto tickets = zeros<unsigned>(1);
  FINDINGS(last_block_without_barrier, {.grid = 16, .block = 64}, in.data(), parts.data(), tickets.data(), out.data())
      .expect(DefectKind::global_race, {"WRITE", "READ"}, between_blocks);
}

__global__ void blocks_write_one_half(unsigned short* out) {
  out[(blockIdx.x + threadIdx.x) / 2] = 1;  // WRITE
}
TEST_F(GlobalRace, TwoBlocksWriteOneHalf) {
  const auto halves = zeros<unsigned short>(64);
  FINDINGS(blocks_write_one_half, {.grid = 8, .block = 1}, halves.data())
      .expect(DefectKind::global_race, {"WRITE", "WRITE"}, between_blocks);
}

__global__ void half_against_its_word(unsigned short* halves, unsigned* out) {
  if (blockIdx.x == 0) {
    halves[5] = 1;  // WRITE
  } else {
    *out = reinterpret_cast<unsigned*>(halves)[2];  // READ
  }
}
TEST_F(GlobalRace, HalfAgainstItsWord) {
  const auto halves = zeros<unsigned short>(64);
  const auto word = zeros<unsigned>(1);
  FINDINGS(half_against_its_word, {.grid = 2}, halves.data(), word.data())
      .expect(DefectKind::global_race, {"WRITE", "READ"}, between_blocks);
}

// Found whatever order the blocks come in: by two workers at a time, or one after another.
TEST_F(GlobalRace, FoundInEveryOrderOfBlocks) {
  for (int run = 0; run < 20; ++run) {
    FINDINGS(block_reads_anothers_result, {.grid = static_cast<unsigned>(2 + run)}, out.data())
        .expect(DefectKind::global_race, {"WRITE", "READ"}, between_blocks);
  }
  simt::InspectionResult result;
  {
    simt::Inspection inspection(result);
    inspection.on_global_write = [](const auto&...) {};
    ASSERT_TRUE(launch(block_reads_anothers_result, {.grid = 8}, out.data()));
  }
  ASSERT_FALSE(result.defects.empty());
  EXPECT_EQ(result.defects[0].kind, DefectKind::global_race);
}

__global__ void defect_in_the_middle(float* out) {
  const unsigned b = blockIdx.y * gridDim.x + blockIdx.x;
  out[b == 2345 ? 2346 : b] = 1;  // WRITE
}
TEST_F(GlobalRace, InTheMiddleOfALargeGrid) {
  const Findings findings = FINDINGS(defect_in_the_middle, {.grid = {70, 70}}, out.data());
  findings.expect(DefectKind::global_race, {"WRITE", "WRITE"}, between_blocks);
  for (const simt::Defect& defect : findings.result().defects) {
    for (const simt::Party& party : {defect.one, defect.other}) {
      const unsigned b = party.block.y * 70 + party.block.x;
      EXPECT_TRUE(b == 2345 || b == 2346) << b;
    }
  }
}

}  // namespace
}  // namespace gemm
