// What a thread's own arrays end with. Programs are compiled with -fstack-protector-strong: above the arrays of each
// function lies a guard word, which g++ checks at the function's end. An access to it is noticed at once here.
#pragma once

#include <cstdint>

namespace simt {

/// Whether an access to the calling fiber's own stack meets the guard word of a function that has not returned.
bool meets_guard(std::uintptr_t address, unsigned bytes);

}  // namespace simt
