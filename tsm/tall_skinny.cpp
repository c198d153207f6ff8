#include "tsm/tall_skinny.hpp"

#include <algorithm>
#include <set>

#include "common/backend/device.hpp"
#include "common/kernel/launch_log.hpp"
#include "tsm/ahead/ahead.hpp"
#include "tsm/choice.hpp"
#include "tsm/library_call.hpp"
#include "tsm/qr/qr.hpp"

namespace tall_skinny {
namespace {

using gemm::Operation;
using gemm::Problem;

gemm::Type type_of(Type type) {
  return type == Type::z ? gemm::Type::c64 : gemm::Type::f64;
}

Status refuse_sizes(std::int64_t m, std::int64_t n, std::int64_t k) {
  if (m < 0 || n < 0 || k < 0) return invalid("m, n and k must not be negative");
  if (m > most_columns || n > most_columns)
    return {Code::unsupported, "m and n can be " + std::to_string(most_columns) + " at most"};
  return {};
}

Status refuse(const Problem& p) {
  if (Status sizes = refuse_sizes(p.m, p.n, p.k); !sizes) return sizes;
  const bool tsmm = p.op == Operation::tsmm, reads = p.depth() > 0 && p.rows() > 0 && p.n > 0;
  const Operand operands[] = {{"A", p.x, p.k, p.m, p.ldx, reads},
                              {tsmm ? "C" : "B", p.y, tsmm ? p.m : p.k, p.n, p.ldy, reads},
                              {tsmm ? "B" : "C", p.out, p.rows(), p.n, p.ldout, true}};
  for (const Operand& operand : operands) {
    if (Status status = refuse_operand(operand, gemm::size_of(p.type)); !status) return status;
  }
  if (reads && gemm::is_in_place(p) && p.ldx != p.ldout && p.k > 1)
    return invalid("A and B are the same memory with different strides");
  return {};
}

// What prepare_*() has compiled kernels for.
std::set<gemm::ahead::Exact> prepared;

// Kernels for exact sizes take a second to compile: only where they were prepared, or there are no others.
bool runs_ahead(const Problem& p) {
  return gemm::ahead::covers(p) && !prepared.contains(gemm::ahead::exact_of(p));
}

// Enough for both kinds of kernels, so that it is the same before and after a kernel was prepared.
std::size_t workspace_of(const Problem& p) {
  if (p.m == 0 || p.n == 0) return 0;
  if (gemm::ahead::covers(p)) return std::max(gemm::ahead::workspace_bytes(p), gemm::most_workspace(p));
  const gemm::Choice& choice = gemm::known_choice(p);
  return choice.stage && choice.stage->workspace_bytes ? choice.stage->workspace_bytes(p) : 0;
}

Status run(const Problem& p, std::size_t workspace_bytes, cudaStream_t stream) noexcept {
  return guarded([&]() -> Status {
    if (Status wrong = refuse(p); !wrong) return wrong;
    if (Status wrong = refuse_workspace(p.workspace, workspace_bytes, workspace_of(p)); !wrong) return wrong;
    return from(runs_ahead(p) ? gemm::ahead::launch(p, stream) : gemm::launch_chosen(p, stream));
  });
}

Status refuse_qr_width(int n) {
  if (n < 0) return invalid("n must not be negative");
  if (n > gemm::qr::most_columns)
    return {Code::unsupported, "n can be " + std::to_string(gemm::qr::most_columns) + " at most"};
  return {};
}

template <class T, class Element>
Status run_qr(cudaStream_t stream, int n, std::int64_t k, Element* x, std::int64_t ldx, Element* r, std::int64_t ldr,
              int* method, void* workspace, std::size_t bytes) noexcept {
  return guarded([&]() -> Status {
    if (Status wrong = refuse_qr_width(n); !wrong) return wrong;
    if (k < n) return invalid("k must not be below n");
    for (const Operand& operand : {Operand{"X", x, k, n, ldx, true}, {"R", r, n, n, ldr, true}}) {
      if (Status wrong = refuse_operand(operand, sizeof(T)); !wrong) return wrong;
    }
    if (n == 0) return {};
    if (!method || reinterpret_cast<std::uintptr_t>(method) % alignof(int) != 0)
      return invalid("the method's place is null or not aligned to 4 bytes");
    if (Status wrong = refuse_workspace(workspace, bytes, gemm::qr::workspace_bytes(n, sizeof(T))); !wrong)
      return wrong;
    if (const gemm::CurrentDevice& device = gemm::current_device(); device.gpu && device.compute_capability < 80)
      return {Code::unsupported, "the QR factorisation needs sm_80"};
    return from(gemm::qr::factorise(
        gemm::qr::QrProblem<T>{n, k, reinterpret_cast<T*>(x), ldx, reinterpret_cast<T*>(r), ldr, method, workspace},
        stream));
  });
}

template <class T>
gemm::Scalar scalar(T x) {
  return {std::real(x), std::imag(x)};
}

template <class T>
Problem tsmttsm_problem(int m, int n, std::int64_t k, T alpha, const T* a, std::int64_t lda, const T* b,
                        std::int64_t ldb, T beta, T* c, std::int64_t ldc, bool conjugate, void* workspace) {
  Problem p;
  p.op = Operation::tsmttsm;
  p.type = type_of(sizeof(T) == sizeof(Complex) ? Type::z : Type::d);
  p.conjugate = conjugate && sizeof(T) == sizeof(Complex);
  p.m = m;
  p.n = n;
  p.k = k;
  p.alpha = scalar(alpha);
  p.x = a;
  p.ldx = lda;
  p.y = b;
  p.ldy = ldb;
  p.beta = scalar(beta);
  p.out = c;
  p.ldout = ldc;
  p.workspace = workspace;
  return p;
}

template <class T>
Problem tsmm_problem(int m, int n, std::int64_t k, T alpha, const T* a, std::int64_t lda, const T* c, std::int64_t ldc,
                     T beta, T* b, std::int64_t ldb) {
  Problem p = tsmttsm_problem(m, n, k, alpha, a, lda, c, ldc, beta, b, ldb, false, nullptr);
  p.op = Operation::tsmm;
  return p;
}

// Goes through all of a launch but the launch itself: with one row and with many, which have kernels of their own.
Status prepare(Problem p, const void* a, std::int64_t lda, const void* tall, std::int64_t ld_tall) noexcept {
  return guarded([&]() -> Status {
    if (Status sizes = refuse_sizes(p.m, p.n, p.k); !sizes) return sizes;
    const std::size_t element = gemm::size_of(p.type);
    for (const Operand& operand :
         {Operand{"A", a, p.k, p.m, lda, a != nullptr}, {"B", tall, p.k, p.n, ld_tall, tall != nullptr}}) {
      if (Status status = refuse_operand(operand, element); !status) return status;
    }
    if (p.m == 0 || p.n == 0) return {};
    const gemm::DryRunScope dry_run;
    for (const std::int64_t k : {std::int64_t{1}, std::int64_t{1} << 30}) {
      p.k = k;
      if (Status status = from(gemm::launch_chosen(p, nullptr)); !status) return status;
    }
    prepared.insert(gemm::ahead::exact_of(p));
    p.alpha = {};
    return from(gemm::launch_chosen(p, nullptr));
  });
}

}  // namespace

std::size_t tsmttsm_workspace(int m, int n, std::int64_t k, Type type) noexcept {
  std::size_t bytes = 0;
  guarded([&]() -> Status {
    Problem p;
    p.op = Operation::tsmttsm;
    p.type = type_of(type);
    p.m = m;
    p.n = n;
    p.k = k;
    if (Status sizes = refuse_sizes(m, n, k); !sizes) return sizes;
    bytes = workspace_of(p);
    return {};
  });
  return bytes;
}

Status tsmttsm(cudaStream_t stream, int m, int n, std::int64_t k, double alpha, const double* a, std::int64_t lda,
               const double* b, std::int64_t ldb, double beta, double* c, std::int64_t ldc, bool conjugate,
               void* workspace, std::size_t workspace_bytes) noexcept {
  return run(tsmttsm_problem(m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, conjugate, workspace), workspace_bytes,
             stream);
}
Status tsmttsm(cudaStream_t stream, int m, int n, std::int64_t k, Complex alpha, const Complex* a, std::int64_t lda,
               const Complex* b, std::int64_t ldb, Complex beta, Complex* c, std::int64_t ldc, bool conjugate,
               void* workspace, std::size_t workspace_bytes) noexcept {
  return run(tsmttsm_problem(m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, conjugate, workspace), workspace_bytes,
             stream);
}

Status tsmm(cudaStream_t stream, int m, int n, std::int64_t k, double alpha, const double* a, std::int64_t lda,
            const double* c, std::int64_t ldc, double beta, double* b, std::int64_t ldb) noexcept {
  return run(tsmm_problem(m, n, k, alpha, a, lda, c, ldc, beta, b, ldb), 0, stream);
}
Status tsmm(cudaStream_t stream, int m, int n, std::int64_t k, Complex alpha, const Complex* a, std::int64_t lda,
            const Complex* c, std::int64_t ldc, Complex beta, Complex* b, std::int64_t ldb) noexcept {
  return run(tsmm_problem(m, n, k, alpha, a, lda, c, ldc, beta, b, ldb), 0, stream);
}

std::size_t cholesky_qr2_workspace(int n, Type type) noexcept {
  std::size_t bytes = 0;
  guarded([&]() -> Status {
    Status wrong = refuse_qr_width(n);
    if (wrong && n > 0) bytes = gemm::qr::workspace_bytes(n, gemm::size_of(type_of(type)));
    return wrong;
  });
  return bytes;
}

Status cholesky_qr2(cudaStream_t stream, int n, std::int64_t k, double* x, std::int64_t ldx, double* r,
                    std::int64_t ldr, int* method, void* workspace, std::size_t workspace_bytes) noexcept {
  return run_qr<double>(stream, n, k, x, ldx, r, ldr, method, workspace, workspace_bytes);
}
Status cholesky_qr2(cudaStream_t stream, int n, std::int64_t k, Complex* x, std::int64_t ldx, Complex* r,
                    std::int64_t ldr, int* method, void* workspace, std::size_t workspace_bytes) noexcept {
  return run_qr<double2>(stream, n, k, x, ldx, r, ldr, method, workspace, workspace_bytes);
}

Status prepare_tsmttsm(Type type, int m, int n, const void* a, std::int64_t lda, const void* b, std::int64_t ldb,
                       bool conjugate) noexcept {
  Problem p;
  p.op = Operation::tsmttsm;
  p.type = type_of(type);
  p.conjugate = conjugate && type == Type::z;
  p.m = m;
  p.n = n;
  p.k = 1;
  // Null stands for aligned memory, of A's and of B's own: the same is a Gram matrix.
  p.x = a ? a : reinterpret_cast<const void*>(256);
  p.ldx = lda;
  p.y = b ? b : reinterpret_cast<const void*>(512);
  p.ldy = ldb;
  p.ldout = n;
  return prepare(p, a, lda, b, ldb);
}

Status prepare_tsmm(Type type, int m, int n, const void* a, std::int64_t lda, const void* b,
                    std::int64_t ldb) noexcept {
  Problem p;
  p.op = Operation::tsmm;
  p.type = type_of(type);
  p.m = m;
  p.n = n;
  p.k = 1;
  p.x = a;
  p.ldx = lda;
  p.ldy = n;
  p.out = const_cast<void*>(b);
  p.ldout = ldb;
  return prepare(p, a, lda, b, ldb);
}

}  // namespace tall_skinny
