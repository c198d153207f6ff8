// One OS thread's share of a launch: which of its blocks runs next.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "common/simt/run/block.hpp"

namespace simt {

/// While it lives, the calling thread is none of the host's: it is the executor's, or waits for it.
class NoHostThread {
 public:
  NoHostThread();
  ~NoHostThread();
};

/// Takes the grid's blocks one after another. A block that can't go on without another one stays under way, as resident
/// blocks do on a GPU, and others run in between.
class Worker {
 public:
  /// Until all blocks have ended, or the launch is broken off.
  void run(Grid& grid);

 private:
  Block* begin_next(Grid& grid);
  void enter(Block* block);
  bool advance_those_under_way(Grid& grid);
  void wait_for_others(Grid& grid);
  void report_deadlock(Grid& grid);
  void finish(Grid& grid);

  Workplace workplace_;
  std::vector<std::unique_ptr<Block>> blocks_;  // the first is kept from launch to launch
  std::vector<Block*> under_way_, free_;
  std::uint64_t turn_ = 0, turns_end_ = 0;  // that it has claimed: the next one, and the end
  Block* in_place_ = nullptr;               // whose shared memory is there, of those under way
  bool idle_ = false;                       // all are stalled, and none can begin; what follows is about that
  std::uint64_t revivals_ = 0;
  std::chrono::steady_clock::time_point idle_since_;  // all workers are
};

}  // namespace simt
