// SGEMM on Tensor Cores for other programs: FP32's precision and range, from FP16 and TF32 products (tensorcore/11), with the
// arguments of cublasSgemm.
//
// Matrices are in device memory, by columns as BLAS has them: element (i, j) of A is a[i + j * lda]. (By rows: exchange A
// with B and m with n, and read the results' transposes.) No function throws or waits for the device. Products are enqueued
// on the stream, on the current device (cudaSetDevice; the stream must be of that device); what goes wrong while a kernel runs
// shows up at the next synchronisation. They may be called by several threads, the first calls too; two products that run at
// the same time need a workspace each. A product can be captured into a CUDA graph.
//
// Precision: with Policy::automatic |error| is bounded as FP32's is, by a small multiple of 2^-22 |A||B| for each
// element, whatever the numbers; infinity and NaN come out as FP32 arithmetic has them. Source of the method: Ootomo and
// Yokota (2022); of the choice between FP16 and TF32: docs/tensorcore/11_any_numbers.md.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <string>

#pragma GCC visibility push(default)
namespace tcec_sgemm {

enum class Code {
  ok,           ///< enqueued, or there was nothing to do
  unsupported,  ///< there is no GPU, or it can't (compute capability below 8.0, or too little shared memory)
  invalid,      ///< an argument is wrong; nothing was enqueued
  failed        ///< the CUDA runtime reported an error
};

struct Status {
  Code code = Code::ok;
  std::string reason;  ///< one line; empty if all is well

  explicit operator bool() const noexcept { return code == Code::ok; }
};

enum class Operation { none, transpose };

enum class Policy {
  automatic,  ///< FP16, and TF32 where that can't be sure of a result: decided on the device, part by part
  fp16,       ///< always FP16: numbers 2^17 times as small as their row's (or column's) largest lose digits
  tf32,       ///< always TF32, at half the speed
};

/// op(A) is m x k, op(B) k x n, C m x n. What the functions below have in common.
struct Product {
  Operation op_a = Operation::none, op_b = Operation::none;
  int m = 0, n = 0, k = 0;
  Policy policy = Policy::automatic;
};

/// How many bytes of device memory a product needs as workspace, or a batch of so many, on the current device: about those of
/// A and B, twice (for TF32), at most a little over 2 GiB for a batch of small ones. Their contents don't matter, before and
/// after. 0 for arguments that the functions refuse.
std::size_t sgemm_workspace(const Product& product, int batch = 1) noexcept;

/// C = alpha * op(A) * op(B) + beta * C. With beta = 0 C is not read (it may hold NaN); with alpha = 0, or k = 0, neither are A
/// and B. C must not overlap them. Leading dimensions in elements, at least the rows of the matrix as it is stored and 1.
/// Matrices are aligned to 4 bytes, the workspace to 256. invalid: a negative size, a leading dimension below the rows, a
/// null or misaligned pointer to what is to be read or written, a workspace smaller than sgemm_workspace() says.
Status sgemm(cudaStream_t stream, const Product& product, float alpha, const float* a, std::int64_t lda, const float* b,
             std::int64_t ldb, float beta, float* c, std::int64_t ldc, void* workspace,
             std::size_t workspace_bytes) noexcept;

/// The same for `batch` products whose matrices lie stride_a, stride_b and stride_c elements behind one another; of A and B
/// that may be 0, for one that all have.
Status sgemm_strided_batched(cudaStream_t stream, const Product& product, float alpha, const float* a, std::int64_t lda,
                             std::int64_t stride_a, const float* b, std::int64_t ldb, std::int64_t stride_b, float beta,
                             float* c, std::int64_t ldc, std::int64_t stride_c, int batch, void* workspace,
                             std::size_t workspace_bytes) noexcept;

/// The same for matrices anywhere: a, b and c are arrays of `batch` pointers, and in device memory themselves. What they point
/// to can't be checked here.
Status sgemm_batched(cudaStream_t stream, const Product& product, float alpha, const float* const* a, std::int64_t lda,
                     const float* const* b, std::int64_t ldb, float beta, float* const* c, std::int64_t ldc, int batch,
                     void* workspace, std::size_t workspace_bytes) noexcept;

}  // namespace tcec_sgemm
#pragma GCC visibility pop
