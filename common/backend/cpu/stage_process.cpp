// Stages in a process of their own. It is forked from the one that judges them, shares device memory with it
// (simt/observe/global_memory.hpp) and nothing else, and launches what it is told to. What a stage does to its process,
// no judge suffers: an endless loop, a crash, exit(). And of host code nothing gets at C.
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "common/backend/cpu/messages.hpp"
#include "common/backend/cpu/remote_stage.hpp"
#include "common/backend/cpu/stage_messages.hpp"
#include "common/backend/device_memory.hpp"
#include "common/backend/process_state.hpp"
#include "common/simt/code/symbols.hpp"
#include "common/simt/run/executor.hpp"
#include "common/simt/run/last_words.hpp"

namespace gemm {
namespace {

using Clock = std::chrono::steady_clock;

// What both processes see besides device memory.
struct Shared {
  std::atomic<Clock::rep> launched_at{0};  // when a stage's code began to run; 0: none runs
  simt::LastWords words;
};

// While it runs, the judge knows since when.
template <class Launch>
auto timed_launch(Launch launch, Shared& shared) {
  return [launch = std::move(launch), &shared](const auto&... arguments) {
    struct Watch {
      std::atomic<Clock::rep>& since;
      explicit Watch(std::atomic<Clock::rep>& s) : since(s) { since = Clock::now().time_since_epoch().count(); }
      ~Watch() { since = 0; }
    } const watch(shared.launched_at);
    return launch(arguments...);
  };
}

// What `give` writes, or what it throws.
std::string message_of(const std::function<void(wire::Writer&)>& give) {
  wire::Writer thrown;
  const auto failed = [&](Answer how, const char* what) {
    thrown.put(how);
    thrown.put(std::string(what));
  };
  try {
    wire::Writer writer;
    give(writer);
    return writer.bytes();
  } catch (const OutOfDeviceMemory& error) {
    failed(Answer::out_of_device_memory, error.what());
  } catch (const DeviceError& error) {
    failed(Answer::device_error, error.what());
  } catch (const UsageError& error) {
    failed(Answer::usage_error, error.what());
  } catch (const StageError& error) {
    failed(Answer::stage_error, error.what());
  }
  return thrown.bytes();
}

// The answer to one request. `sites`: how much code the judge knows.
std::string answer(const RunRequest& request, std::map<std::string, Contender>& contenders, Shared& shared,
                   std::size_t sites) {
  const auto known = contenders.find(request.stage);
  Contender timed = known != contenders.end()
                        ? known->second
                        : contenders.emplace(request.stage, contender(find_stage(request.stage))).first->second;
  timed.launch = timed_launch(std::move(timed.launch), shared);
  return message_of([&](wire::Writer& writer) {
    if (request.watched) {
      const auto writer_of = last_writer_here(timed, request.problem, reinterpret_cast<const void*>(request.watched));
      writer.put(Answer::writer);
      writer.put(writer_of.value_or(""));
      return;
    }
    const StageRun run = run_here(timed, request.problem, request.looking);
    writer.put(Answer::run);
    put(writer, run, simt::site_count() != sites);
  });
}

// How the life of the stages' process begins.
void begin_apart(Shared& shared, pid_t judge) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // whatever ends the judge, Ctrl-C included
  if (getppid() != judge) _exit(1);
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // what kernels print is seen even if the process ends
  simt::GlobalMemory::instance().begin_apart();
  simt::worker_count();  // its own threads
  simt::leave_last_words(shared.words);
}

// The life of one that runs stages until nobody asks it any more.
void serve(int socket, Shared& shared) {
  const std::size_t sites = simt::site_count();
  const pid_t mine = getpid();
  std::map<std::string, Contender> contenders;
  while (const auto message = receive_message(socket)) {
    wire::Reader reader(*message);
    const RunRequest request = get_request(reader);
    simt::GlobalMemory::instance().adopt(request.operands);
    const std::string text = answer(request, contenders, shared, sites);
    if (getpid() != mine) _exit(0);  // the stage has forked: one process answers
    std::fflush(stdout);
    if (!send_message(socket, text)) break;
  }
}

class StageProcess {
 public:
  explicit StageProcess(double timeout_seconds) : timeout_(timeout_seconds) {}
  ~StageProcess() {
    end();
    if (shared_) munmap(shared_, sizeof(Shared));
  }
  StageProcess(const StageProcess&) = delete;
  StageProcess& operator=(const StageProcess&) = delete;

  StageRun run(const Contender& contender, const Problem& problem, Looking looking) {
    std::optional<wire::Reader> reply = ask(contender, problem, looking, nullptr);
    if (reply) return get_run(*reply);
    StageRun lost;
    lost.ended = how_it_ended();
    return lost;
  }

  std::optional<std::string> last_writer(const Contender& contender, const Problem& problem, const void* address) {
    std::optional<wire::Reader> reply = ask(contender, problem, {}, address);
    if (!reply) {
      end();
      return std::nullopt;
    }
    const auto text = reply->next<std::string>();
    return text.empty() ? std::nullopt : std::optional(text);
  }

  // The onlooker is no plain data: its process is forked for it.
  std::string look_on(const Contender& contender, const Problem& problem, const Onlooker& onlooker) {
    end();
    const std::vector<simt::GlobalMemory::Holding> operands = operands_of(problem);
    start([&](int socket, Shared& shared) {
      simt::GlobalMemory::instance().adopt(operands);
      const auto launch = timed_launch([&] { return contender.launch(problem, nullptr); }, shared);
      const std::string text = message_of([&](wire::Writer& writer) {
        const std::string seen = onlooker(launch);
        writer.put(Answer::seen);
        writer.put(seen);
      });
      std::fflush(stdout);
      send_message(socket, text);
    });
    std::optional<wire::Reader> reply = answer_in_time();
    if (!reply) throw StageError(fmt::format("{}: {}", contender.id, how_it_ended()));
    end();
    return reply->next<std::string>();
  }

 private:
  // Nothing if its process has ended, or must be ended. Throws what the launch has thrown.
  std::optional<wire::Reader> ask(const Contender& contender, Problem problem, Looking looking, const void* watched) {
    // What has been compiled and loaded meanwhile must lie at the same places in both.
    if (child_ && sites_ != simt::site_count()) end();
    if (!child_) start(serve);
    problem.kernel = contender.kernel.value_or(problem.kernel);
    wire::Writer request;
    put(request,
        {contender.stage->id, problem, operands_of(problem), looking, reinterpret_cast<std::uintptr_t>(watched)});
    if (!send_message(socket_, request.bytes())) return std::nullopt;
    return answer_in_time();
  }

  // Nothing if its process has ended, or must be ended. Throws what it has thrown.
  std::optional<wire::Reader> answer_in_time() {
    std::optional<std::string> reply;
    if (answers_in_time()) reply = receive_message(socket_);
    if (!reply) return std::nullopt;
    wire::Reader reader(*std::move(reply));
    const auto how = reader.next<Answer>();
    if (how == Answer::out_of_device_memory) throw OutOfDeviceMemory();
    if (how == Answer::usage_error) throw UsageError(reader.next<std::string>());
    if (how == Answer::device_error) throw DeviceError(reader.next<std::string>());
    if (how == Answer::stage_error) throw StageError(reader.next<std::string>());
    return reader;
  }

  static std::vector<simt::GlobalMemory::Holding> operands_of(const Problem& problem) {
    std::vector<simt::GlobalMemory::Holding> all;
    for (const void* const pointer : {problem.x, problem.y, static_cast<const void*>(problem.out)}) {
      auto found = simt::GlobalMemory::instance().holding_at(reinterpret_cast<std::uintptr_t>(pointer));
      if (found) all.push_back(*std::move(found));
    }
    return all;
  }

  // With the process to come, and with no other: a judge that has been forked from this one (shares.cpp) has its own.
  void share_anew() {
    if (shared_) munmap(shared_, sizeof(Shared));
    shared_ = nullptr;
    void* const memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    shared_ = new (memory) Shared;
  }

  void start(const std::function<void(int socket, Shared& shared)>& live) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
      throw DeviceError(fmt::format("no socket for the stages' process: {}", std::strerror(errno)));
    share_anew();
    late_ = false;
    sites_ = simt::site_count();
    std::fflush(nullptr);  // or both would write it
    const pid_t judge = getpid();
    child_ = fork();
    if (child_ == 0) {
      close(ends[0]);
      begin_apart(*shared_, judge);
      live(ends[1], *shared_);
      _exit(0);
    }
    close(ends[1]);
    socket_ = ends[0];
    const timeval most{60, 0};  // between two pieces of an answer, which is sent at once
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
    if (child_ < 0) {
      close(socket_);
      child_ = 0;
      throw DeviceError(fmt::format("no process for the stages: {}", std::strerror(errno)));
    }
  }

  // Returns when there is an answer or its end. False once the stage has run too long; then its process has been told.
  bool answers_in_time() {
    for (;;) {
      if (readable_within(20)) return true;
      if (has_ended()) return readable_within(0);  // a process that the stage has started may hold the connection
      const Clock::rep since = shared_->launched_at;
      const auto spent = Clock::now().time_since_epoch() - Clock::duration(since);
      if (timeout_ <= 0 || since == 0 || std::chrono::duration<double>(spent).count() < timeout_) continue;
      late_ = true;
      syscall(SYS_tgkill, child_, child_, simt::time_up_signal);  // to its main thread, which runs the host's code
      readable_within(5000);                                      // it closes the connection when it ends
      return false;
    }
  }

  bool has_ended() const {
    siginfo_t how{};
    return waitid(P_PID, static_cast<id_t>(child_), &how, WEXITED | WNOHANG | WNOWAIT) == 0 && how.si_pid == child_;
  }

  bool readable_within(int milliseconds) const {
    pollfd connection{socket_, POLLIN, 0};
    return poll(&connection, 1, milliseconds) > 0;
  }

  std::string how_it_ended() {
    const int status = end();
    const simt::LastWords& words = shared_->words;
    if (late_) {
      const bool told = words.end != simt::LastWords::End::none;
      return fmt::format("stopped after {:g} s{}", timeout_, told ? words.place() : ", at a place that is not known");
    }
    if (words.end != simt::LastWords::End::none) return words.reason();
    if (WIFSIGNALED(status)) {
      const char* const name = sigabbrev_np(WTERMSIG(status));
      return fmt::format("the stage's process was ended by SIG{}", name ? name : "?");
    }
    return "the stage ended the program: it called _exit(), or the like";
  }

  // Its status, as waitpid has it.
  int end() {
    if (!child_) return 0;
    // Its connection is closed, or nobody reads it any more; a moment for what it has begun to end by itself.
    close(socket_);
    int status = 0;
    pid_t ended = 0;
    for (int i = 0; i < 50 && ended == 0; ++i) {
      ended = waitpid(child_, &status, WNOHANG);
      if (ended == 0) usleep(2000);
    }
    if (ended == 0) {
      kill(child_, SIGKILL);
      waitpid(child_, &status, 0);
    }
    child_ = 0;
    return status;
  }

  const double timeout_;
  Shared* shared_ = nullptr;
  pid_t child_ = 0;
  int socket_ = -1;
  std::size_t sites_ = 0;  // as many as there were when it was forked
  bool late_ = false;
};

std::optional<StageProcess>& process() {
  static std::optional<StageProcess> only;
  return only;
}

}  // namespace

void set_stages_apart(double timeout_seconds) {
  process().reset();
  if (state_of(getpid()).tracer == 0) process().emplace(timeout_seconds);
}

StageRun run_apart(const Contender& contender, const Problem& problem, Looking looking) {
  if (RemoteStage* const remote = remote_stage()) return remote->run(contender, problem, looking);
  if (!process() || !contender.stage) return run_here(contender, problem, looking);
  return process()->run(contender, problem, looking);
}

std::string look_on_apart(const Contender& contender, const Problem& problem, const Onlooker& onlooker) {
  if (!process() || !contender.stage) return onlooker([&] { return contender.launch(problem, nullptr); });
  return process()->look_on(contender, problem, onlooker);
}

std::optional<std::string> last_writer_apart(const Contender& contender, const Problem& problem, const void* address) {
  if (RemoteStage* const remote = remote_stage()) return remote->last_writer(contender, problem, address);
  if (!process() || !contender.stage) return last_writer_here(contender, problem, address);
  return process()->last_writer(contender, problem, address);
}

}  // namespace gemm
