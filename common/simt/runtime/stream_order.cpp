#include "common/simt/runtime/stream_order.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <deque>
#include <mutex>
#include <set>
#include <utility>

#include "common/simt/code/source_lines.hpp"
#include "common/simt/code/symbols.hpp"
#include "common/simt/observe/given_stream.hpp"
#include "common/simt/observe/global_memory.hpp"
#include "common/simt/observe/onlookers.hpp"
#include "common/simt/runtime/call.hpp"

namespace simt {
namespace {

// An entry: id of the actor, whether atomic or volatile, which of the word's four bytes, and the place in the code.
constexpr unsigned site_bits = 27;
constexpr std::uint64_t pack(std::uint32_t id, bool signal, unsigned bytes, Site site) {
  return std::uint64_t{id} << 32 | std::uint64_t{signal} << 31 | std::uint64_t{bytes} << site_bits | site;
}
constexpr std::uint32_t id_of(std::uint64_t entry) {
  return static_cast<std::uint32_t>(entry >> 32);
}
constexpr bool is_signal(std::uint64_t entry) {
  return entry >> 31 & 1;
}
constexpr std::uint64_t bytes_mask = std::uint64_t{0xf} << site_bits;
constexpr Site site_of(std::uint64_t entry) {
  return entry & ((1u << site_bits) - 1);
}

struct Actor {
  std::uint32_t id;
  unsigned stream;
  WorkClock before;
  std::string who;
  const void* pc;  // where it was issued
};
// Sorted by id. Those before the structure was needed are not there, and come before all others.
std::deque<Actor>& actors() {
  static auto& all = *new std::deque<Actor>;
  return all;
}
const Actor* actor(std::uint32_t id) {
  const auto at = std::ranges::lower_bound(actors(), id, {}, &Actor::id);
  return at == actors().end() || at->id != id ? nullptr : &*at;
}

// Where the memory's words are counted; those of variables lie elsewhere.
std::uintptr_t counted_as(std::uintptr_t address) {
  const GlobalMemory& memory = GlobalMemory::instance();
  if (const std::uintptr_t shadow = memory.shadow_of(address)) return shadow;
  const std::uintptr_t shadow = memory.shadow_of_constant(address);
  return shadow ? shadow : address;
}

// Pages that nobody touches take no memory.
std::atomic<std::uint64_t>* reserve(std::size_t words) {
  void* const range = mmap(nullptr, words * sizeof(std::uint64_t), PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return range == MAP_FAILED ? nullptr : static_cast<std::atomic<std::uint64_t>*>(range);
}

}  // namespace

void StreamOrder::enable() {
  if (active_) return;
  static StreamOrder& one = *new StreamOrder;
  const std::size_t words = GlobalMemory::instance().words();
  if (!one.writes_) one.writes_ = reserve(words);
  if (!one.reads_) one.reads_ = reserve(words);
  if (!one.writes_ || !one.reads_) return;
  active_ = &one;
  on_actor = [](std::uint32_t id, unsigned stream, const WorkClock& before, const std::string& who, const void* pc) {
    actors().push_back({id, stream, before, who, pc});
  };
  kernel_uses = [](std::uintptr_t address, std::size_t bytes, Use use, const void* pc) {
    active_->by_work(address, bytes, use, pc);
  };
}

void StreamOrder::start() {
  actors().clear();
}

void StreamOrder::read_next(std::uintptr_t address, std::size_t bytes) {
  if (!active_) return;
  issue(*find_stream(given_stream), "what comes next in the stage's stream", nullptr, [=] {
    active_->by_work(address, bytes, Use::read);
    return cudaSuccess;
  });
}

bool StreamOrder::conflicts(std::uint64_t entry, std::uint64_t mine) const {
  if (!entry || id_of(entry) == id_of(mine) || !(entry & mine & bytes_mask)) return false;
  if (is_signal(entry) && is_signal(mine)) return false;
  const Actor* const other = actor(id_of(entry));
  const Actor* const me = actor(id_of(mine));
  if (!other || !me) return false;
  if (other->stream == host_number && host_has_signalled) return false;
  const std::uint64_t known = host_known_.load(std::memory_order_relaxed);
  if (other->stream == host_number && known >> 32 == me->id && other->id <= static_cast<std::uint32_t>(known))
    return false;
  return other->stream >= me->before.size() || me->before[other->stream] < other->id;
}

void StreamOrder::report(std::uint64_t entry, bool other_wrote, std::uint64_t mine, Use use, std::uintptr_t address) {
  static std::mutex mutex;
  static auto& reported = *new std::set<std::pair<std::uint64_t, std::uint64_t>>;
  const std::uint64_t sites = std::uint64_t{site_of(entry)} << 32 | site_of(mine);
  {
    const std::lock_guard lock(mutex);
    if (!reported.insert({std::uint64_t{id_of(entry)} << 32 | id_of(mine), sites}).second) return;
  }
  const auto party = [](std::uint64_t of, const char* action) {
    const Actor& whose = *actor(id_of(of));
    const std::uintptr_t place = place_of(site_of(of)), issued = reinterpret_cast<std::uintptr_t>(whose.pc);
    std::string who = whose.who;
    if (whose.stream != host_number && !issued) return Party{true, {}, {}, 0, action, who};  // read_next()
    if (whose.stream != host_number && place != issued)
      who += fmt::format(", launched at {},", source_line(issued).text());
    return Party{true, {}, {}, place, action, who};
  };
  const bool of_host = actor(id_of(entry))->stream == host_number || actor(id_of(mine))->stream == host_number;
  report_of_host(of_host ? DefectKind::not_waited : DefectKind::stream_race, GlobalMemory::instance().describe(address),
                 party(mine, is_read(use) ? "reads it" : "writes it"),
                 party(entry, other_wrote ? "writes it" : "reads it"));
}

void StreamOrder::use(std::uint32_t id, std::uintptr_t address, std::size_t bytes, Use use, const void* pc) {
  const GlobalMemory& memory = GlobalMemory::instance();
  address = counted_as(address);
  if (bytes == 0 || memory.word_of(address) >= memory.words()) return;
  const Site site = site_at(reinterpret_cast<std::uintptr_t>(pc));
  const std::uintptr_t end = address + bytes;
  for (std::uintptr_t at = address; at < end; at = at / 4 * 4 + 4) {
    const std::size_t word = memory.word_of(at);
    unsigned which = 0xfu << at % 4 & 0xf;
    if (end - at / 4 * 4 < 4) which &= 0xfu >> (4 - (end - at / 4 * 4));
    const std::uint64_t mine = pack(id, signals(use), which, site);
    const std::uint64_t write = writes_[word].load(std::memory_order_relaxed);
    if (conflicts(write, mine)) report(write, true, mine, use, at);
    const std::uint64_t read = reads_[word].load(std::memory_order_relaxed);
    const std::uint64_t more =
        mine | (id_of(use == Use::read ? read : write) == id ? (use == Use::read ? read : write) & bytes_mask : 0);
    if (is_read(use)) {
      // One that is not in order with this read stays: a write may be in order with this one only.
      if (!conflicts(read, mine)) reads_[word].store(more, std::memory_order_relaxed);
    } else {
      if (conflicts(read, mine)) report(read, false, mine, use, at);
      writes_[word].store(more, std::memory_order_relaxed);
    }
  }
}

std::uint32_t StreamOrder::signal_at(std::uintptr_t address) const {
  const GlobalMemory& memory = GlobalMemory::instance();
  address = counted_as(address);
  const std::uint64_t write =
      memory.word_of(address) < memory.words() ? writes_[memory.word_of(address)].load(std::memory_order_relaxed) : 0;
  return is_signal(write) ? id_of(write) : 0;
}

void StreamOrder::by_work(std::uintptr_t address, std::size_t bytes, Use use, const void* pc) {
  const Work* const work = work_under_way();
  if (!work) return;
  if (signals(use)) {
    const Actor* const from = actor(signal_at(address));
    const std::uint64_t known = std::uint64_t{work->id} << 32 | (from && from->stream == host_number ? from->id : 0);
    std::uint64_t before = host_known_.load(std::memory_order_relaxed);
    while (before < known && !host_known_.compare_exchange_weak(before, known)) {
    }
  }
  this->use(work->id, address, bytes, use, pc ? pc : work->pc);
}

void StreamOrder::by_host(std::uintptr_t address, std::size_t bytes, Use use, const void* pc) {
  const Work* const work = work_under_way();
  if (const Actor* const from = !work && signals(use) ? actor(signal_at(address)) : nullptr;
      from && from->stream != host_number)
    host_learns_of(from->id, from->stream, from->before);
  this->use(work ? work->id : host_id(), address, bytes, use, pc);
}

}  // namespace simt
