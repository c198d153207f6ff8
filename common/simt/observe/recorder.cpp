#include "common/simt/observe/recorder.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include "common/simt/code/symbols.hpp"

namespace simt {

namespace {

constexpr std::size_t runs_at_a_time = 16;  // drain() looks for basic blocks that have run: few have

constexpr std::size_t bytes_of_runs(std::size_t sites) {
  return (sites / 4 + 1 + runs_at_a_time) * sizeof(std::uint64_t);
}

}  // namespace

Recorder::Recorder() : records_(warp_lanes), sites_(1), covered_(site_count()) {
  index_.resize(covered_ / 4 * 4 + 4);
  void* memory = mmap(nullptr, bytes_of_runs(covered_), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  block_runs_ = static_cast<std::uint64_t*>(memory);
}

void Recorder::cover_all_images() {
  const std::size_t now = site_count();
  if (now == covered_) return;
  void* memory = mremap(block_runs_, bytes_of_runs(covered_), bytes_of_runs(now), MREMAP_MAYMOVE);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  block_runs_ = static_cast<std::uint64_t*>(memory);
  index_.resize(now / 4 * 4 + 4);
  covered_ = now;
}

unsigned Recorder::index_of(Tag tag) {
  // Call sites are at least four bytes apart; one of them may touch shared memory in one lane and global in another, or
  // be a copy that reads and writes.
  std::uint32_t* index = &index_[tag_site(tag) / 4 * 4 + tag_shared(tag) * 2 + tag_store(tag)];
  // A range's pieces differ in size: a state for each.
  while (*index != 0 && sites_[*index].tag != tag) index = &sites_[*index].next;
  if (*index == 0) {
    const auto created = static_cast<std::uint32_t>(sites_.size());
    *index = created;  // before the vector grows, for it may hold the index itself
    SiteState& site = sites_.emplace_back();
    site.tag = tag;
    site.counts.pc = place_of(tag_site(tag));
    site.counts.shared = tag_shared(tag);
    site.counts.store = tag_store(tag);
    site.counts.atomic = tag_atomic(tag);
    site.counts.bytes = tag_bytes(tag);
    return created;
  }
  return *index;
}

Recorder::Cost Recorder::cost_of(const SiteState& site, const std::uint64_t* address, LaneMask mask) {
  const WarpAccess access{address, mask, tag_bytes(site.tag), tag_store(site.tag)};
  const GlobalCost global = tag_shared(site.tag) ? GlobalCost{0, 0} : global_cost(access);
  const BankCost bank = bank_cost(access);
  return {global.sectors, global.lines, bank.wavefronts, bank.conflicts};
}

void Recorder::count(SiteState& site, const std::uint64_t* address, LaneMask mask, std::uint32_t position) {
  Cost cost;
  const std::uint64_t stride = address[1] - address[0];
  std::uint64_t irregular = 0;
  if (mask == all_lanes) {
    for (std::uint64_t l = 0; l < warp_lanes; ++l) irregular |= address[l] - address[0] - l * stride;
  }
  if (mask == all_lanes && irregular == 0 && address[0] % 4 == 0) {
    KnownCost& known = site.known[address[0] % line_bytes / 4];
    if (!known.valid || known.stride != stride) known = {stride, cost_of(site, address, mask), true};
    cost = known.cost;
  } else {
    cost = cost_of(site, address, mask);
  }
  SiteCounts& counts = site.counts;
  counts.requests += 1;
  counts.lanes += static_cast<unsigned>(std::popcount(mask));
  counts.sectors += cost.sectors;
  counts.lines += cost.lines;
  counts.wavefronts += cost.wavefronts;
  counts.conflicts += cost.conflicts;
  if (!keeps_) [[likely]]
    return;
  Seen& seen =
      seen_.emplace_back(Seen{site.tag, position, mask, {}, cost.sectors, cost.lines, cost.wavefronts, cost.conflicts});
  std::copy_n(address, warp_lanes, seen.address.begin());
}

// Whether all lanes that recorded anything recorded the same sites in the same order.
bool Recorder::in_step(const Lane* lanes, unsigned count, LaneMask& mask, unsigned& length) const {
  const Lane* first = nullptr;
  for (unsigned l = 0; l < count; ++l) {
    const Lane& lane = lanes[l];
    if (lane.recorded == 0) continue;
    mask |= LaneMask{1} << l;
    if (!first) {
      first = &lane;
      length = lane.recorded;
    } else if (lane.recorded != length ||
               std::memcmp(lane.records->tags, first->records->tags, length * sizeof(Tag)) != 0) {
      return false;
    }
  }
  return true;
}

void Recorder::merge(Lane* lanes, unsigned lane_count) {
  LaneMask mask = 0;
  unsigned length = 0;
  if (!counts_) {
    // Nobody asks.
  } else if (open_.empty() && in_step(lanes, lane_count, mask, length)) {
    const Tag* tags = mask ? lanes[std::countr_zero(mask)].records->tags : nullptr;
    for (unsigned i = 0; i < length; ++i) {
      std::uint64_t address[warp_lanes];
      for (unsigned l = 0; l < warp_lanes; ++l) address[l] = records_[l].addresses[i];
      count(sites_[index_of(tags[i])], address, mask);
    }
  } else {
    for (unsigned l = 0; l < lane_count; ++l) pair_up(lanes[l]);
  }
  for (unsigned l = 0; l < lane_count; ++l) lanes[l].recorded = 0;
}

// Bounds the memory that lanes far apart can take: what the slowest have not reached in so long is counted without
// them.
void Recorder::count_oldest(SiteState& site) {
  const auto half = site.requests.begin() + most_unpaired / 2;
  for (auto request = site.requests.begin(); request != half; ++request)
    count(site, request->address, request->mask, request->position);
  site.requests.erase(site.requests.begin(), half);
  site.flushed += most_unpaired / 2;
}

void Recorder::pair_up(const Lane& lane) {
  for (unsigned i = 0; i < lane.recorded; ++i) {
    const unsigned index = index_of(lane.records->tags[i]);
    SiteState& site = sites_[index];
    if (!site.open) {
      site.open = true;
      open_.push_back(index);
    }
    const std::size_t at = site.occurrence[lane.lane]++;
    const std::uint32_t position = position_[lane.lane]++;
    // A lane may come so late that the request was counted without it: it is one of its own then.
    if (at < site.flushed) {
      std::uint64_t address[warp_lanes] = {};
      address[lane.lane] = lane.records->addresses[i];
      count(site, address, LaneMask{1} << lane.lane, position);
      continue;
    }
    if (at - site.flushed >= site.requests.size()) {
      if (site.requests.size() == most_unpaired) count_oldest(site);
      site.requests.emplace_back();
    }
    Request& request = site.requests[at - site.flushed];
    request.mask |= LaneMask{1} << lane.lane;
    request.position = std::max(request.position, position);
    request.address[lane.lane] = lane.records->addresses[i];
  }
}

void Recorder::flush() {
  if (open_.empty()) return;
  const auto kept = static_cast<std::ptrdiff_t>(seen_.size());
  for (const unsigned index : open_) {
    SiteState& site = sites_[index];
    for (const Request& request : site.requests) count(site, request.address, request.mask, request.position);
    site.requests.clear();
    site.flushed = 0;
    std::memset(site.occurrence, 0, sizeof site.occurrence);
    site.open = false;
  }
  open_.clear();
  std::ranges::fill(position_, 0);
  std::stable_sort(seen_.begin() + kept, seen_.end(),
                   [](const Seen& one, const Seen& other) { return one.position < other.position; });
}

void Recorder::drain(std::vector<SiteCounts>& sites,
                     std::vector<std::pair<std::uintptr_t, std::uint64_t>>& block_runs) {
  flush();  // what a kernel that was aborted has left must not pair with the next one's accesses
  for (SiteState& site : sites_) {
    if (site.counts.requests == 0) continue;
    sites.push_back(site.counts);
    site.counts.requests = site.counts.lanes = site.counts.sectors = site.counts.lines = 0;
    site.counts.wavefronts = site.counts.conflicts = 0;
  }
  for (std::size_t first = 0; first <= covered_ / 4; first += runs_at_a_time) {
    std::uint64_t any = 0;
    for (std::size_t i = first; i < first + runs_at_a_time; ++i) any |= block_runs_[i];
    if (any == 0) continue;
    for (std::size_t i = first; i < first + runs_at_a_time; ++i) {
      if (const std::uint64_t runs = std::exchange(block_runs_[i], 0))
        block_runs.emplace_back(place_of(static_cast<Site>(i * 4)), runs);
    }
  }
}

}  // namespace simt
