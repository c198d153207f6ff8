// Structures that functions return, stored at once: by functions that are not inlined, pointers, virtual functions,
// operators.
#include <cstdio>

struct Pair {
  float a, b;
};
__device__ __noinline__ Pair make(float a, float b) {
  return {a, b};
}
__device__ __noinline__ Pair operator+(const Pair& one, const Pair& other) {
  return {one.a + other.a, one.b + other.b};
}
struct Matrix {
  double rows[3][3];
  __host__ __device__ __noinline__ Matrix transposed() const {
    Matrix other = {};
    for (int i = 0; i < 9; ++i) other.rows[i / 3][i % 3] = rows[i % 3][i / 3];
    return other;
  }
};
struct Shape {
  __device__ virtual Pair size() const = 0;
};
struct Square : Shape {
  float edge;
  __device__ explicit Square(float length) : edge(length) {}
  __device__ Pair size() const override { return {edge, edge}; }
};
struct Both {
  Pair first;
  int number;
};
using Make = Pair (*)(float, float);
__device__ Make made_by = make;

__device__ void put(Pair& to, const Shape& shape) {
  to = shape.size();
}

__global__ void fill(Pair* pairs, Both* both, Matrix* matrices) {
  const int i = threadIdx.x;
  const Square square(i);
  Pair *pair = pairs + 4 * i, *last = pair + 3;
  *pair = make(i, 1);
  pair[1] = made_by(i, 2);
  if (i >= 0) put(pair[2], square);
  *last = *pair + pair[1];
  both[i].first = pair[2] + *last, both[i].number = i + 1;
  Matrix* matrix = matrices + i;
  for (int k = 0; k < 9; ++k) matrix->rows[k / 3][k % 3] = k;
  *matrix = matrix->transposed();
}
__global__ void add(const Pair* pairs, const Both* both, const Matrix* matrices, float* sums) {
  const int i = threadIdx.x;
  float sum = both[i].first.a * 1000 + both[i].number;
  for (int k = 0; k < 4; ++k) sum += pairs[4 * i + k].b;
  sums[i] = sum + float(matrices[i].rows[0][2]) / 10;
}

int main() {
  const int n = 40;
  Pair* pairs;
  Both* both;
  Matrix* matrices;
  float *sums, host[n];
  cudaMalloc(&pairs, 4 * n * sizeof(Pair));
  cudaMalloc(&both, n * sizeof(Both));
  cudaMalloc(&matrices, n * sizeof(Matrix));
  cudaMalloc(&sums, sizeof(host));
  fill<<<1, n>>>(pairs, both, matrices);
  add<<<1, n>>>(pairs, both, matrices, sums);
  cudaMemcpy(host, sums, sizeof(host), cudaMemcpyDeviceToHost);
  std::printf("%.1f %.1f\n", host[1], host[n - 1]);
  return cudaFree(pairs) || cudaFree(both) || cudaFree(matrices) || cudaFree(sums) || cudaGetLastError();
}
