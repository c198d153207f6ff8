// Compiled without hooks: each operation reports itself, as one access.
#include "common/simt/language/atomics.hpp"

#include <atomic>
#include <cstdint>
#include <cstring>

namespace simt {
namespace {

/// Notes the operation before it is made, and that it has been made.
class Noted {
 public:
  Noted(void* address, std::size_t bytes, Scope scope, const void* pc) : address_(address), scope_(scope) {
    note_atomic(address, bytes, scope, pc);
  }
  template <class T>
  T done(const T& old) const {
    note_atomic_done(address_, scope_, true);
    return old;
  }
  /// Of a compare-and-swap, by which locks are taken.
  template <class T>
  T compared(const T& old) const {
    note_atomic_done(address_, scope_, false);
    return old;
  }

 private:
  void* address_;
  Scope scope_;
};

/// Replaces *address by f(old). __atomic_compare_exchange compares bits, so a NaN does not loop.
template <class T, class F>
void update(T* address, F f, T& old, T& now) {
  __atomic_load(address, &old, __ATOMIC_RELAXED);
  do {
    now = f(old);
  } while (!__atomic_compare_exchange(address, &old, &now, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
}

/// 16 bytes that only one thread at a time looks at. Few CPUs can do it without a lock, and not in every build.
class WideLock {
 public:
  WideLock() {
    while (locked.test_and_set(std::memory_order_acquire)) {
    }
  }
  ~WideLock() { locked.clear(std::memory_order_release); }
  WideLock(const WideLock&) = delete;
  WideLock& operator=(const WideLock&) = delete;

 private:
  static inline std::atomic_flag locked;
};

}  // namespace

// __builtin_return_address must be asked for in the function that the kernel calls.
#define SIMT_NOTE(bytes) const Noted noted(address, bytes, scope, __builtin_return_address(0))
#define SIMT_UPDATE(name, T, ...)                              \
  template <class T>                                           \
  [[gnu::noinline]] T name(T* address, T value, Scope scope) { \
    SIMT_NOTE(sizeof(T));                                      \
    T old, now;                                                \
    update(address, [value](T x) -> T __VA_ARGS__, old, now);  \
    return noted.done(old);                                    \
  }
// Of unsigned numbers, which wrap around: to signed ones it is undefined.
#define SIMT_WRAPPING_SUM(sign)                        \
  {                                                    \
    if constexpr (std::is_integral_v<T>) {             \
      using Bits = std::make_unsigned_t<T>;            \
      return static_cast<T>(Bits(x) sign Bits(value)); \
    } else {                                           \
      return x sign value;                             \
    }                                                  \
  }
SIMT_UPDATE(atomic_add, T, SIMT_WRAPPING_SUM(+))
SIMT_UPDATE(atomic_sub, T, SIMT_WRAPPING_SUM(-))
SIMT_UPDATE(atomic_exchange, T, { return (void)x, value; })
SIMT_UPDATE(atomic_min, T, { return value < x ? value : x; })
SIMT_UPDATE(atomic_max, T, { return x < value ? value : x; })
SIMT_UPDATE(atomic_and, T, { return x & value; })
SIMT_UPDATE(atomic_or, T, { return x | value; })
SIMT_UPDATE(atomic_xor, T, { return x ^ value; })
SIMT_UPDATE(atomic_increment, T, { return x >= value ? 0 : x + 1; })
SIMT_UPDATE(atomic_decrement, T, { return x == 0 || x > value ? value : x - 1; })

template <class T>
[[gnu::noinline]] T atomic_compare_exchange(T* address, T expected, T desired, Scope scope) {
  SIMT_NOTE(sizeof(T));
  T old = expected;
  __atomic_compare_exchange(address, &old, &desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  return noted.compared(old);
}

[[gnu::noinline]] Wide atomic_exchange(Wide* address, const Wide& value, Scope scope) {
  SIMT_NOTE(sizeof(Wide));
  const WideLock lock;
  const Wide old = *address;
  *address = value;
  return noted.done(old);
}

[[gnu::noinline]] Wide atomic_compare_exchange(Wide* address, const Wide& expected, const Wide& desired, Scope scope) {
  SIMT_NOTE(sizeof(Wide));
  const WideLock lock;
  const Wide old = *address;
  if (std::memcmp(&old, &expected, sizeof old) == 0) *address = desired;
  return noted.compared(old);
}

[[gnu::noinline]] void atomic_apply(void* address, std::size_t bytes, std::size_t piece, const void* value,
                                    Combine combine, void* result, Scope scope) {
  SIMT_NOTE(bytes);
  const auto of = [&]<class T>(T* at, const T* addend, T* old) {
    T now;
    for (std::size_t i = 0; i < bytes / piece; ++i) {
      const auto add = [&](T x) {
        combine(&x, &addend[i]);
        return x;
      };
      update(&at[i], add, old[i], now);
    }
  };
  if (piece == 2) {
    of(static_cast<std::uint16_t*>(address), static_cast<const std::uint16_t*>(value),
       static_cast<std::uint16_t*>(result));
  } else {
    of(static_cast<std::uint32_t*>(address), static_cast<const std::uint32_t*>(value),
       static_cast<std::uint32_t*>(result));
  }
  noted.done(0);
}

#define SIMT_INSTANTIATE(operation, T) template T operation(T*, T, Scope);
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
SIMT_INSTANTIATE(atomic_and, long long)
SIMT_INSTANTIATE(atomic_and, unsigned long long)
SIMT_INSTANTIATE(atomic_or, int)
SIMT_INSTANTIATE(atomic_or, unsigned)
SIMT_INSTANTIATE(atomic_or, long long)
SIMT_INSTANTIATE(atomic_or, unsigned long long)
SIMT_INSTANTIATE(atomic_xor, int)
SIMT_INSTANTIATE(atomic_xor, unsigned)
SIMT_INSTANTIATE(atomic_xor, long long)
SIMT_INSTANTIATE(atomic_xor, unsigned long long)
SIMT_INSTANTIATE(atomic_increment, unsigned)
SIMT_INSTANTIATE(atomic_decrement, unsigned)
template int atomic_compare_exchange(int*, int, int, Scope);
template unsigned atomic_compare_exchange(unsigned*, unsigned, unsigned, Scope);
template unsigned long long atomic_compare_exchange(unsigned long long*, unsigned long long, unsigned long long, Scope);
template unsigned short atomic_compare_exchange(unsigned short*, unsigned short, unsigned short, Scope);

void thread_fence(Scope scope) {
  note_fence(scope);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

}  // namespace simt
