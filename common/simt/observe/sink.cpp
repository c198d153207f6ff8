#include "common/simt/observe/sink.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>

#include "common/simt/observe/global_memory.hpp"

namespace simt {
namespace {

Sink* active = nullptr;

void merge(KernelObservation& kernel, const KernelObservation& more) {
  kernel.barriers += more.barriers;
  kernel.tensor_flops += more.tensor_flops;
  kernel.launches += more.launches;
  for (const SiteCounts& site : more.sites) {
    const auto same = std::ranges::find_if(kernel.sites, [&](const SiteCounts& s) {
      return s.pc == site.pc && s.shared == site.shared && s.store == site.store && s.bytes == site.bytes;
    });
    if (same == kernel.sites.end()) {
      kernel.sites.push_back(site);
      continue;
    }
    same->requests += site.requests;
    same->lanes += site.lanes;
    same->sectors += site.sectors;
    same->lines += site.lines;
    same->wavefronts += site.wavefronts;
    same->conflicts += site.conflicts;
  }
  std::map<std::uintptr_t, std::uint64_t> runs(kernel.block_runs.begin(), kernel.block_runs.end());
  for (const auto& [pc, count] : more.block_runs) runs[pc] += count;
  kernel.block_runs.assign(runs.begin(), runs.end());
}

void extrapolate(KernelObservation& kernel, double factor) {
  const auto scale = [factor](std::uint64_t& count) {
    count = static_cast<std::uint64_t>(static_cast<double>(count) * factor + 0.5);
  };
  scale(kernel.barriers);
  scale(kernel.tensor_flops);
  for (SiteCounts& site : kernel.sites) {
    for (std::uint64_t* const count :
         {&site.requests, &site.lanes, &site.sectors, &site.lines, &site.wavefronts, &site.conflicts})
      scale(*count);
  }
  for (auto& [pc, count] : kernel.block_runs) scale(count);
}

}  // namespace

Sink::Sink(InspectionResult& result, const WriteObserver& on_global_write, const RequestObserver& on_request,
           const std::function<void()>& on_launch_end, const bool& merges_launches, const bool& counts)
    : result_(result),
      on_global_write_(on_global_write),
      on_request_(on_request),
      on_launch_end_(on_launch_end),
      merges_launches_(merges_launches),
      counts_(counts) {
  if (active) throw std::logic_error("one inspection at a time");
  active = this;
  GlobalMemory::instance().start_inspection();
}

Sink::~Sink() {
  active = nullptr;
}

Sink* active_sink() {
  return active;
}

void Sink::start_launch(const Launch& launch, const std::string& name) {
  current_ = {};
  current_.kernel = name;
  current_.grid = launch.grid;
  current_.block = launch.block;
  current_.dynamic_shared = launch.dynamic_shared;
  ++launches_;
}

void Sink::end_launch(std::uint64_t sampled_blocks) {
  current_.sampled_blocks = sampled_blocks;
  const dim3 g = current_.grid, b = current_.block;
  if (sampled_blocks > 0) {
    extrapolate(current_, static_cast<double>(std::uint64_t{g.x} * g.y * g.z) / static_cast<double>(sampled_blocks));
  }
  bool is_new = true;
  if (merges_launches_) {
    const Shape shape{current_.kernel, {g.x, g.y, g.z, b.x, b.y, b.z}, current_.dynamic_shared, sampled_blocks};
    const auto known = known_.try_emplace(shape, result_.kernels.size());
    is_new = known.second;
    if (!is_new) merge(result_.kernels[known.first->second], current_);
  }
  if (is_new) result_.kernels.push_back(std::move(current_));
  if (on_launch_end_) on_launch_end_();
}

void Sink::add(std::vector<SiteCounts> sites, std::vector<std::pair<std::uintptr_t, std::uint64_t>> block_runs,
               std::uint64_t barriers, std::uint64_t tensor_flops, std::size_t static_shared) {
  const std::lock_guard lock(mutex_);
  KernelObservation more;
  more.sites = std::move(sites);
  more.block_runs = std::move(block_runs);
  more.barriers = barriers;
  more.tensor_flops = tensor_flops;
  more.launches = 0;
  current_.static_shared = static_shared;
  merge(current_, more);
}

void Sink::report(Defect defect) {
  const std::lock_guard lock(mutex_);
  if (result_.defects.size() >= most_defects) return;
  if (!seen_.insert({defect.kind, defect.one.pc, defect.other.pc}).second) return;
  result_.defects.push_back(std::move(defect));
}

bool Sink::has_mistakes() {
  const std::lock_guard lock(mutex_);
  return !std::ranges::all_of(result_.defects, [](const Defect& defect) { return is_warning(defect.kind); });
}

void Sink::written(const ThreadContext& thread, const void* address, std::size_t bytes, std::uintptr_t pc) {
  on_global_write_(thread, address, bytes, pc);
}

void Sink::requested(WarpRequest request) {
  request.launch_number = launches_ - 1;
  on_request_(request);
}

}  // namespace simt
