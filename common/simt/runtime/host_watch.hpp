// In a program, what its host code does to memory that is the device's, or that the device may be using.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/simt/observe/use.hpp"

namespace simt {

/// The ranges of addresses of which the host's accesses are of interest: device memory, and the sections of __device__,
/// __constant__ and __managed__ variables. Empty but in a program.
struct HostWatch {
  static constexpr unsigned count = 4;
  struct Range {
    std::uintptr_t begin = 0;
    std::size_t bytes = 0;
  } ranges[count];
  bool holds(std::uintptr_t address) const {
    return address - ranges[0].begin < ranges[0].bytes || address - ranges[1].begin < ranges[1].bytes ||
           address - ranges[2].begin < ranges[2].bytes || address - ranges[3].begin < ranges[3].bytes;
  }
};
extern HostWatch host_watch;
void watch_host(bool on);

/// An access that host_watch holds, by code that is no kernel's.
void host_touches(std::uintptr_t address, std::size_t bytes, Use use, const void* pc);

/// Whether the address lies in a section of __device__, __managed__ or __constant__ variables.
bool is_device_section(std::uintptr_t address);
/// Of __managed__ variables alone.
bool is_managed_section(std::uintptr_t address);

/// Memory that the host may use has been freed.
void forget_host_range();

}  // namespace simt
