// What a thread's own arrays end with. Programs are compiled with -fstack-protector-strong: above the arrays of each
// function lies a guard word, which g++ checks at the function's end. An access to it is noticed at once here.
#pragma once

#include <cstdint>

#if !defined(__x86_64__)
extern "C" std::uintptr_t __stack_chk_guard;
#endif

namespace simt {

inline std::uintptr_t guard_word() {
#if defined(__x86_64__)
  std::uintptr_t word;
  asm("mov %%fs:0x28, %0" : "=r"(word));  // where the ABI has it
  return word;
#else
  return __stack_chk_guard;
#endif
}

// What it reads may be another function's.
[[gnu::no_sanitize_address]] inline bool is_guard(std::uintptr_t at) {
  typedef std::uintptr_t Word __attribute__((may_alias));
  return *reinterpret_cast<const Word*>(at) == guard_word();
}

/// Whether the words of an aligned access may be one.
inline bool holds_guard(std::uintptr_t address, unsigned bytes) {
  const std::uintptr_t begin = address & ~std::uintptr_t{7};
  return is_guard(begin) || (bytes > 8 && is_guard(begin + 8));
}

/// Whether all functions with arrays have one: those of a program, but not those of stages. There, what others have left
/// on the stack would be taken for one.
inline bool has_guard_words = false;

/// Whether an access to the calling fiber's own stack meets the guard word of a function that has not returned.
bool meets_guard(std::uintptr_t address, unsigned bytes);

}  // namespace simt
