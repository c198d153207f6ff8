#include "common/simt/run/host_threads.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <string>
#include <system_error>

namespace simt {
namespace {

struct Known {
  std::mutex mutex;
  std::multiset<pid_t> others;
};
Known& known() {
  static Known& one = *new Known;
  return one;
}

}  // namespace

NoHostThread::NoHostThread() {
  const std::lock_guard lock(known().mutex);
  known().others.insert(gettid());
}
NoHostThread::~NoHostThread() {
  const std::lock_guard lock(known().mutex);
  known().others.erase(known().others.find(gettid()));
}

bool host_may_act() {
  const std::lock_guard lock(known().mutex);
  std::error_code none;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", none)) {
    if (known().others.contains(std::stoi(task.path().filename()))) continue;
    // The number of the system call that it is in, and its arguments; else "running".
    std::ifstream file(task.path() / "syscall");
    long number = 0;
    std::string word, operation, value, limit;
    if (!(file >> number >> word >> operation >> value >> limit) || number != SYS_futex || limit != "0x0") return true;
  }
  return false;
}

}  // namespace simt
