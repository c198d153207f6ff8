// A stage whose variants do to their process what no stage should: tests/cli/test_limits.py runs them, and knows the lines
// by the comments that end in the variant's name.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "common/stage.cuh"

namespace {

enum class Way {
  right,
  loop,             // a kernel that never ends and accesses no memory
  barriers,         // that passes barriers for ever
  spin,             // that writes to memory for ever
  sleep,            // host code that sleeps
  host_loop,        // or calculates for ever
  overflow,         // a thread's local variables do not fit its stack
  host_overflow,    // host code that calls itself for ever
  host_throw,       // host code throws,
  library_throw,    // the C++ library on its behalf,
  kernel_throw,     // or a kernel
  host_abort,       // abort() in host code
  kernel_abort,     // and in a kernel
  host_divide,      // division by zero
  kernel_divide,    // and in a kernel
  null,             // host code follows a null pointer
  trap,             // a kernel's instruction is illegal
  host_exit,        // exit(0)
  kernel_exit,      // in a kernel
  quick,            // quick_exit(0)
  underscore_exit,  // _exit(0)
  killed,           // by a signal that cannot be handled
  host_writes,      // host code writes C
  host_reads,       // host code reads A
  host_product,     // the product is made by the host, and copied to C
  host_corrects,    // a kernel writes C, and the host copies something over an element of it
  old_product,      // the product is kept, and copied to C when the same problem comes again
  no_blocks,        // a grid of 0 blocks
  managed,          // rightly: host code writes and reads managed memory
  prints,           // a kernel prints, and then never ends
};

__device__ void endless(bool is_so) {
  while (is_so) continue;  // loop
}

__device__ void more_than_a_stack(float* c, int i) {  // overflow
  volatile char local[100 * 1024];
  for (int at = i; at < static_cast<int>(sizeof local); at += 64) local[at] = 1;
  *c = local[i];
}

template <Way way>
__global__ void sgemm(gemm::SgemmProblem p, int zero) {
  const int col = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), row = static_cast<int>(blockIdx.y);
  if constexpr (way == Way::loop) endless(threadIdx.x == 5 && blockIdx.y == 1);
  if constexpr (way == Way::barriers) {
    while (zero == 0) __syncthreads();  // barriers
  }
  if (col >= p.n) return;
  float* const c = p.c + row * p.ldc + col;
  if constexpr (way == Way::spin) {
    for (int i = 0; zero == 0; ++i) *c = static_cast<float>(i);  // spin
  }
  if constexpr (way == Way::prints) {
    if (col == 0 && row == 0) std::printf("step 1\n");
    endless(true);
  }
  if constexpr (way == Way::overflow) more_than_a_stack(c, zero);
  if constexpr (way == Way::kernel_throw) throw std::runtime_error("no way");  // kernel_throw
  if constexpr (way == Way::kernel_abort) std::abort();                        // kernel_abort
  if constexpr (way == Way::kernel_divide) zero = row / zero;                  // kernel_divide
  if constexpr (way == Way::trap) __builtin_trap();                            // trap
  if constexpr (way == Way::kernel_exit) std::exit(0);                         // kernel_exit
  float sum = static_cast<float>(zero);
  for (int i = 0; i < p.depth(); ++i) sum += p.a[row * p.lda + i] * p.b[i * p.ldb + col];
  *c = p.beta == 0.0f ? p.alpha * sum : p.alpha * sum + p.beta * *c;
}

volatile int zero = 0;
float* volatile nowhere = nullptr;

int call_yourself(int depth) {  // host_overflow
  volatile char room[4096] = {};
  return depth < 0 ? 0 : call_yourself(depth + 1) + room[depth % 4096];
}

// On the host, of matrices on the device.
gemm::Status host_product(const gemm::SgemmProblem& p) {
  const auto copy = [](const float* from, std::int64_t words) {
    std::vector<float> host(static_cast<std::size_t>(words));
    cudaMemcpy(host.data(), from, host.size() * sizeof(float), cudaMemcpyDeviceToHost);
    return host;
  };
  const auto a = copy(p.a, p.m * p.lda), b = copy(p.b, p.k * p.ldb);
  std::vector<float> row(static_cast<std::size_t>(p.n));
  for (int i = 0; i < p.m; ++i) {
    for (int j = 0; j < p.n; ++j) {
      float sum = 0;
      for (int l = 0; l < p.k; ++l) sum += a[i * p.lda + l] * b[l * p.ldb + j];
      row[static_cast<std::size_t>(j)] = p.alpha * sum;
    }
    cudaMemcpy(p.c + i * p.ldc, row.data(), row.size() * sizeof(float), cudaMemcpyHostToDevice);
  }
  return gemm::Status::ok();
}

// What the environment asks for, of the stage itself: it has no variant's name on the command line.
bool is_asked_for(const char* what) {
  const char* const asked = std::getenv("UNRULY");
  return asked && std::strcmp(asked, what) == 0;
}
const bool has_left = is_asked_for("exit") && (std::exit(0), true);

template <Way way>
gemm::Status launch(const gemm::SgemmProblem& p, cudaStream_t) {
  if (is_asked_for("sleep")) usleep(1000 * 1000 * 100);
  const unsigned blocks = way == Way::no_blocks ? 0 : static_cast<unsigned>(gemm::ceil_div(p.n, 32));
  static std::vector<float> kept;
  const std::size_t bytes = sizeof(float) * static_cast<std::size_t>(p.m) * p.ldc;
  switch (way) {
    case Way::sleep:
      usleep(1000 * 1000 * 100);  // sleep
      break;
    case Way::host_loop:
      while (zero == 0) continue;  // host_loop
      break;
    case Way::host_overflow:
      zero = call_yourself(0);
      break;
    case Way::host_throw:
      throw std::runtime_error("no way");  // host_throw
    case Way::library_throw:
      zero = std::vector<int>(3).at(static_cast<std::size_t>(p.m + 3));  // library_throw
      break;
    case Way::host_abort:
      std::abort();  // host_abort
    case Way::host_divide:
      zero = p.m / zero;  // host_divide
      break;
    case Way::null:
      *nowhere = 1;  // null
      break;
    case Way::host_exit:
      std::exit(0);  // host_exit
    case Way::quick:
      std::quick_exit(0);  // quick
    case Way::underscore_exit:
      _exit(0);
    case Way::killed:
      kill(getpid(), SIGKILL);
      break;
    case Way::host_writes:
      p.c[0] = 1;  // host_writes
      break;
    case Way::host_reads:
      if (p.a[p.m / 2] > 0) zero = 0;  // host_reads
      break;
    case Way::host_product:
      return host_product(p);
    case Way::old_product:
      if (!kept.empty()) return gemm::status_of(cudaMemcpy(p.c, kept.data(), bytes, cudaMemcpyHostToDevice));
      break;
    case Way::managed: {
      int* shared = nullptr;
      cudaMallocManaged(&shared, sizeof *shared);
      *shared = 0;
      zero = *shared;
      cudaFree(shared);
      break;
    }
    default:
      break;
  }
  const gemm::Status status =
      gemm::launch(sgemm<way>, {.grid = {blocks, static_cast<unsigned>(p.m)}, .block = 32}, p, zero);
  if (way == Way::old_product && status) {
    kept.resize(bytes / sizeof(float));
    cudaMemcpy(kept.data(), p.c, bytes, cudaMemcpyDeviceToHost);
  }
  if (way == Way::host_corrects && status) {
    const float one = 1;
    cudaMemcpy(p.c + p.ldc + 2, &one, sizeof one, cudaMemcpyHostToDevice);
  }
  return status;
}

template <Way way>
constexpr gemm::Variant variant(std::string_view name) {
  return {name, "unruly on purpose", launch<way>};
}
#define UNRULY(way) variant<Way::way>(#way)
constexpr gemm::Variant variants[] = {
    UNRULY(loop),        UNRULY(barriers),      UNRULY(spin),        UNRULY(sleep),         UNRULY(host_loop),
    UNRULY(overflow),    UNRULY(host_overflow), UNRULY(host_throw),  UNRULY(library_throw), UNRULY(kernel_throw),
    UNRULY(host_abort),  UNRULY(kernel_abort),  UNRULY(host_divide), UNRULY(kernel_divide), UNRULY(null),
    UNRULY(trap),        UNRULY(host_exit),     UNRULY(kernel_exit), UNRULY(quick),         UNRULY(underscore_exit),
    UNRULY(killed),      UNRULY(host_writes),   UNRULY(host_reads),  UNRULY(host_product),  UNRULY(host_corrects),
    UNRULY(old_product), UNRULY(no_blocks),     UNRULY(managed),     UNRULY(prints),
};

const gemm::Registration registration{
    "broken/01_unruly.cu",
    {.idea = "variants that are unruly on purpose", .launch = launch<Way::right>, .variants = variants}};

}  // namespace
