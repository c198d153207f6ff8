// A small vector type, usable by host and device; kernels of another file that main.cu launches.
#pragma once

struct Vec {
  int x, y;
  __host__ __device__ Vec operator+(Vec other) const { return {x + other.x, y + other.y}; }
  __host__ __device__ int dot(Vec other) const { return x * other.x + y * other.y; }
};

inline int blocks_for(int n, int threads) {
  return (n + threads - 1) / threads;
}

void launch_shift(Vec* vecs, int n, Vec by);
__global__ void count_long(const Vec* vecs, int n, int limit, int* count);
