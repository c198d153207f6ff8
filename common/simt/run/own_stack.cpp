#include "common/simt/run/own_stack.hpp"

#include <unwind.h>

namespace simt {
namespace {

// The end of the function's frame that holds an address: where the stack pointer was when its caller called.
struct Frames {
  std::uintptr_t address, end = 0;
};
_Unwind_Reason_Code look(_Unwind_Context* context, void* data) {
  auto& frames = *static_cast<Frames*>(data);
  frames.end = _Unwind_GetCFA(context);
  return frames.end > frames.address ? _URC_END_OF_STACK : _URC_NO_REASON;
}

}  // namespace

[[gnu::no_sanitize_address]] bool meets_guard(std::uintptr_t address, unsigned bytes) {
  if (!has_guard_words) return false;
  constexpr std::uintptr_t word = sizeof(std::uintptr_t);
  for (std::uintptr_t at = address / word * word; at < address + bytes; at += word) {
    if (!is_guard(at)) continue;
    // Words of functions that have returned lie about, too, where arrays are now. Those have a guard word above them.
    Frames frames{at};
    _Unwind_Backtrace(look, &frames);
    std::uintptr_t above = at + word;
    while (above < frames.end && !is_guard(above)) above += word;
    if (above >= frames.end) return frames.end > at;
  }
  return false;
}

}  // namespace simt
