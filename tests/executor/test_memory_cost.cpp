// The cost model against the hardware: every row of shared_wavefronts_h200.csv, which Nsight Compute read on an H200.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "common/simt/observe/memory_cost.hpp"
#include "tests/executor/calibration_table.hpp"

namespace simt {
namespace {

TEST(MemoryCost, EveryRowOfTheHardwareTable) {
  const auto rows = gemm::calibration_table(GEMM_SOURCE_DIR "/tests/executor/shared_wavefronts_h200.csv");
  EXPECT_EQ(rows.size(), 198u);
  for (const gemm::CalibrationRow& row : rows) {
    std::array<std::uint64_t, warp_lanes> address;
    for (unsigned lane = 0; lane < warp_lanes; ++lane) {
      address[lane] = 0x1000 + row.bytes * static_cast<std::uint64_t>(row.index[lane]);
    }
    EXPECT_EQ(bank_cost({address.data(), all_lanes, row.bytes, row.store}).wavefronts, row.wavefronts) << row.line;
  }
}

// What is counted and what is shown lane by lane must agree: each wavefront takes from a bank one word at most.
TEST(MemoryCost, TurnsOfLanesAreTheCountedWavefronts) {
  for (const gemm::CalibrationRow& row :
       gemm::calibration_table(GEMM_SOURCE_DIR "/tests/executor/shared_wavefronts_h200.csv")) {
    std::array<std::uint64_t, warp_lanes> address;
    for (unsigned lane = 0; lane < warp_lanes; ++lane)
      address[lane] = 0x1000 + row.bytes * static_cast<std::uint64_t>(row.index[lane]);
    const WarpAccess access{address.data(), all_lanes, row.bytes, row.store};
    const BankCost cost = bank_cost(access);
    const LaneTurns turns = turns_of_lanes(access);
    std::map<unsigned, bool> is_extra;  // of each wavefront
    std::map<std::pair<unsigned, std::uint64_t>, std::uint64_t> word_of;
    for (unsigned lane = 0; lane < warp_lanes; ++lane) {
      is_extra[turns.wavefront[lane]] = turns.turn[lane] > 0;
      for (unsigned byte = 0; byte < row.bytes; byte += bank_bytes) {
        const std::uint64_t word = (address[lane] + byte) / bank_bytes;
        const auto [known, is_new] = word_of.try_emplace({turns.wavefront[lane], word % banks}, word);
        EXPECT_EQ(known->second, word) << row.line << ", lane " << lane;
      }
    }
    EXPECT_EQ(is_extra.size(), cost.wavefronts) << row.line;
    EXPECT_EQ(std::ranges::count_if(is_extra, [](const auto& each) { return each.second; }), cost.conflicts)
        << row.line;
  }
}

std::array<std::uint64_t, warp_lanes> strided(std::uint64_t start, std::uint64_t stride) {
  std::array<std::uint64_t, warp_lanes> address;
  for (unsigned lane = 0; lane < warp_lanes; ++lane) address[lane] = start + lane * stride;
  return address;
}

TEST(MemoryCost, SectorsAndLines) {
  const auto cost = [](std::uint64_t start, std::uint64_t stride, unsigned bytes, LaneMask mask = all_lanes) {
    const auto address = strided(start, stride);
    const GlobalCost c = global_cost({address.data(), mask, bytes, false});
    return std::pair{c.sectors, c.lines};
  };
  EXPECT_EQ(cost(0x1000, 4, 4), (std::pair{4u, 1u}));
  EXPECT_EQ(cost(0x1004, 4, 4), (std::pair{5u, 2u})) << "one element off costs a sector and a line";
  EXPECT_EQ(cost(0x1000, 0, 4), (std::pair{1u, 1u}));
  EXPECT_EQ(cost(0x1000, 16, 16), (std::pair{16u, 4u}));
  EXPECT_EQ(cost(0x1000, 1024, 4), (std::pair{32u, 32u}));
  EXPECT_EQ(cost(0x1000, 4, 4, 0x1), (std::pair{1u, 1u}));
  EXPECT_EQ(cost(0x1000, 2, 2), (std::pair{2u, 1u}));
  EXPECT_EQ(cost(0x1000, 4, 4, 0), (std::pair{0u, 0u}));
  auto shuffled = strided(0x1000, 4);
  for (unsigned lane = 0; lane < warp_lanes; ++lane) shuffled[lane] = 0x1000 + (lane * 13 % 32) * 4;
  EXPECT_EQ(global_cost({shuffled.data(), all_lanes, 4, false}).sectors, 4u) << "order does not matter";
}

TEST(MemoryCost, ConflictsAreWhatOtherAddressesWouldSave) {
  const auto conflicts = [](std::uint64_t stride, unsigned bytes, bool store) {
    const auto address = strided(0, stride);
    return bank_cost({address.data(), all_lanes, bytes, store}).conflicts;
  };
  EXPECT_EQ(conflicts(4, 4, false), 0u);
  EXPECT_EQ(conflicts(128, 4, false), 31u);
  EXPECT_EQ(conflicts(132, 4, true), 0u);
  EXPECT_EQ(conflicts(16, 16, false), 0u) << "four wavefronts, but none too many";
  EXPECT_EQ(conflicts(32, 16, false), 4u);
}

}  // namespace
}  // namespace simt
