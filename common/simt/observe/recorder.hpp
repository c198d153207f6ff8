// Puts the accesses of 32 lanes together to the accesses of a warp, as the hardware would issue them, and counts them.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/simt/observe/findings.hpp"
#include "common/simt/observe/lane.hpp"

namespace simt {

/// One for each OS thread that runs blocks. A lane runs alone until it has to wait or its buffer is full; when all
/// lanes of the warp have done so, merge() pairs their records: the n-th access of a site in one lane with the n-th in
/// the others, counted since the warp's lanes were last together.
class Recorder {
 public:
  Recorder();

  /// Makes room for the places in code that was loaded since the last call.
  void cover_all_images();

  LaneRecords* records_of(unsigned lane) { return &records_[lane]; }

  /// Takes in what the warp's lanes have recorded and empties their buffers.
  void merge(Lane* lanes, unsigned count);
  /// All lanes are together (at a barrier, or ended): what is still unpaired stays so.
  void flush();

  /// How often the basic block that begins at this place has run.
  void count_block(Site site) { ++block_runs_[site / 4]; }

  /// One request, as it was counted.
  struct Seen {
    Tag tag;
    std::uint32_t position;  ///< among the accesses of its lanes, to order those that were paired up
    LaneMask mask;
    std::array<std::uint64_t, warp_lanes> address;
    std::uint32_t sectors, lines, wavefronts, conflicts;
  };
  /// Whether from now on accesses are counted at all.
  void count_accesses(bool counts) { counts_ = counts; }
  /// Whether from now on requests are kept for take_seen().
  void keep_requests(bool keep) { keeps_ = keep; }
  /// Those since the last call, in the order in which the warp made them.
  std::vector<Seen> take_seen() { return std::exchange(seen_, {}); }

  /// Hands over what was counted since the last call.
  void drain(std::vector<SiteCounts>& sites, std::vector<std::pair<std::uintptr_t, std::uint64_t>>& block_runs);

 private:
  struct Request {
    LaneMask mask = 0;
    std::uint32_t position = 0;
    std::uint64_t address[warp_lanes] = {};
  };
  struct Cost {
    std::uint32_t sectors, lines, wavefronts, conflicts;
  };
  // The cost of an access of all lanes, a constant stride apart, depends on the stride and on where in a line it
  // begins.
  struct KnownCost {
    std::uint64_t stride = 0;
    Cost cost{};
    bool valid = false;
  };
  struct SiteState {
    Tag tag = 0;
    std::uint32_t next = 0;  // the state of this site for another size; 0: none
    SiteCounts counts;
    KnownCost known[line_bytes / 4];
    // For lanes that went different ways: how far each lane is, and the requests that not all have joined yet.
    std::uint32_t occurrence[warp_lanes] = {};
    std::size_t flushed = 0;  // requests[0] is occurrence number `flushed`
    std::vector<Request> requests;
    bool open = false;
  };

  bool in_step(const Lane* lanes, unsigned count, LaneMask& mask, unsigned& length) const;
  unsigned index_of(Tag tag);
  static Cost cost_of(const SiteState& site, const std::uint64_t* address, LaneMask mask);
  void count(SiteState& site, const std::uint64_t* address, LaneMask mask, std::uint32_t position = 0);
  void pair_up(const Lane& lane);
  static constexpr std::size_t most_unpaired = 1 << 16;  // requests of one site
  void count_oldest(SiteState& site);

  std::vector<LaneRecords> records_;
  std::vector<std::uint32_t> index_;         // by place and space; 0: none yet
  std::vector<SiteState> sites_;             // [0] is nobody's
  std::vector<unsigned> open_;               // sites with unpaired requests
  std::uint64_t* block_runs_;                // by site / 4: no two calls end closer together
  std::size_t covered_;                      // sites
  std::uint32_t position_[warp_lanes] = {};  // how many accesses of each lane were paired up since the last flush
  bool counts_ = true, keeps_ = false;
  std::vector<Seen> seen_;
};

}  // namespace simt
