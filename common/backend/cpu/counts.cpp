// The executor's account of a run, in the harness' terms.
#include "common/backend/counts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "common/backend/cpu/host_exception.hpp"
#include "common/simt/code/source_lines.hpp"
#include "common/simt/observe/fma_count.hpp"
#include "common/simt/observe/given_stream.hpp"
#include "common/simt/observe/global_memory.hpp"
#include "common/simt/observe/inspection.hpp"
#include "common/simt/observe/touched_sectors.hpp"
#include "common/simt/runtime/queue.hpp"
#include "common/simt/runtime/stream_order.hpp"

namespace gemm {
namespace {

const simt::InspectionResult& detail_of(const Observation& observation) {
  return *static_cast<const simt::InspectionResult*>(observation.detail.get());
}

void add(Counts& counts, const simt::SiteCounts& site) {
  AccessCounts& kind = site.atomic   ? (site.shared ? counts.shared_atomic : counts.global_atomic)
                       : site.shared ? (site.store ? counts.shared_store : counts.shared_load)
                                     : (site.store ? counts.global_store : counts.global_load);
  kind +=
      {site.requests, site.lanes, site.lanes * site.bytes, site.sectors, site.lines, site.wavefronts, site.conflicts};
}

void add(Counts& counts, const simt::FmaSite& fma) {
  std::optional<std::uint64_t>& total = fma.bits == 64 ? counts.fma64 : counts.fma32;
  total = total.value_or(0) + fma.lanes;
}

std::uint64_t volume(dim3 d) {
  return std::uint64_t{d.x} * d.y * d.z;
}

}  // namespace

Observation observe(const std::function<void()>& run, Looking looking) {
  const auto result = std::make_shared<simt::InspectionResult>();
  const auto begin = std::chrono::steady_clock::now();
  Observation observation;
  simt::TouchedSectors touched;
  {
    simt::Inspection inspection(*result);
    inspection.counts = looking.counts;
    simt::StreamOrder::start();
    if (looking.sectors_of_blocks)
      inspection.on_request = [&](const simt::WarpRequest& request) { touched.add(request); };
    if (looking.in_order) inspection.on_global_write = [](const auto&...) {};
    if (std::string thrown = exception_in(run); !thrown.empty()) observation.defects.push_back(std::move(thrown));
  }
  const auto end = std::chrono::steady_clock::now();
  // A race explains what a read of unwritten memory only shows.
  std::ranges::stable_partition(result->defects, [](const simt::Defect& defect) {
    return defect.kind != simt::DefectKind::uninitialised_shared &&
           defect.kind != simt::DefectKind::uninitialised_global;
  });
  std::vector<std::uintptr_t> places;
  for (const simt::Defect& defect : result->defects) {
    if (defect.one.known) places.push_back(defect.one.pc);
    if (defect.other.known) places.push_back(defect.other.pc);
  }
  simt::source_lines(places);  // all at once: each question costs a process
  for (const simt::Defect& defect : result->defects) {
    (simt::is_warning(defect.kind) ? observation.warnings : observation.defects).push_back(defect.text());
  }
  observation.seconds = std::chrono::duration<double>(end - begin).count();
  observation.detail = result;
  if (looking.sectors_of_blocks) observation.most_sectors_of_a_block = touched.most_of_a_block();
  return observation;
}

std::optional<std::int64_t> first_not_by_kernel(const void* rows, std::int64_t count, std::size_t bytes,
                                                std::size_t stride) {
  const simt::GlobalMemory& memory = simt::GlobalMemory::instance();
  const auto begin = reinterpret_cast<std::uintptr_t>(rows);
  for (std::int64_t row = 0; row < count; ++row) {
    const std::size_t offset = static_cast<std::size_t>(row) * stride;
    if (const auto missing = memory.first_not_by_kernel(begin + offset, bytes))
      return static_cast<std::int64_t>(offset + *missing);
  }
  return std::nullopt;
}

StageStream::StageStream() {
  static const cudaStream_t only = simt::add_stream(cudaStreamNonBlocking, 0);
  stream_ = simt::given_stream = only;
}
StageStream::~StageStream() {
  simt::given_stream = nullptr;
}

void read_in_order(const void* rows, std::int64_t count, std::size_t bytes, std::size_t stride) {
  const auto begin = reinterpret_cast<std::uintptr_t>(rows);
  for (std::int64_t row = 0; row < count; ++row)
    simt::StreamOrder::read_next(begin + static_cast<std::size_t>(row) * stride, bytes);
}

std::optional<Counts> counts_of(const Observation& observation) {
  if (observation.account) return observation.account->counts;
  if (!observation.detail) return std::nullopt;
  Counts total;
  for (const simt::KernelObservation& kernel : detail_of(observation).kernels) {
    Counts counts;
    for (const simt::SiteCounts& site : kernel.sites) add(counts, site);
    if (const simt::FmaCount fmas = simt::count_fmas(kernel); fmas.known) {
      counts.fma32 = fmas.total(32);
      counts.fma64 = fmas.total(64);
    }
    counts.tensor_flops = kernel.tensor_flops;
    counts.barriers = kernel.barriers;
    counts.blocks = volume(kernel.grid);
    counts.threads = counts.blocks * volume(kernel.block);
    counts.shared_bytes = kernel.static_shared + kernel.dynamic_shared;
    total += counts;
  }
  return total;
}

std::vector<LineCounts> line_counts_of(const Observation& observation) {
  if (observation.account) return observation.account->lines;
  if (!observation.detail) return {};
  std::map<std::pair<std::string, int>, Counts> lines;
  for (const simt::KernelObservation& kernel : detail_of(observation).kernels) {
    const simt::FmaCount fmas = simt::count_fmas(kernel);
    // All at once: each question costs a process.
    std::vector<std::uintptr_t> places;
    for (const simt::SiteCounts& site : kernel.sites) places.push_back(site.pc);
    for (const simt::FmaSite& fma : fmas.sites) places.push_back(fma.pc);
    const auto found = simt::source_lines(places);
    std::size_t next = 0;
    const auto counts_here = [&]() -> Counts& {
      const simt::SourceLine& line = found[next++];
      return lines[{line.file, line.line}];
    };
    for (const simt::SiteCounts& site : kernel.sites) add(counts_here(), site);
    for (const simt::FmaSite& fma : fmas.sites) add(counts_here(), fma);
  }
  std::vector<LineCounts> result;
  for (const auto& [place, counts] : lines) result.push_back({place.first, place.second, counts});
  return result;
}

}  // namespace gemm
