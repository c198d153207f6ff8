// Notes where exceptions are thrown: once one is caught, its stack is gone, and nobody could name the line.
#include <dlfcn.h>
#include <execinfo.h>

#include <cstdint>
#include <cstdlib>
#include <typeinfo>

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

// Takes the place of the C++ library's, which it calls. By a label, because to g++ that name is a function of its own.
extern "C" [[noreturn]] void note_throw(void* object, std::type_info* type,
                                        void (*destructor)(void*)) asm("__cxa_throw");
extern "C" void note_throw(void* object, std::type_info* type, void (*destructor)(void*)) {
  frames = backtrace(frame, static_cast<int>(sizeof frame / sizeof *frame));
  using Throw = void (*)(void*, std::type_info*, void (*)(void*));
  static const auto real = reinterpret_cast<Throw>(dlsym(RTLD_NEXT, "__cxa_throw"));
  real(object, type, destructor);
  std::abort();
}
