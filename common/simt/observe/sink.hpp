// Collects what the workers find during one inspection. Internal to common/simt/.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <tuple>

#include "common/simt/language/grid.hpp"
#include "common/simt/observe/findings.hpp"
#include "common/simt/observe/warp_request.hpp"

namespace simt {

using WriteObserver =
    std::function<void(const ThreadContext&, const void* address, std::size_t bytes, std::uintptr_t pc)>;

/// One at a time: while it lives, it is the active one.
class Sink {
 public:
  /// All must outlive it.
  Sink(InspectionResult& result, const WriteObserver& on_global_write, const RequestObserver& on_request,
       const std::function<void()>& on_launch_end, const bool& merges_launches, const bool& counts);
  ~Sink();
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;

  void start_launch(const Launch& launch, const std::string& name);
  /// `sampled_blocks`: so many have run, and stand for all of the grid's; 0: all have.
  void end_launch(std::uint64_t sampled_blocks);
  /// What one worker has counted.
  void add(std::vector<SiteCounts> sites, std::vector<std::pair<std::uintptr_t, std::uint64_t>> block_runs,
           std::uint64_t barriers, std::uint64_t tensor_flops, std::size_t static_shared);
  /// Keeps the first of each kind and pair of places, up to a limit.
  void report(Defect defect);
  /// More than warnings, in this launch or before.
  bool has_mistakes();

  bool counts() const { return counts_ || watches_requests(); }
  bool watches_requests() const { return static_cast<bool>(on_request_); }
  /// Of the launch that has begun last.
  void requested(WarpRequest request);

  bool watches_writes() const { return static_cast<bool>(on_global_write_); }
  void written(const ThreadContext& thread, const void* address, std::size_t bytes, std::uintptr_t pc);

 private:
  static constexpr std::size_t most_defects = 64;

  InspectionResult& result_;
  const WriteObserver& on_global_write_;
  const RequestObserver& on_request_;
  const std::function<void()>& on_launch_end_;
  const bool& merges_launches_;
  const bool& counts_;
  std::mutex mutex_;
  KernelObservation current_;  // of the launch under way
  unsigned launches_ = 0;
  using Shape = std::tuple<std::string, std::array<unsigned, 6>, std::size_t, std::uint64_t>;
  std::map<Shape, std::size_t> known_;  // if launches are merged: where each is
  std::set<std::tuple<DefectKind, std::uintptr_t, std::uintptr_t>> seen_;
};

/// That of the inspection under way, null if there is none.
Sink* active_sink();

}  // namespace simt
