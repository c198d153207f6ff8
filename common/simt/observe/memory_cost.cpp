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

// Accesses of more than a word don't overlap in part: they are aligned and equally wide.
unsigned words_of(const WarpAccess& a) {
  return a.bytes > bank_bytes ? a.bytes / bank_bytes : 1;
}
unsigned piece_shift(const WarpAccess& a) {
  return static_cast<unsigned>(std::countr_zero(words_of(a) * bank_bytes));
}

// The most words that one bank has to give; a word that several lanes want counts once.
unsigned busiest_bank(const WarpAccess& a, LaneMask lanes) {
  const unsigned words = words_of(a);
  const Distinct pieces(a, lanes, piece_shift(a));
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

// The phases that an access goes in: the lanes of each.
class Phases {
 public:
  explicit Phases(const WarpAccess& a) : mask_(a.mask) {
    if (a.bytes > bank_bytes) count_ = a.bytes / bank_bytes;
    if (count_ > 1 && !a.store && (partners_agree(a, 1) || partners_agree(a, 2))) count_ /= 2;
  }
  unsigned count() const { return count_; }
  LaneMask lanes_of(unsigned phase) const {
    const unsigned lanes = warp_lanes / count_;
    return mask_ & all_lanes >> (warp_lanes - lanes) << phase * lanes;
  }

 private:
  LaneMask mask_;
  unsigned count_ = 1;
};

}  // namespace

GlobalCost global_cost(const WarpAccess& a) {
  // Aligned accesses of up to 16 bytes never straddle a sector.
  return {Distinct(a, a.mask, std::countr_zero(sector_bytes)).count,
          Distinct(a, a.mask, std::countr_zero(line_bytes)).count};
}

BankCost bank_cost(const WarpAccess& a) {
  const Phases phases(a);
  BankCost cost{0, 0};
  for (unsigned phase = 0; phase < phases.count(); ++phase) {
    const unsigned cycles = busiest_bank(a, phases.lanes_of(phase));
    cost.wavefronts += cycles;
    cost.conflicts += cycles ? cycles - 1 : 0;
  }
  return cost;
}

LaneTurns turns_of_lanes(const WarpAccess& a) {
  const Phases phases(a);
  LaneTurns result;
  unsigned before = 0;
  for (unsigned phase = 0; phase < phases.count(); ++phase) {
    const LaneMask lanes = phases.lanes_of(phase);
    const Distinct pieces(a, lanes, piece_shift(a));
    // The n-th of the pieces that one bank has to give goes in the n-th wavefront.
    unsigned char load[banks] = {}, turn[warp_lanes] = {};
    for (unsigned i = 0; i < pieces.count; ++i) turn[i] = load[pieces.value[i] * words_of(a) % banks]++;
    for (LaneMask rest = lanes; rest; rest &= rest - 1) {
      const unsigned lane = static_cast<unsigned>(std::countr_zero(rest));
      const std::uint64_t* const end = pieces.value + pieces.count;
      const auto piece = std::lower_bound(pieces.value, end, a.address[lane] >> piece_shift(a)) - pieces.value;
      result.turn[lane] = turn[piece];
      result.wavefront[lane] = static_cast<std::uint8_t>(before + turn[piece]);
    }
    before += busiest_bank(a, lanes);
  }
  return result;
}

}  // namespace simt
