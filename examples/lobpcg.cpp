// The 16 smallest eigenvalues of a Laplacian by LOBPCG, with the products of tsm/tall_skinny.hpp or with cuBLAS: what an
// iteration of a block eigensolver takes in the end.
//
// A basis S = [X W P] of 48 columns holds the vectors, their residuals and the last step's directions; AS = A S.
//
// each iteration:  W <- A X - X diag(values), A W          the matrix's own kernels
//                  G = S^T S, H = S^T AS                   TSMTTSM 48 x 48, G a Gram matrix
//                  H c = value G c, the smallest 16        on the host, by Eigen
//                  [X . P] <- S [C . C'], and AS the same  TSMM 48 x 48, in place
//
// Needs Eigen (Debian's libeigen3-dev); CMake leaves the program out where it is not. C' is C without the rows of X.
// Columns are scaled to length 1 for the host's problem; where G is not positive definite even so, P is left out once.
// There is no preconditioner: for ten million rows it would take thousands of iterations, so the program ends after as
// many as it is told, and says what it has.
//
// Sources: Knyazev, "Toward the optimal preconditioned eigensolver: locally optimal block preconditioned conjugate
// gradient method" (2001); Duersch, Shao, Yang, Gu, "A robust and efficient implementation of LOBPCG" (2018).
#include <cuda_runtime.h>
#include <fmt/format.h>
#if WITH_CUBLAS
#include <cublas_v2.h>
#endif

#include <CLI/CLI.hpp>
#include <Eigen/Dense>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numbers>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "examples/laplacian.hpp"
#include "tsm/tall_skinny.hpp"

namespace {

constexpr int BLOCK = laplacian::block, BASIS = 3 * BLOCK;
// Read and written in an iteration, of a row: W from AX and X; AW from W; S for G; S and AS for H; S and AS in place.
constexpr std::int64_t WORDS_A_ROW = 3 * BLOCK + 2 * BLOCK + BASIS + 2 * BASIS + 4 * BASIS;
constexpr double NORM = 8;  // of the matrix

struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};
void require(cudaError_t error, const char* doing) {
  if (error != cudaSuccess) throw Failure(fmt::format("could not {}: {}", doing, cudaGetErrorString(error)));
}
template <class Status>
void require(const Status& status) {
  if (!status) throw Failure(status.reason);
}

/// Words of device memory.
class Memory {
 public:
  explicit Memory(std::int64_t words) {
    void* memory = nullptr;
    require(cudaMalloc(&memory, static_cast<std::size_t>(words) * sizeof(double)), "allocate device memory");
    data_ = static_cast<double*>(memory);
  }
  ~Memory() { cudaFree(data_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  void exchange(Memory& other) { std::swap(data_, other.data_); }

  double* data() const { return data_; }
  void set(const double* host, int words) {
    require(cudaMemcpy(data_, host, words * sizeof(double), cudaMemcpyHostToDevice), "copy to the device");
  }
  void get(double* host, int words) const {
    require(cudaMemcpy(host, data_, words * sizeof(double), cudaMemcpyDeviceToHost), "copy from the device");
  }

 private:
  double* data_ = nullptr;
};

/// The products of tall matrices of 48 columns.
class Products {
 public:
  virtual ~Products() = default;
  /// c = a^T b, 48 x 48.
  virtual void multiply_transposed(const Memory& a, const Memory& b, Memory& c) = 0;
  /// a <- a c
  virtual void multiply_by(Memory& a, const Memory& c) = 0;
};

class TallSkinny : public Products {
 public:
  explicit TallSkinny(std::int64_t rows)
      : rows_(rows),
        bytes_(tall_skinny::tsmttsm_workspace(BASIS, BASIS, rows, tall_skinny::Type::d)),
        workspace_(static_cast<std::int64_t>(bytes_ / sizeof(double)) + 1) {
    using namespace tall_skinny;
    const double *const one = workspace_.data(), *const other = nullptr;  // of the same alignment: nothing is read
    require(prepare_tsmttsm(Type::d, BASIS, BASIS, one, BASIS, one, BASIS, false));
    require(prepare_tsmttsm(Type::d, BASIS, BASIS, one, BASIS, other, BASIS, false));
    require(prepare_tsmm(Type::d, BASIS, BASIS, one, BASIS, one, BASIS));
  }
  void multiply_transposed(const Memory& a, const Memory& b, Memory& c) override {
    require(tall_skinny::tsmttsm(nullptr, BASIS, BASIS, rows_, 1.0, a.data(), BASIS, b.data(), BASIS, 0.0, c.data(),
                                 BASIS, false, workspace_.data(), bytes_));
  }
  void multiply_by(Memory& a, const Memory& c) override {
    require(
        tall_skinny::tsmm(nullptr, BASIS, BASIS, rows_, 1.0, a.data(), BASIS, c.data(), BASIS, 0.0, a.data(), BASIS));
  }

 private:
  std::int64_t rows_;
  std::size_t bytes_;
  Memory workspace_;
};

#if WITH_CUBLAS
class Cublas : public Products {
 public:
  explicit Cublas(std::int64_t rows) : rows_(rows), other_(rows * BASIS) { require(cublasCreate(&handle_)); }
  ~Cublas() override { cublasDestroy(handle_); }
  // Row-major matrices are columns' transposes: c = a^T b is c^T = b^T a by columns.
  void multiply_transposed(const Memory& a, const Memory& b, Memory& c) override {
    require(cublasDgemm_64(handle_, CUBLAS_OP_N, CUBLAS_OP_T, BASIS, BASIS, rows_, &one_, b.data(), BASIS, a.data(),
                           BASIS, &zero_, c.data(), BASIS));
  }
  void multiply_by(Memory& a, const Memory& c) override {
    require(cublasDgemm_64(handle_, CUBLAS_OP_N, CUBLAS_OP_N, BASIS, rows_, BASIS, &one_, c.data(), BASIS, a.data(),
                           BASIS, &zero_, other_.data(), BASIS));
    a.exchange(other_);
  }

 private:
  static void require(cublasStatus_t status) {
    if (status != CUBLAS_STATUS_SUCCESS) throw Failure(cublasGetStatusString(status));
  }
  static constexpr double one_ = 1, zero_ = 0;
  std::int64_t rows_;
  Memory other_;
  cublasHandle_t handle_ = nullptr;
};
#endif

using Small = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

struct Pairs {
  Eigen::VectorXd values;
  Small coefficients;  ///< BASIS x BLOCK
};

/// The smallest pairs of H c = value G c in the first `width` columns; nothing if G is not positive definite to working
/// precision.
std::optional<Pairs> smallest(const Small& g, const Small& h, int width) {
  const Eigen::VectorXd scale = g.diagonal().head(width).cwiseSqrt().cwiseInverse();
  const auto scaled = [&](const Small& x) -> Small {
    const Small part = x.topLeftCorner(width, width);
    return scale.asDiagonal() * (part + part.transpose()) * scale.asDiagonal() / 2;
  };
  const Small its = scaled(g);
  if (!its.allFinite()) return std::nullopt;
  const Eigen::LLT<Small> factored(its);
  if (factored.info() != Eigen::Success || factored.rcond() < 1e-14) return std::nullopt;
  const Eigen::GeneralizedSelfAdjointEigenSolver<Small> solver(scaled(h), its);
  if (solver.info() != Eigen::Success) return std::nullopt;
  Pairs pairs{solver.eigenvalues().head(BLOCK), Small::Zero(BASIS, BLOCK)};
  pairs.coefficients.topRows(width) = scale.asDiagonal() * solver.eigenvectors().leftCols(BLOCK);
  return pairs;
}

struct Result {
  std::vector<double> values;
  double ms = 0, host_ms = 0;  ///< of an iteration; of that on the host, with the products' results under way
  int iterations = 0, converged = 0;
  double not_orthonormal = 0, largest_residual = 0;
};

double ms_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

/// Until `wanted` residuals are at most tolerance |A|, or for so many iterations.
Result solve(Products& products, int side, int iterations, int wanted, double tolerance) {
  const std::int64_t rows = std::int64_t{side} * side;
  Memory s(rows * BASIS), as(rows * BASIS), small(BASIS * BASIS), values(BLOCK);
  Small g(BASIS, BASIS), h(BASIS, BASIS);
  const auto rayleigh_ritz = [&](int width) {
    products.multiply_transposed(s, s, small);
    small.get(g.data(), BASIS * BASIS);
    products.multiply_transposed(s, as, small);
    small.get(h.data(), BASIS * BASIS);
    const auto begin = std::chrono::steady_clock::now();
    std::optional<Pairs> pairs = smallest(g, h, width);
    if (!pairs && width == BASIS) pairs = smallest(g, h, 2 * BLOCK);
    if (!pairs) throw Failure("the basis has lost its rank");
    return std::pair(std::move(*pairs), ms_since(begin));
  };
  const auto update = [&](const Pairs& pairs) {
    Small c = Small::Zero(BASIS, BASIS);
    c.leftCols(BLOCK) = pairs.coefficients;
    c.bottomRightCorner(2 * BLOCK, BLOCK) = pairs.coefficients.bottomRows(2 * BLOCK);
    small.set(c.data(), BASIS * BASIS);
    products.multiply_by(s, small);
    products.multiply_by(as, small);
    values.set(pairs.values.data(), BLOCK);
  };
  const auto multiply = [&](int from) {
    require(laplacian::multiply(nullptr, side, s.data() + from, BASIS, as.data() + from, BASIS));
  };

  require(laplacian::begin(nullptr, side, s.data(), BASIS));
  require(laplacian::begin(nullptr, side, as.data(), BASIS));  // zeros behind what comes now
  multiply(0);
  Result result;
  update(rayleigh_ritz(BLOCK).first);
  std::chrono::steady_clock::time_point begin;
  int timed = 0;
  while (result.iterations < iterations && result.converged < wanted) {
    if (result.iterations == 1 || timed == 0) begin = std::chrono::steady_clock::now(), timed = 0, result.host_ms = 0;
    require(laplacian::residuals(nullptr, side, s.data(), as.data(), BASIS, values.data(), s.data() + BLOCK));
    multiply(BLOCK);
    const auto [pairs, host_ms] = rayleigh_ritz(result.iterations == 0 ? 2 * BLOCK : BASIS);
    // W's part of G has the squares of the residuals of the vectors before this iteration.
    const Eigen::VectorXd residual = g.diagonal().segment(BLOCK, BLOCK).cwiseSqrt();
    result.converged = static_cast<int>(
        std::find_if(residual.begin(), residual.end(), [&](double its) { return !(its <= tolerance * NORM); }) -
        residual.begin());
    if (result.converged >= wanted) break;
    update(pairs);
    result.host_ms += host_ms;
    result.values.assign(pairs.values.begin(), pairs.values.end());
    ++result.iterations;
    ++timed;
  }
  require(cudaDeviceSynchronize(), "run");
  result.ms = ms_since(begin) / std::max(timed, 1);
  result.host_ms /= std::max(timed, 1);

  // What came of it, from A itself.
  multiply(0);
  require(laplacian::residuals(nullptr, side, s.data(), as.data(), BASIS, values.data(), s.data() + BLOCK));
  products.multiply_transposed(s, s, small);
  small.get(g.data(), BASIS * BASIS);
  const Small x = g.topLeftCorner(BLOCK, BLOCK) - Small::Identity(BLOCK, BLOCK);
  result.not_orthonormal = x.cwiseAbs().maxCoeff();
  result.largest_residual = g.diagonal().segment(BLOCK, wanted).maxCoeff();
  result.largest_residual = std::sqrt(result.largest_residual) / NORM;
  return result;
}

/// The smallest eigenvalues, each as often as it is one.
std::vector<double> exact(int side) {
  const auto part = [&](int i) { return 4 * std::pow(std::sin(i * std::numbers::pi / (2 * (side + 1))), 2); };
  std::vector<double> all;
  for (int i = 1; i <= std::min(side, BLOCK); ++i) {
    for (int j = 1; j <= std::min(side, BLOCK); ++j) all.push_back(part(i) + part(j));
  }
  std::ranges::sort(all);
  all.resize(BLOCK);
  return all;
}

/// Empty if the result is right.
std::string wrong(const Result& its, int side, int wanted, double tolerance) {
  const std::vector<double> truth = exact(side);
  if (!(its.not_orthonormal <= 1e-10)) return fmt::format("|X^T X - I| is {:.1e}", its.not_orthonormal);
  for (int i = 0; i < BLOCK; ++i) {
    if (!(its.values[i] >= truth[i] * (1 - 1e-9) - 1e-13))
      return fmt::format("value {} is {:.12g}, below the smallest that it can be, {:.12g}", i, its.values[i], truth[i]);
    // A residual of size r is no further from an eigenvalue than r.
    if (its.converged >= wanted && i < wanted && its.values[i] - truth[i] > tolerance * NORM)
      return fmt::format("value {} is {:.12g}, and not {:.12g}", i, its.values[i], truth[i]);
  }
  if (its.converged >= wanted && !(its.largest_residual <= 10 * tolerance))
    return fmt::format("a residual is {:.1e} of |A|", its.largest_residual);
  return {};
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app("The smallest eigenvalues of a Laplacian by LOBPCG, with our products and with cuBLAS's");
  int side = 64, iterations = 200, wanted = 12;
  double tolerance = 1e-8;
  std::string json;
  app.add_option("--side", side, "of the grid, which has side^2 points")
      ->check(CLI::Range(8, 8192))
      ->capture_default_str();
  app.add_option("--iterations", iterations, "at most")->check(CLI::Range(2, 100000))->capture_default_str();
  app.add_option("--wanted", wanted, "how many of 16 pairs are to converge")
      ->check(CLI::Range(1, BLOCK))
      ->capture_default_str();
  app.add_option("--tolerance", tolerance, "residual over the norm of the matrix")
      ->check(CLI::Range(1e-12, 1.0))
      ->capture_default_str();
  app.add_option("--json", json, "where to write the result");
  CLI11_PARSE(app, argc, argv);

  const std::int64_t rows = std::int64_t{side} * side;
  const double gb = 8e-9 * static_cast<double>(rows) * WORDS_A_ROW;
  nlohmann::ordered_json report{{"side", side}, {"rows", rows}, {"gb_an_iteration", gb}};
  std::vector<Result> results;
  bool right = true;
  const auto run = [&](const char* name, Products& products) {
    const Result its = solve(products, side, iterations, wanted, tolerance);
    const std::string why = wrong(its, side, wanted, tolerance);
    right = right && why.empty();
    fmt::print("{}: {} iterations, {} of {} pairs; smallest value {:.10g}; |X^T X - I| {:.1e}; residual {:.1e}: {}\n",
               name, its.iterations, its.converged, wanted, its.values[0], its.not_orthonormal, its.largest_residual,
               why.empty() ? "right" : why);
    fmt::print("  {:.2f} ms an iteration, {:.2f} of it Eigen's; at least {:.1f} GB: {:.2f} TB/s\n", its.ms, its.host_ms,
               gb, gb / its.ms);
    report["runs"].push_back({{"products", name},
                              {"iterations", its.iterations},
                              {"converged", its.converged},
                              {"ms", its.ms},
                              {"host_ms", its.host_ms},
                              {"values", its.values},
                              {"not_orthonormal", its.not_orthonormal},
                              {"residual", its.largest_residual},
                              {"right", why.empty()}});
    results.push_back(its);
  };
  {
    TallSkinny ours(rows);
    run("tall_skinny", ours);
  }
#if WITH_CUBLAS
  {
    Cublas theirs(rows);
    run("cuBLAS", theirs);
  }
  double apart = 0;
  for (int i = 0; i < wanted; ++i) apart = std::max(apart, std::abs(results[0].values[i] / results[1].values[i] - 1));
  fmt::print("values differ by {:.1e} at most; an iteration takes cuBLAS {:.2f} times as long\n", apart,
             results[1].ms / results[0].ms);
  report["values_differ"] = apart;
#endif
  if (!json.empty()) {
    std::ofstream file(json);
    if (!(file << report.dump(1) << '\n')) throw Failure("can't write " + json);
  }
  return right ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 2;
}
