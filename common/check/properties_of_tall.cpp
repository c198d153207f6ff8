#include <array>
#include <iterator>
#include <span>
#include <utility>

#include "common/check/property_groups.hpp"

namespace gemm {
namespace {

// Where nothing speaks for other ones, widths are 4 and 6, or 3 and 2 if awkward: each new pair is a kernel to compile.

constexpr Type tall_types[] = {Type::f64, Type::c64};
constexpr int widths[] = {1, 2, 3, 4, 5, 7, 8, 11, 16, 17, 31, 32, 33, 48, 63, 64};

// A stage that launches others' kernels, which are tried with those: on the executor that is enough.
bool covered(const Stage& stage) {
  return stage.generated.chosen && !on_gpu();
}

// Options that take the other paths of generated kernels. What a stage can't have is skipped.
std::vector<ProblemSpec> with_kernel_options(Operation op) {
  const std::pair<Type, KernelOptions> of_tsmttsm[] = {
      {Type::f64,
       {.tile_m = 2, .tile_n = 5, .transposed = false, .unroll = 2, .reduction = Reduction::local, .threads = 64}},
      {Type::f64, {.threads = 32}},                            // a single slice, where Tensor Cores multiply
      {Type::f64, {.tile_m = 2, .tile_n = 2, .threads = 96}},  // threads for an odd number of slices
      {Type::c64, {.leapfrog = false, .unroll = 1, .reduction = Reduction::atomics}},
      {Type::c64, {.products = 4}},
  };
  const std::pair<Type, KernelOptions> of_tsmm[] = {
      {Type::f64, {.unroll = 3, .threads = 64, .c_source = CSource::registers, .threads_per_row = 4}},
      {Type::f64, {.unroll = 1, .c_source = CSource::shared, .threads_per_row = 16}},
      {Type::c64, {.unroll = 2, .c_source = CSource::global, .threads_per_row = 2}},
      {Type::c64, {.products = 4}},
  };
  std::vector<ProblemSpec> all;
  for (const auto& [type, options] :
       op == Operation::tsmm ? std::span<const std::pair<Type, KernelOptions>>(of_tsmm) : of_tsmttsm) {
    all.push_back(awkward(tall(op, type, 7, 13, 130)));
    all.back().kernel = options;
  }
  if (op == Operation::tsmm) {
    // A rest of three columns for each lane that shares it, whose words are loaded by twos, but not all. And rows of A
    // that are longer than B's, of an odd number of words, few at a time and many times: what is copied beyond them
    // lands in other rows.
    for (const int m : {4, 7}) {
      all.push_back(awkward(tall(op, Type::f64, m, 37, 130)));
      all.back().kernel = {.unroll = 5, .threads_per_row = 16};
    }
    all.push_back(awkward(tall(op, Type::f64, 13, 7, 2130)));
    all.back().kernel = {.unroll = 1};
    // Sums of three products for each complex one, several times anew.
    all.push_back(awkward(tall(op, Type::c64, 17, 4, 2130)));
    all.back().kernel = {.unroll = 1, .products = 3};
  }
  return all;
}

Property widths_of_tall(const Stage& stage) {
  Property all{"widths", "right for widths from 1 to 64, and wider ones"};
  const int count = static_cast<int>(std::size(widths));
  // All of them on a GPU. On the executor each takes a second, and a generated kernel another to compile.
  const int step = on_gpu() ? 1 : covered(stage) ? 14 : stage.generated ? 7 : 5;
  for (const Type type : tall_types) {
    for (int i = 0; i < count; i += step) {
      const int m = widths[i], n = widths[(i + 5) % count];
      add(all, stage, {tall(stage.op, type, m, m, 130), awkward(tall(stage.op, type, m, n, 77))});
    }
    // More tiles of C than a block has threads. A generated kernel would take a minute to compile.
    if (!stage.generated) add(all, stage, {awkward(tall(stage.op, type, 129, 137, 33))});
  }
  return all;
}

Property lengths(const Stage& stage) {
  Property all{"lengths", "right for long and short columns"};
  if (covered(stage)) return all;
  std::vector<std::int64_t> some = on_gpu() ? std::vector<std::int64_t>{1, 2, 31, 33, 128, 257, 4099, 100003}
                                            : std::vector<std::int64_t>{1, 31, 257, 1027};
  // Long enough that a pipeline fills each of its stages again.
  if (stage.generated && !on_gpu()) some.push_back(20001);
  for (const Type type : tall_types) {
    for (const std::int64_t k : some)
      add(all, stage, {tall(stage.op, type, 4, 6, k), awkward(tall(stage.op, type, 3, 2, k))});
    if (stage.generated) continue;
    // A result of n k elements: a single one, a whole block of 256 threads, and one more, along k and along n.
    for (const auto& [n, k] : {std::pair{1, 1}, {1, 257}, {256, 1}, {257, 1}})
      add(all, stage, {tall(stage.op, type, 4, n, k)});
  }
  return all;
}

Property empty_tall(const Stage& stage) {
  Property all{"empty", "right where m, n or k is 0"};
  for (const Type type : tall_types) {
    for (const auto& [m, n, k] : {std::array{0, 5, 50}, {5, 0, 50}, {0, 0, 0}})
      add(all, stage, {tall(stage.op, type, m, n, k), awkward(tall(stage.op, type, m, n, k))});
    add(all, stage, {tall(stage.op, type, 4, 6, 0), awkward(tall(stage.op, type, 3, 2, 0))});
  }
  return all;
}

Property scalars_of_tall(const Stage& stage) {
  Property all{"alpha and beta", "right for any alpha and beta, complex ones, too; at beta = 0 the result is not read"};
  for (const Type type : tall_types) {
    for (const double alpha : {0.0, 1.0, -2.0}) {
      for (const double beta : {0.0, 1.0, -0.5}) {
        if (covered(stage) && (alpha == 1 || beta == 1)) continue;
        ProblemSpec spec = scaled(tall(stage.op, type, 4, 6, 90), alpha, beta);
        add(all, stage, {spec});
        if (type == Type::f64) continue;
        spec.alpha_imag = 0.5;
        spec.beta_imag = beta;
        spec.conjugate = stage.op == Operation::tsmttsm;
        add(all, stage, {spec});
      }
    }
  }
  return all;
}

Property variants_of_tall(const Stage& stage) {
  Property all{"variants", "its variants are right, too"};
  for (const Stage& form : variants(stage)) {
    for (const Type type : tall_types) {
      for (const auto& [m, n, k] : {std::array{1, 1, 300}, {4, 4, 257}, {7, 11, 100}, {33, 64, 40}, {3, 4, 0}})
        add(all, form, {tall(form.op, type, m, n, k), awkward(tall(form.op, type, m, n, k))});
    }
  }
  return all;
}

}  // namespace

// Each pair of widths is another kernel for stages that generate them, and takes them seconds to compile.
Property representative_tall(const Stage& stage) {
  const Operation op = stage.op;
  Property all;
  for (const Type type : tall_types) {
    // Ragged, several blocks; then beta is 0, and the result begins as NaN.
    add(all, stage,
        {ragged(stage, type), tall(op, type, 7, 13, 301), awkward(tall(op, type, 7, 13, 130)), tall(op, type, 7, 13, 1),
         awkward(tall(op, type, 7, 13, 0)), scaled(tall(op, type, 7, 13, 37), -2, 0),
         scaled(tall(op, type, 7, 13, 37), -2, 2), tall(op, type, 0, 5, 50), tall(op, type, 5, 0, 50)});
    if (!covered(stage))
      add(all, stage, {scaled(tall(op, type, 16, 16, 128), -2, 0), awkward(tall(op, type, 16, 16, 77))});
    if (!stage.generated) {
      for (const auto& [m, n, k] : {std::array{1, 1, 300}, {4, 1, 1}, {4, 257, 1}, {3, 2, 257}, {33, 31, 70}})
        add(all, stage, {tall(op, type, m, n, k)});
      add(all, stage,
          {scaled(tall(op, type, 64, 64, 40), -2, 2), awkward(tall(op, type, 31, 33, 40)),
           awkward(tall(op, type, 2, 3, 1027))});
    }
    for (const Stage& form : variants(stage)) add(all, form, {awkward(tall(op, type, 7, 11, 100))});
  }
  if (stage.generated && !covered(stage)) {
    for (const ProblemSpec& spec : with_kernel_options(op)) add(all, stage, {spec});
  }
  return all;
}

std::vector<Property> properties_of_tall(const Stage& stage) {
  std::vector<ProblemSpec> specs;
  for (const Type type : tall_types) specs.push_back(tall(stage.op, type, 4, 6, 300));
  return {widths_of_tall(stage),
          lengths(stage),
          empty_tall(stage),
          scalars_of_tall(stage),
          covered(stage) ? Property{"numbers", ""} : distributions(stage, specs),
          variants_of_tall(stage)};
}

}  // namespace gemm
