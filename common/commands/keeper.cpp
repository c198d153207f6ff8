#include "common/commands/keeper.hpp"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

#include "common/backend/process_state.hpp"

namespace gemm {
namespace {

// What both processes see.
struct Progress {
  enum State { before_main, in_main, ended };
  std::atomic<int> state{before_main};
  std::atomic<int> status{0};
};
Progress here;
Progress* progress = &here;

constexpr double most_before_main = 60, most_after_main = 10;  // seconds

double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// No stream may be used before main().
[[noreturn]] void fail(const std::string& why) {
  const std::string line = "error: " + why + "\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, line.data(), line.size());
  _exit(1);
}

// Processes that the stage has left behind come to the keeper when their parents are gone.
void end_the_rest() {
  const std::string file = "/proc/self/task/" + std::to_string(getpid()) + "/children";
  for (int i = 0; i < 1000; ++i) {
    std::ifstream children(file);
    for (pid_t child; children >> child;) kill(child, SIGKILL);
    if (waitpid(-1, nullptr, 0) < 0 && errno == ECHILD) return;
  }
}

const char* const left = "the stage ended the program: it called exit(), or the like, outside of a launch";

[[noreturn]] void conclude(int status) {
  end_the_rest();
  const bool ended = progress->state == Progress::ended;
  if (ended && progress->status != 0) _exit(progress->status);
  if (WIFEXITED(status) && ended) _exit(WEXITSTATUS(status));
  if (WIFEXITED(status)) fail(left);
  const int number = WTERMSIG(status);
  for (const int bad : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS}) {
    if (number == bad)
      fail(std::string("the program was ended by SIG") + sigabbrev_np(number) + ", outside of a launch");
  }
  std::signal(number, SIG_DFL);
  kill(getpid(), number);
  _exit(128 + number);
}

[[noreturn]] void keep(pid_t worker, const sigset_t& child_changes) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const auto end_it = [&](const std::string& why) {
    kill(worker, SIGKILL);
    end_the_rest();
    fail(why);
  };
  int halted = 0;
  const double begin = now();
  for (double ended_at = 0;;) {
    const timespec tick{0, 200'000'000};
    sigtimedwait(&child_changes, nullptr, &tick);
    int status = 0;
    for (pid_t process; (process = waitpid(-1, &status, WNOHANG)) > 0;) {
      if (process == worker) conclude(status);
    }
    const double time = now();
    if (progress->state == Progress::before_main && time - begin > most_before_main)
      end_it("stopped after 60 s: the stage's static objects do not come into being");
    if (progress->state == Progress::ended && ended_at == 0) ended_at = time;
    if (ended_at > 0 && time - ended_at > most_after_main) {
      kill(worker, SIGKILL);
      waitpid(worker, &status, 0);
      end_the_rest();
      _exit(progress->status);
    }
    // Job control stops the keeper, too.
    halted = is_halted(worker) ? halted + 1 : 0;
    if (halted > 5) end_it("the stage stopped the process that judges it");
  }
}

void refuse_to_leave() {
  if (progress->state == Progress::ended) return;
  std::fflush(nullptr);
  fail(left);
}

// True in the process that does the work; false if there is no other one.
bool has_keeper() {
#if !GEMM_ON_GPU
  const pid_t keeper = getpid();
  if (state_of(keeper).tracer) return false;
  void* const shared = mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return false;
  sigset_t child_changes, before;
  sigemptyset(&child_changes);
  sigaddset(&child_changes, SIGCHLD);
  sigprocmask(SIG_BLOCK, &child_changes, &before);
  progress = new (shared) Progress;
  const pid_t worker = fork();
  if (worker > 0) keep(worker, child_changes);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  if (worker < 0) return false;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != keeper) _exit(1);
  return true;
#else
  return false;
#endif
}

// Before the stage's static objects, which have no priority.
[[gnu::constructor(101)]] void begin() {
  if (!has_keeper()) std::atexit(refuse_to_leave);
}

}  // namespace

void main_begins() {
  progress->state = Progress::in_main;
}

void main_ends(int status) {
  progress->status = status;
  progress->state = Progress::ended;
}

}  // namespace gemm
