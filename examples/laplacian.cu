#include "common/kernel/launch.cuh"
#include "examples/laplacian.hpp"

namespace laplacian {
namespace {

constexpr int threads = 256;

/// A thread for each element: neighbours in a row of 16 words are neighbours in a warp.
template <class Each>
__device__ void each_element(int side, Each each) {
  const std::int64_t count = std::int64_t{side} * side * block;
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step)
    each(i / block, static_cast<int>(i % block));
}

__global__ void multiply_kernel(int side, const double* __restrict__ x, std::int64_t ld_x, double* __restrict__ y,
                                std::int64_t ld_y) {
  each_element(side, [&](std::int64_t row, int col) {
    const double* const at = x + (row * ld_x + col);
    const int px = static_cast<int>(row % side), py = static_cast<int>(row / side);
    double sum = 4 * *at;
    if (px > 0) sum -= at[-ld_x];
    if (px < side - 1) sum -= at[ld_x];
    if (py > 0) sum -= at[-side * ld_x];
    if (py < side - 1) sum -= at[side * ld_x];
    y[row * ld_y + col] = sum;
  });
}

__global__ void residuals_kernel(int side, const double* __restrict__ x, const double* __restrict__ ax, std::int64_t ld,
                                 const double* __restrict__ value, double* __restrict__ w) {
  each_element(side, [&](std::int64_t row, int col) {
    const std::int64_t at = row * ld + col;
    w[at] = ax[at] - x[at] * value[col];
  });
}

__global__ void begin_kernel(int side, double* __restrict__ x, std::int64_t ld) {
  each_element(side, [&](std::int64_t row, int col) {
    std::uint64_t hash = static_cast<std::uint64_t>(row * block + col + 1) * 0x9e3779b97f4a7c15ull;
    hash = (hash ^ hash >> 31) * 0xbf58476d1ce4e5b9ull;
    for (int i = col; i < ld; i += block) x[row * ld + i] = 0;
    x[row * ld + col] = static_cast<double>(hash >> 11) * 0x1p-52 - 1;
  });
}

unsigned blocks_for(int side) {
  constexpr std::int64_t most = 132 * 16;  // more would have too little to do each
  const std::int64_t needed = (std::int64_t{side} * side * block + threads - 1) / threads;
  return static_cast<unsigned>(needed < most ? needed : most);
}

}  // namespace

gemm::Status multiply(cudaStream_t stream, int side, const double* x, std::int64_t ld_x, double* y, std::int64_t ld_y) {
  return gemm::launch(multiply_kernel, {.grid = blocks_for(side), .block = threads, .stream = stream}, side, x, ld_x, y,
                      ld_y);
}
gemm::Status residuals(cudaStream_t stream, int side, const double* x, const double* ax, std::int64_t ld,
                       const double* value, double* w) {
  return gemm::launch(residuals_kernel, {.grid = blocks_for(side), .block = threads, .stream = stream}, side, x, ax, ld,
                      value, w);
}
gemm::Status begin(cudaStream_t stream, int side, double* x, std::int64_t ld) {
  return gemm::launch(begin_kernel, {.grid = blocks_for(side), .block = threads, .stream = stream}, side, x, ld);
}

}  // namespace laplacian
