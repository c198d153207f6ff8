// Unions of structures. A union that holds a vector type can be copied, but not one that holds a structure of the
// program's own with a vector type in it: a `float4` copies itself here, as one access. Copy a member instead.
struct Ray {
  float4 origin, direction;
};
union Both {
  Ray ray;
  float numbers[8];
};

__global__ void copies(Both* to, const Both* from) {
  to[threadIdx.x] = from[threadIdx.x];  // gap: does not compile
}

int main() {
  return 0;
}
