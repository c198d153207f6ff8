// The tall & skinny products as other programs see them (tsm/tall_skinny.hpp): against the harness' reference, in exact
// integers, at the edges of what BLAS promises, and every error.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <future>
#include <limits>

#include "common/backend/device_memory.hpp"
#include "common/check/properties.hpp"
#include "common/check/workbench.hpp"
#include "common/kernel/launch_log.hpp"
#include "common/problem/spec.hpp"
#include "common/toolchain/jit.hpp"
#include "common/toolchain/process.hpp"
#include "tests/device_test.hpp"
#include "tsm/tall_skinny.hpp"

namespace gemm {

int set_shared_bytes_per_block(int bytes);  // shared_memory.cu

namespace {

using tall_skinny::Code;
using tall_skinny::Complex;

constexpr Operation operations[] = {Operation::tsmttsm, Operation::tsmm};
constexpr Type types[] = {Type::f64, Type::c64};

tall_skinny::Type face_type(Type type) {
  return type == Type::c64 ? tall_skinny::Type::z : tall_skinny::Type::d;
}

template <class T>
T number(Scalar s) {
  if constexpr (sizeof(T) == sizeof(double))
    return s.real;
  else
    return {s.real, s.imag};
}

// A problem of the harness through the library.
template <class T>
tall_skinny::Status call(const Problem& p, std::size_t workspace_bytes, cudaStream_t stream) {
  const int m = static_cast<int>(p.m), n = static_cast<int>(p.n);
  const T alpha = number<T>(p.alpha), beta = number<T>(p.beta);
  const T *const x = static_cast<const T*>(p.x), *const y = static_cast<const T*>(p.y);
  T* const out = static_cast<T*>(p.out);
  if (p.op == Operation::tsmm)
    return tall_skinny::tsmm(stream, m, n, p.k, alpha, x, p.ldx, y, p.ldy, beta, out, p.ldout);
  return tall_skinny::tsmttsm(stream, m, n, p.k, alpha, x, p.ldx, y, p.ldy, beta, out, p.ldout, p.conjugate,
                              p.workspace, workspace_bytes);
}
tall_skinny::Status call(const Problem& p, std::size_t workspace_bytes, cudaStream_t stream = nullptr) {
  return p.type == Type::c64 ? call<Complex>(p, workspace_bytes, stream) : call<double>(p, workspace_bytes, stream);
}

std::size_t workspace_bytes(const Problem& p) {
  if (p.op == Operation::tsmm) return 0;
  return tall_skinny::tsmttsm_workspace(static_cast<int>(p.m), static_cast<int>(p.n), p.k, face_type(p.type));
}

// The library as something that the harness can check. No more workspace than it asks for.
Contender library() {
  return {"tall_skinny", Accuracy::fp64, [](const Problem& p, cudaStream_t stream) {
            const DeviceArray<unsigned char> workspace(workspace_bytes(p));
            check_cuda(cudaMemsetAsync(workspace.data(), 0xff, workspace.size(), stream), "fill the workspace");
            Problem with_workspace = p;
            with_workspace.workspace = workspace.data();
            const tall_skinny::Status status = call(with_workspace, workspace.size(), stream);
            check_cuda(cudaDeviceSynchronize(), "run");  // before the workspace is gone
            return status ? Status::ok() : Status::failed(status.reason);
          }};
}

class TallSkinny : public DeviceTest {};

void expect_right(const ProblemSpec& spec) {
  const Result result = evaluate({library()}, spec, check_only(), {})[0];
  EXPECT_EQ(result.verdict.outcome, Outcome::pass) << describe(spec) << ": " << result.verdict.reason;
}

// Random numbers and whole ones; M != N; rows with padding; conjugated; beta = 0 with C full of NaN; what lies around
// the matrices. All of these the harness looks at.
TEST_F(TallSkinny, IsRight) {
  for (const Operation op : operations) {
    for (const Type type : types) {
      expect_right(tall(op, type, 6, 5, 300));
      expect_right(awkward(tall(op, type, 6, 5, 77)));
      if (open_device().gpu) {
        for (const auto& [m, n] : {std::array{1, 1}, {48, 16}, {16, 48}, {33, 17}, {64, 64}}) {
          expect_right(tall(op, type, m, n, 100'000));
          expect_right(awkward(tall(op, type, m, n, 9'999)));
        }
      }
    }
  }
}

// A and B are the same memory, rows have gaps.
template <class T>
void expect_gram(int width, std::int64_t k, std::int64_t ld, bool conjugate) {
  SCOPED_TRACE(testing::Message() << width << ", ld " << ld << ", conjugate " << conjugate);
  constexpr bool is_complex = sizeof(T) != sizeof(double);
  std::vector<T> a(static_cast<std::size_t>(k * ld), T(NAN)), right(static_cast<std::size_t>(width * width)),
      found(right.size());
  const auto conjugate_of = [&](T x) {
    if constexpr (is_complex)
      return conjugate ? std::conj(x) : x;
    else
      return x;
  };
  for (std::int64_t row = 0; row < k; ++row) {
    T* const its = &a[static_cast<std::size_t>(row * ld)];
    for (int col = 0; col < width; ++col) {
      const auto i = static_cast<double>(row * width + col);
      if constexpr (is_complex)
        its[col] = {std::sin(i * 0.7), std::sin(i * 1.3)};
      else
        its[col] = std::sin(i * 0.7);
    }
    for (int i = 0; i < width; ++i) {
      for (int j = 0; j < width; ++j) right[static_cast<std::size_t>(i * width + j)] += conjugate_of(its[i]) * its[j];
    }
  }
  const tall_skinny::Type type = is_complex ? tall_skinny::Type::z : tall_skinny::Type::d;
  DeviceArray<T> on_device(a.size()), c(found.size());
  const std::size_t bytes = tall_skinny::tsmttsm_workspace(width, width, k, type);
  DeviceArray<unsigned char> workspace(bytes);
  T* const x = on_device.data();
  check_cuda(cudaMemcpy(x, a.data(), a.size() * sizeof(T), cudaMemcpyHostToDevice), "copy");
  ASSERT_TRUE(tall_skinny::prepare_tsmttsm(type, width, width, x, ld, x, ld, conjugate));
  const tall_skinny::Status status = tall_skinny::tsmttsm(nullptr, width, width, k, T(2), x, ld, x, ld, T(0), c.data(),
                                                          width, conjugate, workspace.data(), bytes);
  ASSERT_TRUE(status) << status.reason;
  check_cuda(cudaMemcpy(found.data(), c.data(), found.size() * sizeof(T), cudaMemcpyDeviceToHost), "copy");
  for (int i = 0; i < width; ++i) {
    for (int j = 0; j < width; ++j) {
      const auto at = static_cast<std::size_t>(i * width + j), across = static_cast<std::size_t>(j * width + i);
      ASSERT_NEAR(std::abs(found[at] - 2.0 * right[at]), 0, 1e-13 * static_cast<double>(k)) << i << ", " << j;
      // Tensor Cores compute what lies above the diagonal.
      if (width > 32 && i != j) {
        ASSERT_EQ(found[at], conjugate_of(found[across])) << i << ", " << j;
      }
    }
  }
}

TEST_F(TallSkinny, GramMatrices) {
  if (open_device().gpu) {
    for (const int width : {1, 2, 3, 5, 8, 13, 16, 17, 24, 31, 33, 40, 48, 57, 64}) {
      for (const int gap : {0, 3}) {
        expect_gram<double>(width, 10'003, width + gap, false);
        expect_gram<Complex>(width, 10'003, width + gap, gap == 0);
      }
    }
  } else {
    expect_gram<double>(3, 203, 3, false);
    expect_gram<double>(33, 203, 36, false);
    expect_gram<Complex>(6, 203, 7, false);
    expect_gram<Complex>(34, 203, 34, true);
  }
}

// Without a compiler: a sample of widths, or with GEMM_ALL_WIDTHS=1 all; rows are flat, or padded and off by one.
TEST_F(TallSkinny, AnyWidthIsRight) {
  if (open_device().gpu && compute_capability() < 80) GTEST_SKIP() << "needs sm_80";
  const bool all = std::getenv("GEMM_ALL_WIDTHS") != nullptr;
  const int compiled = jit_counters().compiled;
  for (const Operation op : operations) {
    for (const Type type : types) {
      for (int m = 1; m <= 64; ++m) {
        for (int n = 1; n <= 64; ++n) {
          if (!all && (m * 64 + n * 29) % 197 != 0 && m * n != 1 && m * n != 4096) continue;
          const ProblemSpec spec = tall(op, type, m, n, (m + 3 * n) % 5 == 0 ? 640 : m * n % 70 + 1);
          expect_right((m + n) % 2 ? awkward(spec) : spec);
        }
      }
    }
  }
  EXPECT_EQ(jit_counters().compiled, compiled);
}

// As on sm_86 and sm_120.
TEST_F(TallSkinny, AnyWidthFitsIntoSmallSharedMemory) {
  constexpr unsigned small = 99 * 1024;
  const int before = set_shared_bytes_per_block(small);
  if (before == 0) GTEST_SKIP() << "this GPU has what it has";
  std::vector<LaunchRecord> launches;
  {
    const DryRunScope no_launch;
    const LaunchLogScope log(launches);
    const DeviceArray<Complex> x(64 * 64), result(64 * 64), workspace(1 << 20);
    Problem p;
    p.type = Type::c64;
    p.k = 64;
    p.x = p.y = x.data();
    p.out = result.data();
    p.workspace = workspace.data();
    for (p.m = 1; p.m <= 64; p.m += 3) {
      for (p.n = 1; p.n <= 64; p.n += 3) {
        p.ldx = p.m;
        p.ldy = p.ldout = p.n;
        for (const Operation op : operations) {
          p.op = op;
          EXPECT_EQ(call(p, workspace.size() * sizeof(Complex)).code, Code::ok);
        }
      }
    }
  }
  set_shared_bytes_per_block(before);
  EXPECT_EQ(launches.size(), 22u * 22u * 3u);
  for (const LaunchRecord& launch : launches) EXPECT_LE(launch.shape.dynamic_shared, small);
}

TEST_F(TallSkinny, EmptyProducts) {
  for (const Operation op : operations) {
    for (const Type type : types) {
      for (const auto& [m, n, k] : {std::array{6, 5, 0}, {0, 5, 40}, {6, 0, 40}})
        expect_right(awkward(tall(op, type, m, n, k)));
      ProblemSpec spec = awkward(tall(op, type, 6, 5, 77));
      spec.alpha = spec.alpha_imag = 0;  // A and B are full of NaN then
      expect_right(spec);
      spec.beta = spec.beta_imag = 0;  // and so is C
      expect_right(spec);
    }
  }
}

// For arguments that are wrong: memory that is there, and a problem that would be right.
struct Arguments {
  DeviceArray<Complex> a{200}, b{200}, c{200}, workspace{1};
  Problem p;

  Arguments(Operation op, Type type) {
    p.op = op;
    p.type = type;
    p.m = 6;
    p.n = 5;
    p.k = 10;
    p.x = a.data();
    p.ldx = 6;
    p.y = b.data();
    p.ldy = 5;
    p.out = c.data();
    p.ldout = 5;
    p.beta = {1.0};
    for (const DeviceArray<Complex>* each : {&a, &b, &c})
      check_cuda(cudaMemset(each->data(), 0, each->size() * sizeof(Complex)), "clear");
    workspace = DeviceArray<Complex>(std::max<std::size_t>(workspace_bytes(p) / sizeof(Complex), 1));
    p.workspace = workspace.data();
  }
};

TEST_F(TallSkinny, InvalidArguments) {
  const auto shifted = [](const void* pointer, int bytes) {
    return static_cast<void*>(static_cast<char*>(const_cast<void*>(pointer)) + bytes);
  };
  for (const Operation op : operations) {
    for (const Type type : types) {
      const Arguments right(op, type);
      const std::size_t bytes = workspace_bytes(right.p);
      EXPECT_EQ(call(right.p, bytes).code, Code::ok);
      EXPECT_EQ(call(right.p, bytes).reason, "");
      const auto expect_invalid = [&](const char* word, const auto& change) {
        Problem p = right.p;
        change(p);
        const tall_skinny::Status status = call(p, bytes);
        EXPECT_EQ(status.code, Code::invalid) << word;
        EXPECT_FALSE(status);
        EXPECT_NE(status.reason.find(word), std::string::npos) << status.reason;
      };
      expect_invalid("negative", [](Problem& p) { p.m = -1; });
      expect_invalid("negative", [](Problem& p) { p.n = -1; });
      expect_invalid("negative", [](Problem& p) { p.k = -1; });
      expect_invalid("apart", [](Problem& p) { p.ldx = 5; });
      expect_invalid("apart", [](Problem& p) { p.ldy = 4; });
      expect_invalid("apart", [](Problem& p) { p.ldout = 4; });
      expect_invalid("apart", [](Problem& p) { p.ldout = -5; });
      expect_invalid("64 bits", [](Problem& p) { p.ldx = std::numeric_limits<std::int64_t>::max() / 16; });
      expect_invalid("null", [](Problem& p) { p.x = nullptr; });
      expect_invalid("null", [](Problem& p) { p.y = nullptr; });
      expect_invalid("null", [](Problem& p) { p.out = nullptr; });
      const int half = static_cast<int>(size_of(type)) / 2;
      expect_invalid("aligned", [&](Problem& p) { p.x = shifted(p.x, half); });
      expect_invalid("aligned", [&](Problem& p) { p.y = shifted(p.y, half); });
      expect_invalid("aligned", [&](Problem& p) { p.out = shifted(p.out, half); });
      if (op == Operation::tsmm) continue;
      EXPECT_GT(bytes, 0u);
      expect_invalid("workspace is null", [](Problem& p) { p.workspace = nullptr; });
      expect_invalid("workspace is not aligned", [&](Problem& p) { p.workspace = shifted(p.workspace, 8); });
      EXPECT_EQ(call(right.p, bytes - 1).code, Code::invalid);
    }
  }
}

TEST_F(TallSkinny, PointersToNothingMayBeNull) {
  for (const Operation op : operations) {
    Arguments none(op, Type::f64);
    none.p.alpha = {};
    none.p.x = none.p.y = nullptr;
    EXPECT_EQ(call(none.p, workspace_bytes(none.p)).code, Code::ok);
    none.p.n = 0;
    none.p.out = none.p.workspace = nullptr;
    EXPECT_EQ(call(none.p, 0).code, Code::ok);
    check_cuda(cudaDeviceSynchronize(), "run");
  }
}

TEST_F(TallSkinny, TooWideIsUnsupported) {
  for (const Operation op : operations) {
    Arguments wide(op, Type::f64);
    for (const int width : {900, tall_skinny::most_columns + 1}) {
      if (width == 900 && op == Operation::tsmm) continue;  // which needs no tile of C
      wide.p.m = wide.p.n = width;
      wide.p.k = 1;
      wide.p.ldx = wide.p.ldy = wide.p.ldout = width;
      const DeviceArray<double> c(static_cast<std::size_t>(width) * width);
      wide.p.y = wide.p.out = c.data();
      wide.p.x = c.data();
      const tall_skinny::Status status = call(wide.p, 0);
      EXPECT_EQ(status.code, Code::unsupported) << status.reason;
      EXPECT_NE(status.reason, "");
    }
  }
  EXPECT_EQ(tall_skinny::tsmttsm_workspace(-1, 2, 10, tall_skinny::Type::d), 0u);
  EXPECT_EQ(tall_skinny::tsmttsm_workspace(2, 2000, 10, tall_skinny::Type::d), 0u);
}

// Kernels that can't be made: nothing is there that could compile them, and the folder of those kept is empty.
TEST_F(TallSkinny, FailuresAreReported) {
  if (open_device().gpu) GTEST_SKIP() << "NVRTC can't be taken away";
  const TemporaryDirectory empty;
  set_kernel_cache(empty.path());
  setenv("TMPDIR", "/nonexistent", 1);  // g++ has no place to write to
  const tall_skinny::Status status = tall_skinny::prepare_tsmm(tall_skinny::Type::d, 5, 7, nullptr, 5, nullptr, 7);
  unsetenv("TMPDIR");
  set_kernel_cache("");
  EXPECT_EQ(status.code, Code::failed);
  EXPECT_NE(status.reason, "");
}

// The kernel that would multiply.
const void* kernel_of(const Problem& p, std::size_t workspace_bytes) {
  std::vector<LaunchRecord> launches;
  const LaunchLogScope log(launches);
  const DryRunScope no_launch;
  EXPECT_EQ(call(p, workspace_bytes).code, Code::ok);
  return launches.empty() ? nullptr : launches.front().kernel;
}

// prepare_*() leaves nothing to compile, and touches no memory.
TEST_F(TallSkinny, PreparedProductsOnlyLaunch) {
  for (const Operation op : operations) {
    for (const Type type : types) {
      for (const bool aligned : {true, false}) {
        if (type == Type::c64 && !aligned) continue;  // complex numbers always are
        Arguments arguments(op, type);
        Problem& p = arguments.p;
        p.m = 4;
        p.n = 6;
        p.ldx = aligned ? 4 : 7;
        p.ldy = p.ldout = aligned ? 6 : 7;
        p.conjugate = op == Operation::tsmttsm && type == Type::c64;
        const DeviceArray<unsigned char> workspace(workspace_bytes(p));
        p.workspace = workspace.data();
        const void* const of_any_width = kernel_of(p, workspace.size());
        const auto before = arguments.c.to_host();
        const auto prepared =
            op == Operation::tsmm
                ? tall_skinny::prepare_tsmm(face_type(type), 4, 6, p.x, p.ldx, p.out, p.ldout)
                : tall_skinny::prepare_tsmttsm(face_type(type), 4, 6, p.x, p.ldx, p.y, p.ldy, p.conjugate);
        ASSERT_EQ(prepared.code, Code::ok) << prepared.reason;
        EXPECT_EQ(arguments.c.to_host(), before);
        EXPECT_NE(kernel_of(p, workspace.size()), of_any_width);
        const JitCounters counters = jit_counters();
        EXPECT_EQ(call(p, workspace.size()).code, Code::ok);
        check_cuda(cudaDeviceSynchronize(), "run");
        const DryRunScope no_launch;
        p.k = std::int64_t{1} << 30;  // which takes another kernel
        EXPECT_EQ(call(p, workspace.size()).code, Code::ok);
        EXPECT_EQ(jit_counters().compiled, counters.compiled);
        EXPECT_EQ(jit_counters().on_disk, counters.on_disk);
      }
    }
  }
  EXPECT_EQ(tall_skinny::prepare_tsmm(tall_skinny::Type::d, 4, 4, nullptr, 3, nullptr, 4).code, Code::invalid);
  EXPECT_EQ(tall_skinny::prepare_tsmm(tall_skinny::Type::d, -4, 4, nullptr, 4, nullptr, 4).code, Code::invalid);
  EXPECT_EQ(tall_skinny::prepare_tsmttsm(tall_skinny::Type::d, 2000, 4, nullptr, 2000, nullptr, 4, false).code,
            Code::unsupported);
}

TEST_F(TallSkinny, ThreadsMayCallAtTheSameTime) {
  const auto one = [] {
    const Arguments own(Operation::tsmttsm, Type::f64);
    bool right = true;
    for (int i = 0; i < 5; ++i) right &= call(own.p, workspace_bytes(own.p)).code == Code::ok;
    return right;
  };
  auto first = std::async(std::launch::async, one), second = std::async(std::launch::async, one);
  EXPECT_TRUE(first.get());
  EXPECT_TRUE(second.get());
  check_cuda(cudaDeviceSynchronize(), "run");
}

}  // namespace
}  // namespace gemm
