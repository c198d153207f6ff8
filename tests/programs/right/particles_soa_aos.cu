// The same particles as an array of structures and as a structure of arrays.
#include <cstdio>
#include <vector>

struct Particle {
  float x, y, z;
  int charge;
};

struct Particles {
  float *x, *y, *z;
  int* charge;
};

__global__ void move_structures(Particle* particles, int n, float dt) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Particle p = particles[i];
  p.x += dt * p.charge;
  p.y -= dt * p.charge;
  p.z *= 2;
  particles[i] = p;
}

__global__ void move_arrays(Particles particles, int n, float dt) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  particles.x[i] += dt * particles.charge[i];
  particles.y[i] -= dt * particles.charge[i];
  particles.z[i] *= 2;
}

int main() {
  const int n = 30000;
  std::vector<Particle> particles(n);
  std::vector<float> x(n), y(n), z(n);
  std::vector<int> charge(n);
  for (int i = 0; i < n; ++i) {
    particles[i] = {float(i % 100), float(i % 50), float(i % 25), i % 3 - 1};
    x[i] = particles[i].x, y[i] = particles[i].y, z[i] = particles[i].z, charge[i] = particles[i].charge;
  }
  Particle* d_particles;
  Particles d;
  cudaMalloc(&d_particles, n * sizeof(Particle));
  cudaMalloc(&d.x, 4 * n * sizeof(float));  // one allocation, four arrays
  d.y = d.x + n;
  d.z = d.y + n;
  d.charge = reinterpret_cast<int*>(d.z + n);
  cudaMemcpy(d_particles, particles.data(), n * sizeof(Particle), cudaMemcpyHostToDevice);
  cudaMemcpy(d.x, x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d.y, y.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d.z, z.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d.charge, charge.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  for (int step = 0; step < 3; ++step) {
    move_structures<<<(n + 255) / 256, 256>>>(d_particles, n, 0.5f);
    move_arrays<<<(n + 255) / 256, 256>>>(d, n, 0.5f);
  }
  cudaMemcpy(particles.data(), d_particles, n * sizeof(Particle), cudaMemcpyDeviceToHost);
  cudaMemcpy(x.data(), d.x, n * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(y.data(), d.y, n * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(z.data(), d.z, n * sizeof(float), cudaMemcpyDeviceToHost);
  int different = 0;
  double sums[3] = {};
  for (int i = 0; i < n; ++i) {
    const Particle& p = particles[i];
    different += p.x != x[i] || p.y != y[i] || p.z != z[i];
    sums[0] += p.x, sums[1] += p.y, sums[2] += p.z;
  }
  std::printf("sums %.1f %.1f %.1f, different %d\n", sums[0], sums[1], sums[2], different);
  cudaFree(d_particles);
  cudaFree(d.x);
  return different != 0;
}
