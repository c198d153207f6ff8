// Times Cholesky QR 2 of the installed library, and checks it; beside it cuSOLVER's Householder QR. tools/measure/qr.py
// builds it.
//
//   time_qr BYTES   a line of JSON with bandwidths, then one for each case, X of BYTES
#include <cusolverDn.h>

#include <cmath>
#include <complex>
#include <cstdlib>
#include <string>

#include "timing.cuh"

namespace {

constexpr std::int64_t FEW_ROWS = 20'000;

using ::check;
void check(cusolverStatus_t status) {
  if (status != CUSOLVER_STATUS_SUCCESS) throw std::runtime_error("cuSOLVER: status " + std::to_string(status));
}
/// Numbers from -1 to 1. The columns behind `apart` words are those words, but for a part of `different`.
__global__ void fill(double* x, std::int64_t rows, int ld, int apart, double different) {
  each_word(rows * ld, [&](std::int64_t i) {
    const std::int64_t col = i % ld;
    x[i] = random_number(i - col + col % apart) + (col < apart ? 0 : different * random_number(i));
  });
}
/// The sum of |x - y|^2 and of |y|^2.
__global__ void compare(const double* x, const double* y, std::int64_t rows, int width, int ld, double* sums) {
  double difference = 0, size = 0;
  each_word(rows * ld, [&](std::int64_t i) {
    if (i % ld >= width) return;
    difference += (x[i] - y[i]) * (x[i] - y[i]);
    size += y[i] * y[i];
  });
  atomicAdd(&sums[0], difference);
  atomicAdd(&sums[1], size);
}

struct Room {
  double *x, *copy, *product, *r, *gram, *workspace, *sums = allocate(16);
  int *method = reinterpret_cast<int*>(allocate(8)), *info = method + 1;
  std::size_t workspace_bytes = std::size_t{256} << 20;
  cusolverDnHandle_t cusolver;

  explicit Room(std::size_t bytes) {
    for (double** each : {&x, &copy, &product}) *each = allocate(2 * bytes);
    for (double** each : {&r, &gram}) *each = allocate(64 * 64 * 16);
    workspace = allocate(workspace_bytes);
    check(cusolverDnCreate(&cusolver));
  }
};

/// In ms, where its interface has 32 bits for the rows; by columns, as it wants them.
double cusolver_ms(const Room& room, bool is_complex, std::int64_t k, int n) {
  const int m = static_cast<int>(k);
  int one = 0, other = 0;
  double *const a = room.x, *const tau = room.gram;
  auto *const za = reinterpret_cast<cuDoubleComplex*>(a), *const ztau = reinterpret_cast<cuDoubleComplex*>(tau);
  check(is_complex ? cusolverDnZgeqrf_bufferSize(room.cusolver, m, n, za, m, &one)
                   : cusolverDnDgeqrf_bufferSize(room.cusolver, m, n, a, m, &one));
  check(is_complex ? cusolverDnZungqr_bufferSize(room.cusolver, m, n, n, za, m, ztau, &other)
                   : cusolverDnDorgqr_bufferSize(room.cusolver, m, n, n, a, m, tau, &other));
  const int words = std::max(one, other);
  double* const work = allocate(static_cast<std::size_t>(words) * (is_complex ? 16 : 8));
  auto* const zwork = reinterpret_cast<cuDoubleComplex*>(work);
  const double ms = time_of(3, [&] {
    check(is_complex ? cusolverDnZgeqrf(room.cusolver, m, n, za, m, ztau, zwork, words, room.info)
                     : cusolverDnDgeqrf(room.cusolver, m, n, a, m, tau, work, words, room.info));
    check(is_complex ? cusolverDnZungqr(room.cusolver, m, n, n, za, m, ztau, zwork, words, room.info)
                     : cusolverDnDorgqr(room.cusolver, m, n, n, a, m, tau, work, words, room.info));
  });
  cudaFree(work);
  return ms;
}

void measure(const Room& room, bool is_complex, int n, int gap, std::size_t bytes) {
  const int words = is_complex ? 2 : 1, ld = n + gap;
  const std::int64_t k = bytes / (8 * words * n);
  const auto qr = [&](std::int64_t rows) {
    check(is_complex ? staged_gemm_zcholesky_qr2(nullptr, n, rows, room.x, ld, room.r, n, room.method, room.workspace,
                                                 room.workspace_bytes)
                     : staged_gemm_dcholesky_qr2(nullptr, n, rows, room.x, ld, room.r, n, room.method, room.workspace,
                                                 room.workspace_bytes));
  };
  const auto prepare = [&](int apart, double different) {
    fill<<<BLOCKS, THREADS>>>(room.copy, k, ld * words, apart * words, different);
  };
  const auto restore = [&] { check(cudaMemcpyAsync(room.x, room.copy, 8 * words * k * ld, cudaMemcpyDeviceToDevice)); };
  const auto method = [&] {
    int found = 0;
    check(cudaMemcpy(&found, room.method, sizeof found, cudaMemcpyDeviceToHost));
    return found;
  };
  const std::complex<double> one = 1, zero = 0;
  // |Q^H Q - I| and |Q R - X| / |X|
  const auto errors = [&] {
    restore();
    qr(k);
    check(cudaMemset(room.sums, 0, 16));
    if (is_complex) {
      check(staged_gemm_ztsmttsm(nullptr, 1, n, n, k, &one, room.x, ld, room.x, ld, &zero, room.gram, n, room.workspace,
                                 room.workspace_bytes));
      check(staged_gemm_ztsmm(nullptr, n, n, k, &one, room.x, ld, room.r, n, &zero, room.product, ld));
    } else {
      check(staged_gemm_dtsmttsm(nullptr, n, n, k, 1, room.x, ld, room.x, ld, 0, room.gram, n, room.workspace,
                                 room.workspace_bytes));
      check(staged_gemm_dtsmm(nullptr, n, n, k, 1, room.x, ld, room.r, n, 0, room.product, ld));
    }
    compare<<<BLOCKS, THREADS>>>(room.product, room.copy, k, n * words, ld * words, room.sums);
    double sums[2];
    std::vector<double> gram(n * n * words);
    check(cudaMemcpy(sums, room.sums, sizeof sums, cudaMemcpyDeviceToHost));
    check(cudaMemcpy(gram.data(), room.gram, gram.size() * 8, cudaMemcpyDeviceToHost));
    double deviation = 0;
    for (int i = 0; i < n * n * words; ++i) {
      const double wanted = i % words == 0 && i / words % (n + 1) == 0 ? 1 : 0;
      deviation += (gram[i] - wanted) * (gram[i] - wanted);
    }
    std::printf("{\"method\": %d, \"deviation\": %.2e, \"residual\": %.2e, ", method(), std::sqrt(deviation),
                std::sqrt(sums[0] / sums[1]));
  };
  std::printf("{\"type\": \"%s\", \"n\": %d, \"ld\": %d, \"k\": %lld, \"of\": [", is_complex ? "z" : "d", n, ld,
              static_cast<long long>(k));
  prepare(ld, 0);
  errors();
  std::printf("\"ms\": %.5g}", time_of(9, restore, [&] { qr(k); }));
  // Two columns that are almost the same: condition numbers of 1e10, and of no end.
  for (const double different : {1e-10, 0.0}) {
    if (n == 1) continue;
    prepare(n - 1, different);
    std::printf(", ");
    errors();
    std::printf("\"ms\": %.5g}", time_of(2, restore, [&] { qr(k); }));
  }
  prepare(ld, 0);
  restore();
  std::printf("], \"few_rows_us\": %.5g", 1e3 * time_of(
                                                    9, [] {}, [&] { qr(std::min(k, FEW_ROWS)); }));
  if (gap == 0) {
    try {
      std::printf(", \"cusolver_ms\": %.5g", cusolver_ms(room, is_complex, k, n));
    } catch (const std::exception& error) {  // the rest is worth having
      std::printf(", \"cusolver_ms\": null");
      std::fprintf(stderr, "time_qr: n %d: %s\n", n, error.what());
    }
  }
  std::printf("}\n");
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2 || std::atof(argv[1]) < 1e7) {
    std::fprintf(stderr, "time_qr: BYTES, at least 1e7\n");
    return 2;
  }
  const auto bytes = static_cast<std::size_t>(std::atof(argv[1]));
  const Room room(bytes);
  print_bandwidths(room.x, bytes, room.sums);
  for (const bool is_complex : {false, true}) {
    for (const int n : {1, 4, 8, 16, 32, 48, 64}) {
      for (const int gap : {0, 1}) measure(room, is_complex, n, gap, bytes);
    }
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "time_qr: %s\n", error.what());
  return 1;
}
