#include "common/simt/run/worker.hpp"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "common/simt/observe/sink.hpp"

namespace simt {
namespace {

// Linux lets a process map 65530 regions, and a thread's stack takes two: one is the page below it, for overflows.
constexpr unsigned most_stacks = 28000;
// When every block has waited for so long, nobody comes.
constexpr std::chrono::seconds longest_wait{5};
constexpr std::chrono::microseconds between_polls{20};
// Blocks that have moved so often and not ended may wait for one that has not begun, in a way that does not look so.
constexpr unsigned most_passes = 64;

struct NoHostThreads {
  std::mutex mutex;
  std::multiset<pid_t> all;
};
NoHostThreads& no_host_threads() {
  static NoHostThreads& one = *new NoHostThreads;
  return one;
}

// Whether a thread of the host runs, or will by itself: one that waits for another thread without a limit of time won't.
bool host_may_act() {
  const std::lock_guard lock(no_host_threads().mutex);
  std::error_code none;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", none)) {
    if (no_host_threads().all.contains(std::stoi(task.path().filename()))) continue;
    // The number of the system call that it is in, and its arguments; else "running".
    std::ifstream file(task.path() / "syscall");
    long number = 0;
    std::string word, operation, value, limit;
    if (!(file >> number >> word >> operation >> value >> limit) || number != SYS_futex || limit != "0x0") return true;
  }
  return false;
}

}  // namespace

NoHostThread::NoHostThread() {
  const std::lock_guard lock(no_host_threads().mutex);
  no_host_threads().all.insert(gettid());
}
NoHostThread::~NoHostThread() {
  const std::lock_guard lock(no_host_threads().mutex);
  no_host_threads().all.erase(no_host_threads().all.find(gettid()));
}

std::uint64_t Grid::number_of(std::uint64_t turn) const {
  const std::uint64_t i = (first + turn * step) % to_run;
  if (to_run == blocks) return i;
  // A sample: one of each of to_run equal parts of the grid, not always at the same place, or all might lie in one column
  // of it. The corners of a plane are among them, if there are that many.
  const std::uint64_t begin = i * blocks / to_run, end = (i + 1) * blocks / to_run;
  const std::uint64_t right = launch.grid.x - 1, low = blocks - launch.grid.x;
  if (i == 0) return 0;
  if (i == to_run - 1) return blocks - 1;
  if (right > 0 && right < end && (i == 1 || right >= begin)) return right;
  if (low > right && low >= begin && (i == to_run - 2 || low < end)) return low;
  const std::uint64_t scattered = i * 0x9e3779b1u % (std::uint64_t{1} << 32);  // by the golden ratio
  return begin + (scattered * (end - begin) >> 32);
}

// Neighbours use the same memory, and two workers in one place would wait for each other's caches and locks. But blocks that
// wait for one another shall begin in order.
std::uint64_t Grid::to_claim() const {
  constexpr std::uint64_t most = 64;
  return any_waits
             ? 1
             : std::clamp<std::uint64_t>(std::min(to_run / (std::max(workers.load(), 1u) * 16), ended / 8), 1, most);
}

void Worker::run(Grid& grid) {
  workplace_.recorder.cover_all_images();
  workplace_.recorder.count_accesses(grid.sink && grid.sink->counts());
  workplace_.recorder.keep_requests(grid.sink && grid.sink->watches_requests());
  workplace_.shared.start_kernel(grid.launch.kernel, grid.launch.dynamic_shared);
  if (blocks_.empty()) blocks_.push_back(std::make_unique<Block>(workplace_));
  blocks_.front()->start_kernel(grid);
  free_ = {blocks_.front().get()};
  for (unsigned passes = 0; !grid.aborted;) {
    const bool moved = advance_those_under_way(grid);
    if (moved && ++passes < most_passes) continue;
    passes = 0;
    if (Block* const block = begin_next(grid)) {
      under_way_.push_back(block);
    } else if (under_way_.empty()) {
      break;
    } else if (!moved) {
      wait_for_others(grid);
    }
  }
  if (std::exchange(idle_, false)) --grid.idle;
  --grid.workers;
  finish(grid);
}

// Whether one of them has done anything.
bool Worker::advance_those_under_way(Grid& grid) {
  bool moved = false;
  for (std::size_t i = 0; i < under_way_.size() && !grid.aborted;) {
    Block* const block = under_way_[i];
    enter(block);
    const Block::Progress progress = block->advance();
    if (progress != Block::Progress::stalled) {
      moved = true;
      if (std::exchange(idle_, false)) {
        ++grid.revivals;
        --grid.idle;
      }
    }
    if (progress != Block::Progress::ended) {
      grid.any_waits = true;
      ++i;
      continue;
    }
    ++grid.ended;
    in_place_ = nullptr;
    free_.push_back(block);
    under_way_.erase(under_way_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return moved;
}

void Worker::enter(Block* block) {
  if (block == in_place_) return;
  if (in_place_) in_place_->leave();
  in_place_ = block;
  block->come_back();
}

// Null if none is left, or if there is no room for one more beside those under way.
Block* Worker::begin_next(Grid& grid) {
  if (turn_ == turns_end_ && grid.next_block >= grid.to_run) return nullptr;
  if (free_.empty()) {
    const dim3 size = grid.launch.block;
    if (StackPool::in_use() + size.x * size.y * size.z > most_stacks) return nullptr;
    blocks_.push_back(std::make_unique<Block>(workplace_));
    blocks_.back()->start_kernel(grid);
    free_.push_back(blocks_.back().get());
  }
  if (turn_ == turns_end_) {
    const std::uint64_t claimed = grid.to_claim();
    turn_ = std::min(grid.next_block.fetch_add(claimed), grid.to_run);
    turns_end_ = std::min(turn_ + claimed, grid.to_run);
    if (turn_ == turns_end_) return nullptr;
  }
  const std::uint64_t turn = turn_++;
  ++grid.begun;
  Block* const block = free_.back();
  free_.pop_back();
  if (in_place_) in_place_->leave();
  in_place_ = block;
  block->start(grid.number_of(turn));
  return block;
}

// None of this worker's blocks can go on. Another worker's may let them; if there is none either, nobody will.
void Worker::wait_for_others(Grid& grid) {
  // A thread may compute for long. In a launch with a mistake, it is taken to wait for what it never reads again.
  if (std::ranges::any_of(under_way_, &Block::computes) && !(grid.sink && grid.sink->has_mistakes())) {
    if (std::exchange(idle_, false)) {
      ++grid.revivals;
      --grid.idle;
    }
    return;
  }
  const auto now = std::chrono::steady_clock::now();
  const bool was_idle = std::exchange(idle_, true);
  if (!was_idle) ++grid.idle;
  if (!was_idle || grid.idle < grid.workers || grid.revivals != revivals_) {
    revivals_ = grid.revivals;
    idle_since_ = now;
  }
  // What the host may yet write somebody waits for: nobody gives up.
  if (now - idle_since_ >= longest_wait / 2 && std::ranges::any_of(under_way_, &Block::waits_for_host) &&
      host_may_act())
    ++grid.revivals;
  if (now - idle_since_ >= longest_wait || grid.barrier_lacks_the_ended()) return report_deadlock(grid);
  KeptLock::give_all_back();
  std::this_thread::sleep_for(between_polls);
}

void Worker::report_deadlock(Grid& grid) {
  if (grid.aborted.exchange(true) || !grid.sink) return;
  // Who waits for a thread that reads in vain does so because of it.
  const auto spins = std::ranges::find_if_not(under_way_, &Block::waits_for_grid);
  const Block& block = spins == under_way_.end() ? *under_way_.front() : **spins;
  std::string remark;
  if (block.waits_for_grid()) {
    remark = fmt::format(", which {} of {} blocks have not come to", grid.to_run - grid.arrived, grid.to_run);
  } else if (grid.to_run < grid.blocks) {
    remark = fmt::format("; of {} blocks only {} are run, as a sample", grid.blocks, grid.to_run);
  } else if (const std::uint64_t begun = grid.begun; begun < grid.to_run) {
    remark = fmt::format("; {} blocks wait for room, because {} are resident", grid.to_run - begun, begun - grid.ended);
  }
  block.explain_deadlock(remark);
}

void Worker::finish(Grid& grid) {
  KeptLock::give_all_back();
  under_way_.clear();
  turn_ = turns_end_ = 0;
  in_place_ = nullptr;
  std::uint64_t barriers = 0, tensor_flops = 0;
  for (const auto& block : blocks_) block->finish_kernel(barriers, tensor_flops);
  blocks_.resize(1);
  if (!grid.sink) return;
  std::vector<SiteCounts> sites;
  std::vector<std::pair<std::uintptr_t, std::uint64_t>> block_runs;
  if (grid.sink->counts()) workplace_.recorder.drain(sites, block_runs);
  grid.sink->add(std::move(sites), std::move(block_runs), barriers, tensor_flops, workplace_.shared.static_bytes());
}

}  // namespace simt
