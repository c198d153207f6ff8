// Exact functions. Where a GPU approximates, as in `__sinf` or `rsqrtf`, the result here is rounded exactly.
__global__ void differ(int* out) {
  volatile float x = 1000 + threadIdx.x;
  *out = __sinf(x) != (float)sin((double)x);
}

int main() {
  int *out, host = 0;
  cudaMalloc(&out, sizeof(int));
  differ<<<1, 1>>>(out);
  cudaMemcpy(&host, out, sizeof(int), cudaMemcpyDeviceToHost);
  return host != 1;  // gap: exit status 1
}
