// Times the installed library as another program sees it; knows nothing of the harness. Each line of the output is a JSON
// object (tools/measure/library.py starts it and reads them).
//
// usage: time_library first OP TYPE M N            the first call of a process, once there is a context
//        time_library prepare OP TYPE MxN...       compiles the kernels for exact sizes
//        time_library widths OP TYPE MIB MxN...    GB/s by kernels of any width and by those for exact sizes
//        time_library check OP TYPE                all widths by kernels of any width: small whole numbers, exactly
//        time_library sgemm N SECONDS              back to back: random numbers, zeros, and with pauses
//        time_library overhead                     host time of calls
// OP: tsmttsm or tsmm; TYPE: d or z. Exit status 2 and one line where something is wrong.
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <random>
#include <stdexcept>
#include <string>
#include <tensorcore/tcec_sgemm.hpp>
#include <thread>
#include <tsm/tall_skinny.hpp>
#include <vector>

namespace {

using Complex = std::complex<double>;
using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

void check(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}
template <class Status>
void check(const Status& status) {
  if (!status) throw std::runtime_error(status.reason);
}

struct Memory {
  void* data = nullptr;
  explicit Memory(std::size_t bytes) { check(cudaMalloc(&data, std::max<std::size_t>(bytes, 16))); }
  ~Memory() { cudaFree(data); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
};

__global__ void fill(double* to, std::int64_t count) {
  for (std::int64_t i = blockIdx.x * 256ll + threadIdx.x; i < count; i += gridDim.x * 256ll)
    to[i] = static_cast<double>(i * 2654435761u % 1024u) / 512 - 1;
}
__global__ void nothing() {}

template <class T>
__device__ T whole(std::int64_t i, int mostly) {
  const double re = static_cast<double>(i * 7 % mostly) - mostly / 2, im = static_cast<double>(i * 5 % 7) - 3;
  if constexpr (sizeof(T) == sizeof(double))
    return re;
  else
    return make_double2(re, im);
}
__device__ double times(double x, double y) {
  return x * y;
}
__device__ double2 times(double2 x, double2 y) {
  return make_double2(x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x);
}
__device__ void add(double& sum, double x) {
  sum += x;
}
__device__ void add(double2& sum, double2 x) {
  sum = make_double2(sum.x + x.x, sum.y + x.y);
}
__device__ bool equal(double x, double y) {
  return x == y;
}
__device__ bool equal(double2 x, double2 y) {
  return x.x == y.x && x.y == y.y;
}
template <class T>
__global__ void fill_whole(T* to, std::int64_t count) {
  for (std::int64_t i = blockIdx.x * 256ll + threadIdx.x; i < count; i += gridDim.x * 256ll) to[i] = whole<T>(i, 11);
}
/// Counts what is wrong in rows x cols of a product of `terms`, whose operands' elements of a term are `x_step` and `y_step`
/// apart, and of a row or column `x_row` and 1.
template <class T>
__global__ void compare(int rows, int cols, int terms, const T* x, int x_row, int x_step, const T* y, int y_step,
                        const T* is, int ld, int* wrong) {
  for (int i = blockIdx.x * 256 + threadIdx.x; i < rows * cols; i += gridDim.x * 256) {
    const int row = i / cols, col = i % cols;
    T sum{};
    for (int t = 0; t < terms; ++t) add(sum, times(x[row * x_row + t * x_step], y[col + t * y_step]));
    if (!equal(sum, is[row * ld + col])) atomicAdd(wrong, 1);
  }
}

/// A tall & skinny product with memory of its own, contiguous.
struct Tall {
  bool tsmm, z;
  int m, n;
  std::int64_t k;
  std::size_t element, workspace_bytes;
  Memory a, small, tall, workspace;

  Tall(const std::string& op, const std::string& type, int m, int n, std::int64_t k)
      : tsmm(op == "tsmm"),
        z(type == "z"),
        m(m),
        n(n),
        k(k),
        element(z ? 16 : 8),
        workspace_bytes(tall_skinny::tsmttsm_workspace(m, n, k, kind())),
        a(element * k * m),
        small(element * m * n),
        tall(element * k * n),
        workspace(workspace_bytes) {
    if ((!tsmm && op != "tsmttsm") || (!z && type != "d")) throw std::runtime_error("no product " + op + " " + type);
    for (const auto& [memory, count] : {std::pair(&a, k * m), {&small, std::int64_t{m} * n}, {&tall, k * n}})
      fill<<<1024, 256>>>(static_cast<double*>(memory->data), count * static_cast<std::int64_t>(element / 8));
    check(cudaDeviceSynchronize());
  }
  tall_skinny::Type kind() const { return z ? tall_skinny::Type::z : tall_skinny::Type::d; }
  double bytes() const { return static_cast<double>(element) * static_cast<double>(k) * (m + n); }

  template <class T>
  tall_skinny::Status run() const {
    T *const x = static_cast<T*>(a.data), *const c = static_cast<T*>(small.data), *const y = static_cast<T*>(tall.data);
    if (tsmm) return tall_skinny::tsmm(nullptr, m, n, k, T(1), x, m, c, n, T(0), y, n);
    return tall_skinny::tsmttsm(nullptr, m, n, k, T(1), x, m, y, n, T(0), c, n, false, workspace.data, workspace_bytes);
  }
  void operator()() const { check(z ? run<Complex>() : run<double>()); }
  void prepare() const {
    check(tsmm ? tall_skinny::prepare_tsmm(kind(), m, n, nullptr, m, nullptr, n)
               : tall_skinny::prepare_tsmttsm(kind(), m, n, nullptr, m, nullptr, n, false));
  }
};

std::pair<int, int> size_of(const char* text) {
  int m = 0, n = 0;
  if (std::sscanf(text, "%dx%d", &m, &n) != 2 || m < 1 || n < 1 || m > 64 || n > 64)
    throw std::runtime_error(std::string("sizes are MxN, to 64x64, not ") + text);
  return {m, n};
}

/// The median of some launches, in ms, each between events.
double median_ms(const std::function<void()>& work) {
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin));
  check(cudaEventCreate(&end));
  std::vector<double> all;
  for (int i = 0; i < 9; ++i) {
    check(cudaEventRecord(begin));
    work();
    check(cudaEventRecord(end));
    check(cudaEventSynchronize(end));
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin, end));
    if (i >= 2) all.push_back(ms);
  }
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  std::ranges::nth_element(all, all.begin() + all.size() / 2);
  return all[all.size() / 2];
}

template <class T, class Number>
int wrong_widths(bool tsmm) {
  const std::int64_t most = 2000 * 68;
  const Memory a(most * sizeof(T)), b(most * sizeof(T)), c(64 * 68 * sizeof(T)), counter(sizeof(int));
  T *const x = static_cast<T*>(a.data), *const y = static_cast<T*>(b.data), *const z = static_cast<T*>(c.data);
  const auto number = [](T* from) { return reinterpret_cast<Number*>(from); };
  int* const wrong = static_cast<int*>(counter.data);
  check(cudaMemset(wrong, 0, sizeof(int)));
  const auto type = sizeof(T) == 8 ? tall_skinny::Type::d : tall_skinny::Type::z;
  const std::size_t bytes = tall_skinny::tsmttsm_workspace(64, 64, 2000, type);
  const Memory workspace(bytes);
  for (int m = 1; m <= 64; ++m) {
    for (int n = 1; n <= 64; ++n) {
      const int pad = (m + n) % 4, off = pad == 3, k = 1 + (37 * m + 101 * n) % 1900, lda = m + pad, ldb = n + pad;
      fill_whole<<<256, 256>>>(x, most);
      fill_whole<<<256, 256>>>(y, most);
      fill_whole<<<16, 256>>>(z, 64 * 68);
      T *const from = x + off, *const tall = y + off;
      if (tsmm) {
        check(tall_skinny::tsmm(nullptr, m, n, k, Number(1), number(from), lda, number(z), n, Number(0), number(tall),
                                ldb));
        compare<<<256, 256>>>(k, n, m, from, lda, 1, z, n, tall, ldb, wrong);
      } else {
        check(tall_skinny::tsmttsm(nullptr, m, n, k, Number(1), number(from), lda, number(tall), ldb, Number(0),
                                   number(z), n, false, workspace.data, bytes));
        compare<<<256, 256>>>(m, n, k, from, 1, lda, tall, ldb, z, n, wrong);
      }
    }
  }
  int found = 0;
  check(cudaMemcpy(&found, wrong, sizeof found, cudaMemcpyDeviceToHost));
  return found;
}

void check_widths(const std::string& op, const std::string& type) {
  const bool tsmm = op == "tsmm";
  const int wrong = type == "z" ? wrong_widths<double2, Complex>(tsmm) : wrong_widths<double, double>(tsmm);
  std::printf("{\"op\": \"%s\", \"type\": \"%s\", \"pairs\": 4096, \"wrong_elements\": %d}\n", op.c_str(), type.c_str(),
              wrong);
}

void first(const std::string& op, const std::string& type, int m, int n) {
  check(cudaFree(nullptr));  // the context
  const Memory warm(1 << 20);
  nothing<<<1, 1>>>();
  check(cudaDeviceSynchronize());
  const auto asked = Clock::now();
  const std::size_t bytes =
      tall_skinny::tsmttsm_workspace(m, n, 1000, type == "z" ? tall_skinny::Type::z : tall_skinny::Type::d);
  const double workspace_ms = ms_since(asked);
  const Tall product(op, type, m, n, 1000);
  double ms[2], done[2];
  for (int i = 0; i < 2; ++i) {
    const auto begin = Clock::now();
    product();
    ms[i] = ms_since(begin);
    check(cudaDeviceSynchronize());
    done[i] = ms_since(begin);
  }
  std::printf(
      "{\"op\": \"%s\", \"type\": \"%s\", \"m\": %d, \"n\": %d, \"workspace_ms\": %.4f, \"workspace_bytes\": %zu, "
      "\"first_ms\": %.4f, \"first_done_ms\": %.4f, \"second_ms\": %.4f, \"second_done_ms\": %.4f}\n",
      op.c_str(), type.c_str(), m, n, workspace_ms, bytes, ms[0], done[0], ms[1], done[1]);
}

void widths(const std::string& op, const std::string& type, double mib, const std::pair<int, int>& size) {
  const auto [m, n] = size;
  const double row = (type == "z" ? 16.0 : 8.0) * (m + n);
  const Tall product(op, type, m, n, static_cast<std::int64_t>(mib * 1048576 / row));
  const double any = median_ms(std::cref(product));
  product.prepare();
  const double exact = median_ms(std::cref(product));
  std::printf(
      "{\"op\": \"%s\", \"type\": \"%s\", \"m\": %d, \"n\": %d, \"k\": %lld, \"any_gbytes_s\": %.1f, "
      "\"exact_gbytes_s\": %.1f}\n",
      op.c_str(), type.c_str(), m, n, static_cast<long long>(product.k), product.bytes() / any / 1e6,
      product.bytes() / exact / 1e6);
  std::fflush(stdout);
}

void sgemm(int n, double seconds) {
  const tcec_sgemm::Product product{.m = n, .n = n, .k = n};
  const std::size_t bytes = tcec_sgemm::sgemm_workspace(product), count = static_cast<std::size_t>(n) * n;
  const Memory a(count * 4), b(count * 4), c(count * 4), workspace(bytes);
  std::vector<float> host(count);
  std::mt19937 random(1);
  std::uniform_real_distribution<float> number(-1, 1);
  const auto multiply = [&] {
    check(tcec_sgemm::sgemm(nullptr, product, 1, static_cast<float*>(a.data), n, static_cast<float*>(b.data), n, 0,
                            static_cast<float*>(c.data), n, workspace.data, bytes));
  };
  // In windows of a tenth of a second, so that clocks are seen to fall; `pause`: after each product, as long as it took.
  const auto run = [&](const char* numbers, bool pause) {
    multiply();
    const double one = median_ms(multiply);
    const int launches = std::max(static_cast<int>(100 / one), 1);
    std::printf("{\"n\": %d, \"numbers\": \"%s\", \"pauses\": %s, \"alone_tflops\": %.1f, \"tflops\": [", n, numbers,
                pause ? "true" : "false", 2e-9 * n * n * n / one);
    const auto begin = Clock::now();
    for (int window = 0; window == 0 || ms_since(begin) < seconds * 1e3; ++window) {
      double ms = 0;
      if (pause) {
        for (int i = 0; i < launches / 2 + 1; ++i) {
          ms += median_ms(multiply) / (launches / 2 + 1);
          std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(9 * one));
        }
      } else {
        cudaEvent_t from, to;
        check(cudaEventCreate(&from));
        check(cudaEventCreate(&to));
        check(cudaEventRecord(from));
        for (int i = 0; i < launches; ++i) multiply();
        check(cudaEventRecord(to));
        check(cudaEventSynchronize(to));
        float elapsed = 0;
        check(cudaEventElapsedTime(&elapsed, from, to));
        cudaEventDestroy(from);
        cudaEventDestroy(to);
        ms = elapsed / launches;
      }
      std::printf("%s%.1f", window ? ", " : "", 2e-9 * n * n * n / ms);
    }
    std::printf("]}\n");
    std::fflush(stdout);
  };
  for (float* const each : {static_cast<float*>(a.data), static_cast<float*>(b.data)}) {
    std::ranges::generate(host, [&] { return number(random); });
    check(cudaMemcpy(each, host.data(), count * 4, cudaMemcpyHostToDevice));
  }
  run("uniform", false);
  run("uniform", true);
  check(cudaMemset(a.data, 0, count * 4));
  check(cudaMemset(b.data, 0, count * 4));
  run("zeros", false);
}

void overhead() {
  const auto tell = [](const char* name, const std::function<void()>& call) {
    std::vector<double> all;
    for (int i = 0; i < 50; ++i) {
      const auto begin = Clock::now();
      for (int j = 0; j < 50; ++j) call();
      all.push_back(ms_since(begin) * 1e3 / 50);
      check(cudaDeviceSynchronize());
    }
    std::ranges::sort(all);
    std::printf("{\"call\": \"%s\", \"us\": %.3f, \"p90_us\": %.3f}\n", name, all[25], all[45]);
  };
  int device = 0, value = 0;
  tell("cudaGetDevice", [&] { check(cudaGetDevice(&device)); });
  tell("cudaDeviceGetAttribute",
       [&] { check(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, device)); });
  tell("cudaFuncSetAttribute",
       [] { check(cudaFuncSetAttribute(nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536)); });
  tell("an empty kernel", [] { nothing<<<1, 1>>>(); });
  for (const char* const op : {"tsmttsm", "tsmm"}) {
    const Tall product(op, "d", 16, 16, 64);
    tell((std::string(op) + ", any width").c_str(), std::cref(product));
    product.prepare();
    tell((std::string(op) + ", prepared").c_str(), std::cref(product));
  }
  const tcec_sgemm::Product product{.m = 64, .n = 64, .k = 64};
  const std::size_t bytes = tcec_sgemm::sgemm_workspace(product);
  const Memory a(64 * 64 * 4), c(64 * 64 * 4), workspace(bytes);
  check(cudaMemset(a.data, 0, 64 * 64 * 4));
  float *const x = static_cast<float*>(a.data), *const y = static_cast<float*>(c.data);
  tell("sgemm", [&] { check(tcec_sgemm::sgemm(nullptr, product, 1, x, 64, x, 64, 0, y, 64, workspace.data, bytes)); });
}

int run(const std::vector<std::string>& words) {
  const std::size_t count = words.size();
  const std::string what = count ? words[0] : "";
  int devices = 0;
  check(cudaGetDeviceCount(&devices));
  if (what == "first" && count == 5) {
    first(words[1], words[2], std::atoi(words[3].c_str()), std::atoi(words[4].c_str()));
  } else if (what == "prepare" && count > 3) {
    for (std::size_t i = 3; i < count; ++i) {
      const auto [m, n] = size_of(words[i].c_str());
      Tall(words[1], words[2], m, n, 1).prepare();
    }
  } else if (what == "widths" && count > 4) {
    for (std::size_t i = 4; i < count; ++i)
      widths(words[1], words[2], std::atof(words[3].c_str()), size_of(words[i].c_str()));
  } else if (what == "check" && count == 3) {
    check_widths(words[1], words[2]);
  } else if (what == "sgemm" && count == 3) {
    sgemm(std::atoi(words[1].c_str()), std::atof(words[2].c_str()));
  } else if (what == "overhead" && count == 1) {
    overhead();
  } else {
    throw std::runtime_error("usage: time_library first|prepare|widths|sgemm|overhead ...");
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
