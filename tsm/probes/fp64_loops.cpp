#include "tsm/probes/fp64_loops.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <regex>

#include "common/backend/device.hpp"
#include "common/backend/device_memory.hpp"

namespace gemm::probes {
namespace {

bool with_machine_code = false;  // of the probe that runs: there is one at a time

constexpr int data_words = 8192;
constexpr double warp_fma = 0.5;     // cycles of an SM: 64 lanes
constexpr double slots_a_cycle = 4;  // schedulers
constexpr int timed_fmas = 1 << 15;  // of a thread
constexpr int repeats = 3;
constexpr int warps_of_sm[] = {4, 8, 16};

// Percent of the FP64 peak. Each hypothesis also has the limits of the units: their lanes, the banks, the issue slots.
struct Predictions {
  double units, paper, read_ports, write_ports;
};
Predictions predict(const Loop& loop) {
  const double fmas = loop.fmas, cycles = fmas * warp_fma;
  const double units =
      std::min({1.0, cycles / std::max(loop.other_cycles, 1e-9), cycles * slots_a_cycle / (fmas + loop.others)});
  const auto limited = [&](double share) { return 100 * std::min(units, share); };
  // A scheduler's cycles: an FMA has its lanes for two. A word of 64 bits is two registers, of which a cycle writes
  // one.
  const double writing = 2 * loop.loads_64 + 4 * loop.loads_128;
  return {.units = 100 * units,
          .paper = limited(fmas / (fmas + loop.others / 4.0)),
          .read_ports = limited(2 / std::max(2.0, loop.operands)),
          .write_ports = limited(2 * fmas / (2 * fmas + writing))};
}

std::string name_of(const Json& about) {
  std::string name;
  for (const auto& [key, value] : about.items()) {
    if (key == "tile_n") {
      name += " x " + std::to_string(value.get<int>());
      continue;
    }
    name +=
        (name.empty() ? "" : ", ") + (value.is_string() ? value.get<std::string>() : std::to_string(value.get<int>()));
    if (key == "per_four") name += " per 4";
  }
  return name;
}

// A launch of so many threads in each block; waits for it by reading what it wrote.
struct Bench {
  DeviceArray<double> data{data_words}, out;
  DeviceArray<long long> cycles;

  explicit Bench(int blocks) : out(static_cast<std::size_t>(blocks) * 512), cycles(static_cast<std::size_t>(blocks)) {
    check_cuda(cudaMemcpy(data.data(), loop_data().data(), data_words * sizeof(double), cudaMemcpyHostToDevice),
               "copy");
  }
  void launch(const Loop& loop, int blocks, int threads, int rounds) const {
    const Status status = loop.launch({.grid = static_cast<unsigned>(blocks), .block = static_cast<unsigned>(threads)},
                                      rounds, data.data(), out.data(), cycles.data());
    if (!status) throw DeviceError("a launch failed: " + status.reason);
  }
};

void check(const Bench& bench, const Loop& loop, Json& result) {
  constexpr int threads = 32, rounds = 3;
  bench.launch(loop, 1, threads, rounds);
  const std::vector<double> out = bench.out.to_host();
  for (int thread = 0; thread < threads; ++thread) {
    const double right = loop.right(thread, rounds), found = out[static_cast<std::size_t>(thread)];
    if (found == right) continue;
    result["status"] = "fail";
    result["reason"] = fmt::format("thread {} has {}, not {}", thread, found, right);
    return;
  }
}

// Percent of the FP64 peak of an SM's 64 lanes.
double share_of_peak(const Bench& bench, const Loop& loop, int blocks, int warps) {
  const int rounds = std::max(timed_fmas / loop.fmas, 1);
  std::vector<double> shares;
  for (int i = 0; i <= repeats; ++i) {
    bench.launch(loop, blocks, 32 * warps, rounds);
    std::vector<long long> cycles = bench.cycles.to_host();
    std::ranges::sort(cycles);
    const double median = static_cast<double>(cycles[cycles.size() / 2]);
    if (i > 0) shares.push_back(100.0 * loop.fmas * rounds * warps * warp_fma / median);  // the first one warms up
  }
  std::ranges::sort(shares);
  return shares[shares.size() / 2];
}

Json to_json(const LoopCode& code) {
  return {{"dfma", code.fmas},
          {"loads_64", code.loads_64},
          {"loads_128", code.loads_128},
          {"adds", code.adds},
          {"moves", code.moves},
          {"rest", code.rest},
          {"new_operands", code.operands},
          {"reused", code.reused},
          {"port_cycles", code.port_cycles},
          {"registers", code.registers},
          {"spilled", code.spilled}};
}

// "mix" and "((anonymous namespace)::Kind)5, 4, ((anonymous namespace)::Order)1": "mix 5 4 1".
std::string short_name(const CompiledKernel& kernel) {
  static const std::regex type(R"(\((\(anonymous namespace\)|[\w: ])*\)|,)");
  std::string name = kernel.name + " " + std::regex_replace(kernel.template_arguments, type, "");
  for (std::size_t at; (at = name.find("  ")) != std::string::npos;) name.erase(at, 1);
  return name;
}

bool begins_with_one_of(const std::string& text, std::initializer_list<const char*> beginnings) {
  return std::ranges::any_of(beginnings, [&](const char* beginning) { return text.starts_with(beginning); });
}

// The registers of an instruction, in order, and whether they are kept: "R4", true.
std::vector<std::pair<std::string, bool>> registers_of(const std::string& instruction) {
  static const std::regex a_register(R"(\bR(\d+)(\.reuse)?)");
  std::vector<std::pair<std::string, bool>> all;
  for (std::sregex_iterator it(instruction.begin(), instruction.end(), a_register), end; it != end; ++it)
    all.emplace_back((*it)[1], (*it)[2].matched);
  return all;
}

// A DFMA, and what follows up to the next.
struct Step {
  std::vector<std::pair<std::string, bool>> operands;
  double others = 0;  // cycles of the registers' ports
};

double cycles_of(const Step& step, const Step& before) {
  double reads = step.others;
  for (std::size_t i = 0; i < step.operands.size(); ++i) {
    const std::string& name = step.operands[i].first;
    const auto same = [&](const auto& operand) { return operand.first == name; };
    const auto here = step.operands.begin() + static_cast<std::ptrdiff_t>(i);
    const bool kept = i < before.operands.size() && before.operands[i] == std::pair(name, true);
    reads += !kept && std::none_of(step.operands.begin(), here, same);
  }
  return std::max(2.0, reads);
}

}  // namespace

const std::vector<double>& loop_data() {
  static const std::vector<double> data = [] {
    std::mt19937_64 engine(1);  // the standard fixes what it yields
    std::vector<double> words(data_words);
    for (double& word : words) word = 0.5 + static_cast<double>(engine() >> 12) * 0x1p-53;
    return words;
  }();
  return data;
}

LoopCode read_loop(const std::vector<std::string>& code) {
  LoopCode result;
  std::vector<Step> steps;
  double first_others = 0;  // before the first DFMA: they follow the last
  for (const std::string& instruction : code) {
    auto registers = registers_of(instruction);
    if (instruction.starts_with("DFMA")) {
      ++result.fmas;
      registers.erase(registers.begin());  // the sum that it writes
      for (const auto& [name, kept] : registers) {
        const auto same = [&](const auto& operand) { return operand.first == name; };
        result.operands += steps.empty() || std::ranges::none_of(steps.back().operands, same);
        result.reused += kept;
      }
      steps.push_back({.operands = std::move(registers)});
      continue;
    }
    double& others = steps.empty() ? first_others : steps.back().others;
    if (begins_with_one_of(instruction, {"LDS", "LDG"})) {
      ++(instruction.find(".128") != std::string::npos ? result.loads_128 : result.loads_64);
      others += 1;
    } else if (begins_with_one_of(instruction, {"IADD3 ", "VIADD ", "IMAD.IADD "})) {
      ++result.adds;
      others += static_cast<double>(registers.size() - 1) / 2;
    } else if (begins_with_one_of(instruction, {"MOV ", "IMAD.MOV.U32 "})) {
      ++result.moves;
      others += 1;
    } else {
      ++result.rest;
    }
  }
  if (steps.empty()) return result;
  steps.back().others += first_others;
  for (std::size_t i = 0; i < steps.size(); ++i)
    result.port_cycles += cycles_of(steps[i], steps[(i + steps.size() - 1) % steps.size()]);
  result.operands /= result.fmas;
  result.reused /= result.fmas;
  return result;
}

std::map<std::string, LoopCode> machine_code(const std::string& file) {
  std::map<std::string, LoopCode> all;
  for (const CompiledKernel& kernel : compile_probe(file)) {
    if (!kernel.loop) continue;
    LoopCode& code = all[short_name(kernel)] = read_loop(kernel.loop->code);
    code.registers = kernel.registers;
    code.spilled = kernel.spill_store_bytes;
  }
  return all;
}

ProbeOption machine_code_option() {
  return {.name = "--sass",
          .description = "what nvcc makes of the loops, too (needs nvcc and nvdisasm, but no GPU)",
          .flag = &with_machine_code};
}

ProbeReport run_loops(const ProbeRun& run, const std::vector<Loop>& loops, const std::string& file) {
  std::map<std::string, LoopCode> codes;
  if (with_machine_code) codes = machine_code(file);
  if (run.time && open_device().compute_capability % 10 != 0)
    throw DeviceError("this GPU has an FP64 lane or two in each SM: nothing to measure");
  const int blocks = run.time ? run.sm_count : 1;
  const Bench bench(blocks);
  ProbeReport report;
  report.table = {{"percent of the FP64 peak", "others/FMA", "units", "paper", "reading", "writing"}};
  for (const int warps : warps_of_sm) report.table[0].push_back(fmt::format("{} warps", warps));
  if (with_machine_code) {
    for (const char* title : {"DFMA", "loads", "adds", "moves", "rest", "operands", ".reuse", "registers"})
      report.table[0].push_back(title);
  }
  for (const Loop& loop : loops) {
    const Predictions predicted = predict(loop);
    const double others = static_cast<double>(loop.others) / loop.fmas;
    Json result = loop.about;
    result["fmas"] = loop.fmas;
    result["others"] = loop.others;
    result["operands"] = loop.operands;
    result["predicted"] = {{"units", predicted.units},
                           {"paper", predicted.paper},
                           {"read_ports", predicted.read_ports},
                           {"write_ports", predicted.write_ports}};
    result["status"] = "pass";
    result["reason"] = "";
    check(bench, loop, result);
    std::vector<std::string> row = {name_of(loop.about), fmt::format("{:.3g}", others)};
    for (const double percent : {predicted.units, predicted.paper, predicted.read_ports, predicted.write_ports})
      row.push_back(fmt::format("{:.1f}", percent));
    const auto resources = kernel_resources(loop.kernel);
    if (resources) result["registers"] = resources->registers;
    for (const int warps : warps_of_sm) {
      // Registers are given out by eights.
      const bool fits = !resources || (resources->registers + 7) / 8 * 8 * 32 * warps <= 65536;
      if (run.time && fits && result["status"] == "pass") {
        const double percent = share_of_peak(bench, loop, blocks, warps);
        result["percent"][std::to_string(warps)] = percent;
        row.push_back(fmt::format("{:.1f}", percent));
      } else {
        row.push_back("-");
      }
    }
    if (const auto code = codes.find(loop.kernel_name); code != codes.end()) {
      const LoopCode& c = code->second;
      result["sass"] = to_json(c);
      for (const int count : {c.fmas, c.loads_64 + c.loads_128, c.adds, c.moves, c.rest})
        row.push_back(std::to_string(count));
      for (const double mean : {c.operands, c.reused}) row.push_back(fmt::format("{:.2f}", mean));
      row.push_back(std::to_string(c.registers));
    }
    report.results.push_back(std::move(result));
    report.table.push_back(std::move(row));
  }
  report.text =
      "others: of an FMA. units: lanes, banks and issue slots alone; paper: a DFMA is lost for every four others; "
      "reading: two\n"
      "operands a DFMA are read in its two cycles; writing: a loaded register takes a cycle from the FP64 units\n";
  if (run.time) report.text += "-: so many warps would need more registers than an SM has\n";
  return report;
}

}  // namespace gemm::probes
