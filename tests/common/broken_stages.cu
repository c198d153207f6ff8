// Stages broken on purpose, each in one way: stage 04 with a flaw compiled in. The checker must reject every one
// (tests/common/test_broken.cpp). They register as the family "broken" and are linked into that test alone.
#include "common/stage.cuh"

namespace {

enum class Flaw {
  missing_barrier,          // reads tiles that others have not filled yet
  missing_second_barrier,   // refills tiles that others still read
  swapped_index,            // reads B's tile by column where it was filled by row
  dropped_k_tail,           // leaves out the last, partial tile of k
  dropped_k,                // leaves out one single product of each sum
  nan,                      // one element of C is NaN
  reads_c,                  // multiplies C by beta = 0: C may hold NaN
  reads_a_and_b,            // multiplies A B by alpha = 0: they may hold NaN
  wrong_leading_dimension,  // takes A's row length for its leading dimension
  off_by_one,               // writes one column past the end
  half_precision,           // rounds the inputs as FP16 does, and still claims to be FP32
  changes_input,            // adds to A when it is done
  stale_output,             // launches nothing after the first time
  launch_failure,           // asks for 2048 threads a block and ignores the answer
  launch_refused,           // asks for 2048 threads a block and reports the answer
};

constexpr int TILE = 32;

// Round to nearest, ties away, to 11 significant bits.
__device__ float round_to_half(float x) {
  union {
    float number;
    std::uint32_t bits;
  } u = {x};
  u.bits = (u.bits + 0x1000u) & ~0x1fffu;
  return u.number;
}

template <Flaw flaw>
__global__ void sgemm(int m, int n, int k, float alpha, const float* a, std::int64_t lda, const float* b,
                      std::int64_t ldb, float beta, float* c, std::int64_t ldc, int tiles_n) {
  __shared__ float as[TILE][TILE];
  __shared__ float bs[TILE][TILE];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.x / tiles_n * TILE + ty;
  const int col = blockIdx.x % tiles_n * TILE + tx;

  if (flaw == Flaw::dropped_k_tail) k = k / TILE * TILE;
  if (flaw == Flaw::dropped_k) k = k - 1;
  if (flaw == Flaw::wrong_leading_dimension) lda = k;

  float sum = 0.0f;
  for (int k0 = 0; k0 < k; k0 += TILE) {
    as[ty][tx] = row < m && k0 + tx < k ? a[row * lda + k0 + tx] : 0.0f;
    bs[ty][tx] = k0 + ty < k && col < n ? b[(k0 + ty) * ldb + col] : 0.0f;
    if (flaw == Flaw::half_precision) {
      as[ty][tx] = round_to_half(as[ty][tx]);
      bs[ty][tx] = round_to_half(bs[ty][tx]);
    }
    if (flaw != Flaw::missing_barrier) __syncthreads();
    for (int i = 0; i < TILE; ++i) sum += as[ty][i] * (flaw == Flaw::swapped_index ? bs[tx][i] : bs[i][tx]);
    if (flaw != Flaw::missing_second_barrier) __syncthreads();
  }
  if (flaw == Flaw::nan && row == m / 2 && col == n / 3) sum = NAN;

  if (row >= m || col >= n + (flaw == Flaw::off_by_one)) return;
  float* out = c + row * ldc + col;
  *out = beta == 0.0f && flaw != Flaw::reads_c ? alpha * sum : alpha * sum + beta * *out;
}

__global__ void add_one(float* a) {
  *a += 1.0f;
}

template <Flaw flaw>
gemm::Status launch(const gemm::SgemmProblem& p, cudaStream_t stream) {
  static int calls = 0;
  if (flaw == Flaw::stale_output && calls++ > 0) return gemm::Status::ok();

  const bool too_many_threads = flaw == Flaw::launch_failure || flaw == Flaw::launch_refused;
  const int tiles_m = gemm::ceil_div(p.m, TILE), tiles_n = gemm::ceil_div(p.n, TILE);
  const gemm::Status status = gemm::launch(sgemm<flaw>,
                                           {.grid = static_cast<unsigned>(tiles_m) * tiles_n,
                                            .block = {TILE, TILE * (1 + too_many_threads)},
                                            .stream = stream},
                                           p.m, p.n, flaw == Flaw::reads_a_and_b ? p.k : p.depth(), p.alpha, p.a, p.lda,
                                           p.b, p.ldb, p.beta, p.c, p.ldc, tiles_n);
  if (flaw == Flaw::launch_failure) return gemm::Status::ok();
  if (flaw == Flaw::changes_input && status) return gemm::launch(add_one, {.stream = stream}, const_cast<float*>(p.a));
  return status;
}

template <Flaw flaw>
struct Broken {
  explicit Broken(const char* id)
      : registration(id, gemm::StageInfo{.idea = "broken on purpose", .launch = launch<flaw>}) {}
  gemm::Registration registration;
};

const Broken<Flaw::missing_barrier> b01("broken/01_missing_barrier.cu");
const Broken<Flaw::missing_second_barrier> b02("broken/02_missing_second_barrier.cu");
const Broken<Flaw::swapped_index> b03("broken/03_swapped_index.cu");
const Broken<Flaw::dropped_k_tail> b04("broken/04_dropped_k_tail.cu");
const Broken<Flaw::dropped_k> b05("broken/05_dropped_k.cu");
const Broken<Flaw::nan> b06("broken/06_nan.cu");
const Broken<Flaw::reads_c> b07("broken/07_reads_c.cu");
const Broken<Flaw::reads_a_and_b> b08("broken/08_reads_a_and_b.cu");
const Broken<Flaw::wrong_leading_dimension> b09("broken/09_wrong_leading_dimension.cu");
const Broken<Flaw::off_by_one> b10("broken/10_off_by_one.cu");
const Broken<Flaw::half_precision> b11("broken/11_half_precision.cu");
const Broken<Flaw::changes_input> b12("broken/12_changes_input.cu");
const Broken<Flaw::stale_output> b13("broken/13_stale_output.cu");
const Broken<Flaw::launch_failure> b14("broken/14_launch_failure.cu");
const Broken<Flaw::launch_refused> b15("broken/15_launch_refused.cu");

}  // namespace
