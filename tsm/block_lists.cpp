// Products of lists of blocks (tsm/tall_skinny.hpp): by kernels of any width, which copy rows from several places. Where a
// list is too wide for them, TSMTTSM is a product for each pair of blocks, into its part of C.
#include <algorithm>
#include <type_traits>

#include "common/kernel/launch_log.hpp"
#include "common/problem/problem.hpp"
#include "tsm/ahead/ahead.hpp"
#include "tsm/library_call.hpp"

namespace tall_skinny {
namespace {

using gemm::ahead::BlockEnds;
static_assert(gemm::ahead::most_blocks == most_blocks);

template <class T>
struct List {
  const Block<T>* blocks;
  int count;

  const Block<T>* begin() const { return blocks; }
  const Block<T>* end() const { return blocks + count; }
  std::int64_t columns() const {
    std::int64_t sum = 0;
    for (const Block<T>& block : *this) sum += block.columns;
    return sum;
  }
};

template <class T>
bool same(const List<T>& a, const List<T>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Block<T>& x, const Block<T>& y) {
    return x.data == y.data && x.ld == y.ld && x.columns == y.columns;
  });
}

// What kernels call complex numbers.
template <class T>
using Element = std::conditional_t<std::is_same_v<T, double>, double, double2>;
inline double element(double x) {
  return x;
}
inline double2 element(Complex x) {
  return make_double2(x.real(), x.imag());
}
template <class T>
Element<T>* elements(T* x) {
  return reinterpret_cast<Element<T>*>(x);
}
template <class T>
const Element<T>* elements(const T* x) {
  return reinterpret_cast<const Element<T>*>(x);
}
template <class T>
gemm::ahead::TallMatrix<Element<T>> tall_matrix(const List<T>& list) {
  gemm::ahead::TallMatrix<Element<T>> matrix;
  for (const Block<T>& block : list) matrix.add({elements(block.data), block.ld, block.columns});
  return matrix;
}

template <class T>
Status refuse(const List<T>& list, const char* name) {
  if (list.count < 0 || list.count > most_blocks)
    return {Code::invalid, std::string(name) + " must have 0 to " + std::to_string(most_blocks) + " blocks"};
  if (list.count > 0 && !list.blocks) return {Code::invalid, std::string("the list of ") + name + "'s blocks is null"};
  for (const Block<T>& block : list) {
    if (block.columns < 0) return {Code::invalid, std::string("a block of ") + name + " has fewer than no columns"};
  }
  return {};
}

/// Of one that refuse() has nothing against.
template <class T>
Status refuse_blocks(const List<T>& list, const char* name, std::int64_t k, bool read) {
  for (const Block<T>& block : list) {
    const Operand operand{name, block.data, k, block.columns, block.ld, read};
    if (Status wrong = refuse_operand(operand, sizeof(T)); !wrong) return wrong;
  }
  return {};
}

template <class T>
constexpr Type type_of = std::is_same_v<T, double> ? Type::d : Type::z;

template <class T>
gemm::Problem size_of_product(gemm::Operation op, std::int64_t m, std::int64_t n, std::int64_t k) {
  gemm::Problem p;
  p.op = op;
  p.type = std::is_same_v<T, double> ? gemm::Type::f64 : gemm::Type::c64;
  p.m = m;
  p.n = n;
  p.k = k;
  return p;
}

/// Whether one kernel can have all blocks.
template <class T>
bool in_one(const List<T>& a, const List<T>& b, std::int64_t k) {
  return gemm::ahead::covers(size_of_product<T>(gemm::Operation::tsmttsm, a.columns(), b.columns(), k));
}

template <class T>
std::size_t workspace_in_one(const List<T>& a, const List<T>& b, std::int64_t k) {
  if (a.columns() == 0 || b.columns() == 0) return 0;
  return gemm::ahead::workspace_bytes(size_of_product<T>(gemm::Operation::tsmttsm, a.columns(), b.columns(), k));
}

template <class T>
std::size_t workspace_of(const List<T>& a, const List<T>& b, std::int64_t k) noexcept {
  std::size_t most = 0;
  bool alone = false;
  guarded([&]() -> Status {
    if (Status wrong = refuse(a, "A"); !wrong) return wrong;
    if (Status wrong = refuse(b, "B"); !wrong) return wrong;
    alone = in_one(a, b, k);
    if (alone) most = workspace_in_one(a, b, k);
    return {};
  });
  if (alone || !refuse(a, "A") || !refuse(b, "B")) return most;
  for (const Block<T>& x : a) {
    for (const Block<T>& y : b) most = std::max(most, tsmttsm_workspace(x.columns, y.columns, k, type_of<T>));
  }
  return most;
}

/// All pairs; `mirrored`: without those below the diagonal.
template <class T>
Status multiply(cudaStream_t stream, std::int64_t k, T alpha, const List<T>& a, const List<T>& b, T beta, T* c,
                std::int64_t ldc, bool conjugate, void* workspace, std::size_t workspace_bytes, bool mirrored) {
  std::int64_t row = 0;
  for (int i = 0; i < a.count; row += a.blocks[i++].columns) {
    std::int64_t col = 0;
    for (int j = 0; j < b.count; col += b.blocks[j++].columns) {
      if (mirrored && i > j) continue;
      const Block<T>&x = a.blocks[i], &y = b.blocks[j];
      Status status = tsmttsm(stream, x.columns, y.columns, k, alpha, x.data, x.ld, y.data, y.ld, beta,
                              c ? c + row * ldc + col : c, ldc, conjugate, workspace, workspace_bytes);
      if (!status) return status;
    }
  }
  return {};
}

template <class T>
Status multiply_in_one(cudaStream_t stream, std::int64_t k, T alpha, const List<T>& a, const List<T>& b, T beta, T* c,
                       std::int64_t ldc, bool conjugate, void* workspace, std::size_t workspace_bytes) {
  const bool reads = alpha != T{};
  if (k < 0) return invalid("m, n and k must not be negative");
  if (Status wrong = refuse_blocks(a, "A", k, reads); !wrong) return wrong;
  if (Status wrong = refuse_blocks(b, "B", k, reads); !wrong) return wrong;
  if (Status wrong = refuse_operand({"C", c, a.columns(), b.columns(), ldc, true}, sizeof(T)); !wrong) return wrong;
  if (Status wrong = refuse_workspace(workspace, workspace_bytes, workspace_in_one(a, b, k)); !wrong) return wrong;
  gemm::TsmttsmProblem<Element<T>> p;
  p.m = static_cast<int>(a.columns());
  p.n = static_cast<int>(b.columns());
  p.k = k;
  p.alpha = element(alpha);
  p.beta = element(beta);
  p.c = elements(c);
  p.ldc = ldc;
  p.conjugate = conjugate;
  p.workspace = workspace;
  return p.m == 0 || p.n == 0 ? Status{} : from(gemm::ahead::launch(p, tall_matrix(a), tall_matrix(b), stream));
}

template <class T>
Status multiply_pairs(cudaStream_t stream, std::int64_t k, T alpha, const List<T>& a, const List<T>& b, T beta, T* c,
                      std::int64_t ldc, bool conjugate, void* workspace, std::size_t workspace_bytes) {
  const std::int64_t columns = b.columns();
  if (ldc < columns) return invalid("rows of C are closer to each other than B has columns");
  // alpha A^H A + beta C is Hermitian only if alpha is real and C was so.
  const bool mirrored = a.count > 1 && same(a, b) && beta == T{} && (!conjugate || std::imag(alpha) == 0);
  const auto all = [&] {
    return multiply(stream, k, alpha, a, b, beta, c, ldc, conjugate, workspace, workspace_bytes, mirrored);
  };
  {
    const gemm::DryRunScope dry_run;  // all pairs' arguments, before anything is enqueued
    if (Status wrong = all(); !wrong) return wrong;
  }
  if (Status status = all(); !status || !mirrored) return status;
  BlockEnds ends{};
  for (const Block<T>& block : a) {
    ends.end[ends.count] = (ends.count > 0 ? ends.end[ends.count - 1] : 0) + block.columns;
    ++ends.count;
  }
  return from(gemm::ahead::mirror_blocks(ends, conjugate, elements(c), ldc, stream));
}

template <class T>
Status run(cudaStream_t stream, std::int64_t k, T alpha, const List<T>& a, const List<T>& b, T beta, T* c,
           std::int64_t ldc, bool conjugate, void* workspace, std::size_t workspace_bytes) noexcept try {
  bool alone = false;
  const Status status = guarded([&]() -> Status {
    if (Status wrong = refuse(a, "A"); !wrong) return wrong;
    if (Status wrong = refuse(b, "B"); !wrong) return wrong;
    alone = in_one(a, b, k);
    return !alone ? Status{}
                  : multiply_in_one(stream, k, alpha, a, b, beta, c, ldc, conjugate, workspace, workspace_bytes);
  });
  if (alone || !status) return status;
  return multiply_pairs(stream, k, alpha, a, b, beta, c, ldc, conjugate, workspace, workspace_bytes);
} catch (...) {
  return {Code::failed, {}};
}

template <class T>
Status run(cudaStream_t stream, int n, std::int64_t k, T alpha, const List<T>& a, const T* c, std::int64_t ldc, T beta,
           T* b, std::int64_t ldb) noexcept {
  return guarded([&]() -> Status {
    if (Status wrong = refuse(a, "A"); !wrong) return wrong;
    if (n < 0 || k < 0) return invalid("m, n and k must not be negative");
    const std::int64_t m = a.columns();
    if (!gemm::ahead::covers(size_of_product<T>(gemm::Operation::tsmm, m, n, k)))
      return {Code::unsupported, "TSMM of blocks is for 64 columns at most, and sm_80 or newer"};
    const bool reads = alpha != T{} && n > 0;
    if (Status wrong = refuse_blocks(a, "A", k, reads); !wrong) return wrong;
    for (const Operand& operand : {Operand{"C", c, m, n, ldc, reads && k > 0}, {"B", b, k, n, ldb, true}}) {
      if (Status wrong = refuse_operand(operand, sizeof(T)); !wrong) return wrong;
    }
    for (const Block<T>& block : a) {
      if (reads && block.columns > 0 && block.data == b && block.ld != ldb && k > 1)
        return invalid("A and B are the same memory with different strides");
    }
    if (n == 0 || k == 0) return {};
    gemm::TsmmProblem<Element<T>> p;
    p.m = static_cast<int>(m);
    p.n = n;
    p.k = k;
    p.alpha = element(alpha);
    p.c = elements(c);
    p.ldc = ldc;
    p.beta = element(beta);
    p.b = elements(b);
    p.ldb = ldb;
    return from(gemm::ahead::launch(p, tall_matrix(a), stream));
  });
}

}  // namespace

std::size_t tsmttsm_workspace(const Block<double>* a, int blocks_a, const Block<double>* b, int blocks_b,
                              std::int64_t k) noexcept {
  return workspace_of<double>({a, blocks_a}, {b, blocks_b}, k);
}
std::size_t tsmttsm_workspace(const Block<Complex>* a, int blocks_a, const Block<Complex>* b, int blocks_b,
                              std::int64_t k) noexcept {
  return workspace_of<Complex>({a, blocks_a}, {b, blocks_b}, k);
}

Status tsmttsm(cudaStream_t stream, std::int64_t k, double alpha, const Block<double>* a, int blocks_a,
               const Block<double>* b, int blocks_b, double beta, double* c, std::int64_t ldc, bool conjugate,
               void* workspace, std::size_t workspace_bytes) noexcept {
  return run<double>(stream, k, alpha, {a, blocks_a}, {b, blocks_b}, beta, c, ldc, conjugate, workspace,
                     workspace_bytes);
}
Status tsmttsm(cudaStream_t stream, std::int64_t k, Complex alpha, const Block<Complex>* a, int blocks_a,
               const Block<Complex>* b, int blocks_b, Complex beta, Complex* c, std::int64_t ldc, bool conjugate,
               void* workspace, std::size_t workspace_bytes) noexcept {
  return run<Complex>(stream, k, alpha, {a, blocks_a}, {b, blocks_b}, beta, c, ldc, conjugate, workspace,
                      workspace_bytes);
}

Status tsmm(cudaStream_t stream, int n, std::int64_t k, double alpha, const Block<double>* a, int blocks_a,
            const double* c, std::int64_t ldc, double beta, double* b, std::int64_t ldb) noexcept {
  return run<double>(stream, n, k, alpha, {a, blocks_a}, c, ldc, beta, b, ldb);
}
Status tsmm(cudaStream_t stream, int n, std::int64_t k, Complex alpha, const Block<Complex>* a, int blocks_a,
            const Complex* c, std::int64_t ldc, Complex beta, Complex* b, std::int64_t ldb) noexcept {
  return run<Complex>(stream, n, k, alpha, {a, blocks_a}, c, ldc, beta, b, ldb);
}

}  // namespace tall_skinny
