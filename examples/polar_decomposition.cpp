// The orthogonal factor of a square matrix's polar decomposition, by Newton and Schulz: X <- 1.5 X - 0.5 X X^T X, which is
// products of FP32 matrices and nothing else. How orthogonal X gets, |X^T X - I| / sqrt(n), is how precise the products
// are: with FP32's precision about 1e-6, with TF32 operands it stays a thousand times as large.
//
// It shows how cublasSgemm is exchanged for tcec_sgemm: the same arguments in the same order, the two operations and sizes
// in one struct, the stream in the place of the handle, and a workspace. On the CPU executor there is no cuBLAS.
//
// Source: N. J. Higham, "Functions of Matrices" (2008), 8.3.
#include <cuda_runtime.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "tensorcore/tcec_sgemm.hpp"
#if WITH_CUBLAS
#include <cublas_v2.h>
#endif

namespace {

struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};
void require(cudaError_t error, const char* doing) {
  if (error != cudaSuccess) throw Failure(fmt::format("could not {}: {}", doing, cudaGetErrorString(error)));
}

class Memory {
 public:
  explicit Memory(std::size_t bytes) : bytes_(bytes) { require(cudaMalloc(&data_, bytes), "allocate device memory"); }
  ~Memory() { cudaFree(data_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  float* floats() const { return static_cast<float*>(data_); }
  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_;
};

// C = alpha op(A) B + beta C of n x n matrices; `transposed`: A^T.
using Multiply =
    std::function<void(bool transposed, float alpha, const float* a, const float* b, float beta, float* c)>;

// What it was before the exchange.
#if WITH_CUBLAS
Multiply by_cublas(cublasHandle_t handle, int n, cublasMath_t math) {
  return [=](bool transposed, float alpha, const float* a, const float* b, float beta, float* c) {
    cublasSetMathMode(handle, math);
    const cublasStatus_t status = cublasSgemm(handle, transposed ? CUBLAS_OP_T : CUBLAS_OP_N, CUBLAS_OP_N, n, n, n,
                                              &alpha, a, n, b, n, &beta, c, n);
    if (status != CUBLAS_STATUS_SUCCESS) throw Failure(cublasGetStatusString(status));
  };
}
#endif

// And after it.
Multiply by_tcec(int n, const Memory& workspace) {
  return [n, &workspace](bool transposed, float alpha, const float* a, const float* b, float beta, float* c) {
    const tcec_sgemm::Product product{transposed ? tcec_sgemm::Operation::transpose : tcec_sgemm::Operation::none,
                                      tcec_sgemm::Operation::none, n, n, n};
    const tcec_sgemm::Status status =
        tcec_sgemm::sgemm(nullptr, product, alpha, a, n, b, n, beta, c, n, workspace.data(), workspace.bytes());
    if (!status) throw Failure(status.reason);
  };
}

// Entries uniform, scaled so that singular values lie below sqrt(3), where the iteration converges; and those near zero
// are kept away from it by a multiple of the identity.
std::vector<float> start(int n) {
  std::mt19937 engine(1);
  std::uniform_real_distribution<float> entry(-0.5f, 0.5f);
  std::vector<float> x(static_cast<std::size_t>(n) * n);
  for (float& v : x) v = entry(engine) / std::sqrt(static_cast<float>(n));
  for (int i = 0; i < n; ++i) x[static_cast<std::size_t>(i) * (n + 1)] += 0.9f;
  return x;
}

// |X^T X - I| / sqrt(n), the product in FP64 on the host, of some columns.
double distance_from_orthogonal(const std::vector<float>& x, int n) {
  double sum = 0;
  const int columns = std::min(n, 32);
  for (int i = 0; i < columns; ++i) {
    for (int j = 0; j < n; ++j) {
      double dot = i == j ? -1.0 : 0.0;
      for (int l = 0; l < n; ++l)
        dot += static_cast<double>(x[static_cast<std::size_t>(i) * n + l]) * x[static_cast<std::size_t>(j) * n + l];
      sum += dot * dot;
    }
  }
  return std::sqrt(sum / columns);
}

double solve(int n, int iterations, const Multiply& multiply, double& ms) {
  const std::size_t bytes = sizeof(float) * n * n;
  const Memory x(bytes), gram(bytes), next(bytes);
  const std::vector<float> begin = start(n);
  require(cudaMemcpy(x.data(), begin.data(), bytes, cudaMemcpyHostToDevice), "copy X");
  require(cudaDeviceSynchronize(), "wait");
  const auto from = std::chrono::steady_clock::now();
  for (int i = 0; i < iterations; ++i) {
    multiply(true, 1, x.floats(), x.floats(), 0, gram.floats());
    require(cudaMemcpyAsync(next.data(), x.data(), bytes, cudaMemcpyDeviceToDevice), "copy X");
    multiply(false, -0.5f, x.floats(), gram.floats(), 1.5f, next.floats());
    require(cudaMemcpyAsync(x.data(), next.data(), bytes, cudaMemcpyDeviceToDevice), "copy X");
  }
  require(cudaDeviceSynchronize(), "multiply");
  ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - from).count();
  std::vector<float> end(begin.size());
  require(cudaMemcpy(end.data(), x.data(), bytes, cudaMemcpyDeviceToHost), "copy the result");
  return distance_from_orthogonal(end, n);
}

int run(int n, int iterations) {
  constexpr double BOUND = 4e-6;  // what FP32 products reach
  const Memory workspace(
      tcec_sgemm::sgemm_workspace({tcec_sgemm::Operation::none, tcec_sgemm::Operation::none, n, n, n}));
  bool good = true;
  const auto report = [&](const char* name, const Multiply& multiply, bool precise) {
    double ms = 0, distance = solve(n, iterations, multiply, ms);
    if (WITH_CUBLAS) distance = solve(n, iterations, multiply, ms);  // the first run loads kernels
    const bool within = distance <= BOUND;
    good &= within || !precise;
    fmt::print("{:<16} |X^T X - I| / sqrt(n) = {:.1e}{}{}\n", name, distance,
               WITH_CUBLAS ? fmt::format(", {:.2f} ms", ms) : "",
               within    ? ""
               : precise ? "  ABOVE THE BOUND"
                         : "  above what FP32 reaches");
  };
  fmt::print("n = {}, {} iterations of 2 products\n", n, iterations);
#if WITH_CUBLAS
  cublasHandle_t handle = nullptr;
  if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) throw Failure("could not start cuBLAS");
  report("cublasSgemm", by_cublas(handle, n, CUBLAS_PEDANTIC_MATH), true);
  report("the same, TF32", by_cublas(handle, n, CUBLAS_TF32_TENSOR_OP_MATH), false);
#endif
  report("tcec_sgemm", by_tcec(n, workspace), true);
#if WITH_CUBLAS
  cublasDestroy(handle);
#endif
  return good ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("The orthogonal factor of a matrix, by FP32 products on Tensor Cores");
  int n = WITH_CUBLAS ? 2048 : 64, iterations = 16;
  app.add_option("--n", n, "rows and columns")->check(CLI::Range(1, 16384))->capture_default_str();
  app.add_option("--iterations", iterations, "of Newton and Schulz")->check(CLI::Range(1, 100))->capture_default_str();
  try {
    app.parse(argc, argv);
    return run(n, iterations);
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 2;
  }
}
