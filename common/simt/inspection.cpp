#include "common/simt/inspection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>

#include "common/simt/sink.hpp"
#include "common/simt/source_lines.hpp"
#include "common/simt/symbols.hpp"

namespace simt {
namespace {

Sink* sink = nullptr;

const char* title(DefectKind kind) {
  switch (kind) {
    case DefectKind::shared_race:
      return "data race in shared memory";
    case DefectKind::global_race:
      return "data race in global memory";
    case DefectKind::out_of_bounds:
      return "out of bounds";
    case DefectKind::misaligned:
      return "misaligned access";
    case DefectKind::host_memory:
      return "not device memory";
    case DefectKind::uninitialised_shared:
      return "uninitialised shared memory";
    case DefectKind::uninitialised_global:
      return "uninitialised global memory";
    case DefectKind::divergent_barrier:
      return "divergent barrier";
    case DefectKind::deadlock:
      return "deadlock";
    case DefectKind::bad_mask:
      return "wrong mask";
    case DefectKind::launch_limit:
      return "launch beyond a limit";
    case DefectKind::half_block_barrier:
      return "warning: part of the block waits at another barrier";
    case DefectKind::barrier_after_exit:
      return "warning: barrier after some threads of the warp have ended";
  }
  return "?";
}

std::string text_of(const Party& party) {
  return fmt::format("thread ({}, {}, {}) of block ({}, {}, {}) {} at {}", party.thread.x, party.thread.y,
                     party.thread.z, party.block.x, party.block.y, party.block.z, party.action,
                     source_line(party.pc).text());
}

}  // namespace

bool is_warning(DefectKind kind) {
  return kind == DefectKind::half_block_barrier || kind == DefectKind::barrier_after_exit;
}

std::string Defect::text() const {
  std::string text = fmt::format("{} in {}", title(kind), kernel);
  if (!where.empty()) text += fmt::format(", {}", where);
  if (one.known) text += ": " + text_of(one);
  if (other.known) text += ", " + text_of(other);
  return text;
}

Sink* active_sink() {
  return sink;
}

Inspection::Inspection(InspectionResult& result) {
  if (sink) throw std::logic_error("one inspection at a time");
  sink = new Sink(result, *this);
}

Inspection::~Inspection() {
  delete sink;
  sink = nullptr;
}

void Sink::start_launch(const Launch& launch) {
  KernelObservation& kernel = result_.kernels.emplace_back();
  kernel.kernel = function_at(reinterpret_cast<std::uintptr_t>(launch.kernel)).name;
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

void Sink::written(const ThreadContext& thread, const void* address, std::size_t bytes) {
  inspection_.on_global_write(thread, address, bytes);
}

}  // namespace simt
