// What the process that judges stages and the one that runs them say to each other.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/backend/cpu/wire.hpp"
#include "common/check/stage_run.hpp"
#include "common/simt/observe/findings.hpp"
#include "common/simt/observe/global_memory.hpp"

namespace gemm {

struct RunRequest {
  std::string stage;  ///< its id
  Problem problem;
  std::vector<simt::GlobalMemory::Holding> operands;  ///< that the problem's pointers lead to
  Looking looking;
  /// Asks who wrote this address last; null: for a StageRun.
  std::uintptr_t watched = 0;
  unsigned order = 0;  ///< of the blocks, as for simt::set_block_order()
  /// Asks what the stage would launch on a GPU with so many (PlannedRun); 0: it is run.
  int multiprocessors = 0;
};

/// What a stage launches, for a GPU to do without the stage's own host code.
struct PlannedRun {
  struct Argument {
    std::string bytes;
    bool pointer = false;
    int operand = -1;  ///< that a pointer leads to: 0 to 2 as a Problem has them, 3 the workspace; -1: to nothing
    std::int64_t offset = 0;  ///< from the operand's first element, in bytes
  };
  struct Launch {
    std::uintptr_t kernel = 0;
    dim3 grid, block;
    std::size_t dynamic_shared = 0;
    std::vector<Argument> arguments;
  };
  /// Of an operand, into the workspace, before the launches (gemm::ColumnsRecord).
  struct Columns {
    int operand = 0;
    std::int64_t from = 0, to = 0;  ///< offsets, in bytes
    std::int64_t rows = 0, cols = 0, ld = 0, column = 0;
    std::size_t element = 0;
  };
  std::vector<Launch> launches;
  std::vector<Columns> columns;
  std::size_t workspace_bytes = 0;
  double fp16_products = 0;  ///< Emulation's
};

/// How a launch came out: with a StageRun, with who wrote the address (a text, empty if nobody did), with what an
/// onlooker says, or with an exception of this type.
enum class Answer { run, writer, seen, plan, out_of_device_memory, device_error, usage_error, stage_error };

inline void put(wire::Writer& writer, const RunRequest& request) {
  writer.put(request.stage);
  writer.put(request.problem);
  writer.put(request.looking);
  writer.put(request.watched);
  writer.put(request.order);
  writer.put(request.multiprocessors);
  writer.put(request.operands.size());
  for (const auto& [begin, allocation, matrix] : request.operands) {
    writer.put(begin);
    writer.put(allocation.bytes);
    writer.put(allocation.open);
    writer.put(allocation.sparse);
    writer.put(matrix.name);
    writer.put(matrix.first);
    writer.put(matrix.rows);
    writer.put(matrix.cols);
    writer.put(matrix.ld);
    writer.put(matrix.element_bytes);
    writer.put(matrix.untold);
  }
}

inline RunRequest get_request(wire::Reader& reader) {
  RunRequest request;
  reader.get(request.stage);
  reader.get(request.problem);
  reader.get(request.looking);
  reader.get(request.watched);
  reader.get(request.order);
  reader.get(request.multiprocessors);
  request.operands.resize(reader.next<std::size_t>());
  for (auto& [begin, allocation, matrix] : request.operands) {
    reader.get(begin);
    reader.get(allocation.bytes);
    reader.get(allocation.open);
    reader.get(allocation.sparse);
    reader.get(matrix.name);
    reader.get(matrix.first);
    reader.get(matrix.rows);
    reader.get(matrix.cols);
    reader.get(matrix.ld);
    reader.get(matrix.element_bytes);
    reader.get(matrix.untold);
  }
  return request;
}

inline void put(wire::Writer& writer, const simt::InspectionResult& detail) {
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

/// Without the defects: those are in the observation, as text.
inline std::shared_ptr<const simt::InspectionResult> get_detail(wire::Reader& reader) {
  const auto detail = std::make_shared<simt::InspectionResult>();
  for (auto left = reader.next<std::size_t>(); left > 0; --left) {
    simt::KernelObservation& kernel = detail->kernels.emplace_back();
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
  return detail;
}

inline void put(wire::Writer& writer, const Account& account) {
  writer.put(account.counts);
  writer.put(account.lines.size());
  for (const LineCounts& line : account.lines) {
    writer.put(line.file);
    writer.put(line.line);
    writer.put(line.counts);
  }
}

inline std::shared_ptr<const Account> get_account(wire::Reader& reader) {
  const auto account = std::make_shared<Account>();
  reader.get(account->counts);
  // One by one: a number that is too large ends where the message does.
  for (auto left = reader.next<std::size_t>(); left > 0; --left) {
    LineCounts& line = account->lines.emplace_back();
    reader.get(line.file);
    reader.get(line.line);
    reader.get(line.counts);
  }
  return account;
}

inline void put(wire::Writer& writer, const PlannedRun& plan) {
  writer.put(plan.workspace_bytes);
  writer.put(plan.fp16_products);
  writer.put(plan.columns);
  writer.put(plan.launches.size());
  for (const auto& [kernel, grid, block, dynamic_shared, arguments] : plan.launches) {
    writer.put(kernel);
    writer.put(grid);
    writer.put(block);
    writer.put(dynamic_shared);
    writer.put(arguments.size());
    for (const auto& [bytes, pointer, operand, offset] : arguments) {
      writer.put(bytes);
      writer.put(pointer);
      writer.put(operand);
      writer.put(offset);
    }
  }
}

inline PlannedRun get_plan(wire::Reader& reader) {
  PlannedRun plan;
  reader.get(plan.workspace_bytes);
  reader.get(plan.fp16_products);
  reader.get(plan.columns);
  for (auto launches = reader.next<std::size_t>(); launches > 0; --launches) {
    auto& [kernel, grid, block, dynamic_shared, arguments] = plan.launches.emplace_back();
    reader.get(kernel);
    reader.get(grid);
    reader.get(block);
    reader.get(dynamic_shared);
    for (auto left = reader.next<std::size_t>(); left > 0; --left) {
      auto& [bytes, pointer, operand, offset] = arguments.emplace_back();
      reader.get(bytes);
      reader.get(pointer);
      reader.get(operand);
      reader.get(offset);
    }
  }
  return plan;
}

/// `counted`: the sender counts, because the receiver does not know all of its code.
inline void put(wire::Writer& writer, const StageRun& run, bool counted) {
  const Observation& seen = run.observation;
  writer.put(run.status.code);
  writer.put(run.status.reason);
  writer.put(run.launches);
  writer.put(run.policy);
  writer.put(seen.defects);
  writer.put(seen.warnings);
  writer.put(seen.seconds);
  writer.put(seen.most_sectors_of_a_block);
  writer.put(counted);
  if (counted) return put(writer, Account{counts_of(seen), line_counts_of(seen)});
  put(writer, *static_cast<const simt::InspectionResult*>(seen.detail.get()));
}

inline StageRun get_run(wire::Reader& reader) {
  StageRun run;
  Observation& seen = run.observation;
  reader.get(run.status.code);
  reader.get(run.status.reason);
  reader.get(run.launches);
  reader.get(run.policy);
  reader.get(seen.defects);
  reader.get(seen.warnings);
  reader.get(seen.seconds);
  reader.get(seen.most_sectors_of_a_block);
  if (reader.next<bool>())
    seen.account = get_account(reader);
  else
    seen.detail = get_detail(reader);
  return run;
}

}  // namespace gemm
