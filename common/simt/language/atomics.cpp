// Compiled without hooks: each operation reports itself, as one access.
#include "common/simt/language/atomics.hpp"

#include "common/simt/language/access.hpp"

namespace simt {
namespace {

/// Notes the operation before it is made, and that it has been made.
class Noted {
 public:
  Noted(void* address, std::size_t bytes, const void* pc) : address_(address) { note_atomic(address, bytes, pc); }
  ~Noted() { note_atomic_done(address_); }
  Noted(const Noted&) = delete;
  Noted& operator=(const Noted&) = delete;

 private:
  void* address_;
};

/// Replaces *address by f(old) and returns old. __atomic_compare_exchange compares bits, so a NaN does not loop.
template <class T, class F>
T update(T* address, F f) {
  T old, changed;
  __atomic_load(address, &old, __ATOMIC_RELAXED);
  do {
    changed = f(old);
  } while (!__atomic_compare_exchange(address, &old, &changed, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
  return old;
}

}  // namespace

// __builtin_return_address must be asked for in the function that the kernel calls.
#define SIMT_NOTE() const Noted noted(address, sizeof(T), __builtin_return_address(0))

template <class T>
[[gnu::noinline]] T atomic_add(T* address, T value) {
  SIMT_NOTE();
  if constexpr (std::is_floating_point_v<T>) {
    return update(address, [value](T old) { return old + value; });
  } else {
    return __atomic_fetch_add(address, value, __ATOMIC_SEQ_CST);
  }
}

template <class T>
[[gnu::noinline]] T atomic_sub(T* address, T value) {
  SIMT_NOTE();
  return __atomic_fetch_sub(address, value, __ATOMIC_SEQ_CST);
}

template <class T>
[[gnu::noinline]] T atomic_exchange(T* address, T value) {
  SIMT_NOTE();
  T old;
  __atomic_exchange(address, &value, &old, __ATOMIC_SEQ_CST);
  return old;
}

template <class T>
[[gnu::noinline]] T atomic_min(T* address, T value) {
  SIMT_NOTE();
  return update(address, [value](T old) { return value < old ? value : old; });
}

template <class T>
[[gnu::noinline]] T atomic_max(T* address, T value) {
  SIMT_NOTE();
  return update(address, [value](T old) { return old < value ? value : old; });
}

template <class T>
[[gnu::noinline]] T atomic_and(T* address, T value) {
  SIMT_NOTE();
  return __atomic_fetch_and(address, value, __ATOMIC_SEQ_CST);
}

template <class T>
[[gnu::noinline]] T atomic_or(T* address, T value) {
  SIMT_NOTE();
  return __atomic_fetch_or(address, value, __ATOMIC_SEQ_CST);
}

template <class T>
[[gnu::noinline]] T atomic_xor(T* address, T value) {
  SIMT_NOTE();
  return __atomic_fetch_xor(address, value, __ATOMIC_SEQ_CST);
}

template <class T>
[[gnu::noinline]] T atomic_increment(T* address, T limit) {
  SIMT_NOTE();
  return update(address, [limit](T old) { return old >= limit ? 0 : old + 1; });
}

template <class T>
[[gnu::noinline]] T atomic_decrement(T* address, T limit) {
  SIMT_NOTE();
  return update(address, [limit](T old) { return old == 0 || old > limit ? limit : old - 1; });
}

template <class T>
[[gnu::noinline]] T atomic_compare_exchange(T* address, T expected, T desired) {
  SIMT_NOTE();
  __atomic_compare_exchange(address, &expected, &desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  return expected;
}

#define SIMT_INSTANTIATE(operation, T) template T operation(T*, T);
SIMT_INSTANTIATE(atomic_add, int)
SIMT_INSTANTIATE(atomic_add, unsigned)
SIMT_INSTANTIATE(atomic_add, unsigned long long)
SIMT_INSTANTIATE(atomic_add, float)
SIMT_INSTANTIATE(atomic_add, double)
SIMT_INSTANTIATE(atomic_sub, int)
SIMT_INSTANTIATE(atomic_sub, unsigned)
SIMT_INSTANTIATE(atomic_exchange, int)
SIMT_INSTANTIATE(atomic_exchange, unsigned)
SIMT_INSTANTIATE(atomic_exchange, unsigned long long)
SIMT_INSTANTIATE(atomic_exchange, float)
SIMT_INSTANTIATE(atomic_min, int)
SIMT_INSTANTIATE(atomic_min, unsigned)
SIMT_INSTANTIATE(atomic_min, long long)
SIMT_INSTANTIATE(atomic_min, unsigned long long)
SIMT_INSTANTIATE(atomic_max, int)
SIMT_INSTANTIATE(atomic_max, unsigned)
SIMT_INSTANTIATE(atomic_max, long long)
SIMT_INSTANTIATE(atomic_max, unsigned long long)
SIMT_INSTANTIATE(atomic_and, int)
SIMT_INSTANTIATE(atomic_and, unsigned)
SIMT_INSTANTIATE(atomic_and, unsigned long long)
SIMT_INSTANTIATE(atomic_or, int)
SIMT_INSTANTIATE(atomic_or, unsigned)
SIMT_INSTANTIATE(atomic_or, unsigned long long)
SIMT_INSTANTIATE(atomic_xor, int)
SIMT_INSTANTIATE(atomic_xor, unsigned)
SIMT_INSTANTIATE(atomic_xor, unsigned long long)
SIMT_INSTANTIATE(atomic_increment, unsigned)
SIMT_INSTANTIATE(atomic_decrement, unsigned)
template int atomic_compare_exchange(int*, int, int);
template unsigned atomic_compare_exchange(unsigned*, unsigned, unsigned);
template unsigned long long atomic_compare_exchange(unsigned long long*, unsigned long long, unsigned long long);
template unsigned short atomic_compare_exchange(unsigned short*, unsigned short, unsigned short);

void thread_fence() {
  note_fence();
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

}  // namespace simt
