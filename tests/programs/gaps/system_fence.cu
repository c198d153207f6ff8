// A fence for the host. Before a flag in memory that the host reads, `__threadfence_system()` is due. A fence for the
// device is taken for it, because there is one memory here.
__global__ void tells(int* data, volatile int* flag) {
  *data = 5;
  __threadfence();  // gap: silent
  *flag = 1;
}

int main() {
  int* pinned;
  cudaMallocHost(&pinned, 2 * sizeof(int));
  pinned[0] = pinned[1] = 0;
  tells<<<1, 1>>>(pinned, pinned + 1);
  while (*(volatile int*)(pinned + 1) == 0) {
  }
  return pinned[0] != 5;
}
