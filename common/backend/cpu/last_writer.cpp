#include "common/backend/last_writer.hpp"

#include <fmt/format.h>

#include "common/simt/code/source_lines.hpp"
#include "common/simt/observe/inspection.hpp"

namespace gemm {

std::optional<std::string> last_writer(const std::function<void()>& run, const void* address) {
  simt::InspectionResult ignored;
  simt::Inspection inspection(ignored);
  std::optional<simt::ThreadContext> writer;
  std::uintptr_t place = 0;
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  inspection.on_global_write = [&](const simt::ThreadContext& thread, const void* to, std::size_t bytes,
                                   std::uintptr_t pc) {
    if (wanted - reinterpret_cast<std::uintptr_t>(to) >= bytes) return;
    writer = thread;
    place = pc;
  };
  run();
  if (!writer) return std::nullopt;
  const auto& [x, y, z] = writer->thread;
  const uint3 block = writer->block;
  return fmt::format("thread ({}, {}, {}) of block ({}, {}, {}) at {}", x, y, z, block.x, block.y, block.z,
                     simt::place_text(place));
}

}  // namespace gemm
