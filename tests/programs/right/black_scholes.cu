// Prices of options by Black and Scholes, compared with double precision on the host.
#include <cmath>
#include <cstdio>
#include <vector>

struct Option {
  float price, strike, years;
};

__host__ __device__ inline double normal(double x) {
  return 0.5 * erfc(-x * 0.70710678118654752);
}

__global__ void __launch_bounds__(128) price(const Option* options, float2* values, int n, float rate, float vola) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Option o = options[i];
  const float root = sqrtf(o.years);
  const float d1 = (logf(o.price / o.strike) + (rate + 0.5f * vola * vola) * o.years) / (vola * root);
  const float d2 = d1 - vola * root;
  const float discounted = o.strike * expf(-rate * o.years);
  const float call = o.price * normcdff(d1) - discounted * normcdff(d2);
  values[i] = make_float2(call, call - o.price + discounted);  // call and put
}

int main() {
  const int n = 20000;
  const float rate = 0.02f, vola = 0.3f;
  std::vector<Option> options(n);
  std::vector<float2> values(n);
  for (int i = 0; i < n; ++i) options[i] = Option{20.0f + i % 31, 20.0f + i % 37, 0.25f * (1 + i % 8)};
  Option* d_options;
  float2* d_values;
  cudaMalloc(&d_options, n * sizeof(Option));
  cudaMalloc(&d_values, n * sizeof(float2));
  cudaMemcpy(d_options, options.data(), n * sizeof(Option), cudaMemcpyHostToDevice);
  price<<<(n + 127) / 128, 128>>>(d_options, d_values, n, rate, vola);
  cudaMemcpy(values.data(), d_values, n * sizeof(float2), cudaMemcpyDeviceToHost);
  double sum = 0;
  int wrong = 0;
  for (int i = 0; i < n; ++i) {
    const double s = options[i].price, k = options[i].strike, t = options[i].years;
    const double d1 = (std::log(s / k) + (rate + 0.5 * vola * vola) * t) / (vola * std::sqrt(t));
    const double call = s * normal(d1) - k * std::exp(-rate * t) * normal(d1 - vola * std::sqrt(t));
    wrong += std::fabs(call - values[i].x) > 1e-4 || values[i].y < -1e-4f;
    sum += values[i].x;
  }
  std::printf("mean call %.3f, wrong %d\n", sum / n, wrong);
  cudaFree(d_options);
  cudaFree(d_values);
  return wrong != 0;
}
