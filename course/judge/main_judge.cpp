// Judges a submission that runs in a program of its own: makes the problems, checks the results, and writes what it found
// as one JSON object per problem.
//
// usage: course_judge JOB.json PROGRAM COMMAND...
//
// JOB.json  {"operation", "type", "accuracy", "timeout", "timeout_of_all", "problems": [{"m", "n", "k", ...}]};
//           - reads standard input. With "multiprocessors" nothing is judged: each problem gets the plan of its launches
//           on a GPU with so many, for course_timer.
// PROGRAM   the submission's program, to look up its lines
// COMMAND   what starts the submission's program, with the connection as its file descriptor 3
#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/backend/cpu/remote_stage.hpp"
#include "common/backend/cpu/stage_messages.hpp"
#include "common/backend/device.hpp"
#include "common/check/workbench.hpp"
#include "common/measure/evaluate.hpp"
#include "common/problem/names.hpp"
#include "common/report/count_json.hpp"
#include "common/report/json.hpp"
#include "common/simt/code/symbols.hpp"
#include "course/judge/job.hpp"

namespace {

using course::Job;
using gemm::Json;

// The same bits whatever the order of blocks. Of rounded sums, since whole numbers come out the same in any order.
std::string differs_from_run_to_run(const gemm::Contender& contender, const gemm::ProblemSpec& spec, int runs) {
  gemm::Workbench bench(spec);
  std::optional<std::uint64_t> first;
  std::string wrong;
  for (int run = 0; run < runs && wrong.empty(); ++run) {
    gemm::remote_stage()->set_block_order(static_cast<unsigned>(run));
    const gemm::Verdict verdict = bench.check(contender);
    if (verdict.outcome != gemm::Outcome::pass) {
      wrong = verdict.reason;
    } else if (!first) {
      first = bench.out().fingerprint();
    } else if (*first != bench.out().fingerprint()) {
      wrong = "the result's bits depend on the order in which blocks and warps run";
    }
  }
  gemm::remote_stage()->set_block_order(0);
  return wrong;
}

Json judge(const gemm::Contender& contender, const Json& problem, const Job& job, bool explain) {
  const gemm::ProblemSpec spec = job.spec_of(problem);
  gemm::EvaluateOptions options;
  options.time = false;
  options.count = problem.value("count", false);
  options.explain = explain;
  gemm::remote_stage()->count_sectors_of_blocks(problem.value("sectors_of_blocks", false));
  const gemm::Result result = gemm::evaluate({contender}, spec, options, {})[0];
  const gemm::Verdict& verdict = result.verdict;
  Json json = {{"problem", gemm::describe(spec)},
               {"right", verdict.outcome == gemm::Outcome::pass},
               {"reason", verdict.reason},
               {"explanation", verdict.explanation},
               {"defects", verdict.observation.defects},
               {"ended", verdict.ended}};
  if (const int runs = problem.value("runs", 0); runs > 0 && verdict.outcome == gemm::Outcome::pass) {
    const std::string wrong = differs_from_run_to_run(contender, spec, runs);
    json["reproducible"] = wrong.empty();
    if (!wrong.empty()) json["reason"] = wrong;
  }
  if (result.counts) {
    json["counts"] = gemm::to_json(*result.counts);
    json["counts"]["data_cycles"] = result.counts->data_cycles();
    json["counts"]["tag_cycles"] = result.counts->tag_cycles();
    json["counts"]["steps"] = result.counts->steps();
    json["counts"]["flops"] = result.counts->flops();
    json["counts"]["most_sectors_of_a_block"] = verdict.observation.most_sectors_of_a_block;
    json["compulsory_bytes"] = spec.compulsory_bytes();
    json["compulsory_flops"] = spec.flops();
  }
  return json;
}

std::string hexadecimal(const std::string& bytes) {
  std::string text;
  for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

Json planned(const gemm::PlannedRun::Argument& argument) {
  static constexpr const char* operands[] = {"x", "y", "out", "workspace"};
  if (!argument.pointer) return {{"bytes", hexadecimal(argument.bytes)}};
  if (argument.operand < 0 || argument.operand > 3) return {{"operand", nullptr}};
  return {{"operand", operands[argument.operand]}, {"offset", argument.offset}};
}

Json plan(const gemm::Contender& contender, const Json& json, const Job& job, int multiprocessors) {
  const gemm::PlannedRun plan = gemm::remote_stage()->plan(contender, job.spec_of(json).problem(), multiprocessors);
  Json launches = Json::array();
  for (const auto& [kernel, grid, block, dynamic_shared, arguments] : plan.launches) {
    Json launch = {{"kernel", simt::function_at(kernel).name},
                   {"grid", {grid.x, grid.y, grid.z}},
                   {"block", {block.x, block.y, block.z}},
                   {"dynamic_shared", dynamic_shared},
                   {"arguments", Json::array()}};
    for (const auto& argument : arguments) launch["arguments"].push_back(planned(argument));
    launches.push_back(launch);
  }
  Json columns = Json::array();
  for (const auto& [operand, from, to, rows, cols, ld, column, element] : plan.columns)
    columns.push_back({operand, from, to, rows, cols, ld, column, element});
  return {{"launches", launches},
          {"columns", columns},
          {"workspace_bytes", plan.workspace_bytes},
          {"fp16_products", plan.fp16_products}};
}

int run(const std::string& file, const std::string& program, std::vector<std::string> command) {
  const Job wanted(file);
  const Json& job = wanted.json;
  gemm::open_device();
  gemm::set_stage_program(program, std::move(command), job.value("timeout", 10.0), job.value("timeout_of_all", 90.0));
  gemm::Stage stage;  // what is known of it here: its name, and the product that it computes
  stage.id = "submission";
  stage.op = wanted.op;
  stage.type = wanted.type;
  stage.accuracy = wanted.accuracy;
  stage.min_compute_capability = 0;
  stage.launch = [](const gemm::Problem&, cudaStream_t) -> gemm::Status {
    throw gemm::DeviceError("runs nothing here");
  };
  const gemm::Contender contender = gemm::contender(stage);
  if (const int multiprocessors = job.value("multiprocessors", 0); multiprocessors > 0) {
    for (const Json& problem : job.at("problems"))
      fmt::print(
          "{}\n",
          plan(contender, problem, wanted, multiprocessors).dump(-1, ' ', false, Json::error_handler_t::replace));
    return 0;
  }
  bool explain = true;  // the first failure in full; the others mostly come from the same mistake
  int most_ends = 3;    // a submission that ends its process each time is not asked for ever
  for (const Json& problem : job.at("problems")) {
    Json found;
    if (most_ends == 0)
      found = {{"problem", ""},
               {"right", false},
               {"reason", "not tried: the submission ended three times"},
               {"ended", true}};
    else
      found = judge(contender, problem, wanted, explain);
    if (!found["right"]) explain = false;
    if (found["ended"] && most_ends > 0) --most_ends;
    fmt::print("{}\n", found.dump(-1, ' ', false, Json::error_handler_t::replace));
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    fmt::print(stderr, "error: usage: course_judge JOB.json PROGRAM COMMAND...\n");
    return 2;
  }
  try {
    return run(argv[1], argv[2], {argv + 3, argv + argc});
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 2;
  }
}
