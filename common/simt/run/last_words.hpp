// What a process that ends in the middle of a stage can still say: why, and where it stood. As plain data, for another
// process that shares this memory: a signal handler may do little more than fill it.
#pragma once

#include <csignal>
#include <cstdint>
#include <string>

#include "common/simt/language/types.hpp"

namespace simt {

struct LastWords {
  enum class End : std::uint32_t { none, signal, stack_overflow, device_memory, exception, exit, time_up };

  End end = End::none;
  int signal = 0;
  std::uintptr_t address = 0;                  ///< with a signal: what could not be accessed
  bool in_kernel = false, lane_known = false;  ///< else in host code
  uint3 block{}, thread{};
  char kernel[128] = {};
  char text[256] = {};  ///< of an exception: its type and what it says
  std::uint32_t frames = 0;
  std::uintptr_t frame[64] = {};  ///< return addresses, the innermost first

  /// "signal SIGFPE in sgemm: thread (0, 0, 0) of block (1, 0, 0) at stages/90_mine.cu:31", on one line. Empty if nothing
  /// has ended. Takes time: it asks addr2line.
  std::string reason() const;
  /// The second half of it, from " in" on.
  std::string place() const;
};

/// From now on this process leaves its last words there if it ends by a signal, an exception that nobody catches or
/// exit(), and its exit status is 1. `where` must outlive it.
void leave_last_words(LastWords& where);

/// From now on, if this process is about to end by a signal of its own, `tell` is called first. It is called in the
/// signal's handler, on a stack of 64 KB.
void tell_crashes(void (*tell)(const LastWords& words));

/// Sent to a process that leaves last words, it ends it at the thread that runs a stage's code.
inline constexpr int time_up_signal = SIGXCPU;

/// On each OS thread that runs kernels or a stage's host code, once: a stack for the handler of its own. From now on, if
/// a kernel on this thread runs into the page below its stack, the program ends with one clear line on standard error
/// and exit status 1, last words or not.
void watch_stacks();

/// While it lives, this thread is one of those that run blocks of a launch. Of that, last words name the kernel.
class BusyWorker {
 public:
  /// `index`: among the workers. `kernel` must outlive it.
  BusyWorker(unsigned index, const char* kernel);
  ~BusyWorker();
  BusyWorker(const BusyWorker&) = delete;
  BusyWorker& operator=(const BusyWorker&) = delete;
  static constexpr unsigned most = 24;

 private:
  unsigned index_;
};

/// The line of a stage that one of these addresses lies on, the first that does: not the executor's nor the harness', no
/// library's. "unknown line" if there is none.
std::string author_line(const std::uintptr_t* return_addresses, std::size_t count);

/// Where this thread has thrown its last exception: an author_line.
std::string line_of_last_throw();

/// "std::out_of_range (vector::_M_range_check)" of the exception that is being handled.
std::string current_exception_text();

}  // namespace simt
