// What a function has returned, before it is stored: common/cmake/stores.py puts this between the two.
#pragma once

#include <type_traits>

namespace simt {

struct Stored {
  template <class T>
  requires std::is_scalar_v<T>
  [[gnu::always_inline]] constexpr T operator%=(T value) const { return value; }
  /// A value becomes one of its own, if that costs nothing but the copy; what has a place stays there.
  template <class T>
  requires(!std::is_scalar_v<std::remove_reference_t<T>>) [[gnu::always_inline]] constexpr decltype(auto) operator%=(
      T&& value) const {
    if constexpr (std::is_trivially_copyable_v<T>) {
      return T(static_cast<T&&>(value));
    } else {
      return static_cast<T&&>(value);
    }
  }
};
inline constexpr Stored stored;

}  // namespace simt
