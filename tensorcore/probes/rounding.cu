// rounding: how a Tensor Core adds up. Products of FP16, bfloat16 and TF32 numbers are exact; which bits of their sum
// are kept, and what happens to the others, CUDA does not say.
//
// Idea      c + a1 b1 + a2 b2 + ... with c = 1 and products that are powers of two just below its last bit: the result
//           tells what was kept.
// Kernel    One warp, one mma.sync for each question; element (0, 0) is the answer.
// Predicted sm_90: all products of an instruction and c are cut off two bits below c's last one (if c is the largest),
//           and added up exactly; the sum is cut off, too.
// Page      docs/concepts/tensor_cores.md#sums
// Source    The method: M. Fasi, N. J. Higham, M. Mikaitis, S. Pranesh, "Numerical behavior of NVIDIA tensor cores" (2021).
#include <cmath>
#include <cstring>

#include "common/backend/device.hpp"
#include "common/backend/device_memory.hpp"
#include "common/kernel/ptx.cuh"
#include "common/report/json.hpp"
#include "common/report/probe_report.hpp"
#include "common/stage.cuh"

namespace {

using gemm::Json;

constexpr int MOST = 16;    // products of an instruction
constexpr int DIGITS = 24;  // of a float

enum class Operands { f16, bf16, tf32 };
constexpr int products(Operands type) {
  return type == Operands::tf32 ? 8 : 16;
}

struct Question {
  float c = 1;
  float a[MOST] = {}, b[MOST] = {};  // powers of two, or zero
};

// Operands of 16 bits lie in pairs.
template <Operands type>
__device__ std::uint32_t pair_of(float low, float high) {
  if constexpr (type == Operands::f16) {
    return __half_as_ushort(__float2half(low)) | static_cast<std::uint32_t>(__half_as_ushort(__float2half(high))) << 16;
  } else {
    return __float_as_uint(low) >> 16 | (__float_as_uint(high) & 0xffff0000u);  // exact: powers of two
  }
}

// A's row 0, B's column 0 and c are the question's, all else is zero. Lanes 0 to 3 hold them: layouts in ptx.cuh.
template <Operands type>
__global__ void ask(Question question, float* answer) {
  const int lane = threadIdx.x;
  const bool holds = lane < 4;
  const int t = lane % 4;
  const float c[4] = {lane == 0 ? question.c : 0.0f, 0.0f, 0.0f, 0.0f};
  float d[4];
  if constexpr (type == Operands::tf32) {
    std::uint32_t a[4] = {}, b[2] = {};
    for (int i = 0; i < 2; ++i) {
      a[2 * i] = holds ? __float_as_uint(question.a[t + 4 * i]) : 0u;
      b[i] = holds ? __float_as_uint(question.b[t + 4 * i]) : 0u;
    }
    gemm::ptx::mma_m16n8k8_f32_tf32(d, a, b, c);
  } else {
    std::uint32_t a[4] = {}, b[2] = {};
    for (int i = 0; i < 2; ++i) {
      const int k = 2 * t + 8 * i;
      a[2 * i] = holds ? pair_of<type>(question.a[k], question.a[k + 1]) : 0u;
      b[i] = holds ? pair_of<type>(question.b[k], question.b[k + 1]) : 0u;
    }
    if constexpr (type == Operands::f16)
      gemm::ptx::mma_m16n8k16_f32_f16(d, a, b, c);
    else
      gemm::ptx::mma_m16n8k16_f32_bf16(d, a, b, c);
  }
  if (lane == 0) *answer = d[0];
}

float answer(Operands type, const Question& question) {
  const gemm::DeviceArray<float> result(1);
  const auto kernel = type == Operands::f16    ? ask<Operands::f16>
                      : type == Operands::bf16 ? ask<Operands::bf16>
                                               : ask<Operands::tf32>;
  const gemm::Status status = gemm::launch(kernel, {.grid = 1, .block = 32}, question, result.data());
  if (!status) throw gemm::DeviceError("could not ask: " + status.reason);
  return result.to_host()[0];
}

void set_product(Question& question, int k, int exponent, float sign = 1) {
  question.a[k] = sign * std::ldexp(1.0f, exponent / 2);
  question.b[k] = std::ldexp(1.0f, exponent - exponent / 2);
}

// 1 + 2^-24 + 2^-25, whose nearest float is the next one above 1; and the same negative.
std::string direction(Operands type) {
  float got[2];
  for (const int negative : {0, 1}) {
    const float sign = negative ? -1.0f : 1.0f;
    Question question;
    question.c = sign;
    set_product(question, 0, -DIGITS, sign);
    set_product(question, 1, -DIGITS - 1, sign);
    got[negative] = answer(type, question) * sign;
  }
  const bool cut = got[0] == 1.0f && got[1] == 1.0f, away = got[0] > 1.0f && got[1] > 1.0f;
  return cut ? "toward zero" : away ? "to nearest, or away from zero" : got[0] > 1.0f ? "up" : "down";
}

// 1 - 2^-e is below 1 for the last e whose bit is kept: e = 24 needs one more than a float of 1 has.
int extra_bits(Operands type) {
  int last = DIGITS - 1;
  for (int e = DIGITS; e <= DIGITS + 12; ++e) {
    Question question;
    set_product(question, 0, -e, -1);
    if (answer(type, question) < 1.0f) last = e;
  }
  return last - (DIGITS - 1);
}

// Two products of half the last bit of c: only if they meet before they are cut off does the sum see them. How many
// others each product meets, itself counted; all alike, or 0.
int group(Operands type) {
  int size = 0;
  for (int i = 0; i < products(type); ++i) {
    int meets = 1;
    for (int j = 0; j < products(type); ++j) {
      if (j == i) continue;
      Question question;
      set_product(question, i, -DIGITS);
      set_product(question, j, -DIGITS);
      meets += answer(type, question) > 1.0f;
    }
    if (i > 0 && meets != size) return 0;
    size = meets;
  }
  return size;
}

// 2^-149, and a product of subnormal FP16 numbers, come through.
bool keeps_subnormals(Operands type) {
  Question question;
  question.c = std::ldexp(1.0f, -149);
  if (type == Operands::f16) {
    question.c = 0;
    question.a[0] = question.b[0] = std::ldexp(1.0f, -24);
    return answer(type, question) == std::ldexp(1.0f, -48);
  }
  return answer(type, question) == question.c;
}

gemm::ProbeReport probe(const gemm::ProbeRun&) {
  const gemm::DeviceInfo& device = gemm::open_device();
  if (device.gpu && device.compute_capability < 80)
    throw gemm::UsageError("the probe needs sm_80, and this GPU is sm_" + std::to_string(device.compute_capability));
  gemm::ProbeReport report;
  report.table.push_back({"operands", "instruction", "a sum is cut", "bits kept below a float's last",
                          "products added at once", "subnormals"});
  const auto add = [&](Operands type, const char* name, const char* instruction) {
    const std::string way = direction(type);
    const int bits = extra_bits(type), together = group(type);
    const bool subnormals = keeps_subnormals(type);
    report.table.push_back(
        {name, instruction, way, std::to_string(bits), std::to_string(together), subnormals ? "kept" : "lost"});
    report.results.push_back({{"operands", name},
                              {"instruction", instruction},
                              {"rounding", way},
                              {"extra_bits", bits},
                              {"products_at_once", together},
                              {"subnormals", subnormals},
                              {"status", "pass"}});
  };
  add(Operands::f16, "FP16", "m16n8k16");
  add(Operands::bf16, "bfloat16", "m16n8k16");
  add(Operands::tf32, "TF32", "m16n8k8");
  report.text =
      "Products are exact. With c = 1: what lies further below is cut off from each of them before they are added up.";
  return report;
}

const gemm::ProbeRegistration registration{
    __FILE__,
    {.idea = "how Tensor Cores add up: which bits of a sum are kept, and what happens to the others", .run = probe}};

}  // namespace
