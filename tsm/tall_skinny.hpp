// Tall & skinny products for other programs, such as block eigensolvers: TSMTTSM and TSMM of row-major block vectors in
// device memory, in double and double complex, by whichever kernel of tsm/ is best for the size (tsm/choice.hpp).
//
// Kernels for any m and n up to 64 are part of the library. prepare_tsmttsm() and prepare_tsmm() compile others for
// exact m and n, a second or less each, and keep them on disk (docs/concepts/run_time_compilation.md). Wider products
// have only those: their first call compiles.
//
// No function throws, ends the program, or waits for the device. Products are enqueued on the stream, on the current
// device (cudaSetDevice; the stream must be of that device); what goes wrong while a kernel runs shows up at the next
// synchronisation, as with any launch. They may be called by several threads, the first calls too: while one of them
// compiles, the others wait. Two products that run at the same time need a workspace each. Into a CUDA graph can be
// captured what was called before, or prepared; tsmm() of wide matrices is then some 5 % slower
// (docs/tsm/13c_tsmm_tensor_cores.md). Kernels are prepared for a device: on each of several anew.
//
// Source of the kernels' ideas: Ernst, Hager, Thies, Wellein, "Performance Engineering for Real and Complex Tall &
// Skinny Matrix Multiplication Kernels on GPUs" (2020).
#pragma once

#include <cuda_runtime.h>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>

#pragma GCC visibility push(default)
namespace tall_skinny {

enum class Code {
  ok,           ///< enqueued, or there was nothing to do
  unsupported,  ///< this build, or this device, has no kernel for it: too wide, no NVRTC, no GPU
  invalid,      ///< an argument is wrong; nothing was enqueued
  failed        ///< the CUDA runtime, or a compiler, reported an error
};

struct Status {
  Code code = Code::ok;
  std::string reason;  ///< one line; empty if all is well

  explicit operator bool() const noexcept { return code == Code::ok; }
};

/// d: double. z: std::complex<double>.
enum class Type { d, z };
using Complex = std::complex<double>;

/// The widest m and n that are not refused as such. (Kernels are meant for m, n up to 64.)
inline constexpr int most_columns = 1024;

/// How many bytes of device memory tsmttsm() needs as workspace, on the current device. Their contents don't matter,
/// before and after. 0 for arguments that tsmttsm() refuses.
std::size_t tsmttsm_workspace(int m, int n, std::int64_t k, Type type) noexcept;

/// C = alpha * A^T * B + beta * C, or with A^H if `conjugate`, which of real numbers is the same. A is k x m, B is k x
/// n, C is m x n, all row-major: element (i, j) of A is a[i * lda + j]. k may be billions. A and B may be the same
/// memory; C must not overlap them. If they are, with the same stride and m = n, this is A's Gram matrix, and A is read
/// once. With beta = 0 C is not read (it may hold NaN), and with alpha = 0, or k = 0, neither are A and B. The result
/// has the same bits each time on the same GPU, if both products are prepared or neither is, unless a tuned kernel with
/// atomic additions was chosen. Strides in elements, lda >= m, ldb >= n, ldc >= n. Matrices are aligned to an element,
/// 8 or 16 bytes, the workspace to 16. invalid: a negative size, a stride below the row, a null or misaligned pointer
/// to what is to be read or written, offsets beyond 2^63 bytes, a workspace smaller than tsmttsm_workspace() says.
Status tsmttsm(cudaStream_t stream, int m, int n, std::int64_t k, double alpha, const double* a, std::int64_t lda,
               const double* b, std::int64_t ldb, double beta, double* c, std::int64_t ldc, bool conjugate,
               void* workspace, std::size_t workspace_bytes) noexcept;
Status tsmttsm(cudaStream_t stream, int m, int n, std::int64_t k, Complex alpha, const Complex* a, std::int64_t lda,
               const Complex* b, std::int64_t ldb, Complex beta, Complex* c, std::int64_t ldc, bool conjugate,
               void* workspace, std::size_t workspace_bytes) noexcept;

/// Some columns of a tall matrix that lies in several places: [X R P] is three blocks.
template <class T>
struct Block {
  const T* data;
  std::int64_t ld;
  int columns;
};
inline constexpr int most_blocks = 4;

/// The same product where A and B are lists of blocks, with k rows each, and C is one matrix. Lists of up to 64 columns
/// are read once; if both are the same, C is the blocks' Gram matrix, and they are read once in all. Wider lists, and all
/// on GPUs below sm_80, are multiplied pair by pair, and read as often. Workspace and errors as above; nothing is enqueued
/// if one of the blocks is wrong. The workspace is 0 bytes for blocks that are refused.
std::size_t tsmttsm_workspace(const Block<double>* a, int blocks_a, const Block<double>* b, int blocks_b,
                              std::int64_t k) noexcept;
std::size_t tsmttsm_workspace(const Block<Complex>* a, int blocks_a, const Block<Complex>* b, int blocks_b,
                              std::int64_t k) noexcept;
Status tsmttsm(cudaStream_t stream, std::int64_t k, double alpha, const Block<double>* a, int blocks_a,
               const Block<double>* b, int blocks_b, double beta, double* c, std::int64_t ldc, bool conjugate,
               void* workspace, std::size_t workspace_bytes) noexcept;
Status tsmttsm(cudaStream_t stream, std::int64_t k, Complex alpha, const Block<Complex>* a, int blocks_a,
               const Block<Complex>* b, int blocks_b, Complex beta, Complex* c, std::int64_t ldc, bool conjugate,
               void* workspace, std::size_t workspace_bytes) noexcept;

/// B = alpha * A * C + beta * B. A is k x m (lda >= m), C is m x n (ldc >= n), B is k x n (ldb >= n), row-major. B may
/// be A: the same pointer, and the same stride, which is at least m and n. The first n columns are then replaced. B
/// must not overlap A or C in any other way, which isn't checked. With beta = 0 B is not read, and with alpha = 0, or m
/// = 0, neither are A and C. Alignment and errors as above; there is no workspace. invalid, too: B is A with another
/// stride. unsupported, too: B is A on a GPU below sm_80.
Status tsmm(cudaStream_t stream, int m, int n, std::int64_t k, double alpha, const double* a, std::int64_t lda,
            const double* c, std::int64_t ldc, double beta, double* b, std::int64_t ldb) noexcept;
Status tsmm(cudaStream_t stream, int m, int n, std::int64_t k, Complex alpha, const Complex* a, std::int64_t lda,
            const Complex* c, std::int64_t ldc, Complex beta, Complex* b, std::int64_t ldb) noexcept;

/// The same product where A is a list of blocks, one below another in C: [X R P] C. B may be one of the blocks: the same
/// pointer, and the same stride. unsupported, too: more than 64 columns in all, or in B, and GPUs below sm_80.
Status tsmm(cudaStream_t stream, int n, std::int64_t k, double alpha, const Block<double>* a, int blocks_a,
            const double* c, std::int64_t ldc, double beta, double* b, std::int64_t ldb) noexcept;
Status tsmm(cudaStream_t stream, int n, std::int64_t k, Complex alpha, const Block<Complex>* a, int blocks_a,
            const Complex* c, std::int64_t ldc, Complex beta, Complex* b, std::int64_t ldb) noexcept;

/// What has found Q and R: Cholesky QR 2; Cholesky QR 3 with a shift, which does where X's condition number is above
/// 1e8; Householder reflections, which always do and are slow.
enum QrMethod : int { qr_cholesky2 = 2, qr_shifted_cholesky3 = 3, qr_householder = 4 };

/// How many bytes of device memory cholesky_qr2() needs as workspace, on the current device; any k. 0 for arguments
/// that it refuses.
std::size_t cholesky_qr2_workspace(int n, Type type) noexcept;

/// X = Q R in X's own memory: X is k x n, row-major, k >= n, n <= 64 (ldx >= n), and becomes Q, whose columns are
/// orthonormal. R is n x n (ldr >= n), upper triangular, zeros below, its diagonal real and not negative. All three
/// methods are enqueued; the device decides which one works, so the host need not wait. `method`, an int in device
/// memory, is then a QrMethod. X is as it was until a method is known to work. With Cholesky QR 2, X is read three times
/// and written once.
///
/// |Q^H Q - I| and |X - Q R| / |X| are of the order of 1e-15 n whatever the condition number is. |X|^2 k must not
/// overflow or underflow. NaN or infinite numbers in X make Q and R NaN. The result has the same bits each time on the
/// same GPU. Workspace, alignment and errors as above; `method` is aligned to 4 bytes. unsupported, too: a GPU below
/// sm_80, n above 64, a GPU with too little shared memory for this n (complex numbers: n above 48 on sm_80, above 32 on
/// sm_86). n = 0: nothing is done.
Status cholesky_qr2(cudaStream_t stream, int n, std::int64_t k, double* x, std::int64_t ldx, double* r,
                    std::int64_t ldr, int* method, void* workspace, std::size_t workspace_bytes) noexcept;
Status cholesky_qr2(cudaStream_t stream, int n, std::int64_t k, Complex* x, std::int64_t ldx, Complex* r,
                    std::int64_t ldr, int* method, void* workspace, std::size_t workspace_bytes) noexcept;

/// Compiles and loads kernels for this size alone, which tsmttsm() and tsmm() launch from then on. There are kernels
/// for rows that all begin at multiples of 16 bytes and for others, and of TSMM for b at multiples of 32: of a and b
/// (or null, which is taken as aligned) and their strides only that matters, and whether a is b, and nothing is read.
/// Errors as those of the products.
Status prepare_tsmttsm(Type type, int m, int n, const void* a, std::int64_t lda, const void* b, std::int64_t ldb,
                       bool conjugate) noexcept;
Status prepare_tsmm(Type type, int m, int n, const void* a, std::int64_t lda, const void* b, std::int64_t ldb) noexcept;

}  // namespace tall_skinny
#pragma GCC visibility pop
