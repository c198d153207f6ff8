// Collects what the workers find during one inspection. Internal to common/simt/.
#pragma once

#include <functional>
#include <mutex>
#include <set>
#include <tuple>

#include "common/simt/inspection.hpp"

namespace simt {

class Sink {
 public:
  Sink(InspectionResult& result, Inspection& inspection) : result_(result), inspection_(inspection) {}

  void start_launch(const Launch& launch);
  /// What one worker has counted.
  void add(std::vector<SiteCounts> sites, std::vector<std::pair<std::uintptr_t, std::uint64_t>> block_runs,
           std::uint64_t barriers, std::uint64_t tensor_flops, std::size_t static_shared);
  /// Keeps the first of each kind and pair of places, up to a limit.
  void report(Defect defect);

  bool watches_writes() const { return static_cast<bool>(inspection_.on_global_write); }
  void written(const ThreadContext& thread, const void* address, std::size_t bytes);

 private:
  static constexpr std::size_t most_defects = 64;

  InspectionResult& result_;
  Inspection& inspection_;
  std::mutex mutex_;
  std::set<std::tuple<DefectKind, std::uintptr_t, std::uintptr_t>> seen_;
};

/// The inspection under way, null if there is none.
Sink* active_sink();

}  // namespace simt
