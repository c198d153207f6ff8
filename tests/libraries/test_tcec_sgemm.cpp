// The library face tensorcore/tcec_sgemm.hpp, against FP64 on the host.
#include <cmath>
#include <limits>

#include "common/backend/device_memory.hpp"
#include "common/check/random.cuh"
#include "tensorcore/tcec_sgemm.hpp"
#include "tests/device_test.hpp"

namespace gemm {
namespace {

constexpr float NAN_F = std::numeric_limits<float>::quiet_NaN(), INF_F = std::numeric_limits<float>::infinity();
constexpr tcec_sgemm::Operation NONE = tcec_sgemm::Operation::none, TRANSPOSE = tcec_sgemm::Operation::transpose;

class TcecSgemm : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (!IsSkipped() && compute_capability() < 80) GTEST_SKIP() << "needs sm_80";
  }
};

// By columns, with padding that holds NaN.
struct Matrix {
  int rows, cols, ld;
  std::vector<float> data;

  Matrix(int rows_, int cols_, int padding, unsigned seed, Distribution distribution = Distribution::uniform)
      : rows(rows_), cols(cols_), ld(rows_ + padding), data(static_cast<std::size_t>(ld) * cols_, NAN_F) {
    const Generator generate{distribution, seed};
    for (int j = 0; j < cols; ++j)
      for (int i = 0; i < rows; ++i) (*this)(i, j) = generate(static_cast<std::uint64_t>(j) * rows + i);
  }
  float& operator()(int i, int j) { return data[static_cast<std::size_t>(j) * ld + i]; }
  float at(tcec_sgemm::Operation op, int i, int j) const {
    return op == NONE ? data[static_cast<std::size_t>(j) * ld + i] : data[static_cast<std::size_t>(i) * ld + j];
  }
};

DeviceArray<float> on_device(const std::vector<float>& host) {
  DeviceArray<float> array(host.size());
  check_cuda(cudaMemcpy(array.data(), host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice), "copy");
  return array;
}

// A matrix of the product's shape as op() wants it stored.
Matrix stored(tcec_sgemm::Operation op, int rows, int cols, int padding, unsigned seed, Distribution distribution) {
  return op == NONE ? Matrix(rows, cols, padding, seed, distribution) : Matrix(cols, rows, padding, seed, distribution);
}

struct Case {
  tcec_sgemm::Product product;
  float alpha = 1, beta = 0;
  int padding = 0;
  Distribution distribution = Distribution::uniform;
};

// alpha op(A) op(B) + beta C in FP64, and the same of magnitudes; NaN and infinity as they come.
void expect_close(const Case& c, const Matrix& a, const Matrix& b, const Matrix& before, const Matrix& after) {
  const tcec_sgemm::Product& p = c.product;
  const double bound = 0x1p-21 * (1 + std::sqrt(p.k) / 16);
  for (int j = 0; j < p.n; ++j) {
    for (int i = 0; i < p.m; ++i) {
      double sum = 0, size = 0;
      for (int l = 0; l < p.k; ++l) {
        const double term = static_cast<double>(a.at(p.op_a, i, l)) * b.at(p.op_b, l, j);
        sum += term;
        size += std::fabs(term);
      }
      const double old = c.beta == 0 ? 0 : before.at(NONE, i, j);
      const double expected = c.alpha * sum + c.beta * old, got = after.at(NONE, i, j);
      const double allowed = bound * (std::fabs(c.alpha) * size + std::fabs(c.beta * old));
      const bool same = std::isnan(expected)   ? std::isnan(got)
                        : std::isinf(expected) ? got == expected
                                               : std::fabs(got - expected) <= allowed;
      ASSERT_TRUE(same) << i << ", " << j << ": " << got << " for " << expected << ", allowed " << allowed;
    }
  }
  for (int j = 0; j < p.n; ++j)
    for (int i = p.m; i < after.ld; ++i)
      ASSERT_TRUE(std::isnan(after.data[static_cast<std::size_t>(j) * after.ld + i])) << "padding was written";
}

void run(const Case& c) {
  const tcec_sgemm::Product& p = c.product;
  const Matrix a = stored(p.op_a, p.m, p.k, c.padding, 1, c.distribution);
  const Matrix b = stored(p.op_b, p.k, p.n, c.padding, 2, c.distribution);
  Matrix before(p.m, p.n, c.padding, 3, c.distribution);
  if (c.beta == 0) std::fill(before.data.begin(), before.data.end(), NAN_F);
  const auto da = on_device(a.data), db = on_device(b.data), dc = on_device(before.data);
  const std::size_t bytes = tcec_sgemm::sgemm_workspace(p);
  const DeviceArray<unsigned char> workspace(bytes);
  const tcec_sgemm::Status status =
      tcec_sgemm::sgemm(nullptr, p, c.alpha, da.data(), std::max(a.ld, 1), db.data(), std::max(b.ld, 1), c.beta,
                        dc.data(), std::max(before.ld, 1), workspace.data(), bytes);
  ASSERT_TRUE(status) << status.reason;
  Matrix after = before;
  after.data = dc.to_host();
  expect_close(c, a, b, before, after);
}

TEST_F(TcecSgemm, AllTransposes) {
  for (const tcec_sgemm::Operation op_a : {NONE, TRANSPOSE})
    for (const tcec_sgemm::Operation op_b : {NONE, TRANSPOSE})
      for (const tcec_sgemm::Policy policy :
           {tcec_sgemm::Policy::automatic, tcec_sgemm::Policy::fp16, tcec_sgemm::Policy::tf32}) {
        run({.product = {op_a, op_b, 67, 45, 83, policy}, .alpha = 1.5f, .beta = -0.5f, .padding = 3});
        run({.product = {op_a, op_b, 130, 20, 300, policy}, .padding = 4});
      }
}

TEST_F(TcecSgemm, SmallAndEmpty) {
  for (const int m : {0, 1, 5})
    for (const int n : {0, 1, 7})
      for (const int k : {0, 1, 3, 33})
        run({.product = {TRANSPOSE, NONE, m, n, k}, .alpha = -2, .beta = 3, .padding = 1});
}

// Every way of sharing vectors out among the threads that split them.
TEST_F(TcecSgemm, LongSums) {
  for (const int k : {129, 513, 2049, 4097, 8193}) run({.product = {k % 3 ? NONE : TRANSPOSE, TRANSPOSE, 5, 7, k}});
  for (const int k : {65, 257, 1025, 4097})
    run({.product = {k % 3 ? TRANSPOSE : NONE, NONE, 7, 5, k, tcec_sgemm::Policy::tf32}});
}

TEST_F(TcecSgemm, Distributions) {
  for (const Distribution d :
       {Distribution::positive, Distribution::normal, Distribution::wide, Distribution::tiny, Distribution::huge})
    for (const int k : {16, 200}) run({.product = {NONE, TRANSPOSE, 40, 50, k}, .distribution = d});
}

// One small number, and the only thing that an element is made of: FP16 would lose half of its digits.
TEST_F(TcecSgemm, NoLostDigits) {
  Matrix a(8, 2, 0, 1), b(2, 4, 0, 2);
  for (int i = 0; i < 8; ++i) a(i, 0) = 1, a(i, 1) = std::ldexp(1.2345678f, -30 - i);
  for (int j = 0; j < 4; ++j) b(0, j) = j == 0, b(1, j) = 1.1111111f;
  const auto da = on_device(a.data), db = on_device(b.data);
  for (const tcec_sgemm::Policy policy :
       {tcec_sgemm::Policy::automatic, tcec_sgemm::Policy::tf32, tcec_sgemm::Policy::fp16}) {
    const tcec_sgemm::Product p{NONE, NONE, 8, 4, 2, policy};
    const std::size_t bytes = tcec_sgemm::sgemm_workspace(p);
    const DeviceArray<unsigned char> workspace(bytes);
    const DeviceArray<float> dc(32);
    ASSERT_TRUE(tcec_sgemm::sgemm(nullptr, p, 1, da.data(), 8, db.data(), 2, 0, dc.data(), 8, workspace.data(), bytes));
    const auto c = dc.to_host();
    double worst = 0;
    for (int i = 0; i < 8; ++i) {
      for (int j = 1; j < 4; ++j) {
        const double expected = static_cast<double>(a(i, 1)) * b(1, j);
        worst = std::max(worst, std::fabs(c[j * 8 + i] - expected) / expected);
      }
    }
    if (policy == tcec_sgemm::Policy::fp16)
      EXPECT_GT(worst, 1e-3);  // or this test could not tell
    else
      EXPECT_LT(worst, 0x1p-21);
  }
}

TEST_F(TcecSgemm, InfinityAndNan) {
  Matrix a(40, 30, 0, 1), b(30, 50, 0, 2);
  a(3, 4) = INF_F, a(7, 9) = -INF_F, b(5, 11) = NAN_F, b(2, 20) = INF_F, a(9, 0) = std::numeric_limits<float>::max();
  const auto da = on_device(a.data), db = on_device(b.data);
  for (const tcec_sgemm::Policy policy :
       {tcec_sgemm::Policy::automatic, tcec_sgemm::Policy::tf32, tcec_sgemm::Policy::fp16}) {
    const Case c{.product = {NONE, NONE, 40, 50, 30, policy}};
    const std::size_t bytes = tcec_sgemm::sgemm_workspace(c.product);
    const DeviceArray<unsigned char> workspace(bytes);
    Matrix after(40, 50, 0, 3);
    const auto dc = on_device(after.data);
    ASSERT_TRUE(tcec_sgemm::sgemm(nullptr, c.product, 1, da.data(), 40, db.data(), 30, 0, dc.data(), 40,
                                  workspace.data(), bytes));
    after.data = dc.to_host();
    for (float& x : after.data)  // what overflows in FP32, FP64 holds
      if (std::fabs(x) > 1e38f) x = std::isinf(x) ? x : 0;
    for (int j = 0; j < 50; ++j) {
      EXPECT_EQ(std::isnan(after(7, j)) || std::isinf(after(7, j)), true);
      EXPECT_TRUE(std::isnan(after(0, 11)) && std::isinf(after(0, 20)));
      EXPECT_TRUE(std::isfinite(after(0, j == 11 || j == 20 ? 0 : j)));
    }
    EXPECT_EQ(after(3, 0), b(4, 0) > 0 ? INF_F : -INF_F);
  }
}

TEST_F(TcecSgemm, Batches) {
  constexpr int M = 33, N = 20, K = 47, BATCH = 5;
  const Case c{.product = {NONE, TRANSPOSE, M, N, K}, .alpha = 2, .beta = 1};
  const Matrix a(M, K, 0, 1);  // of all
  const std::size_t bytes = tcec_sgemm::sgemm_workspace(c.product, BATCH);
  const DeviceArray<unsigned char> workspace(bytes);
  std::vector<Matrix> b, before;
  std::vector<float> all_b, all_c;
  for (int i = 0; i < BATCH; ++i) {
    b.emplace_back(N, K, 2, 10 + i, i == 3 ? Distribution::wide : Distribution::uniform);
    before.emplace_back(M, N, 1, 20 + i);
    all_b.insert(all_b.end(), b[i].data.begin(), b[i].data.end());
    all_c.insert(all_c.end(), before[i].data.begin(), before[i].data.end());
  }
  const auto da = on_device(a.data), db = on_device(all_b);
  const auto stride_b = static_cast<std::int64_t>(b[0].data.size()),
             stride_c = static_cast<std::int64_t>(before[0].data.size());
  const auto check = [&](const DeviceArray<float>& dc) {
    const auto got = dc.to_host();
    for (int i = 0; i < BATCH; ++i) {
      Matrix after = before[i];
      after.data.assign(got.begin() + i * stride_c, got.begin() + (i + 1) * stride_c);
      expect_close(c, a, b[i], before[i], after);
    }
  };
  const auto strided = on_device(all_c), anywhere = on_device(all_c);
  tcec_sgemm::Status status =
      tcec_sgemm::sgemm_strided_batched(nullptr, c.product, 2, da.data(), M, 0, db.data(), N + 2, stride_b, 1,
                                        strided.data(), M + 1, stride_c, BATCH, workspace.data(), bytes);
  ASSERT_TRUE(status) << status.reason;
  check(strided);
  std::vector<const float*> as(BATCH, da.data()), bs;
  std::vector<float*> cs;
  for (int i = 0; i < BATCH; ++i) bs.push_back(db.data() + i * stride_b), cs.push_back(anywhere.data() + i * stride_c);
  const DeviceArray<const float*> pa(BATCH), pb(BATCH);
  const DeviceArray<float*> pc(BATCH);
  const auto copy = [](auto* to, const auto& from) {
    check_cuda(cudaMemcpy(to, from.data(), from.size() * sizeof(from[0]), cudaMemcpyHostToDevice), "copy pointers");
  };
  copy(pa.data(), as), copy(pb.data(), bs), copy(pc.data(), cs);
  status = tcec_sgemm::sgemm_batched(nullptr, c.product, 2, pa.data(), M, pb.data(), N + 2, 1, pc.data(), M + 1, BATCH,
                                     workspace.data(), bytes);
  ASSERT_TRUE(status) << status.reason;
  check(anywhere);
}

TEST_F(TcecSgemm, RefusesBadArguments) {
  const tcec_sgemm::Product p{NONE, NONE, 8, 8, 8};
  const std::size_t bytes = tcec_sgemm::sgemm_workspace(p);
  const DeviceArray<float> x(64);
  const DeviceArray<unsigned char> workspace(bytes);
  const auto call = [&](const tcec_sgemm::Product& product, const float* a, std::int64_t lda, const float* b,
                        std::int64_t ldb, float* c, std::int64_t ldc, void* scratch, std::size_t size) {
    const tcec_sgemm::Status status = tcec_sgemm::sgemm(nullptr, product, 1, a, lda, b, ldb, 0, c, ldc, scratch, size);
    EXPECT_EQ(status.code == tcec_sgemm::Code::ok, status.reason.empty());
    EXPECT_EQ(status.reason.find('\n'), std::string::npos);
    return status.code;
  };
  float* const d = x.data();
  unsigned char* const w = workspace.data();
  EXPECT_EQ(call(p, d, 8, d, 8, d, 8, w, bytes), tcec_sgemm::Code::ok);
  EXPECT_EQ(call({NONE, NONE, -1, 8, 8}, d, 8, d, 8, d, 8, w, bytes), tcec_sgemm::Code::invalid);
  EXPECT_EQ(call({NONE, NONE, 8, 8, -8}, d, 8, d, 8, d, 8, w, bytes), tcec_sgemm::Code::invalid);
  EXPECT_EQ(call(p, d, 7, d, 8, d, 8, w, bytes), tcec_sgemm::Code::invalid);
  EXPECT_EQ(call(p, d, 8, d, 7, d, 8, w, bytes), tcec_sgemm::Code::invalid);
  EXPECT_EQ(call(p, d, 8, d, 8, d, 7, w, bytes), tcec_sgemm::Code::invalid);
  EXPECT_EQ(call(p, nullptr, 8, d, 8, d, 8, w, bytes), tcec_sgemm::Code::invalid);
  EXPECT_EQ(call(p, d, 8, nullptr, 8, d, 8, w, bytes), tcec_sgemm::Code::invalid);
  EXPECT_EQ(call(p, d, 8, d, 8, nullptr, 8, w, bytes), tcec_sgemm::Code::invalid);
  EXPECT_EQ(call(p, reinterpret_cast<float*>(reinterpret_cast<char*>(d) + 1), 8, d, 8, d, 8, w, bytes),
            tcec_sgemm::Code::invalid);
  EXPECT_EQ(call(p, d, 8, d, 8, d, 8, w, bytes - 1), tcec_sgemm::Code::invalid);
  EXPECT_EQ(call(p, d, 8, d, 8, d, 8, nullptr, bytes), tcec_sgemm::Code::invalid);
  EXPECT_EQ(call(p, d, 8, d, 8, d, 8, w + 4, bytes), tcec_sgemm::Code::invalid);
  EXPECT_EQ(call({NONE, NONE, 0, 8, 8}, nullptr, 1, nullptr, 8, nullptr, 1, nullptr, 0), tcec_sgemm::Code::ok);
  EXPECT_EQ(call({NONE, NONE, 8, 8, 0}, nullptr, 8, nullptr, 1, d, 8, w, bytes), tcec_sgemm::Code::ok);
  EXPECT_EQ(tcec_sgemm::sgemm_workspace({NONE, NONE, 8, -8, 8}), 0u);
  EXPECT_EQ(tcec_sgemm::sgemm_strided_batched(nullptr, p, 1, d, 8, 0, d, 8, 0, 0, d, 8, 63, 2, w, bytes).code,
            tcec_sgemm::Code::invalid);
  EXPECT_EQ(tcec_sgemm::sgemm_batched(nullptr, p, 1, nullptr, 8, nullptr, 8, 0, nullptr, 8, 2, w, bytes).code,
            tcec_sgemm::Code::invalid);
  EXPECT_EQ(tcec_sgemm::sgemm_batched(nullptr, p, 1, nullptr, 8, nullptr, 8, 0, nullptr, 8, -2, w, bytes).code,
            tcec_sgemm::Code::invalid);
}

}  // namespace
}  // namespace gemm
