#include "common/reference.hpp"
#include "common/stage.cuh"

namespace gemm {
namespace {

constexpr int TILE = 32;

// One thread per element, tiles of A and B in shared memory, no further tricks: this must be right, not fast.
__global__ void reference_kernel(SgemmProblem p, int tiles_n, double* c64, double* magnitude) {
  __shared__ double as[TILE][TILE + 1];
  __shared__ double bs[TILE][TILE + 1];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = static_cast<int>(blockIdx.x) / tiles_n * TILE + ty;
  const int col = static_cast<int>(blockIdx.x) % tiles_n * TILE + tx;

  double sum = 0.0, absolute = 0.0;
  for (int k0 = 0; k0 < p.k; k0 += TILE) {
    as[ty][tx] = row < p.m && k0 + tx < p.k ? p.a[row * p.lda + k0 + tx] : 0.0f;
    bs[ty][tx] = k0 + ty < p.k && col < p.n ? p.b[(k0 + ty) * p.ldb + col] : 0.0f;
    __syncthreads();
    for (int k = 0; k < TILE; ++k) {
      const double product = as[ty][k] * bs[k][tx];
      sum += product;
      absolute += fabs(product);
    }
    __syncthreads();
  }
  if (row >= p.m || col >= p.n) return;
  const double alpha = p.alpha, beta = p.beta;
  const double old = p.beta == 0.0f ? 0.0 : p.c[row * p.ldc + col];
  const std::int64_t i = static_cast<std::int64_t>(row) * p.n + col;
  c64[i] = alpha * sum + beta * old;
  magnitude[i] = fabs(alpha) * absolute + fabs(beta * old);
}

}  // namespace

Reference compute_reference(const SgemmProblem& problem) {
  const auto elements = static_cast<std::size_t>(problem.m) * static_cast<std::size_t>(problem.n);
  Reference result{DeviceArray<double>(elements), DeviceArray<double>(elements)};
  const int tiles_m = ceil_div(problem.m, TILE), tiles_n = ceil_div(problem.n, TILE);
  SgemmProblem p = problem;
  p.k = problem.depth();
  const Status status = launch(
      reference_kernel, {dim3(static_cast<unsigned>(tiles_m) * static_cast<unsigned>(tiles_n)), dim3(TILE, TILE)}, p,
      tiles_n, result.c.data(), result.magnitude.data());
  if (!status) throw DeviceError("could not compute the reference: " + status.reason);
  check_cuda(cudaDeviceSynchronize(), "compute the reference");
  return result;
}

}  // namespace gemm
