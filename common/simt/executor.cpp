#include "common/simt/executor.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "common/simt/fiber.hpp"
#include "common/simt/shared_memory.hpp"

namespace simt {
namespace {

struct Fiber {
  FiberHandle handle = nullptr;
  bool ended = false;
  ThreadContext context{};
};

// One grid in flight: workers take its blocks in order.
struct Grid {
  Launch launch;
  const std::function<void()>* body = nullptr;
  Observer* observer = nullptr;
  std::uint64_t blocks = 0;
  std::atomic<std::uint64_t> next_block{0};
};

// Runs blocks on one OS thread.
class Worker {
 public:
  Worker() : stacks_(max_threads_per_block), fibers_(max_threads_per_block) {}

  void run_blocks(Grid& grid);
  void switch_to_scheduler() { switch_fiber(&current_->handle, scheduler_); }
  const ThreadContext& context() const { return current_->context; }
  void run_body_of_current() {
    (*body_)();
    current_->ended = true;
  }

 private:
  void run_block(const Grid& grid, std::uint64_t block);

  StackPool stacks_;
  std::vector<Fiber> fibers_;
  Fiber* current_ = nullptr;
  FiberHandle scheduler_ = nullptr;
  const std::function<void()>* body_ = nullptr;
};

// Fibers never migrate between OS threads, so a fiber always finds its own worker here.
thread_local Worker* this_worker = nullptr;

void fiber_entry() {
  this_worker->run_body_of_current();
  this_worker->switch_to_scheduler();  // never comes back: an ended fiber is not resumed
}

void Worker::run_blocks(Grid& grid) {
  body_ = grid.body;
  for (std::uint64_t block; (block = grid.next_block.fetch_add(1)) < grid.blocks;) run_block(grid, block);
}

void Worker::run_block(const Grid& grid, std::uint64_t block) {
  const dim3 size = grid.launch.block;
  const dim3 extent = grid.launch.grid;
  const uint3 place{static_cast<unsigned>(block % extent.x), static_cast<unsigned>(block / extent.x % extent.y),
                    static_cast<unsigned>(block / extent.x / extent.y)};
  poison_shared_memory(grid.launch.dynamic_shared);

  const unsigned threads = size.x * size.y * size.z;
  for (unsigned t = 0; t < threads; ++t) {
    fibers_[t].handle = make_fiber(stacks_.top(t), fiber_entry);
    fibers_[t].ended = false;
    fibers_[t].context = {{t % size.x, t / size.x % size.y, t / size.x / size.y}, place, size, extent};
  }

  // Each pass takes every thread to its next barrier, which is what the barrier means: none goes on before all are
  // there. Threads that have ended are not waited for, as on the GPU.
  for (unsigned running = threads; running > 0;) {
    for (unsigned t = 0; t < threads; ++t) {
      if (fibers_[t].ended) continue;
      current_ = &fibers_[t];
      switch_fiber(&scheduler_, current_->handle);
      if (!current_->ended) continue;
      --running;
      if (grid.observer) grid.observer->thread_ended(current_->context);
    }
  }
}

// The OS threads, kept from launch to launch with their stacks.
class Pool {
 public:
  static Pool& instance() {
    static Pool pool;
    return pool;
  }

  void run(Grid& grid) {
    std::unique_lock lock(mutex_);
    grid_ = &grid;
    // With an observer, or with a single block, one worker is enough.
    const bool alone = grid.observer || grid.blocks == 1;
    wanted_ = alone ? 1 : static_cast<unsigned>(threads_.size());
    busy_ = wanted_;
    ++generation_;
    start_.notify_all();
    done_.wait(lock, [&] { return busy_ == 0; });
  }

  unsigned size() const { return static_cast<unsigned>(threads_.size()); }

 private:
  Pool() {
    // A worker maps 2048 regions (stacks and guard pages) and Linux allows a process 65530.
    const unsigned count = std::clamp(std::thread::hardware_concurrency(), 1u, 24u);
    for (unsigned i = 0; i < count; ++i) threads_.emplace_back([this, i] { serve(i); });
  }

  ~Pool() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    start_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  void serve(unsigned index) {
    Worker worker;
    this_worker = &worker;
    std::uint64_t seen = 0;
    std::unique_lock lock(mutex_);
    for (;;) {
      start_.wait(lock, [&] { return stopping_ || generation_ != seen; });
      if (stopping_) return;
      seen = generation_;
      if (index >= wanted_) continue;
      Grid& grid = *grid_;
      lock.unlock();
      worker.run_blocks(grid);
      lock.lock();
      if (--busy_ == 0) done_.notify_one();
    }
  }

  std::mutex mutex_;
  std::condition_variable start_, done_;
  std::vector<std::thread> threads_;
  Grid* grid_ = nullptr;
  unsigned wanted_ = 0;
  unsigned busy_ = 0;
  std::uint64_t generation_ = 0;
  bool stopping_ = false;
};

Observer* attached_observer = nullptr;

}  // namespace

const ThreadContext& this_thread() noexcept {
  return this_worker->context();
}

void barrier() {
  this_worker->switch_to_scheduler();
}

void observe(Observer* observer) {
  attached_observer = observer;
}

unsigned worker_count() {
  return Pool::instance().size();
}

cudaError_t launch(const Launch& what, const std::function<void()>& body) {
  const auto volume = [](dim3 d) { return std::uint64_t{d.x} * d.y * d.z; };
  if (volume(what.block) == 0 || what.block.x > 1024 || what.block.y > 1024 || what.block.z > 64 ||
      volume(what.block) > max_threads_per_block || volume(what.grid) == 0 || what.grid.x > 0x7fffffffu ||
      what.grid.y > 65535 || what.grid.z > 65535) {
    return set_last_error(cudaErrorInvalidConfiguration);
  }
  if (what.dynamic_shared > max_dynamic_shared) return set_last_error(cudaErrorInvalidValue);
  Grid grid{what, &body, attached_observer, volume(what.grid)};
  Pool::instance().run(grid);
  return cudaSuccess;
}

}  // namespace simt
