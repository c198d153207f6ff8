// Accesses to memory that the executor's own code makes on behalf of a kernel. Those in kernel code, and in what is
// inlined into it, report themselves (common/simt/run/hooks.cpp).
#pragma once

#include <cstddef>
#include <cstdint>

namespace simt {

/// How far an atomic operation or a fence reaches. There is one device, and the host waits while kernels run: the scope
/// of the system is the device's.
enum class Scope : std::uint8_t { block, device };

/// Notes one atomic read-modify-write of 4, 8 or 16 bytes (2: half) by the calling thread, at the caller's place `pc`
/// in the kernel. Does not return if the address is out of bounds.
void note_atomic(void* address, std::size_t bytes, Scope scope, const void* pc);

/// The operation that note_atomic() announced has been made. `acquires`: who uses its result needs no fence.
void note_atomic_done(void* address, Scope scope, bool acquires);

/// The kernel looks at the result of its last atomic operation there. To g++ this function does nothing but return the
/// token: so g++ leaves it out where the result is not used, and then the thread has learnt nothing from others.
[[gnu::const]] std::uint64_t note_result(const void* address, std::uint64_t token) noexcept;
/// The same, in any case.
void note_result_used(const void* address);

/// __threadfence() and its narrower and wider relatives.
void note_fence(Scope scope);

/// So many floating-point operations on a Tensor Core: once for the whole warp.
void note_tensor_flops(std::uint64_t flops);

/// cp.async by the calling thread: notes the read of `bytes` bytes at `from` and the write of `bytes + zeros` bytes at
/// `to` (shared memory; the last `zeros` of them become 0). The copy itself is made when the thread waits for it, so
/// that a wait forgotten shows.
void async_copy(void* to, const void* from, std::size_t bytes, std::size_t zeros, const void* pc);
void async_commit();
/// Waits until at most `pending` of the latest committed groups are under way.
void async_wait(int pending);
/// cp.async.wait_all: also what is not committed.
void async_wait_all();

/// About where in the kernel the calling code is: what stands for the call site of an access made on its behalf.
[[gnu::always_inline]] inline const void* here() {
  const void* pc;
#ifdef __x86_64__
  asm volatile("lea 0(%%rip), %0" : "=r"(pc));
#else
  asm volatile("adr %0, ." : "=r"(pc));
#endif
  return pc;
}

}  // namespace simt
