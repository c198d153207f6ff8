#include "common/simt/observe/sink.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>

#include "common/simt/observe/global_memory.hpp"

namespace simt {
namespace {

Sink* active = nullptr;

}  // namespace

Sink::Sink(InspectionResult& result, const WriteObserver& on_global_write, const RequestObserver& on_request,
           const std::function<void()>& on_launch_end)
    : result_(result), on_global_write_(on_global_write), on_request_(on_request), on_launch_end_(on_launch_end) {
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
  KernelObservation& kernel = result_.kernels.emplace_back();
  kernel.kernel = name;
  kernel.grid = launch.grid;
  kernel.block = launch.block;
  kernel.dynamic_shared = launch.dynamic_shared;
}

void Sink::add(std::vector<SiteCounts> sites, std::vector<std::pair<std::uintptr_t, std::uint64_t>> block_runs,
               std::uint64_t barriers, std::uint64_t tensor_flops, std::size_t static_shared) {
  const std::lock_guard lock(mutex_);
  KernelObservation& kernel = result_.kernels.back();
  kernel.barriers += barriers;
  kernel.tensor_flops += tensor_flops;
  kernel.static_shared = static_shared;
  for (const SiteCounts& site : sites) {
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
  for (const auto& [pc, count] : block_runs) runs[pc] += count;
  kernel.block_runs.assign(runs.begin(), runs.end());
}

void Sink::report(Defect defect) {
  const std::lock_guard lock(mutex_);
  if (result_.defects.size() >= most_defects) return;
  if (!seen_.insert({defect.kind, defect.one.pc, defect.other.pc}).second) return;
  result_.defects.push_back(std::move(defect));
}

void Sink::written(const ThreadContext& thread, const void* address, std::size_t bytes, std::uintptr_t pc) {
  on_global_write_(thread, address, bytes, pc);
}

void Sink::requested(WarpRequest request) {
  request.launch_number = static_cast<unsigned>(result_.kernels.size() - 1);
  on_request_(request);
}

}  // namespace simt
