#include "common/check/properties.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <stdexcept>
#include <utility>

#include "common/backend/device.hpp"

namespace gemm {
namespace {

bool on_gpu() {
  return open_device().gpu;
}

void add(Property& property, const Stage& form, std::initializer_list<ProblemSpec> specs) {
  for (const ProblemSpec& spec : specs) property.trials.push_back({&form, spec});
}

ProblemSpec batched(ProblemSpec spec, int batch) {
  spec.batch = batch;
  return spec;
}

ProblemSpec of_distribution(ProblemSpec spec, Distribution distribution) {
  spec.distribution = distribution;
  return spec;
}

void set_type(Property& property, const Stage& stage) {
  for (Trial& trial : property.trials) trial.spec.type = stage.type.value_or(trial.spec.type);
}

// ---- GEMM

// One, primes, tiles' sizes, and one more and less.
constexpr int sizes[] = {1, 2, 3, 5, 7, 31, 32, 33, 63, 64, 65, 127, 129, 257};

// On the executor the largest cube would take as long as all others together: along k there it is flatter.
int depth(int size) {
  return size == 257 && !on_gpu() ? 68 : size;
}

Property representative_gemm(const Stage& stage) {
  Property all;
  add(all, stage,
      {ragged(stage, *stage.type),
       // Whole tiles of every stage, aligned: the largest is 128 x 256. Tiles with edges, still aligned.
       scaled(box(128, 256, 32), -2, 0), scaled(box(128, 128, 32), -2, 2), scaled(box(68, 136, 40), 0.25, 0),
       scaled(box(132, 40, 40), 1, -0.5),
       // Nothing aligned, and edges by one and more.
       awkward(131, 67, 35), awkward(33, 129, 34), box(65, 63, 31), box(17, 31, 33),
       // Vectors, a single step of k, nothing at all.
       awkward(1, 150, 40), awkward(150, 1, 33), scaled(box(40, 137, 1), -2, 1), scaled(box(1, 1, 150), 1.5, 0),
       scaled(box(70, 33, 0), 1, 0.5), box(5, 133, 0), awkward(0, 5, 5), awkward(5, 0, 5),
       // Few tiles, each many k-tiles deep.
       awkward(35, 70, 131), scaled(box(32, 32, 160), -2, 0), scaled(awkward(40, 70, 20), 0, 2)});
  // Offsets of two elements: FP32 numbers are then aligned to 8 bytes only.
  ProblemSpec by_two = box(34, 66, 34);
  by_two.offset = 2;
  // Rows aligned for vectors that end within one: a column short of whole tiles, which lies in the padding.
  ProblemSpec short_by_one = scaled(box(128, 127, 38), -2, 0);
  short_by_one.lda = 40;
  short_by_one.ldb = short_by_one.ldc = 128;
  add(all, stage, {by_two, short_by_one});
  if (stage.workspace_bytes) {  // it may partition k among blocks, or pack operands
    add(all, stage,
        {box(20, 354, 33), box(22, 411, 36), scaled(box(70, 70, 100), -2, 2), box(30, 30, 400), awkward(20, 235, 163),
         // Blocks that end one tile and begin another; sums of a tile's parts by several rows of threads.
         box(529, 68, 226), box(43, 20, 309)});
  }
  if (stage.batch) add(all, stage, {batched(box(64, 64, 32), 3), batched(awkward(40, 37, 67), 3)});
  // m and n one less than tiles have, k more than a tile has: a guard that lets one row too many pass reads it.
  for (const Stage& form : variants(stage)) add(all, form, {scaled(box(64, 64, 32), -2, 0), awkward(63, 95, 37)});
  return all;
}

Property cubes(const Stage& stage) {
  Property all{"sizes", "right at sizes from 1 to 257, one more and one less than tiles have"};
  for (const int size : sizes) add(all, stage, {box(size, size, depth(size))});
  return all;
}

Property padded(const Stage& stage) {
  Property all{"padded rows", "right with any leading dimension and alignment, alpha and beta"};
  for (const int size : sizes) {
    ProblemSpec spec = awkward(size, size, depth(size));
    spec.offset = size % 4;
    add(all, stage, {spec});
  }
  return all;
}

// Each size meets others in each place: m, n and k all differ.
Property rectangles(const Stage& stage) {
  Property all{"rectangles", "right where m, n and k differ"};
  constexpr int count = std::size(sizes);
  for (int i = 0; i < count; ++i) {
    // On the executor, which takes longer for a problem, one of both.
    if (on_gpu() || i % 2 == 0) add(all, stage, {box(sizes[i], sizes[(i + 5) % count], sizes[(i + 9) % count])});
    if (on_gpu() || i % 2 == 1) add(all, stage, {awkward(sizes[(i + 3) % count], sizes[i], sizes[(i + 7) % count])});
  }
  return all;
}

Property thin(const Stage& stage) {
  Property all{"thin shapes", "right for vectors, single elements and narrow strips"};
  const int times = on_gpu() ? 1 : 4;  // shorter by that on the executor
  add(all, stage,
      {box(1, 300, 40), box(300, 1, 40), box(40, 300, 1), box(1, 1, 4000 / times), box(3000 / times, 2, 3),
       box(2, 3000 / times, 3), box(33, 31, 2048 / times + 1)});
  return all;
}

// Few tiles, each of many rounds: where a stage cuts k into parts, or shares a last wave out, it does so here.
Property deep(const Stage& stage) {
  Property all{"deep", "right with few tiles and many steps of k"};
  add(all, stage, {on_gpu() ? awkward(260, 390, 3000) : awkward(40, 140, 1300)});
  return all;
}

Property empty(const Stage& stage) {
  Property all{"empty", "right where m, n or k is 0"};
  for (const auto& [m, n, k] : {std::array{0, 5, 5}, {5, 0, 5}, {5, 5, 0}, {0, 0, 0}, {70, 33, 0}})
    add(all, stage, {box(m, n, k), awkward(m, n, k)});
  return all;
}

Property scalars(const Stage& stage) {
  Property all{"alpha and beta", "right for any alpha and beta; at beta = 0 C is not read"};
  for (const double alpha : {0.0, 1.0, -2.0, 0.25}) {
    for (const double beta : {0.0, 1.0, -0.5}) add(all, stage, {scaled(box(37, 50, 45), alpha, beta)});
  }
  // Whole tiles of every stage, aligned, are stored another way.
  for (const double beta : {0.0, 2.0}) add(all, stage, {scaled(box(on_gpu() ? 256 : 128, 256, 64), -2, beta)});
  return all;
}

Property distributions(const Stage& stage, const std::vector<ProblemSpec>& specs) {
  Property all{"numbers", "within its bound for small, large and mixed numbers"};
  for (const auto d : {Distribution::positive, Distribution::normal, Distribution::integers, Distribution::wide,
                       Distribution::tiny, Distribution::huge}) {
    const bool fits = stage.type != Type::f16 || (d != Distribution::tiny && d != Distribution::huge);
    if (!fits) continue;  // FP16 has no such numbers
    for (const ProblemSpec& spec : specs) add(all, stage, {of_distribution(spec, d)});
  }
  return all;
}

// Also more matrices than a GPU has places for tiles, and results that are read.
Property batches(const Stage& stage) {
  Property all{"batches", "right for many products at a time"};
  if (!stage.batch) return all;
  const bool gpu = on_gpu();
  for (const int batch : {0, 3, gpu ? 500 : 7}) {
    for (ProblemSpec spec : {box(64, 64, 64), awkward(70, 37, 131), box(5, 3, 0)}) {
      if (!gpu && batch == 7 && spec.m == 70) spec = awkward(5, 37, 20);  // on the executor smaller
      add(all, stage, {batched(spec, batch)});
    }
  }
  for (const Stage& form : variants(stage))
    add(all, form, {batched(gpu ? awkward(131, 257, 67) : awkward(65, 40, 35), 3)});
  return all;
}

// A variant shares its stage's launch logic, so fewer problems: with and without edges, padded, misaligned, thin, empty.
Property variants_of_gemm(const Stage& stage) {
  Property all{"variants", "its variants are right, too"};
  for (const Stage& form : variants(stage)) {
    add(all, form,
        {scaled(box(64, 64, 64), -2, 2), awkward(131, 67, 35), awkward(127, 95, 92), box(65, 130, 7),
         scaled(box(128, 256, 136), -2, 0), awkward(0, 5, 5)});
    // Six tiles of 128 x 256, two more than the executor has multiprocessors: a last wave to share among all. Two whole
    // ones side by side.
    if (stage.workspace_bytes) add(all, form, {box(257, 260, 65), scaled(box(128, 512, 32), -2, 0)});
    // There are a hundred variants: on the executor no more than that.
    if (on_gpu()) add(all, form, {box(129, 129, 129), awkward(1, 200, 33), awkward(200, 1, 33), box(33, 31, 0)});
  }
  return all;
}

// ---- tall & skinny
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
  }
  return all;
}

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

ProblemSpec box(int m, int n, int k) {
  ProblemSpec spec;
  spec.m = m;
  spec.n = n;
  spec.k = k;
  return spec;
}

ProblemSpec tall(Operation op, Type type, int m, int n, std::int64_t k) {
  ProblemSpec spec;
  spec.op = op;
  spec.type = type;
  spec.m = m;
  spec.n = n;
  spec.k = k;
  return spec;
}

ProblemSpec scaled(ProblemSpec spec, double alpha, double beta) {
  spec.alpha = alpha;
  spec.beta = beta;
  return spec;
}

ProblemSpec awkward(ProblemSpec spec) {
  spec.lda = spec.row_a() + 3;
  spec.ldb = spec.n + 5;
  spec.ldc = spec.n + 1;
  spec.offset = 1;
  spec.alpha = 1.5;
  spec.beta = -0.5;
  if (spec.type == Type::c64) {
    spec.alpha_imag = 0.25;
    spec.beta_imag = 0.75;
    spec.conjugate = spec.op == Operation::tsmttsm;
  }
  return spec;
}

ProblemSpec awkward(int m, int n, int k) {
  return awkward(box(m, n, k));
}

ProblemSpec ragged(const Stage& stage, Type type) {
  const bool gemm = stage.op == Operation::gemm;
  // A generating stage has the kernel for these widths already (./lab run), and another one takes seconds to compile.
  const int wide = stage.generated ? 16 : 13;
  ProblemSpec spec = gemm ? box(131, 71, 67) : tall(stage.op, type, stage.generated ? 16 : 7, wide, 301);
  spec.type = type;
  spec = awkward(spec);
  constexpr int widest = 256;  // of all tiles
  spec.lda = spec.row_a() + widest + 3;
  spec.ldb = spec.n + widest + 5;
  spec.ldc = spec.n + widest + 1;
  return spec;
}

Property representative(const Stage& stage) {
  Property all = stage.op == Operation::gemm ? representative_gemm(stage) : representative_tall(stage);
  all.name = "representative";
  all.says = "right on a few problems that take every path";
  set_type(all, stage);
  return all;
}

std::vector<Property> properties(const Stage& stage) {
  std::vector<Property> all;
  if (stage.op == Operation::gemm) {
    all = {cubes(stage),      padded(stage),
           rectangles(stage), thin(stage),
           deep(stage),       empty(stage),
           scalars(stage),    distributions(stage, {box(65, 40, 200), awkward(33, 40, 200)}),
           batches(stage),    variants_of_gemm(stage)};
  } else {
    std::vector<ProblemSpec> specs;
    for (const Type type : tall_types) specs.push_back(tall(stage.op, type, 4, 6, 300));
    all = {widths_of_tall(stage),
           lengths(stage),
           empty_tall(stage),
           scalars_of_tall(stage),
           covered(stage) ? Property{"numbers", ""} : distributions(stage, specs),
           variants_of_tall(stage)};
  }
  for (Property& property : all) set_type(property, stage);
  return all;
}

Property property(const Stage& stage, const std::string& name) {
  for (Property& each : properties(stage)) {
    if (each.name == name) return std::move(each);
  }
  throw std::logic_error("no property " + name);
}

}  // namespace gemm
