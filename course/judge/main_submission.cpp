// The program of a submission: serves the judge, and can do little else. It is linked in behind the submission's kernels.
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <iterator>

#include "common/backend/cpu/remote_stage.hpp"

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
// Skips the next instruction unless the value is this.
constexpr sock_filter unless(unsigned value) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
}
#define ALLOW(call) unless(__NR_##call), answer(SECCOMP_RET_ALLOW)

// What the executor, libc and libstdc++ need to run kernels and to answer on a connection that is open. No files, no
// processes, no threads, no sockets, no signals to others: whatever is not here ends the process.
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
    ALLOW(mmap),
    ALLOW(munmap),
    ALLOW(mremap),
    ALLOW(mprotect),
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
    ALLOW(getrandom),
    ALLOW(clock_gettime),
    ALLOW(clock_nanosleep),
    ALLOW(nanosleep),
    ALLOW(set_robust_list),
    ALLOW(exit),
    ALLOW(exit_group),
    answer(SECCOMP_RET_KILL_PROCESS),
};

void limit(int resource, rlim_t most) {
  rlimit now{};
  if (getrlimit(static_cast<__rlimit_resource>(resource), &now) != 0) _exit(126);
  now.rlim_max = now.rlim_max < most ? now.rlim_max : most;
  now.rlim_cur = now.rlim_max;
  if (setrlimit(static_cast<__rlimit_resource>(resource), &now) != 0) _exit(126);
}

// Before any constructor of this program, so before the first line that a submission could run.
void give_up_rights(int, char**, char**) {
  // As much memory as the executor's stacks take, and some; device memory is not in this.
  limit(RLIMIT_DATA, rlim_t{2} << 30);
  limit(RLIMIT_FSIZE, 0);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_NOFILE, 16);
  const sock_fprog program{static_cast<unsigned short>(std::size(rules)), const_cast<sock_filter*>(rules)};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    std::fputs("error: this system has no seccomp: a submission can't be run apart\n", stderr);
    _exit(126);
  }
}

[[gnu::section(".preinit_array"), gnu::used]] void (*const first)(int, char**, char**) = give_up_rights;

}  // namespace

int main() {
  gemm::serve_stage(3);
  return 0;
}
