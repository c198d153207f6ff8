#include "common/simt/observe/memory_cost.hpp"

#include <algorithm>
#include <bit>

namespace simt {
namespace {

// The distinct values of (address >> shift) over some lanes. Kernels mostly walk upwards, so that comparing with the
// value before is enough; what is out of order is sorted.
struct Distinct {
  Distinct(const WarpAccess& a, LaneMask lanes, unsigned shift) {
    bool sorted = true;
    for (LaneMask rest = lanes; rest; rest &= rest - 1) {
      const std::uint64_t next = a.address[std::countr_zero(rest)] >> shift;
      if (count && value[count - 1] == next) continue;
      sorted &= !count || value[count - 1] < next;
      value[count++] = next;
    }
    if (sorted) return;
    std::sort(value, value + count);
    count = static_cast<unsigned>(std::unique(value, value + count) - value);
  }
  std::uint64_t value[warp_lanes];
  unsigned count = 0;
};

// The most words that one bank has to give; a word that several lanes want counts once.
unsigned busiest_bank(const WarpAccess& a, LaneMask lanes) {
  // Accesses of more than a word don't overlap in part: they are aligned and equally wide.
  const unsigned words = a.bytes > bank_bytes ? a.bytes / bank_bytes : 1;
  const Distinct pieces(a, lanes, static_cast<unsigned>(std::countr_zero(words * bank_bytes)));
  if (pieces.count <= 1) return pieces.count;
  // Shortcut: all in one row of banks, where each word has a bank to itself.
  if ((pieces.value[pieces.count - 1] - pieces.value[0] + 1) * words <= banks) return 1;
  unsigned char load[banks] = {};
  for (unsigned i = 0; i < pieces.count; ++i) ++load[pieces.value[i] * words % banks];
  return *std::max_element(load, load + banks);
}

// Whether all lanes present agree with their partner lane ^ distance, where that is present.
bool partners_agree(const WarpAccess& a, unsigned distance) {
  for (LaneMask rest = a.mask; rest; rest &= rest - 1) {
    const unsigned lane = static_cast<unsigned>(std::countr_zero(rest)), partner = lane ^ distance;
    if (a.mask >> partner & 1 && a.address[lane] != a.address[partner]) return false;
  }
  return true;
}

}  // namespace

GlobalCost global_cost(const WarpAccess& a) {
  // Aligned accesses of up to 16 bytes never straddle a sector.
  return {Distinct(a, a.mask, std::countr_zero(sector_bytes)).count,
          Distinct(a, a.mask, std::countr_zero(line_bytes)).count};
}

BankCost bank_cost(const WarpAccess& a) {
  unsigned phases = a.bytes <= bank_bytes ? 1 : a.bytes / bank_bytes;
  if (phases > 1 && !a.store && (partners_agree(a, 1) || partners_agree(a, 2))) phases /= 2;
  const unsigned lanes_per_phase = warp_lanes / phases;
  const LaneMask phase_mask = all_lanes >> (warp_lanes - lanes_per_phase);
  BankCost cost{0, 0};
  for (unsigned phase = 0; phase < phases; ++phase) {
    const unsigned cycles = busiest_bank(a, a.mask & phase_mask << phase * lanes_per_phase);
    cost.wavefronts += cycles;
    cost.conflicts += cycles ? cycles - 1 : 0;
  }
  return cost;
}

}  // namespace simt
