// What a thread does to a word of memory. Internal to common/simt/.
#pragma once

#include <cstdint>

namespace simt {

enum class Use : std::uint8_t { read, write, atomic, atomic_block, volatile_read, volatile_write };

constexpr bool is_atomic(Use use) {
  return use == Use::atomic || use == Use::atomic_block;
}
constexpr bool is_read(Use use) {
  return use == Use::read || use == Use::volatile_read;
}
constexpr bool is_store(Use use) {
  return use == Use::write || use == Use::volatile_write;
}

/// Threads, and the host, may signal to one another by these.
constexpr bool signals(Use use) {
  return use != Use::read && use != Use::write;
}

constexpr const char* verb_of(Use use) {
  return is_read(use) ? "reads" : is_atomic(use) ? "updates" : "writes";
}

}  // namespace simt
