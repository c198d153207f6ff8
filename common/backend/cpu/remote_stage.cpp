#include "common/backend/cpu/remote_stage.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <utility>

#include "common/backend/cpu/messages.hpp"
#include "common/backend/cpu/stage_messages.hpp"
#include "common/backend/device_memory.hpp"
#include "common/kernel/launch.cuh"
#include "common/problem/columns_record.hpp"
#include "common/problem/registry.hpp"
#include "common/simt/code/source_lines.hpp"
#include "common/simt/code/symbols.hpp"
#include "common/simt/run/executor.hpp"

namespace gemm {
namespace {

constexpr int connection = 3;  // the program's end
// Bytes of an answer, besides the operands and their states.
constexpr std::size_t most_besides = std::size_t{16} << 20;
constexpr std::size_t most_told = 4 << 10, most_texts = 100;  // of a text in it, of texts

using Holding = simt::GlobalMemory::Holding;

simt::GlobalMemory& memory() {
  return simt::GlobalMemory::instance();
}

std::vector<Holding> operands_of(const Problem& problem) {
  std::vector<Holding> all;
  for (const void* const pointer : {problem.x, problem.y, static_cast<const void*>(problem.out)}) {
    auto found = memory().holding_at(reinterpret_cast<std::uintptr_t>(pointer));
    if (found) all.push_back(*std::move(found));
  }
  return all;
}

std::string bytes_of(const Holding& holding) {
  return {reinterpret_cast<const char*>(holding.begin), holding.allocation.bytes};
}

}  // namespace

struct RemoteStage::Question {
  Looking looking = {};
  const void* watched = nullptr;
  int multiprocessors = 0;
};

struct RemoteStage::Reply {
  explicit Reply(std::string bytes) : reader(std::move(bytes)) {}
  wire::Reader reader;
};

RemoteStage::RemoteStage(std::vector<std::string> command, double timeout, double timeout_of_all)
    : command_(std::move(command)), timeout_(timeout), timeout_of_all_(timeout_of_all) {}

RemoteStage::~RemoteStage() {
  end();
}

void RemoteStage::start() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw DeviceError(fmt::format("no socket for the stage's program: {}", std::strerror(errno)));
  std::vector<char*> arguments;
  for (const std::string& word : command_) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  std::fflush(nullptr);
  const pid_t judge = getpid();
  child_ = fork();
  if (child_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != judge) _exit(1);
    setpgid(0, 0);  // a group of its own, which ends together: bubblewrap's processes don't while they begin
    // What it says goes nowhere: standard output is the judge's, and who reads it must not hold what has no end.
    const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (const int standard : {0, 1, 2}) dup2(nowhere, standard);
    // dup2 leaves a descriptor as it is, close-on-exec too, if it is the right one already.
    if (ends[1] == connection)
      fcntl(connection, F_SETFD, 0);
    else
      dup2(ends[1], connection);
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  close(ends[1]);
  socket_ = ends[0];
  if (child_ > 0) {
    setpgid(child_, child_);  // whoever comes first
    return;
  }
  close(socket_);
  child_ = 0;
  throw DeviceError(fmt::format("no process for the stage's program: {}", std::strerror(errno)));
}

// It may take its time to start, and for every byte: what counts is the end.
bool RemoteStage::answer_until(double seconds, std::size_t most_bytes, std::string& answer) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  const auto passed = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  const auto read = [&](char* bytes, std::size_t count) {
    while (count > 0) {
      pollfd connected{socket_, POLLIN, 0};
      const int wait = static_cast<int>(std::max(0.0, seconds - passed()) * 1000);
      late_ = poll(&connected, 1, wait) <= 0;
      if (late_) return false;
      const ssize_t got = recv(socket_, bytes, count, 0);
      if (got <= 0) return false;
      bytes += got;
      count -= static_cast<std::size_t>(got);
    }
    return true;
  };
  std::size_t size = 0;
  bool whole = read(reinterpret_cast<char*>(&size), sizeof size);
  if (whole) {
    if (size > most_bytes) throw std::runtime_error("too long an answer");
    answer.resize(size);
    whole = read(answer.data(), size);
  }
  spent_ += passed();
  return whole;
}

std::optional<RemoteStage::Reply> RemoteStage::ask(const Contender& contender, Problem problem,
                                                   const Question& question) {
  const double seconds = std::min(timeout_, timeout_of_all_ - spent_);
  late_ = seconds <= 0;
  if (late_) return std::nullopt;
  if (!child_) start();
  problem.kernel = contender.kernel.value_or(problem.kernel);
  const std::vector<Holding> operands = question.multiprocessors ? std::vector<Holding>() : operands_of(problem);
  wire::Writer request;
  put(request, {contender.stage->id, problem, operands, question.looking,
                reinterpret_cast<std::uintptr_t>(question.watched), order_, question.multiprocessors});
  for (const Holding& operand : operands) {
    request.put(bytes_of(operand));
    request.put(memory().states_of(operand));
  }
  if (!send_message(socket_, request.bytes())) return std::nullopt;
  std::size_t most_bytes = most_besides;
  for (const Holding& operand : operands) most_bytes += 2 * operand.allocation.bytes;
  std::string answer;
  if (!answer_until(seconds, most_bytes, answer)) return std::nullopt;
  Reply reply(std::move(answer));
  switch (reply.reader.next<Answer>()) {
    case Answer::run:
    case Answer::writer:
    case Answer::plan:
      return reply;
    case Answer::out_of_device_memory:
      throw OutOfDeviceMemory();
    default:
      throw std::runtime_error("no such answer");
  }
}

StageRun RemoteStage::run(const Contender& contender, const Problem& problem, Looking looking) {
  looking.sectors_of_blocks = sectors_of_blocks_;
  StageRun lost;
  try {
    if (auto reply = ask(contender, problem, {.looking = looking})) {
      wire::Reader& reader = reply->reader;
      StageRun run = get_run(reader);
      if (!run.observation.detail) throw std::runtime_error("no counts");
      for (std::string* const text : {&run.status.reason, &run.policy}) text->resize(std::min(text->size(), most_told));
      for (auto* const texts : {&run.observation.defects, &run.observation.warnings}) {
        texts->resize(std::min(texts->size(), most_texts));
        for (std::string& text : *texts) text = simt::with_lines(text.substr(0, most_told));
      }
      // Into this process's own memory go exactly as many bytes as it has there.
      for (const Holding& operand : operands_of(problem)) {
        const auto bytes = reader.next<std::string>(), states = reader.next<std::string>();
        if (bytes.size() != operand.allocation.bytes || states.size() != (bytes.size() + 3) / 4)
          throw std::runtime_error("another size");
        std::memcpy(reinterpret_cast<void*>(operand.begin), bytes.data(), bytes.size());
        std::memcpy(memory().states() + memory().word_of(operand.begin), states.data(), states.size());
      }
      return run;
    }
    lost.ended = how_it_ended();
  } catch (const OutOfDeviceMemory&) {
    throw;
  } catch (const std::exception&) {  // an answer that none of our programs gives
    end();
    lost.ended = "the submission answered in a form that is not the executor's";
  }
  return lost;
}

std::optional<std::string> RemoteStage::last_writer(const Contender& contender, const Problem& problem,
                                                    const void* address) try {
  auto reply = ask(contender, problem, {.watched = address});
  if (!reply) {
    end();
    return std::nullopt;
  }
  auto text = reply->reader.next<std::string>();
  text = simt::with_lines(text.substr(0, most_told));
  return text.empty() ? std::nullopt : std::optional(text);
} catch (const std::exception&) {
  end();
  return std::nullopt;
}

PlannedRun RemoteStage::plan(const Contender& contender, const Problem& problem, int multiprocessors) try {
  auto reply = ask(contender, problem, {.multiprocessors = multiprocessors});
  if (!reply) throw DeviceError(how_it_ended());
  return get_plan(reply->reader);
} catch (const DeviceError&) {
  throw;
} catch (const std::exception&) {  // an answer that none of our programs gives
  end();
  throw DeviceError("the submission did not say what it launches");
}

std::string RemoteStage::how_it_ended() {
  const int status = end();
  if (late_ && spent_ >= timeout_of_all_) return fmt::format("stopped: all launches took {:g} s", timeout_of_all_);
  if (late_) return fmt::format("stopped after {:g} s", timeout_);
  if (WIFSIGNALED(status) || (WIFEXITED(status) && WEXITSTATUS(status) > 128)) {
    const int number = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status) - 128;  // as a shell has it
    const char* const name = sigabbrev_np(number);
    if (number == SIGSYS) return "the submission called the system: it was ended";
    if (number == SIGXCPU || number == SIGKILL)
      return "the submission used up its processor time or memory: it was ended";
    return fmt::format("the submission's process was ended by SIG{}", name ? name : "?");
  }
  if (WEXITSTATUS(status) == 127) return "the submission's program can't be started";
  return fmt::format("the submission ended the program, with status {}", WEXITSTATUS(status));
}

int RemoteStage::end() {
  if (!child_) return 0;
  close(socket_);
  int status = 0;
  pid_t ended = 0;
  for (int i = 0; i < 100 && ended == 0; ++i) {
    ended = waitpid(child_, &status, WNOHANG);
    if (ended == 0) usleep(late_ ? 0 : 2000);
  }
  if (ended == 0) {
    kill(-child_, SIGKILL);
    waitpid(child_, &status, 0);
  }
  child_ = 0;
  return status;
}

namespace {

std::unique_ptr<RemoteStage>& only() {
  static std::unique_ptr<RemoteStage> remote;
  return remote;
}

}  // namespace

void set_stage_program(const std::string& file, std::vector<std::string> command, double timeout,
                       double timeout_of_all) {
  simt::add_program(file);
  only() = std::make_unique<RemoteStage>(std::move(command), timeout, timeout_of_all);
}

RemoteStage* remote_stage() {
  return only().get();
}

// ---- in the program

namespace {

// Addresses of the other process are offsets from where its allocations begin.
template <class Pointer>
Pointer moved(Pointer pointer, const std::vector<Holding>& theirs, const std::vector<void*>& ours) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    const std::uintptr_t offset = address - theirs[i].begin;
    if (offset < theirs[i].allocation.bytes)
      return reinterpret_cast<Pointer>(reinterpret_cast<std::uintptr_t>(ours[i]) + offset);
  }
  return nullptr;
}

// Places that nothing lies at: whatever the stage makes of them is told from what else it passes on.
constexpr std::uintptr_t far = std::uintptr_t{1} << 44;

PlannedRun::Argument planned(const LaunchArgument& given, const DeviceArray<unsigned char>& workspace) {
  PlannedRun::Argument argument{given.bytes, given.pointer, -1, 0};
  if (!given.pointer) return argument;
  std::uintptr_t address = 0;
  std::memcpy(&address, given.bytes.data(), sizeof address);
  const std::uintptr_t in_workspace = address - reinterpret_cast<std::uintptr_t>(workspace.data());
  if (in_workspace < workspace.size()) {
    argument.operand = 3;
    argument.offset = static_cast<std::int64_t>(in_workspace);
  } else if (const std::uintptr_t nearest = (address + far / 2) / far; 1 <= nearest && nearest <= 3) {
    argument.operand = static_cast<int>(nearest) - 1;
    argument.offset = static_cast<std::int64_t>(address - nearest * far);
  }
  return argument;
}

PlannedRun plan_of(const Stage& stage, Problem problem, int multiprocessors) {
  executor_limits.multiprocessors = multiprocessors;
  problem.x = reinterpret_cast<const void*>(far);
  problem.y = reinterpret_cast<const void*>(2 * far);
  problem.out = reinterpret_cast<void*>(3 * far);
  PlannedRun plan;
  plan.fp16_products = stage.emulation.fp16_products;
  plan.workspace_bytes = stage.workspace_bytes ? stage.workspace_bytes(problem) : 0;
  const DeviceArray<unsigned char> workspace(plan.workspace_bytes);
  problem.workspace = workspace.data();
  std::vector<LaunchRecord> launches;
  std::vector<std::vector<LaunchArgument>> arguments;
  std::vector<ColumnsRecord> columns;
  {
    const DryRunScope nothing;
    const LaunchLogScope log(launches);
    argument_log = &arguments;
    columns_log = &columns;
    stage.launch(problem, nullptr);
    argument_log = nullptr;
    columns_log = nullptr;
  }
  const auto at = [&](const void* pointer) {
    return planned({true, {reinterpret_cast<const char*>(&pointer), sizeof pointer}}, workspace);
  };
  for (const ColumnsRecord& r : columns) {
    const PlannedRun::Argument from = at(r.from);
    plan.columns.push_back({from.operand, from.offset, at(r.to).offset, r.rows, r.cols, r.ld, r.column, r.element});
  }
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const auto& [kernel, shape] = launches[i];
    auto& launch = plan.launches.emplace_back(PlannedRun::Launch{
        reinterpret_cast<std::uintptr_t>(kernel), shape.grid, shape.block, shape.dynamic_shared, {}});
    for (const LaunchArgument& argument : arguments[i]) launch.arguments.push_back(planned(argument, workspace));
  }
  return plan;
}

std::string answer_to(wire::Reader& reader, const Contender& contender) {
  RunRequest request = get_request(reader);
  if (request.multiprocessors > 0) {
    wire::Writer answer;
    answer.put(Answer::plan);
    put(answer, plan_of(*contender.stage, request.problem, request.multiprocessors));
    return answer.bytes();
  }
  std::vector<void*> ours;
  wire::Writer writer;
  for (const Holding& operand : request.operands) {
    const auto bytes = reader.next<std::string>(), states = reader.next<std::string>();
    ours.push_back(memory().copy_in(operand, bytes, states));
    if (ours.back()) continue;
    writer.put(Answer::out_of_device_memory);
    return writer.bytes();
  }
  simt::set_block_order(request.order);
  Problem& problem = request.problem;
  problem.x = moved(problem.x, request.operands, ours);
  problem.y = moved(problem.y, request.operands, ours);
  problem.out = moved(problem.out, request.operands, ours);
  if (request.watched) {
    const auto watched = moved(reinterpret_cast<const void*>(request.watched), request.operands, ours);
    writer.put(Answer::writer);
    writer.put(last_writer_here(contender, problem, watched).value_or(""));
  } else {
    const StageRun run = run_here(contender, problem, request.looking);
    writer.put(Answer::run);
    put(writer, run, false);
    for (void* const operand : ours) {
      const auto holding = memory().holding_at(reinterpret_cast<std::uintptr_t>(operand));
      writer.put(bytes_of(*holding));
      writer.put(memory().states_of(*holding));
    }
  }
  for (void* const operand : ours) memory().release(operand);
  return writer.bytes();
}

}  // namespace

void serve_stage(int socket) {
  simt::worker_count();
  simt::name_lines_by_address();
  const Contender only = contender(stages().back());
  while (const auto message = receive_message(socket)) {
    wire::Reader reader(*message);
    const std::string text = answer_to(reader, only);
    std::fflush(stdout);
    if (!send_message(socket, text)) break;
  }
}

}  // namespace gemm
