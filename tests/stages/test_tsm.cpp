// Tall & skinny products: the harness's FP64 side (data, traps, reference, comparison), and every stage over the widths
// and lengths where tiles and tails go wrong.
#include <algorithm>
#include <array>
#include <complex>
#include <nlohmann/json.hpp>
#include <span>

#include "common/backend/device_memory.hpp"
#include "common/check/far_offsets.hpp"
#include "common/check/properties.hpp"
#include "common/commands/run.hpp"
#include "common/measure/roofline.hpp"
#include "common/problem/names.hpp"
#include "common/problem/spec.hpp"
#include "common/report/json.hpp"
#include "common/report/kernel_options_json.hpp"
#include "common/report/result_json.hpp"
#include "common/toolchain/jit.hpp"
#include "tests/device_test.hpp"
#include "tests/stages/tsm_kernels.hpp"
#include "tsm/generated/tsmm_model.hpp"
#include "tsm/stream_counter.hpp"

namespace gemm {
namespace {

constexpr Operation operations[] = {Operation::tsmttsm, Operation::tsmm};
constexpr Type types[] = {Type::f64, Type::c64};

Contender plain(TsmFlaw flaw = TsmFlaw::none) {
  return {"plain", Accuracy::fp64, [flaw](const Problem& p, cudaStream_t s) { return launch_plain_tsm(p, flaw, s); }};
}

Result evaluated(const Contender& contender, const ProblemSpec& spec) {
  return evaluate({contender}, spec, check_only(), {})[0];
}

class Tsm : public DeviceTest {};

using Complex = std::complex<long double>;

// Elements of a matrix whose rows start ld apart, as complex numbers.
std::vector<Complex> elements(const void* data, Type type, std::int64_t rows, std::int64_t cols, std::int64_t ld) {
  const int words = components(type);
  std::vector<double> host(static_cast<std::size_t>(rows * ld * words));
  if (!host.empty()) check_cuda(cudaMemcpy(host.data(), data, host.size() * 8, cudaMemcpyDeviceToHost), "read");
  std::vector<Complex> found;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < cols; ++j) {
      const double* const word = host.data() + (i * ld + j) * words;
      found.emplace_back(word[0], words == 2 ? word[1] : 0.0);
    }
  }
  return found;
}

TEST_F(Tsm, GeneratorsUseAllBitsOfADouble) {
  for (const auto d : {Distribution::uniform, Distribution::positive, Distribution::normal, Distribution::wide}) {
    const Generator generator{d, 7};
    int not_floats = 0;
    double sum = 0, squares = 0;
    for (int i = 0; i < 20000; ++i) {
      const auto x = generator.number<double>(i);
      not_floats += static_cast<double>(static_cast<float>(x)) != x;
      sum += x;
      squares += x * x;
      ASSERT_TRUE(std::isfinite(x));
    }
    EXPECT_GT(not_floats, 19900);
    if (d == Distribution::wide) continue;
    EXPECT_NEAR(sum / 20000, d == Distribution::positive ? 0.5 : 0.0, 0.03);
    EXPECT_NEAR(squares / 20000, d == Distribution::normal ? 1.0 : 1.0 / 3, 0.03);
  }
  const Generator integers{Distribution::integers, 7, 5};
  for (int i = 0; i < 100; ++i) EXPECT_EQ(integers.number<double>(i), integers(i));
}

TEST_F(Tsm, TrapsCatchEveryStrayWrite) {
  for (const Type type : types) {
    Matrix matrix(5, 6, 8, 1, type);
    matrix.fill({});
    EXPECT_EQ(matrix.damaged_words(), 0);
    const auto before = matrix.fingerprint();
    const auto poke = [&](std::int64_t word) {
      const double one = 1;
      check_cuda(cudaMemcpy(matrix.data<double>() + word, &one, sizeof one, cudaMemcpyHostToDevice), "write");
    };
    const int words = components(type);
    poke(2 * 8 * words + 5);  // an element: allowed
    EXPECT_EQ(matrix.damaged_words(), 0);
    EXPECT_NE(matrix.fingerprint(), before);
    int expected = 0;
    for (const int stray : {6 * words, 8 * words - 1, -1, -1000 * words, 5 * 8 * words, (5 * 8 + 900) * words}) {
      poke(stray);
      EXPECT_EQ(matrix.damaged_words(), ++expected) << stray;
    }
  }
}

// The reference against sums in long double on the host.
TEST_F(Tsm, ReferenceAgreesWithAnOracle) {
  for (const Operation op : operations) {
    for (const Type type : types) {
      for (const auto& [m, n, k] : {std::array{1, 1, 1}, {3, 5, 700}, {17, 9, 33}, {5, 4, 0}, {0, 3, 4}, {40, 64, 3}}) {
        for (const bool is_awkward : {false, true}) {
          ProblemSpec spec = tall(op, type, m, n, k);
          if (is_awkward) spec = awkward(spec);
          SCOPED_TRACE(describe(spec));
          Workbench bench(spec);
          const Problem p = bench.problem();
          const bool transposed = op == Operation::tsmttsm;
          const auto x = elements(p.x, type, spec.k, spec.m, p.ldx);
          const auto y = elements(p.y, type, transposed ? spec.k : spec.m, spec.n, p.ldy);
          const auto old = elements(p.out, type, p.rows(), spec.n, p.ldout);
          const Reference reference = compute_reference(p);
          const auto high = reference.c.to_host(), low = reference.low.to_host();
          const auto magnitude = reference.magnitude.to_host();
          const Complex alpha(spec.alpha, spec.alpha_imag), beta(spec.beta, spec.beta_imag);
          for (std::int64_t i = 0; i < p.rows(); ++i) {
            for (std::int64_t j = 0; j < spec.n; ++j) {
              Complex sum = 0;
              for (std::int64_t t = 0; t < p.terms(); ++t) {
                Complex a = x[transposed ? t * spec.m + i : i * spec.m + t];
                if (spec.conjugate) a = std::conj(a);
                sum += a * y[t * spec.n + j];
              }
              Complex right = alpha * sum;
              if (spec.reads_result()) right += beta * old[i * spec.n + j];
              for (int part = 0; part < components(type); ++part) {
                const std::int64_t at = (i * spec.n + j) * components(type) + part;
                const long double expected = part ? right.imag() : right.real();
                const long double found = static_cast<long double>(high[at]) + low[at];
                ASSERT_LE(std::abs(found - expected), 1e-18L * (magnitude[at] + 1) * (p.terms() + 4));
                ASSERT_GE(magnitude[at] * (1 + 1e-12), std::abs(high[at]));
              }
            }
          }
        }
      }
    }
  }
}

// What cancels in FP64 must not in the reference: 2^60 + 1 - 2^60, and 2^-70 beside 1.
TEST_F(Tsm, ReferenceKeepsWhatDoublesLose) {
  const double a[] = {0x1p60, 1, -0x1p60, 0x1p-70}, b[] = {1, 1, 1, 1};
  const DeviceArray<double> x(4), y(4), out(1);
  check_cuda(cudaMemcpy(x.data(), a, sizeof a, cudaMemcpyHostToDevice), "write");
  check_cuda(cudaMemcpy(y.data(), b, sizeof b, cudaMemcpyHostToDevice), "write");
  Problem p;
  p.op = Operation::tsmttsm;
  p.type = Type::f64;
  p.m = p.n = p.ldx = p.ldy = p.ldout = 1;
  p.k = 4;
  p.x = x.data();
  p.y = y.data();
  p.out = out.data();
  const Reference reference = compute_reference(p);
  EXPECT_EQ(reference.c.to_host()[0], 1.0);
  EXPECT_EQ(reference.low.to_host()[0], 0x1p-70);
  EXPECT_EQ(reference.magnitude.to_host()[0], 0x1p61);
}

TEST_F(Tsm, PlainKernelsAreRight) {
  for (const Operation op : operations) {
    for (const Type type : types) {
      for (const auto& [m, n, k] : {std::array{1, 1, 1}, {3, 5, 700}, {64, 64, 10}, {5, 4, 0}, {0, 3, 4}, {2, 0, 9}}) {
        for (const ProblemSpec& spec : {tall(op, type, m, n, k), awkward(tall(op, type, m, n, k))}) {
          const Result result = evaluated(plain(), spec);
          EXPECT_EQ(result.verdict.outcome, Outcome::pass) << describe(spec) << ": " << result.verdict.reason;
          EXPECT_LT(result.verdict.error.max_ratio, 0.5) << describe(spec);
        }
      }
    }
  }
}

TEST_F(Tsm, EveryFlawIsFound) {
  for (const Operation op : operations) {
    for (const Type type : types) {
      const ProblemSpec spec = tall(op, type, 6, 7, 300);
      const ProblemSpec both[] = {spec, awkward(spec)};
      for (const TsmFlaw flaw :
           {TsmFlaw::dropped_k, TsmFlaw::not_conjugated, TsmFlaw::conjugated, TsmFlaw::real_alpha, TsmFlaw::single,
            TsmFlaw::reads_result, TsmFlaw::beyond_its_rows, TsmFlaw::changes_input}) {
        const bool of_complex =
            flaw == TsmFlaw::not_conjugated || flaw == TsmFlaw::conjugated || flaw == TsmFlaw::real_alpha;
        if (of_complex && type == Type::f64) continue;
        if (flaw == TsmFlaw::not_conjugated && op == Operation::tsmm) continue;  // there is nothing to conjugate
        const bool found = std::ranges::any_of(both, [&](const ProblemSpec& each) {
          return evaluated(plain(flaw), each).verdict.outcome == Outcome::fail;
        });
        EXPECT_TRUE(found) << operation_name(op) << ", " << type_name(type) << ", flaw " << static_cast<int>(flaw);
      }
    }
  }
}

TEST_F(Tsm, JsonNamesTheProblem) {
  const ProblemSpec spec = awkward(tall(Operation::tsmttsm, Type::c64, 3, 4, 50));
  const Json json = to_json(evaluated(plain(), spec), std::nullopt, {});
  EXPECT_EQ(json["problem"]["op"], "tsmttsm");
  EXPECT_EQ(json["problem"]["type"], "double complex");
  EXPECT_EQ(json["problem"]["alpha"], (Json{1.5, 0.25}));
  EXPECT_EQ(json["problem"]["conjugate"], true);
  EXPECT_EQ(json["problem"]["lda"], 6);
}

// On a GPU: the yardstick, with M != N, padded, conjugated.
TEST_F(Tsm, LibrariesAreRight) {
  for (const Operation op : operations) {
    for (const Type type : types) {
      for (const Contender& library : baselines(type)) {
        for (const ProblemSpec& spec : {tall(op, type, 5, 9, 1000), awkward(tall(op, type, 33, 6, 777)),
                                        awkward(tall(op, type, 1, 1, 100)), awkward(tall(op, type, 4, 3, 0))}) {
          const Result result = evaluated(library, spec);
          EXPECT_EQ(result.verdict.outcome, Outcome::pass)
              << library.id << ", " << describe(spec) << ": " << result.verdict.reason;
        }
      }
    }
  }
}

// The second pass of ordered reductions, with as many parts as a GPU leaves: the executor's stages leave few.
TEST_F(Tsm, PartsOfManyBlocksAreAddedUp) {
  for (const Type type : types) {
    const int words = components(type);
    for (const auto& [m, n] : {std::array{1, 1}, {3, 5}, {16, 16}, {9, 40}}) {
      for (const int blocks : {0, 1, 7, 65, 264, 1056}) {
        const int all = m * n * words, ldc = n + 2;
        std::vector<double> parts(static_cast<std::size_t>(all) * blocks), sums(static_cast<std::size_t>(all)),
            c(static_cast<std::size_t>(m) * ldc * words, 3.0);
        for (int i = 0; i < all * blocks; ++i) sums[i % all] += parts[i] = i * 7919LL % 101 - 50;
        const DeviceArray<double> workspace(parts.size()), out(c.size());
        check_cuda(cudaMemcpy(workspace.data(), parts.data(), parts.size() * 8, cudaMemcpyHostToDevice), "write");
        check_cuda(cudaMemcpy(out.data(), c.data(), c.size() * 8, cudaMemcpyHostToDevice), "write");
        Problem p;
        p.op = Operation::tsmttsm;
        p.type = type;
        p.m = m;
        p.n = n;
        p.alpha = {2.0};
        p.beta = {-1.0};
        p.out = out.data();
        p.ldout = ldc;
        p.workspace = workspace.data();
        const Status launched = launch_combine(p, blocks, nullptr);
        ASSERT_TRUE(launched) << launched.reason;
        check_cuda(cudaDeviceSynchronize(), "run");
        const std::vector<double> found = out.to_host();
        for (int i = 0; i < m * ldc * words; ++i) {
          const int row = i / (ldc * words), col = i % (ldc * words);
          const double right = col < n * words ? 2 * sums[row * n * words + col] - 3 : 3.0;
          ASSERT_EQ(found[i], right) << m << " x " << n << ", " << blocks << " blocks, word " << i;
        }
      }
    }
  }
}

// ---- every stage

class EveryTsmStage : public DeviceTest, public ::testing::WithParamInterface<std::string> {
 protected:
  const Stage& stage() { return find_stage(GetParam()); }

  // A stage that launches others' kernels, which are tested with those: on the executor that is enough.
  bool covered() { return stage().generated.chosen && !open_device().gpu; }

  void expect_right(const Stage& form, const ProblemSpec& spec) {
    const Result result = evaluated(contender(form), spec);
    EXPECT_NE(result.verdict.outcome, Outcome::fail)
        << form.id << ", " << describe(spec) << ": " << result.verdict.reason;
  }
  void expect(const Property& property) {
    for (const auto& [form, spec] : property.trials) expect_right(*form, spec);
  }
  void expect(const std::string& name) { expect(property(stage(), name)); }
};

TEST_P(EveryTsmStage, Widths) {
  expect("widths");
}
TEST_P(EveryTsmStage, Lengths) {
  expect("lengths");
}
TEST_P(EveryTsmStage, EmptyProducts) {
  expect("empty");
}
TEST_P(EveryTsmStage, AlphaAndBeta) {
  expect("alpha and beta");
}
TEST_P(EveryTsmStage, Distributions) {
  expect("numbers");
}
TEST_P(EveryTsmStage, Variants) {
  expect("variants");
}

// The quick tier's test: ./lab mutate measures what it misses.
TEST_P(EveryTsmStage, Representative) {
  expect(representative(stage()));
}

TEST_P(EveryTsmStage, FarOffsets) {
  const std::optional<std::string> wrong = wrong_far_offset(stage());
  if (!wrong) GTEST_SKIP() << "there are too few addresses, or this is a GPU";
  EXPECT_EQ(*wrong, "");
}

// 2^31 elements of A and more: an offset that is an int anywhere ends in another place.
TEST_P(EveryTsmStage, OffsetsPast31Bits) {
  if (!open_device().gpu) GTEST_SKIP() << "needs a GPU: some 100 GiB and a billion rows";
  constexpr std::int64_t k = (std::int64_t{1} << 30) + 3;
  constexpr double a_wait = 600e-9, long_s = 5;
  const int m = 2, n = stage().op == Operation::tsmm ? 2 : 3;  // a result of so many rows exists several times
  if (const auto waits = stage().waits; waits && waits(m, n, k, open_device().sm_count) * a_wait > long_s)
    GTEST_SKIP() << stage().id << " would take minutes";
  const Result result = [&] {
    try {
      return evaluated(contender(stage()), tall(stage().op, Type::f64, m, n, k));
    } catch (const OutOfDeviceMemory& error) {
      Result skipped;
      skipped.verdict.outcome = Outcome::skip;
      skipped.verdict.reason = error.what();
      return skipped;
    }
  }();
  if (result.verdict.outcome == Outcome::skip) GTEST_SKIP() << result.verdict.reason;
  EXPECT_EQ(result.verdict.outcome, Outcome::pass) << stage().id << ": " << result.verdict.reason;
}

// Each option of generated kernels, at edges and tails.
TEST_P(EveryTsmStage, KernelOptions) {
  if (!stage().generated || stage().op != Operation::tsmttsm || covered()) return;
  const KernelOptions all[] = {
      {.tile_m = 1, .tile_n = 1, .threads = 128},
      {.tile_m = 3, .tile_n = 2, .transposed = false},
      {.tile_m = 4, .tile_n = 3, .transposed = true, .leapfrog = false, .unroll = 3},
      {.tile_m = 2, .tile_n = 5, .transposed = false, .unroll = 2, .reduction = Reduction::local, .threads = 64},
      {.leapfrog = false, .unroll = 1, .reduction = Reduction::atomics},
      {.tile_m = 7, .tile_n = 11, .unroll = 4, .reduction = Reduction::local, .threads = 32},
      {.tile_m = 2, .tile_n = 2, .reduction = Reduction::atomics, .threads = 1024},
      // Slices that overlap at the edges; threads without a slice; a single slice.
      {.tile_m = 3, .tile_n = 2, .transposed = false, .reduction = Reduction::shared_atomics, .threads = 64},
      {.tile_m = 2, .tile_n = 5, .reduction = Reduction::shared_atomics, .threads = 96},
      {.tile_m = 1, .tile_n = 1, .reduction = Reduction::shared_atomics, .threads = 128},
      {.tile_m = 4, .tile_n = 6, .unroll = 4, .threads = 96},
      {.tile_m = 16, .tile_n = 8, .threads = 64},  // of Tensor Cores
      {.tile_n = 16, .unroll = 4, .threads = 384},
      {.products = 3},
      {.products = 4},
  };
  int passed = 0;
  for (const Type type : types) {
    for (const KernelOptions& options : all) {
      for (const std::int64_t k : {1, 300, 20000}) {
        if (k > 300 && !open_device().gpu) continue;
        ProblemSpec spec = awkward(tall(stage().op, type, 7, 11, k));
        spec.kernel = options;
        const Result result = evaluated(contender(stage()), spec);
        const KernelOptions used = stage().generated.choose(7, 11, type == Type::c64, options);
        const bool refused = !stage().generated.refusal(7, 11, type == Type::c64, used).empty();
        EXPECT_EQ(result.verdict.outcome, refused ? Outcome::skip : Outcome::pass)
            << describe(spec) << ": " << result.verdict.reason;
        passed += !refused;
        EXPECT_TRUE(!options.tile_m || used.tile_m == options.tile_m);
        EXPECT_TRUE(!options.reduction || used.reduction == options.reduction);
        EXPECT_TRUE(!options.products || used.products == options.products);
      }
    }
  }
  EXPECT_GE(passed, 6);
  ProblemSpec too_large = tall(stage().op, Type::f64, 7, 11, 50);
  too_large.kernel.tile_m = 12;
  EXPECT_EQ(evaluated(contender(stage()), too_large).verdict.outcome, Outcome::skip);
  ProblemSpec too_many = tall(stage().op, Type::f64, 7, 11, 50);
  too_many.kernel = {.tile_m = 1, .tile_n = 1, .threads = 64};
  EXPECT_EQ(evaluated(contender(stage()), too_many).verdict.outcome, Outcome::skip);
}

// What nvcc 13.0 once compiled wrongly, its addresses of A 8 bytes apart from those written (tsm/generated/walk.cuh).
// Found by `./lab measure tune-tsm cases --exhaustive`. On the executor it was right.
TEST_P(EveryTsmStage, AddressesOfThreeByTwo) {
  if (stage().id != "tsm/09_generated" || covered()) return;
  for (const auto& [leapfrog, unroll] : {std::pair(false, 8), {true, 2}, {false, 4}, {true, 4}, {true, 8}}) {
    ProblemSpec spec = tall(stage().op, Type::f64, 5, 5, open_device().gpu ? 20000 : 700);
    spec.kernel = {
        .tile_m = 3, .tile_n = 2, .transposed = false, .leapfrog = leapfrog, .unroll = unroll, .threads = 256};
    expect_right(stage(), spec);
  }
}

// The same for TSMM. What a stage says it can't have is skipped, and all else is right.
TEST_P(EveryTsmStage, KernelOptionsOfTsmm) {
  if (!stage().generated || stage().op != Operation::tsmm || covered()) return;
  const KernelOptions all[] = {
      {},
      {.unroll = 1, .threads = 32, .c_source = CSource::registers, .threads_per_row = 2},
      {.unroll = 3, .threads = 64, .c_source = CSource::registers, .threads_per_row = 4},
      {.unroll = 2, .c_source = CSource::global, .threads_per_row = 2},
      {.unroll = 4, .threads = 128, .c_source = CSource::global, .threads_per_row = 8},
      {.unroll = 1, .c_source = CSource::shared, .threads_per_row = 16},
      {.unroll = 4, .threads = 96, .c_source = CSource::shared, .threads_per_row = 4},
      {.unroll = 2, .threads = 1024, .c_source = CSource::shared, .threads_per_row = 1},
      {.products = 3},
      {.products = 4},
  };
  int passed = 0;
  for (const Type type : types) {
    // The second has rows of A that are no multiple of 16 bytes apart, the third begins at none.
    for (ProblemSpec spec : {tall(stage().op, type, 10, 9, 300), awkward(tall(stage().op, type, 10, 9, 77)),
                             awkward(tall(stage().op, type, 7, 9, 1))}) {
      for (const KernelOptions& options : all) {
        spec.kernel = options;
        const KernelOptions used = stage().generated.choose(spec.m, spec.n, type == Type::c64, options);
        const std::string why = kernel_refusal(stage(), spec.m, spec.n, type == Type::c64, used);
        const Result result = evaluated(contender(stage()), spec);
        EXPECT_EQ(result.verdict.outcome, why.empty() ? Outcome::pass : Outcome::skip)
            << describe(spec) << ": " << result.verdict.reason;
        passed += result.verdict.outcome == Outcome::pass;
        EXPECT_TRUE(!options.unroll || used.unroll == options.unroll);
        EXPECT_TRUE(!options.threads || used.threads == options.threads);
        EXPECT_TRUE(!options.c_source || used.c_source == options.c_source);
        EXPECT_TRUE(!options.products || used.products == options.products);
        EXPECT_TRUE(!options.threads_per_row || used.threads_per_row == options.threads_per_row);
      }
    }
  }
  EXPECT_GE(passed, 6);
  if (stage().id == "tsm/12_tsmm_generated") {  // which has them all but products: four, of complex numbers
    EXPECT_EQ(passed, 6 * static_cast<int>(std::size(all)) - 3 - 6);
  }
}

// Rows of A that come in several chunks, the last of them shorter, and warps that take several turns, the last not
// whole.
TEST_F(Tsm, ChunksAndTurnsOfThePipelineOfTsmm) {
  const auto all = stages();
  const auto stage = std::ranges::find(all, "tsm/13_tsmm_pipeline", &Stage::id);
  if (stage == all.end()) GTEST_SKIP() << "tsm/13 is not in this build";
  for (ProblemSpec spec :
       {tall(Operation::tsmm, Type::f64, 57, 61, 601), awkward(tall(Operation::tsmm, Type::f64, 57, 61, 601)),
        tall(Operation::tsmm, Type::f64, 64, 34, 602), awkward(tall(Operation::tsmm, Type::c64, 41, 30, 603)),
        tall(Operation::tsmm, Type::c64, 33, 24, 604), awkward(tall(Operation::tsmm, Type::c64, 57, 44, 70))}) {
    spec.kernel.unroll = spec.k < 100 ? 5 : 2;  // 5: the loop over chunks is one
    spec.kernel.threads = 32;                   // so that few rows are a turn of all warps
    for (const int products : {3, 4}) {
      if (spec.type == Type::f64 && products == 4) continue;
      spec.kernel.products = spec.type == Type::c64 ? products : 0;
      const Result result = evaluated(contender(*stage), spec);
      EXPECT_EQ(result.verdict.outcome, Outcome::pass)
          << describe(spec) << ", " << products << " products: " << result.verdict.reason;
    }
  }
}

// Operands are read from shared memory without bank conflicts. But where rows of B don't begin and end with sectors, they
// leave through shared memory by sectors of theirs: then lanes of two rows can read the same banks. And 13b loads parts of
// complex numbers apart: every other word, so from half of the banks.
void expect_few_conflicts(const Counts& counts, const ProblemSpec& spec) {
  const bool by_sectors =
      spec.op == Operation::tsmm && (spec.ldc != 0 || spec.n * static_cast<std::int64_t>(size_of(spec.type)) % 32 != 0);
  const bool apart = spec.op == Operation::tsmttsm && spec.type == Type::c64;
  const std::int64_t wavefronts = counts.shared_load.wavefronts;
  EXPECT_LE(counts.shared_load.conflicts, by_sectors ? wavefronts / 4 : apart ? wavefronts / 2 : 0);
}

// Columns that are left over, dealt out in all ways: one to four lanes for a row's terms, chunks whose units these
// do not divide, lanes without a row; stores of 16 bytes from registers, and of 8 through shared memory.
TEST_F(Tsm, RestOfThePipelineOfTsmm) {
  const auto all = stages();
  const auto stage = std::ranges::find(all, "tsm/13_tsmm_pipeline", &Stage::id);
  if (stage == all.end()) GTEST_SKIP() << "tsm/13 is not in this build";
  struct Case {
    ProblemSpec spec;
    int threads_per_row, unroll, products;
  };
  for (auto& [spec, threads_per_row, unroll, products] :
       {Case{tall(Operation::tsmm, Type::c64, 17, 10, 333), 4, 2, 3},
        {awkward(tall(Operation::tsmm, Type::c64, 17, 10, 77)), 8, 2, 3},
        {awkward(tall(Operation::tsmm, Type::c64, 3, 5, 300)), 4, 4, 4},
        {tall(Operation::tsmm, Type::f64, 10, 10, 333), 4, 2, 0},
        {awkward(tall(Operation::tsmm, Type::f64, 5, 7, 300)), 3, 3, 0}}) {
    ProblemSpec problem = spec;
    problem.kernel = {.unroll = unroll,
                      .products = products,
                      .threads = 32,
                      .c_source = CSource::shared,
                      .threads_per_row = threads_per_row};
    SCOPED_TRACE(describe(problem));
    const bool is_complex = problem.type == Type::c64;
    const JitRequest request = stage->generated.request(problem.m, problem.n, is_complex, false, problem.kernel);
    EXPECT_TRUE(request.kernel.ends_with(", true>")) << request.kernel << " has no rest";
    EvaluateOptions count = check_only();
    count.count = !open_device().gpu;
    const Result result = evaluate({contender(*stage)}, problem, count, {})[0];
    EXPECT_EQ(result.verdict.outcome, Outcome::pass) << result.verdict.reason;
    if (result.counts) expect_few_conflicts(*result.counts, problem);
  }
}

// (1 + ie)(1 + ie) = 1 - e^2 + 2ie. Of four products the imaginary part adds up two small ones; of three it is what is
// left of (1 + e)^2 - 1, which rounds to 0. So it is seen which ones a kernel has.
TEST_F(Tsm, ThreeProductsOfThePipelineOfTsmm) {
  const auto all = stages();
  const auto stage = std::ranges::find(all, "tsm/13_tsmm_pipeline", &Stage::id);
  if (stage == all.end()) GTEST_SKIP() << "tsm/13 is not in this build";
  constexpr int k = 5, terms = 16;  // all but the first of them zeros
  constexpr double small = 0x1p-60;
  std::vector<double2> numbers(k * terms);
  for (int row = 0; row < k; ++row) numbers[row * terms] = make_double2(1, small);
  const DeviceArray<double2> x(numbers.size()), y(terms), out(k);
  check_cuda(cudaMemcpy(x.data(), numbers.data(), numbers.size() * sizeof(double2), cudaMemcpyHostToDevice), "write");
  check_cuda(cudaMemcpy(y.data(), numbers.data(), terms * sizeof(double2), cudaMemcpyHostToDevice), "write");
  Problem p;
  p.op = Operation::tsmm;
  p.type = Type::c64;
  p.n = p.ldy = p.ldout = 1;
  p.m = p.ldx = terms;
  p.k = k;
  p.x = x.data();
  p.y = y.data();
  p.out = out.data();
  for (const int products : {3, 4}) {
    p.kernel.products = products;
    const Status launched = contender(*stage).launch(p, nullptr);
    ASSERT_TRUE(launched) << launched.reason;
    check_cuda(cudaDeviceSynchronize(), "run");
    for (const double2& found : out.to_host()) {
      EXPECT_EQ(found.x, 1);
      EXPECT_LE(std::abs(found.y - 2 * small), products == 3 ? 0x1p-52 : 0) << products << " products";
      EXPECT_EQ(found.y == 2 * small, products == 4);
    }
  }
}

// Sums of few terms have four products, whatever is asked for: with three, one alone could be wrong by more than the
// bound.
TEST_F(Tsm, FewTermsHaveFourProducts) {
  const auto all = stages();
  const auto stage = std::ranges::find(all, "tsm/10_pipeline", &Stage::id);
  if (stage == all.end()) GTEST_SKIP() << "tsm/10 is not in this build";
  for (const int k : {1, 2, 15, 16, 17}) {
    ProblemSpec spec = tall(Operation::tsmttsm, Type::c64, 49, 49, k);
    spec.kernel.products = 3;
    const Result result = evaluated(contender(*stage), spec);
    EXPECT_EQ(result.verdict.outcome, Outcome::pass) << describe(spec) << ": " << result.verdict.reason;
  }
}

// Tiles of one warp and of several, stages and turns enough to come back to the first place, warps without work, rows of any
// alignment. No load from shared memory, of A, B or C, meets another in a bank, whatever the width. (Where only one or two
// lanes of four have a column of complex A left, at M % 4 = 1 or 2, fewer cycles than a load's least are counted on.)
TEST_F(Tsm, TensorCoresOfBothProducts) {
  struct Case {
    int m, n;
    KernelOptions tsmttsm, tsmm;
  };
  const Case cases[] = {
      {3, 1, {}, {}},
      {19, 9, {.tile_m = 16, .tile_n = 8, .threads = 128}, {.unroll = 2}},
      {24, 31, {.tile_m = 32, .tile_n = 16, .unroll = 4, .threads = 128}, {.threads = 384}},
      {32, 33, {.tile_m = 16, .tile_n = 40, .threads = 96}, {}},
      {40, 48, {.tile_m = 48, .tile_n = 8, .threads = 224}, {.unroll = 3, .threads = 128}},
      {59, 50, {.tile_m = 32, .tile_n = 32}, {}},
      {64, 64, {}, {.threads = 128}},
  };
  const auto all = stages();
  for (const char* const id : {"tsm/13b_tensor_cores", "tsm/13c_tsmm_tensor_cores"}) {
    const auto stage = std::ranges::find(all, id, &Stage::id);
    if (stage == all.end()) GTEST_SKIP() << id << " is not in this build";
    bool is_plain = true;
    for (const auto& [m, n, tsmttsm, tsmm] : cases) {
      is_plain = !is_plain;
      for (const Type type : {Type::f64, Type::c64}) {
        const ProblemSpec plain = tall(stage->op, type, m, n, 700);
        ProblemSpec spec = is_plain == (type == Type::f64) ? plain : awkward(plain);
        spec.kernel = stage->op == Operation::tsmm ? tsmm : tsmttsm;
        SCOPED_TRACE(std::string(id) + ", " + describe(spec));
        const KernelOptions complete = stage->generated.choose(m, n, type == Type::c64, spec.kernel);
        if (!stage->generated.refusal(m, n, type == Type::c64, complete).empty()) {
          EXPECT_EQ(type, Type::c64) << "only of complex numbers some are too large";
          continue;
        }
        EvaluateOptions count = check_only();
        count.count = !open_device().gpu;
        const Result result = evaluate({contender(*stage)}, spec, count, {})[0];
        EXPECT_EQ(result.verdict.outcome, Outcome::pass) << result.verdict.reason;
        if (!result.counts) continue;
        EXPECT_TRUE(result.counts->on_tensor_cores());
        EXPECT_EQ(counted_bound(*result.counts).peak, "FP64 Tensor Core");
        EXPECT_EQ(counted_bound(*result.counts).step, "FMA");
        expect_few_conflicts(*result.counts, spec);
      }
    }
  }
}

// Behind the last column of a row of A comes the next row. What is infinite there must not get at this row's sums.
TEST_F(Tsm, TensorCoresDoNotMixRows) {
  const auto all = stages();
  const auto stage = std::ranges::find(all, "tsm/13c_tsmm_tensor_cores", &Stage::id);
  if (stage == all.end()) GTEST_SKIP() << "tsm/13c is not in this build";
  constexpr int k = 40, m = 5, n = 3, row = 20;
  std::vector<double> numbers(k * m, 1.0), c(m * n, 1.0);
  numbers[row * m] = INFINITY;
  const DeviceArray<double> x(numbers.size()), y(c.size()), out(k * n);
  check_cuda(cudaMemcpy(x.data(), numbers.data(), numbers.size() * sizeof(double), cudaMemcpyHostToDevice), "write");
  check_cuda(cudaMemcpy(y.data(), c.data(), c.size() * sizeof(double), cudaMemcpyHostToDevice), "write");
  Problem p;
  p.op = Operation::tsmm;
  p.type = Type::f64;
  p.m = p.ldx = m;
  p.n = p.ldy = p.ldout = n;
  p.k = k;
  p.x = x.data();
  p.y = y.data();
  p.out = out.data();
  const Status launched = contender(*stage).launch(p, nullptr);
  ASSERT_TRUE(launched) << launched.reason;
  check_cuda(cudaDeviceSynchronize(), "run");
  const std::vector<double> found = out.to_host();
  for (int i = 0; i < k * n; ++i) EXPECT_EQ(found[i], i / n == row ? INFINITY : m) << i;
}

struct Stream {
  cudaStream_t handle = nullptr;
  Stream() { check_cuda(cudaStreamCreateWithFlags(&handle, cudaStreamNonBlocking), "create a stream"); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { cudaStreamDestroy(handle); }
};

// What is enqueued, as a graph that is launched twice; a launch outside of it stands between.
template <class Enqueue>
void run_as_graph(cudaStream_t stream, Enqueue enqueue) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "begin a capture");
  EXPECT_EQ(counter_of(stream, 1024), -1);
  enqueue();
  check_cuda(cudaStreamEndCapture(stream, &graph), "end a capture");
  check_cuda(cudaGraphInstantiate(&executable, graph, 0), "make a graph");
  check_cuda(cudaGraphLaunch(executable, stream), "launch a graph");
  enqueue();
  check_cuda(cudaGraphLaunch(executable, stream), "launch a graph");
  check_cuda(cudaStreamSynchronize(stream), "wait");
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
}

// A launch leaves its stream's counter at 0, or the next one would miss rows. Of a graph nobody knows what runs beside
// it, so its launches have none.
TEST_F(Tsm, EachLaunchHasAllTickets) {
  const auto all = stages();
  const auto stage = std::ranges::find(all, "tsm/13c_tsmm_tensor_cores", &Stage::id);
  if (stage == all.end()) GTEST_SKIP() << "tsm/13c is not in this build";
  constexpr int n = 12;
  const int k = open_device().gpu ? 700'001 : 9'001;  // several turns of all warps
  std::vector<double> rows(std::size_t{n} * k), unit(n * n);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<double>(i);
  for (int i = 0; i < n; ++i) unit[i * n + i] = 1;
  const DeviceArray<double> a(rows.size()), c(unit.size()), b(rows.size());
  check_cuda(cudaMemcpy(a.data(), rows.data(), rows.size() * sizeof(double), cudaMemcpyHostToDevice), "write");
  check_cuda(cudaMemcpy(c.data(), unit.data(), unit.size() * sizeof(double), cudaMemcpyHostToDevice), "write");
  Problem p;
  p.op = Operation::tsmm;
  p.type = Type::f64;
  p.m = p.n = p.ldx = p.ldy = p.ldout = n;
  p.k = k;
  p.x = a.data();
  p.y = c.data();
  p.out = b.data();
  p.kernel = {.unroll = 4, .threads = 128, .turns = 1024};
  const Stream first, second;
  for (const cudaStream_t stream : {first.handle, first.handle, second.handle, cudaStream_t{}}) {
    check_cuda(cudaMemset(b.data(), 0xff, rows.size() * sizeof(double)), "clear");
    check_cuda(cudaDeviceSynchronize(), "wait");
    const Status launched = contender(*stage).launch(p, stream);
    ASSERT_TRUE(launched) << launched.reason;
    check_cuda(cudaDeviceSynchronize(), "run");
    EXPECT_EQ(b.to_host(), rows);
  }
  check_cuda(cudaMemset(b.data(), 0xff, rows.size() * sizeof(double)), "clear");
  check_cuda(cudaDeviceSynchronize(), "wait");
  run_as_graph(first.handle, [&] { EXPECT_TRUE(contender(*stage).launch(p, first.handle)); });
  EXPECT_EQ(b.to_host(), rows);
}

TEST_F(Tsm, AStreamHasACounterForItself) {
  const Stream one, two;
  const int its = counter_of(one.handle, 1024);
  EXPECT_GE(its, 0);
  EXPECT_EQ(counter_of(one.handle, 1024), its);
  EXPECT_NE(counter_of(two.handle, 1024), its);
  const Stream three;
  EXPECT_EQ(counter_of(three.handle, 2), -1) << "two have one already";
  EXPECT_EQ(counter_of(one.handle, 2), its);
}

// Each product has its own options, and the other's are not ignored.
TEST_P(EveryTsmStage, ForeignOptionsAreRefused) {
  const bool tsmm = stage().op == Operation::tsmm;
  const KernelOptions foreign[] = {
      tsmm ? KernelOptions{.tile_m = 2} : KernelOptions{.c_source = CSource::shared},
      tsmm ? KernelOptions{.transposed = true} : KernelOptions{.threads_per_row = 4},
      tsmm ? KernelOptions{.leapfrog = false} : KernelOptions{.c_source = CSource::registers},
      tsmm ? KernelOptions{.reduction = Reduction::local} : KernelOptions{.threads_per_row = 1},
  };
  for (const KernelOptions& options : foreign) {
    ProblemSpec spec = tall(stage().op, Type::f64, 4, 4, 20);
    spec.kernel = options;
    EXPECT_EQ(evaluated(contender(stage()), spec).verdict.outcome, Outcome::skip);
    EXPECT_THROW(require_kernel_options(spec, stage()), UsageError);
  }
}

// What is promised of an ordered reduction: the same bits, however the blocks come to their turns.
TEST_P(EveryTsmStage, OrderedSumsHaveTheSameBits) {
  if (!stage().generated || stage().op != Operation::tsmttsm) return;
  for (const Type type : types) {
    ProblemSpec spec = tall(stage().op, type, 4, 6, 4099);
    spec.kernel.reduction = Reduction::ordered;
    Workbench bench(spec);
    const Contender one = contender(stage());
    std::vector<Complex> first;
    for (int run = 0; run < 4; ++run) {
      bench.reset_output();
      const Status launched = one.launch(bench.problem(), nullptr);
      ASSERT_TRUE(launched) << launched.reason;
      check_cuda(cudaDeviceSynchronize(), "run");
      const Problem p = bench.problem();
      const auto found = elements(p.out, type, spec.m, spec.n, p.ldout);
      if (run == 0) first = found;
      EXPECT_EQ(found, first);
    }
  }
}

// In which order blocks end differs from run to run, on a GPU as on the executor; tsm/08 adds their parts in one order.
TEST_F(Tsm, OrderedReductionRepeatsItsBits) {
  const auto found = std::ranges::find(stages(), "tsm/08_reductions", &Stage::id);
  if (found == stages().end()) GTEST_SKIP() << "tsm/08 is not in this build";
  for (const Type type : types) {
    for (const auto& [m, n, k] : {std::array{3, 2, 5000}, {16, 16, 1500}, {33, 17, 500}}) {
      const ProblemSpec spec = awkward(tall(Operation::tsmttsm, type, m, n, k));
      Workbench bench(spec);
      const auto run = [&] {
        EXPECT_EQ(bench.check(contender(*found)).outcome, Outcome::pass) << describe(spec);
        const Problem p = bench.problem();
        return elements(p.out, type, p.rows(), spec.n, p.ldout);
      };
      const std::vector<Complex> first = run();
      for (int i = 0; i < 3; ++i) EXPECT_TRUE(run() == first) << describe(spec) << ", run " << i;
    }
  }
}

// Ernst et al., section 5.3: at M = N = 64 their best tile without leapfrogging is 11 x 8. Its 88 FMAs are 352 cycles of a
// V100's scheduler, and two warps fit, of which one waits for 664 cycles. The same by this GPU's model, as on the page of
// tsm/07.
TEST(TsmModel, PapersExampleOfTwoWarps) {
  constexpr int m = 64, schedulers = 4, cycles_of_v100 = 4;  // of a scheduler, for an FMA of a warp
  KernelOptions o = {.tile_m = 11, .tile_n = 8, .transposed = false, .leapfrog = false, .unroll = 1, .threads = 256};
  const int fmas = o.tile_m * o.tile_n, warps = generated::resident_blocks(o, false) * o.threads / 32 / schedulers;
  EXPECT_EQ(fmas * cycles_of_v100, 352);
  EXPECT_EQ(warps, 2);
  EXPECT_EQ(generated::register_line(o, false), 230);
  const double work = fmas * schedulers * generated::fma_cycles;
  EXPECT_EQ(work, 176);
  // Each of the 48 threads of a slice has a tile, five slices fit a block, and all warps together multiply their rows in
  // the time of a scheduler's two.
  const generated::RowCycles row = generated::row_cycles(m, m, false, o);
  const int slices = o.threads / 48;
  EXPECT_DOUBLE_EQ(slices * row.fma, warps * work);
  EXPECT_DOUBLE_EQ(slices * row.latency, generated::latency);
  // Leapfrogging has no registers left with this tile.
  o.leapfrog = true;
  EXPECT_GT(generated::register_line(o, false), generated::most_registers);
}

// The model of the generated TSMM kernels against what the executor counts, where all rows are there.
TEST_F(Tsm, ModelOfTsmmCountsWhatTheExecutorCounts) {
  const auto all = stages();
  const auto stage = std::ranges::find(all, "tsm/12_tsmm_generated", &Stage::id);
  if (open_device().gpu || stage == all.end()) return;  // no counts, or left out by GEMM_STAGES
  for (const Type type : types) {
    const int words = components(type), threads = 64;
    for (const auto& [m, n] : {std::pair{16, 16}, {10, 12}, {7, 3}}) {
      for (const int per_row : generated::per_row_choices) {
        for (const CSource source : {CSource::global, CSource::shared}) {
          const int unroll = 2, blocks = 2, rows = threads / per_row * unroll;
          ProblemSpec spec = tall(Operation::tsmm, type, m, n, rows * blocks);
          spec.kernel = {.unroll = unroll, .threads = threads, .c_source = source, .threads_per_row = per_row};
          if (!generated::tsmm_refusal(m, n, words == 2, spec.kernel).empty()) continue;
          SCOPED_TRACE(describe(spec) + ", threads a row: " + std::to_string(per_row));
          EvaluateOptions count = check_only();
          count.count = true;
          const Result result = evaluate({contender(*stage)}, spec, count, {})[0];
          ASSERT_EQ(result.verdict.outcome, Outcome::pass) << result.verdict.reason;
          ASSERT_TRUE(result.counts);
          const auto access = generated::tsmm_access(m, n, words, per_row);
          const int warps = threads / 32 * blocks, each = (n + per_row - 1) / per_row;
          const double of_a = warps * m * unroll * access.load_a, of_c = warps * m * each * access.load_c;
          if (n % per_row == 0) {  // else g++ makes branches of what is outside, and with these more requests
            EXPECT_EQ(static_cast<double>(result.counts->global_store.sectors), warps * unroll * each * access.sectors);
          }
          const bool shared = source == CSource::shared;
          if (shared) {
            EXPECT_EQ(static_cast<double>(result.counts->shared_load.wavefronts), of_c);
          } else {
            EXPECT_EQ(static_cast<double>(result.counts->global_load.wavefronts), of_a + of_c);
          }
        }
      }
    }
  }
}

std::vector<std::string> ids() {
  std::vector<std::string> all;
  for (const Stage& stage : stages()) {
    if (stage.op != Operation::gemm) all.push_back(stage.id);
  }
  return all;
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EveryTsmStage);  // where GEMM_STAGES leaves them out
INSTANTIATE_TEST_SUITE_P(Registered, EveryTsmStage, ::testing::ValuesIn(ids()), [](const auto& info) {
  std::string name = info.param;
  std::ranges::replace(name, '/', '_');
  return name;
});

}  // namespace
}  // namespace gemm
