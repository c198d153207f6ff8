#include "common/probe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "common/device.hpp"
#include "common/options.hpp"
#include "common/registry.hpp"

namespace gemm {
namespace {

// As with stages: registrations run before main, in no particular order.
std::vector<Probe>& storage() {
  static std::vector<Probe> all;
  return all;
}

std::string text_table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i)
      line += i == 0 ? fmt::format("{:<{}}", row[i], widths[i]) : fmt::format("  {:>{}}", row[i], widths[i]);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace

const std::vector<Probe>& all_probes() {
  return storage();
}

ProbeRegistration::ProbeRegistration(const char* file, const ProbeInfo& info) {
  std::string name = std::string(file).substr(std::string(file).find_last_of('/') + 1), number;
  name = name.substr(0, name.find('.'));
  if (std::isdigit(static_cast<unsigned char>(name[0]))) {
    name = stage_id_from_path(file);
    number = name.substr(0, name.find('_'));
  }
  auto& all = storage();
  all.insert(std::ranges::lower_bound(all, name, {}, &Probe::name), Probe{info, name, number, file});
}

const Probe* find_numbered_probe(std::string_view id) {
  const auto is = [&](const Probe& probe) { return !probe.number.empty() && (probe.name == id || probe.number == id); };
  const auto found = std::ranges::find_if(all_probes(), is);
  return found == all_probes().end() ? nullptr : &*found;
}

int run_probe(const Probe& probe, const ProbeRequest& request, const std::string& command) {
  require_writable(request.json);
  const DeviceInfo& device = open_device();
  if (request.time && !device.gpu)
    throw DeviceError("no device to time on: the CPU executor checks, and can't tell a GPU's speed");
  ProbeRun run;
  run.time = device.gpu && !request.check;
  std::optional<Ceilings> ceilings;
  if (device.gpu) run.sm_count = device.sm_count;
  if (run.time) {
    show_progress("measuring the ceilings");
    ceilings = measure_ceilings();
    show_progress("");
    run.machine = {device.name,           device.sm_count,    ceilings->read_gbs, ceilings->latency_ns,
                   ceilings->dfma_gflops, ceilings->copy_gbs, ceilings->launch_us};
  }
  const ProbeReport report = probe.run(run);  // before anything is printed: it may refuse
  show_progress("");
  tell(request.json, fmt::format("{}: {}\n{}; predictions for {}\n\n", probe.name, probe.idea, device.name,
                                 run.time ? "it" : run.machine.name));
  tell(request.json, text_table(report.table) + (report.text.empty() ? "" : "\n" + report.text));
  if (!run.time)
    tell(request.json, "\nnothing was timed: the kernels ran a little, and what they computed was checked\n");

  Json json = provenance(command, ceilings);
  json["probe"] = probe.name;
  json["timed"] = run.time;
  json["predicted_for"] = run.machine.name;
  json["settings"] = report.settings;
  json["results"] = report.results;
  if (!request.json.empty()) write_text(request.json, report_text(json));
  const auto failed = [](const Json& result) { return result["status"] == "fail"; };
  const auto wrong = std::ranges::find_if(report.results, failed);
  if (wrong == report.results.end()) return 0;
  fmt::print(stderr, "error: {} computes something wrong: {}\n", probe.name, wrong->dump());
  return 1;
}

std::string significant(double x, int digits) {
  return fmt::format("{:.{}g}", x, digits);
}
std::string decimals(double x, int digits) {
  return fmt::format("{:.{}f}", x, digits);
}

void add_times(Json& result, const TimingRun& run) {
  result["time_ms"] = to_json(run.samples[0]);
  result["state"] = to_json(run.state);
}

TimingRun time_probe(const Work& work) {
  TimingOptions options;
  options.seconds = 0.02;
  options.min_samples = 3;
  return time_in_turns({work}, options, {});
}

std::vector<CompiledKernel> compile_probe(const std::string& file) {
  const auto toolchain = find_toolchain();
  if (!toolchain || toolchain->nvdisasm.empty())
    throw UsageError("machine code needs nvcc and nvdisasm, and there is no " +
                     std::string(toolchain ? "nvdisasm" : "nvcc") + " here");
  return compile_kernels(*toolchain, file, GEMM_SOURCE_DIR);
}

}  // namespace gemm
