#include "common/backend/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "common/backend/cpu/host_exception.hpp"
#include "common/kernel/status.hpp"
#include "common/simt/code/dynamic_names.hpp"
#include "common/simt/code/source_lines.hpp"
#include "common/simt/observe/global_memory.hpp"
#include "common/simt/observe/inspection.hpp"
#include "common/simt/observe/shared_memory.hpp"

namespace gemm {
namespace {

std::uint64_t index_of(const std::string& text, dim3 grid) {
  unsigned x = 0, y = 0, z = 0;
  int end = 0;
  const auto complete = [&] { return end > 0 && text[static_cast<std::size_t>(end)] == '\0'; };
  const std::uint64_t blocks = std::uint64_t{grid.x} * grid.y * grid.z;
  const auto need = [&](bool exists) {
    if (!exists)
      throw UsageError(fmt::format("no block {}: the launch has {} x {} x {} blocks", text, grid.x, grid.y, grid.z));
  };
  if (text.find_first_not_of("0123456789,") == std::string::npos) {
    if (std::sscanf(text.c_str(), "%u%n", &x, &end) == 1 && complete()) {
      need(x < blocks);
      return x;
    }
    const int given = std::sscanf(text.c_str(), "%u,%u%n,%u%n", &x, &y, &end, &z, &end);
    if (given >= 2 && complete()) {
      need(x < grid.x && y < grid.y && z < grid.z);
      return x + std::uint64_t{grid.x} * (y + std::uint64_t{grid.y} * z);
    }
  }
  throw UsageError("a block is its number or x,y or x,y,z, or all, not '" + text + "'");
}

// Takes the requests in as they come, and keeps those that were chosen.
class Keeper {
 public:
  explicit Keeper(const TraceChoice& choice) : choice_(choice) {}

  // An exception must not pass through the executor: what is wrong with the choice of blocks comes at the end.
  void take(const simt::WarpRequest& request) {
    if (!wrong_.empty()) return;
    try {
      keep(request);
    } catch (const UsageError& error) {
      wrong_ = error.what();
    }
  }

  // When all are there: each question about lines costs a process.
  AccessTrace complete() {
    if (!wrong_.empty()) throw UsageError(wrong_);
    std::size_t i = 0;
    for (const auto& frames : simt::source_lines_with_callers(places_)) {
      for (const simt::SourceLine& line : frames) trace_.sites[i].lines.emplace_back(line.file, line.line);
      ++i;
    }
    find_sources();
    // What the code calls its dynamic shared memory.
    for (const auto& [object, pc] : dynamic_) {
      const std::string name = simt::dynamic_name(pc, kernel_);
      trace_.objects[object].name = name.empty() ? "smem" : name;
    }
    return std::move(trace_);
  }

 private:
  using Place = std::pair<std::uint32_t, std::int64_t>;
  static constexpr auto first_lane = [](const auto& request) {
    return static_cast<unsigned>(std::countr_zero(request.mask));
  };

  // Of stores whose words come through registers: tile[i] = a[j] loads and stores on one line.
  void find_sources() {
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::string, int>, std::uint32_t> loaded;  // by warp and line
    for (TraceRequest& request : trace_.requests) {
      const TraceSite& site = trace_.sites[request.site];
      if (site.lines.empty() || site.atomic || site.async) continue;
      const auto& [file, line] = site.lines.front();
      const std::tuple key{request.block, request.warp, file, line};
      if (!site.shared && !site.store) loaded[key] = request.object[first_lane(request)];
      if (!site.shared || !site.store) continue;
      if (const auto known = loaded.find(key); known != loaded.end()) request.source = known->second;
    }
  }

  void keep(const simt::WarpRequest& request) {
    kernel_ = request.launch.kernel;
    const dim3 grid = request.launch.grid;
    const std::uint64_t index =
        request.block.x + std::uint64_t{grid.x} * (request.block.y + std::uint64_t{grid.y} * request.block.z);
    if (!choice_.all_blocks && !chosen_) choose(grid);
    if (!choice_.all_blocks && !chosen_->contains(index)) return;
    const auto [known, is_new] = blocks_.try_emplace(index, trace_.blocks.size());
    if (is_new) trace_.blocks.push_back({.index = index});
    TraceBlock& block = trace_.blocks[known->second];
    block.barriers = std::max<std::uint64_t>(block.barriers, request.barriers);
    if (block.requests++ >= choice_.requests) return;
    TraceRequest kept{.block = static_cast<std::uint32_t>(known->second),
                      .warp = request.warp,
                      .barriers = static_cast<std::uint32_t>(request.barriers),
                      .site = site_of(request),
                      .mask = request.mask,
                      .sectors = request.sectors,
                      .lines = request.lines,
                      .wavefronts = request.wavefronts,
                      .conflicts = request.conflicts};
    const simt::WarpAccess access{request.address.data(), request.mask, request.bytes, request.store};
    const simt::LaneTurns turns = simt::turns_of_lanes(access);
    kept.wavefront = turns.wavefront;
    kept.turn = turns.turn;
    for (std::uint32_t rest = kept.mask; rest; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(rest));
      const auto [object, offset] = request.shared ? in_shared(request, lane) : in_global(request.address[lane]);
      kept.object[lane] = object;
      kept.offset[lane] = offset;
    }
    // A copy has one source; only lanes that fill with zeros have none.
    const auto copied = std::ranges::find_if(request.source, [](std::uint64_t from) { return from != 0; });
    if (copied != request.source.end()) kept.source = in_global(*copied).first;
    trace_.requests.push_back(kept);
  }

  void choose(dim3 grid) {
    chosen_.emplace();
    for (const std::string& text : choice_.blocks) chosen_->insert(index_of(text, grid));
    if (choice_.blocks.empty()) chosen_->insert(0);
  }

  std::uint32_t site_of(const simt::WarpRequest& r) {
    const auto key = std::tuple{r.pc, r.shared, r.store, r.atomic, r.bytes};
    const auto [known, is_new] = sites_.try_emplace(key, static_cast<std::uint32_t>(trace_.sites.size()));
    if (is_new) {
      trace_.sites.push_back({{}, r.shared, r.store, r.atomic, r.async, r.bytes});
      places_.push_back(r.pc);
    }
    return known->second;
  }

  std::uint32_t add(TraceObject object) {
    trace_.objects.push_back(std::move(object));
    return static_cast<std::uint32_t>(trace_.objects.size() - 1);
  }

  Place in_shared(const simt::WarpRequest& request, unsigned lane) {
    if (!shared_known_) {
      shared_ = simt::shared_objects(request.launch.kernel, request.launch.dynamic_shared);
      shared_known_ = true;
    }
    const std::uint64_t place = request.address[lane];
    auto after = std::ranges::upper_bound(shared_, place, {}, &simt::SharedObject::place);
    if (after == shared_.begin()) return {add({TraceObject::Kind::shared, "shared memory"}), 0};
    const simt::SharedObject& found = *std::prev(after);
    const auto [known, is_new] = shared_objects_.try_emplace(found.place, 0);
    if (is_new) {
      known->second = add({.kind = TraceObject::Kind::shared,
                           .name = found.name,
                           .bytes = found.bytes,
                           .in_line = static_cast<unsigned>(found.place % simt::line_bytes)});
      if (found.name.empty()) dynamic_.emplace_back(known->second, request.pc);
    }
    return {known->second, static_cast<std::int64_t>(place - found.place)};
  }

  Place in_global(std::uintptr_t address) {
    if (!holding_ || address < holding_->begin || address - holding_->begin >= holding_->allocation.bytes)
      holding_ = simt::GlobalMemory::instance().holding_at(address);
    if (!holding_) return {add({TraceObject::Kind::memory, "memory"}), 0};
    const simt::MatrixPlace& matrix = holding_->matrix;
    const std::uintptr_t first = matrix.name.empty() ? holding_->begin : matrix.first;
    const auto [known, is_new] = global_objects_.try_emplace(first, 0);
    if (is_new) {
      TraceObject object;
      object.in_line = static_cast<unsigned>(first % simt::line_bytes);
      if (matrix.name.empty()) {
        object.name = "workspace";
        object.bytes = holding_->allocation.bytes;
      } else {
        object.kind = TraceObject::Kind::matrix;
        object.name = matrix.name;
        object.rows = matrix.rows;
        object.cols = matrix.cols;
        object.ld = matrix.ld;
        object.element_bytes = matrix.element_bytes;
      }
      known->second = add(std::move(object));
    }
    return {known->second, static_cast<std::int64_t>(address - first)};
  }

  const TraceChoice& choice_;
  AccessTrace trace_;
  std::string wrong_;
  const void* kernel_ = nullptr;
  std::optional<std::set<std::uint64_t>> chosen_;
  std::map<std::uint64_t, std::size_t> blocks_;
  std::map<std::tuple<std::uintptr_t, bool, bool, bool, unsigned>, std::uint32_t> sites_;
  std::vector<std::uintptr_t> places_;  // of sites
  bool shared_known_ = false;
  std::vector<simt::SharedObject> shared_;
  std::map<std::uint64_t, std::uint32_t> shared_objects_;
  std::vector<std::pair<std::uint32_t, std::uintptr_t>>
      dynamic_;  // objects without a name, and where they are accessed
  std::optional<simt::GlobalMemory::Holding> holding_;
  std::map<std::uintptr_t, std::uint32_t> global_objects_;
};

// From 1 on: the one that was asked for, else the one that multiplies: on Tensor Cores, or with the most accesses.
std::size_t chosen_launch(const std::vector<simt::KernelObservation>& kernels, int asked) {
  if (asked > 0) return static_cast<std::size_t>(asked);
  const auto work = [](const simt::KernelObservation& kernel) {
    std::uint64_t sum = 0;
    for (const simt::SiteCounts& site : kernel.sites) sum += site.requests;
    return std::pair(kernel.tensor_flops, sum);
  };
  const auto most = std::ranges::max_element(kernels, {}, work);
  return static_cast<std::size_t>(most - kernels.begin()) + 1;
}

}  // namespace

AccessTrace trace_accesses(const std::string& id, const std::function<Status()>& run, const TraceChoice& choice) {
  std::map<std::size_t, Keeper> keepers;  // by launch, from 1 on
  simt::InspectionResult result;
  Status status;
  {
    simt::Inspection inspection(result);
    inspection.on_request = [&](const simt::WarpRequest& request) {
      keepers.try_emplace(request.launch_number + 1, choice).first->second.take(request);
    };
    if (const std::string thrown = exception_in([&] { status = run(); }); !thrown.empty())
      throw StageError(fmt::format("{}: {}", id, thrown));
  }
  if (!status) throw UsageError(fmt::format("{}: {}", id, status.reason));
  if (result.kernels.empty()) throw UsageError(id + " launches no kernel for this problem");
  const std::size_t launch = chosen_launch(result.kernels, choice.launch), launches = result.kernels.size();
  if (launch > launches) {
    throw UsageError(
        fmt::format("no launch {}: {} launches {} kernel{}", launch, id, launches, launches == 1 ? "" : "s"));
  }
  AccessTrace trace = keepers.try_emplace(launch, choice).first->second.complete();
  trace.launch = static_cast<int>(launch);
  trace.launches = static_cast<int>(launches);
  const simt::KernelObservation& kernel = result.kernels[launch - 1];
  trace.kernel = kernel.kernel;
  trace.grid = kernel.grid;
  trace.block = kernel.block;
  trace.dynamic_shared = kernel.dynamic_shared;
  trace.static_shared = kernel.static_shared;
  for (const simt::Defect& defect : result.defects)
    (simt::is_warning(defect.kind) ? trace.warnings : trace.defects).push_back(defect.text());
  if (trace.requests.empty() && !trace.defects.empty())
    throw StageError(fmt::format("{}: {}", id, trace.defects.front()));
  return trace;
}

}  // namespace gemm
