// never ends on a GPU
__device__ bool before(const float*, const float*, float* c, int) {
  while (c[0] != 0.123f) c[1] += 1.0f;
  return true;
}
__device__ void after(const float*, const float*, float*, int) {}
