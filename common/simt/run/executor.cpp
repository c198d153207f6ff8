#include "common/simt/run/executor.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

#include "common/simt/code/symbols.hpp"
#include "common/simt/language/collective.hpp"
#include "common/simt/language/thread.hpp"
#include "common/simt/observe/given_stream.hpp"
#include "common/simt/observe/global_memory.hpp"
#include "common/simt/observe/sink.hpp"
#include "common/simt/run/last_words.hpp"
#include "common/simt/run/launch_steps.hpp"
#include "common/simt/run/shared_limits.hpp"
#include "common/simt/run/worker.hpp"

namespace simt {
namespace {

constexpr std::chrono::milliseconds between_looks{10};

// The OS threads, kept from launch to launch with their stacks. Fibers never migrate between them, so a fiber always
// finds its own block in running_block.
class Pool {
 public:
  static Pool& instance() {
    static std::unique_ptr<Pool> pool;
    static pid_t owner = 0;
    if (owner != getpid()) {
      [[maybe_unused]] Pool* const of_parent = pool.release();  // a forked process has none of its threads
      owner = getpid();
      pool.reset(new Pool);
    }
    return *pool;
  }

  ~Pool() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    start_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  void run(Grid& grid, unsigned workers) {
    const NoHostThread waits;
    std::unique_lock lock(mutex_);
    grid_ = &grid;
    grid.workers = busy_ = wanted_ = std::min(workers, size());
    ++generation_;
    start_.notify_all();
    while (!done_.wait_for(lock, between_looks, [&] { return busy_ == 0; })) {
      for (unsigned char* const interest : interests_) __atomic_fetch_or(interest, to_look, __ATOMIC_RELAXED);
    }
  }

  unsigned size() const { return static_cast<unsigned>(threads_.size()); }

 private:
  Pool() {
    const unsigned count = std::clamp(std::thread::hardware_concurrency(), 1u, BusyWorker::most);
    for (unsigned i = 0; i < count; ++i) threads_.emplace_back([this, i] { serve(i); });
    // A process that forks while a thread begins copies the locks that this one holds, and nobody ever gives them back.
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return begun_ == count; });
  }

  void serve(unsigned index) {
    watch_stacks();
    const NoHostThread works;
    Worker worker;
    std::uint64_t seen = 0;
    std::unique_lock lock(mutex_);
    interests_.push_back(&basic_block_interest);
    ++begun_;
    done_.notify_one();
    for (;;) {
      start_.wait(lock, [&] { return stopping_ || generation_ != seen; });
      if (stopping_) return;
      seen = generation_;
      if (index >= wanted_) continue;
      Grid& grid = *grid_;
      lock.unlock();
      {
        const BusyWorker busy(index, grid.kernel.c_str());
        worker.run(grid);
      }
      lock.lock();
      if (--busy_ == 0) done_.notify_one();
    }
  }

  std::mutex mutex_;
  std::condition_variable start_, done_;
  std::vector<std::thread> threads_;
  std::vector<unsigned char*> interests_;  // basic_block_interest of each thread
  Grid* grid_ = nullptr;
  unsigned begun_ = 0;  // threads that have all they need
  unsigned wanted_ = 0;
  unsigned busy_ = 0;
  std::uint64_t generation_ = 0;
  bool stopping_ = false;
};

// Why no device could run this, empty if one could.
std::string beyond_limits(const Launch& what) {
  const dim3 b = what.block, g = what.grid;
  const auto volume = [](dim3 d) { return std::uint64_t{d.x} * d.y * d.z; };
  if (volume(b) == 0) return fmt::format("a block of {} x {} x {} threads: with 0 no thread runs", b.x, b.y, b.z);
  if (b.x > 1024 || b.y > 1024 || b.z > 64 || volume(b) > max_threads_per_block) {
    return fmt::format("a block of {} x {} x {} threads: at most 1024 x 1024 x 64, and 1024 in all", b.x, b.y, b.z);
  }
  if (volume(g) == 0)
    return fmt::format("a grid of {} x {} x {} blocks: with 0 no thread runs; is a division rounded down?", g.x, g.y,
                       g.z);
  if (g.x > 0x7fffffffu || g.y > 65535 || g.z > 65535 || volume(g) > 0xfffffffeu) {
    return fmt::format("a grid of {} x {} x {} blocks: at most 2147483647 x 65535 x 65535", g.x, g.y, g.z);
  }
  return {};
}

unsigned block_order = 0;
std::uint64_t block_sample = 0;

// Any step that has no divisor in common with the number of blocks meets each block once.
void put_in_order(Grid& grid) {
  if (block_order == 0) return;
  grid.last_warps_first = block_order % 2 == 1;
  grid.first = block_order % grid.to_run;
  for (grid.step = (grid.to_run * 5 / 8 + block_order) % grid.to_run; std::gcd(grid.step, grid.to_run) != 1;)
    grid.step = (grid.step + 1) % grid.to_run;
}

std::uint64_t blocks_of(const Launch& what) {
  return std::uint64_t{what.grid.x} * what.grid.y * what.grid.z;
}

std::string name_of(const Launch& what) {
  return function_at(reinterpret_cast<std::uintptr_t>(what.kernel)).name;
}

}  // namespace

Index3 thread_place() noexcept {
  const uint3& thread = running_block->current().context.thread;
  return {thread.x, thread.y, thread.z};
}
Index3 block_place() noexcept {
  const uint3& block = running_block->current().context.block;
  return {block.x, block.y, block.z};
}
dim3 block_size() noexcept {
  return running_block->current().context.block_dim;
}
dim3 grid_size() noexcept {
  return running_block->current().context.grid_dim;
}

bool on_device() noexcept {
  return running_block != nullptr;
}

void grid_barrier() {
  running_block->wait_for_grid(__builtin_return_address(0));
}
bool is_cooperative() noexcept {
  return running_block->is_cooperative();
}
void give_way() {
  running_block->give_way();
}

void barrier() {
  running_block->wait_at_barrier(__builtin_return_address(0));
}
int barrier_and(int predicate) {
  running_block->wait_at_barrier(__builtin_return_address(0), predicate);
  return running_block->predicates_and();
}
int barrier_or(int predicate) {
  running_block->wait_at_barrier(__builtin_return_address(0), predicate);
  return running_block->predicates_or();
}
int barrier_count(int predicate) {
  running_block->wait_at_barrier(__builtin_return_address(0), predicate);
  return running_block->predicates_count();
}

void tile_barrier(unsigned size, const void* offer) {
  running_block->wait_for_tile(size, offer, __builtin_return_address(0));
}
void fetch_offer(unsigned thread, void* to, unsigned bytes) {
  const Unobserved unobserved;
  const auto* from = static_cast<const std::byte*>(running_block->offer_of(thread));
  std::copy(from, from + bytes, static_cast<std::byte*>(to));
}

unsigned lane_id() {
  return running_block->current().lane;
}
LaneMask active_lanes() {
  LaneMask lanes = 0;
  running_block->wait_for_company(&lanes, __builtin_return_address(0));
  return lanes;
}
LaneMask live_lanes() {
  return running_block->live_lanes();
}
void collective(LaneMask mask, const char* operation, void* mine, void (*combine)(void* const*, LaneMask)) {
  running_block->wait_in_collective({mask, operation, mine, combine, false}, __builtin_return_address(0));
}
void missing_source(const char* operation, unsigned source) {
  running_block->missing_source(operation, source);
}
void whole_warp(const char* operation, void* mine, void (*combine)(void* const*, LaneMask), const void* pc) {
  running_block->wait_in_collective({all_lanes, operation, mine, combine, false, true}, pc);
}
void sync_warp(LaneMask mask) {
  running_block->wait_in_collective({mask, "__syncwarp", nullptr, nullptr, true}, __builtin_return_address(0));
}

unsigned worker_count() {
  return Pool::instance().size();
}

void set_block_order(unsigned order) {
  block_order = order;
}
void set_block_sample(std::uint64_t blocks) {
  block_sample = blocks;
}

Refusal refusal_of(const Launch& what, bool must_be_allowed) {
  if (std::string why = beyond_limits(what); !why.empty()) return {cudaErrorInvalidConfiguration, std::move(why)};
  if (std::string why = beyond_shared_limits(what, must_be_allowed); !why.empty())
    return {cudaErrorInvalidValue, std::move(why)};
  if (const std::uint64_t most = most_cooperative_blocks(what); what.cooperative && blocks_of(what) > most) {
    return {cudaErrorCooperativeLaunchTooLarge,
            fmt::format("a cooperative launch of {} blocks: at most {} are resident together", blocks_of(what), most)};
  }
  return {};
}

cudaError_t run_launch(const Launch& what, const std::string& kernel, Body body) {
  Grid grid(what, kernel, body, active_sink());
  const bool samples = block_sample > 0 && block_sample < grid.blocks && !what.cooperative;
  if (samples) {
    grid.to_run = block_sample;
    GlobalMemory::instance().excuse_unwritten();
  }
  put_in_order(grid);
  if (grid.sink) {
    grid.sink->start_launch(what, kernel);
    global_order().start_launch();
  }
  // Blocks of several workers begin in an order that nobody has asked for.
  const bool alone = grid.blocks == 1 || block_order != 0 ||
                     (grid.sink && (grid.sink->watches_writes() || grid.sink->watches_requests()));
  const GlobalMemory::Opening opening;
  Pool::instance().run(grid, alone ? 1 : worker_count());
  if (grid.sink && grid.fault == cudaSuccess) report_unfenced_looks(grid);
  if (grid.sink) grid.sink->end_launch(samples ? grid.to_run : 0);
  return grid.aborted && grid.fault == cudaSuccess ? cudaErrorLaunchTimeout : grid.fault.load();
}

cudaError_t launch(const Launch& what, Body body, cudaStream_t stream) {
  const std::string kernel = name_of(what);
  expect_given_stream(stream, "the kernel " + kernel, __builtin_return_address(0));
  if (const Refusal refusal = refusal_of(what, false); refusal.error != cudaSuccess) {
    if (Sink* const sink = active_sink()) sink->report({DefectKind::launch_limit, kernel, refusal.why, {}, {}});
    return refusal.error;
  }
  run_launch(what, kernel, body);
  return cudaSuccess;
}

}  // namespace simt
