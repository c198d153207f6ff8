// Times products of lists of blocks of the installed library, and checks them; beside them products of pairs of blocks,
// and of one matrix that has all columns. tools/measure/lists.py builds it.
//
//   time_lists BYTES   a line of JSON with bandwidths, then one for each case; three blocks X, R and P have BYTES
#include <cublas_v2.h>

#include <cmath>
#include <complex>
#include <cstdlib>
#include <string>

#include "timing.cuh"

namespace {

using Complex = std::complex<double>;

constexpr int LIST = 3, TIMES = 9;
constexpr std::size_t WORKSPACE = std::size_t{256} << 20, SMALL = 64 * 64 * sizeof(Complex);

using ::check;
void check(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS) throw std::runtime_error(cublasGetStatusString(status));
}

__global__ void fill(double* x, std::int64_t count, std::uint64_t seed) {
  each_word(count, [&](std::int64_t i) { x[i] = random_number(i + (seed << 40)); });
}
/// The sum of |x - y|^2 and of |y|^2.
__global__ void compare(const double* x, const double* y, std::int64_t count, double* sums) {
  double difference = 0, size = 0;
  each_word(count, [&](std::int64_t i) {
    difference += (x[i] - y[i]) * (x[i] - y[i]);
    size += y[i] * y[i];
  });
  atomicAdd(&sums[0], difference);
  atomicAdd(&sums[1], size);
}

/// BYTES for each list, each with room for padding; and for all columns as one matrix.
struct Room {
  double *lists[2][LIST], *whole[2], *tall[2];
  double *c = allocate(SMALL), *other = allocate(SMALL), *small = allocate(SMALL), *sums = allocate(16),
         *workspace = allocate(WORKSPACE);
  cublasHandle_t cublas;

  explicit Room(std::size_t bytes) {
    for (auto& list : lists) {
      for (double*& block : list) block = allocate(bytes);
    }
    for (double** each : {&whole[0], &whole[1], &tall[0], &tall[1]}) *each = allocate(bytes * 3 / 2);
    check(cublasCreate(&cublas));
    fill<<<BLOCKS, THREADS>>>(small, SMALL / 8, 9);
  }
};

struct Case {
  bool is_complex;
  int n, gap;
  std::int64_t k;

  int words() const { return is_complex ? 2 : 1; }
  int all() const { return LIST * n; }
};

const double one[2] = {1, 0}, none[2] = {0, 0};

void tsmttsm(const Room& room, const Case& its, int m, const double* a, std::int64_t lda, int n, const double* b,
             std::int64_t ldb, double* c, std::int64_t ldc) {
  check(
      its.is_complex
          ? staged_gemm_ztsmttsm(nullptr, 1, m, n, its.k, one, a, lda, b, ldb, none, c, ldc, room.workspace, WORKSPACE)
          : staged_gemm_dtsmttsm(nullptr, m, n, its.k, 1, a, lda, b, ldb, 0, c, ldc, room.workspace, WORKSPACE));
}
void tsmm(const Case& its, int m, const double* a, std::int64_t lda, const double* c, double beta, double* b) {
  const double factor[2] = {beta, 0};
  check(its.is_complex ? staged_gemm_ztsmm(nullptr, m, its.n, its.k, one, a, lda, c, its.n, factor, b, its.n)
                       : staged_gemm_dtsmm(nullptr, m, its.n, its.k, 1, a, lda, c, its.n, beta, b, its.n));
}
/// By cuBLAS, whose matrices are transposed: right is n x k or n x m.
void cublas(const Room& room, const Case& its, cublasOperation_t op, int n, std::int64_t m, std::int64_t k,
            const double* right, std::int64_t ldr, const double* left, std::int64_t ldl, double* out,
            std::int64_t ldo) {
  using Z = cuDoubleComplex;
  check(its.is_complex
            ? cublasZgemm_64(room.cublas, CUBLAS_OP_N, op, n, m, k, reinterpret_cast<const Z*>(one),
                             reinterpret_cast<const Z*>(right), ldr, reinterpret_cast<const Z*>(left), ldl,
                             reinterpret_cast<const Z*>(none), reinterpret_cast<Z*>(out), ldo)
            : cublasDgemm_64(room.cublas, CUBLAS_OP_N, op, n, m, k, one, right, ldr, left, ldl, none, out, ldo));
}

/// |x - y| / |y| of `count` words.
double difference(const Room& room, const double* x, const double* y, std::int64_t count) {
  check(cudaMemset(room.sums, 0, 16));
  compare<<<BLOCKS, THREADS>>>(x, y, count, room.sums);
  double sums[2];
  check(cudaMemcpy(sums, room.sums, sizeof sums, cudaMemcpyDeviceToHost));
  return std::sqrt(sums[0] / sums[1]);
}

void print(const char* op, const Case& its, double error, double list, double pairs, double whole, double by_cublas) {
  std::printf(
      "{\"op\": \"%s\", \"type\": \"%s\", \"n\": %d, \"gap\": %d, \"k\": %lld, \"difference\": %.2e, "
      "\"ms\": %.5g, \"pairs_ms\": %.5g, \"whole_ms\": %.5g, \"cublas_whole_ms\": %.5g}\n",
      op, its.is_complex ? "z" : "d", its.n, its.gap, static_cast<long long>(its.k), error, list, pairs, whole,
      by_cublas);
  std::fflush(stdout);
}

void measure(const Room& room, const Case& its) {
  const int words = its.words(), n = its.n, all = its.all();
  const std::int64_t ld = n + its.gap, ld_whole = all + its.gap, k = its.k;
  staged_gemm_block lists[2][LIST];
  for (int side = 0; side < 2; ++side) {
    for (int i = 0; i < LIST; ++i) {
      fill<<<BLOCKS, THREADS>>>(room.lists[side][i], k * ld * words, side * LIST + i);
      lists[side][i] = {room.lists[side][i], ld, n};
      check(cudaMemcpy2DAsync(room.whole[side] + i * n * words, ld_whole * words * 8, room.lists[side][i],
                              ld * words * 8, n * words * 8, k, cudaMemcpyDeviceToDevice));
    }
  }
  for (const bool gram : {true, false}) {
    staged_gemm_block* const right = lists[gram ? 0 : 1];
    const auto by_list = [&] {
      check(its.is_complex ? staged_gemm_ztsmttsm_blocks(nullptr, 1, k, one, lists[0], LIST, right, LIST, none, room.c,
                                                         all, room.workspace, WORKSPACE)
                           : staged_gemm_dtsmttsm_blocks(nullptr, k, 1, lists[0], LIST, right, LIST, 0, room.c, all,
                                                         room.workspace, WORKSPACE));
    };
    const auto by_pairs = [&] {
      for (int i = 0; i < LIST; ++i) {
        for (int j = gram ? i : 0; j < LIST; ++j)
          tsmttsm(room, its, n, room.lists[0][i], ld, n, room.lists[gram ? 0 : 1][j], ld,
                  room.other + (i * n * all + j * n) * words, all);
      }
    };
    const auto as_whole = [&] {
      tsmttsm(room, its, all, room.whole[0], ld_whole, all, room.whole[gram ? 0 : 1], ld_whole, room.c, all);
    };
    const auto by_cublas = [&] {
      cublas(room, its, CUBLAS_OP_C, all, all, k, room.whole[gram ? 0 : 1], ld_whole, room.whole[0], ld_whole,
             room.other, all);
    };
    by_list();
    by_cublas();
    const double error = difference(room, room.c, room.other, all * all * words);
    print(gram ? "gram" : "tsmttsm", its, error, time_of(TIMES, by_list), time_of(TIMES, by_pairs),
          time_of(TIMES, as_whole), time_of(TIMES, by_cublas));
  }
  const auto by_list = [&] {
    check(its.is_complex
              ? staged_gemm_ztsmm_blocks(nullptr, n, k, one, lists[0], LIST, room.small, n, none, room.tall[0], n)
              : staged_gemm_dtsmm_blocks(nullptr, n, k, 1, lists[0], LIST, room.small, n, 0, room.tall[0], n));
  };
  const auto by_pairs = [&] {
    for (int i = 0; i < LIST; ++i)
      tsmm(its, n, room.lists[0][i], ld, room.small + i * n * n * words, i > 0, room.tall[1]);
  };
  const auto as_whole = [&] { tsmm(its, all, room.whole[0], ld_whole, room.small, 0, room.tall[0]); };
  const auto by_cublas = [&] {
    cublas(room, its, CUBLAS_OP_N, n, k, all, room.small, n, room.whole[0], ld_whole, room.tall[1], n);
  };
  by_list();
  by_cublas();
  const double error = difference(room, room.tall[0], room.tall[1], k * n * words);
  print("tsmm", its, error, time_of(TIMES, by_list), time_of(TIMES, by_pairs), time_of(TIMES, as_whole),
        time_of(TIMES, by_cublas));
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2 || std::atof(argv[1]) < 1e7) {
    std::fprintf(stderr, "time_lists: BYTES, at least 1e7\n");
    return 2;
  }
  const auto bytes = static_cast<std::size_t>(std::atof(argv[1]));
  const Room room(bytes);
  print_bandwidths(room.whole[0], bytes, room.sums);
  for (const bool is_complex : {false, true}) {
    for (const int n : {1, 2, 4, 8, 12, 16, 20, 21}) {
      for (const int gap : {0, 1}) {
        Case its{is_complex, n, gap, 0};
        its.k = bytes / (8 * its.words() * its.all());
        measure(room, its);
      }
    }
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "time_lists: %s\n", error.what());
  return 1;
}
