// The program of a submission: serves the judge, and can do little else. It is linked in behind the submission's kernels.
#include <fcntl.h>
#include <link.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <sched.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdio>
#include <iterator>

#include "common/backend/cpu/remote_stage.hpp"
#include "common/backend/device.hpp"
#include "common/simt/run/block.hpp"
#include "common/simt/run/executor.hpp"

namespace {

#ifdef __x86_64__
constexpr unsigned architecture = AUDIT_ARCH_X86_64;
#else
constexpr unsigned architecture = AUDIT_ARCH_AARCH64;
#endif

constexpr sock_filter load(std::size_t offset) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<unsigned>(offset));
}
constexpr sock_filter answer(unsigned what) {
  return BPF_STMT(BPF_RET | BPF_K, what);
}
// Skips `other` instructions unless the value is this.
constexpr sock_filter unless(unsigned value, unsigned char other = 1) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, other);
}
constexpr std::size_t argument(int i) {
  return offsetof(seccomp_data, args) + 8 * i;  // its lower half
}
#define ALLOW(call) unless(__NR_##call), answer(SECCOMP_RET_ALLOW)
#define REFUSE(call) unless(__NR_##call), answer(SECCOMP_RET_KILL_PROCESS)
// If all of `bits` are set in an argument, or none of them is.
#define ALLOW_WITH(call, i, bits)                                                                     \
  unless(__NR_##call, 5), load(argument(i)), BPF_STMT(BPF_ALU | BPF_AND | BPF_K, bits), unless(bits), \
      answer(SECCOMP_RET_ALLOW), load(offsetof(seccomp_data, nr))
#define ALLOW_WITHOUT(call, i, bits)                                                               \
  unless(__NR_##call, 5), load(argument(i)), BPF_STMT(BPF_ALU | BPF_AND | BPF_K, bits), unless(0), \
      answer(SECCOMP_RET_ALLOW), load(offsetof(seccomp_data, nr))
#define ALLOW_IF(call, i, value) \
  unless(__NR_##call, 4), load(argument(i)), unless(value), answer(SECCOMP_RET_ALLOW), load(offsetof(seccomp_data, nr))

// What the executor, libc and libstdc++ need to run kernels and to answer on a connection that is open: memory, threads
// of this process, reading its own file. No processes, no writing of files, no sockets: whatever is not here ends it.
constexpr sock_filter rules[] = {
    load(offsetof(seccomp_data, arch)),
    unless(architecture),
    load(offsetof(seccomp_data, nr)),
    ALLOW(read),
    ALLOW(write),
    ALLOW(readv),
    ALLOW(writev),
    ALLOW(recvfrom),
    ALLOW(sendto),
    ALLOW(close),
    ALLOW(lseek),
    ALLOW(fstat),
    ALLOW(newfstatat),
    ALLOW_WITHOUT(mmap, 2, PROT_EXEC),  // all code is loaded by now
    ALLOW_WITHOUT(mprotect, 2, PROT_EXEC),
    ALLOW(munmap),
    ALLOW(mremap),
    ALLOW(madvise),
    ALLOW(brk),
    ALLOW(futex),
    ALLOW(rt_sigaction),
    ALLOW(rt_sigprocmask),
    ALLOW(rt_sigreturn),
    ALLOW(sigaltstack),
    ALLOW(sched_yield),
    ALLOW(sched_getaffinity),
    ALLOW(getpid),
    ALLOW(gettid),
    ALLOW(tgkill),  // abort(): there is no other process to see
    ALLOW(getrandom),
    ALLOW(clock_gettime),
    ALLOW(clock_nanosleep),
    ALLOW(nanosleep),
    ALLOW(rseq),
    ALLOW(set_robust_list),
    ALLOW(exit),
    ALLOW(exit_group),
    ALLOW_WITH(clone, 0, CLONE_THREAD),
    // glibc asks for this one first, whose flags lie in memory, and is content with the older one.
    unless(__NR_clone3),
    answer(SECCOMP_RET_ERRNO | ENOSYS),
    ALLOW_WITHOUT(openat, 2, O_WRONLY | O_RDWR | O_CREAT | O_TRUNC),
    ALLOW(seccomp),                           // adds rules, and takes none away
    ALLOW_WITHOUT(prlimit64, 2, 0xffffffff),  // asks, and sets nothing
    ALLOW_IF(prlimit64, 1, RLIMIT_DATA),      // or takes some away from itself
    unless(__NR_readlinkat),
    answer(SECCOMP_RET_ERRNO | ENOENT),
#ifdef __NR_readlink
    unless(__NR_readlink),
    answer(SECCOMP_RET_ERRNO | ENOENT),
#endif
    answer(SECCOMP_RET_KILL_PROCESS),
};

// From when all threads run and all files are read: of the above, what makes more of them, and memory that RLIMIT_DATA
// does not count.
constexpr sock_filter later_rules[] = {
    load(offsetof(seccomp_data, nr)),
    REFUSE(clone),
    REFUSE(openat),
    REFUSE(seccomp),
    ALLOW_WITHOUT(mmap, 3, MAP_SHARED),
    REFUSE(mmap),
    answer(SECCOMP_RET_ALLOW),
};

template <std::size_t count>
bool filter_by(const sock_filter (&these)[count]) {
  const sock_fprog program{count, const_cast<sock_filter*>(these)};
  return syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}

// RLIMIT_DATA is set behind them.
constexpr std::size_t most_static_bytes = 256 << 20;

// Of variables, those of kernels' shared memory as well, which are each thread's own.
std::size_t static_bytes() {
  const auto* segment = reinterpret_cast<const ElfW(Phdr)*>(getauxval(AT_PHDR));
  std::size_t bytes = 0;
  for (auto left = getauxval(AT_PHNUM); left > 0; --left, ++segment) {
    if (segment->p_type == PT_LOAD || segment->p_type == PT_TLS) bytes += segment->p_memsz;
  }
  return bytes;
}

void limit(int resource, rlim_t most) {
  rlimit now{};
  if (getrlimit(static_cast<__rlimit_resource>(resource), &now) != 0) _exit(126);
  now.rlim_max = now.rlim_max < most ? now.rlim_max : most;
  now.rlim_cur = now.rlim_max;
  if (setrlimit(static_cast<__rlimit_resource>(resource), &now) != 0) _exit(126);
}

// Before any constructor of this program, so before the first line that a submission could run.
void give_up_rights(int, char**, char**) {
  if (static_bytes() > most_static_bytes) {
    std::fputs("error: the program has too much static memory\n", stderr);
    _exit(126);
  }
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_NOFILE, 16);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || !filter_by(rules)) {
    std::fputs("error: this system has no seccomp: a submission can't be run apart\n", stderr);
    _exit(126);
  }
}

[[gnu::section(".preinit_array"), gnu::used]] void (*const first)(int, char**, char**) = give_up_rights;

// Memory that the executor reserves is mostly addresses, so only it knows when it has all it needs.
void limit_memory(rlim_t more) {
  rlimit now{};
  getrlimit(RLIMIT_DATA, &now);
  const auto can_grow = [&](rlim_t most) {
    now.rlim_cur = most;
    setrlimit(RLIMIT_DATA, &now);
    void* const page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return page != MAP_FAILED && munmap(page, 4096) == 0;
  };
  rlim_t low = 0, high = rlim_t{1} << 46;
  while (high - low > (rlim_t{1} << 20)) {
    const rlim_t middle = low + (high - low) / 2;
    (can_grow(middle) ? high : low) = middle;
  }
  limit(RLIMIT_DATA, high + more);
}

// The executor's threads and addresses, and then the limit: before any constructor of a submission.
[[gnu::constructor(101)]] void take_what_is_needed() {
  gemm::open_device();
  simt::global_order();
  simt::worker_count();
  simt::set_available_memory(std::size_t{1} << 30);  // there is no /proc to read
  limit_memory(rlim_t{1} << 30);
  // glibc reads a file before it gives a thread's memory back, and before it makes many arenas: too late by then.
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
  mallopt(M_ARENA_MAX, static_cast<int>(simt::worker_count()) + 1);
}

}  // namespace

int main() {
  if (!filter_by(later_rules)) return 126;
  gemm::serve_stage(3);
  return 0;
}
