// Unions that look at vectors as arrays and as bytes, copied as a whole: through shared memory, and as an argument.
#include <cstdio>

union Four {
  float4 v;
  float a[4];
  struct {
    float2 low, high;
  } half;
};
union Bytes {
  uchar4 c;
  unsigned u;
};
struct Tagged {
  union {
    int4 v;
    int a[4];
  };
  int tag;
};

__device__ float sum(const float4& v) {
  return v.x + v.y + v.z + v.w;
}

__global__ void turn(const float4* in, float4* out, unsigned* bytes, Four scale) {
  __shared__ Four tile[32];
  const int i = threadIdx.x;
  Four mine;
  mine.v = in[i];
  for (int k = 0; k < 4; ++k) mine.a[k] *= scale.a[k];
  tile[i] = mine;
  __syncthreads();
  Four other = tile[31 - i];
  other.v.w = sum(other.v) + other.half.high.x;
  out[i] = other.v;
  Tagged tagged;
  tagged.v = make_int4(1, 2, 3, 4);
  tagged.tag = i;
  const Tagged same = tagged;
  Bytes packed;
  packed.u = 0x01020304;
  packed.c.y = same.a[same.tag % 4];
  bytes[i] = packed.u;
}

int main() {
  float4 host[32], *in, *out;
  unsigned bytes[32], *d_bytes;
  for (int i = 0; i < 32; ++i) host[i] = make_float4(i, i + 1, i + 2, i + 3);
  cudaMalloc(&in, sizeof(host));
  cudaMalloc(&out, sizeof(host));
  cudaMalloc(&d_bytes, sizeof(bytes));
  cudaMemcpy(in, host, sizeof(host), cudaMemcpyHostToDevice);
  Four scale, copy;
  scale.v = make_float4(1, 2, 3, 4);
  copy = scale;
  turn<<<1, 32>>>(in, out, d_bytes, copy);
  cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost);
  cudaMemcpy(bytes, d_bytes, sizeof(bytes), cudaMemcpyDeviceToHost);
  std::printf("%g %g %g %g %08x\n", host[30].x, host[30].y, host[30].z, host[30].w, bytes[6]);
  return cudaFree(in) || cudaFree(out) || cudaFree(d_bytes);
}
