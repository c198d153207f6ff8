// Times the installed library as another program sees it. Each line of the output is a JSON object, for
// tools/measure/library.py.
//
// usage: time_library first OP TYPE M N         the first call of a process, once there is a context
//        time_library widths OP TYPE MIB MxN    GB/s by kernels of any width and for exact ones; MIB 0: only compiles
//        time_library sgemm N SECONDS           back to back, of random numbers, of short ones and of zeros
//        time_library calls                     host time
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>
#include <tensorcore/tcec_sgemm.hpp>
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

/// Numbers of [-1, 1) with so many bits behind the point: all that a float has, or as many as one FP16 holds.
enum class Numbers { random = 23, short_random = 9 };
template <class T>
__global__ void fill(T* to, std::int64_t count, Numbers numbers) {
  const int bits = static_cast<int>(numbers);
  for (std::int64_t i = blockIdx.x * 256ll + threadIdx.x; i < count; i += gridDim.x * 256ll) {
    std::uint64_t hash = (i + 1) * 0x9e3779b97f4a7c15ull;
    hash = (hash ^ hash >> 31) * 0xbf58476d1ce4e5b9ull;
    to[i] = static_cast<T>(hash >> (63 - bits)) / (1 << bits) - 1;
  }
}
__global__ void nothing() {}

/// Never freed: a process does one thing.
template <class T>
T* memory(std::int64_t count) {
  T* data = nullptr;
  check(cudaMalloc(&data, std::max<std::int64_t>(count, 1) * sizeof(T)));
  fill<<<1024, 256>>>(data, count, Numbers::random);
  check(cudaDeviceSynchronize());
  return data;
}

/// A tall & skinny product of contiguous matrices.
struct Tall {
  bool tsmm, z;
  int m, n;
  std::int64_t k;
  std::size_t bytes = 0;
  double *a, *small, *tall;
  void* workspace;

  Tall(const std::string& op, const std::string& type, int m, int n, std::int64_t k)
      : tsmm(op == "tsmm"), z(type == "z"), m(m), n(n), k(k) {
    if ((!tsmm && op != "tsmttsm") || (!z && type != "d")) throw std::runtime_error("no product " + op + " " + type);
    bytes = tall_skinny::tsmttsm_workspace(m, n, k, kind());
    a = memory<double>(words() * k * m);
    small = memory<double>(words() * m * n);
    tall = memory<double>(words() * k * n);
    workspace = memory<double>(static_cast<std::int64_t>(bytes / 8));
  }
  int words() const { return z ? 2 : 1; }
  tall_skinny::Type kind() const { return z ? tall_skinny::Type::z : tall_skinny::Type::d; }
  template <class T>
  tall_skinny::Status run() const {
    T *const x = reinterpret_cast<T*>(a), *const c = reinterpret_cast<T*>(small), *const y = reinterpret_cast<T*>(tall);
    if (tsmm) return tall_skinny::tsmm(nullptr, m, n, k, T(1), x, m, c, n, T(0), y, n);
    return tall_skinny::tsmttsm(nullptr, m, n, k, T(1), x, m, y, n, T(0), c, n, false, workspace, bytes);
  }
  void operator()() const { check(z ? run<Complex>() : run<double>()); }
  void prepare() const {
    check(tsmm ? tall_skinny::prepare_tsmm(kind(), m, n, nullptr, m, nullptr, n)
               : tall_skinny::prepare_tsmttsm(kind(), m, n, nullptr, m, nullptr, n, false));
  }
  /// The first numbers of the result, as many as C has.
  std::vector<double> result() const {
    std::vector<double> all(words() * std::min<std::int64_t>(m, k) * n);
    check(cudaMemcpy(all.data(), tsmm ? tall : small, all.size() * 8, cudaMemcpyDeviceToHost));
    return all;
  }
};

/// Of so many launches between two events, in ms each.
double ms_of(const std::function<void()>& work, int launches) {
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin));
  check(cudaEventCreate(&end));
  check(cudaEventRecord(begin));
  for (int i = 0; i < launches; ++i) work();
  check(cudaEventRecord(end));
  check(cudaEventSynchronize(end));
  float ms = 0;
  check(cudaEventElapsedTime(&ms, begin, end));
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  return ms / launches;
}
double median_ms(const std::function<void()>& work) {
  std::vector<double> all;
  for (int i = 0; i < 7; ++i) all.push_back(ms_of(work, 1));
  std::sort(all.begin(), all.end());
  return all[3];
}

void first(const std::string& op, const std::string& type, int m, int n) {
  check(cudaFree(nullptr));  // the context
  const auto asked = Clock::now();
  tall_skinny::tsmttsm_workspace(m, n, 1000, type == "z" ? tall_skinny::Type::z : tall_skinny::Type::d);
  double ms[2] = {ms_since(asked)};  // the library begins here
  const Tall product(op, type, m, n, 1000);
  for (double& each : ms) {
    const auto begin = Clock::now();
    product();
    each += ms_since(begin);
    check(cudaDeviceSynchronize());
  }
  std::printf("{\"op\": \"%s\", \"type\": \"%s\", \"m\": %d, \"n\": %d, \"first_ms\": %.4f, \"second_ms\": %.4f}\n",
              op.c_str(), type.c_str(), m, n, ms[0], ms[1]);
}

void widths(const std::string& op, const std::string& type, double mib, const char* size) {
  int m = 0, n = 0;
  if (std::sscanf(size, "%dx%d", &m, &n) != 2) throw std::runtime_error(std::string("no size MxN: ") + size);
  const double row = (type == "z" ? 16.0 : 8.0) * (m + n);
  const Tall product(op, type, m, n, std::max<std::int64_t>(static_cast<std::int64_t>(mib * 1048576 / row), 1));
  if (mib == 0) return product.prepare();
  const double any = median_ms(std::cref(product));
  const std::vector<double> of_any = product.result();
  product.prepare();
  const double exact = median_ms(std::cref(product));
  const std::vector<double> of_exact = product.result();
  double largest = 0, off = 0;
  for (std::size_t i = 0; i < of_any.size(); ++i) {
    largest = std::max(largest, std::abs(of_exact[i]));
    off = std::max(off, std::abs(of_any[i] - of_exact[i]));
  }
  const double bytes = row * static_cast<double>(product.k);
  std::printf(
      "{\"op\": \"%s\", \"type\": \"%s\", \"m\": %d, \"n\": %d, \"any_gbytes_s\": %.1f, \"exact_gbytes_s\": %.1f, "
      "\"difference\": %.2e}\n",
      op.c_str(), type.c_str(), m, n, bytes / any / 1e6, bytes / exact / 1e6, off / largest);
}

/// In windows of a tenth of a second, so that clocks are seen to fall.
void sgemm(int n, double seconds) {
  const tcec_sgemm::Product product{.m = n, .n = n, .k = n};
  const std::size_t bytes = tcec_sgemm::sgemm_workspace(product);
  const std::int64_t count = std::int64_t{n} * n;
  float *const a = memory<float>(count), *const b = memory<float>(count), *const c = memory<float>(count);
  double* const workspace = memory<double>(static_cast<std::int64_t>(bytes / 8));
  const auto multiply = [&] { check(tcec_sgemm::sgemm(nullptr, product, 1, a, n, b, n, 0, c, n, workspace, bytes)); };
  // Power depends on how many bits change: short numbers leave the second part of a split FP32 number at zero.
  for (const std::string numbers : {"random", "short", "zeros"}) {
    if (numbers == "short") {
      for (float* const operand : {a, b}) fill<<<1024, 256>>>(operand, count, Numbers::short_random);
    }
    if (numbers == "zeros") check(cudaMemset(a, 0, count * 4));
    const double one = median_ms(multiply), flops = 2e-9 * n * n * n;
    std::printf("{\"n\": %d, \"numbers\": \"%s\", \"alone_tflops\": %.1f, \"tflops\": [", n, numbers.c_str(),
                flops / one);
    const auto begin = Clock::now();
    for (int window = 0; window == 0 || ms_since(begin) < seconds * 1e3; ++window)
      std::printf("%s%.1f", window ? ", " : "", flops / ms_of(multiply, std::max(static_cast<int>(100 / one), 1)));
    std::printf("]}\n");
  }
}

void calls() {
  const auto tell = [](const std::string& name, const std::function<void()>& call) {
    std::vector<double> all;
    for (int i = 0; i < 50; ++i) {
      const auto begin = Clock::now();
      for (int j = 0; j < 50; ++j) call();
      all.push_back(ms_since(begin) * 1e3 / 50);
      check(cudaDeviceSynchronize());
    }
    std::sort(all.begin(), all.end());
    std::printf("{\"call\": \"%s\", \"us\": %.3f, \"p90_us\": %.3f}\n", name.c_str(), all[25], all[45]);
  };
  int device = 0, value = 0;
  tell("cudaGetDevice", [&] { check(cudaGetDevice(&device)); });
  tell("cudaDeviceGetAttribute",
       [&] { check(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, device)); });
  constexpr auto shared = cudaFuncAttributeMaxDynamicSharedMemorySize;
  tell("cudaFuncSetAttribute", [] { check(cudaFuncSetAttribute(nothing, shared, 65536)); });
  tell("an empty kernel", [] { nothing<<<1, 1>>>(); });
  for (const char* const op : {"tsmttsm", "tsmm"}) {
    const Tall product(op, "d", 16, 16, 64);
    tell(std::string(op) + ", any width", std::cref(product));
    product.prepare();
    tell(std::string(op) + ", prepared", std::cref(product));
  }
  const tcec_sgemm::Product product{.m = 64, .n = 64, .k = 64};
  const std::size_t bytes = tcec_sgemm::sgemm_workspace(product);
  float *const x = memory<float>(64 * 64), *const y = memory<float>(64 * 64);
  double* const workspace = memory<double>(static_cast<std::int64_t>(bytes / 8));
  tell("sgemm", [&] { check(tcec_sgemm::sgemm(nullptr, product, 1, x, 64, x, 64, 0, y, 64, workspace, bytes)); });
}

}  // namespace

int main(int argc, char** argv) try {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const std::string what = words.empty() ? "" : words[0];
  if (what == "first" && argc == 6)
    first(words[1], words[2], std::atoi(argv[4]), std::atoi(argv[5]));
  else if (what == "widths" && argc > 5)
    for (int i = 5; i < argc; ++i) widths(words[1], words[2], std::atof(argv[4]), argv[i]);
  else if (what == "sgemm" && argc == 4)
    sgemm(std::atoi(argv[2]), std::atof(argv[3]));
  else if (what == "calls" && argc == 2)
    calls();
  else
    throw std::runtime_error("usage: time_library first|widths|sgemm|calls ...");
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
