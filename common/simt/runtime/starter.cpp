#include "common/simt/runtime/starter.hpp"

#include <atomic>
#include <chrono>
#include <thread>

#include "common/simt/run/worker.hpp"
#include "common/simt/runtime/call.hpp"
#include "common/simt/runtime/mode.hpp"
#include "common/simt/runtime/queue.hpp"
#include "common/simt/runtime/stream_order.hpp"

namespace simt {
namespace {

using namespace std::chrono_literals;
constexpr auto glance = 20ms;
constexpr int glances_until_idle = 5;

std::atomic<std::uintptr_t> looked_at = 0;  // by the host, the last time that it was by an atomic or volatile access
std::atomic<bool> is_waiting = false;       // for the lock, which a host that waits by reading takes time and again

std::unique_lock<std::recursive_mutex> lock_runtime() {
  is_waiting = true;
  std::unique_lock lock(runtime_mutex());
  is_waiting = false;
  return lock;
}

// Whether something has been run: the host has made no call since it had made `calls`.
bool run_one(std::uint64_t calls) {
  auto lock = lock_runtime();
  if (!runs_program() || queued() == 0 || calls_made() != calls) return false;
  const Inside inside(std::move(lock));
  lets_host_by = true;
  const WorkPointer work = run_by_itself();
  const StreamOrder* const order = StreamOrder::active();
  // A host that has looked there sees the change, maybe without looking again.
  if (work->is_hosts || (order && looked_at && order->signal_at(looked_at) == work->id))
    host_learns_of(work->id, work->stream, work->before);
  return true;
}

void watch() {
  const NoHostThread watches;
  std::uint64_t calls = 0;
  for (int idle = 0;;) {
    std::this_thread::sleep_for(glance);
    {
      const auto lock = lock_runtime();
      idle = queued() > 0 && calls_made() == calls ? idle + 1 : 0;
      calls = calls_made();
    }
    while (idle >= glances_until_idle && run_one(calls)) {
    }
  }
}

}  // namespace

void start_when_host_idles() {
  static const bool started = (std::thread(watch).detach(), true);
  static_cast<void>(started);
}

std::unique_lock<std::recursive_mutex> lock_for_access(std::uintptr_t address, Use use) {
  if (signals(use)) looked_at = address;
  if (is_waiting) std::this_thread::sleep_for(20us);
  std::unique_lock lock(runtime_mutex(), std::try_to_lock);
  const auto end = std::chrono::steady_clock::now() + glance * glances_until_idle;
  while (!lock && !lets_host_by) {
    std::this_thread::sleep_for(20us);
    if (lock.try_lock()) break;
    // A kernel that another thread waits for may itself wait for this access.
    if (std::chrono::steady_clock::now() > end && is_hosts_too(address)) lets_host_by = true;
  }
  if (!lock && signals(use) && !is_read(use)) host_has_signalled = true;
  return lock;
}

}  // namespace simt
