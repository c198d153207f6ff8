// A stage whose variants do to their process what no stage should: tests/cli/test_limits.py runs them, and knows the lines
// by the comments that end in the variant's name.
#include <sys/ptrace.h>
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
  executes,         // another program takes the process over
  forks,            // rightly: a process is left behind that never ends, and has all that is open
  forks_and_exits,  // the same, and the one that is waited for ends
  answers_twice,    // rightly: both processes go on
  host_writes,      // host code writes C
  host_reads,       // host code reads A
  host_product,     // the product is made by the host, and copied to C
  host_corrects,    // a kernel writes C, and the host copies something over an element of it
  old_product,      // the product is kept, and copied to C when the same problem comes again
  no_blocks,        // a grid of 0 blocks
  zeroed,           // rightly: C = 0 is the runtime's work, if it is all there is to do
  copied,           // rightly: kernels write elsewhere, and the runtime copies it to C within the device
  two_streams,      // kernels of two streams write C, in an order that nothing gives
  not_joined,       // C is ready when another stream is, not the one that was given
  joined,           // rightly: the same, and one stream waits for the other
  destroyed,        // C is ready when a stream is that is no more, and that only the default stream waits for
  default_stream,   // a kernel works in the default stream, not in the one that was given
  default_fill,     // a row of C is cleared in the default stream, before the product
  managed,          // rightly: host code writes and reads managed memory
  prints,           // a kernel prints, and then never ends
};

__device__ void more_than_a_stack(float* c, int i) {  // overflow
  volatile char local[100 * 1024];
  for (int at = i; at < static_cast<int>(sizeof local); at += 64) local[at] = 1;
  *c = local[i];
}

template <Way way>
__global__ void sgemm(gemm::SgemmProblem p, int zero) {
  const int col = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), row = static_cast<int>(blockIdx.y);
  if constexpr (way == Way::loop) {
    while (threadIdx.x == 5 && blockIdx.y == 1) continue;  // loop
  }
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
    while (zero == 0) continue;
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

int call_yourself(int depth) {    // host_overflow
  volatile char room[4096] = {};  // host_overflow
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
// Where the stage's static objects come into being, before main(), and where they end.
struct Static {
  Static() {
    if (is_asked_for("exit")) std::exit(0);
    if (is_asked_for("quick_exit")) std::quick_exit(0);
    if (is_asked_for("_exit")) _exit(0);
    if (is_asked_for("exec")) execl("/bin/true", "true", nullptr);
    if (is_asked_for("abort")) std::abort();
  }
  ~Static() {
    if (is_asked_for("late")) _exit(0);
  }
} const static_object;

__global__ void zeros(gemm::SgemmProblem p) {
  for (int col = threadIdx.x; col < p.n; col += blockDim.x) p.c[blockIdx.x * p.ldc + col] = 0;
}

// The product by a stream of its own, behind zeros by another one.
template <Way way>
gemm::Status in_two_streams(const gemm::SgemmProblem& p, cudaStream_t stream) {
  cudaStream_t mine;
  cudaStreamCreateWithFlags(&mine, cudaStreamNonBlocking);
  cudaEvent_t event;
  cudaEventCreate(&event);
  if constexpr (way != Way::two_streams) {
    cudaEventRecord(event, stream);
    cudaStreamWaitEvent(mine, event, 0);
  } else {
    zeros<<<p.m, 32, 0, stream>>>(p);  // two_streams
  }
  const dim3 grid(gemm::ceil_div(p.n, 32), p.m);
  sgemm<way><<<grid, 32, 0, mine>>>(p, 0);
  if constexpr (way != Way::not_joined) {
    cudaEventRecord(event, mine);
    cudaStreamWaitEvent(stream, event, 0);
  }
  cudaEventDestroy(event);
  cudaStreamDestroy(mine);
  return gemm::status_of(cudaGetLastError());
}

gemm::Status in_a_stream_that_goes(const gemm::SgemmProblem& p) {
  cudaStream_t mine;
  cudaStreamCreate(&mine);
  const dim3 grid(gemm::ceil_div(p.n, 32), p.m);
  sgemm<Way::right><<<grid, 32, 0, mine>>>(p, 0);
  cudaStreamDestroy(mine);
  return gemm::status_of(cudaGetLastError());
}

gemm::Status by_way_of_a_copy(gemm::SgemmProblem p, cudaStream_t stream) {
  const std::size_t pitch = p.ldc * sizeof(float), width = p.n * sizeof(float);
  float *const c = p.c, *other = nullptr;
  cudaMalloc(&other, pitch * p.m);
  cudaMemcpy2DAsync(other, pitch, c, pitch, width, p.m, cudaMemcpyDeviceToDevice, stream);
  p.c = other;
  const dim3 grid(gemm::ceil_div(p.n, 32), p.m);
  sgemm<Way::right><<<grid, 32, 0, stream>>>(p, 0);
  cudaMemcpy2DAsync(c, pitch, other, pitch, width, p.m, cudaMemcpyDeviceToDevice, stream);
  cudaFree(other);
  return gemm::status_of(cudaGetLastError());
}

template <Way way>
gemm::Status launch(const gemm::SgemmProblem& p, cudaStream_t stream) {
  if (is_asked_for("stop")) kill(getppid(), SIGSTOP);
  if (is_asked_for("trace")) ptrace(PTRACE_ATTACH, getppid(), nullptr, nullptr);
  if (is_asked_for("trace") || is_asked_for("sleep")) usleep(1000 * 1000 * 100);
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
    case Way::executes:
      execl("/bin/true", "true", nullptr);
      break;
    case Way::forks:
    case Way::forks_and_exits:
      if (fork() == 0) {
        setsid();
        usleep(1000 * 1000 * 100);
        _exit(0);
      }
      if (way == Way::forks_and_exits) _exit(0);
      break;
    case Way::answers_twice:
      fork();
      break;
    case Way::zeroed:
      if (p.depth() == 0 && p.beta == 0)
        return gemm::status_of(cudaMemset2DAsync(p.c, p.ldc * sizeof(float), 0, p.n * sizeof(float), p.m, stream));
      break;
    case Way::copied:
      return by_way_of_a_copy(p, stream);
    case Way::two_streams:
    case Way::not_joined:
    case Way::joined:
      return in_two_streams<way>(p, stream);
    case Way::destroyed:
      return in_a_stream_that_goes(p);
    case Way::default_stream:
      sgemm<way><<<dim3(gemm::ceil_div(p.n, 32), p.m), 32>>>(p, 0);
      return gemm::status_of(cudaGetLastError());
    case Way::default_fill:
      cudaMemset(p.c, 0, p.n * sizeof(float));
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
      gemm::launch(sgemm<way>, {.grid = {blocks, static_cast<unsigned>(p.m)}, .block = 32, .stream = stream}, p, zero);
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
    UNRULY(loop),         UNRULY(barriers),      UNRULY(spin),         UNRULY(sleep),           UNRULY(host_loop),
    UNRULY(overflow),     UNRULY(host_overflow), UNRULY(host_throw),   UNRULY(library_throw),   UNRULY(kernel_throw),
    UNRULY(host_abort),   UNRULY(kernel_abort),  UNRULY(host_divide),  UNRULY(kernel_divide),   UNRULY(null),
    UNRULY(trap),         UNRULY(host_exit),     UNRULY(kernel_exit),  UNRULY(quick),           UNRULY(underscore_exit),
    UNRULY(killed),       UNRULY(executes),      UNRULY(forks),        UNRULY(forks_and_exits), UNRULY(answers_twice),
    UNRULY(host_writes),  UNRULY(host_reads),    UNRULY(host_product), UNRULY(host_corrects),   UNRULY(old_product),
    UNRULY(no_blocks),    UNRULY(zeroed),        UNRULY(copied),       UNRULY(two_streams),     UNRULY(not_joined),
    UNRULY(joined),       UNRULY(destroyed),     UNRULY(managed),      UNRULY(prints),          UNRULY(default_stream),
    UNRULY(default_fill),
};

const gemm::Registration registration{
    "broken/01_unruly.cu",
    {.idea = "variants that are unruly on purpose", .launch = launch<Way::right>, .variants = variants}};

}  // namespace
