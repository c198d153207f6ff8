#include <mma.h>

#include "common/kernel/launch.cuh"
#include "tensorcore/wmma_ext/wmma_ext.hpp"
#include "tests/stages/transform_kernels.hpp"

namespace gemm::transform_test {
namespace {

namespace wmma = nvcuda::wmma;
constexpr unsigned THREADS = 64;

// Which matrix and column a thread has; false if none. parameters: moved on to the matrix's.
__device__ bool find_work(Flaw flaw, const __half*& parameters, int each, std::int64_t count, int m,
                          std::int64_t& first) {
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x, matrix = column / m;
  if (matrix >= count || (flaw == Flaw::last_matrix && matrix == count - 1) ||
      (flaw == Flaw::few_matrices && matrix % 32 != 0)) {
    return false;
  }
  first = matrix * m * m + column % m;
  if (flaw != Flaw::first_matrix) parameters += matrix * each;
  return true;
}

__global__ void reflect_columns(Flaw flaw, const __half* v, const __half* a, __half* b, std::int64_t count, int m) {
  std::int64_t first;
  if (!find_work(flaw, v, m, count, m, first)) return;
  float product = 0, square = 0;
  for (int i = 0; i < m; ++i) {
    product += __half2float(v[i]) * __half2float(a[first + i * m]);
    square += __half2float(v[i]) * __half2float(v[i]);
  }
  for (int i = 0; i < m; ++i) {
    const float x = __half2float(a[first + i * m]), y = __half2float(v[i]) * product;
    float result = x - (flaw == Flaw::not_doubled ? y : 2 * y);
    if (flaw == Flaw::inner_product) result = x - 2 * square * x;
    if (flaw == Flaw::one_column && first % m == m - 1) result = x;
    b[first + i * m] = __float2half(result);
  }
}

__global__ void rotate_columns(Flaw flaw, const __half* rotations, const __half* a, __half* b, std::int64_t count,
                               int i, int j) {
  constexpr int M = 16;
  std::int64_t first = 0;
  if (!find_work(flaw, rotations, 2, count, M, first)) return;
  const float c = __half2float(rotations[0]), s = __half2float(rotations[1]) * (flaw == Flaw::other_way ? -1 : 1);
  const float x = __half2float(a[first + i * M]), y = __half2float(a[first + j * M]);
  for (int row = 0; row < M; ++row) {
    float result = flaw == Flaw::others_zero ? 0 : __half2float(a[first + row * M]);
    if (row == i) result = c * x - s * y;
    if (row == j) result = s * x + c * y;
    if (flaw == Flaw::one_column && first % M == M - 1) result = __half2float(a[first + row * M]);
    b[first + row * M] = __float2half(result);
  }
}

__global__ void run_code_5(Listing listing, const __half* vectors, const __half* a, __half* b) {
  using H = wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major>;
  using A = wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major>;
  using Sum = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;
  using B = wmma::fragment<wmma::accumulator, 16, 16, 16, __half>;
  const __half* const v = vectors + blockIdx.x * 32;
  a += blockIdx.x * 32 * 32;
  b += blockIdx.x * 32 * 32;
  H frag[2 * 2];
  for (H& block : frag) wmma_ext::fill_zero(block);
  wmma_ext::foreach_ij<H>([&](auto indices, int i, int j) {
#pragma unroll
    for (int bi = 0; bi < 2; bi++) {
#pragma unroll
      for (int second = 0; second < 2; second++) {
        const int bj = listing == Listing::bi_for_bj ? bi : second;
        float elm = __half2float(v[i + bi * 16]) * __half2float(v[j + bj * 16]) * (-2);
        if (i == j && (listing == Listing::as_printed || bi == bj)) elm += 1;
        for (const unsigned index : indices) frag[bi + bj * 2].x[index] = __float2half(elm);
      }
    }
  });
  for (int bi = 0; bi < 2; bi++) {
    for (int bj = 0; bj < 2; bj++) {
      Sum sum;
      wmma_ext::fill_zero(sum);
      for (int k = 0; k < 2; k++) {
        A operand;
        wmma::load_matrix_sync(operand, a + k * 16 * 32 + bj * 16, 32);
        wmma::mma_sync(sum, frag[bi + k * 2], operand, sum);
      }
      B result;
      for (int e = 0; e < sum.num_elements; ++e) result.x[e] = __float2half(sum.x[e]);
      wmma::store_matrix_sync(b + bi * 16 * 32 + bj * 16, result, 32, wmma::mem_row_major);
    }
  }
}

LaunchShape shape(std::int64_t threads) {
  return {.grid = static_cast<unsigned>((threads + THREADS - 1) / THREADS), .block = THREADS};
}

}  // namespace

Status reflect(Flaw flaw, const transforms::Matrices& matrices, std::int64_t count) {
  return launch(reflect_columns, shape(count * matrices.m()), flaw, matrices.parameters(), matrices.a(), matrices.b(),
                count, matrices.m());
}

Status rotate(Flaw flaw, const transforms::Matrices& matrices, std::int64_t count, int i, int j) {
  return launch(rotate_columns, shape(count * matrices.m()), flaw, matrices.parameters(), matrices.a(), matrices.b(),
                count, i, j);
}

Status code_5(Listing listing, const transforms::Matrices& matrices, std::int64_t count) {
  return launch(run_code_5, {.grid = static_cast<unsigned>(count), .block = 32}, listing, matrices.parameters(),
                matrices.a(), matrices.b());
}

}  // namespace gemm::transform_test
