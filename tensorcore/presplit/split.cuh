// Operands of FP32, each number split once for all products that it takes part in: what tensorcore/10 and 11 multiply.
//
// Both operands are vectors that are multiplied with each other: rows of op(A), columns of op(B), each of k numbers. A
// vector is scaled by a power of two, so that its largest number comes near the upper end of what Tensor Cores can hold;
// a number v becomes `rounded`, the nearest number of the Tensor Cores' type, and `rest`, the nearest to v - rounded.
//
// Tiles are made of them, PANEL vectors by 64 bytes' worth of k (32 FP16 numbers, 16 of TF32), a vector's 128 bytes side
// by side: four chunks of 16 bytes rounded, then the four of what is left, exchanged by the vector's number (chunk c is
// at c ^ vector % 8), so that ldmatrix finds eight vectors' chunks in eight different groups of banks. Tile (t, p) of k
// and of the vectors comes t * panels + p -th.
#pragma once

#include <cuda_fp16.h>

#include "common/kernel/ptx.cuh"
#include "common/stage.cuh"

namespace presplit {

constexpr int PANEL = 128;         // vectors of a tile
constexpr int VECTOR_BYTES = 128;  // of a tile's vector: its numbers, rounded, and what is left of them
constexpr int TILE_BYTES = PANEL * VECTOR_BYTES;
constexpr int CHUNK_BYTES = 16, CHUNKS = 4;  // of the rounded numbers, and as many of the rests
constexpr int FP32_BIAS = 127;               // of an exponent
constexpr unsigned INFINITE = 0x7f800000u;   // magnitude of infinity; NaN's are larger
constexpr int LOST = -22;                    // 2^LOST of a number may be missing from its two parts

// What Tensor Cores multiply. A vector's largest number is brought to [2^TOP, 2^(TOP + 1)). Of numbers so small beside it
// that more than 2^LOST of them is missing, what is missing is no more than 2^FLOOR.
struct Half {
  using Word = __half;
  static constexpr int TOP = 14, FLOOR = -25;
  static __device__ Word rounded(float v) { return __float2half(v); }
  static __device__ float value(Word v) { return __half2float(v); }
  static __device__ __forceinline__ void multiply(float (&d)[4], const std::uint32_t (&a)[4],
                                                  const std::uint32_t (&b)[2]) {
    gemm::ptx::mma_m16n8k16_f32_f16(d, a, b, d);
  }
};
// Products of two numbers of 2^41 leave FP32 room for sums of 2^45 of them. What is below FP32's normal numbers counts as
// nothing, as Tensor Cores may take it so.
struct Tf32 {
  using Word = std::uint32_t;
  static constexpr int TOP = 40, FLOOR = -126;
  static __device__ Word rounded(float v) { return gemm::ptx::cvt_rna_tf32(v); }
  static __device__ float value(Word v) { return fabsf(__uint_as_float(v)) < 0x1p-126f ? 0.0f : __uint_as_float(v); }
  static __device__ __forceinline__ void multiply(float (&d)[4], const std::uint32_t (&a)[4],
                                                  const std::uint32_t (&b)[2]) {
    gemm::ptx::mma_m16n8k8_f32_tf32(d, a, b, d);
  }
};
template <class Number>
constexpr int TILE_K = CHUNKS* CHUNK_BYTES / static_cast<int>(sizeof(typename Number::Word));

// An operand of each product of a batch, all strides in elements.
struct Vectors {
  const float* first;            // of matrix 0, or
  const float* const* matrices;  // if not null, where each matrix begins
  std::int64_t to_next_matrix, to_next_vector, to_next_term;
  int count;
  __device__ const float* matrix(int i) const { return matrices ? matrices[i] : first + i * to_next_matrix; }
};

// What becomes of it, for one matrix after another; `panels` tiles beside each other.
struct Tiles {
  unsigned char* tiles;
  int* exponents;    // by vector: the power of two that undoes the scaling
  float* uncertain;  // by vector: a product that is no smaller, in scaled numbers, lacks no more than 2^LOST of itself
                     // by what is missing from this one; 0 if no number lacks more, infinite if numbers aren't finite
  int panels;
  __host__ __device__ std::size_t bytes_of_matrix(int tiles_k) const {
    return static_cast<std::size_t>(TILE_BYTES) * panels * tiles_k;
  }
  // Tiles of `width` bytes side by side: that of step `tile_k` of the first, and `tile` of these to its right.
  __device__ const unsigned char* begin(int matrix, int tiles_k, int tile_k, int tile, unsigned width) const {
    return tiles + matrix * bytes_of_matrix(tiles_k) + static_cast<std::size_t>(tile_k) * panels * TILE_BYTES +
           static_cast<std::size_t>(tile) * width;
  }
};

// 2^e for -126 <= e <= 127.
__device__ inline float power_of_two(int e) {
  return __int_as_float((e + FP32_BIAS) << 23);
}
// v 2^e, in two steps, as 2^e alone may be no float. Beyond these limits nothing is left, or all is infinite.
__device__ inline float scaled(float v, int e) {
  e = min(max(e, -252), 254);
  return v * power_of_two(e / 2) * power_of_two(e - e / 2);
}
__device__ inline unsigned magnitude(float v) {
  return __float_as_uint(v) & 0x7fffffffu;
}
// By which power of two to multiply numbers of this largest magnitude (its bits).
__device__ inline int exponent_to(int top, unsigned largest) {
  if (largest == 0) return 0;
  const int e = largest >> 23 ? static_cast<int>(largest >> 23) - FP32_BIAS : -FP32_BIAS + 1 - (__clz(largest) - 8);
  return top - e;
}

// How a block's threads share its VECTORS out: THREADS for each, a chunk at a time. Of neighbouring threads those with
// neighbouring numbers in memory read together: chunks of one vector, or the same of neighbouring vectors. Two lanes with
// chunks side by side fill a sector of the tile in either case. HELD of a thread's chunks stay in registers until the
// vector's scale is known; if there can be more (ALL is false), those are read again.
template <int VECTORS_, int THREADS_, int HELD_, bool ALL_>
struct Share {
  static constexpr int VECTORS = VECTORS_, THREADS = THREADS_, HELD = HELD_, BLOCK = VECTORS * THREADS;
  static constexpr bool ALL = ALL_;
  __host__ __device__ static constexpr int blocks(int panels) { return panels * (PANEL / VECTORS); }
};

// COUNT numbers of a vector from `from` on, of which `exist` do; zeros for the others.
template <int COUNT>
__device__ void load_numbers(float (&v)[COUNT], const float* from, std::int64_t stride, std::int64_t exist,
                             bool aligned) {
  if (aligned && exist >= COUNT) {
#pragma unroll
    for (int e = 0; e < COUNT; e += 4) {
      const float4 four = *reinterpret_cast<const float4*>(from + e);
      v[e] = four.x, v[e + 1] = four.y, v[e + 2] = four.z, v[e + 3] = four.w;
    }
    return;
  }
#pragma unroll
  for (int e = 0; e < COUNT; ++e) v[e] = e < exist ? from[e * stride] : 0.0f;
}

// For all threads of a block: what the threads of a vector have, put together.
template <int THREADS, int VECTORS, class Both>
__device__ unsigned of_vector(unsigned (&seen)[THREADS][VECTORS], int chunk, int vector, unsigned mine,
                              const Both& both) {
  seen[chunk][vector] = mine;
  __syncthreads();
  unsigned all = seen[0][vector];
  for (int i = 1; i < THREADS; ++i) all = both(all, seen[i][vector]);
  return all;
}

// A block's share of one operand of one matrix: vectors from group * S::VECTORS on.
template <class Number, class S>
__device__ void split_group(const Vectors& from, const Tiles& to, int matrix, int group, int k, int tiles_k,
                            unsigned* uncertain_numbers) {
  __shared__ unsigned largest_seen[S::THREADS][S::VECTORS], uncertain_seen[S::THREADS][S::VECTORS];
  using Word = typename Number::Word;
  constexpr int CHUNK = CHUNK_BYTES / static_cast<int>(sizeof(Word)), STEP = S::THREADS * CHUNK, HELD = S::HELD;
  const bool along = from.to_next_term == 1;
  const int thread = threadIdx.x;
  const int in_group = along ? thread / S::THREADS : thread % S::VECTORS;
  const int first_chunk = along ? thread % S::THREADS : thread / S::VECTORS;
  const int vector = group * S::VECTORS + in_group, first = first_chunk * CHUNK;
  const std::int64_t exist = vector < from.count ? k : 0, padded = std::int64_t{tiles_k} * TILE_K<Number>;
  const std::int64_t stride = from.to_next_term;
  const float* const numbers = from.matrix(matrix) + vector * from.to_next_vector;
  const bool aligned = along && reinterpret_cast<std::uintptr_t>(numbers) % 16 == 0;
  const auto load = [&](float(&v)[CHUNK], std::int64_t i) {
    load_numbers(v, numbers + i * stride, stride, exist - i, aligned);
  };

  float held[HELD][CHUNK];
#pragma unroll
  for (int h = 0; h < HELD; ++h) load(held[h], first + h * STEP);
  unsigned largest = 0;
#pragma unroll
  for (int h = 0; h < HELD; ++h) {
#pragma unroll
    for (int e = 0; e < CHUNK; ++e) largest = max(largest, magnitude(held[h][e]));
  }
  if constexpr (!S::ALL) {
#pragma unroll 2
    for (std::int64_t i = first + HELD * STEP; i < exist; i += STEP) {
      float v[CHUNK];
      load(v, i);
#pragma unroll
      for (int e = 0; e < CHUNK; ++e) largest = max(largest, magnitude(v[e]));
    }
  }
  largest = of_vector(largest_seen, first_chunk, in_group, largest, [](unsigned a, unsigned b) { return max(a, b); });
  const bool finite = largest < INFINITE;
  const int up = exponent_to(Number::TOP, largest);

  unsigned char* const place = to.tiles + matrix * to.bytes_of_matrix(tiles_k) +
                               static_cast<std::size_t>(vector / PANEL) * TILE_BYTES + vector % PANEL * VECTOR_BYTES;
  unsigned uncertain = 0;
  const auto split = [&](const float(&v)[CHUNK], std::int64_t i) {
    __align__(16) Word rounded[CHUNK], rest[CHUNK];
#pragma unroll
    for (int e = 0; e < CHUNK; ++e) {
      const float x = finite ? scaled(v[e], up) : 0.0f;
      rounded[e] = Number::rounded(x);
      const float left = x - Number::value(rounded[e]);
      rest[e] = Number::rounded(left);
      const float missing = fabsf(left - Number::value(rest[e]));
      uncertain += missing > power_of_two(LOST) * fabsf(x) || (x == 0.0f && v[e] != 0.0f);
    }
    unsigned char* const tile = place + static_cast<std::size_t>(i / TILE_K<Number>) * to.panels * TILE_BYTES;
    const int chunk = static_cast<int>(i % TILE_K<Number> / CHUNK);
    *reinterpret_cast<uint4*>(tile + (chunk ^ vector % 8) * CHUNK_BYTES) = *reinterpret_cast<const uint4*>(rounded);
    *reinterpret_cast<uint4*>(tile + ((chunk + CHUNKS) ^ vector % 8) * CHUNK_BYTES) =
        *reinterpret_cast<const uint4*>(rest);
  };
  if constexpr (!S::ALL) {
    // The last ones first, which are most likely to be in a cache still.
    const std::int64_t last = first + (padded - 1 - first) / STEP * STEP;
    for (std::int64_t i = last; i >= first + HELD * STEP; i -= STEP) {
      float v[CHUNK];
      load(v, i);
      split(v, i);
    }
  }
#pragma unroll
  for (int h = 0; h < HELD; ++h) {
    if (first + h * STEP < padded) split(held[h], first + h * STEP);
  }
  uncertain = of_vector(uncertain_seen, first_chunk, in_group, uncertain, [](unsigned a, unsigned b) { return a + b; });
  if (first_chunk > 0) return;
  // The other operand's largest numbers lie below 2^(TOP + 1).
  const float least = static_cast<float>(uncertain) * power_of_two(Number::FLOOR + Number::TOP + 1 - LOST);
  to.exponents[matrix * to.panels * PANEL + vector] = -up;
  to.uncertain[matrix * to.panels * PANEL + vector] = finite ? least : __uint_as_float(INFINITE);
  if (uncertain && uncertain_numbers) atomicAdd(uncertain_numbers, uncertain);
}

// What a product has found of one matrix of its batch, where it is to be sure of each element.
struct Findings {
  unsigned uncertain_numbers;  // of op(A) and op(B), that lack more than 2^LOST of themselves as FP16
  unsigned uncertain_parts;    // of C, with too many elements that may lack too much: they are left to TF32
  unsigned again;              // elements that plain cores have calculated
};
// More uncertain numbers than this, and few elements of C will be certain.
__host__ __device__ inline unsigned most_uncertain(int m, int n, int k) {
  return static_cast<unsigned>((static_cast<std::int64_t>(m) + n) * k >> 12) + 16;
}
// Whether FP16 is enough for all of C, so far as is known.
__device__ inline bool few_are_uncertain(const Findings& found, int m, int n, int k) {
  return found.uncertain_numbers <= most_uncertain(m, n, k);
}

struct SplitRequest {
  Vectors a, b;
  Tiles a_tiles, b_tiles;
  int k, tiles_k;
  Findings* findings;  // by matrix; or null, if nobody asks
  bool again;          // findings are of a product with FP16: only matrices that it has not finished are split
};

// S: a Share.
template <class Number, class S>
__global__ void __launch_bounds__(S::BLOCK, 512 / S::BLOCK) split_operands(const SplitRequest r) {
  gemm::ptx::wait_for_launch_ahead();  // it may still read the tiles
  const int a_blocks = S::blocks(r.a_tiles.panels), blocks = a_blocks + S::blocks(r.b_tiles.panels);
  const int matrix = blockIdx.x / blocks, block = blockIdx.x % blocks;
  if (r.again && r.findings[matrix].uncertain_parts == 0 &&
      few_are_uncertain(r.findings[matrix], r.a.count, r.b.count, r.k))
    return;
  unsigned* const count = r.findings && !r.again ? &r.findings[matrix].uncertain_numbers : nullptr;
  const bool of_a = block < a_blocks;
  split_group<Number, S>(of_a ? r.a : r.b, of_a ? r.a_tiles : r.b_tiles, matrix, of_a ? block : block - a_blocks, r.k,
                         r.tiles_k, count);
}

// Splits `matrices` of each operand, with the share that fits k: vectors are held as a whole up to 8192 FP16 numbers.
template <class Number>
gemm::Status launch_split(const SplitRequest& r, int matrices, cudaStream_t stream) {
  const auto launch = [&](auto share) {
    using S = decltype(share);
    const unsigned blocks = static_cast<unsigned>(S::blocks(r.a_tiles.panels + r.b_tiles.panels)) * matrices;
    return gemm::launch(split_operands<Number, S>,
                        {.grid = blocks, .block = S::BLOCK, .stream = stream, .may_begin_early = true}, r);
  };
  const int chunks = r.tiles_k * CHUNKS;  // of a vector
  return chunks <= 16     ? launch(Share<16, 16, 1, true>{})
         : chunks <= 32   ? launch(Share<16, 16, 2, true>{})
         : chunks <= 64   ? launch(Share<8, 32, 2, true>{})
         : chunks <= 128  ? launch(Share<8, 32, 4, true>{})
         : chunks <= 256  ? launch(Share<8, 32, 8, true>{})
         : chunks <= 512  ? launch(Share<8, 64, 8, true>{})
         : chunks <= 1024 ? launch(Share<4, 128, 8, true>{})
                          : launch(Share<4, 128, 8, false>{});
}

}  // namespace presplit
