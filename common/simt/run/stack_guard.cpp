#include "common/simt/run/stack_guard.hpp"

#include <signal.h>
#include <unistd.h>

#include <cstring>
#include <memory>

#include "common/simt/run/block.hpp"

namespace simt {
namespace {

struct sigaction previous;

// On a stack of its own. Only what may be called in a signal handler.
void on_fault(int signal, siginfo_t* info, void* context) {
  if (running_block && running_block->is_guard_page(info->si_addr)) {
    const auto say = [](const char* text) {
      [[maybe_unused]] const auto written = write(STDERR_FILENO, text, std::strlen(text));
    };
    say("error: stack overflow in ");
    say(running_block->kernel_name());
    say(": a thread's local variables and calls need more than 64 KB\n");
    _exit(2);
  }
  if (previous.sa_flags & SA_SIGINFO) return previous.sa_sigaction(signal, info, context);
  sigaction(SIGSEGV, &previous, nullptr);  // the faulting instruction runs again and meets what was there before us
}

// The stack on which the handler runs: that of the kernel is full. One that is there already, AddressSanitizer's, will
// do.
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

}  // namespace

void watch_stacks() {
  static thread_local const HandlerStack stack;
  static_cast<void>(&stack);  // constructed when first used

  static const bool installed = [] {
    struct sigaction action {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    return sigaction(SIGSEGV, &action, &previous) == 0;
  }();
  static_cast<void>(installed);
}

}  // namespace simt
