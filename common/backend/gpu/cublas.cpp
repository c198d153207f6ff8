// cuBLAS as the yardstick: row-major problems through its column-major interface, the compute type always set.
#include <cublas_v2.h>
#include <fmt/format.h>

#include "common/check/contender.hpp"

namespace gemm {
namespace {

// One handle for the process: creating one allocates and synchronises.
cublasHandle_t handle() {
  static const cublasHandle_t created = [] {
    cublasHandle_t h = nullptr;
    if (const cublasStatus_t status = cublasCreate(&h); status != CUBLAS_STATUS_SUCCESS) {
      throw DeviceError(fmt::format("could not start cuBLAS: {}", cublasGetStatusString(status)));
    }
    return h;
  }();
  return created;
}

// A row-major matrix is, read by columns, its transpose. C = A B row-major is therefore C^T = B^T A^T column-major:
// swap the operands and m with n, transpose nothing.
// The operands are of one type, C, alpha and beta are FP32.
template <class P, cudaDataType_t operands, cublasComputeType_t compute_type>
Status multiply(const P& p, cudaStream_t stream) {
  if (p.m == 0 || p.n == 0 || p.batch == 0) return Status::ok();
  cublasStatus_t status = cublasSetStream(handle(), stream);
  if (status == CUBLAS_STATUS_SUCCESS) {
    status = p.batch == 1 ? cublasGemmEx(handle(), CUBLAS_OP_N, CUBLAS_OP_N, p.n, p.m, p.k, &p.alpha, p.b, operands,
                                         static_cast<int>(p.ldb), p.a, operands, static_cast<int>(p.lda), &p.beta, p.c,
                                         CUDA_R_32F, static_cast<int>(p.ldc), compute_type, CUBLAS_GEMM_DEFAULT)
                          : cublasGemmStridedBatchedEx(handle(), CUBLAS_OP_N, CUBLAS_OP_N, p.n, p.m, p.k, &p.alpha, p.b,
                                                       operands, static_cast<int>(p.ldb), p.stride_b, p.a, operands,
                                                       static_cast<int>(p.lda), p.stride_a, &p.beta, p.c, CUDA_R_32F,
                                                       static_cast<int>(p.ldc), p.stride_c, p.batch, compute_type,
                                                       CUBLAS_GEMM_DEFAULT);
  }
  if (status == CUBLAS_STATUS_SUCCESS) return Status::ok();
  return Status::failed(fmt::format("cuBLAS: {}", cublasGetStatusString(status)));
}

// The same of a tall & skinny product. C = A^T B, row-major, is C^T = B^T A, and what cuBLAS takes for B is B^T: it is
// not transposed, and A, read as A^T, is. B = A C is as above.
Status multiply_tall(const Problem& p, cudaStream_t stream) {
  if (p.rows() == 0 || p.n == 0) return Status::ok();
  cublasStatus_t status = cublasSetStream(handle(), stream);
  const cublasOperation_t of_x = p.op == Operation::tsmm ? CUBLAS_OP_N : p.conjugate ? CUBLAS_OP_C : CUBLAS_OP_T;
  if (status == CUBLAS_STATUS_SUCCESS && p.type == Type::f64) {
    status = cublasDgemm_64(handle(), CUBLAS_OP_N, of_x, p.n, p.rows(), p.terms(), &p.alpha.real,
                            static_cast<const double*>(p.y), p.ldy, static_cast<const double*>(p.x), p.ldx,
                            &p.beta.real, static_cast<double*>(p.out), p.ldout);
  } else if (status == CUBLAS_STATUS_SUCCESS) {
    const cuDoubleComplex alpha{p.alpha.real, p.alpha.imag}, beta{p.beta.real, p.beta.imag};
    status = cublasZgemm_64(handle(), CUBLAS_OP_N, of_x, p.n, p.rows(), p.terms(), &alpha,
                            static_cast<const cuDoubleComplex*>(p.y), p.ldy, static_cast<const cuDoubleComplex*>(p.x),
                            p.ldx, &beta, static_cast<cuDoubleComplex*>(p.out), p.ldout);
  }
  if (status == CUBLAS_STATUS_SUCCESS) return Status::ok();
  return Status::failed(fmt::format("cuBLAS: {}", cublasGetStatusString(status)));
}

}  // namespace

const std::vector<Contender>& baselines(Type type) {
  static const std::vector<Contender> single = {
      {"cublas/fp32_pedantic", Accuracy::fp32, multiply<SgemmProblem, CUDA_R_32F, CUBLAS_COMPUTE_32F_PEDANTIC>},
      {"cublas/tf32", Accuracy::tf32, multiply<SgemmProblem, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32>},
  };
  static const std::vector<Contender> real = {{"cublas/dgemm", Accuracy::fp64, multiply_tall}};
  static const std::vector<Contender> complex = {{"cublas/zgemm", Accuracy::fp64, multiply_tall}};
  static const std::vector<Contender> half = {
      {"cublas/fp16", Accuracy::tensor_fp32, multiply<HgemmProblem, CUDA_R_16F, CUBLAS_COMPUTE_32F>}};
  return type == Type::f16 ? half : type == Type::f32 ? single : type == Type::f64 ? real : complex;
}

}  // namespace gemm
