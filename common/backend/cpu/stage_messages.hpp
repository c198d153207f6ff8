// What the process that judges stages and the one that runs them say to each other.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/backend/cpu/wire.hpp"
#include "common/check/stage_run.hpp"
#include "common/simt/code/symbols.hpp"
#include "common/simt/observe/findings.hpp"
#include "common/simt/observe/global_memory.hpp"

namespace gemm {

struct RunRequest {
  std::string stage;  ///< its id
  Problem problem;
  std::vector<simt::GlobalMemory::Allocation> operands;  ///< that the problem's pointers lead to
};

/// How a launch came out: with a StageRun, or with an exception of this type.
enum class Answer { run, out_of_device_memory, device_error, usage_error };

inline void put(wire::Writer& writer, const RunRequest& request) {
  writer.put(request.stage);
  writer.put(request.problem);
  writer.put(request.operands);
}

inline RunRequest get_request(wire::Reader& reader) {
  RunRequest request;
  reader.get(request.stage);
  reader.get(request.problem);
  reader.get(request.operands);
  return request;
}

inline void put(wire::Writer& writer, const StageRun& run) {
  writer.put(run.status.code);
  writer.put(run.status.reason);
  writer.put(run.launches);
  writer.put(run.policy);
  writer.put(run.observation.defects);
  writer.put(run.observation.warnings);
  writer.put(run.observation.seconds);
  const auto& detail = *static_cast<const simt::InspectionResult*>(run.observation.detail.get());
  writer.put(simt::site_count());
  writer.put(detail.kernels.size());
  for (const simt::KernelObservation& kernel : detail.kernels) {
    writer.put(kernel.kernel);
    writer.put(kernel.grid);
    writer.put(kernel.block);
    writer.put(kernel.dynamic_shared);
    writer.put(kernel.static_shared);
    writer.put(kernel.sites);
    writer.put(kernel.barriers);
    writer.put(kernel.block_runs);
    writer.put(kernel.tensor_flops);
  }
}

inline StageRun get_run(wire::Reader& reader) {
  StageRun run;
  reader.get(run.status.code);
  reader.get(run.status.reason);
  reader.get(run.launches);
  reader.get(run.policy);
  reader.get(run.observation.defects);
  reader.get(run.observation.warnings);
  reader.get(run.observation.seconds);
  const auto detail = std::make_shared<simt::InspectionResult>();
  const auto sites = reader.next<std::size_t>();
  detail->kernels.resize(reader.next<std::size_t>());
  for (simt::KernelObservation& kernel : detail->kernels) {
    reader.get(kernel.kernel);
    reader.get(kernel.grid);
    reader.get(kernel.block);
    reader.get(kernel.dynamic_shared);
    reader.get(kernel.static_shared);
    reader.get(kernel.sites);
    reader.get(kernel.barriers);
    reader.get(kernel.block_runs);
    reader.get(kernel.tensor_flops);
  }
  // Places in kernels that only the other process has compiled say nothing here.
  if (sites == simt::site_count()) run.observation.detail = detail;
  return run;
}

}  // namespace gemm
