// What all functions of the runtime do: one at a time, note their error, and, in a program, say on whose line what went
// wrong. Internal to common/simt/.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "common/simt/language/runtime.hpp"
#include "common/simt/observe/findings.hpp"

namespace simt {

/// A call by the host's code: its return address names the line.
struct Call {
  const char* name;
  const void* pc;
};
#define SIMT_CALL(name) (::simt::Call{name, __builtin_return_address(0)})

std::recursive_mutex& runtime_mutex();
/// While it lives, this thread is in the runtime, alone, and what it does to memory is not the host's doing.
class Inside {
 public:
  explicit Inside(std::unique_lock<std::recursive_mutex> lock);
  ~Inside();
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  bool was_inside() const { return was_inside_; }

 private:
  std::unique_lock<std::recursive_mutex> lock_;
  bool was_inside_;
};
/// The same for a call by the host. One within a kernel ends the launch, for there is no dynamic parallelism.
class Entered {
 public:
  explicit Entered(const Call& call);
  /// Whether the runtime itself calls: the outer call answers.
  bool is_nested() const { return inside_.was_inside(); }

 private:
  Inside inside_;
};
/// How many calls there have been.
std::uint64_t calls_made();
/// The opposite, while it lives: for a callback.
class LeftForHost {
 public:
  LeftForHost();
  ~LeftForHost();
  LeftForHost(const LeftForHost&) = delete;
  LeftForHost& operator=(const LeftForHost&) = delete;
};
bool is_inside_runtime();

/// What every call answers since a kernel was stopped; cudaSuccess if none was. In programs only.
cudaError_t broken_by();
void break_context(cudaError_t error);
void mend_context();

/// The error becomes the last one. `why`, if there is one, says more than its name.
cudaError_t answer(const Call& call, cudaError_t error, const std::string& why = {});
/// Reports the errors that nobody has asked for, and forgets them.
void report_ignored_errors();

template <class Do>
cudaError_t enter(const Call& call, Do act) {
  const Entered entered(call);
  if (const cudaError_t broken = broken_by(); broken != cudaSuccess) return broken;
  const cudaError_t error = act();
  return entered.is_nested() ? error : answer(call, error);
}

/// To the inspection under way, if there is one. The call's error is then no news.
void report_of_host(DefectKind kind, std::string where, Party one, Party other = {});
Party host_at(const void* pc, std::string action);
Party calling(const Call& call);

}  // namespace simt
