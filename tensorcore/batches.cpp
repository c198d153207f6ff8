#include "tensorcore/batches.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "common/backend/counts.hpp"
#include "common/backend/device.hpp"
#include "common/backend/device_memory.hpp"
#include "common/commands/program.hpp"
#include "common/report/json.hpp"
#include "common/report/probe_report.hpp"
#include "common/report/result_json.hpp"

namespace gemm::batches {
namespace {

// Both kinds of data; what is wrong, or nothing. The executor's counts are those of the last launch.
std::string checked(const Task& task, const Form& form, std::int64_t count, Json& result) {
  for (const bool whole : {true, false}) {
    task.fill(count, whole);
    task.clear(count);
    Status status = Status::ok();
    const Observation seen = observe([&] { status = form.launch(count); });
    if (!status) return status.reason;
    if (!seen.defects.empty()) return seen.defects.front();
    const std::string wrong = task.check(count);
    if (!wrong.empty()) return wrong + (whole ? " (whole numbers)" : "");
    if (const auto counts = counts_of(seen)) {
      result["counts"] = {{"shared_requests", counts->shared_load.requests + counts->shared_store.requests},
                          {"shared_wavefronts", counts->shared_load.wavefronts + counts->shared_store.wavefronts},
                          {"shared_bytes", counts->shared_bytes},
                          {"global_load_requests", counts->global_load.requests},
                          {"global_load_sectors", counts->global_load.sectors},
                          {"global_store_requests", counts->global_store.requests},
                          {"global_store_sectors", counts->global_store.sectors},
                          {"tensor_flops", counts->tensor_flops}};
    }
  }
  return {};
}

void set_times(const std::vector<Form>& forms, const std::vector<std::size_t>& which, const Task& task,
               std::int64_t count, const Machine& machine, std::vector<Json>& results) {
  std::vector<Work> works;
  for (const std::size_t i : which) works.push_back([&, i] { return forms[i].launch(count); });
  TimingOptions options;
  options.seconds = 0.02;
  options.min_samples = 5;
  const TimingRun timed = time_in_turns(works, options, {});
  double base = 0;
  for (std::size_t n = 0; n < which.size(); ++n) {
    if (forms[which[n]].name == task.base) base = timed.samples[n].median();
  }
  for (std::size_t n = 0; n < which.size(); ++n) {
    Json& result = results[which[n]];
    const double ms = timed.samples[n].median();
    result["time_ms"] = to_json(timed.samples[n]);
    result["state"] = to_json(timed.state);
    result["gbs"] = task.bytes * static_cast<double>(count) / (ms * 1e6);
    result["pct_copy"] = 100 * result["gbs"].get<double>() / machine.copy_gbs;
    if (base > 0) result["speedup"] = base / ms;
    // What was timed must be right, too.
    task.clear(count);
    const Status status = works[n]();
    const std::string wrong = status ? task.check(count) : status.reason;
    if (!wrong.empty()) {
      result["status"] = "fail";
      result["reason"] = wrong + " (after timing)";
    }
  }
}

std::vector<Json> measure_size(const ProbeRun& run, const Task& task, std::int64_t count) {
  std::vector<Json> results;
  std::vector<std::size_t> right;
  for (std::size_t i = 0; i < task.forms.size(); ++i) {
    const Form& form = task.forms[i];
    const double bytes = task.bytes * static_cast<double>(count);
    Json result = {{"part", "batch"},
                   {"task", task.name},
                   {"form", form.name},
                   {"batch", count},
                   {"bytes", bytes},
                   {"flops", task.flops * static_cast<double>(count)},
                   {"predicted_ms", std::max(bytes / (run.machine.copy_gbs * 1e6), run.machine.launch_us * 1e-3)},
                   {"status", "skip"},
                   {"reason", form.reason}};
    if (form.launch) {
      show_progress(fmt::format("{}, {}: {}", task.name, count, form.name));
      if (const auto resources = kernel_resources(form.kernel)) result["registers"] = resources->registers;
      try {
        result["reason"] = checked(task, form, count, result);
        result["status"] = result["reason"] == "" ? "pass" : "fail";
      } catch (const OutOfDeviceMemory& error) {
        result["reason"] = error.what();
      }
      if (result["status"] == "pass") right.push_back(i);
    }
    results.push_back(std::move(result));
  }
  if (run.time && !right.empty()) set_times(task.forms, right, task, count, run.machine, results);
  return results;
}

std::string cell(const Json& result) {
  if (result["status"] != "pass") return result["status"];
  if (result.contains("counts")) return fmt::format("right, {}", result["counts"]["shared_requests"].get<int>());
  if (!result.contains("gbs")) return "right";
  const std::string speed = fmt::format("{} ({:.0f} %)", significant(result["gbs"]), result["pct_copy"].get<double>());
  return result.contains("speedup") ? fmt::format("{} {:.2f} x", speed, result["speedup"].get<double>()) : speed;
}

}  // namespace

void measure(const ProbeRun& run, const std::vector<Task>& tasks, const std::vector<std::int64_t>& sizes,
             ProbeReport& report) {
  for (const Task& task : tasks) {
    std::vector<std::string> head = {task.name, "MB", "floor, us"};
    for (const Form& form : task.forms) head.push_back(form.name);
    report.table.push_back(head);
    for (const std::int64_t count : sizes) {
      const std::vector<Json> results = measure_size(run, task, count);
      const double bytes = results[0]["bytes"], ms = results[0]["predicted_ms"];
      std::vector<std::string> row = {std::to_string(count), significant(bytes * 1e-6, 3), significant(ms * 1e3, 3)};
      for (const Json& result : results) {
        row.push_back(cell(result));
        report.results.push_back(result);
      }
      report.table.push_back(row);
    }
  }
  if (run.time)
    report.text += fmt::format("GB/s, percent of the copy's {:.0f} GB/s, and how many times as fast as '{}'\n",
                               run.machine.copy_gbs, tasks[0].base);
}

void add_code(const std::string& file, const std::string& prefix, ProbeReport& report) {
  report.table.push_back(
      {"nvcc for sm_90a", "instructions", "registers", "local, bytes", "shared, bytes", "memory instructions"});
  for (const CompiledKernel& kernel : compile_probe(file)) {
    if (!kernel.name.starts_with(prefix)) continue;
    InstructionCounts accesses;
    for (const auto& [line, counts] : kernel.lines) {
      for (const auto& [name, n] : counts) accesses[name] += n;
    }
    std::string text;
    for (const auto& [name, n] : accesses) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", n, name);
    std::string arguments = kernel.template_arguments;
    for (const std::string anonymous = "(anonymous namespace)::"; arguments.find(anonymous) != std::string::npos;)
      arguments.erase(arguments.find(anonymous), anonymous.size());
    const std::string name = arguments.empty() ? kernel.name : fmt::format("{}<{}>", kernel.name, arguments);
    report.results.push_back({{"part", "code"},
                              {"kernel", name},
                              {"registers", kernel.registers},
                              {"spilled", kernel.spill_store_bytes},
                              {"local", kernel.stack_bytes},
                              {"shared", kernel.static_shared_bytes},
                              {"instructions", kernel.instructions},
                              {"loop_instructions", kernel.loop ? kernel.loop->instructions : 0},
                              {"accesses", accesses},
                              {"status", "pass"},
                              {"reason", ""}});
    report.table.push_back({name, std::to_string(kernel.instructions), std::to_string(kernel.registers),
                            std::to_string(kernel.stack_bytes), std::to_string(kernel.static_shared_bytes), text});
  }
}

}  // namespace gemm::batches
