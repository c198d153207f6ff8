// What the runtime of a program is told of while kernels and the host's code run (common/simt/runtime/). In the harness
// nobody is told.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/simt/observe/use.hpp"

namespace simt {

/// The ranges of addresses of which the host's accesses are of interest: device memory, and the sections of __device__,
/// __constant__ and __managed__ variables, and pageable memory that copies of graphs use. Empty but in a program.
struct HostWatch {
  struct Range {
    std::uintptr_t begin = 0;
    std::size_t bytes = 0;
    bool holds(std::uintptr_t address) const { return address - begin < bytes; }
  };
  static constexpr int managed = 3, pageable = 4;  ///< of the ranges
  Range ranges[5];
  bool holds(std::uintptr_t address) const {
    return ranges[0].holds(address) || ranges[1].holds(address) || ranges[2].holds(address) ||
           ranges[3].holds(address) || ranges[pageable].holds(address);
  }
};
inline HostWatch host_watch;

/// An access that host_watch holds, by code that is no kernel's.
inline void (*host_touches)(std::uintptr_t address, std::size_t bytes, Use use, const void* pc) = nullptr;

/// free() or delete of device memory, which ranges[0] holds, by code that is no kernel's. `how`: "calls free()".
inline void (*host_releases)(std::uintptr_t address, const char* how, const void* pc) = nullptr;

/// An access by a kernel to device memory, where streams or the host may use it, too; null if they can't.
inline void (*kernel_uses)(std::uintptr_t address, std::size_t bytes, Use use, const void* pc) = nullptr;

/// Whether kernels may access this memory of the host; null: none of it.
inline bool (*is_registered)(std::uintptr_t address) = nullptr;

/// Whether code that is no kernel's may leave its variables, as a GPU's tools let it. Not code that is judged.
inline bool host_may_leave_variables = false;

}  // namespace simt
