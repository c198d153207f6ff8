// Orthogonalises a block of 16 tall vectors V against 48 orthonormal ones Q, and among themselves, as a block
// eigensolver does in each step: block classical Gram-Schmidt and CholeskyQR, each twice. All work on tall matrices is
// done by the products of tsm/tall_skinny.hpp; the host sees matrices of 48 x 16 and less.
//
// twice:   V <- V - Q (Q^T V)          BCGS: TSMTTSM 48 x 16, TSMM 48 x 16
//            G = V^T V = R^T R           CholeskyQR: TSMTTSM 16 x 16, Cholesky on the host V <- V R^-1
//           TSMM 16 x 16
//
// Once is not enough: if V has condition number c, errors of size u = 2^-53 along Q are c times as large when V has
// been scaled by R^-1, and V^T V - I is about c^2 u. So the second pass begins with a well-conditioned V, and ends with
// errors of order u, provided that the first Cholesky succeeds: G has condition number c^2, so c must stay below about
// 1 / sqrt(u) = 1e8. Past that G is, to working precision, not positive definite, and the program says so.
//
// Sources: Yamamoto, Nakatsukasa, Yanagisawa, Fukaya, "Roundoff error analysis of the CholeskyQR2 algorithm" (2015);
// Barlow, Smoktunowicz, "Reorthogonalized block classical Gram-Schmidt" (2013).
#include <cuda_runtime.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <numbers>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "tsm/tall_skinny.hpp"

namespace {

constexpr int BASIS = 48, BLOCK = 16, ALL = BASIS + BLOCK, PASSES = 2;
constexpr double U = std::numeric_limits<double>::epsilon() / 2;
constexpr double BOUND = 100 * U;       // on |I - V^T V| and |Q^T V|, each over the root of its number of elements
constexpr double SAFE_CONDITION = 1e7;  // up to here a breakdown is a failure
// Of a row: BASIS + BLOCK words are read for Q^T V; these and V again for the update; V for G; V twice for the scaling.
constexpr std::int64_t WORDS_A_ROW = PASSES * ((BASIS + BLOCK) + (BASIS + 2 * BLOCK) + BLOCK + 2 * BLOCK);

// ---- the device

struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};
void require(cudaError_t error, const char* doing) {
  if (error != cudaSuccess) throw Failure(fmt::format("could not {}: {}", doing, cudaGetErrorString(error)));
}
void require(const tall_skinny::Status& status) {
  if (!status) throw Failure(status.reason);
}

// A row-major matrix in device memory.
class Matrix {
 public:
  Matrix(std::int64_t rows, int cols) : cols_(cols), bytes_(static_cast<std::size_t>(rows) * cols * sizeof(double)) {
    void* memory = nullptr;
    require(cudaMalloc(&memory, bytes_), "allocate device memory");
    data_ = static_cast<double*>(memory);
  }
  ~Matrix() { cudaFree(data_); }
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;

  double* data() const { return data_; }
  int ld() const { return cols_; }
  std::size_t bytes() const { return bytes_; }

  void set(const std::vector<double>& host, cudaStream_t stream) {
    require(cudaMemcpyAsync(data_, host.data(), bytes_, cudaMemcpyHostToDevice, stream), "copy to the device");
    require(cudaStreamSynchronize(stream), "copy to the device");
  }
  std::vector<double> get(cudaStream_t stream) const {
    std::vector<double> host(bytes_ / sizeof(double));
    require(cudaMemcpyAsync(host.data(), data_, bytes_, cudaMemcpyDeviceToHost, stream), "copy from the device");
    require(cudaStreamSynchronize(stream), "run");
    return host;
  }

 private:
  int cols_;
  std::size_t bytes_;
  double* data_ = nullptr;
};

// Milliseconds of a stream's work, where there is a GPU; the CPU executor has no clock that means anything.
class Stopwatch {
 public:
#ifdef CUDART_VERSION  // not the CPU executor
  Stopwatch() {
    require(cudaEventCreate(&begin_), "make an event");
    require(cudaEventCreate(&end_), "make an event");
  }
  ~Stopwatch() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }
  void start(cudaStream_t stream) {
    require(cudaEventRecord(begin_, stream), "record an event");
  }
  std::optional<double> stop(cudaStream_t stream) {
    float ms = 0;
    require(cudaEventRecord(end_, stream), "record an event");
    require(cudaEventSynchronize(end_), "run");
    require(cudaEventElapsedTime(&ms, begin_, end_), "read the time");
    return ms;
  }

 private:
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
#else
  Stopwatch() = default;
  void start(cudaStream_t) {}
  std::optional<double> stop(cudaStream_t) {
    return std::nullopt;
  }
#endif
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
};

// ---- small matrices on the host, BLOCK x BLOCK, row-major

using Small = std::vector<double>;

// The upper triangle R of G = R^T R. Nothing if a pivot is not positive to working precision: then `broken` says which.
std::optional<Small> cholesky(const Small& g, int& broken) {
  Small r(BLOCK * BLOCK);
  for (int j = 0; j < BLOCK; ++j) {
    for (int i = 0; i <= j; ++i) {
      double sum = g[i * BLOCK + j];
      for (int t = 0; t < i; ++t) sum -= r[t * BLOCK + i] * r[t * BLOCK + j];
      if (i < j) {
        r[i * BLOCK + j] = sum / r[i * BLOCK + i];
      } else if (sum > 4 * BLOCK * U * g[j * BLOCK + j]) {  // else rounding alone could be all of it; false for NaN
        r[j * BLOCK + j] = std::sqrt(sum);
      } else {
        broken = j;
        return std::nullopt;
      }
    }
  }
  return r;
}

// R^-1 of an upper triangle, column by column.
Small inverse(const Small& r) {
  Small x(BLOCK * BLOCK);
  for (int j = 0; j < BLOCK; ++j) {
    x[j * BLOCK + j] = 1 / r[j * BLOCK + j];
    for (int i = j - 1; i >= 0; --i) {
      double sum = 0;
      for (int t = i + 1; t <= j; ++t) sum += r[i * BLOCK + t] * x[t * BLOCK + j];
      x[i * BLOCK + j] = -sum / r[i * BLOCK + i];
    }
  }
  return x;
}

// ---- the algorithm

struct Outcome {
  int broken = -1;  // the column at which Cholesky broke down, in the first pass or the second
  int pass = 0;
};

class Orthogonaliser {
 public:
  Orthogonaliser(std::int64_t k, cudaStream_t stream)
      : k_(k),
        stream_(stream),
        product_(BASIS, BLOCK),
        gram_(BLOCK, BLOCK),
        factor_(BLOCK, BLOCK),
        workspace_bytes_(std::max(tall_skinny::tsmttsm_workspace(BASIS, BLOCK, k, tall_skinny::Type::d),
                                  tall_skinny::tsmttsm_workspace(BLOCK, BLOCK, k, tall_skinny::Type::d))),
        workspace_(static_cast<std::int64_t>(workspace_bytes_ / sizeof(double)) + 1, 1) {}

  // Compiles and loads the four kernels.
  void prepare(const Matrix& q, const Matrix& v, const Matrix& other) {
    constexpr auto d = tall_skinny::Type::d;
    require(tall_skinny::prepare_tsmttsm(d, BASIS, BLOCK, q.data(), q.ld(), v.data(), v.ld(), false));
    require(tall_skinny::prepare_tsmttsm(d, BLOCK, BLOCK, v.data(), v.ld(), v.data(), v.ld(), false));
    require(tall_skinny::prepare_tsmm(d, BASIS, BLOCK, q.data(), q.ld(), v.data(), v.ld()));
    require(tall_skinny::prepare_tsmm(d, BLOCK, BLOCK, v.data(), v.ld(), other.data(), other.ld()));
  }

  // V becomes orthonormal, and orthogonal to Q. `other` is overwritten.
  Outcome run(const Matrix& q, const Matrix& v, const Matrix& other) {
    const Matrix *from = &v, *to = &other;
    for (int pass = 0; pass < PASSES; ++pass) {
      multiply_transposed(BASIS, q, *from, product_);
      require(tall_skinny::tsmm(stream_, BASIS, BLOCK, k_, -1.0, q.data(), q.ld(), product_.data(), BLOCK, 1.0,
                                from->data(), from->ld()));
      multiply_transposed(BLOCK, *from, *from, gram_);
      Outcome outcome{-1, pass};
      const std::optional<Small> r = cholesky(gram_.get(stream_), outcome.broken);
      if (!r) return outcome;
      factor_.set(inverse(*r), stream_);
      require(tall_skinny::tsmm(stream_, BLOCK, BLOCK, k_, 1.0, from->data(), from->ld(), factor_.data(), BLOCK, 0.0,
                                to->data(), to->ld()));
      std::swap(from, to);
    }
    static_assert(PASSES % 2 == 0);  // so V is where it was
    return {};
  }

  // The root mean square of the elements of X^T V - I, or of X^T V.
  double error(int m, const Matrix& x, const Matrix& v, bool identity) {
    const Matrix& result = m == BASIS ? product_ : gram_;
    multiply_transposed(m, x, v, result);
    const std::vector<double> found = result.get(stream_);
    double sum = 0;
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < BLOCK; ++j) {
        const double difference = found[i * BLOCK + j] - (identity && i == j ? 1 : 0);
        sum += difference * difference;
      }
    }
    return std::sqrt(sum / (m * BLOCK));
  }

 private:
  void multiply_transposed(int m, const Matrix& x, const Matrix& v, const Matrix& result) {
    require(tall_skinny::tsmttsm(stream_, m, BLOCK, k_, 1.0, x.data(), x.ld(), v.data(), v.ld(), 0.0, result.data(),
                                 BLOCK, false, workspace_.data(), workspace_.bytes()));
  }

  std::int64_t k_;
  cudaStream_t stream_;
  Matrix product_, gram_, factor_;
  std::size_t workspace_bytes_;
  Matrix workspace_;
};

// ---- the data

// Vectors of the discrete cosine transform are orthonormal whatever K is: element i of the j-th.
double cosine(std::int64_t i, int j, std::int64_t k) {
  const std::int64_t turn = (2 * i + 1) * j % (4 * k);  // exact, so that the error does not grow with K
  return std::sqrt((j == 0 ? 1.0 : 2.0) / k) * std::cos(std::numbers::pi * turn / (2 * k));
}

// As if from a table of random numbers in [-1, 1): the splitmix64 generator.
double noise(std::uint64_t i) {
  std::uint64_t x = (i + 1) * 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return static_cast<double>(x ^ x >> 31) * 0x1p-63 - 1;
}

// An orthogonal matrix: I - 2 w w^T / w^T w.
Small reflection() {
  Small w(BLOCK), z(BLOCK * BLOCK);
  double square = 0;
  for (int i = 0; i < BLOCK; ++i) square += (w[i] = noise(i)) * w[i];
  for (int i = 0; i < BLOCK; ++i) {
    for (int j = 0; j < BLOCK; ++j) z[i * BLOCK + j] = (i == j ? 1 : 0) - 2 * w[i] * w[j] / square;
  }
  return z;
}

// V = X D Z + Q S: outside of Q it has the singular values D, from 1 down to 1 / condition, and inside something as
// large. X is orthonormal and orthogonal to Q.
std::vector<double> make_block(const std::vector<double>& q, std::int64_t k, double condition) {
  const Small z = reflection();
  Small dz(BLOCK * BLOCK);
  for (int i = 0; i < BLOCK; ++i) {
    for (int j = 0; j < BLOCK; ++j)
      dz[i * BLOCK + j] = std::pow(condition, -static_cast<double>(i) / (BLOCK - 1)) * z[i * BLOCK + j];
  }
  Small s(BASIS * BLOCK);
  for (int i = 0; i < BASIS * BLOCK; ++i) s[i] = noise(1000 + i);
  std::vector<double> v(static_cast<std::size_t>(k) * BLOCK);
  for (std::int64_t row = 0; row < k; ++row) {
    double* const out = v.data() + row * BLOCK;
    for (int t = 0; t < BLOCK; ++t) {
      const double x = cosine(row, BASIS + t, k);
      for (int j = 0; j < BLOCK; ++j) out[j] += x * dz[t * BLOCK + j];
    }
    for (int t = 0; t < BASIS; ++t) {
      const double x = q[row * BASIS + t];
      for (int j = 0; j < BLOCK; ++j) out[j] += x * s[t * BLOCK + j];
    }
  }
  return v;
}

// ---- the program

struct Options {
  std::int64_t k = 0;
  std::vector<double> conditions = {10, 1e4, 1e7, 1e12};
  std::string json;
};

int run(const Options& options) {
#ifdef CUDART_VERSION
  int devices = 0;
  require(cudaGetDeviceCount(&devices), "find a CUDA device");
#endif
  const std::int64_t k = options.k;
  cudaStream_t const stream = nullptr;
  nlohmann::ordered_json report = {
      {"example", "block_gram_schmidt"},           {"k", k}, {"basis", BASIS}, {"block", BLOCK}, {"bound", BOUND},
      {"results", nlohmann::ordered_json::array()}};
  const double gigabytes = static_cast<double>(WORDS_A_ROW) * k * sizeof(double) * 1e-9;
  report["compulsory_gbytes"] = gigabytes;
  const bool quiet = options.json == "-";
  // What can't be written is said before the work.
  if (!quiet && !options.json.empty() && !std::ofstream(options.json, std::ios::app))
    throw Failure("could not write " + options.json);
  const auto say = [&](const std::string& text) {
    if (!quiet) fmt::print("{}", text);
  };

  std::vector<double> basis(static_cast<std::size_t>(k) * BASIS);
  for (std::int64_t row = 0; row < k; ++row) {
    for (int j = 0; j < BASIS; ++j) basis[row * BASIS + j] = cosine(row, j, k);
  }
  Matrix q(k, BASIS), v(k, BLOCK), other(k, BLOCK);
  q.set(basis, stream);
  Orthogonaliser orthogonaliser(k, stream);
  orthogonaliser.prepare(q, v, other);
  say(fmt::format("K = {}: {} vectors against {}, {} passes; right if each error is at most {:.1e}\n", k, BLOCK, BASIS,
                  PASSES, BOUND));
  say(fmt::format("{:>10} {:>12} {:>12} {:>10} {:>10} {:>10}\n", "condition", "|I - V'V|", "|Q'V|", "ms", "GB",
                  "GB/s"));

  bool right = true;
  Stopwatch watch;
  for (const double condition : options.conditions) {
    const std::vector<double> block = make_block(basis, k, condition);
    v.set(block, stream);
    Outcome outcome = orthogonaliser.run(q, v, other);  // so that the second is timed warm
    std::optional<double> ms;
    if (outcome.broken < 0) {
      v.set(block, stream);
      watch.start(stream);
      outcome = orthogonaliser.run(q, v, other);
      ms = watch.stop(stream);
    }
    nlohmann::ordered_json result = {{"condition", condition}};
    if (outcome.broken >= 0) {
      const bool expected = condition > SAFE_CONDITION;
      right &= expected;
      say(fmt::format(
          "{:>10.1e} CholeskyQR broke down in pass {}, at column {} of {}: V'V is not positive definite to "
          "working precision{}\n",
          condition, outcome.pass + 1, outcome.broken + 1, BLOCK, expected ? ", as expected past 1e8" : ""));
      result["status"] = expected ? "breakdown" : "fail";
      result["pass"] = outcome.pass + 1;
      result["column"] = outcome.broken + 1;
    } else {
      const double within = orthogonaliser.error(BLOCK, v, v, true), against = orthogonaliser.error(BASIS, q, v, false);
      const bool passed = within <= BOUND && against <= BOUND;  // false for NaN
      right &= passed;
      say(fmt::format("{:>10.1e} {:>12.2e} {:>12.2e} {:>10} {:>10.3g} {:>10}{}\n", condition, within, against,
                      ms ? fmt::format("{:.3f}", *ms) : "-", gigabytes,
                      ms ? fmt::format("{:.0f}", gigabytes / *ms * 1e3) : "-", passed ? "" : "   above the bound"));
      result["status"] = passed ? "pass" : "fail";
      result["orthonormality"] = within;
      result["orthogonality"] = against;
      if (ms) {
        result["ms"] = *ms;
        result["gbytes_s"] = gigabytes / *ms * 1e3;
      }
    }
    report["results"].push_back(result);
  }
  if (quiet) {
    fmt::print("{}\n", report.dump(1));
  } else if (!options.json.empty()) {
    std::ofstream file(options.json);
    file << report.dump(1) << '\n';
    if (!file.flush()) throw Failure("could not write " + options.json);
  }
  return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Orthogonalises 16 tall vectors against 48 others: block Gram-Schmidt and CholeskyQR, each twice");
  Options options;
#ifdef CUDART_VERSION
  options.k = 1'000'000;
#else
  options.k = 1000;
#endif
  app.add_option("--k", options.k, "length of the vectors, at least 64")
      ->check(CLI::Range(static_cast<std::int64_t>(ALL), std::int64_t{1} << 40))
      ->capture_default_str();
  app.add_option("--cond", options.conditions, "condition numbers of the block outside of the basis, one or more")
      ->check(CLI::Range(1.0, 1e16))
      ->capture_default_str();
  app.add_option("--json", options.json, "write the results to this file (- for standard output)");
  try {
    app.parse(argc, argv);
    return run(options);
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 2;
  }
}
