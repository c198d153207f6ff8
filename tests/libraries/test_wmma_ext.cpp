// tensorcore/wmma_ext/: every primitive on every kind of fragment, bit for bit against the same matrix made in shared
// memory and loaded with load_matrix_sync; and that the primitives do without shared memory.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <sstream>

#include "common/backend/counts.hpp"
#include "tests/device_test.hpp"
#include "tests/libraries/wmma_ext_kernels.hpp"

namespace gemm {
namespace {

using namespace wmma_ext_test;

class WmmaExt : public DeviceTest {};

// Those that this device has.
std::vector<Kind> all_kinds() {
  std::vector<Kind> kinds;
  for (const auto* list : {&wmma_kinds(), &mma_kinds()}) {
    for (const Kind& kind : *list) {
      if (compute_capability() >= kind.needs) kinds.push_back(kind);
    }
  }
  return kinds;
}

// Integers from -bound to bound, without 0 (they divide).
std::vector<double> integers(int count, unsigned seed, int bound) {
  std::vector<double> numbers(count);
  for (double& x : numbers) {
    seed = seed * 1664525u + 1013904223u;
    x = 1 + (seed >> 16) % bound;
    if (seed >> 31) x = -x;
  }
  return numbers;
}

Input input_for(const Kind& kind) {
  const int elements = kind.rows * kind.cols;
  return {integers(elements, 1, 200),
          integers(elements, 2, 200),
          integers(elements, 3, 200),
          integers(kind.cols, 4, 100),
          integers(kind.rows, 5, 100),
          7,
          kind.rows - 2,
          kind.cols / 2};
}

// What a primitive shall make, row-major and not yet rounded: all of it is exact in double, or (quotients) far from a
// tie in any of the types.
std::vector<double> expected(Primitive primitive, const Kind& kind, const Input& in) {
  std::vector<double> matrix(kind.rows * kind.cols);
  for (int i = 0; i < kind.rows; ++i) {
    for (int j = 0; j < kind.cols; ++j) {
      const int e = i * kind.cols + j;
      const double a = in.a[e], b = in.b[e], c = in.c[e];
      const auto value = [&]() -> double {
        switch (primitive) {
          case Primitive::foreach_ij:
          case Primitive::foreach_rows:
          case Primitive::foreach_columns:
          case Primitive::foreach_by_type:
          case Primitive::map:
            return a;
          case Primitive::set_element:
            return i == in.i && j == in.j ? in.s : 0;
          case Primitive::set_constant:
            for (const Place p : kind.constant_places) {
              if (p.row == i && p.col == j) return in.s;
            }
            return 0;
          case Primitive::fill:
            return in.s;
          case Primitive::fill_zero:
            return 0;
          case Primitive::foreach_v:
          case Primitive::load_row:
            return i == 0 ? in.u[j] : 0;
          case Primitive::load_column:
            return j == 0 ? in.v[i] : 0;
          case Primitive::foreach_v_by_type:
          case Primitive::load_by_type:
            return kind.by_rows ? (i == 0 ? in.u[j] : 0) : (j == 0 ? in.v[i] : 0);
          case Primitive::make_identity:
            return i == j;
          case Primitive::add_eye:
            return a + (i == j ? in.s : 0);
          case Primitive::direct_product:
            return in.v[i] * in.u[j];
          case Primitive::plus:
            return a + b;
          case Primitive::minus:
            return a - b;
          case Primitive::times:
            return a * b;
          case Primitive::divided:
            return a / b;
          case Primitive::plus_s:
            return a + in.s;
          case Primitive::minus_s:
            return a - in.s;
          case Primitive::times_s:
          case Primitive::s_times:
            return a * in.s;
          case Primitive::divided_by_s:
            return a / in.s;
          case Primitive::fma:
            return a * b + c;
          case Primitive::fma_s:
            return in.s * b + c;
          case Primitive::count:
            break;
        }
        return 0;
      };
      matrix[e] = value();
    }
  }
  return matrix;
}

void expect_no_defects(const Observation& observation, const std::string& what) {
  for (const std::string& defect : observation.defects) ADD_FAILURE() << what << ": " << defect;
}

TEST_F(WmmaExt, KindsAreThoseOfTheReadme) {
  EXPECT_EQ(wmma_kinds().size(), 40u);
  EXPECT_EQ(mma_kinds().size(), 25u);
}

// The way through shared memory that the type of an operand names; of accumulators, one of two.
bool loads_by_rows(const Kind& kind) {
  return kind.is_accumulator || kind.by_rows;
}

TEST_F(WmmaExt, PrimitivesMakeWhatIsLoadedFromSharedMemory) {
  for (const Kind& kind : all_kinds()) {
    const Input in = input_for(kind);
    const Made made = run_primitives(kind, in);
    EXPECT_EQ(made.fragments.size(),
              static_cast<std::size_t>(kind.is_accumulator ? Primitive::first_of_operands : Primitive::count));
    std::vector<std::vector<double>> matrices;
    for (const auto& [primitive, fragment] : made.fragments) matrices.push_back(expected(primitive, kind, in));
    const std::vector<Bytes> loaded = load_from_shared(kind, matrices, loads_by_rows(kind));
    auto next = loaded.begin();
    for (const auto& [primitive, fragment] : made.fragments) {
      EXPECT_EQ(fragment, *next++) << kind.name << ", primitive " << static_cast<int>(primitive);
    }
  }
}

// Else the test before would compare nothing with nothing.
TEST_F(WmmaExt, WhatIsLoadedDependsOnEveryElement) {
  for (const Kind& kind : all_kinds()) {
    const Input in = input_for(kind);
    std::vector<std::vector<double>> matrices = {in.a};
    for (int e = 0; e < kind.rows * kind.cols; e += 7) {
      matrices.push_back(in.a);
      matrices.back()[e] += 1;
    }
    const std::vector<Bytes> loaded = load_from_shared(kind, matrices, loads_by_rows(kind));
    for (std::size_t i = 1; i < loaded.size(); ++i) {
      EXPECT_NE(loaded[i], loaded[0]) << kind.name << ", element " << 7 * (i - 1);
    }
    if (kind.is_accumulator) {
      EXPECT_EQ(load_from_shared(kind, matrices, false), loaded) << kind.name;
    }
  }
}

// The other way round than load_vector: the first row and the first column of a loaded matrix.
TEST_F(WmmaExt, StoreVectorWritesTheFirstRowOrColumn) {
  for (const Kind& kind : all_kinds()) {
    const Input in = input_for(kind);
    const Made made = run_primitives(kind, in);
    std::vector<double> row(in.a.begin(), in.a.begin() + kind.cols), column;
    for (int i = 0; i < kind.rows; ++i) column.push_back(in.a[i * kind.cols]);
    EXPECT_EQ(made.row, row) << kind.name;
    EXPECT_EQ(made.column, column) << kind.name;
    if (!kind.is_accumulator) {
      EXPECT_EQ(made.by_type, kind.by_rows ? row : column) << kind.name;
    }
  }
}

TEST_F(WmmaExt, PrimitivesTouchNoSharedMemoryAndMakeNoMistake) {
  const std::vector<Kind> kinds = all_kinds();
  const Observation observation = observe([&] {
    for (const Kind& kind : kinds) run_primitives(kind, input_for(kind));
  });
  expect_no_defects(observation, "a primitive");
  if (const auto counts = counts_of(observation)) {
    EXPECT_EQ(counts->shared_load.requests + counts->shared_store.requests, 0u);
    EXPECT_EQ(counts->shared_bytes, 0u);
    EXPECT_GT(counts->global_store.requests, 0u);
  }
  const Observation through_shared = observe([&] {
    for (const Kind& kind : kinds) load_from_shared(kind, {input_for(kind).a}, loads_by_rows(kind));
  });
  expect_no_defects(through_shared, "the way through shared memory");
  if (const auto counts = counts_of(through_shared)) {
    EXPECT_GE(counts->shared_load.requests, kinds.size());
  }
}

TEST_F(WmmaExt, MmaFragmentsMultiplyExactly) {
  const Observation observation = observe([&] {
    for (const Product& p : products()) {
      if (compute_capability() < p.needs) continue;
      const auto a = integers(p.m * p.k, 6, 8), b = integers(p.k * p.n, 7, 8), c = integers(p.m * p.n, 8, 50);
      std::vector<double> d = c;
      for (int i = 0; i < p.m; ++i) {
        for (int j = 0; j < p.n; ++j) {
          for (int l = 0; l < p.k; ++l) d[i * p.n + j] += a[i * p.k + l] * b[l * p.n + j];
        }
      }
      for (int orders = 0; orders < 8; ++orders) {
        EXPECT_EQ(p.run(a, b, c, {(orders & 4) == 0, (orders & 2) == 0, (orders & 1) == 0}), d)
            << p.name << ", by rows: A " << !(orders & 4) << ", B " << !(orders & 2) << ", C " << !(orders & 1);
      }
    }
  });
  expect_no_defects(observation, "a product");
}

// x[] of a lane, in bytes: mma.sync's fragments hold each element once.
TEST_F(WmmaExt, MmaFragmentsTakeFewerRegisters) {
  const auto bytes = [](const std::vector<Kind>& kinds, const std::string& name) {
    for (const Kind& kind : kinds) {
      if (kind.name == name) return kind.elements * kind.value_bytes;
    }
    ADD_FAILURE() << "no such kind: " << name;
    return 0;
  };
  EXPECT_EQ(bytes(wmma_kinds(), "wmma matrix_a 16x16x16 f16 row_major"), 32);
  EXPECT_EQ(bytes(wmma_kinds(), "wmma matrix_b 16x16x16 f16 row_major"), 32);
  if (compute_capability() < 80) return;
  EXPECT_EQ(bytes(mma_kinds(), "mma.sync matrix_a 16x8x16 f16 row_major"), 16);
  EXPECT_EQ(bytes(mma_kinds(), "mma.sync matrix_b 16x8x16 f16 row_major"), 8);  // half of the 16 columns
}

// What a function prints; a GPU's prints come at the next synchronisation.
std::string printed(const std::function<void()>& run) {
  testing::internal::CaptureStdout();
  run();
  return testing::internal::GetCapturedStdout();
}

TEST_F(WmmaExt, PrintFragmentShowsTheMatrix) {
  for (const Kind& kind : all_kinds()) {
    if (kind.name.find("col_major") != std::string::npos && kind.rows != 8) continue;  // a third of them will do
    const Input in = input_for(kind);
    std::istringstream lines(printed([&] { print(kind, in); }));
    std::string line;
    std::getline(lines, line);
    EXPECT_EQ(line, "it, " + std::to_string(kind.rows) + " x " + std::to_string(kind.cols) + ":") << kind.name;
    std::vector<double> shown;
    for (int i = 0; i < kind.rows; ++i) {
      EXPECT_TRUE(std::getline(lines, line)) << kind.name;
      std::istringstream numbers(line);
      for (double x; numbers >> x;) shown.push_back(x);
      EXPECT_EQ(shown.size(), static_cast<std::size_t>((i + 1) * kind.cols)) << kind.name << ", row " << i;
    }
    EXPECT_EQ(shown, in.a) << kind.name;
    EXPECT_FALSE(std::getline(lines, line)) << kind.name;
  }
}

TEST_F(WmmaExt, SelfTestIsSilentOnThisDevice) {
  std::string text;
  const Observation observation = observe([&] { text = self_test(); });
  EXPECT_EQ(text, "");
  expect_no_defects(observation, "self-test");
}

TEST_F(WmmaExt, SelfTestRefusesAWrongTable) {
  EXPECT_EQ(
      self_test_with_wrong_wmma_table(),
      "wmma_ext: wmma matrix_b 32x8x16 f16 col_major: x[0] of lane 5 is element (2, 1) on this device, (3, 1) in the "
      "compiled table");
  EXPECT_EQ(self_test_with_wrong_mma_table().substr(0, 75),
            "wmma_ext: the product of mma.sync matrix_a 16x8x8 f16 row_major into f32: e");
}

TEST(WmmaExtArchitecture, CodeForAnotherGenerationIsRefused) {
  for (const int cc : {75, 80, 86, 90, 100, 120}) EXPECT_EQ(architecture_problem(cc, cc), "");
  EXPECT_EQ(architecture_problem(80, 90), "") << "PTX for sm_80, compiled anew by the driver";
  EXPECT_EQ(architecture_problem(75, 90),
            "compiled for sm_75, but this device is sm_90: compile for its own architecture");
  EXPECT_NE(architecture_problem(80, 75), "");
  EXPECT_NE(architecture_problem(70, 75), "");
}

}  // namespace
}  // namespace gemm
