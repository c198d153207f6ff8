#include <array>
#include <iterator>

#include "common/check/property_groups.hpp"

namespace gemm {
namespace {

ProblemSpec batched(ProblemSpec spec, int batch) {
  spec.batch = batch;
  return spec;
}

// One, primes, tiles' sizes, and one more and less.
constexpr int sizes[] = {1, 2, 3, 5, 7, 31, 32, 33, 63, 64, 65, 127, 129, 257};

// On the executor the largest cube would take as long as all others together: along k there it is flatter.
int depth(int size) {
  return size == 257 && !on_gpu() ? 68 : size;
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

}  // namespace

Property representative_gemm(const Stage& stage) {
  Property all;
  // Aligned rows, and half of the last vector of A is padding.
  ProblemSpec ends_within_a_vector = scaled(box(132, 40, 38), 1, -0.5);
  ends_within_a_vector.lda = 40;
  add(all, stage,
      {ragged(stage, *stage.type),
       // Whole tiles of every stage, aligned: the largest is 128 x 256. Tiles with edges, still aligned.
       scaled(box(128, 256, 32), -2, 0), scaled(box(128, 128, 32), -2, 2), scaled(box(68, 136, 40), 0.25, 0),
       ends_within_a_vector,
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
  // Whole tiles, and nothing misaligned but where they begin.
  ProblemSpec by_one = scaled(box(128, 128, 16), -2, 0);
  by_one.offset = 1;
  // Rows aligned for vectors that end within one: a column short of whole tiles, which lies in the padding.
  ProblemSpec short_by_one = scaled(box(128, 127, 38), -2, 0);
  short_by_one.lda = 40;
  short_by_one.ldb = short_by_one.ldc = 128;
  add(all, stage, {by_two, by_one, short_by_one});
  if (stage.workspace_bytes) {  // it may partition k among blocks, or pack operands
    add(all, stage,
        {box(20, 354, 33), box(22, 411, 36), scaled(box(70, 70, 100), -2, 2), box(30, 30, 400), awkward(20, 235, 163),
         // Blocks that end one tile and begin another; sums of a tile's parts by several rows of threads.
         box(529, 68, 226), box(43, 20, 309),
         // Tiles in more than one band of eight rows.
         box(2100, 20, 9)});
  }
  if (stage.batch) add(all, stage, {batched(box(64, 64, 32), 3), batched(awkward(40, 37, 67), 3)});
  // m and n one less than tiles have, k more than a tile has: a guard that lets one row too many pass reads it.
  for (const Stage& form : variants(stage)) add(all, form, {scaled(box(64, 64, 32), -2, 0), awkward(63, 95, 37)});
  return all;
}

std::vector<Property> properties_of_gemm(const Stage& stage) {
  return {cubes(stage),      padded(stage),
          rectangles(stage), thin(stage),
          deep(stage),       empty(stage),
          scalars(stage),    distributions(stage, {box(65, 40, 200), awkward(33, 40, 200)}),
          batches(stage),    variants_of_gemm(stage)};
}

}  // namespace gemm
