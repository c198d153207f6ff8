#include "common/commands/ladder_options.hpp"

#include <CLI/CLI.hpp>

#include "common/commands/options.hpp"

namespace gemm {

void add_ladder_options(CLI::App& app, LadderOptions& options) {
  CLI::Option_group* which = app.add_option_group("shapes", "what to multiply");
  which->require_option(0, 1);
  which->add_option("shapes", options.shapes, "sizes N or MxNxK (default: a few that tell the stages apart)");
  which->add_flag("--standard", options.standard, "the sizes that are measured and committed");
  which->add_flag("--sweep{128}", options.sweep, "cubes, to 4096 in steps of 128 (--sweep=N: of N), then of 512");
  app.add_option_function<std::string>(
         "--op",
         [&options](const std::string& name) {
           options.op = name == "gemm" ? Operation::gemm : name == "tsmm" ? Operation::tsmm : Operation::tsmttsm;
         },
         "gemm (default): the SGEMM ladder; tsmttsm, tsmm: tall & skinny, shapes being MxNxK with K the long side")
      ->check(CLI::IsMember({"gemm", "tsmttsm", "tsmm"}));
  add_type_option(app, options.type);
  app.add_option("--batch", options.batch, "of each shape so many products (--type s)");
  which->add_option("--random", options.random, "ten shapes between 200 and 8192, drawn with this seed")
      ->check(CLI::NonNegativeNumber);  // CLI11 2.1 reads -1 as 2^64 - 1
  app.add_option("--only", options.only, "these stages only, separated by commas; no libraries")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--family", options.family, "sgemm, tsm or tensorcore; of FP32 products by default sgemm's stages")
      ->check(CLI::IsMember({"sgemm", "tsm", "tensorcore"}));
  app.add_flag("--variants", options.variants, "the stages' variants, too");
  app.add_flag("--with-libraries", options.with_libraries, "cuBLAS as well, with --only");
  CLI::Option* no_time = app.add_flag("--no-time", options.no_time, "check only");
  app.add_flag("--time", options.time, "time, or end with status 2 where there is no GPU")->excludes(no_time);
  app.add_option(
         "--budget-ms", options.budget_ms,
         "skip a stage where a launch takes longer (default: no limit; 300 with a list of shapes or tall & skinny)")
      ->check(CLI::Range(0.001, 1e9));
  app.add_option("--json", options.json, "write the results to this file");
  app.add_flag("--brief", options.brief, "in the JSON, shapes, statuses and times alone");
  add_timing_options(app, options.timing);
  add_timeout_option(app, options.timeout);
  add_kernel_options(app, options.kernel);
}

}  // namespace gemm
