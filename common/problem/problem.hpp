// The problems that stages solve. All matrices are row-major and in device memory, strides are in elements. As in BLAS,
// beta = 0 means that the result is written and never read, and alpha = 0 that the operands are not read.
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <stdexcept>

#include "common/kernel/complex.cuh"
#include "common/problem/kernel_options.hpp"

namespace gemm {

/// SGEMM: C = alpha * A * B + beta * C, FP32.
/// A is m x k (row stride lda >= k), B is k x n (ldb >= n), C is m x n (ldc >= n); aligned to four bytes and no more.
struct SgemmProblem {
  int m = 0, n = 0, k = 0;
  float alpha = 1.0f;
  const float* a = nullptr;
  std::int64_t lda = 0;
  const float* b = nullptr;
  std::int64_t ldb = 0;
  float beta = 0.0f;
  float* c = nullptr;
  std::int64_t ldc = 0;

  /// Scratch in device memory for stages that ask for it (StageInfo::workspace_bytes), aligned to 256 bytes. Its first
  /// StageInfo::workspace_zeros bytes are 0, for the stage to count with, and 0 again after each launch; the rest is
  /// undefined before each launch. Two launches at the same time need one each.
  float* workspace = nullptr;

  /// Of a batch each matrix begins so many elements behind the one before; for stages that take one (StageInfo::batch).
  int batch = 1;
  std::int64_t stride_a = 0, stride_b = 0, stride_c = 0;

  /// The number of products per element that count: BLAS forbids reading A and B when alpha is zero (they may hold
  /// NaN), and a product over zero terms gives just that, so kernels are launched with this instead of k.
  int depth() const { return alpha == 0.0f ? 0 : k; }
};

/// HGEMM with FP32 sums: the same, but A and B are FP16, which is what Tensor Cores multiply; aligned to two bytes and
/// no more. C, alpha and beta are FP32.
struct HgemmProblem {
  int m = 0, n = 0, k = 0;
  float alpha = 1.0f;
  const __half* a = nullptr;
  std::int64_t lda = 0;
  const __half* b = nullptr;
  std::int64_t ldb = 0;
  float beta = 0.0f;
  float* c = nullptr;
  std::int64_t ldc = 0;
  void* workspace = nullptr;  ///< as for SGEMM; StageInfo::workspace_bytes of it
  int batch = 1;
  std::int64_t stride_a = 0, stride_b = 0, stride_c = 0;

  int depth() const { return alpha == 0.0f ? 0 : k; }
};

/// TSMTTSM: C = alpha * A^T * B + beta * C, or with A^H if `conjugate`; T is double or double2, a complex number.
/// A is k x m (lda >= m), B is k x n (ldb >= n), C is m x n (ldc >= n): k may be billions, m and n are small. Aligned
/// to sizeof(T).
template <class T>
struct TsmttsmProblem {
  int m = 0, n = 0;
  std::int64_t k = 0;
  T alpha;
  const T* a = nullptr;
  std::int64_t lda = 0;
  const T* b = nullptr;
  std::int64_t ldb = 0;
  T beta;
  T* c = nullptr;
  std::int64_t ldc = 0;
  bool conjugate = false;
  void* workspace = nullptr;  ///< as for SGEMM; StageInfo::workspace_bytes of it
  KernelOptions kernel = {};  ///< for stages that generate their kernels

  std::int64_t depth() const;  ///< k, but 0 if alpha is
};

/// TSMM: B = alpha * A * C + beta * B; T as above.
/// A is k x m (lda >= m), C is m x n (ldc >= n), B is k x n (ldb >= n). Aligned to sizeof(T).
template <class T>
struct TsmmProblem {
  int m = 0, n = 0;
  std::int64_t k = 0;
  T alpha;
  const T* a = nullptr;
  std::int64_t lda = 0;
  const T* c = nullptr;
  std::int64_t ldc = 0;
  T beta;
  T* b = nullptr;
  std::int64_t ldb = 0;
  void* workspace = nullptr;
  KernelOptions kernel = {};

  int depth() const;  ///< m, but 0 if alpha is
};

enum class Operation { gemm, tsmttsm, tsmm };

/// What the operands hold: BLAS's S, D and Z; and FP16.
enum class Type { f32, f64, c64, f16 };
constexpr int components(Type type) {
  return type == Type::c64 ? 2 : 1;
}
/// Bytes of an element.
constexpr std::size_t size_of(Type type) {
  return type == Type::f16 ? 2 : type == Type::f32 ? 4 : type == Type::f64 ? 8 : 16;
}
/// What the result holds, and alpha and beta: the same, but for FP16 operands FP32.
constexpr Type result_of(Type operands) {
  return operands == Type::f16 ? Type::f32 : operands;
}

/// alpha or beta of any type.
struct Scalar {
  double real = 0, imag = 0;

  __host__ __device__ bool zero() const { return real == 0 && imag == 0; }
};

/// A problem of any family, as the harness sees it: out = alpha * op(X) * Y + beta * out, where op transposes for
/// TSMTTSM. Converts from and to the problems above.
struct Problem {
  Operation op = Operation::gemm;
  Type type = Type::f32;
  bool conjugate = false;
  std::int64_t m = 0, n = 0, k = 0;  ///< as the family names them
  Scalar alpha{1.0};
  const void* x = nullptr;  ///< A
  std::int64_t ldx = 0;
  const void* y = nullptr;  ///< B; of TSMM C
  std::int64_t ldy = 0;
  Scalar beta;
  void* out = nullptr;  ///< C; of TSMM B
  std::int64_t ldout = 0;
  void* workspace = nullptr;
  std::int64_t batch = 1;                                   ///< only of GEMM
  std::int64_t stride_x = 0, stride_y = 0, stride_out = 0;  ///< from one matrix of it to the next
  KernelOptions kernel = {};

  std::int64_t rows() const { return op == Operation::tsmm ? k : m; }  ///< of the result, which has n columns
  std::int64_t all_rows() const { return batch * rows(); }             ///< of all the batch's
  std::size_t result_bytes() const { return all_rows() * n * size_of(result_of(type)); }  ///< without padding
  std::int64_t terms() const { return op == Operation::tsmm ? m : k; }                    ///< products an element
  std::int64_t depth() const { return alpha.zero() ? 0 : terms(); }                       ///< of them those that count
  /// Roundings in an element's sum go with so many products of real numbers.
  std::int64_t real_terms() const { return depth() * components(type); }

  Problem() = default;
  Problem(const SgemmProblem& p) : Problem(Type::f32, p) {}
  Problem(const HgemmProblem& p) : Problem(Type::f16, p) {}

  template <class T>
  Problem(const TsmttsmProblem<T>& p)
      : op(Operation::tsmttsm),
        type(type_of(T{})),
        conjugate(p.conjugate),
        m(p.m),
        n(p.n),
        k(p.k),
        alpha(scalar(p.alpha)),
        x(p.a),
        ldx(p.lda),
        y(p.b),
        ldy(p.ldb),
        beta(scalar(p.beta)),
        out(p.c),
        ldout(p.ldc),
        workspace(p.workspace),
        kernel(p.kernel) {}
  template <class T>
  Problem(const TsmmProblem<T>& p)
      : op(Operation::tsmm),
        type(type_of(T{})),
        m(p.m),
        n(p.n),
        k(p.k),
        alpha(scalar(p.alpha)),
        x(p.a),
        ldx(p.lda),
        y(p.c),
        ldy(p.ldc),
        beta(scalar(p.beta)),
        out(p.b),
        ldout(p.ldb),
        workspace(p.workspace),
        kernel(p.kernel) {}

  operator SgemmProblem() const {
    require(Operation::gemm, Type::f32);
    return plain<SgemmProblem, float>(static_cast<float*>(workspace));
  }
  operator HgemmProblem() const {
    require(Operation::gemm, Type::f16);
    return plain<HgemmProblem, __half>(workspace);
  }
  template <class T>
  operator TsmttsmProblem<T>() const {
    require(Operation::tsmttsm, type_of(T{}));
    return {static_cast<int>(m),
            static_cast<int>(n),
            k,
            number<T>(alpha),
            static_cast<const T*>(x),
            ldx,
            static_cast<const T*>(y),
            ldy,
            number<T>(beta),
            static_cast<T*>(out),
            ldout,
            conjugate,
            workspace,
            kernel};
  }
  template <class T>
  operator TsmmProblem<T>() const {
    require(Operation::tsmm, type_of(T{}));
    return {static_cast<int>(m),
            static_cast<int>(n),
            k,
            number<T>(alpha),
            static_cast<const T*>(x),
            ldx,
            static_cast<const T*>(y),
            ldy,
            number<T>(beta),
            static_cast<T*>(out),
            ldout,
            workspace,
            kernel};
  }

 private:
  // SGEMM's and HGEMM's problems have the same members, and these two functions from one to the other.
  template <class P>
  Problem(Type operands, const P& p)
      : type(operands),
        m(p.m),
        n(p.n),
        k(p.k),
        alpha{p.alpha},
        x(p.a),
        ldx(p.lda),
        y(p.b),
        ldy(p.ldb),
        beta{p.beta},
        out(p.c),
        ldout(p.ldc),
        workspace(p.workspace),
        batch(p.batch),
        stride_x(p.stride_a),
        stride_y(p.stride_b),
        stride_out(p.stride_c) {}
  template <class P, class Element, class Workspace>
  P plain(Workspace* scratch) const {
    return {static_cast<int>(m),
            static_cast<int>(n),
            static_cast<int>(k),
            static_cast<float>(alpha.real),
            static_cast<const Element*>(x),
            ldx,
            static_cast<const Element*>(y),
            ldy,
            static_cast<float>(beta.real),
            static_cast<float*>(out),
            ldout,
            scratch,
            static_cast<int>(batch),
            stride_x,
            stride_y,
            stride_out};
  }
  static Type type_of(double) { return Type::f64; }
  static Type type_of(double2) { return Type::c64; }
  static Scalar scalar(double x) { return {x}; }
  static Scalar scalar(double2 x) { return {x.x, x.y}; }
  template <class T>
  static T number(Scalar s) {
    if constexpr (sizeof(T) == sizeof(double))
      return s.real;
    else
      return make_double2(s.real, s.imag);
  }
  void require(Operation wanted, Type wanted_type) const {
    if (op != wanted || type != wanted_type) throw std::logic_error("a problem of another kind than its stage");
  }
};

template <class T>
std::int64_t TsmttsmProblem<T>::depth() const {
  return is_zero(alpha) ? 0 : k;
}
template <class T>
int TsmmProblem<T>::depth() const {
  return is_zero(alpha) ? 0 : m;
}

}  // namespace gemm
