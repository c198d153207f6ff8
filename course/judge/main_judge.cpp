// Judges a submission that runs in a program of its own: makes the problems, checks the results, and writes what it found
// as one JSON object per problem.
//
// usage: course_judge JOB.json PROGRAM COMMAND...
//
// JOB.json  {"operation", "type", "accuracy", "timeout", "timeout_of_all", "problems": [{"m", "n", "k", ...}]};
//           - reads standard input
// PROGRAM   the submission's program, to look up its lines
// COMMAND   what starts the submission's program, with the connection as its file descriptor 3
#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "common/backend/cpu/remote_stage.hpp"
#include "common/backend/device.hpp"
#include "common/check/workbench.hpp"
#include "common/measure/evaluate.hpp"
#include "common/problem/names.hpp"
#include "common/report/count_json.hpp"
#include "common/report/json.hpp"

namespace {

using gemm::Json;

gemm::Accuracy accuracy_of(const std::string& name, gemm::Type type) {
  if (name == "fp32") return gemm::Accuracy::fp32;
  if (name == "tf32") return gemm::Accuracy::tf32;
  if (name == "fp64") return gemm::Accuracy::fp64;
  if (name == "tensor_fp32") return gemm::Accuracy::tensor_fp32;
  if (!name.empty()) throw gemm::UsageError("no accuracy '" + name + "'");
  if (type == gemm::Type::f16) return gemm::Accuracy::tensor_fp32;
  return type == gemm::Type::f32 ? gemm::Accuracy::fp32 : gemm::Accuracy::fp64;
}

gemm::ProblemSpec spec_of(const Json& json, gemm::Operation op, gemm::Type type) {
  gemm::ProblemSpec spec;
  spec.op = op;
  spec.type = type;
  spec.m = json.at("m");
  spec.n = json.at("n");
  spec.k = json.at("k");
  spec.alpha = json.value("alpha", 1.0);
  spec.beta = json.value("beta", 0.0);
  spec.lda = json.value("lda", std::int64_t{0});
  spec.ldb = json.value("ldb", std::int64_t{0});
  spec.ldc = json.value("ldc", std::int64_t{0});
  spec.offset = json.value("offset", 0);
  spec.seed = json.value("seed", std::uint64_t{1});
  spec.distribution = gemm::distribution_of(json.value("dist", std::string("uniform")));
  spec.validate();
  return spec;
}

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
      wrong = "the result's bits depend on the order in which blocks run";
    }
  }
  gemm::remote_stage()->set_block_order(0);
  return wrong;
}

Json judge(const gemm::Contender& contender, const Json& problem, gemm::Operation op, gemm::Type type, bool explain) {
  const gemm::ProblemSpec spec = spec_of(problem, op, type);
  gemm::EvaluateOptions options;
  options.time = false;
  options.count = problem.value("count", false);
  options.explain = explain;
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
    json["compulsory_bytes"] = spec.compulsory_bytes();
    json["compulsory_flops"] = spec.flops();
  }
  return json;
}

int run(const std::string& file, const std::string& program, std::vector<std::string> command) {
  std::ostringstream text;
  if (file == "-") {
    text << std::cin.rdbuf();
  } else {
    std::ifstream in(file);
    if (!in) throw gemm::UsageError("can't read '" + file + "'");
    text << in.rdbuf();
  }
  const Json job = Json::parse(text.str());
  const gemm::Operation op = gemm::operation_of(job.value("operation", std::string("gemm")));
  const gemm::Type type = gemm::type_of(job.value("type", std::string("s")));
  gemm::open_device();
  gemm::set_stage_program(program, std::move(command), job.value("timeout", 10.0), job.value("timeout_of_all", 90.0));
  gemm::Stage stage;  // what is known of it here: its name, and the product that it computes
  stage.id = "submission";
  stage.op = op;
  stage.type = type;
  stage.accuracy = accuracy_of(job.value("accuracy", std::string()), type);
  stage.min_compute_capability = 0;
  stage.launch = [](const gemm::Problem&, cudaStream_t) -> gemm::Status {
    throw gemm::DeviceError("runs nothing here");
  };
  const gemm::Contender contender = gemm::contender(stage);
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
      found = judge(contender, problem, op, type, explain);
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
