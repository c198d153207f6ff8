// TSMTTSM of lists of blocks (tsm/tall_skinny.hpp): a product for each pair of blocks, into its part of C.
#include <algorithm>
#include <iterator>
#include <type_traits>

#include "common/kernel/launch_log.hpp"
#include "tsm/ahead/ahead.hpp"
#include "tsm/tall_skinny.hpp"

namespace tall_skinny {
namespace {

using gemm::ahead::BlockEnds;
static_assert(std::size(BlockEnds{}.end) == most_blocks);

template <class T>
struct List {
  const Block<T>* blocks;
  int count;

  const Block<T>* begin() const { return blocks; }
  const Block<T>* end() const { return blocks + count; }
};

template <class T>
bool same(const List<T>& a, const List<T>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Block<T>& x, const Block<T>& y) {
    return x.data == y.data && x.ld == y.ld && x.columns == y.columns;
  });
}

template <class T>
Status refuse(const List<T>& list, const char* name) {
  if (list.count < 0 || list.count > most_blocks)
    return {Code::invalid, std::string(name) + " must have 0 to " + std::to_string(most_blocks) + " blocks"};
  if (list.count > 0 && !list.blocks) return {Code::invalid, std::string("the list of ") + name + "'s blocks is null"};
  for (const Block<T>& block : list) {
    if (block.columns < 0) return {Code::invalid, std::string("a block of ") + name + " has fewer than no columns"};
  }
  return {};
}

template <class T>
constexpr Type type_of = std::is_same_v<T, double> ? Type::d : Type::z;

template <class T>
std::size_t workspace_of(const List<T>& a, const List<T>& b, std::int64_t k) {
  std::size_t most = 0;
  if (!refuse(a, "A") || !refuse(b, "B")) return 0;
  for (const Block<T>& x : a) {
    for (const Block<T>& y : b) most = std::max(most, tsmttsm_workspace(x.columns, y.columns, k, type_of<T>));
  }
  return most;
}

/// All pairs; `mirrored`: without those below the diagonal.
template <class T>
Status multiply(cudaStream_t stream, std::int64_t k, T alpha, const List<T>& a, const List<T>& b, T beta, T* c,
                std::int64_t ldc, bool conjugate, void* workspace, std::size_t workspace_bytes, bool mirrored) {
  std::int64_t row = 0;
  for (int i = 0; i < a.count; row += a.blocks[i++].columns) {
    std::int64_t col = 0;
    for (int j = 0; j < b.count; col += b.blocks[j++].columns) {
      if (mirrored && i > j) continue;
      const Block<T>&x = a.blocks[i], &y = b.blocks[j];
      Status status = tsmttsm(stream, x.columns, y.columns, k, alpha, x.data, x.ld, y.data, y.ld, beta,
                              c ? c + row * ldc + col : c, ldc, conjugate, workspace, workspace_bytes);
      if (!status) return status;
    }
  }
  return {};
}

template <class T>
Status run(cudaStream_t stream, std::int64_t k, T alpha, const List<T>& a, const List<T>& b, T beta, T* c,
           std::int64_t ldc, bool conjugate, void* workspace, std::size_t workspace_bytes) noexcept try {
  if (Status wrong = refuse(a, "A"); !wrong) return wrong;
  if (Status wrong = refuse(b, "B"); !wrong) return wrong;
  std::int64_t columns = 0;
  for (const Block<T>& block : b) columns += block.columns;
  if (ldc < columns) return {Code::invalid, "rows of C are closer to each other than B has columns"};
  // alpha A^H A + beta C is Hermitian only if alpha is real and C was so.
  const bool mirrored = a.count > 1 && same(a, b) && beta == T{} && (!conjugate || std::imag(alpha) == 0);
  const auto all = [&] {
    return multiply(stream, k, alpha, a, b, beta, c, ldc, conjugate, workspace, workspace_bytes, mirrored);
  };
  {
    const gemm::DryRunScope dry_run;  // all pairs' arguments, before anything is enqueued
    if (Status wrong = all(); !wrong) return wrong;
  }
  if (Status status = all(); !status || !mirrored) return status;
  BlockEnds ends{};
  for (const Block<T>& block : a) {
    ends.end[ends.count] = (ends.count > 0 ? ends.end[ends.count - 1] : 0) + block.columns;
    ++ends.count;
  }
  using Element = std::conditional_t<std::is_same_v<T, double>, double, double2>;
  const gemm::Status status =
      columns > 0 ? gemm::ahead::mirror_blocks(ends, conjugate, reinterpret_cast<Element*>(c), ldc, stream)
                  : gemm::Status::ok();
  return status ? Status{} : Status{Code::failed, status.reason};
} catch (...) {
  return {Code::failed, {}};
}

}  // namespace

std::size_t tsmttsm_workspace(const Block<double>* a, int blocks_a, const Block<double>* b, int blocks_b,
                              std::int64_t k) noexcept {
  return workspace_of<double>({a, blocks_a}, {b, blocks_b}, k);
}
std::size_t tsmttsm_workspace(const Block<Complex>* a, int blocks_a, const Block<Complex>* b, int blocks_b,
                              std::int64_t k) noexcept {
  return workspace_of<Complex>({a, blocks_a}, {b, blocks_b}, k);
}

Status tsmttsm(cudaStream_t stream, std::int64_t k, double alpha, const Block<double>* a, int blocks_a,
               const Block<double>* b, int blocks_b, double beta, double* c, std::int64_t ldc, bool conjugate,
               void* workspace, std::size_t workspace_bytes) noexcept {
  return run<double>(stream, k, alpha, {a, blocks_a}, {b, blocks_b}, beta, c, ldc, conjugate, workspace,
                     workspace_bytes);
}
Status tsmttsm(cudaStream_t stream, std::int64_t k, Complex alpha, const Block<Complex>* a, int blocks_a,
               const Block<Complex>* b, int blocks_b, Complex beta, Complex* c, std::int64_t ldc, bool conjugate,
               void* workspace, std::size_t workspace_bytes) noexcept {
  return run<Complex>(stream, k, alpha, {a, blocks_a}, {b, blocks_b}, beta, c, ldc, conjugate, workspace,
                      workspace_bytes);
}

}  // namespace tall_skinny
