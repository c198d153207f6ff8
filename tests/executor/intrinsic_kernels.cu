// The warp's and the atomic intrinsics in kernels, for tests/executor/test_intrinsics.cpp.
#include "tests/executor/intrinsic_kernels.hpp"
#include "tests/executor/intrinsic_launch.cuh"

namespace intrinsics {
namespace {

template <class T>
__global__ void shuffle_kernel(const ShuffleCall* calls, const T* in, T* out) {
  const auto [kind, argument, width, mask] = calls[blockIdx.x];
  const unsigned i = threadIdx.x, lane = i % 32;
  out += blockIdx.x * blockDim.x;
  const auto exchange = [&](unsigned lanes, T value) {
    if (kind == Shuffle::index)
      return __shfl_sync(lanes, value, static_cast<int>(lane) * index_stride + argument, width);
    if (kind == Shuffle::up) return __shfl_up_sync(lanes, value, argument, width);
    if (kind == Shuffle::down) return __shfl_down_sync(lanes, value, argument, width);
    return __shfl_xor_sync(lanes, value, argument, width);
  };
  if (mask >> lane & 1) {
    out[i] = exchange(mask, in[i]);
  } else {
    out[i] = exchange(~mask, in[i]);
  }
}

__global__ void vote_kernel(unsigned mask, const int* in, Vote* out) {
  const unsigned i = threadIdx.x, lane = i % 32;
  if (mask >> lane & 1) {
    out[i] = {__ballot_sync(mask, in[i]), __all_sync(mask, in[i]), __any_sync(mask, in[i])};
  } else {
    out[i] = {__ballot_sync(~mask, in[i]), __all_sync(~mask, in[i]), __any_sync(~mask, in[i])};
  }
}

__device__ float quad_perm(float word, int p0, int p1, int p2, int p3) {
  const int lane = threadIdx.x % 4;
  return __shfl_sync(0xffffffff, word, lane == 0 ? p0 : lane == 1 ? p1 : lane == 2 ? p2 : p3, 4);
}

__global__ void quad_perm_kernel(int p0, int p1, int p2, int p3, const float* in, float* out) {
  out[threadIdx.x] = quad_perm(in[threadIdx.x], p0, p1, p2, p3);
}

template <class T>
__global__ void match_kernel(unsigned mask, const T* in, Match* out) {
  const unsigned i = threadIdx.x, lane = i % 32;
  const unsigned lanes = mask >> lane & 1 ? mask : ~mask;
  if (lanes == mask) {
    out[i].any = __match_any_sync(mask, in[i]);
    out[i].all = __match_all_sync(mask, in[i], &out[i].predicate);
  } else {
    out[i].any = __match_any_sync(~mask, in[i]);
    out[i].all = __match_all_sync(~mask, in[i], &out[i].predicate);
  }
}

template <class T>
__global__ void reduce_kernel(unsigned mask, const T* in, Reduction<T>* out, int* supported) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  const unsigned i = threadIdx.x, lane = i % 32;
  const auto all = [&](unsigned lanes) {
    const unsigned bits = static_cast<unsigned>(in[i]);
    return Reduction<T>{__reduce_add_sync(lanes, in[i]), __reduce_min_sync(lanes, in[i]),
                        __reduce_max_sync(lanes, in[i]), __reduce_and_sync(lanes, bits),
                        __reduce_or_sync(lanes, bits),   __reduce_xor_sync(lanes, bits)};
  };
  if (mask >> lane & 1) {
    out[i] = all(mask);
  } else {
    out[i] = all(~mask);
  }
  if (i == 0) *supported = 1;
#endif
}

__global__ void syncwarp_kernel(int* out) {
  __shared__ int words[32];
  const unsigned lane = threadIdx.x;
  if (lane % 2) return;
  words[lane] = static_cast<int>(lane) + 100;
  __syncwarp(0x55555555u);
  out[lane] = words[(lane + 2) % 32];
  __syncwarp(0x55555555u);
  if (lane < 16) {
    words[lane] = static_cast<int>(lane) + 200;
    __syncwarp(0x5555u);
    out[lane] += words[(lane + 2) % 16];
  }
}

__global__ void active_mask_kernel(unsigned* out) {
  out[threadIdx.x] = __activemask();
  __syncthreads();  // none has ended before all have asked
}

__global__ void bits_kernel(const unsigned long long* in, Bits* out) {
  const unsigned long long x = in[threadIdx.x];
  const auto low = static_cast<unsigned>(x);
  const auto whole = static_cast<long long>(x);
  out[threadIdx.x] = {__popc(low),
                      __popcll(x),
                      __clz(static_cast<int>(low)),
                      __clzll(whole),
                      __ffs(static_cast<int>(low)),
                      __ffsll(whole),
                      __brev(low),
                      __brevll(x)};
}

template <class T>
inline constexpr bool is_integer = !std::is_floating_point_v<T>;
template <class T>
inline constexpr bool is_32_bit_integer = is_integer<T> && sizeof(T) == 4;

#define CALL(name)                                             \
  do {                                                         \
    if (scope == Scope::block) return name##_block(cell, x);   \
    if (scope == Scope::system) return name##_system(cell, x); \
    return name(cell, x);                                      \
  } while (0)
template <class T>
__device__ T compare_exchange(Scope scope, T* cell, T expected, T x) {
  if constexpr (sizeof(T) > 2) {  // CUDA has 16 bits in the plain form only
    if (scope == Scope::block) return atomicCAS_block(cell, expected, x);
    if (scope == Scope::system) return atomicCAS_system(cell, expected, x);
  }
  return atomicCAS(cell, expected, x);
}

// Operations that CUDA doesn't offer for T are never asked for.
template <class T>
__device__ T apply(Atomic operation, Scope scope, T* cell, T x) {
  constexpr bool is_short = sizeof(T) == 2, is_signed_long = std::is_same_v<T, long long>;
  if constexpr (!is_short && !is_signed_long) {
    if (operation == Atomic::add) CALL(atomicAdd);
    if constexpr (!std::is_same_v<T, double>) {
      if (operation == Atomic::exchange) CALL(atomicExch);
    }
  }
  if constexpr (is_32_bit_integer<T>) {
    if (operation == Atomic::sub) CALL(atomicSub);
  }
  if constexpr (is_integer<T> && !is_short) {
    if (operation == Atomic::min) CALL(atomicMin);
    if (operation == Atomic::max) CALL(atomicMax);
    if constexpr (!is_signed_long) {
      if (operation == Atomic::bit_and) CALL(atomicAnd);
      if (operation == Atomic::bit_or) CALL(atomicOr);
      if (operation == Atomic::bit_xor) CALL(atomicXor);
    }
  }
  if constexpr (std::is_same_v<T, unsigned>) {
    if (operation == Atomic::increment) CALL(atomicInc);
    if (operation == Atomic::decrement) CALL(atomicDec);
  }
  if constexpr (is_integer<T> && !is_signed_long) {
    T seen = *static_cast<volatile T*>(cell), before;
    do {
      before = seen;
      seen = compare_exchange(scope, cell, before, static_cast<T>(before + x));
    } while (seen != before);
    return before;
  }
  return T();
}

template <class T>
__global__ void atomic_kernel(Atomic operation, Scope scope, T initial, const T* operands, T* global, T* shared,
                              T* old) {
  __shared__ T cell;
  if (threadIdx.x == 0) cell = initial;
  __syncthreads();
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  apply(operation, scope, &cell, operands[i]);
  old[i] = apply(operation, scope, global, operands[i]);
  __syncthreads();
  if (threadIdx.x == 0) shared[blockIdx.x] = cell;
}

__global__ void last_block_kernel(int* partial, unsigned* tickets, int* sum) {
  partial[blockIdx.x] = static_cast<int>(blockIdx.x) + 1;
  __threadfence_block();
  __threadfence_system();
  __threadfence();
  if (atomicInc(tickets, gridDim.x - 1) != gridDim.x - 1) return;
  __threadfence();
  *sum = 0;
  for (unsigned b = 0; b < gridDim.x; ++b) *sum += static_cast<volatile int*>(partial)[b];
}

}  // namespace

template <class T>
std::vector<T> shuffle(const std::vector<ShuffleCall>& calls, const std::vector<T>& values) {
  const auto all = upload(calls);
  const auto in = upload(values);
  const gemm::DeviceArray<T> out(calls.size() * values.size());
  go(gemm::launch(shuffle_kernel<T>,
                  {.grid = static_cast<unsigned>(calls.size()), .block = static_cast<unsigned>(values.size())},
                  all.data(), in.data(), out.data()));
  return out.to_host();
}

std::vector<Vote> vote(unsigned mask, const std::vector<int>& predicates) {
  return run<Vote>(vote_kernel, predicates.size(), mask, upload(predicates).data());
}

template <class T>
std::vector<Match> match(unsigned mask, const std::vector<T>& values) {
  return run<Match>(match_kernel<T>, values.size(), mask, upload(values).data());
}

template <class T>
std::vector<Reduction<T>> reduce(unsigned mask, const std::vector<T>& values) {
  const auto in = upload(values);
  const gemm::DeviceArray<Reduction<T>> out(values.size());
  const auto supported = upload(std::vector<int>{0});
  go(gemm::launch(reduce_kernel<T>, {.block = static_cast<unsigned>(values.size())}, mask, in.data(), out.data(),
                  supported.data()));
  return supported.to_host()[0] ? out.to_host() : std::vector<Reduction<T>>();
}

std::vector<int> neighbours_after_syncwarp() {
  const auto out = upload(std::vector<int>(32, -1));
  go(gemm::launch(syncwarp_kernel, {.block = 32}, out.data()));
  return out.to_host();
}

std::vector<unsigned> active_masks(int threads) {
  return run<unsigned>(active_mask_kernel, threads);
}

std::vector<float> quad_perm(const std::vector<float>& words, const std::array<int, 4>& permutation) {
  const auto [p0, p1, p2, p3] = permutation;
  return run<float>(quad_perm_kernel, words.size(), p0, p1, p2, p3, upload(words).data());
}

std::vector<Bits> bits(const std::vector<unsigned long long>& values) {
  return run<Bits>(bits_kernel, values.size(), upload(values).data());
}

template <class T>
AtomicResult<T> atomic(Atomic operation, Scope scope, int blocks, T initial, const std::vector<T>& operands) {
  const auto in = upload(operands), global = upload(std::vector<T>{initial});
  const gemm::DeviceArray<T> shared(blocks), old(operands.size());
  go(gemm::launch(atomic_kernel<T>, {.grid = static_cast<unsigned>(blocks), .block = 96}, operation, scope, initial,
                  in.data(), global.data(), shared.data(), old.data()));
  return {global.to_host()[0], shared.to_host(), old.to_host()};
}

int sum_by_last_block(int blocks) {
  const gemm::DeviceArray<int> partial(blocks), sum(1);
  const auto tickets = upload(std::vector<unsigned>{0});
  go(gemm::launch(last_block_kernel, {.grid = static_cast<unsigned>(blocks), .block = 1}, partial.data(),
                  tickets.data(), sum.data()));
  return tickets.to_host()[0] == 0 ? sum.to_host()[0] : -1;
}

#define FOR_WARP_TYPES(T)                                                                  \
  template std::vector<T> shuffle(const std::vector<ShuffleCall>&, const std::vector<T>&); \
  template std::vector<Match> match(unsigned, const std::vector<T>&);
FOR_WARP_TYPES(int)
FOR_WARP_TYPES(unsigned)
FOR_WARP_TYPES(long)
FOR_WARP_TYPES(unsigned long)
FOR_WARP_TYPES(long long)
FOR_WARP_TYPES(unsigned long long)
FOR_WARP_TYPES(float)
FOR_WARP_TYPES(double)
template std::vector<Reduction<int>> reduce(unsigned, const std::vector<int>&);
template std::vector<Reduction<unsigned>> reduce(unsigned, const std::vector<unsigned>&);
template AtomicResult<int> atomic(Atomic, Scope, int, int, const std::vector<int>&);
template AtomicResult<unsigned> atomic(Atomic, Scope, int, unsigned, const std::vector<unsigned>&);
template AtomicResult<long long> atomic(Atomic, Scope, int, long long, const std::vector<long long>&);
template AtomicResult<unsigned long long> atomic(Atomic, Scope, int, unsigned long long,
                                                 const std::vector<unsigned long long>&);
template AtomicResult<unsigned short> atomic(Atomic, Scope, int, unsigned short, const std::vector<unsigned short>&);
template AtomicResult<float> atomic(Atomic, Scope, int, float, const std::vector<float>&);
template AtomicResult<double> atomic(Atomic, Scope, int, double, const std::vector<double>&);

}  // namespace intrinsics
