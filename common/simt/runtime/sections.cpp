#include "common/simt/runtime/sections.hpp"

// The linker's names for the ends of a section; null if nothing is in it.
#define SIMT_SECTION(name)                           \
  extern "C" [[gnu::weak]] char __start_simt_##name; \
  extern "C" [[gnu::weak]] char __stop_simt_##name;
SIMT_SECTION(device)
SIMT_SECTION(managed)
SIMT_SECTION(constant)
#undef SIMT_SECTION

namespace simt {
namespace {

HostWatch::Range between(const char* begin, const char* end) {
  const auto first = reinterpret_cast<std::uintptr_t>(begin);
  return {first, reinterpret_cast<std::uintptr_t>(end) - first};
}

}  // namespace

HostWatch::Range device_section() {
  return between(&__start_simt_device, &__stop_simt_device);
}
HostWatch::Range managed_section() {
  return between(&__start_simt_managed, &__stop_simt_managed);
}
HostWatch::Range constant_section() {
  return between(&__start_simt_constant, &__stop_simt_constant);
}

bool is_managed_section(std::uintptr_t address) {
  return managed_section().holds(address);
}
bool is_device_section(std::uintptr_t address) {
  return device_section().holds(address) || is_managed_section(address) || constant_section().holds(address);
}

}  // namespace simt
