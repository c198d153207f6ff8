// Pageable memory that copies of graphs use. Other copies have done so when their calls return; those of a graph read and
// write it when the graph runs, while the host goes on. Internal to common/simt/; call with the runtime entered.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/simt/observe/use.hpp"
#include "common/simt/runtime/queue.hpp"

namespace simt {

/// Rows of bytes in slices of rows.
struct PageableBox {
  std::uintptr_t begin = 0;
  std::size_t width = 0, height = 1, depth = 1, pitch = 0, slice = 0;
  bool is_written = false;

  std::uintptr_t end() const { return begin + (depth - 1) * slice + (height - 1) * pitch + width; }
  bool holds(std::uintptr_t address) const;
};

/// This work, which has been issued, uses it, and no graph: whether one may do so meanwhile.
void meet_pageable_uses(const PageableBox& box, const WorkPointer& work);
/// This work of a graph, which has been issued, uses it.
void begin_pageable_use(const PageableBox& box, const WorkPointer& work);
/// Whether a look is worth it. Needs no entering.
bool may_be_in_pageable_use(std::uintptr_t address, std::size_t bytes = 16);
/// The host, or its function that is the work under way, accesses memory that nobody has allocated on the device.
void host_uses_pageable(std::uintptr_t address, std::size_t bytes, Use use, const void* pc);

}  // namespace simt
