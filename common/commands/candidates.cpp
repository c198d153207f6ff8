#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "common/commands/commands.hpp"
#include "common/commands/options.hpp"
#include "common/kernel/status.hpp"
#include "common/problem/registry.hpp"
#include "common/report/kernel_options_json.hpp"

namespace gemm {
namespace {

struct CandidateOptions {
  std::vector<std::string> stages;  // of one operation, all generate their kernels
  std::vector<std::string> sizes;
  std::vector<Type> types;
  KernelOptions kernel;  // what is settled
  Search search = Search::promising;
  int most = 0;        // of a stage for each size; 0: all
  double mib = 1024;   // of A, which says what K is
  std::int64_t k = 0;  // or K itself
};

// Throws UsageError if they generate no kernels, or others than asked for.
std::vector<const Stage*> stages_of(const CandidateOptions& options) {
  std::vector<const Stage*> all;
  for (const std::string& name : options.stages) {
    const Stage& stage = find_stage(name);
    if (!stage.generated || !stage.generated.candidates)
      throw UsageError(stage.id + " does not generate its kernel: there is nothing to choose");
    if (!all.empty() && stage.op != all.front()->op) throw UsageError("stages of one operation, please");
    if (const std::string why = foreign_options(stage.op, options.kernel); !why.empty()) throw UsageError(why);
    all.push_back(&stage);
  }
  return all;
}

// Cases for `batch`: the kernels that there can be, best first by their stages' models, whose cycles are in the tag;
// sorted by problem.
int print_candidates(const CandidateOptions& options) {
  const std::vector<const Stage*> of = stages_of(options);
  const std::vector<std::pair<int, int>> sizes = parse_sizes(options.sizes);
  for (const Type type : options.types) {
    const bool is_complex = type == Type::c64;
    for (const auto& [m, n] : sizes) {
      const double row = static_cast<double>(m) * static_cast<double>(size_of(type));
      const std::int64_t k = options.k ? options.k : static_cast<std::int64_t>(options.mib * 1024 * 1024 / row);
      for (const Stage* const stage : of) {
        int printed = 0;
        for (const Candidate& candidate :
             stage->generated.candidates(m, n, is_complex, options.kernel, options.search)) {
          if (options.most && ++printed > options.most) break;
          const Json line = {{"stage", stage->id},
                             {"type", is_complex ? "z" : "d"},
                             {"m", m},
                             {"n", n},
                             {"k", k},
                             {"options", to_json(candidate.options)},
                             {"tag", {{"cycles", std::round(candidate.cycles * 1e4) / 1e4}}}};
          fmt::print("{}\n", line.dump());
        }
      }
    }
  }
  return 0;
}

}  // namespace

void add_candidates_command(CLI::App& app, const std::string&, Action& action) {
  const auto options = std::make_shared<CandidateOptions>();
  CLI::App* const self = app.add_subcommand(
      "candidates", "kernels that a stage could generate, as cases for batch, the best first by its model");
  self->add_option("stages", options->stages, "their ids, separated by commas")
      ->required()
      ->delimiter(',')
      ->allow_extra_args(false);
  self->add_option("sizes", options->sizes, "M, MxN or FIRST-LAST (squares)")->required();
  add_types_option(*self, options->types);
  self->add_option("--most", options->most, "of each stage for a size (default: all)")->check(CLI::Range(1, 100000));
  self->add_flag_callback(
      "--exhaustive", [options] { options->search = Search::exhaustive; }, "also those that the models rule out");
  CLI::Option* const mib = self->add_option("--mib", options->mib, "MiB of A, which K follows from")
                               ->check(CLI::Range(0.001, 1e6))
                               ->capture_default_str();
  self->add_option("--k", options->k, "or K")->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40))->excludes(mib);
  add_kernel_options(*self, options->kernel);
  self->callback([options, &action] { action = [options] { return print_candidates(*options); }; });
}

}  // namespace gemm
