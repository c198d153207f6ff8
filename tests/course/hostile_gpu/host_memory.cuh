// writes where the host's program may lie
__device__ bool before(const float*, const float*, float*, int place) {
  *reinterpret_cast<int*>(0x400000ull + 4ull * place) = 0;
  return true;
}
__device__ void after(const float*, const float*, float*, int) {}
