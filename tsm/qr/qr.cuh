// The launches of a QR factorisation: all of them, of all methods, because the device decides which do something.
#pragma once

#include <algorithm>
#include <span>

#include "common/kernel/launch.cuh"
#include "tsm/ahead/ahead.hpp"
#include "tsm/qr/householder.cuh"
#include "tsm/qr/narrow.cuh"
#include "tsm/qr/pass.cuh"

namespace gemm::qr {

template <class T>
struct PassKernel {
  using Pass = void(PassShape, std::int64_t, T*, std::int64_t, const T*, T*, int, const int*);
  int fn, team, blocks;
  Pass *sums, *stores;
};
template <class T, int FN>
constexpr PassKernel<T> pass_kernel() {
  return {FN, warps_of_team<T, FN>, pass_blocks<T, FN>, pass<T, FN, false>, pass<T, FN, true>};
}

/// Of 1 to 4 columns.
template <class T>
struct NarrowKernel {
  using Pass = void(std::int64_t, int, T*, std::int64_t, const T*, T*, int, const int*);
  Pass *sums, *stores;
};
template <class T>
constexpr NarrowKernel<T> narrow_kernels[most_narrow_columns] = {
    {narrow_pass<T, 1, false>, narrow_pass<T, 1, true>},
    {narrow_pass<T, 2, false>, narrow_pass<T, 2, true>},
    {narrow_pass<T, 3, false>, narrow_pass<T, 3, true>},
    {narrow_pass<T, 4, false>, narrow_pass<T, 4, true>},
};

/// What is tried, one after another, until it fits: warps of a block, blocks of a multiprocessor, stages.
struct Candidate {
  int warps, blocks, stages;
};
constexpr Candidate candidates[] = {{8, 3, 2}, {8, 2, 2}, {4, 2, 2}, {8, 1, 2},
                                    {8, 1, 1}, {4, 1, 2}, {4, 1, 1}, {2, 1, 1}};

constexpr int most_sms_blocks = 4;  ///< blocks of a multiprocessor that leave partial sums
constexpr int most_narrow_blocks = 8;

template <class T>
class Factorisation {
 public:
  Factorisation(std::span<const PassKernel<T>> kernels, const QrProblem<T>& problem, cudaStream_t stream)
      : p_(problem),
        kernel_(*std::ranges::find_if(kernels, [&](const auto& each) { return each.fn >= eighths(problem.n); })),
        stream_(stream),
        sms_(device_limits().multiprocessors),
        fragments_(fragments_of(p_.n) * fragment_elements) {
    T* at = static_cast<T*>(p_.workspace);
    for (T** part : {&factors_, &sums_of_x_, &sums_, &partial_}) {
      *part = at;
      at += part == &factors_ ? most_factors * factor_elements(p_.n) : fragments_;
    }
  }

  Status run() {
    const std::size_t most = std::max({factor_bytes(), householder_bytes(), shared_bytes(shape(true, most_factors)),
                                       shared_bytes(shape(false, most_factors - 1))});
    if (most > static_cast<std::size_t>(device_limits().shared_bytes_per_block))
      return Status::unsupported("the QR factorisation needs " + std::to_string(most) +
                                 " bytes of shared memory a block, and this GPU has " +
                                 std::to_string(device_limits().shared_bytes_per_block));
    sum(0, 0, sums_of_x_);
    cholesky(cholesky2, 0, 2, sums_of_x_);
    sum(1, cholesky2, sums_);
    cholesky(cholesky2, 1, 2, sums_);
    store(2, cholesky2);
    // Behind each decision against a method launches of 2 us follow that return at once.
    cholesky(shifted_cholesky3, 0, 3, sums_of_x_);
    for (const int step : {1, 2}) {
      sum(step, shifted_cholesky3, sums_);
      cholesky(shifted_cholesky3, step, 3, sums_);
    }
    store(3, shifted_cholesky3);
    const int blocks = static_cast<int>(std::clamp<std::int64_t>(p_.k / 256, 1, sms_));
    T* const each = partial_;
    householder_launch(eliminate_slabs<T>, blocks, p_.n, p_.k, p_.x, p_.ldx, each, p_.method);
    householder_launch(join_slabs<T>, 1, p_.n, blocks, each, p_.r, p_.ldr, p_.method);
    householder_launch(form_slabs<T>, blocks, p_.n, p_.k, p_.x, p_.ldx, each, p_.method);
    return status_;
  }

 private:
  PassShape shape(bool stores, int factors) const {
    constexpr int element = sizeof(T);
    PassShape s;
    s.n = p_.n;
    s.factors = factors;
    // Eight rows, four words of each, lie in different banks for a load, of complex numbers four rows with two words.
    s.stride = element == 8 ? (p_.n + 3) / 8 * 8 + 4 : (p_.n + 1) / 4 * 4 + 2;
    s.by_16_bytes =
        element == 16 || (p_.n % 2 == 0 && p_.ldx % 2 == 0 && reinterpret_cast<std::uintptr_t>(p_.x) % 16 == 0);
    s.pieces = element == 8 && s.by_16_bytes ? p_.n / 2 : p_.n;
    s.at_a_time = std::max(32 / s.pieces, 1);
    s.by_pieces = Divisor(s.pieces);
    s.rows = std::clamp(36 * 1024 / (pass_warps * 16 * s.stride * element), 1, 8) * 16;
    while (s.rows > 16 && p_.k < std::int64_t{s.rows} * pass_warps * sms_) s.rows -= 16;
    const auto most = static_cast<std::size_t>(device_limits().shared_bytes_per_block) + 1024;  // 1 KB is a block's own
    for (const auto& [warps, blocks, stages] : candidates) {
      if (warps < (stores ? 1 : kernel_.team) || warps * blocks > pass_warps * kernel_.blocks) continue;
      s.warps = warps;
      s.stages = stages;
      if (shared_bytes(s) <= most / static_cast<std::size_t>(blocks) - 1024) break;
    }
    return s;
  }
  static std::size_t shared_bytes(const PassShape& s) {
    return static_cast<std::size_t>(s.factors * factor_elements(s.n) + s.stages * s.warps * s.rows * s.stride) *
           sizeof(T);
  }
  std::size_t factor_bytes() const { return static_cast<std::size_t>(2 * p_.n * p_.n) * sizeof(T); }
  std::size_t householder_bytes() const { return static_cast<std::size_t>(p_.n * (p_.n + 2 * chunk)) * sizeof(T); }

  // The first launch that fails is the status; none follows.
  template <class Kernel, class... Arguments>
  void enqueue(Kernel* kernel, std::int64_t blocks, int threads, std::size_t shared, Arguments... arguments) {
    if (!status_) return;
    status_ = gemm::launch(kernel,
                           {.grid = static_cast<unsigned>(blocks),
                            .block = static_cast<unsigned>(threads),
                            .dynamic_shared = static_cast<unsigned>(shared),
                            .stream = stream_},
                           arguments...);
  }
  /// Returns how many parts of the Gram matrix there are.
  std::int64_t pass(bool stores, int factors, int level) {
    if (p_.n <= most_narrow_columns) {
      const NarrowKernel<T>& narrow = narrow_kernels<T>[p_.n - 1];
      auto* const kernel = stores ? narrow.stores : narrow.sums;
      const std::int64_t blocks = blocks_for(kernel, narrow_threads, 0, narrow_threads, most_narrow_blocks);
      enqueue(kernel, blocks, narrow_threads, 0, p_.k, factors, p_.x, p_.ldx, factors_, partial_, level, p_.method);
      return blocks;
    }
    const PassShape s = shape(stores, factors);
    auto* const kernel = stores ? kernel_.stores : kernel_.sums;
    const std::int64_t blocks = blocks_for(kernel, 32 * s.warps, shared_bytes(s), s.warps * s.rows, most_sms_blocks);
    enqueue(kernel, blocks, 32 * s.warps, shared_bytes(s), s, p_.k, p_.x, p_.ldx, factors_, partial_, level, p_.method);
    return blocks * (s.warps / kernel_.team);
  }
  template <class Kernel>
  std::int64_t blocks_for(Kernel* kernel, int threads, std::size_t shared, int rows, int most) const {
    const int fit = ahead::blocks_that_fit(reinterpret_cast<const void*>(kernel), threads, static_cast<int>(shared));
    return std::min<std::int64_t>((p_.k + rows - 1) / rows, std::int64_t{sms_} * std::min(fit, most));
  }
  void sum(int factors, int level, T* sums) {
    const auto parts = static_cast<int>(pass(false, factors, level));
    enqueue(sum_up<T>, fragments_ / sum_elements, factor_threads, 0, parts, fragments_, partial_, sums, level,
            p_.method);
  }
  void store(int factors, int level) { pass(true, factors, level); }
  void cholesky(Method level, int step, int steps, const T* sums) {
    enqueue(factor<T>, 1, factor_threads, factor_bytes(), p_.n, static_cast<double>(p_.k), level, step, steps, sums,
            factors_, p_.r, p_.ldr, p_.method);
  }
  template <class Kernel, class... Arguments>
  void householder_launch(Kernel* kernel, int blocks, Arguments... arguments) {
    enqueue(kernel, blocks, householder_threads, householder_bytes(), arguments...);
  }

  const QrProblem<T>& p_;
  const PassKernel<T>& kernel_;
  cudaStream_t stream_;
  int sms_, fragments_;
  T *factors_ = nullptr, *sums_of_x_ = nullptr, *sums_ = nullptr, *partial_ = nullptr;
  Status status_ = Status::ok();
};

}  // namespace gemm::qr
