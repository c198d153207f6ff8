// 13c TSMM Tensor Cores: B = A C by the FP64 Tensor Cores.
//
// Idea      Rows of A are the rows of m16n8k4's left operand, and C is the right operand. C lies in shared memory in
//           the order in which the instruction reads it, 32 lanes side by side. Rows of A are copied there ahead.
// Base      13_tsmm_pipeline
// Change    First of a kind, with parts in tsm/generated/. A warp has 16 rows at a time, or a multiple, with all their
//           columns. Rows leave through the stage that held the rows of A. Blocks that live to the end take tickets,
//           so that all work near each other.
// Limit     Up to 64 columns of double the memory, reading and writing at once, 4.3 TB/s; of complex numbers, from
//           60 on, 66 TFLOP/s.
// Number    GB/s, TFLOP/s, as a share of the plain cores' roofline and of that of the Tensor Cores.
// Map       A warp's rows lie in four chunks (tsm/generated/chunks.cuh). Lane 4 g + t reads row g / 4 of chunk g % 4.
// Page      docs/tsm/13c_tsmm_tensor_cores.md
// Source    ours. PTX ISA, mma.m16n8k4 of .f64: which lane holds what.
#include "tsm/generated/chunks.cuh"
#include "tsm/generated/fragment_rows.cuh"
#include "tsm/generated/warp_turns.cuh"

extern __shared__ __align__(16) unsigned char smem[];  // C, then the stages of each warp

namespace gemm::generated {

__device__ unsigned counters[most_counters];

/// B = alpha * A * C + beta * B. A warp has 16 PR rows of B at a time, all columns of them, and takes its turn with all
/// other warps, by the counter of that number if it is none below 0. rows_a, rows_b: how A and B lie in memory.
template <class T, int M, int N, int PR, Rows rows_a, Rows rows_b, int threads, int stages, int resident>
__global__ void __launch_bounds__(threads, resident)
    tsmm_tensor(std::int64_t k, T alpha, const T* __restrict__ a, std::int64_t lda, const T* __restrict__ c,
                std::int64_t ldc, T beta, T* __restrict__ b, std::int64_t ldb, int counter) {
  constexpr int element = sizeof(T), rows = 16 * PR, warps = threads / 32, FN = ceil_div(N, 8), steps = ceil_div(M, 4),
                stage = bytes_of_tensor_stage(M, N, element, rows), bytes_c = bytes_of_c_fragments(M, N, element);
  // A load's lanes read four words of eight rows: half a warp at a time 8 bytes each, or a fourth of it 16.
  using FromA = ChunkCopies<T, M, rows, 4 * element, 32, rows_a>;
  using RowsOfB = FragmentRows<T, N, PR, rows_b, threads * resident <= 128, stages == 1, FromA>;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  const RowsOfB rows_of_b{g, t};

  // Where C is narrow blocks live shortly: their warps have rows side by side, and rows of A are on their way before C is
  // read. Else, or where there are too few rows for all, one warp of each block comes first.
  constexpr bool narrow = M * N * element <= most_bytes_of_narrow_c;
  const unsigned block = blockIdx.x, blocks = gridDim.x, pieces = static_cast<unsigned>((k + rows - 1) / rows);
  const bool side_by_side = narrow && pieces >= blocks * warps;
  WarpTurns<stages> turns(pieces, side_by_side ? block * warps + warp : warp * blocks + block, blocks * warps,
                          counter < 0 ? nullptr : counters + counter, lane);
  const auto first_of = [](unsigned piece) { return std::int64_t{piece} * rows; };
  const auto existing_of = [&](unsigned piece) {
    return static_cast<int>(min(k - first_of(piece), std::int64_t{rows}));
  };
  const auto copy = [&](ptx::SharedAddress to, int i) {  // the piece of i turns later
    if (turns.exists(i)) FromA(a, lda, first_of(turns.piece[i]), 0, lane).start(to, existing_of(turns.piece[i]));
    ptx::cp_async_commit();
  };
  const ptx::SharedAddress shared = ptx::kept_shared_address(smem), begin = shared + bytes_c + warp * (stages * stage),
                           end = begin + stages * stage;
  const auto store_c = [&] { RowsOfB::template store_c<M, threads>(reinterpret_cast<T*>(smem), c, ldc, alpha); };
  if constexpr (!narrow) store_c();
#pragma unroll
  for (int s = 0; s < stages; ++s) copy(begin + s * stage, s);
  if constexpr (narrow) store_c();
  __syncthreads();

  // Row g of 8: row g / 4 of chunk g % 4.
  const int x_at = g % 4 * FromA::stride_of_chunk + g / 4 * FromA::row_bytes + t * element;
  const ptx::SharedAddress y_at = shared + lane * element;
  constexpr bool apart = stages == 1 && M % 2 == 0;  // parts of complex A: elsewhere slower (the page's log)
  const bool has_last = M % 4 == 0 || t < M % 4;     // of the last four columns of A
  constexpr bool is_range = !has_gaps(rows_b);
  const std::int64_t ld = is_range ? N : ldb;
  const bool adds = !is_zero(beta);
  ptx::SharedAddress at = begin;
#pragma unroll 1
  while (turns.exists()) {
    T* const out = b + first_of(turns.piece[0]) * ld;
    const int existing = existing_of(turns.piece[0]);
    if constexpr (!is_range) {
      for (int row = lane; ld > N && row < existing; row += 32) prefetch_ends<T, N>(out + row * ld, ld, row > 0);
    }
    ptx::cp_async_wait<stages - 1>();
    __syncwarp();
    Operand<T> x[2][2 * PR], y[2][FN];
    double sum[parts_of<T> * PR * FN][4] = {};
    const auto read = [&](int s) {
      // Zeros behind the last column: what lies there may be infinite.
      const bool exists = s < steps - 1 || has_last;
#pragma unroll
      for (int i = 0; i < 2 * PR; ++i) {
        if (exists)
          x[s % 2][i].template load_left<apart>(at + x_at + i * (2 * FromA::row_bytes) + s * (4 * element));
        else
          x[s % 2][i] = {};
      }
#pragma unroll
      for (int j = 0; j < FN; ++j) y[s % 2][j].load(y_at + (s * FN + j) * (32 * element));
    };
    read(0);
#pragma unroll
    for (int s = 0; s < steps; ++s) {
      if (s + 1 < steps) read(s + 1);
      multiply_fragments<false, PR, FN>(x[s % 2], y[s % 2], sum);
    }
    turns.next();
    __syncwarp();  // nobody reads this stage any more
    if constexpr (RowsOfB::direct) {
      copy(at, stages - 1);
#pragma unroll
      for (int i = 0; i < PR; ++i) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const int row = rows_of_b.row_of(i, 2 * half);
          T* const to_row = out + row * ld;
#pragma unroll
          for (int j = 0; j < FN; ++j) {
            if constexpr (sizeof(T) == 16) {
#pragma unroll
              for (int e = 2 * half; e < 2 * half + 2; ++e) {
                const int col = RowsOfB::column(j, 2 * t + e % 2);
                if (row < existing && (j < N / 8 || col < N)) {
                  T result = RowsOfB::value(sum, i, j, e);
                  if (adds) result = multiply_add(beta, to_row[col], result);
                  to_row[col] = result;
                }
              }
            } else {
              const int col = j * 8 + 2 * t;
              if (row < existing && (j < N / 8 || col < N)) {
                double2 both = make_double2(sum[i * FN + j][2 * half], sum[i * FN + j][2 * half + 1]);
                if (adds) {
                  both.x = multiply_add(beta, to_row[col], both.x);
                  both.y = multiply_add(beta, to_row[col + 1], both.y);
                }
                *reinterpret_cast<double2*>(to_row + col) = both;
              }
            }
          }
        }
      }
    } else {
      rows_of_b.store_to_stage(at, sum);
      __syncwarp();
      if (is_range && FromA::is_in_one && existing == rows && !adds) {
        store_pieces<4 * RowsOfB::pieces, rows_b == Rows::displaced>(reinterpret_cast<double2*>(out), lane, [&](int i) {
          return at + i / RowsOfB::pieces * RowsOfB::stride + i % RowsOfB::pieces * 16;
        });
      } else {
        store_rows<T, N, rows>(out, ld, existing, lane, beta, adds,
                               [&](int row) { return RowsOfB::row_in_stage(at, row); });
      }
      __syncwarp();  // before rows of A come here
      copy(at, stages - 1);
    }
    at = at + stage == end ? begin : at + stage;
  }
}

}  // namespace gemm::generated

#ifndef __CUDACC_RTC__  // what is compiled at run time ends here

#include "tsm/generated/tensor_tsmm_model.hpp"
#include "tsm/jit_launch.hpp"

namespace {

namespace generated = gemm::generated;

gemm::JitRequest request(const generated::Form& f) {
  const generated::TsmmTensorShape s(f.m, f.n, f.is_complex, f.options);
  return {generated::instance("tsmm_tensor", f.is_complex, f.m, f.n, f.options.unroll, f.rows_a, f.rows_b,
                              f.options.threads, s.stages, s.resident),
          gemm::kernel_headers("tsm/13c_tsmm_tensor_cores.cu")};
}

generated::BlockNeeds needs(const generated::Form& f) {
  const generated::TsmmTensorShape s(f.m, f.n, f.is_complex, f.options);
  return {s.rows, s.shared_bytes(f.options.threads), f.options.threads / 32 * s.rows * f.options.turns,
          s.piece_bytes >= generated::least_piece_for_a_ticket};
}

constexpr generated::Generator generator = {generated::each_tensor_tsmm, generated::tensor_tsmm_refusal, request,
                                            needs};

template <class T>
gemm::Status launch(const gemm::TsmmProblem<T>& p, cudaStream_t stream) {
  return generated::launch_rows<generator, true>(p, stream);
}

constexpr gemm::StageInfo info = {
    .idea = "FP64 Tensor Cores, 16 rows of B a warp",
    .base = "13",
    .accuracy = gemm::Accuracy::fp64,
    .min_compute_capability = 80,
    .launch = {launch<double>, launch<double2>},
    .generated = generated::kernels_of<generator>(),
};
const gemm::Registration registration{__FILE__, info};

}  // namespace

#endif
