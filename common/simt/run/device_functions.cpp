#include "common/simt/language/device_functions.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>

#include "common/simt/code/source_lines.hpp"
#include "common/simt/code/symbols.hpp"
#include "common/simt/observe/global_memory.hpp"
#include "common/simt/observe/onlookers.hpp"
#include "common/simt/run/block.hpp"

namespace simt {
namespace {

class Heap {
 public:
  static Heap& instance() {
    static Heap& heap = *new Heap;  // outlives the workers
    return heap;
  }

  void* allocate(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    if (bytes == 0 || bytes > limit_ - std::min(used_, limit_)) return nullptr;
    void* const memory = GlobalMemory::instance().allocate(bytes);
    if (!memory) return nullptr;
    bytes_of_[memory] = bytes;
    used_ += bytes;
    return memory;
  }
  /// False if it is nothing that the heap has given.
  bool release(void* memory) {
    const std::lock_guard lock(mutex_);
    const auto at = bytes_of_.find(memory);
    if (at == bytes_of_.end()) return false;
    used_ -= at->second;
    bytes_of_.erase(at);
    return GlobalMemory::instance().release(memory);
  }
  std::size_t limit() {
    const std::lock_guard lock(mutex_);
    return limit_;
  }
  void set_limit(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    limit_ = bytes;
  }

 private:
  std::mutex mutex_;
  std::map<void*, std::size_t> bytes_of_;
  std::size_t used_ = 0, limit_ = std::size_t{8} << 20;
};

void release_on_device(void* memory, const char* what, const void* pc) {
  if (!memory) return;
  bool known = false;
  {
    const Unobserved unobserved;
    known = Heap::instance().release(memory);
  }
  if (!known) running_block->bad_free(reinterpret_cast<std::uintptr_t>(memory), what, pc);
}

}  // namespace

long long clock_now() {
  static std::atomic<long long> last{0};
  const long long now =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
  long long before = last.load();
  while (!last.compare_exchange_weak(before, now > before ? now : before + 1)) {
  }
  return now > before ? now : before + 1;
}

void device_assert(const char* expression, const char* file, unsigned line, const char* function) {
  const ThreadContext at = running_block->current().context;
  {
    const Unobserved unobserved;
    std::fflush(stdout);
    std::fprintf(stderr, "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n", file, line,
                 function, at.block.x, at.block.y, at.block.z, at.thread.x, at.thread.y, at.thread.z, expression);
  }
  running_block->stop_launch(cudaErrorAssert);
}

void device_trap() {
  running_block->stop_launch(cudaErrorLaunchFailure);
}

std::size_t heap_limit() {
  return Heap::instance().limit();
}
void set_heap_limit(std::size_t bytes) {
  Heap::instance().set_limit(bytes);
}

bool is_global(const void* address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  return GlobalMemory::instance().contains(at) || is_device_variable(at);
}
bool is_shared(const void* address) {
  return running_block->shared().contains(reinterpret_cast<std::uintptr_t>(address));
}
bool is_constant(const void* address) {
  return is_constant_memory(reinterpret_cast<std::uintptr_t>(address));
}
bool is_local(const void* address) {
  return running_block->lane_on_stack(address) == &running_block->current();
}
std::size_t shared_offset(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address) - running_block->shared().begin();
}
void* shared_at(std::size_t offset) {
  return reinterpret_cast<void*>(running_block->shared().begin() + offset);
}

}  // namespace simt

// glibc's assert() calls this. In a kernel it is the device's.
extern "C" [[noreturn]] void __assert_fail(const char* expression, const char* file, unsigned line,
                                           const char* function) noexcept {
  if (simt::running_block) simt::device_assert(expression, file, line, function);
  using Fail = void (*)(const char*, const char*, unsigned, const char*);
  reinterpret_cast<Fail>(dlsym(RTLD_NEXT, "__assert_fail"))(expression, file, line, function);
  std::abort();
}

// What a program's own code calls instead of malloc, free, new and delete (common/cmake/compile_program.py renames them in
// its objects): in a kernel they are the device's.
#define HERE __builtin_return_address(0)
extern "C" {
#define SIMT_ALLOCATES(name, real)                  \
  void* name(std::size_t bytes) {                   \
    if (!simt::inspected_block) return real(bytes); \
    const simt::Unobserved unobserved;              \
    return simt::Heap::instance().allocate(bytes);  \
  }
SIMT_ALLOCATES(simt_malloc, std::malloc)
SIMT_ALLOCATES(simt_new, ::operator new)  // null if there is no room, as on a GPU
SIMT_ALLOCATES(simt_new_array, ::operator new[])
#define SIMT_RELEASES(name, real, says)                             \
  void name(void* memory) {                                         \
    const auto at = reinterpret_cast<std::uintptr_t>(memory);       \
    if (simt::inspected_block) {                                    \
      simt::release_on_device(memory, says, HERE);                  \
    } else if (simt::host_watch.ranges[0].holds(at)) [[unlikely]] { \
      simt::host_releases(at, says, HERE);                          \
    } else {                                                        \
      real(memory);                                                 \
    }                                                               \
  }
SIMT_RELEASES(simt_free, std::free, "calls free()")
SIMT_RELEASES(simt_delete, ::operator delete, "deletes it")
SIMT_RELEASES(simt_delete_array, ::operator delete[], "deletes it")
// The size is what the type says: nothing that the memory does not know.
SIMT_RELEASES(simt_delete_sized, ::operator delete, "deletes it")
SIMT_RELEASES(simt_delete_array_sized, ::operator delete[], "deletes it")
}
