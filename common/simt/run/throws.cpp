// Notes where exceptions are thrown: once one is caught, its stack is gone, and nobody could name the line.
#include <execinfo.h>

#include <cstdint>
#include <typeinfo>

#include "common/simt/run/block.hpp"
#include "common/simt/run/last_words.hpp"

namespace {

__thread void* frame[32];
__thread int frames = 0;

}  // namespace

namespace simt {

std::string line_of_last_throw() {
  return author_line(reinterpret_cast<const std::uintptr_t*>(frame), static_cast<std::size_t>(frames));
}

}  // namespace simt

// --wrap makes the linker send all calls here, of what is linked with the executor.
extern "C" [[noreturn]] void __real___cxa_throw(void* object, std::type_info* type, void (*destructor)(void*));
extern "C" [[noreturn]] void __wrap___cxa_throw(void* object, std::type_info* type, void (*destructor)(void*)) {
  simt::inspected_block = nullptr;  // what unwinds is none of the kernel's doing
  frames = backtrace(frame, static_cast<int>(sizeof frame / sizeof *frame));
  __real___cxa_throw(object, type, destructor);
}
