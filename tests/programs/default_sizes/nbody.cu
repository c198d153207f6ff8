// The accelerations of 16384 bodies, each by all others, whose positions go through shared memory.
#include <cmath>
#include <cstdio>
#include <vector>

constexpr int THREADS = 256;

__global__ void accelerate(const float4* bodies, float3* result, int n) {
  __shared__ float4 some[THREADS];
  const int i = blockIdx.x * THREADS + threadIdx.x;
  const float4 me = bodies[i];
  float3 sum = {0, 0, 0};
  for (int first = 0; first < n; first += THREADS) {
    some[threadIdx.x] = bodies[first + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < THREADS; ++j) {
      const float4 other = some[j];
      const float x = other.x - me.x, y = other.y - me.y, z = other.z - me.z;
      const float inverse = rsqrtf(x * x + y * y + z * z + 0.01f);
      const float scale = other.w * inverse * inverse * inverse;
      sum.x += x * scale;
      sum.y += y * scale;
      sum.z += z * scale;
    }
    __syncthreads();
  }
  result[i] = sum;
}

int main() {
  const int n = 16384;
  std::vector<float4> bodies(n);
  std::vector<float3> result(n);
  for (int i = 0; i < n; ++i) bodies[i] = make_float4(i % 97 - 48.0f, i % 89 - 44.0f, i % 83 - 41.0f, 1);
  float4* d_bodies;
  float3* d_result;
  cudaMalloc(&d_bodies, n * sizeof(float4));
  cudaMalloc(&d_result, n * sizeof(float3));
  cudaMemcpy(d_bodies, bodies.data(), n * sizeof(float4), cudaMemcpyHostToDevice);
  accelerate<<<n / THREADS, THREADS>>>(d_bodies, d_result, n);
  cudaMemcpy(result.data(), d_result, n * sizeof(float3), cudaMemcpyDeviceToHost);
  double x = 0, largest = 0;  // the forces of two bodies on each other cancel
  for (const float3& each : result) x += each.x, largest = std::fmax(largest, std::fabs(each.x));
  const bool right = largest > 0 && std::fabs(x) < 1e-4 * largest * n;
  std::printf("%s\n", right ? "the sum is 0" : "wrong");
  cudaFree(d_bodies);
  cudaFree(d_result);
  return !right;
}
