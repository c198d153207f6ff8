// Arithmetic, vector types and cooperative groups in kernels, for tests/executor/test_intrinsics.cpp.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <cstring>

#include "tests/executor/intrinsic_kernels.hpp"
#include "tests/executor/intrinsic_launch.cuh"

namespace cg = cooperative_groups;

namespace intrinsics {
namespace {

__global__ void float_kernel(float a, float b, float c, float* out) {
  int n = 0;
  for (const float x : {__fmaf_rn(a, b, c),
                        __fadd_rn(__fmul_rn(a, b), c),
                        __fsub_rn(a * b, c),
                        __fmul_rn(a, b) + c,
                        __fdiv_rn(a, b),
                        __frcp_rn(a),
                        __fsqrt_rn(a),
                        rsqrtf(a),
                        __fdividef(a, b),
                        __expf(a),
                        __logf(a),
                        __log2f(a),
                        __log10f(a),
                        __sinf(a),
                        __cosf(a),
                        __tanf(a),
                        __powf(a, b),
                        __exp10f(a),
                        __saturatef(a),
                        __saturatef(-a),
                        __saturatef(a - 1),
                        __saturatef(NAN),
                        __double2float_rn(1.0 / a),
                        __int2float_rn(16777217),
                        __uint2float_rn(4294967295u),
                        __uint_as_float(__float_as_uint(a)),
                        __int_as_float(__float_as_int(a) + 1)}) {
    out[n++] = x;
  }
}

__global__ void double_kernel(double a, double b, double c, double* out) {
  int n = 0;
  for (const double x :
       {__fma_rn(a, b, c), __dadd_rn(__dmul_rn(a, b), c), __dsub_rn(a * b, c), __ddiv_rn(a, b), rsqrt(a), __dsqrt_rn(a),
        __longlong_as_double(__double_as_longlong(a) + 1), __int2double_rn(-7)}) {
    out[n++] = x;
  }
}

__global__ void conversion_kernel(float x, double y, long long* out) {
  int n = 0;
  for (const long long i :
       {static_cast<long long>(__float2int_rn(x)), static_cast<long long>(__float2int_rz(x)),
        static_cast<long long>(__float2int_ru(x)), static_cast<long long>(__float2int_rd(x)),
        static_cast<long long>(__float2uint_rn(x)), static_cast<long long>(__float2uint_rz(x)), __float2ll_rn(x),
        static_cast<long long>(__float2ull_rn(x)), static_cast<long long>(__double2int_rn(y)),
        static_cast<long long>(__double2uint_rz(y)), __double2ll_rd(y), static_cast<long long>(__double2ull_ru(y))}) {
    out[n++] = i;
  }
}

__global__ void integer_kernel(int a, int b, long long c, long long d, long long* out) {
  __nanosleep(20);
  int n = 0;
  for (const long long i :
       {static_cast<long long>(__mulhi(a, b)), static_cast<long long>(__umulhi(a, b)), __mul64hi(c, d),
        static_cast<long long>(__umul64hi(c, d)), static_cast<long long>(__mul24(a, b)),
        static_cast<long long>(__umul24(a, b)), static_cast<long long>(warpSize)}) {
    out[n++] = i;
  }
}

__global__ void min_max_kernel(int a, unsigned b, float c, double d, long long e, unsigned long long f, double* out) {
  int n = 0;
  const auto put = [&](double least, double greatest) {
    out[n++] = least;
    out[n++] = greatest;
  };
  put(min(a, 3), max(a, 3));
  put(min(b, 3u), max(b, 3u));
  put(min(a, b), max(a, b));  // unsigned, as CUDA has it
  put(min(e, -5ll), max(e, -5ll));
  put(static_cast<double>(min(f, 5ull)), static_cast<double>(max(f, 5ull)));
  put(min(c, 0.5f), max(c, 0.5f));
  put(min(d, 0.5), max(d, 0.5));
  put(min(c, d), max(d, c));
  put(min(c, NAN), max(NAN, c));
}

// Every kind of load and store moves its part of the vectors, once through shared memory, backwards. CUDA has those
// with a hint for two and four components.
template <class V, bool hints>
__global__ void vector_kernel(const V* in, V* out) {
  __shared__ V cells[64];
  const unsigned t = threadIdx.x;
  V v{};
  if constexpr (hints) {
    if (t % 8 == 1) v = __ldg(in + t);
    if (t % 8 == 2) v = __ldcg(in + t);
    if (t % 8 == 3) v = __ldca(in + t);
    if (t % 8 == 4) v = __ldcs(in + t);
  }
  if (t % 8 == 0 || t % 8 > 4 || !hints) {
    const V copied = in[t];
    V again(copied);
    v = again;
  }
  cells[63 - t] = v;
  __syncthreads();
  if constexpr (hints) {
    if (t % 4 == 1) __stcg(out + t, cells[t]);
    if (t % 4 == 2) __stcs(out + t, cells[t]);
    if (t % 4 == 3) __stwt(out + t, cells[t]);
  }
  if (t % 4 == 0 || !hints) out[t] = cells[t];
}

template <class V, bool hints>
bool arrives(std::size_t size, std::size_t alignment) {
  std::vector<unsigned char> bytes(64 * sizeof(V)), expected(bytes.size());
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(i * 37 + i / 64);
  for (std::size_t i = 0; i < 64; ++i) std::memcpy(&expected[i * sizeof(V)], &bytes[(63 - i) * sizeof(V)], sizeof(V));
  const auto in = upload(bytes);
  const gemm::DeviceArray<unsigned char> out(bytes.size());
  go(gemm::launch(vector_kernel<V, hints>, {.block = 64}, reinterpret_cast<const V*>(in.data()),
                  reinterpret_cast<V*>(out.data())));
  return out.to_host() == expected && sizeof(V) == size && alignof(V) == alignment;
}

template <class G>
__device__ void fill(const G& group, const int* values, unsigned i, Member& me) {
  const int mine = values[i];
  me.rank = group.thread_rank();
  me.size = group.size();
  me.meta_rank = group.meta_group_rank();
  me.meta_size = group.meta_group_size();
  me.ballot = group.ballot(mine % 2);
  me.any = group.any(mine % 2);
  me.all = group.all(mine % 2);
  me.match_any = group.match_any(mine % 3);
  me.match_all = group.match_all(mine % 2, me.exclusive);
  me.shfl = group.shfl(mine, group.size() - 1);
  me.up = group.shfl_up(mine, 1);
  me.down = group.shfl_down(mine, 1);
  group.sync();
  cg::sync(group);
  me.sum = cg::reduce(group, mine, cg::plus<int>());
  me.least = cg::reduce(group, mine, cg::less<int>());
  me.greatest = cg::reduce(group, mine, cg::greater<int>());
  me.bit_or = cg::reduce(group, mine, cg::bit_or<int>()) - cg::reduce(group, mine, cg::bit_and<int>()) +
              cg::reduce(group, mine, cg::bit_xor<int>());
  me.product = cg::reduce(group, 1.0f + (mine & 1), [](float a, float b) { return a * b; });
}

// As functions take it: whatever the tile is part of.
template <unsigned size>
__device__ void fill_tile(const cg::thread_block_tile<size>& tile, const int* values, unsigned i, Member& me) {
  fill(tile, values, i, me);
  me.exclusive = tile.shfl_xor(values[i], size / 2);
}

template <unsigned size, bool from_tile>
__global__ void tile_kernel(const int* values, Member* out) {
  const cg::thread_block block = cg::this_thread_block();
  const unsigned i = block.thread_rank();
  if constexpr (from_tile) {
    fill_tile<size>(cg::tiled_partition<size>(cg::tiled_partition<32>(block)), values, i, out[i]);
  } else {
    fill_tile<size>(cg::tiled_partition<size>(block), values, i, out[i]);
  }
}

__global__ void coalesced_kernel(const int* values, Member* out) {
  const cg::coalesced_group group = cg::coalesced_threads();
  fill(group, values, threadIdx.x, out[threadIdx.x]);
}

__global__ void block_kernel(unsigned* out) {
  __shared__ unsigned ranks[96];
  const cg::thread_block block = cg::this_thread_block();
  const unsigned rank = block.thread_rank();
  ranks[rank] = rank;
  block.sync();
  cg::sync(block);
  unsigned* mine = out + 12 * (blockIdx.x * 96 + rank);
  const dim3 g = block.group_index(), t = block.thread_index(), d = block.dim_threads();
  for (const unsigned x : {rank, static_cast<unsigned>(block.size()), g.x, g.y, t.x, t.y, t.z, d.x, d.y, d.z,
                           static_cast<unsigned>(block.num_threads()), ranks[(rank + 1) % 96]}) {
    *mine++ = x;
  }
}

template <unsigned size>
std::vector<Member> tiles_of(bool from_tile, const std::vector<int>& values) {
  const auto in = upload(values);
  const gemm::DeviceArray<Member> out(values.size());
  // A tile of 32 is as large as they come.
  go(gemm::launch(from_tile ? tile_kernel<size, (size < 32)> : tile_kernel<size, false>, {.block = {8, 4, 3}},
                  in.data(), out.data()));
  return out.to_host();
}

template <class T, class... Parameters, class... Arguments>
std::vector<T> run_alone(std::size_t count, void (*kernel)(Parameters...), Arguments... arguments) {
  const gemm::DeviceArray<T> out(count);
  go(gemm::launch(kernel, {.block = 1}, arguments..., out.data()));
  return out.to_host();
}

}  // namespace

std::vector<float> float_functions(float a, float b, float c) {
  return run_alone<float>(27, float_kernel, a, b, c);
}
std::vector<double> double_functions(double a, double b, double c) {
  return run_alone<double>(8, double_kernel, a, b, c);
}
std::vector<long long> conversions(float x, double y) {
  return run_alone<long long>(12, conversion_kernel, x, y);
}
std::vector<long long> integer_functions(int a, int b, long long c, long long d) {
  return run_alone<long long>(7, integer_kernel, a, b, c, d);
}
std::vector<double> min_max(int a, unsigned b, float c, double d, long long e, unsigned long long f) {
  return run_alone<double>(18, min_max_kernel, a, b, c, d, e, f);
}

// Sizes and alignments as in the CUDA C++ Programming Guide, built-in vector types. (nvcc 13 calls those of 32 bytes
// deprecated; tests/executor/test_wide_accesses.py has them.)
std::vector<std::string> damaged_vector_types() {
  std::vector<std::string> damaged;
#define TRY(V, size, alignment, hints) \
  if (!arrives<V, hints>(size, alignment)) damaged.push_back(#V)
#define TRY_ALL(name, size, hints2)         \
  TRY(name##1, size, size, false);          \
  TRY(name##2, 2 * size, 2 * size, hints2); \
  TRY(name##3, 3 * size, size, false)
  TRY_ALL(char, 1, true);
  TRY_ALL(uchar, 1, true);
  TRY_ALL(short, 2, true);
  TRY_ALL(ushort, 2, true);
  TRY_ALL(int, 4, true);
  TRY_ALL(uint, 4, true);
  TRY_ALL(long, 8, false);
  TRY_ALL(ulong, 8, false);
  TRY_ALL(longlong, 8, true);
  TRY_ALL(ulonglong, 8, true);
  TRY_ALL(float, 4, true);
  TRY_ALL(double, 8, true);
  TRY(char4, 4, 4, true);
  TRY(uchar4, 4, 4, true);
  TRY(short4, 8, 8, true);
  TRY(ushort4, 8, 8, true);
  TRY(int4, 16, 16, true);
  TRY(uint4, 16, 16, true);
  TRY(float4, 16, 16, true);
  return damaged;
}

std::vector<Member> tiles(int size, bool from_tile, const std::vector<int>& values) {
  switch (size) {
    case 1:
      return tiles_of<1>(from_tile, values);
    case 2:
      return tiles_of<2>(from_tile, values);
    case 4:
      return tiles_of<4>(from_tile, values);
    case 8:
      return tiles_of<8>(from_tile, values);
    case 16:
      return tiles_of<16>(from_tile, values);
    default:
      return tiles_of<32>(from_tile, values);
  }
}

std::vector<Member> coalesced(int threads, const std::vector<int>& values) {
  return run<Member>(coalesced_kernel, threads, upload(values).data());
}

std::vector<unsigned> block_group() {
  const gemm::DeviceArray<unsigned> out(2 * 96 * 12);
  go(gemm::launch(block_kernel, {.grid = 2, .block = {8, 4, 3}}, out.data()));
  return out.to_host();
}

}  // namespace intrinsics
