#include "common/simt/run/last_words.hpp"

#include <cxxabi.h>
#include <execinfo.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <vector>

#include "common/simt/code/source_lines.hpp"
#include "common/simt/observe/global_memory.hpp"
#include "common/simt/observe/kept_lock.hpp"
#include "common/simt/run/block.hpp"

namespace simt {
namespace {

using End = LastWords::End;

LastWords* words = nullptr;
void (*teller)(const LastWords&) = nullptr;
std::atomic_flag begun;  // one thread's are enough
struct sigaction before_us;
std::array<std::atomic<pid_t>, BusyWorker::most> busy;  // 0: not
__thread const char* kernel_here = nullptr;

pid_t this_thread() {
  return static_cast<pid_t>(syscall(SYS_gettid));
}

void copy_text(char* to, std::size_t room, const char* from) {
  const std::size_t length = std::min(std::strlen(from), room - 1);
  std::memcpy(to, from, length);
  to[length] = '\0';
}

// The interrupted instruction, and the stack pointer there.
struct Interrupted {
  std::uintptr_t pc, sp;

  explicit Interrupted(const void* context) {
    const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
    pc = static_cast<std::uintptr_t>(machine.gregs[REG_RIP]);
    sp = static_cast<std::uintptr_t>(machine.gregs[REG_RSP]);
#else
    pc = machine.pc;
    sp = machine.sp;
#endif
  }
};

void add_frame(std::uintptr_t return_address) {
  if (return_address && words->frames < std::size(words->frame)) words->frame[words->frames++] = return_address;
}

// Of the calling function, or of the code that a signal has interrupted.
void add_frames(const Interrupted* at) {
  void* found[64];
  const int count = backtrace(found, static_cast<int>(std::size(found)));
  int first = 0;
  if (at) {
    add_frame(at->pc + 1);  // as if it were a call
    while (first < count && reinterpret_cast<std::uintptr_t>(found[first]) != at->pc) ++first;
    ++first;
  }
  for (int i = first; i < count; ++i) add_frame(reinterpret_cast<std::uintptr_t>(found[i]));
}

// What is known without a signal's context, too: the kernel, and its thread if one runs on the stack at `sp`. Else the
// last one that ran is named, with the place at which it waits.
void describe_end(End end, int signal, std::uintptr_t sp, const Interrupted* at) {
  words->end = end;
  words->signal = signal;
  words->in_kernel = kernel_here != nullptr;
  if (kernel_here) copy_text(words->kernel, sizeof words->kernel, kernel_here);
  const Block* const block = running_block || end != End::time_up ? running_block : computing_block;
  const Lane* const lane = block ? block->lane_on_stack(reinterpret_cast<const void*>(sp)) : nullptr;
  const Lane* const named = lane || !block ? lane : block->last_lane();
  if (named) {
    words->lane_known = true;
    words->block = named->context.block;
    words->thread = named->context.thread;
  }
  if (lane || !block) add_frames(at);
  if (named) add_frame(block->last_place(*named));
}

[[noreturn]] void end_process() {
  _exit(1);
}

// Returns on the first thread that has something to say; another one waits for its end.
void wait_unless_first() {
  inspected_block = nullptr;  // what follows is no kernel's doing
  while (begun.test_and_set()) pause();
}

// Each of them once.
bool interrupt_a_worker(int signal) {
  static std::atomic<unsigned> next = 0;
  for (unsigned i = next++; i < std::size(busy); i = next++) {
    if (const pid_t id = busy[i].load()) return syscall(SYS_tgkill, getpid(), id, signal) == 0;
  }
  return false;
}

void say(const char* text) {
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text, std::strlen(text));
}

// On a stack of its own. Only what may be called in a signal handler.
void on_signal(int signal, siginfo_t* info, void* context) {
  const bool overflow = signal == SIGSEGV && running_block && running_block->is_guard_page(info->si_addr);
  if (!words) {
    if (overflow) {
      say("error: stack overflow in ");
      say(running_block->kernel_name());
      say(": a thread's local variables and calls need more than 64 KB\n");
      end_process();
    }
    if (before_us.sa_flags & SA_SIGINFO) return before_us.sa_sigaction(signal, info, context);
    sigaction(SIGSEGV, &before_us, nullptr);  // the faulting instruction runs again and meets what was there before us
    return;
  }
  // Sent to the process, it arrives at any thread. A worker that waits for what another one keeps, or that has no block,
  // is not the one to ask.
  const bool runs = kernel_here && (running_block || computing_block) && !KeptLock::waits();
  if (signal == time_up_signal && !runs && interrupt_a_worker(signal)) return;
  if (teller && signal == SIGABRT && !kernel_here) {  // the host's own doing
    ::signal(signal, SIG_DFL);
    return;
  }
  wait_unless_first();
  const Interrupted at(context);
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  constexpr std::uintptr_t near = 64 * 1024;
  End end = signal == time_up_signal ? End::time_up : End::signal;
  if (signal == SIGSEGV && GlobalMemory::instance().contains(address)) end = End::device_memory;
  if (overflow || (signal == SIGSEGV && address + near > at.sp && address < at.sp + near)) end = End::stack_overflow;
  words->address = address;
  describe_end(end, signal, at.sp, &at);
  if (!teller) end_process();
  teller(*words);
  if (overflow || end == End::time_up) end_process();
  ::signal(signal, SIG_DFL);  // the faulting instruction runs again
}

// Without a signal: the stack is that of the thread that calls this.
[[noreturn]] void end_here(End end, const char* text) {
  copy_text(words->text, sizeof words->text, text);
  describe_end(end, 0, reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)), nullptr);
  end_process();
}

void on_terminate() {
  wait_unless_first();
  end_here(End::exception, std::current_exception() ? current_exception_text().c_str() : "std::terminate()");
}

void on_exit_called() {
  wait_unless_first();
  end_here(End::exit, "");
}

// The stack on which the handler runs: that of the kernel may be full. One that is there already, AddressSanitizer's,
// will do.
class HandlerStack {
 public:
  HandlerStack() : memory_(std::make_unique<std::byte[]>(bytes)) {
    stack_t present{};
    sigaltstack(nullptr, &present);
    mine_ = (present.ss_flags & SS_DISABLE) != 0;
    const stack_t stack{memory_.get(), 0, bytes};
    if (mine_) sigaltstack(&stack, nullptr);
  }
  ~HandlerStack() {
    const stack_t none{nullptr, SS_DISABLE, 0};
    if (mine_) sigaltstack(&none, nullptr);
  }
  HandlerStack(const HandlerStack&) = delete;
  HandlerStack& operator=(const HandlerStack&) = delete;

 private:
  static constexpr std::size_t bytes = 64 * 1024;
  std::unique_ptr<std::byte[]> memory_;
  bool mine_ = false;
};

bool handle(int signal, struct sigaction* before) {
  struct sigaction action {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigfillset(&action.sa_mask);  // a fault within the handler ends the process at once
  return sigaction(signal, &action, before) == 0;
}

const char* text_of(int signal) {
  const char* const name = sigabbrev_np(signal);
  return name ? name : "?";
}

}  // namespace

void watch_stacks() {
  static thread_local const HandlerStack stack;
  static_cast<void>(&stack);  // constructed when first used

  static const bool installed = handle(SIGSEGV, &before_us);
  static_cast<void>(installed);
}

void leave_last_words(LastWords& where) {
  void* found[4];
  backtrace(found, 4);  // the first time it loads a library, which a handler must not
  watch_stacks();
  words = &where;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS, time_up_signal})
    handle(signal, nullptr);
  std::set_terminate(on_terminate);
  std::atexit(on_exit_called);
  std::at_quick_exit(on_exit_called);
}

void tell_crashes(void (*tell)(const LastWords& words)) {
  static LastWords own;
  void* found[4];
  backtrace(found, 4);
  watch_stacks();
  words = &own;
  teller = tell;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, time_up_signal}) handle(signal, nullptr);
}

BusyWorker::BusyWorker(unsigned index, const char* kernel) : index_(index) {
  kernel_here = kernel;
  busy[index] = this_thread();
}

BusyWorker::~BusyWorker() {
  busy[index_] = 0;
  kernel_here = nullptr;
}

std::string author_line(const std::uintptr_t* return_addresses, std::size_t count) {
  for (const SourceLine& line : source_lines({return_addresses, return_addresses + count})) {
    if (!line.file.empty() && !line.file.starts_with("common/") && !line.file.starts_with("/usr/")) return line.text();
  }
  return SourceLine{}.text();
}

std::string current_exception_text() {
  const std::type_info* const type = abi::__cxa_current_exception_type();
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(
      type ? abi::__cxa_demangle(type->name(), nullptr, nullptr, &status) : nullptr, std::free);
  std::string text = name ? name.get() : type ? type->name() : "of another language";
  try {
    throw;
  } catch (const std::exception& error) {
    text += fmt::format(" ({})", error.what());
  } catch (...) {
  }
  return text;
}

std::string LastWords::place() const {
  const std::string line = author_line(frame, frames);
  if (!in_kernel) return fmt::format(" in host code, at {}", line);
  if (!lane_known) return fmt::format(" in {}", kernel);
  return fmt::format(" in {}: thread ({}, {}, {}) of block ({}, {}, {}) at {}", kernel, thread.x, thread.y, thread.z,
                     block.x, block.y, block.z, line);
}

std::string LastWords::reason() const {
  switch (end) {
    case End::none:
      return "";
    case End::signal:
      if (signal == SIGABRT) return "abort()" + place();
      if (signal == SIGFPE) return "division by zero, or the like (SIGFPE)" + place();
      return fmt::format("signal SIG{}{}", text_of(signal), place());
    case End::stack_overflow:
      return fmt::format("stack overflow{}{}", place(),
                         in_kernel ? ", a thread's local variables and calls need more than 64 KB" : "");
    case End::device_memory:
      // In a kernel, memory that is the other process's alone.
      if (in_kernel) return fmt::format("out of bounds, {},{}", GlobalMemory::instance().describe(address), place());
      return "device memory is read or written" + place() + ": that takes a kernel, or cudaMemcpy";
    case End::exception:
      return fmt::format("exception {}{}", text, place());
    case End::exit:
      return "the stage ended the program: it called exit(), or the like," + place();
    case End::time_up:
      return "stopped" + place();
  }
  return "";
}

}  // namespace simt
