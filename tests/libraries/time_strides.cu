// Times tall & skinny products of rows that lie anywhere, through the installed library and by cuBLAS, and checks them.
// tools/measure/strides.py builds it, and says what comes of it.
//
//   time_strides ceilings         a line of JSON: bandwidths, Tensor Cores' peak, and what a launch takes in any case
//   time_strides prepare          compiles kernels for the cases
//   time_strides products BYTES   times and checks them; BYTES of A and B are touched
//
// A case is a line of standard input, "tsmttsm d 48 39 48 40 0 0": operation, type, m, n, lda, ldb, and by how many
// elements A and B are displaced from an aligned address. Between the rows there are NaNs, which nobody may change or
// multiply with.
#include <cublas_v2.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "timing.cuh"

namespace {

using Complex = std::complex<double>;

constexpr long long UNTOUCHED = 0x7ff8000000001234;  // a NaN
constexpr int TURNS = 7;
constexpr std::size_t ROOM = std::size_t{12} << 30;  // bytes of each matrix: narrow rows far apart take so much
constexpr std::size_t WORKSPACE = std::size_t{256} << 20;
// cuBLAS adds up rows of narrow matrices one by one, for seconds, and so rounds more than what it is to judge.
constexpr std::int64_t ROWS_OF_REFERENCE = 1 << 20;
constexpr float LONG_MS = 100;

using ::check;
void check(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS) throw std::runtime_error(cublasGetStatusString(status));
}

__global__ void fill(double* to, std::int64_t rows, int width, std::int64_t ld, std::uint64_t seed) {
  each_word(rows * ld, [&](std::int64_t i) {
    to[i] = i % ld < width ? random_number(i + (seed << 32)) : __longlong_as_double(UNTOUCHED);
  });
}
/// The largest difference of two matrices, and how many words between the first one's rows are not as they were.
__global__ void compare(const double* x, const double* y, std::int64_t rows, int width, std::int64_t ld,
                        unsigned long long* largest, unsigned long long* changed) {
  each_word(rows * ld, [&](std::int64_t i) {
    if (i % ld >= width) {
      if (__double_as_longlong(x[i]) != UNTOUCHED) atomicAdd(changed, 1);
    } else if (const double difference = fabs(x[i] - y[i]); difference != 0) {
      // Bits of numbers that are not negative are in the order of the numbers; NaNs are above all.
      atomicMax(largest, static_cast<unsigned long long>(__double_as_longlong(difference)));
    }
  });
}

/// What it takes to read rows of A, and to read or write those of B, and to multiply nothing. rows: of a block at a time.
template <bool writes>
__global__ void __launch_bounds__(THREADS) touch(const double* a, int width_a, std::int64_t lda, double* b, int width_b,
                                                 std::int64_t ldb, std::int64_t k, int rows) {
  double sum = 0;
  const auto each = [&](int width, std::int64_t begin, std::int64_t end, auto what) {
    const int at_a_time = THREADS / width, col = threadIdx.x % width;
    std::int64_t row = begin + threadIdx.x / width;
    if (threadIdx.x / width >= at_a_time) return;
    for (; row + 7 * at_a_time < end; row += 8 * at_a_time) {
#pragma unroll
      for (int u = 0; u < 8; ++u) what(row + u * at_a_time, col);
    }
    for (; row < end; row += at_a_time) what(row, col);
  };
  for (std::int64_t begin = static_cast<std::int64_t>(blockIdx.x) * rows; begin < k; begin += gridDim.x * rows) {
    const std::int64_t end = begin + rows < k ? begin + rows : k;
    each(width_a, begin, end, [&](std::int64_t row, int col) { sum += a[row * lda + col]; });
    if (width_b == 0) continue;
    each(width_b, begin, end, [&](std::int64_t row, int col) {
      if (writes)
        b[row * ldb + col] = 1;
      else
        sum += b[row * ldb + col];
    });
  }
  if (sum == 0x1.23456p-300) b[0] = sum;  // or nvcc would leave the loads out
}
/// Blocks that write live shortly, with 4,096 words: memory is faster so (docs/tsm/probes.md#lives).
template <bool writes>
void start_touch(const double* a, int width_a, std::int64_t lda, double* b, int width_b, std::int64_t ldb,
                 std::int64_t k) {
  const int rows = writes ? std::max(4096 / (width_a + width_b), 1) : 128;
  const auto blocks = writes ? static_cast<unsigned>((k + rows - 1) / rows) : BLOCKS;
  touch<writes><<<blocks, THREADS>>>(a, width_a, lda, b, width_b, ldb, k, rows);
}
__global__ void nothing() {}
/// Products of 16 x 8 x 4 on Tensor Cores, each warp `times` times eight of them.
__global__ void multiply_only(int times, double* out) {
  double sum[8][4] = {};
  for (int i = 0; i < times; ++i) {
#pragma unroll
    for (auto& its : sum)
      asm volatile(
          "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
          : "+d"(its[0]), "+d"(its[1]), "+d"(its[2]), "+d"(its[3])
          : "d"(1.0), "d"(1.0), "d"(1.0));
  }
  double all = 0;  // or they would be left out
  for (const auto& its : sum) all += its[0] + its[3];
  if (all < 0) *out = all;
}

struct Sectors {
  double touched, partial;  // of 32 bytes, for a row
};
/// Of rows of `width` words every `ld` words, the first one at word `begin`.
Sectors sectors_of(std::int64_t begin, int width, std::int64_t ld) {
  constexpr int rows = 64;
  std::vector<std::int64_t> words;
  for (int row = 0; row < rows; ++row) {
    for (int col = 0; col < width; ++col) words.push_back((begin + row * ld + col) / 4);
  }
  Sectors found{};
  for (std::size_t i = 0, next; i < words.size(); i = next) {
    for (next = i; next < words.size() && words[next] == words[i];) ++next;
    found.touched += 1.0 / rows;
    // What the first row and the last one share with others counts as theirs.
    const bool inside = i > 0 && next < words.size();
    found.partial += next - i < 4 && (inside || ld != width) ? 1.0 / rows : 0;
  }
  return found;
}

/// Medians in ms of some works that take turns, each time twice; of one that takes long, its only time.
std::vector<double> in_turns(const std::vector<std::function<void()>>& works) {
  std::vector<std::vector<double>> samples(works.size());
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin));
  check(cudaEventCreate(&end));
  for (int turn = 0; turn < TURNS; ++turn) {
    for (std::size_t i = 0; i < works.size(); ++i) {
      if (turn > 0 && samples[i][0] > LONG_MS) continue;
      check(cudaEventRecord(begin));
      for (int launch = 0; launch < 2; ++launch) works[i]();
      check(cudaEventRecord(end));
      check(cudaEventSynchronize(end));
      float ms = 0;
      check(cudaEventElapsedTime(&ms, begin, end));
      samples[i].push_back(ms / 2);
    }
  }
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  std::vector<double> medians;
  for (std::vector<double>& its : samples) {
    const auto middle = its.begin() + std::ssize(its) / 2;
    std::ranges::nth_element(its, middle);
    medians.push_back(*middle);
  }
  return medians;
}

struct Case {
  std::string op, type;
  int m, n;
  std::int64_t lda, ldb;
  int off_a, off_b;

  bool tsmm() const { return op == "tsmm"; }
  bool gram() const { return op == "gram"; }  // TSMTTSM of A and A
  bool is_complex() const { return type == "z"; }
  int words() const { return is_complex() ? 2 : 1; }  // of an element
};
std::istream& operator>>(std::istream& in, Case& c) {
  return in >> c.op >> c.type >> c.m >> c.n >> c.lda >> c.ldb >> c.off_a >> c.off_b;
}

void prepare(const Case& c) {
  // Nothing is read. The same address says that B is A.
  const auto at = [&](int matrix, int offset) {
    return reinterpret_cast<const void*>(std::uintptr_t{4096} * matrix + std::uintptr_t(8) * offset * c.words());
  };
  const void *const a = at(1, c.off_a), *const b = c.gram() ? a : at(2, c.off_b);
  check(c.tsmm() ? staged_gemm_prepare_tsmm(c.is_complex(), c.m, c.n, a, c.lda, b, c.ldb)
                 : staged_gemm_prepare_tsmttsm(c.is_complex(), c.m, c.n, a, c.lda, b, c.ldb, 1));
}

/// Memory for all cases.
struct Room {
  double *a = allocate(ROOM), *b = allocate(ROOM), *other_b = allocate(ROOM), *c = allocate(64 * 64 * 16),
         *other_c = allocate(64 * 64 * 16), *workspace = allocate(WORKSPACE);
  unsigned long long* found = reinterpret_cast<unsigned long long*>(allocate(16));
  cublasHandle_t cublas;
  std::size_t granularity = 0;  // of what the L2 cache fetches
  Room() {
    check(cublasCreate(&cublas));
    check(cudaDeviceGetLimit(&granularity, cudaLimitMaxL2FetchGranularity));
  }
};

void measure(const Case& c, const Room& room, double bytes) {
  prepare(c);
  const int w = c.words(), width_a = c.m * w, width_b = c.n * w;
  const std::int64_t lda = c.lda * w, ldb = c.ldb * w;
  double *const a = room.a + c.off_a * w, *const b = c.gram() ? a : room.b + c.off_b * w,
                *const other = room.other_b + c.off_b * w;
  const Sectors of_a = sectors_of(c.off_a * w, width_a, lda),
                of_b = c.gram() ? Sectors{} : sectors_of(c.off_b * w, width_b, ldb);
  const double row_bytes = 32 * (of_a.touched + of_b.touched + (c.tsmm() ? of_b.partial : 0));
  const auto k = std::min(static_cast<std::int64_t>(bytes / row_bytes),
                          static_cast<std::int64_t>(ROOM / 8 - 1024) / std::max(lda, ldb));

  fill<<<BLOCKS, THREADS>>>(a, k, width_a, lda, 1);
  if (!c.gram()) fill<<<BLOCKS, THREADS>>>(b, k, width_b, ldb, 2);
  if (c.tsmm()) {
    fill<<<BLOCKS, THREADS>>>(other, k, width_b, ldb, 2);
    fill<<<BLOCKS, THREADS>>>(room.c, c.m, width_b, width_b, 3);
  }
  const Complex one = 1, zero = 0;
  const auto ours = [&](double* out) {
    if (c.tsmm())
      check(c.is_complex() ? staged_gemm_ztsmm(nullptr, c.m, c.n, k, &one, a, c.lda, room.c, c.n, &zero, out, c.ldb)
                           : staged_gemm_dtsmm(nullptr, c.m, c.n, k, 1, a, c.lda, room.c, c.n, 0, out, c.ldb));
    else
      check(c.is_complex() ? staged_gemm_ztsmttsm(nullptr, 1, c.m, c.n, k, &one, a, c.lda, b, c.ldb, &zero, out, c.n,
                                                  room.workspace, WORKSPACE)
                           : staged_gemm_dtsmttsm(nullptr, c.m, c.n, k, 1, a, c.lda, b, c.ldb, 0, out, c.n,
                                                  room.workspace, WORKSPACE));
  };
  // Row-major C = A^T B is C^T = B^T A by columns, and so on. At most so many rows a call, whose products are added.
  const auto by_cublas = [&](double* out, std::int64_t rows) {
    const auto multiply = [&](auto gemm, cublasOperation_t op, auto one, auto zero) {
      const auto of = [](double* x, std::int64_t at = 0) { return reinterpret_cast<decltype(one)*>(x) + at; };
      for (std::int64_t at = 0; at < k; at += rows) {
        const auto size = std::min(rows, k - at);
        const auto* const beta = at > 0 && !c.tsmm() ? &one : &zero;
        check(c.tsmm() ? gemm(room.cublas, CUBLAS_OP_N, CUBLAS_OP_N, c.n, size, c.m, &one, of(room.c), c.n,
                              of(a, at * c.lda), c.lda, beta, of(out, at * c.ldb), c.ldb)
                       : gemm(room.cublas, CUBLAS_OP_N, op, c.n, c.m, size, &one, of(b, at * c.ldb), c.ldb,
                              of(a, at * c.lda), c.lda, beta, of(out), c.n));
      }
    };
    if (c.is_complex())
      multiply(cublasZgemm_64, CUBLAS_OP_C, cuDoubleComplex{1, 0}, cuDoubleComplex{0, 0});
    else
      multiply(cublasDgemm_64, CUBLAS_OP_T, 1.0, 0.0);
  };
  const auto theirs = [&](double* out) { by_cublas(out, k); };
  double *const out = c.tsmm() ? b : room.c, *const other_out = c.tsmm() ? other : room.other_c;
  ours(out);
  by_cublas(other_out, ROWS_OF_REFERENCE);
  check(cudaMemset(room.found, 0, 16));
  compare<<<BLOCKS, THREADS>>>(out, other_out, c.tsmm() ? k : c.m, width_b, c.tsmm() ? ldb : width_b, room.found,
                               room.found + 1);
  unsigned long long found[2];
  check(cudaMemcpy(found, room.found, sizeof found, cudaMemcpyDeviceToHost));
  double error;
  std::copy_n(reinterpret_cast<const char*>(found), sizeof error, reinterpret_cast<char*>(&error));
  // Both round in each of their additions. Sums of products of different numbers grow with the root of how many these
  // are, those of squares with their number.
  const auto terms = static_cast<double>(c.tsmm() ? c.m : k);
  const bool right = error <= 0x1p-53 * (c.gram() ? 64 : 8) * w * terms && found[1] == 0;

  // Missing sectors come with their neighbours, 64 bytes at a time, unless a program says that it wants 32.
  const std::vector<std::function<void()>> works = {
      [&] { ours(c.tsmm() ? b : room.other_c); }, [&] { theirs(other_out); },
      [&] {
        auto* const start = c.tsmm() ? start_touch<true> : start_touch<false>;
        start(a, width_a, lda, c.tsmm() ? other : b, c.gram() ? 0 : width_b, ldb, k);
      }};
  const std::vector<double> ms = in_turns(works);
  check(cudaDeviceSetLimit(cudaLimitMaxL2FetchGranularity, 32));
  const std::vector<double> fine_ms = in_turns(works);
  check(cudaDeviceSetLimit(cudaLimitMaxL2FetchGranularity, room.granularity));
  check(cudaDeviceSynchronize());
  std::printf(
      "{\"op\": \"%s\", \"type\": \"%s\", \"m\": %d, \"n\": %d, \"lda\": %lld, \"ldb\": %lld, \"off_a\": %d, "
      "\"off_b\": %d, "
      "\"k\": %lld, \"right\": %s, \"error\": \"%.3g\", \"ms\": %.5g, \"cublas_ms\": %.5g, \"touch_ms\": %.5g, "
      "\"fine_ms\": %.5g, \"fine_cublas_ms\": %.5g, \"fine_touch_ms\": %.5g, "
      "\"sector_gb\": %.6g, \"gb\": %.6g, \"gflop\": %.6g}\n",
      c.op.c_str(), c.type.c_str(), c.m, c.n, static_cast<long long>(c.lda), static_cast<long long>(c.ldb), c.off_a,
      c.off_b, static_cast<long long>(k), right ? "true" : "false", error, ms[0], ms[1], ms[2], fine_ms[0], fine_ms[1],
      fine_ms[2], row_bytes * k / 1e9, 8.0 * (width_a + (c.gram() ? 0 : width_b)) * k / 1e9,
      (c.gram() ? 1.0 * (c.m + 1) : 2.0 * c.n) * c.m * k * w * w / 1e9);
  std::fflush(stdout);
}

void ceilings() {
  const std::int64_t words = std::int64_t{1} << 27;  // 1 GiB of A and B
  double *const a = allocate(words * 4), *const b = allocate(words * 4);
  check(cudaMemset(a, 0, words * 4));
  check(cudaMemset(b, 0, words * 4));
  constexpr int width = 64, times = 20000;
  const std::int64_t k = words / 2 / width;
  const std::vector<double> ms = in_turns({[&] { start_touch<false>(a, width, width, b, width, width, k); },
                                           [&] { start_touch<true>(a, width, width, b, width, width, k); },
                                           [&] { multiply_only<<<BLOCKS / 4, THREADS>>>(times, a); }});
  // Behind other work, so that it is the GPU that takes so long, and not the program.
  const double launch_ms = time_of(
      50, [&] { multiply_only<<<BLOCKS / 4, THREADS>>>(100, a); }, [] { nothing<<<1, 1>>>(); });
  check(cudaDeviceSynchronize());
  std::printf("{\"read_gbs\": %.6g, \"scale_gbs\": %.6g, \"tensor_gflops\": %.6g, \"launch_ms\": %.4g}\n",
              words * 8 / 1e6 / (ms[0] - launch_ms), words * 8 / 1e6 / (ms[1] - launch_ms),
              2.0 * 16 * 8 * 4 * 8 * times * (THREADS / 32) * (BLOCKS / 4) / 1e6 / ms[2], launch_ms);
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string what = argc > 1 ? argv[1] : "";
  Case c;
  if (what == "ceilings") {
    ceilings();
  } else if (what == "prepare") {
    while (std::cin >> c) prepare(c);
  } else if (what == "products" && argc > 2) {
    const Room room;
    while (std::cin >> c) measure(c, room, std::atof(argv[2]));
  } else {
    std::fprintf(stderr, "time_strides: ceilings, prepare, or products BYTES\n");
    return 2;
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "time_strides: %s\n", error.what());
  return 1;
}
