// Runs the threads of one block after another, each up to where it has to wait for others, and looks on what they do.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/simt/language/runtime_types.hpp"
#include "common/simt/observe/global_order.hpp"
#include "common/simt/observe/lane.hpp"
#include "common/simt/observe/onlookers.hpp"
#include "common/simt/observe/recorder.hpp"
#include "common/simt/observe/shared_memory.hpp"
#include "common/simt/observe/sink.hpp"
#include "common/simt/observe/use.hpp"
#include "common/simt/run/fiber.hpp"
#include "common/simt/run/own_stack.hpp"

namespace simt {

/// One launch under way: workers take its blocks in order.
struct Grid {
  Grid(const Launch& what, std::string name, Body runs, Sink* inspects)
      : launch(what), kernel(std::move(name)), body(runs), sink(inspects) {}

  Launch launch;
  std::string kernel;  ///< its name
  Body body{};
  Sink* sink = nullptr;  ///< null: nobody inspects
  std::uint64_t blocks = std::uint64_t{launch.grid.x} * launch.grid.y * launch.grid.z;
  std::uint64_t to_run = blocks;                ///< fewer if only a sample of them runs
  std::atomic<std::uint64_t> next_block{0};     ///< counts up to to_run; the block is number_of() it
  std::atomic<std::uint64_t> begun{0};          ///< of those that workers have claimed
  std::atomic<bool> any_waits{false};           ///< for another block
  std::uint64_t first = 0, step = 1;            ///< without a common divisor with to_run
  bool last_warps_first = false;                ///< of each block
  std::atomic<bool> aborted{false};             ///< after a mistake that nothing sensible can follow
  std::atomic<cudaError_t> fault{cudaSuccess};  ///< what it was, as CUDA calls it

  std::uint64_t number_of(std::uint64_t turn) const;
  /// How many blocks a worker takes at a time.
  std::uint64_t to_claim() const;

  // Workers that have not finished, how many of them can't go on, and how often one of these could after all.
  std::atomic<unsigned> workers{0}, idle{0};
  std::atomic<std::uint64_t> revivals{0};

  // The grid's barrier: how often it has opened, and how many blocks wait at it.
  std::mutex barrier;
  std::atomic<std::uint64_t> openings{0};
  std::uint64_t arrived = 0;
  std::atomic<std::uint64_t> ended{0};
  /// All other blocks wait there, in vain.
  bool barrier_lacks_the_ended() {
    const std::lock_guard lock(barrier);
    return arrived > 0 && arrived + ended == to_run;
  }
};

/// What the blocks that one OS thread has under way share, because only one of them runs at a time.
struct Workplace {
  Recorder recorder;
  SharedMemory shared;
  Stamp top = 0;  ///< the largest stamp given out
};

/// Why basic blocks are looked at: any of these.
enum BasicBlockInterest : unsigned char { to_count = 1, to_look = 2 };

/// A block under way, and one after another again.
class Block {
 public:
  explicit Block(Workplace& workplace);

  /// Between start_kernel() and finish_kernel() it can be several blocks of the grid: start() one of them, and advance()
  /// until it has ended.
  void start_kernel(Grid& grid);
  void start(std::uint64_t index);
  enum class Progress { ended, moved, stalled };
  /// Runs the block's threads until all have ended, or until none can go on, unless another block does something. Moved:
  /// some of them could.
  Progress advance();
  /// Before and after another block of the same workplace runs: shared memory is one and the same.
  void leave() { shared_.save(kept_shared_); }
  void come_back() {
    shared_.restore(kept_shared_);
    shared_.set_causality(order_->causality(), standing_);
  }
  /// Adds what the blocks have done to the launch's account: barriers, and work of Tensor Cores.
  void finish_kernel(std::uint64_t& barriers, std::uint64_t& tensor_flops);
  bool waits_for_grid() const { return arrived_; }
  /// It is stalled, and one of its threads waits for what the host may write.
  bool waits_for_host() const;
  /// It is stalled, but one of its threads has only given way, in a loop that accesses no memory; and not because it has
  /// read there, without an atomic, what others update by atomics.
  bool computes() const;
  /// It is stalled, and so are all others: reports what its threads wait for. `remark`: what else there is to say.
  void explain_deadlock(const std::string& remark) const;

  bool is_guard_page(const void* address) const { return stacks_->is_guard_page(address); }
  /// Of the kernel under way.
  const char* kernel_name() const { return kernel_name_.c_str(); }

  // For a signal handler on this worker's thread, while a block runs:

  /// The thread of the block on whose stack this address lies; null if it is none of theirs.
  const Lane* lane_on_stack(const void* address) const {
    const std::size_t thread = stacks_->index_of(address);
    return thread < threads_ ? &lanes_[thread] : nullptr;
  }
  /// The one that runs or has run last.
  const Lane* last_lane() const { return current_; }
  /// Where it waits, or else its last access to memory on record, or where it has waited: a return address, 0 if there
  /// is none.
  std::uintptr_t last_place(const Lane& lane) const;

  // For the running thread, called from within its kernel:

  const Lane& current() const { return *current_; }
  Lane& current() { return *current_; }
  void run_body();
  void wait_at_barrier(const void* pc, int predicate = 0);
  /// At the barrier of the `tile` threads among which the running one is; meanwhile the others can see `offer`.
  void wait_for_tile(unsigned tile, const void* offer, const void* pc);
  const void* offer_of(unsigned thread) const { return lanes_[thread].offer; }
  void wait_for_grid(const void* pc);
  bool is_cooperative() const { return grid_->launch.cooperative; }
  void give_way();
  /// An access that a thread may wait by, atomic or volatile, is about to happen: if the word is as it was, time and
  /// again, others go first.
  void look_for_spin(std::uintptr_t address, unsigned bytes, const void* pc);
  /// What the threads of the block gave to the barrier that the running thread has just passed.
  int predicates_or() const { return predicates_or_; }
  int predicates_and() const { return predicates_and_; }
  int predicates_count() const { return predicates_count_; }
  void wait_in_collective(const CollectiveCall& call, const void* pc);
  /// Waits until no lane of the warp can go on; those that wait at this place go into *lanes.
  void wait_for_company(LaneMask* lanes, const void* pc);
  LaneMask live_lanes() const;
  void missing_source(const char* operation, unsigned source);
  const SharedMemory& shared() const { return shared_; }
  /// What the device's heap can't do, a mistake of the running thread's.
  [[noreturn]] void bad_free(std::uintptr_t address, const char* what, const void* pc);
  void fence(Scope scope);
  /// An atomic operation has been made.
  void atomic_done(std::uintptr_t address, Scope scope, bool acquires);
  /// Its result is used.
  void result_used(std::uintptr_t address);
  void tensor_flops(std::uint64_t flops) { tensor_flops_ += flops; }

  /// Notes a plain access that is about to happen if it is to global or shared memory and by the kernel's own image, as most
  /// are; else false. What is most frequent of all stands here, in the hooks, and all calls are their last steps: so these save no
  /// registers.
  template <unsigned bytes, Use use>
  [[gnu::always_inline]] bool plain_access(std::uintptr_t address, const void* pc) {
    const std::uintptr_t code = reinterpret_cast<std::uintptr_t>(pc) - code_.begin, offset = address - global_begin_;
    if (code >= code_.bytes || address % bytes != 0) return false;
    const Site site = code_.first + static_cast<Site>(code);
    if (offset >= global_bytes_) {
      if (!shared_.contains(address)) return false;
      note_plain_shared<bytes, use>(address, site);
    } else if (use == Use::write && address == noted_address_ && site == noted_site_) {
      if (++noted_again_ == record_capacity) [[unlikely]]
        buffer_is_full();
    } else if (use == Use::read && GlobalMemory::is_quiet(quiet_, offset)) {
      record(*current_, tag_of(site, false, bytes, use), address);
    } else {
      note_plain<bytes, use>(address, site);
    }
    return true;
  }
  /// Notes any access that is about to happen. Does not return if it must not.
  [[gnu::always_inline]] void access(std::uintptr_t address, unsigned bytes, Use use, const void* pc) {
    const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(pc) - code_.begin;
    if (offset >= code_.bytes) [[unlikely]]
      return access_from_afar(address, bytes, use, pc);
    access_from(address, bytes, use, code_.first + static_cast<Site>(offset));
  }
  /// The same for any number of bytes at any address, in aligned pieces.
  void access_range(std::uintptr_t address, std::size_t bytes, Use use, const void* pc);
  /// An index outside its array, which g++ has noticed.
  [[noreturn]] void index_out_of_bounds(std::size_t index, const void* pc);
  void wide_shift(std::int64_t by, unsigned bits, const void* pc);
  /// An access that begins at a variable of the kernel's own, and lies elsewhere.
  [[noreturn]] void outside_of_variable(std::uintptr_t address, const void* pc);
  /// assert() or __trap() of the kernel: the launch ends here, without a report.
  [[noreturn]] void stop_launch(cudaError_t why) { abandon(why); }
  /// A kernel launches a kernel, or calls the runtime.
  [[noreturn]] void refuse_call(const char* name, const void* pc);
  /// One begins, and somebody wants to know: basic_block_interest.
  void at_basic_block(const void* pc, unsigned char interest) {
    const Site site = site_of(pc);
    if (interest & to_count) recorder_.count_block(site);
    if (interest & to_look) [[unlikely]]
      look_for_standstill(site);
  }

  void copy_begin(void* to, const void* from, std::size_t bytes, std::size_t zeros, const void* pc);
  void copy_commit();
  void copy_wait(std::uint32_t pending, bool all);

 private:
  friend class Unobserved;
  Site site_of(const void* pc) const {
    const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(pc) - code_.begin;
    if (offset < code_.bytes) [[likely]]
      return code_.first + static_cast<Site>(offset);
    return site_at(reinterpret_cast<std::uintptr_t>(pc));
  }
  [[gnu::always_inline]] void access_from(std::uintptr_t address, unsigned bytes, Use use, Site site) {
    Lane& lane = *current_;
    const bool aligned = address % bytes == 0;
    if (aligned && global_.contains(address)) [[likely]] {
      if (use != Use::read || !order_->is_quiet_read(standing_, address, bytes))
        return note_global(address, address, bytes, use, site);
      record(lane, tag_of(site, false, bytes, use), address);
    } else if (aligned && shared_.contains(address)) {
      if (!is_quick_shared(lane, address, bytes, use, site)) return note_shared(address, bytes, use, site);
      record(lane, tag_of(site, true, bytes, use), address);
    } else if (address - lane.stack >= StackPool::stack_bytes || holds_guard(address, bytes)) {
      access_elsewhere(address, bytes, use, site, aligned);
    }
  }
  static Tag tag_of(Site site, bool shared, unsigned bytes, Use use) {
    return make_tag(site, is_atomic(use), shared, is_store(use), static_cast<unsigned>(std::countr_zero(bytes)));
  }
  void record(Lane& lane, Tag tag, std::uint64_t address) {
    lane.records->tags[lane.recorded] = tag;
    lane.records->addresses[lane.recorded] = address;
    if (++lane.recorded == record_capacity) [[unlikely]]
      buffer_is_full();
  }
  // After all but quick accesses: a read by the same thread is in order with whatever the write is.
  void forget_noted() { noted_address_ = 0; }
  void buffer_is_full();
  void stop(LaneState state);
  [[noreturn]] void abandon(cudaError_t why = cudaErrorIllegalAddress);

  // Whether it has been noted already, as one of the many that are in order without a closer look.
  bool is_quick_global(const Lane& lane, std::uintptr_t address, unsigned bytes, Use use, Site site) {
    const bool is_plain = !kernel_uses && (use == Use::read || (use == Use::write && !looks_at_writes_));
    return is_plain && order_->quick_access(lane, standing_, address, bytes, use, site);
  }
  bool is_quick_shared(const Lane& lane, std::uintptr_t address, unsigned bytes, Use use, Site site) {
    return use == Use::read    ? shared_.quick_read(lane, address, bytes, site)
           : use == Use::write ? shared_.quick_write(lane, address, bytes, site)
                               : false;
  }

  // All of an access, of which access() knows that it needs a look.
  [[gnu::noinline]] void note_global(std::uintptr_t address, std::uintptr_t real, unsigned bytes, Use use, Site site);
  template <unsigned bytes, Use use>
  void note_plain(std::uintptr_t address, Site site);
  template <unsigned bytes, Use use>
  [[gnu::noinline]] void note_plain_shared(std::uintptr_t address, Site site) {
    Lane& lane = *current_;
    if (!is_quick_shared(lane, address, bytes, use, site)) return note_shared(address, bytes, use, site);
    record(lane, tag_of(site, true, bytes, use), address);
  }
  [[gnu::noinline]] void note_quiet(std::uintptr_t address, unsigned bytes, Site site);
  void note_shared(std::uintptr_t address, unsigned bytes, Use use, Site site);
  void access_from_afar(std::uintptr_t address, unsigned bytes, Use use, const void* pc);
  /// `real`: where the word lies, which differs from `address` if it is a variable of the device.
  [[gnu::noinline]] void access_global(std::uintptr_t address, std::uintptr_t real, unsigned bytes, Use use, Site site);
  void access_shared(std::uintptr_t address, unsigned bytes, Use use, Site site);
  void access_elsewhere(std::uintptr_t address, unsigned bytes, Use use, Site site, bool aligned);
  void note_copy(Site site, std::uintptr_t to, std::uintptr_t from);
  void look_for_standstill(Site site);
  void look_for_early_reads(const Lane& lane, const PendingCopy& copy);
  void read_for_copy(std::uintptr_t from, std::size_t bytes, unsigned width, const void* pc);
  void check_static(std::uintptr_t address, unsigned bytes, Use use, Site site);

  void run_warp(Lane* lanes, unsigned count);
  void hand_on_requests(unsigned warp);
  void resume(Lane& lane);
  bool serve_collectives(Lane* lanes, unsigned count);
  bool serve_company(Lane* lanes, unsigned count);
  void perform(Lane* lanes, const CollectiveCall& call);
  void explain_standstill(Lane* lanes, unsigned count);
  bool reads_the_same(const Lane& lane) const;
  void check_spin(Lane& lane);
  static bool gives_way(const Lane& lane);
  Progress go_on();
  bool grid_has_arrived();
  void pass_barrier();
  bool pass_barriers_of_tiles();
  template <class Opens>
  void open_barrier(Opens opens);
  void forget_order(std::uint32_t number, Stamp epoch);
  void check_barrier();
  void check_ended();

  /// Where the states of this word are kept.
  std::uintptr_t known_as(std::uintptr_t address) const;
  std::string describe(std::uintptr_t address, Site site, const char* verb) const;
  Party party(const Lane& lane, Site site, std::string action) const;
  Party party(std::uint32_t block, unsigned thread, Site site, std::string action) const;
  /// Reports a race later, unless it turns out that the write it is about has changed nothing.
  void report_if_different(Defect defect, std::uintptr_t address, unsigned bytes);
  void compare_written();
  void report(DefectKind kind, std::string where, Party one, Party other = {}) const;
  /// The same mistake in the same places is made by many threads, and a report takes time.
  bool is_news(DefectKind kind, Site one, Site other) { return reported_.insert({kind, one, other}).second; }

  std::unique_ptr<StackPool> stacks_;
  std::vector<Lane> lanes_;
  std::vector<LaneOrder> orders_;  // theirs
  SharedMemory& shared_;
  SharedMemory::Kept kept_shared_;
  Recorder& recorder_;
  GlobalMemory& global_ = GlobalMemory::instance();
  const std::uintptr_t global_begin_ = global_.begin();
  const std::size_t global_bytes_ = global_.bytes();
  const std::uint8_t* const quiet_ = global_.quiet();
  GlobalOrder* order_;
  BlockStanding standing_;
  CodeRange code_;  // where the kernel lies

  Grid* grid_ = nullptr;
  std::string kernel_name_;
  Lane* current_ = nullptr;
  FiberHandle scheduler_ = nullptr;
  unsigned threads_ = 0;
  bool looks_at_writes_ = false;  // at each of them, to global memory
  bool keeps_records_ = true;     // of all lanes of a warp, until they are put together
  // The running thread's last write that changed what is known: the same one again is only counted, until its buffer is empty.
  std::uintptr_t noted_address_ = 0;
  Site noted_site_ = 0;
  unsigned noted_again_ = 0;
  unsigned full_in_a_row_ = 0;  // buffers of the running thread, since it was resumed
  // How often the running thread was looked at since it was resumed, and since it had this many accesses on record.
  struct Look {
    unsigned recorded, times;
  } look_{};
  Site computes_at_ = 0;  // where a thread has given way, in this launch
  Stamp& top_;
  bool moved_ = false;                 // since advance() was called, a thread has done more than wait
  bool arrived_ = false;               // at the grid's barrier
  std::uint64_t openings_before_ = 0;  // of that barrier, when the block came there
  std::uint64_t barriers_ = 0, tensor_flops_ = 0;
  std::uint64_t barriers_before_ = 0;  // barriers_ when the block began
  unsigned ended_before_ = 0;          // threads, when it came to the last barrier
  // If requests are watched: where the kernel begins asynchronous copies, and what is copied to a shared address.
  std::set<Site> copies_;
  std::unordered_map<std::uintptr_t, std::uintptr_t> copied_from_;
  struct Doubtful {
    Defect defect;
    std::uintptr_t address;
    unsigned bytes;
    std::array<std::byte, 16> before;
  };
  std::vector<Doubtful> doubtful_;
  std::set<std::tuple<DefectKind, Site, Site>> reported_;  // in this launch
  int predicates_or_ = 0, predicates_and_ = 0, predicates_count_ = 0;
};

// __thread, not thread_local: without the question whether it needs a constructor, which costs time in every access.
/// The block whose kernel code runs on this OS thread, whether inspected or not; null outside kernels.
extern __thread Block* running_block __attribute__((tls_model("initial-exec")));
/// The same, but only while kernel code runs that is to be looked at: the executor's own steps are nobody's business.
extern __thread Block* inspected_block __attribute__((tls_model("initial-exec")));
/// This thread's block that has not ended, and of which a thread gave way last while it computed; null if there is none.
extern __thread Block* computing_block __attribute__((tls_model("initial-exec")));

/// Why this OS thread looks at each basic block. Others set `to_look` now and then, by __atomic_fetch_or(), so that a
/// thread is seen that accesses no memory.
extern __thread unsigned char basic_block_interest __attribute__((tls_model("initial-exec")));

/// While it lives, nothing that happens is taken for a kernel's doing.
class Unobserved {
 public:
  Unobserved() : block_(inspected_block) {
    if (block_) block_->forget_noted();
    inspected_block = nullptr;
  }
  ~Unobserved() { inspected_block = block_; }
  Unobserved(const Unobserved&) = delete;
  Unobserved& operator=(const Unobserved&) = delete;

 private:
  Block* block_;
};

/// Writes to device memory that nobody inspects still make it count as written.
void note_uninspected_write(std::uintptr_t address, std::size_t bytes);

/// Whether the host's code may write there while kernels run.
bool is_hosts_too(std::uintptr_t address);

/// When a launch ends: reads of volatile words that another thread changes, by threads that did not fence afterwards.
void report_unfenced_looks(const Grid& grid);

/// The one account of accesses to global memory.
GlobalOrder& global_order();

}  // namespace simt
