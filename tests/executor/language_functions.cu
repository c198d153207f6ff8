// CUDA's functions of integers, of directed rounding, and of mathematics that C++ lacks, in kernels.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/executor/defects.hpp"

namespace gemm {
namespace {

__global__ void integers(int a, unsigned b, long long* out) {
  int n = 0;
#define TELL(x) out[n++] = static_cast<long long>(x);
  TELL(__byte_perm(0x11223344, 0x55667788, 0x7531))
  TELL(__byte_perm(0x80112233, 0x55667788, 0xb210))
  TELL(__funnelshift_l(b, 5, 7))
  TELL(__funnelshift_r(b, 5, 39))
  TELL(__funnelshift_lc(b, 5, 39))
  TELL(__funnelshift_rc(b, 5, 32))
  TELL(__sad(a, 7, 3))
  TELL(__usad(b, 7, 3))
  TELL(__hadd(a, 7))
  TELL(__rhadd(a, 8))
  TELL(__uhadd(b, 7))
  TELL(__urhadd(b, 8))
  TELL(__dp4a(0x01ff0304, 0x7f80ff01, 9))
  TELL(__dp4a(0x01ff0304u, 0x7f80ff01u, 9u))
  TELL(__dp2a_lo(0x0001ffff, 0x7f80ff01, 9))
  TELL(__dp2a_hi(0x0001ffffu, 0x7f80ff01u, 9u))
  TELL(__fns(0x0f0f0f0f, 3, 2))
  TELL(__fns(0x0f0f0f0f, 20, -3))
  TELL(__fns(0x10, 4, 0))
  TELL(__fns(0x10, 5, 1))
  TELL(__fns(0x10, 5, 0))
  TELL(__fns(0x10, 4, 1))
  TELL(__fns(0xff, 5, -1))
  const unsigned p = 0x80ff7f01, q = 0x7f80ff02;
#define OF_TWO(name) TELL(name##2(p, q)) TELL(name##4(p, q))
  OF_TWO(__vadd)
  OF_TWO(__vaddss)
  OF_TWO(__vaddus)
  OF_TWO(__vsub)
  OF_TWO(__vsubss)
  OF_TWO(__vsubus)
  OF_TWO(__vabsdiffs)
  OF_TWO(__vabsdiffu)
  OF_TWO(__vavgs)
  OF_TWO(__vavgu)
  OF_TWO(__vhaddu)
  OF_TWO(__vmaxs)
  OF_TWO(__vmaxu)
  OF_TWO(__vmins)
  OF_TWO(__vminu)
  OF_TWO(__vsads)
  OF_TWO(__vsadu)
  OF_TWO(__vcmpeq)
  OF_TWO(__vcmpne)
  OF_TWO(__vcmpges)
  OF_TWO(__vcmpgtu)
  OF_TWO(__vsetles)
  OF_TWO(__vsetltu)
#define OF_ONE(name) TELL(name##2(p)) TELL(name##4(p))
  OF_ONE(__vabs)
  OF_ONE(__vabsss)
  OF_ONE(__vneg)
  OF_ONE(__vnegss)
#undef OF_ONE
#undef OF_TWO
#undef TELL
}

// What an H200 computes, by nvcc 13.0.
TEST(LanguageFunctions, Integers) {
  const std::vector<long long> expected = {
      1433866547, 2148606515, 751,        196959101,  3735928559, 5,          23,         3735928555, -3,
      -2,         1867964283, 1867964284, 265,        33545,      7,          8388616,    8,          17,
      4,          4294967295, 4294967295, 4,          5,          8355331,    4286545411, 8355331,    4286610947,
      4294967295, 4294967043, 25133055,   25133311,   2147516415, 2155839487, 25100288,   25100288,   4269899775,
      4286545921, 25133057,   25133057,   4210434,    4290723586, 2151726850, 2160115458, 2151661313, 2143272705,
      2139127553, 2147450626, 2164260610, 2164260610, 2164260610, 2155937537, 2139127553, 2139127553, 97920,
      511,        33152,      257,        0,          0,          4294967295, 4294967295, 65535,      16776960,
      4294901760, 4294901760, 65536,      16777217,   1,          257,        2130804481, 2147581697, 2130804481,
      2130804481, 2130804991, 2147582463, 2130804991, 2130805247};
  const DeviceArray<long long> out(expected.size());
  integers<<<1, 1>>>(-13, 0xdeadbeefu, out.data());
  const auto got = out.to_host();
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(got[i], expected[i]) << "number " << i;
}

__global__ void largest(unsigned p, unsigned q, unsigned r, long long* out) {
  int n = 0;
  bool high, low;
#define TELL(x) out[n++] = static_cast<long long>(x);
#define OF_THREE(name)                                                                      \
  TELL(name##_s32(-7, 5, -9))                                                               \
  TELL(name##_u32(p, q, r))                                                                 \
  TELL(name##_s16x2(p, q, r)) TELL(name##_u16x2(p, q, r)) TELL(name##_s32_relu(-7, -5, -9)) \
      TELL(name##_s16x2_relu(p, q, r))
#define WHICH(name)                                                                                   \
  TELL(name##_s32(-7, 5, &high))                                                                      \
  TELL(high)                                                                                          \
  TELL(name##_u32(7, 7, &high)) TELL(high) TELL(name##_s16x2(p, q, &high, &low)) TELL(2 * high + low) \
      TELL(name##_u16x2(p, q, &high, &low)) TELL(2 * high + low)
  OF_THREE(__vimax3)
  OF_THREE(__vimin3)
  OF_THREE(__viaddmax)
  OF_THREE(__viaddmin)
  WHICH(__vibmax)
  WHICH(__vibmin)
  TELL(__vimax_s32_relu(-7, -5))
  TELL(__vimin_s16x2_relu(p, q))
  TELL(__dp2a_lo(short2{-2, 3}, char4{4, -5, 6, 7}, 1))
  TELL(__dp2a_hi(ushort2{2, 3}, uchar4{4, 5, 6, 7}, 1u))
#undef WHICH
#undef OF_THREE
#undef TELL
}

// What nvcc 13.0 makes of these functions for the host.
TEST(LanguageFunctions, LargestAndSmallest) {
  const std::vector<long long> expected = {
      5, 2164227841, 2139127553, 2164260862, 0,       2139127553, -9,         131070, 2164260610, 98049,  0,
      0, -2,         8420867,    8355331,    8388606, 0,          8355331,    -9,     131070,     131070, 97795,
      0, 65536,      5,          0,          7,       1,          2139127553, 1,      2164260610, 2,      -7,
      1, 7,          1,          2164260610, 2,       2139127553, 1,          0,      0,          -22,    34};
  const DeviceArray<long long> out(expected.size());
  largest<<<1, 1>>>(0x80ff7f01, 0x7f80ff02, 0x0001fffe, out.data());
  const auto got = out.to_host();
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(got[i], expected[i]) << "number " << i;
}

__global__ void roundings(float x, double d, int i, long long l, double* out) {
  int n = 0;
#define FOUR(function, ...)              \
  out[n++] = function##_rd(__VA_ARGS__); \
  out[n++] = function##_rn(__VA_ARGS__); \
  out[n++] = function##_ru(__VA_ARGS__); \
  out[n++] = function##_rz(__VA_ARGS__);
  FOUR(__fadd, x, 1e-9f)
  FOUR(__fsub, x, 1e-9f)
  FOUR(__fmul, x, x)
  FOUR(__fdiv, x, 3.0f)
  FOUR(__frcp, x)
  FOUR(__fsqrt, x)
  FOUR(__fmaf, x, x, x)
  FOUR(__dadd, d, 1e-20)
  FOUR(__dsub, d, 1e-20)
  FOUR(__dmul, d, d)
  FOUR(__ddiv, d, 3.0)
  FOUR(__drcp, d)
  FOUR(__dsqrt, d)
  FOUR(__fma, d, d, d)
  FOUR(__double2float, d)
  FOUR(__int2float, i)
  FOUR(__ll2float, l)
  FOUR(__ull2float, static_cast<unsigned long long>(l))
  FOUR(__ll2double, l)
#undef FOUR
}

/// Down and up are neighbours around what is exact; nearest is one of them; towards zero is down, for all are positive.
TEST(LanguageFunctions, DirectedRounding) {
  constexpr int cases = 19;
  const DeviceArray<double> out(4 * cases);
  roundings<<<1, 1>>>(0.3f, 0.7, 16777217, (1LL << 60) + 1, out.data());
  const auto got = out.to_host();
  for (int i = 0; i < cases; ++i) {
    const double down = got[4 * i], nearest = got[4 * i + 1], up = got[4 * i + 2], zero = got[4 * i + 3];
    const bool is_double = (i >= 7 && i <= 13) || i == 18;
    const double next = is_double ? std::nextafter(down, 1e300) : std::nextafter(static_cast<float>(down), 1e30f);
    EXPECT_EQ(up, next) << "case " << i;
    EXPECT_TRUE(nearest == down || nearest == up) << "case " << i;
    EXPECT_EQ(zero, down) << "case " << i;
  }
  EXPECT_EQ(got[4 * 15], 16777216);
  EXPECT_EQ(got[4 * 15 + 2], 16777218);
}

__global__ void functions(float x, double d, double* out) {
  int n = 0, exponent = 0;
  float a, b;
  double c, e;
  const float three[3] = {2, 3, 6};
  const double twice[3] = {2, 3, 6};
#define NEAR(got, expected) \
  out[n++] = (got);         \
  out[n++] = (expected);
  sincosf(x, &a, &b);
  NEAR(a, sin(0.3f)) NEAR(b, cos(0.3f)) __sincosf(x, &a, &b);
  NEAR(a, sinf(x)) NEAR(b, cosf(x)) sincospi(d, &c, &e);
  NEAR(c, sin(M_PI * d)) NEAR(e, cos(M_PI * d)) sincospif(x, &a, &b);
  NEAR(a, sin(M_PI * x))
  NEAR(b, cos(M_PI * x))
  NEAR(sinpi(1e6 + 0.5), 1)
  NEAR(cospi(1e6 + 1.5), 0)
  NEAR(cospif(3), -1)
  NEAR(sinpif(-1.5f), 1) NEAR(rsqrt(x), 1 / sqrt(x)) NEAR(rsqrt(d), 1 / sqrt(d)) NEAR(rcbrtf(-8), -0.5)
      NEAR(rcbrt(d) * cbrt(d), 1) NEAR(exp10f(2), 100) NEAR(exp10(-3.0), 1e-3) NEAR(erf(erfinv(d)), d)
          NEAR(erff(erfinvf(-x)), -x) NEAR(erfc(erfcinv(1e-30)) * 1e30, 1) NEAR(erfc(erfcinv(1.7)), 1.7)
              NEAR(erfinv(0.0), 0) NEAR(erfinvf(1), INFINITY) NEAR(erfcinv(2.0), -INFINITY) NEAR(normcdf(0.0), 0.5)
                  NEAR(normcdf(normcdfinv(1e-20)) * 1e20, 1) NEAR(normcdff(normcdfinvf(x)), x)
                      NEAR(erfcx(d), exp(d * d) * erfc(d)) NEAR(erfcx(30.0), 0.018795888861416751) NEAR(
                          erfcx(24.999999), erfcx(25.0)) NEAR(cyl_bessel_i0(1.0), 1.2660658777520084)
                          NEAR(cyl_bessel_i1f(-1), -0.565159103992485) NEAR(norm3df(2, 3, 6), 7) NEAR(
                              rnorm3d(2, 3, 6), 1.0 / 7) NEAR(norm4d(2, 4, 5, 6), 9) NEAR(rnorm4df(2, 4, 5, 6), 1.0 / 9)
                              NEAR(normf(3, three), 7) NEAR(rnorm(3, twice), 1.0 / 7) NEAR(rhypotf(3, 4), 0.2)
                                  NEAR(norm3d(1e200, 1e200, 0), sqrt(2.0) * 1e200) NEAR(j0(x), j0f(x))
                                      NEAR(jn(2, d), jn(2, d)) NEAR(frexpf(x, &exponent) * exp2f(exponent), x)
                                          NEAR(modf(d + 2, &c) + c, d + 2) NEAR(__saturatef(1.5f), 1)
                                              NEAR(__frsqrt_rn(0.25f), 2) NEAR(fdividef(1, 4), 0.25)
                                                  NEAR(umax(3u, 4u), 4)
                                                      NEAR(__hiloint2double(__double2hiint(d), __double2loint(d)), d)
                                                          NEAR(max(1.0f, 2.0), 2) NEAR(min(3u, 7), 3)
#undef NEAR
                                                              out[n] = NAN;
}

TEST(LanguageFunctions, Mathematics) {
  const DeviceArray<double> out(256);
  functions<<<1, 1>>>(0.3f, 0.7, out.data());
  ASSERT_EQ(cudaGetLastError(), cudaSuccess);
  const auto got = out.to_host();
  std::size_t i = 0;
  for (; got[2 * i] == got[2 * i]; ++i) {
    const double x = got[2 * i], expected = got[2 * i + 1];
    EXPECT_TRUE(x == expected || std::fabs(x - expected) <= 3e-7 * (1 + std::fabs(expected)))
        << i << ": " << x << ", not " << expected;
  }
  EXPECT_GT(i, 50u);
}

}  // namespace
}  // namespace gemm
