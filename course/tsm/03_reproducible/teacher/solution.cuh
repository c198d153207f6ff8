// tsm/03_reproducible, the teacher's solution.
constexpr int TILE = 8, SLICES = 4;
constexpr int ELEMENTS = 32, GROUPS = 4;

// Adds up the block's `depth` layers of `layer` numbers, always in the same order. The sum is in the first layer, and
// belongs to the thread that has its index.
__device__ void add_layers(double* sums, int index, int layer, int depth) {
  for (int half = depth / 2; half > 0; half /= 2) {
    __syncthreads();  // the layers above are complete
    if (index < half * layer) sums[index] += sums[index + half * layer];
  }
}

__global__ void partial(int m, int n, std::int64_t k, const double* a, std::int64_t lda, const double* b,
                        std::int64_t ldb, double* parts) {
  __shared__ double sums[SLICES * TILE * TILE];
  const int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
  const int index = (threadIdx.z * TILE + threadIdx.y) * TILE + threadIdx.x;
  const bool exists = row < m && col < n;

  const std::int64_t first = k * blockIdx.z / gridDim.z, end = k * (blockIdx.z + 1) / gridDim.z;
  double sum = 0.0;
  if (exists) {
    for (std::int64_t i = first + threadIdx.z; i < end; i += SLICES) sum += a[i * lda + row] * b[i * ldb + col];
  }
  sums[index] = sum;
  add_layers(sums, index, TILE * TILE, SLICES);
  if (exists && threadIdx.z == 0) parts[(static_cast<std::int64_t>(blockIdx.z) * m + row) * n + col] = sums[index];
}

__global__ void finish(int m, int n, int chunks, double alpha, const double* parts, double beta, double* c,
                       std::int64_t ldc) {
  __shared__ double sums[GROUPS * ELEMENTS];
  const int element = blockIdx.x * ELEMENTS + threadIdx.x, index = threadIdx.y * ELEMENTS + threadIdx.x;
  const bool exists = element < m * n;

  double sum = 0.0;
  if (exists) {
    for (std::int64_t part = threadIdx.y; part < chunks; part += GROUPS) sum += parts[part * m * n + element];
  }
  sums[index] = sum;
  add_layers(sums, index, ELEMENTS, GROUPS);
  if (!exists || threadIdx.y > 0) return;
  double* const out = c + element / n * ldc + element % n;
  *out = beta == 0.0 ? alpha * sums[index] : alpha * sums[index] + beta * *out;
}
