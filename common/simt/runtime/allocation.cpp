#include "common/simt/runtime/allocation.hpp"

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <string>

#include "common/simt/run/executor.hpp"
#include "common/simt/runtime/call.hpp"
#include "common/simt/runtime/device.hpp"
#include "common/simt/runtime/mode.hpp"
#include "common/simt/runtime/pools.hpp"
#include "common/simt/runtime/stream_order.hpp"

namespace simt {
namespace {

std::size_t told_bytes = 0;

// What the system could still hand out, in bytes. malloc alone would promise more than there is.
std::size_t available_bytes() {
  if (told_bytes) return told_bytes;
  std::ifstream file("/proc/meminfo");
  std::string key, unit;
  for (std::size_t kib; file >> key >> kib; std::getline(file, unit)) {
    if (key == "MemAvailable:") return kib * 1024;
  }
  return ~std::size_t{0};
}

}  // namespace

void set_available_memory(std::size_t bytes) {
  told_bytes = bytes;
}

std::size_t free_bytes() {
  if (!runs_program()) return available_bytes();
  const std::size_t total = device_properties().totalGlobalMem;
  return std::min(available_bytes(), total - std::min(total, bytes_in_use()));
}

cudaError_t allocate(void** pointer, std::size_t bytes, Home home, const Call& call) {
  if (!pointer) return cudaErrorInvalidValue;
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  if (bytes <= free_bytes()) *pointer = add_piece(bytes, home, call);
  return *pointer ? cudaSuccess : cudaErrorMemoryAllocation;
}

std::function<cudaError_t()> freeing(const Piece& piece, const Call& call) {
  return [begin = piece.begin, bytes = piece.bytes, call] {
    if (auto* const order = StreamOrder::active()) order->by_work(begin, bytes, Use::write);
    auto* const pointer = reinterpret_cast<void*>(begin);
    remove_from_pool(pointer);
    remove_piece(pointer, Home::device, call);
    return cudaSuccess;
  };
}

}  // namespace simt
