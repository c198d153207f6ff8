/* The libraries of this repository in plain C: tall & skinny products and SGEMM on Tensor Cores, of matrices in device
 * memory. C99, C++ or any language with a C interface; needs no header of CUDA. Examples: docs/concepts/libraries.md.
 *
 * What holds of the C++ functions (tsm/tall_skinny.hpp, tensorcore/tcec_sgemm.hpp) holds here. Products are enqueued on
 * the stream, which belongs to the current device. No function waits for the device, or ends the program. All may be
 * called by several threads, the first calls too. Two products that run at the same time need a workspace each.
 *
 * Functions that return int return a staged_gemm_code. Sizes and strides are in elements, workspaces in bytes. A
 * complex number is two doubles, the real part first, as in C99, std::complex<double> and cuDoubleComplex. */
#ifndef STAGED_GEMM_H
#define STAGED_GEMM_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif
#ifdef __cplusplus
extern "C" {
#endif

/* A cudaStream_t; NULL is the default stream. */
typedef struct CUstream_st* staged_gemm_stream;

enum staged_gemm_code {
  STAGED_GEMM_OK = 0,          /* enqueued, or there was nothing to do */
  STAGED_GEMM_INVALID = 1,     /* an argument is wrong; nothing was enqueued */
  STAGED_GEMM_UNSUPPORTED = 2, /* this build or this device can't: no GPU, another architecture, too wide, no NVRTC */
  STAGED_GEMM_FAILED = 3       /* the CUDA runtime, or a compiler, reported an error */
};

enum staged_gemm_type { STAGED_GEMM_DOUBLE = 0, STAGED_GEMM_DOUBLE_COMPLEX = 1 };
enum staged_gemm_operation { STAGED_GEMM_NONE = 0, STAGED_GEMM_TRANSPOSE = 1 };
enum staged_gemm_policy { STAGED_GEMM_AUTOMATIC = 0, STAGED_GEMM_FP16 = 1, STAGED_GEMM_TF32 = 2 };

/* "0.9.0". */
const char* staged_gemm_version(void);
/* What a code means, in a few words; never NULL. The string is constant. */
const char* staged_gemm_code_string(int code);
/* Why this thread's last call that returned a code did not return STAGED_GEMM_OK: one line, empty if it did. Valid
 * until this thread's next call. */
const char* staged_gemm_last_reason(void);

/* C = alpha A^T B + beta C. A is k x m, B is k x n, C is m x n, row-major. z: alpha and beta point to a complex number
 * each; with `conjugate` it is A^H. The workspace is 0 bytes for arguments that the product refuses. */
size_t staged_gemm_tsmttsm_workspace(int type, int m, int n, int64_t k);
int staged_gemm_dtsmttsm(staged_gemm_stream stream, int m, int n, int64_t k, double alpha, const double* a, int64_t lda,
                         const double* b, int64_t ldb, double beta, double* c, int64_t ldc, void* workspace,
                         size_t workspace_bytes);
int staged_gemm_ztsmttsm(staged_gemm_stream stream, int conjugate, int m, int n, int64_t k, const void* alpha,
                         const void* a, int64_t lda, const void* b, int64_t ldb, const void* beta, void* c, int64_t ldc,
                         void* workspace, size_t workspace_bytes);

/* The same where A and B are lists of up to four blocks of k rows each, such as [X R P]^T [X R P]. If both lists are
 * the same, C is a Gram matrix. Up to 64 columns are read once. */
typedef struct staged_gemm_block {
  const void* data;
  int64_t ld;
  int columns;
} staged_gemm_block;
size_t staged_gemm_tsmttsm_blocks_workspace(int type, const staged_gemm_block* a, int blocks_a,
                                            const staged_gemm_block* b, int blocks_b, int64_t k);
int staged_gemm_dtsmttsm_blocks(staged_gemm_stream stream, int64_t k, double alpha, const staged_gemm_block* a,
                                int blocks_a, const staged_gemm_block* b, int blocks_b, double beta, double* c,
                                int64_t ldc, void* workspace, size_t workspace_bytes);
int staged_gemm_ztsmttsm_blocks(staged_gemm_stream stream, int conjugate, int64_t k, const void* alpha,
                                const staged_gemm_block* a, int blocks_a, const staged_gemm_block* b, int blocks_b,
                                const void* beta, void* c, int64_t ldc, void* workspace, size_t workspace_bytes);

/* B = alpha A C + beta B. A is k x m, C is m x n, B is k x n, row-major. B may be A, with the same stride. */
int staged_gemm_dtsmm(staged_gemm_stream stream, int m, int n, int64_t k, double alpha, const double* a, int64_t lda,
                      const double* c, int64_t ldc, double beta, double* b, int64_t ldb);
int staged_gemm_ztsmm(staged_gemm_stream stream, int m, int n, int64_t k, const void* alpha, const void* a, int64_t lda,
                      const void* c, int64_t ldc, const void* beta, void* b, int64_t ldb);

/* The same where A is a list of blocks, up to 64 columns in all; B may be one of them, with the same stride. */
int staged_gemm_dtsmm_blocks(staged_gemm_stream stream, int n, int64_t k, double alpha, const staged_gemm_block* a,
                             int blocks_a, const double* c, int64_t ldc, double beta, double* b, int64_t ldb);
int staged_gemm_ztsmm_blocks(staged_gemm_stream stream, int n, int64_t k, const void* alpha, const staged_gemm_block* a,
                             int blocks_a, const void* c, int64_t ldc, const void* beta, void* b, int64_t ldb);

/* X = Q R: X, k x n, becomes Q; R is n x n, upper triangular. All row-major. `method`, in device memory, says which
 * method it was, when all has run. */
enum staged_gemm_qr_method {
  STAGED_GEMM_QR_CHOLESKY2 = 2,         /* X read three times, written once */
  STAGED_GEMM_QR_SHIFTED_CHOLESKY3 = 3, /* condition numbers from 1e8 on */
  STAGED_GEMM_QR_HOUSEHOLDER = 4        /* whatever X is; slow */
};
size_t staged_gemm_cholesky_qr2_workspace(int type, int n);
int staged_gemm_dcholesky_qr2(staged_gemm_stream stream, int n, int64_t k, double* x, int64_t ldx, double* r,
                              int64_t ldr, int* method, void* workspace, size_t workspace_bytes);
int staged_gemm_zcholesky_qr2(staged_gemm_stream stream, int n, int64_t k, void* x, int64_t ldx, void* r, int64_t ldr,
                              int* method, void* workspace, size_t workspace_bytes);

/* Compile and load kernels for this size alone on the current device, which the products launch from then on: a second
 * or less. Without it they take kernels of any width, to 64; wider ones are compiled by the first product. Of a and b
 * (or NULL: aligned to 16 bytes) and their strides only the alignment of rows matters. */
int staged_gemm_prepare_tsmttsm(int type, int m, int n, const void* a, int64_t lda, const void* b, int64_t ldb,
                                int conjugate);
int staged_gemm_prepare_tsmm(int type, int m, int n, const void* a, int64_t lda, const void* b, int64_t ldb);

/* C = alpha op(A) op(B) + beta C in single precision, as cublasSgemm: matrices by columns, op(A) is m x k, op(B) k x n.
 * In a batch, matrices lie stride_a, stride_b and stride_c elements behind one another. */
typedef struct staged_gemm_product {
  int op_a, op_b; /* staged_gemm_operation */
  int m, n, k;
  int policy; /* staged_gemm_policy */
} staged_gemm_product;
size_t staged_gemm_sgemm_workspace(const staged_gemm_product* product, int batch);
int staged_gemm_sgemm(staged_gemm_stream stream, const staged_gemm_product* product, float alpha, const float* a,
                      int64_t lda, const float* b, int64_t ldb, float beta, float* c, int64_t ldc, void* workspace,
                      size_t workspace_bytes);
int staged_gemm_sgemm_strided_batched(staged_gemm_stream stream, const staged_gemm_product* product, float alpha,
                                      const float* a, int64_t lda, int64_t stride_a, const float* b, int64_t ldb,
                                      int64_t stride_b, float beta, float* c, int64_t ldc, int64_t stride_c, int batch,
                                      void* workspace, size_t workspace_bytes);
/* Matrices anywhere: a, b and c are arrays of `batch` pointers, and in device memory themselves. What they point to
 * can't be checked here. */
int staged_gemm_sgemm_batched(staged_gemm_stream stream, const staged_gemm_product* product, float alpha,
                              const float* const* a, int64_t lda, const float* const* b, int64_t ldb, float beta,
                              float* const* c, int64_t ldc, int batch, void* workspace, size_t workspace_bytes);

#ifdef __cplusplus
}
#endif
#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#endif
