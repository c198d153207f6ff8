// Notes where exceptions are thrown: once one is caught, its stack is gone, and nobody could name the line.
#include <dlfcn.h>
#include <execinfo.h>

#include <cstdint>
#include <cstdlib>
#include <typeinfo>

#include "common/simt/run/block.hpp"
#include "common/simt/run/last_words.hpp"

namespace simt {
namespace {

__thread void* frame[32];
__thread int frames = 0;

void note_stack() {
  inspected_block = nullptr;  // what unwinds is none of the kernel's doing
  frames = backtrace(frame, static_cast<int>(sizeof frame / sizeof *frame));
}

}  // namespace

std::string line_of_last_throw() {
  return author_line(reinterpret_cast<const std::uintptr_t*>(frame), static_cast<std::size_t>(frames));
}

}  // namespace simt

using Destructor = void (*)(void*);

// --wrap makes the linker send all calls here, of what is linked with the executor, the C++ library, too, if it is static.
extern "C" [[noreturn]] void __real___cxa_throw(void* object, std::type_info* type, Destructor destructor);
extern "C" [[noreturn]] void __wrap___cxa_throw(void* object, std::type_info* type, Destructor destructor) {
  simt::note_stack();
  __real___cxa_throw(object, type, destructor);
}

// Who makes an exception leaves the kernel. What the C++ library writes into it is on the heap: were the library static, its
// memset and memcpy would be looked at, and the kernel blamed for a use of host memory.
extern "C" void* __real___cxa_allocate_exception(std::size_t bytes) noexcept;
extern "C" void* __wrap___cxa_allocate_exception(std::size_t bytes) noexcept {
  simt::inspected_block = nullptr;
  return __real___cxa_allocate_exception(bytes);
}

// A shared C++ library throws by way of this, which takes the place of its own. Weak, for a static one has it, too. By a label,
// because to g++ that name is a function of its own.
extern "C" [[noreturn, gnu::weak]] void note_throw(void* object, std::type_info* type,
                                                   Destructor destructor) asm("__cxa_throw");
extern "C" void note_throw(void* object, std::type_info* type, Destructor destructor) {
  simt::note_stack();
  using Throw = void (*)(void*, std::type_info*, Destructor);
  static const auto real = reinterpret_cast<Throw>(dlsym(RTLD_NEXT, "__cxa_throw"));
  real(object, type, destructor);
  std::abort();
}
