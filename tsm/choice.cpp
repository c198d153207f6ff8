#include "tsm/choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <tuple>
#include <utility>

#include "common/backend/device.hpp"
#include "common/report/kernel_options_json.hpp"
#include "common/toolchain/jit.hpp"

namespace gemm {
namespace {

// What a rule knows of sizes for which nothing was tuned. Of the stages, from the simplest one on, the second has a
// pipeline: on an H200 it was the better one for 344 of 348 tuned sizes of TSMTTSM
// (docs/measurements/nvidia-h200/tsm_tuning_*.json). The third has Tensor Cores, whose instruction has 16 columns: what
// is narrower is bound by memory in any case. Of TSMM the third stores best, and was the best for 585 of 608 sizes.
const Stage& by_rule(std::span<const Stage* const> candidates, Operation op, int m, int n) {
  const bool last = op == Operation::tsmm ? m * n > 4 : m > 16 && n > 16;
  const std::size_t wanted = last ? 2 : op == Operation::tsmm ? 0 : 1;
  return *candidates[std::min(wanted, candidates.size() - 1)];
}

// Whether the long side is so short that 09 is faster than the tuned kernels, which were tuned with 4 GB of A and B: no
// latency of device memory is left to hide where A and B are about as large as the L2 cache, and a pipeline takes longer
// to fill than 09's loads to issue. Up to where depends on how well 09's tiles fit the width (docs/tsm/14_best.md).
bool is_short(const TunedTable& table, Operation op, Type type, int m, int n, std::int64_t k) {
  const std::vector<TunedTable::Range>& ranges = table.short_mb[type == Type::c64];
  const auto widest = static_cast<std::size_t>(std::max(m, n));
  if (op != Operation::tsmttsm || widest > ranges.size()) return false;
  const double bytes = static_cast<double>(k) * (m + n) * static_cast<double>(size_of(type));
  return bytes >= 1e6 * ranges[widest - 1][0] && bytes <= 1e6 * ranges[widest - 1][1];
}

// What was tuned are aligned rows.
RowsOfB rows_of_b(const Problem& p) {
  if (p.op != Operation::tsmm) return RowsOfB::aligned;
  return p.ldout != p.n                                      ? RowsOfB::padded
         : reinterpret_cast<std::uintptr_t>(p.out) % 16 != 0 ? RowsOfB::displaced
                                                             : RowsOfB::aligned;
}

// Why these: is_in_place(), choice.hpp.
bool allows_in_place(const Stage& stage) {
  return stage.id == "tsm/13_tsmm_pipeline" || stage.id == "tsm/13c_tsmm_tensor_cores";
}

// What to try for padded or displaced rows of TSMM's B with the last stage, which has 16 rows a warp, or a few times
// these, on any GPU (docs/tsm/strides.log.md#lanes-of-a-row). Displaced rows leave as aligned ones do, and its model
// chooses. A warp stores padded rows one after the other, and more warps with fewer rows do that better: 4 KB of A and B
// each where a block has one turn, 16 KB where it has all that there are.
std::vector<KernelOptions> for_rows_of_b(RowsOfB how, const Stage& last, bool is_complex, int m, int n) {
  if (how == RowsOfB::aligned) return {};
  if (how == RowsOfB::displaced) return {KernelOptions{}};
  const auto of = [&](int unroll, int threads) {
    KernelOptions options;
    options.unroll = unroll;
    options.threads = threads;
    return options;
  };
  const bool ends_soon = last.generated.choose(m, n, is_complex, of(1, 128)).turns > 0;
  const double bytes_of_16 = 16.0 * (m + n) * (is_complex ? 16 : 8), best = (ends_soon ? 4 : 16) * 1024;
  const int unroll = std::clamp(static_cast<int>(std::exp2(std::round(std::log2(best / bytes_of_16)))), 1, 4);
  return {of(unroll, ends_soon ? 128 : 256), of(1, 256), of(1, 192), of(1, 128)};
}

std::vector<std::string> words(std::string_view text) {
  std::istringstream stream{std::string(text)};
  std::vector<std::string> all;
  for (std::string word; stream >> word;) all.push_back(word);
  return all;
}

// Whether the stage's model takes the kernel with these (complete) options for about as fast as its own choice. On an
// H200 those of a neighbour that it took for slower had 60 to 83 % of the roofline (docs/tsm/14_best.md).
bool suits(const Stage& stage, int m, int n, bool is_complex, const KernelOptions& options) {
  constexpr double most = 1.05;
  const auto cycles = [&](const KernelOptions& asked) {
    const auto found = stage.generated.candidates(m, n, is_complex, asked, Search::promising);
    return found.empty() ? INFINITY : found.front().cycles;
  };
  return cycles(options) <= most * cycles({});
}

// Of no number where there is none: choices can be asked for, and kernels compiled, for another machine.
const CurrentDevice& this_device() {
  try {
    return current_device();
  } catch (const DeviceError&) {
    static const CurrentDevice none = {-1, false, {}, 0};
    return none;
  }
}

// Asked for at each launch.
const TunedTable& table_of_this_device() {
  static const TunedTable none = {};
  static std::map<int, const TunedTable*> known;
  const CurrentDevice& device = this_device();
  const TunedTable*& its = known[device.number];
  if (!its) its = nearest_table(tuned_tables(), device.name);
  return its ? *its : none;
}

// Stages that generate kernels for the product themselves.
std::vector<const Stage*> generating_stages(Operation op) {
  std::vector<const Stage*> found;
  const CurrentDevice& device = this_device();  // one that is no GPU runs all stages
  for (const Stage& stage : stages()) {
    const bool own = stage.op == op && stage.generated && !stage.generated.chosen;
    if (own && (!device.gpu || device.compute_capability >= stage.min_compute_capability)) found.push_back(&stage);
  }
  return found;
}

// For a Gram matrix, from the choice for a product of this size: what was tuned has twice the bytes, and as many warps
// below C's diagonal as above. The stage's model chooses what depends on that, and Tensor Cores are taken sooner, because
// there are twice as many products for a byte (docs/tsm/strides.log.md#gram-matrices).
Choice for_gram(Choice choice, int n) {
  if (!choice.stage) return choice;
  const Stage& last = *generating_stages(Operation::tsmttsm).back();
  if (n > 16) choice.stage = &last;
  choice.options.unroll = 0;
  if (choice.stage == &last) choice.options = {};
  return choice;
}

TunedKernel parse_kernel(const Json& json) {
  TunedKernel kernel;
  const auto text = [&](const char* name) { return json.at(name).get<std::string>(); };
  const std::string op = text("op"), type = text("type");
  if (op != "tsmttsm" && op != "tsmm") throw UsageError("no operation '" + op + "'");
  if (type != "d" && type != "z") throw UsageError("no type '" + type + "'");
  kernel.op = op == "tsmm" ? Operation::tsmm : Operation::tsmttsm;
  kernel.type = type == "z" ? Type::c64 : Type::f64;
  kernel.m = json.at("m").get<int>();
  kernel.n = json.at("n").get<int>();
  if (kernel.m < 1 || kernel.n < 1) throw UsageError("m and n must be positive");
  kernel.stage = text("stage");
  kernel.options = kernel_options_from_json(json.at("options"));
  if (const std::string why = foreign_options(kernel.op, kernel.options); !why.empty()) throw UsageError(why);
  return kernel;
}

template <Operation op>
GeneratedKernels chosen() {
  static constexpr auto choose = [](int m, int n, bool is_complex, const KernelOptions& asked, LongSide side = {}) {
    return choose_kernel(op, is_complex ? Type::c64 : Type::f64, m, n, asked, side);
  };
  return {
      .choose =
          [](int m, int n, bool is_complex, const KernelOptions& asked) {
            const Choice choice = choose(m, n, is_complex, asked);
            return choice.stage ? choice.options : asked;
          },
      .refusal = [](int m, int n, bool is_complex,
                    const KernelOptions& complete) { return choose(m, n, is_complex, complete).reason; },
      .request =
          [](int m, int n, bool is_complex, bool conjugate, const KernelOptions& complete) {
            const Choice choice = choose(m, n, is_complex, complete);
            if (!choice.stage) throw std::logic_error("no kernel to compile: " + choice.reason);
            return choice.stage->generated.request(m, n, is_complex, conjugate, choice.options);
          },
      .find = find_kernel,
      .chosen =
          [](int m, int n, std::int64_t k, bool padded, bool is_complex, const KernelOptions& asked) {
            const Choice choice =
                choose(m, n, is_complex, asked, LongSide(k, padded ? RowsOfB::padded : RowsOfB::aligned));
            return choice.stage ? std::pair(choice.stage->id, choice.options) : std::pair(std::string(), asked);
          },
  };
}

}  // namespace

TunedTable parse_tuned_table(std::string_view name, std::string_view text) {
  try {
    const Json json = Json::parse(text);
    TunedTable table{json.at("device").get<std::string>(), json.at("commit").get<std::string>(), {}};
    Json kernel = Json::object();
    for (const Json& line : json.at("kernels")) {
      if (line.contains("stage")) kernel.erase("options");
      kernel.update(line, true);
      table.kernels.push_back(parse_kernel(kernel));
    }
    if (const auto ranges = json.find("short_mb"); ranges != json.end()) {
      for (const bool is_complex : {false, true}) ranges->at(is_complex ? "z" : "d").get_to(table.short_mb[is_complex]);
    }
    return table;
  } catch (const Json::exception& error) {
    throw UsageError(fmt::format("{}: {}", name, error.what()));
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: {}", name, error.what()));
  }
}

const std::vector<TunedTable>& tuned_tables() {
  static const std::vector<TunedTable> tables = [] {
    std::vector<TunedTable> all;
    for (const EmbeddedText& file : embedded_tables()) all.push_back(parse_tuned_table(file.name, file.text));
    return all;
  }();
  return tables;
}

const TunedTable* nearest_table(std::span<const TunedTable> tables, std::string_view device) {
  const std::vector<std::string> wanted = words(device);
  const TunedTable* nearest = nullptr;
  int most = -1;
  for (const TunedTable& table : tables) {
    const std::vector<std::string> its = words(table.device);
    int common = 0;
    for (const std::string& word : its) common += word != "NVIDIA" && std::ranges::find(wanted, word) != wanted.end();
    if (table.device == device) return &table;
    if (common == 0 && table.device != "NVIDIA H200") continue;
    if (common > most) {
      nearest = &table;
      most = common;
    }
  }
  return nearest;
}

Choice choose_kernel(const TunedTable& tuned, std::span<const Stage* const> candidates, Operation op, Type type, int m,
                     int n, const KernelOptions& asked, LongSide side) {
  const bool is_complex = type == Type::c64;
  Choice choice;
  if (candidates.empty()) {
    choice.reason = "no stage of this build, or for this GPU, generates kernels for this product";
    return choice;
  }
  const auto take = [&](const Stage& stage, const KernelOptions& options) {
    if (side.in_place && !allows_in_place(stage)) {
      if (choice.reason.empty()) choice.reason = "stage " + stage.id + " can't have B in A's place";
      return false;
    }
    const KernelOptions complete = stage.generated.choose(m, n, is_complex, options);
    const std::string why = kernel_refusal(stage, m, n, is_complex, complete);
    if (!why.empty()) {
      if (choice.reason.empty()) choice.reason = why;  // of the stage that should have been
      return false;
    }
    choice.stage = &stage;
    choice.options = complete;
    choice.reason.clear();
    return true;
  };

  if (!asked.any() && is_short(tuned, op, type, m, n, side.rows) && take(*candidates.front(), {})) return choice;
  if (!asked.any()) {
    for (const KernelOptions& options : for_rows_of_b(side.rows_of_b, *candidates.back(), is_complex, m, n)) {
      if (take(*candidates.back(), options)) return choice;
    }
  }
  const Stage* preferred = nullptr;
  const TunedKernel* nearest = nullptr;
  double least = 0;
  for (const TunedKernel& kernel : tuned.kernels) {
    const auto stage = std::ranges::find(candidates, kernel.stage, &Stage::id);
    if (kernel.op != op || kernel.type != type || stage == candidates.end()) continue;
    const double distance =
        std::hypot(std::log(static_cast<double>(m) / kernel.m), std::log(static_cast<double>(n) / kernel.n));
    if (nearest && distance >= least) continue;
    nearest = &kernel;
    preferred = *stage;
    least = distance;
  }
  if (nearest) {
    choice.from = nearest->m == m && nearest->n == n ? ChoiceFrom::tuned : ChoiceFrom::neighbour;
    if (!asked.any() && (choice.from == ChoiceFrom::tuned || suits(*preferred, m, n, is_complex, nearest->options)) &&
        take(*preferred, nearest->options))
      return choice;
  } else {
    preferred = &by_rule(candidates, op, m, n);
  }
  if (take(*preferred, asked)) return choice;
  for (const Stage* const stage : candidates) {
    if (stage != preferred && take(*stage, asked)) return choice;
  }
  return choice;
}

Choice choose_kernel(Operation op, Type type, int m, int n, const KernelOptions& asked, LongSide side) {
  return choose_kernel(table_of_this_device(), generating_stages(op), op, type, m, n, asked, side);
}

std::size_t most_workspace(const Problem& problem) {
  std::size_t most = 0;
  for (const Stage* const stage : generating_stages(problem.op)) {
    if (stage->workspace_bytes) most = std::max(most, stage->workspace_bytes(problem));
  }
  return most;
}

GeneratedKernels chosen_tsmttsm() {
  return chosen<Operation::tsmttsm>();
}
GeneratedKernels chosen_tsmm() {
  return chosen<Operation::tsmm>();
}

bool is_gram(const Problem& p) {
  return p.op == Operation::tsmttsm && p.x == p.y && p.ldx == p.ldy && p.m == p.n;
}

bool is_in_place(const Problem& p) {
  return p.op == Operation::tsmm && p.x && p.x == p.out;
}

const Choice& known_choice(const Problem& problem) {
  // Without columns there is nothing to multiply, but a result to scale.
  const int m = static_cast<int>(std::max<std::int64_t>(problem.m, 1));
  const int n = static_cast<int>(std::max<std::int64_t>(problem.n, 1));
  using Key = std::tuple<int, Operation, Type, int, int, KernelOptions, bool, RowsOfB, bool, bool>;
  static std::map<Key, Choice> known;
  static const std::pair<const Key, Choice>* latest = nullptr;  // mostly asked for again, by a launch of 7 us
  const LongSide side(problem.k, rows_of_b(problem), is_in_place(problem));
  const bool gram = is_gram(problem) && !problem.kernel.any();
  const Key key(this_device().number, problem.op, problem.type, m, n, problem.kernel,
                is_short(table_of_this_device(), problem.op, problem.type, m, n, side.rows), side.rows_of_b,
                side.in_place, gram);
  if (latest && latest->first == key) return latest->second;
  auto found = known.find(key);
  if (found == known.end()) {
    const Choice choice = choose_kernel(problem.op, problem.type, m, n, problem.kernel, side);
    found = known.emplace(key, gram ? for_gram(choice, n) : choice).first;
  }
  latest = &*found;
  return found->second;
}

Status launch_chosen(const Problem& problem, cudaStream_t stream) {
  if (problem.n == 0 || problem.rows() == 0) return Status::ok();
  const Choice& choice = known_choice(problem);
  if (!choice.stage) return Status::unsupported(choice.reason);
  Problem with_options = problem;
  with_options.kernel = choice.options;
  return choice.stage->launch(with_options, stream);
}

}  // namespace gemm
