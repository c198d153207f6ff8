// Fragments of single mma.sync instructions, used as nvcuda::wmma's are. Here each element is held once, so that A and
// B of f16 take half the registers of nvcuda::wmma's or less. Everything else of the library takes them, too.
//
//   m16n8k16  f16 (accumulators f32 or f16), bf16 (f32)     sm_80
//   m16n8k8   f16 (f32 or f16)                              sm_75
//   m16n8k8   tf32 (f32)                                    sm_80
//   m8n8k4    f64                                           sm_80
//
// On an older device mma_sync traps. All lanes of the warp must call these functions together, with equal arguments.
// Source: PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions"; the idea: Ootomo and Yokota (2023).
#pragma once

#include <string.h>

#include <cstdint>

#include "fill.hpp"

namespace wmma_ext::mma {

using wmma_ext::accumulator;
using wmma_ext::col_major;
using wmma_ext::matrix_a;
using wmma_ext::matrix_b;
using wmma_ext::row_major;
namespace precision = nvcuda::wmma::precision;

/// T of A and B, or of the accumulators.
template <class Use, int m, int n, int k, class T, class Layout>
inline constexpr bool is_supported = [] {
  constexpr bool is_c = std::is_same_v<Use, accumulator>;
  constexpr bool names_order = std::is_same_v<Layout, row_major> || std::is_same_v<Layout, col_major>;
  if (is_c != std::is_same_v<Layout, void> || is_c == names_order) return false;
  if (m == 8 && n == 8 && k == 4) return std::is_same_v<T, double>;
  if (m != 16 || n != 8 || (k != 8 && k != 16)) return false;
  if (std::is_same_v<T, __half>) return true;
  if (is_c) return std::is_same_v<T, float>;
  return k == 16 ? std::is_same_v<T, __nv_bfloat16> : std::is_same_v<T, precision::tf32>;
}();

/// A lane's part of a matrix. Use, T and Layout: as in nvcuda::wmma. Layout tells how load_matrix_sync finds A or B in
/// memory.
template <class Use, int m, int n, int k, class T, class Layout = void>
requires is_supported<Use, m, n, k, T, Layout>
class fragment {
 public:
  enum { num_elements = 1 << layout_of<Use, m, n, k, T>().bits };
  using element_type = T;
  using storage_element_type = storage_t<T>;

  storage_t<T> x[num_elements];
};

}  // namespace wmma_ext::mma

namespace wmma_ext {

template <class Use, int m, int n, int k, class T, class Layout>
struct fragment_traits<mma::fragment<Use, m, n, k, T, Layout>> : detail::traits<Use, m, n, k, T, Layout> {};

namespace detail {

/// Copies two neighbours in memory by one access. `p` must be aligned to both.
template <class T>
__device__ __forceinline__ void load_pair(T* x, const T* p) {
#ifdef __CUDACC__
  if constexpr (sizeof(T) == 2) {
    const unsigned both = *reinterpret_cast<const unsigned*>(p);
    memcpy(x, &both, sizeof both);
  } else if constexpr (sizeof(T) == 4) {
    const float2 both = *reinterpret_cast<const float2*>(p);
    x[0] = both.x, x[1] = both.y;
  } else {
    const double2 both = *reinterpret_cast<const double2*>(p);
    x[0] = both.x, x[1] = both.y;
  }
#else
  if constexpr (sizeof(T) == 2) simt::store_32(x, simt::load_32(p));
  if constexpr (sizeof(T) == 4) simt::store_64(x, simt::load_64(p));
  if constexpr (sizeof(T) == 8) simt::store_128(x, simt::load_128(p));
#endif
}
template <class T>
__device__ __forceinline__ void store_pair(T* p, const T* x) {
#ifdef __CUDACC__
  if constexpr (sizeof(T) == 2) {
    unsigned both;
    memcpy(&both, x, sizeof both);
    *reinterpret_cast<unsigned*>(p) = both;
  } else if constexpr (sizeof(T) == 4) {
    *reinterpret_cast<float2*>(p) = make_float2(x[0], x[1]);
  } else {
    *reinterpret_cast<double2*>(p) = make_double2(x[0], x[1]);
  }
#else
  if constexpr (sizeof(T) == 2) simt::store_32(p, simt::load_32(x));
  if constexpr (sizeof(T) == 4) simt::store_64(p, simt::load_64(x));
  if constexpr (sizeof(T) == 8) simt::store_128(p, simt::load_128(x));
#endif
}

/// Calls one(i, offset) or, where elements i and i + 1 adjoin in memory, pair(i, offset); offsets in elements.
template <any_fragment Fragment, class Pair, class One>
__device__ __forceinline__ void in_memory(unsigned ldm, bool by_rows, Pair pair, One one) {
  using traits = fragment_traits<Fragment>;
  constexpr layout map = traits::map();
  const bool paired = by_rows ? map.paired_in_row() : map.paired_in_column();
  const int lane = lane_id();
#pragma unroll
  for (int i = 0; i < traits::held; ++i) {
    const position p = traits::place(lane, i);
    const std::size_t offset = by_rows ? std::size_t{ldm} * p.row + p.col : std::size_t{ldm} * p.col + p.row;
    if (!paired) {
      one(i, offset);
    } else if (i % 2 == 0) {
      pair(i, offset);
    }
  }
}

template <any_fragment Fragment>
__device__ __forceinline__ void load(Fragment& fragment, const value_t<Fragment>* p, unsigned ldm, bool by_rows) {
  in_memory<Fragment>(
      ldm, by_rows, [&](int i, std::size_t offset) { load_pair(fragment.x + i, p + offset); },
      [&](int i, std::size_t offset) { fragment.x[i] = p[offset]; });
}

}  // namespace detail
}  // namespace wmma_ext

namespace wmma_ext::mma {

/// Loads A or B. p is aligned to 32 bytes; ldm, the number of elements from one row (column) to the next, makes up a
/// multiple of 16 bytes.
template <class Use, int m, int n, int k, class T, class Layout>
__device__ __forceinline__ void load_matrix_sync(fragment<Use, m, n, k, T, Layout>& a,
                                                 const std::type_identity_t<storage_t<T>>* p, unsigned ldm) {
  static_assert(!std::is_same_v<Use, accumulator>, "an accumulator takes its layout as an argument");
  detail::load(a, p, ldm, std::is_same_v<Layout, row_major>);
}
/// Loads C.
template <int m, int n, int k, class T>
__device__ __forceinline__ void load_matrix_sync(fragment<accumulator, m, n, k, T>& c, const std::type_identity_t<T>* p,
                                                 unsigned ldm, memory_order order) {
  detail::load(c, p, ldm, order == nvcuda::wmma::mem_row_major);
}

/// Stores D. p and ldm: as for loads.
template <int m, int n, int k, class T>
__device__ __forceinline__ void store_matrix_sync(std::type_identity_t<T>* p,
                                                  const fragment<accumulator, m, n, k, T>& d, unsigned ldm,
                                                  memory_order order) {
  detail::in_memory<fragment<accumulator, m, n, k, T>>(
      ldm, order == nvcuda::wmma::mem_row_major,
      [&](int i, std::size_t offset) { detail::store_pair(p + offset, d.x + i); },
      [&](int i, std::size_t offset) { p[offset] = d.x[i]; });
}

template <class Use, int m, int n, int k, class T, class Layout>
__device__ __forceinline__ void fill_fragment(fragment<Use, m, n, k, T, Layout>& a,
                                              const std::type_identity_t<storage_t<T>>& value) {
  fill(a, value);
}

/// D = A B + C by one instruction. tf32: the lower 13 bits of the operands are ignored: round them first
/// (nvcuda::wmma::__float_to_tf32).
template <int m, int n, int k, class T, class LayoutA, class LayoutB, class R>
__device__ __forceinline__ void mma_sync(fragment<accumulator, m, n, k, R>& d,
                                         const fragment<matrix_a, m, n, k, T, LayoutA>& a,
                                         const fragment<matrix_b, m, n, k, T, LayoutB>& b,
                                         const fragment<accumulator, m, n, k, R>& c) {
  constexpr bool is_half = std::is_same_v<T, __half>, to_half = std::is_same_v<R, __half>;
#ifdef __CUDACC__
  if constexpr (k == 4) {
#if __CUDA_ARCH__ >= 800
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%4, %5};"
                 : "=d"(d.x[0]), "=d"(d.x[1])
                 : "d"(a.x[0]), "d"(b.x[0]), "d"(c.x[0]), "d"(c.x[1]));
#else
    __trap();
#endif
  } else {
    // As 32-bit registers: one tf32, or two neighbours of 16 bits.
    std::uint32_t ra[sizeof a.x / 4], rb[sizeof b.x / 4], rc[sizeof c.x / 4], rd[sizeof d.x / 4];
    memcpy(ra, a.x, sizeof a.x);
    memcpy(rb, b.x, sizeof b.x);
    memcpy(rc, c.x, sizeof c.x);
#define WMMA_EXT_MMA_F32_K16(types)                                                                              \
  asm volatile("mma.sync.aligned." types                                                                         \
               " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "                                                 \
               "{%10, %11, %12, %13};"                                                                           \
               : "=r"(rd[0]), "=r"(rd[1]), "=r"(rd[2]), "=r"(rd[3])                                              \
               : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]), "r"(rc[0]), "r"(rc[1]), \
                 "r"(rc[2]), "r"(rc[3]))
    if constexpr (k == 8 && is_half && !to_half) {
      asm volatile(
          "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"
          : "=r"(rd[0]), "=r"(rd[1]), "=r"(rd[2]), "=r"(rd[3])
          : "r"(ra[0]), "r"(ra[1]), "r"(rb[0]), "r"(rc[0]), "r"(rc[1]), "r"(rc[2]), "r"(rc[3]));
    } else if constexpr (k == 8 && is_half) {
      asm volatile("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3}, {%4}, {%5, %6};"
                   : "=r"(rd[0]), "=r"(rd[1])
                   : "r"(ra[0]), "r"(ra[1]), "r"(rb[0]), "r"(rc[0]), "r"(rc[1]));
    } else {
#if __CUDA_ARCH__ >= 800
      if constexpr (k == 8) {
        WMMA_EXT_MMA_F32_K16("m16n8k8.row.col.f32.tf32.tf32.f32");
      } else if constexpr (to_half) {
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%8, %9};"
                     : "=r"(rd[0]), "=r"(rd[1])
                     : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]), "r"(rc[0]), "r"(rc[1]));
      } else if constexpr (is_half) {
        WMMA_EXT_MMA_F32_K16("m16n8k16.row.col.f32.f16.f16.f32");
      } else {
        WMMA_EXT_MMA_F32_K16("m16n8k16.row.col.f32.bf16.bf16.f32");
      }
#else
      memset(rd, 0, sizeof rd);
      __trap();
#endif
    }
#undef WMMA_EXT_MMA_F32_K16
    memcpy(d.x, rd, sizeof d.x);
  }
#else
  using simt::Mma;
  constexpr Mma instruction = k == 4              ? Mma::m8n8k4_f64
                              : k == 8 && to_half ? Mma::m16n8k8_f16_f16
                              : k == 8 && is_half ? Mma::m16n8k8_f32_f16
                              : k == 8            ? Mma::m16n8k8_f32_tf32
                              : to_half           ? Mma::m16n8k16_f16_f16
                              : is_half           ? Mma::m16n8k16_f32_f16
                                                  : Mma::m16n8k16_f32_bf16;
  const simt::MmaRegisters registers{a.x, b.x, c.x, d.x};
  simt::mma(instruction, "mma.sync", &registers, 1);
#endif
}

}  // namespace wmma_ext::mma
