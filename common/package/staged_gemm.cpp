// The C functions: each checks what C's types don't, and calls its C++ function.
#include "common/package/staged_gemm.h"

#include <cuda_runtime.h>

#include <complex>
#include <string>

#include "tensorcore/tcec_sgemm.hpp"
#include "tsm/tall_skinny.hpp"

namespace {

using tall_skinny::Complex;

thread_local std::string last_reason;

int remember(int code, const char* reason) noexcept {
  try {
    last_reason = reason;
  } catch (...) {
    last_reason.clear();
  }
  return code;
}

// The C++ libraries have a type each for the same four codes.
template <class Status>
int answer(const Status& status) noexcept {
  using Code = decltype(status.code);
  const int code = status.code == Code::ok            ? STAGED_GEMM_OK
                   : status.code == Code::invalid     ? STAGED_GEMM_INVALID
                   : status.code == Code::unsupported ? STAGED_GEMM_UNSUPPORTED
                                                      : STAGED_GEMM_FAILED;
  return remember(code, status.reason.c_str());
}
int invalid(const char* reason) noexcept {
  return remember(STAGED_GEMM_INVALID, reason);
}

bool is_type(int type) {
  return type == STAGED_GEMM_DOUBLE || type == STAGED_GEMM_DOUBLE_COMPLEX;
}
tall_skinny::Type type_of(int type) {
  return type == STAGED_GEMM_DOUBLE ? tall_skinny::Type::d : tall_skinny::Type::z;
}
const Complex* complex(const void* x) {
  return static_cast<const Complex*>(x);
}
Complex* complex(void* x) {
  return static_cast<Complex*>(x);
}
cudaStream_t stream_of(staged_gemm_stream stream) {
  return reinterpret_cast<cudaStream_t>(stream);
}

constexpr const char *no_type = "the type is neither double nor double complex", *no_factor = "alpha or beta is null";

/// What C's blocks are in C++; too many, or none where there should be some, are left to the product to refuse.
template <class T>
struct Blocks {
  tall_skinny::Block<T> blocks[tall_skinny::most_blocks];
  const tall_skinny::Block<T>* data = nullptr;

  Blocks(const staged_gemm_block* from, int count) {
    if (!from) return;
    data = blocks;
    for (int i = 0; i < count && i < tall_skinny::most_blocks; ++i)
      blocks[i] = {static_cast<const T*>(from[i].data), from[i].ld, from[i].columns};
  }
};

// Null if it is a product.
const char* refusal(const staged_gemm_product* p) {
  const auto is_operation = [](int op) { return op == STAGED_GEMM_NONE || op == STAGED_GEMM_TRANSPOSE; };
  if (!p) return "the product is null";
  if (!is_operation(p->op_a) || !is_operation(p->op_b)) return "an operation is neither none nor transpose";
  if (p->policy < STAGED_GEMM_AUTOMATIC || p->policy > STAGED_GEMM_TF32) return "there is no such policy";
  return nullptr;
}
tcec_sgemm::Product product_of(const staged_gemm_product& p) {
  const auto operation = [](int op) {
    return op == STAGED_GEMM_NONE ? tcec_sgemm::Operation::none : tcec_sgemm::Operation::transpose;
  };
  const auto policy = p.policy == STAGED_GEMM_FP16   ? tcec_sgemm::Policy::fp16
                      : p.policy == STAGED_GEMM_TF32 ? tcec_sgemm::Policy::tf32
                                                     : tcec_sgemm::Policy::automatic;
  return {operation(p.op_a), operation(p.op_b), p.m, p.n, p.k, policy};
}

}  // namespace

const char* staged_gemm_version() {
  return STAGED_GEMM_VERSION;
}

const char* staged_gemm_code_string(int code) {
  switch (code) {
    case STAGED_GEMM_OK:
      return "no error";
    case STAGED_GEMM_INVALID:
      return "an argument is wrong";
    case STAGED_GEMM_UNSUPPORTED:
      return "not supported by this build or this device";
    case STAGED_GEMM_FAILED:
      return "the CUDA runtime or a compiler reported an error";
    default:
      return "no such code";
  }
}

const char* staged_gemm_last_reason() {
  return last_reason.c_str();
}

size_t staged_gemm_tsmttsm_workspace(int type, int m, int n, int64_t k) {
  return is_type(type) ? tall_skinny::tsmttsm_workspace(m, n, k, type_of(type)) : 0;
}

int staged_gemm_dtsmttsm(staged_gemm_stream stream, int m, int n, int64_t k, double alpha, const double* a, int64_t lda,
                         const double* b, int64_t ldb, double beta, double* c, int64_t ldc, void* workspace,
                         size_t workspace_bytes) {
  return answer(tall_skinny::tsmttsm(stream_of(stream), m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, false, workspace,
                                     workspace_bytes));
}

int staged_gemm_ztsmttsm(staged_gemm_stream stream, int conjugate, int m, int n, int64_t k, const void* alpha,
                         const void* a, int64_t lda, const void* b, int64_t ldb, const void* beta, void* c, int64_t ldc,
                         void* workspace, size_t workspace_bytes) {
  if (!alpha || !beta) return invalid(no_factor);
  return answer(tall_skinny::tsmttsm(stream_of(stream), m, n, k, *complex(alpha), complex(a), lda, complex(b), ldb,
                                     *complex(beta), complex(c), ldc, conjugate != 0, workspace, workspace_bytes));
}

size_t staged_gemm_tsmttsm_blocks_workspace(int type, const staged_gemm_block* a, int blocks_a,
                                            const staged_gemm_block* b, int blocks_b, int64_t k) {
  const auto of = [&]<class T>(T) {
    return tall_skinny::tsmttsm_workspace(Blocks<T>(a, blocks_a).data, blocks_a, Blocks<T>(b, blocks_b).data, blocks_b,
                                          k);
  };
  return !is_type(type) ? 0 : type == STAGED_GEMM_DOUBLE ? of(double{}) : of(Complex{});
}

int staged_gemm_dtsmttsm_blocks(staged_gemm_stream stream, int64_t k, double alpha, const staged_gemm_block* a,
                                int blocks_a, const staged_gemm_block* b, int blocks_b, double beta, double* c,
                                int64_t ldc, void* workspace, size_t workspace_bytes) {
  return answer(tall_skinny::tsmttsm(stream_of(stream), k, alpha, Blocks<double>(a, blocks_a).data, blocks_a,
                                     Blocks<double>(b, blocks_b).data, blocks_b, beta, c, ldc, false, workspace,
                                     workspace_bytes));
}

int staged_gemm_ztsmttsm_blocks(staged_gemm_stream stream, int conjugate, int64_t k, const void* alpha,
                                const staged_gemm_block* a, int blocks_a, const staged_gemm_block* b, int blocks_b,
                                const void* beta, void* c, int64_t ldc, void* workspace, size_t workspace_bytes) {
  if (!alpha || !beta) return invalid(no_factor);
  return answer(tall_skinny::tsmttsm(stream_of(stream), k, *complex(alpha), Blocks<Complex>(a, blocks_a).data, blocks_a,
                                     Blocks<Complex>(b, blocks_b).data, blocks_b, *complex(beta), complex(c), ldc,
                                     conjugate != 0, workspace, workspace_bytes));
}

int staged_gemm_dtsmm(staged_gemm_stream stream, int m, int n, int64_t k, double alpha, const double* a, int64_t lda,
                      const double* c, int64_t ldc, double beta, double* b, int64_t ldb) {
  return answer(tall_skinny::tsmm(stream_of(stream), m, n, k, alpha, a, lda, c, ldc, beta, b, ldb));
}

int staged_gemm_ztsmm(staged_gemm_stream stream, int m, int n, int64_t k, const void* alpha, const void* a, int64_t lda,
                      const void* c, int64_t ldc, const void* beta, void* b, int64_t ldb) {
  if (!alpha || !beta) return invalid(no_factor);
  return answer(tall_skinny::tsmm(stream_of(stream), m, n, k, *complex(alpha), complex(a), lda, complex(c), ldc,
                                  *complex(beta), complex(b), ldb));
}

int staged_gemm_dtsmm_blocks(staged_gemm_stream stream, int n, int64_t k, double alpha, const staged_gemm_block* a,
                             int blocks_a, const double* c, int64_t ldc, double beta, double* b, int64_t ldb) {
  return answer(tall_skinny::tsmm(stream_of(stream), n, k, alpha, Blocks<double>(a, blocks_a).data, blocks_a, c, ldc,
                                  beta, b, ldb));
}

int staged_gemm_ztsmm_blocks(staged_gemm_stream stream, int n, int64_t k, const void* alpha, const staged_gemm_block* a,
                             int blocks_a, const void* c, int64_t ldc, const void* beta, void* b, int64_t ldb) {
  if (!alpha || !beta) return invalid(no_factor);
  return answer(tall_skinny::tsmm(stream_of(stream), n, k, *complex(alpha), Blocks<Complex>(a, blocks_a).data, blocks_a,
                                  complex(c), ldc, *complex(beta), complex(b), ldb));
}

size_t staged_gemm_cholesky_qr2_workspace(int type, int n) {
  return is_type(type) ? tall_skinny::cholesky_qr2_workspace(n, type_of(type)) : 0;
}

int staged_gemm_dcholesky_qr2(staged_gemm_stream stream, int n, int64_t k, double* x, int64_t ldx, double* r,
                              int64_t ldr, int* method, void* workspace, size_t workspace_bytes) {
  return answer(tall_skinny::cholesky_qr2(stream_of(stream), n, k, x, ldx, r, ldr, method, workspace, workspace_bytes));
}

int staged_gemm_zcholesky_qr2(staged_gemm_stream stream, int n, int64_t k, void* x, int64_t ldx, void* r, int64_t ldr,
                              int* method, void* workspace, size_t workspace_bytes) {
  return answer(tall_skinny::cholesky_qr2(stream_of(stream), n, k, complex(x), ldx, complex(r), ldr, method, workspace,
                                          workspace_bytes));
}

int staged_gemm_prepare_tsmttsm(int type, int m, int n, const void* a, int64_t lda, const void* b, int64_t ldb,
                                int conjugate) {
  if (!is_type(type)) return invalid(no_type);
  return answer(tall_skinny::prepare_tsmttsm(type_of(type), m, n, a, lda, b, ldb, conjugate != 0));
}

int staged_gemm_prepare_tsmm(int type, int m, int n, const void* a, int64_t lda, const void* b, int64_t ldb) {
  if (!is_type(type)) return invalid(no_type);
  return answer(tall_skinny::prepare_tsmm(type_of(type), m, n, a, lda, b, ldb));
}

size_t staged_gemm_sgemm_workspace(const staged_gemm_product* product, int batch) {
  return refusal(product) ? 0 : tcec_sgemm::sgemm_workspace(product_of(*product), batch);
}

int staged_gemm_sgemm(staged_gemm_stream stream, const staged_gemm_product* product, float alpha, const float* a,
                      int64_t lda, const float* b, int64_t ldb, float beta, float* c, int64_t ldc, void* workspace,
                      size_t workspace_bytes) {
  return staged_gemm_sgemm_strided_batched(stream, product, alpha, a, lda, 0, b, ldb, 0, beta, c, ldc, 0, 1, workspace,
                                           workspace_bytes);
}

int staged_gemm_sgemm_strided_batched(staged_gemm_stream stream, const staged_gemm_product* product, float alpha,
                                      const float* a, int64_t lda, int64_t stride_a, const float* b, int64_t ldb,
                                      int64_t stride_b, float beta, float* c, int64_t ldc, int64_t stride_c, int batch,
                                      void* workspace, size_t workspace_bytes) {
  if (const char* const why = refusal(product)) return invalid(why);
  return answer(tcec_sgemm::sgemm_strided_batched(stream_of(stream), product_of(*product), alpha, a, lda, stride_a, b,
                                                  ldb, stride_b, beta, c, ldc, stride_c, batch, workspace,
                                                  workspace_bytes));
}

int staged_gemm_sgemm_batched(staged_gemm_stream stream, const staged_gemm_product* product, float alpha,
                              const float* const* a, int64_t lda, const float* const* b, int64_t ldb, float beta,
                              float* const* c, int64_t ldc, int batch, void* workspace, size_t workspace_bytes) {
  if (const char* const why = refusal(product)) return invalid(why);
  return answer(tcec_sgemm::sgemm_batched(stream_of(stream), product_of(*product), alpha, a, lda, b, ldb, beta, c, ldc,
                                          batch, workspace, workspace_bytes));
}
