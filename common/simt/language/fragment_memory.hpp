// Loads and stores of wmma fragments, as ordinary accesses in the kernel.
#pragma once

#include <cstddef>

#include "common/simt/language/collective.hpp"
#include "common/simt/language/fragment_places.hpp"
#include "common/simt/language/tensor.hpp"

namespace simt {

/// Where the calling lane's elements lie in a matrix in memory.
template <class Places>
class FragmentMemory {
 public:
  /// `leading` elements from one row to the next, or from one column to the next if !by_rows.
  __forceinline__ FragmentMemory(std::size_t leading, bool by_rows)
      : lane_(static_cast<int>(lane_id())), leading_(leading), by_rows_(by_rows) {}

  __forceinline__ std::size_t offset(int i) const { return offset(Places::place(lane_, i)); }

  /// Do elements 2 i and 2 i + 1 lie side by side in memory?
  __forceinline__ bool pairs_adjoin() const { return by_rows_ ? Places::paired_in_row() : Places::paired_in_column(); }

  /// Elements i and i + 1 of all lanes make up a tile of 8 x 8. Here the lane finds two elements that do lie side by
  /// side in memory, and after a transposition of the tile has its own.
  __forceinline__ std::size_t offset_in_transposed_tile(int i) const {
    const Place tile = Places::place(0, i), p = Places::place(lane_, i);
    return offset(Place{tile.row + p.col - tile.col, tile.col + p.row - tile.row});
  }

 private:
  __forceinline__ std::size_t offset(Place p) const {
    return by_rows_ ? p.row * leading_ + p.col : p.col * leading_ + p.row;
  }

  int lane_;
  std::size_t leading_;
  bool by_rows_;
};

/// Loads Places::held elements into x.
template <class Places, class T>
__forceinline__ void load_fragment(T* x, const T* from, std::size_t leading, bool by_rows) {
  const FragmentMemory<Places> memory(leading, by_rows);
  if constexpr (sizeof(T) == 2) {
    std::uint32_t pairs[Places::held / 2];
    for (int i = 0; i < Places::held / 2; ++i) {
      pairs[i] =
          load_32(from + (memory.pairs_adjoin() ? memory.offset(2 * i) : memory.offset_in_transposed_tile(2 * i)));
    }
    if (!memory.pairs_adjoin()) transpose_registers(pairs, Places::held / 2);
    for (int i = 0; i < Places::held / 2; ++i) store_32(x + 2 * i, pairs[i]);
  } else if (memory.pairs_adjoin()) {
    for (int i = 0; i + 1 < Places::held; i += 2) {
      if constexpr (sizeof(T) == 4) store_64(x + i, load_64(from + memory.offset(i)));
      if constexpr (sizeof(T) == 8) store_128(x + i, load_128(from + memory.offset(i)));
    }
  } else {
    for (int i = 0; i < Places::held; ++i) x[i] = from[memory.offset(i)];
  }
}

/// Stores Places::held elements of x.
template <class Places, class T>
__forceinline__ void store_fragment(T* to, const T* x, std::size_t leading, bool by_rows) {
  const FragmentMemory<Places> memory(leading, by_rows);
  if constexpr (sizeof(T) == 2) {
    std::uint32_t pairs[Places::held / 2];
    for (int i = 0; i < Places::held / 2; ++i) pairs[i] = load_32(x + 2 * i);
    if (!memory.pairs_adjoin()) transpose_registers(pairs, Places::held / 2);
    for (int i = 0; i < Places::held / 2; ++i) {
      store_32(to + (memory.pairs_adjoin() ? memory.offset(2 * i) : memory.offset_in_transposed_tile(2 * i)), pairs[i]);
    }
  } else if (memory.pairs_adjoin()) {
    for (int i = 0; i + 1 < Places::held; i += 2) {
      if constexpr (sizeof(T) == 4) store_64(to + memory.offset(i), load_64(x + i));
      if constexpr (sizeof(T) == 8) store_128(to + memory.offset(i), load_128(x + i));
    }
  } else {
    for (int i = 0; i < Places::held; ++i) to[memory.offset(i)] = x[i];
  }
}

}  // namespace simt
