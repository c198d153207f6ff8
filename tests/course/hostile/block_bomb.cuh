// has 150 MB of shared memory
constexpr int TILE = 16;
__global__ void sgemm(int m, int n, int k, float alpha, const float* a, std::int64_t lda, const float* b,
                      std::int64_t ldb, float beta, float* c, std::int64_t ldc, int tiles_n) {
  __shared__ float room[150 << 18];
  room[threadIdx.x * 1000 + m] = 1;
  __syncthreads();
  c[0] = room[n];
}
