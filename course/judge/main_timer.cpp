// Times a submission's kernels on a GPU beside the teacher's solution and a library, and checks each result. Each of the three
// has a process of its own, which never sees another one's memory; the submission gets new operands for each launch.
//
// usage: course_timer JOB.json | --device
//
// JOB.json  {"operation", "type", "accuracy", "problem": {"m", "n", "k", ...}, "runs", "timeout",
//            "submission": {"cubin": FILE, "plan": {...}}, "reference": {"cubin", "plan"}}; - reads standard input.
//           A plan is what course_judge has of the launches, the kernels by their names in the file.
// Writes one JSON object: the times in ms, or "wrong": what is wrong with the submission.
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <nlohmann/json.hpp>
#include <random>

#include "common/backend/cpu/messages.hpp"
#include "common/backend/device.hpp"
#include "common/backend/device_memory.hpp"
#include "common/check/workbench.hpp"
#include "common/measure/roofline.hpp"
#include "common/report/build_info.hpp"
#include "course/judge/job.hpp"
#include "course/judge/launcher.hpp"

namespace {

using course::Job;
using gemm::Json;

constexpr double back_to_back_ms = 200;  // about so long run the launches that this process' own clock times

class Launcher {
 public:
  // Before this process opens the GPU: CUDA does not survive a fork.
  Launcher(course::Program program, double timeout) : name_(program.name) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
      throw gemm::DeviceError(fmt::format("no socket: {}", std::strerror(errno)));
    const pid_t parent = getpid();
    child_ = fork();
    if (child_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != parent) _exit(1);
      close(ends[0]);
      course::serve_launches(ends[1], program);
      _exit(0);
    }
    close(ends[1]);
    socket_ = ends[0];
    if (child_ < 0) throw gemm::DeviceError(fmt::format("no process: {}", std::strerror(errno)));
    const auto whole = static_cast<time_t>(timeout);
    const timeval most{whole, static_cast<suseconds_t>((timeout - static_cast<double>(whole)) * 1e6)};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
  }
  ~Launcher() {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
    close(socket_);
  }
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;

  // Launches so often on the workbench's operands, and says how it came out, as any check does.
  gemm::Verdict check(gemm::Workbench& bench, gemm::Accuracy accuracy, int launches = 1) {
    gemm::Contender contender;
    contender.id = name_;
    contender.accuracy = accuracy;
    contender.launch = [&](const gemm::Problem& problem, cudaStream_t) { return run(bench, problem, launches); };
    return bench.check(contender);
  }

  // Once more, on the operands that it has: for who is known to compute honestly.
  void again() {
    course::Request request;
    request.new_operands = false;
    if (const gemm::Status status = launch(request, {}); !status) throw gemm::DeviceError(status.reason);
  }

  double ms = 0;       // a launch, by events around it
  double wall_ms = 0;  // a launch, by this process' clock

 private:
  gemm::Status run(const gemm::Workbench& bench, const gemm::Problem& problem, int launches) {
    const gemm::Matrix* const matrices[] = {&bench.x(), &bench.y(), &bench.out()};
    const void* const elements[] = {problem.x, problem.y, problem.out};
    course::Request request{.problem = problem, .launches = launches};
    std::vector<std::string> operands;
    for (int i = 0; i < 3; ++i) {
      const auto memory = matrices[i]->memory();
      request.first[i] = static_cast<const unsigned char*>(elements[i]) - memory.data();
      std::string& bytes = operands.emplace_back(memory.size(), '\0');
      gemm::check_cuda(cudaMemcpy(bytes.data(), memory.data(), bytes.size(), cudaMemcpyDeviceToHost), "copy operands");
    }
    if (const gemm::Status status = launch(request, operands); !status) return status;
    const auto memory = bench.out().memory();
    const auto result = gemm::receive_message(socket_, memory.size());
    if (!result || result->size() != memory.size()) return gone();
    gemm::check_cuda(cudaMemcpy(memory.data(), result->data(), memory.size(), cudaMemcpyHostToDevice),
                     "copy the result");
    return gemm::Status::ok();
  }

  gemm::Status launch(const course::Request& request, const std::vector<std::string>& operands) {
    if (!gemm::send_message(socket_, course::request_of(request))) return gone();
    for (const std::string& bytes : operands) {
      if (!gemm::send_message(socket_, bytes)) return gone();
    }
    if (!gemm::receive_message(socket_)) return gone();
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    if (!gemm::send_message(socket_, "go")) return gone();
    const auto answer = gemm::receive_message(socket_, 1 << 16);
    wall_ms = std::chrono::duration<double, std::milli>(Clock::now() - begin).count() / request.launches;
    if (!answer) return gone();
    gemm::wire::Reader reader(*answer);
    const auto reason = reader.next<std::string>();
    reader.get(ms);
    return reason.empty() ? gemm::Status::ok() : gemm::Status::failed(reason);
  }

  gemm::Status gone() const { return gemm::Status::failed(name_ + " did not end in time, or ended its process"); }

  const std::string name_;
  pid_t child_ = 0;
  int socket_ = -1;
};

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

course::Program program_of(const Json& job, const std::string& name) {
  return {name, job.at(name).at("cubin"), job.at(name).at("plan")};
}

Json time_all(const Job& job) {
  const double timeout = job.json.value("timeout", 10.0);
  Launcher submission(program_of(job.json, "submission"), timeout);
  Launcher reference(program_of(job.json, "reference"), timeout);
  Launcher library({"library", {}, {}}, timeout);
  Launcher* const all[] = {&submission, &reference, &library};
  std::random_device random;  // after the forks: nobody else knows it

  const std::string device = gemm::open_device().name;
  const auto ceilings = gemm::measure_ceilings();
  if (!ceilings) throw gemm::DeviceError("no GPU");
  gemm::ProblemSpec spec = job.spec_of(job.json.at("problem"));
  std::vector<double> ms[std::size(all)];
  std::string wrong;
  const auto run_on_new_operands = [&](Launcher& launcher, int launches) {
    gemm::Workbench bench(spec);
    const gemm::Verdict verdict = launcher.check(bench, job.accuracy, launches);
    if (verdict.outcome == gemm::Outcome::pass) return true;
    if (&launcher != &submission) throw gemm::DeviceError("the yardstick failed: " + verdict.reason);
    wrong = verdict.reason;
    return false;
  };

  const int runs = job.json.value("runs", 11);
  for (int run = 0; run <= runs && wrong.empty(); ++run) {  // the first one warms up
    for (std::size_t turn = 0; turn < std::size(all) && wrong.empty(); ++turn) {
      const std::size_t i = run % 2 ? turn : std::size(all) - 1 - turn;
      spec.seed = random();
      if (run > 0 && all[i] != &submission)
        all[i]->again();
      else if (!run_on_new_operands(*all[i], 1))
        break;
      if (run > 0) ms[i].push_back(all[i]->ms);
    }
  }
  if (!wrong.empty()) return {{"device", device}, {"wrong", wrong}};
  // Events lie within the reach of the kernels' process, this process' clock does not: many launches by it.
  const double expected = std::max(median(ms[0]), 0.002);
  const int launches =
      std::clamp(static_cast<int>(back_to_back_ms / expected), 2, 50'000) + static_cast<int>(random() % 16);
  spec.seed = random();
  if (!run_on_new_operands(submission, launches)) return {{"device", device}, {"wrong", wrong}};
  const gemm::Floor floor =
      gemm::problem_floor(spec, *ceilings, true, job.json.at("reference").at("plan").at("fp16_products"));
  return {{"device", device},
          {"problem", gemm::describe(spec)},
          {"submission_ms", median(ms[0])},
          {"reference_ms", median(ms[1])},
          {"library_ms", median(ms[2])},
          {"library", gemm::baselines(spec.type).at(0).id},
          {"floor_ms", floor.ms},
          {"floor_by", floor.by},
          {"launches", launches},
          {"back_to_back_ms", submission.wall_ms},
          {"runs", ms[0]}};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "error: usage: course_timer JOB.json | --device\n");
    return 2;
  }
  try {
    if (std::strcmp(argv[1], "--device") == 0) {
      const gemm::DeviceInfo& device = gemm::open_device();
      fmt::print("{}\n", Json{{"device", device.name},
                              {"commit", gemm::build_commit()},
                              {"multiprocessors", device.sm_count},
                              {"compute_capability", device.compute_capability}}
                             .dump());
      return 0;
    }
    fmt::print("{}\n", time_all(Job(argv[1])).dump(-1, ' ', false, Json::error_handler_t::replace));
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 2;
  }
}
