// CUDA's warp intrinsics: shuffles, votes, matches and reductions, each one collective() of the lanes in its mask; and
// the integer intrinsics that go with lane masks. A lane that has ended does not take part, whatever the mask says.
#pragma once

#include <bit>
#include <cstdint>

#include "common/simt/language/collective.hpp"

inline constexpr int warpSize = 32;

namespace simt {

/// Calls f(lane, slot) for each lane that takes part in a collective.
template <class Slot, class F>
[[gnu::always_inline]] inline void for_each_lane(void* const* lanes, F f) {
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (lanes[lane]) f(lane, *static_cast<Slot*>(lanes[lane]));
  }
}

/// Every lane offers `value` and returns that of lane `source`. If that lane takes no part, CUDA leaves the result
/// undefined: it is reported, and is the lane's own.
template <class T>
[[gnu::always_inline]] inline T exchange(LaneMask mask, const char* operation, T value, unsigned source) {
  struct Slot {
    T value, result;
    unsigned source;
    bool found;
  };
  Slot mine{value, value, source, false};
  collective(mask, operation, &mine, [](void* const* lanes, LaneMask) {
    for_each_lane<Slot>(lanes, [&](unsigned, Slot& to) {
      to.found = lanes[to.source];
      if (to.found) to.result = static_cast<const Slot*>(lanes[to.source])->value;
    });
  });
  if (!mine.found) missing_source(operation, source);
  return mine.result;
}

// The shuffles for any type; as in PTX (shfl.sync), a warp splits into segments of `width` lanes, a power of two, and
// only the low five bits of a lane number or a distance count.

template <class T>
[[gnu::always_inline]] inline T shuffle(LaneMask mask, T value, int source, int width = warpSize) {
  const unsigned inner = static_cast<unsigned>(width) - 1;
  return exchange(mask, "__shfl_sync", value, (lane_id() & ~inner) | (static_cast<unsigned>(source) & inner));
}

template <class T>
[[gnu::always_inline]] inline T shuffle_up(LaneMask mask, T value, unsigned delta, int width = warpSize) {
  const unsigned lane = lane_id(), inner = static_cast<unsigned>(width) - 1;
  delta &= 31;
  return exchange(mask, "__shfl_up_sync", value, (lane & inner) >= delta ? lane - delta : lane);
}

template <class T>
[[gnu::always_inline]] inline T shuffle_down(LaneMask mask, T value, unsigned delta, int width = warpSize) {
  const unsigned lane = lane_id(), inner = static_cast<unsigned>(width) - 1;
  delta &= 31;
  return exchange(mask, "__shfl_down_sync", value, (lane & inner) + delta <= inner ? lane + delta : lane);
}

/// May read from a segment before the lane's own, but not from one behind it.
template <class T>
[[gnu::always_inline]] inline T shuffle_xor(LaneMask mask, T value, int lane_mask, int width = warpSize) {
  const unsigned lane = lane_id(), inner = static_cast<unsigned>(width) - 1;
  const unsigned source = lane ^ (static_cast<unsigned>(lane_mask) & 31);
  return exchange(mask, "__shfl_xor_sync", value, source <= (lane | inner) ? source : lane);
}

/// The lanes that take part in a vote, and those of them whose predicate holds.
struct Votes {
  LaneMask ayes, voters;
};

[[gnu::always_inline]] inline Votes vote(LaneMask mask, const char* operation, bool predicate) {
  struct Slot {
    bool aye;
    Votes votes;
  };
  Slot mine{predicate, {}};
  collective(mask, operation, &mine, [](void* const* lanes, LaneMask) {
    Votes votes{};
    for_each_lane<Slot>(lanes, [&](unsigned lane, const Slot& slot) {
      votes.voters |= LaneMask{1} << lane;
      votes.ayes |= LaneMask{slot.aye} << lane;
    });
    for_each_lane<Slot>(lanes, [&](unsigned, Slot& slot) { slot.votes = votes; });
  });
  return mine.votes;
}

/// As a vote, where the ayes are the lanes whose bits equal the calling lane's.
[[gnu::always_inline]] inline Votes match(LaneMask mask, const char* operation, std::uint64_t bits) {
  struct Slot {
    std::uint64_t bits;
    Votes votes;
  };
  Slot mine{bits, {}};
  collective(mask, operation, &mine, [](void* const* lanes, LaneMask) {
    for_each_lane<Slot>(lanes, [&](unsigned, Slot& one) {
      for_each_lane<Slot>(lanes, [&](unsigned lane, const Slot& other) {
        one.votes.voters |= LaneMask{1} << lane;
        one.votes.ayes |= LaneMask{one.bits == other.bits} << lane;
      });
    });
  });
  return mine.votes;
}

/// Combines all lanes' values, in ascending order of lanes, by Op's operator().
template <class Op, class T>
[[gnu::always_inline]] inline T reduce(LaneMask mask, const char* operation, T value) {
  T mine = value;
  collective(mask, operation, &mine, [](void* const* lanes, LaneMask) {
    T* first = nullptr;
    for_each_lane<T>(lanes, [&](unsigned, T& slot) {
      if (first) {
        *first = Op{}(*first, slot);
      } else {
        first = &slot;
      }
    });
    for_each_lane<T>(lanes, [&](unsigned, T& slot) { slot = *first; });
  });
  return mine;
}

struct Plus {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<unsigned>(a) + static_cast<unsigned>(b));  // wraps, as on the GPU
  }
};
struct Minimum {
  template <class T>
  T operator()(T a, T b) const {
    return b < a ? b : a;
  }
};
struct Maximum {
  template <class T>
  T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};
struct BitAnd {
  unsigned operator()(unsigned a, unsigned b) const { return a & b; }
};
struct BitOr {
  unsigned operator()(unsigned a, unsigned b) const { return a | b; }
};
struct BitXor {
  unsigned operator()(unsigned a, unsigned b) const { return a ^ b; }
};

}  // namespace simt

[[gnu::always_inline]] inline void __syncwarp(unsigned mask = simt::all_lanes) {
  simt::sync_warp(mask);
}

// CUDA has an overload for each of these types; narrower ones become int on the way in, as there.
#define SIMT_WARP_FUNCTIONS(T, Bits)                                                                               \
  [[gnu::always_inline]] inline T __shfl_sync(unsigned mask, T value, int source, int width = warpSize) {          \
    return simt::shuffle(mask, value, source, width);                                                              \
  }                                                                                                                \
  [[gnu::always_inline]] inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = warpSize) {   \
    return simt::shuffle_up(mask, value, delta, width);                                                            \
  }                                                                                                                \
  [[gnu::always_inline]] inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = warpSize) { \
    return simt::shuffle_down(mask, value, delta, width);                                                          \
  }                                                                                                                \
  [[gnu::always_inline]] inline T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = warpSize) {   \
    return simt::shuffle_xor(mask, value, lane_mask, width);                                                       \
  }                                                                                                                \
  [[gnu::always_inline]] inline unsigned __match_any_sync(unsigned mask, T value) {                                \
    return simt::match(mask, "__match_any_sync", std::bit_cast<Bits>(value)).ayes;                                 \
  }                                                                                                                \
  [[gnu::always_inline]] inline unsigned __match_all_sync(unsigned mask, T value, int* predicate) {                \
    const simt::Votes votes = simt::match(mask, "__match_all_sync", std::bit_cast<Bits>(value));                   \
    *predicate = votes.ayes == votes.voters;                                                                       \
    return *predicate ? mask : 0;                                                                                  \
  }
SIMT_WARP_FUNCTIONS(int, std::uint32_t)
SIMT_WARP_FUNCTIONS(unsigned, std::uint32_t)
SIMT_WARP_FUNCTIONS(long, std::uint64_t)
SIMT_WARP_FUNCTIONS(unsigned long, std::uint64_t)
SIMT_WARP_FUNCTIONS(long long, std::uint64_t)
SIMT_WARP_FUNCTIONS(unsigned long long, std::uint64_t)
SIMT_WARP_FUNCTIONS(float, std::uint32_t)
SIMT_WARP_FUNCTIONS(double, std::uint64_t)
#undef SIMT_WARP_FUNCTIONS

// Those without _sync are gone since Volta.
#define SIMT_GONE(name) \
  [[gnu::error(#name "() is gone since CUDA 9: " #name "_sync() takes a mask of the lanes first")]]
template <class T>
SIMT_GONE(__shfl)
T __shfl(T value, int source, int width = warpSize);
template <class T>
SIMT_GONE(__shfl_up)
T __shfl_up(T value, unsigned delta, int width = warpSize);
template <class T>
SIMT_GONE(__shfl_down)
T __shfl_down(T value, unsigned delta, int width = warpSize);
template <class T>
SIMT_GONE(__shfl_xor)
T __shfl_xor(T value, int lane_mask, int width = warpSize);
SIMT_GONE(__ballot) unsigned __ballot(int predicate);
SIMT_GONE(__all) int __all(int predicate);
SIMT_GONE(__any) int __any(int predicate);
#undef SIMT_GONE

[[gnu::always_inline]] inline unsigned __ballot_sync(unsigned mask, int predicate) {
  return simt::vote(mask, "__ballot_sync", predicate != 0).ayes;
}
[[gnu::always_inline]] inline int __all_sync(unsigned mask, int predicate) {
  const simt::Votes votes = simt::vote(mask, "__all_sync", predicate != 0);
  return votes.ayes == votes.voters;
}
[[gnu::always_inline]] inline int __any_sync(unsigned mask, int predicate) {
  return simt::vote(mask, "__any_sync", predicate != 0).ayes != 0;
}

/// The lanes that come here together, where others have taken another branch or have ended. CUDA promises no more than
/// some of them.
[[gnu::always_inline]] inline unsigned __activemask() {
  const unsigned lanes = simt::active_lanes();
  __asm__ volatile("");  // else the call might become a jump, whose return address would be the kernel's caller
  return lanes;
}

#define SIMT_REDUCTION(name, Op, T)                              \
  [[gnu::always_inline]] inline T name(unsigned mask, T value) { \
    return simt::reduce<simt::Op>(mask, #name, value);           \
  }
SIMT_REDUCTION(__reduce_add_sync, Plus, int)
SIMT_REDUCTION(__reduce_add_sync, Plus, unsigned)
SIMT_REDUCTION(__reduce_min_sync, Minimum, int)
SIMT_REDUCTION(__reduce_min_sync, Minimum, unsigned)
SIMT_REDUCTION(__reduce_max_sync, Maximum, int)
SIMT_REDUCTION(__reduce_max_sync, Maximum, unsigned)
SIMT_REDUCTION(__reduce_and_sync, BitAnd, unsigned)
SIMT_REDUCTION(__reduce_or_sync, BitOr, unsigned)
SIMT_REDUCTION(__reduce_xor_sync, BitXor, unsigned)
#undef SIMT_REDUCTION

[[gnu::always_inline]] constexpr int __popc(unsigned x) {
  return std::popcount(x);
}
[[gnu::always_inline]] constexpr int __popcll(unsigned long long x) {
  return std::popcount(x);
}
[[gnu::always_inline]] constexpr int __clz(int x) {
  return std::countl_zero(static_cast<unsigned>(x));
}
[[gnu::always_inline]] constexpr int __clzll(long long x) {
  return std::countl_zero(static_cast<unsigned long long>(x));
}
/// The place of the lowest set bit, counted from 1; 0 if there is none.
[[gnu::always_inline]] constexpr int __ffs(int x) {
  return __builtin_ffs(x);
}
[[gnu::always_inline]] constexpr int __ffsll(long long x) {
  return __builtin_ffsll(x);
}
[[gnu::always_inline]] constexpr unsigned __brev(unsigned x) {
  x = (x & 0x55555555u) << 1 | (x >> 1 & 0x55555555u);
  x = (x & 0x33333333u) << 2 | (x >> 2 & 0x33333333u);
  x = (x & 0x0f0f0f0fu) << 4 | (x >> 4 & 0x0f0f0f0fu);
  return __builtin_bswap32(x);
}
[[gnu::always_inline]] constexpr unsigned long long __brevll(unsigned long long x) {
  return static_cast<unsigned long long>(__brev(static_cast<unsigned>(x))) << 32 |
         __brev(static_cast<unsigned>(x >> 32));
}
