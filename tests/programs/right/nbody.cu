// Bodies that attract one another: positions come into shared memory tile by tile.
#include <cmath>
#include <cstdio>
#include <vector>

constexpr int TILE = 64;

__device__ float3 add_pull(float4 me, float4 other, float3 force) {
  const float3 d = make_float3(other.x - me.x, other.y - me.y, other.z - me.z);
  const float squared = d.x * d.x + d.y * d.y + d.z * d.z + 0.01f;
  const float inverse = rsqrtf(squared);
  const float factor = other.w * inverse * inverse * inverse;
  force.x += d.x * factor;
  force.y += d.y * factor;
  force.z += d.z * factor;
  return force;
}

__global__ void forces(const float4* bodies, float3* result, int n) {
  __shared__ float4 tile[TILE];
  const int i = blockIdx.x * TILE + threadIdx.x;
  const float4 me = i < n ? bodies[i] : make_float4(0, 0, 0, 0);
  float3 force = {0.0f, 0.0f, 0.0f};
  for (int first = 0; first < n; first += TILE) {
    const int other = first + threadIdx.x;
    tile[threadIdx.x] = other < n ? bodies[other] : make_float4(0, 0, 0, 0);  // no mass, no pull
    __syncthreads();
    for (int j = 0; j < TILE; ++j) force = add_pull(me, tile[j], force);
    __syncthreads();
  }
  if (i < n) result[i] = force;
}

int main() {
  const int n = 300;
  std::vector<float4> bodies(n);
  std::vector<float3> result(n);
  for (int i = 0; i < n; ++i) bodies[i] = make_float4(i % 7 * 1.0f, i % 11 * 0.5f, i % 13 * 0.25f, 1.0f + i % 3);
  float4* d_bodies;
  float3* d_result;
  cudaMalloc(&d_bodies, n * sizeof(float4));
  cudaMalloc(&d_result, n * sizeof(float3));
  cudaMemcpy(d_bodies, bodies.data(), n * sizeof(float4), cudaMemcpyHostToDevice);
  forces<<<(n + TILE - 1) / TILE, TILE>>>(d_bodies, d_result, n);
  cudaMemcpy(result.data(), d_result, n * sizeof(float3), cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < n; ++i) {
    double x = 0, scale = 0;
    for (int j = 0; j < n; ++j) {
      const double dx = bodies[j].x - bodies[i].x, dy = bodies[j].y - bodies[i].y, dz = bodies[j].z - bodies[i].z;
      const double r = std::sqrt(dx * dx + dy * dy + dz * dz + 0.01);
      x += bodies[j].w * dx / (r * r * r);
      scale += std::fabs(bodies[j].w * dx / (r * r * r));
    }
    wrong += std::fabs(x - result[i].x) > 1e-5 * scale + 1e-6;
  }
  std::printf("%d bodies, wrong %d\n", n, wrong);
  cudaFree(d_bodies);
  cudaFree(d_result);
  return wrong != 0;
}
