// Who used which word of device, pinned and managed memory last, among the streams and the host: two uses that nothing
// orders, one of them a write, are reported, whichever ran first here. Only where there is anything but the default stream
// and device memory: else all is in order. Of a stage that the harness launches only what it does by <<<...>>> and by
// calls, once it has created a stream.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "common/simt/observe/use.hpp"
#include "common/simt/runtime/queue.hpp"

namespace simt {

class StreamOrder {
 public:
  /// Null while it is not needed.
  static StreamOrder* active() { return active_; }
  static void enable();
  /// Forgets who used what: all of that comes before what follows.
  static void start();
  /// As if these bytes were read by what comes next in the stream that the stage was given (observe/given_stream.hpp).
  static void read_next(std::uintptr_t address, std::size_t bytes);

  /// By the work under way, at this place in the code; null: where it was issued.
  void by_work(std::uintptr_t address, std::size_t bytes, Use use, const void* pc = nullptr);
  /// By the host, or by its function that is the work under way.
  void by_host(std::uintptr_t address, std::size_t bytes, Use use, const void* pc);
  /// Who has written this word last, if by an atomic or volatile access, else 0: who sees that learns what came before.
  std::uint32_t signal_at(std::uintptr_t address) const;

 private:
  StreamOrder() = default;
  void use(std::uint32_t id, std::uintptr_t address, std::size_t bytes, Use use, const void* pc);
  bool conflicts(std::uint64_t entry, std::uint64_t mine) const;
  void report(std::uint64_t entry, bool other_wrote, std::uint64_t mine, Use use, std::uintptr_t address);

  static inline StreamOrder* active_ = nullptr;
  std::atomic<std::uint64_t> host_known_{0};  ///< work, and up to which of its ids the host has told it of
  // For each word of device memory, as GlobalMemory counts them, the latest write and a read: see stream_order.cpp.
  std::atomic<std::uint64_t>* writes_ = nullptr;
  std::atomic<std::uint64_t>* reads_ = nullptr;
};

}  // namespace simt
